//! yomikiri (読み切り, "reading a game out to the end") solves small boards exactly and measures
//! learned policies against the solution.
//!
//! ```
//! use yomikiri::game::Score;
//! use yomikiri::{progress::Silent, registry::othello, solved::SolvedTable, table::Store};
//!
//! let dir = tempfile::tempdir()?;
//! let table = SolvedTable::of_whole(othello("4")?, &Store::at(dir.path()), &Silent)?;
//! let position = table.states().parse("c4b4")?;
//! let row = table.states().find(&position).ok_or("it cannot be reached")?;
//! let value = table.value(row);
//! assert_eq!((value.score(), value.distance()), (Some(Score(8)), Some(5)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A game of one's own is an implementation of [`Game`](game::Game), and a program with all the
//! commands for it is one line, [`cli::main_with`]: see `docs/your-own-game.md`.
//!
//! The way of the data, and the module that owns each step:
//!
//! ```text
//! game ──► graph (enumerate) ──► table (.npy, mapped) ──► solve ──► solved table
//!   └───► any, registry ─────────────────┐                               │
//!                    cli (all commands) ◄┴─ render ◄── evaluate ◄────────┤
//!                                                policy ──┘  export ◄────┘
//! ```
//!
//! * [`game`]: rules only: the [`Game`](game::Game) trait, Othello, the shogi family, notation,
//!   symmetry, perft;
//! * [`any`]: a game without its type, for all that is not a hot loop;
//! * [`registry`]: the games by their names, those of a program among them;
//! * [`table`]: files only: manifest, `.npy` arrays, memory maps, checksums, atomic commit;
//! * [`graph`]: a game enumerated into a table; the index from states to ids;
//! * [`solve`]: value iteration, retrograde analysis and verification, on graphs;
//! * [`search`]: exact search of positions that no table holds;
//! * [`solved`]: a table as everybody reads it: rows with positions, moves and values;
//! * [`policy`]: what chooses moves;
//! * [`evaluate`]: policies measured on solved tables;
//! * [`export`]: positions for other programs to answer, and exact targets to learn from;
//! * `learn`: networks that learn from the tables and by playing (feature `onnx`);
//! * [`render`]: reports and boards as text;
//! * `serve`: tables over HTTP, with a page (feature `serve`);
//! * [`hint`]: errors that know what to do about them;
//! * [`progress`]: how long work tells that it goes on;
//! * [`cli`]: the commands of `solver`.
//!
//! What each layer may import is listed in `docs/architecture.md` and kept by `tests/layers.rs`.

// An `expect` says why it holds; tests may unwrap.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

// Rows and bytes of files are counted in `usize`.
#[cfg(not(target_pointer_width = "64"))]
compile_error!("tables are mapped whole: build for a target with 64-bit pointers");

pub mod any;
pub mod cli;
#[cfg(feature = "cluster")]
pub mod cluster;
pub mod evaluate;
pub mod export;
pub mod game;
pub mod graph;
pub mod hint;
mod input;
#[cfg(feature = "onnx")]
pub mod learn;
mod parallel;
pub mod policy;
pub mod progress;
pub mod registry;
pub mod render;
pub mod search;
#[cfg(feature = "serve")]
pub mod serve;
pub mod solve;
pub mod solved;
pub mod table;
