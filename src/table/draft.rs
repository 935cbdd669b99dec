//! A table under construction: arrays that grow, checkpoints, and the commit.
//!
//! A draft lies in `NAME.partial` beside the place of the table. Arrays are only ever appended to.
//! A checkpoint (written by rename) names each array's length and checksum and holds what the maker
//! needs to go on. Whatever lies behind those lengths is the work of a process that was killed, and
//! is cut off. Nothing waits for the disk before the commit; should the machine itself go down, the
//! checksums tell whether the draft can still be completed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use bytemuck::Pod;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::commit::{move_synced, read_state, sync_dir, write_kept, write_state};
use super::error::{IoContext, TableError};
use super::mmap::map_read_only;
use super::npy::{Array, Element, HEADER_BYTES, crc32, shape_of};
use super::stream::Stream;
use super::{ArrayEntry, Identity, Manifest, Memory, Table};
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
    /// Needed for going on, but no part of the table.
    scratch: bool,
}

impl Growing {
    /// Writes the header, and gives the array's entry in the manifest.
    fn seal(&mut self) -> Result<ArrayEntry, TableError> {
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

/// Whether an array's file still holds what a checkpoint says of it: its length and checksum.
fn holds(dir: &Path, name: &str, &(bytes, crc): &(u64, u32)) -> bool {
    let map = fs::File::open(dir.join(format!("{name}.npy"))).and_then(|f| map_read_only(&f));
    let payload = map.as_ref().ok().and_then(|map| map.get(HEADER_BYTES..)?.get(..bytes as usize));
    bytes == 0 || payload.is_some_and(|payload| crc32(payload) == crc)
}

#[derive(Serialize, Deserialize)]
struct Checkpoint<S> {
    format_version: u32,
    identity: Identity,
    arrays: BTreeMap<String, (u64, u32)>,
    state: S,
}

impl Draft {
    /// Opens the draft of the table that is to lie at `place`, going on from the last checkpoint if
    /// there is one of the same identity: the maker's state then and the arrays' lengths.
    pub fn open<S: DeserializeOwned>(
        place: &Path,
        identity: Identity,
    ) -> Result<(Draft, Option<(S, Lengths)>), TableError> {
        let dir = place.with_added_extension("partial");
        fs::create_dir_all(&dir).at("create", &dir)?;
        let resumed = read_state::<Checkpoint<S>>(&dir.join("checkpoint.json"))
            .filter(|c| c.identity == identity && c.format_version == super::FORMAT_VERSION)
            .filter(|c| c.arrays.iter().all(|(name, length)| holds(&dir, name, length)))
            .map(|c| (c.state, Lengths(c.arrays)));
        // Of a run that was killed before the table was moved; arrays will grow beside it.
        let _ = fs::remove_file(dir.join("manifest.json"));
        let draft = Draft { identity, place: place.to_path_buf(), dir, arrays: BTreeMap::new() };
        Ok((draft, resumed))
    }

    /// What the draft in a directory is made from; `None` where no checkpoint of this format tells.
    pub fn identity_in(dir: &Path) -> Option<Identity> {
        let checkpoint: Checkpoint<IgnoredAny> = read_state(&dir.join("checkpoint.json"))?;
        (checkpoint.format_version == super::FORMAT_VERSION).then_some(checkpoint.identity)
    }

    /// Notes the command that makes the draft, from the beginning each time, for lists of tables.
    pub fn note_command(&mut self, command: &str) -> Result<(), TableError> {
        self.checkpoint(&command)
    }

    /// The command that makes the draft in a directory, where one was noted.
    pub fn command_in(dir: &Path) -> Option<String> {
        let checkpoint: Checkpoint<String> = read_state(&dir.join("checkpoint.json"))?;
        (checkpoint.format_version == super::FORMAT_VERSION).then_some(checkpoint.state)
    }

    /// Whether a file of a draft is the draft's own, by its name.
    pub(super) fn owns(file: &str) -> bool {
        let whole = file.strip_suffix(".part").unwrap_or(file);
        whole.ends_with(".npy") || ["checkpoint.json", "manifest.json"].contains(&whole)
    }

    /// Whether a directory holds anything of a draft.
    pub(super) fn is_in(dir: &Path) -> bool {
        let files = fs::read_dir(dir).into_iter().flatten().flatten();
        files.filter_map(|file| file.file_name().into_string().ok()).any(|name| Draft::owns(&name))
    }

    /// What the table is made from.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Opens one array for appending, at the length it had at the checkpoint or empty.
    pub fn grow<T: Element>(
        &mut self,
        name: &'static str,
        scratch: bool,
        lengths: Option<&Lengths>,
    ) -> Result<(), TableError> {
        let (bytes, crc) = lengths.and_then(|l| l.0.get(name)).copied().unwrap_or((0, 0));
        let stream = Stream::open(&self.file(name), bytes, crc)?;
        let row_bytes = size_of::<T>() as u64;
        let columns = T::COLUMNS;
        self.arrays.insert(name, Growing { stream, descr: T::DESCR, row_bytes, columns, scratch });
        Ok(())
    }

    /// Memory for making it: so many bytes, or as many as it takes; the rest lies in files beside it.
    pub fn memory(&self, limit: Option<u64>) -> Memory {
        Memory::new(limit, &self.dir)
    }

    /// Whether the draft has an array.
    pub fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// The CRC-32 of what was appended to an array so far; `None` if there is none.
    pub fn checksum(&self, name: &str) -> Option<u32> {
        self.arrays.get(name).map(|growing| growing.stream.checksum())
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.npy"))
    }

    /// Appends bytes to several arrays at once.
    ///
    /// # Panics
    ///
    /// When an array was not opened by [`Draft::grow`].
    pub fn append(&mut self, parts: &[(&str, &[u8])]) -> Result<(), TableError> {
        for (name, _) in parts {
            assert!(self.arrays.contains_key(name), "array '{name}' is not open");
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

    /// How many rows were appended to an array so far; `None` if there is none.
    pub fn rows(&self, name: &str) -> Option<u64> {
        self.arrays.get(name).map(|growing| growing.stream.len_bytes() / growing.row_bytes)
    }

    /// That the checkpoint says what cannot be, whoever wrote it.
    pub fn astray(&self) -> TableError {
        TableError::damaged(&self.dir.join("checkpoint.json"), "its numbers do not fit the arrays")
    }

    /// What is wrong with an array that was read back.
    pub fn damaged(&self, name: &str, what: &str) -> TableError {
        TableError::damaged(&self.file(name), what)
    }

    /// Reads the last `rows` rows of an array back.
    pub fn tail<T: Element>(&self, name: &str, rows: usize) -> Result<Vec<T>, TableError> {
        use std::io::{Read, Seek, SeekFrom};
        let path = self.file(name);
        let mut file = fs::File::open(&path).at("read", &path)?;
        let length = self.arrays.get(name).map_or(0, |growing| growing.stream.len_bytes());
        if rows as u64 > length / size_of::<T>() as u64 {
            return Err(self.damaged(name, "it is shorter than its checkpoint says"));
        }
        let mut values = vec![T::zeroed(); rows];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        file.seek(SeekFrom::End(-(bytes.len() as i64))).at("read", &path)?;
        file.read_exact(bytes).at("read", &path)?;
        Ok(values)
    }

    /// Brings all that was appended into the files.
    fn flush(&mut self) -> Result<(), TableError> {
        self.arrays.values_mut().try_for_each(|growing| growing.stream.flush())
    }

    /// The rows of an array that were appended so far, mapped.
    pub fn mapped<T: Pod>(&mut self, name: &str) -> Result<Array<T>, TableError> {
        self.flush()?;
        Array::so_far(&self.file(name))
    }

    /// Makes what has been appended so far the point from which a later process goes on.
    pub fn checkpoint<S: Serialize>(&mut self, state: &S) -> Result<(), TableError> {
        self.flush()?;
        let arrays = self
            .arrays
            .iter()
            .map(|(&name, g)| (name.to_string(), (g.stream.len_bytes(), g.stream.checksum())))
            .collect();
        let checkpoint = Checkpoint {
            format_version: super::FORMAT_VERSION,
            identity: self.identity.clone(),
            arrays,
            state,
        };
        let path = self.dir.join("checkpoint.json");
        write_state(&path, &checkpoint).at("write", &path)
    }

    /// Seals the arrays, writes the manifest (whose `arrays` are filled in here) and moves the
    /// table to its place, where there must be none yet.
    pub fn commit(mut self, mut manifest: Manifest) -> Result<PathBuf, TableError> {
        manifest.arrays.clear();
        self.arrays.retain(|_, growing| !growing.scratch);
        // Each waits for the disk, so all wait together.
        let arrays: Vec<_> = self.arrays.iter_mut().map(Mutex::new).collect();
        let sealed = parallel::try_map(arrays.len(), &|place| {
            let (name, growing) = &mut *parallel::lock(&arrays[place]);
            Ok::<_, TableError>((name.to_string(), growing.seal()?))
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
        // What still writes to the files comes to its end first.
        drop(arrays);
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(Draft::owns) {
                let _ = fs::remove_file(entry.path());
            }
        }
        let _ = fs::remove_dir(dir);
    }

    /// Moves a draft to its place whose process was killed between writing the manifest and that; tells whether
    /// there was one that is whole, of this identity.
    pub fn finish(place: &Path, identity: &Identity) -> Result<bool, TableError> {
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
    fn move_to_place(&self, manifest: &Manifest) -> Result<(), TableError> {
        self.remove_all_but(manifest)?;
        let synced = sync_dir(&self.dir);
        if synced.is_err() {
            // Its files are begun anew, and so are their names.
            let files = manifest.arrays.keys().map(|name| self.dir.join(manifest.file_of(name)));
            let files = files.chain([self.dir.join("manifest.json")]);
            files.for_each(|file| drop(fs::remove_file(file)));
        }
        synced.at("write", &self.dir)?;
        // Where the disk may not have the name the table is a draft again, which is moved anew.
        let moved = move_synced(&self.dir, &self.place);
        let moved = moved.inspect_err(|_| drop(fs::rename(&self.place, &self.dir)));
        moved.at("write", &self.place)
    }

    /// Removes what is the draft's but no part of the table: the checkpoint, scratch arrays, and
    /// the halves that killed processes left of them.
    fn remove_all_but(&self, manifest: &Manifest) -> Result<(), TableError> {
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

/// The arrays' lengths in bytes and checksums at a checkpoint.
#[derive(Clone, Debug)]
pub struct Lengths(BTreeMap<String, (u64, u32)>);
