//! Where on the board policies err, and how far they answer images of a position alike, as text.

use super::columns::or_none;
use super::grid::Grid;
use super::number::{amount, thousands};
use crate::evaluate::{AccuracyReport, PolicyAccuracy, Square};

/// How far each policy's answers about images of a position are apart; nothing where only one of
/// them is asked about.
pub(super) fn images_text(report: &AccuracyReport) -> String {
    let row = |policy: &PolicyAccuracy| {
        let images = policy.images?;
        let mean = or_none(images.mean_distance(), amount);
        Some(vec![policy.policy.clone(), mean, amount(images.greatest)])
    };
    let rows: Vec<Vec<String>> = report.policies.iter().filter_map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let grid = Grid::of(&["policy", "mean", "most"], rows).to_text();
    format!(
        "\nImages of a position: how far the probabilities of its moves are from those in the first, 0 to 1\n\n{grid}"
    )
}

/// What each policy gives away by square, as two boards side by side.
pub(super) fn squares_text(report: &AccuracyReport) -> String {
    let has_scores = report.table.has_scores();
    let what = if has_scores { &report.words.units[..] } else { "results" };
    let lost = |square: &Square| {
        let figures = &square.figures;
        if has_scores { figures.score_lost } else { figures.result_lost }
    };
    let missed = |square: &Square| {
        let figures = &square.figures;
        if has_scores { figures.score_missed } else { figures.result_missed }
    };
    let mut text = String::new();
    for policy in &report.policies {
        let squares = &policy.held_out_details().squares;
        if squares.iter().all(|square| lost(square) == 0.0) {
            continue;
        }
        let share = 100.0 / policy.held_out().all.states.max(1) as f64;
        let part = policy.held_out_details.as_ref().map(|held_out| {
            format!(" ({}, {})", held_out.split, thousands(policy.held_out().all.states))
        });
        text += &format!(
            "\n{}{}: {what} lost in 100 positions, on the square played and where a best one was\n\n",
            policy.policy,
            part.unwrap_or_default()
        );
        let columns = squares.iter().take_while(|square| square.row == 0).count();
        let width = if columns > 6 { 5 } else { 7 };
        let letters = squares
            .iter()
            .take(columns)
            .map(|square| format!("{:>width$}", square.square.trim_end_matches(char::is_numeric)));
        let letters: String = letters.collect();
        text += &format!("  {letters}   {letters}\n");
        for (row, squares) in squares.chunks(columns).enumerate() {
            let line = |of: &dyn Fn(&Square) -> f64| -> String {
                squares.iter().map(|square| format!("{:>width$.1}", share * of(square))).collect()
            };
            text += &format!("{:>2}{}   {}\n", row + 1, line(&lost), line(&missed));
        }
    }
    text
}
