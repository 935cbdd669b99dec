//! Test positions, and values that need no network.

use std::collections::HashSet;

use super::{FEATURES, Minishogi, ValueFunction};
use crate::chance::{below, seeded};
use yomikiri::games::shogi::Board;
use yomikiri::rules::{Game, Position};

/// Returns `count` distinct positions of random games that are not over.
pub(super) fn positions(game: &Minishogi, count: usize) -> Vec<Position<Board>> {
    let (mut known, mut found) = (HashSet::new(), Vec::new());
    for number in 0.. {
        let mut random = seeded(1, &[number]);
        let mut position = game.start();
        loop {
            let actions = game.actions(&position.state);
            if actions.is_empty() {
                break;
            }
            if known.insert(position) {
                found.push(position);
            }
            if found.len() == count {
                return found;
            }
            position = game.advance(&position, actions[below(&mut random, actions.len())]);
        }
    }
    unreachable!("one game per number")
}

pub(super) fn position(game: &Minishogi, sfen: &str) -> Position<Board> {
    game.parse_position(sfen, &game.start()).unwrap()
}

/// A fixed function of the features, as uneven as a network.
pub(super) struct Bumpy;

impl ValueFunction for Bumpy {
    fn values(&self, rows: &[f32], out: &mut [f32]) {
        assert_eq!(rows.len(), out.len() * FEATURES);
        for (row, out) in rows.chunks(FEATURES).zip(out) {
            let sum: f32 = row
                .iter()
                .zip(0u32..)
                .map(|(x, i)| x * (f32::from((i * 7919 % 201) as u16) - 100.0))
                .sum();
            *out = 1.0 / (1.0 + (-sum / 300.0).exp());
        }
    }
}
