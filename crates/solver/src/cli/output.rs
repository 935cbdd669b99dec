//! Files that a command writes where the user says.

use std::io::ErrorKind;
use std::path::Path;

use yomikiri::hint::{Hinted, Kind};
use yomikiri::output;
use yomikiri::table::{IoContext, TableError};

/// Checks that a file can be written, before the work begins.
pub(super) fn check(path: &Path) -> Result<(), Hinted> {
    if path == Path::new("-") {
        let what = "cannot write to `-`: this option needs a file";
        return Err(Hinted::new(what, "write `./-` for a file of that name").of_kind(Kind::Input));
    }
    Ok(output::check(path).at("write", path)?)
}

/// Checks that a directory, or a file with others beside it, can be written, before the work begins.
pub(super) fn check_dir(path: &Path) -> Result<(), TableError> {
    match output::check_dir(path) {
        // The export itself reports that another one is at work.
        Err(error) if error.kind() == ErrorKind::ResourceBusy => Ok(()),
        checked => checked.at("write", path),
    }
}

/// Writes a file whole or not at all.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), TableError> {
    output::write(path, bytes).at("write", path)
}
