//! Numbering of positions without gaps, for games small enough for full enumeration.
//!
//! A position's *rank* is, from the most significant digit down:
//!
//! 1. the squares of the two kings, up to the left-right mirror;
//! 2. the *cohort*: for every kind the number of pieces in either hand, and on the board with either owner,
//!    promoted or not;
//! 3. the squares of the cohort's pieces: for each group of like pieces the index of their combination among
//!    the squares still free.
//!
//! These determine a position, because captured pieces stay in the game. Positions with the mover's king on
//! the farthest rank are left out: it has won before. If the mirror leaves both kings in place, a position
//! and its image have two numbers; the smaller is the rank and the other is unused.

use super::board::{Board, Cell, Owner};
use super::moves::Squares;
use super::variant::{Ending, MAX_HAND_KINDS, MAX_PIECES, Variant};
use crate::bits::ones_of;

/// Marker: no pair of kings.
const NO_PAIR: u8 = u8::MAX;
/// Marker: not a way to have two pieces of a kind, but fewer or more.
const NO_WAY: u8 = u8::MAX;
/// Marker: no cohort, since its pieces need more squares than there are.
const NO_COHORT: u32 = u32::MAX;
/// Maximum number of squares of a ranked board: sets of squares index tables.
pub(super) const MOST_SQUARES: usize = 12;
/// Bits of the field that counts the pieces of one kind, and number of values of such a count: six digits to
/// base 3, one for each sort of piece (in either hand; on the board with either owner, promoted or not).
const FIELD: u32 = 10;
const COUNTS: usize = 3usize.pow(6);

/// Sizes of sets, in a table because some supported processors have no instruction to count bits.
static SIZES: [u8; 1 << MOST_SQUARES] = sizes();

const fn sizes() -> [u8; 1 << MOST_SQUARES] {
    let mut sizes = [0; 1 << MOST_SQUARES];
    let mut set = 1;
    while set < sizes.len() {
        sizes[set] = sizes[set / 2] + (set % 2) as u8;
        set += 1;
    }
    sizes
}

fn size(set: Squares) -> u32 {
    u32::from(SIZES[set as usize])
}

/// Bijection between a variant's positions and ranks.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    squares: usize,
    hand_kinds: usize,
    /// Mirror image of every set of squares.
    images: Vec<u16>,
    /// Pairs of kings, by the squares of the mover's and of the opponent's king.
    pairs: Vec<KingPair>,
    /// Squares of each pair.
    kings: Vec<(u8, u8)>,
    /// Number of placements with one pair of kings, all cohorts together.
    placements: u32,
    /// Weight of a piece in [`CohortCounts`]: on the board by its cell, and in hand.
    weights: [u64; 32],
    hand_weights: [[u64; MAX_HAND_KINDS]; 2],
    /// Index of the way to have two pieces of a kind, by kind and count.
    ways: Vec<[u8; COUNTS]>,
    /// Number of ways for each kind.
    way_counts: Vec<u32>,
    /// Cohort by the ways of all kinds.
    cohort_of: Vec<u32>,
    cohorts: Vec<Cohort>,
    /// First placement of each cohort.
    firsts: Vec<u32>,
    /// Cohort of every [`STEP`]th placement.
    near: Vec<u16>,
    /// Cohort that the other player sees, for each cohort.
    turned: Vec<u16>,
    /// Elements of every set, ascending.
    nths: Vec<[u8; MOST_SQUARES]>,
}

/// Pair of kings.
#[derive(Clone, Copy, Debug)]
struct KingPair {
    number: u8,
    /// `true` if the number is that of the mirror images.
    image: bool,
    /// `true` if the mirror leaves both kings in place.
    still: bool,
}

/// Group of like pieces on the board.
#[derive(Clone, Copy, Debug, Default)]
struct LikePieces {
    cell: Cell,
    count: u8,
    /// Number of ways to place them.
    ways: u32,
}

/// Distribution of the pieces without the kings over hands, owners and promotion.
#[derive(Clone, Copy, Debug)]
struct Cohort {
    /// Groups of pieces on the board.
    groups: [LikePieces; MAX_PIECES],
    group_count: u8,
    hands: [[u8; MAX_HAND_KINDS]; 2],
    /// Kinds in each owner's hand: bit `k`.
    held: [u16; 2],
    counts: CohortCounts,
}

/// Number of pieces of each sort, one field for each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CohortCounts(u64);

impl CohortCounts {
    #[inline(always)]
    pub(super) fn add(&mut self, weight: u64) {
        self.0 += weight;
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, weight: u64) {
        self.0 -= weight;
    }
}

/// Sets of squares of a position and of its mirror image, by the code of the piece; kings are ignored.
pub(super) type Views = [[u16; 32]; 2];

/// Stride of [`Ranking::near`].
const STEP: u32 = 1 << 9;

impl Cohort {
    #[inline]
    fn groups(&self) -> &[LikePieces] {
        &self.groups[..usize::from(self.group_count)]
    }
}

impl Ranking {
    /// Makes the ranking of a variant. Returns `None` unless its ending is [`Ending::Adjudicated`], it has
    /// two pieces of each kind, at most [`MOST_SQUARES`] squares and fewer than 2^32 ranks.
    pub(super) fn new(variant: &Variant) -> Option<Ranking> {
        let (squares, hand_kinds) = (variant.squares(), variant.hand_kinds());
        let fits = squares <= MOST_SQUARES && FIELD as usize * hand_kinds <= 64;
        if variant.ending != Ending::Adjudicated || variant.copies != 2 || !fits {
            return None;
        }
        let image = |set: Squares| {
            ones_of(set).fold(0, |image, square| image | 1 << variant.mirrored(square))
        };
        let (pairs, kings) = king_pairs(variant);
        let mut ranking = Ranking {
            squares,
            hand_kinds,
            images: (0..1 << squares).map(image).collect(),
            pairs,
            kings,
            placements: 0,
            weights: [0; 32],
            hand_weights: [[0; MAX_HAND_KINDS]; 2],
            ways: vec![[NO_WAY; COUNTS]; hand_kinds],
            way_counts: Vec::new(),
            cohort_of: Vec::new(),
            cohorts: Vec::new(),
            firsts: Vec::new(),
            near: Vec::new(),
            turned: Vec::new(),
            nths: (0..1 << squares).map(nth_squares).collect(),
        };
        ranking.number_cohorts(variant)?;
        ranking.finish();
        let ranks = u64::from(ranking.placements) * ranking.kings.len() as u64;
        u32::try_from(ranks).ok().map(|_| ranking)
    }

    /// Fills the tables that follow from the cohorts.
    fn finish(&mut self) {
        let mut cohort = 0;
        for placement in (0..self.placements).step_by(STEP as usize) {
            while self.firsts.get(cohort + 1).is_some_and(|&first| first <= placement) {
                cohort += 1;
            }
            self.near.push(cohort as u16);
        }
        let turned = self.cohorts.iter().map(|cohort| {
            let mut counts = CohortCounts::default();
            for group in cohort.groups() {
                let weight = self.weights[usize::from(group.cell.turned().0)];
                counts.add(u64::from(group.count) * weight);
            }
            for (owner, hand) in cohort.hands.iter().enumerate() {
                for (&count, weight) in hand.iter().zip(&self.hand_weights[1 - owner]) {
                    counts.add(u64::from(count) * weight);
                }
            }
            self.cohort(counts).unwrap_or_default() as u16
        });
        self.turned = turned.collect();
    }

    /// Numbers the cohorts.
    fn number_cohorts(&mut self, variant: &Variant) -> Option<()> {
        let mut ways_of_kinds = Vec::new();
        for kind in 1..=self.hand_kinds {
            let field = 1u64 << (FIELD * (kind as u32 - 1));
            let sorts = sorts_of(variant, kind);
            for (digit, sort) in sorts.iter().enumerate() {
                let weight = field * 3u64.pow(digit as u32);
                match sort {
                    Sort::Held(owner) => self.hand_weights[owner.index()][kind - 1] = weight,
                    Sort::Placed(cell) => self.weights[usize::from(cell.0)] = weight,
                }
            }
            let mut ways = Vec::new();
            for first in 0..sorts.len() {
                for second in first..sorts.len() {
                    let count = 3usize.pow(first as u32) + 3usize.pow(second as u32);
                    self.ways[kind - 1][count] = ways.len() as u8;
                    ways.push([sorts[first], sorts[second]]);
                }
            }
            self.way_counts.push(ways.len() as u32);
            ways_of_kinds.push(ways);
        }
        let all: u32 = self.way_counts.iter().product();
        for number in 0..all {
            let (mut rest, mut pieces) = (number, Vec::new());
            for ways in ways_of_kinds.iter().rev() {
                pieces.push(ways[rest as usize % ways.len()]);
                rest /= ways.len() as u32;
            }
            pieces.reverse();
            self.add_cohort(&pieces)?;
        }
        Some(())
    }

    /// Adds the cohort in which the two pieces of each kind are of these sorts.
    fn add_cohort(&mut self, pieces: &[[Sort; 2]]) -> Option<()> {
        let mut cohort = Cohort {
            groups: [LikePieces::default(); MAX_PIECES],
            group_count: 0,
            hands: [[0; MAX_HAND_KINDS]; 2],
            held: [0; 2],
            counts: CohortCounts::default(),
        };
        let mut free = self.squares as u32 - 2;
        let mut all_ways = 1u32;
        for (kind, [first, second]) in pieces.iter().enumerate() {
            for sort in [first, second] {
                cohort.counts.add(match sort {
                    Sort::Held(owner) => {
                        cohort.hands[owner.index()][kind] += 1;
                        cohort.held[owner.index()] |= 1 << (kind + 1);
                        self.hand_weight(owner.index(), kind + 1)
                    }
                    Sort::Placed(cell) => self.weight(usize::from(cell.0)),
                });
            }
            let pair = first == second;
            let placed = if pair { &[*first][..] } else { &[*first, *second][..] };
            for sort in placed {
                let Sort::Placed(cell) = *sort else { continue };
                let count = if pair { 2 } else { 1 };
                if free < u32::from(count) {
                    // More pieces than squares: no position has this cohort.
                    self.cohort_of.push(NO_COHORT);
                    return Some(());
                }
                let ways = if pair { free * (free - 1) / 2 } else { free };
                cohort.groups[usize::from(cohort.group_count)] = LikePieces { cell, count, ways };
                cohort.group_count += 1;
                free -= u32::from(count);
                all_ways = all_ways.checked_mul(ways)?;
            }
        }
        self.cohort_of.push(self.cohorts.len() as u32);
        self.cohorts.push(cohort);
        self.firsts.push(self.placements);
        self.placements = self.placements.checked_add(all_ways)?;
        Some(())
    }

    /// Returns the number of ranks.
    pub(super) fn len(&self) -> u32 {
        self.placements * self.kings.len() as u32
    }

    /// Returns the rank of a position and its mirror image; `None` if a king is missing or has won, or pieces
    /// are missing.
    #[inline]
    pub(super) fn rank(&self, board: &Board) -> Option<u32> {
        let kings = [board.king(Owner::Mover)?, board.king(Owner::Opponent)?];
        let mut views = [[0; 32]; 2];
        let mut counts = 0;
        for (square, cell) in board.cells[..self.squares].iter().enumerate() {
            let code = usize::from(cell.0 & 31);
            views[0][code] |= 1 << square;
            counts += self.weights[code];
        }
        for (hand, weights) in board.hands.iter().zip(&self.hand_weights) {
            for (count, weight) in hand[..self.hand_kinds].iter().zip(weights) {
                counts += u64::from(*count) * weight;
            }
        }
        views[1] = views[0].map(|set| self.image(set));
        self.rank_sets(kings, self.cohort(CohortCounts(counts))?, &mut views, [(0, 0); 3])
    }

    /// Returns all squares.
    #[inline(always)]
    pub(super) fn all(&self) -> Squares {
        (1 << self.squares) - 1
    }

    /// Returns the cohort of some counts; `None` if there is none.
    #[inline(always)]
    pub(super) fn cohort(&self, CohortCounts(mut counts): CohortCounts) -> Option<usize> {
        let mut number = 0;
        for (ways, of_all) in self.ways.iter().zip(&self.way_counts) {
            let count = (counts & ((1 << FIELD) - 1)) as usize;
            let way = ways.get(count).copied().filter(|&way| way != NO_WAY)?;
            number = number * of_all + u32::from(way);
            counts >>= FIELD;
        }
        Some(self.cohort_of[number as usize])
            .filter(|&cohort| cohort != NO_COHORT)
            .map(|c| c as usize)
    }

    /// Returns the cohort that the other player sees, and its counts.
    #[inline(always)]
    pub(super) fn turned(&self, cohort: usize) -> (usize, CohortCounts) {
        let turned = usize::from(self.turned[cohort]);
        (turned, self.cohorts[turned].counts)
    }

    /// Returns the weight of a piece on the board, by the code of its cell.
    #[inline(always)]
    pub(super) fn weight(&self, code: usize) -> u64 {
        self.weights[code & 31]
    }

    /// Returns the weight of a piece of a kind in hand of an owner.
    #[inline(always)]
    pub(super) fn hand_weight(&self, owner: usize, kind: usize) -> u64 {
        self.hand_weights[owner][kind - 1]
    }

    /// Returns the mirror image of a set.
    #[inline(always)]
    pub(super) fn image(&self, set: u16) -> u16 {
        self.images[usize::from(set)]
    }

    /// Returns `true` if the mirror leaves both kings in place.
    #[inline(always)]
    pub(super) fn is_still(&self, [own, their]: [usize; 2]) -> bool {
        self.pairs[own * self.squares + their].still
    }

    /// Returns the rank of a position and its mirror image, whose sets are `views` after `changes`: codes and
    /// squares to toggle. `None` if a king has won.
    #[inline(always)]
    pub(super) fn rank_sets(
        &self,
        [own, their]: [usize; 2],
        cohort: usize,
        views: &mut Views,
        changes: [(usize, u16); 3],
    ) -> Option<u32> {
        let pair = self.pairs[own * self.squares + their];
        if pair.number == NO_PAIR {
            return None;
        }
        let first = u32::from(pair.number) * self.placements + self.firsts[cohort];
        let cohort = &self.cohorts[cohort];
        let kings = 1 << own | 1 << their;
        let mut place_in = |image: bool| {
            let sets = &mut views[usize::from(image)];
            let seen = |set| if image { self.image(set) } else { set };
            for (code, set) in changes {
                sets[code & 31] ^= seen(set);
            }
            let free = self.all() & !Squares::from(seen(kings));
            let place = place(cohort, free, |cell| Squares::from(sets[cell]));
            for (code, set) in changes {
                sets[code & 31] ^= seen(set);
            }
            place
        };
        if pair.still {
            return Some(first + place_in(false).min(place_in(true)));
        }
        Some(first + place_in(pair.image))
    }

    /// Unranks a rank below [`Ranking::len`]: returns its cohort, the kinds in hand of the mover and of the
    /// opponent (bit `k`), and the squares of the kings, and writes the sets of the other pieces to `sets`.
    #[inline(always)]
    pub(super) fn unrank_sets(
        &self,
        rank: u32,
        sets: &mut [u16; 32],
    ) -> (usize, [u16; 2], [usize; 2]) {
        let (own, their) = self.kings[(rank / self.placements) as usize];
        let rest = rank % self.placements;
        let mut number = usize::from(self.near[(rest / STEP) as usize]);
        while self.firsts.get(number + 1).is_some_and(|&first| first <= rest) {
            number += 1;
        }
        let mut place = rest - self.firsts[number];
        let cohort = &self.cohorts[number];
        let mut ways = [0; MAX_PIECES];
        for (way, group) in ways.iter_mut().zip(cohort.groups()).rev() {
            *way = place % group.ways;
            place /= group.ways;
        }
        let mut free = self.all() & !(1 << own | 1 << their);
        for (&way, group) in ways.iter().zip(cohort.groups()) {
            let nth = |n: u32| 1u16 << self.nths[free as usize][n as usize];
            let taken = if group.count == 2 {
                let (first, second) = pair_of(way);
                nth(first) | nth(second)
            } else {
                nth(way)
            };
            sets[usize::from(group.cell.0 & 31)] = taken;
            free &= !Squares::from(taken);
        }
        (number, cohort.held, [usize::from(own), usize::from(their)])
    }

    /// Returns the position of a rank below [`Ranking::len`].
    pub(super) fn unrank(&self, rank: u32) -> Board {
        let mut sets = [0; 32];
        let (cohort, _, kings) = self.unrank_sets(rank, &mut sets);
        let mut board = Board::EMPTY;
        board.hands = self.cohorts[cohort].hands;
        for (owner, king) in [Owner::Mover, Owner::Opponent].into_iter().zip(kings) {
            board.put(king, Cell::of(owner, 0));
        }
        for (code, &set) in sets.iter().enumerate() {
            ones_of(set).for_each(|square| board.put(square, Cell(code as u8)));
        }
        board
    }
}

/// Returns the index of a placement within its cohort; `set_of` returns the squares of each cell.
#[inline]
fn place(cohort: &Cohort, mut free: Squares, set_of: impl Fn(usize) -> Squares) -> u32 {
    let mut place = 0;
    for group in cohort.groups() {
        let set = set_of(usize::from(group.cell.0 & 31));
        // Count of the free squares below the lowest of the set, then below the highest.
        let lowest = set & set.wrapping_neg();
        let mut way = size(free & lowest.wrapping_sub(1));
        if group.count == 2 {
            let second = size(free & (set ^ lowest).wrapping_sub(1));
            way += second * (second - 1) / 2;
        }
        place = place * group.ways + way;
        free &= !set;
    }
    place
}

/// Sort of a piece: in hand or on the board, and of which owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Held(Owner),
    Placed(Cell),
}

/// Returns all sorts of the pieces of a kind; their order is part of the ranking.
fn sorts_of(variant: &Variant, kind: usize) -> Vec<Sort> {
    let owners = [Owner::Mover, Owner::Opponent];
    let forms = std::iter::once(kind).chain(variant.kinds[kind].promotes_to);
    let placed = forms.flat_map(|form| owners.map(|owner| Sort::Placed(Cell::of(owner, form))));
    owners.map(Sort::Held).into_iter().chain(placed).collect()
}

/// Returns the two elements of a pair by its index; `second` is the largest number with a triangular number
/// of at most `way`.
fn pair_of(way: u32) -> (u32, u32) {
    let mut second = 1;
    while second * (second + 1) / 2 <= way {
        second += 1;
    }
    (way - second * (second - 1) / 2, second)
}

/// Returns the squares of a set, ascending.
fn nth_squares(set: Squares) -> [u8; MOST_SQUARES] {
    let mut squares = [0; MOST_SQUARES];
    squares.iter_mut().zip(ones_of(set)).for_each(|(place, square)| *place = square as u8);
    squares
}

/// Returns the pairs by the squares of the mover's and of the opponent's king, and the squares of every pair.
fn king_pairs(variant: &Variant) -> (Vec<KingPair>, Vec<(u8, u8)>) {
    let squares = variant.squares();
    let none = KingPair { number: NO_PAIR, image: false, still: false };
    let mut pairs = vec![none; squares * squares];
    let mut kings = Vec::new();
    // Row 0 is the farthest from the mover.
    for own in variant.columns..squares {
        for their in (0..squares).filter(|&their| their != own) {
            let image = (variant.mirrored(own), variant.mirrored(their));
            if (own, their) <= image {
                let (number, still) = (kings.len() as u8, (own, their) == image);
                pairs[image.0 * squares + image.1] = KingPair { number, image: true, still };
                pairs[own * squares + their] = KingPair { number, image: false, still };
                kings.push((own as u8, their as u8));
            }
        }
    }
    (pairs, kings)
}
