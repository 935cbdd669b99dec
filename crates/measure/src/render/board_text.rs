//! Losses of policies by square of the board, as text.

use super::number::thousands;
use crate::judge::{AccuracyReport, Square};

/// Lays out the mean loss of each policy by square as a board.
pub(super) fn squares_text(report: &AccuracyReport) -> String {
    let has_scores = report.table.has_scores();
    let what = if has_scores { &report.words.units[..] } else { "results" };
    let lost = |square: &Square| {
        let figures = &square.figures;
        if has_scores { figures.score_lost } else { figures.result_lost }
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
            "\n{}{}: {what} lost in 100 positions by the square played\n\n",
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
        text += &format!("  {letters}\n");
        for (row, squares) in squares.chunks(columns).enumerate() {
            let row_of = squares.iter().map(|square| format!("{:>width$.1}", share * lost(square)));
            text += &format!("{:>2}{}\n", row + 1, row_of.collect::<String>());
        }
    }
    text
}
