//! Square weights: plays the move after which one's squares outweigh the opponent's most.
//!
//! Weights are decimals, stored as integers in millionths, so that sums are exact and equal moves tie. By
//! default one rule defines them for every shape: a square has the weight of the 8×8 square with the same
//! distances to the nearest horizontal and the nearest vertical edge, in a table of 2022 (`docs/methods.md`).
//! Smaller boards leave out the middle of that table.
//!
//! A file contains one decimal for each square, row by row from a1, separated by white space or commas; `#`
//! begins a comment. Limits: at most six decimals, and no weight above a million.

use std::path::Path;

use super::{Rule, StaticEvaluation, rate_after};
use yomikiri::error::Error;
use yomikiri::games::othello::Othello;
use yomikiri::input;
use yomikiri::rules::{Action, AnyPosition, Rules, Walk};

/// Units in a weight of 1.
pub const MICRO: i64 = 1_000_000;

/// Upper left quarter of the symmetric 8×8 table, in tenths.
const QUARTER: [[i64; 4]; 4] = [[10, -6, 6, 4], [-6, -8, 0, 0], [6, 0, 8, 6], [4, 0, 6, 0]];

/// Maximises the weights of the mover's squares minus the opponent's after the move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    name: String,
    /// Weight of square `row * columns + column`, in [`MICRO`] units.
    weights: Vec<i64>,
}

impl Weights {
    /// Returns `true` if the built-in rule, which is for Othello, suits a game.
    pub fn suit(game: &dyn Rules) -> bool {
        game.typed::<Othello>().is_some()
    }

    /// Returns the weights of the built-in rule (`docs/methods.md`).
    pub fn of_board((rows, columns): (usize, usize)) -> Weights {
        let square = |r: usize, c: usize| {
            QUARTER[r.min(rows - 1 - r)][c.min(columns - 1 - c)] * (MICRO / 10)
        };
        let weights = (0..rows).flat_map(|r| (0..columns).map(move |c| square(r, c))).collect();
        Weights { name: "weights".to_string(), weights }
    }

    /// Reads the weights of a board from a file.
    pub fn read((rows, columns): (usize, usize), path: &Path) -> Result<Weights, Error> {
        let text = std::fs::File::open(path)
            .and_then(input::text)
            .map_err(|error| format!("cannot read the weights in {}: {error}", path.display()))?;
        Weights::from_text((rows, columns), &text, path)
    }

    /// Parses the weights of a board; `path` appears in errors and in the policy's name.
    pub fn from_text(
        (rows, columns): (usize, usize),
        text: &str,
        path: &Path,
    ) -> Result<Weights, Error> {
        let squares = rows * columns;
        let expected =
            format!("expected {squares} weights for the {rows}x{columns} board, row by row");
        let wrong = |line: usize, what: Error| {
            what.map(|what| format!("{}, line {line}: {what}", path.display()))
        };
        let mut weights = Vec::with_capacity(squares);
        let mut last = 1;
        for (i, line) in text.lines().enumerate() {
            let numbers = line.split('#').next().unwrap_or("");
            let tokens = numbers.split(|c: char| c.is_whitespace() || c == ',');
            for token in tokens.filter(|token| !token.is_empty()) {
                last = i + 1;
                let weight = decimal(token).ok_or_else(|| {
                    wrong(last, Error::new(format!("invalid weight `{token}`"), "expected a number such as -0.6, with at most six decimals and at most a million"))
                })?;
                if weights.len() == squares {
                    let what = Error::new(format!("too many weights at `{token}`"), expected);
                    return Err(wrong(last, what));
                }
                weights.push(weight);
            }
        }
        if weights.len() < squares {
            let what = Error::new(format!("only {} weights", weights.len()), expected);
            return Err(wrong(last, what));
        }
        Ok(Weights { name: format!("weights:{}", path.display()), weights })
    }

    /// Returns the weights in [`MICRO`] units, indexed by `row * columns + column`.
    pub fn micro(&self) -> &[i64] {
        &self.weights
    }

    /// Sums the weights of squares, given as bits `row * columns + column`.
    pub(super) fn sum(&self, mut squares: u64) -> i64 {
        let mut sum = 0;
        while squares != 0 {
            sum += self.weights[squares.trailing_zeros() as usize];
            squares &= squares - 1;
        }
        sum
    }
}

impl Rule for Weights {
    fn name(&self) -> String {
        self.name.clone()
    }

    /// # Panics
    ///
    /// If the board has more squares than the one the weights were made for.
    fn worths(
        &self,
        game: &dyn Rules,
        position: &AnyPosition,
        actions: &[Action],
        out: &mut [f64],
    ) {
        rate_after((game, position), actions, out, |walk| -self.value(walk) as f64);
    }
}

/// Parses a decimal in millionths; `None` if it is invalid or exceeds the limits.
fn decimal(token: &str) -> Option<i64> {
    let (negative, digits) = match token.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, token.strip_prefix('+').unwrap_or(token)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !plain(whole) || !plain(fraction) {
        return None;
    }
    if whole.len() > 7 || fraction.len() > 6 {
        return None;
    }
    // At most 13 digits cannot overflow.
    let number: i64 = format!("{whole}{fraction:0<6}").parse().ok()?;
    (number <= MICRO * MICRO).then_some(if negative { -number } else { number })
}

/// Weights of the mover's squares minus the opponent's, in [`MICRO`](super::MICRO) units.
impl StaticEvaluation for Weights {
    /// # Panics
    ///
    /// If the board has more squares than the one the weights were made for.
    fn value(&self, position: &dyn Walk) -> i64 {
        let (own, theirs) = position.squares().unwrap_or_default();
        self.sum(own) - self.sum(theirs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let good = [
            ("1", 1_000_000),
            ("-0.6", -600_000),
            ("+.25", 250_000),
            ("7.", 7_000_000),
            ("-0", 0),
            ("0.000001", 1),
            ("1000000", 1_000_000_000_000),
        ];
        for (token, micro) in good {
            assert_eq!(decimal(token), Some(micro), "{token}");
        }
        for token in ["", ".", "-", "--1", "1e3", "0.0000001", "1000000.1", "NaN", "1.2.3", "−1"]
        {
            assert_eq!(decimal(token), None, "{token}");
        }
    }
}
