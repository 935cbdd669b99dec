//! Which states a table has, which row each has, and where the moves of a row lead.
//!
//! Two kinds of each: *sparse* rows are sorted keys ([`Graph`]), *dense* rows the reachable ranks
//! ([`Ranked`]), and rows of either kind may be *packed* ([`Packed`]). Moves are *stored* beside
//! sorted keys or *derived* from the rules when they are asked for.

use std::ops::Range;

use super::index::BucketIndex;
use super::ranked::{BLOCK, block_counts};
use super::{Graph, Packed, Ranked, StateKind};
use crate::game::blocks::fetch;
use crate::game::{Action, Game, Orientations, Position, Side};
use crate::parallel::{self, GRAIN};
use crate::table::{Counts, Table, TableError};

/// A move of a row and the row that it leads to; `None` if it was not followed.
pub type RowMove = (Action, Option<u32>);

/// Gives the row of a position and the symmetries that bring it to its canonical form, as a set of
/// bits. Where layers are plies, looks in those up to the given one. A row that it may be is looked
/// at first, which costs less than a search if it is right.
pub type Finder<'a, S> =
    dyn Fn(&Position<S>, u32, Option<usize>) -> Option<(usize, u8)> + Sync + 'a;

/// Rows that are read and asked together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The rows.
    pub rows: Range<usize>,
    /// The layer in which all of them are; `None` where the table does not tell.
    pub layer: Option<u32>,
}

/// The rows of a table as states of a game.
pub trait Space<G: Game>: Send + Sync {
    /// How many rows there are.
    fn rows(&self) -> usize;

    /// The row of a position, whatever its orientation; `None` if it is not in the table.
    fn find(&self, game: &G, position: &Position<G::State>) -> Option<usize>;

    /// All rows in pieces, always the same in the same order.
    fn pieces(&self) -> Vec<Piece>;

    /// Calls `visit` with the canonical position of each of some ascending rows, until it fails;
    /// fails too where a row is none. The first player is to move where the table does not tell.
    fn visit(
        &self,
        game: &G,
        rows: &mut dyn Iterator<Item = usize>,
        visit: &mut dyn FnMut(usize, Position<G::State>) -> Result<(), String>,
    ) -> Result<(), String>;

    /// A search for the rows of many positions, built beside the table in memory of its own.
    fn finder<'a>(&'a self, game: &'a G) -> Box<Finder<'a, G::State>>;

    /// Tells the processor that some rows will be compared with positions, where that pays.
    fn fetch(&self, _rows: &[u32]) {}

    /// Checks what is stored of the rows as a whole.
    fn check_whole(&self, game: &G, table: &Table) -> Result<(), TableError>;

    /// Checks what is stored of a row that has been found besides its moves against its position.
    fn check(&self, _game: &G, _row: usize, _position: &Position<G::State>) -> Result<(), String> {
        Ok(())
    }

    /// What a row is; `is_over` asks the rules whether the game is over there.
    fn kind(&self, row: usize, is_over: &dyn Fn() -> bool) -> StateKind;

    /// The orientations in which a row is reachable; `None` where the table does not tell.
    fn orientations(&self, row: usize) -> Option<Orientations>;

    /// The layer of a row; `None` where the table does not tell.
    fn layer_of(&self, row: usize) -> Option<u32>;

    /// How many positions there are with a move to choose all of whose moves were followed, each
    /// row counting for at most so many of its orientations.
    fn open_positions(&self, most: usize) -> u64;
}

/// Where the moves of rows lead.
pub trait Transitions<G: Game>: Send + Sync {
    /// Where the edges of some rows are stored; puts in `offsets` where among these each row's begin, and
    /// where the last's end. `None` where they are not stored, or not there.
    fn stored_edges(&self, _rows: Range<usize>, _offsets: &mut Vec<u32>) -> Option<Range<usize>> {
        None
    }

    /// The rows to which stored edges lead, which may be wrong.
    fn stored_targets(&self, _edges: Range<usize>) -> &[u32] {
        &[]
    }

    /// Fills `moves` with the legal moves of a row, of which `state` is the state, by ascending
    /// action. Fails where the table's are others.
    fn moves(
        &self,
        game: &G,
        row: usize,
        state: &G::State,
        moves: &mut Vec<RowMove>,
    ) -> Result<(), String>;

    /// Checks what is stored of the moves of a row, its `edges`, against the moves that were followed;
    /// `name` names an action.
    fn check_moves(
        &self,
        _row: usize,
        _edges: Option<Range<usize>>,
        _moves: &[(Action, usize)],
        _name: &dyn Fn(Action) -> String,
    ) -> Result<(), String> {
        Ok(())
    }
}

/// The rows of a table with their moves.
pub trait Rows<G: Game>: Space<G> + Transitions<G> {}

impl<G: Game, T: Space<G> + Transitions<G>> Rows<G> for T {}

/// Maps the rows of a table, comparing checksums if `checked`. Nothing else asks which kind of
/// space a table has.
pub fn open_rows<G: Game>(
    game: &G,
    table: &Table,
    checked: bool,
) -> Result<Box<dyn Rows<G>>, TableError> {
    if let Some(packed) = Packed::of(game, table, checked)? {
        return Ok(Box::new(packed));
    }
    if let Some(ranked) = Ranked::of(table, checked)? {
        return Ok(Box::new(ranked));
    }
    let graph = if checked { Graph::open_checked(table)? } else { Graph::open(table)? };
    if game.layers().is_some() {
        graph.check_layered(table)?;
    }
    Ok(Box::new(graph))
}

/// How many rows a piece takes where rows are keys, and how many ranks where they are ranks;
/// constants, since they group sums.
const CHUNK: usize = 1 << 11;
pub(super) const CHUNK_RANKS: usize = 1 << 15;

/// The pieces of the rows of layers, of which the first has this number.
pub(crate) fn pieces_of(layers: impl Iterator<Item = Range<usize>>, first: u32) -> Vec<Piece> {
    let pieces = layers.zip(first..).flat_map(|(rows, layer)| {
        let starts = rows.clone().step_by(CHUNK);
        starts.map(move |start| {
            let rows = start..rows.end.min(start + CHUNK);
            Piece { rows, layer: Some(layer) }
        })
    });
    pieces.collect()
}

/// Checks a row that has been found, and so has the key of its position: whether it is in the layer
/// of that, and its key follows that of the row before.
pub(super) fn check_key<G: Game>(
    game: &G,
    row: usize,
    position: &Position<G::State>,
    (layer, follows): (Range<usize>, bool),
) -> Result<(), String> {
    if !layer.contains(&row) {
        return Err(format!("it belongs to layer {}", game.layer(&position.state)));
    }
    match follows {
        true => Ok(()),
        false => Err("its key is not above the one before it".to_string()),
    }
}

/// Checks a row against the row that the rank of its position has: whether the rank of a state and
/// the state of a rank are each other's.
pub(super) fn check_rank(row: usize, found: Option<usize>) -> Result<(), String> {
    match found {
        Some(found) if found == row => Ok(()),
        Some(found) => Err(format!("the rank of its position is that of row {found}")),
        None => Err("its position has no rank in the table".to_string()),
    }
}

/// What a row is whose moves are made from the rules: then nothing is cut off.
pub(crate) fn kind_by_rules(is_over: &dyn Fn() -> bool) -> StateKind {
    if is_over() { StateKind::Terminal } else { StateKind::Interior }
}

/// [`Space::open_positions`] of rows of which none is cut off.
pub(crate) fn open_positions(counts: &Counts, most: usize) -> u64 {
    let open = match (most, counts.reachable) {
        (2.., Some(reachable)) => reachable,
        _ => counts.table,
    };
    open.states.saturating_sub(open.terminals)
}

/// [`Transitions::moves`] from the rules; `find` gives the row of a position.
pub(crate) fn moves_by_rules<G: Game>(
    game: &G,
    row: usize,
    (state, side): (&G::State, Side),
    find: &dyn Fn(&Position<G::State>) -> Option<usize>,
    moves: &mut Vec<RowMove>,
) -> Result<(), String> {
    moves.clear();
    let mut astray = false;
    game.for_each_successor(state, |action, state| {
        let target = find(&Position { state, side: side.other() }).map(|row| row as u32);
        astray |= target.is_none();
        moves.push((action, target));
    });
    if astray { Err(format!("a move of row {row} leads out of it")) } else { Ok(()) }
}

impl<G: Game> Space<G> for Graph {
    fn rows(&self) -> usize {
        self.states()
    }

    fn find(&self, game: &G, position: &Position<G::State>) -> Option<usize> {
        Graph::find(self, game, position)
    }

    fn pieces(&self) -> Vec<Piece> {
        pieces_of(self.layers(), self.first_layer())
    }

    fn visit(
        &self,
        game: &G,
        rows: &mut dyn Iterator<Item = usize>,
        visit: &mut dyn FnMut(usize, Position<G::State>) -> Result<(), String>,
    ) -> Result<(), String> {
        for row in rows {
            let position = self.position(game, row);
            visit(row, position.ok_or_else(|| format!("row {row} of its keys is no position"))?)?;
        }
        Ok(())
    }

    fn finder<'a>(&'a self, game: &'a G) -> Box<Finder<'a, G::State>> {
        let keys = self.keys().of::<G::Key>();
        let layers: Vec<(Range<usize>, BucketIndex)> = self
            .layers()
            .map(|rows| (rows.clone(), BucketIndex::new(&keys[rows], game.key_bits())))
            .collect();
        let find_in = move |place: usize, key: G::Key, guess: Option<usize>| {
            let (rows, index) = layers.get(place)?;
            // Keys of a layer differ from each other, so a row that has this key is the one.
            if let Some(row) = guess.filter(|row| rows.contains(row) && keys[*row] == key) {
                return Some(row);
            }
            index.find(&keys[rows.clone()], key).map(|at| rows.start + at)
        };
        let first = self.first_layer();
        let layered = game.layers().is_some();
        Box::new(move |position, ply, guess| {
            if layered {
                let canonical = game.canonical(&position.state);
                let place = game.layer(&position.state).checked_sub(first)?;
                return Some((find_in(place as usize, canonical.key, guess)?, canonical.ties));
            }
            let key = game.position_key(position);
            (0..=ply as usize).find_map(|place| find_in(place, key, None)).map(|row| (row, 1))
        })
    }

    fn check_whole(&self, _game: &G, table: &Table) -> Result<(), TableError> {
        let lengths = self.layers().map(|rows| rows.len() as u64);
        match lengths.eq(table.manifest().layers.iter().map(|layer| layer.table.states)) {
            true => Ok(()),
            false => {
                let what = "its layers are not those of layer_offsets";
                Err(TableError::damaged(&table.dir().join("manifest.json"), what))
            }
        }
    }

    fn check(&self, game: &G, row: usize, position: &Position<G::State>) -> Result<(), String> {
        let keys = self.keys().of::<G::Key>();
        let layer = match game.layers() {
            Some(_) => self.layer(game.layer(&position.state)),
            None => self.layers().find(|rows| rows.contains(&row)).unwrap_or(0..0),
        };
        let follows = row <= layer.start || keys[row - 1] < keys[row];
        check_key(game, row, position, (layer, follows))?;
        match self.kinds().get(row) {
            Some(&kind) if StateKind::of(kind).is_none() => {
                Err(format!("its kind is {kind}, and there is none"))
            }
            _ => Ok(()),
        }
    }

    fn fetch(&self, rows: &[u32]) {
        let keys = self.keys().of::<G::Key>();
        rows.iter().filter_map(|&row| keys.get(row as usize)).for_each(fetch);
    }

    fn kind(&self, row: usize, is_over: &dyn Fn() -> bool) -> StateKind {
        match self.stores_moves() {
            true => Graph::kind(self, row),
            false => kind_by_rules(is_over),
        }
    }

    fn orientations(&self, row: usize) -> Option<Orientations> {
        self.has_orientations().then(|| Graph::orientations(self, row))
    }

    fn layer_of(&self, row: usize) -> Option<u32> {
        Graph::layer_of(self, row)
    }

    fn open_positions(&self, most: usize) -> u64 {
        if !self.stores_moves() {
            return open_positions(self.counts(), most);
        }
        let of = |row: usize| match Graph::kind(self, row) {
            StateKind::Interior => {
                (Graph::orientations(self, row).count() as usize).min(most) as u64
            }
            _ => 0,
        };
        let sum = |rows: Range<usize>| rows.map(of).sum::<u64>();
        parallel::map_ranges(self.states(), CHUNK, &sum).into_iter().sum()
    }
}

impl<G: Game> Transitions<G> for Graph {
    fn stored_edges(&self, rows: Range<usize>, offsets: &mut Vec<u32>) -> Option<Range<usize>> {
        self.edge_ranges(rows, offsets)
    }

    fn stored_targets(&self, edges: Range<usize>) -> &[u32] {
        &self.edge_targets()[edges]
    }

    fn moves(
        &self,
        game: &G,
        row: usize,
        state: &G::State,
        moves: &mut Vec<RowMove>,
    ) -> Result<(), String> {
        if !self.stores_moves() {
            let find = |after: &Position<G::State>| Graph::find(self, game, after);
            // Only games with cycles have tables that keep sides, and these have stored moves.
            return moves_by_rules(game, row, (state, Side::First), &find, moves);
        }
        moves.clear();
        let mut edges = self.edges_of(row).peekable();
        let kind = Graph::kind(self, row);
        let whole = kind == StateKind::Interior;
        let mut astray = false;
        game.for_each_action(state, |action| {
            let stored = edges.next_if(|&edge| self.action_of(edge) == action);
            let target = stored.map(|edge| self.edge_targets()[edge]);
            astray |= target.is_some_and(|target| target as usize >= self.states());
            astray |= target.is_none() && whole;
            moves.push((action, target));
        });
        // An end has no moves, and whatever else has some.
        astray |= moves.is_empty() != (kind == StateKind::Terminal);
        match astray || edges.next().is_some() {
            true => Err(format!("row {row} of its edges has not the moves of its position")),
            false => Ok(()),
        }
    }

    fn check_moves(
        &self,
        row: usize,
        edges: Option<Range<usize>>,
        moves: &[(Action, usize)],
        name: &dyn Fn(Action) -> String,
    ) -> Result<(), String> {
        if !self.stores_moves() {
            return Ok(());
        }
        // That rows' edges follow each other has been seen; that all are of some row has not.
        let range = edges.filter(|range| {
            (row > 0 || range.start == 0) && (row + 1 < self.states() || range.end == self.edges())
        });
        let Some(range) = range else {
            return Err("its edges do not begin or end where they should".to_string());
        };
        if range.len() != moves.len() {
            let (found, followed) = (range.len(), moves.len());
            return Err(format!("it has {found} edges where {followed} moves are followed"));
        }
        for (edge, &(action, target)) in range.zip(moves) {
            let stored = (self.action_of(edge), self.edge_targets()[edge] as usize);
            if stored != (action, target) {
                let (found, to) = (name(stored.0), stored.1);
                let expected = name(action);
                return Err(format!("its edge {found} to {to} should be {expected} to {target}"));
            }
        }
        Ok(())
    }
}

impl<G: Game> Space<G> for Ranked {
    fn rows(&self) -> usize {
        Ranked::rows(self)
    }

    fn find(&self, game: &G, position: &Position<G::State>) -> Option<usize> {
        self.row(game.rank(&position.state)?)
    }

    fn pieces(&self) -> Vec<Piece> {
        let blocks = self.block_counts().iter().step_by(CHUNK_RANKS / BLOCK);
        let starts: Vec<usize> = blocks.map(|&count| count as usize).collect();
        let ends = starts.iter().copied().skip(1).chain([Ranked::rows(self)]);
        starts.iter().zip(ends).map(|(&s, end)| Piece { rows: s..end, layer: None }).collect()
    }

    fn visit(
        &self,
        game: &G,
        rows: &mut dyn Iterator<Item = usize>,
        visit: &mut dyn FnMut(usize, Position<G::State>) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut ranks = self.ranks();
        for row in rows {
            let state = ranks.seek(row).and_then(|rank| game.unrank(rank));
            let state = state.ok_or_else(|| format!("row {row} of its bits is no position"))?;
            visit(row, Position { state, side: Side::First })?;
        }
        Ok(())
    }

    fn finder<'a>(&'a self, game: &'a G) -> Box<Finder<'a, G::State>> {
        Box::new(|position, _, _| Some((self.row(game.rank(&position.state)?)?, 1)))
    }

    fn check_whole(&self, game: &G, table: &Table) -> Result<(), TableError> {
        let ranks = game.rank_count().unwrap_or(0) as usize;
        let last = self.words().last().map_or(0, |word| 64 - word.leading_zeros() as usize);
        let damaged = |name: &str, what: &str| Err(TableError::damaged(&table.path_of(name), what));
        if self.words().len() != ranks.div_ceil(64)
            || (self.words().len() * 64).saturating_sub(64) + last > ranks
        {
            return damaged("reachable", "its bits are not as many as the game's ranks");
        }
        let ones = |word: usize| u64::from(self.words()[word].count_ones());
        let rows = |words: Range<usize>| words.map(ones).sum::<u64>();
        let rows: u64 = parallel::map_ranges(self.words().len(), GRAIN, &rows).into_iter().sum();
        // Bits, and so rows, are in the order of ranks; each row is asked for its own.
        if rows != Ranked::rows(self) as u64 || block_counts(self.words()) != self.block_counts() {
            return damaged("rank_counts", "its counts are not those of the bits");
        }
        Ok(())
    }

    fn check(&self, game: &G, row: usize, position: &Position<G::State>) -> Result<(), String> {
        check_rank(row, game.rank(&position.state).and_then(|rank| self.row(rank)))
    }

    fn kind(&self, _row: usize, is_over: &dyn Fn() -> bool) -> StateKind {
        kind_by_rules(is_over)
    }

    fn orientations(&self, _row: usize) -> Option<Orientations> {
        None
    }

    fn layer_of(&self, _row: usize) -> Option<u32> {
        None
    }

    fn open_positions(&self, _most: usize) -> u64 {
        (Ranked::rows(self) as u64).saturating_sub(self.terminals())
    }
}

impl<G: Game> Transitions<G> for Ranked {
    fn moves(
        &self,
        game: &G,
        row: usize,
        state: &G::State,
        moves: &mut Vec<RowMove>,
    ) -> Result<(), String> {
        moves.clear();
        // All ranks come first, so that the machine fetches their rows at the same time.
        game.for_each_successor(state, |action, after| moves.push((action, game.rank(&after))));
        for (_, target) in moves {
            let found = target.and_then(|rank| self.row(rank)).map(|row| row as u32);
            *target = Some(found.ok_or_else(|| format!("a move of row {row} leads out of it"))?);
        }
        Ok(())
    }
}
