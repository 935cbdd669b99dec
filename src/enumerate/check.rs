//! Checks of a table while it is read: its checksums, and that its edges lead where sweeps may look. Edges
//! that are not stored are derived from the rules.

use std::ops::Range;
use std::sync::Arc;

use super::by_block::{DerivedMoves, Deriver, Layer, Numbered};
use crate::error::Error;
use crate::parallel::{self, Spare};
use crate::rules::Rules;
use crate::table::rows::START_EVERY;
use crate::table::rows::{Keys, Rows, StateKind};
use crate::table::{Memory, Table};

/// Arrays to check if the table has them, in the order of [`LayerChecks::sums`].
const ARRAYS: [&str; 5] = ["keys", "kinds", "edge_counts", "edge_starts", "edge_targets"];

/// Checksums of some rows of each checked array: keys, kinds, and the stored moves.
pub(super) type Sums = [crc32fast::Hasher; 5];

/// Checks of a table that is read layer by layer from the last to the first, the order in which layered games
/// are solved. Each piece is checked just before it is used, while it is in the CPU cache.
pub struct LayerChecks<'a> {
    reader: Reader<'a>,
    /// Source of moves that are not stored.
    maker: Option<Maker<'a>>,
    /// Checksums of the rows read so far, from some row to the end.
    sums: Sums,
    /// Layer read last.
    later: Option<Arc<Numbered>>,
}

/// Source of the moves of a layer that are not stored.
#[derive(Clone, Copy)]
pub enum Maker<'a> {
    /// Blocks, which take memory of this kind.
    Blocks(&'a dyn Deriver, &'a Memory),
    /// Rules, row by row.
    Rules(&'a MakeMoves<'a>),
}

/// Function that appends the target rows of some rows' moves, and the end of each row's targets among them;
/// returns `false` if a move leads out of the table.
type MakeMoves<'a> = dyn Fn(Range<usize>, &mut Vec<u32>, &mut Vec<u32>) -> bool + Sync + 'a;

/// Moves of a layer.
enum MoveSource<'a> {
    Stored,
    Derived(DerivedMoves<'a>),
    Made(&'a MakeMoves<'a>),
}

/// Reader that checks some rows.
#[derive(Clone, Copy)]
struct Reader<'a> {
    graph: &'a Rows,
    table: &'a Table,
}

/// Layer to be read.
pub struct LayerToRead<'a> {
    reader: Reader<'a>,
    /// Rows of the layer.
    pub rows: Range<usize>,
    moves: MoveSource<'a>,
    /// Reused buffers for offsets.
    spare: Spare<Vec<u32>>,
}

/// Checksums of a layer's pieces, in their order.
pub struct LayerSums(Vec<Sums>);

/// Number of rows read at once, so that they stay in the CPU cache.
const ROWS: usize = 1 << 15;

fn hasher(bytes: &[u8]) -> crc32fast::Hasher {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(bytes);
    hasher
}

/// Arrays that are checked as a whole: those of ranks and of packed tables.
const OTHER_ARRAYS: [&str; 6] = [
    "reachable",
    "rank_counts",
    "packed_reachable",
    "packed_counts",
    "packed_keys",
    "packed_firsts",
];

impl Rows {
    /// Maps a table's arrays and compares the checksums of all that solving reads.
    pub fn open_checked(game: &dyn Rules, table: &Table) -> Result<Rows, Error> {
        let graph = Rows::open(game, table)?;
        for name in OTHER_ARRAYS.iter().filter(|name| table.has_array(name)) {
            table.check_array(name)?;
        }
        if table.has_array("keys") {
            LayerChecks::all(&graph, table)?;
        }
        Ok(graph)
    }
}

impl<'a> LayerChecks<'a> {
    /// Starts after the last layer. If moves are not stored and will be visited, `maker` derives them.
    pub fn new(graph: &'a Rows, table: &'a Table, maker: Option<Maker<'a>>) -> LayerChecks<'a> {
        let sums = [&[] as &[u8]; 5].map(hasher);
        LayerChecks { reader: Reader { graph, table }, maker, sums, later: None }
    }

    /// Checks all layers.
    pub fn all(graph: &'a Rows, table: &'a Table) -> Result<(), Error> {
        let mut checks = LayerChecks::new(graph, table, None);
        for rows in graph.layers().rev() {
            let sums = checks.layer(rows)?.check()?;
            checks.add(sums);
        }
        checks.compare()
    }

    /// Opens the layer before the one read last.
    pub fn layer(&mut self, rows: Range<usize>) -> Result<LayerToRead<'a>, Error> {
        let moves = match self.maker {
            None => MoveSource::Stored,
            Some(Maker::Blocks(deriver, memory)) => MoveSource::Derived(DerivedMoves::new(
                deriver,
                self.derived((deriver, memory), &rows)?,
            )),
            Some(Maker::Rules(make)) => MoveSource::Made(make),
        };
        Ok(LayerToRead { reader: self.reader, rows, moves, spare: Spare::default() })
    }

    /// Prepends the checksums of the layer before those added so far.
    pub fn add(&mut self, LayerSums(pieces): LayerSums) {
        let mut sums = [&[] as &[u8]; 5].map(hasher);
        for piece in pieces.iter().chain([&self.sums]) {
            sums.iter_mut().zip(piece).for_each(|(sum, piece)| sum.combine(piece));
        }
        self.sums = sums;
    }

    /// Rebuilds the layer of a table without edges; returns it and the next layer.
    fn derived(
        &mut self,
        (deriver, memory): (&dyn Deriver, &Memory),
        rows: &Range<usize>,
    ) -> Result<[Arc<Numbered>; 2], Error> {
        let Reader { graph, table } = self.reader;
        let before = graph.layers().take_while(|layer| layer.start < rows.start).count();
        let number = graph.first_layer() + before as u32;
        let layer = match graph.keys() {
            Keys::Narrow(keys) => deriver.layer(number, &keys[rows.clone()], memory)?,
            _ => None,
        };
        let Some(layer) = layer else {
            let what = format!("keys of layer {number} differ from its states");
            let wrong = Error::damaged(&table.path_of("keys"), what);
            return Err(self.reader.better_named(wrong));
        };
        let layer = Arc::new((layer, rows.start as u32));
        let next = match self.later.replace(layer.clone()) {
            Some(next) => next,
            None => {
                let behind = Layer::new(number + 1, Vec::new(), memory)?;
                Arc::new((behind, rows.end as u32))
            }
        };
        Ok([layer, next])
    }

    /// Compares the checksums of all layers with the manifest's.
    pub fn compare(self) -> Result<(), Error> {
        let Reader { graph, table } = self.reader;
        // `edge_ranges` has checked that all other edges are contiguous.
        let [first, last] = [0, graph.states().max(1) - 1].map(|row| graph.edge_range(row));
        let all = first.map(|edges| edges.start) == Some(0)
            && last.map(|edges| edges.end) == Some(graph.edges());
        if graph.stores_moves() && graph.states() > 0 && !all {
            return Err(self.reader.invalid_starts());
        }
        let mut sums = ARRAYS.iter().zip(self.sums).filter(|(name, _)| table.has_array(name));
        sums.try_for_each(|(name, sum)| table.compare_checksum(name, sum.finalize()))
    }
}

impl Reader<'_> {
    /// Returns the error of the first array with a wrong checksum, which names the damage better, or else
    /// `wrong`.
    fn better_named(&self, wrong: Error) -> Error {
        let arrays = ARRAYS.iter().filter(|name| self.table.has_array(name));
        let checked = arrays.map(|name| self.table.check_array(name));
        checked.filter_map(Result::err).next().unwrap_or(wrong)
    }

    fn invalid_starts(&self) -> Error {
        let what = "edges overlap or leave gaps";
        Error::damaged(&self.table.path_of("edge_starts"), what)
    }

    /// Checks that the edges of some rows of a layer may be followed; returns the rows' checksums.
    fn check(&self, rows: Range<usize>, layer: &Range<usize>) -> Result<Sums, Error> {
        let graph = self.graph;
        if !graph.stores_moves() {
            return Ok(self.sums(rows, &[]));
        }
        let mut offsets = Vec::new();
        let edges = graph.edge_ranges(rows.clone(), &mut offsets);
        let targets = &graph.edge_targets()[edges.ok_or_else(|| self.invalid_starts())?];
        let complete = self.table.manifest().complete;
        for (row, ends) in rows.clone().zip(offsets.windows(2)) {
            let own = &targets[ends[0] as usize..ends[1] as usize];
            if !leads_on(graph, row, own, layer, complete) {
                let what = format!("invalid edges in row {row}");
                return Err(Error::damaged(&self.table.path_of("edge_targets"), what));
            }
        }
        Ok(self.sums(rows, targets))
    }

    /// Returns the checksums of some rows, whose edges lead to `targets`.
    fn sums(&self, rows: Range<usize>, targets: &[u32]) -> Sums {
        let graph = self.graph;
        let starts = rows.start.div_ceil(START_EVERY)..rows.end.div_ceil(START_EVERY);
        // Derived moves have no arrays.
        let [kinds, starts]: [&[u8]; 2] = match graph.stores_moves() {
            true => {
                [&graph.kinds()[rows.clone()], bytemuck::cast_slice(&graph.edge_starts()[starts])]
            }
            false => [&[]; 2],
        };
        let keys = if graph.ranked().is_some() { &[] } else { graph.keys().bytes(rows.clone()) };
        let counts = graph.edge_counts(rows);
        [keys, kinds, counts, starts, bytemuck::cast_slice(targets)].map(hasher)
    }
}

impl LayerToRead<'_> {
    /// Checks the whole layer without visiting its moves.
    pub fn check(&self) -> Result<LayerSums, Error> {
        let (first, check) = (self.rows.start, |rows| self.reader.check(rows, &self.rows));
        let sums = parallel::map_ranges(self.rows.len(), ROWS, &|some| {
            check(first + some.start..first + some.end)
        });
        self.sums(sums)
    }

    /// Collects the checksums of the layer's pieces, or returns the first error.
    pub fn sums(
        &self,
        pieces: impl IntoIterator<Item = Result<Sums, Error>>,
    ) -> Result<LayerSums, Error> {
        let pieces: Result<Vec<Sums>, Error> = pieces.into_iter().collect();
        pieces.map(LayerSums).map_err(|wrong| self.reader.better_named(wrong))
    }

    /// Returns the pieces in which the layer is read, as rows counted from its first.
    pub fn pieces(&self) -> Vec<Range<usize>> {
        let count = self.rows.len();
        match &self.moves {
            MoveSource::Derived(moves) => moves.pieces(),
            _ => (0..count).step_by(ROWS).map(|at| at..count.min(at + ROWS)).collect(),
        }
    }

    /// Calls `visit` with the offsets of a piece's rows among its edges (one more than rows) and the edges'
    /// targets; it returns `false` if they may not be followed. Returns the checksums of the rows.
    pub fn visit(
        &self,
        (number, piece): (usize, &Range<usize>),
        visit: &mut dyn FnMut(&[u32], &[u32]) -> bool,
    ) -> Result<Sums, Error> {
        let Reader { graph, table } = self.reader;
        let rows = self.rows.start + piece.start..self.rows.start + piece.end;
        let mut offsets = self.spare.take();
        let (sums, found) = match &self.moves {
            MoveSource::Stored => {
                let edges = graph.edge_ranges(rows.clone(), &mut offsets);
                let edges = edges.ok_or_else(|| self.reader.invalid_starts())?;
                let targets = &graph.edge_targets()[edges];
                (self.reader.sums(rows.clone(), targets), visit(&offsets, targets))
            }
            MoveSource::Derived(moves) => {
                (self.reader.sums(rows.clone(), &[]), moves.visit(number, &mut offsets, visit))
            }
            MoveSource::Made(make) => {
                let mut targets = Vec::new();
                offsets.clear();
                offsets.push(0);
                let made = make(rows.clone(), &mut offsets, &mut targets);
                (self.reader.sums(rows.clone(), &[]), made && visit(&offsets, &targets))
            }
        };
        self.spare.give(offsets);
        if found {
            return Ok(sums);
        }
        self.reader.check(rows, &self.rows)?;
        let keys = if graph.ranked().is_some() { "reachable" } else { "keys" };
        Err(Error::damaged(&table.path_of(keys), "a move leads out of the table"))
    }

    /// Returns `true` if a row without edges may have none.
    pub fn may_end(&self, row: usize) -> bool {
        let Reader { graph, table } = self.reader;
        !graph.stores_moves() || may_end(graph, row, table.manifest().complete)
    }

    /// Returns `true` if the edges of a row that a pass leads to all lead to later layers.
    pub fn leads_on(&self, row: usize) -> bool {
        let graph = self.reader.graph;
        !graph.stores_moves() || later_by(graph, row, self.rows.end)
    }
}

/// Returns `true` if a row without edges is terminal, or was not followed in an incomplete table.
fn may_end(graph: &Rows, row: usize, complete: bool) -> bool {
    match graph.stored_kind(row) {
        StateKind::Terminal => true,
        StateKind::Frontier => !complete,
        StateKind::Interior => false,
    }
}

/// Returns `true` if the edges of a row all lead to rows from `end` on.
fn later_by(graph: &Rows, row: usize, end: usize) -> bool {
    let edges = graph.edge_range(row).map(|edges| &graph.edge_targets()[edges]);
    edges.is_some_and(|edges| all_in(edges, end as u32, graph.states() as u32))
}

/// Returns `true` if all targets are in `from..to`, with one comparison each.
#[inline]
fn all_in(targets: &[u32], from: u32, to: u32) -> bool {
    targets.iter().fold(true, |all, target| all & (target.wrapping_sub(from) < to - from))
}

/// Returns `true` if the edges of a row lead to valid rows: in a layered game to later layers, or by a pass
/// to a state of the same layer whose own edges do; in a cyclic game (no orientations) to any state.
#[inline]
fn leads_on(graph: &Rows, row: usize, edges: &[u32], layer: &Range<usize>, complete: bool) -> bool {
    let states = graph.states() as u32;
    if !graph.has_orientations() {
        return all_in(edges, 0, states);
    }
    match edges {
        [] => may_end(graph, row, complete),
        own if all_in(own, layer.end as u32, states) => true,
        [pass] if layer.contains(&(*pass as usize)) => later_by(graph, *pass as usize, layer.end),
        _ => false,
    }
}
