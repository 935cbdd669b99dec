//! `solver list`: the tables of the directory.

use serde::Serialize;

use super::context::Context;
use super::counts::title;
use super::value_iterate::root_text;
use yomikiri::error::{Error, shortened};
use yomikiri::table::{Entry, Holds, RootValue, Scratch, Table};
use yomikiri_measure::render::Grid;
use yomikiri_measure::render::number::{bytes, counted, thousands};
use yomikiri_measure::render::sanitise::{BOLD, GREEN, RED, styled, width};

/// List the tables, each with its size and the value of its root
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output {
    /// Directory of its files.
    directory: String,
    /// The table enumerated last.
    latest: Option<String>,
    /// By name.
    tables: Vec<Line>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Line {
    /// Name of the table.
    table: String,
    /// `solved`, `enumerated`, `unfinished`, `half removed` or `unreadable`.
    state: &'static str,
    /// Title for people.
    title: Option<String>,
    /// Its game.
    game: Option<String>,
    /// Its rows.
    states: Option<u64>,
    /// True if all moves were followed.
    complete: Option<bool>,
    /// The length of all its files.
    bytes: u64,
    /// The values of the roots, each its mover's.
    roots: Vec<RootValue>,
    /// Value of the first root, or advice.
    summary: String,
}

pub(super) fn run(_: Args, context: &mut Context) -> Result<(), Error> {
    let entries = context.store.entries()?;
    let tables: Vec<Line> = entries.into_iter().map(|entry| line(entry, context)).collect();
    let latest = context.store.enumerated_last();
    let directory = context.store.root().display().to_string();
    if context.json {
        return context.json("list", &Output { directory, latest, tables });
    }
    if tables.is_empty() {
        let game = context.example_game();
        context.remark(format!("no table in {directory}; make one with 'solver solve {game}'"));
        return Ok(());
    }
    let cells = tables.iter().map(|line| {
        let game = line.game.clone().unwrap_or("-".to_string());
        let states = line.states.map_or("-".to_string(), thousands);
        vec![line.table.clone(), game, states, bytes(line.bytes as f64)]
    });
    // A sentence is set to the left, behind the grid.
    let grid = Grid::of(&["table", "game", "states", "size"], cells).to_text();
    let mut rows = grid.lines();
    let heading = rows.next().unwrap_or_default();
    context.line(format!("{heading}  {}", styled("value of the root", BOLD)))?;
    for (row, line) in rows.zip(tables) {
        let fits = row.chars().count() + 2 + line.summary.chars().count() <= width();
        let style = match line.state {
            "solved" => GREEN,
            "enumerated" | "unfinished" => YELLOW,
            _ => RED,
        };
        let apart = if fits { "  " } else { "\n  " };
        let summary = styled(&shortened(&line.summary, (width() - 2).min(MOST_SUMMARY)), style);
        context.line(format!("{row}{apart}{summary}"))?;
        // Names of other tables than the whole one of a game are hard to read.
        if let Some(title) = line.title.filter(|_| line.game.as_ref() != Some(&line.table)) {
            context.line(format!("  {title}"))?;
        }
    }
    if let Some(latest) = latest {
        context.line(format!("\nenumerated last: {latest}"))?;
    }
    Ok(())
}

/// Most characters of a summary.
const MOST_SUMMARY: usize = 60;
/// Style of tables that are not solved.
const YELLOW: &str = "\x1b[33m";

fn line(Entry { name, bytes, holds }: Entry, context: &Context) -> Line {
    let mut line = Line {
        state: "unreadable",
        title: None,
        game: None,
        states: None,
        complete: None,
        bytes,
        roots: Vec::new(),
        summary: String::new(),
        table: name,
    };
    match holds {
        Holds::Table(Ok(table)) => {
            let manifest = table.manifest();
            line.game = Some(manifest.identity.game.clone());
            let game = context.games.of_table(&table).ok();
            line.title = game.map(|game| title(&*game, &manifest.identity));
            line.states = Some(manifest.counts.table.states);
            line.complete = Some(manifest.complete);
            match &manifest.solution {
                None => {
                    line.state = "enumerated";
                    line.summary = match Scratch::of(table.dir()).dir().is_dir() {
                        true => {
                            "not solved; run the same 'solver value-iterate' to resume".to_string()
                        }
                        false => "not solved".to_string(),
                    };
                }
                Some(solution) => {
                    line.state = "solved";
                    line.roots = solution.roots.clone();
                    line.summary = value_text(*table, context).unwrap_or_else(|error| {
                        line.state = "unreadable";
                        error.line()
                    });
                }
            }
        }
        Holds::Table(Err(error)) => line.summary = error.line(),
        Holds::Draft(identity, command) => {
            line.state = "unfinished";
            line.game = identity.map(|identity| identity.game);
            line.summary = match command {
                None => "not finished; run the same 'solver enumerate' to resume".to_string(),
                Some(command) => format!("not finished; run the same 'solver {command}' again"),
            };
        }
        Holds::Remains => {
            line.state = "half removed";
            line.summary = format!("half removed; run 'solver remove {}' to finish", line.table);
        }
    }
    line
}

/// Returns the value of the first root in words.
fn value_text(table: Table, context: &Context) -> Result<String, Error> {
    let solved = context.solved(table.for_few_rows(), false)?;
    let roots = solved.states().roots()?;
    let rows = &solved.table().manifest().root_ids;
    let first = roots.first().zip(rows.first()).map(|(root, &row)| root_text(&solved, root, row));
    solved.table().check_read()?;
    Ok(match roots.len() {
        0 | 1 => first.unwrap_or_default(),
        more => {
            let others = counted(more as u64 - 1, "root");
            format!("{}; and {others} more", first.unwrap_or_default())
        }
    })
}
