//! Dots and boxes, a game in which a player may move again:
//! `cargo run --release --example dots_and_boxes -- report --game dots-and-boxes-2x2`.
//!
//! Players draw lines between neighbouring dots in turn. Whoever draws the fourth side of a box owns it and moves
//! again; more boxes win. On two by two boxes the first player wins by three to one.

use std::process::ExitCode;
use yomikiri::error::Error;
use yomikiri::rules::symmetry::map_square;
use yomikiri::rules::{
    Action, Empties, Facts, ForcedPasses, Game, Group, MovesAgain, Outcome, Position, Score, Side,
    Symmetry,
};

/// Rules on a grid of boxes.
///
/// Dots, lines and boxes are the squares of a board of `height` × `width`, both odd, numbered row by row. The even
/// squares are dots and boxes, and square `2 i + 1` is line `i`.
pub(crate) struct DotsAndBoxes {
    height: usize,
    width: usize,
    /// Sides of each box, as a set of lines.
    boxes: Vec<u32>,
    group: Group,
}

/// Set of drawn lines, and the mover's boxes minus the opponent's.
type Grid = (u32, i8);

impl DotsAndBoxes {
    /// Makes the rules for a grid with at most 31 lines.
    pub(crate) fn new(rows: usize, columns: usize) -> DotsAndBoxes {
        let (height, width) = (2 * rows + 1, 2 * columns + 1);
        let sides = |middle: usize| {
            [middle - width, middle - 1, middle + 1, middle + width].map(|square| 1 << (square / 2))
        };
        let middles =
            (0..rows * columns).map(|i| (i / columns * 2 + 1) * width + i % columns * 2 + 1);
        let boxes = middles.map(|middle| sides(middle).iter().sum()).collect();
        DotsAndBoxes { height, width, boxes, group: Group::of_board(height, width) }
    }

    fn line_count(&self) -> usize {
        self.height * self.width / 2
    }

    fn closed_boxes(&self, lines: u32) -> i8 {
        self.boxes.iter().filter(|sides| lines & **sides == **sides).count() as i8
    }

    /// Returns the number of boxes that a line closes.
    fn gain(&self, lines: u32, line: u16) -> i8 {
        self.closed_boxes(lines | 1 << line) - self.closed_boxes(lines)
    }

    fn turned(&self, line: u16, symmetry: Symmetry) -> u16 {
        let square = usize::from(2 * line + 1);
        let square = (square / self.width, square % self.width);
        let (row, column) = map_square(symmetry, square, self.height, self.width);
        ((row * self.width + column) / 2) as u16
    }
}

impl Game for DotsAndBoxes {
    type State = Grid;
    fn name(&self) -> String {
        format!("dots-and-boxes-{}x{}", self.height / 2, self.width / 2)
    }
    fn start(&self) -> Position<Grid> {
        Position { state: (0, 0), side: Side::First }
    }
    fn action_count(&self) -> usize {
        self.line_count()
    }
    fn moves(&self, &(lines, lead): &Grid, mut each: impl FnMut(Action, Grid)) {
        for line in (0..self.line_count() as u16).filter(|line| lines >> line & 1 == 0) {
            let gain = self.gain(lines, line);
            // Without a gain the other player is next to move.
            let lead = if gain > 0 { lead + gain } else { -lead };
            each(Action(line), (lines | 1 << line, lead));
        }
    }
    fn result(&self, &(lines, lead): &Grid) -> Option<Outcome> {
        (lines.count_ones() as usize == self.line_count()).then(|| Outcome::of(lead))
    }
    fn key(&self, &(lines, lead): &Grid) -> u128 {
        u128::from(lines) << 8 | u128::from(lead as u8)
    }
    fn state(&self, key: u128) -> Option<Grid> {
        let (lines, lead) = (key >> 8, key as u8 as i8);
        let lines = u32::try_from(lines).ok().filter(|lines| lines >> self.line_count() == 0)?;
        let rest = self.closed_boxes(lines) - lead.checked_abs()?;
        (rest >= 0 && rest % 2 == 0).then_some((lines, lead))
    }

    // ---- layers and scores ----
    fn layer_unit(&self) -> Option<&'static str> {
        Some("lines")
    }
    fn layer(&self, &(lines, _): &Grid) -> u32 {
        lines.count_ones()
    }
    fn max_score(&self) -> Option<Score> {
        Some(Score(self.boxes.len() as i8))
    }
    fn score(&self, &(_, lead): &Grid, _empties: Empties) -> Score {
        Score(lead)
    }
    fn material(&self, &(_, lead): &Grid) -> Option<i32> {
        Some(lead.into())
    }
    fn facts(&self) -> Facts {
        Facts { key_bits: self.line_count() as u32 + 8, ..Facts::default() }
    }

    // ---- symmetries ----
    fn group(&self) -> &Group {
        &self.group
    }
    fn transform(&self, &(lines, lead): &Grid, symmetry: Symmetry) -> Grid {
        let image = |line| (lines >> line & 1) << self.turned(line, symmetry);
        ((0..self.line_count() as u16).map(image).sum(), lead)
    }
    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action {
        Action(self.turned(action.0, symmetry))
    }

    // ---- notation: `x...x....... +1 First`: lines, the mover's lead, who is to move ----
    fn written(&self, &Position { state, side }: &Position<Grid>) -> Vec<(&'static str, String)> {
        let (lines, lead) = state;
        let mark = |line| if lines >> line & 1 == 1 { 'x' } else { '.' };
        let lines: String = (0..self.line_count()).map(mark).collect();
        vec![("lines", format!("{lines} {lead:+} {}", self.side_name(side)))]
    }
    fn read_position(&self, text: &str) -> Result<Option<Position<Grid>>, Error> {
        let read = || {
            let [lines, lead, name] = *text.split_whitespace().collect::<Vec<_>>() else {
                return None;
            };
            let marks =
                lines.len() == self.line_count() && lines.bytes().all(|b| b"x.".contains(&b));
            let bits = lines.bytes().rev().fold(0, |set, mark| set << 1 | u32::from(mark == b'x'));
            let state = (bits, lead.parse().ok().filter(|_| marks)?);
            let side = Side::ALL.into_iter().find(|&side| self.side_name(side) == name)?;
            Some(Position { state: self.state(self.key(&state))?, side })
        };
        Ok(read())
    }

    // ---- drawing ----
    /// Lines not yet drawn appear as their numbers.
    fn diagram(&self, position: &Position<Grid>) -> String {
        let &Position { state: (lines, lead), side } = position;
        let mut text = String::new();
        for square in 0..self.height * self.width {
            let (line, row) = (square / 2, square / self.width);
            text += &match (square % 2, row % 2) {
                (0, 0) => " + ".to_string(),
                (0, _) => "   ".to_string(),
                _ if lines >> line & 1 == 0 => format!("{line:^3}"),
                (_, 0) => "---".to_string(),
                _ => " | ".to_string(),
            };
            text += if square % self.width == self.width - 1 { "\n" } else { "" };
        }
        text + &format!("{} leads by {lead}", self.side_name(side))
    }
}

impl MovesAgain for DotsAndBoxes {
    fn moves_again(&self, &(lines, _): &Grid, line: Action) -> bool {
        self.gain(lines, line.0) > 0
    }
}

fn main() -> ExitCode {
    let game = |rows, columns| ForcedPasses(DotsAndBoxes::new(rows, columns));
    yomikiri_solver::main_with(yomikiri::games![game(2, 2), game(1, 3), game(2, 3), game(3, 3)])
}
