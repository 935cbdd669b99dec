//! `manifest.json`: identity, content and checksums of a table.
//!
//! The manifest is plain data. It ends in a checksum of its own text, so a changed byte is detected as
//! in an array.

use crate::error::{Error, Kind};
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

/// Value of `format` in every manifest.
pub const FORMAT: &str = "yomikiri-table";
/// Version of the format that this program writes and reads.
pub const FORMAT_VERSION: u32 = 6;

/// Inputs that determine a table: two tables with the same identity have the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Game and board: `othello-4x6`.
    pub game: String,
    /// Version of the rules' code.
    pub rules_version: u32,
    /// `standard`, `both` (the standard board with either side to move) or `custom`.
    pub start: String,
    /// Root positions in the game's one-line notation.
    pub roots: Vec<String>,
    /// `full` if states are folded under the board's symmetries, `none` if not.
    pub symmetry: String,
    /// Number of symmetries that states are folded under: 8, 4, 2 or 1.
    pub symmetry_order: u8,
    /// States at this many plies from a root are not expanded.
    pub max_depth: Option<u32>,
    /// Enumeration stopped before a layer that would exceed this many states.
    pub max_states: Option<u64>,
    /// Index of rows: `rank` for ranks; `keys` for sorted keys of a game that has ranks; absent for
    /// sorted keys otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// `kept` if a row includes the side to move; absent if it stands for both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sides: Option<String>,
    /// `derived` if rows are sorted keys whose moves are not stored; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transitions: Option<String>,
    /// Number of the part, from 0, and of all parts, if the table holds the rows of one of several workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<[usize; 2]>,
    /// Checksum of the states and moves of a [listed game](ListedFacts); absent for games that are rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listing: Option<String>,
}

impl Identity {
    /// Returns whether rows are indexed by rank, not by sorted keys.
    pub fn is_by_rank(&self) -> bool {
        self.index.as_deref() == Some("rank")
    }

    /// Returns whether rows are sorted keys whose moves are not stored.
    pub fn is_derived(&self) -> bool {
        self.transitions.as_deref() == Some("derived")
    }
}

/// Facts about a game that is a list of states, beside its arrays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedFacts {
    /// Name of the game for headings.
    pub title: String,
    /// Number of the state in which the game begins.
    pub start: u32,
    /// `true` if results are scores.
    pub has_scores: bool,
    /// Number of actions.
    pub actions: u16,
    /// Action that is a pass.
    pub pass: Option<u16>,
    /// Number of planes, rows and columns; zeros without planes.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub grid: [u32; 3],
    /// Mark in texts that stands for the breaks of lines; empty if they have none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub line_break: String,
}

fn is_empty(grid: &[u32; 3]) -> bool {
    *grid == [0; 3]
}

/// Numbers of states and moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// All states.
    pub states: u64,
    /// States in which the game is over.
    pub terminals: u64,
    /// States in which the mover must pass.
    pub passes: u64,
    /// States at the bound of the enumeration, whose moves were not followed.
    pub frontier: u64,
    /// Moves out of all states, passes included.
    pub transitions: u64,
}

impl Tally {
    /// Returns the tally with every number multiplied by `factor`.
    pub fn times(&self, factor: u64) -> Tally {
        Tally {
            states: self.states * factor,
            terminals: self.terminals * factor,
            passes: self.passes * factor,
            frontier: self.frontier * factor,
            transitions: self.transitions * factor,
        }
    }

    /// Adds another tally. Sums saturate, because a file may contain any number.
    pub fn add(&mut self, other: &Tally) {
        self.states = self.states.saturating_add(other.states);
        self.terminals = self.terminals.saturating_add(other.terminals);
        self.passes = self.passes.saturating_add(other.passes);
        self.frontier = self.frontier.saturating_add(other.frontier);
        self.transitions = self.transitions.saturating_add(other.transitions);
    }
}

/// Counts of a layer or of a whole table. Tables of cyclic games count only their rows; the other counts
/// need orientations, which tables of layered games always have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Rows of the table: states up to the symmetries of `identity`.
    pub table: Tally,
    /// Positions: a board and the side to move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reachable: Option<Tally>,
    /// Boards, whoever is to move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct_boards: Option<u64>,
    /// Positions as the mover sees them, whatever the mover's colour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mover_relative: Option<u64>,
    /// Mover-relative states up to the board's symmetries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical: Option<u64>,
    /// Rows in which the game is over and the mover has won; counted by rank only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminals_won: Option<u64>,
}

impl Counts {
    /// Returns every number.
    fn all(&self) -> impl Iterator<Item = u64> {
        let tallies = [self.table, self.reachable()].into_iter();
        let others =
            [self.distinct_boards, self.mover_relative, self.canonical, self.terminals_won];
        tallies
            .flat_map(|t| [t.states, t.terminals, t.passes, t.frontier, t.transitions])
            .chain(others.into_iter().flatten())
    }

    /// Returns the counts of positions; zeros if they were not counted.
    pub fn reachable(&self) -> Tally {
        self.reachable.unwrap_or_default()
    }

    /// Returns the number of boards, whoever is to move; 0 if not counted.
    pub fn distinct_boards(&self) -> u64 {
        self.distinct_boards.unwrap_or_default()
    }

    /// Returns the number of positions as the mover sees them; 0 if not counted.
    pub fn mover_relative(&self) -> u64 {
        self.mover_relative.unwrap_or_default()
    }

    /// Returns the number of mover-relative states up to symmetries; 0 if not counted.
    pub fn canonical(&self) -> u64 {
        self.canonical.unwrap_or_default()
    }

    /// Adds the counts of another layer. Layers share no state.
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

/// Type, shape and checksum of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayEntry {
    /// NumPy's name of the scalar type.
    pub dtype: String,
    /// Shape, in C order.
    pub shape: Vec<u64>,
    /// CRC-32 (IEEE) of the payload, in hexadecimal.
    pub crc32: String,
}

/// One sweep of value iteration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SweepRecord {
    /// Largest change of a value in the sweep, in the solution's `residual_unit`.
    pub residual: f64,
    /// Number of states whose values changed.
    pub changed: u64,
    /// Number of states decided after the sweep, in cyclic games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<u64>,
}

/// Computation of the exact columns (`outcome`, `score`, `distance`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Solution {
    /// `retrograde` or `value-iteration`; absent in layered games, which always use the latter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Value of infinite play, in cyclic games: `draw`, `second-player-wins` or `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetition: Option<String>,
    /// Scoring of squares left empty at the end, in layered games: `uncounted` or `to-winner`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empties: Option<String>,
    /// `topological` or `natural`, in layered games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// Residual below which sweeping stopped, in layered games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theta: Option<f64>,
    /// Unit of the residuals.
    pub residual_unit: String,
    /// All sweeps; the last one has residual 0.
    pub sweeps: Vec<SweepRecord>,
    /// Number of states with proven outcomes; all states in a complete table.
    pub proven_outcomes: u64,
    /// Number of states with proven scores, in layered games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven_scores: Option<u64>,
    /// Number of states with exact distances.
    pub exact_distances: u64,
    /// Value of each root, for its mover; `null` where not proven.
    pub roots: Vec<RootValue>,
}

/// Value of a root, for its mover.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RootValue {
    /// −1, 0 or +1.
    pub outcome: Option<i8>,
    /// Score at the end.
    pub score: Option<i8>,
    /// Plies to the end.
    pub distance: Option<u16>,
}

/// Computation of the discounted column (`value`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Discounted {
    /// Factor γ per ply.
    pub discount: f64,
    /// Scoring of squares left empty at the end: `uncounted` or `to-winner`; absent in games without scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empties: Option<String>,
    /// `topological` or `natural`.
    pub order: String,
    /// Residual below which sweeping stopped.
    pub theta: f64,
    /// All sweeps; residuals are changes of the value.
    pub sweeps: Vec<SweepRecord>,
    /// Value of each root, for its mover.
    pub roots: Vec<f32>,
}

/// Description of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Always [`FORMAT`].
    pub format: String,
    /// Version of the format.
    pub format_version: u32,
    /// Inputs that determine the table.
    pub identity: Identity,
    /// `true` if the table has every state reachable from the roots, none of them at a frontier.
    pub complete: bool,
    /// The game, if it is a list of states, whose arrays begin with `game_`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed: Option<ListedFacts>,
    /// Meaning of the values and arrays, in words.
    pub conventions: BTreeMap<String, String>,
    /// Layer of the first entry of `layers`; in Othello its disc count.
    pub first_layer: u32,
    /// Counts of the whole table.
    pub counts: Counts,
    /// Counts of each layer.
    pub layers: Vec<Counts>,
    /// Row of each root.
    pub root_ids: Vec<u64>,
    /// Arrays by name. Each lies in the file `NAME.npy`, but a column of a solution lies in `NAME-CRC32.npy`.
    pub arrays: BTreeMap<String, ArrayEntry>,
    /// Arrays of the original table, by name, if this one is packed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub packed: BTreeMap<String, ArrayEntry>,
    /// Present if the table is solved.
    pub solution: Option<Solution>,
    /// Present if the table has discounted values.
    pub discounted: Option<Discounted>,
    /// CRC-32 of the manifest's text with this field's digits replaced by zeros.
    pub checksum: String,
}

/// Names of all columns that a solution may have.
pub const SOLUTION_COLUMNS: [&str; 9] = [
    "score",
    "score_lower",
    "score_upper",
    "outcome",
    "outcome_lower",
    "outcome_upper",
    "distance",
    "distance_lower",
    "distance_upper",
];
/// Name of the column of discounted values.
pub const DISCOUNTED_COLUMN: &str = "value";

/// Returns whether an array is a column written by solving.
fn is_column(name: &str) -> bool {
    SOLUTION_COLUMNS.contains(&name) || name == DISCOUNTED_COLUMN
}

/// Returns the name of the column that a file contains, by the file's name.
pub fn column_in(file: &str) -> Option<&str> {
    let (name, crc32) = file.strip_suffix(".npy")?.rsplit_once('-')?;
    (is_column(name) && is_checksum(crc32)).then_some(name)
}

pub(super) fn is_checksum(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// Upper bounds of the number of layers and of every count: products with the number of symmetries, and
/// their sums, do not overflow.
const MOST_LAYERS: usize = 1 << 16;
const MOST: u64 = 1 << 42;

const CHECKSUM_FIELD: &str = "\"checksum\": \"";

impl Manifest {
    /// Returns `true` if columns contain bounds of values, not all of which are proven.
    pub fn has_bounds(&self) -> bool {
        ["score_lower", "outcome_lower"].into_iter().any(|name| self.arrays.contains_key(name))
    }

    /// Returns whether rows and values are in compressed blocks.
    pub fn is_packed(&self) -> bool {
        !self.packed.is_empty()
    }

    /// Returns the names of the solutions' columns.
    pub fn columns(&self) -> impl Iterator<Item = &String> {
        self.arrays.keys().filter(|name| is_column(name))
    }

    /// Returns the file name of an array.
    pub fn file_of(&self, name: &str) -> String {
        match self.arrays.get(name) {
            Some(entry) if is_column(name) => format!("{name}-{}.npy", entry.crc32),
            _ => format!("{name}.npy"),
        }
    }

    /// Returns the manifest as text, with its checksum filled in.
    pub fn to_text(&self) -> String {
        let mut blank = self.clone();
        blank.checksum = "00000000".to_string();
        let text = serde_json::to_string_pretty(&blank).expect("a manifest is plain data") + "\n";
        let sum = format!("{CHECKSUM_FIELD}{:08x}\"", crc32fast::hash(text.as_bytes()));
        text.replace(&format!("{CHECKSUM_FIELD}00000000\""), &sum)
    }

    /// Reads a manifest. `path` is for errors only.
    pub fn from_text(text: &str, path: &Path) -> Result<Manifest, Error> {
        /// Fields that decide whether the others can be read.
        #[derive(Deserialize)]
        struct Head {
            format: Option<serde_json::Value>,
            format_version: Option<serde_json::Value>,
        }
        let head: Head = serde_json::from_str(text)
            .map_err(|e| Error::damaged(path, format!("invalid JSON ({e})")))?;
        match head.format.as_ref().and_then(|f| f.as_str()) {
            Some(FORMAT) => {}
            Some(other) => return Err(Error::foreign(path, format!("format `{other}`"))),
            None => return Err(Error::foreign(path, "missing format")),
        }
        let found = head.format_version.and_then(|v| v.as_u64()).unwrap_or(0);
        if found != u64::from(FORMAT_VERSION) {
            let what = format!(
                "unsupported table format {found} of {}: expected {FORMAT_VERSION}",
                path.display()
            );
            let hint = "remove it with 'solver remove', and enumerate it again";
            return Err(Error::new(what, hint).of_kind(Kind::Unfit));
        }
        let manifest: Manifest = serde_json::from_str(text)
            .map_err(|e| Error::damaged(path, format!("invalid field ({e})")))?;
        let sum = format!("{CHECKSUM_FIELD}{}\"", manifest.checksum);
        let blank = text.replace(&sum, &format!("{CHECKSUM_FIELD}00000000\""));
        if format!("{:08x}", crc32fast::hash(blank.as_bytes())) != manifest.checksum {
            return Err(Error::damaged(path, "wrong checksum of the manifest"));
        }
        match manifest.impossible() {
            None => Ok(manifest),
            Some(what) => Err(Error::damaged(path, what)),
        }
    }

    /// Returns what is impossible in any table, if anything: counts that would overflow, and names and
    /// checksums that are not safe as parts of paths.
    fn impossible(&self) -> Option<String> {
        let plain = |c: char| c.is_ascii_lowercase() || c == '_';
        let mut arrays = self.arrays.keys().chain(self.packed.keys());
        if let Some(name) = arrays.find(|name| !name.chars().all(plain)) {
            return Some(format!("invalid array name `{}`", name.escape_debug()));
        }
        // Checksums become parts of paths too.
        if let Some((name, _)) = self.arrays.iter().find(|(_, entry)| !is_checksum(&entry.crc32)) {
            return Some(format!("invalid checksum of '{name}'"));
        }
        let counts = self.layers.iter().chain([&self.counts]);
        if self.layers.len() > MOST_LAYERS || counts.flat_map(Counts::all).any(|n| n > MOST) {
            return Some("counts beyond the limits of a table".to_string());
        }
        None
    }
}

/// Upper bound of the size of a manifest. One with some hundred layers and roots has some hundred kilobytes.
const MOST_BYTES: u64 = 64 << 20;

/// Reads the bytes of a manifest's file. Fails if it is longer than [`MOST_BYTES`].
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let found = fs::metadata(path)?;
    if !found.is_file() || found.len() > MOST_BYTES {
        let what = format!("not a regular file of at most {MOST_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    fs::read(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_counts_stay_out_of_sums_and_of_the_text() {
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
