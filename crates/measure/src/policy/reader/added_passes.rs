//! Asks about no pass that a list of states adds between two moves of one player.
//!
//! Whoever made a policy of such a game knows no state before the pass: the policy is asked about the one after it.

use crate::policy::{Answers, Batch};
use yomikiri::error::Error;
use yomikiri::rules::{AnyPosition, Empties, Rules};

/// Returns the position after an added pass; `None` in another position.
pub(super) fn after_pass(game: &dyn Rules, position: &AnyPosition) -> Option<AnyPosition> {
    if !game.adds_passes() || !game.must_pass(&position.state) {
        return None;
    }
    game.actions(&position.state).first().map(|pass| game.advance(position, *pass))
}

/// Asks about a batch, about the positions after added passes instead of those before them. There the pass is certain,
/// and values are the opponent's.
pub(super) fn ask_after_passes(
    game: &dyn Rules,
    batch: &Batch,
    ask: impl FnOnce(&Batch) -> Result<Answers, Error>,
) -> Result<Answers, Error> {
    if !game.adds_passes() {
        return ask(batch);
    }
    let (mut asked, mut passed) = (Batch::default(), Vec::with_capacity(batch.len()));
    for position in batch.positions() {
        let after = after_pass(game, position);
        passed.push(after);
        // Nobody is asked about a finished game: the start stands in its place.
        let shown = after.unwrap_or(*position);
        let shown = if game.is_terminal(&shown.state) { game.start() } else { shown };
        asked.push(shown, game.actions(&shown.state));
    }
    let (all, mut answers) = (ask(&asked)?, Answers::default());
    for (at, after) in passed.into_iter().enumerate() {
        let range = asked.range(at);
        let (value, score) = (all.values.get(at), all.final_scores.get(at));
        let Some(after) = after else {
            answers.probabilities.extend(&all.probabilities[range.clone()]);
            answers.scores.extend(all.scores.get(range).unwrap_or_default());
            answers.values.extend(value);
            answers.final_scores.extend(score);
            continue;
        };
        let end = game.result(&after.state).map(|end| {
            let score = game.score(&after.state, Empties::Uncounted);
            [end.value(), score.0].map(f64::from)
        });
        answers.probabilities.push(1.0);
        answers.scores.extend(all.scores.first().map(|_| 0.0));
        answers.values.extend(value.map(|value| -end.map_or(*value, |[outcome, _]| outcome)));
        answers.final_scores.extend(score.map(|score| -end.map_or(*score, |[_, score]| score)));
    }
    Ok(answers)
}
