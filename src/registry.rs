//! Games by name, as commands know them.
//!
//! ```
//! use yomikiri::rules::{Game};
//! use yomikiri::registry::{Games, othello};
//!
//! assert_eq!(othello("4x5")?.name(), "othello-4x5");
//! assert_eq!(Games::with(vec![]).named("minishogi")?.shape(), (5, 5));
//! assert!(Games::with(vec![]).named("chess").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use crate::error::{Error, did_you_mean};
use crate::games::connect_four::{self, ConnectFour};
use crate::games::listed::Listed;
use crate::games::othello::{MAX_SIDE, MIN_SIDE, Othello};
use crate::games::shogi::{Shogi, VARIANTS, Variant};
use crate::games::tictactoe::{self, TicTacToe};
use crate::rules::{Game, Rules};
use crate::table::{Manifest, Table};

/// Erases the types of games and collects them in a vector: `games![Noughts]`.
#[macro_export]
macro_rules! games {
    ($($game:expr),* $(,)?) => { vec![$($crate::rules::Game::into_rules($game)),*] };
}

/// Most squares of the boards of tic-tac-toe that lists have; larger ones have names too.
pub const MOST_MARKS: usize = 16;

/// Built-in games and those that a program adds.
#[derive(Clone, Debug, Default)]
pub struct Games {
    added: Vec<Arc<dyn Rules>>,
}

impl Games {
    /// Adds games to the built-in ones.
    pub fn with(added: Vec<Arc<dyn Rules>>) -> Games {
        Games { added }
    }

    /// Returns the name of the default game: the first added one, else 4×4 Othello.
    pub fn default_name(&self) -> String {
        self.added.first().map_or("othello-4x4".to_string(), |game| game.name())
    }

    /// Returns the names of all games as text for people.
    pub fn names(&self) -> String {
        let added = self.added.iter().map(|game| game.name());
        let shogi = VARIANTS.iter().map(|variant| variant.name.to_string());
        let sized = [
            "othello-ROWSxCOLUMNS",
            "connect-four[-ROWSxCOLUMNS]",
            "tic-tac-toe[-ROWSxCOLUMNS-LINE]",
        ];
        let names = added.chain(sized.map(str::to_string)).chain(shogi);
        names.collect::<Vec<_>>().join(", ")
    }

    /// Returns every game, the added ones first; of tic-tac-toe only boards of up to [`MOST_MARKS`] squares.
    pub fn all(&self) -> Vec<Arc<dyn Rules>> {
        let shapes =
            (3..=MAX_SIDE).flat_map(|rows| (3..=MAX_SIDE).map(move |columns| (rows, columns)));
        let shapes: Vec<(usize, usize)> = shapes.collect();
        let sizes = shapes.iter().filter(|shape| shape.0.min(shape.1) >= MIN_SIDE);
        let othello = sizes.map(|&(rows, columns)| Othello::new(rows, columns, true).into_rules());
        let fours = shapes.iter().filter_map(|&shape| ConnectFour::new(shape, true));
        let marks = shapes.iter().filter(|shape| shape.0 * shape.1 <= MOST_MARKS);
        let marks = marks.flat_map(|&shape| (3..=MAX_SIDE).map(move |line| (shape, line)));
        let marks = marks.filter_map(|(shape, line)| TicTacToe::new(shape, line, true));
        let shogi = VARIANTS.iter().map(|variant| shogi(variant));
        let lines = fours.map(Game::into_rules).chain(marks.map(Game::into_rules));
        self.added.iter().cloned().chain(othello).chain(lines).chain(shogi).collect()
    }

    /// Returns the game of a name. Built-in games have their states folded under all symmetries.
    pub fn named(&self, name: &str) -> Result<Arc<dyn Rules>, Error> {
        if let Some(game) = self.added.iter().find(|game| game.name() == name) {
            return Ok(game.clone());
        }
        if let Some(variant) = Variant::named(name) {
            return Ok(shogi(variant));
        }
        let of = |family: &str| name.strip_prefix(family);
        match (of("othello-"), of("connect-four"), of("tic-tac-toe")) {
            (Some(size), ..) => othello(size),
            (_, Some(size), _) => connect_four(size),
            (_, _, Some(size)) => tic_tac_toe(size),
            _ => Err(self.unknown(name)),
        }
    }

    /// The game that a person means by its name, or by the size of a board of Othello. A number alone is a size only if
    /// there are no other games than the built-in ones: in others it may be a move.
    pub fn meant(&self, word: &str) -> Result<Arc<dyn Rules>, Error> {
        let is_digit = |c: char| c.is_ascii_digit();
        let is_size =
            word.starts_with(is_digit) && (self.added.is_empty() || !word.chars().all(is_digit));
        if is_size { othello(word) } else { self.named(word) }
    }

    fn unknown(&self, name: &str) -> Error {
        if name.eq_ignore_ascii_case("othello") {
            return Error::new("Othello needs a size", "write 4x5 or othello-4x5");
        }
        let all = self.all();
        let names: Vec<String> = all.iter().map(|game| game.name()).collect();
        let near = did_you_mean(name, names.iter().map(String::as_str));
        let hint = near.unwrap_or_else(|| format!("expected {}", self.names()));
        Error::new(format!("unknown game `{name}`"), hint)
    }

    /// Returns the game of a table, its states folded as in the table. Fails if no table of that game can
    /// have this manifest.
    pub fn of_table(&self, table: &Table) -> Result<Arc<dyn Rules>, Error> {
        let identity = &table.manifest().identity;
        let path = table.dir().join("manifest.json");
        let game = match Listed::of_table(table)? {
            Some(listed) => listed.into_rules(),
            None => self.named(&identity.game).map_err(|unknown| Error::foreign(&path, unknown))?,
        };
        let game = game.with_folding(identity.symmetry_order > 1).unwrap_or(game);
        match unfit(&*game, table.manifest()) {
            None => Ok(game),
            Some(what) => Err(Error::damaged(&path, what)),
        }
    }
}

/// Returns the reason why no table of a game can have this manifest; checks only the fields readers rely on.
fn unfit(game: &dyn Rules, manifest: &Manifest) -> Option<&'static str> {
    let Manifest { identity, arrays, layers, .. } = manifest;
    if identity.game != game.name() || usize::from(identity.symmetry_order) != game.group().order()
    {
        return Some("invalid game or symmetries");
    }
    let words = |name: &str| arrays.get(name).map(|array| array.shape.len());
    if words("keys").is_some_and(|words| words != game.facts().key_words()) {
        return Some("width of the keys differs from the game's");
    }
    let start = game.start();
    let Some(root) = identity.roots.first() else { return Some("no root") };
    let Ok(root) = game.parse_position(root, &start) else {
        return Some(
            "the game does not read the first root: its notation or its sides' names have changed",
        );
    };
    // A part need not have the roots.
    if manifest.root_ids.len() != identity.roots.len() && identity.part.is_none() {
        return Some("numbers of root_ids and roots differ");
    }
    // Every ply has a state, while moves may skip layers and so leave layers empty.
    let (first_layer, most) = match game.is_layered() {
        false => (0, manifest.counts.table.states),
        true => (game.layer(&root.state), u64::MAX),
    };
    if manifest.first_layer != first_layer || layers.len() as u64 > most {
        return Some("invalid layers for the game");
    }
    let oriented = game.is_layered() && !identity.is_by_rank();
    if oriented && words("orientations").or(words("packed_orientations")).is_none() {
        return Some("missing array 'orientations'");
    }
    if !identity.is_by_rank() {
        return None;
    }
    let words = game.rank_count().map(|ranks| u64::from(ranks).div_ceil(64));
    let fits = words
        .is_some_and(|words| arrays.get("reachable").is_none_or(|array| array.shape == [words]));
    (!fits).then_some("ranks differ from the game's")
}

/// Returns the rules of a shogi variant, with or without a name.
pub fn shogi(variant: &Variant) -> Arc<dyn Rules> {
    Shogi::new(variant, true).into_rules()
}

/// Reads a shape written `4`, `4x6` or `6X4`: rows, then columns.
fn shape(size: &str) -> Option<(usize, usize)> {
    let side = |text: &str| text.trim().parse::<usize>().ok();
    match size.split_once(['x', 'X', '×']) {
        Some((rows, columns)) => side(rows).zip(side(columns)),
        None => side(size).map(|side| (side, side)),
    }
}

/// Returns Connect Four on the board that the rest of its name says: nothing, or `-4x5`.
fn connect_four(rest: &str) -> Result<Arc<dyn Rules>, Error> {
    let shape = if rest.is_empty() { Some((6, 7)) } else { rest.strip_prefix('-').and_then(shape) };
    let game = shape.and_then(|shape| ConnectFour::new(shape, true)).ok_or_else(|| {
        let (least, most) = connect_four::SIDES;
        Error::new(
            format!("invalid board of Connect Four `connect-four{rest}`"),
            format!("expected connect-four (6 high and 7 wide), or rows x columns of {least} to {most}, not {most}x{most}: connect-four-4x5 is 4 high and 5 wide"),
        )
    })?;
    Ok(game.into_rules())
}

/// Says which board of Connect Four was named if it is higher than wide, because people also write the width first.
pub fn turned(game: &dyn Rules) -> Option<String> {
    let (rows, columns) = game.typed::<ConnectFour>()?.shape();
    let turned = ConnectFour::new((columns, rows), true).filter(|_| rows > columns)?;
    let (name, other) = (game.name(), turned.name());
    Some(format!(
        "{name} is {rows} high and {columns} wide; {other} is {columns} high and {rows} wide"
    ))
}

/// Returns tic-tac-toe on the board that the rest of its name says: nothing, or `-4x4-4`.
fn tic_tac_toe(rest: &str) -> Result<Arc<dyn Rules>, Error> {
    let rest = if rest.is_empty() { "-3x3-3" } else { rest };
    let parts = rest.strip_prefix('-').and_then(|rest| rest.rsplit_once('-'));
    let parts = parts.and_then(|(size, line)| Some((shape(size)?, line.parse().ok()?)));
    let game = parts.and_then(|(shape, line)| TicTacToe::new(shape, line, true)).ok_or_else(|| {
        let (least, most) = tictactoe::SIDES;
        Error::new(
            format!("invalid board of tic-tac-toe `tic-tac-toe{rest}`"),
            format!("expected tic-tac-toe, or rows x columns and marks in a line, each {least} to {most}: tic-tac-toe-4x4-3"),
        )
    })?;
    Ok(game.into_rules())
}

/// Returns Othello on a board written `4`, `4x6` or `6X4` (rows, then columns).
pub fn othello(size: &str) -> Result<Arc<dyn Rules>, Error> {
    let sides = shape(size);
    let fits = |side: &usize| (MIN_SIDE..=MAX_SIDE).contains(side);
    let sides = sides.filter(|(rows, columns)| fits(rows) && fits(columns));
    let (rows, columns) = sides.ok_or_else(|| {
        Error::from(format!(
            "invalid size `{size}`: expected rows x columns, each {MIN_SIDE} to {MAX_SIDE}, such as 4x6, or one number for a square"
        ))
    })?;
    Ok(Othello::new(rows, columns, true).into_rules())
}
