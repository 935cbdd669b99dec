//! Positions and moves as text: SFEN, USI moves, and drawn boards. [`reading`](super::reading) parses them.

use super::Shogi;
use super::board::{Board, Cell, Owner};
use super::moves::Move;
use super::variant::{Kind, Variant};
use crate::rules::{Drawn, Held, PieceKind, Position, Side};

/// Returns the name of a square as numbered for the mover `side`: file from the right, rank from the top.
pub(super) fn square_name(variant: &Variant, side: Side, square: u8) -> String {
    let square = absolute(variant, side, usize::from(square));
    let (row, column) = (square / variant.columns, square % variant.columns);
    format!("{}{}", variant.columns - column, char::from(b'a' + row as u8))
}

/// Converts a square between the views of `side` and of the first player.
pub(super) fn absolute(variant: &Variant, side: Side, square: usize) -> usize {
    match side {
        Side::First => square,
        Side::Second => variant.squares() - 1 - square,
    }
}

pub(super) fn usi(game: &Shogi, side: Side, played: Move) -> String {
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

/// Returns the board as the first player sees it, with the first player as [`Owner::Mover`].
fn as_first(game: &Shogi, position: &Position<Board>) -> Board {
    match position.side {
        Side::First => position.state,
        Side::Second => position.state.turned(game.squares()),
    }
}

/// Returns the letter of a kind in SFEN, a capital, with `+` before that of a promoted one.
pub(super) fn sfen_letter(variant: &Variant, kind: usize) -> String {
    sfen_piece(variant, Owner::Mover, kind)
}

/// Returns a piece in SFEN.
fn sfen_piece(variant: &Variant, owner: Owner, kind: usize) -> String {
    let letter = variant.kinds[kind].letter;
    let letter = if owner == Owner::Mover { letter } else { letter.to_ascii_lowercase() };
    let plus = if variant.is_promoted(kind) { "+" } else { "" };
    format!("{plus}{letter}")
}

/// Returns a hand in SFEN; an empty text for an empty hand.
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

pub(super) fn sfen(game: &Shogi, position: &Position<Board>) -> String {
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

pub(super) fn drawn_cells(game: &Shogi, position: &Position<Board>) -> Drawn {
    let variant = game.variant();
    let board = as_first(game, position);
    let name = |cell: &Cell| match cell.piece() {
        None => String::new(),
        Some((owner, kind)) => sfen_piece(variant, owner, kind),
    };
    let held = |owner: Owner| {
        let kinds = (1..=variant.hand_kinds()).rev();
        let held = kinds.map(|kind| Held {
            piece: sfen_piece(variant, owner, kind),
            count: board.hands[owner.index()][kind - 1],
        });
        held.filter(|held| held.count > 0).collect()
    };
    Drawn {
        cells: board.cells[..variant.squares()].iter().map(name).collect(),
        hands: [held(Owner::Mover), held(Owner::Opponent)],
    }
}

pub(super) fn piece_kinds(variant: &Variant) -> Vec<PieceKind> {
    let kind = |(kind, of): (usize, &Kind)| PieceKind {
        piece: sfen_piece(variant, Owner::Mover, kind),
        name: of.name,
        japanese: Some(of.japanese),
    };
    variant.kinds.iter().enumerate().map(kind).collect()
}
