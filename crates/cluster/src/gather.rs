//! Gathering the workers' files into an ordinary table.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Job;
use super::expand::of_pair;
use super::parts::{Chunks, Part, PartKind};
use super::worker::roots;
use crate::in_file;
use yomikiri::enumerate::{AssembledLayer, assemble};
use yomikiri::error::Error;
use yomikiri::games::othello::blocks::{Blocks, Tables};
use yomikiri::output::failure;
use yomikiri::progress::Progress;
use yomikiri::solve::install_found;
use yomikiri::solve::value::{Prospect, Short, SweepOrder};
use yomikiri::table::{Counts, Store, Table};

/// Returns the directory of each worker's files, from below the given directories.
pub(super) fn dirs(parts: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut all = BTreeMap::new();
    for dir in parts {
        let wrong = |error: std::io::Error| failure("read", dir, error);
        for entry in std::fs::read_dir(dir).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            let number = path
                .file_name()
                .and_then(|name| name.to_str()?.strip_prefix("part-")?.parse::<usize>().ok());
            if let Some(number) = number {
                all.insert(number, path);
            }
        }
    }
    let whole = !all.is_empty() && all.keys().copied().eq(0..all.len());
    let missing = (0..).find(|number| !all.contains_key(number)).unwrap_or(0);
    match whole {
        true => Ok(all.into_values().collect()),
        false => Err(Error::new(
            format!("missing part-{missing} in the directories"),
            "expected the directories of all hosts",
        )),
    }
}

/// Makes the table of a job from the files in some directories; with values if all parts have them.
pub fn gather(
    job: &Job,
    parts: &[PathBuf],
    store: &Store,
    progress: &dyn Progress,
) -> Result<Table, Error> {
    let dirs = dirs(parts)?;
    let asked = super::worker::asked(job, dirs.len());
    let parts = Part::all(&dirs, &asked);
    let rules = Blocks::<Tables>::new(&*job.game);
    let (rows, columns) = job.game.shape();
    let squares = (rows * columns) as u32;
    let roots = roots(job, &rules);
    let first = roots.iter().map(|root| root.0.count_ones()).min().unwrap_or(squares);
    let key = |(block, pair)| rules.key(&rules.block(block), of_pair(pair).0);
    let roots: Vec<u64> = roots.into_iter().map(key).collect();
    // Values of all layers, in the order of the rows; `None` once a part has none.
    let mut values: Option<Vec<Prospect>> = Some(Vec::new());
    let mut layer_of = |number: u32| -> Result<Option<AssembledLayer>, Error> {
        if number > squares {
            return Ok(None);
        }
        let mut blocks = BTreeMap::new();
        let mut counts = Counts::default();
        for part in &parts {
            let layer =
                part.read(PartKind::Layer, number)?.ok_or_else(|| missing_layer(part, number))?;
            layer.check()?;
            let own = part.values_of(&layer)?;
            own.as_ref().map_or(Ok(()), Chunks::check)?;
            counts.add(layer.counts());
            if own.is_none() {
                values = None;
            }
            for (number, chunk) in layer.extents().iter().enumerate() {
                let piece = layer.piece(chunk)?;
                let worth = match own.as_ref() {
                    Some(own) => {
                        own.numbers(own.extents().get(number).ok_or_else(|| own.damaged())?)?
                    }
                    None => &[],
                };
                for (block, rows) in piece.ranges() {
                    let both = piece.places.get(rows.clone()).zip(piece.sets.get(rows.clone()));
                    let (places, sets) = both.ok_or_else(|| layer.damaged())?;
                    let worth = worth.get(rows).unwrap_or_default();
                    blocks.insert(block, (places.to_vec(), sets.to_vec(), worth.to_vec()));
                }
            }
        }
        if counts.table.states == 0 {
            return Ok(None);
        }
        let (mut keys, mut orientations) = (Vec::new(), Vec::new());
        for (block, (places, sets, worth)) in blocks {
            let block = rules.block(block);
            keys.extend(places.iter().map(|&place| rules.key(&block, place)));
            orientations.extend(sets);
            if let Some(values) = &mut values {
                values.extend(worth.into_iter().map(|value| Short::of_number(value).prospect()));
            }
        }
        Ok(Some(AssembledLayer { keys, orientations, counts }))
    };
    let mut table =
        assemble(&*job.game, &job.plan, store, (first, &roots), &mut layer_of, progress)?;
    if let Some(values) = values.filter(|_| table.manifest().solution.is_none()) {
        install_found(&*job.game, &mut table, &values)?;
    }
    Ok(table)
}

pub(super) fn missing_layer(part: &Part, number: u32) -> Error {
    let what = Error::new(
        format!("missing layer {number} of this game for this number of workers"),
        "complete 'solver enumerate' with the same hosts",
    );
    in_file(part.dir(), what)
}
