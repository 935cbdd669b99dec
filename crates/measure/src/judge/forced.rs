//! Positions of a bounded table, or of a search for forced wins, in which some moves are proven and others are not.
//!
//! A bounded table rarely proves all moves of a position, so few positions are judged. Much more often it
//! proves that some moves win, or that some lose. In these positions, the figures are how often a policy
//! takes a proven win and how often a proven loss. A move that is not proven may be as good or as bad as any,
//! so these are lower bounds of how often it keeps a win and how often it blunders.

use super::details::{Details, Key};
use super::figures::Figures;
use yomikiri::rules::Outcome;

/// Figures of a policy where only some moves are proven.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForcedFigures {
    /// Number of positions proven to be won, with a move not proven to keep the win.
    pub won: u64,
    /// Mean probability of a proven winning move in the won positions; `None` without such positions.
    pub won_kept: Option<f64>,
    /// Mean probability of a proven losing move in the won positions.
    pub won_thrown: Option<f64>,
    /// Number of positions not proven to be won or lost, with a proven losing move.
    pub at_risk: u64,
    /// Mean probability of a proven losing move in the positions at risk.
    pub at_risk_lost: Option<f64>,
}

impl ForcedFigures {
    /// Returns the figures from a policy's details in the positions of [`JudgedPositions::forced`](super::JudgedPositions::forced).
    pub(super) fn of(details: &Details) -> ForcedFigures {
        let of = |outcome: Outcome| {
            let key = Key::Outcome(outcome.value().into());
            let group = details.by_value.iter().find(|group| group.key == key);
            group.map_or(Figures::default(), |group| group.figures.all)
        };
        let [won, at_risk] = [Outcome::Win, Outcome::Draw].map(of);
        ForcedFigures {
            won: won.positions,
            won_kept: won.result_kept(),
            won_thrown: won.win_to_loss(),
            at_risk: at_risk.positions,
            at_risk_lost: at_risk.draw_to_loss(),
        }
    }
}
