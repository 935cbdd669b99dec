//! Policies: built in, from files and programs, asked, measured and played.

#[path = "../common/mod.rs"]
mod common;
mod evaluate;
#[cfg(feature = "learn")]
mod leaderboard;
mod onnx;
mod outside;
mod play;
