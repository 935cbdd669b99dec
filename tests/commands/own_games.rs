//! Games of one's own: the examples satisfy the requirements of games, and their programs have every command.

use std::collections::HashMap;
use std::env::{consts::EXE_SUFFIX, current_exe};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use yomikiri::rules::perft::Finished;
use yomikiri::rules::{Game, Group, Outcome, Rules, assert_conforms};
use yomikiri::table::HEADER_BYTES;

use crate::examples::ranked_four::{Board, RankedFour};
use crate::examples::{four_in_a_row, noughts, three_mens_morris};

#[test]
fn the_examples_are_games() {
    assert_conforms(&noughts::Noughts(Group::of_board(3, 3)));
    assert_conforms(&noughts::Noughts(Group::trivial()));
    for centre_barred in [false, true] {
        assert_conforms(&three_mens_morris::ThreeMensMorris::new(centre_barred));
    }
    assert_conforms(&four_in_a_row::FourInARow(Group::mirror()));
    for (rows, columns) in [(4, 5), (5, 4), (4, 6)] {
        assert_conforms(&RankedFour::new(rows, columns));
    }
}

/// The program of an example, with its own tables.
struct Program {
    path: PathBuf,
    tables: TempDir,
}

impl Program {
    /// Returns the program, which `cargo test` builds beside the tests.
    fn of(example: &str) -> Program {
        let test = current_exe().unwrap();
        let target = test.parent().and_then(Path::parent).unwrap();
        let path = target.join("examples").join(format!("{example}{EXE_SUFFIX}"));
        assert!(path.is_file(), "{}: build it with 'cargo build --examples'", path.display());
        Program { path, tables: tempfile::tempdir().unwrap() }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command.args(args).env("YOMIKIRI_TABLES", self.tables.path());
        command
    }

    fn ok(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let text = self.ok(&[args, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?}: {e}\n{text}"))
    }
}

fn assert_near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("invalid number {found}"));
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// 5,478 positions, 765 up to symmetry, 255,168 games, a draw.
#[test]
fn noughts_is_enumerated_solved_and_proven() {
    let program = Program::of("noughts");
    let text = program.ok(&["enumerate"]);
    assert!(
        text.starts_with("noughts-and-crosses from the standard start, First to move\n"),
        "{text}"
    );
    assert!(text.contains("\nmarks  positions"), "{text}");
    let counts = &program.json(&["enumerate"])["manifest"]["counts"];
    assert_eq!(
        (&counts["reachable"]["states"], &counts["table"]["states"]),
        (&5478.into(), &765.into())
    );
    assert_eq!(program.json(&["perft", "--depth", "9"])["perft"][8], 255_168);

    let solved = program.ok(&["value-iterate"]);
    assert!(solved.contains("First, to move, draws"), "{solved}");
    let verified = program.json(&["verify"]);
    assert_eq!((&verified["solved"], &verified["proven"]), (&true.into(), &true.into()));
    assert_eq!(verified["states"], 765);

    // After a corner only the centre keeps the draw.
    let asked = program.json(&["query", "noughts-and-crosses", "a1"]);
    let kept = asked["moves"].as_array().unwrap().iter().filter(|m| m["result"] == "draw");
    assert_eq!(kept.map(|m| m["action"].as_u64()).collect::<Vec<_>>(), [Some(4)]);
    let text = program.ok(&["query", "noughts-and-crosses", "a1", "b2"]);
    assert!(
        text.starts_with(
            "  a b c\n1 X . .\n2 . O .\n3 . . .\nFirst to move\n\nFirst, to move, draws"
        ),
        "{text}"
    );
}

/// Another program's latest table is not meant.
#[test]
fn two_programs_share_a_directory_of_tables() {
    let (noughts, other) = (Program::of("noughts"), Program::of("three_mens_morris"));
    noughts.ok(&["report", "--policy", "random", "--no-games"]);
    let mut report = other.command(&["report", "--policy", "random", "--no-games", "--json"]);
    let output = report.env("YOMIKIRI_TABLES", noughts.tables.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["table"]["game"], "three-mens-morris");
    assert_eq!(report["table"]["taken"], "the default, built for this report");
    // 'verify' and 'query' take the table of the default game then.
    noughts.ok(&["enumerate"]);
    for args in [&["verify", "--json"][..], &["query", "--json"]] {
        let output =
            other.command(args).env("YOMIKIRI_TABLES", noughts.tables.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["table"], "three-mens-morris");
    }
}

/// Numbers of a `.npy` file of `<u8`.
fn numbers(path: &Path) -> Vec<u64> {
    let bytes = fs::read(path).unwrap();
    let (words, rest) = bytes[HEADER_BYTES..].as_chunks::<8>();
    assert!(rest.is_empty());
    words.iter().map(|&word| u64::from_le_bytes(word)).collect()
}

/// Keys of a game that keeps sides contain the side, in exports as in tables, and notations of any length have a column.
#[test]
fn exports_have_the_keys_of_the_table() {
    let program = Program::of("hare_and_hounds");
    program.ok(&["solve", "hare-and-hounds"]);
    let out = program.tables.path().join("targets");
    let out = out.to_str().unwrap();
    program.ok(&["export", "--states-of", "all", "-q", "--out", out]);
    let exported = numbers(&Path::new(out).join("key.npy"));
    let stored = numbers(&program.tables.path().join("hare-and-hounds/keys.npy"));
    // The lowest bit is the side.
    let hounds = exported.iter().filter(|key| **key & 1 == 0).count();
    assert!(hounds > 500 && exported.len() - hounds > 500, "{hounds} of {}", exported.len());
    assert!(exported.iter().all(|key| stored.contains(key)), "a key of no row");
    let refused = program.command(&["export", "--out", "x.obf"]).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("OBF does not apply"));
}

/// A number may be a move of one's own game; `match` and `train` say what they lack.
#[test]
fn words_of_ones_own_game_are_not_taken_for_others() {
    let program = Program::of("noughts");
    program.ok(&["solve", "noughts-and-crosses"]);
    for (args, said) in [
        (&["query", "4"][..], "`4` is neither a position nor a legal move of noughts"),
        (&["match", "noughts-and-crosses", "greedy"], "name two policies"),
        (&["train", "supervised", "noughts-and-crosses"], "is not a board of Othello"),
    ] {
        let output = program.command(args).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(said), "{args:?}: {stderr}");
    }
    let help = program.ok(&["enumerate", "--help"]);
    assert!(help.contains("[default: noughts-and-crosses]"), "{help}");
}

/// Two programs of the same rules, by keys and by ranks, have the same lines.
#[test]
fn four_in_a_row_is_the_ranked_game() {
    let keys = four_in_a_row::FourInARow(Group::mirror()).into_rules();
    let ranks = RankedFour::new(4, 5).into_rules();
    for depth in 1..=9 {
        let lines = |game: &dyn Rules| game.perft(&game.start().state, depth, Finished::Dropped);
        assert_eq!(lines(&*keys), lines(&*ranks), "{depth} plies");
    }
    let random = |game: &dyn Rules, seed: u16| {
        let mut position = game.start();
        let mut seen = Vec::new();
        while let actions = game.actions(&position.state)
            && !actions.is_empty()
        {
            let chosen = (seed.wrapping_mul(40_503) ^ (seen.len() as u16 * 977)) as usize;
            position = game.advance(&position, actions[chosen % actions.len()]);
            seen.push((game.squares(&position.state), game.result(&position.state)));
        }
        seen
    };
    for seed in 0..2000 {
        assert_eq!(random(&*keys, seed), random(&*ranks, seed));
    }
}

/// A game that always folds its states refuses enumeration without symmetry.
#[test]
fn states_that_are_always_folded_are_not_unfolded() {
    for (example, name) in
        [("noughts", "noughts-and-crosses"), ("three_mens_morris", "three-mens-morris")]
    {
        let program = Program::of(example);
        let output = program.command(&["enumerate", "--symmetry", "none"]).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), stderr.lines().count()), (Some(2), 1), "{stderr}");
        assert!(stderr.contains(&format!("{name} always folds its states")), "{stderr}");
        assert_eq!(fs::read_dir(program.tables.path()).unwrap().count(), 0);
    }
}

/// Random play is 737 : 160 : 363 of 1,260 (a known figure), and its mistakes agree with a few lines of
/// Python.
#[test]
fn policies_for_noughts_are_measured() {
    let program = Program::of("noughts");
    let report = program.json(&["report"]);
    assert_eq!(report["table"]["roots"][0]["outcome"], 0);
    assert_eq!(report["table"]["nonterminal_states"], 5478 - 958);
    let random = &report["policies"][0];
    assert_eq!(random["policy"], "random");
    assert_near(&random["total"]["all"]["result_kept"], 0.5796502317741229);
    let games = &report["games"]["policies"][0]["against_random"]["first"];
    for (outcome, ways) in [("win", 737.0), ("draw", 160.0), ("loss", 363.0)] {
        assert_near(&games[outcome], ways / 1260.0);
    }
    let perfect =
        &report["games"]["policies"].as_array().unwrap().last().unwrap()["against_random"];
    assert_eq!((&perfect["first"]["loss"], &perfect["second"]["loss"]), (&0.0.into(), &0.0.into()));

    let text = program.ok(&["report", "--policy", "random"]);
    assert!(text.contains("Best play  First to move: a draw"), "{text}");
    for word in ["disc", "Black", "White", "empty squares"] {
        assert!(!text.contains(word), "'{word}' is not of this game: {text}");
    }
    let page = program.tables.path().join("report.html");
    program.ok(&["report", "--html", page.to_str().unwrap()]);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("as First") && !page.contains("Black"), "{page}");

    let met = program.json(&["match", "random", "random"]);
    assert_near(&met["openings"][0]["first"]["win"], 737.0 / 1260.0);
    let drawn = program.json(&["match", "perfect", "random", "--table", "noughts-and-crosses"]);
    assert_eq!(drawn["openings"][0]["second"]["loss"], 0.0);
}

#[test]
fn noughts_is_exported() {
    let program = Program::of("noughts");
    program.ok(&["report", "--no-games", "--policy", "random"]);
    let file = program.tables.path().join("targets.jsonl");
    program.ok(&["export", "--out", file.to_str().unwrap()]);
    let rows = fs::read_to_string(&file).unwrap();
    assert_eq!(rows.lines().count(), 765 - 138, "states that are not over");
    let start: Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!(start["outcome"], 0, "{start}");
    assert_eq!(program.json(&["export", "--states"])["positions"], 5478 - 958);
}

/// Dudeney: the first player wins only from the centre; with the centre barred it is a draw.
#[test]
fn three_mens_morris_is_what_dudeney_says() {
    let program = Program::of("three_mens_morris");
    for (name, outcome, plies) in [
        ("three-mens-morris", 1, Value::from(9)),
        ("three-mens-morris-centre-barred", 0, Value::Null),
    ] {
        let made = program.json(&["enumerate", "--game", name]);
        assert_eq!(made["table"], name);
        program.ok(&["value-iterate"]);
        let verified = program.json(&["verify"]);
        assert_eq!((&verified["solved"], &verified["proven"]), (&true.into(), &true.into()));
        let start = program.json(&["query", name, "start"]);
        assert_eq!((&start["outcome"], &start["distance"]), (&outcome.into(), &plies));
    }
    let moves = program.json(&["query", "three-mens-morris", "start"]);
    let moves = moves["moves"].as_array().unwrap().clone();
    let won: Vec<_> = moves.iter().filter(|m| m["result"] == "win").collect();
    assert_eq!(won.len(), 1);
    assert_eq!((moves.len(), &won[0]["action"]), (9, &40.into()), "the centre is placed by 10 * 4");
}

#[test]
fn policies_for_three_mens_morris_are_measured() {
    let program = Program::of("three_mens_morris");
    let report = program.json(&["report"]);
    assert_eq!(report["table"]["game"], "three-mens-morris");
    assert_eq!(report["table"]["rows"], 540);
    assert_near(&report["policies"][0]["total"]["all"]["result_kept"], 0.5015880984254465);
    let text = program.ok(&["report", "--game", "three-mens-morris-centre-barred"]);
    assert!(text.contains("Best play  First to move: a draw"), "{text}");
    let file = program.tables.path().join("targets.csv");
    program.ok(&["export", "three-mens-morris", "--out", file.to_str().unwrap()]);
    assert!(fs::read_to_string(file).unwrap().lines().count() > 400);
}

/// Alpha-beta: the outcome for the mover within a window.
fn searched(game: &RankedFour, state: &Board, mut low: i8, high: i8) -> i8 {
    if let Some(outcome) = game.result(state) {
        return outcome.value();
    }
    let mut actions = game.actions(state);
    // The middle columns first, which cut off more.
    actions.sort_by_key(|action| (2 * action.0 + 1).abs_diff(game.action_count() as u16));
    for action in actions {
        low = low.max(-searched(game, &game.play(state, action), -high, -low));
        if low >= high {
            break;
        }
    }
    low
}

/// A draw (Tromp), also by search without a table; 3,945,711 positions with their mirror images (OEIS
/// A212693).
#[test]
fn ranked_four_is_solved_by_its_ranks() {
    let game = RankedFour::new(4, 5);
    assert_eq!(searched(&game, &game.start().state, -1, 1), 0);
    let program = Program::of("ranked_four");
    let made = program.json(&["enumerate"]);
    let manifest = &made["manifest"];
    assert_eq!(
        (&made["table"], &manifest["identity"]["index"]),
        (&"ranked-four-4x5".into(), &"rank".into())
    );
    assert_eq!(manifest["counts"]["table"]["states"], 1_974_174);
    program.ok(&["value-iterate"]);
    let start = program.json(&["query", "ranked-four-4x5", "start"]);
    assert_eq!((&start["outcome"], &start["distance"]), (&0.into(), &20.into()));
}

/// A table by rank does not record which mirror images of its rows are reached; reports find out.
#[test]
fn reports_are_the_same_by_rank_and_by_keys() {
    let program = Program::of("ranked_four");
    let report = |index: &str| {
        let (game, name) = ("ranked-four-4x4", format!("by-{index}"));
        program.ok(&["enumerate", "--game", game, "--index", index, "--name", &name]);
        program.ok(&["value-iterate", &name]);
        program.json(&["report", "--table", &name, "--policy", "random"])
    };
    let (by_rank, by_keys) = (report("rank"), report("keys"));
    // The order of summation differs.
    for place in [
        "/games/policies/0/against_perfect/first/loss",
        "/games/policies/0/against_random/second/win",
        "/games/policies/0/exploitability/first/result_lost",
        "/games/policies/0/mistakes/0/result_mistakes",
    ] {
        let expected = by_keys.pointer(place).and_then(Value::as_f64).unwrap();
        assert_near(by_rank.pointer(place).unwrap(), expected);
    }
}

/// Suggested commands use the program's own name.
#[test]
fn a_program_of_ones_own_speaks_of_itself_by_its_name() {
    let program = Program::of("noughts");
    let refused = program.command(&["value-iterate"]).output().unwrap();
    let line = String::from_utf8(refused.stderr).unwrap();
    assert!(line.starts_with("noughts: no table "), "{line}");
    assert!(line.ends_with("; make one with 'noughts enumerate'\n"), "{line}");
    program.ok(&["report", "-q", "--policy", "random", "--no-games"]);
    let results = program.ok(&["info", "noughts-and-crosses", "--values"]);
    assert!(results.contains("    noughts query noughts-and-crosses "), "{results}");
    let help = program.ok(&["query", "--help"]);
    assert!(help.contains("Usage: noughts query [OPTIONS] [TABLE] [POSITION]..."), "{help}");
    for printed in [line, results, help, program.ok(&["--help"])] {
        assert!(!printed.contains("solver "), "{printed}");
    }
}

/// The board is drawn with coordinates, beside the key where a position has no other notation; policies that
/// weigh Othello's squares are not offered for other games.
#[test]
fn a_game_with_a_board_and_no_notation_shows_its_positions() {
    let program = Program::of("three_mens_morris");
    let text = program.ok(&["report"]);
    assert!(text.contains(" tactician ") && !text.contains("weights"), "{text}");
    let refused = program.command(&["report", "--policy", "weights"]).output().unwrap();
    let line = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && line.contains("Othello board"), "{line}");
    let asked = program.ok(&["query", "three-mens-morris", "40", "0"]);
    let board = "  a b c\n1 O . .\n2 . X .\n3 . . .\nFirst to move\n";
    assert!(asked.starts_with(board), "{asked}");
    let compared = program.ok(&["compare", "perfect", "random", "--worst", "1"]);
    let (_, shown) = compared.rsplit_once("\n\n").unwrap();
    let shown: Vec<&str> = shown.lines().collect();
    assert!(shown[0].ends_with(" First") || shown[0].ends_with(" Second"), "{compared}");
    assert_eq!((shown[1], shown.len()), ("  a b c", 5), "{compared}");
}

/// Follows random players by the rules alone, from position to position, until all games have ended.
#[test]
fn games_of_three_mens_morris_are_as_by_the_rules() {
    let game = three_mens_morris::ThreeMensMorris::new(false);
    let (mut won, mut now) = ([0.0; 2], HashMap::from([(game.start(), 1.0)]));
    while now.values().sum::<f64>() > 1e-12 {
        let mut next = HashMap::new();
        for (position, p) in now {
            let actions = game.actions(&position.state);
            if actions.is_empty() {
                // The mover has lost, by three in a row or for lack of a move.
                assert_eq!(game.result(&position.state), Some(Outcome::Loss));
                won[position.side.other().index()] += p;
            }
            for &action in &actions {
                let after = game.advance(&position, action);
                *next.entry(after).or_default() += p / actions.len() as f64;
            }
        }
        now = next;
    }
    let program = Program::of("three_mens_morris");
    let found = program.json(&["match", "random", "random"]);
    let first = &found["openings"][0]["first"];
    assert_near(&first["win"], won[0]);
    assert_near(&first["loss"], won[1]);
    // Perfect play wins from the centre, and beats a random player.
    let report = program.json(&["report", "--policy", "random,perfect"]);
    let [random, perfect] = [0, 1].map(|at| &report["games"]["policies"][at]);
    assert_near(&perfect["against_perfect"]["first"]["win"], 1.0);
    assert_near(&perfect["exploitability"]["first"]["result_lost"], 0.0);
    assert_near(&perfect["exploitability"]["second"]["result_lost"], 0.0);
    assert!(random["exploitability"]["first"]["result_lost"].as_f64().unwrap() > 1.0);
}
