//! Checksums of the values of tables, and their independence of everything else.

use std::fs;

use crate::common::solved::{board_4x4, named, opened, solved, standard};
use crate::common::tables::{Tables, forge, solved_4x4};
use yomikiri::progress::Silent;
use yomikiri::table::Table;
use yomikiri_measure::export::checksum;

/// Path of the checksums in the repository.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tables/CHECKSUMS");

fn kept(name: &str) -> String {
    let text = fs::read_to_string(KEPT).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once("  "));
    let line = lines.into_iter().find(|(_, table)| *table == name);
    line.unwrap_or_else(|| panic!("{KEPT} has no line for {name}")).0.to_string()
}

#[test]
fn tables_made_here_say_what_the_kept_checksums_say() {
    for name in ["othello-4x4", "othello-4x5"] {
        let game = named(name);
        let (_dir, table) = solved(&*game, &standard(&*game));
        assert_eq!(checksum(&opened(&table), &Silent).unwrap(), kept(name), "{name}");
    }
}

/// Computes a checksum from the stored columns, as `docs/table-format.md` specifies it.
#[test]
fn a_checksum_is_what_the_format_says() {
    let game = board_4x4(true);
    let (_dir, table) = solved(&*game, &standard(&*game));
    let keys = table.array::<u64>("keys").unwrap();
    let score = table.array::<i8>("score").unwrap();
    let distance = table.array::<u8>("distance").unwrap();
    // Byte by byte, as one would on paper.
    let mut sum = [0u32; 32];
    for row in 0..keys.len() {
        let mut bytes = Vec::new();
        bytes.extend(keys[row].to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend([score[row].signum() as u8, score[row] as u8]);
        bytes.extend(u16::from(distance[row]).to_le_bytes());
        let mut carry = 0;
        for (place, byte) in blake3::hash(&bytes).as_bytes().iter().enumerate() {
            let here = sum[place] + u32::from(*byte) + carry;
            (sum[place], carry) = (here % 256, here / 256);
        }
    }
    let mut text =
        b"othello-4x4 rules 1 start standard symmetry full rows 12351 roots -----OX--XO----- X;\n"
            .to_vec();
    text.extend(sum.iter().map(|&byte| byte as u8));
    let found = checksum(&opened(&table), &Silent).unwrap();
    assert_eq!(found, blake3::hash(&text).to_hex().as_str());
}

#[test]
fn checksums_do_not_depend_on_how_a_table_is_stored_or_on_threads() {
    let tables = Tables::after(&[
        &["enumerate", "--game", "animal-shogi-3x3"],
        &["value-iterate"],
        &["enumerate", "--game", "animal-shogi-3x3", "--index", "keys"],
        &["value-iterate"],
    ]);
    let names = ["animal-shogi-3x3", "animal-shogi-3x3-keys"];
    let sums: Vec<String> =
        names.map(|name| tables.ok(&["verify", "--checksum", name])[..64].to_string()).into();
    assert_eq!(sums, [kept(names[0]), kept(names[0])]);
    assert!(tables.ok(&["verify", "--checksum", names[1], "--threads", "1"]).starts_with(&sums[0]));
    let distance = Table::open(&tables.place(names[1])).unwrap().array::<u8>("distance").unwrap();
    assert!(distance.contains(&u8::MAX), "draws without end are hashed too");
    // The value of infinite play is part of the checksum.
    tables.ok(&["value-iterate", names[1], "--repetition", "unknown"]);
    assert!(!tables.ok(&["verify", "--checksum", names[1]]).starts_with(&sums[0]));
}

#[test]
fn a_file_of_checksums_is_checked() {
    let tables = Tables::new();
    let table = solved_4x4(&tables);
    let name = table.name();
    let file = tables.place("sums");
    let path = file.to_str().unwrap();
    let line = tables.ok(&["verify", "--checksum", &name]);
    assert_eq!(line, format!("{}  {name}\n", kept(&name)));
    fs::write(&file, &line).unwrap();
    assert_eq!(tables.ok(&["verify", "--check", path]), format!("{name}: OK\n"));
    // Lines of tables that do not exist here are skipped.
    fs::write(&file, format!("{line}{}  nowhere\n", "0".repeat(64))).unwrap();
    let ran = tables.run(&["verify", "--check", path]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stdout.starts_with(&format!("{name}: OK\nnowhere: not compared: no table at ")));
    assert_eq!(tables.ok(&["verify", &name, "--check", path]), format!("{name}: OK\n"));
    // One value of one row is wrong, but the checksum of its array is right.
    forge(table.dir(), "distance", |bytes| bytes[777] ^= 1);
    let ran = tables.run(&["verify", &name, "--check", path]);
    assert_eq!((ran.code, ran.stdout), (3, format!("{name}: differs\n")));

    tables.ok(&["enumerate", "--max-depth", "3"]);
    for (text, args, named) in [
        ("abc  othello-4x4\n", &["--check", path][..], "line 1"),
        ("", &["--check", path], "no checksum found"),
        (&line, &["--check", path, "nowhere"], "`nowhere`"),
        (&line, &["--check", "nowhere"], "nowhere"),
        (&line, &["--checksum", "othello-4x4-depth3"], "value-iterate"),
        (&line, &["--checksum", "nowhere"], "no table"),
    ] {
        fs::write(&file, text).unwrap();
        let ran = tables.run(&[&["verify"], args].concat());
        assert!(ran.refused(named).contains(named), "{args:?}: {ran:?}");
    }
}
