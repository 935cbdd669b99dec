//! `solver info`: what a table is and holds.

use std::process::ExitCode;

use super::context::Context;
use super::counts::{counts_text, size_of_table};
use crate::render::Grid;
use crate::render::number::bytes;
use crate::table::Solution;

/// Show what a table holds
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A table's name or directory [default: the one enumerated last]
    table: Option<String>,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let name = match args.table {
        Some(name) => name,
        None => context.store.latest()?,
    };
    let opened = context.store.open(&name)?;
    let manifest = opened.manifest();
    if context.json {
        context.json(manifest)?;
        return Ok(ExitCode::SUCCESS);
    }
    context.print(counts_text(manifest))?;
    let rows = manifest.arrays.iter().map(|(name, entry)| {
        let shape: Vec<String> = entry.shape.iter().map(u64::to_string).collect();
        vec![format!("{name}.npy"), entry.dtype.clone(), shape.join(" x "), entry.crc32.clone()]
    });
    context.line("")?;
    context.print(Grid::of(&["array", "dtype", "shape", "CRC-32"], rows).to_text())?;
    context.line("")?;
    for (what, meaning) in &manifest.conventions {
        context.line(format!("{what}: {meaning}"))?;
    }
    let empties = |solution: &Solution| solution.empties.clone().unwrap_or_default();
    let solved = match (&manifest.solution, manifest.complete) {
        (Some(solution), true) => {
            format!("solved, {} sweeps, empties {}", solution.sweeps.len(), empties(solution))
        }
        (Some(solution), false) => format!(
            "solved with bounds, {} of {} scores proven, empties {}",
            solution.proven_scores.unwrap_or_default(),
            manifest.counts.table.states,
            empties(solution)
        ),
        (None, _) => format!("not solved; run 'solver value-iterate {}'", opened.name()),
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
