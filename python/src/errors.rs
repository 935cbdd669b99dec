//! Errors as Python exceptions.

use std::path::PathBuf;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyValueError};
use pyo3::prelude::*;
use yomikiri::error::{Error, Kind, shortened};
use yomikiri::output::{self, failure};

create_exception!(_core, YomikiriError, PyException, "Failure, described in one line.");
create_exception!(
    _core,
    TableError,
    YomikiriError,
    "Table that is missing, damaged or unsuitable."
);
create_exception!(
    _core,
    PositionError,
    PyValueError,
    "Position that is invalid, or not in the table; the message names the row."
);
create_exception!(_core, PolicyError, YomikiriError, "Failure of a policy, or an invalid answer.");

/// Cuts the middle out of a message longer than 2,000 bytes: what was given may be megabytes long.
fn cut(what: impl Into<String>) -> String {
    shortened(&what.into(), 990)
}

/// Returns a `ValueError`.
pub(crate) fn value_error(what: impl Into<String>) -> PyErr {
    PyValueError::new_err(cut(what))
}

/// Returns a `YomikiriError`.
pub(crate) fn yomikiri_error(error: &Error) -> PyErr {
    YomikiriError::new_err(cut(error.line()))
}

/// Returns a `PolicyError`.
pub(crate) fn policy_error(error: &Error) -> PyErr {
    PolicyError::new_err(cut(error.line()))
}

/// Returns a `TableError`.
pub(crate) fn table_error(what: impl Into<String>) -> PyErr {
    TableError::new_err(cut(what))
}

/// Returns a `PositionError`.
pub(crate) fn position_error(what: impl Into<String>) -> PyErr {
    PositionError::new_err(cut(what))
}

/// Writes a text to a file, whole or not at all.
#[pyfunction]
pub(crate) fn write_text(path: PathBuf, text: &str) -> PyResult<()> {
    let written = output::write(&path, text.as_bytes());
    written.map_err(|error| PyOSError::new_err(cut(failure("write", &path, error).line())))
}

/// Converts an error of a measurement: its kind decides the exception.
pub(crate) fn measure_error(error: Error) -> PyErr {
    let is_of_system = || error.cause().is_some_and(|cause| cause.is::<std::io::Error>());
    match error.kind() {
        Kind::Policy | Kind::Answer => policy_error(&error),
        Kind::Position => position_error(error.line()),
        Kind::Damaged | Kind::Unfit | Kind::Missing | Kind::Busy => table_error(error.line()),
        _ if is_of_system() => PyOSError::new_err(cut(error.line())),
        _ => yomikiri_error(&error),
    }
}
