//! How often, and by how much, a policy's moves are worse than the best.
//!
//! Every actual position counts once: a row of the table stands for as many as it has orientations,
//! and the policy is asked in each, for it need not be symmetric. Ends of games are left out. In a
//! table with a frontier only positions are judged whose own score and all of whose moves' scores
//! are proven; elsewhere it is not known what the best move is.
//!
//! Sums are made of chunks of rows of a fixed size and added in order, so that the number of
//! threads changes no bit of them.

use rayon::prelude::*;
use serde::Serialize;

use super::figures::{Figures, FiguresBySet, Worth};
use crate::game::{Action, Game, Position, Symmetry};
use crate::graph::{Graph, StateKind};
use crate::policy::{Policy, PolicyError, ask};
use crate::progress::Progress;
use crate::solve::Solved;

/// The figures of one policy on one table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyAccuracy {
    /// The policy's name.
    pub policy: String,
    /// On the whole table: the sum of the layers.
    pub total: FiguresBySet,
    /// Layer by layer, those that have judged positions.
    pub layers: Vec<LayerAccuracy>,
}

/// What went wrong while policies were measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The table is damaged.
    #[error("{0}")]
    Damaged(String),
    /// A policy failed.
    #[error("policy '{policy}': {error}")]
    Policy {
        /// Its name.
        policy: String,
        /// How.
        error: PolicyError,
    },
}

/// The figures of one policy in one layer of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerAccuracy {
    /// Which layer.
    #[serde(flatten)]
    pub layer: Layer,
    /// On its positions.
    pub figures: FiguresBySet,
}

/// A layer by its number; in JSON a field of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// In a layered game: how many discs lie on the board before the move.
    Discs(u32),
    /// In a cyclic game: plies from the nearest root.
    Plies(u32),
}

/// How many rows a task takes; a constant, since it groups the sums.
const CHUNK: usize = 1 << 11;

/// Judges a policy in every position that a solved table stands for.
///
/// `graph` and `solved` are those of a table of `game`'s. Fails where the policy does, and where a row
/// is no position or its edges are not its moves: the table is damaged.
///
/// # Panics
///
/// When the offsets of edges do not ascend; [`Graph::open_checked`] makes sure that they do.
pub fn accuracy<G: Game>(
    game: &G,
    graph: &Graph,
    solved: &Solved,
    policy: &dyn Policy<G>,
    progress: &dyn Progress,
) -> Result<PolicyAccuracy, MeasureError> {
    let name = policy.name();
    progress.begin(&format!("judging {name}"), Some(graph.states() as u64));
    let judge = Judge { game, graph, solved, policy };
    let mut total = FiguresBySet::scored();
    let mut layers = Vec::new();
    for (place, rows) in graph.layers().enumerate() {
        let chunks: Vec<Result<FiguresBySet, MeasureError>> = (0..rows.len().div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let start = rows.start + chunk * CHUNK;
                let part = start..(start + CHUNK).min(rows.end);
                let count = part.len() as u64;
                let sums = judge.rows(part);
                progress.advance(count);
                sums
            })
            .collect();
        let mut figures = FiguresBySet::scored();
        for chunk in chunks {
            figures.add(&chunk?);
        }
        if figures.all.states > 0 {
            total.add(&figures);
            let layer = Layer::Discs(graph.first_layer() + place as u32);
            layers.push(LayerAccuracy { layer, figures });
        }
    }
    progress.finish(&format!("{} positions", total.all.states));
    Ok(PolicyAccuracy { policy: name, total, layers })
}

/// In how many actual positions [`accuracy`] judges a policy, whichever it is.
pub fn judged_positions(graph: &Graph, solved: &Solved) -> u64 {
    (0..graph.states())
        .into_par_iter()
        .with_min_len(CHUNK)
        .filter(|&row| is_judged(graph, solved, row))
        .map(|row| u64::from(graph.orientations(row).count()))
        .sum()
}

/// Whether a row is no end, and its score and those of all its moves are proven.
fn is_judged(graph: &Graph, solved: &Solved, row: usize) -> bool {
    let proven = |row: usize| row < solved.states() && solved.value(row).score().is_some();
    graph.kind(row) == StateKind::Interior
        && proven(row)
        && graph.edges_of(row).all(|edge| proven(graph.edge_targets()[edge] as usize))
}

struct Judge<'a, G: Game> {
    game: &'a G,
    graph: &'a Graph,
    solved: &'a Solved,
    policy: &'a dyn Policy<G>,
}

/// What a row's moves are worth; the same in all its orientations.
struct Prospect {
    best: Worth,
    differs_in_outcome: bool,
    differs_in_score: bool,
}

/// Room that is used again for every position.
struct Room {
    /// By action of the canonical state; `None` if it is no move.
    worths: Vec<Option<Worth>>,
    /// The actions of a position, and how probable each is.
    asked: Vec<(Action, f64)>,
    /// What each action is worth, and how probable it is.
    chosen: Vec<(Worth, f64)>,
}

impl<G: Game> Judge<'_, G> {
    /// The sums of some rows, or what is wrong with one of them.
    fn rows(&self, rows: std::ops::Range<usize>) -> Result<FiguresBySet, MeasureError> {
        let damaged = MeasureError::Damaged;
        let order = self.game.group().order();
        let keys = self.graph.keys().of::<G::Key>();
        let mut room = Room {
            worths: vec![None; self.game.action_count()],
            asked: Vec::new(),
            chosen: Vec::new(),
        };
        let mut sums = FiguresBySet::scored();
        for row in rows.filter(|&row| is_judged(self.graph, self.solved, row)) {
            let state = self.game.state(keys[row]);
            let state =
                state.ok_or_else(|| damaged(format!("row {row} of its keys is no position")))?;
            let foreign =
                || damaged(format!("row {row} of its edges has not the moves of its position"));
            let prospect = self.prospect(row, &mut room.worths).ok_or_else(foreign)?;
            for (symmetry, side) in self.graph.orientations(row).iter(order) {
                let state = self.game.transform(&state, symmetry);
                let inverse = self.game.group().inverse(symmetry);
                let position = Position { state, side };
                room.asked.clear();
                let asked = ask(self.policy, self.game, &position);
                room.asked.extend(
                    asked.map_err(|error| MeasureError::Policy {
                        policy: self.policy.name(),
                        error,
                    })?,
                );
                let figures = Judge::<G>::position(self.game, &prospect, inverse, &mut room)
                    .ok_or_else(foreign)?;
                sums.all.add(&figures);
                if prospect.differs_in_outcome {
                    sums.decisive_outcome.add(&figures);
                }
                if prospect.differs_in_score {
                    sums.decisive_score.get_or_insert_default().add(&figures);
                }
            }
        }
        Ok(sums)
    }

    /// Fills in the worth of each of a judged row's moves; `None` if it has none or a strange one.
    fn prospect(&self, row: usize, worths: &mut [Option<Worth>]) -> Option<Prospect> {
        worths.fill(None);
        let (mut best, mut worst) = (None, None);
        for edge in self.graph.edges_of(row) {
            let value = self.solved.value(self.graph.edge_targets()[edge] as usize).before();
            let worth = (value.outcome()?, value.score()?);
            let action = self.graph.edge_actions().get(edge);
            *worths.get_mut(usize::from(action.0))? = Some(worth);
            best = best.max(Some(worth));
            worst = Some(worst.map_or(worth, |worst: Worth| worst.min(worth)));
        }
        // A better score is never a worse outcome, so the extremes are extreme in both.
        let (best, worst) = (best?, worst?);
        Some(Prospect {
            best,
            differs_in_outcome: best.0 != worst.0,
            differs_in_score: best.1 != worst.1,
        })
    }

    /// The figures of one actual position, which `inverse` brings to its canonical state.
    fn position(
        game: &G,
        prospect: &Prospect,
        inverse: Symmetry,
        room: &mut Room,
    ) -> Option<Figures> {
        let Room { worths, asked, chosen } = room;
        chosen.clear();
        for &(action, p) in asked.iter() {
            let canonical = game.transform_action(action, inverse);
            chosen.push(((*worths.get(usize::from(canonical.0))?)?, p));
        }
        Some(Figures::of_position(prospect.best, chosen.iter().copied()))
    }
}
