//! The directory that contains tables, and which of them is the latest.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::commit::{Lock, create_dir_synced, write_synced};
use super::error::IoContext;
use super::{Damage, Draft, Identity, Table};
use crate::error::{Error, Kind};
use crate::output::sync_dir;
use crate::parallel;

/// Name of a manifest while its table is being removed.
pub(super) const REMOVED: &str = "removed.json";

/// A directory of tables.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    /// Damage of the tables opened here.
    damage: Arc<Mutex<Vec<Damage>>>,
}

impl Store {
    /// Returns the store in a directory, which need not exist yet.
    pub fn at(root: &Path) -> Store {
        Store { root: root.to_path_buf(), damage: Arc::default() }
    }

    /// Returns the directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory of the table of a name.
    pub fn place(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Returns the directory of a table given by path or by its name here; a table here comes first. A game's string in
    /// OpenSpiel is a name too.
    pub fn resolve(&self, table: &str) -> PathBuf {
        let path = Path::new(table);
        let here = self.place(&folder_of(table));
        if !here.exists() && (path.exists() || path.components().count() > 1) {
            path.to_path_buf()
        } else {
            here
        }
    }

    /// Returns whether a path or name leads to a table.
    pub fn has(&self, table: &str) -> bool {
        !table.is_empty() && self.resolve(table).join("manifest.json").is_file()
    }

    /// Opens a table given by path or by its name here.
    pub fn open(&self, table: &str) -> Result<Table, Error> {
        let dir = self.resolve(table);
        self.open_at(&dir).map_err(|error| match error.kind() {
            Kind::Missing if !dir.exists() => Error::missing(&dir, self.instead()),
            _ => error,
        })
    }

    /// Opens the table in a directory.
    pub(crate) fn open_at(&self, dir: &Path) -> Result<Table, Error> {
        let table = Table::open(dir)?;
        let mut all = parallel::lock(&self.damage);
        all.retain(Damage::is_open);
        all.push(table.damage().clone());
        Ok(table)
    }

    /// Fails if readers of a table that was opened here have met damage.
    pub fn check_read(&self) -> Result<(), Error> {
        parallel::lock(&self.damage).iter().try_for_each(Damage::check)
    }

    /// Returns the tables that exist instead of a missing one, for error messages.
    pub(super) fn instead(&self) -> Error {
        let names = self.names();
        if names.is_empty() {
            Error::new(
                format!("{} contains none", self.root.display()),
                "make one with 'solver enumerate'",
            )
        } else {
            format!("{} contains {}", self.root.display(), names.join(", ")).into()
        }
    }

    /// Returns the names of the tables here, sorted.
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

    /// Returns all tables here and parts of them, sorted by name; none if the directory does not exist.
    pub fn entries(&self) -> Result<Vec<Entry>, Error> {
        let entries = match fs::read_dir(&self.root) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.at("read", &self.root)?,
        };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            let (dir, Ok(name)) = (entry.path(), entry.file_name().into_string()) else { continue };
            let holds = if name.ends_with(".partial") {
                Draft::is_in(&dir).then(|| {
                    Holds::Draft(Draft::identity_in(&dir).map(Box::new), Draft::command_in(&dir))
                })
            } else if dir.join("manifest.json").is_file() {
                Some(Holds::Table(Table::open(&dir).map(Box::new)))
            } else {
                dir.join(REMOVED).is_file().then_some(Holds::Remains)
            };
            found.extend(holds.map(|holds| Entry { name, bytes: bytes_in(&dir), holds }));
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// Returns the name of the table that was enumerated last, if it still exists.
    pub fn enumerated_last(&self) -> Option<String> {
        let name = fs::read_to_string(self.root.join("LATEST")).ok()?;
        self.place(name.trim()).is_dir().then(|| name.trim().to_string())
    }

    /// Returns the name of the default table: the one enumerated last, or else the only one here.
    pub fn latest(&self) -> Result<String, Error> {
        if let Some(name) = self.enumerated_last() {
            return Ok(name);
        }
        let mut names = self.names();
        match names.len() {
            0 => Err(Error::missing(&self.root, self.instead())),
            1 => Ok(names.remove(0)),
            _ => Err(Error::new(
                format!("no default table in {}", self.root.display()),
                format!("expected one of {}", names.join(", ")),
            )),
        }
    }

    /// Records that a table was enumerated last. If several processes do, one wins.
    pub fn set_latest(&self, name: &str) -> Result<(), Error> {
        if self.enumerated_last().is_some_and(|latest| latest == name) {
            return Ok(());
        }
        // All use the same temporary file, so that kills leave no more than one; the lock serializes them.
        let _lock = Lock::wait(&self.root.join("LATEST.lock"))?;
        let path = self.root.join("LATEST");
        write_synced(&path, format!("{name}\n").as_bytes()).at("write", &path)
    }

    /// Removes the record of the latest table if it is this one.
    pub(super) fn unset_latest(&self, name: &str) -> Result<(), Error> {
        let path = self.root.join("LATEST");
        let is_latest = || fs::read_to_string(&path).is_ok_and(|latest| latest.trim() == name);
        if !is_latest() {
            return Ok(());
        }
        let _lock = Lock::wait(&self.root.join("LATEST.lock"))?;
        if is_latest() {
            fs::remove_file(&path).and_then(|()| sync_dir(&self.root)).at("remove", &path)?;
        }
        Ok(())
    }

    /// Locks the name of a table for writing. Fails if another process holds the lock.
    pub fn lock(&self, name: &str) -> Result<Lock, Error> {
        create_dir_synced(&self.root).at("create", &self.root)?;
        Lock::take(&self.lock_of(name))
    }

    /// Returns the path of the lock file of a name.
    pub(super) fn lock_of(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}.lock"))
    }
}

/// Checks that a table can have a name: a single path component that means nothing else in a store and
/// cannot be read as an option or a position on a command line.
pub fn check_name(name: &str) -> Result<(), Error> {
    let taken = ["CHECKSUMS", "LATEST", "openapi.json", "policies", "start", "tables"]
        .iter()
        .any(|other| name.eq_ignore_ascii_case(other));
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !r#"/\:"#.contains(c);
    let what = match name {
        "" => "expected 1 to 100 bytes",
        _ if name.len() > 100 => "expected at most 100 bytes",
        _ if name.starts_with(['.', '-']) => "expected no dot or hyphen at the start",
        _ if !name.chars().all(plain) => "expected no blanks, colons or path separators",
        _ if [".partial", ".lock", ".parts"].iter().any(|end| name.ends_with(end)) => {
            "names ending in .partial, .lock and .parts are reserved"
        }
        _ if taken => "reserved name",
        _ => return Ok(()),
    };
    Err(format!("invalid table name `{name}`: {what}").into())
}

/// Longest name of the folder of a game's string; longer ones end in a checksum.
const LONGEST_FOLDER: usize = 70;

/// Returns the name of the table for a game's string in OpenSpiel, such as `hex(num_cols=4,num_rows=2)`: its words in
/// letters, digits and hyphens, parameters in the order of their names. Other names are what they are.
pub fn folder_of(name: &str) -> Cow<'_, str> {
    if !name.contains('(') || name.contains('/') {
        return Cow::Borrowed(name);
    }
    let mut words: Vec<&str> =
        name.split(['(', ')', ',']).map(str::trim).filter(|word| !word.is_empty()).collect();
    words.get_mut(1..).map(<[&str]>::sort_unstable);
    let parts = words.iter().flat_map(|word| word.split(|c: char| !c.is_ascii_alphanumeric()));
    let parts: Vec<String> =
        parts.filter(|part| !part.is_empty()).map(str::to_ascii_lowercase).collect();
    let mut folder = format!("openspiel-{}", parts.join("-"));
    if folder.len() > LONGEST_FOLDER {
        let checksum = crc32fast::hash(words.join(",").as_bytes());
        folder.truncate(LONGEST_FOLDER);
        folder += &format!("-{checksum:08x}");
    }
    Cow::Owned(folder)
}

/// A directory of a store that is a table, a draft, or the remains of a table.
#[derive(Debug)]
pub struct Entry {
    /// Name of the directory.
    pub name: String,
    /// Total bytes of the files in it.
    pub bytes: u64,
    /// Content of the directory.
    pub holds: Holds,
}

/// Content of a directory of a store.
#[derive(Debug)]
pub enum Holds {
    /// A table, or the reason why it cannot be opened.
    Table(Result<Box<Table>, Error>),
    /// An unfinished table: its identity, if the checkpoint records it, and the command that makes it,
    /// if other than `enumerate`.
    Draft(Option<Box<Identity>>, Option<String>),
    /// The remains of a table whose removal was interrupted.
    Remains,
}

/// Returns the total bytes of all files in a directory and below; links are not followed.
pub fn bytes_in(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| match entry.metadata().ok()? {
        found if found.is_dir() => Some(bytes_in(&entry.path())),
        found => Some(found.len()),
    });
    sizes.sum()
}
