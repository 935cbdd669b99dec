//! Columns of the table in which policies are ranked.

use super::columns::{applies, cell, heading};
use crate::judge::{AccuracyReport, Figure, FigureSource, Figures, FiguresBySet, PolicyAccuracy};

/// A column of the table of policies.
pub(super) struct SummaryColumn {
    /// Heading of two lines.
    pub heading: [String; 2],
    /// Name of its figure in [`Metrics`](crate::judge::Metrics), with the set of positions.
    pub metric: String,
    figure: &'static Figure,
}

/// Figures of the table, of decisive positions (held-out ones if there are any) and of games; `learned_` is of those that
/// the policy has learned from.
const COLUMNS: [&str; 11] = [
    "result_kept",
    "learned_result_kept",
    "score_kept",
    "score_lost",
    "plies_kept",
    "result_lost",
    "win_to_loss",
    "perfect_first_score",
    "perfect_second_score",
    "exploited_result",
    "exploited_score",
];

impl SummaryColumn {
    fn is_learned(&self) -> bool {
        self.metric.starts_with("learned_")
    }

    pub(super) fn cell(&self, report: &AccuracyReport, at: usize) -> String {
        if self.is_learned() && !has_learned(&report.policies[at]) {
            return String::new();
        }
        cell(self.figure, report.metrics[at].number(&self.metric).flatten())
    }
}

/// Returns the columns for which the report has figures.
pub(super) fn columns(report: &AccuracyReport) -> Vec<SummaryColumn> {
    let column = |metric: &&str| {
        let figure = Figure::of_metric(metric)?;
        let (heading, metric) = (heading(figure, &report.words), metric.to_string());
        let mut column = SummaryColumn { heading, metric, figure };
        if column.is_learned() {
            column.heading = ["where", "learned"].map(str::to_string);
        }
        let is_shown = match figure.source {
            FigureSource::Games(_) => report.games.is_some(),
            _ if column.is_learned() => report.policies.iter().any(has_learned),
            // The loss is that of the score, if there is one.
            _ => figure.name != "result_lost" || !report.table.has_scores(),
        };
        (is_shown && applies(figure, &report.table)).then_some(column)
    };
    COLUMNS.iter().filter_map(column).collect()
}

/// Explains the mark of ties; `None` if there are none.
pub(super) fn ties(report: &AccuracyReport) -> Option<&'static str> {
    let words = match report.policies.iter().any(|policy| policy.intervals.is_some()) {
        true => {
            "not told apart from the policy above it: the interval of their difference contains 0"
        }
        false => "tied with the policy above it",
    };
    report.policies.iter().any(|policy| policy.tied).then_some(words)
}

/// Returns the figures by which policies are ranked.
pub(super) fn decisive(figures: &FiguresBySet) -> &Figures {
    &figures.decisive_result
}

/// Returns `true` if a policy has learned from some of the positions.
pub(super) fn has_learned(policy: &PolicyAccuracy) -> bool {
    policy.splits.is_some_and(|splits| splits.train.all.positions > 0)
}
