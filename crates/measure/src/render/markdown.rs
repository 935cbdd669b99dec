//! A report as Markdown: a card of one policy or a leaderboard of several.

use super::columns::{or_none, share};
use super::grid::Grid;
use super::number::{amount, percent, signed, thousands};
use crate::evaluate::{
    AccuracyReport, BothSides, Expected, Figures, FiguresBySet, PolicyAccuracy, PolicyGames,
};
use yomikiri::game::Split;

/// Formats the policy of a report as a card for the page of a model, several policies as a leaderboard
/// ([`AccuracyReport::ranking`]). `command` is the command that reproduces it. Ends with a line break.
pub fn markdown(report: &AccuracyReport, command: &str) -> String {
    let games = |at: usize| report.games.as_ref().map(|games| &games.policies[at]);
    match &report.policies[..] {
        [policy] => card(report, policy, games(0), command),
        _ => leaderboard(report, command),
    }
}

fn leaderboard(report: &AccuracyReport, command: &str) -> String {
    let table = &report.table;
    let states = table.reachable_states.unwrap_or(table.rows);
    let mut text = format!(
        "# Leaderboard of {}\n\nIn all {} positions of {} in which a move is to be chosen (of {} reachable ones), exactly: \
         nothing is sampled. Regenerate with\n\n    {command}\n\n",
        table.game,
        thousands(table.judged_states),
        table.name,
        thousands(states)
    );
    let lost = format!("{} lost", report.words.units);
    let columns = [
        ("policy", ""),
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
        ("as first", "share of points in games against random moves, a draw being half"),
        ("as second", "the same as the second player"),
        ("exploited", "mean outcome lost to a best response, 0 to 2"),
    ];
    let row = |at: usize| {
        ranked(&report.policies[at], report.games.as_ref().map(|games| &games.policies[at]))
    };
    text += &Grid::of(&columns.map(|(name, _)| name), report.ranking().into_iter().map(row))
        .to_markdown();
    text += "\n";
    for (name, meaning) in &columns[1..] {
        text += &format!("* **{name}**: {meaning}.\n");
    }
    report.policies.iter().filter_map(held_out).for_each(|line| text += &line);
    text
}

fn card(
    report: &AccuracyReport,
    policy: &PolicyAccuracy,
    games: Option<&PolicyGames>,
    command: &str,
) -> String {
    let (table, version) = (&report.table, env!("CARGO_PKG_VERSION"));
    let chosen = table.chosen.as_ref().map_or(String::new(), |chosen| format!(" ({chosen})"));
    let mut text = format!(
        "## {} on {}, exactly\n\nMeasured in {} positions{chosen} against the solved game; nothing is sampled.\n\n",
        policy.policy,
        table.game,
        thousands(table.judged_states)
    );
    if policy.may_have_learned && table.chosen.is_none() {
        text += "It may have learned from some of them: `?trained=train` tells those apart, `--split test` leaves them out.\n\n";
    }
    text += &moves(report, policy);
    text += "\nIn the positions whose moves differ in result; what is lost is lost by a move, on average.\n";
    if let Some(games) = games {
        text += &format!("\n{}", played(report, games));
    }
    text + &format!("\nMade by `{command}` (yomikiri {version}).\n")
}

/// Lays out the figures of moves, one column for each split.
fn moves(report: &AccuracyReport, policy: &PolicyAccuracy) -> String {
    let mut parts: Vec<(&str, &FiguresBySet)> = vec![("all", &policy.total)];
    if let Some(splits) = &policy.splits {
        let names = [(Split::Test, "held out"), (Split::Validation, "validation")];
        let names = names.into_iter().chain([(Split::Train, "learned from")]);
        let found = names.map(|(split, name)| (name, splits.of(split)));
        parts.splice(0..0, found.filter(|(_, sets)| sets.all.states > 0));
    }
    let lost = format!("{} lost", report.words.units);
    type Cell = fn(&Figures) -> String;
    let mut rows: Vec<(&str, Cell)> = vec![
        ("positions", |of| thousands(of.states)),
        ("result kept", |of| share(of.means().optimal_by_outcome)),
    ];
    if report.table.has_scores() {
        rows.push(("score kept", |of| share(of.means().optimal_by_score)));
        rows.push((&lost, |of| or_none(of.means().expected_loss_score, amount)));
    } else {
        rows.push(("plies kept", |of| share(of.means().optimal_by_distance)));
        rows.push(("result lost", |of| or_none(of.means().expected_loss_outcome, amount)));
    }
    rows.push(("win turned into a loss", |of| share(of.means().blunders.win_to_loss.share)));
    let headings: Vec<&str> = [""].into_iter().chain(parts.iter().map(|(name, _)| *name)).collect();
    let rows = rows.into_iter().map(|(name, cell)| {
        let cells = parts.iter().map(|(_, sets)| cell(&sets.decisive_outcome));
        [name.to_string()].into_iter().chain(cells).collect()
    });
    Grid::of(&headings, rows).to_markdown()
}

/// Lays out the games, one column for each side.
fn played(report: &AccuracyReport, games: &PolicyGames) -> String {
    let [first, second] = report.words.sides.map(|side| format!("as {side}"));
    let units = &report.words.units;
    let both = |name: String, of: &dyn Fn(&BothSides<Expected>) -> [String; 2], which| {
        [vec![name], of(which).to_vec()].concat()
    };
    let won = |both: &BothSides<Expected>| [&both.first, &both.second].map(|it| percent(it.win));
    let score =
        |both: &BothSides<Expected>| [&both.first, &both.second].map(|it| signed(it.score, 2));
    let BothSides { first: ours, second: theirs } = &games.exploitability;
    let taken = [ours, theirs].map(|it| amount(it.outcome_lost.max(0.0)));
    let rows = [
        both("won against random moves".to_string(), &won, &games.against_random),
        both(format!("{units} against random moves"), &score, &games.against_random),
        both(format!("{units} against perfect moves"), &score, &games.against_perfect),
        [vec!["result lost to a best response, 0 to 2".to_string()], taken.to_vec()].concat(),
    ];
    Grid::of(&["games from the start", &first, &second], rows).to_markdown()
}

/// Returns the numbers of positions of training and measurement, in words.
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

fn ranked(policy: &PolicyAccuracy, games: Option<&PolicyGames>) -> Vec<String> {
    let total = policy.held_out();
    let points = |expected: &Expected| percent(expected.win + 0.5 * expected.draw);
    let [first, second] = match games {
        Some(games) => [&games.against_random.first, &games.against_random.second].map(points),
        None => ["-".to_string(), "-".to_string()],
    };
    let learned = policy.splits.as_ref().map(|splits| splits.train.decisive_outcome);
    vec![
        format!("`{}`", policy.policy),
        share(total.decisive_outcome.means().optimal_by_outcome),
        learned.map_or(String::new(), |figures| share(figures.means().optimal_by_outcome)),
        share(total.all.means().optimal_by_outcome),
        share(total.all.means().optimal_by_score),
        or_none(total.all.means().expected_loss_score, amount),
        first,
        second,
        or_none(games.map(PolicyGames::exploited), amount),
    ]
}
