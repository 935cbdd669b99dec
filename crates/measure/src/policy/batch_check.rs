//! Detects external policies whose answer for a position depends on the batch.
//!
//! Such answers would make figures depend on how positions are divided into batches. So a few positions of some batches are
//! asked about again: alone, and twice in batches of one size, at the same places, among other positions. The last two
//! agree to the last bit if nothing but the position counts; alone, a network may round otherwise. A difference is reported
//! as a failure of the policy, not as invalid input.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{Answers, Batch, Policy, TrainedOn};
use yomikiri::error::{Error, Kind};
use yomikiri::rules::Rules;

/// Number of positions of a batch that are asked about again.
const SAMPLES: usize = 4;
/// Largest size of the other batches: one that functions are compiled for.
const OTHERS: usize = 128;
/// Tolerance between batches of one size, relative to the largest number of all answers. Networks of PyTorch in float32,
/// float16 and bfloat16, and of JAX, stay below; int8 with scales of each batch does not.
const ALIKE: f64 = 1e-5;
/// Number of first batches that are checked; after these, batches whose number is a power of two.
const FIRST: usize = 4;
/// Number of repetitions of the same batch to detect a randomised program.
const REPEATS: usize = 3;

/// Remark on a policy that answers a question differently each time.
const DRAWS: &str = "answers differ when asked again";

/// A policy whose answers are compared with its answers in other batches.
pub struct BatchCheck<P> {
    policy: P,
    /// Tolerance of numbers, relative to the largest.
    rounding: f64,
    /// `true` if it may answer the same question differently.
    may_draw: bool,
    draws: AtomicBool,
    batches: AtomicUsize,
}

/// Difference beyond rounding between two answers about a position.
#[derive(Debug, PartialEq)]
enum AnswerDifference {
    /// Another move is played, without scores that show how close the two are.
    MoveCount,
    /// Two numbers differ.
    Numbers(f64, f64),
}

impl<P> BatchCheck<P> {
    /// Checks a model, which runs in 32-bit floats.
    #[cfg(feature = "onnx")]
    pub fn model(policy: P) -> BatchCheck<P> {
        BatchCheck::new(policy, 1e-4, false)
    }

    /// Checks a program, which may calculate less exactly and may be randomised.
    pub fn program(policy: P) -> BatchCheck<P> {
        BatchCheck::new(policy, 2e-3, true)
    }

    /// Checks a function in this process, which may calculate in bfloat16 and may be randomised.
    pub fn callable(policy: P) -> BatchCheck<P> {
        BatchCheck::new(policy, 2e-2, true)
    }

    fn new(policy: P, rounding: f64, may_draw: bool) -> BatchCheck<P> {
        let (draws, batches) = (AtomicBool::new(false), AtomicUsize::new(0));
        BatchCheck { policy, rounding, may_draw, draws, batches }
    }

    /// Compares the answers for one position in two batches, each given with its index there.
    fn compare(
        &self,
        rounding: f64,
        (batch, answers, at): (&Batch, &Answers, usize),
        (other_batch, others, other): (&Batch, &Answers, usize),
    ) -> Result<Option<AnswerDifference>, Error> {
        let lengths = |a: &Answers| [&a.scores, &a.values, &a.final_scores].map(Vec::is_empty);
        if lengths(answers) != lengths(others) {
            let what = "scores or values in some of its answers only";
            return Err(what.into());
        }
        let here = answers.at(at, batch.range(at));
        let there = others.at(other, other_batch.range(other));
        let differs = |&(&a, &b): &(&f64, &f64), size: f64| {
            a != b && ((a - b).is_nan() || (a - b).abs() > rounding * size)
        };
        let first = |a: &[f64], b: &[f64], size: f64| {
            a.iter()
                .zip(b)
                .find(|pair| differs(pair, size))
                .map(|(&a, &b)| AnswerDifference::Numbers(a, b))
        };
        let list = |number: &Option<f64>| number.map_or(Vec::new(), |number| vec![number]);
        let final_size = here.final_score.unwrap_or(0.0).abs().max(1.0);
        let finite = answers.scores.iter().filter(|score| score.is_finite());
        let score_size = finite.fold(0.0, |most: f64, score| most.max(score.abs()));
        let has_scores = !answers.scores.is_empty();
        let (p, q) = (here.probabilities, there.probabilities);
        let is_move = |p: &[f64]| p.iter().all(|&p| p == 0.0 || p == 1.0);
        let found = first(&list(&here.value), &list(&there.value), 1.0)
            .or(first(&list(&here.final_score), &list(&there.final_score), final_size))
            .or(first(here.scores, there.scores, score_size).filter(|_| has_scores));
        // Moves that tie in one batch may differ by rounding in the other.
        let may_share = has_scores && here.scores != there.scores;
        Ok(found.or(first(p, q, 1.0).filter(|_| !may_share).map(|found| {
            if !has_scores && is_move(p) && is_move(q) {
                AnswerDifference::MoveCount
            } else {
                found
            }
        })))
    }

    fn ask(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error>
    where
        P: Policy,
    {
        let answers = self.policy.answer(game, batch)?;
        answers.check(batch)?;
        Ok(answers)
    }

    /// Fails if the answers for a batch depend on its composition.
    fn check(&self, game: &dyn Rules, batch: &Batch, answers: &Answers) -> Result<(), Error>
    where
        P: Policy,
    {
        let choices: Vec<usize> =
            (0..batch.len()).filter(|&at| batch.range(at).len() > 1).collect();
        if batch.len() < 2 || choices.is_empty() {
            return Ok(());
        }
        let samples: BTreeSet<usize> =
            (0..SAMPLES).map(|n| choices[n * (choices.len() - 1) / (SAMPLES - 1)]).collect();
        let size = batch.len().min(OTHERS);
        let some = (0..batch.len()).step_by(batch.len().div_ceil(size));
        let among: BTreeSet<usize> = some.chain(samples.iter().copied()).collect();
        let among: Vec<usize> = among.into_iter().collect();
        let is_sample = |at: usize| samples.contains(&at);
        // The same size, with one position in place of all others.
        let filler = (0..batch.len()).find(|&at| !is_sample(at)).unwrap_or(0);
        let filled: Vec<usize> =
            among.iter().map(|&at| if is_sample(at) { at } else { filler }).collect();
        let mut ways: Vec<Vec<usize>> = samples.iter().map(|&at| vec![at]).collect();
        ways.extend([among.clone(), filled]);
        let mut other_moves = BTreeSet::new();
        let mut before: Option<(Batch, Answers)> = None;
        for places in ways {
            let way = batch.select(&places);
            let again = self.ask(game, &way)?;
            for (place, &at) in places.iter().enumerate().filter(|&(_, &at)| is_sample(at)) {
                // The last two batches are of one size.
                let alike = before.as_ref().filter(|_| places.len() > 1);
                let alike = alike.filter(|(before, _)| before.len() == places.len());
                let found = match alike {
                    Some((before, answers)) => {
                        self.compare(ALIKE, (before, answers, place), (&way, &again, place))?
                    }
                    None => {
                        self.compare(self.rounding, (batch, answers, at), (&way, &again, place))?
                    }
                };
                let what = match found {
                    None => continue,
                    Some(AnswerDifference::MoveCount) => {
                        other_moves.insert(at);
                        // A single one may be due to rounding.
                        if other_moves.len() < 2 {
                            continue;
                        }
                        "another move".to_string()
                    }
                    Some(AnswerDifference::Numbers(here, there)) => format!("{here} and {there}"),
                };
                if self.may_draw && self.is_drawing(game, batch, answers)? {
                    return Ok(());
                }
                let what = format!(
                    "its answer for '{}' depends on the rest of the batch ({what}, in a batch of {} positions and in one of {})",
                    game.notation(&batch.positions()[at]),
                    alike.map_or(batch.len(), |(before, _)| before.len()),
                    places.len()
                );
                return Err(Error::new(
                    what,
                    "each position must be answered by itself, as by networks in evaluation mode; batch=1 asks about one at a time",
                ));
            }
            before = Some((way, again));
        }
        Ok(())
    }

    /// Returns `true` if it answers the same batch differently.
    fn is_drawing(&self, game: &dyn Rules, batch: &Batch, answers: &Answers) -> Result<bool, Error>
    where
        P: Policy,
    {
        for _ in 0..REPEATS {
            let again = self.ask(game, batch)?;
            for at in 0..batch.len() {
                if self.compare(ALIKE, (batch, answers, at), (batch, &again, at))?.is_some() {
                    self.draws.store(true, Ordering::Relaxed);
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

impl<P: Policy> Policy for BatchCheck<P> {
    fn name(&self) -> String {
        self.policy.name()
    }

    fn answer(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error> {
        let answers = self.ask(game, batch).map_err(|error| error.of_kind(Kind::Policy))?;
        let number = self.batches.fetch_add(1, Ordering::Relaxed);
        if self.draws.load(Ordering::Relaxed) || number >= FIRST && !number.is_power_of_two() {
            return Ok(answers);
        }
        self.check(game, batch, &answers).map_err(|error| error.of_kind(Kind::Policy))?;
        Ok(answers)
    }

    fn learned_from(&self) -> TrainedOn {
        self.policy.learned_from()
    }

    fn reading(&self) -> Option<String> {
        let reading = self.policy.reading();
        if !self.draws.load(Ordering::Relaxed) {
            return reading;
        }
        let reading = reading.map_or(String::new(), |reading| format!("{reading}; "));
        Some(format!("{reading}{DRAWS}"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::policy::test_positions::four;

    /// Answers by a function of the number of actions, the index in the batch, its length and the number of
    /// the question.
    struct FixedAnswer<F>(F, Mutex<usize>);

    impl<F: Fn(usize, usize, usize, usize) -> Answers + Send + Sync> Policy for FixedAnswer<F> {
        fn name(&self) -> String {
            "told".to_string()
        }

        fn answer(&self, _: &dyn Rules, batch: &Batch) -> Result<Answers, Error> {
            let (mut answers, mut number) = (Answers::default(), self.1.lock().unwrap());
            *number += 1;
            for at in 0..batch.len() {
                let one = (self.0)(batch.range(at).len(), at, batch.len(), *number);
                answers.probabilities.extend(one.probabilities);
                answers.scores.extend(one.scores);
                answers.values.extend(one.values);
            }
            Ok(answers)
        }
    }

    fn asked(
        program: bool,
        answer: impl Fn(usize, usize, usize, usize) -> Answers + Send + Sync,
    ) -> Result<(), Error> {
        let game = four();
        let mut batch = Batch::default();
        let mut position = game.start();
        for _ in 0..6 {
            let actions = game.actions(&position.state);
            batch.push(position, actions.clone());
            position = game.advance(&position, actions[0]);
        }
        let policy = FixedAnswer(answer, Mutex::new(0));
        let checked = if program {
            BatchCheck::program(policy)
        } else {
            BatchCheck::new(policy, 1e-4, false)
        };
        checked.answer(&*game, &batch).map(drop)
    }

    fn even(actions: usize) -> Answers {
        let probabilities = vec![1.0 / actions as f64; actions];
        Answers { probabilities, ..Answers::default() }
    }

    fn plays(actions: usize, which: usize) -> Answers {
        let mut probabilities = vec![0.0; actions];
        probabilities[which % actions] = 1.0;
        Answers { probabilities, ..Answers::default() }
    }

    #[test]
    fn answers_that_depend_on_the_batch_are_found() {
        let refused = |found: Result<(), Error>| {
            let line = found.unwrap_err().line();
            assert!(line.contains("by itself"), "{line}");
        };
        let value = |value: f64, n| Answers { values: vec![value], ..even(n) };
        let score = |score: f64, n| Answers { scores: vec![score; n], ..even(n) };
        for program in [false, true] {
            asked(program, |n, _, _, _| even(n)).unwrap();
            // Answers that depend on the length of the batch, and on the index in it.
            refused(asked(program, |n, _, length, _| value(0.1 / length as f64, n)));
            refused(asked(program, |n, at, _, _| score(at as f64, n)));
            refused(asked(program, |n, at, _, _| plays(n, at)));
            asked(program, |n, _, length, _| value(0.1 + 1e-6 / length as f64, n)).unwrap();
            asked(program, |n, _, length, _| score(5e3 + 0.1 / length as f64, n)).unwrap();
            // A single other move may be due to rounding.
            asked(program, |n, _, _, number| plays(n, usize::from(number == 2))).unwrap();
        }
    }

    #[test]
    fn only_programs_may_draw_their_answers() {
        asked(true, |n, at, _, number| plays(n, at + number)).unwrap();
        asked(false, |n, at, _, number| plays(n, at + number)).unwrap_err();
    }
}
