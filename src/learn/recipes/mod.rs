//! The ways of learning, one file each.

pub mod supervised;
