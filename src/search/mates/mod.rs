//! Exact mate search in games of the shogi family: finds forced wins by df-pn, or proves that there are none.
//!
//! One player *attacks*. The attacker wins if every defence loses within finitely many plies; infinite play
//! is no win. [`MateSearch::search`] finds a win or proves that there is none, [`MateSearch::shortest`] finds
//! the shortest. The attacker plays checks only, or every move. A player without a move has lost, but a mate
//! by checks excludes a move that stalemates without giving check. `fates` judges each move of a position.
//!
//! # Method
//!
//! df-pn (Nagai, *Df-pn Algorithm for Searching AND/OR Trees and Its Applications*, 2002) with thresholds
//! enlarged by a quarter (Pawlewicz and Lew 2007), and the largest number plus one for each other child in
//! place of the sum (weak proof numbers, Ueda et al. 2008). Positions differ in their board and in the
//! attacker's *means*: pieces in hand, and the plies that remain.
//!
//! **Dominance.** Let `x ≤ y` if both have the same board and player to move, and the attacker of `y` has at
//! least the means of `x`. On one board the two hands have the same sum, so the defender of `y` has at most
//! the pieces of `x`. Then every move of the attacker in `x` is legal in `y`, every move of the defender in
//! `y` is legal in `x`, and the positions after it are again `≤`. For board moves this is plain; a drop needs
//! the piece and otherwise depends on the board alone. So does *two pawns on a file*. So does *mate by a pawn
//! drop*: the dropped pawn stands next to the king and gives the only check, which no drop can meet, so
//! whether it is mate does not depend on hands. Hence a win in `x` within n plies is one in `y`, and no win
//! in `y` means none in `x`. Check depends on the board alone, so the same holds by checks.
//!
//! **Rows history.** A proof never depends on history: it is a finite tree in which every path ends in a
//! win. A disproof may depend on a repetition. Kishimoto and Müller (*A General Solution to the Rows History
//! Interaction Problem*, 2004) keep such a disproof apart and reuse it only on the path on which it holds.
//! Here it is kept with its *bases*, the positions of the path that were met again (base-twin algorithm of
//! Breuker et al. 2001), and reused on any path that contains them all. A child that is `≤` a position of the
//! path counts as disproven on the basis of that position.
//!
//! Correctness: a disproof of N with bases B stands for a set D that contains N, in which each attacker's
//! position has all its moves, and each defender's position one move, into something `≤` an element of D, B,
//! or the set L of positions without a win. The children's sets are united; a position whose own disproof
//! completes is in D and leaves B. At the root B is empty. Suppose some x `≤` d ∈ D is won, x with the fewest
//! plies. If the attacker moves in x, the winning move is legal in d and leads from d to something `≤` e ∈ D
//! ∪ L; the position after it in x is `≤` e too, and won in fewer plies: a contradiction (e ∈ L by
//! dominance). If the defender moves in x, the reply of D is legal in x and leads, in the same way, to a won
//! position in fewer plies. So nothing in D is won. Only disproofs without bases enter the shared table; the
//! others belong to one thread and one search, and are dropped when memory is short.
//!
//! A path of 126 plies is not followed further. Results that depend on this limit have a base that never
//! leaves, so they are not stored, and the root is [`MateVerdict::Open`].

mod dfpn;
mod fates;
mod mini;
mod plain;
mod table;
mod values;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use crate::games::shogi::{Board, MINISHOGI, Shogi, Variant};
use crate::rules::{Action, AnyState, Game, Rules};

use dfpn::{NodeValue, Worker};
pub use fates::{Fate, fates};
pub use mini::Mini;
pub use plain::PlainMates;
use table::{MateTable, UNBOUNDED};
pub(super) use values::MateValues;

/// Role of a position's mover in the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Player who wants to win.
    Attacks = 0,
    /// Player who wants not to lose.
    Defends = 1,
}

impl Role {
    fn other(self) -> Role {
        if self == Role::Attacks { Role::Defends } else { Role::Attacks }
    }
}

/// Rules as the search plays them: positions that contain the attacker.
///
/// Implementations guarantee dominance as the module defines it, which is trivial in a game without hands.
pub trait Mating: Sync {
    /// Position of the search.
    type Node: Copy + Send;

    /// Returns the position of a board whose mover has a role.
    fn root(&self, board: &Board, role: Role) -> Self::Node;

    /// Returns a number of at most 110 bits that identifies the board without hands.
    fn board(&self, node: &Self::Node) -> u128;

    /// Returns the attacker's pieces in hand: at most five kinds of three bits, each at most 3.
    fn hand(&self, node: &Self::Node) -> u16;

    /// Calls `visit` with the legal moves of a player and the positions after them; with `checks_only`, of
    /// the attacker's moves only those that give check or win. Visits none if the game is over.
    fn moves(
        &self,
        node: &Self::Node,
        role: Role,
        checks_only: bool,
        visit: impl FnMut(Action, Self::Node),
    );

    /// Returns the number of the defender's moves in a position that is not [over](Mating::over).
    fn replies(&self, node: &Self::Node) -> u32;

    /// Returns `true` if the attacker has won, and the plies, if a rule other than lack of moves ended the
    /// game.
    fn over(&self, _node: &Self::Node, _role: Role) -> Option<(bool, u8)> {
        None
    }
}

/// Rules of a game of the shogi family for the mate search.
#[derive(Debug)]
pub enum MateRules {
    /// Rules of minishogi.
    Mini(Box<Mini>),
    /// Rules of any game of the family.
    Plain(Box<PlainMates>),
}

impl MateRules {
    /// Returns the rules of a variant.
    pub fn of(variant: &Variant) -> MateRules {
        match *variant == MINISHOGI {
            true => MateRules::Mini(Box::default()),
            false => MateRules::Plain(Box::new(PlainMates::new(variant))),
        }
    }

    /// Returns the rules of a game; `None` for games outside the shogi family.
    pub fn of_rules(game: &dyn Rules) -> Option<MateRules> {
        Some(MateRules::of(game.typed::<Shogi>()?.variant()))
    }
}

/// Returns `true` if mates can be searched for: in the shogi family.
pub fn has_mates(game: &dyn Rules) -> bool {
    game.typed::<Shogi>().is_some()
}

/// Returns the board of a state; `None` for games outside the shogi family.
pub fn board_of(game: &dyn Rules, state: &AnyState) -> Option<Board> {
    game.typed::<Shogi>()?.state(game.key(state))
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MateVerdict {
    /// Win of the attacker.
    Mate {
        /// Length of the win; 127 for all wins of 127 plies and more.
        plies: u32,
        /// `true` if the win is proven to be the shortest; otherwise `plies` is an upper bound.
        is_shortest: bool,
        /// First move of a win within `plies`, if the attacker moves first and the table has it at the limit.
        first: Option<Action>,
    },
    /// Proof that the attacker has no win of the requested kind.
    NoMate,
    /// Limit reached before a proof.
    Open,
}

/// Verdict and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MateResult {
    /// Verdict of the search.
    pub verdict: MateVerdict,
    /// Number of positions whose moves were generated.
    pub nodes: u64,
}

/// Limits of the search for a line: positions for each one of the proof's, and the minimum, which takes about a
/// tenth of a second and serves proofs that were already in the table.
pub const LINE_NODES: (u64, u64) = (4, 100_000);

/// Line of a win against the longest defence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MateLine {
    /// Moves of both players.
    pub actions: Vec<Action>,
    /// Number of plies that are missing at the end because a limit was reached.
    pub missing_plies: u32,
    /// Number of positions whose moves were generated.
    pub nodes: u64,
}

/// Options and limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct MateOptions<'a> {
    /// Role of the root's mover.
    pub role: Role,
    /// `true` if the attacker must give check with every move.
    pub checks_only: bool,
    /// Plies within which the attacker must win; at most 125.
    pub max_plies: Option<u32>,
    /// Maximum number of positions whose moves are generated.
    pub nodes: u64,
    /// Number of threads that share the work.
    pub threads: usize,
    /// Time at which the search stops.
    pub deadline: Option<Instant>,
    /// Flag that stops the search when it is set.
    pub stop: Option<&'a AtomicBool>,
}

impl Default for MateOptions<'_> {
    fn default() -> Self {
        MateOptions {
            role: Role::Attacks,
            checks_only: true,
            max_plies: None,
            nodes: 1_000_000,
            threads: 1,
            deadline: None,
            stop: None,
        }
    }
}

/// Mate search with its table, which several threads may use at once and later searches reuse.
#[derive(Debug)]
pub struct MateSearch<'a> {
    rules: &'a MateRules,
    table: MateTable,
    /// Number of conditional disproofs that a thread keeps.
    conditional: usize,
}

/// State of one call, shared by its threads.
struct Call<'a> {
    options: &'a MateOptions<'a>,
    nodes: AtomicU64,
    done: AtomicBool,
}

impl<'a> MateSearch<'a> {
    /// Returns a search with about `memory` bytes for table and conditional disproofs (the latter for each
    /// thread).
    pub fn new(rules: &'a MateRules, memory: usize) -> MateSearch<'a> {
        let (table, conditional) = (MateTable::new(memory / 8 * 7), (memory / 8 / 128).max(64));
        MateSearch { rules, table, conditional }
    }

    /// Searches for a win of the attacker.
    pub fn search(&self, board: &Board, options: &MateOptions) -> MateResult {
        self.found(board, options, false)
    }

    /// Searches for the shortest win of the attacker, within [`MateOptions::max_plies`] if given. If a limit is
    /// reached, a search by checks may return a win that is not proven to be the shortest; a search with
    /// every move returns [`MateVerdict::Open`].
    pub fn shortest(&self, board: &Board, options: &MateOptions) -> MateResult {
        self.found(board, options, true)
    }

    /// Returns the line of a win within `plies` that a search of `nodes` positions proved.
    ///
    /// Each move of the attacker wins within the plies that are left, and each of the defender's avoids a win in
    /// fewer, so a line is shorter than `plies` only if a shorter win exists. The moves depend on the board, the
    /// plies, the role and `checks_only` alone, because one thread searches for them with a table of its own; where
    /// the limit cuts them depends on `nodes` too. It stops after at most [`LINE_NODES`] positions, and at the deadline and the flag of the options, whose
    /// `nodes`, `threads` and `max_plies` do not apply. A win of 127 plies and more has no line.
    pub fn line(&self, board: &Board, options: &MateOptions, plies: u32, nodes: u64) -> MateLine {
        if plies >= UNBOUNDED.into() {
            return MateLine { actions: Vec::new(), missing_plies: plies, nodes: 0 };
        }
        let nodes = nodes.saturating_mul(LINE_NODES.0).max(LINE_NODES.1);
        let options = &MateOptions { nodes, threads: 1, ..*options };
        let call = Call { options, nodes: AtomicU64::new(0), done: AtomicBool::new(false) };
        let search = MateSearch::new(self.rules, 1 << (18 + plies.min(12) / 2));
        match self.rules {
            MateRules::Mini(rules) => {
                Worker::new(&**rules, &search, &call, 0).line(board, plies as u8)
            }
            MateRules::Plain(rules) => {
                Worker::new(&**rules, &search, &call, 0).line(board, plies as u8)
            }
        }
    }

    fn found(&self, board: &Board, options: &MateOptions, shortest: bool) -> MateResult {
        let call = Call { options, nodes: AtomicU64::new(0), done: AtomicBool::new(false) };
        let verdict = match self.rules {
            MateRules::Mini(rules) => self.verdict(&**rules, board, shortest, &call),
            MateRules::Plain(rules) => self.verdict(&**rules, board, shortest, &call),
        };
        MateResult { verdict, nodes: call.nodes.load(Relaxed) }
    }

    fn verdict<M: Mating>(
        &self,
        rules: &M,
        board: &Board,
        shortest: bool,
        call: &Call,
    ) -> MateVerdict {
        let most = call.options.max_plies.map_or(UNBOUNDED, |plies| plies.min(125) as u8);
        let least = u8::from(call.options.role == Role::Attacks);
        let solve = |bound| self.solve(rules, board, bound, call);
        let found = match (shortest, call.options.checks_only) {
            (true, false) => lengthen(solve, least, most),
            _ => solve(most).map(|value| (value, value.plies <= least)),
        };
        match found {
            None => MateVerdict::Open,
            Some((value, _)) if !value.is_proven() => MateVerdict::NoMate,
            Some((value, is_shortest)) => {
                let (value, is_shortest) = match shortest && !is_shortest {
                    true => shorten(solve, value),
                    false => (value, is_shortest),
                };
                call.done.store(false, Relaxed);
                let attacks = call.options.role == Role::Attacks;
                let first = || Worker::new(rules, self, call, 0).first(board, value.plies);
                let first = attacks.then(first).flatten();
                MateVerdict::Mate { plies: value.plies.into(), is_shortest, first }
            }
        }
    }

    /// Decides whether the attacker wins within a bound; `None` if a limit is reached first.
    fn solve<M: Mating>(
        &self,
        rules: &M,
        board: &Board,
        bound: u8,
        call: &Call,
    ) -> Option<NodeValue> {
        call.done.store(false, Relaxed);
        let run = |thread| Worker::new(rules, self, call, thread).root(board, bound);
        if call.options.threads <= 1 {
            return run(0);
        }
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..call.options.threads).map(|thread| scope.spawn(move || run(thread))).collect();
            threads
                .into_iter()
                .filter_map(|thread| thread.join().expect("a search does not panic"))
                .next()
        })
    }
}

/// Shortens a win until the next shorter one is disproven (`true`), which suits cheap disproofs.
fn shorten(solve: impl Fn(u8) -> Option<NodeValue>, mut value: NodeValue) -> (NodeValue, bool) {
    while value.plies >= 2 {
        match solve(value.plies - 2) {
            Some(shorter) if shorter.is_proven() => value = shorter,
            shorter => return (value, shorter.is_some()),
        }
    }
    (value, true)
}

/// Raises the bound until there is a win, which suits costs that multiply with the bound.
fn lengthen(
    solve: impl Fn(u8) -> Option<NodeValue>,
    least: u8,
    most: u8,
) -> Option<(NodeValue, bool)> {
    for bound in (least..most).step_by(2) {
        let value = solve(bound)?;
        if value.is_proven() {
            return Some((value, true));
        }
    }
    solve(most).map(|value| (value, most < UNBOUNDED))
}
