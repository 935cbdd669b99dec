//! A table seen as a graph: its rows as states, and where their moves lead.
//!
//! Two choices, each independent of the other: rows are sorted [`Keys`] or [`Ranked`], either of
//! which may be packed; moves are stored, or made from the rules when they are asked for.

use std::ops::Range;
use std::path::Path;

use super::keys::{BucketIndex, Keys, KeysElsewhere};
use super::ranked::Ranked;
use super::{StateKind, UNFIT};
use crate::game::{Action, Empties, Game, GameExt, Orientations, Position, Score, Side, StateKey};
use crate::parallel::{self, GRAIN};
use crate::table::{
    Array, BLOCK, Counts, Ints, Manifest, PackedColumn, Table, TableError, or_record, prefetch,
};

/// A move of a row and the row that it leads to; `None` if it was not followed.
pub type RowMove = (Action, Option<u32>);

/// Rows that are read and asked together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The rows.
    pub rows: Range<usize>,
    /// The layer in which all of them are; `None` where the table does not tell.
    pub layer: Option<u32>,
}

/// How many rows a piece takes where rows are keys; a constant, since they group sums.
const CHUNK: usize = 1 << 11;

/// Of every how many rows it is stored where their edges begin; those of the rows between are counted.
pub(super) const START_EVERY: usize = 64;

/// Puts in `sums` how many edges come before each row, the rows having so many, and behind them how
/// many there are, which it gives.
pub(super) fn add_up<C: Copy + Into<u32>>(counts: &[C], sums: &mut Vec<u32>) -> u32 {
    sums.resize(counts.len() + 1, 0);
    let mut sum = 0;
    for (before, &count) in sums.iter_mut().zip(counts) {
        *before = sum;
        sum += count.into();
    }
    sums[counts.len()] = sum;
    sum
}

/// The rows of a table as states of a game, and their moves.
pub struct Graph {
    rows: Rows,
    /// Only layered games are enumerated with them, by key.
    orientations: Option<Sets>,
    /// Absent where the rules tell, whenever they are asked.
    stored: Option<Stored>,
    states: usize,
    /// None where rows are ranks and play may go round.
    layer_offsets: Vec<u64>,
    first_layer: u32,
    counts: Counts,
}

/// How rows are found.
enum Rows {
    Keys(Keys),
    Ranks(Ranked),
}

/// The orientations of rows.
enum Sets {
    Mapped(Ints),
    Packed(PackedColumn<u16>),
}

/// What is stored of the moves of rows.
struct Stored {
    kinds: Array<u8>,
    edge_counts: Ints,
    /// Of every [`START_EVERY`] rows where their edges begin.
    edge_starts: Array<u64>,
    edge_targets: Array<u32>,
    edge_actions: Ints,
}

impl Graph {
    /// Maps a table's arrays without reading their payload.
    pub fn open<G: Game>(game: &G, table: &Table) -> Result<Graph, TableError> {
        let Manifest { first_layer, counts, ref identity, .. } = *table.manifest();
        let (by_rank, packed) = (identity.is_by_rank(), table.manifest().is_packed());
        let states = usize::try_from(counts.table.states).unwrap_or(usize::MAX);
        let layer_offsets = match (by_rank, game.layers()) {
            (false, _) => table.array_checked::<u64>("layer_offsets", true)?.to_vec(),
            (true, None) => Vec::new(),
            (true, Some(_)) => {
                let layers = table.manifest().layers.iter();
                let end = |end: &mut u64, layer: &Counts| {
                    *end = end.saturating_add(layer.table.states);
                    Some(*end)
                };
                std::iter::once(0).chain(layers.scan(0, end)).collect()
            }
        };
        let rows = match by_rank {
            true => Rows::Ranks(Ranked::open(game, table, states)?),
            false => Rows::Keys(Keys::open(game, table, states)?),
        };
        // Without them rows of a layered game stand for no positions.
        let orientations = match game.layers() {
            Some(_) if by_rank => None,
            None => None,
            Some(_) if packed => {
                let name = "packed_orientations";
                Some(Sets::Packed(PackedColumn::open(table, name, states, false)?))
            }
            Some(_) => Some(Sets::Mapped(Ints::open(table, "orientations")?)),
        };
        let stored = match by_rank || packed || identity.is_derived() {
            true => None,
            false => Some(Stored {
                kinds: table.array("kinds")?,
                edge_counts: Ints::open(table, "edge_counts")?,
                edge_starts: table.array("edge_starts")?,
                edge_targets: table.array("edge_targets")?,
                edge_actions: Ints::open(table, "edge_actions")?,
            }),
        };
        let graph =
            Graph { rows, orientations, stored, states, layer_offsets, first_layer, counts };
        match graph.fits(table.manifest()) {
            true => Ok(graph),
            false => Err(table.damaged_manifest(UNFIT)),
        }
    }

    /// Keys outside the files of a table, in layers of which the first has a number.
    pub fn elsewhere(
        keys: Box<dyn KeysElsewhere>,
        layer_offsets: Vec<u64>,
        first_layer: u32,
        counts: Counts,
    ) -> Graph {
        let states = layer_offsets.last().map_or(0, |&states| states as usize);
        let rows = Rows::Keys(Keys::Elsewhere(keys));
        let (orientations, stored) = (None, None);
        Graph { rows, orientations, stored, states, layer_offsets, first_layer, counts }
    }

    /// Whether the arrays' lengths fit each other, so that rows and layers can be used as indices.
    fn fits(&self, manifest: &Manifest) -> bool {
        let states = self.states;
        // All that follows of a state are the moves that the rules tell when they are asked.
        let moves_fit = match &self.stored {
            None => manifest.complete && states <= u32::MAX as usize,
            Some(Stored { kinds, edge_counts, edge_starts, edge_targets, edge_actions }) => {
                kinds.len() == states
                    && edge_counts.count() == states
                    && edge_starts.len() == states.div_ceil(START_EVERY)
                    && edge_actions.count() == edge_targets.len()
            }
        };
        let sets_fit = match &self.orientations {
            Some(Sets::Mapped(sets)) => sets.count() == states,
            _ => true,
        };
        let layers_fit = match self.rows {
            Rows::Ranks(_) if self.layer_offsets.is_empty() => true,
            _ => {
                self.layer_offsets.is_sorted()
                    && self.layer_offsets.first() == Some(&0)
                    && self.layer_offsets.last() == Some(&(states as u64))
            }
        };
        let roots_fit = manifest.root_ids.iter().all(|&id| id < states as u64);
        moves_fit && sets_fit && layers_fit && roots_fit
    }

    /// Lets the system use the memory in which it keeps what solving has read of some rows.
    pub fn forget(&self, rows: Range<usize>) {
        if let Rows::Keys(keys) = &self.rows {
            keys.forget(rows.clone());
        }
        if let Some(Stored { kinds, edge_counts, edge_targets, .. }) = &self.stored {
            let ends = [rows.start, rows.end.max(1) - 1].map(|row| self.edge_range(row));
            if let [Some(first), Some(last)] = ends {
                edge_targets.forget(first.start..last.end);
            }
            kinds.forget(rows.clone());
            edge_counts.forget(rows);
        }
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.states
    }

    /// How many edges are stored.
    pub fn edges(&self) -> usize {
        self.edge_targets().len()
    }

    /// Whether moves are stored, and not derived from the rules.
    pub fn stores_moves(&self) -> bool {
        self.stored.is_some()
    }

    /// The rows of every layer, the first layer first.
    pub fn layers(&self) -> impl DoubleEndedIterator<Item = Range<usize>> + ExactSizeIterator + '_ {
        self.layer_offsets.windows(2).map(|pair| pair[0] as usize..pair[1] as usize)
    }

    /// The rows of the layer with a number; empty if there is none.
    pub fn layer(&self, number: u32) -> Range<usize> {
        let place = number.checked_sub(self.first_layer).map(|n| n as usize);
        place.and_then(|place| self.layers().nth(place)).unwrap_or(0..0)
    }

    /// The number of the layer of a row; `None` where the table does not tell.
    pub fn layer_of(&self, row: usize) -> Option<u32> {
        let begun = self.layer_offsets.partition_point(|&offset| offset <= row as u64);
        let place = begun.checked_sub(1).filter(|_| row < self.states)?;
        Some(self.first_layer.saturating_add(place as u32))
    }

    /// The number of the first layer.
    pub fn first_layer(&self) -> u32 {
        self.first_layer
    }

    /// The keys.
    ///
    /// # Panics
    ///
    /// When rows are ranks.
    pub fn keys(&self) -> &Keys {
        match &self.rows {
            Rows::Keys(keys) => keys,
            Rows::Ranks(_) => panic!("a table by rank has no keys"),
        }
    }

    /// The ranks, where rows are ranks.
    pub fn ranked(&self) -> Option<&Ranked> {
        match &self.rows {
            Rows::Ranks(ranked) => Some(ranked),
            Rows::Keys(_) => None,
        }
    }

    /// All rows in pieces, always the same in the same order.
    pub fn pieces(&self) -> Vec<Piece> {
        if let (Rows::Ranks(ranked), []) = (&self.rows, &self.layer_offsets[..]) {
            return ranked.pieces().map(|rows| Piece { rows, layer: None }).collect();
        }
        let pieces = self.layers().zip(self.first_layer..).flat_map(|(rows, layer)| {
            rows.clone().step_by(CHUNK).map(move |start| {
                let rows = start..rows.end.min(start + CHUNK);
                Piece { rows, layer: Some(layer) }
            })
        });
        pieces.collect()
    }

    /// The row of a position, whatever its orientation; `None` if it is not in the table.
    pub fn find<G: Game>(&self, game: &G, position: &Position<G::State>) -> Option<usize> {
        Some(self.find_up_to(game, position, u32::MAX)?.0)
    }

    /// The row of a position and the symmetries that bring it to its canonical form, as a set of bits.
    /// Where layers are plies, looks in those up to the given one.
    fn find_up_to<G: Game>(
        &self,
        game: &G,
        position: &Position<G::State>,
        ply: u32,
    ) -> Option<(usize, u8)> {
        match &self.rows {
            Rows::Ranks(ranked) => Some((ranked.row(game.ranks()?.rank_of(&position.state)?)?, 1)),
            Rows::Keys(keys) if game.layers().is_some() => {
                let rows = self.layer(game.layer(&position.state));
                let canonical = game.canonical(&position.state);
                Some((keys.find(rows, canonical.key.widen())?, canonical.ties))
            }
            Rows::Keys(keys) => {
                let key = game.position_key(position).widen();
                // A layer is a ply, which a position does not tell; each is sorted by key.
                let mut layers = self.layers().take((ply as usize).saturating_add(1));
                layers.find_map(|rows| keys.find(rows, key)).map(|row| (row, 1))
            }
        }
    }

    /// A search for the rows of many positions, with an index of its own in memory where that pays.
    pub fn finder<'a, G: Game>(&'a self, game: &'a G) -> Finder<'a, G> {
        let (keys, buckets) = match &self.rows {
            Rows::Keys(keys @ (Keys::Narrow(_) | Keys::Wide(_))) => {
                let keys = keys.of::<G::Key>();
                let index =
                    |rows: Range<usize>| BucketIndex::new(&keys[rows], game.facts().key_bits);
                (keys, Some(self.layers().map(|rows| (rows.clone(), index(rows))).collect()))
            }
            _ => (&[] as &[G::Key], None),
        };
        Finder { game, graph: self, keys, buckets }
    }

    /// The position of a row; the first player's where the table does not tell. `None` where the key or
    /// the rank is none, which checksums do not find.
    #[inline]
    pub fn position<G: Game>(&self, game: &G, row: usize) -> Option<Position<G::State>> {
        match &self.rows {
            Rows::Keys(keys) => game.position_of(G::Key::narrow(keys.get(row)?)?),
            Rows::Ranks(ranked) => {
                let state = game.ranks()?.state_of(ranked.reader()(row)?)?;
                Some(Position { state, side: Side::First })
            }
        }
    }

    /// Calls `visit` with the canonical position of each of some ascending rows, until it fails;
    /// fails too where a row is none. The first player is to move where the table does not tell.
    pub fn visit<G: Game>(
        &self,
        game: &G,
        rows: &mut dyn Iterator<Item = usize>,
        visit: &mut dyn FnMut(usize, Position<G::State>) -> Result<(), String>,
    ) -> Result<(), String> {
        match &self.rows {
            Rows::Keys(keys) => {
                let mut key = keys.reader();
                for row in rows {
                    let position =
                        key(row).and_then(G::Key::narrow).and_then(|key| game.position_of(key));
                    let wrong = || format!("row {row} of its keys is no position");
                    visit(row, position.ok_or_else(wrong)?)?;
                }
            }
            Rows::Ranks(ranked) => {
                let mut rank = ranked.reader();
                for row in rows {
                    let state = rank(row).and_then(|rank| game.ranks()?.state_of(rank));
                    let wrong = || format!("row {row} of its bits is no position");
                    let state = state.ok_or_else(wrong)?;
                    visit(row, Position { state, side: Side::First })?;
                }
            }
        }
        Ok(())
    }

    /// Tells the processor that some rows will be compared with positions, where that pays.
    pub fn fetch(&self, rows: &[u32]) {
        fn of<T>(keys: &[T], rows: &[u32]) {
            rows.iter().filter_map(|&row| keys.get(row as usize)).for_each(prefetch);
        }
        match &self.rows {
            Rows::Keys(Keys::Narrow(keys)) => of(keys, rows),
            Rows::Keys(Keys::Wide(keys)) => of(keys, rows),
            _ => {}
        }
    }

    /// Checks what is stored of the rows as a whole.
    pub fn check_whole(&self, table: &Table) -> Result<(), TableError> {
        if let Some(Sets::Packed(sets)) = &self.orientations {
            let blocks = self.states.div_ceil(BLOCK);
            parallel::try_map(blocks, &|block| sets.block(block).map(drop))?;
        }
        match &self.rows {
            Rows::Keys(keys) => keys.check_whole()?,
            // Bits, and so rows, are in the order of ranks; each row is asked for its own.
            Rows::Ranks(ranked) => return ranked.check_whole(),
        }
        let lengths = self.layers().map(|rows| rows.len() as u64);
        match lengths.eq(table.manifest().layers.iter().map(|layer| layer.table.states)) {
            true => Ok(()),
            false => Err(table.damaged_manifest("its layers are not those of layer_offsets")),
        }
    }

    /// Checks what is stored of a row that has been visited, besides its moves, against its position.
    pub fn check<G: Game>(
        &self,
        game: &G,
        row: usize,
        position: &Position<G::State>,
    ) -> Result<(), String> {
        let layer = match game.layers() {
            Some(_) => self.layer(game.layer(&position.state)),
            None => self.layers().find(|rows| rows.contains(&row)).unwrap_or(0..0),
        };
        if !layer.contains(&row) && !self.layer_offsets.is_empty() {
            return Err(format!("it belongs to layer {}", game.layer(&position.state)));
        }
        let keys = match &self.rows {
            Rows::Keys(keys) => keys,
            Rows::Ranks(ranked) => {
                let rank = game.ranks().and_then(|ranks| ranks.rank_of(&position.state));
                return match rank.and_then(|rank| ranked.row(rank)) {
                    Some(found) if found == row => Ok(()),
                    Some(found) => Err(format!("the rank of its position is that of row {found}")),
                    None => Err("its position has no rank in the table".to_string()),
                };
            }
        };
        if row > layer.start && keys.get(row - 1) >= keys.get(row) {
            return Err("its key is not above the one before it".to_string());
        }
        match self.kinds().get(row) {
            Some(&kind) if StateKind::of(kind).is_none() => {
                Err(format!("its kind is {kind}, and there is none"))
            }
            _ => Ok(()),
        }
    }

    /// Returns what a row is; `is_over` asks the rules whether the game is over there.
    #[inline]
    pub fn kind(&self, row: usize, is_over: &dyn Fn() -> bool) -> StateKind {
        match &self.stored {
            Some(_) => self.stored_kind(row),
            // Nothing is cut off where moves are not stored.
            None if is_over() => StateKind::Terminal,
            None => StateKind::Interior,
        }
    }

    /// Returns what a state is, where moves are stored; an end if its kind is damaged, which
    /// [`or_record`] records.
    #[inline]
    pub fn stored_kind(&self, row: usize) -> StateKind {
        let kind = self.kinds()[row];
        StateKind::of(kind).unwrap_or_else(|| {
            self.record(|stored| stored.kinds.path(), format!("row {row} is of kind {kind}"));
            StateKind::Terminal
        })
    }

    /// Records what is wrong in one of the arrays of moves.
    #[cold]
    fn record(&self, path: fn(&Stored) -> &Path, what: String) {
        let path = self.stored.as_ref().map_or(Path::new("a table without moves"), path);
        or_record::<()>(Err(TableError::damaged(path, what)));
    }

    /// The kinds as they are stored, if they are.
    pub fn kinds(&self) -> &[u8] {
        self.stored.as_ref().map_or(&[], |stored| &stored.kinds)
    }

    /// How many edges of rows are stored, as they are stored.
    pub(super) fn edge_counts(&self, rows: Range<usize>) -> &[u8] {
        self.stored.as_ref().map_or(&[], |stored| stored.edge_counts.stored(rows))
    }

    /// Of every [`START_EVERY`] rows where their edges begin.
    pub(super) fn edge_starts(&self) -> &[u64] {
        self.stored.as_ref().map_or(&[], |stored| &stored.edge_starts)
    }

    /// The stored edges of a row, as places in the targets and actions; `None` where they are not there.
    #[inline]
    pub(super) fn edge_range(&self, row: usize) -> Option<Range<usize>> {
        let stored = self.stored.as_ref()?;
        let start = usize::try_from(*stored.edge_starts.get(row / START_EVERY)?).ok()?;
        let before = row - row % START_EVERY..row;
        let begin = start.checked_add(stored.edge_counts.sum(before))?;
        let end = begin.checked_add(usize::from(stored.edge_counts.get(row)))?;
        (end <= stored.edge_targets.len()).then_some(begin..end)
    }

    /// The edges of some rows, as places in the targets; puts in `offsets` where among these each row's
    /// begin, and where the last's end. `None` where they are not there, or do not begin where they should.
    pub fn edge_ranges(&self, rows: Range<usize>, offsets: &mut Vec<u32>) -> Option<Range<usize>> {
        let stored = self.stored.as_ref()?;
        let begin = self.edge_range(rows.start)?.start;
        let end = match &stored.edge_counts {
            Ints::Narrow(counts) => add_up(&counts[rows.clone()], offsets),
            Ints::Wide(counts) => add_up(&counts[rows.clone()], offsets),
        };
        let groups = rows.start.div_ceil(START_EVERY)..=rows.end / START_EVERY;
        let right = groups.zip(stored.edge_starts.get(rows.start.div_ceil(START_EVERY)..)?).all(
            |(group, &start)| {
                start == begin as u64 + u64::from(offsets[group * START_EVERY - rows.start])
            },
        );
        let end = begin + end as usize;
        (right && end <= stored.edge_targets.len()).then_some(begin..end)
    }

    /// The targets of all edges that are stored.
    pub fn edge_targets(&self) -> &[u32] {
        self.stored.as_ref().map_or(&[], |stored| &stored.edge_targets)
    }

    /// The action of a stored edge.
    ///
    /// # Panics
    ///
    /// When edges are not stored.
    pub fn action_of(&self, edge: usize) -> Action {
        let stored = self.stored.as_ref().expect("edges are stored");
        Action(stored.edge_actions.get(edge))
    }

    /// Returns the stored edges of a state, as places in the targets and actions; none if these are
    /// not there, which [`or_record`] records.
    #[inline]
    pub fn edges_of(&self, row: usize) -> Range<usize> {
        self.edge_range(row).unwrap_or_else(|| {
            let what = format!("the edges of row {row} are not there");
            self.record(|stored| stored.edge_starts.path(), what);
            0..0
        })
    }

    /// The orientations in which a row is reachable; `None` where the table does not tell.
    pub fn orientations(&self, row: usize) -> Option<Orientations> {
        match (&self.orientations, &self.rows) {
            (Some(Sets::Mapped(sets)), _) => Some(Orientations(sets.get(row))),
            (Some(Sets::Packed(sets)), _) => Some(Orientations(sets.get(row).unwrap_or_default())),
            (None, Rows::Keys(Keys::Elsewhere(keys))) => keys.orientations(row),
            (None, _) => None,
        }
    }

    /// Whether the table tells the orientations of its rows.
    pub fn has_orientations(&self) -> bool {
        self.states > 0 && self.orientations(0).is_some()
    }

    /// How many positions there are with a move to choose all of whose moves were followed, each
    /// row counting for at most so many of its orientations.
    pub fn open_positions(&self, most: usize) -> u64 {
        if self.stored.is_none() {
            // None is cut off.
            let open = match (most, self.counts.reachable) {
                (2.., Some(reachable)) => reachable,
                _ => self.counts.table,
            };
            return open.states.saturating_sub(open.terminals);
        }
        let of = |row: usize| match self.stored_kind(row) {
            StateKind::Interior => {
                let sets = self.orientations(row).map_or(1, |set| set.count() as usize);
                sets.min(most) as u64
            }
            _ => 0,
        };
        let sum = |rows: Range<usize>| rows.map(of).sum::<u64>();
        parallel::map_ranges(self.states, GRAIN, &sum).into_iter().sum()
    }

    /// Fills `moves` with the legal moves of a row, of which `state` is the state, by ascending
    /// action. Fails where the table's are others.
    pub fn moves<G: Game>(
        &self,
        game: &G,
        row: usize,
        state: &G::State,
        moves: &mut Vec<RowMove>,
    ) -> Result<(), String> {
        moves.clear();
        if self.stored.is_some() {
            return self.stored_moves(game, row, state, moves);
        }
        match &self.rows {
            Rows::Ranks(ranked) => {
                // All ranks come first, so that the machine fetches their rows at the same time.
                game.for_each_successor(state, |action, after| {
                    moves.push((action, game.ranks().and_then(|ranks| ranks.rank_of(&after))));
                });
                for (_, target) in &mut *moves {
                    *target = target.and_then(|rank| ranked.row(rank)).map(|row| row as u32);
                }
            }
            Rows::Keys(_) => {
                let own = if game.keeps_sides() { self.position(game, row) } else { None };
                let side = own.map_or(Side::First, |own| own.side).other();
                game.for_each_successor(state, |action, state| {
                    let target = self.find(game, &Position { state, side });
                    moves.push((action, target.map(|row| row as u32)));
                });
            }
        }
        match moves.iter().all(|(_, target)| target.is_some()) {
            true => Ok(()),
            false => Err(format!("a move of row {row} leads out of it")),
        }
    }

    /// Appends to `targets` the rows to which the moves of some rows lead, made from the rules, and to
    /// `offsets` where each row's end among them. Fails where one leads out of the table.
    pub fn make_moves<G: Game>(
        &self,
        game: &G,
        mut rows: Range<usize>,
        (offsets, targets): (&mut Vec<u32>, &mut Vec<u32>),
    ) -> Result<(), String> {
        let mut moves = Vec::new();
        self.visit(game, &mut rows, &mut |row, position| {
            self.moves(game, row, &position.state, &mut moves)?;
            targets.extend(moves.iter().filter_map(|(_, target)| *target));
            offsets.push(targets.len() as u32);
            Ok(())
        })
    }

    fn stored_moves<G: Game>(
        &self,
        game: &G,
        row: usize,
        state: &G::State,
        moves: &mut Vec<RowMove>,
    ) -> Result<(), String> {
        let mut edges = self.edges_of(row).peekable();
        let kind = self.stored_kind(row);
        let whole = kind == StateKind::Interior;
        let mut astray = false;
        game.for_each_action(state, |action| {
            let stored = edges.next_if(|&edge| self.action_of(edge) == action);
            let target = stored.map(|edge| self.edge_targets()[edge]);
            astray |= target.is_some_and(|target| target as usize >= self.states);
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

    /// Checks what is stored of the moves of a row, its `edges`, against the moves that were followed;
    /// `name` names an action.
    pub fn check_moves(
        &self,
        row: usize,
        edges: Option<Range<usize>>,
        moves: &[(Action, usize)],
        name: &dyn Fn(Action) -> String,
    ) -> Result<(), String> {
        if self.stored.is_none() {
            return Ok(());
        }
        // That rows' edges follow each other has been seen; that all are of some row has not.
        let range = edges.filter(|range| {
            (row > 0 || range.start == 0) && (row + 1 < self.states || range.end == self.edges())
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

/// A search for the rows of many positions.
pub struct Finder<'a, G: Game> {
    game: &'a G,
    graph: &'a Graph,
    keys: &'a [G::Key],
    /// An index of each layer, with its rows.
    buckets: Option<Vec<(Range<usize>, BucketIndex)>>,
}

impl<G: Game> Finder<'_, G> {
    /// Returns the row of a position and the symmetries that bring it to its canonical form, as a set of
    /// bits. Where layers are plies, looks in those up to the given one. A row that it may be is looked
    /// at first, which costs less than a search if it is right.
    pub fn find(
        &self,
        position: &Position<G::State>,
        ply: u32,
        guess: Option<usize>,
    ) -> Option<(usize, u8)> {
        let (game, keys) = (self.game, self.keys);
        let Some(buckets) = &self.buckets else {
            return self.graph.find_up_to(game, position, ply);
        };
        let find_in = |place: usize, key: G::Key, guess: Option<usize>| {
            let (rows, index) = buckets.get(place)?;
            // Keys of a layer differ from each other, so a row that has this key is the one.
            if let Some(row) = guess.filter(|row| rows.contains(row) && keys[*row] == key) {
                return Some(row);
            }
            index.find(&keys[rows.clone()], key).map(|at| rows.start + at)
        };
        if game.layers().is_some() {
            let canonical = game.canonical(&position.state);
            let place = game.layer(&position.state).checked_sub(self.graph.first_layer)?;
            return Some((find_in(place as usize, canonical.key, guess)?, canonical.ties));
        }
        let key = game.position_key(position);
        (0..=ply as usize).find_map(|place| find_in(place, key, None)).map(|row| (row, 1))
    }
}

/// The final scores of terminal states, from the rules.
pub type TerminalScores<'a> = dyn Fn(usize) -> Score + Sync + 'a;

impl Graph {
    /// The final score of a terminal row, for its mover.
    pub fn terminal_scores<'a, G: Game>(
        &'a self,
        game: &'a G,
        empties: Empties,
    ) -> impl Fn(usize) -> Score + Sync + 'a {
        // A key that is no state passed its checksum, so it was written wrong; `verify` names it.
        move |row| {
            let position = self.position(game, row);
            position.map_or(Score(0), |position| game.score(&position.state, empties))
        }
    }
}
