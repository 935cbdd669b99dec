//! Random numbers for games: each game has its own, from the seed and the game's number.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// The random numbers of one game.
#[derive(Debug)]
pub(super) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// The numbers of game `game` under `seed`.
    pub fn of_game(seed: u64, game: u64) -> Draw {
        let mixed = SplitMix64::seed_from_u64(seed).next_u64() ^ game;
        Draw(Xoshiro256PlusPlus::seed_from_u64(SplitMix64::seed_from_u64(mixed).next_u64()))
    }

    /// One of the numbers below `count`, all of the same probability (to one part in 2⁶⁴ / `count`).
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.0.next_u64()) * count as u128) >> 64) as usize
    }
}
