//! The games of a report as aligned text.

use super::grid::Grid;
use super::number::{percent, signed};
use crate::judge::{
    BothSides, Expected, Exploitability, Games, Match, MistakesAgainst, PolicyGames, Words,
};

/// Explains the treatment of infinite play; empty for games that always end.
pub(super) fn most_plies_text(most_plies: Option<u32>) -> String {
    let text = |plies| {
        format!(
            "\nGames longer than {plies} plies count as infinite (column: infinite).\nPolicies do not see repetitions: a position that recurs does not end the game, and a best response\nmay wait for a mistake.\n"
        )
    };
    most_plies.map_or(String::new(), text)
}

/// Lays out the expected results of games between policies, and the losses in them. Ends with a line break.
pub fn games_text(games: &Games, words: &Words) -> String {
    let (sides, units) = (words.sides, &words.units[..]);
    let mut text = "\nGames from the start against random moves, exactly\n\n".to_string();
    text += &against(games, words, |policy| &policy.against_random);
    text += "\nGames from the start against perfect moves, exactly\n\n";
    text += &against(games, words, |policy| &policy.against_perfect);
    if games.policies.len() > 1 {
        text += &format!(
            "\nGames against each other: expected score of {}, in {units}, by the policy that plays {}\n\n",
            sides[0], sides[1]
        );
        text += &crosstable(games);
    }
    text += "\nExploitability by side, and mistakes per game\n\n";
    text += &losses(games, words);
    text += "\n";
    for (name, meaning) in [
        ("results", "mean outcome lost to a best response: a win is 1, a loss -1"),
        (units, &format!("mean {units} lost to a best response by {units}")),
        ("mistakes", "moves per game that lose the result, against each, mean of both sides"),
    ] {
        text += &format!("{name:<13}{meaning}\n");
    }
    text + &most_plies_text(games.most_plies)
}

/// Lays out the expected results of games between two policies, for the first one. Ends with a line break.
pub fn match_text(met: &Match) -> String {
    let text = format!(
        "{} against {} on {}, exactly; results are {}'s\n\n",
        met.policy, met.opponent, met.table, met.policy
    );
    let openings = met.openings.iter();
    let rows = openings.map(|opening| (format!("{:>6}", opening.random_plies), opening.results));
    let grid = both_sides((["random", "plies"], met.sides), (&met.units, met.most_plies), rows);
    text + &grid + &most_plies_text(met.most_plies)
}

fn against(games: &Games, words: &Words, of: fn(&PolicyGames) -> &BothSides<Expected>) -> String {
    let rows = games.policies.iter().map(|policy| (policy.policy.clone(), *of(policy)));
    both_sides((["", "policy"], words.sides), (&words.units, games.most_plies), rows)
}

/// Lays out expected results on both sides; `corner` is the heading of the first column.
fn both_sides(
    (corner, sides): ([&str; 2], [&str; 2]),
    (units, most_plies): (&str, Option<u32>),
    rows: impl Iterator<Item = (String, BothSides<Expected>)>,
) -> String {
    let lower = results(units, most_plies);
    let mut headings = vec![(corner[0], corner[1])];
    let sides = sides.map(|side| format!("as {side}"));
    for side in &sides {
        // Above the second column of results.
        let upper = |at| if at == 1 { &side[..] } else { "" };
        headings.extend(lower.iter().enumerate().map(|(at, lower)| (upper(at), *lower)));
    }
    let mut grid = Grid::headed(&headings);
    for (name, BothSides { first, second }) in rows {
        grid.push([vec![name], cells(&first, most_plies), cells(&second, most_plies)].concat());
    }
    grid.to_text()
}

/// Returns the headings of [`cells`].
fn results(units: &str, most_plies: Option<u32>) -> Vec<&str> {
    let no_end = most_plies.map(|_| "infinite");
    ["win", "draw", "loss", units].into_iter().chain(no_end).collect()
}

/// Returns win, draw and loss in percent and the score; if play may be infinite, its frequency too.
fn cells(expected: &Expected, most_plies: Option<u32>) -> Vec<String> {
    let mut cells: Vec<String> =
        [expected.win, expected.draw, expected.loss].into_iter().map(percent).collect();
    cells.push(signed(expected.score, 2));
    cells.extend(most_plies.map(|_| percent(expected.endless)));
    cells
}

fn crosstable(games: &Games) -> String {
    let names: Vec<&str> = games.policies.iter().map(|policy| &policy.policy[..]).collect();
    let rows = names.iter().zip(&games.table).map(|(name, row)| {
        let scores = row.iter().map(|expected| signed(expected.score, 2));
        [vec![name.to_string()], scores.collect()].concat()
    });
    Grid::of(&[&["policy"], &names[..]].concat(), rows).to_text()
}

fn losses(games: &Games, words: &Words) -> String {
    let (sides, units) = (words.sides, &words.units[..]);
    let mut grid = Grid::headed(&[
        ("", "policy"),
        (sides[0], "results"),
        (sides[0], units),
        (sides[1], "results"),
        (sides[1], units),
        ("mistakes", "itself"),
        ("a game", "random"),
        ("", "perfect"),
    ]);
    for policy in &games.policies {
        let BothSides { first, second } = &policy.exploitability;
        let lost = |exploitability: &Exploitability| {
            // Rounding errors can make a loss of 0 slightly negative.
            [exploitability.outcome_lost, exploitability.score_lost]
                .map(|lost| format!("{lost:.2}").replace("-0.00", "0.00"))
        };
        let mistakes = |against: &MistakesAgainst| format!("{:.2}", against.outcome_mistakes);
        let mut row = vec![policy.policy.clone()];
        row.extend(lost(first));
        row.extend(lost(second));
        row.extend(policy.mistakes.iter().map(mistakes));
        grid.push(row);
    }
    grid.to_text()
}
