//! Actual positions of a folded table and the moves between them.
//!
//! Folding keeps one row for all images of a board. A policy need not respect the symmetries, so games are
//! played on actual positions: every orientation of a row with every side to move in which it is reachable.
//! Tables of layered games record these orientations; for other tables they are found here by a search from
//! the roots. Positions, including terminal ones, are numbered by row, then by orientation; edges are
//! numbered by position, then by ascending action.

use std::ops::Range;

use yomikiri::error::Error;
use yomikiri::oracle::States;
use yomikiri::parallel;
use yomikiri::rules::{
    Action, AnyPosition, AnyState, Orientations, Position, Rules, Side, Symmetry,
};

/// Actual positions of a complete table and the moves between them.
#[derive(Debug)]
pub struct Unfolded {
    /// Orientations in which each row is reachable.
    orientations: Vec<Orientations>,
    facing: Facing,
    /// First position of each row, followed by the number of positions.
    first: Vec<u32>,
    /// Row of each position.
    rows: Vec<u32>,
    /// Side to move in each position.
    sides: Vec<Side>,
    /// First edge of each position, followed by the number of edges.
    offsets: Vec<u32>,
    /// Target position of each edge.
    targets: Vec<u32>,
    /// Positions of each layer; empty if infinite play is possible.
    layers: Vec<Range<usize>>,
    /// Root positions.
    roots: Vec<usize>,
}

impl Unfolded {
    /// Returns the bytes that this many positions and edges take.
    pub fn bytes(positions: u64, edges: u64) -> u64 {
        positions * 11 + edges * 4
    }

    /// Unfolds a table. Fails if it is not complete, is damaged, or has too many positions or moves.
    pub fn new(states: &States) -> Result<Unfolded, Error> {
        Unfolded::of(states).map_err(|what| Error::damaged(states.table().dir(), what))
    }

    fn of(states: &States) -> Result<Unfolded, String> {
        if !states.table().manifest().complete {
            return Err("bounded table: games lead out of it".to_string());
        }
        let is_layered = states.game().is_layered();
        let sets = (0..states.rows()).map(|row| states.orientations(row));
        let (facing, orientations) = match sets.collect::<Option<Vec<_>>>() {
            Some(all) => (Facing::default(), all),
            None => {
                let facing = Facing::of(states)?;
                let all = facing.reached(states)?;
                (facing, all)
            }
        };
        let mut first = vec![0u32];
        let mut total = 0u32;
        for set in &orientations {
            total = total.checked_add(set.count()).ok_or("more than 2^32 positions")?;
            first.push(total);
        }
        let mut unfolded = Unfolded {
            orientations,
            facing,
            rows: Vec::with_capacity(total as usize),
            sides: Vec::with_capacity(total as usize),
            offsets: vec![0],
            targets: Vec::new(),
            layers: Vec::new(),
            roots: Vec::new(),
            first,
        };
        let pieces = states.pieces();
        let chunks = parallel::map(pieces.len(), &|piece: usize| {
            unfolded.unfold(states, pieces[piece].rows.clone())
        });
        if is_layered {
            unfolded.layers = unfolded.of_layers(states);
        }
        for chunk in chunks {
            let part = chunk?;
            unfolded.rows.extend(part.rows);
            unfolded.sides.extend(part.sides);
            for degree in part.degrees {
                let end = unfolded.offsets[unfolded.offsets.len() - 1];
                let end = end.checked_add(degree).ok_or("more than 2^32 moves")?;
                unfolded.offsets.push(end);
            }
            unfolded.targets.extend(part.targets);
        }
        // Orientations may have bits beyond the symmetries of the game, which are no positions.
        if unfolded.rows.len() != total as usize {
            return Err("orientations beyond the symmetries".to_string());
        }
        let find = |root| unfolded.find(states, root).ok_or("a root is missing from the table");
        let roots = states.roots().map_err(|error| error.line())?;
        unfolded.roots = roots.iter().map(find).collect::<Result<_, _>>()?;
        Ok(unfolded)
    }

    fn of_layers(&self, states: &States) -> Vec<Range<usize>> {
        let of = |row: usize| self.first[row] as usize;
        let mut layers: Vec<Range<usize>> = Vec::new();
        let mut number = None;
        for piece in states.pieces() {
            let places = of(piece.rows.start)..of(piece.rows.end);
            match layers.last_mut().filter(|_| piece.layer == number) {
                Some(layer) => layer.end = places.end,
                None => layers.push(places),
            }
            number = piece.layer;
        }
        layers
    }

    fn unfold(&self, states: &States, rows: Range<usize>) -> Result<UnfoldedPiece, String> {
        let game = states.game();
        let (group, order) = (game.group(), game.group().order());
        let (mut part, mut edges) = (UnfoldedPiece::default(), Vec::new());
        self.facing.successors(states, rows, |row, successors| {
            for (symmetry, side) in self.orientations[row].iter(order) {
                let from = Orientations::one(symmetry, side, order);
                edges.clear();
                for &(action, target, ties) in successors {
                    let orientation = group.successor_orientations(from, ties);
                    let place = self.place(target as usize, orientation).ok_or_else(|| {
                        format!("a move of row {row} leads to a position that is not reached")
                    })?;
                    edges.push((game.transform_action(action, symmetry), place as u32));
                }
                edges.sort_unstable();
                part.targets.extend(edges.iter().map(|(_, place)| place));
                part.rows.push(row as u32);
                part.sides.push(side);
                part.degrees.push(edges.len() as u32);
            }
            Ok(())
        })?;
        Ok(part)
    }

    /// Returns the number of the position of a row in one orientation; `None` if it is not reachable.
    fn place(&self, row: usize, orientation: Orientations) -> Option<usize> {
        let set = self.orientations.get(row)?.0;
        let below = set & orientation.0.wrapping_sub(1);
        (set & orientation.0 != 0).then(|| self.first[row] as usize + below.count_ones() as usize)
    }

    /// Returns the number of a position; `None` if it is not reachable.
    pub fn find(&self, states: &States, position: &AnyPosition) -> Option<usize> {
        let (game, row) = (states.game(), states.find(position)?);
        let ties = self.facing.ties(game, row, &position.state);
        self.place(row, game.group().root_orientations(position.side, ties))
    }

    /// Returns the position with a number.
    pub fn position(&self, states: &States, at: usize) -> Option<AnyPosition> {
        let (game, row) = (states.game(), self.row(at));
        let place = at - self.first[row] as usize;
        let order = game.group().order();
        let (symmetry, side) = self.orientations[row].iter(order).nth(place)?;
        let mut found = None;
        let take = |_: usize, position: AnyPosition| {
            let state = game.transform(&position.state, symmetry);
            found = Some(Position { state, side });
            Ok(())
        };
        states.visit(row..row + 1, take).ok()?;
        found
    }

    /// Returns the number of positions.
    pub fn positions(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of edges.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// Returns the row of a position.
    #[inline]
    pub fn row(&self, at: usize) -> usize {
        self.rows[at] as usize
    }

    /// Returns the side to move in a position.
    #[inline]
    pub fn side(&self, at: usize) -> Side {
        self.sides[at]
    }

    /// Returns the edges of a position.
    #[inline]
    pub fn edges_of(&self, at: usize) -> Range<usize> {
        self.offsets[at] as usize..self.offsets[at + 1] as usize
    }

    /// Returns the target of an edge.
    #[inline]
    pub fn target(&self, edge: usize) -> usize {
        self.targets[edge] as usize
    }

    /// Returns the orientations in which a row is reachable.
    pub fn orientations(&self, row: usize) -> Orientations {
        self.orientations[row]
    }

    /// Returns the positions of each layer in order; empty if infinite play is possible.
    pub fn layers(&self) -> &[Range<usize>] {
        &self.layers
    }

    /// Returns the root positions.
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// Returns `true` if the only move from a position is a pass, which stays in its `layer`.
    pub fn is_pass(&self, at: usize, layer: &Range<usize>) -> bool {
        self.edges_of(at).next().is_some_and(|edge| layer.contains(&self.target(edge)))
    }
}

/// Images of states that rows contain. A table indexed by rank may contain any image of a state, and its
/// orientations are relative to that image.
#[derive(Debug, Default)]
struct Facing {
    /// Symmetry that maps each row's state to its canonical form; empty if all are canonical.
    symmetries: Vec<Symmetry>,
}

impl Facing {
    fn of(states: &States) -> Result<Facing, String> {
        let mut symmetries = vec![0; states.rows()];
        states.visit(0..states.rows(), |row, position| {
            symmetries[row] = states.game().canonical(&position.state).symmetry();
            Ok(())
        })?;
        Ok(Facing { symmetries })
    }

    /// Returns the symmetries that map a state to the one its row contains.
    fn ties(&self, game: &dyn Rules, row: usize, state: &AnyState) -> u8 {
        let (group, ties) = (game.group(), game.canonical(state).ties);
        let Some(&symmetry) = self.symmetries.get(row).filter(|symmetry| **symmetry != 0) else {
            return ties;
        };
        let back = group.inverse(symmetry);
        let symmetries =
            (0..group.order() as Symmetry).filter(|symmetry| ties >> symmetry & 1 == 1);
        symmetries.fold(0, |all, symmetry| all | 1 << group.product(back, symmetry))
    }

    /// Calls `visit` with each of some rows and its moves: action, row after it, and the [ties](Facing::ties) of the
    /// state after it.
    fn successors(
        &self,
        states: &States,
        rows: Range<usize>,
        mut visit: impl FnMut(usize, &[(Action, u32, u8)]) -> Result<(), String>,
    ) -> Result<(), String> {
        let (game, mut moves, mut successors) = (states.game(), Vec::new(), Vec::new());
        states.visit(rows, |row, position| {
            states.moves(row, &position.state, &mut moves)?;
            successors.clear();
            for &(action, target) in &moves {
                let target =
                    target.ok_or_else(|| format!("a move of row {row} leads out of the table"))?;
                let ties = self.ties(game, target as usize, &game.play(&position.state, action));
                successors.push((action, target, ties));
            }
            visit(row, &successors)
        })
    }

    /// Finds the orientations in which rows are reached from the roots of a table that does not record them.
    fn reached(&self, states: &States) -> Result<Vec<Orientations>, String> {
        let (game, group) = (states.game(), states.game().group());
        let pieces = states.pieces();
        let chunks = parallel::map(pieces.len(), &|piece: usize| {
            let (mut degrees, mut targets, mut ties) = (Vec::new(), Vec::new(), Vec::new());
            self.successors(states, pieces[piece].rows.clone(), |_, successors| {
                degrees.push(successors.len());
                targets.extend(successors.iter().map(|(_, target, _)| *target));
                ties.extend(successors.iter().map(|(.., ties)| *ties));
                Ok(())
            })?;
            Ok::<_, String>((degrees, targets, ties))
        });
        let (mut offsets, mut targets, mut ties) = (vec![0], Vec::new(), Vec::new());
        for chunk in chunks {
            let (degrees, some_targets, some_ties) = chunk?;
            for degree in degrees {
                offsets.push(offsets[offsets.len() - 1] + degree);
            }
            targets.extend(some_targets);
            ties.extend(some_ties);
        }
        let mut all = vec![Orientations::default(); states.rows()];
        let mut waiting = Vec::new();
        for root in states.roots().map_err(|error| error.line())? {
            let row = states.find(&root).ok_or("a root is missing from the table")?;
            let root_ties = self.ties(game, row, &root.state);
            waiting.push((row, group.root_orientations(root.side, root_ties)));
        }
        while let Some((row, set)) = waiting.pop() {
            let new = Orientations(set.0 & !all[row].0);
            if new.0 == 0 {
                continue;
            }
            all[row].0 |= new.0;
            for at in offsets[row]..offsets[row + 1] {
                let (target, after) =
                    (targets[at] as usize, group.successor_orientations(new, ties[at]));
                if after.0 & !all[target].0 != 0 {
                    waiting.push((target, after));
                }
            }
        }
        Ok(all)
    }
}

#[derive(Default)]
struct UnfoldedPiece {
    rows: Vec<u32>,
    sides: Vec<Side>,
    degrees: Vec<u32>,
    targets: Vec<u32>,
}
