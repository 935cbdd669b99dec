//! `solver train`: training of networks.

mod minishogi;
mod play;
mod supervised;
mod tabular;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use serde::Serialize;

use super::context::Context;
use super::error::UserError;
use super::players::policies_dir;
use crate::evaluate::PolicyAccuracy;
use crate::learn::LearnError;
use crate::learn::card::{Card, Inputs, Reading, SCHEMA, SCHEMA_VERSION, file, write_whole};
use crate::learn::features::Features;
use crate::learn::network::{Network, Parameter};
use crate::learn::optimiser::Method;
use crate::learn::recipes::number;
use crate::learn::trainer::Trainer;
use crate::learn::training::{self, Learner, Place, Row};
use crate::progress::Progress;
use crate::render::history;

/// Train a network and write its weights, a card, and an ONNX model
///
/// NAME.safetensors has the weights, NAME.json the architecture, the settings and the metrics,
/// NAME.onnx is for other programs, NAME.svg plots the metrics. Give the same command again to
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
}

/// The options of every recipe.
#[derive(Debug, clap::Args)]
struct Common {
    /// Where to write, without an ending [default: policies/RECIPE-GAME beside the tables]
    #[arg(long, value_name = "NAME")]
    out: Option<PathBuf>,
    /// Measure after every N iterations (epochs, or games and the fit to them)
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = number::<u64>(1, u64::MAX))]
    every: u64,
    /// Least time between two checkpoints
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    checkpoint: u64,
    /// Train even if the network is there, and replace it
    #[arg(long)]
    force: bool,
}

impl Common {
    /// Where the training run writes.
    fn at<'a>(&self, name: &'a Path) -> Place<'a> {
        Place { name, between: Duration::from_secs(self.checkpoint) }
    }
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let (card, place) = match args.recipe {
        Recipe::Tabular(args) => return tabular::run(args, context),
        Recipe::Supervised(args) => supervised::run(args, context),
        Recipe::Td(args) => play::td(args, context),
        Recipe::DiscRegression(args) => play::discs(args, context),
        Recipe::Dqn(args) => play::dqn(args, context),
        Recipe::QMlp(args) => play::q_mlp(args, context),
        Recipe::MinishogiValue(args) => minishogi::run(args, context),
    }?;
    print(&card, &place, context)?;
    Ok(ExitCode::SUCCESS)
}

/// Plots the history, if it has anything to plot.
fn draw(place: &Path, rows: &[Row]) -> Result<(), LearnError> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    match history(&format!("{name}: training history"), rows) {
        Some(svg) => write_whole(&file(place, "svg"), svg.as_bytes()),
        None => Ok(()),
    }
}

fn learn_error(error: LearnError) -> anyhow::Error {
    match error {
        LearnError::Measure(error) => error.into(),
        LearnError::Policy(error) => error.into(),
        error if error.is_bad_input() => UserError::from_error(error).into(),
        error => error.into(),
    }
}

/// Where a network is to be written; fails if one is there and is not to be replaced.
fn place(
    common: &Common,
    recipe: &str,
    game: &str,
    context: &Context,
) -> Result<PathBuf, UserError> {
    let place = common
        .out
        .clone()
        .unwrap_or_else(|| policies_dir(&context.store).join(format!("{recipe}-{game}")));
    let card = file(&place, "json");
    if card.exists() && !common.force {
        return Err(UserError::new(format!("{} is there already", card.display()))
            .with_hint("add --force to replace it, or choose another --out"));
    }
    Ok(place)
}

/// The JSON.
#[derive(Serialize)]
struct Trained<'a> {
    /// Its files without their endings.
    network: String,
    card: &'a Card,
}

fn print(card: &Card, place: &Path, context: &mut Context) -> anyhow::Result<()> {
    if context.json {
        let network = place.display().to_string();
        return context.json("train", &Trained { network, card });
    }
    context.line(format!("{}: trained by {}", file(place, "json").display(), card.recipe))?;
    for (name, value) in &card.results {
        context.line(format!("{name:<40} {value:>10.4}"))?;
    }
    Ok(())
}

/// A card before the first iteration.
fn new_card(
    (recipe, game, features, reading): (&str, &str, Inputs, Reading),
    learner: &impl Learner,
    settings: serde_json::Value,
) -> Card {
    Card {
        schema: SCHEMA.to_string(),
        schema_version: SCHEMA_VERSION,
        recipe: recipe.to_string(),
        game: game.to_string(),
        features,
        reading,
        network: learner.trainer().network.architecture().clone(),
        settings,
        history: Vec::new(),
        results: Row::new(),
        yomikiri: env!("CARGO_PKG_VERSION").to_string(),
        weights_crc32: String::new(),
    }
}

/// What to train: the facts of the card before the first iteration.
struct Training<'a> {
    recipe: &'a str,
    game: String,
    features: Features,
    reading: Reading,
    method: Method,
    settings: serde_json::Value,
    place: Place<'a>,
    every: u64,
}

/// Measures a network, during training (`false`) or at its end (`true`).
type Evaluate<'a> = &'a dyn Fn(&Network, bool) -> Result<Row, LearnError>;

impl Training<'_> {
    /// Trains, measures and writes.
    fn run(
        self,
        learner: impl Learner,
        evaluate: Evaluate<'_>,
        progress: &dyn Progress,
    ) -> anyhow::Result<Card> {
        let inputs = Inputs::Squares(self.features);
        let of = (self.recipe, self.game.as_str(), inputs, self.reading);
        let mut card = new_card(of, &learner, self.settings);
        let mut evaluated = Evaluated { learner, every: self.every, evaluate };
        let place = self.place;
        training::run(
            &mut evaluated,
            self.method,
            place,
            &mut card,
            progress,
            |evaluated, rows| {
                draw(place.name, rows)?;
                evaluate(&evaluated.trainer().network, true)
            },
        )
        .map_err(learn_error)?;
        Ok(card)
    }
}

/// A learner that is measured after every few iterations.
struct Evaluated<'a, L> {
    learner: L,
    every: u64,
    evaluate: Evaluate<'a>,
}

impl<L: Learner> Learner for Evaluated<'_, L> {
    fn iterations(&self) -> u64 {
        self.learner.iterations()
    }

    fn trainer(&self) -> &Trainer {
        self.learner.trainer()
    }

    fn trainer_mut(&mut self) -> &mut Trainer {
        self.learner.trainer_mut()
    }

    fn iterate(&mut self, iteration: u64, progress: &dyn Progress) -> Result<Row, LearnError> {
        let mut row = self.learner.iterate(iteration, progress)?;
        if (iteration + 1).is_multiple_of(self.every) {
            row.extend((self.evaluate)(&self.trainer().network, false)?);
        }
        Ok(row)
    }

    fn state(&self) -> Vec<Parameter> {
        self.learner.state()
    }

    fn restore(&mut self, state: Vec<Parameter>) -> Option<()> {
        self.learner.restore(state)
    }
}

/// The figures of a network on a table, by name.
fn figures(name: &str, found: &PolicyAccuracy, row: &mut Row) {
    let total = &found.total;
    let decisive = total.decisive_score;
    let numbers = [
        ("best outcome", total.all.optimal_by_outcome()),
        ("best score", total.all.optimal_by_score()),
        ("best outcome, decisive", total.decisive_outcome.optimal_by_outcome()),
        ("best score, decisive", decisive.and_then(|of| of.optimal_by_score())),
    ];
    for (what, number) in numbers {
        if let Some(number) = number {
            row.insert(format!("{name}{what}"), number);
        }
    }
}
