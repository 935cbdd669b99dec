//! The page of `solver serve`, operated in a browser by `tests/page/drive.mjs` like a user.

use std::fs;
use std::path::Path;

use super::page::{driven, passes};
use crate::common::http::Served;
use crate::common::solved::{make, solve};
use crate::common::tables::Tables;
use yomikiri::games::listed::{GOES_ON, Listed, Listing};
use yomikiri::progress::Silent;
use yomikiri::rules::Game;
use yomikiri::solve::SolveOptions;
use yomikiri::table::Store;

/// Maximum total size of the page's files.
const MOST_BYTES: u64 = 200_000;

/// Makes the table of a game that is a list of its states: nim with 10 stones, of which one takes 1 to 3; who takes the last
/// one wins.
fn nim(store: &Store) {
    let most = 10_u32;
    let moves =
        |stones: u32| (1..=stones.min(3)).map(move |taken| (taken as u16 - 1, stones - taken));
    let all = || (0..=most).flat_map(moves);
    let mut row_pointers = vec![0];
    for stones in 0..=most {
        row_pointers.push(row_pointers[stones as usize] + moves(stones).count() as u64);
    }
    let listing = Listing {
        name: "nim-10".into(),
        title: "Nim with 10 stones".into(),
        start: most,
        row_pointers,
        actions: all().map(|(action, _)| action).collect(),
        successors: all().map(|(_, next)| next).collect(),
        results: (0..=most).map(|stones| if stones == 0 { -1 } else { GOES_ON }).collect(),
        texts: (0..=most).map(|stones| format!("{stones} stones")).collect(),
        action_names: (1..=3).map(|taken: u32| taken.to_string()).collect(),
        ..Listing::default()
    };
    let game = Listed::new(listing).unwrap().into_rules();
    let mut table = make(&*game, store);
    solve(&*game, &mut table, &SolveOptions::default(), &Silent).unwrap();
}

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
    nim(&tables.store());
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
