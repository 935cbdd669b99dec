//! Proof of a table from moves derived again from the rules: an independent check of every row and value,
//! written apart from the enumeration and the solvers. They share the arithmetic of a [`Prospect`]: its order, and a ply
//! before; plain solvers with values of their own check that in tests.
//!
//! # What is proven
//!
//! *The states.* From the roots all moves are followed, ply by ply, through rows of the table only, and at
//! the end every row must have been reached. On the way each row's key must be the canonical one of its
//! position, its kind the one that rules and bounds give, and its edges the moves that were followed; where
//! layers are plies, it must lie in the layer of its ply. So the rows are the reachable states, without
//! cycles that nothing leads into. Orientations must be those that roots and predecessors give.
//!
//! *The values.* Every value is compared with the end that the rules give, or with the best of its
//! successors' values, where an end is one ply further away. In a layered game this proves it, by induction
//! from the last layer. In a game with cycles call (state, bound) a node: its moves lead to the nodes of the
//! successors' other bounds, and along every play the same player, the hero, moves in the lower ones. Then
//! the *ends* (wins and losses with a distance) are right:
//!
//! * An end in the table can be forced. By induction on its distance: a win in d has a move to a loss in d −
//!   1; every move of a loss in d leads to a win in at most d − 1.
//! * An end that can be forced is in the table. By induction on the distance d at which best play forces it:
//!   a win in d has a move to a loss that best play forces in d − 1, and the table contains that, hence the
//!   node is a win in at most d, and not in less by the first point; likewise a loss.
//!
//! *Infinite play.* Agreement with the successors does not suffice for the other nodes, since the nodes of a
//! cycle may agree on anything. But at a node where neither player can force an end, both can play on for
//! ever: each has a move that keeps the other from forcing one. A player who leaves such nodes otherwise
//! loses by an end, which is worse than anything without one. So the value is that of infinite play by the
//! convention alone, and the proof compares it with that. One case would break this and is checked: a drawn
//! end may be better than infinite play; unless the convention is a draw itself, a table with a drawn end is
//! refused (the built-in games have none).
//!
//! A distance of the maximum that can be stored is refused too: ends further away share it, and the
//! inductions fail.
//!
//! *The counts*, layer by layer, are those of the rows, in each of the ways of counting. A rank and its state
//! must match where a row has them.
//!
//! *Not proven*: the rules themselves; the record of sweeps; the conventions in words; that a bound which
//! cuts nothing off was requested.

mod cut_off;
mod stored;
mod values;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use self::stored::{StoredRow, Word};
use self::values::{Discounts, ProofColumns};
use crate::bits::{ones_of, set_bit};
use crate::enumerate::{Census, Plan};
use crate::error::Error;
use crate::mmap::prefetch;
use crate::parallel;
use crate::progress::Progress;
use crate::rules::{
    Action, Address, AnyPosition, Canonical, Group, Mobility, MoveByKey, MoveByRank, Orientations,
    Outcome, Rules, Side, Standing, Symmetry,
};
use crate::solve::value::Prospect;
use crate::table::rows::{Finder, Rows, StateKind};
use crate::table::{Buffer, Counts, Memory, RootValue, Table};

/// Result of [`prove`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Number of rows of the table.
    pub states: u64,
    /// Number of moves derived from the rules.
    pub edges: u64,
    /// `true` if the table has values, which were proven.
    pub solved: bool,
    /// Wrong row, if there is one: the lowest of the first ply that has any.
    pub counterexample: Option<Counterexample>,
}

/// Wrong row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// Number of the row.
    pub row: usize,
    /// State in the game's notation; the mover is the first player if the table does not record the side.
    pub state: String,
    /// Description of the fault.
    pub what: String,
}

/// Proves every row, move and value of a table from its rules; the checksums must have been checked. Fails if
/// the manifest or an array is wrong as a whole.
pub fn prove(game: &dyn Rules, table: &Table, progress: &dyn Progress) -> Result<Verified, Error> {
    let plan = Plan::of(game, table)?;
    let rows = Rows::open(game, table)?;
    rows.check_whole(table)?;
    let memory = Memory::new(None, table.dir());
    let proof = Proof {
        game,
        group: game.group(),
        is_layered: game.is_layered(),
        rows: &rows,
        finder: rows.finder(game),
        max_depth: plan.max_depth.unwrap_or(u32::MAX),
        cut_layer: plan.max_states.and_then(|_| last_layer_with_frontier(&rows)),
        first_layer: rows.layer_of(0).unwrap_or(0),
        columns: ProofColumns::open(game, table)?,
        discounts: Discounts::open(table)?,
        reached: memory.zeros(rows.states().div_ceil(64))?,
        orientations: memory.zeros(if rows.has_orientations() { rows.states() } else { 0 })?,
        folded: game.with_folding(true).filter(|_| game.group().order() == 1),
    };
    progress.begin("proving", Some(rows.states() as u64));
    let roots = proof.roots(&plan);
    let (layers, mut wrong) = match roots.contains(&None) {
        true => (Findings::new(), Some((0, "a root is missing from the table".to_string()))),
        false => proof.plies(progress),
    };
    wrong = wrong.or_else(|| proof.not_reached()).or_else(|| proof.room_left(&plan));
    if wrong.is_none() {
        proof.manifest(table, &layers, &roots)?;
    }
    progress.finish(if wrong.is_none() { "proven" } else { "refuted" });
    table.check_read()?;
    Ok(Verified {
        states: rows.states() as u64,
        edges: layers.values().map(|layer| layer.census.table.transitions).sum(),
        solved: proof.columns.is_some() || proof.discounts.is_some(),
        counterexample: wrong.map(|(row, what)| Counterexample {
            row,
            state: proof.text(row),
            what,
        }),
    })
}

/// Returns the last layer if it has rows whose moves were not followed.
fn last_layer_with_frontier(rows: &Rows) -> Option<u32> {
    let last = rows.layer_of(rows.states().checked_sub(1)?)?;
    let mut in_last = (0..rows.states()).rev().take_while(|&row| rows.layer_of(row) == Some(last));
    let cut = |row: usize| rows.kind(row, &|| false) == StateKind::Frontier;
    in_last.any(cut).then_some(last)
}

/// Wrong row and its fault.
type Wrong = Option<(usize, String)>;

fn lower(a: Wrong, b: Wrong) -> Wrong {
    a.into_iter().chain(b).min_by_key(|wrong| wrong.0)
}

/// Findings by layer; by ply where rows have no layer.
type Findings = BTreeMap<u32, LayerFindings>;

/// Findings in a layer.
#[derive(Clone, Copy, Default)]
struct LayerFindings {
    census: Census,
    /// Rows without a mirror image earlier in the table.
    canonical: u64,
    /// Ends that the mover has won.
    won: u64,
    /// Numbers of proven outcomes, proven scores and exact distances.
    outcomes: u64,
    scores: u64,
    distances: u64,
    /// Rows whose bounds differ.
    open: u64,
}

impl LayerFindings {
    fn add(&mut self, other: &LayerFindings) {
        self.census.add(&other.census);
        self.canonical += other.canonical;
        self.won += other.won;
        self.outcomes += other.outcomes;
        self.scores += other.scores;
        self.distances += other.distances;
        self.open += other.open;
    }
}

/// Properties of a row by the rules.
struct ExpectedRow {
    kind: StateKind,
    end: Option<Prospect>,
    /// `true` if the second player is to move.
    second: bool,
    /// Moves that are followed, with their rows.
    moves: Vec<(Action, usize)>,
}

/// Buffers for the moves of a row.
#[derive(Default)]
struct Buffers {
    moves: Vec<(Action, usize)>,
    by_key: Vec<MoveByKey>,
    by_rank: Vec<MoveByRank>,
}

struct Proof<'a> {
    game: &'a dyn Rules,
    group: &'a Group,
    is_layered: bool,
    rows: &'a Rows,
    finder: Finder<'a>,
    /// Ply from which on moves are not followed.
    max_depth: u32,
    /// Layer whose moves are not followed because of the bound on states.
    cut_layer: Option<u32>,
    /// Layer of the first row.
    first_layer: u32,
    columns: Option<ProofColumns>,
    discounts: Option<Discounts>,
    /// Bitmap of the rows that a root or a move leads to.
    reached: Buffer<AtomicU64>,
    /// Orientations that roots and predecessors give each row, where the table has them.
    orientations: Buffer<AtomicU16>,
    /// Game with all its symmetries, where the table is not folded.
    folded: Option<Arc<dyn Rules>>,
}

impl Proof<'_> {
    /// Marks the roots; returns their rows.
    fn roots(&self, plan: &Plan) -> Vec<Option<usize>> {
        let reach = |root: &AnyPosition| {
            let row = self.rows.find(self.game, root)?;
            let ties = self.game.canonical(&root.state).ties;
            self.reach(row, self.group.root_orientations(root.side, ties));
            Some(row)
        };
        plan.roots.iter().map(reach).collect()
    }

    fn reach(&self, row: usize, orientations: Orientations) {
        set_bit(&self.reached[row / 64], (row % 64) as u32);
        let set = self.orientations.get(row);
        let lacks =
            |set: &&AtomicU16| set.load(Ordering::Relaxed) & orientations.0 != orientations.0;
        if let Some(set) = set.filter(lacks) {
            set.fetch_or(orientations.0, Ordering::Relaxed);
        }
    }

    /// Proves ply after ply until one has a wrong row; returns the findings.
    fn plies(&self, progress: &dyn Progress) -> (Findings, Wrong) {
        let (mut layers, mut done) = (Findings::new(), vec![0u64; self.reached.len()]);
        for ply in 0.. {
            let mut open = vec![0u64; done.len()];
            for ((open, done), reached) in open.iter_mut().zip(&mut done).zip(&*self.reached) {
                let reached = reached.load(Ordering::Relaxed);
                *open = reached & !*done;
                *done = reached;
            }
            if open.iter().all(|&word| word == 0) {
                break;
            }
            let wrong = self.ply(ply, &open, &mut layers, progress);
            if wrong.is_some() {
                return (layers, wrong);
            }
        }
        (layers, None)
    }

    /// Proves the rows of a ply, marks the rows that their moves lead to, and adds the findings.
    fn ply(&self, ply: u32, open: &[u64], layers: &mut Findings, progress: &dyn Progress) -> Wrong {
        /// Number of words of 64 rows in a task.
        const WORDS: usize = 1 << 6;
        let prove = |words: Range<usize>| {
            let (mut found, mut buffers) = (Vec::<(u32, LayerFindings)>::new(), Buffers::default());
            let (mut states, mut stored) = (0, Word::default());
            let (mut address, mut wrong) = (self.rows.addresses(), None);
            'words: for word in words.filter(|&word| open[word] != 0) {
                let rows = ones_of(open[word]).map(|bit| word * 64 + bit);
                stored.begin(self.rows, word);
                self.fetch(&stored, rows.clone());
                for row in rows {
                    let own = stored.of(self.rows, row);
                    let layer = own.layer.unwrap_or(ply);
                    match self.row((ply, row), address(row), own, &mut buffers) {
                        // Rows ascend, so layers change rarely.
                        Ok(own) => match found.last_mut() {
                            Some((last, all)) if *last == layer => all.add(&own),
                            _ => found.push((layer, own)),
                        },
                        Err(what) => {
                            wrong = Some((row, what));
                            break 'words;
                        }
                    }
                    states += 1;
                }
            }
            progress.advance(states);
            (found, wrong)
        };
        let mut first = None;
        for (found, wrong) in parallel::map_ranges(open.len(), WORDS, &prove) {
            for (layer, own) in found {
                layers.entry(layer).or_default().add(&own);
            }
            first = lower(first, wrong);
        }
        first
    }

    /// Prefetches the data that proving some rows will read, because cache misses dominate the time of a
    /// proof.
    fn fetch(&self, stored: &Word, rows: impl Iterator<Item = usize>) {
        for row in rows {
            let Some(edges) = stored.edges(row) else { continue };
            let targets = &self.rows.edge_targets()[edges];
            self.rows.fetch(targets);
            if let Some(columns) = &self.columns {
                columns.values.fetch(targets);
            }
            for target in targets.iter().map(|&target| target as usize) {
                self.reached.get(target / 64).into_iter().for_each(prefetch);
                self.orientations.get(target).into_iter().for_each(prefetch);
            }
        }
    }

    /// Proves one row.
    fn row(
        &self,
        (ply, row): (u32, usize),
        address: Option<Address>,
        StoredRow { layer, edges }: StoredRow,
        buffers: &mut Buffers,
    ) -> Result<LayerFindings, String> {
        let (game, layered) = (self.game, self.is_layered);
        let has_keys = self.rows.ranked().is_none();
        let is_open = ply < self.max_depth && (layer.is_none() || layer != self.cut_layer);
        let follows = has_keys && is_open;
        let empties = self.columns.as_ref().map(|columns| columns.values.empties());
        let standing = |at| {
            let moves = follows.then_some(&mut buffers.by_key);
            Some((at, game.standing(at, empties.unwrap_or_default(), moves)?))
        };
        let (at, standing) = address.and_then(standing).ok_or_else(|| self.rows.invalid(row))?;
        self.rows.check(row, &standing)?;
        if let Some(layer) = layer.filter(|&layer| !layered && layer != ply) {
            return Err(format!("it is in layer {layer}, but reached in {ply} plies"));
        }
        let pass = standing.mobility == Some(Mobility::Pass);
        let cut = layer.is_some() && layer == self.cut_layer && !pass;
        let mut made = ExpectedRow {
            kind: StateKind::Interior,
            end: match layered {
                true if standing.mobility == Some(Mobility::Over) => {
                    Some(Prospect::new(standing.score, Some(0)))
                }
                true => None,
                false => standing.end.map(|end| Prospect::of_end(end.outcome, end.plies)),
            },
            second: standing.side == Side::Second,
            moves: std::mem::take(&mut buffers.moves),
        };
        made.moves.clear();
        made.kind = match made.end {
            Some(_) => StateKind::Terminal,
            None if cut || ply >= self.max_depth => StateKind::Frontier,
            None => StateKind::Interior,
        };
        let stored = self.rows.kind(row, &|| made.end.is_some());
        if stored != made.kind {
            let kind = made.kind;
            return Err(format!("its kind is {stored:?}, expected {kind:?}"));
        }
        let own = self.rows.orientations(row).unwrap_or_default();
        if made.kind == StateKind::Interior {
            if !has_keys {
                game.moves_by_rank(at, false, &mut buffers.by_rank);
            } else if !follows {
                game.moves_by_key(at, &mut buffers.by_key);
            }
            self.follow(ply, (&edges, own), standing.side, &mut made, buffers)?;
        }
        let name = |action: Action| self.action_name(standing.side, action);
        self.rows.check_moves(row, edges, &made.moves, &name)?;
        // Counted at the rarer side: the other player moves in a layer only after a pass.
        let rare = if (layer.unwrap_or(ply) ^ self.first_layer) & 1 == 0 {
            Side::Second
        } else {
            Side::First
        };
        let moves = made.moves.len() as u32;
        let mut found = LayerFindings {
            canonical: u64::from(self.rows.has_orientations() && self.comes_first(at, &standing)),
            won: u64::from(made.end.is_some_and(|end| end.outcome() == Outcome::Win)),
            ..LayerFindings::default()
        };
        found.census.add_row(made.kind, moves, pass, own, self.group.order());
        found.census.with_both =
            self.with_both((at, &standing), rare, own.with(rare, self.group.order()));
        if let Some(columns) = &self.columns {
            let value = columns.prove(row, &made)?;
            found.outcomes = u64::from(value.outcome().is_some());
            found.scores = u64::from(value.score().is_some());
            found.distances = u64::from(value.distance().is_some());
            found.open = u64::from(value.lower != value.upper);
        }
        if let Some(discounts) = &self.discounts {
            discounts.prove(row, &made)?;
        }
        buffers.moves = made.moves;
        Ok(found)
    }

    /// Follows the moves of a row, which have been made.
    fn follow(
        &self,
        ply: u32,
        (edges, from): (&Option<Range<usize>>, Orientations),
        side: Side,
        made: &mut ExpectedRow,
        Buffers { by_key, by_rank, .. }: &mut Buffers,
    ) -> Result<(), String> {
        let stored = edges.clone().map_or(&[][..], |edges| &self.rows.edge_targets()[edges]);
        let leads_out = |action: Action| {
            let name = self.action_name(side, action);
            format!("its move {name} leads out of the table")
        };
        if let Some(ranked) = self.rows.ranked() {
            for to in by_rank {
                let target = to.rank.and_then(|rank| ranked.row(rank));
                let target = target.ok_or_else(|| leads_out(to.action))?;
                self.reach(target, Orientations(0));
                made.moves.push((to.action, target));
            }
        } else {
            for to in by_key {
                let guess = stored.get(made.moves.len()).map(|&target| target as usize);
                let target = self.finder.find(to.key, to.layer, ply + 1, guess);
                let target = target.ok_or_else(|| leads_out(to.action))?;
                self.reach(target, self.group.successor_orientations(from, to.ties));
                made.moves.push((to.action, target));
            }
        }
        match made.moves.is_empty() {
            true => Err("it has no legal move, but the game is not over".to_string()),
            false => Ok(()),
        }
    }

    /// Returns the number of boards, among a state's images under `symmetries` with `side` to move, that are
    /// also reachable with the other side to move.
    fn with_both(&self, (at, standing): (Address, &Standing), side: Side, symmetries: u8) -> u64 {
        if symmetries == 0 {
            return 0;
        }
        let Some(Canonical { key, ties }) = self.game.canonical_at(at, true) else { return 0 };
        let Some(row) = self.finder.find(key, standing.layer, 0, None) else { return 0 };
        let group = self.group;
        let theirs = self.rows.orientations(row).unwrap_or_default();
        let theirs = theirs.with(side.other(), group.order());
        u64::from((group.carry(symmetries, ties) & theirs).count_ones())
    }

    /// Returns `true` if no mirror image of a position has a smaller key and its own row; always in a folded
    /// table.
    fn comes_first(&self, at: Address, standing: &Standing) -> bool {
        let Some(folded) = &self.folded else { return true };
        let Some(AnyPosition { state, .. }) = self.game.position_at(at) else { return false };
        let key = self.game.key(&state);
        (1..folded.group().order()).all(|symmetry| {
            let image = self.game.key(&folded.transform(&state, symmetry as Symmetry));
            image >= key || self.finder.find(image, standing.layer, 0, None).is_none()
        })
    }

    fn action_name(&self, side: Side, action: Action) -> String {
        // A stored action may be out of range and have no name.
        match usize::from(action.0) < self.game.action_count() {
            true => self.game.action_name(side, action),
            false => format!("action {}", action.0),
        }
    }

    fn text(&self, row: usize) -> String {
        let position = self.rows.position(self.game, row);
        position.map_or("invalid position".to_string(), |position| self.game.notation(&position))
    }

    /// Returns the first row that is not reached, or reached in other orientations than stored.
    fn not_reached(&self) -> Wrong {
        parallel::find_map(self.rows.states(), |row| {
            if self.reached[row / 64].load(Ordering::Relaxed) >> (row % 64) & 1 == 0 {
                return Some((row, "it is not reachable from the start".to_string()));
            }
            let given = self.orientations.get(row)?.load(Ordering::Relaxed);
            let stored = self.rows.orientations(row)?.0;
            let what = || {
                format!("its orientations are {stored:#b}, expected {given:#b} by its predecessors")
            };
            (stored != given).then(|| (row, what()))
        })
    }

    /// Checks that the manifest's entries for rows, roots and values match the findings.
    fn manifest(
        &self,
        table: &Table,
        layers: &Findings,
        roots: &[Option<usize>],
    ) -> Result<(), Error> {
        let manifest = table.manifest();
        let wrong = |what: &str| Err(table.damaged_manifest(what));
        let mut all = LayerFindings::default();
        layers.values().for_each(|layer| all.add(layer));
        let mut summed = Counts::default();
        manifest.layers.iter().for_each(|layer| summed.add(layer));
        let (by_rank, oriented) = (self.rows.ranked().is_some(), self.rows.has_orientations());
        let counted = |found: &LayerFindings| Counts {
            terminals_won: by_rank.then_some(found.won),
            ..match oriented {
                true => found.census.counts(found.canonical),
                false => Counts { table: found.census.table, ..Counts::default() },
            }
        };
        let none = LayerFindings::default();
        let found = (manifest.first_layer..).map(|layer| layers.get(&layer).unwrap_or(&none));
        let right = manifest.layers.iter().zip(found).all(|(said, own)| counted(own) == *said)
            && layers.keys().all(|&layer| {
                let place = layer.checked_sub(manifest.first_layer);
                place.is_some_and(|place| (place as usize) < manifest.layers.len())
            });
        if !right || summed != manifest.counts {
            return wrong("counts differ from the rows");
        }
        if manifest.complete != (all.census.table.frontier == 0) {
            return wrong("`complete` contradicts the rows");
        }
        if !roots.iter().copied().eq(manifest.root_ids.iter().map(|&id| Some(id as usize))) {
            return wrong("root_ids differ from the rows of the roots");
        }
        if self.discounts.is_some() && !self.game.is_layered() {
            return wrong("unexpected discounted values");
        }
        let (Some(solution), Some(columns)) = (&manifest.solution, &self.columns) else {
            return Ok(());
        };
        let scored = columns.values.has_scores();
        let proven = (solution.proven_outcomes, solution.proven_scores, solution.exact_distances);
        if proven != (all.outcomes, scored.then_some(all.scores), all.distances) {
            return wrong("numbers of proven values in the solution differ from the columns");
        }
        let open = columns.values.has_bounds() || columns.values.leaves_distances_out();
        if self.rows.layer_of(0).is_some() && open != (all.open > 0) {
            return wrong("bounds are stored although every value is exact, or missing");
        }
        let values = roots.iter().flatten().map(|&row| {
            let value = columns.values.get(row);
            RootValue {
                outcome: value.outcome().map(Outcome::value),
                score: value.score().filter(|_| scored).map(|score| score.0),
                distance: value.distance(),
            }
        });
        match values.eq(solution.roots.iter().cloned()) {
            true => Ok(()),
            false => wrong("values of the roots differ from their rows"),
        }
    }
}
