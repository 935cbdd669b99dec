//! The ways of learning, one file each.

pub mod minishogi_value;
pub mod supervised;
