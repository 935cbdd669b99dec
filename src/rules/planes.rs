//! Planes: positions as small numbers, one grid of the board for each kind of piece, which networks take as
//! input.
//!
//! Planes are the mover's view, as states are. First come the mover's pieces, one plane for each kind, then
//! the opponent's; a square is 1 where such a piece stands and 0 elsewhere. In games with pieces in hand,
//! planes for the mover's hand and for the opponent's follow, one for each kind, with the number held on
//! every square. Planes of a game that somebody else encoded have numbers of any kind, in any order.

use std::fmt;

use super::Side;

/// Kinds of pieces that have planes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaneKinds {
    /// Kinds of pieces that stand on the board.
    pub pieces: Vec<&'static str>,
    /// Kinds that can be held in hand; none in Othello.
    pub held: Vec<&'static str>,
    /// Names of planes of other kinds, with any numbers; none in built-in games.
    pub others: Vec<String>,
    /// OpenSpiel's tensor of the same game, for its layouts.
    pub openspiel: OpenSpielPlanes,
}

impl PlaneKinds {
    /// Returns one kind of piece, and OpenSpiel's planes of the game, the lowest row first if `from_bottom`.
    pub fn one(piece: &'static str, planes: &'static [Plane], from_bottom: bool) -> PlaneKinds {
        let openspiel = OpenSpielPlanes { planes, from_bottom };
        PlaneKinds { pieces: vec![piece], openspiel, ..PlaneKinds::default() }
    }

    /// Returns the number of planes.
    pub fn count(&self) -> usize {
        2 * (self.pieces.len() + self.held.len()) + self.others.len()
    }

    /// Describes the contents of each plane in words.
    pub fn names(&self) -> Vec<String> {
        let of = |place: &'static str, kinds: &[&'static str]| {
            let names = |owner| {
                kinds.iter().map(move |kind| format!("{owner}'s {kind}{place}")).collect::<Vec<_>>()
            };
            [names("mover"), names("opponent")].concat()
        };
        let held = of(" in hand (their number, on every square)", &self.held);
        [of("", &self.pieces), held, self.others.clone()].concat()
    }
}

/// Squares of a position as the mover sees it, as bits `row * columns + column`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Squares<'a> {
    /// The mover's discs.
    pub mover: u64,
    /// The opponent's discs.
    pub opponent: u64,
    /// Squares where the mover may place a disc.
    pub legal: u64,
    /// Side of the mover.
    pub side: Side,
    /// Values of the game's own planes, one plane after the other; empty if [`Plane::Own`] is not used.
    pub own: &'a [f32],
}

/// Contents of one plane: 1 or 0 on every square, except in [`Plane::Signed`] and [`Plane::Own`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plane {
    /// The mover's discs.
    Mover,
    /// The opponent's discs.
    Opponent,
    /// Squares without a disc.
    Empty,
    /// Squares where the mover may place a disc.
    Legal,
    /// 1 for the mover's discs, −1 for the opponent's.
    Signed,
    /// Discs of the player who opens the game.
    Black,
    /// Discs of the other player.
    White,
    /// 1 everywhere if Black is to move.
    BlackToMove,
    /// 1 everywhere.
    Ones,
    /// 0 everywhere.
    Zeros,
    /// Own plane of the game with this index, as written by `export --states`: pieces on the board or in
    /// hand.
    Own(usize),
}

impl Plane {
    const ALL: [(&'static str, Plane); 10] = [
        ("mover", Plane::Mover),
        ("opponent", Plane::Opponent),
        ("empty", Plane::Empty),
        ("legal", Plane::Legal),
        ("signed", Plane::Signed),
        ("black", Plane::Black),
        ("white", Plane::White),
        ("black-to-move", Plane::BlackToMove),
        ("ones", Plane::Ones),
        ("zeros", Plane::Zeros),
    ];

    /// Returns the names of all planes, for messages.
    pub fn names() -> String {
        Plane::ALL.map(|(name, _)| name).join(", ")
    }

    /// Reads a list such as `mover+opponent+legal`; the error is the first invalid name.
    pub fn read_list(text: &str) -> Result<Vec<Plane>, String> {
        let read = |name: &str| {
            let known = Plane::ALL.iter().find(|(known, _)| *known == name);
            known.map(|&(_, plane)| plane).ok_or_else(|| name.to_string())
        };
        text.split('+').map(read).collect()
    }

    /// Returns the squares with 1 in a plane of ones and zeros; `None` for other planes.
    pub(super) fn bits(self, squares: &Squares<'_>) -> Option<u64> {
        let Squares { mover, opponent, legal, side, .. } = *squares;
        let is_first = side == Side::First;
        Some(match self {
            Plane::Mover => mover,
            Plane::Opponent => opponent,
            Plane::Empty => !(mover | opponent),
            Plane::Legal => legal,
            Plane::Black if is_first => mover,
            Plane::Black => opponent,
            Plane::White if is_first => opponent,
            Plane::White => mover,
            Plane::Ones => !0,
            Plane::BlackToMove if is_first => !0,
            Plane::BlackToMove | Plane::Zeros => 0,
            Plane::Signed | Plane::Own(_) => return None,
        })
    }

    /// Writes the number of each square, in order. The kind of plane is matched once, not for each square.
    pub(super) fn write<'o>(
        self,
        squares: &Squares<'_>,
        out: impl ExactSizeIterator<Item = &'o mut f32>,
    ) {
        let Squares { mover, opponent, own, .. } = *squares;
        if let Some(bits) = self.bits(squares) {
            return out.zip(0..).for_each(|(out, square)| *out = bit(bits, square));
        }
        if let Plane::Own(plane) = self {
            let own = &own[plane * out.len()..];
            return out.zip(own).for_each(|(out, &number)| *out = number);
        }
        let sign = |square| bit(mover, square) - bit(opponent, square);
        out.zip(0..).for_each(|(out, square)| *out = sign(square));
    }
}

/// Values of four squares by their four bits.
const FOUR: [[f32; 4]; 16] = {
    let (mut all, mut place) = ([[0.0; 4]; 16], 0);
    while place < 64 {
        let (bits, square) = (place / 4, place % 4);
        all[bits][square] = ((bits >> square) & 1) as f32;
        place += 1;
    }
    all
};

/// Writes the bits of a plane whose squares are adjacent in `out`.
pub(super) fn write_bits(mut bits: u64, out: &mut [f32]) {
    let mut fours = out.chunks_exact_mut(4);
    for four in &mut fours {
        four.copy_from_slice(&FOUR[(bits & 15) as usize]);
        bits >>= 4;
    }
    fours.into_remainder().iter_mut().zip(0..).for_each(|(out, square)| *out = bit(bits, square));
}

fn bit(bits: u64, square: u32) -> f32 {
    (bits >> square & 1) as f32
}

impl fmt::Display for Plane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Plane::ALL.iter().find(|(_, plane)| plane == self);
        match (known, self) {
            (Some((name, _)), _) => f.write_str(name),
            (None, Plane::Own(number)) => write!(f, "{number}"),
            (None, _) => Ok(()),
        }
    }
}

/// Observation tensor of OpenSpiel's game of the same rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenSpielPlanes {
    /// Planes in their order.
    pub planes: &'static [Plane],
    /// `true` if the first row is the lowest.
    pub from_bottom: bool,
}

impl OpenSpielPlanes {
    /// Planes of Othello.
    pub const OTHELLO: OpenSpielPlanes = OpenSpielPlanes {
        planes: &[Plane::Empty, Plane::Mover, Plane::Opponent],
        from_bottom: false,
    };
}

impl Default for OpenSpielPlanes {
    /// Returns those of [Othello](OpenSpielPlanes::OTHELLO).
    fn default() -> OpenSpielPlanes {
        OpenSpielPlanes::OTHELLO
    }
}

/// Writes the squares of the mover and of the opponent as two planes.
pub(super) fn write_squares((mover, opponent): (u64, u64), out: &mut [f32]) {
    let (own, other) = out.split_at_mut(out.len() / 2);
    for (squares, plane) in [(mover, own), (opponent, other)] {
        plane.iter_mut().zip(0..).for_each(|(out, square)| *out = (squares >> square & 1) as f32);
    }
}

/// Reads the squares of two planes of ones and zeros; `None` if they are anything else.
pub(super) fn read_squares(planes: &[f32], count: usize) -> Option<[u64; 2]> {
    let are_bits = planes.iter().all(|&number| number == 0.0 || number == 1.0);
    let bits =
        |plane: &[f32]| plane.iter().zip(0..).map(|(&is_set, at)| (is_set as u64) << at).sum();
    let fits = are_bits && count > 0 && planes.len() == 2 * count;
    fits.then(|| [&planes[..count], &planes[count..]].map(bits))
}
