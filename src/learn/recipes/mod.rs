//! The ways of training, one file each; [`parts`] and `replay` hold their data.

pub mod discs;
pub mod minishogi_value;
pub mod parts;
pub mod q;
mod replay;
pub mod supervised;
pub mod tabular;
pub mod td;
