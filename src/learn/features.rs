//! Positions of Othello as the numbers a network is given.

use serde::{Deserialize, Serialize};

use crate::game::{Game, Position, Side};

/// How a position of Othello is laid out, for a board of S squares. Squares go row by row from a1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// 2 S: 1 where the mover has a disc, then 1 where the opponent has one; as planes they are
    /// two.
    Planes,
    /// 3 S: three numbers a square, 1 for the one of own, opponent's or empty that it is.
    Ternary,
    /// S: 1 the mover's disc, −1 the opponent's, 0 empty.
    Signed,
    /// 2 S + 2: black discs, 1 if Black is to move, white discs, 1 if White is to move (the thesis
    /// of 2002).
    Colours,
}

impl Features {
    /// How many numbers a position takes on a board of so many squares.
    pub fn width(self, squares: usize) -> usize {
        match self {
            Features::Planes => 2 * squares,
            Features::Ternary => 3 * squares,
            Features::Signed => squares,
            Features::Colours => 2 * squares + 2,
        }
    }

    /// Adds a position's numbers to `out`.
    pub fn push<G: Game>(self, game: &G, position: &Position<G::State>, out: &mut Vec<f32>) {
        let squares = game.action_count() - 1;
        let (own, other) = game.squares(&position.state).unwrap_or_default();
        if self != Features::Colours {
            return self.push_board(squares, own, other, out);
        }
        let at = out.len();
        out.resize(at + self.width(squares), 0.0);
        let out = &mut out[at..];
        let (black, white, turn) = match position.side {
            Side::First => (own, other, squares),
            Side::Second => (other, own, 2 * squares + 1),
        };
        each(black, |square| out[square] = 1.0);
        each(white, |square| out[squares + 1 + square] = 1.0);
        out[turn] = 1.0;
    }

    /// The numbers of many positions, one after the other.
    pub fn of<'a, G: Game>(
        self,
        game: &G,
        positions: impl IntoIterator<Item = &'a Position<<G as Game>::State>>,
    ) -> Vec<f32>
    where
        G::State: 'a,
    {
        let mut out = Vec::new();
        positions.into_iter().for_each(|position| self.push(game, position, &mut out));
        out
    }
}

impl Features {
    /// The numbers of boards, given as the squares of the mover and of the opponent.
    ///
    /// # Panics
    ///
    /// For [`Features::Colours`], which a board alone does not tell.
    pub fn of_boards(self, boards: &[[u64; 2]], squares: usize) -> Vec<f32> {
        let mut out = Vec::with_capacity(boards.len() * self.width(squares));
        boards.iter().for_each(|&[own, other]| self.push_board(squares, own, other, &mut out));
        out
    }

    fn push_board(self, squares: usize, own: u64, other: u64, out: &mut Vec<f32>) {
        let at = out.len();
        out.resize(at + self.width(squares), 0.0);
        let out = &mut out[at..];
        match self {
            Features::Planes => {
                each(own, |square| out[square] = 1.0);
                each(other, |square| out[squares + square] = 1.0);
            }
            Features::Ternary => {
                let empty = !(own | other) & (!0 >> (64 - squares));
                for (kind, bits) in [own, other, empty].into_iter().enumerate() {
                    each(bits, |square| out[3 * square + kind] = 1.0);
                }
            }
            Features::Signed => {
                each(own, |square| out[square] = 1.0);
                each(other, |square| out[square] = -1.0);
            }
            Features::Colours => unreachable!("a board does not tell whose discs are black"),
        }
    }
}

fn each(bits: u64, mut set: impl FnMut(usize)) {
    let mut rest = bits;
    while rest != 0 {
        set(rest.trailing_zeros() as usize);
        rest &= rest - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::othello::Othello;

    #[test]
    fn every_layout_says_the_same_of_a_position() {
        let game = Othello::<u64>::new(4, 4, true);
        let start = game.start();
        let second = game.advance(&start, game.actions(&start.state)[0]);
        for position in [start, second] {
            let (own, other) = game.squares(&position.state).unwrap_or_default();
            let planes = Features::Planes.of(&game, [&position]);
            let ternary = Features::Ternary.of(&game, [&position]);
            let signed = Features::Signed.of(&game, [&position]);
            let colours = Features::Colours.of(&game, [&position]);
            let black = position.side == Side::First;
            for square in 0..16 {
                let has = |bits: u64| f32::from(bits >> square & 1 == 1);
                let (mine, theirs) = (has(own), has(other));
                assert_eq!((planes[square], planes[16 + square]), (mine, theirs));
                let three = [mine, theirs, 1.0 - mine - theirs];
                assert_eq!(ternary[3 * square..3 * square + 3], three);
                assert_eq!(signed[square], mine - theirs);
                let seen = (colours[square], colours[17 + square]);
                assert_eq!(seen, if black { (mine, theirs) } else { (theirs, mine) });
            }
            assert_eq!((colours[16], colours[33]), if black { (1.0, 0.0) } else { (0.0, 1.0) });
            let all = [Features::Planes, Features::Ternary, Features::Signed, Features::Colours];
            let widths = [planes.len(), ternary.len(), signed.len(), colours.len()];
            assert_eq!(all.map(|features| features.width(16)), widths);
        }
    }
}
