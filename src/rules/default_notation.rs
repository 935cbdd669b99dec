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

/// Reads `start`, a position in the game's own notation or as its key and side, or the names of moves played from `from`;
/// passes may be left out.
pub(crate) fn parse_line<G: Game>(
    game: &G,
    text: &str,
    from: &Position<G::State>,
) -> Result<Vec<Position<G::State>>, Error> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if let [] | ["start"] = words[..] {
        return Ok(vec![*from]);
    }
    if let Some(position) = game.read_position(text) {
        return Ok(vec![position]);
    }
    if let [key, side] = words[..]
        && let Some(side) = Side::ALL.into_iter().find(|&s| game.side_name(s) == side)
    {
        let state = words_of(key)
            .map(|words| game.facts().key(words))
            .filter(|&key| key <= game.facts().most_key())
            .and_then(|key| game.state(key));
        let state = state.ok_or_else(|| {
            Error::from(format!("invalid key `{key}`: expected hexadecimal digits of a state"))
        })?;
        let position = Position { state, side };
        return match other_mover(game, &position) {
            Some(mover) => {
                let mover = game.side_name(mover);
                Err(Error::from(format!("in the state `{key}` {mover} is to move")))
            }
            None => Ok(vec![position]),
        };
    }
    let mut line = vec![*from];
    for word in words {
        let mut position = line[line.len() - 1];
        let mut actions = game.actions(&position.state);
        if let [pass] = actions[..]
            && game.is_pass(pass)
            && game.action_name(position.side, pass) != word
        {
            position = game.advance(&position, pass);
            line.push(position);
            actions = game.actions(&position.state);
        }
        let named = |action: &Action| game.action_name(position.side, *action) == word;
        let action = actions.iter().find(|action| named(action)).ok_or_else(|| {
            let legal: Vec<String> =
                actions.iter().map(|&a| game.action_name(position.side, a)).collect();
            let positions = match line.len() {
                1 => format!("; a position is written `{}`", game.notation(from)),
                _ => String::new(),
            };
            match legal.is_empty() {
                true => format!("illegal move `{word}`: the game is over").into(),
                false => Error::new(
                    format!("illegal move `{word}`"),
                    format!("legal moves: {}{positions}", legal.join(" ")),
                ),
            }
        })?;
        line.push(game.advance(&position, *action));
    }
    Ok(line)
}

fn words_of(text: &str) -> Option<[u64; 2]> {
    let word = |text: &str| u64::from_str_radix(text, 16).ok();
    let (first, second) = text.split_once('.').unwrap_or((text, "0"));
    Some([word(first)?, word(second)?])
}
