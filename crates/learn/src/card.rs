//! Trained networks as files: the network as an ONNX model, and beside it its card. Of `NAME.onnx` and
//! `NAME.json` the card is written last and has the model's checksum: a pair that was not written to
//! its end is not read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cannot_write;
use super::network::{Architecture, Network};
use super::onnx::model;
use yomikiri::hint::Hinted;
pub use yomikiri_measure::policy::card::{
    Card, LearnedFrom, Reading, SCHEMA, SCHEMA_VERSION, file,
};

/// How a network was trained and what it reaches: the rest of its card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// How it was trained: `supervised`, `td`, ….
    pub recipe: String,
    /// Its architecture.
    pub network: Architecture,
    /// All settings of training: the same settings give the same weights.
    pub settings: serde_json::Value,
    /// The metrics at the end.
    pub results: BTreeMap<String, f64>,
    /// The version that trained it.
    pub yomikiri: String,
    /// Whether that version and these settings give the same weights again, on processors that round
    /// alike.
    pub reproducible: bool,
}

impl Training {
    /// Before the first iteration.
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

/// Writes a file whole or not at all.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Hinted> {
    yomikiri::table::write_whole(path, bytes).map_err(|error| cannot_write(path, error))
}

/// Writes a network, whose input has this shape, and its card; fills in the card's checksum.
pub fn write(
    name: &Path,
    card: &mut Card,
    network: &Network,
    shape: &[usize],
) -> Result<(), Hinted> {
    if let Some(dir) = name.parent() {
        fs::create_dir_all(dir).map_err(|error| cannot_write(dir, error))?;
    }
    let bytes = model(network, shape);
    write_whole(&file(name, "onnx"), &bytes)?;
    card.onnx_crc32 = Some(format!("{:08x}", crc32fast::hash(&bytes)));
    let text = serde_json::to_string_pretty(card).expect("a card is plain data") + "\n";
    write_whole(&file(name, "json"), text.as_bytes())
}
