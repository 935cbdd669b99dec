//! Value iteration on a table: sweeps, their record, checkpoints, and the columns at the end.

use std::ops::Range;
use std::time::Instant;

use bytemuck::Pod;
use serde::{Deserialize, Serialize};

use super::backup::{Backup, BoundsBackup, DiscountBackup, ExactBackup, Leaves};
use super::columns;
use super::method::Method;
use super::policies::Policies;
use super::sweep::{Jacobi, Order, SweepError, sweep_layer};
use super::value::{Prospect, Short, Turned};
use crate::game::Score;
use crate::graph::{Deriver, Graph, LayerChecks, TerminalScores};
use crate::hint::Hinted;
use crate::progress::{Progress, Silent};
use crate::table::{Memory, Room, Scratch, SweepRecord, Table, TableError, crc32};

/// What [`value_iterate`] did.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Every sweep.
    pub sweeps: Vec<SweepRecord>,
    /// The table already had these values; nothing was written.
    pub already_solved: bool,
    /// Whether an interrupted run was resumed.
    pub resumed: bool,
}

/// Solves a table: sweeps until the residual is below `theta` and installs the columns.
///
/// Without a discount the columns are exact (`outcome`, `score`, `distance`), or bounds where the
/// table has a frontier; with one they are `value`. A table that has them already, computed in the
/// same way, is left alone. `deriver` makes the moves where they are not stored, and `terminal`
/// gives the scores of finished games. `on_sweep` is called after every sweep.
pub fn value_iterate(
    table: &mut Table,
    graph: &Graph,
    (deriver, terminal): (Option<&Deriver>, &TerminalScores<'_>),
    method: &Method,
    progress: &dyn Progress,
    mut on_sweep: impl FnMut(usize, &SweepRecord),
) -> Result<Run, SweepError> {
    method.check(table)?;
    graph.check_layered(table)?;
    let (identity, scratch) = (method.identity(table), Scratch::of(table.dir()));
    let there = |table: &Table| {
        let sweeps = method.already_there(table)?;
        Some(Run { sweeps, already_solved: true, resumed: false })
    };
    // A process that ended between installing the columns and removing its scratch left that.
    let is_over = || scratch.state::<State>().is_none_or(|state| state.identity != identity);
    if let Some(run) = there(table).filter(|_| is_over()) {
        return Ok(run);
    }
    let _lock = table.lock()?;
    if let Some(run) = there(table) {
        if !is_over() {
            scratch.remove();
        }
        return Ok(run);
    }
    if deriver.is_some() && method.order != Order::Topological {
        let option = method.order.option();
        return Err(SweepError::Options(Hinted::new(
            format!(
                "{option} asks for every move in every sweep, and those of {} are not stored",
                table.name()
            ),
            "leave it out, or enumerate with --transitions stored",
        )));
    }
    let memory = Memory::new(method.max_memory, table.dir());
    let mut run = Iteration {
        graph,
        deriver,
        memory,
        method,
        identity,
        scratch,
        progress,
        on_sweep: &mut on_sweep,
    };
    let leaves = Leaves { graph, terminal };
    let (sweeps, resumed) = if let Some(discount) = method.discount {
        let swept = run.run(table, &DiscountBackup { discount: discount as f32, leaves }, 0.0)?;
        columns::install_discounted(table, method, &swept.values, &swept.sweeps)?;
        (swept.sweeps, swept.resumed)
    } else if table.manifest().complete {
        // A move leads to a later layer, but for passes, of which one is not followed by another.
        match graph.layers().len() * 2 <= usize::from(Short::LONGEST) {
            true => run.exact::<Short>(table, leaves)?,
            false => run.exact::<Prospect>(table, leaves)?,
        }
    } else {
        let max_score = method.max_score;
        let unknown = BoundsBackup::unknown(max_score);
        let swept = run.run(table, &BoundsBackup { max_score, leaves }, unknown)?;
        columns::install_bounds(table, method, &swept.values, &swept.sweeps)?;
        (swept.sweeps, swept.resumed)
    };
    Scratch::of(table.dir()).remove();
    Ok(Run { sweeps, already_solved: false, resumed })
}

/// Installs exact values that were found elsewhere, layer by layer from the end, as one sweep in topological order
/// would have left them.
#[cfg(feature = "cluster")]
pub(crate) fn install_found(
    table: &mut Table,
    method: &Method,
    values: &[Prospect],
) -> Result<(), SweepError> {
    let kept: Vec<Prospect> = values.iter().map(|&value| Turned::of(value)).collect();
    let level: Prospect = Turned::of(Prospect::new(Score(0), Some(0)));
    let sweep = SweepRecord {
        residual: kept.iter().map(|&value| level.change_to(value)).fold(0.0, f64::max),
        changed: kept.iter().filter(|&&value| value != level).count() as u64,
        decided: None,
    };
    columns::install_exact(table, method, &kept, &[sweep])
}

struct Iteration<'a> {
    graph: &'a Graph,
    deriver: Option<&'a Deriver>,
    memory: Memory,
    method: &'a Method,
    identity: String,
    scratch: Scratch,
    progress: &'a dyn Progress,
    on_sweep: &'a mut dyn FnMut(usize, &SweepRecord),
}

struct Swept<V> {
    values: Room<V>,
    sweeps: Vec<SweepRecord>,
    resumed: bool,
}

/// What the scratch holds besides the values.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    identity: String,
    sweeps: Vec<SweepRecord>,
    /// What the file of values holds: rows and the checksum of their values. In topological order
    /// the rows from the last piece's first on are final, but for passes of layers in parts.
    pieces: Vec<Piece>,
    /// Topological: the same of the first rows of the layer before these.
    first: Vec<Piece>,
    /// Topological: what changed among these rows.
    partial: SweepRecord,
    /// The first rows of layers that were written in parts, before it was known what their passes are worth.
    in_parts: Vec<usize>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Piece {
    from: usize,
    to: usize,
    crc32: u32,
}

impl State {
    /// Reads the values of all pieces from `file`; `None` if they are not what was written.
    fn load<V: Pod>(&self, scratch: &Scratch, file: &str, values: &mut [V]) -> Option<()> {
        for piece in self.pieces.iter().chain(&self.first) {
            let rows = values.get_mut(piece.from..piece.to)?;
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(rows);
            scratch.read_at(file, (piece.from * size_of::<V>()) as u64, bytes)?;
            (crc32(bytes) == piece.crc32).then_some(())?;
        }
        let before = self.pieces.last().map_or(values.len(), |piece| piece.from);
        let fits = self.first.windows(2).all(|pair| pair[0].to == pair[1].from)
            && self.first.last().is_none_or(|piece| piece.to <= before);
        fits.then_some(())?;
        // Pieces follow each other downwards from the end.
        let joined = self.pieces.windows(2).all(|pair| pair[1].to == pair[0].from);
        let end = self.pieces.first().map_or(values.len(), |piece| piece.to);
        let has_some = !self.pieces.is_empty() || !self.first.is_empty();
        (has_some && joined && end == values.len()).then_some(())
    }
}

/// So much rarer than after a layer is what is done of one saved.
const RARER: u32 = 20;

const NOTHING: SweepRecord = SweepRecord { residual: 0.0, changed: 0, decided: None };

impl Iteration<'_> {
    /// Sweeps from a table whose values are `initial`.
    fn run<B: Backup<Value: Pod>>(
        &mut self,
        table: &Table,
        backup: &B,
        initial: B::Value,
    ) -> Result<Swept<B::Value>, SweepError> {
        let saved = self.scratch.state::<State>().filter(|s| s.identity == self.identity);
        match self.method.order {
            Order::Topological => self.topological(table, backup, initial, saved),
            Order::Natural => {
                LayerChecks::all(self.graph, table)?;
                self.natural(backup, initial, saved)
            }
            Order::Policies => {
                LayerChecks::all(self.graph, table)?;
                self.policies(backup, initial)
            }
        }
    }

    /// Finds exact values, keeping each as a `T`, and installs them.
    fn exact<T: Turned>(
        &mut self,
        table: &mut Table,
        leaves: Leaves<'_>,
    ) -> Result<(Vec<SweepRecord>, bool), SweepError> {
        let level = T::of(Prospect::new(Score(0), Some(0)));
        let swept = self.run(table, &ExactBackup::<T>::new(leaves), level)?;
        columns::install_exact(table, self.method, &swept.values, &swept.sweeps)?;
        Ok((swept.sweeps, swept.resumed))
    }

    fn begin(&self, sweep: usize) {
        self.progress.begin(&format!("sweep {sweep}"), Some(self.graph.states() as u64));
    }

    fn converged(&self, sweep: &SweepRecord) -> bool {
        sweep.residual < self.method.theta
    }

    fn done(&mut self, sweeps: &mut Vec<SweepRecord>, sweep: SweepRecord) -> bool {
        sweeps.push(sweep);
        self.progress.finish(&format!("residual {}, {} changed", sweep.residual, sweep.changed));
        (self.on_sweep)(sweeps.len(), &sweep);
        self.converged(&sweep)
    }

    fn topological<B: Backup<Value: Pod>>(
        &mut self,
        table: &Table,
        backup: &B,
        initial: B::Value,
        saved: Option<State>,
    ) -> Result<Swept<B::Value>, SweepError> {
        let states = self.graph.states();
        let mut values = self.memory.zeros(states)?;
        values.fill(initial);
        let mut sweeps = Vec::new();
        let (mut from, mut partial, mut resumed) = (states, NOTHING, false);
        let (mut pieces, mut first, mut in_parts) = (Vec::new(), Vec::<Piece>::new(), Vec::new());
        if let Some(saved) = saved.filter(|s| s.sweeps.is_empty()) {
            if saved.load(&self.scratch, "values", &mut values).is_some() {
                (pieces, partial, resumed) = (saved.pieces, saved.partial, true);
                (first, in_parts) = (saved.first, saved.in_parts);
                from = pieces.last().map_or(states, |piece| piece.from);
            } else {
                values.fill(initial);
            }
        }
        self.begin(1);
        let mut checks = LayerChecks::new(self.graph, table, (self.deriver, &self.memory));
        let (mut secured, mut unsaved_to) = (Instant::now(), from);
        let mut layers = self.graph.layers().rev();
        let mut next = layers.next().map(|rows| checks.layer(rows)).transpose()?;
        while let Some(layer) = next {
            let Range { start, end } = layer.rows;
            let is_done = start >= from && start < end;
            let is_final = is_done && !in_parts.contains(&start);
            let is_begun = from == end && first.first().is_some_and(|piece| piece.from == start);
            if start < end && !is_done && !is_begun {
                first.clear();
            }
            let done = match first.last() {
                _ if is_done => end,
                Some(piece) if is_begun => piece.to,
                _ => start,
            };
            let (scratch, identity, progress) = (&self.scratch, &self.identity, self.progress);
            let rarely = self.method.checkpoint_after.saturating_mul(RARER);
            let mut told = done;
            let mut on_part = |done: usize, change, values: &[B::Value]| {
                progress.advance((done - told) as u64);
                told = done;
                if done == end || secured.elapsed() < rarely {
                    return Ok(());
                }
                if end < unsaved_to {
                    pieces.push(write_rows(scratch, "values", values, end..unsaved_to)?);
                    unsaved_to = end;
                }
                let begin = first.last().map_or(start, |piece| piece.to);
                first.push(write_rows(scratch, "values", values, begin..done)?);
                if in_parts.last() != Some(&start) {
                    in_parts.push(start);
                }
                let partial = merge(partial, change);
                save(scratch, identity, (&[], [&pieces, &first], &in_parts), partial)?;
                secured = Instant::now();
                Ok(())
            };
            // While a layer is swept the one before it is taken up.
            let (swept, taken_up) = rayon::join(
                || match is_final {
                    true => Ok((None, layer.check()?)),
                    false => {
                        let values = (&mut values[..], done);
                        let on_part = (&mut on_part as _, rarely);
                        let (change, sums) = sweep_layer(&layer, backup, values, on_part)?;
                        Ok::<_, TableError>((Some(change), sums))
                    }
                },
                || layers.next().map(|rows| checks.layer(rows)).transpose(),
            );
            let (change, sums) = swept?;
            next = taken_up?;
            checks.add(sums);
            self.graph.forget(layer.rows);
            let Some(change) = change.filter(|_| !is_done) else { continue };
            partial = merge(partial, change);
            let is_due = secured.elapsed() >= self.method.checkpoint_after;
            if start < end && (is_due || !first.is_empty()) {
                let begin = first.last().map_or(start, |piece| piece.to);
                pieces.push(write_rows(&self.scratch, "values", &values, begin..unsaved_to)?);
                pieces.extend(first.drain(..).rev());
                save(&self.scratch, &self.identity, (&[], [&pieces, &[]], &in_parts), partial)?;
                (secured, unsaved_to) = (Instant::now(), start);
            }
        }
        checks.compare()?;
        self.done(&mut sweeps, partial);
        Ok(Swept { values, sweeps, resumed })
    }

    fn natural<B: Backup<Value: Pod>>(
        &mut self,
        backup: &B,
        initial: B::Value,
        saved: Option<State>,
    ) -> Result<Swept<B::Value>, SweepError> {
        let states = self.graph.states();
        let mut values = self.memory.zeros(states)?;
        values.fill(initial);
        let mut sweeps: Vec<SweepRecord> = Vec::new();
        let mut resumed = false;
        if let Some(saved) = saved {
            let file = values_after(saved.sweeps.len());
            if saved.load(&self.scratch, &file, &mut values).is_some() {
                (sweeps, resumed) = (saved.sweeps, true);
            } else {
                values.fill(initial);
            }
        }
        let (mut secured, mut secured_sweeps) = (Instant::now(), sweeps.len());
        loop {
            self.begin(sweeps.len() + 1);
            let rows = (0..states as u32).collect();
            let mut jacobi =
                Jacobi { backup, moves: self.graph, values: &mut values, rows, sweeps: 0 };
            let sweep = SweepRecord { decided: None, ..jacobi.sweep(&Silent) };
            self.progress.advance(states as u64);
            if self.done(&mut sweeps, sweep) {
                return Ok(Swept { values, sweeps, resumed });
            }
            if secured.elapsed() >= self.method.checkpoint_after {
                let file = values_after(sweeps.len());
                let piece = write_rows(&self.scratch, &file, &values, 0..states)?;
                save(&self.scratch, &self.identity, (&sweeps, [&[piece], &[]], &[]), NOTHING)?;
                self.scratch.remove_file(&values_after(secured_sweeps));
                (secured, secured_sweeps) = (Instant::now(), sweeps.len());
            }
        }
    }
}

impl Iteration<'_> {
    /// Evaluates a policy and improves it until it is the best; first that of every first move.
    fn policies<B: Backup<Value: Pod>>(
        &mut self,
        backup: &B,
        initial: B::Value,
    ) -> Result<Swept<B::Value>, SweepError> {
        let states = self.graph.states();
        let mut values = self.memory.zeros(states)?;
        values.fill(initial);
        let (mut sweeps, mut chosen) = (Vec::new(), vec![0; states]);
        loop {
            self.begin(sweeps.len() + 1);
            let mut policies = Policies { graph: self.graph, backup, chosen, values: &mut values };
            let sweep = policies.improve();
            chosen = policies.chosen;
            self.progress.advance(states as u64);
            self.done(&mut sweeps, sweep);
            if sweep.changed == 0 {
                return Ok(Swept { values, sweeps, resumed: false });
            }
        }
    }
}

fn write_rows<V: Pod>(
    scratch: &Scratch,
    file: &str,
    values: &[V],
    rows: Range<usize>,
) -> Result<Piece, TableError> {
    let bytes: &[u8] = bytemuck::cast_slice(&values[rows.clone()]);
    scratch.write_at(file, (rows.start * size_of::<V>()) as u64, bytes)?;
    Ok(Piece { from: rows.start, to: rows.end, crc32: crc32(bytes) })
}

fn save(
    scratch: &Scratch,
    identity: &str,
    (sweeps, [pieces, first], in_parts): (&[SweepRecord], [&[Piece]; 2], &[usize]),
    partial: SweepRecord,
) -> Result<(), TableError> {
    let (identity, sweeps) = (identity.to_string(), sweeps.to_vec());
    let [pieces, first] = [pieces, first].map(<[Piece]>::to_vec);
    let in_parts = in_parts.to_vec();
    scratch.save(&State { identity, sweeps, pieces, first, partial, in_parts })
}

/// The file of the values after so many sweeps. The one that the state speaks of stays whole while
/// the next is written, and is removed after it.
fn values_after(sweeps: usize) -> String {
    format!("values-{sweeps}")
}

fn merge(a: SweepRecord, b: SweepRecord) -> SweepRecord {
    SweepRecord {
        residual: a.residual.max(b.residual),
        changed: a.changed.saturating_add(b.changed),
        decided: None,
    }
}
