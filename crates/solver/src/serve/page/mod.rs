//! The web page: files embedded in the program.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::reply::{Refusal, typed};
use yomikiri_measure::render::BOARD_CSS;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Files with their types; the first is the page itself.
const FILES: [(&str, &str, &[u8]); 18] = [
    ("index.html", HTML, include_bytes!("index.html")),
    ("style.css", CSS, include_bytes!("style.css")),
    ("api.js", SCRIPT, include_bytes!("api.js")),
    ("board.css", CSS, BOARD_CSS.as_bytes()),
    ("board.js", SCRIPT, include_bytes!("board.js")),
    ("card.js", SCRIPT, include_bytes!("card.js")),
    ("compare.js", SCRIPT, include_bytes!("compare.js")),
    ("dom.js", SCRIPT, include_bytes!("dom.js")),
    ("explore.js", SCRIPT, include_bytes!("explore.js")),
    ("game.js", SCRIPT, include_bytes!("game.js")),
    ("main.js", SCRIPT, include_bytes!("main.js")),
    ("openings.js", SCRIPT, include_bytes!("openings.js")),
    ("opponents.js", SCRIPT, include_bytes!("opponents.js")),
    ("pieces.js", SCRIPT, include_bytes!("pieces.js")),
    ("review.js", SCRIPT, include_bytes!("review.js")),
    ("setup.js", SCRIPT, include_bytes!("setup.js")),
    ("start.js", SCRIPT, include_bytes!("start.js")),
    ("values.js", SCRIPT, include_bytes!("values.js")),
];

/// Content security policy: only our own resources may be loaded.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns a file, or 304 if the browser has it.
pub(super) fn file(name: &str, headers: &HeaderMap) -> Response {
    let found = FILES.iter().find(|(known, ..)| *known == name);
    let Some(&(_, kind, bytes)) = found else {
        return Refusal::absent(format!("no file '{name}'")).into_response();
    };
    let tag = format!("\"{:08x}\"", crc32fast::hash(bytes));
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let is_known = known.is_some_and(|tags| tags.split(',').any(|one| one.trim() == tag));
    let mut response = match is_known {
        true => typed(StatusCode::NOT_MODIFIED, kind, Body::empty()),
        false => typed(StatusCode::OK, kind, Body::from(bytes)),
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    let policy = HeaderValue::from_static(POLICY);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}
