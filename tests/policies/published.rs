//! Divergence of the deep Q-learner published in 2023: `docs/results/learned.md`.

use yomikiri::registry::othello;
use yomikiri::rules::{AnyPosition, Rules, Side};
use yomikiri_learn::chance::{below, seeded, unit};

/// The published network, ReLU 64 and sigmoid 64, trained by plain gradient descent.
struct PublishedNetwork {
    hidden: Vec<[f32; 64]>,
    output: Vec<[f32; 64]>,
}

impl PublishedNetwork {
    fn forward(&self, squares: &[f32; 64]) -> ([f32; 64], [f32; 64]) {
        let dot = |weights: &[f32; 64], x: &[f32; 64]| -> f32 {
            weights.iter().zip(x).map(|(w, x)| w * x).sum()
        };
        // Rust's maximum would hide NaN.
        let relu = |x: f32| if x < 0.0 { 0.0 } else { x };
        let hidden = std::array::from_fn(|at| relu(dot(&self.hidden[at], squares)));
        let sigmoid = |x: f32| 1.0 / (1.0 + libm::expf(-x));
        (hidden, std::array::from_fn(|at| sigmoid(dot(&self.output[at], &hidden))))
    }

    fn learn(&mut self, squares: &[f32; 64], action: usize, target: f32) {
        let (hidden, output) = self.forward(squares);
        let error = (output[action] - target) * output[action] * (1.0 - output[action]);
        for (at, &unit) in hidden.iter().enumerate() {
            let back = error * self.output[action][at] * f32::from(unit > 0.0);
            self.output[action][at] -= 0.001 * error * unit;
            let weights = self.hidden[at].iter_mut().zip(squares);
            weights.for_each(|(weight, square)| *weight -= 0.001 * back * square);
        }
    }

    fn broken(&self) -> usize {
        let all = self.hidden.iter().chain(&self.output).flatten();
        all.filter(|weight| weight.is_nan()).count()
    }
}

/// Returns the squares as the mover sees them: 1 own, −1 the other's.
fn squares(game: &dyn Rules, position: &AnyPosition) -> [f32; 64] {
    let text = game.diagram(position);
    let discs = text.lines().skip(1).take(8).flat_map(|row| row.split_whitespace().skip(1));
    let own = if position.side == Side::First { "X" } else { "O" };
    let mut discs = discs.map(|disc| match disc {
        "X" | "O" => {
            if disc == own {
                1.0
            } else {
                -1.0
            }
        }
        _ => 0.0,
    });
    std::array::from_fn(|_| discs.next().unwrap())
}

/// Returns the published target of a move that does not end the game: the mean, over the opponent's replies,
/// of the Q-value of one's own best answer.
fn target(game: &dyn Rules, network: &PublishedNetwork, after: &AnyPosition) -> f32 {
    let (mut sum, mut count) = (0.0, 0.0);
    for reply in game.actions(&after.state) {
        let next = game.advance(after, reply);
        let answers = game.actions(&next.state).into_iter().filter(|&a| !game.is_pass(a));
        let (_, output) = network.forward(&squares(game, &next));
        let best = answers.map(|answer| output[usize::from(answer.0)]).reduce(f32::max);
        if let Some(best) = best.filter(|_| !game.is_pass(reply)) {
            (sum, count) = (sum + best, count + 1.0);
        }
    }
    sum / count
}

/// The published learner diverges at once, whatever its network: if no reply of the opponent leaves an
/// answer, its target is 0 / 0.
#[test]
fn the_paper_divides_nothing_by_nothing() {
    const GAMES: u32 = 20;
    let (game, mut random) = (othello("8").unwrap(), seeded(0, &[]));
    let mut weights = || std::array::from_fn(|_| (unit(&mut random) as f32 - 0.5) / 4.0);
    let mut network = PublishedNetwork {
        hidden: (0..64).map(|_| weights()).collect(),
        output: (0..64).map(|_| weights()).collect(),
    };
    let (mut random, mut first_broken, mut games_with_it) = (seeded(1, &[]), None, 0);
    for number in 1..=GAMES {
        let (mut position, mut has_it) = (game.start(), false);
        while !game.is_terminal(&position.state) {
            let actions = game.actions(&position.state);
            let action = actions[below(&mut random, actions.len())];
            let after = game.advance(&position, action);
            if position.side == Side::First && !game.is_pass(action) {
                let target = match game.result(&after.state) {
                    Some(outcome) => -f32::from(outcome.value()),
                    None => 0.99 * target(&*game, &network, &after),
                };
                has_it |= target.is_nan();
                if first_broken.is_none() {
                    network.learn(&squares(&*game, &position), usize::from(action.0), target);
                    first_broken = (network.broken() > 0).then_some(number);
                }
            }
            position = after;
        }
        games_with_it += u32::from(has_it);
    }
    assert_eq!((first_broken, games_with_it), (Some(1), GAMES));
    // From then on every Q-value is NaN.
    let (_, output) = network.forward(&squares(&*game, &game.start()));
    let spoiled = output.iter().filter(|value| value.is_nan()).count();
    assert_eq!(spoiled, 64);
}
