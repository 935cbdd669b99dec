//! Helpers shared by several test programs, each of which uses a part of them.
#![allow(dead_code, unused_imports)]

#[cfg(feature = "serve")]
pub mod http;
pub mod listed;
pub mod needs;
pub mod plain;
pub mod plain_shogi;
mod random;
pub mod solved;
pub mod tables;

pub use random::Random;
