//! Tests of policies: built-in ones, files and programs; their answers, figures and games.

#![allow(unreachable_pub)]

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
#[cfg(feature = "onnx")]
mod published;
