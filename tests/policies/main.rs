//! Policies: built in, from files and programs, asked, measured and played.

#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "learn")]
mod compare;
mod evaluate;
mod leaderboard;
mod onnx;
mod outside;
mod play;
