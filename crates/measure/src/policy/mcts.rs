//! Monte Carlo tree search: plays the move visited most.
//!
//! UCT (Kocsis and Szepesvári 2006). A simulation descends from each node to the child with the largest upper
//! confidence bound (UCB1; Auer, Cesa-Bianchi and Fischer 2002): its mean result, from 0 (always lost) to 1
//! (always won), plus c √(ln t / n) for a child tried n times from a node visited t times, with c = √2. At a
//! node with untried moves it adds a uniformly random one of them to the tree, plays a random playout and
//! adds the result to the nodes of its path. A position reached in two ways has two nodes. Terminal positions
//! are nodes like others: further visits count again.
//!
//! The random numbers of a position depend on the seed and the position alone, and logarithms come from one
//! library on every machine. So this is a fixed policy, and reports measure it exactly: the policy of this
//! seed, not the average over seeds.

use super::chance::Chance;
use super::{Answers, Batch, PlayOn, Policy, PolicySpec, share_best};
use yomikiri::error::Error;
use yomikiri::rules::{Action, AnyPosition, Mobility, Rules, Walk};

/// Plays the move that UCT visits most. Scores are visits; the value of a position is the mean result of all
/// simulations: a win is 1, a draw 0, a loss −1.
#[derive(Clone, Debug, PartialEq)]
pub struct Mcts {
    simulations: u32,
    seed: u64,
    /// Natural logarithm of every number of visits.
    logarithms: Vec<f64>,
}

impl Mcts {
    /// Returns a policy of `simulations` a position, at least 1, from a seed.
    pub fn new(simulations: u32, seed: u64) -> Mcts {
        let simulations = simulations.max(1);
        let logarithms = (0..=simulations).map(|visits| libm::log(f64::from(visits))).collect();
        Mcts { simulations, seed, logarithms }
    }
}

impl Policy for Mcts {
    fn name(&self) -> String {
        PolicySpec::Plays(PlayOn::Mcts, self.simulations, self.seed).to_string()
    }

    fn answer(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error> {
        let mut answers = Answers::default();
        answers.scores.resize(batch.actions().len(), 0.0);
        answers.probabilities.resize(batch.actions().len(), 0.0);
        for (at, position) in batch.positions().iter().enumerate() {
            let mut tree = Tree::new(game, &self.logarithms, self.seed, position);
            (0..self.simulations).for_each(|_| tree.simulate());
            let range = batch.range(at);
            let visits = &mut answers.scores[range.clone()];
            for child in tree.children(ROOT) {
                let node = &tree.nodes[child];
                let place = batch.actions()[range.clone()].binary_search(&node.action);
                visits[place.expect("a child's action is legal")] = f64::from(node.visits);
            }
            share_best(visits, &mut answers.probabilities[range]);
            let theirs = tree.nodes[ROOT].sum as f64;
            answers.values.push(-theirs / f64::from(self.simulations));
        }
        Ok(answers)
    }
}

const ROOT: usize = 0;

/// A position in the tree. The root is nobody's child, so index 0 means `None`.
struct Node {
    /// Action that led here.
    action: Action,
    visits: u32,
    /// Sum of the results for the player who moved here.
    sum: i64,
    /// Number of actions without a child.
    untried: u32,
    /// Child added last.
    first_child: usize,
    /// Child of the same node added before this one.
    next_sibling: usize,
}

struct Tree<'a> {
    /// The position of the node at hand.
    walk: Box<dyn Walk + 'a>,
    logarithms: &'a [f64],
    chance: Chance,
    nodes: Vec<Node>,
    /// Reused buffers: the nodes of a simulation, and the untried actions.
    path: Vec<usize>,
    untried: Vec<Action>,
}

impl<'a> Tree<'a> {
    fn new(
        game: &'a dyn Rules,
        logarithms: &'a [f64],
        seed: u64,
        position: &AnyPosition,
    ) -> Tree<'a> {
        let chance = Chance::new(game, seed, position);
        let (path, untried) = (Vec::new(), Vec::new());
        let walk = game.walk(&position.state);
        let mut tree = Tree { walk, logarithms, chance, nodes: Vec::new(), path, untried };
        tree.add(Action(0));
        tree
    }

    /// Adds a node of the position at hand, to which an action led.
    fn add(&mut self, action: Action) -> usize {
        let untried = match self.walk.mobility() {
            Mobility::Over => 0,
            Mobility::Pass => 1,
            Mobility::Moves(count) => count,
        };
        let (visits, sum, first_child, next_sibling) = (0, 0, 0, 0);
        self.nodes.push(Node { action, visits, sum, untried, first_child, next_sibling });
        self.nodes.len() - 1
    }

    /// Returns the children of a node, the last added first.
    fn children(&self, parent: usize) -> impl Iterator<Item = usize> {
        let some = |child: usize| (child != 0).then_some(child);
        let first = some(self.nodes[parent].first_child);
        std::iter::successors(first, move |&child| some(self.nodes[child].next_sibling))
    }

    /// Descends the tree, adds a node, plays a playout and updates the path.
    fn simulate(&mut self) {
        let mut at = ROOT;
        self.path.clear();
        self.path.push(at);
        while self.nodes[at].untried == 0 && self.nodes[at].first_child != 0 {
            at = self.most_promising(at);
            self.walk.push(self.nodes[at].action);
            self.path.push(at);
        }
        if self.nodes[at].untried > 0 {
            at = self.expand(at);
            self.path.push(at);
        }
        let mut result = -self.chance.playout(&mut *self.walk);
        for &at in self.path.iter().rev() {
            self.nodes[at].visits += 1;
            self.nodes[at].sum += result;
            result = -result;
            // Nothing led to the root.
            self.walk.pop();
        }
    }

    /// Returns the child with the largest upper confidence bound, the last added of equals.
    fn most_promising(&self, parent: usize) -> usize {
        let log = self.logarithms[self.nodes[parent].visits as usize];
        let (mut best, mut most) = (0, f64::NEG_INFINITY);
        for child in self.children(parent) {
            let visits = f64::from(self.nodes[child].visits);
            let mean = (self.nodes[child].sum as f64 + visits) / (2.0 * visits);
            let bound = mean + (2.0 * log / visits).sqrt();
            if bound > most {
                (best, most) = (child, bound);
            }
        }
        best
    }

    /// Plays one of the untried actions, drawn uniformly, adds its child and returns it.
    fn expand(&mut self, parent: usize) -> usize {
        let mut untried = std::mem::take(&mut self.untried);
        self.walk.actions(&mut untried);
        let is_tried = |action: &Action| {
            self.children(parent).any(|child| self.nodes[child].action == *action)
        };
        untried.retain(|action| !is_tried(action));
        let action = untried[self.chance.below(untried.len())];
        self.untried = untried;
        self.walk.push(action);
        let child = self.add(action);
        self.nodes[child].next_sibling = self.nodes[parent].first_child;
        self.nodes[parent].first_child = child;
        self.nodes[parent].untried -= 1;
        child
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::test_positions::{animals, answers, four, minishogi, positions, six};
    use super::*;

    /// Statistics of a line: how often it was followed, the sum of results for the player who moves after it,
    /// and the actions tried there, in order.
    #[derive(Default)]
    struct Followed {
        times: f64,
        sum: f64,
        tried: Vec<Action>,
    }

    /// A reference search that finds nodes by their line and descends by recursion.
    struct Plain<'a> {
        game: &'a dyn Rules,
        chance: Chance,
        lines: HashMap<Vec<Action>, Followed>,
    }

    impl Plain<'_> {
        fn follow(&mut self, line: &[Action], position: &AnyPosition, new: bool) -> f64 {
            let actions = self.game.actions(&position.state);
            let result = if new || actions.is_empty() {
                self.chance.playout(&mut *self.game.walk(&position.state)) as f64
            } else {
                let known = self.lines.entry(line.to_vec()).or_default();
                let mut rest = actions;
                rest.retain(|action| !known.tried.contains(action));
                let is_new = !rest.is_empty();
                let action = if is_new {
                    let action = rest[self.chance.below(rest.len())];
                    self.lines.get_mut(line).unwrap().tried.push(action);
                    action
                } else {
                    self.largest_bound(line)
                };
                let after = self.game.advance(position, action);
                -self.follow(&[line, &[action]].concat(), &after, is_new)
            };
            let followed = self.lines.entry(line.to_vec()).or_default();
            followed.times += 1.0;
            followed.sum += result;
            result
        }

        fn largest_bound(&self, line: &[Action]) -> Action {
            let here = &self.lines[line];
            let bound = |&action: &Action| {
                let after = &self.lines[&[line, &[action]].concat()];
                let mean = (1.0 - after.sum / after.times) / 2.0;
                mean + 2f64.sqrt() * (here.times.ln() / after.times).sqrt()
            };
            let bounds: Vec<f64> = here.tried.iter().map(bound).collect();
            let most = bounds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            // Computed in another order, the bound may differ in its last bits.
            let last = bounds.iter().rposition(|bound| most - bound < 1e-12);
            here.tried[last.expect("every move was tried")]
        }
    }

    fn agrees(game: &dyn Rules, count: usize, simulations: u32) {
        let positions = positions(game, count);
        let answers = answers(&Mcts::new(simulations, 5), game, &positions);
        let mut visits = answers.scores.iter();
        for (position, &value) in positions.iter().zip(&answers.values) {
            let chance = Chance::new(game, 5, position);
            let mut plain = Plain { game, chance, lines: HashMap::new() };
            (0..simulations).for_each(|_| {
                plain.follow(&[], position, false);
            });
            let mut total = 0.0;
            for action in game.actions(&position.state) {
                let expected = plain.lines.get(&vec![action]).map_or(0.0, |line| line.times);
                assert_eq!(*visits.next().unwrap(), expected, "{}", game.notation(position));
                total += expected;
            }
            assert_eq!(total, f64::from(simulations));
            assert_eq!(value, plain.lines[&vec![]].sum / total);
        }
    }

    #[test]
    fn visits_agree_with_a_plain_search() {
        agrees(&*four(), 80, 300);
        agrees(&*four(), 100, 2);
        agrees(&*six(), 32, 150);
        agrees(&*animals(), 40, 200);
        agrees(&*minishogi(), 40, 60);
    }

    /// Results must be the same in every version and on every machine.
    #[test]
    fn found_values_are_known() {
        let six = six();
        let found = answers(&Mcts::new(500, 0), &*six, &[six.start()]);
        assert_eq!(found.scores, [95.0, 117.0, 121.0, 167.0]);
    }
}
