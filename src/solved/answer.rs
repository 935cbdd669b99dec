//! What a table says of a position, as people and programs ask for it.
//!
//! Moves come from the rules on the position as it was given and their values from looking up where
//! each leads, so a mirror image of what the table holds is answered as it stands on the board.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::SolvedTable;
use crate::any::AnyPosition;
use crate::game::{Action, Drawn, Game, MoveSquares, Outcome, Side};
use crate::solve::Value;
use crate::table::Manifest;

/// A position is not in a table, whose bounds it names; or the table is damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotThere(String);

impl NotThere {
    fn new(table: &SolvedTable, position: &AnyPosition) -> NotThere {
        let Manifest { identity, complete, .. } = table.table().manifest();
        let bounds = [
            identity.max_depth.map(|plies| format!("{plies} plies")),
            identity.max_states.map(|states| format!("{states} states")),
            identity.checks_only.then(|| "checks only".to_string()),
        ];
        let bounds: Vec<String> = bounds.into_iter().flatten().collect();
        let within = match complete {
            true => String::new(),
            false => format!(" within the table's bounds ({})", bounds.join(", ")),
        };
        let roots = if identity.roots.len() == 1 { "the root" } else { "its roots" };
        NotThere(format!(
            "{} is not among the states of {}: it cannot be reached from {roots}{within}",
            table.game().notation(position),
            table.table().name()
        ))
    }
}

/// How many plies of best play are shown.
const LONGEST_LINE: usize = 200;

/// What a table says of a position; its JSON is `docs/query-schema.md`'s. Values are those of `mover`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The table's name.
    pub table: String,
    /// The position in one line.
    pub position: String,
    /// The same in every one-line notation, by name.
    pub notations: BTreeMap<&'static str, String>,
    /// What stands where.
    pub board: Board,
    /// Always `mover`.
    pub perspective: &'static str,
    /// Who is to move.
    pub mover: &'static str,
    /// Whether this very position, not only a mirror image or the one with colours exchanged, can
    /// be reached from the root; absent where the table does not keep that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reachable: Option<bool>,
    /// `interior`, `terminal`, `frontier` or `restricted`.
    pub kind: &'static str,
    /// What it is worth.
    #[serde(flatten)]
    pub value: Verdict,
    /// Every legal move, best first; of a layered game those that were followed.
    pub moves: Vec<MoveAnswer>,
    /// Best play, as far as it is proven.
    pub principal_variation: Vec<String>,
    /// Of a game that may go round in circles.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<Cycles>,
    /// The side to move.
    #[serde(skip)]
    pub side: Side,
    /// How the line of best play ends.
    #[serde(skip)]
    pub line_end: LineEnd,
}

/// The board of a position.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Board {
    /// As rows of text.
    pub diagram: String,
    /// Square by square, and what is in hand.
    #[serde(flatten)]
    pub drawn: Drawn,
}

/// The further fields of a cyclic game.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cycles {
    /// Whether the mover's king is attacked.
    pub in_check: bool,
    /// Why the game is over, in words; `null` while it goes on.
    pub end: Option<String>,
    /// Who has won, if the game is over.
    pub winner: Option<&'static str>,
    /// What play without end counts as: `draw`, `second-player-wins` or `unknown`.
    pub repetition: &'static str,
    /// Who gives check with every move, in a table that follows no other moves of that player.
    pub checks_only: Option<&'static str>,
    /// The ply of `principal_variation`, counted from 0, from which it goes round for ever; `null`
    /// if it ends.
    pub repeats_from: Option<usize>,
}

/// A move and its value for the mover.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MoveAnswer {
    /// Its name.
    #[serde(rename = "move")]
    pub name: String,
    /// Its number.
    pub action: u16,
    /// From where and to where.
    #[serde(flatten)]
    pub squares: MoveSquares,
    /// The position after it.
    #[serde(rename = "position")]
    pub after: String,
    /// Whether it leads to a state of the table; nothing is known of it otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub followed: Option<bool>,
    /// Whether no other move is better, as far as is known; false where nothing is.
    pub best: bool,
    /// What it is worth.
    #[serde(flatten)]
    pub value: Verdict,
}

/// A value, as far as it is proven.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Verdict {
    /// 1 a win, 0 a draw, −1 a loss.
    pub outcome: Option<i8>,
    /// The same as a word.
    pub result: Option<&'static str>,
    /// Plies to the end, if known exactly; draws have none where play may go on for ever.
    pub distance: Option<u16>,
    #[serde(flatten)]
    bounds: Bounds,
    /// All of it.
    #[serde(skip)]
    pub value: Value,
}

/// What is known where a value is not proven.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum Bounds {
    Scores {
        /// The score of the player to move; null where it is not proven.
        score: Option<i8>,
        /// The least that it can be.
        score_lower: i8,
        /// The most.
        score_upper: i8,
    },
    /// The fewest and the most plies to the end of a proven win or loss; no most where it may be
    /// play without end. The worst and the best that the outcome can be.
    Plies {
        /// The fewest plies to a proven win or loss; null where there are none.
        distance_lower: Option<u16>,
        /// The most; null where it may be by play without end.
        distance_upper: Option<u16>,
        /// The worst that the outcome can be.
        outcome_lower: i8,
        /// The best.
        outcome_upper: i8,
    },
}

impl Verdict {
    /// Of a value, with its score if values have one.
    pub fn of(value: Value, scored: bool) -> Verdict {
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
pub enum LineEnd {
    /// With the game, in words where it may go on for ever.
    Over(Option<String>),
    /// By coming back to where it was after so many plies.
    Repeats(usize),
    /// Where it has become too long to be shown.
    Cut,
    /// Where values are no longer proven.
    Unproven,
}

impl SolvedTable {
    /// What the table says of a position and of its moves.
    pub fn answer(&self, position: AnyPosition) -> Result<Answer, NotThere> {
        let row = self.states().find(&position);
        let answer = row.map(|row| self.answer_at(position, Some(row)));
        self.if_whole(answer.ok_or_else(|| NotThere::new(self, &position)))
    }

    /// What the rules say of a position, and the table of its moves where they lead into it. Of one
    /// that is not in the table the kind is `outside`. Where the table is damaged,
    /// [`Table::check_read`](crate::table::Table::check_read) fails afterwards.
    pub fn answer_anywhere(&self, position: AnyPosition) -> Answer {
        self.answer_at(position, self.states().find(&position))
    }

    /// Withholds an answer from a damaged table, whose error it gives.
    fn if_whole<T>(&self, answer: Result<T, NotThere>) -> Result<T, NotThere> {
        match self.table().check_read() {
            Ok(()) => answer,
            Err(damaged) => Err(NotThere(damaged.to_string())),
        }
    }

    fn answer_at(&self, position: AnyPosition, row: Option<usize>) -> Answer {
        let (table, game, states) = (self, self.game(), self.states());
        let (side, layered) = (position.side, game.layers().is_some());
        let attacker = match table.table().manifest().identity.checks_only {
            true => states.roots().ok().and_then(|roots| Some(roots.first()?.side)),
            false => None,
        };
        let (principal_variation, line_end) = self.best_line(position);
        let scored = table.has_scores();
        let moves = self.best_first(&position);
        let best = self.best_worth(&moves);
        let moves = moves.into_iter();
        let moves = moves.filter(|(_, value)| value.is_some() || !layered || row.is_none());
        let answer = |(action, value): (Action, Option<Value>)| MoveAnswer {
            name: game.action_name(side, action),
            action: action.0,
            squares: game.move_squares(side, action),
            after: game.notation(&game.advance(&position, action)),
            followed: (!layered).then_some(value.is_some()),
            best: best.is_some() && value.map(|value| self.worth(value)) == best,
            value: Verdict::of(value.unwrap_or(table.cut_off()), scored),
        };
        let winner = |outcome| match outcome {
            Outcome::Win => game.side_name(side),
            _ => game.side_name(side.other()),
        };
        Answer {
            table: table.table().name(),
            position: game.notation(&position),
            notations: game.notations(&position).into_iter().collect(),
            board: Board { diagram: game.diagram(&position), drawn: game.drawn(&position) },
            perspective: "mover",
            mover: game.side_name(side),
            reachable: row.and_then(|row| states.orientations(row)).map(|reached| {
                let ties = game.canonical(&position.state).ties;
                reached.0 & game.group().root_orientations(side, ties).0 != 0
            }),
            kind: row.map_or("outside", |row| states.kind(row, &position.state).name()),
            value: Verdict::of(row.map_or(table.cut_off(), |row| table.value(row)), scored),
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
        }
    }

    /// The legal moves with their values for the mover, best first: by what is sure, then by what
    /// is possible, then by action; at the end those of which nothing is known.
    pub fn best_first(&self, position: &AnyPosition) -> Vec<(Action, Option<Value>)> {
        let mut moves = self.look_ahead(position);
        moves.sort_by_key(|&(action, value)| (Reverse(value.map(Value::preference)), action));
        moves
    }

    /// Whether a value is proven as far as the line of best play needs: the score, or the outcome
    /// with its distance.
    fn is_proven(&self, value: Value) -> bool {
        match self.has_scores() {
            true => value.score().is_some(),
            false => value.lower == value.upper,
        }
    }

    /// The line of best play while values are proven: to the end of the game, or round to a
    /// position that was there before.
    fn best_line(&self, from: AnyPosition) -> (Vec<String>, LineEnd) {
        let (game, states) = (self.game(), self.states());
        let (mut line, mut before) = (Vec::new(), Vec::<AnyPosition>::new());
        let mut position = from;
        loop {
            let value = states.find(&position).map(|row| self.value(row));
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
        let (states, side) = (self.states(), position.side.other());
        let keeps = |state| {
            let row = states.find(&AnyPosition { state, side });
            row.is_some_and(|row| self.value(row).before() == value)
        };
        let mut first = None;
        if value.lower == value.upper {
            self.game().for_each_successor(&position.state, |action, state| {
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
}

/// The little of an answer that programs want of thousands of positions; a line of JSON.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Brief {
    /// The position in one line.
    pub position: String,
    /// `interior`, `terminal`, `frontier` or `restricted`.
    pub kind: &'static str,
    /// For the player to move.
    #[serde(flatten)]
    pub value: Verdict,
    /// The moves that no other is better than, as far as is known; none where nothing is.
    pub best: Vec<String>,
}

impl SolvedTable {
    /// The brief answer.
    pub fn brief(&self, position: AnyPosition) -> Result<Brief, NotThere> {
        let (game, states) = (self.game(), self.states());
        let row = states.find(&position);
        let row = self.if_whole(row.ok_or_else(|| NotThere::new(self, &position)))?;
        let actions = self.best_actions(&position);
        let name = |action: &Action| game.action_name(position.side, *action);
        self.if_whole(Ok(Brief {
            position: game.notation(&position),
            kind: states.kind(row, &position.state).name(),
            value: Verdict::of(self.value(row), self.has_scores()),
            best: actions.iter().map(name).collect(),
        }))
    }

    /// The moves that no other is better than, as far as is known; none where nothing is.
    pub fn best_actions(&self, position: &AnyPosition) -> Vec<Action> {
        let moves = self.look_ahead(position);
        let Some(best) = self.best_worth(&moves) else { return Vec::new() };
        let is_best = |value: Option<Value>| value.is_some_and(|value| self.worth(value) == best);
        moves.iter().filter(|(_, value)| is_best(*value)).map(|(action, _)| *action).collect()
    }

    /// What makes a move to a value best: in games with scores what is known of the score, whatever
    /// the distance.
    fn worth(&self, value: Value) -> Value {
        match self.has_scores() {
            true => Value::of_scores(value.lower.score(), value.upper.score(), None),
            false => value,
        }
    }

    /// The worth of the best of some moves; `None` where nothing is known of any.
    fn best_worth(&self, moves: &[(Action, Option<Value>)]) -> Option<Value> {
        let worths = moves.iter().filter_map(|&(_, value)| Some(self.worth(value?)));
        let best = worths.max_by_key(|worth| worth.preference());
        best.filter(|&worth| worth != self.worth(self.cut_off()))
    }
}
