//! A line about what is wrong, and what to do.

use super::number::bytes;
use crate::table::NoRoom;

/// A line's message and its hint, which stands behind the last semicolon, unless that is in
/// parentheses.
pub(crate) fn message_and_hint(line: &str) -> (&str, Option<&str>) {
    match line.rsplit_once("; ") {
        Some((message, hint)) if hint.matches('(').count() == hint.matches(')').count() => {
            (message, Some(hint))
        }
        _ => (line, None),
    }
}

/// That something (`what` it is, with its verb) does not fit.
pub fn no_room(what: &str, NoRoom { needed, free, disk }: &NoRoom) -> String {
    let (needed, free) = (bytes(*needed), bytes(*free));
    match disk {
        None => format!("{what} about {needed} of memory where {free} are free"),
        Some(dir) => {
            format!("{what} about {needed} on disk where {} has {free} free", dir.display())
        }
    }
}

/// A line without its middle if it is longer than twice `half`: what is no position may be megabytes.
pub(crate) fn shortened(line: &str, half: usize) -> String {
    let begin = line.floor_char_boundary(half);
    let end = line.ceil_char_boundary(line.len().saturating_sub(half));
    if end <= begin { line.to_string() } else { [&line[..begin], " … ", &line[end..]].concat() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_what_to_do() {
        let parts = message_and_hint;
        assert_eq!(parts("no table; make one"), ("no table", Some("make one")));
        assert_eq!(parts("a; b; do (c)"), ("a; b", Some("do (c)")));
        for whole in ["nothing to do", "in no table (a; b)", ""] {
            assert_eq!(parts(whole), (whole, None));
        }
    }

    #[test]
    fn long_lines_lose_their_middle() {
        let short = "é".repeat(1_000);
        assert_eq!(shortened(&short, 1_000), short);
        let long = shortened(&format!("a{}; do it", "é".repeat(1_000_000)), 1_000);
        assert!(long.len() < 2_100 && long.starts_with("aé") && long.ends_with("é; do it"));
    }
}
