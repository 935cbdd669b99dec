//! The judged rows of a cyclic game's table.
//!
//! These tables keep no orientations, so every row counts once: for a state and its mirror image
//! where states are folded, and for either player's being to move where sides are not kept. There
//! are no scores, but distances are compared where they are exact.

use std::ops::Range;

use super::source::{Piece, Source};
use super::truth::{Case, Truth};
use crate::game::{Action, Cyclic, Position, Side};
use crate::graph::{Graph, Ranked, StateKind, ones_of};
use crate::solve::cyclic::{CyclicSolved, Prospect};

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

/// A solved table of a cyclic game.
#[derive(Clone, Debug)]
pub struct CyclicTable<'a, G: Cyclic> {
    game: &'a G,
    rows: CyclicRows<'a>,
    solved: &'a CyclicSolved,
    pieces: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    /// Rows with keys, and the ply in which they are first reached.
    Keys(Range<usize>, u32),
    /// Words of the bitmap of ranks.
    Words(Range<usize>),
}

/// How many rows a piece takes where rows have keys, and how many words of the bitmap where they have
/// ranks; constants, since they group sums. A block of counts is a whole number of words.
const CHUNK: usize = 1 << 11;
const CHUNK_WORDS: usize = 1 << 9;
const BLOCK_WORDS: usize = 8;

impl<'a, G: Cyclic> CyclicTable<'a, G> {
    /// The rows of a table and its solution; fails where they do not fit each other.
    ///
    /// # Panics
    ///
    /// When the offsets or targets of edges lead out of the table; [`Graph::open_checked`] makes sure
    /// that they do not. When the game's keys have another width than the table's.
    pub fn new(
        game: &'a G,
        rows: CyclicRows<'a>,
        solved: &'a CyclicSolved,
    ) -> Result<CyclicTable<'a, G>, String> {
        if solved.rows() != rows.rows() {
            return Err("its columns' lengths do not fit its rows".to_string());
        }
        let split = |all: Range<usize>, grain: usize| {
            let starts = all.clone().step_by(grain);
            starts.map(move |start| start..all.end.min(start + grain))
        };
        let pieces = match rows {
            CyclicRows::Keys(graph) => {
                let plies = graph.layers().zip(0..);
                let of = |(rows, ply)| split(rows, CHUNK).map(move |part| Part::Keys(part, ply));
                plies.flat_map(of).collect()
            }
            CyclicRows::Ranked(ranked) => {
                split(0..ranked.words().len(), CHUNK_WORDS).map(Part::Words).collect()
            }
        };
        Ok(CyclicTable { game, rows, solved, pieces })
    }

    /// What is known of a row for its mover, or of a move there for who makes it.
    fn truth(&self, row: usize, is_move: bool) -> Option<Truth> {
        let value = self.solved.value(row);
        Truth::of_interval(&if is_move { value.before() } else { value })
    }

    /// Puts the judged rows among some that have keys and stored moves into `out`.
    fn keys(
        &self,
        graph: &Graph,
        rows: Range<usize>,
        ply: u32,
        out: &mut Piece<G::State>,
    ) -> Result<(), String> {
        let keys = graph.keys().of::<G::Key>();
        for row in rows {
            if graph.kind(row) != StateKind::Interior {
                continue;
            }
            let targets = &graph.edge_targets()[graph.edges_of(row)];
            let truths = targets.iter().map(|&target| self.truth(target as usize, true));
            let Some(truths) = truths.collect::<Option<Vec<Truth>>>() else { continue };
            let position = self.game.position_of(keys[row]);
            let position =
                position.ok_or_else(|| format!("row {row} of its keys is no position"))?;
            let actions = self.game.actions(&position.state);
            // Policies are asked about moves of the rules, so the stored ones must be those.
            let stored = graph.edges_of(row).map(|edge| graph.edge_actions().get(edge));
            if !stored.eq(actions.iter().copied()) {
                return Err(format!("row {row} of its edges has not the moves of its position"));
            }
            self.push(row, Some(ply), (position, &actions, &truths), out)?;
        }
        Ok(())
    }

    /// Puts the judged rows among the reachable ranks of some words of the bitmap into `out`; tells
    /// how many rows they are.
    fn words(
        &self,
        ranked: &Ranked,
        words: Range<usize>,
        out: &mut Piece<G::State>,
    ) -> Result<u64, String> {
        let first = ranked.block_counts()[words.start / BLOCK_WORDS] as usize;
        let mut row = first;
        for at in words {
            for bit in ones_of(ranked.words()[at]) {
                if row >= self.solved.rows() {
                    return Err("its bits are more than its rows".to_string());
                }
                self.rank(ranked, (at * 64) as u32 + bit, row, out)?;
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
        out: &mut Piece<G::State>,
    ) -> Result<(), String> {
        // Lost in no plies is over; a win in one may be over too, which only the rules tell.
        if self.solved.value(row).lower == Prospect::loss(0) {
            return Ok(());
        }
        let state = self.game.unrank(rank);
        let state = state.ok_or_else(|| format!("row {row} of its bits is no position"))?;
        let mut actions: Vec<Action> = Vec::new();
        let mut ranks: Vec<Option<u32>> = Vec::new();
        self.game.for_each_successor(&state, |action, after| {
            actions.push(action);
            ranks.push(self.game.rank(&after));
        });
        if actions.is_empty() {
            return Ok(());
        }
        // All ranks come first, so that the machine fetches their values at the same time.
        let mut truths = Vec::with_capacity(ranks.len());
        for rank in ranks {
            let row_after = rank.and_then(|rank| ranked.row(rank));
            let row_after = row_after.filter(|&row| row < self.solved.rows());
            let row_after =
                row_after.ok_or_else(|| format!("a move of row {row} leads out of it"))?;
            let Some(truth) = self.truth(row_after, true) else { return Ok(()) };
            truths.push(truth);
        }
        self.push(row, None, (Position { state, side: Side::First }, &actions, &truths), out)
    }

    fn push(
        &self,
        row: usize,
        layer: Option<u32>,
        (position, actions, truths): (Position<G::State>, &[Action], &[Truth]),
        out: &mut Piece<G::State>,
    ) -> Result<(), String> {
        let Some(own) = self.truth(row, false) else { return Ok(()) };
        let case = Case::of(row, layer, own, truths);
        let case =
            case.ok_or_else(|| format!("the value of row {row} does not follow from its moves"))?;
        out.batch.push(position, actions.iter().copied());
        out.truths.extend_from_slice(truths);
        out.cases.push(case);
        Ok(())
    }
}

impl<G: Cyclic> Source<G> for CyclicTable<'_, G> {
    fn pieces(&self) -> usize {
        self.pieces.len()
    }

    fn rows(&self) -> u64 {
        self.rows.rows() as u64
    }

    fn fill(&self, piece: usize, out: &mut Piece<G::State>) -> Result<u64, String> {
        match (&self.pieces[piece], &self.rows) {
            (Part::Keys(rows, ply), CyclicRows::Keys(graph)) => {
                self.keys(graph, rows.clone(), *ply, out)?;
                Ok(rows.len() as u64)
            }
            (Part::Words(words), CyclicRows::Ranked(ranked)) => {
                self.words(ranked, words.clone(), out)
            }
            _ => Err("its pieces are not its rows".to_string()),
        }
    }
}
