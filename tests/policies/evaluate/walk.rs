//! Figures of policies on 4×4 by the rules alone: actual positions by breadth-first search, values by
//! recursion, policies reimplemented. No table, no graph, no symmetry.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use yomikiri::games::othello::{Board, Othello};
use yomikiri::rules::{Action, Empties, Game, Position};
use yomikiri_measure::judge::{Figures, FiguresBySet};

/// Built-in weights of 4×4, in tenths.
#[rustfmt::skip]
pub const WEIGHTS: [i64; 16] = [
    10, -6, -6, 10,
    -6, -8, -8, -6,
    -6, -8, -8, -6,
    10, -6, -6, 10,
];

/// A policy's rating of a move, by the board before and after it, each as its mover sees it.
pub type Rule = fn(&Board, &Board) -> i64;

pub fn random(_before: &Board, _after: &Board) -> i64 {
    0
}

pub fn greedy(_before: &Board, after: &Board) -> i64 {
    i64::from(after.opponent.count_ones()) - i64::from(after.mover.count_ones())
}

pub fn weights(_before: &Board, after: &Board) -> i64 {
    let mut sum = 0;
    for row in 0..4 {
        for column in 0..4 {
            let bit = 1u64 << (8 * row + column);
            let weight = WEIGHTS[4 * row + column];
            sum += weight * i64::from(after.opponent & bit != 0);
            sum -= weight * i64::from(after.mover & bit != 0);
        }
    }
    sum
}

pub struct Walk {
    game: Othello,
    positions: HashSet<Position<Board>>,
    scores: HashMap<Board, i32>,
}

impl Walk {
    pub fn new() -> Walk {
        let game = Othello::new(4, 4, false);
        let mut walk = Walk { positions: HashSet::new(), scores: HashMap::new(), game };
        let mut queue = VecDeque::from([walk.game.start()]);
        while let Some(position) = queue.pop_front() {
            if walk.positions.insert(position) {
                for action in walk.game.actions(&position.state) {
                    queue.push_back(walk.game.advance(&position, action));
                }
            }
        }
        let root = walk.game.start().state;
        walk.solve(&root);
        walk
    }

    /// Returns every nonterminal actual position in OBF.
    pub fn positions(&self) -> impl Iterator<Item = String> {
        let open = self.positions.iter().filter(|at| !self.game.is_terminal(&at.state));
        open.map(|position| self.game.notation(position))
    }

    /// Returns the mover's score under best play.
    fn solve(&mut self, board: &Board) -> i32 {
        if let Some(&known) = self.scores.get(board) {
            return known;
        }
        let actions = self.game.actions(board);
        let score = if actions.is_empty() {
            i32::from(self.game.score(board, Empties::Uncounted).0)
        } else {
            let play = |action: Action| self.game.play(board, action);
            let successors: Vec<Board> = actions.into_iter().map(play).collect();
            successors.iter().map(|next| -self.solve(next)).max().unwrap()
        };
        self.scores.insert(*board, score);
        score
    }

    /// Returns the figures of a policy by disc count.
    pub fn figures(&self, rule: Rule) -> BTreeMap<u32, FiguresBySet> {
        let mut layers: BTreeMap<u32, FiguresBySet> = BTreeMap::new();
        for position in &self.positions {
            let actions = self.game.actions(&position.state);
            if actions.is_empty() {
                continue;
            }
            let after: Vec<Board> =
                actions.iter().map(|&a| self.game.play(&position.state, a)).collect();
            let liking: Vec<i64> = after.iter().map(|next| rule(&position.state, next)).collect();
            let most = *liking.iter().max().unwrap();
            let chosen = liking.iter().filter(|&&l| l == most).count() as f64;
            let scores: Vec<i32> = after.iter().map(|next| -self.scores[next]).collect();
            let best = *scores.iter().max().unwrap();
            let mut one = Figures { positions: 1, scored: 1, ..Figures::default() };
            for (&score, &l) in scores.iter().zip(&liking) {
                if l == most {
                    count(&mut one, best, score, 1.0 / chosen);
                }
            }
            let figures = layers.entry(position.state.discs()).or_insert_with(|| FiguresBySet {
                decisive_score: Some(Figures::default()),
                ..FiguresBySet::default()
            });
            figures.all.add(&one);
            if scores.iter().any(|score| score.signum() != best.signum()) {
                figures.decisive_result.add(&one);
            }
            if scores.iter().any(|&score| score != best) {
                figures.decisive_score.get_or_insert_default().add(&one);
            }
        }
        layers
    }
}

fn count(figures: &mut Figures, best: i32, score: i32, p: f64) {
    if score == best {
        figures.score_kept += p;
    }
    if score.signum() == best.signum() {
        figures.result_kept += p;
    }
    figures.score_lost += p * f64::from(best - score);
    figures.result_lost += p * f64::from(best.signum() - score.signum());
    figures.outcomes[(best.signum() + 1) as usize][(score.signum() + 1) as usize] += p;
}
