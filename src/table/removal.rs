//! Tables taken away again, so that a kill at any moment leaves nothing that opens but is wrong.
//!
//! The manifest goes first, to the name [`REMOVED`], which nothing opens and which tells a later
//! removal which files were the table's. It is deleted last. Files that are not the table's stay.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::commit::{Lock, parent, sync_dir};
use super::error::{IoContext, TableError};
use super::scratch::SCRATCH;
use super::store::bytes_in;
use super::{DISCOUNTED_COLUMN, Draft, FORMAT, SOLUTION_COLUMNS, Store, column_in};
use crate::hint::Hinted;

/// What a manifest is called while its table is being removed.
pub(super) const REMOVED: &str = "removed.json";

/// A table or draft that is about to be removed, locked.
#[derive(Debug)]
pub struct Removal {
    store: Store,
    name: String,
    /// The arrays of the table; `None` if there is only a draft.
    arrays: Option<BTreeSet<String>>,
    lock: Lock,
}

/// What was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The table's name.
    pub name: String,
    /// Whether there was only a draft of it.
    pub only_draft: bool,
    /// How long the files were.
    pub bytes: u64,
    /// What was found beside the table's own files and left there.
    pub left: Vec<PathBuf>,
}

impl Store {
    /// Takes hold of the table that a person wants removed: one of exactly this name here, or one
    /// at a path; `NAME.partial` is its draft alone. Nothing is removed yet.
    pub fn removal(&self, written: &str) -> Result<Removal, TableError> {
        // Without a separator behind it, which would follow a link.
        let path: PathBuf = Path::new(written).components().collect();
        let is_path = written.contains(std::path::is_separator);
        let (store, file) = match path.file_name().and_then(|name| name.to_str()) {
            _ if !is_path => (self.clone(), written),
            Some(file) => (Store::at(parent(&path)), file),
            None => return Err(foreign(&path, "its path does not end in a name")),
        };
        // As the directory lists it: some systems take other spellings for the same name.
        let listed = |wanted: &str| {
            let mut entries = fs::read_dir(store.root()).into_iter().flatten().flatten();
            entries.any(|entry| entry.file_name() == wanted)
        };
        let name = file.strip_suffix(".partial").unwrap_or(file);
        let draft = format!("{name}.partial");
        let is_draft = file == draft || !listed(file);
        // A removal that is killed at its end leaves the lock, perhaps beside an empty directory.
        let has_lock = listed(&format!("{name}.lock"));
        let is_empty = |dir: &Path| fs::read_dir(dir).is_ok_and(|mut files| files.next().is_none());
        let arrays = if !is_draft {
            let dir = store.place(file);
            let remains = has_lock && is_empty(&dir);
            Some(if remains { BTreeSet::new() } else { arrays_in(&dir)? })
        } else if file == name && has_lock || Draft::is_in(&store.place(&draft)) && listed(&draft) {
            None
        } else {
            let what = self.instead().with_hint("to remove one elsewhere give its path");
            return Err(TableError::Missing { path: store.place(file), what });
        };
        for place in [store.place(name), store.place(&draft)] {
            if place.is_symlink() {
                return Err(foreign(
                    &place,
                    Hinted::new("it is a link", "give the path it leads to"),
                ));
            }
        }
        let lock = store.lock(name)?;
        Ok(Removal { name: name.to_string(), arrays, lock, store })
    }
}

impl Removal {
    /// Removes the files, the draft and the lock, and what says that the table was the latest.
    pub fn remove(self) -> Result<Removed, TableError> {
        let Removal { store, name, arrays, lock } = self;
        let only_draft = arrays.is_none();
        let mut removed = Removed { name, only_draft, bytes: 0, left: Vec::new() };
        let draft = store.place(&format!("{}.partial", removed.name));
        if draft.is_dir() {
            // Nothing goes on from it without its checkpoint, or opens it without its manifest.
            removed.take(&draft, &|file| ["manifest.json", "checkpoint.json"].contains(&file))?;
            sync_dir(&draft).at("write", &draft)?;
            removed.take(&draft, &Draft::owns)?;
            removed.leave(&draft)?;
        }
        if let Some(arrays) = arrays {
            let dir = store.place(&removed.name);
            let (manifest, marker) = (dir.join("manifest.json"), dir.join(REMOVED));
            if manifest.exists() {
                fs::rename(&manifest, &marker).at("remove", &manifest)?;
                sync_dir(&dir).at("write", &dir)?;
            }
            // Before the directory goes, without which this would not be gone on with.
            store.unset_latest(&removed.name)?;
            removed.take(&dir, &|file| owns(&arrays, file))?;
            sync_dir(&dir).at("write", &dir)?;
            removed.take(&dir, &|file| file == REMOVED)?;
            removed.leave(&dir)?;
        }
        lock.remove(&store.lock_of(&removed.name))?;
        sync_dir(store.root()).at("write", store.root())?;
        Ok(removed)
    }
}

impl Removed {
    /// Removes the files of a directory that are the table's own.
    fn take(&mut self, dir: &Path, owns: &dyn Fn(&str) -> bool) -> Result<(), TableError> {
        for entry in fs::read_dir(dir).at("read", dir)? {
            let entry = entry.at("read", dir)?;
            let path = entry.path();
            let found = entry.metadata().at("read", &path)?;
            match entry.file_name().to_str() {
                Some(SCRATCH) if found.is_dir() => {
                    self.bytes += bytes_in(&path);
                    fs::remove_dir_all(&path).at("remove", &path)?;
                }
                Some(name) if !found.is_dir() && owns(name) => {
                    self.bytes += found.len();
                    fs::remove_file(&path).at("remove", &path)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes a directory, unless there is something left in it.
    fn leave(&mut self, dir: &Path) -> Result<(), TableError> {
        let left: Vec<_> = fs::read_dir(dir).at("read", dir)?.flatten().collect();
        if left.is_empty() {
            return fs::remove_dir(dir).at("remove", dir);
        }
        self.left.extend(left.iter().map(|entry| entry.path()));
        self.left.sort();
        Ok(())
    }
}

/// The arrays that the manifest in a directory names, which must be one of ours of any version.
fn arrays_in(dir: &Path) -> Result<BTreeSet<String>, TableError> {
    let texts = ["manifest.json", REMOVED].map(|file| fs::read_to_string(dir.join(file)));
    let ([Ok(text), _] | [Err(_), Ok(text)]) = texts else {
        return Err(foreign(dir, "it has no manifest.json"));
    };
    let manifest: Value = serde_json::from_str(&text)
        .map_err(|error| foreign(dir, format!("its manifest is not whole JSON ({error})")))?;
    if manifest.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(foreign(dir, "its manifest.json is of something else"));
    }
    let arrays = manifest.get("arrays").and_then(Value::as_object);
    Ok(arrays.map(|arrays| arrays.keys().cloned().collect()).unwrap_or_default())
}

/// Whether a file in a table's directory is the table's own, by its name. Columns may lie there
/// that the manifest does not name, if solving was interrupted.
fn owns(arrays: &BTreeSet<String>, file: &str) -> bool {
    let whole = file.strip_suffix(".part").unwrap_or(file);
    let array = whole.strip_suffix(".npy");
    whole == "manifest.json"
        || array.is_some_and(|array| {
            arrays.contains(array)
                || SOLUTION_COLUMNS.contains(&array)
                || array == DISCOUNTED_COLUMN
                || column_in(whole).is_some()
        })
}

fn foreign(path: &Path, what: impl Into<Hinted>) -> TableError {
    TableError::Foreign { path: path.to_path_buf(), what: what.into() }
}
