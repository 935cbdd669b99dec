//! Messages between workers, over a timely dataflow.
//!
//! A timestamp of the dataflow combines a round, which is a layer of the game, with a counter within it.
//! A round is over when no message of it can be in flight.

use std::cell::{RefCell, RefMut};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use timely::dataflow::operators::{Exchange as _, Input, Inspect, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use super::spool::{Records, Spool};
use yomikiri::error::Error;

/// Timestamps of a round.
const ROUND: u64 = 1 << 32;

/// Message between workers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Message {
    /// Job of a worker, and number of its completed layers.
    Hello { worker: usize, asked: String, layers: Option<u32> },
    /// Records of the next layer.
    Found(Vec<u32>),
    /// Request for the values of places.
    Ask { worker: usize, number: u32, words: Vec<u32> },
    /// Values of a request, in its order.
    Answer { number: u32, values: Vec<i16> },
}

impl Message {
    /// Returns the bytes of the payload.
    fn bytes(&self) -> usize {
        match self {
            Message::Hello { .. } => 0,
            Message::Found(words) | Message::Ask { words, .. } => 4 * words.len(),
            Message::Answer { values, .. } => 2 * values.len(),
        }
    }
}

/// Timestamp, receiver and message.
type Letter = (u64, u64, Message);

/// Returns the owner among `workers` of a block with this hash.
pub(super) fn owner(hash: u64, workers: usize) -> u64 {
    (hash >> 32) % workers as u64
}

/// Returns the hash of a number: a product whose high bits spread neighbours.
pub(super) fn hash(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Received messages.
#[derive(Default)]
pub(super) struct Inbox {
    hellos: Vec<(usize, String, Option<u32>)>,
    /// Records by round.
    spools: BTreeMap<u64, Spool>,
    /// Requests: sender, number of the request, and places.
    pub asks: VecDeque<(usize, u32, Vec<u32>)>,
    /// Answers: number of the request, and values.
    pub answers: Vec<(u32, Vec<i16>)>,
    error: Option<Error>,
}

/// Limit of words of the next layer in memory, directory for the rest, and functions to read records.
pub(super) struct Keeping {
    pub words: usize,
    pub dir: PathBuf,
    pub records: Records,
}

/// Dataflow of a worker.
pub(super) struct Exchange<'a> {
    worker: &'a mut Worker,
    input: InputHandle<u64, timely::container::CapacityContainerBuilder<Vec<Letter>>>,
    probe: ProbeHandle<u64>,
    inbox: Rc<RefCell<Inbox>>,
    keeping: Rc<Keeping>,
    time: u64,
    /// `true` if a message was sent at this time; it may stay queued until the time is over.
    queued: bool,
    /// Bytes sent, also to itself.
    pub sent: u64,
}

impl<'a> Exchange<'a> {
    pub(crate) fn new(worker: &'a mut Worker, keeping: Keeping) -> Exchange<'a> {
        let inbox: Rc<RefCell<Inbox>> = Rc::default();
        let keeping = Rc::new(keeping);
        let mut input = InputHandle::new();
        let (came, kept) = (Rc::clone(&inbox), Rc::clone(&keeping));
        let probe = worker.dataflow(|scope| {
            scope
                .input_from(&mut input)
                .container::<Vec<_>>()
                .exchange(|letter: &Letter| letter.1)
                .inspect(move |letter| came.borrow_mut().take(letter, &kept))
                .probe()
                .0
        });
        Exchange { worker, input, probe, inbox, keeping, time: 0, queued: false, sent: 0 }
    }

    /// Returns the index of this worker.
    pub(crate) fn own(&self) -> usize {
        self.worker.index()
    }

    /// Returns the number of workers.
    pub(crate) fn workers(&self) -> usize {
        self.worker.peers()
    }

    /// Returns the received messages.
    pub(crate) fn inbox(&self) -> RefMut<'_, Inbox> {
        self.inbox.borrow_mut()
    }

    /// Returns the records received for the next layer, after the round has ended.
    pub(crate) fn spool(&mut self) -> Spool {
        let round = self.time / ROUND;
        let spool = self.inbox().spools.remove(&(round - 1));
        spool.unwrap_or_else(|| Spool::new(0, self.keeping.records, &self.keeping.dir))
    }

    /// Sends a message, and receives messages meanwhile.
    pub(crate) fn send(&mut self, to: u64, message: Message) {
        self.sent += message.bytes() as u64;
        self.input.send((self.time, to, message));
        self.queued = true;
        self.worker.step();
    }

    fn advance(&mut self, time: u64) {
        self.time = time;
        self.input.advance_to(time);
        self.queued = false;
    }

    /// Receives messages, or waits up to 10 ms for one.
    pub(crate) fn wait(&mut self) -> Result<(), Error> {
        if self.queued {
            self.advance(self.time + 1);
        }
        self.worker.step_or_park(Some(Duration::from_millis(10)));
        match self.inbox().error.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Ends a share of this worker's messages, and waits until all shares but the last of every worker
    /// have been received, so that little is in flight.
    pub(crate) fn end_share(&mut self) -> Result<(), Error> {
        self.advance(self.time + 1);
        self.wait()?;
        while self.probe.less_than(&(self.time - 1)) {
            self.wait()?;
        }
        Ok(())
    }

    /// Ends this worker's round and waits until all workers have ended theirs, calling `meanwhile`.
    pub(crate) fn end_round(
        &mut self,
        meanwhile: &mut dyn FnMut(&mut Exchange<'a>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let end = (self.time / ROUND + 1) * ROUND;
        self.advance(end);
        while self.probe.less_than(&end) {
            self.wait()?;
            meanwhile(self)?;
        }
        Ok(())
    }

    /// Checks that all workers have the same job. Returns the number of layers that all have completed.
    pub(crate) fn compare(
        &mut self,
        asked: &str,
        layers: Option<u32>,
    ) -> Result<Option<u32>, Error> {
        let worker = self.own();
        for to in 0..self.workers() as u64 {
            self.send(to, Message::Hello { worker, asked: asked.to_string(), layers });
        }
        self.end_round(&mut |_| Ok(()))?;
        let mut least = layers;
        for (worker, theirs, layers) in std::mem::take(&mut self.inbox().hellos) {
            if theirs != asked {
                let what = Error::new(
                    format!(
                        "worker {worker} has another job ({theirs}) than this process ({asked})"
                    ),
                    "start all with the same program and arguments",
                );
                return Err(what);
            }
            least = least.zip(layers).map(|(a, b)| a.min(b));
        }
        Ok(least)
    }
}

impl Inbox {
    fn take(&mut self, (time, _, message): &Letter, keeping: &Keeping) {
        match message {
            Message::Hello { worker, asked, layers } => {
                self.hellos.push((*worker, asked.clone(), *layers));
            }
            Message::Found(words) => {
                let spool = self.spools.entry(time / ROUND);
                let spool = spool
                    .or_insert_with(|| Spool::new(keeping.words, keeping.records, &keeping.dir));
                if let Err(error) = spool.take(words) {
                    self.error.get_or_insert(error);
                }
            }
            Message::Ask { worker, number, words } => {
                self.asks.push_back((*worker, *number, words.clone()));
            }
            Message::Answer { number, values } => self.answers.push((*number, values.clone())),
        }
    }
}
