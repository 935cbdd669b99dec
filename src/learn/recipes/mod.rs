//! The ways of learning, one file each; [`parts`] and `replay` are what they learn from.

pub mod discs;
pub mod minishogi_value;
pub mod parts;
pub mod q;
mod replay;
pub mod supervised;
pub mod td;
