//! Which positions a report is of: a part of them, or those of a file.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;

use super::lines;
use crate::evaluate::{Piece, Player, Wanted, of_split};
use crate::game::Split;
use crate::hint::Hinted;
use crate::solved::SolvedTable;

/// The options that choose positions.
#[derive(Debug, clap::Args)]
pub(super) struct ChosenArgs {
    /// Measure only this part of the positions, divided as when the network that is measured was
    /// trained, or else as 'solver export' does by default [default: all]
    #[arg(long, value_enum, conflicts_with = "positions")]
    split: Option<Part>,
    /// Measure only the positions of this file, one a line as for 'solver export --positions', with their mirror
    /// images; or those of a directory of 'solver export --states'
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,
}

/// A part of the positions, or all.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Part {
    Train,
    Validation,
    Test,
    All,
}

impl Part {
    /// The split that it is; `None` for all.
    pub fn split(self) -> Option<Split> {
        match self {
            Part::Train => Some(Split::Train),
            Part::Validation => Some(Split::Validation),
            Part::Test => Some(Split::Test),
            Part::All => None,
        }
    }
}

/// Some positions, and which they are in words.
pub(super) struct Chosen {
    pub words: String,
    pub wanted: Box<Wanted<'static>>,
}

impl ChosenArgs {
    /// The positions that are chosen; `None` for all.
    pub fn chosen(
        &self,
        players: &[Player],
        table: &SolvedTable,
    ) -> anyhow::Result<Option<Chosen>> {
        if let Some(split) = self.split.and_then(Part::split) {
            let found = of_split(split, players, table.game());
            let (wanted, words) =
                found.map_err(|wrong| wrong.map(|what| format!("--split: {what}")))?;
            return Ok(Some(Chosen { words, wanted }));
        }
        self.positions.as_ref().map(|file| of_file(file, table)).transpose()
    }
}

fn of_file(file: &Path, table: &SolvedTable) -> anyhow::Result<Chosen> {
    let file = if file.is_dir() { file.join("positions.txt") } else { file.to_path_buf() };
    let (text, mut bad) = (lines::read(&file)?, Vec::new());
    let mut rows = HashSet::new();
    for line in lines::positions(&text, table, false, &mut bad)? {
        match table.states().find(&line.position) {
            Some(row) => drop(rows.insert(row as u32)),
            None => bad.push((line.line, lines::missing(&line.position, table))),
        }
    }
    if let Some((line, wrong)) = bad.into_iter().min() {
        let wrong = wrong.map(|what| format!("{}, line {line}: {what}", file.display()));
        bail!(wrong.with_hint("correct it or leave it out"));
    }
    if rows.is_empty() {
        bail!(Hinted::new(format!("{} has no position", file.display()), "write one a line"));
    }
    let words = format!("those of {} and their images", file.display());
    let wanted = move |piece: &Piece, at: usize| rows.contains(&piece.cases[at].row);
    Ok(Chosen { words, wanted: Box::new(wanted) })
}
