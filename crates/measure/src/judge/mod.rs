//! Policies measured on solved tables, exactly.
//!
//! - [`JudgedPositions`] are streams of positions with the exact values of their moves: [`TablePositions`] of a
//!   solved table, [`ListedPositions`] of a file, a sample or games;
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
//! use yomikiri::oracle::{Orienting, SolvedTable};
//! use yomikiri::{progress::Silent, registry::othello, table::Store};
//! use yomikiri_measure::judge::{Request, TablePositions, build};
//!
//! let dir = tempfile::tempdir()?;
//! let table = SolvedTable::of_whole(othello("4")?, &Store::at(dir.path()), &Silent)?;
//! let players = [build(&"random".parse()?, table.game())?, build(&"perfect".parse()?, table.game())?];
//! let positions = TablePositions::new(&table, Orienting::All);
//! let request = Request {
//!     positions: &positions,
//!     players: &players,
//!     games: true,
//!     mistakes: 0,
//!     agreement: false,
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
mod cache;
mod changes;
mod comparison;
mod details;
mod doubts;
mod exact_play;
mod figure_json;
mod figure_list;
mod figures;
mod forced;
mod games;
mod intervals;
mod judgement;
mod metrics;
mod mistakes;
mod player;
mod positions;
mod report;
mod request;
mod review;
mod unfolded;
mod values;

pub use accuracy::{Measured, PolicyAccuracy, RowSink, measure, play_everywhere};
pub use arena::{GameTally, Sampling, arena, record};
pub use baseline::Baseline;
pub use cache::MeasureCache;
pub use changes::Changes;
pub use comparison::{
    Agreement, Comparison, Difference, GroupComparison, Lost, MistakeChanges, Paired, PairedSets,
    Pairs,
};
pub use details::{By, Details, Group, HeldOut, Key, Losses, Square, SquareFigures, ValuesOfGroup};
pub use exact_play::{Aim, Expected, Play, Walk};
pub use figure_list::{
    FIGURES, FIRST, Figure, FigureSource, Most, SECOND, SETS, Scope, UNITS, Unit,
};
pub use figures::{Figures, FiguresBySet, FiguresBySplit, Likeliest};
pub use forced::ForcedFigures;
pub use games::{
    Baselines, BothSides, Exploitability, Games, Match, MistakesAgainst, Opening, Played,
    PolicyGames, WeightedByPlay, exploitability, games,
};
pub use intervals::{Interval, Intervals};
pub use judgement::{Judgement, judgements};
pub use metrics::Metrics;
pub use mistakes::{Costliest, Mistake, MoveFacts};
pub use player::{Choice, Player};
pub(crate) use positions::drawn;
pub use positions::{
    Case, Checksum, Example, JudgedPart, JudgedPositions, KnownValues, LeftOut, ListedPositions,
    LookedUp, Origin, Piece, PositionList, RootFacts, SampleOf, SearchCost, Source, TableFacts,
    TablePositions, Truth, from_random_games, met_in_games, uniform,
};
pub use report::{AccuracyReport, Words};
pub use request::{Request, compare, games_bytes, playable, unfolded_bytes};
pub use review::{
    GameReview, MistakePlace, Phase, PlayerFigures, Review, ReviewOptions, ReviewedMove,
};
pub use unfolded::Unfolded;
pub use values::{BINS, Bin, FinalScoreFigures, ValueFigures};

use crate::policy::{self, PolicySpec};
use yomikiri::error::Error;
use yomikiri::rules::Rules;

/// Builds a player for a game from its specification, reading its files and starting its program. Errors name
/// the file or program at fault.
pub fn build(spec: &PolicySpec, game: &dyn Rules) -> Result<Player, Error> {
    if let PolicySpec::Front(policy, plies) = spec {
        return Ok(build(policy, game)?.with_front(*plies));
    }
    let policy = match policy::of_outside(spec, game)? {
        Some(policy) => Some(policy),
        None => policy::of_rules(spec, game)?,
    };
    Ok(policy.map_or(Player::Perfect, Player::Policy))
}
