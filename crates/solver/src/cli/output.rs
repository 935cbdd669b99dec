//! Files that a command writes where the user says.

use std::io::ErrorKind;
use std::path::Path;

use yomikiri::error::{Error, Kind};
use yomikiri::output;
use yomikiri::table::IoContext;

/// Checks that a file can be written, before the work begins.
pub(super) fn check(path: &Path) -> Result<(), Error> {
    if path == Path::new("-") {
        let what = "cannot write to `-`: this option needs a file";
        return Err(Error::new(what, "write `./-` for a file of that name").of_kind(Kind::Input));
    }
    output::check(path).at("write", path)
}

/// Checks that a directory, or a file with others beside it, can be written, before the work begins.
pub(super) fn check_dir(path: &Path) -> Result<(), Error> {
    match output::check_dir(path) {
        // The export itself reports that another one is at work.
        Err(error) if error.kind() == ErrorKind::ResourceBusy => Ok(()),
        checked => checked.at("write", path),
    }
}

/// Writes a file whole or not at all.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    output::write(path, bytes).at("write", path)
}
