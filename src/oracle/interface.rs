//! Oracles: solved tables, or anything else that knows exact values of positions.

use std::cmp::Reverse;

use super::SolvedTable;
use super::answer::{
    Answer, Board, Brief, ByChecks, Cycles, LONGEST_LINE, LineEnd, MoveAnswer, Verdict,
    not_in_table,
};
use crate::error::Error;
use crate::rules::{
    Action, AnyPosition, AnyState, Empties, EndReason, Outcome, PlayedGame, Repetition, Rules,
    Score, Side,
};
use crate::search::MateByChecks;
use crate::solve::{Prospect, Value};
use crate::table::rows::StateKind;

/// Exact values, or proven bounds, of a game's positions.
///
/// Only [`game`](Oracle::game), [`name`](Oracle::name) and [`value_of`](Oracle::value_of) are required;
/// every answer follows from these. All values are those of the player to move.
pub trait Oracle: Send + Sync {
    /// Returns the rules.
    fn game(&self) -> &dyn Rules;

    /// Returns the name given in answers: that of the table.
    fn name(&self) -> String;

    /// Returns the value of a position; `None` if it is unknown.
    fn value_of(&self, position: &AnyPosition) -> Option<Value>;

    /// Returns whether values have a score.
    fn has_scores(&self) -> bool {
        self.game().has_scores()
    }

    /// Returns the scoring of empty squares.
    fn empties(&self) -> Empties {
        Empties::default()
    }

    /// Returns the value of a position, by the rules if the game is over in it; `None` if it is unknown.
    fn known_value(&self, position: &AnyPosition) -> Option<Value> {
        self.value_of(position).or_else(|| self.end_value(&position.state))
    }

    /// Returns the value of a state by the rules; `None` if the game is not over in it.
    fn end_value(&self, state: &AnyState) -> Option<Value> {
        let game = self.game();
        let end = game.end(state)?;
        Some(match (self.has_scores(), game.is_layered()) {
            (true, _) => {
                let score = game.score(state, self.empties());
                Value::of_scores(score, score, Some(end.plies))
            }
            (false, true) => {
                let score = Score(end.outcome.value());
                Value::of_scores(score, score, Some(end.plies))
            }
            (false, false) => Value::exactly(Prospect::of_end(end.outcome, end.plies)),
        })
    }

    /// Returns the value and the kind of a position; `None` if it is unknown.
    fn look_up(&self, position: &AnyPosition) -> Option<(Value, StateKind)> {
        let kind = match self.game().is_terminal(&position.state) {
            true => StateKind::Terminal,
            false => StateKind::Interior,
        };
        self.known_value(position).map(|value| (value, kind))
    }

    /// Returns whether the position itself, not only an image of it, can be reached from the root;
    /// `None` if that is unknown.
    fn is_reachable(&self, _position: &AnyPosition) -> Option<bool> {
        None
    }

    /// Returns whether a value is proven as far as a principal variation needs: the score, or the
    /// outcome with its distance.
    fn is_proven(&self, value: Value) -> bool {
        match self.has_scores() {
            true => value.score().is_some(),
            false => value.lower == value.upper,
        }
    }

    /// Returns the value of infinite play.
    fn repetition(&self) -> Repetition {
        self.game().repetition()
    }

    /// Returns the error for a position without a value.
    fn not_there(&self, position: &AnyPosition) -> Error {
        Error::from(format!("{} has no value for {}", self.name(), self.game().notation(position)))
    }

    /// Returns what a search found of a mate by checks alone; `None` if it was not searched, and outside the shogi
    /// family.
    fn mate(&self, _position: &AnyPosition) -> Option<MateByChecks> {
        None
    }

    /// Fails if anything read since the oracle was opened is damaged.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the widest bounds: the value of a state that is unknown or whose moves were not followed.
    fn cut_off(&self) -> Value {
        match self.game().is_layered() {
            true => {
                let most = self.game().max_score().unwrap_or(Score(1));
                Value::of_scores(-most, most, None)
            }
            false => Value::CUT_OFF,
        }
    }

    /// Returns the legal moves, each with its value for who makes it; `None` if it is unknown.
    fn look_ahead(&self, position: &AnyPosition) -> Vec<(Action, Option<Value>)> {
        let mut moves = Vec::new();
        let side = position.side.other();
        self.game().moves(&position.state, |action, state| {
            let value = self.known_value(&AnyPosition { state, side });
            moves.push((action, value.map(Value::before)));
        });
        moves
    }

    /// Returns the value of a position as far as it and its moves are known: the widest bounds if nothing is.
    fn value_with_moves(&self, position: &AnyPosition) -> Value {
        self.with_moves(self.known_value(position).unwrap_or(self.cut_off()), position)
    }

    /// Returns the value of a position, raised by its moves if it is not proven.
    fn with_moves(&self, value: Value, position: &AnyPosition) -> Value {
        match value.score() {
            Some(_) => value,
            None => raised(value, &self.look_ahead(position)),
        }
    }

    /// Returns the legal moves with their values for the mover, best first: by lower bound, then by
    /// upper bound, then by action; unknown ones last.
    fn best_first(&self, position: &AnyPosition) -> Vec<(Action, Option<Value>)> {
        let mut moves = self.look_ahead(position);
        moves.sort_by_key(|&(action, value)| (Reverse(value.map(Value::preference)), action));
        moves
    }

    /// Returns the moves that keep the score, or in games without scores the result, as far as is known, in the order
    /// of [`best_first`](Oracle::best_first); none if nothing is known.
    fn best_actions(&self, position: &AnyPosition) -> Vec<Action> {
        let moves = self.best_first(position);
        let Some(best) = best_worth(self, &moves) else { return Vec::new() };
        let is_best = |value: Option<Value>| value.is_some_and(|value| worth(value) == best);
        moves.iter().filter(|(_, value)| is_best(*value)).map(|(action, _)| *action).collect()
    }

    /// Returns a move that keeps the position's value; `None` if a table is inconsistent.
    fn best_move(&self, position: &AnyPosition, value: Value) -> Option<Action> {
        // No move is better than one that keeps an exact value, so the moves after it are not looked up:
        // each lookup in a packed table unpacks a block.
        let side = position.side.other();
        let keeps = |state| {
            let after = self.known_value(&AnyPosition { state, side });
            after.is_some_and(|after| after.before() == value)
        };
        let mut first = None;
        if value.lower == value.upper {
            self.game().moves(&position.state, |action, state| {
                if first.is_none() && keeps(state) {
                    first = Some(action);
                }
            });
        }
        let kept = |found: Value| match self.has_scores() {
            true => found.score() == value.score(),
            false => found == value,
        };
        first.or_else(|| {
            let (action, found) = self.best_first(position).first().copied()?;
            found.is_some_and(kept).then_some(action)
        })
    }

    /// Returns the principal variation while values are proven: to the end of the game or to a repetition.
    fn best_line(&self, from: AnyPosition) -> (Vec<Action>, LineEnd) {
        let game = self.game();
        let (mut line, mut before) = (Vec::new(), Vec::<AnyPosition>::new());
        let mut position = from;
        loop {
            let value = self.known_value(&position).filter(|&value| self.is_proven(value));
            let Some(value) = value else {
                return (line, LineEnd::Unproven);
            };
            if game.result(&position.state).is_some() {
                let words = game.end_in_words(&position).filter(|_| !game.is_layered());
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
            line.push(action);
            position = game.advance(&position, action);
        }
    }

    /// Answers for a position and its moves. Fails if its value is unknown.
    fn answer(&self, position: AnyPosition) -> Result<Answer, Error> {
        let known = self.look_up(&position);
        let answer = known.is_some().then(|| answer_with(self, position, known));
        self.check()?;
        answer.ok_or_else(|| self.not_there(&position))
    }

    /// Answers for any position by the rules, with such values of it and its moves as are known. The
    /// kind of a position without a value is `outside`. If a table is damaged, [`check`](Oracle::check)
    /// fails afterwards.
    fn answer_anywhere(&self, position: AnyPosition) -> Answer {
        answer_with(self, position, self.look_up(&position))
    }

    /// Answers for the current position of a played game, which its history may have ended.
    fn answer_played(&self, played: &PlayedGame) -> Answer {
        let game = self.game();
        let mut answer = self.answer_anywhere(*played.position());
        if let Some(end) = played.end(game)
            && end.reason != EndReason::Position
        {
            let score = Score(end.outcome.value());
            answer.kind = StateKind::Terminal.name();
            answer.value = Verdict::of(Value::of_scores(score, score, Some(0)), self.has_scores());
            answer.moves.clear();
            answer.principal_variation.clear();
            answer.line_end = LineEnd::Unproven;
            if let Some(cycles) = &mut answer.cycles {
                cycles.end = played.end_in_words(game);
                cycles.winner = winner(game, answer.side, end.outcome);
                cycles.repeats_from = None;
                cycles.by_checks = None;
            }
        }
        answer
    }

    /// Answers briefly. Fails if the value of the position is unknown.
    fn brief(&self, position: AnyPosition) -> Result<Brief, Error> {
        let game = self.game();
        let brief = self.look_up(&position).map(|(value, kind)| Brief {
            position: game.notation(&position),
            kind: kind.name(),
            value: Verdict::of(self.with_moves(value, &position), self.has_scores()),
            best: (self.best_actions(&position).iter())
                .map(|&action| game.action_name(position.side, action))
                .collect(),
        });
        self.check()?;
        brief.ok_or_else(|| self.not_there(&position))
    }
}

impl Oracle for SolvedTable {
    fn game(&self) -> &dyn Rules {
        &*self.states().game
    }

    fn name(&self) -> String {
        self.table().name()
    }

    #[inline]
    fn value_of(&self, position: &AnyPosition) -> Option<Value> {
        self.states().find(position).map(|row| self.value(row))
    }

    fn has_scores(&self) -> bool {
        self.values().has_scores()
    }

    fn empties(&self) -> Empties {
        self.values().empties()
    }

    fn look_up(&self, position: &AnyPosition) -> Option<(Value, StateKind)> {
        match self.states().find(position) {
            Some(row) => Some((self.value(row), self.states().kind(row, &position.state))),
            None => self.end_value(&position.state).map(|value| (value, StateKind::Terminal)),
        }
    }

    fn is_reachable(&self, position: &AnyPosition) -> Option<bool> {
        let game = Oracle::game(self);
        let reached = self.states().orientations(self.states().find(position)?)?;
        let ties = game.canonical(&position.state).ties;
        Some(reached.0 & game.group().root_orientations(position.side, ties).0 != 0)
    }

    fn repetition(&self) -> Repetition {
        self.values().repetition()
    }

    fn not_there(&self, position: &AnyPosition) -> Error {
        not_in_table(self, position)
    }

    fn check(&self) -> Result<(), Error> {
        self.table().check_read()
    }
}

fn answer_with<O: Oracle + ?Sized>(
    oracle: &O,
    position: AnyPosition,
    known: Option<(Value, StateKind)>,
) -> Answer {
    let game = oracle.game();
    let (side, layered) = (position.side, game.is_layered());
    let (line, line_end) = oracle.best_line(position);
    let sides = [side, side.other()].into_iter().cycle();
    let line = line.into_iter().zip(sides).map(|(action, side)| game.action_name(side, action));
    let scored = oracle.has_scores();
    let moves = oracle.best_first(&position);
    let best = best_worth(oracle, &moves);
    let value = raised(known.map_or(oracle.cut_off(), |(value, _)| value), &moves);
    let answer = |(action, value): (Action, Option<Value>)| MoveAnswer {
        name: game.action_name(side, action),
        action: action.0,
        squares: game.move_squares(&position, action),
        after: game.notation(&game.advance(&position, action)),
        followed: (!layered || value.is_none()).then_some(value.is_some()),
        best: best.is_some() && value.map(worth) == best,
        value: Verdict::of(value.unwrap_or(oracle.cut_off()), scored),
        estimate: None,
    };
    Answer {
        table: oracle.name(),
        position: game.notation(&position),
        notations: game.written(&position).into_iter().collect(),
        board: Board { diagram: game.diagram(&position), drawn: game.drawn(&position) },
        perspective: "mover",
        mover: game.side_name(side),
        reachable: known.and_then(|_| oracle.is_reachable(&position)),
        kind: known.map_or("outside", |(_, kind)| kind.name()),
        value: Verdict::of(value, scored),
        estimate: None,
        moves: moves.into_iter().map(answer).collect(),
        principal_variation: line.collect(),
        cycles: (!layered).then(|| Cycles {
            in_check: game.in_check(&position.state),
            end: game.end_in_words(&position),
            winner: game.result(&position.state).and_then(|outcome| winner(game, side, outcome)),
            repetition: oracle.repetition().name(),
            by_checks: oracle.mate(&position).map(|mate| ByChecks::new(mate, game, &position)),
            repeats_from: match line_end {
                LineEnd::Repeats(from) => Some(from),
                _ => None,
            },
        }),
        side,
        line_end,
    }
}

/// Raises the bounds of a position whose score or outcome is unknown by its moves: it is worth as much as any of them, and no more than the best if all
/// are known.
fn raised(value: Value, moves: &[(Action, Option<Value>)]) -> Value {
    if value.score().is_some() {
        return value;
    }
    let lower = moves.iter().filter_map(|(_, value)| Some((*value)?.lower)).max();
    let upper = moves.iter().map(|(_, value)| Some((*value)?.upper));
    let upper = upper.collect::<Option<Vec<Prospect>>>().and_then(|all| all.into_iter().max());
    Value {
        lower: lower.map_or(value.lower, |lower| lower.max(value.lower)),
        upper: upper.map_or(value.upper, |upper| upper.min(value.upper)),
    }
}

/// Returns the name of the winner, given the outcome for a side.
fn winner(game: &dyn Rules, side: Side, outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Win => Some(game.side_name(side)),
        Outcome::Draw => None,
        Outcome::Loss => Some(game.side_name(side.other())),
    }
}

/// Returns the value that best moves keep: the bounds of the score, or of the outcome, without the distance.
fn worth(value: Value) -> Value {
    Value::of_scores(value.lower.score(), value.upper.score(), None)
}

/// Returns the worth of the best of some moves; `None` if nothing is known of any.
fn best_worth<O: Oracle + ?Sized>(oracle: &O, moves: &[(Action, Option<Value>)]) -> Option<Value> {
    let worths = moves.iter().filter_map(|&(_, value)| Some(worth(value?)));
    let best = worths.max_by_key(|worth| worth.preference());
    best.filter(|&best| best != worth(oracle.cut_off()))
}
