//! Destination of an export, and the rules for replacing an earlier one.

use std::fs;
use std::path::Path;

use super::card::{Card, TARGETS_SCHEMA};
use super::sink::Format;
use crate::export::ExportError;
use crate::export::folder::{begin, beside, is_used, unchanged, write_synced};
use yomikiri::output::{OutputDir, followed, move_synced};
use yomikiri::table::IoContext;

const CARD: &str = "targets.json";
const CARD_TEXT: &str = "targets.md";

/// An export being written beside its destination.
pub(super) struct Destination {
    folder: OutputDir,
    /// Name of the data file; `None` for a directory.
    file: Option<String>,
}

impl Destination {
    /// Prepares writing. Fails if anything but an unchanged export of targets is at the destination.
    pub(super) fn begin(path: &Path, format: Format) -> Result<Destination, ExportError> {
        let path = &followed(path).at("write", path)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.ok_or_else(|| taken(path, "is not a file or directory name"))?;
        let file = (format != Format::Npy).then_some(name);
        match &file {
            None => check_directory(path)?,
            Some(name) => check_file(path, name)?,
        }
        let folder = match file {
            None => begin(path, &is_ours)?,
            Some(_) => beside(path)?,
        };
        Ok(Destination { folder, file })
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
    pub(super) fn commit(self, card: &Card) -> Result<(), ExportError> {
        let (json, text) = match &self.file {
            None => (CARD.to_string(), CARD_TEXT.to_string()),
            Some(name) => (format!("{name}.json"), format!("{name}.md")),
        };
        for (name, content) in [(&json, card.to_json()), (&text, card.to_markdown())] {
            write_synced(&self.dir().join(name), &content)?;
        }
        let place = self.folder.place().to_path_buf();
        let Some(name) = &self.file else {
            return Ok(self.folder.commit(&is_ours).at("replace", &place)?);
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

/// Returns whether a file of a directory of arrays belongs to such an export, by its name.
fn is_ours(name: &str) -> bool {
    name == CARD || name == CARD_TEXT || name.ends_with(".npy")
}

fn taken(place: &Path, what: impl Into<String>) -> ExportError {
    ExportError::Taken { place: place.to_path_buf(), what: what.into() }
}

fn card_at(path: &Path) -> Option<Card> {
    let card = serde_json::from_slice::<Card>(&fs::read(path).ok()?).ok()?;
    // Only plain names are accepted: others could point anywhere on the machine.
    let is_plain = |name: &String| Path::new(name).file_name() == Some(name.as_ref());
    (card.schema == TARGETS_SCHEMA && card.files.keys().all(is_plain)).then_some(card)
}

/// Checks that a directory's place is free, or holds an unchanged export.
fn check_directory(place: &Path) -> Result<(), ExportError> {
    if !is_used(place)? {
        return Ok(());
    }
    let card = card_at(&place.join(CARD));
    let card = card.ok_or_else(|| taken(place, "exists and contains no export of targets"))?;
    card.files.iter().try_for_each(|(name, file)| unchanged(place, &place.join(name), &file.crc32))
}

/// Checks that the place of a file and of its cards is free, or holds an unchanged export.
fn check_file(place: &Path, name: &str) -> Result<(), ExportError> {
    let beside = |suffix: &str| place.with_file_name(format!("{name}{suffix}"));
    let card = card_at(&beside(".json"));
    for suffix in [".json", ".md"] {
        let path = beside(suffix);
        if path.exists() && card.is_none() {
            return Err(taken(&path, "exists and is not a data card of an export"));
        }
    }
    if !place.exists() {
        return Ok(());
    }
    let card = card.ok_or_else(|| taken(place, "exists and was not exported"))?;
    let file = card.files.get(name);
    let file = file.ok_or_else(|| taken(place, "differs from its data card"))?;
    unchanged(place, place, &file.crc32)
}
