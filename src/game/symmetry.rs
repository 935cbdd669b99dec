//! Symmetries of a rectangular board and the sets of orientations in which a folded state occurs.
//!
//! A symmetry is a number below the order of its [`Group`]: bit 2 transposes the board, then bit 0
//! reverses the columns and bit 1 the rows. A rectangle that is not square has the first four, a
//! square all eight (the dihedral group D4), a board with a top and a bottom the first two, and an
//! unfolded board only the identity, 0.
//!
//! Folding keeps one state of each orbit, the *canonical* one `c`. Which members of the orbit
//! really occur, and with whom to move, is an [`Orientations`] set: bit `side * order + g` says
//! that the board `g·c` with `side` to move is reachable. Where several `g` give the same board
//! only the smallest is kept, so that the number of bits is the number of actual positions.

/// Index of a symmetry in its [`Group`].
pub type Symmetry = u8;

/// A group of board symmetries, with its multiplication table.
#[derive(Clone, Debug)]
pub struct Group {
    order: usize,
    product: [[Symmetry; 8]; 8],
    inverse: [Symmetry; 8],
    /// `after[k][set]`: the set `{ g·k⁻¹ : g in set }`.
    after: Box<[[u8; 256]; 8]>,
}

impl Group {
    /// The symmetries of a `rows` × `columns` board: eight if it is square, otherwise four.
    pub fn of_board(rows: usize, columns: usize) -> Group {
        Group::with_order(if rows == columns { 8 } else { 4 })
    }

    /// The identity and the reversal of columns, for boards that a game gives a top and a bottom.
    pub fn mirror() -> Group {
        Group::with_order(2)
    }

    /// The group of the identity alone: nothing is folded.
    pub fn trivial() -> Group {
        Group::with_order(1)
    }

    /// [`trivial`](Group::trivial), made once.
    pub fn identity() -> &'static Group {
        static IDENTITY: std::sync::LazyLock<Group> = std::sync::LazyLock::new(Group::trivial);
        &IDENTITY
    }

    fn with_order(order: usize) -> Group {
        // A point of a 4×4 board in general position: its eight images differ, so that a product is
        // known by where it sends the point.
        let probe = (0, 1);
        let mut product = [[0; 8]; 8];
        let mut inverse = [0; 8];
        for a in 0..order {
            for (b, ab) in product[a].iter_mut().enumerate().take(order) {
                let image = map_square(a as u8, map_square(b as u8, probe, 4, 4), 4, 4);
                *ab = (0..order as u8)
                    .find(|&c| map_square(c, probe, 4, 4) == image)
                    .expect("the symmetries below a group's order are closed under products");
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

    /// How many symmetries there are: 1, 2, 4 or 8.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The symmetry that acts as `b` first and `a` after it.
    pub fn product(&self, a: Symmetry, b: Symmetry) -> Symmetry {
        self.product[a as usize][b as usize]
    }

    /// The symmetry that undoes `a`.
    pub fn inverse(&self, a: Symmetry) -> Symmetry {
        self.inverse[a as usize]
    }

    /// The orientations of a root that is reached as it stands, with `side` to move.
    ///
    /// `ties` is the set of symmetries that bring the root to its canonical form.
    pub fn root_orientations(&self, side: crate::game::Side, ties: u8) -> Orientations {
        let own = self.carry(1, ties);
        Orientations(u16::from(own) << (side.index() * self.order))
    }

    /// The orientations that a successor inherits when the other side is to move in it.
    ///
    /// `from` belongs to a canonical state; the move leads to a board that each symmetry in `ties`
    /// (a set of bits, never empty) brings to its canonical form.
    #[inline(always)]
    pub fn successor_orientations(&self, from: Orientations, ties: u8) -> Orientations {
        self.inherit(from, |set| self.carry(set, ties))
    }

    /// The same where one symmetry alone leads to the canonical form.
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

    /// Moves a set of symmetries from a state `s` to its canonical form `c = k·s`: the boards
    /// `g·s` are `g·k⁻¹·c`. With ties, the smallest symmetry of each coset is kept.
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

/// The actual positions a canonical state stands for: see the [module's page](self).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Orientations(pub u16);

impl Orientations {
    /// How many actual positions (board and side to move) there are.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The symmetries whose image occurs with `side` to move, as a set of bits.
    pub fn with(self, side: crate::game::Side, order: usize) -> u8 {
        (self.0 >> (side.index() * order) & ((1 << order) - 1)) as u8
    }

    /// Every (symmetry, side) in the set.
    pub fn iter(self, order: usize) -> impl Iterator<Item = (Symmetry, crate::game::Side)> {
        crate::game::Side::ALL.into_iter().flat_map(move |side| {
            let set = self.with(side, order);
            (0..order as u8).filter(move |g| set >> g & 1 == 1).map(move |g| (g, side))
        })
    }
}

/// Where the square `(row, column)` of a `rows` × `columns` board goes under a symmetry.
///
/// A symmetry that transposes needs `rows == columns`.
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
