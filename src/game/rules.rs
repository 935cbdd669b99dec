//! Rules of a game as an object: what tables, solvers and proofs ask, answered for a whole position at a time.
//!
//! Code that works for all games is compiled once, on `dyn Rules`. A call costs about as much as making one
//! move, so none concerns a single move: a position is unpacked once, its moves are made on the game's own
//! states, and each successor is packed once. Recursion that stays on the game's own states (perft, search)
//! is a method of the object too.

use std::any::Any;

use super::{
    Action, Canonical, Empties, End, Game, GameExt, Mobility, Position, Score, Side, StateKey,
    WideKey,
};

/// Number under which a table finds a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// Key of a state, or its folded key in a table, which may contain the side to move.
    Key(WideKey),
    /// Rank; it does not contain the side, and the first player counts as the one to move.
    Rank(u32),
}

/// Move and the folded key of the position after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveByKey {
    /// Key under which a table contains the position after the move.
    pub key: WideKey,
    /// Layer of that position; 0 in a game without layers.
    pub layer: u32,
    /// The move.
    pub action: Action,
    /// Bit set of the symmetries that bring the position to its canonical form.
    pub ties: u8,
}

/// Move and the rank of the state after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveByRank {
    /// The move.
    pub action: Action,
    /// Rank of the state after the move; `None` if it has none.
    pub rank: Option<u32>,
    /// End of the game there for the player to move in it, if it was asked for.
    pub end: Option<End>,
}

/// Position without its moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Side to move; the first player if the address does not contain it.
    pub side: Side,
    /// Layer; 0 in a game without layers.
    pub layer: u32,
    /// Number and kind of the mover's actions, in a layered game. In other games it costs more than the rest,
    /// and nothing depends on it.
    pub mobility: Option<Mobility>,
    /// End of the game for the mover; `None` while it goes on.
    pub end: Option<End>,
    /// Mover's score, if the game is over; otherwise 0.
    pub score: Score,
    /// Rank of the state, if it was addressed by one: the same, unless the game's ranks are at fault.
    pub rank: Option<u32>,
}

/// Rules of a game whose type is erased.
///
/// Addresses may come from damaged tables: one that belongs to no state is answered by `None` or `false`.
pub trait Rules: Any + Send + Sync {
    /// Fills `moves` with the legal moves, by ascending action; it is left empty if the game is over. Returns
    /// the side to move and the layer as in [`Standing`]; `None` if the address is invalid.
    fn moves_by_key(&self, at: Address, moves: &mut Vec<MoveByKey>) -> Option<(Side, u32)>;

    /// Fills `moves` with the legal moves, by ascending action, and their ranks; if `with_ends`, with the ends of
    /// the game after them too. Returns `false` if the address is invalid or the game has no ranks.
    fn moves_by_rank(&self, at: Address, with_ends: bool, moves: &mut Vec<MoveByRank>) -> bool;

    /// Counts the mover's actions.
    fn mobility_at(&self, at: Address) -> Option<Mobility>;

    /// Returns what is known of a position without its moves.
    fn standing(&self, at: Address, empties: Empties) -> Option<Standing>;

    /// Returns the folded key of a state; if `swapped`, that of the board with the other side to move, or `None`
    /// if the game has no such state.
    fn canonical_at(&self, at: Address, swapped: bool) -> Option<Canonical<WideKey>>;
}

/// A game as [`Rules`]: the only implementation, and the only code of the house that is compiled for each game
/// besides recursion on its states.
pub(crate) struct Typed<G> {
    pub(crate) game: G,
}

impl<G: Game> Typed<G> {
    /// Unpacks a position; `None` if the address is invalid.
    pub(crate) fn position(&self, at: Address) -> Option<Position<G::State>> {
        match at {
            Address::Key(key) => self.game.position_of(G::Key::narrow(key)?),
            Address::Rank(rank) => {
                let state = self.game.ranks()?.state_of(rank)?;
                Some(Position { state, side: Side::First })
            }
        }
    }
}

impl<G: Game> Rules for Typed<G> {
    fn moves_by_key(&self, at: Address, moves: &mut Vec<MoveByKey>) -> Option<(Side, u32)> {
        moves.clear();
        let (game, Position { state, side }) = (&self.game, self.position(at)?);
        // Keys of layered games do not contain the side: orientations do.
        let sides = if game.layers().is_none() { game.sides() } else { None };
        game.for_each_successor(&state, |action, after| {
            let Canonical { key, ties } = game.canonical(&after);
            let key = sides.map_or(key, |sides| sides.tag(key, side.other())).widen();
            moves.push(MoveByKey { key, layer: game.layer(&after), action, ties });
        });
        Some((side, game.layer(&state)))
    }

    fn moves_by_rank(&self, at: Address, with_ends: bool, moves: &mut Vec<MoveByRank>) -> bool {
        moves.clear();
        let (game, position) = (&self.game, self.position(at));
        let (Some(ranks), Some(position)) = (game.ranks(), position) else { return false };
        game.for_each_successor(&position.state, |action, after| {
            let end = if with_ends { game.end(&after) } else { None };
            moves.push(MoveByRank { action, rank: ranks.rank_of(&after), end });
        });
        true
    }

    fn mobility_at(&self, at: Address) -> Option<Mobility> {
        Some(self.game.mobility(&self.position(at)?.state))
    }

    fn standing(&self, at: Address, empties: Empties) -> Option<Standing> {
        let (game, Position { state, side }) = (&self.game, self.position(at)?);
        let mobility = game.layers().is_some().then(|| game.mobility(&state));
        let end = match mobility {
            None | Some(Mobility::Over) => game.end(&state),
            Some(_) => None,
        };
        let score = end.map(|end| match game.scores() {
            Some(scores) => scores.score_of(&state, empties),
            None => Score(end.outcome.value()),
        });
        Some(Standing {
            side,
            layer: game.layer(&state),
            mobility,
            end,
            score: score.unwrap_or(Score(0)),
            rank: match at {
                Address::Key(_) => None,
                Address::Rank(_) => game.ranks()?.rank_of(&state),
            },
        })
    }

    fn canonical_at(&self, at: Address, swapped: bool) -> Option<Canonical<WideKey>> {
        let state = self.position(at)?.state;
        let state = if swapped { self.game.swapped(&state)? } else { state };
        let Canonical { key, ties } = self.game.canonical(&state);
        Some(Canonical { key: key.widen(), ties })
    }
}
