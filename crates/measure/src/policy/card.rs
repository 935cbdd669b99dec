//! Card of an ONNX file: `NAME.json` records which game `NAME.onnx` plays, how its outputs are read and what
//! it was trained on.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::TrainedOn;
use yomikiri::error::{Error, nearest};
use yomikiri::input;
use yomikiri::rules::encode::Layout;
use yomikiri::rules::{Division, Splits};

/// Value of `schema` in every card.
pub const SCHEMA: &str = "yomikiri-network";
/// Version of the schema; raised when a field changes its meaning or is removed.
pub const SCHEMA_VERSION: u32 = 2;

/// Fields of a card.
const FIELDS: [&str; 9] = [
    "schema",
    "schema_version",
    "game",
    "layout",
    "planes",
    "reading",
    "equivariant",
    "learned_from",
    "onnx_crc32",
];

/// The card of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Version of the schema.
    pub schema_version: u32,
    /// Name of the game, `othello-4x4`.
    pub game: String,
    /// Layout of positions; guessed if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// Planes of the layout, as in `planes=`, if they are not the default ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planes: Option<String>,
    /// Reading of the network's outputs.
    pub reading: Reading,
    /// `true` if the network answers all images of a position alike.
    #[serde(default)]
    pub equivariant: bool,
    /// Positions whose exact values it was trained on; unknown if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned_from: Option<LearnedFrom>,
    /// CRC-32 of the ONNX file, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onnx_crc32: Option<String>,
    /// Training settings and results, for people.
    #[serde(flatten)]
    pub training: serde_json::Map<String, serde_json::Value>,
}

/// Reading of a network's outputs as moves. Equally good moves are equally likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// `policy`: a number for each action; the highest is played. `value`, if present, is the mover's
    /// expected outcome.
    Policy,
    /// `q`: the mover's expected outcome after each action; the highest is played.
    Q,
    /// `wins`: the probabilities that Black wins and that White wins from a position. The move with the best
    /// difference for the mover is played.
    Wins,
    /// `discs`: the share of all squares that the mover will hold at the end. The move that leaves the
    /// opponent the least is played.
    Discs,
    /// `win`: the mover's winning probability in a position of minishogi, encoded as 361 numbers. The move
    /// that leaves the opponent the least is played, or the one found by a search.
    Win,
}

/// Positions of solved tables that a network was trained on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearnedFrom {
    /// None: it was trained on games.
    Nothing,
    /// The training part of a split.
    Part {
        /// Seed of the split.
        split_seed: u64,
        /// Shares of training and validation positions; the others are for testing.
        splits: [f64; 2],
        /// Share of the training positions that was used.
        share: f64,
    },
}

impl Card {
    /// Returns a minimal card.
    pub fn new(game: String, reading: Reading) -> Card {
        Card {
            schema: SCHEMA.to_string(),
            schema_version: SCHEMA_VERSION,
            game,
            layout: None,
            planes: None,
            reading,
            equivariant: false,
            learned_from: None,
            onnx_crc32: None,
            training: serde_json::Map::new(),
        }
    }

    /// Reads the card of a network; fails if it has another schema or version.
    pub fn read(network: &Path) -> Result<Card, Error> {
        let path = file(network, "json");
        let unfit = |what: Error| what.map(|what| format!("{} {what}", path.display()));
        let card: Card = serde_json::from_slice(&text_of(&path)?).map_err(|error| {
            let what = format!("is not a valid card of a network: {error}");
            unfit(Error::new(what, "correct it, or move it away to measure without a card"))
        })?;
        if card.schema != SCHEMA || card.schema_version != SCHEMA_VERSION {
            return Err(unfit(Error::new(
                format!("has the unsupported schema {} {}", card.schema, card.schema_version),
                format!("expected {SCHEMA} {SCHEMA_VERSION}"),
            )));
        }
        Ok(card)
    }

    /// Reads the card beside an ONNX file; returns `None` if `NAME.json` is absent, or something else: if no field of a
    /// card is in it.
    pub fn beside(network: &Path) -> Result<Option<Card>, Error> {
        let path = file(network, "json");
        if !path.is_file() {
            return Ok(None);
        }
        let bytes = text_of(&path)?;
        let is_card = match serde_json::from_slice(&bytes) {
            Ok(serde_json::Value::Object(fields)) => {
                FIELDS.iter().any(|name| fields.contains_key(*name))
            }
            Ok(_) => false,
            Err(_) => {
                let text = String::from_utf8_lossy(&bytes).replace('\'', "\"");
                FIELDS.iter().any(|name| text.contains(&format!("\"{name}\"")))
            }
        };
        if is_card { Card::read(network).map(Some) } else { Ok(None) }
    }

    /// Checks that a network is for a game.
    pub fn check(&self, network: &Path, game: &str) -> Result<(), Error> {
        match self.game == game {
            true => Ok(()),
            false => Err(self.unfit(network, format!("is for {}, not for {game}", self.game))),
        }
    }

    /// Reads the ONNX file beside the card; fails if its checksum does not match the card.
    pub fn model(&self, network: &Path) -> Result<Vec<u8>, Error> {
        let bytes = read_model(&file(network, "onnx"))?;
        self.check_sum(network, crc32fast::hash(&bytes))?;
        Ok(bytes)
    }

    /// Checks the checksum of the ONNX file, if the card has one.
    pub(super) fn check_sum(&self, network: &Path, crc32: u32) -> Result<(), Error> {
        match self.onnx_crc32.as_ref().is_some_and(|crc| *crc != format!("{crc32:08x}")) {
            true => {
                let (path, card) = (file(network, "onnx"), file(network, "json"));
                let (path, card) = (path.display(), card.display());
                Err(format!("{path} differs from the file that {card} was written with").into())
            }
            false => Ok(()),
        }
    }

    /// Returns the error of a network with an inconsistent card.
    pub fn unfit(&self, network: &Path, what: impl Into<Error>) -> Error {
        let path = file(network, "json");
        what.into().map(|what| format!("{} {what}", path.display()))
    }

    /// Returns the positions it was trained on.
    pub fn learned_from(&self) -> TrainedOn {
        match self.learned_from {
            None => TrainedOn::Unknown,
            Some(LearnedFrom::Nothing) => TrainedOn::Nothing,
            Some(LearnedFrom::Part { split_seed: seed, splits: [train, validation], share }) => {
                TrainedOn::Part(Division { splits: Splits { seed, train, validation }, share })
            }
        }
    }
}

/// Reads a text without the mark of its byte order that some editors put before it.
fn text_of(path: &Path) -> Result<Vec<u8>, Error> {
    let bytes = input::file(path, input::TEXT)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(bytes.strip_prefix(b"\xEF\xBB\xBF").map_or(bytes.clone(), <[u8]>::to_vec))
}

/// Reads an ONNX file.
pub(super) fn read_model(path: &Path) -> Result<Vec<u8>, Error> {
    input::file(path, input::MODEL).map_err(|error| {
        let error = Error::from(format!("cannot read the model {}: {error}", path.display()));
        match near_file(path) {
            Some(near) => error.with_hint(format!("did you mean `{near}`?")),
            None => error,
        }
    })
}

/// Returns the name of the file in the directory of a missing one that is nearest to its name.
fn near_file(path: &Path) -> Option<String> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    (path.file_name()? != near).then(|| path.with_file_name(near).display().to_string())
}

/// Returns the path of a network's file: NAME, with or without a known extension, with `ending` as extension.
pub fn file(name: &Path, ending: &str) -> PathBuf {
    let known = ["json", "onnx", "svg", "csv"];
    let has = name.extension().is_some_and(|found| known.iter().any(|known| found == *known));
    let stem = if has { name.with_extension("") } else { name.to_path_buf() };
    let mut path = stem.into_os_string();
    path.push(format!(".{ending}"));
    PathBuf::from(path)
}
