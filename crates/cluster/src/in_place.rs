//! Parts of all workers read in place as the rows and values of a table. Rows are states, ordered by
//! layer, then by worker.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::exchange::{hash, owner, slice};
use super::gather::{dirs, missing_layer};
use super::parts::{Chunks, Extent, Part, PartKind, identity_in};
use crate::in_file;
use yomikiri::error::Error;
use yomikiri::games::othello::blocks::{Blocks, Tables, has_blocks};
use yomikiri::rules::{Orientations, Rules};
use yomikiri::solve::Values;
use yomikiri::solve::value::{Short, SweepOrder};
use yomikiri::table::rows::{KeysElsewhere, Rows};
use yomikiri::table::{Counts, Damage, FORMAT, FORMAT_VERSION, Manifest, Table};

/// A worker's files of a layer.
struct Own {
    layer: Chunks,
    values: Chunks,
    /// First row of each chunk within the file, and the end.
    begins: Vec<usize>,
}

/// All files of a game in blocks, solved by several processes.
pub(crate) struct PartFiles {
    rules: Blocks<Tables>,
    workers: usize,
    first: u32,
    /// Files by layer, then by worker.
    files: Vec<Own>,
    /// First row of each file, and the end.
    begins: Vec<usize>,
    damage: Damage,
}

/// Returns the table that the parts in some directories stand for, without files of its own.
pub fn table_of(parts: &[PathBuf]) -> Result<Table, Error> {
    let dirs = dirs(parts)?;
    let Some((identity, job)) = identity_in(&dirs[0])? else {
        let what = Error::new("no states", "run 'solver enumerate' with the same hosts");
        return Err(in_file(&dirs[0], what));
    };
    let all = Part::all(&dirs, &job);
    let (mut first_layer, mut layers, mut counts) = (0, Vec::new(), Counts::default());
    for number in 0..=u64::BITS {
        let mut layer = None;
        for part in &all {
            if let Some(own) = part.read(PartKind::Layer, number)? {
                layer.get_or_insert(Counts::default()).add(own.counts());
            }
        }
        match layer {
            Some(layer) => layers.push(layer),
            None if layers.is_empty() => first_layer = number + 1,
            None => break,
        }
    }
    layers.iter().for_each(|layer| counts.add(layer));
    // Unused here: roots are looked up.
    let root_ids = vec![0; identity.roots.len()];
    let manifest = Manifest {
        format: FORMAT.to_string(),
        format_version: FORMAT_VERSION,
        identity,
        complete: true,
        conventions: BTreeMap::new(),
        first_layer,
        counts,
        layers,
        root_ids,
        arrays: BTreeMap::new(),
        packed: BTreeMap::new(),
        solution: None,
        discounted: None,
        checksum: String::new(),
    };
    Ok(Table::without_files(&parts[0], manifest))
}

/// Opens the rows and values of a game's parts in some directories; `table` is that of [`table_of`].
pub fn open(game: &dyn Rules, table: &Table, parts: &[PathBuf]) -> Result<(Rows, Values), Error> {
    if !has_blocks(game) {
        let hint = format!("gather the parts of {}", game.name());
        return Err(Error::new("only parts of Othello have values", hint));
    }
    let dirs = dirs(parts)?;
    let job = identity_in(&dirs[0])?.map_or(String::new(), |(_, job)| job);
    let parts = Part::all(&dirs, &job);
    let (rows, columns) = game.shape();
    let first = table.manifest().first_layer;
    let (mut files, mut begins) = (Vec::new(), vec![0]);
    for number in first..(rows * columns) as u32 + 1 {
        for part in &parts {
            let layer =
                part.read(PartKind::Layer, number)?.ok_or_else(|| missing_layer(part, number))?;
            let values = part.values_of(&layer)?.ok_or_else(|| {
                let what = Error::new(
                    format!("missing values of layer {number}"),
                    "complete 'solver value-iterate' with the same hosts",
                );
                in_file(part.dir(), what)
            })?;
            let mut all = vec![0];
            all.extend(layer.extents().iter().scan(0, |end, chunk| {
                *end += chunk.rows as usize;
                Some(*end)
            }));
            begins.push(begins[begins.len() - 1] + all[all.len() - 1]);
            files.push(Own { layer, values, begins: all });
        }
    }
    let rules = Blocks::new(game);
    let ends = begins.iter().step_by(parts.len()).map(|&row| row as u64).collect();
    let parts = Arc::new(PartFiles {
        rules,
        workers: parts.len(),
        first,
        files,
        begins,
        damage: table.damage().clone(),
    });
    let (view, values) = (View(Arc::clone(&parts)), View(parts));
    let graph = Rows::elsewhere(table, Box::new(view), ends, first);
    let value = move |row| Some(values.value(row)?.prospect());
    let values = Values::elsewhere(graph.states(), Box::new(value));
    Ok((graph, values))
}

/// The parts, shared by rows and values.
struct View(Arc<PartFiles>);

impl PartFiles {
    /// Returns the value read; records damage and returns `None` if there was any.
    fn sound<T>(&self, read: Result<T, Error>, file: &Chunks) -> Option<T> {
        let damaged = |_| Error::damaged(file.path(), "inconsistent part");
        self.damage.or_record(read.map_err(damaged))
    }

    fn present<T>(&self, read: Option<T>, file: &Chunks) -> Option<T> {
        self.sound(read.ok_or_else(|| file.damaged()), file)
    }

    /// Returns the file of a row, its chunk, and its row in the chunk.
    fn at(&self, row: usize) -> (&Own, usize, usize) {
        let number = self.begins.partition_point(|&begin| begin <= row) - 1;
        let (own, inside) = (&self.files[number], row - self.begins[number]);
        let chunk = own.begins.partition_point(|&begin| begin <= inside) - 1;
        (own, chunk, inside - own.begins[chunk])
    }

    /// Returns the row of a place in a block.
    fn find(&self, block: u32, place: u32) -> Option<usize> {
        let layer = block.count_ones().checked_sub(self.first)? as usize;
        let hash = hash(block.into());
        let number = layer * self.workers + owner(hash, self.workers) as usize;
        let own = self.files.get(number)?;
        let chunks = own.layer.extents();
        let chunk = chunks.partition_point(|chunk| chunk.slices <= slice(hash));
        let piece = self.sound(own.layer.piece(chunks.get(chunk)?), &own.layer)?;
        let rows = piece.find(block)?;
        let places = self.present(piece.places.get(rows.clone()), &own.layer)?;
        let at = places.binary_search(&place).ok()?;
        Some(self.begins[number] + own.begins[chunk] + rows.start + at)
    }
}

impl View {
    fn value(&self, row: usize) -> Option<Short> {
        let (own, chunk, at) = self.0.at(row);
        let extent: Option<&Extent> = own.values.extents().get(chunk);
        let values =
            self.0.sound(own.values.numbers(self.0.present(extent, &own.values)?), &own.values)?;
        Some(Short::of_number(*self.0.present(values.get(at), &own.values)?))
    }
}

impl KeysElsewhere for View {
    fn key(&self, row: usize) -> Option<u128> {
        let (own, chunk, at) = self.0.at(row);
        let piece = self.0.sound(own.layer.piece(&own.layer.extents()[chunk]), &own.layer)?;
        let number = piece.blocks.partition_point(|block| block[1] as usize <= at);
        let block = self.0.present(piece.blocks.get(number), &own.layer)?[0];
        let place = *self.0.present(piece.places.get(at), &own.layer)?;
        Some(self.0.rules.key(&self.0.rules.block(block), place).into())
    }

    fn find(&self, key: u128) -> Option<usize> {
        let (block, place) = self.0.rules.of_key(key.try_into().ok()?);
        self.0.find(block, place)
    }

    fn orientations(&self, row: usize) -> Option<Orientations> {
        let (own, chunk, at) = self.0.at(row);
        let piece = self.0.sound(own.layer.piece(&own.layer.extents()[chunk]), &own.layer)?;
        Some(Orientations(*self.0.present(piece.sets.get(at), &own.layer)?))
    }

    fn check(&self) -> Result<(), Error> {
        for own in &self.0.files {
            for file in [&own.layer, &own.values] {
                let checked = file.check();
                checked.map_err(|_| Error::damaged(file.path(), "wrong checksum"))?;
            }
        }
        Ok(())
    }
}
