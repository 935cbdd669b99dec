//! Games that may go round in circles, and what it counts for if they never end.

use super::{Game, Outcome, Position};

/// A game whose moves may lead back: its values are outcomes and distances, it has no score.
pub trait Cyclic: Game {
    /// How the game has ended for the mover; `None` while it goes on. A state has an end exactly
    /// when it has no action.
    fn end(&self, state: &Self::State) -> Option<End>;

    /// Why the game has ended, in words such as `Black is mated`; `None` while it goes on.
    fn end_in_words(&self, position: &Position<Self::State>) -> Option<String>;

    /// Whether the mover's king is attacked.
    fn in_check(&self, state: &Self::State) -> bool;

    /// Whether a table tells apart whose move it is in a state, because the convention for infinite
    /// play does.
    fn keeps_sides(&self) -> bool;

    /// What infinite play counts for unless told otherwise.
    fn repetition(&self) -> Repetition;

    /// The canonical key of a position, with the side to move in it where the game keeps sides.
    fn position_key(&self, position: &Position<Self::State>) -> Self::Key;

    /// The canonical position of a key; the first player's where sides are not kept. `None` if no
    /// position has it.
    fn position_of(&self, key: Self::Key) -> Option<Position<Self::State>>;

    /// What the arrays and values of a table mean, in words, by name; and what they leave out.
    fn conventions(&self) -> Vec<(&'static str, String)>;

    /// How many ranks there are, where the game numbers its states without gaps; every state that
    /// can be reached from the start then has one.
    fn rank_count(&self) -> Option<u32>;

    /// The rank of a state, the same for its mirror image; `None` if it has none.
    fn rank(&self, state: &Self::State) -> Option<u32>;

    /// The state of a rank; `None` if there are not so many.
    fn unrank(&self, rank: u32) -> Option<Self::State>;

    /// Calls `visit` with every state from which some move (the capture of a king left out) leads
    /// here, each as its own mover sees it. Whether the game is over there, and whether it can be
    /// reached, is not asked.
    fn for_each_predecessor(&self, state: &Self::State, visit: impl FnMut(Self::State));
}

/// The end of a game, for the mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct End {
    /// Who has won.
    pub outcome: Outcome,
    /// Plies that still belong to the game: 1 where the capture of the king is known but not played.
    pub plies: u16,
}

/// What infinite play is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repetition {
    /// Neither wins.
    Draw,
    /// The first player has failed to win.
    SecondPlayerWins,
    /// Nothing is said of it: values that hang on it are not known.
    Unknown,
}

impl Repetition {
    /// All of them.
    pub const ALL: [Repetition; 3] =
        [Repetition::Draw, Repetition::SecondPlayerWins, Repetition::Unknown];

    /// `draw`, `second-player-wins` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Repetition::Draw => "draw",
            Repetition::SecondPlayerWins => "second-player-wins",
            Repetition::Unknown => "unknown",
        }
    }

    /// The one with a name.
    pub fn of(name: &str) -> Option<Repetition> {
        Repetition::ALL.into_iter().find(|repetition| repetition.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_found_by_their_names() {
        for repetition in Repetition::ALL {
            assert_eq!(Repetition::of(repetition.name()), Some(repetition));
        }
        assert_eq!(Repetition::of("win"), None);
    }
}
