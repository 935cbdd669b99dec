//! Reports as text and pages. Nothing here prints: every function returns what a command may write
//! out.
//!
//! * [`accuracy_text`] lays out an [`AccuracyReport`](crate::evaluate::AccuracyReport);
//! * [`history()`] draws what was measured while a network learned, [`panels`] any curves;
//! * [`leaderboard`] puts its policies in order;
//! * [`html`] makes a page of it, with [`plots`];
//! * [`RowsFile`] takes the results position by position, as CSV or Parquet;
//! * [`number`] writes numbers as all our text shows them.

mod accuracy_text;
mod games_text;
mod grid;
mod history;
mod html;
mod leaderboard;
pub mod number;
mod plots;
mod rows;
pub(crate) mod verdict;

pub use accuracy_text::{Part, accuracy_text};
pub use games_text::{games_text, match_text};
pub use grid::Grid;
pub use history::{Line, Panel, history, panels};
pub use html::html;
pub use leaderboard::leaderboard;
pub use plots::{Plot, plots};
pub use rows::RowsFile;
