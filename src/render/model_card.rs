//! What was measured of a policy as a piece of Markdown, for the page of a model.

use super::columns::{or_none, share};
use super::games_text::signed;
use super::grid::Grid;
use super::number::{amount, percent, thousands};
use crate::evaluate::{
    AccuracyReport, BothSides, Expected, Figures, FiguresBySet, PolicyAccuracy, PolicyGames,
};
use crate::game::{Outcome, Split};

/// A card for each policy of a report; `command` makes it anew. Ends in a line break.
pub fn model_cards(report: &AccuracyReport, command: &str) -> String {
    let games = |at: usize| report.games.as_ref().map(|games| &games.policies[at]);
    let policies = report.policies.iter().enumerate();
    let cards = policies.map(|(at, policy)| card(report, policy, games(at), command));
    cards.collect::<Vec<String>>().join("\n")
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

/// The figures of the moves, a column for each part of the positions.
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
        ("result kept", |of| share(of.optimal_by_outcome())),
    ];
    if report.table.has_scores() {
        rows.push(("score kept", |of| share(of.optimal_by_score())));
        rows.push((&lost, |of| or_none(of.expected_loss_score(), amount)));
    } else {
        rows.push(("plies kept", |of| share(of.optimal_by_distance())));
        rows.push(("result lost", |of| or_none(of.expected_loss_outcome(), amount)));
    }
    rows.push(("win turned into a loss", |of| {
        share(of.mean(of.turned(Outcome::Win, Outcome::Loss)))
    }));
    let headings: Vec<&str> = [""].into_iter().chain(parts.iter().map(|(name, _)| *name)).collect();
    let rows = rows.into_iter().map(|(name, cell)| {
        let cells = parts.iter().map(|(_, sets)| cell(&sets.decisive_outcome));
        [name.to_string()].into_iter().chain(cells).collect()
    });
    Grid::of(&headings, rows).to_markdown()
}

/// The games, a column for each side.
fn played(report: &AccuracyReport, games: &PolicyGames) -> String {
    let [first, second] = report.words.sides.map(|side| format!("as {side}"));
    let units = &report.words.units;
    let both = |name: String, of: &dyn Fn(&BothSides<Expected>) -> [String; 2], which| {
        [vec![name], of(which).to_vec()].concat()
    };
    let won = |both: &BothSides<Expected>| [&both.first, &both.second].map(|it| percent(it.win));
    let score = |both: &BothSides<Expected>| [&both.first, &both.second].map(|it| signed(it.score));
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
