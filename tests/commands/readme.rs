//! README, the start page and `screens.md`: their commands run in order and must print the output shown.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::needs::python_imports;

/// Pages whose commands are run, each from top to bottom in an empty directory.
const PAGES: [&str; 3] = ["README.md", "docs/start.md", "tests/commands/screens.md"];

/// Fenced block of a page.
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

/// With `YOMIKIRI_WRITE_PAGES` set the pages are written anew.
#[test]
fn pages_show_what_commands_print() {
    let write = std::env::var_os("YOMIKIRI_WRITE_PAGES").is_some();
    for name in PAGES {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(name);
        let mut page = fs::read_to_string(&path).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let (mut commands, mut scripts, mut all_ran) = (0, 0, true);
        for block in blocks(&page) {
            match block.language.as_str() {
                "console" => {
                    let (command, shown) = block.text.split_once('\n').unwrap();
                    let words = words(command);
                    assert_eq!(words[..2], ["$", "solver"], "{name}: {command}");
                    // Without output it measures the model of the Python above, whose figures vary.
                    if shown.is_empty() && !(all_ran && cfg!(feature = "onnx")) {
                        continue;
                    }
                    let printed = run(env!("CARGO_BIN_EXE_solver"), &words[2..], dir.path());
                    commands += 1;
                    if shown.is_empty() {
                        continue;
                    }
                    let old = format!("```console\n{}```", block.text);
                    let new = format!("```console\n{command}\n{}\n```", printed.trim_end());
                    if write {
                        page = page.replacen(&old, &new, 1);
                    }
                    let what = "differs: set YOMIKIRI_WRITE_PAGES and run this test again";
                    assert!(write || old == new, "{name}: {command} {what}: {printed}");
                }
                // `python/tests/test_docs.py` runs the blocks that need the package.
                "python" if !block.text.contains("import yomikiri") => {
                    scripts += 1;
                    let need = format!("python3 with the imports of {name}, block {scripts}");
                    all_ran &= run_python(&block.text, &need, dir.path());
                }
                _ => {}
            }
        }
        if write {
            fs::write(&path, &page).unwrap();
        }
        assert!(commands >= 1, "{name} shows no command");
    }
}

/// Runs Python of a page; returns false where its packages are missing.
fn run_python(script: &str, need: &str, dir: &Path) -> bool {
    if !python_imports(script, need) {
        return false;
    }
    let printed = run("python3", &["-c", script], dir);
    assert!(!printed.is_empty(), "{need}: it prints nothing");
    true
}
