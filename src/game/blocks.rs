//! Othello in blocks: states with the same occupied squares.
//!
//! Within a block a state is the mover's discs pressed together, `press(mover, occupied)`: a number
//! below 2^discs. A placement on a square leads from all states of a block to states of one other,
//! by the one symmetry that makes its occupied squares canonical, so both are looked up once a
//! block. Only blocks that a symmetry leaves as they are have several images to choose from; then
//! the smallest mover is the canonical one, as for keys. A pass stays in the block: its complement.

use std::collections::BTreeMap;

use super::{Action, Game, Symmetry};

/// How bits are pressed together and spread again.
pub trait Bits: Send + Sync + Sized {
    /// A set of squares, prepared.
    type Mask: Clone + Send + Sync;
    /// Prepares a set of squares.
    fn mask(squares: u32) -> Self::Mask;
    /// The bits of `x` at the squares of the mask, side by side.
    fn press(x: u32, mask: &Self::Mask) -> u32;
    /// The low bits of `x` at the squares of the mask.
    fn spread(x: u32, mask: &Self::Mask) -> u32;
    /// Tells the processor that something will be read soon.
    fn fetch<T>(_soon: &T) {}
    /// Does a piece of work, compiled for the processors that have what this takes.
    fn run<W: Work>(work: W) -> W::Output;
}

/// A piece of work; `run` must be inlined, to be compiled for the processors it runs on.
pub trait Work {
    /// What comes of it.
    type Output;
    /// Does it.
    fn run(self) -> Self::Output;
}

/// By tables, on any processor.
#[derive(Clone, Copy, Debug)]
pub struct Tables;

/// For every byte of a word, what each of its values gives.
type ByteTable = Box<[[u32; 256]; 4]>;

/// The table by which bits go elsewhere: of each pair the first to the second.
fn byte_table(bits: impl Iterator<Item = (usize, usize)>) -> [[u32; 256]; 4] {
    let mut table = [[0; 256]; 4];
    for (from, to) in bits {
        for value in (0..256).filter(|value| value >> (from % 8) & 1 == 1) {
            table[from / 8][value] |= 1 << to;
        }
    }
    table
}

#[inline(always)]
fn look_up(table: &[[u32; 256]; 4], x: u32) -> u32 {
    let [a, b, c, d] = x.to_le_bytes();
    table[0][a as usize] | table[1][b as usize] | table[2][c as usize] | table[3][d as usize]
}

impl Bits for Tables {
    type Mask = (ByteTable, ByteTable);

    fn mask(squares: u32) -> Self::Mask {
        let all = || (0..32).filter(|square| squares >> square & 1 == 1).enumerate();
        let press = Box::new(byte_table(all().map(|(place, square)| (square, place))));
        let spread = Box::new(byte_table(all()));
        (press, spread)
    }

    #[inline(always)]
    fn press(x: u32, mask: &Self::Mask) -> u32 {
        look_up(&mask.0, x)
    }

    #[inline(always)]
    fn spread(x: u32, mask: &Self::Mask) -> u32 {
        look_up(&mask.1, x)
    }

    fn run<W: Work>(work: W) -> W::Output {
        work.run()
    }
}

/// By instructions of their own, where the processor has them and they are fast.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Instructions;

#[cfg(target_arch = "x86_64")]
impl Instructions {
    /// Whether this processor has them.
    pub fn are_there() -> bool {
        is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
    }
}

/// Squares to press together; made only where the instructions are there.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Pressable(u32);

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
impl Bits for Instructions {
    type Mask = Pressable;

    /// # Panics
    ///
    /// Where the processor has no such instructions.
    #[inline]
    fn mask(squares: u32) -> Pressable {
        assert!(Instructions::are_there());
        Pressable(squares)
    }

    #[inline(always)]
    fn press(x: u32, mask: &Pressable) -> u32 {
        // SAFETY: the instruction is there, or there would be no mask.
        unsafe { std::arch::x86_64::_pext_u32(x, mask.0) }
    }

    #[inline(always)]
    fn spread(x: u32, mask: &Pressable) -> u32 {
        // SAFETY: as above.
        unsafe { std::arch::x86_64::_pdep_u32(x, mask.0) }
    }

    #[inline(always)]
    fn fetch<T>(soon: &T) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; it reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(soon).cast()) }
    }

    /// # Panics
    ///
    /// Where the processor has no such instructions.
    fn run<W: Work>(work: W) -> W::Output {
        #[target_feature(enable = "bmi1,bmi2,popcnt")]
        fn compiled_for_it<W: Work>(work: W) -> W::Output {
            work.run()
        }
        assert!(Instructions::are_there());
        // SAFETY: they are there.
        unsafe { compiled_for_it(work) }
    }
}

/// Squares on both sides of a square that are occupied one after another, along a line.
struct Run<B: Bits> {
    mask: B::Mask,
    /// All of them, pressed.
    all: u32,
    /// Where its table begins in [`Blocks::turned`].
    table: usize,
}

/// A line of squares through a square: those below it and those above, the nearest first.
struct Line {
    ways: [Vec<u32>; 2],
    /// `runs + before * (most + 1) + behind`: the run of so many squares below and above.
    runs: usize,
}

/// The rules of a board of up to 32 squares, by block.
pub struct Blocks<B: Bits> {
    squares: u32,
    /// `lines[square]`: those through it on which a disc can be turned.
    lines: Vec<Vec<Line>>,
    runs: Vec<Run<B>>,
    /// `turned[table + mover]`: what a disc turns in a run, by the mover's discs there.
    turned: Vec<u8>,
    /// `images[symmetry]`: where squares go.
    images: Vec<[[u32; 256]; 4]>,
}

/// A placement that states of a block may have.
pub struct Placement<B: Bits> {
    /// The action.
    pub action: Action,
    /// Where discs may be turned: places in [`Blocks::runs`].
    runs: Vec<u32>,
    /// What it leads to.
    pub to: Image<B>,
}

/// Occupied squares brought to their canonical form.
pub struct Image<B: Bits> {
    /// The canonical form.
    pub occupied: u32,
    mask: B::Mask,
    /// The symmetries that lead to it.
    symmetries: u8,
}

/// A block to work on.
pub struct Block<B: Bits> {
    /// Its occupied squares, canonical.
    pub occupied: u32,
    own: Image<B>,
    /// The placements that turn something in some state.
    pub placements: Vec<Placement<B>>,
}

impl<B: Bits> Blocks<B> {
    /// The rules of a game that [has blocks](Game::has_blocks).
    pub fn new<G: Game>(game: &G) -> Blocks<B> {
        let (rows, columns) = game.shape();
        let squares = rows * columns;
        let at = |row: isize, column: isize| {
            let inside =
                (0..rows as isize).contains(&row) && (0..columns as isize).contains(&column);
            inside.then(|| (row as usize * columns + column as usize) as u32)
        };
        let (mut turned, mut tables) = (Vec::new(), BTreeMap::new());
        let (mut lines, mut runs) = (Vec::new(), Vec::new());
        for square in 0..squares {
            let (row, column) = ((square / columns) as isize, (square % columns) as isize);
            let mut own = Vec::new();
            for (down, right) in [(0, 1), (1, 0), (1, 1), (1, -1)] {
                let along = |step: isize| at(row + step * down, column + step * right);
                let before: Vec<u32> = (1..).map_while(|step| along(-step)).collect();
                let behind: Vec<u32> = (1..).map_while(along).collect();
                if before.len() < 2 && behind.len() < 2 {
                    continue;
                }
                let line = Line { ways: [before, behind], runs: runs.len() };
                for (below, above) in line.lengths() {
                    let squares = line.ways[0][..below].iter().chain(&line.ways[1][..above]);
                    let table = *tables.entry((below, above)).or_insert_with(|| {
                        let table = turned.len();
                        turned.extend(turned_in_run(below, above));
                        table
                    });
                    let mask = B::mask(squares.fold(0, |mask, square| mask | 1 << square));
                    runs.push(Run { mask, all: (1 << (below + above)) - 1, table });
                }
                own.push(line);
            }
            lines.push(own);
        }
        let image = |symmetry: Symmetry| {
            let to = |square: usize| game.transform_action(Action(square as u16), symmetry).0;
            byte_table((0..squares).map(|square| (square, to(square) as usize)))
        };
        let images = (0..game.group().order() as Symmetry).map(image).collect();
        Blocks { squares: squares as u32, lines, runs, turned, images }
    }

    /// What a disc turns, by the mover's discs; `opponent` for a disc of the other side.
    #[inline(always)]
    fn turned(&self, placement: &Placement<B>, mover: u32, opponent: bool) -> u32 {
        let mut all = 0;
        for &run in &placement.runs {
            let run = &self.runs[run as usize];
            let mine = B::press(mover, &run.mask) ^ if opponent { run.all } else { 0 };
            let turned = self.turned[run.table + mine as usize];
            all |= B::spread(u32::from(turned), &run.mask);
        }
        all
    }

    #[inline(always)]
    fn image(&self, symmetry: Symmetry, squares: u32) -> u32 {
        look_up(&self.images[symmetry as usize], squares)
    }

    /// The canonical form of occupied squares.
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

    /// The runs in which a disc on an empty square may turn others.
    fn runs_at(&self, square: usize, occupied: u32) -> impl Iterator<Item = u32> + '_ {
        self.lines[square].iter().filter_map(move |line| {
            let [below, above] = [0, 1].map(|way: usize| {
                let is_there = |&&square: &&u32| occupied >> square & 1 == 1;
                let length = line.ways[way].iter().take_while(is_there).count();
                // One disc has nothing behind it that could turn it.
                if length < 2 { 0 } else { length }
            });
            let run = line.runs + below * (line.ways[1].len() + 1) + above;
            (below + above > 0).then_some(run as u32)
        })
    }

    /// The empty squares on which a disc may turn others.
    fn open(&self, occupied: u32) -> impl Iterator<Item = usize> + '_ {
        let empty = (0..self.lines.len()).filter(move |square| occupied >> square & 1 == 0);
        empty.filter(move |&square| self.runs_at(square, occupied).next().is_some())
    }

    /// The canonical occupied squares that a block's placements may lead to.
    pub fn next(&self, occupied: u32) -> impl Iterator<Item = u32> + '_ {
        self.open(occupied).map(move |square| self.canonical(occupied | 1 << square).0)
    }

    /// A block to work on, of canonical occupied squares.
    pub fn block(&self, occupied: u32) -> Block<B> {
        let placement = |square: usize| Placement {
            action: Action(square as u16),
            runs: self.runs_at(square, occupied).collect(),
            to: self.image_of(occupied | 1 << square),
        };
        let placements = self.open(occupied).map(placement).collect();
        Block { occupied, own: self.image_of(occupied), placements }
    }

    /// The place of a state in the block of its canonical form, and the symmetries that lead there.
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

    /// The canonical occupied squares of a board, its place there and the symmetries that lead
    /// there.
    pub fn place_of(&self, (mover, opponent): (u64, u64)) -> (u32, u32, u8) {
        let to = self.image_of((mover | opponent) as u32);
        let (place, ties) = self.place(&to, mover as u32);
        (to.occupied, place, ties)
    }

    /// The key of a place in a block.
    #[inline(always)]
    pub fn key(&self, block: &Block<B>, place: u32) -> u64 {
        u64::from(block.occupied) << self.squares | u64::from(self.mover(block, place))
    }

    /// The occupied squares and the place of a canonical key.
    pub fn of_key(&self, key: u64) -> (u32, u32) {
        let (occupied, mover) = ((key >> self.squares) as u32, key as u32 & self.all());
        (occupied, B::press(mover, &B::mask(occupied)))
    }

    /// The action of passing.
    pub fn pass(&self) -> Action {
        Action(self.squares as u16)
    }

    fn all(&self) -> u32 {
        (u64::MAX >> (64 - self.squares)) as u32
    }

    /// The mover's squares of a place in a block.
    #[inline(always)]
    pub fn mover(&self, block: &Block<B>, place: u32) -> u32 {
        B::spread(place, &block.own.mask)
    }

    /// Calls `visit` with every placement of a state that turns something, its number in the block,
    /// and the place of where it leads with the symmetries that lead there; gives how many there
    /// are.
    #[inline(always)]
    pub fn for_each_placement(
        &self,
        block: &Block<B>,
        mover: u32,
        mut visit: impl FnMut(usize, &Placement<B>, (u32, u8)),
    ) -> u32 {
        let opponent = block.occupied ^ mover;
        let mut count = 0;
        for (number, placement) in block.placements.iter().enumerate() {
            let turned = self.turned(placement, mover, false);
            if turned != 0 {
                count += 1;
                visit(number, placement, self.place(&placement.to, opponent ^ turned));
            }
        }
        count
    }

    /// Whether the opponent could place where the mover cannot.
    #[inline(always)]
    pub fn passes(&self, block: &Block<B>, mover: u32) -> bool {
        block.placements.iter().any(|placement| self.turned(placement, mover, true) != 0)
    }

    /// The place of a state with the other side to move, and the symmetries that lead there.
    #[inline(always)]
    pub fn swapped(&self, block: &Block<B>, mover: u32) -> (u32, u8) {
        self.place(&block.own, block.occupied ^ mover)
    }
}

impl Line {
    /// The numbers of squares below and above that runs may have, in the order of [`Line::runs`].
    fn lengths(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let [below, above] = [0, 1].map(|way: usize| self.ways[way].len());
        (0..=below).flat_map(move |b| (0..=above).map(move |a| (b, a)))
    }
}

/// What a disc turns in a run of so many squares below and above it, by the mover's discs there.
/// The bits of a run ascend with its squares, so the nearest below is the highest of those.
fn turned_in_run(below: usize, above: usize) -> Vec<u8> {
    let of = |mover: usize| {
        let way = |squares: &mut dyn Iterator<Item = usize>| {
            let mut run = 0;
            for square in squares {
                if mover >> square & 1 == 1 {
                    return run;
                }
                run |= 1 << square;
            }
            0
        };
        way(&mut (0..below).rev()) | way(&mut (below..below + above))
    };
    (0..1 << (below + above)).map(of).collect()
}
