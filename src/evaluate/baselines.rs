//! Whom policies play against on any table, and what of their games follows from the table alone.

use std::borrow::Cow;

use super::figures::outcome_lost;
use super::play::{Play, Walk};
use crate::parallel::{self, GRAIN};

/// Random and perfect moves on a table, the games between them, and what each move gives away: the same
/// whoever is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Baselines {
    /// The probabilities of random moves and of perfect ones, one an edge.
    pub(super) moves: [Vec<f64>; 2],
    /// `walks[a][b]`: games between them, `a` being the first player.
    pub(super) walks: [[Walk; 2]; 2],
    /// What the move along each edge gives away of the outcome, and of the score as games count it: in a
    /// game without scores the outcome.
    given: Vec<[u8; 2]>,
    /// Whether the moves of each position differ in outcome.
    pub(super) decisive: Vec<bool>,
}

impl Baselines {
    /// Those of the games on a table.
    pub fn new(play: &Play<'_>) -> Baselines {
        let moves = [play.random(), play.perfect()];
        let start = play.start();
        let walk = |a: usize, b: usize| play.walk(&moves[a], &moves[b], &start);
        let walks = [0, 1].map(|a| [0, 1].map(|b| walk(a, b)));
        let positions = play.unfolded().positions();
        let given: Vec<[u8; 2]> = (0..positions)
            .flat_map(|at| play.unfolded().edges_of(at).map(move |edge| (at, edge)))
            .map(|(at, edge)| given(play, at, edge).unwrap_or_default())
            .collect();
        let decisive =
            |at: usize| given[play.unfolded().edges_of(at)].iter().any(|given| given[0] > 0);
        let decisive = (0..positions).map(decisive).collect();
        Baselines { moves, walks, given, decisive }
    }

    /// Whether a policy is one of them.
    pub(super) fn place(&self, policy: &[f64]) -> Option<usize> {
        self.moves.iter().position(|moves| moves == policy)
    }

    /// Games between policies, any of which may be one of them.
    pub(super) fn walk(&self, play: &Play<'_>, first: &[f64], second: &[f64]) -> Cow<'_, Walk> {
        match (self.place(first), self.place(second)) {
            (Some(a), Some(b)) => Cow::Borrowed(&self.walks[a][b]),
            _ => Cow::Owned(play.walk(first, second, &play.start())),
        }
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
    Some([outcome_lost(&own, &truth) as u8, (best - left) as u8])
}
