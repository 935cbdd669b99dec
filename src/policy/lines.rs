//! Averages over all lines of a length: the players of an article of 2022 on predicting results.
//!
//! A line begins with the move that is to be judged and has the number of plies asked for, or fewer
//! if the game ends before; a pass is a ply. What is at its end is looked at, and the worth of the
//! move is the plain average over all its lines, every line counting the same, whoever moves in it:
//! neither side is thought to choose well.
//!
//! * `n-hand:N`: lines of N plies; the material at the end, own less the opponent's.
//! * `n-hand-custom:N`: the same with square weights.
//! * `n-least:N`: after the move and 2N − 2 further plies it is the opponent's N-th turn; the fewer
//!   moves he has there, the better.
//! * `n-most:N`: after the move and 2N − 1 further plies it is one's own N-th turn after this one;
//!   the more moves one has there, the better.
//!
//! Turns alternate, so that a turn in which one must pass is a turn, one with no moves. In a
//! finished game nobody has moves, whoever has won it; material and weights count there as
//! anywhere.
//!
//! The article's text is followed. The program printed with it departs from it: the recursions of
//! n-least and n-most place no disc and so count on the board as it was, n-most calls n-least, and
//! where a side has no move the sign at the end of the line is wrong.

use super::{Evaluation, Rule};
use crate::game::{Action, Game, Position};

/// Maximises the average of an evaluation at the ends of lines.
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

    /// The sum for the mover over all lines of `plies` from a state, and how many there are.
    fn total<G: Game>(&self, game: &G, state: &G::State, plies: u32) -> (i128, u64)
    where
        E: Evaluation<G>,
    {
        let (mut sum, mut lines) = (0, 0);
        if plies > 0 {
            game.for_each_successor(state, |_, after| {
                let (theirs, count) = self.total(game, &after, plies - 1);
                sum -= theirs;
                lines += count;
            });
        }
        if lines == 0 { (self.evaluation.of(game, state).into(), 1) } else { (sum, lines) }
    }
}

impl<G: Game, E: Evaluation<G>> Rule<G> for Lines<E> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn worths(&self, game: &G, position: &Position<G::State>, actions: &[Action], out: &mut [f64]) {
        for (out, &action) in out.iter_mut().zip(actions) {
            let after = game.play(&position.state, action);
            let (theirs, lines) = self.total(game, &after, self.plies.saturating_sub(1));
            *out = quotient(-theirs, lines);
        }
    }
}

/// The quotient of two whole numbers in lowest terms, so that equal ones have the same bits.
fn quotient(sum: i128, count: u64) -> f64 {
    let (mut divisor, mut rest) = (u128::from(count), sum.unsigned_abs());
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    // A divisor of the count is no larger than the count.
    let divisor = divisor as i128;
    (sum / divisor) as f64 / (i128::from(count) / divisor) as f64
}

#[cfg(test)]
mod tests {
    use super::super::sample::{
        Glance, animals, answers, discs, four, lines, minishogi, positions, six,
    };
    use super::super::{Policy, PolicySpec, Weights, ask, of_rules};
    use super::*;
    use crate::game::Game;

    /// Which turns a line is followed to, and what is read there for who chooses.
    #[derive(Clone, Copy, Debug)]
    enum Reference {
        Material(usize),
        Squares(usize),
        Least(usize),
        Most(usize),
    }

    fn spec(reference: Reference) -> PolicySpec {
        match reference {
            Reference::Material(n) => PolicySpec::NHand(n as u32),
            Reference::Squares(n) => PolicySpec::NHandCustom(n as u32, None),
            Reference::Least(n) => PolicySpec::NLeast(n as u32),
            Reference::Most(n) => PolicySpec::NMost(n as u32),
        }
    }

    /// The sum over all lines written out, and how many they are.
    fn reference<G: Game>(
        game: &G,
        root: &Position<G::State>,
        action: Action,
        reference: Reference,
        worth: Glance<'_, G::State>,
    ) -> (i64, i64) {
        // The n-th turn of a player comes after a line of which he has made n moves, or n − 1 if it
        // was not he who began.
        let moves = |own: bool, line: usize| if own { line.div_ceil(2) } else { line / 2 };
        let at_turn = |length: usize, last: &Position<G::State>| match reference {
            Reference::Material(n) | Reference::Squares(n) => length == n,
            Reference::Least(n) => last.side != root.side && moves(false, length) == n - 1,
            Reference::Most(n) => last.side == root.side && moves(true, length) == n,
        };
        let all = lines(game, root, action, |length, last| !at_turn(length, last));
        let choices = |last: &Position<G::State>| {
            game.actions(&last.state).iter().filter(|&&a| !game.is_pass(a)).count() as i64
        };
        let sum = all.iter().map(|(_, last)| match reference {
            Reference::Material(_) | Reference::Squares(_) => worth(root, last),
            Reference::Least(_) => -choices(last),
            Reference::Most(_) => choices(last),
        });
        (sum.sum(), all.len() as i64)
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
            let expected: Vec<(i64, i64)> =
                actions.iter().map(|&a| reference(game, position, a, kind, worth)).collect();
            let floats: Vec<f64> =
                expected.iter().map(|&(sum, count)| sum as f64 / count as f64).collect();
            assert_eq!(scores, floats, "{kind:?} in {}", game.notation(position));
            // The best by exact fractions, ties and all.
            let beaten = |&(sum, count): &(i64, i64)| {
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
    fn one_hand_is_greedy_and_one_least_mates() {
        let game = four();
        let positions = positions(&game, 200);
        let policy = |spec| of_rules(&spec, &game).unwrap().unwrap();
        let [greedy, hand] = [PolicySpec::Greedy, PolicySpec::NHand(1)]
            .map(|spec| answers(&*policy(spec), &game, &positions));
        assert_eq!(greedy, hand);
        // A gold in front of the king, held by a pawn, leaves the opponent no move.
        let game = minishogi();
        let mate = game.parse_position("2k2/5/2P2/5/2K2 b G 1", &game.start()).unwrap();
        let least = of_rules(&PolicySpec::NLeast(1), &game).unwrap().unwrap();
        let answers = ask(&*least, &game, &mate).unwrap();
        let played: Vec<String> = answers
            .iter()
            .filter(|(_, p)| *p > 0.0)
            .map(|(action, _)| game.action_name(mate.side, *action))
            .collect();
        assert_eq!(played, ["G*3b"]);
    }

    #[test]
    fn equal_averages_have_equal_bits() {
        assert_eq!(quotient(1, 3).to_bits(), quotient(1 << 60, 3 << 60).to_bits());
        let (sum, count) = ((1i128 << 90) + 7, 1_000_003);
        assert_eq!(quotient(sum, count).to_bits(), quotient(3 * sum, 3 * count).to_bits());
        assert_eq!(quotient(-6, 4), -1.5);
        assert_eq!(quotient(0, 9).to_bits(), 0);
    }
}
