//! The report on policies: facts about the table and each policy's figures, as plain data.

use std::cmp::Ordering;

use serde::Serialize;

use super::accuracy::{Measured, PolicyAccuracy};
use super::changes::Changes;
use super::compare::Agreement;
use super::games::Games;
use super::metrics::Metrics;
use super::mistakes::Mistake;
use super::source::Judged;
use yomikiri::game::{BoardLayout, Game, GameExt, Outcome, Side};
use yomikiri::hint::Hint;
use yomikiri::solved::SolvedTable;
use yomikiri::table::{SweepRecord, TableError};

/// Accuracy of policies on a table; `docs/json.md` describes the JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct AccuracyReport {
    /// Perspective of all values: always `mover`, the player to move.
    pub perspective: &'static str,
    /// Table the policies were measured on.
    pub table: TableFacts,
    /// Figures of the policies, in the order of the request.
    pub policies: Vec<PolicyAccuracy>,
    /// Games between the policies; `None` if they were not played out.
    pub games: Option<Games>,
    /// Reason why requested games were not played out.
    pub why_no_games: Option<String>,
    /// Agreement of the policies; `None` unless requested; not in the JSON.
    #[serde(skip)]
    pub agreement: Option<Agreement>,
    /// Time of each policy, as in [`Measured`]; not in the JSON, which is reproducible.
    #[serde(skip)]
    pub seconds: Vec<Option<f64>>,
    /// Sweeps in which the table was solved.
    pub sweeps: Vec<SweepRecord>,
    /// Names and units of the game.
    pub words: Words,
    /// Board of the game.
    pub board: BoardLayout,
    /// Figures of each policy as flat lists, which a later report is compared with.
    pub metrics: Vec<Metrics>,
    /// Changes against an earlier report, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
}

/// Names a game gives its players, layers and points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Words {
    /// Names of the first and the second player.
    pub sides: [&'static str; 2],
    /// Unit of layers: `discs`, or `plies` in games without layers.
    pub layers: &'static str,
    /// Unit of scores: `disc`.
    pub unit: &'static str,
    /// Unit of scores in the plural.
    pub units: String,
    /// `true` if positions are written as keys, for lack of a notation.
    #[serde(skip)]
    pub positions_are_keys: bool,
}

impl Words {
    /// Returns the words of a game.
    pub fn of(game: &impl Game) -> Words {
        let unit = game.scores().map_or("point", |scores| scores.unit());
        let sides = Side::ALL.map(|side| game.side_name(side));
        Words {
            sides,
            layers: game.layers().map_or("plies", |layers| layers.unit()),
            unit,
            units: format!("{unit}s"),
            positions_are_keys: game.written(&game.start())[0].0 == "line",
        }
    }
}

/// Facts about a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TableFacts {
    /// Name of the table.
    pub name: String,
    /// Description of the positions if their values were found by search; `None` for a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched: Option<String>,
    /// Reason for the choice of this table, such as `--size 4`; set by `solver report` alone.
    pub taken: Option<String>,
    /// Name of the game: `othello-4x4`, `minishogi`.
    pub game: String,
    /// `true` if no state is at a frontier.
    pub complete: bool,
    /// Number of symmetries under which states are folded; 1 without folding.
    pub symmetry_order: u8,
    /// `true` if positions that differ only in the side to move count as two.
    pub keeps_sides: bool,
    /// Counting of squares left empty at the end: `uncounted` or `to-winner`; `None` in cyclic games, which
    /// have no scores.
    pub empties: Option<String>,
    /// Outcome of infinite play: `draw`, `second-player-wins` or `unknown`; `None` in layered games, which
    /// always end.
    pub repetition: Option<String>,
    /// Number of rows of the table.
    pub rows: u64,
    /// Number of actual positions (board and side to move) reachable from the roots; `None` in cyclic games,
    /// where the counts below are of rows.
    pub reachable_states: Option<u64>,
    /// Number of positions in which the game is over.
    pub terminal_states: u64,
    /// Number of positions in which the game goes on.
    pub nonterminal_states: u64,
    /// Number of nonterminal positions in which policies were judged.
    pub judged_states: u64,
    /// Number of positions policies were asked about: one per row with `--canonical`, else all judged ones.
    pub asked_states: u64,
    /// Description of the positions selected; `None` for all whose values are proven.
    pub chosen: Option<String>,
    /// Positions in which games begin.
    pub roots: Vec<RootFacts>,
}

/// A root and its value for its mover; fields are `null` if the table does not prove them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RootFacts {
    /// Position in the game's one-line notation.
    pub position: String,
    /// Name of the side to move, whose perspective the values have: `Black`.
    pub mover: String,
    /// Name of the side that wins; `null` for a draw too.
    pub winner: Option<String>,
    /// Outcome for the mover: 1 a win, 0 a draw, −1 a loss.
    pub outcome: Option<i8>,
    /// Score for the mover.
    pub score: Option<i8>,
    /// Plies to the end of the game; `None` for draws in cyclic games too.
    pub distance: Option<u16>,
    /// Fewest plies in which a proven result can come; `None` if only infinite play brings it.
    pub distance_lower: Option<u16>,
    /// Most plies in which a proven result can come; `None` if infinite play may bring it.
    pub distance_upper: Option<u16>,
}

impl TableFacts {
    /// Returns `true` if the game has scores.
    pub fn has_scores(&self) -> bool {
        self.empties.is_some()
    }
}

impl AccuracyReport {
    /// Returns the costliest mistakes of a policy: in games, if they are played out.
    pub fn costliest(&self, at: usize) -> &[Mistake] {
        let games = self.games.as_ref().map(|games| &games.policies[at]);
        games.map_or(&self.policies[at].costliest, |games| &games.costliest)
    }

    /// Returns the indices of the policies, the best first. They are ordered by how often they keep the
    /// outcome in positions whose moves differ in it (held-out ones, if known); ties are broken by how often
    /// they keep the score or the plies there, then by the lower loss of score, then by their order in the
    /// report.
    pub fn ranking(&self) -> Vec<usize> {
        let merits = |policy: &PolicyAccuracy| {
            let means = policy.held_out().decisive_outcome.means();
            let finer = means.optimal_by_score.or(means.optimal_by_distance);
            let lost = means.expected_loss_score.map(|lost| -lost);
            [means.optimal_by_outcome, finer, lost].map(|merit| merit.unwrap_or(0.0))
        };
        let merits: Vec<[f64; 3]> = self.policies.iter().map(merits).collect();
        let mut order: Vec<usize> = (0..merits.len()).collect();
        let better = |a: &f64, b: &f64| b.total_cmp(a);
        order.sort_by(|&a, &b| {
            let pairs = merits[a].iter().zip(&merits[b]);
            pairs.fold(Ordering::Equal, |found, (a, b)| found.then(better(a, b)))
        });
        order
    }

    /// Combines the policies' figures with the facts about the table they were measured on.
    ///
    /// Fails if the manifest's roots are not positions of the game.
    pub fn new(source: &Judged<'_>, measured: Measured) -> Result<AccuracyReport, TableError> {
        let table = source.table.table();
        let Measured { judged, asked, seconds, policies } = measured;
        let manifest = table.manifest();
        let reachable = manifest.counts.reachable;
        let counted = reachable.unwrap_or(manifest.counts.table);
        let solution = manifest.solution.as_ref();
        let facts = TableFacts {
            name: table.name(),
            searched: None,
            taken: None,
            game: manifest.identity.game.clone(),
            complete: manifest.complete,
            symmetry_order: manifest.identity.symmetry_order,
            keeps_sides: reachable.is_some() || manifest.identity.sides.is_some(),
            empties: solution.and_then(|solution| solution.empties.clone()),
            repetition: solution.and_then(|solution| solution.repetition.clone()),
            rows: manifest.counts.table.states,
            reachable_states: reachable.map(|reachable| reachable.states),
            terminal_states: counted.terminals,
            nonterminal_states: counted.states.saturating_sub(counted.terminals),
            judged_states: judged,
            asked_states: asked,
            chosen: None,
            roots: roots(source.table)?,
        };
        Ok(AccuracyReport {
            perspective: "mover",
            table: facts,
            policies,
            games: None,
            why_no_games: None,
            agreement: None,
            seconds,
            sweeps: solution.map_or(Vec::new(), |solution| solution.sweeps.clone()),
            words: Words::of(source.table.game()),
            board: BoardLayout::of(source.table.game()),
            metrics: Vec::new(),
            changes: None,
        })
    }
}

/// Returns the roots with their values.
fn roots(table: &SolvedTable) -> Result<Vec<RootFacts>, TableError> {
    let (game, manifest) = (table.game(), table.table().manifest());
    let damaged = |what: String| table.table().damaged_manifest(what);
    let positions = table.states().roots().map_err(|error| damaged(error.line()))?;
    let roots = manifest.identity.roots.iter().zip(positions).zip(&manifest.root_ids);
    roots
        .map(|((notation, position), &row)| {
            let row = usize::try_from(row).ok().filter(|&row| row < table.states().rows());
            let value = table
                .value(row.ok_or_else(|| damaged("a root is missing from the table".to_string()))?);
            let name = |side: Side| game.side_name(side).to_string();
            let outcome = value.outcome().map(Outcome::value);
            let winner = match outcome {
                Some(1) => Some(name(position.side)),
                Some(-1) => Some(name(position.side.other())),
                _ => None,
            };
            let of_end = |bound: Option<u16>| match table.has_scores() {
                true => value.distance(),
                false => bound,
            };
            Ok(RootFacts {
                position: notation.clone(),
                mover: name(position.side),
                winner,
                outcome,
                score: value.score().filter(|_| table.has_scores()).map(|score| score.0),
                distance: value.distance(),
                distance_lower: of_end(value.distance_lower()),
                distance_upper: of_end(value.distance_upper()),
            })
        })
        .collect()
}
