//! Predictions of a program, read from a directory and matched by position.

use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::dense::{Beside, Dense, Legal};
use super::npy::{NpyRows, NumberKind};
use crate::policy::{Answers, Batch, Policy, TrainedOn};
use yomikiri::game::{Game, GameExt, Position, Side, StateKey};
use yomikiri::hint::Hinted;
use yomikiri::input;

/// Predictions for many positions, from files.
///
/// `K` is the type of the game's keys. Positions are matched with their side to move, in their own
/// orientation: a mirror image is another position.
pub struct Predictions<K> {
    dir: PathBuf,
    /// Row of every position.
    rows: FxHashMap<(K, Side), u32>,
    /// Start of each row's answers, followed by the end of the last.
    offsets: Vec<u64>,
    answers: Answers,
}

impl<K: StateKey> Predictions<K> {
    /// Reads a directory.
    ///
    /// It contains one of `logits.npy`, `probabilities.npy`, `actions.npy` and `scores.npy`. It may contain
    /// `values.npy`, and `scores.npy` beside another one. The positions of the rows are in `positions.txt`,
    /// or in `planes.npy` and `side.npy`, or in both, which must then agree.
    pub fn read<G: Game<Key = K>>(game: &G, dir: &Path) -> Result<Predictions<K>, Hinted> {
        let PredictionFiles { deciding, mut numbers, mut scores, mut values } =
            PredictionFiles::open(game, dir)?;
        let positions = positions(game, dir, &numbers)?;
        let mut read = Predictions {
            dir: dir.to_path_buf(),
            rows: FxHashMap::default(),
            offsets: vec![0],
            answers: Answers::default(),
        };
        for (row, position) in positions.iter().enumerate() {
            let actions = game.actions(&position.state);
            let name = || game.notation(position);
            let legal = Legal { actions: &actions, position: &name };
            let scores = scores.as_mut().map(NpyRows::next).transpose()?;
            let value = values.as_mut().map(NpyRows::next).transpose()?.map(|row| row[0]);
            deciding
                .answer(numbers.next()?, Beside { scores, value }, legal, &mut read.answers)
                .map_err(|(array, what)| wrong_row(&dir.join(format!("{array}.npy")), row, what))?;
            read.offsets.push(read.answers.probabilities.len() as u64);
            match read.rows.entry((game.key(&position.state), position.side)) {
                Entry::Vacant(entry) => {
                    entry.insert(row as u32);
                }
                Entry::Occupied(entry) => {
                    let first = *entry.get();
                    if !read.agree(first as usize, row) {
                        let what = format!(
                            "rows {first} and {row} differ for the same position '{}'",
                            name()
                        );
                        return Err(wrong(numbers.path(), what));
                    }
                }
            }
        }
        Ok(read)
    }

    fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    /// Returns `true` if two rows are equal.
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
    ) -> Result<(), Hinted> {
        for position in batch.positions() {
            let row = self.rows.get(&(game.key(&position.state), position.side));
            let row = row.ok_or_else(|| {
                Hinted::from(format!("missing prediction for '{}'", game.notation(position)))
                    .with_hint("predict every position that 'solver export --states' writes")
            })?;
            let row = *row as usize;
            let row_answer = self.answers.at(row, self.range(row));
            answers.probabilities.extend_from_slice(row_answer.probabilities);
            if !self.answers.scores.is_empty() {
                answers.scores.extend_from_slice(row_answer.scores);
            }
            answers.values.extend(row_answer.value);
        }
        Ok(())
    }

    fn learned_from(&self) -> TrainedOn {
        TrainedOn::Unknown
    }
}

fn wrong(path: &Path, what: impl Into<Hinted>) -> Hinted {
    what.into().map(|what| format!("{}: {what}", path.display()))
}

fn wrong_row(path: &Path, row: usize, what: impl Into<Hinted>) -> Hinted {
    what.into().map(|what| format!("{}, row {row}: {what}", path.display()))
}

/// The files of predictions, read in step.
struct PredictionFiles {
    deciding: Dense,
    numbers: NpyRows,
    scores: Option<NpyRows>,
    values: Option<NpyRows>,
}

impl PredictionFiles {
    fn open<G: Game>(game: &G, dir: &Path) -> Result<PredictionFiles, Hinted> {
        if !dir.is_dir() {
            return Err(wrong(
                dir,
                Hinted::new(
                    "no such directory",
                    "expected one of 'solver export --states', with predictions in it",
                ),
            ));
        }
        check_game(game, dir)?;
        let place = |name: &str| dir.join(format!("{name}.npy"));
        let there = |(name, _): &(&str, Dense)| place(name).exists();
        let found: Vec<_> = Dense::ALL.into_iter().filter(there).collect();
        let (name, deciding) = match &found[..] {
            [one] | [one, (_, Dense::Scores)] => *one,
            [] => {
                let names = Dense::ALL.map(|(name, _)| format!("{name}.npy")).join(", ");
                let (what, hint) = match dir.join("targets.json").exists() {
                    true => (
                        "expected predictions, found targets",
                        format!(
                            "export positions with 'solver export --states' and write one of {names} beside them"
                        ),
                    ),
                    false => ("missing predictions", format!("write one of {names} there")),
                };
                return Err(wrong(dir, Hinted::new(what, hint)));
            }
            [(one, _), (other, _), ..] => {
                let what = format!("contains both {one}.npy and {other}.npy");
                return Err(wrong(dir, Hinted::new(what, "keep one of them")));
            }
        };
        let width = [game.action_count()];
        let numbers = match deciding {
            Dense::Actions => NpyRows::open(&place(name), NumberKind::Integers, &[])?,
            _ => NpyRows::open(&place(name), NumberKind::Floats, &width)?,
        };
        let beside = |name: &str, row: &[usize]| -> Result<Option<NpyRows>, Hinted> {
            if !place(name).exists() {
                return Ok(None);
            }
            let rows = NpyRows::open(&place(name), NumberKind::Floats, row)?;
            same_count(rows.path(), rows.count(), "rows", &numbers)?;
            Ok(Some(rows))
        };
        let scores = if deciding == Dense::Scores { None } else { beside("scores", &width)? };
        let values = beside("values", &[])?;
        Ok(PredictionFiles { deciding, numbers, scores, values })
    }
}

/// Rejects a file whose number of rows or lines differs from that of the predictions.
fn same_count(path: &Path, found: u64, what: &str, of: &NpyRows) -> Result<(), Hinted> {
    let count = of.count();
    if found == count {
        return Ok(());
    }
    let other = of.path().file_name().unwrap_or_default().to_string_lossy();
    Err(wrong(path, format!("{found} {what}, expected {count} as in {other}")))
}

/// Rejects an export of another game in the directory, if there is one.
fn check_game<G: Game>(game: &G, dir: &Path) -> Result<(), Hinted> {
    let path = dir.join("states.json");
    let text = match input::file(&path, input::TEXT) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(wrong(&path, format!("cannot read it: {error}"))),
    };
    let json: serde_json::Value = serde_json::from_slice(&text).map_err(|error| {
        wrong(&path, Hinted::new(format!("invalid JSON ({error})"), "export the states again"))
    })?;
    let (found, here) = (json["game"].as_str().unwrap_or_default(), game.name());
    if found != here {
        let what = format!("states of '{found}', expected {here}");
        return Err(wrong(&path, what));
    }
    Ok(())
}

/// Reads the positions of the rows from the files that contain them.
fn positions<G: Game>(
    game: &G,
    dir: &Path,
    of: &NpyRows,
) -> Result<Vec<Position<G::State>>, Hinted> {
    if u32::try_from(of.count()).is_err() {
        return Err(wrong(of.path(), "more than 2^32 rows"));
    }
    let [text, planes, side] =
        ["positions.txt", "planes.npy", "side.npy"].map(|name| dir.join(name));
    let written = match File::open(&text) {
        Ok(file) => Some(written(game, &text, file)?),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(wrong(&text, format!("cannot read it: {error}"))),
    };
    if let Some(written) = &written {
        same_count(&text, written.len() as u64, "lines", of)?;
    }
    let drawn = match planes.exists() && side.exists() {
        true => Some(drawn(game, &planes, &side, of)?),
        false => None,
    };
    match (written, drawn) {
        (Some(written), Some(drawn)) => {
            let mut pairs = written.iter().zip(&drawn);
            let Some(row) = pairs.position(|(written, drawn)| written != drawn) else {
                return Ok(written);
            };
            let [here, there] = [drawn[row], written[row]].map(|position| game.notation(&position));
            let what = format!("planes of '{here}', but positions.txt has '{there}'");
            Err(wrong_row(&planes, row, Hinted::new(what, "keep one of the two files")))
        }
        (Some(positions), None) | (None, Some(positions)) => Ok(positions),
        (None, None) => Err(wrong(
            dir,
            Hinted::new(
                "the positions of its rows are missing",
                "add positions.txt, or planes.npy and side.npy, of 'solver export --states', in the order of the predictions",
            ),
        )),
    }
}

/// Reads the positions of a text, one per line.
fn written<G: Game>(game: &G, path: &Path, file: File) -> Result<Vec<Position<G::State>>, Hinted> {
    // No position is longer, so a truncated line is invalid.
    const LONGEST: u64 = 1 << 16;
    let (mut reader, mut line) = (BufReader::new(file), String::new());
    let (start, mut found) = (game.start(), Vec::new());
    loop {
        line.clear();
        let read = (&mut reader)
            .take(LONGEST)
            .read_line(&mut line)
            .map_err(|error| wrong_row(path, found.len(), format!("cannot read it: {error}")))?;
        if read == 0 {
            return Ok(found);
        }
        let position = game.parse_position(line.trim(), &start);
        found.push(position.map_err(|error| wrong_row(path, found.len(), Hinted::of(&error)))?);
    }
}

/// Reads the positions of planes and sides.
fn drawn<G: Game>(
    game: &G,
    planes: &Path,
    side: &Path,
    of: &NpyRows,
) -> Result<Vec<Position<G::State>>, Hinted> {
    let (rows, columns) = game.shape();
    let shape = [game.plane_kinds().count(), rows, columns];
    let mut planes = NpyRows::open(planes, NumberKind::Integers, &shape)?;
    let mut sides = NpyRows::open(side, NumberKind::Integers, &[])?;
    for rows in [&planes, &sides] {
        same_count(rows.path(), rows.count(), "rows", of)?;
    }
    let position = |row: usize| {
        // A number outside a byte becomes 255, which is invalid in planes.
        let byte = |&number: &f64| if (0.0..255.0).contains(&number) { number as u8 } else { 255 };
        let bytes: Vec<u8> = planes.next()?.iter().map(byte).collect();
        let state = game.read_planes(&bytes);
        let state =
            state.ok_or_else(|| wrong_row(planes.path(), row, "invalid planes: not a position"))?;
        let number = sides.next()?[0];
        let side = Side::ALL.into_iter().find(|side| side.index() as f64 == number);
        let side = side.ok_or_else(|| {
            let what = format!("invalid side {number}");
            let hint = "expected 0 for the first player, 1 for the second";
            wrong_row(sides.path(), row, Hinted::new(what, hint))
        })?;
        Ok(Position { state, side })
    };
    (0..of.count() as usize).map(position).collect()
}
