//! Streams of judged positions: positions with the exact value of every move, how they were chosen, how they
//! weigh, and a checksum of what was judged.
//!
//! [`TablePositions`] are those of a solved table. [`ListedPositions`] are those of a [`PositionList`] (a file, a
//! sample, games), whose values come from the table that knows the position, or else from search.

mod example;
mod facts;
mod forced;
mod judged_positions;
mod known;
mod labels;
mod list;
mod listed;
mod sample;
mod table;

pub use example::Example;
pub use facts::{RootFacts, TableFacts};
pub(super) use judged_positions::AT_ONCE;
pub use judged_positions::{Case, Piece, Truth};
pub use known::KnownValues;
use labels::Labels;
pub use labels::SearchCost;
pub use list::{Origin, PositionList};
pub use listed::{ListedPositions, LookedUp};
pub(crate) use sample::drawn;
pub use sample::{SampleOf, from_random_games, met_in_games, uniform};
pub use table::{JudgedPart, TablePositions};

use std::sync::Arc;

use serde::Serialize;

use yomikiri::error::Error;
use yomikiri::rules::{Rules, mix};
use yomikiri::table::SweepRecord;

/// Judged positions piece by piece, always the same in the same order.
pub trait Source: Sync {
    /// Returns the rules.
    fn game(&self) -> &dyn Rules;

    /// Returns the number of pieces.
    fn pieces(&self) -> usize;

    /// Returns the number of rows of all pieces.
    fn rows(&self) -> u64;

    /// Returns a piece, in parts of at most 2048 positions, and its number of rows; fails if the table is
    /// damaged.
    fn fill(&self, piece: usize) -> Result<(Vec<Arc<Piece>>, u64), Error>;
}

/// Judged positions of which it is known how they were chosen.
pub trait JudgedPositions: Source {
    /// Returns what a report says of the positions; counts and checksum of judged ones are added by it.
    fn facts(&self) -> Result<TableFacts, Error>;

    /// Returns the sweeps in which the values were computed; none if they were searched.
    fn sweeps(&self) -> &[SweepRecord];

    /// Returns `true` if the positions were drawn by chance, so that figures are estimates.
    fn is_sample(&self) -> bool {
        false
    }

    /// Returns the positions in which only some moves are proven; `None` if the values are complete.
    fn forced(&self) -> Option<Box<dyn Source + '_>>;

    /// Returns the positions as those of a table.
    fn of_table(&self) -> Option<&TablePositions<'_>> {
        None
    }
}

/// Positions of a list that are not judged, with the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Number in which the game is over.
    pub finished: u64,
    /// Number whose value, or that of one of whose moves, is not proven.
    pub unproven: u64,
    /// Number whose search did not end within the limit of time.
    pub unsearched: u64,
}

impl LeftOut {
    /// Returns the reasons in words; `None` if nothing was left out.
    pub fn words(&self) -> Option<String> {
        let reasons = [
            (self.finished, "finished"),
            (self.unproven, "unproven"),
            (self.unsearched, "not searched within the limit of time"),
        ];
        let reasons = reasons.iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = reasons.map(|(count, what)| format!("{count} {what}")).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// Order-independent checksum of judged positions: a sum of hashes of positions, weights and values of moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum(u64);

impl Checksum {
    /// Adds the positions of a piece. In games with scores a move's value is its score, in others its outcome and
    /// distance.
    pub(super) fn add_piece(&mut self, game: &dyn Rules, piece: &Piece) {
        for (at, (case, position)) in piece.cases.iter().zip(piece.batch.positions()).enumerate() {
            let [first, second] = game.facts().words(game.key(&position.state));
            let head = position.side.index() as u64 | u64::from(case.weight) << 1;
            let mut hash = [first, second, head].into_iter().fold(0, |hash, word| mix(hash ^ word));
            let range = piece.batch.range(at);
            for (action, truth) in
                piece.batch.actions()[range.clone()].iter().zip(&piece.truths[range])
            {
                let distance = truth.distance.filter(|_| truth.score.is_none());
                let value = i64::from(truth.q_score().0) << 32
                    | distance.map_or(0, |distance| i64::from(distance) + 1);
                hash = mix(hash ^ u64::from(action.0) << 48 ^ value as u64 & 0xFFFF_FFFF_FFFF);
            }
            self.0 = self.0.wrapping_add(hash);
        }
    }

    /// Adds other positions.
    pub(super) fn add(&mut self, other: Checksum) {
        self.0 = self.0.wrapping_add(other.0);
    }

    /// Returns 16 hexadecimal digits for the positions and the rules by which they were valued.
    pub(super) fn digits(self, game: &dyn Rules, facts: &TableFacts) -> String {
        let rules = format!(
            "{} rules {} empties {} repetition {} ",
            facts.game,
            game.facts().rules_version,
            facts.empties.as_deref().unwrap_or("none"),
            facts.repetition.as_deref().unwrap_or("none"),
        );
        let hash = blake3::hash(&[rules.as_bytes(), &self.0.to_le_bytes()].concat());
        hash.to_hex()[..16].to_string()
    }
}
