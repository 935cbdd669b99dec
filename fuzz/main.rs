//! One target under libFuzzer, whose mutations look for new ways through the code:
//! `cargo +nightly fuzz run notation`. `cargo test` runs the same targets on their corpus.

#![no_main]

mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let name = env!("CARGO_BIN_NAME");
    let found = targets::TARGETS.iter().find(|(target, _)| *target == name);
    found.expect("every binary is a target").1(data);
});
