//! Games written in the forms of other programs.

use std::fmt::Write;

use super::forms::Form;
use super::{Action, AnyPosition, Claim, Empties, Held, Outcome, PlayedGame, Rules, Side};
use crate::error::Error;

/// Names of pieces in KIF, by their English names.
const PIECES: [(&str, &str); 15] = [
    ("king", "玉"),
    ("pawn", "歩"),
    ("silver", "銀"),
    ("gold", "金"),
    ("bishop", "角"),
    ("rook", "飛"),
    ("promoted pawn", "と"),
    ("promoted silver", "成銀"),
    ("horse", "馬"),
    ("dragon", "龍"),
    ("lion", "ライオン"),
    ("chick", "ひよこ"),
    ("elephant", "ぞう"),
    ("giraffe", "きりん"),
    ("hen", "にわとり"),
];
const RANKS: [char; 9] = ['一', '二', '三', '四', '五', '六', '七', '八', '九'];
const FILES: [char; 9] = ['１', '２', '３', '４', '５', '６', '７', '８', '９'];

/// Returns a game in a form: lines, GGF and SGF (Othello), KIF (games of the shogi family). Names of players that a form cannot
/// contain are left out. A result that the board does not show, `claim`, is written where the form can: SGF and KIF a winner, GGF and
/// SGF a margin.
///
/// Fails for a form that the game is not written in.
pub fn write_game(
    game: &dyn Rules,
    played: &PlayedGame,
    players: [Option<&str>; 2],
    claim: Option<Claim>,
    form: Form,
) -> Result<String, Error> {
    let forms = written_forms(game);
    if !forms.contains(&form) {
        let what = format!("games of {} are not written as {}", game.name(), form.title());
        let names: Vec<&str> = forms.iter().map(|form| form.name()).collect();
        let names = match &names[..] {
            [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
            all => all.concat(),
        };
        return Err(Error::new(what, format!("choose {names}")));
    }
    let players = players.map(|name| name.unwrap_or_default().replace(['[', ']', '\\', '\n'], " "));
    Ok(match form {
        Form::Ggf => ggf(game, played, claim, &players),
        Form::Sgf => sgf(game, played, claim, &players),
        Form::Kif => kif(game, played, claim, &players),
        _ => line(game, played),
    })
}

/// Returns the text of a file that contains one game: in lines, the players stand in a remark above it.
///
/// Fails as [`write_game`].
pub fn write_game_file(
    game: &dyn Rules,
    played: &PlayedGame,
    [first, second]: [&str; 2],
    form: Form,
) -> Result<String, Error> {
    let text = write_game(game, played, [Some(first), Some(second)], None, form)?;
    Ok(match form {
        Form::Lines => {
            let players = format!("{first} against {second}").replace(['\n', '\r'], " ");
            format!("# {}: {players}\n{text}\n", game.name())
        }
        _ => text,
    })
}

/// Returns the forms in which games of a game are written.
pub fn written_forms(game: &dyn Rules) -> Vec<Form> {
    let is_othello = squares_of(game, &game.start()).is_some();
    let has_japanese = game.diagram_japanese(&game.start()).is_some();
    let forms = [
        (Form::Lines, true),
        (Form::Ggf, is_othello && game.shape() == (8, 8)),
        (Form::Sgf, is_othello),
        (Form::Kif, has_japanese),
    ];
    forms.into_iter().filter_map(|(form, is_written)| is_written.then_some(form)).collect()
}

/// Returns the squares of Othello row by row and the side to move, from OBF; `None` in other games.
fn squares_of(game: &dyn Rules, position: &AnyPosition) -> Option<(String, char)> {
    let written = game.written(position);
    let (_, obf) = written.iter().find(|(name, _)| *name == "obf")?;
    let (squares, side) = obf.trim_end_matches(';').split_once(' ')?;
    Some((squares.to_string(), side.chars().next()?))
}

fn line(game: &dyn Rules, played: &PlayedGame) -> String {
    let start = game.notation(played.start());
    match played.moves().is_empty() {
        true => start,
        false => format!("{start} moves {}", played.transcript(game)),
    }
}

/// Returns the first player's score less the second's at the end of a game.
fn margin(game: &dyn Rules, played: &PlayedGame, empties: Empties) -> Option<i32> {
    let AnyPosition { state, side } = *played.position();
    let sign = if side == Side::First { 1 } else { -1 };
    game.is_terminal(&state).then(|| sign * i32::from(game.score(&state, empties).0))
}

fn ggf(
    game: &dyn Rules,
    played: &PlayedGame,
    claim: Option<Claim>,
    [black, white]: &[String; 2],
) -> String {
    let (squares, side) = squares_of(game, played.start()).unwrap_or_default();
    let side = if side == 'X' { '*' } else { 'O' };
    let squares = squares.replace('X', "*");
    let claimed = match claim {
        Some(Claim::Margin(margin, _)) => Some(margin),
        _ => None,
    };
    let result = margin(game, played, Empties::ToWinner).or(claimed);
    let result = result.map_or("?".to_string(), |margin| format!("{margin:+}.00"));
    let mut text = format!(
        "(;GM[Othello]PC[yomikiri]PB[{black}]PW[{white}]RE[{result}]TY[8]BO[8 {squares} {side}]"
    );
    for (before, action) in played.moves() {
        let name = match game.is_pass(*action) {
            true => "PA".to_string(),
            false => game.action_name(before.side, *action).to_ascii_uppercase(),
        };
        text += &format!("{}[{name}]", colour(before.side));
    }
    text + ";)\n"
}

fn colour(side: Side) -> char {
    if side == Side::First { 'B' } else { 'W' }
}

fn sgf(
    game: &dyn Rules,
    played: &PlayedGame,
    claim: Option<Claim>,
    [black, white]: &[String; 2],
) -> String {
    let (rows, columns) = game.shape();
    let size = if rows == columns { rows.to_string() } else { format!("{columns}:{rows}") };
    let (squares, side) = squares_of(game, played.start()).unwrap_or_default();
    let of = |disc: char| -> String {
        let places = squares.char_indices().filter(|(_, sign)| *sign == disc);
        places.map(|(at, _)| format!("[{}]", point(at, columns))).collect()
    };
    let first = if side == 'X' { 'B' } else { 'W' };
    let on_board = margin(game, played, Empties::Uncounted);
    let result = match on_board.map(|margin| Claim::Margin(margin, None)).or(claim) {
        None => "Void".to_string(),
        Some(Claim::Margin(0, _) | Claim::Winner(None)) => "0".to_string(),
        Some(Claim::Margin(margin, _)) if margin > 0 => format!("B+{margin}"),
        Some(Claim::Margin(margin, _)) => format!("W+{}", -margin),
        Some(Claim::Winner(Some(side))) => format!("{}+", colour(side)),
    };
    let mut text = format!("(;FF[4]GM[2]AP[yomikiri]SZ[{size}]");
    for (name, player) in [("PB", black), ("PW", white)] {
        if !player.is_empty() {
            text += &format!("{name}[{player}]");
        }
    }
    for (name, discs) in [("AB", of('X')), ("AW", of('O'))] {
        if !discs.is_empty() {
            text += &format!("{name}{discs}");
        }
    }
    text += &format!("PL[{first}]RE[{result}]\n");
    for (before, action) in played.moves() {
        let name = match game.is_pass(*action) {
            true => String::new(),
            false => game.action_name(before.side, *action),
        };
        text += &format!(";{}[{name}]", colour(before.side));
    }
    text + ")\n"
}

fn point(square: usize, columns: usize) -> String {
    format!("{}{}", char::from(b'a' + (square % columns) as u8), square / columns + 1)
}

fn kif(
    game: &dyn Rules,
    played: &PlayedGame,
    claim: Option<Claim>,
    [first, second]: &[String; 2],
) -> String {
    let is_shogi = game.shape() == (5, 5);
    let name = if is_shogi { "５五将棋" } else { "どうぶつしょうぎ" };
    let mut text = "#KIF version=2.0 encoding=UTF-8\n".to_string();
    if *played.start() == game.start() && (is_shogi || game.shape() == (4, 3)) {
        text += &format!("手合割：{name}\n");
    } else {
        text += &kif_board(game, played.start());
    }
    text += &format!("先手：{first}\n後手：{second}\n手数----指手---------消費時間--\n");
    let mut previous = None;
    for (number, (before, action)) in (1..).zip(played.moves()) {
        let (name, to) = kif_move(game, before, *action, previous);
        let _ = writeln!(text, "{number:4} {name}");
        previous = Some(to);
    }
    let mover = played.position().side;
    let claimed = match claim {
        Some(Claim::Winner(None)) => Some(Outcome::Draw),
        Some(Claim::Winner(Some(side))) if side == mover => Some(Outcome::Win),
        Some(Claim::Winner(Some(_))) => Some(Outcome::Loss),
        _ => None,
    };
    if let Some(outcome) = played.end(game).map(|end| end.outcome).or(claimed) {
        let word = match outcome {
            Outcome::Loss => "投了",
            Outcome::Win => "反則勝ち",
            Outcome::Draw => "千日手",
        };
        let _ = writeln!(text, "{:4} {word}", played.moves().len() + 1);
    }
    text
}

/// Returns the name of a piece as in [`Drawn::cells`](super::Drawn::cells).
fn piece_name(game: &dyn Rules, piece: &str) -> &'static str {
    let kinds = game.piece_kinds();
    let kind = kinds.iter().find(|kind| kind.piece.eq_ignore_ascii_case(piece));
    let name = kind.and_then(|kind| PIECES.iter().find(|(name, _)| *name == kind.name));
    name.map_or("？", |(_, japanese)| japanese)
}

/// Returns a move and the square that it reaches; `同` stands for that of the move before.
fn kif_move(
    game: &dyn Rules,
    before: &AnyPosition,
    action: Action,
    previous: Option<u16>,
) -> (String, u16) {
    let (_, columns) = game.shape();
    let squares = game.move_squares(before, action);
    let usi = game.action_name(before.side, action);
    let numbers = |square: u16| {
        let (row, column) = (usize::from(square) / columns, usize::from(square) % columns);
        (columns - 1 - column, row)
    };
    let to = squares.to.unwrap_or_default();
    let (file, rank) = numbers(to);
    let destination = match previous == Some(to) {
        true => "同　".to_string(),
        false => format!("{}{}", FILES[file], RANKS[rank]),
    };
    let text = match squares.from {
        None => {
            let piece = piece_name(game, usi.split('*').next().unwrap_or_default());
            format!("{destination}{piece}打")
        }
        Some(from) => {
            let piece = piece_name(game, &game.drawn(before).cells[usize::from(from)]);
            let promotes = if usi.ends_with('+') { "成" } else { "" };
            let (file, rank) = numbers(from);
            format!("{destination}{piece}{promotes}({}{})", file + 1, rank + 1)
        }
    };
    (text, to)
}

fn kif_board(game: &dyn Rules, position: &AnyPosition) -> String {
    let (rows, columns) = game.shape();
    let drawn = game.drawn(position);
    let hand = |side: Side| {
        let held = &drawn.hands[side.index()];
        let piece = |held: &Held| {
            let count = if held.count > 1 { "二" } else { "" };
            format!("{}{count}", piece_name(game, &held.piece))
        };
        match held.is_empty() {
            true => "なし".to_string(),
            false => held.iter().map(piece).collect::<Vec<_>>().join("　"),
        }
    };
    let files: String = (0..columns).rev().map(|file| format!(" {}", FILES[file])).collect();
    let frame = format!("+{}+", "-".repeat(3 * columns));
    let mut text = format!("後手の持駒：{}\n {files}\n{frame}\n", hand(Side::Second));
    for (row, rank) in RANKS.iter().enumerate().take(rows) {
        let cells = drawn.cells[row * columns..(row + 1) * columns].iter();
        let cell = |piece: &String| match piece.trim_start_matches('+').chars().next() {
            None => " ・".to_string(),
            Some(letter) => {
                let owner = if letter.is_ascii_lowercase() { 'v' } else { ' ' };
                // One sign a piece.
                let name = piece_name(game, piece);
                let name = if name == "成銀" { "全" } else { name };
                format!("{owner}{}", name.chars().next().unwrap_or_default())
            }
        };
        let _ = writeln!(text, "|{}|{}", cells.map(cell).collect::<String>(), rank);
    }
    text += &format!("{frame}\n先手の持駒：{}\n", hand(Side::First));
    if position.side == Side::Second {
        text += "後手番\n";
    }
    text
}
