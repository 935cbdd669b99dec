//! What a learner remembers of its games: decisions, and what came of them.

use crate::learn::network::Parameter;

/// A decision and what came of it. Boards are the squares of the mover and of the opponent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    /// The position in which a move was chosen.
    pub before: [u64; 2],
    /// The action.
    pub action: u16,
    /// What the game gave the one who chose, if it ended before the next decision.
    pub reward: f32,
    /// The next position in which a move is chosen, as its own mover sees it.
    pub next: [u64; 2],
    /// 1 if the next decision is of the same player, −1 if it is the other's, 0 if there is none.
    pub sign: i8,
}

/// The latest decisions, of which the oldest are forgotten.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    room: usize,
    next: usize,
    memories: Vec<Memory>,
}

/// Numbers that a memory takes in a checkpoint: boards in pieces of 16 bits, which floats hold exactly.
const NUMBERS: usize = 19;
const NAME: &str = "replay";

impl Replay {
    /// Nothing yet, with room for so many.
    pub fn new(room: usize) -> Replay {
        Replay { room: room.max(1), next: 0, memories: Vec::new() }
    }

    /// Adds a memory, in the place of the oldest if there is no more room.
    pub fn push(&mut self, memory: Memory) {
        if self.memories.len() < self.room {
            self.memories.push(memory);
        } else {
            self.memories[self.next] = memory;
            self.next = (self.next + 1) % self.room;
        }
    }

    /// What is remembered.
    pub fn memories(&self) -> &[Memory] {
        &self.memories
    }

    /// All of it as numbers, for a checkpoint.
    pub fn written(&self) -> Parameter {
        let pieces = |board: u64| (0..4).map(move |at| (board >> (16 * at) & 0xffff) as f32);
        // The oldest first, so that it need not be told where to go on.
        let (late, early) = self.memories.split_at(self.next);
        let numbers = early.iter().chain(late).flat_map(|memory| {
            let boards = [memory.before, memory.next].into_iter().flatten().flat_map(pieces);
            let others = [f32::from(memory.action), memory.reward, f32::from(memory.sign)];
            boards.chain(others).collect::<Vec<f32>>()
        });
        let numbers: Vec<f32> = numbers.collect();
        Parameter { name: NAME.to_string(), shape: vec![self.memories.len(), NUMBERS], numbers }
    }

    /// What was written; `None` if it was something else.
    pub fn read(room: usize, written: &Parameter) -> Option<Replay> {
        let count = written.numbers.len() / NUMBERS;
        if written.name != NAME || written.shape != [count, NUMBERS] || count > room {
            return None;
        }
        let board = |numbers: &[f32]| {
            numbers.iter().rev().fold(0u64, |board, &piece| board << 16 | piece as u64)
        };
        let memory = |numbers: &[f32]| Memory {
            before: [board(&numbers[..4]), board(&numbers[4..8])],
            next: [board(&numbers[8..12]), board(&numbers[12..16])],
            action: numbers[16] as u16,
            reward: numbers[17],
            sign: numbers[18] as i8,
        };
        let memories = written.numbers.chunks_exact(NUMBERS).map(memory).collect();
        Some(Replay { room, next: 0, memories })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten_and_a_checkpoint_keeps_the_others_in_order() {
        let memory = |n: u64| Memory {
            before: [n << 60 | n, !n],
            action: n as u16,
            reward: -0.5,
            next: [n, u64::MAX],
            sign: -1,
        };
        let mut replay = Replay::new(4);
        (0..6).for_each(|n| replay.push(memory(n)));
        let mut read = Replay::read(4, &replay.written()).unwrap();
        assert_eq!(read.memories(), [2, 3, 4, 5].map(memory));
        (6..8).for_each(|n| {
            replay.push(memory(n));
            read.push(memory(n));
        });
        assert_eq!(replay.written(), read.written());
        assert_eq!(Replay::read(3, &replay.written()), None);
    }
}
