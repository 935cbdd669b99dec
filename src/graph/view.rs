//! A table seen as a graph: mapped arrays with their meaning.

use std::ops::Range;
use std::path::Path;

use super::StateKind;
use super::check::LayerChecks;
use super::index::search;
use crate::game::{Action, Empties, Game, Orientations, Position, Score, StateKey, WideKey};
use crate::table::{Array, Counts, Ints, Manifest, Table, TableError, or_record};

/// The keys of a table, of one or two words each.
#[derive(Debug)]
pub enum Keys {
    /// 64-bit keys.
    Narrow(Array<u64>),
    /// Keys of two words.
    Wide(Array<[u64; 2]>),
}

impl Keys {
    /// The keys as the type their game packs states into.
    ///
    /// # Panics
    ///
    /// When the game's keys have another width than the table's, as those of an
    /// [`AnyGame`](crate::any::AnyGame) may have.
    pub fn of<K: StateKey>(&self) -> &[K] {
        let (words, bytes) = match self {
            Keys::Narrow(array) => (1, array.bytes()),
            Keys::Wide(array) => (2, array.bytes()),
        };
        assert_eq!(K::WORDS, words, "a game without its type is asked by its own methods");
        bytemuck::cast_slice(bytes)
    }

    /// The bytes of the keys of some rows.
    pub fn bytes(&self, rows: Range<usize>) -> &[u8] {
        match self {
            Keys::Narrow(array) => bytemuck::cast_slice(&array[rows]),
            Keys::Wide(array) => bytemuck::cast_slice(&array[rows]),
        }
    }

    /// The key of a row as two words.
    #[inline]
    pub fn get(&self, row: usize) -> WideKey {
        match self {
            Keys::Narrow(array) => WideKey([array[row], 0]),
            Keys::Wide(array) => WideKey(array[row]),
        }
    }

    /// The place of a key within ascending rows.
    #[inline]
    pub fn find(&self, rows: Range<usize>, key: WideKey) -> Option<usize> {
        match self {
            Keys::Narrow(_) => search(self.of::<u64>(), rows, u64::narrow(key)?),
            Keys::Wide(_) => search(self.of::<WideKey>(), rows, key),
        }
    }
}

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

/// The states of a table in the order of their keys, and the edges where they are stored.
#[derive(Debug)]
pub struct Graph {
    keys: Keys,
    /// Only layered games are enumerated with them.
    orientations: Option<Ints>,
    /// Absent where the rules tell, whenever they are asked.
    stored: Option<Stored>,
    layer_offsets: Vec<u64>,
    first_layer: u32,
    counts: Counts,
}

/// What is stored of the moves of rows.
#[derive(Debug)]
struct Stored {
    kinds: Array<u8>,
    edge_counts: Ints,
    /// Of every [`START_EVERY`] rows where their edges begin.
    edge_starts: Array<u64>,
    edge_targets: Array<u32>,
    edge_actions: Ints,
}

impl Graph {
    /// Maps a table's arrays and compares the checksums of all that solving reads.
    pub fn open_checked(table: &Table) -> Result<Graph, TableError> {
        let graph = Graph::open(table)?;
        LayerChecks::all(&graph, table)?;
        Ok(graph)
    }

    /// Maps a table's arrays without reading their payload.
    pub fn open(table: &Table) -> Result<Graph, TableError> {
        let entry = |name: &str| table.manifest().arrays.get(name);
        let keys = match entry("keys") {
            Some(entry) if entry.shape.len() == 2 => Keys::Wide(table.array("keys")?),
            _ => Keys::Narrow(table.array("keys")?),
        };
        let orientations = match entry("orientations") {
            None => None,
            Some(_) => Some(Ints::open(table, "orientations")?),
        };
        let stored = match table.manifest().identity.is_derived() {
            true => None,
            false => Some(Stored {
                kinds: table.array("kinds")?,
                edge_counts: Ints::open(table, "edge_counts")?,
                edge_starts: table.array("edge_starts")?,
                edge_targets: table.array("edge_targets")?,
                edge_actions: Ints::open(table, "edge_actions")?,
            }),
        };
        let layer_offsets = table.array_checked::<u64>("layer_offsets", true)?.to_vec();
        let Manifest { first_layer, counts, .. } = *table.manifest();
        let graph = Graph { keys, orientations, stored, layer_offsets, first_layer, counts };
        graph.check_lengths(table)?;
        Ok(graph)
    }

    /// That the arrays' lengths fit each other, so that rows and layers can be used as indices.
    fn check_lengths(&self, table: &Table) -> Result<(), TableError> {
        let manifest = table.manifest();
        let states = self.states();
        let keys = match &self.keys {
            Keys::Narrow(keys) => keys.len(),
            Keys::Wide(keys) => keys.len(),
        };
        // What the rules tell when they are asked is all that follows of a state.
        let moves_fit = match &self.stored {
            None => manifest.complete && states <= u32::MAX as usize,
            Some(Stored { kinds, edge_counts, edge_starts, edge_targets, edge_actions }) => {
                kinds.len() == states
                    && edge_counts.count() == states
                    && edge_starts.len() == states.div_ceil(START_EVERY)
                    && edge_actions.count() == edge_targets.len()
            }
        };
        let ascending = self.layer_offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        let fits = keys == states
            && self.orientations.as_ref().is_none_or(|sets| sets.count() == states)
            && moves_fit
            && ascending
            && manifest.root_ids.iter().all(|&id| id < states as u64)
            && self.layer_offsets.first() == Some(&0)
            && self.layer_offsets.last() == Some(&(states as u64));
        if fits {
            return Ok(());
        }
        let manifest = table.dir().join("manifest.json");
        Err(TableError::damaged(&manifest, "its arrays' lengths do not fit each other"))
    }

    /// That the table has orientations, which those of layered games always have: without them its
    /// rows stand for no positions, and its edges have not been found to lead on.
    pub fn check_layered(&self, table: &Table) -> Result<(), TableError> {
        match self.orientations {
            Some(_) => Ok(()),
            None => {
                let manifest = table.dir().join("manifest.json");
                Err(TableError::damaged(&manifest, "it names no array 'orientations'"))
            }
        }
    }

    /// Lets the system use the memory in which it keeps what solving has read of some rows.
    pub fn forget(&self, rows: Range<usize>) {
        match &self.keys {
            Keys::Narrow(keys) => keys.forget(rows.clone()),
            Keys::Wide(keys) => keys.forget(rows.clone()),
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
        self.layer_offsets.last().map_or(0, |&states| states as usize)
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

    /// The number of the layer of a row.
    pub fn layer_of(&self, row: usize) -> Option<u32> {
        let begun = self.layer_offsets.partition_point(|&offset| offset <= row as u64);
        (row < self.states()).then(|| self.first_layer.saturating_add(begun as u32 - 1))
    }

    /// The number of the first layer.
    pub fn first_layer(&self) -> u32 {
        self.first_layer
    }

    /// The keys.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Returns what a state is, where moves are stored; an end if its kind is damaged, which
    /// [`or_record`] records.
    #[inline]
    pub fn kind(&self, row: usize) -> StateKind {
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
    pub(super) fn edge_ranges(
        &self,
        rows: Range<usize>,
        offsets: &mut Vec<u32>,
    ) -> Option<Range<usize>> {
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

    /// What the manifest says of all rows.
    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Whether the table tells the orientations of its rows.
    pub fn has_orientations(&self) -> bool {
        self.orientations.is_some()
    }

    /// The orientations in which a state is reachable; where the table has none, as it is stored
    /// with the first player to move.
    pub fn orientations(&self, row: usize) -> Orientations {
        Orientations(self.orientations.as_ref().map_or(1, |sets| sets.get(row)))
    }

    /// The row of a position, whatever its orientation; `None` if it is not in the table.
    pub fn find<G: Game>(&self, game: &G, position: &Position<G::State>) -> Option<usize> {
        if game.layers().is_some() {
            let rows = self.layer(game.layer(&position.state));
            return self.keys.find(rows, game.canonical(&position.state).key.widen());
        }
        let key = game.position_key(position).widen();
        // A layer is a ply, which a position does not tell; each is sorted by key.
        self.layers().find_map(|rows| self.keys.find(rows, key))
    }

    /// The position of a row, canonical; the first player's where the table does not tell. `None`
    /// where the key is none, which checksums do not find.
    #[inline]
    pub fn position<G: Game>(&self, game: &G, row: usize) -> Option<Position<G::State>> {
        game.position_of(G::Key::narrow(self.keys.get(row))?)
    }
}

/// The final scores of terminal states, from the rules.
pub type TerminalScores<'a> = dyn Fn(usize) -> Score + Sync + 'a;

impl Graph {
    /// The final score of a terminal row, for its mover, computed from its key.
    pub fn terminal_scores<'a, G: Game>(
        &'a self,
        game: &'a G,
        empties: Empties,
    ) -> impl Fn(usize) -> Score + Sync + 'a {
        // A key that is no state passed its checksum, so it was written wrong; `verify` names it.
        move |row| {
            let state = G::Key::narrow(self.keys.get(row)).and_then(|key| game.state(key));
            state.map_or(Score(0), |state| game.score(&state, empties))
        }
    }
}
