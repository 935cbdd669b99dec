//! Positions as SVG without scripts: for the page of a report, for notebooks, and for the pictures of a server, whose
//! boards to play on have the same pieces.

use std::fmt::Write;

use super::chart::escaped;
use yomikiri::rules::{BoardLayout, Drawn, MoveSquares, PieceKind, Rules, Side};

/// Style of boards and pieces, for the page of a report and for that of a server.
pub const BOARD_CSS: &str = include_str!("page/board.css");

/// Drawings by English name, each in a square of [`SIDE`].
const DRAWINGS: &str = include_str!("page/pieces.svg");

/// Side of a square, and width of the edge with the names of columns and rows.
const SIDE: usize = 100;
const EDGE: usize = 40;

/// Colours of a board without a style sheet: of squares and lines, and of arrows to moves that are right and wrong.
struct Colours {
    kind: &'static str,
    square: &'static str,
    line: &'static str,
    right: &'static str,
    wrong: &'static str,
}

const OTHELLO: Colours = Colours {
    kind: "othello",
    square: "#2f7d50",
    line: "#10130f",
    right: "#ffd54a",
    wrong: "#ff7a4d",
};
const CONNECT_FOUR: Colours =
    Colours { kind: "connect-four", square: "#3565ad", line: "#234a86", ..OTHELLO };
const SHOGI: Colours =
    Colours { kind: "shogi", square: "#e3c487", line: "#7a5a25", right: "#1f9254", wrong: "#c22" };
const PLAIN: Colours = Colours { kind: "plain", square: "#f5f4f0", line: "#86827a", ..SHOGI };

/// Draws the positions of one game.
pub struct Boards {
    game: String,
    layout: BoardLayout,
    sides: [&'static str; 2],
}

impl Boards {
    /// Draws positions of `game`.
    pub fn of(game: &dyn Rules) -> Boards {
        let sides = Side::ALL.map(|side| game.side_name(side));
        Boards { game: game.name(), layout: game.board_layout(), sides }
    }

    /// Draws positions of the game of that name and layout, with the names of its sides.
    pub(super) fn new(game: &str, layout: &BoardLayout, sides: [&'static str; 2]) -> Boards {
        Boards { game: game.to_string(), layout: layout.clone(), sides }
    }

    fn is_shogi(&self) -> bool {
        self.layout.pieces.iter().any(|kind| kind.japanese.is_some())
    }

    fn colours(&self) -> Colours {
        let is_of = |family: &str| self.game.starts_with(family);
        match self.is_shogi() {
            true => SHOGI,
            false if is_of("othello") => OTHELLO,
            false if is_of("connect-four") => CONNECT_FOUR,
            false => PLAIN,
        }
    }

    /// Returns an SVG that is not displayed and has each piece of the game as a group, which pictures refer to: `GAME-X`, with
    /// what is drawn on a square in place of `X`, and `GAME-X-kanji` where a piece has a Japanese name.
    pub fn pieces(&self) -> String {
        let group = |name: &str, drawing: &str| {
            format!("<g id=\"{}-{}\">{drawing}</g>", escaped(&self.game), escaped(name))
        };
        let mut all = String::new();
        for is_first in [true, false] {
            if self.layout.pieces.is_empty() {
                let [first, second] = self.layout.marks.unwrap_or_default();
                let letter = if is_first { first } else { second };
                // Where discs have colours, X and O are their marks in text alone.
                let (letter, is_coloured) = match self.colours().kind {
                    "othello" => ("", false),
                    "connect-four" => ("", true),
                    _ => (letter, false),
                };
                let drawing = disc(is_first, letter, is_coloured);
                all += &group(if is_first { "X" } else { "O" }, &drawing);
            }
            for kind in &self.layout.pieces {
                let cell = of_side(&kind.piece, is_first);
                if self.is_shogi() {
                    all += &group(&cell, &piece(kind, is_first, false));
                    all += &group(&format!("{cell}-kanji"), &piece(kind, is_first, true));
                } else {
                    all += &group(&cell, &disc(is_first, &kind.piece, false));
                }
            }
        }
        format!("<svg display=\"none\">{all}</svg>")
    }

    /// Refers to the drawing of a square's content, with further attributes.
    fn shown(&self, cell: &str, attributes: &str) -> String {
        format!("<use href=\"#{}-{}\"{attributes}/>", escaped(&self.game), escaped(cell))
    }

    /// Draws the squares and pieces of a position, which [`Self::pieces`] are to be beside, without names of rows and
    /// columns and without hands. Empty for a game without a board of squares.
    pub fn picture(&self, drawn: &Drawn, label: &str) -> String {
        self.board(drawn, label, None)
    }

    /// Draws a position with arrows, rings and crosses at moves that are `right` or `wrong`, between the hands in games
    /// with hands. Empty for a game without a board of squares.
    pub(super) fn marked(
        &self,
        drawn: &Drawn,
        label: &str,
        moves: &[(MoveSquares, &str)],
    ) -> String {
        let board = self.board(drawn, label, Some(moves));
        if board.is_empty() || drawn.hands.iter().all(Vec::is_empty) {
            return board;
        }
        self.hand(drawn, 1) + &board + &self.hand(drawn, 0)
    }

    fn board(&self, drawn: &Drawn, label: &str, moves: Option<&[(MoveSquares, &str)]>) -> String {
        let BoardLayout { rows, columns, .. } = self.layout;
        if drawn.cells.is_empty() || drawn.cells.len() != rows * columns {
            return String::new();
        }
        let Colours { kind, square, line, .. } = self.colours();
        let edge = if moves.is_some() { EDGE } else { 0 };
        // The names of shogi's rows are on the right.
        let [left, right] = if self.is_shogi() { [0, edge] } else { [edge, 0] };
        let corner = |at: usize| (left + at % columns * SIDE, edge + at / columns * SIDE);
        let [width, height] = [columns * SIDE + left + right + 8, rows * SIDE + edge + 8];
        let mut svg = format!(
            "<svg class=\"board {kind}\" role=\"img\" aria-label=\"{}\" viewBox=\"-4 -4 {width} {height}\" width=\"{}\">",
            escaped(label),
            width * 2 / 5
        );
        let (across, down) = (columns * SIDE, rows * SIDE);
        let mut squares = format!("M{left} {edge}h{across}v{down}h-{across}z");
        for column in 1..columns {
            let _ = write!(squares, "M{} {edge}v{down}", left + column * SIDE);
        }
        for row in 1..rows {
            let _ = write!(squares, "M{left} {}h{across}", edge + row * SIDE);
        }
        let colours = format!("fill=\"{square}\" stroke=\"{line}\" stroke-width=\"3\"");
        let _ = write!(svg, "<path class=\"square\" {colours} d=\"{squares}\"/>");
        let filled = drawn.cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
        // Shogi's pieces point to the opponent.
        let points_down =
            |cell: &str| self.is_shogi() && cell.contains(|c: char| c.is_ascii_lowercase());
        svg.extend(filled.map(|(at, cell)| {
            let (x, y) = corner(at);
            let [middle, below] = [x + SIDE / 2, y + SIDE / 2];
            self.shown(
                cell,
                &match points_down(cell) {
                    true => {
                        format!(" x=\"{x}\" y=\"{y}\" transform=\"rotate(180 {middle} {below})\"")
                    }
                    false => format!(" x=\"{x}\" y=\"{y}\""),
                },
            )
        }));
        for (squares, kind) in moves.unwrap_or_default() {
            svg += &self.pointed(*squares, kind, |at| {
                let (x, y) = corner(usize::from(at));
                ((x + SIDE / 2) as f64, (y + SIDE / 2) as f64)
            });
        }
        if moves.is_some() {
            svg += "<g class=\"label\" font-size=\"22\" fill=\"currentColor\" text-anchor=\"middle\" dominant-baseline=\"central\">";
            let names = self.layout.column_names.iter().enumerate();
            svg.extend(names.map(|(at, name)| text(left + at * SIDE + SIDE / 2, EDGE / 2, name)));
            let x = if self.is_shogi() { columns * SIDE + EDGE / 2 } else { EDGE / 2 };
            let names = self.layout.row_names.iter().enumerate();
            svg.extend(names.map(|(at, name)| text(x, edge + at * SIDE + SIDE / 2, name)));
            svg += "</g>";
        }
        svg + "</svg>"
    }

    /// Points at a move whose squares have their middle where `middle` says: an arrow; where it places something a ring,
    /// or a cross if it is wrong.
    fn pointed(
        &self,
        squares: MoveSquares,
        kind: &str,
        middle: impl Fn(u16) -> (f64, f64),
    ) -> String {
        let Some((x, y)) = squares.to.map(&middle) else { return String::new() };
        let is_right = kind == "right";
        let colours = self.colours();
        let colour = if is_right { colours.right } else { colours.wrong };
        let path = match squares.from.map(middle) {
            Some((from_x, from_y)) => {
                let length = (x - from_x).hypot(y - from_y).max(1.0);
                let (along, across) = ((x - from_x) / length, (y - from_y) / length);
                let at = |far: f64, aside: f64| {
                    format!(
                        "{:.0} {:.0}",
                        x - far * along - aside * across,
                        y - far * across + aside * along
                    )
                };
                let [start, tip, left, right] =
                    [at(length - 30.0, 0.0), at(14.0, 0.0), at(36.0, 14.0), at(36.0, -14.0)];
                format!("M{start}L{tip}M{left}L{tip}L{right}")
            }
            None if is_right => format!("M{} {y}a46 46 0 1 0 92 0a46 46 0 1 0 -92 0", x - 46.0),
            None => format!("M{} {}l52 52m-52 0l52 -52", x - 26.0, y - 26.0),
        };
        format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"8\" stroke-linecap=\"round\"/>"
        )
    }

    /// Lists what a side holds.
    fn hand(&self, drawn: &Drawn, side: usize) -> String {
        let held = |held: &yomikiri::rules::Held| {
            let cell = of_side(&held.piece, side == 0);
            let kind = self.layout.pieces.iter().find(|kind| kind.piece == of_side(&cell, true));
            let name = kind.map_or(&cell[..], |kind| kind.name);
            let piece = self.shown(&cell, "");
            let label = escaped(&format!("{} {name}", held.count));
            let count = if held.count > 1 { format!("×{}", held.count) } else { String::new() };
            format!(
                "<svg class=\"board\" viewBox=\"0 0 100 100\" width=\"26\" role=\"img\" aria-label=\"{label}\">{piece}</svg>{count} "
            )
        };
        let all: String = drawn.hands[side].iter().map(held).collect();
        let all = if all.is_empty() { "nothing".to_string() } else { all };
        format!("<div class=\"hand\">{} holds {all}</div>", escaped(self.sides[side]))
    }
}

/// Returns the letter of a piece as that of the first or of the second player.
fn of_side(piece: &str, is_first: bool) -> String {
    if is_first { piece.to_uppercase() } else { piece.to_lowercase() }
}

fn text(x: usize, y: usize, text: &str) -> String {
    format!("<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(text))
}

/// Draws a disc with a letter, if there is one.
/// Draws a disc in black or white, or, if `is_coloured`, in red or yellow.
fn disc(is_first: bool, letter: &str, is_coloured: bool) -> String {
    let [fill, line, ink] = match (is_first, is_coloured) {
        (true, false) => ["#111", "#000", "#fff"],
        (false, false) => ["#f7f7f7", "#555", "#111"],
        (true, true) => ["#d8362f", "#8f1712", "#fff"],
        (false, true) => ["#f7cf3d", "#a5820a", "#111"],
    };
    let disc = format!("<circle cx=\"50\" cy=\"50\" r=\"41\" fill=\"{fill}\" stroke=\"{line}\"/>");
    if letter.is_empty() {
        disc
    } else {
        disc + &lettered(50, 40, ink, "system-ui,sans-serif", letter)
    }
}

fn lettered(y: usize, size: usize, ink: &str, font: &str, letter: &str) -> String {
    format!(
        "<text x=\"50\" y=\"{y}\" font-family=\"{font}\" font-size=\"{size}\" font-weight=\"600\" fill=\"{ink}\" \
         text-anchor=\"middle\" dominant-baseline=\"central\">{}</text>",
        escaped(letter)
    )
}

/// Draws one of shogi's pieces: with its drawing, with its Japanese name, or with its letter if it has no drawing.
fn piece(kind: &PieceKind, is_first: bool, in_kanji: bool) -> String {
    let name = kind.name.replace("promoted ", "");
    let name = match &name[..] {
        "horse" => "bishop",
        "dragon" => "rook",
        "tokin" => "pawn",
        other => other,
    };
    let is_promoted = kind.piece.starts_with('+');
    let ink = if is_promoted { "#a30000" } else { "#1b1a18" };
    let kanji = kind.japanese.filter(|_| in_kanji).map(|kanji| {
        let fonts = "Noto Serif CJK JP,Hiragino Mincho ProN,Yu Mincho,system-ui,serif";
        lettered(59, 46, ink, fonts, &kanji.to_string())
    });
    let drawing = DRAWINGS
        .split_once(&format!("<g id=\"{name}\">"))
        .and_then(|(_, rest)| rest.split("</g>").next());
    // An animal has colours of its own and looks ahead from a square tile.
    let is_animal = kanji.is_none() && drawing.is_some_and(|drawing| drawing.contains("stroke="));
    let (body, fill) = match (is_animal, is_first) {
        (true, true) => (
            "M7 21A14 14 0 0 1 21 7H79A14 14 0 0 1 93 21V79A14 14 0 0 1 79 93H21A14 14 0 0 1 7 79Z",
            "#dff0d0",
        ),
        (true, false) => (
            "M7 21A14 14 0 0 1 21 7H79A14 14 0 0 1 93 21V79A14 14 0 0 1 79 93H21A14 14 0 0 1 7 79Z",
            "#f6ddd2",
        ),
        (false, _) => ("M50 7L78 22L89 93L11 93L22 22Z", "#fdf3d6"),
    };
    let bar = if is_promoted { "<path d=\"M36 82H64V86H36Z\"/>" } else { "" };
    let inside = match (kanji, drawing) {
        (Some(kanji), _) => kanji,
        (None, Some(drawing)) if is_animal => drawing.lines().collect(),
        (None, Some(drawing)) => format!("<g fill=\"{ink}\">{drawing}{bar}</g>"),
        (None, None) => lettered(59, 46, ink, "system-ui,sans-serif", &kind.piece),
    };
    format!(
        "<path d=\"{body}\" fill=\"{fill}\" stroke=\"#6b5a2e\" stroke-width=\"2.5\" stroke-linejoin=\"round\"/>{inside}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use yomikiri::games::shogi::{ANIMAL_SHOGI, MINISHOGI};
    use yomikiri::registry::{othello, shogi};

    #[test]
    fn boards_show_the_pieces_of_their_game() {
        let draw = |game: &dyn Rules| {
            let boards = Boards::of(game);
            (boards.pieces(), boards.marked(&game.drawn(&game.start()), "start", &[]))
        };
        let (discs, board) = draw(&*othello("4").unwrap());
        assert_eq!(discs.matches("<circle").count(), 2);
        assert_eq!(board.matches("#othello-4x4-X\"").count(), 2);
        // The edge, and three lines each way.
        let lines = [("h400", 1 + 3), ("v400", 1 + 3)];
        for (line, count) in lines {
            assert_eq!(board.matches(line).count(), count, "{line}");
        }
        assert!(board.contains(OTHELLO.square));
        let (animals, board) = draw(&*shogi(&ANIMAL_SHOGI));
        assert!(board.contains(SHOGI.square) && !board.contains(OTHELLO.square), "{board}");
        assert_eq!(board.matches("rotate(180").count(), 4);
        assert_eq!(animals.matches("#eab24a").count(), 4, "lion and giraffe of both sides");
        assert_eq!((animals.matches("<g id").count(), animals.matches("獅").count()), (20, 2));
    }

    #[test]
    fn every_reference_has_its_piece() {
        for game in [&*othello("4").unwrap(), &*shogi(&ANIMAL_SHOGI), &*shogi(&MINISHOGI)] {
            let (boards, mut drawn) = (Boards::of(game), game.drawn(&game.start()));
            drawn.hands =
                [(); 2].map(|()| vec![yomikiri::rules::Held { piece: "C".into(), count: 2 }]);
            let pieces = boards.pieces();
            let board = boards.board(&drawn, "", None);
            for reference in board.split("href=\"#").skip(1) {
                let id = reference.split('"').next().unwrap();
                assert!(pieces.contains(&format!("<g id=\"{id}\">")), "{id}");
            }
        }
    }
}
