//! Results that mates prove for the moves of a position.

use super::{MateOptions, MateResult, MateRules, MateSearch, MateVerdict, Role};
use crate::games::shogi::{Board, Shogi};
use crate::rules::{Action, Game, Outcome};

/// Proven result of a move, for its player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing is proven.
    Open,
    /// The player wins within so many plies, this move included.
    Wins(u32),
    /// The player loses within so many plies, this move included, by a mate by checks or an end of the game.
    Loses(u32),
}

/// Bytes of the table for each node that may be searched, and the maximum.
const MEMORY: (u64, u64) = (64, 16 << 20);

/// Judges the moves of a position that is not over.
///
/// First the mover's mate by checks is searched for in `nodes` positions. If there is one, its first move
/// wins, and each other move is tested, within an equal share of as many positions again, for a mate by
/// checks after every reply. If none is found, a move that ends the game wins, and each other is tested for
/// letting the opponent end the game at once or mate by checks. The result depends on the arguments alone.
pub fn fates(
    rules: &MateRules,
    game: &Shogi,
    board: &Board,
    actions: &[Action],
    nodes: u64,
) -> Vec<Fate> {
    let search = MateSearch::new(rules, nodes.saturating_mul(MEMORY.0).min(MEMORY.1) as usize);
    let options = MateOptions { nodes, ..MateOptions::default() };
    let own = match search.shortest(board, &options).verdict {
        MateVerdict::Mate { plies, first, .. } => first.map(|first| (first, plies)),
        _ => None,
    };
    let role = if own.is_some() { Role::Defends } else { Role::Attacks };
    let share = MateOptions { role, nodes: nodes / actions.len() as u64, ..options };
    let fate = |&action: &Action| {
        if let Some((first, plies)) = own
            && action == first
        {
            return Fate::Wins(plies);
        }
        let after = game.play(board, action);
        match game.end(&after).map(|end| (end.outcome, u32::from(end.plies) + 1)) {
            Some((Outcome::Loss, plies)) => return Fate::Wins(plies),
            Some((Outcome::Win, plies)) => return Fate::Loses(plies),
            _ => {}
        }
        // A lion that steps to the last rank gives no check.
        let ends = |reply: Action| game.result(&game.play(&after, reply)) == Some(Outcome::Loss);
        if own.is_none() && game.actions(&after).into_iter().any(ends) {
            return Fate::Loses(2);
        }
        match search.search(&after, &share) {
            MateResult { verdict: MateVerdict::Mate { plies, .. }, .. } if own.is_some() => {
                Fate::Wins(plies + 1)
            }
            MateResult { verdict: MateVerdict::Mate { plies, .. }, .. } => Fate::Loses(plies + 1),
            _ => Fate::Open,
        }
    };
    actions.iter().map(fate).collect()
}
