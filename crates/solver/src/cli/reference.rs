//! The reference of the commands, `docs/commands.md`.

use std::fmt::Write;

use clap::{Arg, Command};

use super::help::{EXIT_CODES, GROUPS, command, examples};
use super::program;

/// Returns `docs/commands.md`: every command with its words, options and examples, grouped as in the help.
#[doc(hidden)]
pub fn reference() -> String {
    let mut top = command();
    top.build();
    let mut text = String::from(
        "# Commands\n\nEvery command of `solver`, with its options. A test writes this page from the command line; \
         `solver COMMAND --help` prints the same.\n",
    );
    for (group, names) in GROUPS {
        let _ = write!(text, "\n## {group}\n");
        for name in names.iter().filter(|name| **name != "help") {
            top.find_subcommand(name)
                .into_iter()
                .for_each(|found| of_command(found, name, &mut text));
        }
    }
    text += "\n## Options of every command\n\n";
    let global = top.get_arguments().filter(|argument| argument.is_global_set());
    global.for_each(|argument| of_argument(argument, &mut text));
    text += "\n## Exit codes\n\n| code | meaning |\n|---|---|\n";
    EXIT_CODES.iter().for_each(|(code, meaning)| text += &format!("| {code} | {meaning} |\n"));
    text
}

/// Adds a command, and those below it.
fn of_command(command: &Command, name: &str, text: &mut String) {
    let _ = write!(text, "\n### solver {name}\n\n");
    let about = command.get_long_about().or(command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    let (first, rest) = about.split_once('\n').unwrap_or((&about, ""));
    let _ = writeln!(text, "{}", (first.trim().to_string() + ".\n" + rest).trim());
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim().replacen(program::name(), "solver", 1);
    let _ = write!(text, "\n    {usage}\n");
    let is_shown = |argument: &&Arg| {
        !argument.is_hide_set() && !argument.is_global_set() && argument.get_id() != "help"
    };
    let mut arguments = command.get_arguments().filter(is_shown).peekable();
    if arguments.peek().is_some() {
        text.push('\n');
    }
    arguments.for_each(|argument| of_argument(argument, text));
    let all = examples(name);
    if !all.is_empty() {
        text.push('\n');
        let width = all.iter().map(|(typed, _)| typed.len()).max().unwrap_or(0);
        all.iter().for_each(|(typed, meaning)| {
            text.push_str(&format!("    {typed:width$}  # {meaning}\n"))
        });
    }
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        of_command(below, &format!("{name} {}", below.get_name()), text);
    }
}

/// Adds an argument or an option, with its values and its default.
fn of_argument(argument: &Arg, text: &mut String) {
    let values = argument.get_value_names().unwrap_or_default().join(" ");
    let values = if argument.get_action().takes_values() { values } else { String::new() };
    let form = match (argument.get_long(), argument.get_short()) {
        (Some(long), Some(short)) => format!("-{short}, --{long}"),
        (Some(long), None) => format!("--{long}"),
        (None, _) => String::new(),
    };
    let form = [form, values].join(" ");
    let help = argument.get_long_help().or(argument.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let help = help.split("\n\n").map(|part| part.trim().trim_end_matches('.'));
    let help = help.collect::<Vec<_>>().join(". ").replace('\n', " ");
    let known = argument.get_possible_values();
    let known = known.iter().filter(|value| !value.is_hide_set());
    let known: Vec<&str> = known.map(|value| value.get_name()).collect();
    let takes_values = argument.get_action().takes_values();
    let known = match takes_values && !known.is_empty() {
        true => format!(" [values: {}]", known.join(", ")),
        false => String::new(),
    };
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let default = match takes_values && !defaults.is_empty() {
        true => format!(" [default: {}]", defaults.join(",")),
        false => String::new(),
    };
    let _ = writeln!(text, "- `{}`: {help}{known}{default}", form.trim());
}
