//! `solver train`: networks that learn.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;

use super::context::Context;
use super::error::UserError;
use super::players::policies_dir;
use super::position::is_folded;
use super::report::{Asked, Timeout, opened, unsolved};
use super::train_minishogi;
use crate::evaluate::{LayeredRows, Orienting, Player, PolicyAccuracy, Source, measure};
use crate::export::Split;
use crate::game::{Cyclic, GameSpec, GameVisitor, Layered};
use crate::graph::Graph;
use crate::learn::LearnError;
use crate::learn::card::{Card, Inputs, Reading, SCHEMA, SCHEMA_VERSION, file};
use crate::learn::course::{self, Learner, Row};
use crate::learn::features::Features;
use crate::learn::player::Learned;
use crate::learn::recipes::supervised::{Net, OfSplit, Settings, Supervised};
use crate::progress::Silent;
use crate::solve::Solved;
use crate::table::Table;

/// Train a network and write its weights, a card, and an ONNX model
///
/// NAME.safetensors holds the weights, NAME.json says what they are and how they were trained, NAME.onnx
/// is for use elsewhere. A course that is cut off goes on where it was when the same command is given
/// again. Measure the network with 'solver report --policy learned:NAME'.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    recipe: Recipe,
}

#[derive(Debug, Subcommand)]
enum Recipe {
    Supervised(SupervisedArgs),
    MinishogiValue(train_minishogi::Args),
}

/// What every recipe is told.
#[derive(Debug, clap::Args)]
pub(super) struct Common {
    /// Where to write, without an ending [default: policies/RECIPE-GAME beside the tables]
    #[arg(long, value_name = "NAME")]
    out: Option<PathBuf>,
    /// From this everything random is drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,
    /// Train anew even if the network is there
    #[arg(long)]
    force: bool,
}

/// Learn from a solved table which moves are the best and who wins
#[derive(Debug, clap::Args)]
struct SupervisedArgs {
    /// The board, as rows x columns or the side of a square
    #[arg(long, value_name = "ROWSxCOLUMNS", default_value = "4")]
    size: String,
    /// What the network is built of
    #[arg(long, value_enum, default_value = "mlp")]
    net: NetKind,
    /// The units of each hidden layer of an mlp
    #[arg(long, value_name = "UNITS", value_delimiter = ',', default_value = "256,256")]
    hidden: Vec<usize>,
    /// The planes of a residual network's layers
    #[arg(long, value_name = "N", default_value_t = 32)]
    channels: usize,
    /// The blocks of a residual network
    #[arg(long, value_name = "N", default_value_t = 3)]
    blocks: usize,
    /// How often every position is shown
    #[arg(long, value_name = "N", default_value_t = 100)]
    rounds: u64,
    /// How many positions a step sees
    #[arg(long, value_name = "N", default_value_t = 256)]
    batch: usize,
    /// The size of the first steps
    #[arg(long, value_name = "RATE", default_value_t = 0.001)]
    rate: f64,
    /// The decay of weights
    #[arg(long, value_name = "DECAY", default_value_t = 0.01)]
    decay: f64,
    /// Which share of the training positions to use
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    share: f64,
    /// The shares of training and validation positions, the others being for the test
    #[arg(
        long,
        value_name = "SHARES",
        value_delimiter = ',',
        num_args = 2,
        default_value = "0.8,0.1"
    )]
    splits: Vec<f64>,
    /// Measure on training and test positions each time so many rounds are over
    #[arg(long, value_name = "N", default_value_t = 10)]
    every: u64,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    timeout: Timeout,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum NetKind {
    /// Hidden layers of which every unit sees the whole layer before
    Mlp,
    /// Residual blocks of convolutions
    Residual,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    match args.recipe {
        Recipe::Supervised(args) => supervised(args, context),
        Recipe::MinishogiValue(args) => train_minishogi::run(args, context),
    }
}

pub(super) fn learn_error(error: LearnError) -> anyhow::Error {
    if error.is_bad_input() { UserError::from_error(error).into() } else { error.into() }
}

/// Where a network is to be written; fails if one is there and is not to be replaced.
pub(super) fn place(
    common: &Common,
    recipe: &str,
    game: GameSpec,
    context: &Context,
) -> Result<PathBuf, UserError> {
    let place = common
        .out
        .clone()
        .unwrap_or_else(|| policies_dir(&context.store).join(format!("{recipe}-{game}")));
    let card = file(&place, "json");
    if card.exists() && !common.force {
        return Err(UserError::new(format!(
            "{} is there already; add --force to train it anew, or choose another --out",
            card.display()
        )));
    }
    Ok(place)
}

fn supervised(args: SupervisedArgs, context: &mut Context) -> anyhow::Result<ExitCode> {
    let net = match args.net {
        NetKind::Mlp => Net::Mlp { hidden: args.hidden.clone() },
        NetKind::Residual => Net::Residual { channels: args.channels, blocks: args.blocks },
    };
    let settings = Settings {
        net,
        rounds: args.rounds,
        batch: args.batch,
        rate: args.rate,
        decay: args.decay,
        share: args.share,
        seed: args.common.seed,
        split_seed: 0,
        splits: [args.splits[0], args.splits[1]],
    };
    let asked = Asked {
        policies: &[],
        timeout: &args.timeout,
        table: None,
        game: None,
        size: Some(&args.size),
        force: args.common.force,
    };
    let (table, spec, _) = opened(&asked, context)?;
    let place = place(&args.common, "supervised", spec, context)?;
    let every = args.every;
    let visitor = Learn { table: &table, settings, place: &place, every, context };
    let card = spec.with_rules(is_folded(&table), visitor)?;
    told(&card, &place, context)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn told(card: &Card, place: &Path, context: &mut Context) -> anyhow::Result<()> {
    if context.json {
        return context.json(card);
    }
    context.line(format!("{}: trained by {}", file(place, "json").display(), card.recipe))?;
    for (name, value) in &card.results {
        context.line(format!("{name:<40} {value:.4}"))?;
    }
    Ok(())
}

struct Learn<'a> {
    table: &'a Table,
    settings: Settings,
    place: &'a Path,
    every: u64,
    context: &'a Context,
}

impl GameVisitor for Learn<'_> {
    type Output = anyhow::Result<Card>;

    fn layered<G: Layered>(self, game: G) -> anyhow::Result<Card> {
        let Learn { table, settings, place, every, context } = self;
        let graph = Graph::open_checked(table)?;
        let solved = Solved::open_checked(table)?.ok_or_else(|| unsolved(table))?;
        let rows = |orienting| LayeredRows::new(&game, &graph, &solved, orienting);
        let once = rows(Orienting::First);
        let learner = Supervised::new(game.with_folding(true), &once, settings.clone());
        let learner = learner.map_err(learn_error)?;
        let mut card = Card {
            schema: SCHEMA.to_string(),
            schema_version: SCHEMA_VERSION,
            recipe: "supervised".to_string(),
            game: game.spec().to_string(),
            features: Inputs::Squares(Features::Planes),
            reading: Reading::Policy,
            network: learner.trainer().network.architecture().clone(),
            settings: serde_json::to_value(&settings)?,
            history: Vec::new(),
            results: Row::new(),
            yomikiri: env!("CARGO_PKG_VERSION").to_string(),
            weights_crc32: String::new(),
        };
        let exam =
            Exam { game: &game, once: &once, all: &rows(Orienting::All), settings: &settings };
        let mut learner = Examined { learner, every, exam };
        let method = settings.method();
        course::run(&mut learner, method, place, &mut card, &context.bars, |learner| {
            let examples = learner.learner.examples() as f64;
            let mut row = learner.exam.all(learner.trainer())?;
            row.insert("training positions".to_string(), examples);
            Ok(row)
        })
        .map_err(learn_error)?;
        Ok(card)
    }

    fn cyclic<G: Cyclic>(self, game: G) -> anyhow::Result<Card> {
        Err(UserError::new(format!("train knows no network for {}", game.spec())).into())
    }
}

/// The exact measure of a network on a table.
struct Exam<'a, G, S> {
    game: &'a G,
    once: &'a S,
    all: &'a S,
    settings: &'a Settings,
}

impl<G: Layered, S: Source<G>> Exam<'_, G, S> {
    fn player(&self, trainer: &crate::learn::trainer::Trainer) -> Learned {
        let network = trainer.network.clone();
        Learned::new("network".to_string(), network, Features::Planes, Reading::Policy)
    }

    fn on(&self, source: &S, wanted: Split, player: Learned) -> Result<PolicyAccuracy, LearnError> {
        let splits = self.settings.split();
        let part = OfSplit { game: self.game, source, splits, wanted };
        let players = [Player::Policy(Box::new(player))];
        let mut measured = measure(self.game, &part, &players, None, &Silent)?;
        Ok(measured.policies.swap_remove(0))
    }

    /// While it learns: every row once.
    fn quick(&self, trainer: &crate::learn::trainer::Trainer) -> Result<Row, LearnError> {
        let mut row = Row::new();
        for split in [Split::Train, Split::Test] {
            let found = self.on(self.once, split, self.player(trainer))?;
            figures(split.name(), &found, &mut row);
        }
        Ok(row)
    }

    /// At the end: every actual position, and with the answers of all images averaged.
    fn all(&self, trainer: &crate::learn::trainer::Trainer) -> Result<Row, LearnError> {
        let mut row = Row::new();
        for split in Split::ALL {
            let found = self.on(self.all, split, self.player(trainer))?;
            figures(split.name(), &found, &mut row);
            let found = self.on(self.once, split, self.player(trainer).symmetric(true))?;
            figures(&format!("{} (all images)", split.name()), &found, &mut row);
        }
        Ok(row)
    }
}

fn figures(name: &str, found: &PolicyAccuracy, row: &mut Row) {
    let total = &found.total;
    let numbers = [
        ("best outcome", total.all.optimal_by_outcome()),
        ("best score", total.all.optimal_by_score()),
        ("best outcome, decisive", total.decisive_outcome.optimal_by_outcome()),
        ("best score, decisive", total.decisive_score.and_then(|of| of.optimal_by_score())),
    ];
    for (what, number) in numbers {
        if let Some(number) = number {
            row.insert(format!("{name}: {what}"), number);
        }
    }
}

/// A learner that is measured now and then.
struct Examined<'a, G: Layered, S> {
    learner: Supervised<G>,
    every: u64,
    exam: Exam<'a, G, S>,
}

impl<G: Layered, S: Source<G>> Learner for Examined<'_, G, S> {
    fn rounds(&self) -> u64 {
        self.learner.rounds()
    }

    fn trainer(&self) -> &crate::learn::trainer::Trainer {
        self.learner.trainer()
    }

    fn trainer_mut(&mut self) -> &mut crate::learn::trainer::Trainer {
        self.learner.trainer_mut()
    }

    fn round(
        &mut self,
        round: u64,
        progress: &dyn crate::progress::Progress,
    ) -> Result<Row, LearnError> {
        let mut row = self.learner.round(round, progress)?;
        row.insert("round".to_string(), (round + 1) as f64);
        if (round + 1).is_multiple_of(self.every) {
            row.extend(self.exam.quick(self.learner.trainer())?);
        }
        Ok(row)
    }
}
