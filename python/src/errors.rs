//! Errors as Python exceptions.

use std::path::PathBuf;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyValueError};
use pyo3::prelude::*;
use yomikiri::hint::{Hint, Hinted, shortened};
use yomikiri::output::{self, failure};
use yomikiri_measure::judge::MeasureError;

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
pub(crate) fn yomikiri_error(error: &dyn Hint) -> PyErr {
    YomikiriError::new_err(cut(error.line()))
}

/// Returns a `PolicyError`.
pub(crate) fn policy_error(error: &dyn Hint) -> PyErr {
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
    written.map_err(|error| PyOSError::new_err(cut(failure("write", &path, &error).line())))
}

/// Converts an error of a measurement.
pub(crate) fn measure_error(error: MeasureError) -> PyErr {
    match error {
        MeasureError::Policy { .. } => policy_error(&error),
        MeasureError::Labels(what) => yomikiri_error(&what),
        MeasureError::Positions(what) => position_error(what.line()),
        MeasureError::Table(error @ yomikiri::table::TableError::Io { .. }) => {
            PyOSError::new_err(cut(Hinted::from(error).line()))
        }
        MeasureError::Damaged(_) | MeasureError::Table(_) => table_error(error.line()),
    }
}
