//! `solver info`: what a table is and holds.

use std::process::ExitCode;

use super::by_distance;
use super::context::Context;
use super::counts::{counts_text, size_of_table};
use super::enumerate::Output;
use super::table_args::OneTable;
use crate::render::Grid;
use crate::render::number::{bytes, counted};
use crate::render::verdict::proven_text;
use crate::table::{Manifest, Solution};

/// Show what a table holds
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    table: OneTable,
    /// Show instead how many states of a solved table have which outcome in how many plies
    #[arg(long)]
    by_distance: bool,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let opened = args.table.open(context)?;
    if args.by_distance {
        by_distance::print(opened, context)?;
        return Ok(ExitCode::SUCCESS);
    }
    let manifest = opened.manifest();
    if context.json {
        context.json("info", &Output::of(&opened))?;
        return Ok(ExitCode::SUCCESS);
    }
    context.print(counts_text(&context.games.of_table(&opened)?, manifest))?;
    let rows = manifest.arrays.iter().map(|(name, entry)| {
        let shape: Vec<String> = entry.shape.iter().map(u64::to_string).collect();
        vec![manifest.file_of(name), entry.dtype.clone(), shape.join(" x "), entry.crc32.clone()]
    });
    context.line("")?;
    context.print(Grid::of(&["array", "dtype", "shape", "CRC-32"], rows).to_text())?;
    context.line("")?;
    for (what, meaning) in &manifest.conventions {
        context.line(format!("{what}: {meaning}"))?;
    }
    let solved = match &manifest.solution {
        Some(solution) => solution_text(manifest, solution),
        None => format!("not solved; run 'solver value-iterate {}'", opened.name()),
    };
    context.line(format!(
        "\n{} in {}, {}, {solved}",
        opened.name(),
        opened.dir().display(),
        bytes(size_of_table(&opened) as f64)
    ))?;
    if let Some(discounted) = &manifest.discounted {
        context.line(format!("with values discounted by {}", discounted.discount))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How a table was solved and how much that proves.
fn solution_text(manifest: &Manifest, solution: &Solution) -> String {
    let with_bounds = if manifest.complete { "" } else { " with bounds" };
    let sweeps = counted(solution.sweeps.len() as u64, "sweep");
    if let Some(method) = &solution.method {
        let method = match method.as_str() {
            "value-iteration" => "value iteration",
            "retrograde" => "retrograde analysis",
            other => other,
        };
        let proven = proven_text(manifest, solution);
        return format!("solved{with_bounds} by {method}, {sweeps}\n{proven}");
    }
    let empties = solution.empties.as_deref().unwrap_or_default();
    if manifest.complete {
        return format!("solved, {sweeps}, empties {empties}");
    }
    format!(
        "solved with bounds, {} of {} scores proven, empties {empties}",
        solution.proven_scores.unwrap_or_default(),
        manifest.counts.table.states
    )
}
