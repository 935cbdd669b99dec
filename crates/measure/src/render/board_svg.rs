//! A board as SVG without a script or style sheet, for notebooks.

use super::chart::escaped;
use yomikiri::rules::{BoardLayout, Drawn, MoveSquares};

/// Side of a square, and width of the edge with the names of columns and rows.
const SIDE: usize = 40;
const EDGE: usize = 22;

/// Draws the pieces of a game's position, with rings, crosses and arrows at moves that are `right` or `wrong`, between the
/// hands in games with hands. Empty for a game without a board of squares.
pub(super) fn board(
    (game, layout, sides): (&str, &BoardLayout, [&str; 2]),
    drawn: &Drawn,
    moves: &[(MoveSquares, &str)],
) -> String {
    let (rows, columns) = (layout.rows, layout.columns);
    if drawn.cells.is_empty() || drawn.cells.len() != rows * columns {
        return String::new();
    }
    let is_shogi = layout.pieces.iter().any(|kind| kind.japanese.is_some());
    let (fill, line) = match (is_shogi, game.starts_with("othello")) {
        (true, _) => ("#e3c487", "#7a5a25"),
        (_, true) => ("#2f7d50", "#10130f"),
        _ => ("#f4f1ea", "#8a8a8a"),
    };
    let [width, height] = [columns, rows].map(|count| count * SIDE + EDGE + 2);
    let mut svg = format!(
        "<svg role=\"img\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" style=\"max-width:100%\">"
    );
    let label = |x: usize, y: usize, text: &str| {
        let text = escaped(text);
        format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"13\" fill=\"currentColor\" text-anchor=\"middle\" \
             dominant-baseline=\"central\">{text}</text>"
        )
    };
    for (column, name) in layout.column_names.iter().enumerate() {
        svg += &label(EDGE + column * SIDE + SIDE / 2, EDGE / 2, name);
    }
    for (row, name) in layout.row_names.iter().enumerate() {
        svg += &label(EDGE / 2, EDGE + row * SIDE + SIDE / 2, name);
    }
    let corner = |at: usize| (EDGE + at % columns * SIDE, EDGE + at / columns * SIDE);
    for (at, cell) in drawn.cells.iter().enumerate() {
        let (x, y) = corner(at);
        svg += &format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"{fill}\" stroke=\"{line}\"/>"
        );
        if !cell.is_empty() {
            svg += &format!("<g transform=\"translate({x} {y})\">{}</g>", piece(layout, cell));
        }
    }
    let middle = |at: u16| {
        let (x, y) = corner(usize::from(at));
        (x + SIDE / 2, y + SIDE / 2)
    };
    for (squares, kind) in moves {
        let Some((x, y)) = squares.to.map(middle) else { continue };
        let colour = if *kind == "right" { "#ffd54a" } else { "#ff6b3d" };
        let shape = match (squares.from.map(middle), *kind) {
            (Some((a, b)), _) => format!("M{a} {b}L{x} {y}m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0"),
            (None, "right") => format!("M{} {y}a16 16 0 1 0 32 0a16 16 0 1 0 -32 0", x - 16),
            (None, _) => {
                let [left, right] = [x - 11, x + 11];
                format!(
                    "M{left} {}L{right} {}M{left} {}L{right} {}",
                    y - 11,
                    y + 11,
                    y + 11,
                    y - 11
                )
            }
        };
        svg += &format!(
            "<path d=\"{shape}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"3.5\"/>"
        );
    }
    let has_hands = drawn.hands.iter().any(|held| !held.is_empty());
    let hand = |side: usize| {
        let held = drawn.hands[side].iter();
        let held = held.map(|held| format!("{}×{}", held.piece.to_uppercase(), held.count));
        let held = held.collect::<Vec<_>>().join(" ");
        let held = if held.is_empty() { "nothing".to_string() } else { held };
        match has_hands {
            true => format!("<div>{} holds {}</div>", escaped(sides[side]), escaped(&held)),
            false => String::new(),
        }
    };
    format!("{}{svg}</svg>{}", hand(1), hand(0))
}

/// Draws the content of a square: a disc, a letter on a disc, or one of shogi's pieces.
fn piece(layout: &BoardLayout, cell: &str) -> String {
    let is_first = !cell.contains(|letter: char| letter.is_ascii_lowercase());
    let is_first = if layout.pieces.is_empty() { cell == "X" } else { is_first };
    let text = |y: &str, fill: &str, text: &str| {
        format!(
            "<text x=\"20\" y=\"{y}\" font-size=\"17\" fill=\"{fill}\" text-anchor=\"middle\" \
             dominant-baseline=\"central\">{}</text>",
            escaped(text)
        )
    };
    if layout.pieces.iter().any(|kind| kind.japanese.is_some()) {
        let turn = if is_first { "" } else { " transform=\"rotate(180 20 20)\"" };
        let ink = if cell.starts_with('+') { "#b03024" } else { "#20160a" };
        // Letters, because many machines have no Japanese font.
        let name = text("23", ink, &cell.to_uppercase());
        return format!(
            "<g{turn}><path d=\"M20 3L31 9L36 37L4 37L9 9Z\" fill=\"#fdf3d6\" stroke=\"#7a5a25\"/>{name}</g>"
        );
    }
    let [fill, line, ink] = match is_first {
        true => ["#111", "#000", "#f7f7f7"],
        false => ["#f7f7f7", "#555", "#111"],
    };
    let letter = match layout.marks.filter(|_| layout.pieces.is_empty()) {
        Some([first, second]) => (if is_first { first } else { second }).to_string(),
        None if layout.pieces.is_empty() => String::new(),
        None => cell.to_uppercase(),
    };
    // Othello's marks are X and O in text; its discs have none.
    let letter =
        if matches!(&letter[..], "X" | "O") && layout.pieces.is_empty() { "" } else { &letter };
    let disc = format!("<circle cx=\"20\" cy=\"20\" r=\"16\" fill=\"{fill}\" stroke=\"{line}\"/>");
    if letter.is_empty() { disc } else { disc + &text("21", ink, letter) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yomikiri::games::shogi::ANIMAL_SHOGI;
    use yomikiri::registry::{othello, shogi};

    #[test]
    fn boards_show_the_pieces_of_their_game() {
        let draw = |game: &dyn yomikiri::rules::Rules| {
            let sides = yomikiri::rules::Side::ALL.map(|side| game.side_name(side));
            let layout = game.board_layout();
            board((&game.name(), &layout, sides), &game.drawn(&game.start()), &[])
        };
        let discs = draw(&*othello("4").unwrap());
        assert_eq!((discs.matches("<rect").count(), discs.matches("<circle").count()), (16, 4));
        let animals = draw(&*shogi(&ANIMAL_SHOGI));
        assert!(animals.contains("#e3c487") && !animals.contains("#2f7d50"), "{animals}");
        assert_eq!(animals.matches("rotate(180").count(), 4);
        assert_eq!((animals.matches(">L<").count(), animals.starts_with("<svg")), (2, true));
    }
}
