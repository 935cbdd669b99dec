//! A report as Markdown: a card of one policy or a leaderboard of several.

use super::accuracy_text::{judged, origin_of_values};
use super::columns::{applies, cell, heading};
use super::grid::Grid;
use super::number::{amount, percent, signed, thousands};
use super::ranking::{leaderboard_columns, ranking, ties};
use crate::judge::{
    AccuracyReport, BothSides, Expected, Figure, FiguresBySet, PolicyAccuracy, PolicyGames,
    TableFacts,
};
use yomikiri::rules::Split;

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
    let mut text = format!(
        "# Leaderboard of {}\n\nFor people who compare policies. {} Repeat it with\n\n    {command}\n\n",
        table.game,
        positions(table)
    );
    let columns = leaderboard_columns(report);
    let name = |_, at: usize| {
        let policy = &report.policies[at];
        format!("`{}`{}", policy.policy, if policy.tied { " =" } else { "" })
    };
    text += &ranking(report, &columns, |_| true, name).to_markdown("policy");
    text += "\n";
    for column in &columns {
        let heading = column.heading.join(" ");
        text += &format!("* **{}**: {}.\n", heading.trim(), column.meaning(report));
        if column.has_intervals(report) {
            text += "* **95 % interval**: of that, as an estimate for all such positions.\n";
        }
    }
    if let Some(words) = ties(report) {
        text += &format!("* **=**: {words}.\n");
    }
    report.policies.iter().filter_map(held_out).for_each(|line| text += &line);
    text
}

/// Returns a sentence on the positions that the figures cover.
fn positions(table: &TableFacts) -> String {
    let exact = if table.is_listed() { "" } else { "exact, " };
    format!("Figures are {exact}of {}; {}.", judged(table), origin_of_values(table))
}

fn card(
    report: &AccuracyReport,
    policy: &PolicyAccuracy,
    games: Option<&PolicyGames>,
    command: &str,
) -> String {
    let (table, version) = (&report.table, env!("CARGO_PKG_VERSION"));
    let mut text =
        format!("## {} on {}\n\n{}\n\n", policy.policy, report.words.game, positions(table));
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
        parts.splice(0..0, found.filter(|(_, sets)| sets.all.positions > 0));
    }
    let loss = if report.table.has_scores() { "score_lost" } else { "result_lost" };
    let names = ["positions", "result_kept", "score_kept", "plies_kept", loss, "win_to_loss"];
    let rows = names.map(Figure::named).into_iter().filter(|of| applies(of, &report.table));
    let headings: Vec<&str> = [""].into_iter().chain(parts.iter().map(|(name, _)| *name)).collect();
    let rows = rows.map(|figure| {
        let name = match figure.name {
            "win_to_loss" => "win turned into a loss".to_string(),
            _ => heading(figure, &report.words).join(" ").trim().to_string(),
        };
        let cells =
            parts.iter().map(|(_, sets)| cell(figure, figure.compute(&sets.decisive_result)));
        [name].into_iter().chain(cells).collect()
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
    let taken = [ours, theirs].map(|it| amount(it.result_lost.max(0.0)));
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
            [&sets.all, &sets.decisive_result].map(|figures| thousands(figures.positions));
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
