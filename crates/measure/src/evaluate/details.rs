//! More about a policy's answers than means over all positions: by groups of them, by square, what is
//! lost and how often, and how good its values are.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::figures::{Figures, FiguresBySet, outcome_lost, score_lost};
use super::source::{Case, Truth};
use super::values::{FinalScoreFigures, ValueFigures};
use crate::policy::Answer;
use yomikiri::any::AnyGame;
use yomikiri::game::{Action, GameExt, Side};

/// Figures of one policy on some positions, beyond the means.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Details {
    /// By layer, which is the number of discs, say, or plies from the nearest root; empty where the
    /// table does not keep plies.
    pub layers: Vec<Group>,
    /// By the number of legal moves.
    pub by_moves: Vec<Group>,
    /// By the plies that are left under best play; without positions whose distance is not known
    /// exactly, or that do not end.
    pub by_distance: Vec<Group>,
    /// By the exact score, or the exact outcome in games without scores.
    pub by_value: Vec<Group>,
    /// What its moves give away of the score, over these positions; `None` where there are no
    /// scores.
    pub losses: Option<Losses>,
    /// The same over the positions in which the moves differ in score.
    pub losses_decisive: Option<Losses>,
    /// How good its values are; `None` if it gives none.
    pub values: Option<ValueFigures>,
    /// How good the final scores are that it expects; `None` if it gives none, or there are none.
    pub final_scores: Option<FinalScoreFigures>,
    /// Where on the board it gives something away; empty where only one of the images of a position
    /// is asked about, and in games whose moves are no squares.
    pub squares: Vec<Square>,
}

impl Details {
    /// The figures by groups of positions.
    pub fn groups(&self, by: By) -> &[Group] {
        match by {
            By::Layer => &self.layers,
            By::Moves => &self.by_moves,
            By::Distance => &self.by_distance,
            By::Value => &self.by_value,
        }
    }
}

/// The details on the positions that say how good a policy is: those it has not learned from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct HeldOut {
    /// Which part they are: `test`, or `validation` where there is no test.
    pub split: &'static str,
    /// The figures.
    #[serde(flatten)]
    pub details: Details,
}

/// The figures of one policy on the positions that have something in common.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Group {
    /// What they have in common.
    #[serde(flatten)]
    pub key: Key,
    /// On these positions.
    pub figures: FiguresBySet,
}

/// What a group of positions has in common; in JSON a field of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Key {
    /// The layer before the move: what [`Words::layers`](super::Words::layers) counts.
    Layer(i32),
    /// How many legal moves there are.
    Moves(i32),
    /// Plies to the end under best play.
    Distance(i32),
    /// The exact score of the mover.
    Score(i32),
    /// The exact outcome of the mover: 1 a win, 0 a draw, −1 a loss.
    Outcome(i32),
}

impl Key {
    /// The number.
    pub fn number(self) -> i32 {
        match self {
            Key::Layer(n) | Key::Moves(n) | Key::Distance(n) | Key::Score(n) | Key::Outcome(n) => n,
        }
    }
}

/// By what positions are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// By layer.
    Layer,
    /// By the number of legal moves.
    Moves,
    /// By the plies to the end under best play.
    Distance,
    /// By the exact score, or the outcome in games without scores.
    Value,
}

impl By {
    /// All of them with their names.
    pub const ALL: [(&str, By); 4] = [
        ("layer", By::Layer),
        ("moves", By::Moves),
        ("distance", By::Distance),
        ("value", By::Value),
    ];
}

/// The sets and groups that a position belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Sets {
    keys: [Option<Key>; 4],
    /// Whether its moves differ in outcome, and in score; `None` where there are no scores.
    differs_in_outcome: bool,
    differs_in_score: Option<bool>,
}

impl Sets {
    fn of(case: &Case, moves: usize) -> Sets {
        Sets {
            keys: keys(case, moves),
            differs_in_outcome: case.differs_in_outcome,
            differs_in_score: case.own.score.map(|_| case.differs_in_score),
        }
    }
}

/// Sums over some positions, of which [`Details`] are made.
#[derive(Clone, Debug, Default)]
pub(super) struct DetailSums {
    /// Of positions that belong to the same sets and groups, and are not yet added to these: there are
    /// few such, and a position is in up to fifteen.
    alike: FxHashMap<Sets, Figures>,
    /// Those of the last position, and the figures of all since others.
    last: Option<(Sets, Figures)>,
    pub total: FiguresBySet,
    groups: FxHashMap<Key, FiguresBySet>,
    losses: Losses,
    losses_decisive: Losses,
    values: Option<ValueFigures>,
    final_scores: Option<FinalScoreFigures>,
    pub squares: Squares,
}

impl DetailSums {
    /// Adds a position whose moves are worth `truths`.
    pub(super) fn add_position(&mut self, case: &Case, truths: &[Truth], answer: &Answer<'_>) {
        let &Answer { probabilities, scores, value, final_score } = answer;
        let sets = Sets::of(case, truths.len());
        if self.last.as_ref().is_none_or(|(last, _)| *last != sets) {
            self.begin(Some((sets, Figures::default())));
        }
        if let Some((_, sum)) = &mut self.last {
            sum.add_position((case, case.weight), truths, probabilities, scores);
        }
        if case.own.score.is_some() {
            for (truth, &p) in truths.iter().zip(probabilities).filter(|(_, p)| **p > 0.0) {
                let lost = score_lost(&case.own, truth).unsigned_abs() as usize;
                let expected = p * f64::from(case.weight);
                self.losses.add(lost, expected);
                if case.differs_in_score {
                    self.losses_decisive.add(lost, expected);
                }
            }
        }
        if let Some(value) = value {
            self.values.get_or_insert_default().add_position(case.own.outcome, value, case.weight);
        }
        if let (Some(expected), Some(exact)) = (final_score, case.own.score) {
            let figures = self.final_scores.get_or_insert_default();
            figures.add_position(exact, expected, case.weight);
        }
    }

    /// Goes on to positions that belong to others than the last.
    fn begin(&mut self, next: Option<(Sets, Figures)>) {
        if let Some((sets, figures)) = std::mem::replace(&mut self.last, next) {
            self.alike.entry(sets).or_default().add(&figures);
        }
    }

    /// Adds the positions to the sets and groups that they belong to.
    pub(super) fn settle(&mut self) {
        self.begin(None);
        let mut alike: Vec<(Sets, Figures)> = self.alike.drain().collect();
        // In an order of their own, which decides how sums are rounded.
        alike.sort_unstable_by_key(|(sets, _)| *sets);
        for (Sets { keys, differs_in_outcome, differs_in_score }, figures) in &alike {
            self.total.add_some(*differs_in_outcome, *differs_in_score, figures);
            for key in keys.iter().flatten() {
                let group = self.groups.entry(*key).or_default();
                group.add_some(*differs_in_outcome, *differs_in_score, figures);
            }
        }
    }

    /// Adds those of other positions, which are settled.
    pub(super) fn add(&mut self, other: &DetailSums) {
        self.total.add(&other.total);
        for (key, figures) in &other.groups {
            self.groups.entry(*key).or_default().add(figures);
        }
        self.squares.add(&other.squares);
        self.losses.merge(&other.losses);
        self.losses_decisive.merge(&other.losses_decisive);
        if let Some(values) = &other.values {
            self.values.get_or_insert_default().add(values);
        }
        if let Some(final_scores) = &other.final_scores {
            self.final_scores.get_or_insert_default().add(final_scores);
        }
    }

    /// What they come to on the board of a game.
    pub(super) fn details(&self, game: &AnyGame) -> Details {
        let has_scores = self.total.decisive_score.is_some();
        let groups = |is_of: fn(Key) -> bool| {
            let of_kind = self.groups.iter().filter(|(key, _)| is_of(**key));
            let mut found: Vec<_> =
                of_kind.map(|(&key, &figures)| Group { key, figures }).collect();
            found.sort_unstable_by_key(|group| group.key);
            found
        };
        Details {
            layers: groups(|key| matches!(key, Key::Layer(_))),
            by_moves: groups(|key| matches!(key, Key::Moves(_))),
            by_distance: groups(|key| matches!(key, Key::Distance(_))),
            by_value: groups(|key| matches!(key, Key::Score(_) | Key::Outcome(_))),
            losses: has_scores.then(|| self.losses.clone()),
            losses_decisive: has_scores.then(|| self.losses_decisive.clone()),
            values: self.values,
            final_scores: self.final_scores,
            squares: self.squares.of_board(game),
        }
    }
}

/// The groups that a position belongs to.
fn keys(case: &Case, moves: usize) -> [Option<Key>; 4] {
    let layer = case.layer.map(|layer| Key::Layer(layer as i32));
    let value = match case.own.score {
        Some(score) => Key::Score(i32::from(score.0)),
        None => Key::Outcome(i32::from(case.own.outcome.value())),
    };
    let distance = case.own.distance.map(|plies| Key::Distance(i32::from(plies)));
    [layer, Some(Key::Moves(moves as i32)), distance, Some(value)]
}

/// What the moves of a policy give away of the final score, as a distribution over the judged
/// positions: the move of each has the policy's probabilities.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(into = "Percentiles")]
pub struct Losses {
    /// `expected[d]`: the expected number of positions in which a score of `d` is given away.
    pub expected: Vec<f64>,
}

impl Losses {
    /// A move that gives away so much of the score, made in so many positions, as expected.
    pub(super) fn add(&mut self, lost: usize, expected: f64) {
        if self.expected.len() <= lost {
            self.expected.resize(lost + 1, 0.0);
        }
        self.expected[lost] += expected;
    }

    /// Adds those of other positions.
    pub(super) fn merge(&mut self, other: &Losses) {
        if self.expected.len() < other.expected.len() {
            self.expected.resize(other.expected.len(), 0.0);
        }
        self.expected.iter_mut().zip(&other.expected).for_each(|(sum, part)| *sum += part);
    }

    /// The least loss such that with probability `share` (0 to 1) no more is given away; `None` if
    /// there are no positions.
    pub fn percentile(&self, share: f64) -> Option<usize> {
        let total: f64 = self.expected.iter().sum();
        let mut below = 0.0;
        let reaches = |&expected: &f64| {
            below += expected;
            // A hair less, so that sums that are rounded reach what they should.
            below >= share * total * (1.0 - 1e-12)
        };
        let found = self.expected.iter().position(reaches);
        found.filter(|_| total > 0.0)
    }

    /// The most that is ever given away.
    pub fn worst(&self) -> Option<usize> {
        self.expected.iter().rposition(|&expected| expected > 0.0)
    }
}

/// Losses as they are written to JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Percentiles {
    /// No more in 95 of 100.
    percentile_95: Option<usize>,
    /// No more in 99 of 100.
    percentile_99: Option<usize>,
    /// The most.
    worst: Option<usize>,
    /// Element n: in how many positions n is expected to be lost.
    expected_states: Vec<f64>,
}

impl From<Losses> for Percentiles {
    fn from(of: Losses) -> Percentiles {
        Percentiles {
            percentile_95: of.percentile(0.95),
            percentile_99: of.percentile(0.99),
            worst: of.worst(),
            expected_states: of.expected,
        }
    }
}

/// What is given away on a square, summed over all judged positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SquareFigures {
    /// Expected number of positions in which the policy plays there.
    pub played: f64,
    /// What it gives away by that of the outcome.
    pub result_lost: f64,
    /// And of the score.
    pub score_lost: f64,
}

impl SquareFigures {
    fn add(&mut self, other: &SquareFigures) {
        self.played += other.played;
        self.result_lost += other.result_lost;
        self.score_lost += other.score_lost;
    }
}

/// Figures by square.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Squares(Vec<SquareFigures>);

impl Squares {
    /// Adds a position whose moves are worth `truths` and chosen with `probabilities`.
    pub(super) fn add_position(
        &mut self,
        case: &Case,
        actions: &[Action],
        truths: &[Truth],
        probabilities: &[f64],
    ) {
        let own = &case.own;
        let most = actions.last().map_or(0, |action| usize::from(action.0) + 1);
        if self.0.len() < most {
            self.0.resize(most, SquareFigures::default());
        }
        for ((action, truth), &p) in actions.iter().zip(truths).zip(probabilities) {
            if p == 0.0 {
                continue;
            }
            let square = &mut self.0[usize::from(action.0)];
            square.played += p;
            if truth.q_score() != own.q_score() {
                square.result_lost += p * outcome_lost(own, truth);
                square.score_lost += p * f64::from(score_lost(own, truth));
            }
        }
    }

    /// Adds those of other positions.
    pub(super) fn add(&mut self, other: &Squares) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), SquareFigures::default());
        }
        self.0.iter_mut().zip(&other.0).for_each(|(sum, other)| sum.add(other));
    }

    /// By the squares of a game's board, whose numbers are their actions.
    pub(super) fn of_board(&self, game: &AnyGame) -> Vec<Square> {
        let (rows, columns) = if self.0.is_empty() { (0, 0) } else { game.shape() };
        let square = |at: usize| Square {
            square: game.action_name(Side::First, Action(at as u16)),
            row: at / columns,
            column: at % columns,
            figures: self.0.get(at).copied().unwrap_or_default(),
        };
        (0..rows * columns).map(square).collect()
    }
}

/// A square of the board.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Square {
    /// As people write it: `c4`.
    pub square: String,
    /// Its row, from 0 at the top.
    pub row: usize,
    /// Its column, from 0 at the left.
    pub column: usize,
    /// What is given away there.
    #[serde(flatten)]
    pub figures: SquareFigures,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_and_the_worst() {
        let mut losses = Losses::default();
        assert_eq!((losses.percentile(0.95), losses.worst()), (None, None));
        for _ in 0..18 {
            losses.add(0, 1.0);
        }
        losses.add(2, 0.75);
        losses.add(4, 0.25);
        losses.add(7, 1.0);
        // Of 20 positions 18 lose nothing; 19 lose at most 4.
        assert_eq!(losses.percentile(0.9), Some(0));
        assert_eq!(losses.percentile(0.95), Some(4));
        assert_eq!(losses.percentile(0.99), Some(7));
        assert_eq!(losses.percentile(1.0), Some(7));
        assert_eq!(losses.worst(), Some(7));
        let mut both = Losses::default();
        both.merge(&losses);
        both.merge(&losses);
        assert_eq!(both.expected, [36.0, 0.0, 1.5, 0.0, 0.5, 0.0, 0.0, 2.0]);
    }
}
