//! What a process that solves a table leaves, from which a later one goes on: the sweeps that were done, and values
//! in pieces with checksums.

use std::cell::Cell;
use std::ops::Range;
use std::time::{Duration, Instant};

use bytemuck::Pod;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::table::{Scratch, SweepRecord, Table, TableError, crc32};

/// Where a process leaves what another can go on from.
pub(super) struct Checkpoint {
    scratch: Scratch,
    /// The table and the method: what was saved of other work is not used.
    identity: String,
    after: Duration,
    due: Cell<Instant>,
}

/// A checkpoint's state.
#[derive(Serialize, Deserialize)]
pub(super) struct Saved<P> {
    identity: String,
    pub sweeps: Vec<SweepRecord>,
    /// The values that are kept, from the last row down.
    pub pieces: Vec<Piece>,
    /// How far the work has come besides.
    pub place: P,
}

/// The values of some rows, in one of two files.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Piece {
    file: u8,
    from: usize,
    to: usize,
    crc32: u32,
}

impl<P> Saved<P> {
    /// The first row whose value is kept.
    pub(super) fn first(&self) -> Option<usize> {
        self.pieces.last().map(|piece| piece.from)
    }
}

/// How many values are saved as one piece.
const PIECE: usize = 1 << 21;

fn name_of(file: u8) -> String {
    format!("values-{file}")
}

impl Checkpoint {
    /// Saves the work `identity` beside its table, after as long each time.
    pub(super) fn of(table: &Table, identity: String, after: Duration) -> Checkpoint {
        Checkpoint::at(Scratch::of(table.dir()), identity, after)
    }

    pub(super) fn at(scratch: Scratch, identity: String, after: Duration) -> Checkpoint {
        Checkpoint { scratch, identity, after, due: Cell::new(Instant::now() + after) }
    }

    fn state<P: DeserializeOwned>(&self) -> Option<Saved<P>> {
        self.scratch.state().filter(|saved: &Saved<P>| saved.identity == self.identity)
    }

    /// Whether there is something of the same work.
    pub(super) fn is_there(&self) -> bool {
        self.state::<IgnoredAny>().is_some()
    }

    /// Removes what was saved, of this work or another.
    pub(super) fn remove(self) {
        self.scratch.remove();
    }

    /// Whether work has gone on so long that it is to be saved.
    pub(super) fn is_due(&self) -> bool {
        Instant::now() >= self.due.get()
    }

    /// Writes the values of some rows, of which the next state speaks.
    pub(super) fn write<T: Pod>(
        &self,
        file: u8,
        from: usize,
        values: &[T],
    ) -> Result<Piece, TableError> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        self.scratch.write_at(&name_of(file), (from * size_of::<T>()) as u64, bytes)?;
        Ok(Piece { file, from, to: from + values.len(), crc32: crc32(bytes) })
    }

    /// Saves how far the work has come.
    pub(super) fn save<P: Serialize>(
        &self,
        sweeps: &[SweepRecord],
        pieces: &[Piece],
        place: P,
    ) -> Result<(), TableError> {
        let (identity, sweeps) = (self.identity.clone(), sweeps.to_vec());
        self.scratch.save(&Saved { identity, sweeps, pieces: pieces.to_vec(), place })?;
        let unused = [0, 1].into_iter().filter(|&file| pieces.iter().all(|p| p.file != file));
        unused.for_each(|file| self.scratch.remove_file(&name_of(file)));
        self.due.set(Instant::now() + self.after);
        Ok(())
    }

    /// Saves so many values anew. The file that was written last stays whole meanwhile.
    pub(super) fn save_all<T: Pod, P: Serialize>(
        &self,
        count: usize,
        values: impl Fn(Range<usize>) -> Vec<T>,
        sweeps: &[SweepRecord],
        place: P,
    ) -> Result<(), TableError> {
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
        // The longer it takes the seldomer: of ten seconds one is no great part, five are.
        let after = self.after.mul_f64(1.0 + started.elapsed().as_secs_f64());
        self.due.set(Instant::now() + after);
        Ok(())
    }

    /// Puts the values that another process saved in their places; `None`, and any values, if there are none or they
    /// are not what was written.
    pub(super) fn load<T: Pod, P: DeserializeOwned>(&self, values: &mut [T]) -> Option<Saved<P>> {
        let saved = self.state::<P>()?;
        let mut end = values.len();
        for &Piece { file, from, to, crc32: sum } in &saved.pieces {
            let rows = values.get_mut(from..to).filter(|_| to == end)?;
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(rows);
            self.scratch.read_at(&name_of(file), (from * size_of::<T>()) as u64, bytes)?;
            (crc32(bytes) == sum).then_some(())?;
            end = from;
        }
        saved.first().is_some().then_some(saved)
    }
}
