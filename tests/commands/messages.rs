//! Messages of the command line: the lines of `messages.md`, each with its exit code and its answer.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use yomikiri::table::Table;

use super::manners::{command_names, names_in};
use crate::common::tables::{Ran, Tables, copy_dir, files};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/commands/messages.md");

/// With `YOMIKIRI_WRITE_PAGES` set the page is written anew from its lines `$ solver …`.
#[test]
fn lines_that_people_type_are_answered_as_the_page_shows() {
    if !cfg!(all(feature = "onnx", feature = "parquet", unix)) {
        return;
    }
    let tables = tables();
    let page = fs::read_to_string(PAGE).unwrap();
    let mut found = String::new();
    for line in page.lines() {
        match line.strip_prefix("$ solver ") {
            Some(typed) => found += &format!("{line}\n{}", answer(&tables, typed)),
            None if line.starts_with(['[', ' ']) => {}
            None => found += &format!("{line}\n"),
        }
    }
    if std::env::var_os("YOMIKIRI_WRITE_PAGES").is_some() {
        fs::write(PAGE, &found).unwrap();
    } else {
        let differs = found.lines().zip(page.lines()).find(|(found, shown)| found != shown);
        assert!(found == page, "set YOMIKIRI_WRITE_PAGES and run this test again: {differs:#?}");
    }
}

/// Makes the tables and files that the page describes.
fn tables() -> Tables {
    let tables = Tables::after(&[
        &["enumerate", "4x4", "-q"],
        &["value-iterate", "-q"],
        &["enumerate", "4x5", "--max-depth", "2", "--name", "bounded", "-q"],
        &["enumerate", "4x4", "--max-depth", "3", "-q"],
        &["export", "othello-4x4", "-q"],
    ]);
    fs::rename(tables.place("othello-4x4-targets"), tables.place("targets")).unwrap();
    for name in ["damaged", "unreadable"] {
        copy_dir(&tables.place("othello-4x4"), &tables.place(name));
    }
    let scores = Table::open(&tables.place("damaged")).unwrap().path_of("score");
    let mut bytes = fs::read(&scores).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&scores, bytes).unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tables/policies");
    fs::create_dir(tables.place("policies")).unwrap();
    for (from, to) in
        [("json", "policies/net.json"), ("onnx", "policies/net.onnx"), ("onnx", "small.onnx")]
    {
        fs::copy(kept.join(format!("supervised-othello-4x4.{from}")), tables.place(to)).unwrap();
    }
    let texts =
        [("model.onnx", ""), ("x; y.onnx", "no model"), ("train.py", "print()"), ("a; b", "zz\n")];
    let texts = texts.into_iter().chain([("file", ""), ("unreadable/manifest.json", "{")]);
    texts.for_each(|(name, text)| fs::write(tables.place(name), text).unwrap());
    tables
}

/// Runs a line; returns its exit code, the message and the hint of an error, and the beginning of other output. Errors
/// change no file and are one line, in words and as JSON.
fn answer(tables: &Tables, typed: &str) -> String {
    let root = tables.root().to_str().unwrap();
    let words = shlex::split(&typed.replace("TABLES", root)).unwrap();
    let run = |more: &[&str]| {
        let words = words.iter().map(String::as_str).chain(more.iter().copied());
        let mut command = tables.solver(&words.collect::<Vec<_>>());
        Ran::of(command.stdin(Stdio::null()).output().unwrap())
    };
    let before = files(tables.root());
    let ran = run(&[]);
    let shown = if ran.code == 0 {
        let remarks = ran.stderr.lines().filter(|line| !line.contains("states, about"));
        let cut = |line: &'_ str| line.chars().take(100).collect::<String>();
        let lines: Vec<String> = remarks.chain(ran.stdout.lines().take(2)).map(cut).collect();
        format!("[0] {}", lines.join("\n    "))
    } else {
        let line = ran.ended(ran.code, typed);
        let json: Value = serde_json::from_str(run(&["--json"]).ended(ran.code, typed)).unwrap();
        let [kind, message, hint] =
            ["kind", "message", "hint"].map(|field| json["error"][field].as_str());
        let (message, kind) = (message.unwrap(), kind.unwrap());
        let joined = hint.map_or(String::new(), |hint| format!("; {hint}"));
        assert_eq!(line, format!("solver: {message}{joined}\n"), "{typed}");
        assert!(files(tables.root()) == before, "{typed} changed the tables");
        let hint = hint.map_or(String::new(), |hint| format!("\n    {hint}"));
        format!("[{} {kind}] {message}{hint}", ran.code)
    };
    let shown = shown.replace(root, "TABLES") + "\n";
    // Free space is the machine's.
    match shown.split_once(" but TABLES has ") {
        Some((before, after)) => {
            format!("{before} but TABLES has … free{}", after.split_once(" free").unwrap().1)
        }
        None => shown,
    }
}

/// The short help of each command fits a screen.
#[test]
fn short_help_fits_a_screen() {
    let tables = Tables::new();
    let commands = command_names(&tables).into_iter().map(|name| vec![name]);
    let recipes = match cfg!(feature = "onnx") {
        true => names_in(&tables.ok(&["train", "--help"])),
        false => Vec::new(),
    };
    let recipes = recipes.into_iter().map(|recipe| vec!["train".to_string(), recipe]);
    let all = commands.chain(recipes).filter(|words| words[words.len() - 1] != "help");
    for words in all {
        let mut command = tables.solver(&[]);
        command.args(&words).arg("-h");
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
