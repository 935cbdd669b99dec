//! Policies measured on solved tables, exactly.
//!
//! - A [`Source`] yields judged positions with the exact values of their moves; [`Judged`] yields those of a
//!   solved table;
//! - [`measure`] asks [`Player`]s in all of them and compares their answers with the exact values:
//!   [`Figures`] of moves, [`Losses`], [`ValueFigures`];
//! - [`AccuracyReport`] combines the figures of several policies with facts about the table, as JSON
//!   (`docs/json.md`) and for [`render`](crate::render);
//! - [`Player::choose`] asks a player in one position;
//! - [`build`] makes a player from a [`PolicySpec`].
//!
//! All values are the mover's. Figures are expectations over the policy's probabilities, and bit-identical
//! for any number of threads.
//!
//! ```
//! use yomikiri::solved::{Orienting, SolvedTable};
//! use yomikiri::{progress::Silent, registry::othello, table::Store};
//! use yomikiri_measure::evaluate::{Request, build};
//!
//! let dir = tempfile::tempdir()?;
//! let table = SolvedTable::of_whole(othello("4")?, &Store::at(dir.path()), &Silent)?;
//! let players = [build(&"random".parse()?, table.game())?, build(&"perfect".parse()?, table.game())?];
//! let request = Request {
//!     table: &table,
//!     players: &players,
//!     orienting: Orienting::All,
//!     chosen: None,
//!     rows: None,
//!     games: true,
//!     mistakes: 0,
//!     agreement: false,
//!     kept: None,
//! };
//! let report = request.report(None, &Silent)?;
//! for policy in &report.policies {
//!     println!("{}: {:?}", policy.policy, policy.total);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accuracy;
mod arena;
mod baseline;
mod case;
mod changes;
mod compare;
mod details;
mod error;
mod figures;
mod forced;
mod games;
mod intervals;
mod judgement;
mod kept;
mod labels;
mod metrics;
mod mistakes;
mod play;
mod player;
mod report;
mod request;
mod searched;
mod source;
mod unfolded;
mod values;

pub use accuracy::{Measured, PolicyAccuracy, RowSink, measure, play_everywhere};
pub use arena::{GameTally, REPEATED, Recorded, Sampling, arena, record};
pub use baseline::Baseline;
pub use case::{Case, Piece, Truth, Wanted};
pub use changes::{Changes, GroupChange, PolicyChanges};
pub use compare::{Agreement, Comparison, Difference, Lost, Paired, Pairs};
pub use details::{By, Details, Group, HeldOut, Key, Losses, Square, SquareFigures};
pub use error::MeasureError;
pub use figures::{Figures, FiguresBySet, FiguresBySplit, Means};
pub use forced::ForcedFigures;
pub use games::{
    Baselines, BothSides, Exploitability, Games, Match, MistakesAgainst, Opening, Played,
    PolicyGames, exploitability, games,
};
pub use intervals::{Interval, Intervals};
pub use judgement::{Judgement, judgements};
pub use kept::Kept;
pub use labels::Labels;
pub use metrics::Metrics;
pub use mistakes::{Costliest, Mistake, MoveFacts};
pub use play::{Aim, Expected, Play, Response, Walk};
pub use player::{Choice, Player, of_split};
pub use report::{AccuracyReport, RootFacts, TableFacts, Words};
pub use request::{Request, games_bytes, playable, unfolded_bytes};
pub use searched::{Searched, drawn, met};
pub use source::{Judged, Source};
pub use unfolded::Unfolded;
pub use values::{BINS, Bin, FinalScoreFigures, ValueFigures};

use crate::policy::{self, PolicySpec};
use yomikiri::any::AnyGame;
use yomikiri::hint::Hinted;

/// Builds a player for a game from its specification, reading its files and starting its program. Errors name
/// the file or program at fault.
pub fn build(spec: &PolicySpec, game: &AnyGame) -> Result<Player, Hinted> {
    let policy = match policy::of_outside(spec, game)? {
        Some(policy) => Some(policy),
        None => policy::of_game(spec, game)?,
    };
    Ok(policy.map_or(Player::Perfect, Player::Policy))
}
