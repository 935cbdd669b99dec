//! Search in front of a policy: wins and losses that a few plies prove, before the policy chooses among the rest.

use super::grammar::CLOSE;
use super::{Answers, Batch, Policy, ReadingSpec, TrainedOn};
use yomikiri::error::Error;
use yomikiri::rules::{Action, Outcome, Rules, Walk};

/// Most plies of search in front of a policy.
const MOST: u32 = 10;

/// Plays moves that some plies prove to win, in games without scores those that win soonest; leaves out moves that they
/// prove to lose where another exists; and lets a policy choose among what remains. Where the policy gives that no
/// probability, its moves are equally likely.
///
/// In a game with scores a proven win may be smaller than one that is not proven.
pub struct Front {
    policy: Box<dyn Policy>,
    plies: u32,
}

/// Result of a move that some plies prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    None,
    Wins,
    Loses,
}

impl Front {
    /// Puts a search of `plies`, the move itself among them, in front of a policy.
    pub fn new(policy: Box<dyn Policy>, plies: u32) -> Front {
        Front { policy, plies }
    }

    /// Reads a number of plies; the error names the valid ones.
    pub fn plies(text: &str) -> Result<u32, Error> {
        let plies = text.parse().ok().filter(|plies| (1..=MOST).contains(plies));
        plies.ok_or_else(|| {
            let what = format!("invalid option `plies={text}`");
            Error::new(what, format!("expected plies=K with a whole number K from 1 to {MOST}"))
        })
    }

    /// Returns what is proven of each move, of wins only the soonest if `soonest`.
    fn proofs(
        &self,
        soonest: bool,
        walk: &mut dyn Walk,
        actions: &[Action],
        spare: &mut [Vec<Action>],
    ) -> Vec<Proof> {
        let mut found = vec![Proof::None; actions.len()];
        for plies in 0..self.plies {
            for (proof, &action) in found.iter_mut().zip(actions) {
                if *proof == Proof::None {
                    walk.push(action);
                    *proof = match outcome(walk, plies, spare) {
                        Some(Outcome::Loss) => Proof::Wins,
                        Some(Outcome::Win) => Proof::Loses,
                        _ => Proof::None,
                    };
                    walk.pop();
                }
            }
            if soonest && found.contains(&Proof::Wins) {
                break;
            }
        }
        found
    }
}

/// Returns the outcome for the mover, if `plies` plies prove that it wins or loses, or the game is over.
fn outcome(walk: &mut dyn Walk, plies: u32, spare: &mut [Vec<Action>]) -> Option<Outcome> {
    let result = walk.result();
    if result.is_some() || plies == 0 {
        return result;
    }
    let (actions, spare) = spare.split_first_mut()?;
    walk.actions(actions);
    let mut all_lose = true;
    for &action in &*actions {
        walk.push(action);
        let after = outcome(walk, plies - 1, spare);
        walk.pop();
        match after {
            Some(Outcome::Loss) => return Some(Outcome::Win),
            Some(Outcome::Win) => {}
            _ => all_lose = false,
        }
    }
    all_lose.then_some(Outcome::Loss)
}

impl Policy for Front {
    fn name(&self) -> String {
        with_option(&self.policy.name(), &format!("plies={}", self.plies))
    }

    fn answer(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error> {
        let mut answers = self.policy.answer(game, batch)?;
        answers.check(batch)?;
        let mut spare = vec![Vec::new(); self.plies as usize];
        for (at, position) in batch.positions().iter().enumerate() {
            let range = batch.range(at);
            let actions = &batch.actions()[range.clone()];
            let walk = &mut *game.walk(&position.state);
            let proofs = self.proofs(!game.has_scores(), walk, actions, &mut spare);
            let wins = proofs.contains(&Proof::Wins);
            let all_lose = proofs.iter().all(|proof| *proof == Proof::Loses);
            if let Some(value) = answers.values.get_mut(at).filter(|_| wins || all_lose) {
                *value = if wins { 1.0 } else { -1.0 };
            }
            if all_lose || proofs.iter().all(|proof| *proof == Proof::None) {
                continue;
            }
            let stays =
                |proof: &Proof| if wins { *proof == Proof::Wins } else { *proof != Proof::Loses };
            choose_among(&mut answers.probabilities[range.clone()], &proofs, stays);
            if !answers.scores.is_empty() {
                rank_behind(&mut answers.scores[range], &proofs, stays);
            }
        }
        Ok(answers)
    }

    fn learned_from(&self) -> TrainedOn {
        self.policy.learned_from()
    }

    fn reading(&self) -> Option<String> {
        self.policy.reading()
    }
}

/// Returns whether a text behind the last `?` of a policy begins with an option.
pub(super) fn is_option(tail: &str) -> bool {
    let is_more = |key: &&str| tail.strip_prefix(key).is_some_and(|rest| rest.starts_with('='));
    !tail.ends_with(CLOSE)
        && (ReadingSpec::is_option(tail) || ["plies", "width", "mate"].iter().any(is_more))
}

/// Puts an option behind the name of a policy, which may have some.
pub(super) fn with_option(name: &str, option: &str) -> String {
    let has_options =
        name.rsplit_once('?').is_some_and(|(_, tail)| tail.is_empty() || is_option(tail));
    format!("{name}{}{option}", if has_options { "," } else { "?" })
}

/// Shares all probability among the moves that stay, in proportion.
fn choose_among(probabilities: &mut [f64], proofs: &[Proof], stays: impl Fn(&Proof) -> bool) {
    let of = |p: f64, proof: &Proof| if stays(proof) { p } else { 0.0 };
    let total: f64 = probabilities.iter().zip(proofs).map(|(p, proof)| of(*p, proof)).sum();
    let count = proofs.iter().filter(|proof| stays(proof)).count() as f64;
    for (p, proof) in probabilities.iter_mut().zip(proofs) {
        *p = if total > 0.0 { of(*p, proof) / total } else { of(1.0 / count, proof) };
    }
}

/// Ranks the moves that do not stay behind all others.
fn rank_behind(scores: &mut [f64], proofs: &[Proof], stays: impl Fn(&Proof) -> bool) {
    let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let behind = least - (1.0 + least.abs());
    scores
        .iter_mut()
        .zip(proofs)
        .filter(|(_, proof)| !stays(proof))
        .for_each(|(score, _)| *score = behind);
}

#[cfg(test)]
mod tests {
    use super::super::test_positions::{animals, answers, four, minishogi, positions};
    use super::super::{ByRule, Random};
    use super::*;
    use yomikiri::rules::{AnyState, Side};

    fn front(plies: u32) -> Front {
        Front::new(Box::new(ByRule(Random)), plies)
    }

    /// Returns whether the mover wins or loses by force within some plies, by plain recursion over whole sets of moves.
    fn forced(game: &dyn Rules, state: &AnyState, plies: u32) -> i32 {
        if let Some(outcome) = game.result(state) {
            return outcome.value().into();
        }
        if plies == 0 {
            return 0;
        }
        let after = game.actions(state).into_iter().map(|action| game.play(state, action));
        let after: Vec<i32> = after.map(|state| -forced(game, &state, plies - 1)).collect();
        match (after.contains(&1), after.iter().all(|result| *result == -1)) {
            (true, _) => 1,
            (_, true) => -1,
            _ => 0,
        }
    }

    fn agrees(game: &dyn Rules, count: usize, plies: u32) -> [u32; 2] {
        let (policy, mut seen) = (front(plies), [0; 2]);
        for position in positions(game, count) {
            let found = answers(&policy, game, &[position]).probabilities;
            let actions = game.actions(&position.state);
            let results: Vec<Vec<i32>> = (0..plies)
                .map(|plies| {
                    let after = actions.iter().map(|&action| game.play(&position.state, action));
                    after.map(|state| -forced(game, &state, plies)).collect()
                })
                .collect();
            let last = results.last().unwrap();
            let soonest = match game.has_scores() {
                true => Some(last).filter(|results| results.contains(&1)),
                false => results.iter().find(|results| results.contains(&1)),
            };
            let stays = |at: usize| match soonest {
                Some(results) => results[at] == 1,
                None => last[at] != -1 || last.iter().all(|result| *result == -1),
            };
            let staying = (0..actions.len()).filter(|&at| stays(at)).count();
            for (at, p) in found.iter().enumerate() {
                let wanted = if stays(at) { 1.0 / staying as f64 } else { 0.0 };
                assert!((p - wanted).abs() < 1e-12, "{} {results:?}", game.notation(&position));
            }
            seen[0] += u32::from(soonest.is_some());
            seen[1] += u32::from(soonest.is_none() && staying < actions.len());
        }
        seen
    }

    #[test]
    fn wins_are_played_and_losses_left_out() {
        for plies in 1..=4 {
            agrees(&*four(), 300, plies);
        }
        for plies in 1..=3 {
            let seen = agrees(&*animals(), 150, plies);
            assert!(seen[0] > 0 && (plies < 2 || seen[1] > 0), "{seen:?}");
        }
        agrees(&*minishogi(), 40, 2);
    }

    /// Prefers the move at a place, with scores.
    struct Prefers(usize);

    impl Policy for Prefers {
        fn name(&self) -> String {
            "prefers?move=best".to_string()
        }

        fn answer(&self, _game: &dyn Rules, batch: &Batch) -> Result<Answers, Error> {
            let mut answers = Answers::default();
            for at in 0..batch.len() {
                let moves = batch.range(at).len();
                let is_it = |place| if place == self.0 { 1.0 } else { 0.0 };
                answers.probabilities.extend((0..moves).map(is_it));
                answers.scores.extend((0..moves).map(|place| 10.0 * is_it(place)));
                answers.values.push(0.5);
            }
            Ok(answers)
        }
    }

    #[test]
    fn a_policy_that_wants_what_loses_is_overruled() {
        // The lion is attacked by the chick before it: White takes it, whatever it prefers.
        let game = animals();
        let position = game.parse_position("1l1/1C1/1L1 w - 1", &game.start()).unwrap();
        assert_eq!(position.side, Side::Second);
        let actions = game.actions(&position.state);
        for place in 0..actions.len() {
            let policy = Front::new(Box::new(Prefers(place)), 3);
            assert_eq!(policy.name(), "prefers?move=best,plies=3");
            let found = answers(&policy, &*game, &[position]);
            let best = found.probabilities.iter().position(|p| *p == 1.0);
            let first = found.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if let Some(best) = best {
                assert!(found.scores[best] == first && found.values[0].abs() <= 1.0);
            }
        }
    }
}
