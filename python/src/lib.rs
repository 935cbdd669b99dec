//! Compiled part of the Python package, documented in `python/python/yomikiri/__init__.py`: arrays in, arrays out.
//!
//! A game of one's own gets the same interface from a module of its own: see [`module`].

mod columns;
#[cfg(feature = "command")]
mod command;
mod errors;
mod games;
mod measure;
mod policies;
mod tables;
mod work;

use std::sync::Arc;
use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyTuple};
use yomikiri::registry::Games;
use yomikiri::rules::Rules;

/// Games that a module adds to the built-in ones.
static ADDED: OnceLock<Vec<Arc<dyn Rules>>> = OnceLock::new();

/// Returns the built-in and the added games.
fn known() -> Games {
    Games::with(ADDED.get().cloned().unwrap_or_default())
}

/// Fills a Python module that also knows these games, for `yomikiri.bind`; once per library.
///
/// ```ignore
/// #[pyo3::pymodule]
/// fn my_games(module: &Bound<'_, PyModule>) -> PyResult<()> {
///     yomikiri_python::module(module, yomikiri::games![MyGame])
/// }
/// ```
pub fn module(module: &Bound<'_, PyModule>, games: Vec<Arc<dyn Rules>>) -> PyResult<()> {
    let py = module.py();
    // A process imports a module once.
    let _ = ADDED.set(games);
    // The first call would do this before it counts as one, or rayon's first thread; see `before_fork`.
    let given = PyTuple::empty(py).extract::<policies::Given<'_>>();
    drop(given.map_err(|error| error.to_string()));
    drop(crossbeam_epoch::pin());
    if let Ok(register) = py.import("os")?.getattr("register_at_fork") {
        let hooks = [
            ("before", wrap_pyfunction!(work::before_fork, module)?),
            ("after_in_child", wrap_pyfunction!(work::after_fork, module)?),
        ];
        register.call((), Some(&hooks.into_py_dict(py)?))?;
    }
    py.import("atexit")?.call_method1("register", (wrap_pyfunction!(work::end_calls, module)?,))?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("YomikiriError", py.get_type::<errors::YomikiriError>())?;
    module.add("TableError", py.get_type::<errors::TableError>())?;
    module.add("PositionError", py.get_type::<errors::PositionError>())?;
    module.add("PolicyError", py.get_type::<errors::PolicyError>())?;
    module.add_class::<games::Game>()?;
    module.add_class::<games::Positions>()?;
    module.add_class::<games::PlayedGame>()?;
    module.add_class::<tables::Table>()?;
    module.add_class::<measure::Report>()?;
    module.add_class::<measure::Asked>()?;
    module.add_function(wrap_pyfunction!(errors::write_text, module)?)?;
    module.add_function(wrap_pyfunction!(tables::open_table, module)?)?;
    module.add_function(wrap_pyfunction!(games::check_name, module)?)?;
    module.add_function(wrap_pyfunction!(tables::folder_of, module)?)?;
    module.add_function(wrap_pyfunction!(tables::remove_table, module)?)?;
    module.add_function(wrap_pyfunction!(tables::solve, module)?)?;
    module.add_function(wrap_pyfunction!(measure::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(measure::solve_positions, module)?)?;
    module.add_function(wrap_pyfunction!(measure::solve_position, module)?)?;
    module.add_function(wrap_pyfunction!(measure::compare, module)?)?;
    module.add_function(wrap_pyfunction!(measure::review, module)?)?;
    module.add_function(wrap_pyfunction!(measure::play_match, module)?)
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    #[cfg(feature = "command")]
    module.add_function(wrap_pyfunction!(command::run_command, module)?)?;
    crate::module(module, Vec::new())
}
