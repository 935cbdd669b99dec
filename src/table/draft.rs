//! A table under construction: growing arrays, checkpoints, and the commit.
//!
//! A draft lies in `NAME.partial` beside the place of the table ([`kept_dir`]). Arrays are only appended to. A checkpoint
//! (written by rename) records the length and checksum of each array and the state that its maker resumes
//! from. Bytes beyond those lengths come from a killed process and are cut off. Nothing is synced before the
//! commit; after a crash of the machine the checksums show whether the draft can still be completed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use bytemuck::Pod;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::commit::{read_state, write_kept, write_state};
use super::error::IoContext;
use super::npy::{Array, Element, HEADER_BYTES, Ints, crc32, shape_of};
use super::npy_writer::Stream;
use super::{ArrayEntry, Identity, Manifest, Memory, Table};
use crate::error::Error;
use crate::mmap::map_read_only;
use crate::output::{DRAFT, is_kept, kept_dir, mark, move_synced, output_of, sync_dir};
use crate::parallel;

/// A table under construction.
#[derive(Debug)]
pub struct Draft {
    identity: Identity,
    place: PathBuf,
    dir: PathBuf,
    arrays: BTreeMap<&'static str, Growing>,
}

#[derive(Debug)]
struct Growing {
    stream: Stream,
    descr: &'static str,
    row_bytes: u64,
    columns: u64,
    /// `true` for an array that only resuming needs; the table does not include it.
    scratch: bool,
}

impl Growing {
    /// Writes the header, syncs, and returns the array's manifest entry.
    fn seal(&mut self) -> Result<ArrayEntry, Error> {
        let rows = self.stream.len_bytes() / self.row_bytes;
        let shape = if self.columns == 1 { shape_of::<u8>(rows) } else { vec![rows, self.columns] };
        self.stream.seal(self.descr, &shape)?;
        Ok(ArrayEntry {
            dtype: self.descr.to_string(),
            shape,
            crc32: format!("{:08x}", self.stream.checksum()),
        })
    }
}

/// Returns whether an array's file still begins with the payload that a checkpoint records.
fn holds(dir: &Path, name: &str, &(bytes, crc): &(u64, u32)) -> bool {
    let map = fs::File::open(dir.join(format!("{name}.npy"))).and_then(|f| map_read_only(&f));
    let payload = map.as_ref().ok().and_then(|map| map.get(HEADER_BYTES..)?.get(..bytes as usize));
    bytes == 0 || payload.is_some_and(|payload| crc32(payload) == crc)
}

#[derive(Serialize, Deserialize)]
struct DraftCheckpoint<S> {
    format_version: u32,
    identity: Identity,
    arrays: BTreeMap<String, (u64, u32)>,
    state: S,
}

impl Draft {
    /// Opens the draft of the table that will lie at `place`. If its last checkpoint has the same
    /// identity, also returns the maker's state and the lengths of the arrays to resume from.
    pub fn open<S: DeserializeOwned>(
        place: &Path,
        identity: Identity,
    ) -> Result<(Draft, Option<(S, Lengths)>), Error> {
        let dir = place.with_added_extension("partial");
        // A kill before the last step leaves a whole table here.
        let is_whole = !dir.is_symlink() && !is_kept(&dir) && Draft::is_in(&dir);
        let begun = if is_whole { mark(&dir) } else { kept_dir(&dir) };
        begun.at("write", &dir)?;
        let resumed = read_state::<DraftCheckpoint<S>>(&dir.join("checkpoint.json"))
            .filter(|c| c.identity == identity && c.format_version == super::FORMAT_VERSION)
            .filter(|c| c.arrays.iter().all(|(name, length)| holds(&dir, name, length)))
            .map(|c| (c.state, Lengths(c.arrays)));
        // From a process killed before it moved the table. Arrays will grow beside it.
        let _ = fs::remove_file(dir.join("manifest.json"));
        let draft = Draft { identity, place: place.to_path_buf(), dir, arrays: BTreeMap::new() };
        Ok((draft, resumed))
    }

    /// Returns the identity of the draft in a directory; `None` without a checkpoint of this format.
    pub fn identity_in(dir: &Path) -> Option<Identity> {
        let checkpoint: DraftCheckpoint<IgnoredAny> = read_state(&dir.join("checkpoint.json"))?;
        (checkpoint.format_version == super::FORMAT_VERSION).then_some(checkpoint.identity)
    }

    /// Records the command that makes the draft, for lists of tables. Such a draft is not resumed.
    pub fn note_command(&mut self, command: &str) -> Result<(), Error> {
        self.checkpoint(&command)
    }

    /// Returns the command that makes the draft in a directory, if one was recorded.
    pub fn command_in(dir: &Path) -> Option<String> {
        let checkpoint: DraftCheckpoint<String> = read_state(&dir.join("checkpoint.json"))?;
        (checkpoint.format_version == super::FORMAT_VERSION).then_some(checkpoint.state)
    }

    /// Returns whether a file of a draft's directory belongs to the draft, by its name.
    pub(super) fn owns(file: &str) -> bool {
        let whole = output_of(file).unwrap_or(file);
        whole.ends_with(".npy") || ["checkpoint.json", "manifest.json", DRAFT].contains(&whole)
    }

    /// Returns whether a directory is a draft's.
    pub(super) fn is_in(dir: &Path) -> bool {
        is_kept(dir) || Table::manifest_in(dir).is_ok()
    }

    /// Returns the identity of the table.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Opens an array for appending: at its length in the checkpoint, or empty.
    pub fn grow<T: Element>(
        &mut self,
        name: &'static str,
        scratch: bool,
        lengths: Option<&Lengths>,
    ) -> Result<(), Error> {
        let (bytes, crc) = lengths.and_then(|l| l.0.get(name)).copied().unwrap_or((0, 0));
        let stream = Stream::open(&self.file(name), bytes, crc)?;
        let row_bytes = size_of::<T>() as u64;
        let columns = T::COLUMNS;
        self.arrays.insert(name, Growing { stream, descr: T::DESCR, row_bytes, columns, scratch });
        Ok(())
    }

    /// Returns a memory budget of at most `limit` bytes; what exceeds it lies in files beside the draft.
    pub fn memory(&self, limit: Option<u64>) -> Memory {
        Memory::new(limit, &self.dir)
    }

    /// Returns whether the draft has an array.
    pub fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// Returns the CRC-32 of what was appended to an array so far; `None` if there is no such array.
    pub fn checksum(&self, name: &str) -> Option<u32> {
        self.arrays.get(name).map(|growing| growing.stream.checksum())
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.npy"))
    }

    /// Appends bytes to several arrays in parallel.
    ///
    /// # Panics
    ///
    /// If an array was not opened by [`Draft::grow`].
    pub fn append(&mut self, parts: &[(&str, &[u8])]) -> Result<(), Error> {
        for (name, _) in parts {
            assert!(self.arrays.contains_key(name), "array `{name}` is not open");
        }
        let work: Vec<_> = self
            .arrays
            .iter_mut()
            .flat_map(|(name, growing)| {
                let bytes = parts.iter().find(|(n, _)| n == name).map(|(_, bytes)| *bytes);
                bytes.map(|bytes| (growing, bytes))
            })
            .collect();
        let small = parts.iter().all(|(_, bytes)| bytes.len() < 1 << 16);
        let write = |(growing, bytes): (&mut Growing, &[u8])| growing.stream.append(bytes);
        if small {
            work.into_iter().try_for_each(write)?;
        } else {
            let work: Vec<_> = work.into_iter().map(Mutex::new).collect();
            let write = |place: usize| {
                let (growing, bytes) = &mut *parallel::lock(&work[place]);
                growing.stream.append(bytes)
            };
            parallel::try_map(work.len(), &write)?;
        }
        Ok(())
    }

    /// Returns the number of rows appended to an array so far; `None` if there is no such array.
    pub fn rows(&self, name: &str) -> Option<u64> {
        self.arrays.get(name).map(|growing| growing.stream.len_bytes() / growing.row_bytes)
    }

    /// Returns the error for a checkpoint that contradicts the arrays.
    pub fn inconsistent(&self) -> Error {
        Error::damaged(&self.dir.join("checkpoint.json"), "numbers inconsistent with the arrays")
    }

    /// Returns the error for a damaged array.
    pub fn damaged(&self, name: &str, what: &str) -> Error {
        Error::damaged(&self.file(name), what)
    }

    /// Reads the last `rows` rows of an array back from its file.
    pub fn tail<T: Element>(&self, name: &str, rows: usize) -> Result<Vec<T>, Error> {
        use std::io::{Read, Seek, SeekFrom};
        let path = self.file(name);
        let mut file = fs::File::open(&path).at("read", &path)?;
        let length = self.arrays.get(name).map_or(0, |growing| growing.stream.len_bytes());
        if rows as u64 > length / size_of::<T>() as u64 {
            return Err(self.damaged(name, "shorter than recorded by the checkpoint"));
        }
        let mut values = vec![T::zeroed(); rows];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        file.seek(SeekFrom::End(-(bytes.len() as i64))).at("read", &path)?;
        file.read_exact(bytes).at("read", &path)?;
        Ok(values)
    }

    /// Writes all buffered bytes to the files, without syncing.
    fn flush(&mut self) -> Result<(), Error> {
        self.arrays.values_mut().try_for_each(|growing| growing.stream.flush())
    }

    /// Maps the rows of an array that were appended so far.
    pub fn mapped<T: Pod>(&mut self, name: &str) -> Result<Array<T>, Error> {
        self.flush()?;
        Array::so_far(&self.file(name))
    }

    /// Writes a checkpoint: a later process resumes from `state` and from what has been appended so far.
    pub fn checkpoint<S: Serialize>(&mut self, state: &S) -> Result<(), Error> {
        self.flush()?;
        let arrays = self
            .arrays
            .iter()
            .map(|(&name, g)| (name.to_string(), (g.stream.len_bytes(), g.stream.checksum())))
            .collect();
        let checkpoint = DraftCheckpoint {
            format_version: super::FORMAT_VERSION,
            identity: self.identity.clone(),
            arrays,
            state,
        };
        let path = self.dir.join("checkpoint.json");
        write_state(&path, &checkpoint).at("write", &path)
    }

    /// Seals the arrays, writes the manifest (`arrays` is filled in here) and moves the table to its
    /// place, which must not exist. Returns the place.
    pub fn commit(mut self, mut manifest: Manifest) -> Result<PathBuf, Error> {
        manifest.arrays.clear();
        self.arrays.retain(|_, growing| !growing.scratch);
        // Every seal waits for the disk, so they wait in parallel.
        let arrays: Vec<_> = self.arrays.iter_mut().map(Mutex::new).collect();
        let sealed = parallel::try_map(arrays.len(), &|place| {
            let (name, growing) = &mut *parallel::lock(&arrays[place]);
            Ok::<_, Error>((name.to_string(), growing.seal()?))
        })?;
        drop(arrays);
        manifest.arrays.extend(sealed);
        for name in manifest.columns() {
            let (from, to) = (self.file(name), self.dir.join(manifest.file_of(name)));
            fs::rename(&from, &to).at("write", &to)?;
        }
        let path = self.dir.join("manifest.json");
        write_kept(&path, manifest.to_text().as_bytes()).at("write", &path)?;
        self.move_to_place(&manifest)?;
        Ok(self.place)
    }

    /// Removes a draft that cannot be completed.
    pub fn remove(self) {
        let Draft { dir, arrays, .. } = self;
        // Waits for the threads that still write to the files.
        drop(arrays);
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(Draft::owns) {
                let _ = fs::remove_file(entry.path());
            }
        }
        let _ = fs::remove_dir(dir);
    }

    /// Completes the draft of a process killed between writing the manifest and moving the table.
    /// Returns whether there was an undamaged one of this identity.
    pub fn finish(place: &Path, identity: &Identity) -> Result<bool, Error> {
        let dir = place.with_added_extension("partial");
        let table = Table::in_dir(&dir).ok().filter(|table| {
            table.manifest().identity == *identity && !table.manifest().is_packed()
        });
        let Some(table) = table.filter(|table| table.check().is_ok()) else { return Ok(false) };
        let (identity, place) = (identity.clone(), place.to_path_buf());
        let draft = Draft { identity, place, dir, arrays: BTreeMap::new() };
        draft.move_to_place(table.manifest())?;
        Ok(true)
    }
}

impl Draft {
    fn move_to_place(&self, manifest: &Manifest) -> Result<(), Error> {
        self.remove_all_but(manifest)?;
        let synced = sync_dir(&self.dir);
        if synced.is_err() {
            // Its files may not be on disk, so they are removed and made again.
            let files = manifest.arrays.keys().map(|name| self.dir.join(manifest.file_of(name)));
            let files = files.chain([self.dir.join("manifest.json")]);
            files.for_each(|file| drop(fs::remove_file(file)));
        }
        synced.at("write", &self.dir)?;
        // If the new name may not be on disk, the table becomes a draft again, to be moved later.
        let moved = move_synced(&self.dir, &self.place);
        let moved = moved.inspect_err(|_| drop(fs::rename(&self.place, &self.dir)));
        moved.at("write", &self.place)
    }

    /// Removes the files of the draft that the table does not include: the checkpoint, scratch arrays,
    /// and temporary files of killed processes.
    fn remove_all_but(&self, manifest: &Manifest) -> Result<(), Error> {
        for entry in fs::read_dir(&self.dir).at("read", &self.dir)?.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let is_array = manifest.arrays.keys().any(|array| manifest.file_of(array) == name);
            if name != "manifest.json" && !is_array && Draft::owns(&name) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }
}

/// Lengths in bytes and checksums of the arrays at a checkpoint.
#[derive(Clone, Debug)]
pub struct Lengths(BTreeMap<String, (u64, u32)>);
impl Ints {
    /// Opens such a column of a draft for appending.
    pub fn grow(
        draft: &mut Draft,
        name: &'static str,
        wide: bool,
        lengths: Option<&Lengths>,
    ) -> Result<(), Error> {
        match wide {
            true => draft.grow::<u16>(name, false, lengths),
            false => draft.grow::<u8>(name, false, lengths),
        }
    }

    /// Maps such a column of a draft as far as it was appended.
    pub fn so_far(draft: &mut Draft, name: &str, wide: bool) -> Result<Ints, Error> {
        match wide {
            true => draft.mapped(name).map(Ints::Wide),
            false => draft.mapped(name).map(Ints::Narrow),
        }
    }

    /// Reads the last rows of such a column of a draft.
    pub fn tail(draft: &Draft, name: &str, wide: bool, rows: usize) -> Result<Vec<u16>, Error> {
        match wide {
            true => draft.tail::<u16>(name, rows),
            false => Ok(draft.tail::<u8>(name, rows)?.into_iter().map(u16::from).collect()),
        }
    }
}
