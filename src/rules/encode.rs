//! Encodings: positions as the input of a network.
//!
//! An encoding is a list of planes, each with one number for every square, in an [`AxisOrder`]. [`Layout`]s have
//! the names of conventions in common use. A shape with three or more planes does not determine their
//! contents, so the planes can be listed too ([`Plane::read_list`]). Squares are numbered row by row from a1,
//! as actions are.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::planes::{OpenSpielPlanes, write_bits};
pub use super::planes::{Plane, Squares};
use super::{AnyPosition, Rules, Side};

impl Plane {
    /// Returns the game's own planes, or `None` for a game whose squares alone determine a state.
    pub fn own(game: &dyn Rules) -> Option<Vec<Plane>> {
        match game.has_squares() {
            true => None,
            false => Some((0..game.plane_kinds().count()).map(Plane::Own).collect()),
        }
    }
}

/// Order of the two indices, square and plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AxisOrder {
    /// One plane after the other: `(planes, rows, columns)`.
    PlanesFirst,
    /// One square after the other: `(rows, columns, planes)`.
    PlanesLast,
}

/// Convention for the input of a network, by its common name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// `(N, P, R, C)`: the planes of the mover and of the opponent, as in PyTorch.
    Nchw,
    /// `(N, R, C, P)`: the planes of `Nchw` last, as in TensorFlow, JAX and Pgx.
    Nhwc,
    /// `(N, P·R·C)`: all squares of the mover, then all of the opponent, for scikit-learn.
    Flat,
    /// `(N, R·C·P)`: mover and opponent square by square.
    Interleaved,
    /// `(N, R, C)`, `(N, 1, R, C)`, `(N, R, C, 1)` or `(N, R·C)`: 1 the mover, −1 the opponent.
    Signed,
    /// `(N, 3, R, C)`, `(N, 3, R·C)` or `(N, 3·R·C)`: OpenSpiel's observation tensor for the player to move, by
    /// [`OpenSpielPlanes`]: in Othello empty squares, mover, opponent.
    OpenSpiel,
    /// `(N, R, C, 3)`: the planes of `OpenSpiel` last.
    #[serde(rename = "openspiel-nhwc")]
    OpenSpielNhwc,
    /// `(N, 2·R·C + 2)`: Black's discs, 1 if Black is to move, White's discs, 1 if White is to move.
    Colours,
}

impl Layout {
    /// All layouts with their names, in the order in which shapes are tried.
    pub const ALL: [(&'static str, Layout); 8] = [
        ("nchw", Layout::Nchw),
        ("nhwc", Layout::Nhwc),
        ("signed", Layout::Signed),
        ("flat", Layout::Flat),
        ("interleaved", Layout::Interleaved),
        ("openspiel", Layout::OpenSpiel),
        ("openspiel-nhwc", Layout::OpenSpielNhwc),
        ("colours", Layout::Colours),
    ];

    /// Returns the names of all layouts, for messages.
    pub fn names() -> String {
        format!("{}, pgx", Layout::ALL.map(|(name, _)| name).join(", "))
    }

    /// Returns the layout of a name; `pgx` is an alias of `nhwc`.
    pub fn named(name: &str) -> Option<Layout> {
        let name = if name == "pgx" { "nhwc" } else { name };
        Layout::ALL.iter().find(|(known, _)| *known == name).map(|&(_, layout)| layout)
    }

    /// Returns the default planes; of OpenSpiel's layouts those of Othello.
    pub fn planes(self) -> &'static [Plane] {
        match self {
            Layout::Nchw | Layout::Nhwc | Layout::Flat | Layout::Interleaved => {
                &[Plane::Mover, Plane::Opponent]
            }
            Layout::Signed => &[Plane::Signed],
            Layout::OpenSpiel | Layout::OpenSpielNhwc => OpenSpielPlanes::OTHELLO.planes,
            Layout::Colours => &[Plane::Black, Plane::White],
        }
    }

    /// Returns `true` if other planes can be chosen; some layouts imply their planes.
    pub fn takes_planes(self) -> bool {
        !matches!(self, Layout::Signed | Layout::Colours)
    }

    /// Returns `true` for OpenSpiel's, which depend on the game.
    fn is_openspiel(self) -> bool {
        matches!(self, Layout::OpenSpiel | Layout::OpenSpielNhwc)
    }

    fn order(self) -> AxisOrder {
        match self {
            Layout::Nchw | Layout::Flat | Layout::Signed | Layout::OpenSpiel | Layout::Colours => {
                AxisOrder::PlanesFirst
            }
            Layout::Nhwc | Layout::Interleaved | Layout::OpenSpielNhwc => AxisOrder::PlanesLast,
        }
    }

    /// Returns the shapes of one position in this layout, the usual one first.
    fn shapes(self, planes: usize, rows: usize, columns: usize) -> Vec<Vec<usize>> {
        let squares = rows * columns;
        let mut first = vec![vec![planes, rows, columns], vec![planes, squares]];
        let mut last = vec![vec![rows, columns, planes], vec![squares, planes]];
        if squares == 1 {
            // Numbers without a board.
            first.insert(0, vec![planes]);
            last.insert(0, vec![planes]);
        }
        let flat = vec![vec![planes * squares]];
        match self {
            Layout::Nchw => first,
            Layout::Nhwc | Layout::OpenSpielNhwc => last,
            Layout::Flat | Layout::Interleaved => flat,
            Layout::OpenSpiel => [first, flat].concat(),
            Layout::Signed => [vec![vec![rows, columns]], first, last, flat].concat(),
            Layout::Colours => vec![vec![planes * (squares + 1)]],
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Layout::ALL.iter().find(|(_, layout)| layout == self);
        f.write_str(known.map_or("", |(name, _)| name))
    }
}

/// Encoding of a board's positions as numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// Layout of the numbers.
    pub layout: Layout,
    /// Planes in their order.
    pub planes: Vec<Plane>,
    /// Shape of one position, without the batch dimension.
    pub shape: Vec<usize>,
    squares: usize,
    columns: usize,
    /// `true` if the first row is the lowest.
    from_bottom: bool,
}

impl Encoding {
    /// Finds the encoding for the input shape of a model on a board of `rows` × `columns`, `openspiel` being
    /// [`PlaneKinds::openspiel`](super::PlaneKinds::openspiel) of the game. The shape has no
    /// batch dimension; a size of `None` is one that the model leaves open. A given `layout` or `planes` must
    /// fit the shape. Without `layout` it is guessed from the shape, if all sizes are known. Returns `None`
    /// if nothing fits.
    ///
    /// A flat shape does not determine its order and counts as [`Layout::Flat`].
    pub fn find(
        (rows, columns): (usize, usize),
        openspiel: OpenSpielPlanes,
        shape: &[Option<usize>],
        layout: Option<Layout>,
        planes: Option<&[Plane]>,
    ) -> Option<Encoding> {
        let fits = |expected: &[usize]| {
            let same =
                |(size, expected): (&Option<usize>, &usize)| size.is_none_or(|n| n == *expected);
            expected.len() == shape.len() && shape.iter().zip(expected).all(same)
        };
        let of = |layout: Layout| {
            let planes = match planes {
                Some(planes) if layout.takes_planes() => planes,
                Some(_) => return None,
                None if layout.is_openspiel() => openspiel.planes,
                None => layout.planes(),
            };
            let shapes = layout.shapes(planes.len(), rows, columns);
            let shape = shapes.into_iter().find(|expected| fits(expected))?;
            let encoding = Encoding::of(layout, planes, (rows, columns));
            Some(Encoding { shape, ..encoding.with_rows_of(openspiel) })
        };
        let guesses = [Layout::Nchw, Layout::Nhwc, Layout::Signed, Layout::Flat];
        match layout {
            Some(layout) => of(layout),
            None if shape.contains(&None) => None,
            None => guesses.into_iter().find_map(of),
        }
    }

    /// Returns the usual encoding of a game's positions in a layout. A game whose squares alone do not
    /// determine a state uses its own planes. Fails if the game or the layout has no such planes.
    pub fn of_rules(
        game: &dyn Rules,
        layout: Layout,
        planes: Option<&[Plane]>,
    ) -> Result<Encoding, String> {
        let own = Plane::own(game);
        let name = game.name();
        if own.as_ref().is_some_and(Vec::is_empty) {
            return Err(format!(
                "{name} has no planes: they are `plane_kinds` of a game in Rust, `planes` of a class in Python"
            ));
        }
        if own.is_some() && (planes.is_some() || !layout.takes_planes() || layout.is_openspiel()) {
            return Err(format!(
                "{name} defines its planes; leave planes out and use layout nchw, nhwc, flat or interleaved"
            ));
        }
        if planes.is_some() && !layout.takes_planes() {
            return Err(format!("layout `{layout}` defines its planes; leave planes out"));
        }
        let openspiel = game.plane_kinds().openspiel;
        let usual = if layout.is_openspiel() { openspiel.planes } else { layout.planes() };
        let planes = planes.or(own.as_deref()).unwrap_or(usual);
        Ok(Encoding::of(layout, planes, game.shape()).with_rows_of(openspiel))
    }

    /// Returns the usual encoding of a layout on a board of `rows` × `columns`.
    pub fn of(layout: Layout, planes: &[Plane], (rows, columns): (usize, usize)) -> Encoding {
        let shape = layout.shapes(planes.len(), rows, columns).swap_remove(0);
        let squares = rows * columns;
        Encoding { layout, planes: planes.to_vec(), shape, squares, columns, from_bottom: false }
    }

    /// Lets rows begin where OpenSpiel's do, if the layout is OpenSpiel's.
    fn with_rows_of(self, openspiel: OpenSpielPlanes) -> Encoding {
        Encoding { from_bottom: self.layout.is_openspiel() && openspiel.from_bottom, ..self }
    }

    /// Returns the count of numbers in one position.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns `false`: a board has squares.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Encodes a position of a game.
    ///
    /// # Panics
    ///
    /// If `out` does not have length [`Encoding::len`].
    pub fn write_position(&self, game: &dyn Rules, position: &AnyPosition, out: &mut [f32]) {
        let AnyPosition { state, side } = *position;
        let (mover, opponent) = game.squares(&state).unwrap_or_default();
        let mut legal = 0;
        if self.planes.contains(&Plane::Legal) {
            game.for_each_action(&state, |action| {
                legal |= game.move_squares(position, action).to.map_or(0, |square| 1 << square);
            });
        }
        let is_own = self.planes.contains(&Plane::Own(0));
        let mut own = vec![0.0; if is_own { game.plane_kinds().count() * self.squares } else { 0 }];
        if is_own {
            game.write_planes(&state, &mut own);
        }
        self.write(&Squares { mover, opponent, legal, side, own: &own }, out);
    }

    /// Encodes boards, one after the other, each given as the squares of the mover and of the opponent.
    pub fn boards(&self, boards: impl ExactSizeIterator<Item = [u64; 2]>) -> Vec<f32> {
        let mut out = vec![0.0; boards.len() * self.len()];
        for ([mover, opponent], out) in boards.zip(out.chunks_exact_mut(self.len())) {
            let squares = Squares { mover, opponent, legal: 0, side: Side::First, own: &[] };
            self.write(&squares, out);
        }
        out
    }

    /// Encodes a position.
    ///
    /// # Panics
    ///
    /// If `out` does not have length [`Encoding::len`].
    pub fn write(&self, squares: &Squares<'_>, out: &mut [f32]) {
        assert_eq!(out.len(), self.len(), "one index per number");
        if self.layout == Layout::Colours {
            for (plane, side) in self.planes.iter().zip(Side::ALL) {
                let out = &mut out[side.index() * (self.squares + 1)..][..self.squares + 1];
                plane.write(squares, out[..self.squares].iter_mut());
                out[self.squares] = f32::from(u8::from(squares.side == side));
            }
            return;
        }
        for (at, plane) in self.planes.iter().enumerate() {
            match self.layout.order() {
                AxisOrder::PlanesFirst => {
                    let out = &mut out[at * self.squares..][..self.squares];
                    match plane.bits(squares) {
                        Some(bits) => write_bits(bits, out),
                        None => plane.write(squares, out.iter_mut()),
                    }
                }
                AxisOrder::PlanesLast => {
                    plane.write(squares, out[at..].iter_mut().step_by(self.planes.len()));
                }
            }
        }
        if self.from_bottom {
            self.reverse_rows(out);
        }
    }

    /// Reverses the order of the rows.
    fn reverse_rows(&self, out: &mut [f32]) {
        let (board, row) = match self.layout.order() {
            AxisOrder::PlanesFirst => (self.squares, self.columns),
            AxisOrder::PlanesLast => (out.len(), self.columns * self.planes.len()),
        };
        for board in out.chunks_exact_mut(board) {
            let half = board.len() / row / 2 * row;
            let (upper, rest) = board.split_at_mut(half);
            let lower = rest.len() - half;
            let pairs = upper.chunks_exact_mut(row).zip(rest[lower..].chunks_exact_mut(row).rev());
            pairs.for_each(|(upper, lower)| upper.swap_with_slice(lower));
        }
    }

    /// Reads the position that is written as these numbers, with this side to move, unless the state says who moves;
    /// `None` if there is none. Planes of legal moves cannot be read.
    pub fn read(&self, game: &dyn Rules, given: &[f32], side: Side) -> Option<AnyPosition> {
        if given.len() != self.len() {
            return None;
        }
        if !game.has_squares() {
            let planes = 0..self.planes.len();
            let squares = planes.flat_map(|plane| (0..self.squares).map(move |at| (plane, at)));
            let own: Vec<f32> = squares.map(|(plane, at)| self.number(given, plane, at)).collect();
            return game
                .read_planes(&own)
                .map(|state| game.with_mover(AnyPosition { state, side }));
        }
        Side::ALL.into_iter().filter(|other| *other == side || game.keeps_sides()).find_map(
            |side| {
                let (mover, opponent) = self.squares_of(given, side);
                let state = game.of_squares(mover, opponent)?;
                let position = game.with_mover(AnyPosition { state, side });
                let mut written = vec![0.0; self.len()];
                self.write(&Squares { mover, opponent, legal: 0, side, own: &[] }, &mut written);
                (position.side == side && written == given).then_some(position)
            },
        )
    }

    /// Returns the squares of the mover, who plays `side`, and of the opponent, as far as planes name them.
    fn squares_of(&self, numbers: &[f32], side: Side) -> (u64, u64) {
        let set = |plane: usize, stone: f32| {
            let squares = (0..self.squares).filter(|&at| self.number(numbers, plane, at) == stone);
            squares.fold(0, |set, square| set | 1u64 << square)
        };
        let (mut mover, mut opponent) = (0, 0);
        for (at, plane) in self.planes.iter().enumerate() {
            match (plane, side) {
                (Plane::Mover, _) | (Plane::Black, Side::First) | (Plane::White, Side::Second) => {
                    mover |= set(at, 1.0);
                }
                (Plane::Opponent | Plane::Black | Plane::White, _) => opponent |= set(at, 1.0),
                (Plane::Signed, _) => {
                    mover |= set(at, 1.0);
                    opponent |= set(at, -1.0);
                }
                _ => {}
            }
        }
        (mover, opponent)
    }

    /// Returns the number of a square in a plane.
    fn number(&self, numbers: &[f32], plane: usize, square: usize) -> f32 {
        let square = match self.from_bottom {
            true => {
                self.squares - self.columns - square / self.columns * self.columns
                    + square % self.columns
            }
            false => square,
        };
        match (self.layout, self.layout.order()) {
            (Layout::Colours, _) => numbers[plane * (self.squares + 1) + square],
            (_, AxisOrder::PlanesFirst) => numbers[plane * self.squares + square],
            (_, AxisOrder::PlanesLast) => numbers[square * self.planes.len() + plane],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(shape: &[usize], layout: Option<Layout>) -> Option<Encoding> {
        let shape: Vec<_> = shape.iter().copied().map(Some).collect();
        Encoding::find((4, 5), OpenSpielPlanes::OTHELLO, &shape, layout, None)
    }

    #[test]
    fn shapes_are_recognised_where_they_say_what_they_are() {
        let known: [(&[usize], Layout); 9] = [
            (&[2, 4, 5], Layout::Nchw),
            (&[2, 20], Layout::Nchw),
            (&[4, 5, 2], Layout::Nhwc),
            (&[20, 2], Layout::Nhwc),
            (&[4, 5], Layout::Signed),
            (&[1, 4, 5], Layout::Signed),
            (&[4, 5, 1], Layout::Signed),
            (&[20], Layout::Signed),
            (&[40], Layout::Flat),
        ];
        for (shape, layout) in known {
            assert_eq!(find(shape, None).unwrap().layout, layout, "{shape:?}");
        }
        // Three planes may contain anything, and a board of another size belongs to another game.
        let unknown: [&[usize]; 7] =
            [&[3, 4, 5], &[4, 5, 3], &[60], &[2, 5, 4], &[8, 8], &[], &[2, 4, 5, 1]];
        for shape in unknown {
            assert_eq!(find(shape, None), None, "{shape:?}");
        }
    }

    #[test]
    fn a_requested_layout_must_fit_the_shape() {
        for shape in [&[3, 4, 5][..], &[3, 20], &[60]] {
            assert_eq!(find(shape, Some(Layout::OpenSpiel)).unwrap().shape, shape);
        }
        assert!(find(&[4, 5, 3], Some(Layout::OpenSpiel)).is_none());
        assert!(find(&[4, 5, 2], Some(Layout::Nchw)).is_none());
        assert_eq!(find(&[40], Some(Layout::Interleaved)).unwrap().layout, Layout::Interleaved);
        let planes = Plane::read_list("mover+opponent+legal").unwrap();
        let with = |shape: &[usize], layout| {
            let shape: Vec<_> = shape.iter().copied().map(Some).collect();
            Encoding::find((4, 5), OpenSpielPlanes::OTHELLO, &shape, layout, Some(&planes))
        };
        assert_eq!(with(&[3, 4, 5], None).unwrap().layout, Layout::Nchw);
        assert_eq!(with(&[4, 5, 3], None).unwrap().layout, Layout::Nhwc);
        assert_eq!(with(&[60], None).unwrap().layout, Layout::Flat);
        assert!(with(&[2, 4, 5], None).is_none() && with(&[20], Some(Layout::Signed)).is_none());
        // Sizes that the model leaves open follow from the layout, which must then be given.
        let open = [None, None, Some(5)];
        assert!(Encoding::find((4, 5), OpenSpielPlanes::OTHELLO, &open, None, None).is_none());
        let found =
            Encoding::find((4, 5), OpenSpielPlanes::OTHELLO, &open, Some(Layout::Nchw), None)
                .unwrap();
        assert_eq!(found.shape, [2, 4, 5]);
    }

    /// Position on a 4×4 board: White, to move, has a1 and b1, Black c1; White may place on d1.
    const SQUARES: Squares<'_> =
        Squares { mover: 0b11, opponent: 0b100, legal: 0b1000, side: Side::Second, own: &[] };

    fn first_row(encoding: &Encoding) -> Vec<Vec<f32>> {
        let mut out = vec![9.0; encoding.len()];
        encoding.write(&SQUARES, &mut out);
        let planes = encoding.planes.len();
        let at = |plane: usize, square: usize| match encoding.layout.order() {
            AxisOrder::PlanesFirst => out[plane * 16 + square],
            AxisOrder::PlanesLast => out[square * planes + plane],
        };
        (0..planes).map(|plane| (0..5).map(|square| at(plane, square)).collect()).collect()
    }

    #[test]
    fn planes_hold_what_their_names_say() {
        let all = Plane::read_list(&Plane::names().replace(", ", "+")).unwrap();
        for (layout, shape) in [(Layout::Nchw, [10, 4, 4]), (Layout::Nhwc, [4, 4, 10])] {
            let encoding = Encoding::find(
                (4, 4),
                OpenSpielPlanes::OTHELLO,
                &shape.map(Some),
                Some(layout),
                Some(&all),
            )
            .unwrap();
            let expected: [[f32; 5]; 10] = [
                [1.0, 1.0, 0.0, 0.0, 0.0],
                [0.0, 0.0, 1.0, 0.0, 0.0],
                [0.0, 0.0, 0.0, 1.0, 1.0],
                [0.0, 0.0, 0.0, 1.0, 0.0],
                [1.0, 1.0, -1.0, 0.0, 0.0],
                [0.0, 0.0, 1.0, 0.0, 0.0],
                [1.0, 1.0, 0.0, 0.0, 0.0],
                [0.0; 5],
                [1.0; 5],
                [0.0; 5],
            ];
            assert_eq!(first_row(&encoding), expected, "{layout}");
        }
        assert_eq!(Plane::read_list("mover+theirs"), Err("theirs".to_string()));
    }

    /// OpenSpiel's observation tensor of `othello` for White, to move after Black's d3: the observing player
    /// is the mover, with discs on the second plane.
    #[test]
    fn openspiel_has_the_empty_squares_first() {
        let (own, theirs): (&[usize], &[usize]) = (&[36], &[19, 27, 28, 35]);
        let bits = |squares: &[usize]| squares.iter().map(|&square| 1u64 << square).sum();
        let squares = Squares {
            mover: bits(own),
            opponent: bits(theirs),
            legal: 0,
            side: Side::Second,
            own: &[],
        };
        let mut expected = [0.0f32; 192];
        expected[..64].fill(1.0);
        for &square in own {
            (expected[square], expected[64 + square]) = (0.0, 1.0);
        }
        for &square in theirs {
            (expected[square], expected[128 + square]) = (0.0, 1.0);
        }
        let write = |shape: &[usize], layout| {
            let shape: Vec<_> = shape.iter().copied().map(Some).collect();
            let encoding =
                Encoding::find((8, 8), OpenSpielPlanes::OTHELLO, &shape, Some(layout), None)
                    .unwrap();
            let mut out = vec![9.0; encoding.len()];
            encoding.write(&squares, &mut out);
            out
        };
        assert_eq!(write(&[192], Layout::OpenSpiel), expected);
        let last = write(&[8, 8, 3], Layout::OpenSpielNhwc);
        let planes = (0..192).map(|at| last[at % 64 * 3 + at / 64]);
        assert_eq!(planes.collect::<Vec<_>>(), expected);
    }
}
