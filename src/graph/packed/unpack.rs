//! How the full table is made again of a packed one.
//!
//! Everything is made of what is packed, and the moves from the rules by looking up where each
//! leads. The manifest keeps the checksums of the arrays that were packed, and no table is
//! committed whose arrays have others.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{Index, KeyBlocks, Packed, RankBlocks};
use crate::game::{Game, Orientations};
use crate::graph::build::{declare, edge_starts};
use crate::graph::ranked::block_counts;
use crate::graph::{RowMove, Rows, Space, StateKind};
use crate::parallel;
use crate::progress::Progress;
use crate::table::{
    BLOCK, Draft, Element, Ints, Manifest, PackedColumn, SOLUTION_COLUMNS, Table, TableError,
    blocks_of,
};

/// How many blocks are unpacked before they are written.
const AT_ONCE: usize = 1 << 8;

/// Makes the full table of a packed one, at a place where there is none. Without its solution if
/// distances were not packed; then solving it completes it, and [`differing`] tells whether it is
/// the one that was packed. Gives the place.
pub fn unpack<G: Game>(
    game: &G,
    table: &Table,
    place: &Path,
    progress: &dyn Progress,
) -> Result<PathBuf, TableError> {
    let from = table.manifest();
    let damaged = |what: String| TableError::damaged(&table.dir().join("manifest.json"), what);
    let Some(packed) = Packed::of(game, table, true)? else {
        return Err(damaged("it is not packed".to_string()));
    };
    packed.check_whole(game, table)?;
    let mut draft = Draft::open::<()>(place, from.identity.clone())?.0;
    draft.note_command("unpack")?;
    let has = |name: &str| from.arrays.contains_key(name);
    progress.begin("unpacking", Some(packed.rows() as u64));
    match &packed.index {
        Index::Keys(keys) => {
            Making { game, packed: &packed, rows: &packed, keys, from }
                .write(&mut draft, progress)?;
        }
        Index::Ranks(ranks) => write_ranks(ranks, &mut draft)?,
    }
    write_values(table, &packed, &mut draft)?;
    progress.finish(&format!("{} rows", packed.rows()));
    let mut manifest = Manifest { packed: Default::default(), ..from.clone() };
    manifest.conventions.remove("packed");
    manifest.solution = manifest.solution.filter(|_| has("packed_distance"));
    for (name, entry) in &from.packed {
        let found = draft.checksum(name);
        if found.is_some_and(|found| format!("{found:08x}") != entry.crc32) {
            let what = format!("what is packed does not give the array '{name}' it was made of");
            return Err(damaged(what));
        }
        // Distances that were not packed come of solving.
        if found.is_none() && manifest.solution.is_some() {
            return Err(damaged(format!("it was made of an array '{name}', and none is known")));
        }
    }
    table.check_read()?;
    draft.commit(manifest)
}

/// The first array of a table that is another than in the table from which `packed` was made.
pub fn differing(table: &Table, packed: &Table) -> Option<String> {
    let found = &table.manifest().arrays;
    let mut arrays = packed.manifest().packed.iter();
    arrays.find(|(name, entry)| found.get(*name) != Some(entry)).map(|(name, _)| name.clone())
}

/// Whether a table is what [`unpack`] made of a packed one, solved since or not.
pub fn is_unpacked_of(table: &Table, packed: &Table) -> bool {
    let (found, from) = (table.manifest(), packed.manifest());
    let to_be_solved =
        |name: &String| found.solution.is_none() && SOLUTION_COLUMNS.contains(&name.as_str());
    found.identity == from.identity
        && from.packed.iter().all(|(name, entry)| match found.arrays.get(name) {
            Some(array) => array == entry,
            None => to_be_solved(name),
        })
}

/// What is made of a block of rows.
#[derive(Default)]
struct Made {
    keys: Vec<u64>,
    kinds: Vec<u8>,
    orientations: Vec<u16>,
    /// How many moves each row has.
    moves: Vec<u16>,
    targets: Vec<u32>,
    actions: Vec<u16>,
}

struct Making<'a, G: Game> {
    game: &'a G,
    packed: &'a Packed,
    /// The same, of this game.
    rows: &'a dyn Rows<G>,
    keys: &'a KeyBlocks,
    from: &'a Manifest,
}

impl<G: Game> Making<'_, G> {
    /// Writes everything but values.
    fn write(&self, draft: &mut Draft, progress: &dyn Progress) -> Result<(), TableError> {
        let is_wide =
            |array: &str| self.from.packed.get(array).is_some_and(|entry| entry.dtype == "<u2");
        let (wide, stored) = (is_wide("edge_actions"), !self.from.identity.is_derived());
        declare(draft, self.game.key_words(), stored.then_some(wide), None)?;
        if self.packed.orientations.is_some() {
            Ints::grow(draft, "orientations", is_wide("orientations"), None)?;
        }
        let mut edges = 0;
        for blocks in some_blocks(self.packed.rows()) {
            let made = parallel::try_map(blocks.len(), &|at| {
                let made = self.block(blocks.start + at)?;
                progress.advance(made.kinds.len() as u64);
                Ok::<_, TableError>(made)
            })?;
            for made in made {
                draft.append(&[("keys", bytemuck::cast_slice(&made.keys))])?;
                if stored {
                    let counts = made.moves.iter().map(|&moves| u64::from(moves));
                    let starts = edge_starts(draft, &mut edges, counts);
                    draft.append(&[
                        ("kinds", &made.kinds),
                        ("edge_counts", &Ints::bytes(&made.moves, wide)),
                        ("edge_starts", bytemuck::cast_slice(&starts)),
                        ("edge_targets", bytemuck::cast_slice(&made.targets)),
                        ("edge_actions", &Ints::bytes(&made.actions, wide)),
                    ])?;
                }
                if self.packed.orientations.is_some() {
                    let bytes = Ints::bytes(&made.orientations, is_wide("orientations"));
                    draft.append(&[("orientations", &bytes)])?;
                }
            }
        }
        let ends = self.keys.layers.iter().map(|layer| layer.end as u64);
        let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
        draft.append(&[("layer_offsets", bytemuck::cast_slice(&offsets))])
    }

    fn block(&self, block: usize) -> Result<Made, TableError> {
        let (game, packed) = (self.game, self.rows);
        let (mut made, mut moves) = (Made::default(), Vec::<RowMove>::new());
        for code in self.keys.block(block)?.iter() {
            let key = self.keys.coding.key(*code).0;
            made.keys.extend(&key[..game.key_words()]);
        }
        let mut rows = block * BLOCK..packed.rows().min((block + 1) * BLOCK);
        let visited = packed.visit(game, &mut rows, &mut |row, position| {
            let kind = packed.kind(row, &|| game.is_terminal(&position.state));
            moves.clear();
            if kind == StateKind::Interior && !self.from.identity.is_derived() {
                packed.moves(game, row, &position.state, &mut moves)?;
            }
            made.kinds.push(kind as u8);
            if let Some(Orientations(set)) = packed.orientations(row) {
                made.orientations.push(set);
            }
            made.moves.push(moves.len() as u16);
            made.targets.extend(moves.iter().filter_map(|(_, target)| *target));
            made.actions.extend(moves.iter().map(|(action, _)| action.0));
            Ok(())
        });
        let wrong = |what: String| TableError::damaged(self.keys.firsts.path(), what);
        visited.map(|()| made).map_err(wrong)
    }
}

fn write_ranks(ranks: &RankBlocks, draft: &mut Draft) -> Result<(), TableError> {
    draft.grow::<u64>("reachable", false, None)?;
    draft.grow::<u32>("rank_counts", false, None)?;
    let blocks = parallel::try_map(ranks.counts.len(), &|block| ranks.block(block))?;
    let words = blocks.iter().enumerate().map(|(block, words)| &words[..ranks.words_of(block)]);
    let words = words.collect::<Vec<_>>().concat();
    draft.append(&[
        ("reachable", bytemuck::cast_slice(&words)),
        ("rank_counts", bytemuck::cast_slice(&block_counts(&words))),
    ])
}

/// Writes the columns that solving wrote, as far as they are packed.
fn write_values(table: &Table, packed: &Packed, draft: &mut Draft) -> Result<(), TableError> {
    let (rows, manifest) = (packed.rows(), table.manifest());
    if let Index::Ranks(_) = packed.index {
        draft.grow::<u8>("distance", false, None)?;
        let distance = PackedColumn::<u8>::open(table, "packed_distance", rows, true)?;
        return some_blocks(rows)
            .try_for_each(|blocks| draft.append(&[("distance", &joined(&distance, blocks)?)]));
    }
    let scored = manifest.arrays.contains_key("packed_score");
    let values = if scored { "packed_score" } else { "packed_outcome" };
    let values = PackedColumn::<i8>::open(table, values, rows, true)?;
    let open = || PackedColumn::<u16>::open(table, "packed_distance", rows, true);
    let distance = manifest.arrays.contains_key("packed_distance").then(open).transpose()?;
    // What solving will write is compared, and then left to it.
    let solved_anew = distance.is_none();
    draft.grow::<i8>("outcome", solved_anew, None)?;
    if scored {
        draft.grow::<i8>("score", solved_anew, None)?;
    }
    if distance.is_some() {
        draft.grow::<u16>("distance", false, None)?;
    }
    for blocks in some_blocks(rows) {
        let values = joined(&values, blocks.clone())?;
        let outcomes: Vec<i8> = values.iter().map(|value| value.signum()).collect();
        draft.append(&[("outcome", bytemuck::cast_slice(&outcomes))])?;
        if scored {
            draft.append(&[("score", bytemuck::cast_slice(&values))])?;
        }
        if let Some(distance) = &distance {
            draft.append(&[("distance", bytemuck::cast_slice(&joined(distance, blocks)?))])?;
        }
    }
    Ok(())
}

/// The blocks of so many rows, in parts that are written at once.
fn some_blocks(rows: usize) -> impl Iterator<Item = Range<usize>> {
    let blocks = blocks_of(rows).len();
    (0..blocks).step_by(AT_ONCE).map(move |first| first..blocks.min(first + AT_ONCE))
}

/// The numbers of some blocks.
fn joined<T: Element>(
    column: &PackedColumn<T>,
    blocks: Range<usize>,
) -> Result<Vec<T>, TableError> {
    let blocks = parallel::try_map(blocks.len(), &|at| column.block(blocks.start + at))?;
    Ok(blocks.concat())
}
