//! Positions and lines of play for testing policies.

use std::collections::HashSet;

use super::chance::Chance;
use super::{Answers, Batch, Policy};
use yomikiri::game::othello::Othello;
use yomikiri::game::shogi::{MINISHOGI, SMALL_ANIMAL_SHOGI, Shogi};
use yomikiri::game::{Action, Game, Outcome, Position, WideKey};

pub(super) fn four() -> Othello<u64> {
    Othello::new(4, 4, true)
}

pub(super) fn six() -> Othello<WideKey> {
    Othello::new(6, 6, true)
}

pub(super) fn minishogi() -> Shogi<WideKey> {
    Shogi::new(&MINISHOGI, true)
}

pub(super) fn animals() -> Shogi<u64> {
    Shogi::new(&SMALL_ANIMAL_SHOGI, true)
}

/// Returns `count` distinct nonterminal positions of random games from the start.
pub(super) fn positions<G: Game>(game: &G, count: usize) -> Vec<Position<G::State>> {
    let mut known = HashSet::new();
    let mut found = Vec::new();
    for seed in 0.. {
        let mut position = game.start();
        let mut chance = Chance::new(game, seed, &position);
        loop {
            let actions = game.actions(&position.state);
            if actions.is_empty() {
                break;
            }
            if known.insert((position.state, position.side)) {
                found.push(position);
            }
            if found.len() == count {
                return found;
            }
            position = game.advance(&position, actions[chance.below(actions.len())]);
        }
    }
    unreachable!("chance reaches as many positions");
}

/// Returns a batch of the positions with their actions.
pub(super) fn batch<G: Game>(game: &G, positions: &[Position<G::State>]) -> Batch<G::State> {
    let mut batch = Batch::default();
    positions.iter().for_each(|p| batch.push(*p, game.actions(&p.state)));
    batch
}

pub(super) fn answers<G: Game>(
    policy: &dyn Policy<G>,
    game: &G,
    positions: &[Position<G::State>],
) -> Answers {
    let batch = batch(game, positions);
    let answers = policy.answer(game, &batch).unwrap();
    answers.check(&batch).unwrap();
    answers
}

/// A line of play and its last position.
pub(super) type Line<S> = (Vec<Action>, Position<S>);

/// Returns all lines that begin with an action and continue while the game does and `goes_on` returns `true`
/// for the line's length and last position.
pub(super) fn lines<G: Game>(
    game: &G,
    root: &Position<G::State>,
    action: Action,
    goes_on: impl Fn(usize, &Position<G::State>) -> bool,
) -> Vec<Line<G::State>> {
    let mut open: Vec<Line<G::State>> = vec![(vec![action], game.advance(root, action))];
    let mut done = Vec::new();
    while let Some((line, last)) = open.pop() {
        let actions = game.actions(&last.state);
        if actions.is_empty() || !goes_on(line.len(), &last) {
            done.push((line, last));
            continue;
        }
        for action in actions {
            open.push(([&line[..], &[action]].concat(), game.advance(&last, action)));
        }
    }
    done
}

/// Evaluates a position (the second) for the player to move in another (the first).
pub(super) type Glance<'a, S> = &'a dyn Fn(&Position<S>, &Position<S>) -> i64;

/// Reads the discs from an Othello board's text, row by row: 1 for those of the player to move in `root`, −1
/// for the other's.
pub(super) fn discs<G: Game>(
    game: &G,
    root: &Position<G::State>,
    position: &Position<G::State>,
) -> Vec<i64> {
    let text = game.diagram(position);
    let rows = text.lines().skip(1).take(game.shape().0);
    let sign = [1, -1][root.side.index()];
    let disc = |square: &str| match square {
        "X" => sign,
        "O" => -sign,
        _ => 0,
    };
    rows.flat_map(|row| row.split_whitespace().skip(1).map(disc)).collect()
}

/// Returns the result for the player to move in `root`; `None` while the game goes on.
pub(super) fn result<G: Game>(
    game: &G,
    root: &Position<G::State>,
    position: &Position<G::State>,
) -> Option<Outcome> {
    let own = game.result(&position.state)?;
    Some(if position.side == root.side { own } else { -own })
}
