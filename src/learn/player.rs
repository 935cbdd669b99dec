//! A trained network as a policy for Othello.

mod images;

use std::path::Path;
use std::sync::Arc;

use super::LearnError;
use super::card::{self, Card, Inputs, Reading};
use super::features::Features;
use super::forward::Forward;
use super::network::Network;
use super::once::once;
use crate::game::{Division, Game, Outcome, Position, Side, Symmetry};
use crate::hint::Hinted;
use crate::policy::{Answers, Batch, Policy, PolicyError, TrainedOn, share_best};

/// Logits that differ by no more than this, relative to the larger of 1 and their size, are equal.
/// The runtime adds 32-bit numbers in an order of its own: of the 24 bits of a sum of about a
/// thousand products the last few differ between the mirror images of a move, so that 16 are
/// compared. Values are compared as they are: where a win is nearly sure, small differences of them
/// mean something.
const ROUNDING: f64 = 1.0 / (1 << 16) as f64;

/// Positions of one inference, which bounds memory.
const AT_ONCE: usize = 2048;
/// Positions that are searched at a time, likewise.
const READ_AT_ONCE: usize = 64;

/// A trained network that plays what it finds best.
#[derive(Clone)]
pub struct Learned {
    name: String,
    network: Arc<Forward>,
    features: Features,
    reading: Reading,
    /// Whether its answers are averaged over all images of a position.
    symmetric: bool,
    /// The depth of its search; `None` for none.
    plies: Option<u32>,
    learned_from: Option<Division>,
    /// Whether it answers all images of a position alike, but for rounding.
    equivariant: bool,
}

impl Learned {
    /// A network whose positions and answers are to be read in this way.
    pub fn new(
        name: String,
        network: &Network,
        features: Features,
        reading: Reading,
    ) -> Result<Learned, PolicyError> {
        let network = Arc::new(Forward::of(network)?);
        Ok(Learned {
            name,
            network,
            features,
            reading,
            symmetric: false,
            plies: None,
            learned_from: None,
            equivariant: false,
        })
    }

    /// The same, averaging over all images of a position.
    pub fn symmetric(self, symmetric: bool) -> Learned {
        Learned { symmetric, ..self }
    }

    /// The same with a minimax search of so many plies, the judged move and passes among them, and
    /// the network's value at the leaves. `None`: one that answers by action evaluates the position
    /// itself, others each position after it.
    pub fn plies(self, plies: Option<u32>) -> Learned {
        Learned { plies: plies.map(|plies| plies.max(1)), ..self }
    }

    /// Reads a network; fails where it is for another game.
    pub fn load<G: Game>(name: String, path: &Path, game: &G) -> Result<Learned, LearnError> {
        let (card, network) = card::read(path)?;
        let fits = card.game == game.name();
        match card.features {
            Inputs::Squares(features) if fits && reads(&card, features) => {
                let learned = Learned::new(name, &network, features, card.reading)?;
                let equivariant = card.settings["equivariant"] == true;
                if equivariant && !learned.answers_images_alike(game)? {
                    return Err(LearnError::Unfit {
                        path: card::file(path, "json"),
                        what: Hinted::new(
                            "says that the network is equivariant, but it answers images of a position differently",
                            "write \"equivariant\": false",
                        ),
                    });
                }
                Ok(Learned { learned_from: card.learned_from(), equivariant, ..learned })
            }
            _ => Err(LearnError::Unfit {
                path: card::file(path, "json"),
                what: format!("is for {}, not for {}", card.game, game.name()).into(),
            }),
        }
    }

    /// What a head answers for positions: its numbers, one position after the other; `None` if
    /// there is no such head.
    fn head<G: Game>(
        &self,
        game: &G,
        head: &str,
        positions: &[Position<G::State>],
    ) -> Result<Option<Vec<f32>>, PolicyError> {
        let Some(at) = self.network.place(head) else { return Ok(None) };
        let mut answers = Vec::new();
        for some in positions.chunks(AT_ONCE) {
            let inputs = self.features.of(game, some);
            answers.extend(self.network.answers(&inputs)?.swap_remove(at));
        }
        Ok(Some(answers))
    }

    /// How many images of a position are averaged.
    fn images<G: Game>(&self, game: &G) -> Symmetry {
        let folded = game.with_folding(true).filter(|_| self.symmetric);
        folded.map_or(1, |folded| folded.group().order() as Symmetry)
    }

    /// Positions in one of their images.
    fn image<G: Game>(
        &self,
        game: &G,
        positions: &[Position<G::State>],
        symmetry: Symmetry,
    ) -> Vec<Position<G::State>> {
        if symmetry == 0 {
            return positions.to_vec();
        }
        let own = game.with_folding(true);
        let folded = own.as_ref().unwrap_or(game);
        let image = |p: &Position<G::State>| Position {
            state: folded.transform(&p.state, symmetry),
            side: p.side,
        };
        positions.iter().map(image).collect()
    }

    /// The worth of each action of a batch by the numbers that the head has for actions.
    fn by_action<G: Game>(
        &self,
        game: &G,
        head: &str,
        batch: &Batch<G::State>,
        worths: &mut [f64],
    ) -> Result<(), PolicyError> {
        let own = game.with_folding(true);
        let folded = own.as_ref().unwrap_or(game);
        let order = self.images(game);
        let width = game.action_count();
        for symmetry in 0..order {
            let images = self.image(game, batch.positions(), symmetry);
            let answers = self.head(game, head, &images)?.unwrap_or_default();
            for at in 0..batch.len() {
                for place in batch.range(at) {
                    let action = batch.actions()[place];
                    let action = match symmetry {
                        0 => action,
                        _ => folded.transform_action(action, symmetry),
                    };
                    let number = answers[at * width + usize::from(action.0)];
                    worths[place] += f64::from(number) / f64::from(order);
                }
            }
        }
        Ok(())
    }

    /// What positions that are not over are worth to their mover, by the network alone; of discs
    /// twice the share of the squares, less 1.
    fn values<G: Game>(
        &self,
        game: &G,
        positions: &[Position<G::State>],
    ) -> Result<Vec<f64>, PolicyError> {
        let head = match self.reading {
            Reading::Policy => "value",
            Reading::Wins => "wins",
            Reading::Discs | Reading::Win => "discs",
            Reading::Q => {
                let mut batch = Batch::default();
                positions.iter().for_each(|p| batch.push(*p, game.actions(&p.state)));
                let mut worths = vec![0.0; batch.actions().len()];
                self.by_action(game, "q", &batch, &mut worths)?;
                return Ok((0..batch.len()).map(|at| best(&worths[batch.range(at)])).collect());
            }
        };
        let mut values = vec![0.0; positions.len()];
        let order = self.images(game);
        for symmetry in 0..order {
            let images = self.image(game, positions, symmetry);
            let answers = self.head(game, head, &images)?.unwrap_or_default();
            let width = answers.len() / positions.len().max(1);
            for (at, value) in values.iter_mut().enumerate() {
                let answer = &answers[at * width..][..width];
                let own = match self.reading {
                    // As the mover sees it: Black's probability less White's, or the reverse.
                    Reading::Wins => {
                        let black = f64::from(answer[0]) - f64::from(answer[1]);
                        if positions[at].side == Side::First { black } else { -black }
                    }
                    Reading::Discs | Reading::Win => 2.0 * f64::from(answer[0]) - 1.0,
                    Reading::Policy | Reading::Q => f64::from(answer[0]),
                };
                *value += own / f64::from(order);
            }
        }
        Ok(values)
    }

    /// What a finished game is worth to its mover, on the scale of [`Learned::values`].
    fn at_the_end<G: Game>(&self, game: &G, state: &G::State) -> f64 {
        match self.reading {
            Reading::Discs | Reading::Win => {
                let squares = (game.action_count() - 1) as f64;
                2.0 * f64::from(game.squares(state).unwrap_or_default().0.count_ones()) / squares
                    - 1.0
            }
            _ => f64::from(game.result(state).unwrap_or(Outcome::Draw).value()),
        }
    }

    /// The positions that are met `plies` plies on from here where no game ends before, in order.
    fn leaves<G: Game>(
        game: &G,
        position: Position<G::State>,
        plies: u32,
        out: &mut Vec<Position<G::State>>,
    ) {
        if game.is_terminal(&position.state) {
            return;
        }
        if plies == 0 {
            return out.push(position);
        }
        for action in game.actions(&position.state) {
            Self::leaves(game, game.advance(&position, action), plies - 1, out);
        }
    }

    /// What a position is worth to its mover if both choose their best for `plies` plies; `values`
    /// are those of its [leaves](Learned::leaves).
    fn read<G: Game>(
        &self,
        game: &G,
        position: Position<G::State>,
        plies: u32,
        values: &mut impl Iterator<Item = f64>,
    ) -> f64 {
        if game.is_terminal(&position.state) {
            return self.at_the_end(game, &position.state);
        }
        if plies == 0 {
            return values.next().expect("every leaf has a value");
        }
        let after = |action| -self.read(game, game.advance(&position, action), plies - 1, values);
        game.actions(&position.state).into_iter().map(after).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The worth of each action by minimax: the move itself and `plies` more are read, and the
    /// positions that are met there evaluated together.
    fn by_reading<G: Game>(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        plies: u32,
        worths: &mut [f64],
    ) -> Result<(), PolicyError> {
        let next =
            |at: usize, place: usize| game.advance(&batch.positions()[at], batch.actions()[place]);
        for begin in (0..batch.len()).step_by(READ_AT_ONCE) {
            let some = begin..batch.len().min(begin + READ_AT_ONCE);
            let places: Vec<_> =
                some.flat_map(|at| batch.range(at).map(move |place| (at, place))).collect();
            let mut leaves = Vec::new();
            for &(at, place) in &places {
                Self::leaves(game, next(at, place), plies, &mut leaves);
            }
            let mut values = self.values(game, &leaves)?.into_iter();
            for (at, place) in places {
                worths[place] = -self.read(game, next(at, place), plies, &mut values);
            }
        }
        Ok(())
    }

    fn answer_all<G: Game>(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), PolicyError> {
        let count = batch.actions().len();
        answers.scores.resize(count, 0.0);
        answers.probabilities.resize(count, 0.0);
        let worths = &mut answers.scores[..];
        match (self.reading, self.plies) {
            (Reading::Policy, None) => self.by_action(game, "policy", batch, worths)?,
            (Reading::Q, None | Some(1)) => self.by_action(game, "q", batch, worths)?,
            // The worth of a move looks a ply beyond the position already.
            (Reading::Q, Some(plies)) => self.by_reading(game, batch, plies - 2, worths)?,
            (_, plies) => self.by_reading(game, batch, plies.unwrap_or(1) - 1, worths)?,
        }
        for at in 0..batch.len() {
            let range = batch.range(at);
            if (self.reading, self.plies) == (Reading::Policy, None) {
                tie(&mut answers.scores[range.clone()]);
            }
            share_best(&answers.scores[range.clone()], &mut answers.probabilities[range]);
        }
        let bounded = |value: f64| value.clamp(-1.0, 1.0);
        match (self.reading, self.plies) {
            (Reading::Policy, None) => {
                let values = self.head(game, "value", batch.positions())?.unwrap_or_default();
                answers.values.extend(values.into_iter().map(|v| bounded(f64::from(v))));
            }
            (Reading::Policy | Reading::Q | Reading::Wins, _) => {
                let best = |at| bounded(best(&answers.scores[batch.range(at)]));
                answers.values.extend((0..batch.len()).map(best));
            }
            // The share of the discs is no outcome.
            (Reading::Discs | Reading::Win, _) => {}
        }
        Ok(())
    }
}

/// Whether the network of a card is given positions in this layout and answers as the card says.
fn reads(card: &Card, features: Features) -> bool {
    let Some([rows, columns]) = card::board_of(&card.game) else { return false };
    let squares = rows * columns;
    let heads = card.network.heads();
    let outputs = |name: &str| heads.iter().find(|head| head.name == name).map(|head| head.outputs);
    let answers = match card.reading {
        Reading::Policy => outputs("policy") == Some(squares + 1),
        Reading::Q => outputs("q") == Some(squares + 1),
        Reading::Wins => outputs("wins") == Some(2),
        Reading::Discs => outputs("discs") == Some(1),
        Reading::Win => false,
    };
    answers && features.width(squares) == card.network.inputs()
}

/// Makes logits equal that differ by [`ROUNDING`] alone: those within it of a higher one get its
/// value. (Multiples of a number would not do: equal moves on both sides of a half would differ by
/// a whole.)
fn tie(scores: &mut [f64]) {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut highest = f64::INFINITY;
    for at in order {
        if highest - scores[at] > ROUNDING * scores[at].abs().max(1.0) {
            highest = scores[at];
        }
        scores[at] = highest;
    }
}

fn best(worths: &[f64]) -> f64 {
    worths.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

impl<G: Game> Policy<G> for Learned {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn answer(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), PolicyError> {
        match self.equivariant {
            true => {
                once(game, batch, answers, |batch, answers| self.answer_all(game, batch, answers))
            }
            false => self.answer_all(game, batch, answers),
        }
    }

    fn learned_from(&self) -> TrainedOn {
        self.learned_from.map_or(TrainedOn::Nothing, TrainedOn::Part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Action;
    use crate::game::othello::Othello;
    use crate::learn::chance::{below, seeded};
    use crate::learn::network::{Activation, Architecture, Head};

    type Rules = Othello<u64>;
    type At = Position<<Rules as Game>::State>;

    fn rules() -> Rules {
        Othello::new(4, 4, false)
    }

    fn learned(reading: Reading) -> Learned {
        let head =
            |name: &str, outputs, activation| Head { name: name.into(), outputs, activation };
        let (features, heads) = match reading {
            Reading::Policy => (
                Features::Planes,
                vec![head("policy", 17, Activation::Linear), head("value", 1, Activation::Tanh)],
            ),
            Reading::Q => (Features::Signed, vec![head("q", 17, Activation::Linear)]),
            Reading::Wins => (Features::Colours, vec![head("wins", 2, Activation::Sigmoid)]),
            _ => (Features::Ternary, vec![head("discs", 1, Activation::Sigmoid)]),
        };
        let inputs = features.width(16);
        let activation = Activation::Tanh;
        let network = Architecture::Mlp { inputs, hidden: vec![9], activation, heads };
        let network = Network::uniform(network, 5, -1.0, 1.0);
        Learned::new("net".into(), &network, features, reading).unwrap()
    }

    /// What one of the network's heads answers for one position.
    fn answer(of: &Learned, head: &str, position: &At) -> Vec<f64> {
        let answer = of.head(&rules(), head, &[*position]).unwrap().unwrap();
        answer.into_iter().map(f64::from).collect()
    }

    /// The value of a position to its mover, from one answer and the sentence that describes it.
    fn value(of: &Learned, position: &At) -> f64 {
        let game = rules();
        match of.reading {
            Reading::Policy => answer(of, "value", position)[0],
            Reading::Q => {
                let q = answer(of, "q", position);
                let worths = game.actions(&position.state).into_iter().map(|a| q[usize::from(a.0)]);
                worths.fold(f64::MIN, f64::max)
            }
            Reading::Wins => {
                let [black, white] = answer(of, "wins", position)[..] else {
                    panic!("two probabilities")
                };
                if position.side == Side::First { black - white } else { white - black }
            }
            _ => 2.0 * answer(of, "discs", position)[0] - 1.0,
        }
    }

    /// Minimax by its definition, one position after the other.
    fn plain(of: &Learned, position: &At, plies: u32) -> f64 {
        let game = rules();
        if let Some(outcome) = game.result(&position.state) {
            let share =
                f64::from(game.squares(&position.state).unwrap_or_default().0.count_ones()) / 16.0;
            return match of.reading {
                Reading::Discs => 2.0 * share - 1.0,
                _ => f64::from(outcome.value()),
            };
        }
        if plies == 0 {
            return value(of, position);
        }
        let after = |a: Action| -plain(of, &game.advance(position, a), plies - 1);
        game.actions(&position.state).into_iter().map(after).fold(f64::MIN, f64::max)
    }

    /// Positions of random games from the start to shortly before the end.
    fn positions() -> Vec<At> {
        let game = rules();
        let mut all = Vec::new();
        for number in 0..12 {
            let mut random = seeded(9, &[number]);
            let mut position = game.start();
            while !game.is_terminal(&position.state) {
                all.push(position);
                let actions = game.actions(&position.state);
                position = game.advance(&position, actions[below(&mut random, actions.len())]);
            }
        }
        all
    }

    fn scores(of: &Learned, positions: &[At]) -> (Batch<<Rules as Game>::State>, Answers) {
        let game = rules();
        let mut batch = Batch::default();
        positions.iter().for_each(|p| batch.push(*p, game.actions(&p.state)));
        let mut answers = Answers::default();
        of.answer(&game, &batch, &mut answers).unwrap();
        answers.check(&batch).unwrap();
        (batch, answers)
    }

    #[test]
    fn reading_ahead_is_minimax_over_one_position_at_a_time() {
        let (game, positions) = (rules(), positions());
        let readings = [Reading::Policy, Reading::Q, Reading::Wins, Reading::Discs];
        for reading in readings {
            for plies in 1..=3 {
                let of = learned(reading).plies(Some(plies));
                let (batch, answers) = scores(&of, &positions);
                for (at, position) in positions.iter().enumerate() {
                    for place in batch.range(at) {
                        let action = batch.actions()[place];
                        // The worth of an action looks a ply beyond the position already.
                        let expected = match (reading, plies) {
                            (Reading::Q, 1) => answer(&of, "q", position)[usize::from(action.0)],
                            (Reading::Q, _) => {
                                -plain(&of, &game.advance(position, action), plies - 2)
                            }
                            _ => -plain(&of, &game.advance(position, action), plies - 1),
                        };
                        let found = answers.scores[place];
                        assert!((found - expected).abs() < 1e-5 + ROUNDING, "{reading:?} {plies}");
                    }
                }
            }
        }
    }

    #[test]
    fn without_plies_a_network_answers_in_its_own_way() {
        let positions = positions();
        let own = |reading, plies| scores(&learned(reading).plies(plies), &positions).1;
        for reading in [Reading::Q, Reading::Wins, Reading::Discs] {
            assert_eq!(own(reading, None), own(reading, Some(1)));
        }
        assert_ne!(own(Reading::Policy, None).scores, own(Reading::Policy, Some(1)).scores);
    }

    #[test]
    fn averaged_over_images_all_images_get_the_same_worths() {
        let (game, folded) = (rules(), rules().with_folding(true).unwrap());
        for reading in [Reading::Policy, Reading::Q, Reading::Wins, Reading::Discs] {
            let of = learned(reading).symmetric(true);
            for position in positions().into_iter().step_by(5) {
                let image = Position { state: folded.transform(&position.state, 3), ..position };
                let (batch, answers) = scores(&of, &[position, image]);
                for (place, action) in game.actions(&position.state).into_iter().enumerate() {
                    let action = folded.transform_action(action, 3);
                    let range = batch.range(1);
                    let there = batch.actions()[range.clone()].iter().position(|a| *a == action);
                    let (here, there) =
                        (answers.scores[place], answers.scores[range][there.unwrap()]);
                    assert!((here - there).abs() < 1e-5 + ROUNDING, "{reading:?}");
                }
            }
        }
    }

    #[test]
    fn logits_that_differ_by_rounding_are_equal() {
        let mut scores = [3.0, 1.0 + 1e-6, 1.0, -20.0, -20.0 - 1e-4, 1.001];
        tie(&mut scores);
        assert_eq!(scores, [3.0, 1.0 + 1e-6, 1.0 + 1e-6, -20.0, -20.0, 1.001]);
    }

    /// The kept network has equal weights for mirror images, but the runtime's sums are rounded.
    #[test]
    fn mirrored_moves_tie_in_the_kept_network() {
        let (game, folded) = (rules(), rules().with_folding(true).unwrap());
        let name =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tables/policies/supervised-othello-4x4");
        let of = Learned::load("kept".into(), &name, &game).unwrap();
        // It is asked once for all images; without that it answers nearly the same.
        let apart = Learned { equivariant: false, ..of.clone() };
        assert!(of.equivariant);
        let mut mirrored = 0;
        for position in positions() {
            let (batch, answers) = scores(&of, &[position]);
            let (_, plain) = scores(&apart, &[position]);
            let pairs = answers.scores.iter().zip(&plain.scores);
            assert!(pairs.map(|(a, b)| (a - b).abs()).all(|off| off < 1e-3));
            let symmetries = 1..folded.group().order() as Symmetry;
            let onto_itself =
                |&g: &Symmetry| folded.transform(&position.state, g) == position.state;
            for symmetry in symmetries.filter(onto_itself) {
                for (place, &action) in batch.actions().iter().enumerate() {
                    let image = folded.transform_action(action, symmetry);
                    let image = batch.actions().iter().position(|a| *a == image).unwrap();
                    assert_eq!(answers.scores[place], answers.scores[image]);
                    assert_eq!(answers.probabilities[place], answers.probabilities[image]);
                    mirrored += usize::from(image != place);
                }
            }
        }
        assert!(mirrored > 20, "{mirrored}");
    }
}
