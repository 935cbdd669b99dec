//! Tests of the games' rules, notation and counts against reference rules and known figures.

#![allow(unreachable_pub)]

#[path = "../common/rules.rs"]
mod common;
mod conform;
mod estimates;
mod forms;
mod four_scores;
mod in_line;
mod notation;
mod othello_properties;
mod perft;
mod plain_shogi;
mod played;
mod repetition;
mod shogi_notation;
mod shogi_perft;
mod shogi_rules;
