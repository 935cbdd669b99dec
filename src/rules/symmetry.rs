//! Symmetries of a rectangular board, and sets of orientations in which a folded state occurs.
//!
//! A symmetry is a number below the order of its [`Group`]. Bit 2 transposes the board; then bit 0 reverses
//! the columns and bit 1 the rows. A square board has all eight (the dihedral group D4), another rectangle
//! the first four, a board with a top and a bottom the first two, and an unfolded board only the identity, 0.
//!
//! Folding keeps one state of each orbit, the *canonical* one `c`. An [`Orientations`] set contains the
//! reachable members of the orbit and who is to move in them: bit `side * order + g` is set if the board
//! `g·c` with `side` to move is reachable. If several `g` give the same board, only the smallest is kept, so
//! the number of bits is the number of positions.

/// Index of a symmetry in its [`Group`].
pub type Symmetry = u8;

/// Group of board symmetries with its multiplication table.
#[derive(Clone, Debug)]
pub struct Group {
    order: usize,
    product: [[Symmetry; 8]; 8],
    inverse: [Symmetry; 8],
    /// Table of `{ g·k⁻¹ : g in set }`, as `after[k][set]`.
    after: Box<[[u8; 256]; 8]>,
}

impl Group {
    /// Returns the symmetries of a `rows` × `columns` board: eight if it is square, otherwise four.
    pub fn of_board(rows: usize, columns: usize) -> Group {
        Group::with_order(if rows == columns { 8 } else { 4 })
    }

    /// Returns the identity and the reversal of columns, for boards that have a top and a bottom.
    pub fn mirror() -> Group {
        Group::with_order(2)
    }

    /// Returns the group of the identity alone, under which nothing is folded.
    pub fn trivial() -> Group {
        Group::with_order(1)
    }

    /// Returns a shared [`trivial`](Group::trivial) group.
    pub fn identity() -> &'static Group {
        static IDENTITY: std::sync::LazyLock<Group> = std::sync::LazyLock::new(Group::trivial);
        &IDENTITY
    }

    fn with_order(order: usize) -> Group {
        // A point in general position on a 4×4 board: its eight images differ, so the image of the point
        // determines a product.
        let probe = (0, 1);
        let mut product = [[0; 8]; 8];
        let mut inverse = [0; 8];
        for a in 0..order {
            for (b, ab) in product[a].iter_mut().enumerate().take(order) {
                let image = map_square(a as u8, map_square(b as u8, probe, 4, 4), 4, 4);
                *ab = (0..order as u8)
                    .find(|&c| map_square(c, probe, 4, 4) == image)
                    .expect("symmetries below a group's order are closed under products");
                if *ab == 0 {
                    inverse[a] = b as u8;
                }
            }
        }
        let mut after = Box::new([[0; 256]; 8]);
        for k in 0..order {
            for set in 0..1usize << order {
                after[k][set] = (0..order)
                    .filter(|g| set >> g & 1 == 1)
                    .fold(0, |acc, g| acc | 1 << product[g][inverse[k] as usize]);
            }
        }
        Group { order, product, inverse, after }
    }

    /// Returns the number of symmetries: 1, 2, 4 or 8.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Returns the symmetry that applies `b` first and then `a`.
    pub fn product(&self, a: Symmetry, b: Symmetry) -> Symmetry {
        self.product[a as usize][b as usize]
    }

    /// Returns the inverse of `a`.
    pub fn inverse(&self, a: Symmetry) -> Symmetry {
        self.inverse[a as usize]
    }

    /// Returns the orientations of a root that is reached as it stands, with `side` to move.
    ///
    /// `ties` is the set of symmetries that map the root to its canonical form.
    pub fn root_orientations(&self, side: crate::rules::Side, ties: u8) -> Orientations {
        let own = self.carry(1, ties);
        Orientations(u16::from(own) << (side.index() * self.order))
    }

    /// Returns the orientations that a successor inherits; the other side is to move in it.
    ///
    /// `from` belongs to a canonical state; each symmetry in `ties` (a bit set, never empty) maps the
    /// successor's board to its canonical form.
    #[inline(always)]
    pub fn successor_orientations(&self, from: Orientations, ties: u8) -> Orientations {
        self.inherit(from, |set| self.carry(set, ties))
    }

    /// [`Group::successor_orientations`] if only one symmetry leads to the canonical form.
    #[inline(always)]
    pub fn orientations_by(&self, from: Orientations, symmetry: Symmetry) -> Orientations {
        let after = &self.after[symmetry as usize];
        self.inherit(from, |set| after[set as usize])
    }

    #[inline(always)]
    fn inherit(&self, from: Orientations, carry: impl Fn(u8) -> u8) -> Orientations {
        let low = (1u16 << self.order) - 1;
        let (first, second) = ((from.0 & low) as u8, (from.0 >> self.order) as u8);
        let (to_first, to_second) = (carry(second), carry(first));
        Orientations(u16::from(to_first) | u16::from(to_second) << self.order)
    }

    /// Moves a set of symmetries from a state `s` to its canonical form `c = k·s`: the boards `g·s` are
    /// `g·k⁻¹·c`. With ties, the smallest symmetry of each coset is kept.
    #[inline(always)]
    pub fn carry(&self, set: u8, ties: u8) -> u8 {
        match ties.is_power_of_two() {
            true => self.after[ties.trailing_zeros() as usize][set as usize],
            false => self.carry_with_ties(set, ties),
        }
    }

    #[inline(never)]
    fn carry_with_ties(&self, set: u8, ties: u8) -> u8 {
        let mut out = 0;
        for g in 0..self.order {
            if set >> g & 1 == 1 {
                let smallest = (0..self.order)
                    .filter(|&k| ties >> k & 1 == 1)
                    .map(|k| self.product[g][self.inverse[k] as usize])
                    .min()
                    .unwrap_or(0);
                out |= 1 << smallest;
            }
        }
        out
    }
}

/// Set of the positions that a canonical state stands for: see the [module](self).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Orientations(pub u16);

impl Orientations {
    /// Returns the set of one position.
    pub fn one(symmetry: Symmetry, side: crate::rules::Side, order: usize) -> Orientations {
        Orientations(1 << (usize::from(symmetry) + side.index() * order))
    }

    /// Returns the number of positions (board and side to move).
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the symmetries whose image occurs with `side` to move, as a bit set.
    pub fn with(self, side: crate::rules::Side, order: usize) -> u8 {
        (self.0 >> (side.index() * order) & ((1 << order) - 1)) as u8
    }

    /// Iterates over the pairs of symmetry and side in the set.
    pub fn iter(self, order: usize) -> impl Iterator<Item = (Symmetry, crate::rules::Side)> {
        crate::rules::Side::ALL.into_iter().flat_map(move |side| {
            let set = self.with(side, order);
            (0..order as u8).filter(move |g| set >> g & 1 == 1).map(move |g| (g, side))
        })
    }
}

/// Returns the image of a set of squares, bits `row * columns + column`, of a `rows` × `columns` board.
pub fn map_squares(symmetry: Symmetry, set: u64, (rows, columns): (usize, usize)) -> u64 {
    let squares = (0..rows * columns).filter(|square| set >> square & 1 == 1);
    let images = squares.map(|square| {
        let (row, column) =
            map_square(symmetry, (square / columns, square % columns), rows, columns);
        1 << (row * columns + column)
    });
    images.sum()
}

/// Returns the image of the square `(row, column)` of a `rows` × `columns` board under a symmetry.
///
/// A symmetry that transposes requires `rows == columns`.
pub fn map_square(
    symmetry: Symmetry,
    (row, column): (usize, usize),
    rows: usize,
    columns: usize,
) -> (usize, usize) {
    let (mut r, mut c) = if symmetry & 4 != 0 { (column, row) } else { (row, column) };
    if symmetry & 1 != 0 {
        c = columns - 1 - c;
    }
    if symmetry & 2 != 0 {
        r = rows - 1 - r;
    }
    (r, c)
}
