//! What a policy does in one position, and what that is worth: a row of the state-by-state results.

use serde::Serialize;

use super::figures::Figures;
use super::source::Piece;
use crate::policy::{Answer, Answers};
use yomikiri::any::AnyGame;
use yomikiri::game::{Divider, GameExt};

/// One policy in one position. All values are those of the player to move.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "parquet", derive(parquet_derive::ParquetRecordWriter))]
pub struct Judgement {
    /// The policy's name.
    pub policy: String,
    /// `train`, `validation` or `test`: the part of the position when the policy learned; `None` where
    /// that is not known, or the position was not in use.
    pub split: Option<String>,
    /// The row of the table that the position belongs to; of a type that all Parquet readers have.
    pub row: i64,
    /// How many positions it counts for: with `--canonical` all those of the row, else 1.
    pub weight: i32,
    /// The position in the game's one-line notation.
    pub position: String,
    /// The name of the side to move.
    pub mover: String,
    /// The layer, or plies from the nearest root; `None` where the table does not tell.
    pub layer: Option<i32>,
    /// How many legal moves there are.
    pub moves: i32,
    /// Plies to the end under best play, where they are known.
    pub distance: Option<i32>,
    /// The exact outcome: 1, 0 or −1.
    pub outcome: i32,
    /// The exact score; `None` in games without.
    pub score: Option<i32>,
    /// Whether the moves differ in outcome.
    pub decisive_outcome: bool,
    /// Whether they differ in score.
    pub decisive_score: bool,
    /// Probability of moves that keep the outcome.
    pub optimal_by_outcome: f64,
    /// Probability of moves that keep the score.
    pub optimal_by_score: Option<f64>,
    /// Expected loss of outcome, 0 to 2.
    pub loss_outcome: f64,
    /// Expected loss of score.
    pub loss_score: Option<f64>,
    /// Rank correlation of the policy's scores with the exact values of the moves.
    pub rank_correlation: Option<f64>,
    /// Negative logarithm (nats) of the probability of all best moves, of 1e-12 where it is less.
    pub nll: f64,
    /// Entropy (nats) of the probabilities.
    pub entropy: f64,
    /// Probability that the move ranked first keeps the score (the outcome in games without).
    pub top_1: f64,
    /// That one of the first two does.
    pub top_2: f64,
    /// That one of the first three does.
    pub top_3: f64,
    /// The outcome the policy expects, if it gives values.
    pub value: Option<f64>,
    /// The final score the policy expects, if it gives such.
    pub final_score: Option<f64>,
    /// The likeliest move; the first of several.
    pub likeliest: String,
    /// Its probability.
    pub likeliest_probability: f64,
    /// The exact outcome after it.
    pub likeliest_outcome: i32,
    /// The exact score after it.
    pub likeliest_score: Option<i32>,
}

/// The place of the highest probability, the first of several.
pub(super) fn likeliest(probabilities: &[f64]) -> usize {
    let better = |a: usize, b: usize| if probabilities[b] > probabilities[a] { b } else { a };
    (0..probabilities.len()).reduce(better).unwrap_or(0)
}

/// The judgements of one policy on a piece, in the piece's order; `divider` is the player's.
pub fn judgements<'a>(
    game: &'a AnyGame,
    policy: &'a str,
    divider: Option<&'a Divider<AnyGame>>,
    piece: &'a Piece,
    answers: &'a Answers,
) -> impl Iterator<Item = Judgement> + 'a {
    piece.batch.positions().iter().enumerate().map(move |(at, position)| {
        let (case, range) = (&piece.cases[at], piece.batch.range(at));
        let Answer { probabilities, scores, value, final_score } = answers.at(at, range.clone());
        let truths = &piece.truths[range.clone()];
        let figures = Figures::of_position(case, truths, probabilities, scores);
        let likeliest = likeliest(probabilities);
        let has_scores = case.own.score.is_some();
        let of_score = |score: Option<yomikiri::game::Score>| score.map(|score| i32::from(score.0));
        Judgement {
            policy: policy.to_string(),
            split: divider.and_then(|it| it.of(&position.state)).map(|it| it.name().to_string()),
            row: i64::from(case.row),
            weight: case.weight as i32,
            position: game.notation(position),
            mover: game.side_name(position.side).to_string(),
            layer: case.layer.map(|layer| layer as i32),
            moves: truths.len() as i32,
            distance: case.own.distance.map(i32::from),
            outcome: i32::from(case.own.outcome.value()),
            score: of_score(case.own.score),
            decisive_outcome: case.differs_in_outcome,
            decisive_score: case.differs_in_score,
            optimal_by_outcome: figures.optimal_outcome,
            optimal_by_score: has_scores.then_some(figures.optimal_score),
            loss_outcome: figures.loss_outcome,
            loss_score: has_scores.then_some(figures.loss_score),
            rank_correlation: figures.means().rank_correlation,
            nll: figures.nll,
            entropy: figures.entropy,
            top_1: figures.top[0],
            top_2: figures.top[1],
            top_3: figures.top[2],
            value,
            final_score,
            likeliest: game.action_name(position.side, piece.batch.actions()[range][likeliest]),
            likeliest_probability: probabilities[likeliest],
            likeliest_outcome: i32::from(truths[likeliest].outcome.value()),
            likeliest_score: of_score(truths[likeliest].score),
        }
    })
}
