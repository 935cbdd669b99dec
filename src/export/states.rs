//! The positions of a table as arrays, as text, and what they mean.
//!
//! N positions, A actions, P planes of R × C squares:
//!
//! | file | dtype | shape |
//! |---|---|---|
//! | `planes.npy` | `\|u1` | N, P, R, C |
//! | `legal.npy` | `\|u1` | N, A |
//! | `side.npy` | `\|i1` | N |
//! | `row.npy` | `<u4` | N |
//! | `positions.txt` | text | N lines |
//! | `states.json` | JSON | [`States`] |
//!
//! `docs/policy-protocol.md` says what is in them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ExportError;
use super::folder::{Folder, is_used};
use crate::any::{AnyGame, AnyPosition};
use crate::game::Game;
use crate::graph::Piece as Rows;
use crate::parallel;
use crate::progress::Progress;
use crate::solved::{Orienting, States as TableStates};
use crate::table::{IoContext, Stream, Table, TableError};

/// What `schema` says in every `states.json`.
pub const SCHEMA: &str = "yomikiri-states";
/// The version of what is written; raised when a file changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 1;

const STATES: &str = "states.json";
const POSITIONS: &str = "positions.txt";
const ARRAYS: [(&str, &str); 4] =
    [("planes.npy", "|u1"), ("legal.npy", "|u1"), ("side.npy", "|i1"), ("row.npy", "<u4")];
const OURS: [&str; 6] = [ARRAYS[0].0, ARRAYS[1].0, ARRAYS[2].0, ARRAYS[3].0, POSITIONS, STATES];

/// How many chunks are in memory at a time.
const AT_ONCE: usize = 16;
/// Bytes that a line of `positions.txt` is expected to take at most, by the squares of the board.
const LINE_BYTES: u64 = 24;

/// What an export of states is: `states.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct States {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version of the schema.
    pub schema_version: u32,
    /// The game, `othello-4x4`.
    pub game: String,
    /// The table's name.
    pub table: String,
    /// CRC-32 of the JSON of what the table was made from (its manifest's `identity`).
    pub table_identity_crc32: String,
    /// `all` or `canonical`.
    pub states_of: String,
    /// How many positions there are.
    pub positions: u64,
    /// How many action indices there are.
    pub actions: u64,
    /// How many rows and columns the board has.
    pub board: [u64; 2],
    /// What each plane holds.
    pub planes: Vec<String>,
    /// What everything means, in words.
    pub conventions: BTreeMap<String, String>,
    /// The other files.
    pub files: BTreeMap<String, StatesFile>,
}

/// A file of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatesFile {
    /// NumPy's name of the scalar type; absent for text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    /// The array's shape, or how many lines the text has.
    pub shape: Vec<u64>,
    /// CRC-32 of the whole file, in hexadecimal.
    pub crc32: String,
}

/// An export that is at its place.
#[derive(Clone, Debug)]
pub struct Exported {
    /// What it is.
    pub states: States,
    /// Where it lies.
    pub place: PathBuf,
    /// Whether it was there already.
    pub reused: bool,
    /// How many bytes its files take.
    pub bytes: u64,
}

/// About how many bytes an export of so many positions takes.
pub fn bytes_of(game: &AnyGame, positions: u64) -> u64 {
    let (rows, columns) = game.shape();
    let squares = (rows * columns) as u64;
    let planes = game.planes().count() as u64 * squares;
    // Side and row take five.
    positions * (planes + game.action_count() as u64 + 5 + squares + LINE_BYTES)
}

/// Writes the positions of a table into a directory at `place`.
///
/// An export that is there already and is the same is left alone; another is replaced if all its
/// files are still as they were written. Fails where something else is at the place, or where a row
/// of the table is no position.
pub fn write_states(
    states: &TableStates,
    of: Orienting,
    place: &Path,
    progress: &dyn Progress,
) -> Result<Exported, ExportError> {
    let (game, table) = (states.game(), states.table());
    let damaged = |what| TableError::damaged(table.dir(), what);
    let expected = describe(game, table, of, states.open_positions(of).map_err(damaged)?);
    if let Some(found) = intact(place)? {
        let without_files = States { files: BTreeMap::new(), ..found.clone() };
        if without_files == expected {
            return exported(found, place, true);
        }
    }
    let folder = Folder::begin(place, &|name| OURS.contains(&name))?;
    progress.begin(&format!("writing {}", place.display()), Some(states.rows() as u64));
    let mut files = Files::create(&folder)?;
    for some in states.pieces().chunks(AT_ONCE) {
        let pieces = parallel::map(some.len(), &|place| Piece::of(states, of, &some[place]));
        for piece in pieces {
            let piece = piece.map_err(damaged)?;
            files.append(&piece)?;
            progress.advance(piece.rows);
        }
    }
    progress.finish(&format!("{} positions", files.count));
    if files.count != expected.positions {
        let what =
            format!("it has {} positions where its counts say {}", files.count, expected.positions);
        return Err(damaged(what).into());
    }
    table.check_read()?;
    let states = States { files: files.seal(game)?, ..expected };
    let path = folder.file(STATES);
    let text = serde_json::to_string_pretty(&states).expect("a description is plain data") + "\n";
    let mut file = File::create(&path).at("write", &path)?;
    file.write_all(text.as_bytes()).at("write", &path)?;
    file.sync_all().at("write", &path)?;
    folder.commit()?;
    exported(states, place, false)
}

fn exported(states: States, place: &Path, reused: bool) -> Result<Exported, ExportError> {
    let length = |name: &&str| {
        let path = place.join(name);
        fs::metadata(&path).at("read", &path).map(|metadata| metadata.len())
    };
    let bytes = OURS.iter().map(length).sum::<Result<u64, TableError>>()?;
    Ok(Exported { states, place: place.to_path_buf(), reused, bytes })
}

/// What an export of a table is, but for its files.
fn describe(game: &AnyGame, table: &Table, of: Orienting, positions: u64) -> States {
    let identity = &table.manifest().identity;
    let text = serde_json::to_vec(identity).expect("an identity is plain data");
    let (rows, columns) = game.shape();
    let names = |side: crate::game::Side| game.side_name(side);
    let [first, second] = crate::game::Side::ALL.map(names);
    let from_table = |name: &str| table.manifest().conventions.get(name).cloned();
    let conventions = [
        (
            "perspective",
            Some("planes and legal moves are those of the player to move (the mover)".to_string()),
        ),
        (
            "planes",
            Some(format!(
                "position, plane, row, column; each plane is {rows} rows of {columns} squares as the mover sees the board"
            )),
        ),
        (
            "legal",
            Some("1 where the action is a legal move of the position, 0 elsewhere".to_string()),
        ),
        ("actions", from_table("actions")),
        (
            "side",
            Some(format!("who is to move: 0 the first player ({first}), 1 the second ({second})")),
        ),
        ("row", Some("the row of the table that the position, or an image of it, is".to_string())),
        ("positions", Some("one a line, as 'solver query' reads them".to_string())),
        (
            "order",
            Some("by row, then by side and symmetry; finished games are left out".to_string()),
        ),
    ];
    let conventions = conventions.into_iter();
    States {
        schema: SCHEMA.to_string(),
        schema_version: SCHEMA_VERSION,
        game: identity.game.clone(),
        table: table.name(),
        table_identity_crc32: format!("{:08x}", crc32fast::hash(&text)),
        states_of: of.name().to_string(),
        positions,
        actions: game.action_count() as u64,
        board: [rows as u64, columns as u64],
        planes: game.planes().names(),
        conventions: conventions
            .filter_map(|(name, text)| Some((name.to_string(), text?)))
            .collect(),
        files: BTreeMap::new(),
    }
}

/// The export at a place, if one is there; fails where there is something else, or an export of
/// which a file was changed.
fn intact(place: &Path) -> Result<Option<States>, ExportError> {
    let taken = |what: String| ExportError::Taken { place: place.to_path_buf(), what };
    if !is_used(place)? {
        return Ok(None);
    }
    let text = fs::read(place.join(STATES)).unwrap_or_default();
    let found = serde_json::from_slice::<States>(&text).ok();
    // Names are those of files, and what is no name of ours may be anything on the machine.
    let ours = |states: &States| states.files.keys().all(|name| OURS.contains(&name.as_str()));
    let found = found.filter(|states| states.schema == SCHEMA && ours(states));
    let found = found.ok_or_else(|| taken("is there and holds no export of states".to_string()))?;
    for (name, file) in &found.files {
        let path = place.join(name);
        let sum = checksum(&path).at("read", &path)?;
        if format!("{sum:08x}") != file.crc32 {
            return Err(taken(format!("holds {name}, which was changed after it was exported")));
        }
    }
    Ok(Some(found))
}

pub(super) fn checksum(path: &Path) -> std::io::Result<u32> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hasher.finalize()),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// The bytes of a chunk's positions, file by file.
#[derive(Default)]
struct Piece {
    /// In the order of [`ARRAYS`].
    arrays: [Vec<u8>; 4],
    text: String,
    count: u64,
    rows: u64,
}

impl Piece {
    fn of(states: &TableStates, of: Orienting, rows: &Rows) -> Result<Piece, String> {
        let mut piece = Piece { rows: rows.rows.len() as u64, ..Piece::default() };
        let game = states.game();
        let (board_rows, columns) = game.shape();
        let width = game.planes().count() * board_rows * columns;
        states.visit_open(rows, of, |row, position| piece.add(game, width, row, &position))?;
        Ok(piece)
    }

    fn add(&mut self, game: &AnyGame, width: usize, row: usize, position: &AnyPosition) {
        let [planes, legal, side, rows] = &mut self.arrays;
        let at = planes.len();
        planes.resize(at + width, 0);
        game.write_planes(&position.state, &mut planes[at..]);
        let at = legal.len();
        legal.resize(at + game.action_count(), 0);
        game.for_each_action(&position.state, |action| legal[at + usize::from(action.0)] = 1);
        side.push(position.side.index() as u8);
        rows.extend((row as u32).to_le_bytes());
        self.text += &game.notation(position);
        self.text.push('\n');
        self.count += 1;
    }
}

/// The files of an export that are being written.
struct Files {
    arrays: [Stream; 4],
    text: BufWriter<File>,
    text_path: PathBuf,
    text_sum: crc32fast::Hasher,
    count: u64,
}

impl Files {
    fn create(folder: &Folder) -> Result<Files, TableError> {
        let stream = |name: &str| Stream::create(&folder.file(name));
        let [planes, legal, side, row] = ARRAYS.map(|(name, _)| stream(name));
        let text_path = folder.file(POSITIONS);
        let text = BufWriter::new(File::create(&text_path).at("write", &text_path)?);
        let text_sum = crc32fast::Hasher::new();
        Ok(Files { arrays: [planes?, legal?, side?, row?], text, text_path, text_sum, count: 0 })
    }

    fn append(&mut self, piece: &Piece) -> Result<(), TableError> {
        for (stream, bytes) in self.arrays.iter_mut().zip(&piece.arrays) {
            stream.append(bytes)?;
        }
        self.text.write_all(piece.text.as_bytes()).at("write", &self.text_path)?;
        self.text_sum.update(piece.text.as_bytes());
        self.count += piece.count;
        Ok(())
    }

    /// Writes the headers, waits for the disk, and describes the files.
    fn seal(mut self, game: &AnyGame) -> Result<BTreeMap<String, StatesFile>, TableError> {
        let (rows, columns) = game.shape();
        let planes = [self.count, game.planes().count() as u64, rows as u64, columns as u64];
        let legal = [self.count, game.action_count() as u64];
        let shapes: [&[u64]; 4] = [&planes, &legal, &[self.count], &[self.count]];
        let mut files = BTreeMap::new();
        for ((stream, (name, descr)), shape) in self.arrays.iter_mut().zip(ARRAYS).zip(shapes) {
            let mut sum = crc32fast::Hasher::new();
            sum.update(&stream.seal(descr, shape)?);
            let (payload, length) = (stream.checksum(), stream.len_bytes());
            sum.combine(&crc32fast::Hasher::new_with_initial_len(payload, length));
            files.insert(name.to_string(), StatesFile::new(Some(descr), shape, sum));
        }
        self.text.flush().at("write", &self.text_path)?;
        self.text.get_ref().sync_all().at("write", &self.text_path)?;
        let text = StatesFile::new(None, &[self.count], self.text_sum);
        files.insert(POSITIONS.to_string(), text);
        Ok(files)
    }
}

impl StatesFile {
    fn new(dtype: Option<&str>, shape: &[u64], sum: crc32fast::Hasher) -> StatesFile {
        let crc32 = format!("{:08x}", sum.finalize());
        StatesFile { dtype: dtype.map(str::to_string), shape: shape.to_vec(), crc32 }
    }
}
