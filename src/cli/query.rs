//! `solver query`: what a table says of a position.

use std::process::ExitCode;

use super::colour;
use super::complete::tables;
use super::context::Context;
use super::error::{UserError, not_solved};
use super::holder::holder;
use super::table_args::Named;
use crate::game::{Game, Repetition};
use crate::input;
use crate::render::Grid;
use crate::render::number::counted;
use crate::render::verdict::{
    Mover, outcome_cell, plies_cell, repetition_text, score_cell, still_open, verdict,
};
use crate::solved::{Answer, LineEnd, MoveAnswer, SolvedTable, Verdict};

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
    let mut answer = table.answer(position)?;
    if args.japanese {
        let game = table.game();
        answer.board.diagram = game.diagram_japanese(&position).ok_or_else(|| {
            UserError::new(format!("--japanese means nothing for {}", game.name()))
        })?;
    }
    match context.json {
        true => context.json("query", &answer)?,
        false => {
            let shown = Shown { answer: &answer, table: &table };
            context.print(shown.to_text(context.colour))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Gives a line about a value its colour.
type Paint<'a> = dyn Fn(&str, &Verdict) -> String + 'a;

/// An answer as text.
struct Shown<'a> {
    answer: &'a Answer,
    table: &'a SolvedTable,
}

impl Shown<'_> {
    fn to_text(&self, colour: bool) -> String {
        let game = self.table.game();
        let side = self.answer.mover;
        let mark =
            game.side_mark(self.answer.side).map_or(String::new(), |mark| format!(" ({mark})"));
        let mut text =
            format!("{}\n{side}{mark} to move\n\n", self.answer.board.diagram.trim_end());
        let painted = |line: &str, value: &Verdict| match colour {
            true => colour::of_outcome(line, value.outcome),
            false => line.to_string(),
        };
        text += &format!("{}\n", painted(&self.value_text(), &self.answer.value));
        text += &self.moves_text(&painted);
        text += &self.line_text();
        if let Some(attacker) = self.answer.cycles.as_ref().and_then(|cycles| cycles.checks_only) {
            text += &format!(
                "\nOnly checks of {attacker}'s were followed: plies are those of mates by checks alone. With other moves {attacker} may win sooner, or where no check does.\n"
            );
        }
        if self.answer.reachable == Some(false) {
            text += "\nThis very position cannot be reached from the root; it is a mirror image of one that can, or has the colours exchanged, which does not change its value.\n";
        }
        text
    }

    fn moves_text(&self, painted: &Paint) -> String {
        let side = self.answer.mover;
        let scored = self.table.has_scores();
        let (followed, left): (Vec<&MoveAnswer>, Vec<_>) =
            self.answer.moves.iter().partition(|m| m.followed != Some(false));
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
            let whose = match &self.answer.cycles {
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
        let why = if self.answer.kind == "restricted" { ", giving no check" } else { "" };
        for (what, why, moves) in [("Not proven", "", open), ("Not followed", why, left)] {
            if !moves.is_empty() {
                let names: Vec<&str> = moves.iter().map(|m| m.name.as_str()).collect();
                text += &format!("\n{what}{why}: {}\n", names.join(" "));
            }
        }
        text
    }

    /// What is known of the position, in a sentence.
    fn value_text(&self) -> String {
        let (game, value) = (self.table.game(), self.answer.value.value);
        let cycles = self.answer.cycles.as_ref();
        match self.answer.kind {
            "terminal" => match cycles.and_then(|cycles| cycles.end.as_ref().zip(cycles.winner)) {
                Some((why, winner)) => format!("The game is over, {winner} has won: {why}"),
                None => format!("The game is over: {}", self.final_result()),
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
                    side: self.answer.mover,
                    in_check: cycles.is_some_and(|cycles| cycles.in_check),
                    gives_checks: attacker.map(|attacker| attacker == self.answer.mover),
                    unit: self.table.has_scores().then(|| game.score_unit()),
                };
                let mut text = verdict(mover, value);
                if self.table.has_scores() && value.score().is_none() {
                    text += &format!("; score {}", score_cell(value));
                }
                text
            }
        }
    }

    fn final_result(&self) -> String {
        let game = self.table.game();
        match self.answer.value.value.score() {
            Some(score) if score.0 == 0 => "a draw".to_string(),
            Some(score) => {
                let winner = if score.0 > 0 { self.answer.side } else { self.answer.side.other() };
                let winner = game.side_name(winner);
                match self.table.has_scores() {
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
        if self.answer.principal_variation.is_empty() {
            return String::new();
        }
        let end = match &self.answer.line_end {
            LineEnd::Over(Some(words)) => format!(": {words}"),
            LineEnd::Over(None) | LineEnd::Unproven => String::new(),
            LineEnd::Repeats(0) => ", and round again".to_string(),
            LineEnd::Repeats(from) => {
                format!(
                    ", and round again from {} (ply {})",
                    self.answer.principal_variation[*from],
                    from + 1
                )
            }
            LineEnd::Cut => " and so on".to_string(),
        };
        format!("\nBest play: {}{end}\n", self.answer.principal_variation.join(" "))
    }
}
