//! Policies measured on solved tables, exactly.
//!
//! * A [`Source`] gives judged positions, [`Judged`] those of a solved table, with what is exactly
//!   known of them and of their moves;
//! * [`measure`] asks [`Player`]s in all of them and sets what they answer against the exact
//!   values: [`Figures`] of moves, [`Losses`], [`ValueFigures`];
//! * [`AccuracyReport`] puts the figures of several policies beside the facts of the table, as data
//!   for people's programs (`docs/report-schema.md`) and for [`render`](crate::render);
//! * [`Player::choose`] asks one of them in one position;
//! * [`build`] makes a player from what a person wrote.
//!
//! All values are the mover's. Figures are expectations over the policy's probabilities, and the
//! same to the last bit for any number of threads.

mod accuracy;
mod agreement;
mod arena;
mod baselines;
mod choice;
mod compare;
mod details;
mod figures;
mod forced;
mod games;
mod judgement;
mod kept;
mod losses;
mod metrics;
mod mistakes;
mod part;
mod play;
mod ranks;
mod report;
mod request;
mod response;
mod source;
mod squares;
mod truth;
mod unfolded;
mod values;

pub use accuracy::{
    MeasureError, Measured, Player, PolicyAccuracy, Sink, measure, play_everywhere,
};
pub use agreement::Agreement;
pub use arena::{REPEATED, Recorded, Sampling, Tally, arena, record};
pub use baselines::Baselines;
pub use choice::Choice;
pub use compare::{Comparison, Difference, Lost, Paired, Pairs};
pub use details::{By, Details, Group, HeldOut, Key};
pub use figures::{Figures, FiguresBySet, FiguresBySplit};
pub use forced::ForcedFigures;
pub use games::{
    BothSides, Exploitability, Games, Match, MistakesAgainst, Opening, Played, PolicyGames,
    exploitability, games,
};
pub use judgement::{Judgement, judgements};
pub use kept::Kept;
pub use losses::Losses;
pub use metrics::Metrics;
pub use mistakes::{Costliest, Mistake, MoveFacts};
pub use part::of_split;
pub use play::{Expected, Play, Walk};
pub use report::{AccuracyReport, RootFacts, TableFacts, Words};
pub use request::{Request, games_bytes, playable, unfolded_bytes};
pub use response::{Aim, Response};
pub use source::{Judged, Piece, Source, Wanted};
pub use squares::{Square, SquareFigures};
pub use truth::{Case, Truth};
pub use unfolded::Unfolded;
pub use values::{BINS, Bin, FinalScoreFigures, ValueFigures};

use crate::any::AnyGame;
use crate::policy::{self, PolicyError, PolicySpec};

/// Makes the player that is meant for a game; reads the files and starts the program that are
/// named. The error is one line that says which of them is at fault.
pub fn build(spec: &PolicySpec, game: &AnyGame) -> Result<Player, PolicyError> {
    let policy = match policy::of_outside(spec, game)? {
        Some(policy) => Some(policy),
        None => game.policy(spec)?,
    };
    Ok(policy.map_or(Player::Perfect, Player::Policy))
}
