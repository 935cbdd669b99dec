//! How often, and by how much, a policy's moves are worse than the best, and how good its values
//! are.
//!
//! Policies answer in every judged position of a [`Source`], all of them in one pass, because
//! getting a position's moves and their values costs more than a cheap policy's answer. Sums are
//! made of pieces of a fixed size and added in order, so that the number of threads changes no bit
//! of them.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::figures::{Figures, FiguresBySet, FiguresBySplit, score_lost};
use super::forced::ForcedFigures;
use super::images::{FirstImage, ImageFigures, Square, Squares};
use super::losses::Losses;
use super::mistakes::Mistake;
use super::source::{Piece, Source};
use super::truth::{Case, Truth};
use super::values::{FinalScoreFigures, ValueFigures};
use crate::any::AnyGame;
use crate::game::{Divider, Division, Game, Split};
use crate::parallel;
use crate::policy::{Answer, Answers, Policy, PolicyError, share_best};
use crate::progress::Progress;
use crate::table::TableError;

/// Who is judged.
pub enum Player {
    /// A policy that goes by the position.
    Policy(Box<dyn Policy<AnyGame>>),
    /// The table's best moves, whose values are at hand in every position. It plays for the score
    /// and then, ahead and level, for the shortest game, behind for the longest; equally good moves
    /// share.
    Perfect,
    /// A player under a name that a person gave it.
    Named(String, Box<Player>),
}

impl Player {
    /// The name under which reports show it.
    pub fn name(&self) -> String {
        match self {
            Player::Policy(policy) => policy.name(),
            Player::Perfect => "perfect".to_string(),
            Player::Named(name, _) => name.clone(),
        }
    }

    /// The policy, of a player that needs no table.
    pub fn policy(&self) -> Option<&dyn Policy<AnyGame>> {
        match self {
            Player::Policy(policy) => Some(policy.as_ref()),
            Player::Perfect => None,
            Player::Named(_, player) => player.policy(),
        }
    }

    /// Which positions' exact values it has learned from, where that is known.
    pub fn learned_from(&self) -> Option<Division> {
        match self {
            Player::Policy(policy) => policy.learned_from(),
            Player::Perfect => None,
            Player::Named(_, player) => player.learned_from(),
        }
    }

    /// Tells the part of a position when it learned, where that is known.
    pub fn divider(&self, game: &AnyGame) -> Option<Divider<AnyGame>> {
        self.learned_from().map(|division| Divider::new(game, division))
    }

    fn answer(
        &self,
        game: &AnyGame,
        piece: &Piece,
        answers: &mut Answers,
    ) -> Result<(), PolicyError> {
        match self {
            Player::Policy(policy) => {
                policy.answer(game, &piece.batch, answers)?;
                answers.check(&piece.batch)
            }
            Player::Perfect => {
                answers.probabilities.resize(piece.truths.len(), 0.0);
                for at in 0..piece.batch.len() {
                    let range = piece.batch.range(at);
                    let ranks: Vec<i64> =
                        piece.truths[range.clone()].iter().map(|truth| truth.rank).collect();
                    share_best(&ranks, &mut answers.probabilities[range]);
                }
                answers.scores.extend(piece.truths.iter().map(|truth| truth.q() as f64));
                let outcomes = piece.cases.iter().map(|case| case.own.outcome);
                answers.values.extend(outcomes.map(|outcome| f64::from(outcome.value())));
                Ok(())
            }
            Player::Named(_, player) => player.answer(game, piece, answers),
        }
    }
}

/// The figures of one policy on one table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PolicyAccuracy {
    /// The policy's name.
    pub policy: String,
    /// On all judged positions.
    pub total: FiguresBySet,
    /// Apart on those it has learned from and on others; `None` where that is not known.
    pub splits: Option<FiguresBySplit>,
    /// By layer, which is the number of discs, say, or plies from the nearest root; empty where the
    /// table does not keep plies.
    pub layers: Vec<Group>,
    /// By the number of legal moves.
    pub by_moves: Vec<Group>,
    /// By the plies that are left under best play; without positions whose distance is not known
    /// exactly, or that do not end.
    pub by_distance: Vec<Group>,
    /// By the exact score, or the exact outcome in games without scores.
    pub by_value: Vec<Group>,
    /// What its moves give away of the score, over all judged positions; `None` where there are no
    /// scores.
    pub losses: Option<Losses>,
    /// The same over the positions in which the moves differ in score.
    pub losses_decisive: Option<Losses>,
    /// How good its values are; `None` if it gives none.
    pub values: Option<ValueFigures>,
    /// How good the final scores are that it expects; `None` if it gives none, or there are none.
    pub final_scores: Option<FinalScoreFigures>,
    /// How far it answers images of a position alike; `None` where only one of them is asked about.
    pub images: Option<ImageFigures>,
    /// Where on the board it gives something away; empty where only one of the images of a position
    /// is asked about, and in games whose moves are no squares.
    pub squares: Vec<Square>,
    /// Where a bounded table proves something of some moves only; `None` of other tables.
    pub forced: Option<ForcedFigures>,
    /// Where it gives away the most, if that was asked for and games are not played out; in games
    /// it counts how often a position is met.
    pub costliest: Vec<Mistake>,
}

impl PolicyAccuracy {
    /// The figures by groups of positions.
    pub fn groups(&self, by: By) -> &[Group] {
        match by {
            By::Layer => &self.layers,
            By::Moves => &self.by_moves,
            By::Distance => &self.by_distance,
            By::Value => &self.by_value,
        }
    }

    /// The figures that say how good it is: on the positions that it has not learned from, where
    /// there are such, or else on all.
    pub fn held_out(&self) -> &FiguresBySet {
        let apart = self.splits.as_ref();
        apart.and_then(|apart| Some(apart.of(apart.held_out()?))).unwrap_or(&self.total)
    }
}

/// The figures of one policy on the positions that have something in common.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Group {
    /// What they have in common.
    #[serde(flatten)]
    pub key: Key,
    /// On these positions.
    pub figures: FiguresBySet,
}

/// What a group of positions has in common; in JSON a field of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Key {
    /// The layer before the move: what [`Words::layers`](super::Words::layers) counts.
    Layer(i32),
    /// How many legal moves there are.
    Moves(i32),
    /// Plies to the end under best play.
    Distance(i32),
    /// The exact score of the mover.
    Score(i32),
    /// The exact outcome of the mover: 1 a win, 0 a draw, −1 a loss.
    Outcome(i32),
}

impl Key {
    /// The number.
    pub fn number(self) -> i32 {
        match self {
            Key::Layer(n) | Key::Moves(n) | Key::Distance(n) | Key::Score(n) | Key::Outcome(n) => n,
        }
    }
}

/// By what positions are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// By layer.
    Layer,
    /// By the number of legal moves.
    Moves,
    /// By the plies to the end under best play.
    Distance,
    /// By the exact score, or the outcome in games without scores.
    Value,
}

impl By {
    /// All of them with their names.
    pub const ALL: [(&str, By); 4] = [
        ("layer", By::Layer),
        ("moves", By::Moves),
        ("distance", By::Distance),
        ("value", By::Value),
    ];
}

/// What was measured on a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// In how many positions policies were judged.
    pub judged: u64,
    /// About how many of them they were asked: the others are images of those.
    pub asked: u64,
    /// The figures of each policy.
    pub policies: Vec<PolicyAccuracy>,
}

/// What went wrong while policies were measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The table is damaged.
    #[error("{0}")]
    Damaged(String),
    /// The same, where it is known which file.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A policy failed.
    #[error("policy '{policy}': {error}")]
    Policy {
        /// Its name.
        policy: String,
        /// How.
        error: PolicyError,
    },
    /// The results could not be written.
    #[error(transparent)]
    Output(#[from] std::io::Error),
}

/// How many pieces are in work before their sums are added.
const WINDOW: usize = 128;

/// Receives every piece in order, with what each policy answered.
pub type Sink<'s> = dyn FnMut(&Piece, &[Answers]) -> std::io::Result<()> + 's;

/// Judges policies in every judged position of a solved table; `sink` receives what they answered.
pub fn measure(
    source: &dyn Source,
    players: &[Player],
    mut sink: Option<&mut Sink<'_>>,
    progress: &dyn Progress,
) -> Result<Measured, MeasureError> {
    let names: Vec<String> = players.iter().map(Player::name).collect();
    progress.begin(&format!("judging {}", names.join(", ")), Some(source.rows()));
    let mut sums = vec![Sums::default(); players.len()];
    let (mut judged, mut asked) = (0, 0);
    let keep = sink.is_some();
    let dividers: Vec<_> = players.iter().map(|player| player.divider(source.game())).collect();
    for begin in (0..source.pieces()).step_by(WINDOW) {
        let window = WINDOW.min(source.pieces() - begin);
        let parts = parallel::try_map(window, &|place| {
            let (piece, rows) = source.fill(begin + place).map_err(MeasureError::Damaged)?;
            let part = judge(source, piece, players, &dividers, keep)?;
            progress.advance(rows);
            Ok::<Part, MeasureError>(part)
        });
        for part in parts? {
            judged += part.judged;
            asked += part.asked;
            sums.iter_mut().zip(&part.sums).for_each(|(sum, part)| sum.add(part));
            if let (Some(sink), Some(piece)) = (&mut sink, &part.piece) {
                sink(piece, &part.answers)?;
            }
        }
    }
    progress.finish(&format!("{judged} positions"));
    let named = names.into_iter().zip(sums).zip(&dividers);
    let game = source.game();
    let named = named.map(|((name, sums), divider)| sums.named(game, name, divider.is_some()));
    Ok(Measured { judged, asked, policies: named.collect() })
}

/// What was found out about a piece.
struct Part {
    judged: u64,
    asked: u64,
    /// One of each policy.
    sums: Vec<Sums>,
    /// The piece and what each policy answered, if there is a sink.
    piece: Option<Arc<Piece>>,
    answers: Vec<Answers>,
}

fn judge(
    source: &dyn Source,
    piece: Arc<Piece>,
    players: &[Player],
    dividers: &[Option<Divider<AnyGame>>],
    keep: bool,
) -> Result<Part, MeasureError> {
    let game = source.game();
    let has_squares = game.squares(&game.start().state).is_some();
    let judged = piece.cases.iter().map(|case| u64::from(case.weight)).sum();
    let (asked, sums) = (piece.batch.len() as u64, Vec::with_capacity(players.len()));
    let mut part = Part { judged, asked, sums, piece: None, answers: Vec::new() };
    let mut answers = Answers::default();
    for (player, divider) in players.iter().zip(dividers) {
        let failed = |error| MeasureError::Policy { policy: player.name(), error };
        answers.clear();
        if !piece.batch.is_empty() {
            player.answer(game, &piece, &mut answers).map_err(failed)?;
        }
        let (mut sums, mut first) = (Sums::default(), FirstImage::default());
        for (at, case) in piece.cases.iter().enumerate() {
            let range = piece.batch.range(at);
            let state = &piece.batch.positions()[at].state;
            let split = divider.as_ref().and_then(|divider| divider.of(state));
            let answer = answers.at(at, range.clone());
            let truths = &piece.truths[range.clone()];
            sums.add_position(case, truths, &answer, split);
            if !piece.images.is_empty() {
                first.compare(&piece, at, answer.probabilities, &mut sums.images);
                if has_squares {
                    let actions = &piece.batch.actions()[range];
                    sums.squares.add_position(case, actions, truths, answer.probabilities);
                }
            }
        }
        part.sums.push(sums);
        if keep {
            part.answers.push(std::mem::take(&mut answers));
        }
    }
    part.piece = keep.then_some(piece);
    Ok(part)
}

/// Everything that policies answer, gathered in the order of the judged positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gathered {
    /// Of each policy.
    pub answers: Vec<Answers>,
}

impl Gathered {
    /// Appends what was answered for a piece.
    pub fn add(&mut self, answers: &[Answers]) {
        self.answers.resize_with(answers.len(), Answers::default);
        for (all, part) in self.answers.iter_mut().zip(answers) {
            all.probabilities.extend_from_slice(&part.probabilities);
            all.values.extend_from_slice(&part.values);
        }
    }
}

/// The sums of one policy over some positions.
#[derive(Clone, Debug, Default)]
struct Sums {
    total: FiguresBySet,
    splits: [FiguresBySet; 3],
    groups: FxHashMap<Key, FiguresBySet>,
    losses: Losses,
    losses_decisive: Losses,
    values: Option<ValueFigures>,
    final_scores: Option<FinalScoreFigures>,
    images: ImageFigures,
    squares: Squares,
}

impl Sums {
    fn add_position(
        &mut self,
        case: &Case,
        truths: &[Truth],
        answer: &Answer<'_>,
        split: Option<Split>,
    ) {
        let &Answer { probabilities, scores, value, final_score } = answer;
        let figures = Figures::of_position(case, truths, probabilities, scores).times(case.weight);
        self.total.add_position(case, &figures);
        if let Some(split) = split {
            self.splits[split.index()].add_position(case, &figures);
        }
        for key in keys(case, truths.len()).into_iter().flatten() {
            self.groups.entry(key).or_default().add_position(case, &figures);
        }
        if case.own.score.is_some() {
            for (truth, &p) in truths.iter().zip(probabilities).filter(|(_, p)| **p > 0.0) {
                let lost = score_lost(&case.own, truth).unsigned_abs() as usize;
                let expected = p * f64::from(case.weight);
                self.losses.add(lost, expected);
                if case.differs_in_score {
                    self.losses_decisive.add(lost, expected);
                }
            }
        }
        if let Some(value) = value {
            self.values.get_or_insert_default().add_position(case.own.outcome, value, case.weight);
        }
        if let (Some(expected), Some(exact)) = (final_score, case.own.score) {
            let figures = self.final_scores.get_or_insert_default();
            figures.add_position(exact, expected, case.weight);
        }
    }

    fn add(&mut self, other: &Sums) {
        self.total.add(&other.total);
        self.splits.iter_mut().zip(&other.splits).for_each(|(sum, part)| sum.add(part));
        for (key, figures) in &other.groups {
            self.groups.entry(*key).or_default().add(figures);
        }
        self.images.add(&other.images);
        self.squares.add(&other.squares);
        self.losses.merge(&other.losses);
        self.losses_decisive.merge(&other.losses_decisive);
        if let Some(values) = &other.values {
            self.values.get_or_insert_default().add(values);
        }
        if let Some(final_scores) = &other.final_scores {
            self.final_scores.get_or_insert_default().add(final_scores);
        }
    }

    fn named(self, game: &AnyGame, policy: String, is_divided: bool) -> PolicyAccuracy {
        let has_scores = self.total.decisive_score.is_some();
        let groups = |is_of: fn(Key) -> bool| {
            let of_kind = self.groups.iter().filter(|(key, _)| is_of(**key));
            let mut found: Vec<_> =
                of_kind.map(|(&key, &figures)| Group { key, figures }).collect();
            found.sort_unstable_by_key(|group| group.key);
            found
        };
        PolicyAccuracy {
            policy,
            total: self.total,
            splits: is_divided.then(|| {
                let [train, validation, test] = self.splits;
                FiguresBySplit { train, validation, test }
            }),
            layers: groups(|key| matches!(key, Key::Layer(_))),
            by_moves: groups(|key| matches!(key, Key::Moves(_))),
            by_distance: groups(|key| matches!(key, Key::Distance(_))),
            by_value: groups(|key| matches!(key, Key::Score(_) | Key::Outcome(_))),
            losses: has_scores.then_some(self.losses),
            losses_decisive: has_scores.then_some(self.losses_decisive),
            values: self.values,
            final_scores: self.final_scores,
            images: (self.images.states > 0).then_some(self.images),
            squares: self.squares.of_board(game),
            forced: None,
            costliest: Vec::new(),
        }
    }
}

/// The groups that a position belongs to.
fn keys(case: &Case, moves: usize) -> [Option<Key>; 4] {
    let layer = case.layer.map(|layer| Key::Layer(layer as i32));
    let value = match case.own.score {
        Some(score) => Key::Score(i32::from(score.0)),
        None => Key::Outcome(i32::from(case.own.outcome.value())),
    };
    let distance = case.own.distance.map(|plies| Key::Distance(i32::from(plies)));
    [layer, Some(Key::Moves(moves as i32)), distance, Some(value)]
}
