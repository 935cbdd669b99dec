//! The page of `solver serve`, operated in a browser by `tests/page/drive.mjs` like a user.

use std::fs;
use std::path::Path;

use super::page::{driven, passes};
use crate::common::http::Served;
use crate::common::tables::Tables;

/// Maximum total size of the page's files.
const MOST_BYTES: u64 = 200_000;

#[test]
fn a_person_plays_and_explores_in_the_browser() {
    let tables = Tables::after(&[
        &["enumerate", "--game", "minishogi", "--max-depth", "3"],
        &["value-iterate"],
        &["enumerate", "--game", "animal-shogi-3x3", "--max-depth", "6"],
        &["value-iterate"],
        &["enumerate", "--size", "6", "--max-depth", "1"],
        &["value-iterate"],
        &["enumerate", "--size", "8", "--max-depth", "1"],
        &["value-iterate"],
        &["enumerate", "--size", "4", "--max-depth", "2"],
        &["value-iterate"],
        &["enumerate", "--size", "4"],
        &["value-iterate"],
    ]);
    let served = Served::new(&tables, &[]);
    let solver = Path::new(env!("CARGO_BIN_EXE_solver"));
    let args = [Path::new(&served.address), solver, tables.root()];
    if let Some(command) = driven("drive.mjs", &args) {
        passes(command);
    }
}

#[test]
fn the_page_is_small() {
    let here = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let files = ["crates/solver/src/serve/page", "crates/measure/src/render/page"]
        .into_iter()
        .flat_map(|dir| fs::read_dir(here.join(dir)).unwrap().map(|file| file.unwrap()));
    let of_report = |name: &str| name.starts_with("report.") || name.ends_with(".rs");
    let files = files.filter(|file| !of_report(&file.file_name().to_string_lossy()));
    let files = files.map(|file| file.metadata().unwrap().len());
    let bytes: u64 = files.sum();
    assert!((20_000..=MOST_BYTES).contains(&bytes), "{bytes}");
}
