//! Time for a move.

use std::time::Duration;

/// Time that is kept back from a move, so that its answer is never late.
const MARGIN: Duration = Duration::from_millis(30);
/// Moves of a game whose length is unknown.
pub(super) const MOVES: u32 = 30;

/// Time of one player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    /// Time for the rest of the game, or of its `moves`.
    pub left: Duration,
    /// Time that each move adds.
    pub increment: Duration,
    /// Time for each move once the rest is used up.
    pub byoyomi: Duration,
    /// Moves that `left` is for; `None` for all.
    pub moves: Option<u32>,
}

impl Clock {
    /// Returns the time for a move, of which at most `moves` are to come.
    pub(super) fn for_a_move(&self, moves: u32) -> Duration {
        let moves = self.moves.unwrap_or(moves).max(1);
        let share = self.left / moves + self.increment * 4 / 5 + self.byoyomi;
        within(share.min(self.left + self.byoyomi))
    }
}

/// Returns the time to think if the answer must come within `time`.
pub(super) fn within(time: Duration) -> Duration {
    time.saturating_sub(MARGIN.min(time / 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_takes_its_share_and_never_more_than_is_left() {
        let [second, minute] = [1, 60].map(Duration::from_secs);
        let time = |clock: Clock| clock.for_a_move(30);
        let of = |left, byoyomi, increment| Clock { left, byoyomi, increment, moves: None };
        let none = Duration::ZERO;
        assert_eq!(time(of(minute, none, none)), 2 * second - MARGIN);
        assert_eq!(time(of(none, second, none)), second - MARGIN);
        assert_eq!(time(of(minute, second, none)), 3 * second - MARGIN);
        assert!(time(of(second, none, minute)) < second);
        let canadian = Clock { left: minute, moves: Some(10), ..Clock::default() };
        assert_eq!(time(canadian), 6 * second - MARGIN);
        let hurry = Duration::from_millis(8);
        assert_eq!(time(of(none, hurry, none)), Duration::from_millis(6));
        assert_eq!(time(Clock::default()), none);
    }
}
