//! A training run: iterations, history, checkpoints.
//!
//! An iteration is an epoch of a data set, or some games and the fit to them. After an iteration,
//! but at most every few seconds, a checkpoint is written beside the network as one file that is
//! renamed into place: a line of JSON, then the numbers of the tensors. An interrupted run resumes at
//! the last checkpoint and ends with the same weights.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::cannot_write;
use super::card::{self, Card, Training};
use super::network::{Network, Parameter};
use super::onnx::model;
use super::optimiser::{Optimiser, OptimiserMethod};
use super::trainer::Trainer;
use yomikiri::error::Error;
use yomikiri::output;
use yomikiri::progress::Progress;
use yomikiri::rules::Rules;
use yomikiri_measure::policy::{NetworkSpec, Onnx, ReadingSpec};

/// Metrics of an iteration by name.
pub type HistoryRow = BTreeMap<String, f64>;

/// A training recipe in iterations.
pub trait Learner {
    /// Returns the number of iterations.
    fn iterations(&self) -> u64;

    /// Returns the network in training.
    fn trainer(&mut self) -> &mut Trainer;

    /// Trains for an iteration, counted from 0, and returns its metrics. Random numbers depend only on
    /// the settings and the iteration.
    fn iterate(&mut self, iteration: u64, progress: &dyn Progress) -> Result<HistoryRow, Error>;

    /// Returns the state that later iterations need besides the trainer.
    fn state(&self) -> Vec<Parameter> {
        Vec::new()
    }

    /// Restores an earlier [`state`](Learner::state); `None` if it does not fit.
    fn restore(&mut self, state: Vec<Parameter>) -> Option<()> {
        state.is_empty().then_some(())
    }
}

/// First line of a checkpoint.
#[derive(Serialize, Deserialize)]
struct TrainingCheckpoint {
    settings: serde_json::Value,
    method: OptimiserMethod,
    iterations: u64,
    steps: u64,
    history: Vec<HistoryRow>,
    /// Names and shapes of the tensors of the network, the optimiser and the learner.
    tensors: Vec<(String, Vec<usize>)>,
    crc32: String,
}

/// Returns whether an interrupted training run left a checkpoint beside a network's files.
pub fn is_interrupted(name: &Path) -> bool {
    let place = card::file(name, "checkpoint");
    let is_file = place.symlink_metadata().is_ok_and(|there| there.is_file());
    let bytes = is_file.then(|| fs::read(place).ok()).flatten().unwrap_or_default();
    let head = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice::<TrainingCheckpoint>(head).is_ok()
}

/// A training run.
pub struct TrainingRun {
    /// Path of its files, with or without an extension.
    pub name: PathBuf,
    /// Minimum time between two checkpoints.
    pub between: Duration,
    /// Number of iterations between measurements.
    pub every: u64,
    /// The optimiser.
    pub method: OptimiserMethod,
    /// Shape of the model's input for a position.
    pub shape: Vec<usize>,
    /// Card of the network.
    pub card: Card,
    /// Training part of the card.
    pub training: Training,
}

impl TrainingRun {
    /// Returns a function that makes policies of the network in training, with the conventions of its card.
    pub fn player(
        &self,
        game: &dyn Rules,
    ) -> impl Fn(&Network, &ReadingSpec) -> Result<Onnx, Error> + use<> {
        let (card, shape, game) = (self.card.clone(), self.shape.clone(), game.shared());
        move |network, reading| {
            let (reading, limit) = (reading.clone(), Some(Duration::MAX));
            let spec = NetworkSpec { reading, limit, ..NetworkSpec::default() };
            let bytes = (model(network, &shape), None);
            Onnx::of_bytes(&spec, "network".to_string(), bytes, Some(&card), &*game)
        }
    }

    /// Runs the training to its end, resuming an interrupted run; writes the network with its card and
    /// returns the card. `measure` returns metrics of an iteration or, given the history, the
    /// results. It may then write further files beside the network, since the card marks completion and is
    /// written last.
    pub fn run<L: Learner>(
        self,
        learner: &mut L,
        progress: &dyn Progress,
        mut measure: impl FnMut(&mut L, Option<&[HistoryRow]>) -> Result<HistoryRow, Error>,
    ) -> Result<Card, Error> {
        let name = &self.name;
        let place = card::file(name, "checkpoint");
        if let Some(dir) = name.parent() {
            fs::create_dir_all(dir).map_err(|error| cannot_write(dir, error))?;
        }
        let (begin, mut history) = self.resume(learner, &place)?;
        let title = format!("training {}", name.file_name().unwrap_or_default().to_string_lossy());
        progress.begin_with(&title, Some(learner.iterations()), "iterations");
        progress.advance(begin);
        let mut saved = Instant::now();
        for iteration in begin..learner.iterations() {
            let mut row = learner.iterate(iteration, progress).inspect_err(|_| {
                // The history may explain the failure; an error in writing it matters less than the failure.
                let _ = write_history(name, &history);
            })?;
            if (iteration + 1).is_multiple_of(self.every) {
                row.extend(measure(learner, None)?);
            }
            progress.note(&row_text(&row));
            tracing::debug!(iteration, row = row_text(&row), "trained");
            history.push(row);
            // Checkpoints do not affect the result, so the clock may decide when to write one.
            if saved.elapsed() >= self.between {
                self.save(learner, &place, &history, iteration + 1)?;
                saved = Instant::now();
            }
            progress.advance(1);
        }
        // A kill from here on leaves files beside a checkpoint, so the next run knows them as its own.
        self.save(learner, &place, &history, learner.iterations())?;
        write_history(name, &history)?;
        let TrainingRun { name, shape, mut card, mut training, .. } = self;
        training.results = measure(learner, Some(&history))?;
        let training = serde_json::to_value(training).expect("it is plain data");
        card.training = training.as_object().cloned().unwrap_or_default();
        card::write(&name, &mut card, &learner.trainer().network, &shape)?;
        match fs::remove_file(&place) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(cannot_write(&place, error));
            }
            _ => {}
        }
        progress.finish("trained");
        Ok(card)
    }

    fn save(
        &self,
        learner: &mut impl Learner,
        place: &Path,
        history: &[HistoryRow],
        iterations: u64,
    ) -> Result<(), Error> {
        let trainer = learner.trainer();
        let state = trainer.optimiser.state(&trainer.network);
        let (network, steps) = (trainer.network.parameters().to_vec(), trainer.optimiser.steps());
        let all = [network, state, learner.state()].concat();
        let bytes: Vec<u8> =
            all.iter().flat_map(|p| &p.numbers).flat_map(|n| n.to_le_bytes()).collect();
        let head = TrainingCheckpoint {
            settings: self.training.settings.clone(),
            method: self.method,
            iterations,
            steps,
            history: history.to_vec(),
            tensors: all.into_iter().map(|parameter| (parameter.name, parameter.shape)).collect(),
            crc32: format!("{:08x}", crc32fast::hash(&bytes)),
        };
        let mut text = serde_json::to_vec(&head).expect("a checkpoint is plain data");
        text.push(b'\n');
        text.extend(bytes);
        output::replace(place, &text).map_err(|error| cannot_write(place, error))
    }

    /// Restores the learner from its checkpoint, if any; returns the next iteration and the history.
    fn resume(
        &self,
        learner: &mut impl Learner,
        place: &Path,
    ) -> Result<(u64, Vec<HistoryRow>), Error> {
        let unfit = |what: Error| what.map(|what| format!("{} {what}", place.display()));
        if place.symlink_metadata().is_ok_and(|there| !there.is_file()) {
            return Err(unfit(Error::new("is not a regular file", "remove it to start again")));
        }
        let bytes = match fs::read(place) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok((0, Vec::new()));
            }
            Err(error) => return Err(format!("cannot read {}: {error}", place.display()).into()),
        };
        let damaged = || unfit(Error::new("is damaged", "remove it to start again"));
        let end = bytes.iter().position(|&byte| byte == b'\n').ok_or_else(damaged)?;
        let head: TrainingCheckpoint =
            serde_json::from_slice(&bytes[..end]).map_err(|_| damaged())?;
        let bytes = &bytes[end + 1..];
        if format!("{:08x}", crc32fast::hash(bytes)) != head.crc32 {
            return Err(damaged());
        }
        if head.settings != self.training.settings || head.method != self.method {
            return Err(unfit(Error::new(
                "is a checkpoint with other settings",
                "remove it to start again, or choose another --out",
            )));
        }
        let mut numbers = bytes.as_chunks().0.iter().map(|&n| f32::from_le_bytes(n));
        let parameter = |(name, shape): (String, Vec<usize>)| {
            let count = shape.iter().try_fold(1usize, |all, &n| all.checked_mul(n))?;
            let numbers: Vec<f32> = numbers.by_ref().take(count).collect();
            (numbers.len() == count).then_some(Parameter { name, shape, numbers })
        };
        let all: Option<Vec<Parameter>> = head.tensors.into_iter().map(parameter).collect();
        let mut all = all.ok_or_else(damaged)?.into_iter();
        let trainer = learner.trainer();
        let weights = trainer.network.parameters().len();
        let moments = trainer.optimiser.state(&trainer.network).len();
        let architecture = trainer.network.architecture().clone();
        trainer.network =
            Network::of(architecture, all.by_ref().take(weights).collect()).ok_or_else(damaged)?;
        let moments = all.by_ref().take(moments).collect();
        trainer.optimiser =
            Optimiser::with_state(self.method, &trainer.network, head.steps, moments)
                .ok_or_else(damaged)?;
        learner.restore(all.collect()).ok_or_else(damaged)?;
        Ok((head.iterations, head.history))
    }
}

/// Writes the metrics as CSV with a row per iteration and a column per metric.
fn write_history(name: &Path, history: &[HistoryRow]) -> Result<(), Error> {
    let names: BTreeSet<&String> = history.iter().flat_map(HistoryRow::keys).collect();
    let is_number = |name: &&String| ["epoch", "iteration"].contains(&name.as_str());
    let (first, others): (Vec<&String>, Vec<&String>) = names.into_iter().partition(is_number);
    let names = [first, others].concat();
    let place = card::file(name, "csv");
    let failed = |error: csv::Error| cannot_write(&place, error.into());
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(&names).map_err(failed)?;
    for row in history {
        let number = |name: &&String| row.get(*name).map_or(String::new(), f64::to_string);
        csv.write_record(names.iter().map(number)).map_err(failed)?;
    }
    let bytes = csv.into_inner().map_err(|error| cannot_write(&place, error.into_error()))?;
    card::write_whole(&place, &bytes)
}

/// Formats the metrics for display.
fn row_text(row: &HistoryRow) -> String {
    let number = |(name, value): (&String, &f64)| format!("{name} {value:.4}");
    row.iter().map(number).collect::<Vec<_>>().join(", ")
}
