//! What a worker has received for its next layer: in memory, and beyond a bound in a file without a name.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::ClusterError;

/// Into how many slices, by hash, what is received is cut; one must fit in memory.
pub(super) const SLICES: u32 = 256;

/// Of the records that some words begin with the first: how many words it has, and its slice. `None` where they are none.
pub(super) type First = fn(&[u32]) -> Option<(usize, u32)>;

/// What a slice has.
#[derive(Clone, Default)]
struct Slice {
    words: Vec<u32>,
    /// Runs of words in the file: where they begin, and how many.
    runs: Vec<(u64, usize)>,
}

/// The records of one layer.
pub(super) struct Spool {
    slices: Vec<Slice>,
    /// How many words are in memory.
    held: usize,
    /// How many may be.
    limit: usize,
    dir: PathBuf,
    file: Option<File>,
    length: u64,
}

impl Spool {
    /// Nothing yet; beyond so many words in memory a file in `dir` is used.
    pub fn new(limit: usize, dir: &Path) -> Spool {
        let slices = vec![Slice::default(); SLICES as usize];
        Spool { slices, held: 0, limit, dir: dir.to_path_buf(), file: None, length: 0 }
    }

    /// Takes records.
    pub fn take(&mut self, mut words: &[u32], first: First) -> Result<(), ClusterError> {
        while let Some((length, slice)) = first(words) {
            let (record, rest) = words.split_at_checked(length).ok_or_else(strange)?;
            let slice = self.slices.get_mut(slice as usize).ok_or_else(strange)?;
            slice.words.extend_from_slice(record);
            self.held += length;
            words = rest;
        }
        if !words.is_empty() {
            return Err(strange());
        }
        match self.held > self.limit {
            true => self.spill(),
            false => Ok(()),
        }
    }

    /// Writes all that is in memory to the file.
    fn spill(&mut self) -> Result<(), ClusterError> {
        let mut spill = || {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(tempfile::tempfile_in(&self.dir)?),
            };
            file.seek(SeekFrom::Start(self.length))?;
            for slice in self.slices.iter_mut().filter(|slice| !slice.words.is_empty()) {
                let words = std::mem::take(&mut slice.words);
                let bytes: &[u8] = bytemuck::cast_slice(&words);
                file.write_all(bytes)?;
                slice.runs.push((self.length, words.len()));
                self.length += bytes.len() as u64;
            }
            self.held = 0;
            Ok(())
        };
        let what = "be written with what does not fit in memory";
        spill().map_err(|error: std::io::Error| ClusterError::file(&self.dir, what, error))
    }

    /// Neighbouring slices put together until they have so many words.
    pub fn groups(&self, words: usize) -> Vec<Range<u32>> {
        let mut groups: Vec<Range<u32>> = Vec::new();
        let mut full = usize::MAX;
        for (number, slice) in (0..).zip(&self.slices) {
            let own = slice.words.len() + slice.runs.iter().map(|run| run.1).sum::<usize>();
            match groups.last_mut() {
                Some(group) if full.saturating_add(own) <= words => {
                    group.end = number + 1;
                    full += own;
                }
                _ => {
                    groups.push(number..number + 1);
                    full = own;
                }
            }
        }
        groups
    }

    /// Calls `visit` with the records of some slices, and forgets what of them is in memory.
    pub fn give(
        &mut self,
        slices: Range<u32>,
        visit: &mut dyn FnMut(&[u32]),
    ) -> Result<(), ClusterError> {
        let mut read: Vec<u32> = Vec::new();
        for slice in &mut self.slices[slices.start as usize..slices.end as usize] {
            for &(at, words) in &slice.runs {
                read.resize(words, 0);
                let file = self.file.as_mut().expect("what was spilled is in the file");
                let bytes = bytemuck::cast_slice_mut(&mut read);
                let done = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(bytes));
                let what = "be read with what did not fit in memory";
                done.map_err(|error| ClusterError::file(&self.dir, what, error))?;
                visit(&read);
            }
            let words = std::mem::take(&mut slice.words);
            self.held -= words.len();
            visit(&words);
        }
        Ok(())
    }
}

/// What is said where another process sends what this one does not know.
pub(super) fn strange() -> ClusterError {
    let what = "another process sent what is no message of this program; give all the same program";
    ClusterError::Others(what.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(words: &[u32]) -> Option<(usize, u32)> {
        let [slice, length, ..] = *words else { return None };
        Some((length as usize, slice))
    }

    #[test]
    fn what_does_not_fit_comes_back_from_the_file_in_its_slice() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(20, dir.path());
        let mut wanted = vec![Vec::new(); SLICES as usize];
        for number in 0..100 {
            let slice = number * 7 % SLICES;
            let record = [slice, 3, number];
            wanted[slice as usize].extend(record);
            spool.take(&[record, record].concat(), first).unwrap();
            wanted[slice as usize].extend(record);
        }
        assert!(spool.length > 0 && spool.held <= 20);
        assert!(spool.groups(0).len() >= 100);
        let groups = spool.groups(18);
        assert!(groups.len() > 20 && groups.len() < 100, "{}", groups.len());
        let mut next = 0;
        for group in groups {
            assert_eq!(group.start, next);
            next = group.end;
            let mut given = Vec::new();
            let all = wanted[group.start as usize..group.end as usize].concat();
            spool.give(group, &mut |words| given.extend_from_slice(words)).unwrap();
            assert_eq!(given, all);
        }
        assert_eq!((next, spool.held), (SLICES, 0));
        assert!(spool.take(&[0, 4, 1], first).is_err());
        assert!(spool.take(&[1], first).is_err());
        assert!(Spool::new(0, Path::new("/nowhere")).take(&[0, 2], first).is_err());
    }
}
