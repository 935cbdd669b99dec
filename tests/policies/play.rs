//! Exact games between policies, compared with sampled games and with a recursion over the rules, and
//! properties of best responses.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::OnceLock;

use tempfile::TempDir;
use yomikiri::oracle::SolvedTable;
use yomikiri::progress::Silent;
use yomikiri::rules::{AnyPosition, Empties, Outcome, Rules, Side};
use yomikiri_measure::judge::{
    Aim, Baselines, BothSides, Expected, Mistake, MistakesAgainst, Play, Played, Player, Unfolded,
    build, exploitability, games, play_everywhere,
};
use yomikiri_measure::policy::{ByRule, Greedy, Policy, Random, Weights, ask};

use crate::common::solved::{board_4x4, opened, solved, standard};

const POLICIES: [&str; 4] = ["random", "greedy", "weights", "perfect"];

struct Opened {
    _dir: TempDir,
    solved: SolvedTable,
    unfolded: Unfolded,
    /// Probabilities of each of [`POLICIES`], by edge.
    answers: Vec<Vec<f64>>,
}

fn open(fold: bool) -> Opened {
    let game = board_4x4(fold);
    let (dir, table) = solved(&*game, &standard(&*game));
    let solved = opened(&table);
    let unfolded = Unfolded::new(solved.states()).unwrap();
    let player = |name: &str| build(&name.parse().unwrap(), solved.game()).unwrap();
    let players: [Player; 4] = POLICIES.map(player);
    let answers = play_everywhere(&solved, &unfolded, &players, &Silent).unwrap();
    Opened { _dir: dir, solved, unfolded, answers }
}

fn folded() -> &'static Opened {
    static FOLDED: OnceLock<Opened> = OnceLock::new();
    FOLDED.get_or_init(|| open(true))
}

impl Opened {
    fn play(&self) -> Play<'_> {
        Play::new(&self.unfolded, &self.solved)
    }

    fn policy(&self, place: usize) -> &[f64] {
        &self.answers[place]
    }

    fn result(&self, first: usize, second: usize) -> Expected {
        let play = self.play();
        play.result(&play.walk(self.policy(first), self.policy(second), &play.start()))
    }
}

fn close(a: &Expected, b: &Expected) -> bool {
    let parts = |e: &Expected| [e.win, e.draw, e.loss, e.score];
    parts(a).iter().zip(parts(b)).all(|(a, b)| (a - b).abs() < 1e-10)
}

#[test]
fn every_actual_position_is_unfolded_once() {
    let Opened { solved, unfolded, .. } = folded();
    let (game, states) = (solved.game(), solved.states());
    assert_eq!(unfolded.positions(), 62_789);
    assert_eq!(unfolded.edges(), 89_332);
    for at in (0..unfolded.positions()).step_by(7) {
        let position = unfolded.position(states, at).unwrap();
        assert_eq!(unfolded.find(states, &position), Some(at));
        assert_eq!(unfolded.side(at), position.side);
        let after = game.actions(&position.state).into_iter();
        let after: Vec<_> = after.map(|action| game.advance(&position, action)).collect();
        let targets = unfolded.edges_of(at).map(|edge| unfolded.target(edge));
        let targets: Vec<_> = targets.map(|to| unfolded.position(states, to).unwrap()).collect();
        assert_eq!(after, targets);
    }
}

/// Expected results by recursion over the rules, without a table.
struct Recursion<'a> {
    game: Arc<dyn Rules>,
    players: [&'a dyn Policy; 2],
    known: HashMap<AnyPosition, Expected>,
}

impl Recursion<'_> {
    fn of(&mut self, position: AnyPosition) -> Expected {
        if let Some(known) = self.known.get(&position) {
            return *known;
        }
        let mut found = Expected::default();
        if self.game.is_terminal(&position.state) {
            let score = self.game.score(&position.state, Empties::Uncounted);
            let is = |outcome| if score.outcome() == outcome { 1.0 } else { 0.0 };
            found = Expected {
                win: is(Outcome::Win),
                draw: is(Outcome::Draw),
                loss: is(Outcome::Loss),
                score: f64::from(score.0),
                ..Expected::default()
            };
            if position.side == Side::Second {
                found = found.reversed();
            }
        } else {
            let policy = self.players[position.side.index()];
            for (action, p) in ask(policy, &*self.game, &position).unwrap() {
                let after = self.of(self.game.advance(&position, action));
                found.add(&after, p);
            }
        }
        self.known.insert(position, found);
        found
    }
}

#[test]
fn games_agree_with_a_recursion_over_the_rules() {
    let opened = folded();
    let weights = ByRule(Weights::of_board((4, 4)));
    let players: [&dyn Policy; 3] = [&ByRule(Random), &ByRule(Greedy), &weights];
    for first in 0..3 {
        for second in 0..3 {
            let mut recursion = Recursion {
                game: board_4x4(false),
                players: [players[first], players[second]],
                known: HashMap::new(),
            };
            let wanted = recursion.of(recursion.game.start());
            let found = opened.result(first, second);
            assert!(close(&found, &wanted), "{first} {second}: {found:?} for {wanted:?}");
        }
    }
}

#[test]
fn folding_changes_no_game() {
    let unfolded = open(false);
    for first in 0..4 {
        for second in 0..4 {
            let (a, b) = (folded().result(first, second), unfolded.result(first, second));
            assert!(close(&a, &b), "{first} {second}: {a:?} and {b:?}");
        }
    }
}

/// Returns a number in [0, 1) from Vigna's xorshift64*.
fn chance(state: &mut u64) -> f64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
}

#[test]
fn sampled_games_agree_within_their_confidence_interval() {
    let opened = folded();
    const GAMES: u32 = 100_000;
    for (first, second) in [(0, 0), (0, 2), (2, 0), (1, 0), (0, 3)] {
        let wanted = opened.result(first, second);
        let mut seed = 0x9E37_79B9_7F4A_7C15 ^ (first * 4 + second) as u64;
        let (mut wins, mut losses, mut scores) = (0u32, 0u32, 0i64);
        for _ in 0..GAMES {
            let mut at = opened.unfolded.roots()[0];
            while !opened.unfolded.edges_of(at).is_empty() {
                let place = if opened.unfolded.side(at) == Side::First { first } else { second };
                let mut left = chance(&mut seed);
                let mut edges = opened.unfolded.edges_of(at);
                let chosen = edges.find(|&edge| {
                    left -= opened.policy(place)[edge];
                    left < 0.0
                });
                // Rounding may leave no edge chosen.
                let last = opened.unfolded.edges_of(at).end - 1;
                at = opened.unfolded.target(chosen.unwrap_or(last));
            }
            let position = opened.unfolded.position(opened.solved.states(), at).unwrap();
            let score = opened.solved.game().score(&position.state, Empties::Uncounted).0;
            let score = if position.side == Side::First { score } else { -score };
            wins += u32::from(score > 0);
            losses += u32::from(score < 0);
            scores += i64::from(score);
        }
        let games = f64::from(GAMES);
        // Four standard errors: one run in 16,000 falls outside; the seed is fixed.
        let within =
            |found: f64, p: f64| (found - p).abs() <= 4.0 * (p * (1.0 - p) / games).sqrt() + 1e-12;
        assert!(within(f64::from(wins) / games, wanted.win), "{first} {second} {wins} {wanted:?}");
        assert!(within(f64::from(losses) / games, wanted.loss), "{first} {second} {losses}");
        // A score's standard deviation is at most 16 discs.
        assert!((scores as f64 / games - wanted.score).abs() < 4.0 * 16.0 / games.sqrt());
    }
}

#[test]
fn perfect_play_is_worth_the_value_of_the_game_and_cannot_be_exploited() {
    let opened = folded();
    let wanted = Expected { loss: 1.0, score: -8.0, ..Expected::default() };
    assert!(close(&opened.result(3, 3), &wanted));
    let BothSides { first, second } = exploitability(&opened.play(), opened.policy(3));
    for lost in [first, second] {
        assert_eq!((lost.result_lost, lost.score_lost), (0.0, 0.0));
    }
}

#[test]
fn a_best_response_never_does_worse_than_anyone() {
    let opened = folded();
    let play = opened.play();
    for place in 0..4 {
        let policy = opened.policy(place);
        for side in Side::ALL {
            let responder = side.other();
            let score = play.best_response(policy, responder, Aim::Score);
            let outcome = play.best_response(policy, responder, Aim::Outcome);
            // Result for the responder of games against the policy from a position.
            let result = |other: &[f64], at: usize| match responder {
                Side::First => play.result(&play.walk(other, policy, &[(at, 1.0)])),
                Side::Second => play.result(&play.walk(policy, other, &[(at, 1.0)])).reversed(),
            };
            let places = || (0..opened.unfolded.positions()).step_by(997);
            for other in 0..4 {
                for at in places() {
                    let own = result(opened.policy(other), at);
                    assert!(score[at] >= own.score - 1e-9);
                    assert!(outcome[at] >= own.outcome() - 1e-9);
                }
            }
            // Played as a policy, the response reaches its promised values.
            let mut played = vec![0.0; opened.unfolded.edges()];
            let value = |&edge: &usize| score[opened.unfolded.target(edge)];
            for at in 0..opened.unfolded.positions() {
                let edges = opened.unfolded.edges_of(at);
                if let Some(best) = edges.max_by(|a, b| value(a).total_cmp(&value(b))) {
                    played[best] = 1.0;
                }
            }
            for at in places() {
                assert!((result(&played, at).score - score[at]).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn games_end_somewhere_and_openings_are_distributions() {
    let opened = folded();
    let play = opened.play();
    let walk = play.walk(opened.policy(0), opened.policy(1), &play.start());
    assert_eq!((walk.endless, play.most_plies()), (0.0, None));
    let visits = walk.visits;
    let ends = (0..opened.unfolded.positions())
        .filter(|&at| opened.unfolded.edges_of(at).is_empty())
        .map(|at| visits[at])
        .sum::<f64>();
    assert!((ends - 1.0).abs() < 1e-12, "{ends}");
    // Results follow from the visits of terminal positions.
    let won: f64 = (0..opened.unfolded.positions())
        .filter(|&at| opened.unfolded.edges_of(at).is_empty())
        .map(|at| {
            let value = opened.solved.value(opened.unfolded.row(at));
            let own = f64::from(value.lower.score().0);
            visits[at] * if opened.unfolded.side(at) == Side::First { own } else { -own }
        })
        .sum();
    assert!((won - opened.result(0, 1).score).abs() < 1e-9);
    for plies in [0, 1, 4, 30] {
        let from = play.after_random_plies(plies);
        assert!((from.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
    }
    assert_eq!(play.after_random_plies(0), play.start());
    assert_eq!(play.after_random_plies(2).len(), 12);
    // Random openings of any length change nothing for two random players.
    let random = opened.policy(0);
    let from = |from: &[(usize, f64)]| play.result(&play.walk(random, random, from));
    let start = from(&play.start());
    for plies in [3, 8, 30] {
        assert!(close(&from(&play.after_random_plies(plies)), &start));
    }
}

#[test]
fn reports_of_games_agree_with_themselves() {
    let opened = folded();
    let played = POLICIES.iter().zip(&opened.answers);
    let played = played.map(|(name, probabilities)| Played { name, probabilities });
    let played: Vec<Played<'_>> = played.collect();
    let report = games(&opened.play(), &Baselines::new(&opened.play()), &played, 3);
    for (place, policy) in report.policies.iter().enumerate() {
        assert!(close(&policy.against_random.first, &report.table[place][0]));
        assert!(close(&policy.against_random.second, &report.table[0][place].reversed()));
        assert!(close(&policy.against_perfect.first, &report.table[place][3]));
        // Losses summed over moves equal the loss in games against perfect play.
        let perfect = &policy.mistakes[2];
        let (first, second) = (&policy.against_perfect.first, &policy.against_perfect.second);
        let lost = (-8.0 - first.score + 8.0 - second.score) / 2.0;
        assert!((perfect.score_lost - lost).abs() < 1e-9, "{perfect:?} {lost}");
        for mistake in &policy.costliest {
            assert!(mistake.result_lost > 0.0 || mistake.score_lost > Some(0.0));
            let sum: f64 = mistake.moves.iter().map(|facts| facts.probability).sum();
            assert!((sum - 1.0).abs() < 1e-12);
            assert!(mistake.moves.iter().any(|facts| facts.best && facts.probability < 1.0));
        }
    }
    // Losses of positions with their images add up to all losses, and no image occurs twice.
    let weights = Played { name: "weights", ..played[2] };
    let all =
        &games(&opened.play(), &Baselines::new(&opened.play()), &[weights], usize::MAX).policies[0];
    let sum = |of: fn(&Mistake) -> f64| -> f64 {
        all.costliest.iter().map(|found| found.met.unwrap() * of(found)).sum()
    };
    let mean = |of: fn(&MistakesAgainst) -> f64| all.mistakes.iter().map(of).sum::<f64>() / 3.0;
    assert!((sum(|f| f.result_lost) - mean(|m| m.result_lost)).abs() < 1e-9);
    assert!((sum(|f| f.score_lost.unwrap()) - mean(|m| m.score_lost)).abs() < 1e-9);
    let rows: HashSet<usize> = all
        .costliest
        .iter()
        .map(|found| {
            let states = opened.solved.states();
            states.find(&states.parse(&found.position).unwrap()).unwrap()
        })
        .collect();
    assert_eq!(rows.len(), all.costliest.len());
    assert_eq!(all.costliest[..3], report.policies[2].costliest);
    let perfect = &report.policies[3];
    assert!(perfect.costliest.is_empty());
}

#[test]
fn a_mistake_that_rounds_to_nothing_is_shown_where_it_is_made() {
    let opened = folded();
    let play = opened.play();
    let (unfolded, states) = (play.unfolded(), opened.solved.states());
    let mut probabilities = opened.policy(3).to_vec();
    let loses = |edge: usize, at: usize| {
        play.move_truth(edge).unwrap().outcome < play.truth(at).unwrap().outcome
    };
    // The last position that its own moves reach as the first player.
    let walk = play.walk(opened.policy(3), &play.random(), &play.start());
    let is_own = |at: &usize| walk.visits[*at] > 0.0 && unfolded.side(*at) == Side::First;
    let worse = |at: usize| Some((at, unfolded.edges_of(at).find(|&edge| loses(edge, at))?));
    let (at, edge) = (0..unfolded.positions()).rev().filter(is_own).find_map(worse).unwrap();
    probabilities[edge] = 1e-11;
    let played = Played { name: "nearly", probabilities: &probabilities };
    let costliest = &games(&play, &Baselines::new(&play), &[played], 3).policies[0].costliest;
    let position = unfolded.position(states, at).unwrap();
    let [only] = &costliest[..] else { panic!("{costliest:?}") };
    assert_eq!(only.position, opened.solved.game().notation(&position));
}
