//! What chooses moves.
//!
//! A [`Policy`] gives each legal action of a position a probability. Its figures are then exact
//! expectations: nothing is drawn at random.
//!
//! * [`Random`] takes every move equally often, [`Greedy`] the most material, [`Weights`] the
//!   best squares;
//! * [`PolicySpec`] is what a person writes for a policy. The perfect policy needs a solved table,
//!   so it and the way from a specification to a policy belong to
//!   [`evaluate`](crate::evaluate).
//!
//! Each is a rule for one move, and moves that the rule finds equally good are equally likely.
//! Scores are integers, so that ties are exact and do not depend on the order of sums. A single
//! action, such as a pass, has probability 1.

mod greedy;
mod random;
mod spec;
mod weights;

pub use greedy::Greedy;
pub use random::Random;
pub use spec::{PolicySpec, PolicySpecError};
pub use weights::{MICRO, Weights, WeightsError};

use crate::game::{Action, Game, Position};

/// Something that chooses moves.
pub trait Policy<G: Game>: Send + Sync {
    /// The name under which reports show it.
    fn name(&self) -> String;

    /// Writes to `out` the probability with which each of `actions` is chosen, in their order.
    ///
    /// `actions` are the legal actions of the position, at least one; `out` comes with as many
    /// zeros and must sum to 1.
    fn probabilities(
        &self,
        game: &G,
        position: &Position<G::State>,
        actions: &[Action],
        out: &mut [f64],
    );
}

/// Writes to `out` the same probability for each of the actions that `worth` finds best, and 0 for
/// the others. `worth` is asked once for each action, in their order.
pub fn uniform_over_best<W: Ord>(
    actions: &[Action],
    out: &mut [f64],
    mut worth: impl FnMut(Action) -> W,
) {
    let mut best: Option<W> = None;
    let mut count = 0u32;
    for (i, &action) in actions.iter().enumerate() {
        let found = worth(action);
        let order = best.as_ref().map(|best| found.cmp(best));
        out[i] = match order {
            Some(std::cmp::Ordering::Less) => 0.0,
            Some(std::cmp::Ordering::Equal) => {
                count += 1;
                1.0
            }
            Some(std::cmp::Ordering::Greater) | None => {
                out[..i].fill(0.0);
                (best, count) = (Some(found), 1);
                1.0
            }
        };
    }
    out.iter_mut().for_each(|p| *p /= f64::from(count.max(1)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_share_and_the_others_get_nothing() {
        let actions: Vec<Action> = (0..6).map(Action).collect();
        let worth = [1, 3, 2, 3, 0, 3];
        let mut out = [9.0; 6];
        uniform_over_best(&actions, &mut out, |a| worth[a.0 as usize]);
        let third = 1.0 / 3.0;
        assert_eq!(out, [0.0, third, 0.0, third, 0.0, third]);
    }
}
