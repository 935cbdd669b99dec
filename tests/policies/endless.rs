//! Exact play in games with infinite play, compared with closed-form results of a small game, and with values
//! computed backwards on the graph of the rules.

use std::collections::HashMap;
use std::sync::OnceLock;

use tempfile::TempDir;
use yomikiri::enumerate::{self, Plan};
use yomikiri::oracle::SolvedTable;
use yomikiri::progress::Silent;
use yomikiri::rules::{AnyPosition, Game, Outcome, Rules, Side};
use yomikiri::solve::{self, SolveOptions};
use yomikiri::table::Store;
use yomikiri_measure::judge::{
    Aim, Baselines, BothSides, Expected, Match, Play, Played, Player, Unfolded, build,
    exploitability, games, play_everywhere, playable,
};
use yomikiri_measure::policy::{ByRule, Greedy, Policy, Random};

use crate::common::listed::{Listed, Node, interior, lost};
use crate::common::solved::named;

/// Wait or resign: a player who never resigns never loses, and two of them play on for ever.
fn waiting() -> Listed {
    let resigned = Node { end: Some(Outcome::Win), ..lost(0) };
    Listed { nodes: vec![interior(0, [0, 1]), resigned], ..Listed::default() }
}

const POLICIES: [&str; 3] = ["random", "greedy", "perfect"];

struct Opened {
    _dir: TempDir,
    solved: SolvedTable,
    unfolded: Unfolded,
    /// Probabilities of each of [`POLICIES`], by edge.
    answers: Vec<Vec<f64>>,
}

impl Opened {
    fn new(game: &dyn Rules, plan: &Plan) -> Opened {
        let dir = tempfile::tempdir().unwrap();
        let mut table =
            enumerate::build(game, plan, &Store::at(dir.path()), &Silent).unwrap().table;
        solve::solve(game, &mut table, &SolveOptions::default(), &Silent, &mut |_, _| {}).unwrap();
        let solved = SolvedTable::open(game.shared(), table, true).unwrap().unwrap();
        playable(&solved).unwrap();
        let unfolded = Unfolded::new(solved.states()).unwrap();
        let players = players(game);
        let answers = play_everywhere(&solved, &unfolded, &players, &Silent).unwrap();
        Opened { _dir: dir, solved, unfolded, answers }
    }

    fn policy(&self, place: usize) -> &[f64] {
        &self.answers[place]
    }

    fn result(&self, first: usize, second: usize) -> Expected {
        let play = Play::new(&self.unfolded, &self.solved);
        play.result(&play.walk(self.policy(first), self.policy(second), &play.start()))
    }
}

fn players(game: &dyn Rules) -> [Player; 3] {
    // Without material, the greedy player would be a random one.
    let has_material = game.material(&game.start().state).is_some();
    let known = |name| if has_material || name != "greedy" { name } else { "random" };
    POLICIES.map(|name| build(&known(name).parse().unwrap(), game).unwrap())
}

fn close(a: &Expected, b: &Expected) -> bool {
    let parts = |e: &Expected| [e.win, e.draw, e.loss, e.score];
    parts(a).iter().zip(parts(b)).all(|(a, b)| (a - b).abs() < 1e-9)
}

#[test]
fn who_waits_is_not_beaten_and_who_resigns_is() {
    let game = waiting().into_rules();
    let opened = Opened::new(&*game, &Plan::from_start(&*game));
    let play = Play::new(&opened.unfolded, &opened.solved);
    assert_eq!((opened.unfolded.positions(), opened.unfolded.edges()), (4, 4));
    // Every draw here is infinite play.
    let expected = |win, draw, loss| Expected { win, draw, loss, score: win - loss, endless: draw };
    // The player who resigns first loses: the first player in 1/2 + 1/8 + … of the games.
    assert!(close(&opened.result(0, 0), &expected(1.0 / 3.0, 0.0, 2.0 / 3.0)));
    assert!(close(&opened.result(0, 2), &expected(0.0, 0.0, 1.0)));
    assert_eq!(opened.result(2, 2), expected(0.0, 1.0, 0.0));
    let walk = play.walk(opened.policy(2), opened.policy(2), &play.start());
    assert_eq!((walk.endless, play.most_plies()), (1.0, Some(Play::PLIES)));
    let both = [0, 2].map(|place| exploitability(&play, opened.policy(place)));
    for [random, perfect] in [both.map(|both| both.first), both.map(|both| both.second)] {
        assert!((random.outcome + 1.0).abs() < 1e-12 && (random.result_lost - 1.0).abs() < 1e-12);
        assert_eq!((perfect.outcome, perfect.result_lost, perfect.score_lost), (0.0, 0.0, 0.0));
    }
    let played =
        [0, 2].map(|place| Played { name: POLICIES[place], probabilities: opened.policy(place) });
    let report = games(&play, &Baselines::new(&play), &played, 3);
    let [random, _] = &report.policies[..] else { panic!("there are two") };
    // A game of two random players has two moves on average, each half a mistake, and one to win.
    assert!((random.mistakes[0].result_mistakes - 0.5).abs() < 1e-12);
    assert!((random.mistakes[0].result_lost - 0.5).abs() < 1e-12);
    assert_eq!(random.costliest.len(), 1);
    assert_eq!(report.table[0][1], random.against_perfect.first);
    assert_eq!(report.endless(), Some(1.0));
}

/// Rows of a game by its rules alone: positions, and successors of each.
struct Rows {
    positions: Vec<AnyPosition>,
    after: Vec<Vec<u32>>,
    known: HashMap<AnyPosition, u32>,
}

impl Rows {
    fn new(game: &dyn Rules, root: AnyPosition) -> Rows {
        let (mut positions, mut after) = (vec![root], Vec::new());
        let mut known = HashMap::from([(root, 0)]);
        while after.len() < positions.len() {
            let position = positions[after.len()];
            let mut targets = Vec::new();
            game.for_each_action(&position.state, |action| {
                let next = game.advance(&position, action);
                let place = *known.entry(next).or_insert_with(|| {
                    positions.push(next);
                    positions.len() as u32 - 1
                });
                targets.push(place);
            });
            after.push(targets);
        }
        Rows { positions, after, known }
    }

    /// Returns a policy's probabilities in every position; none in terminal ones.
    fn ask(&self, game: &dyn Rules, policy: &dyn Policy) -> Vec<Vec<f64>> {
        let of = |position: &AnyPosition| match game.is_terminal(&position.state) {
            true => Vec::new(),
            false => {
                let asked = yomikiri_measure::policy::ask(policy, game, position).unwrap();
                asked.into_iter().map(|(_, p)| p).collect()
            }
        };
        self.positions.iter().map(of).collect()
    }

    /// Returns the value of the root for the first player by value iteration with ever more plies; `choose`
    /// computes a position's value from its moves' values, and `endless` is the value of infinite play.
    fn backwards(
        &self,
        game: &dyn Rules,
        endless: f64,
        choose: impl Fn(usize, &mut dyn Iterator<Item = f64>) -> f64,
    ) -> f64 {
        let end = |position: &AnyPosition| {
            let own = game.result(&position.state).map(|outcome| f64::from(outcome.value()));
            own.map(|own| if position.side == Side::First { own } else { -own })
        };
        let mut values: Vec<f64> =
            self.positions.iter().map(|position| end(position).unwrap_or(endless)).collect();
        for _ in 0..Play::PLIES {
            let of = |at: usize| match self.after[at].is_empty() {
                true => values[at],
                false => choose(at, &mut self.after[at].iter().map(|&to| values[to as usize])),
            };
            let next: Vec<f64> = (0..values.len()).map(of).collect();
            let change = next.iter().zip(&values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            values = next;
            if change < 1e-15 {
                break;
            }
        }
        values[0]
    }
}

/// Checks games and best responses on a table against those of the graph.
fn assert_as_by_the_rules(opened: &Opened, endless: f64, places: &[usize]) {
    let (game, states) = (opened.solved.game(), opened.solved.states());
    let graph = Rows::new(game, states.roots().unwrap()[0]);
    assert_eq!(opened.unfolded.positions(), graph.positions.len());
    assert_eq!(opened.unfolded.edges(), graph.after.iter().map(Vec::len).sum::<usize>());
    for (at, position) in graph.positions.iter().enumerate().step_by(101) {
        let found = opened.unfolded.find(states, position).unwrap();
        assert_eq!(opened.unfolded.position(states, found).as_ref(), Some(position));
        let targets = opened.unfolded.edges_of(found).map(|edge| opened.unfolded.target(edge));
        let targets = targets.map(|to| opened.unfolded.position(states, to).unwrap());
        assert_eq!(targets.map(|to| graph.known[&to]).collect::<Vec<_>>(), graph.after[at]);
    }
    let policies: [&dyn Policy; 2] = [&ByRule(Random), &ByRule(Greedy)];
    let policies = policies.map(|policy| graph.ask(game, policy));
    let mean = |p: &[f64], values: &mut dyn Iterator<Item = f64>| -> f64 {
        p.iter().zip(values).map(|(p, value)| p * value).sum()
    };
    let play = Play::new(&opened.unfolded, &opened.solved);
    for &place in places {
        let (policy, other) = (&policies[place], 1 - place);
        let wanted = graph.backwards(game, endless, |at, values| {
            let first = graph.positions[at].side == Side::First;
            mean(if first { &policy[at] } else { &policies[other][at] }, values)
        });
        let found = opened.result(place, other);
        assert!((found.outcome() - wanted).abs() < 1e-9, "{place}: {found:?} for {wanted}");
        assert!((found.win + found.draw + found.loss - 1.0).abs() < 1e-9);
        for side in Side::ALL {
            let wanted = graph.backwards(game, endless, |at, values| {
                match (graph.positions[at].side == side, side) {
                    (true, _) => mean(&policy[at], values),
                    (false, Side::First) => values.fold(f64::INFINITY, f64::min),
                    (false, Side::Second) => values.fold(f64::NEG_INFINITY, f64::max),
                }
            });
            let response = play.best_response(opened.policy(place), side.other(), Aim::Outcome);
            let found = response[opened.unfolded.roots()[0]];
            let found = if side == Side::First { -found } else { found };
            assert!((found - wanted).abs() < 1e-9, "{place} {side:?}: {found} for {wanted}");
        }
    }
}

/// Returns the whole 3x3 game, in which infinite play is a draw.
fn small() -> &'static Opened {
    static KNOWN: OnceLock<Opened> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let game = named("animal-shogi-3x3");
        Opened::new(&*game, &Plan::from_start(&*game))
    })
}

/// Returns all positions reached from a single pawn, in which the second player wins infinite play.
fn pawn() -> &'static Opened {
    static KNOWN: OnceLock<Opened> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let game = named("minishogi");
        let root = game.parse_position("k4/5/1P3/5/K4 b - 1", &game.start()).unwrap();
        let plan =
            Plan { start: "custom".to_string(), roots: vec![root], ..Plan::from_start(&*game) };
        Opened::new(&*game, &plan)
    })
}

#[test]
fn games_of_the_shogi_family_are_as_by_the_rules() {
    assert_as_by_the_rules(small(), 0.0, &[1]);
    assert_as_by_the_rules(pawn(), -1.0, &[0, 1]);
}

#[test]
fn perfect_play_is_worth_the_value_of_the_game_wherever_it_ends() {
    for opened in [small(), pawn()] {
        let play = Play::new(&opened.unfolded, &opened.solved);
        // Black wins both.
        let wanted = Expected { win: 1.0, score: 1.0, ..Expected::default() };
        assert!(close(&opened.result(2, 2), &wanted));
        let BothSides { first, second } = exploitability(&play, opened.policy(2));
        for lost in [first, second] {
            assert!(lost.result_lost.abs() < 1e-12, "{lost:?}");
        }
    }
    // No draws if one side wins infinite play.
    assert_eq!(pawn().result(0, 0).draw, 0.0);
    assert!(small().result(1, 1).draw < 1e-9);
}

#[test]
fn a_match_agrees_with_the_report() {
    let opened = small();
    let [random, greedy, _] = players(opened.solved.game());
    let found = Match::of(&opened.solved, &[random, greedy], 1, &Silent).unwrap();
    let results = found.openings[0].results;
    assert!(close(&results.first, &opened.result(0, 1)));
    assert!(close(&results.second, &opened.result(1, 0).reversed()));
    assert_eq!((found.most_plies, found.openings.len()), (Some(Play::PLIES), 2));
}
