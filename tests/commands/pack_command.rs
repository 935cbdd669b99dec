//! `pack`, and every command on a packed table.

use std::fs;

use crate::common::tables::{Tables, assert_same_files, files};
use yomikiri::table::HEADER_BYTES;

const FULL: &str = "othello-4x4";
const PACKED: &str = "othello-4x4.packed";

/// A solved table on 4×4, and its packed copy.
fn packed(more: &[&str]) -> Tables {
    let pack = [&["pack", "-q"], more].concat();
    Tables::after(&[&["enumerate", "-q"], &["value-iterate", "-q"], &pack])
}

#[test]
fn commands_say_the_same_of_a_packed_table() {
    let tables = packed(&["--with", "distance"]);
    let commands: [&[&str]; 7] = [
        &["query", FULL, "c4b4"],
        &["query", FULL, "-----OX--XO----- X;", "--json"],
        &["report", "--table", FULL, "--json"],
        &["report", "--table", FULL, "--canonical", "--mistakes", "3"],
        &["info", FULL, "--values"],
        &["export", FULL, "--out"],
        &["export", FULL, "--states", "--out"],
    ];
    for command in commands {
        let say = |name: &str, out: &str| {
            let mut args: Vec<&str> =
                command.iter().map(|&word| if word == FULL { name } else { word }).collect();
            let out = tables.place(out);
            if args.last() == Some(&"--out") {
                args.push(out.to_str().unwrap());
            }
            let printed = tables.ok(&args);
            let printed = printed.replace(PACKED, FULL).replace(out.to_str().unwrap(), "");
            (printed, files(&out))
        };
        let ((full, a), (found, b)) = (say(FULL, "out-full"), say(PACKED, "out-packed"));
        assert_eq!(full, found, "{command:?}");
        assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
        for (file, bytes) in
            a.iter().filter(|(file, _)| file.extension().is_some_and(|e| e == "npy"))
        {
            assert!(*bytes == b[file], "{command:?}: {}", file.display());
        }
        for out in ["out-full", "out-packed"] {
            fs::remove_dir_all(tables.place(out)).ok();
        }
    }
    let proof = |name: &str| tables.ok(&["verify", name]).lines().nth(1).map(str::to_string);
    let (full, found) = (proof(FULL).unwrap(), proof(PACKED).unwrap());
    // A packed table has no edges, but the same moves.
    assert_eq!(full, found);
    assert!(tables.ok(&["info", PACKED, "--json"]).contains("packed_score"));
}

#[test]
fn threads_and_discounted_values_change_no_byte() {
    for more in [&[][..], &["--with", "distance"]] {
        let tables = packed(more);
        for threads in ["1", "3"] {
            let name = format!("again-{threads}");
            let again = ["pack", FULL, "--threads", threads, "-q", "--name", &name];
            tables.ok(&[&again, more].concat());
            assert_same_files(&tables.place(PACKED), &tables.place(&name), threads);
        }
        // Discounted values are not packed.
        tables.ok(&["value-iterate", FULL, "--discount", "0.9", "-q"]);
        let again = ["pack", FULL, "-q", "--name", "without"];
        tables.ok(&[&again, more].concat());
        assert_same_files(&tables.place(PACKED), &tables.place("without"), "discounted");
    }
}

#[test]
fn what_packing_cannot_do_is_refused() {
    let tables = packed(&[]);
    tables.ok(&["enumerate", "--max-depth", "3", "-q"]);
    let short = "othello-4x4-depth3";
    fs::rename(tables.place(FULL), tables.place("moved")).unwrap();
    let before = files(tables.root());
    let refused: [(&[&str], &str); 7] = [
        (&["pack", short], "it is bounded"),
        (&["pack", "nowhere"], "nowhere"),
        (&["pack", PACKED], "packed already"),
        (&["pack", "moved", "--name", PACKED, "--with", "distance"], "exists already"),
        (&["pack", "moved", "--name", "a/b"], "invalid table name `a/b`"),
        (&["value-iterate", PACKED], "solver enumerate"),
        (&["value-iterate", PACKED, "--discount", "0.9"], "solver enumerate"),
    ];
    for (args, what) in refused {
        let ran = tables.run(args);
        assert!(ran.refused(what).contains(what), "{args:?}: {}", ran.stderr);
        assert!(before == files(tables.root()), "{args:?}");
    }
    // A packed table in the place of the full one is not mistaken for it.
    fs::rename(tables.place(PACKED), tables.place(FULL)).unwrap();
    assert!(tables.run(&["enumerate"]).refused("enumerate").contains(FULL));
    assert!(tables.ok(&["query", FULL, "start"]).contains("loses by 8 discs"));
}

#[test]
fn what_was_made_before_is_not_made_again() {
    let tables = packed(&[]);
    let whole = files(tables.root());
    let ran = tables.run(&["pack", FULL]);
    assert!(ran.code == 0 && ran.stderr.contains("exists already"), "{ran:?}");
    assert!(files(tables.root()) == whole);
}

/// Damage to a file.
type Damage = dyn Fn(&mut Vec<u8>);

#[test]
fn damage_to_a_packed_table_is_one_line() {
    let tables = packed(&["--with", "distance"]);
    let arrays = ["keys", "orientations", "score", "distance", "firsts"];
    for array in arrays
        .map(|array| format!("packed_{array}"))
        .iter()
        .map(String::as_str)
        .chain(["layer_offsets"])
    {
        let path = tables.place(PACKED).join(format!("{array}.npy"));
        let whole = fs::read(&path).unwrap();
        let damages: [(&str, &Damage); 3] = [
            ("cut", &|bytes| bytes.truncate(bytes.len() / 2)),
            ("a flipped byte", &|bytes| bytes[HEADER_BYTES + 9] ^= 1),
            ("ones", &|bytes| bytes[HEADER_BYTES..].fill(0xff)),
        ];
        for (what, damage) in damages {
            let mut bytes = whole.clone();
            damage(&mut bytes);
            fs::write(&path, bytes).unwrap();
            let what = format!("{array}: {what}");
            let line = tables.run(&["verify", PACKED]);
            assert!(line.ended(3, &what).contains(array), "{what}: {}", line.stderr);
            for args in [
                &["query", PACKED, "start"][..],
                &["report", "--table", PACKED, "--policy", "random"],
            ] {
                let ran = tables.run(args);
                // A query reads only what it needs.
                if args[0] == "report" || ran.code != 0 {
                    ran.spoilt(&what);
                }
            }
        }
        fs::remove_file(&path).unwrap();
        tables.run(&["query", PACKED, "start"]).ended(3, array);
        fs::write(&path, whole).unwrap();
    }
    // A query reads the block of the root without verifying the checksum of the whole array.
    for array in ["packed_keys", "packed_score"] {
        let path = tables.place(PACKED).join(format!("{array}.npy"));
        let whole = fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        bytes[HEADER_BYTES + 40] ^= 0x55;
        fs::write(&path, bytes).unwrap();
        let ran = tables.run(&["query", PACKED, "start"]);
        assert!(ran.ended(3, array).contains("block 0"), "{}", ran.stderr);
        fs::write(&path, whole).unwrap();
    }
}
