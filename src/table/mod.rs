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
mod mmap;
mod npy;
mod packed;
mod scratch;
mod store;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::parallel;

pub use commit::Lock;
pub use draft::{Draft, Lengths};
pub use error::TableError;
pub use ints::Ints;
pub use manifest::{
    ArrayEntry, Counts, Discounted, FORMAT, FORMAT_VERSION, Identity, Manifest, RootValue,
    Solution, SweepRecord, Tally,
};
pub use npy::{Array, Element, HEADER_BYTES, Stream, crc32, shape_of};
pub use packed::{BLOCK, Packed, PackedColumn, blocks_of, of_planes, planes, whole, write_blocks};
pub use scratch::Scratch;
pub use store::Store;

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
        let bytes = fs::read(&path).map_err(|source| {
            let hint = if dir.is_dir() {
                "the directory has no manifest.json; make one with 'solver enumerate'".to_string()
            } else {
                "make one with 'solver enumerate'".to_string()
            };
            match source.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                    TableError::Missing { path: dir.to_path_buf(), hint }
                }
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
            self.compare_checksum(name, array.bytes())?;
        }
        Ok(array)
    }

    fn compare_checksum(&self, name: &str, payload: &[u8]) -> Result<(), TableError> {
        let found = format!("{:08x}", crc32(payload));
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
        let mut bytes = 0;
        for (name, entry) in &self.manifest.arrays {
            let path = self.path_of(name);
            let file = npy::map(&path)?;
            let header = npy::header(&path, &entry.dtype, &entry.shape)?;
            if file.len() < HEADER_BYTES || file[..HEADER_BYTES] != header[..] {
                return Err(TableError::damaged(&path, "its header is not the manifest's"));
            }
            self.compare_checksum(name, &file[HEADER_BYTES..])?;
            bytes += (file.len() - HEADER_BYTES) as u64;
        }
        Ok(bytes)
    }

    /// Replaces columns of the table and its manifest. `edit` is given the manifest with the new
    /// columns' entries; before any file is replaced a manifest without a solution is written, so
    /// that a kill in between leaves an unsolved table and never a wrong one.
    pub fn install(
        &mut self,
        columns: &[Column<'_>],
        unsolve: impl Fn(&mut Manifest),
        edit: impl FnOnce(&mut Manifest),
    ) -> Result<(), TableError> {
        let write = |column: &Column<'_>| -> Result<(Part, ArrayEntry), TableError> {
            let place = self.path_of(column.name);
            let part = Part::of(&place).at("write", &place)?;
            let mut stream = Stream::create(part.path())?;
            stream.append(column.bytes)?;
            stream.seal(column.descr, &[column.rows])?;
            let entry = ArrayEntry {
                dtype: column.descr.to_string(),
                shape: vec![column.rows],
                crc32: format!("{:08x}", stream.checksum()),
            };
            Ok((part, entry))
        };
        // Each waits for the disk, so all wait together.
        let written = parallel::try_map(columns.len(), &|column| write(&columns[column]))?;
        let mut without = self.manifest.clone();
        unsolve(&mut without);
        for column in columns {
            without.arrays.remove(column.name);
        }
        if without != self.manifest {
            write_manifest(&self.dir, &without)?;
        }
        let mut with = without;
        for (column, (part, entry)) in columns.iter().zip(written) {
            part.commit().at("write", &self.path_of(column.name))?;
            with.arrays.insert(column.name.to_string(), entry);
        }
        edit(&mut with);
        write_manifest(&self.dir, &with)?;
        self.manifest = Manifest::from_text(&with.to_text(), &self.dir.join("manifest.json"))?;
        Ok(())
    }
}

/// A column to be installed in a table.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// The array's name.
    pub name: &'a str,
    /// NumPy's name of its scalar type.
    pub descr: &'static str,
    /// How many rows it has.
    pub rows: u64,
    /// The payload.
    pub bytes: &'a [u8],
}

impl<'a> Column<'a> {
    /// A column of scalars.
    pub fn new<T: Element>(name: &'a str, values: &'a [T]) -> Column<'a> {
        Column {
            name,
            descr: T::DESCR,
            rows: values.len() as u64,
            bytes: bytemuck::cast_slice(values),
        }
    }
}

fn write_manifest(dir: &Path, manifest: &Manifest) -> Result<(), TableError> {
    let path = dir.join("manifest.json");
    commit::write_synced(&path, manifest.to_text().as_bytes()).at("write", &path)
}
