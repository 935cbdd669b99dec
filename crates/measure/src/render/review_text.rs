//! Reviews of games as text of 80 columns.

use super::columns::{cell, heading};
use super::grid::Grid;
use super::number::{counted, thousands};
use super::report_tables::wrapped;
use super::sanitise::{RED, styled, width};
use super::verdict::{outcome_cell, score_cell};
use crate::judge::{
    FIGURES, Figure, Figures, FiguresBySet, GameReview, PlayerFigures, Review, ReviewedMove, Scope,
};
use yomikiri::oracle::Verdict;

/// Columns of the text.
const MOST_COLUMNS: usize = 80;

fn columns() -> usize {
    width().min(MOST_COLUMNS)
}

fn paragraph(text: &str) -> String {
    wrapped(text, columns())
}

/// Parts of a review's text.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReviewParts {
    /// Moves of every game, not of a single one alone.
    pub all_moves: bool,
    /// Players alone.
    pub players_only: bool,
}

/// Lays out a review: what was judged, moves, mistakes, and the figures of players.
pub fn review_text(review: &Review, parts: ReviewParts) -> String {
    let is_told_below = review.games.len() == 1 && !parts.players_only;
    let mut text = paragraph(&facts(review, !is_told_below));
    if !parts.players_only {
        for game in &review.games {
            if review.games.len() == 1 || parts.all_moves {
                text += &game_text(review, game);
            }
        }
        text += &mistakes_text(review);
    }
    text + &players_text(review)
}

/// Returns what was judged, in words, with the numbers of moves if `with_moves`.
pub(super) fn facts(review: &Review, with_moves: bool) -> String {
    let games = counted(review.games.len() as u64, "game");
    let empties = match review.empties {
        Some("to-winner") => ", empty squares to the winner",
        Some(_) => ", empty squares not counted",
        None => "",
    };
    let (judged, moves) = (thousands(review.judged as u64), thousands(review.moves as u64));
    let left_out = match review.judged < review.moves {
        true => ", the others are not proven and left out",
        false => "",
    };
    let judged = match with_moves {
        true => format!(", {judged} of {moves} moves judged{left_out}"),
        false => String::new(),
    };
    format!("{}: {games}{judged}. Values: {}{empties}.", review.game, review.values)
}

/// Returns who played, the place and the result of a game.
pub(super) fn game_words(review: &Review, game: &GameReview) -> String {
    let side = |at: usize| match &game.players[at] {
        Some(name) => format!("{name} ({})", review.words.sides[at]),
        None => review.words.sides[at].to_string(),
    };
    let recorded = game.recorded.as_ref().map_or(String::new(), |of| {
        let whose = match of.starts_with(['+', '-']) {
            true => format!(" for {}", review.words.sides[0]),
            false => String::new(),
        };
        format!(", recorded {of}{whose}")
    });
    format!("{}: {} against {}{recorded}", game.place, side(0), side(1))
}

/// Returns a value of the mover in a cell: a score, or a result with its plies; a dash without one.
fn value_cell(value: Option<&Verdict>, scored: bool) -> String {
    let Some(verdict) = value else { return "-".to_string() };
    match scored {
        true if verdict.value.score().is_some_and(|score| score.0 == 0) => "0".to_string(),
        true => score_cell(verdict.value),
        false => {
            let outcome = outcome_cell(verdict.value);
            let plies = verdict.distance.map_or(String::new(), |plies| format!(" {plies}"));
            outcome.to_string() + &plies
        }
    }
}

/// Returns what a move loses, in words: `win → loss, 6 discs`; `None` if nothing.
pub(super) fn lost_words(review: &Review, at: &ReviewedMove) -> Option<String> {
    let outcomes = at.before.as_ref().zip(at.after.as_ref());
    let result = match (at.result_lost, outcomes) {
        (Some(1..), Some((before, after))) => {
            Some(format!("{} → {}", before.result?, after.result?))
        }
        _ => None,
    };
    let score = at.score_lost.filter(|lost| *lost > 0);
    let score = score.map(|lost| counted(u64::from(lost.unsigned_abs()), review.words.unit));
    let plies = at.plies_lost.filter(|plies| *plies > 0);
    let plies = plies.map(|plies| counted(u64::from(plies), "ply"));
    let parts: Vec<String> = [result, score, plies].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns `??` for a move that loses some of the result, `?!` for one that loses some of the score.
pub(super) fn mark(at: &ReviewedMove) -> &'static str {
    match (at.result_lost, at.is_mistake()) {
        (Some(1..), _) => "??",
        (_, true) => "?!",
        _ => "",
    }
}

/// Returns the cells of a move: ply, side, move, value before and after it, what it loses, and what was better.
pub(super) fn move_cells(review: &Review, at: &ReviewedMove) -> [String; 7] {
    let scored = review.empties.is_some();
    let lost = lost_words(review, at).unwrap_or_default();
    let better = match lost.is_empty() {
        true => String::new(),
        false => at.best.iter().take(4).cloned().collect::<Vec<_>>().join(" "),
    };
    [
        at.ply.to_string(),
        at.side.to_string(),
        format!("{}{}", at.name, mark(at)),
        value_cell(at.before.as_ref(), scored),
        value_cell(at.after.as_ref(), scored),
        lost,
        better,
    ]
}

fn game_text(review: &Review, game: &GameReview) -> String {
    let mut text = format!("\n{}", paragraph(&game_words(review, game)));
    let judged: Vec<&ReviewedMove> = game.moves.iter().filter(|at| at.is_judged()).collect();
    text += &paragraph(&unjudged(game));
    if judged.is_empty() {
        return text;
    }
    let rows = judged.iter().map(|at| move_cells(review, at).to_vec());
    let headings = ["ply", "side", "move", "before", "after", "lost", "better"];
    let grid = Grid::of(&headings, rows).to_text();
    let styles = judged.iter().map(|at| at.is_mistake().then_some(RED));
    let lines = grid.lines().zip([None].into_iter().chain(styles));
    let line = |(line, style): (&str, Option<&str>)| {
        style.map_or(line.to_string(), |style| styled(line, style)) + "\n"
    };
    text += "Values of the player who moves:\n\n";
    text.extend(lines.map(line));
    text
}

/// Returns which moves of a game are judged.
pub(super) fn unjudged(game: &GameReview) -> String {
    let first = game.moves.iter().find(|at| at.is_judged());
    let is_whole = game.judged == game.moves.len();
    match first {
        None if game.moves.is_empty() => "no moves".to_string(),
        None => {
            let last = game.moves.last().and_then(|at| at.empty);
            let empty = last.map_or(String::new(), |empty| {
                format!("; the game stops with {} empty squares", empty.saturating_sub(1))
            });
            format!("no move is judged: nothing is proven of these positions{empty}")
        }
        Some(_) if is_whole => "every move is judged".to_string(),
        Some(first) => {
            let since = game.moves.len() - first.ply + 1;
            let others = if game.judged < since { ", not all behind it" } else { "" };
            format!(
                "{} of {} moves judged, from ply {} on{others}; the others are not proven and left out",
                game.judged,
                game.moves.len(),
                first.ply
            )
        }
    }
}

fn mistakes_text(review: &Review) -> String {
    if review.worst.is_empty() {
        let is_flawless = review.judged > 0 && !review.games.iter().any(GameReview::has_mistakes);
        return match is_flawless {
            true => "\nNo judged move loses anything.\n".to_string(),
            false => String::new(),
        };
    }
    let mut text = "\nCostliest mistakes\n".to_string();
    for &place in &review.worst {
        let (game, at) = review.mistake(place);
        text += &format!("\n{}", paragraph(&mistake_words(review, game, at)));
        if let Some(line) = line_words(at) {
            text += &paragraph(&line);
        }
    }
    let turns: Vec<String> = match &review.games[..] {
        [game] => game.turning_points.iter().map(usize::to_string).collect(),
        _ => Vec::new(),
    };
    if !turns.is_empty() {
        let plies = if turns.len() == 1 { "ply" } else { "plies" };
        text += &format!("\nThe result changed hands at {plies} {}.\n", turns.join(", "));
    }
    text
}

/// Returns a mistake in a sentence.
pub(super) fn mistake_words(review: &Review, game: &GameReview, at: &ReviewedMove) -> String {
    let place = match review.games.len() {
        1 => String::new(),
        _ => format!("{}, ", game.place),
    };
    let lost = lost_words(review, at).unwrap_or_default();
    let player = review.player(game, at.side_index);
    format!("{place}ply {}, {player} played {}: {lost}", at.ply, at.name)
}

/// Returns the best moves and best play behind the first; `None` if they are not proven.
pub(super) fn line_words(at: &ReviewedMove) -> Option<String> {
    let [first, others @ ..] = &at.best[..] else { return None };
    let also = match others.len() {
        0 => String::new(),
        1..=3 => format!(" (also {})", others.join(", ")),
        more => format!(" (also {more} others)"),
    };
    let line = match &at.better_line[..] {
        [_, line @ ..] if !line.is_empty() => format!(", then {}", line.join(" ")),
        _ => String::new(),
    };
    Some(format!("better {first}{also}{line}"))
}

/// Figures of a player that tables show, each with the set that it is computed on.
pub(super) fn player_figures(review: &Review) -> Vec<(&'static Figure, bool)> {
    let scored = review.empties.is_some();
    let shown = [
        ("positions", true),
        ("result_kept", true),
        ("score_kept", false),
        ("plies_kept", false),
        ("score_lost", false),
        ("blunders", false),
    ];
    let applies = |figure: &Figure| match figure.scope {
        Scope::Always => true,
        Scope::WithScores => scored,
        Scope::WithoutScores => !scored,
    };
    let has_plies = review.players.iter().any(|player| player.sums.all.timed > 0);
    let figure = |(name, decisive)| {
        let figure = FIGURES.iter().find(|figure| figure.name == name)?;
        let is_empty = name == "plies_kept" && !has_plies;
        (applies(figure) && !is_empty).then_some((figure, decisive))
    };
    shown.into_iter().filter_map(figure).collect()
}

/// Returns the cells of a player's figures.
pub(super) fn figure_cells(review: &Review, sums: &FiguresBySet) -> Vec<String> {
    let of =
        |decisive: bool| -> &Figures { if decisive { &sums.decisive_result } else { &sums.all } };
    let figures = player_figures(review).into_iter();
    figures.map(|(figure, decisive)| cell(figure, figure.compute(of(decisive)))).collect()
}

/// Returns the headings of a player's figures.
pub(super) fn figure_headings(review: &Review) -> Vec<[String; 2]> {
    let heading = |(figure, decisive): (&Figure, bool)| match (figure.name, decisive) {
        ("positions", _) => ["", "decisive"].map(str::to_string),
        _ => heading(figure, &review.words),
    };
    player_figures(review).into_iter().map(heading).collect()
}

/// Explains the columns of a player's figures.
pub(super) fn figure_note(review: &Review) -> String {
    let others: Vec<String> = player_figures(review)
        .into_iter()
        .filter(|(_, decisive)| !decisive)
        .map(|(figure, _)| heading(figure, &review.words).join(" ").trim().to_string())
        .collect();
    format!(
        "judged: moves whose values are proven. decisive: those in positions whose moves differ in the result; result kept: share of these that keep it. {}: of all judged moves in positions whose moves are all proven.",
        others.join(", ")
    )
}

fn players_text(review: &Review) -> String {
    if review.judged == 0 {
        return String::new();
    }
    let headings = figure_headings(review);
    let first = [("", "player"), ("", "games"), ("", "judged")];
    let mut grid = Grid::of_figures(&first, &headings);
    let shortened = |name: &str| match name.chars().count() > columns() / 4 {
        true => name.chars().take(columns() / 4 - 1).chain(['…']).collect(),
        false => name.to_string(),
    };
    for player in &review.players {
        let PlayerFigures { games, judged, .. } = player;
        let counts = [games, judged].map(|count| thousands(*count as u64));
        let cells = figure_cells(review, &player.sums);
        grid.push([shortened(&player.player)].into_iter().chain(counts).chain(cells).collect());
        for phase in player.phases.iter().filter(|_| player.phases.len() > 1) {
            let count = thousands(phase.sums.all.positions);
            let cells = figure_cells(review, &phase.sums);
            let before = [format!("  {}", phase.phase), String::new(), count];
            grid.push(before.into_iter().chain(cells).collect());
        }
    }
    format!("\n{}\n{}", grid.to_text(), paragraph(&figure_note(review)))
}
