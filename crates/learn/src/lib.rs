//! Training of networks: on solved tables, and by self-play.
//!
//! Trained networks:
//!
//! * [`network`]: architectures and weights; [`onnx`]: networks as ONNX models;
//! * [`card`]: trained networks as files, which [`player`] loads as policies;
//! * [`minishogi`]: a value network for minishogi: features, data, search.
//!
//! Training:
//!
//! * `backpropagation`: forward and backward pass; `equivariance`: weight tying, so that all images of a
//!   position get the same answer; `optimiser` and `trainer`: training steps on several threads;
//! * `recipes`: training recipes; `training_run`: iterations, checkpoints and history, which they share.
//!
//! Equal settings give equal weights, with any number of threads, on machines whose
//! processors round alike. `docs/results/learned.md` describes sources and results of each recipe.
//!
//! ```
//! use yomikiri::registry::othello;
//! use yomikiri_learn::player;
//!
//! // A built-in policy, an ONNX file, or a network trained here: `learned:NAME` in `tables/policies`.
//! let tables = std::path::Path::new("tables");
//! assert!(player(&"greedy".parse()?, &*othello("4")?, tables).is_ok());
//! assert!(player(&"learned:missing".parse()?, &*othello("4")?, tables).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// The message of an `expect` is the reason why it holds; tests may unwrap.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(unreachable_pub))]

pub mod backpropagation;
pub mod card;
pub mod chance;
pub mod equivariance;
pub mod minishogi;
pub mod network;
pub mod onnx;
pub mod optimiser;
pub mod options;
pub mod recipes;
pub mod trainer;
pub mod training_run;

use std::path::{Path, PathBuf};

use yomikiri::error::Error;
use yomikiri::output;
use yomikiri::rules::Rules;
use yomikiri_measure::judge::{Player, build};
use yomikiri_measure::policy::{NetworkSpec, PolicySpec};

use card::{Card, Reading};

/// Returns the directory of the networks trained beside a directory of tables.
pub fn policies_dir(tables: &Path) -> PathBuf {
    tables.join("policies")
}

/// Returns the path of a network's files: its path, or its name in the directory of networks beside the
/// tables.
pub fn place_of(network: &NetworkSpec, tables: &Path) -> PathBuf {
    let path = &network.path;
    let is_path = path.components().count() > 1 || card::file(path, "json").is_file();
    match network.kept && !is_path {
        true => policies_dir(tables).join(path),
        false => path.clone(),
    }
}

/// Builds the player of a specification: a network, possibly from the directory beside the tables, or another
/// policy.
pub fn player(spec: &PolicySpec, game: &dyn Rules, tables: &Path) -> Result<Player, Error> {
    if let PolicySpec::Front(policy, plies) = spec {
        return Ok(player(policy, game, tables)?.with_front(*plies));
    }
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

/// Returns the error for a file that cannot be written.
fn cannot_write(path: &Path, source: std::io::Error) -> Error {
    output::failure("write", path, source)
}
