//! Predictions of a program, read from a directory and matched by position.

use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use rustc_hash::FxHashMap;

use super::npy::NpyArray;
use crate::policy::{OutputRows, Outside, ReadingSpec, Source};
use yomikiri::error::Error;
use yomikiri::input;
use yomikiri::rules::{AnyPosition, Position, Rules, Side};

/// Predictions for many positions, from files.
///
/// `K` is the type of the game's keys. Positions are matched with their side to move, in their own
/// orientation: a mirror image is another position.
pub struct Predictions {
    /// Row of every position.
    rows: FxHashMap<AnyPosition, u32>,
    arrays: Vec<NpyArray>,
}

/// Number of rows by which the meaning of the numbers is settled.
const TRIED: usize = 1024;
/// Names of the arrays that are read, as far as they are there; no column of exported targets has one of them.
const NAMES: [&str; 8] =
    ["logits", "probabilities", "q_values", "scores", "actions", "values", "wdl", "final_scores"];

impl Predictions {
    /// Reads a directory: arrays of known names, or of those that `reading` names. The positions of the rows are in
    /// `positions.txt`, or in `planes.npy` and `side.npy`, or in both, which must then agree.
    pub fn read(
        game: &dyn Rules,
        name: String,
        dir: &Path,
        reading: &ReadingSpec,
    ) -> Result<Outside<Predictions>, Error> {
        let arrays = arrays(game, dir, reading)?;
        let count = arrays[0].count();
        let positions = positions(game, dir, &arrays[0])?;
        let mut source = Predictions { rows: FxHashMap::default(), arrays };
        for (row, position) in positions.iter().enumerate() {
            match source.rows.entry(*position) {
                Entry::Vacant(entry) => {
                    entry.insert(row as u32);
                }
                Entry::Occupied(entry) => {
                    let first = *entry.get();
                    let differs =
                        |array: &&NpyArray| array.bytes(first as usize) != array.bytes(row);
                    if let Some(array) = source.arrays.iter().find(differs) {
                        let position = game.notation(position);
                        let what = format!(
                            "rows {first} and {row} differ for the same position '{position}'"
                        );
                        return Err(wrong(array.path(), what));
                    }
                }
            }
        }
        let policy = Outside::new(source, name, reading, (true, None));
        let tried: Vec<usize> = (0..count.min(TRIED)).collect();
        let tried = policy.source.numbers_of(&tried);
        policy.settle(game, &tried).map_err(|what| wrong(dir, what))?;
        for (row, position) in positions.iter().enumerate() {
            let outputs = policy.source.numbers_of(&[row]);
            policy
                .check_row(game, position, &outputs)
                .map_err(|(array, what)| wrong_row(&dir.join(format!("{array}.npy")), row, what))?;
        }
        Ok(policy)
    }

    /// Returns the numbers of some rows.
    fn numbers_of(&self, rows: &[usize]) -> Vec<OutputRows> {
        let output = |array: &NpyArray| {
            let mut numbers = Vec::with_capacity(rows.len() * array.width());
            rows.iter().for_each(|&row| numbers.extend(array.row(row)));
            let (width, is_integer) = (array.width(), array.is_integer());
            let name = array.path().file_stem().unwrap_or_default().to_string_lossy().into();
            OutputRows { name, width, is_integer, numbers, ..OutputRows::default() }
        };
        self.arrays.iter().map(output).collect()
    }
}

impl Source for Predictions {
    fn rows(&self, game: &dyn Rules, positions: &[AnyPosition]) -> Result<Vec<OutputRows>, Error> {
        let row = |position: &AnyPosition| {
            let row = self.rows.get(position);
            let missing = || {
                Error::from(format!("missing prediction for '{}'", game.notation(position)))
                    .with_hint("predict every position that 'solver export --states' writes")
            };
            row.map(|&row| row as usize).ok_or_else(missing)
        };
        let rows: Vec<usize> = positions.iter().map(row).collect::<Result<_, _>>()?;
        Ok(self.numbers_of(&rows))
    }
}

fn wrong(path: &Path, what: impl Into<Error>) -> Error {
    what.into().map(|what| format!("{}: {what}", path.display()))
}

fn wrong_row(path: &Path, row: usize, what: impl Into<Error>) -> Error {
    what.into().map(|what| format!("{}, row {row}: {what}", path.display()))
}

/// Reads the arrays of a directory.
fn arrays(game: &dyn Rules, dir: &Path, reading: &ReadingSpec) -> Result<Vec<NpyArray>, Error> {
    if !dir.is_dir() {
        let hint = "expected one of 'solver export --states', with predictions in it";
        return Err(wrong(dir, Error::new("no such directory", hint)));
    }
    check_game(game, dir)?;
    let asked = [&reading.policy, &reading.value].into_iter().flatten().map(String::as_str);
    let asked = asked.filter(|name| *name != "none" && !NAMES.contains(name));
    let place = |name: &str| dir.join(format!("{name}.npy"));
    let there = NAMES.into_iter().chain(asked).map(place).filter(|path| path.exists());
    let arrays: Vec<NpyArray> =
        there.map(|path| NpyArray::read(&path)).collect::<Result<_, _>>()?;
    if arrays.is_empty() {
        let names = NAMES.map(|name| format!("{name}.npy")).join(", ");
        let (what, hint) = match dir.join("targets.json").exists() {
            true => (
                "expected predictions, found targets",
                format!(
                    "export positions with 'solver export --states' and write one of {names} beside them"
                ),
            ),
            false => ("missing predictions", format!("write one of {names} there")),
        };
        return Err(wrong(dir, Error::new(what, hint)));
    }
    for array in &arrays {
        same_count(array.path(), array.count(), "rows", &arrays[0])?;
    }
    Ok(arrays)
}

/// Rejects a file whose number of rows or lines differs from that of the predictions.
fn same_count(path: &Path, found: usize, what: &str, of: &NpyArray) -> Result<(), Error> {
    let count = of.count();
    if found == count {
        return Ok(());
    }
    let other = of.path().file_name().unwrap_or_default().to_string_lossy();
    Err(wrong(path, format!("{found} {what}, expected {count} as in {other}")))
}

/// Rejects an export of another game in the directory, if there is one.
fn check_game(game: &dyn Rules, dir: &Path) -> Result<(), Error> {
    let path = dir.join("states.json");
    let text = match input::file(&path, input::TEXT) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(wrong(&path, format!("cannot read it: {error}"))),
    };
    let json: serde_json::Value = serde_json::from_slice(&text).map_err(|error| {
        wrong(&path, Error::new(format!("invalid JSON ({error})"), "export the states again"))
    })?;
    let (found, here) = (json["game"].as_str().unwrap_or_default(), game.name());
    if found != here {
        let what = format!("states of '{found}', expected {here}");
        return Err(wrong(&path, what));
    }
    Ok(())
}

/// Reads the positions of the rows from the files that contain them.
fn positions(game: &dyn Rules, dir: &Path, of: &NpyArray) -> Result<Vec<AnyPosition>, Error> {
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
        same_count(&text, written.len(), "lines", of)?;
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
            Err(wrong_row(&planes, row, Error::new(what, "keep one of the two files")))
        }
        (Some(positions), None) | (None, Some(positions)) => Ok(positions),
        (None, None) => Err(wrong(
            dir,
            Error::new(
                "the positions of its rows are missing",
                "add positions.txt, or planes.npy and side.npy, of 'solver export --states', in the order of the predictions",
            ),
        )),
    }
}

/// Reads the positions of a text, one per line.
fn written(game: &dyn Rules, path: &Path, file: File) -> Result<Vec<AnyPosition>, Error> {
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
        found.push(position.map_err(|error| wrong_row(path, found.len(), error))?);
    }
}

/// Reads the positions of planes and sides.
fn drawn(
    game: &dyn Rules,
    planes: &Path,
    side: &Path,
    of: &NpyArray,
) -> Result<Vec<AnyPosition>, Error> {
    let (rows, columns) = game.shape();
    let shape = [game.plane_kinds().count(), rows, columns];
    let (planes, sides) = (NpyArray::read(planes)?, NpyArray::read(side)?);
    planes.expect(&shape)?;
    sides.expect(&[])?;
    for rows in [&planes, &sides] {
        same_count(rows.path(), rows.count(), "rows", of)?;
    }
    let position = |row: usize| {
        let numbers: Vec<f32> = planes.row(row).map(|number| number as f32).collect();
        let state = game.read_planes(&numbers);
        let state =
            state.ok_or_else(|| wrong_row(planes.path(), row, "invalid planes: not a position"))?;
        let number = sides.row(row).next().unwrap_or_default();
        let side = Side::ALL.into_iter().find(|side| side.index() as f64 == number);
        let side = side.ok_or_else(|| {
            let what = format!("invalid side {number}");
            let hint = "expected 0 for the first player, 1 for the second";
            wrong_row(sides.path(), row, Error::new(what, hint))
        })?;
        Ok(Position { state, side })
    };
    (0..of.count()).map(position).collect()
}
