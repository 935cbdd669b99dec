//! Positions of a list with their exact values: from the table that knows the position, or else from search.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::forced::{forced_case, look_ahead};
use super::piece::JudgedCase;
use super::{
    Case, JudgedPositions, Labels, LeftOut, Origin, Piece, PositionList, SearchCost, Source,
    TableFacts, Truth,
};
use crate::judge::error::MeasureError;
use yomikiri::any::{AnyGame, AnyPosition};
use yomikiri::game::{Action, Empties, Game, GameExt, Score};
use yomikiri::graph::StateKind;
use yomikiri::hint::Hinted;
use yomikiri::parallel;
use yomikiri::progress::Progress;
use yomikiri::solve::Value;
use yomikiri::solved::{Oracle, SolvedTable};
use yomikiri::table::{SweepRecord, TableError};

/// Knowledge of a position of a list.
#[derive(Clone)]
enum Known {
    /// Its exact values.
    Judged(Box<JudgedCase>),
    /// The game is over in it.
    Finished,
    /// The table contains it and does not prove it.
    Unproven,
    /// No table contains it.
    Nothing,
}

/// A list after its positions were looked up in a table, before the missing ones are searched.
pub struct LookedUp {
    list: PositionList,
    known: Vec<Known>,
    /// Moves of each position that a bounded table proves to win or lose, if not all; empty without such a table.
    forced: Vec<Option<JudgedCase>>,
    /// Facts of the table, and the sweeps that computed its values.
    table: Option<(TableFacts, Vec<SweepRecord>)>,
    empties: Empties,
}

impl LookedUp {
    /// Looks positions up in a table, if there is one. Fails if it is damaged.
    pub fn new(list: PositionList, table: Option<&SolvedTable>) -> Result<LookedUp, MeasureError> {
        let positions = &list.positions;
        let known = in_parts(positions, &|position| look_up(&list.game, table, position));
        let known = known.map_err(MeasureError::damaged)?;
        // Positions of other games are searched.
        let is_cyclic = list.game.layers().is_none();
        let bounded = table.filter(|table| is_cyclic && !table.table().manifest().complete);
        let forced = bounded.map_or(Ok(Vec::new()), |table| {
            let of = |position: &AnyPosition| {
                let row = table.states().find(position);
                let layer = |row| (row, table.states().layer_of(row));
                row.map_or(Ok(None), |row| {
                    forced_case(table, layer(row), position, || Ok(look_ahead(table, position)))
                })
            };
            in_parts(positions, &of).map_err(MeasureError::damaged)
        })?;
        let empties = table.and_then(|table| {
            let solution = table.table().manifest().solution.as_ref()?;
            let name = solution.empties.as_deref()?;
            [Empties::Uncounted, Empties::ToWinner].into_iter().find(|rule| rule.name() == name)
        });
        let facts = |table: &SolvedTable| {
            table.table().check_read()?;
            let solution = table.table().manifest().solution.as_ref();
            let sweeps = solution.map_or(Vec::new(), |solution| solution.sweeps.clone());
            Ok::<_, TableError>((TableFacts::of_table(table)?, sweeps))
        };
        let table = table.map(facts).transpose()?;
        Ok(LookedUp { list, known, forced, table, empties: empties.unwrap_or(Empties::Uncounted) })
    }

    /// Returns the positions that must be searched.
    fn to_search(&self) -> Vec<AnyPosition> {
        // Play that may go round in circles cannot be searched.
        if self.list.game.layers().is_none() {
            return Vec::new();
        }
        let is_open = |known: &Known| matches!(known, Known::Nothing | Known::Unproven);
        let both = self.known.iter().zip(self.list.positions());
        both.filter(|(known, _)| is_open(known)).map(|(_, position)| *position).collect()
    }

    /// Estimates the cost of the search; `None` if nothing must be searched.
    pub fn search_cost(&self) -> Option<SearchCost> {
        SearchCost::of(&self.list.game, &self.to_search())
    }

    /// Searches what no table knows, cheapest first, for at most `within`; values are read from and added to the
    /// labels in a directory. Fails if nothing is left to judge, or if a position is in no table and its game cannot be
    /// searched.
    pub fn searched(
        mut self,
        labels: &Path,
        within: Option<Duration>,
        progress: &dyn Progress,
    ) -> Result<ListedPositions, MeasureError> {
        let deadline = within.and_then(|within| Instant::now().checked_add(within));
        let to_search = self.to_search();
        let mut searched_states = 0;
        let mut left_out = LeftOut::default();
        if !to_search.is_empty() {
            let mut labels = Labels::open(labels, &self.list.game, self.empties)?;
            labels.find(&to_search, deadline, progress)?;
            for (known, (position, weight)) in self.known.iter_mut().zip(&self.list.positions) {
                if !matches!(known, Known::Nothing | Known::Unproven) {
                    continue;
                }
                match labels.moves(&position.state)? {
                    Some(moves) => {
                        *known = judged(&self.list.game, position, &moves);
                        searched_states += u64::from(*weight);
                    }
                    None => left_out.unsearched += u64::from(*weight),
                }
            }
        }
        let can_search = self.list.game.layers().is_some();
        let all = || self.list.positions.iter().enumerate();
        let mut parts = Vec::new();
        for (known, (number, &(position, weight))) in self.known.into_iter().zip(all()) {
            match known {
                Known::Judged(judged) => push((number, position, weight), *judged, &mut parts),
                Known::Finished => left_out.finished += u64::from(weight),
                Known::Unproven | Known::Nothing if can_search => {}
                Known::Unproven => left_out.unproven += u64::from(weight),
                Known::Nothing => {
                    let text = self.list.game.notation(&position);
                    let name = self.table.as_ref().map_or("a table", |(facts, _)| &facts.name);
                    let what = format!("{text} is not among the states of {name}");
                    return Err(MeasureError::Positions(Hinted::new(what, "leave it out")));
                }
            }
        }
        let mut forced = Vec::new();
        for (case, (number, &(position, weight))) in self.forced.into_iter().zip(all()) {
            if let Some(case) = case {
                push((number, position, weight), case, &mut forced);
            }
        }
        if parts.is_empty() && forced.is_empty() {
            let why = left_out.words().unwrap_or("there are none".to_string());
            let what = format!("no position can be judged: {why}");
            return Err(MeasureError::Positions(Hinted::new(
                what,
                "give positions with a move to make",
            )));
        }
        let game = self.list.game;
        Ok(ListedPositions {
            judged: Pieces::new(&game, parts),
            forced: Pieces::new(&game, forced),
            game,
            origin: self.list.origin,
            searched_states,
            left_out,
            table: self.table,
            empties: self.empties,
        })
    }
}

/// Maps positions in parallel.
fn in_parts<T: Clone + Send>(
    positions: &[(AnyPosition, u32)],
    of: &(dyn Fn(&AnyPosition) -> Result<T, String> + Sync),
) -> Result<Vec<T>, String> {
    let parts = parallel::try_map(positions.len().div_ceil(super::AT_ONCE), &|part| {
        let from = part * super::AT_ONCE;
        let part = &positions[from..positions.len().min(from + super::AT_ONCE)];
        part.iter().map(|(position, _)| of(position)).collect::<Result<Vec<T>, String>>()
    });
    Ok(parts?.concat())
}

/// Appends a position of a list with its number and weight.
fn push(
    (number, position, weight): (usize, AnyPosition, u32),
    mut judged: JudgedCase,
    parts: &mut Vec<Piece>,
) {
    (judged.case.row, judged.case.weight) = (number as u32, weight);
    Piece::with_room(parts).push_case(position, judged);
}

/// Looks a position up in a table. Fails if the table contradicts itself.
fn look_up(
    game: &AnyGame,
    table: Option<&SolvedTable>,
    position: &AnyPosition,
) -> Result<Known, String> {
    if game.is_terminal(&position.state) {
        return Ok(Known::Finished);
    }
    let row = table.and_then(|table| Some((table, table.states().find(position)?)));
    let Some((table, row)) = row else { return Ok(Known::Nothing) };
    let truth = |value| Truth::of(value, table.has_scores());
    if table.states().kind(row, &position.state) != StateKind::Interior {
        return Ok(Known::Unproven);
    }
    let moves = table.look_ahead(position).into_iter();
    let moves = moves.map(|(action, value)| Some((action, truth(value?)?)));
    let moves = moves.collect::<Option<Vec<(Action, Truth)>>>();
    let Some((own, moves)) = truth(table.value(row)).zip(moves) else { return Ok(Known::Unproven) };
    let (actions, truths): (Vec<Action>, Vec<Truth>) = moves.into_iter().unzip();
    let case = Case::of(row, table.states().layer_of(row), own, &truths)
        .ok_or_else(|| format!("value of row {row} contradicts those of its moves"))?;
    Ok(Known::Judged(Box::new(JudgedCase { case, actions, truths })))
}

/// Returns what labels say of a position: the scores of its moves, for the player who makes them.
fn judged(game: &AnyGame, position: &AnyPosition, moves: &[(Action, Score)]) -> Known {
    let scored = game.scores().is_some();
    let truth = |score| Truth::of(Value::of_scores(score, score, None), scored);
    let truths: Option<Vec<Truth>> = moves.iter().map(|(_, score)| truth(*score)).collect();
    let best = moves.iter().map(|(_, score)| *score).max();
    let layer = game.layers().map(|layers| layers.layer_of(&position.state));
    let case = best.and_then(truth).zip(truths).and_then(|(own, truths)| {
        let actions = moves.iter().map(|(action, _)| *action).collect();
        Some(Box::new(JudgedCase { case: Case::of(0, layer, own, &truths)?, actions, truths }))
    });
    case.map_or(Known::Finished, Known::Judged)
}

/// Pieces in memory.
struct Pieces {
    game: AnyGame,
    parts: Vec<Arc<Piece>>,
}

impl Pieces {
    fn new(game: &AnyGame, parts: Vec<Piece>) -> Pieces {
        Pieces { game: game.clone(), parts: parts.into_iter().map(Arc::new).collect() }
    }
}

impl Source for Pieces {
    fn game(&self) -> &AnyGame {
        &self.game
    }

    fn pieces(&self) -> usize {
        self.parts.len()
    }

    fn rows(&self) -> u64 {
        self.parts.iter().map(|part| part.cases.len() as u64).sum()
    }

    fn fill(&self, piece: usize) -> Result<(Vec<Arc<Piece>>, u64), String> {
        let part = &self.parts[piece];
        Ok((vec![part.clone()], part.cases.len() as u64))
    }
}

/// Positions of a list with the exact values of their moves.
pub struct ListedPositions {
    game: AnyGame,
    origin: Origin,
    judged: Pieces,
    /// Positions of a bounded table in which it proves only some moves.
    forced: Pieces,
    /// Number of positions, with repetitions, whose values were searched.
    searched_states: u64,
    left_out: LeftOut,
    table: Option<(TableFacts, Vec<SweepRecord>)>,
    empties: Empties,
}

impl ListedPositions {
    /// Returns the positions that are not judged.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }
}

impl Source for ListedPositions {
    fn game(&self) -> &AnyGame {
        &self.game
    }

    fn pieces(&self) -> usize {
        self.judged.pieces()
    }

    fn rows(&self) -> u64 {
        self.judged.rows()
    }

    fn fill(&self, piece: usize) -> Result<(Vec<Arc<Piece>>, u64), String> {
        self.judged.fill(piece)
    }
}

impl JudgedPositions for ListedPositions {
    fn facts(&self) -> Result<TableFacts, TableError> {
        let cases = self.judged.parts.iter().flat_map(|part| &part.cases);
        let judged: u64 = cases.map(|case| u64::from(case.weight)).sum();
        let is_known = self.searched_states == 0 || self.searched_states < judged;
        let by_table = self.table.as_ref().filter(|_| is_known);
        let mut facts = match by_table {
            Some((facts, _)) => facts.clone(),
            None => TableFacts::of_search(&self.game, self.empties, self.rows()),
        };
        if by_table.is_some() && self.searched_states > 0 {
            facts.values = "table and search";
        }
        facts.source = self.origin.source;
        facts.chosen = Some(self.origin.words.clone());
        facts.left_out = self.left_out;
        Ok(facts)
    }

    fn sweeps(&self) -> &[SweepRecord] {
        self.table.as_ref().map_or(&[], |(_, sweeps)| sweeps)
    }

    fn forced(&self) -> Option<Box<dyn Source + '_>> {
        let facts = self.table.as_ref().filter(|_| self.game.layers().is_none());
        let pieces = || Pieces { game: self.game.clone(), parts: self.forced.parts.clone() };
        facts.filter(|(facts, _)| !facts.complete).map(|_| Box::new(pieces()) as _)
    }

    fn is_sample(&self) -> bool {
        // Positions that were left out because they are costly bias what remains.
        self.origin.is_sample && self.left_out.unsearched == 0
    }
}
