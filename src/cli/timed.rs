//! How long policies take to answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::any::{AnyGame, AnyState};
use crate::evaluate::Player;
use crate::game::Division;
use crate::policy::{Answers, Batch, Policy, PolicyError};

/// The time a policy has taken, of all threads that asked it together.
#[derive(Clone, Default)]
pub(super) struct Clock(Arc<AtomicU64>);

impl Clock {
    /// In seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64 / 1e9
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
        self.clock.0.fetch_add(taken, Ordering::Relaxed);
        done
    }

    fn learned_from(&self) -> Option<Division> {
        self.policy.learned_from()
    }
}
