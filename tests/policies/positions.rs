//! Choice of positions of reports and comparisons: files, samples, games, and the checksum of what was judged.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use yomikiri::oracle::{Orienting, SolvedTable};
use yomikiri::progress::Silent;
use yomikiri::registry::othello;
use yomikiri::rules::{AnyPosition, Rules};
use yomikiri::table::Store;
use yomikiri_measure::judge::{PositionList, SampleOf, from_random_games, uniform};

use crate::common::tables::{Ran, Tables};

fn empty(game: &dyn Rules, position: &AnyPosition) -> u32 {
    yomikiri::oracle::empty_squares(game, &position.state).unwrap()
}

/// Counts how often each position of a list occurs.
fn counts(list: &PositionList) -> HashMap<AnyPosition, u32> {
    let mut counts = HashMap::new();
    list.occurring().for_each(|position| *counts.entry(*position).or_default() += 1);
    counts
}

/// Returns χ² per degree of freedom of counts against expected ones, cells below 5 pooled.
fn chi_squared(cells: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut sum, mut freedom, mut pooled) = (0.0, 0.0, (0.0, 0.0));
    let mut add = |(count, expected): (f64, f64)| {
        sum += (count - expected) * (count - expected) / expected;
        freedom += 1.0;
    };
    for (count, expected) in cells {
        pooled = (pooled.0 + count, pooled.1 + expected);
        if pooled.1 >= 5.0 {
            add(std::mem::take(&mut pooled));
        }
    }
    sum / freedom
}

/// Computes with which probability random games first meet each position with a number of empty squares, in which
/// they go on: move by move, without drawing.
fn first_met(game: &dyn Rules, wanted: u32) -> HashMap<AnyPosition, f64> {
    let (mut now, mut met) = (HashMap::from([(game.start(), 1.0)]), HashMap::new());
    while !now.is_empty() {
        let mut next: HashMap<AnyPosition, f64> = HashMap::new();
        for (position, chance) in now {
            let actions = game.actions(&position.state);
            if empty(game, &position) <= wanted {
                *met.entry(position).or_default() += if actions.is_empty() { 0.0 } else { chance };
                continue;
            }
            for &action in &actions {
                *next.entry(game.advance(&position, action)).or_default() +=
                    chance / actions.len() as f64;
            }
        }
        now = next;
    }
    met.retain(|_, chance| *chance > 0.0);
    let all: f64 = met.values().sum();
    met.values_mut().for_each(|chance| *chance /= all);
    met
}

#[test]
fn a_sample_is_drawn_as_its_description_says() {
    let (game, count) = (othello("4").unwrap(), 30_000);
    let sample = SampleOf { range: Some((4, 7)), count, seed: 5 };
    let list = from_random_games(&*game, sample, &Silent).unwrap();
    assert_eq!(list.occurrences(), count as u64);
    assert!(list.distinct() < count / 2, "positions are drawn with repetition");
    let counts = counts(&list);
    for wanted in 4..=7 {
        let of = |position: &AnyPosition| empty(&*game, position) == wanted;
        let drawn: u32 = counts.iter().filter(|(of_, _)| of(of_)).map(|(_, count)| count).sum();
        // A quarter each: within four standard errors.
        let (share, error) = (f64::from(drawn) / count as f64, (0.25 * 0.75 / count as f64).sqrt());
        assert!((share - 0.25).abs() < 4.0 * error, "{wanted} empty: {share}");
        let met = first_met(&*game, wanted);
        assert!(counts.keys().filter(|position| of(position)).all(|at| met.contains_key(at)));
        let cells = met.iter().map(|(position, chance)| {
            let count = counts.get(position).copied().unwrap_or(0);
            (f64::from(count), chance * f64::from(drawn))
        });
        let ratio = chi_squared(cells);
        assert!((0.8..1.2).contains(&ratio), "{wanted} empty: {ratio}");
    }
}

#[test]
fn a_uniform_sample_draws_every_position_equally() {
    let dir = tempfile::tempdir().unwrap();
    let game = othello("4").unwrap();
    let table = SolvedTable::of_whole(game, &Store::at(dir.path()), &Silent).unwrap();
    let (game, count) = (table.game(), 60_000);
    let sample = SampleOf { range: Some((3, 6)), count, seed: 2 };
    let list = uniform(table.states(), sample, &Silent).unwrap();
    assert_eq!(list.occurrences(), count as u64);
    let counts = counts(&list);
    let mut all = Vec::new();
    for piece in table.states().pieces() {
        let add = |_, position| all.push(position);
        table.states().visit_open(piece, Orienting::All, add).unwrap();
    }
    all.retain(|position| (3..=6).contains(&empty(game, position)));
    assert!(counts.keys().all(|position| all.contains(position)));
    let expected = count as f64 / all.len() as f64;
    let of = |at: &AnyPosition| (f64::from(counts.get(at).copied().unwrap_or(0)), expected);
    let ratio = chi_squared(all.iter().map(of));
    assert!((0.95..1.05).contains(&ratio), "{ratio} in {} positions", all.len());
    // Not even by the number of empty squares.
    let mut by_empty: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for position in &all {
        let (count, expected) = of(position);
        let cell = by_empty.entry(empty(game, position)).or_default();
        *cell = (cell.0 + count, cell.1 + expected);
    }
    assert!(chi_squared(by_empty.into_values()) < 5.0);
}

#[test]
fn seeds_give_independent_samples() {
    let game = othello("8").unwrap();
    let mut seeds: HashMap<AnyPosition, BTreeSet<u64>> = HashMap::new();
    for seed in 0..60 {
        let sample = SampleOf { range: Some((10, 10)), count: 60, seed };
        let list = from_random_games(&*game, sample, &Silent).unwrap();
        list.positions().for_each(|position| {
            seeds.entry(*position).or_default().insert(seed);
        });
    }
    // 3,600 positions of random games after 50 moves practically never meet.
    let most = seeds.values().map(BTreeSet::len).max();
    assert_eq!(most, Some(1));
}

/// Returns the part of a report or comparison that says which positions were judged.
fn judged(tables: &Tables, words: &[&str]) -> Value {
    tables.json(words)["table"].clone()
}

#[test]
fn samples_say_what_they_estimate() {
    let tables = Tables::new();
    let sample = ["report", "4x4", "--sample", "5000", "--policy", "random", "-q"];
    let table = judged(&tables, &sample);
    assert_eq!((&table["judged_states"], &table["source"]), (&5000.into(), &"sample".into()));
    let words = table["chosen"].as_str().unwrap();
    for part in ["equally likely", "forced moves included", "played again", "with repetition"] {
        assert!(words.contains(part), "{words}");
    }
    let shown = tables.ok(&sample);
    let begin: String = shown.lines().take(7).collect::<Vec<_>>().join(" ");
    assert!(
        begin.contains("5,000 positions (178 distinct): a sample, seed 0: 8 to 11 empty"),
        "{begin}"
    );
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    let page = tables.place("sample.html");
    tables.ok(&[&sample[..], &["--html", page.to_str().unwrap()]].concat());
    assert!(fs::read_to_string(&page).unwrap().contains("each number equally likely"));
    // Drawn evenly from a table, a sample estimates the figures of the whole table.
    let lost = |words: &[&str]| {
        let report = tables.json(words);
        let policy = &report["policies"][0];
        let lost = &policy["total"]["decisive_result"]["score_lost"];
        (lost.as_f64().unwrap(), policy["intervals"]["score_lost"].clone())
    };
    let (exact, _) = lost(&["report", "4x4", "--policy", "random", "-q"]);
    let whole = ["--empty-squares", "1..12"];
    let even = [&sample[..], &whole, &["--weight", "uniform"]].concat();
    let (uniform, interval) = lost(&even);
    let is_within = |bound: &str, than: f64| (interval[bound].as_f64().unwrap() - than).abs() < 0.5;
    assert!(
        (uniform - exact).abs() < 0.3 && is_within("lower", exact) && is_within("upper", exact)
    );
    let (games, _) = lost(&[&sample[..], &whole].concat());
    assert!(games > exact + 0.3, "{games} {exact}: games meet other positions");
    let ran = tables.run(&["report", "8x8", "--sample", "10", "--weight", "uniform", "-q"]);
    assert!(ran.refused("no enumeration").contains("--weight uniform: othello-8x8 is not enum"));
    // An enumeration that is not solved is drawn from too; values are searched then.
    let unsolved = Tables::new();
    unsolved.ok(&["enumerate", "4x4", "-q"]);
    let small = ["--sample", "50", "--empty-squares", "1..5", "--weight", "uniform", "-q"];
    let words = [&["report", "4x4", "--policy", "random"][..], &small].concat();
    let [by_search, by_table] = [&unsolved, &tables].map(|tables| judged(tables, &words));
    assert_eq!((&by_search["values"], &by_table["values"]), (&"search".into(), &"table".into()));
    assert_eq!(by_search["checksum"], by_table["checksum"]);
}

#[test]
fn a_file_means_the_same_by_table_and_by_search() {
    let tables = Tables::new();
    let file = |name: &str, text: &str| {
        fs::write(tables.place(name), text).unwrap();
        tables.place(name).to_str().unwrap().to_string()
    };
    // A transcript counts for the start and the positions after each move; the game goes on in all of them.
    let game = file("game.txt", "b1a1a2\n");
    let twice = file("twice.txt", "b1a1a2\n% a remark\nb1a1a2\nb1\n");
    let report = |tables: &Tables, words: &[&str]| {
        let begin = ["report", "4x4", "--policy", "greedy,random", "-q", "--positions"];
        tables.json(&[&begin[..], words].concat())
    };
    let once = report(&tables, &[&game]);
    assert_eq!(once["table"]["judged_states"], 4);
    let weighted = report(&tables, &[&twice]);
    let table = &weighted["table"];
    assert_eq!((&table["judged_states"], &table["asked_states"]), (&10.into(), &4.into()));
    let last = report(&tables, &[&game, "--last"]);
    assert_eq!(last["table"]["judged_states"], 1);
    // With the figures of the single positions, weighted by hand: 3 times the start and b1, twice the others.
    let rows = tables.place("rows.csv");
    let csv = ["--csv", rows.to_str().unwrap()];
    report(&tables, &[&[&twice[..]], &csv[..]].concat());
    let mut reader = csv::Reader::from_path(&rows).unwrap();
    let all: Vec<BTreeMap<String, String>> = reader.deserialize().map(|row| row.unwrap()).collect();
    let greedy: Vec<_> = all.iter().filter(|row| row["policy"] == "greedy").collect();
    let weights: Vec<f64> = greedy.iter().map(|row| row["weight"].parse().unwrap()).collect();
    assert_eq!(weights, [3.0, 3.0, 2.0, 2.0]);
    let lost = |row: &BTreeMap<String, String>| row["score_lost"].parse::<f64>().unwrap();
    let mean =
        greedy.iter().zip(&weights).map(|(row, weight)| lost(row) * weight).sum::<f64>() / 10.0;
    let figure = &weighted["policies"][0]["total"]["all"]["score_lost"];
    assert!((figure.as_f64().unwrap() - mean).abs() < 1e-12);
    // A table that lacks them all leaves them to the search: the same positions, values and figures.
    let bounded = Tables::new();
    bounded.ok(&["enumerate", "4x4", "--max-depth", "1", "--name", "small", "-q"]);
    bounded.ok(&["value-iterate", "-q"]);
    let words = ["report", "small", "--policy", "greedy,random", "-q", "--positions", &twice];
    let searched = bounded.json(&words);
    assert_eq!(searched["table"]["values"], "search");
    for (what, place) in [("positions", "/table/checksum"), ("figures", "/policies/0/total")] {
        assert_eq!(searched.pointer(place), weighted.pointer(place), "{what}");
    }
    // An export of all states of a table is the table.
    tables.ok(&["export", "--states", "-q"]);
    let states = tables.place("othello-4x4-states");
    let by_file = report(&tables, &[states.to_str().unwrap()]);
    let whole = tables.json(&["report", "4x4", "--policy", "greedy,random", "-q"]);
    assert_eq!(by_file["table"]["checksum"], whole["table"]["checksum"]);
    let kept = "/policies/0/total/decisive_result/positions";
    assert_eq!(by_file.pointer(kept), whole.pointer(kept));
    let bad = file("bad.txt", "b1a1\nXXXX\n");
    let ran = tables.run(&["report", "4x4", "--positions", &bad, "-q"]);
    assert!(ran.refused("a bad line").contains("bad.txt, line 2: "), "{ran:?}");
    // Finished games are left out, and counted.
    let line = tables.json(&["query", "4x4"])["principal_variation"].clone();
    let line: Vec<&str> = line.as_array().unwrap().iter().map(|m| m.as_str().unwrap()).collect();
    let over = file("over.txt", &line.concat());
    let table = report(&tables, &[&over])["table"].clone();
    assert_eq!(table["left_out"]["finished"], 1);
    assert_eq!(table["judged_states"], line.len());
    let ran = tables.run(&["report", "4x4", "--positions", &over, "--last", "-q"]);
    assert!(ran.refused("nothing is left").contains("no position can be judged: 1 finished"));
}

#[test]
fn positions_that_take_too_long_are_left_out_and_counted() {
    let tables = Tables::new();
    let file = tables.place("early.txt");
    let late = "XXXOOOOOOOOXOOOO-OXXXOOOXXOOOOOOXX-OOOOOO-XOOOOO--OXXOOOXXXXXXXX O;";
    fs::write(&file, format!("f5d6c3\n{late}\n")).unwrap();
    let words = ["report", "8x8", "--policy", "random", "--search-time", "1", "--positions"];
    let words = [&words[..], &[file.to_str().unwrap()]].concat();
    let ran = tables.run(&words);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("searching 5 positions with up to 60 empty squares"), "{ran:?}");
    assert!(ran.stderr.contains("left out: 4 not searched within the limit of time"), "{ran:?}");
    assert!(ran.stdout.contains("1 position: those of "), "{ran:?}");
    let table = judged(&tables, &words);
    assert_eq!((&table["judged_states"], &table["left_out"]["unsearched"]), (&1.into(), &4.into()));
    let few = [&words[..], &["--empty-squares", "1..10"]].concat();
    let table = judged(&tables, &few);
    assert_eq!((&table["judged_states"], &table["left_out"]["unsearched"]), (&1.into(), &0.into()));
}

#[test]
fn only_reports_on_the_same_positions_are_compared() {
    let tables = Tables::new();
    let place = |name: &str| tables.place(name).to_str().unwrap().to_string();
    let (file, then) = (place("some.txt"), place("then.json"));
    let report = |words: &[&str]| {
        tables.run(&[&["report", "4x4", "--policy", "greedy", "-q"][..], words].concat())
    };
    let positions = ["--positions", &file];
    fs::write(&file, "b1a1\n").unwrap();
    fs::write(&then, report(&[&positions[..], &["--json"]].concat()).stdout).unwrap();
    let against = ["--against", &then];
    let same = report(&[&positions[..], &against].concat());
    assert_eq!(same.code, 0, "{same:?}");
    // Other positions under the same name, as many of them.
    fs::write(&file, "b1a3\n").unwrap();
    let condition = ["--fail-if", "result_kept < baseline"];
    let other = report(&[&positions[..], &against, &condition].concat());
    assert!(other.refused("other positions").contains("the content of the positions"), "{other:?}");
    // The same positions under another name, and those of a part of the same number.
    let moved = place("moved.txt");
    fs::write(&moved, "b1a1\n").unwrap();
    assert_eq!(report(&[&["--positions", &moved][..], &against].concat()).code, 0);
    assert!(report(&against).refused("all positions").contains("the choice of positions differs"));
    // Positions of games depend on the policy and the seed.
    let games = ["--games-of", "random", "--games", "3", "--seed"];
    let played = |seed: &str, more: &[&str]| report(&[&games[..], &[seed], more].concat());
    fs::write(&then, played("1", &["--json"]).stdout).unwrap();
    assert_eq!(played("1", &against).code, 0);
    assert_eq!(played("2", &against).code, 2);
    // A policy of another name is not compared unless it is given the earlier name.
    let renamed = ["report", "4x4", "-q", "--games-of", "random", "--games", "3", "--seed", "1"];
    let policy = |words: &[&str]| tables.ok(&[&renamed[..], words, &against].concat());
    let text = policy(&["--policy", "weights"]);
    assert!(text.contains("not compared: weights\n"), "{text}");
    let text = policy(&["--label", "greedy=weights"]);
    assert!(!text.contains("not compared") && text.contains("Since "), "{text}");
}

/// The figures of both policies are those of a report on the same positions.
#[test]
fn comparisons_take_every_choice_of_positions() {
    let tables = Tables::new();
    let file = tables.place("some.txt");
    fs::write(&file, "b1a1a2c1\nb1a1a2c1\n").unwrap();
    for (game, words) in [
        ("4x4", &["--sample", "300", "--seed", "4"][..]),
        ("4x4", &["--sample", "300", "--weight", "uniform"]),
        ("8x8", &["--sample", "100", "--empty-squares", "4..7"]),
        ("4x4", &["--positions", file.to_str().unwrap()]),
        ("6x6", &["--games-of", "greedy", "--games", "4", "--empty-squares", "1..8"]),
    ] {
        let report = [&["report", game, "--policy", "greedy,weights", "-q"][..], words].concat();
        let compare = [&["compare", game, "greedy", "weights", "-q"][..], words].concat();
        let (report, compared) = (tables.json(&report), tables.json(&compare));
        assert_eq!(report["table"]["checksum"], compared["table"]["checksum"], "{words:?}");
        for set in ["all", "decisive_result", "decisive_score"] {
            for (at, who) in [(0, "first_lost"), (1, "second_lost")] {
                let figures = &report["policies"][at]["total"][set];
                assert_eq!(figures["positions"], compared[set]["positions"], "{words:?} {set}");
                let [one, other] = [&figures["score_lost"], &compared[set]["score"][who]]
                    .map(|figure| figure.as_f64().unwrap_or(0.0));
                assert!((one - other).abs() < 1e-12, "{words:?} {set} {who}: {one} {other}");
            }
        }
        let figures = &compared["figures"]["result_kept"];
        assert_eq!(figures[1], report["metrics"][1]["result_kept"], "{words:?}");
        let is_sample = words[0] == "--sample";
        assert_eq!(compared["all"]["score"]["difference"].is_object(), is_sample, "{words:?}");
        if is_sample {
            let interval = &compared["all"]["score"]["difference"];
            let [lower, upper] = ["lower", "upper"].map(|end| interval[end].as_f64().unwrap());
            let of = |who: &str| compared["all"]["score"][who].as_f64().unwrap();
            let mean = of("first_lost") - of("second_lost");
            assert!(lower <= mean && mean <= upper, "{lower} {mean} {upper}");
        }
    }
    let text = tables.ok(&["compare", "4x4", "greedy", "weights", "--sample", "50", "-q"]);
    assert!(text.contains("50 positions (") && text.contains("a sample, seed 0"), "{text}");
}

/// Neighbours in a ranking are tied where a sample does not part them, and in a whole table only if they are equal.
#[test]
fn ties_are_shown_where_nothing_tells_policies_apart() {
    let tables = Tables::new();
    let labels = ["--label", "one=greedy", "--label", "two=greedy"];
    let words = [&["report", "4x4", "--policy", "weights,perfect"], &labels[..], &["-q"]].concat();
    let sample = [&words[..], &["--sample", "300", "--empty-squares", "2..6"]].concat();
    let tied = |report: &Value| -> Vec<bool> {
        let policies = report["policies"].as_array().unwrap().iter();
        policies.map(|policy| policy["tied"].as_bool().unwrap()).collect()
    };
    // Weights and perfect moves, then the two that are the same: the second of them is tied with the first.
    assert_eq!(tied(&tables.json(&words)), [false, false, false, true]);
    assert_eq!(tied(&tables.json(&sample)), [false, false, true, true]);
    let page = tables.place("page.html");
    let page_of = ["--html", page.to_str().unwrap()];
    for (words, meaning) in [(&words, "tied with the policy"), (&sample, "not told apart")] {
        let shown = tables.ok(&[&words[..], &page_of].concat());
        assert!(shown.contains("\n 4= two ") && shown.contains(meaning), "{shown}");
        let shown = fs::read_to_string(&page).unwrap();
        assert!(shown.contains("two =</th>") && shown.contains(meaning));
        let shown = tables.ok(&[&words[..], &["--markdown"]].concat());
        assert!(shown.contains("`two` =") && shown.contains(meaning), "{shown}");
    }
}

/// A policy without a mistake in the sample has an interval that leaves room for some.
#[test]
fn a_sample_without_a_mistake_leaves_doubt() {
    let tables = Tables::new();
    let words = ["report", "4x4", "--policy", "perfect", "--sample", "100", "-q"];
    let report = tables.json(&words);
    let policy = &report["policies"][0];
    let (count, interval) = (
        policy["total"]["decisive_result"]["positions"].as_f64().unwrap(),
        &policy["intervals"]["result_kept"],
    );
    let exact = 0.025_f64.powf(1.0 / count);
    let lower = interval["lower"].as_f64().unwrap();
    assert!((lower - exact).abs() < 1e-6 && interval["upper"] == 1.0, "{interval}");
    let shown = tables.ok(&words);
    assert!(!shown.contains("100.0% to 100.0%") && !shown.contains("bootstrap"), "{shown}");
}

/// The policies stand in the same order on the screen and on the page, also where random moves are better.
#[test]
fn screen_and_page_rank_alike() {
    let tables = Tables::new();
    let page = tables.place("page.html");
    let sample = ["--sample", "100", "--empty-squares", "6..8", "-q"];
    let words = ["report", "8x8", "--policy", "weights,random,greedy", "--html"];
    let shown = tables.ok(&[&words[..], &[page.to_str().unwrap()], &sample].concat());
    let on_screen: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.trim_start().split_once(' '))
        .filter(|(place, _)| place.trim_end_matches('=').parse::<u32>().is_ok())
        .filter_map(|(_, rest)| rest.split_whitespace().next())
        .take(3)
        .collect();
    assert_eq!(on_screen, ["random", "weights", "greedy"]);
    let page = fs::read_to_string(page).unwrap();
    let ranking = &page[page.find("id=\"ranking\"").unwrap()..];
    let rows: Vec<&str> =
        ranking.split("<th title=\"").skip(1).filter_map(|row| row.split('"').next()).collect();
    assert_eq!(rows[..3], on_screen[..], "{rows:?}");
}

/// Labels are written as they are found: a killed search goes on from them, to the bytes of one that was not.
#[test]
fn a_killed_search_goes_on_from_its_labels() {
    let [killed, whole] = [Tables::new(), Tables::new()];
    let sample = ["--sample", "300", "--empty-squares", "14..15", "--policy", "random", "-q"];
    let words = [&["report", "8x8"][..], &sample].concat();
    let labels = |tables: &Tables| tables.place("labels/othello-8x8-uncounted.labels");
    let size = |tables: &Tables| fs::metadata(labels(tables)).map_or(0, |file| file.len());
    let mut child = killed.solver(&words).stdout(Stdio::null()).spawn().unwrap();
    while size(&killed) < 1000 {
        assert!(
            child.try_wait().unwrap().is_none(),
            "the search ended before its labels were there"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = size(&killed);
    let report = killed.json(&words);
    let wanted = whole.json(&words);
    assert!(before < size(&whole), "{before} of {}", size(&whole));
    assert_eq!(fs::read(labels(&killed)).unwrap(), fs::read(labels(&whole)).unwrap());
    assert_eq!(report["table"]["checksum"], wanted["table"]["checksum"]);
    assert_eq!(report["policies"], wanted["policies"]);
}

/// A search for targets is limited by a time that is printed, whatever the number of empty squares.
#[test]
fn targets_of_early_positions_take_as_long_as_is_allowed() {
    let tables = Tables::new();
    let file = tables.place("early.txt");
    let late = "XXXOOOOOOOOXOOOO-OXXXOOOXXOOOOOOXX-OOOOOO-XOOOOO--OXXOOOXXXXXXXX O;";
    fs::write(&file, format!("f5d6\n{late}\n")).unwrap();
    let words = ["export", "8x8", "--positions", file.to_str().unwrap(), "--search-time", "1"];
    let refused = tables.run(&words);
    assert_eq!((refused.code, &refused.stdout[..]), (2, ""), "{refused:?}");
    assert!(
        refused.stderr.contains("searching 4 positions with up to 60 empty squares: more than")
    );
    assert!(refused.stderr.contains("line 1: ") && refused.stderr.contains("--search-time"));
    let some = tables.run(&[&words[..], &["--skip-bad"]].concat());
    assert_eq!((some.code, some.stdout.lines().count()), (0, 1), "{some:?}");
    assert!(some.stderr.contains("1 positions written, 3 left out"), "{some:?}");
}

/// A table without layers is drawn from row by row, without a pass through it.
#[test]
fn games_that_go_in_circles_are_sampled_from_their_table() {
    let tables = Tables::after(&[&["solve", "animal-shogi-3x3", "-q"]]);
    let sample = ["--sample", "2000", "--weight", "uniform", "--policy", "random,perfect", "-q"];
    let drawn = tables.json(&[&["report", "animal-shogi-3x3"][..], &sample].concat());
    let whole =
        tables.json(&["report", "animal-shogi-3x3", "--policy", "random", "--no-games", "-q"]);
    let kept = |report: &Value| report["policies"][0]["total"]["decisive_result"].clone();
    let of = |report: &Value| kept(report)["result_kept"].as_f64().unwrap();
    // Rows are drawn with all their images, of which the table judges one.
    assert!((of(&drawn) - of(&whole)).abs() < 0.04, "{} {}", of(&drawn), of(&whole));
    assert_eq!(drawn["table"]["judged_states"], 2000);
    assert_eq!(drawn["policies"][1]["total"]["decisive_result"]["result_kept"], 1.0);
    let ran = tables.run(&["report", "animal-shogi-3x3", "--sample", "10", "-q"]);
    assert!(ran.refused("random games").contains("add --weight uniform"), "{ran:?}");
}

/// Lines on a pipe show how far a search is; positions near the end come first.
#[test]
fn long_searches_are_announced_and_followed_on_a_pipe() {
    let tables = Tables::new();
    let games = ["report", "6x6", "--policy", "random", "--games-of", "random", "--games", "1"];
    let run = |more: &[&str]| {
        let mut command = tables.solver(&[&games[..], more].concat());
        Ran::of(command.env("YOMIKIRI_PROGRESS", "0").output().unwrap())
    };
    let all = run(&["--search-time", "2"]);
    assert_eq!(all.code, 0, "{all:?}");
    assert!(all.stderr.contains(" positions with up to 32 empty squares: about "), "{all:?}");
    assert!(all.stderr.contains("it stops after 2 s (--search-time)"), "{all:?}");
    let lines = all.stderr.lines().filter(|line| line.starts_with("searching: ")).count();
    assert!(lines > 10, "{all:?}");
    // None of the late ones is left out.
    let late = run(&["--search-time", "2", "--empty-squares", "1..12"]);
    assert!(late.code == 0 && !late.stderr.contains("left out"), "{late:?}");
    assert!(!run(&["--search-time", "2", "-q"]).stderr.contains("searching"));
}

/// A trained network is compared in all positions, also those that it has learned from, as its opponent is.
#[test]
#[cfg(feature = "onnx")]
fn a_comparison_has_both_figures_of_the_same_positions() {
    let tables = Tables::new();
    let network =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tables/policies/supervised-othello-4x4");
    let network = format!("learned:{network}");
    let compared = tables.json(&["compare", "4x4", &network, "greedy", "-q"]);
    let report = ["report", "4x4", "--policy", &format!("{network},greedy"), "--no-games", "-q"];
    let report = tables.json(&report);
    assert!(report["policies"][0]["held_out"].is_object(), "it has learned from some positions");
    let positions = &compared["figures"]["positions"];
    assert_eq!((&positions[0], &positions[1]), (&7996.0.into(), &7996.0.into()));
    for at in [0, 1] {
        let kept = &report["policies"][at]["total"]["decisive_result"]["result_kept"];
        assert_eq!(&compared["figures"]["result_kept"][at], kept);
    }
    assert!(!compared["groups"].as_array().unwrap().is_empty());
}

/// A table at a path is the one that is drawn from, whatever lies in the directory of tables.
#[test]
fn a_table_at_a_path_is_sampled() {
    let [here, there] = [Tables::new(), Tables::new()];
    there.ok(&["solve", "animal-shogi-3x3", "-q"]);
    let path = there.place("animal-shogi-3x3");
    let words = ["--weight", "uniform", "--sample", "50", "--policy", "random", "-q"];
    let report = here.json(&[&["report", path.to_str().unwrap()][..], &words].concat());
    assert_eq!(
        (&report["table"]["values"], &report["table"]["judged_states"]),
        (&"table".into(), &50.into())
    );
    let file = here.place("some.txt");
    fs::write(&file, "start\n").unwrap();
    let words = ["report", path.to_str().unwrap(), "--empty-squares", "1..4", "--positions"];
    let ran = here.run(&[&words[..], &[file.to_str().unwrap(), "-q"]].concat());
    assert!(ran.refused("no empty squares").contains("by empty squares"), "{ran:?}");
}
