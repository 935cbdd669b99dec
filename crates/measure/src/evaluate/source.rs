//! Positions in which policies are judged: those of a solved table, piece by piece.
//!
//! A position is judged if it is not terminal, and its value and those of all its moves are proven; otherwise
//! its best move is unknown. If a table records in which orientations a row is reachable, every actual
//! position counts once, because a policy need not be symmetric; on request only the first one of a row is
//! asked about, and counts for all. In other tables every row counts once: for a state and its mirror images
//! if states are folded, and for either side to move if sides are not kept.

use std::ops::Range;
use std::sync::Arc;

use super::case::{Case, Piece, Truth};
use super::kept::Kept;
use super::unfolded::Unfolded;
use yomikiri::any::{AnyGame, AnyState};
use yomikiri::game::{Action, GameExt, Position, Side};
use yomikiri::graph::StateKind;
use yomikiri::solved::{Orienting, SolvedTable};

/// Number of rows in a piece of chosen rows.
const ROWS: usize = 1 << 13;

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
    /// Rows to read, in ascending order; `None` for all.
    only: Option<&'a [usize]>,
}

impl<'a> Judged<'a> {
    /// Returns the judged positions of a table.
    pub fn new(table: &'a SolvedTable, orienting: Orienting) -> Judged<'a> {
        Judged { table, orienting, kept: None, unfolded: None, forced: false, only: None }
    }

    /// Returns the positions of a bounded table in which it proves only some moves.
    pub fn forced(table: &'a SolvedTable, orienting: Orienting) -> Judged<'a> {
        Judged { forced: true, ..Judged::new(table, orienting) }
    }

    /// Caches pieces in `kept`, which must be of this table alone.
    pub fn kept_in(self, kept: Option<&'a Kept>) -> Judged<'a> {
        Judged { kept, ..self }
    }

    /// Reads only some rows, in ascending order.
    pub fn only(self, rows: Option<&'a [usize]>) -> Judged<'a> {
        Judged { only: rows, ..self }
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
        match self.only {
            None => self.table.states().pieces().len(),
            Some(rows) => rows.len().div_ceil(ROWS),
        }
    }

    fn rows(&self) -> u64 {
        self.only.map_or(self.table.states().rows(), <[usize]>::len) as u64
    }

    fn fill(&self, piece: usize) -> Result<(Vec<Arc<Piece>>, u64), String> {
        let pieces = self.table.states().pieces();
        if let Some(rows) = self.only {
            let rows = &rows[piece * ROWS..rows.len().min((piece + 1) * ROWS)];
            let alone = rows.iter().map(|&row| {
                let layer = pieces[pieces.partition_point(|piece| piece.rows.end <= row)].layer;
                (layer, row..row + 1)
            });
            return Ok((self.parts(alone)?, rows.len() as u64));
        }
        let rows = &pieces[piece].rows;
        let parts = || self.parts([(pieces[piece].layer, rows.clone())]);
        let parts = match self.kept {
            Some(kept) => kept.pieces(self.table.states(), (self.orienting, piece), parts)?,
            None => parts()?,
        };
        Ok((parts, rows.len() as u64))
    }
}

impl Judged<'_> {
    /// Returns the judged positions of ranges of rows, each with its layer.
    fn parts(
        &self,
        ranges: impl IntoIterator<Item = (Option<u32>, Range<usize>)>,
    ) -> Result<Vec<Arc<Piece>>, String> {
        let (states, game) = (self.table.states(), self.table.game());
        let (mut parts, mut moves) = (Vec::new(), Vec::new());
        for (layer, rows) in ranges {
            states.visit(rows, |row, position| {
                let out = Piece::with_room(&mut parts);
                match self.forced {
                    true => self.forced_row((row, layer), position, out),
                    false => self.row(row, layer, position, &mut moves, out),
                }
            })?;
        }
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
