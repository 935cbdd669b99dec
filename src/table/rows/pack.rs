//! Packing of solved tables into compressed blocks.

use std::path::{Path, PathBuf};

use super::Rows;
use super::code::{self, Code, Coding};
use super::ranks::{self, PACKED_BLOCK, Ranked};
use crate::error::Error;
use crate::games::listed::Listed;
use crate::progress::Progress;
use crate::rules::{Orientations, Rules};
use crate::table::{
    BLOCK, DISCOUNTED_COLUMN, Draft, Element, Manifest, Table, blocks_of, planes, write_blocks,
};

/// Checks that a table is complete, solved, proven and not packed yet.
pub fn check_packable(table: &Table) -> Result<(), Error> {
    let (name, manifest) = (table.name(), table.manifest());
    Err(match manifest.solution {
        _ if manifest.is_packed() => format!("{name} is packed already").into(),
        _ if !manifest.complete => format!(
            "cannot pack {name}: it is bounded, and packed tables store complete games only"
        )
        .into(),
        None => {
            let hint = format!("run 'solver value-iterate {name}' first");
            Error::new(format!("{name} is not solved"), hint)
        }
        Some(_) if manifest.has_bounds() => Error::new(
            format!("{name} has unproven values"),
            "packed tables cannot store bounds: solve it with another --repetition",
        ),
        Some(_) => return Ok(()),
    })
}

/// Packs a complete and solved table into a new one at `place`, which must be free, and returns its path.
/// Includes plies to the end if `distances`, and always in games with cycles, whose values they are.
pub fn pack(
    game: &dyn Rules,
    table: &Table,
    place: &Path,
    distances: bool,
    progress: &dyn Progress,
) -> Result<PathBuf, Error> {
    check_packable(table)?;
    let from = table.manifest();
    let mut draft = Draft::open::<()>(place, from.identity.clone())?.0;
    draft.note_command("pack")?;
    let graph = Rows::open_checked(game, table)?;
    game.typed::<Listed>().map_or(Ok(()), |game| game.write(&mut draft))?;
    match graph.ranked() {
        Some(ranked) => pack_ranks(&mut draft, ranked, progress)?,
        None => pack_keys(game, &mut draft, &graph, progress)?,
    }
    let values = [("score", "packed_score"), ("outcome", "packed_outcome")];
    let values = values.into_iter().find(|(array, _)| table.has_array(array));
    if let Some((array, packed)) = values {
        pack_column(&mut draft, packed, &table.array_checked::<i8>(array, true)?, progress)?;
    }
    if distances || values.is_none() || !game.is_layered() {
        let (array, packed) = ("distance", "packed_distance");
        if from.arrays.get(array).is_some_and(|entry| entry.dtype == u8::DESCR) {
            pack_column(&mut draft, packed, &table.array_checked::<u8>(array, true)?, progress)?;
        } else {
            pack_column(&mut draft, packed, &table.array_checked::<u16>(array, true)?, progress)?;
        }
    }
    table.check_read()?;
    let manifest = manifest_of(from, draft.has("packed_distance"));
    draft.commit(manifest)
}

/// Returns the manifest of a packed table without its arrays.
fn manifest_of(from: &Manifest, distances: bool) -> Manifest {
    let mut manifest = Manifest { discounted: None, ..from.clone() };
    // Discounted values are left out.
    manifest.packed = std::mem::take(&mut manifest.arrays);
    manifest.packed.remove(DISCOUNTED_COLUMN);
    manifest.conventions.insert(
        "packed".to_string(),
        format!("rows in blocks of {BLOCK}, or {PACKED_BLOCK} ranks, compressed by Zstandard; see docs/table-format.md"),
    );
    if let Some(solution) = manifest.solution.as_mut().filter(|_| !distances) {
        solution.exact_distances = 0;
        solution.roots.iter_mut().for_each(|root| root.distance = None);
    }
    manifest
}

/// Returns `true` if [`pack`] makes `packed` from `table`.
pub fn is_packed_of(game: &dyn Rules, packed: &Table, table: &Table, distances: bool) -> bool {
    let found = packed.manifest();
    let distances = distances || !game.is_layered();
    let (arrays, checksum) = (found.arrays.clone(), found.checksum.clone());
    found.arrays.contains_key("packed_distance") == distances
        && *found == Manifest { arrays, checksum, ..manifest_of(table.manifest(), distances) }
}

/// Packs a column of numbers.
fn pack_column<T: Element>(
    draft: &mut Draft,
    name: &'static str,
    column: &[T],
    progress: &dyn Progress,
) -> Result<(), Error> {
    let blocks = blocks_of(column.len());
    let of = |block: usize| planes(&column[block * BLOCK..column.len().min((block + 1) * BLOCK)]);
    write_blocks(draft, name, blocks.len(), &of, progress)
}

fn pack_keys(
    game: &dyn Rules,
    draft: &mut Draft,
    graph: &Rows,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let (coding, rows) = (Coding::of(game), graph.states());
    let code = |row: usize| coding.code(graph.keys().get(row).unwrap_or(0));
    draft.grow::<u64>("layer_offsets", false, None)?;
    draft.grow::<[u64; 2]>("packed_firsts", false, None)?;
    let ends = graph.layers().map(|layer| layer.end as u64);
    let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
    let firsts: Vec<Code> = blocks_of(rows).map(|rows| code(rows.start)).collect();
    draft.append(&[
        ("layer_offsets", bytemuck::cast_slice(&offsets)),
        ("packed_firsts", bytemuck::cast_slice(&firsts)),
    ])?;
    let range = |block: usize| block * BLOCK..rows.min((block + 1) * BLOCK);
    let codes = |block: usize| code::encode(&range(block).map(code).collect::<Vec<_>>());
    write_blocks(draft, "packed_keys", firsts.len(), &codes, progress)?;
    if graph.has_orientations() {
        let sets = |block: usize| {
            let sets = range(block).filter_map(|row| graph.orientations(row));
            planes(&sets.map(|Orientations(set)| set).collect::<Vec<u16>>())
        };
        write_blocks(draft, "packed_orientations", firsts.len(), &sets, progress)?;
    }
    Ok(())
}

fn pack_ranks(draft: &mut Draft, ranks: &Ranked, progress: &dyn Progress) -> Result<(), Error> {
    draft.grow::<u32>("packed_counts", false, None)?;
    const WORDS: usize = PACKED_BLOCK / 64;
    let every = PACKED_BLOCK / ranks::BLOCK;
    let counts: Vec<u32> = ranks.block_counts().iter().copied().step_by(every).collect();
    draft.append(&[("packed_counts", bytemuck::cast_slice(&counts))])?;
    let words = |block: usize| {
        let end = ranks.words().len().min((block + 1) * WORDS);
        planes(&ranks.words()[block * WORDS..end])
    };
    write_blocks(draft, "packed_reachable", counts.len(), &words, progress)
}
