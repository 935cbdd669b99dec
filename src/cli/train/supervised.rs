//! `solver train supervised`.

use std::path::PathBuf;

use clap::ArgAction;
use clap::builder::BoolishValueParser;

use super::super::context::Context;
use super::super::table_args::solved;
use super::{Common, Plan, draw, figures, learn_error, place};
use crate::evaluate::{Judged, Player, PolicyAccuracy, measure};
use crate::game::{Game, Split};
use crate::learn::LearnError;
use crate::learn::card::{Card, LearnedFrom, Reading};
use crate::learn::network::Network;
use crate::learn::recipes::parts::Part;
use crate::learn::recipes::supervised::{Net, Settings, Supervised};
use crate::learn::recipes::{AT_ONCE, UNITS, number};
use crate::learn::training::{Learner, Row};
use crate::policy::{NetworkSpec, Onnx};
use crate::progress::Silent;
use crate::registry::othello;
use crate::solved::Orienting;

/// Supervised learning on a solved table: the best moves and the values
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The board of Othello, rows x columns
    #[arg(long, value_name = "SIZE", default_value = "4")]
    size: String,
    /// The architecture
    #[arg(long, value_enum, default_value = "mlp")]
    net: NetKind,
    /// Units of each hidden layer of an mlp
    #[arg(long, value_name = "UNITS", value_delimiter = ',', default_value = "768,768,768", value_parser = number::<usize>(1, UNITS))]
    hidden: Vec<usize>,
    /// Channels of a residual network
    #[arg(long, value_name = "N", default_value_t = 96, value_parser = number::<usize>(1, UNITS))]
    channels: usize,
    /// Blocks of a residual network
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = number::<usize>(0, 100))]
    blocks: usize,
    /// Epochs [default: 150 for an mlp, else 60]
    #[arg(long, value_name = "N")]
    epochs: Option<u64>,
    /// Batch size, in positions
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = number::<usize>(1, AT_ONCE))]
    batch: usize,
    /// Initial learning rate
    #[arg(long, value_name = "RATE", default_value_t = 0.001)]
    learning_rate: f64,
    /// Weight decay
    #[arg(long, value_name = "DECAY", default_value_t = 0.2)]
    weight_decay: f64,
    /// Tie the weights so that all images of a position get the same answer; hidden units or
    /// channels must be a multiple of the number of the board's symmetries
    #[arg(long, value_name = "YES|NO", default_value = "yes", action = ArgAction::Set,
        hide_possible_values = true, value_parser = BoolishValueParser::new())]
    equivariant: bool,
    /// Dropout rate of the hidden units [default: 0.1 for an mlp, else 0]
    #[arg(long, value_name = "RATE")]
    dropout: Option<f64>,
    /// Weight of the value loss
    #[arg(long, value_name = "WEIGHT", default_value_t = 4.0)]
    value_weight: f64,
    /// Weight of the loss of the moves' scores; 0 leaves that head out
    #[arg(long, value_name = "WEIGHT", default_value_t = 64.0)]
    score_weight: f64,
    /// Share of the training positions to use
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    share: f64,
    /// Share of the positions of each split to measure
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    measured: f64,
    /// Share of positions in the training split
    #[arg(long, value_name = "SHARE", default_value_t = 0.8)]
    train: f64,
    /// Share of positions in the validation split; the others are the test split
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    validation: f64,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum NetKind {
    /// Fully connected hidden layers
    Mlp,
    /// Residual blocks of convolutions
    Residual,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<(Card, PathBuf)> {
    let (net, epochs, dropout) = match args.net {
        NetKind::Mlp => (Net::Mlp { hidden: args.hidden.clone() }, 150, 0.1),
        NetKind::Residual => {
            (Net::Residual { channels: args.channels, blocks: args.blocks }, 60, 0.0)
        }
    };
    let settings = Settings {
        net,
        epochs: args.epochs.unwrap_or(epochs),
        batch: args.batch,
        learning_rate: args.learning_rate,
        weight_decay: args.weight_decay,
        value_weight: args.value_weight,
        score_weight: args.score_weight,
        dropout: args.dropout.unwrap_or(dropout),
        equivariant: args.equivariant,
        share: args.share,
        measured: args.measured,
        seed: args.seed,
        split_seed: 0,
        splits: [args.train, args.validation],
    };
    settings.check().map_err(learn_error)?;
    let game = othello(&args.size)?;
    let Settings { split_seed, splits, share, measured, equivariant, .. } = settings;
    let plan = Plan {
        recipe: "supervised",
        reading: Reading::Policy,
        encoding: Some(settings.encoding(game.shape())),
        learned_from: LearnedFrom::Part { split_seed, splits, share },
        equivariant,
        architecture: settings.architecture(game.shape()),
        method: settings.method(),
        settings: serde_json::to_value(&settings)?,
    };
    let name = place(&args.common, "supervised", &game.name(), context)?;
    let run = plan.run(game.name(), &args.common, name.clone()).map_err(learn_error)?;
    let table = solved(&game, None, args.common.force, context)?;
    let game = table.game();
    let rows = |orienting| Judged::new(&table, orienting);
    let parts = |orienting, train| {
        let shares = [train, measured, measured];
        Part::of_all(&rows(orienting), settings.split(), shares)
            .map_err(|error| learn_error(error.into()))
    };
    let mut once = parts(Orienting::First, share)?;
    let train = &once[Split::Train.index()];
    let learner = Supervised::new(&game.folded(), train, settings.clone());
    let mut learner = learner.map_err(learn_error)?;
    // Measure only training positions that were trained on.
    let seen = measured.min(share);
    once[Split::Train.index()] = train.share(settings.split(), seen);
    let all = parts(Orienting::All, seen)?;
    let metrics =
        Metrics { once: &once, all: &all, images: !equivariant, player: &run.player(game) };
    let card = run.run(&mut learner, &context.bars, |learner, history| {
        let network = &learner.trainer().network;
        let Some(history) = history else { return metrics.quick(network) };
        draw(&name, history)?;
        let mut row = metrics.all(network)?;
        row.insert("training positions".to_string(), learner.examples() as f64);
        Ok(row)
    });
    Ok((card.map_err(learn_error)?, name))
}

/// The exact metrics of a network on the splits of a table.
struct Metrics<'a> {
    once: &'a [Part; 3],
    all: &'a [Part; 3],
    /// Whether images of a position may get different answers.
    images: bool,
    player: &'a dyn Fn(&Network, &NetworkSpec) -> Result<Onnx, LearnError>,
}

impl Metrics<'_> {
    fn on(&self, part: &Part, player: Onnx) -> Result<PolicyAccuracy, LearnError> {
        let players = [Player::Policy(Box::new(player))];
        let mut measured = measure(part, None, &players, None, &Silent)?;
        Ok(measured.policies.swap_remove(0))
    }

    /// During training: every row once.
    fn quick(&self, network: &Network) -> Result<Row, LearnError> {
        let mut row = Row::new();
        for split in [Split::Train, Split::Test] {
            let player = (self.player)(network, &NetworkSpec::default())?;
            let found = self.on(&self.once[split.index()], player)?;
            figures(&format!("{}: ", split.name()), &found, &mut row);
        }
        Ok(row)
    }

    /// At the end: every actual position; with the answers of all images averaged, if they may
    /// differ; and one ply ahead by value.
    fn all(&self, network: &Network) -> Result<Row, LearnError> {
        let mut row = Row::new();
        let own = NetworkSpec::default();
        let symmetric = NetworkSpec { symmetric: self.images, ..own.clone() };
        let by_value = NetworkSpec { plies: Some(1), ..symmetric.clone() };
        for split in Split::ALL {
            let (once, all) = (&self.once[split.index()], &self.all[split.index()]);
            let on = |part, spec| self.on(part, (self.player)(network, spec)?);
            let mut measured = vec![("", on(all, &own)?)];
            if self.images {
                measured.push((", all images", on(once, &symmetric)?));
            }
            measured.push((", one ply by value", on(once, &by_value)?));
            for (how, found) in measured {
                figures(&format!("{}{how}: ", split.name()), &found, &mut row);
            }
        }
        Ok(row)
    }
}
