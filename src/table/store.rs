//! The directory in which tables lie, and which of them is the latest.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::error::{IoContext, TableError};
use super::{Table, write_atomically};

/// A directory of tables.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// Held while a table is written: no other process writes it. Ends with the value or the process.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Unlocks, and does not leave that to closing the file: a child process that is just being
    /// started has the file too until it runs its own program.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
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
        // All write the same new file, so that a killed one leaves no other behind: one after another.
        let path = self.root.join("LATEST.lock");
        let lock = Lock { file: open_lock(&path)? };
        lock.file.lock().at("lock", &path)?;
        write_atomically(&self.root.join("LATEST"), format!("{name}\n").as_bytes())
    }

    /// Takes the right to write the table of a name, or says that another process has it.
    pub fn lock(&self, name: &str) -> Result<Lock, TableError> {
        fs::create_dir_all(&self.root).at("create", &self.root)?;
        lock_file(&self.root.join(format!("{name}.lock")))
    }
}

impl Table {
    /// Takes the right to change this table, or says that another process has it.
    pub fn lock(&self) -> Result<Lock, TableError> {
        lock_file(&self.dir.with_added_extension("lock"))
    }
}

fn open_lock(path: &Path) -> Result<File, TableError> {
    File::options().create(true).truncate(false).write(true).open(path).at("write", path)
}

fn lock_file(path: &Path) -> Result<Lock, TableError> {
    let file = open_lock(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Lock { file }),
        Err(fs::TryLockError::WouldBlock) => Err(TableError::Busy { path: path.to_path_buf() }),
        Err(fs::TryLockError::Error(source)) => {
            Err(TableError::Io { action: "lock", path: path.to_path_buf(), source })
        }
    }
}
