//! Tests of policies: built-in ones, files and programs; their answers, figures and games.

mod compare;
mod endless;
mod evaluate;
#[cfg(feature = "onnx")]
mod leaderboard;
mod onnx;
mod outside;
mod play;
mod positions;
#[cfg(feature = "onnx")]
mod published;
