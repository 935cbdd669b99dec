//! Where an export is to lie, and what may be replaced there.

use std::fs;
use std::path::{Path, PathBuf};

use super::card::{Card, TARGETS_SCHEMA};
use super::sink::Format;
use crate::export::ExportError;
use crate::export::folder::{Folder, is_used, unchanged, write_synced};
use yomikiri::table::{IoContext, move_synced};

const CARD: &str = "targets.json";
const CARD_TEXT: &str = "targets.md";

/// An export being written beside its place.
pub(super) struct Place {
    path: PathBuf,
    folder: Folder,
    /// The data's file, unless it is a directory.
    file: Option<String>,
}

impl Place {
    /// Begins to write. Fails where something else than an unchanged export of targets is at the
    /// place.
    pub(super) fn begin(path: &Path, format: Format) -> Result<Place, ExportError> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.ok_or_else(|| taken(path, "is no name of a file or directory"))?;
        let file = (format != Format::Npy).then_some(name);
        match &file {
            None => check_directory(path)?,
            Some(name) => check_file(path, name)?,
        }
        let known = file.clone();
        let ours = move |name: &str| {
            let is_card = name == CARD || name == CARD_TEXT || name.ends_with(".npy");
            let is_ours = known.as_ref().is_some_and(|file| {
                name == file || name == format!("{file}.json") || name == format!("{file}.md")
            });
            is_card || is_ours
        };
        let folder = match file {
            None => Folder::begin(path, &ours)?,
            Some(_) => Folder::beside(path, &ours)?,
        };
        Ok(Place { path: path.to_path_buf(), folder, file })
    }

    /// The directory to write into.
    pub(super) fn dir(&self) -> PathBuf {
        self.folder.file("")
    }

    /// The name of the data's file; of a directory nothing.
    pub(super) fn name(&self) -> &str {
        self.file.as_deref().unwrap_or_default()
    }

    /// Writes the card and moves all to its place.
    pub(super) fn commit(self, card: &Card) -> Result<(), ExportError> {
        let (json, text) = match &self.file {
            None => (CARD.to_string(), CARD_TEXT.to_string()),
            Some(name) => (format!("{name}.json"), format!("{name}.md")),
        };
        for (name, content) in [(&json, card.to_json()), (&text, card.to_markdown())] {
            write_synced(&self.folder.file(name), &content)?;
        }
        let Some(name) = &self.file else { return self.folder.commit() };
        // What was there is removed only now, and first: a card never describes other data than its
        // own.
        if self.path.exists() {
            fs::remove_file(&self.path).at("replace", &self.path)?;
        }
        for name in [&text, &json, name] {
            let to = self.path.with_file_name(name);
            move_synced(&self.folder.file(name), &to).at("write", &to)?;
        }
        Ok(self.folder.abandon()?)
    }
}

fn taken(place: &Path, what: impl Into<String>) -> ExportError {
    ExportError::Taken { place: place.to_path_buf(), what: what.into() }
}

fn card_at(path: &Path) -> Option<Card> {
    let card = serde_json::from_slice::<Card>(&fs::read(path).ok()?).ok()?;
    // Its names are of files beside it, and not of anything on the machine.
    let is_plain = |name: &String| Path::new(name).file_name() == Some(name.as_ref());
    (card.schema == TARGETS_SCHEMA && card.files.keys().all(is_plain)).then_some(card)
}

/// That a directory's place is free, or holds an export as it was written.
fn check_directory(place: &Path) -> Result<(), ExportError> {
    if !is_used(place)? {
        return Ok(());
    }
    let card = card_at(&place.join(CARD));
    let card = card.ok_or_else(|| taken(place, "is there and holds no export of targets"))?;
    card.files.iter().try_for_each(|(name, file)| unchanged(place, &place.join(name), &file.crc32))
}

/// That a file's place is free, or holds an export as it was written; the same for its cards.
fn check_file(place: &Path, name: &str) -> Result<(), ExportError> {
    let beside = |suffix: &str| place.with_file_name(format!("{name}{suffix}"));
    let card = card_at(&beside(".json"));
    for suffix in [".json", ".md"] {
        let path = beside(suffix);
        if path.exists() && card.is_none() {
            return Err(taken(&path, "is there and no data card of an export"));
        }
    }
    if !place.exists() {
        return Ok(());
    }
    let card = card.ok_or_else(|| taken(place, "is there and was not exported"))?;
    let file = card.files.get(name);
    let file = file.ok_or_else(|| taken(place, "is not what its data card describes"))?;
    unchanged(place, place, &file.crc32)
}
