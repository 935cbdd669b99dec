//! Policies measured on tables of cyclic games.
//!
//! These tables keep no orientations, so every row counts once: for a state and its mirror image
//! where states are folded, and for either player's being to move where sides are not kept. Only
//! rows are judged that are interior, whose own outcome is proven and all of whose moves' outcomes
//! are; elsewhere it is not known what the best move is. There are no scores, but distances are
//! compared where they are exact.
//!
//! One pass serves all policies, because making a row's moves and looking up their values costs more
//! than asking for probabilities. As in [`accuracy`](super::accuracy()) sums are made of chunks of a
//! fixed size and added in order, so that the number of threads changes no bit of them.

use std::ops::Range;

use rayon::prelude::*;

use super::accuracy::{Layer, LayerAccuracy, MeasureError, PolicyAccuracy};
use super::figures::{Figures, FiguresBySet};
use super::perfect_cyclic::CyclicPerfect;
use crate::game::{Action, Cyclic, Outcome, Position, Side};
use crate::graph::{Graph, Ranked, StateKind, ones_of};
use crate::policy::Policy;
use crate::progress::Progress;
use crate::solve::cyclic::{CyclicSolved, Interval, Prospect};

/// The rows of a cyclic game's table, however they are found.
#[derive(Clone, Copy, Debug)]
pub enum CyclicRows<'a> {
    /// Among sorted keys, with stored moves.
    Keys(&'a Graph),
    /// By rank; moves are made from the rules.
    Ranked(&'a Ranked),
}

impl CyclicRows<'_> {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match self {
            CyclicRows::Keys(graph) => graph.states(),
            CyclicRows::Ranked(ranked) => ranked.rows(),
        }
    }

    /// The row of a position, whatever its orientation; `None` if it is not in the table.
    pub fn find<G: Cyclic>(&self, game: &G, position: &Position<G::State>) -> Option<usize> {
        match self {
            CyclicRows::Keys(graph) => graph.find_position(game, position).map(|id| id.row()),
            CyclicRows::Ranked(ranked) => ranked.find(game, position),
        }
    }
}

/// A policy as a cyclic table's figures ask it.
pub enum CyclicPolicy<'a, G: Cyclic> {
    /// A rule that goes by the position.
    Rule(Box<dyn Policy<G> + 'a>),
    /// The table's best moves, whose values are at hand in every row.
    Perfect(CyclicPerfect<'a>),
}

impl<G: Cyclic> CyclicPolicy<'_, G> {
    /// The name under which reports show it.
    pub fn name(&self) -> String {
        match self {
            CyclicPolicy::Rule(policy) => policy.name(),
            CyclicPolicy::Perfect(policy) => Policy::<G>::name(policy),
        }
    }
}

/// What was measured on a cyclic table.
#[derive(Clone, Debug, PartialEq)]
pub struct CyclicAccuracy {
    /// In how many rows policies were judged.
    pub judged: u64,
    /// The figures of each policy; without layers where rows are found by rank, since such a table
    /// does not keep the ply in which a row is reached.
    pub policies: Vec<PolicyAccuracy>,
}

/// The table is damaged.
fn damaged(what: String) -> MeasureError {
    MeasureError::Damaged(what)
}

/// How many rows a task takes where rows have keys, and how many words of the bitmap where they have
/// ranks; constants, since they group the sums. A block of counts is a whole number of words.
const CHUNK: usize = 1 << 11;
const CHUNK_WORDS: usize = 1 << 9;
const BLOCK_WORDS: usize = 8;

/// Judges policies in every row of a solved table of a cyclic game, all of them in one pass.
///
/// `rows` and `solved` are those of a table of `game`'s. Fails where a policy does, and where a row is no
/// position or its moves or their values do not fit it: the table is damaged.
///
/// # Panics
///
/// When the offsets or targets of edges lead out of the table; [`Graph::open_checked`] makes sure
/// that they do not. When the game's keys have another width than the table's.
pub fn accuracy_cyclic<G: Cyclic>(
    game: &G,
    rows: CyclicRows<'_>,
    solved: &CyclicSolved,
    policies: &[CyclicPolicy<'_, G>],
    progress: &dyn Progress,
) -> Result<CyclicAccuracy, MeasureError> {
    let names: Vec<String> = policies.iter().map(CyclicPolicy::name).collect();
    progress.begin(&format!("judging {}", names.join(", ")), Some(rows.rows() as u64));
    if solved.rows() != rows.rows() {
        return Err(damaged("its columns' lengths do not fit its rows".to_string()));
    }
    let judge = Judge { game, solved, policies };
    let mut total = Sums::new(policies.len());
    let mut layers = vec![Vec::new(); policies.len()];
    match rows {
        CyclicRows::Keys(graph) => {
            for (ply, rows) in graph.layers().enumerate() {
                let visit = |part, room: &mut _, sums: &mut _| {
                    judge.rows_with_keys(graph, part, room, sums)
                };
                let sums = judge.sum(rows, CHUNK, progress, visit)?;
                if sums.judged == 0 {
                    continue;
                }
                total.add(&sums);
                for (layers, &figures) in layers.iter_mut().zip(&sums.figures) {
                    layers.push(LayerAccuracy { layer: Layer::Plies(ply as u32), figures });
                }
            }
        }
        CyclicRows::Ranked(ranked) => {
            let visit = |part, room: &mut _, sums: &mut _| judge.ranks(ranked, part, room, sums);
            let words = 0..ranked.words().len();
            total = judge.sum(words, CHUNK_WORDS, progress, visit)?;
        }
    }
    progress.finish(&format!("{} rows", total.judged));
    let named = names.into_iter().zip(&total.figures).zip(layers);
    let policies =
        named.map(|((policy, &total), layers)| PolicyAccuracy { policy, total, layers }).collect();
    Ok(CyclicAccuracy { judged: total.judged, policies })
}

/// The sums of some rows.
#[derive(Clone, Debug)]
struct Sums {
    judged: u64,
    /// One of each policy.
    figures: Vec<FiguresBySet>,
}

impl Sums {
    fn new(policies: usize) -> Sums {
        Sums { judged: 0, figures: vec![FiguresBySet::default(); policies] }
    }

    fn add(&mut self, other: &Sums) {
        self.judged += other.judged;
        self.figures.iter_mut().zip(&other.figures).for_each(|(sum, part)| sum.add(part));
    }
}

struct Judge<'a, G: Cyclic> {
    game: &'a G,
    solved: &'a CyclicSolved,
    policies: &'a [CyclicPolicy<'a, G>],
}

/// Room that is used again for every row.
#[derive(Default)]
struct Room {
    /// The moves, in the order of the rules.
    actions: Vec<Action>,
    /// The ranks that they lead to.
    ranks: Vec<Option<u32>>,
    /// What each is worth to who makes it.
    values: Vec<Interval>,
    probabilities: Vec<f64>,
}

impl<G: Cyclic> Judge<'_, G> {
    /// The sums over `all`, visited in parts of `grain` on all threads and added in order; a visit
    /// gives how many rows it has seen.
    fn sum(
        &self,
        all: Range<usize>,
        grain: usize,
        progress: &dyn Progress,
        visit: impl Fn(Range<usize>, &mut Room, &mut Sums) -> Result<u64, MeasureError> + Sync,
    ) -> Result<Sums, MeasureError> {
        let chunks: Vec<Result<Sums, MeasureError>> = (0..all.len().div_ceil(grain))
            .into_par_iter()
            .map(|chunk| {
                let start = all.start + chunk * grain;
                let part = start..(start + grain).min(all.end);
                let mut sums = Sums::new(self.policies.len());
                let seen = visit(part, &mut Room::default(), &mut sums)?;
                progress.advance(seen);
                Ok(sums)
            })
            .collect();
        let mut sums = Sums::new(self.policies.len());
        for chunk in chunks {
            sums.add(&chunk?);
        }
        Ok(sums)
    }

    /// Judges the policies in rows that have keys and stored moves.
    fn rows_with_keys(
        &self,
        graph: &Graph,
        rows: Range<usize>,
        room: &mut Room,
        sums: &mut Sums,
    ) -> Result<u64, MeasureError> {
        let keys = graph.keys().of::<G::Key>();
        let seen = rows.len() as u64;
        for row in rows {
            let own = self.solved.value(row);
            if graph.kind(row) != StateKind::Interior || own.outcome().is_none() {
                continue;
            }
            room.values.clear();
            let targets = &graph.edge_targets()[graph.edges_of(row)];
            let values = targets.iter().map(|&target| self.solved.value(target as usize).before());
            room.values.extend(values);
            if room.values.iter().any(|value| value.outcome().is_none()) {
                continue;
            }
            let position = self.game.position_of(keys[row]);
            let position =
                position.ok_or_else(|| damaged(format!("row {row} of its keys is no position")))?;
            room.actions.clear();
            self.game.for_each_action(&position.state, |action| room.actions.push(action));
            // Policies are asked about moves of the rules, so the stored ones must be those.
            let stored = graph.edges_of(row).map(|edge| graph.edge_actions().get(edge));
            if !stored.eq(room.actions.iter().copied()) {
                return Err(damaged(format!(
                    "row {row} of its edges has not the moves of its position"
                )));
            }
            self.row(row, &position, own, room, sums)?;
        }
        Ok(seen)
    }

    /// Judges the policies in the reachable ranks of some words of the bitmap.
    fn ranks(
        &self,
        ranked: &Ranked,
        words: Range<usize>,
        room: &mut Room,
        sums: &mut Sums,
    ) -> Result<u64, MeasureError> {
        let first = ranked.block_counts()[words.start / BLOCK_WORDS] as usize;
        let mut row = first;
        for at in words {
            for bit in ones_of(ranked.words()[at]) {
                let rank = (at * 64) as u32 + bit;
                if row >= self.solved.rows() {
                    return Err(damaged("its bits are more than its rows".to_string()));
                }
                self.rank(ranked, rank, row, room, sums)?;
                row += 1;
            }
        }
        Ok((row - first) as u64)
    }

    fn rank(
        &self,
        ranked: &Ranked,
        rank: u32,
        row: usize,
        room: &mut Room,
        sums: &mut Sums,
    ) -> Result<(), MeasureError> {
        let own = self.solved.value(row);
        // Lost in no plies is over; a win in one may be over too, which only the rules tell.
        if own.outcome().is_none() || own.lower == Prospect::loss(0) {
            return Ok(());
        }
        let state = self.game.unrank(rank);
        let state =
            state.ok_or_else(|| damaged(format!("row {row} of its bits is no position")))?;
        room.actions.clear();
        room.ranks.clear();
        self.game.for_each_successor(&state, |action, after| {
            room.actions.push(action);
            room.ranks.push(self.game.rank(&after));
        });
        if room.actions.is_empty() {
            return Ok(());
        }
        // All ranks come first, so that the machine fetches their values at the same time.
        room.values.clear();
        for &rank in &room.ranks {
            let row_after = rank.and_then(|rank| ranked.row(rank));
            let row_after = row_after.filter(|&row| row < self.solved.rows());
            let row_after =
                row_after.ok_or_else(|| damaged(format!("a move of row {row} leads out of it")))?;
            room.values.push(self.solved.value(row_after).before());
        }
        if room.values.iter().any(|value| value.outcome().is_none()) {
            return Ok(());
        }
        self.row(row, &Position { state, side: Side::First }, own, room, sums)
    }

    /// Adds the figures of a row whose outcome and moves' outcomes are proven.
    fn row(
        &self,
        row: usize,
        position: &Position<G::State>,
        own: Interval,
        room: &mut Room,
        sums: &mut Sums,
    ) -> Result<(), MeasureError> {
        let Room { actions, values, probabilities, .. } = room;
        let best = own.lower.outcome();
        let (mut least, mut most) = (Outcome::Win, Outcome::Loss);
        let mut timed = own.distance().is_some();
        for value in values.iter() {
            let outcome = value.lower.outcome();
            (least, most) = (least.min(outcome), most.max(outcome));
            timed &= outcome != best || value.distance().is_some();
        }
        if values.is_empty() || most != best {
            return Err(damaged(format!("the value of row {row} does not follow from its moves")));
        }
        sums.judged += 1;
        for (policy, sums) in self.policies.iter().zip(&mut sums.figures) {
            probabilities.clear();
            probabilities.resize(actions.len(), 0.0);
            match policy {
                CyclicPolicy::Rule(policy) => {
                    let asked = crate::policy::ask(policy.as_ref(), self.game, position)
                        .map_err(|error| MeasureError::Policy { policy: policy.name(), error })?;
                    probabilities.iter_mut().zip(asked).for_each(|(p, (_, asked))| *p = asked);
                }
                CyclicPolicy::Perfect(_) => CyclicPerfect::share(actions, values, probabilities),
            }
            debug_assert!(
                (probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-6,
                "a policy's probabilities sum to 1"
            );
            let chosen = values.iter().copied().zip(probabilities.iter().copied());
            let figures = Figures::of_cyclic_position(own, timed, chosen);
            sums.all.add(&figures);
            if least != most {
                sums.decisive_outcome.add(&figures);
            }
        }
        Ok(())
    }
}
