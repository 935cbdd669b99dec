//! Solved tables.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use yomikiri::enumerate::{self, Plan, within_room};
use yomikiri::oracle::{Oracle, SolvedTable};
use yomikiri::progress::{Progress, Silent};
use yomikiri::rules::{Rules, SearchLimits, Split, Splits, WIN_PLIES};
use yomikiri::solve::SolveOptions;
use yomikiri::table::{NoRoom, Store};
use yomikiri_measure::export::targets::{
    Encoder, Format, Images, Selection, Targets, known_examples, read_rows, write_targets,
};
use yomikiri_measure::free_memory;
use yomikiri_measure::judge::{KnownValues, MeasureCache, SampleOf, uniform};
use yomikiri_measure::render::{answer_html, no_room};

use crate::columns::{about, columns, shape, to_dict};
use crate::errors::{
    YomikiriError, measure_error, position_error, table_error, value_error, yomikiri_error,
};
use crate::games::{Game, Positions, parsed, sampled};
use crate::work::{detached, run};

/// A solved table with memory-mapped files.
#[pyclass(frozen, module = "yomikiri._core")]
pub struct Table {
    pub table: Arc<SolvedTable>,
    /// Intermediate results of measurements, reused by the next one.
    pub cache: Arc<MeasureCache>,
}

impl Table {
    fn new(table: SolvedTable) -> Table {
        Table { table: Arc::new(table), cache: Arc::default() }
    }
}

/// Opens a table by its name in a directory of tables, or by its path; verifies checksums if `checked`.
#[pyfunction]
pub(crate) fn open_table(
    py: Python<'_>,
    name: &str,
    tables: PathBuf,
    checked: bool,
) -> PyResult<Table> {
    let name = name.to_string();
    let open = move || {
        let table = Store::at(&tables).open(&name).map_err(|error| table_error(error.line()))?;
        let name = table.name();
        let game = crate::known().of_table(&table).map_err(|error| table_error(error.line()))?;
        let solved =
            SolvedTable::open(game, table, checked).map_err(|error| table_error(error.line()))?;
        let unsolved =
            || table_error(format!("{name} has no values yet; run 'solver value-iterate {name}'"));
        solved.ok_or_else(unsolved)
    };
    let solved = if checked { run(py, None, move |_, _| open()) } else { detached(py, open) };
    solved.map(Table::new)
}

/// Returns the name of the table for a game's string in OpenSpiel.
#[pyfunction]
pub(crate) fn folder_of(name: &str) -> String {
    yomikiri::table::folder_of(name).into_owned()
}

/// Removes the table of a name.
#[pyfunction]
pub(crate) fn remove_table(name: &str, tables: PathBuf) -> PyResult<()> {
    let removed = Store::at(&tables).removal(name).and_then(|removal| removal.remove());
    removed.map(|_| ()).map_err(|error| table_error(error.line()))
}

/// Enumerates and solves a game from its start or other roots, in full or to a depth, or opens the existing
/// table.
#[pyfunction]
#[pyo3(signature = (game, tables, roots, max_depth, force, progress))]
pub(crate) fn solve(
    py: Python<'_>,
    game: &Game,
    tables: PathBuf,
    roots: Option<&Positions>,
    max_depth: Option<u32>,
    force: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Table> {
    let game = game.game.clone();
    let mut plan = Plan::from_start(&*game);
    plan.max_depth = max_depth;
    if let Some(roots) = roots {
        if roots.game.name() != game.name() || roots.all.is_empty() {
            return Err(value_error(format!(
                "invalid roots: expected positions of {}, at least one",
                game.name()
            )));
        }
        plan.roots = roots.all.to_vec();
        plan.start = "custom".to_string();
    }
    if max_depth == Some(0) {
        return Err(value_error("invalid max_depth 0: expected at least 1"));
    }
    if max_depth.is_some() || roots.is_some() {
        plan.index = yomikiri::enumerate::Index::Keys;
    } else if !game.facts().is_small {
        return Err(value_error(format!(
            "{} is too large to be enumerated whole; set max_depth, or roots near its end",
            game.name()
        )));
    }
    plan.max_memory = plan.max_memory.or_else(free_memory);
    let solved = run(py, progress, move |state, _| {
        let state = &**state;
        let store = Store::at(&tables);
        let what = format!("{} needs", plan.table_name(&*game));
        let no_room = |room: NoRoom| {
            YomikiriError::new_err(format!(
                "{}; bound it with max_depth, start nearer to the end with roots, or set force=True",
                no_room(&what, &room)
            ))
        };
        let plan = match within_room(&*game, plan.clone(), &store) {
            Err(room) if !force => return Err(no_room(room)),
            found => found.unwrap_or(plan),
        };
        let mut table =
            enumerate::build(&*game, &plan, &store, state).map_err(|e| yomikiri_error(&e))?.table;
        if table.manifest().solution.is_none() {
            let options = SolveOptions { max_memory: plan.max_memory, ..Default::default() };
            let options = match options.within_room(&*game, &table) {
                Err(room) if !force => return Err(no_room(room)),
                found => found.unwrap_or(options),
            };
            yomikiri::solve::solve(&*game, &mut table, &options, state, &mut |_, _| {})
                .map_err(|e| yomikiri_error(&e))?;
        }
        // A listed game of its table knows where that is.
        let game = match table.manifest().listed {
            Some(_) => {
                crate::known().of_table(&table).map_err(|error| table_error(error.line()))?
            }
            None => game.clone(),
        };
        let solved =
            SolvedTable::open(game, table, true).map_err(|error| table_error(error.line()))?;
        solved.ok_or_else(|| table_error("the table has no values"))
    });
    solved.map(Table::new)
}

#[pymethods]
impl Table {
    #[getter]
    fn name(&self) -> String {
        self.table.table().name()
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.table.table().dir().to_path_buf()
    }

    /// Directory that contains the table; networks are beside it.
    #[getter]
    fn tables(&self) -> PathBuf {
        let dir = self.table.table().dir();
        dir.parent().unwrap_or(Path::new(".")).to_path_buf()
    }

    #[getter]
    fn rows(&self) -> usize {
        self.table.states().rows()
    }

    #[getter]
    fn complete(&self) -> bool {
        self.table.table().manifest().complete
    }

    #[getter]
    fn has_scores(&self) -> bool {
        self.table.has_scores()
    }

    #[getter]
    fn game(&self) -> Game {
        Game { game: self.rules() }
    }

    /// Row counts of the pieces that [`Table::read`] takes.
    #[getter]
    fn pieces(&self) -> Vec<usize> {
        self.table.states().pieces().iter().map(|piece| piece.rows.len()).collect()
    }

    fn manifest(&self) -> PyResult<String> {
        serde_json::to_string(self.table.table().manifest())
            .map_err(|error| value_error(error.to_string()))
    }

    fn columns(&self) -> PyResult<Vec<(String, String)>> {
        about(&self.table)
    }

    fn roots(&self) -> PyResult<Positions> {
        let all = self.table.states().roots().map_err(|error| position_error(error.line()))?;
        Ok(Positions { game: self.rules(), all: Arc::new(all) })
    }

    /// Parses texts; transcripts begin at the table's first root.
    fn parse(&self, py: Python<'_>, texts: Vec<String>) -> PyResult<Positions> {
        let all = parsed(py, texts, |text| self.table.states().parse(text))?;
        Ok(Positions { game: self.rules(), all: Arc::new(all) })
    }

    /// Draws positions with a move to make, each equally likely, with repetition; returns them with a description.
    fn sample(
        &self,
        py: Python<'_>,
        count: usize,
        empty_squares: Option<(u32, u32)>,
        seed: u64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Positions, String, Option<String>)> {
        let (table, sample) = (self.table.clone(), SampleOf { range: empty_squares, count, seed });
        sampled(py, progress, move |progress| uniform(table.states(), sample, progress))
    }

    /// Returns the answer for the first of some positions as HTML, for notebooks.
    fn answer_html(&self, positions: &Positions) -> PyResult<String> {
        let Some(position) = positions.all.first() else { return Ok(String::new()) };
        let answer = self.table.answer(*position).map_err(|error| position_error(error.line()))?;
        Ok(answer_html(&*self.table, &answer))
    }

    /// Returns columns of positions, as a dictionary of arrays, and the indices of those not in the table: these are
    /// left out, or if `searches` searched, and their values cached in the labels beside the table.
    fn look_up<'py>(
        &self,
        py: Python<'py>,
        positions: &Positions,
        names: Vec<String>,
        searches: bool,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyDict>, Vec<usize>)> {
        let (table, all) = (self.table.clone(), positions.all.clone());
        if positions.game.name() != table.game().name() {
            let (given, here) = (positions.game.name(), table.game().name());
            return Err(value_error(format!("invalid positions of {given}: expected {here}")));
        }
        let shape = shape(&table, "nchw")?;
        let columns = columns(&table, &shape, &names)?;
        let labels = tables_of(self).join("labels");
        let look_up = move |progress: &dyn Progress| {
            let game = table.game();
            let mut values = KnownValues::new(game, Some(&table), WIN_PLIES);
            if searches {
                let unknown = values.unknown(&mut all.iter());
                values
                    .search(&unknown, &labels, &SearchLimits::default(), progress)
                    .map_err(measure_error)?;
            }
            let folded = game.folded();
            let encoder = Encoder::new(game, &*folded, &columns, shape);
            let found = known_examples(&encoder, &values, &all).map_err(measure_error)?;
            Ok::<_, PyErr>((found, columns))
        };
        let ((block, missing), columns) = match searches {
            true => run(py, progress, move |state, _| look_up(&**state))?,
            false => detached(py, || look_up(&Silent))?,
        };
        Ok((to_dict(py, block, &columns)?, missing))
    }

    /// Writes targets to a file or a directory of arrays; returns their data card as JSON.
    #[pyo3(signature = (path, columns, split, images, terminals, unproven, layout, progress))]
    #[allow(clippy::too_many_arguments)]
    fn export<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        columns: Option<Vec<String>>,
        split: Option<&str>,
        images: &str,
        terminals: bool,
        unproven: bool,
        layout: &str,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<String> {
        let format = Format::of_path(&path).ok_or_else(|| {
            let known = ".parquet, .npz, .jsonl, .csv, .obf or no extension";
            value_error(format!("invalid path {}: expected {known}", path.display()))
        })?;
        let targets = Targets {
            format,
            layout: shape(&self.table, layout)?.layout,
            selection: selection(split, terminals, unproven)?,
            images: images_of(images)?,
            temperature: None,
            columns,
            shard_rows: None,
        };
        let table = self.table.clone();
        let card = run(py, progress, move |state, _| {
            let card = write_targets(&table, &targets, &path, &**state);
            card.map_err(|error| yomikiri_error(&error))
        })?;
        Ok(card.to_json())
    }

    /// Returns columns of the rows of the pieces from `begin` to `end`.
    #[pyo3(signature = (names, begin, end, split, images, terminals, unproven, layout))]
    #[allow(clippy::too_many_arguments)]
    fn read<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        begin: usize,
        end: usize,
        split: Option<&str>,
        images: &str,
        terminals: bool,
        unproven: bool,
        layout: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (table, game) = (&self.table, self.table.game());
        let pieces = begin.min(end)..end.min(table.states().pieces().len());
        let (images, selection) = (images_of(images)?, selection(split, terminals, unproven)?);
        let shape = shape(table, layout)?;
        let columns = columns(table, &shape, &names)?;
        let block = detached(py, || {
            let folded = game.folded();
            let encoder = Encoder::new(game, &*folded, &columns, shape);
            read_rows(&encoder, table, selection, images, pieces).map_err(table_error)
        })?;
        to_dict(py, block, &columns)
    }
}

/// Returns the images of this name.
fn images_of(name: &str) -> PyResult<Images> {
    let all = [Images::Canonical, Images::All, Images::Expanded];
    let found = all.into_iter().find(|known| known.name() == name);
    found.ok_or_else(|| value_error("images: known are canonical, all, expanded"))
}

/// Returns a selection of rows; `split` is the name of a part.
fn selection(split: Option<&str>, terminals: bool, unproven: bool) -> PyResult<Selection> {
    let split = split.map(|name| {
        let found = Split::ALL.into_iter().find(|split| split.name() == name);
        found.ok_or_else(|| {
            value_error(format!("split '{name}': known are train, validation, test"))
        })
    });
    Ok(Selection {
        splits: Splits::default(),
        split: split.transpose()?,
        terminals,
        unproven,
        decisive: None,
        per_layer: None,
        sample: None,
    })
}

impl Table {
    pub fn rules(&self) -> Arc<dyn Rules> {
        self.table.game().shared()
    }
}

pub(crate) fn tables_of(table: &Table) -> PathBuf {
    let dir = table.table.table().dir();
    dir.parent().map_or_else(PathBuf::new, PathBuf::from)
}
