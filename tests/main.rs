//! Tests of the whole: the program as users meet it, tables, policies, and arbitrary bytes in every reader.
//!
//! They are one program: helpers and examples are compiled once, and tests share the tables that they build.

#![allow(unreachable_pub, clippy::print_stdout, clippy::print_stderr)]

mod commands;
mod common;
mod examples;
#[cfg(feature = "onnx")]
mod malformed;
mod policies;
mod tables;

// Where the targets of fuzzing expect it.
#[cfg(feature = "onnx")]
use examples::noughts;
