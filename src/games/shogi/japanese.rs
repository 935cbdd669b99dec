//! Moves and boards of KIF and CSA, and other notations of boards, rewritten as USI and SFEN.

use std::borrow::Cow;

use super::Shogi;
use super::board::Board;
use super::notation::{absolute, sfen_letter};
use super::variant::Variant;
use crate::error::Error;
use crate::rules::{Game, Position};

const RANKS: [char; 9] = ['一', '二', '三', '四', '五', '六', '七', '八', '九'];
/// Names of pieces in KIF and the letters of SFEN; longer names come before their beginnings.
const KIF: [(&str, &str); 23] = [
    ("成銀", "+S"),
    ("全", "+S"),
    ("と", "+P"),
    ("馬", "+B"),
    ("龍", "+R"),
    ("竜", "+R"),
    ("歩", "P"),
    ("銀", "S"),
    ("金", "G"),
    ("角", "B"),
    ("飛", "R"),
    ("玉", "K"),
    ("王", "K"),
    ("にわとり", "+C"),
    ("に", "+C"),
    ("ひよこ", "C"),
    ("ひ", "C"),
    ("ぞう", "E"),
    ("ぞ", "E"),
    ("きりん", "G"),
    ("き", "G"),
    ("ライオン", "L"),
    ("ラ", "L"),
];
const CSA: [(&str, &str); 16] = [
    ("FU", "P"),
    ("GI", "S"),
    ("KI", "G"),
    ("KA", "B"),
    ("HI", "R"),
    ("OU", "K"),
    ("TO", "+P"),
    ("NG", "+S"),
    ("UM", "+B"),
    ("RY", "+R"),
    // Animal shogi.
    ("LI", "L"),
    ("ZO", "E"),
    ("HY", "C"),
    ("KR", "G"),
    ("NI", "+C"),
    ("NW", "+C"),
];
const COUNTS: [(&str, usize); 3] = [("二", 2), ("２", 2), ("2", 2)];

fn wrong<T>(what: String, hint: &str) -> Result<T, Error> {
    Err(Error::new(what, hint))
}

/// Returns the piece that begins a text, and what is behind it.
fn piece<'t>(text: &'t str, names: &[(&str, &'static str)]) -> Option<(&'static str, &'t str)> {
    names.iter().find_map(|(name, letter)| Some((*letter, text.strip_prefix(name)?)))
}

/// Returns the number of a full-width or half-width digit, or of a Japanese one.
fn digit(sign: char) -> Option<usize> {
    let full_width = || (sign as u32).checked_sub('０' as u32).filter(|digit| *digit < 10);
    let ascii = sign.to_digit(10).or_else(full_width).map(|digit| digit as usize);
    ascii.or_else(|| RANKS.iter().position(|rank| *rank == sign).map(|rank| rank + 1))
}

/// Returns a square of USI from its file and its rank.
fn square(file: char, rank: char) -> Option<String> {
    let (file, rank) = (digit(file)?, digit(rank)?);
    (file > 0 && rank > 0).then(|| format!("{file}{}", char::from(b'a' + rank as u8 - 1)))
}

/// Rewrites a move of KIF, `５三歩(54)`, or of CSA, `5453FU`, as USI; `None` for any other text.
pub(super) fn usi_of(game: &Shogi, position: &Position<Board>, text: &str) -> Option<String> {
    let text = text.trim_start_matches(['▲', '△', '▼', '▽', '☗', '☖']);
    if text.is_ascii() { of_csa(game, position, text) } else { of_kif(game, position, text) }
}

/// Returns the letter of the piece on a square.
fn letter_on(game: &Shogi, position: &Position<Board>, file: char, rank: char) -> Option<String> {
    let variant = game.variant();
    let column = variant.columns.checked_sub(digit(file).filter(|file| *file > 0)?)?;
    let row = digit(rank)?.checked_sub(1).filter(|row| *row < variant.rows)?;
    let place = absolute(variant, position.side, row * variant.columns + column);
    let (_, kind) = position.state.cells[place].piece()?;
    Some(sfen_letter(variant, kind))
}

/// The name is that of the piece before the move.
fn of_kif(game: &Shogi, position: &Position<Board>, text: &str) -> Option<String> {
    let mut signs = text.chars();
    let to = square(signs.next()?, signs.next()?)?;
    let (letter, rest) = piece(signs.as_str(), &KIF)?;
    if rest == "打" {
        return Some(format!("{letter}*{to}"));
    }
    let (promotion, rest) = match rest.strip_prefix("成") {
        Some(rest) => ("+", rest),
        None => ("", rest.strip_prefix("不成").unwrap_or(rest)),
    };
    let from: Vec<char> = rest.strip_prefix('(')?.strip_suffix(')')?.chars().collect();
    let [file, rank] = from[..] else { return None };
    let is_there = letter_on(game, position, file, rank)? == letter;
    is_there.then_some(format!("{}{to}{promotion}", square(file, rank)?))
}

/// The name is that of the piece after the move, so a promotion shows on the board before it.
fn of_csa(game: &Shogi, position: &Position<Board>, text: &str) -> Option<String> {
    let text = text.trim_start_matches(['+', '-']);
    let signs: Vec<char> = text.chars().collect();
    let [from_file, from_rank, to_file, to_rank, _, _] = signs[..] else { return None };
    let to = square(to_file, to_rank)?;
    let (letter, _) = piece(&text[4..], &CSA)?;
    if (from_file, from_rank) == ('0', '0') {
        return Some(format!("{letter}*{to}"));
    }
    let before = letter_on(game, position, from_file, from_rank)?;
    let promotion = match before == letter {
        true => "",
        false if letter.strip_prefix('+') == Some(&before) => "+",
        false => return None,
    };
    Some(format!("{}{to}{promotion}", square(from_file, from_rank)?))
}

/// Rewrites a drawn board of KIF as SFEN.
pub(super) fn sfen_of_kif(text: &str) -> Result<String, Error> {
    let (mut ranks, mut hands, mut side) = (Vec::new(), [String::new(), String::new()], "b");
    for line in text.lines().map(str::trim) {
        if let Some((who, held)) = line.split_once("の持駒") {
            let is_second = who.ends_with('後') || who.contains("後手") || who.contains("上手");
            let held = held.trim_start_matches(['：', ':']);
            hands[usize::from(is_second)] = hand_of_kif(held, is_second)?;
        } else if let Some(rank) = line.strip_prefix('|') {
            ranks.push(rank_of_kif(rank.split('|').next().unwrap_or_default())?);
        } else if matches!(line, "後手番" | "上手番") {
            side = "w";
        }
    }
    Ok(sfen(&ranks, side, &hands.concat()))
}

fn sfen(ranks: &[String], side: &str, hands: &str) -> String {
    format!("{} {side} {}", ranks.join("/"), if hands.is_empty() { "-" } else { hands })
}

/// Returns a piece of the second player in small letters, of the first in capitals.
fn of_player(letter: &str, is_second: bool) -> String {
    if is_second { letter.to_ascii_lowercase() } else { letter.to_string() }
}

fn rank_of_kif(text: &str) -> Result<String, Error> {
    let (mut rank, mut rest) = (String::new(), text);
    while let Some(sign) = rest.chars().next() {
        let after = &rest[sign.len_utf8()..];
        (rank, rest) = match sign {
            ' ' | '　' => (rank, after),
            '・' => (rank + "1", after),
            _ => {
                let is_second = sign == 'v';
                let Some((letter, after)) = piece(if is_second { after } else { rest }, &KIF)
                else {
                    return wrong(
                        format!("invalid rank `|{text}|`"),
                        "expected such as |v飛 ・ 歩|",
                    );
                };
                (rank + &of_player(letter, is_second), after)
            }
        };
    }
    Ok(rank)
}

fn hand_of_kif(text: &str, is_second: bool) -> Result<String, Error> {
    let (mut hand, mut rest) = (String::new(), text.trim());
    if rest == "なし" {
        return Ok(hand);
    }
    while !rest.is_empty() {
        let Some((letter, after)) = piece(rest, &KIF) else {
            return wrong(format!("invalid hand `{text}`"), "expected such as 飛　歩二, or なし");
        };
        let count =
            COUNTS.iter().find_map(|(name, count)| Some((*count, after.strip_prefix(name)?)));
        let (count, after) = count.unwrap_or((1, after));
        hand += &of_player(letter, is_second).repeat(count);
        rest = after.trim_start_matches(['一', '　', ' ']);
    }
    Ok(hand)
}

/// Rewrites a board of CSA as SFEN: `PI`, or `P1` and so on row by row, `P+` and `P-` for hands, then `+` or `-`.
pub(super) fn sfen_of_csa(variant: &Variant, text: &str) -> Result<String, Error> {
    let (mut ranks, mut hands, mut side) = (Vec::new(), String::new(), "b");
    for line in text.lines().map(str::trim) {
        match line.as_bytes() {
            b"+" => {}
            b"-" => side = "w",
            b"PI" => {
                ranks =
                    variant.start.split([' ', '/']).take(variant.rows).map(String::from).collect()
            }
            [b'P', b'+' | b'-', ..] => {
                let is_second = line.starts_with("P-");
                let mut rest = &line[2..];
                while !rest.is_empty() {
                    let held = rest.strip_prefix("00").and_then(|rest| piece(rest, &CSA));
                    let Some((letter, after)) = held else {
                        let hint =
                            "expected pieces in hand, such as P+00FU, and rows for the board";
                        return wrong(format!("invalid statement `{line}`"), hint);
                    };
                    hands += &of_player(letter, is_second);
                    rest = after;
                }
            }
            [b'P', rank, ..] if rank.is_ascii_digit() => ranks.push(rank_of_csa(&line[2..])?),
            _ => {
                return wrong(
                    format!("invalid statement `{line}`"),
                    "expected such as P1-HI-KA-GI-KI-OU",
                );
            }
        }
    }
    Ok(sfen(&ranks, side, &hands))
}

fn rank_of_csa(text: &str) -> Result<String, Error> {
    let (mut rank, mut rest) = (String::new(), text.trim());
    while let Some(sign) = rest.chars().next() {
        let after = &rest[sign.len_utf8()..];
        (rank, rest) = match sign {
            ' ' => (rank, after),
            '*' | '.' => (rank + "1", after),
            '+' | '-' if let Some((letter, after)) = piece(after, &CSA) => {
                (rank + &of_player(letter, sign == '-'), after)
            }
            _ => return wrong(format!("invalid rank `{text}`"), "expected such as -HI * +FU"),
        };
    }
    Ok(rank)
}

/// Rewrites FEN of Fairy-Stockfish, `ranks[hands] w 0 1`, as SFEN: there `w` is the first player.
pub(super) fn sfen_of_fen(text: &str) -> Result<String, Error> {
    let mut fields = text.split_whitespace();
    let (board, side) = (fields.next().unwrap_or_default(), fields.next().unwrap_or("w"));
    let (ranks, hands) = match board.split_once('[') {
        Some((ranks, hands)) => (ranks, hands.trim_end_matches(']')),
        None => (board, ""),
    };
    let side = match side {
        "w" => "b",
        "b" => "w",
        _ => {
            return wrong(
                format!("invalid side `{side}` of FEN"),
                "expected w (first player) or b",
            );
        }
    };
    let hands = hands.replace('-', "");
    Ok(format!("{ranks} {side} {}", if hands.is_empty() { "-" } else { &hands }))
}

/// Rewrites `S/gle/-c-/-C-/ELG/-` of clausecker's solver as SFEN; `None` for any other text.
pub(super) fn sfen_of_slashes(variant: &Variant, text: &str) -> Option<String> {
    let fields: Vec<&str> = text.split('/').collect();
    let (side, rest) = fields.split_first()?;
    let (hands, ranks) = rest.split_last().filter(|(_, ranks)| ranks.len() == variant.rows)?;
    let side = match *side {
        "S" => "b",
        "G" => "w",
        _ => return None,
    };
    // A promoted chick is a rooster there.
    let ranks = ranks.join("/").replace('-', "1").replace('r', "+c").replace('R', "+C");
    Some(format!("{ranks} {side} {hands}"))
}

/// Rewrites a board and hands in the letters of lishogi, which writes animals as the pieces that move alike.
pub(super) fn in_own_letters<'t>(
    variant: &Variant,
    ranks: &'t str,
    hands: &'t str,
) -> (Cow<'t, str>, Cow<'t, str>) {
    let is_theirs = |letter: char| "kpbr".contains(letter.to_ascii_lowercase());
    let mut letters = ranks.chars().chain(hands.chars()).filter(|sign| sign.is_ascii_alphabetic());
    if variant.kinds[0].letter != 'L' || !letters.all(is_theirs) {
        return (Cow::Borrowed(ranks), Cow::Borrowed(hands));
    }
    let rewritten = |text: &str| -> String {
        let own = |sign: char| {
            let own = match sign.to_ascii_lowercase() {
                'k' => 'l',
                'p' => 'c',
                'b' => 'e',
                'r' => 'g',
                _ => return sign,
            };
            if sign.is_ascii_uppercase() { own.to_ascii_uppercase() } else { own }
        };
        text.chars().map(own).collect()
    };
    (Cow::Owned(rewritten(ranks)), Cow::Owned(rewritten(hands)))
}

/// Returns the legal move with a name in USI, KIF or CSA. Where promotion is forced, the `+` may be left out.
pub(super) fn read_move(
    game: &Shogi,
    position: &Position<Board>,
    text: &str,
) -> Option<crate::rules::Action> {
    let usi = usi_of(game, position, text).unwrap_or_else(|| text.to_string());
    let promoted = format!("{usi}+");
    let is_forced = game.variant().promotion == super::variant::Promotion::Forced;
    let mut found = None;
    game.for_each_action(&position.state, |action| {
        let name = game.action_name(position.side, action);
        let is_named = name.eq_ignore_ascii_case(&usi);
        if is_named || is_forced && name.eq_ignore_ascii_case(&promoted) {
            found = Some(action);
        }
    });
    found
}
