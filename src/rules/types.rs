//! Vocabulary that all games share: sides, actions, outcomes, scores, ends.

use std::fmt;
use std::ops::Neg;

/// One of the two players; *First* opens the game (Black in Othello).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Player who opens the game: Black in Othello, Sente in shogi.
    First,
    /// Other player: White in Othello, Gote in shogi.
    Second,
}

impl Side {
    /// Both sides, the first player first.
    pub const ALL: [Side; 2] = [Side::First, Side::Second];

    /// Returns the opponent of this side.
    pub fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }

    /// Returns 0 for the first player, 1 for the second.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Index of a move, dense from 0; each game defines its meaning.
///
/// Othello: `row * columns + column`, where a1 at the top left is 0; the pass is `rows * columns`, as in
/// OpenSpiel and Pgx.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Action(pub u16);

/// Result of a game under best play, for the mover unless another side is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Loss of the mover: value −1.
    Loss,
    /// Draw: value 0.
    Draw,
    /// Win of the mover: value +1.
    Win,
}

impl Outcome {
    /// The three outcomes, worst first.
    pub const ALL: [Outcome; 3] = [Outcome::Loss, Outcome::Draw, Outcome::Win];

    /// Returns −1, 0 or +1.
    pub fn value(self) -> i8 {
        self as i8 - 1
    }

    /// Returns 0 for a loss, 1 for a draw, 2 for a win.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns the outcome with the sign of `value`.
    pub fn of(value: i8) -> Outcome {
        match value.signum() {
            -1 => Outcome::Loss,
            0 => Outcome::Draw,
            _ => Outcome::Win,
        }
    }

    /// Returns `win`, `draw` or `loss`.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Loss => "loss",
            Outcome::Draw => "draw",
            Outcome::Win => "win",
        }
    }
}

impl Neg for Outcome {
    type Output = Outcome;

    fn neg(self) -> Outcome {
        Outcome::of(-self.value())
    }
}

/// Final score for the mover; in Othello the disc difference, −64 to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Score(pub i8);

impl Score {
    /// Returns the outcome of this score.
    pub fn outcome(self) -> Outcome {
        Outcome::of(self.0)
    }
}

impl Neg for Score {
    type Output = Score;

    fn neg(self) -> Score {
        // Saturates, so that −128, an invalid score that a damaged table may contain, does not overflow.
        Score(self.0.saturating_neg())
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:+}", self.0)
    }
}

/// Convention by which squares left empty at the end of the game count in the score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Empties {
    /// Empty squares count for nobody: the score is the plain disc difference.
    #[default]
    Uncounted,
    /// Empty squares go to the winner, as in tournament play.
    ToWinner,
}

impl Empties {
    /// Returns `uncounted` or `to-winner`.
    pub fn name(self) -> &'static str {
        match self {
            Empties::Uncounted => "uncounted",
            Empties::ToWinner => "to-winner",
        }
    }

    /// Returns the convention of a name.
    pub fn named(name: &str) -> Option<Empties> {
        [Empties::Uncounted, Empties::ToWinner].into_iter().find(|empties| empties.name() == name)
    }
}

/// State together with the side to move.
///
/// States are seen by the mover, so most of the solver needs no side; positions shown to people have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position<S> {
    /// State as its mover sees it.
    pub state: S,
    /// Side of the mover.
    pub side: Side,
}

/// End of a game, for the mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct End {
    /// Outcome for the mover.
    pub outcome: Outcome,
    /// Plies still to be played: 1 where the capture of the king is known but not played.
    pub plies: u16,
}

/// Value of infinite play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repetition {
    /// Draw.
    Draw,
    /// Loss of the first player, who failed to win.
    SecondPlayerWins,
    /// No convention: values that depend on infinite play are unknown.
    Unknown,
}

impl Repetition {
    /// All conventions.
    pub const ALL: [Repetition; 3] =
        [Repetition::Draw, Repetition::SecondPlayerWins, Repetition::Unknown];

    /// Returns `draw`, `second-player-wins` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Repetition::Draw => "draw",
            Repetition::SecondPlayerWins => "second-player-wins",
            Repetition::Unknown => "unknown",
        }
    }

    /// Returns the convention of a name.
    pub fn of(name: &str) -> Option<Repetition> {
        Repetition::ALL.into_iter().find(|repetition| repetition.name() == name)
    }
}

/// Rule by which a repeated position ends a game, in games where positions can be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepetitionRule {
    /// Occurrence of a position, with the same side to move, that ends the game; at least 2.
    pub occurrence: usize,
    /// Result of the repetition; a table values infinite play by it.
    pub result: Repetition,
    /// `true` if a player loses who alone has given check with every move since the first of these occurrences.
    pub perpetual_check_loses: bool,
}

/// Estimated number of states reachable from a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedStates {
    /// Number of states, folded as the game folds them.
    pub states: f64,
    /// Mean number of moves of a state.
    pub moves: f64,
    /// `true` if both were counted rather than extrapolated.
    pub exact: bool,
}
