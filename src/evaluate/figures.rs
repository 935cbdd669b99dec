//! What is measured of a policy on a set of positions: sums, so that sets can be added, and means.

use serde::{Serialize, Serializer};

use crate::game::{Outcome, Score};
use crate::solve::cyclic::Interval;

/// What a move is worth to the one who makes it.
pub(super) type Worth = (Outcome, Score);

/// The figures of a policy on a set of positions. The fields are sums over the positions of
/// expectations over the policy's moves; the methods give the means, `None` for an empty set.
///
/// All values are those of the player to move. As JSON the means are written, not the sums: see
/// `docs/report-schema.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// How many positions.
    pub states: u64,
    /// Those of them whose moves have scores: all in a layered game, none in a cyclic one.
    pub scored: u64,
    /// Those of them in which distances are compared: in a cyclic game those won or lost in an
    /// exactly known number of plies, that of every move which keeps the outcome being known
    /// exactly too; in a layered game none.
    pub timed: u64,
    /// Probability of moves that keep the best outcome.
    pub optimal_outcome: f64,
    /// Probability of moves that keep the best score.
    pub optimal_score: f64,
    /// In the timed positions: probability of moves that keep the best outcome and win as soon, or
    /// lose as late, as can be.
    pub optimal_distance: f64,
    /// Best outcome less the chosen one's, a win being 1, a draw 0 and a loss −1.
    pub loss_outcome: f64,
    /// Best score less the chosen one's, in discs.
    pub loss_score: f64,
    /// Expected numbers of positions in which a better outcome is given away.
    pub blunders: Blunders,
}

/// Expected numbers of positions, by the outcome that could be had and the one that is left, both
/// the mover's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Blunders {
    /// A win becomes a draw.
    pub win_to_draw: f64,
    /// A win becomes a loss.
    pub win_to_loss: f64,
    /// A draw becomes a loss.
    pub draw_to_loss: f64,
}

impl Figures {
    /// Adds another set's figures; the sets share no position.
    pub fn add(&mut self, other: &Figures) {
        self.states += other.states;
        self.scored += other.scored;
        self.timed += other.timed;
        self.optimal_outcome += other.optimal_outcome;
        self.optimal_score += other.optimal_score;
        self.optimal_distance += other.optimal_distance;
        self.loss_outcome += other.loss_outcome;
        self.loss_score += other.loss_score;
        self.blunders.win_to_draw += other.blunders.win_to_draw;
        self.blunders.win_to_loss += other.blunders.win_to_loss;
        self.blunders.draw_to_loss += other.blunders.draw_to_loss;
    }

    /// The mean of a sum over the positions.
    pub fn mean(&self, sum: f64) -> Option<f64> {
        mean(sum, self.states)
    }

    /// Mean probability of a move that keeps the best outcome, 0 to 1.
    pub fn optimal_by_outcome(&self) -> Option<f64> {
        self.mean(self.optimal_outcome)
    }

    /// Mean probability of a move that keeps the best score, 0 to 1; `None` where there are none.
    pub fn optimal_by_score(&self) -> Option<f64> {
        mean(self.optimal_score, self.scored)
    }

    /// Mean probability, over the timed positions, of a move that wins as soon, or loses as late, as
    /// can be, 0 to 1.
    pub fn optimal_by_distance(&self) -> Option<f64> {
        mean(self.optimal_distance, self.timed)
    }

    /// Mean of what a move gives away of the outcome, 0 to 2 (a win thrown into a loss).
    pub fn expected_loss_outcome(&self) -> Option<f64> {
        self.mean(self.loss_outcome)
    }

    /// Mean of what a move gives away of the score, in discs; `None` where there are no scores.
    pub fn expected_loss_discs(&self) -> Option<f64> {
        mean(self.loss_score, self.scored)
    }

    /// The figures of one position in which the best move is worth `best` and the moves, each with
    /// its worth, are chosen with some probabilities; the worths are the mover's.
    ///
    /// Where no worse move has a chance the figures are exactly 1 and exactly no loss, however the
    /// probabilities are rounded.
    pub(super) fn of_position(best: Worth, moves: impl Iterator<Item = (Worth, f64)>) -> Figures {
        let mut figures = Figures { states: 1, scored: 1, ..Figures::default() };
        let (mut keeps_outcome, mut keeps_score) = (true, true);
        for ((outcome, score), p) in moves.filter(|&(_, p)| p > 0.0) {
            if score == best.1 {
                figures.optimal_score += p;
            } else {
                keeps_score = false;
                figures.loss_score += p * (f64::from(best.1.0) - f64::from(score.0));
            }
            keeps_outcome &= figures.add_outcome(best.0, outcome, p);
        }
        if keeps_outcome {
            figures.optimal_outcome = 1.0;
        }
        if keeps_score {
            figures.optimal_score = 1.0;
        }
        figures
    }

    /// The same in a cyclic game: `best` is worth as much as the best move, all outcomes are proven,
    /// and with `timed` the distances of `best` and of the moves that keep its outcome are exact.
    pub(super) fn of_cyclic_position(
        best: Interval,
        timed: bool,
        moves: impl Iterator<Item = (Interval, f64)>,
    ) -> Figures {
        let mut figures = Figures { states: 1, timed: u64::from(timed), ..Figures::default() };
        let best_outcome = best.lower.outcome();
        let (mut keeps_outcome, mut keeps_distance) = (true, true);
        for (value, p) in moves.filter(|&(_, p)| p > 0.0) {
            keeps_outcome &= figures.add_outcome(best_outcome, value.lower.outcome(), p);
            if value == best {
                figures.optimal_distance += p;
            } else {
                keeps_distance = false;
            }
        }
        if keeps_outcome {
            figures.optimal_outcome = 1.0;
        }
        match (timed, keeps_distance) {
            (false, _) => figures.optimal_distance = 0.0,
            (true, true) => figures.optimal_distance = 1.0,
            (true, false) => {}
        }
        figures
    }

    /// Adds a move made with probability `p`; tells whether it keeps the best outcome.
    fn add_outcome(&mut self, best: Outcome, outcome: Outcome, p: f64) -> bool {
        if outcome == best {
            self.optimal_outcome += p;
            return true;
        }
        self.loss_outcome += p * f64::from(best.value() - outcome.value());
        match (best, outcome) {
            (Outcome::Win, Outcome::Draw) => self.blunders.win_to_draw += p,
            (Outcome::Win, _) => self.blunders.win_to_loss += p,
            _ => self.blunders.draw_to_loss += p,
        }
        false
    }
}

fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// The figures of a policy on three sets of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FiguresBySet {
    /// Every judged position that is not the end of a game, forced moves and passes among them.
    pub all: Figures,
    /// Those in which the legal moves differ in outcome.
    pub decisive_outcome: Figures,
    /// Those in which the legal moves differ in score; `None` where the game has no scores.
    pub decisive_score: Option<Figures>,
}

impl FiguresBySet {
    /// Those of no positions of a game that has scores; the default is of one that has none.
    pub fn scored() -> FiguresBySet {
        FiguresBySet { decisive_score: Some(Figures::default()), ..FiguresBySet::default() }
    }

    /// Adds the figures of other positions.
    pub fn add(&mut self, other: &FiguresBySet) {
        self.all.add(&other.all);
        self.decisive_outcome.add(&other.decisive_outcome);
        if let Some(other) = &other.decisive_score {
            self.decisive_score.get_or_insert_default().add(other);
        }
    }
}

/// The means as they are written to JSON.
#[derive(Serialize)]
struct Means {
    states: u64,
    distance_states: u64,
    optimal_by_outcome: Option<f64>,
    optimal_by_score: Option<f64>,
    optimal_by_distance: Option<f64>,
    expected_loss_outcome: Option<f64>,
    expected_loss_discs: Option<f64>,
    blunders: BlunderMeans,
}

#[derive(Serialize)]
struct BlunderMeans {
    win_to_draw: Blunder,
    win_to_loss: Blunder,
    draw_to_loss: Blunder,
}

#[derive(Serialize)]
struct Blunder {
    expected_states: f64,
    share: Option<f64>,
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let blunder = |sum: f64| Blunder { expected_states: sum, share: self.mean(sum) };
        Means {
            states: self.states,
            distance_states: self.timed,
            optimal_by_outcome: self.optimal_by_outcome(),
            optimal_by_score: self.optimal_by_score(),
            optimal_by_distance: self.optimal_by_distance(),
            expected_loss_outcome: self.expected_loss_outcome(),
            expected_loss_discs: self.expected_loss_discs(),
            blunders: BlunderMeans {
                win_to_draw: blunder(self.blunders.win_to_draw),
                win_to_loss: blunder(self.blunders.win_to_loss),
                draw_to_loss: blunder(self.blunders.draw_to_loss),
            },
        }
        .serialize(serializer)
    }
}
