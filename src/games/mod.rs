//! The built-in games. Each keeps what is faster for it alone, such as searches and blocks of states, beside its rules.

pub mod othello;
pub mod shogi;
