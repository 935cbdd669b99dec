//! Asks a source about positions, their images and the positions ahead.

use std::borrow::Cow;

use super::added_passes::after_pass;
use super::heads::Heads;
use super::numbers::PolicyHead;
use super::{OutputRows, Outside, Source, in_position, same_outputs, widths};
use crate::policy::{Answers, Batch, share_best};
use yomikiri::error::Error;
use yomikiri::rules::{Action, AnyPosition, AnyState, Outcome, Position, Rules, Symmetry};

/// Number of positions searched at a time, which bounds memory.
const SEARCHED_AT_ONCE: usize = 64;

/// A policy whose reading is settled, asked in a game.
pub(super) struct Asked<'a, S> {
    pub policy: &'a Outside<S>,
    pub heads: &'a Heads,
    pub game: &'a dyn Rules,
}

impl<S: Source> Asked<'_, S> {
    /// Returns the outputs for some positions, in questions of the size that the policy wants.
    pub(super) fn rows_of(
        policy: &Outside<S>,
        game: &dyn Rules,
        positions: &[AnyPosition],
    ) -> Result<Vec<OutputRows>, Error> {
        let fixed = policy.spec.batch.map(|size| size as usize);
        let mut all: Vec<OutputRows> = Vec::new();
        for some in positions.chunks(fixed.unwrap_or(S::MOST)) {
            // The last question is filled up, as the others are full.
            let mut asked = Cow::Borrowed(some);
            if let Some(size) = fixed.filter(|size| *size > some.len()) {
                asked.to_mut().resize(size, some[0]);
            }
            let outputs = policy.source.rows(game, &asked)?;
            policy.check_outputs(&outputs)?;
            if !all.is_empty() {
                same_outputs(&widths(&all), &outputs)?;
            }
            for (at, mut output) in outputs.into_iter().enumerate() {
                output.numbers.truncate(some.len() * output.width);
                match all.get_mut(at) {
                    Some(all) => all.numbers.append(&mut output.numbers),
                    None => all.push(output),
                }
            }
        }
        Ok(all)
    }

    fn rows(&self, positions: &[AnyPosition]) -> Result<Vec<OutputRows>, Error> {
        Asked::rows_of(self.policy, self.game, positions)
    }

    /// Returns the number of images of a position to average over.
    fn images(&self) -> Symmetry {
        let folded = self.game.with_folding(true).filter(|_| self.policy.spec.symmetric);
        folded.map_or(1, |folded| folded.group().order() as Symmetry)
    }

    /// Returns the outputs for one of the images of each position.
    fn image_rows(
        &self,
        positions: &[AnyPosition],
        symmetry: Symmetry,
    ) -> Result<Vec<OutputRows>, Error> {
        if symmetry == 0 {
            return self.rows(positions);
        }
        let own = self.game.with_folding(true);
        let folded = own.as_deref().unwrap_or(self.game);
        let image = |p: &AnyPosition| Position {
            state: folded.transform(&p.state, symmetry),
            side: p.side,
        };
        self.rows(&positions.iter().map(image).collect::<Vec<_>>())
    }

    /// Returns the numbers of the policy output for the actions of a batch, averaged over images; `own` are the outputs
    /// for the positions themselves.
    fn by_action(
        &self,
        head: &PolicyHead,
        batch: &Batch,
        own: &[OutputRows],
    ) -> Result<Vec<f64>, Error> {
        let mut worths = vec![0.0; batch.actions().len()];
        let unfolded = self.game.with_folding(true);
        let folded = unfolded.as_deref().unwrap_or(self.game);
        let order = self.images();
        for symmetry in 0..order {
            let of_image = match symmetry {
                0 => Vec::new(),
                _ => self.image_rows(batch.positions(), symmetry)?,
            };
            let output = named(if symmetry == 0 { own } else { &of_image }, &head.output)?;
            for (at, position) in batch.positions().iter().enumerate() {
                let (range, row) = (batch.range(at), output.row(at));
                if symmetry == 0 {
                    head.check(row, &batch.actions()[range.clone()])
                        .map_err(|what| in_position(self.game, what, position))?;
                }
                for place in range {
                    let action = match batch.actions()[place] {
                        action if symmetry == 0 => action,
                        action => folded.transform_action(action, symmetry),
                    };
                    worths[place] += head.number(row, action) / f64::from(order);
                }
            }
        }
        Ok(worths)
    }

    /// Returns the values of nonterminal positions for their movers, by the source alone, averaged over `order` images.
    pub(super) fn values(
        &self,
        positions: &[AnyPosition],
        order: Symmetry,
    ) -> Result<Vec<f64>, Error> {
        if positions.is_empty() {
            return Ok(Vec::new());
        }
        if let (None, Some(head)) = (&self.heads.value, &self.heads.policy) {
            let mut batch = Batch::default();
            positions.iter().for_each(|p| batch.push(*p, self.game.actions(&p.state)));
            let worths = self.by_action(head, &batch, &self.rows(positions)?)?;
            return Ok((0..batch.len()).map(|at| best(&worths[batch.range(at)])).collect());
        }
        let mut values = vec![0.0; positions.len()];
        for symmetry in 0..order {
            let own = self.own_values(positions, &self.image_rows(positions, symmetry)?)?;
            values.iter_mut().zip(own).for_each(|(sum, own)| *sum += own / f64::from(order));
        }
        Ok(values)
    }

    /// Returns the values that outputs have for positions.
    fn own_values(
        &self,
        positions: &[AnyPosition],
        outputs: &[OutputRows],
    ) -> Result<Vec<f64>, Error> {
        let Some((output, head)) = &self.heads.value else { return Ok(Vec::new()) };
        let output = named(outputs, output)?;
        let value = |(at, position): (usize, &AnyPosition)| {
            let value = head.read(output.row(at), position.side);
            value.map_err(|what| in_position(self.game, what, position))
        };
        positions.iter().enumerate().map(value).collect()
    }

    /// Returns the value of a terminal position for its mover, on the scale of [`Asked::values`].
    pub(super) fn at_the_end(&self, state: &AnyState) -> f64 {
        match &self.heads.value {
            Some((_, head)) => head.at_the_end(self.game, state),
            None => f64::from(self.game.result(state).unwrap_or(Outcome::Draw).value()),
        }
    }

    /// Appends the nonterminal positions `plies` plies ahead to `out`, in order.
    fn leaves(&self, position: AnyPosition, plies: u32, out: &mut Vec<AnyPosition>) {
        if self.game.is_terminal(&position.state) {
            return;
        }
        if let Some(after) = after_pass(self.game, &position) {
            return self.leaves(after, plies.saturating_sub(1), out);
        }
        if plies == 0 {
            return out.push(position);
        }
        for action in self.game.actions(&position.state) {
            self.leaves(self.game.advance(&position, action), plies - 1, out);
        }
    }

    /// Returns the minimax value of a position for its mover after `plies` plies; `values` are those of its
    /// [leaves](Asked::leaves).
    fn minimax(
        &self,
        position: AnyPosition,
        plies: u32,
        values: &mut impl Iterator<Item = f64>,
    ) -> f64 {
        if self.game.is_terminal(&position.state) {
            return self.at_the_end(&position.state);
        }
        if let Some(after) = after_pass(self.game, &position) {
            return -self.minimax(after, plies.saturating_sub(1), values);
        }
        if plies == 0 {
            return values.next().expect("every leaf has a value");
        }
        let after = |action| -self.minimax(self.game.advance(&position, action), plies - 1, values);
        self.game.actions(&position.state).into_iter().map(after).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns the minimax value of each action, searching `plies` plies beyond the move; all leaves are
    /// evaluated together.
    fn search(&self, batch: &Batch, plies: u32) -> Result<Vec<f64>, Error> {
        let mut worths = Vec::with_capacity(batch.actions().len());
        let places: Vec<usize> = (0..batch.len()).collect();
        for some in places.chunks(SEARCHED_AT_ONCE) {
            let next = |&at: &usize| {
                let actions = batch.actions()[batch.range(at)].iter();
                actions.map(move |&action| self.game.advance(&batch.positions()[at], action))
            };
            let mut leaves = Vec::new();
            some.iter().flat_map(next).for_each(|after| self.leaves(after, plies, &mut leaves));
            let mut values = self.values(&leaves, self.images())?.into_iter();
            let worth = |after| -self.minimax(after, plies, &mut values);
            worths.extend(some.iter().flat_map(next).map(worth));
        }
        Ok(worths)
    }

    /// Answers for a batch; `outputs` are those for its positions if they were asked for.
    pub(super) fn answer(
        &self,
        batch: &Batch,
        outputs: Option<Vec<OutputRows>>,
    ) -> Result<Answers, Error> {
        let Heads { policy, scores, value, final_score, plies, own_value } = self.heads;
        let positions = batch.positions();
        // A policy output rates actions, so it already looks one ply ahead.
        let searched = plies.and_then(|plies| plies.checked_sub(1 + u32::from(value.is_none())));
        let outputs = match outputs {
            Some(outputs) => outputs,
            None if searched.is_none() || *own_value => self.rows(positions)?,
            None => Vec::new(),
        };
        let mut worths = match (searched, policy) {
            (Some(plies), _) => self.search(batch, plies)?,
            (None, Some(head)) => self.by_action(head, batch, &outputs)?,
            (None, None) => vec![0.0; batch.actions().len()],
        };
        let mut answers = Answers::default();
        answers.probabilities.resize(worths.len(), 0.0);
        for (at, position) in positions.iter().enumerate() {
            let range = batch.range(at);
            let (worths, out) = (&mut worths[range.clone()], &mut answers.probabilities[range]);
            match policy {
                Some(head) if plies.is_none() => head
                    .probabilities(worths, out)
                    .map_err(|what| in_position(self.game, what, position))?,
                _ => share_best(worths, out),
            }
        }
        let bounded = |value: f64| value.clamp(-1.0, 1.0);
        let is_outcome = value.as_ref().is_none_or(|(_, head)| head.is_outcome());
        match (own_value, is_outcome) {
            (true, true) => {
                let values = self.own_values(positions, &outputs)?;
                answers.values.extend(values.into_iter().map(bounded));
            }
            (true, false) => answers.final_scores = self.own_values(positions, &outputs)?,
            (false, true) => {
                let best = |at| bounded(best(&worths[batch.range(at)]));
                answers.values.extend((0..batch.len()).map(best));
            }
            (false, false) => {}
        }
        if let (Some(name), true) = (final_score, answers.final_scores.is_empty()) {
            answers.final_scores.extend(&named(&outputs, name)?.numbers);
        }
        if let Some(name) = scores {
            let scores = named(&outputs, name)?;
            for at in 0..batch.len() {
                let number = |action: &Action| scores.row(at)[usize::from(action.0)];
                answers.scores.extend(batch.actions()[batch.range(at)].iter().map(number));
            }
        } else if plies.is_some() || policy.as_ref().is_some_and(PolicyHead::has_scores) {
            answers.scores = worths;
        }
        Ok(answers)
    }
}

/// Returns the output of a name.
fn named<'a>(outputs: &'a [OutputRows], name: &str) -> Result<&'a OutputRows, Error> {
    let found = outputs.iter().find(|output| output.name == name);
    found.ok_or_else(|| format!("missing output `{name}`").into())
}

fn best(worths: &[f64]) -> f64 {
    worths.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}
