//! Helpers for tests of the rules, without tables and commands, which the library's tests do not have.
#![allow(dead_code)]

#[path = "plain.rs"]
pub mod plain;
#[path = "plain_shogi.rs"]
pub mod plain_shogi;
#[path = "random.rs"]
mod random;

pub use random::Random;
