//! Columns of figures in the full report.

use super::number::{amount, percent};
use crate::evaluate::{AccuracyReport, Figures, TableFacts};

/// A column of a policy's figures.
pub(super) struct Column {
    /// Heading of two lines.
    heading: (&'static str, &'static str),
    meaning: &'static str,
    shown: Shown,
    cell: fn(&Figures) -> String,
}

/// Games in which a column is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Always,
    WithScores,
    WithoutScores,
}

impl Shown {
    fn is_in(self, table: &TableFacts) -> bool {
        match self {
            Shown::Always => true,
            Shown::WithScores => table.has_scores(),
            Shown::WithoutScores => !table.has_scores(),
        }
    }
}

/// Placeholder for the unit of the score, in the plural.
const UNITS: &str = "UNITS";

/// Columns of outcomes and scores kept and lost.
pub(super) const KEPT: &[Column] = &[
    Column {
        heading: ("result", "kept"),
        meaning: "how often the move keeps the best possible result (win, draw or loss)",
        shown: Shown::Always,
        cell: |figures| share(figures.means().optimal_by_outcome),
    },
    Column {
        heading: ("score", "kept"),
        meaning: "how often it keeps the best final score",
        shown: Shown::WithScores,
        cell: |figures| share(figures.means().optimal_by_score),
    },
    Column {
        heading: ("plies", "kept"),
        meaning: "how often it wins as soon, or loses as late, as possible, where plies are compared",
        shown: Shown::WithoutScores,
        cell: |figures| share(figures.means().optimal_by_distance),
    },
    Column {
        heading: ("result", "lost"),
        meaning: "mean outcome lost by a move: a win is 1, a draw 0, a loss -1",
        shown: Shown::Always,
        cell: |figures| or_none(figures.means().expected_loss_outcome, amount),
    },
    Column {
        heading: (UNITS, "lost"),
        meaning: "mean final score lost by a move, in UNITS",
        shown: Shown::WithScores,
        cell: |figures| or_none(figures.means().expected_loss_score, amount),
    },
    Column {
        heading: ("rank", "corr."),
        meaning: "rank correlation of its scores with the exact values: 1 the same order, 0 unrelated",
        shown: Shown::Always,
        cell: |figures| or_none(figures.means().rank_correlation, |rho| format!("{rho:.3}")),
    },
    Column {
        heading: ("win→", "draw"),
        meaning: "in how many of the positions it turns a win into a draw",
        shown: Shown::Always,
        cell: |figures| share(figures.means().blunders.win_to_draw.share),
    },
    Column {
        heading: ("win→", "loss"),
        meaning: "in how many it turns a win into a loss",
        shown: Shown::Always,
        cell: |figures| share(figures.means().blunders.win_to_loss.share),
    },
    Column {
        heading: ("draw→", "loss"),
        meaning: "in how many it turns a draw into a loss",
        shown: Shown::Always,
        cell: |figures| share(figures.means().blunders.draw_to_loss.share),
    },
];

pub(super) fn or_none(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_string(), show)
}

pub(super) fn share(value: Option<f64>) -> String {
    or_none(value, percent)
}

/// Columns of a policy's probabilities and its ranking of moves.
pub(super) const RANKED: &[Column] = &[
    Column {
        heading: ("", "nll"),
        meaning: "mean of -ln of the probability of all best moves (by score, else by result)",
        shown: Shown::Always,
        cell: |figures| or_none(figures.means().nll, amount),
    },
    Column {
        heading: ("no", "chance"),
        meaning: "in how many of the positions that is below 1e-12, the least that is counted",
        shown: Shown::Always,
        cell: |figures| share(figures.means().no_chance()),
    },
    Column {
        heading: ("", "entropy"),
        meaning: "of the probabilities, in nats: 0 if one move has them all",
        shown: Shown::Always,
        cell: |figures| or_none(figures.means().entropy, amount),
    },
    Column {
        heading: ("top", "1"),
        meaning: "in how many the move it ranks highest is a best one; equal ones in any order",
        shown: Shown::Always,
        cell: |figures| share(figures.means().top_1),
    },
    Column {
        heading: ("top", "2"),
        meaning: "in how many one of the two that it ranks highest is",
        shown: Shown::Always,
        cell: |figures| share(figures.means().top_2),
    },
    Column {
        heading: ("top", "3"),
        meaning: "in how many one of the three",
        shown: Shown::Always,
        cell: |figures| share(figures.means().top_3),
    },
];

/// Returns the columns that apply to a table's game.
fn shown(table: &TableFacts, columns: &'static [Column]) -> impl Iterator<Item = &'static Column> {
    columns.iter().filter(|column| column.shown.is_in(table))
}

/// Returns the headings, with the unit of the score.
pub(super) fn headings<'a>(
    report: &'a AccuracyReport,
    columns: &'static [Column],
) -> Vec<(&'a str, &'static str)> {
    let heading = |column: &Column| match column.heading {
        (UNITS, lower) => (&report.words.units[..], lower),
        heading => heading,
    };
    shown(&report.table, columns).map(heading).collect()
}

/// Returns the cells of a policy.
pub(super) fn cells(
    table: &TableFacts,
    columns: &'static [Column],
    figures: &Figures,
) -> Vec<String> {
    shown(table, columns).map(|column| (column.cell)(figures)).collect()
}

/// Returns the meanings of the columns, one line each.
pub(super) fn meanings(report: &AccuracyReport, columns: &'static [Column]) -> String {
    let shown = shown(&report.table, columns);
    let line = |(column, (upper, lower)): (&Column, (&str, &str))| {
        let name = match upper.ends_with('→') {
            true => format!("{upper}{lower}"),
            false => format!("{upper} {lower}"),
        };
        let meaning = column.meaning.replace(UNITS, &report.words.units);
        format!("{:<13}{meaning}\n", name.trim_start())
    };
    shown.zip(headings(report, columns)).map(line).collect()
}
