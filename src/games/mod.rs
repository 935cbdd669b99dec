//! The built-in games, and [games that are lists](listed). Each keeps what is faster for it alone, such as searches and blocks of states, beside its rules.

pub mod connect_four;
#[doc(hidden)]
pub mod in_line;
pub mod listed;
pub mod othello;
pub mod shogi;
pub mod tictactoe;
