//! How long work tells that it goes on, without knowing of terminals.
//!
//! The library calls a [`Progress`]; the commands draw bars from it. Whatever is said here has no
//! influence on any result.

/// Hears how far a piece of work has come. One piece of work is told of at a time.
pub trait Progress: Sync {
    /// A piece of work begins: `what` it is and, where known, of how many states.
    fn begin(&self, what: &str, total: Option<u64>);

    /// The same with another unit than states: `games`, `rounds`.
    fn begin_with(&self, what: &str, total: Option<u64>, _unit: &str) {
        self.begin(what, total);
    }

    /// So many more units are done.
    fn advance(&self, units: u64);

    /// Something to know of the work that goes on.
    fn note(&self, _what: &str) {}

    /// The piece of work is finished; `summary` says with what result.
    fn finish(&self, summary: &str);
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn finish(&self, _summary: &str) {}
}
