//! `solver play`: a game in the terminal.
//!
//! [`record`] is the file of a game, [`seat`] who sits on either side, [`session`] the
//! dialogue with the person. Values are those that the table proves; where it proves
//! none, the text reports that.

mod record;
mod seat;
mod session;

use std::path::PathBuf;
use std::time::Duration;

use super::complete::{policies, tables};
use super::context::Context;
use super::ensure_solved::ensure_solved;
use super::output;
use super::table_args::{TableArgs, is_in_reach};
use seat::Seat;
use session::Session;
use yomikiri::error::Error;
use yomikiri::oracle::{Reach, SearchOracle, SolvedTable, Sources};
use yomikiri::rules::{Empties, PlayedGame};

/// Longest search for the values of a position and its moves.
const SEARCH: Duration = Duration::from_secs(60);

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

pub(in crate::cli) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    if context.json {
        let hint = "programs use 'solver query --batch' or 'solver serve'";
        return Err(Error::new("--json does not apply to play", hint));
    }
    args.save.as_deref().map_or(Ok(()), output::check)?;
    let options = args.options.named(args.word);
    let (game, table) = options.game(context)?;
    let table: Option<SolvedTable> = match table.is_some() || is_in_reach(&*game, context) {
        true => Some(ensure_solved(&*game, table, options.force, context)?),
        false => None,
    };
    // In other games the number of plies to the end, which decides how long a search takes, is unknown.
    let has_discs = game.layer_unit() == Some("discs");
    let empties = table.as_ref().map_or(Empties::default(), |table| table.values().empties());
    let search = has_discs.then(|| SearchOracle::beside(game.clone(), empties, 1, SEARCH));
    let sources = Sources::new(&*game, Vec::from_iter(table), search.flatten(), Reach::Quick);
    let root = sources.table().map(|table| table.states().roots()).transpose()?;
    let root = root.and_then(|roots| roots.first().copied()).unwrap_or(game.start());
    let start = args.from.as_ref().map_or(Ok(root), |text| sources.parse(text))?;
    let played = match &args.load {
        Some(file) => record::read(file, &*game, context)?,
        None => PlayedGame::new(start),
    };
    let mut seats = Vec::new();
    for name in [&args.black, &args.white] {
        seats.push(Seat::new(name, &options, &*game, context)?);
    }
    let seats = seats.try_into().unwrap_or_else(|_| unreachable!("two names make two"));
    let mut session = Session {
        sources,
        seats,
        played,
        start,
        hints: args.hints,
        save: args.save,
        seed: args.seed,
        context,
    };
    session.run()
}
