//! Policies: built in, from files and programs, asked, measured and played.

#![allow(unreachable_pub)]

#[cfg(feature = "onnx")]
mod article;
#[path = "../common/mod.rs"]
mod common;
mod compare;
mod endless;
mod evaluate;
#[cfg(feature = "onnx")]
mod leaderboard;
mod onnx;
mod outside;
mod play;
