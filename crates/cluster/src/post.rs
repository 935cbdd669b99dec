//! What workers send each other, over a dataflow of timely's.
//!
//! A time of the dataflow is a round, a layer of the game, and within it a number of what was sent. A round is over
//! when no message of it can be on its way any more.

use std::cell::{RefCell, RefMut};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use timely::dataflow::operators::{Exchange, Input, Inspect, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use super::ClusterError;
use super::spool::{Records, SLICES, Spool};
use yomikiri::hint::Hinted;

/// Numbers of what was sent within a round.
const ROUND: u64 = 1 << 32;

/// What workers tell each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Message {
    /// What a worker was asked for, and how many layers it has done.
    Hello { worker: usize, asked: String, layers: Option<u32> },
    /// Records of the next layer.
    Found(Vec<u32>),
    /// Places whose values a worker needs.
    Ask { worker: usize, number: u32, words: Vec<u32> },
    /// The values that were asked for, in their order.
    Answer { number: u32, values: Vec<i16> },
}

impl Message {
    /// Bytes of what it holds.
    fn bytes(&self) -> usize {
        match self {
            Message::Hello { .. } => 0,
            Message::Found(words) | Message::Ask { words, .. } => 4 * words.len(),
            Message::Answer { values, .. } => 2 * values.len(),
        }
    }
}

/// When, to whom, and what.
type Letter = (u64, u64, Message);

/// The owner of a block or key with a hash, among so many workers, and its slice.
pub(super) fn owner(hash: u64, workers: usize) -> u64 {
    (hash >> 32) % workers as u64
}

/// The slice of a block or key with a hash.
pub(super) fn slice(hash: u64) -> u32 {
    (hash >> 56) as u32 % SLICES
}

/// The hash of a number: the high bits of a product, so that neighbours are spread.
pub(super) fn hash(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// What has come.
#[derive(Default)]
pub(super) struct Inbox {
    hellos: Vec<(usize, String, Option<u32>)>,
    /// By round.
    spools: BTreeMap<u64, Spool>,
    /// Who asks, the number to answer under, and for what.
    pub asks: VecDeque<(usize, u32, Vec<u32>)>,
    /// Numbers and values.
    pub answers: Vec<(u32, Vec<i16>)>,
    error: Option<ClusterError>,
}

/// How many words of the next layer are held in memory, where the others lie, and how records are read.
pub(super) struct Keeping {
    pub words: usize,
    pub dir: PathBuf,
    pub records: Records,
}

/// The dataflow of a worker.
pub(super) struct Post<'a> {
    worker: &'a mut Worker,
    input: InputHandle<u64, timely::container::CapacityContainerBuilder<Vec<Letter>>>,
    probe: ProbeHandle<u64>,
    inbox: Rc<RefCell<Inbox>>,
    keeping: Rc<Keeping>,
    time: u64,
    /// Whether something was sent at this time, which may lie in queues until the time is over.
    queued: bool,
    /// Bytes that were sent, to itself or others.
    pub sent: u64,
}

impl<'a> Post<'a> {
    pub(crate) fn new(worker: &'a mut Worker, keeping: Keeping) -> Post<'a> {
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
        Post { worker, input, probe, inbox, keeping, time: 0, queued: false, sent: 0 }
    }

    /// This worker's number.
    pub(crate) fn own(&self) -> usize {
        self.worker.index()
    }

    /// How many workers there are.
    pub(crate) fn workers(&self) -> usize {
        self.worker.peers()
    }

    /// What has come.
    pub(crate) fn inbox(&self) -> RefMut<'_, Inbox> {
        self.inbox.borrow_mut()
    }

    /// What has come for the next layer, once the round is over.
    pub(crate) fn spool(&mut self) -> Spool {
        let round = self.time / ROUND;
        let spool = self.inbox().spools.remove(&(round - 1));
        spool.unwrap_or_else(|| Spool::new(0, self.keeping.records, &self.keeping.dir))
    }

    /// Sends a message; what has come is taken meanwhile.
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

    /// Takes what has come, or waits a little.
    pub(crate) fn wait(&mut self) -> Result<(), ClusterError> {
        if self.queued {
            self.advance(self.time + 1);
        }
        self.worker.step_or_park(Some(Duration::from_millis(10)));
        match self.inbox().error.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Says that a share of what this worker has to send is sent, and waits until all have got all but the last that
    /// anyone sent, so that little is on its way.
    pub(crate) fn end_share(&mut self) -> Result<(), ClusterError> {
        self.advance(self.time + 1);
        self.wait()?;
        while self.probe.less_than(&(self.time - 1)) {
            self.wait()?;
        }
        Ok(())
    }

    /// Says that this worker sends no more in this round, and waits until all have said so, calling `meanwhile`.
    pub(crate) fn end_round(
        &mut self,
        meanwhile: &mut dyn FnMut(&mut Post<'a>) -> Result<(), ClusterError>,
    ) -> Result<(), ClusterError> {
        let end = (self.time / ROUND + 1) * ROUND;
        self.advance(end);
        while self.probe.less_than(&end) {
            self.wait()?;
            meanwhile(self)?;
        }
        Ok(())
    }

    /// Compares with all others what was asked; gives the number of layers that all have done.
    pub(crate) fn compare(
        &mut self,
        asked: &str,
        layers: Option<u32>,
    ) -> Result<Option<u32>, ClusterError> {
        let worker = self.own();
        for to in 0..self.workers() as u64 {
            self.send(to, Message::Hello { worker, asked: asked.to_string(), layers });
        }
        self.end_round(&mut |_| Ok(()))?;
        let mut least = layers;
        for (worker, theirs, layers) in std::mem::take(&mut self.inbox().hellos) {
            if theirs != asked {
                let what = Hinted::new(
                    format!(
                        "the processes were not asked for the same: worker {worker} for {theirs}, this one for {asked}"
                    ),
                    "give all the same program and arguments",
                );
                return Err(ClusterError::Input(what));
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
