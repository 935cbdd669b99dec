//! Command lines that cannot be understood: one line with the error and the nearest word that is known.

use std::error::Error as _;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use super::arguments::{called, long_options};
use super::colour;
use super::context::to_stdout;
use super::error::{self, code, say, to_stderr};
use super::help::command;
use super::program::{self, help_in_its_name};
use yomikiri::error::{Kind, did_you_mean, joined};

/// Reports why the command line cannot be understood, or prints the help that was asked for.
pub(super) fn report(error: &Error) -> ExitCode {
    let help = error.render();
    let words = program::words().iter().take_while(|word| *word != "--");
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(|word| &**word).collect();
    let is_json = words.contains(&"--json");
    if !error.use_stderr() {
        let text = if colour::on_stdout() { help.ansi().to_string() } else { help.to_string() };
        let mut out = io::stdout();
        let written = write!(out, "{}", help_in_its_name(&text)).and_then(|()| out.flush());
        return match to_stdout(written) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => error::report(&error, is_json),
        };
    }
    let is_bare = program::words().len() < 2;
    if is_bare || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let help = if is_bare { command().render_help() } else { help };
        let text = if colour::on_stderr() { help.ansi().to_string() } else { help.to_string() };
        to_stderr(help_in_its_name(text.trim_end()));
        return code(Kind::Usage).into();
    }
    let (message, hint) = of_another_build(error).unwrap_or_else(|| explained(error, &words));
    say(Kind::Usage, &message, Some(&hint), is_json);
    code(Kind::Usage).into()
}

/// Returns a part of an error as text; several of a list with commas.
fn part(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(", ")),
        _ => None,
    }
}

/// Returns what is wrong with a command line, and what to do, in a line.
pub(super) fn line(error: &Error, words: &[&str]) -> String {
    let (message, hint) = explained(error, words);
    joined(&message, Some(&hint))
}

/// Returns what is wrong with a command line, and what to do.
fn explained(error: &Error, words: &[&str]) -> (String, String) {
    let top = command();
    let called = called(words, &top);
    let names: Vec<&str> = called.iter().skip(1).map(|command| command.get_name()).collect();
    let see = ["'solver", &names.join(" "), "--help'"].join(" ").replace("  ", " ");
    let see = format!("see {see}");
    // Without the name of its value.
    let option = part(error, ContextKind::InvalidArg).unwrap_or_default();
    let option = option.split(" <").next().unwrap_or_default().to_string();
    let value = part(error, ContextKind::InvalidValue).unwrap_or_default();
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = part(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            let names = called[called.len() - 1].get_subcommands().map(Command::get_name);
            let hint = did_you_mean(&word, names).unwrap_or(see);
            (format!("unknown command `{word}`"), hint)
        }
        ErrorKind::UnknownArgument if option.starts_with('-') => {
            let name = option.split('=').next().unwrap_or_default();
            let known = long_options(&called);
            let hint = did_you_mean(name, known.iter().map(String::as_str)).unwrap_or(see);
            (format!("unknown option `{name}`"), hint)
        }
        ErrorKind::UnknownArgument => (format!("unexpected word `{option}`"), see),
        ErrorKind::InvalidValue if value.is_empty() => {
            // The words may give it a value, or none.
            let is_without = |pair: &[&str]| pair[0] == option && pair[1].is_empty();
            let is_last = words.last().is_some_and(|word| *word == option);
            let is_empty = words.contains(&&*format!("{option}="));
            let is_given = is_last || is_empty || words.windows(2).any(is_without);
            match variable_of(&option, &called).filter(|_| !is_given) {
                Some(variable) => (
                    format!("{variable} is empty: expected the value of {option}"),
                    "set it, or unset it".to_string(),
                ),
                None => (format!("{option} needs a value"), see),
            }
        }
        ErrorKind::InvalidValue => {
            let known = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(known)) => known.clone(),
                _ => Vec::new(),
            };
            let hint = did_you_mean(&value, known.iter().map(String::as_str)).unwrap_or(see);
            (format!("invalid {option} `{value}`: expected {}", known.join(", ")), hint)
        }
        ErrorKind::ValueValidation => {
            let why = error.source().map(|why| why.to_string());
            let why = why.or_else(|| part(error, ContextKind::Custom)).unwrap_or_default();
            let why = match why.split_once(" is not in ") {
                Some((_, range)) => format!("expected {}", range.replace("..=", " to ")),
                None => why,
            };
            match why.split_once("; ") {
                Some((why, hint)) => {
                    (format!("invalid {option} `{value}`: {why}"), hint.to_string())
                }
                None => (format!("invalid {option} `{value}`: {why}"), see),
            }
        }
        ErrorKind::ArgumentConflict => {
            let other = part(error, ContextKind::PriorArg).unwrap_or_default();
            let other = other.split(" <").next().unwrap_or_default();
            match option == other {
                true => (format!("{option} is given twice"), see),
                false => (format!("{option} cannot be used with {other}"), see),
            }
        }
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            let usage = called[called.len() - 1].clone().render_usage().to_string();
            (format!("missing words: expected {}", usage.trim_start_matches("Usage: ").trim()), see)
        }
        ErrorKind::MissingRequiredArgument => (format!("missing {option}"), see),
        ErrorKind::MissingSubcommand => ("missing command".to_string(), see),
        _ => {
            let text = error.render().to_string();
            let first = text.split("\n\n").next().unwrap_or_default();
            let first = first.strip_prefix("error: ").unwrap_or(first);
            (first.split_whitespace().collect::<Vec<_>>().join(" "), see)
        }
    }
}

/// Returns the variable of the environment that stands for an option of some commands where it is not given.
fn variable_of(option: &str, commands: &[&Command]) -> Option<String> {
    let mut arguments = commands.iter().flat_map(|command| command.get_arguments());
    let argument = arguments.find(|argument| argument.get_long() == option.strip_prefix("--"))?;
    Some(argument.get_env()?.display().to_string())
}

/// Returns the error for a word of a feature that this program was built without.
fn of_another_build(error: &Error) -> Option<(String, String)> {
    let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    let word = kinds.into_iter().find_map(|kind| part(error, kind))?;
    let features = [
        ("onnx", cfg!(feature = "onnx"), &["train"] as &[_]),
        (
            "cluster",
            cfg!(feature = "cluster"),
            &["gather", "--processes", "--process", "--hosts", "--parts"],
        ),
        ("serve", cfg!(feature = "serve"), &["serve"]),
        ("parquet", cfg!(feature = "parquet"), &["--parquet"]),
    ];
    let has =
        |(_, built_in, words): &&(&str, bool, &[&str])| !built_in && words.contains(&&word[..]);
    let (feature, ..) = features.iter().find(has)?;
    let hint = match program::name() {
        "solver" => {
            format!("build it in with 'cargo install --path crates/solver --features {feature}'")
        }
        _ => format!("add the feature `{feature}` of yomikiri-solver to the program's Cargo.toml"),
    };
    Some((format!("'{word}' is not in this build of {}", program::name()), hint))
}
