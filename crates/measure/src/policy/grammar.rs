//! Text form of policies: `name:argument?key=value,key=value`.

use std::fmt;
use yomikiri::error::Error;

/// Returns the error of an invalid policy: its text followed by `what`, which includes the separator (a blank
/// or colon).
pub(super) fn refused(policy: impl fmt::Display, what: impl Into<Error>) -> Error {
    what.into().map(|what| format!("policy '{policy}'{what}"))
}

/// A policy's name and the text behind the first colon.
#[derive(Clone, Copy)]
pub(super) struct SpecParts<'a> {
    pub name: &'a str,
    pub argument: Option<&'a str>,
}

impl fmt::Display for SpecParts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        self.argument.map_or(Ok(()), |argument| write!(f, ":{argument}"))
    }
}

impl<'a> SpecParts<'a> {
    pub(super) fn of(text: &'a str) -> SpecParts<'a> {
        match text.split_once(':') {
            None => SpecParts { name: text, argument: None },
            Some((name, argument)) => SpecParts { name, argument: Some(argument) },
        }
    }

    /// Passes the options behind the last `?`, separated by `,` or `&`, to `set`, which returns the list of
    /// known ones as its error. Returns the text before the options; if it is empty, the error asks for a
    /// `thing` in the given `form`.
    pub(super) fn options(
        self,
        (thing, form): (&str, &str),
        mut set: impl FnMut(&str, &str) -> Result<(), String>,
    ) -> Result<&'a str, Error> {
        let argument = self.argument.unwrap_or_default();
        let (argument, options) = argument.rsplit_once('?').unwrap_or((argument, ""));
        if argument.is_empty() {
            return Err(refused(
                self,
                Error::new(format!(": missing {thing}"), format!("expected {form}")),
            ));
        }
        for option in options.split([',', '&']).filter(|option| !option.is_empty()) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            set(key, value).map_err(|known| {
                let what = format!(": unknown option `{option}`");
                let what = Error::new(what, format!("expected {known}"));
                refused(self, what)
            })?;
        }
        Ok(argument)
    }
}

/// Writes an argument and options, in a form that reads back.
pub(super) fn write_options(
    f: &mut fmt::Formatter<'_>,
    argument: &str,
    options: &[(&str, String)],
) -> fmt::Result {
    let options: Vec<String> =
        options.iter().map(|(key, value)| format!("{key}={value}")).collect();
    f.write_str(argument)?;
    // An argument that contains a `?` is ended by another one.
    match options.is_empty() && !argument.contains('?') {
        true => Ok(()),
        false => write!(f, "?{}", options.join(",")),
    }
}

/// Closes a command whose end looks like options.
pub(super) const CLOSE: &str = " --";

pub(super) const YES_NO: &[(&str, bool)] = &[("yes", true), ("no", false)];

/// Returns the value of a name; the error lists the known names.
pub(super) fn one_of<T: Copy>(known: &[(&str, T)], text: &str) -> Result<T, String> {
    let found = known.iter().find(|(name, _)| *name == text);
    found
        .map(|&(_, value)| value)
        .ok_or_else(|| known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "))
}

/// Returns the name of a value.
pub(super) fn name_of<T: PartialEq>(known: &[(&str, T)], value: T) -> Option<String> {
    known.iter().find(|(_, other)| *other == value).map(|(name, _)| name.to_string())
}
