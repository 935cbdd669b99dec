//! What the mover may look forward to, and the bounds of it.

use bytemuck::{Pod, Zeroable};

use crate::game::Outcome;

/// An outcome and the plies to it in one ordered number: the higher, the better for the mover.
///
/// A win in `d` plies is `30000 − d` and a loss in `d` plies `−30000 + d`, so that the winner hurries
/// and the loser delays. A draw is 0. A win by play without end, where that counts as one, is +1:
/// worse than every win that ends and better than a draw; the loss by it is −1. Draws have no
/// distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Prospect(i16);

/// What a win in 0 plies would be.
const END: i16 = 30_000;

impl Prospect {
    /// The longest distance there is, in plies; ends further off are taken to be this far.
    pub const MAX_DISTANCE: u16 = END as u16 - 2;
    /// Neither wins.
    pub const DRAW: Prospect = Prospect(0);
    /// The mover wins, but no end can be forced.
    pub const ENDLESS_WIN: Prospect = Prospect(1);
    /// The mover loses, but no end can be forced.
    pub const ENDLESS_LOSS: Prospect = Prospect(-1);

    pub(super) const BEST: Prospect = Prospect(i16::MAX);

    /// The mover wins in so many plies.
    pub const fn win(plies: u16) -> Prospect {
        let plies = if plies > Self::MAX_DISTANCE { Self::MAX_DISTANCE } else { plies };
        Prospect(END - plies as i16)
    }

    /// The mover loses in so many plies.
    pub const fn loss(plies: u16) -> Prospect {
        Prospect(-Self::win(plies).0)
    }

    /// A game that ends so in so many plies; a draw does not keep them.
    pub fn of_end(outcome: Outcome, plies: u16) -> Prospect {
        match outcome {
            Outcome::Win => Prospect::win(plies),
            Outcome::Draw => Prospect::DRAW,
            Outcome::Loss => Prospect::loss(plies),
        }
    }

    /// The prospect with a [`rank`](Prospect::rank).
    pub fn from_rank(rank: i16) -> Prospect {
        Prospect(rank)
    }

    /// The number that orders prospects, as stored.
    pub fn rank(self) -> i16 {
        self.0
    }

    /// Who wins: the sign.
    pub fn outcome(self) -> Outcome {
        Outcome::of(self.0.signum() as i8)
    }

    /// Whether it is a win or a loss in a known number of plies.
    #[inline]
    pub fn is_end(self) -> bool {
        self.0.unsigned_abs() > 1
    }

    /// Plies to the win or loss; `None` for draws and play without end.
    #[inline]
    pub fn distance(self) -> Option<u16> {
        self.is_end().then(|| END as u16 - self.0.unsigned_abs())
    }

    /// What a move to a state with this prospect is worth to the one who moves there: the sign
    /// turns, and an end is one ply further. Never rises where the prospect rises.
    #[inline]
    pub fn before(self) -> Prospect {
        let rank = self.0;
        Prospect(match rank {
            3.. => 1 - rank,
            ..-2 => -1 - rank,
            // Without an end there is nothing to put off, and the furthest end stays where it is.
            _ => -rank,
        })
    }
}

/// Proven bounds of a state's [`Prospect`], both its mover's: it is at least `lower` and at most
/// `upper`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Interval {
    /// What the mover gets if all that is not known turns out badly.
    pub lower: Prospect,
    /// What the mover gets if all that is not known turns out well.
    pub upper: Prospect,
}

impl Interval {
    /// Both bounds the same.
    pub const fn exactly(prospect: Prospect) -> Interval {
        Interval { lower: prospect, upper: prospect }
    }

    /// The outcome, if it is proven.
    pub fn outcome(self) -> Option<Outcome> {
        let (lower, upper) = (self.lower.outcome(), self.upper.outcome());
        (lower == upper).then_some(lower)
    }

    /// Plies to the win or loss, if they are known exactly.
    pub fn distance(self) -> Option<u16> {
        (self.lower == self.upper).then_some(self.lower)?.distance()
    }

    /// The fewest plies to a proven win or loss; `None` if nothing is proven to end.
    pub fn distance_lower(self) -> Option<u16> {
        match self.outcome()? {
            Outcome::Win => self.upper.distance(),
            Outcome::Draw => None,
            Outcome::Loss => self.lower.distance(),
        }
    }

    /// The most plies to a proven win or loss; `None` if it may be without end.
    pub fn distance_upper(self) -> Option<u16> {
        match self.outcome()? {
            Outcome::Win => self.lower.distance(),
            Outcome::Draw => None,
            Outcome::Loss => self.upper.distance(),
        }
    }

    /// What a move to a state with these bounds is worth to the one who moves there.
    pub fn before(self) -> Interval {
        Interval { lower: self.upper.before(), upper: self.lower.before() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: u16 = Prospect::MAX_DISTANCE;

    #[test]
    fn prospects_keep_outcome_and_distance() {
        for plies in 0..=LAST {
            let (win, loss) = (Prospect::win(plies), Prospect::loss(plies));
            assert_eq!((win.outcome(), win.distance()), (Outcome::Win, Some(plies)));
            assert_eq!((loss.outcome(), loss.distance()), (Outcome::Loss, Some(plies)));
        }
        for endless in [Prospect::ENDLESS_LOSS, Prospect::DRAW, Prospect::ENDLESS_WIN] {
            assert_eq!(endless.distance(), None);
        }
        assert_eq!(Prospect::win(u16::MAX), Prospect::win(LAST));
    }

    #[test]
    fn better_prospects_are_higher() {
        let order = [
            Prospect::loss(0),
            Prospect::loss(LAST),
            Prospect::ENDLESS_LOSS,
            Prospect::DRAW,
            Prospect::ENDLESS_WIN,
            Prospect::win(LAST),
            Prospect::win(0),
            Prospect::BEST,
        ];
        assert!(order.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_move_turns_the_sign_and_puts_the_end_off() {
        for plies in 0..LAST {
            assert_eq!(Prospect::win(plies).before(), Prospect::loss(plies + 1));
            assert_eq!(Prospect::loss(plies).before(), Prospect::win(plies + 1));
        }
        assert_eq!(Prospect::win(LAST).before(), Prospect::loss(LAST));
        assert_eq!(Prospect::loss(LAST).before(), Prospect::win(LAST));
        assert_eq!(Prospect::DRAW.before(), Prospect::DRAW);
        assert_eq!(Prospect::ENDLESS_WIN.before(), Prospect::ENDLESS_LOSS);
        let all: Vec<_> = (-END..=END).map(|rank| Prospect(rank).before()).collect();
        assert!(all.is_sorted_by(|a, b| a >= b), "the better for one, the worse for the other");
    }

    #[test]
    fn distances_are_bounded_where_the_outcome_is_proven() {
        let between = |lower, upper| Interval { lower, upper };
        let bounds = |i: Interval| (i.outcome(), i.distance_lower(), i.distance_upper());
        let win = between(Prospect::win(9), Prospect::win(3));
        assert_eq!(bounds(win), (Some(Outcome::Win), Some(3), Some(9)));
        assert_eq!(win.distance(), None);
        assert_eq!(bounds(win.before()), (Some(Outcome::Loss), Some(4), Some(10)));
        let late = between(Prospect::ENDLESS_WIN, Prospect::win(5));
        assert_eq!(bounds(late), (Some(Outcome::Win), Some(5), None));
        assert_eq!(bounds(late.before()), (Some(Outcome::Loss), Some(6), None));
        assert_eq!(bounds(between(Prospect::DRAW, Prospect::win(5))), (None, None, None));
        assert_eq!(Interval::exactly(Prospect::loss(8)).distance(), Some(8));
        let draw = Interval::exactly(Prospect::DRAW);
        assert_eq!((bounds(draw), draw.distance()), ((Some(Outcome::Draw), None, None), None));
    }
}
