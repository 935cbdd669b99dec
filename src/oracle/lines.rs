//! Batches of positions as lines, each answered by a line of JSON.
//!
//! A line is a position in a notation, the same as a JSON string, or an object `{"position": …, "id": …}`
//! whose `id` is returned. `#` or `%` begins a remark in plain text. An error in a line is reported in its
//! answer and does not stop the others.

use crate::error::Error;
use crate::rules::forms::without_remark;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Brief, Oracle, SolvedTable};

/// Longest line that is read, in bytes.
pub const LONGEST_LINE: usize = 4096;

/// A line that is a JSON object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineRequest {
    position: String,
    id: Option<Json>,
}

/// Answer to a line of a batch.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LineAnswer {
    /// `id` of the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Json>,
    #[serde(flatten)]
    reply: LineReply,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum LineReply {
    Brief(Brief),
    Refused {
        /// Position of the line, as far as it could be read.
        position: Option<String>,
        /// Reason of the failure.
        error: String,
    },
}

/// Answers a line by a line of JSON, without the line break; `None` if the line is empty or a remark. `brief` answers a
/// position.
pub(super) fn answer_line(
    line: &str,
    brief: impl FnOnce(&str) -> Result<Brief, Error>,
) -> Option<String> {
    let answer = |LineRequest { position, id }: LineRequest| match brief(&position) {
        Ok(brief) => json(LineAnswer { id, reply: LineReply::Brief(brief) }),
        Err(error) => {
            let reply = LineReply::Refused { position: Some(position), error: error.line() };
            json(LineAnswer { id, reply })
        }
    };
    Some(read(line)?.map_or_else(|error| error, answer))
}

impl SolvedTable {
    /// Answers a line by a line of JSON, without the line break; `None` if the line is empty or a remark.
    pub fn answer_line(&self, line: &str) -> Option<String> {
        answer_line(line, |position| self.brief(self.states().parse(position)?))
    }
}

fn json(answer: LineAnswer) -> String {
    serde_json::to_string(&answer).expect("an answer is plain data")
}

/// Reads a line; `None` if it is empty or a remark. The error is the answer.
fn read(line: &str) -> Option<Result<LineRequest, String>> {
    let refused = |error| {
        Some(Err(json(LineAnswer {
            id: None,
            reply: LineReply::Refused { position: None, error },
        })))
    };
    if line.len() > LONGEST_LINE {
        return refused(format!("line longer than {LONGEST_LINE} bytes"));
    }
    let line = line.trim();
    let request = match line.as_bytes().first() {
        Some(b'{') => serde_json::from_str(line),
        Some(b'"') => serde_json::from_str(line).map(|position| LineRequest { position, id: None }),
        _ => match without_remark(line) {
            "" => return None,
            position => Ok(LineRequest { position: position.to_string(), id: None }),
        },
    };
    match request {
        Ok(request) => Some(Ok(request)),
        Err(error) => {
            refused(format!("invalid line: expected a position, plain or in JSON ({error})"))
        }
    }
}
