//! Checkpoints of solving: the sweeps done, and values in pieces with checksums.

use std::cell::Cell;
use std::ops::Range;
use std::time::{Duration, Instant};

use bytemuck::Pod;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::table::{Scratch, SweepRecord, Table, crc32};

/// Place of the checkpoints of a run.
pub(super) struct Checkpoint {
    scratch: Scratch,
    /// Table and method; a checkpoint with another identity is not used.
    identity: String,
    after: Duration,
    due: Cell<Instant>,
}

/// State of a checkpoint.
#[derive(Serialize, Deserialize)]
pub(super) struct Saved<P> {
    identity: String,
    pub sweeps: Vec<SweepRecord>,
    /// Pieces of the saved values, from the last row down.
    pub pieces: Vec<CheckpointPiece>,
    /// Progress of the work besides values.
    pub place: P,
}

/// Values of some rows, in one of two files.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct CheckpointPiece {
    file: u8,
    from: usize,
    to: usize,
    crc32: u32,
}

impl<P> Saved<P> {
    /// Returns the first row whose value is saved.
    pub(super) fn first(&self) -> Option<usize> {
        self.pieces.last().map(|piece| piece.from)
    }
}

/// Number of values in a piece.
const PIECE: usize = 1 << 21;

fn name_of(file: u8) -> String {
    format!("values-{file}")
}

impl Checkpoint {
    /// Returns the checkpoint of the run `identity`, beside its table, due every `after`.
    pub(super) fn of(table: &Table, identity: String, after: Duration) -> Checkpoint {
        Checkpoint::at(Scratch::of(table.dir()), identity, after)
    }

    pub(super) fn at(scratch: Scratch, identity: String, after: Duration) -> Checkpoint {
        Checkpoint { scratch, identity, after, due: Cell::new(Instant::now() + after) }
    }

    fn state<P: DeserializeOwned>(&self) -> Option<Saved<P>> {
        self.scratch.state().filter(|saved: &Saved<P>| saved.identity == self.identity)
    }

    /// Returns `true` if a checkpoint of the same run exists.
    pub(super) fn exists(&self) -> bool {
        self.state::<IgnoredAny>().is_some()
    }

    /// Returns `true` if a checkpoint of the same run remains, or files to which no state refers, as a power cut
    /// leaves them. A checkpoint of another run can still be resumed.
    pub(super) fn remains(&self) -> bool {
        match self.scratch.state::<Saved<IgnoredAny>>() {
            Some(saved) => saved.identity == self.identity,
            None => self.scratch.dir().exists(),
        }
    }

    /// Removes the checkpoint, of this run or another.
    pub(super) fn remove(self) {
        self.scratch.remove();
    }

    /// Returns `true` if the next checkpoint is due.
    pub(super) fn is_due(&self) -> bool {
        Instant::now() >= self.due.get()
    }

    /// Writes the values of some rows, to be referenced by the next saved state.
    pub(super) fn write<T: Pod>(
        &self,
        file: u8,
        from: usize,
        values: &[T],
    ) -> Result<CheckpointPiece, Error> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        self.scratch.write_at(&name_of(file), (from * size_of::<T>()) as u64, bytes)?;
        Ok(CheckpointPiece { file, from, to: from + values.len(), crc32: crc32(bytes) })
    }

    /// Saves the state of the work, and removes files that no piece references.
    pub(super) fn save<P: Serialize>(
        &self,
        sweeps: &[SweepRecord],
        pieces: &[CheckpointPiece],
        place: P,
    ) -> Result<(), Error> {
        let (identity, sweeps) = (self.identity.clone(), sweeps.to_vec());
        self.scratch.save(&Saved { identity, sweeps, pieces: pieces.to_vec(), place })?;
        let unused = [0, 1].into_iter().filter(|&file| pieces.iter().all(|p| p.file != file));
        unused.for_each(|file| self.scratch.remove_file(&name_of(file)));
        self.due.set(Instant::now() + self.after);
        Ok(())
    }

    /// Saves `count` values. The file that was written last stays intact meanwhile.
    pub(super) fn save_all<T: Pod, P: Serialize>(
        &self,
        count: usize,
        values: impl Fn(Range<usize>) -> Vec<T>,
        sweeps: &[SweepRecord],
        place: P,
    ) -> Result<(), Error> {
        let started = Instant::now();
        let last = self.state::<IgnoredAny>().and_then(|saved| saved.pieces.first().copied());
        let file = last.map_or(0, |piece| 1 - piece.file.min(1));
        let (mut pieces, mut to) = (Vec::new(), count);
        while to > 0 {
            let from = to.saturating_sub(PIECE);
            pieces.push(self.write(file, from, &values(from..to))?);
            to = from;
        }
        self.save(sweeps, &pieces, place)?;
        // The interval grows with the time that saving takes, which bounds its share.
        let after = self.after.mul_f64(1.0 + started.elapsed().as_secs_f64());
        self.due.set(Instant::now() + after);
        Ok(())
    }

    /// Loads the saved values; `None`, with `values` unspecified, if there are none or they are damaged.
    pub(super) fn load<T: Pod, P: DeserializeOwned>(&self, values: &mut [T]) -> Option<Saved<P>> {
        let saved = self.state::<P>()?;
        let mut end = values.len();
        for &CheckpointPiece { file, from, to, crc32: sum } in &saved.pieces {
            let rows = values.get_mut(from..to).filter(|_| to == end)?;
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(rows);
            self.scratch.read_at(&name_of(file), (from * size_of::<T>()) as u64, bytes)?;
            (crc32(bytes) == sum).then_some(())?;
            end = from;
        }
        saved.first().is_some().then_some(saved)
    }
}
