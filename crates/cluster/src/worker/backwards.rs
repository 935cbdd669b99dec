//! Values of a worker's own blocks, layer by layer from the end.
//!
//! Moves are generated chunk by chunk. The values of their successors are requested from the owners,
//! each once per some millions of moves; owners answer from mapped files of the next layer's values.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::Works;
use crate::Done;
use crate::exchange::{Exchange, Message, hash, owner, slice};
use crate::expand::{TOGETHER, Trace};
use crate::parts::{Chunks, Extent, PartKind};
use crate::spool::protocol_error;
use yomikiri::enumerate::TaskStates;
use yomikiri::error::{Error, Kind};
use yomikiri::games::othello::blocks::Bits;
use yomikiri::rules::{Empties, Score};
use yomikiri::solve::value::{Short, SweepOrder};
use yomikiri::table::Counts;

/// Most places of a request.
const QUESTION: usize = 1 << 14;

/// States of a layer with their values.
struct KnownLayer {
    layer: Chunks,
    values: Chunks,
}

impl KnownLayer {
    /// Appends the values of some places of a block; places ascend. `None` if one is missing.
    fn look_up(&self, block: u32, places: &[u32], values: &mut Vec<i16>) -> Option<()> {
        let slice = slice(hash(block.into()));
        let number = self.layer.extents().partition_point(|chunk| chunk.slices <= slice);
        let (own, theirs) = (self.layer.extents().get(number)?, self.values.extents().get(number)?);
        let piece = self.layer.piece(own).ok()?;
        let rows = piece.find(block)?;
        let known = piece.places.get(rows.clone())?;
        let worth = self.values.numbers::<i16>(theirs).ok()?.get(rows)?;
        let mut from = 0;
        for place in places {
            // Both ascend and the next is near: a galloping search.
            let mut step = 1;
            while known.get(from + step).is_some_and(|next| next <= place) {
                from += step;
                step *= 2;
            }
            let end = known.len().min(from + step);
            from += known[from..end].partition_point(|known| known < place);
            values.push(*worth.get(from).filter(|_| known.get(from) == Some(place))?);
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

/// Finds the values of own blocks.
pub(super) fn backwards<B: Bits>(
    works: &Works<'_, B>,
    exchange: &mut Exchange<'_>,
) -> Result<Done, Error> {
    let (part, layers) = (&works.part, works.layers.clone());
    let all = layers.end - layers.start;
    let mut own = (part.layers_from(layers.start, layers.end)? == all).then_some(0);
    if let Some(own) = &mut own {
        for number in layers.clone().rev() {
            let Some(layer) = part.read(PartKind::Layer, number)? else { break };
            if part.values_of(&layer)?.is_none() {
                break;
            }
            *own += 1;
        }
    }
    let common = exchange.compare(&works.asked, own)?.ok_or_else(|| {
        Error::new(
            "incomplete states: some processes lack layers",
            "run 'solver enumerate' with the same hosts first",
        )
    })?;
    let missing = || Error::from("a layer was removed during the work").of_kind(Kind::Failure);
    let known = |number: u32| -> Result<KnownLayer, Error> {
        let layer = part.read(PartKind::Layer, number)?.ok_or_else(missing)?;
        let values = part.values_of(&layer)?.ok_or_else(missing)?;
        layer.check()?;
        values.check()?;
        Ok(KnownLayer { layer, values })
    };
    let mut later = BTreeMap::new();
    let end = layers.end - common;
    if common > 0 {
        later.insert(end, known(end)?);
    }
    let mut done = Done::default();
    for number in (layers.start..end).rev() {
        let layer = part.read(PartKind::Layer, number)?.ok_or_else(missing)?;
        layer.check()?;
        let mut file = part.write(PartKind::Values, number)?;
        for chunk in layer.extents() {
            let values = settle(works, exchange, (&layer, chunk), &later, &mut done)?;
            file.chunk(chunk.slices, (0, values.len()), &[bytemuck::cast_slice(&values)])?;
            done.states += values.len() as u64;
        }
        file.finish(part, Counts::default())?;
        // From here on others may request it.
        later.insert(number, known(number)?);
        tracing::info!(layer = number, states = layer.rows(), "values of own blocks complete");
        exchange.end_round(&mut |exchange| serve(exchange, &later))?;
        later.remove(&(number + 1));
    }
    Ok(done)
}

/// Answers the requests received.
fn serve(exchange: &mut Exchange<'_>, later: &BTreeMap<u32, KnownLayer>) -> Result<(), Error> {
    loop {
        let asked = exchange.inbox().asks.pop_front();
        let Some((worker, number, words)) = asked else { return Ok(()) };
        let (mut rest, mut values) = (&words[..], Vec::with_capacity(words.len()));
        while let [block, count, more @ ..] = rest {
            let (places, after) =
                more.split_at_checked(*count as usize).ok_or_else(protocol_error)?;
            let known = later.get(&block.count_ones());
            known.and_then(|known| known.look_up(*block, places, &mut values)).ok_or_else(
                || {
                    Error::new(
                        "a move leads out of the enumerated states",
                        "remove the parts and start again",
                    )
                },
            )?;
            rest = after;
        }
        exchange.send(worker as u64, Message::Answer { number, values });
    }
}

/// Finds the values of a chunk.
fn settle<B: Bits>(
    works: &Works<'_, B>,
    exchange: &mut Exchange<'_>,
    (layer, chunk): (&Chunks, &Extent),
    later: &BTreeMap<u32, KnownLayer>,
    done: &mut Done,
) -> Result<Vec<i16>, Error> {
    let (rules, game) = (&works.rules, &works.job.game);
    let piece = layer.piece(chunk)?;
    let mut open = Open { best: vec![Short::HIGHEST; piece.places.len()], ..Open::default() };
    let (mut over, mut passing, mut states) = (Vec::new(), Vec::new(), TaskStates::default());
    let mut reached: FxHashMap<u32, Vec<u64>> = FxHashMap::default();
    let mut kept = 0;
    let leaf = |key: u64| {
        let state = game.state(key.into());
        state.map_or(Score(0), |state| game.score(&state, Empties::Uncounted))
    };
    for (occupied, rows) in piece.ranges() {
        let block = &rules.block(occupied);
        let mut lists = vec![Vec::new(); block.placements.len()];
        let own = piece.places.get(rows.clone()).ok_or_else(|| layer.damaged())?;
        for (places, row) in own.chunks(TOGETHER).zip((rows.start as u32..).step_by(TOGETHER)) {
            let (states, lists) = (&mut states, &mut lists[..]);
            let (over, passing) = (&mut over, &mut passing);
            done.moves +=
                B::run(Trace { rules, block, states, places, row, lists, leaf, over, passing });
            for (placement, list) in block.placements.iter().zip(lists) {
                if !list.is_empty() {
                    kept += list.len();
                    reached.entry(placement.to.occupied).or_default().append(list);
                }
            }
            if kept > works.limits.kept {
                ask(exchange, &mut reached, &mut open);
                // One share is in flight while the next is generated.
                wait(exchange, later, &mut open, kept)?;
                kept = 0;
            }
        }
    }
    ask(exchange, &mut reached, &mut open);
    wait(exchange, later, &mut open, 0)?;
    let mut values = open.best;
    values
        .iter_mut()
        .filter(|value| **value != Short::HIGHEST)
        .for_each(|value| *value = value.before());
    for (row, value) in over {
        values[row as usize] = value;
    }
    // A pass leads to a state of the same block that has moves.
    let mut blocks = piece.ranges().peekable();
    for row in passing {
        while blocks.next_if(|block| block.1.end <= row as usize).is_some() {}
        let other = blocks.peek().and_then(|(occupied, rows)| {
            let places = &piece.places[rows.clone()];
            let block = rules.block(*occupied);
            let mover = rules.mover(&block, piece.places[row as usize]);
            let other = places.binary_search(&rules.swapped(&block, mover).0).ok()?;
            Some(rows.start + other)
        });
        values[row as usize] = values[other.ok_or_else(|| layer.damaged())?].before();
    }
    Ok(values.into_iter().map(Short::number).collect())
}

/// Requests the values of some successors from their owners.
fn ask(exchange: &mut Exchange<'_>, reached: &mut FxHashMap<u32, Vec<u64>>, open: &mut Open) {
    let mut letters = vec![(Vec::new(), Vec::new(), 0); exchange.workers()];
    for (block, mut pairs) in reached.drain() {
        pairs.sort_unstable();
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
fn wait(
    exchange: &mut Exchange<'_>,
    later: &BTreeMap<u32, KnownLayer>,
    open: &mut Open,
    moves: usize,
) -> Result<(), Error> {
    loop {
        serve(exchange, later)?;
        let answers = std::mem::take(&mut exchange.inbox().answers);
        answers.into_iter().try_for_each(|answer| open.take(answer))?;
        if open.moves <= moves {
            return Ok(());
        }
        exchange.wait()?;
    }
}
