//! A folded table as the graph of its actual positions.
//!
//! Folding keeps one row for all images of a board. A policy need not respect the symmetries, so play
//! between policies happens on actual positions: every orientation of a row with every side to move in
//! which it is reachable. They are numbered row by row and in the order of the row's orientations, the
//! terminal ones among them; edges are numbered position by position, by ascending action.

use std::ops::Range;

use rayon::prelude::*;

use crate::game::{Layered, Position, Side};
use crate::graph::Graph;
use crate::solve::Solved;

/// The actual positions of a complete table and the moves between them.
#[derive(Debug)]
pub struct Unfolded {
    /// The first position of each row, and at last how many positions there are.
    first: Vec<u32>,
    /// The row of each position.
    rows: Vec<u32>,
    /// Its side to move.
    sides: Vec<Side>,
    /// Where the edges of each position begin, and at last how many there are.
    offsets: Vec<u32>,
    /// The position each edge leads to.
    targets: Vec<u32>,
    /// The positions of each layer.
    layers: Vec<Range<usize>>,
    /// The roots.
    roots: Vec<usize>,
}

/// How many rows a task takes.
const CHUNK: usize = 1 << 11;

impl Unfolded {
    /// How many bytes the positions and edges of a table of so many would take.
    pub fn bytes(positions: u64, edges: u64) -> u64 {
        positions * 9 + edges * 4
    }

    /// Unfolds a solved table; `roots` are the positions in which games begin. Fails where the table
    /// is not complete or damaged, and where it has too many positions.
    ///
    /// # Panics
    ///
    /// When the game's keys have another width than the table's.
    pub fn new<G: Layered>(
        game: &G,
        graph: &Graph,
        roots: &[Position<G::State>],
    ) -> Result<Unfolded, String> {
        let mut first = vec![0u32];
        let mut total = 0u32;
        for row in 0..graph.states() {
            let count = graph.orientations(row).count();
            total = total.checked_add(count).ok_or("it has more than 2^32 positions")?;
            first.push(total);
        }
        let mut unfolded = Unfolded {
            rows: Vec::with_capacity(total as usize),
            sides: Vec::with_capacity(total as usize),
            offsets: vec![0],
            targets: Vec::new(),
            layers: Vec::new(),
            roots: Vec::new(),
            first,
        };
        let of = |row: usize| unfolded.first[row] as usize;
        let layers = graph.layers().map(|rows| of(rows.start)..of(rows.end)).collect();
        let chunks: Vec<_> = (0..graph.states().div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let rows = chunk * CHUNK..graph.states().min((chunk + 1) * CHUNK);
                unfolded.unfold(game, graph, rows)
            })
            .collect();
        unfolded.layers = layers;
        for chunk in chunks {
            let part = chunk?;
            unfolded.rows.extend(part.rows);
            unfolded.sides.extend(part.sides);
            for degree in part.degrees {
                let end = unfolded.offsets[unfolded.offsets.len() - 1];
                let end = end.checked_add(degree).ok_or("it has more than 2^32 moves")?;
                unfolded.offsets.push(end);
            }
            unfolded.targets.extend(part.targets);
        }
        let find = |root| unfolded.find(game, graph, root).ok_or("a root is not in it");
        unfolded.roots = roots.iter().map(find).collect::<Result<_, _>>()?;
        Ok(unfolded)
    }

    fn unfold<G: Layered>(
        &self,
        game: &G,
        graph: &Graph,
        rows: Range<usize>,
    ) -> Result<Part, String> {
        let order = game.group().order();
        let keys = graph.keys().of::<G::Key>();
        let mut part = Part::default();
        for row in rows {
            let foreign = || format!("row {row} of its edges has not the moves of its position");
            let state = game.state(keys[row]);
            let state = state.ok_or_else(|| format!("row {row} of its keys is no position"))?;
            for (symmetry, side) in graph.orientations(row).iter(order) {
                let state = game.transform(&state, symmetry);
                let inverse = game.group().inverse(symmetry);
                let before = part.targets.len();
                let mut foreign_move = false;
                game.for_each_successor(&state, |action, after| {
                    let canonical = game.transform_action(action, inverse);
                    let mut edges = graph.edges_of(row);
                    let edge = edges.find(|&edge| graph.edge_actions().get(edge) == canonical);
                    let target = edge.map(|edge| graph.edge_targets()[edge] as usize);
                    let after = Position { state: after, side: side.other() };
                    let place = target.and_then(|target| self.place(game, graph, target, &after));
                    foreign_move |= place.is_none();
                    part.targets.extend(place.map(|place| place as u32));
                });
                let degree = part.targets.len() - before;
                if foreign_move || degree != graph.edges_of(row).len() {
                    return Err(foreign());
                }
                part.rows.push(row as u32);
                part.sides.push(side);
                part.degrees.push(degree as u32);
            }
        }
        Ok(part)
    }

    /// The number of the position of a row that looks so; `None` if it is not reachable.
    fn place<G: Layered>(
        &self,
        game: &G,
        graph: &Graph,
        row: usize,
        position: &Position<G::State>,
    ) -> Option<usize> {
        let ties = game.canonical(&position.state).ties;
        let own = game.group().root_orientations(position.side, ties).0;
        let set = graph.orientations(row).0;
        let below = set & (own - 1);
        (set & own != 0).then(|| self.first[row] as usize + below.count_ones() as usize)
    }

    /// The number of a position; `None` if it is not reachable.
    pub fn find<G: Layered>(
        &self,
        game: &G,
        graph: &Graph,
        position: &Position<G::State>,
    ) -> Option<usize> {
        let row = graph.find(game, &position.state)?.row();
        self.place(game, graph, row, position)
    }

    /// The position with a number, as it lies on the board.
    pub fn position<G: Layered>(
        &self,
        game: &G,
        graph: &Graph,
        at: usize,
    ) -> Option<Position<G::State>> {
        let row = self.row(at);
        let place = at - self.first[row] as usize;
        let (symmetry, side) = graph.orientations(row).iter(game.group().order()).nth(place)?;
        let state = game.state(graph.keys().of::<G::Key>()[row])?;
        Some(Position { state: game.transform(&state, symmetry), side })
    }

    /// How many positions there are.
    pub fn positions(&self) -> usize {
        self.rows.len()
    }

    /// How many moves there are.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// The row of a position.
    pub fn row(&self, at: usize) -> usize {
        self.rows[at] as usize
    }

    /// Who is to move in a position.
    pub fn side(&self, at: usize) -> Side {
        self.sides[at]
    }

    /// The edges of a position.
    pub fn edges_of(&self, at: usize) -> Range<usize> {
        self.offsets[at] as usize..self.offsets[at + 1] as usize
    }

    /// Where an edge leads.
    pub fn target(&self, edge: usize) -> usize {
        self.targets[edge] as usize
    }

    /// The positions of the layers, the first layer first.
    pub fn layers(&self) -> &[Range<usize>] {
        &self.layers
    }

    /// The positions in which games begin.
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// Whether the only move from a position stays in its layer, `layer` being that: a pass.
    pub fn is_pass(&self, at: usize, layer: &Range<usize>) -> bool {
        self.edges_of(at).next().is_some_and(|edge| layer.contains(&self.target(edge)))
    }

    /// The final or best outcome and score of a position for its mover.
    ///
    /// # Panics
    ///
    /// When `solved` is another table's.
    pub fn value(&self, solved: &Solved, at: usize) -> crate::solve::Value {
        solved.value(self.row(at))
    }
}

#[derive(Default)]
struct Part {
    rows: Vec<u32>,
    sides: Vec<Side>,
    degrees: Vec<u32>,
    targets: Vec<u32>,
}
