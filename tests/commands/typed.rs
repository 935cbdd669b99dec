//! Command lines that people typed: each works, or gets one line with what to do.

use std::fs;

use crate::common::tables::{Ran, Tables};

/// Lines of a shell, without the name of the program; `TABLES` is the directory of the tables, in which there are
/// othello-4x4 (solved), othello-4x4-depth3 (not solved), its targets, a network and an empty model.
const TYPED: &str = "\
report othello-4x4 --policy random --no-games
report 4x4 --policy greedy --metrics --no-games
report --game othello
report --size 3
report --policy gredy
report --policy model.onnx
report --policy onnx:TABLES/modle.onnx
report --policy onnx:TABLES/train.py
report 4x5 --policy onnx:TABLES/small.onnx
report 4x5 --policy learned:TABLES/policies/supervised-othello-4x4
report --policy learned:foo
report --policy learned:supervised-othello-4x5
report --policy predictions:TABLES/targets
report --policy 'exec:sh TABLES/missing.sh'
report --fail-if 'x<95%'
report --fail-if 'result‹0.9'
report --fail-if 'result<0.9'
report --by depth
report --split tset
report --polcy greedy
solve
solve 4x4 --all-moves
solve othelo-4x4
slove 4x4
solv
play 4x4
query othelo-4x4
query othello-4x5 c4b4
query --foo
query --batsh
query 4x4 'XXXXXXOOXXXXX--X B'
query 4x4 a1
query minishogi 'rbsgk/4p/5/5/P4/KGSBR/5 b - 1'
solve minishogi 'rbsgk/4p/5/5/P4/KGSBR b - 1'
query animal-shogi
query othello-4x4-depth3
query minishogi
verify 4x5
info othello-4x4-depht3
enumerate 6x6
enumerate othello-4x4-depth3
enumerate --gmae 4x4
match greedy
compare 4x4 greedy rnadom
remove othelo-4x4
list --jsn
";

#[test]
fn what_people_type_works_or_gets_one_line() {
    let tables = Tables::after(&[
        &["enumerate", "4x4", "-q"],
        &["value-iterate", "-q"],
        &["enumerate", "4x4", "--max-depth", "3", "-q"],
    ]);
    let root = tables.root().to_str().unwrap();
    fs::write(tables.place("model.onnx"), "").unwrap();
    fs::write(tables.place("train.py"), "print()").unwrap();
    tables.ok(&["export", "othello-4x4", "--out", &format!("{root}/targets"), "-q"]);
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tables/policies");
    fs::create_dir(tables.place("policies")).unwrap();
    for ending in ["json", "onnx"] {
        let name = format!("supervised-othello-4x4.{ending}");
        fs::copy(format!("{kept}/{name}"), tables.place("policies").join(name)).unwrap();
    }
    // A model without a card fits a board by its shape alone.
    let model = tables.place("policies").join("supervised-othello-4x4.onnx");
    fs::copy(model, tables.place("small.onnx")).unwrap();
    let mut all = String::new();
    for line in TYPED.lines() {
        let words = shlex::split(&line.replace("TABLES", root)).unwrap();
        let mut command = tables.solver(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let ran = Ran::of(command.stdin(std::process::Stdio::null()).output().unwrap());
        if ran.code != 0 {
            assert_eq!(
                (ran.stdout.as_str(), ran.stderr.lines().count()),
                ("", 1),
                "{line}: {ran:?}"
            );
        }
        let first = ran.stdout.lines().take(2).map(|line| line.split(',').next().unwrap());
        let first: Vec<&str> = first.collect();
        // Files that are missing are described by the system, free space by the machine.
        let said: Vec<&str> =
            ran.stderr.lines().filter(|line| !line.contains("states, about")).collect();
        let shown = [said, first].concat().join("\n").replace(root, "TABLES");
        let shown = match shown.split_once(" but TABLES has ") {
            Some((before, after)) => {
                format!("{before} but TABLES has … free{}", after.split_once(" free").unwrap().1)
            }
            None => shown,
        };
        all += &format!("$ solver {line}\n[{}] {shown}\n", ran.code);
    }
    if cfg!(all(feature = "onnx", unix)) {
        insta::assert_snapshot!("typed", all);
    }
}

/// The short help of each command fits a screen.
#[test]
fn short_help_fits_a_screen() {
    let tables = Tables::new();
    let recipes =
        ["supervised", "td", "disc-regression", "dqn", "q-mlp", "minishogi-value", "tabular"];
    let recipes = recipes.iter().map(|recipe| vec!["train", recipe]);
    let commands = super::manners::command_names(&tables);
    let commands = commands.iter().filter(|name| *name != "help").map(|name| vec![name.as_str()]);
    let recipes = recipes.filter(|_| cfg!(feature = "onnx"));
    for words in commands.chain(recipes) {
        let mut command = tables.solver(&[&words[..], &["-h"]].concat());
        let help = Ran::of(command.env("COLUMNS", "100").output().unwrap()).stdout;
        let widest = help.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= 100, "{words:?} is {widest} wide");
        assert!(
            help.lines().count() <= 40,
            "{words:?} has {} lines:\n{help}",
            help.lines().count()
        );
    }
}
