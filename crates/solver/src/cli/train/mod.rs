//! `solver train`: training of networks.

pub(super) mod evaluation;
mod minishogi;
mod play;
mod supervised;
pub(super) mod tabular;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Subcommand;
use serde::Serialize;

use super::context::Context;
use super::players::policies_dir;
use yomikiri::error::Error;
use yomikiri::games::othello::Othello;
use yomikiri::output::OutputFile;
use yomikiri::rules::Rules;
use yomikiri::rules::encode::{Encoding, Plane};
use yomikiri::table::IoContext;
use yomikiri_learn::card::{Card, LearnedFrom, Reading, Training, file, write_whole};
use yomikiri_learn::network::Architecture;
use yomikiri_learn::optimiser::OptimiserMethod;
use yomikiri_learn::options::{COUNT, number};
use yomikiri_learn::recipes::check_size;
use yomikiri_learn::training_run::{HistoryRow, TrainingRun, is_interrupted};
use yomikiri_measure::judge::PolicyAccuracy;
use yomikiri_measure::render::history;

/// Train a network and write it as an ONNX model with a card
///
/// NAME.onnx is the network, NAME.json says how it is read, how it was trained and what it reaches,
/// NAME.csv has the metrics of each iteration, NAME.svg plots them. Give the same command again to
/// resume a training run that was interrupted. Measure the network with 'solver report --policy
/// learned:NAME'.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    recipe: Recipe,
}

#[derive(Debug, Subcommand)]
enum Recipe {
    Supervised(supervised::Args),
    Td(play::TdArgs),
    DiscRegression(play::DiscsArgs),
    Dqn(play::DqnArgs),
    QMlp(play::QMlpArgs),
    MinishogiValue(minishogi::Args),
    Tabular(tabular::Args),
    Evaluation(evaluation::Args),
}

/// Board of Othello, named by the first word of a recipe.
#[derive(Debug, clap::Args)]
struct SizeArg {
    /// Board of Othello, rows x columns; without it 4x4
    #[arg(value_name = "SIZE", conflicts_with = "size")]
    word: Option<String>,
    /// Size: the same as the first word
    #[arg(long, value_name = "SIZE", alias = "game", hide = true)]
    size: Option<String>,
}

impl SizeArg {
    /// Returns the game.
    fn game(&self, context: &Context) -> Result<Arc<dyn Rules>, Error> {
        let word = self.word.as_ref().or(self.size.as_ref()).map_or("othello-4x4", String::as_str);
        let game = context.games.meant(word)?;
        if game.typed::<Othello>().is_none() {
            return Err(Error::new(
                format!("`{word}` is not a board of Othello"),
                "give a size such as 4x5",
            ));
        }
        Ok(game)
    }
}

/// Options of every recipe.
#[derive(Debug, clap::Args)]
struct Common {
    /// Output without an ending [default: policies/RECIPE-GAME beside the tables]
    #[arg(long, value_name = "NAME")]
    out: Option<PathBuf>,
    /// Measure after every N iterations (epochs, or games and the fit to them)
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = number::<u64>(1, COUNT), hide_short_help = true)]
    every: u64,
    /// Least time between two checkpoints
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = number::<u64>(0, COUNT), hide_short_help = true)]
    checkpoint: u64,
    /// Train even if the network is there, and replace it
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let (card, place) = match args.recipe {
        Recipe::Tabular(args) => return tabular::run(args, context),
        Recipe::Evaluation(args) => return evaluation::run(args, context),
        Recipe::Supervised(args) => supervised::run(args, context),
        Recipe::Td(args) => play::td(args, context),
        Recipe::DiscRegression(args) => play::discs(args, context),
        Recipe::Dqn(args) => play::dqn(args, context),
        Recipe::QMlp(args) => play::q_mlp(args, context),
        Recipe::MinishogiValue(args) => minishogi::run(args, context),
    }?;
    print(&card, &place, context)
}

/// Plots the history, if it has anything to plot.
fn draw(place: &Path, rows: &[HistoryRow]) -> Result<(), Error> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    match history(&format!("{name}: training history"), rows) {
        Some(svg) => write_whole(&file(place, "svg"), svg.as_bytes()),
        None => Ok(()),
    }
}

/// Returns the place of a new network; fails if it is taken, unless it may be replaced.
fn place(common: &Common, recipe: &str, game: &str, context: &Context) -> Result<PathBuf, Error> {
    let place = common
        .out
        .clone()
        .unwrap_or_else(|| policies_dir(&context.store).join(format!("{recipe}-{game}")));
    // An interrupted run has files there too.
    let may_replace = common.force || is_interrupted(&place);
    check_free(&place, &["json", "onnx", "csv", "svg", "exam.txt"], may_replace)?;
    Ok(place)
}

/// Checks that files of these endings can be written; fails if one is there that may not be replaced.
fn check_free(place: &Path, endings: &[&str], may_replace: bool) -> Result<(), Error> {
    if let Some(dir) = place.parent() {
        fs::create_dir_all(dir).at("create", dir)?;
    }
    for ending in endings {
        let path = file(place, ending);
        if path.symlink_metadata().is_ok() && !may_replace {
            let what = format!("{} exists already", path.display());
            return Err(Error::new(what, "add --force to replace it, or choose another --out"));
        }
        OutputFile::beside(&path).at("write", &path)?;
    }
    Ok(())
}

/// The JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct Trained<'a> {
    /// Its files without their endings.
    network: String,
    /// The card, as it lies beside the network: docs/results/learned.md.
    #[cfg_attr(feature = "schemas", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    card: &'a Card,
}

fn print(card: &Card, place: &Path, context: &mut Context) -> Result<(), Error> {
    let output = Trained { network: place.display().to_string(), card };
    context.show("train", &output, |Trained { card, .. }| {
        let recipe = card.training["recipe"].as_str().unwrap_or_default();
        let mut text = format!("{}: trained by {recipe}\n", file(place, "json").display());
        for (name, value) in card.training["results"].as_object().into_iter().flatten() {
            text += &format!("{name:<40} {:>10.4}\n", value.as_f64().unwrap_or_default());
        }
        text
    })
}

/// Plan of a training run.
struct Plan {
    recipe: &'static str,
    reading: Reading,
    /// Layout of positions; in minishogi they are 361 numbers.
    encoding: Option<Encoding>,
    learned_from: LearnedFrom,
    equivariant: bool,
    architecture: Architecture,
    method: OptimiserMethod,
    settings: serde_json::Value,
}

impl Plan {
    /// The training run for a game.
    fn run(self, game: String, common: &Common, name: PathBuf) -> Result<TrainingRun, Error> {
        check_size(&self.architecture)?;
        let mut card = Card::new(game, self.reading);
        if let Some(Encoding { layout, planes, .. }) = &self.encoding {
            let list = planes.iter().map(Plane::to_string).collect::<Vec<_>>().join("+");
            card.layout = Some(*layout);
            card.planes = (planes != layout.planes()).then_some(list);
        }
        card.equivariant = self.equivariant;
        card.learned_from = Some(self.learned_from);
        let inputs = vec![self.architecture.inputs()];
        Ok(TrainingRun {
            name,
            between: Duration::from_secs(common.checkpoint),
            every: common.every,
            method: self.method,
            shape: self.encoding.map_or(inputs, |encoding| encoding.shape),
            card,
            training: Training::new(self.recipe, self.architecture, self.settings),
        })
    }
}

/// The figures of a network on a table, by name.
fn figures(name: &str, found: &PolicyAccuracy, row: &mut HistoryRow) {
    let total = &found.total;
    let decisive = total.decisive_score;
    let numbers = [
        ("best outcome", total.all.result_kept()),
        ("best score", total.all.score_kept()),
        ("best outcome, decisive", total.decisive_result.result_kept()),
        ("best score, decisive", decisive.and_then(|of| of.score_kept())),
    ];
    for (what, number) in numbers {
        if let Some(number) = number {
            row.insert(format!("{name}{what}"), number);
        }
    }
}
