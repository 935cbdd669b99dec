//! `solver query` for cyclic games: outcomes with plies to the end, exact or in bounds.
//!
//! Moves come from the rules on the position as it was given and their values from looking up where
//! each leads, so a mirror image of what the table holds is answered as it stands on the board.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::error::{UserError, not_found, not_solved};
use super::verdict::{
    Mover, cyclic_verdict, outcome_cell, plies_cell, repetition_text, still_open,
};
use crate::game::{Action, Cyclic, Outcome, Position, Repetition, Side};
use crate::graph::{Graph, Ranked, StateKind};
use crate::render::Grid;
use crate::solve::cyclic::{CyclicSolved, Interval, Prospect};
use crate::table::Table;

/// How many plies of best play are shown.
const LONGEST_LINE: usize = 200;

/// What the table says; the JSON that `--json` prints (`docs/query-schema.md`). Values are those of
/// `mover`.
#[derive(Debug, Serialize)]
pub(super) struct CyclicAnswer {
    table: String,
    position: String,
    /// The same in every one-line notation, by name.
    notations: BTreeMap<&'static str, String>,
    #[serde(skip)]
    diagram: String,
    perspective: &'static str,
    mover: &'static str,
    in_check: bool,
    /// `interior`, `terminal`, `frontier` or `restricted`.
    kind: &'static str,
    /// Why the game is over, in words; `null` while it goes on.
    end: Option<String>,
    /// Who has won, if the game is over.
    winner: Option<&'static str>,
    /// What play without end counts as: `draw`, `second-player-wins` or `unknown`.
    repetition: &'static str,
    /// Who gives check with every move, in a table that follows no other moves of that player.
    checks_only: Option<&'static str>,
    #[serde(flatten)]
    value: Verdict,
    /// Every legal move, best first.
    moves: Vec<MoveAnswer>,
    /// Best play, as far as values are exact.
    principal_variation: Vec<String>,
    /// The ply of `principal_variation`, counted from 0, from which it goes round for ever; `null`
    /// if it ends.
    repeats_from: Option<usize>,
    #[serde(skip)]
    line_end: LineEnd,
}

/// A move and its value for the mover.
#[derive(Debug, Serialize)]
struct MoveAnswer {
    #[serde(rename = "move")]
    name: String,
    action: u16,
    /// Whether it leads to a state of the table; nothing is known of it otherwise.
    followed: bool,
    #[serde(flatten)]
    value: Verdict,
}

/// A value, as far as it is proven.
#[derive(Debug, Serialize)]
struct Verdict {
    outcome: Option<&'static str>,
    /// Plies to the end, if known exactly; draws have none.
    distance: Option<u16>,
    /// The fewest and the most plies to the end of a proven win or loss; no most where it may be
    /// play without end.
    distance_lower: Option<u16>,
    distance_upper: Option<u16>,
    /// The worst and the best that the outcome can be.
    outcome_lower: &'static str,
    outcome_upper: &'static str,
    #[serde(skip)]
    interval: Interval,
}

impl Verdict {
    fn of(value: Interval) -> Verdict {
        Verdict {
            outcome: value.outcome().map(Outcome::name),
            distance: value.distance(),
            distance_lower: value.distance_lower(),
            distance_upper: value.distance_upper(),
            outcome_lower: value.lower.outcome().name(),
            outcome_upper: value.upper.outcome().name(),
            interval: value,
        }
    }
}

/// How the line of best play ends.
#[derive(Debug)]
enum LineEnd {
    /// With the game, for a reason.
    Over(String),
    /// By coming back to where it was after so many plies.
    Repeats(usize),
    /// Where it has become too long to be shown.
    Cut,
    /// Where values are no longer exact.
    Unproven,
}

/// Answers for a position.
pub(super) fn answer<G: Cyclic>(
    game: &G,
    table: &Table,
    position: Position<G::State>,
    japanese: bool,
) -> anyhow::Result<CyclicAnswer> {
    let solved = CyclicSolved::open(table)?.ok_or_else(|| not_solved(&table.name()))?;
    let rows = Rows::open(table)?;
    let look = Look { game, rows, solved };
    let row = look.rows.find(game, &position).ok_or_else(|| not_found(game, table, &position))?;
    let diagram = match japanese {
        false => game.diagram(&position),
        true => game.diagram_japanese(&position).ok_or_else(|| {
            UserError::new(format!("--japanese means nothing for {}", game.spec()))
        })?,
    };
    let attacker = attacker(game, table)?;
    let moves = look.moves(&position);
    let (line, line_end) = look.best_line(position);
    let side = position.side;
    Ok(CyclicAnswer {
        table: table.name(),
        position: game.notation(&position),
        notations: game.notations(&position).into_iter().collect(),
        diagram,
        perspective: "mover",
        mover: game.side_name(side),
        in_check: game.in_check(&position.state),
        kind: look.rows.kind(game, row, &position).name(),
        end: game.end_in_words(&position),
        winner: game.end(&position.state).map(|end| match end.outcome {
            Outcome::Win => game.side_name(side),
            _ => game.side_name(side.other()),
        }),
        repetition: look.solved.repetition().name(),
        checks_only: attacker.map(|side| game.side_name(side)),
        value: Verdict::of(look.solved.value(row)),
        moves: moves
            .into_iter()
            .map(|(action, value)| MoveAnswer {
                name: game.action_name(side, action),
                action: action.0,
                followed: value.is_some(),
                value: Verdict::of(value.unwrap_or(NOTHING)),
            })
            .collect(),
        principal_variation: line,
        repeats_from: match line_end {
            LineEnd::Repeats(from) => Some(from),
            _ => None,
        },
        line_end,
    })
}

/// The player whose checks alone a table follows, if it does: who moves first at its roots.
fn attacker<G: Cyclic>(game: &G, table: &Table) -> anyhow::Result<Option<Side>> {
    let identity = &table.manifest().identity;
    match identity.roots.first().filter(|_| identity.checks_only) {
        Some(root) => Ok(Some(game.parse_position(root, &game.start())?.side)),
        None => Ok(None),
    }
}

/// What is known of a move that was not followed.
const NOTHING: Interval = Interval { lower: Prospect::loss(2), upper: Prospect::win(1) };

/// The rows of a table, found in either way.
enum Rows {
    Keys(Box<Graph>),
    Ranks(Ranked),
}

impl Rows {
    fn open(table: &Table) -> anyhow::Result<Rows> {
        Ok(match table.manifest().identity.index.as_deref() {
            Some("rank") => Rows::Ranks(Ranked::open(table)?),
            _ => Rows::Keys(Box::new(Graph::open(table)?)),
        })
    }

    fn find<G: Cyclic>(&self, game: &G, position: &Position<G::State>) -> Option<usize> {
        match self {
            Rows::Keys(graph) => graph.find_position(game, position).map(|id| id.row()),
            Rows::Ranks(ranked) => ranked.find(game, position),
        }
    }

    fn kind<G: Cyclic>(&self, game: &G, row: usize, position: &Position<G::State>) -> StateKind {
        match self {
            Rows::Keys(graph) => graph.kind(row),
            Rows::Ranks(_) if game.end(&position.state).is_some() => StateKind::Terminal,
            Rows::Ranks(_) => StateKind::Interior,
        }
    }
}

struct Look<'a, G: Cyclic> {
    game: &'a G,
    rows: Rows,
    solved: CyclicSolved,
}

impl<G: Cyclic> Look<'_, G> {
    fn value(&self, position: &Position<G::State>) -> Option<Interval> {
        self.rows.find(self.game, position).map(|row| self.solved.value(row))
    }

    /// The legal moves with their values for the mover, best first: by what is sure, then by what is
    /// possible, then by action; at the end those of which nothing is known.
    fn moves(&self, position: &Position<G::State>) -> Vec<(Action, Option<Interval>)> {
        let mut moves = Vec::new();
        let side = position.side.other();
        self.game.for_each_successor(&position.state, |action, state| {
            let after = self.value(&Position { state, side });
            moves.push((action, after.map(Interval::before)));
        });
        let best = |value: Option<Interval>| value.map(|value| (value.lower, value.upper));
        moves.sort_by_key(|&(action, value)| (Reverse(best(value)), action));
        moves
    }

    /// The line of best play while values are exact: to the end of the game, or round to a position
    /// that was there before.
    fn best_line(&self, from: Position<G::State>) -> (Vec<String>, LineEnd) {
        let (mut line, mut before) = (Vec::new(), Vec::new());
        let mut position = from;
        loop {
            let Some(value) = self.value(&position).filter(|value| value.lower == value.upper)
            else {
                return (line, LineEnd::Unproven);
            };
            if let Some(why) = self.game.end_in_words(&position) {
                return (line, LineEnd::Over(why));
            }
            if let Some(place) = before.iter().position(|&earlier| earlier == position) {
                return (line, LineEnd::Repeats(place));
            }
            if line.len() == LONGEST_LINE {
                return (line, LineEnd::Cut);
            }
            // The first of the moves keeps the value; where none does the table was written wrong.
            let best = self.moves(&position).first().copied();
            let Some((action, _)) = best.filter(|(_, kept)| *kept == Some(value)) else {
                return (line, LineEnd::Unproven);
            };
            before.push(position);
            line.push(self.game.action_name(position.side, action));
            position = self.game.advance(&position, action);
        }
    }
}

impl CyclicAnswer {
    pub fn to_text(&self) -> String {
        let side = self.mover;
        let mut text = format!("{}\n{side} to move\n\n{}\n", self.diagram.trim_end(), self.said());
        let (followed, left): (Vec<_>, Vec<_>) = self.moves.iter().partition(|m| m.followed);
        // Of most moves of a bounded table there is nothing to tell but their names.
        let (proven, open): (Vec<&MoveAnswer>, Vec<_>) =
            followed.into_iter().partition(|m| outcome_cell(m.value.interval) != "not proven");
        if !proven.is_empty() {
            let repetition = Repetition::of(self.repetition).unwrap_or(Repetition::Unknown);
            text += &format!(
                "\n{}, best first; outcomes are {side}'s, {}:\n\n",
                match open.len() + left.len() {
                    0 => "Each move",
                    _ => "Moves of which something is proven",
                },
                repetition_text(repetition)
            );
            let rows = proven.iter().map(|m| {
                let value = m.value.interval;
                vec![m.name.clone(), outcome_cell(value).to_string(), plies_cell(value)]
            });
            text += &Grid::of(&["move", "outcome", "plies to the end"], rows).to_text();
        }
        let why = if self.kind == "restricted" { ", giving no check" } else { "" };
        for (what, why, moves) in [("Not proven", "", open), ("Not followed", why, left)] {
            if !moves.is_empty() {
                let names: Vec<&str> = moves.iter().map(|m| m.name.as_str()).collect();
                text += &format!("\n{what}{why}: {}\n", names.join(" "));
            }
        }
        text += &self.line_text();
        if let Some(attacker) = self.checks_only {
            text += &format!(
                "\nOnly checks of {attacker}'s were followed: plies are those of mates by checks alone. With other moves {attacker} may win sooner, or where no check does.\n"
            );
        }
        text
    }

    /// What is known of the position, in a sentence.
    fn said(&self) -> String {
        let value = self.value.interval;
        match (self.kind, &self.end) {
            ("terminal", Some(why)) => {
                format!("The game is over, {} has won: {why}", self.winner.unwrap_or("nobody"))
            }
            ("frontier", _) => {
                let open = still_open(value).map_or(String::new(), |open| format!("; {open}"));
                format!(
                    "At the table's frontier: its moves were not followed, its value is not known{open}"
                )
            }
            _ => {
                let gives_checks = self.checks_only.map(|attacker| attacker == self.mover);
                cyclic_verdict(
                    Mover { side: self.mover, in_check: self.in_check, gives_checks },
                    value,
                )
            }
        }
    }

    fn line_text(&self) -> String {
        if self.principal_variation.is_empty() {
            return String::new();
        }
        let end = match &self.line_end {
            LineEnd::Over(why) => format!(": {why}"),
            LineEnd::Repeats(0) => ", and round again".to_string(),
            LineEnd::Repeats(from) => {
                format!(
                    ", and round again from {} (ply {})",
                    self.principal_variation[*from],
                    from + 1
                )
            }
            LineEnd::Cut => " and so on".to_string(),
            LineEnd::Unproven => String::new(),
        };
        format!("\nBest play: {}{end}\n", self.principal_variation.join(" "))
    }
}
