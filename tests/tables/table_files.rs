//! Every kind of damage to a table's files is found and named in one line, and nothing uses damaged data.

use std::fs;

use crate::common::tables::{
    Tables, copy_dir, edge_offsets, edit_manifest, files, forge, solved_4x4,
};
use yomikiri::table::{HEADER_BYTES, Manifest, Table};

const NAME: &str = "othello-4x4";
const ARRAYS: [&str; 11] = [
    "keys",
    "orientations",
    "kinds",
    "edge_counts",
    "edge_starts",
    "edge_targets",
    "edge_actions",
    "layer_offsets",
    "score",
    "distance",
    "value",
];
/// Arrays that solving reads, not one byte of which it may trust.
const READ_BY_SOLVING: [&str; 6] =
    ["keys", "kinds", "edge_counts", "edge_starts", "edge_targets", "layer_offsets"];
const READERS: [&[&str]; 4] = [
    &["verify", NAME],
    &["info", NAME],
    &["query", NAME, "start"],
    // Another solution than the table has, so that there is something to compute.
    &["value-iterate", NAME, "--empties", "to-winner", "--threads", "1"],
];

/// Returns the file name of an array.
fn file_of(solved: &Tables, array: &str) -> String {
    Table::open(&solved.place(NAME)).unwrap().manifest().file_of(array)
}

/// Returns a fresh copy of a solved table.
fn copy(solved: &Tables) -> Tables {
    let tables = Tables::new();
    copy_dir(&solved.place(NAME), &tables.place(NAME));
    tables
}

/// Runs every reader on a table with a damaged file.
fn expect_damage(tables: &Tables, file: &str, what: &str) {
    let array = file.trim_end_matches(".npy");
    for args in READERS {
        // On a slow machine solving writes a checkpoint before it reads the damage.
        let all = || {
            let mut all = files(tables.root());
            all.retain(|path, _| path.iter().all(|part| part != "solve.partial"));
            all
        };
        let before = all();
        let ran = tables.run(args);
        let what = format!("{what}: {} of {file}", args[0]);
        let must_refuse = match args[0] {
            "verify" => true,
            "value-iterate" => file == "manifest.json" || READ_BY_SOLVING.contains(&array),
            _ => file == "manifest.json",
        };
        if must_refuse || ran.code != 0 {
            let line = ran.spoilt(&what);
            // A query reads as little as it can, and may report a wrong key as a missing state.
            assert!(!must_refuse || line.contains(file), "{what}: names no file: {line}");
            assert!(!must_refuse || line.contains("enumerate"), "{what}: what to do? {line}");
            assert!(before == all(), "{what}: a failing command wrote");
        }
    }
}

/// Damages a copy of one file and runs every reader.
fn damage(solved: &Tables, file: &str, what: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let tables = copy(solved);
    let path = tables.place(NAME).join(file);
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
    expect_damage(&tables, file, what);
}

fn each_length_and_byte(solved: &Tables, file: &str, header: &[usize], payload: &[usize]) {
    let length = fs::read(solved.place(NAME).join(file)).unwrap().len();
    for cut in [0, 50, length - 1] {
        damage(solved, file, &format!("cut to {cut}"), |bytes| bytes.truncate(cut));
    }
    damage(solved, file, "a byte longer", |bytes| bytes.push(0));
    let inside = payload.iter().map(|&at| HEADER_BYTES + at % (length - HEADER_BYTES));
    for at in header.iter().copied().chain(inside) {
        damage(solved, file, &format!("byte {at} flipped"), |bytes| bytes[at] ^= 1);
    }
}

#[test]
fn damaged_arrays_are_found_and_not_computed_with() {
    let solved = Tables::new();
    solved_4x4(&solved);
    for array in ARRAYS {
        let file = file_of(&solved, array);
        each_length_and_byte(&solved, &file, &[0, 6, 8, 25, 127], &[0, 4_001, usize::MAX]);
    }
}

#[test]
fn missing_and_exchanged_arrays_are_found() {
    let solved = Tables::new();
    let names: Vec<String> = solved_4x4(&solved).manifest().arrays.keys().cloned().collect();
    let mut all = ARRAYS.to_vec();
    all.sort_unstable();
    assert_eq!(names, all, "these tests know every array");
    for (array, other) in ARRAYS.iter().zip(ARRAYS.iter().cycle().skip(7)) {
        let file = file_of(&solved, array);
        let tables = copy(&solved);
        fs::remove_file(tables.place(NAME).join(&file)).unwrap();
        expect_damage(&tables, &file, "missing");
        let replacement = fs::read(solved.place(NAME).join(file_of(&solved, other))).unwrap();
        damage(&solved, &file, "replaced", |bytes| *bytes = replacement);
    }
}

#[test]
fn a_damaged_manifest_is_found_wherever_it_is_damaged() {
    let solved = Tables::new();
    solved_4x4(&solved);
    let length = fs::read(solved.place(NAME).join("manifest.json")).unwrap().len();
    each_length_and_byte(&solved, "manifest.json", &[0, 1, 20, 60, length - 8], &[900, 1900, 4000]);
    let count = |bytes: &mut Vec<u8>| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(text.contains("62789"));
        *bytes = text.replacen("62789", "62788", 1).into_bytes();
    };
    damage(&solved, "manifest.json", "a changed count", count);
    damage(&solved, "manifest.json", "not text", |bytes| bytes.insert(9, 0xff));
    for foreign in ["{}", "[]", "null", "{\"format\": \"another-table\", \"format_version\": 3}"] {
        damage(&solved, "manifest.json", foreign, |bytes| *bytes = foreign.into());
    }
}

#[test]
fn other_versions_of_the_format_are_named() {
    let solved = Tables::new();
    solved_4x4(&solved);
    for version in ["0", "4", "4294967297"] {
        let tables = copy(&solved);
        let path = tables.place(NAME).join("manifest.json");
        let text = fs::read_to_string(&path).unwrap();
        let field = format!("\"format_version\": {version}");
        fs::write(&path, text.replace("\"format_version\": 6", &field)).unwrap();
        expect_damage(&tables, "manifest.json", &field);
        let line = tables.run(READERS[0]).stderr;
        assert!(line.contains(&format!("format {version} of")), "{line}");
    }
}

#[test]
fn what_is_no_table_is_refused() {
    let tables = Tables::new();
    fs::create_dir(tables.place("empty")).unwrap();
    fs::write(tables.place("file"), "no table").unwrap();
    for name in ["empty", "file", "nowhere", "some/where", ".."] {
        for command in ["verify", "info", "value-iterate"] {
            let ran = tables.run(&[command, name]);
            let line = ran.refused(name);
            let next = ["solver enumerate", "solver games"].iter().any(|next| line.contains(next));
            assert!(line.contains(name) && next, "{line}");
        }
    }
    assert_eq!(files(tables.root()).len(), 1, "nothing was written");
}

fn words<T: bytemuck::Pod>(table: &Table, array: &str) -> Vec<T> {
    let bytes = fs::read(table.path_of(array)).unwrap();
    bytemuck::pod_collect_to_vec(&bytes[HEADER_BYTES..])
}

/// Returns a row and those one move before or after it.
fn neighbourhood(table: &Table, row: usize) -> Vec<usize> {
    let (offsets, targets) = (edge_offsets(table), words::<u32>(table, "edge_targets"));
    let after = |row: usize| &targets[offsets[row]..offsets[row + 1]];
    // A pass may lead to an earlier row of its layer.
    let before = (0..offsets.len() - 1).filter(|&other| after(other).contains(&(row as u32)));
    before.chain([row]).chain(after(row).iter().map(|&t| t as usize)).collect()
}

/// Checks that `verify` refutes a forged table with a row of `near`, and that nothing panics.
fn expect_refuted(tables: &Tables, near: &[usize], what: &str) {
    let ran = tables.run(&["verify", NAME, "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (3, ""), "{what}");
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found["proven"], false, "{what}");
    let row = found["counterexample"]["row"].as_u64().unwrap() as usize;
    assert!(near.contains(&row), "{what}: {found} is not about {near:?}");
    for text in ["state", "what"] {
        assert!(!found["counterexample"][text].as_str().unwrap().is_empty(), "{what}");
    }
    let printed = tables.run(&["verify", NAME]);
    assert!(printed.code == 3 && printed.stdout.contains(&format!("row {row} is wrong")), "{what}");
    for args in &READERS[1..] {
        assert!([0, 2, 3].contains(&tables.run(args).code), "{what}: {}", args[0]);
    }
}

/// Returns an interior row, one a move from the end, a pass and a terminal.
fn rows_of_each_sort(table: &Table) -> [usize; 4] {
    let kinds = words::<u8>(table, "kinds");
    let distances = words::<u8>(table, "distance");
    let offsets = edge_offsets(table);
    let actions = words::<u8>(table, "edge_actions");
    let pass = |row: usize| kinds[row] == 0 && actions[offsets[row]] == 16;
    let find = |wanted: &dyn Fn(usize) -> bool| (0..kinds.len()).find(|&row| wanted(row)).unwrap();
    [77, find(&|r| distances[r] == 1), find(&pass), find(&|r| kinds[r] == 1)]
}

#[test]
fn a_wrong_value_with_right_checksums_is_refuted() {
    let solved = Tables::new();
    let table = solved_4x4(&solved);
    for row in rows_of_each_sort(&table) {
        let near = neighbourhood(&table, row);
        let forged = |array: &str, what: &str, change: &dyn Fn(&mut [u8])| {
            let tables = copy(&solved);
            forge(&tables.place(NAME), array, change);
            expect_refuted(&tables, &near, &format!("row {row}: {what}"));
        };
        forged("score", "a disc more", &|bytes| bytes[row] = bytes[row].wrapping_add(1));
        forged("score", "no score at all", &|bytes| bytes[row] = i8::MIN as u8);
        forged("distance", "a ply more", &|bytes| {
            bytes[row] = bytes[row].wrapping_add(1);
        });
        forged("distance", "unknown", &|bytes| bytes[row] = 0xff);
        forged("orientations", "one more or less", &|bytes| bytes[2 * row] ^= 1);
        for error in [1e-3f32, f32::NAN] {
            forged("value", "a little off", &|bytes| {
                let bytes = &mut bytes[4 * row..4 * row + 4];
                let value = f32::from_le_bytes((&*bytes).try_into().unwrap()) + error;
                bytes.copy_from_slice(&value.to_le_bytes());
            });
        }
    }
}

#[test]
fn a_wrong_edge_with_right_checksums_is_refuted() {
    let solved = Tables::new();
    let table = solved_4x4(&solved);
    let offsets = edge_offsets(&table);
    let states = offsets.len() - 1;
    let [row, last, pass, terminal] = rows_of_each_sort(&table);
    let forged = |array: &str, near: &[usize], what: &str, change: &dyn Fn(&mut [u8])| {
        let tables = copy(&solved);
        forge(&tables.place(NAME), array, change);
        expect_refuted(&tables, near, what);
    };
    for row in [row, last, pass] {
        let edge = offsets[row];
        for target in [0, row as u32, states as u32 - 1, u32::MAX] {
            forged("edge_targets", &[row], &format!("row {row} to {target}"), &|bytes| {
                bytes[4 * edge..4 * edge + 4].copy_from_slice(&target.to_le_bytes());
            });
        }
        forged("edge_actions", &[row], "another square", &|bytes| bytes[edge] ^= 1);
        for kind in [1, 2, 3] {
            forged("kinds", &[row], &format!("kind {kind}"), &|bytes| bytes[row] = kind);
        }
        // The following rows up to the next start then have wrong edges too.
        let group: Vec<usize> = (row..(row / 64 + 1) * 64).collect();
        for wrong in [0, offsets[row + 1] - edge + 1, 255] {
            forged("edge_counts", &group, &format!("row {row}: {wrong} edges"), &|bytes| {
                bytes[row] = wrong as u8;
            });
        }
        // The preceding rows end there too.
        let group = row / 64;
        for wrong in [edge as u64 + 1, u64::MAX] {
            let near = [(64 * group).max(1) - 1, 64 * group];
            forged("edge_starts", &near, &format!("start of row {near:?}: {wrong}"), &|bytes| {
                bytes[8 * group..8 * group + 8].copy_from_slice(&wrong.to_le_bytes());
            });
        }
    }
    for kind in [0, 2] {
        forged("kinds", &[terminal], "an end that goes on", &|bytes| bytes[terminal] = kind);
    }
    let near = neighbourhood(&table, row);
    forged("keys", &near, "a disc of the other colour", &|bytes| {
        let key = &mut bytes[8 * row..8 * row + 8];
        let bits = u64::from_le_bytes((&*key).try_into().unwrap());
        let disc = 1 << (bits >> 16).trailing_zeros();
        key.copy_from_slice(&(bits ^ disc).to_le_bytes());
    });
}

#[test]
fn a_manifest_that_was_written_wrong_is_refused_without_a_panic() {
    let solved = Tables::new();
    solved_4x4(&solved);
    type Edit = fn(&mut Manifest);
    let edits: [(&str, Edit); 9] = [
        ("a root that is no row", |m| m.root_ids[0] = 1 << 40),
        ("too many rows", |m| m.arrays.get_mut("keys").unwrap().shape = vec![u64::MAX]),
        ("three dimensions", |m| m.arrays.get_mut("kinds").unwrap().shape = vec![1; 3]),
        ("no dimension", |m| m.arrays.get_mut("kinds").unwrap().shape.clear()),
        ("many dimensions", |m| m.arrays.get_mut("kinds").unwrap().shape = vec![1; 99]),
        ("no dtype", |m| m.arrays.get_mut("kinds").unwrap().dtype.clear()),
        ("an array too few", |m| drop(m.arrays.remove("edge_targets"))),
        ("no orientations", |m| drop(m.arrays.remove("orientations"))),
        ("no such game", |m| m.identity.game = "chess".to_string()),
    ];
    for (what, edit) in edits {
        let tables = copy(&solved);
        edit_manifest(&tables.place(NAME), edit);
        for args in READERS {
            let ran = tables.run(args);
            assert!([0, 2, 3].contains(&ran.code), "{what}: {}: {}", args[0], ran.stderr);
            if ["verify", "value-iterate"].contains(&args[0]) {
                ran.spoilt(what);
            }
        }
    }
}

#[test]
fn a_manifest_that_miscounts_its_rows_is_refused() {
    let solved = Tables::new();
    solved_4x4(&solved);
    type Edit = fn(&mut Manifest);
    let edits: [(&str, Edit); 8] = [
        ("a terminal more", |m| {
            m.counts.table.terminals += 1;
            m.layers[0].table.terminals += 1;
        }),
        ("a position more", |m| {
            m.counts.reachable.as_mut().unwrap().states += 1;
            m.layers[3].reachable.as_mut().unwrap().states += 1;
        }),
        ("a sum that is none", |m| *m.counts.distinct_boards.as_mut().unwrap() += 1),
        ("a sum left out", |m| m.counts.distinct_boards = None),
        ("positions not counted", |m| {
            m.counts.reachable = None;
            m.layers.iter_mut().for_each(|layer| layer.reachable = None);
        }),
        ("boards not counted", |m| {
            m.counts.distinct_boards = None;
            m.layers.iter_mut().for_each(|layer| layer.distinct_boards = None);
        }),
        ("another root", |m| m.root_ids[0] = 1),
        ("another value of the root", |m| m.solution.as_mut().unwrap().roots[0].score = Some(8)),
    ];
    for (what, edit) in edits {
        let tables = copy(&solved);
        edit_manifest(&tables.place(NAME), edit);
        let line = tables.run(&["verify", NAME]).ended(3, what).to_string();
        assert!(line.contains("manifest.json"), "{what}: {line}");
    }
}
