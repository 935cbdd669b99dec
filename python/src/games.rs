//! Games and positions.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, PyReadonlyArray1,
    PyReadonlyArray2, PyReadonlyArray4,
};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use yomikiri::error::Error;
use yomikiri::games::listed::{GOES_ON, Listed, Listing};
use yomikiri::oracle::empty_squares;
use yomikiri::progress::{Progress, Silent};
use yomikiri::rules::encode::{Encoding, Layout, Plane, Squares};
use yomikiri::rules::forms::Form;
use yomikiri::rules::{
    self as rules, Action, AnyPosition, Claim, Empties, Game as _, Outcome, Position, Rules, Side,
    Symmetry, write_game,
};
use yomikiri_measure::judge::{PositionList, SampleOf, from_random_games};
use yomikiri_measure::records::Records;
use yomikiri_measure::render::position_html;

use crate::errors::{position_error, value_error};
use crate::work::{detached, released, run};

/// The rules of a game.
#[pyclass(frozen, module = "yomikiri._core")]
pub struct Game {
    pub game: Arc<dyn Rules>,
}

/// Place of a game in its file, its players, its result, what contradicts that, and its moves.
type ReadGame = (String, [Option<String>; 2], Option<String>, Option<String>, PlayedGame);

fn form_named(name: &str) -> PyResult<Form> {
    Form::of_name(name).ok_or_else(|| {
        let names = Form::ALL.map(Form::name).join(", ");
        value_error(format!("invalid format {name:?}: expected one of {names}"))
    })
}

/// Positions of one game, each with its side to move.
#[pyclass(frozen, module = "yomikiri._core")]
pub struct Positions {
    pub game: Arc<dyn Rules>,
    pub all: Arc<Vec<AnyPosition>>,
}

/// A game with its history. Playing returns another game and leaves this one as it is.
#[pyclass(frozen, module = "yomikiri._core")]
pub struct PlayedGame {
    game: Arc<dyn Rules>,
    pub(crate) played: rules::PlayedGame,
}

#[pymethods]
impl Game {
    #[new]
    fn new(name: &str) -> PyResult<Game> {
        crate::known()
            .named(name)
            .map(|game| Game { game })
            .map_err(|error| value_error(error.line()))
    }

    /// Makes a game of states, moves and results in arrays.
    #[staticmethod]
    #[pyo3(signature = (names, numbers, row_pointers, actions, successors, results, has_scores, movers, texts, action_names, planes))]
    #[allow(clippy::too_many_arguments, reason = "they are the arrays of a listing")]
    fn listed(
        names: [String; 3],
        numbers: [u32; 2],
        row_pointers: PyReadonlyArray1<'_, u64>,
        actions: PyReadonlyArray1<'_, u16>,
        successors: PyReadonlyArray1<'_, u32>,
        results: PyReadonlyArray1<'_, i8>,
        has_scores: bool,
        movers: Option<PyReadonlyArray1<'_, u8>>,
        texts: Vec<String>,
        action_names: Vec<String>,
        planes: Option<PyReadonlyArray4<'_, f32>>,
    ) -> PyResult<Game> {
        let ([name, title, line_break], [start, action_count]) = (names, numbers);
        let action_count = u16::try_from(action_count).unwrap_or(u16::MAX);
        let planes = planes.as_ref().map(|planes| planes.as_array());
        let side = |at: usize| {
            let side = planes.map_or(0, |planes| planes.shape()[at]);
            u32::try_from(side).unwrap_or(u32::MAX)
        };
        let listing = Listing {
            name,
            title,
            start,
            row_pointers: row_pointers.as_array().to_vec(),
            actions: actions.as_array().to_vec(),
            successors: successors.as_array().to_vec(),
            results: results.as_array().to_vec(),
            has_scores,
            movers: movers.map_or(Vec::new(), |movers| movers.as_array().to_vec()),
            texts,
            action_names,
            grid: [side(1), side(2), side(3)],
            planes: planes.map_or(Vec::new(), |planes| planes.iter().copied().collect()),
            action_count,
            line_break,
            pass: None,
        };
        check_name(&listing.name)?;
        let game = Listed::new(listing).map_err(|error| value_error(error.line()))?;
        Ok(Game { game: game.into_rules() })
    }

    #[getter]
    fn name(&self) -> String {
        self.game.name()
    }

    /// Checksum of the states and moves of a listed game; `None` for a game that is rules.
    #[getter]
    fn listing(&self) -> Option<&str> {
        Some(self.game.typed::<Listed>()?.checksum())
    }

    /// Directory of the table that a listed game was opened from.
    #[getter]
    fn home(&self) -> Option<PathBuf> {
        Some(self.game.typed::<Listed>()?.home()?.to_path_buf())
    }

    /// Returns at most `most` states of a listed game with texts, the start and others spread over the list: each
    /// state's text, its result, or `None` if the game goes on, the player to move, and the names of the moves with the
    /// texts after them, past added passes.
    fn listed_rows(&self, most: usize) -> Vec<ListedRow> {
        let listed = self.game.typed::<Listed>();
        listed.map_or(Vec::new(), |listed| rows_of(listed, most))
    }

    #[getter]
    fn title(&self) -> String {
        self.game.title()
    }

    #[getter]
    fn actions(&self) -> usize {
        self.game.action_count()
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.game.shape()
    }

    #[getter]
    fn planes(&self) -> Vec<String> {
        self.game.plane_kinds().names()
    }

    #[getter]
    fn sides(&self) -> [&'static str; 2] {
        Side::ALL.map(|side| self.game.side_name(side))
    }

    #[getter]
    fn symmetries(&self) -> usize {
        self.game.folded().group().order()
    }

    #[getter]
    fn has_scores(&self) -> bool {
        self.game.has_scores()
    }

    /// `true` if play never repeats a state.
    #[getter]
    fn is_layered(&self) -> bool {
        self.game.is_layered()
    }

    /// `true` if passes are no moves of the game.
    #[getter]
    fn adds_passes(&self) -> bool {
        self.game.adds_passes()
    }

    /// Greatest score, 1 in a game without scores.
    #[getter]
    fn max_score(&self) -> i8 {
        self.game.max_score().map_or(1, |score| score.0)
    }

    /// `true` if layers count discs, so that positions have a number of empty squares.
    #[getter]
    fn has_empty_squares(&self) -> bool {
        empty_squares(&*self.game, &self.game.start().state).is_some()
    }

    #[getter]
    fn has_bitboards(&self) -> bool {
        self.game.has_squares()
    }

    fn start(&self) -> Positions {
        self.of(vec![self.game.start()])
    }

    /// Draws positions of random games, with repetition; returns them, equal ones together, with a
    /// description and a remark if they are fewer than asked.
    fn sample(
        &self,
        py: Python<'_>,
        count: usize,
        empty_squares: Option<(u32, u32)>,
        seed: u64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Positions, String, Option<String>)> {
        let (game, sample) = (self.game.clone(), SampleOf { range: empty_squares, count, seed });
        sampled(py, progress, move |progress| from_random_games(&*game, sample, progress))
    }

    /// Parses texts: boards, OBF, SFEN, or transcripts from the start.
    fn parse(&self, py: Python<'_>, texts: Vec<String>) -> PyResult<Positions> {
        let start = self.game.start();
        let all = parsed(py, texts, |text| self.game.parse_position(text, &start))?;
        Ok(self.of(all))
    }

    /// Reads the games of a file's bytes in any form: of each the place, the players, the result as the form states it, and
    /// what the board contradicts in it; also how the file was read and the errors with their places.
    fn read_games(
        &self,
        py: Python<'_>,
        bytes: Vec<u8>,
        form: Option<&str>,
    ) -> PyResult<(Vec<ReadGame>, String, Vec<String>)> {
        let asked = form.map(form_named).transpose()?;
        let game = &self.game;
        let read = released(py, || Records::read(&bytes, &**game, &game.start(), asked, &Silent))?;
        let records = read.map_err(|error| position_error(error.line()))?;
        let words = records.words().unwrap_or_else(|| Form::Lines.title().to_string());
        let errors = records.errors.iter();
        let errors = errors.map(|(place, error)| format!("{place}: {}", error.line())).collect();
        let games = records.games.into_iter().map(|record| {
            let contradiction =
                record.claim.and_then(|claim| record.played.contradiction(&**game, claim));
            let played = PlayedGame { game: game.clone(), played: record.played };
            let result = record.claim.map(|claim| claim.to_string());
            (record.place.to_string(), record.players, result, contradiction, played)
        });
        Ok((games.collect(), words, errors))
    }

    /// Reads bitboards, `(N, 2)`: the mover's squares and the opponent's.
    fn of_bitboards(
        &self,
        py: Python<'_>,
        boards: PyReadonlyArray2<'_, u64>,
        sides: PyReadonlyArray1<'_, u8>,
    ) -> PyResult<Positions> {
        let (boards, sides) = (boards.as_slice()?, sides.as_slice()?);
        let game = &self.game;
        let all = detached(py, || {
            read(boards.as_chunks::<2>().0.iter().zip(sides), |(&[own, other], &side)| {
                let state = game.of_squares(own, other)?;
                Some(game.with_mover(AnyPosition { state, side: side_of(side) }))
            })
        })?;
        Ok(self.of(all))
    }

    /// Returns the shape of one position in a layout.
    fn shape_in(&self, layout: &str) -> PyResult<Vec<usize>> {
        Ok(encoding(&*self.game, layout, None).map_err(value_error)?.shape)
    }

    /// Reads positions in a layout, one in each row.
    fn of_planes(
        &self,
        py: Python<'_>,
        planes: PyReadonlyArray2<'_, f32>,
        sides: PyReadonlyArray1<'_, u8>,
        layout: &str,
    ) -> PyResult<Positions> {
        let (game, encoding) =
            (&self.game, encoding(&*self.game, layout, None).map_err(value_error)?);
        let (planes, sides) = (planes.as_slice()?, sides.as_slice()?);
        let all = detached(py, || {
            read(planes.chunks_exact(encoding.len()).zip(sides), |(planes, &side)| {
                encoding.read(&**game, planes, side_of(side))
            })
        })?;
        Ok(self.of(all))
    }

    /// Reads keys, `(N, words)`.
    fn of_keys(
        &self,
        py: Python<'_>,
        keys: PyReadonlyArray2<'_, u64>,
        sides: PyReadonlyArray1<'_, u8>,
    ) -> PyResult<Positions> {
        let (game, words) = (&self.game, keys.as_array().ncols());
        if words != game.facts().key_words() {
            return Err(value_error(format!(
                "invalid keys of {}: expected {} words of 64 bits, not {words}",
                game.name(),
                game.facts().key_words()
            )));
        }
        let (keys, sides) = (keys.as_slice()?, sides.as_slice()?);
        let all = detached(py, || {
            read(keys.chunks_exact(words).zip(sides), |(words, &side)| {
                let mut key = [0; 2];
                key[..words.len()].copy_from_slice(words);
                let state = game.state(game.facts().key(key))?;
                Some(game.with_mover(AnyPosition { state, side: side_of(side) }))
            })
        })?;
        Ok(self.of(all))
    }

    fn action_name(&self, side: u8, action: u16) -> PyResult<String> {
        let count = self.game.action_count();
        if usize::from(action) >= count {
            return Err(value_error(format!(
                "invalid action {action}: expected 0 to {}",
                count - 1
            )));
        }
        Ok(self.game.action_name(side_of(side), Action(action)))
    }
}

/// Fails if a game of one's own cannot have a name: it is invalid, or a built-in game's.
#[pyfunction]
pub(crate) fn check_name(name: &str) -> PyResult<()> {
    if crate::known().named(name).is_ok() {
        return Err(value_error(format!(
            "'{name}' is a game already: give the class another name, or a method name()"
        )));
    }
    yomikiri::table::check_name(name).map_err(|error| value_error(error.line()))
}

/// Text, result, player to move, and moves by name with the texts after them.
type ListedRow = (String, Option<i8>, Option<u8>, Vec<(String, String)>);

fn rows_of(listed: &Listed, most: usize) -> Vec<ListedRow> {
    let listing = listed.listing();
    let count = listing.texts.len();
    let step = count.div_ceil(most.max(1)).max(1);
    let spread = (0..count).step_by(step).map(|state| state as u32);
    let spread = spread.filter(|state| *state != listing.start);
    let states = std::iter::once(listing.start)
        .chain(spread)
        .filter(|state| (*state as usize) < count && listed.listed_state(*state) == *state);
    let row = |state: u32| {
        let at = state as usize;
        let mut moves = Vec::new();
        listed.moves(&state, |action, after| {
            let after = listed.listed_state(after) as usize;
            moves.push((listed.action_name(Side::First, action), listing.texts[after].clone()));
        });
        let result = Some(listing.results[at]).filter(|result| *result != GOES_ON);
        let mover = listing.movers.get(at).copied();
        (listing.texts[at].clone(), result, mover, moves)
    };
    states.map(row).collect()
}

impl Game {
    fn of(&self, all: Vec<AnyPosition>) -> Positions {
        Positions { game: self.game.clone(), all: Arc::new(all) }
    }
}

/// Draws a sample; returns its positions, equal ones together, with a description and a remark if they are fewer than
/// asked.
pub(crate) fn sampled(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    draw: impl FnOnce(&dyn Progress) -> Result<PositionList, Error> + Send + 'static,
) -> PyResult<(Positions, String, Option<String>)> {
    let list = run(py, progress, move |state, _| {
        draw(&**state).map_err(|wrong| value_error(wrong.line()))
    })?;
    let all = Arc::new(list.occurring().copied().collect());
    let origin = list.origin();
    let game = list.game().shared();
    Ok((Positions { game, all }, origin.words.clone(), origin.remark.clone()))
}

/// Parses positions. Fails with the row of the first invalid text.
pub(crate) fn parsed(
    py: Python<'_>,
    texts: Vec<String>,
    one: impl Fn(&str) -> Result<AnyPosition, Error> + Sync,
) -> PyResult<Vec<AnyPosition>> {
    let read = |(row, text): (usize, &String)| {
        one(text).map_err(|error| position_error(format!("row {row}: '{text}': {}", error.line())))
    };
    released(py, || texts.iter().enumerate().map(read).collect())?
}

/// Returns the side of a number; the callers have checked that it is 0 or 1.
pub(crate) fn side_of(side: u8) -> Side {
    Side::ALL[usize::from(side == 1)]
}

/// Reads every item. Fails with the row of the first that is not a position.
fn read<T>(
    items: impl Iterator<Item = T>,
    one: impl Fn(T) -> Option<AnyPosition>,
) -> PyResult<Vec<AnyPosition>> {
    let mut all = Vec::with_capacity(items.size_hint().0);
    for (row, item) in items.enumerate() {
        let position =
            one(item).ok_or_else(|| position_error(format!("row {row}: invalid position")))?;
        all.push(position);
    }
    Ok(all)
}

#[pymethods]
impl Positions {
    fn __len__(&self) -> usize {
        self.all.len()
    }

    #[getter]
    fn game(&self) -> Game {
        Game { game: self.game.clone() }
    }

    /// Returns the positions at these indices.
    fn take(&self, places: PyReadonlyArray1<'_, i64>) -> PyResult<Positions> {
        let place = |&at: &i64| {
            let found = usize::try_from(at).ok().and_then(|at| self.all.get(at));
            found.copied().ok_or_else(|| {
                PyIndexError::new_err(format!(
                    "invalid index {at}: expected one of {} positions",
                    self.all.len()
                ))
            })
        };
        let all: PyResult<Vec<_>> = places.as_slice()?.iter().map(place).collect();
        Ok(Positions { game: self.game.clone(), all: Arc::new(all?) })
    }

    fn notations(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        released(py, || self.all.iter().map(|position| self.game.notation(position)).collect())
    }

    fn diagrams(&self) -> Vec<String> {
        self.all.iter().map(|position| self.game.diagram(position)).collect()
    }

    /// Returns the first position as HTML, for notebooks.
    fn html(&self) -> String {
        let first = self.all.first();
        first.map_or_else(String::new, |position| position_html(&*self.game, position))
    }

    /// Returns the sides to move, 0 or 1.
    fn sides<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        let sides: Vec<u8> = self.all.iter().map(|p| p.side.index() as u8).collect();
        sides.into_pyarray(py)
    }

    fn bitboards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let all = released(py, || {
            let squares = self.all.iter().map(|position| self.game.squares(&position.state));
            squares.map(|both| both.map(<[u64; 2]>::from)).collect::<Option<Vec<_>>>()
        })?;
        let all =
            all.ok_or_else(|| value_error(format!("{} has no bitboards", self.game.name())))?;
        all.into_flattened().into_pyarray(py).reshape([self.all.len(), 2])
    }

    /// Returns keys, `(N, words)`: canonical under all symmetries if `folded`, else of the positions as they
    /// stand.
    fn keys<'py>(&self, py: Python<'py>, folded: bool) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let (facts, words) = (self.game.facts(), self.game.facts().key_words());
        let rules = if folded { self.game.folded() } else { self.game.clone() };
        let key = |position: &AnyPosition| match folded {
            true => rules.canonical(&position.state).key,
            false => rules.key(&position.state),
        };
        let words_of = |at: &AnyPosition| facts.words(key(at)).into_iter().take(words);
        let out: Vec<u64> = released(py, || self.all.iter().flat_map(words_of).collect())?;
        out.into_pyarray(py).reshape([self.all.len(), words])
    }

    /// Returns the legal actions, `(N, actions)`.
    fn legal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let count = self.game.action_count();
        let mut out = vec![false; count * self.all.len()];
        released(py, || {
            for (Position { state, .. }, out) in self.all.iter().zip(out.chunks_exact_mut(count)) {
                self.game.for_each_action(state, |action| out[usize::from(action.0)] = true);
            }
        })?;
        out.into_pyarray(py).reshape([self.all.len(), count])
    }

    /// Returns the mover's outcome where the game is over, else 2.
    fn results<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i8>> {
        let of =
            |position: &AnyPosition| self.game.result(&position.state).map_or(2, Outcome::value);
        self.all.iter().map(of).collect::<Vec<i8>>().into_pyarray(py)
    }

    /// Returns the mover's score where the game is over, else 0.
    fn scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i8>> {
        let of = |position: &AnyPosition| match self.game.result(&position.state) {
            Some(_) => self.game.score(&position.state, Empties::Uncounted).0,
            None => 0,
        };
        self.all.iter().map(of).collect::<Vec<i8>>().into_pyarray(py)
    }

    /// Plays one action in each position.
    fn play(&self, py: Python<'_>, actions: PyReadonlyArray1<'_, i64>) -> PyResult<Positions> {
        let actions = actions.as_slice()?;
        if actions.len() != self.all.len() {
            let (given, needed) = (actions.len(), self.all.len());
            return Err(value_error(format!(
                "{given} actions, expected one for each of {needed} positions"
            )));
        }
        let one = |(row, (position, &action)): (usize, (&AnyPosition, &i64))| {
            let legal = self.game.actions(&position.state);
            let chosen = u16::try_from(action).ok().map(Action).filter(|a| legal.contains(a));
            let chosen = chosen.ok_or_else(|| {
                let legal: Vec<u16> = legal.iter().map(|action| action.0).collect();
                position_error(format!(
                    "row {row}: illegal action {action} in '{}': expected one of {legal:?}",
                    self.game.notation(position)
                ))
            })?;
            Ok(self.game.advance(position, chosen))
        };
        let both = self.all.iter().zip(actions).enumerate();
        let all = released(py, || both.map(one).collect::<PyResult<_>>())??;
        Ok(Positions { game: self.game.clone(), all: Arc::new(all) })
    }

    /// Returns the image of each position under a symmetry of the board.
    fn transform(&self, symmetry: Symmetry) -> PyResult<Positions> {
        let folded = self.game.folded();
        if usize::from(symmetry) >= folded.group().order() {
            return Err(value_error(format!(
                "invalid symmetry {symmetry}: {} has {}, from 0",
                self.game.name(),
                folded.group().order()
            )));
        }
        let image = |position: &AnyPosition| AnyPosition {
            state: folded.transform(&position.state, symmetry),
            side: position.side,
        };
        let all = self.all.iter().map(image).collect();
        Ok(Positions { game: self.game.clone(), all: Arc::new(all) })
    }

    /// Returns number and text of each position of a listed game, past an added pass.
    fn listed_states(&self) -> PyResult<Vec<(u32, String)>> {
        let listed = self.game.typed::<Listed>();
        let listed = listed.ok_or_else(|| value_error("no listed game"))?;
        let texts = &listed.listing().texts;
        let state = |position: &AnyPosition| {
            let state = listed.listed_state(self.game.key(&position.state) as u32);
            (state, texts.get(state as usize).cloned().unwrap_or_default())
        };
        Ok(self.all.iter().map(state).collect())
    }

    /// Returns the fewest moves from the start to each position of a listed game, added passes left out.
    fn listed_lines(&self) -> PyResult<Vec<Vec<u16>>> {
        let listed = self.game.typed::<Listed>();
        let listed = listed.ok_or_else(|| value_error("no listed game"))?;
        let state =
            |position: &AnyPosition| listed.listed_state(self.game.key(&position.state) as u32);
        let states: Vec<u32> = self.all.iter().map(state).collect();
        let lines = listed.lines_to(&states).into_iter();
        Ok(lines.map(|line| line.into_iter().map(|action| action.0).collect()).collect())
    }

    /// Returns network input as `side` sees it, also while the other side is to move: the board with exchanged sides, of
    /// which legal moves are unknown where that is no state of the game. A listed game shows everybody the same.
    fn encode_for<'py>(
        &self,
        py: Python<'py>,
        layout: &str,
        side: u8,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let (game, side) = (&*self.game, side_of(side));
        let encoding = encoding(game, layout, None).map_err(value_error)?;
        let is_listed = game.typed::<Listed>().is_some();
        let mut out = vec![0f32; encoding.len() * self.all.len()];
        for (position, out) in self.all.iter().zip(out.chunks_exact_mut(encoding.len())) {
            let swapped = game.swapped(&position.state);
            match (is_listed || position.side == side, swapped, game.squares(&position.state)) {
                (true, ..) => encoding.write_position(game, position, out),
                (_, Some(state), _) => {
                    encoding.write_position(game, &Position { state, side }, out)
                }
                (_, None, Some((opponent, mover))) => {
                    encoding.write(&Squares { mover, opponent, legal: 0, side, own: &[] }, out);
                }
                _ => {
                    let what = format!(
                        "{} has no view of the other side; implement `swapped`",
                        game.name()
                    );
                    return Err(value_error(what));
                }
            }
        }
        array(py, out, self.all.len(), &encoding)
    }

    /// Returns network input, `(N, …)` by the layout.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        layout: &str,
        planes: Option<&str>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let encoding = encoding(&*self.game, layout, planes).map_err(value_error)?;
        let out = detached(py, || Ok(self::planes(&encoding, &*self.game, &self.all)))?;
        array(py, out, self.all.len(), &encoding)
    }
}

#[pymethods]
impl PlayedGame {
    /// Begins a game in the first of some positions and plays actions.
    #[new]
    fn new(start: &Positions, actions: Vec<i64>) -> PyResult<PlayedGame> {
        let first = start.all.first().ok_or_else(|| value_error("no position to begin in"))?;
        let game = PlayedGame { game: start.game.clone(), played: rules::PlayedGame::new(*first) };
        actions.into_iter().try_fold(game, |game, action| game.play(action))
    }

    /// Plays an action. Fails if it is illegal or the game is over.
    fn play(&self, action: i64) -> PyResult<PlayedGame> {
        let (game, mut played) = (self.game.clone(), self.played.clone());
        let legal = game.actions(&played.position().state);
        let chosen = u16::try_from(action).ok().map(Action).filter(|action| legal.contains(action));
        let Some(chosen) = chosen.filter(|_| played.end(&*game).is_none()) else {
            let position = game.notation(played.position());
            return Err(position_error(match played.end_in_words(&*game) {
                Some(words) => format!("the game is over in '{position}': {words}"),
                None => format!("illegal action {action} in '{position}'"),
            }));
        };
        played.play(&*game, chosen);
        Ok(PlayedGame { game, played })
    }

    /// Returns the current position.
    fn position(&self) -> Positions {
        Game { game: self.game.clone() }.of(vec![*self.played.position()])
    }

    /// Returns the first position.
    fn start(&self) -> Positions {
        Game { game: self.game.clone() }.of(vec![*self.played.start()])
    }

    /// Returns the actions so far.
    fn actions(&self) -> Vec<u16> {
        self.played.moves().iter().map(|(_, action)| action.0).collect()
    }

    /// Returns all positions, the first and the current one among them.
    fn positions(&self) -> Positions {
        Game { game: self.game.clone() }.of(self.played.positions().collect())
    }

    /// Returns the names of the moves.
    fn moves(&self) -> Vec<String> {
        let name =
            |(before, action): &(AnyPosition, Action)| self.game.action_name(before.side, *action);
        self.played.moves().iter().map(name).collect()
    }

    /// Writes the game in a form.
    fn text(
        &self,
        form: &str,
        players: [Option<String>; 2],
        result: Option<&str>,
    ) -> PyResult<String> {
        let players = players.each_ref().map(Option::as_deref);
        let claim = result.and_then(Claim::read);
        let written = write_game(&*self.game, &self.played, players, claim, form_named(form)?);
        written.map_err(|error| value_error(error.line()))
    }

    /// Returns the outcome for the player to move and the reason in words; `None` while the game goes on.
    fn end(&self) -> Option<(i8, String)> {
        let end = self.played.end(&*self.game)?;
        Some((end.outcome.value(), self.played.end_in_words(&*self.game).unwrap_or_default()))
    }
}

/// Encodes positions as numbers, one position after the other.
pub(crate) fn planes(encoding: &Encoding, game: &dyn Rules, positions: &[AnyPosition]) -> Vec<f32> {
    let width = encoding.len();
    let mut out = vec![0f32; width * positions.len()];
    for (position, out) in positions.iter().zip(out.chunks_exact_mut(width)) {
        encoding.write_position(game, position, out);
    }
    out
}

/// Returns the numbers of encoded positions as an array, `(count, …)`.
pub(crate) fn array<'py>(
    py: Python<'py>,
    numbers: Vec<f32>,
    count: usize,
    encoding: &Encoding,
) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    let dims: Vec<usize> = [count].into_iter().chain(encoding.shape.iter().copied()).collect();
    numbers.into_pyarray(py).reshape(dims)
}

/// Returns the encoding of positions for a layout and a list of planes, both by name.
pub(crate) fn encoding(
    game: &dyn Rules,
    layout: &str,
    planes: Option<&str>,
) -> Result<Encoding, String> {
    let known = Layout::named(layout)
        .ok_or_else(|| format!("invalid layout `{layout}`: expected {}", Layout::names()))?;
    let listed = planes.map(Plane::read_list).transpose();
    let listed = listed.map_err(|bad| {
        format!("invalid planes `{bad}`: expected {}, joined by +", Plane::names())
    })?;
    Encoding::of_rules(game, known, listed.as_deref())
}
