//! A folded table as the graph of its actual positions.
//!
//! Folding keeps one row for all images of a board. A policy need not respect the symmetries, so
//! play between policies happens on actual positions: every orientation of a row with every side to
//! move in which it is reachable. Tables of layered games tell which these are; in others they are
//! found here, from the roots on. They are numbered row by row and in the order of the row's
//! orientations, the terminal ones among them; edges are numbered position by position, by
//! ascending action.

use std::collections::BTreeMap;
use std::ops::Range;

use yomikiri::any::{AnyGame, AnyPosition, AnyState};
use yomikiri::game::{Game, GameExt, Orientations, Position, Side, Symmetry};
use yomikiri::hint::Hint;
use yomikiri::parallel;
use yomikiri::solved::States;

/// The actual positions of a complete table and the moves between them.
#[derive(Debug)]
pub struct Unfolded {
    /// The orientations in which each row is reachable.
    orientations: Vec<Orientations>,
    facing: Facing,
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
    /// The positions of each layer; none where games may go on for ever.
    layers: Vec<Range<usize>>,
    /// The roots.
    roots: Vec<usize>,
}

impl Unfolded {
    /// How many bytes the positions and edges of a table of so many would take.
    pub fn bytes(positions: u64, edges: u64) -> u64 {
        positions * 11 + edges * 4
    }

    /// Unfolds a table. Fails where it is not complete or damaged, and where it has too many
    /// positions.
    pub fn new(states: &States) -> Result<Unfolded, String> {
        if !states.table().manifest().complete {
            return Err("it is bounded: games lead out of it".to_string());
        }
        let is_layered = states.game().layers().is_some();
        let told = (0..states.rows()).map(|row| states.orientations(row));
        let (facing, orientations) = match told.collect::<Option<Vec<_>>>() {
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
            total = total.checked_add(set.count()).ok_or("it has more than 2^32 positions")?;
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
                let end = end.checked_add(degree).ok_or("it has more than 2^32 moves")?;
                unfolded.offsets.push(end);
            }
            unfolded.targets.extend(part.targets);
        }
        // Bits beyond the symmetries are counted and stand for no position.
        if unfolded.rows.len() != total as usize {
            return Err("its orientations are not those of its symmetries".to_string());
        }
        let find = |root| unfolded.find(states, root).ok_or("a root is not in it");
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

    fn unfold(&self, states: &States, rows: Range<usize>) -> Result<Part, String> {
        let game = states.game();
        let order = game.group().order();
        let (mut part, mut moves) = (Part::default(), Vec::new());
        states.visit(rows, |row, position| {
            states.moves(row, &position.state, &mut moves)?;
            for (symmetry, side) in self.orientations[row].iter(order) {
                let state = game.transform(&position.state, symmetry);
                let inverse = game.group().inverse(symmetry);
                let mut astray = false;
                game.for_each_successor(&state, |action, after| {
                    let canonical = game.transform_action(action, inverse);
                    let target = moves.iter().find(|(action, _)| *action == canonical);
                    let target = target.and_then(|(_, target)| *target);
                    let after = Position { state: after, side: side.other() };
                    let place = target.and_then(|t| self.place(states, t as usize, &after));
                    astray |= place.is_none();
                    part.targets.extend(place.map(|place| place as u32));
                });
                if astray {
                    return Err(format!("a move of row {row} leads to no position of it"));
                }
                part.rows.push(row as u32);
                part.sides.push(side);
                part.degrees.push(moves.len() as u32);
            }
            Ok(())
        })?;
        Ok(part)
    }

    /// The number of the position of a row that looks so; `None` if it is not reachable.
    fn place(&self, states: &States, row: usize, position: &AnyPosition) -> Option<usize> {
        let game = states.game();
        let ties = self.facing.ties(game, row, &position.state);
        let own = game.group().root_orientations(position.side, ties).0;
        let set = self.orientations.get(row)?.0;
        let below = set & (own - 1);
        (set & own != 0).then(|| self.first[row] as usize + below.count_ones() as usize)
    }

    /// The number of a position; `None` if it is not reachable.
    pub fn find(&self, states: &States, position: &AnyPosition) -> Option<usize> {
        self.place(states, states.find(position)?, position)
    }

    /// The position with a number, as it lies on the board.
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

    /// How many positions there are.
    pub fn positions(&self) -> usize {
        self.rows.len()
    }

    /// How many moves there are.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// The row of a position.
    #[inline]
    pub fn row(&self, at: usize) -> usize {
        self.rows[at] as usize
    }

    /// Who is to move in a position.
    #[inline]
    pub fn side(&self, at: usize) -> Side {
        self.sides[at]
    }

    /// The edges of a position.
    #[inline]
    pub fn edges_of(&self, at: usize) -> Range<usize> {
        self.offsets[at] as usize..self.offsets[at + 1] as usize
    }

    /// Where an edge leads.
    #[inline]
    pub fn target(&self, edge: usize) -> usize {
        self.targets[edge] as usize
    }

    /// The orientations in which a row is reachable.
    pub fn orientations(&self, row: usize) -> Orientations {
        self.orientations[row]
    }

    /// The positions of the layers, the first layer first; none where games may go on for ever.
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
}

/// How the states of rows lie: a table that finds its rows by rank may give any image of a state,
/// and orientations are those of what it gives.
#[derive(Debug, Default)]
struct Facing {
    /// The symmetry that brings the state of a row to its canonical form; none where all have it.
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

    /// The symmetries that bring a state to the one that the table gives for its row.
    fn ties(&self, game: &AnyGame, row: usize, state: &AnyState) -> u8 {
        let (group, ties) = (game.group(), game.canonical(state).ties);
        let Some(&symmetry) = self.symmetries.get(row).filter(|symmetry| **symmetry != 0) else {
            return ties;
        };
        let back = group.inverse(symmetry);
        let symmetries =
            (0..group.order() as Symmetry).filter(|symmetry| ties >> symmetry & 1 == 1);
        symmetries.fold(0, |all, symmetry| all | 1 << group.product(back, symmetry))
    }

    /// The orientations in which rows are reached from the roots of a table that does not tell.
    fn reached(&self, states: &States) -> Result<Vec<Orientations>, String> {
        let (game, mut moves) = (states.game(), Vec::new());
        let group = game.group();
        let mut all = vec![Orientations::default(); states.rows()];
        // Those of the next ply, in the order of their rows.
        let mut next: BTreeMap<usize, u16> = BTreeMap::new();
        for root in states.roots().map_err(|error| error.line())? {
            let row = states.find(&root).ok_or("a root is not in it")?;
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
                        let target = target.ok_or("it says that it is complete and is not")?;
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
struct Part {
    rows: Vec<u32>,
    sides: Vec<Side>,
    degrees: Vec<u32>,
    targets: Vec<u32>,
}
