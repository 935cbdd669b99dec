//! `solver query`: what a table says of a position.
//!
//! Moves come from the rules on the position as it was given and their values from looking up where
//! each leads, so a mirror image of what the table holds is answered as it stands on the board.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::process::ExitCode;

use serde::Serialize;

use super::colour;
use super::complete::tables;
use super::context::Context;
use super::error::{UserError, not_found, not_solved};
use super::holder::holder;
use super::table_args::Named;
use crate::any::AnyPosition;
use crate::game::{Action, Game, Outcome, Repetition, Side};
use crate::input;
use crate::render::Grid;
use crate::render::number::counted;
use crate::render::verdict::{
    Mover, outcome_cell, plies_cell, repetition_text, score_cell, still_open, verdict,
};
use crate::solve::Value;
use crate::solved::SolvedTable;

/// Show the value of a position and of each of its moves
///
/// Without a position the first root of the table is shown, which is the start of a whole game, and
/// without both that of the table enumerated last. Without a table the position is looked up in all
/// solved tables. Of several that have it one that proves it exactly is preferred, then a complete
/// one, then the first by name. Where it may be of several games, as 'start' or a transcript (which
/// then begins at the start of a game), the game of the table enumerated last is meant.
#[derive(Debug, clap::Args)]
#[command(override_usage = "solver query [OPTIONS] [TABLE] [POSITION]...")]
pub(super) struct Args {
    /// A table's name or directory; anything else is where the position begins
    #[arg(value_name = "TABLE", allow_hyphen_values = true, add = tables())]
    first: Option<String>,
    /// A board, SFEN or an OBF line, digits, a transcript, 'start', or '-' to read it from stdin
    // Takes one value that may begin with a hyphen: more of them would swallow the options after.
    #[arg(value_name = "POSITION", allow_hyphen_values = true)]
    second: Option<String>,
    /// The rest of a position that is not quoted
    #[arg(hide = true)]
    rest: Vec<String>,
    #[command(flatten)]
    table: Named,
    /// Draw the board with the Japanese names of the pieces (shogi)
    #[arg(long)]
    japanese: bool,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let first = args.first.unwrap_or_default();
    let option = args.table.name(context)?;
    let is_table = option.is_none() && context.store.has(&first);
    let words = (!is_table).then_some(first.clone()).into_iter();
    let words: Vec<String> = words.chain(args.second).chain(args.rest).collect();
    let mut text = words.join(" ");
    let table = match option.or(is_table.then_some(first.clone())) {
        Some(name) => Some(context.store.open(&name)?),
        None if text.is_empty() => Some(context.latest()?),
        None => None,
    };
    if let Some(table) = table.as_ref().filter(|table| table.manifest().solution.is_none()) {
        return Err(not_solved(&table.name()).into());
    }
    if text == "-" {
        text = input::text(std::io::stdin())
            .map_err(|error| UserError::new(format!("stdin cannot be read: {error}")))?;
    }
    let (table, position) = match table {
        Some(table) => {
            let table = context.solved(table, false)?;
            let root = table.states().roots()?.first().copied();
            let position = match root.filter(|_| words.iter().all(String::is_empty)) {
                Some(root) => root,
                None => table.states().parse(&text)?,
            };
            (table, position)
        }
        None => {
            let found = holder(text.trim(), &first, context)?;
            context.remark(format!("{}: the table that has it", found.0.table().name()));
            found
        }
    };
    let answer = Query { table: &table }.answer(position, args.japanese)?;
    match context.json {
        true => context.json("query", &answer)?,
        false => context.print(answer.to_text(&table, context.colour))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// How many plies of best play are shown.
const LONGEST_LINE: usize = 200;

/// What the table says; the JSON that `--json` prints (`docs/query-schema.md`). Values are those of
/// `mover`.
#[derive(Debug, Serialize)]
struct Answer {
    table: String,
    position: String,
    /// The same in every one-line notation, by name.
    notations: BTreeMap<&'static str, String>,
    #[serde(skip)]
    diagram: String,
    perspective: &'static str,
    mover: &'static str,
    /// Whether this very position, not only a mirror image or the one with colours exchanged, can
    /// be reached from the root; absent where the table does not keep that.
    #[serde(skip_serializing_if = "Option::is_none")]
    reachable: Option<bool>,
    /// `interior`, `terminal`, `frontier` or `restricted`.
    kind: &'static str,
    #[serde(flatten)]
    value: Verdict,
    /// Every legal move, best first; of a layered game those that were followed.
    moves: Vec<MoveAnswer>,
    /// Best play, as far as it is proven.
    principal_variation: Vec<String>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    cycles: Option<Cycles>,
    #[serde(skip)]
    side: Side,
    #[serde(skip)]
    line_end: LineEnd,
}

/// The further fields of a cyclic game.
#[derive(Debug, Serialize)]
struct Cycles {
    in_check: bool,
    /// Why the game is over, in words; `null` while it goes on.
    end: Option<String>,
    /// Who has won, if the game is over.
    winner: Option<&'static str>,
    /// What play without end counts as: `draw`, `second-player-wins` or `unknown`.
    repetition: &'static str,
    /// Who gives check with every move, in a table that follows no other moves of that player.
    checks_only: Option<&'static str>,
    /// The ply of `principal_variation`, counted from 0, from which it goes round for ever; `null`
    /// if it ends.
    repeats_from: Option<usize>,
}

/// A move and its value for the mover.
#[derive(Debug, Serialize)]
struct MoveAnswer {
    #[serde(rename = "move")]
    name: String,
    action: u16,
    /// Whether it leads to a state of the table; nothing is known of it otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    followed: Option<bool>,
    #[serde(flatten)]
    value: Verdict,
}

/// A value, as far as it is proven.
#[derive(Debug, Serialize)]
struct Verdict {
    /// 1 a win, 0 a draw, −1 a loss; the same as a word.
    outcome: Option<i8>,
    result: Option<&'static str>,
    /// Plies to the end, if known exactly; draws have none where play may go on for ever.
    distance: Option<u16>,
    #[serde(flatten)]
    bounds: Bounds,
    #[serde(skip)]
    value: Value,
}

/// What is known where a value is not proven.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Bounds {
    Scores {
        score: Option<i8>,
        score_lower: i8,
        score_upper: i8,
    },
    /// The fewest and the most plies to the end of a proven win or loss; no most where it may be
    /// play without end. The worst and the best that the outcome can be.
    Plies {
        distance_lower: Option<u16>,
        distance_upper: Option<u16>,
        outcome_lower: i8,
        outcome_upper: i8,
    },
}

impl Verdict {
    fn of(value: Value, scored: bool) -> Verdict {
        let bounds = match scored {
            true => Bounds::Scores {
                score: value.score().map(|score| score.0),
                score_lower: value.lower.score().0,
                score_upper: value.upper.score().0,
            },
            false => Bounds::Plies {
                distance_lower: value.distance_lower(),
                distance_upper: value.distance_upper(),
                outcome_lower: value.lower.outcome().value(),
                outcome_upper: value.upper.outcome().value(),
            },
        };
        let (outcome, result) =
            (value.outcome().map(Outcome::value), value.outcome().map(Outcome::name));
        Verdict { outcome, result, distance: value.distance(), bounds, value }
    }
}

/// How the line of best play ends.
#[derive(Debug)]
enum LineEnd {
    /// With the game, in words where it may go on for ever.
    Over(Option<String>),
    /// By coming back to where it was after so many plies.
    Repeats(usize),
    /// Where it has become too long to be shown.
    Cut,
    /// Where values are no longer proven.
    Unproven,
}

/// Gives a line about a value its colour.
type Paint<'a> = dyn Fn(&str, &Verdict) -> String + 'a;

struct Query<'a> {
    table: &'a SolvedTable,
}

impl Query<'_> {
    fn answer(&self, position: AnyPosition, japanese: bool) -> anyhow::Result<Answer> {
        let (table, game, states) = (self.table, self.table.game(), self.table.states());
        let diagram = match japanese {
            false => game.diagram(&position),
            true => game.diagram_japanese(&position).ok_or_else(|| {
                UserError::new(format!("--japanese means nothing for {}", game.name()))
            })?,
        };
        let row = states.find(&position);
        let row = row.ok_or_else(|| not_found(game, table.table(), &position))?;
        let (side, layered) = (position.side, game.layers().is_some());
        let attacker = match table.table().manifest().identity.checks_only {
            true => states.roots()?.first().map(|root| root.side),
            false => None,
        };
        let (principal_variation, line_end) = self.best_line(position);
        let scored = table.has_scores();
        let moves = self.moves(&position).into_iter();
        let moves = moves.filter(|(_, value)| value.is_some() || !layered);
        let answer = |(action, value): (Action, Option<Value>)| MoveAnswer {
            name: game.action_name(side, action),
            action: action.0,
            followed: (!layered).then_some(value.is_some()),
            value: Verdict::of(value.unwrap_or(table.cut_off()), scored),
        };
        let winner = |outcome| match outcome {
            Outcome::Win => game.side_name(side),
            _ => game.side_name(side.other()),
        };
        Ok(Answer {
            table: table.table().name(),
            position: game.notation(&position),
            notations: game.notations(&position).into_iter().collect(),
            diagram,
            perspective: "mover",
            mover: game.side_name(side),
            reachable: states.orientations(row).map(|reached| {
                let ties = game.canonical(&position.state).ties;
                reached.0 & game.group().root_orientations(side, ties).0 != 0
            }),
            kind: states.kind(row, &position.state).name(),
            value: Verdict::of(table.value(row), scored),
            moves: moves.map(answer).collect(),
            principal_variation,
            cycles: (!layered).then(|| Cycles {
                in_check: game.in_check(&position.state),
                end: game.end_in_words(&position),
                winner: game.result(&position.state).map(winner),
                repetition: table.values().repetition().name(),
                checks_only: attacker.map(|side| game.side_name(side)),
                repeats_from: match line_end {
                    LineEnd::Repeats(from) => Some(from),
                    _ => None,
                },
            }),
            side,
            line_end,
        })
    }

    /// The legal moves with their values for the mover, best first: by what is sure, then by what
    /// is possible, then by action; at the end those of which nothing is known.
    fn moves(&self, position: &AnyPosition) -> Vec<(Action, Option<Value>)> {
        let mut moves = self.table.look_ahead(position);
        moves.sort_by_key(|&(action, value)| (Reverse(value.map(Value::preference)), action));
        moves
    }

    /// Whether a value is proven as far as the line of best play needs: the score, or the outcome
    /// with its distance.
    fn is_proven(&self, value: Value) -> bool {
        match self.table.has_scores() {
            true => value.score().is_some(),
            false => value.lower == value.upper,
        }
    }

    /// The line of best play while values are proven: to the end of the game, or round to a
    /// position that was there before.
    fn best_line(&self, from: AnyPosition) -> (Vec<String>, LineEnd) {
        let (game, states) = (self.table.game(), self.table.states());
        let (mut line, mut before) = (Vec::new(), Vec::<AnyPosition>::new());
        let mut position = from;
        loop {
            let value = states.find(&position).map(|row| self.table.value(row));
            let Some(value) = value.filter(|&value| self.is_proven(value)) else {
                return (line, LineEnd::Unproven);
            };
            if game.result(&position.state).is_some() {
                let words = game.end_in_words(&position).filter(|_| game.layers().is_none());
                return (line, LineEnd::Over(words));
            }
            if let Some(place) = before.iter().position(|&earlier| earlier == position) {
                return (line, LineEnd::Repeats(place));
            }
            if line.len() == LONGEST_LINE {
                return (line, LineEnd::Cut);
            }
            let Some(action) = self.best_move(&position, value) else {
                return (line, LineEnd::Unproven);
            };
            before.push(position);
            line.push(game.action_name(position.side, action));
            position = game.advance(&position, action);
        }
    }

    /// The best move of a position, which keeps its value; where none does the table was written
    /// wrong.
    fn best_move(&self, position: &AnyPosition, value: Value) -> Option<Action> {
        // None is better than one that keeps an exact value, so those behind it are not looked up:
        // in a packed table each takes a block to unpack.
        let (states, side) = (self.table.states(), position.side.other());
        let keeps = |state| {
            let row = states.find(&AnyPosition { state, side });
            row.is_some_and(|row| self.table.value(row).before() == value)
        };
        let mut first = None;
        if value.lower == value.upper {
            self.table.game().for_each_successor(&position.state, |action, state| {
                if first.is_none() && keeps(state) {
                    first = Some(action);
                }
            });
        }
        let kept = |found: Value| match self.table.has_scores() {
            true => found.score() == value.score(),
            false => found == value,
        };
        first.or_else(|| {
            let (action, found) = self.moves(position).first().copied()?;
            found.is_some_and(kept).then_some(action)
        })
    }
}

impl Answer {
    fn to_text(&self, table: &SolvedTable, colour: bool) -> String {
        let game = table.game();
        let side = self.mover;
        let mark = game.side_mark(self.side).map_or(String::new(), |mark| format!(" ({mark})"));
        let mut text = format!("{}\n{side}{mark} to move\n\n", self.diagram.trim_end());
        let painted = |line: &str, value: &Verdict| match colour {
            true => colour::of_outcome(line, value.outcome),
            false => line.to_string(),
        };
        text += &format!("{}\n", painted(&self.value_text(table), &self.value));
        text += &self.moves_text(table, &painted);
        text += &self.line_text();
        if let Some(attacker) = self.cycles.as_ref().and_then(|cycles| cycles.checks_only) {
            text += &format!(
                "\nOnly checks of {attacker}'s were followed: plies are those of mates by checks alone. With other moves {attacker} may win sooner, or where no check does.\n"
            );
        }
        if self.reachable == Some(false) {
            text += "\nThis very position cannot be reached from the root; it is a mirror image of one that can, or has the colours exchanged, which does not change its value.\n";
        }
        text
    }

    fn moves_text(&self, table: &SolvedTable, painted: &Paint) -> String {
        let side = self.mover;
        let scored = table.has_scores();
        let (followed, left): (Vec<&MoveAnswer>, Vec<_>) =
            self.moves.iter().partition(|m| m.followed != Some(false));
        // Of most moves of a bounded table there is nothing to show but their names.
        let (known, open): (Vec<&MoveAnswer>, Vec<_>) = followed
            .into_iter()
            .partition(|m| scored || outcome_cell(m.value.value) != "not proven");
        let mut text = String::new();
        if !known.is_empty() {
            let head = match open.len() + left.len() {
                0 => "Each move",
                _ => "Moves of which something is proven",
            };
            let whose = match &self.cycles {
                None => format!("values are {side}'s"),
                Some(cycles) => {
                    let repetition = Repetition::of(cycles.repetition);
                    let repetition = repetition.unwrap_or(Repetition::Unknown);
                    format!("outcomes are {side}'s, {}", repetition_text(repetition))
                }
            };
            text += &format!("\n{head}, best first; {whose}:\n\n");
            let mut headings = vec!["move", "outcome"];
            headings.extend(scored.then_some("score"));
            headings.push("plies to the end");
            let rows = known.iter().map(|m| {
                let value = m.value.value;
                let mut cells = vec![m.name.clone(), outcome_cell(value).to_string()];
                if scored {
                    cells[1] = m.value.result.unwrap_or("not proven").to_string();
                    cells.push(score_cell(value));
                    let plies = value.distance().map(|plies| plies.to_string());
                    cells.push(plies.unwrap_or("not proven".to_string()));
                } else {
                    cells.push(plies_cell(value));
                }
                cells
            });
            let grid = Grid::of(&headings, rows).to_text();
            let values = known.iter().map(|m| Some(&m.value));
            for (line, value) in grid.lines().zip([None].into_iter().chain(values)) {
                let line = value.map_or(line.to_string(), |value| painted(line, value));
                text += &format!("{line}\n");
            }
        }
        let why = if self.kind == "restricted" { ", giving no check" } else { "" };
        for (what, why, moves) in [("Not proven", "", open), ("Not followed", why, left)] {
            if !moves.is_empty() {
                let names: Vec<&str> = moves.iter().map(|m| m.name.as_str()).collect();
                text += &format!("\n{what}{why}: {}\n", names.join(" "));
            }
        }
        text
    }

    /// What is known of the position, in a sentence.
    fn value_text(&self, table: &SolvedTable) -> String {
        let (game, value) = (table.game(), self.value.value);
        let cycles = self.cycles.as_ref();
        match self.kind {
            "terminal" => match cycles.and_then(|cycles| cycles.end.as_ref().zip(cycles.winner)) {
                Some((why, winner)) => format!("The game is over, {winner} has won: {why}"),
                None => format!("The game is over: {}", self.final_result(table)),
            },
            "frontier" if cycles.is_none() => {
                "At the table's frontier: the value is not known".to_string()
            }
            "frontier" => {
                let open = still_open(value).map_or(String::new(), |open| format!("; {open}"));
                format!(
                    "At the table's frontier: its moves were not followed, its value is not known{open}"
                )
            }
            _ => {
                let attacker = cycles.and_then(|cycles| cycles.checks_only);
                let mover = Mover {
                    side: self.mover,
                    in_check: cycles.is_some_and(|cycles| cycles.in_check),
                    gives_checks: attacker.map(|attacker| attacker == self.mover),
                    unit: table.has_scores().then(|| game.score_unit()),
                };
                let mut text = verdict(mover, value);
                if table.has_scores() && value.score().is_none() {
                    text += &format!("; score {}", score_cell(value));
                }
                text
            }
        }
    }

    fn final_result(&self, table: &SolvedTable) -> String {
        let game = table.game();
        match self.value.value.score() {
            Some(score) if score.0 == 0 => "a draw".to_string(),
            Some(score) => {
                let winner = if score.0 > 0 { self.side } else { self.side.other() };
                let winner = game.side_name(winner);
                match table.has_scores() {
                    true => {
                        let size = u64::from(score.0.unsigned_abs());
                        format!("{winner} has won by {}", counted(size, game.score_unit()))
                    }
                    false => format!("{winner} has won"),
                }
            }
            None => "its score is not known".to_string(),
        }
    }

    fn line_text(&self) -> String {
        if self.principal_variation.is_empty() {
            return String::new();
        }
        let end = match &self.line_end {
            LineEnd::Over(Some(words)) => format!(": {words}"),
            LineEnd::Over(None) | LineEnd::Unproven => String::new(),
            LineEnd::Repeats(0) => ", and round again".to_string(),
            LineEnd::Repeats(from) => {
                format!(
                    ", and round again from {} (ply {})",
                    self.principal_variation[*from],
                    from + 1
                )
            }
            LineEnd::Cut => " and so on".to_string(),
        };
        format!("\nBest play: {}{end}\n", self.principal_variation.join(" "))
    }
}
