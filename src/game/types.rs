//! The vocabulary every game shares: sides, actions, outcomes, scores, plies.

use std::fmt;
use std::ops::Neg;

/// Which of the two players is meant; *First* opens the game (Black in Othello).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The player who opens the game: Black in Othello, Sente in shogi.
    First,
    /// The other player: White in Othello, Gote in shogi.
    Second,
}

impl Side {
    /// Both sides, the first player first.
    pub const ALL: [Side; 2] = [Side::First, Side::Second];

    /// The opponent of this side.
    pub fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }

    /// 0 for the first player, 1 for the second.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// A move's index, dense from 0; what it means is the game's convention.
///
/// Othello: `row * columns + column` with a1 at the top left being 0, and the pass is
/// `rows * columns`, as in OpenSpiel and Pgx.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Action(pub u16);

/// The result of a game under best play, for the side named by the context (the mover unless told).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// The mover loses: value −1.
    Loss,
    /// Neither wins: value 0.
    Draw,
    /// The mover wins: value +1.
    Win,
}

impl Outcome {
    /// The three outcomes, worst first.
    pub const ALL: [Outcome; 3] = [Outcome::Loss, Outcome::Draw, Outcome::Win];

    /// −1, 0 or +1.
    pub fn value(self) -> i8 {
        self as i8 - 1
    }

    /// 0 for a loss, 1 for a draw, 2 for a win.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The outcome of a value: its sign.
    pub fn of(value: i8) -> Outcome {
        match value.signum() {
            -1 => Outcome::Loss,
            0 => Outcome::Draw,
            _ => Outcome::Win,
        }
    }

    /// `win`, `draw` or `loss`.
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

/// A final score for the mover; in Othello the disc difference, −64 to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Score(pub i8);

impl Score {
    /// Who wins with this score.
    pub fn outcome(self) -> Outcome {
        Outcome::of(self.0)
    }
}

impl Neg for Score {
    type Output = Score;

    fn neg(self) -> Score {
        // Saturating, so that a byte of a table that is no score can be looked at.
        Score(self.0.saturating_neg())
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:+}", self.0)
    }
}

/// How the squares left empty at the end of the game count in the score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Empties {
    /// They count for nobody: the score is the plain disc difference.
    #[default]
    Uncounted,
    /// They go to the winner, as in tournament play.
    ToWinner,
}

impl Empties {
    /// `uncounted` or `to-winner`.
    pub fn name(self) -> &'static str {
        match self {
            Empties::Uncounted => "uncounted",
            Empties::ToWinner => "to-winner",
        }
    }

    /// The one with a name.
    pub fn named(name: &str) -> Option<Empties> {
        [Empties::Uncounted, Empties::ToWinner].into_iter().find(|empties| empties.name() == name)
    }
}

/// A state together with the player who is to move in it.
///
/// States are seen by the mover, so most of the solver needs no side; a person's position has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position<S> {
    /// The state as its mover sees it.
    pub state: S,
    /// Who the mover is.
    pub side: Side,
}

/// The end of a game, for the mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct End {
    /// Who has won.
    pub outcome: Outcome,
    /// Plies that still belong to the game: 1 where the capture of the king is known but not
    /// played.
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

/// About how many states play from a position leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// States, folded as the game folds them.
    pub states: f64,
    /// Moves of a state, on average.
    pub moves: f64,
    /// Whether they have been counted, and not extrapolated.
    pub exact: bool,
}
