//! Encoding of examples into the columns of a block.

use super::{Content, MISSING, RowBlock, TargetColumn, TargetShape};
use crate::judge::Example;
use yomikiri::rules::encode::{Encoding, Layout};
use yomikiri::rules::{AnyPosition, Rules, Score, Split};
use yomikiri::solve::Value;

/// Encodes examples into the columns of blocks.
pub struct Encoder<'a> {
    /// The rules.
    pub game: &'a dyn Rules,
    /// The rules with symmetry folding.
    pub folded: &'a dyn Rules,
    /// Columns to write.
    pub columns: &'a [TargetColumn],
    shape: TargetShape,
    encoding: Encoding,
}

impl<'a> Encoder<'a> {
    /// Returns an encoder for these columns of an export of this shape.
    pub fn new(
        game: &'a dyn Rules,
        folded: &'a dyn Rules,
        columns: &'a [TargetColumn],
        shape: TargetShape,
    ) -> Encoder<'a> {
        let encoding = Encoding::of_rules(game, shape.layout, None);
        let none = |_| Encoding::of(Layout::Nchw, &[], game.shape());
        Encoder { game, folded, columns, shape, encoding: encoding.unwrap_or_else(none) }
    }

    /// Appends an example that belongs to `split`.
    pub fn add(&self, example: &Example, split: Split, block: &mut RowBlock) {
        for (at, column) in self.columns.iter().enumerate() {
            self.write(column, example, split, &mut block.data[at]);
            if column.is_text() {
                let end = block.data[at].len();
                block.ends[at].push(end);
            }
        }
        block.rows += 1;
    }

    fn write(&self, column: &TargetColumn, example: &Example, split: Split, out: &mut Vec<u8>) {
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
                // `libm` instead of the platform's `exp`, so that every machine writes the same bytes.
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

    pub(super) fn planes(&self, position: &AnyPosition, out: &mut Vec<u8>) {
        let mut numbers = vec![0.0; self.encoding.len()];
        self.encoding.write_position(self.game, position, &mut numbers);
        // The only negative number is −1, stored as a signed byte.
        out.extend(numbers.iter().map(|&n| if n < 0.0 { n as i8 as u8 } else { n as u8 }));
    }

    /// Writes planes that may have any numbers.
    pub(super) fn float_planes(&self, position: &AnyPosition, out: &mut Vec<u8>) {
        let mut numbers = vec![0.0; self.encoding.len()];
        self.encoding.write_position(self.game, position, &mut numbers);
        out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }
}
