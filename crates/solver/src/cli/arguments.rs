//! The words of a command line, sorted before clap reads them. A position may begin with a hyphen, and clap would take
//! the options behind such a word for more of the position.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

/// Moves the options of a command that reads positions before the words of the position, and `--` between them.
/// Returns other command lines unchanged. Fails at a word that looks like an option and is none of the command.
pub(super) fn options_first(words: Vec<OsString>, top: &Command) -> Result<Vec<OsString>, Error> {
    let mut commands = vec![top];
    let (mut options, mut position, mut unknown) = (Vec::new(), Vec::new(), None);
    let mut rest = words.iter();
    options.extend(rest.next());
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        let command = commands[commands.len() - 1];
        if text == "--" {
            position.extend(rest.by_ref());
        } else if let Some(option) = known_option(&text, &commands) {
            let value = option.takes_next_word.then(|| rest.next()).flatten();
            let is_option =
                |word: &OsString| known_option(&word.to_string_lossy(), &commands).is_some();
            if option.is_position && value.is_some_and(is_option) {
                return Err(wrong_word(ErrorKind::InvalidValue, &text, top));
            }
            options.extend([word].into_iter().chain(value));
        } else if let Some(command) = command.find_subcommand(&*text)
            && position.is_empty()
        {
            options.push(word);
            commands.push(command);
        } else {
            if looks_like_option(&text) {
                unknown.get_or_insert(text);
            }
            position.push(word);
        }
    }
    if !reads_positions(commands[commands.len() - 1]) {
        return Ok(words);
    }
    if let Some(word) = unknown {
        return Err(wrong_word(ErrorKind::UnknownArgument, &word, top));
    }
    let end_of_options = OsString::from("--");
    Ok(options.into_iter().chain([&end_of_options]).chain(position).cloned().collect())
}

/// Returns the error of a kind for a word.
fn wrong_word(kind: ErrorKind, word: &str, top: &Command) -> Error {
    let mut error = Error::new(kind).with_cmd(top);
    error.insert(ContextKind::InvalidArg, ContextValue::String(word.to_string()));
    error
}

/// Returns `true` if words of a command may begin with hyphens.
fn reads_positions(command: &Command) -> bool {
    command.get_positionals().any(Arg::is_allow_hyphen_values_set)
}

/// A word that is an option.
struct KnownOption {
    /// `true` if its value is the word behind it.
    takes_next_word: bool,
    /// `true` if its value is a position, which may begin with a hyphen.
    is_position: bool,
}

/// Returns the option of some commands that a word is; `None` if it is another word.
fn known_option(word: &str, commands: &[&Command]) -> Option<KnownOption> {
    let arguments = || commands.iter().flat_map(|command| command.get_arguments());
    if let Some(name) = word.strip_prefix("--") {
        let (name, value) = name.split_once('=').map_or((name, None), |(n, v)| (n, Some(v)));
        let argument = arguments().find(|argument| long_names(argument).contains(&name));
        if argument.is_none() && name != "help" {
            return None;
        }
        let takes_value = argument.is_some_and(|argument| argument.get_action().takes_values());
        return Some(KnownOption {
            takes_next_word: takes_value && value.is_none(),
            is_position: argument.is_some_and(Arg::is_allow_hyphen_values_set),
        });
    }
    let letters = word.strip_prefix('-').filter(|letters| !letters.is_empty())?;
    let is_flag = |letter| letter == 'h' || arguments().any(|it| it.get_short() == Some(letter));
    // No short option takes a value.
    letters
        .chars()
        .all(is_flag)
        .then_some(KnownOption { takes_next_word: false, is_position: false })
}

/// Returns `true` if a word can only be meant as an option: a board may be written with the letters x and o.
fn looks_like_option(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    name.strip_prefix("--").is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.contains(|c: char| !matches!(c, 'x' | 'o' | '-'))
            && !name.contains(|c: char| c.is_ascii_uppercase() || c.is_whitespace())
    })
}

/// Returns the commands that a command line names, from the program itself on.
pub(super) fn called<'a>(words: &[&str], top: &'a Command) -> Vec<&'a Command> {
    let mut called = vec![top];
    for word in words.iter().skip(1) {
        let last = called[called.len() - 1];
        called.extend(last.find_subcommand(word));
    }
    called
}

/// Returns the long options of some commands, with their hyphens and aliases.
pub(super) fn long_options(commands: &[&Command]) -> Vec<String> {
    let arguments = commands.iter().flat_map(|command| command.get_arguments());
    let names = arguments.flat_map(long_names).chain(["help", "version"]);
    names.map(|name| format!("--{name}")).collect()
}

/// Returns the long names of an argument.
fn long_names(argument: &Arg) -> Vec<&str> {
    let aliases = argument.get_all_aliases().unwrap_or_default();
    argument.get_long().into_iter().chain(aliases).collect()
}

#[cfg(test)]
mod tests {
    use clap::builder::PossibleValue;

    use super::*;
    use crate::cli::help::command;
    use crate::cli::understand_words;

    const POSITION: [&str; 7] = ["8x8", "--------", "---OX---", "--xo----", "-", "w", "GPr"];

    /// Returns the words by which an option may be given.
    fn spellings(option: &Arg) -> Vec<Vec<String>> {
        let names = long_names(option).into_iter().map(|name| format!("--{name}"));
        let short = option.get_short().map(|letter| format!("-{letter}"));
        if !option.get_action().takes_values() {
            return names.chain(short).map(|name| vec![name]).collect();
        }
        assert_eq!(short, None, "{option:?}: known_option expects flags");
        let known = option.get_possible_values();
        let value = known.first().map_or("1", PossibleValue::get_name);
        let value = if option.get_id() == "memory" { "1G" } else { value };
        names
            .flat_map(|name| {
                [vec![name.clone(), value.to_string()], vec![format!("{name}={value}")]]
            })
            .collect()
    }

    /// Returns what is understood of words of a command; `None` where an option excludes a position.
    fn understood(command: &str, words: &[&[&str]]) -> Option<String> {
        let words = ["solver", command].into_iter().chain(words.concat());
        match understand_words(words.clone()) {
            Ok(cli) => Some(format!("{cli:?}")),
            Err(error) if error.kind() == ErrorKind::ArgumentConflict => None,
            Err(error) => panic!("{:?}: {error}", words.collect::<Vec<_>>()),
        }
    }

    #[test]
    fn options_are_obeyed_on_both_sides_of_a_position() {
        let top = command();
        let mut tried = 0;
        for subcommand in top.get_subcommands().filter(|command| reads_positions(command)) {
            let name = subcommand.get_name();
            let arguments = || subcommand.get_arguments().chain(top.get_arguments());
            let options = || arguments().filter(|argument| !argument.is_positional());
            for option in options() {
                let required = options()
                    .filter(|other| other.is_required_set() && other.get_id() != option.get_id())
                    .flat_map(|other| spellings(other).swap_remove(0));
                let required: Vec<String> = required.collect();
                let required: Vec<&str> = required.iter().map(String::as_str).collect();
                for spelling in spellings(option) {
                    let words: Vec<&str> = spelling.iter().map(String::as_str).collect();
                    let before = understood(name, &[&words, &required, &POSITION]);
                    let after = understood(name, &[&POSITION, &words, &required]);
                    let (first, second) = POSITION.split_at(2);
                    let within = understood(name, &[first, &required, second, &words]);
                    assert_eq!(before, after, "{name} {spelling:?}");
                    assert_eq!(before, within, "{name} {spelling:?}");
                    tried += 1;
                }
            }
        }
        assert!(tried > 60, "{tried}");
    }

    #[test]
    fn an_option_is_no_position() {
        let top = command();
        let mut tried = 0;
        for subcommand in top.get_subcommands() {
            let options = subcommand.get_arguments().filter(|argument| !argument.is_positional());
            for option in options.filter(|option| option.is_allow_hyphen_values_set()) {
                let words = |value| {
                    let option = format!("--{}", option.get_long().unwrap());
                    ["solver".to_string(), subcommand.get_name().to_string(), option, value]
                };
                let swallowed = understand_words(words("--json".to_string())).unwrap_err();
                assert_eq!(swallowed.kind(), ErrorKind::InvalidValue, "{option:?}");
                understand_words(words("-----ox--xo-----".to_string())).unwrap();
                tried += 1;
            }
        }
        assert!(tried > 2, "{tried}");
    }

    #[test]
    fn behind_two_hyphens_all_words_are_of_the_position() {
        let options = understood("query", &[&["4x4", "--", "b1", "--json", "-q"]]).unwrap();
        assert!(options.contains(r#"["b1", "--json", "-q"]"#), "{options}");
        assert!(options.contains("json: false, "), "{options}");
    }
}
