//! The search that keeps the best few moves of every position.
//!
//! From the root, ply by ply: each position of a ply gets its successors, each successor the
//! network's value, and the best moves by it are kept (the first of equals). The last ply's values
//! go back by negamax. A successor without a move is lost for its mover, surely, and a position
//! that has one needs no other move; such an end is worth more the sooner it comes, and always more
//! than what the network says. Equal positions of a ply are searched once.
//!
//! Values inside are the mover's probability to win; a loss in `d` plies is `-(1 - d/256)`, a win
//! in `d` plies `1 + (1 - d/256)`, so that `1 - v` is the other side's.

use rustc_hash::FxHashMap;

use super::{FEATURES, Minishogi, Values, features};
use crate::game::shogi::Board;
use crate::game::{Action, Game, Position, Side};

/// How wide and how deep to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beam {
    /// How many moves a position keeps, at least 1.
    pub width: usize,
    /// How many plies are read, at least 1, the move itself among them; at most [`MAX_PLIES`].
    pub plies: usize,
}

/// The most plies that can be read.
pub const MAX_PLIES: usize = 64;

impl Default for Beam {
    fn default() -> Beam {
        Beam { width: 4, plies: 6 }
    }
}

/// A loss in so many plies, to its mover.
pub(super) fn loss_in(plies: usize) -> f64 {
    -(1.0 - plies.min(255) as f64 / 256.0)
}

/// A successor at the root and what became of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The move.
    pub action: Action,
    /// What the move is worth to the mover of the root: the searched value where it was kept.
    pub value: f64,
    /// Whether it was among the best at first sight, so that it was searched.
    pub kept: bool,
}

/// A position of a ply.
struct Node {
    state: Board,
    /// The value, while its successors are not known the network's or that of an end.
    value: f64,
    /// The places of the kept successors in the next ply; none at an end and on the last ply.
    kept: Vec<u32>,
    /// Whether the game is over here.
    ended: bool,
}

impl Beam {
    /// Judges the legal moves of a position that is not over, those in `excluded` (one flag a move,
    /// in the order of actions; may be empty) never being kept.
    pub fn judge(
        &self,
        game: &Minishogi,
        values: &dyn Values,
        root: &Position<Board>,
        excluded: &[bool],
    ) -> Vec<Judged> {
        let first = Node { state: root.state, value: 0.5, kept: Vec::new(), ended: false };
        let mut plies = vec![vec![first]];
        let mut judged = Vec::new();
        let mut side = root.side;
        for depth in 1..=self.plies {
            side = side.other();
            let here = plies.last_mut().expect("there is a first ply");
            let mut grown = self.grow(game, values, here, (depth, side), excluded);
            if depth == 1 {
                judged = std::mem::take(&mut grown.judged);
            }
            if grown.next.is_empty() {
                break;
            }
            plies.push(grown.next);
        }
        for at in (0..plies.len() - 1).rev() {
            let (above, below) = plies.split_at_mut(at + 1);
            for node in above[at].iter_mut().filter(|node| !node.kept.is_empty()) {
                let after = node.kept.iter().map(|&next| 1.0 - below[0][next as usize].value);
                node.value = after.fold(f64::NEG_INFINITY, f64::max);
            }
        }
        if let [first, second, ..] = &plies[..] {
            let kept = judged.iter_mut().filter(|judged| judged.kept);
            for (judged, &next) in kept.zip(&first[0].kept) {
                judged.value = 1.0 - second[next as usize].value;
            }
        }
        limit(&mut judged);
        judged
    }

    /// Finds the successors of a ply's positions, judges them and keeps the best.
    fn grow(
        &self,
        game: &Minishogi,
        values: &dyn Values,
        here: &mut [Node],
        (depth, side): (usize, Side),
        excluded: &[bool],
    ) -> Grown {
        let fresh = Fresh::of(game, values, here, (depth, side));
        let mut grown = Grown::default();
        // The place in the next ply of each state that was kept.
        let mut places: Vec<Option<u32>> = vec![None; fresh.states.len()];
        for (at, node) in here.iter_mut().enumerate() {
            let successors = &fresh.successors[at];
            let worth = |&(_, state): &(Action, u32)| 1.0 - fresh.values[state as usize];
            let mut order: Vec<usize> = (0..successors.len()).collect();
            if depth == 1 {
                order.retain(|&i| !excluded.get(i).is_some_and(|&excluded| excluded));
            }
            order.sort_by(|&a, &b| worth(&successors[b]).total_cmp(&worth(&successors[a])));
            order.truncate(self.width);
            // A sure win needs no other.
            if order.first().is_some_and(|&i| fresh.ended[successors[i].1 as usize]) {
                order.retain(|&i| fresh.ended[successors[i].1 as usize]);
            }
            order.sort_unstable();
            for &i in &order {
                let state = successors[i].1 as usize;
                let place = *places[state].get_or_insert_with(|| {
                    let (value, ended) = (fresh.values[state], fresh.ended[state]);
                    let state = fresh.states[state];
                    grown.next.push(Node { state, value, kept: Vec::new(), ended });
                    grown.next.len() as u32 - 1
                });
                node.kept.push(place);
            }
            if depth == 1 {
                let judge = |(i, successor): (usize, &(Action, u32))| Judged {
                    action: successor.0,
                    value: worth(successor),
                    kept: order.contains(&i),
                };
                grown.judged = successors.iter().enumerate().map(judge).collect();
            }
        }
        grown
    }
}

/// A ply's successors.
#[derive(Default)]
struct Grown {
    next: Vec<Node>,
    /// All moves of the first position, in the order of actions.
    judged: Vec<Judged>,
}

/// The distinct successors of a ply and their values.
struct Fresh {
    states: Vec<Board>,
    values: Vec<f64>,
    ended: Vec<bool>,
    /// Of each position of the ply its actions, in order, with the successors' places.
    successors: Vec<Vec<(Action, u32)>>,
}

/// How many rows of one inference.
const ROWS: usize = 1024;

impl Fresh {
    fn of(
        game: &Minishogi,
        values: &dyn Values,
        here: &[Node],
        (depth, side): (usize, Side),
    ) -> Fresh {
        let mut known: FxHashMap<Board, u32> = FxHashMap::default();
        let mut states = Vec::new();
        let mut successors = Vec::with_capacity(here.len());
        for node in here {
            let mut after = Vec::new();
            // An end has none.
            if !node.ended {
                game.for_each_successor(&node.state, |action, state| {
                    let place = *known.entry(state).or_insert_with(|| {
                        states.push(state);
                        states.len() as u32 - 1
                    });
                    after.push((action, place));
                });
            }
            successors.push(after);
        }
        let ended: Vec<bool> = states.iter().map(|state| game.is_terminal(state)).collect();
        let mut found = Vec::with_capacity(states.len());
        let (mut rows, mut out) = (Vec::new(), Vec::new());
        for states in states.chunks(ROWS) {
            rows.clear();
            let positions: Vec<_> = states.iter().map(|&state| Position { state, side }).collect();
            features::append(game, &positions, &mut rows);
            out.clear();
            out.resize(rows.len() / FEATURES, 0.0);
            values.values(&rows, &mut out);
            found.extend(out.iter().map(|&value| f64::from(value)));
        }
        for (value, _) in found.iter_mut().zip(&ended).filter(|(_, ended)| **ended) {
            *value = loss_in(depth);
        }
        Fresh { states, values: found, ended, successors }
    }
}

/// Moves that were not searched are worth no more than the worst that was.
fn limit(judged: &mut [Judged]) {
    let worst = judged.iter().filter(|judged| judged.kept).map(|judged| judged.value);
    let worst = worst.fold(f64::INFINITY, f64::min);
    for judged in judged.iter_mut().filter(|judged| !judged.kept) {
        judged.value = judged.value.min(worst);
    }
}

#[cfg(test)]
mod tests {
    use super::super::rules;
    use super::super::sample::{Bumpy, position, positions};
    use super::*;

    /// The value of a state to its mover by plain recursion; `depth` plies after the root.
    fn reference(game: &Minishogi, beam: &Beam, at: &Position<Board>, depth: usize) -> f64 {
        let evaluate = |position: &Position<Board>, depth| {
            if game.is_terminal(&position.state) {
                return loss_in(depth);
            }
            let (mut row, mut out) = (Vec::new(), [0.0]);
            features::append(game, [position], &mut row);
            Bumpy.values(&row, &mut out);
            f64::from(out[0])
        };
        if depth == beam.plies || game.is_terminal(&at.state) {
            return evaluate(at, depth);
        }
        let after = game.actions(&at.state);
        let mut after: Vec<_> = after
            .into_iter()
            .map(|action| game.advance(at, action))
            .map(|position| (1.0 - evaluate(&position, depth + 1), position))
            .collect();
        after.sort_by(|a, b| b.0.total_cmp(&a.0));
        after.truncate(beam.width);
        let values = after.iter().map(|(_, next)| 1.0 - reference(game, beam, next, depth + 1));
        values.fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn the_beam_agrees_with_plain_recursion() {
        let game = rules();
        for (width, plies) in [(1, 1), (2, 3), (4, 4), (3, 5), (99, 2)] {
            let beam = Beam { width, plies };
            for root in positions(&game, 400).iter().step_by(23) {
                let judged = beam.judge(&game, &Bumpy, root, &[]);
                assert_eq!(judged.len(), game.actions(&root.state).len());
                let best = judged.iter().filter(|j| j.kept).map(|j| j.value);
                let best = best.fold(f64::NEG_INFINITY, f64::max);
                assert_eq!(best, reference(&game, &beam, root, 0), "{}", game.notation(root));
                assert!(judged.iter().all(|j| j.kept || j.value <= best));
            }
        }
    }

    #[test]
    fn a_mate_at_hand_is_the_only_move_kept() {
        let game = rules();
        let root = position(&game, "R2gk/3bp/1sGB1/P2S1/K3R b - 1");
        let judged = Beam::default().judge(&game, &Bumpy, &root, &[]);
        let kept: Vec<_> = judged.iter().filter(|judged| judged.kept).collect();
        let names: Vec<_> = kept.iter().map(|j| game.action_name(root.side, j.action)).collect();
        assert_eq!(names, ["1e1b"]);
        assert_eq!(kept[0].value, 1.0 - loss_in(1));
    }

    #[test]
    fn excluded_moves_are_not_kept() {
        let game = rules();
        let root = game.start();
        let all = Beam::default().judge(&game, &Bumpy, &root, &[]);
        let excluded: Vec<bool> = all.iter().map(|judged| judged.kept).collect();
        let rest = Beam::default().judge(&game, &Bumpy, &root, &excluded);
        assert!(rest.iter().zip(&excluded).all(|(judged, &excluded)| !(judged.kept && excluded)));
        assert_eq!(rest.iter().filter(|judged| judged.kept).count(), 4);
    }
}
