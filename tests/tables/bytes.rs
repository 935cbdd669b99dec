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
    let kept: Value = serde_json::from_str(include_str!("../data/table-bytes.json")).unwrap();
    let mut sizes = vec!["small"];
    if needs::all_cases() {
        sizes.push("large");
    }
    for (command, sum) in sizes.iter().flat_map(|size| kept[size].as_object().unwrap()) {
        let words: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(bytes(&words), sum.as_str().unwrap(), "enumerate {command}");
    }
}
