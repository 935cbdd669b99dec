//! The report on policies: the facts of the table and each policy's figures, as plain data.

use serde::Serialize;

use super::accuracy::{PolicyAccuracy, judged_positions};
use crate::game::{Game, Side};
use crate::graph::Graph;
use crate::solve::Solved;
use crate::table::{Table, TableError};

/// What `schema` says in every report.
pub const SCHEMA: &str = "yomikiri-accuracy";
/// Raised when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 1;

/// How accurate policies are on a table; `docs/report-schema.md` describes the JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccuracyReport {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// Always [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Whose all values are: always `mover`, the player to move.
    pub perspective: &'static str,
    /// What was measured on.
    pub table: TableFacts,
    /// In the order in which they were asked for.
    pub policies: Vec<PolicyAccuracy>,
}

/// What a report says of its table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableFacts {
    /// The table's name.
    pub name: String,
    /// The game, `othello-4x4`.
    pub game: String,
    /// Whether no state is at a frontier.
    pub complete: bool,
    /// How many symmetries states are folded under; 1 if they are not.
    pub symmetry_order: u8,
    /// `uncounted` or `to-winner`: what squares left empty at the end count for in scores.
    pub empties: String,
    /// Rows of the table.
    pub rows: u64,
    /// Actual positions (board and side to move) that are reachable from the roots.
    pub reachable_states: u64,
    /// Those of them in which the game is over.
    pub terminal_states: u64,
    /// The others.
    pub nonterminal_states: u64,
    /// Those of the others of which the figures are.
    pub judged_states: u64,
    /// Where the games begin.
    pub roots: Vec<RootFacts>,
}

/// A root and its value for its mover; `null` where the table does not prove it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RootFacts {
    /// The position in the game's one-line notation.
    pub position: String,
    /// The name of the side to move, whose the values are: `Black`.
    pub mover: String,
    /// The name of the side that wins; `null` for a draw too.
    pub winner: Option<String>,
    /// The mover's outcome: 1 a win, 0 a draw, −1 a loss.
    pub outcome: Option<i8>,
    /// The mover's score in discs.
    pub score: Option<i8>,
    /// Plies to the end of the game.
    pub distance: Option<u16>,
}

impl AccuracyReport {
    /// Puts policies' figures beside the facts of the table they were measured on.
    ///
    /// Fails where the manifest's roots are no positions of the game.
    pub fn new<G: Game>(
        game: &G,
        table: &Table,
        graph: &Graph,
        solved: &Solved,
        policies: Vec<PolicyAccuracy>,
    ) -> Result<AccuracyReport, TableError> {
        let manifest = table.manifest();
        let reachable = manifest.counts.reachable();
        let empties =
            manifest.solution.as_ref().and_then(|s| s.empties.clone()).unwrap_or_default();
        Ok(AccuracyReport {
            schema: SCHEMA,
            schema_version: SCHEMA_VERSION,
            perspective: "mover",
            table: TableFacts {
                name: table.name(),
                game: manifest.identity.game.clone(),
                complete: manifest.complete,
                symmetry_order: manifest.identity.symmetry_order,
                empties,
                rows: manifest.counts.table.states,
                reachable_states: reachable.states,
                terminal_states: reachable.terminals,
                nonterminal_states: reachable.states.saturating_sub(reachable.terminals),
                judged_states: judged_positions(graph, solved),
                roots: roots(game, table)?,
            },
            policies,
        })
    }
}

fn roots<G: Game>(game: &G, table: &Table) -> Result<Vec<RootFacts>, TableError> {
    let manifest = table.manifest();
    let values = manifest.solution.iter().flat_map(|solution| &solution.roots);
    let roots = manifest.identity.roots.iter().zip(values);
    roots
        .map(|(notation, value)| {
            let position = game.parse_position(notation, &game.start()).map_err(|error| {
                TableError::damaged(&table.dir().join("manifest.json"), error.to_string())
            })?;
            let name = |side: Side| game.side_name(side).to_string();
            let winner = match value.outcome {
                Some(1) => Some(name(position.side)),
                Some(-1) => Some(name(position.side.other())),
                _ => None,
            };
            Ok(RootFacts {
                position: notation.clone(),
                mover: name(position.side),
                winner,
                outcome: value.outcome,
                score: value.score,
                distance: value.distance,
            })
        })
        .collect()
}
