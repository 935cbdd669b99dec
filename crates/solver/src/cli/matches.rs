//! `solver match`: what games between two policies come to, exactly.

use super::complete::policies;
use super::context::Context;
use super::ensure_solved::ensure_solved;
use super::players::players;
use super::preflight;
use super::table_args::{TableArgs, table_and_two};
use yomikiri::error::Error;
use yomikiri::oracle::SolvedTable;
use yomikiri::table::fits_memory;
use yomikiri_measure::judge::{Match, Player, Sampling, playable, unfolded_bytes};
use yomikiri_measure::render::match_text;

/// Play two policies against each other, exactly
///
/// The results are computed by dynamic programming over all positions of a solved table, which is made if it is
/// missing; no game is sampled unless --sample asks for it. In cyclic games (shogi), games longer than 512 plies count
/// as infinite, and a repeated position does not end a game; with --sample it does, by the rules of the game (perpetual
/// check loses in minishogi), so that results can differ.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Two policies of 'solver policies', after an optional table, game or size
    #[arg(value_name = "POLICY", num_args = 2..=3, required = true, add = policies())]
    words: Vec<String>,
    #[command(flatten)]
    table: TableArgs,
    /// Also begin after each number of random plies up to this, passes among them (at most 100)
    #[arg(long, value_name = "PLIES", default_value_t = 0, conflicts_with = "sample",
        value_parser = clap::value_parser!(u32).range(..=100))]
    openings: u32,
    /// Sample this many games with each side instead, on any board, without a table
    #[arg(long, value_name = "GAMES",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    sample: Option<u64>,
    /// Begin each sampled game with this many random plies (at most 100): without them deterministic policies repeat
    /// one game
    #[arg(long, value_name = "PLIES", default_value_t = 0, requires = "sample",
        value_parser = clap::value_parser!(u32).range(..=100))]
    random_plies: u32,
    /// Seed of sampled games
    #[arg(long, value_name = "N", default_value_t = 0, requires = "sample")]
    seed: u64,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let (named, [first, second]) = table_and_two(args.words);
    let is_table = |word: &String| context.store.has(word) || context.games.meant(word).is_ok();
    if named.is_none() && is_table(&first) {
        let hint = format!("name two policies after `{first}`");
        return Err(Error::new(format!("`{second}` is the only policy"), hint));
    }
    let options = args.table.named(named);
    let (game, table) = options.game(context)?;
    let policies = options.policies(&[first, second], &*game, context)?;
    if let Some(games) = args.sample {
        let sampling = Sampling { games, random_plies: args.random_plies, seed: args.seed };
        return super::sampled_match::run(&*game, &policies, sampling, context);
    }
    let players = players(&policies, &*game, &context.store)?;
    let table = ensure_solved(&*game, table, options.force, context)?;
    let result = play(&table, &players, args.openings, options.force, context)?;
    context.show("match", &result, match_text)
}

fn play(
    table: &SolvedTable,
    players: &[Player],
    openings: u32,
    force: bool,
    context: &Context,
) -> Result<Match, Error> {
    let name = table.table().name();
    playable(table).map_err(|wrong| wrong.map(|what| format!("{name} {what}")))?;
    if !force {
        let bytes = unfolded_bytes(table.table().manifest(), players.len());
        let what = format!("playing games on {name} needs");
        let refused = |no_room| preflight::refused(&what, &no_room, "give a smaller table");
        fits_memory(bytes, yomikiri_measure::free_memory()).map_err(refused)?;
    }
    Match::of(table, players, openings, &context.bars)
}
