//! The stored networks reproduce the figures in `docs/results/leaderboard.md`, and the one for minishogi those in
//! `docs/results/learned-minishogi.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::tables::{Tables, copy_dir};
use yomikiri_measure::render::history as history_of;

/// Columns of the leaderboard that positions alone decide.
const COLUMNS: [&str; 5] =
    ["result kept", "where learned", "all: result kept", "all: score kept", "all: discs lost"];

/// Returns the rows of the leaderboard by policy: their numbers of these columns, in percent and discs.
fn rows(page: &str) -> BTreeMap<String, Vec<f64>> {
    let cells = |line: &str| line.split('|').map(|it| it.trim().to_string()).collect::<Vec<_>>();
    let heads = page.lines().map(cells).find(|cells| cells.get(1).is_some_and(|it| it == "policy"));
    let heads = heads.unwrap();
    let place = |name: &&str| heads.iter().position(|head| head == name).unwrap();
    let places: Vec<usize> = COLUMNS.iter().map(place).collect();
    let row = |line: &str| {
        let cells = cells(line);
        let policy = cells.get(1)?.trim_end_matches(" =").strip_prefix('`')?.strip_suffix('`')?;
        let number = |at: &usize| cells[*at].trim_matches(['%', '>', '<']).parse().ok();
        Some((policy.to_string(), places.iter().filter_map(number).collect::<Vec<f64>>()))
    };
    page.lines().filter_map(row).collect()
}

#[test]
fn networks_of_the_repository_keep_their_places() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let tables = Tables::new();
    copy_dir(&root.join("tables/policies"), &tables.place("policies"));
    let page = rows(&fs::read_to_string(root.join("docs/results/leaderboard.md")).unwrap());
    let learned: Vec<&String> = page.keys().filter(|name| name.starts_with("learned:")).collect();
    let cards = fs::read_dir(root.join("tables/policies")).unwrap();
    let cards = cards.filter(|entry| {
        let path = entry.as_ref().unwrap().path();
        path.to_str().unwrap().ends_with("-othello-4x4.json")
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
        let decisive = |sets: &Value| 100.0 * figure(&sets["decisive_result"]["result_kept"]);
        let splits = policy["splits"].as_object();
        let total = splits.map_or(&policy["total"], |splits| &splits["test"]);
        let mut ours = vec![decisive(total)];
        ours.extend(splits.map(|splits| decisive(&splits["train"])));
        ours.extend([
            100.0 * figure(&total["all"]["result_kept"]),
            100.0 * figure(&total["all"]["score_kept"]),
            figure(&total["all"]["score_lost"]),
        ]);
        assert_eq!(ours.len(), page[name].len(), "{name}");
        for (ours, shown) in ours.iter().zip(&page[name]) {
            // The page rounds to a tenth; other CPUs may round a close choice differently.
            assert!((ours - shown).abs() < 0.2, "{name}: {ours} where {shown} is shown");
        }
    }
}

/// Held-out figures of the network trained on exact values equal those on its card, and every output assigns
/// positions to the same parts.
#[test]
fn held_out_figures_are_those_on_the_card() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tables/policies");
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
        states += found["all"]["positions"].as_u64().unwrap();
        for (name, figure) in [
            ("best outcome", &found["all"]["result_kept"]),
            ("best outcome, decisive", &found["decisive_result"]["result_kept"]),
            ("best score", &found["all"]["score_kept"]),
        ] {
            let wanted = card["results"][format!("{split}: {name}")].as_f64().unwrap();
            // Other CPUs may round a close choice differently.
            assert!((figure.as_f64().unwrap() - wanted).abs() < 0.002, "{split}: {name} {wanted}");
        }
        // Recomputes the figures from the rows.
        let (mut count, mut kept) = (0u64, 0.0);
        let mut reader = csv::Reader::from_path(&rows).unwrap();
        for row in reader.deserialize::<BTreeMap<String, String>>() {
            let row = row.unwrap();
            if row["policy"] == network && row["split"] == split {
                count += 1;
                kept += row["result_kept"].parse::<f64>().unwrap();
            }
            assert!(row["policy"] == network || row["split"].is_empty());
        }
        assert_eq!(found["all"]["positions"], count);
        let mean = found["all"]["result_kept"].as_f64().unwrap();
        assert!((kept / count as f64 - mean).abs() < 1e-12, "{split}");
    }
    assert_eq!(states, policy["total"]["all"]["positions"].as_u64().unwrap());
    // The part alone has the same figures.
    let args = ["report", "-q", "--policy", network, "--split", "test"];
    let alone = tables.json(&args);
    assert_eq!(alone["policies"][0]["total"], policy["splits"]["test"]);
    assert!(alone["table"]["chosen"].as_str().unwrap().contains("0.9 to train"));
    // Details on the part agree too.
    let held_out = policy["held_out"].as_object().unwrap();
    assert!(held_out["split"] == "test" && held_out.len() == 11);
    for (name, figures) in held_out.iter().filter(|(name, _)| *name != "split") {
        assert_eq!(&alone["policies"][0][name], figures, "{name}");
        assert!(figures.is_null() || policy[name] != *figures, "{name}");
    }
    assert!(alone["policies"][0]["held_out"]["layers"] == held_out["layers"]);
    assert!(report["policies"][1]["held_out"].is_null());
    assert!(alone["games"].is_null() && alone["why_no_games"].as_str().unwrap().contains("some"));
    assert!(report["games"].is_null() && report["why_no_games"].is_null());
    let text = tables.ok(&args);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("supervised ") && !text.contains("supervised *"), "{text}");
    assert!(text.contains("\nGames      not computed:\n           games need all positions"));
}

/// The page shows held-out figures by discs for the network, and figures of all positions for a policy
/// without training.
#[test]
fn heat_maps_are_of_what_was_not_learned() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tables/policies");
    let tables = Tables::new();
    copy_dir(&root, &tables.place("policies"));
    let page = tables.place("page.html");
    let policies = "learned:supervised-othello-4x4,greedy";
    let report = tables.json(&[
        "report",
        "-q",
        "--no-games",
        "--policy",
        policies,
        "--html",
        page.to_str().unwrap(),
    ]);
    let page = fs::read_to_string(page).unwrap();
    let map = page.split("<h2 id=\"where\">").nth(1).unwrap().split("</table>").next().unwrap();
    let row = |name: &str| -> Vec<String> {
        let row = map.split("<tr").skip(1).find(|row| row.contains(name)).unwrap();
        let cell = |cell: &str| cell.split("</td>").next()?.rsplit('>').next().map(String::from);
        row.split("<td").skip(1).filter_map(cell).filter(|cell| cell != "–").collect()
    };
    let kept = |groups: &Value| -> Vec<String> {
        let figures = groups.as_array().unwrap().iter().map(|group| &group["figures"]);
        let figures = figures.map(|figures| &figures["decisive_result"]["result_kept"]);
        figures.filter_map(Value::as_f64).map(|kept| format!("{:.0}", 100.0 * kept)).collect()
    };
    let [network, greedy] = [&report["policies"][0], &report["policies"][1]];
    assert_eq!(row("supervised *"), kept(&network["held_out"]["layers"]));
    assert_ne!(row("supervised *"), kept(&network["layers"]));
    assert_eq!(row("greedy"), kept(&greedy["layers"]));
    // The text shows the same, with the number of positions.
    let text = tables.ok(&["report", "-q", "--canonical", "--by", "layer", "--policy", policies]);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let layers = network["held_out"]["layers"].as_array().unwrap();
    let twelve = layers.iter().find(|group| group["layer"] == 12).unwrap();
    let figures = &twelve["figures"]["decisive_result"];
    let line = text.lines().find(|line| line.starts_with("   12 ")).unwrap();
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells[2], figures["positions"].to_string());
    let kept = 100.0 * figures["result_kept"].as_f64().unwrap();
    assert_eq!(cells[3], format!("{kept:.1}%"));
}

/// A report with the repository's networks fits a screen, lists the best first, and ranks the network trained
/// on exact values by its held-out figures.
#[test]
fn the_first_screen_fits_and_ranks_by_what_was_not_learned() {
    let tables = Tables::new();
    copy_dir(
        &Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tables/policies"),
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
    let labels = (1..=6).map(|n| format!("a name {n} that is far too long for a table=greedy"));
    let labels: Vec<String> = labels.collect();
    let mut args = vec!["report", "-q", "--full", "--by", "layer,distance"];
    args.extend(cheap);
    labels.iter().for_each(|label| args.extend(["--label", label]));
    let full = tables.ok(&args);
    assert!(full.lines().count() > 400 && width(&full) <= 100, "{}", width(&full));
}

/// The stored network for minishogi has the page's figures, and its wins and losses on a table of some exam
/// positions are as expected.
#[test]
fn the_network_for_minishogi_sees_wins_and_losses() {
    let kept = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tables/policies");
    let tables = Tables::new();
    copy_dir(&kept, &tables.place("policies"));
    let card = fs::read_to_string(kept.join("value-minishogi.json")).unwrap();
    let card: Value = serde_json::from_str(&card).unwrap();
    let docs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("docs/results/learned-minishogi.md");
    let docs = fs::read_to_string(docs).unwrap();
    for (result, row, digits) in [
        ("held out: right", "| 44 (100,000 games) |", 2),
        ("won by force: kept, depth=1", "| the network, one ply", 1),
        ("won by force: kept, depth=6", "| the beam of the source", 1),
        ("at risk: lost by force, depth=6", "| the beam of the source", 1),
    ] {
        let row = docs.lines().find(|line| line.starts_with(row)).unwrap();
        let shown = format!("{:.digits$} %", 100.0 * card["results"][result].as_f64().unwrap());
        assert!(row.contains(&shown), "{result}: {shown} is not in {row}");
    }
    let exam = fs::read_to_string(kept.join("value-minishogi.exam.txt")).unwrap();
    let (won, at_risk): (Vec<&str>, Vec<&str>) =
        exam.lines().partition(|line| line.ends_with("won by force"));
    let some = [&won[..20], &at_risk[..20]].concat().join("\n");
    let file = tables.place("some.txt");
    fs::write(&file, some).unwrap();
    let file = file.to_str().unwrap();
    let made = ["enumerate", "--game", "minishogi", "--max-depth", "3", "-q", "--roots", file];
    tables.ok(&made);
    tables.ok(&["value-iterate", "-q"]);
    let policies = "learned:value-minishogi,learned:value-minishogi?mate=2000,random";
    let report = tables.json(&["report", "-q", "--positions", file, "--policy", policies]);
    let [one, mate, random] = [0, 1, 2].map(|at| &report["policies"][at]["forced"]);
    let figure = |of: &Value, name: &str| of[name].as_f64().unwrap();
    for forced in [one, mate, random] {
        assert_eq!([&forced["forced_won"], &forced["forced_at_risk"]], [16, 16]);
    }
    // Other CPUs may round a close choice differently.
    assert!((figure(one, "forced_won_kept") - 12.0 / 16.0).abs() < 0.1, "{one}");
    assert!((figure(one, "forced_at_risk_lost") - 1.0 / 16.0).abs() < 0.1, "{one}");
    assert!(
        figure(mate, "forced_won_kept") == 1.0 && figure(mate, "forced_at_risk_lost") == 0.0,
        "{mate}"
    );
    assert!(
        figure(random, "forced_won_kept") < 0.1 && figure(random, "forced_at_risk_lost") > 0.4,
        "{random}"
    );
}

/// Returns a table row of cells.
fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// Games of the kept networks on 8x8: two policies, and random plies before.
const GAMES: [(&str, &str, &str); 9] = [
    ("learned:td-othello-8x8", "random", "0"),
    ("learned:disc-regression-othello-8x8", "random", "0"),
    ("learned:disc-regression-othello-8x8", "n-least:1", "6"),
    ("learned:disc-regression-othello-8x8", "n-least:2", "6"),
    ("learned:dqn-othello-8x8", "random", "0"),
    ("learned:q-mlp-othello-8x8", "random", "0"),
    ("learned:q-mlp-othello-8x8", "alphabeta:2", "6"),
    ("learned:q-mlp-othello-8x8?depth=2", "alphabeta:2", "6"),
    ("learned:q-mlp-othello-8x8?depth=2", "learned:q-mlp-othello-8x8", "6"),
];

/// The games and the curve in `docs/results/learned.md` are those of the kept networks. With `YOMIKIRI_WRITE_PAGES` set
/// they are written anew.
#[test]
fn the_learned_page_shows_the_kept_networks() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let write = std::env::var_os("YOMIKIRI_WRITE_PAGES").is_some();
    let tables = Tables::new();
    copy_dir(&root.join("tables/policies"), &tables.place("policies"));
    let mut games =
        row(&["policy", "against", "random plies", "won as Black", "won as White"]
            .map(str::to_string));
    games += "|---|---|--:|--:|--:|\n";
    for (policy, opponent, plies) in GAMES {
        let sample = ["--sample", "500", "--seed", "1", "--random-plies", plies];
        let found = tables.json(&[&["match", "8x8", policy, opponent, "-q"], &sample[..]].concat());
        let won = |side: &str| {
            let wins = found[side]["wins"].as_u64().unwrap();
            format!("{:.1} %", wins as f64 / 5.0)
        };
        let names = [policy, opponent].map(|name| format!("`{}`", name.replace("learned:", "")));
        games += &row(&[&names[..], &[plies.to_string(), won("first"), won("second")]].concat());
    }

    let history = root.join("tables/policies/dqn-othello-8x8.csv");
    let mut reader = csv::Reader::from_path(history).unwrap();
    let rows = reader.deserialize::<BTreeMap<String, String>>().map(|row| {
        let numbers = row.unwrap().into_iter();
        numbers.filter_map(|(name, cell)| Some((name, cell.parse().ok()?))).collect()
    });
    let rows: Vec<BTreeMap<String, f64>> = rows.collect();
    let opponents = ["random", "n-hand:1", "n-hand-custom:1", "n-least:1", "n-most:1"];
    let heads = opponents.iter().map(|name| format!("`{name}`"));
    let heads =
        ["iterations".to_string()].into_iter().chain(heads).chain(["mean loss".to_string()]);
    let mut curve = row(&heads.collect::<Vec<_>>()) + "|---|--:|--:|--:|--:|--:|--:|\n";
    for begin in [0, 300, 600, 900] {
        let some = &rows[begin..begin + 100];
        let mean = |name: &str| some.iter().map(|row| row[name]).sum::<f64>() / 100.0;
        let points = opponents
            .map(|name| format!("{:.1} %", 100.0 * mean(&format!("points against {name}"))));
        let range = format!("{} to {}", begin + 1, begin + 100);
        curve += &row(&[&[range], &points[..], &[format!("{:.4}", mean("loss"))]].concat());
    }

    let page = root.join("docs/results/learned.md");
    let mut text = fs::read_to_string(&page).unwrap();
    let number = |cell: &str| cell.trim().trim_end_matches(" %").parse::<f64>().ok();
    for (name, table) in [("games", games), ("dqn", curve)] {
        let mark = format!("<!-- {name} -->\n");
        let from = text.find(&mark).unwrap() + mark.len();
        let to = from + text[from..].find("<!-- end -->").unwrap();
        if write {
            text.replace_range(from..to, &table);
            continue;
        }
        assert_eq!(text[from..to].lines().count(), table.lines().count(), "{name}");
        for (shown, found) in text[from..to].split('|').zip(table.split('|')) {
            // Other CPUs may round a close choice differently, and a game goes on from there.
            let is_near =
                number(shown).zip(number(found)).is_some_and(|(a, b)| (a - b).abs() < 2.0);
            assert!(shown == found || is_near, "{name}: {found} where {shown} is shown");
        }
    }
    let drawn = history_of("dqn-othello-8x8: training history", &rows).unwrap();
    let picture = root.join("docs/results/dqn-othello-8x8.svg");
    if write {
        fs::write(&page, text).unwrap();
        fs::write(&picture, drawn).unwrap();
    } else {
        assert!(fs::read_to_string(picture).unwrap() == drawn, "the curve is of another run");
    }
}
