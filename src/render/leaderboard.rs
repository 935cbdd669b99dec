//! A report's policies in order, as a page of Markdown.

use super::number::{amount, percent, thousands};
use crate::evaluate::{AccuracyReport, Expected, PolicyAccuracy, PolicyGames};

/// Ranks a report's policies by how often their move keeps the outcome where moves differ in it.
/// Ends in a line break.
pub fn leaderboard(report: &AccuracyReport) -> String {
    let table = &report.table;
    let states = table.reachable_states.unwrap_or(table.rows);
    let mut text = format!(
        "# Leaderboard of {}\n\nEvery built-in policy, and the networks of `tables/policies`, in all {} positions of {} in which \
         a move is to be chosen (of {} reachable ones), exactly: nothing is sampled. Made anew by\n\n    solver leaderboard --out docs/leaderboard.md --html docs/leaderboard.html\n\n",
        table.game,
        thousands(table.judged_states),
        table.name,
        thousands(states)
    );
    let decisive = |policy: &PolicyAccuracy| policy.total.decisive_outcome.optimal_by_outcome();
    let mut order: Vec<usize> = (0..report.policies.len()).collect();
    order.sort_by(|&a, &b| {
        let of = |at: usize| decisive(&report.policies[at]).unwrap_or(0.0);
        of(b).total_cmp(&of(a)).then(a.cmp(&b))
    });
    let lost = format!("{} lost", report.words.units);
    text += &format!(
        "| | policy | decisive | result | score | {lost} | as first | as second | exploited |\n"
    );
    text += "|--:|---|--:|--:|--:|--:|--:|--:|--:|\n";
    for (place, &at) in order.iter().enumerate() {
        let policy = &report.policies[at];
        let games = report.games.as_ref().map(|games| &games.policies[at]);
        text += &row(place + 1, policy, games);
    }
    text += "\n";
    for (name, meaning) in [
        ("decisive", "how often the move keeps the result, where moves differ in it"),
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
    text
}

fn row(place: usize, policy: &PolicyAccuracy, games: Option<&PolicyGames>) -> String {
    let total = &policy.total;
    let share = |share: Option<f64>| share.map_or("-".to_string(), percent);
    let points = |expected: &Expected| percent(expected.win + 0.5 * expected.draw);
    let number = |number: Option<f64>| number.map_or("-".to_string(), amount);
    let [first, second] = match games {
        Some(games) => [&games.against_random.first, &games.against_random.second].map(points),
        None => ["-".to_string(), "-".to_string()],
    };
    let exploited = games.map(|games| {
        let both = &games.exploitability;
        0.5 * (both.first.outcome_lost + both.second.outcome_lost)
    });
    let cells = [
        place.to_string(),
        format!("`{}`", policy.policy),
        share(total.decisive_outcome.optimal_by_outcome()),
        share(total.all.optimal_by_outcome()),
        share(total.all.optimal_by_score()),
        number(total.all.expected_loss_score()),
        first,
        second,
        number(exploited),
    ];
    format!("| {} |\n", cells.join(" | "))
}
