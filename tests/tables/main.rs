//! Tables: made, stored, proven and read, by us and by NumPy.

#![allow(unreachable_pub)]

mod alpha_beta;
mod backward_compatibility;
mod checksums;
#[path = "../common/mod.rs"]
mod common;
mod conformance;
mod crash;
mod damage;
mod derived;
mod determinism;
mod faults;
mod ground_truth;
mod how_many;
mod interrupted;
mod io_errors;
mod mates;
mod numbering;
mod numpy;
mod oracle;
mod own_games;
mod packed;
mod parts;
mod power;
mod replaced;
mod search;
mod shogi_tables;
mod table_files;
mod targets;
mod verify_cyclic;
