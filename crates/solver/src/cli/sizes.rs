//! Amounts of memory and times on the command line, which are checked as it is read.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use bytesize::ByteSize;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Error};

use yomikiri_measure::machine_memory;
use yomikiri_measure::render::number::bytes;

/// Amount of memory in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory(pub u64);

/// Least amount: the program and the rows that it writes take nearly as much.
const LEAST: u64 = 300_000_000;

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Memory, String> {
        match text.parse::<ByteSize>() {
            Ok(ByteSize(..LEAST)) => Err(format!("expected at least {}", bytes(LEAST as f64))),
            // Where larger amounts end as they are parsed.
            Ok(ByteSize(u64::MAX)) => Err(format!("expected at most {} bytes", u64::MAX - 1)),
            Ok(ByteSize(count)) => Ok(Memory(count)),
            Err(_) => Err("expected an amount of memory such as 4G or 500M".to_string()),
        }
    }
}

/// Checks that the memory that a command names is there, unless it has `--force`.
pub(super) fn check_memory(matches: &ArgMatches) -> Result<(), Error> {
    if let Some((_, below)) = matches.subcommand() {
        return check_memory(below);
    }
    let Ok(Some(Memory(amount))) = matches.try_get_one::<Memory>("memory") else { return Ok(()) };
    let has_force = matches.try_get_one::<bool>("force").is_ok_and(|force| force == Some(&true));
    match machine_memory() {
        Some(there) if *amount > there && !has_force => {
            let (amount, there) = (bytes(*amount as f64), bytes(there as f64));
            let why = format!("the machine has {there}; give less, or add --force");
            Err(invalid_value("--memory", &amount, why))
        }
        _ => Ok(()),
    }
}

/// Returns the error for the value of an option that is refused after all are read; `why` may end in `; HINT`.
fn invalid_value(option: &str, value: &str, why: String) -> Error {
    let mut error = Error::new(ErrorKind::ValueValidation);
    for (kind, text) in [
        (ContextKind::InvalidArg, option.to_string()),
        (ContextKind::InvalidValue, value.to_string()),
        (ContextKind::Custom, why),
    ] {
        error.insert(kind, ContextValue::String(text));
    }
    error
}

/// A time in seconds, above 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seconds(pub Duration);

/// Most seconds, some thirty years: every system knows moments that far ahead.
const MOST: f64 = 1e9;

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Seconds, String> {
        let number = text.parse().ok().filter(|number| (0.0..=MOST).contains(number));
        let time = number.map(Duration::from_secs_f64).filter(|time| !time.is_zero());
        time.map(Seconds).ok_or_else(|| format!("expected seconds above 0, up to {MOST}"))
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_secs_f64())
    }
}
