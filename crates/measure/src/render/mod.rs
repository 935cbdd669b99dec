//! Reports as text and pages. Nothing here prints: every function returns what a command may write
//! out.
//!
//! * [`summary`] lays out an [`AccuracyReport`](crate::evaluate::AccuracyReport) at a glance,
//!   [`accuracy_text`] whole;
//! * [`history()`] draws what was measured while a network learned, [`panels`] any curves;
//! * [`comparison_text`] lays out two policies position by position;
//! * [`markdown()`] makes Markdown of it: a card of one policy, a leaderboard of several;
//! * [`html`] makes a page of it, with [`plots`];
//! * [`RowsFile`] takes the results position by position, as CSV or Parquet;
//! * [`number`] writes numbers as all our text shows them.

mod accuracy_text;
mod board_text;
mod columns;
mod comparison_text;
mod forced_text;
mod games_text;
mod grid;
mod history;
mod html;
mod markdown;
mod mistakes_text;
mod names;
pub mod number;
mod plots;
mod rows;
pub mod shown;
mod summary;
pub mod verdict;

pub use accuracy_text::accuracy_text;
pub use comparison_text::{Compared, comparison_text};
pub use games_text::{games_text, match_text};
pub use grid::Grid;
pub use history::{Line, Panel, history, panels};
pub use html::{About, board, html};
pub use markdown::markdown;
pub use number::no_room;
pub use plots::{Plot, plots};
pub use rows::RowsFile;
pub use summary::summary;
