//! Tables on disk: a directory of `.npy` arrays and a `manifest.json`. This module knows nothing of games.
//!
//! The manifest is written last, by rename: a directory without one is not a table. Files are never
//! changed in place. A table under construction is a [`Draft`] in a directory of its own, whose
//! checkpoints let a later process resume; solving keeps its state in a [`Scratch`]. Opening is cheap
//! (lengths and headers are checked, payloads are not read); [`Table::check`] reads everything.
//! `docs/table-format.md` specifies the format.
//!
//! ```
//! use yomikiri::{progress::Silent, registry::othello, oracle::SolvedTable, table::Store};
//!
//! let dir = tempfile::tempdir()?;
//! let store = Store::at(dir.path());
//! SolvedTable::of_whole(othello("4")?, &store, &Silent)?;
//! let table = store.open("othello-4x4")?;
//! let scores = table.array::<i8>("score")?;
//! assert_eq!((scores.len(), scores[0]), (12_351, -8));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod commit;
mod damage;
mod draft;
mod error;
mod manifest;
mod memory;
mod npy;
mod npy_header;
mod npy_writer;
mod packed_array;
mod removal;
pub mod rows;
mod scratch;
mod store;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::error::Error;
use crate::mmap::AccessPattern;
use crate::output::{self, OutputFile, failure};
use crate::parallel;

#[doc(hidden)]
pub use commit::Lock;
#[doc(hidden)]
pub use damage::Damage;
#[doc(hidden)]
pub use draft::{Draft, Lengths};
pub use manifest::{
    ArrayEntry, Counts, DISCOUNTED_COLUMN, Discounted, FORMAT, FORMAT_VERSION, Identity,
    ListedFacts, Manifest, RootValue, SOLUTION_COLUMNS, Solution, SweepRecord, Tally, column_in,
};
#[doc(hidden)]
pub use memory::{BESIDE, Buffer, Memory, NoRoom, fits_disk, fits_memory, free_disk};
#[doc(hidden)]
pub use npy::{Array, Element, HEADER_BYTES, Ints, crc32, shape_of};
#[doc(hidden)]
pub use npy_header::NpyHeader;
#[doc(hidden)]
pub use npy_writer::Stream;
#[doc(hidden)]
pub use packed_array::{BLOCK, Packed, PackedColumn, blocks_of, of_planes, planes, write_blocks};
#[doc(hidden)]
pub use removal::{Removal, Removed};
#[doc(hidden)]
pub use scratch::Scratch;
pub use store::{Entry, Holds, Store, check_name, folder_of};

#[doc(hidden)]
pub use crate::mmap::map_read_only;
#[doc(hidden)]
pub use error::IoContext;
#[doc(hidden)]
pub use store::bytes_in;

#[cfg(target_endian = "big")]
compile_error!("tables are mapped as little-endian: big-endian machines are not supported");

/// Default interval between checkpoints of work on a table.
#[doc(hidden)]
pub const CHECKPOINT_AFTER: Duration = Duration::from_millis(50);

/// An opened table. It keeps the solution it was opened with, whatever another process writes meanwhile.
#[derive(Debug)]
pub struct Table {
    dir: PathBuf,
    manifest: Manifest,
    /// Open files of the columns, which stay readable after another solution has replaced them.
    columns: BTreeMap<String, File>,
    reading: AccessPattern,
    damage: Damage,
}

impl Table {
    /// Opens the table in a directory: reads its manifest and opens the columns of its solution.
    pub fn open(dir: &Path) -> Result<Table, Error> {
        if dir.extension().is_some_and(|end| end == "partial") {
            let why = Error::new("unfinished draft", "run the same command again");
            return Err(Error::foreign(dir, why));
        }
        let table = Table::in_dir(dir)?;
        match table.manifest.identity.part {
            None => Ok(table),
            Some([number, of]) => {
                let what = format!("only part {number} of {of} of one");
                let hint = "join the parts with 'solver gather', or 'solver query --parts'";
                Err(Error::foreign(dir, Error::new(what, hint)))
            }
        }
    }

    /// Opens a part of a table.
    pub fn open_part(dir: &Path) -> Result<Table, Error> {
        let table = Table::in_dir(dir)?;
        match table.manifest.identity.part {
            Some(_) => Ok(table),
            None => Err(Error::foreign(dir, "expected a part of a table")),
        }
    }

    /// Opens a directory that may be a draft's.
    fn in_dir(dir: &Path) -> Result<Table, Error> {
        let mut tries = 0;
        loop {
            let manifest = Table::manifest_in(dir)?;
            let columns = open_columns(dir, &manifest);
            // A column is missing if another process has just replaced the solution; if it stays
            // missing, the file was deleted.
            if columns.len() == manifest.columns().count() || tries == TRIES {
                return Ok(Table {
                    dir: dir.to_path_buf(),
                    manifest,
                    columns,
                    reading: AccessPattern::All,
                    damage: Damage::default(),
                });
            }
            tries += 1;
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Turns off readahead for arrays mapped from now on. A lookup of a single row then reads a page of
    /// the disk, not megabytes.
    pub fn for_few_rows(self) -> Table {
        Table { reading: AccessPattern::Little, ..self }
    }

    /// Locks the table for writing and opens it again, so that it includes what others have written
    /// since. Fails if another process holds the lock or has replaced the table by a different one.
    pub fn lock(&mut self) -> Result<Lock, Error> {
        let lock = Lock::take(&self.dir.with_added_extension("lock"))?;
        let now = Table::in_dir(&self.dir)?;
        match now.manifest.identity == self.manifest.identity {
            true => self.open_again(now),
            false => return Err(Error::busy(&self.dir)),
        }
        Ok(lock)
    }

    /// Becomes what is on the disk now. Damage that readers met before still counts.
    fn open_again(&mut self, now: Table) {
        *self = Table { damage: self.damage.clone(), ..now };
    }

    fn manifest_in(dir: &Path) -> Result<Manifest, Error> {
        let path = dir.join("manifest.json");
        let bytes = manifest::read(&path).map_err(|source| {
            let what = if dir.join(store::REMOVED).is_file() {
                Error::new("interrupted removal", "resume with 'solver remove'")
            } else if dir.is_dir() {
                Error::new("missing manifest.json", "make one with 'solver enumerate'")
            } else {
                "make one with 'solver enumerate'".into()
            };
            match source.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                    Error::missing(dir, what)
                }
                std::io::ErrorKind::InvalidData => Error::damaged(&path, source.to_string()),
                _ => failure("read", &path, source),
            }
        })?;
        let text = String::from_utf8(bytes).map_err(|_| Error::damaged(&path, "invalid UTF-8"))?;
        Manifest::from_text(&text, &path)
    }

    /// Returns the table's directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the name of the table, which is that of its directory.
    pub fn name(&self) -> String {
        self.dir.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the damage that readers of this table have met.
    pub fn damage(&self) -> &Damage {
        &self.damage
    }

    /// Fails if readers of this table have met damage since it was opened. Readers that do not return a `Result` then
    /// return a placeholder (no row, an unreachable end, zero): check before using it.
    pub fn check_read(&self) -> Result<(), Error> {
        self.damage.check()
    }

    /// Returns the error for a damaged manifest.
    pub fn damaged_manifest(&self, what: impl Into<String>) -> Error {
        Error::damaged(&self.dir.join("manifest.json"), what)
    }

    /// Returns the path of an array's file.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.dir.join(self.manifest.file_of(name))
    }

    /// Returns whether the manifest names an array.
    pub fn has_array(&self, name: &str) -> bool {
        self.manifest.arrays.contains_key(name)
    }

    /// Maps an array. Fails unless its manifest entry has the dtype and columns of `T`.
    pub fn array<T: Element>(&self, name: &str) -> Result<Array<T>, Error> {
        let manifest = self.dir.join("manifest.json");
        let entry = self
            .manifest
            .arrays
            .get(name)
            .ok_or_else(|| Error::damaged(&manifest, format!("missing array '{name}'")))?;
        let rows = entry.shape.first().copied().unwrap_or(0);
        if entry.dtype != T::DESCR || entry.shape != shape_of::<T>(rows) {
            return Err(Error::damaged(
                &manifest,
                format!(
                    "array '{name}' is {} {:?}, expected {} with {} columns",
                    entry.dtype,
                    entry.shape,
                    T::DESCR,
                    T::COLUMNS
                ),
            ));
        }
        Array::open(&self.file_of(name)?, &self.path_of(name), rows, self.reading)
    }

    /// Returns the open file of an array.
    fn file_of(&self, name: &str) -> Result<File, Error> {
        let path = self.path_of(name);
        match self.columns.get(name) {
            Some(file) => file.try_clone().at("open", &path),
            None => npy::open(&path),
        }
    }

    /// Maps an array; if `checked`, also reads it to compare its checksum with the manifest's.
    pub fn array_checked<T: Element>(&self, name: &str, checked: bool) -> Result<Array<T>, Error> {
        let array = self.array::<T>(name)?;
        if checked {
            self.compare_checksum(name, crc32(array.bytes()))?;
        }
        Ok(array)
    }

    /// Compares the checksum of an array's payload with the manifest's. The manifest must name the array.
    pub fn compare_checksum(&self, name: &str, found: u32) -> Result<(), Error> {
        let found = format!("{found:08x}");
        let wanted = &self.manifest.arrays[name].crc32;
        if found != *wanted {
            return Err(Error::damaged(
                &self.path_of(name),
                format!("checksum {found}, expected {wanted} (manifest)"),
            ));
        }
        Ok(())
    }

    /// Reads all arrays and compares their checksums, headers and lengths with the manifest. Returns the
    /// number of payload bytes read.
    pub fn check(&self) -> Result<u64, Error> {
        let arrays = self.manifest.arrays.keys();
        arrays.map(|name| self.check_array(name)).sum()
    }

    /// Checks an array, which the manifest must name. Returns the number of its payload bytes.
    pub fn check_array(&self, name: &str) -> Result<u64, Error> {
        let (path, entry) = (self.path_of(name), &self.manifest.arrays[name]);
        let file = npy::map(&self.file_of(name)?, &path, AccessPattern::All)?;
        let header = npy::header(&path, &entry.dtype, &entry.shape)?;
        if file.len() < HEADER_BYTES || file[..HEADER_BYTES] != header[..] {
            return Err(Error::damaged(&path, "header differs from the manifest"));
        }
        self.compare_checksum(name, crc32(&file[HEADER_BYTES..]))?;
        Ok((file.len() - HEADER_BYTES) as u64)
    }

    /// Writes columns of `rows` rows to temporary files beside their places. `fill` returns, for a range
    /// of rows, the bytes of each column, in the order of `columns`; ranges ascend.
    pub fn write_columns(
        &self,
        columns: &[NewColumn],
        rows: usize,
        fill: &mut (dyn FnMut(Range<usize>) -> Result<Vec<Vec<u8>>, Error> + Send),
    ) -> Result<Vec<Written>, Error> {
        let mut written = Vec::new();
        for &column in columns {
            let place = self.dir.join(format!("{}.npy", column.name));
            let part = OutputFile::beside(&place).at("write", &place)?;
            let stream = Stream::create(part.path().unwrap_or(&place))?;
            written.push(Mutex::new(Written { column, rows, part, stream }));
        }
        let append = |bytes: Vec<Vec<u8>>| {
            parallel::try_map(bytes.len(), &|column| {
                parallel::lock(&written[column]).stream.append(&bytes[column])
            })
        };
        // Rows are written while the next ones are filled.
        let mut filled = Vec::new();
        for first in (0..rows).step_by(ROWS_AT_ONCE) {
            let before = std::mem::take(&mut filled);
            let some = first..rows.min(first + ROWS_AT_ONCE);
            let (more, appended) = rayon::join(|| fill(some), || append(before));
            appended?;
            filled = more?;
        }
        append(filled)?;
        // Every seal waits for the disk, so they wait in parallel.
        parallel::try_map(written.len(), &|column| {
            let Written { column, rows, stream, .. } = &mut *parallel::lock(&written[column]);
            stream.seal(column.descr, &[*rows as u64])
        })?;
        Ok(written
            .into_iter()
            .map(|one| one.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect())
    }

    /// Installs columns and replaces the manifest. `unsolve` removes the entries of what is replaced
    /// from the manifest; `edit` then receives it with the entries of the new columns. Column files have
    /// their checksums in their names, so new ones lie beside the old until the manifest, replaced by
    /// rename, names them: readers find one solution or the other, also after a kill.
    pub fn install(
        &mut self,
        columns: Vec<Written>,
        unsolve: impl Fn(&mut Manifest),
        edit: impl FnOnce(&mut Manifest),
    ) -> Result<(), Error> {
        // Values found from damaged rows are not committed.
        self.check_read()?;
        let mut with = self.manifest.clone();
        unsolve(&mut with);
        for Written { column, rows, part, stream } in columns {
            let entry = ArrayEntry {
                dtype: column.descr.to_string(),
                shape: vec![rows as u64],
                crc32: format!("{:08x}", stream.checksum()),
            };
            with.arrays.insert(column.name.to_string(), entry);
            let place = self.dir.join(with.file_of(column.name));
            part.commit_to(&place).at("write", &place)?;
        }
        edit(&mut with);
        // After a power loss the disk may have a later rename but not an earlier one.
        output::sync_dir(&self.dir).at("write", &self.dir)?;
        let path = self.dir.join("manifest.json");
        let written = commit::write_synced(&path, with.to_text().as_bytes());
        if written.is_err() {
            // The new manifest may not be on disk: restore the old one, and let solving start again.
            let _ = commit::write_kept(&path, self.manifest.to_text().as_bytes());
        }
        written.at("write", &path)?;
        self.open_again(Table::in_dir(&self.dir)?);
        self.remove_old_columns()
    }

    /// Removes columns that the manifest does not name: those of replaced solutions and those that a
    /// killed process left. Processes that have them open keep them.
    fn remove_old_columns(&self) -> Result<(), Error> {
        let named: BTreeSet<String> =
            self.manifest.columns().map(|name| self.manifest.file_of(name)).collect();
        for entry in fs::read_dir(&self.dir).at("read", &self.dir)?.flatten() {
            let Ok(file) = entry.file_name().into_string() else { continue };
            if column_in(&file).is_some() && !named.contains(&file) {
                fs::remove_file(entry.path()).at("remove", &entry.path())?;
            }
        }
        Ok(())
    }
}

/// Number of retries to open columns that the manifest names.
const TRIES: u32 = 20;

/// Opens the columns that the manifest names, except missing ones.
fn open_columns(dir: &Path, manifest: &Manifest) -> BTreeMap<String, File> {
    let open =
        |name: &String| Some((name.clone(), npy::open(&dir.join(manifest.file_of(name))).ok()?));
    manifest.columns().filter_map(open).collect()
}

/// Rows of the columns that are filled at a time.
const ROWS_AT_ONCE: usize = 1 << 22;

/// Name and scalar type of a column.
#[derive(Clone, Copy, Debug)]
pub struct NewColumn {
    /// Name of the array.
    name: &'static str,
    /// NumPy's name of its scalar type.
    descr: &'static str,
}

impl NewColumn {
    /// Returns a column of `T`.
    pub fn of<T: Element>(name: &'static str) -> NewColumn {
        NewColumn { name, descr: T::DESCR }
    }
}

/// A column in a temporary file, not installed yet.
#[derive(Debug)]
pub struct Written {
    column: NewColumn,
    rows: usize,
    part: OutputFile,
    stream: Stream,
}
