//! The networks that are kept with the repository still give the figures that `docs/leaderboard.md`
//! shows of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::tables::{Tables, copy_dir};

/// The rows of the leaderboard by policy: its first four numbers, in percent and discs.
fn rows(page: &str) -> BTreeMap<String, Vec<f64>> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let policy = cells.get(2)?.strip_prefix('`')?.strip_suffix('`')?;
        let number = |cell: &&str| cell.trim_matches(['%', '>', '<']).parse().ok();
        Some((policy.to_string(), cells[3..7].iter().map(number).collect::<Option<Vec<f64>>>()?))
    };
    page.lines().filter_map(row).collect()
}

#[test]
fn networks_of_the_repository_keep_their_places() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tables = Tables::new();
    copy_dir(&root.join("tables/policies"), &tables.place("policies"));
    let page = rows(&fs::read_to_string(root.join("docs/leaderboard.md")).unwrap());
    let learned: Vec<&String> = page.keys().filter(|name| name.starts_with("learned:")).collect();
    let cards = fs::read_dir(root.join("tables/policies")).unwrap();
    let cards = cards.filter(|entry| {
        let path = entry.as_ref().unwrap().path();
        path.extension().is_some_and(|ending| ending == "json")
    });
    let asked: Vec<&String> = learned.iter().filter(|name| !name.contains('?')).copied().collect();
    assert_eq!(asked.len(), cards.count(), "each network has its row");
    let words = learned.iter().flat_map(|name| ["--policy", name.as_str()]);
    let words: Vec<&str> = ["report", "-q", "--no-games"].into_iter().chain(words).collect();
    let report = tables.json(&words);
    let found = report["policies"].as_array().unwrap();
    assert_eq!(found.len(), learned.len());
    for policy in found {
        let name = policy["policy"].as_str().unwrap();
        let total = &policy["total"];
        let figure = |value: &Value| value.as_f64().unwrap();
        let ours = [
            100.0 * figure(&total["decisive_outcome"]["optimal_by_outcome"]),
            100.0 * figure(&total["all"]["optimal_by_outcome"]),
            100.0 * figure(&total["all"]["optimal_by_score"]),
            figure(&total["all"]["expected_loss_score"]),
        ];
        for (ours, shown) in ours.iter().zip(&page[name]) {
            // Rounded to a tenth there; processors that round otherwise may turn a close choice.
            assert!((ours - shown).abs() < 0.2, "{name}: {ours} where {shown} is shown");
        }
    }
}
