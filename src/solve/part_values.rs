//! Exact values of a layered game's table whose layers several workers solve, each those of its part.

use super::SolveOptions;
use super::checkpoint::{Checkpoint, CheckpointPiece};
use super::columns::Values;
use super::layered::{install_exact, level};
use super::options::Method;
use super::value::{Short, SweepOrder};
use crate::error::Error;
use crate::rules::Rules;
use crate::table::{Buffer, CHECKPOINT_AFTER, Memory, SweepRecord, Table};

/// Values of a part's rows, found from the last row down.
pub struct PartValues {
    values: Buffer<Short>,
    /// First row whose value is known.
    first: usize,
    checkpoint: Checkpoint,
    pieces: Vec<CheckpointPiece>,
}

impl PartValues {
    /// Returns the values of a solved part, or those that an interrupted run has saved; none otherwise.
    pub fn open(game: &dyn Rules, part: &Table, memory: &Memory) -> Result<PartValues, Error> {
        let rows = part.manifest().counts.table.states as usize;
        let method = Method::of(game, part, &SolveOptions::default());
        let checkpoint = Checkpoint::of(part, method.identity(part), CHECKPOINT_AFTER);
        let mut values: Buffer<Short> = memory.zeros(rows)?;
        if let Some(known) = Values::open(part, true)? {
            let of = |row: usize| Short::of(known.get(row).lower);
            values.iter_mut().enumerate().for_each(|(row, value)| *value = of(row));
            return Ok(PartValues { values, first: 0, checkpoint, pieces: Vec::new() });
        }
        let saved = checkpoint.load::<_, ()>(&mut values);
        let first = saved.as_ref().and_then(|saved| saved.first()).unwrap_or(rows);
        let pieces = saved.map_or_else(Vec::new, |saved| saved.pieces);
        Ok(PartValues { values, first, checkpoint, pieces })
    }

    /// Returns the first row whose value is known, as those of all later rows are.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Returns the value of a row; `None` if it is not known.
    #[inline]
    pub fn get(&self, row: usize) -> Option<Short> {
        self.values.get(row).copied().filter(|_| row >= self.first)
    }

    /// Sets the values of some rows, which are known once they are saved.
    pub fn set(&mut self, from: usize, values: &[Short]) {
        self.values[from..from + values.len()].copy_from_slice(values);
    }

    /// Saves the values of all rows from this one on.
    pub fn save(&mut self, from: usize) -> Result<(), Error> {
        if from < self.first {
            self.pieces.push(self.checkpoint.write(0, from, &self.values[from..self.first])?);
            self.checkpoint.save(&[], &self.pieces, ())?;
            self.first = from;
        }
        Ok(())
    }

    /// Installs the values, all of which are known, unless the part has them.
    pub fn install(self, game: &dyn Rules, part: &mut Table) -> Result<(), Error> {
        if part.manifest().solution.is_none() {
            install_swept(game, part, &self.values)?;
        }
        self.checkpoint.remove();
        Ok(())
    }
}

/// Installs exact values, as a topological sweep would leave them.
pub fn install_swept(game: &dyn Rules, table: &mut Table, values: &[Short]) -> Result<(), Error> {
    let level = Short::of(level());
    let sweep = SweepRecord {
        residual: values.iter().map(|&value| level.change_to(value)).fold(0.0, f64::max),
        changed: values.iter().filter(|&&value| value != level).count() as u64,
        decided: None,
    };
    install_exact(table, &Method::of(game, table, &SolveOptions::default()), values, &[sweep])
}
