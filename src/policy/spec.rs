//! What a person writes for a policy: `greedy`, `weights:FILE`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::game::GameSpec;

/// Which policy is meant. The text form reads back as the same specification.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PolicySpec {
    /// [`Random`](super::Random).
    Random,
    /// [`Greedy`](super::Greedy).
    Greedy,
    /// [`Weights`](super::Weights) by the built-in rule for the board's shape.
    Weights,
    /// [`Weights`](super::Weights) from a file.
    WeightsFile(PathBuf),
    /// The best moves of a solved table.
    Perfect,
    /// [`Predictions`](super::Predictions) in a directory.
    Predictions(PathBuf),
    /// [`Exec`](super::Exec): a program.
    Exec {
        /// The command line.
        command: String,
        /// How long each of its answers may take; not part of the text form.
        limit: Duration,
    },
}

impl PolicySpec {
    /// What can be written, for help and messages.
    pub const KNOWN: &'static str =
        "random, greedy, weights, weights:FILE, perfect, predictions:DIR, exec:COMMAND";

    /// How long an answer of a program may take unless something else is asked for.
    pub const LIMIT: Duration = Duration::from_secs(60);

    /// The same policy, whose answers may take `limit` each if it is a program.
    pub fn within(self, limit: Duration) -> PolicySpec {
        match self {
            PolicySpec::Exec { command, .. } => PolicySpec::Exec { command, limit },
            other => other,
        }
    }

    /// What is measured on a game unless something else is asked for.
    pub fn defaults(game: GameSpec) -> Vec<PolicySpec> {
        let all =
            [PolicySpec::Random, PolicySpec::Greedy, PolicySpec::Weights, PolicySpec::Perfect];
        all.into_iter().filter(|spec| spec.check(game).is_ok()).collect()
    }

    /// That a game has what the policy goes by: squares are worth something in Othello only.
    pub fn check(&self, game: GameSpec) -> Result<(), PolicySpecError> {
        match (self, game) {
            (PolicySpec::Weights | PolicySpec::WeightsFile(_), GameSpec::Shogi(_)) => {
                Err(PolicySpecError::other_game(self, game))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for PolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicySpec::Random => f.write_str("random"),
            PolicySpec::Greedy => f.write_str("greedy"),
            PolicySpec::Weights => f.write_str("weights"),
            PolicySpec::WeightsFile(path) => write!(f, "weights:{}", path.display()),
            PolicySpec::Perfect => f.write_str("perfect"),
            PolicySpec::Predictions(dir) => write!(f, "predictions:{}", dir.display()),
            PolicySpec::Exec { command, .. } => write!(f, "exec:{command}"),
        }
    }
}

impl FromStr for PolicySpec {
    type Err = PolicySpecError;

    fn from_str(text: &str) -> Result<PolicySpec, PolicySpecError> {
        match text.split_once(':') {
            None => match text {
                "random" => Ok(PolicySpec::Random),
                "greedy" => Ok(PolicySpec::Greedy),
                "weights" => Ok(PolicySpec::Weights),
                "perfect" => Ok(PolicySpec::Perfect),
                _ => Err(PolicySpecError::unknown(text)),
            },
            Some(("weights", "")) => Err(PolicySpecError(format!(
                "policy '{text}' names no file; write weights:FILE, or weights for the built-in ones"
            ))),
            Some(("weights", path)) => Ok(PolicySpec::WeightsFile(PathBuf::from(path))),
            Some(("predictions", "")) => Err(PolicySpecError(format!(
                "policy '{text}' names no directory; write predictions:DIR"
            ))),
            Some(("predictions", dir)) => Ok(PolicySpec::Predictions(PathBuf::from(dir))),
            Some(("exec", command)) => match shlex::split(command) {
                Some(words) if !words.is_empty() => {
                    Ok(PolicySpec::Exec { command: command.to_string(), limit: PolicySpec::LIMIT })
                }
                Some(_) => Err(PolicySpecError(format!(
                    "policy '{text}' names no program; write exec:COMMAND"
                ))),
                None => Err(PolicySpecError(format!(
                    "policy '{text}' has a quote that is not closed, or ends in a backslash"
                ))),
            },
            Some(_) => Err(PolicySpecError::unknown(text)),
        }
    }
}

/// Text that names no policy, or none of a game's; one line that lists what is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PolicySpecError(String);

impl PolicySpecError {
    fn unknown(text: &str) -> PolicySpecError {
        let known = PolicySpec::KNOWN;
        PolicySpecError(format!("policy '{text}' is not known; known are {known}"))
    }

    /// A policy that goes by the squares of an Othello board, asked for in another game.
    pub(crate) fn other_game(spec: &PolicySpec, game: GameSpec) -> PolicySpecError {
        PolicySpecError(format!(
            "policy '{spec}' goes by the squares of an Othello board; for {game} there are random, greedy, perfect"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_read_back() {
        for text in [
            "random",
            "greedy",
            "weights",
            "weights:a:b.txt",
            "perfect",
            "predictions:a:b",
            "exec:python 'my policy.py' a:b",
        ] {
            assert_eq!(text.parse::<PolicySpec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_not_known_is_answered_with_what_is() {
        for text in ["", "Random", "minimax", "greedy:2"] {
            let message = text.parse::<PolicySpec>().unwrap_err().to_string();
            assert!(message.contains(&format!("'{text}'")), "{message}");
            assert!(message.contains(PolicySpec::KNOWN), "{message}");
        }
        let shogi = "minishogi".parse().unwrap();
        let of = |game| PolicySpec::defaults(game).iter().map(PolicySpec::to_string).collect();
        let names: Vec<String> = of(shogi);
        assert_eq!(names, ["random", "greedy", "perfect"]);
        let message = PolicySpec::Weights.check(shogi).unwrap_err().to_string();
        assert!(message.ends_with(&format!("for minishogi there are {}", names.join(", "))));
        let wrong = [
            ("weights:", "names no file"),
            ("predictions:", "names no directory"),
            ("exec:", "names no program"),
            ("exec: ", "names no program"),
            ("exec:python 'my policy.py", "not closed"),
        ];
        for (text, what) in wrong {
            let message = text.parse::<PolicySpec>().unwrap_err().to_string();
            assert!(message.contains(what), "{message}");
        }
    }
}
