//! The networks that are kept with the repository still give the figures that `docs/leaderboard.md`
//! shows of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::tables::{Tables, copy_dir};

/// The rows of the leaderboard by policy: its first numbers, in percent and discs.
fn rows(page: &str) -> BTreeMap<String, Vec<f64>> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let policy = cells.get(2)?.strip_prefix('`')?.strip_suffix('`')?;
        let number = |cell: &&str| cell.trim_matches(['%', '>', '<']).parse().ok();
        Some((policy.to_string(), cells[3..8].iter().filter_map(number).collect::<Vec<f64>>()))
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
        let figure = |value: &Value| value.as_f64().unwrap();
        let decisive =
            |sets: &Value| 100.0 * figure(&sets["decisive_outcome"]["optimal_by_outcome"]);
        let splits = policy["splits"].as_object();
        let total = splits.map_or(&policy["total"], |splits| &splits["test"]);
        let mut ours = vec![decisive(total)];
        ours.extend(splits.map(|splits| decisive(&splits["train"])));
        ours.extend([
            100.0 * figure(&total["all"]["optimal_by_outcome"]),
            100.0 * figure(&total["all"]["optimal_by_score"]),
            figure(&total["all"]["expected_loss_score"]),
        ]);
        assert_eq!(ours.len(), page[name].len(), "{name}");
        for (ours, shown) in ours.iter().zip(&page[name]) {
            // Rounded to a tenth there; processors that round otherwise may turn a close choice.
            assert!((ours - shown).abs() < 0.2, "{name}: {ours} where {shown} is shown");
        }
    }
}

/// The network that has learned from exact values has them apart, as its card says they were when
/// it was trained, and every file says of each position where it belongs.
#[test]
fn held_out_figures_are_those_on_the_card() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tables/policies");
    let tables = Tables::new();
    copy_dir(&root, &tables.place("policies"));
    let rows = tables.place("rows.csv");
    let network = "learned:supervised-othello-4x4";
    let args = ["report", "-q", "--no-games", "--policy", network, "--policy", "greedy"];
    let csv = ["--csv", rows.to_str().unwrap()];
    let report = tables.json(&[&args[..], &csv].concat());
    let policy = &report["policies"][0];
    assert!(report["policies"][1]["splits"].is_null());
    let card = fs::read_to_string(root.join("supervised-othello-4x4.json")).unwrap();
    let card: Value = serde_json::from_str(&card).unwrap();
    let mut states = 0;
    for split in ["train", "test"] {
        let found = &policy["splits"][split];
        states += found["all"]["states"].as_u64().unwrap();
        for (name, figure) in [
            ("best outcome", &found["all"]["optimal_by_outcome"]),
            ("best outcome, decisive", &found["decisive_outcome"]["optimal_by_outcome"]),
            ("best score", &found["all"]["optimal_by_score"]),
        ] {
            let wanted = card["results"][format!("{split}: {name}")].as_f64().unwrap();
            // Processors that round otherwise may turn a close choice.
            assert!((figure.as_f64().unwrap() - wanted).abs() < 0.002, "{split}: {name} {wanted}");
        }
        // The same from the rows, added up plainly.
        let (mut count, mut kept) = (0u64, 0.0);
        let mut reader = csv::Reader::from_path(&rows).unwrap();
        for row in reader.deserialize::<BTreeMap<String, String>>() {
            let row = row.unwrap();
            if row["policy"] == network && row["split"] == split {
                count += 1;
                kept += row["optimal_by_outcome"].parse::<f64>().unwrap();
            }
            assert!(row["policy"] == network || row["split"].is_empty());
        }
        assert_eq!(found["all"]["states"], count);
        let mean = found["all"]["optimal_by_outcome"].as_f64().unwrap();
        assert!((kept / count as f64 - mean).abs() < 1e-12, "{split}");
    }
    assert_eq!(states, policy["total"]["all"]["states"].as_u64().unwrap());
    // And alone.
    let args = ["report", "-q", "--policy", network, "--split", "test"];
    let alone = tables.json(&args);
    assert_eq!(alone["policies"][0]["total"], policy["splits"]["test"]);
    assert!(alone["table"]["chosen"].as_str().unwrap().contains("0.9 to train"));
    let text = tables.ok(&args);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("supervised ") && !text.contains("supervised *"), "{text}");
}

/// Where the networks of the repository are measured too, the report fits a screen, the best stand
/// first, and the one that learned from exact values stands where it is not yet known.
#[test]
fn the_first_screen_fits_and_ranks_by_what_was_not_learned() {
    let tables = Tables::new();
    copy_dir(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tables/policies"),
        &tables.place("policies"),
    );
    let text = tables.ok(&["report", "-q"]);
    let width = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(text.lines().count() <= 40 && width(&text) <= 100, "{text}");
    let row = |name: &str| -> Vec<&str> {
        let line = text.lines().find(|line| line.get(4..).is_some_and(|it| it.starts_with(name)));
        line.unwrap().split_whitespace().collect()
    };
    assert_eq!(row("perfect")[..3], ["1", "perfect", "100.0%"]);
    assert_eq!(row("supervised")[..5], ["2", "supervised", "*", "95.2%", "100.0%"]);
    assert_eq!(row("random")[..2], ["9", "random"]);
    let cheap = ["random", "greedy", "weights", "n-hand:2", "n-most:1", "perfect"].into_iter();
    let cheap = cheap.flat_map(|policy| ["--policy", policy]);
    let long = ["--label", "a name that is far too long for a table=greedy"].repeat(6);
    let args = ["report", "-q", "--full", "--by", "layer,distance"].into_iter().chain(cheap);
    let full = tables.ok(&args.chain(long).collect::<Vec<_>>());
    assert!(full.lines().count() > 400 && width(&full) <= 100, "{}", width(&full));
}
