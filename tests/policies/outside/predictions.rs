//! `--policy predictions:DIR`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yomikiri::rules::{AnyPosition, Rules};
use yomikiri_measure::policy::{Answers, Batch, ByRule, Greedy, Policy};

use super::{assert_same_figures, floats, report, short_floats, write_npy};
use crate::common::Random;
use crate::common::needs::all_cases;
use crate::common::solved::named;
use crate::common::tables::{Tables, copy_dir, solved_4x4};

/// A game's exported positions, with the answers of `greedy`.
struct Greedily {
    game: Arc<dyn Rules>,
    dir: PathBuf,
    positions: Vec<AnyPosition>,
    batch: Batch,
    answers: Answers,
}

impl Greedily {
    fn read(name: &str, dir: PathBuf) -> Greedily {
        let game = named(name);
        let text = fs::read_to_string(dir.join("positions.txt")).unwrap();
        let read = |line| game.parse_position(line, &game.start()).unwrap();
        let positions: Vec<_> = text.lines().map(read).collect();
        let mut batch = Batch::default();
        positions.iter().for_each(|p| batch.push(*p, game.actions(&p.state)));
        let answers = ByRule(Greedy).answer(&*game, &batch).unwrap();
        Greedily { game, dir, positions, batch, answers }
    }

    /// Returns rows of all actions in the order `order`, with `numbers` for legal actions and `other`
    /// elsewhere.
    fn rows(&self, numbers: &[f64], other: f64, order: &[usize]) -> Vec<f64> {
        let mut rows = Vec::new();
        for &at in order {
            let begin = rows.len();
            rows.resize(begin + self.game.action_count(), other);
            let range = self.batch.range(at);
            for (action, number) in self.batch.actions()[range.clone()].iter().zip(&numbers[range])
            {
                rows[begin + action.0 as usize] = *number;
            }
        }
        rows
    }

    fn shape(&self) -> String {
        format!("({}, {})", self.positions.len(), self.game.action_count())
    }

    /// Writes the positions of the export in an order to a new directory, as text or as planes.
    fn positions_into(&self, dir: &Path, order: &[usize], as_planes: bool) {
        fs::create_dir(dir).unwrap();
        let (rows, columns) = self.game.shape();
        let count = self.game.plane_kinds().count();
        let (mut text, mut planes, mut side) = (String::new(), Vec::new(), Vec::new());
        for &at in order {
            let position = &self.positions[at];
            text += &format!("{}\n", self.game.notation(position));
            let mut numbers = vec![0.0; count * rows * columns];
            self.game.write_planes(&position.state, &mut numbers);
            planes.extend(numbers.iter().map(|&number| number as u8));
            side.push(position.side.index() as u8);
        }
        if as_planes {
            let n = order.len();
            let shape = format!("({n}, {count}, {rows}, {columns})");
            write_npy(&dir.join("planes.npy"), "|b1", &shape, &planes);
            write_npy(&dir.join("side.npy"), "|u1", &format!("({n}, 1)"), &side);
        } else {
            fs::write(dir.join("positions.txt"), text).unwrap();
        }
    }
}

/// Returns the numbers below `count` in a random order.
fn shuffled(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut random = Random(7);
    (1..count).for_each(|at| order.swap(at, random.below(at + 1)));
    order
}

/// Checks predictions of `greedy` in the export's own order and shuffled, in every kind of file.
fn agrees_with_greedy(tables: &Tables, table: &str) {
    tables.ok(&["export", "--states", "-q", table]);
    let greedy = Greedily::read(table, tables.place(&format!("{table}-states")));
    let (probabilities, scores) = (&greedy.answers.probabilities, &greedy.answers.scores);
    let straight: Vec<usize> = (0..greedy.positions.len()).collect();
    let all = greedy.rows(scores, f64::NEG_INFINITY, &straight);
    write_npy(&greedy.dir.join("scores.npy"), "<f4", &greedy.shape(), &short_floats(&all));

    let order = shuffled(greedy.positions.len());
    let logits: Vec<f64> =
        probabilities.iter().map(|&p| if p > 0.0 { 3.0 } else { f64::NEG_INFINITY }).collect();
    let scores = greedy.rows(scores, 0.0, &order);
    let mut named = vec!["greedy".to_string(), format!("predictions:{}", greedy.dir.display())];
    let kinds = [("probabilities", probabilities, true), ("logits", &logits, false)];
    // Games between every two policies take long where they may go on for ever.
    let count = if table == "othello-4x4" || all_cases() { 2 } else { 1 };
    for &(name, numbers, as_planes) in &kinds[..count] {
        let dir = tables.place(name);
        greedy.positions_into(&dir, &order, as_planes);
        let other = if name == "logits" { 50.0 } else { 0.0 };
        let rows = greedy.rows(numbers, other, &order);
        write_npy(&dir.join(format!("{name}.npy")), "<f8", &greedy.shape(), &floats(&rows));
        // Scores of moves, not only the chosen ones.
        write_npy(&dir.join("scores.npy"), "<f8", &greedy.shape(), &floats(&scores));
        named.push(format!("predictions:{}", dir.display()));
    }
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    assert_same_figures(tables, table, &named);
}

#[test]
fn predictions_of_a_rule_have_its_figures() {
    let tables = Tables::new();
    solved_4x4(&tables);
    agrees_with_greedy(&tables, "othello-4x4");
}

#[test]
fn predictions_of_a_rule_have_its_figures_in_games_with_cycles() {
    let tables = Tables::new();
    tables.ok(&["enumerate", "-q", "--game", "animal-shogi-3x3"]);
    tables.ok(&["value-iterate", "-q"]);
    agrees_with_greedy(&tables, "animal-shogi-3x3");
}

#[test]
fn actions_are_played_and_a_row_may_occur_twice() {
    let tables = Tables::new();
    solved_4x4(&tables);
    tables.ok(&["export", "--states", "-q"]);
    let greedy = Greedily::read("othello-4x4", tables.place("othello-4x4-states"));
    let mut order: Vec<usize> = (0..greedy.positions.len()).collect();
    order.push(17);
    let dir = tables.place("mine");
    greedy.positions_into(&dir, &order, false);
    let first: Vec<u8> = order
        .iter()
        .flat_map(|&at| {
            (greedy.batch.actions()[greedy.batch.range(at).start].0 as i64).to_le_bytes()
        })
        .collect();
    let count = order.len();
    write_npy(&dir.join("actions.npy"), "<i8", &format!("({count},)"), &first);
    let firsts: Vec<f64> = (0..greedy.positions.len())
        .flat_map(|at| (0..greedy.batch.range(at).len()).map(|i| if i == 0 { 1.0 } else { 0.0 }))
        .collect();
    let probable = tables.place("probable");
    greedy.positions_into(&probable, &order, true);
    let rows = greedy.rows(&firsts, 0.0, &order);
    let shape = format!("({count}, 17)");
    write_npy(&probable.join("probabilities.npy"), "<f4", &shape, &short_floats(&rows));
    let named = [&dir, &probable].map(|dir| format!("predictions:{}", dir.display()));
    assert_same_figures(&tables, "othello-4x4", &[&named[0], &named[1]]);
    // Duplicate rows may be equal, but must not differ.
    let legal = greedy.batch.actions()[greedy.batch.range(17)].to_vec();
    assert!(legal.len() > 1, "row 17 has a choice");
    let mut other = first.clone();
    other[8 * (count - 1)] = legal[1].0 as u8;
    write_npy(&dir.join("actions.npy"), "<i8", &format!("({count},)"), &other);
    let ran = tables.run(&["report", "--table", "othello-4x4", "--policy", &named[0]]);
    let line = ran.refused("rows that disagree");
    assert!(line.contains("actions.npy") && line.contains("rows 17 and 56621"), "{line}");
}

/// A small table with its export and valid predictions, to be corrupted.
struct Broken {
    tables: Tables,
    dir: PathBuf,
    count: usize,
    lines: Vec<String>,
}

impl Broken {
    fn new() -> Broken {
        let tables = Tables::new();
        tables.ok(&["enumerate", "-q", "--size", "4"]);
        tables.ok(&["value-iterate", "-q"]);
        let dir = tables.place("othello-4x4-states");
        tables.ok(&["export", "--states", "-q"]);
        let text = fs::read_to_string(dir.join("positions.txt")).unwrap();
        let lines: Vec<String> = text.lines().map(str::to_string).collect();
        Broken { tables, dir, count: lines.len(), lines }
    }

    /// Returns a fresh copy of the export with uniform logits.
    fn fresh(&self) -> PathBuf {
        let dir = self.tables.place("broken");
        let _ = fs::remove_dir_all(&dir);
        copy_dir(&self.dir, &dir);
        self.array(&dir, "logits.npy", |_| {});
        dir
    }

    /// Writes an array of one zero for each position and action, after an edit.
    fn array(&self, dir: &Path, name: &str, edit: impl FnOnce(&mut [f64])) {
        let mut numbers = vec![0.0; self.count * 17];
        edit(&mut numbers);
        let shape = format!("({}, 17)", self.count);
        write_npy(&dir.join(name), "<f8", &shape, &floats(&numbers));
    }

    /// Checks that the directory is refused in one line that contains all these words.
    fn refused(&self, dir: &Path, words: &[&str]) {
        let policy = format!("predictions:{}", dir.display());
        let ran = self.tables.run(&["report", "--table", "othello-4x4", "--policy", &policy]);
        let line = ran.refused(&words.join(" "));
        assert!(line.starts_with("solver: "), "{line}");
        for word in words {
            assert!(line.contains(word), "no '{word}' in {line}");
        }
    }
}

#[test]
fn half_precision_rounded_values_and_the_best_move_are_taken() {
    let tables = Tables::new();
    solved_4x4(&tables);
    tables.ok(&["export", "--states", "-q"]);
    let export = tables.place("othello-4x4-states");
    let greedy = Greedily::read("othello-4x4", export);
    let straight: Vec<usize> = (0..greedy.positions.len()).collect();
    let n = straight.len();
    // Discs flipped, or 1 for a pass: 16-bit floats represent such numbers exactly.
    let logits = greedy.rows(&greedy.answers.scores, -7.5, &straight);
    let halves: Vec<u8> =
        logits.iter().flat_map(|&x| half::f16::from_f64(x).to_le_bytes()).collect();
    let mut policies = vec!["greedy".to_string()];
    for (name, descr, bytes, option) in [
        ("single", "<f4", short_floats(&logits), ""),
        ("half", "<f2", halves.clone(), ""),
        ("best", "<f2", halves, "?move=best"),
    ] {
        let dir = tables.place(name);
        greedy.positions_into(&dir, &straight, false);
        write_npy(&dir.join("logits.npy"), descr, &greedy.shape(), &bytes);
        let values: Vec<f64> = (0..n).map(|at| [1.0000001, -1.0000001, 0.5][at % 3]).collect();
        write_npy(&dir.join("values.npy"), "<f8", &format!("({n},)"), &floats(&values));
        policies.push(format!("predictions:{}{option}", dir.display()));
    }
    let policies: Vec<&str> = policies.iter().map(String::as_str).collect();
    let json = report(&tables, "othello-4x4", &policies);
    let of = |at: usize, what: &str| &json["policies"][at][what];
    assert_eq!(of(1, "total"), of(2, "total"));
    assert_ne!(of(1, "total"), of(3, "total"));
    // Playing the most flips is greedy.
    assert_eq!(of(0, "total"), of(3, "total"));
    assert_eq!(of(1, "values"), of(3, "values"));
    assert_eq!(of(3, "values")["reliability"][9]["predicted"], 1.0);
}

#[test]
fn broken_arrays_are_reported_in_one_line() {
    let broken = Broken::new();
    let n = broken.count;
    let dir = broken.fresh();
    let path = dir.join("logits.npy");
    report(&broken.tables, "othello-4x4", &[&format!("predictions:{}", dir.display())]);
    for (shape, numbers, words) in [
        (format!("({n}, 15)"), n * 15, "16, or 17 with the pass"),
        (format!("({},)", n * 17), n * 17, "56621 lines, expected 962557 as in"),
        (format!("({}, 17)", n - 1), (n - 1) * 17, "expected 56620 as in"),
        (format!("({n}, 17)"), n * 17 - 1, "bytes, which do not match its shape (56621, 17)"),
    ] {
        write_npy(&path, "<f4", &shape, &vec![0; numbers * 4]);
        broken.refused(&dir, &["logits", words]);
    }
    for descr in [">f4", ">f2", "<U4", "|O"] {
        write_npy(&path, descr, &format!("({n}, 17)"), &vec![0; n * 17 * 4]);
        broken.refused(&dir, &["logits.npy", "float16, float32, float64 or integers"]);
    }
    fs::write(&path, "no array").unwrap();
    broken.refused(&dir, &["logits.npy", "not a .npy file"]);
    // Illegal moves may have any number.
    let nan = |numbers: &mut [f64]| numbers[33 * 17..][..17].fill(f64::NAN);
    broken.array(&dir, "logits.npy", nan);
    broken.refused(&dir, &["logits.npy, row 33", "NaN of the policy"]);
    broken.array(&dir, "logits.npy", |all| all[33 * 17..][..17].fill(f64::NEG_INFINITY));
    broken.refused(&dir, &["logits.npy, row 33", "minus infinity"]);
    let dir = broken.fresh();
    broken.array(&dir, "scores.npy", nan);
    broken.refused(&dir, &["scores.npy, row 33", "NaN"]);
    let dir = broken.fresh();
    for (row, value) in [(0, 1.5), (77, f64::NAN), (n - 1, -1.01)] {
        let mut values = vec![0.0; n];
        values[row] = value;
        write_npy(&dir.join("values.npy"), "<f8", &format!("({n}, 1)"), &floats(&values));
        broken.refused(&dir, &["values.npy", &format!("row {row}:"), &value.to_string()]);
    }
}

#[test]
fn illegal_moves_are_reported_in_one_line() {
    let broken = Broken::new();
    let n = broken.count;
    let dir = broken.fresh();
    fs::remove_file(dir.join("logits.npy")).unwrap();
    // The first position is the start, with legal moves 1, 4, 11 and 14.
    for action in [0i32, 17, -1] {
        let actions: Vec<u8> =
            [action].iter().chain(&vec![0; n - 1]).flat_map(|a| a.to_le_bytes()).collect();
        write_npy(&dir.join("actions.npy"), "<i4", &format!("({n},)"), &actions);
        let named = format!("illegal action {action} in the position '{}'", broken.lines[0]);
        broken.refused(&dir, &["actions.npy, row 0", &named]);
    }
    fs::remove_file(dir.join("actions.npy")).unwrap();
    for (at, p, words) in [
        (0, 0.5, "probability 0.5 of the illegal action 0"),
        (1, 0.5, "is 0.5, expected 1"),
        (1, -0.25, "invalid probability -0.25"),
        (1, f64::INFINITY, "invalid probability inf"),
    ] {
        broken.array(&dir, "probabilities.npy", |all| all[at] = p);
        broken.refused(&dir, &["probabilities.npy, row 0", words, &broken.lines[0]]);
    }
}

#[test]
fn incomplete_directories_are_reported_in_one_line() {
    let broken = Broken::new();
    broken.refused(&broken.tables.place("nowhere"), &["nowhere", "no such directory"]);
    let dir = broken.fresh();
    fs::remove_file(dir.join("logits.npy")).unwrap();
    broken.refused(&dir, &["missing predictions", "logits.npy"]);
    let dir = broken.fresh();
    broken.array(&dir, "probabilities.npy", |_| {});
    broken.refused(&dir, &["both logits and probabilities"]);
    let dir = broken.fresh();
    let json = fs::read_to_string(dir.join("states.json")).unwrap();
    fs::write(dir.join("states.json"), json.replace("othello-4x4", "othello-4x5")).unwrap();
    broken.refused(&dir, &["states.json", "'othello-4x5'", "othello-4x4"]);
    let dir = broken.fresh();
    fs::remove_file(dir.join("positions.txt")).unwrap();
    fs::remove_file(dir.join("side.npy")).unwrap();
    broken.refused(&dir, &["positions.txt", "planes.npy and side.npy"]);
}

#[test]
fn positions_that_do_not_match_are_reported_in_one_line() {
    let broken = Broken::new();
    let n = broken.count;
    let write = |dir: &Path, lines: &[String]| {
        fs::write(dir.join("positions.txt"), lines.join("\n") + "\n").unwrap();
    };
    let swapped = |a: usize, b: usize| {
        let mut lines = broken.lines.clone();
        lines.swap(a, b);
        lines
    };
    let dir = broken.fresh();
    write(&dir, &swapped(5, 7));
    broken.refused(&dir, &["planes.npy, row 5", &broken.lines[5], &broken.lines[7]]);
    write(&dir, &broken.lines[..n - 2]);
    broken.refused(&dir, &["positions.txt", "56619 lines", "expected 56621"]);
    write(&dir, &[&broken.lines[..], &broken.lines[..1]].concat());
    broken.refused(&dir, &["positions.txt", "56622 lines"]);
    let mut lines = broken.lines.clone();
    lines[9] = "XO!?".to_string();
    write(&dir, &lines);
    broken.refused(&dir, &["positions.txt, row 9", "`!`"]);

    let dir = broken.fresh();
    fs::remove_file(dir.join("positions.txt")).unwrap();
    let good = fs::read(dir.join("planes.npy")).unwrap();
    let mut bytes = good.clone();
    bytes[128 + 6 * 32..][..32].fill(1);
    fs::write(dir.join("planes.npy"), bytes).unwrap();
    broken.refused(&dir, &["planes.npy, row 6", "invalid planes"]);
    fs::write(dir.join("planes.npy"), good).unwrap();
    let mut bytes = fs::read(dir.join("side.npy")).unwrap();
    bytes[128 + 8] = 2;
    fs::write(dir.join("side.npy"), bytes).unwrap();
    broken.refused(&dir, &["side.npy, row 8", "invalid side 2"]);

    // Fewer positions than requested: the first missing one is named.
    let dir = broken.fresh();
    for name in ["planes.npy", "side.npy"] {
        fs::remove_file(dir.join(name)).unwrap();
    }
    write(&dir, &broken.lines[..n - 1]);
    let shape = format!("({}, 17)", n - 1);
    write_npy(&dir.join("logits.npy"), "<f4", &shape, &vec![0; (n - 1) * 17 * 4]);
    broken
        .refused(&dir, &["missing prediction for", &broken.lines[n - 1], "solver export --states"]);
}
