//! A review as one self-contained page, and as CSV.

use minijinja::{Environment, Value, context};
use serde::Serialize;

use super::boards::{BOARD_CSS, Boards};
use super::chart::{Axis, Chart, Scale, Series};
use super::html::{About, encoded, lines_filter};
use super::number::{counted, thousands};
use super::report_tables::typographic;
use super::review_text::{
    facts, figure_cells, figure_headings, figure_note, game_words, line_words, lost_words, mark,
    mistake_words, move_cells, unjudged,
};
use crate::judge::{GameReview, Review, ReviewedMove};
use yomikiri::error::Error;
use yomikiri::oracle::Verdict;

/// Most games whose moves are on a page.
const MOST_GAMES: usize = 50;

/// Renders a review as a self-contained page: figures of players, boards of the costliest mistakes, and the moves of up to 50 games
/// with their curves, which have gaps where nothing is proven. `about.server` is the address of the table in a server,
/// to which links lead.
pub fn review_html(review: &Review, file: &str, about: &About) -> String {
    let mut environment = Environment::new();
    environment.add_filter("lines", lines_filter);
    environment
        .add_template("review.html", include_str!("page/review.html"))
        .expect("the template is well-formed");
    let template = environment.get_template("review.html").expect("it was just added");
    let boards = Boards::new(&review.game, &review.board, review.words.sides);
    let heads = [["", "player"], ["", "games"], ["", "moves"], ["", "judged"]];
    let heads =
        heads.map(|head| head.map(str::to_string)).into_iter().chain(figure_headings(review));
    let heads: Vec<String> = heads.map(|head| head.join("\n").trim().to_string()).collect();
    let shown = review.games.len().min(MOST_GAMES);
    let left_out = (shown < review.games.len()).then(|| {
        format!(
            "The first {shown} of {} games; all are in the figures, and --csv writes all their moves.",
            thousands(review.games.len() as u64)
        )
    });
    let page = template.render(context! {
        style => include_str!("page/report.css").to_string() + BOARD_CSS,
        file,
        title => review.words.game,
        headline => headline(review),
        facts => facts(review, true),
        heads,
        players => Value::from_serialize(player_rows(review)),
        note => figure_note(review),
        squares => review.board.pieces.is_empty(),
        mistakes => Value::from_serialize(mistakes(review, &boards, about)),
        server => !about.server.is_empty(),
        left_out,
        games => review.games[..shown].iter().map(|game| view(review, game)).collect::<Vec<_>>(),
        pieces => boards.pieces(),
        about => context! { command => about.command, date => about.date, checksum => about.checksum },
        version => env!("CARGO_PKG_VERSION"),
    });
    page.unwrap_or_else(|error| panic!("the template fits the review: {error:#}"))
}

/// Returns the sentence that the page should be remembered by.
fn headline(review: &Review) -> String {
    let blunders: usize = review.games.iter().map(|game| game.turning_points.len()).sum();
    let judged = counted(review.judged as u64, "judged move");
    let changed = match blunders {
        0 => "no move".to_string(),
        1 => "one move".to_string(),
        count => format!("{} moves", thousands(count as u64)),
    };
    match &review.games[..] {
        [game] => {
            let player = |at: usize| review.player(game, at);
            format!(
                "{} against {}: {changed} of {judged} changed the result.",
                player(0),
                player(1)
            )
        }
        games => {
            let games = counted(games.len() as u64, "game");
            format!("{games}: {changed} of {judged} changed the result.")
        }
    }
}

#[derive(Serialize)]
struct PlayerRow {
    name: String,
    /// `false` for a phase of the player above.
    is_player: bool,
    cells: Vec<String>,
}

fn player_rows(review: &Review) -> Vec<PlayerRow> {
    let mut rows = Vec::new();
    for player in review.players.iter().filter(|player| player.judged > 0) {
        let counts = [player.games, player.moves, player.judged];
        let counts = counts.map(|count| thousands(count as u64)).into_iter();
        let cells = counts.chain(figure_cells(review, &player.sums));
        rows.push(PlayerRow {
            name: player.player.clone(),
            is_player: true,
            cells: cells.collect(),
        });
        for phase in player.phases.iter().filter(|_| player.phases.len() > 1) {
            let judged = thousands(phase.sums.all.positions);
            let cells = [String::new(), String::new(), judged].into_iter();
            let cells = cells.chain(figure_cells(review, &phase.sums)).collect();
            rows.push(PlayerRow { name: phase.phase.clone(), is_player: false, cells });
        }
    }
    rows
}

#[derive(Serialize)]
struct MistakeView {
    board: String,
    what: String,
    better: Option<String>,
    position: String,
    link: Option<String>,
}

fn mistakes(review: &Review, boards: &Boards, about: &About) -> Vec<MistakeView> {
    let view = |&place| {
        let (game, at) = review.mistake(place);
        let right = at.better.iter().map(|squares| (*squares, "right"));
        let marked: Vec<_> = right.chain([(at.squares, "wrong")]).collect();
        let label = format!("{}, {} to move", at.position, at.side);
        let has_server = !about.server.is_empty();
        MistakeView {
            board: boards.marked(&at.drawn, &label, &marked),
            what: mistake_words(review, game, at),
            better: line_words(at),
            link: has_server.then(|| format!("{}/{}", about.server, encoded(&at.position))),
            position: at.position.clone(),
        }
    };
    review.worst.iter().map(view).collect()
}

fn view(review: &Review, game: &GameReview) -> Value {
    let row = |at: &ReviewedMove| {
        let [ply, cells @ ..] = move_cells(review, at);
        let cells = cells.map(|cell| typographic(&cell));
        context! { ply, cells => cells.to_vec(), is_mistake => at.is_mistake() }
    };
    let judged = game.moves.iter().filter(|at| at.is_judged());
    let turns: Vec<String> = game.turning_points.iter().map(usize::to_string).collect();
    let plies = if turns.len() == 1 { "ply" } else { "plies" };
    context! {
        title => game_words(review, game),
        judged => unjudged(game),
        turns => (!turns.is_empty()).then(|| format!("{plies} {}", turns.join(", "))),
        about => format!("Value for {} before each move{}", review.words.sides[0], gaps(game)),
        chart => chart(review, game),
        rows => judged.map(row).collect::<Vec<_>>(),
    }
}

fn gaps(game: &GameReview) -> &'static str {
    if game.judged < game.moves.len() { "; nothing is drawn where it is not proven" } else { "" }
}

/// Draws the value for the first player ply by ply, a line for each run of proven ones; `None` without any.
fn chart(review: &Review, game: &GameReview) -> Option<String> {
    let values = game.moves.iter().map(ReviewedMove::value_for_first).chain([game.last_value]);
    let mut runs: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for (ply, value) in values.enumerate() {
        match value {
            Some(value) => {
                let last = runs.len() - 1;
                runs[last].push((ply as f64, f64::from(value)));
            }
            None => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    let most = f64::from(review.words.most.unwrap_or(1));
    let furthest = runs.iter().flatten().map(|(_, value)| value.abs()).fold(0.0, f64::max);
    let most = if review.words.most.is_some() { (furthest * 1.1).max(4.0).min(most) } else { most };
    let name = match review.words.most {
        Some(_) => review.words.units.clone(),
        None => "result".to_string(),
    };
    let chart = Chart {
        width: 760.0,
        height: 220.0,
        x: Axis { name: "ply".into(), from: 0.0, to: game.moves.len() as f64, scale: Scale::Whole },
        y: Axis { name, from: -most, to: most, scale: Scale::Whole },
        series: runs
            .iter()
            .map(|run| Series { points: run.clone(), ..Series::default() })
            .collect(),
    };
    let first = review.words.sides[0];
    let label = format!(
        "Value for {first} ply by ply, {} proven",
        counted(runs.iter().map(Vec::len).sum::<usize>() as u64, "position")
    );
    (!runs.is_empty()).then(|| chart.svg(&label))
}

/// A move as a row of CSV. Values are those of the player who makes it.
#[derive(Serialize)]
struct MoveRow<'a> {
    game: &'a str,
    player: &'a str,
    opponent: &'a str,
    ply: usize,
    side: &'a str,
    #[serde(rename = "move")]
    name: &'a str,
    position: &'a str,
    empty: Option<u32>,
    judged: bool,
    outcome_before: Option<i8>,
    outcome_after: Option<i8>,
    score_before: Option<i8>,
    score_after: Option<i8>,
    result_lost: Option<u8>,
    score_lost: Option<i32>,
    plies_lost: Option<u16>,
    mark: &'a str,
    lost: String,
    best: String,
}

/// Returns a line of CSV for each move of each game, below a line of names.
pub fn review_rows(review: &Review) -> Result<String, Error> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let scored = review.empties.is_some();
    let outcome = |verdict: &Option<Verdict>| verdict.as_ref().and_then(|of| of.outcome);
    let score = |verdict: &Option<Verdict>| {
        let value = verdict.as_ref().filter(|_| scored)?.value;
        value.score().map(|score| score.0)
    };
    for game in &review.games {
        for at in &game.moves {
            let row = MoveRow {
                game: &game.place,
                player: review.player(game, at.side_index),
                opponent: review.player(game, 1 - at.side_index),
                ply: at.ply,
                side: at.side,
                name: &at.name,
                position: &at.position,
                empty: at.empty,
                judged: at.is_judged(),
                outcome_before: outcome(&at.before),
                outcome_after: outcome(&at.after),
                score_before: score(&at.before),
                score_after: score(&at.after),
                result_lost: at.result_lost,
                score_lost: at.score_lost,
                plies_lost: at.plies_lost,
                mark: mark(at),
                lost: lost_words(review, at).unwrap_or_default(),
                best: at.best.join(" "),
            };
            csv.serialize(row).map_err(|error| Error::from(error.to_string()))?;
        }
    }
    let bytes = csv.into_inner().map_err(|error| Error::from(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| Error::from(error.to_string()))
}
