//! Measurement of policies: reports, comparisons, matches, and single answers.

use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use yomikiri::error::Error;
use yomikiri::oracle::{Budget, Oracle, Orienting, SearchOracle, SolvedTable, WantedValues};
use yomikiri::progress::Progress;
use yomikiri::rules::{
    AnyPosition, Claim, Divider, Rules, SearchLimits, SearchOptions, Split, WIN_PLIES,
};
use yomikiri::search::{can_search, usual_memory};
use yomikiri::solve::Value;
use yomikiri::table::fits_memory;
use yomikiri_measure::free_memory;
use yomikiri_measure::judge::{
    self, AccuracyReport, Baseline, JudgedPart, JudgedPositions, Judgement, KnownValues, LookedUp,
    Match, MeasureCache, Origin, Piece, Player, PositionList, Request, Review, ReviewOptions,
    RowSink, TablePositions, games_bytes, judgements, playable, unfolded_bytes,
};
use yomikiri_measure::policy::{Answers, Batch, TrainedOn, TrainedSpec};
use yomikiri_measure::records::{Place, Record};
use yomikiri_measure::render::{
    About, accuracy_text, comparison_html, comparison_text, html, markdown, match_text,
    mistakes_html, policy_named, ranking_html, summary,
};
use yomikiri_measure::render::{Compared, no_room};
use yomikiri_measure::render::{ReviewParts, review_html, review_rows, review_text};

use crate::errors::{
    YomikiriError, measure_error, policy_error, position_error, table_error, value_error,
    yomikiri_error,
};
use crate::games::{Game, PlayedGame, Positions};
use crate::policies::{Asks, Given, HeldPolicy, Raised, hold, hold_one, is_search, named, players};
use crate::tables::{Table, tables_of};
use crate::work::{Call, detached, lock, released, run};

/// Returns the split of this name. Fails if it is unknown.
fn part(split: Option<&str>) -> PyResult<Option<Split>> {
    let Some(name) = split else { return Ok(None) };
    let found = Split::ALL.into_iter().find(|split| split.name() == name);
    found.map(Some).ok_or_else(|| {
        value_error(format!("invalid split `{name}`: expected train, validation, test"))
    })
}

/// Parses the training data declared for external policies.
fn trained(text: Option<&str>) -> PyResult<Option<TrainedSpec>> {
    let wrong =
        |text: &str, known| value_error(format!("invalid trained `{text}`: expected {known}"));
    text.map(|text| text.parse().map_err(|known: String| wrong(text, known))).transpose()
}

/// Sets the training data of the external players. Fails if that of every player is known.
fn with_training(players: Vec<Player>, trained: Option<TrainedSpec>) -> PyResult<Vec<Player>> {
    let Some(trained) = trained else { return Ok(players) };
    if players.iter().all(|player| player.learned_from() != TrainedOn::Unknown) {
        let what = "trained does not apply: the training positions of these policies are known";
        return Err(value_error(what));
    }
    Ok(players.into_iter().map(|player| player.with_training(trained)).collect())
}

/// A report, rendered in the requested form.
#[pyclass(frozen, module = "yomikiri._core")]
pub struct Report {
    report: AccuracyReport,
    checksum: String,
    mistakes: usize,
    /// Answers position by position, if they are kept.
    answered: Option<Answered>,
}

/// Answers of all policies position by position.
struct Answered {
    game: Arc<dyn Rules>,
    names: Vec<String>,
    dividers: Vec<Option<Divider>>,
    pieces: Vec<(Piece, Vec<Answers>)>,
}

impl Answered {
    fn of(game: &dyn Rules, players: &[Player]) -> Answered {
        Answered {
            game: game.shared(),
            names: players.iter().map(Player::name).collect(),
            dividers: players.iter().map(|player| player.divider(game)).collect(),
            pieces: Vec::new(),
        }
    }

    fn add(&mut self, piece: &Piece, answers: &[Answers]) {
        self.pieces.push((piece.clone(), answers.to_vec()));
    }

    fn judgements(&self) -> Vec<Judgement> {
        let mut all = Vec::new();
        for (at, (name, divider)) in self.names.iter().zip(&self.dividers).enumerate() {
            for (piece, answers) in &self.pieces {
                let divider = divider.as_ref();
                all.extend(judgements(&*self.game, name, divider, piece, &answers[at]));
            }
        }
        all
    }
}

#[pymethods]
impl Report {
    /// Returns what `solver report --parquet` writes, as a JSON list of rows; `None` if it was not kept.
    fn judgements(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let Some(answered) = &self.answered else { return Ok(None) };
        let text = released(py, || serde_json::to_string(&answered.judgements()))?;
        text.map(Some).map_err(|error| value_error(error.to_string()))
    }

    fn markdown(&self, command: &str) -> String {
        markdown(&self.report, command)
    }

    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.report).map_err(|error| value_error(error.to_string()))
    }

    fn metrics(&self) -> PyResult<String> {
        serde_json::to_string(&self.report.metrics).map_err(|error| value_error(error.to_string()))
    }

    /// Returns the table of policies as HTML, for notebooks.
    fn ranking_html(&self) -> String {
        ranking_html(&self.report)
    }

    /// Returns the costliest mistakes of a policy as HTML, for notebooks.
    fn mistakes_html(&self, at: usize) -> Vec<String> {
        mistakes_html(&self.report, at)
    }

    fn order(&self) -> Vec<usize> {
        self.report.ranking()
    }

    fn text(&self, full: bool) -> String {
        match full {
            true => accuracy_text(&self.report, &[], self.mistakes),
            false => summary(&self.report, &[], 0),
        }
    }

    /// Returns the page; `against` is the name and the JSON of an earlier report.
    fn html(
        &self,
        command: String,
        date: String,
        highlight: Option<&str>,
        against: Option<(String, String)>,
    ) -> PyResult<String> {
        let wrong = |why: Error| value_error(why.line());
        let mut report = self.report.clone();
        if let Some((name, text)) = against {
            let changes = Baseline::read(&text).and_then(|earlier| earlier.changes(&report, name));
            report.changes = Some(changes.map_err(wrong)?);
        }
        let highlight = highlight.map(|name| policy_named(&report, name));
        let highlight = highlight.transpose().map_err(wrong)?;
        let checksum = self.checksum.clone();
        let about = About { command, date, checksum, highlight, ..About::default() };
        Ok(html(&report, &about))
    }
}

/// Positions to measure in: those of a table, or a list.
struct Chosen {
    game: Arc<dyn Rules>,
    table: Option<Arc<SolvedTable>>,
    cache: Option<Arc<MeasureCache>>,
    /// Positions of a list, and the description of a sample.
    list: Option<(Vec<AnyPosition>, Option<String>)>,
    split: Option<Split>,
    /// Directory of tables, for networks and labels.
    tables: PathBuf,
}

impl Chosen {
    /// Fails if positions are of another game, or of a game that cannot be searched and not in the table.
    fn new(
        table: Option<&Table>,
        positions: Option<&Positions>,
        drawn: Option<String>,
        split: Option<&str>,
        tables: PathBuf,
    ) -> PyResult<Chosen> {
        let game = match (table, positions) {
            (Some(table), _) => table.table.game(),
            (None, Some(positions)) => &*positions.game,
            (None, None) => return Err(value_error("neither a table nor positions")),
        };
        if let Some(given) = positions.filter(|given| given.game.name() != game.name()) {
            let (given, here) = (given.game.name(), game.name());
            return Err(value_error(format!("positions of {given} are not of {here}")));
        }
        let is_whole = |table: &Table| table.table.table().manifest().complete;
        if let (Some(table), Some(positions)) = (table, positions)
            && !game.is_layered()
            && (is_whole(table) || !can_search(game))
        {
            let find = |position: &AnyPosition| table.table.states().find(position);
            let missing = positions.all.iter().position(|position| find(position).is_none());
            sound(Some(&table.table))?;
            if let Some(at) = missing {
                let (name, text) = (table.table.table().name(), game.notation(&positions.all[at]));
                return Err(position_error(format!(
                    "positions: row {at}: '{text}' is not among the states of {name}"
                )));
            }
        }
        Ok(Chosen {
            game: game.shared(),
            table: table.map(|table| table.table.clone()),
            cache: table.map(|table| table.cache.clone()),
            list: positions.map(|positions| (positions.all.to_vec(), drawn)),
            split: part(split)?,
            tables: table.map_or(tables, tables_of),
        })
    }

    /// Passes the judged positions on, whose values are searched if no table contains them.
    fn with<T>(
        self,
        players: &[Player],
        orienting: Orienting,
        progress: &dyn Progress,
        run: impl FnOnce(&dyn JudgedPositions) -> PyResult<T>,
    ) -> PyResult<T> {
        let part = self.split.map(|split| JudgedPart::new(split, players, &*self.game)).transpose();
        let part = part.map_err(|wrong| value_error(format!("split: {}", wrong.line())))?;
        match (self.list, &self.table) {
            (None, Some(table)) => {
                let rows = TablePositions::new(table, orienting).in_part(part.as_ref());
                run(&rows.cached_in(self.cache.as_deref()))
            }
            (None, None) => Err(value_error("neither a table nor positions")),
            (Some((positions, drawn)), table) => {
                let words = format!("{} that were given", positions.len());
                let origin = Origin {
                    source: if drawn.is_some() { "sample" } else { "given" },
                    is_sample: drawn.is_some(),
                    words: drawn.unwrap_or(words),
                    remark: None,
                };
                let list = PositionList::new(&*self.game, positions, origin);
                let list = match &part {
                    Some(part) => list.in_part(part),
                    None => list,
                };
                let looked_up =
                    LookedUp::new(list, table.as_deref(), WIN_PLIES).map_err(measure_error)?;
                let listed = looked_up.searched(&self.tables.join("labels"), None, progress);
                run(&listed.map_err(measure_error)?)
            }
        }
    }
}

/// Measures policies on a table, or in positions; keeps their answers if `keeps`. `drawn` describes a sample.
#[pyfunction]
#[pyo3(signature = (table, positions, drawn, tables, policies, canonical, games, mistakes, split, trained, keeps, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    table: Option<&Table>,
    positions: Option<&Positions>,
    drawn: Option<String>,
    tables: PathBuf,
    policies: Vec<Given<'py>>,
    canonical: bool,
    games: bool,
    mistakes: usize,
    split: Option<&str>,
    trained: Option<&str>,
    keeps: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Report> {
    if canonical && positions.is_some() {
        return Err(value_error("canonical is for all positions of a table"));
    }
    let chosen = Chosen::new(table, positions, drawn, split, tables)?;
    let (held, trained) = (hold(&*chosen.game, policies)?, self::trained(trained)?);
    let all = !canonical && split.is_none() && positions.is_none();
    let games = match table.filter(|table| games && all && playable(&table.table).is_ok()) {
        Some(table) => games_fit(py, &table.table, held.len())?,
        None => false,
    };
    let orienting = if canonical { Orienting::First } else { Orienting::All };
    let (mut report, answered): (AccuracyReport, _) = run(py, progress, move |state, asks| {
        let game = chosen.game.clone();
        let players = players(held, &*game, &chosen.tables, (state, &asks))?;
        let players = with_training(players, trained)?;
        let mut answered = keeps.then(|| Answered::of(&*game, &players));
        let report = chosen.with(&players, orienting, &**state, |positions| {
            let agreement = players.len() > 1;
            let request = Request { positions, players: &players, games, mistakes, agreement };
            let mut keep = |piece: &Piece, answers: &[Answers]| {
                answered.iter_mut().for_each(|answered| answered.add(piece, answers));
                Ok(())
            };
            let sink: Option<&mut RowSink<'_>> = if keeps { Some(&mut keep) } else { None };
            request.report(sink, &**state).map_err(measure_error)
        });
        Ok((report?, answered))
    })?;
    // The page is the same when it is rendered again.
    report.seconds.clear();
    let checksum = table.map(|table| table.table.table().manifest().checksum.clone());
    Ok(Report { report, checksum: checksum.unwrap_or_default(), mistakes, answered })
}

/// Returns the mover's scores of positions, `(N,)`, and of their actions, `(N, actions)`, NaN where illegal;
/// found by search. NaN too where nothing is proven.
#[pyfunction]
#[pyo3(signature = (positions, tables, plies, progress))]
#[allow(clippy::type_complexity)]
pub(crate) fn solve_positions<'py>(
    py: Python<'py>,
    positions: &Positions,
    tables: PathBuf,
    plies: u32,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyArray1<f32>>, Bound<'py, PyArray2<f32>>)> {
    let (game, all) = (positions.game.clone(), positions.all.clone());
    let (count, width) = (all.len(), game.action_count());
    let (scores, q) = run(py, progress, move |state, _| {
        let mut values = KnownValues::new(&*game, None, plies);
        let unknown = values.unknown(&mut all.iter());
        let labels = tables.join("labels");
        values
            .search(&unknown, &labels, &SearchLimits::default(), &**state)
            .map_err(measure_error)?;
        let (mut scores, mut q) = (vec![f32::NAN; count], vec![f32::NAN; count * width]);
        for ((position, score), q) in all.iter().zip(&mut scores).zip(q.chunks_exact_mut(width)) {
            let Some(known) = values.of(position, true).map_err(measure_error)? else { continue };
            let score_of = |value: Value| value.score().map_or(f32::NAN, |score| score.0.into());
            known
                .moves
                .iter()
                .for_each(|(action, value)| q[usize::from(action.0)] = score_of(*value));
            *score = score_of(known.value);
        }
        Ok((scores, q))
    })?;
    Ok((scores.into_pyarray(py), q.into_pyarray(py).reshape([count, width])?))
}

/// Returns what a search of at most `seconds` proves of the first position, as the JSON of an answer.
#[pyfunction]
#[pyo3(signature = (positions, plies, seconds, all_moves))]
pub(crate) fn solve_position(
    py: Python<'_>,
    positions: &Positions,
    plies: u32,
    seconds: f64,
    all_moves: bool,
) -> PyResult<String> {
    let (game, position) = (positions.game.clone(), positions.all[0]);
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
    let time = time
        .ok_or_else(|| value_error(format!("invalid seconds {seconds}: expected more than 0")))?;
    let mut options = SearchOptions { win_plies: plies, ..SearchOptions::default() };
    options.memory = usual_memory(&*game, options.memory);
    let budget = Budget { time: Some(time), nodes: None };
    let wanted = WantedValues { outcome_only: false, all_moves };
    run(py, None, move |_, _| {
        let oracle = SearchOracle::new(game.clone(), &options, budget, wanted);
        let oracle =
            oracle.ok_or_else(|| value_error(format!("{} cannot be searched", game.name())))?;
        let answer = oracle.answer(position).map_err(|error| yomikiri_error(&error))?;
        serde_json::to_string(&answer).map_err(|error| value_error(error.to_string()))
    })
}

/// Checks that the games between `policies` policies fit in memory; warns if not.
fn games_fit(py: Python<'_>, table: &SolvedTable, policies: usize) -> PyResult<bool> {
    let manifest = table.table().manifest();
    let Err(room) = fits_memory(games_bytes(manifest, policies), free_memory()) else {
        return Ok(true);
    };
    let what = format!("{}: games are left out, because they need", table.table().name());
    let category = py.get_type::<PyRuntimeWarning>();
    PyErr::warn(py, &category, &CString::new(no_room(&what, &room))?, 2)?;
    Ok(false)
}

/// Compares two policies position by position; returns JSON, text, and HTML for notebooks.
#[pyfunction]
#[pyo3(signature = (table, positions, drawn, tables, first, second, split, trained, worst, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    table: Option<&Table>,
    positions: Option<&Positions>,
    drawn: Option<String>,
    tables: PathBuf,
    first: Given<'py>,
    second: Given<'py>,
    split: Option<&str>,
    trained: Option<&str>,
    worst: usize,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(String, String, String)> {
    let chosen = Chosen::new(table, positions, drawn, split, tables)?;
    let (held, trained) = (hold(&*chosen.game, vec![first, second])?, self::trained(trained)?);
    let (comparison, report) = run(py, progress, move |state, asks| {
        let players = players(held, &*chosen.game, &chosen.tables, (state, &asks))?;
        let players = with_training(players, trained)?;
        let names = [players[0].name(), players[1].name()];
        chosen.with(&players, Orienting::All, &**state, |positions| {
            let names = names.each_ref().map(String::as_str);
            judge::compare(positions, &players, names, worst, &**state).map_err(measure_error)
        })
    })?;
    let AccuracyReport { table, words, board, .. } = report;
    let compared = Compared { table, seeds: &[], words, comparison };
    Ok((
        serde_json::to_string(&compared).map_err(|error| value_error(error.to_string()))?,
        comparison_text(&compared),
        comparison_html(&compared, &board),
    ))
}

/// Game with its players and its result.
type GivenGame<'py> = (PyRef<'py, PlayedGame>, [Option<String>; 2], Option<String>);

/// Reviews games; returns JSON, text, a page, and CSV.
#[pyfunction]
#[pyo3(signature = (game, table, games, tables, time, worst, day, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn review(
    py: Python<'_>,
    game: &Game,
    table: Option<&Table>,
    games: Vec<GivenGame<'_>>,
    tables: PathBuf,
    time: f64,
    worst: usize,
    day: String,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String, String, String)> {
    let time = Duration::try_from_secs_f64(time)
        .map_err(|_| value_error(format!("invalid time {time}: expected 0 or more seconds")))?;
    let (game, table) = (game.game.clone(), table.map(|table| table.table.clone()));
    if let Some(table) = table.as_ref().filter(|table| table.game().name() != game.name()) {
        let what =
            format!("the games are of {}, the table of {}", game.name(), table.game().name());
        return Err(value_error(what));
    }
    if table.is_none() && !can_search(&*game) {
        let what = format!("{} cannot be searched: give its table, from ym.solve", game.name());
        return Err(value_error(what));
    }
    let record = |(index, (played, players, result)): (usize, GivenGame<'_>)| Record {
        place: Place::Game(index + 1),
        played: played.played.clone(),
        players,
        claim: result.as_deref().and_then(Claim::read),
    };
    let records: Vec<Record> = games.into_iter().enumerate().map(record).collect();
    let checksum = table.as_ref().map(|table| table.table().manifest().checksum.clone());
    let review = run(py, progress, move |state, _| {
        let labels = tables.join("labels");
        let options = ReviewOptions {
            labels: &labels,
            time: Some(time),
            win_plies: WIN_PLIES,
            worst,
            lines: true,
            stop: state.flag(),
        };
        let table = table.as_deref();
        Review::of(&records, &*game, table, &options, &**state).map_err(measure_error)
    })?;
    let about = About {
        command: "yomikiri.review".to_string(),
        date: day,
        checksum: checksum.unwrap_or_default(),
        ..About::default()
    };
    Ok((
        serde_json::to_string(&review).map_err(|error| value_error(error.to_string()))?,
        review_text(&review, ReviewParts::default()),
        review_html(&review, "games", &about),
        review_rows(&review).map_err(|error| value_error(error.line()))?,
    ))
}

/// Computes the games between two policies exactly; returns JSON and text.
#[pyfunction]
#[pyo3(signature = (table, first, second, openings, progress))]
pub(crate) fn play_match<'py>(
    py: Python<'py>,
    table: &Table,
    first: Given<'py>,
    second: Given<'py>,
    openings: u32,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(String, String)> {
    let (solved, tables) = (table.table.clone(), tables_of(table));
    let held = hold(solved.game(), vec![first, second])?;
    let bytes = unfolded_bytes(solved.table().manifest(), held.len());
    fits_memory(bytes, free_memory()).map_err(|room| {
        let what = format!("games on {} need", solved.table().name());
        YomikiriError::new_err(format!("{}; choose a smaller table", no_room(&what, &room)))
    })?;
    let result: Match = run(py, progress, move |state, asks| {
        let players = players(held, solved.game(), &tables, (state, &asks))?;
        Match::of(&solved, &players, openings, &**state).map_err(measure_error)
    })?;
    Ok((
        serde_json::to_string(&result).map_err(|error| value_error(error.to_string()))?,
        match_text(&result),
    ))
}

/// One number per position.
type Numbers<'py> = Bound<'py, PyArray1<f64>>;

/// A policy that answers in any position.
#[pyclass(frozen, module = "yomikiri._core")]
pub struct Asked {
    /// Exception of a callable, which runs on the asking thread.
    raised: Option<Arc<Raised>>,
    /// `true` if it may think long.
    is_slow: bool,
    asked: Arc<AskedPlayer>,
}

struct AskedPlayer {
    player: Player,
    game: Arc<dyn Rules>,
    table: Option<Arc<SolvedTable>>,
}

/// Fails if what was read of a table is damaged.
fn sound(table: Option<&SolvedTable>) -> PyResult<()> {
    let read = table.map_or(Ok(()), |table| table.table().check_read());
    read.map_err(|error| table_error(error.line()))
}

#[pymethods]
impl Asked {
    #[new]
    #[pyo3(signature = (game, policy, table, tables))]
    fn new(
        game: &Game,
        policy: Given<'_>,
        table: Option<&Table>,
        tables: PathBuf,
    ) -> PyResult<Asked> {
        let game = game.game.clone();
        let table = table.map(|table| table.table.clone());
        let (player, raised, is_slow) = match hold_one(&*game, policy)? {
            HeldPolicy::Named(spec) | HeldPolicy::Renamed(_, spec) => {
                (named(&spec, &*game, &tables)?, None, is_search(&spec))
            }
            HeldPolicy::Asked(asking) => {
                let raised = Arc::<Raised>::default();
                (asking.player(Asks::Here(raised.clone())), Some(raised), false)
            }
        };
        if matches!(player, Player::Perfect) && table.is_none() {
            return Err(value_error("policy 'perfect' needs a solved table"));
        }
        Ok(Asked { raised, is_slow, asked: Arc::new(AskedPlayer { player, game, table }) })
    }

    /// Returns the probabilities of all actions, `(N, actions)`, and the expected outcomes if the policy has
    /// them. Fails where a game is over.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        positions: &Positions,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Option<Numbers<'py>>)> {
        let (asked, all) = (self.asked.clone(), positions.all.clone());
        let count = asked.game.action_count();
        let (out, values) = match &self.raised {
            None if self.is_slow => run(py, None, move |_, _| asked.answer(&all)),
            None => detached(py, || asked.answer(&all)),
            Some(raised) => {
                let _call = Call::begin()?;
                asked.answer(&all).map_err(|error| lock(raised).take().unwrap_or(error))
            }
        }?;
        let out = out.into_pyarray(py).reshape([positions.all.len(), count])?;
        Ok((out, (!values.is_empty()).then(|| values.into_pyarray(py))))
    }
}

impl AskedPlayer {
    /// Returns the probabilities of all actions of all positions, and the expected outcomes.
    fn answer(&self, positions: &[AnyPosition]) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let count = self.game.action_count();
        let mut batch = Batch::default();
        for (row, position) in positions.iter().enumerate() {
            let actions = self.game.actions(&position.state);
            if actions.is_empty() {
                return Err(position_error(format!("row {row}: the game is over")));
            }
            batch.push(*position, actions);
        }
        let answers = match self.player.policy() {
            Some(policy) => {
                let answers = policy.answer(&*self.game, &batch);
                let checked = answers.and_then(|answers| answers.check(&batch).map(|()| answers));
                checked.map_err(|error| policy_error(&error))?
            }
            None => {
                let mut answers = Answers::default();
                for (row, position) in positions.iter().enumerate() {
                    let table = self.table.as_deref();
                    let choice =
                        self.player.choose(&*self.game, table.map(|table| table as _), position);
                    let choice = choice.map_err(|_| {
                        let name = self.game.notation(position);
                        let what = "is not in the table";
                        position_error(format!("row {row}: the best move of '{name}' {what}"))
                    })?;
                    answers.probabilities.extend(choice.probabilities);
                }
                sound(self.table.as_deref())?;
                answers
            }
        };
        let mut out = vec![0.0; count * batch.len()];
        for at in 0..batch.len() {
            for place in batch.range(at) {
                let action = usize::from(batch.actions()[place].0);
                out[at * count + action] = answers.probabilities[place];
            }
        }
        Ok((out, answers.values))
    }
}
