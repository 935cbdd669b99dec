//! Answer of a policy in one position with its exact value: a row of the state-by-state results.

use serde::Serialize;

use super::figures::Figures;
use super::positions::Piece;
use crate::policy::{Answer, Answers};
use yomikiri::rules::{Divider, Rules};

/// One policy in one position. All values are those of the player to move.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "parquet", derive(parquet_derive::ParquetRecordWriter))]
pub struct Judgement {
    /// Name of the policy.
    pub policy: String,
    /// Part of the position in the policy's training split: `train`, `validation` or `test`; `None` if
    /// unknown, or if the position was unused.
    pub split: Option<String>,
    /// Row of the position; `i64`, because all Parquet readers support it.
    pub row: i64,
    /// Number of positions it counts for: with `--canonical` all those of the row, else 1.
    pub weight: i32,
    /// Position in the game's one-line notation.
    pub position: String,
    /// Name of the side to move.
    pub mover: String,
    /// Layer, or plies from the nearest root; `None` if the table does not record them.
    pub layer: Option<i32>,
    /// Number of legal moves.
    pub moves: i32,
    /// Plies to the end under best play, if known.
    pub distance: Option<i32>,
    /// Exact outcome: 1, 0 or −1.
    pub outcome: i32,
    /// Exact score; `None` in games without scores.
    pub score: Option<i32>,
    /// `true` if the moves differ in outcome.
    pub decisive_result: bool,
    /// `true` if the moves differ in score.
    pub decisive_score: bool,
    /// Probability of moves that keep the outcome.
    pub result_kept: f64,
    /// Probability of moves that keep the score.
    pub score_kept: Option<f64>,
    /// Expected loss of outcome, 0 to 2.
    pub result_lost: f64,
    /// Expected loss of score.
    pub score_lost: Option<f64>,
    /// Probability of moves that lose 4 points of the score or more.
    pub large_losses: Option<f64>,
    /// Probability that the likeliest move keeps the outcome; equal ones share.
    pub argmax_result_kept: f64,
    /// Probability that it keeps the score.
    pub argmax_score_kept: Option<f64>,
    /// Outcome lost by it.
    pub argmax_result_lost: f64,
    /// Score lost by it.
    pub argmax_score_lost: Option<f64>,
    /// Rank correlation of the policy's scores with the exact values of the moves.
    pub rank_correlation: Option<f64>,
    /// Negative log-likelihood (nats) of all best moves, of 1e-12 at least.
    pub nll: f64,
    /// Entropy (nats) of the probabilities.
    pub entropy: f64,
    /// Probability that the move ranked first keeps the score (the outcome in games without scores).
    pub top_1: f64,
    /// Probability that one of the first two does.
    pub top_2: f64,
    /// Probability that one of the first three does.
    pub top_3: f64,
    /// Outcome the policy expects, if it returns values.
    pub value: Option<f64>,
    /// Final score the policy expects, if it returns scores.
    pub final_score: Option<f64>,
    /// Likeliest move; the first of equals.
    pub likeliest: String,
    /// Probability of the likeliest move.
    pub likeliest_probability: f64,
    /// Exact outcome after the likeliest move.
    pub likeliest_outcome: i32,
    /// Exact score after the likeliest move.
    pub likeliest_score: Option<i32>,
}

/// Returns the index of the highest probability, the first of equals.
pub(super) fn likeliest(probabilities: &[f64]) -> usize {
    let better = |a: usize, b: usize| if probabilities[b] > probabilities[a] { b } else { a };
    (0..probabilities.len()).reduce(better).unwrap_or(0)
}

/// Returns the judgements of one policy on a piece, in the piece's order; `divider` is the player's.
pub fn judgements<'a>(
    game: &'a dyn Rules,
    policy: &'a str,
    divider: Option<&'a Divider>,
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
        let of_score =
            |score: Option<yomikiri::rules::Score>| score.map(|score| i32::from(score.0));
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
            decisive_result: case.differs_in_outcome,
            decisive_score: case.differs_in_score,
            result_kept: figures.result_kept,
            score_kept: has_scores.then_some(figures.score_kept),
            result_lost: figures.result_lost,
            score_lost: has_scores.then_some(figures.score_lost),
            large_losses: has_scores.then_some(figures.large_losses),
            argmax_result_kept: figures.likeliest.result_kept,
            argmax_score_kept: has_scores.then_some(figures.likeliest.score_kept),
            argmax_result_lost: figures.likeliest.result_lost,
            argmax_score_lost: has_scores.then_some(figures.likeliest.score_lost),
            rank_correlation: figures.rank_correlation(),
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
