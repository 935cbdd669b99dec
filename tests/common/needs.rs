//! Requirements of some tests besides Rust: Python packages, a browser, strace.
//!
//! A test without its requirement is skipped; `tests/what_was_left_out.rs`, which runs last, prints which.
//! With `YOMIKIRI_REQUIRE_ALL=1`, as in CI, a skipped test is a failure.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the directory with a file for each skipped test: its name, and the requirement it lacks.
pub fn left_out() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("left-out")
}

/// Returns `there`; if it is `false`, records that the running test is skipped for lack of `need`.
///
/// # Panics
///
/// Panics if `there` is `false` and all requirements are mandatory.
pub fn is_there(need: &str, there: bool) -> bool {
    let required = std::env::var_os("YOMIKIRI_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(there || !required, "YOMIKIRI_REQUIRE_ALL is 1 and there is no {need}");
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let record = left_out().join(format!("{test}: no {need}").replace([':', '/'], "."));
    match there {
        true => drop(fs::remove_file(record)),
        false => {
            fs::create_dir_all(left_out()).unwrap();
            fs::write(record, format!("{test}: no {need}\n")).unwrap();
        }
    }
    there
}

/// Returns `true` if tests with a long list of cases run all of them, as before a release; otherwise they run
/// a sample.
pub fn all_cases() -> bool {
    std::env::var_os("YOMIKIRI_ALL_CASES").is_some_and(|value| value == "1")
}

/// Returns `true` if `python3` can run a program without packages.
pub fn has_python() -> bool {
    python_imports("", "python3")
}

/// Returns `true` if `python3` can import a package.
pub fn python_has(package: &str) -> bool {
    python_imports(&format!("import {package}"), &format!("{package} in python3"))
}

/// Returns `true` if `python3` can do all imports at the top level of a script in the repository.
pub fn python_runs(script: &str) -> bool {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(script);
    let text = fs::read_to_string(path).unwrap();
    python_imports(&text, &format!("python3 with the imports of {script}"))
}

/// Returns `true` if `python3` can do all imports at the top level of a program.
pub fn python_imports(program: &str, need: &str) -> bool {
    const DO_IMPORTS: &str = "import ast, sys\n\
        tree = ast.parse(sys.argv[1])\n\
        tree.body = [line for line in tree.body if isinstance(line, (ast.Import, ast.ImportFrom))]\n\
        exec(compile(tree, 'imports', 'exec'))";
    let imports = Command::new("python3").args(["-c", DO_IMPORTS, program]).output();
    is_there(need, imports.is_ok_and(|output| output.status.success()))
}
