//! A directory that is written aside and renamed into place.

use std::fs::{self, File};
use std::io::{BufReader, ErrorKind, Read, Write};
use std::path::Path;

use crate::export::place_taken;
use yomikiri::error::Error;
use yomikiri::output::{OutputDir, failure};
use yomikiri::table::IoContext;

/// Creates the directory of an export beside its place. Fails if anything but files that `is_ours` names is at the place.
pub(super) fn begin(place: &Path, is_ours: &dyn Fn(&str) -> bool) -> Result<OutputDir, Error> {
    refuse_foreign(place, is_ours)?;
    beside(place)
}

/// Creates a directory beside a place, for files that the caller moves there one by one.
pub(super) fn beside(place: &Path) -> Result<OutputDir, Error> {
    OutputDir::create(place).map_err(|source| match source.kind() {
        ErrorKind::ResourceBusy => Error::busy(place),
        _ => failure("write", place, source),
    })
}

/// Returns `true` if there is a directory with entries, `false` if it is empty or missing. Fails for a file.
pub(super) fn is_used(place: &Path) -> Result<bool, Error> {
    match fs::read_dir(place) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            Err(place_taken(place, "is a file"))
        }
        Err(error) => Ok(Err(error).at("read", place)?),
    }
}

/// Checks that nothing is at a path, or a directory with files of certain names only.
fn refuse_foreign(place: &Path, ours: &dyn Fn(&str) -> bool) -> Result<(), Error> {
    if !place.exists() {
        return Ok(());
    }
    if !place.is_dir() {
        return Err(place_taken(place, "is a file"));
    }
    for entry in fs::read_dir(place).at("read", place)? {
        let name = entry.at("read", place)?.file_name();
        if !name.to_str().is_some_and(ours) {
            let name = name.to_string_lossy().into_owned();
            return Err(place_taken(
                place,
                format!("contains {name}, which is not part of such an export"),
            ));
        }
    }
    Ok(())
}

/// Fails if a file has changed since it was exported to, or into, `place`.
pub(super) fn unchanged(place: &Path, path: &Path, crc32: &str) -> Result<(), Error> {
    if path.is_dir() {
        return Err(place_taken(place, "is a directory"));
    }
    if checksum(path).at("read", path)? == crc32 {
        return Ok(());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Err(place_taken(place, format!("contains {name}, which has changed since it was exported")))
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
pub(super) fn write_synced(path: &Path, text: &str) -> Result<(), Error> {
    let mut file = File::create(path).at("write", path)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).at("write", path)
}
