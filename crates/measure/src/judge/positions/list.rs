//! Lists of distinct positions, before their values are known.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use yomikiri::error::Error;
use yomikiri::rules::{AnyPosition, Rules};

use super::table::JudgedPart;

/// Origin of positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Kind of source: `file`, `sample`, `uniform-sample`, `games`, or `given`.
    pub source: &'static str,
    /// Choice of the positions and how they weigh, in words.
    pub words: String,
    /// `true` if they were drawn by chance, so that figures are estimates.
    pub is_sample: bool,
    /// Remark for the user before the positions are measured.
    pub remark: Option<String>,
}

/// Distinct positions in the order in which they first occur.
#[derive(Clone)]
pub struct PositionList {
    pub(super) game: Arc<dyn Rules>,
    /// Positions, each with how often it occurs.
    pub(super) positions: Vec<(AnyPosition, u32)>,
    pub(super) origin: Origin,
}

impl PositionList {
    /// Merges equal positions.
    pub fn new(
        game: &dyn Rules,
        positions: impl IntoIterator<Item = AnyPosition>,
        origin: Origin,
    ) -> PositionList {
        let mut distinct: Vec<(AnyPosition, u32)> = Vec::new();
        let mut places: FxHashMap<AnyPosition, usize> = FxHashMap::default();
        for position in positions {
            match places.entry(position) {
                Entry::Occupied(place) => distinct[*place.get()].1 += 1,
                Entry::Vacant(place) => {
                    place.insert(distinct.len());
                    distinct.push((position, 1));
                }
            }
        }
        PositionList { game: game.shared(), positions: distinct, origin }
    }

    /// Returns the rules.
    pub fn game(&self) -> &dyn Rules {
        &*self.game
    }

    /// Returns the number of distinct positions.
    pub fn distinct(&self) -> usize {
        self.positions.len()
    }

    /// Returns the number of positions, counting repetitions.
    pub fn occurrences(&self) -> u64 {
        self.positions.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    /// Returns the positions as often as they occur, equal ones together.
    pub fn occurring(&self) -> impl Iterator<Item = &AnyPosition> {
        self.positions.iter().flat_map(|(position, count)| (0..*count).map(move |_| position))
    }

    /// Returns how the positions were chosen.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the distinct positions.
    pub fn positions(&self) -> impl Iterator<Item = &AnyPosition> {
        self.positions.iter().map(|(position, _)| position)
    }

    /// Keeps the positions of a part of a training split.
    pub fn in_part(mut self, part: &JudgedPart) -> PositionList {
        self.positions.retain(|(position, _)| part.has(&position.state));
        self.origin.words = format!("{}, {}", self.origin.words, part.words);
        self
    }

    /// Keeps positions with a number of empty squares in the inclusive range. Fails for games without empty squares.
    pub fn with_empty_squares(mut self, (from, to): (u32, u32)) -> Result<PositionList, Error> {
        let squares = squares_of_discs(&*self.game)?;
        let layers = squares.saturating_sub(to)..=squares.saturating_sub(from);
        let game = self.game.clone();
        self.positions.retain(|(position, _)| layers.contains(&game.layer(&position.state)));
        self.origin.words = format!("{}, {from} to {to} squares empty", self.origin.words);
        Ok(self)
    }
}

/// Counts the squares of a board whose layers count discs; fails for games without empty squares.
pub(super) fn squares_of_discs(game: &dyn Rules) -> Result<u32, Error> {
    let (rows, columns) = game.shape();
    let has_discs = game.layer_unit() == Some("discs");
    if !has_discs || rows * columns == 0 {
        let what = format!("positions of {} cannot be sampled by empty squares", game.name());
        return Err(Error::new(
            what,
            "add --weight uniform to draw from a table, or give positions",
        ));
    }
    Ok((rows * columns) as u32)
}
