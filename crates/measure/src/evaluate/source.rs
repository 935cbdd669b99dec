//! The positions in which policies are judged: those of a solved table, piece by piece.
//!
//! A position is judged if it is not over, and its own value and those of all its moves are proven:
//! elsewhere it is not known what the best move is. Where a table tells in which orientations a row
//! is reachable, every actual position counts once, for a policy need not be symmetric; on request
//! only the first of a row is asked about, and stands for them all. In other tables every row counts once: for a state and its mirror
//! image where states are folded, and for either player's being to move where sides are not kept.

use std::sync::Arc;

use super::kept::Kept;
use super::unfolded::Unfolded;
use crate::policy::Batch;
use yomikiri::any::{AnyGame, AnyState};
use yomikiri::game::{Action, GameExt, Orientations, Outcome, Position, Score, Side};
use yomikiri::graph::StateKind;
use yomikiri::solve::Value;
use yomikiri::solved::{Orienting, SolvedTable};

/// The proven value of a position for its mover, or of a move for who makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    /// Who wins.
    pub outcome: Outcome,
    /// The final score; `None` in games that have none.
    pub score: Option<Score>,
    /// Plies to the end of the game, from the position or the move on, where they are known
    /// exactly; `None` too where the game does not end.
    pub distance: Option<u16>,
    /// Orders the moves of a position as the solver does: a better outcome or score first, ahead
    /// and level the shorter game, behind the longer. Moves of the same rank are equally good.
    pub rank: i64,
}

impl Truth {
    /// Of a value, with its score if values have one; `None` where it is not proven.
    pub fn of(value: Value, scored: bool) -> Option<Truth> {
        let score = if scored { Some(value.score()?) } else { None };
        Some(Truth {
            outcome: value.outcome()?,
            score,
            distance: value.distance(),
            rank: Truth::rank(value),
        })
    }

    /// The [`rank`](Truth::rank) of a value.
    pub(super) fn rank(value: Value) -> i64 {
        (i64::from(value.lower.number()) << 32) + i64::from(value.upper.number())
    }

    /// The score; in games without scores 1, 0 or −1 by the outcome.
    pub fn q_score(&self) -> Score {
        self.score.unwrap_or(Score(self.outcome.value()))
    }

    /// The exact Q value with which a policy's scores are compared: the score, or in games without
    /// one the outcome, and then the distance as far as it is proven.
    pub fn q(&self) -> i64 {
        self.score.map_or(self.rank, |score| i64::from(score.0))
    }
}

/// A position in which policies are judged, and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its row of the table.
    pub row: u32,
    /// How many positions it stands for: 1, or all those of its row where only the first is asked
    /// about.
    pub weight: u32,
    /// The layer, or plies from the nearest root; `None` where the table does not tell.
    pub layer: Option<u32>,
    /// The position's value for its mover.
    pub own: Truth,
    /// Whether its moves differ in outcome.
    pub differs_in_outcome: bool,
    /// Whether its moves differ in score.
    pub differs_in_score: bool,
    /// Whether distances are compared in it: it is won or lost in an exactly known number of plies,
    /// and so is every move that keeps the outcome. Never in a game with scores.
    pub timed: bool,
}

impl Case {
    /// The case of a row whose moves have these values; `None` if the row's does not follow from
    /// them: the table is damaged.
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

/// How many positions are put to a policy at once, images of a row together: a network's numbers for so
/// many stay in a processor's caches.
pub(super) const AT_ONCE: usize = 2048;

/// A piece of a table or a part of one, ready to be put to policies.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    /// The positions.
    pub batch: Batch<AnyState>,
    /// What is known of each.
    pub cases: Vec<Case>,
    /// What is known of each action of the batch.
    pub truths: Vec<Truth>,
    /// Whether all positions of each row are asked about.
    pub has_images: bool,
}

impl Piece {
    /// The last of some parts, or a new one behind it, that has room for the images of a row.
    pub(super) fn with_room(parts: &mut Vec<Piece>) -> &mut Piece {
        // No board has more symmetries than eight, and either side may be to move.
        if parts.last().is_none_or(|last| last.cases.len() + 16 > AT_ONCE) {
            parts.push(Piece::default());
        }
        let last = parts.len() - 1;
        &mut parts[last]
    }

    /// The wanted ones of its positions.
    pub(super) fn only(&self, wanted: &Wanted<'_>) -> Piece {
        let mut some = Piece::default();
        (0..self.cases.len()).filter(|&at| wanted(self, at)).for_each(|at| some.push(self, at));
        some
    }

    /// Adds the position at a place of another piece, with what is known of it.
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
    /// The rules.
    fn game(&self) -> &AnyGame;

    /// How many pieces there are.
    fn pieces(&self) -> usize;

    /// How many rows of a table all of them have.
    fn rows(&self) -> u64;

    /// A piece, in parts of some 2048 positions, and how many rows it has, or what is wrong with
    /// the table.
    fn fill(&self, piece: usize) -> Result<(Vec<Arc<Piece>>, u64), String>;
}

/// Whether the position at a place of a piece is one of those that are wanted.
pub type Wanted<'a> = dyn Fn(&Piece, usize) -> bool + Sync + 'a;

/// The judged positions of a solved table.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// The table.
    pub table: &'a SolvedTable,
    /// Which positions of a row policies are asked about.
    pub orienting: Orienting,
    /// Where pieces that were filled once are kept, if at all.
    kept: Option<&'a Kept>,
    /// Where orientations are known from, if not from the table.
    unfolded: Option<&'a Unfolded>,
    /// True for positions in which something is proven of some moves only.
    forced: bool,
}

impl<'a> Judged<'a> {
    /// Those of a table.
    pub fn new(table: &'a SolvedTable, orienting: Orienting) -> Judged<'a> {
        Judged { table, orienting, kept: None, unfolded: None, forced: false }
    }

    /// Those of a bounded table in which it proves something of some moves only.
    pub fn forced(table: &'a SolvedTable, orienting: Orienting) -> Judged<'a> {
        Judged { forced: true, ..Judged::new(table, orienting) }
    }

    /// The same, of which those that were filled once are kept in what is of this table alone.
    pub fn kept_in(self, kept: Option<&'a Kept>) -> Judged<'a> {
        Judged { kept, ..self }
    }

    /// All positions that games on a table can come to, in the order of the unfolded table.
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
            // To a policy the first player is to move, as in the rows of such tables.
            let first = |position: &Position<AnyState>| Position { side: Side::First, ..*position };
            parts.iter_mut().for_each(|part| part.batch = part.batch.map(first));
        }
        Ok(parts.into_iter().map(Arc::new).collect())
    }

    /// Puts the judged positions of a row into `out`.
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
            .ok_or_else(|| format!("the value of row {row} does not follow from its moves"))?;
        let found = unfolded.map(|unfolded| unfolded.orientations(row));
        let orientations = found.or_else(|| states.orientations(row));
        let actions: Vec<Action> = moves.iter().map(|(action, _)| *action).collect();
        out.push_row(table.game(), (case, position), (&actions, &truths), orientations, orienting);
        Ok(())
    }
}

impl Piece {
    /// Adds the positions of a row, whose moves and what is known of them stand in the order of the
    /// actions; where orientations are not known the row counts once.
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
            // Actions are in ascending order, their values go with them.
            let mut both: Vec<(Action, u16)> = actions.iter().map(image).zip(0..).collect();
            both.sort_unstable_by_key(|(action, _)| *action);
            self.batch.push(Position { state, side }, both.iter().map(|(action, _)| *action));
            self.truths.extend(both.iter().map(|(_, place)| truths[usize::from(*place)]));
            self.cases.push(case);
        }
    }
}
