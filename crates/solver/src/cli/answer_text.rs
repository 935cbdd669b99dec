//! Answers about positions as text.

use super::colour;
use yomikiri::oracle::{Answer, ByChecks, LineEnd, MoveAnswer, Oracle, SearchOracle, Verdict};
use yomikiri::rules::{Empties, Repetition};
use yomikiri_measure::render::Grid;
use yomikiri_measure::render::number::{counted, thousands, took};
use yomikiri_measure::render::verdict::{
    Mover, outcome_cell, plies_cell, plies_text, repetition_text, score_cell, still_open, verdict,
};

/// Returns the last line of an answer by search: its cost, and the rule for empty squares.
pub(super) fn search_text(search: &SearchOracle) -> String {
    let (nodes, time) = search.spent();
    let empties = match (search.game().has_scores(), search.empties()) {
        (false, _) => "",
        _ if search.game().shape() == (0, 0) => "",
        (_, Empties::ToWinner) => "; empty squares count for the winner",
        (_, Empties::Uncounted) => "; empty squares count for nobody",
    };
    let (nodes, time) = (thousands(nodes), took(time.as_secs_f64()));
    let how = search.name();
    format!("\nBy {how}: {nodes} positions in {time}{empties}\n")
}

/// Returns what a search found of a mate by checks alone, in a line.
fn by_checks_text(found: &ByChecks) -> String {
    let Some(length) = found.plies else {
        let what = if found.verdict == "open" { "not decided" } else { "no mate, proven" };
        return format!("\nBy checks alone: {what}\n");
    };
    let within = if found.is_shortest == Some(true) { "in" } else { "within" };
    let length = plies_text(length as u16);
    let rest = match found.missing_plies {
        None => String::new(),
        Some(plies) => format!(" … ({} missing)", plies_text(plies as u16)),
    };
    format!("\nBy checks alone: mate {within} {length}: {}{rest}\n", found.line.join(" "))
}

/// Gives a line about a value its colour.
pub(super) type Paint<'a> = dyn Fn(&str, &Verdict) -> String + 'a;

/// An answer as text.
pub(super) struct Shown<'a> {
    pub answer: &'a Answer,
    pub oracle: &'a dyn Oracle,
    /// True to show each move, not a best one alone.
    pub all_moves: bool,
}

impl Shown<'_> {
    /// Lays out the board, the value, the moves and the line of best play.
    pub(super) fn to_text(&self, colour: bool) -> String {
        let game = self.oracle.game();
        let side = self.answer.mover;
        let mark =
            game.side_mark(self.answer.side).map_or(String::new(), |mark| format!(" ({mark})"));
        let mut text =
            format!("{}\n{side}{mark} to move\n\n", self.answer.board.diagram.trim_end());
        text += &self.values_text(colour);
        text += &self.line_text();
        let by_checks = self.answer.cycles.as_ref().and_then(|cycles| cycles.by_checks.as_ref());
        text += &by_checks.map_or(String::new(), by_checks_text);
        if self.answer.reachable == Some(false) {
            text += "\nThis very position cannot be reached from the root; it is a mirror image of one that can, or has the colours exchanged, which does not change its value.\n";
        }
        text
    }

    fn moves_text(&self, painted: &Paint) -> String {
        if !self.all_moves {
            let best = self.answer.moves.iter().find(|m| m.best);
            return best.map_or(String::new(), |m| format!("\nBest move: {}\n", m.name));
        }
        let side = self.answer.mover;
        let scored = self.oracle.has_scores();
        let (followed, left): (Vec<&MoveAnswer>, Vec<_>) =
            self.answer.moves.iter().partition(|m| m.followed != Some(false));
        // A bounded table knows nothing of most moves but their names.
        let (known, open): (Vec<&MoveAnswer>, Vec<_>) = followed
            .into_iter()
            .partition(|m| scored || outcome_cell(m.value.value) != "not proven");
        let mut text = String::new();
        if !known.is_empty() {
            let head = match open.len() + left.len() {
                0 => "Each move",
                _ => "Moves with a proven value or bound",
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
            // A search knows the score alone.
            let with_plies = !scored || known.iter().any(|m| m.value.value.distance().is_some());
            headings.extend(with_plies.then_some("plies to the end"));
            let rows = known.iter().map(|m| {
                let value = m.value.value;
                let mut cells = vec![m.name.clone(), outcome_cell(value).to_string()];
                if scored {
                    cells[1] = m.value.result.unwrap_or("not proven").to_string();
                    cells.push(score_cell(value));
                    let plies = value.distance().map(|plies| plies.to_string());
                    let plies = plies.unwrap_or("not proven".to_string());
                    cells.extend(with_plies.then_some(plies));
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
        for (what, moves) in [("Not proven", open), ("Not followed", left)] {
            if !moves.is_empty() {
                let names: Vec<&str> = moves.iter().map(|m| m.name.as_str()).collect();
                text += &format!("\n{what}: {}\n", names.join(" "));
            }
        }
        text
    }

    /// Lays out the value of the position in a sentence, and its moves with their values.
    pub(super) fn values_text(&self, colour: bool) -> String {
        let painted = |line: &str, value: &Verdict| match colour {
            true => colour::of_outcome(line, value.outcome),
            false => line.to_string(),
        };
        let value = painted(&self.value_text(), &self.answer.value);
        format!("{value}\n{}", self.moves_text(&painted))
    }

    /// Returns the value of the position in a sentence.
    pub(super) fn value_text(&self) -> String {
        let (game, value) = (self.oracle.game(), self.answer.value.value);
        let cycles = self.answer.cycles.as_ref();
        match self.answer.kind {
            "terminal" => match cycles
                .and_then(|cycles| Some((cycles.end.as_ref()?, cycles.winner)))
            {
                Some((why, Some(winner))) => format!("The game is over, {winner} has won: {why}"),
                Some((why, None)) => format!("The game is over: {why}"),
                None => format!("The game is over: {}", self.final_result()),
            },
            "frontier" if value.outcome().is_none() && cycles.is_none() => {
                "At the table's frontier: the value is not known".to_string()
            }
            "frontier" if value.outcome().is_none() => {
                let open = still_open(value).map_or(String::new(), |open| format!("; {open}"));
                format!(
                    "At the table's frontier: its moves were not followed, its value is not known{open}"
                )
            }
            _ => {
                let mover = Mover {
                    side: self.answer.mover,
                    in_check: cycles.is_some_and(|cycles| cycles.in_check),
                    unit: self.oracle.has_scores().then(|| game.score_unit()),
                };
                let mut text = verdict(mover, value);
                if self.oracle.has_scores() && value.score().is_none() {
                    text += &format!("; score {}", score_cell(value));
                }
                text
            }
        }
    }

    fn final_result(&self) -> String {
        let game = self.oracle.game();
        match self.answer.value.value.score() {
            Some(score) if score.0 == 0 => "a draw".to_string(),
            Some(score) => {
                let winner = if score.0 > 0 { self.answer.side } else { self.answer.side.other() };
                let winner = game.side_name(winner);
                match self.oracle.has_scores() {
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
            LineEnd::Repeats(0) => ", then the same again".to_string(),
            LineEnd::Repeats(from) => {
                format!(
                    ", then again from {} (ply {})",
                    self.answer.principal_variation[*from],
                    from + 1
                )
            }
            LineEnd::Cut => " …".to_string(),
        };
        format!("\nBest play: {}{end}\n", self.answer.principal_variation.join(" "))
    }
}
