//! Exact search: FFO endgames with their scores, 6×6 from the start, random endgames, and mates of minishogi.
//!
//! `cargo bench --bench search` runs FFO 40 to 44 and 1,000 random positions of 12 empty squares;
//! `YOMIKIRI_BENCH_SEARCH="ffo 40-49, 6x6, random 12 10000, random 16 1000, moves 12 10000, mates 1000"`
//! selects others; `plain` before `ffo`, `6x6`, `random` or `moves` searches without patterns. `cost` compares the
//! CPU time of a node in both orders. `stored 1000` queries the stored solution of 6×6 for the positions of 1,000
//! games in which one side plays its best move, `four 24 200` searches positions of Connect Four, `outside 1000` searches 1,000 positions of random 6×6 games outside it. One
//! thread; every score and the number of mates are asserted. Nodes compare between machines, seconds do not.

#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde_json::Value;
use yomikiri::games::othello::search::is_vectorised;
use yomikiri::games::shogi::{Board, MINISHOGI, Shogi};
use yomikiri::progress::Silent;
use yomikiri::registry::{Games, othello};
use yomikiri::rules::{
    AnyPosition, AnyState, Empties, Game, Rules, Score, SearchLimits, SearchOptions, SearchWeights,
    Side,
};
use yomikiri::search::mates::{MateOptions, MateRules, MateSearch, MateVerdict};
use yomikiri::search::{self, SearchResult, SearchTask, Searcher};
use yomikiri_measure::judge::{SampleOf, from_random_games};

/// Positions of Connect Four with scores (`tests/rules/four_scores.rs`).
const FOUR: &str = include_str!("../tests/data/connect-four.json");

/// Positions of the FFO endgame suite by R. Delorme; the winner gets the empty squares.
const FFO: &str = include_str!("../tests/data/ffo-40-49.json");

fn main() {
    let asked = std::env::var("YOMIKIRI_BENCH_SEARCH");
    let asked = asked.unwrap_or("ffo 40-44, random 12 1000".to_string());
    for work in asked.split(',') {
        let mut words: Vec<&str> = work.split_whitespace().collect();
        let weights = match words.first() {
            Some(&"plain") => SearchWeights::Plain,
            _ => SearchWeights::BuiltIn,
        };
        words.retain(|word| *word != "plain");
        match words[..] {
            ["ffo", range] => drop(ffo(range, &weights)),
            ["6x6"] => start(&weights),
            ["random", empties, count] => random(number(empties), number(count), false, &weights),
            ["moves", empties, count] => random(number(empties), number(count), true, &weights),
            ["cost"] => cost(),
            ["stored", games] => stored(number(games)),
            ["outside", count] => outside(number(count)),
            ["mates", count] => mates(number(count)),
            ["four", discs, count] => four(number(discs), number(count)),
            _ => panic!("'{work}': see the head of benches/search.rs"),
        }
    }
}

/// Searches positions of Connect Four with a number of discs, whose scores a plain solver found.
fn four(discs: usize, count: usize) {
    let game = Games::default().named("connect-four").expect("a game");
    let options = SearchOptions::default();
    let searcher = search::searcher(&*game, &options).expect("it is searched");
    let known: Vec<Vec<(String, i32)>> = serde_json::from_str(FOUR).expect("JSON");
    let of_discs = known.iter().flatten().filter(|(moves, _)| moves.len() == discs);
    let (begun, mut nodes, mut searched) = (Instant::now(), 0, 0);
    for (moves, score) in of_discs.take(count) {
        let position = game.parse_position(moves, &game.start()).expect("a transcript");
        let found = searcher.search(&position.state, &SearchTask::EXACT, &SearchLimits::default());
        nodes += found.nodes;
        searched += 1;
        // Half the squares plus one, less the discs of the winner at the end.
        let outcome = found.value.outcome().expect("a full search").value();
        let plies = found.value.distance().expect("a full search") as usize;
        let winner = (discs + plies).div_ceil(2);
        assert_eq!(i32::from(outcome) * (22 - winner as i32), *score, "{moves}");
    }
    assert!(searched > 0, "no positions of {discs} discs");
    report(&format!("{searched} positions of Connect Four with {discs} discs"), begun, nodes);
}

fn number(text: &str) -> usize {
    text.parse().unwrap_or_else(|_| panic!("invalid number '{text}'"))
}

fn searcher(game: &dyn Rules, empties: Empties, weights: &SearchWeights) -> Box<dyn Searcher> {
    let (memory, stored, weights) = (1 << 30, false, weights.clone());
    let options = SearchOptions { empties, memory, stored, weights, ..SearchOptions::default() };
    search::searcher(game, &options).expect("Othello is searched")
}

fn report(what: &str, begun: Instant, nodes: u64) {
    let seconds = begun.elapsed().as_secs_f64();
    let (all, speed) = (nodes as f64 / 1e6, nodes as f64 / seconds / 1e6);
    println!("{what}: {seconds:.2} s, {all:.1} M nodes, {speed:.1} M nodes a second");
}

/// Searches FFO positions and returns the number of nodes.
fn ffo(range: &str, weights: &SearchWeights) -> u64 {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let game = othello("8").expect("a board");
    let all: Vec<Value> = serde_json::from_str(FFO).expect("JSON");
    let (begun, mut nodes) = (Instant::now(), 0);
    for entry in all {
        let id = entry["id"].as_u64().expect("a number") as usize;
        if !(number(first)..=number(last)).contains(&id) {
            continue;
        }
        let text = |name: &str| entry[name].as_str().expect("text");
        let line = format!("{} {};", text("board"), text("to_move"));
        let position = game.parse_position(&line, &game.start()).expect("a position");
        let began = Instant::now();
        let search = searcher(&*game, Empties::ToWinner, weights);
        let result = search.search(&position.state, &SearchTask::EXACT, &SearchLimits::default());
        let score = entry["score"].as_i64().expect("a number") as i8;
        assert_eq!(result.value.score(), Some(Score(score)), "FFO {id}");
        report(&format!("  FFO {id} ({score:+})"), began, result.nodes);
        nodes += result.nodes;
    }
    report(&format!("FFO {range}"), begun, nodes);
    nodes
}

/// Maximum CPU time of a node with patterns over that of one in the plain order. Measured on a Sapphire Rapids Xeon:
/// 1.0, and 1.5 in the profile of tests; 2.3 when the compiler added lanes one by one, 3.8 on Zen 4.
const MOST_COST: f64 = if cfg!(debug_assertions) { 2.5 } else { 1.8 };

/// Compares the CPU time of a node with patterns and in the plain order, which a loop compiled to slow code
/// changes. Left out on processors on which patterns are not added by vector instructions.
fn cost() {
    if !is_vectorised() {
        println!("no vector instructions: the cost of patterns is not compared");
        return;
    }
    let mut least = [f64::INFINITY; 2];
    for _ in 0..3 {
        for (weights, least) in
            [SearchWeights::Plain, SearchWeights::BuiltIn].iter().zip(&mut least)
        {
            let begun = cpu_time();
            let nodes = ffo("41", weights);
            *least = least.min((cpu_time() - begun).as_secs_f64() / nodes as f64);
        }
    }
    let [plain, patterns] = least.map(|seconds| 1e9 * seconds);
    let ratio = patterns / plain;
    println!(
        "a node takes {plain:.1} ns in the plain order, {patterns:.1} ns with patterns: {ratio:.2} times"
    );
    assert!(ratio < MOST_COST, "at most {MOST_COST} times were expected");
}

/// Returns the CPU time of this process.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn start(weights: &SearchWeights) {
    let game = othello("6").expect("a board");
    let begun = Instant::now();
    let search = searcher(&*game, Empties::Uncounted, weights);
    let SearchResult { value, nodes, .. } =
        search.search(&game.start().state, &SearchTask::EXACT, &SearchLimits::default());
    // J. Feinstein (1993): White wins by 4.
    assert_eq!(value.score(), Some(Score(-4)));
    report("6x6 from the start", begun, nodes);
}

/// Searches random positions; with `moves`, every move of each.
fn random(empties: usize, count: usize, moves: bool, weights: &SearchWeights) {
    let game = othello("8").expect("a board");
    let range = Some((empties as u32, empties as u32));
    let sample = SampleOf { range, count, seed: 1 };
    let list = from_random_games(&*game, sample, &Silent).expect("positions");
    let positions: Vec<AnyPosition> = list.occurring().copied().collect();
    let search = searcher(&*game, Empties::Uncounted, weights);
    let exact =
        |state: &AnyState| search.search(state, &SearchTask::EXACT, &SearchLimits::default());
    let (begun, mut nodes) = (Instant::now(), 0);
    for position in &positions {
        let found = exact(&position.state);
        nodes += found.nodes;
        let mut best = None;
        game.moves(&position.state, |_, after| {
            if moves {
                let after = exact(&after);
                nodes += after.nodes;
                best = best.max(after.value.score().map(|score| -score));
            }
        });
        assert!(found.value.score().is_some() && (!moves || best == found.value.score()));
    }
    let what = if moves { "with all moves" } else { "values" };
    report(&format!("{count} positions, {empties} empty, {what}"), begun, nodes);
}

/// Returns the median, the 99th percentile and the maximum of some times, as text.
fn spread(times: &mut [f64]) -> String {
    times.sort_by(f64::total_cmp);
    let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
    format!(
        "median {:.2} ms, 99 % {:.2} ms, worst {:.2} ms",
        1e3 * median,
        1e3 * times[times.len() * 99 / 100],
        1e3 * most
    )
}

/// Plays games from the start of 6×6 in which one side plays the stored solution's best moves, the other at
/// random. The score never falls for the former, and a search agrees where it is quick.
fn stored(games: usize) {
    let game = othello("6").expect("a board");
    let solution =
        search::searcher(&*game, &SearchOptions::default()).expect("Othello is searched");
    let search = searcher(&*game, Empties::Uncounted, &SearchWeights::BuiltIn);
    let exact = |searcher: &dyn Searcher, state: &AnyState| {
        searcher.search(state, &SearchTask::EXACT, &SearchLimits::default())
    };
    let begun = Instant::now();
    assert_eq!(exact(solution.as_ref(), &game.start().state).nodes, 0);
    println!("stored solution opened in {:.2} s", begun.elapsed().as_secs_f64());
    let (mut times, mut checked, mut seed) = (Vec::new(), 0, 1u64);
    for number in 0..games {
        let (mut position, mut bound) = (game.start(), None);
        while !game.is_terminal(&position.state) {
            let begun = Instant::now();
            let found = exact(solution.as_ref(), &position.state);
            times.push(begun.elapsed().as_secs_f64());
            let score = found.value.score().expect("exact");
            let empties = 36 - game.layer(&position.state);
            if (14..=18).contains(&empties) {
                assert_eq!(exact(search.as_ref(), &position.state).value.score(), Some(score));
                checked += 1;
            }
            let is_hero = (position.side == Side::First) == (number % 2 == 0);
            let own = if is_hero { score } else { -score };
            assert!(bound.is_none_or(|bound| own >= bound), "game {number}");
            bound = Some(own);
            let actions = game.actions(&position.state);
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let action = match is_hero {
                true => *found.line.first().expect("a best move"),
                false => actions[(seed >> 33) as usize % actions.len()],
            };
            position = game.advance(&position, action);
        }
    }
    println!(
        "{} queries of {games} games, {checked} searched too: {}",
        times.len(),
        spread(&mut times)
    );
}

/// Searches positions of random 6×6 games outside the stored solution, with any number of empty squares.
fn outside(count: usize) {
    let game = othello("6").expect("a board");
    let solution =
        search::searcher(&*game, &SearchOptions::default()).expect("Othello is searched");
    let sample = SampleOf { range: Some((14, 31)), count: 2 * count, seed: 1 };
    let list = from_random_games(&*game, sample, &Silent).expect("positions");
    let mut times = Vec::new();
    let one = SearchLimits { nodes: Some(1), ..SearchLimits::default() };
    for position in list.positions() {
        // Stored positions are answered without searching a node.
        if solution.search(&position.state, &SearchTask::EXACT, &one).value.score().is_some() {
            continue;
        }
        let begun = Instant::now();
        let search = searcher(&*game, Empties::Uncounted, &SearchWeights::BuiltIn);
        let result = search.search(&position.state, &SearchTask::EXACT, &SearchLimits::default());
        assert!(result.value.score().is_some());
        times.push(begun.elapsed().as_secs_f64());
        if times.len() == count {
            break;
        }
    }
    println!("{} positions outside: {}", times.len(), spread(&mut times));
}

/// Searches mates by checks in positions of random games.
fn mates(count: usize) {
    let rules = MateRules::of(&MINISHOGI);
    let options = MateOptions { nodes: 1_000_000, ..MateOptions::default() };
    let (mut long, mut open, mut nodes) = (0, 0, 0);
    let (mut all, mut on_long) = (Duration::ZERO, Duration::ZERO);
    for board in played(count) {
        let search = MateSearch::new(&rules, 8 << 20);
        let began = Instant::now();
        let found = search.shortest(&board, &options);
        let seconds = began.elapsed();
        (all, nodes) = (all + seconds, nodes + found.nodes);
        match found.verdict {
            MateVerdict::Mate { plies: 5.., .. } => (long, on_long) = (long + 1, on_long + seconds),
            MateVerdict::Open => open += 1,
            _ => {}
        }
    }
    let speed = nodes as f64 / all.as_secs_f64() / 1e6;
    let a_minute = |time: Duration| 60.0 * f64::from(long) / time.as_secs_f64();
    println!(
        "{count} positions of minishogi: {long} mates of 5 plies and more, {open} open, {:.2} M nodes, {speed:.2} M nodes \
         a second, {:.0} such mates a minute of the time spent on them, {:.0} of all",
        nodes as f64 / 1e6,
        a_minute(on_long),
        a_minute(all),
    );
    let known = MATES.iter().find(|(positions, _)| *positions == count);
    assert_eq!(open, 0);
    assert!(known.is_none_or(|(_, mates)| *mates == long), "{known:?} expected");
}

/// Mates of 5 plies and more among the given number of first positions.
const MATES: [(usize, u32); 2] = [(100, 14), (1000, 155)];

/// Returns about every third position of games of random moves.
fn played(count: usize) -> Vec<Board> {
    let game: Shogi = Shogi::new(&MINISHOGI, false);
    let mut random = SplitMix64::seed_from_u64(7);
    let mut below = |bound: usize| (random.next_u64() % bound as u64) as usize;
    let mut found = Vec::new();
    while found.len() < count {
        let mut state = game.start().state;
        for _ in 0..300 {
            let actions = game.actions(&state);
            if actions.is_empty() {
                break;
            }
            if below(3) == 0 {
                found.push(state);
            }
            state = game.play(&state, actions[below(actions.len())]);
        }
    }
    found.truncate(count);
    found
}
