//! Default notation of games: moves by their names, positions by their keys.
//!
//! A position is its key in hexadecimal and the side to move: `1b0 First`.

use crate::error::Error;
use crate::rules::{Action, Game, MoveSquares, Position, Side};

/// Names an action: its square, `pass`, or its number.
pub(super) fn action_name<G: Game>(game: &G, side: Side, action: Action) -> String {
    if game.is_pass(action) {
        return "pass".to_string();
    }
    let (rows, columns) = game.shape();
    let squares = MoveSquares { from: None, to: Some(action.0) };
    let are_squares = game.has_squares() && game.action_count() <= rows * columns + 1;
    let start = Position { state: game.start().state, side };
    if !are_squares || game.move_squares(&start, action) != squares {
        return action.0.to_string();
    }
    let [files, ranks] = game.coordinates();
    let square = usize::from(action.0);
    format!("{}{}", files[square % columns], ranks[square / columns])
}

/// Writes a position as its key and the side to move.
pub(super) fn notation<G: Game>(game: &G, position: &Position<G::State>) -> String {
    let (facts, side) = (game.facts(), game.side_name(position.side));
    let [first, second] = facts.words(game.key(&position.state));
    match facts.key_words() {
        1 => format!("{first:x} {side}"),
        _ => format!("{first:x}.{second:x} {side}"),
    }
}

/// Returns the side to move by the key of a position, if it is another than the position's.
pub(super) fn other_mover<G: Game>(game: &G, position: &Position<G::State>) -> Option<Side> {
    let mover = game.side_of(game.position_key(position));
    (game.keeps_sides() && mover != position.side).then_some(mover)
}

/// Returns the legal action with this name, or the only one whose name differs by capitals alone.
pub(super) fn read_move<G: Game>(
    game: &G,
    position: &Position<G::State>,
    name: &str,
) -> Option<Action> {
    let (mut exact, mut alike) = (None, Vec::new());
    game.for_each_action(&position.state, |action| {
        let own = game.action_name(position.side, action);
        if own == name {
            exact = exact.or(Some(action));
        } else if own.eq_ignore_ascii_case(name) {
            alike.push(action);
        }
    });
    match alike[..] {
        [only] => exact.or(Some(only)),
        _ => exact,
    }
}

/// Reads the key of a state and the side to move; `None` for any other text.
pub(super) fn read_key<G: Game>(game: &G, text: &str) -> Result<Option<Position<G::State>>, Error> {
    let Some((key, name)) = text.split_once(char::is_whitespace) else { return Ok(None) };
    let is_named = |side: &Side| game.side_name(*side) == name.trim();
    let Some(side) = Side::ALL.into_iter().find(is_named) else { return Ok(None) };
    let state = words_of(key)
        .map(|words| game.facts().key(words))
        .filter(|&key| key <= game.facts().most_key())
        .and_then(|key| game.state(key));
    let state = state.ok_or_else(|| {
        Error::from(format!("invalid key `{key}`: expected hexadecimal digits of a state"))
    })?;
    let position = Position { state, side };
    match other_mover(game, &position) {
        Some(mover) => {
            let mover = game.side_name(mover);
            Err(Error::from(format!("in the state `{key}` {mover} is to move")))
        }
        None => Ok(Some(position)),
    }
}

fn words_of(text: &str) -> Option<[u64; 2]> {
    let word = |text: &str| u64::from_str_radix(text, 16).ok();
    let (first, second) = text.split_once('.').unwrap_or((text, "0"));
    Some([word(first)?, word(second)?])
}
