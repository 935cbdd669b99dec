//! Comparison of two policies, or of one policy earlier and now, on one stream of positions; and agreement of
//! policies.
//!
//! Either policy may be several players, one for each seed of the same recipe; its loss in a position is then the
//! mean over its players.

use std::collections::BTreeMap;

use serde::Serialize;

use super::details::{Details, Group, Key};
use super::figures::{EQUAL, mean};
use super::intervals::Interval;
use super::judgement::likeliest;
use super::metrics::Metrics;
use super::mistakes::{Mistake, MoveLoss};
use super::positions::Piece;
use crate::policy::Answers;
use yomikiri::rules::{Rules, Score};

/// Comparison of two policies, or of one policy in an earlier report and in this one, in the same positions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Names of the first and the second policy, or of one policy earlier and now.
    pub policies: [String; 2],
    /// Figures of each by the names of `--metrics`, of those that both have; means over seeds.
    pub figures: BTreeMap<String, [f64; 2]>,
    /// Result kept in decisive positions, by layer, or by plies to the end without layers; only groups in which
    /// it differs; that of the first seed, if there are several.
    pub groups: Vec<GroupComparison>,
    /// Comparison position by position; `None` with an earlier report, which has no answers.
    #[serde(flatten)]
    pub paired: Option<PairedSets>,
    /// Costliest mistakes of an earlier report that are no longer among the costliest, and new ones of this report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mistakes: Option<MistakeChanges>,
}

/// Result kept by each policy in a group of positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct GroupComparison {
    /// Layer, or plies to the end.
    pub group: i32,
    /// Number of decisive positions.
    pub positions: u64,
    /// Share in which each policy keeps the result.
    pub kept: [f64; 2],
}

/// Positions that left the costliest mistakes of a policy, and that joined them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MistakeChanges {
    /// Positions of the earlier report alone.
    pub gone: Vec<String>,
    /// Positions of this report alone.
    pub new: Vec<String>,
}

/// Figures of one policy that a comparison uses.
pub(super) struct ComparedFigures<'a> {
    pub name: &'a str,
    /// Returns a figure by the name of its metric.
    pub figure: &'a dyn Fn(&str) -> Option<f64>,
    /// Groups by layer or distance: the group, its number of decisive positions, and the share kept.
    pub groups: Vec<(i32, u64, f64)>,
}

impl Comparison {
    /// Compares the figures that both have; nothing is compared position by position.
    pub(super) fn of_figures(both: [ComparedFigures<'_>; 2]) -> Comparison {
        let names = Metrics::unknown().numbers.into_iter().map(|(name, _)| name);
        let figures = names.filter_map(|name| {
            let [first, second] = both.each_ref().map(|of| (of.figure)(&name));
            Some((name, [first?, second?]))
        });
        let [first, second] = &both;
        let group = |&(group, positions, kept): &(i32, u64, f64)| {
            let other =
                first.groups.iter().find(|other| other.0 == group && other.1 == positions)?;
            let differs = (kept - other.2).abs() > EQUAL;
            differs.then_some(GroupComparison { group, positions, kept: [other.2, kept] })
        };
        Comparison {
            policies: both.each_ref().map(|of| of.name.to_string()),
            figures: figures.collect(),
            groups: second.groups.iter().filter_map(group).collect(),
            paired: None,
            mistakes: None,
        }
    }

    /// Returns a figure of the second policy less that of the first; `None` if one of them does not have it.
    pub fn difference(&self, metric: &str) -> Option<f64> {
        self.figures.get(metric).map(|[first, second]| second - first)
    }
}

/// Returns the result kept in the groups by layer, or by plies to the end without layers.
pub(super) fn groups_of(details: &Details) -> Vec<(i32, u64, f64)> {
    let groups = if details.layers.is_empty() { &details.by_distance } else { &details.layers };
    let group = |Group { key, figures }: &Group| {
        let decisive = &figures.decisive_result;
        let (Key::Layer(group) | Key::Distance(group)) = *key else { return None };
        Some((group, decisive.positions, decisive.result_kept()?))
    };
    groups.iter().filter_map(group).collect()
}

/// Losses of two policies in the same positions, in three sets of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PairedSets {
    /// Every judged position.
    pub all: Pairs,
    /// Positions whose moves differ in outcome.
    pub decisive_result: Pairs,
    /// Positions whose moves differ in score; empty in games without scores.
    pub decisive_score: Pairs,
    /// Positions of the greatest difference, by score and then by outcome, in descending order.
    pub costliest: Vec<Difference>,
}

/// Positions in which two policies were compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Pairs {
    /// Number of positions.
    pub positions: u64,
    /// Number of positions in which their move probabilities differ.
    pub positions_apart: u64,
    /// Comparison by loss of outcome.
    pub outcome: Paired,
    /// Comparison by loss of score; zeros in games without scores.
    pub score: Paired,
    /// Mean losses of each seed of the first and of the second policy.
    pub seeds: Vec<[Lost; 2]>,
}

/// Mean loss of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Lost {
    /// Loss of outcome.
    pub outcome: f64,
    /// Loss of score.
    pub score: f64,
}

/// Counts of positions by which policy loses less, and the mean losses.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Paired {
    /// Number of positions in which the first loses less.
    pub first_better: u64,
    /// Number of positions in which both lose the same.
    pub equal: u64,
    /// Number of positions in which the second loses less.
    pub second_better: u64,
    /// Mean loss of the first.
    pub first_lost: f64,
    /// Mean loss of the second.
    pub second_lost: f64,
    /// Confidence interval of the first's mean loss less the second's; `None` unless positions are a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Interval>,
    /// Losses of the first less those of the second in each position, if they are a sample.
    #[serde(skip)]
    differences: Vec<f64>,
}

/// A position in which one policy loses more than the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Row of the position; only one image of a position is kept.
    pub row: u32,
    /// Position in the game's one-line notation.
    pub position: String,
    /// Board as text.
    pub diagram: String,
    /// Name of the side to move.
    pub mover: String,
    /// Likeliest move of each policy (of its first seed).
    pub moves: [String; 2],
    /// Loss of outcome of each policy.
    pub result_lost: [f64; 2],
    /// Loss of score of each policy.
    pub score_lost: [f64; 2],
    /// All moves with the probabilities of each policy (of its first seed).
    #[serde(skip)]
    pub mistakes: [Mistake; 2],
}

impl Difference {
    /// Returns the absolute differences of the losses of score and of outcome.
    fn size(&self) -> [f64; 2] {
        [self.score_lost, self.result_lost].map(|[first, second]| (first - second).abs())
    }
}

impl Paired {
    /// Adds a position that counts `weight` times; keeps the difference if it is of a sample.
    fn add(&mut self, [first, second]: [f64; 2], weight: u32, is_sample: bool) {
        let (difference, count) = (second - first, u64::from(weight));
        match difference.abs() <= EQUAL {
            true => self.equal += count,
            false if difference > 0.0 => self.first_better += count,
            false => self.second_better += count,
        }
        self.first_lost += first * f64::from(weight);
        self.second_lost += second * f64::from(weight);
        if is_sample {
            self.differences.extend((0..weight).map(|_| -difference));
        }
    }

    /// Divides the sums by the number of positions; a loss is `most` at most, if there can be one.
    fn averaged(&mut self, states: u64, most: Option<f64>) {
        self.first_lost = mean(self.first_lost, states).unwrap_or(0.0);
        self.second_lost = mean(self.second_lost, states).unwrap_or(0.0);
        let differences = std::mem::take(&mut self.differences);
        self.difference = most.and_then(|most| Interval::of(&differences, [-most, most]));
    }
}

impl Pairs {
    fn add(
        &mut self,
        lost: &[[Lost; 2]],
        mean: [Lost; 2],
        is_apart: bool,
        (weight, is_sample): (u32, bool),
    ) {
        self.positions += u64::from(weight);
        self.positions_apart += if is_apart { u64::from(weight) } else { 0 };
        self.outcome.add(mean.map(|lost| lost.outcome), weight, is_sample);
        self.score.add(mean.map(|lost| lost.score), weight, is_sample);
        self.seeds.resize(lost.len(), Default::default());
        for (sums, lost) in self.seeds.iter_mut().zip(lost) {
            for (sum, lost) in sums.iter_mut().zip(lost) {
                sum.outcome += lost.outcome * f64::from(weight);
                sum.score += lost.score * f64::from(weight);
            }
        }
    }

    fn averaged(&mut self, most: Option<Score>) {
        self.outcome.averaged(self.positions, Some(2.0));
        self.score.averaged(self.positions, most.map(|most| 2.0 * f64::from(most.0)));
        for lost in self.seeds.iter_mut().flatten() {
            lost.outcome /= self.positions.max(1) as f64;
            lost.score /= self.positions.max(1) as f64;
        }
    }
}

impl PairedSets {
    /// Adds the positions of a piece. `answers` are those of the first and the second policy for the first
    /// seed, then for the next; the `most` greatest differences are kept.
    pub(super) fn add(
        &mut self,
        game: &dyn Rules,
        piece: &Piece,
        answers: &[Answers],
        (most, is_sample): (usize, bool),
    ) {
        for (at, case) in piece.cases.iter().enumerate() {
            let range = piece.batch.range(at);
            let truths = &piece.truths[range.clone()];
            let probabilities = |answers: &Answers| answers.probabilities[range.clone()].to_vec();
            let loss = |probabilities: &[f64]| {
                let moves = truths.iter().copied().zip(probabilities.iter().copied());
                MoveLoss::of(&case.own, case.timed, moves)
            };
            let lost = |probabilities: &[f64]| {
                let MoveLoss { outcome, score, .. } = loss(probabilities);
                Lost { outcome, score }
            };
            let chosen: Vec<[Vec<f64>; 2]> = answers
                .as_chunks()
                .0
                .iter()
                .map(|pair: &[Answers; 2]| pair.each_ref().map(probabilities))
                .collect();
            let all: Vec<[Lost; 2]> =
                chosen.iter().map(|pair| pair.each_ref().map(|own| lost(own))).collect();
            let average = [0, 1].map(|who| Lost {
                outcome: all.iter().map(|pair| pair[who].outcome).sum::<f64>() / all.len() as f64,
                score: all.iter().map(|pair| pair[who].score).sum::<f64>() / all.len() as f64,
            });
            let differ = |pair: &[Vec<f64>; 2]| {
                pair[0].iter().zip(&pair[1]).any(|(a, b)| (a - b).abs() > EQUAL)
            };
            let is_apart = chosen.iter().any(differ);
            let weighed = (case.weight, is_sample);
            self.all.add(&all, average, is_apart, weighed);
            if case.differs_in_outcome {
                self.decisive_result.add(&all, average, is_apart, weighed);
            }
            if case.differs_in_score {
                self.decisive_score.add(&all, average, is_apart, weighed);
            }
            let position = &piece.batch.positions()[at];
            let mistake = |own: &Vec<f64>| {
                let actions = piece.batch.actions()[range.clone()].iter();
                let moves =
                    actions.zip(truths).zip(own).map(|((&move_, &truth), &p)| (move_, truth, p));
                Mistake::new(game, position, &case.own, (None, loss(own), case.timed), moves)
            };
            let difference = || Difference {
                row: case.row,
                position: game.notation(position),
                diagram: game.diagram(position),
                mover: game.side_name(position.side).to_string(),
                moves: chosen[0].each_ref().map(|own| {
                    let action = piece.batch.actions()[range.clone()][likeliest(own)];
                    game.action_name(position.side, action)
                }),
                result_lost: average.map(|lost| lost.outcome),
                score_lost: average.map(|lost| lost.score),
                mistakes: chosen[0].each_ref().map(mistake),
            };
            let size = [
                (average[0].score - average[1].score).abs(),
                (average[0].outcome - average[1].outcome).abs(),
            ];
            self.keep(case.row, size, most, difference);
        }
    }

    /// Keeps a difference if it is among the greatest, and the greatest of its row.
    fn keep(&mut self, row: u32, size: [f64; 2], most: usize, difference: impl Fn() -> Difference) {
        let is_full = self.costliest.len() >= most;
        let is_small = |other: &Difference| size <= other.size();
        let same = self.costliest.iter().position(|other| other.row == row);
        if most == 0
            || size[0].max(size[1]) <= EQUAL
            || is_full && self.costliest.last().is_some_and(is_small)
            || same.is_some_and(|same| is_small(&self.costliest[same]))
        {
            return;
        }
        if let Some(same) = same {
            self.costliest.remove(same);
        }
        let place = self.costliest.partition_point(|other| other.size() >= size);
        self.costliest.insert(place, difference());
        self.costliest.truncate(most);
    }

    /// Divides the sums by the numbers of positions, once all are added; `most` is the largest score of the game.
    pub(super) fn averaged(mut self, most: Option<Score>) -> PairedSets {
        let sets = [&mut self.all, &mut self.decisive_result, &mut self.decisive_score];
        sets.into_iter().for_each(|pairs| pairs.averaged(most));
        self
    }
}

/// Agreement of each two policies: the sum over positions with a choice of Σ min(p, q) over the moves, which
/// is 1 minus the total variation distance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Sums by pair of policies, row by row of the lower triangle.
    sums: Vec<f64>,
    positions: f64,
}

impl Agreement {
    /// Adds the answers of policies, always the same ones, for a piece.
    pub fn add(&mut self, piece: &Piece, answers: &[Answers]) {
        let count = answers.len();
        self.sums.resize(count * count, 0.0);
        for (at, case) in piece.cases.iter().enumerate() {
            let moves = piece.batch.range(at);
            if moves.len() < 2 {
                continue;
            }
            let weight = f64::from(case.weight);
            self.positions += weight;
            for (row, first) in answers.iter().enumerate() {
                for (column, second) in answers.iter().enumerate().take(row + 1) {
                    let both = first.probabilities[moves.clone()]
                        .iter()
                        .zip(&second.probabilities[moves.clone()]);
                    let common: f64 = both.map(|(p, q)| p.min(*q)).sum();
                    self.sums[row * count + column] += weight * common;
                }
            }
        }
    }

    /// Returns the mean agreement of two policies by their indices, 0 to 1; 0 if there are no positions.
    pub fn of(&self, first: usize, second: usize) -> f64 {
        let count = self.sums.len().isqrt();
        let sum = self.sums.get(first.max(second) * count + first.min(second));
        sum.map_or(0.0, |sum| sum / self.positions.max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Case, Truth};
    use yomikiri::registry::othello;
    use yomikiri::rules::{Action, Outcome};

    #[test]
    fn the_common_part_is_the_lesser_probability() {
        let own = Truth { outcome: Outcome::Draw, score: None, distance: None, rank: 0 };
        let start = othello("4").unwrap().start();
        let mut piece = Piece::default();
        for (row, moves) in [(0, 2), (1, 4), (2, 1)] {
            piece.batch.push(start, (0..moves).map(Action));
            piece.cases.push(Case::of(row, None, own, &[own]).unwrap());
        }
        let first = vec![1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let even = vec![0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 1.0];
        let of = |probabilities| Answers { probabilities, ..Answers::default() };
        let mut agreement = Agreement::default();
        agreement.add(&piece, &[of(first), of(even)]);
        // In the two positions with a choice: a half, and a quarter.
        assert_eq!([agreement.of(0, 1), agreement.of(1, 0)], [0.375; 2]);
        assert_eq!([agreement.of(0, 0), agreement.of(1, 1)], [1.0; 2]);
        assert_eq!(Agreement::default().of(0, 0), 0.0);
    }
}
