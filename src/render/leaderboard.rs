//! A report's policies in order, as a page of Markdown.

use super::number::{amount, percent, thousands};
use crate::evaluate::{AccuracyReport, Expected, PolicyAccuracy, PolicyGames};
use crate::game::Split;

/// Ranks a report's policies ([`AccuracyReport::ranking`]); `command` makes the page anew. Ends in
/// a line break.
pub fn leaderboard(report: &AccuracyReport, command: &str) -> String {
    let table = &report.table;
    let states = table.reachable_states.unwrap_or(table.rows);
    let mut text = format!(
        "# Leaderboard of {}\n\nEvery built-in policy, and the networks of `tables/policies`, in all {} positions of {} in which \
         a move is to be chosen (of {} reachable ones), exactly: nothing is sampled. Made anew by\n\n    {command}\n\n",
        table.game,
        thousands(table.judged_states),
        table.name,
        thousands(states)
    );
    let order = report.ranking();
    let lost = format!("{} lost", report.words.units);
    text += &format!(
        "| | policy | decisive | learned | result | score | {lost} | as first | as second | exploited |\n"
    );
    text += "|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
    for (place, &at) in order.iter().enumerate() {
        let policy = &report.policies[at];
        let games = report.games.as_ref().map(|games| &games.policies[at]);
        text += &row(place + 1, policy, games);
    }
    text += "\n";
    for (name, meaning) in [
        (
            "decisive",
            "how often the move keeps the result, where moves differ in it; this ranks, then the score kept there, then what is lost of it",
        ),
        (
            "learned",
            "the same where the policy has learned from the exact values, if it has; all other figures of its moves are then of positions from which it has not (one that reads ahead looks from there at positions that it may know)",
        ),
        ("result", "how often the move keeps the result, everywhere"),
        ("score", "how often the move keeps the final score, everywhere"),
        (&lost, "what a move gives away of the final score, everywhere"),
        ("as first, as second", "share of points in games against random moves, a draw being half"),
        (
            "exploited",
            "what of the result a best response takes, as a mean over both sides: a win is 1, a loss -1",
        ),
    ] {
        text += &format!("* **{name}**: {meaning}.\n");
    }
    for policy in &report.policies {
        text += &held_out(policy).unwrap_or_default();
    }
    text
}

/// From how many positions a policy has learned, and on how many it is measured.
fn held_out(policy: &PolicyAccuracy) -> Option<String> {
    let splits = policy.splits.as_ref()?;
    let of = |split: Split| {
        let sets = splits.of(split);
        let [all, decisive] =
            [&sets.all, &sets.decisive_outcome].map(|figures| thousands(figures.states));
        format!("{all} positions ({decisive} decisive ones)")
    };
    let learned = format!("* `{}` has learned from {}", policy.policy, of(Split::Train));
    Some(match splits.held_out() {
        Some(split) => {
            format!("{learned} and is measured on {} of its {}.\n", of(split), split.name())
        }
        None => format!("{learned}, which are all there are.\n"),
    })
}

fn row(place: usize, policy: &PolicyAccuracy, games: Option<&PolicyGames>) -> String {
    let total = policy.held_out();
    let share = |share: Option<f64>| share.map_or("-".to_string(), percent);
    let points = |expected: &Expected| percent(expected.win + 0.5 * expected.draw);
    let number = |number: Option<f64>| number.map_or("-".to_string(), amount);
    let [first, second] = match games {
        Some(games) => [&games.against_random.first, &games.against_random.second].map(points),
        None => ["-".to_string(), "-".to_string()],
    };
    let learned = policy.splits.as_ref().map(|splits| splits.train.decisive_outcome);
    let cells = [
        place.to_string(),
        format!("`{}`", policy.policy),
        share(total.decisive_outcome.optimal_by_outcome()),
        learned.map_or(String::new(), |figures| share(figures.optimal_by_outcome())),
        share(total.all.optimal_by_outcome()),
        share(total.all.optimal_by_score()),
        number(total.all.expected_loss_score()),
        first,
        second,
        number(games.map(PolicyGames::exploited)),
    ];
    format!("| {} |\n", cells.join(" | "))
}
