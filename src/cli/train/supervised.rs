//! `solver train supervised`.

use std::path::PathBuf;

use clap::ArgAction;
use clap::builder::BoolishValueParser;

use super::super::context::Context;
use super::super::table_args::solved;
use super::{Common, Training, figures, learn_error, place};
use crate::evaluate::{Judged, Player, PolicyAccuracy, measure};
use crate::game::{Game, Split};
use crate::learn::LearnError;
use crate::learn::card::{Card, Reading};
use crate::learn::features::Features;
use crate::learn::network::Network;
use crate::learn::player::Learned;
use crate::learn::recipes::parts::Part;
use crate::learn::recipes::supervised::{Net, Settings, Supervised};
use crate::learn::recipes::{AT_ONCE, UNITS, check_size, number};
use crate::learn::training::{Place, Row};
use crate::progress::Silent;
use crate::registry::othello;
use crate::solved::{Orienting, SolvedTable};

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
    check_size(&settings.architecture(game.shape())).map_err(learn_error)?;
    let table = solved(&game, None, args.common.force, context)?;
    let place = place(&args.common, "supervised", &table.game().name(), context)?;
    let card = learn(&table, settings, args.common.at(&place), args.common.every, context)?;
    Ok((card, place))
}

fn learn(
    table: &SolvedTable,
    settings: Settings,
    place: Place<'_>,
    every: u64,
    context: &Context,
) -> anyhow::Result<Card> {
    let game = table.game();
    let rows = |orienting| Judged::new(table, orienting);
    let folded = game.folded();
    let Settings { share, measured, .. } = settings;
    let parts = |orienting, train| {
        let shares = [train, measured, measured];
        Part::of_all(&rows(orienting), settings.split(), shares)
            .map_err(|error| learn_error(error.into()))
    };
    let mut once = parts(Orienting::First, share)?;
    let train = &once[Split::Train.index()];
    let learner = Supervised::new(&folded, train, settings.clone());
    let learner = learner.map_err(learn_error)?;
    // Measure only training positions that were trained on.
    let seen = measured.min(share);
    once[Split::Train.index()] = train.share(settings.split(), seen);
    let all = parts(Orienting::All, seen)?;
    let examples = learner.examples() as f64;
    let metrics = Metrics { once: &once, all: &all, images: !settings.equivariant };
    let evaluate = |network: &Network, last: bool| {
        if !last {
            return metrics.quick(network);
        }
        let mut row = metrics.all(network)?;
        row.insert("training positions".to_string(), examples);
        Ok(row)
    };
    let training = Training {
        recipe: "supervised",
        game: game.name(),
        features: Features::Planes,
        reading: Reading::Policy,
        method: settings.method(),
        settings: serde_json::to_value(&settings)?,
        place,
        every,
    };
    training.run(learner, &evaluate, &context.bars)
}

/// The exact metrics of a network on the splits of a table.
struct Metrics<'a> {
    once: &'a [Part; 3],
    all: &'a [Part; 3],
    /// Whether images of a position may get different answers.
    images: bool,
}

impl Metrics<'_> {
    fn player(&self, network: &Network) -> Result<Learned, LearnError> {
        let name = "network".to_string();
        Ok(Learned::new(name, network, Features::Planes, Reading::Policy)?)
    }

    fn on(&self, part: &Part, player: Learned) -> Result<PolicyAccuracy, LearnError> {
        let players = [Player::Policy(Box::new(player))];
        let mut measured = measure(part, None, &players, None, &Silent)?;
        Ok(measured.policies.swap_remove(0))
    }

    /// During training: every row once.
    fn quick(&self, network: &Network) -> Result<Row, LearnError> {
        let mut row = Row::new();
        let player = self.player(network)?;
        for split in [Split::Train, Split::Test] {
            let found = self.on(&self.once[split.index()], player.clone())?;
            figures(&format!("{}: ", split.name()), &found, &mut row);
        }
        Ok(row)
    }

    /// At the end: every actual position; with the answers of all images averaged, if they may
    /// differ; and one ply ahead by value.
    fn all(&self, network: &Network) -> Result<Row, LearnError> {
        let mut row = Row::new();
        let own = self.player(network)?;
        for split in Split::ALL {
            let (once, all) = (&self.once[split.index()], &self.all[split.index()]);
            let player = || own.clone().symmetric(self.images);
            let mut measured = vec![("", self.on(all, own.clone())?)];
            if self.images {
                measured.push((", all images", self.on(once, player())?));
            }
            measured.push((", one ply by value", self.on(once, player().plies(Some(1)))?));
            for (how, found) in measured {
                figures(&format!("{}{how}: ", split.name()), &found, &mut row);
            }
        }
        Ok(row)
    }
}
