//! A worker: enumerates the layers of its own blocks. Their values are found in `backwards`.

mod backwards;

use std::ops::Range;

use rustc_hash::FxHashMap;
use timely::worker::Worker;

use crate::exchange::{Exchange, Keeping, Message, hash, owner, slice};
use crate::expand::{Count, Expand, Sets, TOGETHER, join, of_pair, pair};
use crate::parts::{Part, PartKind};
use crate::spool::{Records, Spool, protocol_error};
use crate::{Done, Job};
use backwards::backwards;
use yomikiri::enumerate::TaskStates;
use yomikiri::error::Error;
use yomikiri::games::othello::blocks::{Bits, Blocks};
use yomikiri::rules::Group;
use yomikiri::table::Counts;

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
    pub part: Part,
    pub limits: Limits,
    /// Layers of the game, from that of the roots.
    pub layers: Range<u32>,
    /// Job in words, which all workers must have alike.
    pub asked: String,
}

/// Returns the job in words, which all processes must have alike.
pub(super) fn asked(job: &Job, peers: usize) -> String {
    let (version, identity) = (env!("CARGO_PKG_VERSION"), job.plan.identity(&*job.game));
    let identity = serde_json::to_string(&identity).expect("plain data");
    format!("version {version}, {peers} workers, {identity}")
}

/// Returns the length in words and the slice of the first record. A record is a block, the number of
/// pairs, their places, then their orientations, two per word.
fn first(words: &[u32]) -> Option<(usize, u32)> {
    let &[block, count, ..] = words else { return None };
    let count = count as usize;
    Some((2 + count + count.div_ceil(2), slice(hash(block.into()))))
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

const RECORDS: Records = Records { first, join: join_records };

/// Returns the block and the pair of each root.
pub(super) fn roots<B: Bits>(job: &Job, rules: &Blocks<B>) -> Vec<(u32, u64)> {
    let roots = job.plan.roots.iter().filter_map(|root| {
        let (block, place, ties) = rules.place_of(job.game.squares(&root.state)?);
        Some((block, pair(place, job.game.group().root_orientations(root.side, ties).0)))
    });
    roots.collect()
}

/// Does a worker's part of a job.
pub(super) fn work<B: Bits>(job: &Job, worker: &mut Worker) -> Result<Done, Error> {
    let rules = Blocks::<B>::new(&*job.game);
    let part = Part::new(&job.parts, worker.index(), asked(job, worker.peers()));
    let _lock = part.lock()?;
    let limits = Limits::of(job.memory, job.workers);
    let keeping = Keeping { words: limits.spool, dir: job.parts.clone(), records: RECORDS };
    let asked = asked(job, worker.peers());
    let mut exchange = Exchange::new(worker, keeping);
    let (rows, columns) = job.game.shape();
    let squares = (rows * columns) as u32;
    let roots = roots(job, &rules);
    let begin = roots.iter().map(|root| root.0.count_ones()).min().unwrap_or(squares);
    let layers = begin..squares + 1;
    let what = if job.solves { "values" } else { "states" };
    let asked = format!("{what} of {asked}");
    let works = Works { job, rules, group: job.game.group(), part, limits, layers, asked };
    let done = match job.solves {
        false => works.forwards(&mut exchange, &roots),
        true => backwards(&works, &mut exchange),
    }?;
    Ok(Done { sent: exchange.sent, ..done })
}

/// Pairs held back by block, until they are sent.
#[derive(Default)]
struct Reached {
    blocks: FxHashMap<u32, Vec<u64>>,
    count: usize,
    /// `true` in the last layer, from which nothing is sent.
    is_last: bool,
}

impl<B: Bits> Works<'_, B> {
    /// Enumerates own blocks, layer by layer.
    fn forwards(&self, exchange: &mut Exchange<'_>, roots: &[(u32, u64)]) -> Result<Done, Error> {
        let Range { start, end } = self.layers;
        let own = self.part.layers_from(start, end)?;
        let common = exchange.compare(&self.asked, Some(own))?.unwrap_or(0);
        let end = self.job.plies.map_or(end, |plies| end.min(start.saturating_add(plies) + 1));
        let mut done = Done::default();
        // The last layer that all have is expanded again for its successors.
        let mut number = start + common.saturating_sub(1);
        if number >= end {
            return Ok(done);
        }
        let mut reached = Reached { is_last: number + 1 == end, ..Reached::default() };
        let counts = match common {
            0 => {
                let mut spool = Spool::new(usize::MAX, RECORDS, &self.job.parts);
                for &(block, pair) in roots {
                    if owner(hash(block.into()), exchange.workers()) == exchange.own() as u64 {
                        let mut words = Vec::new();
                        encode(&mut words, block, &[pair]);
                        spool.take(&words)?;
                    }
                }
                self.make_layer(exchange, number, spool, &mut reached)?
            }
            _ => self.again(exchange, number, &mut reached)?,
        };
        done.add(&counts);
        while !reached.is_last {
            self.send(exchange, &mut reached);
            exchange.end_round(&mut |_| Ok(()))?;
            number += 1;
            reached.is_last = number + 1 == end;
            let spool = exchange.spool();
            done.add(&self.make_layer(exchange, number, spool, &mut reached)?);
        }
        Ok(done)
    }

    /// Makes states of the received pairs, writes them, and expands them.
    fn make_layer(
        &self,
        exchange: &mut Exchange<'_>,
        number: u32,
        mut spool: Spool,
        reached: &mut Reached,
    ) -> Result<Counts, Error> {
        let (mut file, mut counts) = (self.part.write(PartKind::Layer, number)?, Counts::default());
        for slices in spool.groups(self.limits.group) {
            let last = slices.end;
            let mut found: FxHashMap<u32, Vec<u64>> = FxHashMap::default();
            let mut whole = Some(());
            spool.give(slices, &mut |words| whole = whole.and(by_block(words, &mut found)))?;
            whole.ok_or_else(protocol_error)?;
            let mut found: Vec<(u32, Vec<u64>)> = found.into_iter().collect();
            found.sort_unstable_by_key(|block| block.0);
            let (mut blocks, mut places, mut all) = (Vec::new(), Vec::new(), Vec::new());
            for (occupied, mut pairs) in found {
                join(&mut pairs);
                let sets = pairs.drain(..).map(of_pair).collect();
                drop(pairs);
                let sets = self.expand(exchange, occupied, sets, reached, &mut counts)?;
                places.extend(sets.iter().map(|set| set.0));
                all.extend(sets.iter().map(|set| set.1));
                blocks.push([occupied, places.len() as u32]);
            }
            let arrays: [&[u8]; 3] = [
                bytemuck::cast_slice(&blocks),
                bytemuck::cast_slice(&places),
                bytemuck::cast_slice(&all),
            ];
            file.chunk(last, (blocks.len(), places.len()), &arrays)?;
        }
        file.finish(&self.part, counts)?;
        tracing::info!(
            layer = number,
            states = counts.table.states,
            "layer of own blocks complete"
        );
        Ok(counts)
    }

    /// Expands a layer that is already in a file.
    fn again(
        &self,
        exchange: &mut Exchange<'_>,
        number: u32,
        reached: &mut Reached,
    ) -> Result<Counts, Error> {
        let mut counts = Counts::default();
        let Some(layer) = self.part.read(PartKind::Layer, number)? else { return Ok(counts) };
        layer.check()?;
        for chunk in layer.extents() {
            let piece = layer.piece(chunk)?;
            for (occupied, rows) in piece.ranges() {
                let both = piece.places.get(rows.clone()).zip(piece.sets.get(rows));
                let (places, sets) = both.ok_or_else(|| layer.damaged())?;
                let sets = places.iter().copied().zip(sets.iter().copied()).collect();
                self.expand(exchange, occupied, sets, reached, &mut counts)?;
            }
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
