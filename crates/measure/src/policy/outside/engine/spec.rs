//! Text form of engines: `usi:COMMAND?nodes=1000,variant=minishogi`.

use std::fmt;
use std::time::Duration;

use crate::policy::grammar::{SpecParts, refused, write_options};
use yomikiri::error::Error;

/// Protocol of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Universal Shogi Interface.
    Usi,
    /// Universal Chess Interface, as variant engines speak it for shogi on small boards.
    Uci,
    /// Go Text Protocol, as programs of Othello speak it.
    Gtp,
}

impl Protocol {
    const ALL: [Protocol; 3] = [Protocol::Usi, Protocol::Uci, Protocol::Gtp];

    /// Returns the word before the command.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Usi => "usi",
            Protocol::Uci => "uci",
            Protocol::Gtp => "gtp",
        }
    }

    /// Returns the protocol of a word.
    pub fn of_name(name: &str) -> Option<Protocol> {
        Protocol::ALL.into_iter().find(|protocol| protocol.name() == name)
    }
}

/// Engine as a policy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EngineSpec {
    /// Protocol that it speaks.
    pub protocol: Protocol,
    /// Command line.
    pub command: String,
    /// Words behind `go`, each with its number: `nodes`, `depth`, `movetime`.
    pub search: Vec<(&'static str, u32)>,
    /// Name of the variant in the engine; `None` for the usual one of the game.
    pub variant: Option<String>,
    /// `true` to measure an engine whose rules differ.
    pub rules_differ: bool,
    /// Number of processes.
    pub processes: usize,
    /// Most answers that may fail.
    pub failures: u64,
    /// Options of the engine, by name.
    pub options: Vec<(String, String)>,
    /// Longest wait for an answer; not part of the text form.
    pub limit: Duration,
}

/// Words behind `go` that end a search.
const SEARCH: [&str; 3] = ["nodes", "depth", "movetime"];
/// Nodes of a search where nothing else is asked for.
const NODES: u32 = 1000;
/// Most processes.
const MOST_PROCESSES: usize = 64;
/// Most answers that may fail by default.
const FAILURES: u64 = 100;

impl EngineSpec {
    /// Reads the text behind `usi:`, `uci:` or `gtp:`.
    pub(in crate::policy) fn parse(
        protocol: Protocol,
        argument: &str,
        parts: SpecParts<'_>,
        limit: Duration,
    ) -> Result<EngineSpec, Error> {
        // A command may contain a `?`: options are all of the form NAME=VALUE.
        let options = argument.rsplit_once('?').filter(|(_, options)| {
            let mut each = options.split([',', '&']).filter(|option| !option.is_empty());
            each.all(|option| option.contains('=') && !option.starts_with('='))
        });
        let (command, options) = options.unwrap_or((argument, ""));
        let form = format!("{}:COMMAND", protocol.name());
        match shlex::split(command) {
            Some(words) if !words.is_empty() => {}
            Some(_) => {
                let what = Error::new(": missing program", format!("expected {form}"));
                return Err(refused(parts, what));
            }
            None => {
                let what = Error::from(": unclosed quote, or backslash at the end");
                return Err(refused(parts, what));
            }
        }
        let mut spec = EngineSpec {
            protocol,
            command: command.to_string(),
            search: Vec::new(),
            variant: None,
            rules_differ: false,
            processes: 1,
            failures: FAILURES,
            options: Vec::new(),
            limit,
        };
        for option in options.split([',', '&']).filter(|option| !option.is_empty()) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            spec.set(key, value).map_err(|expected| {
                let what = format!(": invalid option `{option}`");
                refused(parts, Error::new(what, format!("expected {expected}")))
            })?;
        }
        if spec.search.is_empty() && protocol != Protocol::Gtp {
            spec.search.push(("nodes", NODES));
        }
        Ok(spec)
    }

    /// Sets an option; the error is what is expected.
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let positive = |expected: &str| {
            let number = value.parse::<u32>().ok().filter(|number| *number > 0);
            number.ok_or(format!("{key}=N, {expected}"))
        };
        match key {
            "processes" => {
                let expected = format!("a number of processes from 1 to {MOST_PROCESSES}");
                let number = positive(&expected)? as usize;
                self.processes = Some(number)
                    .filter(|number| *number <= MOST_PROCESSES)
                    .ok_or(format!("{key}=N, {expected}"))?;
            }
            "failures" => {
                let number = value.parse();
                self.failures = number.map_err(|_| "failures=N, the most answers that may fail")?;
            }
            "rules" if value == "differ" => self.rules_differ = true,
            "rules" => return Err("rules=differ".to_string()),
            _ if self.protocol == Protocol::Gtp => {
                let known = "processes=N, failures=N or rules=differ; other options of a GTP engine stand in its command";
                return Err(known.to_string());
            }
            "variant" => self.variant = Some(value.to_string()),
            _ => match SEARCH.into_iter().find(|word| *word == key) {
                Some(word) => self.search.push((word, positive("a number above 0")?)),
                None => self.options.push((key.to_string(), value.to_string())),
            },
        }
        Ok(())
    }
}

impl fmt::Display for EngineSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let search = self.search.iter().map(|(word, number)| (*word, number.to_string()));
        let variant = self.variant.iter().map(|name| ("variant", name.clone()));
        let own = self.options.iter().map(|(name, value)| (&name[..], value.clone()));
        let mut options: Vec<(&str, String)> = search.chain(variant).chain(own).collect();
        if self.rules_differ {
            options.push(("rules", "differ".to_string()));
        }
        if self.processes != 1 {
            options.push(("processes", self.processes.to_string()));
        }
        if self.failures != FAILURES {
            options.push(("failures", self.failures.to_string()));
        }
        write_options(f, &format!("{}:{}", self.protocol.name(), self.command), &options)
    }
}
