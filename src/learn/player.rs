//! A trained network as a policy for Othello.

use std::path::Path;

use candle_core::Result as Calculated;

use super::LearnError;
use super::card::{self, Card, Inputs, Reading};
use super::features::Features;
use super::network::Network;
use super::trainer::rows;
use crate::game::{Game, Layered, Outcome, Position};
use crate::policy::{Answers, Batch, Policy, PolicyError, share_best};

/// Positions that the network is asked about at a time, which bounds memory.
const AT_ONCE: usize = 2048;

/// A trained network that plays what it finds best.
#[derive(Clone, Debug)]
pub struct Learned {
    name: String,
    network: Network,
    features: Features,
    reading: Reading,
    /// Whether it is asked in all images of a position, and its answers are averaged.
    symmetric: bool,
}

impl Learned {
    /// A network whose positions and answers are to be read in this way.
    pub fn new(name: String, network: Network, features: Features, reading: Reading) -> Learned {
        Learned { name, network, features, reading, symmetric: false }
    }

    /// The same, asked in all images of a position.
    pub fn symmetric(self, symmetric: bool) -> Learned {
        Learned { symmetric, ..self }
    }

    /// Reads a network; fails where it is for another game.
    pub fn load<G: Game>(name: String, path: &Path, game: &G) -> Result<Learned, LearnError> {
        let (card, network) = card::read(path)?;
        let learned = Learned::of(name, &card, network);
        let fits = card.game == game.spec().to_string();
        learned.filter(|_| fits).ok_or_else(|| LearnError::Unfit {
            path: card::file(path, "json"),
            what: format!("is for {}, not for {}", card.game, game.spec()),
        })
    }

    fn of(name: String, card: &Card, network: Network) -> Option<Learned> {
        let Inputs::Squares(features) = card.features else { return None };
        let squares = {
            let (rows, columns) = card.game.parse::<crate::game::GameSpec>().ok()?.shape();
            rows * columns
        };
        let outputs = |name: &str| {
            let heads = network.architecture().heads();
            heads.iter().find(|head| head.name == name).map(|head| head.outputs)
        };
        let fits = match card.reading {
            Reading::Policy => outputs("policy") == Some(squares + 1),
            Reading::Q => outputs("q") == Some(squares + 1),
            Reading::Wins => outputs("wins") == Some(2),
            Reading::Discs => outputs("discs") == Some(1),
            Reading::Win => false,
        };
        let fits = fits && features.width(squares) == network.architecture().inputs();
        fits.then(|| Learned::new(name, network, features, card.reading))
    }

    /// What a head answers for positions: its numbers, one position after the other; `None` if there is
    /// no such head.
    fn head<G: Layered>(
        &self,
        game: &G,
        head: &str,
        positions: &[Position<G::State>],
    ) -> Calculated<Option<Vec<f32>>> {
        let heads = self.network.architecture().heads();
        let Some(at) = heads.iter().position(|found| found.name == head) else { return Ok(None) };
        let weights = self.network.fixed()?;
        let width = self.network.architecture().inputs();
        let mut answers = Vec::with_capacity(positions.len() * heads[at].outputs);
        for some in positions.chunks(AT_ONCE) {
            let inputs = rows(self.features.of(game, some), width)?;
            let answer = weights.forward(&inputs)?.swap_remove(at);
            answers.extend(answer.flatten_all()?.to_vec1::<f32>()?);
        }
        Ok(Some(answers))
    }

    /// The worth of each action of a batch by the numbers that the head has for actions.
    fn by_action<G: Layered>(
        &self,
        game: &G,
        head: &str,
        batch: &Batch<G::State>,
        worths: &mut [f64],
    ) -> Calculated<()> {
        let folded = game.with_folding(true);
        let order = if self.symmetric { folded.group().order() } else { 1 };
        let width = game.action_count();
        for symmetry in 0..order as crate::game::Symmetry {
            let image = |p: &Position<G::State>| match symmetry {
                0 => *p,
                _ => Position { state: folded.transform(&p.state, symmetry), side: p.side },
            };
            let images: Vec<_> = batch.positions().iter().map(image).collect();
            let answers = self.head(game, head, &images)?.unwrap_or_default();
            for at in 0..batch.len() {
                for place in batch.range(at) {
                    let action = batch.actions()[place];
                    let action = match symmetry {
                        0 => action,
                        _ => folded.transform_action(action, symmetry),
                    };
                    let number = answers[at * width + usize::from(action.0)];
                    worths[place] += f64::from(number) / order as f64;
                }
            }
        }
        Ok(())
    }

    /// The worth of each action by what the network says of the position after it; `worth` turns that
    /// into the mover's, `end` is what a finished game is worth to its mover on the same scale.
    fn by_next<G: Layered>(
        &self,
        game: &G,
        head: &str,
        batch: &Batch<G::State>,
        worths: &mut [f64],
        end: impl Fn(&G::State) -> f64,
        worth: impl Fn(&Position<G::State>, &[f32]) -> f64,
    ) -> Calculated<()> {
        let (mut asked, mut places) = (Vec::new(), Vec::new());
        for (at, position) in batch.positions().iter().enumerate() {
            for place in batch.range(at) {
                let next = game.advance(position, batch.actions()[place]);
                if game.is_terminal(&next.state) {
                    worths[place] = -end(&next.state);
                } else {
                    asked.push(next);
                    places.push(place);
                }
            }
        }
        let answers = self.head(game, head, &asked)?.unwrap_or_default();
        let width = answers.len() / asked.len().max(1);
        for (at, (next, place)) in asked.iter().zip(places).enumerate() {
            worths[place] = -worth(next, &answers[at * width..][..width]);
        }
        Ok(())
    }

    fn answer_all<G: Layered>(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Calculated<()> {
        let count = batch.actions().len();
        answers.scores.resize(count, 0.0);
        answers.probabilities.resize(count, 0.0);
        let worths = &mut answers.scores[..];
        let outcome =
            |state: &G::State| f64::from(game.result(state).unwrap_or(Outcome::Draw).value());
        match self.reading {
            Reading::Policy => self.by_action(game, "policy", batch, worths)?,
            Reading::Q => self.by_action(game, "q", batch, worths)?,
            Reading::Wins => self.by_next(game, "wins", batch, worths, outcome, |next, wins| {
                // As the one to move next sees it: Black's chance less White's, or the reverse.
                let black = f64::from(wins[0]) - f64::from(wins[1]);
                if next.side.index() == 0 { black } else { -black }
            })?,
            Reading::Discs | Reading::Win => {
                let squares = (game.action_count() - 1) as f64;
                let share =
                    |state: &G::State| f64::from(game.squares(state).0.count_ones()) / squares;
                self.by_next(game, "discs", batch, worths, share, |_, share| f64::from(share[0]))?;
            }
        }
        for at in 0..batch.len() {
            let range = batch.range(at);
            share_best(&answers.scores[range.clone()], &mut answers.probabilities[range]);
        }
        match self.reading {
            Reading::Policy => {
                let values = self.head(game, "value", batch.positions())?.unwrap_or_default();
                answers.values.extend(values.into_iter().map(|v| f64::from(v).clamp(-1.0, 1.0)));
            }
            Reading::Q | Reading::Wins => {
                let best = |at| {
                    let worths = &answers.scores[batch.range(at)];
                    worths.iter().fold(-1.0, |best: f64, &worth| best.max(worth)).min(1.0)
                };
                answers.values.extend((0..batch.len()).map(best));
            }
            Reading::Discs | Reading::Win => {}
        }
        Ok(())
    }
}

impl<G: Layered> Policy<G> for Learned {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn answer(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), PolicyError> {
        self.answer_all(game, batch, answers).map_err(|error| PolicyError::new(error.to_string()))
    }
}
