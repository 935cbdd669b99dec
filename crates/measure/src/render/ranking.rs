//! Columns of the table in which policies are ranked.

use super::columns::{applies, cell, changed, heading, meaning};
use super::report_tables::{CellView, ChangeView, RowView, TableView, typographic};
use crate::judge::{AccuracyReport, Figure, FigureSource, PolicyAccuracy};

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
const COLUMNS: [&str; 12] = [
    "result_kept",
    "learned_result_kept",
    "own_play_result_kept",
    "score_kept",
    "score_lost",
    "plies_kept",
    "result_lost",
    "blunders",
    "perfect_first_score",
    "perfect_second_score",
    "exploited_result",
    "exploited_score",
];

/// Figures of a leaderboard.
const LEADERBOARD: [&str; 11] = [
    "result_kept",
    "learned_result_kept",
    "own_play_result_kept",
    "blunders",
    "all_result_kept",
    "all_score_kept",
    "all_score_lost",
    "random_first_points",
    "random_second_points",
    "exploited_result",
    "exploited_score",
];

/// Heading of a confidence interval.
const INTERVAL: &str = "95 %\ninterval";

impl SummaryColumn {
    fn is_learned(&self) -> bool {
        self.metric.starts_with("learned_")
    }

    pub(super) fn cell(&self, report: &AccuracyReport, at: usize) -> String {
        if self.is_learned() && !report.policies[at].has_learned() {
            return String::new();
        }
        cell(self.figure, report.metrics[at].number(&self.metric).flatten())
    }

    /// Returns its meaning with the positions that it is of.
    pub(super) fn meaning(&self, report: &AccuracyReport) -> String {
        let meaning = meaning(self.figure, &report.words);
        match () {
            () if self.is_learned() => {
                format!(
                    "{meaning}, where the policy has learned; its other figures are of positions where it has not"
                )
            }
            () if self.metric.starts_with("all_") => format!("{meaning}, in all positions"),
            () if self.metric == "result_kept" => {
                format!(
                    "{meaning}, in positions whose moves differ in it; policies are ranked by it"
                )
            }
            () if self.figure.is_of_moves() => {
                format!("{meaning}, in positions whose moves differ in the result")
            }
            () => meaning,
        }
    }

    /// Returns whether the table has confidence intervals of the figure.
    pub(super) fn has_intervals(&self, report: &AccuracyReport) -> bool {
        matches!(&self.metric[..], "result_kept" | "result_lost" | "score_lost")
            && report.policies.iter().any(|policy| policy.intervals.is_some())
    }

    fn interval(&self, policy: &PolicyAccuracy) -> String {
        let interval = policy.intervals.as_ref().and_then(|intervals| intervals.of(&self.metric));
        let number = |number| cell(self.figure, Some(number));
        interval.map_or(String::new(), |of| format!("{} to {}", number(of.lower), number(of.upper)))
    }
}

/// Returns the columns of the ranking for which the report has figures.
pub(super) fn columns(report: &AccuracyReport) -> Vec<SummaryColumn> {
    COLUMNS.iter().filter_map(|metric| column(report, metric, false)).collect()
}

/// Returns the columns of a leaderboard for which the report has figures.
pub(super) fn leaderboard_columns(report: &AccuracyReport) -> Vec<SummaryColumn> {
    LEADERBOARD.iter().filter_map(|metric| column(report, metric, true)).collect()
}

fn column(report: &AccuracyReport, metric: &str, is_leaderboard: bool) -> Option<SummaryColumn> {
    let figure = Figure::of_metric(metric)?;
    let mut column = SummaryColumn {
        heading: heading(figure, &report.words),
        metric: metric.to_string(),
        figure,
    };
    if column.is_learned() {
        column.heading = ["where", "learned"].map(str::to_string);
    } else if metric.starts_with("all_") {
        let [upper, lower] = &column.heading;
        column.heading = [format!("all: {upper}"), lower.clone()];
    }
    let is_shown = match figure.source {
        // Exploitability too, but for leaderboards, which have both.
        FigureSource::Games(_) if metric == "exploited_result" && !is_leaderboard => {
            report.games.is_some() && !report.table.has_scores()
        }
        FigureSource::Games(_) => report.games.is_some(),
        _ if column.is_learned() => report.policies.iter().any(PolicyAccuracy::has_learned),
        // The loss is that of the score, if there is one.
        _ => figure.name != "result_lost" || !report.table.has_scores(),
    };
    (is_shown && applies(figure, &report.table)).then_some(column)
}

/// Returns the policies at some places, best first, with the figures of some columns, confidence intervals of a sample, and
/// changes against an earlier report; `name` writes the policy at a place from 1.
pub(super) fn ranking(
    report: &AccuracyReport,
    columns: &[SummaryColumn],
    is_shown: impl Fn(usize) -> bool,
    name: impl Fn(usize, usize) -> String,
) -> TableView {
    let head = columns.iter().flat_map(|column| {
        let heading = column.heading.join("\n").trim().to_string();
        let interval = column.has_intervals(report).then(|| INTERVAL.to_string());
        [heading].into_iter().chain(interval)
    });
    let row = |(place, at): (usize, usize)| {
        let cells = columns.iter().flat_map(|column| {
            let change = change(report, at, &column.metric);
            let figure = CellView { change, ..column.cell(report, at).into() };
            let interval = column.has_intervals(report);
            let interval = interval.then(|| column.interval(&report.policies[at]).into());
            [figure].into_iter().chain(interval)
        });
        RowView { at: Some(at), name: name(place, at), cells: cells.collect() }
    };
    TableView {
        head: head.collect(),
        rows: (1..).zip(report.ranking()).filter(|(_, at)| is_shown(*at)).map(row).collect(),
        ..TableView::default()
    }
}

/// Returns the change of a figure against an earlier report, if there is one and it changed.
pub(super) fn change(report: &AccuracyReport, at: usize, metric: &str) -> Option<ChangeView> {
    let changes = report.changes.as_ref()?.policies.get(at)?.as_ref()?;
    let (text, is_better) = changed(changes, metric)?;
    Some(ChangeView { text: typographic(&text), is_better })
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
