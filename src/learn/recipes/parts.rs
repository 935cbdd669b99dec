//! A table's positions by the part they belong to: training, validation and test.

use rayon::prelude::*;

use crate::evaluate::{MeasureError, Piece, Source};
use crate::export::Splits;
use crate::game::{Game};

/// How many positions a piece has at least, but for the last: a network is asked about a piece at a time,
/// and of a large table's pieces a small share is left.
const AT_ONCE: usize = 1024;

/// The positions of one part, or a stable sample of them, in the order of their source.
#[derive(Clone, Debug)]
pub struct Part<S> {
    pieces: Vec<Piece<S>>,
    rows: u64,
}

impl<S: Copy + Send + Sync> Part<S> {
    /// Takes a source apart: of each [`Split`](crate::export::Split) the share `shares` says, the smaller
    /// being part of the larger. `game` should be folded, as [`Splits::of`] asks. All that is kept is in
    /// memory.
    pub fn of_all<G: Game + Game<State = S>>(
        game: &G,
        source: &impl Source<G>,
        splits: Splits,
        shares: [f64; 3],
    ) -> Result<[Part<S>; 3], MeasureError> {
        let taken = |at: usize| -> Result<[Piece<S>; 3], MeasureError> {
            let mut all = Piece::default();
            source.fill(at, &mut all).map_err(MeasureError::Damaged)?;
            let mut parts: [Piece<S>; 3] = Default::default();
            for (at, position) in all.batch.positions().iter().enumerate() {
                let hash = splits.hash(game, &position.state);
                let part = splits.of_hash(hash).index();
                if Splits::unit_of_hash(hash) >= shares[part] {
                    continue;
                }
                push(&mut parts[part], &all, at);
            }
            Ok(parts)
        };
        let pieces = (0..source.pieces()).into_par_iter().map(taken);
        let mut parts: [Vec<Piece<S>>; 3] = Default::default();
        for piece in pieces.collect::<Result<Vec<_>, _>>()? {
            parts.iter_mut().zip(piece).for_each(|(part, piece)| part.push(piece));
        }
        Ok(parts.map(|part| Part { pieces: gather(part), rows: source.rows() }))
    }

    /// Of its positions the share that is given.
    pub fn share<G: Game + Game<State = S>>(
        &self,
        game: &G,
        splits: Splits,
        share: f64,
    ) -> Part<S> {
        let of = |all: &Piece<S>| {
            let mut some = Piece::default();
            for (at, position) in all.batch.positions().iter().enumerate() {
                if Splits::unit_of_hash(splits.hash(game, &position.state)) < share {
                    push(&mut some, all, at);
                }
            }
            some
        };
        Part { pieces: gather(self.pieces.iter().map(of)), rows: self.rows }
    }

    /// Its positions, piece by piece.
    pub fn pieces(&self) -> &[Piece<S>] {
        &self.pieces
    }
}

/// The same positions in the same order, in fewer pieces.
fn gather<S: Copy>(all: impl IntoIterator<Item = Piece<S>>) -> Vec<Piece<S>> {
    let mut pieces: Vec<Piece<S>> = Vec::new();
    for piece in all {
        match pieces.last_mut().filter(|last| last.cases.len() < AT_ONCE) {
            Some(last) => (0..piece.cases.len()).for_each(|at| push(last, &piece, at)),
            None => pieces.extend(Some(piece).filter(|piece| !piece.cases.is_empty())),
        }
    }
    pieces
}

/// Adds to `some` the position at a place of `all`, with what is known of it.
fn push<S: Copy>(some: &mut Piece<S>, all: &Piece<S>, at: usize) {
    let range = all.batch.range(at);
    some.batch.push(all.batch.positions()[at], all.batch.actions()[range.clone()].iter().copied());
    some.truths.extend_from_slice(&all.truths[range]);
    some.cases.push(all.cases[at]);
}

impl<G: Game> Source<G> for Part<G::State> {
    fn pieces(&self) -> usize {
        self.pieces.len()
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn fill(&self, piece: usize, out: &mut Piece<G::State>) -> Result<u64, String> {
        out.clone_from(&self.pieces[piece]);
        Ok(out.cases.len() as u64)
    }
}
