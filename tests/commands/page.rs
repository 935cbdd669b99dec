//! The report as a page, opened in a browser if there is one.

use std::path::Path;
use std::process::{Command, Output};

use crate::common::needs::is_there;
use crate::common::tables::Tables;

/// Arguments for every browser of a test: no network, no display.
pub(super) const QUIETLY: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

const PLOTS: [&str; 2] = ["losses", "convergence"];
const SECTIONS: [&str; 9] =
    ["ranking", "turned", "where", "games", "values", "plots", "agreement", "mistakes", "figures"];

/// Renders the page of a table that was swept several times, so that it has a plot of the sweeps.
fn page(tables: &Tables) -> String {
    tables.ok(&["enumerate", "-q"]);
    tables.ok(&["value-iterate", "--order", "natural", "-q"]);
    let path = tables.root().join("report.html");
    let policies = ["random", "n-least:1", "mcts:20", "perfect"];
    let mut args = vec!["report", "--html", path.to_str().unwrap(), "-q"];
    policies.iter().for_each(|policy| args.extend(["--policy", policy]));
    // The date is on the page.
    let made = tables.solver(&args).env("SOURCE_DATE_EPOCH", "1700000000").output().unwrap();
    assert!(made.status.success(), "{made:?}");
    std::fs::read_to_string(path).unwrap()
}

fn browse(dir: &Path, args: &[&str], page: &Path) -> Option<Output> {
    let url = format!("file://{}", page.display());
    let profile = format!("--user-data-dir={}", dir.join("profile").display());
    let mut browsers = ["chromium", "chromium-browser", "google-chrome"].iter();
    browsers.find_map(|browser| {
        let mut command = Command::new(browser);
        command.args(QUIETLY).arg(&profile).args(args).arg(&url);
        command.output().ok()
    })
}

#[test]
fn the_page_stands_alone_and_shows_everything() {
    let tables = Tables::new();
    let page = page(&tables);
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for plot in PLOTS.iter().chain(&["reliability"]) {
        assert!(page.contains(&format!("<figure id=\"{plot}\">")), "{plot}");
    }
    for section in SECTIONS {
        assert!(page.contains(&format!("<h2 id=\"{section}\">")), "{section}");
        assert!(page.contains(&format!("<a href=\"#{section}\">")), "{section}");
    }
    let foot = page.split("<footer>").nth(1).unwrap();
    for reported in ["2023-11-14", env!("CARGO_PKG_VERSION"), "solver report --html", "manifest "] {
        assert!(foot.contains(reported), "{reported}: {foot}");
    }
    // Boards mark the best moves and the policy's move.
    for mark in ["class=\"right\"", "class=\"wrong\"", "class=\"stack\"", "class=\"few\""] {
        assert!(page.contains(mark), "{mark}");
    }
    for remote in ["http://", "https://", "<link", "src="] {
        let found = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(remote), "{remote}");
    }
    assert!(page.contains("class=\"board\"") && page.contains("n-least:1"));
    // The same command writes the same page.
    assert_eq!(page, self::page(&tables));
}

#[test]
fn a_browser_shows_the_page_without_complaint() {
    let tables = Tables::new();
    page(&tables);
    let (dir, path) = (tables.root(), tables.root().join("report.html"));
    let shown = browse(dir, &["--enable-logging=stderr", "--dump-dom"], &path);
    if !is_there("Chromium", shown.is_some()) {
        return;
    }
    let shown = shown.unwrap();
    let (dom, printed) =
        (String::from_utf8_lossy(&shown.stdout), String::from_utf8_lossy(&shown.stderr));
    assert!(shown.status.success(), "{printed}");
    assert!(!printed.contains("CONSOLE"), "{printed}");
    // The script has turned table headings into buttons.
    assert!(dom.matches("<button type=\"button\">").count() > 30);
    for plot in PLOTS {
        let figure = dom.split(&format!("<figure id=\"{plot}\">")).nth(1).unwrap_or_default();
        let figure = figure.split("</figure>").next().unwrap_or_default();
        let drawn = ["<circle", "<rect", "<polyline"].map(|mark| figure.matches(mark).count());
        assert!(drawn.iter().sum::<usize>() > 2, "{plot}: {drawn:?}");
    }
    // A phone and a desktop; a blank picture would be smaller.
    for (name, window) in [("phone", "400,2000"), ("desk", "1200,2000")] {
        let picture = dir.join(format!("{name}.png"));
        let to = format!("--screenshot={}", picture.display());
        let window = format!("--window-size={window}");
        browse(dir, &[&to, &window, "--hide-scrollbars"], &path).unwrap();
        assert!(std::fs::metadata(&picture).unwrap().len() > 20_000, "{name}");
    }
    // A browser window cannot be as narrow as a phone; a frame can.
    let page = std::fs::read_to_string(&path).unwrap();
    for (width, scheme, paper) in [
        (1280, 1, "rgb(255, 255, 255)"),
        (390, 1, "rgb(255, 255, 255)"),
        (1280, 0, "rgb(22, 24, 26)"),
        (390, 0, "rgb(22, 24, 26)"),
    ] {
        let framed = dir.join("framed.html");
        let source = page.replace('&', "&amp;").replace('"', "&quot;");
        let frame =
            format!("<iframe style=\"width:{width}px;border:0\" srcdoc=\"{source}\"></iframe>");
        std::fs::write(&framed, format!("<!doctype html>{frame}<script>{SAY}</script>")).unwrap();
        let scheme = format!("--blink-settings=preferredColorScheme={scheme}");
        let shown = browse(dir, &["--dump-dom", "--hide-scrollbars", &scheme], &framed).unwrap();
        let dom = String::from_utf8_lossy(&shown.stdout);
        let printed = dom.rsplit("<pre>").next().unwrap().split("</pre>").next().unwrap();
        assert_eq!(printed, format!("{width} {paper} random perfect"), "{scheme}");
    }
}

/// Script that reports the framed page's scroll width, its background, and the policies that come first when
/// the ranking is sorted upwards and downwards.
const SAY: &str = "onload = () => {
    const page = document.querySelector('iframe').contentDocument;
    const view = page.defaultView;
    const paper = view.getComputedStyle(page.body).backgroundColor;
    const table = page.querySelector('#ranking ~ * table.sort');
    const best = () => table.tBodies[0].rows[0].cells[1].textContent.trim();
    const head = table.tHead.rows[0].cells[2].querySelector('button');
    head.click(); const down = best(); head.click(); const up = best();
    const said = [page.documentElement.scrollWidth, paper, up, down].join(' ');
    document.body.append(Object.assign(document.createElement('pre'), { textContent: said }));
}";
