//! The page of `solver serve`, operated in a browser by `tests/page/drive.mjs` like a user.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::page::QUIETLY;
use crate::common::http::Served;
use crate::common::needs::is_there;
use crate::common::tables::Tables;

const BROWSERS: [&str; 3] =
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
/// Maximum total size of the page's files.
const MOST_BYTES: u64 = 200_000;

#[test]
fn a_person_plays_and_explores_in_the_browser() {
    let here = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let packages = here.join("target/ci-node/node_modules");
    let browser = BROWSERS.iter().find(|browser| Path::new(browser).exists());
    let has_node = Command::new("node").arg("--version").output().is_ok();
    let has_packages =
        ["playwright-core", "axe-core"].iter().all(|name| packages.join(name).exists());
    let there = browser.is_some() && has_node && has_packages;
    if !is_there("Chromium, Node, or Playwright and axe in target/ci-node", there) {
        return;
    }
    let browser = browser.unwrap();
    let tables = Tables::after(&[
        &["enumerate", "--game", "minishogi", "--max-depth", "3"],
        &["value-iterate"],
        &["enumerate", "--game", "animal-shogi-3x3", "--max-depth", "6"],
        &["value-iterate"],
        &["enumerate", "--size", "6", "--max-depth", "1"],
        &["value-iterate"],
        &["enumerate", "--size", "4", "--max-depth", "2"],
        &["value-iterate"],
        &["enumerate", "--size", "4"],
        &["value-iterate"],
    ]);
    let served = Served::new(&tables, &[]);
    let mut drive = Command::new("node");
    drive.arg(here.join("tests/page/drive.mjs")).arg(&served.address);
    drive.arg(env!("CARGO_BIN_EXE_solver")).arg(tables.root()).arg(packages).arg(browser);
    let driven = drive.args(QUIETLY).output().unwrap();
    let printed = String::from_utf8_lossy(&driven.stderr);
    assert!(driven.status.success(), "{printed}");
    assert!(String::from_utf8_lossy(&driven.stdout).ends_with(" passed\n"), "{driven:?}");
}

#[test]
fn the_page_is_small() {
    let files = fs::read_dir(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .join("crates/solver/src/serve/page"),
    )
    .unwrap();
    let files = files.map(|file| file.unwrap().metadata().unwrap().len());
    let bytes: u64 = files.sum();
    assert!((20_000..=MOST_BYTES).contains(&bytes), "{bytes}");
}
