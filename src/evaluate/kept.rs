//! What measuring a policy needs of a table alone, kept for the next one.
//!
//! Whoever trains measures again and again on one table. To get the judged positions with their moves
//! and values, and the actual positions for games, then takes longer than a small network.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use super::source::{Judged, Piece, Source};
use super::unfolded::Unfolded;
use crate::any::AnyGame;
use crate::parallel::lock;
use crate::solved::{Orienting, States};

/// Judged positions of one table and its actual positions, from the first time they are asked for;
/// positions only where all of them take no more than about [`Kept::MOST`].
#[derive(Debug, Default)]
pub struct Kept {
    pieces: Mutex<Pieces>,
    unfolded: OnceLock<Arc<Unfolded>>,
}

#[derive(Debug, Default)]
struct Pieces {
    /// By which positions of a row are taken, and the number of the piece.
    filled: HashMap<(Orienting, usize), Arc<Piece>>,
    bytes: usize,
}

impl Kept {
    /// How many bytes of positions are kept. All of 4×4 Othello take a tenth.
    pub const MOST: usize = 128 << 20;

    /// The table unfolded, which all who ask call with the same states.
    pub(super) fn unfolded(&self, states: &States) -> Result<Arc<Unfolded>, String> {
        match self.unfolded.get() {
            Some(found) => Ok(found.clone()),
            None => {
                let made = Arc::new(Unfolded::new(states)?);
                Ok(self.unfolded.get_or_init(|| made).clone())
            }
        }
    }
}

/// Judged positions of which those that were filled once are kept.
pub struct Remembered<'a> {
    /// Of which table.
    pub judged: Judged<'a>,
    /// Where; of this table alone.
    pub kept: &'a Kept,
}

impl Source for Remembered<'_> {
    fn game(&self) -> &AnyGame {
        self.judged.game()
    }

    fn pieces(&self) -> usize {
        self.judged.pieces()
    }

    fn rows(&self) -> u64 {
        self.judged.rows()
    }

    fn fill(&self, piece: usize) -> Result<(Arc<Piece>, u64), String> {
        let (judged, key) = (&self.judged, (self.judged.orienting, piece));
        let found = lock(&self.kept.pieces).filled.get(&key).cloned();
        if let Some(found) = found {
            return Ok((found, judged.table.states().pieces()[piece].rows.len() as u64));
        }
        let (filled, rows) = judged.fill(piece)?;
        let mut kept = lock(&self.kept.pieces);
        kept.bytes = kept.bytes.saturating_add(filled.bytes());
        if kept.bytes <= Kept::MOST {
            kept.filled.insert(key, filled.clone());
        } else {
            // Part of them would be of little use.
            kept.filled = HashMap::new();
        }
        Ok((filled, rows))
    }
}
