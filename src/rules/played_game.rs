//! Games as they are played: positions with their history, and the ends that depend on it.
//!
//! ```
//! use yomikiri::games::shogi::{MINISHOGI, Shogi};
//! use yomikiri::rules::{EndReason, Game, Outcome, PlayedGame};
//!
//! let game = Shogi::new(&MINISHOGI, false).into_rules();
//! let mut played = PlayedGame::new(game.parse_position("1r2k/5/5/5/K4 w - 1", &game.start())?);
//! played.play_text(&*game, &"4a5a 5e4e 5a4a 4e5e ".repeat(3))?;
//! // White has given check with every move.
//! let end = played.end(&*game).unwrap();
//! assert_eq!((end.reason, end.outcome), (EndReason::PerpetualCheck, Outcome::Loss));
//! # Ok::<(), yomikiri::error::Error>(())
//! ```

use super::{
    Action, AnyPosition, Claim, Empties, Misread, Outcome, PlayedLine, Position, Repetition, Rules,
    Sheet, Side,
};
use crate::error::Error;

/// Reason why a played game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The position has a result.
    Position,
    /// The position has occurred too often.
    Repetition,
    /// The position has occurred too often, and one player has given check with every move.
    PerpetualCheck,
}

/// End of a played game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayedEnd {
    /// Outcome for the player to move in the last position.
    pub outcome: Outcome,
    /// Reason of the end.
    pub reason: EndReason,
}

/// A game so far: a start and the moves since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedGame {
    start: AnyPosition,
    position: AnyPosition,
    moves: Vec<(AnyPosition, Action)>,
}

impl PlayedGame {
    /// Returns a game that begins in a position.
    pub fn new(start: AnyPosition) -> PlayedGame {
        PlayedGame { start, position: start, moves: Vec::new() }
    }

    /// Plays a game of a text from its position, or from `from` if it has none; returns its result too.
    pub fn of_sheet(
        game: &dyn Rules,
        sheet: &Sheet<'_>,
        from: &AnyPosition,
    ) -> Result<(PlayedGame, Option<Claim>), Misread> {
        let PlayedLine { start, moves, last, claim } = game.play_sheet(sheet, from)?;
        Ok((PlayedGame { start, position: last, moves }, claim))
    }

    /// Returns all positions, the first and the current one among them.
    pub fn positions(&self) -> impl Iterator<Item = AnyPosition> {
        self.moves.iter().map(|(before, _)| *before).chain([self.position])
    }

    /// Returns the first position.
    pub fn start(&self) -> &AnyPosition {
        &self.start
    }

    /// Returns the current position.
    pub fn position(&self) -> &AnyPosition {
        &self.position
    }

    /// Returns the moves so far, each with the position before it.
    pub fn moves(&self) -> &[(AnyPosition, Action)] {
        &self.moves
    }

    /// Plays a legal action.
    pub fn play(&mut self, game: &dyn Rules, action: Action) {
        self.moves.push((self.position, action));
        self.position = game.advance(&self.position, action);
    }

    /// Plays moves written as text. Fails without playing any if one is illegal or follows the end of the game.
    pub fn play_text(&mut self, game: &dyn Rules, text: &str) -> Result<(), Error> {
        let line = game.play_sheet(&Sheet::line(text, 0), &self.position);
        let line = line.map_err(|misread| misread.error)?;
        let mut played = self.clone();
        if line.start != self.position || line.moves.is_empty() {
            return Err(Error::from(format!("invalid move `{text}`")));
        }
        let plies = line.moves.len();
        for (count, (_, action)) in line.moves.into_iter().enumerate() {
            if let Some(words) = played.end_in_words(game) {
                let what = format!("the game is over after {count} plies of {plies}: {words}");
                return Err(Error::from(what));
            }
            played.play(game, action);
        }
        *self = played;
        Ok(())
    }

    /// Takes the last move back and returns it.
    pub fn undo(&mut self) -> Option<Action> {
        let (before, action) = self.moves.pop()?;
        self.position = before;
        Some(action)
    }

    /// Returns the names of the moves, separated by spaces.
    pub fn transcript(&self, game: &dyn Rules) -> String {
        let name =
            |(before, action): &(AnyPosition, Action)| game.action_name(before.side, *action);
        self.moves.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    /// Returns what contradicts a result at the end of the game: `the file records Black's win, the board White's by 3`; `None`
    /// if nothing does, or the game is not over on the board.
    pub fn contradiction(&self, game: &dyn Rules, claim: Claim) -> Option<String> {
        let AnyPosition { state, side } = self.position;
        let outcome = game.result(&state)?;
        let winner = match outcome {
            Outcome::Draw => None,
            Outcome::Win => Some(side),
            Outcome::Loss => Some(side.other()),
        };
        let words = |winner: Option<Side>| match winner {
            Some(side) => format!("{}'s win", game.side_name(side)),
            None => "a draw".to_string(),
        };
        match claim {
            Claim::Winner(claimed) => (claimed != winner).then(|| {
                format!("the text records {}, the board {}", words(claimed), words(winner))
            }),
            Claim::Margin(claimed, rule) => {
                if !game.has_scores() {
                    return None;
                }
                let sign = if side == Side::First { 1 } else { -1 };
                let margin = |empties| sign * i32::from(game.score(&state, empties).0);
                let margins = match rule {
                    Some(empties) => vec![margin(empties)],
                    None => vec![margin(Empties::Uncounted), margin(Empties::ToWinner)],
                };
                let first = game.side_name(Side::First);
                (!margins.contains(&claimed)).then(|| {
                    format!("the text records {claimed:+} for {first}, the board {:+}", margins[0])
                })
            }
        }
    }

    /// Returns the end of the game; `None` while it goes on.
    pub fn end(&self, game: &dyn Rules) -> Option<PlayedEnd> {
        if let Some(outcome) = game.result(&self.position.state) {
            return Some(PlayedEnd { outcome, reason: EndReason::Position });
        }
        if game.is_layered() {
            return None;
        }
        let rule = game.repetition_rule();
        let earlier = self.moves.iter().enumerate().rev();
        let mut earlier = earlier.filter(|(_, (before, _))| *before == self.position);
        let (first, _) = earlier.nth(rule.occurrence.saturating_sub(2))?;
        let checkers = Side::ALL.map(|side| self.has_only_checked(game, first, side));
        let loser = match checkers {
            [true, false] if rule.perpetual_check_loses => Some(Side::First),
            [false, true] if rule.perpetual_check_loses => Some(Side::Second),
            _ => None,
        };
        let reason =
            if loser.is_some() { EndReason::PerpetualCheck } else { EndReason::Repetition };
        let loser = loser.or(match rule.result {
            Repetition::SecondPlayerWins => Some(Side::First),
            Repetition::Draw | Repetition::Unknown => None,
        });
        let outcome = match loser {
            None => Outcome::Draw,
            Some(side) if side == self.position.side => Outcome::Loss,
            Some(_) => Outcome::Win,
        };
        Some(PlayedEnd { outcome, reason })
    }

    /// Returns whether every move of a side since a ply gave check.
    fn has_only_checked(&self, game: &dyn Rules, since: usize, side: Side) -> bool {
        let positions = self.moves[since + 1..].iter().map(|(before, _)| before);
        let mut positions = positions.chain([&self.position]).filter(|after| after.side != side);
        positions.all(|after| game.in_check(&after.state))
    }

    /// Returns why the game is over, such as `Black is mated`; `None` while it goes on.
    pub fn end_in_words(&self, game: &dyn Rules) -> Option<String> {
        let PlayedEnd { outcome, reason } = self.end(game)?;
        let occurrence = match game.repetition_rule().occurrence {
            2 => "second".to_string(),
            3 => "third".to_string(),
            4 => "fourth".to_string(),
            other => format!("{other}th"),
        };
        let repeated = format!("the position has occurred for the {occurrence} time");
        let Position { side, .. } = self.position;
        let won = |side: Side| format!("{} has won", game.side_name(side));
        Some(match (reason, outcome) {
            (EndReason::Position, outcome) => {
                game.end_in_words(&self.position).unwrap_or_else(|| match outcome {
                    Outcome::Win => won(side),
                    Outcome::Draw => "it is drawn".to_string(),
                    Outcome::Loss => won(side.other()),
                })
            }
            (EndReason::Repetition, Outcome::Draw) => format!("it is drawn, {repeated}"),
            (EndReason::Repetition, _) => repeated,
            (EndReason::PerpetualCheck, _) => {
                let loser = if outcome == Outcome::Loss { side } else { side.other() };
                format!("perpetual check by {}, {repeated}", game.side_name(loser))
            }
        })
    }
}
