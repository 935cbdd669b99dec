//! Contents of a board, square by square, for drawing it.
//!
//! Squares are numbered row by row from the top left as the first player sees the board, whichever side is to
//! move: the numbers are the same for both sides, unlike those of actions.

use std::collections::BTreeMap;

use crate::rules::{Game, Position, Side};

/// Position, ready to be drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Drawn {
    /// Content of each square, empty if there is no piece: `X` and `O` in games with one kind of piece,
    /// otherwise the piece in SFEN (`K`, `+p`; lower case for the second player). Empty in games without a
    /// board of squares.
    pub cells: Vec<String>,
    /// Pieces in hand of the first and of the second player.
    pub hands: [Vec<Held>; 2],
}

/// Pieces of one kind in hand.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Held {
    /// Piece as on the board.
    pub piece: String,
    /// Number of pieces.
    pub count: u8,
}

/// Kind of piece.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PieceKind {
    /// First player's piece as in [`Drawn::cells`].
    pub piece: String,
    /// English name.
    pub name: &'static str,
    /// Japanese name, in one character.
    pub japanese: Option<char>,
}

/// Board of a game without a position on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BoardLayout {
    /// Rows of the board; 0 in games without one.
    pub rows: usize,
    /// Columns of the board.
    pub columns: usize,
    /// Names of the columns from the left, as the first player sees the board.
    pub column_names: Vec<String>,
    /// Names of the rows from the top.
    pub row_names: Vec<String>,
    /// Distinct kinds of pieces; empty if there is only one.
    pub pieces: Vec<PieceKind>,
    /// Marks that stand for the pieces of the two sides where there is one kind, if the game names any.
    pub marks: Option<[&'static str; 2]>,
}

/// Squares of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MoveSquares {
    /// Square that the piece leaves; `None` if it is placed from off the board.
    pub from: Option<u16>,
    /// Square that the piece reaches; `None` for a pass.
    pub to: Option<u16>,
}

/// Returns the squares as rows of text with coordinates, between the two hands in games with hands, and a sign behind
/// some squares. Without squares, returns the state as Rust prints it.
pub(super) fn diagram<G: Game>(
    game: &G,
    position: &Position<G::State>,
    signs: &[(u16, char)],
) -> String {
    let drawn = game.drawn(position);
    if drawn.cells.is_empty() {
        return format!("{:?}", position.state);
    }
    let width = game.piece_kinds().iter().map(|kind| kind.piece.len()).max().unwrap_or(1);
    let column = |name: &str| format!("{name:>width$}");
    // In a game with one kind of piece, X and O stand for the two sides.
    let marks = game.side_marks().filter(|_| game.piece_kinds().is_empty());
    let cell = |piece: &str| match (piece, marks) {
        ("", _) => column("."),
        ("X", Some([first, _])) => column(first),
        ("O", Some([_, second])) => column(second),
        _ => column(piece),
    };
    let held = |held: &Held| match held.count {
        1 => held.piece.clone(),
        n => format!("{n}{}", held.piece),
    };
    laid_out(game, &drawn, signs, column, cell, (held, "-"))
}

/// Returns the [`diagram`] with Japanese names, if the kinds have them. A `v` marks the second player's
/// pieces, which in print are upside down.
pub(super) fn diagram_japanese<G: Game>(game: &G, position: &Position<G::State>) -> Option<String> {
    let kinds = game.piece_kinds();
    kinds.first()?.japanese?;
    let name = |piece: &str| {
        let kind = kinds.iter().find(|kind| kind.piece.eq_ignore_ascii_case(piece));
        kind.and_then(|kind| kind.japanese).unwrap_or('・')
    };
    // Full-width digits are as wide as the pieces.
    let wide = |digit: char| digit.to_digit(10).and_then(|n| char::from_u32('０' as u32 + n));
    let column = |name: &str| format!(" {}", name.chars().filter_map(wide).collect::<String>());
    let cell = |piece: &str| {
        let mark = if piece.contains(|c: char| c.is_ascii_lowercase()) { 'v' } else { ' ' };
        format!("{mark}{}", name(piece))
    };
    let held = |held: &Held| name(&held.piece).to_string().repeat(held.count.into());
    Some(laid_out(game, &game.drawn(position), &[], column, cell, (held, "なし")))
}

fn laid_out<G: Game>(
    game: &G,
    drawn: &Drawn,
    signs: &[(u16, char)],
    heading: impl Fn(&str) -> String,
    cell: impl Fn(&str) -> String,
    (held, nothing): (impl Fn(&Held) -> String, &str),
) -> String {
    let [columns, rows] = game.coordinates();
    let mut text = format!(
        " {}",
        columns.iter().map(|name| format!(" {}", heading(name))).collect::<String>()
    );
    let signs: BTreeMap<u16, char> = signs.iter().copied().collect();
    let width = columns.len();
    for (at, piece) in (0u16..).zip(&drawn.cells) {
        if usize::from(at) % width == 0 {
            text += &format!("\n{}", rows[usize::from(at) / width]);
        }
        // The sign of a square stands in the gap behind it.
        let gap = signs.get(&(at.wrapping_sub(1))).filter(|_| usize::from(at) % width > 0);
        text += &format!("{}{}", gap.unwrap_or(&' '), cell(piece));
        if usize::from(at) % width == width - 1 {
            text.extend(signs.get(&at));
        }
    }
    if game.plane_kinds().held.is_empty() {
        return text;
    }
    let [black, white] = [Side::First, Side::Second].map(|side| {
        let hand: String = drawn.hands[side.index()].iter().map(&held).collect();
        format!("{} holds {}", game.side_name(side), if hand.is_empty() { nothing } else { &hand })
    });
    format!("{white}\n{text}\n{black}\n")
}

/// Returns the contents of the squares in a game with one kind of piece.
pub(super) fn by_squares<G: Game>(game: &G, position: &Position<G::State>) -> Drawn {
    let Some((own, other)) = game.squares(&position.state) else { return Drawn::default() };
    let (first, second) = match position.side {
        Side::First => (own, other),
        Side::Second => (other, own),
    };
    let (rows, columns) = game.shape();
    let cell = |square: usize| match (first >> square & 1, second >> square & 1) {
        (1, _) => "X",
        (_, 1) => "O",
        _ => "",
    };
    Drawn {
        cells: (0..rows * columns).map(|square| cell(square).to_string()).collect(),
        hands: Default::default(),
    }
}
