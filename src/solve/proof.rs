//! The proof of a table from moves made anew from the rules: a second road to every row and value,
//! written apart from the enumeration and the solvers.
//!
//! # What is proven
//!
//! *The states.* From the roots all moves are followed, ply by ply, through rows of the table alone,
//! and at the end every row must have been met. On the way each row's key must be the canonical one
//! of its position, its kind what rules and bounds make it, and its edges the moves that were
//! followed; where layers are plies, it must lie in that of its ply. So the rows are the states that
//! can be reached, and a circle that nothing leads into is none of them. Orientations must be those
//! that roots and predecessors give.
//!
//! *The values.* Every value is compared with what the rules say of an end, or with the best of what
//! its successors' values give, which is an end one ply further off. In a layered game that proves
//! it, by induction from the last layer. In a game that may go round in circles call (state, bound) a
//! node: its moves lead to the nodes of the successors' other bounds, and along every play the same
//! player, the hero, moves in the lower ones. Then the *ends* (wins and losses with a distance) are
//! right:
//!
//! * An end in the table can be forced. By induction on its distance: a win in d has a move to a
//!   loss in d − 1; of a loss in d every move leads to a win in at most d − 1.
//! * An end that can be forced is in the table. By induction on the distance d at which best play
//!   forces it: a win in d has a move to a loss that best play forces in d − 1, and that stands in the
//!   table so, hence the node is a win in at most d, and not in less by the first point; likewise a
//!   loss.
//!
//! *Play without end.* Agreement with the successors is not enough for the rest, since the nodes of a
//! circle may agree on anything. But at a node where neither player can force an end, both can go on
//! for ever: each has a move that keeps the other from forcing one. Who leaves such nodes against
//! that loses by an end, which is worse than anything without. So the value is what play without end
//! counts for, by the convention alone, and that is what is compared. Two things would break this and
//! are looked at. A drawn end may be better than play without end; where the convention is not a
//! draw itself, a table that has one is refused (the games there are have none). And a restricted
//! mover is given a win without end at least in the upper bound; there the convention must be that
//! nothing is known of play without end, which gives the same.
//!
//! A distance as long as there is room for is refused too, because ends further off share it, and
//! the inductions do not hold.
//!
//! *Not proven*: the rules themselves, among them that a rank and its state belong together; the
//! record of sweeps; the conventions in words.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use rayon::prelude::*;

use super::columns::{UNKNOWN_DISTANCE, UNKNOWN_SCORE, Values};
use super::value::{Prospect, Value};
use crate::game::{Action, Game, Mobility, Orientations, Outcome, Position, Repetition, Side};
use crate::graph::{Finder, Plan, Rows, StateKind, ones_of, open_rows};
use crate::progress::Progress;
use crate::table::{Array, Counts, RootValue, Table, TableError, Tally};

/// What [`prove`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many states were looked at.
    pub states: u64,
    /// How many moves were made from the rules.
    pub edges: u64,
    /// Whether there were values, and they were proven.
    pub solved: bool,
    /// A row that is wrong, if there is one: the lowest of the first ply that has any.
    pub counterexample: Option<Counterexample>,
}

/// A row that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// Its number.
    pub row: usize,
    /// The state in the game's notation; the mover is the first player where the table does not tell.
    pub state: String,
    /// What is wrong with it.
    pub what: String,
}

/// Proves a table whose checksums have been checked from its rules: every row, move and value. Fails
/// where the manifest or an array is wrong as a whole.
pub fn prove<G: Game>(
    game: &G,
    table: &Table,
    progress: &dyn Progress,
) -> Result<Verified, TableError> {
    let plan = Plan::of(game, table)?;
    let rows = open_rows(game, table, false)?;
    rows.check_whole(game, table)?;
    let oriented = (0..rows.rows()).take(1).any(|row| rows.orientations(row).is_some());
    let proof = Proof {
        game,
        rows: rows.as_ref(),
        find: rows.finder(game),
        attacker: plan.attacker(),
        max_depth: plan.max_depth.unwrap_or(u32::MAX),
        cut_layer: plan.max_states.and_then(|_| last_layer_with_frontier(rows.as_ref())),
        columns: Columns::open(game, table, rows.as_ref())?,
        discounts: Discounts::open(table)?,
        reached: (0..rows.rows().div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
        orientations: (0..if oriented { rows.rows() } else { 0 })
            .map(|_| AtomicU16::new(0))
            .collect(),
    };
    progress.begin("proving", Some(rows.rows() as u64));
    let roots = proof.roots(&plan);
    let (plies, mut wrong) = match roots.contains(&None) {
        true => (Vec::new(), Some((0, "a root is not in the table".to_string()))),
        false => proof.plies(progress),
    };
    wrong = wrong.or_else(|| proof.not_reached()).or_else(|| proof.room_left(&plan));
    if wrong.is_none() {
        proof.manifest(table, &plies, &roots)?;
    }
    progress.finish(if wrong.is_none() { "proven" } else { "refuted" });
    Ok(Verified {
        states: rows.rows() as u64,
        edges: plies.iter().map(|ply| ply.table.transitions).sum(),
        solved: proof.columns.is_some() || proof.discounts.is_some(),
        counterexample: wrong.map(|(row, what)| Counterexample {
            row,
            state: proof.text(row),
            what,
        }),
    })
}

/// The last layer, if moves out of some row of it were not followed.
fn last_layer_with_frontier<G: Game>(rows: &dyn Rows<G>) -> Option<u32> {
    let last = rows.layer_of(rows.rows().checked_sub(1)?)?;
    let in_last = (0..rows.rows()).rev().take_while(|&row| rows.layer_of(row) == Some(last));
    let cut = |row: usize| rows.kind(row, &|| false) == StateKind::Frontier;
    in_last.into_iter().any(cut).then_some(last)
}

/// A row and what is wrong with it.
type Wrong = Option<(usize, String)>;

fn lower(a: Wrong, b: Wrong) -> Wrong {
    a.into_iter().chain(b).min_by_key(|wrong| wrong.0)
}

/// What was found in a ply.
#[derive(Clone, Copy, Default)]
struct Found {
    table: Tally,
    /// The actual positions for which the rows stand, where the table has orientations.
    reachable: Tally,
    /// Ends that the mover has won.
    won: u64,
    /// Outcomes and scores that are proven, and distances that are exact.
    outcomes: u64,
    scores: u64,
    distances: u64,
    /// Rows whose bounds differ.
    open: u64,
}

impl Found {
    fn add(&mut self, other: &Found) {
        self.table.add(&other.table);
        self.reachable.add(&other.reachable);
        self.won += other.won;
        self.outcomes += other.outcomes;
        self.scores += other.scores;
        self.distances += other.distances;
        self.open += other.open;
    }
}

/// What the rules say of a row.
struct Made {
    kind: StateKind,
    end: Option<Fate>,
    /// Whether the second player is to move.
    second: bool,
    /// The moves that are followed, with their rows.
    moves: Vec<(Action, usize)>,
}

struct Proof<'a, G: Game> {
    game: &'a G,
    rows: &'a dyn Rows<G>,
    find: Box<Finder<'a, G::State>>,
    /// The player who may only give check.
    attacker: Option<Side>,
    /// The ply from which on moves are not followed.
    max_depth: u32,
    /// The layer whose moves are not followed because there was no room.
    cut_layer: Option<u32>,
    columns: Option<Columns>,
    discounts: Option<Discounts>,
    /// A bit a row: whether a root or a move leads to it.
    reached: Vec<AtomicU64>,
    /// The orientations that roots and predecessors give every row, where the table has them.
    orientations: Vec<AtomicU16>,
}

impl<G: Game> Proof<'_, G> {
    /// Marks the roots; gives their rows.
    fn roots(&self, plan: &Plan<G::State>) -> Vec<Option<usize>> {
        let reach = |root: &Position<G::State>| {
            let (row, ties) = (self.find)(root, 0)?;
            self.reach(row, self.game.group().root_orientations(root.side, ties));
            Some(row)
        };
        plan.roots.iter().map(reach).collect()
    }

    fn reach(&self, row: usize, orientations: Orientations) {
        let (word, bit) = (&self.reached[row / 64], 1 << (row % 64));
        // Most are known: looking costs less than writing.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
        if let Some(set) = self.orientations.get(row) {
            set.fetch_or(orientations.0, Ordering::Relaxed);
        }
    }

    /// Proves ply after ply until one has a wrong row; gives what was found in each.
    fn plies(&self, progress: &dyn Progress) -> (Vec<Found>, Wrong) {
        let (mut plies, mut done) = (Vec::new(), vec![0u64; self.reached.len()]);
        loop {
            let mut open = vec![0u64; done.len()];
            for ((open, done), reached) in open.iter_mut().zip(&mut done).zip(&self.reached) {
                let reached = reached.load(Ordering::Relaxed);
                *open = reached & !*done;
                *done = reached;
            }
            if open.iter().all(|&word| word == 0) {
                return (plies, None);
            }
            let (found, wrong) = self.ply(plies.len() as u32, &open, progress);
            plies.push(found);
            if wrong.is_some() {
                return (plies, wrong);
            }
        }
    }

    /// Proves the rows of a ply, marking those to which their moves lead.
    fn ply(&self, ply: u32, open: &[u64], progress: &dyn Progress) -> (Found, Wrong) {
        /// How many words of 64 rows a task takes.
        const WORDS: usize = 1 << 6;
        let prove = |(chunk, words): (usize, &[u64])| {
            let (mut found, at, mut moves) = (Found::default(), Cell::new(0), Vec::new());
            let first = chunk * WORDS * 64;
            let rows = words.iter().enumerate().flat_map(|(word, &bits)| {
                ones_of(bits).map(move |bit| first + word * 64 + bit as usize)
            });
            let mut rows = rows.inspect(|&row| at.set(row));
            let result = self.rows.visit(self.game, &mut rows, &mut |row, position| {
                let (own, back) = self.row(ply, row, &position, std::mem::take(&mut moves))?;
                found.add(&own);
                moves = back;
                Ok(())
            });
            progress.advance(found.table.states);
            (found, result.err().map(|what| (at.get(), what)))
        };
        let join = |mut a: (Found, Wrong), b: (Found, Wrong)| {
            a.0.add(&b.0);
            (a.0, lower(a.1, b.1))
        };
        let chunks = open.par_chunks(WORDS).enumerate();
        chunks.map(prove).reduce(|| (Found::default(), None), join)
    }

    /// Proves one row; gives back the vector of its moves for the next.
    fn row(
        &self,
        ply: u32,
        row: usize,
        position: &Position<G::State>,
        moves: Vec<(Action, usize)>,
    ) -> Result<(Found, Vec<(Action, usize)>), String> {
        let (game, state) = (self.game, &position.state);
        let layered = game.layers().is_some();
        self.rows.check(game, row, position)?;
        let layer = self.rows.layer_of(row);
        if let Some(layer) = layer.filter(|&layer| !layered && layer != ply) {
            return Err(format!("it is reached in {ply} plies and lies in layer {layer}"));
        }
        let mobility = if layered { game.mobility(state) } else { Mobility::Moves(1) };
        let pass = mobility == Mobility::Pass;
        let cut = layer.is_some() && layer == self.cut_layer && !pass;
        let mut made = Made {
            kind: StateKind::Interior,
            end: match layered {
                true if mobility == Mobility::Over => {
                    let empties = self.columns.as_ref().map(|c| c.values.empties());
                    let score = game.score(state, empties.unwrap_or_default());
                    Some(Fate::new(score.0.into(), Some(0)))
                }
                true => None,
                false => game.end(state).map(|end| {
                    let plies = Some(end.plies).filter(|_| end.outcome != Outcome::Draw);
                    Fate::new(end.outcome.value().into(), plies)
                }),
            },
            second: position.side == Side::Second,
            moves,
        };
        made.moves.clear();
        made.kind = match made.end {
            Some(_) => StateKind::Terminal,
            None if cut || ply >= self.max_depth => StateKind::Frontier,
            None if self.attacker == Some(position.side) => StateKind::Restricted,
            None => StateKind::Interior,
        };
        let stored = self.rows.kind(row, &|| made.end.is_some());
        if stored != made.kind {
            let kind = made.kind;
            return Err(format!("its kind is {stored:?}, the rules and bounds say {kind:?}"));
        }
        if matches!(made.kind, StateKind::Interior | StateKind::Restricted) {
            self.follow(ply, row, position, &mut made)?;
        }
        let name = |action: Action| self.action_name(position.side, action);
        self.rows.check_moves(row, &made.moves, &name)?;
        let table = Tally {
            states: 1,
            terminals: u64::from(made.kind == StateKind::Terminal),
            passes: u64::from(pass),
            frontier: u64::from(made.kind == StateKind::Frontier),
            transitions: made.moves.len() as u64,
        };
        let positions = self.rows.orientations(row).map_or(0, Orientations::count);
        let mut found = Found {
            table,
            reachable: table.times(u64::from(positions)),
            won: u64::from(made.end.is_some_and(|end| end.score > 0)),
            ..Found::default()
        };
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
        Ok((found, made.moves))
    }

    /// Follows the moves of a row.
    fn follow(
        &self,
        ply: u32,
        row: usize,
        position: &Position<G::State>,
        made: &mut Made,
    ) -> Result<(), String> {
        let from = self.rows.orientations(row).unwrap_or_default();
        let mut missing = None;
        self.game.for_each_successor(&position.state, |action, state| {
            if made.kind == StateKind::Restricted && !self.game.in_check(&state) {
                return;
            }
            let after = Position { state, side: position.side.other() };
            match (self.find)(&after, ply + 1) {
                Some((target, ties)) => {
                    self.reach(target, self.game.group().successor_orientations(from, ties));
                    made.moves.push((action, target));
                }
                None => missing = missing.or(Some(action)),
            }
        });
        if let Some(action) = missing {
            let name = self.action_name(position.side, action);
            return Err(format!("its move {name} leads out of the table"));
        }
        match made.moves.is_empty() && made.kind == StateKind::Interior {
            true => Err("it has neither a move nor an end".to_string()),
            false => Ok(()),
        }
    }

    fn action_name(&self, side: Side, action: Action) -> String {
        // What is stored may be no action at all, and have no name.
        match usize::from(action.0) < self.game.action_count() {
            true => self.game.action_name(side, action),
            false => format!("action {}", action.0),
        }
    }

    fn text(&self, row: usize) -> String {
        let mut text = "no position".to_string();
        let visit = &mut |_: usize, position: Position<G::State>| {
            text = self.game.notation(&position);
            Ok(())
        };
        // A row that is no position is told as such.
        self.rows.visit(self.game, &mut std::iter::once(row), visit).ok();
        text
    }

    /// The first row that is not reached, or in other orientations.
    fn not_reached(&self) -> Wrong {
        let rows = (0..self.rows.rows()).into_par_iter().with_min_len(1 << 14);
        rows.find_map_first(|row| {
            if self.reached[row / 64].load(Ordering::Relaxed) >> (row % 64) & 1 == 0 {
                return Some((row, "no moves from the start lead to it".to_string()));
            }
            let given = self.orientations.get(row)?.load(Ordering::Relaxed);
            let stored = self.rows.orientations(row)?.0;
            let what =
                || format!("its orientations are {stored:#b}, its predecessors give {given:#b}");
            (stored != given).then(|| (row, what()))
        })
    }

    /// That the last ply had to be cut off, if the bound of the number of states has done it.
    fn room_left(&self, plan: &Plan<G::State>) -> Wrong {
        let most = plan.max_states? as usize;
        let room = most.checked_sub(self.rows.rows());
        let Some(room) = room else {
            return Some((most, "it is beyond the bound of the states".to_string()));
        };
        let last =
            self.cut_layer.filter(|&ply| self.game.layers().is_none() && ply < self.max_depth)?;
        let rows =
            (0..self.rows.rows()).rev().take_while(|&row| self.rows.layer_of(row) == Some(last));
        let begin = rows.last()?;
        let mut beyond: Vec<G::Key> = Vec::new();
        /// How many rows are followed before the states they lead to are counted.
        const AT_ONCE: usize = 1 << 16;
        for first in (begin..self.rows.rows()).step_by(AT_ONCE) {
            let some = (first..self.rows.rows().min(first + AT_ONCE)).into_par_iter();
            beyond.par_extend(some.flat_map_iter(|row| self.beyond(row, last)));
            beyond.par_sort_unstable();
            beyond.dedup();
            if beyond.len() > room {
                return None;
            }
        }
        Some((begin, "its layer was cut off, but there is room for the next".to_string()))
    }

    /// The keys of the states to which a row leads and that are not in the table.
    fn beyond(&self, row: usize, ply: u32) -> Vec<G::Key> {
        let mut found = Vec::new();
        let visit = &mut |_: usize, position: Position<G::State>| {
            self.game.for_each_successor(&position.state, |_, state| {
                let after = Position { state, side: position.side.other() };
                let followed = self.attacker != Some(position.side) || self.game.in_check(&state);
                if followed && (self.find)(&after, ply).is_none() {
                    found.push(self.game.position_key(&after));
                }
            });
            Ok(())
        };
        // Every row has been found to be a position.
        self.rows.visit(self.game, &mut std::iter::once(row), visit).ok();
        found
    }

    /// That the manifest says of the rows, roots and values what was found.
    fn manifest(
        &self,
        table: &Table,
        plies: &[Found],
        roots: &[Option<usize>],
    ) -> Result<(), TableError> {
        let manifest = table.manifest();
        let wrong = |what: &str| {
            Err(TableError::damaged(&table.dir().join("manifest.json"), what.to_string()))
        };
        let mut all = Found::default();
        plies.iter().for_each(|ply| all.add(ply));
        let mut summed = Counts::default();
        manifest.layers.iter().for_each(|layer| summed.add(layer));
        let by_rank = self.rows.layer_of(0).is_none();
        let plain = |ply: &Found| Counts {
            table: ply.table,
            terminals_won: by_rank.then_some(ply.won),
            ..Counts::default()
        };
        let counts = &manifest.counts;
        let right = match self.orientations.is_empty() {
            true => {
                manifest.first_layer == 0
                    && plies.iter().map(plain).eq(manifest.layers.iter().copied())
            }
            false => {
                let others = [counts.distinct_boards, counts.mover_relative, counts.canonical];
                (counts.table, counts.reachable) == (all.table, Some(all.reachable))
                    && !others.contains(&None)
            }
        };
        if !right || summed != *counts {
            return wrong("its counts are not those of the rows");
        }
        if manifest.complete != (all.table.frontier == 0 && self.attacker.is_none()) {
            return wrong("whether it is complete is not what its rows say");
        }
        if !roots.iter().copied().eq(manifest.root_ids.iter().map(|&id| Some(id as usize))) {
            return wrong("its root_ids are not the rows of its roots");
        }
        if self.discounts.is_some() && self.game.layers().is_none() {
            return wrong("it tells of discounted values, which such tables do not have");
        }
        let (Some(solution), Some(columns)) = (&manifest.solution, &self.columns) else {
            return Ok(());
        };
        let scored = columns.values.has_scores();
        let proven = (solution.proven_outcomes, solution.proven_scores, solution.exact_distances);
        if proven != (all.outcomes, scored.then_some(all.scores), all.distances) {
            return wrong("its solution does not prove as much as it says");
        }
        if !by_rank && columns.bounds.is_some() != (all.open > 0) {
            return wrong("it keeps bounds where every value is exact, or none where they are not");
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
            false => wrong("the values it gives its roots are not those of their rows"),
        }
    }
}

/// What the mover gets, written apart from [`Prospect`]; the later in order, the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fate {
    /// The score; ±1 or 0 in games without scores.
    score: i16,
    /// Plies to the end if the mover is behind, minus them if not.
    delay: i32,
}

/// The plies of play without end.
const NEVER: i32 = i32::MAX;

impl Fate {
    const fn new(score: i16, plies: Option<u16>) -> Fate {
        let plies = match plies {
            Some(plies) => plies as i32,
            None => NEVER,
        };
        Fate { score, delay: if score < 0 { plies } else { -plies } }
    }

    fn of(prospect: Prospect) -> Fate {
        Fate::new(score_of(prospect), prospect.distance())
    }

    /// Plies to the end, if there is one.
    fn plies(self) -> Option<u16> {
        u16::try_from(self.delay.abs()).ok()
    }

    /// The same for the player who moves there, a ply earlier.
    fn a_ply_before(self) -> Fate {
        Fate::new(-self.score, self.plies().map(|plies| plies + 1))
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.score {
            -1 => write!(f, "a loss")?,
            0 => write!(f, "a draw")?,
            1 => write!(f, "a win")?,
            score => write!(f, "{score:+}")?,
        }
        match self.plies() {
            Some(plies) => write!(f, " in {plies}"),
            None => write!(f, " without end"),
        }
    }
}

/// The value columns of a table, and what its convention says of play without end.
struct Columns {
    values: Values,
    layered: bool,
    /// Where a layered game is cut off, bounds are of scores and not of distances: the largest score.
    by_score: Option<i16>,
    /// The columns that repeat what `values` reads; a table by rank has none.
    copies: Option<(Array<i8>, Array<u16>)>,
    score: Option<Array<i8>>,
    bounds: Option<(Array<i8>, Array<i8>)>,
    prospects: Option<(Array<i16>, Array<i16>)>,
}

impl Columns {
    fn open<G: Game>(
        game: &G,
        table: &Table,
        rows: &dyn Rows<G>,
    ) -> Result<Option<Columns>, TableError> {
        let Some(values) = Values::open(table, false)? else { return Ok(None) };
        let manifest = table.manifest();
        let wrong = |what: &str| {
            Err(TableError::damaged(&table.dir().join("manifest.json"), what.to_string()))
        };
        let layered = game.layers().is_some();
        let named = manifest.solution.as_ref().and_then(|solution| solution.repetition.as_ref());
        if named.is_some() == layered {
            return wrong("its solution does not say what infinite play counts as, or need not");
        }
        let repetition = values.repetition();
        let second = repetition == Repetition::SecondPlayerWins;
        let unknown = repetition == Repetition::Unknown;
        if (second && !game.keeps_sides()) || (manifest.identity.checks_only && !unknown) {
            return wrong("its states do not allow to count infinite play as it says");
        }
        let has = |name: &str| manifest.arrays.contains_key(name);
        let i8s = |name: &str| table.array::<i8>(name);
        let by_rank = (0..rows.rows()).take(1).any(|row| rows.layer_of(row).is_none());
        let copies = match by_rank {
            true => None,
            false => Some((i8s("outcome")?, table.array("distance")?)),
        };
        let score = has("score").then(|| i8s("score")).transpose()?;
        let bounds = match has("lower") || has("upper") {
            true => Some((i8s("lower")?, i8s("upper")?)),
            false => None,
        };
        let prospects = match has("prospect_lower") || has("prospect_upper") {
            true => Some((table.array("prospect_lower")?, table.array("prospect_upper")?)),
            false => None,
        };
        let lengths = [
            copies.as_ref().map(|(outcome, distance)| [outcome.len(), distance.len()]),
            score.as_ref().map(|score| [score.len(); 2]),
            bounds.as_ref().map(|(lower, upper)| [lower.len(), upper.len()]),
            prospects.as_ref().map(|(lower, upper)| [lower.len(), upper.len()]),
        ];
        if lengths.into_iter().flatten().any(|lengths| lengths != [rows.rows(); 2]) {
            return wrong("its columns' lengths do not fit");
        }
        let max_score = game.max_score().map_or(1, |score| score.0.into());
        let by_score = (layered && !manifest.complete).then_some(max_score);
        Ok(Some(Columns { values, layered, by_score, copies, score, bounds, prospects }))
    }

    /// What play without end counts for, at least and at most.
    fn without_end(&self, second: bool) -> (Fate, Fate) {
        const WIN: Fate = Fate::new(1, None);
        const LOSS: Fate = Fate::new(-1, None);
        match (self.values.repetition(), second) {
            (Repetition::Draw, _) => (Fate::new(0, None), Fate::new(0, None)),
            (Repetition::SecondPlayerWins, true) => (WIN, WIN),
            (Repetition::SecondPlayerWins, false) => (LOSS, LOSS),
            (Repetition::Unknown, _) => (LOSS, WIN),
        }
    }

    /// Proves the value of a row whose moves are in the table; gives it.
    fn prove(&self, row: usize, made: &Made) -> Result<Value, String> {
        let value = self.values.get(row);
        let successors = made.moves.iter().map(|&(_, target)| self.values.get(target));
        match self.by_score {
            Some(max_score) => {
                let successors: Vec<Value> = successors.collect();
                let found = (score_of(value.lower), score_of(value.upper), value.distance());
                let expected = match (made.end, made.kind) {
                    (Some(end), _) => (end.score, end.score, end.plies()),
                    (None, StateKind::Frontier) => (-max_score, max_score, None),
                    (None, _) => best_scores(&successors),
                };
                if found != expected {
                    let text = |(lower, upper, distance): (i16, i16, Option<u16>)| {
                        let plies = distance.map_or("unknown".to_string(), |d| d.to_string());
                        format!("{lower:+} to {upper:+}, its distance {plies}")
                    };
                    let (found, expected) = (text(found), text(expected));
                    return Err(format!("its score is {found}; it should be {expected}"));
                }
            }
            None => self.prove_interval(&value, successors, made)?,
        }
        self.prove_copies(row, &value)?;
        Ok(value)
    }

    fn prove_interval(
        &self,
        value: &Value,
        successors: impl Iterator<Item = Value>,
        made: &Made,
    ) -> Result<(), String> {
        // A frontier's mover could be lost by the second ply or win with the first.
        let cut_off = (Fate::new(-1, Some(2)), Fate::new(1, Some(1)));
        let open = made.end.is_none() && made.kind != StateKind::Frontier;
        let expected = match made.end {
            Some(end) => {
                let undecided = !self.layered && self.values.repetition() != Repetition::Draw;
                if end.score == 0 && undecided {
                    return Err("it is a drawn end, with which nothing here is proven unless play without end is a draw too".to_string());
                }
                (end, end)
            }
            None if open => {
                let (mut lower, mut upper) = (None, None);
                for successor in successors {
                    lower = lower.max(Some(Fate::of(successor.upper).a_ply_before()));
                    upper = upper.max(Some(Fate::of(successor.lower).a_ply_before()));
                }
                if made.kind == StateKind::Restricted {
                    upper = upper.max(Some(Fate::new(1, None)));
                }
                // Only a restricted row has no moves.
                (lower.unwrap_or(cut_off.0), upper.unwrap_or(cut_off.1))
            }
            None => cut_off,
        };
        let without_end = self.without_end(made.second);
        for (bound, found, expected, without_end) in [
            ("at least ", Fate::of(value.lower), expected.0, without_end.0),
            ("at most ", Fate::of(value.upper), expected.1, without_end.1),
        ] {
            let bound = if self.bounds.is_some() { bound } else { "" };
            if found != expected {
                let giver = if open { "its successors give" } else { "it should be" };
                return Err(format!("its value is {bound}{found}, {giver} {expected}"));
            }
            if found.plies().is_some_and(|plies| plies >= Prospect::MAX_DISTANCE) {
                return Err(format!("its value is {bound}{found}, too far away to be proven"));
            }
            if open && !self.layered && found.plies().is_none() && found != without_end {
                return Err(format!(
                    "its value is {bound}{found}, but play without end counts as {without_end}"
                ));
            }
        }
        Ok(())
    }

    /// That the columns that repeat what others say agree with them.
    fn prove_copies(&self, row: usize, value: &Value) -> Result<(), String> {
        let outcome = value.outcome().map_or(UNKNOWN_SCORE, Outcome::value);
        let distance = value.distance().unwrap_or(UNKNOWN_DISTANCE);
        let score = value.score().map_or(UNKNOWN_SCORE, |score| score.0);
        let outcomes = (value.lower.outcome().value(), value.upper.outcome().value());
        let stored = (value.lower.to_stored(), value.upper.to_stored());
        let agree =
            self.copies.as_ref().is_none_or(|(o, d)| (o[row], d[row]) == (outcome, distance))
                && self.score.as_ref().is_none_or(|column| column[row] == score)
                && self.bounds.as_ref().is_none_or(|(l, u)| (l[row], u[row]) == outcomes)
                && self.prospects.as_ref().is_none_or(|(l, u)| (l[row], u[row]) == stored);
        if agree { Ok(()) } else { Err("its columns contradict each other".to_string()) }
    }
}

/// Bounds of the score, and the distance where it is known, from the values of the successors.
fn best_scores(successors: &[Value]) -> (i16, i16, Option<u16>) {
    let best = |of: fn(&Value) -> Prospect| successors.iter().map(|s| -score_of(of(s))).max();
    let (lower, upper) = (best(|s| s.upper).unwrap_or(0), best(|s| s.lower).unwrap_or(0));
    if lower != upper {
        return (lower, upper, None);
    }
    let keeping = successors.iter().filter(|s| -score_of(s.lower) == upper);
    let mut plies: Vec<Option<u16>> =
        keeping.map(|s| s.score().and(s.distance()).map(|plies| plies + 1)).collect();
    // None sorts below every distance, so one unknown distance comes first.
    plies.sort_unstable();
    let known = plies.first().is_some_and(Option::is_some);
    let nearest = if lower < 0 { plies.last() } else { plies.first() };
    (lower, upper, nearest.copied().flatten().filter(|_| known))
}

/// In more bits than are stored, so that any may turn its sign.
fn score_of(prospect: Prospect) -> i16 {
    prospect.score().0.into()
}

/// The column of discounted values.
struct Discounts {
    value: Array<f32>,
    discount: f32,
    /// By how much a value may differ from what its successors give.
    tolerance: f32,
}

impl Discounts {
    fn open(table: &Table) -> Result<Option<Discounts>, TableError> {
        let Some(discounted) = &table.manifest().discounted else { return Ok(None) };
        let value = table.array::<f32>("value")?;
        if value.len() as u64 != table.manifest().counts.table.states {
            let manifest = table.dir().join("manifest.json");
            return Err(TableError::damaged(&manifest, "its columns' lengths do not fit"));
        }
        // A last sweep that changed nothing leaves nothing to be forgiven.
        let exact = discounted.sweeps.last().is_some_and(|sweep| sweep.changed == 0);
        let tolerance = if exact { 0.0 } else { discounted.theta as f32 };
        Ok(Some(Discounts { value, discount: discounted.discount as f32, tolerance }))
    }

    fn prove(&self, row: usize, made: &Made) -> Result<(), String> {
        let found = self.value[row];
        let moves = made.moves.iter().map(|&(_, target)| -self.discount * self.value[target]);
        let expected = match made.end {
            Some(end) => f32::from(end.score.signum()),
            None => moves.fold(f32::NEG_INFINITY, f32::max),
        };
        match (found - expected).abs() <= self.tolerance {
            true => Ok(()),
            false => {
                Err(format!("its discounted value is {found}, its successors give {expected}"))
            }
        }
    }
}
