//! The games that commands know, by their names.

use crate::any::AnyGame;
use crate::game::othello::{MAX_SIDE, MIN_SIDE, Othello};
use crate::game::shogi::{Shogi, VARIANTS, Variant};
use crate::game::{Game, WideKey};
use crate::table::Table;

/// Games without their types, for [`main_with`](crate::cli::main_with): `games![TicTacToe]`.
#[macro_export]
macro_rules! games {
    ($($game:expr),* $(,)?) => { vec![$($crate::any::AnyGame::new($game)),*] };
}

/// The games that are built in, and those that a program adds.
#[derive(Clone, Debug, Default)]
pub struct Games {
    added: Vec<AnyGame>,
}

/// A name that is no game; one line that lists what is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownGame(String);

impl Games {
    /// The games that are built in, and these.
    pub fn with(added: Vec<AnyGame>) -> Games {
        Games { added }
    }

    /// The game that is meant where none is named: the first that was added, else 4×4 Othello.
    pub fn default_name(&self) -> String {
        self.default_or("othello-4x4")
    }

    /// The first game that was added, else the one of this name.
    pub fn default_or(&self, name: &str) -> String {
        self.added.first().map_or(name.to_string(), Game::name)
    }

    /// The names of all games, for people.
    pub fn names(&self) -> String {
        let added = self.added.iter().map(Game::name);
        let shogi = VARIANTS.iter().map(|variant| variant.name.to_string());
        let names = added.chain(["othello-ROWSxCOLUMNS".to_string()]).chain(shogi);
        names.collect::<Vec<_>>().join(", ")
    }

    /// The game of a name, its states folded under all symmetries.
    pub fn named(&self, name: &str) -> Result<AnyGame, UnknownGame> {
        if let Some(game) = self.added.iter().find(|game| game.name() == name) {
            return Ok(game.clone());
        }
        if let Some(variant) = Variant::named(name) {
            return Ok(shogi(variant));
        }
        match name.strip_prefix("othello-") {
            Some(size) => othello(size),
            None => Err(UnknownGame(format!(
                "'{name}' is no game this version knows; it knows {}",
                self.names()
            ))),
        }
    }

    /// The game of a table, its states folded as they are there.
    pub fn of_table(&self, table: &Table) -> Result<AnyGame, UnknownGame> {
        let identity = &table.manifest().identity;
        let game = self.named(&identity.game)?;
        Ok(game.with_folding(identity.symmetry_order > 1).unwrap_or(game))
    }
}

/// The rules of a variant of shogi, which need not be one of those that have names.
pub fn shogi(variant: &Variant) -> AnyGame {
    match Shogi::<u64>::fits(variant) {
        true => AnyGame::new(Shogi::<u64>::new(variant, true)),
        false => AnyGame::new(Shogi::<WideKey>::new(variant, true)),
    }
}

/// Othello on a board written `4`, `4x6` or `6X4` (rows, then columns).
pub fn othello(size: &str) -> Result<AnyGame, UnknownGame> {
    let side = |text: &str| text.trim().parse::<usize>().ok();
    let sides = match size.split_once(['x', 'X', '×']) {
        Some((rows, columns)) => side(rows).zip(side(columns)),
        None => side(size).map(|side| (side, side)),
    };
    let fits = |side: &usize| (MIN_SIDE..=MAX_SIDE).contains(side);
    let sides = sides.filter(|(rows, columns)| fits(rows) && fits(columns));
    let (rows, columns) = sides.ok_or_else(|| {
        UnknownGame(format!(
            "size '{size}' is not a board: write rows x columns, each {MIN_SIDE} to {MAX_SIDE}, such as 4x6, or one number for a square"
        ))
    })?;
    Ok(match rows * columns <= 32 {
        true => AnyGame::new(Othello::<u64>::new(rows, columns, true)),
        false => AnyGame::new(Othello::<WideKey>::new(rows, columns, true)),
    })
}
