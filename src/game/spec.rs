//! The names of games, `othello-4x6`, and the way from a name to its rules.

use std::fmt;
use std::str::FromStr;

use super::othello::{MAX_SIDE, MIN_SIDE, Othello};
use super::shogi::{Shogi, VARIANTS, Variant};
use super::{Cyclic, Layered, WideKey};

/// Which game: the name a table is stored under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameSpec {
    /// Othello on a board of the given shape, each side 4 to 8.
    Othello {
        /// How many rows, numbered from the top.
        rows: usize,
        /// How many columns, lettered from the left.
        columns: usize,
    },
    /// A game of the shogi family, by its name: one of [`VARIANTS`](super::shogi::VARIANTS).
    Shogi(&'static str),
}

/// Something to be done with the rules of a game, whatever its types are.
pub trait GameVisitor {
    /// What is given back.
    type Output;

    /// Does it with a game whose moves lead only on.
    fn layered<G: Layered>(self, game: G) -> Self::Output;

    /// Does it with a game whose moves may lead back.
    fn cyclic<G: Cyclic>(self, game: G) -> Self::Output;
}

impl GameSpec {
    /// Builds the rules and hands them to `visitor`. With `fold`, states are folded under all the
    /// board's symmetries; without, every mover-relative state stands for itself.
    pub fn with_rules<V: GameVisitor>(self, fold: bool, visitor: V) -> V::Output {
        match self {
            GameSpec::Othello { rows, columns } if rows * columns <= 32 => {
                visitor.layered(Othello::<u64>::new(rows, columns, fold))
            }
            GameSpec::Othello { rows, columns } => {
                visitor.layered(Othello::<WideKey>::new(rows, columns, fold))
            }
            GameSpec::Shogi(name) => {
                let variant = Variant::named(name).expect("a specification names a variant");
                with_variant(variant, fold, visitor)
            }
        }
    }

    /// How many rows and columns the board has.
    pub fn shape(self) -> (usize, usize) {
        match self {
            GameSpec::Othello { rows, columns } => (rows, columns),
            GameSpec::Shogi(name) => Variant::named(name).map_or((0, 0), |v| (v.rows, v.columns)),
        }
    }

    /// The names of all games, for people.
    pub fn names() -> String {
        let shogi: Vec<&str> = VARIANTS.iter().map(|variant| variant.name).collect();
        format!("othello-ROWSxCOLUMNS, {}", shogi.join(", "))
    }

    /// Othello on a board written `4`, `4x6` or `6X4` (rows, then columns).
    pub fn othello(size: &str) -> Result<GameSpec, SpecError> {
        let wrong = || {
            SpecError(format!(
                "size '{size}' is not a board: write rows x columns, each {MIN_SIDE} to {MAX_SIDE}, such as 4x6, or one number for a square"
            ))
        };
        let side = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let (rows, columns) = match size.split_once(['x', 'X', '×']) {
            Some((rows, columns)) => (side(rows)?, side(columns)?),
            None => (side(size)?, side(size)?),
        };
        if [rows, columns].iter().any(|side| !(MIN_SIDE..=MAX_SIDE).contains(side)) {
            return Err(wrong());
        }
        Ok(GameSpec::Othello { rows, columns })
    }
}

impl fmt::Display for GameSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GameSpec::Othello { rows, columns } => write!(f, "othello-{rows}x{columns}"),
            GameSpec::Shogi(name) => f.write_str(name),
        }
    }
}

impl FromStr for GameSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<GameSpec, SpecError> {
        if let Some(variant) = Variant::named(text) {
            return Ok(GameSpec::Shogi(variant.name));
        }
        match text.strip_prefix("othello-") {
            Some(size) => GameSpec::othello(size),
            None => Err(SpecError(format!(
                "'{text}' is no game this version knows; it knows {}",
                GameSpec::names()
            ))),
        }
    }
}

/// Hands the rules of a variant, which need not be one of those that have names, to a visitor.
pub fn with_variant<V: GameVisitor>(variant: &Variant, fold: bool, visitor: V) -> V::Output {
    if Shogi::<u64>::fits(variant) {
        visitor.cyclic(Shogi::<u64>::new(variant, fold))
    } else {
        visitor.cyclic(Shogi::<WideKey>::new(variant, fold))
    }
}

/// A name that is no game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(String);
