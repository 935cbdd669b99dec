//! Parts of a table: each holds the rows that one of several workers has found.
//!
//! A part is a draft and then a table, with an identity that says which part it is. Those of a table lie side by side, also
//! of several runs with other numbers of workers. [`join`] makes the whole table of all parts of a run.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::builder::{BuildState, declare, has_wide_orientations};
use super::driver::commit;
use super::other_table;
use super::plan::{Plan, table_name};
use crate::enumerate::too_many_states;
use crate::error::{Error, Kind};
use crate::output::failure;
use crate::progress::{Progress, Silent};
use crate::rules::Rules;
use crate::table::rows::{Keys, Rows};
use crate::table::{Array, Counts, Draft, Identity, Ints, Store, Table};

/// Returns the name of part `number` of `of`.
pub fn part_name([number, of]: [usize; 2]) -> String {
    format!("part-{number}-of-{of}")
}

/// Returns the number of a part and of all parts, by its name.
fn numbers_of(name: &str) -> Option<[usize; 2]> {
    let (number, of) = name.strip_prefix("part-")?.split_once("-of-")?;
    let numbers = [number.parse().ok()?, of.parse().ok()?];
    (numbers[0] < numbers[1] && part_name(numbers) == name).then_some(numbers)
}

/// Parts of one table.
pub struct Parts {
    /// All parts of the newest run that has all, in their order.
    pub tables: Vec<Table>,
    /// Patterns of the names of other runs' parts, which are not used.
    pub others: Vec<String>,
}

impl Parts {
    /// Opens the parts in the directories of all hosts: those of the newest run that has all, with values if `solved`.
    pub fn open(dirs: &[PathBuf], solved: bool) -> Result<Parts, Error> {
        // Parts of each number of workers, with the time of the last change.
        let mut runs = BTreeMap::<usize, (SystemTime, BTreeMap<usize, PathBuf>)>::new();
        for dir in dirs {
            let wrong = |error| failure("read", dir, error);
            for entry in fs::read_dir(dir).map_err(wrong)? {
                let place = entry.map_err(wrong)?.path();
                let name = place.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let Some([number, of]) = numbers_of(name.trim_end_matches(".partial")) else {
                    continue;
                };
                let (last, parts) =
                    runs.entry(of).or_insert((SystemTime::UNIX_EPOCH, BTreeMap::new()));
                let files = ["manifest.json", "checkpoint.json"].map(|file| place.join(file));
                let changed = files.iter().filter_map(|file| file.metadata().ok()?.modified().ok());
                *last = changed.fold(*last, SystemTime::max);
                if files[0].exists() && !name.ends_with(".partial") {
                    parts.insert(number, place);
                }
            }
        }
        let mut runs: Vec<_> = runs.into_iter().collect();
        runs.sort_by_key(|(_, (last, _))| std::cmp::Reverse(*last));
        let others = |used: Option<usize>| {
            let others = runs.iter().filter(|(of, _)| Some(*of) != used);
            others.map(|(of, _)| format!("part-*-of-{of}")).collect()
        };
        let mut lacks_values = None;
        for (of, (_, parts)) in &runs {
            if parts.len() < *of {
                continue;
            }
            let tables = parts.values().map(|part| Table::open_part(part));
            let tables = tables.collect::<Result<Vec<_>, _>>()?;
            check(&tables, &tables[0].manifest().identity)?;
            match tables.iter().find(|table| solved && table.manifest().solution.is_none()) {
                Some(part) => lacks_values = lacks_values.or(Some(part.dir().to_path_buf())),
                None => return Ok(Parts { others: others(Some(*of)), tables }),
            }
        }
        Err(match (lacks_values, runs.first()) {
            (Some(part), _) => Error::new(
                format!("{} has no values", part.display()),
                "complete 'solver value-iterate' with the same hosts",
            ),
            (None, Some((of, (_, parts)))) => {
                let missing = (0..*of).find(|number| !parts.contains_key(number)).unwrap_or(0);
                let hint = "complete 'solver enumerate' with the same hosts, and name the directories of all";
                Error::new(format!("missing {}", part_name([missing, *of])), hint)
            }
            (None, None) => {
                let what = format!("no parts in {}", dirs[0].display());
                Error::new(what, "run 'solver enumerate' with --processes or --hosts")
            }
        })
    }
}

/// Checks that tables are all parts, in order, of the table with an identity.
fn check(parts: &[Table], whole: &Identity) -> Result<(), Error> {
    for (number, part) in parts.iter().enumerate() {
        let identity = Identity { part: Some([number, parts.len()]), ..whole.clone() };
        if part.manifest().identity != identity {
            let what = format!("{} is a part of another table", part.dir().display());
            let hint = "name directories of one table, written by this version";
            return Err(Error::new(what, hint).of_kind(Kind::Unfit));
        }
    }
    Ok(())
}

/// Rows that a worker has found of a table whose moves are derived, layer by layer.
pub struct PartDraft {
    draft: Draft,
    state: BuildState,
    wide: bool,
}

/// A part that is being made, or one that is complete.
pub enum Part {
    /// States are missing.
    Draft(Box<PartDraft>),
    /// All states are there.
    Table(Box<Table>),
}

/// States of a layer of a part.
pub struct PartLayer {
    keys: Array<u64>,
    orientations: Ints,
    rows: Range<usize>,
}

impl PartLayer {
    /// Returns the keys, ascending.
    pub fn keys(&self) -> &[u64] {
        &self.keys[self.rows.clone()]
    }

    /// Returns the orientations of the state that is `at` places after the first.
    pub fn orientations(&self, at: usize) -> u16 {
        self.orientations.get(self.rows.start + at)
    }
}

impl Part {
    /// Opens part `number` of `of` at a place in a store, which is locked: a table of all these layers, or a draft that
    /// starts in the first or where its last checkpoint ends.
    pub fn open(
        game: &dyn Rules,
        plan: &Plan,
        place: &Path,
        [number, of]: [usize; 2],
        layers: Range<u32>,
    ) -> Result<Part, Error> {
        let identity = Identity { part: Some([number, of]), ..plan.identity(game) };
        // An interrupted removal can leave an empty directory; `remove_dir` removes no other.
        let _ = fs::remove_dir(place);
        if place.exists() || Draft::finish(place, &identity)? {
            let table = Table::open_part(place)?;
            let manifest = table.manifest();
            if manifest.identity != identity {
                return Err(other_table(&table_name(&identity), place));
            }
            return match (manifest.first_layer, manifest.layers.len())
                == (layers.start, layers.len())
            {
                true => Ok(Part::Table(Box::new(table))),
                false => Err(table.damaged_manifest("layers of another game")),
            };
        }
        let (mut draft, resumed) = Draft::open::<BuildState>(place, identity)?;
        let (state, lengths) = resumed.unzip();
        let wide = has_wide_orientations(game);
        declare(&mut draft, 1, None, lengths.as_ref())?;
        Ints::grow(&mut draft, "orientations", wide, lengths.as_ref())?;
        let state = state.unwrap_or_else(|| BuildState::new(layers.start));
        let is_whole = state.first_layer == layers.start
            && state.counts.len() <= layers.len()
            && state.offsets.len() == state.counts.len() + 1
            && state.offsets.is_sorted()
            && draft.rows("keys") == Some(state.states());
        match is_whole {
            true => Ok(Part::Draft(Box::new(PartDraft { draft, state, wide }))),
            false => Err(draft.inconsistent()),
        }
    }

    /// Returns the number of layers that are complete.
    pub fn layers(&self) -> u32 {
        match self {
            Part::Draft(part) => part.state.counts.len() as u32,
            Part::Table(table) => table.manifest().layers.len() as u32,
        }
    }

    /// Compares the checksums of a table's states; those of a draft were compared when it was opened.
    pub fn check(&self) -> Result<(), Error> {
        let Part::Table(table) = self else { return Ok(()) };
        table.check_array("keys")?;
        orientations_of(table).map(drop)
    }

    /// Returns a complete layer.
    pub fn layer(&mut self, number: u32) -> Result<PartLayer, Error> {
        let (keys, orientations, offsets, first) = match self {
            Part::Draft(part) => {
                let PartDraft { draft, state, wide } = &mut **part;
                let orientations = Ints::so_far(draft, "orientations", *wide)?;
                let keys = draft.mapped("keys")?;
                (keys, orientations, state.offsets.clone(), state.first_layer)
            }
            Part::Table(table) => {
                let (keys, orientations) =
                    (table.array("keys")?, Ints::open(table, "orientations")?);
                let offsets = table.array_checked::<u64>("layer_offsets", true)?.to_vec();
                (keys, orientations, offsets, table.manifest().first_layer)
            }
        };
        let ends =
            number.checked_sub(first).and_then(|at| offsets.get(at as usize..at as usize + 2));
        let rows = ends.map_or(0..0, |ends| ends[0] as usize..ends[1] as usize);
        Ok(PartLayer { keys, orientations, rows })
    }
}

impl PartDraft {
    /// Appends states of the layer after the last complete one, in the order of their keys.
    pub fn append(&mut self, keys: &[u64], orientations: &[u16]) -> Result<(), Error> {
        let orientations = Ints::bytes(orientations, self.wide);
        self.draft.append(&[("keys", bytemuck::cast_slice(keys)), ("orientations", &orientations)])
    }

    /// Completes a layer, to which a later process can return.
    pub fn end_layer(&mut self, counts: Counts) -> Result<(), Error> {
        let states = self.draft.rows("keys").unwrap_or(0);
        if states > u64::from(u32::MAX) {
            let what = format!("{states} states of a worker exceed the limit of 2^32");
            return Err(Error::new(what, "use more workers").of_kind(Kind::Unfit));
        }
        self.state.offsets.push(states);
        self.state.counts.push(counts);
        self.draft.checkpoint(&self.state)
    }

    /// Makes the part a table, after its last layer.
    pub fn commit(mut self, game: &dyn Rules, plan: &Plan) -> Result<(), Error> {
        self.draft.append(&[("layer_offsets", bytemuck::cast_slice(&self.state.offsets))])?;
        commit((game, plan), self.draft, self.state, &Silent)
    }
}

/// Maps the orientations of a part, whose checksum it compares.
fn orientations_of(table: &Table) -> Result<Ints, Error> {
    let orientations = Ints::open(table, "orientations")?;
    table.check_array("orientations")?;
    Ok(orientations)
}

/// Calls `visit` with all runs of rows of a part whose keys precede those of all other parts, in the order of the keys.
/// Returns `false` if a key occurs twice.
fn merge(keys: &[&[u64]], visit: &mut dyn FnMut(usize, Range<usize>)) -> bool {
    let mut at = vec![0; keys.len()];
    loop {
        let mut next: Vec<(u64, usize)> = (keys.iter().zip(&at).enumerate())
            .filter_map(|(part, (keys, &at))| Some((*keys.get(at)?, part)))
            .collect();
        next.sort_unstable();
        let Some(&(_, part)) = next.first() else { return true };
        let rest = &keys[part][at[part]..];
        let count =
            next.get(1).map_or(rest.len(), |other| rest.partition_point(|&key| key < other.0));
        if count == 0 {
            return false;
        }
        visit(part, at[part]..at[part] + count);
        at[part] += count;
    }
}

/// Checkpoint that never deserializes: an interrupted join starts again.
#[derive(serde::Deserialize)]
enum Nothing {}

/// Makes the table of a plan of all its parts, and calls `visit` with runs of a part's rows in the order of the table's.
/// Returns an existing table unchanged.
pub fn join(
    game: &dyn Rules,
    plan: &Plan,
    parts: &[Table],
    store: &Store,
    visit: &mut dyn FnMut(usize, Range<usize>),
    progress: &dyn Progress,
) -> Result<Table, Error> {
    let (name, identity) = (plan.table_name(game), plan.identity(game));
    let _lock = store.lock(&name)?;
    let place = store.place(&name);
    check(parts, &identity)?;
    progress.begin(&format!("gathering {name}"), plan.expected_states(game));
    let wide = has_wide_orientations(game);
    let mut made = None;
    if !place.exists() && !Draft::finish(&place, &identity)? {
        let (mut draft, _) = Draft::open::<Nothing>(&place, identity.clone())?;
        draft.note_command("gather")?;
        declare(&mut draft, 1, None, None)?;
        Ints::grow(&mut draft, "orientations", wide, None)?;
        made = Some(draft);
    }
    let open = |table: &Table| Ok((Rows::open_checked(game, table)?, orientations_of(table)?));
    let opened = parts.iter().map(open).collect::<Result<Vec<_>, Error>>()?;
    let first = parts.first().map_or(0, |part| part.manifest().first_layer);
    let mut state = BuildState::new(first);
    loop {
        let (number, at) = (state.next_layer(), state.counts.len());
        let mut counts = Counts::default();
        let of_layer = parts.iter().filter_map(|part| part.manifest().layers.get(at));
        of_layer.for_each(|layer| counts.add(layer));
        if counts.table.states == 0 {
            break;
        }
        let rows: Vec<Range<usize>> = opened.iter().map(|(rows, _)| rows.layer(number)).collect();
        let mut of_parts: Vec<&[u64]> = Vec::new();
        for ((graph, _), rows) in opened.iter().zip(&rows) {
            if let Keys::Narrow(keys) = graph.keys() {
                of_parts.push(&keys[rows.clone()]);
            }
        }
        let (mut keys, mut orientations) = (Vec::new(), Vec::new());
        let is_whole = merge(&of_parts, &mut |part, run| {
            keys.extend_from_slice(&of_parts[part][run.clone()]);
            let run = rows[part].start + run.start..rows[part].start + run.end;
            orientations.extend_from_slice(opened[part].1.stored(run.clone()));
            visit(part, run);
        });
        if !is_whole {
            let what = "a state that another part has too";
            return Err(Error::damaged(&parts[0].path_of("keys"), what));
        }
        let states = state.states() + keys.len() as u64;
        if states > u64::from(u32::MAX) {
            return Err(too_many_states(states));
        }
        if at == 0 {
            let row = |key: u128| keys.binary_search(&(key as u64)).map_or(0, |row| row as u64);
            let roots = plan.roots.iter();
            state.root_ids = roots.map(|root| row(game.canonical(&root.state).key)).collect();
        }
        state.offsets.push(states);
        state.counts.push(counts);
        progress.advance(keys.len() as u64);
        if let Some(draft) = &mut made {
            let keys = bytemuck::cast_slice(&keys);
            draft.append(&[("keys", keys), ("orientations", &orientations)])?;
        }
    }
    if let Some(mut draft) = made {
        draft.append(&[("layer_offsets", bytemuck::cast_slice(&state.offsets))])?;
        commit((game, plan), draft, state, progress)?;
    }
    let table = store.open_at(&place)?;
    match table.manifest().identity == identity {
        true => Ok(table),
        false => Err(other_table(&table_name(&identity), &place)),
    }
}
