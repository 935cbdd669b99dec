//! Reviews of games that a client sends as text, in any form that `solver review` reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;

use super::Desk;
use super::api::{Answered, position_of, read};
use super::batch::{MOST_LINES, whole};
use super::pool::{Kind, WhenDropped};
use super::reply::{Refusal, json};
use super::tables::{LONGEST_SEARCH, Opened};
use yomikiri::error::Error;
use yomikiri::progress::Silent;
use yomikiri::rules::WIN_PLIES;
use yomikiri::rules::forms::Form;
use yomikiri_measure::judge::{Review, ReviewOptions};
use yomikiri_measure::records::Records;

/// Maximum number of games of a request.
const MOST_GAMES: usize = 1_000;
/// Maximum length of the text in bytes.
const MOST_BYTES: usize = 2 << 20;
/// Number of costliest mistakes.
const WORST: usize = 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfReview {
    /// Position in which games begin that do not say; by default the first root.
    position: Option<String>,
    /// Form of the text; by default it is recognised.
    form: Option<String>,
    /// Longest search for values that the table does not prove, for all games together; by default none.
    #[serde(default)]
    seconds: u64,
}

pub(super) async fn review(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
    query: Result<Query<OfReview>, QueryRejection>,
    body: Body,
) -> Answered {
    let asked = read(query)?;
    let seconds = asked.seconds.min(LONGEST_SEARCH);
    let (bytes, held) = whole(body, &desk.budget).await?;
    // Every line may be a game, which takes memory before games are counted.
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
    if bytes.len() > MOST_BYTES || lines > MOST_LINES {
        let what = format!("more than {} MiB or {MOST_LINES} lines of games", MOST_BYTES >> 20);
        let refusal = Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, what);
        return Err(refusal.with("'solver review' takes any number"));
    }
    // A search without time is stopped before it begins.
    let flag = Arc::new(AtomicBool::new(seconds == 0));
    let stop = flag.clone();
    let _client = WhenDropped(move || stop.store(true, Ordering::Relaxed));
    let kind = if seconds == 0 { Kind::Batch } else { Kind::Long };
    let work = move |_: &Desk, opened: &Opened| {
        let _held = held;
        let review = reviewed(opened, &bytes, &asked, &flag)?;
        Ok(json(StatusCode::OK, &review))
    };
    desk.on_table(kind, name, work).await
}

fn form_of(name: &str) -> Result<Form, Refusal> {
    Form::of_name(name).ok_or_else(|| {
        let names: Vec<&str> = Form::ALL.iter().map(|form| form.name()).collect();
        Refusal::malformed(format!("invalid form {name:?}"))
            .with(format!("expected one of {}", names.join(", ")))
    })
}

fn reviewed(
    opened: &Opened,
    bytes: &[u8],
    asked: &OfReview,
    stop: &AtomicBool,
) -> Result<Review, Refusal> {
    let (game, table) = (opened.game(), opened.table());
    let hint = "send a game in a form that 'solver review' reads";
    let refused = |error: Error| Refusal::malformed(error).with(hint);
    let start = position_of(opened, asked.position.as_deref())?;
    let form = asked.form.as_deref().map(form_of).transpose()?;
    let records = Records::read(bytes, game, &start, form, &Silent).map_err(refused)?;
    if let Some((place, error)) = records.errors.into_iter().next() {
        return Err(refused(error.map(|what| format!("{place}: {what}"))));
    }
    let count = records.games.len();
    if !(1..=MOST_GAMES).contains(&count) {
        let what = format!("{count} games, expected 1 to {MOST_GAMES}");
        return Err(Refusal::malformed(what).with("'solver review' takes any number"));
    }
    // Searched values are kept in files, which the server must not leave behind.
    let labels = tempfile::tempdir().map_err(|error| {
        let what = format!("cannot make a temporary directory: {error}");
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, what)
    })?;
    let options = ReviewOptions {
        labels: labels.path(),
        time: Some(Duration::from_secs(asked.seconds.min(LONGEST_SEARCH)) / count as u32),
        win_plies: WIN_PLIES,
        worst: WORST,
        lines: false,
        stop,
    };
    Review::of(&records.games, game, table, &options, &Silent)
        .map_err(|error| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error))
}
