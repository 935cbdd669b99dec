//! Confidence intervals of figures of a sample.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::ser::{Serialize, Serializer};

use super::figure_list::{FIGURES, Figure, FigureSource, Most};
use super::figures::{EQUAL, Figures};
use super::positions::Piece;
use super::values::ValueFigures;
use crate::policy::Answers;
use yomikiri::rules::{Divider, Score, Split};

/// A 95 % confidence interval of the mean of independent draws.
///
/// The method is that of Clopper and Pearson ("The use of confidence or fiducial limits", 1934) where every draw is at an
/// end of the range, else bets against every mean (Waudby-Smith and Ramdas, "Estimating means of bounded random
/// variables by betting", 2024, hedged, with predictable plug-in bets). Both hold for any distribution within the range.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

/// Confidence intervals of a policy's figures over the positions of a sample, by the names of `--metrics`: of moves where
/// these differ in outcome, of predicted values everywhere. Figures that are no means over positions have none.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals(Vec<(&'static str, Interval)>);

impl Intervals {
    /// Returns the interval of the figure of a name; `None` if it has none.
    pub fn of(&self, figure: &str) -> Option<Interval> {
        self.0.iter().find(|(name, _)| *name == figure).map(|(_, interval)| *interval)
    }
}

impl Serialize for Intervals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, interval)| (name, interval)))
    }
}

#[cfg(feature = "schemas")]
impl schemars::JsonSchema for Intervals {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Intervals".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Confidence intervals of figures of a sample, by name.",
            "type": "object",
            "additionalProperties": generator.subschema_for::<Interval>(),
        })
    }
}

/// Probability that the mean is beyond one of the ends.
const BEYOND: f64 = 0.025;
/// Halvings that find an end.
const HALVINGS: u32 = 24;
/// Most steps of a bet; more draws are averaged in groups, whose means have the same mean.
const MOST_STEPS: usize = 1 << 14;
/// Largest share of the capital that is bet: some is left after every draw.
const MOST_BET: f64 = 0.9;

impl Interval {
    /// Returns the interval of the mean of `draws`, which lie between `least` and `most`; `None` if there are none.
    pub(super) fn of(draws: &[f64], [least, most]: [f64; 2]) -> Option<Interval> {
        if draws.is_empty() {
            return None;
        }
        let within = |draw: &f64| ((draw - least) / (most - least)).clamp(0.0, 1.0);
        let is_at_end = |draw: &f64| draw.min(1.0 - draw) < EQUAL;
        let mut draws: Vec<f64> = draws.iter().map(within).collect();
        let lower = match draws.iter().all(is_at_end) {
            true => {
                let count = draws.len() as u64;
                let high = draws.iter().filter(|draw| **draw > 0.5).count() as u64;
                [least_share(high, count), least_share(count - high, count)]
            }
            false => {
                // Equal positions come together, so that without this the next draw could be foreseen.
                let mut random = SplitMix64::seed_from_u64(0);
                for at in 1..draws.len() {
                    draws.swap(at, (random.next_u64() % (at as u64 + 1)) as usize);
                }
                let mean = |some: &[f64]| some.iter().sum::<f64>() / some.len() as f64;
                let steps = draws.chunks(draws.len().div_ceil(MOST_STEPS)).map(mean);
                let steps: Vec<f64> = steps.collect();
                let turned: Vec<f64> = steps.iter().map(|step| 1.0 - step).collect();
                [least_mean(&steps), least_mean(&turned)]
            }
        };
        let width = most - least;
        Some(Interval { lower: least + lower[0] * width, upper: most - lower[1] * width })
    }

    /// Returns `true` if a number is in it.
    pub fn contains(&self, number: f64) -> bool {
        self.lower <= number && number <= self.upper
    }
}

/// Figures of moves and of values that have intervals, with their largest number in games of that largest score.
fn with_intervals(most: Option<Score>) -> impl Iterator<Item = (&'static Figure, f64)> {
    FIGURES.iter().filter_map(move |figure| {
        let is_drawn = matches!(figure.source, FigureSource::Moves(_) | FigureSource::Values(_));
        let most = match figure.most {
            Most::Unknown => None,
            Most::Of(most) => Some(most),
            Most::Scores => most.map(|most| 2.0 * f64::from(most.0)),
        };
        is_drawn.then_some(figure).zip(most)
    })
}

/// A policy's figures in a drawn position.
struct Draw {
    /// Numbers of [`with_intervals`], in that order, not a number where the position is not counted; empty if it is in
    /// none.
    numbers: Box<[f64]>,
    /// Part of the policy's training split.
    split: Option<Split>,
    /// Number of times that the position was drawn.
    times: u32,
}

impl Draw {
    fn is_in(&self, part: Option<Split>) -> bool {
        part.is_none() || self.split == part
    }

    /// Returns a number if the position is counted for it.
    fn number(&self, at: usize) -> Option<f64> {
        self.numbers.get(at).copied().filter(|number| !number.is_nan())
    }
}

/// Repeats numbers as often as their positions were drawn.
fn repeated(numbers: impl Iterator<Item = (f64, u32)>) -> Vec<f64> {
    numbers.flat_map(|(number, times)| (0..times).map(move |_| number)).collect()
}

/// A policy's figures in the positions of a sample, each as often as it was drawn.
pub(super) struct Draws {
    divider: Option<Divider>,
    figures: Vec<(&'static Figure, f64)>,
    draws: Vec<Draw>,
}

impl Draws {
    /// Returns no draws of a policy in a game of that largest score; the divider is that of its training.
    pub(super) fn new(divider: Option<Divider>, most: Option<Score>) -> Draws {
        Draws { divider, figures: with_intervals(most).collect(), draws: Vec::new() }
    }

    /// Adds the answers in a piece.
    pub(super) fn add(&mut self, piece: &Piece, answers: &Answers) {
        for (at, case) in piece.cases.iter().enumerate() {
            let range = piece.batch.range(at);
            let answer = answers.at(at, range.clone());
            let moves = case.differs_in_outcome.then(|| {
                Figures::of_position(
                    case,
                    &piece.truths[range],
                    answer.probabilities,
                    answer.scores,
                )
            });
            let values = answer.value.map(|value| {
                let mut values = ValueFigures::default();
                values.add_position(case.own.outcome, value, 1);
                values
            });
            let number = |(figure, _): &(&Figure, f64)| match figure.source {
                FigureSource::Moves(of) => moves.as_ref().and_then(of),
                FigureSource::Values(of) => values.as_ref().and_then(of),
                _ => None,
            };
            let numbers = self.figures.iter().map(|figure| number(figure).unwrap_or(f64::NAN));
            let is_counted = moves.is_some() || values.is_some();
            let numbers = if is_counted { numbers.collect() } else { Box::default() };
            let state = &piece.batch.positions()[at].state;
            let split = self.divider.as_ref().and_then(|divider| divider.of(state));
            self.draws.push(Draw { numbers, split, times: case.weight });
        }
    }

    /// Returns the intervals over a part of the training split, or over all draws.
    pub(super) fn intervals(&self, part: Option<Split>) -> Option<Intervals> {
        let of = |(at, (figure, most)): (usize, &(&'static Figure, f64))| {
            let draws = self.draws.iter().filter(|draw| draw.is_in(part));
            let draws = repeated(draws.filter_map(|draw| Some((draw.number(at)?, draw.times))));
            Some((figure.name, Interval::of(&draws, [0.0, *most])?))
        };
        let all: Vec<_> = self.figures.iter().enumerate().filter_map(of).collect();
        (!all.is_empty()).then_some(Intervals(all))
    }

    /// Returns the interval of the result kept less that of another policy, in the draws that belong to the parts of
    /// both.
    pub(super) fn difference(
        &self,
        part: Option<Split>,
        (other, other_part): (&Draws, Option<Split>),
    ) -> Option<Interval> {
        let both = self.draws.iter().zip(&other.draws);
        let both = both.filter(|(own, other)| own.is_in(part) && other.is_in(other_part));
        let kept = self.figures.iter().position(|(figure, _)| figure.name == "result_kept")?;
        let draws = both
            .filter_map(|(own, other)| Some((own.number(kept)? - other.number(kept)?, own.times)));
        Interval::of(&repeated(draws), [-1.0, 1.0])
    }
}

/// Returns the end between 0 and 1 below which `is_too_low` holds.
fn end(is_too_low: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        *if is_too_low(middle) { &mut low } else { &mut high } = middle;
    }
    low
}

/// Returns the lower end of Clopper and Pearson for a share.
fn least_share(high: u64, count: u64) -> f64 {
    let [n, k] = [count as f64, high as f64];
    let choices = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
    // The probability of so many or more, whose terms fall from here on: the share is below k / n.
    let is_too_low = |share: f64| {
        let odds = share / (1.0 - share);
        let mut term = libm::exp(choices + k * libm::log(share) + (n - k) * libm::log1p(-share));
        let (mut sum, mut at) = (term, k);
        while at < n && term > sum * 1e-16 {
            term *= (n - at) / (at + 1.0) * odds;
            at += 1.0;
            sum += term;
        }
        share < k / n && sum < BEYOND
    };
    if high == 0 { 0.0 } else { end(is_too_low) }
}

/// Returns the lower end of the mean of some draws from 0 to 1, by bets that they exceed a mean.
fn least_mean(draws: &[f64]) -> f64 {
    let aim = 2.0 * libm::log(1.0 / BEYOND) / draws.len() as f64;
    let (mut sum, mut squares) = (0.5, 0.25);
    let bets = (1..).zip(draws).map(|(count, draw)| {
        let bet = (aim * f64::from(count) / squares).sqrt();
        sum += draw;
        let mean = sum / f64::from(count + 1);
        squares += (draw - mean) * (draw - mean);
        bet
    });
    let bets: Vec<f64> = bets.collect();
    // A capital that is multiplied by so much is an event as rare as that, if the mean is right (Ville 1939).
    end(|mean| {
        let (most, mut capital) = (MOST_BET / mean, 1.0);
        draws.iter().zip(&bets).any(|(draw, bet)| {
            capital *= 1.0 + bet.min(most) * (draw - mean);
            capital >= 1.0 / BEYOND
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{TablePositions, build, measure};
    use yomikiri::oracle::{Orienting, SolvedTable};
    use yomikiri::progress::Silent;
    use yomikiri::registry::othello;
    use yomikiri::table::Store;

    /// A figure of a policy in every position of 4x4 with 2 to 6 empty squares whose moves differ in outcome, and the
    /// share of these among all positions.
    struct Population {
        policy: &'static str,
        figures: [Vec<f64>; 2],
        decisive: f64,
    }

    /// Returns the numbers of a figure.
    fn numbers(draws: &Draws, name: &str) -> Vec<f64> {
        let at = draws.figures.iter().position(|(figure, _)| figure.name == name).unwrap();
        repeated(draws.draws.iter().filter_map(|draw| Some((draw.number(at)?, draw.times))))
    }

    fn populations(policies: &[&'static str]) -> Vec<Population> {
        let dir = tempfile::tempdir().unwrap();
        let game = othello("4").unwrap();
        let table = SolvedTable::of_whole(game.clone(), &Store::at(dir.path()), &Silent).unwrap();
        let players = policies.iter().map(|name| build(&name.parse().unwrap(), &*game).unwrap());
        let players: Vec<_> = players.collect();
        let mut draws: Vec<Draws> =
            policies.iter().map(|_| Draws::new(None, game.max_score())).collect();
        let mut all = 0;
        let mut add = |piece: &Piece, answers: &[Answers]| {
            let is_late = |at: usize| (10..=14).contains(&piece.cases[at].layer.unwrap());
            let late = piece.only(&|_, at| is_late(at));
            all += late.cases.iter().map(|case| case.weight).sum::<u32>();
            for (draws, answers) in draws.iter_mut().zip(answers) {
                let places = (0..piece.cases.len()).filter(|&at| is_late(at));
                let of = |at| answers.probabilities[piece.batch.range(at)].iter().copied();
                let probabilities = places.flat_map(of).collect();
                draws.add(&late, &Answers { probabilities, ..Answers::default() });
            }
            Ok(())
        };
        let positions = TablePositions::new(&table, Orienting::First);
        measure(&positions, &players, Some(&mut add), &Silent).unwrap();
        let population = |(policy, draws): (&&'static str, Draws)| Population {
            policy,
            decisive: numbers(&draws, "result_kept").len() as f64 / f64::from(all),
            figures: ["result_kept", "score_lost"].map(|name| numbers(&draws, name)),
        };
        policies.iter().zip(draws).map(population).collect()
    }

    /// The percentile bootstrap that the intervals replaced (Efron 1979).
    fn bootstrap(draws: &[f64], random: &mut SplitMix64) -> Interval {
        let mut mean = || {
            let draw = |_| draws[(random.next_u64() % draws.len() as u64) as usize];
            (0..draws.len()).map(draw).sum::<f64>() / draws.len() as f64
        };
        let mut means: Vec<f64> = (0..200).map(|_| mean()).collect();
        means.sort_by(f64::total_cmp);
        Interval { lower: means[5], upper: means[194] }
    }

    /// Draws samples of the positions with 2 to 6 empty squares. Asserts that as many intervals as they promise contain
    /// the figure of all, less two standard errors; prints how many, and how many of the bootstrap, with the mean width.
    fn cover(population: &Population, seeds: u64) {
        let Population { policy, figures, decisive } = population;
        for size in [20, 100, 1000] {
            print!("| `{policy}` | {size:>4} |");
            for (of, range) in [(0, [0.0, 1.0]), (1, [0.0, 32.0])] {
                let figures = &figures[of];
                let mean = figures.iter().sum::<f64>() / figures.len() as f64;
                let (mut samples, mut covered, mut earlier, mut width) = (0.0, 0.0, 0.0, 0.0);
                for seed in 0..seeds {
                    let mut random = SplitMix64::seed_from_u64(seed);
                    let is_decisive = |number: u64| (number as f64) < decisive * 2f64.powi(64);
                    let count = (0..size).filter(|_| is_decisive(random.next_u64())).count();
                    let mut draw = |_| figures[(random.next_u64() % figures.len() as u64) as usize];
                    let draws: Vec<f64> = (0..count).map(&mut draw).collect();
                    let Some(interval) = Interval::of(&draws, range) else { continue };
                    samples += 1.0;
                    width += interval.upper - interval.lower;
                    covered += f64::from(u8::from(interval.contains(mean)));
                    let other = bootstrap(&draws, &mut random);
                    earlier += f64::from(u8::from(other.contains(mean)));
                }
                let [before, now] = [earlier, covered].map(|count| 100.0 * count / samples);
                print!(" {before:.1} % | {now:.1} % | {:.3} |", width / samples);
                let least = 0.95 - 2.0 * (0.95 * 0.05 / samples).sqrt();
                assert!(covered / samples >= least, "{policy}, {size}: {now} %");
            }
            println!();
        }
    }

    #[test]
    fn intervals_cover() {
        let policies = ["random", "greedy", "n-least:2", "alphabeta:4", "mcts:400", "perfect"];
        populations(&policies).iter().for_each(|population| cover(population, 2000));
    }

    #[test]
    fn ends_are_those_of_the_tables() {
        let near = |found: Option<Interval>, [lower, upper]: [f64; 2]| {
            let found = found.unwrap();
            assert!(
                (found.lower - lower).abs() < 1e-4 && (found.upper - upper).abs() < 1e-4,
                "{found:?}"
            );
        };
        // Clopper and Pearson, by the quantiles of beta distributions (SciPy 1.15).
        let of = |high: usize, count: usize| {
            let draws: Vec<f64> = (0..count).map(|at| f64::from(u8::from(at < high))).collect();
            Interval::of(&draws, [0.0, 1.0])
        };
        near(of(100, 100), [0.963_783, 1.0]);
        near(of(0, 10), [0.0, 0.308_497]);
        near(of(7, 10), [0.347_547, 0.933_260]);
        near(of(999, 1000), [0.994_441, 0.999_975]);
        assert_eq!(Interval::of(&[], [0.0, 1.0]), None);
        // The mean of three draws says little, and a range is scaled.
        let few = Interval::of(&[1.0, 2.0, 3.0], [0.0, 10.0]).unwrap();
        assert!(few.lower < 0.5 && few.upper > 6.0 && few.upper <= 10.0, "{few:?}");
        // Groups of draws are as good as the draws.
        let many: Vec<f64> = (0..100_000).map(|at| f64::from(at % 5) / 4.0).collect();
        let found = Interval::of(&many, [0.0, 1.0]).unwrap();
        assert!(found.contains(0.5) && found.upper - found.lower < 0.006, "{found:?}");
    }
}
