//! Tables on disk: a directory of `.npy` arrays and a `manifest.json`. Nothing here knows of games.
//!
//! The manifest is written last, by rename: a directory without one is no table. Files are never
//! changed in place. A table under construction is a [`Draft`] in a directory of its own, which
//! checkpoints let a later process continue; solving keeps its state in a [`Scratch`]. Opening is
//! cheap (lengths and headers are checked, payloads are not read); [`Table::check`] reads
//! everything. The format is specified in `docs/table-format.md`.

mod commit;
mod draft;
mod error;
mod ints;
mod manifest;
mod memory;
mod mmap;
mod npy;
mod packed;
mod removal;
mod scratch;
mod store;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::parallel;

pub use commit::Lock;
pub use draft::{Draft, Lengths};
pub use error::TableError;
pub use ints::Ints;
pub use manifest::{
    ArrayEntry, Counts, DISCOUNTED_COLUMN, Discounted, FORMAT, FORMAT_VERSION, Identity, Manifest,
    RootValue, SOLUTION_COLUMNS, Solution, SweepRecord, Tally,
};
pub use memory::{BESIDE, Memory, Room};
pub use npy::{Array, Element, HEADER_BYTES, Stream, crc32, shape_of};
pub use packed::{BLOCK, Packed, PackedColumn, blocks_of, of_planes, planes, whole, write_blocks};
pub use removal::{Removal, Removed};
pub use scratch::Scratch;
pub use store::{Entry, Holds, Store, check_name};

pub(crate) use commit::{Part, move_synced, sync_dir, write_whole};
pub(crate) use error::IoContext;

#[cfg(target_endian = "big")]
compile_error!("tables are little-endian and mapped as they are: no big-endian machines");

/// How long work on a table may go on, unless told otherwise, before it is secured by a checkpoint.
pub const CHECKPOINT_AFTER: Duration = Duration::from_millis(50);

/// An opened table.
#[derive(Debug)]
pub struct Table {
    dir: PathBuf,
    manifest: Manifest,
}

impl Table {
    /// Opens the table in a directory: reads its manifest.
    pub fn open(dir: &Path) -> Result<Table, TableError> {
        let path = dir.join("manifest.json");
        let bytes = manifest::read(&path).map_err(|source| {
            let hint = if dir.join(removal::REMOVED).is_file() {
                "its removal was interrupted; go on with 'solver remove'".to_string()
            } else if dir.is_dir() {
                "the directory has no manifest.json; make one with 'solver enumerate'".to_string()
            } else {
                "make one with 'solver enumerate'".to_string()
            };
            match source.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                    TableError::Missing { path: dir.to_path_buf(), hint }
                }
                std::io::ErrorKind::InvalidData => TableError::damaged(&path, source.to_string()),
                _ => TableError::Io { action: "read", path: path.clone(), source },
            }
        })?;
        let text =
            String::from_utf8(bytes).map_err(|_| TableError::damaged(&path, "it is not text"))?;
        Ok(Table { dir: dir.to_path_buf(), manifest: Manifest::from_text(&text, &path)? })
    }

    /// Where the table lies.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The table's name: that of its directory.
    pub fn name(&self) -> String {
        self.dir.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The path of an array's file.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.npy"))
    }

    /// Whether the manifest names an array.
    pub fn has_array(&self, name: &str) -> bool {
        self.manifest.arrays.contains_key(name)
    }

    /// Maps an array whose manifest entry must be rows of `T`.
    pub fn array<T: Element>(&self, name: &str) -> Result<Array<T>, TableError> {
        let manifest = self.dir.join("manifest.json");
        let entry =
            self.manifest.arrays.get(name).ok_or_else(|| {
                TableError::damaged(&manifest, format!("it names no array '{name}'"))
            })?;
        let rows = entry.shape.first().copied().unwrap_or(0);
        if entry.dtype != T::DESCR || entry.shape != shape_of::<T>(rows) {
            return Err(TableError::damaged(
                &manifest,
                format!(
                    "array '{name}' is {} {:?} where {} with {} columns is expected",
                    entry.dtype,
                    entry.shape,
                    T::DESCR,
                    T::COLUMNS
                ),
            ));
        }
        Array::open(&self.path_of(name), rows)
    }

    /// Maps an array; if `checked`, reads it once to compare its checksum with the manifest's.
    pub fn array_checked<T: Element>(
        &self,
        name: &str,
        checked: bool,
    ) -> Result<Array<T>, TableError> {
        let array = self.array::<T>(name)?;
        if checked {
            self.compare_checksum(name, crc32(array.bytes()))?;
        }
        Ok(array)
    }

    /// Compares the checksum of an array's payload with the manifest's.
    pub fn compare_checksum(&self, name: &str, found: u32) -> Result<(), TableError> {
        let found = format!("{found:08x}");
        let wanted = &self.manifest.arrays[name].crc32;
        if found != *wanted {
            return Err(TableError::damaged(
                &self.path_of(name),
                format!("its checksum is {found} where the manifest says {wanted}"),
            ));
        }
        Ok(())
    }

    /// Reads every byte of every array and compares all checksums, headers and lengths. Gives the
    /// number of payload bytes read.
    pub fn check(&self) -> Result<u64, TableError> {
        let arrays = self.manifest.arrays.keys();
        arrays.map(|name| self.check_array(name)).sum()
    }

    /// The same for one array, which the manifest names.
    pub fn check_array(&self, name: &str) -> Result<u64, TableError> {
        let (path, entry) = (self.path_of(name), &self.manifest.arrays[name]);
        let file = npy::map(&path)?;
        let header = npy::header(&path, &entry.dtype, &entry.shape)?;
        if file.len() < HEADER_BYTES || file[..HEADER_BYTES] != header[..] {
            return Err(TableError::damaged(&path, "its header is not the manifest's"));
        }
        self.compare_checksum(name, crc32(&file[HEADER_BYTES..]))?;
        Ok((file.len() - HEADER_BYTES) as u64)
    }

    /// Writes columns of so many rows beside their places. `fill` gives the bytes of some rows of
    /// every column, in the order of the rows.
    pub fn write_columns<E: From<TableError> + Send>(
        &self,
        columns: &[Column],
        rows: usize,
        fill: &mut (dyn FnMut(Range<usize>) -> Result<Vec<Vec<u8>>, E> + Send),
    ) -> Result<Vec<Written>, E> {
        let mut written = Vec::new();
        for &column in columns {
            let place = self.path_of(column.name);
            let part = Part::of(&place).at("write", &place)?;
            let stream = Stream::create(part.path())?;
            written.push(Mutex::new(Written { column, rows, part, stream }));
        }
        let append = |bytes: Vec<Vec<u8>>| {
            parallel::try_map(bytes.len(), &|column| {
                parallel::lock(&written[column]).stream.append(&bytes[column])
            })
        };
        // What was filled is written while more is filled.
        let mut filled = Vec::new();
        for first in (0..rows).step_by(ROWS_AT_ONCE) {
            let before = std::mem::take(&mut filled);
            let some = first..rows.min(first + ROWS_AT_ONCE);
            let (more, appended) = rayon::join(|| fill(some), || append(before));
            appended?;
            filled = more?;
        }
        append(filled)?;
        // Each waits for the disk, so all wait together.
        parallel::try_map(written.len(), &|column| {
            let Written { column, rows, stream, .. } = &mut *parallel::lock(&written[column]);
            stream.seal(column.descr, &[*rows as u64])
        })?;
        Ok(written
            .into_iter()
            .map(|one| one.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect())
    }

    /// Replaces columns of the table and its manifest. `edit` is given the manifest with the new
    /// columns' entries; before any file is replaced a manifest without a solution is written, so
    /// that a kill in between leaves an unsolved table and never a wrong one.
    pub fn install(
        &mut self,
        columns: Vec<Written>,
        unsolve: impl Fn(&mut Manifest),
        edit: impl FnOnce(&mut Manifest),
    ) -> Result<(), TableError> {
        let mut without = self.manifest.clone();
        unsolve(&mut without);
        for written in &columns {
            without.arrays.remove(written.column.name);
        }
        if without != self.manifest {
            write_manifest(&self.dir, &without)?;
        }
        let mut with = without;
        for Written { column, rows, part, stream } in columns {
            part.commit().at("write", &self.path_of(column.name))?;
            let entry = ArrayEntry {
                dtype: column.descr.to_string(),
                shape: vec![rows as u64],
                crc32: format!("{:08x}", stream.checksum()),
            };
            with.arrays.insert(column.name.to_string(), entry);
        }
        edit(&mut with);
        write_manifest(&self.dir, &with)?;
        self.manifest = Manifest::from_text(&with.to_text(), &self.dir.join("manifest.json"))?;
        Ok(())
    }
}

/// How many rows of columns are held in memory while they are written.
const ROWS_AT_ONCE: usize = 1 << 22;

/// A column of scalars.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The array's name.
    name: &'static str,
    /// NumPy's name of its scalar type.
    descr: &'static str,
}

impl Column {
    /// A column of `T`.
    pub fn of<T: Element>(name: &'static str) -> Column {
        Column { name, descr: T::DESCR }
    }
}

/// A column written beside its place.
#[derive(Debug)]
pub struct Written {
    column: Column,
    rows: usize,
    part: Part,
    stream: Stream,
}

fn write_manifest(dir: &Path, manifest: &Manifest) -> Result<(), TableError> {
    let path = dir.join("manifest.json");
    commit::write_synced(&path, manifest.to_text().as_bytes()).at("write", &path)
}
