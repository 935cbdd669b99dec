//! The JSON of every command, validated against `docs/schemas/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::needs::python_has;
use crate::common::tables::{Tables, copy_dir};

/// Commands of every kind, in an order in which each finds what it needs; `DIR` is the directory of
/// tables.
const COMMANDS: &str = "\
enumerate --size 4
value-iterate
value-iterate
value-iterate --discount 0.9
query
query othello-4x4 b1a1a2
info
info --values
verify
verify --checksum
report --policy random,weights,perfect,mcts:5 --mistakes 2
report --policy random,greedy --canonical --mistakes 1
report --policy greedy --split test
compare mcts:5:{} random --seeds 0,1
match random greedy --openings 1
match random greedy --size 4 --sample 20
match random greedy --game minishogi --sample 2
solve 4 b1a1
solve 4x4 --search --all-moves
query 4x5
solve --game minishogi --plies 3
report --size 4 --sample 20 --policy random --mistakes 1
prove 4x4 --out DIR/4x4.proof
check DIR/4x4.proof
export --states --out DIR/states
export --out DIR/targets
pack
perft --size 4 --depth 3
enumerate --size 4 --max-depth 5
value-iterate
query
query othello-4x4-depth5 b1a1a2
report --policy random
info --values
enumerate --game animal-shogi-3x3 --max-depth 5
value-iterate
query
info --values
report --policy random,mcts:5 --mistakes 1
compare random greedy
verify
list
enumerate --game minishogi --max-depth 2
list
remove othello-4x4.packed nothing
games
policies 4x4
match random greedy --game animal-shogi-3x3
";

fn schemas() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs/schemas")
}

/// `docs/schemas/` and the components of `docs/openapi.json` are generated from the Rust types; run with
/// `YOMIKIRI_WRITE_SCHEMAS` set to regenerate them.
#[test]
fn schemas_are_those_of_the_types() {
    let mut made: BTreeMap<PathBuf, Value> = BTreeMap::new();
    for (name, schema) in yomikiri_solver::schemas() {
        if name == "openapi" {
            let path = schemas().with_file_name("openapi.json");
            let text = fs::read_to_string(&path).unwrap();
            let mut page: Value = serde_json::from_str(&text).unwrap();
            page["components"]["schemas"] = schema;
            made.insert(path, page);
        } else {
            made.insert(schemas().join(format!("{name}.json")), schema);
        }
    }
    for (path, schema) in made {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("YOMIKIRI_WRITE_SCHEMAS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        let what = "differs: set YOMIKIRI_WRITE_SCHEMAS and run this test again";
        assert!(kept == text, "{} {what}", path.display());
    }
}

#[test]
fn every_command_prints_what_its_schema_says() {
    let tables = Tables::new();
    let mut printed = BTreeMap::<String, Vec<Value>>::new();
    let mut run = |line: &str| {
        let line = line.replace("DIR", tables.root().to_str().unwrap());
        let json = tables.json(&line.split(' ').collect::<Vec<_>>());
        let schema = json["schema"].as_str().unwrap_or_else(|| panic!("{line} names no schema"));
        assert_eq!(json["schema_version"], 1, "{line}");
        printed
            .entry(schema.strip_prefix("yomikiri-").unwrap().to_string())
            .or_default()
            .push(json);
    };
    COMMANDS.lines().for_each(&mut run);
    fs::write(tables.place("game.txt"), "b1 a1 a2").unwrap();
    run("review 4x4 DIR/game.txt");
    if cfg!(feature = "onnx") {
        run("train tabular --games 20 --method td,sarsa");
        run("train td --size 4 --games 2");
        run("train evaluation --size 5 --positions 1000 --out DIR/evaluation");
        let kept = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tables/policies");
        copy_dir(&kept, &tables.place("policies"));
        run("report --game othello-4x4 --canonical --policy learned:supervised-othello-4x4");
    }
    if cfg!(feature = "cluster") {
        run("enumerate --size 4 --processes 1");
        run("gather --size 4");
    }
    let files = fs::read_dir(schemas()).unwrap().map(|file| file.unwrap().path());
    let known: BTreeSet<String> =
        files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_string()).collect();
    let met: BTreeSet<String> = printed.keys().cloned().collect();
    let learned = |name: &&String| cfg!(feature = "onnx") || !name.starts_with("train");
    let spread =
        |name: &&String| cfg!(feature = "cluster") || !matches!(name.as_str(), "part" | "gather");
    let known = known.iter().filter(learned).filter(spread);
    assert_eq!(known.collect::<Vec<_>>(), met.iter().collect::<Vec<_>>());
    let file = tables.place("printed.json");
    fs::write(&file, serde_json::to_string(&printed).unwrap()).unwrap();
    let script =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/commands/schemas.py");
    if !python_has("jsonschema") {
        return;
    }
    let checked = Command::new("python3").arg(script).args([schemas(), file]).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

/// Collects the names of all fields below a value.
fn fields(value: &Value, found: &mut BTreeSet<String>) {
    for (name, below) in value.as_object().into_iter().flatten() {
        found.insert(name.clone());
        fields(below, found);
    }
    value.as_array().into_iter().flatten().for_each(|below| fields(below, found));
}

/// `docs/json.md` explains all fields, `docs/measuring.md` all figures of reports, comparisons, matches and their files.
#[test]
fn every_field_and_column_of_results_is_explained() {
    let docs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs");
    let docs = ["json.md", "measuring.md"].map(|name| fs::read_to_string(docs.join(name)).unwrap());
    let docs = docs.concat();
    let explained: BTreeSet<&str> =
        docs.split('`').skip(1).step_by(2).flat_map(|name| name.split(['.', '[', ']'])).collect();
    let tables = Tables::new();
    let csv = tables.place("rows.csv");
    let mut met = BTreeSet::new();
    for line in [
        &format!("report --policy random,mcts:2 --mistakes 1 --csv {}", csv.display()),
        "compare greedy random",
        "match greedy random --openings 1",
        "match greedy random --game othello-4x4 --sample 2",
    ] {
        let mut printed = tables.json(&line.split(' ').collect::<Vec<_>>());
        // Their names are those of `--metrics`, with prefixes.
        if let Some(metrics) = printed.get_mut("metrics") {
            assert!(metrics.take()[1]["all_result_kept"].is_number());
        }
        if let Some(figures) = printed.get_mut("figures") {
            assert!(figures.take()["all_result_kept"][0].is_number());
        }
        fields(&printed, &mut met);
    }
    let rows = fs::read_to_string(csv).unwrap();
    let columns = rows.lines().next().unwrap().split(',').map(String::from);
    met.extend(columns);
    assert!(met.contains("likeliest_score") && met.contains("reliability"));
    let unknown: Vec<&String> = met.iter().filter(|name| !explained.contains(&name[..])).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// Collects the properties of a schema without a description.
fn silent(schema: &Value, at: &str, found: &mut Vec<String>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let at = format!("{at}/{name}");
        if property["description"].as_str().is_none_or(str::is_empty) {
            found.push(at.clone());
        }
        silent(property, &at, found);
    }
    for below in ["items", "additionalProperties"].into_iter().filter(|of| schema[of].is_object()) {
        silent(&schema[below], &format!("{at}/*"), found);
    }
    for (name, of) in schema["$defs"].as_object().into_iter().flatten() {
        silent(of, &format!("{at}/$defs/{name}"), found);
    }
}

#[test]
fn every_field_of_a_schema_is_described() {
    for file in fs::read_dir(schemas()).unwrap().map(|file| file.unwrap().path()) {
        let schema: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let mut found = Vec::new();
        silent(&schema, "", &mut found);
        assert!(found.is_empty(), "{}: {found:?}", file.display());
    }
}

/// `docs/commands.md` is made of the command line; with `YOMIKIRI_WRITE_COMMANDS` set it is written again.
#[cfg(all(feature = "onnx", feature = "cluster", feature = "serve", feature = "parquet"))]
#[test]
fn the_reference_of_commands_is_that_of_the_command_line() {
    let path = schemas().with_file_name("commands.md");
    let text = yomikiri_solver::reference();
    if std::env::var_os("YOMIKIRI_WRITE_COMMANDS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "docs/commands.md differs: set YOMIKIRI_WRITE_COMMANDS and run this test again"
    );
}

/// The table of figures in docs/measuring.md is the list that the program has.
#[test]
fn the_table_of_figures_is_the_list() {
    let path = schemas().with_file_name("measuring.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("<!-- figures -->\n").unwrap();
    let (table, after) = rest.split_once("<!-- end of figures -->").unwrap();
    let wanted = yomikiri_measure::render::figures_markdown();
    if std::env::var_os("YOMIKIRI_WRITE_COMMANDS").is_some() {
        let text = format!("{before}<!-- figures -->\n{wanted}<!-- end of figures -->{after}");
        return fs::write(&path, text).unwrap();
    }
    let differs = "docs/measuring.md differs: set YOMIKIRI_WRITE_COMMANDS and run this test again";
    assert!(table == wanted, "{differs}");
}
