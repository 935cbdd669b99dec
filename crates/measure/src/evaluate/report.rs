//! The report on policies: the facts of the table and each policy's figures, as plain data.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::Serialize;

use super::accuracy::{Measured, PolicyAccuracy};
use super::compare::Agreement;
use super::games::Games;
use super::source::Judged;
use yomikiri::game::{Game, GameExt, Outcome, Side};
use yomikiri::hint::Hint;
use yomikiri::solved::SolvedTable;
use yomikiri::table::{SweepRecord, TableError};

/// How accurate policies are on a table; `docs/json.md` describes the JSON.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AccuracyReport {
    /// Whose all values are: always `mover`, the player to move.
    pub perspective: &'static str,
    /// What was measured on.
    pub table: TableFacts,
    /// In the order of the request.
    pub policies: Vec<PolicyAccuracy>,
    /// Games between them; `None` where they are not played out.
    pub games: Option<Games>,
    /// Why games are not played out though they were asked for, in words.
    pub why_no_games: Option<String>,
    /// How alike they choose; `None` unless it is asked for, and no part of the JSON.
    #[serde(skip)]
    pub agreement: Option<Agreement>,
    /// As in [`Measured`]; no part of the JSON, which is the same each time.
    #[serde(skip)]
    pub seconds: Vec<Option<f64>>,
    /// How the table was solved, sweep by sweep.
    pub sweeps: Vec<SweepRecord>,
    /// The names and units of the game.
    pub words: Words,
}

/// What a game calls its players, its layers and its points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Words {
    /// The first and the second player.
    pub sides: [&'static str; 2],
    /// What layers count: `discs`; `plies` where the game has no layers.
    pub layers: &'static str,
    /// The unit of scores: `disc`.
    pub unit: &'static str,
    /// The same in the plural.
    pub units: String,
    /// Whether positions are written as keys, for lack of a notation.
    #[serde(skip)]
    pub positions_are_keys: bool,
}

impl Words {
    /// Those of a game.
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

/// What a report says of its table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TableFacts {
    /// The table's name.
    pub name: String,
    /// What the positions are, in words, where their values were found by search; `None` of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched: Option<String>,
    /// Why this table was taken, in words; `None` where that was not up to whoever made the report.
    pub taken: Option<String>,
    /// The game: `othello-4x4`, `minishogi`.
    pub game: String,
    /// Whether no state is at a frontier.
    pub complete: bool,
    /// How many symmetries states are folded under; 1 if they are not.
    pub symmetry_order: u8,
    /// Whether positions that differ only in who is to move count as two.
    pub keeps_sides: bool,
    /// `uncounted` or `to-winner`: what squares left empty at the end count for in scores; `None`
    /// in cyclic games, which have none.
    pub empties: Option<String>,
    /// `draw`, `second-player-wins` or `unknown`: what play without end counts for; `None` in
    /// layered games, which end.
    pub repetition: Option<String>,
    /// Rows of the table.
    pub rows: u64,
    /// Actual positions (board and side to move) that are reachable from the roots; `None` in
    /// cyclic games, of whose tables the rows are counted instead, here and below.
    pub reachable_states: Option<u64>,
    /// Those of them in which the game is over.
    pub terminal_states: u64,
    /// The others.
    pub nonterminal_states: u64,
    /// Those of the others of which the figures are.
    pub judged_states: u64,
    /// Those of these that policies were asked about: one a row with `--canonical`, else all.
    pub asked_states: u64,
    /// Which positions were chosen, in words; `None` for all whose values are proven.
    pub chosen: Option<String>,
    /// Where the games begin.
    pub roots: Vec<RootFacts>,
}

/// A root and its value for its mover; `null` where the table does not prove it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RootFacts {
    /// The position in the game's one-line notation.
    pub position: String,
    /// The name of the side to move, whose the values are: `Black`.
    pub mover: String,
    /// The name of the side that wins; `null` for a draw too.
    pub winner: Option<String>,
    /// The mover's outcome: 1 a win, 0 a draw, −1 a loss.
    pub outcome: Option<i8>,
    /// The mover's score.
    pub score: Option<i8>,
    /// Plies to the end of the game; `None` for draws in cyclic games too.
    pub distance: Option<u16>,
    /// The fewest plies in which a proven result can come; `None` where it cannot come by an end.
    pub distance_lower: Option<u16>,
    /// The most; `None` where it may come by play without end.
    pub distance_upper: Option<u16>,
}

impl TableFacts {
    /// Whether the game has scores.
    pub fn has_scores(&self) -> bool {
        self.empties.is_some()
    }
}

impl AccuracyReport {
    /// The places of the policies, the best first: who keeps the result most often where moves differ
    /// in it (where it has not learned, if that is known); of equals who keeps the score or the plies
    /// more often there, then who loses less of the score, then who was named first.
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

    /// Puts policies' figures beside the facts of the table they were measured on.
    ///
    /// Fails where the manifest's roots are no positions of the game.
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
        })
    }
}

/// The roots with their values.
fn roots(table: &SolvedTable) -> Result<Vec<RootFacts>, TableError> {
    let (game, manifest) = (table.game(), table.table().manifest());
    let damaged = |what: String| table.table().damaged_manifest(what);
    let positions = table.states().roots().map_err(|error| damaged(error.line()))?;
    let roots = manifest.identity.roots.iter().zip(positions).zip(&manifest.root_ids);
    roots
        .map(|((notation, position), &row)| {
            let row = usize::try_from(row).ok().filter(|&row| row < table.states().rows());
            let value = table.value(row.ok_or_else(|| damaged("a root is no row".to_string()))?);
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
