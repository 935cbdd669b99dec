//! `solver train evaluation`: patterns that order the moves of Othello's search.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use super::super::context::Context;
use super::super::output;
use super::SizeArg;
use yomikiri::error::Error;
use yomikiri::games::othello::search::{Evaluation, TrainOptions};
use yomikiri::input;
use yomikiri::table::IoContext;
use yomikiri_measure::render::number::{thousands, took};

/// Patterns that order the moves of 'solver solve', fitted to endgames that the search solves
///
/// Scores do not depend on them, only the time to find them. The same seed gives the same file to the byte.
/// Patterns of 6x6 and 8x8 are built in.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    size: SizeArg,
    /// File to write; its card is FILE.json
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Positions of each stage of the game, of 4 empty squares
    #[arg(long, value_name = "N", default_value_t = 100_000,
        value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    positions: u32,
    /// Seed of the positions
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

/// Card of an evaluation, beside its file.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct Card {
    /// The file.
    file: String,
    /// The game.
    game: String,
    /// Version of the program that trained it.
    version: &'static str,
    /// Positions of each stage.
    positions: u32,
    /// Seed of the positions.
    seed: u64,
    /// Root mean square error in discs on positions that were held back, for each stage from the end of the game: the
    /// fewest empty squares, and the error.
    errors: Vec<(u32, f64)>,
    /// Bytes of the file.
    bytes: u64,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let Args { size, out, positions, seed } = args;
    let game = size.game(context)?;
    let (rows, columns) = game.shape();
    if rows * columns < 25 {
        let what = format!("{} is too small for patterns", game.name());
        return Err(Error::new(what, "give 5x5 or more"));
    }
    let card_place = out.with_added_extension("json");
    if card_place.symlink_metadata().is_ok() && !is_card(&card_place) {
        let what = format!("{} is not the card of an evaluation", card_place.display());
        return Err(Error::new(what, "move it away, or choose another --out"));
    }
    output::check(&out)?;
    let began = Instant::now();
    let options = TrainOptions { seed, positions: positions as usize };
    let mut errors = Vec::new();
    let evaluation = Evaluation::train(rows, columns, options, &mut |progress| {
        let (empties, error) = (progress.empties, progress.error);
        let took = took(began.elapsed().as_secs_f64());
        context.remark(format!(
            "round {}, from {empties} empty squares: off by {error:.2} discs ({took})",
            progress.round + 1
        ));
        errors.retain(|&(known, _)| known != empties);
        errors.push((empties, error));
    });
    let bytes = evaluation.to_bytes();
    output::write(&out, &bytes)?;
    let card = Card {
        file: out.display().to_string(),
        game: game.name(),
        version: env!("CARGO_PKG_VERSION"),
        positions,
        seed,
        errors,
        bytes: bytes.len() as u64,
    };
    let text = serde_json::to_string_pretty(&card)? + "\n";
    yomikiri::output::replace(&card_place, text.as_bytes()).at("write", &card_place)?;
    context.show("train-evaluation", &card, |card| {
        format!("{}: {} bytes, for 'solver solve --evaluation'\n", card.file, thousands(card.bytes))
    })
}

/// Returns whether a file is a card that this command wrote.
fn is_card(path: &Path) -> bool {
    let card = (!path.is_symlink()).then(|| input::file(path, input::TEXT).ok()).flatten();
    let card = card.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    card.is_some_and(|card| card["file"].is_string() && card["errors"].is_array())
}
