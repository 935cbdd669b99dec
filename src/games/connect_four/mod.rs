//! Connect Four on boards of any shape: discs fall to the lowest free square of a column, and whoever first has four in a
//! line wins.
//!
//! A column takes one bit more than it has rows, the lowest square first. A key has, in each column, the mover's discs and
//! a bit above the top disc, so that it fits one word and the key of the mirror image is its columns in reverse (John
//! Tromp, *The Fhourstones benchmark*).

mod search;

use std::borrow::Cow;

use super::in_line::{Grid, Stones, unmarked};
use crate::error::Error;
use crate::rules::encode::Plane;
use crate::rules::{
    Action, Canonical, Claim, ExpectedStates, Facts, Game, Group, Mobility, MoveSquares, MoveText,
    Outcome, PlaneKinds, Position, ScoreSearch, SearchOptions, Side, Symmetry,
};

/// Minimum and maximum number of rows and of columns; 8×8 is too large for a key of one word.
pub const SIDES: (usize, usize) = (4, 8);

/// States and moves of whole boards, rows and columns, counted by enumeration; mirror images count once.
const KNOWN: [((usize, usize), f64, f64); 6] = [
    ((4, 4), 80_541.0, 152_347.0),
    ((4, 5), 1_974_174.0, 4_382_284.0),
    ((4, 6), 47_455_869.0, 118_593_099.0),
    ((5, 4), 853_185.0, 1_587_942.0),
    ((5, 5), 34_888_367.0, 74_927_016.0),
    ((6, 4), 7_917_955.0, 14_523_758.0),
];

/// Positions of larger boards (J. Tromp, *John's Connect Four Playground*), of which about half are states.
const PUBLISHED: [((usize, usize), f64); 10] = [
    ((4, 7), 2_265_792_710.0),
    ((4, 8), 54_233_186_631.0),
    ((5, 6), 2_818_972_642.0),
    ((5, 7), 112_829_665_923.0),
    ((6, 5), 1_044_334_437.0),
    ((6, 6), 69_173_028_785.0),
    ((6, 7), 4_531_985_219_092.0),
    ((7, 4), 135_385_909.0),
    ((7, 5), 14_171_315_454.0),
    ((8, 4), 1_104_642_469.0),
];

/// Rules on one board.
#[derive(Clone, Debug)]
pub struct ConnectFour {
    grid: Grid,
    group: Group,
    /// Bits between two columns.
    stride: u32,
    /// Lowest square of each column.
    bottom: u64,
}

impl ConnectFour {
    /// Makes the rules for a board of `rows` × `columns`; `fold` identifies states with their mirror images. `None` if a
    /// side is out of [range](SIDES).
    pub fn new((rows, columns): (usize, usize), fold: bool) -> Option<ConnectFour> {
        let stride = rows + 1;
        let are_in_range = [rows, columns].iter().all(|&n| (SIDES.0..=SIDES.1).contains(&n));
        if !are_in_range || columns * stride > 64 {
            return None;
        }
        let bit_of = |row: usize, column: usize| (column * stride + rows - 1 - row) as u32;
        Some(ConnectFour {
            grid: Grid::new((rows, columns), 4, stride as u32, bit_of),
            group: if fold { Group::mirror() } else { Group::trivial() },
            stride: stride as u32,
            bottom: (0..columns).map(|column| 1 << (column * stride)).sum(),
        })
    }

    /// Returns the bits of a column, that above its top square among them, at its place.
    #[inline]
    fn column(&self, column: usize) -> u64 {
        ((1 << self.stride) - 1) << (column as u32 * self.stride)
    }

    /// Returns the square of each column on which a disc would come to lie, if the column has room.
    #[inline]
    fn landings(&self, state: &Stones) -> u64 {
        (state.occupied() + self.bottom) & self.grid.all
    }

    /// Reverses the columns of a set or a key.
    #[inline]
    fn mirrored(&self, set: u64) -> u64 {
        let ones = (1 << self.stride) - 1;
        let columns =
            (0..self.grid.shape.1 as u32).map(|column| set >> (column * self.stride) & ones);
        columns.fold(0, |image, column| image << self.stride | column)
    }

    #[inline]
    fn packed(&self, state: &Stones) -> u64 {
        (state.occupied() + self.bottom) | state.mover
    }
}

impl Game for ConnectFour {
    type State = Stones;

    fn name(&self) -> String {
        match self.grid.shape {
            (6, 7) => "connect-four".to_string(),
            (rows, columns) => format!("connect-four-{rows}x{columns}"),
        }
    }

    fn start(&self) -> Position<Stones> {
        Position { state: Stones { mover: 0, opponent: 0 }, side: Side::First }
    }

    /// An action is the index of a column from the left.
    fn action_count(&self) -> usize {
        self.grid.shape.1
    }

    #[inline]
    fn moves(&self, state: &Stones, mut each: impl FnMut(Action, Stones)) {
        let &Stones { mover, opponent } = state;
        let mut rest = if self.grid.has_line(opponent) { 0 } else { self.landings(state) };
        while rest != 0 {
            let column = rest.trailing_zeros() / self.stride;
            let landing = rest & rest.wrapping_neg();
            rest ^= landing;
            each(Action(column as u16), Stones { mover: opponent, opponent: mover | landing });
        }
    }

    #[inline]
    fn mobility(&self, state: &Stones) -> Mobility {
        match self.landings(state).count_ones() {
            0 => Mobility::Over,
            _ if self.grid.has_line(state.opponent) => Mobility::Over,
            moves => Mobility::Moves(moves),
        }
    }

    #[inline]
    fn result(&self, state: &Stones) -> Option<Outcome> {
        self.grid.result(state)
    }

    #[inline]
    fn key(&self, state: &Stones) -> u128 {
        self.packed(state).into()
    }

    #[inline]
    fn state(&self, key: u128) -> Option<Stones> {
        let key = u64::try_from(key).ok()?;
        let (mut tops, mut occupied) = (0, 0);
        for column in 0..self.grid.shape.1 {
            let discs = key & self.column(column);
            let top = 1 << discs.checked_ilog2()?;
            tops |= top;
            occupied |= (top - 1) & self.column(column);
        }
        let mover = key ^ tops;
        self.grid.checked(Stones { mover, opponent: occupied ^ mover })
    }

    fn facts(&self) -> Facts {
        let shape = self.grid.shape;
        Facts { shape, key_bits: self.stride * self.grid.shape.1 as u32, ..Facts::default() }
    }

    fn expected(&self, root: &Stones) -> Option<ExpectedStates> {
        let shape = self.facts().shape;
        let is_whole = root.occupied() == 0 && self.group.order() > 1;
        let known = KNOWN.iter().find(|known| is_whole && known.0 == shape);
        if let Some(&(_, states, moves)) = known {
            return Some(ExpectedStates { states, moves: moves / states, exact: true });
        }
        let published = PUBLISHED.iter().find(|known| is_whole && known.0 == shape);
        if let Some(&(_, positions)) = published {
            let moves = self.grid.shape.1 as f64 / 2.0;
            return Some(ExpectedStates { states: positions / 2.0, moves, exact: false });
        }
        // Ways to fill some columns with so many discs more.
        let mut ways = vec![1.0];
        for column in 0..self.grid.shape.1 {
            let free =
                (self.column(column) & self.grid.all & !root.occupied()).count_ones() as usize;
            let mut more = vec![0.0; ways.len() + free];
            for (discs, ways) in ways.iter().enumerate() {
                (0..=free).for_each(|fallen| more[discs + fallen] += ways);
            }
            ways = more;
        }
        let placed = root.occupied().count_ones();
        let shapes = |discs: u32| ways[(discs - placed) as usize];
        Some(self.grid.at_most(root, (self.group.order(), self.grid.shape.1 as f64 / 2.0), shapes))
    }

    fn score_search(&self, options: &SearchOptions) -> Option<Box<dyn ScoreSearch<Stones>>> {
        Some(Box::new(search::ConnectFourSearch::new(self, options)))
    }

    // ---- layers ----

    fn layer_unit(&self) -> Option<&'static str> {
        Some("discs")
    }

    #[inline]
    fn layer(&self, state: &Stones) -> u32 {
        state.occupied().count_ones()
    }

    // ---- sides: discs tell who is to move ----

    fn keeps_sides(&self) -> bool {
        true
    }

    fn side_of(&self, key: u128) -> Side {
        self.state(key).and_then(|state| state.side()).unwrap_or(Side::First)
    }

    // ---- mirror images ----

    #[inline]
    fn group(&self) -> &Group {
        &self.group
    }

    fn with_folding(&self, fold: bool) -> Option<ConnectFour> {
        ConnectFour::new(self.facts().shape, fold)
    }

    #[inline]
    fn transform(&self, state: &Stones, symmetry: Symmetry) -> Stones {
        match symmetry {
            0 => *state,
            _ => Stones {
                mover: self.mirrored(state.mover),
                opponent: self.mirrored(state.opponent),
            },
        }
    }

    #[inline]
    fn transform_action(&self, Action(column): Action, symmetry: Symmetry) -> Action {
        Action(if symmetry == 0 { column } else { self.grid.shape.1 as u16 - 1 - column })
    }

    #[inline]
    fn canonical(&self, state: &Stones) -> Canonical {
        let key = self.packed(state);
        let image = if self.group.order() > 1 { self.mirrored(key) } else { u64::MAX };
        let ties = u8::from(key <= image) | u8::from(image <= key) << 1;
        Canonical { key: key.min(image).into(), ties }
    }

    // ---- the board ----

    fn squares(&self, state: &Stones) -> Option<(u64, u64)> {
        Some((self.grid.packed(state.mover), self.grid.packed(state.opponent)))
    }

    fn of_squares(&self, mover: u64, opponent: u64) -> Option<Stones> {
        let state = self.grid.stones_of(mover, opponent)?;
        // No disc hangs over a free square.
        let occupied = state.occupied();
        let below = |column| (self.column(column) & occupied) + (self.bottom & self.column(column));
        (0..self.grid.shape.1).all(|column| below(column).is_power_of_two()).then_some(state)
    }

    fn plane_kinds(&self) -> PlaneKinds {
        PlaneKinds::one("disc", &[Plane::Black, Plane::White, Plane::Empty], true)
    }

    fn move_squares(&self, position: &Position<Stones>, action: Action) -> MoveSquares {
        let landing = self.landings(&position.state) & self.column(action.0.into());
        let to = (landing != 0).then(|| self.grid.packed(landing).trailing_zeros() as u16);
        MoveSquares { from: None, to }
    }

    fn coordinates(&self) -> [Vec<String>; 2] {
        let [columns, rows] = [self.grid.shape.1, self.grid.shape.0].map(|count| 1..=count);
        [columns.map(|n| n.to_string()).collect(), rows.rev().map(|n| n.to_string()).collect()]
    }

    // ---- names and notation ----

    fn title(&self) -> String {
        let (rows, columns) = self.facts().shape;
        format!("Connect Four, {columns} wide and {rows} high")
    }

    fn side_names(&self) -> [&'static str; 2] {
        ["Red", "Yellow"]
    }

    fn side_marks(&self) -> Option<[&'static str; 2]> {
        Some(["X", "O"])
    }

    fn action_name(&self, _side: Side, Action(column): Action) -> String {
        (column + 1).to_string()
    }

    fn conventions(&self) -> Vec<(&'static str, String)> {
        let stride = self.stride;
        vec![
            (
                "keys",
                format!(
                    "{stride} bits for each column, the left one lowest: the mover's discs from the bottom, and a bit above the top disc"
                ),
            ),
            ("actions", "columns from the left, from 0; texts number them from 1".to_string()),
        ]
    }

    fn written(&self, position: &Position<Stones>) -> Vec<(&'static str, String)> {
        self.grid.written(&position.state)
    }

    fn read_position(&self, text: &str) -> Result<Option<Position<Stones>>, Error> {
        let Some(position) = self.grid.read(text, self.side_names())? else { return Ok(None) };
        let squares = self.squares(&position.state);
        if squares.is_none_or(|(mover, opponent)| self.of_squares(mover, opponent).is_none()) {
            let what = "invalid board: a disc with a free square below it";
            return Err(Error::new(what, "rows are written from the top"));
        }
        Ok(Some(position))
    }

    /// Columns are numbered from 1, unless there is a column 0, the players' marks are before them (`x3 o2`, as OpenSpiel
    /// writes moves), or `from 0:` is before all.
    fn split_moves<'t>(&self, words: Vec<MoveText<'t>>) -> Result<Vec<MoveText<'t>>, Error> {
        let asked = match &words[..] {
            [from, base, ..] if from.text == "from" => match &*base.text {
                "0:" => Some(0),
                "1:" => Some(1),
                _ => None,
            },
            _ => None,
        };
        let mut columns = Vec::new();
        for word in &words[if asked.is_some() { 2 } else { 0 }..] {
            let columns_of = unmarked(word);
            let is_columns = |c: char| c.is_ascii_digit() || c == '-';
            let is_result = matches!(Claim::read(&word.text), Some(Claim::Winner(_)));
            if is_result || !columns_of.text.chars().all(is_columns) {
                columns.push(word.clone());
                continue;
            }
            let digits = columns_of.text.match_indices(|c: char| c.is_ascii_digit());
            columns.extend(digits.map(|(at, _)| columns_of.part(at, at + 1)));
        }
        let from_zero = columns.iter().any(|word| word.text == "0" || word.side.is_some());
        let first = asked.unwrap_or(if from_zero { 0 } else { 1 });
        let count = self.grid.shape.1;
        for word in &mut columns {
            let Ok(column) = word.text.parse::<usize>() else { continue };
            if !(first..first + count).contains(&column) {
                let hint = format!(
                    "columns are 1 to {count}, or from 0 in a transcript that has a 0 or begins with `from 0:`"
                );
                return Err(Error::new(format!("invalid column {column}"), hint));
            }
            if first == 0 {
                word.text = Cow::Owned((column + 1).to_string());
            }
        }
        Ok(columns)
    }
}
