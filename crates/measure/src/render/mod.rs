//! Reports as text and pages. Nothing here prints: all functions return text.
//!
//! * [`summary`] lays out an [`AccuracyReport`](crate::judge::AccuracyReport) at a glance,
//!   [`accuracy_text`] in full;
//! * [`history()`] draws learning curves of a network, [`panels`] any curves;
//! * [`comparison_text`] lays out two policies position by position;
//! * [`markdown()`] formats a report as Markdown: a card of one policy, a leaderboard of several;
//! * [`html`] renders it as a page; [`Boards`] draws positions;
//! * [`RowsFile`] writes the results position by position, as CSV or Parquet;
//! * [`number`] formats numbers for all output.
//!
//! ```
//! use yomikiri::oracle::{Orienting, SolvedTable};
//! use yomikiri::{progress::Silent, registry::othello, table::Store};
//! use yomikiri_measure::judge::{Request, TablePositions, build};
//! use yomikiri_measure::render::summary;
//!
//! let dir = tempfile::tempdir()?;
//! let table = SolvedTable::of_whole(othello("4")?, &Store::at(dir.path()), &Silent)?;
//! let players = [build(&"greedy".parse()?, table.game())?];
//! let positions = TablePositions::new(&table, Orienting::All);
//! let request = Request {
//!     positions: &positions,
//!     players: &players,
//!     games: true,
//!     mistakes: 3,
//!     agreement: true,
//! };
//! let report = request.report(None, &Silent)?;
//! assert!(summary(&report, &[], 0).contains("greedy"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accuracy_text;
mod boards;
mod changes_text;
mod chart;
mod columns;
mod comparison_text;
mod games_text;
mod grid;
mod history;
mod html;
mod judgement_file;
mod markdown;
mod mistakes_text;
mod names;
mod notebook;
pub mod number;
mod plots;
mod ranking;
mod report_tables;
mod review_html;
mod review_text;
mod roles;
pub mod sanitise;
mod strip;
mod summary;
pub mod verdict;

pub use accuracy_text::accuracy_text;
pub use boards::{BOARD_CSS, Boards};
pub use columns::figures_markdown;
pub use comparison_text::{Compared, comparison_html, comparison_text};
pub use games_text::match_text;
pub use grid::Grid;
pub use history::{Line, Panel, history, panels};
pub use html::{About, html};
pub use judgement_file::RowsFile;
pub use markdown::markdown;
pub use notebook::{answer_html, mistakes_html, position_html, ranking_html};
pub use number::no_room;
pub use review_html::{review_html, review_rows};
pub use review_text::{ReviewParts, review_text};
pub use roles::policy_named;
pub use summary::summary;
