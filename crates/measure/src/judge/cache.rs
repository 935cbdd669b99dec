//! Cache of the data that measuring needs from a table alone.
//!
//! Training measures again and again on one table. Computing the judged positions with their moves and
//! values, and the actual positions for games, takes longer than evaluating a small network.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use super::exact_play::Play;
use super::games::Baselines;
use super::positions::Piece;
use super::unfolded::Unfolded;
use yomikiri::error::Error;
use yomikiri::oracle::{Orienting, States};
use yomikiri::parallel::lock;

/// Pieces by the selection of positions of a row and the number of the piece.
type Filled = HashMap<(Orienting, usize), Vec<Arc<Piece>>>;

/// Lazily computed judged positions of one table, its actual positions, and the baselines of games on it.
#[derive(Debug)]
pub struct MeasureCache {
    most: usize,
    pieces: Mutex<Filled>,
    unfolded: OnceLock<Arc<Unfolded>>,
    baselines: OnceLock<Arc<Baselines>>,
}

impl Default for MeasureCache {
    /// Caches tables of up to 131,072 rows: 4×4 Othello has 12,351, which take 13 MB.
    fn default() -> MeasureCache {
        MeasureCache::up_to(1 << 17)
    }
}

impl MeasureCache {
    /// Returns an empty cache; judged positions and baselines of tables of more than `most` rows are not
    /// cached.
    pub fn up_to(most: usize) -> MeasureCache {
        MeasureCache {
            most,
            pieces: Mutex::default(),
            unfolded: OnceLock::new(),
            baselines: OnceLock::new(),
        }
    }

    /// Returns a piece of judged positions, calling `fill` if it is not cached.
    pub(super) fn pieces(
        &self,
        states: &States,
        key: (Orienting, usize),
        fill: impl FnOnce() -> Result<Vec<Arc<Piece>>, Error>,
    ) -> Result<Vec<Arc<Piece>>, Error> {
        if states.rows() > self.most {
            return fill();
        }
        if let Some(found) = lock(&self.pieces).get(&key) {
            return Ok(found.clone());
        }
        let filled = fill()?;
        lock(&self.pieces).insert(key, filled.clone());
        Ok(filled)
    }

    /// Returns the unfolded table; all calls must pass the same states.
    pub(super) fn unfolded(&self, states: &States) -> Result<Arc<Unfolded>, Error> {
        match self.unfolded.get() {
            Some(found) => Ok(found.clone()),
            None => {
                let made = Arc::new(Unfolded::new(states)?);
                Ok(self.unfolded.get_or_init(|| made).clone())
            }
        }
    }

    /// Returns the baselines of games on the table.
    pub(super) fn baselines(&self, play: &Play<'_>) -> Arc<Baselines> {
        match self.baselines.get() {
            Some(found) => found.clone(),
            None if play.table().states().rows() > self.most => Arc::new(Baselines::new(play)),
            None => {
                let made = Arc::new(Baselines::new(play));
                self.baselines.get_or_init(|| made).clone()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Source, TablePositions};
    use yomikiri::oracle::SolvedTable;
    use yomikiri::progress::Silent;
    use yomikiri::registry::othello;
    use yomikiri::table::Store;

    #[test]
    fn positions_are_filled_once_where_they_fit() {
        let dir = tempfile::tempdir().unwrap();
        let game = othello("4").unwrap();
        let table = SolvedTable::of_whole(game, &Store::at(dir.path()), &Silent).unwrap();
        let (all, none) = (MeasureCache::default(), MeasureCache::up_to(100));
        for orienting in [Orienting::All, Orienting::First] {
            let judged = TablePositions::new(&table, orienting);
            let filled = judged.fill(0).unwrap();
            let [one, same] = [(); 2].map(|()| judged.cached_in(Some(&all)).fill(0).unwrap());
            assert!(one.0.iter().zip(&same.0).all(|(one, same)| Arc::ptr_eq(one, same)));
            for again in [same, judged.cached_in(Some(&none)).fill(0).unwrap()] {
                assert_eq!((again.0.len(), again.1), (filled.0.len(), filled.1));
                for (part, filled) in again.0.iter().zip(&filled.0) {
                    assert_eq!((&part.cases, &part.truths), (&filled.cases, &filled.truths));
                }
            }
        }
        assert!(lock(&none.pieces).is_empty());
        let [first, second] = [(); 2].map(|()| all.unfolded(table.states()).unwrap());
        assert!(Arc::ptr_eq(&first, &second));
        let play = Play::new(&first, &table);
        let [one, same] = [(); 2].map(|()| all.baselines(&play));
        assert!(Arc::ptr_eq(&one, &same) && one == none.baselines(&play));
    }
}
