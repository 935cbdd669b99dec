//! Trained networks as files: the weights as safetensors, and beside them a card that says what
//! they are. Of `NAME.json` and `NAME.safetensors` the card is written last and has the weights'
//! checksum: a pair that was not written to its end is not read.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde::{Deserialize, Serialize};

use super::LearnError;
use super::features::Features;
use super::network::{Architecture, Network, Parameter};
use crate::game::{Division, Game, Splits};
use crate::hint::Hinted;
use crate::input;
use crate::registry::Games;

/// What `schema` says in every card.
pub const SCHEMA: &str = "yomikiri-network";
/// The version of what is written; raised when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 1;

/// What a trained network is: `NAME.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version of the schema.
    pub schema_version: u32,
    /// How it was trained: `supervised`, `td`, ….
    pub recipe: String,
    /// For which game, `othello-4x4`.
    pub game: String,
    /// The layout of its input.
    pub features: Inputs,
    /// The meaning of its output.
    pub reading: Reading,
    /// Its architecture.
    pub network: Architecture,
    /// All settings of training: the same settings give the same weights.
    pub settings: serde_json::Value,
    /// The metrics of each iteration.
    pub history: Vec<BTreeMap<String, f64>>,
    /// The metrics at the end.
    pub results: BTreeMap<String, f64>,
    /// The version that trained it.
    pub yomikiri: String,
    /// CRC-32 of the file of weights, in hexadecimal.
    pub weights_crc32: String,
}

/// The settings of `train supervised` that say which positions are learned from.
#[derive(Deserialize)]
struct Divided {
    split_seed: u64,
    splits: [f64; 2],
    share: f64,
}

impl Card {
    /// Which positions' exact values it has learned from; `None` of a network that has learned from
    /// games.
    pub fn learned_from(&self) -> Option<Division> {
        let Divided { split_seed: seed, splits: [train, validation], share } =
            Divided::deserialize(&self.settings).ok()?;
        let splits = Splits { seed, train, validation };
        (self.recipe == "supervised").then_some(Division { splits, share })
    }
}

/// How positions are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Inputs {
    /// Othello.
    Squares(Features),
    /// Minishogi.
    Pieces(PieceFeatures),
}

/// How a position of minishogi is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PieceFeatures {
    /// 361 numbers: attacks, pieces, hands and the side to move.
    Attacks,
}

/// How a network's answers become moves. Equally good moves are equally likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// `policy`: a number for each action; the move with the highest is played. `value`, if there
    /// is one, is the mover's expected outcome.
    Policy,
    /// `q`: for each action the mover's expected outcome after it; the highest is played.
    Q,
    /// `wins`: of a position, the probabilities that Black wins and that White wins; the move is
    /// played after which their difference is the best for the mover.
    Wins,
    /// `discs`: of a position, the share of all squares that the mover will hold at the end; the
    /// move is played that leaves the opponent the least.
    Discs,
    /// `win`: of a position, the mover's probability to win; the move is played that leaves the
    /// opponent the least, or the one that a search with it finds.
    Win,
}

/// The files of a network called NAME: `NAME.json` and so on, given with or without the ending.
pub fn file(name: &Path, ending: &str) -> PathBuf {
    let known = ["json", "safetensors", "onnx", "svg"];
    let has = name.extension().is_some_and(|found| known.iter().any(|known| found == *known));
    let stem = if has { name.with_extension("") } else { name.to_path_buf() };
    let mut path = stem.into_os_string();
    path.push(format!(".{ending}"));
    PathBuf::from(path)
}

/// Reads the card of a network.
pub fn read_card(name: &Path) -> Result<Card, LearnError> {
    let path = file(name, "json");
    let text = input::file(&path, input::TEXT).map_err(|error| LearnError::read(&path, error))?;
    let card: Card = serde_json::from_slice(&text).map_err(|error| {
        let what = error.to_string();
        LearnError::Unfit {
            path: path.clone(),
            what: format!("is no card of a network ({what})").into(),
        }
    })?;
    if card.schema != SCHEMA || card.schema_version > SCHEMA_VERSION {
        let (schema, version) = (&card.schema, card.schema_version);
        let what = Hinted::new(
            format!("has the schema {schema} {version}"),
            format!("known is {SCHEMA} up to {SCHEMA_VERSION}"),
        );
        return Err(LearnError::Unfit { path, what });
    }
    Ok(card)
}

/// Reads a network and its card.
pub fn read(name: &Path) -> Result<(Card, Network), LearnError> {
    let card = read_card(name)?;
    let path = file(name, "safetensors");
    let bytes = input::file(&path, input::MODEL).map_err(|error| LearnError::read(&path, error))?;
    if format!("{:08x}", crc32fast::hash(&bytes)) != card.weights_crc32 {
        let what =
            format!("is not the file that {} was written with", file(name, "json").display());
        return Err(LearnError::Unfit { path, what: what.into() });
    }
    let unfit = || LearnError::Unfit {
        path: path.clone(),
        what: "does not hold the weights of the network on its card".into(),
    };
    let parameters = parameters(&bytes, &card.network).ok_or_else(unfit)?;
    let network = Network::of(card.network.clone(), parameters).ok_or_else(unfit)?;
    Ok((card, network))
}

/// The weights of an architecture among the tensors of a file.
fn parameters(bytes: &[u8], architecture: &Architecture) -> Option<Vec<Parameter>> {
    let mut tensors = tensors(bytes)?;
    // A card may say anything: it decides how many weights are looked for only if so many are there.
    if architecture.layers().and_then(|layers| layers.checked_mul(2)) != Some(tensors.len()) {
        return None;
    }
    architecture.shapes().into_iter().map(|(name, ..)| tensors.remove(&name)).collect()
}

/// The tensors of a safetensors file by name.
pub(super) fn tensors(bytes: &[u8]) -> Option<HashMap<String, Parameter>> {
    let tensors = SafeTensors::deserialize(bytes).ok()?;
    let parameter = |(name, tensor): (&str, TensorView<'_>)| {
        let numbers = tensor.data().as_chunks().0.iter().map(|&n| f32::from_le_bytes(n)).collect();
        let (name, shape) = (name.to_string(), tensor.shape().to_vec());
        let parameter = Parameter { name: name.clone(), shape, numbers };
        (tensor.dtype() == Dtype::F32).then_some((name, parameter))
    };
    tensors.iter().map(parameter).collect()
}

/// Parameters as the bytes of a safetensors file.
pub(super) fn bytes_of(parameters: &[Parameter]) -> Vec<u8> {
    let bytes: Vec<Vec<u8>> = parameters
        .iter()
        .map(|parameter| parameter.numbers.iter().flat_map(|n| n.to_le_bytes()).collect())
        .collect();
    let views = parameters.iter().zip(&bytes).map(|(parameter, bytes)| {
        let view = TensorView::new(Dtype::F32, parameter.shape.clone(), bytes);
        (parameter.name.as_str(), view.expect("a parameter has as many numbers as its shape says"))
    });
    safetensors::serialize(views, None).expect("there is nothing but tensors")
}

/// Writes a file whole or not at all.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), LearnError> {
    crate::table::write_whole(path, bytes).map_err(|error| LearnError::write(path, error))
}

/// Writes a network, its card and its ONNX model; fills in the card's checksum.
pub fn write(name: &Path, card: &mut Card, network: &Network) -> Result<(), LearnError> {
    if let Some(dir) = name.parent() {
        fs::create_dir_all(dir).map_err(|error| LearnError::write(dir, error))?;
    }
    let planes = match (card.features, network.architecture()) {
        (Inputs::Squares(Features::Planes), _) => board_of(&card.game).map(|[r, c]| [2, r, c]),
        _ => None,
    };
    write_whole(&file(name, "onnx"), &super::onnx::model(network, planes))?;
    let bytes = bytes_of(network.parameters());
    write_whole(&file(name, "safetensors"), &bytes)?;
    card.weights_crc32 = format!("{:08x}", crc32fast::hash(&bytes));
    let text = serde_json::to_string_pretty(card).expect("a card is plain data") + "\n";
    write_whole(&file(name, "json"), text.as_bytes())
}

/// The rows and columns of the board of a game given by name.
pub(super) fn board_of(game: &str) -> Option<[usize; 2]> {
    let (rows, columns) = Games::default().named(game).ok()?.shape();
    Some([rows, columns])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hint::Hint as _;
    use crate::learn::network::{Activation, Head};

    /// A card is text that anybody can change: what it says is compared with the weights before any
    /// memory is taken for it.
    #[test]
    fn a_card_that_boasts_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let name = dir.path().join("net");
        let heads =
            vec![Head { name: "q".to_string(), outputs: 17, activation: Activation::Linear }];
        let mlp = |inputs, hidden: &[usize]| Architecture::Mlp {
            inputs,
            hidden: hidden.to_vec(),
            activation: Activation::Relu,
            heads: heads.clone(),
        };
        let residual = |planes, rows, channels, blocks| Architecture::Residual {
            planes,
            rows,
            columns: 4,
            channels,
            blocks,
            heads: heads.clone(),
        };
        let mut card = Card {
            schema: SCHEMA.to_string(),
            schema_version: SCHEMA_VERSION,
            recipe: "test".to_string(),
            game: "othello-4x4".to_string(),
            features: Inputs::Squares(Features::Planes),
            reading: Reading::Q,
            network: mlp(32, &[6]),
            settings: serde_json::Value::Null,
            history: Vec::new(),
            results: BTreeMap::new(),
            yomikiri: String::new(),
            weights_crc32: String::new(),
        };
        let network = Network::new(card.network.clone(), 1);
        write(&name, &mut card, &network).unwrap();
        assert_eq!(read(&name).unwrap().0, card);
        let huge = usize::MAX;
        let boasts = [
            mlp(32, &[1_000_000_000]),
            mlp(huge, &[6]),
            mlp(32, &[huge]),
            mlp(32, &[6, 6]),
            mlp(32, &[]),
            residual(2, 4, 1_000_000, 1),
            residual(2, 4, 6, huge),
            residual(huge, huge, huge, 0),
        ];
        for network in boasts {
            let text = serde_json::to_vec(&Card { network, ..card.clone() }).unwrap();
            fs::write(file(&name, "json"), text).unwrap();
            let line = read(&name).unwrap_err().line();
            assert!(line.contains("does not hold the weights"), "{line}");
        }
    }
}
