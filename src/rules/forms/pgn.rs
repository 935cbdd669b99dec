//! PGN: tags in brackets, then numbered moves with comments and variations, of which the main line is read.

use std::borrow::Cow;

use crate::rules::sheet::{Claim, MoveText, Sheet};

/// Returns `true` for a line such as `[Event "x"]`.
pub(super) fn is_tag(line: &str) -> bool {
    tag(line).is_some()
}

/// Returns the name and the value of a tag.
fn tag(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim().strip_prefix('[')?.split_once(' ')?;
    let value = rest.trim().strip_suffix(']')?.trim().strip_prefix('"')?.strip_suffix('"')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some((name, value))
}

pub(super) fn read(text: &str) -> Vec<Sheet<'_>> {
    let mut games: Vec<Game> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let begin = at;
        at += line.len();
        match (tag(line), games.last_mut()) {
            (Some(tag), Some(game)) if game.moves.is_none() => game.tag(tag),
            (Some(tag), _) => {
                let mut game = Game { sheet: Sheet { at: begin, ..Sheet::default() }, moves: None };
                game.tag(tag);
                games.push(game);
            }
            (None, Some(game)) if !line.trim().is_empty() => {
                game.moves = Some((game.moves.map_or(begin, |(from, _)| from), at));
            }
            (None, _) => {}
        }
    }
    games.into_iter().map(|game| game.finished(text)).collect()
}

struct Game<'t> {
    sheet: Sheet<'t>,
    /// First and last byte of the moves.
    moves: Option<(usize, usize)>,
}

impl<'t> Game<'t> {
    fn tag(&mut self, (name, value): (&'t str, &'t str)) {
        match name {
            "Black" => self.sheet.players[0] = Some(value.to_string()),
            "White" => self.sheet.players[1] = Some(value.to_string()),
            "FEN" | "SFEN" => self.sheet.text = Cow::Borrowed(value),
            // The first player's part is first, in PlayOK's discs as in Edax's 1-0.
            "Result" => self.sheet.claim = Claim::read(value),
            _ => {}
        }
    }

    fn finished(mut self, text: &'t str) -> Sheet<'t> {
        if let Some((from, to)) = self.moves {
            words(&text[from..to], from, &mut self.sheet.words);
        }
        self.sheet
    }
}

/// Divides moves, leaving out comments, variations, numbers, marks such as `!?` and `$1`, and the result.
fn words<'t>(text: &'t str, begin: usize, out: &mut Vec<MoveText<'t>>) {
    let (mut depth, mut is_comment, mut from) = (0u32, false, None);
    let mut push = |from: Option<usize>, to: usize| {
        let Some(from) = from else { return };
        let token = &text[from..to];
        let after = token.trim_start_matches(|c: char| c.is_ascii_digit());
        let unnumbered = match after.starts_with('.') {
            true => after.trim_start_matches('.'),
            false => token,
        };
        let move_text = unnumbered.trim_end_matches(['!', '?', '+', '#']);
        let is_move = !move_text.is_empty()
            && !move_text.starts_with('$')
            && move_text != "*"
            && Claim::read(move_text).is_none();
        if is_move {
            let at = begin + from + token.len() - unnumbered.len();
            out.push(MoveText { text: Cow::Borrowed(move_text), at, side: None });
        }
    };
    let mut is_rest = false;
    for (at, sign) in text.char_indices() {
        let is_text = !is_comment && !is_rest && depth == 0;
        let ends = sign.is_whitespace() || "{};()".contains(sign);
        if is_text && ends {
            push(from.take(), at);
        } else if is_text {
            from = from.or(Some(at));
        }
        match sign {
            '\n' => is_rest = false,
            '}' => is_comment = false,
            _ if is_comment || is_rest => {}
            '{' => is_comment = true,
            ';' => is_rest = true,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    push(from, text.len());
}
