//! Positions as planes of small numbers: one grid of the board for every kind of piece, which is
//! how networks see them.
//!
//! Planes are the mover's view, as states are. First come the mover's pieces, a plane a kind, then
//! the opponent's; a square's number is 1 where such a piece stands and 0 elsewhere. In games with
//! pieces in hand there follow the mover's hand and the opponent's, a plane a kind, the whole of
//! which is filled with how many are held.

/// The kinds of pieces that have [`Planes`](super::Planes).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaneKinds {
    /// The kinds of pieces that stand on the board.
    pub pieces: Vec<&'static str>,
    /// The kinds that can be held in hand; none in Othello.
    pub held: Vec<&'static str>,
}

impl PlaneKinds {
    /// How many planes there are.
    pub fn count(&self) -> usize {
        2 * (self.pieces.len() + self.held.len())
    }

    /// What each plane holds, in words.
    pub fn names(&self) -> Vec<String> {
        let of = |place: &'static str, kinds: &[&'static str]| {
            let names = |owner| {
                kinds.iter().map(move |kind| format!("{owner}'s {kind}{place}")).collect::<Vec<_>>()
            };
            [names("mover"), names("opponent")].concat()
        };
        [of("", &self.pieces), of(" in hand (how many, on every square)", &self.held)].concat()
    }
}
