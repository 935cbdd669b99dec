//! Details of a policy's answers beyond the means: by group of positions, by square, distributions of losses,
//! and accuracy of its values.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::figures::{Figures, FiguresBySet, result_lost_by, score_lost_by};
use super::positions::{Case, Truth};
use super::values::{FinalScoreFigures, ValueFigures};
use crate::policy::Answer;
use yomikiri::rules::Rules;

/// Figures of one policy on some positions, beyond the means.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Details {
    /// Groups by layer (number of discs, or plies from the nearest root); empty if the table does not record
    /// plies.
    pub layers: Vec<Group>,
    /// Groups by the number of legal moves.
    pub by_moves: Vec<Group>,
    /// Groups by the plies to the end under best play; without positions that do not end or whose distance is
    /// not exact.
    pub by_distance: Vec<Group>,
    /// Groups by the exact score, or the exact outcome in games without scores.
    pub by_value: Vec<Group>,
    /// Losses of score; `None` in games without scores.
    pub losses: Option<Losses>,
    /// Losses of score in positions whose moves differ in score.
    pub losses_decisive: Option<Losses>,
    /// Accuracy of the policy's values; `None` if it returns none.
    pub values: Option<ValueFigures>,
    /// Accuracy of the final scores it expects; `None` if it returns none, or the game has none.
    pub final_scores: Option<FinalScoreFigures>,
    /// Accuracy of the policy's values by layer, or by the plies to the end where the table records no layers; empty if
    /// it returns none.
    pub values_by_phase: Vec<ValuesOfGroup>,
    /// Losses by square; empty if policies are asked about one image of a position only, and in games whose
    /// moves are not squares.
    pub squares: Vec<Square>,
}

impl Details {
    /// Returns the figures by groups of positions.
    pub fn groups(&self, by: By) -> &[Group] {
        match by {
            By::Layer => &self.layers,
            By::Moves => &self.by_moves,
            By::Distance => &self.by_distance,
            By::Value => &self.by_value,
        }
    }
}

/// Details on held-out positions, which a policy was not trained on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct HeldOut {
    /// Part of the split: `test`, or `validation` if the test part is empty.
    pub split: &'static str,
    /// Details on that part.
    #[serde(flatten)]
    pub details: Details,
}

/// Figures of one policy on the positions that share a key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Group {
    /// Key of the group.
    #[serde(flatten)]
    pub key: Key,
    /// Figures on its positions.
    pub figures: FiguresBySet,
}

/// Accuracy of one policy's values on the positions that share a key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ValuesOfGroup {
    /// Key of the group.
    #[serde(flatten)]
    pub key: Key,
    /// Accuracy on its positions.
    pub values: ValueFigures,
}

/// Key of a group of positions; in JSON a field of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Key {
    /// Layer before the move, in the unit [`Words::layers`](super::Words::layers).
    Layer(i32),
    /// Number of legal moves.
    Moves(i32),
    /// Plies to the end under best play.
    Distance(i32),
    /// Exact score of the mover.
    Score(i32),
    /// Exact outcome of the mover: 1 a win, 0 a draw, −1 a loss.
    Outcome(i32),
}

impl Key {
    /// Returns the number.
    pub fn number(self) -> i32 {
        match self {
            Key::Layer(n) | Key::Moves(n) | Key::Distance(n) | Key::Score(n) | Key::Outcome(n) => n,
        }
    }
}

/// Groupings of positions.
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
    /// All groupings with their names.
    pub const ALL: [(&str, By); 4] = [
        ("layer", By::Layer),
        ("moves", By::Moves),
        ("distance", By::Distance),
        ("value", By::Value),
    ];
}

/// Sets and groups that a position belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct PositionSets {
    keys: [Option<Key>; 4],
    /// `true` if its moves differ in outcome, and in score (`None` in games without scores).
    differs_in_outcome: bool,
    differs_in_score: Option<bool>,
}

impl PositionSets {
    fn of(case: &Case, moves: usize) -> PositionSets {
        PositionSets {
            keys: keys(case, moves),
            differs_in_outcome: case.differs_in_outcome,
            differs_in_score: case.own.score.map(|_| case.differs_in_score),
        }
    }
}

/// Sums over some positions, from which [`Details`] are made.
#[derive(Clone, Debug, Default)]
pub(super) struct DetailSums {
    /// Sums of positions in the same sets and groups, not yet added to these. There are few such
    /// combinations, and a position is in up to fifteen sets and groups.
    alike: FxHashMap<PositionSets, Figures>,
    /// Combination of the last position, with the sums of the latest positions that share it.
    last: Option<(PositionSets, Figures)>,
    pub total: FiguresBySet,
    groups: FxHashMap<Key, FiguresBySet>,
    losses: Losses,
    losses_decisive: Losses,
    values: Option<ValueFigures>,
    /// By layer, or else by distance.
    values_by_phase: BTreeMap<Key, ValueFigures>,
    final_scores: Option<FinalScoreFigures>,
    pub squares: SquareTable,
}

impl DetailSums {
    /// Adds a position whose moves have the values `truths`.
    pub(super) fn add_position(&mut self, case: &Case, truths: &[Truth], answer: &Answer<'_>) {
        let &Answer { probabilities, scores, value, final_score } = answer;
        let sets = PositionSets::of(case, truths.len());
        if self.last.as_ref().is_none_or(|(last, _)| *last != sets) {
            self.begin(Some((sets, Figures::default())));
        }
        if let Some((_, sum)) = &mut self.last {
            sum.add_position((case, case.weight), truths, probabilities, scores);
        }
        if case.own.score.is_some() {
            for (truth, &p) in truths.iter().zip(probabilities).filter(|(_, p)| **p > 0.0) {
                let lost = score_lost_by(&case.own, truth).unsigned_abs() as usize;
                let expected = p * f64::from(case.weight);
                self.losses.add(lost, expected);
                if case.differs_in_score {
                    self.losses_decisive.add(lost, expected);
                }
            }
        }
        if let Some(value) = value {
            self.values.get_or_insert_default().add_position(case.own.outcome, value, case.weight);
            if let Some(phase) = sets.keys[0].or(sets.keys[2]) {
                let figures = self.values_by_phase.entry(phase).or_default();
                figures.add_position(case.own.outcome, value, case.weight);
            }
        }
        if let (Some(expected), Some(exact)) = (final_score, case.own.score) {
            let figures = self.final_scores.get_or_insert_default();
            figures.add_position(exact, expected, case.weight);
        }
    }

    /// Switches to another combination of sets and groups.
    fn begin(&mut self, next: Option<(PositionSets, Figures)>) {
        if let Some((sets, figures)) = std::mem::replace(&mut self.last, next) {
            self.alike.entry(sets).or_default().add(&figures);
        }
    }

    /// Adds pending sums to their sets and groups.
    pub(super) fn settle(&mut self) {
        self.begin(None);
        let mut alike: Vec<(PositionSets, Figures)> = self.alike.drain().collect();
        // Sorting fixes the order of additions, and with it the rounding.
        alike.sort_unstable_by_key(|(sets, _)| *sets);
        for (PositionSets { keys, differs_in_outcome, differs_in_score }, figures) in &alike {
            self.total.add_some(*differs_in_outcome, *differs_in_score, figures);
            for key in keys.iter().flatten() {
                let group = self.groups.entry(*key).or_default();
                group.add_some(*differs_in_outcome, *differs_in_score, figures);
            }
        }
    }

    /// Adds the sums of other positions, which must be settled.
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
        for (phase, values) in &other.values_by_phase {
            self.values_by_phase.entry(*phase).or_default().add(values);
        }
        if let Some(final_scores) = &other.final_scores {
            self.final_scores.get_or_insert_default().add(final_scores);
        }
    }

    /// Returns the details; squares are those of the game's board.
    pub(super) fn details(&self, game: &dyn Rules) -> Details {
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
            values_by_phase: self
                .values_by_phase
                .iter()
                .map(|(&key, &values)| ValuesOfGroup { key, values })
                .collect(),
            squares: self.squares.of_board(game),
        }
    }
}

/// Returns the groups of a position.
fn keys(case: &Case, moves: usize) -> [Option<Key>; 4] {
    let layer = case.layer.map(|layer| Key::Layer(layer as i32));
    let value = match case.own.score {
        Some(score) => Key::Score(i32::from(score.0)),
        None => Key::Outcome(i32::from(case.own.outcome.value())),
    };
    let distance = case.own.distance.map(|plies| Key::Distance(i32::from(plies)));
    [layer, Some(Key::Moves(moves as i32)), distance, Some(value)]
}

/// Distribution of the loss of score over the judged positions, with the moves of each weighted by the
/// policy's probabilities.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(into = "Percentiles")]
pub struct Losses {
    /// Expected number of positions with a loss of `d`: `expected[d]`.
    pub expected: Vec<f64>,
}

impl Losses {
    /// Adds `expected` positions with a loss of `lost`.
    pub(super) fn add(&mut self, lost: usize, expected: f64) {
        if self.expected.len() <= lost {
            self.expected.resize(lost + 1, 0.0);
        }
        self.expected[lost] += expected;
    }

    /// Adds the losses of other positions.
    pub(super) fn merge(&mut self, other: &Losses) {
        if self.expected.len() < other.expected.len() {
            self.expected.resize(other.expected.len(), 0.0);
        }
        self.expected.iter_mut().zip(&other.expected).for_each(|(sum, part)| *sum += part);
    }

    /// Returns the least loss that is not exceeded with probability `share` (0 to 1); `None` if there are no
    /// positions.
    pub fn percentile(&self, share: f64) -> Option<usize> {
        let total: f64 = self.expected.iter().sum();
        let mut below = 0.0;
        let reaches = |&expected: &f64| {
            below += expected;
            // The tolerance lets rounded sums reach their threshold.
            below >= share * total * (1.0 - 1e-12)
        };
        let found = self.expected.iter().position(reaches);
        found.filter(|_| total > 0.0)
    }

    /// Returns the share of positions that lose at least `n`: element `n`; empty without positions.
    pub fn at_least(&self) -> Vec<f64> {
        let total: f64 = self.expected.iter().sum();
        let mut left = total;
        let shares = self.expected.iter().map(|expected| {
            let share = left / total;
            left = (left - expected).max(0.0);
            share
        });
        if total > 0.0 { shares.collect() } else { Vec::new() }
    }

    /// Returns the greatest loss of positive probability.
    pub fn worst(&self) -> Option<usize> {
        self.expected.iter().rposition(|&expected| expected > 0.0)
    }
}

/// Losses in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Percentiles {
    /// Loss not exceeded in 95 of 100 positions.
    percentile_95: Option<usize>,
    /// Loss not exceeded in 99 of 100 positions.
    percentile_99: Option<usize>,
    /// Greatest loss.
    worst: Option<usize>,
    /// Element n: expected number of positions with a loss of n.
    expected_positions: Vec<f64>,
    /// Element n: share of the positions with a loss of n or more.
    at_least: Vec<f64>,
}

impl From<Losses> for Percentiles {
    fn from(of: Losses) -> Percentiles {
        Percentiles {
            percentile_95: of.percentile(0.95),
            percentile_99: of.percentile(0.99),
            worst: of.worst(),
            at_least: of.at_least(),
            expected_positions: of.expected,
        }
    }
}

/// Losses by moves to a square, summed over all judged positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SquareFigures {
    /// Expected number of positions in which the policy plays there.
    pub played: f64,
    /// Loss of outcome by moves to the square.
    pub result_lost: f64,
    /// Loss of score by moves to the square.
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
pub(super) struct SquareTable(Vec<SquareFigures>);

impl SquareTable {
    /// Adds a position whose moves lead to `squares`, if to any, and have the values `truths` and the policy's `probabilities`.
    pub(super) fn add_position(
        &mut self,
        case: &Case,
        squares: impl Iterator<Item = Option<u16>>,
        truths: &[Truth],
        probabilities: &[f64],
    ) {
        let own = &case.own;
        for ((at, truth), &p) in squares.zip(truths).zip(probabilities) {
            let Some(at) = at.map(usize::from).filter(|_| p > 0.0) else { continue };
            if self.0.len() <= at {
                self.0.resize(at + 1, SquareFigures::default());
            }
            let square = &mut self.0[at];
            square.played += p;
            if truth.q_score() != own.q_score() {
                square.result_lost += p * result_lost_by(own, truth);
                square.score_lost += p * f64::from(score_lost_by(own, truth));
            }
        }
    }

    /// Adds the figures of other positions.
    pub(super) fn add(&mut self, other: &SquareTable) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), SquareFigures::default());
        }
        self.0.iter_mut().zip(&other.0).for_each(|(sum, other)| sum.add(other));
    }

    /// Returns the figures of all squares of a game's board.
    pub(super) fn of_board(&self, game: &dyn Rules) -> Vec<Square> {
        let (rows, columns) = if self.0.is_empty() { (0, 0) } else { game.shape() };
        let [column_names, row_names] = game.coordinates();
        let square = |at: usize| Square {
            square: square_name(&column_names[at % columns], &row_names[at / columns]),
            row: at / columns,
            column: at % columns,
            figures: self.0.get(at).copied().unwrap_or_default(),
        };
        (0..rows * columns).map(square).collect()
    }
}

/// Returns the name of a square: `c4`, or `4/2` where columns have numbers too.
fn square_name(column: &str, row: &str) -> String {
    let between = if column.ends_with(|c: char| c.is_ascii_digit()) { "/" } else { "" };
    format!("{column}{between}{row}")
}

/// A square of the board with its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Square {
    /// Notation of the square: `c4`.
    pub square: String,
    /// Row, from 0 at the top.
    pub row: usize,
    /// Column, from 0 at the left.
    pub column: usize,
    /// Losses there.
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
        // 18 of 20 positions lose nothing; 19 lose at most 4.
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
