//! Planes: positions as small numbers, one grid of the board for each kind of piece, which networks take as
//! input.
//!
//! Planes are the mover's view, as states are. First come the mover's pieces, one plane for each kind, then
//! the opponent's; a square is 1 where such a piece stands and 0 elsewhere. In games with pieces in hand,
//! planes for the mover's hand and for the opponent's follow, one for each kind, with the number held on
//! every square. Planes of a game that somebody else encoded have numbers of any kind, in any order.

/// Kinds of pieces that have planes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaneKinds {
    /// Kinds of pieces that stand on the board.
    pub pieces: Vec<&'static str>,
    /// Kinds that can be held in hand; none in Othello.
    pub held: Vec<&'static str>,
    /// Names of planes of other kinds, with any numbers; none in built-in games.
    pub others: Vec<String>,
}

impl PlaneKinds {
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
