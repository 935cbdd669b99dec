//! Tables read as graphs: rows as states, and the targets of their moves.
//!
//! Two independent choices: rows are sorted [`Keys`] or [`Ranked`], either of which may be packed; moves are
//! stored or derived from the rules on request.

pub(crate) mod code;
pub(crate) mod keys;
mod pack;
pub(crate) mod ranks;
pub(crate) mod stored_key;

use std::ops::Range;
use std::path::Path;

use keys::BucketIndex;
#[doc(hidden)]
pub use keys::Keys;
#[doc(hidden)]
pub use pack::{check_packable, is_packed_of, pack};
#[doc(hidden)]
pub use ranks::{ENDLESS, Ranked, RankedGame, distance_of_end};

use crate::error::Error;
use crate::mmap::prefetch;
use crate::parallel::{self, GRAIN};
use crate::rules::{
    Action, Address, AnyPosition, AnyState, Empties, Orientations, Rules, Score, Standing,
};
use crate::table::{Array, BLOCK, Counts, Damage, Ints, Manifest, PackedColumn, Table};

/// Fault of arrays whose lengths contradict each other.
const UNFIT: &str = "arrays of inconsistent lengths";

/// Kind of a row, as stored in `kinds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum StateKind {
    /// State with all its moves in the table.
    Interior = 0,
    /// State in which the game is over.
    Terminal = 1,
    /// State at the bound of the enumeration: its moves were not followed, its value is unknown.
    Frontier = 2,
}

impl StateKind {
    /// Returns the kind stored as `byte`, or `None` if the byte is invalid.
    pub fn of(byte: u8) -> Option<StateKind> {
        use StateKind::{Frontier, Interior, Terminal};
        [Interior, Terminal, Frontier].get(byte as usize).copied()
    }

    /// Returns `interior`, `terminal` or `frontier`.
    pub fn name(self) -> &'static str {
        match self {
            StateKind::Interior => "interior",
            StateKind::Terminal => "terminal",
            StateKind::Frontier => "frontier",
        }
    }
}

/// Move of a row and the row it leads to; `None` if the move was not followed.
pub type RowMove = (Action, Option<u32>);

/// Rows that are read and queried together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPiece {
    /// Range of rows.
    pub rows: Range<usize>,
    /// Layer of all the rows; `None` if the table does not record it.
    pub layer: Option<u32>,
}

/// Rows of a piece where rows are keys. Constant, because sums are grouped by pieces.
const CHUNK: usize = 1 << 11;

/// Number of moves that few positions exceed.
const MANY_MOVES: usize = 32;

/// Stride of the edge-offset index; offsets of rows between are summed from their edge counts.
pub(crate) const START_EVERY: usize = 64;

/// Fills `sums` with the prefix sums of `counts`, the total last, and returns the total.
pub(crate) fn add_up<C: Copy + Into<u32>>(counts: &[C], sums: &mut Vec<u32>) -> u32 {
    sums.resize(counts.len() + 1, 0);
    let mut sum = 0;
    for (before, &count) in sums.iter_mut().zip(counts) {
        *before = sum;
        sum += count.into();
    }
    sums[counts.len()] = sum;
    sum
}

/// Rows of a table as states of a game, and their moves.
pub struct Rows {
    rows: RowIndex,
    /// Present only in layered games indexed by key.
    orientations: Option<OrientationSets>,
    /// `None` if moves are derived from the rules.
    stored: Option<StoredArrays>,
    states: usize,
    /// Empty where rows are ranks of a game that is not layered.
    layer_offsets: Vec<u64>,
    first_layer: u32,
    counts: Counts,
    damage: Damage,
}

/// Index of rows.
enum RowIndex {
    Keys(Keys),
    Ranks(Ranked),
}

/// Orientations of rows.
enum OrientationSets {
    Mapped(Ints),
    Packed(PackedColumn<u16>),
}

/// Stored moves of rows.
struct StoredArrays {
    kinds: Array<u8>,
    edge_counts: Ints,
    /// Edge offset of every [`START_EVERY`]th row.
    edge_starts: Array<u64>,
    edge_targets: Array<u32>,
    edge_actions: Ints,
}

impl Rows {
    /// Maps a table's arrays without reading their payload.
    pub fn open(game: &dyn Rules, table: &Table) -> Result<Rows, Error> {
        let Manifest { first_layer, counts, ref identity, .. } = *table.manifest();
        let (by_rank, packed) = (identity.is_by_rank(), table.manifest().is_packed());
        let states = usize::try_from(counts.table.states).unwrap_or(usize::MAX);
        let layer_offsets = match (by_rank, game.is_layered()) {
            (false, _) => table.array_checked::<u64>("layer_offsets", true)?.to_vec(),
            (true, false) => Vec::new(),
            (true, true) => {
                let layers = table.manifest().layers.iter();
                let end = |end: &mut u64, layer: &Counts| {
                    *end = end.saturating_add(layer.table.states);
                    Some(*end)
                };
                std::iter::once(0).chain(layers.scan(0, end)).collect()
            }
        };
        let rows = match by_rank {
            true => RowIndex::Ranks(Ranked::open(game, table, states)?),
            false => RowIndex::Keys(Keys::open(game, table, states)?),
        };
        // Without orientations rows of a layered game stand for no positions.
        let orientations = match game.is_layered() && !by_rank {
            false => None,
            true if packed => {
                let name = "packed_orientations";
                Some(OrientationSets::Packed(PackedColumn::open(table, name, states, false)?))
            }
            true => Some(OrientationSets::Mapped(Ints::open(table, "orientations")?)),
        };
        let stored = match by_rank || packed || identity.is_derived() {
            true => None,
            false => Some(StoredArrays {
                kinds: table.array("kinds")?,
                edge_counts: Ints::open(table, "edge_counts")?,
                edge_starts: table.array("edge_starts")?,
                edge_targets: table.array("edge_targets")?,
                edge_actions: Ints::open(table, "edge_actions")?,
            }),
        };
        let damage = table.damage().clone();
        let graph =
            Rows { rows, orientations, stored, states, layer_offsets, first_layer, counts, damage };
        match graph.fits(table.manifest()) {
            true => Ok(graph),
            false => Err(table.damaged_manifest(UNFIT)),
        }
    }

    /// Checks that the arrays' lengths fit each other, so that rows and layers can be used as indices.
    fn fits(&self, manifest: &Manifest) -> bool {
        let states = self.states;
        // Derived moves follow every state, so the table must be complete.
        let moves_fit = match &self.stored {
            None => manifest.complete && states <= u32::MAX as usize,
            Some(StoredArrays { kinds, edge_counts, edge_starts, edge_targets, edge_actions }) => {
                kinds.len() == states
                    && edge_counts.count() == states
                    && edge_starts.len() == states.div_ceil(START_EVERY)
                    && edge_actions.count() == edge_targets.len()
            }
        };
        let sets_fit = match &self.orientations {
            Some(OrientationSets::Mapped(sets)) => sets.count() == states,
            _ => true,
        };
        let layers_fit = match self.rows {
            RowIndex::Ranks(_) if self.layer_offsets.is_empty() => true,
            _ => {
                self.layer_offsets.is_sorted()
                    && self.layer_offsets.first() == Some(&0)
                    && self.layer_offsets.last() == Some(&(states as u64))
            }
        };
        let roots_fit = manifest.root_ids.iter().all(|&id| id < states as u64);
        moves_fit && sets_fit && layers_fit && roots_fit
    }

    /// Evicts the pages that solving has read for some rows from the page cache.
    pub fn drop_page_cache(&self, rows: Range<usize>) {
        if let RowIndex::Keys(keys) = &self.rows {
            keys.drop_page_cache(rows.clone());
        }
        if let Some(StoredArrays { kinds, edge_counts, edge_targets, .. }) = &self.stored {
            let ends = [rows.start, rows.end.max(1) - 1].map(|row| self.edge_range(row));
            if let [Some(first), Some(last)] = ends {
                edge_targets.drop_page_cache(first.start..last.end);
            }
            kinds.drop_page_cache(rows.clone());
            edge_counts.drop_page_cache(rows);
        }
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.states
    }

    /// Returns the number of stored edges.
    pub fn edges(&self) -> usize {
        self.edge_targets().len()
    }

    /// Returns `true` if moves are stored, not derived from the rules.
    pub fn stores_moves(&self) -> bool {
        self.stored.is_some()
    }

    /// Returns the rows of each layer, in ascending order.
    pub fn layers(&self) -> impl DoubleEndedIterator<Item = Range<usize>> + ExactSizeIterator + '_ {
        self.layer_offsets.windows(2).map(|pair| pair[0] as usize..pair[1] as usize)
    }

    /// Returns the rows of the layer `number`; empty if there is no such layer.
    pub fn layer(&self, number: u32) -> Range<usize> {
        let place = number.checked_sub(self.first_layer).map(|n| n as usize);
        place.and_then(|place| self.layers().nth(place)).unwrap_or(0..0)
    }

    /// Returns the number of a row's layer; `None` if the table does not record it.
    pub fn layer_of(&self, row: usize) -> Option<u32> {
        let begun = self.layer_offsets.partition_point(|&offset| offset <= row as u64);
        let place = begun.checked_sub(1).filter(|_| row < self.states)?;
        Some(self.first_layer.saturating_add(place as u32))
    }

    /// Returns the number of the first layer.
    pub fn first_layer(&self) -> u32 {
        self.first_layer
    }

    /// Returns the keys.
    ///
    /// # Panics
    ///
    /// Panics if rows are ranks.
    pub fn keys(&self) -> &Keys {
        match &self.rows {
            RowIndex::Keys(keys) => keys,
            RowIndex::Ranks(_) => panic!("a table by rank has no keys"),
        }
    }

    /// Returns the ranks, or `None` if rows are keys.
    pub fn ranked(&self) -> Option<&Ranked> {
        match &self.rows {
            RowIndex::Ranks(ranked) => Some(ranked),
            RowIndex::Keys(_) => None,
        }
    }

    /// Splits all rows into pieces, always the same in the same order.
    pub fn pieces(&self) -> Vec<RowPiece> {
        if let (RowIndex::Ranks(ranked), []) = (&self.rows, &self.layer_offsets[..]) {
            return ranked.pieces().map(|rows| RowPiece { rows, layer: None }).collect();
        }
        let pieces = self.layers().zip(self.first_layer..).flat_map(|(rows, layer)| {
            rows.clone().step_by(CHUNK).map(move |start| {
                let rows = start..rows.end.min(start + CHUNK);
                RowPiece { rows, layer: Some(layer) }
            })
        });
        pieces.collect()
    }

    /// Returns the row of a position in any orientation; `None` if the table does not contain it.
    pub fn find(&self, game: &dyn Rules, position: &AnyPosition) -> Option<usize> {
        let state = &position.state;
        match (&self.rows, game.is_layered()) {
            (RowIndex::Ranks(ranked), _) => ranked.row(game.rank(state)?),
            (RowIndex::Keys(keys), true) => {
                keys.find(self.layer(game.layer(state)), game.canonical(state).key)
            }
            (RowIndex::Keys(keys), false) => self.find_in_plies(keys, game.position_key(position)),
        }
    }

    /// Returns the row of a key where layers are plies, which a key does not contain.
    fn find_in_plies(&self, keys: &Keys, key: u128) -> Option<usize> {
        self.layers().find_map(|rows| keys.find(rows, key))
    }

    /// Returns a search for the rows of many keys, with an in-memory index if keys are mapped.
    ///
    /// # Panics
    ///
    /// Its searches panic if rows are ranks.
    pub fn finder(&self, game: &dyn Rules) -> Finder<'_> {
        let index = |rows: Range<usize>| match &self.rows {
            RowIndex::Keys(keys) => keys.index(rows, game.facts().key_bits),
            RowIndex::Ranks(_) => None,
        };
        let layers = self.layers().map(|rows| (rows.clone(), index(rows))).collect();
        Finder { graph: self, is_layered: game.is_layered(), layers }
    }

    /// Returns a reader of the addresses of rows, fastest for ascending ones. It returns `None` for a damaged
    /// row, which is recorded.
    pub fn addresses(&self) -> impl FnMut(usize) -> Option<Address> + '_ {
        let (mut key, mut rank) = match &self.rows {
            RowIndex::Keys(keys) => (Some(keys.reader()), None),
            RowIndex::Ranks(ranked) => (None, Some(ranked.reader())),
        };
        move |row| match (&mut key, &mut rank) {
            (Some(key), _) => key(row).map(Address::Key),
            (None, Some(rank)) => rank(row).map(Address::Rank),
            (None, None) => None,
        }
    }

    /// Returns the address of a row, like [`Rows::addresses`].
    #[inline]
    pub fn address(&self, row: usize) -> Option<Address> {
        match &self.rows {
            RowIndex::Keys(keys) => keys.get(row).map(Address::Key),
            RowIndex::Ranks(ranked) => ranked.reader()(row).map(Address::Rank),
        }
    }

    /// Describes a row whose address is that of no state, which checksums do not detect.
    pub fn invalid(&self, row: usize) -> String {
        let what = if self.ranked().is_some() { "rank" } else { "key" };
        format!("invalid {what} in row {row}")
    }

    /// Returns the position of a row, with the first player to move if the table does not record the side.
    /// `None` if the stored key or rank is invalid.
    #[inline]
    pub fn position(&self, game: &dyn Rules, row: usize) -> Option<AnyPosition> {
        game.position_at(self.address(row)?)
    }

    /// Calls `visit` with the canonical position of each of some ascending rows until it fails; fails at a
    /// row without a valid position. The first player is to move if the table does not record the side.
    pub fn visit(
        &self,
        game: &dyn Rules,
        rows: &mut dyn Iterator<Item = usize>,
        visit: &mut dyn FnMut(usize, AnyPosition) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut address = self.addresses();
        for row in rows {
            let position = address(row).and_then(|at| game.position_at(at));
            visit(row, position.ok_or_else(|| self.invalid(row))?)?;
        }
        Ok(())
    }

    /// Prefetches the keys of some rows, to be compared with positions. Does nothing unless keys are mapped.
    pub fn fetch(&self, rows: &[u32]) {
        fn of<T>(keys: &[T], rows: &[u32]) {
            rows.iter().filter_map(|&row| keys.get(row as usize)).for_each(prefetch);
        }
        match &self.rows {
            RowIndex::Keys(Keys::Narrow(keys)) => of(keys, rows),
            RowIndex::Keys(Keys::Wide(keys)) => of(keys, rows),
            _ => {}
        }
    }

    /// Checks the stored rows as a whole.
    pub fn check_whole(&self, table: &Table) -> Result<(), Error> {
        if let Some(OrientationSets::Packed(sets)) = &self.orientations {
            let blocks = self.states.div_ceil(BLOCK);
            parallel::try_map(blocks, &|block| sets.block(block).map(drop))?;
        }
        match &self.rows {
            RowIndex::Keys(keys) => keys.check_whole()?,
            // Bits are in rank order, and so are rows; `check` compares each row with its own rank.
            RowIndex::Ranks(ranked) => return ranked.check_whole(),
        }
        let lengths = self.layers().map(|rows| rows.len() as u64);
        match lengths.eq(table.manifest().layers.iter().map(|layer| layer.table.states)) {
            true => Ok(()),
            false => Err(table.damaged_manifest("layers differ from layer_offsets")),
        }
    }

    /// Checks the stored data of a row, except its moves, against what the rules say of its address.
    pub fn check(&self, row: usize, standing: &Standing) -> Result<(), String> {
        let layer = match standing.mobility {
            Some(_) => self.layer(standing.layer),
            None => self.layers().find(|rows| rows.contains(&row)).unwrap_or(0..0),
        };
        if !layer.contains(&row) && !self.layer_offsets.is_empty() {
            return Err(format!("its position belongs to layer {}", standing.layer));
        }
        let keys = match &self.rows {
            RowIndex::Keys(keys) => keys,
            RowIndex::Ranks(ranked) => {
                return match standing.rank.and_then(|rank| ranked.row(rank)) {
                    Some(found) if found == row => Ok(()),
                    Some(found) => Err(format!("its position has the rank of row {found}")),
                    None => Err("its position has no rank in the table".to_string()),
                };
            }
        };
        if row > layer.start && keys.get(row - 1) >= keys.get(row) {
            return Err("its key is not greater than the previous one".to_string());
        }
        match self.kinds().get(row) {
            Some(&kind) if StateKind::of(kind).is_none() => Err(format!("invalid kind {kind}")),
            _ => Ok(()),
        }
    }

    /// Returns the kind of a row; `is_over` asks the rules whether the game is over there.
    #[inline]
    pub fn kind(&self, row: usize, is_over: &dyn Fn() -> bool) -> StateKind {
        match &self.stored {
            Some(_) => self.stored_kind(row),
            // Nothing is cut off where moves are not stored.
            None if is_over() => StateKind::Terminal,
            None => StateKind::Interior,
        }
    }

    /// Returns the stored kind of a row. A damaged kind reads as terminal and is recorded.
    #[inline]
    pub fn stored_kind(&self, row: usize) -> StateKind {
        let kind = self.kinds()[row];
        StateKind::of(kind).unwrap_or_else(|| {
            self.record(|stored| stored.kinds.path(), format!("invalid kind {kind} in row {row}"));
            StateKind::Terminal
        })
    }

    /// Records damage in one of the arrays of moves.
    #[cold]
    fn record(&self, path: fn(&StoredArrays) -> &Path, what: String) {
        let path = self.stored.as_ref().map_or(Path::new("a table without moves"), path);
        self.damage.record_in(path, what);
    }

    /// Returns the stored kinds; empty if there are none.
    pub fn kinds(&self) -> &[u8] {
        self.stored.as_ref().map_or(&[], |stored| &stored.kinds)
    }

    /// Returns the edge counts of some rows as stored.
    pub(crate) fn edge_counts(&self, rows: Range<usize>) -> &[u8] {
        self.stored.as_ref().map_or(&[], |stored| stored.edge_counts.stored(rows))
    }

    /// Returns the edge offset of every [`START_EVERY`]th row.
    pub(crate) fn edge_starts(&self) -> &[u64] {
        self.stored.as_ref().map_or(&[], |stored| &stored.edge_starts)
    }

    /// Returns the stored edges of a row, as indices of the targets and actions; `None` if out of range.
    #[inline]
    pub(crate) fn edge_range(&self, row: usize) -> Option<Range<usize>> {
        let stored = self.stored.as_ref()?;
        let start = usize::try_from(*stored.edge_starts.get(row / START_EVERY)?).ok()?;
        let before = row - row % START_EVERY..row;
        let begin = start.checked_add(stored.edge_counts.sum(before))?;
        let end = begin.checked_add(usize::from(stored.edge_counts.get(row)))?;
        (end <= stored.edge_targets.len()).then_some(begin..end)
    }

    /// Returns the edges of some rows, as indices of the targets; fills `offsets` with the start of each
    /// row's edges among them and the last end. `None` if they are out of range or contradict the edge-offset
    /// index.
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

    /// Returns the targets of all stored edges.
    pub fn edge_targets(&self) -> &[u32] {
        self.stored.as_ref().map_or(&[], |stored| &stored.edge_targets)
    }

    /// Returns the action of a stored edge.
    ///
    /// # Panics
    ///
    /// Panics if edges are not stored.
    pub fn action_of(&self, edge: usize) -> Action {
        let stored = self.stored.as_ref().expect("edges are stored");
        Action(stored.edge_actions.get(edge))
    }

    /// Returns the stored edges of a row, as indices of the targets and actions. Edges out of range read as
    /// none and are recorded.
    #[inline]
    pub fn edges_of(&self, row: usize) -> Range<usize> {
        self.edge_range(row).unwrap_or_else(|| {
            let what = format!("edges of row {row} are missing");
            self.record(|stored| stored.edge_starts.path(), what);
            0..0
        })
    }

    /// Returns the orientations in which a row is reachable; `None` if the table does not record them.
    pub fn orientations(&self, row: usize) -> Option<Orientations> {
        match self.orientations.as_ref()? {
            OrientationSets::Mapped(sets) => Some(Orientations(sets.get(row))),
            OrientationSets::Packed(sets) => Some(Orientations(sets.get(row).unwrap_or_default())),
        }
    }

    /// Returns `true` if the table records the orientations of its rows.
    pub fn has_orientations(&self) -> bool {
        self.states > 0 && self.orientations(0).is_some()
    }

    /// Returns the number of positions that have moves, all of which were followed; each row counts for at
    /// most `most` of its orientations.
    pub fn open_positions(&self, most: usize) -> u64 {
        if self.stored.is_none() {
            // No state is cut off.
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

    /// Fills `moves` with the legal moves of a row by ascending action; `state` is the row's state. Fails if
    /// the table's moves differ or lead out of the table.
    pub fn moves(
        &self,
        game: &dyn Rules,
        row: usize,
        state: &AnyState,
        moves: &mut Vec<RowMove>,
    ) -> Result<(), String> {
        moves.clear();
        if self.stored.is_some() {
            return self.stored_moves(game, row, state, moves);
        }
        let at = match &self.rows {
            RowIndex::Keys(keys) if game.keeps_sides() => keys.get(row).map(Address::Key),
            _ => Some(Address::Key(game.key(state))),
        };
        self.derived_moves(game, (row, at), moves)
    }

    /// Fills `moves` with the moves of the position at the address of a row, derived from the rules.
    fn derived_moves(
        &self,
        game: &dyn Rules,
        (row, at): (usize, Option<Address>),
        moves: &mut Vec<RowMove>,
    ) -> Result<(), String> {
        let at = at.ok_or_else(|| self.invalid(row))?;
        moves.clear();
        let is_valid = match &self.rows {
            // All ranks are computed first, so that the look-ups of their rows overlap in memory.
            RowIndex::Ranks(ranked) => {
                let mut by_rank = Vec::with_capacity(MANY_MOVES);
                let is_valid = game.moves_by_rank(at, false, &mut by_rank);
                moves.extend(by_rank.iter().map(|to| {
                    let target = to.rank.and_then(|rank| ranked.row(rank));
                    (to.action, target.map(|row| row as u32))
                }));
                is_valid
            }
            RowIndex::Keys(keys) => {
                let (mut by_key, is_layered) = (Vec::with_capacity(MANY_MOVES), game.is_layered());
                let is_valid = game.moves_by_key(at, &mut by_key);
                moves.extend(by_key.iter().map(|to| {
                    let target = match is_layered {
                        true => keys.find(self.layer(to.layer), to.key),
                        false => self.find_in_plies(keys, to.key),
                    };
                    (to.action, target.map(|row| row as u32))
                }));
                is_valid
            }
        };
        match moves.iter().all(|(_, target)| target.is_some()) {
            _ if !is_valid => Err(self.invalid(row)),
            true => Ok(()),
            false => Err(format!("a move of row {row} leads out of the table")),
        }
    }

    /// Appends the target rows of some rows' moves, derived from the rules, to `targets`, and the end of each
    /// row's targets to `offsets`. Fails if a move leads out of the table.
    pub fn make_moves(
        &self,
        game: &dyn Rules,
        rows: Range<usize>,
        (offsets, targets): (&mut Vec<u32>, &mut Vec<u32>),
    ) -> Result<(), String> {
        let (mut moves, mut address) = (Vec::new(), self.addresses());
        for row in rows {
            self.derived_moves(game, (row, address(row)), &mut moves)?;
            targets.extend(moves.iter().filter_map(|(_, target)| *target));
            offsets.push(targets.len() as u32);
        }
        Ok(())
    }

    fn stored_moves(
        &self,
        game: &dyn Rules,
        row: usize,
        state: &AnyState,
        moves: &mut Vec<RowMove>,
    ) -> Result<(), String> {
        let mut edges = self.edges_of(row).peekable();
        let kind = self.stored_kind(row);
        let whole = kind == StateKind::Interior;
        let mut inconsistent = false;
        game.for_each_action(state, |action| {
            let stored = edges.next_if(|&edge| self.action_of(edge) == action);
            let target = stored.map(|edge| self.edge_targets()[edge]);
            inconsistent |= target.is_some_and(|target| target as usize >= self.states);
            inconsistent |= target.is_none() && whole;
            moves.push((action, target));
        });
        // A terminal has no moves; every other state has some.
        inconsistent |= moves.is_empty() != (kind == StateKind::Terminal);
        match inconsistent || edges.next().is_some() {
            true => Err(format!("edges of row {row} differ from its legal moves")),
            false => Ok(()),
        }
    }

    /// Checks the stored moves of a row, its `edges`, against the moves followed; `name` names an action.
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
        // `edge_ranges` has checked that rows' edges are contiguous, but not that every edge belongs to a
        // row.
        let range = edges.filter(|range| {
            (row > 0 || range.start == 0) && (row + 1 < self.states || range.end == self.edges())
        });
        let Some(range) = range else {
            return Err("its edges begin or end in the wrong place".to_string());
        };
        if range.len() != moves.len() {
            let (found, followed) = (range.len(), moves.len());
            return Err(format!("it has {found} edges, expected {followed}"));
        }
        for (edge, &(action, target)) in range.zip(moves) {
            let stored = (self.action_of(edge), self.edge_targets()[edge] as usize);
            if stored != (action, target) {
                let (found, to) = (name(stored.0), stored.1);
                let expected = name(action);
                return Err(format!(
                    "its edge is {found} to {to}, expected {expected} to {target}"
                ));
            }
        }
        Ok(())
    }
}

/// Search for the rows of many keys.
pub struct Finder<'a> {
    graph: &'a Rows,
    is_layered: bool,
    /// Rows of each layer, with an index if keys are mapped.
    layers: Vec<(Range<usize>, Option<BucketIndex>)>,
}

impl Finder<'_> {
    /// Returns the row of a key. In a layered game `guess`, in whatever layer, is compared first, which is cheaper
    /// than a search if it is right; otherwise that of the layer. If layers are plies, searches those up to `ply`.
    pub fn find(&self, key: u128, layer: u32, ply: u32, guess: Option<usize>) -> Option<usize> {
        let keys = self.graph.keys();
        if !self.is_layered {
            let mut layers = self.layers.iter().take((ply as usize).saturating_add(1));
            return layers.find_map(|(rows, index)| keys.find_by(index, rows, key));
        }
        // Keys are distinct, so a row with this key is the one; `check` finds rows in the wrong layer.
        if let Some(row) = guess.filter(|&row| keys.get(row) == Some(key)) {
            return Some(row);
        }
        let place = layer.checked_sub(self.graph.first_layer)?;
        let (rows, index) = self.layers.get(place as usize)?;
        keys.find_by(index, rows, key)
    }
}

/// Function that returns the final score of a terminal row for its mover, from the rules.
pub type TerminalScores<'a> = dyn Fn(usize) -> Score + Sync + 'a;

impl Rows {
    /// Returns the final score of a terminal row, for its mover.
    pub fn terminal_scores<'a>(
        &'a self,
        game: &'a dyn Rules,
        empties: Empties,
    ) -> impl Fn(usize) -> Score + Sync + 'a {
        // An invalid key that passed its checksum was written wrong; `verify` reports it.
        move |row| {
            let standing = self.address(row).and_then(|at| game.standing(at, empties, None));
            standing.map_or(Score(0), |standing| standing.score)
        }
    }
}
