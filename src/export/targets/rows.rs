//! The rows of a solved table as examples, chunk by chunk, and positions looked up in it.

use std::ops::Range;

use super::example::{Example, Known};
use crate::game::{Action, Cyclic, Game, Layered, Position, Side};
use crate::graph::{Graph, Ranked, StateKind, ones_of};
use crate::solve::Solved;
use crate::solve::cyclic::CyclicSolved;

/// How many rows a chunk has, and how many words of a bitmap of ranks.
pub(super) const CHUNK: usize = 1 << 10;
const CHUNK_WORDS: usize = 1 << 5;
/// Words of the bitmap that one count covers.
const BLOCK_WORDS: usize = 8;

/// A solved table as examples in a fixed order, in chunks that can be visited on several threads.
pub trait Rows<G: Game>: Sync {
    /// How many chunks there are.
    fn chunks(&self) -> usize;

    /// How many rows.
    fn rows(&self) -> u64;

    /// Whether rows have a layer.
    fn has_layers(&self) -> bool;

    /// Whether values have a score.
    fn has_scores(&self) -> bool;

    /// Calls `visit` with every row of a chunk, in order; gives how many rows the chunk has, or says
    /// what is wrong with one of them.
    fn visit(&self, chunk: usize, visit: &mut dyn FnMut(Example<G::State>)) -> Result<u64, String>;

    /// What the table knows of a position, in whatever orientation; `None` if it is not in the table.
    fn look_up(&self, position: &Position<G::State>) -> Option<Example<G::State>>;
}

fn rows_of(chunk: usize, size: usize, all: usize) -> Range<usize> {
    chunk * size..all.min((chunk + 1) * size)
}

fn no_position(row: usize) -> String {
    format!("row {row} of its keys is no position")
}

/// The legal moves with their values: those stored with the row, and `open` for those that are not.
fn followed<G: Game>(
    game: &G,
    graph: &Graph,
    row: usize,
    state: &G::State,
    value: impl Fn(usize) -> Option<Known>,
    open: Known,
) -> Result<Vec<(Action, Known)>, String> {
    let wrong = || format!("row {row} of its edges has not the moves of its position");
    let mut moves = Vec::new();
    let mut edges = graph.edges_of(row).peekable();
    let mut astray = false;
    game.for_each_action(state, |action| {
        let stored = edges.next_if(|&edge| graph.edge_actions().get(edge) == action);
        let known = stored.map(|edge| value(graph.edge_targets()[edge] as usize));
        astray |= known == Some(None);
        moves.push((action, known.flatten().unwrap_or(open)));
        astray |= known.is_none() && graph.kind(row) == StateKind::Interior;
    });
    if astray || edges.next().is_some() { Err(wrong()) } else { Ok(moves) }
}

/// The rows of a layered game's table.
#[derive(Clone, Copy, Debug)]
pub struct LayeredExamples<'a, G> {
    /// The rules.
    pub game: &'a G,
    /// The table's rows.
    pub graph: &'a Graph,
    /// Their values.
    pub solved: &'a Solved,
}

impl<G: Layered> LayeredExamples<'_, G> {
    fn before(&self, row: usize) -> Option<Known> {
        (row < self.solved.states()).then(|| Known::of_value(&self.solved.value(row).before()))
    }

    fn open(&self) -> Known {
        Known::open_score(self.game.max_score())
    }
}

impl<G: Layered> Rows<G> for LayeredExamples<'_, G> {
    fn chunks(&self) -> usize {
        self.graph.states().div_ceil(CHUNK)
    }

    fn rows(&self) -> u64 {
        self.graph.states() as u64
    }

    fn has_layers(&self) -> bool {
        true
    }

    fn has_scores(&self) -> bool {
        true
    }

    fn visit(&self, chunk: usize, visit: &mut dyn FnMut(Example<G::State>)) -> Result<u64, String> {
        let LayeredExamples { game, graph, solved } = *self;
        let rows = rows_of(chunk, CHUNK, graph.states());
        let count = rows.len() as u64;
        let keys = graph.keys().of::<G::Key>();
        for row in rows {
            let state = game.state(keys[row]).ok_or_else(|| no_position(row))?;
            let value = |row| self.before(row);
            visit(Example {
                row: row as u32,
                position: Position { state, side: Side::First },
                layer: Some(game.layer(&state)),
                kind: graph.kind(row),
                value: Known::of_value(&solved.value(row)),
                moves: followed(game, graph, row, &state, value, self.open())?,
                orientations: Some(graph.orientations(row)),
                weight: 1.0,
            });
        }
        Ok(count)
    }

    fn look_up(&self, position: &Position<G::State>) -> Option<Example<G::State>> {
        let row = self.graph.find(self.game, &position.state)?.row();
        let mut moves = Vec::new();
        self.game.for_each_successor(&position.state, |action, after| {
            let known = self.graph.find(self.game, &after).and_then(|id| self.before(id.row()));
            moves.push((action, known.unwrap_or(self.open())));
        });
        Some(Example {
            row: row as u32,
            position: *position,
            layer: Some(self.game.layer(&position.state)),
            kind: self.graph.kind(row),
            value: Known::of_value(&self.solved.value(row)),
            moves,
            orientations: None,
            weight: 1.0,
        })
    }
}

/// The rows of a cyclic game's table, however they are found.
#[derive(Clone, Copy, Debug)]
pub enum CyclicIndex<'a> {
    /// Among sorted keys, with stored moves.
    Keys(&'a Graph),
    /// By rank; moves are made from the rules.
    Ranked(&'a Ranked),
}

/// The rows of a cyclic game's table.
#[derive(Clone, Copy, Debug)]
pub struct CyclicExamples<'a, G> {
    /// The rules.
    pub game: &'a G,
    /// The table's rows.
    pub index: CyclicIndex<'a>,
    /// Their values.
    pub solved: &'a CyclicSolved,
}

impl<G: Cyclic> CyclicExamples<'_, G> {
    fn before(&self, row: usize) -> Option<Known> {
        let known = |row| Known::of_interval(&self.solved.value(row).before());
        (row < self.solved.rows()).then(|| known(row))
    }

    fn keyed(
        &self,
        graph: &Graph,
        chunk: usize,
        visit: &mut dyn FnMut(Example<G::State>),
    ) -> Result<u64, String> {
        let rows = rows_of(chunk, CHUNK, graph.states());
        let count = rows.len() as u64;
        let keys = graph.keys().of::<G::Key>();
        let ends: Vec<usize> = graph.layers().map(|rows| rows.end).collect();
        for row in rows {
            let position = self.game.position_of(keys[row]).ok_or_else(|| no_position(row))?;
            let value = |row| self.before(row);
            let open = Known::open_prospect();
            visit(Example {
                row: row as u32,
                position,
                layer: Some(ends.partition_point(|&end| end <= row) as u32),
                kind: graph.kind(row),
                value: Known::of_interval(&self.solved.value(row)),
                moves: followed(self.game, graph, row, &position.state, value, open)?,
                orientations: None,
                weight: 1.0,
            });
        }
        Ok(count)
    }

    fn ranked(
        &self,
        ranked: &Ranked,
        chunk: usize,
        visit: &mut dyn FnMut(Example<G::State>),
    ) -> Result<u64, String> {
        let words = rows_of(chunk, CHUNK_WORDS, ranked.words().len());
        let first = ranked.block_counts()[words.start / BLOCK_WORDS] as usize;
        let mut row = first;
        for at in words {
            for bit in ones_of(ranked.words()[at]) {
                if row >= self.solved.rows() {
                    return Err(format!("row {row} of its bits has no value"));
                }
                let state = self.game.unrank((at * 64) as u32 + bit);
                let state = state.ok_or_else(|| format!("row {row} of its bits is no position"))?;
                let position = Position { state, side: Side::First };
                let example = self.example(row, position, None, |after| {
                    let row = self.game.rank(&after.state).and_then(|rank| ranked.row(rank));
                    row.and_then(|row| self.before(row))
                });
                let unknown = example.moves.iter().any(|(_, known)| known.is_none());
                if unknown {
                    return Err(format!("a move of row {row} leads out of it"));
                }
                visit(example.settled());
                row += 1;
            }
        }
        Ok((row - first) as u64)
    }

    /// A row with its moves made from the rules and valued by `value`.
    fn example(
        &self,
        row: usize,
        position: Position<G::State>,
        layer: Option<u32>,
        value: impl Fn(&Position<G::State>) -> Option<Known>,
    ) -> Unsettled<G::State> {
        let mut moves = Vec::new();
        let side = position.side.other();
        self.game.for_each_successor(&position.state, |action, state| {
            moves.push((action, value(&Position { state, side })));
        });
        let kind = match (&self.index, moves.is_empty()) {
            (CyclicIndex::Keys(graph), _) => graph.kind(row),
            (CyclicIndex::Ranked(_), true) => StateKind::Terminal,
            (CyclicIndex::Ranked(_), false) => StateKind::Interior,
        };
        let value = Known::of_interval(&self.solved.value(row));
        Unsettled { row: row as u32, position, layer, kind, value, moves }
    }

    fn find(&self, position: &Position<G::State>) -> Option<usize> {
        match self.index {
            CyclicIndex::Keys(graph) => graph.find_position(self.game, position).map(|id| id.row()),
            CyclicIndex::Ranked(ranked) => ranked.find(self.game, position),
        }
    }
}

/// An example of whose moves some may not be in the table.
struct Unsettled<S> {
    row: u32,
    position: Position<S>,
    layer: Option<u32>,
    kind: StateKind,
    value: Known,
    moves: Vec<(Action, Option<Known>)>,
}

impl<S> Unsettled<S> {
    fn settled(self) -> Example<S> {
        let open = Known::open_prospect();
        let known = |(action, value): (Action, Option<Known>)| (action, value.unwrap_or(open));
        Example {
            row: self.row,
            position: self.position,
            layer: self.layer,
            kind: self.kind,
            value: self.value,
            moves: self.moves.into_iter().map(known).collect(),
            orientations: None,
            weight: 1.0,
        }
    }
}

impl<G: Cyclic> Rows<G> for CyclicExamples<'_, G> {
    fn chunks(&self) -> usize {
        match self.index {
            CyclicIndex::Keys(graph) => graph.states().div_ceil(CHUNK),
            CyclicIndex::Ranked(ranked) => ranked.words().len().div_ceil(CHUNK_WORDS),
        }
    }

    fn rows(&self) -> u64 {
        match self.index {
            CyclicIndex::Keys(graph) => graph.states() as u64,
            CyclicIndex::Ranked(ranked) => ranked.rows() as u64,
        }
    }

    fn has_layers(&self) -> bool {
        matches!(self.index, CyclicIndex::Keys(_))
    }

    fn has_scores(&self) -> bool {
        false
    }

    fn visit(&self, chunk: usize, visit: &mut dyn FnMut(Example<G::State>)) -> Result<u64, String> {
        match self.index {
            CyclicIndex::Keys(graph) => self.keyed(graph, chunk, visit),
            CyclicIndex::Ranked(ranked) => self.ranked(ranked, chunk, visit),
        }
    }

    fn look_up(&self, position: &Position<G::State>) -> Option<Example<G::State>> {
        let row = self.find(position)?;
        let layer = match self.index {
            CyclicIndex::Keys(graph) => {
                graph.layers().position(|rows| rows.contains(&row)).map(|ply| ply as u32)
            }
            CyclicIndex::Ranked(_) => None,
        };
        let value = |after: &Position<G::State>| self.find(after).and_then(|row| self.before(row));
        Some(self.example(row, *position, layer, value).settled())
    }
}
