//! Labels: exact values of moves found by search and stored in a file.
//!
//! The file begins with [`HEAD`] bytes: `YKLABEL2`, the settings of the search, the version of the game's
//! rules and its name. A record for each position follows: its key (two `u64`), its number of moves (`u16`),
//! the value of each move in the order of actions (two `i32`, the bounds for the player who makes it), and a CRC-32 of
//! these bytes, all little endian. Records are appended; an incomplete one left at the end by a killed process is
//! cut off.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use yomikiri::error::{Error, Kind};
use yomikiri::oracle::empty_squares;
use yomikiri::output::{NotOurs, failure, is_foreign, is_full, kept};
use yomikiri::parallel;
use yomikiri::progress::Progress;
use yomikiri::rules::{
    Action, AnyPosition, AnyState, Empties, Rules, Score, SearchLimits, SearchOptions,
};
use yomikiri::search::{SearchTask, Searcher, searcher};
use yomikiri::solve::Value;
use yomikiri::table::IoContext;

/// Bytes before the first record.
const HEAD: usize = 64;
/// Bytes of a record besides its values, and of a value.
const FRAME: usize = 16 + 2 + 4;
const VALUE: usize = size_of::<Value>();
/// Time after which the labels of searched positions are written, about, and most positions until then.
const WRITTEN_AFTER: Duration = Duration::from_secs(1);
const AT_ONCE: usize = 4096;
/// Maximum bytes of the transposition tables of all threads.
const MEMORY: usize = 1 << 30;
/// Maximum number of positions of the search for forced wins after a move, some seconds: one may otherwise hold up a
/// list.
const WIN_NODES: u64 = 1 << 20;
/// Memory of a search for forced wins, of which most are short.
const WIN_MEMORY: usize = 1 << 22;

/// Estimated cost of a search for positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchCost {
    /// Number of positions.
    pub positions: u64,
    /// Empty squares of the one with the most, in games that count discs.
    pub most_empty: Option<u32>,
    /// Estimated seconds of all threads together; `None` in other games.
    pub seconds: Option<f64>,
}

impl SearchCost {
    /// Estimates the cost of searching positions; `None` if there are none.
    pub fn of(game: &dyn Rules, positions: &[AnyPosition]) -> Option<SearchCost> {
        let (rows, columns) = game.shape();
        let squares = game.has_scores().then_some(rows * columns);
        let empty = |position: &AnyPosition| empty_squares(game, &position.state);
        let seconds = |position| Some(search_seconds(squares, empty(position)?));
        let all: Option<f64> = positions.iter().map(seconds).sum();
        (!positions.is_empty()).then(|| SearchCost {
            positions: positions.len() as u64,
            most_empty: positions.iter().filter_map(empty).max(),
            seconds: all.map(|seconds| seconds / rayon::current_num_threads() as f64),
        })
    }
}

/// Estimates the seconds in which one thread finds the scores of all moves of a position of a random game. Measured on
/// a core of 2.0 GHz: Othello, 2 ms with 12 empty squares on 8×8 and 6×6; each further one multiplies them by 2.5 and 1.9.
/// Without scores, by the number of squares: Connect Four, 0.04 ms with 18, and 1.8 times as many for each further one.
fn search_seconds(squares: Option<usize>, empty: u32) -> f64 {
    let Some(squares) = squares else { return 0.000_04 * 1.81f64.powf(f64::from(empty) - 18.0) };
    let growth = 1.9 + 0.6 * (squares as f64 - 36.0) / 28.0;
    0.002 * growth.powf(f64::from(empty) - 12.0)
}

/// Conventions and limits on which labels depend.
#[derive(Clone, Copy, Debug)]
pub(super) struct LabelSettings {
    /// Scoring of empty squares.
    pub empties: Empties,
    /// Plies within which forced wins are looked for, in games of the shogi family.
    pub win_plies: u32,
}

impl LabelSettings {
    /// Returns the name of the settings on which the values of a game depend.
    fn name(self, game: &dyn Rules) -> String {
        match game.is_layered() {
            true => self.empties.name().to_string(),
            false => format!("plies{}", self.win_plies),
        }
    }
}

/// Values of the moves of positions, each for the player who makes the move.
pub(super) struct Labels {
    game: Arc<dyn Rules>,
    settings: LabelSettings,
    /// Locked for appending; the reason in words if it cannot be written.
    file: Result<File, String>,
    path: PathBuf,
    known: FxHashMap<u128, Vec<Value>>,
}

impl Labels {
    /// Opens or creates the labels of a game in a directory; where nothing can be written, those found are kept in memory
    /// alone. Fails if they are damaged, of another version, or in use by another process, or if the disk is full.
    pub(super) fn open(
        dir: &Path,
        game: &dyn Rules,
        settings: LabelSettings,
    ) -> Result<Labels, Error> {
        let path = dir.join(format!("{}-{}.labels", game.name(), settings.name(game)));
        let head = head(game, settings);
        let damaged = |what: String| damaged(&path, &what);
        let read = |bytes: &[u8]| match bytes.starts_with(&head) {
            true => records(bytes, game).map_err(damaged),
            false => Err(damaged("invalid header for the labels of this game".to_string())),
        };
        let created = match dir.is_symlink() {
            true => Err(NotOurs::link()),
            false => fs::create_dir_all(dir),
        };
        let (file, known) = match created.and_then(|()| kept(&path)) {
            Ok(mut file) => {
                lock(&file, &path)?;
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).at("read", &path)?;
                if bytes.len() < HEAD && head.starts_with(&bytes) {
                    let begun = file.set_len(0).and_then(|()| file.rewind());
                    begun.and_then(|()| file.write_all(&head)).at("write", &path)?;
                    bytes = head.to_vec();
                }
                let (known, whole) = read(&bytes)?;
                let cut = file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0)));
                cut.at("write", &path)?;
                (Ok(file), known)
            }
            Err(error) if is_full(&error) || is_foreign(&error) => Err(error).at("write", &path)?,
            Err(error) => {
                let known = match fs::read(&path) {
                    Ok(bytes) => read(&bytes)?.0,
                    Err(_) => FxHashMap::default(),
                };
                (Err(error.to_string()), known)
            }
        };
        Ok(Labels { game: game.shared(), settings, file, path, known })
    }

    /// Searches the positions that have no labels yet, those nearest to the end first, and appends theirs to the file
    /// about every second. Positions whose search does not end before a time or a flag of `limits` get none. Fails for a game
    /// that cannot be searched.
    pub(super) fn find(
        &mut self,
        positions: &[AnyPosition],
        limits: &SearchLimits<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let mut met = FxHashSet::default();
        let mut is_new = |position: &&AnyPosition| {
            !self.has(&position.state) && met.insert(self.game.key(&position.state))
        };
        let mut wanted: Vec<AnyState> =
            positions.iter().filter(&mut is_new).map(|position| position.state).collect();
        wanted.sort_by_key(|state| Reverse(self.game.layer(state)));
        if wanted.is_empty() {
            return Ok(());
        }
        let threads = rayon::current_num_threads();
        let options = SearchOptions {
            empties: self.settings.empties,
            win_plies: self.settings.win_plies,
            // An upper limit: tables of scores grow only as large as a search can use.
            memory: if self.game.is_layered() { MEMORY / threads } else { WIN_MEMORY },
            ..SearchOptions::default()
        };
        let searchers: Option<Vec<_>> =
            (0..threads).map(|_| searcher(&*self.game, &options)).collect();
        let searchers = searchers.ok_or_else(|| {
            let what = format!("{} cannot be searched", self.game.name());
            Error::new(what, "give the name of a solved table")
        })?;
        progress.begin_with("searching", Some(wanted.len() as u64), "positions");
        let (mut left, mut count) = (&wanted[..], threads);
        while !left.is_empty() {
            let (chunk, others) = left.split_at(count.min(left.len()));
            let begun = Instant::now();
            // Neighbours go to one thread and share its transposition table.
            let each = chunk.len().div_ceil(threads);
            let found = parallel::try_map(threads, &|thread| {
                let from = (thread * each).min(chunk.len());
                let states = &chunk[from..(from + each).min(chunk.len())];
                let search = |state: &AnyState| {
                    progress.advance(1);
                    values(&*self.game, searchers[thread].as_ref(), limits, state)
                };
                Ok::<_, Error>(states.iter().map(search).collect::<Vec<_>>())
            })?;
            let mut bytes = Vec::new();
            for (state, values) in chunk.iter().zip(found.into_iter().flatten()) {
                let (key, Some(values)) = (self.game.key(state), values) else { continue };
                if let Entry::Vacant(vacant) = self.known.entry(key) {
                    record(self.game.facts().words(key), &values, &mut bytes);
                    vacant.insert(values);
                }
            }
            // In the order of the positions, however many are searched at a time.
            if let Ok(file) = &mut self.file {
                file.write_all(&bytes).at("write", &self.path)?;
            }
            let is_long = begun.elapsed() > WRITTEN_AFTER;
            count = if is_long { (count / 2).max(threads) } else { (count * 2).min(AT_ONCE) };
            left = others;
        }
        match &self.file {
            Ok(file) => {
                file.sync_data().at("write", &self.path)?;
                progress.finish("values found by search");
            }
            Err(why) => {
                let place = self.path.display();
                progress.finish(&format!("values found by search, not kept in {place}: {why}"));
            }
        }
        Ok(())
    }

    /// Returns `true` if a position has a label.
    pub(super) fn has(&self, state: &AnyState) -> bool {
        self.known.contains_key(&self.game.key(state))
    }

    /// Returns the moves of a position with their values; `None` if it has no label.
    pub(super) fn moves(&self, state: &AnyState) -> Result<Option<Vec<(Action, Value)>>, Error> {
        let Some(values) = self.known.get(&self.game.key(state)) else { return Ok(None) };
        let actions = self.game.actions(state);
        if actions.len() != values.len() {
            let what = "numbers of moves of a record and its position differ";
            return Err(damaged(&self.path, what));
        }
        Ok(Some(actions.into_iter().zip(values.iter().copied()).collect()))
    }
}

/// Returns the error for a damaged file of labels.
fn damaged(path: &Path, what: &str) -> Error {
    let what = format!("{} is damaged: {what}", path.display());
    let hint = "delete the file: its positions are searched again";
    Error::new(what, hint).of_kind(Kind::Damaged)
}

/// Locks labels for writing; fails if another process has.
fn lock(file: &File, path: &Path) -> Result<(), Error> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => {
            let what = format!("{} is in use by another process", path.display());
            let hint = "wait for it, or give another --tables";
            Error::new(what, hint)
        }
        TryLockError::Error(source) => failure("lock", path, source),
    })
}

fn head(game: &dyn Rules, settings: LabelSettings) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    let text =
        format!("YKLABEL2{} {} {}", settings.name(game), game.facts().rules_version, game.name());
    let length = text.len().min(HEAD);
    head[..length].copy_from_slice(&text.as_bytes()[..length]);
    head
}

/// Reads the records behind the head, checking numbers of moves and values against the game; returns also the
/// length of the complete records.
fn records(bytes: &[u8], game: &dyn Rules) -> Result<(FxHashMap<u128, Vec<Value>>, usize), String> {
    let most = game.max_score().map_or(1, |most| most.0);
    let mut known = FxHashMap::default();
    let mut at = HEAD;
    while let Some(frame) = bytes.get(at..at + 18) {
        let word = |from: usize| {
            let word = frame[from..from + 8].try_into();
            u64::from_le_bytes(word.expect("eight bytes"))
        };
        let count = usize::from(u16::from_le_bytes([frame[16], frame[17]]));
        if count > game.action_count() {
            return Err(format!("record at byte {at}: too many moves ({count})"));
        }
        let Some(record) = bytes.get(at..at + FRAME + VALUE * count) else { break };
        let (content, sum) = record.split_at(record.len() - 4);
        if crc32fast::hash(content).to_le_bytes() != sum {
            return Err(format!("record at byte {at}: wrong checksum"));
        }
        let values = content[18..].chunks_exact(VALUE).map(bytemuck::pod_read_unaligned);
        let values: Vec<Value> = values.collect();
        if let Some(value) = values.iter().find(|value| !value.is_within(Score(most))) {
            return Err(format!("record at byte {at}: invalid value {value:?}"));
        }
        known.insert(game.facts().key([word(0), word(8)]), values);
        at += record.len();
    }
    Ok((known, at))
}

fn record(words: [u64; 2], values: &[Value], out: &mut Vec<u8>) {
    let from = out.len();
    words.iter().for_each(|word| out.extend(word.to_le_bytes()));
    out.extend((values.len() as u16).to_le_bytes());
    out.extend(bytemuck::cast_slice(values));
    let sum = crc32fast::hash(&out[from..]);
    out.extend(sum.to_le_bytes());
}

/// Searches the value of each move of a state, for the player who makes it, exactly in games that always end; `None` if
/// a limit is reached.
fn values(
    game: &dyn Rules,
    searcher: &dyn Searcher,
    limits: &SearchLimits<'_>,
    state: &AnyState,
) -> Option<Vec<Value>> {
    let is_layered = game.is_layered();
    let nodes = (!is_layered).then_some(WIN_NODES);
    let limits = SearchLimits { nodes, ..*limits };
    let (mut values, mut is_done) = (Vec::new(), true);
    game.moves(state, |_, after| {
        is_done &= !limits.are_reached(0);
        if !is_done {
            return;
        }
        let value = searcher.search(&after, &SearchTask::EXACT, &limits).value;
        values.push(value.turned(is_layered));
        is_done = match is_layered {
            true => value.score().is_some(),
            false => !limits.are_reached(0),
        };
    });
    is_done.then_some(values)
}
