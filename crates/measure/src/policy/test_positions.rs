//! Positions and lines of play for testing policies.

use std::collections::HashSet;
use std::sync::Arc;

use super::chance::Chance;
use super::{Answers, Batch, Policy};
use yomikiri::registry::Games;
use yomikiri::rules::{Action, AnyPosition, Outcome, Rules};

fn named(name: &str) -> Arc<dyn Rules> {
    Games::default().named(name).unwrap()
}

pub(super) fn four() -> Arc<dyn Rules> {
    named("othello-4x4")
}

pub(super) fn six() -> Arc<dyn Rules> {
    named("othello-6x6")
}

pub(super) fn minishogi() -> Arc<dyn Rules> {
    named("minishogi")
}

pub(super) fn animals() -> Arc<dyn Rules> {
    named("animal-shogi-3x3")
}

/// Returns `count` distinct nonterminal positions of random games from the start.
pub(super) fn positions(game: &dyn Rules, count: usize) -> Vec<AnyPosition> {
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
pub(super) fn batch(game: &dyn Rules, positions: &[AnyPosition]) -> Batch {
    let mut batch = Batch::default();
    positions.iter().for_each(|p| batch.push(*p, game.actions(&p.state)));
    batch
}

pub(super) fn answers(policy: &dyn Policy, game: &dyn Rules, positions: &[AnyPosition]) -> Answers {
    let batch = batch(game, positions);
    let answers = policy.answer(game, &batch).unwrap();
    answers.check(&batch).unwrap();
    answers
}

/// A line of play and its last position.
pub(super) type Line = (Vec<Action>, AnyPosition);

/// Returns all lines that begin with an action and continue while the game does and `goes_on` returns `true`
/// for the line's length and last position.
pub(super) fn lines(
    game: &dyn Rules,
    root: &AnyPosition,
    action: Action,
    goes_on: impl Fn(usize, &AnyPosition) -> bool,
) -> Vec<Line> {
    let mut open: Vec<Line> = vec![(vec![action], game.advance(root, action))];
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
pub(super) type Glance<'a> = &'a dyn Fn(&AnyPosition, &AnyPosition) -> i64;

/// Reads the discs from an Othello board's text, row by row: 1 for those of the player to move in `root`, −1
/// for the other's.
pub(super) fn discs(game: &dyn Rules, root: &AnyPosition, position: &AnyPosition) -> Vec<i64> {
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
pub(super) fn result(
    game: &dyn Rules,
    root: &AnyPosition,
    position: &AnyPosition,
) -> Option<Outcome> {
    let own = game.result(&position.state)?;
    Some(if position.side == root.side { own } else { -own })
}
