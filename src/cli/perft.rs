//! `solver perft`: lines of play by depth.

use std::process::ExitCode;

use serde::Serialize;

use super::context::Context;
use super::error::UserError;
use crate::game::perft::{Finished, perft, perft_shared};
use crate::game::shogi::{Drops, Ending, Variant};
use crate::game::{Cyclic, Game, GameSpec, GameVisitor, Layered, with_variant};
use crate::render::Grid;
use crate::render::number::thousands;

/// Count the lines of play to a depth (Othello: a pass is a ply, a finished game counts 1 at every
/// depth; shogi: a finished game counts nothing past its end)
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The game: othello-ROWSxCOLUMNS, minishogi, animal-shogi or animal-shogi-3x3
    #[arg(long, value_name = "NAME", default_value = "othello-8x8", conflicts_with = "size")]
    game: String,
    /// The board of a game of Othello, rows x columns, each 4 to 8
    #[arg(long, value_name = "SIZE")]
    size: Option<String>,
    /// How many plies [default: 9 of Othello, 5 of shogi]
    #[arg(long, value_name = "PLIES")]
    depth: Option<u32>,
    /// Begin here instead of at the standard start
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    root: Option<String>,
    /// Minishogi: a mate by a pawn drop is a move like any other
    #[arg(long)]
    count_drop_mates: bool,
    /// Animal shogi: the capture of a lion is a move, and a lion that is safe on the last rank ends
    /// the game
    #[arg(long)]
    play_captures: bool,
    /// Count one by one on one thread, without remembering states
    #[arg(long)]
    plain: bool,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let spec: GameSpec = match &args.size {
        Some(size) => GameSpec::othello(size)?,
        None => args.game.parse()?,
    };
    let changed = changed_rules(spec, &args)?;
    let visitor = Perft { args: &args, context };
    match changed {
        Some(variant) => with_variant(&variant, true, visitor)?,
        None => spec.with_rules(true, visitor)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The variant that the flags make of a game's rules; `None` without flags.
fn changed_rules(spec: GameSpec, args: &Args) -> Result<Option<Variant>, UserError> {
    if !args.count_drop_mates && !args.play_captures {
        return Ok(None);
    }
    let named = match spec {
        GameSpec::Shogi(name) => Variant::named(name),
        GameSpec::Othello { .. } => None,
    };
    let means_nothing =
        |flag, why| UserError::new(format!("{flag} means nothing for {spec}: {why}"));
    let drop_mates =
        || means_nothing("--count-drop-mates", "only minishogi forbids mates by a pawn drop");
    let captures =
        || means_nothing("--play-captures", "only in animal shogi can the king be captured");
    let Some(named) = named else {
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
struct Output {
    game: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    count_drop_mates: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    play_captures: bool,
    root: String,
    perft: Vec<u64>,
}

struct Perft<'a> {
    args: &'a Args,
    context: &'a mut Context,
}

impl GameVisitor for Perft<'_> {
    type Output = anyhow::Result<()>;

    fn layered<G: Layered>(self, game: G) -> anyhow::Result<()> {
        self.count(game, Finished::Counted, 9)
    }

    fn cyclic<G: Cyclic>(self, game: G) -> anyhow::Result<()> {
        self.count(game, Finished::Dropped, 5)
    }
}

impl Perft<'_> {
    fn count<G: Game>(self, game: G, finished: Finished, default_depth: u32) -> anyhow::Result<()> {
        let Perft { args, context } = self;
        let root = match &args.root {
            Some(text) => game.parse_position(text, &game.start())?,
            None => game.start(),
        };
        let count = |depth| match args.plain {
            true => perft(&game, &root.state, depth, finished),
            false => perft_shared(&game, &root.state, depth, finished),
        };
        let counts: Vec<u64> = (1..=args.depth.unwrap_or(default_depth)).map(count).collect();
        if context.json {
            return context.json(&Output {
                game: game.spec().to_string(),
                count_drop_mates: args.count_drop_mates,
                play_captures: args.play_captures,
                root: game.notation(&root),
                perft: counts,
            });
        }
        let rows: Vec<Vec<String>> = counts
            .iter()
            .enumerate()
            .map(|(i, &count)| vec![(i + 1).to_string(), thousands(count)])
            .collect();
        context.print(Grid::of(&["depth", "lines of play"], rows).to_text())?;
        Ok(())
    }
}
