//! Exact values as training targets: the positions of a solved table with the values of all their
//! moves, the best moves and a policy, in files for other programs. `docs/targets.md` describes the columns.
//!
//! [`write_targets`] passes through a table once in chunks, which are encoded on all threads and written in order,
//! so that the bytes depend only on the table and the request. A sample reads hardly more than its rows. Memory is
//! bounded by a few chunks and four bytes for each row of a sample.

mod card;
mod columns;
mod images;
mod place;
mod select;
mod sink;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde_json::json;

use yomikiri::error::Error;
use yomikiri::parallel;

pub use card::{Card, Counts, Group, TARGETS_SCHEMA, TARGETS_VERSION};
pub use columns::{
    ColumnCard, Encoder, MISSING, NO_DISTANCE, RowBlock, Scalar, TargetColumn, TargetShape,
    all_columns,
};
pub use images::Images;
pub use select::Selection;
pub(in crate::export) use sink::write_arrays_and_lines;
pub use sink::{FileCard, Format, LineSink};

use self::place::Destination;
use self::select::Selector;
use crate::export::place_taken;
use crate::judge::{Example, KnownValues};
use yomikiri::oracle::SolvedTable;
use yomikiri::progress::Progress;
use yomikiri::rules::encode::{Encoding, Layout};
use yomikiri::rules::{AnyPosition, FoldedWords, Rules, Split, Splits, name_word};
use yomikiri::table::Table;

/// A request for an export of targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Targets {
    /// File format.
    pub format: Format,
    /// Layout of the planes.
    pub layout: Layout,
    /// Rows to export.
    pub selection: Selection,
    /// Images of each row.
    pub images: Images,
    /// Temperature of the policy, see [`TargetShape::temperature`].
    pub temperature: Option<f64>,
    /// Names of the columns; `None` for those that suit the format, `all` alone for every column.
    pub columns: Option<Vec<String>>,
    /// Rows per file, for directories of arrays.
    pub shard_rows: Option<u64>,
}

/// Returns `true` for the default columns of a format.
fn suits(game: &dyn Rules, format: Format, column: &TargetColumn) -> bool {
    // Rows with a number for each action are long in games with many actions.
    let short = game.action_count() <= 65;
    match format {
        Format::Npy | Format::Npz => column.name != "moves",
        // Bitboards contain the same information.
        Format::Parquet => {
            let planes = column.name == "planes" && (game.has_squares() || column.width() == 0);
            column.name != "moves" && !planes
        }
        Format::Jsonl => column.name != "planes" && (short || column.shape.is_empty()),
        Format::Csv => column.shape.is_empty(),
        Format::Obf => ["board", "moves"].contains(&column.name),
    }
}

/// Returns `true` if positions of a game are written in OBF: Othello's.
pub fn has_obf(game: &dyn Rules) -> bool {
    game.written(&game.start()).iter().any(|(name, _)| *name == "obf")
}

impl Targets {
    /// Returns an error if the request is invalid for the game.
    fn refuse(&self, table: &SolvedTable) -> Option<Error> {
        let game = table.game();
        let Selection { decisive, per_layer, .. } = self.selection;
        let spec = game.name();
        let whole_group = game.folded().group().order();
        if self.layout != Layout::Nchw
            && let Err(what) = Encoding::of_rules(game, self.layout, None)
        {
            return Some(format!("--layout {}: {what}", self.layout).into());
        }
        if self.format == Format::Obf && !has_obf(game) {
            return Some(Error::new(
                format!("OBF does not apply to {spec}: expected Othello"),
                "choose another extension",
            ));
        }
        if self.format == Format::Obf && self.columns.is_some() {
            return Some("--columns does not apply to OBF".into());
        }
        if self.shard_rows.is_some() && self.format != Format::Npy {
            return Some(
                "--shard-rows does not apply to files: expected a directory of arrays (--out without extension)".into(),
            );
        }
        if self.images == Images::Expanded && game.group().order() < whole_group {
            return Some("--expand-symmetry does not apply to an unfolded table: it already contains every reachable image".into());
        }
        if decisive == Some(true) && !table.has_scores() {
            return Some(format!("--decisive-by score: {spec} has no scores").into());
        }
        if per_layer.is_some() && !table.states().has_layers() {
            return Some(Error::new(
                "--per-layer: the table does not record the layers of its rows",
                "use --sample",
            ));
        }
        None
    }

    fn shape(&self, table: &SolvedTable) -> TargetShape {
        TargetShape {
            layout: self.layout,
            bounds: self.selection.unproven,
            splits: self.selection.split.is_none(),
            temperature: self.temperature,
            ..TargetShape::of(table.game(), Some(table))
        }
    }

    fn parameters(&self) -> BTreeMap<String, serde_json::Value> {
        let Selection { splits, split, terminals, unproven, decisive, per_layer, sample } =
            self.selection;
        let decisive = decisive.map(|by_score| if by_score { "score" } else { "outcome" });
        let policy = match self.temperature {
            None => json!("uniform"),
            Some(temperature) => json!({ "softmax_temperature": temperature }),
        };
        [
            ("layout", json!(self.layout.to_string())),
            ("states_of", json!(self.images.name())),
            ("split", json!(split.map_or("all", Split::name))),
            ("split_fractions", json!([splits.train, splits.validation, splits.test()])),
            ("split_seed", json!(splits.seed)),
            ("terminals", json!(terminals)),
            ("unproven", json!(unproven)),
            ("decisive_by", json!(decisive)),
            ("per_layer", json!(per_layer)),
            ("sample", json!(sample)),
            ("policy", policy),
            ("shard_rows", json!(self.shard_rows)),
        ]
        .map(|(name, value)| (name.to_string(), value))
        .into()
    }
}

/// Returns the columns of these names in the usual order; by default those that suit the format. Fails if a
/// name is unknown.
pub fn choose_columns(
    game: &dyn Rules,
    format: Format,
    shape: &TargetShape,
    names: Option<&[String]>,
) -> Result<Vec<TargetColumn>, Error> {
    let all = all_columns(game, shape);
    let Some(names) = names else {
        return Ok(all.into_iter().filter(|column| suits(game, format, column)).collect());
    };
    if names == ["all"] {
        return Ok(all);
    }
    let known: Vec<&str> = all.iter().map(|column| column.name).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Error::new(
            format!("unknown column `{name}`"),
            format!("expected {}", known.join(", ")),
        ));
    }
    Ok(all.into_iter().filter(|column| names.iter().any(|name| name == column.name)).collect())
}

/// Estimates the bytes of a row in memory.
fn row_bytes(columns: &[TargetColumn]) -> usize {
    columns.iter().map(TargetColumn::row_bytes).sum()
}

/// Estimates the maximum size in bytes of an export, uncompressed, if every row is exported.
pub fn targets_bytes(table: &SolvedTable, targets: &Targets) -> u64 {
    let game = table.game();
    let names = targets.columns.as_deref();
    let columns = choose_columns(game, targets.format, &targets.shape(table), names);
    let bytes = columns.map_or(0, |columns| row_bytes(&columns)) as u64;
    let images = match targets.images {
        Images::Canonical => 1,
        _ => game.group().order() as u64,
    };
    let fewest =
        [targets.selection.sample, Some(table.states().rows() as u64)].into_iter().flatten().min();
    let copies = if targets.format == Format::Npz { 2 } else { 1 };
    // Text and compressed numbers take less than arrays, or not much more.
    bytes * images * copies * fewest.unwrap_or(0)
}

/// Approximate number of rows in a piece of a table.
const CHUNK: usize = 1 << 11;

/// Encoded examples of a chunk with their counts.
struct EncodedPiece {
    block: RowBlock,
    counts: Counts,
    rows: u64,
}

/// Writes the examples of a solved table to a file or directory at `path`, with the data card beside
/// or in it.
///
/// Replaces only an unchanged export of targets.
pub fn write_targets(
    table: &SolvedTable,
    targets: &Targets,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Card, Error> {
    let (game, states) = (table.game(), table.states());
    if let Some(wrong) = targets.refuse(table) {
        return Err(wrong);
    }
    let shape = targets.shape(table);
    let names = targets.columns.as_deref();
    let columns = choose_columns(game, targets.format, &shape, names)?;
    let (folded, words) = (game.folded(), FoldedWords::new(game));
    let damaged = |what: String| Error::damaged(table.table().dir(), what);
    let place = Destination::begin(path, targets.format)?;
    let selector = Selector::new(targets.selection, &words, game);
    let is_sample = targets.selection.per_layer.is_some() || targets.selection.sample.is_some();
    if is_sample {
        progress.begin("choosing a sample", None);
    }
    let sample = selector.sample(table, &|rows| progress.advance(rows)).map_err(damaged)?;
    if is_sample {
        progress.finish("chosen");
    }
    let encoder = Encoder::new(game, &*folded, &columns, shape);
    let mut sink =
        sink::begin(targets.format, place.dir(), place.name(), &columns, targets.shard_rows)?;
    let rows = sample.as_ref().map_or(states.rows(), Vec::len);
    progress.begin(&format!("writing {}", path.display()), Some(rows as u64));
    let chunks = sample.as_ref().map_or(states.pieces().len(), |rows| rows.len().div_ceil(CHUNK));
    let make = |chunk: usize| match &sample {
        Some(rows) => {
            let part = &rows[chunk * CHUNK..rows.len().min((chunk + 1) * CHUNK)];
            let mut rows = part.iter().map(|row| *row as usize);
            piece_of(table, &selector, &encoder, targets.images, &mut rows)
        }
        None => {
            let mut rows = states.pieces()[chunk].rows.clone();
            piece_of(table, &selector, &encoder, targets.images, &mut rows)
        }
    };
    let mut counts = Counts::default();
    stream(chunks, chunks_at_once(&columns, targets.images, game), &make, |piece| {
        let piece = piece.map_err(damaged)?;
        sink.append(&piece.block)?;
        counts.add(&piece.counts);
        progress.advance(piece.rows);
        Ok(())
    })?;
    let files = sink.finish()?;
    table.table().check_read()?;
    let card = describe(game, table.table(), targets, &columns, counts, files);
    place.commit(&card)?;
    progress.finish(&format!("{} examples", card.rows));
    Ok(card)
}

fn piece_of(
    table: &SolvedTable,
    selector: &Selector<'_>,
    encoder: &Encoder<'_>,
    images: Images,
    rows: &mut dyn Iterator<Item = usize>,
) -> Result<EncodedPiece, String> {
    let (block, counts) = (RowBlock::new(encoder.columns.len()), Counts::default());
    let mut piece = EncodedPiece { block, counts, rows: 0 };
    Example::visit(table, rows, &mut |row| {
        piece.rows += 1;
        let Some(split) = selector.select(&row) else { return Ok(()) };
        images.for_each(table.game(), &row, &mut |example| {
            encoder.add(example, split, &mut piece.block);
            piece.counts.count(example, split);
        });
        Ok(())
    })?;
    Ok(piece)
}

/// Returns the number of chunks in memory at a time: as many as fit in 64 MB, 2 to 256.
fn chunks_at_once(columns: &[TargetColumn], images: Images, game: &dyn Rules) -> usize {
    let images = if images == Images::Canonical { 1 } else { game.group().order() };
    let chunk = CHUNK * images * row_bytes(columns).max(1);
    ((1 << 26) / chunk).clamp(2, 256)
}

/// Makes numbered pieces on all threads and passes them to `take` in order, while the next ones are being made.
pub(super) fn stream<P: Send>(
    count: usize,
    at_once: usize,
    make: &(impl Fn(usize) -> P + Sync),
    mut take: impl FnMut(P) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let mut ready: Vec<P> = Vec::new();
    for begin in (0..count + at_once).step_by(at_once) {
        let pieces = std::mem::take(&mut ready);
        let pieces_now = at_once.min(count.saturating_sub(begin));
        let (taken, made) = rayon::join(
            || pieces.into_iter().try_for_each(&mut take),
            || parallel::map(pieces_now, &|place| make(begin + place)),
        );
        taken?;
        ready = made;
    }
    Ok(())
}

/// Returns the CRC-32 of the JSON of a table's identity in hexadecimal.
pub(super) fn table_crc32(table: &Table) -> String {
    let identity = &table.manifest().identity;
    let identity = serde_json::to_vec(identity).expect("an identity is plain data");
    format!("{:08x}", crc32fast::hash(&identity))
}

fn describe(
    game: &dyn Rules,
    table: &Table,
    targets: &Targets,
    columns: &[TargetColumn],
    counts: Counts,
    files: BTreeMap<String, FileCard>,
) -> Card {
    let manifest = table.manifest();
    let (rows, board_columns) = game.shape();
    let from_table = |name: &str| manifest.conventions.get(name).cloned();
    let solution = manifest.solution.as_ref();
    let empties = solution.and_then(|solution| solution.empties.clone());
    let repetition = solution.and_then(|solution| solution.repetition.clone());
    let conventions = [
        ("perspective", Some("all values are those of the player to move (the mover)".to_string())),
        ("actions", from_table("actions")),
        ("passes", from_table("passes")),
        ("empties at the end", empties),
        ("infinite play", repetition),
        ("missing", Some(format!("{MISSING} in columns of values, {NO_DISTANCE} in distance; null in Parquet and JSON, empty in CSV"))),
        ("split", Some("h = seed; for w in [fnv1a64(game), key...]: h = splitmix64(h ^ w); (h >> 11) / 2^53 below the first fraction is train, below the first two validation".to_string())),
        ("sample", Some("rows drawn without repetition, those that fulfil the conditions equally likely, by the seed of the split and the number of the row".to_string())),
    ];
    let about = |column: &TargetColumn| ColumnCard {
        name: column.name.to_string(),
        dtype: column.scalar.descr(),
        shape: column.shape.clone(),
        about: column.about.clone(),
    };
    let total = counts.total();
    Card {
        schema: TARGETS_SCHEMA.to_string(),
        schema_version: TARGETS_VERSION,
        game: manifest.identity.game.clone(),
        table: table.name(),
        table_identity_crc32: table_crc32(table),
        format: targets.format.name().to_string(),
        parameters: targets.parameters(),
        rows: total.rows,
        positions: total.positions,
        actions: game.action_count() as u64,
        board: [rows as u64, board_columns as u64],
        columns: columns.iter().map(about).collect(),
        conventions: conventions
            .into_iter()
            .filter_map(|(name, text)| Some((name.to_string(), text?)))
            .collect(),
        counts,
        files,
    }
}

/// Encodes what is known of positions. Returns a block in their order, and the indices of those of which nothing is
/// known. Fails if the table or a label is damaged.
pub fn known_examples(
    encoder: &Encoder<'_>,
    values: &KnownValues<'_>,
    positions: &[AnyPosition],
) -> Result<(RowBlock, Vec<usize>), Error> {
    let (name, words) = (name_word(&encoder.game.name()), FoldedWords::new(encoder.game));
    let with_moves = encoder.columns.iter().any(TargetColumn::is_of_moves);
    let with_split = encoder.columns.iter().any(|column| column.name == "split");
    let splits = Splits::default();
    let some = |places: Range<usize>| {
        let (mut block, mut missing) = (RowBlock::new(encoder.columns.len()), Vec::new());
        for at in places {
            let position = &positions[at];
            let Some(example) = values.of(position, with_moves)? else {
                missing.push(at);
                continue;
            };
            let split = match with_split {
                true => splits.of_hash(splits.hash(name, words.of(&position.state))),
                false => Split::Train,
            };
            encoder.add(&example, split, &mut block);
        }
        Ok::<_, Error>((block, missing))
    };
    let (mut block, mut missing) = (RowBlock::new(encoder.columns.len()), Vec::new());
    for part in parallel::map_ranges(positions.len(), CHUNK, &some) {
        let (part, places) = part?;
        block.extend(&part);
        missing.extend(places);
    }
    values.check()?;
    Ok((block, missing))
}

/// Returns the examples of some pieces of a table ([`States::pieces`](yomikiri::oracle::States::pieces)) in
/// order. Sampling options of the selection are ignored.
pub fn read_rows(
    encoder: &Encoder<'_>,
    table: &SolvedTable,
    selection: Selection,
    images: Images,
    pieces: Range<usize>,
) -> Result<RowBlock, String> {
    let words = FoldedWords::new(encoder.game);
    let selector = Selector::new(selection, &words, encoder.game);
    let pieces = &table.states().pieces()[pieces];
    let one = |at: usize| piece_of(table, &selector, encoder, images, &mut pieces[at].rows.clone());
    let mut block = RowBlock::new(encoder.columns.len());
    for piece in parallel::map(pieces.len(), &one) {
        block.extend(&piece?.block);
    }
    table.table().check_read().map_err(|error| error.to_string())?;
    Ok(block)
}

/// Writes a block to a file or pipe at `path`, replacing an existing file. The format is of one file.
pub fn write_blocks(
    format: Format,
    path: &Path,
    columns: &[TargetColumn],
    block: &RowBlock,
) -> Result<(), Error> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| place_taken(path, "is not a file name in UTF-8"))?;
    let dir = path.parent().unwrap_or(path);
    let mut sink = sink::begin(format, dir, name, columns, None)?;
    sink.append(block)?;
    sink.finish()?;
    Ok(())
}
