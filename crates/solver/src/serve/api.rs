//! Handlers of the API's addresses; `docs/openapi.json` describes their answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::Desk;
use super::players::{Asked, Difference, MOST_MISTAKES, differences_of, refusal};
use super::pool::{Kind, WhenDropped};
use super::reply::{Refusal, json};
use super::tables::Opened;
use yomikiri::error::Error;
use yomikiri::oracle::{Answer, LONGEST_LINE, LayerValues, MoveAnswer, Oracle, SearchOracle};
use yomikiri::rules::forms::Form;
use yomikiri::rules::{
    AnyPosition, BoardLayout, Empties, Outcome, PlayedGame, Rules, Side, write_game_file,
    written_forms,
};
use yomikiri::table::RootValue;
use yomikiri_measure::judge::{Choice, Mistake};
use yomikiri_measure::render::Boards;

/// Result of a handler.
pub(super) type Answered = Result<Response, Refusal>;

/// Returns the parameters of a query, or a refusal that names the invalid one.
pub(super) fn read<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, Refusal> {
    query.map(|Query(asked)| asked).map_err(|error| Refusal::malformed(error.body_text()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfPosition {
    position: Option<String>,
    /// Moves played from there, by which a repetition may have ended the game.
    moves: Option<String>,
    /// `true` to answer positions outside the table too, by search or from the rules: browsers log refusals
    /// as errors.
    #[serde(default)]
    anywhere: bool,
    /// Time limit of a search outside the table, in seconds; it also searches positions with more empty
    /// squares.
    seconds: Option<u64>,
    /// `true` to estimate what is not proven.
    #[serde(default)]
    estimate: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfGame {
    position: Option<String>,
    moves: Option<String>,
    form: String,
    /// Names of the players.
    #[serde(default)]
    first: String,
    #[serde(default)]
    second: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfPolicy {
    policy: String,
    position: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfMistakes {
    policy: String,
    count: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfDifferences {
    policy: String,
    other: String,
    count: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// Maximum length of the moves of a game in bytes.
const LONGEST_GAME: usize = 60_000;
/// Maximum number of rows of a table that is counted when it is listed.
const COUNTED_AT_ONCE: usize = 1 << 21;

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Listing {
    /// Tables that can be queried.
    tables: Vec<Line>,
    /// Tables that cannot be queried, with the reason.
    unavailable: Vec<Unavailable>,
    /// Games without a table of their name, which can be played and queried under it: by search and estimates.
    games: Vec<Named>,
}

/// A game without a table.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Named {
    /// Name of the game, in place of a table's.
    game: String,
    /// Display name of the game.
    title: String,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Unavailable {
    /// Name of the table.
    table: String,
    #[serde(flatten)]
    why: Refusal,
}

/// Properties of a table, or of a game without one, that a page needs to draw a board and offer queries.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Line {
    /// Name of the table, or of a game without one.
    table: String,
    /// Game and board, such as othello-4x4.
    game: String,
    /// Display name of the game.
    title: String,
    /// Rows of the table; null for a game without one.
    states: Option<u64>,
    /// True if it contains every reachable state.
    complete: bool,
    /// Limit in plies, if it is bounded.
    max_depth: Option<u32>,
    /// Limit in states, if it is bounded.
    max_states: Option<u64>,
    #[serde(flatten)]
    layout: BoardLayout,
    /// True if values include a score, else only outcomes and plies.
    has_scores: bool,
    /// Unit of scores: disc.
    score_unit: Option<&'static str>,
    /// Largest score.
    max_score: Option<i8>,
    /// True if every game ends.
    is_layered: bool,
    /// Convention for infinite play: `draw`, `second-player-wins` or `unknown`.
    repetition: &'static str,
    /// Forms in which /game writes games.
    forms: Vec<&'static str>,
    /// Names of the first and the second player.
    sides: [&'static str; 2],
    /// Root positions with their values. Without a table the start, if a solution that is part of the program has it and
    /// /about was asked.
    roots: Vec<Root>,
    /// Player to move at the first root.
    mover: Option<&'static str>,
    /// Picture of the first root, as SVG that refers to `drawings`; null for a game without a board of squares.
    picture: Option<String>,
    /// Drawings of the game's pieces, as SVG with a group for each: `GAME-X` for what a board calls `X`, and
    /// `GAME-X-kanji` where a piece has a Japanese name.
    drawings: String,
    /// Numbers of lost, drawn and won rows; null for a large table until /counts is requested.
    outcomes: Option<LayerValues>,
    /// Policies to choose from; others are possible, see docs/serve.md.
    policies: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Root {
    /// Position in one line.
    position: String,
    #[serde(flatten)]
    value: RootValue,
}

fn line(opened: &Opened, desk: &Desk) -> Line {
    let (game, oracle, table) = (opened.game(), opened.oracle(), opened.table());
    let boards = Boards::of(game);
    let manifest = table.map(|table| table.table().manifest());
    let identity = manifest.map(|manifest| &manifest.identity);
    let solution = manifest.and_then(|manifest| manifest.solution.as_ref());
    let values = solution.iter().flat_map(|solution| solution.roots.iter().cloned());
    if let Some(table) = table.filter(|table| table.states().rows() <= COUNTED_AT_ONCE) {
        opened.totals.get_or_init(|| table.totals());
    }
    let roots = table.and_then(|table| table.states().roots().ok());
    let first = roots.map_or(Some(game.start()), |roots| roots.first().copied());
    Line {
        table: opened.name.clone(),
        game: game.name(),
        title: game.title(),
        states: manifest.map(|manifest| manifest.counts.table.states),
        complete: manifest.is_some_and(|manifest| manifest.complete),
        max_depth: identity.and_then(|identity| identity.max_depth),
        max_states: identity.and_then(|identity| identity.max_states),
        layout: game.board_layout(),
        has_scores: oracle.has_scores(),
        score_unit: oracle.has_scores().then(|| game.score_unit()),
        max_score: game.max_score().filter(|_| oracle.has_scores()).map(|most| most.0),
        is_layered: game.is_layered(),
        repetition: oracle.repetition().name(),
        forms: written_forms(game).into_iter().map(Form::name).collect(),
        sides: Side::ALL.map(|side| game.side_name(side)),
        roots: identity
            .into_iter()
            .flat_map(|identity| &identity.roots)
            .zip(values)
            .map(|(position, value)| Root { position: position.clone(), value })
            .collect(),
        mover: first.map(|root| game.side_name(root.side)),
        picture: first
            .map(|root| {
                boards.picture(&game.drawn(&root), &format!("first position of {}", game.title()))
            })
            .filter(|picture| !picture.is_empty()),
        drawings: boards.pieces(),
        outcomes: opened.totals.get().map(|totals| totals.all.clone()),
        policies: desk.policies.names(game),
    }
}

pub(super) async fn tables(
    State(desk): State<Arc<Desk>>,
    query: Result<Query<Nothing>, QueryRejection>,
) -> Answered {
    let Nothing {} = read(query)?;
    let of = desk.clone();
    desk.workshop
        .run(Kind::Quick, move || {
            let games = of.tables.games();
            let named = |game: &Arc<dyn Rules>| Named { game: game.name(), title: game.title() };
            let games = games.iter().map(named).collect();
            let mut listing = Listing { tables: Vec::new(), unavailable: Vec::new(), games };
            for name in of.tables.names() {
                let line = of.tables.table(&name).and_then(|opened| {
                    let line = line(&opened, &of);
                    opened.check_read().map(|()| line)
                });
                match line {
                    Ok(line) => listing.tables.push(line),
                    Err(why) => listing.unavailable.push(Unavailable { table: name, why }),
                }
            }
            Ok(json(StatusCode::OK, &listing))
        })
        .await
}

/// Returns the value of a game's start by a solution that is part of the program, if there is one.
fn stored_root(game: &dyn Rules) -> Option<Root> {
    let search = SearchOracle::beside(game.shared(), Empties::default(), 1, Duration::ZERO)?;
    let start = game.start();
    let value = search.value_of(&start).filter(|_| search.was_stored())?;
    let value = RootValue {
        outcome: value.outcome().map(Outcome::value),
        score: value.score().map(|score| score.0),
        distance: value.distance(),
    };
    Some(Root { position: game.notation(&start), value })
}

pub(super) async fn about(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
    query: Result<Query<Nothing>, QueryRejection>,
) -> Answered {
    let Nothing {} = read(query)?;
    desk.on_table(Kind::Quick, name, |of, opened| {
        let mut line = line(opened, of);
        if opened.table().is_none() {
            line.roots.extend(stored_root(opened.game()));
        }
        Ok(json(StatusCode::OK, &line))
    })
    .await
}

/// Parses a position; the default is the first root, or without a table the start.
pub(super) fn position_of(opened: &Opened, text: Option<&str>) -> Result<AnyPosition, Refusal> {
    let text = text.unwrap_or_default();
    if text.len() > LONGEST_LINE {
        let what = format!("the position is longer than {LONGEST_LINE} bytes");
        return Err(Refusal::malformed(what));
    }
    let hint = "a position is a board in one line, moves from the start, or 'start'";
    let refused = |error: Error| Refusal::malformed(error).with(hint);
    let start = opened.game().start();
    let Some(table) = opened.table() else {
        let text = if text.trim().is_empty() { "start" } else { text };
        return opened.game().parse_position(text, &start).map_err(refused);
    };
    let first = table.states().roots().map_err(refused)?.first().copied();
    match first.filter(|_| text.trim().is_empty()) {
        Some(root) => Ok(root),
        None => table.states().parse(text).map_err(refused),
    }
}

/// Plays moves, separated by spaces.
fn played_of(game: &dyn Rules, start: AnyPosition, moves: &str) -> Result<PlayedGame, Refusal> {
    let mut played = PlayedGame::new(start);
    if moves.len() > LONGEST_GAME {
        return Err(Refusal::malformed(format!("the moves are longer than {LONGEST_GAME} bytes")));
    }
    if !moves.trim().is_empty() {
        let played = played.play_text(game, moves);
        played.map_err(Refusal::malformed)?;
    }
    Ok(played)
}

pub(super) async fn position(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
    query: Result<Query<OfPosition>, QueryRejection>,
) -> Answered {
    let asked = read(query)?;
    let found = desk.clone().on_table(Kind::Quick, name, move |_, opened| {
        let game = opened.game();
        let start = position_of(opened, asked.position.as_deref())?;
        let played = played_of(game, start, asked.moves.as_deref().unwrap_or_default())?;
        let oracle = opened.oracle();
        let (position, mut answer) = (*played.position(), oracle.answer_played(&played));
        if !asked.anywhere && answer.kind == "outside" {
            let why = Refusal::absent(oracle.not_there(&position).to_string());
            return Ok(Ok(json(why.status, &Outside { why, answer })));
        }
        let search = asked.anywhere.then(|| opened.search(&answer, &position, asked.seconds));
        Ok(match search.flatten() {
            Some(search) => Err((search, position)),
            None => {
                if asked.estimate {
                    answer.add_estimates(game, &position, oracle.empties());
                }
                Ok(json(StatusCode::OK, &answer))
            }
        })
    });
    match found.await? {
        Ok(response) => Ok(response),
        // Slower than a lookup, so limited to the number of processors at a time.
        Err((search, position)) => {
            // The handler is dropped when the client goes away, and the search then stops.
            let found = Arc::new(search);
            let search = found.clone();
            let _client = WhenDropped(move || search.stop());
            let work = move || {
                // The time limit starts when the work does.
                found.restart();
                let mut answer = found.answer_anywhere(position);
                if asked.estimate {
                    answer.add_estimates(Oracle::game(&*found), &position, found.empties());
                }
                Ok(json(StatusCode::OK, &answer))
            };
            desk.workshop.run(Kind::Batch, work).await
        }
    }
}

/// A game in a form of other programs.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct WrittenGame {
    /// Name of the form.
    form: &'static str,
    /// Text of a file.
    text: String,
}

pub(super) async fn game(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
    query: Result<Query<OfGame>, QueryRejection>,
) -> Answered {
    let asked = read(query)?;
    desk.on_table(Kind::Quick, name, move |_, opened| {
        let game = opened.game();
        let start = position_of(opened, asked.position.as_deref())?;
        let played = played_of(game, start, asked.moves.as_deref().unwrap_or_default())?;
        let form = Form::of_name(&asked.form).ok_or_else(|| {
            let names = written_forms(game).into_iter().map(Form::name);
            Refusal::malformed(format!("invalid form {:?}", asked.form))
                .with(format!("expected one of {}", names.collect::<Vec<_>>().join(", ")))
        })?;
        let players = [asked.first.as_str(), &asked.second];
        let text = write_game_file(game, &played, players, form);
        let text = text.map_err(Refusal::malformed)?;
        Ok(json(StatusCode::OK, &WrittenGame { form: form.name(), text }))
    })
    .await
}

/// A position that is not in the table, with an answer from the rules, so that it can be played on.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Outside {
    #[serde(flatten)]
    why: Refusal,
    /// Board and moves, with the values of moves that lead into the table.
    answer: Answer,
}

/// A policy's moves in a position, with the exact values.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Decision<'a> {
    /// Name of the table; `search` if a search found the exact values.
    table: String,
    /// Name of the policy.
    policy: &'a str,
    /// Position in one line.
    position: String,
    /// Player to move.
    mover: &'static str,
    /// Exact outcome for the mover.
    outcome: Option<i8>,
    /// Outcome that the policy expects for the mover; null if it does not estimate it.
    expected_outcome: Option<f64>,
    /// Final score that the policy expects for the mover; null if it does not estimate it.
    expected_score: Option<f64>,
    /// Likeliest move, the first of equals.
    #[serde(rename = "move")]
    likeliest: Option<String>,
    /// Moves, best first.
    moves: Vec<Decided>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Decided {
    #[serde(flatten)]
    exact: MoveAnswer,
    /// Probability with which the policy plays it.
    probability: f64,
    /// Score that the policy gives it, on a scale of its own.
    policy_score: Option<f64>,
}

fn asked_of(desk: &Desk, opened: &Opened, policy: &str) -> Result<Arc<Asked>, Refusal> {
    let made = || Asked::new(policy, &*desk.policies, opened.game());
    opened.players.get(|asked| asked.name == policy, made)
}

pub(super) async fn policy(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
    query: Result<Query<OfPolicy>, QueryRejection>,
) -> Answered {
    let asked = read(query)?;
    desk.on_table(Kind::Slow, name, move |of, opened| {
        let position = position_of(opened, asked.position.as_deref())?;
        let mut exact = opened.oracle().answer_anywhere(position);
        let search = opened.search(&exact, &position, None);
        let oracle = search.as_ref().map_or(opened.oracle(), |search| search as &dyn Oracle);
        if search.is_some() {
            exact = oracle.answer_anywhere(position);
        }
        let policy = asked_of(of, opened, &asked.policy)?;
        let choice =
            policy.player.choose(opened.game(), Some(oracle), &position).map_err(|error| {
                if error.kind() == yomikiri::error::Kind::Policy {
                    opened.players.forget(|asked| Arc::ptr_eq(asked, &policy));
                }
                refusal(&error, StatusCode::UNPROCESSABLE_ENTITY)
            })?;
        Ok(json(StatusCode::OK, &decision(opened, &policy.name, exact, &choice)))
    })
    .await
}

fn decision<'a>(
    opened: &'a Opened,
    policy: &'a str,
    exact: Answer,
    choice: &Choice,
) -> Decision<'a> {
    let place: BTreeMap<u16, usize> =
        choice.actions.iter().enumerate().map(|(at, action)| (action.0, at)).collect();
    let decided = |exact: MoveAnswer| {
        let at = place.get(&exact.action).copied();
        Decided {
            probability: at.map_or(0.0, |at| choice.probabilities[at]),
            policy_score: at.and_then(|at| Some(choice.scores.as_ref()?[at])),
            exact,
        }
    };
    Decision {
        table: exact.table,
        policy,
        position: exact.position,
        mover: exact.mover,
        outcome: exact.value.outcome,
        expected_outcome: choice.value,
        expected_score: choice.final_score,
        likeliest: choice.likeliest().map(|action| opened.game().action_name(exact.side, action)),
        moves: exact.moves.into_iter().map(decided).collect(),
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Worst<'a> {
    /// Name of the table.
    table: &'a str,
    /// Name of the policy.
    policy: &'a str,
    /// Number of judged positions.
    judged: u64,
    /// Mistakes, worst first, one of mirror images.
    mistakes: &'a [Mistake],
}

pub(super) async fn mistakes(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
    query: Result<Query<OfMistakes>, QueryRejection>,
) -> Answered {
    let asked = read(query)?;
    desk.on_table(Kind::Long, name, move |of, opened| {
        let policy = asked_of(of, opened, &asked.policy)?;
        let found = policy.mistakes(opened.solved()?).inspect_err(|refused| {
            if refused.status == StatusCode::BAD_GATEWAY {
                opened.players.forget(|asked| Arc::ptr_eq(asked, &policy));
            }
        })?;
        let count = asked.count.unwrap_or(20).min(MOST_MISTAKES);
        let shown = count.min(found.costliest.len());
        Ok(json(
            StatusCode::OK,
            &Worst {
                table: &opened.name,
                policy: &policy.name,
                judged: found.judged,
                mistakes: &found.costliest[..shown],
            },
        ))
    })
    .await
}

/// Positions in which the likeliest moves of two policies differ.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Differing<'a> {
    /// Name of the table.
    table: &'a str,
    /// Names of the two policies.
    policies: [&'a str; 2],
    /// Number of judged positions.
    judged: u64,
    /// Number of positions in which their likeliest moves differ.
    differing: u64,
    /// Mistakes of either policy there, worst first.
    differences: &'a [Difference],
}

pub(super) async fn differences(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
    query: Result<Query<OfDifferences>, QueryRejection>,
) -> Answered {
    let asked = read(query)?;
    desk.on_table(Kind::Long, name, move |of, opened| {
        let policies = [asked_of(of, opened, &asked.policy)?, asked_of(of, opened, &asked.other)?];
        let found = differences_of(&policies, opened.solved()?).inspect_err(|refused| {
            if refused.status == StatusCode::BAD_GATEWAY {
                for policy in &policies {
                    opened.players.forget(|asked| Arc::ptr_eq(asked, policy));
                }
            }
        })?;
        let count = asked.count.unwrap_or(20).min(MOST_MISTAKES).min(found.costliest.len());
        let differing = Differing {
            table: &opened.name,
            policies: [&policies[0].name, &policies[1].name],
            judged: found.judged,
            differing: found.differing,
            differences: &found.costliest[..count],
        };
        Ok(json(StatusCode::OK, &differing))
    })
    .await
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Counts<'a> {
    /// Name of the table.
    table: &'a str,
    /// Totals of all judged positions.
    all: &'a LayerValues,
    /// Totals of each layer; empty if rows have no layers.
    layers: Vec<Layer<'a>>,
    /// Number of rows by score, or by outcome in games without scores.
    histogram: &'a BTreeMap<i8, u64>,
    /// Greatest exactly known number of plies to the end.
    longest: Option<u16>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Layer<'a> {
    /// Number of the layer.
    layer: u32,
    #[serde(flatten)]
    values: &'a LayerValues,
}

pub(super) async fn counts(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
    query: Result<Query<Nothing>, QueryRejection>,
) -> Answered {
    let Nothing {} = read(query)?;
    desk.on_table(Kind::Long, name, move |_, opened| {
        let table = opened.solved()?;
        let totals = opened.totals.get_or_init(|| table.totals());
        let layer = |(&layer, values)| Layer { layer, values };
        Ok(json(
            StatusCode::OK,
            &Counts {
                table: &opened.name,
                all: &totals.all,
                layers: totals.layers.iter().map(layer).collect(),
                histogram: &totals.histogram,
                longest: totals.longest.map(|(plies, _)| plies),
            },
        ))
    })
    .await
}

/// Returns the components of `docs/openapi.json`, for tests.
#[cfg(feature = "schemas")]
pub(crate) fn components() -> serde_json::Value {
    let mut settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    generator.subschema_for::<Answer>();
    generator.subschema_for::<yomikiri::oracle::LineAnswer>();
    generator.subschema_for::<Outside>();
    generator.subschema_for::<Listing>();
    generator.subschema_for::<WrittenGame>();
    generator.subschema_for::<yomikiri_measure::judge::Review>();
    generator.subschema_for::<Counts<'_>>();
    generator.subschema_for::<Decision<'_>>();
    generator.subschema_for::<Worst<'_>>();
    generator.subschema_for::<Differing<'_>>();
    generator.subschema_for::<Refusal>();
    generator.take_definitions(true).into()
}

/// Answers requests to unknown addresses.
pub(super) async fn nowhere() -> Response {
    Refusal::absent("there is nothing at this address")
        .with("see /api/v1/openapi.json")
        .into_response()
}

/// Answers requests with a method that the address does not support.
pub(super) async fn not_so() -> Response {
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "this address does not take this method")
        .with("see /api/v1/openapi.json")
        .into_response()
}
