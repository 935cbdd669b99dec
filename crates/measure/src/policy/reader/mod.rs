//! Reads the answers of policies of others, in one place: models, functions, files and programs are each a [`Source`] of
//! named outputs for positions.
//!
//! `spec` declares what numbers mean, `heads` chooses outputs by it, or by names and sizes, `numbers` makes checked
//! answers of them, and `ask` asks the source, averages over images and searches by values. [`Outside`] is the policy.
//! Models are tried on the start position and its successors before any work; the outputs of others are settled by
//! their first answer. `docs/your-policy.md` is the user guide.

mod added_passes;
mod ask;
mod heads;
mod invariant;
mod numbers;
mod spec;
#[cfg(all(test, feature = "onnx"))]
mod tests;

use std::sync::OnceLock;

use added_passes::{after_pass, ask_after_passes};
use ask::Asked;
use heads::{Heads, Said, Tried, may_be_probabilities};
pub(crate) use spec::number;
pub use spec::{MoveChoice, ReadingSpec, Softmax, ValueRange};

use super::card::{self, Card};
use super::{Answers, Batch, Policy, TrainedOn};
use yomikiri::error::Error;
use yomikiri::rules::{Action, AnyPosition, Rules};

/// Numbers of one output for some positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutputRows {
    /// Name of the output; `answer` if it has none.
    pub name: String,
    /// Numbers per row; 0 if the output is not divisible by the number of rows.
    pub width: usize,
    /// `true` for integers.
    pub is_integer: bool,
    /// Action of each column, if they are not in order.
    pub classes: Option<Vec<i64>>,
    /// Numbers, row by row.
    pub numbers: Vec<f64>,
}

impl OutputRows {
    /// Returns the numbers of a row.
    pub fn row(&self, at: usize) -> &[f64] {
        &self.numbers[at * self.width..(at + 1) * self.width]
    }
}

/// Something that has numbers for positions.
pub trait Source: Send + Sync {
    /// Largest number of positions in a question.
    const MOST: usize = usize::MAX;

    /// Returns its outputs for nonterminal positions, a row each; always the same outputs.
    fn rows(&self, game: &dyn Rules, positions: &[AnyPosition]) -> Result<Vec<OutputRows>, Error>;
}

/// Fewest positions by which numbers are taken for probabilities; the positions after fewer are asked about, too.
const FEWEST: usize = 4;

/// A policy that reads the numbers of a source.
///
/// With a policy output, its numbers for the legal moves choose the move. With only a value output, or with
/// `depth=`, minimax over the values at the leaves does.
pub struct Outside<S> {
    name: String,
    pub(super) source: S,
    spec: ReadingSpec,
    /// `true` if numbers of illegal moves are a mistake; a model cannot know them, so they are left out.
    is_strict: bool,
    /// Reading that a card defines.
    card: Option<card::Reading>,
    /// `true` if all images of a position have the same answer, but for rounding.
    equivariant: bool,
    learned_from: TrainedOn,
    settled: OnceLock<Settled>,
    /// Rest of the text of its reading.
    pub(super) remark: String,
}

/// Meaning of the outputs of a source.
struct Settled {
    heads: Heads,
    /// Names and widths of the outputs.
    outputs: Vec<(String, usize)>,
    /// Reading of the outputs, in words, unless a card or their names define it.
    reading: Option<String>,
}

impl<S> Outside<S> {
    /// Makes a policy of a source. Numbers of illegal moves are left out, and refused if it `is_strict`. `card` belongs
    /// to a model.
    pub fn new(
        source: S,
        name: String,
        spec: &ReadingSpec,
        (is_strict, card): (bool, Option<&Card>),
    ) -> Outside<S> {
        let of_card = card.map_or(TrainedOn::Unknown, Card::learned_from);
        let trained = spec.trained.map(|trained| TrainedOn::Part(trained.division()));
        let card = card.filter(|_| !spec.defines_reading());
        Outside {
            name,
            source,
            spec: spec.clone(),
            is_strict,
            card: card.map(|card| card.reading),
            equivariant: card.is_some_and(|card| card.equivariant),
            learned_from: trained.unwrap_or(of_card),
            settled: OnceLock::new(),
            remark: String::new(),
        }
    }

    /// Settles how the outputs are read, by those for some positions; returns the names of those that are used.
    pub(super) fn settle(
        &self,
        game: &dyn Rules,
        tried: &[OutputRows],
    ) -> Result<Vec<&str>, Error> {
        let actions = game.action_count();
        let has_pass = game.is_pass(Action(actions as u16 - 1));
        let (spec, is_strict) = (&self.spec, self.is_strict);
        let found = Tried { spec, tried, actions, has_pass, is_strict };
        let outputs = widths(tried);
        let heads =
            found.heads(self.card).map_err(|what| match is_strict && !tried.is_empty() {
                true => what.map(|what| format!("{what} (outputs: {})", listed(&outputs))),
                false => what,
            })?;
        // The other outputs of a model are not computed again.
        let is_kept = |(name, _): &(String, usize)| is_strict || heads.used().contains(&&**name);
        let outputs = outputs.into_iter().filter(is_kept).collect();
        let is_told = self.card.is_some() || is_strict && found.is_declared(&heads);
        let reading = (!is_told).then(|| found.words(&heads));
        Ok(self.settled.get_or_init(|| Settled { heads, outputs, reading }).heads.used())
    }

    /// Fails if outputs are not those by which the reading was settled.
    fn check_outputs(&self, outputs: &[OutputRows]) -> Result<(), Error> {
        let settled = self.settled.get();
        settled.map_or(Ok(()), |settled| same_outputs(&settled.outputs, outputs))
    }

    fn answer_all(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error>
    where
        S: Source,
    {
        ask_after_passes(game, batch, |batch| self.answer_each(game, batch))
    }

    fn answer_each(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error>
    where
        S: Source,
    {
        let mut first = None;
        if self.settled.get().is_none() {
            let outputs = Asked::rows_of(self, game, batch.positions())?;
            match batch.len() < FEWEST && outputs.iter().any(may_be_probabilities) {
                true => self.settle(game, &Asked::rows_of(self, game, &with_next(game, batch))?)?,
                false => self.settle(game, &outputs)?,
            };
            self.check_outputs(&outputs)?;
            first = Some(outputs);
        }
        let settled = self.settled.get().expect("settled above");
        Asked { policy: self, heads: &settled.heads, game }.answer(batch, first)
    }

    /// Returns `false` if it is marked equivariant, but answers differ for images of a position.
    pub fn is_as_equivariant(&self, game: &dyn Rules) -> Result<bool, Error>
    where
        S: Source,
    {
        Ok(!self.equivariant || invariant::answers_alike(self, game)?)
    }

    /// Fails if the numbers for a position, in one row of each output, are invalid; the error comes with the name of the
    /// output.
    pub(super) fn check_row(
        &self,
        game: &dyn Rules,
        position: &AnyPosition,
        outputs: &[OutputRows],
    ) -> Result<(), (String, Error)> {
        let Some(Settled { heads, .. }) = self.settled.get() else { return Ok(()) };
        let wrong = |name: &str, what| (name.to_string(), in_position(game, what, position));
        let actions = game.actions(&position.state);
        for output in outputs {
            let (name, row) = (&*output.name, output.row(0));
            let checked = match &heads.policy {
                Some(head) if head.output == name && !actions.is_empty() => {
                    let mut numbers: Vec<f64> =
                        actions.iter().map(|&action| head.number(row, action)).collect();
                    let mut out = vec![0.0; actions.len()];
                    head.check(row, &actions)
                        .and_then(|()| head.probabilities(&mut numbers, &mut out))
                }
                _ => Ok(()),
            };
            checked.map_err(|what| wrong(name, what))?;
            if let Some((_, head)) = heads.value.as_ref().filter(|(value, _)| value == name) {
                head.read(row, position.side).map_err(|what| wrong(name, what))?;
            }
            let is_nan = |action: &&Action| row[usize::from(action.0)].is_nan();
            let orders = heads.scores.as_deref() == Some(name);
            if let Some(Action(at)) = actions.iter().filter(|_| orders).find(is_nan) {
                return Err(wrong(name, format!("invalid number NaN of action {at}").into()));
            }
        }
        Ok(())
    }
}

/// Returns the positions of a batch with those after them.
pub(super) fn with_next(game: &dyn Rules, batch: &Batch) -> Vec<AnyPosition> {
    let next = |at: usize| {
        let actions = batch.actions()[batch.range(at)].iter();
        actions.map(move |&action| game.advance(&batch.positions()[at], action))
    };
    let next = (0..batch.len()).flat_map(next);
    let next = next.map(|position| after_pass(game, &position).unwrap_or(position));
    let next = next.filter(|position| !game.is_terminal(&position.state));
    batch.positions().iter().copied().chain(next).collect()
}

fn widths(outputs: &[OutputRows]) -> Vec<(String, usize)> {
    outputs.iter().map(|output| (output.name.clone(), output.width)).collect()
}

/// Fails if outputs are not those of an earlier answer.
fn same_outputs(before: &[(String, usize)], outputs: &[OutputRows]) -> Result<(), Error> {
    let now = widths(outputs);
    if now == before {
        return Ok(());
    }
    let what = format!("outputs {}, before it had {}", listed(&now), listed(before));
    Err(Error::new(what, "expected the same outputs in all of its answers"))
}

/// Formats outputs with their widths.
fn listed(outputs: &[(String, usize)]) -> String {
    let one = |(name, width): &(String, usize)| format!("{name} {width}");
    outputs.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Returns `true` if a name says that an output is a value.
pub(super) fn is_value(name: &str) -> bool {
    Said::by(name) == Some(Said::Value)
}

fn in_position(game: &dyn Rules, what: Error, position: &AnyPosition) -> Error {
    what.map(|what| format!("{what} in the position '{}'", game.notation(position)))
}

impl<S: Source> Policy for Outside<S> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn answer(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error> {
        match self.equivariant {
            _ if batch.is_empty() => Ok(Answers::default()),
            true => invariant::ask_each_once(game, batch, |some| self.answer_all(game, some)),
            false => self.answer_all(game, batch),
        }
    }

    fn learned_from(&self) -> TrainedOn {
        self.learned_from
    }

    fn reading(&self) -> Option<String> {
        let reading = self.settled.get()?.reading.as_ref();
        reading.map(|reading| format!("{reading}{}", self.remark))
    }
}
