//! yomikiri (読み切り, "reading a game out to the end") solves small boards exactly and measures
//! learned policies against the solution.
//!
//! ```
//! use yomikiri::rules::{Game, Score};
//! use yomikiri::{games::othello::Othello, solution::Solution, table::Store};
//!
//! let dir = tempfile::tempdir()?;
//! let solution = Solution::of(Othello::new(4, 4, true), &Store::at(dir.path()))?;
//! let game = solution.game();
//! let position = game.parse_position("c4b4", &game.start())?;
//! let value = solution.value(&position)?.ok_or("it cannot be reached")?;
//! assert_eq!((value.score(), value.distance()), (Some(Score(8)), Some(5)));
//! let line = solution.line(&position)?;
//! println!("White, to move, wins by 8 in {} plies", line.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! To add a game, implement [`Game`](rules::Game); [`Solution`](solution::Solution) then solves it.
//!
//! * [`rules`]: the [`Game`](rules::Game) trait, actions, outcomes, symmetry, text, perft;
//!   [`Rules`](rules::Rules), the object as which all other modules take a game;
//! * [`games`](mod@games): Othello, Connect Four, tic-tac-toe, the shogi family, listed games;
//! * [`registry`]: games by name;
//! * [`table`]: files: manifest, `.npy` arrays, memory maps, checksums, atomic commit;
//!   [`rows`](table::rows) reads a table as states, moves and layers;
//! * [`enumerate`]: enumeration of a game into a table;
//! * [`solve`]: value iteration, retrograde analysis and proof;
//! * [`search`]: exact search of positions that are in no table;
//! * [`solution`]: a solved game, asked by its own positions;
//! * [`oracle`]: read access to solved tables: rows with positions, moves and values;
//! * [`error`]: the type of errors; [`progress`]: progress reports of long work.
//!
//! Items that only the other crates of the workspace use are left out here.

// The message of an `expect` states why it holds; tests may unwrap.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(unreachable_pub))]

// Rows and bytes of files are counted in `usize`.
#[cfg(not(target_pointer_width = "64"))]
compile_error!("tables need 64-bit pointers to be mapped");

mod bits;
pub mod enumerate;
pub mod error;
pub mod games;
#[doc(hidden)]
pub mod input;
mod mmap;
pub mod oracle;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod parallel;
pub mod progress;
pub mod registry;
pub mod rules;
pub mod search;
pub mod solution;
pub mod solve;
pub mod table;
mod transposition;
