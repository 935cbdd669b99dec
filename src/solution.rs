//! A solved game, asked by its own positions.

use std::marker::PhantomData;

use crate::error::Error;
use crate::oracle::{Oracle, SolvedTable};
use crate::progress::Silent;
use crate::rules::{Action, AnyPosition, Game, Position};
use crate::solve::Value;
use crate::table::Store;

/// Values of everything reachable from the start of a game, for the player to move. Positions that are images of each
/// other under the game's symmetries share one. If the table is damaged, every question fails.
///
/// ```
/// use yomikiri::games::othello::Othello;
/// use yomikiri::rules::Game;
/// use yomikiri::{solution::Solution, table::Store};
///
/// let dir = tempfile::tempdir()?;
/// let solution = Solution::of(Othello::new(4, 4, true), &Store::at(dir.path()))?;
/// let start = solution.game().start();
/// let best = solution.moves(&start)?.into_iter().map(|(_, value)| value.preference()).max();
/// assert_eq!(best, solution.value(&start)?.map(|value| value.preference()));
/// assert_eq!(solution.positions().count(), 12_351);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Solution<G> {
    table: SolvedTable,
    game: PhantomData<fn() -> G>,
}

impl<G: Game> Solution<G> {
    /// Opens the table of a game. Enumerates and solves the game in the store first, unless that is done.
    pub fn of(game: G, store: &Store) -> Result<Solution<G>, Error> {
        let table = SolvedTable::of_whole(game.into_rules(), store, &Silent)?;
        Ok(Solution { table, game: PhantomData })
    }

    /// Returns the game.
    pub fn game(&self) -> &G {
        self.table.game().typed().expect("the table was made of this game")
    }

    /// Returns the table, which has the same values by row.
    pub fn table(&self) -> &SolvedTable {
        &self.table
    }

    /// Returns the value of a position; `None` if it cannot be reached from the start.
    pub fn value(&self, position: &Position<G::State>) -> Result<Option<Value>, Error> {
        let packed = self.packed(position);
        self.sound(packed.and_then(|position| self.table.value_of(&position)))
    }

    /// Returns the legal moves, in ascending order, with their values for the player who makes them; none if the position
    /// cannot be reached or the game is over.
    pub fn moves(&self, position: &Position<G::State>) -> Result<Vec<(Action, Value)>, Error> {
        let moves = self.packed(position).map(|position| self.table.look_ahead(&position));
        let moves = moves.unwrap_or_default().into_iter();
        self.sound(moves.filter_map(|(action, value)| Some((action, value?))).collect())
    }

    /// Returns a line of best play, to the end of the game or until a position repeats; empty if the position cannot be
    /// reached.
    pub fn line(&self, position: &Position<G::State>) -> Result<Vec<Action>, Error> {
        let packed = self.packed(position);
        self.sound(packed.map_or(Vec::new(), |position| self.table.best_line(position).0))
    }

    /// Returns an iterator over all positions and their values, one for each set of images. The first player is to move
    /// in them, unless keys contain the side.
    pub fn positions(
        &self,
    ) -> impl Iterator<Item = Result<(Position<G::State>, Value), Error>> + '_ {
        let game = self.game();
        let position = move |row| {
            let AnyPosition { state, side } = self.table.states().position(row)?;
            let state = game.state(self.table.game().key(&state))?;
            Some((Position { state, side }, self.table.value(row)))
        };
        let damaged = |row| Error::damaged(self.table.table().dir(), format!("invalid row {row}"));
        (0..self.table.states().rows())
            .map(move |row| self.sound(position(row))?.ok_or_else(|| damaged(row)))
    }

    /// Returns what was read of the table, if that is sound.
    fn sound<T>(&self, read: T) -> Result<T, Error> {
        self.table.table().check_read().map(|()| read)
    }

    fn packed(&self, position: &Position<G::State>) -> Option<AnyPosition> {
        let state = self.table.game().state(self.game().key(&position.state))?;
        Some(AnyPosition { state, side: position.side })
    }
}
