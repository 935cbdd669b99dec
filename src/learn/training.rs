//! A training run: iterations, history, checkpoints.
//!
//! An iteration is an epoch of a data set, or some games and the fit to them. After an iteration,
//! but no more often than every few seconds, a checkpoint is written beside the network, as one
//! file that is renamed into place: a line of JSON, then the tensors. An interrupted run resumes at
//! the last checkpoint and ends with the same weights.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::LearnError;
use super::card::{self, Card};
use super::network::{Network, Parameter};
use super::optimiser::{Method, Optimiser};
use super::trainer::Trainer;
use crate::hint::Hinted;
use crate::progress::Progress;

/// The metrics of an iteration, by name.
pub type Row = BTreeMap<String, f64>;

/// A way of training, in iterations.
pub trait Learner {
    /// How many iterations there are.
    fn iterations(&self) -> u64;

    /// The network in training.
    fn trainer(&self) -> &Trainer;

    /// The same, to be restored from a checkpoint.
    fn trainer_mut(&mut self) -> &mut Trainer;

    /// Trains for an iteration, the first being 0; gives its metrics. Its random numbers depend on
    /// the settings and the iteration alone.
    fn iterate(&mut self, iteration: u64, progress: &dyn Progress) -> Result<Row, LearnError>;

    /// What later iterations depend on besides the trainer.
    fn state(&self) -> Vec<Parameter> {
        Vec::new()
    }

    /// Restores an earlier [`state`](Learner::state); `None` if it does not fit.
    fn restore(&mut self, state: Vec<Parameter>) -> Option<()> {
        state.is_empty().then_some(())
    }
}

/// The first line of a checkpoint.
#[derive(Serialize, Deserialize)]
struct Checkpoint {
    settings: serde_json::Value,
    method: Method,
    iterations: u64,
    steps: u64,
    history: Vec<Row>,
    /// How many of the tensors are the network's, and how many the optimiser's; the rest are the
    /// learner's own.
    counts: [usize; 2],
    /// Their names, in order.
    names: Vec<String>,
    crc32: String,
}

/// Where a training run writes.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The name of its files, with or without an ending.
    pub name: &'a Path,
    /// The least time between two checkpoints.
    pub between: Duration,
}

/// Runs the training to its end, resuming an interrupted run; fills in the history of the card and
/// writes the network with it. `finish` gets the history and gives the results; it may write other
/// files beside the network, since the card comes last and says that all is there.
pub fn run<L: Learner>(
    learner: &mut L,
    method: Method,
    Place { name, between }: Place<'_>,
    card: &mut Card,
    progress: &dyn Progress,
    finish: impl FnOnce(&mut L, &[Row]) -> Result<Row, LearnError>,
) -> Result<(), LearnError> {
    let place = checkpoint_of(name);
    if let Some(dir) = name.parent() {
        fs::create_dir_all(dir).map_err(|error| LearnError::write(dir, error))?;
    }
    let begin = resume(learner, method, &place, card)?;
    let title = format!("training {}", name.file_name().unwrap_or_default().to_string_lossy());
    progress.begin_with(&title, Some(learner.iterations()), "iterations");
    progress.advance(begin);
    let mut saved = Instant::now();
    for iteration in begin..learner.iterations() {
        let row = learner.iterate(iteration, progress).inspect_err(|_| {
            // What led to it is worth a look; that it cannot be written matters less than why.
            let _ = write_history(name, &card.history);
        })?;
        progress.note(&row_text(&row));
        tracing::debug!(iteration, row = row_text(&row), "trained");
        card.history.push(row);
        // A checkpoint does not change the result, so that the clock may decide when to write one.
        if saved.elapsed() >= between {
            save(learner, method, &place, card, iteration + 1)?;
            saved = Instant::now();
        }
        progress.advance(1);
    }
    write_history(name, &card.history)?;
    card.results = finish(learner, &card.history)?;
    card::write(name, card, &learner.trainer().network)?;
    match fs::remove_file(&place) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(LearnError::write(&place, error));
        }
        _ => {}
    }
    progress.finish("trained");
    Ok(())
}

/// Writes the metrics as CSV, a row an iteration, a column a metric.
fn write_history(name: &Path, history: &[Row]) -> Result<(), LearnError> {
    let names: BTreeSet<&String> = history.iter().flat_map(Row::keys).collect();
    let is_number = |name: &&String| ["epoch", "iteration"].contains(&name.as_str());
    let (first, others): (Vec<&String>, Vec<&String>) = names.into_iter().partition(is_number);
    let names = [first, others].concat();
    let place = card::file(name, "csv");
    let failed = |error: csv::Error| LearnError::write(&place, error.into());
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(&names).map_err(failed)?;
    for row in history {
        let number = |name: &&String| row.get(*name).map_or(String::new(), f64::to_string);
        csv.write_record(names.iter().map(number)).map_err(failed)?;
    }
    let bytes = csv.into_inner().map_err(|error| LearnError::write(&place, error.into_error()))?;
    card::write_whole(&place, &bytes)
}

/// The metrics, for people.
fn row_text(row: &Row) -> String {
    let number = |(name, value): (&String, &f64)| format!("{name} {value:.4}");
    row.iter().map(number).collect::<Vec<_>>().join(", ")
}

/// Where the checkpoint of a network lies.
pub fn checkpoint_of(name: &Path) -> PathBuf {
    card::file(name, "checkpoint")
}

fn save<L: Learner>(
    learner: &L,
    method: Method,
    place: &Path,
    card: &Card,
    iterations: u64,
) -> Result<(), LearnError> {
    let trainer = learner.trainer();
    let state = trainer.optimiser.state(&trainer.network);
    let counts = [trainer.network.parameters().len(), state.len()];
    let all = [trainer.network.parameters().to_vec(), state, learner.state()].concat();
    let bytes = card::bytes_of(&all);
    let head = Checkpoint {
        settings: card.settings.clone(),
        method,
        iterations,
        steps: trainer.optimiser.steps(),
        history: card.history.clone(),
        counts,
        names: all.into_iter().map(|parameter| parameter.name).collect(),
        crc32: format!("{:08x}", crc32fast::hash(&bytes)),
    };
    let mut text = serde_json::to_vec(&head).expect("a checkpoint is plain data");
    text.push(b'\n');
    text.extend(bytes);
    card::write_whole(place, &text)
}

/// Restores the learner from its checkpoint, if there is one; gives the next iteration.
fn resume<L: Learner>(
    learner: &mut L,
    method: Method,
    place: &Path,
    card: &mut Card,
) -> Result<u64, LearnError> {
    let bytes = match fs::read(place) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(LearnError::read(place, error)),
    };
    let unfit = |what: Hinted| LearnError::Unfit { path: place.to_path_buf(), what };
    let damaged = || unfit(Hinted::new("is damaged", "remove it to begin again"));
    let end = bytes.iter().position(|&byte| byte == b'\n').ok_or_else(damaged)?;
    let head: Checkpoint = serde_json::from_slice(&bytes[..end]).map_err(|_| damaged())?;
    let bytes = &bytes[end + 1..];
    if format!("{:08x}", crc32fast::hash(bytes)) != head.crc32 {
        return Err(damaged());
    }
    if head.settings != card.settings || head.method != method {
        return Err(unfit(Hinted::new(
            "is the checkpoint of a training run with other settings",
            "remove it to begin again, or choose another --out",
        )));
    }
    let mut tensors = card::tensors(bytes).ok_or_else(damaged)?;
    let take = |name: &String| tensors.remove(name);
    let mut all: Vec<Parameter> =
        head.names.iter().map(take).collect::<Option<_>>().ok_or_else(damaged)?;
    let [weights, moments] = head.counts;
    let ours = weights.checked_add(moments).filter(|&ours| ours <= all.len());
    let own = all.split_off(ours.ok_or_else(damaged)?);
    let moments = all.split_off(weights);
    let architecture = learner.trainer().network.architecture().clone();
    let network = Network::of(architecture, all).ok_or_else(damaged)?;
    let optimiser = Optimiser::with_state(method, &network, head.steps, moments);
    let trainer = learner.trainer_mut();
    trainer.optimiser = optimiser.ok_or_else(damaged)?;
    trainer.network = network;
    learner.restore(own).ok_or_else(damaged)?;
    card.history = head.history;
    Ok(head.iterations)
}
