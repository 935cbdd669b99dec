//! What one worker does: its own blocks' layers forwards, or their values backwards.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use timely::dataflow::operators::{Exchange, Input, Inspect, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use super::expand::{Expand, Reached, Sets, Settle, join};
use super::parts::{Layer, Part};
use super::{ClusterError, Done, Job};
use crate::game::blocks::{Bits, Blocks};
use crate::game::{Empties, Game, Score, WideKey};

/// Places that are kept back to be packed and joined by target block before they are sent.
const KEPT_BACK: usize = 1 << 22;

/// What workers tell each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Message {
    /// What a worker was asked for, and how many layers it has done.
    Hello { worker: usize, asked: String, layers: Option<u32> },
    /// Places of a block that are reached, and in which orientations.
    Found { block: u32, places: Vec<u32>, sets: Vec<u16> },
    /// Places of a block whose values a worker needs.
    Ask { worker: usize, block: u32, places: Vec<u32> },
    /// The values of the places that were asked for, in their order.
    Answer { block: u32, values: Vec<i32> },
}

/// An epoch, to whom, and what.
type Letter = (u64, u64, Message);

/// The dataflow of a worker: letters in, exchanged, and kept by epoch.
struct Post<'a> {
    worker: &'a mut Worker,
    input: InputHandle<u64, timely::container::CapacityContainerBuilder<Vec<Letter>>>,
    probe: ProbeHandle<u64>,
    inbox: Rc<RefCell<BTreeMap<u64, Vec<Message>>>>,
    epoch: u64,
    sent: u64,
}

impl<'a> Post<'a> {
    fn new(worker: &'a mut Worker) -> Post<'a> {
        let inbox: Rc<RefCell<BTreeMap<u64, Vec<Message>>>> = Rc::default();
        let mut input = InputHandle::new();
        let kept = Rc::clone(&inbox);
        let probe = worker.dataflow(|scope| {
            scope
                .input_from(&mut input)
                .container::<Vec<_>>()
                .exchange(|letter: &Letter| letter.1)
                .inspect(move |(epoch, _, message)| {
                    kept.borrow_mut().entry(*epoch).or_default().push(message.clone());
                })
                .probe()
                .0
        });
        Post { worker, input, probe, inbox, epoch: 0, sent: 0 }
    }

    fn peers(&self) -> usize {
        self.worker.peers()
    }

    /// The owner of a block: high bits of a product, so that neighbours are spread.
    fn owner(&self, block: u32) -> u64 {
        (u64::from(block).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % self.peers() as u64
    }

    fn send(&mut self, to: u64, message: Message) {
        self.sent += match &message {
            Message::Hello { .. } => 0,
            Message::Found { places, .. } => places.len() * 6,
            Message::Ask { places, .. } => places.len() * 4,
            Message::Answer { values, .. } => values.len() * 4,
        } as u64;
        self.input.send((self.epoch, to, message));
        self.worker.step();
    }

    /// Ends the epoch, waits until all have, and gives what came in it.
    fn end_of_epoch(&mut self) -> Vec<Message> {
        let ended = self.epoch;
        self.epoch += 1;
        self.input.advance_to(self.epoch);
        while self.probe.less_than(&self.epoch) {
            self.worker.step_or_park(Some(std::time::Duration::from_millis(10)));
        }
        self.inbox.borrow_mut().remove(&ended).unwrap_or_default()
    }

    /// Compares with all others what was asked; gives the number of layers that all have done.
    fn compare(&mut self, asked: &str, layers: Option<u32>) -> Result<Option<u32>, ClusterError> {
        let worker = self.worker.index();
        for to in 0..self.peers() as u64 {
            self.send(to, Message::Hello { worker, asked: asked.to_string(), layers });
        }
        let mut least = layers;
        for message in self.end_of_epoch() {
            let Message::Hello { worker, asked: theirs, layers } = message else { continue };
            if theirs != asked {
                let what = format!(
                    "the processes were not asked for the same: worker {worker} for {theirs}, this one for {asked}; give all the same program and arguments"
                );
                return Err(ClusterError::Input(what));
            }
            least = least.zip(layers).map(|(a, b)| a.min(b));
        }
        Ok(least)
    }

    /// Sends what was kept back.
    fn send_found(&mut self, reached: &mut Reached) {
        for (block, mut found) in reached.drain() {
            join(&mut found);
            let places = found.iter().map(|pair| (pair >> 16) as u32).collect();
            let sets = found.iter().map(|pair| *pair as u16).collect();
            let to = self.owner(block);
            self.send(to, Message::Found { block, places, sets });
        }
    }
}

/// What all processes must have been asked alike.
pub(super) fn asked(job: &Job, peers: usize) -> String {
    let (version, identity) = (env!("CARGO_PKG_VERSION"), job.plan.identity(&job.game));
    let identity = serde_json::to_string(&identity).expect("plain data");
    format!("version {version}, {peers} workers, {identity}")
}

/// Does a worker's part.
pub(super) fn work<B: Bits>(job: &Job, worker: &mut Worker) -> Result<Done, ClusterError> {
    let rules = Blocks::<B>::new(&job.game);
    let mut post = Post::new(worker);
    let asked = asked(job, post.peers());
    let part = Part::new(&job.parts, post.worker.index(), asked.clone());
    let _lock = part.lock()?;
    let (rows, columns) = job.game.shape();
    let squares = (rows * columns) as u32;
    let roots = job.plan.roots.iter().filter_map(|root| {
        let (block, place, ties) = rules.place_of(job.game.squares(&root.state)?);
        Some((block, place, job.game.group().root_orientations(root.side, ties).0))
    });
    let roots: Vec<(u32, u32, u16)> = roots.collect();
    let first = roots.iter().map(|root| root.0.count_ones()).min().unwrap_or(squares);
    let asked = format!("{} of {asked}", if job.solves { "values" } else { "states" });
    let done = match job.solves {
        false => forwards(job, &rules, &mut post, &part, &asked, &roots, first..squares + 1),
        true => backwards(job, &rules, &mut post, &part, &asked, first..squares + 1),
    }?;
    Ok(Done { sent: post.sent, ..done })
}

/// Finds the states of own blocks, layer by layer.
fn forwards<B: Bits>(
    job: &Job,
    rules: &Blocks<B>,
    post: &mut Post<'_>,
    part: &Part,
    asked: &str,
    roots: &[(u32, u32, u16)],
    layers: std::ops::Range<u32>,
) -> Result<Done, ClusterError> {
    let own = part.layers_from(layers.start, layers.end)?;
    let there = post.compare(asked, Some(own))?.unwrap_or(0);
    let mut done = Done::default();
    let mut layer = Layer::default();
    let mut number = layers.start;
    if there > 0 {
        // The last layer that all have is expanded once more, for what it leads to.
        number = layers.start + there - 1;
        layer = part.read_layer(number)?.unwrap_or_default();
    } else {
        for &(block, place, set) in roots {
            if post.owner(block) == post.worker.index() as u64 {
                layer.blocks.entry(block).or_default().push((place, set));
            }
        }
        layer.blocks.values_mut().for_each(|sets| sets.sort_unstable());
    }
    loop {
        let (mut reached, mut kept) = (Reached::default(), 0);
        layer.counts = Default::default();
        for (&occupied, sets) in &mut layer.blocks {
            let group = job.game.group();
            let counts = B::run(Expand { rules, group, occupied, sets, reached: &mut reached });
            kept += counts.table.transitions as usize;
            layer.counts.add(&counts);
            if kept > KEPT_BACK {
                post.send_found(&mut reached);
                kept = 0;
            }
        }
        post.send_found(&mut reached);
        part.write_layer(number, &layer)?;
        done.states += layer.counts.table.states;
        done.moves += layer.counts.table.transitions;
        tracing::info!(
            layer = number,
            states = layer.counts.table.states,
            "layer of own blocks complete"
        );
        let mut found: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for message in post.end_of_epoch() {
            let Message::Found { block, places, sets } = message else { continue };
            let pairs = places.into_iter().zip(sets);
            let pairs = pairs.map(|(place, set)| u64::from(place) << 16 | u64::from(set));
            found.entry(block).or_default().extend(pairs);
        }
        number += 1;
        if number == layers.end {
            return Ok(done);
        }
        let blocks = found.into_iter().map(|(block, mut pairs)| {
            join(&mut pairs);
            let sets: Sets = pairs.iter().map(|pair| ((pair >> 16) as u32, *pair as u16)).collect();
            (block, sets)
        });
        layer = Layer { blocks: blocks.collect(), counts: Default::default() };
    }
}

/// The values of a layer of own blocks, in the order of their states.
type Valued = FxHashMap<u32, (Vec<u32>, Vec<i32>)>;

fn valued(layer: Layer, values: &[i32]) -> Valued {
    let mut from = 0;
    let blocks = layer.blocks.into_iter().map(|(block, sets)| {
        let own = values[from..from + sets.len()].to_vec();
        from += sets.len();
        (block, (sets.into_iter().map(|set| set.0).collect(), own))
    });
    blocks.collect()
}

/// Finds the values of own blocks, layer by layer from the end.
fn backwards<B: Bits>(
    job: &Job,
    rules: &Blocks<B>,
    post: &mut Post<'_>,
    part: &Part,
    asked: &str,
    layers: std::ops::Range<u32>,
) -> Result<Done, ClusterError> {
    let all = layers.end - layers.start;
    let mut own = (part.layers_from(layers.start, layers.end)? == all).then_some(0);
    if let Some(own) = &mut own {
        for number in layers.clone().rev() {
            if part.read_values(number)?.is_none() {
                break;
            }
            *own += 1;
        }
    }
    let there = post.compare(asked, own)?.ok_or_else(|| {
        let what =
            "not all processes have all states; run 'solver enumerate' with the same hosts first";
        ClusterError::Input(what.to_string())
    })?;
    let read = |number: u32| -> Result<Layer, ClusterError> {
        let missing = || ClusterError::Others("a layer has been removed meanwhile".to_string());
        part.read_layer(number)?.ok_or_else(missing)
    };
    let (mut done, mut later) = (Done::default(), Valued::default());
    if there > 0 {
        let number = layers.end - there;
        let (layer, values) = (read(number)?, part.read_values(number)?.unwrap_or_default());
        if layer.counts.table.states != values.len() as u64 {
            let what = format!(
                "the values of layer {number} are not of its states; remove the parts' values"
            );
            return Err(ClusterError::Input(what));
        }
        later = valued(layer, &values);
    }
    for number in (layers.start..layers.end - there).rev() {
        let mut layer = read(number)?;
        let mut reached = Reached::default();
        for (&occupied, sets) in &mut layer.blocks {
            let group = job.game.group();
            let counts = B::run(Expand { rules, group, occupied, sets, reached: &mut reached });
            done.moves += counts.table.transitions;
        }
        let mut needed = Valued::default();
        for (block, mut found) in reached {
            join(&mut found);
            let places: Vec<u32> = found.iter().map(|pair| (pair >> 16) as u32).collect();
            let worker = post.worker.index();
            let to = post.owner(block);
            post.send(to, Message::Ask { worker, block, places: places.clone() });
            needed.insert(block, (places, Vec::new()));
        }
        for message in post.end_of_epoch() {
            let Message::Ask { worker, block, places } = message else { continue };
            let astray = || {
                ClusterError::Input(
                    "a move leads out of the states found; remove the parts and begin again"
                        .to_string(),
                )
            };
            let (there, values) = later.get(&block).ok_or_else(astray)?;
            let value =
                |place: &u32| there.binary_search(place).map(|at| values[at]).map_err(|_| astray());
            let values = places.iter().map(value).collect::<Result<Vec<i32>, _>>()?;
            post.send(worker as u64, Message::Answer { block, values });
        }
        for message in post.end_of_epoch() {
            let Message::Answer { block, values } = message else { continue };
            if let Some(needed) = needed.get_mut(&block) {
                needed.1 = values;
            }
        }
        let mut values: Vec<i32> = Vec::new();
        for (&occupied, sets) in &layer.blocks {
            let leaf = |key: u64| {
                let state = job.game.state(WideKey([key, 0]));
                state.map_or(Score(0), |state| job.game.score(&state, Empties::Uncounted))
            };
            values.extend(B::run(Settle { rules, occupied, sets, leaf, needed: &needed }));
        }
        part.write_values(number, &values)?;
        done.states += values.len() as u64;
        tracing::info!(layer = number, states = values.len(), "values of own blocks complete");
        later = valued(layer, &values);
    }
    Ok(done)
}
