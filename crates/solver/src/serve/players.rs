//! Policies queried on a table, created once and cached, and their worst mistakes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::http::StatusCode;

use super::reply::Refusal;
use yomikiri::any::{AnyGame, AnyState};
use yomikiri::hint::{Hint, Hinted, Kind};
use yomikiri::parallel::lock;
use yomikiri::progress::Silent;
use yomikiri::solved::{Orienting, SolvedTable};
use yomikiri_measure::evaluate::{Costliest, Judged, MeasureError, Mistake, Player, measure};
use yomikiri_measure::policy::{Answers, Batch, Policy, TrainedOn};

/// Factory of policies, implemented by the commands, which know files and networks.
pub(crate) trait Policies: Send + Sync {
    /// Returns names of policies of a game to choose from; others are possible.
    fn names(&self, game: &AnyGame) -> Vec<String>;

    /// Returns the policy of a name. Fails in one line if it is not permitted or fails at once.
    fn make(&self, name: &str, game: &AnyGame) -> Result<Player, Hinted>;
}

/// Maximum number of cached policies of a table.
pub(super) const MOST_KEPT: usize = 16;
/// Maximum number of recorded mistakes of a policy.
pub(super) const MOST_MISTAKES: usize = 100;
/// Maximum number of rows of a table that is searched for mistakes.
const MOST_ROWS: usize = 4_000_000;
/// Time limit of that search.
const MISTAKES_WITHIN: Duration = Duration::from_secs(60);
/// Number of positions that a policy answers between checks of the time.
const AT_ONCE: usize = 64;

/// A policy in use.
pub(super) struct Asked {
    pub name: String,
    pub player: Arc<Player>,
    /// Cached mistakes, locked during the search for them so that it runs only once.
    mistakes: Mutex<Option<Arc<Mistakes>>>,
}

/// Positions in which a policy loses the most.
pub(super) struct Mistakes {
    /// Number of judged positions.
    pub judged: u64,
    pub costliest: Vec<Mistake>,
}

/// Returns the refusal for an error of a policy: 502 if it failed at its work, else `status`.
pub(super) fn refusal(error: &Hinted, status: StatusCode) -> Refusal {
    let status = if error.kind() == Kind::Policy { StatusCode::BAD_GATEWAY } else { status };
    Refusal::new(status, error.to_string())
}

impl Asked {
    /// Creates the policy of a name.
    pub(super) fn new(
        name: &str,
        policies: &dyn Policies,
        game: &AnyGame,
    ) -> Result<Asked, Refusal> {
        let player = policies.make(name, game);
        let player = player.map_err(|error| refusal(&error, StatusCode::BAD_REQUEST))?;
        Ok(Asked { name: name.to_string(), player: Arc::new(player), mistakes: Mutex::default() })
    }

    /// Returns its worst mistakes on a table, one of mirror images.
    pub(super) fn mistakes(&self, table: &SolvedTable) -> Result<Arc<Mistakes>, Refusal> {
        let rows = table.states().rows();
        let instead = || {
            format!(
                "run 'solver report --table {} --policy '{}' --mistakes 10'",
                table.table().name(),
                self.name
            )
        };
        if rows > MOST_ROWS {
            let what = format!("{rows} states are too many to look for mistakes in here");
            return Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, what).with(instead()));
        }
        let mut kept = lock(&self.mistakes);
        if let Some(found) = &*kept {
            return Ok(found.clone());
        }
        let judged = Judged::new(table, Orienting::First);
        let until = Instant::now() + MISTAKES_WITHIN;
        let hurried: Player =
            Player::Policy(Box::new(Hurried { player: self.player.clone(), until }));
        let player = if let Player::Perfect = *self.player { Player::Perfect } else { hurried };
        let mut costliest = Costliest::new(table.game(), MOST_MISTAKES);
        let mut collect = |piece: &yomikiri_measure::evaluate::Piece, answers: &[Answers]| {
            answers.iter().for_each(|answers| costliest.add(table.game(), piece, answers));
            Ok(())
        };
        let measured = measure(&judged, None, &[player], Some(&mut collect), &Silent);
        let measured = measured.map_err(|error| {
            let status = match &error {
                MeasureError::Policy { error, .. } if error.kind() == Kind::Policy => {
                    StatusCode::BAD_GATEWAY
                }
                MeasureError::Policy { .. } if Instant::now() < until => {
                    StatusCode::UNPROCESSABLE_ENTITY
                }
                MeasureError::Policy { .. } => StatusCode::SERVICE_UNAVAILABLE,
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            };
            Refusal::new(status, Hinted::of(&error)).with(instead())
        })?;
        let found = Arc::new(Mistakes { judged: measured.judged, costliest: costliest.mistakes() });
        *kept = Some(found.clone());
        Ok(found)
    }
}

/// A policy that fails after a deadline.
struct Hurried {
    player: Arc<Player>,
    until: Instant,
}

impl Policy<AnyGame> for Hurried {
    fn name(&self) -> String {
        self.player.name()
    }

    fn answer(
        &self,
        game: &AnyGame,
        batch: &Batch<AnyState>,
        answers: &mut Answers,
    ) -> Result<(), Hinted> {
        let Some(policy) = self.player.policy() else {
            return Err(Hinted::from("it answers only of a table"));
        };
        let places: Vec<usize> = (0..batch.len()).collect();
        let mut some = Answers::default();
        for places in places.chunks(AT_ONCE) {
            if Instant::now() > self.until {
                let seconds = MISTAKES_WITHIN.as_secs();
                return Err(Hinted::from(format!("it takes longer than {seconds} s")));
            }
            some.clear();
            policy.answer(game, &batch.of(places), &mut some)?;
            answers.probabilities.append(&mut some.probabilities);
            answers.scores.append(&mut some.scores);
            answers.values.append(&mut some.values);
            answers.final_scores.append(&mut some.final_scores);
        }
        Ok(())
    }

    fn learned_from(&self) -> TrainedOn {
        self.player.learned_from()
    }
}
