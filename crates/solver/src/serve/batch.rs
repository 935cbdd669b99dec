//! Thousands of positions in one request: lines of JSON, or an array.
//!
//! Bodies and answers share one memory budget. A slow client holds no more of it than it has sent,
//! and all clients together no more than there is.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::Desk;
use super::api::Answered;
use super::pool::Kind;
use super::reply::{Refusal, typed};
use yomikiri::oracle::{ArrayRows, SolvedTable};

/// Maximum size of a body.
pub(super) const MOST_BYTES: usize = 16 << 20;
/// Maximum number of lines of a body.
pub(super) const MOST_LINES: usize = 100_000;
/// Maximum time for receiving a body.
const BODY_WITHIN: Duration = Duration::from_secs(10);
/// Memory budget of all bodies and answers in KiB.
const BUDGET: usize = 256 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfBatch {
    rows: Option<ArrayRows>,
}

/// Returns the memory budget of bodies and answers.
pub(super) fn budget() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(BUDGET))
}

fn too_large() -> Refusal {
    let what = format!("the body is longer than {} MiB", MOST_BYTES >> 20);
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, what).with("send it in parts")
}

/// Reserves memory. Fails if too little is left.
fn room(budget: &Arc<Semaphore>, bytes: usize) -> Result<OwnedSemaphorePermit, Refusal> {
    let units = bytes.div_ceil(1024) as u32;
    budget.clone().try_acquire_many_owned(units).map_err(|_| Refusal::busy())
}

/// Reads a complete body within a time limit; returns it with its reserved memory.
pub(super) async fn whole(
    body: Body,
    budget: &Arc<Semaphore>,
) -> Result<(Vec<u8>, OwnedSemaphorePermit), Refusal> {
    timeout(BODY_WITHIN, received(body, budget)).await.map_err(|_| {
        let what = format!("the body took longer than {} s", BODY_WITHIN.as_secs());
        Refusal::new(StatusCode::REQUEST_TIMEOUT, what).with("send it in parts")
    })?
}

async fn received(
    mut body: Body,
    budget: &Arc<Semaphore>,
) -> Result<(Vec<u8>, OwnedSemaphorePermit), Refusal> {
    if body.size_hint().lower() > MOST_BYTES as u64 {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let mut held = room(budget, 1)?;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::malformed("the body broke off"))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > MOST_BYTES {
            return Err(too_large());
        }
        held.merge(room(budget, data.len())?);
        bytes.extend_from_slice(&data);
    }
    Ok((bytes, held))
}

pub(super) async fn batch(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
    query: Result<Query<OfBatch>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    let Query(OfBatch { rows }) = query.map_err(|error| Refusal::malformed(error.body_text()))?;
    let (bytes, held) = whole(body, &desk.budget).await?;
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_array = kind.is_some_and(|kind| kind.contains("npy")) || bytes.starts_with(b"\x93NUMPY");
    let answer = desk.clone().on_table(Kind::Batch, name, move |_, opened| {
        // The body's memory is released when the request is answered.
        let _held = held;
        match is_array {
            true => opened.solved()?.answer_array(&bytes, rows).map_err(|error| {
                Refusal::malformed(error)
                    .with("give what numpy.save writes; see /api/v1/openapi.json")
            }),
            false => lines(opened.solved()?, &bytes),
        }
    });
    let answer = answer.await?;
    let answer = Held { _room: room(&desk.budget, answer.len())?, answer };
    let kind = if is_array { "application/x-npy" } else { "application/x-ndjson" };
    Ok(typed(StatusCode::OK, kind, Bytes::from_owner(answer).into()))
}

fn lines(table: &SolvedTable, bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Refusal::malformed(format!(
            "the body is no text: byte {} is not UTF-8",
            error.valid_up_to()
        ))
    })?;
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    if lines().take(MOST_LINES + 1).count() > MOST_LINES {
        let what = format!("the body has more than {MOST_LINES} lines");
        return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, what).with("send it in parts"));
    }
    let mut answer = Vec::new();
    for line in lines().filter_map(|line| table.answer_line(line)) {
        answer.extend_from_slice(line.as_bytes());
        answer.push(b'\n');
    }
    Ok(answer)
}

/// An answer that holds its memory until it is sent.
struct Held {
    answer: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.answer
    }
}
