//! Training of networks: on solved tables, and by self-play.
//!
//! Trained networks:
//!
//! * [`network`]: architectures and weights; [`onnx`]: the same as ONNX models;
//! * [`card`]: trained networks as files, which [`player`] makes policies;
//! * [`minishogi`]: a value network for minishogi: its features, its data, its search.
//!
//! Training:
//!
//! * `passes`: forward and backward pass; `equivariance`: weight tying, so that all images of a
//!   position get the same answer; `optimiser` and `trainer`: training steps, shared among threads;
//! * `recipes`: the ways of training; `training`: what they share: iterations, checkpoints,
//!   history.
//!
//! The same settings give the same weights, with any number of threads, on machines whose
//! processors round alike. `docs/results/learned.md` says where each recipe comes from and what it reaches.

// An `expect` says why it holds; tests may unwrap.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(unreachable_pub))]

pub mod card;
pub mod chance;
pub mod equivariance;
pub mod minishogi;
pub mod network;
pub mod onnx;
pub mod optimiser;
pub mod options;
pub mod passes;
pub mod recipes;
pub mod trainer;
pub mod training;

use std::path::{Path, PathBuf};

use yomikiri::any::AnyGame;
use yomikiri::hint::{Hinted, Kind};
use yomikiri_measure::evaluate::{Player, build};
use yomikiri_measure::policy::{NetworkSpec, PolicySpec};

use card::{Card, Reading};

/// Where networks lie that were trained beside the tables of a directory.
pub fn policies_dir(tables: &Path) -> PathBuf {
    tables.join("policies")
}

/// The files of a network: those that a path leads to, or those of a name among the ones that were
/// trained beside the tables of a directory.
pub fn place_of(network: &NetworkSpec, tables: &Path) -> PathBuf {
    let path = &network.path;
    let is_path = path.components().count() > 1 || card::file(path, "json").is_file();
    match network.kept && !is_path {
        true => policies_dir(tables).join(path),
        false => path.clone(),
    }
}

/// Makes the player that is meant: a network, which may have been trained beside the tables of a
/// directory, or what needs none.
pub fn player(spec: &PolicySpec, game: &AnyGame, tables: &Path) -> Result<Player, Hinted> {
    let PolicySpec::Network(network) = spec else { return build(spec, game) };
    spec.check(game)?;
    let name = spec.to_string();
    let there = NetworkSpec { path: place_of(network, tables), ..network.clone() };
    Ok(Player::Policy(match Card::beside(&there.path)? {
        Some(card) if card.reading == Reading::Win => {
            Box::new(minishogi::player::load(name, &there, &card, game)?)
        }
        _ => there.load(name, game)?,
    }))
}

/// The error of a file that cannot be written.
fn cannot_write(path: &Path, error: std::io::Error) -> Hinted {
    Hinted::from(format!("cannot write {}: {error}", path.display())).of_kind(Kind::Failure)
}
