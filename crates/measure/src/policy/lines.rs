//! What uniformly random play leads to: the players of an article of 2022 on predicting results.
//!
//! A line begins with the move that is to be judged and has the number of plies asked for, or fewer
//! if it comes to where a side has no move. What is at its end is looked at, and before the end a
//! state is worth the mean of what its moves are worth, whoever moves there: neither side is thought
//! to choose well.
//!
//! * `n-hand:N`: lines of N plies; the material at the end, own less the opponent's.
//! * `n-hand-custom:N`: the same with square weights.
//! * `n-least:N`: after the move and 2N − 2 further plies it is the opponent's N-th turn; the fewer
//!   moves he has there, the better.
//! * `n-most:N`: after the move and 2N − 1 further plies it is one's own N-th turn after this one;
//!   the more moves one has there, the better.
//!
//! Who must pass has no move, and neither has anybody in a finished game, whoever has won it;
//! material and weights count there as anywhere.
//!
//! The article's text is followed. The program printed with it departs from it: n-hand cuts the
//! means below the first move to whole discs; the recursions of n-least and n-most place no disc and
//! so count on the board as it was, n-least turns its sign with each, n-most calls n-least; and where
//! a side has no move the sign at the end of the line is wrong. We depart from both among equals: of
//! three or more best moves the program draws one and of two it takes the first, where we draw.

use super::{Evaluation, Rule};
use yomikiri::game::{Action, Game, Position};

/// Maximises what an evaluation is expected to be at the ends of lines of random moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines<E> {
    name: String,
    plies: u32,
    evaluation: E,
}

impl<E> Lines<E> {
    /// Lines of `plies`, at least 1, the judged move among them. The evaluation is the mover's at
    /// the end of the line; it counts for the player who chooses, or, if it is the opponent who is
    /// to move there, against him.
    pub fn new(name: String, plies: u32, evaluation: E) -> Lines<E> {
        Lines { name, plies, evaluation }
    }

    /// What the mover expects after `plies` random moves from a state, in units of 2^−[`FRACTION`].
    /// Whole numbers, so that mirror images, whose moves come in another order, have the same.
    fn mean<G: Game>(&self, game: &G, state: &G::State, plies: u32) -> i128
    where
        E: Evaluation<G>,
    {
        let (mut sum, mut moves) = (0, 0);
        if plies > 0 {
            game.for_each_successor(state, |action, after| {
                if !game.is_pass(action) {
                    sum -= self.mean(game, &after, plies - 1);
                    moves += 1;
                }
            });
        }
        match moves {
            0 => i128::from(self.evaluation.of(game, state)) << FRACTION,
            _ => sum / moves,
        }
    }
}

/// Bits behind the point of a mean; rounding at every node costs a few of the last.
const FRACTION: u32 = 60;
/// Those that are kept, so that means that are equal in truth are equal.
const KEPT: u32 = 30;

impl<G: Game, E: Evaluation<G>> Rule<G> for Lines<E> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn worths(&self, game: &G, position: &Position<G::State>, actions: &[Action], out: &mut [f64]) {
        for (out, &action) in out.iter_mut().zip(actions) {
            let after = game.play(&position.state, action);
            let mean = -self.mean(game, &after, self.plies.saturating_sub(1));
            let rounded = (mean + (1 << (FRACTION - KEPT - 1))) >> (FRACTION - KEPT);
            *out = rounded as f64 / f64::from(1 << KEPT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{
        Glance, animals, answers, discs, four, lines, minishogi, positions, six,
    };
    use super::super::{Policy, PolicySpec, ReadAhead, Weights, of_rules};
    use super::*;
    use yomikiri::game::{Game, GameExt};

    /// Which turns a line is followed to, and what is read there for who chooses.
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

    /// The mean over random play, every line written out and weighed by the choices along it: as a
    /// fraction.
    fn reference<G: Game>(
        game: &G,
        root: &Position<G::State>,
        action: Action,
        reference: Reference,
        worth: Glance<'_, G::State>,
    ) -> (i128, i128) {
        let choices = |last: &Position<G::State>| {
            game.actions(&last.state).iter().filter(|&&a| !game.is_pass(a)).count() as i64
        };
        // The n-th turn of a player comes after a line of which he has made n moves, or n − 1 if it
        // was not he who began.
        let moves = |own: bool, line: usize| if own { line.div_ceil(2) } else { line / 2 };
        let at_turn = |length: usize, last: &Position<G::State>| match reference {
            Reference::Material(n) | Reference::Squares(n) => length == n,
            Reference::Least(n) => last.side != root.side && moves(false, length) == n - 1,
            Reference::Most(n) => last.side == root.side && moves(true, length) == n,
        };
        let goes_on = |length: usize, last: &_| !at_turn(length, last) && choices(last) > 0;
        let all = lines(game, root, action, goes_on);
        let read = |last: &Position<G::State>| match reference {
            Reference::Material(_) | Reference::Squares(_) => worth(root, last),
            Reference::Least(_) => -choices(last),
            Reference::Most(_) => choices(last),
        };
        let (mut sum, mut whole) = (0i128, 1i128);
        for (line, last) in &all {
            let (mut position, mut share) = (*root, 1i128);
            for (ply, &action) in line.iter().enumerate() {
                share *= if ply == 0 { 1 } else { i128::from(choices(&position)) };
                let state = game.play(&position.state, action);
                position = Position { state, side: position.side.other() };
            }
            // sum / whole + read / share, in lowest terms.
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

    fn agrees<G: Game>(
        game: &G,
        count: usize,
        policy: &dyn Policy<G>,
        kind: Reference,
        worth: Glance<'_, G::State>,
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
            // The best by exact fractions, ties and all.
            let beaten = |&(sum, count): &(i128, i128)| {
                expected.iter().any(|&(other, among)| other * count > sum * among)
            };
            let best: Vec<bool> = expected.iter().map(|fraction| !beaten(fraction)).collect();
            assert_eq!(chosen, best, "{kind:?} in {}", game.notation(position));
        }
    }

    fn agrees_in_othello<G: Game>(game: &G, count: usize, kind: Reference) {
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

    fn agrees_in_shogi<G: Game>(game: &G, count: usize, kind: Reference) {
        let material = |root: &Position<G::State>, last: &Position<G::State>| {
            let own = i64::from(game.material(&last.state));
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
            agrees_in_othello(&four(), 400, kind);
        }
        for kind in short.into_iter().chain([Material(3), Squares(3)]) {
            agrees_in_othello(&six(), 100, kind);
        }
        for kind in [Material(1), Material(3), Least(1), Least(2), Most(1), Most(2)] {
            agrees_in_shogi(&animals(), 200, kind);
        }
        for kind in [Material(2), Least(1), Most(1)] {
            agrees_in_shogi(&minishogi(), 60, kind);
        }
    }

    #[test]
    fn mirror_images_have_equal_bits() {
        let game = four();
        for spec in [Reference::Squares(5), Reference::Most(3)].map(spec) {
            let policy = of_rules(&spec, &game).unwrap().unwrap();
            let openings =
                answers(&*policy, &game, &[game.parse_position("start", &game.start()).unwrap()]);
            assert_eq!(openings.probabilities, [0.25; 4]);
            assert!(
                openings.scores.iter().all(|score| score.to_bits() == openings.scores[0].to_bits())
            );
        }
    }
}
