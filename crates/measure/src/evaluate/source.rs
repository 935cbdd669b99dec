//! Positions in which policies are judged: those of a solved table, piece by piece.
//!
//! A position is judged if it is not terminal, and its value and those of all its moves are proven; otherwise
//! its best move is unknown. If a table records in which orientations a row is reachable, every actual
//! position counts once, because a policy need not be symmetric; on request only the first one of a row is
//! asked about, and counts for all. In other tables every row counts once: for a state and its mirror images
//! if states are folded, and for either side to move if sides are not kept.

use std::sync::Arc;

use super::kept::Kept;
use super::unfolded::Unfolded;
use crate::policy::Batch;
use yomikiri::any::{AnyGame, AnyState};
use yomikiri::game::{Action, GameExt, Orientations, Outcome, Position, Score, Side};
use yomikiri::graph::StateKind;
use yomikiri::solve::Value;
use yomikiri::solved::{Orienting, SolvedTable};

/// Proven value of a position for its mover, or of a move for the player who makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    /// Outcome of the game.
    pub outcome: Outcome,
    /// Final score; `None` in games without scores.
    pub score: Option<Score>,
    /// Plies from the position or the move to the end of the game, if known exactly; `None` too if the game
    /// does not end.
    pub distance: Option<u16>,
    /// Order of the moves of a position, as in the solver: by outcome or score, then the shorter game when
    /// winning or drawn, the longer when losing. Moves of equal rank are equally good.
    pub rank: i64,
}

impl Truth {
    /// Returns the truth of a value, with its score if `scored`; `None` if it is not proven.
    pub fn of(value: Value, scored: bool) -> Option<Truth> {
        let score = if scored { Some(value.score()?) } else { None };
        Some(Truth {
            outcome: value.outcome()?,
            score,
            distance: value.distance(),
            rank: Truth::rank(value),
        })
    }

    /// Returns the [`rank`](Truth::rank) of a value.
    pub(super) fn rank(value: Value) -> i64 {
        (i64::from(value.lower.number()) << 32) + i64::from(value.upper.number())
    }

    /// Returns the score; in games without scores 1, 0 or −1 by the outcome.
    pub fn q_score(&self) -> Score {
        self.score.unwrap_or(Score(self.outcome.value()))
    }

    /// Returns the exact Q value to compare a policy's scores with: the score, or in games without scores the
    /// outcome, then the distance as far as it is proven.
    pub fn q(&self) -> i64 {
        self.score.map_or(self.rank, |score| i64::from(score.0))
    }
}

/// A position in which policies are judged, with its exact values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Row of the table.
    pub row: u32,
    /// Number of positions it counts for: 1, or all those of its row if only the first is asked about.
    pub weight: u32,
    /// Layer, or plies from the nearest root; `None` if the table does not record them.
    pub layer: Option<u32>,
    /// Value of the position for its mover.
    pub own: Truth,
    /// `true` if its moves differ in outcome.
    pub differs_in_outcome: bool,
    /// `true` if its moves differ in score.
    pub differs_in_score: bool,
    /// `true` if distances are compared: the position is won or lost in an exactly known number of plies, and
    /// so is every move that keeps the outcome. Never in a game with scores.
    pub timed: bool,
}

impl Case {
    /// Returns the case of a row whose moves have these values; `None` if the row's value does not follow
    /// from them, so the table is damaged.
    pub(super) fn of(row: usize, layer: Option<u32>, own: Truth, moves: &[Truth]) -> Option<Case> {
        let best = moves.iter().map(|truth| truth.outcome).max()?;
        let worst = moves.iter().map(|truth| truth.outcome).min()?;
        let scores = moves.iter().map(|truth| truth.score);
        let (most, least) = (scores.clone().max()?, scores.min()?);
        let follows = best == own.outcome && most == own.score;
        let kept = |truth: &&Truth| truth.outcome == own.outcome;
        let timed = own.score.is_none()
            && own.outcome != Outcome::Draw
            && own.distance.is_some()
            && moves.iter().filter(kept).all(|truth| truth.distance.is_some());
        follows.then_some(Case {
            row: row as u32,
            weight: 1,
            layer,
            own,
            differs_in_outcome: best != worst,
            differs_in_score: most != least,
            timed,
        })
    }
}

/// Number of positions a policy is asked about at once, images of a row together: a network's activations for
/// these fit into the CPU caches.
pub(super) const AT_ONCE: usize = 2048;

/// A piece of a table or a part of one, as policies receive it.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    /// Positions with their legal actions.
    pub batch: Batch<AnyState>,
    /// Known values and facts of each position.
    pub cases: Vec<Case>,
    /// Value of each action of the batch.
    pub truths: Vec<Truth>,
    /// `true` if all positions of each row are asked about.
    pub has_images: bool,
}

impl Piece {
    /// Returns the last part, or a new one behind it, with room for the images of a row.
    pub(super) fn with_room(parts: &mut Vec<Piece>) -> &mut Piece {
        // A board has at most eight symmetries, with either side to move.
        if parts.last().is_none_or(|last| last.cases.len() + 16 > AT_ONCE) {
            parts.push(Piece::default());
        }
        let last = parts.len() - 1;
        &mut parts[last]
    }

    /// Returns its `wanted` positions.
    pub(super) fn only(&self, wanted: &Wanted<'_>) -> Piece {
        let mut some = Piece::default();
        (0..self.cases.len()).filter(|&at| wanted(self, at)).for_each(|at| some.push(self, at));
        some
    }

    /// Appends the position at index `at` of another piece, with its values.
    pub fn push(&mut self, all: &Piece, at: usize) {
        let range = all.batch.range(at);
        let actions = all.batch.actions()[range.clone()].iter().copied();
        self.batch.push(all.batch.positions()[at], actions);
        self.truths.extend_from_slice(&all.truths[range]);
        self.has_images = all.has_images;
        self.cases.push(all.cases[at]);
    }
}

/// Judged positions piece by piece, always the same in the same order.
pub trait Source: Sync {
    /// Returns the rules.
    fn game(&self) -> &AnyGame;

    /// Returns the number of pieces.
    fn pieces(&self) -> usize;

    /// Returns the number of rows of all pieces.
    fn rows(&self) -> u64;

    /// Returns a piece, in parts of at most 2048 positions, and its number of rows; fails if the table is
    /// damaged.
    fn fill(&self, piece: usize) -> Result<(Vec<Arc<Piece>>, u64), String>;
}

/// Filter of positions: returns `true` for the wanted ones of a piece, by index.
pub type Wanted<'a> = dyn Fn(&Piece, usize) -> bool + Sync + 'a;

/// The judged positions of a solved table.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// Table to judge on.
    pub table: &'a SolvedTable,
    /// Positions of a row that policies are asked about.
    pub orienting: Orienting,
    /// Cache of pieces.
    kept: Option<&'a Kept>,
    /// Source of orientations if the table does not record them.
    unfolded: Option<&'a Unfolded>,
    /// `true` for positions in which only some moves are proven.
    forced: bool,
}

impl<'a> Judged<'a> {
    /// Returns the judged positions of a table.
    pub fn new(table: &'a SolvedTable, orienting: Orienting) -> Judged<'a> {
        Judged { table, orienting, kept: None, unfolded: None, forced: false }
    }

    /// Returns the positions of a bounded table in which it proves only some moves.
    pub fn forced(table: &'a SolvedTable, orienting: Orienting) -> Judged<'a> {
        Judged { forced: true, ..Judged::new(table, orienting) }
    }

    /// Caches pieces in `kept`, which must be of this table alone.
    pub fn kept_in(self, kept: Option<&'a Kept>) -> Judged<'a> {
        Judged { kept, ..self }
    }

    /// Returns all positions that games on a table reach, in the order of the unfolded table.
    pub fn everywhere(table: &'a SolvedTable, unfolded: &'a Unfolded) -> Judged<'a> {
        Judged { unfolded: Some(unfolded), ..Judged::new(table, Orienting::All) }
    }
}

impl Source for Judged<'_> {
    fn game(&self) -> &AnyGame {
        self.table.game()
    }

    fn pieces(&self) -> usize {
        self.table.states().pieces().len()
    }

    fn rows(&self) -> u64 {
        self.table.states().rows() as u64
    }

    fn fill(&self, piece: usize) -> Result<(Vec<Arc<Piece>>, u64), String> {
        let rows = self.table.states().pieces()[piece].rows.len() as u64;
        let parts = match self.kept {
            Some(kept) => {
                kept.pieces(self.table.states(), (self.orienting, piece), || self.parts(piece))?
            }
            None => self.parts(piece)?,
        };
        Ok((parts, rows))
    }
}

impl Judged<'_> {
    fn parts(&self, piece: usize) -> Result<Vec<Arc<Piece>>, String> {
        let (states, game) = (self.table.states(), self.table.game());
        let piece = &states.pieces()[piece];
        let (mut parts, mut moves) = (Vec::new(), Vec::new());
        states.visit(piece.rows.clone(), |row, position| {
            let out = Piece::with_room(&mut parts);
            match self.forced {
                true => self.forced_row((row, piece.layer), position, out),
                false => self.row(row, piece.layer, position, &mut moves, out),
            }
        })?;
        if self.unfolded.is_some() && !states.has_orientations() && !game.keeps_sides() {
            // To policies the first player is to move, as in the rows of such tables.
            let first = |position: &Position<AnyState>| Position { side: Side::First, ..*position };
            parts.iter_mut().for_each(|part| part.batch = part.batch.map(first));
        }
        Ok(parts.into_iter().map(Arc::new).collect())
    }

    /// Appends the judged positions of a row to `out`.
    fn row(
        &self,
        row: usize,
        layer: Option<u32>,
        position: Position<AnyState>,
        moves: &mut Vec<(Action, Option<u32>)>,
        out: &mut Piece,
    ) -> Result<(), String> {
        let Judged { table, orienting, unfolded, .. } = *self;
        let states = table.states();
        let truth = |value| Truth::of(value, table.has_scores());
        if states.kind(row, &position.state) != StateKind::Interior {
            return Ok(());
        }
        let Some(own) = truth(table.value(row)) else { return Ok(()) };
        states.moves(row, &position.state, moves)?;
        let truths = moves.iter().map(|&(_, target)| truth(table.move_value(target)));
        let Some(truths) = truths.collect::<Option<Vec<Truth>>>() else { return Ok(()) };
        let case = Case::of(row, layer, own, &truths)
            .ok_or_else(|| format!("value of row {row} contradicts those of its moves"))?;
        let found = unfolded.map(|unfolded| unfolded.orientations(row));
        let orientations = found.or_else(|| states.orientations(row));
        let actions: Vec<Action> = moves.iter().map(|(action, _)| *action).collect();
        out.push_row(table.game(), (case, position), (&actions, &truths), orientations, orienting);
        Ok(())
    }
}

impl Piece {
    /// Appends the positions of a row; `truths` are in the order of `actions`. A row without orientations
    /// counts once.
    pub(super) fn push_row(
        &mut self,
        game: &AnyGame,
        (mut case, position): (Case, Position<AnyState>),
        (actions, truths): (&[Action], &[Truth]),
        orientations: Option<Orientations>,
        orienting: Orienting,
    ) {
        let Some(orientations) = orientations else {
            self.batch.push(position, actions.iter().copied());
            self.truths.extend(truths);
            self.cases.push(case);
            return;
        };
        let order = game.group().order();
        if orienting == Orienting::First {
            case.weight = orientations.iter(order).count() as u32;
        }
        self.has_images = orienting == Orienting::All;
        for (symmetry, side) in orientations.iter(order).take(orienting.most()) {
            let state = game.transform(&position.state, symmetry);
            let image = |&action: &Action| game.transform_action(action, symmetry);
            // Actions ascend; their values are permuted with them.
            let mut both: Vec<(Action, u16)> = actions.iter().map(image).zip(0..).collect();
            both.sort_unstable_by_key(|(action, _)| *action);
            self.batch.push(Position { state, side }, both.iter().map(|(action, _)| *action));
            self.truths.extend(both.iter().map(|(_, place)| truths[usize::from(*place)]));
            self.cases.push(case);
        }
    }
}
