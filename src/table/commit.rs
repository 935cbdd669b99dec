//! Files of a table that are replaced as a whole, and locks for writing them.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::IoContext;
use crate::error::Error;
use crate::output::{self, OutputFile, is_at, parent, sync_dir};

/// Writes state to resume from, followed by a line with its checksum: atomically, without syncing.
pub(super) fn write_state(path: &Path, state: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(state)?;
    text.extend(checksum_line(&text));
    output::replace(path, &text)
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
    let mut file = OutputFile::beside(path)?;
    file.write_all(bytes)?;
    file.commit_synced()
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

/// Exclusive lock for writing, released on drop or when the process ends.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Takes the lock. Fails if another process holds it.
    pub fn take(path: &Path) -> Result<Lock, Error> {
        loop {
            let lock = Lock::open(path)?;
            match lock.0.try_lock() {
                Err(fs::TryLockError::Error(error)) if is_interrupted(&error) => {}
                // Another process may have removed the file after it was opened here.
                Ok(()) if !is_at(&lock.0, path) => {}
                Ok(()) => {
                    lock.sign();
                    return Ok(lock);
                }
                Err(fs::TryLockError::WouldBlock) => return Err(lock.busy(path)),
                Err(fs::TryLockError::Error(source)) => return Err(source).at("lock", path),
            }
        }
    }

    /// Writes the number of this process, for those that find the lock held.
    fn sign(&self) {
        let mut file = &self.0;
        // Whoever cannot read it names no process.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
    }

    /// Returns the error for a lock that another process holds.
    fn busy(&self, path: &Path) -> Error {
        let mut text = String::new();
        let read = (&self.0).take(20).read_to_string(&mut text);
        match text.parse::<u32>().ok().filter(|_| read.is_ok()) {
            Some(process) if process == std::process::id() => {
                Error::busy_by(path, "this process", "wait for its other thread to end")
            }
            Some(process) => Error::busy_by(
                path,
                &format!("process {process}"),
                &format!("wait for it to end, or end it: kill -KILL {process}"),
            ),
            None => Error::busy(path),
        }
    }

    /// Removes the file while it is still locked.
    pub(super) fn remove(self, path: &Path) -> Result<(), Error> {
        fs::remove_file(path).at("remove", path)
    }

    /// Takes the lock, waiting for other processes.
    pub(super) fn wait(path: &Path) -> Result<Lock, Error> {
        let lock = Lock::open(path)?;
        // A signal handled elsewhere interrupts the wait.
        again_if_interrupted(|| lock.0.lock()).at("lock", path)?;
        Ok(lock)
    }

    fn open(path: &Path) -> Result<Lock, Error> {
        output::kept(path).map(Lock).at("write", path)
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
    use crate::error::Kind;

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
        assert_eq!(Lock::take(&path).unwrap_err().kind(), Kind::Busy);
        drop(lock);
        Lock::take(&path).unwrap();
    }
}
