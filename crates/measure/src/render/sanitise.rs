//! Sanitising of external text for terminals.

use std::sync::atomic::{AtomicBool, Ordering};

/// `true` if texts are styled for a terminal.
static STYLED: AtomicBool = AtomicBool::new(false);
/// Style of headings.
pub const BOLD: &str = "\x1b[1m";
/// Style of best moves.
pub const GREEN: &str = "\x1b[32m";
/// Style of mistakes.
pub const RED: &str = "\x1b[31m";

/// Styles the texts that this process lays out from now on, for a terminal that shows colours.
pub fn style_texts() {
    STYLED.store(true, Ordering::Relaxed);
}

/// Returns a line in a style, where texts are styled.
pub fn styled(line: &str, style: &str) -> String {
    match STYLED.load(Ordering::Relaxed) && !line.is_empty() {
        true => format!("{style}{line}\x1b[0m"),
        false => line.to_string(),
    }
}

/// Replaces characters in a line that a terminal interprets (control characters including line breaks, and
/// marks that change the direction of text) by spaces.
pub fn shown(line: &str) -> String {
    line.replace(is_hidden, " ")
}

/// Sanitises text of several lines; if `coloured`, colour sequences remain.
pub fn shown_text(text: &str, coloured: bool) -> String {
    let mut all = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c| is_hidden(c) && !['\n', '\t'].contains(&c)) {
        all += &rest[..at];
        rest = &rest[at..];
        let hidden = rest.chars().next().map_or(0, char::len_utf8);
        let length = colour_at(rest).filter(|_| coloured);
        all += length.map_or(" ", |length| &rest[..length]);
        rest = &rest[length.unwrap_or(hidden)..];
    }
    all + rest
}

/// Returns the length of the colour sequence at the beginning of a text.
fn colour_at(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\x1b[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers[end..].starts_with('m').then_some(2 + end + 1)
}

/// Returns `true` for a character that a terminal interprets instead of displaying.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_not_shown() {
        let turned = "a\u{202e}b\u{2066}c\u{200f}d\u{61c}e\u{2028}f";
        assert_eq!(shown(turned), "a b c d e f");
        assert_eq!(shown("a\x1b[31mb\nc\u{9b}d"), "a [31mb c d");
        assert_eq!(shown_text("a\n\tb\r\u{202e}\u{9b}c\x1b[2J", true), "a\n\tb   c [2J");
        let red = "\x1b[1;31mred\x1b[0m";
        assert_eq!(shown_text(red, true), red);
        assert_eq!(shown_text(red, false), " [1;31mred [0m");
        for plain in ["é表 ♟", "", "\u{200b}"] {
            assert_eq!((shown(plain), shown_text(plain, true)), (plain.into(), plain.into()));
        }
    }
}
