//! Players whom policies meet on any table: one who moves at random and one who moves perfectly. What
//! follows of games with them from the table alone.

use super::figures::outcome_lost;
use super::play::Play;
use crate::parallel::{self, GRAIN};

/// Random and perfect moves on a table, and what each move gives away: the same whoever is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Baselines {
    /// The probabilities of random moves and of perfect ones, one an edge.
    pub(super) moves: [Vec<f64>; 2],
    /// What the move along each edge gives away of the outcome, and of the score as games count it: in a
    /// game without scores the outcome.
    given: Vec<[u8; 2]>,
}

impl Baselines {
    /// Looks at what every move gives away.
    pub fn new(play: &Play<'_>) -> Baselines {
        let moves = [play.random(), play.perfect()];
        let positions = play.unfolded().positions();
        let given_at = |at: usize| {
            let edges = play.unfolded().edges_of(at);
            edges.map(move |edge| given(play, at, edge).unwrap_or_default())
        };
        let given = parallel::map_ranges(positions, GRAIN, &|positions| {
            positions.flat_map(given_at).collect::<Vec<_>>()
        });
        let given = given.concat();
        Baselines { moves, given }
    }

    /// How many bytes they take.
    pub(super) fn bytes(&self) -> usize {
        let [moves, given] = [size_of::<[f64; 2]>(), size_of::<[u8; 2]>()];
        self.given.len() * (moves + given)
    }

    /// Which of them a policy is, if any.
    pub(super) fn place(&self, policy: &[f64]) -> Option<usize> {
        self.moves.iter().position(|moves| moves == policy)
    }

    /// What a policy gives away in each position: probabilities of giving away outcome and score, and
    /// how much of each.
    pub(super) fn lost(&self, play: &Play<'_>, policy: &[f64]) -> Vec<[f64; 4]> {
        let of = |at: usize| {
            let (edges, mut lost) = (play.unfolded().edges_of(at), [0.0; 4]);
            for (&p, given) in policy[edges.clone()].iter().zip(&self.given[edges]) {
                let [outcome, score] = given.map(f64::from);
                lost[0] += if outcome > 0.0 { p } else { 0.0 };
                lost[1] += if score > 0.0 { p } else { 0.0 };
                lost[2] += p * outcome;
                lost[3] += p * score;
            }
            lost
        };
        let parts = parallel::map_ranges(play.unfolded().positions(), GRAIN, &|positions| {
            positions.map(of).collect::<Vec<_>>()
        });
        parts.concat()
    }
}

/// What a move gives away; `None` where something is not proven.
fn given(play: &Play<'_>, at: usize, edge: usize) -> Option<[u8; 2]> {
    let (own, truth) = (play.truth(at)?, play.move_truth(edge)?);
    let [best, left] = [&own, &truth].map(|truth| i16::from(truth.q_score().0));
    Some([outcome_lost(&own, &truth) as u8, (best - left).max(0) as u8])
}
