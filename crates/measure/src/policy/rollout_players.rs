//! Policies that average over random play: the players of an article of 2022 on predicting results
//! (`docs/methods.md`).
//!
//! A line begins with the move to be rated and has a given number of plies, or fewer if a side has no move.
//! The state at its end is evaluated. An earlier state has the mean value of its moves, whoever is to move:
//! neither side is assumed to choose well.
//!
//! * `n-hand:N`: lines of N plies; the material at the end, own minus the opponent's.
//! * `n-hand-custom:N`: as `n-hand`, with square weights.
//! * `n-least:N`: the opponent's N-th turn comes after the move and 2N − 2 further plies; fewer moves for the
//!   opponent are better.
//! * `n-most:N`: the player's own N-th turn after this one comes after the move and 2N − 1 further plies;
//!   more moves are better.
//!
//! A player who must pass has no move, and neither player has one in a terminal position, whatever its
//! result. Material and weights count there as elsewhere.
//!
//! The published text is implemented, not the published program. In the program, `n-hand` truncates the means
//! below the first move to whole discs; the recursions of `n-least` and `n-most` place no disc and so count
//! on the unchanged board, `n-least` flips its sign with each, and `n-most` calls `n-least`; if a side has no
//! move, the sign at the end of the line is wrong. Ties differ from both: the program draws one of three or
//! more best moves and takes the first of two, whereas here all best moves are equally likely.

use super::{Rule, StaticEvaluation, rate_after};
use yomikiri::rules::{Action, AnyPosition, Rules, Walk};

/// Maximises the expected evaluation at the ends of lines of random moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines<E> {
    name: String,
    plies: u32,
    evaluation: E,
}

impl<E> Lines<E> {
    /// Returns a policy with lines of `plies`, at least 1, including the rated move. The evaluation is for
    /// the mover at the end of the line; its sign is flipped if that is the opponent.
    pub fn new(name: String, plies: u32, evaluation: E) -> Lines<E> {
        Lines { name, plies, evaluation }
    }

    /// Returns the mover's expected evaluation after as many random moves as `spare` has buffers, in units of
    /// 2^−[`FRACTION`]. Integers make sums independent of the order of moves, which differs between mirror
    /// images.
    fn mean(&self, game: &dyn Rules, walk: &mut dyn Walk, spare: &mut [Vec<Action>]) -> i128
    where
        E: StaticEvaluation,
    {
        let (mut sum, mut moves) = (0, 0);
        if let Some((actions, spare)) = spare.split_first_mut() {
            walk.actions(actions);
            for &action in actions.iter().filter(|action| !game.is_pass(**action)) {
                walk.push(action);
                sum -= self.mean(game, walk, spare);
                walk.pop();
                moves += 1;
            }
        }
        match moves {
            0 => i128::from(self.evaluation.value(walk)) << FRACTION,
            _ => sum / moves,
        }
    }
}

/// Fractional bits of a mean; rounding at every node costs a few of the last.
const FRACTION: u32 = 60;
/// Fractional bits that are kept, so that equal means tie.
const KEPT: u32 = 30;

impl<E: StaticEvaluation> Rule for Lines<E> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn worths(
        &self,
        game: &dyn Rules,
        position: &AnyPosition,
        actions: &[Action],
        out: &mut [f64],
    ) {
        let mut spare = vec![Vec::new(); self.plies.saturating_sub(1) as usize];
        rate_after((game, position), actions, out, |walk| {
            let mean = -self.mean(game, walk, &mut spare);
            let rounded = (mean + (1 << (FRACTION - KEPT - 1))) >> (FRACTION - KEPT);
            rounded as f64 / f64::from(1 << KEPT)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_positions::{
        Glance, animals, answers, discs, four, lines, minishogi, positions, six,
    };
    use super::super::{Policy, PolicySpec, ReadAhead, Weights, of_rules};
    use super::*;

    /// Ends of lines and their evaluation for the player who chooses.
    #[derive(Clone, Copy, Debug)]
    enum Reference {
        Material(usize),
        Squares(usize),
        Least(usize),
        Most(usize),
    }

    fn spec(reference: Reference) -> PolicySpec {
        let (reader, n) = match reference {
            Reference::Material(n) => (ReadAhead::NHand, n),
            Reference::Squares(n) => (ReadAhead::NHandCustom, n),
            Reference::Least(n) => (ReadAhead::NLeast, n),
            Reference::Most(n) => (ReadAhead::NMost, n),
        };
        PolicySpec::Reads(reader, n as u32, None)
    }

    /// Mean over random play as a fraction, from a list of all lines weighted by the number of choices along
    /// each.
    fn reference(
        game: &dyn Rules,
        root: &AnyPosition,
        action: Action,
        reference: Reference,
        worth: Glance<'_>,
    ) -> (i128, i128) {
        let choices = |last: &AnyPosition| {
            game.actions(&last.state).iter().filter(|&&a| !game.is_pass(a)).count() as i64
        };
        // A player's n-th turn comes after n of his moves in the line, or n − 1 if the other began it.
        let moves = |own: bool, line: usize| if own { line.div_ceil(2) } else { line / 2 };
        let at_turn = |length: usize, last: &AnyPosition| match reference {
            Reference::Material(n) | Reference::Squares(n) => length == n,
            Reference::Least(n) => last.side != root.side && moves(false, length) == n - 1,
            Reference::Most(n) => last.side == root.side && moves(true, length) == n,
        };
        let goes_on = |length: usize, last: &_| !at_turn(length, last) && choices(last) > 0;
        let all = lines(game, root, action, goes_on);
        let read = |last: &AnyPosition| match reference {
            Reference::Material(_) | Reference::Squares(_) => worth(root, last),
            Reference::Least(_) => -choices(last),
            Reference::Most(_) => choices(last),
        };
        let (mut sum, mut whole) = (0i128, 1i128);
        for (line, last) in &all {
            let (mut position, mut share) = (*root, 1i128);
            for (ply, &action) in line.iter().enumerate() {
                share *= if ply == 0 { 1 } else { i128::from(choices(&position)) };
                position = game.advance(&position, action);
            }
            // sum / whole + read / share in lowest terms.
            let common = gcd(whole, share);
            sum = sum * (share / common) + i128::from(read(last)) * (whole / common);
            whole *= share / common;
            let common = gcd(sum, whole);
            (sum, whole) = (sum / common, whole / common);
        }
        (sum, whole)
    }

    fn gcd(a: i128, b: i128) -> i128 {
        if b == 0 { a.abs().max(1) } else { gcd(b, a % b) }
    }

    fn agrees(
        game: &dyn Rules,
        count: usize,
        policy: &dyn Policy,
        kind: Reference,
        worth: Glance<'_>,
    ) {
        let positions = positions(game, count);
        let answers = answers(policy, game, &positions);
        let mut scores = answers.scores.iter();
        let mut probabilities = answers.probabilities.iter();
        for position in &positions {
            let actions = game.actions(&position.state);
            let scores: Vec<f64> = scores.by_ref().take(actions.len()).copied().collect();
            let chosen: Vec<bool> =
                probabilities.by_ref().take(actions.len()).map(|&p| p > 0.0).collect();
            if actions.len() == 1 {
                continue;
            }
            let expected: Vec<(i128, i128)> =
                actions.iter().map(|&a| reference(game, position, a, kind, worth)).collect();
            for (score, &(sum, whole)) in scores.iter().zip(&expected) {
                let mean = sum as f64 / whole as f64;
                let what = || format!("{kind:?} in {}: {score}, {mean}", game.notation(position));
                assert!((score - mean).abs() < 1e-9 * mean.abs().max(1.0), "{}", what());
            }
            // The best moves by exact fractions, including ties.
            let beaten = |&(sum, count): &(i128, i128)| {
                expected.iter().any(|&(other, among)| other * count > sum * among)
            };
            let best: Vec<bool> = expected.iter().map(|fraction| !beaten(fraction)).collect();
            assert_eq!(chosen, best, "{kind:?} in {}", game.notation(position));
        }
    }

    fn agrees_in_othello(game: &dyn Rules, count: usize, kind: Reference) {
        let weights = Weights::of_board(game.shape());
        let squares = |root: &_, last: &_| {
            let discs = discs(game, root, last);
            discs.iter().zip(weights.micro()).map(|(disc, weight)| disc * weight).sum()
        };
        let material = |root: &_, last: &_| discs(game, root, last).iter().sum();
        let policy = of_rules(&spec(kind), game).unwrap().unwrap();
        match kind {
            Reference::Squares(_) => agrees(game, count, &*policy, kind, &squares),
            _ => agrees(game, count, &*policy, kind, &material),
        }
    }

    fn agrees_in_shogi(game: &dyn Rules, count: usize, kind: Reference) {
        let material = |root: &AnyPosition, last: &AnyPosition| {
            let own = i64::from(game.material(&last.state).unwrap());
            if last.side == root.side { own } else { -own }
        };
        let policy = of_rules(&spec(kind), game).unwrap().unwrap();
        agrees(game, count, &*policy, kind, &material);
    }

    #[test]
    fn averages_agree_with_lines_written_out() {
        use Reference::{Least, Material, Most, Squares};
        let short = [Material(1), Material(2), Squares(1), Squares(2), Least(1), Most(1), Least(2)];
        for kind in short.into_iter().chain([Material(5), Squares(4), Least(3), Most(3)]) {
            agrees_in_othello(&*four(), 400, kind);
        }
        for kind in short.into_iter().chain([Material(3), Squares(3)]) {
            agrees_in_othello(&*six(), 100, kind);
        }
        for kind in [Material(1), Material(3), Least(1), Least(2), Most(1), Most(2)] {
            agrees_in_shogi(&*animals(), 200, kind);
        }
        for kind in [Material(2), Least(1), Most(1)] {
            agrees_in_shogi(&*minishogi(), 60, kind);
        }
    }

    #[test]
    fn mirror_images_have_equal_bits() {
        let game = four();
        for spec in [Reference::Squares(5), Reference::Most(3)].map(spec) {
            let policy = of_rules(&spec, &*game).unwrap().unwrap();
            let openings =
                answers(&*policy, &*game, &[game.parse_position("start", &game.start()).unwrap()]);
            assert_eq!(openings.probabilities, [0.25; 4]);
            assert!(
                openings.scores.iter().all(|score| score.to_bits() == openings.scores[0].to_bits())
            );
        }
    }
}
