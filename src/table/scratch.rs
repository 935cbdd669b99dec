//! State of a computation over a table that a later process can go on from.
//!
//! A scratch lies in `solve.partial` inside the table's directory: raw files written in parts, and
//! a `state.json` that is replaced by rename after the parts it speaks of are written. Nothing
//! waits for the disk, so a state should name the checksums of its parts.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::commit::{read_state, write_state};
use super::error::{IoContext, TableError};

/// The directory of a scratch in that of its table.
pub(super) const SCRATCH: &str = "solve.partial";

/// A resumable computation's files.
#[derive(Debug)]
pub struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    /// The scratch of the table in `table_dir`; nothing is created until something is written.
    pub fn of(table_dir: &Path) -> Scratch {
        Scratch { dir: table_dir.join(SCRATCH) }
    }

    /// Where it lies.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The state a process left, if it is readable and of this type.
    pub fn state<S: DeserializeOwned>(&self) -> Option<S> {
        read_state(&self.dir.join("state.json"))
    }

    /// Writes part of a file at an offset in bytes.
    pub fn write_at(&self, name: &str, offset: u64, bytes: &[u8]) -> Result<(), TableError> {
        fs::create_dir_all(&self.dir).at("create", &self.dir)?;
        let path = self.dir.join(name);
        let mut file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .at("write", &path)?;
        file.seek(SeekFrom::Start(offset)).at("write", &path)?;
        file.write_all(bytes).at("write", &path)
    }

    /// Reads a file from an offset on; `None` if it is not as long as `bytes`.
    pub fn read_at(&self, name: &str, offset: u64, bytes: &mut [u8]) -> Option<()> {
        use std::io::Read;
        let mut file = File::open(self.dir.join(name)).ok()?;
        file.seek(SeekFrom::Start(offset)).ok()?;
        file.read_exact(bytes).ok()
    }

    /// Replaces the state.
    pub fn save<S: Serialize>(&self, state: &S) -> Result<(), TableError> {
        fs::create_dir_all(&self.dir).at("create", &self.dir)?;
        let path = self.dir.join("state.json");
        write_state(&path, state).at("write", &path)
    }

    /// Removes one file; it does not matter if there is none.
    pub fn remove_file(&self, name: &str) {
        let _ = fs::remove_file(self.dir.join(name));
    }

    /// Removes the files; it does not matter if there are none.
    pub fn remove(self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}
