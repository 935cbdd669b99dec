//! Figures of a policy on a set of positions: sums, so that sets can be added, and means.

use serde::Serialize;

use super::positions::{Case, Truth};
use yomikiri::rules::{Outcome, Split};

/// Figures of a policy on a set of positions. The fields are sums over the positions of expectations over the
/// policy's moves; the methods return the means, which [`FIGURES`](super::FIGURES) declares.
///
/// All values are those of the player to move. JSON contains the means, not the sums: see
/// `docs/json.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Number of positions.
    pub positions: u64,
    /// Number of positions whose moves have scores: all in a layered game, none in a cyclic one.
    pub scored: u64,
    /// Number of positions in which distances are compared. In a cyclic game these are won or lost in an
    /// exactly known number of plies, as is every move that keeps the outcome; a layered game has none.
    pub timed: u64,
    /// Probability of moves that keep the best outcome.
    pub result_kept: f64,
    /// Share of the moves that keep the best outcome, which is what uniform random moves keep.
    pub chance_kept: f64,
    /// Probability of moves that keep the best score.
    pub score_kept: f64,
    /// In the timed positions: probability of moves that keep the best outcome and win as soon, or lose as
    /// late, as possible.
    pub plies_kept: f64,
    /// Best outcome minus the chosen one's: a win is 1, a draw 0 and a loss −1.
    pub result_lost: f64,
    /// Best score minus the chosen one's.
    pub score_lost: f64,
    /// Expected numbers of positions by the best outcome and the outcome after the policy's move, both the
    /// mover's: `outcomes[best][left]` by [`Outcome::index`].
    pub outcomes: [[f64; 3]; 3],
    /// Rank correlations of the policy's scores with the exact values of the moves.
    pub correlation: f64,
    /// Number of positions with a rank correlation: those in which neither the scores nor the values are all
    /// equal.
    pub correlated: u64,
    /// Negative log-likelihood (nats) of the best moves: their joint probability, at least
    /// [`Figures::NO_CHANCE`]. The best moves keep the score, or the outcome in games without scores.
    pub nll: f64,
    /// Number of positions in which that probability is below [`Figures::NO_CHANCE`].
    pub no_chance: u64,
    /// Entropies (nats) of the probabilities.
    pub entropy: f64,
    /// Probability that a best move is among the first one, two or three by the policy's scores, with ties in
    /// random order.
    pub top: [f64; 3],
    /// Probability of moves that lose [`Figures::LARGE`] of the score or more.
    pub large_losses: f64,
    /// Figures of the likeliest move alone, which several of equal probability share.
    pub likeliest: Likeliest,
}

/// Figures of the likeliest move, as those of all moves in [`Figures`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Likeliest {
    /// Probability that it keeps the best outcome.
    pub result_kept: f64,
    /// Probability that it keeps the best score.
    pub score_kept: f64,
    /// Outcome lost by it.
    pub result_lost: f64,
    /// Score lost by it.
    pub score_lost: f64,
}

impl Likeliest {
    fn add(&mut self, other: &Likeliest, weight: f64) {
        self.result_kept += weight * other.result_kept;
        self.score_kept += weight * other.score_kept;
        self.result_lost += weight * other.result_lost;
        self.score_lost += weight * other.score_lost;
    }

    /// Returns the figures of one position.
    fn of(best: &Truth, truths: &[Truth], probabilities: &[f64]) -> Likeliest {
        let most = probabilities.iter().copied().fold(0.0, f64::max);
        let (mut count, mut kept, mut lost) = (0, [0; 2], [0.0; 2]);
        for (truth, _) in truths.iter().zip(probabilities).filter(|(_, p)| **p >= most - EQUAL) {
            count += 1;
            kept[0] += i32::from(truth.outcome == best.outcome);
            kept[1] += i32::from(truth.score == best.score);
            lost[0] += result_lost_by(best, truth);
            lost[1] += f64::from(score_lost_by(best, truth));
        }
        let each = f64::from(count);
        Likeliest {
            result_kept: f64::from(kept[0]) / each,
            score_kept: f64::from(kept[1]) / each,
            result_lost: lost[0] / each,
            score_lost: lost[1] / each,
        }
    }
}

impl Figures {
    /// Lower bound of probabilities in logarithms.
    pub const NO_CHANCE: f64 = 1e-12;
    /// Loss of score from which on a loss is large.
    pub const LARGE: i32 = 4;

    /// Adds the figures of another, disjoint set.
    pub fn add(&mut self, other: &Figures) {
        self.positions += other.positions;
        self.scored += other.scored;
        self.timed += other.timed;
        self.result_kept += other.result_kept;
        self.chance_kept += other.chance_kept;
        self.score_kept += other.score_kept;
        self.plies_kept += other.plies_kept;
        self.result_lost += other.result_lost;
        self.score_lost += other.score_lost;
        self.correlation += other.correlation;
        self.correlated += other.correlated;
        self.nll += other.nll;
        self.no_chance += other.no_chance;
        self.entropy += other.entropy;
        self.top.iter_mut().zip(&other.top).for_each(|(sum, other)| *sum += other);
        self.large_losses += other.large_losses;
        self.likeliest.add(&other.likeliest, 1.0);
        for (sums, others) in self.outcomes.iter_mut().zip(&other.outcomes) {
            sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
        }
    }

    /// Returns the mean over all positions; `None` for an empty set.
    pub(super) fn mean(&self, sum: f64) -> Option<f64> {
        mean(sum, self.positions)
    }

    /// Returns the mean probability of keeping the best outcome.
    pub fn result_kept(&self) -> Option<f64> {
        self.mean(self.result_kept)
    }

    /// Returns the mean probability of keeping the best outcome by uniform random moves.
    pub fn chance_kept(&self) -> Option<f64> {
        self.mean(self.chance_kept)
    }

    /// Returns the mean probability of keeping the best score.
    pub fn score_kept(&self) -> Option<f64> {
        mean(self.score_kept, self.scored)
    }

    /// Returns the mean probability of winning as soon, or losing as late, as possible.
    pub fn plies_kept(&self) -> Option<f64> {
        mean(self.plies_kept, self.timed)
    }

    /// Returns the mean loss of score.
    pub fn score_lost(&self) -> Option<f64> {
        mean(self.score_lost, self.scored)
    }

    /// Returns the mean rank correlation.
    pub fn rank_correlation(&self) -> Option<f64> {
        mean(self.correlation, self.correlated)
    }

    /// Returns the share of positions in which a draw is left of a win.
    pub fn win_to_draw(&self) -> Option<f64> {
        self.left(Outcome::Win, Outcome::Draw)
    }

    /// Returns the share of positions in which a loss is left of a win.
    pub fn win_to_loss(&self) -> Option<f64> {
        self.left(Outcome::Win, Outcome::Loss)
    }

    /// Returns the share of positions in which a loss is left of a draw.
    pub fn draw_to_loss(&self) -> Option<f64> {
        self.left(Outcome::Draw, Outcome::Loss)
    }

    /// Returns the expected number of positions in which some of the result is lost.
    pub fn blunders(&self) -> f64 {
        let [_, of_draw, of_win] = self.outcomes;
        of_draw[0] + of_win[0] + of_win[1]
    }

    /// Returns the share of positions in which [`Figures::LARGE`] of the score or more is lost.
    pub fn large_loss_rate(&self) -> Option<f64> {
        mean(self.large_losses, self.scored)
    }

    /// Returns the expected number of positions in which [`Figures::LARGE`] of the score or more is lost.
    pub fn large_losses(&self) -> Option<f64> {
        (self.scored > 0).then_some(self.large_losses)
    }

    /// Returns the mean of a sum over positions with scores.
    pub(super) fn mean_scored(&self, sum: f64) -> Option<f64> {
        mean(sum, self.scored)
    }

    fn left(&self, best: Outcome, left: Outcome) -> Option<f64> {
        self.mean(self.outcomes[best.index()][left.index()])
    }

    /// Returns the figures of one position, whose moves have the values `truths`, and from the policy
    /// `probabilities` and `scores`.
    ///
    /// If no worse move has a positive probability, the figures are exactly 1 and no loss, however the
    /// probabilities are rounded.
    pub(super) fn of_position(
        case: &Case,
        truths: &[Truth],
        probabilities: &[f64],
        scores: &[f64],
    ) -> Figures {
        let mut figures = Figures::default();
        figures.add_position((case, 1), truths, probabilities, scores);
        figures
    }

    /// Adds the figures of a position that counts `weight` times.
    pub(super) fn add_position(
        &mut self,
        (case, weight): (&Case, u32),
        truths: &[Truth],
        probabilities: &[f64],
        scores: &[f64],
    ) {
        let (best, has_scores) = (&case.own, case.own.score.is_some());
        let (count, weight) = (u64::from(weight), f64::from(weight));
        let (mut outcome, mut score, mut distance) = (Share::new(), Share::new(), Share::new());
        let (mut left, mut result_lost, mut score_lost, mut entropy) = ([0.0; 3], 0.0, 0.0, 0.0);
        let mut large_losses = 0.0;
        for (truth, &p) in truths.iter().zip(probabilities).filter(|(_, p)| **p > 0.0) {
            left[truth.outcome.index()] += p;
            outcome.add(truth.outcome == best.outcome, p);
            score.add(truth.score == best.score, p);
            distance.add(truth.rank == best.rank, p);
            result_lost += p * result_lost_by(best, truth);
            let lost = score_lost_by(best, truth);
            score_lost += p * f64::from(lost);
            large_losses += if lost >= Figures::LARGE { p } else { 0.0 };
            entropy -= if p < 1.0 { p * p.ln() } else { 0.0 };
        }
        self.positions += count;
        self.result_kept += outcome.total() * weight;
        let keeping = truths.iter().filter(|truth| truth.outcome == best.outcome).count();
        self.chance_kept += keeping as f64 / truths.len().max(1) as f64 * weight;
        if has_scores {
            self.scored += count;
            self.score_kept += score.total() * weight;
        }
        if case.timed {
            self.timed += count;
            self.plies_kept += distance.total() * weight;
        }
        let sums = &mut self.outcomes[best.outcome.index()];
        sums.iter_mut().zip(left).for_each(|(sum, p)| *sum += p * weight);
        self.result_lost += result_lost * weight;
        self.score_lost += score_lost * weight;
        self.entropy += entropy * weight;
        self.large_losses += large_losses * weight;
        self.likeliest.add(&Likeliest::of(best, truths, probabilities), weight);
        let q = |at: usize| truths[at].q() as f64;
        // In games without scores, distances distinguish moves too.
        let may_correlate = case.differs_in_score || !has_scores;
        let correlate = || rank_correlation(scores.len(), |at| scores[at], q);
        if let Some(correlation) = may_correlate.then(correlate).flatten() {
            self.correlated += count;
            self.correlation += correlation * weight;
        }
        let kept = if has_scores { score.total() } else { outcome.total() };
        self.nll += -kept.clamp(Figures::NO_CHANCE, 1.0).ln() * weight;
        self.no_chance += count * u64::from(kept < Figures::NO_CHANCE);
        let top = among_first(scores, |at| truths[at].q_score() == best.q_score());
        self.top.iter_mut().zip(top).for_each(|(sum, p)| *sum += p * weight);
    }
}

/// Returns the loss of outcome by a move: 0, 1 or 2.
pub(super) fn result_lost_by(best: &Truth, truth: &Truth) -> f64 {
    f64::from(best.outcome.value() - truth.outcome.value())
}

/// Returns the loss of score by a move; 0 in games without scores.
pub(super) fn score_lost_by(best: &Truth, truth: &Truth) -> i32 {
    match (best.score, truth.score) {
        (Some(best), Some(score)) => i32::from(best.0) - i32::from(score.0),
        _ => 0,
    }
}

/// Probability of moves that keep something, exactly 1 if all of them do.
struct Share {
    sum: f64,
    always: bool,
}

impl Share {
    fn new() -> Share {
        Share { sum: 0.0, always: true }
    }

    fn add(&mut self, keeps: bool, p: f64) {
        match keeps {
            true => self.sum += p,
            false => self.always = false,
        }
    }

    fn total(&self) -> f64 {
        if self.always { 1.0 } else { self.sum }
    }
}

/// Figures that differ by no more than this count as equal.
pub(super) const EQUAL: f64 = 1e-9;

pub(super) fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// Figures of a policy on three sets of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FiguresBySet {
    /// Every judged position that is not terminal, including forced moves and passes.
    pub all: Figures,
    /// Positions whose legal moves differ in outcome.
    pub decisive_result: Figures,
    /// Positions whose legal moves differ in score; `None` if the game has no scores.
    pub decisive_score: Option<Figures>,
}

impl FiguresBySet {
    /// Returns empty figures for a game with scores; the default is for games without.
    pub fn scored() -> FiguresBySet {
        FiguresBySet { decisive_score: Some(Figures::default()), ..FiguresBySet::default() }
    }

    /// Adds the figures of positions that are alike in whether their moves differ in outcome, and in score
    /// (`None` in games without scores).
    pub(super) fn add_some(&mut self, in_outcome: bool, in_score: Option<bool>, some: &Figures) {
        self.all.add(some);
        if in_outcome {
            self.decisive_result.add(some);
        }
        if let Some(differs) = in_score {
            let scored = self.decisive_score.get_or_insert_default();
            if differs {
                scored.add(some);
            }
        }
    }

    /// Adds the figures of other positions.
    pub fn add(&mut self, other: &FiguresBySet) {
        self.all.add(&other.all);
        self.decisive_result.add(&other.decisive_result);
        if let Some(other) = &other.decisive_score {
            self.decisive_score.get_or_insert_default().add(other);
        }
    }
}

/// Figures of a policy on each part of the split it was trained with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FiguresBySplit {
    /// Positions it was trained on.
    pub train: FiguresBySet,
    /// Positions it was validated on.
    pub validation: FiguresBySet,
    /// All other positions, except unused ones of the training part.
    pub test: FiguresBySet,
}

impl FiguresBySplit {
    /// Returns the figures of a part.
    pub fn of(&self, split: Split) -> &FiguresBySet {
        match split {
            Split::Train => &self.train,
            Split::Validation => &self.validation,
            Split::Test => &self.test,
        }
    }

    /// Returns the part to judge the policy by: the test part, or else the validation part; `None` if it was
    /// trained on all positions.
    pub fn held_out(&self) -> Option<Split> {
        [Split::Test, Split::Validation].into_iter().find(|&split| self.of(split).all.positions > 0)
    }
}

/// Returns Spearman's ρ (1904) of two lists of length `len`: the correlation of their ranks, ties sharing
/// their mean rank. `None` if one of the lists is constant.
fn rank_correlation(len: usize, a: impl Fn(usize) -> f64, b: impl Fn(usize) -> f64) -> Option<f64> {
    let (mut both, mut one, mut other) = (0, 0, 0);
    for at in 0..len {
        let (a, b) = (rank(len, &a, at), rank(len, &b, at));
        both += a * b;
        one += a * a;
        other += b * b;
    }
    (one > 0 && other > 0).then(|| both as f64 / (one as f64 * other as f64).sqrt())
}

/// Returns twice the difference of an element's rank and the mean rank: elements below minus elements above.
/// Integers make sums exact.
fn rank(len: usize, list: impl Fn(usize) -> f64, at: usize) -> i64 {
    let own = list(at);
    (0..len).map(|at| i64::from(list(at) < own) - i64::from(list(at) > own)).sum()
}

/// Returns the probability that one of the best is among the first one, two or three elements in descending
/// order, with ties in random order.
fn among_first(list: &[f64], is_best: impl Fn(usize) -> bool) -> [f64; 3] {
    let best = (0..list.len()).filter(|&at| is_best(at)).map(|at| list[at]);
    let first = best.fold(f64::NEG_INFINITY, f64::max);
    let (mut above, mut level, mut others) = (0, 0, 0);
    for (at, &x) in list.iter().enumerate() {
        above += usize::from(x > first);
        level += usize::from(x == first);
        others += usize::from(x == first && !is_best(at));
    }
    if others == 0 {
        return [1, 2, 3].map(|places| f64::from(u8::from(above < places)));
    }
    // Probability that all drawn from those level with the first best one are others; none above it is best.
    let (mut none, mut drawn) = (1.0, 0);
    [1, 2, 3].map(|places: usize| {
        while drawn < places.saturating_sub(above).min(level) {
            none *= others.saturating_sub(drawn) as f64 / (level - drawn) as f64;
            drawn += 1;
        }
        1.0 - none
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_compared() {
        let of = |a: &[f64], b: &[f64]| rank_correlation(a.len(), |at| a[at], |at| b[at]);
        assert_eq!(of(&[1.0, 2.0, 9.0], &[-3.0, 0.0, 0.5]), Some(1.0));
        assert_eq!(of(&[1.0, 2.0, 9.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(of(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(of(&[1.0], &[1.0]), None);
        // Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: 4.5 / sqrt(4.5 * 5).
        let found = of(&[0.0, 5.0, 5.0, 6.0], &[1.0, 3.0, 2.0, 4.0]).unwrap();
        assert!((found - 4.5 / 22.5f64.sqrt()).abs() < 1e-15, "{found}");
    }

    #[test]
    fn the_best_are_among_the_first() {
        let of = |list: &[f64], best: &[usize]| among_first(list, |at| best.contains(&at));
        assert_eq!(of(&[1.0], &[0]), [1.0; 3]);
        assert_eq!(of(&[3.0, 2.0, 1.0, 0.0], &[1, 3]), [0.0, 1.0, 1.0]);
        assert_eq!(of(&[3.0, 2.0, 1.0, 0.0], &[3]), [0.0; 3]);
        // Three tied, one of them best: it comes first in a third of the orders.
        assert_eq!(of(&[0.0, 0.0, 0.0], &[1]), [1.0 - 2.0 / 3.0, 1.0 - 2.0 / 3.0 / 2.0, 1.0]);
        // One above, four tied of which two are best: at least one of the two drawn is best with 1 - 1/6.
        let low = f64::NEG_INFINITY;
        let found = of(&[low, 5.0, low, low, low], &[0, 4]);
        assert_eq!(found[..2], [0.0, 0.5]);
        assert!((found[2] - 5.0 / 6.0).abs() < 1e-15, "{found:?}");
    }
}
