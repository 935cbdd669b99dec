//! Columns of the table in which policies are ranked.

use super::columns::{or_none, share};
use super::number::{amount, signed};
use crate::judge::{AccuracyReport, Figures, FiguresBySet, PolicyAccuracy, PolicyGames};

/// A column of the table of policies.
pub(super) struct SummaryColumn {
    /// Heading of two lines.
    pub heading: [String; 2],
    /// Name of its figure in [`Metrics`](crate::judge::Metrics).
    pub metric: &'static str,
    source: ColumnSource,
}

enum ColumnSource {
    /// Figures of decisive positions; of held-out ones if there are any.
    Figures(fn(&Figures) -> String),
    /// Figures of decisive positions that the policy has learned from.
    Learned(fn(&Figures) -> String),
    /// Figures of the games.
    Games(fn(&PolicyGames) -> String),
}

impl SummaryColumn {
    pub(super) fn cell(&self, report: &AccuracyReport, at: usize) -> String {
        let policy = &report.policies[at];
        let games = report.games.as_ref().map(|games| &games.policies[at]);
        let cell = match &self.source {
            ColumnSource::Figures(of) => Some(of(decisive(policy.held_out()))),
            ColumnSource::Learned(of) => policy
                .splits
                .filter(|splits| splits.train.all.states > 0)
                .map(|splits| of(decisive(&splits.train))),
            ColumnSource::Games(of) => games.map(of),
        };
        cell.unwrap_or_default()
    }
}

/// Returns the columns for which the report has figures.
pub(super) fn columns(report: &AccuracyReport) -> Vec<SummaryColumn> {
    let units = &report.words.units[..];
    let mut columns = Vec::new();
    let mut add = |heading: [&str; 2], metric, source| {
        columns.push(SummaryColumn { heading: heading.map(str::to_string), metric, source });
    };
    let kept: fn(&Figures) -> String = |figures| share(figures.means().optimal_by_outcome);
    add(["result", "kept"], "result_kept", ColumnSource::Figures(kept));
    if report.policies.iter().any(has_learned) {
        add(["where", "learned"], "learned_result_kept", ColumnSource::Learned(kept));
    }
    if report.table.has_scores() {
        let kept: fn(&Figures) -> String = |of| share(of.means().optimal_by_score);
        add(["score", "kept"], "score_kept", ColumnSource::Figures(kept));
        let lost: fn(&Figures) -> String = |of| or_none(of.means().expected_loss_score, amount);
        add([units, "lost"], "score_lost", ColumnSource::Figures(lost));
    } else {
        let kept: fn(&Figures) -> String = |of| share(of.means().optimal_by_distance);
        add(["plies", "kept"], "plies_kept", ColumnSource::Figures(kept));
        let lost: fn(&Figures) -> String = |of| or_none(of.means().expected_loss_outcome, amount);
        add(["result", "lost"], "result_lost", ColumnSource::Figures(lost));
    }
    let lost: fn(&Figures) -> String = |of| share(of.means().blunders.win_to_loss.share);
    add(["win→", "loss"], "win_to_loss", ColumnSource::Figures(lost));
    if report.games.is_some() {
        let [first, second] = report.words.sides.map(|side| format!("as {side}"));
        let score: fn(&PolicyGames) -> String =
            |games| signed(games.against_perfect.first.score, 2);
        add(["perfect,", &first], "perfect_first_score", ColumnSource::Games(score));
        let score: fn(&PolicyGames) -> String =
            |games| signed(games.against_perfect.second.score, 2);
        add(["perfect,", &second], "perfect_second_score", ColumnSource::Games(score));
        let lost: fn(&PolicyGames) -> String = |games| amount(games.exploited());
        add(["exploit.", "result"], "exploited_result", ColumnSource::Games(lost));
        if report.table.has_scores() {
            let lost: fn(&PolicyGames) -> String =
                |games| format!("{:.2}", games.exploited_score());
            add(["exploit.", units], "exploited_score", ColumnSource::Games(lost));
        }
    }
    columns
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
    &figures.decisive_outcome
}

/// Returns `true` if a policy has learned from some of the positions.
pub(super) fn has_learned(policy: &PolicyAccuracy) -> bool {
    policy.splits.is_some_and(|splits| splits.train.all.states > 0)
}
