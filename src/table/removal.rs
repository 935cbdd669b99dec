//! Removal of tables that leaves nothing that opens but is wrong, at whatever moment it is killed.
//!
//! The manifest is first renamed to [`REMOVED`], which nothing opens and which lists the table's files
//! for a later removal. It is deleted last. Files that do not belong to the table stay.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::commit::Lock;
use super::error::IoContext;
use super::manifest::is_checksum;
use super::scratch::SCRATCH;
use super::store::{REMOVED, bytes_in};
use super::{DISCOUNTED_COLUMN, Draft, FORMAT, SOLUTION_COLUMNS, Store, column_in};
use crate::error::Error;
use crate::output::{is_kept, output_of, parent, remove_kept, sync_dir};

/// A locked table or draft that is about to be removed.
#[derive(Debug)]
pub struct Removal {
    store: Store,
    name: String,
    /// Arrays of the table; `None` if there is only a draft.
    arrays: Option<BTreeSet<String>>,
    lock: Lock,
}

/// Report of a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Name of the table.
    pub name: String,
    /// `true` if there was only a draft of it.
    pub only_draft: bool,
    /// Total bytes of the removed files.
    pub bytes: u64,
    /// Files beside the table's own, which were left.
    pub left: Vec<PathBuf>,
}

impl Store {
    /// Locks the table to be removed: one of exactly this name here, or one at a path. `NAME.partial`
    /// means its draft alone. Nothing is removed yet.
    pub fn removal(&self, written: &str) -> Result<Removal, Error> {
        // Without a trailing separator, which would follow a link.
        let path: PathBuf = Path::new(written).components().collect();
        let is_path = written.contains(std::path::is_separator);
        let (store, file) = match path.file_name().and_then(|name| name.to_str()) {
            _ if !is_path => (self.clone(), written),
            Some(file) => (Store::at(parent(&path)), file),
            None => return Err(Error::foreign(&path, "the path does not end in a name")),
        };
        // The name as the directory lists it: some file systems accept other spellings of it.
        let listed = |wanted: &str| {
            let mut entries = fs::read_dir(store.root()).into_iter().flatten().flatten();
            entries.any(|entry| entry.file_name() == wanted)
        };
        let name = file.strip_suffix(".partial").unwrap_or(file);
        let draft = format!("{name}.partial");
        let is_draft = file == draft || !listed(file);
        // A removal killed at its end leaves the lock, perhaps beside an empty directory.
        let has_lock = listed(&format!("{name}.lock"));
        let is_empty = |dir: &Path| fs::read_dir(dir).is_ok_and(|mut files| files.next().is_none());
        let arrays = if !is_draft {
            let dir = store.place(file);
            let remains = has_lock && is_empty(&dir);
            Some(if remains { BTreeSet::new() } else { arrays_in(&dir)? })
        } else if file == name && has_lock || Draft::is_in(&store.place(&draft)) && listed(&draft) {
            None
        } else {
            let what = self.instead().with_hint("give the path of a table elsewhere");
            return Err(Error::missing(&store.place(file), what));
        };
        for place in [store.place(name), store.place(&draft)] {
            if place.is_symlink() {
                return Err(Error::foreign(
                    &place,
                    Error::new("symbolic link", "give the path of its target"),
                ));
            }
        }
        let lock = store.lock(name)?;
        Ok(Removal { name: name.to_string(), arrays, lock, store })
    }
}

impl Removal {
    /// Removes the files, the draft, the lock, and the record of the latest table if it is this one.
    pub fn remove(self) -> Result<Removed, Error> {
        let Removal { store, name, arrays, lock } = self;
        let only_draft = arrays.is_none();
        let mut removed = Removed { name, only_draft, bytes: 0, left: Vec::new() };
        let draft = store.place(&format!("{}.partial", removed.name));
        if draft.is_dir() {
            // Without its checkpoint it is not resumed, and without its manifest it is not opened.
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
            // Before the directory: once it is gone, an interrupted removal is not resumed.
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
    /// Removes the files of a directory for which `owns` returns true, and the scratch directory.
    fn take(&mut self, dir: &Path, owns: &dyn Fn(&str) -> bool) -> Result<(), Error> {
        for entry in fs::read_dir(dir).at("read", dir)? {
            let entry = entry.at("read", dir)?;
            let path = entry.path();
            let found = entry.metadata().at("read", &path)?;
            match entry.file_name().to_str() {
                Some(SCRATCH) if found.is_dir() && is_kept(&path) => {
                    self.bytes += bytes_in(&path);
                    remove_kept(&path).at("remove", &path)?;
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

    /// Removes a directory if it is empty; else records what is left in it.
    fn leave(&mut self, dir: &Path) -> Result<(), Error> {
        let left: Vec<_> = fs::read_dir(dir).at("read", dir)?.flatten().collect();
        if left.is_empty() {
            return fs::remove_dir(dir).at("remove", dir);
        }
        self.left.extend(left.iter().map(|entry| entry.path()));
        self.left.sort();
        Ok(())
    }
}

/// Returns the arrays named by the manifest in a directory. Any version of our format is accepted.
fn arrays_in(dir: &Path) -> Result<BTreeSet<String>, Error> {
    let texts = ["manifest.json", REMOVED].map(|file| fs::read_to_string(dir.join(file)));
    let ([Ok(text), _] | [Err(_), Ok(text)]) = texts else {
        return Err(Error::foreign(dir, "missing manifest.json"));
    };
    let manifest: Value = serde_json::from_str(&text)
        .map_err(|error| Error::foreign(dir, format!("invalid JSON in manifest.json ({error})")))?;
    if manifest.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(Error::foreign(dir, "manifest.json of another program"));
    }
    let arrays = manifest.get("arrays").and_then(Value::as_object);
    Ok(arrays.map(|arrays| arrays.keys().cloned().collect()).unwrap_or_default())
}

/// Returns whether a file of a table's directory belongs to the table, by its name. An interrupted solve
/// may leave columns that the manifest does not name; they count too.
fn owns(arrays: &BTreeSet<String>, file: &str) -> bool {
    let whole = output_of(file).unwrap_or(file);
    let array = whole.strip_suffix(".npy");
    let is_column = |array: &str| {
        array.rsplit_once('-').is_some_and(|(name, sum)| arrays.contains(name) && is_checksum(sum))
    };
    whole == "manifest.json"
        || array.is_some_and(|array| {
            arrays.contains(array)
                || is_column(array)
                || SOLUTION_COLUMNS.contains(&array)
                || array == DISCOUNTED_COLUMN
                || column_in(whole).is_some()
        })
}
