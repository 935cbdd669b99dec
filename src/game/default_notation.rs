//! Default notation of games: moves by their names, positions by their keys.
//!
//! A position is its key in hexadecimal and the side to move: `1b0 First`.

use crate::game::{Action, Game, NotationError, Position, Side, StateKey, WideKey};
use crate::hint::Hinted;

/// Writes a position as its key and the side to move.
pub(super) fn notation<G: Game>(game: &G, position: &Position<G::State>) -> String {
    let WideKey([high, low]) = game.key(&position.state).widen();
    let side = game.side_name(position.side);
    match game.facts().key_words {
        1 => format!("{high:x} {side}"),
        _ => format!("{high:x}.{low:x} {side}"),
    }
}

/// Reads `start`, a position as its key and side, or the names of moves played from `from`.
pub(super) fn parse_line<G: Game>(
    game: &G,
    text: &str,
    from: &Position<G::State>,
) -> Result<Vec<Position<G::State>>, NotationError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if let [] | ["start"] = words[..] {
        return Ok(vec![*from]);
    }
    if let [key, side] = words[..]
        && let Some(side) = Side::ALL.into_iter().find(|&s| game.side_name(s) == side)
    {
        let state = key_of(key).and_then(G::Key::narrow).and_then(|key| game.state(key));
        let state = state.ok_or_else(|| {
            NotationError::new(format!(
                "invalid key `{key}`: expected hexadecimal digits of a state"
            ))
        })?;
        return Ok(vec![Position { state, side }]);
    }
    let mut line = vec![*from];
    for word in words {
        let position = line[line.len() - 1];
        let named = |action: &Action| game.action_name(position.side, *action) == word;
        let actions = game.actions(&position.state);
        let action = actions.iter().find(|action| named(action)).ok_or_else(|| {
            let legal: Vec<String> =
                actions.iter().map(|&a| game.action_name(position.side, a)).collect();
            NotationError::new(match legal.is_empty() {
                true => format!("illegal move `{word}`: the game is over").into(),
                false => Hinted::new(
                    format!("illegal move `{word}`"),
                    format!("legal moves: {}", legal.join(" ")),
                ),
            })
        })?;
        line.push(game.advance(&position, *action));
    }
    Ok(line)
}

fn key_of(text: &str) -> Option<WideKey> {
    let word = |text: &str| u64::from_str_radix(text, 16).ok();
    match text.split_once('.') {
        None => Some(WideKey([word(text)?, 0])),
        Some((high, low)) => Some(WideKey([word(high)?, word(low)?])),
    }
}
