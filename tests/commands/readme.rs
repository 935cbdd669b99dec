//! The tour in the README: its commands run in order and must print the output shown.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::needs::python_imports;

struct Block {
    language: String,
    text: String,
}

/// Returns the fenced blocks of a page.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(language), None) => {
                open = Some(Block { language: language.to_string(), text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    blocks
}

/// Splits a command into words, with quoted text as one word.
fn words(command: &str) -> Vec<&str> {
    let parts = command.split('"').enumerate();
    let split = parts.flat_map(|(i, part)| match i % 2 {
        1 => vec![part],
        _ => part.split_whitespace().collect(),
    });
    split.collect()
}

fn run(program: &str, args: &[&str], dir: &Path) -> String {
    let output = Command::new(program)
        .args(args)
        .current_dir(dir)
        .env_remove("YOMIKIRI_TABLES")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_tour_prints_what_the_readme_shows() {
    let dir = tempfile::tempdir().unwrap();
    let mut commands = 0;
    for block in blocks(include_str!("../../README.md")) {
        match block.language.as_str() {
            "console" => {
                let (command, shown) = block.text.split_once('\n').unwrap();
                let words = words(command);
                assert_eq!(words[..2], ["$", "solver"], "{command}");
                let printed = run(env!("CARGO_BIN_EXE_solver"), &words[2..], dir.path());
                assert_eq!(printed.trim_end(), shown.trim_end(), "{command}");
                commands += 1;
            }
            "python" => run_python(&block.text, dir.path()),
            _ => {}
        }
    }
    assert!(commands >= 5, "the tour has shrunk to {commands} commands");
}

/// Runs the README's Python, if its packages are installed.
fn run_python(script: &str, dir: &Path) {
    if !python_imports(script, "python3 with the imports of README.md") {
        return;
    }
    let printed = run("python3", &["-c", script], dir);
    assert!(printed.contains("best"), "{printed}");
}
