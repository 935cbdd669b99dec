//! Knowledge of a position within the time asked: by a table, else by search, else by an estimate.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use yomikiri::error::Error;
use yomikiri::oracle::{
    Budget, Oracle, SearchOracle, SolvedTable, Sources, empty_squares, quick_squares,
};
use yomikiri::parallel::lock;
use yomikiri::rules::{
    Action, AnyPosition, Empties, EndReason, Outcome, PlayedGame, Rules, SearchLimits,
};
use yomikiri::search::MateByChecks;
use yomikiri::search::estimate::{self, Estimate, Wanted, estimate};
use yomikiri::solve::{Prospect, Value};
use yomikiri_measure::judge::Player;
use yomikiri_measure::policy::chance::{sample, seeded, unit};

/// Nodes of the first estimate, which takes about a millisecond.
const FIRST_LOOK: u64 = 2_000;
/// Longest time for the values that a level does not need for its move.
const LEVEL_TIME: Duration = Duration::from_millis(100);
/// Seconds that a position at the edge of what is searched quickly takes, and the factor of each square more.
const QUICK_SECONDS: f64 = 0.01;
const SQUARE_FACTOR: f64 = 2.2;
/// Squares of the largest board with a stored solution.
const STORED_BOARD: usize = 36;
/// Most free squares that are searched without a limit of time.
const MOST_SQUARES: u32 = 30;

/// Worth of a move to the player who makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Worth {
    /// Score, or outcome and distance, or the outcome alone; always with a known outcome.
    Proven(Value),
    /// Expectation of a search of a few plies.
    Estimated(estimate::Worth),
}

impl Worth {
    /// Returns a number by which moves are ordered.
    fn rank(self) -> i64 {
        let forced = |outcome: Outcome, plies: u32| {
            i64::from(outcome.value()) * ((1 << 40) - i64::from(plies))
        };
        match self {
            Worth::Estimated(worth) => match (worth.hundredths(), worth.forced()) {
                (Some(hundredths), _) => hundredths.into(),
                (None, Some((outcome, plies))) => forced(outcome, plies),
                (None, None) => 0,
            },
            Worth::Proven(value) => match (value.score(), value.outcome()) {
                (Some(score), _) if value.distance().is_none() => 100 * i64::from(score.0),
                (_, Some(outcome)) => forced(outcome, value.distance().unwrap_or(1 << 15).into()),
                (_, None) => 0,
            },
        }
    }
}

/// A move, the moves expected after it, and its worth.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub worth: Worth,
    /// Moves of both players; never empty.
    pub moves: Vec<Action>,
}

/// Source of what is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A table, by name.
    Table(String),
    /// The solution that is part of the program.
    Stored,
    /// A search to the end.
    Search,
    /// A search of a few plies.
    Estimate,
}

/// Knowledge of a position so far.
#[derive(Clone, Debug)]
pub(super) struct Thought {
    /// The best moves, best first.
    pub lines: Vec<Line>,
    /// Source of the lines.
    pub by: By,
    /// Plies of what is estimated.
    pub plies: u32,
    /// Positions that were searched.
    pub nodes: u64,
    pub time: Duration,
    /// Move that the level chooses; `None` for the best.
    pub choice: Option<Action>,
    /// Mate by checks, if that was asked for.
    pub mate: Option<MateByChecks>,
}

impl Thought {
    /// Returns the move to play.
    pub(super) fn action(&self) -> Option<Action> {
        self.choice.or(self.lines.first().map(|line| line.moves[0]))
    }

    /// Returns the line of the move to play; the level's move has one only if it is among those that are known.
    pub(super) fn line(&self) -> Option<&Line> {
        let action = self.action()?;
        self.lines.iter().find(|line| line.moves[0] == action)
    }
}

/// Question about a position.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub played: PlayedGame,
    /// Number of best moves that are wanted.
    pub moves: usize,
    /// Time to think; `None` for any.
    pub time: Option<Duration>,
    /// Most positions to search.
    pub nodes: Option<u64>,
    /// Most plies of an estimate.
    pub plies: Option<u32>,
    /// `true` if a move is wanted, which a level may choose, and not knowledge alone.
    pub plays: bool,
    /// `true` if a mate by checks is wanted and nothing else.
    pub mates: bool,
    /// `true` if the answer waits until it is asked for.
    pub holds: bool,
}

impl Question {
    /// Returns the question for the move of a position.
    pub(super) fn of_move(played: &PlayedGame, time: Option<Duration>) -> Question {
        Question {
            played: played.clone(),
            moves: 1,
            time,
            nodes: None,
            plies: None,
            plays: true,
            mates: false,
            holds: false,
        }
    }

    /// Returns the question for the values of all moves of a position.
    pub(super) fn of_values(played: &PlayedGame, time: Option<Duration>) -> Question {
        Question { moves: usize::MAX, plays: false, ..Question::of_move(played, time) }
    }
}

/// Sources of a game, and a level.
pub(crate) struct Engine {
    sources: Sources,
    level: Option<Player>,
    /// Held by the one who searches.
    turn: Mutex<()>,
}

impl Engine {
    /// Returns the engine that knows what the sources do; the player of a level chooses its moves.
    pub(crate) fn new(sources: Sources, level: Option<Player>) -> Engine {
        // A stored solution is unpacked when it is first asked, which takes a second that no move should lose.
        if let Some(search) = sources.search() {
            search.allow(Budget { time: None, nodes: Some(0) });
            search.value_of(&sources.game().start());
        }
        Engine { sources, level, turn: Mutex::default() }
    }

    pub(super) fn game(&self) -> &dyn Rules {
        self.sources.game()
    }

    /// Stops the search of the question that is thought about.
    pub(super) fn stop(&self) {
        self.sources.search().into_iter().for_each(SearchOracle::stop);
    }

    /// Thinks about a question until everything is known or a limit is reached; `report` receives whatever is new.
    pub(super) fn think(
        &self,
        question: &Question,
        stop: &AtomicBool,
        report: &mut dyn FnMut(Thought),
    ) -> Result<(), Error> {
        let began = Instant::now();
        let deadline = question.time.and_then(|time| began.checked_add(time));
        let (nodes, choice, plies) = (0, None, 0);
        let mut task = Task { engine: self, question, stop, began, deadline, nodes, choice, plies };
        task.run(report)
    }

    fn empties(&self) -> Empties {
        let table = self.sources.table().map(Oracle::empties);
        table.or(self.sources.search().map(Oracle::empties)).unwrap_or_default()
    }
}

/// One question in work.
struct Task<'a> {
    engine: &'a Engine,
    question: &'a Question,
    stop: &'a AtomicBool,
    began: Instant,
    deadline: Option<Instant>,
    nodes: u64,
    choice: Option<Action>,
    /// Plies of the deepest estimate that was reported.
    plies: u32,
}

impl Task<'_> {
    fn run(&mut self, report: &mut dyn FnMut(Thought)) -> Result<(), Error> {
        let position = *self.question.played.position();
        if self.engine.game().is_terminal(&position.state) {
            return Ok(());
        }
        if self.question.mates {
            let turn = lock(&self.engine.turn);
            report(self.mate(&position));
            drop(turn);
            return Ok(());
        }
        if let Some(table) = self.engine.sources.proving_table(&position) {
            let by = By::Table(table.table().name());
            let lines = shortened(lines_of(table, &position), self.question.moves);
            report(self.thought(lines.clone(), by.clone()));
            self.choose(&position)?;
            report(self.thought(self.continued(table, &position, lines), by));
            return table.check();
        }
        let mut known = self.known_moves(&position);
        self.estimate(&position, &known, Some(FIRST_LOOK), report);
        self.choose(&position)?;
        if self.is_forced(&position) {
            return Ok(());
        }
        if self.may_solve(&position) {
            let _turn = lock(&self.engine.turn);
            if !self.is_over() && self.solve(&position, &mut known, report) {
                return Ok(());
            }
        }
        self.estimate(&position, &known, None, report);
        Ok(())
    }

    /// Returns whether a limit is reached.
    fn is_over(&self) -> bool {
        self.limits().are_reached(self.nodes)
    }

    fn limits(&self) -> SearchLimits<'_> {
        let nodes = self.question.nodes;
        SearchLimits { nodes, deadline: self.deadline, stop: Some(self.stop) }
    }

    /// Returns what is left of the time.
    fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    fn thought(&self, lines: Vec<Line>, by: By) -> Thought {
        let Task { nodes, choice, plies, .. } = *self;
        Thought { lines, by, plies, nodes, time: self.began.elapsed(), choice, mate: None }
    }

    /// Returns whether there is only one move, which needs no thought where a move is wanted.
    fn is_forced(&self, position: &AnyPosition) -> bool {
        let is_wanted = self.question.plays && !self.question.holds;
        is_wanted && self.engine.game().actions(&position.state).len() == 1
    }

    /// Lets the level choose its move, after which little time is spent on values.
    fn choose(&mut self, position: &AnyPosition) -> Result<(), Error> {
        let Some(player) = self.engine.level.as_ref().filter(|_| self.question.plays) else {
            return Ok(());
        };
        let choice = player.choose(self.engine.game(), None, position)?;
        let ply = self.question.played.moves().len() as u64;
        let at = sample(&choice.probabilities, unit(&mut seeded(0, &[ply])));
        self.choice = choice.actions.get(at).copied();
        if !self.question.holds {
            let soon = Instant::now() + LEVEL_TIME;
            self.deadline = Some(self.deadline.map_or(soon, |deadline| deadline.min(soon)));
        }
        Ok(())
    }

    /// Returns the moves whose outcome a table proves although it does not prove the position's value.
    fn known_moves(&self, position: &AnyPosition) -> BTreeMap<Action, Value> {
        let tables = self.engine.sources.tables().iter();
        let moves = tables.flat_map(|table| table.look_ahead(position));
        let known = moves.filter_map(|(action, value)| Some((action, value?)));
        let known = known.filter(|(_, value)| value.outcome().is_some());
        known.chain(self.repetitions(position)).collect()
    }

    /// Returns the moves that end the game by repetition, with their values.
    fn repetitions(&self, position: &AnyPosition) -> Vec<(Action, Value)> {
        let (game, played) = (self.engine.game(), &self.question.played);
        if game.is_layered() {
            return Vec::new();
        }
        let ends = |action: Action| {
            let after = game.advance(position, action);
            // A position that has not been there repeats nothing.
            played.positions().find(|before| *before == after)?;
            let mut played = played.clone();
            played.play(game, action);
            let end = played.end(game).filter(|end| end.reason != EndReason::Position)?;
            Some((action, Value::exactly(Prospect::of_end(end.outcome, 0).before())))
        };
        game.actions(&position.state).into_iter().filter_map(ends).collect()
    }

    /// Reports estimates, deeper and deeper; of moves that are known, what is known.
    fn estimate(
        &mut self,
        position: &AnyPosition,
        known: &BTreeMap<Action, Value>,
        nodes: Option<u64>,
        report: &mut dyn FnMut(Thought),
    ) {
        let (is_first, shown) = (nodes.is_some(), self.plies);
        let left = self.question.nodes.map(|most| most.saturating_sub(self.nodes));
        let nodes = [nodes, left].into_iter().flatten().min();
        let limits = SearchLimits { nodes, deadline: self.deadline, stop: Some(self.stop) };
        let moves = if known.is_empty() { self.question.moves } else { usize::MAX };
        let plies = self.question.plies.unwrap_or(u32::MAX);
        let wanted = Wanted { moves, plies, empties: self.engine.empties() };
        let mut last = None;
        let mut each = |found: &Estimate| {
            let thought = self.estimated(found, known);
            match is_first {
                true => last = Some(thought),
                // A shallower one is less than what is known already.
                false if found.plies <= shown => {}
                false => report(thought),
            }
        };
        let game = self.engine.game();
        let found = estimate(game, position, &wanted, &limits, &mut each);
        last.into_iter().for_each(report);
        self.nodes += found.nodes;
        self.plies = self.plies.max(found.plies);
    }

    /// Returns an estimate with what is known in place of what is estimated.
    fn estimated(&self, found: &Estimate, known: &BTreeMap<Action, Value>) -> Thought {
        let line = |of: &estimate::EstimatedMove| match known.get(&of.line[0]) {
            Some(&value) => Line { worth: Worth::Proven(value), moves: vec![of.line[0]] },
            None => Line { worth: Worth::Estimated(of.worth), moves: of.line.clone() },
        };
        let mut lines: Vec<Line> = found.moves.iter().map(line).collect();
        lines.sort_by_key(|line| Reverse(line.worth.rank()));
        let lines = shortened(lines, self.question.moves);
        // One estimate among them makes all of them one: its source is named for all.
        let is_proven = lines.iter().all(|line| matches!(line.worth, Worth::Proven(_)));
        let by = if is_proven { By::Search } else { By::Estimate };
        let mut thought = self.thought(lines, by);
        thought.nodes += found.nodes;
        thought.plies = found.plies;
        thought
    }

    /// Returns whether a search usually reaches the end within the time.
    fn may_solve(&self, position: &AnyPosition) -> bool {
        let game = self.engine.game();
        if self.engine.sources.search().is_none() || self.is_over() {
            return false;
        }
        let Some(empty) = empty_squares(game, &position.state) else { return true };
        let (rows, columns) = game.shape();
        let more = match (self.left(), self.question.nodes) {
            _ if rows * columns <= STORED_BOARD => return true,
            (None, None) => return empty <= MOST_SQUARES,
            (Some(left), _) => left.as_secs_f64() / QUICK_SECONDS,
            (None, Some(nodes)) => nodes as f64 / 100_000.0,
        };
        let more = more.max(1.0).log(SQUARE_FACTOR) as u32;
        empty <= quick_squares(game) + more
    }

    /// Searches to the end in half of what is left; returns whether it proves all that is wanted. Moves with a known
    /// outcome are added to `known`.
    fn solve(
        &mut self,
        position: &AnyPosition,
        known: &mut BTreeMap<Action, Value>,
        report: &mut dyn FnMut(Thought),
    ) -> bool {
        let Some(search) = self.engine.sources.search() else { return false };
        search.restart();
        self.allow(search, 2);
        let game = self.engine.game();
        let mut lines = Vec::new();
        if self.question.moves > 1 {
            let moves = search.look_ahead(position);
            for (action, value) in moves {
                if let Some(value) = value.filter(|value| value.outcome().is_some()) {
                    known.insert(action, value);
                    lines.push(Line { worth: Worth::Proven(value), moves: vec![action] });
                }
            }
            lines.sort_by_key(|line| Reverse(line.worth.rank()));
        } else if let Some(value) = search.value_of(position) {
            let is_proven = search.is_proven(value) || value.outcome() == Some(Outcome::Win);
            let best = is_proven.then(|| search.best_move(position, value)).flatten();
            if let Some(action) = best {
                known.insert(action, value);
                lines.push(Line { worth: Worth::Proven(value), moves: vec![action] });
            }
        }
        self.nodes += search.spent().0;
        let wanted = self.question.moves.min(game.actions(&position.state).len());
        if lines.len() < wanted {
            return false;
        }
        let by = if search.was_stored() { By::Stored } else { By::Search };
        report(self.thought(shortened(lines.clone(), self.question.moves), by.clone()));
        // Searched positions stay known, so that the lines cost little more.
        self.allow(search, 1);
        for line in lines.iter_mut().take(self.question.moves) {
            let after = game.advance(position, line.moves[0]);
            line.moves.extend(search.best_line(after).0);
        }
        self.nodes += search.spent().0;
        report(self.thought(shortened(lines, self.question.moves), by));
        true
    }

    /// Gives the search a part of what is left.
    fn allow(&self, search: &SearchOracle, parts: u32) {
        let time = self.left().map(|left| left / parts);
        let nodes = self.question.nodes;
        let nodes = nodes.map(|most| most.saturating_sub(self.nodes) / u64::from(parts));
        search.allow(Budget { time, nodes });
        // It may have been stopped before.
        if self.stop.load(Ordering::SeqCst) {
            search.stop();
        }
    }

    /// Looks for a mate by checks alone.
    fn mate(&mut self, position: &AnyPosition) -> Thought {
        let mut mate = None;
        if let Some(search) = self.engine.sources.search() {
            search.restart();
            self.allow(search, 1);
            search.value_of(position);
            mate = search.mate(position);
            self.nodes += search.spent().0;
        }
        Thought { mate, ..self.thought(Vec::new(), By::Search) }
    }

    /// Returns the lines of a table with the moves expected after them.
    fn continued(
        &self,
        table: &SolvedTable,
        position: &AnyPosition,
        mut lines: Vec<Line>,
    ) -> Vec<Line> {
        for line in &mut lines {
            let after = self.engine.game().advance(position, line.moves[0]);
            line.moves.extend(table.best_line(after).0);
        }
        lines
    }
}

/// Returns the moves of a position whose value a table knows, best first.
fn lines_of(table: &SolvedTable, position: &AnyPosition) -> Vec<Line> {
    let moves = table.best_first(position).into_iter();
    let known = moves.filter_map(|(action, value)| Some((action, value?)));
    let known = known.filter(|(_, value)| value.outcome().is_some());
    known.map(|(action, value)| Line { worth: Worth::Proven(value), moves: vec![action] }).collect()
}

fn shortened(mut lines: Vec<Line>, most: usize) -> Vec<Line> {
    lines.truncate(most);
    lines
}
