//! A directory that is written aside and renamed into place.

use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use super::ExportError;
use yomikiri::table::{IoContext, Lock, TableError, move_synced, sync_dir};

/// A directory being written to `PLACE.partial`.
#[derive(Debug)]
pub(super) struct Folder {
    place: PathBuf,
    partial: PathBuf,
    /// Held while this process writes.
    _lock: Lock,
}

const LOCK: &str = "lock";

impl Folder {
    /// Creates the directory for files whose names satisfy `ours`, and removes the remains of a killed
    /// export.
    ///
    /// Fails if the place, or one of the directories beside it, contains other files.
    pub(super) fn begin(place: &Path, ours: &dyn Fn(&str) -> bool) -> Result<Folder, ExportError> {
        refuse_foreign(place, ours)?;
        let old = place.with_added_extension("old");
        refuse_foreign(&old, ours)?;
        let folder = Folder::beside(place, ours)?;
        if old.exists() {
            fs::remove_dir_all(&old).at("remove", &old)?;
        }
        Ok(folder)
    }

    /// Creates the directory for files that the caller moves to `place` one by one.
    pub(super) fn beside(place: &Path, ours: &dyn Fn(&str) -> bool) -> Result<Folder, ExportError> {
        let partial = place.with_added_extension("partial");
        refuse_foreign(&partial, &|name| name == LOCK || ours(name))?;
        fs::create_dir_all(&partial).at("create", &partial)?;
        let lock = Lock::take(&partial.join(LOCK)).map_err(|error| match error {
            TableError::Busy { .. } => ExportError::Busy { place: place.to_path_buf() },
            other => other.into(),
        })?;
        for entry in fs::read_dir(&partial).at("read", &partial)? {
            let entry = entry.at("read", &partial)?;
            if entry.file_name() != LOCK {
                fs::remove_file(entry.path()).at("remove", &entry.path())?;
            }
        }
        Ok(Folder { place: place.to_path_buf(), partial, _lock: lock })
    }

    /// Path of a file in the directory.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.partial.join(name)
    }

    /// Removes the directory and its remaining files.
    pub(super) fn abandon(self) -> Result<(), TableError> {
        fs::remove_dir_all(&self.partial).at("remove", &self.partial)
    }

    /// Moves the directory into place, and removes an earlier one after moving it away.
    pub(super) fn commit(self) -> Result<(), ExportError> {
        let Folder { place, partial, _lock } = &self;
        let old = place.with_added_extension("old");
        let _ = fs::remove_file(partial.join(LOCK));
        sync_dir(partial).at("write", partial)?;
        let replaces = place.exists();
        if replaces {
            move_synced(place, &old).at("replace", place)?;
        }
        move_synced(partial, place).at("write", place)?;
        if replaces {
            fs::remove_dir_all(&old).at("remove", &old)?;
        }
        Ok(())
    }
}

/// Returns `true` if there is a directory with entries, `false` if it is empty or missing. Fails for a file.
pub(super) fn is_used(place: &Path) -> Result<bool, ExportError> {
    match fs::read_dir(place) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            Err(ExportError::Taken { place: place.to_path_buf(), what: "is a file".to_string() })
        }
        Err(error) => Ok(Err(error).at("read", place)?),
    }
}

/// Checks that nothing is at a path, or a directory with files of certain names only.
fn refuse_foreign(place: &Path, ours: &dyn Fn(&str) -> bool) -> Result<(), ExportError> {
    let taken = |what: String| ExportError::Taken { place: place.to_path_buf(), what };
    if !place.exists() {
        return Ok(());
    }
    if !place.is_dir() {
        return Err(taken("is a file".to_string()));
    }
    for entry in fs::read_dir(place).at("read", place)? {
        let name = entry.at("read", place)?.file_name();
        if !name.to_str().is_some_and(ours) {
            let name = name.to_string_lossy().into_owned();
            return Err(taken(format!("contains {name}, which is not part of such an export")));
        }
    }
    Ok(())
}

/// Fails if a file has changed since it was exported to, or into, `place`.
pub(super) fn unchanged(place: &Path, path: &Path, crc32: &str) -> Result<(), ExportError> {
    let taken = |what: String| ExportError::Taken { place: place.to_path_buf(), what };
    if path.is_dir() {
        return Err(taken("is a directory".to_string()));
    }
    if checksum(path).at("read", path)? == crc32 {
        return Ok(());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Err(taken(format!("contains {name}, which has changed since it was exported")))
}

/// Returns the CRC-32 of a file in hexadecimal.
pub(super) fn checksum(path: &Path) -> std::io::Result<String> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(format!("{:08x}", hasher.finalize())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// Writes a text to a file and syncs it to disk.
pub(super) fn write_synced(path: &Path, text: &str) -> Result<(), TableError> {
    let mut file = File::create(path).at("write", path)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).at("write", path)
}
