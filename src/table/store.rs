//! The directory in which tables lie, and which of them is the latest.

use std::fs;
use std::path::{Path, PathBuf};

use super::Table;
use super::commit::{Lock, write_synced};
use super::error::{IoContext, TableError};

/// A directory of tables.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// The store in a directory, which need not exist yet.
    pub fn at(root: &Path) -> Store {
        Store { root: root.to_path_buf() }
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the table of a name lies.
    pub fn place(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The directory meant by what a person wrote: a path to a table, or the name of one here.
    pub fn resolve(&self, table: &str) -> PathBuf {
        let path = Path::new(table);
        let here = self.place(table);
        if !here.exists() && (path.exists() || path.components().count() > 1) {
            path.to_path_buf()
        } else {
            here
        }
    }

    /// Opens the table meant by what a person wrote.
    pub fn open(&self, table: &str) -> Result<Table, TableError> {
        let dir = self.resolve(table);
        Table::open(&dir).map_err(|error| match error {
            TableError::Missing { path, .. } if !dir.exists() => {
                TableError::Missing { path, hint: self.hint() }
            }
            other => other,
        })
    }

    fn hint(&self) -> String {
        let names = self.names();
        if names.is_empty() {
            format!("{} holds none; make one with 'solver enumerate'", self.root.display())
        } else {
            format!("{} holds {}", self.root.display(), names.join(", "))
        }
    }

    /// The names of the tables here, sorted.
    pub fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.root) else { return Vec::new() };
        let mut names: Vec<_> = entries
            .flatten()
            .filter(|entry| entry.path().join("manifest.json").is_file())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !name.ends_with(".partial"))
            .collect();
        names.sort();
        names
    }

    /// The name of the table that was enumerated last.
    pub fn latest(&self) -> Result<String, TableError> {
        match fs::read_to_string(self.root.join("LATEST")) {
            Ok(name) if self.place(name.trim()).is_dir() => Ok(name.trim().to_string()),
            _ => Err(TableError::Missing { path: self.root.clone(), hint: self.hint() }),
        }
    }

    /// Makes a table the latest; of several that are made so at once, one.
    pub fn set_latest(&self, name: &str) -> Result<(), TableError> {
        if self.latest().is_ok_and(|latest| latest == name) {
            return Ok(());
        }
        // All write the same part, so that a killed one leaves no other behind: one after another.
        let _lock = Lock::wait(&self.root.join("LATEST.lock"))?;
        let path = self.root.join("LATEST");
        write_synced(&path, format!("{name}\n").as_bytes()).at("write", &path)
    }

    /// Takes the right to write the table of a name, or says that another process has it.
    pub fn lock(&self, name: &str) -> Result<Lock, TableError> {
        fs::create_dir_all(&self.root).at("create", &self.root)?;
        Lock::take(&self.root.join(format!("{name}.lock")))
    }
}

impl Table {
    /// Takes the right to change this table, or says that another process has it.
    pub fn lock(&self) -> Result<Lock, TableError> {
        Lock::take(&self.dir.with_added_extension("lock"))
    }
}
