//! Rules of a game as an object: what tables, solvers and proofs ask, answered for a whole position at a time.
//!
//! Tables, solvers and proofs are compiled once, on this object. Unpacking a position costs about as much as making a
//! move, so no question concerns a single move: a position is unpacked once, its moves are made on the game's own
//! states, and each successor is packed once. Recursion takes a [`Walk`], which unpacks only where it begins.

use super::{
    Action, Canonical, Empties, End, Game, Mobility, Outcome, Position, Score, Side, StateKey,
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

/// Answer of the rules about a position, without its moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Side to move; the first player if the address does not contain it.
    pub side: Side,
    /// Layer; 0 in a game without layers.
    pub layer: u32,
    /// Number and kind of the mover's actions; `None` in a game without layers, where it would cost more than
    /// the rest.
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
pub trait Rules: Send + Sync {
    /// Fills `moves` with the legal moves, by ascending action; it is left empty if the game is over. Returns
    /// `false` if the address is invalid.
    fn moves_by_key(&self, at: Address, moves: &mut Vec<MoveByKey>) -> bool;

    /// Fills `moves` with the legal moves, by ascending action, and their ranks; if `with_ends`, with the ends of
    /// the game after them too. Returns `false` if the address is invalid or the game has no ranks.
    fn moves_by_rank(&self, at: Address, with_ends: bool, moves: &mut Vec<MoveByRank>) -> bool;

    /// Begins a walk in a position.
    fn walk(&self, at: Address) -> Option<Box<dyn Walk + '_>>;

    /// Counts the mover's actions.
    fn mobility_at(&self, at: Address) -> Option<Mobility>;

    /// Returns what is known of a position; fills `moves`, if given, like [`Rules::moves_by_key`], so that the
    /// position is unpacked once.
    fn standing(
        &self,
        at: Address,
        empties: Empties,
        moves: Option<&mut Vec<MoveByKey>>,
    ) -> Option<Standing>;

    /// Returns the folded key of a state; if `swapped`, that of the board with the other side to move, or `None`
    /// if the game has no such state.
    fn canonical_at(&self, at: Address, swapped: bool) -> Option<Canonical<WideKey>>;
}

/// A position in which moves are made and taken back, on the game's own states: recursion on it costs little more
/// than in code compiled for the game, while states of an [`AnyGame`](crate::any::AnyGame) would be unpacked and packed
/// at each step.
pub trait Walk {
    /// Fills `actions` with the legal actions, in ascending order.
    fn actions(&self, actions: &mut Vec<Action>);

    /// Plays a legal action.
    fn push(&mut self, action: Action);

    /// Takes the last action back; does nothing at the position where the walk began.
    fn pop(&mut self);

    /// Returns the outcome for the mover, or `None` while the game goes on.
    fn result(&self) -> Option<Outcome>;

    /// Counts the mover's actions.
    fn mobility(&self) -> Mobility;

    /// Returns the mover's material minus the opponent's.
    fn material(&self) -> i32;

    /// Returns the squares of the mover and of the opponent; `None` if squares alone do not determine a state.
    fn squares(&self) -> Option<(u64, u64)>;
}

/// A [`Walk`] in a type of games.
struct TypedWalk<'a, G: Game> {
    game: &'a G,
    state: G::State,
    /// States before it, from the first.
    before: Vec<G::State>,
}

impl<G: Game> Walk for TypedWalk<'_, G> {
    fn actions(&self, actions: &mut Vec<Action>) {
        actions.clear();
        self.game.for_each_action(&self.state, |action| actions.push(action));
    }

    fn push(&mut self, action: Action) {
        self.before.push(self.state);
        self.state = self.game.play(&self.state, action);
    }

    fn pop(&mut self) {
        self.state = self.before.pop().unwrap_or(self.state);
    }

    fn result(&self) -> Option<Outcome> {
        self.game.result(&self.state)
    }

    fn mobility(&self) -> Mobility {
        self.game.mobility(&self.state)
    }

    fn material(&self) -> i32 {
        self.game.material(&self.state)
    }

    fn squares(&self) -> Option<(u64, u64)> {
        self.game.squares(&self.state)
    }
}

/// A game as [`Rules`]: compiled for each type of games.
pub(crate) struct Typed<G> {
    pub(crate) game: G,
}

impl<G: Game> Typed<G> {
    /// Unpacks a position; `None` if the address is invalid.
    pub(crate) fn position(&self, at: Address) -> Option<Position<G::State>> {
        match at {
            Address::Key(key) => self.game.position_of(G::Key::narrow(key)?),
            Address::Rank(rank) => {
                let state = self.game.state_of_rank(rank)?;
                Some(Position { state, side: Side::First })
            }
        }
    }
}

impl<G: Game> Typed<G> {
    /// Appends the moves of a position.
    fn make_moves(&self, position: &Position<G::State>, moves: &mut Vec<MoveByKey>) {
        let (game, side) = (&self.game, position.side.other());
        // Keys of layered games do not contain the side: orientations do.
        let is_tagged = game.keeps_sides() && !game.is_layered();
        game.moves(&position.state, |action, after| {
            let Canonical { key, ties } = game.canonical(&after);
            let key = if is_tagged { game.tag(key, side) } else { key }.widen();
            moves.push(MoveByKey { key, layer: game.layer(&after), action, ties });
        });
    }

    /// Counts the actions of a layered game's state; `moves` are all its moves, if they are known.
    fn count(&self, state: &G::State, moves: Option<&[MoveByKey]>) -> Mobility {
        match moves {
            None => self.game.mobility(state),
            Some([]) => Mobility::Over,
            Some([to]) if self.game.is_pass(to.action) => Mobility::Pass,
            Some(moves) => Mobility::Moves(moves.len() as u32),
        }
    }
}

impl<G: Game> Rules for Typed<G> {
    fn moves_by_key(&self, at: Address, moves: &mut Vec<MoveByKey>) -> bool {
        moves.clear();
        let position = self.position(at);
        if let Some(position) = &position {
            self.make_moves(position, moves);
        }
        position.is_some()
    }

    fn moves_by_rank(&self, at: Address, with_ends: bool, moves: &mut Vec<MoveByRank>) -> bool {
        moves.clear();
        let (game, position) = (&self.game, self.position(at));
        let Some(position) = position.filter(|_| game.rank_count().is_some()) else { return false };
        game.moves(&position.state, |action, after| {
            let end = if with_ends { game.end(&after) } else { None };
            moves.push(MoveByRank { action, rank: game.rank(&after), end });
        });
        true
    }

    fn walk(&self, at: Address) -> Option<Box<dyn Walk + '_>> {
        let state = self.position(at)?.state;
        Some(Box::new(TypedWalk { game: &self.game, state, before: Vec::new() }))
    }

    fn mobility_at(&self, at: Address) -> Option<Mobility> {
        Some(self.game.mobility(&self.position(at)?.state))
    }

    fn standing(
        &self,
        at: Address,
        empties: Empties,
        mut moves: Option<&mut Vec<MoveByKey>>,
    ) -> Option<Standing> {
        let (game, position) = (&self.game, self.position(at)?);
        if let Some(moves) = &mut moves {
            moves.clear();
            self.make_moves(&position, moves);
        }
        let Position { state, side } = position;
        let moves = moves.as_ref().map(|moves| &moves[..]);
        let mobility = game.is_layered().then(|| self.count(&state, moves));
        let end = match mobility {
            None | Some(Mobility::Over) => game.end(&state),
            Some(_) => None,
        };
        let score = end.map(|_| game.score(&state, empties));
        Some(Standing {
            side,
            layer: game.layer(&state),
            mobility,
            end,
            score: score.unwrap_or(Score(0)),
            rank: match at {
                Address::Key(_) => None,
                Address::Rank(_) => game.rank(&state),
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
