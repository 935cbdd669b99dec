//! `solver games`: the games that commands know.

use serde::Serialize;
use yomikiri::error::Error;

use super::context::Context;
use super::table_args::{is_in_reach, missing};
use yomikiri_measure::render::Grid;
use yomikiri_measure::render::number::thousands;

/// List the games, each with its number of states and how it is solved
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output {
    /// Games of the program's own first.
    games: Vec<Line>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Line {
    /// Name of the game.
    game: String,
    /// Title for people.
    title: String,
    /// Rows of its whole table, where they are known or estimated.
    states: Option<f64>,
    /// True if that number is not an estimate.
    exact: bool,
    /// True if its whole table is here.
    has_table: bool,
    /// `table`: 'solver solve' makes its table; `search`: it searches; `bounded`: a table with bounds is needed.
    method: &'static str,
}

pub(super) fn run(_: Args, context: &mut Context) -> Result<(), Error> {
    let games = context.games.all().into_iter().map(|game| {
        let expected = game.expected(&game.start().state);
        let method = match (is_in_reach(&*game, context), game.is_layered()) {
            (true, _) => "table",
            (false, true) => "search",
            (false, false) => "bounded",
        };
        Line {
            game: game.name(),
            title: game.title(),
            states: expected.map(|expected| expected.states),
            exact: expected.is_some_and(|expected| expected.exact),
            has_table: missing(&*game, context).is_none(),
            method,
        }
    });
    let output = Output { games: games.collect() };
    context.show("games", &output, |output| {
        let rows = output.games.iter().map(|line| {
            let states = match line.states {
                Some(states) if line.exact => thousands(states as u64),
                Some(states) if states < 1e6 => format!("about {}", thousands(one_digit(states))),
                Some(states) => format!("about {states:.0e}"),
                None => "-".to_string(),
            };
            let method = match (line.method, line.has_table) {
                ("table", true) => "its table, stored here",
                ("table", false) => "its table, made on request",
                ("search", _) => "search",
                _ => "a bounded table",
            };
            vec![line.game.clone(), states, method.to_string()]
        });
        Grid::of(&["game", "states", "solved by"], rows).to_text()
    })
}

/// Rounds a number to its first digit.
fn one_digit(number: f64) -> u64 {
    let unit = 10f64.powf(number.max(1.0).log10().floor());
    ((number / unit).round() * unit) as u64
}
