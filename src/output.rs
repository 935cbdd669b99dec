//! Files and directories that are written beside their places and renamed into them.
//!
//! A temporary name is `NAME.DIGITS.part`: eight random hexadecimal digits and a checksum of what precedes them, so that
//! no file of another program has it. It is created anew, never through a link, and locked by its writer. Whoever next
//! writes the same output removes what a killed process left.
//!
//! Files that a later process resumes keep their names: [`kept`] and [`kept_dir`] refuse links and files of others.
//!
//! ```
//! use yomikiri::output;
//!
//! # let dir = tempfile::tempdir()?;
//! let place = dir.path().join("report.html");
//! output::check(&place)?;
//! output::write(&place, b"<!doctype html>")?;
//! assert_eq!(std::fs::read(&place)?, b"<!doctype html>");
//! # Ok::<(), std::io::Error>(())
//! ```

use std::error::Error as StdError;
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Kind};

/// Ending of temporary names.
const PART: &str = "part";
/// Ending of the temporary name of a directory that is replaced where a system cannot exchange two.
const OLD: &str = "old";
/// Bytes of a name that its temporary names repeat: file systems allow 255 in all.
const REPEATED: usize = 200;
/// Links from one to the next that are followed.
const LINKS: usize = 40;

/// Reason why a file or directory of a fixed name is not written: it is not what a command of ours left.
#[derive(Debug)]
pub struct NotOurs(&'static str);

impl fmt::Display for NotOurs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl StdError for NotOurs {}

impl NotOurs {
    /// Returns the error for a link.
    pub fn link() -> io::Error {
        NotOurs("it is a symbolic link").into()
    }
}

impl From<NotOurs> for io::Error {
    fn from(error: NotOurs) -> io::Error {
        io::Error::new(ErrorKind::AlreadyExists, error)
    }
}

/// A file being written: beside its place, into which [`OutputFile::commit`] renames it, or into a pipe or device.
///
/// Dropped before that, it leaves its place as it was.
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    /// Temporary path and place; `None` for a pipe or device.
    renamed: Option<(PathBuf, PathBuf)>,
}

impl OutputFile {
    /// Creates the file for a path that the user names: a link is followed, and a pipe or device is opened itself, which
    /// may wait for its reader.
    pub fn create(path: &Path) -> io::Result<OutputFile> {
        let file = match Target::of(path)? {
            Target::File(place) => return OutputFile::beside(&place),
            Target::Open(file) => file,
            Target::Stream => File::options().append(true).open(path)?,
        };
        Ok(OutputFile { file, renamed: None })
    }

    /// Creates the file for a place of ours, where a link will be replaced.
    pub fn beside(place: &Path) -> io::Result<OutputFile> {
        // If another process writes the same file, the last one's remains. Leftovers of other users are theirs.
        let _ = remove_leftovers(place);
        loop {
            let part = temporary(place)?;
            let file = File::options().read(true).write(true).create_new(true).open(&part)?;
            if is_held(&file, &part) {
                // A file that only its owner may read stays so.
                if let Some(old) = fs::symlink_metadata(place).ok().filter(|old| old.is_file()) {
                    let _ = file.set_permissions(old.permissions());
                }
                return Ok(OutputFile { file, renamed: Some((part, place.to_path_buf())) });
            }
        }
    }

    /// Returns the path under which the file can be opened again; `None` for a pipe or device.
    pub fn path(&self) -> Option<&Path> {
        self.renamed.as_ref().map(|(part, _)| part.as_path())
    }

    /// Syncs the content to disk, unless it went into a pipe or device.
    pub fn sync(&self) -> io::Result<()> {
        self.renamed.as_ref().map_or(Ok(()), |_| self.file.sync_all())
    }

    /// Syncs the content and renames the file to its place: after a power loss too, the old one or the new one is there.
    pub fn commit_synced(self) -> io::Result<()> {
        self.sync()?;
        self.commit()
    }

    /// Renames the file to its place, replacing any file there, without syncing: it is complete after a kill, but
    /// perhaps not after a power loss.
    pub fn commit(self) -> io::Result<()> {
        let place = self.renamed.as_ref().map(|(_, place)| place.clone());
        place.map_or(Ok(()), |place| self.commit_to(&place))
    }

    /// Renames the file to another place, as [`OutputFile::commit`] does.
    pub fn commit_to(mut self, place: &Path) -> io::Result<()> {
        if let Some((part, _)) = &self.renamed {
            fs::rename(part, place)?;
        }
        self.renamed = None;
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some((part, _)) = &self.renamed {
            let _ = fs::remove_file(part);
        }
    }
}

/// Writes a file that the user names, whole or not at all, without syncing.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut output = OutputFile::create(path)?;
    output.write_all(bytes)?;
    output.commit()
}

/// Returns whether two paths lead to the same file, which need not exist.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let place = followed(path).ok()?;
        Some(parent(&place).canonicalize().ok()?.join(place.file_name()?))
    };
    let is_one = || File::open(one).is_ok_and(|file| is_at(&file, other));
    place(one).is_some_and(|one| place(other) == Some(one)) || one.is_file() && is_one()
}

/// Returns whether a path that the user names leads to a pipe or device, which is written directly.
pub fn is_stream(path: &Path) -> bool {
    matches!(Target::of(path), Ok(Target::Open(_) | Target::Stream))
}

/// Writes a file of a name of ours, whole or not at all, without syncing.
pub fn replace(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut output = OutputFile::beside(place)?;
    output.write_all(bytes)?;
    output.commit()
}

/// Checks that a file can be written at a path that the user names, as far as possible without touching a file there.
pub fn check(path: &Path) -> io::Result<()> {
    match Target::of(path)? {
        Target::File(place) => OutputFile::beside(&place).map(drop),
        Target::Open(_) => Ok(()),
        // To open a pipe may wait for its reader.
        #[cfg(unix)]
        Target::Stream => Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK)?),
        #[cfg(not(unix))]
        Target::Stream => Ok(()),
    }
}

/// Checks that a directory, or a file with others beside it, can be written at a path that the user names; creates the
/// path's parents.
pub fn check_dir(path: &Path) -> io::Result<()> {
    if is_stream(path) {
        return Err(NotOurs("it is a pipe or device").into());
    }
    OutputDir::create(path).map(drop)
}

/// The end of a path.
enum Target {
    /// A regular file, or nothing yet.
    File(PathBuf),
    /// The file, pipe or device that is stdout or stderr: a file is added to where we are in it.
    Open(File),
    /// A pipe or device.
    Stream,
}

impl Target {
    /// Follows links. Fails for a directory.
    fn of(path: &Path) -> io::Result<Target> {
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(ErrorKind::IsADirectory.into());
        }
        if let Some(file) = standard(path) {
            return Ok(Target::Open(file));
        }
        let place = followed(path)?;
        Ok(match fs::symlink_metadata(&place) {
            Ok(there) if there.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => Target::Stream,
            _ => Target::File(place),
        })
    }
}

/// Returns stdout or stderr, if a path leads to what it is.
#[cfg(unix)]
fn standard(path: &Path) -> Option<File> {
    use std::os::fd::AsFd;
    let target = fs::metadata(path).ok().map(number)?;
    let (out, error) = (io::stdout(), io::stderr());
    [out.as_fd(), error.as_fd()].into_iter().find_map(|open| {
        let open = File::from(open.try_clone_to_owned().ok()?);
        (number(open.metadata().ok()?) == target).then_some(open)
    })
}

#[cfg(not(unix))]
fn standard(_: &Path) -> Option<File> {
    None
}

/// Follows the links at a path to what need not exist; not those of `/proc`, whose targets are what processes have open.
pub fn followed(path: &Path) -> io::Result<PathBuf> {
    // Without a separator at the end, which leads through a link.
    let mut place: PathBuf = path.components().collect();
    for _ in 0..LINKS {
        if !place.is_symlink() || place.starts_with("/proc") {
            return Ok(place);
        }
        place = parent(&place).join(fs::read_link(&place)?);
    }
    Err(io::Error::other("too many symbolic links"))
}

/// A directory of files being written beside its place, into which [`OutputDir::commit`] moves it.
///
/// Dropped before that, it is removed with its files.
#[derive(Debug)]
pub struct OutputDir {
    place: PathBuf,
    part: PathBuf,
    /// Locked while this process writes.
    _lock: Option<File>,
}

impl OutputDir {
    /// Creates the directory for a place, and the place's parents; a link at the place is followed. Fails with
    /// [`ErrorKind::ResourceBusy`] while another process writes to the same place.
    pub fn create(path: &Path) -> io::Result<OutputDir> {
        let place = followed(path)?;
        if parent(&place).metadata().is_ok_and(|there| !there.is_dir()) {
            return Err(ErrorKind::NotADirectory.into());
        }
        fs::create_dir_all(parent(&place))?;
        if remove_leftovers(&place).unwrap_or(false) {
            return Err(ErrorKind::ResourceBusy.into());
        }
        loop {
            let part = temporary(&place)?;
            fs::create_dir(&part)?;
            // Not every system can open directories.
            let lock = File::open(&part).ok();
            if lock.as_ref().is_none_or(|lock| is_held(lock, &part)) {
                return Ok(OutputDir { place, part, _lock: lock });
            }
        }
    }

    /// Returns the place, without links.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Returns the directory to write into.
    pub fn path(&self) -> &Path {
        &self.part
    }

    /// Moves the directory to its place, with its names synced, and removes a directory that was there. Fails with
    /// [`NotOurs`], and leaves that directory, if it contains anything but files that `is_old` names.
    pub fn commit(mut self, is_old: &dyn Fn(&str) -> bool) -> io::Result<()> {
        sync_dir(&self.part)?;
        let Some(old) = replace_dir(&self.part, &self.place)? else {
            self.part = PathBuf::new();
            return sync_dir(parent(&self.place));
        };
        // Nothing can come into it by its own name any more.
        let is_old =
            |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|it| is_file_of(&it, is_old));
        if !fs::read_dir(&old).is_ok_and(|mut entries| entries.all(is_old)) {
            self.part = replace_dir(&old, &self.place)?.unwrap_or_default();
            return Err(NotOurs("it contains files that are not part of such an output").into());
        }
        self.part = old;
        sync_dir(parent(&self.place))
    }
}

impl Drop for OutputDir {
    fn drop(&mut self) {
        if !self.part.as_os_str().is_empty() {
            let _ = remove_dir(&self.part);
        }
    }
}

/// Moves a directory to a place. Returns where the directory is that was there, if any.
fn replace_dir(part: &Path, place: &Path) -> io::Result<Option<PathBuf>> {
    if !place.exists() {
        fs::rename(part, place)?;
        return Ok(None);
    }
    if !place.is_dir() {
        return Err(ErrorKind::NotADirectory.into());
    }
    if exchange(part, place).is_ok() {
        return Ok(Some(part.to_path_buf()));
    }
    // A kill between the two leaves the old one, which the next writer moves back.
    let old = with_ending(place, OLD)?;
    fs::rename(place, &old)?;
    fs::rename(part, place).inspect_err(|_| drop(fs::rename(&old, place)))?;
    Ok(Some(old))
}

/// Exchanges two directories in one step, where the system and the file system can.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
    }
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    {
        let _ = (one, other);
        Err(ErrorKind::Unsupported.into())
    }
}

/// Removes a temporary directory and its files; fails if it contains directories, which we do not make.
fn remove_dir(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if is_file_of(&entry, &|_| true) {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_dir(dir)
}

fn is_file_of(entry: &fs::DirEntry, is_ours: &dyn Fn(&str) -> bool) -> bool {
    let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
    is_file && entry.file_name().to_str().is_some_and(is_ours)
}

/// Opens a file that keeps its name because a later process resumes it, for reading and writing; creates it if it is
/// missing. Fails with [`NotOurs`] for a link, a file of a second name, or what is not a file.
pub fn kept(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        // The target of a link is not even looked at; a pipe without a reader does not make us wait.
        let file = options.custom_flags(flags.bits() as i32).open(path);
        let file = file.map_err(|error| match fs::symlink_metadata(path) {
            Ok(there) if there.is_symlink() => NotOurs::link(),
            Ok(there) if !there.is_file() => NotOurs("it is not a regular file").into(),
            _ => error,
        })?;
        let there = file.metadata()?;
        if !there.is_file() {
            return Err(NotOurs("it is not a regular file").into());
        }
        if there.nlink() > 1 {
            return Err(NotOurs("it has a second name (hard link)").into());
        }
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
}

/// File that marks a directory as unfinished work, which a later process resumes.
pub const DRAFT: &str = "DRAFT";

/// Creates a directory that keeps its name because a later process resumes it, or accepts one that this function
/// created. Fails with [`NotOurs`] for a link, a file, or a directory with files but without [`DRAFT`].
pub fn kept_dir(dir: &Path) -> io::Result<()> {
    match fs::symlink_metadata(dir) {
        Ok(there) if there.is_symlink() => return Err(NotOurs::link()),
        Ok(there) if !there.is_dir() => return Err(NotOurs("it is not a directory").into()),
        Ok(_) if has_draft(dir)? => return Ok(()),
        Ok(_) if fs::read_dir(dir)?.next().is_some() => {
            return Err(NotOurs("it contains files that no command of ours left").into());
        }
        Ok(_) => {}
        Err(_) => fs::create_dir_all(dir)?,
    }
    mark(dir)
}

/// Makes a directory one that [`kept_dir`] accepts.
pub(crate) fn mark(dir: &Path) -> io::Result<()> {
    let text =
        "Unfinished work of yomikiri: the same command resumes it, 'solver remove' removes it.\n";
    fs::write(dir.join(DRAFT), text)?;
    // After a power loss whatever else is in the directory comes with this name.
    sync_dir(dir)
}

/// Removes a directory that [`kept_dir`] created with all files.
pub fn remove_kept(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name() != DRAFT {
            fs::remove_file(entry.path())?;
        }
    }
    // The mark goes last: what a power cut left without it would be taken for somebody else's.
    sync_dir(dir)?;
    fs::remove_dir_all(dir)
}

/// Returns whether [`kept_dir`] created a directory.
pub fn is_kept(dir: &Path) -> bool {
    has_draft(dir).unwrap_or(false)
}

fn has_draft(dir: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(dir.join(DRAFT)) {
        Ok(there) => Ok(there.is_file()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns a new temporary path for an output.
pub fn temporary(place: &Path) -> io::Result<PathBuf> {
    with_ending(place, PART)
}

fn with_ending(place: &Path, ending: &str) -> io::Result<PathBuf> {
    let name = repeated(place).ok_or(ErrorKind::InvalidFilename)?;
    let random = RandomState::new().build_hasher().finish() as u32;
    let name = format!("{name}.{random:08x}");
    Ok(place.with_file_name(format!("{name}{:08x}.{ending}", crc32fast::hash(name.as_bytes()))))
}

/// Returns the part of an output's name that its temporary names repeat.
fn repeated(place: &Path) -> Option<String> {
    let name = place.file_name()?;
    let text = name.to_string_lossy();
    if text.len() <= REPEATED && name.to_str().is_some() {
        return Some(text.into_owned());
    }
    // Names with the same beginning, or bytes that are no text, are different outputs.
    let checksum = crc32fast::hash(name.as_encoded_bytes());
    Some(format!("{}~{checksum:08x}", &text[..text.floor_char_boundary(REPEATED)]))
}

/// Returns the name of the output to which a temporary file of this name belongs; of a long one the first 200 bytes and a
/// checksum. `None` if this is no temporary name.
pub fn output_of(file: &str) -> Option<&str> {
    let (before, ending) = file.rsplit_once('.')?;
    let (marked, checksum) = before.split_at_checked(before.len().checked_sub(8)?)?;
    let (name, random) = marked.rsplit_once('.')?;
    let is_ours = [PART, OLD].contains(&ending)
        && random.len() == 8
        && checksum == format!("{:08x}", crc32fast::hash(marked.as_bytes()));
    is_ours.then_some(name)
}

/// Returns the temporary files and directories of an output, being written or left by killed processes.
pub fn leftovers(place: &Path) -> Vec<PathBuf> {
    let name = repeated(place);
    let entries = fs::read_dir(parent(place)).into_iter().flatten().flatten();
    let is_of_it = |entry: &fs::DirEntry| {
        let file = entry.file_name();
        let output = file.to_str().and_then(output_of);
        output.is_some() && output == name.as_deref()
    };
    entries.filter(is_of_it).map(|entry| entry.path()).collect()
}

/// Removes what killed processes left of an output. Returns whether a process is writing it.
pub fn remove_leftovers(place: &Path) -> io::Result<bool> {
    let (mut is_busy, mut failed) = (false, None);
    for part in leftovers(place) {
        match remove_leftover(&part, place) {
            Ok(is_written) => is_busy |= is_written,
            Err(error) => {
                let what = format!("{}: {error}", part.display());
                failed = Some(io::Error::new(error.kind(), what));
            }
        }
    }
    failed.map_or(Ok(is_busy), Err)
}

/// Removes a temporary file or directory. Returns `true`, and leaves it, if a process is writing it.
fn remove_leftover(part: &Path, place: &Path) -> io::Result<bool> {
    let there = match fs::symlink_metadata(part) {
        Ok(there) if there.is_file() || there.is_dir() => there,
        // Its writer has just renamed it; or it is none of ours.
        _ => return Ok(false),
    };
    // A directory that was replaced is whole, and nobody holds it.
    if part.extension().is_some_and(|ending| ending == OLD) && !place.exists() {
        return fs::rename(part, place).map(|()| false);
    }
    let Ok(file) = File::open(part) else { return Ok(false) };
    match file.try_lock() {
        Ok(()) if there.is_dir() => ignore_missing(remove_dir(part)),
        Ok(()) => ignore_missing(fs::remove_file(part)),
        Err(TryLockError::WouldBlock) => Ok(true),
        // Without locks nobody knows whether it is being written.
        Err(TryLockError::Error(_)) => Ok(false),
    }
}

/// Returns `false` if what was to be removed is gone, also if another process removed it.
fn ignore_missing(removed: io::Result<()>) -> io::Result<bool> {
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(false),
    }
}

/// Locks a new temporary file. Returns `false` if another process took it for a leftover before.
fn is_held(file: &File, part: &Path) -> bool {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        // Without locks nobody removes it.
        Err(TryLockError::Error(_)) => true,
        Ok(()) => is_at(file, part),
    }
}

/// Returns the numbers by which a system knows a file under all its names.
#[cfg(unix)]
fn number(there: fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (there.dev(), there.ino())
}

/// Returns whether an open file is the one at a path.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        let same = |open| fs::symlink_metadata(path).is_ok_and(|there| number(there) == open);
        file.metadata().map(number).is_ok_and(same)
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
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

/// Returns whether an error is for something that is not ours under a name that we would write.
pub fn is_foreign(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<NotOurs>())
}

/// Returns whether an error is for lack of space: of a disk, a quota, or a limit of a file's length.
pub fn is_full(error: &(dyn StdError + 'static)) -> bool {
    use ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    if let Some(error) = error.downcast_ref::<Error>() {
        return error.cause().is_some_and(|cause| is_full(cause));
    }
    let Some(system) = error.downcast_ref::<io::Error>() else {
        return error.source().is_some_and(is_full);
    };
    let is_one = matches!(system.kind(), StorageFull | QuotaExceeded | FileTooLarge);
    // A library's error may contain the system's.
    is_one || system.get_ref().is_some_and(|inner| is_full(inner))
}

/// Returns what to do about an error of the system, if anything is known.
pub fn advice(error: &io::Error) -> Option<&'static str> {
    match () {
        () if is_full(error) => Some("free disk space and run the command again"),
        () if is_foreign(error) => Some("move it away, or choose another name"),
        () => None,
    }
}

/// Returns the error of an operation (such as `write`) on a path, with what to do; invalid input if it is for a file that
/// is not ours.
#[cold]
pub fn failure(action: &str, path: &Path, error: io::Error) -> Error {
    let kind = if is_foreign(&error) { Kind::Input } else { Kind::Failure };
    let (what, advice) = (format!("cannot {action} {}", path.display()), advice(&error));
    let failure = Error::from(what).of_kind(kind).with_cause(error);
    match advice {
        Some(advice) => failure.with_hint(advice),
        None => failure,
    }
}

/// Returns the directory that contains a path.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|e| e.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_temporary_name_tells_its_output() {
        for name in ["a.html", "a", "日本.csv", "a.0123456789abcdef.part", &"é".repeat(120)] {
            let part = temporary(Path::new(name)).unwrap();
            let part = part.to_str().unwrap();
            let output = output_of(part).unwrap();
            assert!(part.len() < 255 && output == repeated(Path::new(name)).unwrap(), "{part}");
            let other = part.replacen(|c: char| c.is_ascii_digit(), "x", 1);
            assert!(other == part || output_of(&other).is_none(), "{other}");
        }
        for foreign in ["a.html.part", "a.0123456789abcdef.part", "a.part", "part", ".part", ""] {
            assert_eq!(output_of(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn a_file_is_written_whole_and_alone() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("a.json");
        write(&place, b"old").unwrap();
        let mut output = OutputFile::create(&place).unwrap();
        output.write_all(b"half").unwrap();
        assert_eq!(names(dir.path()).len(), 2);
        // Another writer of the same file leaves what is being written.
        write(&place, b"other").unwrap();
        assert_eq!(names(dir.path()).len(), 2);
        drop(output);
        assert_eq!(
            (names(dir.path()), fs::read(&place).unwrap()),
            (vec!["a.json".into()], b"other".into())
        );
        // The file of a killed process is removed; files that are not ours stay.
        let left = temporary(&place).unwrap();
        fs::write(&left, "half").unwrap();
        fs::write(dir.path().join("a.json.part"), "mine").unwrap();
        fs::write(temporary(&dir.path().join("b.json")).unwrap(), "of another").unwrap();
        symlink(&place, temporary(&place).unwrap()).unwrap();
        write(&place, b"new").unwrap();
        assert!(!left.exists());
        assert_eq!((names(dir.path()).len(), fs::read(&place).unwrap()), (4, b"new".into()));
    }

    #[test]
    fn links_of_the_user_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let [target, link, far] = ["target", "link", "far"].map(|name| dir.path().join(name));
        symlink("target", &link).unwrap();
        symlink("link", &far).unwrap();
        for bytes in ["new", "again"] {
            write(&far, bytes.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&target).unwrap(), bytes);
            assert!(link.is_symlink() && far.is_symlink());
        }
        symlink("loop", dir.path().join("loop")).unwrap();
        assert!(check(&dir.path().join("loop")).is_err());
        assert!(check(dir.path()).is_err() && check(&dir.path().join("none/a")).is_err());
        check(Path::new("/dev/null")).unwrap();
        write(Path::new("/dev/null"), b"nothing").unwrap();
        assert_eq!(names(dir.path()), ["far", "link", "loop", "target"]);
    }

    #[test]
    fn what_is_resumed_is_ours() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        kept(&at("new")).unwrap().write_all(b"x").unwrap();
        assert_eq!(fs::read(at("new")).unwrap(), b"x");
        kept(&at("new")).unwrap();
        symlink(at("new"), at("link")).unwrap();
        symlink(at("none"), at("dangling")).unwrap();
        fs::write(at("one"), "mine").unwrap();
        fs::hard_link(at("one"), at("two")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        for name in ["link", "dangling", "two", "pipe", "."] {
            assert!(kept(&at(name)).is_err(), "{name}");
        }
        assert!(!at("none").exists());
        for name in ["a", "a"] {
            kept_dir(&at(name)).unwrap();
        }
        fs::create_dir(at("mine")).unwrap();
        kept_dir(&at("mine")).unwrap();
        fs::remove_file(at("mine").join(DRAFT)).unwrap();
        fs::write(at("mine/film.npy"), "half").unwrap();
        symlink(at("a"), at("to a")).unwrap();
        for name in ["mine", "to a", "new"] {
            let error = kept_dir(&at(name)).unwrap_err();
            assert!(is_foreign(&error), "{name}: {error}");
        }
        assert_eq!(names(&at("mine")), ["film.npy"]);
    }

    #[test]
    fn a_directory_is_replaced_in_one_step() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("export");
        for content in ["old", "new"] {
            let output = OutputDir::create(&place).unwrap();
            fs::write(output.path().join("a"), content).unwrap();
            let busy = OutputDir::create(&place).unwrap_err();
            assert_eq!(busy.kind(), ErrorKind::ResourceBusy);
            output.commit(&|name| name == "a").unwrap();
            assert_eq!(fs::read_to_string(place.join("a")).unwrap(), content);
            assert_eq!(names(dir.path()), ["export"]);
        }
        drop(OutputDir::create(&place).unwrap());
        // A file of the user's that came in meanwhile is kept.
        let output = OutputDir::create(&place).unwrap();
        fs::write(place.join("mine"), "mine").unwrap();
        assert!(output.commit(&|name| name == "a").is_err());
        assert_eq!(names(&place), ["a", "mine"]);
        assert_eq!(names(dir.path()), ["export"]);
        fs::remove_file(place.join("mine")).unwrap();
        // As after a kill on a system that cannot exchange directories.
        let old = with_ending(&place, OLD).unwrap();
        fs::write(place.join("b"), "kept").unwrap();
        fs::rename(&place, &old).unwrap();
        assert!(!remove_leftovers(&place).unwrap());
        assert_eq!(names(&place), ["a", "b"]);
        fs::create_dir(&old).unwrap();
        assert!(!remove_leftovers(&place).unwrap());
        assert_eq!(names(dir.path()), ["export"]);
    }
}
