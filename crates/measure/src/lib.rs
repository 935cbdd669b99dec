//! Policies measured against exact values, and exact values as targets to learn from.
//!
//! * [`policy`]: policies, which choose moves;
//! * [`evaluate`]: policies measured on solved tables and by search;
//! * [`export`]: positions and exact targets as files for other programs;
//! * [`render`]: values in words; reports as text, as a page with plots, as CSV and Parquet.

// `expect` states why it holds; tests may unwrap.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(unreachable_pub))]

pub mod evaluate;
pub mod export;
pub mod policy;
pub mod render;
