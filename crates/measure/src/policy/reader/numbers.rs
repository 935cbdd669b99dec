//! From a policy's numbers for a position to the answer: the one place that checks them, whatever they come from.

use super::spec::{MoveChoice, ValueRange};
use crate::policy::share_best;
use yomikiri::error::Error;
use yomikiri::rules::{Action, AnyState, Empties, Outcome, Rules, Side};

/// Tolerance of sums of single-precision numbers.
pub(super) const SLACK: f64 = 1e-3;
/// Tolerance within which probabilities are left as they are, so that a sixth remains a sixth.
const EXACT: f64 = 1e-9;

/// Tolerance within which logits are equal, relative to the larger of 1 and their size. The runtime adds
/// 32-bit numbers in an order of its own, so in sums of about a thousand products the last few of 24 bits
/// differ between mirror images of a move; 16 bits are compared. Values are compared exactly, because small
/// differences matter when a win is nearly certain.
const ROUNDING: f64 = 1.0 / (1 << 16) as f64;

/// Reading of the policy output.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PolicyHead {
    /// Name of the output.
    pub output: String,
    /// Column of each action, if it has one.
    pub columns: Vec<Option<usize>>,
    pub reading: OutputKind,
    pub choice: MoveChoice,
    /// `true` if numbers of illegal moves are a mistake; a model cannot know them, so they are left out.
    pub is_strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputKind {
    Logits,
    /// Probabilities, which sum to 1.
    Probabilities,
    /// Nonnegative numbers in proportion to the probabilities.
    Weights,
    /// Numbers whose order alone counts.
    Worths,
    /// As `Worths`, but numbers that differ by rounding are equal.
    Tied,
    /// One integer: the chosen action.
    Label,
}

/// Reading of the value output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ValueHead {
    /// One number.
    One(ValueRange),
    /// Win, draw and loss.
    Three {
        /// `true` for logits.
        is_logits: bool,
    },
    /// The probabilities that Black wins and that White wins.
    Wins,
    /// The share of all squares that the mover will own at the end.
    Share,
}

impl PolicyHead {
    /// Returns `true` if its numbers order the moves; probabilities do so by themselves.
    pub(super) fn has_scores(&self) -> bool {
        use OutputKind::{Label, Probabilities, Weights};
        !matches!(self.reading, Probabilities | Weights | Label)
    }

    /// Returns a row's number for an action. An action without a column loses to every legal one with a
    /// column.
    pub(super) fn number(&self, row: &[f64], action: Action) -> f64 {
        let at = usize::from(action.0);
        match (self.reading, self.columns.get(at).copied().flatten()) {
            (OutputKind::Label, _) => f64::from(u8::from(row[0] == at as f64)),
            (_, Some(column)) => row[column],
            (OutputKind::Probabilities | OutputKind::Weights, None) => 0.0,
            _ => f64::NEG_INFINITY,
        }
    }

    /// Checks what a row has for moves that are illegal; `legal` are the others, in ascending order.
    pub(super) fn check(&self, row: &[f64], legal: &[Action]) -> Result<(), Error> {
        let is_legal = |at: usize| legal.binary_search(&Action(at as u16)).is_ok();
        let listed = || {
            let numbers: Vec<String> = legal.iter().map(|action| action.0.to_string()).collect();
            format!("legal are {}", numbers.join(", "))
        };
        let sum: f64 = row.iter().filter(|p| !p.is_nan()).sum();
        match self.reading {
            OutputKind::Label if self.is_strict => {
                let is_one = legal.iter().any(|action| f64::from(action.0) == row[0]);
                let wrong = || Error::new(format!("illegal action {}", row[0]), listed());
                is_one.then_some(()).ok_or_else(wrong)
            }
            OutputKind::Probabilities if self.is_strict => {
                let columns = self.columns.iter().enumerate();
                let numbers = columns.filter_map(|(at, column)| Some((at, row[(*column)?])));
                let mut illegal = numbers.filter(|&(at, p)| p.abs() > 1e-6 && !is_legal(at));
                match illegal.next() {
                    None => Ok(()),
                    Some((at, p)) => Err(Error::new(
                        format!("probability {p} of the illegal action {at}"),
                        format!("{}; expected 0, or logits, which are masked", listed()),
                    )),
                }
            }
            OutputKind::Probabilities if (sum - 1.0).abs() > SLACK => Err(Error::new(
                format!("invalid probabilities: their sum is {sum}, expected 1"),
                "set softmax=yes for logits, softmax=no for other numbers that are not negative",
            )),
            _ => Ok(()),
        }
    }

    /// Writes the probabilities of the legal moves from their numbers. If a model gives none of them any
    /// probability, they are uniform.
    pub(super) fn probabilities(&self, scores: &mut [f64], out: &mut [f64]) -> Result<(), Error> {
        if let ([score], [out]) = (&mut *scores, &mut *out) {
            // A single legal move needs no number.
            (*score, *out) = (if score.is_nan() { 0.0 } else { *score }, 1.0);
            return Ok(());
        }
        let wrong = |what: String| Err(Error::from(what));
        if let Some(score) = scores.iter().find(|s| s.is_nan()) {
            return wrong(format!("invalid number {score} of the policy"));
        }
        if self.reading == OutputKind::Tied {
            tie(scores);
        }
        if self.choice == MoveChoice::Best {
            share_best(scores, out);
            return Ok(());
        }
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let is_masked = best == f64::NEG_INFINITY && scores.len() > 1 && self.is_strict;
        if self.reading == OutputKind::Logits {
            if best == f64::INFINITY {
                return wrong("invalid number inf of the policy: infinite for a legal move".into());
            }
            if is_masked {
                return wrong("invalid logits: minus infinity for all legal moves".into());
            }
            let mass = |score: &f64| if best.is_finite() { (score - best).exp() } else { 0.0 };
            out.iter_mut().zip(scores.iter()).for_each(|(p, score)| *p = mass(score));
        } else {
            let most = if self.reading == OutputKind::Weights { f64::MAX } else { 1.0 + SLACK };
            if let Some(p) = scores.iter().find(|p| !(-SLACK..=most).contains(*p)) {
                return Err(Error::new(
                    format!("invalid probability {p} of the policy"),
                    "set softmax=yes for logits, move=best for Q values",
                ));
            }
            out.iter_mut().zip(scores.iter()).for_each(|(p, score)| *p = score.max(0.0));
        }
        let sum: f64 = out.iter().sum();
        let must_be_one = self.is_strict && self.reading == OutputKind::Probabilities;
        if must_be_one && (sum - 1.0).abs() > SLACK {
            return wrong(format!(
                "invalid probabilities: their sum over the legal moves is {sum}, expected 1"
            ));
        }
        match sum {
            0.0 => out.fill(1.0 / scores.len() as f64),
            sum if (sum - 1.0).abs() <= EXACT => {}
            sum => out.iter_mut().for_each(|p| *p /= sum),
        }
        Ok(())
    }
}

/// Makes logits equal that differ by at most [`ROUNDING`]: those within it of a higher one take its value.
/// Rounding to multiples would not do, since equal moves on both sides of a half would be split.
fn tie(scores: &mut [f64]) {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut highest = f64::INFINITY;
    for at in order {
        if highest - scores[at] > ROUNDING * scores[at].abs().max(1.0) {
            highest = scores[at];
        }
        scores[at] = highest;
    }
}

impl ValueHead {
    /// Returns `true` if the values estimate the outcome.
    pub(super) fn is_outcome(self) -> bool {
        !matches!(self, ValueHead::One(ValueRange::Discs) | ValueHead::Share)
    }

    /// Returns the value of a row for the mover: an outcome in −1 to 1 (beyond it by regression errors), in
    /// discs, or twice the share of squares minus 1.
    pub(super) fn read(self, row: &[f64], mover: Side) -> Result<f64, Error> {
        if row.iter().any(|number| number.is_nan()) {
            return Err("invalid number NaN of the value".into());
        }
        let (value, expected) = match self {
            ValueHead::Three { is_logits: false } => return Ok((row[0] - row[2]).clamp(-1.0, 1.0)),
            ValueHead::Three { is_logits: true } => {
                let most = row[0].max(row[1]).max(row[2]);
                let [win, draw, loss] = [0, 1, 2].map(|at: usize| (row[at] - most).exp());
                return Ok((win - loss) / (win + draw + loss));
            }
            ValueHead::Wins => {
                let black = row[0] - row[1];
                return Ok(if mover == Side::First { black } else { -black });
            }
            ValueHead::Share => return Ok(2.0 * row[0] - 1.0),
            ValueHead::One(ValueRange::Clip | ValueRange::Discs) => return Ok(row[0]),
            ValueHead::One(ValueRange::Unit) => (2.0 * row[0] - 1.0, "0 to 1"),
            ValueHead::One(ValueRange::Signed) => (row[0], "-1 (the mover loses) to 1 (wins)"),
        };
        if value.abs() > 1.0 + SLACK {
            return Err(Error::new(
                format!("invalid value {}: expected {expected}", row[0]),
                "set range=01 for 0 (loss) to 1 (win), range=clip for regression errors, range=discs for a disc difference",
            ));
        }
        Ok(value)
    }

    /// Returns the value of a terminal position for its mover, on the same scale.
    pub(super) fn at_the_end(self, game: &dyn Rules, state: &AnyState) -> f64 {
        match self {
            ValueHead::One(ValueRange::Discs) => f64::from(game.score(state, Empties::Uncounted).0),
            ValueHead::Share => {
                let squares = (game.action_count() - 1) as f64;
                let held = game.squares(state).unwrap_or_default().0.count_ones();
                2.0 * f64::from(held) / squares - 1.0
            }
            _ => f64::from(game.result(state).unwrap_or(Outcome::Draw).value()),
        }
    }

    /// Describes the reading.
    pub(super) fn words(self) -> &'static str {
        match self {
            ValueHead::Three { is_logits: true } => "as logits of win, draw, loss",
            ValueHead::Three { is_logits: false } => "as win, draw, loss",
            ValueHead::Wins => "as chances of Black and White",
            ValueHead::Share => "as share of the squares",
            ValueHead::One(ValueRange::Unit) => "from 0 to 1",
            ValueHead::One(ValueRange::Discs) => "in discs",
            ValueHead::One(ValueRange::Signed | ValueRange::Clip) => "from -1 to 1",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(reading: OutputKind, is_strict: bool) -> PolicyHead {
        let choice = MoveChoice::Sample;
        PolicyHead { output: "p".to_string(), columns: Vec::new(), reading, choice, is_strict }
    }

    fn read(head: &PolicyHead, scores: &[f64]) -> Result<Vec<f64>, Error> {
        let mut out = vec![0.0; scores.len()];
        head.probabilities(&mut scores.to_vec(), &mut out)?;
        Ok(out)
    }

    #[test]
    fn logits_that_differ_by_rounding_are_equal() {
        let mut scores = [3.0, 1.0 + 1e-6, 1.0, -20.0, -20.0 - 1e-4, 1.001];
        tie(&mut scores);
        assert_eq!(scores, [3.0, 1.0 + 1e-6, 1.0 + 1e-6, -20.0, -20.0, 1.001]);
    }

    #[test]
    fn equal_logits_share_exactly_and_given_probabilities_are_left_alone() {
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        let third = 1.0 / 3.0;
        for is_strict in [false, true] {
            let logits = head(OutputKind::Logits, is_strict);
            let found = read(&logits, &[700.5, low, 700.5, 700.5]).unwrap();
            assert_eq!(found, [third, 0.0, third, third]);
            assert!(read(&logits, &[0.0, high]).is_err());
            assert_eq!(read(&logits, &[low, low]).ok(), (!is_strict).then_some(vec![0.5, 0.5]));
            let chances = head(OutputKind::Probabilities, is_strict);
            assert_eq!(read(&chances, &[0.1; 10]).unwrap(), [0.1; 10]);
            let loose = read(&chances, &[f64::from(0.3f32), f64::from(0.7001f32)]).unwrap();
            assert!((loose[0] + loose[1] - 1.0).abs() < 1e-15 && loose[0] < 0.3, "{loose:?}");
            for wrong in [[1.1, -0.1], [f64::NAN, 1.0], [high, 0.0]] {
                assert!(read(&chances, &wrong).is_err(), "{wrong:?}");
            }
            assert_eq!(read(&chances, &[0.4, 0.5]).is_err(), is_strict);
        }
        assert_eq!(read(&head(OutputKind::Weights, true), &[0.25, 0.75, 1.0]).unwrap()[2], 0.5);
    }

    #[test]
    fn values_a_hair_beyond_are_allowed() {
        let one = ValueHead::One(ValueRange::Signed);
        for value in [1.0000001, -1.0000001, 0.25] {
            assert_eq!(one.read(&[value], Side::First).unwrap(), value);
        }
        for wrong in [1.01, -1.5, f64::NAN, f64::INFINITY] {
            assert!(one.read(&[wrong], Side::First).is_err());
        }
    }
}
