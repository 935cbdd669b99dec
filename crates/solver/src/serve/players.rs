//! Policies queried on a table, created once and cached, and their worst mistakes.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use serde::Serialize;

use super::reply::Refusal;
use yomikiri::any::{AnyGame, AnyState};
use yomikiri::game::GameExt;
use yomikiri::hint::{Hint, Hinted, Kind};
use yomikiri::parallel::lock;
use yomikiri::progress::Silent;
use yomikiri::solved::{Oracle, Orienting, SolvedTable};
use yomikiri_measure::judge::{
    Costliest, MeasureError, Mistake, Piece, Player, TablePositions, measure,
};
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
        let measured = measured.map_err(|error| failed(&error, until).with(instead()))?;
        let found = Arc::new(Mistakes { judged: measured.judged, costliest: costliest.mistakes() });
        *kept = Some(found.clone());
        Ok(found)
    }

    /// Returns its likeliest move in a position, if it answers.
    fn likeliest_move(&self, table: &SolvedTable, position: &str) -> Option<String> {
        let (game, position) = (table.game(), table.states().parse(position).ok()?);
        let choice = self.player.choose(game, Some(table as &dyn Oracle), &position).ok()?;
        choice.likeliest().map(|action| game.action_name(position.side, action))
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
fn failed(error: &MeasureError, until: Instant) -> Refusal {
    let status = match error {
        MeasureError::Policy { error, .. } if error.kind() == Kind::Policy => {
            StatusCode::BAD_GATEWAY
        }
        MeasureError::Policy { .. } if Instant::now() < until => StatusCode::UNPROCESSABLE_ENTITY,
        MeasureError::Policy { .. } => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    Refusal::new(status, Hinted::of(error))
}

/// Mistake of one policy where another prefers a different move.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Difference {
    /// Policy that makes the mistake.
    by: String,
    /// Likeliest move of the other policy, if it answers.
    other_move: Option<String>,
    #[serde(flatten)]
    mistake: Mistake,
}

/// Mistakes where two policies differ.
pub(super) struct Differences {
    /// Number of judged positions.
    pub judged: u64,
    /// Number of positions in which their likeliest moves differ.
    pub differing: u64,
    /// Mistakes of either, worst first.
    pub costliest: Vec<Difference>,
}

/// Returns the worst mistakes of either policy in positions where their likeliest moves differ.
pub(super) fn differences_of(
    policies: &[Arc<Asked>; 2],
    table: &SolvedTable,
) -> Result<Differences, Refusal> {
    check_size(table)?;
    let (game, judged) = (table.game(), TablePositions::new(table, Orienting::First));
    let until = Instant::now() + MISTAKES_WITHIN;
    let players = [policies[0].hurried(until), policies[1].hurried(until)];
    let mut costliest = [(); 2].map(|()| Costliest::new(game, MOST_MISTAKES));
    let mut differing = 0;
    let mut collect = |piece: &Piece, answers: &[Answers]| {
        let [one, other] = answers else { return Ok(()) };
        for at in 0..piece.cases.len() {
            let range = piece.batch.range(at);
            let likeliest =
                [one, other].map(|answers| likeliest(&answers.probabilities[range.clone()]));
            if likeliest[0] == likeliest[1] {
                continue;
            }
            differing += u64::from(piece.cases[at].weight);
            let mut single = Piece::default();
            single.push(piece, at);
            for (costliest, answers) in costliest.iter_mut().zip([one, other]) {
                let probabilities = answers.probabilities[range.clone()].to_vec();
                costliest.add(game, &single, &Answers { probabilities, ..Answers::default() });
            }
        }
        Ok(())
    };
    let measured = measure(&judged, &players, Some(&mut collect), &Silent);
    let measured = measured.map_err(|error| failed(&error, until))?;
    let mut all: Vec<(usize, Mistake)> = Vec::new();
    for (by, costliest) in costliest.into_iter().enumerate() {
        all.extend(costliest.mistakes().into_iter().map(|mistake| (by, mistake)));
    }
    let lost = |mistake: &Mistake| {
        let Mistake { outcome_lost, score_lost, plies_lost, .. } = mistake;
        [*outcome_lost, score_lost.unwrap_or(0.0), plies_lost.unwrap_or(0.0)]
    };
    all.sort_by(|(_, a), (_, b)| lost(b).partial_cmp(&lost(a)).unwrap_or(Ordering::Equal));
    all.truncate(MOST_MISTAKES);
    let difference = |(by, mistake): (usize, Mistake)| Difference {
        by: policies[by].name.clone(),
        other_move: policies[1 - by].likeliest_move(table, &mistake.position),
        mistake,
    };
    let costliest = all.into_iter().map(difference).collect();
    Ok(Differences { judged: measured.judged, differing, costliest })
}

/// Returns the index of the greatest probability, the first of equals.
fn likeliest(probabilities: &[f64]) -> usize {
    let mut best = 0;
    for (at, p) in probabilities.iter().enumerate() {
        if *p > probabilities[best] {
            best = at;
        }
    }
    best
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
            policy.answer(game, &batch.of(places), &mut some)?;
            answers.append(&mut some);
        }
        Ok(())
    }

    fn learned_from(&self) -> TrainedOn {
        self.player.learned_from()
    }
}
