//! State of a computation over a table that a later process can resume.
//!
//! A scratch lies in `solve.partial` inside the table's directory: raw files written in parts, and a
//! `state.json` that is replaced by rename after the parts it refers to are written. Nothing is synced,
//! so a state should record the checksums of its parts.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::commit::{read_state, write_state};
use super::error::IoContext;
use crate::error::Error;
use crate::output::{is_kept, kept, kept_dir, remove_kept};

/// Directory of a scratch within its table's.
pub(super) const SCRATCH: &str = "solve.partial";

/// Files of a resumable computation.
#[derive(Debug)]
pub struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    /// Returns the scratch of the table in `table_dir`. Nothing is created until something is written.
    pub fn of(table_dir: &Path) -> Scratch {
        Scratch { dir: table_dir.join(SCRATCH) }
    }

    /// Returns the directory of the scratch.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the saved state, if it is undamaged and of this type.
    pub fn state<S: DeserializeOwned>(&self) -> Option<S> {
        read_state(&self.dir.join("state.json"))
    }

    /// Writes bytes to a file at an offset.
    pub fn write_at(&self, name: &str, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        kept_dir(&self.dir).at("write", &self.dir)?;
        let path = self.dir.join(name);
        let mut file = kept(&path).at("write", &path)?;
        file.seek(SeekFrom::Start(offset)).at("write", &path)?;
        file.write_all(bytes).at("write", &path)
    }

    /// Fills `bytes` from a file at an offset; `None` if the file is too short or missing.
    pub fn read_at(&self, name: &str, offset: u64, bytes: &mut [u8]) -> Option<()> {
        use std::io::Read;
        let mut file = File::open(self.dir.join(name)).ok()?;
        file.seek(SeekFrom::Start(offset)).ok()?;
        file.read_exact(bytes).ok()
    }

    /// Replaces the state.
    pub fn save<S: Serialize>(&self, state: &S) -> Result<(), Error> {
        kept_dir(&self.dir).at("write", &self.dir)?;
        let path = self.dir.join("state.json");
        write_state(&path, state).at("write", &path)
    }

    /// Removes a file, if it exists.
    pub fn remove_file(&self, name: &str) {
        let _ = fs::remove_file(self.dir.join(name));
    }

    /// Removes the directory with all files, if it is one of ours.
    pub fn remove(self) {
        if is_kept(&self.dir) {
            let _ = remove_kept(&self.dir);
        }
    }
}
