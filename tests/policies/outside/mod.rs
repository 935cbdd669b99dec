//! External policies: exports for them, predictions in files, and programs.

mod engines;
mod export;
mod predictions;
mod programs;

use std::fs;
use std::path::Path;

use crate::common::tables::Tables;
use serde_json::Value;

/// Writes an array as NumPy does; `shape` is formatted as in Python.
fn write_npy(path: &Path, descr: &str, shape: &str, payload: &[u8]) {
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}").into_bytes();
    let length = (10 + header.len() + 1).next_multiple_of(64);
    header.resize(length - 10 - 1, b' ');
    header.push(b'\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header);
    bytes.extend(payload);
    fs::write(path, bytes).unwrap();
}

fn floats(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn short_floats(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|&number| (number as f32).to_le_bytes()).collect()
}

/// Returns the report of some policies on a table, with each policy's name replaced by its index.
fn report(tables: &Tables, table: &str, policies: &[&str]) -> Value {
    let args: Vec<&str> = policies.iter().flat_map(|policy| ["--policy", policy]).collect();
    let mut json = tables.json(&[&["report", "-q", "--table", table][..], &args].concat());
    for (at, policy) in json["policies"].as_array_mut().unwrap().iter_mut().enumerate() {
        assert_eq!(policy["policy"], policies[at]);
        policy["policy"] = at.into();
    }
    json
}

/// Checks that all policies have exactly the figures of the first.
fn assert_same_figures(tables: &Tables, table: &str, policies: &[&str]) {
    let json = report(tables, table, policies);
    let found = json["policies"].as_array().unwrap();
    assert_eq!(found.len(), policies.len());
    for (policy, name) in found.iter().zip(policies) {
        let [policy, first] = [policy, &found[0]].map(|policy| {
            let mut policy = policy.as_object().unwrap().clone();
            policy.retain(|key, _| {
                !["policy", "may_have_learned", "tied", "reading"].contains(&key.as_str())
            });
            policy
        });
        assert_eq!(policy, first, "{name}");
    }
}
