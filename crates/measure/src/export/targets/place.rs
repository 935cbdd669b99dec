//! Destination of an export, and the rules for replacing an earlier one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::card::{Card, TARGETS_SCHEMA};
use super::sink::Format;
use crate::export::folder::{begin, beside, is_used, unchanged, write_synced};
use crate::export::place_taken;
use yomikiri::error::Error;
use yomikiri::output::{OutputDir, followed, move_synced};
use yomikiri::table::IoContext;

const CARD: &str = "targets.json";
const CARD_TEXT: &str = "targets.md";
/// Longest name in bytes: file systems allow 255, and a card's name is longer.
const LONGEST: usize = 250;

/// An export being written beside its destination.
pub(super) struct Destination {
    folder: OutputDir,
    /// Files of the export that is replaced.
    old: BTreeSet<String>,
    /// Name of the data file; `None` for a directory.
    file: Option<String>,
}

impl Destination {
    /// Prepares writing. Fails if anything but an unchanged export of targets is at the destination.
    pub(super) fn begin(path: &Path, format: Format) -> Result<Destination, Error> {
        let path = &followed(path).at("write", path)?;
        let name = path.file_name().and_then(|name| name.to_str()).map(str::to_string);
        let name =
            name.ok_or_else(|| place_taken(path, "is not a file or directory name in UTF-8"))?;
        if name.len() > LONGEST {
            return Err(place_taken(path, format!("has a name of more than {LONGEST} bytes")));
        }
        let file = (format != Format::Npy).then_some(name);
        let old = match &file {
            None => check_directory(path)?,
            Some(name) => check_file(path, name).map(|()| BTreeSet::new())?,
        };
        let folder = match file {
            None => begin(path, &|name| old.contains(name))?,
            Some(_) => beside(path)?,
        };
        Ok(Destination { folder, old, file })
    }

    /// Returns the directory to write into.
    pub(super) fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the name of the data file; empty for a directory.
    pub(super) fn name(&self) -> &str {
        self.file.as_deref().unwrap_or_default()
    }

    /// Writes the card and moves everything to its destination.
    pub(super) fn commit(self, card: &Card) -> Result<(), Error> {
        let (json, text) = match &self.file {
            None => (CARD.to_string(), CARD_TEXT.to_string()),
            Some(name) => (format!("{name}.json"), format!("{name}.md")),
        };
        for (name, content) in [(&json, card.to_json()), (&text, card.to_markdown())] {
            write_synced(&self.dir().join(name), &content)?;
        }
        let place = self.folder.place().to_path_buf();
        let Some(name) = &self.file else {
            return self.folder.commit(&|name| self.old.contains(name)).at("replace", &place);
        };
        // The old data is removed only now, and before its cards: a card never describes data of another
        // export. After a kill the next export knows these files by the card in JSON.
        if place.exists() {
            fs::remove_file(&place).at("replace", &place)?;
        }
        for name in [&json, &text, name] {
            let to = place.with_file_name(name);
            move_synced(&self.dir().join(name), &to).at("write", &to)?;
        }
        Ok(())
    }
}

fn card_at(path: &Path) -> Option<Card> {
    let card = serde_json::from_slice::<Card>(&fs::read(path).ok()?).ok()?;
    // Only plain names are accepted: others could point anywhere on the machine.
    let is_plain = |name: &String| Path::new(name).file_name() == Some(name.as_ref());
    (card.schema == TARGETS_SCHEMA && card.files.keys().all(is_plain)).then_some(card)
}

/// Checks that a directory's place is free, or holds an unchanged export, and returns the names of its files.
fn check_directory(place: &Path) -> Result<BTreeSet<String>, Error> {
    if !is_used(place)? {
        return Ok(BTreeSet::new());
    }
    let card = card_at(&place.join(CARD));
    let card =
        card.ok_or_else(|| place_taken(place, "exists and contains no export of targets"))?;
    check_text(&place.join(CARD_TEXT), &card)?;
    for (name, file) in &card.files {
        unchanged(place, &place.join(name), &file.crc32)?;
    }
    let cards = [CARD, CARD_TEXT].map(str::to_string);
    Ok(card.files.into_keys().chain(cards).collect())
}

/// Checks that the text of a card is missing, or as it was written.
fn check_text(path: &Path, card: &Card) -> Result<(), Error> {
    let is_as_written = || fs::read_to_string(path).is_ok_and(|text| text == card.to_markdown());
    match is_taken(path) && !is_as_written() {
        true => Err(place_taken(path, "has changed since it was exported")),
        false => Ok(()),
    }
}

/// Returns whether a name is taken, perhaps by a link that leads nowhere.
fn is_taken(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Checks that the place of a file and of its cards is free, or holds an unchanged export.
fn check_file(place: &Path, name: &str) -> Result<(), Error> {
    let beside = |suffix: &str| place.with_file_name(format!("{name}{suffix}"));
    let card = card_at(&beside(".json"));
    for path in [beside(".json"), beside(".md")] {
        if path.is_symlink() || is_taken(&path) && card.is_none() {
            return Err(place_taken(&path, "exists and is not a data card of an export"));
        }
    }
    if let Some(card) = &card {
        check_text(&beside(".md"), card)?;
    }
    if !place.exists() {
        return Ok(());
    }
    let card = card.ok_or_else(|| place_taken(place, "exists and was not exported"))?;
    let file = card.files.get(name);
    let file = file.ok_or_else(|| place_taken(place, "differs from its data card"))?;
    unchanged(place, place, &file.crc32)
}
