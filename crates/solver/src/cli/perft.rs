//! `solver perft`: lines of play by depth.

use serde::Serialize;

use super::context::Context;
use super::table_args::GameArg;
use yomikiri::error::Error;
use yomikiri::games::shogi::{Drops, Ending, Variant};
use yomikiri::registry::shogi;
use yomikiri::rules::Rules;
use yomikiri::rules::perft::Finished;
use yomikiri_measure::render::Grid;
use yomikiri_measure::render::number::thousands;

/// Count the lines of play by depth
///
/// In Othello a pass is a ply, and a finished game counts 1 at every depth; in shogi a finished game does not count
/// beyond its end.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    game: GameArg,
    /// Number of plies [default: 9 in Othello, 5 in shogi]
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u32).range(1..=100))]
    depth: Option<u32>,
    /// Begin here instead of at the standard start
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    root: Option<String>,
    /// Count mates by a pawn drop as moves (minishogi)
    #[arg(long)]
    count_drop_mates: bool,
    /// Count the capture of a lion as a move; a lion that is safe on the last rank ends the game (animal shogi)
    #[arg(long)]
    play_captures: bool,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let named = args.game.game(context)?;
    let game = changed_rules(&*named, &args)?.map_or(named, |variant| shogi(&variant));
    count(&*game, &args, context)
}

/// The variant that the flags make of a game's rules; `None` without flags.
fn changed_rules(game: &dyn Rules, args: &Args) -> Result<Option<Variant>, Error> {
    if !args.count_drop_mates && !args.play_captures {
        return Ok(None);
    }
    let name = game.name();
    let does_not_apply = |flag, why| Error::from(format!("{flag} does not apply to {name}: {why}"));
    let drop_mates =
        || does_not_apply("--count-drop-mates", "only minishogi forbids mates by a pawn drop");
    let captures =
        || does_not_apply("--play-captures", "only in animal shogi can the king be captured");
    let Some(named) = Variant::named(&name) else {
        return Err(if args.count_drop_mates { drop_mates() } else { captures() });
    };
    let mut variant = *named;
    if args.count_drop_mates {
        if named.drops.pawn_mate {
            return Err(drop_mates());
        }
        variant.drops = Drops { pawn_mate: true, ..named.drops };
    }
    if args.play_captures {
        if named.ending != Ending::Adjudicated {
            return Err(captures());
        }
        variant.ending = Ending::Played;
    }
    Ok(Some(variant))
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output {
    /// The game.
    game: String,
    /// True if mates by a pawn drop count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    count_drop_mates: bool,
    /// True if captures of the king count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    play_captures: bool,
    /// Position at which lines begin.
    root: String,
    /// Element d: number of lines of d plies.
    perft: Vec<u64>,
}

fn count(game: &dyn Rules, args: &Args, context: &mut Context) -> Result<(), Error> {
    let root = match &args.root {
        Some(text) => game.parse_position(text, &game.start())?,
        None => game.start(),
    };
    // Conventions of each family of games for finished games and depths.
    let (finished, depth) = match game.is_layered() {
        true => (Finished::Counted, 9),
        false => (Finished::Dropped, 5),
    };
    let count = |depth| game.perft(&root.state, depth, finished);
    let counts: Vec<u64> = (1..=args.depth.unwrap_or(depth)).map(count).collect();
    let output = Output {
        game: game.name(),
        count_drop_mates: args.count_drop_mates,
        play_captures: args.play_captures,
        root: game.notation(&root),
        perft: counts,
    };
    context.show("perft", &output, |output| {
        let row = |(depth, &count): (u32, &u64)| vec![depth.to_string(), thousands(count)];
        Grid::of(&["depth", "lines of play"], (1..).zip(&output.perft).map(row)).to_text()
    })
}
