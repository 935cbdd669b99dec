//! Beam search: keeps the best few moves of every position.
//!
//! The network evaluates the successors of a position, the moves with the best values are kept (the first
//! of equals), and their successors are searched by negamax. A successor without a move is a proven loss for
//! its mover, and a position with such a successor needs no other move. Ends are worth more the
//! sooner they come, and always more than the network's values. Equal positions of a ply are
//! searched once.
//!
//! Values are the mover's probability to win; a loss in `d` plies is `-(1 - d/256)`, a win
//! in `d` plies `1 + (1 - d/256)`, so that `1 - v` is the other side's value.

use rustc_hash::FxHashMap;

use super::{FEATURES, Minishogi, ValueFunction, features};
use yomikiri::games::shogi::Board;
use yomikiri::rules::{Action, Game, Position};

/// Width and depth of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beam {
    /// Number of moves kept in a position, at least 1.
    pub width: usize,
    /// Depth in plies including the move itself, at least 1.
    pub plies: usize,
}

impl Default for Beam {
    fn default() -> Beam {
        Beam { width: 4, plies: 6 }
    }
}

/// Returns the value of a loss in `plies` plies for its mover.
pub(super) fn loss_in(plies: usize) -> f64 {
    -(1.0 - plies.min(255) as f64 / 256.0)
}

/// A move at the root with its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootMove {
    /// The move.
    pub action: Action,
    /// Value for the mover of the root; searched if the move was kept.
    pub value: f64,
    /// `true` if the network ranked it among the best, so that it was searched.
    pub kept: bool,
}

impl Beam {
    /// Evaluates the legal moves of a position that is not over. Moves in `excluded` (one flag per move
    /// in the order of actions; may be empty) are not kept.
    pub fn judge(
        &self,
        game: &Minishogi,
        values: &dyn ValueFunction,
        root: &Position<Board>,
        excluded: &[bool],
    ) -> Vec<RootMove> {
        let mut search = BeamTree { game, values, beam: *self, known: FxHashMap::default() };
        let after = search.successors(root, 1);
        let kept = self.keep(&after, excluded);
        let judge = |(i, next): (usize, &Successor)| RootMove {
            action: next.action,
            value: 1.0 - next.value,
            kept: kept.contains(&i),
        };
        let mut judged: Vec<RootMove> = after.iter().enumerate().map(judge).collect();
        for &i in &kept {
            judged[i].value = 1.0 - search.value(&after[i], 1);
        }
        limit(&mut judged);
        judged
    }

    /// Returns the indices of the best successors.
    fn keep(&self, after: &[Successor], excluded: &[bool]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..after.len()).collect();
        order.retain(|&i| !excluded.get(i).is_some_and(|&excluded| excluded));
        let worth = |i: usize| 1.0 - after[i].value;
        order.sort_by(|&a, &b| worth(b).total_cmp(&worth(a)));
        order.truncate(self.width);
        // A proven win needs no alternative.
        if order.first().is_some_and(|&i| after[i].ended) {
            order.retain(|&i| after[i].ended);
        }
        order
    }
}

/// A position after a move.
struct Successor {
    action: Action,
    position: Position<Board>,
    /// Value by the network, or of an end.
    value: f64,
    ended: bool,
}

struct BeamTree<'a> {
    game: &'a Minishogi,
    values: &'a dyn ValueFunction,
    beam: Beam,
    /// Values by depth and position; the depth implies the side to move.
    known: FxHashMap<(usize, Board), f64>,
}

impl BeamTree<'_> {
    /// Returns the successors of a position, which are `depth` plies from the root.
    fn successors(&self, position: &Position<Board>, depth: usize) -> Vec<Successor> {
        let (mut after, mut rows) = (Vec::new(), Vec::new());
        self.game.moves(&position.state, |action, state| {
            let position = Position { state, side: position.side.other() };
            let ended = self.game.is_terminal(&state);
            after.push(Successor { action, position, value: loss_in(depth), ended });
        });
        let open = || after.iter().filter(|next| !next.ended).map(|next| &next.position);
        features::append(self.game, open(), &mut rows);
        let mut values = vec![0.0; rows.len() / FEATURES];
        self.values.values(&rows, &mut values);
        let open = after.iter_mut().filter(|next| !next.ended);
        open.zip(values).for_each(|(next, value)| next.value = f64::from(value));
        after
    }

    /// Returns the value of a position, `depth` plies from the root, for its mover.
    fn value(&mut self, at: &Successor, depth: usize) -> f64 {
        if at.ended || depth == self.beam.plies {
            return at.value;
        }
        if let Some(&known) = self.known.get(&(depth, at.position.state)) {
            return known;
        }
        let after = self.successors(&at.position, depth + 1);
        let kept = self.beam.keep(&after, &[]).into_iter();
        let value = kept.map(|i| 1.0 - self.value(&after[i], depth + 1));
        let value = value.fold(f64::NEG_INFINITY, f64::max);
        self.known.insert((depth, at.position.state), value);
        value
    }
}

/// Limits the values of moves that were not searched to the worst searched value.
fn limit(judged: &mut [RootMove]) {
    let worst = judged.iter().filter(|judged| judged.kept).map(|judged| judged.value);
    let worst = worst.fold(f64::INFINITY, f64::min);
    for judged in judged.iter_mut().filter(|judged| !judged.kept) {
        judged.value = judged.value.min(worst);
    }
}

#[cfg(test)]
mod tests {
    use super::super::rules;
    use super::super::test_positions::{Bumpy, position, positions};
    use super::*;

    /// Computes the value of a state for its mover by plain recursion, `depth` plies from the root.
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
