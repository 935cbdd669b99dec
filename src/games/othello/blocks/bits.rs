//! Packing and spreading of bits: by instructions on processors where they are fast, else by tables, with the
//! same results.

/// Number of states processed together, chosen for the width of vector registers.
pub const LANES: usize = 16;

/// Method of packing and spreading bits.
pub trait Bits: Send + Sync + Sized {
    /// Prepared set of squares.
    type Mask: Clone + Send + Sync;
    /// Prepares a set of squares.
    fn mask(squares: u32) -> Self::Mask;
    /// Packs the bits of `x` at the squares of the mask into the low bits.
    fn press(x: u32, mask: &Self::Mask) -> u32;
    /// Spreads the low bits of `x` to the squares of the mask.
    fn spread(x: u32, mask: &Self::Mask) -> u32;
    /// Selects the states that turn something. Writes their indices, counted from `first`, and their entries
    /// of `after` to the front of the two arrays in `kept` and returns their number; the rest of the arrays
    /// is unspecified. The mask proves that the processor has the instructions.
    fn keep(
        turned: &[u32; LANES],
        after: &[u32; LANES],
        first: u32,
        kept: [&mut [u32; LANES]; 2],
        mask: &Self::Mask,
    ) -> usize;
    /// Runs a piece of work compiled with the instructions of this method.
    fn run<W: Work>(work: W) -> W::Output;
}

/// Piece of work. Its `run` must be inlined, so that it is compiled for the processor's instructions.
pub trait Work {
    /// Result of the work.
    type Output;
    /// Does the work.
    fn run(self) -> Self::Output;
}

/// Packing and spreading by tables, on any processor.
#[derive(Clone, Copy, Debug)]
pub struct Tables;

/// Table with an entry for each value of each byte of a word.
type ByteTable = Box<[[u32; 256]; 4]>;

/// Makes the table that moves bits: in each pair the first to the second.
pub(super) fn byte_table(bits: impl Iterator<Item = (usize, usize)>) -> [[u32; 256]; 4] {
    let mut table = [[0; 256]; 4];
    for (from, to) in bits {
        for value in (0..256).filter(|value| value >> (from % 8) & 1 == 1) {
            table[from / 8][value] |= 1 << to;
        }
    }
    table
}

#[inline(always)]
pub(super) fn look_up(table: &[[u32; 256]; 4], x: u32) -> u32 {
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

    #[inline(always)]
    fn keep(
        turned: &[u32; LANES],
        after: &[u32; LANES],
        first: u32,
        [numbers, kept]: [&mut [u32; LANES]; 2],
        _: &Self::Mask,
    ) -> usize {
        let mut count = 0;
        for (number, (&turned, &after)) in (first..).zip(turned.iter().zip(after)) {
            // Stores unconditionally: a branch would often be mispredicted.
            (numbers[count], kept[count]) = (number, after);
            count += usize::from(turned != 0);
        }
        count
    }

    fn run<W: Work>(work: W) -> W::Output {
        work.run()
    }
}

/// Packing and spreading by BMI2 instructions.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Instructions;

#[cfg(target_arch = "x86_64")]
impl Instructions {
    /// Returns `true` if this processor has the instructions and they are fast.
    pub fn are_available() -> bool {
        Instructions::exist() && !is_slow(&vendor(), family())
    }

    fn exist() -> bool {
        is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("popcnt")
    }
}

/// Returns the vendor's name: the first leaf of `cpuid`.
#[cfg(target_arch = "x86_64")]
fn vendor() -> [u8; 12] {
    let leaf = std::arch::x86_64::__cpuid(0);
    let words = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes);
    *words.as_flattened().first_chunk().expect("three words")
}

/// Returns the family, extended where the base family is the last one.
#[cfg(target_arch = "x86_64")]
fn family() -> u32 {
    let version = std::arch::x86_64::__cpuid(1).eax;
    match version >> 8 & 0xf {
        0xf => 0xf + (version >> 20 & 0xff),
        base => base,
    }
}

/// Returns `true` if processors of a vendor and family execute `pext` and `pdep` in slow microcode: AMD
/// before Zen 3, and Hygon, whose processors derive from Zen.
#[cfg(target_arch = "x86_64")]
fn is_slow(vendor: &[u8; 12], family: u32) -> bool {
    match vendor {
        b"AuthenticAMD" => family < 0x19,
        b"HygonGenuine" => true,
        _ => false,
    }
}

/// Elements of every set of eight places, one in a byte, the lowest first.
#[cfg(target_arch = "x86_64")]
static FRONT: [u64; 256] = {
    let mut table = [0; 256];
    let mut set = 0;
    while set < table.len() {
        let (mut place, mut count) = (0, 0);
        while place < 8 {
            if set >> place & 1 == 1 {
                table[set] |= place << (8 * count);
                count += 1;
            }
            place += 1;
        }
        set += 1;
    }
    table
};

/// Squares to pack; made only if the processor has the instructions.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Pressable(u32);

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
impl Bits for Instructions {
    type Mask = Pressable;

    /// # Panics
    ///
    /// If the processor lacks the instructions.
    #[inline]
    fn mask(squares: u32) -> Pressable {
        assert!(Instructions::exist());
        Pressable(squares)
    }

    #[inline(always)]
    fn press(x: u32, mask: &Pressable) -> u32 {
        // SAFETY: the processor has the instruction, or no mask would exist.
        unsafe { std::arch::x86_64::_pext_u32(x, mask.0) }
    }

    #[inline(always)]
    fn spread(x: u32, mask: &Pressable) -> u32 {
        // SAFETY: as above.
        unsafe { std::arch::x86_64::_pdep_u32(x, mask.0) }
    }

    /// Processes eight at a time and moves them to the front by a permutation from a table.
    #[inline(always)]
    fn keep(
        turned: &[u32; LANES],
        after: &[u32; LANES],
        first: u32,
        [numbers, kept]: [&mut [u32; LANES]; 2],
        _: &Pressable,
    ) -> usize {
        use std::arch::x86_64::*;
        let mut count = 0;
        let parts = turned.as_chunks::<8>().0.iter().zip(after.as_chunks::<8>().0);
        for ((turned, after), first) in parts.zip((first..).step_by(8)) {
            // `count` is at most eight times the number of parts before, and there are two.
            let (numbers, kept) = (&mut numbers[count..][..8], &mut kept[count..][..8]);
            // SAFETY: the processor has the instructions, or no mask would exist; eight numbers are read from
            // each input and eight written to each output, whose slices have that length.
            let some = unsafe {
                let turned = _mm256_loadu_si256(turned.as_ptr().cast());
                let none = _mm256_cmpeq_epi32(turned, _mm256_setzero_si256());
                let some = !_mm256_movemask_ps(_mm256_castsi256_ps(none)) as u8;
                let order = _mm_cvtsi64_si128(FRONT[usize::from(some)] as i64);
                let order = _mm256_cvtepu8_epi32(order);
                let own = _mm256_add_epi32(order, _mm256_set1_epi32(first as i32));
                let after = _mm256_loadu_si256(after.as_ptr().cast());
                let after = _mm256_permutevar8x32_epi32(after, order);
                _mm256_storeu_si256(numbers.as_mut_ptr().cast(), own);
                _mm256_storeu_si256(kept.as_mut_ptr().cast(), after);
                some
            };
            count += some.count_ones() as usize;
        }
        count
    }

    /// # Panics
    ///
    /// If the processor lacks the instructions.
    fn run<W: Work>(work: W) -> W::Output {
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
        fn compiled_for_it<W: Work>(work: W) -> W::Output {
            work.run()
        }
        assert!(Instructions::exist());
        // SAFETY: the processor has the features, as asserted above.
        unsafe { compiled_for_it(work) }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn instructions_in_microcode_are_slow() {
        let amd = [(0x15, true), (0x17, true), (0x18, true), (0x19, false), (0x1a, false)];
        for (family, slow) in amd {
            assert_eq!(is_slow(b"AuthenticAMD", family), slow, "{family:#x}");
            assert!(is_slow(b"HygonGenuine", family) && !is_slow(b"GenuineIntel", family));
        }
    }
}
