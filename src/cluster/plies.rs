//! Games with cycles, ply by ply: what a worker does for the keys that it owns.

use timely::worker::Worker;

use super::parts::{Chunks, Kind, Part};
use super::post::{Keeping, Message, Post, hash, owner, slice};
use super::spool::{Records, SLICES, Spool, strange};
use super::worker::{Limits, MESSAGE, asked};
use super::{ClusterError, Done, Job};
use crate::any::AnyPosition;
use crate::game::{Game, WideKey};
use crate::table::{Counts, Tally};

/// Words of a key.
const WORDS: usize = 4;

fn hash_of(WideKey([a, b]): WideKey) -> u64 {
    hash(hash(a).rotate_left(32) ^ b)
}

/// The key that some words begin with, and its slice.
fn first(words: &[u32]) -> Option<(usize, u32)> {
    let key = words.first_chunk::<WORDS>()?;
    Some((WORDS, slice(hash_of(key_of(*key)))))
}

fn key_of([a, b, c, d]: [u32; WORDS]) -> WideKey {
    WideKey([u64::from(a) << 32 | u64::from(b), u64::from(c) << 32 | u64::from(d)])
}

fn words_of(WideKey([a, b]): WideKey) -> [u32; WORDS] {
    [(a >> 32) as u32, a as u32, (b >> 32) as u32, b as u32]
}

/// The keys of some words, ascending, each once.
fn distinct(words: &[u32]) -> Vec<WideKey> {
    let mut keys: Vec<WideKey> = words.as_chunks().0.iter().map(|&words| key_of(words)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn join_records(words: &[u32]) -> Option<Vec<u32>> {
    Some(distinct(words).into_iter().flat_map(words_of).collect())
}

const RECORDS: Records = Records { first, join: join_records };

/// A worker's work, with the plies that it has.
struct Plies<'a> {
    job: &'a Job,
    part: Part,
    limits: Limits,
    made: Vec<Chunks>,
    /// Keys that are reached, until they are sent, by owner.
    reached: Vec<Vec<WideKey>>,
    kept: usize,
    done: Done,
}

/// Finds the plies of own keys, one after another.
pub(super) fn work(job: &Job, worker: &mut Worker) -> Result<Done, ClusterError> {
    let asked = asked(job, worker.peers());
    let part = Part::new(&job.parts, worker.index(), asked.clone());
    let _lock = part.lock()?;
    let limits = Limits::of(job.memory, job.workers);
    let keeping = Keeping { words: limits.spool, dir: job.parts.clone(), records: RECORDS };
    let mut post = Post::new(worker, keeping);
    let own = part.layers_from(0, u32::MAX)?;
    let there = post.compare(&format!("states of {asked}"), Some(own))?.unwrap_or(0);
    let mut made = Vec::new();
    for ply in 0..there {
        let chunks = part.read(Kind::Layer, ply)?;
        made.extend(chunks.map(|chunks| chunks.check().map(|()| chunks)).transpose()?);
    }
    let reached = vec![Vec::new(); post.workers()];
    let mut plies = Plies { job, part, limits, made, reached, kept: 0, done: Done::default() };
    let mut ply = there.saturating_sub(1);
    if there > 0 {
        plies.again(&mut post, ply)?;
    } else {
        let mut spool = Spool::new(usize::MAX, RECORDS, &job.parts);
        for root in &job.plan.roots {
            let key = job.game.position_key(root);
            if owner(hash_of(key), post.workers()) == post.own() as u64 {
                spool.take(&words_of(key))?;
            }
        }
        plies.make(&mut post, ply, spool)?;
    }
    while job.plan.max_depth != Some(ply) {
        plies.send(&mut post);
        let own = plies.made.last().map_or(0, Chunks::rows);
        for to in 0..post.workers() as u64 {
            post.send(to, Message::Count(own));
        }
        post.end_round(&mut |_| Ok(()))?;
        // A ply without states is the last.
        if post.counted() == 0 {
            break;
        }
        ply += 1;
        let spool = post.spool();
        plies.make(&mut post, ply, spool)?;
    }
    Ok(Done { sent: post.sent, ..plies.done })
}

impl Plies<'_> {
    /// Makes a ply of what was received, writes it, and makes its moves.
    fn make(
        &mut self,
        post: &mut Post<'_>,
        ply: u32,
        mut spool: Spool,
    ) -> Result<(), ClusterError> {
        let mut file = self.part.write(Kind::Layer, ply)?;
        let mut counts = Tally::default();
        for slice in 0..SLICES {
            let mut words = Vec::new();
            spool.give(slice..slice + 1, &mut |more| words.extend_from_slice(more))?;
            let mut keys = distinct(&words);
            for earlier in &self.made {
                let known = chunk_of(earlier, slice)?;
                let mut from = 0;
                keys.retain(|key| {
                    from += known[from..].partition_point(|known| known < key);
                    known.get(from) != Some(key)
                });
            }
            self.follow(post, ply, &keys, &mut counts)?;
            file.chunk(slice + 1, (0, keys.len()), &[bytemuck::cast_slice(&keys)])?;
        }
        file.finish(&self.part, Counts { table: counts, ..Counts::default() })?;
        let made = self.part.read(Kind::Layer, ply)?;
        self.made.extend(made);
        tracing::info!(ply, states = counts.states, "ply of own positions complete");
        Ok(())
    }

    /// Makes the moves of a ply that is there.
    fn again(&mut self, post: &mut Post<'_>, ply: u32) -> Result<(), ClusterError> {
        let Some(last) = self.made.pop() else { return Ok(()) };
        let mut counts = Tally::default();
        for slice in 0..SLICES {
            self.follow(post, ply, chunk_of(&last, slice)?, &mut counts)?;
        }
        self.made.push(last);
        Ok(())
    }

    /// Makes the moves of some positions of a ply, unless it is the last that is asked for.
    fn follow(
        &mut self,
        post: &mut Post<'_>,
        ply: u32,
        keys: &[WideKey],
        counts: &mut Tally,
    ) -> Result<(), ClusterError> {
        let (game, workers) = (&self.job.game, self.reached.len());
        let is_last = self.job.plan.max_depth == Some(ply);
        for &key in keys {
            let position = game.position_of(key).ok_or_else(strange)?;
            let mut moves = 0;
            if is_last {
                moves = u64::from(!game.is_terminal(&position.state));
                counts.frontier += moves;
            } else {
                let side = position.side.other();
                game.for_each_successor(&position.state, |_, state| {
                    moves += 1;
                    let key = game.position_key(&AnyPosition { state, side });
                    self.reached[owner(hash_of(key), workers) as usize].push(key);
                });
                self.kept += moves as usize;
                counts.transitions += moves;
                self.done.moves += moves;
            }
            counts.terminals += u64::from(moves == 0);
            // A key takes twice as much as the move of a block.
            if self.kept > self.limits.kept / 2 {
                self.send(post);
                post.end_share()?;
            }
        }
        counts.states += keys.len() as u64;
        self.done.states += keys.len() as u64;
        Ok(())
    }

    /// Sends what was kept back to the owners.
    fn send(&mut self, post: &mut Post<'_>) {
        for (to, keys) in (0..).zip(&mut self.reached) {
            keys.sort_unstable();
            keys.dedup();
            for some in keys.chunks(MESSAGE / WORDS) {
                let words = some.iter().flat_map(|&key| words_of(key)).collect();
                post.send(to, Message::Found(words));
            }
            keys.clear();
        }
        self.kept = 0;
    }
}

/// The keys of a slice in a ply.
pub(super) fn chunk_of(ply: &Chunks, slice: u32) -> Result<&[WideKey], ClusterError> {
    let chunk = ply.extents().get(slice as usize).filter(|chunk| chunk.slices == slice + 1);
    ply.numbers(chunk.ok_or_else(|| ply.damaged())?)
}
