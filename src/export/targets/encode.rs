//! An example written into the columns of a block.

use super::columns::{Block, Column, Content, Layout, MISSING, Shape};
use super::example::Example;
use crate::any::{AnyGame, AnyState};
use crate::game::{Game, Score, Split};
use crate::solve::Value;

/// Writes examples into the columns of blocks.
pub struct Encoder<'a> {
    /// The rules.
    pub game: &'a AnyGame,
    /// The rules with states folded.
    pub folded: &'a AnyGame,
    /// The columns that are written.
    pub columns: &'a [Column],
    /// What they depend on.
    pub shape: Shape,
}

impl Encoder<'_> {
    /// Adds an example that belongs to `split`.
    pub fn add(&self, example: &Example, split: Split, block: &mut Block) {
        for (at, column) in self.columns.iter().enumerate() {
            self.write(column, example, split, &mut block.data[at]);
            if column.is_text() {
                let end = block.data[at].len();
                block.ends[at].push(end);
            }
        }
        block.rows += 1;
    }

    fn write(&self, column: &Column, example: &Example, split: Split, out: &mut Vec<u8>) {
        match column.content {
            Content::Bytes(write) => write(self, example, split, out),
            Content::OfValue(of) if column.shape.is_empty() => {
                out.push(of(example, example.value) as u8);
            }
            Content::OfValue(of) => {
                let absent = if column.has_missing { MISSING } else { 0 };
                let begin = out.len();
                out.resize(begin + column.width(), absent as u8);
                for &(action, value) in &example.moves {
                    out[begin + usize::from(action.0)] = of(example, value) as u8;
                }
            }
        }
    }

    pub(super) fn policy(&self, example: &Example, out: &mut Vec<u8>) {
        let begin = out.len();
        out.resize(begin + 4 * self.game.action_count(), 0);
        if !example.is_proven() {
            return;
        }
        let weights: Vec<f64> = match self.shape.temperature {
            None => {
                let best =
                    |&(_, value): &(_, Value)| f64::from(u8::from(example.is_optimal(value)));
                example.moves.iter().map(best).collect()
            }
            Some(temperature) => {
                let of = |value: Value| f64::from(example.worth_of(value).unwrap_or(0));
                let best = example.moves.iter().map(|&(_, value)| of(value));
                let best = best.fold(f64::NEG_INFINITY, f64::max);
                // The function of this crate's own, so that every machine gives the same bytes.
                let weight = |&(_, value): &(_, Value)| libm::exp((of(value) - best) / temperature);
                example.moves.iter().map(weight).collect()
            }
        };
        let sum: f64 = weights.iter().sum();
        for ((action, _), weight) in example.moves.iter().zip(weights) {
            let at = begin + 4 * usize::from(action.0);
            out[at..at + 4].copy_from_slice(&((weight / sum) as f32).to_le_bytes());
        }
    }

    pub(super) fn moves(&self, example: &Example, out: &mut Vec<u8>) {
        for (at, (action, value)) in example.moves.iter().enumerate() {
            if at > 0 {
                out.push(b' ');
            }
            out.extend(self.game.action_name(example.position.side, *action).into_bytes());
            out.push(b':');
            let value = example.worth_of(*value).map(|worth| Score(worth).to_string());
            out.extend(value.unwrap_or("?".to_string()).into_bytes());
        }
    }

    fn plain_planes(&self, state: &AnyState) -> Vec<u8> {
        let (rows, columns) = self.game.shape();
        let mut planes = vec![0; self.game.planes().count() * rows * columns];
        self.game.write_planes(state, &mut planes);
        planes
    }

    pub(super) fn bitboards(&self, state: &AnyState) -> [u64; 2] {
        let planes = self.plain_planes(state);
        let (mover, opponent) = planes.split_at(planes.len() / 2);
        [mover, opponent].map(|plane| {
            let bits = plane.iter().enumerate().map(|(square, &bit)| u64::from(bit) << square);
            bits.fold(0, |all, bit| all | bit)
        })
    }

    pub(super) fn planes(&self, state: &AnyState, out: &mut Vec<u8>) {
        let planes = self.plain_planes(state);
        let (mover, opponent) = planes.split_at(planes.len() / 2);
        let squares = mover.iter().zip(opponent);
        match self.shape.layout {
            Layout::Default => out.extend_from_slice(&planes),
            Layout::Pgx => out.extend(squares.flat_map(|(&mine, &theirs)| [mine, theirs])),
            Layout::OpenSpiel => {
                out.extend(squares.map(|(mine, theirs)| 1 - mine - theirs));
                out.extend_from_slice(&planes);
            }
            Layout::Azg => {
                out.extend(squares.map(|(&mine, &theirs)| (mine as i8 - theirs as i8) as u8));
            }
        }
    }
}
