//! The ways of learning, one file each.

pub mod discs;
pub mod q;
mod replay;
pub mod supervised;
pub mod td;
