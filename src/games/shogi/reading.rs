//! Parsing of positions: SFEN and drawn boards; [`japanese`](super::japanese) rewrites other notations as SFEN.

use super::Shogi;
use super::board::{Board, Cell, Owner};
use super::japanese::{in_own_letters, sfen_of_csa, sfen_of_fen, sfen_of_kif, sfen_of_slashes};
use super::notation::square_name;
use super::variant::{Ending, Variant};
use crate::error::Error;
use crate::rules::{Game, Position, Side};

fn wrong<T>(what: impl Into<Error>) -> Result<T, Error> {
    Err(what.into())
}

/// Reads a position: SFEN, `startpos`, a drawn board, FEN after the word `fen`, a board of KIF or CSA, or a line of another
/// program; `None` for any other text.
pub(super) fn read_position(game: &Shogi, text: &str) -> Result<Option<Position<Board>>, Error> {
    let text = text.trim();
    let text = text.strip_prefix("position ").unwrap_or(text).trim_start();
    let variant = game.variant();
    let first = text.split_whitespace().next().unwrap_or_default();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = words(&text[first.len()..]);
    let sfen = match &first.to_ascii_lowercase()[..] {
        "startpos" if rest.is_empty() => return Ok(Some(game.start())),
        "sfen" => rest,
        "fen" => sfen_of_fen(&rest)?,
        _ if text.contains(['|', 'の']) => sfen_of_kif(text)?,
        _ if is_csa(text) => sfen_of_csa(variant, text)?,
        _ if first.contains('[') => {
            let hint = "there w is the first player, who is b in SFEN: give --format fen, or `fen` before it";
            return wrong(Error::new(format!("`{}` is FEN of Fairy-Stockfish", words(text)), hint));
        }
        _ if text.contains('/') => match sfen_of_slashes(variant, text) {
            Some(sfen) => sfen,
            // Addresses have `_` for blanks.
            None => words(&text.replace('_', " ")),
        },
        _ if is_drawn(text) => return read_diagram(game, text).map(Some),
        _ => return Ok(None),
    };
    read_sfen(game, &sfen).map(Some)
}

/// Returns `true` for a board of CSA.
fn is_csa(text: &str) -> bool {
    let is_row = |line: &str| match line.as_bytes() {
        b"+" | b"-" => true,
        [b'P', sign, ..] => sign.is_ascii_digit() || b"+-I".contains(sign),
        _ => false,
    };
    text.lines().all(|line| is_row(line.trim()))
}

/// Returns `true` if text is a board over several lines rather than moves.
fn is_drawn(text: &str) -> bool {
    let is_move = |word: &str| is_written_as_move(word) || !word.is_ascii();
    text.lines().count() > 1 && !text.split_whitespace().next().is_some_and(is_move)
}

fn is(word: Option<&&str>, name: &str) -> bool {
    word.is_some_and(|word| word.eq_ignore_ascii_case(name))
}

fn is_written_as_move(word: &str) -> bool {
    let signs: Vec<char> = word.trim_end_matches('+').chars().collect();
    let is_square = |file: char, rank: char| file.is_ascii_digit() && rank.is_ascii_alphabetic();
    match signs[..] {
        [file, rank, to_file, to_rank] => {
            is_square(to_file, to_rank)
                && (is_square(file, rank) || file.is_ascii_alphabetic() && rank == '*')
        }
        _ => false,
    }
}

/// Returns a number of things: `1 rank`, `2 ranks`.
fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Reads SFEN; the move number may be missing.
pub(super) fn read_sfen(game: &Shogi, text: &str) -> Result<Position<Board>, Error> {
    let variant = game.variant();
    let fields: Vec<&str> = text.split_whitespace().collect();
    let (ranks, side, hands) = match fields[..] {
        [ranks, side, hands] | [ranks, side, hands, _] => (ranks, side, hands),
        _ => {
            return wrong(Error::new(
                format!(
                    "invalid SFEN `{text}`: {}, expected 3 or 4 (board, b or w to move, hands or -, move number)",
                    counted(fields.len(), "field")
                ),
                format!("such as '{}'", variant.start),
            ));
        }
    };
    let (ranks, hands) = in_own_letters(variant, ranks, hands);
    let side = match side {
        "b" => Side::First,
        "w" => Side::Second,
        other => {
            return wrong(format!(
                "invalid SFEN `{text}`: side to move `{other}`, expected b (Black) or w (White)"
            ));
        }
    };
    let mut board = Board::EMPTY;
    let (ranks, hands) = (&*ranks, &*hands);
    let rows: Vec<&str> = ranks.split('/').collect();
    check_rows(variant, &format!("invalid board `{ranks}`"), rows.len())?;
    for (row, rank) in rows.into_iter().enumerate() {
        let what = format!("invalid board `{ranks}`: rank {} (`{rank}`)", row + 1);
        read_rank(variant, row, rank, &what, &mut board)?;
    }
    read_hands(variant, hands, &mut board)?;
    finish(game, board, side)
}

fn check_rows(variant: &Variant, what: &str, rows: usize) -> Result<(), Error> {
    if rows == variant.rows {
        return Ok(());
    }
    let ranks = counted(rows, "rank");
    wrong(format!("{what}: {ranks}, but {} has {}", variant.name, variant.rows))
}

/// Reads one rank of SFEN, called `what` in messages.
fn read_rank(
    variant: &Variant,
    row: usize,
    rank: &str,
    what: &str,
    board: &mut Board,
) -> Result<(), Error> {
    let mut column = 0;
    let mut promoted = false;
    for letter in rank.chars() {
        if letter == '+' && !promoted {
            promoted = true;
            continue;
        }
        let mut cell = Cell::EMPTY;
        let mut squares = 1;
        match letter.to_digit(10).filter(|&empty| empty > 0 && !promoted) {
            Some(empty) => squares = empty as usize,
            None => {
                cell = read_piece(variant, letter, promoted)
                    .or_else(|why| wrong(why.map(|why| format!("{what}: {why}"))))?;
            }
        }
        promoted = false;
        if column < variant.columns && !cell.is_empty() {
            board.put(row * variant.columns + column, cell);
        }
        column += squares;
    }
    if promoted {
        return wrong(format!("{what}: + without a piece"));
    }
    if column != variant.columns {
        let squares = counted(column, "square");
        return wrong(format!("{what}: {squares}, but {} has {}", variant.name, variant.columns));
    }
    Ok(())
}

fn kind_of_letter(variant: &Variant, letter: char) -> Option<(Owner, usize)> {
    let owner = if letter.is_ascii_uppercase() { Owner::Mover } else { Owner::Opponent };
    let capital = letter.to_ascii_uppercase();
    let kind = variant.kinds.iter().position(|kind| kind.letter == capital)?;
    Some((owner, kind))
}

/// Reads a piece on the board.
fn read_piece(variant: &Variant, letter: char, promoted: bool) -> Result<Cell, Error> {
    if promoted && !letter.is_alphabetic() {
        return Err("+ without a piece".into());
    }
    let Some((owner, kind)) = kind_of_letter(variant, letter) else {
        let plus = if promoted { "+" } else { "" };
        return Err(Error::new(
            format!("`{plus}{letter}` is not a piece of {}", variant.name),
            format!(
                "expected {} {}, small letters for White's, + before promoted ones",
                variant.kinds[0].letter,
                letters(variant)
            ),
        ));
    };
    match variant.kinds[kind].promotes_to {
        Some(form) if promoted => Ok(Cell::of(owner, form)),
        None if promoted => {
            Err(format!("`+{letter}`, but {}s do not promote", variant.kinds[kind].name).into())
        }
        _ => Ok(Cell::of(owner, kind)),
    }
}

/// Returns the letters of the kinds that can be held.
fn letters(variant: &Variant) -> String {
    let kinds = (1..=variant.hand_kinds()).rev();
    kinds.map(|kind| variant.kinds[kind].letter.to_string()).collect::<Vec<_>>().join(" ")
}

fn read_hands(variant: &Variant, text: &str, board: &mut Board) -> Result<(), Error> {
    if text == "-" {
        return Ok(());
    }
    let most = u32::from(variant.copies);
    let mut count: Option<u32> = None;
    for letter in text.chars() {
        if let Some(digit) = letter.to_digit(10) {
            count = Some(count.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            continue;
        }
        let held = kind_of_letter(variant, letter).filter(|&(_, kind)| kind > 0);
        let (owner, kind) = held.ok_or_else(|| {
            Error::from(format!(
                "invalid hands `{text}`: `{letter}` cannot be in hand in {}",
                variant.name
            ))
            .with_hint(format!(
                "expected {}, small letters for White's, or - alone if both are empty",
                letters(variant)
            ))
        })?;
        let more = count.take().unwrap_or(1);
        if more == 0 {
            return wrong(Error::new(
                format!("invalid hands `{text}`: 0 of `{letter}`"),
                "leave out pieces that neither side has in hand",
            ));
        }
        let held = &mut board.hands[owner.index()][kind - 1];
        let all = more.saturating_add(u32::from(*held));
        if all > most {
            return wrong(format!(
                "invalid hands `{text}`: more than {most} of `{letter}`, the number in {}",
                variant.name
            ));
        }
        *held = all as u8;
    }
    match count {
        Some(count) => wrong(format!("invalid hands `{text}`: {count} without a piece at the end")),
        None => Ok(()),
    }
}

/// Checks that a board, as the first player sees it, can be a position, and rotates it to its mover's view.
fn finish(game: &Shogi, board: Board, side: Side) -> Result<Position<Board>, Error> {
    let variant = game.variant();
    let mut counts = vec![0u32; variant.kinds.len()];
    for (owner, side) in [(Owner::Mover, Side::First), (Owner::Opponent, Side::Second)] {
        let king = Cell::of(owner, 0);
        let (who, royal) = (game.side_name(side), variant.kinds[0].name);
        let kings = board.cells.iter().filter(|&&cell| cell == king).count();
        if kings != 1 {
            let kings = match kings {
                0 => format!("no {royal}"),
                n => counted(n, royal),
            };
            return wrong(Error::new(
                format!("invalid position: {who} has {kings} on the board"),
                "expected one for each side",
            ));
        }
        for (count, &held) in counts[1..].iter_mut().zip(&board.hands[owner.index()]) {
            *count += u32::from(held);
        }
    }
    for (_, kind) in board.cells.iter().filter_map(|cell| cell.piece()) {
        counts[variant.kinds[kind].in_hand] += u32::from(kind > 0);
    }
    for (kind, &count) in counts.iter().enumerate() {
        if count > u32::from(variant.copies) {
            return wrong(format!(
                "invalid position: {count} {}s with promoted ones and those in hand, but {} has {}",
                variant.kinds[kind].name, variant.name, variant.copies
            ));
        }
    }
    let turned = board.turned(game.squares());
    for (state, owner) in [(&board, Side::First), (&turned, Side::Second)] {
        check_pawns(game, state, owner)?;
    }
    let state = if side == Side::First { board } else { turned };
    if variant.ending == Ending::Mate && game.moves.in_check(&state, Owner::Opponent) {
        let (mover, waiting) = (game.side_name(side), game.side_name(side.other()));
        return wrong(Error::new(
            format!("invalid position: {mover} to move, {waiting}'s king in check"),
            format!("set {waiting} to move, or change the board"),
        ));
    }
    Ok(Position { state, side })
}

/// Checks that no piece of the mover, `side`, is where it may not have been dropped or moved to.
fn check_pawns(game: &Shogi, state: &Board, side: Side) -> Result<(), Error> {
    let variant = game.variant();
    let who = game.side_name(side);
    let own = || {
        let cells = state.cells.iter().enumerate();
        cells.filter_map(|(square, cell)| match cell.piece() {
            Some((Owner::Mover, kind)) => Some((square, kind)),
            _ => None,
        })
    };
    for (square, kind) in own() {
        let name = variant.kinds[kind].name;
        let place = square_name(variant, side, square as u8);
        if !variant.drops.immobile && game.moves.is_stuck(kind, square) {
            return wrong(Error::new(
                format!(
                    "invalid position: {who}'s {name} on {place} is on the last rank, where it has no move"
                ),
                "expected a promoted one",
            ));
        }
        let twin = own().find(|&(other, its_kind)| {
            let same_file = game.moves.file_of(square) >> other & 1 == 1;
            its_kind == kind && other > square && same_file
        });
        if let Some((other, _)) = twin.filter(|_| !variant.drops.two_pawns)
            && variant.is_pawn(kind)
        {
            return wrong(Error::new(
                format!(
                    "invalid position: {who} has unpromoted {name}s on {place} and {}",
                    square_name(variant, side, other as u8)
                ),
                "expected at most one per file",
            ));
        }
    }
    Ok(())
}

/// Reads the output of [`Game::diagram`], followed by the side to move.
fn read_diagram(game: &Shogi, text: &str) -> Result<Position<Board>, Error> {
    let variant = game.variant();
    let mut rows = Vec::new();
    let (mut hands, mut side) = (String::new(), Side::First);
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    for words in lines.filter(|words| !words.is_empty()) {
        let who = Side::ALL.into_iter().find(|&side| is(words.first(), game.side_name(side)));
        let line = words.join(" ");
        if let [_, held @ ..] = &words[..]
            && is(held.first(), "holds")
        {
            hands += &held_by(game, who, &held[1..].concat(), &line)?;
        } else if let [.., to, word] = &words[..]
            && is(Some(to), "to")
            && is(Some(word), "move")
        {
            side = who.filter(|_| words.len() == 3).ok_or_else(|| unnamed(game, &line))?;
        } else if words.len() == 1 || !words.iter().all(|word| word.parse::<u8>().is_ok()) {
            rows.push(words);
        }
    }
    let mut board = Board::EMPTY;
    check_rows(variant, "invalid board", rows.len())?;
    // No piece has the letter of the first rank.
    let lettered = rows.first().is_some_and(|words| is(words.first(), "a"));
    for (row, words) in rows.iter().enumerate() {
        let what = format!("invalid board line `{}`", words.join(" "));
        let letter = char::from(b'a' + row as u8).to_string();
        if lettered && !is(words.first(), &letter) {
            return wrong(format!("{what}: expected the name {letter} of the rank first"));
        }
        let cells = &words[usize::from(lettered)..];
        read_rank(variant, row, &cells.concat().replace('.', "1"), &what, &mut board)?;
    }
    read_hands(variant, if hands.is_empty() { "-" } else { &hands }, &mut board)?;
    finish(game, board, side)
}

fn unnamed(game: &Shogi, line: &str) -> Error {
    let [first, second] = Side::ALL.map(|side| game.side_name(side));
    Error::from(format!("invalid line `{line}`: expected {first} or {second} first"))
}

/// Returns the pieces that a line of a drawn board names as held; an empty text for `-`.
fn held_by(game: &Shogi, who: Option<Side>, held: &str, line: &str) -> Result<String, Error> {
    let owner = who.ok_or_else(|| unnamed(game, line))?;
    let foreign = |letter: &char| match owner {
        Side::First => letter.is_ascii_lowercase(),
        Side::Second => letter.is_ascii_uppercase(),
    };
    if let Some(letter) = held.chars().find(foreign) {
        let size = if owner == Side::First { "capitals" } else { "small letters" };
        return wrong(format!(
            "invalid line `{line}`: contains `{letter}`, expected {}'s pieces in {size}",
            game.side_name(owner)
        ));
    }
    Ok(if held == "-" { String::new() } else { held.to_string() })
}
