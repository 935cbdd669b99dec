//! Power lost at any moment: writes that no `fsync` has secured are gone, or reached the disk in another
//! order.
//!
//! A command is run under strace, and its effects on files are replayed on a model of a disk, which
//! distinguishes what the program sees from what the disk must have kept. Before each call that matters
//! the power fails in several ways: of the unsynced changes of names none, all, one alone or all but one
//! have been kept; and files contain what they had at their last `fsync`, or zeros. Without strace these
//! tests are skipped.

pub mod calls;
mod disk;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use yomikiri::output::kept_dir;
use yomikiri::table::Table;

use crate::common::Random;
use crate::common::tables::{Files, Ran, Tables, assert_same_files, copy_dir, files};
use calls::{Call, has_strace, traced};
use disk::{Disk, Image, key_of, write};

/// Returns how many randomly chosen power losses are followed by another run of the command.
fn again() -> usize {
    std::env::var("YOMIKIRI_POWER").map_or(3, |number| number.parse().expect("a number of runs"))
}

/// Returns every table that opens, by name, with the bytes of its manifest and arrays; and LATEST.
pub fn opens(root: &Path) -> BTreeMap<String, Files> {
    let mut found = BTreeMap::new();
    for place in fs::read_dir(root).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        let mut own = Vec::new();
        if place.ends_with("LATEST") {
            own.push(place.clone());
        } else if let Ok(table) = Table::open(&place) {
            own.extend(table.manifest().arrays.keys().map(|name| table.path_of(name)));
            own.push(place.join("manifest.json"));
        }
        // A table with a missing array opens too, and is then wrong.
        let read = |path| {
            let name = Path::strip_prefix(path, root).unwrap();
            (name.to_path_buf(), fs::read(path).unwrap_or_default())
        };
        let own: Files = own.iter().map(|path| read(path)).collect();
        if !own.is_empty() {
            found.insert(place.file_name().unwrap().to_str().unwrap().to_string(), own);
        }
    }
    found
}

/// Returns the visible part of an image: LATEST, and directories with a manifest, except drafts.
fn visible(image: &Image) -> Image {
    let is_seen = |path: &Path| {
        path.iter().nth(1).is_some_and(|name| {
            let place = Path::new("tables").join(name);
            let is_table = image.contains_key(&place.join("manifest.json"));
            name == "LATEST" || is_table && place.extension().is_none_or(|end| end != "partial")
        })
    };
    let seen = image.iter().filter(|(path, _)| path.ends_with("tables") || is_seen(path));
    seen.map(|(path, content)| (path.clone(), content.clone())).collect()
}

/// A command that was run on the tables of a directory, and its calls.
struct Traced {
    /// Parent of the directory of tables, which the command may have to create.
    root: tempfile::TempDir,
    disk: Disk,
    calls: Vec<String>,
    /// Tables before and after the command, and all files before it.
    was: BTreeMap<String, Files>,
    is: BTreeMap<String, Files>,
    before: Files,
}

impl Traced {
    fn run(before: &Tables, args: &[&str]) -> Traced {
        let root = tempfile::tempdir().unwrap();
        let tables = root.path().canonicalize().unwrap().join("tables");
        if !files(before.root()).is_empty() {
            copy_dir(before.root(), &tables);
        }
        let (disk, was) = (Disk::of(tables.parent().unwrap()), opens(&tables));
        let (before, calls) = (files(root.path()), traced(&tables, args));
        Traced { root, disk, calls, was, is: opens(&tables), before }
    }

    /// Returns an image of each way in which the power may fail, with `true` if it fails after the end.
    /// The sync with the number `without` is left out.
    fn images(&self, without: Option<usize>) -> Vec<(Image, bool)> {
        let calls = self.calls.iter().filter_map(|line| Call::of(line)).map(Some).chain([None]);
        let (mut disk, mut at) = (self.disk.clone(), BTreeMap::new());
        let (mut seen, mut images, mut syncs) = (BTreeSet::new(), Vec::new(), 0);
        for call in calls {
            if call.as_ref().is_none_or(Call::matters) {
                for image in disk.images() {
                    if seen.insert((call.is_none(), key_of(&image))) {
                        images.push((image, call.is_none()));
                    }
                }
            }
            let Some(call) = call else { break };
            if !call.syncs() || without != Some(syncs) {
                disk.follow(&call, &mut at);
            }
            syncs += usize::from(call.syncs());
        }
        let now = tempfile::tempdir().unwrap();
        write(&disk.now(), now.path());
        assert_same_files(self.root.path(), now.path(), "the model knows every call that writes");
        images
    }

    /// Returns what is wrong with the tables after a power loss, if anything.
    fn wrong(&self, images: &[(Image, bool)], removes: bool) -> Option<String> {
        let mut looked_at = BTreeSet::new();
        images.iter().find_map(|(image, is_over)| {
            let visible = visible(image);
            if !looked_at.insert((*is_over, key_of(&visible))) {
                return None;
            }
            let back = tempfile::tempdir().unwrap();
            write(&visible, back.path());
            let found = opens(&back.path().join("tables"));
            let known = |(name, files): (&String, &Files)| {
                [&self.was, &self.is].iter().any(|tables| tables.get(name) == Some(files))
            };
            let what = if !found.iter().all(known) {
                "what opens is wrong"
            } else if !removes && !self.was.keys().all(|name| found.contains_key(name)) {
                "what was there is lost"
            } else if *is_over && found != self.is {
                "what was done is not there"
            } else {
                return None;
            };
            let printed = visible.iter().map(|(path, content)| match content {
                Some((bytes, true)) => format!("{}: {} zeros", path.display(), bytes.len()),
                _ => path.display().to_string(),
            });
            Some(format!("{what}: {:#?}", printed.collect::<Vec<_>>()))
        })
    }
}

/// Loses power during a command on tables like `before`. Every table that opens then must be one from
/// before or after the command; old tables must exist unless it `removes` them, and after its end so
/// must the new ones. The same command run again must make the same tables, with nothing beside them
/// except perhaps columns of the solution before.
fn survives(before: &Tables, args: &[&str], removes: bool) {
    let traced = Traced::run(before, args);
    let mut images = traced.images(None);
    let wrong = traced.wrong(&images, removes);
    assert!(wrong.is_none(), "{args:?}: {}", wrong.unwrap_or_default());
    let (mut random, after) = (Random(7), files(traced.root.path()));
    for _ in 0..again().min(images.len()) {
        let (image, _) = images.swap_remove(random.below(images.len()));
        let back = Tables::new();
        write(&image, back.root());
        let mut again = back.solver(args);
        let ran = Ran::of(again.env("YOMIKIRI_TABLES", back.place("tables")).output().unwrap());
        assert!(ran.code == 0 || removes && ran.code == 2, "{args:?}: {ran:?}");
        assert!(opens(&back.place("tables")) == traced.is, "{args:?} again");
        let known = |(path, bytes): (&PathBuf, &Vec<u8>)| {
            [&traced.before, &after].iter().any(|files| files.get(path) == Some(bytes))
        };
        let left = files(back.root());
        let unknown: Vec<_> =
            left.iter().filter(|file| !known(*file)).map(|(path, _)| path).collect();
        assert!(unknown.is_empty(), "{args:?} again leaves {unknown:?}");
    }
}

#[test]
fn a_power_cut_harms_nothing() {
    if !has_strace() {
        return;
    }
    let enumerate = ["enumerate", "--size", "4x5", "--root", "b1 a1 a2 a3 c4", "--name", "t"];
    let (enumerate, solve) = (&enumerate[..], &["value-iterate", "t"][..]);
    let again = &["value-iterate", "t", "--empties", "to-winner"][..];
    let pack = &["pack", "t", "--with", "distance"][..];
    survives(&Tables::new(), enumerate, false);
    survives(&Tables::after(&[enumerate]), solve, false);
    survives(&Tables::after(&[enumerate, solve]), again, false);
    survives(&Tables::after(&[enumerate, solve]), pack, false);
    survives(&Tables::after(&[enumerate, solve, pack]), &["remove", "t"], true);
}

/// Checks the model itself: without any one of the syncs it finds wrong, lost or missing tables.
#[test]
fn a_power_cut_harms_what_is_not_synced() {
    if !has_strace() {
        return;
    }
    let enumerate = &["enumerate", "--root", "----XXX--XO----- O;", "--name", "t"][..];
    let (solve, again) = (["value-iterate"], ["value-iterate", "--empties", "to-winner"]);
    // The directory of tables is synced for the table, and again for LATEST; that of a draft, which no table needs, so that
    // the next run knows it.
    for (before, args, spare) in [(&[][..], enumerate, 2), (&[enumerate, &solve], &again, 0)] {
        let traced = Traced::run(&Tables::after(before), args);
        let syncs =
            traced.calls.iter().filter_map(|line| Call::of(line)).filter(Call::syncs).count();
        let needed = |&one: &usize| traced.wrong(&traced.images(Some(one)), false).is_some();
        assert_eq!((0..syncs).filter(needed).count(), syncs - spare, "{args:?}");
    }
}

/// A table that is solved already loses the parts of a checkpoint to which no state refers.
#[test]
fn parts_of_a_checkpoint_are_removed() {
    let tables = Tables::after(&[
        &["enumerate", "--max-depth", "3", "--name", "t"],
        &["value-iterate", "t"],
    ]);
    let scratch = tables.place("t/solve.partial");
    kept_dir(&scratch).unwrap();
    std::fs::write(scratch.join("values-0"), [0; 100]).unwrap();
    let before = files(&tables.place("t")).len();
    assert!(tables.json(&["value-iterate", "t"])["already_solved"].as_bool().unwrap());
    assert!(!scratch.exists());
    assert_eq!(files(&tables.place("t")).len(), before - 2);
}
