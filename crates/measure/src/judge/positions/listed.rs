//! Positions of a list with their exact values: from the table that knows the position, or else from search.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::judged_positions::JudgedCase;
use super::{
    Example, JudgedPositions, KnownValues, LeftOut, Origin, Piece, PositionList, SearchCost,
    Source, TableFacts,
};
use yomikiri::error::{Error, Kind};
use yomikiri::oracle::SolvedTable;
use yomikiri::parallel;
use yomikiri::progress::Progress;
use yomikiri::rules::{AnyPosition, Empties, Rules, SearchLimits};
use yomikiri::search::can_search;
use yomikiri::table::SweepRecord;

/// A list after its positions were looked up in a table, before the missing ones are searched.
pub struct LookedUp<'a> {
    list: PositionList,
    values: KnownValues<'a>,
    /// Positions that must be searched.
    unknown: Vec<AnyPosition>,
    table: Option<&'a SolvedTable>,
}

impl<'a> LookedUp<'a> {
    /// Looks positions up in a table, if there is one. Others are searched, in games with cycles for wins within
    /// `win_plies` plies after a move. Fails if the table is damaged.
    pub fn new(
        list: PositionList,
        table: Option<&'a SolvedTable>,
        win_plies: u32,
    ) -> Result<LookedUp<'a>, Error> {
        let values = KnownValues::new(&*list.game, table, win_plies);
        let unknown = values.unknown(&mut list.positions());
        values.check()?;
        Ok(LookedUp { list, values, unknown, table })
    }

    /// Estimates the cost of the search; `None` if nothing must be searched.
    pub fn search_cost(&self) -> Option<SearchCost> {
        self.values.cost(&self.unknown)
    }

    /// Searches what no table knows, cheapest first, for at most `within`; values are read from and added to the
    /// labels in a directory. Fails if the table is damaged, if nothing is left to judge, or if a position is in no
    /// table and its game cannot be searched.
    pub fn searched(
        self,
        labels: &Path,
        within: Option<Duration>,
        progress: &dyn Progress,
    ) -> Result<ListedPositions, Error> {
        let LookedUp { list, mut values, unknown, table } = self;
        values.search(&unknown, labels, &SearchLimits::within(within), progress)?;
        let known = in_parts(&list.positions, &|position| values.of(position, true))?;
        let game = list.game;
        let is_whole = table.is_some_and(|table| table.table().manifest().complete);
        let is_layered = game.is_layered();
        let dir = table.map_or(labels, |table| table.table().dir());
        let damaged = |what: String| Error::damaged(dir, what);
        let (mut searched_states, mut left_out) = (0, LeftOut::default());
        let (mut parts, mut forced_parts) = (Vec::new(), Vec::new());
        for (number, (&(position, weight), known)) in list.positions.iter().zip(known).enumerate() {
            let judged = known.as_ref().map(Example::judged).transpose();
            let judged = judged.map_err(damaged)?.flatten();
            let times = u64::from(weight);
            match (&known, judged) {
                (_, Some(judged)) => {
                    let is_searched = known.as_ref().is_some_and(Example::is_searched);
                    searched_states += if is_searched { times } else { 0 };
                    push((number, position, weight), judged, &mut parts);
                }
                _ if game.is_terminal(&position.state) => left_out.finished += times,
                (Some(_), None) if !is_layered => left_out.unproven += times,
                _ if can_search(&*game) => left_out.unsearched += times,
                (Some(_), None) => left_out.unproven += times,
                (None, None) => {
                    let name = table.map_or("a table".to_string(), |table| table.table().name());
                    let text = game.notation(&position);
                    let what = format!("{text} is not among the states of {name}");
                    return Err(Error::new(what, "leave it out").of_kind(Kind::Position));
                }
            }
            let known = known.as_ref().filter(|_| !is_layered && !is_whole);
            let forced = known.map(Example::forced);
            if let Some(case) = forced.transpose().map_err(damaged)?.flatten() {
                searched_states += if known.is_some_and(Example::is_searched) { times } else { 0 };
                push((number, position, weight), case, &mut forced_parts);
            }
        }
        if parts.is_empty() && forced_parts.is_empty() {
            let why = left_out.words().unwrap_or("there are none".to_string());
            let what = format!("no position can be judged: {why}");
            let hint = "give positions with a move to make";
            return Err(Error::new(what, hint).of_kind(Kind::Position));
        }
        let facts = |table: &SolvedTable| {
            table.table().check_read()?;
            let solution = table.table().manifest().solution.as_ref();
            let sweeps = solution.map_or(Vec::new(), |solution| solution.sweeps.clone());
            Ok::<_, Error>((TableFacts::of_table(table)?, sweeps))
        };
        Ok(ListedPositions {
            judged: Pieces::new(&*game, parts),
            forced: Pieces::new(&*game, forced_parts),
            game,
            origin: list.origin,
            searched_states,
            left_out,
            table: table.map(facts).transpose()?,
            empties: values.empties(),
            win_plies: values.win_plies(),
        })
    }
}

/// Maps positions in parallel.
fn in_parts<T: Send>(
    positions: &[(AnyPosition, u32)],
    of: &(dyn Fn(&AnyPosition) -> Result<T, Error> + Sync),
) -> Result<Vec<T>, Error> {
    let parts = parallel::map_ranges(positions.len(), super::AT_ONCE, &|part| {
        positions[part].iter().map(|(position, _)| of(position)).collect::<Result<Vec<T>, _>>()
    });
    Ok(parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
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

/// Pieces in memory.
struct Pieces {
    game: Arc<dyn Rules>,
    parts: Vec<Arc<Piece>>,
}

impl Pieces {
    fn new(game: &dyn Rules, parts: Vec<Piece>) -> Pieces {
        Pieces { game: game.shared(), parts: parts.into_iter().map(Arc::new).collect() }
    }
}

impl Source for Pieces {
    fn game(&self) -> &dyn Rules {
        &*self.game
    }

    fn pieces(&self) -> usize {
        self.parts.len()
    }

    fn rows(&self) -> u64 {
        self.parts.iter().map(|part| part.cases.len() as u64).sum()
    }

    fn fill(&self, piece: usize) -> Result<(Vec<Arc<Piece>>, u64), Error> {
        let part = &self.parts[piece];
        Ok((vec![part.clone()], part.cases.len() as u64))
    }
}

/// Positions of a list with the exact values of their moves.
pub struct ListedPositions {
    game: Arc<dyn Rules>,
    origin: Origin,
    judged: Pieces,
    /// Positions in which only some moves are proven.
    forced: Pieces,
    /// Number of positions, with repetitions, whose values were searched.
    searched_states: u64,
    left_out: LeftOut,
    table: Option<(TableFacts, Vec<SweepRecord>)>,
    empties: Empties,
    win_plies: u32,
}

impl ListedPositions {
    /// Returns the positions that are not judged.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }
}

impl Source for ListedPositions {
    fn game(&self) -> &dyn Rules {
        &*self.game
    }

    fn pieces(&self) -> usize {
        self.judged.pieces()
    }

    fn rows(&self) -> u64 {
        self.judged.rows()
    }

    fn fill(&self, piece: usize) -> Result<(Vec<Arc<Piece>>, u64), Error> {
        self.judged.fill(piece)
    }
}

impl JudgedPositions for ListedPositions {
    fn facts(&self) -> Result<TableFacts, Error> {
        let parts = self.judged.parts.iter().chain(&self.forced.parts);
        let cases = parts.flat_map(|part| &part.cases);
        let judged: u64 = cases.map(|case| u64::from(case.weight)).sum();
        let is_known = self.searched_states == 0 || self.searched_states < judged;
        let by_table = self.table.as_ref().filter(|_| is_known);
        let mut facts = match by_table {
            Some((facts, _)) => facts.clone(),
            None => TableFacts::of_search(&*self.game, self.empties, self.win_plies, self.rows()),
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
        let is_whole = self.table.as_ref().is_some_and(|(facts, _)| facts.complete);
        let pieces = || Pieces { game: self.game.clone(), parts: self.forced.parts.clone() };
        (!self.game.is_layered() && !is_whole).then(|| Box::new(pieces()) as _)
    }

    fn is_sample(&self) -> bool {
        // Positions that were left out because they are costly bias what remains.
        self.origin.is_sample && self.left_out.unsearched == 0
    }
}
