//! Policies measured on solved tables, exactly.
//!
//! * A [`Source`] gives judged positions, [`Judged`] those of a solved table, with what is exactly
//!   known of them and of their moves;
//! * [`measure`] asks [`Player`]s in all of them and sets what they answer against the exact
//!   values: [`Figures`] of moves, [`Losses`], [`ValueFigures`];
//! * [`AccuracyReport`] puts the figures of several policies beside the facts of the table, as data
//!   for people's programs (`docs/json.md`) and for [`render`](crate::render);
//! * [`Player::choose`] asks one of them in one position;
//! * [`build`] makes a player from what a person wrote.
//!
//! All values are the mover's. Figures are expectations over the policy's probabilities, and the
//! same to the last bit for any number of threads.

mod accuracy;
mod arena;
mod compare;
mod details;
mod figures;
mod forced;
mod games;
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

pub use accuracy::{MeasureError, Measured, PolicyAccuracy, Sink, measure, play_everywhere};
pub use arena::{REPEATED, Recorded, Sampling, Tally, arena, record};
pub use compare::{Agreement, Comparison, Difference, Lost, Paired, Pairs};
pub use details::{By, Details, Group, HeldOut, Key, Losses, Square, SquareFigures};
pub use figures::{Figures, FiguresBySet, FiguresBySplit, Means};
pub use forced::ForcedFigures;
pub use games::{
    Baselines, BothSides, Exploitability, Games, Match, MistakesAgainst, Opening, Played,
    PolicyGames, exploitability, games,
};
pub use judgement::{Judgement, judgements};
pub use kept::Kept;
pub use labels::Labels;
pub use metrics::Metrics;
pub use mistakes::{Costliest, Mistake, MoveFacts};
pub use play::{Aim, Expected, Play, Response, Walk};
pub use player::{Choice, Player, of_split};
pub use report::{AccuracyReport, RootFacts, TableFacts, Words};
pub use request::{Request, games_bytes, playable, unfolded_bytes};
pub use searched::{Interval, Intervals, Searched, drawn, met};
pub use source::{Case, Judged, Piece, Source, Truth, Wanted};
pub use unfolded::Unfolded;
pub use values::{BINS, Bin, FinalScoreFigures, ValueFigures};

use crate::policy::{self, PolicySpec};
use yomikiri::any::AnyGame;
use yomikiri::hint::Hinted;

/// Makes the player that is meant for a game; reads the files and starts the program that are
/// named. The error is one line that says which of them is at fault.
pub fn build(spec: &PolicySpec, game: &AnyGame) -> Result<Player, Hinted> {
    let policy = match policy::of_outside(spec, game)? {
        Some(policy) => Some(policy),
        None => policy::of_game(spec, game)?,
    };
    Ok(policy.map_or(Player::Perfect, Player::Policy))
}
