//! The report as a page, opened in a browser if there is one by `tests/page/report.mjs`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::needs::is_there;
use crate::common::tables::Tables;

/// Arguments for every browser of a test: no network, no display.
const QUIETLY: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];
const BROWSERS: [&str; 3] =
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/// Returns a command that runs a script of `tests/page` with some arguments, the packages and the browser;
/// `None` if they are not there.
pub(super) fn driven(script: &str, args: &[&Path]) -> Option<Command> {
    let here = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let packages = here.join("target/ci-node/node_modules");
    let browser = BROWSERS.iter().find(|browser| Path::new(browser).exists());
    let has_node = Command::new("node").arg("--version").output().is_ok();
    let has_packages =
        ["playwright-core", "axe-core"].iter().all(|name| packages.join(name).exists());
    let there = browser.is_some() && has_node && has_packages;
    if !is_there("Chromium, Node, or Playwright and axe in target/ci-node", there) {
        return None;
    }
    let mut command = Command::new("node");
    command.arg(here.join("tests/page").join(script)).args(args);
    command.arg(packages).arg(browser?).args(QUIETLY);
    Some(command)
}

/// Runs such a command, which prints at its end what passed.
pub(super) fn passes(mut command: Command) {
    let driven = command.output().unwrap();
    assert!(driven.status.success(), "{}", String::from_utf8_lossy(&driven.stderr));
    assert!(String::from_utf8_lossy(&driven.stdout).ends_with(" passed\n"), "{driven:?}");
}

const POLICIES: &str = "random,greedy,mcts:20,perfect";

/// Renders the page of a table that was swept several times, so that it has a plot of the sweeps.
fn page(tables: &Tables) -> PathBuf {
    tables.ok(&["enumerate", "-q"]);
    tables.ok(&["value-iterate", "--order", "natural", "-q"]);
    let path = tables.root().join("report.html");
    // A name of one's own makes a policy the reader's.
    let policies = ["--policy", POLICIES, "--label", "mine=n-least:1"];
    let args = [&["report", "-q", "--html", path.to_str().unwrap()][..], &policies].concat();
    // The date is on the page.
    let made = tables.solver(&args).env("SOURCE_DATE_EPOCH", "1700000000").output().unwrap();
    assert!(made.status.success(), "{made:?}");
    path
}

#[test]
fn the_page_stands_alone_and_shows_everything() {
    let tables = Tables::new();
    let page = fs::read_to_string(page(&tables)).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for plot in ["losses", "convergence", "reliability"] {
        assert!(page.contains(&format!("<figure id=\"{plot}\">")), "{plot}");
    }
    for section in ["where", "ranking", "games", "mistakes", "agreement", "figures"] {
        assert!(page.contains(&format!("<h2 id=\"{section}\">")), "{section}");
        assert!(page.contains(&format!("<a href=\"#{section}\">")), "{section}");
    }
    let foot = page.split("<footer>").nth(1).unwrap();
    for reported in ["2023-11-14", env!("CARGO_PKG_VERSION"), "solver report -q", "manifest "] {
        assert!(foot.contains(reported), "{reported}: {foot}");
    }
    // The reader's own policy is brought out, with what it costs the most.
    assert!(page.contains("<h1><span class=\"own"));
    assert!(page.contains(" to move. Its costliest mistake: <b>"));
    // Plots come before tables; links lead to the server on this machine, and nothing else leaves the page.
    assert!(page.find("class=\"chart\"") < page.find("<table"));
    let link = "http:&#x2f;&#x2f;localhost:7878&#x2f;#othello-4x4&#x2f;";
    assert!(page.contains(&format!("<a class=\"explore\" href=\"{link}")));
    let rest = page.replace("http://www.w3.org/2000/svg", "");
    let rest = rest.replacen("<link rel=\"icon\" href=\"data:", "", 1);
    for remote in ["http://", "https://", "<link", "src="] {
        assert!(!rest.contains(remote), "{remote}");
    }
    assert!(page.len() < 150_000, "{}", page.len());
    // The same command writes the same page.
    assert_eq!(page, fs::read_to_string(self::page(&tables)).unwrap());
}

/// No policy of the program's own is brought out; chance is that of the positions, also without random moves.
#[test]
fn built_in_policies_are_not_brought_out() {
    let tables = Tables::after(&[&["enumerate", "--size", "4"], &["value-iterate"]]);
    let path = tables.root().join("report.html");
    tables.ok(&["report", "-q", "--policy", "greedy,weights", "--html", path.to_str().unwrap()]);
    let page = fs::read_to_string(&path).unwrap();
    assert!(page.contains("<h1>Policies keep the result in 49.8 to 64.4 of 100 positions where the move decides it; chance keeps 49.4.</h1>"));
    assert!(!page.contains("class=\"own"), "no policy is the reader's");
    assert!(page.contains("<span>chance <b>49.4%</b></span>"));
}

#[test]
fn a_browser_shows_the_page_as_a_reader_uses_it() {
    let tables = Tables::new();
    let path = page(&tables);
    if let Some(command) = driven("report.mjs", &[&path]) {
        passes(command);
    }
}

#[test]
fn checkpoints_of_a_run_are_a_learning_curve() {
    let tables = Tables::new();
    tables.ok(&["enumerate", "-q"]);
    tables.ok(&["value-iterate", "-q"]);
    let path = tables.root().join("report.html");
    let mut args = vec!["report", "-q", "--policy", "random", "--html", path.to_str().unwrap()];
    for label in ["run-5=n-least:1", "run-10=weights", "run-20=greedy"] {
        args.extend(["--label", label]);
    }
    tables.ok(&args);
    let page = fs::read_to_string(&path).unwrap();
    assert!(page.contains("Learning curve of run-*"));
    // The best and the last checkpoint of the run have a row; the other is on the strip. All have one colour.
    let rows = |name: &str| page.matches(&format!("<th title=\"{name}\">")).count();
    assert_eq!(["run-5", "run-10", "run-20"].map(rows), [1, 0, 1]);
    assert_eq!(page.matches("class=\"trail\"").count(), 1);
    let text =
        tables.ok(&args[..4].iter().copied().chain(args[6..].iter().copied()).collect::<Vec<_>>());
    assert!(
        text.contains("runs: the best and the last checkpoint; 1 other checkpoint with --full")
    );
    let curve =
        page.split("<figure id=\"curve\">").nth(1).unwrap().split("</figure>").next().unwrap();
    for point in [
        "step: 5; result kept: 79.8%",
        "step: 10; result kept: 64.4%",
        "step: 20; result kept: 49.8%",
    ] {
        assert!(curve.contains(point), "{point}: {curve}");
    }
    // A name brings another policy out; an unknown one is refused.
    tables.ok(&[&args[..], &["--highlight", "run-10"]].concat());
    assert!(fs::read_to_string(&path).unwrap().contains("<title>run-10 on othello-4x4</title>"));
    let refused = tables.run(&[&args[..], &["--highlight", "run-11"]].concat());
    refused.ended(2, "did you mean `run-10`");
}

#[test]
fn reports_are_compared_with_earlier_ones() {
    let tables = Tables::new();
    let file = |name: &str| tables.root().join(name);
    let (then, path) = (file("then.json"), file("report.html"));
    let (then_path, path_text) = (then.to_str().unwrap(), path.to_str().unwrap());
    let report = |net: &str| {
        let label = format!("net={net}");
        let words =
            ["report", "--size", "4", "-q", "--policy", "greedy", "--mistakes", "5", "--label"];
        words.iter().map(|word| word.to_string()).chain([label]).collect::<Vec<String>>()
    };
    let run = |net: &str, more: &[&str]| {
        let words = report(net);
        let words: Vec<&str> =
            words.iter().map(String::as_str).chain(more.iter().copied()).collect();
        tables.run(&words)
    };
    let earlier = run("n-least:1", &["--json"]);
    fs::write(&then, &earlier.stdout).unwrap();
    let now = run("weights", &["--json", "--against", then_path, "--html", path_text]);
    assert_eq!(now.code, 0, "{}", now.stderr);
    let [earlier, now]: [Value; 2] =
        [&earlier, &now].map(|ran| serde_json::from_str(&ran.stdout).unwrap());
    // The changes are those of the figures in the two files.
    let changes = &now["changes"]["policies"];
    let kept = |report: &Value, at: usize| report["metrics"][at]["result_kept"].as_f64().unwrap();
    let expected = kept(&now, 1) - kept(&earlier, 1);
    let both =
        |at: usize| [0, 1].map(|of| changes[at]["figures"]["result_kept"][of].as_f64().unwrap());
    let [before, after] = both(1);
    let by = after - before;
    assert!((by - expected).abs() < 1e-12 && by < -0.1, "{by} {expected}");
    assert_eq!(both(0)[0], both(0)[1]);
    assert!(changes[0]["groups"].as_array().unwrap().is_empty());
    let groups = changes[1]["groups"].as_array().unwrap();
    assert!(groups.iter().any(|group| group["kept"][1].as_f64() < group["kept"][0].as_f64()));
    assert!(!changes[1]["mistakes"]["new"].as_array().unwrap().is_empty());
    let page = fs::read_to_string(&path).unwrap();
    assert!(
        page.contains("<h2 id=\"changes\">")
            && page.contains("<small class=\"worse\">−15.4</small>")
    );
    let text = run("weights", &["--against", then_path]);
    let text = &text.stdout;
    assert!(text.contains("Since ") && text.contains("net: keeps the result worse at"), "{text}");
    // A condition on the earlier figure.
    let fails = |net: &str, condition: &str| {
        run(net, &["--against", then_path, "--fail-if", condition]).code
    };
    assert_eq!(fails("weights", "result_kept < baseline - 0.01"), 5);
    assert_eq!(fails("n-least:1", "result_kept < baseline - 0.01"), 0);
    let without = run("weights", &["--fail-if", "result_kept < baseline"]);
    without.ended(2, "give one with --against FILE");
    // Other positions, and files that are no reports, are refused.
    run("weights", &["--against", then_path, "--canonical"]).ended(2, "asked about");
    let other = run("weights", &["--against", then_path, "--split", "test"]);
    other.ended(2, "positions differs");
    fs::write(file("bad.json"), "{}").unwrap();
    let bad = run("weights", &["--against", file("bad.json").to_str().unwrap()]);
    bad.ended(2, "not a report");
    // An older report has figures of other names.
    let older = fs::read_to_string(&then).unwrap();
    let older = older.replace("\"value_rmse\"", "\"value_root_mean_square\"");
    fs::write(&then, older).unwrap();
    run("weights", &["--against", then_path])
        .ended(2, "another version, without the figure `value_rmse`");
}
