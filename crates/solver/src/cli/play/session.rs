//! The dialogue with the person who plays.

use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};

use super::super::answer_text::Shown;
use super::super::context::Context;
use super::super::lines::next_line;
use super::record;
use super::seat::{Chosen, Seat, choose};
use yomikiri::error::Error;
use yomikiri::oracle::{Oracle, Sources, quick_squares};
use yomikiri::output::is_stream;
use yomikiri::rules::{Action, AnyPosition, Outcome, PlayedGame, Rules, Side};
use yomikiri::solve::Value;
use yomikiri_measure::render::Grid;
use yomikiri_measure::render::number::counted;
use yomikiri_measure::render::verdict::{outcome_cell, score_cell};

const HELP: &str = "\
hint         the value of every move; also 'values'
hints        show the values before each of your moves, or no longer
moves        the legal moves
undo         take back your last move and those after it
redo         play them again
board        show the board again
save FILE    write the game to a file
load FILE    continue the game of a file
set POSITION set up a position, and begin there
new          start again
review       your mistakes and those of the other side
quit         end, as at the end of the input
";

pub(super) struct Session<'a> {
    /// Table, or where the game is too large for one, a search near the end of the game.
    pub sources: Sources,
    pub seats: [Seat; 2],
    pub played: PlayedGame,
    /// Position at which 'new' begins.
    pub start: AnyPosition,
    pub hints: bool,
    pub save: Option<PathBuf>,
    pub seed: u64,
    pub context: &'a mut Context,
}

/// Effect of a line of the person.
enum Effect {
    /// The position is another.
    Moved,
    /// It is the same.
    Stayed,
    Ended,
}

impl Session<'_> {
    /// Plays until the game is over and nobody wants another, or the input ends.
    pub(super) fn run(&mut self) -> Result<(), Error> {
        self.play_on()?;
        // A pipe takes the game once.
        self.keep(true)
    }

    fn play_on(&mut self) -> Result<(), Error> {
        let mut input = BufReader::new(io::stdin().lock());
        let asks = io::stdin().is_terminal();
        let has_human = self.seats.iter().any(|seat| matches!(seat, Seat::Human));
        self.introduce()?;
        let (mut undone, mut moved) = (Vec::new(), true);
        loop {
            let is_over = self.end().is_some();
            let side = self.played.position().side;
            if moved {
                self.keep(false)?;
                self.show_board()?;
            }
            if let (Some(end), true) = (self.end(), moved) {
                self.context.line(&end)?;
                self.review()?;
            }
            if is_over && !has_human {
                return Ok(());
            }
            let is_human = matches!(self.seats[side.index()], Seat::Human);
            if is_human && !is_over && self.passes()? {
                moved = true;
                continue;
            }
            match &self.seats[side.index()] {
                _ if is_over => {}
                Seat::Human => {
                    if self.hints && moved {
                        self.hint()?;
                    }
                }
                Seat::Policy(player) => {
                    let seed = [self.seed, self.played.moves().len() as u64];
                    let position = *self.played.position();
                    let Chosen { action, remark } =
                        choose(player, self.oracle(&position), &position, seed)?;
                    let remark = remark.map_or(String::new(), |remark| format!(" ({remark})"));
                    self.say(position, action, &remark)?;
                    self.play(action);
                    (undone, moved) = (Vec::new(), true);
                    continue;
                }
            }
            if asks {
                let who = if is_over { "over" } else { self.game().side_name(side) };
                self.context.print(format!("{who}> "))?;
            }
            self.context.flush()?;
            match self.take_line(&mut input, &mut undone)? {
                Effect::Moved => moved = true,
                Effect::Stayed => moved = false,
                Effect::Ended => return Ok(()),
            }
        }
    }

    /// Returns the line of the help on moves, with some of this game.
    fn help_on_moves(&self) -> String {
        let (game, start) = (self.game(), self.start);
        let actions = game.actions(&start.state);
        let names: Vec<String> =
            actions.iter().take(3).map(|&action| game.action_name(start.side, action)).collect();
        let names = if names.is_empty() { "by its name".to_string() } else { names.join(", ") };
        format!("a move       {names}; several are played one after another\n")
    }

    fn game(&self) -> &dyn Rules {
        self.sources.game()
    }

    fn play(&mut self, action: Action) {
        self.played.play(self.sources.game(), action);
    }

    fn introduce(&mut self) -> Result<(), Error> {
        let [first, second] = Side::ALL.map(|side| {
            format!("{} is {}", self.game().side_name(side), self.seats[side.index()].name())
        });
        let what = match self.sources.table() {
            None if self.sources.search().is_some() => {
                let squares = quick_squares(self.game());
                format!("no table: moves have values from {squares} empty squares on, by search")
            }
            None => "no table: moves have no values".to_string(),
            Some(table) if !table.table().manifest().complete => {
                format!("{}, a bounded table: many values are unknown", table.table().name())
            }
            Some(table) => table.table().name(),
        };
        let title = self.game().title();
        self.context.line(format!("{title}, {first}, {second} ({what})"))?;
        self.context.line("Type a move, or 'help'.")
    }

    /// Writes the game to the file that keeps it, after each move, or at the end to a pipe or device.
    fn keep(&self, is_end: bool) -> Result<(), Error> {
        let file = self.save.as_deref().filter(|file| is_stream(file) == is_end);
        file.map_or(Ok(()), |file| self.write(file))
    }

    fn write(&self, file: &Path) -> Result<(), Error> {
        let names = Side::ALL.map(|side| self.seats[side.index()].name());
        record::write(&self.played, file, self.game(), names)
    }

    fn show_board(&mut self) -> Result<(), Error> {
        let (game, position) = (self.sources.game(), self.played.position());
        let side = game.side_name(position.side);
        let mark = game.side_mark(position.side).map_or(String::new(), |mark| format!(" ({mark})"));
        let check = if game.in_check(&position.state) { ", in check" } else { "" };
        let turn = match self.played.end(game) {
            None => format!("{side}{mark} to move{check}\n"),
            Some(_) => String::new(),
        };
        let (last, signs) = self.last_move().unwrap_or_default();
        let board = game.diagram_with(position, &signs);
        let last = if last.is_empty() { last } else { format!("{last}\n") };
        self.context.print(format!("\n{}\n{last}{turn}\n", board.trim_end()))
    }

    /// Returns the last move in words, with the discs that it turned, and their signs on the board:
    /// `Last move*: c4, turned': c3 d4`.
    fn last_move(&self) -> Option<(String, Vec<(u16, char)>)> {
        let game = self.sources.game();
        let (before, action) = self.played.moves().last()?;
        let name = game.action_name(before.side, *action);
        let squares = game.move_squares(before, *action);
        let [old, new] = [before, self.played.position()].map(|at| game.drawn(at).cells);
        let ([columns, rows], (_, width)) = (game.coordinates(), game.shape());
        let is_turned = |at: &usize| {
            let moved = [squares.from, squares.to].contains(&Some(*at as u16));
            !moved && !old[*at].is_empty() && !new[*at].is_empty() && old[*at] != new[*at]
        };
        let turned: Vec<usize> = (0..old.len().min(new.len())).filter(is_turned).collect();
        let names = turned.iter().map(|at| format!("{}{}", columns[at % width], rows[at / width]));
        let names: Vec<String> = names.collect();
        let mut signs = Vec::from_iter(squares.to.map(|at| (at, '*')));
        signs.extend(turned.iter().map(|&at| (at as u16, '\'')));
        let sign = if signs.is_empty() { "" } else { "*" };
        let words = match names.is_empty() {
            true => format!("Last move{sign}: {name}"),
            false => format!("Last move*: {name}, turned': {}", names.join(" ")),
        };
        Some((words, signs))
    }

    /// Prints a move: `White plays a1`.
    fn say(&mut self, before: AnyPosition, action: Action, remark: &str) -> Result<(), Error> {
        let game = self.sources.game();
        let side = game.side_name(before.side);
        match game.is_pass(action) {
            true => self.context.line(format!("{side} must pass{remark}")),
            false => {
                let name = game.action_name(before.side, action);
                self.context.line(format!("{side} plays {name}{remark}"))
            }
        }
    }

    /// Passes for a person who has no other move; returns whether it did.
    fn passes(&mut self) -> Result<bool, Error> {
        let position = *self.played.position();
        let actions = self.game().actions(&position.state);
        let must = matches!(actions[..], [only] if self.game().is_pass(only));
        if must {
            self.say(position, actions[0], "")?;
            self.play(actions[0]);
        }
        Ok(must)
    }

    /// Returns how the game has ended, if it has.
    fn end(&self) -> Option<String> {
        self.played.end(self.game())?;
        let oracle = self.oracle(self.played.position());
        let answer = oracle.answer_played(&self.played);
        Some(Shown { answer: &answer, oracle, all_moves: true }.value_text())
    }

    /// Returns the source of a position's value.
    fn oracle(&self, position: &AnyPosition) -> &dyn Oracle {
        self.sources.source(position).oracle()
    }

    /// Prints the value of every move.
    fn hint(&mut self) -> Result<(), Error> {
        if let Some(end) = self.end() {
            return self.context.line(end);
        }
        let oracle = self.sources.source(self.played.position()).oracle();
        let text = match oracle.answer(*self.played.position()) {
            Err(outside) => format!("No values: {outside}.\n"),
            Ok(answer) => {
                let shown = Shown { answer: &answer, oracle, all_moves: true };
                shown.values_text(self.context.colour)
            }
        };
        self.context.print(text)
    }

    /// The values of a position and of a move in it, both for its mover.
    fn values_of(&self, &(before, action): &(AnyPosition, Action)) -> Option<(Value, Value)> {
        let oracle = self.oracle(&before);
        let after = self.game().advance(&before, action);
        Some((oracle.value_with_moves(&before), oracle.known_value(&after)?.before()))
    }

    /// Lists the moves so far that lost something proven.
    fn review(&mut self) -> Result<(), Error> {
        if self.sources.table().is_none() && self.sources.search().is_none() {
            return Ok(());
        }
        let game = self.sources.game();
        let (mut rows, mut unknown) = (Vec::new(), 0);
        for (ply, made) in self.played.moves().iter().enumerate() {
            let &(before, action) = made;
            let oracle = self.oracle(&before);
            let scored = oracle.has_scores();
            let proven = |value: Value| match scored {
                true => value.score().map(|score| score.0),
                false => value.outcome().map(Outcome::value),
            };
            let known = self.values_of(made);
            let known = known.filter(|&(best, found)| proven(best).and(proven(found)).is_some());
            let Some((best, found)) = known else {
                unknown += 1;
                continue;
            };
            if proven(found) >= proven(best) {
                continue;
            }
            let cell = |value: Value| match scored {
                true => format!("{} {}", outcome_cell(value), score_cell(value)),
                false => outcome_cell(value).to_string(),
            };
            let names = oracle.best_actions(&before).into_iter();
            let names = names.map(|action| game.action_name(before.side, action));
            rows.push(vec![
                (ply + 1).to_string(),
                game.side_name(before.side).to_string(),
                game.action_name(before.side, action),
                cell(found),
                names.collect::<Vec<_>>().join(" "),
                cell(best),
            ]);
        }
        let text = match (rows.is_empty(), unknown) {
            (true, 0) => "No move was a mistake.\n".to_string(),
            (true, _) => String::new(),
            (false, _) => {
                let headings = ["ply", "side", "move", "value", "best", "value"];
                format!("Mistakes:\n\n{}", Grid::of(&headings, rows).to_text())
            }
        };
        self.context.print(text)?;
        if unknown > 0 {
            let moves = counted(unknown, "move");
            self.context.line(format!("The cost of {moves} is unknown."))?;
        }
        Ok(())
    }

    /// Reads a line and acts on it.
    fn take_line(
        &mut self,
        input: &mut impl BufRead,
        undone: &mut Vec<Action>,
    ) -> Result<Effect, Error> {
        let mut line = Vec::new();
        if !next_line(input, &mut line)? {
            return Ok(Effect::Ended);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let file = Path::new(rest.trim());
        match (word.to_ascii_lowercase().as_str(), rest.is_empty()) {
            ("", _) => {}
            ("help" | "?", true) => {
                let text = format!("{}{HELP}", self.help_on_moves());
                self.context.print(text)?;
            }
            ("hint" | "values", true) => self.hint()?,
            ("hints", true) => {
                self.hints = !self.hints;
                let what = if self.hints { "shown" } else { "no longer shown" };
                self.context.line(format!("Hints are {what}."))?;
            }
            ("moves", true) if self.end().is_none() => {
                let (game, position) = (self.sources.game(), self.played.position());
                let actions = game.actions(&position.state).into_iter();
                let names = actions.map(|action| game.action_name(position.side, action));
                self.context.line(names.collect::<Vec<_>>().join(" "))?;
            }
            ("undo", true) => return self.undo(undone),
            ("redo", true) => return self.redo(undone),
            ("board", true) => self.show_board()?,
            ("review", true) => self.review()?,
            ("save", false) => match self.write(file) {
                Ok(()) => self.context.line(format!("Written to {}.", file.display()))?,
                Err(error) => self.context.line(error.line())?,
            },
            ("load", false) => match record::read(file, self.game(), self.context) {
                Ok(played) => return Ok(self.begin(played, undone)),
                Err(error) => self.context.line(error.line())?,
            },
            ("set", false) => match self.sources.parse(rest) {
                Ok(start) => return Ok(self.begin(PlayedGame::new(start), undone)),
                Err(error) => self.context.line(error.line())?,
            },
            ("new", true) => return Ok(self.begin(PlayedGame::new(self.start), undone)),
            ("quit" | "exit", true) => return Ok(Effect::Ended),
            _ if self.end().is_some() => {
                self.context.line("The game is over; type 'undo', 'new' or 'quit'.")?;
            }
            _ => {
                let before = self.played.moves().len();
                match self.played.play_text(self.sources.game(), line) {
                    Ok(()) => {
                        undone.clear();
                        if self.hints {
                            self.tell_cost(before)?;
                        }
                        return Ok(Effect::Moved);
                    }
                    Err(error) => self.context.line(error.with_hint("or type 'help'").line())?,
                }
            }
        }
        Ok(Effect::Stayed)
    }

    fn begin(&mut self, played: PlayedGame, undone: &mut Vec<Action>) -> Effect {
        self.played = played;
        undone.clear();
        Effect::Moved
    }

    /// Prints how the last move of a person, number `at`, has changed the proven value.
    fn tell_cost(&mut self, at: usize) -> Result<(), Error> {
        let Some((best, found)) = self.values_of(&self.played.moves()[at]) else {
            return self.context.line("Its effect on the result is unknown.");
        };
        let same = best.outcome() == found.outcome() && best.score() == found.score();
        match (best.outcome(), found.outcome()) {
            (Some(_), Some(_)) if same => self.context.line("No move is better."),
            (Some(could), Some(did)) => {
                let scores = match self.game().has_scores() && best.score() != found.score() {
                    true => format!(", {} instead of {}", score_cell(found), score_cell(best)),
                    false => String::new(),
                };
                let what = match could == did {
                    true => format!("Still a {}{scores}.", did.name()),
                    false => format!("From a {} to a {}{scores}.", could.name(), did.name()),
                };
                self.context.line(what)
            }
            _ => self.context.line("Its effect on the result is not proven."),
        }
    }

    /// Takes back moves up to the last one that a person chose.
    fn undo(&mut self, undone: &mut Vec<Action>) -> Result<Effect, Error> {
        let chosen = |&(before, _): &(AnyPosition, Action)| {
            matches!(self.seats[before.side.index()], Seat::Human)
                && !self.game().must_pass(&before.state)
        };
        let Some(at) = self.played.moves().iter().rposition(chosen) else {
            self.context.line("There is no move of yours to undo.")?;
            return Ok(Effect::Stayed);
        };
        while self.played.moves().len() > at {
            undone.extend(self.played.undo());
        }
        Ok(Effect::Moved)
    }

    /// Plays moves that were taken back again, until a person is to move.
    fn redo(&mut self, undone: &mut Vec<Action>) -> Result<Effect, Error> {
        let Some(action) = undone.pop() else {
            self.context.line("There is no move to redo.")?;
            return Ok(Effect::Stayed);
        };
        self.play(action);
        let is_human = |session: &Self| {
            matches!(session.seats[session.played.position().side.index()], Seat::Human)
        };
        while !is_human(self) {
            let Some(action) = undone.pop() else { break };
            self.play(action);
        }
        Ok(Effect::Moved)
    }
}
