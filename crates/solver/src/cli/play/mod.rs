//! `solver play`: a game in the terminal.
//!
//! [`record`] is the game so far and its file, [`seat`] who sits on either side, [`session`] the
//! talk with the person. What is said of values is what the table proves, and where it proves
//! nothing that is said.

mod record;
mod seat;
mod session;

use std::path::PathBuf;

use anyhow::bail;

use super::complete::{policies, tables};
use super::context::Context;
use super::table_args::{TableArgs, is_in_reach, solved};
use record::Record;
use seat::Seat;
use session::Session;
use yomikiri::game::{Game, GameExt, SearchOptions};
use yomikiri::hint::Hinted;
use yomikiri::solved::{Budget, SearchOracle, SolvedTable, WantedValues};

/// Play a game in the terminal
///
/// Moves are typed as they are written: c4 or pass in Othello, 2c2b, 2A3A, 1e1a+ or P*2b in shogi. Type
/// 'help' for what else there is: hints, undo, save. Where the game has no table it is made, if the game
/// is small enough to be enumerated whole; else it is played without values.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A table's name or directory [default: as --table]
    #[arg(value_name = "TABLE", conflicts_with_all = ["size", "game", "table"], add = tables())]
    positional: Option<String>,
    #[command(flatten)]
    table: TableArgs,
    /// Who plays Black, or whoever moves first: 'human', or a policy as in the report's --policy
    #[arg(long, alias = "first", value_name = "PLAYER", default_value = "human", add = policies())]
    black: String,
    /// Who plays White
    #[arg(long, alias = "second", value_name = "PLAYER", default_value = "perfect", add = policies())]
    white: String,
    /// Begin at this position: a board in one line, or moves
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    from: Option<String>,
    /// Go on with the game of this file, which 'save' has written
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    load: Option<PathBuf>,
    /// Write the game to this file after every move
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Show what every move is worth before each of yours
    #[arg(long)]
    hints: bool,
    /// The seed by which policies choose among moves that they like
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

pub(in crate::cli) fn run(args: Args, context: &mut Context) -> anyhow::Result<()> {
    if context.json {
        let hint = "for programs there are 'solver query --batch' and 'solver serve'";
        bail!(Hinted::new("play is for people", hint));
    }
    let (game, table) = match &args.positional {
        Some(name) => {
            let table = context.store.open(name)?;
            (context.games.of_table(&table)?, Some(table))
        }
        None => args.table.game(context)?,
    };
    let table: Option<SolvedTable> = match table.is_some() || is_in_reach(&game, context) {
        true => Some(solved(&game, table, args.table.force, context)?),
        false => None,
    };
    let has_squares = game.layers().is_some_and(|layers| layers.unit() == "discs");
    let wanted = WantedValues { all_moves: true, outcome_only: false };
    let search = match table.is_none() && has_squares {
        true => {
            SearchOracle::new(game.clone(), &SearchOptions::default(), Budget::default(), wanted)
        }
        false => None,
    };
    let start = match (&args.from, &table) {
        (Some(text), Some(table)) => table.states().parse(text)?,
        (Some(text), None) => game.parse_position(text, &game.start())?,
        (None, Some(table)) => table.states().roots()?.first().copied().unwrap_or(game.start()),
        (None, None) => game.start(),
    };
    let record = match &args.load {
        Some(file) => Record::read(file, &game)?,
        None => Record::new(start),
    };
    let mut seats = Vec::new();
    for name in [&args.black, &args.white] {
        seats.push(Seat::new(name, &args.table, &game, context)?);
    }
    let seats = seats.try_into().unwrap_or_else(|_| unreachable!("two names make two"));
    let mut session = Session {
        game,
        table,
        search,
        seats,
        record,
        start,
        hints: args.hints,
        save: args.save,
        seed: args.seed,
        context,
    };
    session.run()
}
