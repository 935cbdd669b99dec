//! Positions of a table as arrays (`planes`, `legal`, `side`, `row`) and as text (`positions.txt`), with
//! their description (`states.json`, [`States`]). See `docs/your-policy.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::folder::{begin, is_used, unchanged, write_synced};
use super::targets::{
    Encoder, FileCard, Format, RowBlock, TargetColumn, TargetShape, choose_columns, stream,
    table_crc32, write_arrays_and_lines,
};
use crate::export::place_taken;
use crate::judge::Example;
use yomikiri::error::Error;
use yomikiri::oracle::{Orienting, States as TableStates};
use yomikiri::progress::Progress;
use yomikiri::rules::encode::Layout;
use yomikiri::rules::{Rules, Split};
use yomikiri::solve::Value;
use yomikiri::table::rows::{RowPiece, StateKind};
use yomikiri::table::{IoContext, Table};

/// Value of `schema` in `states.json`.
pub const SCHEMA: &str = "yomikiri-states";
/// Version of the schema; raised when a file changes its meaning or is removed.
pub const SCHEMA_VERSION: u32 = 1;

const STATES: &str = "states.json";
const POSITIONS: &str = "positions.txt";
const ARRAYS: [&str; 4] = ["planes", "legal", "side", "row"];

/// Number of chunks in memory at a time.
const AT_ONCE: usize = 16;
/// Bytes of a line of `positions.txt` besides one for each square, at most.
const LINE_BYTES: u64 = 24;

fn is_ours(name: &str) -> bool {
    let array = name.strip_suffix(".npy");
    name == STATES || name == POSITIONS || array.is_some_and(|name| ARRAYS.contains(&name))
}

/// Description of an export of states: `states.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct States {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Version of the schema.
    pub schema_version: u32,
    /// Game, such as `othello-4x4`.
    pub game: String,
    /// Name of the table.
    pub table: String,
    /// CRC-32 of the JSON of the manifest's `identity`.
    pub table_identity_crc32: String,
    /// `all` or `canonical`.
    pub states_of: String,
    /// Number of positions.
    pub positions: u64,
    /// Number of actions.
    pub actions: u64,
    /// Rows and columns of the board.
    pub board: [u64; 2],
    /// Description of each plane.
    pub planes: Vec<String>,
    /// Descriptions of the files and the conventions.
    pub conventions: BTreeMap<String, String>,
    /// The other files by name.
    pub files: BTreeMap<String, StatesFile>,
}

/// A file of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatesFile {
    /// NumPy name of the scalar type; absent for text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    /// Shape of the array, or number of lines of the text.
    pub shape: Vec<u64>,
    /// CRC-32 of the file in hexadecimal.
    pub crc32: String,
}

/// A finished export.
#[derive(Clone, Debug)]
pub struct Exported {
    /// Its description.
    pub states: States,
    /// Its directory.
    pub place: PathBuf,
    /// `true` if it already existed.
    pub reused: bool,
    /// Total size of its files in bytes.
    pub bytes: u64,
}

/// Estimates the size in bytes of an export of this many positions.
pub fn bytes_of(game: &dyn Rules, positions: u64) -> u64 {
    let (rows, columns) = game.shape();
    let squares = (rows * columns) as u64;
    let planes = game.plane_kinds().count() as u64 * squares;
    // Side and row take five bytes.
    positions * (planes + game.action_count() as u64 + 5 + squares + LINE_BYTES)
}

/// Writes the positions of a table into a directory at `place`.
///
/// An identical export is kept; another one is replaced if its files are unchanged. Fails if anything
/// else is at the place, or if a row of the table is not a position.
pub fn write_states(
    states: &TableStates,
    of: Orienting,
    place: &Path,
    progress: &dyn Progress,
) -> Result<Exported, Error> {
    let (game, table) = (states.game(), states.table());
    let damaged = |what| Error::damaged(table.dir(), what);
    let expected = describe(game, table, of, states.open_positions(of).map_err(damaged)?);
    if let Some(found) = intact(place)? {
        let without_files = States { files: BTreeMap::new(), ..found.clone() };
        if without_files == expected {
            return exported(found, place, true);
        }
    }
    let folder = begin(place, &is_ours)?;
    progress.begin(&format!("writing {}", place.display()), Some(states.rows() as u64));
    let (columns, shape) = columns(game);
    let encoder = Encoder::new(game, game, &columns, shape);
    let mut sinks = write_arrays_and_lines(folder.path(), POSITIONS, &columns)?;
    let mut count = 0;
    let pieces = states.pieces();
    let encode = |piece: usize| block(states, of, &pieces[piece], &encoder);
    stream(pieces.len(), AT_ONCE, &encode, |piece| {
        let (block, rows) = piece.map_err(damaged)?;
        sinks.iter_mut().try_for_each(|sink| sink.append(&block))?;
        count += block.rows as u64;
        progress.advance(rows);
        Ok(())
    })?;
    progress.finish(&format!("{count} positions"));
    if count != expected.positions {
        let what = format!("{count} positions, expected {} (manifest)", expected.positions);
        return Err(damaged(what));
    }
    table.check_read()?;
    let mut files = BTreeMap::new();
    for sink in sinks {
        files.extend(sink.finish()?);
    }
    let files = files.into_iter().map(|(name, card)| {
        let column = columns.iter().find(|column| name == format!("{}.npy", column.name));
        let file = StatesFile::new(column, card);
        (name, file)
    });
    let states = States { files: files.collect(), ..expected };
    let text = serde_json::to_string_pretty(&states).expect("a description is plain data") + "\n";
    write_synced(&folder.path().join(STATES), &text)?;
    folder.commit(&is_ours).at("replace", place)?;
    exported(states, place, false)
}

/// Returns the exported columns: the arrays, and last the positions as text.
fn columns(game: &dyn Rules) -> (Vec<TargetColumn>, TargetShape) {
    let shape = TargetShape {
        layout: Layout::Nchw,
        scores: false,
        layers: false,
        rows: true,
        bounds: false,
        splits: false,
        temperature: None,
    };
    let names = [&ARRAYS[..], &["board"]].concat().into_iter().map(str::to_string);
    let names: Vec<String> = names.collect();
    let columns = choose_columns(game, Format::Npy, &shape, Some(&names));
    let mut columns = columns.expect("every game has these columns");
    columns.sort_by_key(TargetColumn::is_text);
    (columns, shape)
}

/// Returns the positions of a piece of a table, and its number of rows.
fn block(
    states: &TableStates,
    of: Orienting,
    rows: &RowPiece,
    encoder: &Encoder<'_>,
) -> Result<(RowBlock, u64), String> {
    let mut block = RowBlock::new(encoder.columns.len());
    states.visit_open(rows, of, |row, position| {
        let unknown = |action| (action, Value::CUT_OFF);
        let moves = states.game().actions(&position.state).into_iter().map(unknown);
        let example = Example {
            row: row as u32,
            position,
            layer: None,
            kind: StateKind::Interior,
            value: Value::CUT_OFF,
            scored: false,
            moves: moves.collect(),
            orientations: None,
            weight: 1.0,
        };
        encoder.add(&example, Split::Train, &mut block);
    })?;
    Ok((block, rows.rows.len() as u64))
}

fn exported(states: States, place: &Path, reused: bool) -> Result<Exported, Error> {
    let names = states.files.keys().map(String::as_str).chain([STATES]);
    let length = |name| {
        let path = place.join(name);
        fs::metadata(&path).at("read", &path).map(|metadata| metadata.len())
    };
    let bytes = names.map(length).sum::<Result<u64, Error>>()?;
    Ok(Exported { states, place: place.to_path_buf(), reused, bytes })
}

/// Describes an export of a table, without its files.
fn describe(game: &dyn Rules, table: &Table, of: Orienting, positions: u64) -> States {
    let manifest = table.manifest();
    let (rows, columns) = game.shape();
    let perspective = "planes and legal moves are those of the player to move (the mover)";
    let order = "by row, then by side and symmetry; finished games are left out";
    let others = [("perspective", perspective.to_string()), ("order", order.to_string())];
    let actions = manifest.conventions.get("actions").map(|text| ("actions", text.clone()));
    let of_column = |column: TargetColumn| match column.is_text() {
        true => ("positions", format!("one per line, {}", column.about)),
        false => (column.name, column.about),
    };
    let conventions = self::columns(game).0.into_iter().map(of_column).chain(others).chain(actions);
    States {
        schema: SCHEMA.to_string(),
        schema_version: SCHEMA_VERSION,
        game: manifest.identity.game.clone(),
        table: table.name(),
        table_identity_crc32: table_crc32(table),
        states_of: of.name().to_string(),
        positions,
        actions: game.action_count() as u64,
        board: [rows as u64, columns as u64],
        planes: game.plane_kinds().names(),
        conventions: conventions.map(|(name, text)| (name.to_string(), text)).collect(),
        files: BTreeMap::new(),
    }
}

/// Returns the export at a place, if any. Fails if anything else is there, or if a file of the export has
/// changed.
fn intact(place: &Path) -> Result<Option<States>, Error> {
    if !is_used(place)? {
        return Ok(None);
    }
    let text = fs::read(place.join(STATES)).unwrap_or_default();
    let found = serde_json::from_slice::<States>(&text).ok();
    // Only names of export files are read: others could point anywhere on the machine.
    let ours = |states: &States| states.files.keys().all(|name| is_ours(name));
    let found = found.filter(|states| states.schema == SCHEMA && ours(states));
    let found =
        found.ok_or_else(|| place_taken(place, "exists and contains no export of states"))?;
    for (name, file) in &found.files {
        unchanged(place, &place.join(name), &file.crc32)?;
    }
    Ok(Some(found))
}

impl StatesFile {
    fn new(column: Option<&TargetColumn>, FileCard { crc32, rows, .. }: FileCard) -> StatesFile {
        let row = column.map_or(&[][..], |column| &column.shape);
        let dtype = column.map(|column| column.scalar.descr());
        StatesFile { dtype, shape: [&[rows], row].concat(), crc32 }
    }
}
