//! SFEN, USI moves, and boards as text.

use super::Shogi;
use super::board::{Board, Cell, Owner};
use super::keys::ShogiKey;
use super::moves::Move;
use super::variant::{Ending, Variant};
use crate::game::{Game, NotationError, Position, Side};

fn wrong<T>(what: impl Into<String>) -> Result<T, NotationError> {
    Err(NotationError::new(what))
}

/// The name of a square as `side`, to move, sees it: file from the right, rank from the top.
fn square_name(variant: &Variant, side: Side, square: u8) -> String {
    let square = absolute(variant, side, usize::from(square));
    let (row, column) = (square / variant.columns, square % variant.columns);
    format!("{}{}", variant.columns - column, char::from(b'a' + row as u8))
}

/// From a square as `side` sees it to one as the first player does, and back.
fn absolute(variant: &Variant, side: Side, square: usize) -> usize {
    match side {
        Side::First => square,
        Side::Second => variant.squares() - 1 - square,
    }
}

pub(super) fn usi<K: ShogiKey>(game: &Shogi<K>, side: Side, played: Move) -> String {
    let variant = game.variant();
    match played {
        Move::Board { from, to, promotes } => {
            let plus = if promotes { "+" } else { "" };
            let (from, to) = (square_name(variant, side, from), square_name(variant, side, to));
            format!("{from}{to}{plus}")
        }
        Move::Drop { kind, to } => {
            format!(
                "{}*{}",
                variant.kinds[usize::from(kind)].letter,
                square_name(variant, side, to)
            )
        }
    }
}

/// The board as the first player sees it: its owners are Mover for the first player.
fn as_first<K: ShogiKey>(game: &Shogi<K>, position: &Position<Board>) -> Board {
    match position.side {
        Side::First => position.state,
        Side::Second => game.swapped(&position.state),
    }
}

/// A piece as SFEN writes it.
fn sfen_piece(variant: &Variant, owner: Owner, kind: usize) -> String {
    let letter = variant.kinds[kind].letter;
    let letter = if owner == Owner::Mover { letter } else { letter.to_ascii_lowercase() };
    let plus = if variant.is_promoted(kind) { "+" } else { "" };
    format!("{plus}{letter}")
}

/// A hand as SFEN writes it, empty if there is nothing.
fn sfen_hand(variant: &Variant, board: &Board, owner: Owner) -> String {
    let kinds = (1..=variant.hand_kinds()).rev();
    let held = kinds.map(|kind| (kind, board.hands[owner.index()][kind - 1]));
    held.map(|(kind, count)| match count {
        0 => String::new(),
        1 => sfen_piece(variant, owner, kind),
        n => format!("{n}{}", sfen_piece(variant, owner, kind)),
    })
    .collect()
}

pub(super) fn sfen<K: ShogiKey>(game: &Shogi<K>, position: &Position<Board>) -> String {
    let variant = game.variant();
    let board = as_first(game, position);
    let rank = |row: usize| {
        let mut text = String::new();
        let mut empty = 0;
        for column in 0..variant.columns {
            match board.cells[row * variant.columns + column].piece() {
                None => empty += 1,
                Some((owner, kind)) => {
                    if empty > 0 {
                        text += &empty.to_string();
                    }
                    empty = 0;
                    text += &sfen_piece(variant, owner, kind);
                }
            }
        }
        if empty > 0 {
            text += &empty.to_string();
        }
        text
    };
    let ranks: Vec<String> = (0..variant.rows).map(rank).collect();
    let side = if position.side == Side::First { 'b' } else { 'w' };
    let hands = [Owner::Mover, Owner::Opponent].map(|owner| sfen_hand(variant, &board, owner));
    let hands = hands.concat();
    let hands = if hands.is_empty() { "-" } else { &hands };
    format!("{} {side} {hands} 1", ranks.join("/"))
}

/// Reads SFEN; the move number may be missing.
pub(super) fn read_sfen<K: ShogiKey>(
    game: &Shogi<K>,
    text: &str,
) -> Result<Position<Board>, NotationError> {
    let fields: Vec<&str> = text.split_whitespace().collect();
    let (ranks, side, hands) = match fields[..] {
        [ranks, side, hands] | [ranks, side, hands, _] => (ranks, side, hands),
        _ => {
            return wrong(format!(
                "'{text}' is no SFEN: it has a board, b or w, hands and perhaps a number, such as '{}'",
                game.variant().start
            ));
        }
    };
    if let Some(number) = fields.get(3)
        && number.parse::<u32>().is_err()
    {
        return wrong(format!("SFEN '{text}' ends in '{number}' where a move number is wanted"));
    }
    let side = match side {
        "b" => Side::First,
        "w" => Side::Second,
        other => {
            return wrong(format!(
                "SFEN '{text}' gives '{other}' the move; it is b (Black) or w (White)"
            ));
        }
    };
    let mut board = Board::EMPTY;
    read_ranks(game.variant(), ranks, &mut board)?;
    read_hands(game.variant(), hands, &mut board)?;
    finish(game, board, side)
}

fn kind_of_letter(variant: &Variant, letter: char) -> Option<(Owner, usize)> {
    let owner = if letter.is_ascii_uppercase() { Owner::Mover } else { Owner::Opponent };
    let capital = letter.to_ascii_uppercase();
    let kind = variant.kinds.iter().position(|kind| kind.letter == capital)?;
    Some((owner, kind))
}

fn letters(variant: &Variant) -> String {
    let base = variant.kinds.iter().enumerate().filter(|(kind, _)| !variant.is_promoted(*kind));
    base.map(|(_, kind)| kind.letter).collect()
}

fn read_ranks(variant: &Variant, text: &str, board: &mut Board) -> Result<(), NotationError> {
    let ranks: Vec<&str> = text.split('/').collect();
    if ranks.len() != variant.rows {
        return wrong(format!(
            "board '{text}' has {} ranks where {} has {}",
            ranks.len(),
            variant.name,
            variant.rows
        ));
    }
    for (row, rank) in ranks.iter().enumerate() {
        let mut column = 0;
        let mut promoted = false;
        for letter in rank.chars() {
            if let Some(empty) = letter.to_digit(10).filter(|_| !promoted) {
                column += empty as usize;
                continue;
            }
            if letter == '+' && !promoted {
                promoted = true;
                continue;
            }
            let cell = read_piece(variant, letter, promoted).ok_or_else(|| {
                let plus = if promoted { "+" } else { "" };
                NotationError::new(format!(
                    "rank '{rank}' of board '{text}' has '{plus}{letter}', which is no piece of {}; its pieces are {}, a small letter for White, a + before what is promoted",
                    variant.name,
                    letters(variant)
                ))
            })?;
            promoted = false;
            if column < variant.columns {
                board.put(row * variant.columns + column, cell);
            }
            column += 1;
        }
        if column != variant.columns || promoted {
            return wrong(format!(
                "rank '{rank}' of board '{text}' has {column} squares where {} has {}",
                variant.name, variant.columns
            ));
        }
    }
    Ok(())
}

fn read_piece(variant: &Variant, letter: char, promoted: bool) -> Option<Cell> {
    let (owner, kind) = kind_of_letter(variant, letter)?;
    let kind = if promoted { variant.kinds[kind].promotes_to? } else { kind };
    Some(Cell::of(owner, kind))
}

fn read_hands(variant: &Variant, text: &str, board: &mut Board) -> Result<(), NotationError> {
    if text == "-" {
        return Ok(());
    }
    let mut count: Option<u32> = None;
    for letter in text.chars() {
        if let Some(digit) = letter.to_digit(10) {
            count = Some(count.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            continue;
        }
        let held = kind_of_letter(variant, letter).filter(|(_, kind)| *kind > 0);
        let Some((owner, kind)) = held else {
            return wrong(format!(
                "hands '{text}' have '{letter}', which cannot be held in {}; write - for nothing, or pieces such as 2{}",
                variant.name, variant.kinds[1].letter
            ));
        };
        let most = u32::from(variant.copies);
        let count = count.take().unwrap_or(1);
        if count == 0 || count > most {
            return wrong(format!(
                "hands '{text}' have {count} of '{letter}', of which {} has {most}",
                variant.name
            ));
        }
        board.hands[owner.index()][kind - 1] += count as u8;
    }
    match count {
        Some(count) => wrong(format!("hands '{text}' end in {count} without a piece")),
        None => Ok(()),
    }
}

/// Looks whether a board, as the first player sees it, can be a position, and turns it to its mover.
fn finish<K: ShogiKey>(
    game: &Shogi<K>,
    board: Board,
    side: Side,
) -> Result<Position<Board>, NotationError> {
    let variant = game.variant();
    let mut counts = vec![0u32; variant.kinds.len()];
    for (owner, name) in [(Owner::Mover, "Black"), (Owner::Opponent, "White")] {
        let king = Cell::of(owner, 0);
        let kings = board.cells.iter().filter(|&&cell| cell == king).count();
        if kings != 1 {
            let royal = variant.kinds[0].name;
            return wrong(format!("{name} has {kings} {royal}s where each side has one"));
        }
        for kind in 1..=variant.hand_kinds() {
            counts[kind] += u32::from(board.hands[owner.index()][kind - 1]);
        }
    }
    for (_, kind) in board.cells.iter().filter_map(|cell| cell.piece()) {
        counts[variant.kinds[kind].in_hand] += u32::from(kind > 0);
    }
    for (kind, &count) in counts.iter().enumerate() {
        if count > u32::from(variant.copies) {
            return wrong(format!(
                "there are {count} of the {}, on the board and in hand, where {} has {}",
                variant.kinds[kind].name, variant.name, variant.copies
            ));
        }
    }
    let state = match side {
        Side::First => board,
        Side::Second => game.swapped(&board),
    };
    for (state, name) in [(&board, "Black"), (&game.swapped(&board), "White")] {
        check_pawns(game, state, name)?;
    }
    if variant.ending == Ending::Mate && game.moves.in_check(&state, Owner::Opponent) {
        let (waiting, mover) =
            if side == Side::First { ("White", "Black") } else { ("Black", "White") };
        return wrong(format!(
            "{waiting}'s king is attacked and it is {mover}'s move: no game comes to that"
        ));
    }
    Ok(Position { state, side })
}

/// That no piece of the mover stands where it may not have been dropped or moved to.
fn check_pawns<K: ShogiKey>(
    game: &Shogi<K>,
    state: &Board,
    name: &str,
) -> Result<(), NotationError> {
    let variant = game.variant();
    let own = || {
        let cells = state.cells.iter().enumerate();
        cells.filter_map(|(square, cell)| match cell.piece() {
            Some((Owner::Mover, kind)) => Some((square, kind)),
            _ => None,
        })
    };
    for (square, kind) in own() {
        if !variant.drops.immobile && game.moves.is_stuck(kind, square) {
            return wrong(format!(
                "{name} has a {} on the last rank, where it could never move",
                variant.kinds[kind].name
            ));
        }
        let twin = |other: (usize, usize)| {
            other.1 == kind && other.0 > square && game.moves.file_of(square) >> other.0 & 1 == 1
        };
        if !variant.drops.two_pawns && variant.is_pawn(kind) && own().any(twin) {
            return wrong(format!("{name} has two unpromoted pawns on one file"));
        }
    }
    Ok(())
}

/// Reads SFEN, `start`, moves played from `from`, USI's `position` line, or a drawn board.
pub(super) fn parse_position<K: ShogiKey>(
    game: &Shogi<K>,
    text: &str,
    from: &Position<Board>,
) -> Result<Position<Board>, NotationError> {
    let trimmed = text.trim();
    let trimmed = trimmed.strip_prefix("position ").unwrap_or(trimmed).trim();
    if trimmed.lines().count() > 1 {
        return read_diagram(game, trimmed);
    }
    let (place, moves) = match trimmed.split_once("moves") {
        Some((place, moves)) => (place.trim(), moves),
        None if trimmed.contains('/') || trimmed == "start" || trimmed == "startpos" => {
            (trimmed, "")
        }
        None => ("", trimmed),
    };
    let place = place.strip_prefix("sfen ").unwrap_or(place);
    let mut position = match place {
        "" => *from,
        "start" | "startpos" => game.start(),
        sfen => read_sfen(game, sfen)?,
    };
    for (i, name) in moves.split_whitespace().enumerate() {
        position = play_named(game, &position, name).ok_or_else(|| {
            NotationError::new(format!(
                "'{name}' (move {} of '{}') is no legal move of {}; moves are written {}, positions in SFEN such as '{}'",
                i + 1,
                moves.trim(),
                sfen(game, &position),
                examples(game.variant()),
                game.variant().start
            ))
        })?;
    }
    Ok(position)
}

fn examples(variant: &Variant) -> String {
    let drop = format!("{}*2b", variant.kinds[1].letter);
    match variant.promotion {
        super::Promotion::Chosen => format!("1e1d, 1e1a+ or {drop}"),
        super::Promotion::Forced => format!("2c2b or {drop}"),
    }
}

fn play_named<K: ShogiKey>(
    game: &Shogi<K>,
    position: &Position<Board>,
    name: &str,
) -> Option<Position<Board>> {
    // Where promotion is forced the + may be left out.
    let forced = game.variant().promotion == super::Promotion::Forced;
    let also = if forced { format!("{name}+") } else { name.to_string() };
    let mut found = None;
    game.for_each_action(&position.state, |action| {
        let own = game.action_name(position.side, action);
        if own.eq_ignore_ascii_case(name) || own.eq_ignore_ascii_case(&also) {
            found = Some(action);
        }
    });
    found.map(|action| game.advance(position, action))
}

pub(super) fn diagram<K: ShogiKey>(game: &Shogi<K>, position: &Position<Board>) -> String {
    let variant = game.variant();
    let name = |cell: Cell| match cell.piece() {
        None => " .".to_string(),
        Some((owner, kind)) => format!("{:>2}", sfen_piece(variant, owner, kind)),
    };
    let held = |board: &Board, owner| match sfen_hand(variant, board, owner) {
        hand if hand.is_empty() => "-".to_string(),
        hand => hand,
    };
    drawn(game, position, |column| format!("{column:>2}"), name, held)
}

/// The board with Japanese names; White's pieces, which stand upside down, are marked with a v.
pub(super) fn diagram_japanese<K: ShogiKey>(game: &Shogi<K>, position: &Position<Board>) -> String {
    let variant = game.variant();
    let name = |cell: Cell| match cell.piece() {
        None => " ・".to_string(),
        Some((Owner::Mover, kind)) => format!(" {}", variant.kinds[kind].japanese),
        Some((Owner::Opponent, kind)) => format!("v{}", variant.kinds[kind].japanese),
    };
    let held = |board: &Board, owner: Owner| {
        let kinds = (1..=variant.hand_kinds()).rev();
        let held = kinds.map(|kind| (kind, usize::from(board.hands[owner.index()][kind - 1])));
        let text: String =
            held.map(|(kind, n)| variant.kinds[kind].japanese.to_string().repeat(n)).collect();
        if text.is_empty() { "なし".to_string() } else { text }
    };
    // Full-width digits are as wide as the pieces.
    let heading = |column: usize| {
        let digit = char::from_u32('０' as u32 + column as u32).unwrap_or(' ');
        format!(" {digit}")
    };
    drawn(game, position, heading, name, held)
}

fn drawn<K: ShogiKey>(
    game: &Shogi<K>,
    position: &Position<Board>,
    heading: impl Fn(usize) -> String,
    name: impl Fn(Cell) -> String,
    held: impl Fn(&Board, Owner) -> String,
) -> String {
    let variant = game.variant();
    let board = as_first(game, position);
    let mut text = format!("White holds {}\n ", held(&board, Owner::Opponent));
    for column in (1..=variant.columns).rev() {
        text += &format!(" {}", heading(column));
    }
    text += "\n";
    for (row, cells) in board.cells[..variant.squares()].chunks(variant.columns).enumerate() {
        text.push(char::from(b'a' + row as u8));
        for &cell in cells {
            text += &format!(" {}", name(cell));
        }
        text += "\n";
    }
    text + &format!("Black holds {}\n", held(&board, Owner::Mover))
}

/// Reads what [`diagram`] writes, followed by whose move it is.
fn read_diagram<K: ShogiKey>(
    game: &Shogi<K>,
    text: &str,
) -> Result<Position<Board>, NotationError> {
    let variant = game.variant();
    let mut ranks = Vec::new();
    let (mut hands, mut side) = (String::new(), Side::First);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["White" | "Black", "holds", "-"] => {}
            ["White" | "Black", "holds", held] => hands += held,
            ["Black", "to", "move"] => side = Side::First,
            ["White", "to", "move"] => side = Side::Second,
            [file, ..] if file.parse::<usize>().is_ok() => {}
            [rank, ref cells @ ..] if rank.len() == 1 && !cells.is_empty() => {
                ranks.push(cells.iter().map(|cell| cell.replace('.', "1")).collect::<String>());
            }
            _ => {
                return wrong(format!(
                    "line '{line}' is no part of a board; give SFEN such as '{}'",
                    variant.start
                ));
            }
        }
    }
    let mut board = Board::EMPTY;
    read_ranks(variant, &ranks.join("/"), &mut board)?;
    read_hands(variant, if hands.is_empty() { "-" } else { &hands }, &mut board)?;
    finish(game, board, side)
}
