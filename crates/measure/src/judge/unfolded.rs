//! Actual positions of a folded table and the moves between them.
//!
//! Folding keeps one row for all images of a board. A policy need not respect the symmetries, so games are
//! played on actual positions: every orientation of a row with every side to move in which it is reachable.
//! Tables of layered games record these orientations; for other tables they are found here by a search from
//! the roots. Positions, including terminal ones, are numbered by row, then by orientation; edges are
//! numbered by position, then by ascending action.

use std::collections::BTreeMap;
use std::ops::Range;

use yomikiri::error::Error;
use yomikiri::oracle::States;
use yomikiri::parallel;
use yomikiri::rules::{AnyPosition, AnyState, Orientations, Position, Rules, Side, Symmetry};

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
        let order = game.group().order();
        let (mut part, mut moves) = (UnfoldedPiece::default(), Vec::new());
        states.visit(rows, |row, position| {
            states.moves(row, &position.state, &mut moves)?;
            for (symmetry, side) in self.orientations[row].iter(order) {
                let state = game.transform(&position.state, symmetry);
                let inverse = game.group().inverse(symmetry);
                let mut inconsistent = false;
                game.moves(&state, |action, after| {
                    let canonical = game.transform_action(action, inverse);
                    let target = moves.iter().find(|(action, _)| *action == canonical);
                    let target = target.and_then(|(_, target)| *target);
                    let after = Position { state: after, side: side.other() };
                    let place = target.and_then(|t| self.place(states, t as usize, &after));
                    inconsistent |= place.is_none();
                    part.targets.extend(place.map(|place| place as u32));
                });
                if inconsistent {
                    return Err(format!("a move of row {row} leads out of the table"));
                }
                part.rows.push(row as u32);
                part.sides.push(side);
                part.degrees.push(moves.len() as u32);
            }
            Ok(())
        })?;
        Ok(part)
    }

    /// Returns the number of a position of a row; `None` if it is not reachable.
    fn place(&self, states: &States, row: usize, position: &AnyPosition) -> Option<usize> {
        let game = states.game();
        let ties = self.facing.ties(game, row, &position.state);
        let own = game.group().root_orientations(position.side, ties).0;
        let set = self.orientations.get(row)?.0;
        let below = set & (own - 1);
        (set & own != 0).then(|| self.first[row] as usize + below.count_ones() as usize)
    }

    /// Returns the number of a position; `None` if it is not reachable.
    pub fn find(&self, states: &States, position: &AnyPosition) -> Option<usize> {
        self.place(states, states.find(position)?, position)
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

    /// Finds the orientations in which rows are reached from the roots of a table that does not record them.
    fn reached(&self, states: &States) -> Result<Vec<Orientations>, String> {
        let (game, mut moves) = (states.game(), Vec::new());
        let group = game.group();
        let mut all = vec![Orientations::default(); states.rows()];
        // Orientations newly reached in the next ply, by row.
        let mut next: BTreeMap<usize, u16> = BTreeMap::new();
        for root in states.roots().map_err(|error| error.line())? {
            let row = states.find(&root).ok_or("a root is missing from the table")?;
            let ties = self.ties(game, row, &root.state);
            *next.entry(row).or_default() |= group.root_orientations(root.side, ties).0;
        }
        while !next.is_empty() {
            for (row, set) in std::mem::take(&mut next) {
                let new = Orientations(set & !all[row].0);
                if new.0 == 0 {
                    continue;
                }
                all[row].0 |= new.0;
                states.visit(row..row + 1, |row, position| {
                    states.moves(row, &position.state, &mut moves)?;
                    for &(action, target) in &moves {
                        let target =
                            target.ok_or("marked complete, but moves lead out of the table")?;
                        let after = game.play(&position.state, action);
                        let ties = self.ties(game, target as usize, &after);
                        let set = group.successor_orientations(new, ties);
                        *next.entry(target as usize).or_default() |= set.0;
                    }
                    Ok(())
                })?;
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
