//! Columns of figures in the full report.

use super::number::{amount, percent};
use crate::judge::{AccuracyReport, Figures, TableFacts};

/// A column of a policy's figures.
pub(super) struct FigureColumn {
    /// Heading of two lines.
    heading: (&'static str, &'static str),
    meaning: &'static str,
    shown: CellFormat,
    cell: fn(&Figures) -> String,
}

/// Games in which a column is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellFormat {
    Always,
    WithScores,
    WithoutScores,
}

impl CellFormat {
    fn is_in(self, table: &TableFacts) -> bool {
        match self {
            CellFormat::Always => true,
            CellFormat::WithScores => table.has_scores(),
            CellFormat::WithoutScores => !table.has_scores(),
        }
    }
}

/// Placeholder for the unit of the score, in the plural.
const UNITS: &str = "UNITS";

/// Columns of outcomes and scores kept and lost.
pub(super) const KEPT: &[FigureColumn] = &[
    FigureColumn {
        heading: ("result", "kept"),
        meaning: "how often the move keeps the best possible result (win, draw or loss)",
        shown: CellFormat::Always,
        cell: |figures| share(figures.means().optimal_by_outcome),
    },
    FigureColumn {
        heading: ("score", "kept"),
        meaning: "how often it keeps the best final score",
        shown: CellFormat::WithScores,
        cell: |figures| share(figures.means().optimal_by_score),
    },
    FigureColumn {
        heading: ("plies", "kept"),
        meaning: "how often it wins as soon, or loses as late, as possible, where plies are compared",
        shown: CellFormat::WithoutScores,
        cell: |figures| share(figures.means().optimal_by_distance),
    },
    FigureColumn {
        heading: ("result", "lost"),
        meaning: "mean outcome lost by a move: a win is 1, a draw 0, a loss -1",
        shown: CellFormat::Always,
        cell: |figures| or_none(figures.means().expected_loss_outcome, amount),
    },
    FigureColumn {
        heading: (UNITS, "lost"),
        meaning: "mean final score lost by a move, in UNITS",
        shown: CellFormat::WithScores,
        cell: |figures| or_none(figures.means().expected_loss_score, amount),
    },
    FigureColumn {
        heading: ("rank", "corr."),
        meaning: "rank correlation of its scores with the exact values: 1 the same order, 0 unrelated",
        shown: CellFormat::Always,
        cell: |figures| or_none(figures.means().rank_correlation, |rho| format!("{rho:.3}")),
    },
    FigureColumn {
        heading: ("win→", "draw"),
        meaning: "in how many of the positions it turns a win into a draw",
        shown: CellFormat::Always,
        cell: |figures| share(figures.means().blunders.win_to_draw.share),
    },
    FigureColumn {
        heading: ("win→", "loss"),
        meaning: "in how many it turns a win into a loss",
        shown: CellFormat::Always,
        cell: |figures| share(figures.means().blunders.win_to_loss.share),
    },
    FigureColumn {
        heading: ("draw→", "loss"),
        meaning: "in how many it turns a draw into a loss",
        shown: CellFormat::Always,
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
pub(super) const RANKED: &[FigureColumn] = &[
    FigureColumn {
        heading: ("", "nll"),
        meaning: "mean of -ln of the probability of all best moves (by score, else by result)",
        shown: CellFormat::Always,
        cell: |figures| or_none(figures.means().nll, amount),
    },
    FigureColumn {
        heading: ("no", "chance"),
        meaning: "in how many of the positions that is below 1e-12, the least that is counted",
        shown: CellFormat::Always,
        cell: |figures| share(figures.means().no_chance()),
    },
    FigureColumn {
        heading: ("", "entropy"),
        meaning: "of the probabilities, in nats: 0 if one move has them all",
        shown: CellFormat::Always,
        cell: |figures| or_none(figures.means().entropy, amount),
    },
    FigureColumn {
        heading: ("top", "1"),
        meaning: "in how many the move it ranks highest is a best one; equal ones in any order",
        shown: CellFormat::Always,
        cell: |figures| share(figures.means().top_1),
    },
    FigureColumn {
        heading: ("top", "2"),
        meaning: "in how many one of the two that it ranks highest is",
        shown: CellFormat::Always,
        cell: |figures| share(figures.means().top_2),
    },
    FigureColumn {
        heading: ("top", "3"),
        meaning: "in how many one of the three",
        shown: CellFormat::Always,
        cell: |figures| share(figures.means().top_3),
    },
];

/// Returns the columns that apply to a table's game.
fn shown(
    table: &TableFacts,
    columns: &'static [FigureColumn],
) -> impl Iterator<Item = &'static FigureColumn> {
    columns.iter().filter(|column| column.shown.is_in(table))
}

/// Returns the headings, with the unit of the score.
pub(super) fn headings<'a>(
    report: &'a AccuracyReport,
    columns: &'static [FigureColumn],
) -> Vec<(&'a str, &'static str)> {
    let heading = |column: &FigureColumn| match column.heading {
        (UNITS, lower) => (&report.words.units[..], lower),
        heading => heading,
    };
    shown(&report.table, columns).map(heading).collect()
}

/// Returns the cells of a policy.
pub(super) fn cells(
    table: &TableFacts,
    columns: &'static [FigureColumn],
    figures: &Figures,
) -> Vec<String> {
    shown(table, columns).map(|column| (column.cell)(figures)).collect()
}

/// Returns the meanings of the columns, one line each.
pub(super) fn meanings(report: &AccuracyReport, columns: &'static [FigureColumn]) -> String {
    let shown = shown(&report.table, columns);
    let line = |(column, (upper, lower)): (&FigureColumn, (&str, &str))| {
        let name = match upper.ends_with('→') {
            true => format!("{upper}{lower}"),
            false => format!("{upper} {lower}"),
        };
        let meaning = column.meaning.replace(UNITS, &report.words.units);
        format!("{:<13}{meaning}\n", name.trim_start())
    };
    shown.zip(headings(report, columns)).map(line).collect()
}
