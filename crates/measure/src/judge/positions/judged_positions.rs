//! Positions with their exact values, as policies are judged in them.

use crate::policy::Batch;
use yomikiri::oracle::Orienting;
use yomikiri::rules::{Action, AnyPosition, Orientations, Outcome, Position, Rules, Score};
use yomikiri::solve::Value;

/// Proven value of a position for its mover, or of a move for the player who makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    /// Outcome of the game.
    pub outcome: Outcome,
    /// Final score; `None` in games without scores.
    pub score: Option<Score>,
    /// Plies from the position or the move to the end of the game, if known exactly; `None` too if the game
    /// does not end.
    pub distance: Option<u16>,
    /// Order of the moves of a position, as in the solver: by outcome or score, then the shorter game when
    /// winning or drawn, the longer when losing. Moves of equal rank are equally good.
    pub rank: i64,
}

impl Truth {
    /// Returns the truth of a value, with its score if `scored`; `None` if it is not proven.
    pub fn of(value: Value, scored: bool) -> Option<Truth> {
        let score = if scored { Some(value.score()?) } else { None };
        Some(Truth {
            outcome: value.outcome()?,
            score,
            distance: value.distance(),
            rank: Truth::rank(value),
        })
    }

    /// Returns the [`rank`](Truth::rank) of a value.
    pub(in crate::judge) fn rank(value: Value) -> i64 {
        (i64::from(value.lower.number()) << 32) + i64::from(value.upper.number())
    }

    /// Returns the score; in games without scores 1, 0 or −1 by the outcome.
    pub fn q_score(&self) -> Score {
        self.score.unwrap_or(Score(self.outcome.value()))
    }

    /// Returns the exact Q value to compare a policy's scores with: the score, or in games without scores the
    /// outcome, then the distance as far as it is proven.
    pub fn q(&self) -> i64 {
        self.score.map_or(self.rank, |score| i64::from(score.0))
    }
}

/// A position in which policies are judged, with its exact values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Row of the table, or number of the position in its list.
    pub row: u32,
    /// Number of positions it counts for: 1; all those of its row if only the first is asked about; or how often
    /// a list contains it.
    pub weight: u32,
    /// Layer, or plies from the nearest root; `None` if the table does not record them.
    pub layer: Option<u32>,
    /// Value of the position for its mover.
    pub own: Truth,
    /// `true` if its moves differ in outcome.
    pub differs_in_outcome: bool,
    /// `true` if its moves differ in score.
    pub differs_in_score: bool,
    /// `true` if distances are compared: the position is won or lost in an exactly known number of plies, and
    /// so is every move that keeps the outcome. Never in a game with scores.
    pub timed: bool,
}

impl Case {
    /// Returns the case of a row whose moves have these values; `None` if the row's value does not follow
    /// from them, so the table is damaged.
    pub(in crate::judge) fn of(
        row: usize,
        layer: Option<u32>,
        own: Truth,
        moves: &[Truth],
    ) -> Option<Case> {
        let best = moves.iter().map(|truth| truth.outcome).max()?;
        let worst = moves.iter().map(|truth| truth.outcome).min()?;
        let scores = moves.iter().map(|truth| truth.score);
        let (most, least) = (scores.clone().max()?, scores.min()?);
        let follows = best == own.outcome && most == own.score;
        let kept = |truth: &&Truth| truth.outcome == own.outcome;
        let timed = own.score.is_none()
            && own.outcome != Outcome::Draw
            && own.distance.is_some()
            && moves.iter().filter(kept).all(|truth| truth.distance.is_some());
        follows.then_some(Case {
            row: row as u32,
            weight: 1,
            layer,
            own,
            differs_in_outcome: best != worst,
            differs_in_score: most != least,
            timed,
        })
    }
}

/// A position's moves with their values.
#[derive(Clone)]
pub(crate) struct JudgedCase {
    pub case: Case,
    /// Legal actions, in ascending order.
    pub actions: Vec<Action>,
    /// Value of each action.
    pub truths: Vec<Truth>,
}

/// Number of positions a policy is asked about at once, images of a row together: a network's activations for
/// these fit into the CPU caches.
pub(crate) const AT_ONCE: usize = 2048;

/// A piece of a table or a part of one, as policies receive it.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    /// Positions with their legal actions.
    pub batch: Batch,
    /// Known values and facts of each position.
    pub cases: Vec<Case>,
    /// Value of each action of the batch.
    pub truths: Vec<Truth>,
    /// `true` if all positions of each row are asked about.
    pub has_images: bool,
}

impl Piece {
    /// Returns the last part, or a new one behind it, with room for the images of a row.
    pub(in crate::judge) fn with_room(parts: &mut Vec<Piece>) -> &mut Piece {
        // A board has at most eight symmetries, with either side to move.
        if parts.last().is_none_or(|last| last.cases.len() + 16 > AT_ONCE) {
            parts.push(Piece::default());
        }
        let last = parts.len() - 1;
        &mut parts[last]
    }

    /// Appends a position.
    pub(in crate::judge) fn push_case(&mut self, position: AnyPosition, judged: JudgedCase) {
        self.batch.push(position, judged.actions);
        self.truths.extend(judged.truths);
        self.cases.push(judged.case);
    }

    /// Returns its `wanted` positions.
    pub(in crate::judge) fn only(&self, wanted: &dyn Fn(&Piece, usize) -> bool) -> Piece {
        let mut some = Piece::default();
        (0..self.cases.len()).filter(|&at| wanted(self, at)).for_each(|at| some.push(self, at));
        some
    }

    /// Appends the position at index `at` of another piece, with its values.
    pub fn push(&mut self, all: &Piece, at: usize) {
        let range = all.batch.range(at);
        let actions = all.batch.actions()[range.clone()].iter().copied();
        self.batch.push(all.batch.positions()[at], actions);
        self.truths.extend_from_slice(&all.truths[range]);
        self.has_images = all.has_images;
        self.cases.push(all.cases[at]);
    }
}

impl Piece {
    /// Appends the positions of a row. A row without orientations counts once.
    pub(in crate::judge) fn push_row(
        &mut self,
        game: &dyn Rules,
        (position, mut judged): (AnyPosition, JudgedCase),
        orientations: Option<Orientations>,
        orienting: Orienting,
    ) {
        let Some(orientations) = orientations else { return self.push_case(position, judged) };
        let order = game.group().order();
        if orienting == Orienting::First {
            judged.case.weight = orientations.iter(order).count() as u32;
        }
        self.has_images = orienting == Orienting::All;
        for (symmetry, side) in orientations.iter(order).take(orienting.most()) {
            let state = game.transform(&position.state, symmetry);
            let image = |&action: &Action| game.transform_action(action, symmetry);
            // Actions ascend; their values are permuted with them.
            let mut both: Vec<(Action, u16)> = judged.actions.iter().map(image).zip(0..).collect();
            both.sort_unstable_by_key(|(action, _)| *action);
            self.batch.push(Position { state, side }, both.iter().map(|(action, _)| *action));
            self.truths.extend(both.iter().map(|(_, place)| judged.truths[usize::from(*place)]));
            self.cases.push(judged.case);
        }
    }
}
