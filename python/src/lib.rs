//! The Python package: arrays in, arrays out. What it says is in `yomikiri/__init__.py`; here is
//! what needs the solver.

mod columns;
mod errors;
mod games;
mod measure;
mod tables;
mod work;

#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::errors::{PolicyError, PositionError, TableError, YomikiriError};
    #[pymodule_export]
    use crate::games::{Game, Positions, board_svg};
    #[pymodule_export]
    use crate::measure::{Asked, Report, compare, evaluate, play_match};
    #[pymodule_export]
    use crate::tables::{Table, open_table, solve};
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
