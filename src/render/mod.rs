//! Reports as text. Nothing here prints: every function returns what a command may write out.
//!
//! * [`accuracy_text`] lays out an [`AccuracyReport`](crate::evaluate::AccuracyReport);
//! * [`number`] writes numbers as all our text shows them.

mod accuracy_text;
mod grid;
pub mod number;

pub use accuracy_text::{Part, accuracy_text};
pub use grid::Grid;
