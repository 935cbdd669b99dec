//! Responses: JSON and refusals.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use yomikiri::error::{Error, shortened};

/// Refusal of a request: `{"error": …, "hint": …}`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Refusal {
    #[serde(skip)]
    pub status: StatusCode,
    /// Description of the error.
    pub error: String,
    /// Suggested remedy.
    pub hint: Option<String>,
}

impl Refusal {
    /// Returns a refusal with an error and its hint, if it has one.
    pub(super) fn new(status: StatusCode, error: impl Into<Error>) -> Refusal {
        let error = error.into();
        let hint = error.hint().map(str::to_string);
        Refusal { status, error: shortened(&error.to_string(), 300), hint }
    }

    /// Adds a hint, unless the error has one.
    pub(super) fn with(self, hint: impl Into<String>) -> Refusal {
        Refusal { hint: self.hint.or(Some(hint.into())), ..self }
    }

    pub(super) fn malformed(error: impl Into<Error>) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, error)
    }

    pub(super) fn absent(error: impl Into<Error>) -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, error)
    }

    pub(super) fn busy() -> Refusal {
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is busy").with("try again later")
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        json(self.status, &self)
    }
}

/// Returns data as JSON.
pub(super) fn json(status: StatusCode, data: &impl Serialize) -> Response {
    let (status, body) = match serde_json::to_vec(data) {
        Ok(body) => (status, body),
        Err(error) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            format!(r#"{{"error":"{error}","hint":null}}"#).into(),
        ),
    };
    typed(status, "application/json", Body::from(body))
}

/// Returns a body with a content type.
pub(super) fn typed(status: StatusCode, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
