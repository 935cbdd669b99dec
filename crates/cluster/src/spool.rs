//! Records received for a worker's next layer: in memory, and beyond a limit in an unnamed file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use yomikiri::error::{Error, Kind};
use yomikiri::output::failure;

/// Number of slices of the received records, by their first word; a slice must fit in memory.
pub(super) const SLICES: u32 = 1 << 12;

/// Returns the length in words of the first record; `None` if the words are invalid.
pub(super) type First = fn(&[u32]) -> Option<usize>;

/// Joins duplicates in the records of a slice; `None` if the words are invalid.
pub(super) type Join = fn(&[u32]) -> Option<Vec<u32>>;

/// Functions that read and join records, and number of low bits of the first word that do not determine the slice.
#[derive(Clone, Copy)]
pub(super) struct Records {
    pub first: First,
    pub join: Join,
    pub shift: u32,
}

/// Records of a slice.
#[derive(Clone, Default)]
struct Slice {
    words: Vec<u32>,
    /// Runs of words in the file: offsets and lengths.
    runs: Vec<(u64, usize)>,
    /// Number of words after the last join.
    joined: usize,
}

impl Slice {
    fn in_file(&self) -> usize {
        self.runs.iter().map(|run| run.1).sum()
    }
}

/// Records of a layer.
pub(super) struct Spool {
    slices: Vec<Slice>,
    /// Number of words in memory.
    held: usize,
    /// Most words in memory.
    limit: usize,
    records: Records,
    dir: PathBuf,
    file: Option<File>,
    length: u64,
}

impl Spool {
    /// Returns an empty spool. Beyond `limit` words in memory it uses a file in `dir`.
    pub(crate) fn new(limit: usize, records: Records, dir: &Path) -> Spool {
        let slices = vec![Slice::default(); SLICES as usize];
        Spool { slices, held: 0, limit, records, dir: dir.to_path_buf(), file: None, length: 0 }
    }

    /// Adds records.
    pub(crate) fn take(&mut self, mut words: &[u32]) -> Result<(), Error> {
        while let Some(length) = (self.records.first)(words) {
            let (record, rest) = words.split_at_checked(length).ok_or_else(protocol_error)?;
            let number = record.first().map(|word| word >> self.records.shift);
            let slice = number.and_then(|number| self.slices.get_mut(number as usize));
            let slice = slice.ok_or_else(protocol_error)?;
            slice.words.extend_from_slice(record);
            self.held += length;
            words = rest;
        }
        if !words.is_empty() {
            return Err(protocol_error());
        }
        match self.held > self.limit {
            true => self.spill(),
            false => Ok(()),
        }
    }

    /// Writes all records in memory to the file. A slice that has doubled since its last join is read
    /// back and joined, so that duplicates do not fill the disk.
    fn spill(&mut self) -> Result<(), Error> {
        let least = self.limit / SLICES as usize;
        for number in 0..self.slices.len() {
            let slice = &mut self.slices[number];
            let mut words = std::mem::take(&mut slice.words);
            if slice.in_file() + words.len() > 2 * slice.joined.max(least) {
                for (at, length) in std::mem::take(&mut slice.runs) {
                    let begin = words.len();
                    words.resize(begin + length, 0);
                    self.read(at, &mut words[begin..])?;
                    self.free(at, length);
                }
                words = (self.records.join)(&words).ok_or_else(protocol_error)?;
                self.slices[number].joined = words.len();
            }
            if !words.is_empty() {
                let at = self.length;
                self.write(&words)?;
                self.slices[number].runs.push((at, words.len()));
            }
        }
        self.held = 0;
        Ok(())
    }

    /// Appends words to the file.
    fn write(&mut self, words: &[u32]) -> Result<(), Error> {
        let mut write = || {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(tempfile::tempfile_in(&self.dir)?),
            };
            file.seek(SeekFrom::Start(self.length))?;
            file.write_all(bytemuck::cast_slice(words))
        };
        let what = "write data that does not fit in memory to";
        write().map_err(|error: std::io::Error| failure(what, &self.dir, error))?;
        self.length += size_of_val(words) as u64;
        Ok(())
    }

    /// Reads words from the file.
    fn read(&mut self, at: u64, words: &mut [u32]) -> Result<(), Error> {
        let file = self.file.as_mut().expect("spilled data is in the file");
        let bytes = bytemuck::cast_slice_mut(words);
        let done = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(bytes));
        let what = "read data that does not fit in memory from";
        done.map_err(|error| failure(what, &self.dir, error))
    }

    /// Frees the disk space of some words, if possible.
    fn free(&self, at: u64, words: usize) {
        #[cfg(target_os = "linux")]
        if let Some(file) = &self.file {
            use rustix::fs::{FallocateFlags, fallocate};
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let _ = fallocate(file, hole, at, 4 * words as u64);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (at, words);
    }

    /// Returns groups of neighbouring slices, each of at most `words` words or a single slice.
    pub(crate) fn groups(&self, words: usize) -> Vec<Range<u32>> {
        let mut groups: Vec<Range<u32>> = Vec::new();
        let mut full = usize::MAX;
        for (number, slice) in (0..).zip(&self.slices) {
            let own = slice.words.len() + slice.in_file();
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

    /// Calls `visit` with the records of some slices and removes them.
    pub(crate) fn give(
        &mut self,
        slices: Range<u32>,
        visit: &mut dyn FnMut(&[u32]),
    ) -> Result<(), Error> {
        let mut read: Vec<u32> = Vec::new();
        for number in slices {
            let slice = &mut self.slices[number as usize];
            let (runs, words) = (std::mem::take(&mut slice.runs), std::mem::take(&mut slice.words));
            for (at, length) in runs {
                read.resize(length, 0);
                self.read(at, &mut read)?;
                self.free(at, length);
                visit(&read);
            }
            self.held -= words.len();
            visit(&words);
        }
        Ok(())
    }
}

/// Returns the error for an invalid message from another process.
pub(super) fn protocol_error() -> Error {
    let hint = "start all with the same program";
    Error::new("invalid message from another process", hint).of_kind(Kind::Failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(words: &[u32]) -> Option<usize> {
        words.get(1).map(|&length| length as usize)
    }

    /// Keeps each record once.
    fn join(words: &[u32]) -> Option<Vec<u32>> {
        let (records, []) = words.as_chunks::<3>() else { return None };
        let distinct: std::collections::BTreeSet<&[u32; 3]> = records.iter().collect();
        Some(distinct.into_iter().flatten().copied().collect())
    }

    const RECORDS: Records = Records { first, join, shift: 0 };

    #[test]
    fn what_comes_again_and_again_is_joined_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(100, RECORDS, dir.path());
        for number in 0..10_000 {
            spool.take(&[number % 5, 3, number % 50]).unwrap();
        }
        let mut kept = 0;
        let mut numbers = Vec::new();
        spool
            .give(0..SLICES, &mut |words| {
                kept += words.len();
                numbers.extend(words.chunks(3).map(|record| record[2]));
            })
            .unwrap();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers, Vec::from_iter(0..50));
        assert!(kept < 1000, "{kept}");
    }

    #[test]
    fn what_does_not_fit_comes_back_from_the_file_in_its_slice() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(20, RECORDS, dir.path());
        let mut wanted = vec![Vec::new(); SLICES as usize];
        for number in 0..100 {
            let slice = number * 7 % SLICES;
            let record = [slice, 3, number];
            wanted[slice as usize].push(record);
            spool.take(&[record, record].concat()).unwrap();
        }
        assert!(spool.length > 0 && spool.held <= 20);
        assert!(spool.groups(0).len() >= 100);
        let groups = spool.groups(18);
        assert!((10..100).contains(&groups.len()), "{}", groups.len());
        let mut next = 0;
        for group in groups {
            assert_eq!(group.start, next);
            next = group.end;
            let mut given = Vec::new();
            let all = wanted[group.start as usize..group.end as usize].concat();
            spool.give(group, &mut |words| given.extend_from_slice(words)).unwrap();
            let mut given = given.as_chunks::<3>().0.to_vec();
            given.dedup();
            assert_eq!(given, all);
        }
        assert_eq!((next, spool.held), (SLICES, 0));
        assert!(spool.take(&[0, 4, 1]).is_err());
        assert!(spool.take(&[1]).is_err());
        assert!(Spool::new(0, RECORDS, Path::new("/nowhere")).take(&[0, 2]).is_err());
    }
}
