//! Batches of positions as lines, each answered by a line of JSON.
//!
//! A line is a position in a notation, the same as a JSON string, or an object `{"position": …, "id": …}`
//! whose `id` is returned. An error in a line is reported in its answer and does not stop the others.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Brief, Oracle, SolvedTable};
use crate::hint::Hint;

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

impl SolvedTable {
    /// Answers a line by a line of JSON, without the line break.
    pub fn answer_line(&self, line: &str) -> String {
        let refused = |position: Option<&str>, error: String| LineReply::Refused {
            position: position.map(str::to_string),
            error,
        };
        let (id, reply) = match read(line) {
            Err(error) => (None, refused(None, error)),
            Ok(LineRequest { position, id }) => {
                let reply = match self.states().parse(&position) {
                    Ok(found) => self.brief(found).map_err(|error| error.to_string()),
                    Err(error) => Err(error.line()),
                };
                (id, reply.map_or_else(|error| refused(Some(&position), error), LineReply::Brief))
            }
        };
        serde_json::to_string(&LineAnswer { id, reply }).expect("an answer is plain data")
    }
}

fn read(line: &str) -> Result<LineRequest, String> {
    if line.len() > LONGEST_LINE {
        return Err(format!("line longer than {LONGEST_LINE} bytes"));
    }
    let wrong = |error: serde_json::Error| {
        format!("invalid line: expected a position, plain or in JSON ({error})")
    };
    let line = line.trim();
    match line.as_bytes().first() {
        Some(b'{') => serde_json::from_str(line).map_err(wrong),
        Some(b'"') => {
            let position = serde_json::from_str(line).map_err(wrong)?;
            Ok(LineRequest { position, id: None })
        }
        _ => Ok(LineRequest { position: line.to_string(), id: None }),
    }
}
