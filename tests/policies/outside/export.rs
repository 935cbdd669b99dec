//! `solver export --states`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use yomikiri::output::temporary;
use yomikiri::rules::{AnyPosition, Position, Rules, Side};
use yomikiri::table::NpyHeader;
use yomikiri::table::rows::Rows;
use yomikiri::table::{HEADER_BYTES, Table, crc32};

use crate::common::solved::{board_4x4, rows};
use crate::common::tables::{Tables, assert_same_files, files, solved_4x4};

/// Returns an exported array's payload, checking its header against states.json.
fn payload(dir: &Path, states: &Value, name: &str, dtype: &str, shape: &[u64]) -> Vec<u8> {
    let bytes = fs::read(dir.join(name)).unwrap();
    let header = NpyHeader::read(&bytes[..]).unwrap();
    assert_eq!((&header.shape[..], &header.descr[..]), (shape, dtype), "{name}");
    let file = &states["files"][name];
    assert_eq!((&file["dtype"], &file["shape"]), (&dtype.into(), &shape.into()), "{name}");
    assert_eq!(file["crc32"], format!("{:08x}", crc32(&bytes)), "{name}");
    bytes[HEADER_BYTES..].to_vec()
}

/// Reads an export back, checks every file against the rules, and returns the positions with their rows.
fn read(game: &dyn Rules, dir: &Path) -> Vec<(AnyPosition, usize)> {
    let states: Value =
        serde_json::from_slice(&fs::read(dir.join("states.json")).unwrap()).unwrap();
    let text = fs::read_to_string(dir.join("positions.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let count = lines.len() as u64;
    assert_eq!(states["positions"], count);
    assert_eq!(states["game"], game.name());
    let (rows, columns) = game.shape();
    let plane_count = game.plane_kinds().count();
    assert_eq!(states["planes"].as_array().unwrap().len(), plane_count);
    let actions = game.action_count();
    let shape = [count, plane_count as u64, rows as u64, columns as u64];
    let planes = payload(dir, &states, "planes.npy", "|u1", &shape);
    let legal = payload(dir, &states, "legal.npy", "|u1", &[count, actions as u64]);
    let side = payload(dir, &states, "side.npy", "|i1", &[count]);
    let row = payload(dir, &states, "row.npy", "<u4", &[count]);
    let width = plane_count * rows * columns;
    let read = lines.iter().enumerate().map(|(at, line)| {
        let position = game.parse_position(line, &game.start()).unwrap();
        assert_eq!(game.notation(&position), *line);
        assert_eq!(side[at], position.side.index() as u8, "{line}");
        let numbers: Vec<f32> =
            planes[at * width..][..width].iter().copied().map(f32::from).collect();
        let drawn = game.read_planes(&numbers);
        assert_eq!(drawn, Some(position.state), "{line}");
        let mut wanted = vec![0; actions];
        game.actions(&position.state).iter().for_each(|action| wanted[action.0 as usize] = 1);
        assert_eq!(legal[at * actions..][..actions], wanted, "{line}");
        assert!(wanted.contains(&1), "{line} is over");
        let row = u32::from_le_bytes(row[4 * at..][..4].try_into().unwrap());
        (position, row as usize)
    });
    read.collect()
}

#[test]
fn every_position_of_a_layered_table_is_written_once() {
    let tables = Tables::new();
    let table = solved_4x4(&tables);
    let printed = tables.json(&["export", "--states", "othello-4x4"]);
    assert_eq!(printed["positions"], 56_621);
    let dir = tables.place("othello-4x4-states");
    assert_eq!(printed["directory"], dir.to_str().unwrap());
    let game = board_4x4(true);
    let graph = Rows::open(&*game, &table).unwrap();
    let all = read(&*game, &dir);
    assert_eq!(all.len(), 56_621);
    let distinct: HashSet<_> = all.iter().map(|(position, _)| *position).collect();
    assert_eq!(distinct.len(), all.len());
    assert!(all.is_sorted_by_key(|(_, row)| *row));
    // Within a row, positions are ordered by side, then by symmetry, like the table's orientations.
    let mut rest = all.iter();
    for row in 0..graph.states() {
        let state = graph.position(&*game, row).unwrap().state;
        if game.is_terminal(&state) {
            continue;
        }
        for (symmetry, side) in graph.orientations(row).unwrap().iter(8) {
            let position = Position { state: game.transform(&state, symmetry), side };
            assert_eq!(rest.next(), Some(&(position, row)));
        }
    }

    let printed = tables.json(&["export", "--states", "--states-of", "canonical"]);
    let dir = tables.place("othello-4x4-states-canonical");
    let canonical = read(&*game, &dir);
    assert_eq!(printed["positions"], canonical.len());
    // The first orientation of each row.
    let mut first = all.clone();
    first.dedup_by_key(|(_, row)| *row);
    assert_eq!(canonical, first);
}

#[test]
fn rows_of_games_with_cycles_are_written_with_their_images_if_complete() {
    let tables = Tables::new();
    tables.ok(&["enumerate", "-q", "--game", "animal-shogi-3x3"]);
    tables.ok(&["export", "-q", "--states"]);
    tables.ok(&["export", "-q", "--states", "--states-of", "canonical"]);
    let table = rows(&Table::open(&tables.place("animal-shogi-3x3")).unwrap());
    let once = read(table.game(), &tables.place("animal-shogi-3x3-states-canonical"));
    assert_eq!(once.len(), 94_521);
    let all = read(table.game(), &tables.place("animal-shogi-3x3-states"));
    for (position, row) in all.iter().chain(&once) {
        assert_eq!((table.find(position), position.side), (Some(*row), Side::First));
    }
    // A position and its mirror image, once if they are equal.
    let game = table.game();
    let mut rest = all.iter();
    for (position, row) in &once {
        assert_eq!(rest.next(), Some(&(*position, *row)));
        let image = Position { state: game.transform(&position.state, 1), ..*position };
        if image != *position {
            assert_eq!(rest.next(), Some(&(image, *row)));
        }
    }
    assert_eq!(rest.next(), None);

    tables.ok(&["enumerate", "-q", "--game", "minishogi", "--max-depth", "5"]);
    tables.ok(&["export", "-q", "--states"]);
    let table = rows(&Table::open(&tables.place("minishogi-depth5")).unwrap());
    let all = read(table.game(), &tables.place("minishogi-depth5-states"));
    let counts = table.table().manifest().counts.table;
    assert_eq!(all.len() as u64, counts.states - counts.terminals - counts.frontier);
    let sides: HashSet<Side> = all.iter().map(|(position, _)| position.side).collect();
    assert_eq!(sides.len(), 2);
    for (position, row) in &all {
        assert_eq!(table.find(position), Some(*row));
    }
}

#[test]
fn exports_have_the_same_bytes_for_any_number_of_threads() {
    let tables = Tables::new();
    tables.ok(&["enumerate", "-q", "--size", "4"]);
    tables.ok(&["enumerate", "-q", "--game", "animal-shogi-3x3"]);
    for table in ["othello-4x4", "animal-shogi-3x3"] {
        let [one, two] = ["1", "2"].map(|threads| {
            let out = tables.place(&format!("{table}-{threads}"));
            let args = ["export", "--states", table, "--threads", threads, "-q", "--out"];
            tables.ok(&[&args[..], &[out.to_str().unwrap()]].concat());
            out
        });
        assert_same_files(&one, &two, table);
    }
}

#[test]
fn an_export_replaces_only_what_an_export_wrote() {
    let tables = Tables::new();
    tables.ok(&["enumerate", "-q", "--size", "4"]);
    tables.ok(&["enumerate", "-q", "--size", "4", "--max-depth", "4"]);
    let out = tables.place("out");
    let export = |table| tables.run(&["export", "--states", table, "--out", out.to_str().unwrap()]);
    let states = || fs::read_to_string(out.join("states.json")).unwrap();
    // An empty directory may be overwritten.
    fs::create_dir(&out).unwrap();
    assert_eq!(export("othello-4x4-depth4").code, 0);
    let short = files(&out);
    assert!(export("othello-4x4-depth4").stdout.contains("already there"));
    assert_eq!(files(&out), short);
    assert_eq!(export("othello-4x4").code, 0);
    let whole = files(&out);
    assert_ne!(whole, short);
    assert!(states().contains("\"othello-4x4\""));

    // With predictions beside it, the same export is left alone, and another one is refused.
    fs::write(out.join("logits.npy"), "mine").unwrap();
    assert!(export("othello-4x4").stdout.contains("already there"));
    let line = export("othello-4x4-depth4");
    assert!(line.refused("predictions beside it").contains("logits.npy"), "{line:?}");
    fs::remove_file(out.join("logits.npy")).unwrap();
    assert_eq!(files(&out), whole);

    // Leftovers of a killed export are removed.
    let partial = temporary(&tables.place("out")).unwrap();
    fs::create_dir(&partial).unwrap();
    fs::write(partial.join("planes.npy"), "half").unwrap();
    assert_eq!(export("othello-4x4-depth4").code, 0);
    assert!(files(&out) == short && !partial.exists());

    for (name, text) in [("planes.npy", "mine"), ("states.json", "{}")] {
        let kept = fs::read(out.join(name)).unwrap();
        fs::write(out.join(name), text).unwrap();
        let before = files(&out);
        for table in ["othello-4x4", "othello-4x4-depth4"] {
            let ran = export(table);
            let line = ran.refused(name);
            assert!(line.contains("--out") && line.contains(out.to_str().unwrap()), "{line}");
        }
        assert_eq!(files(&out), before);
        fs::write(out.join(name), kept).unwrap();
    }
    fs::write(tables.place("file"), "mine").unwrap();
    let ran = tables.run(&["export", "--states", "--out", tables.place("file").to_str().unwrap()]);
    assert!(ran.refused("a file").contains("is a file"), "{ran:?}");
}
