//! What a process that solves a game with cycles leaves, from which a later one goes on: how far it
//! has come, and its values in pieces with checksums.

use std::cell::Cell;
use std::time::{Duration, Instant};

use bytemuck::Pod;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::table::{Scratch, TableError, crc32};

/// Where a process leaves what another can go on from.
pub struct Kept {
    scratch: Scratch,
    identity: String,
    after: Duration,
    due: Cell<Instant>,
}

#[derive(Serialize, Deserialize)]
struct State<P> {
    identity: String,
    /// Which of two files has the values: the one that this speaks of stays whole while the other
    /// is written.
    file: u8,
    crc32: Vec<u32>,
    place: P,
}

impl Kept {
    /// Keeps the work `identity`, the table and the method, in `scratch`, after as long each time.
    pub fn new(scratch: Scratch, identity: String, after: Duration) -> Kept {
        Kept { scratch, identity, after, due: Cell::new(Instant::now() + after) }
    }

    /// Whether there is something of the same work.
    pub(super) fn is_there(&self) -> bool {
        let state = self.scratch.state::<State<IgnoredAny>>();
        state.is_some_and(|state| state.identity == self.identity)
    }

    /// Removes what is kept.
    pub fn remove(self) {
        self.scratch.remove();
    }

    /// Whether work has gone on so long that it is to be secured.
    pub(super) fn is_due(&self) -> bool {
        Instant::now() >= self.due.get()
    }

    /// Secures how far the work has come, and its values.
    pub(super) fn save<P: Serialize, T: Pod>(
        &self,
        place: P,
        pieces: impl Iterator<Item = Vec<T>>,
    ) -> Result<(), TableError> {
        let started = Instant::now();
        let last = self.scratch.state::<State<IgnoredAny>>().map(|last| last.file);
        let file = last.map_or(0, |last| 1 - last.min(1));
        let (mut offset, mut sums) = (0, Vec::new());
        for piece in pieces {
            let bytes: &[u8] = bytemuck::cast_slice(&piece);
            self.scratch.write_at(&name_of(file), offset, bytes)?;
            offset += bytes.len() as u64;
            sums.push(crc32(bytes));
        }
        let identity = self.identity.clone();
        self.scratch.save(&State { identity, file, crc32: sums, place })?;
        last.into_iter().for_each(|last| self.scratch.remove_file(&name_of(last)));
        // The longer it takes the seldomer: of ten seconds one is no great part, five are.
        let (now, took) = (Instant::now(), started.elapsed());
        self.due.set(now + self.after.mul_f64(1.0 + took.as_secs_f64()));
        Ok(())
    }

    /// What another process left of the same work.
    pub(super) fn load<P: DeserializeOwned>(&self) -> Option<Saved<'_, P>> {
        let state = self.scratch.state::<State<P>>().filter(|s| s.identity == self.identity)?;
        let State { file, crc32, place, .. } = state;
        let (file, sums) = (name_of(file), crc32.into_iter());
        Some(Saved { scratch: &self.scratch, file, sums, offset: 0, place })
    }
}

fn name_of(file: u8) -> String {
    format!("values-{file}")
}

/// What is read of work that another process left.
pub(super) struct Saved<'a, P> {
    scratch: &'a Scratch,
    file: String,
    sums: std::vec::IntoIter<u32>,
    offset: u64,
    place: P,
}

impl<P> Saved<'_, P> {
    /// Reads the next piece; `None` if it is not what was written.
    pub fn read<T: Pod>(&mut self, piece: &mut [T]) -> Option<()> {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(piece);
        self.scratch.read_at(&self.file, self.offset, bytes)?;
        self.offset += bytes.len() as u64;
        (crc32(bytes) == self.sums.next()?).then_some(())
    }

    /// How far the work has come, if all pieces were read.
    pub fn place(self) -> Option<P> {
        (self.sums.len() == 0).then_some(self.place)
    }
}
