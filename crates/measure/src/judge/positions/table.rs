//! The judged positions of a solved table, piece by piece.
//!
//! A position is judged if it is not terminal, and its value and those of all its moves are proven; otherwise
//! its best move is unknown. If a table records in which orientations a row is reachable, every actual
//! position counts once, because a policy need not be symmetric; on request only the first one of a row is
//! asked about, and counts for all. In other tables every row counts once: for a state and its mirror images
//! if states are folded, and for either side to move if sides are not kept.

use std::ops::Range;
use std::sync::Arc;

use super::{Example, JudgedPositions, Piece, Source, TableFacts};
use crate::judge::cache::MeasureCache;
use crate::judge::player::Player;
use crate::judge::unfolded::Unfolded;
use crate::policy::TrainedSpec;
use yomikiri::error::Error;
use yomikiri::oracle::{Orienting, SolvedTable};
use yomikiri::rules::{AnyState, Divider, Division, Position, Rules, Side, Split, Splits};
use yomikiri::table::SweepRecord;

/// Part of a training split: a filter of positions.
pub struct JudgedPart {
    divider: Divider,
    split: Split,
    /// Description of the part.
    pub words: String,
}

impl JudgedPart {
    /// Returns a part of the positions, divided as in the training of the players, or else as `solver export` does
    /// by default. Fails if the players were trained by different splits.
    pub fn new(split: Split, players: &[Player], game: &dyn Rules) -> Result<JudgedPart, Error> {
        let mut divisions: Vec<Division> = Vec::new();
        for division in players.iter().filter_map(|player| player.learned_from().division()) {
            if !divisions.contains(&division) {
                divisions.push(division);
            }
        }
        let division = match divisions[..] {
            [] => TrainedSpec::default().division(),
            [division] => division,
            _ => {
                let what = "networks trained by different splits";
                return Err(Error::new(what, "measure them one at a time"));
            }
        };
        let Splits { seed, train, validation } = division.splits;
        let words = format!(
            "the {} part (seed {seed}: {train} to train, {validation} to validate, {} to test)",
            split.name(),
            division.splits.test()
        );
        Ok(JudgedPart { divider: Divider::new(game, division), split, words })
    }

    /// Returns `true` if a position is in the part.
    pub(super) fn has(&self, state: &AnyState) -> bool {
        self.divider.of(state) == Some(self.split)
    }
}

/// The judged positions of a solved table.
#[derive(Clone, Copy)]
pub struct TablePositions<'a> {
    /// Table to judge on.
    pub table: &'a SolvedTable,
    /// Positions of a row that policies are asked about.
    pub orienting: Orienting,
    /// Part of the positions; `None` for all.
    pub part: Option<&'a JudgedPart>,
    /// Cache of what depends on the table alone.
    pub(crate) cache: Option<&'a MeasureCache>,
    /// Source of orientations if the table does not record them.
    unfolded: Option<&'a Unfolded>,
    /// `true` for positions in which only some moves are proven.
    forced: bool,
}

impl<'a> TablePositions<'a> {
    /// Returns the judged positions of a table.
    pub fn new(table: &'a SolvedTable, orienting: Orienting) -> TablePositions<'a> {
        TablePositions { table, orienting, part: None, cache: None, unfolded: None, forced: false }
    }

    /// Caches what depends on the table alone in `cache`, which must be of this table.
    pub fn cached_in(self, cache: Option<&'a MeasureCache>) -> TablePositions<'a> {
        TablePositions { cache, ..self }
    }

    /// Judges only a part of a training split.
    pub fn in_part(self, part: Option<&'a JudgedPart>) -> TablePositions<'a> {
        TablePositions { part, ..self }
    }

    /// Returns all positions that games on a table reach, in the order of the unfolded table.
    pub fn everywhere(table: &'a SolvedTable, unfolded: &'a Unfolded) -> TablePositions<'a> {
        TablePositions { unfolded: Some(unfolded), ..TablePositions::new(table, Orienting::All) }
    }
}

impl Source for TablePositions<'_> {
    fn game(&self) -> &dyn Rules {
        self.table.game()
    }

    fn pieces(&self) -> usize {
        self.table.states().pieces().len()
    }

    fn rows(&self) -> u64 {
        self.table.states().rows() as u64
    }

    fn fill(&self, piece: usize) -> Result<(Vec<Arc<Piece>>, u64), Error> {
        let states = self.table.states();
        let rows = &states.pieces()[piece];
        let parts = || self.parts(rows.rows.clone());
        let mut parts = match self.cache {
            Some(cache) => cache.pieces(states, (self.orienting, piece), parts)?,
            None => parts()?,
        };
        if let Some(part) = self.part {
            let is_in = |piece: &Piece, at: usize| part.has(&piece.batch.positions()[at].state);
            parts = parts.iter().map(|piece| Arc::new(piece.only(&is_in))).collect();
        }
        Ok((parts, rows.rows.len() as u64))
    }
}

impl JudgedPositions for TablePositions<'_> {
    fn facts(&self) -> Result<TableFacts, Error> {
        let facts = TableFacts::of_table(self.table)?;
        Ok(match self.part {
            Some(part) => TableFacts { source: "split", chosen: Some(part.words.clone()), ..facts },
            None => facts,
        })
    }

    fn sweeps(&self) -> &[SweepRecord] {
        let solution = self.table.table().manifest().solution.as_ref();
        solution.map_or(&[], |solution| &solution.sweeps)
    }

    fn forced(&self) -> Option<Box<dyn Source + '_>> {
        let is_bounded = !self.table.table().manifest().complete;
        is_bounded.then(|| Box::new(TablePositions { forced: true, cache: None, ..*self }) as _)
    }

    fn of_table(&self) -> Option<&TablePositions<'_>> {
        Some(self)
    }
}

impl TablePositions<'_> {
    /// Returns the judged positions of a range of rows.
    fn parts(&self, mut rows: Range<usize>) -> Result<Vec<Arc<Piece>>, Error> {
        let TablePositions { table, orienting, unfolded, .. } = *self;
        let (states, game, mut parts) = (table.states(), table.game(), Vec::new());
        Example::visit(table, &mut rows, &mut |row| {
            let judged = if self.forced { row.forced()? } else { row.judged()? };
            if let Some(judged) = judged {
                let found = unfolded.map(|unfolded| unfolded.orientations(row.row as usize));
                let orientations = found.or(row.orientations);
                let out = Piece::with_room(&mut parts);
                out.push_row(game, (row.position, judged), orientations, orienting);
            }
            Ok(())
        })
        .map_err(|what| Error::damaged(table.table().dir(), what))?;
        if unfolded.is_some() && !states.has_orientations() && !game.keeps_sides() {
            // To policies the first player is to move, as in the rows of such tables.
            let first = |position: &Position<AnyState>| Position { side: Side::First, ..*position };
            parts.iter_mut().for_each(|part| part.batch.replace(first));
        }
        Ok(parts.into_iter().map(Arc::new).collect())
    }
}
