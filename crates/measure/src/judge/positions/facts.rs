//! Facts about judged positions: the table, where positions and values come from, the roots.

use serde::Serialize;

use super::LeftOut;
use yomikiri::error::Error;
use yomikiri::oracle::SolvedTable;
use yomikiri::rules::{Empties, Outcome, Rules, Side};

/// Facts about a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TableFacts {
    /// Name of the table.
    pub name: String,
    /// Origin of the exact values: `table`, `search`, or `table and search`.
    pub values: &'static str,
    /// Origin of the positions: `table` for all of a table, `split`, `file`, `sample`, `uniform-sample`, `games`, or
    /// `given`.
    pub source: &'static str,
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
    /// Choice of the positions and how they weigh, in words; `None` for all whose values are proven.
    pub chosen: Option<String>,
    /// Positions of a list that are not judged.
    pub left_out: LeftOut,
    /// Checksum of the judged positions, their weights and their values, equal wherever the positions come from.
    pub checksum: String,
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

    /// Returns `true` if no table is involved.
    pub fn is_searched(&self) -> bool {
        self.values == "search"
    }

    /// Returns `true` if the positions are those of a list, not of a table or a part of one.
    pub fn is_listed(&self) -> bool {
        !matches!(self.source, "table" | "split")
    }

    /// Returns the facts about a table, of which all positions are judged; they are counted later.
    ///
    /// Fails if the manifest's roots are not positions of the game.
    pub(in crate::judge) fn of_table(table: &SolvedTable) -> Result<TableFacts, Error> {
        let manifest = table.table().manifest();
        let reachable = manifest.counts.reachable;
        let counted = reachable.unwrap_or(manifest.counts.table);
        let solution = manifest.solution.as_ref();
        Ok(TableFacts {
            name: table.table().name(),
            values: "table",
            source: "table",
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
            judged_states: 0,
            asked_states: 0,
            chosen: None,
            left_out: LeftOut::default(),
            checksum: String::new(),
            roots: roots(table)?,
        })
    }

    /// Returns the facts about positions that are searched, in games with cycles for wins within `win_plies` plies after
    /// a move.
    pub(in crate::judge) fn of_search(
        game: &dyn Rules,
        empties: Empties,
        win_plies: u32,
        positions: u64,
    ) -> TableFacts {
        let mut name = format!("{} by search", game.name());
        if !game.is_layered() {
            name += &format!(": wins by checks, and any within {win_plies} plies after a move");
        }
        TableFacts {
            name,
            values: "search",
            source: "given",
            taken: None,
            game: game.name(),
            complete: game.is_layered(),
            symmetry_order: 1,
            keeps_sides: true,
            empties: game.has_scores().then(|| empties.name().to_string()),
            repetition: (!game.is_layered()).then(|| game.repetition().name().to_string()),
            rows: positions,
            reachable_states: None,
            terminal_states: 0,
            nonterminal_states: positions,
            judged_states: 0,
            asked_states: 0,
            chosen: None,
            left_out: LeftOut::default(),
            checksum: String::new(),
            roots: Vec::new(),
        }
    }
}

/// Returns the roots with their values.
fn roots(table: &SolvedTable) -> Result<Vec<RootFacts>, Error> {
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
