//! `solver policies`: the policies that can be measured and played against.

use serde::Serialize;

use super::complete::tables;
use super::context::Context;
use super::players::{learned_for, learned_names};
use super::table_args::{Meant, TableOption};
use yomikiri::error::Error;
use yomikiri::rules::Rules;
use yomikiri_measure::policy::PolicySpec;
use yomikiri_measure::render::Grid;
use yomikiri_measure::render::sanitise::{BOLD, styled};

/// List the policies, and the networks that were trained here
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Table, game or size: list the policies that work there
    #[arg(value_name = "TABLE", conflicts_with = "table", add = tables())]
    word: Option<String>,
    #[command(flatten)]
    option: TableOption,
}

/// Forms of [`PolicySpec::KNOWN`], each with what it plays.
const MEANINGS: [(&str, &str); 22] = [
    ("random", "every legal move equally often"),
    ("greedy", "the move after which it has the most material"),
    ("tactician", "wins at once, or stops a win of the next move; else any move"),
    ("weights", "the move to the best square, by built-in weights (Othello)"),
    ("weights:FILE", "the same by the weights of a file (Othello)"),
    ("n-hand:N", "the most material, averaged over all lines of N plies"),
    ("n-hand-custom:N[:FILE]", "the best squares, averaged over all lines of N plies (Othello)"),
    ("n-least:N", "the fewest moves for the opponent at its turn N"),
    ("n-most:N", "the most moves for itself at its turn N"),
    ("minimax:N[:FILE]", "minimax of N plies, by material or by weights of a file"),
    ("alphabeta:N[:FILE]", "the same by alpha-beta"),
    ("montecarlo:N[:SEED]", "N random games after each move"),
    ("mcts:N[:SEED]", "Monte Carlo tree search with N simulations"),
    ("mate:N", "mates by checks, searching N positions (shogi)"),
    ("learned:NAME", "a network that was trained here"),
    ("onnx:FILE", "a network in an ONNX file"),
    ("predictions:DIR", "answers in files, for positions of 'solver export --states'"),
    ("usi:COMMAND", "an engine of shogi, by USI"),
    ("uci:COMMAND", "an engine of shogi, by UCI"),
    ("gtp:COMMAND", "an engine of Othello, by GTP"),
    ("exec:COMMAND", "a program that answers positions"),
    ("perfect", "the best moves that win soonest or lose latest, equally often"),
];

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output {
    /// Forms of a policy's name.
    policies: Vec<Line>,
    /// Names of the networks that were trained here.
    learned: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Line {
    /// Form of the name: N stands for a number, brackets for what may be left out.
    policy: &'static str,
    /// Moves that it plays.
    meaning: &'static str,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let game = match args.word.or(args.option.table) {
        None => None,
        Some(word) => Some(match Meant::of(&word, context)? {
            Meant::Game(game) => game,
            Meant::Table(table) => context.games.of_table(&table)?,
        }),
    };
    let works = |(form, _): &(&str, &str)| game.as_ref().is_none_or(|game| fits(form, &**game));
    let lines = MEANINGS.into_iter().filter(works);
    let policies = lines.map(|(policy, meaning)| Line { policy, meaning }).collect();
    let learned = match &game {
        Some(game) => {
            learned_for(&**game, &context.store).iter().map(PolicySpec::to_string).collect()
        }
        None => {
            let names = learned_names(&context.store, None).into_iter();
            names.map(|name| format!("learned:{name}")).collect()
        }
    };
    let output = Output { policies, learned };
    context.show("policies", &output, |output| {
        let width = MEANINGS.iter().map(|(form, _)| form.len()).max().unwrap_or(0);
        let heading = Grid::of(&["policy"], []).to_text();
        let lines = output
            .policies
            .iter()
            .map(|line| format!("{:width$}  {}\n", line.policy, line.meaning));
        let front = "Behind each but perfect: ?plies=K, which plays wins and avoids losses that K plies prove.";
        let text = format!("{heading}{}\n{front}\n", lines.collect::<String>());
        match output.learned.is_empty() {
            true => text,
            false => {
                format!("{text}\n{}\n{}\n", styled("Trained here", BOLD), output.learned.join("\n"))
            }
        }
    })
}

/// Returns whether policies of a form work for a game.
fn fits(form: &str, game: &dyn Rules) -> bool {
    let name = form.split('[').next().unwrap_or_default();
    let name = name.replace(":N", ":2");
    name.parse().is_ok_and(|spec: PolicySpec| spec.check(game).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_a_meaning() {
        let forms: Vec<&str> = MEANINGS.iter().map(|(form, _)| *form).collect();
        assert_eq!(forms.join(", "), PolicySpec::KNOWN);
    }
}
