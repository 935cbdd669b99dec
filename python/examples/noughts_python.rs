//! A game of one's own in Python: `cargo build --release -p yomikiri-python --example noughts_python`, then
//! `yomikiri.bind` of the library that was built. `docs/python.md` has the whole way.

use pyo3::prelude::*;
use yomikiri::rules::Group;

#[allow(dead_code)]
#[path = "../../examples/noughts.rs"]
mod noughts;

#[pymodule]
fn noughts_python(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let game = noughts::Noughts(Group::of_board(3, 3));
    yomikiri_python::module(module, yomikiri::games![game])
}
