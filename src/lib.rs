//! yomikiri (読み切り, "reading a game out to the end") solves small boards exactly and measures
//! learned policies against the solution.
//!
//! The way of the data, and the module that owns each step:
//!
//! ```text
//! game ──► graph (enumerate) ──► table (.npy, mapped) ──► solve (value iteration) ──► solved table
//!                                                                                        │
//!                                         cli (query, verify, info) ◄── evaluate ◄───────┤
//!                                                       render ◄────────┘   ▲   policy ──┘
//! ```
//!
//! * [`game`]: rules only: the [`Game`](game::Game) trait, Othello, notation, symmetry, perft;
//! * [`table`]: files only: manifest, `.npy` arrays, memory maps, checksums, atomic commit;
//! * [`graph`]: a game enumerated into a table; the index from states to ids;
//! * [`solve`]: value iteration and verification, on graphs;
//! * [`policy`]: what chooses moves;
//! * [`evaluate`]: policies measured on solved tables;
//! * [`export`]: positions for other programs to answer, and exact targets to learn from;
//! * `learn`: networks that learn from the tables and by playing (feature `learn`);
//! * [`render`]: reports and boards as text;
//! * [`progress`]: how long work tells that it goes on;
//! * [`cli`]: the commands of `solver`.
//!
//! What each layer may import is listed in `docs/architecture.md` and kept by `tests/layers.rs`.

pub mod any;
pub mod cli;
pub mod evaluate;
pub mod export;
pub mod game;
pub mod graph;
#[cfg(feature = "onnx")]
pub mod learn;
pub mod policy;
pub mod progress;
pub mod registry;
pub mod render;
pub mod solve;
pub mod solved;
pub mod table;
