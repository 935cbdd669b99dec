//! A worker: enumerates the layers of its own blocks. Their values are found in `backwards`.

mod backwards;

use std::ops::Range;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use timely::worker::Worker;

use crate::exchange::{Exchange, Keeping, Message, hash, owner};
use crate::expand::{Count, Expand, PlaceKeys, Sets, TOGETHER, join, of_pair, pair};
use crate::spool::{Records, SLICES, Spool, protocol_error};
use crate::{Done, Job};
use backwards::backwards;
use yomikiri::enumerate::{Part, TaskStates, part_name};
use yomikiri::error::{Error, Kind};
use yomikiri::games::othello::blocks::{Bits, Blocks};
use yomikiri::rules::Group;
use yomikiri::table::{Counts, Lock, Store};

/// Approximate words of a message.
pub(super) const MESSAGE: usize = 1 << 15;
/// Most pairs of a record.
const RECORD: usize = 1 << 13;

/// Limits of what a worker holds in memory.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Words received for the next layer.
    pub spool: usize,
    /// Words of a group of slices, which are processed together.
    group: usize,
    /// Moves held back, so that duplicates are joined before they are sent.
    pub kept: usize,
}

impl Limits {
    /// Returns the limits of one of `workers` workers of a process. A word of a group becomes about 16
    /// bytes; a move held back takes 48, with what lies in queues at both ends.
    pub(crate) fn of(memory: Option<u64>, workers: usize) -> Limits {
        let share = memory.map_or(usize::MAX, |memory| {
            let beside = memory.saturating_sub(24 << 20).max(8 << 20);
            usize::try_from(beside).unwrap_or(usize::MAX) / workers
        });
        let quarter = share / 4;
        Limits {
            spool: quarter / 6,
            group: (quarter / 16).min(1 << 23),
            kept: (quarter / 48).min(1 << 22),
        }
    }
}

/// Work of a worker.
pub(super) struct Works<'a, B: Bits> {
    pub job: &'a Job,
    pub rules: Blocks<B>,
    pub group: &'a Group,
    pub records: Records,
    pub limits: Limits,
    /// Layers of the game, from that of the roots.
    pub layers: Range<u32>,
    /// Job in words, which all workers must have alike.
    pub asked: String,
}

/// Time that a process may take to end after its launcher has ended.
const ENDING: Duration = Duration::from_secs(2);

/// Locks a part against other processes. Waits a little for a process that is just ending.
fn lock(store: &Store, name: &str) -> Result<Lock, Error> {
    let until = Instant::now() + ENDING;
    loop {
        match store.lock(name) {
            Err(error) if error.kind() == Kind::Busy && Instant::now() < until => {
                sleep(ENDING / 100);
            }
            taken => return taken,
        }
    }
}

/// Returns the job in words, which all processes must have alike.
fn asked(job: &Job, peers: usize) -> String {
    let (version, identity) = (env!("CARGO_PKG_VERSION"), job.plan.identity(&*job.game));
    let identity = serde_json::to_string(&identity).expect("plain data");
    format!("version {version}, {peers} workers, {identity}")
}

/// Returns the length in words of the first record. A record is a block, the number of pairs, their places,
/// then their orientations, two per word.
fn first(words: &[u32]) -> Option<usize> {
    let count = *words.get(1)? as usize;
    Some(2 + count + count.div_ceil(2))
}

/// Appends a record of one block.
fn encode(words: &mut Vec<u32>, block: u32, pairs: &[u64]) {
    words.extend([block, pairs.len() as u32]);
    words.extend(pairs.iter().map(|&pair| of_pair(pair).0));
    let set = |pair: &u64| u32::from(of_pair(*pair).1);
    words.extend(pairs.chunks(2).map(|two| set(&two[0]) | two.get(1).map_or(0, set) << 16));
}

/// Calls `visit` with the block and pairs of every record; `None` if the words are invalid.
fn decode(
    mut words: &[u32],
    visit: &mut dyn FnMut(u32, &mut dyn Iterator<Item = u64>),
) -> Option<()> {
    while let [block, count, rest @ ..] = words {
        let (places, rest) = rest.split_at_checked(*count as usize)?;
        let (sets, rest) = rest.split_at_checked(places.len().div_ceil(2))?;
        let set = |number: usize| (sets[number / 2] >> (16 * (number % 2))) as u16;
        let mut pairs = places.iter().enumerate().map(|(n, &place)| pair(place, set(n)));
        visit(*block, &mut pairs);
        words = rest;
    }
    words.is_empty().then_some(())
}

/// Collects the pairs of every block; `None` if the words are invalid.
fn by_block(words: &[u32], found: &mut FxHashMap<u32, Vec<u64>>) -> Option<()> {
    decode(words, &mut |block, pairs| found.entry(block).or_default().extend(pairs))
}

/// Joins the pairs of equal places; `None` if the words are invalid.
fn join_records(words: &[u32]) -> Option<Vec<u32>> {
    let mut found = FxHashMap::default();
    by_block(words, &mut found)?;
    let mut joined = Vec::new();
    for (block, mut pairs) in found {
        join(&mut pairs);
        pairs.chunks(RECORD).for_each(|record| encode(&mut joined, block, record));
    }
    Some(joined)
}

/// Returns the block and the pair of each root.
fn roots<B: Bits>(job: &Job, rules: &Blocks<B>) -> Vec<(u32, u64)> {
    let roots = job.plan.roots.iter().filter_map(|root| {
        let (block, place, ties) = rules.place_of(job.game.squares(&root.state)?);
        Some((block, pair(place, job.game.group().root_orientations(root.side, ties).0)))
    });
    roots.collect()
}

/// Does a worker's part of a job.
pub(super) fn work<B: Bits>(job: &Job, worker: &mut Worker) -> Result<Done, Error> {
    let rules = Blocks::<B>::new(&*job.game);
    let (number, store) = ([worker.index(), worker.peers()], Store::at(&job.parts));
    let name = part_name(number);
    let _lock = lock(&store, &name)?;
    let (rows, columns) = job.game.shape();
    let squares = (rows * columns) as u32;
    let roots = roots(job, &rules);
    let begin = roots.iter().map(|root| root.0.count_ones()).min().unwrap_or(squares);
    let layers = begin..squares + 1;
    let part = Part::open(&*job.game, &job.plan, &store.place(&name), number, layers.clone())?;
    let limits = Limits::of(job.memory, job.workers);
    // Slices are ranges of the blocks' highest bits.
    let shift = squares.saturating_sub(SLICES.ilog2());
    let records = Records { first, join: join_records, shift };
    let keeping = Keeping { words: limits.spool, dir: job.parts.clone(), records };
    let what = if job.solves { "values" } else { "states" };
    let asked = format!("{what} of {}", asked(job, worker.peers()));
    let mut exchange = Exchange::new(worker, keeping);
    let works = Works { job, rules, group: job.game.group(), records, limits, layers, asked };
    let done = match job.solves {
        false => works.forwards(&mut exchange, part, &roots),
        true => backwards(&works, &mut exchange, part),
    }?;
    Ok(Done { sent: exchange.sent, ..done })
}

/// Pairs held back by block, until they are sent.
#[derive(Default)]
struct Reached {
    blocks: FxHashMap<u32, Vec<u64>>,
    count: usize,
}

impl<B: Bits> Works<'_, B> {
    /// Enumerates own blocks, layer by layer.
    fn forwards(
        &self,
        exchange: &mut Exchange<'_>,
        mut part: Part,
        roots: &[(u32, u64)],
    ) -> Result<Done, Error> {
        let Range { start, end } = self.layers;
        let common = exchange.compare(&self.asked, Some(part.layers()))?.unwrap_or(0);
        let end = self.job.plies.map_or(end, |plies| end.min(start.saturating_add(plies) + 1));
        let mut done = Done::default();
        if common == self.layers.len() as u32 && matches!(part, Part::Table(_)) {
            return Ok(done);
        }
        part.check()?;
        // The last layer that all have is expanded again for its successors.
        let mut number = start + common.saturating_sub(1);
        let mut spool = Spool::new(usize::MAX, self.records, &self.job.parts);
        for &(block, pair) in roots {
            if owner(hash(block.into()), exchange.workers()) == exchange.own() as u64 {
                let mut words = Vec::new();
                encode(&mut words, block, &[pair]);
                spool.take(&words)?;
            }
        }
        let mut reached = Reached::default();
        while number < end {
            done.add(&match number - start < part.layers() {
                true => self.again(exchange, number, &mut part, &mut reached)?,
                false => self.make_layer(exchange, number, spool, &mut part, &mut reached)?,
            });
            number += 1;
            if number < end {
                self.send(exchange, &mut reached);
                exchange.end_round(&mut |_| Ok(()))?;
            }
            spool = exchange.spool();
        }
        if let Part::Draft(draft) = part
            && number == self.layers.end
        {
            draft.commit(&*self.job.game, &self.job.plan)?;
        }
        Ok(done)
    }

    /// Makes states of the received pairs, writes them, and expands them.
    fn make_layer(
        &self,
        exchange: &mut Exchange<'_>,
        number: u32,
        mut spool: Spool,
        part: &mut Part,
        reached: &mut Reached,
    ) -> Result<Counts, Error> {
        let mut counts = Counts::default();
        let Part::Draft(part) = part else { return Ok(counts) };
        for slices in spool.groups(self.limits.group) {
            let mut found: FxHashMap<u32, Vec<u64>> = FxHashMap::default();
            let mut whole = Some(());
            spool.give(slices, &mut |words| whole = whole.and(by_block(words, &mut found)))?;
            whole.ok_or_else(protocol_error)?;
            let mut found: Vec<(u32, Vec<u64>)> = found.into_iter().collect();
            found.sort_unstable_by_key(|block| block.0);
            let (mut keys, mut all) = (Vec::new(), Vec::new());
            for (block, mut pairs) in found {
                join(&mut pairs);
                let sets = pairs.drain(..).map(of_pair).collect();
                drop(pairs);
                let sets = self.expand(exchange, block, sets, reached, &mut counts)?;
                let (rules, places) = (&self.rules, sets.iter().map(|set| set.0));
                B::run(PlaceKeys { rules, block, places, keys: &mut keys });
                all.extend(sets.iter().map(|set| set.1));
            }
            part.append(&keys, &all)?;
        }
        part.end_layer(counts)?;
        tracing::info!(
            layer = number,
            states = counts.table.states,
            "layer of own blocks complete"
        );
        Ok(counts)
    }

    /// Expands a layer that the part has.
    fn again(
        &self,
        exchange: &mut Exchange<'_>,
        number: u32,
        part: &mut Part,
        reached: &mut Reached,
    ) -> Result<Counts, Error> {
        let mut counts = Counts::default();
        let (layer, mut at) = (part.layer(number)?, 0);
        let of_blocks = |a: &u64, b: &u64| self.rules.occupied(*a) == self.rules.occupied(*b);
        for keys in layer.keys().chunk_by(of_blocks) {
            let sets = (at..)
                .zip(keys)
                .map(|(at, &key)| (self.rules.of_key(key).1, layer.orientations(at)));
            self.expand(
                exchange,
                self.rules.occupied(keys[0]),
                sets.collect(),
                reached,
                &mut counts,
            )?;
            at += keys.len();
        }
        Ok(counts)
    }

    /// Expands the states of a block and those that passes lead to. Returns all of them.
    fn expand(
        &self,
        exchange: &mut Exchange<'_>,
        occupied: u32,
        mut sets: Sets,
        reached: &mut Reached,
        counts: &mut Counts,
    ) -> Result<Sets, Error> {
        let (rules, group) = (&self.rules, self.group);
        let block = &rules.block(occupied);
        let (mut states, mut moves, mut passed) = (TaskStates::default(), Vec::new(), Vec::new());
        let mut lists = vec![Vec::new(); block.placements.len()];
        let mut expand =
            |sets: &[(u32, u16)], mut passed: Option<&mut Vec<u64>>, moves: &mut Vec<_>| {
                for sets in sets.chunks(TOGETHER) {
                    let passed = passed.as_deref_mut();
                    let (states, lists) = (&mut states, &mut lists[..]);
                    B::run(Expand { rules, group, block, states, sets, lists, passed, moves });
                    for (placement, list) in block.placements.iter().zip(lists) {
                        if !list.is_empty() {
                            reached.count += list.len();
                            reached.blocks.entry(placement.to.occupied).or_default().append(list);
                        }
                    }
                    if reached.count > self.limits.kept {
                        self.send(exchange, reached);
                        exchange.end_share()?;
                    }
                }
                Ok::<(), Error>(())
            };
        expand(&sets, Some(&mut passed), &mut moves)?;
        if !passed.is_empty() {
            join(&mut passed);
            let mut again = Sets::new();
            for (place, to) in passed.into_iter().map(of_pair) {
                match sets.binary_search_by_key(&place, |set| set.0) {
                    Ok(at) if sets[at].1 | to == sets[at].1 => {}
                    Ok(at) => again.push((place, sets[at].1 | to)),
                    Err(_) => again.push((place, to)),
                }
            }
            expand(&again, None, &mut moves)?;
            sets.extend(again);
            sets.sort_unstable();
            sets.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 |= next.1;
                }
                same
            });
            moves.sort_unstable();
            moves.dedup_by_key(|moves| moves.0);
        }
        counts.add(&B::run(Count { rules, group, block, sets: &sets, moves: &moves }));
        Ok(sets)
    }

    /// Sends the pairs held back to their owners.
    fn send(&self, exchange: &mut Exchange<'_>, reached: &mut Reached) {
        let mut letters: Vec<Vec<u32>> = vec![Vec::new(); exchange.workers()];
        for (block, mut pairs) in reached.blocks.drain() {
            join(&mut pairs);
            let to = owner(hash(block.into()), exchange.workers());
            let words = &mut letters[to as usize];
            for record in pairs.chunks(RECORD) {
                encode(words, block, record);
                if words.len() > MESSAGE {
                    exchange.send(to, Message::Found(std::mem::take(words)));
                }
            }
        }
        for (to, words) in (0..).zip(letters) {
            if !words.is_empty() {
                exchange.send(to, Message::Found(words));
            }
        }
        reached.count = 0;
    }
}
