//! A course of learning: rounds, what is measured on the way, and checkpoints.
//!
//! After a round, though not more often than every few seconds, all that the rest depends on is written beside the network's place, as one file
//! that is renamed into place: a line of JSON, then the tensors. A course that was cut off goes on
//! after the last round that was written, and ends with the same weights.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::LearnError;
use super::card::{self, Card};
use super::network::{Network, Parameter};
use super::optimiser::{Method, Optimiser};
use super::trainer::Trainer;
use crate::progress::Progress;

/// What is measured at a time, by name.
pub type Row = BTreeMap<String, f64>;

/// A way of learning, in rounds.
pub trait Learner {
    /// How many rounds there are.
    fn rounds(&self) -> u64;

    /// The network that learns.
    fn trainer(&self) -> &Trainer;

    /// The same, to be set to where a course was cut off.
    fn trainer_mut(&mut self) -> &mut Trainer;

    /// Learns for a round, the first being 0; gives what is measured of it. All that is random in it
    /// depends on the settings and on the round alone.
    fn round(&mut self, round: u64, progress: &dyn Progress) -> Result<Row, LearnError>;

    /// What else the rounds to come depend on.
    fn memory(&self) -> Vec<Parameter> {
        Vec::new()
    }

    /// Takes up what an earlier [`memory`](Learner::memory) was; `None` if it cannot be one.
    fn remember(&mut self, memory: Vec<Parameter>) -> Option<()> {
        memory.is_empty().then_some(())
    }
}

/// The first line of a checkpoint.
#[derive(Serialize, Deserialize)]
struct Checkpoint {
    settings: serde_json::Value,
    method: Method,
    round: u64,
    steps: u64,
    history: Vec<Row>,
    /// How many of the tensors are the network's, and how many the optimiser's; the rest are the
    /// learner's own.
    counts: [usize; 2],
    /// Their names, in order.
    names: Vec<String>,
    crc32: String,
}

/// Where a course writes.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Of its files, with or without an ending.
    pub name: &'a Path,
    /// How long it goes on at least before its checkpoint is written anew.
    pub between: Duration,
}

/// Runs a course to its end, or goes on with one that was cut off; writes the network with
/// the card, whose history it fills in. `finish` is given that, measures what is to stand under results, and
/// may write what belongs beside the network: the card comes last and says that all is there.
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
    progress.begin_with(&title, Some(learner.rounds()), "rounds");
    progress.advance(begin);
    let mut saved = Instant::now();
    for round in begin..learner.rounds() {
        let row = learner.round(round, progress)?;
        progress.note(&said(&row));
        tracing::debug!(round, row = said(&row), "learned");
        card.history.push(row);
        // What is written changes nothing of what is learned, so that the clock may decide.
        if saved.elapsed() >= between {
            save(learner, method, &place, card, round + 1)?;
            saved = Instant::now();
        }
        progress.advance(1);
    }
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

/// What was measured, for people.
fn said(row: &Row) -> String {
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
    round: u64,
) -> Result<(), LearnError> {
    let trainer = learner.trainer();
    let memory = trainer.optimiser.memory(&trainer.network);
    let counts = [trainer.network.parameters().len(), memory.len()];
    let all = [trainer.network.parameters().to_vec(), memory, learner.memory()].concat();
    let bytes = card::bytes_of(&all);
    let head = Checkpoint {
        settings: card.settings.clone(),
        method,
        round,
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

/// Sets the learner to where a course was cut off; gives the round with which it goes on.
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
    let unfit =
        |what: &str| LearnError::Unfit { path: place.to_path_buf(), what: what.to_string() };
    let damaged = || unfit("is damaged; remove it to begin again");
    let end = bytes.iter().position(|&byte| byte == b'\n').ok_or_else(damaged)?;
    let head: Checkpoint = serde_json::from_slice(&bytes[..end]).map_err(|_| damaged())?;
    let bytes = &bytes[end + 1..];
    if format!("{:08x}", crc32fast::hash(bytes)) != head.crc32 {
        return Err(damaged());
    }
    if head.settings != card.settings || head.method != method {
        return Err(unfit(
            "is of a course with other settings; remove it to begin again, or choose another --out",
        ));
    }
    let mut tensors = card::tensors(bytes).ok_or_else(damaged)?;
    let take = |name: &String| tensors.remove(name);
    let mut all: Vec<Parameter> =
        head.names.iter().map(take).collect::<Option<_>>().ok_or_else(damaged)?;
    let [weights, moments] = head.counts;
    if weights + moments > all.len() {
        return Err(damaged());
    }
    let own = all.split_off(weights + moments);
    let moments = all.split_off(weights);
    let architecture = learner.trainer().network.architecture().clone();
    let network = Network::of(architecture, all).ok_or_else(damaged)?;
    let optimiser = Optimiser::remembering(method, &network, head.steps, moments);
    let trainer = learner.trainer_mut();
    trainer.optimiser = optimiser.ok_or_else(damaged)?;
    trainer.network = network;
    learner.remember(own).ok_or_else(damaged)?;
    card.history = head.history;
    Ok(head.round)
}
