//! What a program has predicted beforehand, read from a directory and matched by position.

use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::dense::Dense;
use super::npy::{Numbers, Rows};
use crate::game::{Action, Game, Position, Side, StateKey};
use crate::hint::Hinted;
use crate::input;
use crate::policy::{Answers, Batch, Policy, PolicyError, TrainedOn};

/// The files that say which move is chosen, one of which there must be.
const DECIDING: [(&str, Dense); 4] = [
    ("logits.npy", Dense::Logits),
    ("probabilities.npy", Dense::Probabilities),
    ("actions.npy", Dense::Actions),
    ("scores.npy", Dense::Scores),
];

/// Predictions for many positions, from files.
///
/// `K` is the type of the game's keys. A position is one with its side to move, in its own
/// orientation: a mirror image is another.
pub struct Predictions<K> {
    dir: PathBuf,
    /// Of every position its row in the files.
    rows: FxHashMap<(K, Side), u32>,
    /// Where the answers of each row begin, and at last where they end.
    offsets: Vec<u64>,
    answers: Answers,
}

impl<K: StateKey> Predictions<K> {
    /// Reads a directory.
    ///
    /// It holds `logits.npy`, `probabilities.npy`, `actions.npy` or `scores.npy`, and may hold
    /// `values.npy`; `scores.npy` may also stand beside another of them. Which positions the rows
    /// are of follows from `positions.txt`, or `planes.npy` and `side.npy`, or by both, which must
    /// then agree.
    pub fn read<G: Game<Key = K>>(game: &G, dir: &Path) -> Result<Predictions<K>, PolicyError> {
        let mut files = Files::open(game, dir)?;
        let mut states = States::open(game, dir)?;
        let count = files.deciding.1.count();
        let mut read = Predictions {
            dir: dir.to_path_buf(),
            rows: FxHashMap::default(),
            offsets: vec![0],
            answers: Answers::default(),
        };
        if u32::try_from(count).is_err() {
            return Err(wrong(files.deciding.1.path(), "has more than 2^32 rows"));
        }
        let mut actions = Vec::new();
        for row in 0..count {
            let position = states.next(game, row, count, files.deciding.1.path())?;
            actions.clear();
            game.for_each_action(&position.state, |action| actions.push(action));
            let name = || game.notation(&position);
            read.push(&mut files, row, &actions, &name)?;
            match read.rows.entry((game.key(&position.state), position.side)) {
                Entry::Vacant(entry) => {
                    entry.insert(row as u32);
                }
                Entry::Occupied(entry) => {
                    let first = *entry.get();
                    if !read.agree(first as usize, row as usize) {
                        return Err(wrong(
                            files.deciding.1.path(),
                            format!(
                                "rows {first} and {row} are of the same position '{}' and do not agree",
                                name()
                            ),
                        ));
                    }
                }
            }
        }
        states.end(count, files.deciding.1.path())?;
        Ok(read)
    }

    /// Takes the next row of every file in.
    fn push(
        &mut self,
        files: &mut Files,
        row: u64,
        actions: &[Action],
        name: &dyn Fn() -> String,
    ) -> Result<(), PolicyError> {
        let Files { deciding: (deciding, array), scores, values, numbers } = files;
        array.next(numbers)?;
        let answers = &mut self.answers;
        deciding
            .answer(numbers, actions, scores.is_some(), name, answers)
            .map_err(|what| wrong_row(array.path(), row, what))?;
        if let Some(scores) = scores {
            scores.next(numbers)?;
            Dense::score(numbers, actions, answers)
                .map_err(|what| wrong_row(scores.path(), row, what))?;
        }
        if let Some(values) = values {
            values.next(numbers)?;
            Dense::value(numbers[0], answers)
                .map_err(|what| wrong_row(values.path(), row, what))?;
        }
        self.offsets.push(self.answers.probabilities.len() as u64);
        Ok(())
    }

    fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    /// Whether two rows say the same.
    fn agree(&self, a: usize, b: usize) -> bool {
        let same = |numbers: &[f64]| {
            numbers.is_empty() || numbers[self.range(a)] == numbers[self.range(b)]
        };
        let Answers { probabilities, scores, values, .. } = &self.answers;
        let values = values.is_empty() || values[a] == values[b];
        values && same(probabilities) && same(scores)
    }
}

impl<G: Game> Policy<G> for Predictions<G::Key> {
    fn name(&self) -> String {
        format!("predictions:{}", self.dir.display())
    }

    fn answer(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), PolicyError> {
        for position in batch.positions() {
            let row = self.rows.get(&(game.key(&position.state), position.side));
            let row = row.ok_or_else(|| {
                PolicyError::new(format!(
                    "there is no prediction for '{}'",
                    game.notation(position)
                ))
                .with_hint("predict every position that 'solver export --states' writes")
            })?;
            let row = *row as usize;
            let told = self.answers.at(row, self.range(row));
            answers.probabilities.extend_from_slice(told.probabilities);
            if !self.answers.scores.is_empty() {
                answers.scores.extend_from_slice(told.scores);
            }
            answers.values.extend(told.value);
        }
        Ok(())
    }

    fn learned_from(&self) -> TrainedOn {
        TrainedOn::Unknown
    }
}

fn wrong(path: &Path, what: impl Into<Hinted>) -> PolicyError {
    PolicyError::new(what.into().map(|what| format!("{}: {what}", path.display())))
}

fn wrong_row(path: &Path, row: u64, what: impl Into<Hinted>) -> PolicyError {
    PolicyError::new(what.into().map(|what| format!("{}, row {row}: {what}", path.display())))
}

/// The files of predictions, read in step.
struct Files {
    deciding: (Dense, Rows),
    scores: Option<Rows>,
    values: Option<Rows>,
    numbers: Vec<f64>,
}

impl Files {
    fn open<G: Game>(game: &G, dir: &Path) -> Result<Files, PolicyError> {
        if !dir.is_dir() {
            return Err(wrong(dir, "there is no such directory of predictions"));
        }
        check_game(game, dir)?;
        let there = |name: &str| dir.join(name).exists();
        let found: Vec<_> = DECIDING.into_iter().filter(|(name, _)| there(name)).collect();
        let (name, deciding) = match &found[..] {
            [one] | [one, ("scores.npy", _)] => *one,
            [] => {
                let names = DECIDING.map(|(name, _)| name).join(", ");
                return Err(wrong(
                    dir,
                    Hinted::new("holds no predictions", format!("write one of {names} there")),
                ));
            }
            [(one, _), (other, _), ..] => {
                let what = Hinted::new(
                    format!("holds both {one} and {other}"),
                    "keep the one that is meant",
                );
                return Err(wrong(dir, what));
            }
        };
        let width = [game.action_count()];
        let main = match deciding {
            Dense::Actions => Rows::open(&dir.join(name), Numbers::Integers, &[])?,
            _ => Rows::open(&dir.join(name), Numbers::Floats, &width)?,
        };
        let beside = |name: &str, row: &[usize]| -> Result<Option<Rows>, PolicyError> {
            if !there(name) {
                return Ok(None);
            }
            let rows = Rows::open(&dir.join(name), Numbers::Floats, row)?;
            same_count(&rows, main.count(), main.path())?;
            Ok(Some(rows))
        };
        let scores = if deciding == Dense::Scores { None } else { beside("scores.npy", &width)? };
        let values = beside("values.npy", &[])?;
        Ok(Files { deciding: (deciding, main), scores, values, numbers: Vec::new() })
    }
}

fn same_count(rows: &Rows, count: u64, other: &Path) -> Result<(), PolicyError> {
    if rows.count() == count {
        return Ok(());
    }
    let other = other.file_name().unwrap_or_default().to_string_lossy();
    Err(wrong(rows.path(), format!("has {} rows where {other} has {count}", rows.count())))
}

/// That an export in the directory, if there is one, is of the same game.
fn check_game<G: Game>(game: &G, dir: &Path) -> Result<(), PolicyError> {
    let path = dir.join("states.json");
    let text = match input::file(&path, input::TEXT) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(wrong(&path, format!("cannot be read: {error}"))),
    };
    let json: serde_json::Value = serde_json::from_slice(&text).map_err(|error| {
        wrong(&path, Hinted::new(format!("is no JSON ({error})"), "export the states anew"))
    })?;
    let (found, here) = (json["game"].as_str().unwrap_or_default(), game.name());
    if found != here {
        return Err(wrong(
            &path,
            format!("the states are of '{found}' where the table is of {here}"),
        ));
    }
    Ok(())
}

/// The lines of a text, none longer than a position can be.
struct Lines(BufReader<File>);

impl Iterator for Lines {
    type Item = std::io::Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        const LONGEST: u64 = 1 << 16;
        let mut line = String::new();
        match (&mut self.0).take(LONGEST).read_line(&mut line) {
            Ok(0) => None,
            Ok(read) if read as u64 == LONGEST => {
                Some(Err(std::io::Error::other("the line is longer than any position, 64 KiB")))
            }
            Ok(_) => Some(Ok(line)),
            Err(error) => Some(Err(error)),
        }
    }
}

/// Which positions the rows are of, read in step with them.
struct States {
    text: Option<(PathBuf, Lines)>,
    planes: Option<(Rows, Rows)>,
    numbers: Vec<f64>,
}

impl States {
    fn open<G: Game>(game: &G, dir: &Path) -> Result<States, PolicyError> {
        let [text, planes, side] =
            ["positions.txt", "planes.npy", "side.npy"].map(|name| dir.join(name));
        let lines = match File::open(&text) {
            Ok(file) => Some((text, Lines(BufReader::new(file)))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(wrong(&text, format!("cannot be read: {error}"))),
        };
        let (rows, columns) = game.shape();
        let arrays = if planes.exists() && side.exists() {
            let planes =
                Rows::open(&planes, Numbers::Integers, &[game.planes().count(), rows, columns])?;
            let side = Rows::open(&side, Numbers::Integers, &[])?;
            same_count(&side, planes.count(), planes.path())?;
            Some((planes, side))
        } else {
            None
        };
        if lines.is_none() && arrays.is_none() {
            return Err(wrong(
                dir,
                Hinted::new(
                    "does not say of which positions its rows are",
                    "put positions.txt, or planes.npy and side.npy, of 'solver export --states' there, in the order of the predictions",
                ),
            ));
        }
        Ok(States { text: lines, planes: arrays, numbers: Vec::new() })
    }

    /// The position of the next row, of `count` in the file of predictions at `path`.
    fn next<G: Game>(
        &mut self,
        game: &G,
        row: u64,
        count: u64,
        path: &Path,
    ) -> Result<Position<G::State>, PolicyError> {
        if row == 0
            && let Some((planes, _)) = &self.planes
        {
            same_count(planes, count, path)?;
        }
        let written = match &mut self.text {
            None => None,
            Some((text, lines)) => Some(next_line(game, text, lines, row, count, path)?),
        };
        let drawn = match &mut self.planes {
            None => None,
            Some(arrays) => {
                let position = next_planes(game, arrays, &mut self.numbers, row)?;
                Some((arrays.0.path(), position))
            }
        };
        match (written, drawn) {
            (Some(written), Some((planes, drawn))) if written != drawn => {
                let [written, drawn] = [written, drawn].map(|position| game.notation(&position));
                Err(wrong_row(
                    planes,
                    row,
                    Hinted::new(
                        format!("these planes are '{drawn}' where positions.txt says '{written}'"),
                        "keep the ones that are meant",
                    ),
                ))
            }
            (Some(position), _) | (None, Some((_, position))) => Ok(position),
            (None, None) => Err(wrong_row(path, row, "its position is not given".to_string())),
        }
    }

    /// That there are no more positions than rows.
    fn end(&mut self, count: u64, path: &Path) -> Result<(), PolicyError> {
        if count == 0
            && let Some((planes, _)) = &self.planes
        {
            same_count(planes, count, path)?;
        }
        match &mut self.text {
            Some((text, lines)) => match lines.next() {
                None => Ok(()),
                Some(_) => {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    Err(wrong(text, format!("has more lines than {name} has rows, {count}")))
                }
            },
            None => Ok(()),
        }
    }
}

/// The position of the next row of planes and sides.
fn next_planes<G: Game>(
    game: &G,
    (planes, sides): &mut (Rows, Rows),
    numbers: &mut Vec<f64>,
    row: u64,
) -> Result<Position<G::State>, PolicyError> {
    planes.next(numbers)?;
    // What is out of a byte's bounds becomes its largest, which no plane holds.
    let byte = |&number: &f64| if (0.0..255.0).contains(&number) { number as u8 } else { 255 };
    let bytes: Vec<u8> = numbers.iter().map(byte).collect();
    let state = game
        .read_planes(&bytes)
        .ok_or_else(|| wrong_row(planes.path(), row, "these planes are no position".to_string()))?;
    sides.next(numbers)?;
    let side = Side::ALL.into_iter().find(|side| side.index() as f64 == numbers[0]);
    let side = side.ok_or_else(|| {
        let what = Hinted::new(
            format!("{} is no side", numbers[0]),
            "the first player is 0, the second 1",
        );
        wrong_row(sides.path(), row, what)
    })?;
    Ok(Position { state, side })
}

/// The position on the next line of a text.
fn next_line<G: Game>(
    game: &G,
    text: &Path,
    lines: &mut Lines,
    row: u64,
    count: u64,
    path: &Path,
) -> Result<Position<G::State>, PolicyError> {
    let line = lines.next().ok_or_else(|| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        wrong(text, format!("has {row} lines where {name} has {count} rows"))
    })?;
    let line = line.map_err(|error| wrong_row(text, row, format!("cannot be read: {error}")))?;
    game.parse_position(line.trim(), &game.start())
        .map_err(|error| wrong_row(text, row, Hinted::of(&error)))
}
