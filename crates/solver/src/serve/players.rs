//! Policies queried on a table, created once and cached, and their worst mistakes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use serde::Serialize;

use super::reply::Refusal;
use yomikiri::error::{Error, Kind};
use yomikiri::oracle::{Orienting, SolvedTable};
use yomikiri::parallel::lock;
use yomikiri::progress::Silent;
use yomikiri::rules::Rules;
use yomikiri_measure::judge::{
    self, Costliest, Mistake, Piece, Player, TablePositions, compare, measure,
};
use yomikiri_measure::policy::{Answers, Batch, Policy, TrainedOn};

/// Factory of policies, implemented by the commands, which know files and networks.
pub(crate) trait Policies: Send + Sync {
    /// Returns names of policies of a game to choose from; others are possible.
    fn names(&self, game: &dyn Rules) -> Vec<String>;

    /// Returns the policy of a name. Fails in one line if it is not permitted or fails at once.
    fn make(&self, name: &str, game: &dyn Rules) -> Result<Player, Error>;
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
pub(super) fn refusal(error: &Error, status: StatusCode) -> Refusal {
    let status = if error.kind() == Kind::Policy { StatusCode::BAD_GATEWAY } else { status };
    Refusal::new(status, error.to_string())
}

impl Asked {
    /// Creates the policy of a name.
    pub(super) fn new(
        name: &str,
        policies: &dyn Policies,
        game: &dyn Rules,
    ) -> Result<Asked, Refusal> {
        let player = policies.make(name, game);
        let player = player.map_err(|error| refusal(&error, StatusCode::BAD_REQUEST))?;
        Ok(Asked { name: name.to_string(), player: Arc::new(player), mistakes: Mutex::default() })
    }

    /// Returns its worst mistakes on a table, one of mirror images.
    pub(super) fn mistakes(&self, table: &SolvedTable) -> Result<Arc<Mistakes>, Refusal> {
        let instead = || {
            format!(
                "run 'solver report --table {} --policy '{}' --mistakes 10'",
                table.table().name(),
                self.name
            )
        };
        check_size(table).map_err(|refusal| refusal.with(instead()))?;
        let mut kept = lock(&self.mistakes);
        if let Some(found) = &*kept {
            return Ok(found.clone());
        }
        let judged = TablePositions::new(table, Orienting::First);
        let until = Instant::now() + MISTAKES_WITHIN;
        let player = self.hurried(until);
        let mut costliest = Costliest::new(table.game(), MOST_MISTAKES);
        let mut collect = |piece: &Piece, answers: &[Answers]| {
            answers.iter().for_each(|answers| costliest.add(table.game(), piece, answers));
            Ok(())
        };
        let measured = measure(&judged, &[player], Some(&mut collect), &Silent);
        let measured = measured.map_err(|error| failed(error, until).with(instead()))?;
        let found = Arc::new(Mistakes { judged: measured.judged, costliest: costliest.mistakes() });
        *kept = Some(found.clone());
        Ok(found)
    }

    /// Returns the player that fails after a deadline.
    fn hurried(&self, until: Instant) -> Player {
        match *self.player {
            Player::Perfect => Player::Perfect,
            _ => Player::Policy(Box::new(Hurried { player: self.player.clone(), until })),
        }
    }
}

/// Refuses tables with too many rows to judge all of them.
fn check_size(table: &SolvedTable) -> Result<(), Refusal> {
    let rows = table.states().rows();
    let what = || format!("{rows} states are too many to look for mistakes in here");
    match rows > MOST_ROWS {
        true => Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, what())),
        false => Ok(()),
    }
}

/// Returns the refusal for an error while policies were judged until a deadline.
fn failed(error: Error, until: Instant) -> Refusal {
    let status = match error.kind() {
        Kind::Policy => StatusCode::BAD_GATEWAY,
        Kind::Answer if Instant::now() < until => StatusCode::UNPROCESSABLE_ENTITY,
        Kind::Answer => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    Refusal::new(status, error)
}

/// Mistake of one policy where another loses less.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Difference {
    /// Policy that makes the mistake.
    by: String,
    /// Likeliest move of the other policy.
    other_move: String,
    #[serde(flatten)]
    mistake: Mistake,
}

/// Positions in which two policies choose differently.
pub(super) struct Differences {
    /// Number of judged positions.
    pub judged: u64,
    /// Number of positions in which they choose differently.
    pub differing: u64,
    /// Those in which one loses the most more than the other.
    pub costliest: Vec<Difference>,
}

/// Compares two policies on a table, as `solver compare` does.
pub(super) fn differences_of(
    policies: &[Arc<Asked>; 2],
    table: &SolvedTable,
) -> Result<Differences, Refusal> {
    check_size(table)?;
    let until = Instant::now() + MISTAKES_WITHIN;
    let players = [policies[0].hurried(until), policies[1].hurried(until)];
    let names = [0, 1].map(|of| policies[of].name.as_str());
    let positions = TablePositions::new(table, Orienting::First);
    let compared = compare(&positions, &players, names, MOST_MISTAKES, &Silent);
    let (comparison, report) = compared.map_err(|error| failed(error, until))?;
    let paired = comparison.paired.unwrap_or_default();
    let difference = |of: judge::Difference| {
        let judge::Difference {
            moves: [first_move, second_move], mistakes: [first, second], ..
        } = of;
        // By score, and by outcome in games without scores.
        let lost = if table.has_scores() { of.score_lost } else { of.result_lost };
        match lost[1] > lost[0] {
            true => Difference { by: names[1].into(), other_move: first_move, mistake: second },
            false => Difference { by: names[0].into(), other_move: second_move, mistake: first },
        }
    };
    let costliest = paired.costliest.into_iter().map(difference).collect();
    Ok(Differences {
        judged: report.table.judged_states,
        differing: paired.all.positions_apart,
        costliest,
    })
}

/// A policy that fails after a deadline.
struct Hurried {
    player: Arc<Player>,
    until: Instant,
}

impl Policy for Hurried {
    fn name(&self) -> String {
        self.player.name()
    }

    fn answer(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error> {
        let Some(policy) = self.player.policy() else {
            return Err(Error::from("it answers only of a table"));
        };
        let places: Vec<usize> = (0..batch.len()).collect();
        let mut answers = Answers::default();
        for places in places.chunks(AT_ONCE) {
            if Instant::now() > self.until {
                let seconds = MISTAKES_WITHIN.as_secs();
                return Err(Error::from(format!("it takes longer than {seconds} s")));
            }
            answers.append(policy.answer(game, &batch.select(places))?);
        }
        Ok(answers)
    }

    fn learned_from(&self) -> TrainedOn {
        self.player.learned_from()
    }

    fn reading(&self) -> Option<String> {
        self.player.policy()?.reading()
    }
}
