//! Shogi family: one engine that plays any [`Variant`] from its description.
//!
//! A state is a [`Board`] as its mover sees it: the mover's pieces move up. It includes the pieces in hand
//! but no history; the convention of a table for infinite play covers repetition.
//!
//! **Actions** are numbered as the mover sees the board of S squares: a move from square `f` to `t` is
//! `2 (S f + t)`, plus one with promotion; a drop of the kind held at place `h` is `2 S² + S h + t`. Moves of
//! the second player have the numbers that they have on the rotated board.

mod board;
mod by_sets;
mod japanese;
mod keys;
mod moves;
mod notation;
mod planes;
mod ranking;
mod reading;
mod variant;

pub use board::{Board, Cell, Owner};
pub use variant::{
    ANIMAL_SHOGI, Drops, Ending, Kind, MAX_HAND_KINDS, MAX_SQUARES, MINISHOGI, Promotion,
    SMALL_ANIMAL_SHOGI, VARIANTS, Variant, towards,
};

use std::sync::Arc;

use crate::error::Error;
use crate::rules::{
    Action, Canonical, Drawn, End, Facts, Game, Group, MoveSquares, Outcome, PieceKind, PlaneKinds,
    Position, RankedMoves, RepetitionRule, Side, Symmetry,
};
use by_sets::BySets;
use keys::Packing;
use moves::{Move, PieceMoves};
use ranking::Ranking;

/// Rules of a variant.
#[derive(Clone, Debug)]
pub struct Shogi {
    variant: Variant,
    moves: PieceMoves,
    packing: Packing,
    group: Group,
    ranking: Option<Arc<Ranking>>,
    by_sets: Option<BySets>,
}

impl Shogi {
    /// Makes the rules of a variant. `fold` identifies states that are left-right mirror images of each
    /// other.
    ///
    /// # Panics
    ///
    /// If the variant has too many pieces or squares for a key or for the limits of this module.
    pub fn new(variant: &Variant, fold: bool) -> Shogi {
        assert!(variant.squares() <= MAX_SQUARES && variant.hand_kinds() <= MAX_HAND_KINDS);
        let group = if fold { Group::mirror() } else { Group::trivial() };
        let (moves, packing) = (PieceMoves::new(variant), Packing::new(variant));
        let ranking = if fold && !variant.keeps_sides { Ranking::new(variant) } else { None };
        let ranking = ranking.map(Arc::new);
        let by_sets = ranking.as_ref().and_then(|ranking| BySets::new(&moves, ranking));
        Shogi { variant: *variant, moves, packing, group, ranking, by_sets }
    }

    /// Returns the variant.
    pub fn variant(&self) -> &Variant {
        &self.variant
    }

    /// Returns the squares that the piece on a square attacks or, where its own side stands, defends: bit `s`
    /// for square `s`. Slides end at the first piece. The legality of a capture is not checked.
    ///
    /// An empty square attacks nothing.
    #[inline]
    pub fn attacks(&self, state: &Board, from: usize) -> u32 {
        self.moves.attacks(state, from)
    }

    fn squares(&self) -> usize {
        self.variant.squares()
    }

    fn action(&self, played: Move) -> Action {
        let squares = self.squares();
        Action(match played {
            Move::Board { from, to, promotes } => {
                2 * (squares * usize::from(from) + usize::from(to)) + usize::from(promotes)
            }
            Move::Drop { kind, to } => {
                2 * squares * squares + squares * (usize::from(kind) - 1) + usize::from(to)
            }
        } as u16)
    }

    fn move_of(&self, action: Action) -> Move {
        let (action, squares) = (usize::from(action.0), self.squares());
        match action.checked_sub(2 * squares * squares) {
            None => Move::Board {
                from: (action / 2 / squares) as u8,
                to: (action / 2 % squares) as u8,
                promotes: action % 2 == 1,
            },
            Some(drop) => {
                Move::Drop { kind: (drop / squares + 1) as u8, to: (drop % squares) as u8 }
            }
        }
    }
}

impl Game for Shogi {
    type State = Board;

    fn name(&self) -> String {
        self.variant.name.to_string()
    }

    fn start(&self) -> Position<Board> {
        reading::read_sfen(self, self.variant.start).expect("the start of a variant is a position")
    }

    fn action_count(&self) -> usize {
        let squares = self.squares();
        2 * squares * squares + squares * self.variant.hand_kinds()
    }

    #[inline]
    fn facts(&self) -> Facts {
        Facts {
            shape: (self.variant.rows, self.variant.columns),
            key_bits: self.packing.bits(),
            rules_version: self.variant.rules_version,
            is_small: !self.variant.keeps_sides,
        }
    }

    fn repetition_rule(&self) -> RepetitionRule {
        self.variant.repetition
    }

    fn with_folding(&self, fold: bool) -> Option<Shogi> {
        Some(Shogi::new(&self.variant, fold))
    }

    #[inline]
    fn for_each_action(&self, state: &Board, mut visit: impl FnMut(Action)) {
        self.moves.visit(state, |played| {
            visit(self.action(played));
            false
        });
    }

    #[inline]
    fn moves(&self, state: &Board, mut visit: impl FnMut(Action, Board)) {
        self.moves.visit(state, |played| {
            visit(self.action(played), self.moves.play(state, played));
            false
        });
    }

    fn play(&self, state: &Board, action: Action) -> Board {
        self.moves.play(state, self.move_of(action))
    }

    fn swapped(&self, state: &Board) -> Option<Board> {
        Some(state.turned(self.squares()))
    }

    fn result(&self, state: &Board) -> Option<Outcome> {
        self.end(state).map(|end| end.outcome)
    }

    /// Returns the value of the mover's pieces, on the board and in hand, minus that of the opponent's.
    fn material(&self, state: &Board) -> Option<i32> {
        let value = |kind: usize| self.variant.kinds[kind].value;
        let on_board = state.cells.iter().filter_map(|cell| cell.piece());
        let on_board = on_board.map(|(owner, kind)| match owner {
            Owner::Mover => value(kind),
            Owner::Opponent => -value(kind),
        });
        let held = (1..=self.variant.hand_kinds()).map(|kind| {
            let difference =
                i32::from(state.hands[0][kind - 1]) - i32::from(state.hands[1][kind - 1]);
            difference * value(self.variant.kinds[kind].in_hand)
        });
        Some(on_board.sum::<i32>() + held.sum::<i32>())
    }

    #[inline]
    fn key(&self, state: &Board) -> u128 {
        self.packing.pack(state)
    }

    fn state(&self, key: u128) -> Option<Board> {
        self.packing.unpack(key)
    }

    #[inline]
    fn canonical(&self, state: &Board) -> Canonical {
        if self.group.order() == 1 {
            return Canonical { key: self.packing.pack(state), ties: 1 };
        }
        let (key, ties) = self.packing.pack_smaller(state);
        Canonical { key, ties }
    }

    // ---- ranks ----

    fn rank_count(&self) -> Option<u32> {
        self.ranking.as_ref().filter(|_| self.by_sets.is_some()).map(|ranking| ranking.len())
    }

    #[inline]
    fn rank(&self, state: &Board) -> Option<u32> {
        self.ranking.as_ref()?.rank(state)
    }

    fn state_of_rank(&self, rank: u32) -> Option<Board> {
        self.ranking.as_ref().filter(|ranking| rank < ranking.len()).map(|r| r.unrank(rank))
    }

    fn predecessors(&self, rank: u32, before: &mut Vec<u32>) {
        if let Some(by_sets) = &self.by_sets {
            by_sets.predecessors(rank, before);
        }
    }

    fn ranked_moves(&self) -> Option<&dyn RankedMoves> {
        self.by_sets.as_ref().map(|moves| moves as _)
    }

    // ---- symmetries ----

    #[inline]
    fn group(&self) -> &Group {
        &self.group
    }

    fn transform(&self, state: &Board, symmetry: Symmetry) -> Board {
        if symmetry == 0 {
            return *state;
        }
        let mut image = Board::EMPTY;
        image.hands = state.hands;
        for square in 0..self.squares() {
            image.put(self.variant.mirrored(square), state.cells[square]);
        }
        image
    }

    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action {
        if symmetry == 0 {
            return action;
        }
        let mirrored = |square: u8| self.variant.mirrored(usize::from(square)) as u8;
        self.action(match self.move_of(action) {
            Move::Board { from, to, promotes } => {
                Move::Board { from: mirrored(from), to: mirrored(to), promotes }
            }
            Move::Drop { kind, to } => Move::Drop { kind, to: mirrored(to) },
        })
    }

    // ---- sides in keys ----

    #[inline]
    fn keeps_sides(&self) -> bool {
        self.variant.keeps_sides
    }

    #[inline]
    fn tag(&self, key: u128, side: Side) -> u128 {
        if self.keeps_sides() { self.packing.tag(key, side) } else { key }
    }

    #[inline]
    fn side_of(&self, key: u128) -> Side {
        if self.keeps_sides() { self.packing.side_of(key) } else { Side::First }
    }

    // ---- ends ----

    fn end(&self, state: &Board) -> Option<End> {
        match self.moves.king_rule(state) {
            // Under adjudication the capture of the king is still to be played.
            Some(true) => {
                let plies = u16::from(self.variant.ending == Ending::Adjudicated);
                Some(End { outcome: Outcome::Win, plies })
            }
            Some(false) => Some(End { outcome: Outcome::Loss, plies: 0 }),
            None if !self.moves.visit_undecided(state, |_| true) => {
                Some(End { outcome: Outcome::Loss, plies: 0 })
            }
            None => None,
        }
    }

    fn end_in_words(&self, position: &Position<Board>) -> Option<String> {
        let state = &position.state;
        self.end(state)?;
        let [mover, other] = [position.side, position.side.other()].map(|s| self.side_name(s));
        let king = self.variant.kinds[0].name;
        Some(match self.moves.king_rule(state) {
            Some(true) if self.variant.ending == Ending::Adjudicated => {
                format!("{mover} can capture the {king}")
            }
            Some(true) => format!("{mover}'s {king} is safe on the last rank"),
            Some(false) if state.king(Owner::Mover).is_none() => {
                format!("{mover}'s {king} has been captured")
            }
            Some(false) => format!("{other}'s {king} has reached the last rank"),
            None if self.variant.ending == Ending::Mate && self.in_check(state) => {
                format!("{mover} is mated")
            }
            None => format!("{mover} has no legal move"),
        })
    }

    #[inline]
    fn in_check(&self, state: &Board) -> bool {
        self.moves.in_check(state, Owner::Mover)
    }

    // ---- planes ----

    fn plane_kinds(&self) -> PlaneKinds {
        planes::of(&self.variant)
    }

    fn write_planes(&self, state: &Board, out: &mut [f32]) {
        planes::write(&self.variant, state, out);
    }

    fn read_planes(&self, planes: &[f32]) -> Option<Board> {
        let board = planes::read(&self.variant, planes)?;
        // A board that differs after packing has too many pieces, or too few kings.
        (self.state(self.key(&board)) == Some(board)).then_some(board)
    }

    // ---- drawing ----

    fn drawn(&self, position: &Position<Board>) -> Drawn {
        notation::drawn_cells(self, position)
    }

    fn piece_kinds(&self) -> Vec<PieceKind> {
        notation::piece_kinds(&self.variant)
    }

    fn move_squares(&self, position: &Position<Board>, action: Action) -> MoveSquares {
        let side = position.side;
        let seen = |square: u8| notation::absolute(&self.variant, side, usize::from(square)) as u16;
        match self.move_of(action) {
            Move::Board { from, to, .. } => {
                MoveSquares { from: Some(seen(from)), to: Some(seen(to)) }
            }
            Move::Drop { to, .. } => MoveSquares { from: None, to: Some(seen(to)) },
        }
    }

    fn coordinates(&self) -> [Vec<String>; 2] {
        let Variant { rows, columns, .. } = self.variant;
        let letters = ('a'..='z').map(String::from);
        [
            (1..=columns).rev().map(|column| column.to_string()).collect(),
            letters.take(rows).collect(),
        ]
    }

    // ---- names ----

    fn title(&self) -> String {
        self.variant.title.to_string()
    }

    fn side_names(&self) -> [&'static str; 2] {
        ["Black", "White"]
    }

    fn action_name(&self, side: Side, action: Action) -> String {
        notation::usi(self, side, self.move_of(action))
    }

    fn conventions(&self) -> Vec<(&'static str, String)> {
        self.packing.conventions(&self.variant)
    }

    // ---- notation ----

    fn written(&self, position: &Position<Board>) -> Vec<(&'static str, String)> {
        vec![("sfen", notation::sfen(self, position))]
    }

    fn read_position(&self, text: &str) -> Result<Option<Position<Board>>, Error> {
        reading::read_position(self, text)
    }

    fn read_move(&self, position: &Position<Board>, text: &str) -> Option<Action> {
        japanese::read_move(self, position, text)
    }
}
