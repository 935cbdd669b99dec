//! Positions, answers, mistakes and rankings as pieces of HTML without scripts, for notebooks.

use super::boards::Boards;
use super::chart::escaped;
use super::html::{About, boards, mistake_views};
use super::ranking::{columns, ranking};
use super::report_tables::{CellView, RowView, TableView};
use super::roles::Roles;
use super::verdict::{Mover, outcome_cell, plies_cell, score_cell, verdict};
use crate::judge::AccuracyReport;
use yomikiri::oracle::{Answer, Oracle};
use yomikiri::rules::{AnyPosition, Drawn, MoveSquares, Rules};

/// Draws a position, and marks moves as `right` or `wrong`; as text if the game has no board of squares.
fn drawn(boards: &Boards, diagram: &str, drawn: &Drawn, moves: &[(MoveSquares, &str)]) -> String {
    or_text(boards, boards.marked(drawn, diagram.trim_end(), moves), diagram)
}

fn or_text(boards: &Boards, svg: String, diagram: &str) -> String {
    if svg.is_empty() { format!("<pre>{}</pre>", escaped(diagram)) } else { boards.pieces() + &svg }
}

/// Draws a position and says who is to move.
pub fn position_html(game: &dyn Rules, position: &AnyPosition) -> String {
    let board = drawn(&Boards::of(game), &game.diagram(position), &game.drawn(position), &[]);
    let is_over = game.result(&position.state).is_some();
    let mover = match is_over {
        true => String::new(),
        false => format!("<div>{} to move</div>", escaped(game.side_name(position.side))),
    };
    board + &mover
}

/// Draws an answered position with its best moves, its value in words, and a table of its moves.
pub fn answer_html(oracle: &dyn Oracle, answer: &Answer) -> String {
    let (game, is_scored) = (oracle.game(), oracle.has_scores());
    let best = answer.moves.iter().filter(|one| one.best);
    let marked: Vec<_> = best.map(|one| (one.squares, "right")).collect();
    let in_check = answer.cycles.as_ref().is_some_and(|cycles| cycles.in_check);
    let unit = is_scored.then(|| game.score_unit());
    let words = verdict(Mover { side: answer.mover, in_check, unit }, answer.value.value);
    let row = |one: &yomikiri::oracle::MoveAnswer| {
        let value = one.value.value;
        let score = is_scored.then(|| score_cell(value));
        let cells = [outcome_cell(value).to_string()].into_iter().chain(score);
        let class = if one.best { "best" } else { "" };
        let cells = cells.chain([plies_cell(value)]);
        let cells = cells.map(|text| CellView { class, ..text.into() }).collect();
        RowView { name: one.name.clone(), cells, at: None }
    };
    let heads = ["result"].into_iter().chain(is_scored.then_some("score")).chain(["plies"]);
    let table = TableView {
        head: heads.map(String::from).collect(),
        rows: answer.moves.iter().map(row).collect(),
        ..TableView::default()
    };
    let table = if answer.moves.is_empty() { String::new() } else { table.to_html("move") };
    let board = drawn(&Boards::of(game), &answer.board.diagram, &answer.board.drawn, &marked);
    format!("{board}<p>{}</p>{table}", escaped(&words))
}

/// Draws the costliest mistakes of a policy, as the page of its report has them.
pub fn mistakes_html(report: &AccuracyReport, at: usize) -> Vec<String> {
    let boards = boards(report);
    let of = mistake_views(report, at, &About::default()).into_iter().map(|view| {
        let board = or_text(&boards, view.board, &view.diagram);
        let [what, details, note] =
            [&view.what, &view.details, &view.note].map(|text| escaped(text));
        let table = view.table.to_html("move");
        format!(
            "<div><h4>{what}</h4>{board}<p>{details}</p><p><small>{note}</small></p>{table}</div>"
        )
    });
    of.collect()
}

/// Returns the table in which the policies of a report are ranked.
pub fn ranking_html(report: &AccuracyReport) -> String {
    let roles = Roles::of(report, None);
    let mark = |at: usize| if report.policies[at].tied { " =" } else { "" };
    let name = |_, at: usize| format!("{}{}", roles.starred[at], mark(at));
    ranking(report, &columns(report), |at| !roles.is_between(at), name).to_html("policy")
}
