//! What stands on a board, square by square, for whoever draws it.
//!
//! Squares are numbered row by row from the top left as the first player sees the board, whoever is
//! to move: the same numbers for both sides, unlike those of actions.

use super::{Game, Position, Side};

/// A position, ready to be drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Drawn {
    /// What stands on each square, empty where nothing does: `X` and `O` in games of one kind of
    /// piece, else as SFEN writes a piece (`K`, `+p`; the second player's are small). Empty in games
    /// without a board of squares.
    pub cells: Vec<String>,
    /// What the first and the second player hold.
    pub hands: [Vec<Held>; 2],
}

/// Pieces of a kind in hand.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Held {
    /// The piece as on the board.
    pub piece: String,
    /// How many of them.
    pub count: u8,
}

/// A kind of piece.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PieceKind {
    /// How the first player's stands in [`Drawn::cells`].
    pub piece: String,
    /// What it is called.
    pub name: &'static str,
    /// Its Japanese name, in one character.
    pub japanese: Option<char>,
}

/// The squares of a move: from where, `None` of what is put on the board, and to where, `None` of a
/// pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct MoveSquares {
    /// Where the piece stood.
    pub from: Option<u16>,
    /// Where it stands after it.
    pub to: Option<u16>,
}

/// Lays out what stands on each square as rows of text with coordinates, without a line break at the
/// end; where the game has no squares the state as Rust prints it.
pub(super) fn diagram<G: Game>(game: &G, position: &Position<G::State>) -> String {
    let cells = game.drawn(position).cells;
    if cells.is_empty() {
        return format!("{:?}", position.state);
    }
    let [columns, rows] = game.coordinates();
    let mut text = format!("  {}", columns.join(" "));
    for (row, cells) in rows.iter().zip(cells.chunks(columns.len())) {
        let signs = cells.iter().map(|cell| if cell.is_empty() { "." } else { cell });
        text += &format!("\n{row} {}", signs.collect::<Vec<_>>().join(" "));
    }
    text
}

/// The pieces of one kind that a game says each player's squares of.
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
