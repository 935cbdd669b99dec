//! How long policies take to answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::any::{AnyGame, AnyState};
use crate::evaluate::Player;
use crate::policy::{Answers, Batch, Policy, PolicyError, TrainedOn};

/// The nanoseconds a policy has taken, of all threads that asked it together, and for how many
/// positions.
#[derive(Clone, Default)]
pub(super) struct Clock(Arc<[AtomicU64; 2]>);

impl Clock {
    /// Seconds for a position.
    pub(super) fn seconds(&self) -> f64 {
        let [taken, positions] = self.0.each_ref().map(|count| count.load(Ordering::Relaxed));
        taken as f64 / 1e9 / positions.max(1) as f64
    }
}

/// The same player, and the clock that runs while it answers; perfect has none, for its answers are
/// the table's.
pub(super) fn timed(player: Player) -> (Player, Option<Clock>) {
    match player {
        Player::Policy(policy) => {
            let clock = Clock::default();
            (Player::Policy(Box::new(Timed { policy, clock: clock.clone() })), Some(clock))
        }
        Player::Perfect => (Player::Perfect, None),
        Player::Named(name, player) => {
            let (player, clock) = timed(*player);
            (Player::Named(name, Box::new(player)), clock)
        }
    }
}

struct Timed {
    policy: Box<dyn Policy<AnyGame>>,
    clock: Clock,
}

impl Policy<AnyGame> for Timed {
    fn name(&self) -> String {
        self.policy.name()
    }

    fn answer(
        &self,
        game: &AnyGame,
        batch: &Batch<AnyState>,
        answers: &mut Answers,
    ) -> Result<(), PolicyError> {
        let begun = Instant::now();
        let done = self.policy.answer(game, batch, answers);
        let taken = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let [all, positions] = &*self.clock.0;
        all.fetch_add(taken, Ordering::Relaxed);
        positions.fetch_add(batch.len() as u64, Ordering::Relaxed);
        done
    }

    fn learned_from(&self) -> TrainedOn {
        self.policy.learned_from()
    }
}
