//! Blocks of Othello states: states with the same occupied squares.
//!
//! Within a block a state is the mover's discs packed together, `press(mover, occupied)`, a number below
//! 2^discs. A placement on a square leads from all states of a block to states of one other block, by the one
//! symmetry that makes its occupied squares canonical, so block and symmetry are looked up once per block.
//! Several images are possible only in blocks that a symmetry leaves unchanged; there the smallest mover is
//! canonical, as for keys. A pass stays in the block and complements the mover's discs.

mod bits;

use std::marker::PhantomData;
use std::ops::Range;

#[cfg(target_arch = "x86_64")]
pub use self::bits::Instructions;
pub use self::bits::{Bits, LANES, Tables, Work};
use self::bits::{byte_table, look_up};
use super::Othello;
use crate::rules::{Action, Rules, Symmetry};

/// Returns `true` for Othello with keys of one word, whose states form blocks.
pub fn has_blocks(game: &dyn Rules) -> bool {
    game.typed::<Othello>().is_some() && game.facts().key_words() == 1
}

/// Rules of a board of up to 32 squares, by block.
pub struct Blocks<B: Bits> {
    squares: u32,
    /// Squares in each direction from a square, as `rays[square]`, the nearest first. Directions with fewer
    /// than two squares are left out, since a disc there cannot be turned.
    rays: Vec<Vec<Vec<u32>>>,
    /// Images of squares, a byte at a time, as `images[symmetry]`.
    images: Vec<[[u32; 256]; 4]>,
    bits: PhantomData<fn() -> B>,
}

/// Placement that is legal in some states of a block.
pub struct Placement<B: Bits> {
    /// Action of the placement.
    pub action: Action,
    /// Its range in the block's `ways`.
    ways: Range<usize>,
    /// Canonical occupied squares after it.
    pub to: Image<B>,
}

/// Buffers of the states in which a placement is legal; only a prefix of each is valid.
#[derive(Default)]
pub struct PlacementStates {
    /// Indices of the states.
    numbers: Vec<u32>,
    /// Discs of the next mover after the placement.
    after: Vec<u32>,
}

impl<B: Bits> Block<B> {
    /// Returns the discs that a placement turns, for [`LANES`] movers at once. Plain loops over arrays, which
    /// the compiler vectorizes.
    #[inline(always)]
    fn turned(&self, placement: &Placement<B>, movers: &[u32; LANES]) -> [u32; LANES] {
        let (mut all, mut turned) = ([0; LANES], [0; LANES]);
        for &(square, nearer) in &self.ways[placement.ways.clone()] {
            for lane in 0..LANES {
                let is_movers = movers[lane] & square != 0;
                turned[lane] = if is_movers { nearer } else { turned[lane] };
            }
            if nearer == 0 {
                for lane in 0..LANES {
                    all[lane] |= std::mem::take(&mut turned[lane]);
                }
            }
        }
        all
    }

    /// Finds the states of the block in which a placement is legal. Returns their indices and the discs of
    /// the next mover after it, and adds the placement to the number of `moves` of each state.
    #[inline(always)]
    pub fn find<'a>(
        &self,
        placement: &Placement<B>,
        movers: &[u32],
        moves: &mut [u32],
        found: &'a mut PlacementStates,
    ) -> (&'a [u32], &'a mut [u32]) {
        let PlacementStates { numbers, after } = found;
        if numbers.len() < movers.len() + 2 * LANES {
            numbers.resize(movers.len() + 2 * LANES, 0);
            after.resize(movers.len() + 2 * LANES, 0);
        }
        let mut count = 0;
        let (whole, rest) = movers.as_chunks::<LANES>();
        let (of_whole, of_rest) = moves.as_chunks_mut::<LANES>();
        // Padding: a mover with all squares turns nothing.
        let (mut last, mut of_last) = ([u32::MAX; LANES], [0; LANES]);
        last[..rest.len()].copy_from_slice(rest);
        let chunks = whole.iter().zip(of_whole).chain([(&last, &mut of_last)]);
        // No closures: they might not be compiled with the target features of their caller.
        for (chunk, (lanes, moves)) in chunks.enumerate() {
            let room = (numbers[count..].first_chunk_mut(), after[count..].first_chunk_mut());
            if let (Some(numbers), Some(after)) = room {
                let turned = self.turned(placement, lanes);
                let mut others = [0; LANES];
                for lane in 0..LANES {
                    others[lane] = self.occupied ^ lanes[lane] ^ turned[lane];
                    moves[lane] += u32::from(turned[lane] != 0);
                }
                let first = (chunk * LANES) as u32;
                count += B::keep(&turned, &others, first, [numbers, after], &self.own.mask);
            }
        }
        for (moves, more) in of_rest.iter_mut().zip(of_last) {
            *moves += more;
        }
        (&numbers[..count], &mut after[..count])
    }
}

/// Occupied squares in canonical form.
pub struct Image<B: Bits> {
    /// Canonical occupied squares.
    pub occupied: u32,
    mask: B::Mask,
    /// Bit set of the symmetries that lead to them.
    symmetries: u8,
}

/// Block prepared for generating moves.
pub struct Block<B: Bits> {
    /// Occupied squares, in canonical form.
    pub occupied: u32,
    own: Image<B>,
    /// Placements that are legal in some state.
    pub placements: Vec<Placement<B>>,
    /// Runs of occupied squares in each direction from each placement, the furthest square first. Each entry
    /// is a square and the squares nearer than it, which are turned if it is the nearest of the mover's. The
    /// last entry of a run has no nearer squares.
    ways: Vec<(u32, u32)>,
}

impl<B: Bits> Image<B> {
    /// Returns the symmetry that leads to the canonical form, if it is unique.
    #[inline(always)]
    pub fn only_symmetry(&self) -> Option<Symmetry> {
        self.symmetries.is_power_of_two().then(|| self.symmetries.trailing_zeros() as Symmetry)
    }
}

impl<B: Bits> Blocks<B> {
    /// Makes the rules of a game that [has blocks](has_blocks).
    pub fn new(game: &dyn Rules) -> Blocks<B> {
        let (rows, columns) = game.shape();
        let squares = rows * columns;
        let at = |row: isize, column: isize| {
            let inside =
                (0..rows as isize).contains(&row) && (0..columns as isize).contains(&column);
            inside.then(|| (row as usize * columns + column as usize) as u32)
        };
        let rays = |square: usize| {
            let (row, column) = ((square / columns) as isize, (square % columns) as isize);
            let directions = [(0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (1, 1), (-1, 1), (1, -1)];
            let ray = |(down, right): (isize, isize)| -> Vec<u32> {
                (1..).map_while(|step| at(row + step * down, column + step * right)).collect()
            };
            directions.into_iter().map(ray).filter(|ray| ray.len() > 1).collect()
        };
        let rays = (0..squares).map(rays).collect();
        let image = |symmetry: Symmetry| {
            let to = |square: usize| game.transform_action(Action(square as u16), symmetry).0;
            byte_table((0..squares).map(|square| (square, to(square) as usize)))
        };
        let images = (0..game.group().order() as Symmetry).map(image).collect();
        Blocks { squares: squares as u32, rays, images, bits: PhantomData }
    }

    #[inline(always)]
    fn image(&self, symmetry: Symmetry, squares: u32) -> u32 {
        look_up(&self.images[symmetry as usize], squares)
    }

    /// Returns the canonical form of occupied squares and the bit set of symmetries that lead to it.
    pub fn canonical(&self, occupied: u32) -> (u32, u8) {
        let mut best = (occupied, 1);
        for symmetry in 1..self.images.len() as Symmetry {
            let image = self.image(symmetry, occupied);
            if image < best.0 {
                best = (image, 1 << symmetry);
            } else if image == best.0 {
                best.1 |= 1 << symmetry;
            }
        }
        best
    }

    fn image_of(&self, occupied: u32) -> Image<B> {
        let (occupied, symmetries) = self.canonical(occupied);
        Image { occupied, mask: B::mask(occupied), symmetries }
    }

    /// Returns the runs of occupied squares in each direction from a square, the nearest first, of at least
    /// two squares.
    fn runs(&self, square: usize, occupied: u32) -> impl Iterator<Item = &[u32]> {
        self.rays[square].iter().filter_map(move |ray| {
            let length = ray.iter().take_while(|&&square| occupied >> square & 1 == 1).count();
            (length > 1).then_some(&ray[..length])
        })
    }

    /// Returns the empty squares on which a disc can turn others in some state.
    fn open(&self, occupied: u32) -> impl Iterator<Item = usize> + '_ {
        let empty = (0..self.rays.len()).filter(move |square| occupied >> square & 1 == 0);
        empty.filter(move |&square| self.runs(square, occupied).next().is_some())
    }

    /// Returns the canonical occupied squares to which a block's placements may lead.
    pub fn next(&self, occupied: u32) -> impl Iterator<Item = u32> + '_ {
        self.open(occupied).map(move |square| self.canonical(occupied | 1 << square).0)
    }

    /// Prepares a block with canonical occupied squares.
    pub fn block(&self, occupied: u32) -> Block<B> {
        // Capacities that nearly always suffice: growing costs more than all the rest.
        let (mut ways, mut placements) = (Vec::with_capacity(1 << 7), Vec::with_capacity(1 << 4));
        for square in self.open(occupied) {
            let first = ways.len();
            for run in self.runs(square, occupied) {
                let mut nearer = run.iter().fold(0, |all, square| all | 1 << square);
                for square in run.iter().rev() {
                    nearer &= !(1 << square);
                    ways.push((1 << square, nearer));
                }
            }
            let (action, to) = (Action(square as u16), self.image_of(occupied | 1 << square));
            placements.push(Placement { action, ways: first..ways.len(), to });
        }
        Block { occupied, own: self.image_of(occupied), placements, ways }
    }

    /// Returns the place of a state in the block of its canonical form, and the symmetries that lead there.
    #[inline(always)]
    pub fn place(&self, to: &Image<B>, mover: u32) -> (u32, u8) {
        let first = to.symmetries.trailing_zeros() as Symmetry;
        let image = self.image(first, mover);
        if to.symmetries & (to.symmetries - 1) == 0 {
            return (B::press(image, &to.mask), to.symmetries);
        }
        let (mut best, mut ties) = (image, 1 << first);
        let mut rest = to.symmetries & (to.symmetries - 1);
        while rest != 0 {
            let symmetry = rest.trailing_zeros() as Symmetry;
            rest &= rest - 1;
            let image = self.image(symmetry, mover);
            if image < best {
                (best, ties) = (image, 1 << symmetry);
            } else if image == best {
                ties |= 1 << symmetry;
            }
        }
        (B::press(best, &to.mask), ties)
    }

    /// Replaces each mover by its [`place`](Blocks::place). Fills `ties` with the symmetries if there is
    /// [more than one](Image::only_symmetry).
    #[inline(always)]
    pub fn places(&self, to: &Image<B>, movers: &mut [u32], ties: &mut Vec<u8>) {
        ties.clear();
        // No closures: they might not be compiled with the target features of their caller.
        match to.only_symmetry() {
            None => {
                for mover in movers {
                    let (place, own) = self.place(to, *mover);
                    *mover = place;
                    ties.push(own);
                }
            }
            Some(0) => {
                for mover in movers {
                    *mover = B::press(*mover, &to.mask);
                }
            }
            Some(symmetry) => {
                let image = &self.images[symmetry as usize];
                for mover in movers {
                    *mover = B::press(look_up(image, *mover), &to.mask);
                }
            }
        }
    }

    /// Returns the canonical occupied squares of a board, its place in their block and the symmetries that
    /// lead there.
    pub fn place_of(&self, (mover, opponent): (u64, u64)) -> (u32, u32, u8) {
        let to = self.image_of((mover | opponent) as u32);
        let (place, ties) = self.place(&to, mover as u32);
        (to.occupied, place, ties)
    }

    /// Returns the key of a place in a block.
    #[inline(always)]
    pub fn key(&self, block: &Block<B>, place: u32) -> u64 {
        self.key_of(block.occupied, &block.own.mask, place)
    }

    /// Returns the key of a place from the occupied squares and their mask alone.
    #[inline(always)]
    pub fn key_of(&self, occupied: u32, mask: &B::Mask, place: u32) -> u64 {
        u64::from(occupied) << self.squares | u64::from(B::spread(place, mask))
    }

    /// Returns the occupied squares and the place of a canonical key.
    pub fn of_key(&self, key: u64) -> (u32, u32) {
        let (occupied, mover) = (self.occupied(key), key as u32 & self.all());
        (occupied, B::press(mover, &B::mask(occupied)))
    }

    /// Returns the occupied squares of a key.
    #[inline(always)]
    pub fn occupied(&self, key: u64) -> u32 {
        (key >> self.squares) as u32
    }

    /// Returns `true` if a number is a key, canonical or not, of a state with `discs` discs.
    pub fn has_key(&self, discs: u32, key: u64) -> bool {
        let (occupied, mover) = (key >> self.squares, key & u64::from(self.all()));
        occupied <= u64::from(self.all())
            && occupied.count_ones() == discs
            && mover & !occupied == 0
    }

    /// Returns the pass.
    pub fn pass(&self) -> Action {
        Action(self.squares as u16)
    }

    fn all(&self) -> u32 {
        (u64::MAX >> (64 - self.squares)) as u32
    }

    /// Returns the mover's squares of a place in a block.
    #[inline(always)]
    pub fn mover(&self, block: &Block<B>, place: u32) -> u32 {
        B::spread(place, &block.own.mask)
    }

    /// Returns the place of a state with the other side to move, and the symmetries that lead there.
    #[inline(always)]
    pub fn swapped(&self, block: &Block<B>, mover: u32) -> (u32, u8) {
        self.place(&block.own, block.occupied ^ mover)
    }
}
