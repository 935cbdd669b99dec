//! A game of one's own in Python: `cargo build --release -p yomikiri-python --example tic_tac_toe_python`, then
//! `yomikiri.bind` of the library that was built. `docs/python.md` has the whole way.

use pyo3::prelude::*;
use yomikiri::rules::Group;

#[allow(dead_code)]
#[path = "../../examples/tic_tac_toe.rs"]
mod tic_tac_toe;

#[pymodule]
fn tic_tac_toe_python(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let game = tic_tac_toe::TicTacToe(Group::of_board(3, 3));
    yomikiri_python::module(module, yomikiri::games![game])
}
