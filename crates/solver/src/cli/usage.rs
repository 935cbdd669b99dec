//! Command lines that cannot be understood: one line with the error and the nearest word that is known.

use std::error::Error as _;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use super::colour;
use super::error::{code, say, to_stderr};
use super::examples::command;
use super::program::{self, in_its_name};
use yomikiri::hint::{Kind, did_you_mean};
use yomikiri_measure::render::shown::shown;

/// Returns the error for the first word that looks like an option and is none of its command: commands that read
/// positions, which may begin with hyphens, would take it for one.
pub(super) fn unknown_option(words: &[OsString], top: &Command) -> Option<Error> {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let words = words.iter().take_while(|word| *word != "--").map(|word| &**word);
    let words: Vec<&str> = words.collect();
    let known = options(&called(&words, top));
    let is_unknown = |word: &&&str| {
        let name = word.split('=').next().unwrap_or_default();
        // A board may be written with these letters.
        let is_word = name.strip_prefix("--").is_some_and(|name| {
            name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.contains(|c: char| !matches!(c, 'x' | 'o' | '-'))
                && !name.contains(|c: char| c.is_ascii_uppercase() || c.is_whitespace())
        });
        is_word && !known.iter().any(|known| known == name)
    };
    let word = words.iter().skip(1).find(is_unknown)?;
    let mut error = Error::new(ErrorKind::UnknownArgument).with_cmd(top);
    error.insert(ContextKind::InvalidArg, ContextValue::String((*word).to_string()));
    Some(error)
}

/// Returns the commands that a command line names, from the program itself on.
fn called<'a>(words: &[&str], top: &'a Command) -> Vec<&'a Command> {
    let mut called = vec![top];
    for word in words.iter().skip(1) {
        let last = called[called.len() - 1];
        called.extend(last.find_subcommand(word));
    }
    called
}

/// Returns the long options of some commands, with their hyphens and aliases.
fn options(commands: &[&Command]) -> Vec<String> {
    let arguments = commands.iter().flat_map(|command| command.get_arguments());
    let names = arguments.filter_map(|argument| argument.get_long_and_visible_aliases());
    let all = commands.iter().flat_map(|command| command.get_arguments());
    let hidden = all.filter_map(|argument| argument.get_all_aliases());
    let names = names.flatten().chain(hidden.flatten()).chain(["help", "version"]);
    names.map(|name| format!("--{name}")).collect()
}

/// Reports why the command line cannot be understood, or prints the help that was asked for.
pub(super) fn report(error: &Error) -> ExitCode {
    let help = error.render();
    if !error.use_stderr() {
        let text = if colour::on_stdout() { help.ansi().to_string() } else { help.to_string() };
        // Nobody may read it.
        let _ = write!(io::stdout(), "{}", in_its_name(&text));
        return ExitCode::SUCCESS;
    }
    let is_bare = program::words().len() < 2;
    if is_bare || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let help = if is_bare { command().render_help() } else { help };
        let text = if colour::on_stderr() { help.ansi().to_string() } else { help.to_string() };
        to_stderr(in_its_name(text.trim_end()));
        return code(Kind::Usage).into();
    }
    let words = program::words().iter().take_while(|word| *word != "--");
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(|word| &**word).collect();
    let (message, hint) = of_another_build(error).unwrap_or_else(|| explained(error, &words));
    say(Kind::Usage, &shown(&message), Some(&shown(&hint)), words.contains(&"--json"));
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
            let known = options(&called);
            let hint = did_you_mean(name, known.iter().map(String::as_str)).unwrap_or(see);
            (format!("unknown option `{name}`"), hint)
        }
        ErrorKind::UnknownArgument => (format!("unexpected word `{option}`"), see),
        ErrorKind::InvalidValue if value.is_empty() => (format!("{option} needs a value"), see),
        ErrorKind::InvalidValue => {
            let known = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(known)) => known.clone(),
                _ => Vec::new(),
            };
            let hint = did_you_mean(&value, known.iter().map(String::as_str)).unwrap_or(see);
            (format!("invalid {option} `{value}`: expected {}", known.join(", ")), hint)
        }
        ErrorKind::ValueValidation => {
            let why = error.source().map(|why| why.to_string()).unwrap_or_default();
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
    Some((
        format!("'{word}' is not in this build of {}", program::name()),
        format!("build it in with 'cargo install --path crates/solver --features {feature}'"),
    ))
}
