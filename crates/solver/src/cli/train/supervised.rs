//! `solver train supervised`.

use std::path::PathBuf;

use super::super::context::Context;
use super::super::ensure_solved::ensure_solved;
use super::{Common, Plan, SizeArg, draw, figures, place};
use yomikiri::error::Error;
use yomikiri::oracle::Orienting;
use yomikiri::progress::Silent;
use yomikiri::rules::Split;
use yomikiri_learn::card::{Card, LearnedFrom, Reading};
use yomikiri_learn::network::Network;
use yomikiri_learn::recipes::parts::SplitPart;
use yomikiri_learn::recipes::supervised::{Settings, Supervised};
use yomikiri_learn::training_run::{HistoryRow, Learner};
use yomikiri_measure::judge::{Player, PolicyAccuracy, TablePositions, measure};
use yomikiri_measure::policy::{Onnx, ReadingSpec};

/// Supervised learning on a solved table: the best moves and the values
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    size: SizeArg,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(Card, PathBuf), Error> {
    let settings = args.settings.settled()?;
    let game = args.size.game(context)?;
    let Settings { train, validation, share, measured, equivariant, .. } = settings;
    let plan = Plan {
        recipe: "supervised",
        reading: Reading::Policy,
        encoding: Some(settings.encoding(game.shape())),
        learned_from: LearnedFrom::Part { split_seed: 0, splits: [train, validation], share },
        equivariant,
        architecture: settings.architecture(game.shape()),
        method: settings.method(),
        settings: serde_json::to_value(&settings)?,
    };
    let name = place(&args.common, "supervised", &game.name(), context)?;
    let run = plan.run(game.name(), &args.common, name.clone())?;
    let table = ensure_solved(&*game, None, args.common.force, context)?;
    let game = table.game();
    let rows = |orienting| TablePositions::new(&table, orienting);
    let parts = |orienting, train| {
        let shares = [train, measured, measured];
        SplitPart::of_all(&rows(orienting), settings.split(), shares)
    };
    let mut once = parts(Orienting::First, share)?;
    let train = &once[Split::Train.index()];
    let learner = Supervised::new(&*game.folded(), train, settings.clone());
    let mut learner = learner?;
    // Measure only training positions that were trained on.
    let seen = measured.min(share);
    let [again, ..] = SplitPart::of_all(train, settings.split(), [seen, 0.0, 0.0])?;
    once[Split::Train.index()] = again;
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
    Ok((card?, name))
}

/// The exact metrics of a network on the splits of a table.
struct Metrics<'a> {
    once: &'a [SplitPart; 3],
    all: &'a [SplitPart; 3],
    /// True if images of a position may get different answers.
    images: bool,
    player: &'a dyn Fn(&Network, &ReadingSpec) -> Result<Onnx, Error>,
}

impl Metrics<'_> {
    fn on(&self, part: &SplitPart, player: Onnx) -> Result<PolicyAccuracy, Error> {
        let players = [Player::Policy(Box::new(player))];
        let mut measured = measure(part, &players, None, &Silent)?;
        Ok(measured.policies.swap_remove(0))
    }

    /// During training: every row once.
    fn quick(&self, network: &Network) -> Result<HistoryRow, Error> {
        let mut row = HistoryRow::new();
        for split in [Split::Train, Split::Test] {
            let player = (self.player)(network, &ReadingSpec::default())?;
            let found = self.on(&self.once[split.index()], player)?;
            figures(&format!("{}: ", split.name()), &found, &mut row);
        }
        Ok(row)
    }

    /// At the end: every actual position; with the answers of all images averaged, if they may
    /// differ; and one ply ahead by value.
    fn all(&self, network: &Network) -> Result<HistoryRow, Error> {
        let mut row = HistoryRow::new();
        let own = ReadingSpec::default();
        let symmetric = ReadingSpec { symmetric: self.images, ..own.clone() };
        let by_value = ReadingSpec { depth: Some(1), ..symmetric.clone() };
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
