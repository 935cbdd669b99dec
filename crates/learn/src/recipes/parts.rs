//! A table's positions by split: training, validation and test.

use std::sync::Arc;

use rayon::prelude::*;

use yomikiri::error::Error;
use yomikiri::rules::{FoldedWords, Rules, Splits, name_word};
use yomikiri_measure::judge::{Piece, Source};

/// Minimum number of positions in a piece, except the last. Inference takes a piece at a time, and sampling
/// leaves few positions of each piece of a large table.
const AT_ONCE: usize = 1024;

/// Positions of one split, or a stable sample of them, in the order of their source.
#[derive(Clone, Debug)]
pub struct SplitPart {
    game: Arc<dyn Rules>,
    pieces: Vec<Arc<Piece>>,
    rows: u64,
}

impl SplitPart {
    /// Divides a source into splits and keeps the share `shares` of each [`Split`](yomikiri::rules::Split) in
    /// memory. A smaller sample is part of a larger one.
    pub fn of_all(
        source: &dyn Source,
        splits: Splits,
        shares: [f64; 3],
    ) -> Result<[SplitPart; 3], Error> {
        let game = source.game();
        let (name, words) = (name_word(&game.name()), FoldedWords::new(game));
        let parts_of_piece = |at: usize| -> Result<[Piece; 3], Error> {
            let (filled, _) = source.fill(at)?;
            let mut parts: [Piece; 3] = Default::default();
            for all in filled {
                for (at, position) in all.batch.positions().iter().enumerate() {
                    let hash = splits.hash(name, words.of(&position.state));
                    let part = splits.of_hash(hash).index();
                    if Splits::unit_of_hash(hash) < shares[part] {
                        parts[part].push(&all, at);
                    }
                }
            }
            Ok(parts)
        };
        let pieces = (0..source.pieces()).into_par_iter().map(parts_of_piece);
        let mut parts: [Vec<Piece>; 3] = Default::default();
        for piece in pieces.collect::<Result<Vec<_>, _>>()? {
            parts.iter_mut().zip(piece).for_each(|(part, piece)| part.push(piece));
        }
        let part = |pieces| SplitPart {
            game: source.game().shared(),
            pieces: gather(pieces),
            rows: source.rows(),
        };
        Ok(parts.map(part))
    }

    /// Returns the positions, piece by piece.
    pub fn pieces(&self) -> &[Arc<Piece>] {
        &self.pieces
    }
}

/// Merges pieces into fewer, keeping the order of positions.
fn gather(all: impl IntoIterator<Item = Piece>) -> Vec<Arc<Piece>> {
    let mut pieces: Vec<Piece> = Vec::new();
    for piece in all {
        match pieces.last_mut().filter(|last| last.cases.len() < AT_ONCE) {
            Some(last) => (0..piece.cases.len()).for_each(|at| last.push(&piece, at)),
            None => pieces.extend(Some(piece).filter(|piece| !piece.cases.is_empty())),
        }
    }
    pieces.into_iter().map(Arc::new).collect()
}

impl Source for SplitPart {
    fn game(&self) -> &dyn Rules {
        &*self.game
    }

    fn pieces(&self) -> usize {
        self.pieces.len()
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn fill(&self, piece: usize) -> Result<(Vec<Arc<Piece>>, u64), Error> {
        let piece = self.pieces[piece].clone();
        let rows = piece.cases.len() as u64;
        Ok((vec![piece], rows))
    }
}
