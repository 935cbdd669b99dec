//! Text for terminals: sanitising, styles, width and alphabet.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// `true` if texts are styled for a terminal.
static STYLED: AtomicBool = AtomicBool::new(false);
/// `true` if a terminal displays ASCII alone.
static ASCII: AtomicBool = AtomicBool::new(false);
/// Maximum number of characters in a line.
static WIDTH: AtomicUsize = AtomicUsize::new(100);
/// `true` if that is the width of a terminal.
static IS_FIT: AtomicBool = AtomicBool::new(false);
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

/// Lays out texts from now on for a terminal with so many columns, of which more than 120 are not used.
pub fn fit_to(columns: usize) {
    WIDTH.store(columns.clamp(40, 120), Ordering::Relaxed);
    IS_FIT.store(true, Ordering::Relaxed);
}

/// Returns the maximum number of characters in a line: 100, unless texts are laid out for a terminal.
pub fn width() -> usize {
    WIDTH.load(Ordering::Relaxed)
}

/// Writes texts in ASCII from now on, as far as there are signs for it.
pub fn write_ascii() {
    ASCII.store(true, Ordering::Relaxed);
}

/// Returns whether texts are written in ASCII.
pub fn is_ascii() -> bool {
    ASCII.load(Ordering::Relaxed)
}

/// Signs of texts that ASCII lacks, and what stands for them.
const IN_ASCII: [(char, &str); 15] = [
    ('…', "..."),
    ('→', "->"),
    ('−', "-"),
    ('–', "-"),
    ('×', "x"),
    ('≥', ">="),
    ('≤', "<="),
    ('≈', "~"),
    ('’', "'"),
    ('Σ', "sum"),
    ('μ', "u"),
    ('µ', "u"),
    ('ä', "ae"),
    ('é', "e"),
    ('ρ', "rho"),
];

/// Writes a text in ASCII: signs without a substitute become question marks.
fn in_ascii(text: &str) -> String {
    let sign = |c: char| match IN_ASCII.iter().find(|(sign, _)| *sign == c) {
        Some((_, substitute)) => substitute.to_string(),
        None if c.is_ascii() => c.to_string(),
        None => "?".to_string(),
    };
    text.chars().map(sign).collect()
}

/// Breaks lines that are longer than the terminal is wide between words; the rest begins below the second column of the
/// line, if it has one. Texts for pipes and files stay as they are.
pub fn folded(text: &str) -> String {
    match IS_FIT.load(Ordering::Relaxed) {
        true => {
            text.split('\n').map(|line| folded_line(line, width())).collect::<Vec<_>>().join("\n")
        }
        false => text.to_string(),
    }
}

fn folded_line(line: &str, width: usize) -> String {
    let visible = |text: &str| {
        let (mut count, mut rest) = (0, text);
        while let Some(c) = rest.chars().next() {
            let styled = colour_at(rest);
            count += usize::from(styled.is_none());
            rest = &rest[styled.unwrap_or(c.len_utf8())..];
        }
        count
    };
    if visible(line) <= width {
        return line.to_string();
    }
    let begin = line.len() - line.trim_start().len();
    let column = line[begin..].find("  ").map(|gap| begin + gap);
    let column = column.map(|gap| gap + line[gap..].len() - line[gap..].trim_start().len());
    let indent = column.map(|at| visible(&line[..at])).filter(|indent| *indent <= width / 2);
    let indent = indent.unwrap_or(begin + 2);
    let (mut text, mut at) = (String::new(), 0);
    // Words with the blanks before them.
    let mut rest = line;
    while !rest.is_empty() {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let end = rest[blanks..].find(' ').map_or(rest.len(), |end| blanks + end);
        let (word, length) = (&rest[blanks..end], visible(&rest[blanks..end]));
        match at > indent && at + blanks + length > width {
            true => {
                text += &format!("\n{}{word}", " ".repeat(indent));
                at = indent + length;
            }
            false => {
                text += &rest[..end];
                at += blanks + length;
            }
        }
        rest = &rest[end..];
    }
    text
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

/// Sanitises text of several lines; if `coloured`, colour sequences remain. It is in ASCII where [`write_ascii`] asked for that.
pub fn shown_text(text: &str, coloured: bool) -> String {
    if is_ascii() && !text.is_ascii() {
        return sanitised(&in_ascii(text), coloured);
    }
    sanitised(text, coloured)
}

fn sanitised(text: &str, coloured: bool) -> String {
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
    fn long_lines_go_on_below_their_second_column() {
        let lines = |line: &str, width| -> Vec<String> {
            folded_line(line, width).lines().map(str::to_string).collect()
        };
        assert_eq!(lines("kept  how often it keeps", 16), ["kept  how often", "      it keeps"]);
        assert_eq!(lines("a few words and no column", 12), ["a few words", "  and no", "  column"]);
        assert_eq!(lines("short", 12), ["short"]);
        // Colours have no width, and a word that is too long stays whole.
        let red = "\x1b[31mred\x1b[0m words";
        assert_eq!(lines(red, 9), [red]);
        assert_eq!(lines("averylongword next", 8), ["averylongword", "  next"]);
    }

    #[test]
    fn signs_have_substitutes_in_ascii() {
        assert_eq!(in_ascii("a…b → −3, ≥D ×2 – 歩"), "a...b -> -3, >=D x2 - ?");
    }

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
