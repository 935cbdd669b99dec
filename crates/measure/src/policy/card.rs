//! What stands beside an ONNX file: `NAME.json` says for which game `NAME.onnx` is, how its numbers
//! are read and what it has learned from, so that nobody need say it again.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::TrainedOn;
use yomikiri::game::encode::Layout;
use yomikiri::game::{Division, Splits};
use yomikiri::hint::{Hinted, nearest};
use yomikiri::input;

/// What `schema` says in every card.
pub const SCHEMA: &str = "yomikiri-network";
/// The version of what is written; raised when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 2;

/// The card of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version of the schema.
    pub schema_version: u32,
    /// For which game, `othello-4x4`.
    pub game: String,
    /// How positions are laid out; guessed if it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// The planes of the layout, as in `planes=`, if they are not the usual ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planes: Option<String>,
    /// What the network answers.
    pub reading: Reading,
    /// Whether it answers all images of a position alike.
    #[serde(default)]
    pub equivariant: bool,
    /// Which positions' exact values it has learned from; not known if it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned_from: Option<LearnedFrom>,
    /// CRC-32 of the ONNX file, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onnx_crc32: Option<String>,
    /// How it was trained and what it reaches, for people.
    #[serde(flatten)]
    pub training: serde_json::Map<String, serde_json::Value>,
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
    /// `win`: of a position of minishogi, given as 361 numbers, the mover's probability to win; the
    /// move is played that leaves the opponent the least, or the one that a search with it finds.
    Win,
}

/// Which positions of solved tables a network has learned from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearnedFrom {
    /// None: from games.
    Nothing,
    /// The training part of a division.
    Part {
        /// The seed of the split.
        split_seed: u64,
        /// The shares of training and validation positions; the others are for the test.
        splits: [f64; 2],
        /// The share of the training positions that was used.
        share: f64,
    },
}

impl Card {
    /// The card of a network about which nothing else is known.
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

    /// Reads the card of a network; fails if it is none of ours.
    pub fn read(network: &Path) -> Result<Card, Hinted> {
        let path = file(network, "json");
        let unfit = |what: Hinted| what.map(|what| format!("{} {what}", path.display()));
        let text = input::file(&path, input::TEXT)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let card: Card = serde_json::from_slice(&text)
            .map_err(|error| unfit(format!("is no card of a network ({error})").into()))?;
        if card.schema != SCHEMA || card.schema_version != SCHEMA_VERSION {
            return Err(unfit(Hinted::new(
                format!("has the schema {} {}", card.schema, card.schema_version),
                format!("known is {SCHEMA} {SCHEMA_VERSION}"),
            )));
        }
        Ok(card)
    }

    /// Reads the card beside an ONNX file; `None` if there is none, or if `NAME.json` is another's.
    pub fn beside(network: &Path) -> Result<Option<Card>, Hinted> {
        #[derive(Deserialize)]
        struct Any {
            schema: String,
        }
        let text = input::file(&file(network, "json"), input::TEXT).unwrap_or_default();
        match serde_json::from_slice(&text) {
            Ok(Any { schema }) if schema == SCHEMA => Card::read(network).map(Some),
            _ => Ok(None),
        }
    }

    /// Checks that a network is for a game.
    pub fn check(&self, network: &Path, game: &str) -> Result<(), Hinted> {
        match self.game == game {
            true => Ok(()),
            false => Err(self.unfit(network, format!("is for {}, not for {game}", self.game))),
        }
    }

    /// Reads the ONNX file beside it; fails if it is another than the card was written with.
    pub fn model(&self, network: &Path) -> Result<Vec<u8>, Hinted> {
        let path = file(network, "onnx");
        let bytes = read_model(&path)?;
        let found = format!("{:08x}", crc32fast::hash(&bytes));
        if self.onnx_crc32.as_ref().is_some_and(|crc| *crc != found) {
            let (path, card) = (path.display(), file(network, "json"));
            let what = format!("{path} is not the file that {} was written with", card.display());
            return Err(what.into());
        }
        Ok(bytes)
    }

    /// The error of a network whose card says what it should not.
    pub fn unfit(&self, network: &Path, what: impl Into<Hinted>) -> Hinted {
        let path = file(network, "json");
        what.into().map(|what| format!("{} {what}", path.display()))
    }

    /// Which positions it has learned from.
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

/// Reads an ONNX file.
pub(super) fn read_model(path: &Path) -> Result<Vec<u8>, Hinted> {
    input::file(path, input::MODEL).map_err(|error| {
        let error = Hinted::from(format!("cannot read the model {}: {error}", path.display()));
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

/// The files of a network called NAME: `NAME.json` and so on, given with or without the ending.
pub fn file(name: &Path, ending: &str) -> PathBuf {
    let known = ["json", "onnx", "svg", "csv"];
    let has = name.extension().is_some_and(|found| known.iter().any(|known| found == *known));
    let stem = if has { name.with_extension("") } else { name.to_path_buf() };
    let mut path = stem.into_os_string();
    path.push(format!(".{ending}"));
    PathBuf::from(path)
}
