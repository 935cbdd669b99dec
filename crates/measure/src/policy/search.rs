//! Minimax and alpha-beta: the best move if both sides play their best for some plies.
//!
//! Both search D plies, including the move itself and passes, and evaluate the leaves: square weights in
//! Othello, material in shogi. A won position outranks any evaluation, a lost one is below any, and a draw is
//! 0; the winner prefers short games, the loser long ones. With D = 2 and square weights this is level 1 of a
//! student exercise on Othello (`docs/results/learned.md`).
//!
//! Alpha-beta (Knuth and Moore 1975) prunes. Every root move is searched with its own open window, so all
//! worths, not only the best, are bit-identical to those of minimax; the two differ in time alone.

use super::{Rule, StaticEvaluation, rate_after};
use yomikiri::rules::{Action, AnyPosition, Rules, Walk};

/// Value of a win in no plies; exact as a float, as are all values below it.
const WIN: i64 = 1 << 50;
/// Bound greater than any value.
const BEYOND: i64 = 2 * WIN;

/// Maximises the value that remains when both sides play their best.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimax<E> {
    name: String,
    plies: u32,
    evaluation: E,
    /// `true` for alpha-beta.
    prunes: bool,
}

impl<E> Minimax<E> {
    /// Returns a minimax search of `plies`, at least 1, including the rated move.
    pub fn new(name: String, plies: u32, evaluation: E) -> Minimax<E> {
        Minimax { name, plies, evaluation, prunes: false }
    }

    /// Returns an alpha-beta search, which plays the same and visits fewer positions.
    pub fn alpha_beta(name: String, plies: u32, evaluation: E) -> Minimax<E> {
        Minimax { name, plies, evaluation, prunes: true }
    }

    /// Returns the value of a position for its mover, `ply` plies after the root, if it lies between `alpha` and
    /// `beta`; otherwise a bound of it on the same side of both. `spare` has a buffer for each ply.
    fn value(
        &self,
        walk: &mut dyn Walk,
        ply: u32,
        (alpha, beta): (i64, i64),
        spare: &mut [Vec<Action>],
    ) -> i64
    where
        E: StaticEvaluation,
    {
        let mut best = -BEYOND;
        if let Some((actions, spare)) = spare.split_first_mut() {
            walk.actions(actions);
            for &action in &*actions {
                if best >= beta {
                    break;
                }
                let window =
                    if self.prunes { (-beta, -best.max(alpha)) } else { (-BEYOND, BEYOND) };
                walk.push(action);
                best = best.max(-self.value(walk, ply + 1, window, spare));
                walk.pop();
            }
        }
        if best == -BEYOND { at_the_end(&self.evaluation, walk, ply) } else { best }
    }
}

impl<E: StaticEvaluation> Rule for Minimax<E> {
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
            -self.value(walk, 1, (-BEYOND, BEYOND), &mut spare) as f64
        });
    }
}

/// Returns the value of the last position of a line for its mover, `ply` plies after the root.
fn at_the_end(evaluation: &impl StaticEvaluation, walk: &dyn Walk, ply: u32) -> i64 {
    match walk.result() {
        Some(outcome) => i64::from(outcome.value()) * (WIN - i64::from(ply)),
        None => evaluation.value(walk),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::super::test_positions::{
        Glance, animals, discs, four, minishogi, positions, result, six,
    };
    use super::super::{Material, Weights};
    use super::*;
    use yomikiri::rules::Outcome;

    /// Value of a line for the player to move at the root: outcome, how soon (for the loser how late), and
    /// evaluation.
    type Worth = (Outcome, i64, i64);

    /// Returns the value of an action by propagating values back through levels of positions: the root's
    /// player takes the largest, the other the smallest.
    fn reference(
        game: &dyn Rules,
        root: &AnyPosition,
        action: Action,
        plies: u32,
        glance: Glance<'_>,
    ) -> Worth {
        let mut levels = vec![vec![(0, game.advance(root, action))]];
        for _ in 1..plies {
            let last = levels.last().unwrap().iter().enumerate();
            let next = last.flat_map(|(at, (_, position))| {
                let after = game.actions(&position.state).into_iter();
                after.map(move |action| (at, game.advance(position, action)))
            });
            let next: Vec<_> = next.collect();
            levels.push(next);
        }
        let mut below: Vec<(usize, Worth)> = Vec::new();
        for (place, level) in levels.iter().enumerate().rev() {
            let ply = place as i64 + 1;
            let worth = |(at, (parent, position)): (usize, &(usize, AnyPosition))| {
                let after = below.iter().filter(|(of, _)| *of == at).map(|&(_, worth)| worth);
                let best = if position.side == root.side { after.max() } else { after.min() };
                let here = || match result(game, root, position) {
                    Some(Outcome::Win) => (Outcome::Win, -ply, 0),
                    Some(Outcome::Loss) => (Outcome::Loss, ply, 0),
                    Some(Outcome::Draw) => (Outcome::Draw, 0, 0),
                    None => (Outcome::Draw, 0, glance(root, position)),
                };
                (*parent, best.unwrap_or_else(here))
            };
            below = level.iter().enumerate().map(worth).collect();
        }
        below[0].1
    }

    fn agrees<E: StaticEvaluation + Clone>(
        game: &dyn Rules,
        (count, plies): (usize, u32),
        evaluation: E,
        glance: Glance<'_>,
    ) {
        let minimax = Minimax::new(String::new(), plies, evaluation);
        let mut decided = 0;
        for position in positions(game, count) {
            let actions = game.actions(&position.state);
            let mut worths = vec![0.0; actions.len()];
            minimax.worths(game, &position, &actions, &mut worths);
            let expected: Vec<Worth> =
                actions.iter().map(|&a| reference(game, &position, a, plies, glance)).collect();
            for (a, &(outcome, ..)) in expected.iter().enumerate() {
                decided += u32::from(outcome != Outcome::Draw);
                for b in 0..a {
                    let order = worths[a].partial_cmp(&worths[b]).unwrap();
                    assert_eq!(
                        order,
                        expected[a].cmp(&expected[b]),
                        "{}",
                        game.notation(&position)
                    );
                }
            }
        }
        assert!(decided > 0, "no line of {plies} plies came to an end");
    }

    fn by_squares(game: &dyn Rules, size: (usize, u32)) {
        let weights = Weights::of_board(game.shape());
        let glance = |root: &_, position: &_| {
            let discs = discs(game, root, position);
            discs.iter().zip(weights.micro()).map(|(disc, weight)| disc * weight).sum()
        };
        agrees(game, size, weights.clone(), &glance);
    }

    fn by_material(game: &dyn Rules, size: (usize, u32)) {
        let glance = |root: &AnyPosition, position: &AnyPosition| {
            let own = i64::from(game.material(&position.state).unwrap());
            if position.side == root.side { own } else { -own }
        };
        agrees(game, size, Material, &glance);
    }

    #[test]
    fn minimax_agrees_with_levels_taken_back_one_by_one() {
        for plies in 1..=4 {
            by_squares(&*four(), (200, plies));
        }
        by_squares(&*six(), (100, 2));
        for plies in 1..=3 {
            by_material(&*animals(), (60, plies));
        }
        by_material(&*minishogi(), (60, 2));
    }

    /// Counts evaluations.
    #[derive(Default)]
    struct Counting<E>(E, AtomicU64);

    impl<E: StaticEvaluation> StaticEvaluation for Counting<E> {
        fn value(&self, position: &dyn Walk) -> i64 {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.value(position)
        }
    }

    fn the_same(
        game: &dyn Rules,
        (count, plies): (usize, u32),
        evaluation: impl StaticEvaluation + Clone,
    ) {
        let counting = || Counting(evaluation.clone(), AtomicU64::new(0));
        let minimax = Minimax::new(String::new(), plies, counting());
        let alpha_beta = Minimax::alpha_beta(String::new(), plies, counting());
        for position in positions(game, count) {
            let actions = game.actions(&position.state);
            let [mut all, mut some] = [vec![0.0; actions.len()], vec![0.0; actions.len()]];
            minimax.worths(game, &position, &actions, &mut all);
            alpha_beta.worths(game, &position, &actions, &mut some);
            assert_eq!(all, some, "{} at {plies} plies", game.notation(&position));
        }
        let [all, some] = [&minimax.evaluation.1, &alpha_beta.evaluation.1];
        let [all, some] = [all, some].map(|count| count.load(Ordering::Relaxed));
        assert!(if plies < 3 { some == all } else { some < all }, "{plies} plies: {some} of {all}");
    }

    #[test]
    fn alpha_beta_finds_the_same_and_looks_at_less() {
        for plies in 1..=6 {
            the_same(&*four(), (600, plies), Weights::of_board(four().shape()));
        }
        for plies in 1..=4 {
            the_same(&*six(), (150, plies), Weights::of_board(six().shape()));
            the_same(&*animals(), (100, plies), Material);
        }
        for plies in 1..=3 {
            the_same(&*minishogi(), (60, plies), Material);
        }
    }

    #[test]
    fn a_whole_board_is_read_to_its_end() {
        // From the start of 4×4, every first move loses.
        let game = four();
        let start = game.start();
        let actions = game.actions(&start.state);
        let mut worths = vec![0.0; actions.len()];
        let all = Minimax::alpha_beta(String::new(), 14, Material);
        all.worths(&*game, &start, &actions, &mut worths);
        assert!(worths.iter().all(|&worth| worth < -((WIN - 20) as f64)), "{worths:?}");
    }
}
