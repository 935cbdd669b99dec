//! Fuzz target that `YOMIKIRI_FUZZ` names, under libFuzzer, whose mutations look for new paths through the
//! code. `cargo test` runs the same targets on their corpus.

#![no_main]

use std::sync::LazyLock;

mod targets;
#[allow(dead_code)]
#[path = "../examples/noughts.rs"]
mod noughts;

static TARGET: LazyLock<targets::Target> = LazyLock::new(|| {
    // The runtime of models may panic, and the panic is caught; only uncaught panics may end the process.
    drop(std::panic::take_hook());
    let name = std::env::var("YOMIKIRI_FUZZ").unwrap_or_default();
    let found = targets::TARGETS.iter().find(|(target, _)| *target == name);
    found.unwrap_or_else(|| panic!("YOMIKIRI_FUZZ={name} names no target")).1
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| TARGET(data));
