//! Positions numbered without gaps, for games that are small enough to be held whole.
//!
//! A position's *rank* is, from the most significant digit down:
//!
//! 1. the squares of the two kings, up to the left-right mirror;
//! 2. the *cohort*: of every kind how many pieces are in either hand, and on the board with either
//!    owner, promoted or not;
//! 3. where the pieces of the cohort stand: group by group of like pieces the number of their
//!    combination among the squares that are still free.
//!
//! All pieces of the game are somewhere, so that nothing else is needed. Left out are the positions
//! in which the mover's king stands on the farthest rank: it has won before. Where the mirror leaves
//! both kings in place a position and its image have two ranks and the smaller counts; the other is
//! never used.

use super::board::{Board, Cell, Owner};
use super::moves::{Squares, bits};
use super::variant::{Ending, MAX_SQUARES, Variant};

/// No pair of kings.
const NO_PAIR: u8 = u8::MAX;

/// By the squares of two kings: a number, and whether it is that of the mirror images.
type PairNumbers = Vec<(u8, bool)>;

/// The numbers of a variant's positions.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    squares: usize,
    hand_kinds: usize,
    mirrored: [u8; MAX_SQUARES],
    /// By the squares of the mover's and of the opponent's king: the number of the pair of them or
    /// of their mirror images, and whether it is that of the images.
    pairs: PairNumbers,
    /// The squares of each pair.
    kings: Vec<(u8, u8)>,
    /// Placements with one pair of kings, all cohorts together.
    placements: u32,
    /// By the number that a cohort's counts make: its place in `cohorts`.
    cohort_of: Vec<u16>,
    cohorts: Vec<Cohort>,
    /// For each kind that can be held, by the cell of a piece of it: the weight of that piece in the
    /// number that the counts make.
    weights: [u32; 32],
    hand_weights: [[u32; super::MAX_HAND_KINDS]; 2],
    /// The cells that pieces but the kings can be, in the order of the groups.
    group_cells: Vec<Cell>,
}

/// Like pieces on the board.
#[derive(Clone, Copy, Debug)]
struct Group {
    cell: Cell,
    count: u8,
    /// How many ways there are to place them.
    ways: u32,
}

/// What pieces there are where, the kings left out.
#[derive(Clone, Debug)]
struct Cohort {
    /// The number of its first placement.
    first: u32,
    /// The groups that are not empty.
    groups: Vec<Group>,
    hands: [[u8; super::MAX_HAND_KINDS]; 2],
}

impl Ranking {
    /// The ranking of a variant's positions; `None` where there are too many to be numbered in 32
    /// bits, or where kings are not captured.
    pub fn new(variant: &Variant) -> Option<Ranking> {
        if variant.ending != Ending::Adjudicated || variant.copies != 2 {
            return None;
        }
        let (squares, hand_kinds) = (variant.squares(), variant.hand_kinds());
        let mut mirrored = [0; MAX_SQUARES];
        for (square, image) in mirrored.iter_mut().enumerate().take(squares) {
            let column = square % variant.columns;
            *image = (square - column + variant.columns - 1 - column) as u8;
        }
        let (pairs, kings) = king_pairs(squares, variant.columns, &mirrored);
        let mut ranking = Ranking {
            squares,
            hand_kinds,
            mirrored,
            pairs,
            kings,
            placements: 0,
            cohort_of: Vec::new(),
            cohorts: Vec::new(),
            weights: [0; 32],
            hand_weights: [[0; super::MAX_HAND_KINDS]; 2],
            group_cells: Vec::new(),
        };
        ranking.number_cohorts(variant)?;
        (ranking.placements as u64 * ranking.kings.len() as u64 <= u64::from(u32::MAX))
            .then_some(ranking)
    }

    /// Numbers the cohorts: the count of each sort of piece is a digit to base 3.
    fn number_cohorts(&mut self, variant: &Variant) -> Option<()> {
        let mut digits = 0;
        let mut weight = || {
            digits += 1;
            3u32.checked_pow(digits - 1)
        };
        for kind in 1..=self.hand_kinds {
            for owner in [Owner::Mover, Owner::Opponent] {
                self.hand_weights[owner.index()][kind - 1] = weight()?;
            }
            for form in std::iter::once(kind).chain(variant.kinds[kind].promotes_to) {
                for owner in [Owner::Mover, Owner::Opponent] {
                    let cell = Cell::of(owner, form);
                    self.weights[usize::from(cell.0)] = weight()?;
                    self.group_cells.push(cell);
                }
            }
        }
        let numbers = 3usize.checked_pow(digits).filter(|&numbers| numbers <= 1 << 26)?;
        self.cohort_of = vec![u16::MAX; numbers];
        let mut counts = vec![0; digits as usize];
        self.each_cohort(variant, 1, 0, &mut counts, 0)
    }

    /// Adds the cohorts whose counts of kinds below `kind` are given; `at` is the place of the
    /// kind's first count and `number` what the counts so far make.
    fn each_cohort(
        &mut self,
        variant: &Variant,
        kind: usize,
        at: usize,
        counts: &mut [u8],
        number: u32,
    ) -> Option<()> {
        if kind > self.hand_kinds {
            return self.add_cohort(variant, counts, number);
        }
        let sorts = if variant.kinds[kind].promotes_to.is_some() { 6 } else { 4 };
        for first in 0..sorts {
            for second in first..sorts {
                counts[at..at + sorts].fill(0);
                counts[at + first] += 1;
                counts[at + second] += 1;
                let more = 3u32.pow((at + first) as u32) + 3u32.pow((at + second) as u32);
                self.each_cohort(variant, kind + 1, at + sorts, counts, number + more)?;
            }
        }
        counts[at..at + sorts].fill(0);
        Some(())
    }

    fn add_cohort(&mut self, variant: &Variant, counts: &[u8], number: u32) -> Option<()> {
        let mut hands = [[0; super::MAX_HAND_KINDS]; 2];
        let mut groups = Vec::new();
        let mut free = self.squares as u32 - 2;
        let (mut ways_of_all, mut at) = (1u32, 0);
        for kind in 1..=self.hand_kinds {
            hands[0][kind - 1] = counts[at];
            hands[1][kind - 1] = counts[at + 1];
            at += 2;
            for form in std::iter::once(kind).chain(variant.kinds[kind].promotes_to) {
                for owner in [Owner::Mover, Owner::Opponent] {
                    let count = counts[at];
                    at += 1;
                    if count == 0 {
                        continue;
                    }
                    if free < u32::from(count) {
                        // More pieces than squares: such positions do not exist.
                        return Some(());
                    }
                    let ways = if count == 1 { free } else { free * (free - 1) / 2 };
                    groups.push(Group { cell: Cell::of(owner, form), count, ways });
                    free -= u32::from(count);
                    ways_of_all = ways_of_all.checked_mul(ways)?;
                }
            }
        }
        self.cohort_of[number as usize] = u16::try_from(self.cohorts.len()).ok()?;
        self.cohorts.push(Cohort { first: self.placements, groups, hands });
        self.placements = self.placements.checked_add(ways_of_all)?;
        Some(())
    }

    /// How many ranks there are; every rank is below.
    pub fn len(&self) -> u32 {
        self.placements * self.kings.len() as u32
    }

    /// The rank of a position and of its mirror image; `None` if it has none (a king is missing or
    /// has won, or pieces are).
    #[inline]
    pub fn rank(&self, board: &Board) -> Option<u32> {
        let mut sets = [0 as Squares; 32];
        let mut number = 0;
        for (square, cell) in board.cells[..self.squares].iter().enumerate() {
            let code = usize::from(cell.0 & 31);
            sets[code] |= 1 << square;
            number += self.weights[code];
        }
        for (hand, weights) in board.hands.iter().zip(&self.hand_weights) {
            for (count, weight) in hand[..self.hand_kinds].iter().zip(weights) {
                number += u32::from(*count) * weight;
            }
        }
        let own = sets[usize::from(Cell::of(Owner::Mover, 0).0)].trailing_zeros() as usize;
        let their = sets[usize::from(Cell::of(Owner::Opponent, 0).0)].trailing_zeros() as usize;
        if own.max(their) >= self.squares {
            return None;
        }
        let (pair, image) = self.pairs[own * self.squares + their];
        let cohort = self.cohorts.get(usize::from(*self.cohort_of.get(number as usize)?))?;
        if pair == NO_PAIR {
            return None;
        }
        let first = u32::from(pair) * self.placements + cohort.first;
        let still = |king: usize| usize::from(self.mirrored[king]) == king;
        if still(own) && still(their) {
            let (one, other) = (self.place(cohort, &sets), self.place(cohort, &self.mirror(&sets)));
            return Some(first + one.min(other));
        }
        Some(
            first
                + if image {
                    self.place(cohort, &self.mirror(&sets))
                } else {
                    self.place(cohort, &sets)
                },
        )
    }

    fn mirror(&self, sets: &[Squares; 32]) -> [Squares; 32] {
        let mut images = [0; 32];
        for &cell in &self.group_cells {
            let set = sets[usize::from(cell.0)];
            images[usize::from(cell.0)] =
                bits(set).fold(0, |image, square| image | 1 << self.mirrored[square]);
        }
        for king in [Owner::Mover, Owner::Opponent].map(|owner| usize::from(Cell::of(owner, 0).0)) {
            images[king] = 1 << self.mirrored[sets[king].trailing_zeros() as usize];
        }
        images
    }

    /// The number of a placement in its cohort.
    #[inline]
    fn place(&self, cohort: &Cohort, sets: &[Squares; 32]) -> u32 {
        let kings = [Owner::Mover, Owner::Opponent].map(|o| sets[usize::from(Cell::of(o, 0).0)]);
        let mut free = ((1 << self.squares) - 1) & !(kings[0] | kings[1]);
        let mut place = 0;
        for group in &cohort.groups {
            let set = sets[usize::from(group.cell.0)];
            let nth = |square: u32| (free & ((1 << square) - 1)).count_ones();
            let mut way = nth(set.trailing_zeros());
            if group.count == 2 {
                let second = nth(Squares::BITS - 1 - set.leading_zeros());
                way += second * (second - 1) / 2;
            }
            place = place * group.ways + way;
            free &= !set;
        }
        place
    }

    /// The position of a rank below [`Ranking::len`].
    pub fn unrank(&self, rank: u32) -> Board {
        let (own, their) = self.kings[(rank / self.placements) as usize];
        let rest = rank % self.placements;
        let after = self.cohorts.partition_point(|cohort| cohort.first <= rest);
        let cohort = &self.cohorts[after - 1];
        let mut place = rest - cohort.first;
        let mut ways = [0; super::variant::MAX_PIECES];
        for (way, group) in ways.iter_mut().zip(&cohort.groups).rev() {
            *way = place % group.ways;
            place /= group.ways;
        }
        let mut board = Board { hands: cohort.hands, ..Board::EMPTY };
        board.cells[usize::from(own)] = Cell::of(Owner::Mover, 0);
        board.cells[usize::from(their)] = Cell::of(Owner::Opponent, 0);
        let mut free: Squares = ((1 << self.squares) - 1) & !(1 << own | 1 << their);
        for (&way, group) in ways.iter().zip(&cohort.groups) {
            let mut taken = 0;
            if group.count == 2 {
                // The larger number of the pair is the largest whose triangle is not above.
                let second = (1..).take_while(|n| n * (n + 1) / 2 <= way).last().unwrap_or(0) + 1;
                taken |= 1 << nth_square(free, second);
                taken |= 1 << nth_square(free, way - second * (second - 1) / 2);
            } else {
                taken |= 1 << nth_square(free, way);
            }
            bits(taken).for_each(|square| board.cells[square] = group.cell);
            free &= !taken;
        }
        board
    }
}

/// The `n`th square of a set, from 0.
fn nth_square(mut set: Squares, n: u32) -> usize {
    for _ in 0..n {
        set &= set - 1;
    }
    set.trailing_zeros() as usize
}

/// By squares of the mover's and the opponent's king the number of the pair, and the pairs.
fn king_pairs(
    squares: usize,
    columns: usize,
    mirrored: &[u8; MAX_SQUARES],
) -> (PairNumbers, Vec<(u8, u8)>) {
    let mut pairs = vec![(NO_PAIR, false); squares * squares];
    let mut kings = Vec::new();
    // Row 0 is the farthest from the mover.
    for own in columns..squares {
        for their in (0..squares).filter(|&their| their != own) {
            let image = (usize::from(mirrored[own]), usize::from(mirrored[their]));
            if (own, their) <= image {
                let number = kings.len() as u8;
                pairs[image.0 * squares + image.1] = (number, true);
                pairs[own * squares + their] = (number, false);
                kings.push((own as u8, their as u8));
            }
        }
    }
    (pairs, kings)
}
