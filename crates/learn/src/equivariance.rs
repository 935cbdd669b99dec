//! Equivariant networks: the answer for an image of a position is the image of the answer.
//!
//! Hidden units (or planes) form groups, one unit for each symmetry of the board. A symmetry that
//! permutes the squares of the input permutes the units within each group by multiplication (Cohen
//! and Welling 2016). The network is then equivariant if weights that a symmetry maps to each other
//! are equal. They start equal, and the gradients of each set are replaced by their mean, so that
//! they stay equal (weight tying); the network itself is an ordinary one.

use super::network::{Architecture, Head, Network};
use yomikiri::rules::symmetry::map_square;
use yomikiri::rules::{Action, Rules, Symmetry};

/// Sets of weights that must be equal.
#[derive(Clone, Debug)]
pub struct Ties {
    /// For each parameter: the first index of the set of each index, and the size of the set that begins at
    /// an index.
    parameters: Vec<(Vec<u32>, Vec<f32>)>,
}

/// Permutations of a layer's inputs or outputs, one for each symmetry.
type Moves = Vec<Vec<usize>>;

impl Ties {
    /// Returns the ties of an architecture whose input is planes of the game's squares; `None` if its hidden
    /// units or planes cannot be divided into groups of all symmetries.
    pub fn of(architecture: &Architecture, game: &dyn Rules) -> Option<Ties> {
        let (rows, columns) = game.shape();
        let group = game.group();
        let symmetries = 0..group.order() as Symmetry;
        let squares = rows * columns;
        let all = |moved: &dyn Fn(Symmetry) -> Vec<usize>| symmetries.clone().map(moved).collect();
        // Planes of a board, with their squares permuted.
        let planes = |count: usize, height: usize, width: usize| -> Moves {
            all(&|symmetry| {
                let place = |at: usize| {
                    let (plane, square) = (at / (height * width), at % (height * width));
                    let from = (square / width, square % width);
                    let (row, column) = map_square(symmetry, from, height, width);
                    (plane * height + row) * width + column
                };
                (0..count * height * width).map(place).collect()
            })
        };
        let units = |count: usize| -> Moves {
            let order = group.order();
            all(&|symmetry| {
                let place = |at: usize| {
                    let within = group.product(symmetry, (at % order) as Symmetry);
                    at - at % order + usize::from(within)
                };
                (0..count).map(place).collect()
            })
        };
        let still = |count: usize| -> Moves { all(&|_| (0..count).collect()) };
        let actions: Moves = all(&|symmetry| {
            let moved = |at| usize::from(game.transform_action(Action(at as u16), symmetry).0);
            (0..game.action_count()).map(moved).collect()
        });
        let fits = |count: &usize| count.is_multiple_of(group.order());
        let mut parameters = Vec::new();
        let last = match architecture {
            Architecture::Mlp { inputs, hidden, .. } => {
                if !hidden.iter().all(fits) || !inputs.is_multiple_of(squares) {
                    return None;
                }
                let mut given = planes(inputs / squares, rows, columns);
                for &count in hidden {
                    let gives = units(count);
                    parameters.push(orbits(&[&gives, &given]));
                    parameters.push(orbits(&[&gives]));
                    given = gives;
                }
                given
            }
            Architecture::Residual { planes: first, channels, blocks, .. } => {
                if !fits(channels) {
                    return None;
                }
                let (gives, window) = (units(*channels), planes(1, 3, 3));
                parameters.push(orbits(&[&gives, &still(*first), &window]));
                parameters.push(orbits(&[&gives]));
                for _ in 0..2 * blocks {
                    parameters.push(orbits(&[&gives, &gives, &window]));
                    parameters.push(orbits(&[&gives]));
                }
                product(&gives, &planes(1, rows, columns))
            }
        };
        for Head { outputs, .. } in architecture.heads() {
            let gives = if *outputs == game.action_count() { &actions } else { &still(*outputs) };
            parameters.push(orbits(&[gives, &last]));
            parameters.push(orbits(&[gives]));
        }
        Some(Ties { parameters })
    }

    /// Sets all tied weights to the value of the first in their set.
    pub fn tie(&self, network: &mut Network) {
        for (parameter, (first, _)) in network.parameters_mut().iter_mut().zip(&self.parameters) {
            for (place, &first) in first.iter().enumerate() {
                parameter.numbers[place] = parameter.numbers[first as usize];
            }
        }
    }

    /// Replaces the gradients of tied weights by their mean.
    pub(super) fn average(&self, gradients: &mut [Vec<f32>]) {
        for (gradients, (first, counts)) in gradients.iter_mut().zip(&self.parameters) {
            // The first index of a set is the lowest.
            for (place, &first) in first.iter().enumerate() {
                if first as usize != place {
                    gradients[first as usize] += gradients[place];
                }
            }
            for (gradient, &count) in gradients.iter_mut().zip(counts) {
                *gradient /= count;
            }
            for (place, &first) in first.iter().enumerate() {
                gradients[place] = gradients[first as usize];
            }
        }
    }
}

/// Returns the permutations of pairs from two permutations, with the second index fastest.
fn product(a: &Moves, b: &Moves) -> Moves {
    let both = |(a, b): (&Vec<usize>, &Vec<usize>)| {
        a.iter().flat_map(|&a| b.iter().map(move |&second| a * b.len() + second)).collect()
    };
    a.iter().zip(b).map(both).collect()
}

/// Returns, for a parameter with these axes, the first index of each index's set, and the size of the set
/// that begins at an index (1 elsewhere).
fn orbits(axes: &[&Moves]) -> (Vec<u32>, Vec<f32>) {
    let (first, others) = axes.split_first().expect("a parameter has an axis");
    let moves = others.iter().fold((*first).clone(), |moves, axis| product(&moves, axis));
    let length = moves[0].len();
    let first: Vec<u32> = (0..length)
        .map(|place| moves.iter().map(|moved| moved[place]).min().unwrap_or(place) as u32)
        .collect();
    let mut counts = vec![0.0; length];
    first.iter().for_each(|&first| counts[first as usize] += 1.0);
    counts.iter_mut().for_each(|count: &mut f32| *count = count.max(1.0));
    (first, counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backpropagation::Pass;
    use crate::chance::{normal, seeded};
    use crate::network::Activation;
    use crate::optimiser::OptimiserMethod;
    use crate::trainer::Trainer;
    use yomikiri::games::othello::Othello;
    use yomikiri::rules::Game;

    fn networks(rows: usize, columns: usize) -> [Architecture; 2] {
        let head =
            |name: &str, outputs, activation| Head { name: name.into(), outputs, activation };
        let heads = vec![
            head("policy", rows * columns + 1, Activation::Linear),
            head("value", 1, Activation::Tanh),
        ];
        let (inputs, activation) = (2 * rows * columns, Activation::Relu);
        let (planes, channels, blocks) = (2, 8, 1);
        [
            Architecture::Mlp { inputs, hidden: vec![16, 8], activation, heads: heads.clone() },
            Architecture::Residual { planes, rows, columns, channels, blocks, heads },
        ]
    }

    /// Checks that the answer for every image of an input is the image of the answer.
    fn answers_alike(network: &Network, game: &dyn Rules) {
        let squares = game.action_count() - 1;
        let mut random = seeded(3, &[]);
        let input: Vec<f32> = (0..2 * squares).map(|_| normal(&mut random)).collect();
        let answer = |input: Vec<f32>| {
            let answers = Pass::new(network, input, None).answers;
            (answers[0].clone(), answers[1][0])
        };
        let to =
            |at: usize, symmetry| usize::from(game.transform_action(Action(at as u16), symmetry).0);
        let (policy, value) = answer(input.clone());
        for symmetry in 0..game.group().order() as Symmetry {
            let mut image = vec![0.0; 2 * squares];
            for (at, &number) in input.iter().enumerate() {
                image[at / squares * squares + to(at % squares, symmetry)] = number;
            }
            let (of_image, same) = answer(image);
            assert!((value - same).abs() < 1e-5, "{value} {same}");
            for (at, number) in policy.iter().enumerate() {
                assert!((number - of_image[to(at, symmetry)]).abs() < 1e-5);
            }
        }
        assert!(policy.iter().any(|number| (number - policy[0]).abs() > 1e-3));
    }

    #[test]
    fn images_are_answered_alike_and_still_are_after_steps() {
        for (rows_, columns) in [(4, 4), (4, 5)] {
            let game = Othello::new(rows_, columns, true).into_rules();
            for architecture in networks(rows_, columns) {
                let ties = Ties::of(&architecture, &*game).unwrap();
                let network = Network::uniform(architecture, 5, -0.3, 0.3);
                let mut trainer =
                    Trainer::new(network, OptimiserMethod::adam(0.01, 0.1)).tied(ties);
                answers_alike(&trainer.network, &*game);
                let before = trainer.network.clone();
                for step in 0..5 {
                    let mut random = seeded(4, &[step]);
                    let width = 2 * rows_ * columns;
                    let inputs: Vec<f32> = (0..7 * width).map(|_| normal(&mut random)).collect();
                    // The loss is not symmetric: two logits squared, and values.
                    let gradient = |network: &Network, inputs| {
                        let pass = Pass::new(network, inputs, None);
                        let by_logit = |at: usize, logit: &f32| match at % (width / 2 + 1) {
                            1 | 2 => 2.0 * logit,
                            _ => 0.0,
                        };
                        let logits = pass.answers[0].iter().enumerate();
                        let logits = logits.map(|(at, logit)| by_logit(at, logit)).collect();
                        let values = vec![1.0; pass.answers[1].len()];
                        pass.backward(0.0, vec![logits, values])
                    };
                    trainer.step(vec![inputs], 1.0, None, gradient).unwrap();
                }
                assert_ne!(before, trainer.network);
                answers_alike(&trainer.network, &*game);
            }
        }
    }
}
