//! The judged positions of a layered game's table.
//!
//! Every actual position counts once: a row of the table stands for as many as it has orientations,
//! and a policy is asked in each, for it need not be symmetric. On request it is asked in one of them
//! only.

use std::ops::Range;

use super::source::{Piece, Source};
use super::truth::{Case, Truth};
use crate::game::{Action, Layered, Position};
use crate::graph::{Graph, StateKind};
use crate::solve::Solved;

/// Which positions of a row count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Orienting {
    /// Every orientation, with every side to move, in which the row is reachable.
    #[default]
    All,
    /// The first of them: every row counts once.
    First,
}

/// A solved table of a layered game.
#[derive(Clone, Debug)]
pub struct LayeredRows<'a, G: Layered> {
    game: &'a G,
    graph: &'a Graph,
    solved: &'a Solved,
    orienting: Orienting,
    /// The rows of each piece, and the layer they are in.
    pieces: Vec<(Range<usize>, u32)>,
}

/// How many rows a piece takes; a constant, since it groups sums.
const CHUNK: usize = 1 << 11;

impl<'a, G: Layered> LayeredRows<'a, G> {
    /// The rows of a table, given as its graph and its solution.
    ///
    /// # Panics
    ///
    /// When the offsets of edges do not ascend; [`Graph::open_checked`] makes sure that they do. When
    /// the game's keys have another width than the table's.
    pub fn new(
        game: &'a G,
        graph: &'a Graph,
        solved: &'a Solved,
        orienting: Orienting,
    ) -> LayeredRows<'a, G> {
        let layers = graph.layers().zip(graph.first_layer()..);
        let pieces = layers.flat_map(|(rows, layer)| {
            let starts = rows.clone().step_by(CHUNK);
            starts.map(move |start| (start..rows.end.min(start + CHUNK), layer))
        });
        LayeredRows { game, graph, solved, orienting, pieces: pieces.collect() }
    }

    /// Puts the judged positions of a row into `out`; `None` if its edges are not its moves.
    fn row(&self, row: usize, layer: u32, out: &mut Piece<G::State>) -> Option<()> {
        let LayeredRows { game, graph, solved, .. } = self;
        if graph.kind(row) != StateKind::Interior {
            return Some(());
        }
        let value = |row: usize| (row < solved.states()).then(|| solved.value(row));
        let targets = &graph.edge_targets()[graph.edges_of(row)];
        let begin = out.truths.len();
        let own = value(row).and_then(|value| Truth::of_value(&value));
        out.truths.extend(targets.iter().map_while(|&target| {
            value(target as usize).and_then(|value| Truth::of_value(&value.before()))
        }));
        let (Some(own), true) = (own, out.truths.len() - begin == targets.len()) else {
            out.truths.truncate(begin);
            return Some(());
        };
        let case = Case::of(row, Some(layer), own, &out.truths[begin..])?;
        let state = game.state(graph.keys().of::<G::Key>()[row])?;
        let actions: Vec<Action> =
            graph.edges_of(row).map(|edge| graph.edge_actions().get(edge)).collect();
        if actions != game.actions(&state) {
            return None;
        }
        let truths: Vec<Truth> = out.truths.drain(begin..).collect();
        let wanted = match self.orienting {
            Orienting::All => usize::MAX,
            Orienting::First => 1,
        };
        let order = game.group().order();
        let orientations = graph.orientations(row);
        for (symmetry, side) in orientations.iter(order).take(wanted) {
            let state = game.transform(&state, symmetry);
            let image = |&action: &Action| game.transform_action(action, symmetry);
            // Actions are asked about in ascending order, their values go with them.
            let mut moves: Vec<(Action, Truth)> =
                actions.iter().map(image).zip(truths.iter().copied()).collect();
            moves.sort_unstable_by_key(|(action, _)| *action);
            out.batch.push(Position { state, side }, moves.iter().map(|(action, _)| *action));
            out.truths.extend(moves.iter().map(|(_, truth)| *truth));
            out.cases.push(case);
        }
        Some(())
    }
}

impl<G: Layered> Source<G> for LayeredRows<'_, G> {
    fn pieces(&self) -> usize {
        self.pieces.len()
    }

    fn rows(&self) -> u64 {
        self.graph.states() as u64
    }

    fn fill(&self, piece: usize, out: &mut Piece<G::State>) -> Result<u64, String> {
        let (rows, layer) = self.pieces[piece].clone();
        let count = rows.len() as u64;
        for row in rows {
            self.row(row, layer, out).ok_or_else(|| {
                format!("row {row} of its edges has not the moves or values of its position")
            })?;
        }
        Ok(count)
    }
}
