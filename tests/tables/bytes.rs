//! Bytes of tables are those that `tests/data/table-bytes.json` keeps: a change of the rules' code, of a builder or of a
//! solver that changes a row or a value shows here, whichever game it concerns.

use serde_json::Value;

use crate::common::needs;
use crate::common::tables::Tables;

/// Enumerates and solves a table; returns the checksums of its arrays as one.
fn bytes(enumerate: &[&str]) -> String {
    let tables = Tables::new();
    tables.ok(&[&["enumerate", "-q"], enumerate].concat());
    tables.ok(&["value-iterate", "-q"]);
    let mut entries = std::fs::read_dir(tables.root()).unwrap().map(|entry| entry.unwrap().path());
    let folder = entries.find(|path| path.is_dir()).unwrap();
    let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let arrays = manifest["arrays"].as_object().unwrap().iter();
    let sums = arrays.map(|(name, array)| format!("{name} {}\n", array["crc32"].as_str().unwrap()));
    let counts = format!("{} {}", manifest["counts"], manifest["layers"]);
    format!("{:08x}", crc32fast::hash((sums.collect::<String>() + &counts).as_bytes()))
}

#[test]
fn tables_have_the_bytes_that_are_kept() {
    let mut kept: Value = serde_json::from_str(include_str!("../data/table-bytes.json")).unwrap();
    let renews = std::env::var_os("YOMIKIRI_WRITE_BYTES").is_some_and(|value| value == "1");
    for (size, sums) in kept.as_object_mut().unwrap() {
        if size == "large" && !needs::all_cases() && !renews {
            continue;
        }
        for (command, sum) in sums.as_object_mut().unwrap() {
            let found = bytes(&command.split_whitespace().collect::<Vec<_>>());
            assert!(renews || *sum == found.as_str(), "enumerate {command}: {found}");
            *sum = found.into();
        }
    }
    if renews {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/table-bytes.json");
        std::fs::write(path, serde_json::to_string_pretty(&kept).unwrap() + "\n").unwrap();
    }
}
