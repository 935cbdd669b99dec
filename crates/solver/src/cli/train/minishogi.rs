//! `solver train minishogi-value`: a value network for minishogi.

use std::path::PathBuf;

use super::super::context::Context;
use super::{Common, Plan, draw, place};
use yomikiri::error::Error;
use yomikiri::games::shogi::MINISHOGI;
use yomikiri_learn::card::{Card, LearnedFrom, Reading, file, write_whole};
use yomikiri_learn::minishogi::tactics::TestSet;
use yomikiri_learn::options::{AT_ONCE, number};
use yomikiri_learn::recipes::minishogi_value::{MinishogiValue, Settings};
use yomikiri_learn::training_run::{HistoryRow, Learner};

/// Train a value network for minishogi, on mates, then by self-play
///
/// The first iterations are epochs of positions that are mate, or one move before it; the others
/// play games and train on them. The network plays with 'learned:NAME?depth=6,width=4', which
/// searches 6 plies and keeps 4 moves of each position; 'mate=20000' first searches that many
/// positions for a mate by checks. NAME.exam.txt has the positions in which its play is measured at the
/// end: roots for 'solver enumerate --roots', and positions for 'solver report --positions'.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    settings: Settings,
    /// Positions with proven moves, of each of two kinds, to measure its play in at the end
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = number::<usize>(0, AT_ONCE))]
    test_positions: usize,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(Card, PathBuf), Error> {
    let settings = args.settings;
    let game = MINISHOGI.name;
    let place = place(&args.common, "value", game, context)?;
    let mut learner = MinishogiValue::new(settings.clone(), &context.bars)?;
    let plan = Plan {
        recipe: "minishogi-value",
        reading: Reading::Win,
        encoding: None,
        learned_from: LearnedFrom::Nothing,
        equivariant: false,
        architecture: learner.trainer().network.architecture().clone(),
        method: settings.method(),
        settings: serde_json::to_value(&settings)?,
    };
    let run = plan.run(game.to_string(), &args.common, place.clone())?;
    let card = run.run(&mut learner, &context.bars, |learner, history| {
        let Some(history) = history else { return Ok(HistoryRow::new()) };
        draw(&place, history)?;
        let mut row = learner.held_out();
        let tests = TestSet::generate(args.test_positions, settings.seed);
        write_whole(&file(&place, "exam.txt"), tests.to_text().as_bytes())?;
        row.extend(learner.tactics(&tests)?);
        Ok(row)
    });
    Ok((card?, place))
}
