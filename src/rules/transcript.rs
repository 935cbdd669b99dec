//! Games as text: a position, the moves played from it, and a result.
//!
//! [`forms`](super::forms) divides a text into [`Sheet`]s; here a game plays the moves of one. A line of text is a sheet
//! too: a position, or moves, or both with `;` or `moves` between them.

use std::borrow::Cow;

use super::default_notation::read_key;
use super::sheet::{Claim, Misread, MoveText, Sheet};
use super::{Action, Game, Position};
use crate::error::Error;

/// Most legal moves that a message lists.
const MOST_LISTED: usize = 24;

/// Moves as they were played, each with the position before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedLine<S> {
    /// First position.
    pub start: Position<S>,
    /// Moves.
    pub moves: Vec<(Position<S>, Action)>,
    /// Position after the last move.
    pub last: Position<S>,
    /// Result behind the moves, or of the sheet.
    pub claim: Option<Claim>,
}

/// Position at the beginning of a text, and the moves behind it.
type Beginning<'t, S> = Option<(Position<S>, &'t str)>;

/// Reads a line, or a text of one game in any form, played from `from`, and returns its positions.
pub(super) fn parse_line<G: Game>(
    game: &G,
    text: &str,
    from: &Position<G::State>,
) -> Result<Vec<Position<G::State>>, Error> {
    let (form, sheet) = super::forms::one_game(text)?;
    let line = play(game, &sheet, from).map_err(|misread| form.named(misread.error))?;
    let positions = line.moves.iter().map(|(position, _)| *position);
    Ok(positions.chain([line.last]).collect())
}

/// Plays a sheet from its position, or from `from` if it has none. Passes may be left out.
pub(super) fn play<G: Game>(
    game: &G,
    sheet: &Sheet<'_>,
    from: &Position<G::State>,
) -> Result<PlayedLine<G::State>, Misread> {
    let at_begin = |error| Misread { at: sheet.at, error };
    let text = &*sheet.text;
    let (start, moves) = match position_of(game, text, from).map_err(at_begin)? {
        Some((start, moves)) => (Some(start), moves),
        None => (None, text),
    };
    let offset = match &sheet.text {
        Cow::Borrowed(_) if !moves.is_empty() => {
            sheet.at + (moves.as_ptr() as usize - text.as_ptr() as usize)
        }
        _ => sheet.at,
    };
    let mut words = Vec::new();
    divide(moves, offset, &mut words);
    words.extend(sheet.words.iter().cloned());
    let words = game.split_moves(words).map_err(at_begin)?;
    let mut position = start.unwrap_or(*from);
    let mut line =
        PlayedLine { start: position, moves: Vec::new(), last: position, claim: sheet.claim };
    for (index, word) in words.iter().enumerate() {
        let found = read_word(game, &position, word);
        let Some((before, action)) = found else {
            if is_end(game, &position, word, &mut line.claim) && index + 1 == words.len()
                || is_needless_pass(game, &position, word)
            {
                continue;
            }
            let is_line = sheet.words.is_empty();
            let is_text = start.is_none() && line.moves.is_empty() && is_line;
            return Err(misplayed(game, &position, (word, index + 1), is_line, is_text));
        };
        if let Some(pass) = before {
            line.moves.push((position, pass));
            position = game.advance(&position, pass);
        }
        line.moves.push((position, action));
        position = game.advance(&position, action);
    }
    line.last = position;
    Ok(line)
}

/// Returns the position that a line begins with, and the moves behind it; `None` if it begins with none.
fn position_of<'t, G: Game>(
    game: &G,
    text: &'t str,
    from: &Position<G::State>,
) -> Result<Beginning<'t, G::State>, Error> {
    let text = text.trim();
    let read = |text: &str| -> Result<Option<Position<G::State>>, Error> {
        if text.is_empty() || text.eq_ignore_ascii_case("start") {
            return Ok(Some(*from));
        }
        match game.read_position(text)? {
            None => read_key(game, text),
            position => Ok(position),
        }
    };
    // Moves with a score each, as in files of OBF, are no game.
    let game_of = |moves: &'t str| if moves.contains([':', ';']) { "" } else { moves };
    let by_sign = text.split_once(';').filter(|(head, _)| !head.is_empty());
    let by_sign = by_sign.map(|(head, moves)| (head, game_of(moves)));
    // Edax prints `moves = 4` beside its board.
    let by_word =
        text.split_once(" moves").filter(|(_, moves)| !moves.trim_start().starts_with('='));
    let by_word = by_word.map(|(head, moves)| (head.trim_end_matches(';'), moves));
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_first = |word: &&str| first.eq_ignore_ascii_case(word);
    let begins = ["start", "startpos"].iter().any(is_first).then(|| (first, &text[first.len()..]));
    let continues = is_first(&"moves").then(|| ("", &text[first.len()..]));
    let divisions = [by_word, by_sign, begins, continues].into_iter().flatten();
    for (head, moves) in divisions {
        if let Some(position) = read(head)? {
            return Ok(Some((position, moves)));
        }
    }
    Ok(read(text)?.map(|position| (position, "")))
}

/// Divides moves at blanks, and at commas and semicolons outside brackets, and leaves out their numbers.
fn divide<'t>(text: &'t str, at: usize, words: &mut Vec<MoveText<'t>>) {
    let (mut begin, mut depth) = (0, 0u32);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ if byte.is_ascii_whitespace() || depth == 0 && b",;".contains(&byte) => {
                push_word(&text[begin..index], at + begin, words);
                begin = index + 1;
            }
            _ => {}
        }
    }
    push_word(&text[begin..], at + begin, words);
}

fn push_word<'t>(text: &'t str, at: usize, words: &mut Vec<MoveText<'t>>) {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let unnumbered = after.trim_start_matches('.');
    let is_numbered = after.len() < text.len()
        && unnumbered.len() < after.len()
        && !unnumbered.starts_with(|c: char| c.is_ascii_digit());
    let move_text = if is_numbered { unnumbered } else { text };
    if !move_text.is_empty() {
        let at = at + text.len() - move_text.len();
        words.push(MoveText { text: Cow::Borrowed(move_text), at, side: None });
    }
}

/// Returns the action of a word, and the forced pass before it if the word leaves that out; `None` if it is no legal move.
fn read_word<G: Game>(
    game: &G,
    position: &Position<G::State>,
    word: &MoveText<'_>,
) -> Option<(Option<Action>, Action)> {
    let legal = |position: &Position<G::State>| {
        let is_mover = word.side.is_none_or(|side| side == position.side);
        let action = game.read_move(position, &word.text).filter(|_| is_mover)?;
        let mut is_legal = false;
        game.for_each_action(&position.state, |legal| is_legal |= legal == action);
        is_legal.then_some(action)
    };
    if let Some(action) = legal(position) {
        return Some((None, action));
    }
    let mut actions = Vec::new();
    if game.must_pass(&position.state) {
        game.for_each_action(&position.state, |action| actions.push(action));
    }
    let pass = *actions.first()?;
    let action = legal(&game.advance(position, pass))?;
    Some((Some(pass), action))
}

/// Returns `true` for a result behind the moves, which it stores if there is none yet.
fn is_end<G: Game>(
    game: &G,
    position: &Position<G::State>,
    word: &MoveText<'_>,
    claim: &mut Option<Claim>,
) -> bool {
    let text = word.text.to_ascii_lowercase();
    let read = match &text[..] {
        "*" => return true,
        "resign" | "resigns" => Some(Claim::Winner(Some(position.side.other()))),
        _ => Claim::read(&text).filter(|claim| match claim {
            Claim::Winner(_) => true,
            Claim::Margin(..) => game.has_scores(),
        }),
    };
    *claim = claim.or(read);
    read.is_some()
}

/// Returns `true` for a pass after the end of a game, as some programs write it.
fn is_needless_pass<G: Game>(game: &G, position: &Position<G::State>, word: &MoveText<'_>) -> bool {
    let is_pass = |action| game.is_pass(action);
    game.is_terminal(&position.state) && game.read_move(position, &word.text).is_some_and(is_pass)
}

/// Returns the error for a word, and its number, that is no legal move; `is_line` if no form divided the moves, `is_text` if it is the
/// first word of a text that may be meant as a position.
fn misplayed<G: Game>(
    game: &G,
    position: &Position<G::State>,
    (word, number): (&MoveText<'_>, usize),
    is_line: bool,
    is_text: bool,
) -> Misread {
    let (who, text) = (game.side_name(position.side), &word.text);
    let actions = game.actions(&position.state);
    let names: Vec<String> =
        actions.iter().map(|&action| game.action_name(position.side, action)).collect();
    let alike: Vec<&String> = names.iter().filter(|name| begins_alike(name, text)).collect();
    let check = if game.in_check(&position.state) {
        format!(" ({who} is in check)")
    } else {
        String::new()
    };
    let legal = match (&names[..], &alike[..]) {
        ([], _) => "the game is over".to_string(),
        (_, []) => format!("{who} can play {}{check}", listed(&names)),
        (_, alike) => format!("{who} can play {}{check}", listed(alike)),
    };
    let is_of_other = word.side.is_some_and(|side| side != position.side);
    let error = match (is_text && game.read_move(position, text).is_none(), is_of_other) {
        (true, _) => {
            let what =
                format!("`{text}` is neither a position nor a legal move of {}", game.name());
            let example = game.notation(&game.start());
            Error::new(what, format!("{legal}; a position is written '{example}'"))
        }
        (false, true) => {
            let other = game.side_name(position.side.other());
            let what = format!("illegal move {number} `{text}` of {other}: {who} is to move");
            Error::new(what, legal)
        }
        (false, false) if number == 1 && !is_line => {
            let hint = format!("{legal}; is it a game of {}?", game.name());
            Error::new(format!("illegal move 1 `{text}`"), hint)
        }
        (false, false) => Error::new(format!("illegal move {number} `{text}`"), legal),
    };
    Misread { at: word.at, error }
}

/// Returns `true` if a move has the first two signs of a text, which name its piece or square.
fn begins_alike(name: &str, text: &str) -> bool {
    let [name, text] = [name, text].map(|text| text.get(..2));
    name.is_some() && name.zip(text).is_some_and(|(name, text)| name.eq_ignore_ascii_case(text))
}

fn listed(names: &[impl AsRef<str>]) -> String {
    let first: Vec<&str> = names.iter().take(MOST_LISTED).map(AsRef::as_ref).collect();
    let others = match names.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    first.join(", ") + &others
}
