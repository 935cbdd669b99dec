//! Atomic replacement of files and directories, and locks for writing them.
//!
//! A file is written beside its place, as `NAME.part`, and then renamed. The name is fixed, so a killed
//! process leaves at most one such file, which the next writer overwrites.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{IoContext, TableError};

/// A temporary file beside its place, removed on drop unless committed.
#[derive(Debug)]
pub struct PendingFile {
    place: PathBuf,
    part: PathBuf,
    is_committed: bool,
}

impl PendingFile {
    /// Returns the part of a file. The caller creates and writes it.
    pub fn of(place: &Path) -> io::Result<PendingFile> {
        let part = std::path::absolute(place.with_added_extension("part"))?;
        Ok(PendingFile { place: place.to_path_buf(), part, is_committed: false })
    }

    /// Returns the path to write to.
    pub fn path(&self) -> &Path {
        &self.part
    }

    /// Renames the part to its place, replacing any file there, without syncing: the file is complete
    /// after a kill, but perhaps not after a power loss.
    pub fn commit(self) -> io::Result<()> {
        let place = self.place.clone();
        self.commit_to(&place)
    }

    /// Renames the part to another place, as [`PendingFile::commit`] does.
    pub fn commit_to(mut self, place: &Path) -> io::Result<()> {
        fs::rename(&self.part, place)?;
        self.is_committed = true;
        Ok(())
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        // After a commit a file of this name belongs to the next writer.
        if !self.is_committed {
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// Checks that a file can be written at a place, as far as possible without touching the existing one.
pub fn writable(place: &Path) -> io::Result<()> {
    if place.is_dir() || place.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let part = place.with_added_extension("part");
    match File::options().write(true).create_new(true).open(&part) {
        Ok(_) => fs::remove_file(&part),
        // Another process is writing this part or left it; it will be replaced.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes a file atomically, without syncing.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = PendingFile::of(path)?;
    fs::write(part.path(), bytes)?;
    part.commit()
}

/// Writes state to resume from, followed by a line with its checksum: atomically, without syncing.
pub(super) fn write_state(path: &Path, state: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(state)?;
    text.extend(checksum_line(&text));
    write_whole(path, &text)
}

/// Reads state written by [`write_state`]; `None` if it is missing, damaged or of another type.
pub(super) fn read_state<S: DeserializeOwned>(path: &Path) -> Option<S> {
    let text = fs::read(path).ok()?;
    let (state, sum) = text.split_at_checked(text.len().checked_sub(checksum_line(b"").len())?)?;
    (sum == checksum_line(state)).then(|| serde_json::from_slice(state).ok())?
}

fn checksum_line(text: &[u8]) -> Vec<u8> {
    format!("\n{:08x}\n", crc32fast::hash(text)).into_bytes()
}

/// Writes a file that holds its old or its new content even after a power loss. The new content is
/// durable once its directory is synced.
pub(super) fn write_kept(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = PendingFile::of(path)?;
    let mut file = File::create(part.path())?;
    file.write_all(bytes)?;
    file.sync_all()?;
    part.commit()
}

/// Writes a file like [`write_kept`] and syncs its directory.
pub(super) fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_kept(path, bytes)?;
    sync_dir(parent(path))
}

/// Creates a directory and its parents, and syncs their names.
pub(super) fn create_dir_synced(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    create_dir_synced(parent(dir))?;
    match fs::create_dir(dir) {
        // A file is in its place.
        Err(_) if dir.exists() && !dir.is_dir() => Err(io::ErrorKind::NotADirectory.into()),
        Err(error) if !dir.is_dir() => Err(error),
        _ => sync_dir(parent(dir)).inspect_err(|_| drop(fs::remove_dir(dir))),
    }
}

/// Renames a file or directory whose content is already synced, and syncs the new name.
pub fn move_synced(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_dir(parent(to))
}

/// Syncs the names in a directory.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    // Not every system can open directories; there the rename alone must do.
    match File::open(dir) {
        Err(_) if cfg!(not(unix)) => Ok(()),
        opened => opened?.sync_all(),
    }
}

pub(super) fn parent(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Exclusive lock for writing, released on drop or when the process ends.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Takes the lock. Fails if another process holds it.
    pub fn take(path: &Path) -> Result<Lock, TableError> {
        loop {
            let lock = Lock::open(path)?;
            match lock.0.try_lock() {
                Err(fs::TryLockError::Error(error)) if is_interrupted(&error) => {}
                // Another process may have removed the file after it was opened here.
                Ok(()) if !lock.is_of(path) => {}
                Ok(()) => return Ok(lock),
                Err(fs::TryLockError::WouldBlock) => {
                    return Err(TableError::Busy { path: path.to_path_buf() });
                }
                Err(fs::TryLockError::Error(source)) => return Err(source).at("lock", path),
            }
        }
    }

    /// Returns whether the locked file is the one at a path.
    #[cfg(unix)]
    fn is_of(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        let same = |ours: fs::Metadata, there: fs::Metadata| {
            (ours.dev(), ours.ino()) == (there.dev(), there.ino())
        };
        self.0.metadata().is_ok_and(|ours| fs::metadata(path).is_ok_and(|there| same(ours, there)))
    }

    #[cfg(not(unix))]
    fn is_of(&self, _path: &Path) -> bool {
        true
    }

    /// Removes the file while it is still locked.
    pub(super) fn remove(self, path: &Path) -> Result<(), TableError> {
        fs::remove_file(path).at("remove", path)
    }

    /// Takes the lock, waiting for other processes.
    pub(super) fn wait(path: &Path) -> Result<Lock, TableError> {
        let lock = Lock::open(path)?;
        // A signal handled elsewhere interrupts the wait.
        again_if_interrupted(|| lock.0.lock()).at("lock", path)?;
        Ok(lock)
    }

    fn open(path: &Path) -> Result<Lock, TableError> {
        let file = File::options().create(true).truncate(false).write(true).open(path);
        file.map(Lock).at("write", path)
    }
}

fn is_interrupted(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Interrupted
}

/// Retries as long as signals interrupt the attempt.
fn again_if_interrupted(mut attempt: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    loop {
        match attempt() {
            Err(error) if is_interrupted(&error) => {}
            done => return done,
        }
    }
}

impl Drop for Lock {
    /// Unlocks explicitly: a child process being started holds the file too until it runs its own
    /// program, so closing it would not unlock it yet.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_removed_unless_it_is_committed() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("a.json");
        write_whole(&place, b"old").unwrap();
        let part = PendingFile::of(&place).unwrap();
        assert_eq!(part.path(), dir.path().join("a.json.part"));
        fs::write(part.path(), "half").unwrap();
        drop(part);
        assert_eq!(fs::read(&place).unwrap(), b"old");
        // The next writer overwrites the part that a killed process left.
        fs::write(dir.path().join("a.json.part"), "killed with a longer file").unwrap();
        write_synced(&place, b"new").unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_state_is_read_as_it_was_written_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        let state = vec![12u64, 345];
        write_state(&path, &state).unwrap();
        assert_eq!(read_state(&path), Some(state));
        assert_eq!(read_state::<String>(&path), None);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(read_state::<Vec<u64>>(&path), None, "cut off at {at}");
            let mut other = whole.clone();
            other[at] ^= 1;
            fs::write(&path, other).unwrap();
            assert_eq!(read_state::<Vec<u64>>(&path), None, "byte {at}");
        }
    }

    #[test]
    fn a_lock_is_waited_for_across_signals() {
        let mut outcomes = [
            Err(io::ErrorKind::Interrupted.into()),
            Err(io::ErrorKind::Interrupted.into()),
            Ok(()),
            Err(io::ErrorKind::Unsupported.into()),
        ]
        .into_iter();
        again_if_interrupted(|| outcomes.next().unwrap()).unwrap();
        let refused = again_if_interrupted(|| outcomes.next().unwrap()).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::Unsupported);
    }

    #[test]
    fn a_lock_is_held_until_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let lock = Lock::take(&path).unwrap();
        assert!(matches!(Lock::take(&path), Err(TableError::Busy { .. })));
        drop(lock);
        Lock::take(&path).unwrap();
    }
}
