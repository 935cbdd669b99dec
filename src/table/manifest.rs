//! `manifest.json`: what a table is, what it holds and how to check it.
//!
//! The manifest is plain data. It ends in a checksum of its own text, so that a changed byte in it
//! is found like one in an array.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::error::TableError;

/// What `format` says in every manifest.
pub const FORMAT: &str = "yomikiri-table";
/// The version of the format that this program writes and reads.
pub const FORMAT_VERSION: u32 = 5;

/// What the table was made from; two tables with the same identity have the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The game and board, `othello-4x6`.
    pub game: String,
    /// The version of the rules' code.
    pub rules_version: u32,
    /// `standard`, `both` (the standard board with either side to move) or `custom`.
    pub start: String,
    /// The root positions in the game's one-line notation.
    pub roots: Vec<String>,
    /// `full`: states are folded under the board's symmetries; `none`: they are not.
    pub symmetry: String,
    /// How many symmetries there are to fold: 8, 4, 2 or 1.
    pub symmetry_order: u8,
    /// States at this many plies from a root are not expanded.
    pub max_depth: Option<u32>,
    /// No layer is begun that would make the table larger than this.
    pub max_states: Option<u64>,
    /// How rows are found: `rank` if by ranking; `keys` if among sorted keys although the game has
    /// ranks; absent if among sorted keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// `kept` if rows tell whose move it is; absent if each stands for either side's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sides: Option<String>,
    /// Whether some movers may only give check, their other moves not being followed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checks_only: bool,
    /// `derived` if rows are sorted keys whose moves are not stored; otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transitions: Option<String>,
}

impl Identity {
    /// Whether rows are found by the rank of the state, and not among sorted keys.
    pub fn is_by_rank(&self) -> bool {
        self.index.as_deref() == Some("rank")
    }

    /// Whether rows are sorted keys whose moves are not stored.
    pub fn is_derived(&self) -> bool {
        self.transitions.as_deref() == Some("derived")
    }
}

/// How many states of each sort there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// All of them.
    pub states: u64,
    /// Those in which the game is over.
    pub terminals: u64,
    /// Those in which the mover must pass.
    pub passes: u64,
    /// Those at the bound of the enumeration, their moves not followed.
    pub frontier: u64,
    /// Moves, passes among them, out of all of them.
    pub transitions: u64,
}

impl Tally {
    /// The tally of so many times as many states.
    pub fn times(&self, factor: u64) -> Tally {
        Tally {
            states: self.states * factor,
            terminals: self.terminals * factor,
            passes: self.passes * factor,
            frontier: self.frontier * factor,
            transitions: self.transitions * factor,
        }
    }

    /// Adds another tally; what a file says may be more than there are numbers for.
    pub fn add(&mut self, other: &Tally) {
        self.states = self.states.saturating_add(other.states);
        self.terminals = self.terminals.saturating_add(other.terminals);
        self.passes = self.passes.saturating_add(other.passes);
        self.frontier = self.frontier.saturating_add(other.frontier);
        self.transitions = self.transitions.saturating_add(other.transitions);
    }
}

/// The counts of a layer or of a whole table. Tables of cyclic games know only their rows; the
/// other counts come of orientations, which tables of layered games always have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// The rows of the table: states as they are folded.
    pub table: Tally,
    /// The actual positions: a board and the side to move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reachable: Option<Tally>,
    /// Boards, whoever is to move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct_boards: Option<u64>,
    /// Positions as the mover sees them, colours forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mover_relative: Option<u64>,
    /// Mover-relative states up to the board's symmetries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical: Option<u64>,
    /// Rows in which the game is over and won by the mover; tables found by rank count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminals_won: Option<u64>,
}

impl Counts {
    /// Every number.
    fn all(&self) -> impl Iterator<Item = u64> {
        let tallies = [self.table, self.reachable()].into_iter();
        let others =
            [self.distinct_boards, self.mover_relative, self.canonical, self.terminals_won];
        tallies
            .flat_map(|t| [t.states, t.terminals, t.passes, t.frontier, t.transitions])
            .chain(others.into_iter().flatten())
    }

    /// The actual positions; none where they were not counted.
    pub fn reachable(&self) -> Tally {
        self.reachable.unwrap_or_default()
    }

    /// Boards, whoever is to move; 0 where they were not counted.
    pub fn distinct_boards(&self) -> u64 {
        self.distinct_boards.unwrap_or_default()
    }

    /// Positions as the mover sees them; 0 where they were not counted.
    pub fn mover_relative(&self) -> u64 {
        self.mover_relative.unwrap_or_default()
    }

    /// Mover-relative states up to the board's symmetries; 0 where they were not counted.
    pub fn canonical(&self) -> u64 {
        self.canonical.unwrap_or_default()
    }

    /// Adds the counts of another layer; layers share no state.
    pub fn add(&mut self, other: &Counts) {
        let add = |own: &mut Option<u64>, other: Option<u64>| {
            *own = own.zip(other).map(|(a, b)| a.saturating_add(b)).or(*own).or(other);
        };
        self.table.add(&other.table);
        if let Some(other) = &other.reachable {
            self.reachable.get_or_insert_default().add(other);
        }
        add(&mut self.distinct_boards, other.distinct_boards);
        add(&mut self.mover_relative, other.mover_relative);
        add(&mut self.canonical, other.canonical);
        add(&mut self.terminals_won, other.terminals_won);
    }
}

/// One array of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayEntry {
    /// NumPy's name of the scalar type.
    pub dtype: String,
    /// Its shape, in C order.
    pub shape: Vec<u64>,
    /// CRC-32 (IEEE) of the payload, in hexadecimal.
    pub crc32: String,
}

/// One sweep of value iteration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SweepRecord {
    /// The largest change of a value in the sweep; its unit is the solution's `residual_unit`.
    pub residual: f64,
    /// How many states' values changed.
    pub changed: u64,
    /// How many states are decided after it; of cyclic games only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<u64>,
}

/// How the exact columns (`outcome`, `score`, `distance`) were computed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Solution {
    /// `retrograde` or `value-iteration`; absent in layered games, which know only the latter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// What infinite play counts for, in cyclic games: `draw`, `second-player-wins` or `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetition: Option<String>,
    /// What squares left empty at the end count for, in layered games: `uncounted` or `to-winner`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empties: Option<String>,
    /// `topological` or `natural`, in layered games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// Sweeping stopped when the residual was below; in layered games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theta: Option<f64>,
    /// The unit of the residuals.
    pub residual_unit: String,
    /// Every sweep, the last one with residual 0.
    pub sweeps: Vec<SweepRecord>,
    /// How many states have proven outcomes; all of them in a complete table.
    pub proven_outcomes: u64,
    /// How many states have proven scores, in layered games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven_scores: Option<u64>,
    /// How many states have exact distances.
    pub exact_distances: u64,
    /// The value of each root, for its mover; `null` where the table does not prove it.
    pub roots: Vec<RootValue>,
}

/// The value of a root, for its mover.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RootValue {
    /// −1, 0 or +1.
    pub outcome: Option<i8>,
    /// The score.
    pub score: Option<i8>,
    /// Plies to the end.
    pub distance: Option<u16>,
}

/// How the discounted column (`value`) was computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Discounted {
    /// The factor γ that a ply costs.
    pub discount: f64,
    /// `uncounted` or `to-winner`: what squares left empty at the end count for; absent in games
    /// without scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empties: Option<String>,
    /// `topological` or `natural`.
    pub order: String,
    /// Sweeping stopped when the residual was below.
    pub theta: f64,
    /// Every sweep; residuals are changes of the value.
    pub sweeps: Vec<SweepRecord>,
    /// The value of each root, for its mover.
    pub roots: Vec<f32>,
}

/// A table's description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Always [`FORMAT`].
    pub format: String,
    /// The version of the format.
    pub format_version: u32,
    /// What the table was made from.
    pub identity: Identity,
    /// Whether every state reachable from the roots is in the table, none at a frontier.
    pub complete: bool,
    /// What the values and arrays mean, in words.
    pub conventions: BTreeMap<String, String>,
    /// The layer of the first entry of `layers`; in Othello its disc count.
    pub first_layer: u32,
    /// The whole table's counts.
    pub counts: Counts,
    /// The counts layer by layer.
    pub layers: Vec<Counts>,
    /// The row in `keys` of each root.
    pub root_ids: Vec<u64>,
    /// The arrays, by name; each lies in the file `NAME.npy`, but for the columns of solutions, whose
    /// files are called `NAME-CRC32.npy`.
    pub arrays: BTreeMap<String, ArrayEntry>,
    /// Of a packed table, the arrays of the one that was packed, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub packed: BTreeMap<String, ArrayEntry>,
    /// Present once the table is solved.
    pub solution: Option<Solution>,
    /// Present once the table has discounted values.
    pub discounted: Option<Discounted>,
    /// CRC-32 of the manifest's text with this field's digits replaced by zeros.
    pub checksum: String,
}

/// Every column that a solution may have.
pub const SOLUTION_COLUMNS: [&str; 9] = [
    "outcome",
    "score",
    "distance",
    "lower",
    "upper",
    "score_lower",
    "score_upper",
    "prospect_lower",
    "prospect_upper",
];
/// The column of discounted values.
pub const DISCOUNTED_COLUMN: &str = "value";

/// Whether an array is a column that solving writes.
fn is_column(name: &str) -> bool {
    SOLUTION_COLUMNS.contains(&name) || name == DISCOUNTED_COLUMN
}

/// The column that a file holds, by its name.
pub fn column_in(file: &str) -> Option<&str> {
    let (name, crc32) = file.strip_suffix(".npy")?.rsplit_once('-')?;
    (is_column(name) && is_checksum(crc32)).then_some(name)
}

fn is_checksum(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// More layers than any table has, and more than a table has of anything that is counted: so much
/// can be multiplied by the symmetries and added up.
const MOST_LAYERS: usize = 1 << 16;
const MOST: u64 = 1 << 42;

const CHECKSUM_FIELD: &str = "\"checksum\": \"";

impl Manifest {
    /// Whether rows and values are in compressed blocks.
    pub fn is_packed(&self) -> bool {
        !self.packed.is_empty()
    }

    /// The names of the columns of solutions.
    pub fn columns(&self) -> impl Iterator<Item = &String> {
        self.arrays.keys().filter(|name| is_column(name))
    }

    /// What the file of an array is called.
    pub fn file_of(&self, name: &str) -> String {
        match self.arrays.get(name) {
            Some(entry) if is_column(name) => format!("{name}-{}.npy", entry.crc32),
            _ => format!("{name}.npy"),
        }
    }

    /// The manifest's text, its checksum filled in.
    pub fn to_text(&self) -> String {
        let mut blank = self.clone();
        blank.checksum = "00000000".to_string();
        let text = serde_json::to_string_pretty(&blank).expect("a manifest is plain data") + "\n";
        let sum = format!("{CHECKSUM_FIELD}{:08x}\"", crc32fast::hash(text.as_bytes()));
        text.replace(&format!("{CHECKSUM_FIELD}00000000\""), &sum)
    }

    /// Reads a manifest, naming `path` in errors.
    pub fn from_text(text: &str, path: &Path) -> Result<Manifest, TableError> {
        /// What tells whether the rest can be read.
        #[derive(Deserialize)]
        struct Head {
            format: Option<serde_json::Value>,
            format_version: Option<serde_json::Value>,
        }
        let foreign =
            |what: String| TableError::Foreign { path: path.to_path_buf(), what: what.into() };
        let head: Head = serde_json::from_str(text)
            .map_err(|e| TableError::damaged(path, format!("it is not whole JSON ({e})")))?;
        match head.format.as_ref().and_then(|f| f.as_str()) {
            Some(FORMAT) => {}
            Some(other) => return Err(foreign(format!("its format is '{other}'"))),
            None => return Err(foreign("it names no format".to_string())),
        }
        let found = head.format_version.and_then(|v| v.as_u64()).unwrap_or(0);
        if found != u64::from(FORMAT_VERSION) {
            return Err(TableError::Version {
                path: path.to_path_buf(),
                found,
                expected: FORMAT_VERSION,
            });
        }
        let manifest: Manifest = serde_json::from_str(text)
            .map_err(|e| TableError::damaged(path, format!("a field is wrong ({e})")))?;
        let sum = format!("{CHECKSUM_FIELD}{}\"", manifest.checksum);
        let blank = text.replace(&sum, &format!("{CHECKSUM_FIELD}00000000\""));
        if format!("{:08x}", crc32fast::hash(blank.as_bytes())) != manifest.checksum {
            return Err(TableError::damaged(path, "its text does not match its checksum"));
        }
        match manifest.impossible() {
            None => Ok(manifest),
            Some(what) => Err(TableError::damaged(path, what)),
        }
    }

    /// What no table can have, so that counts can be added up and names be those of files.
    fn impossible(&self) -> Option<String> {
        let plain = |c: char| c.is_ascii_lowercase() || c == '_';
        let mut arrays = self.arrays.keys().chain(self.packed.keys());
        if let Some(name) = arrays.find(|name| !name.chars().all(plain)) {
            return Some(format!("'{}' is no name of an array", name.escape_debug()));
        }
        // They become parts of paths too.
        if let Some((name, _)) = self.arrays.iter().find(|(_, entry)| !is_checksum(&entry.crc32)) {
            return Some(format!("the checksum of '{name}' is none"));
        }
        let counts = self.layers.iter().chain([&self.counts]);
        if self.layers.len() > MOST_LAYERS || counts.flat_map(Counts::all).any(|n| n > MOST) {
            return Some("its counts are larger than those of any table".to_string());
        }
        None
    }
}

/// How many bytes a manifest may have: one of some hundred layers and roots has some hundred
/// thousand.
const MOST_BYTES: u64 = 64 << 20;

/// The bytes of the file of a manifest; fails too where it is longer than any manifest.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let found = fs::metadata(path)?;
    if !found.is_file() || found.len() > MOST_BYTES {
        let what = format!("it is no file of at most {MOST_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    fs::read(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_counted_stays_out_of_sums_and_of_the_text() {
        let rows = Tally { states: 2, ..Tally::default() };
        let rows_only = Counts { table: rows, ..Counts::default() };
        let whole = Counts { reachable: Some(rows), canonical: Some(2), ..rows_only };
        let mut sum = Counts::default();
        sum.add(&rows_only);
        assert_eq!(sum, rows_only);
        assert_eq!(serde_json::to_value(sum).unwrap().as_object().unwrap().len(), 1);
        sum.add(&whole);
        sum.add(&whole);
        assert_eq!((sum.table.states, sum.reachable().states, sum.canonical()), (6, 4, 4));
        let text = serde_json::to_string(&sum).unwrap();
        assert_eq!(serde_json::from_str::<Counts>(&text).unwrap(), sum);
    }
}
