//! Prints which tests were left out because something that they need is not on this machine.
//!
//! Cargo runs test programs in the order of their names, so this one comes after all that may leave
//! something out. It has no harness, which would capture what it prints.

#![allow(unreachable_pub)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod common;

use std::fs;

fn main() {
    let dir = common::needs::left_out();
    let records = fs::read_dir(&dir).into_iter().flatten().flatten();
    let mut lines: Vec<String> =
        records.filter_map(|record| fs::read_to_string(record.path()).ok()).collect();
    lines.sort();
    println!("\n{} tests were left out{}", lines.len(), if lines.is_empty() { "" } else { ":" });
    lines.iter().for_each(|line| print!("  {line}"));
    let _ = fs::remove_dir_all(dir);
}
