//! `solver play`: a game in the terminal.
//!
//! [`record`] is the game so far and its file, [`seat`] who sits on either side, [`session`] the
//! dialogue with the person. Values are those that the table proves; where it proves
//! none, the text reports that.

mod record;
mod seat;
mod session;

use std::path::PathBuf;

use anyhow::bail;

use super::complete::{policies, tables};
use super::context::Context;
use super::made::solved;
use super::table_args::{TableArgs, is_in_reach};
use record::Record;
use seat::Seat;
use session::Session;
use yomikiri::game::{Game, GameExt, SearchOptions};
use yomikiri::hint::Hinted;
use yomikiri::solved::{Budget, SearchOracle, SolvedTable, WantedValues};

/// Play a game in the terminal
///
/// Moves are c4 or pass in Othello, 2c2b, 2A3A, 1e1a+ or P*2b in shogi. 'help' lists the other commands, such as
/// hint, undo and save. A missing table is made if that takes at most about two minutes; otherwise the game is
/// played without values, or with those of the search near the end.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Table, game or size: othello-4x5, 4x5, minishogi [default: the table enumerated last, or the only
    /// one; without tables 4x4]
    #[arg(value_name = "TABLE", conflicts_with = "table", add = tables())]
    word: Option<String>,
    #[command(flatten)]
    options: TableArgs,
    /// Player of Black, or the first player: 'human', or a policy of 'solver policies'
    #[arg(long, alias = "first", value_name = "PLAYER", default_value = "human", add = policies())]
    black: String,
    /// Player of White, or the second player
    #[arg(long, alias = "second", value_name = "PLAYER", default_value = "perfect", add = policies())]
    white: String,
    /// Begin at a position: a board in one line, or moves
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    from: Option<String>,
    /// Continue the game of a file that 'save' has written
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    load: Option<PathBuf>,
    /// Write the game to a file after every move
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Show the value of every move before each of yours
    #[arg(long)]
    hints: bool,
    /// Seed of the policies' choices among moves
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

pub(in crate::cli) fn run(args: Args, context: &mut Context) -> anyhow::Result<()> {
    if context.json {
        let hint = "programs use 'solver query --batch' or 'solver serve'";
        bail!(Hinted::new("--json does not apply to play", hint));
    }
    let options = args.options.named(args.word);
    let (game, table) = options.game(context)?;
    let table: Option<SolvedTable> = match table.is_some() || is_in_reach(&game, context) {
        true => Some(solved(&game, table, options.force, context)?),
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
        seats.push(Seat::new(name, &options, &game, context)?);
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
