//! Replay buffer: earlier decisions with their consequences.

use bytemuck::{Pod, Zeroable};

use crate::network::Parameter;

/// A decision and its consequence (Lin 1992). Boards are the squares of the mover and of the opponent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Experience {
    /// Position of the decision.
    pub before: [u64; 2],
    /// Position of the next decision, as its own mover sees it.
    pub next: [u64; 2],
    /// Result for the player who chose, if the game ended before the next decision.
    pub reward: f32,
    /// Chosen action.
    pub action: u16,
    /// 1 if the next decision is by the same player, −1 if by the other, 0 if there is none.
    pub sign: i16,
}

/// The latest decisions; new ones replace the oldest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Replay {
    capacity: usize,
    next: usize,
    experiences: Vec<Experience>,
}

/// Number of floats of an experience in a checkpoint, which stores its bytes as floats.
const NUMBERS: usize = size_of::<Experience>() / size_of::<f32>();
/// Name of the buffer in a checkpoint, followed by the index of the oldest experience.
const NAME: &str = "replay, oldest at ";

impl Replay {
    /// Returns an empty buffer.
    pub(super) fn new(capacity: usize) -> Replay {
        Replay { capacity: capacity.max(1), next: 0, experiences: Vec::new() }
    }

    /// Adds an experience, replacing the oldest if the buffer is full.
    pub(super) fn push(&mut self, experience: Experience) {
        if self.experiences.len() < self.capacity {
            self.experiences.push(experience);
        } else {
            self.experiences[self.next] = experience;
            self.next = (self.next + 1) % self.capacity;
        }
    }

    /// Returns all experiences.
    pub(super) fn experiences(&self) -> &[Experience] {
        &self.experiences
    }

    /// Converts the buffer to a parameter of a checkpoint. It keeps its order, because experiences are drawn
    /// by index.
    pub(super) fn to_parameter(&self) -> Parameter {
        let numbers = bytemuck::cast_slice(&self.experiences).to_vec();
        let shape = vec![self.experiences.len(), NUMBERS];
        Parameter { name: format!("{NAME}{}", self.next), shape, numbers }
    }

    /// Restores the buffer of a checkpoint; `None` if the parameter is not a buffer within this capacity.
    pub(super) fn of_parameter(capacity: usize, parameter: &Parameter) -> Option<Replay> {
        let count = parameter.numbers.len() / NUMBERS;
        let next = parameter.name.strip_prefix(NAME)?.parse().ok()?;
        if parameter.shape != [count, NUMBERS] || count > capacity || next >= count.max(1) {
            return None;
        }
        let experiences = bytemuck::pod_collect_to_vec(&parameter.numbers);
        Some(Replay { capacity, next, experiences })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_dropped_and_a_checkpoint_keeps_the_others_in_place() {
        let experience = |n: u64| Experience {
            before: [n << 60 | n, !n],
            action: n as u16,
            reward: -0.5,
            next: [n, u64::MAX],
            sign: -1,
        };
        let mut replay = Replay::new(4);
        (0..6).for_each(|n| replay.push(experience(n)));
        let mut read = Replay::of_parameter(4, &replay.to_parameter()).unwrap();
        assert_eq!(read.experiences(), [4, 5, 2, 3].map(experience));
        assert_eq!(read, replay);
        (6..8).for_each(|n| {
            replay.push(experience(n));
            read.push(experience(n));
        });
        assert_eq!(read, replay);
        assert_eq!(Replay::of_parameter(3, &replay.to_parameter()), None);
    }
}
