//! What is measured of a policy on a set of positions: sums, so that sets can be added, and means.

use schemars::JsonSchema;
use serde::Serialize;

use super::source::{Case, Truth};
use yomikiri::game::{Outcome, Split};

/// The figures of a policy on a set of positions. The fields are sums over the positions of
/// expectations over the policy's moves; [`Figures::means`] gives the means.
///
/// All values are those of the player to move. As JSON the means are written, not the sums: see
/// `docs/json.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(into = "Means")]
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
    /// Best score less the chosen one's.
    pub loss_score: f64,
    /// Expected numbers of positions by the best outcome and the one that is left, both the
    /// mover's: `outcomes[best][left]` by [`Outcome::index`].
    pub outcomes: [[f64; 3]; 3],
    /// Rank correlations of the policy's scores with the exact values of the moves.
    pub correlation: f64,
    /// How many positions have one: those in which neither are all equal.
    pub correlated: u64,
    /// Negative logarithms (nats) of the probability of all best moves together, which counts as
    /// [`Figures::NO_CHANCE`] where it is less. The best keep the score, or the outcome in games
    /// without scores.
    pub nll: f64,
    /// How many positions it is less in.
    pub no_chance: u64,
    /// Entropies (nats) of the probabilities.
    pub entropy: f64,
    /// Probability that a best move is among the first one, two or three, as the policy's scores
    /// rank them, equal ones in any order.
    pub top: [f64; 3],
}

impl Figures {
    /// The least probability of which a logarithm is taken.
    pub const NO_CHANCE: f64 = 1e-12;

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
        self.correlation += other.correlation;
        self.correlated += other.correlated;
        self.nll += other.nll;
        self.no_chance += other.no_chance;
        self.entropy += other.entropy;
        self.top.iter_mut().zip(&other.top).for_each(|(sum, other)| *sum += other);
        for (sums, others) in self.outcomes.iter_mut().zip(&other.outcomes) {
            sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
        }
    }

    /// The means; `None` for an empty set.
    pub fn means(&self) -> Means {
        let mean = |sum| mean(sum, self.states);
        let blunder = |best: Outcome, left: Outcome| {
            let expected_states = self.outcomes[best.index()][left.index()];
            Blunder { expected_states, share: mean(expected_states) }
        };
        let [top_1, top_2, top_3] = self.top.map(mean);
        Means {
            states: self.states,
            distance_states: self.timed,
            optimal_by_outcome: mean(self.optimal_outcome),
            optimal_by_score: self::mean(self.optimal_score, self.scored),
            optimal_by_distance: self::mean(self.optimal_distance, self.timed),
            expected_loss_outcome: mean(self.loss_outcome),
            expected_loss_score: self::mean(self.loss_score, self.scored),
            rank_correlation: self::mean(self.correlation, self.correlated),
            rank_correlation_states: self.correlated,
            nll: mean(self.nll),
            no_chance_states: self.no_chance,
            entropy: mean(self.entropy),
            top_1,
            top_2,
            top_3,
            blunders: Blunders {
                win_to_draw: blunder(Outcome::Win, Outcome::Draw),
                win_to_loss: blunder(Outcome::Win, Outcome::Loss),
                draw_to_loss: blunder(Outcome::Draw, Outcome::Loss),
            },
            outcomes: self.outcomes,
        }
    }

    /// The figures of one position, whose moves are worth `truths` and chosen with `probabilities`;
    /// `scores` are what the policy finds them worth.
    ///
    /// Where no worse move has a chance the figures are exactly 1 and exactly no loss, however the
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

    /// Adds those of a position that stands for so many.
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
        let (mut left, mut loss_outcome, mut loss_score, mut entropy) = ([0.0; 3], 0.0, 0.0, 0.0);
        for (truth, &p) in truths.iter().zip(probabilities).filter(|(_, p)| **p > 0.0) {
            left[truth.outcome.index()] += p;
            outcome.add(truth.outcome == best.outcome, p);
            score.add(truth.score == best.score, p);
            distance.add(truth.rank == best.rank, p);
            loss_outcome += p * outcome_lost(best, truth);
            loss_score += p * f64::from(score_lost(best, truth));
            entropy -= if p < 1.0 { p * p.ln() } else { 0.0 };
        }
        self.states += count;
        self.optimal_outcome += outcome.total() * weight;
        if has_scores {
            self.scored += count;
            self.optimal_score += score.total() * weight;
        }
        if case.timed {
            self.timed += count;
            self.optimal_distance += distance.total() * weight;
        }
        let sums = &mut self.outcomes[best.outcome.index()];
        sums.iter_mut().zip(left).for_each(|(sum, p)| *sum += p * weight);
        self.loss_outcome += loss_outcome * weight;
        self.loss_score += loss_score * weight;
        self.entropy += entropy * weight;
        let q = |at: usize| truths[at].q() as f64;
        // Without scores moves are told apart by distances too.
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

/// What a move gives away of the outcome: 0, 1 or 2.
pub(super) fn outcome_lost(best: &Truth, truth: &Truth) -> f64 {
    f64::from(best.outcome.value() - truth.outcome.value())
}

/// What it gives away of the score; 0 in games without scores.
pub(super) fn score_lost(best: &Truth, truth: &Truth) -> i32 {
    match (best.score, truth.score) {
        (Some(best), Some(score)) => i32::from(best.0) - i32::from(score.0),
        _ => 0,
    }
}

/// The probability of moves that keep something.
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

pub(super) fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// The figures of a policy on three sets of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
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

    /// Adds the figures of positions whose moves differ in outcome or not, and in score; `None` where
    /// there are no scores.
    pub(super) fn add_some(&mut self, in_outcome: bool, in_score: Option<bool>, some: &Figures) {
        self.all.add(some);
        if in_outcome {
            self.decisive_outcome.add(some);
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
        self.decisive_outcome.add(&other.decisive_outcome);
        if let Some(other) = &other.decisive_score {
            self.decisive_score.get_or_insert_default().add(other);
        }
    }
}

/// The figures of a policy on the positions of each part, as they were divided when it learned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FiguresBySplit {
    /// Those it has learned from.
    pub train: FiguresBySet,
    /// Those by which something was chosen.
    pub validation: FiguresBySet,
    /// The others, but for those that were for training and not in use.
    pub test: FiguresBySet,
}

impl FiguresBySplit {
    /// The figures of a part.
    pub fn of(&self, split: Split) -> &FiguresBySet {
        match split {
            Split::Train => &self.train,
            Split::Validation => &self.validation,
            Split::Test => &self.test,
        }
    }

    /// The part that says how good the policy is where it has not learned: the test, or where there
    /// is none the validation; `None` if it has learned from everything.
    pub fn held_out(&self) -> Option<Split> {
        [Split::Test, Split::Validation].into_iter().find(|&split| self.of(split).all.states > 0)
    }
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Blunder {
    /// In how many positions that is expected.
    pub expected_states: f64,
    /// That over the positions, 0 to 1.
    pub share: Option<f64>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Blunders {
    /// A win could be had, a draw is left.
    pub win_to_draw: Blunder,
    /// A win could be had, a loss is left.
    pub win_to_loss: Blunder,
    /// A draw could be had, a loss is left.
    pub draw_to_loss: Blunder,
}

/// Means over positions.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Means {
    /// How many positions.
    pub states: u64,
    /// Those in which distances are compared.
    pub distance_states: u64,
    /// How often the move keeps the best outcome, 0 to 1.
    pub optimal_by_outcome: Option<f64>,
    /// The best score, 0 to 1.
    pub optimal_by_score: Option<f64>,
    /// Over distance_states: wins as soon, or loses as late, as can be, 0 to 1.
    pub optimal_by_distance: Option<f64>,
    /// What a move gives away of the outcome, 0 to 2.
    pub expected_loss_outcome: Option<f64>,
    /// Of the score.
    pub expected_loss_score: Option<f64>,
    /// Spearman's rank correlation of the policy's scores with the exact values of the moves.
    pub rank_correlation: Option<f64>,
    /// The positions that is the mean of.
    pub rank_correlation_states: u64,
    /// -ln of the probability of the best moves, in nats.
    pub nll: Option<f64>,
    /// The positions in which that probability is below 1e-12 and counts as so much.
    pub no_chance_states: u64,
    /// Of the probabilities, in nats.
    pub entropy: Option<f64>,
    /// How often the move ranked first is a best one, 0 to 1.
    pub top_1: Option<f64>,
    /// One of the first two, 0 to 1.
    pub top_2: Option<f64>,
    /// One of the first three, 0 to 1.
    pub top_3: Option<f64>,
    /// What is thrown away.
    pub blunders: Blunders,
    /// Expected positions by the best outcome (loss, draw, win) and the one that is left.
    pub outcomes: [[f64; 3]; 3],
}

impl Means {
    /// Share of the positions in which the best moves have no chance.
    pub fn no_chance(&self) -> Option<f64> {
        mean(self.no_chance_states as f64, self.states)
    }
}

impl From<Figures> for Means {
    fn from(of: Figures) -> Means {
        of.means()
    }
}

/// Spearman's ρ of two lists of the same length: the correlation of their ranks, equal elements
/// sharing the mean of theirs. `None` where one of the lists is constant. Spearman 1904.
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

/// Twice the rank of an element less the mean rank: so many are below it less those above. Whole, so that
/// no sum is rounded.
fn rank(len: usize, list: impl Fn(usize) -> f64, at: usize) -> i64 {
    let own = list(at);
    (0..len).map(|at| i64::from(list(at) < own) - i64::from(list(at) > own)).sum()
}

/// The probability that one of the best is among the first one, two or three, the highest first and
/// equal elements in any order, each as likely as the others.
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
    // That all drawn from those level with the first of the best are others: none above is best.
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
        // Three are level, one of them best: in a third of the orders it comes first.
        assert_eq!(of(&[0.0, 0.0, 0.0], &[1]), [1.0 - 2.0 / 3.0, 1.0 - 2.0 / 3.0 / 2.0, 1.0]);
        // One above, four level of which two are best, of the two drawn at least one: 1 - 1/6.
        let low = f64::NEG_INFINITY;
        let found = of(&[low, 5.0, low, low, low], &[0, 4]);
        assert_eq!(found[..2], [0.0, 0.5]);
        assert!((found[2] - 5.0 / 6.0).abs() < 1e-15, "{found:?}");
    }
}
