//! Values of a worker's own blocks, layer by layer from the end.
//!
//! Moves are generated chunk by chunk. The values of their successors are requested from the owners,
//! each once per some millions of moves.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::Works;
use crate::Done;
use crate::exchange::{Exchange, Message, hash, owner};
use crate::expand::{PlaceKeys, TOGETHER, Trace};
use crate::spool::protocol_error;
use yomikiri::enumerate::{Part, TaskStates};
use yomikiri::error::Error;
use yomikiri::games::othello::blocks::{Bits, Blocks};
use yomikiri::rules::{Empties, Score};
use yomikiri::solve::PartValues;
use yomikiri::solve::value::{Short, SweepOrder};
use yomikiri::table::rows::{Keys, Rows};
use yomikiri::table::{BESIDE, Memory};

/// Most places of a request.
const QUESTION: usize = 1 << 14;

/// States of a worker's part with the values found so far.
struct Known<'a, B: Bits> {
    rules: &'a Blocks<B>,
    squares: u32,
    rows: &'a Rows,
    keys: &'a [u64],
    values: PartValues,
}

impl<B: Bits> Known<'_, B> {
    /// Appends the values of some places of a block; places ascend. `None` if one is missing.
    fn look_up(&self, block: u32, places: &[u32], values: &mut Vec<i16>) -> Option<()> {
        let rows = self.rows.layer(block.count_ones());
        let mut wanted_keys = Vec::with_capacity(places.len());
        let places = places.iter().copied();
        B::run(PlaceKeys { rules: self.rules, block, places, keys: &mut wanted_keys });
        let mut from = rows.start;
        let first = u64::from(block) << self.squares;
        from += self.keys[rows.clone()].partition_point(|&key| key < first);
        let known = &self.keys[..rows.end];
        for key in wanted_keys {
            // Both ascend and the next is near: a galloping search.
            let mut step = 1;
            while known.get(from + step).is_some_and(|next| *next <= key) {
                from += step;
                step *= 2;
            }
            let end = known.len().min(from + step);
            from += known.get(from..end)?.partition_point(|known| *known < key);
            known.get(from).filter(|known| **known == key)?;
            values.push(self.values.get(from)?.number());
        }
        Some(())
    }
}

/// Requests without an answer.
#[derive(Default)]
struct Open {
    number: u32,
    /// Waiting moves and number of places of each request. A move packs the index of its place in the high
    /// half and its row in the low half.
    questions: FxHashMap<u32, (Vec<u64>, usize)>,
    /// Number of waiting moves.
    moves: usize,
    /// Best value known for every row of the chunk.
    best: Vec<Short>,
}

impl Open {
    fn take(&mut self, (number, values): (u32, Vec<i16>)) -> Result<(), Error> {
        let (waiting, places) = self.questions.remove(&number).ok_or_else(protocol_error)?;
        if values.len() != places {
            return Err(protocol_error());
        }
        for pair in &waiting {
            let best = &mut self.best[*pair as u32 as usize];
            *best = (*best).min(Short::of_number(values[(pair >> 32) as usize]));
        }
        self.moves -= waiting.len();
        Ok(())
    }
}

/// Least rows whose values are found together.
const ROWS: usize = 1 << 16;

/// Finds the values of own blocks.
pub(super) fn backwards<B: Bits>(
    works: &Works<'_, B>,
    exchange: &mut Exchange<'_>,
    part: Part,
) -> Result<Done, Error> {
    let (game, rules) = (&*works.job.game, &works.rules);
    let incomplete = || {
        Error::new(
            "incomplete states: some processes lack layers",
            "run 'solver enumerate' with the same hosts first",
        )
    };
    let Part::Table(mut table) = part else {
        exchange.compare(&works.asked, None)?;
        return Err(incomplete());
    };
    let rows = Rows::open_checked(game, &table)?;
    let Keys::Narrow(keys) = rows.keys() else { return Err(table.damaged_manifest("no keys")) };
    let share = works.job.memory.map(|memory| memory / (4 * works.job.workers as u64) + BESIDE);
    let values = PartValues::open(game, &table, &Memory::new(share, table.dir()))?;
    let (height, width) = game.shape();
    let squares = (height * width) as u32;
    let mut known = Known { rules, squares, rows: &rows, keys, values };
    let is_known = |rows: &Range<usize>| rows.start >= known.values.first();
    let own_layers = rows.layers().rev().take_while(is_known).count();
    let common = exchange.compare(&works.asked, Some(own_layers as u32))?.ok_or_else(incomplete)?;
    let (mut done, layers) = (Done::default(), works.layers.clone());
    let most = works.limits.group.max(ROWS);
    for number in (layers.start..layers.end - common).rev() {
        let mut layer = rows.layer(number);
        let first = layer.start;
        let is_new = first < known.values.first();
        while is_new && !layer.is_empty() {
            let last = layer.end.min(layer.start + most) - 1;
            let block = rules.occupied(keys[last]);
            let more = keys[last..layer.end].partition_point(|&key| rules.occupied(key) == block);
            let chunk = layer.start..last + more;
            let values = settle(works, exchange, &keys[chunk.clone()], &known, &mut done)?;
            known.values.set(chunk.start, &values);
            done.states += values.len() as u64;
            layer.start = chunk.end;
        }
        // From here on others may request them.
        known.values.save(first)?;
        tracing::info!(layer = number, "values of own blocks complete");
        exchange.end_round(&mut |exchange| serve(exchange, &known))?;
    }
    known.values.install(game, &mut table)?;
    Ok(done)
}

/// Answers the requests received.
fn serve<B: Bits>(exchange: &mut Exchange<'_>, known: &Known<'_, B>) -> Result<(), Error> {
    loop {
        let asked = exchange.inbox().asks.pop_front();
        let Some((worker, number, words)) = asked else { return Ok(()) };
        let (mut rest, mut values) = (&words[..], Vec::with_capacity(words.len()));
        while let [block, count, more @ ..] = rest {
            let (places, after) =
                more.split_at_checked(*count as usize).ok_or_else(protocol_error)?;
            known.look_up(*block, places, &mut values).ok_or_else(|| {
                Error::new(
                    "a move leads out of the enumerated states",
                    "remove the parts and start again",
                )
            })?;
            rest = after;
        }
        exchange.send(worker as u64, Message::Answer { number, values });
    }
}

/// Finds the values of some keys, all of the blocks in which they lie.
fn settle<B: Bits>(
    works: &Works<'_, B>,
    exchange: &mut Exchange<'_>,
    keys: &[u64],
    known: &Known<'_, B>,
    done: &mut Done,
) -> Result<Vec<Short>, Error> {
    let (rules, game) = (&works.rules, &works.job.game);
    let mut open = Open { best: vec![Short::HIGHEST; keys.len()], ..Open::default() };
    let (mut over, mut passing, mut states) = (Vec::new(), Vec::new(), TaskStates::default());
    let mut reached: FxHashMap<u32, Vec<u64>> = FxHashMap::default();
    let (mut kept, mut row) = (0, 0);
    let leaf = |key: u64| {
        let state = game.state(key.into());
        state.map_or(Score(0), |state| game.score(&state, Empties::Uncounted))
    };
    for of_block in keys.chunk_by(|&a, &b| rules.occupied(a) == rules.occupied(b)) {
        let block = &rules.block(rules.occupied(of_block[0]));
        let mut lists = vec![Vec::new(); block.placements.len()];
        for keys in of_block.chunks(TOGETHER) {
            let (states, lists) = (&mut states, &mut lists[..]);
            let (over, passing) = (&mut over, &mut passing);
            done.moves +=
                B::run(Trace { rules, block, states, keys, row, lists, leaf, over, passing });
            row += keys.len() as u32;
            for (placement, list) in block.placements.iter().zip(lists) {
                if !list.is_empty() {
                    kept += list.len();
                    reached.entry(placement.to.occupied).or_default().append(list);
                }
            }
            if kept > works.limits.kept {
                ask(exchange, &mut reached, &mut open);
                // One share is in flight while the next is generated.
                wait(exchange, known, &mut open, kept)?;
                kept = 0;
            }
        }
    }
    ask(exchange, &mut reached, &mut open);
    wait(exchange, known, &mut open, 0)?;
    let mut values = open.best;
    values
        .iter_mut()
        .filter(|value| **value != Short::HIGHEST)
        .for_each(|value| *value = value.before());
    for (row, value) in over {
        values[row as usize] = value;
    }
    // A pass leads to a state of the same block that has moves.
    let occupied = |row: u32| rules.occupied(keys[row as usize]);
    for of_block in passing.chunk_by(|&a, &b| occupied(a) == occupied(b)) {
        let block = rules.block(occupied(of_block[0]));
        for &row in of_block {
            let mover = keys[row as usize] as u32 & block.occupied;
            let after = rules.key(&block, rules.swapped(&block, mover).0);
            let other = keys.binary_search(&after).map_err(|_| protocol_error())?;
            values[row as usize] = values[other].before();
        }
    }
    Ok(values)
}

/// Sorts pairs by their high halves, of which `bits` are significant: by their digits, which takes a third of the time of
/// comparing where there are many.
fn sort_by_place(pairs: &mut Vec<u64>, bits: u32, spare: &mut Vec<u64>) {
    if pairs.len() < 1 << 8 {
        return pairs.sort_unstable();
    }
    spare.resize(pairs.len(), 0);
    for shift in (32..32 + bits).step_by(8) {
        let mut ends = [0usize; 256];
        pairs.iter().for_each(|pair| ends[(pair >> shift) as usize & 255] += 1);
        let mut begin = 0;
        for end in &mut ends {
            begin += std::mem::replace(end, begin);
        }
        for &pair in pairs.iter() {
            let at = &mut ends[(pair >> shift) as usize & 255];
            spare[*at] = pair;
            *at += 1;
        }
        std::mem::swap(pairs, spare);
    }
}

/// Requests the values of some successors from their owners.
fn ask(exchange: &mut Exchange<'_>, reached: &mut FxHashMap<u32, Vec<u64>>, open: &mut Open) {
    let mut letters = vec![(Vec::new(), Vec::new(), 0); exchange.workers()];
    let mut spare = Vec::new();
    for (block, mut pairs) in reached.drain() {
        sort_by_place(&mut pairs, block.count_ones(), &mut spare);
        let to = owner(hash(block.into()), exchange.workers());
        let letter = &mut letters[to as usize];
        let mut pairs = &pairs[..];
        while !pairs.is_empty() {
            let (words, waiting, places): &mut (Vec<u32>, Vec<u64>, usize) = letter;
            let begun = words.len();
            words.extend([block, 0]);
            let mut last = None;
            let mut taken = 0;
            for &pair in pairs {
                let place = (pair >> 32) as u32;
                if last != Some(place) {
                    if *places == QUESTION {
                        break;
                    }
                    last = Some(place);
                    words.push(place);
                    *places += 1;
                }
                waiting.push((*places as u64 - 1) << 32 | pair & 0xffff_ffff);
                taken += 1;
            }
            words[begun + 1] = (words.len() - begun - 2) as u32;
            pairs = &pairs[taken..];
            if *places == QUESTION {
                question(exchange, to, std::mem::take(letter), open);
            }
        }
    }
    for (to, letter) in (0..).zip(letters) {
        if letter.2 > 0 {
            question(exchange, to, letter, open);
        }
    }
}

fn question(
    exchange: &mut Exchange<'_>,
    to: u64,
    letter: (Vec<u32>, Vec<u64>, usize),
    open: &mut Open,
) {
    let (words, waiting, places) = letter;
    open.moves += waiting.len();
    open.questions.insert(open.number, (waiting, places));
    exchange.send(to, Message::Ask { worker: exchange.own(), number: open.number, words });
    open.number = open.number.wrapping_add(1);
}

/// Answers others, and waits until at most `moves` moves wait for answers.
fn wait<B: Bits>(
    exchange: &mut Exchange<'_>,
    known: &Known<'_, B>,
    open: &mut Open,
    moves: usize,
) -> Result<(), Error> {
    loop {
        serve(exchange, known)?;
        let answers = std::mem::take(&mut exchange.inbox().answers);
        answers.into_iter().try_for_each(|answer| open.take(answer))?;
        if open.moves <= moves {
            return Ok(());
        }
        exchange.wait()?;
    }
}
