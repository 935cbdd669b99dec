//! `solver perft`: lines of play by depth.

use std::process::ExitCode;

use serde::Serialize;

use super::context::Context;
use crate::game::perft::{perft, perft_shared};
use crate::game::{Cyclic, Game, GameSpec, GameVisitor, Layered};
use crate::render::Grid;
use crate::render::number::thousands;

/// Count the lines of play to a depth (a pass is a ply, a finished game counts 1 at every depth)
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The board, rows x columns, each 4 to 8
    #[arg(long, value_name = "SIZE", default_value = "8")]
    size: String,
    /// How many plies
    #[arg(long, value_name = "PLIES", default_value_t = 9)]
    depth: u32,
    /// Begin here instead of at the standard start
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    root: Option<String>,
    /// Count one by one on one thread, without remembering states
    #[arg(long)]
    plain: bool,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    GameSpec::othello(&args.size)?.with_rules(true, Perft { args: &args, context })?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Output {
    game: String,
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
        self.count(game)
    }

    fn cyclic<G: Cyclic>(self, game: G) -> anyhow::Result<()> {
        self.count(game)
    }
}

impl Perft<'_> {
    fn count<G: Game>(self, game: G) -> anyhow::Result<()> {
        let Perft { args, context } = self;
        let root = match &args.root {
            Some(text) => game.parse_position(text, &game.start())?,
            None => game.start(),
        };
        let count = |depth| match args.plain {
            true => perft(&game, &root.state, depth),
            false => perft_shared(&game, &root.state, depth),
        };
        let counts: Vec<u64> = (1..=args.depth).map(count).collect();
        if context.json {
            return context.json(&Output {
                game: game.spec().to_string(),
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
