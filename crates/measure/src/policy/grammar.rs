//! How policies are written: `name:argument?key=value,key=value`.

use std::fmt;
use yomikiri::hint::Hinted;

/// The error of text that is no policy, or none of a game's: a line that begins with the text; `what`
/// goes on behind it, with the blank or colon.
pub(super) fn refused(policy: impl fmt::Display, what: impl Into<Hinted>) -> Hinted {
    what.into().map(|what| format!("policy '{policy}'{what}"))
}

/// The name and what follows the first colon.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub name: &'a str,
    pub argument: Option<&'a str>,
}

impl fmt::Display for Parts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        self.argument.map_or(Ok(()), |argument| write!(f, ":{argument}"))
    }
}

impl<'a> Parts<'a> {
    pub(super) fn of(text: &'a str) -> Parts<'a> {
        match text.split_once(':') {
            None => Parts { name: text, argument: None },
            Some((name, argument)) => Parts { name, argument: Some(argument) },
        }
    }

    /// Gives the options behind the last `?`, separated by `,` or `&`, to `set`, which answers one
    /// that is not known with what is. Gives what stands before them; if that is empty, the error
    /// says that the policy names no `thing`, and to `write` one.
    pub(super) fn options(
        self,
        (thing, form): (&str, &str),
        mut set: impl FnMut(&str, &str) -> Result<(), String>,
    ) -> Result<&'a str, Hinted> {
        let argument = self.argument.unwrap_or_default();
        let (argument, options) = argument.rsplit_once('?').unwrap_or((argument, ""));
        if argument.is_empty() {
            return Err(refused(
                self,
                Hinted::new(format!(" names no {thing}"), format!("write {form}")),
            ));
        }
        for option in options.split([',', '&']).filter(|option| !option.is_empty()) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            set(key, value).map_err(|known| {
                let what = format!(": '{option}' is not known");
                let what = Hinted::new(what, format!("known are {known}"));
                refused(self, what)
            })?;
        }
        Ok(argument)
    }
}

/// Writes an argument and the options that have a value, so that they read back.
pub(super) fn write_options(
    f: &mut fmt::Formatter<'_>,
    argument: &str,
    options: &[(&str, Option<String>)],
) -> fmt::Result {
    let option = |(key, value): &(&str, Option<String>)| Some(format!("{key}={}", value.as_ref()?));
    let options: Vec<String> = options.iter().filter_map(option).collect();
    f.write_str(argument)?;
    // An argument with a `?` of its own needs another behind it, so that it ends there.
    match options.is_empty() && !argument.contains('?') {
        true => Ok(()),
        false => write!(f, "?{}", options.join(",")),
    }
}

pub(super) const YES_NO: &[(&str, bool)] = &[("yes", true), ("no", false)];

/// The value of a name, or what is known.
pub(super) fn one_of<T: Copy>(known: &[(&str, T)], text: &str) -> Result<T, String> {
    let found = known.iter().find(|(name, _)| *name == text);
    found
        .map(|&(_, value)| value)
        .ok_or_else(|| known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "))
}

/// The name of a value.
pub(super) fn name_of<T: PartialEq>(known: &[(&str, T)], value: T) -> Option<String> {
    known.iter().find(|(_, other)| *other == value).map(|(name, _)| name.to_string())
}
