//! Trained networks as files: an ONNX model `NAME.onnx` and its card `NAME.json`. The card is written last
//! and contains the model's checksum, so that an incomplete pair is rejected.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cannot_write;
use super::network::{Architecture, Network};
use super::onnx::model;
use yomikiri::error::Error;
use yomikiri::output;
pub use yomikiri_measure::policy::card::{
    Card, LearnedFrom, Reading, SCHEMA, SCHEMA_VERSION, file,
};

/// Training part of a network's card: recipe, settings and results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Recipe: `supervised`, `td`, ….
    pub recipe: String,
    /// Architecture of the network.
    pub network: Architecture,
    /// All settings of training; equal settings give equal weights.
    pub settings: serde_json::Value,
    /// Final metrics.
    pub results: BTreeMap<String, f64>,
    /// Version that trained the network.
    pub yomikiri: String,
    /// `true` if that version reproduces the weights from these settings on processors that round alike.
    pub reproducible: bool,
}

impl Training {
    /// Returns the state before the first iteration, without results.
    pub fn new(recipe: &str, network: Architecture, settings: serde_json::Value) -> Training {
        Training {
            recipe: recipe.to_string(),
            network,
            settings,
            results: BTreeMap::new(),
            yomikiri: env!("CARGO_PKG_VERSION").to_string(),
            reproducible: true,
        }
    }
}

/// Writes a file of a network atomically, and through no link.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    output::replace(path, bytes).map_err(|error| cannot_write(path, error))
}

/// Writes a network with input of this shape, then its card with the checksum filled in.
pub fn write(
    name: &Path,
    card: &mut Card,
    network: &Network,
    shape: &[usize],
) -> Result<(), Error> {
    if let Some(dir) = name.parent() {
        fs::create_dir_all(dir).map_err(|error| cannot_write(dir, error))?;
    }
    let bytes = model(network, shape);
    write_whole(&file(name, "onnx"), &bytes)?;
    card.onnx_crc32 = Some(format!("{:08x}", crc32fast::hash(&bytes)));
    let text = serde_json::to_string_pretty(card).expect("a card is plain data") + "\n";
    write_whole(&file(name, "json"), text.as_bytes())
}
