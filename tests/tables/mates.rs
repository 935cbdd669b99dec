//! Mate search against independent figures, plain recursion and the game's own rules.

use rustc_hash::FxHashMap;
use serde_json::Value;
use yomikiri::games::shogi::{ANIMAL_SHOGI, Board, MINISHOGI, Shogi};
use yomikiri::oracle::SolvedTable;
use yomikiri::progress::Silent;
use yomikiri::registry::Games;
use yomikiri::rules::{Action, AnyPosition, Game, Outcome, Position};
use yomikiri::search::mates::{
    Fate, LINE_NODES, MateLine, MateOptions, MateRules, MateSearch, MateVerdict, Mating, Mini,
    PlainMates, Role, board_of, fates,
};
use yomikiri::table::Store;

use crate::common::Random;

type Family = Shogi;

fn minishogi() -> Family {
    Shogi::new(&MINISHOGI, false)
}

fn truth() -> Vec<Value> {
    let text = include_str!("../data/minishogi-mates.json");
    let all: Value = serde_json::from_str(text).unwrap();
    all["positions"].as_array().unwrap().clone()
}

/// Returns the board of a position of minishogi.
fn board(sfen: &str) -> Board {
    minishogi().parse_position(sfen, &minishogi().start()).unwrap().state
}

/// Returns positions of random games that are not over, every `step`th.
fn positions(game: &Family, count: usize, step: usize) -> Vec<Position<Board>> {
    let (mut found, mut random) = (Vec::new(), Random(7));
    while found.len() < count {
        let mut position = game.start();
        for _ in 0..300 {
            let actions = game.actions(&position.state);
            if actions.is_empty() {
                break;
            }
            if random.below(step) == 0 {
                found.push(position);
            }
            position = game.advance(&position, actions[random.below(actions.len())]);
        }
    }
    found.truncate(count);
    found
}

/// Returns positions of the last dozen plies of random games, one per game.
fn late_positions(game: &Family, count: usize) -> Vec<Position<Board>> {
    let (mut found, mut random) = (Vec::new(), Random(8));
    while found.len() < count {
        let mut played = vec![game.start()];
        for _ in 0..300 {
            let last = played[played.len() - 1];
            let actions = game.actions(&last.state);
            if actions.is_empty() {
                break;
            }
            played.push(game.advance(&last, actions[random.below(actions.len())]));
        }
        found.push(played[played.len().saturating_sub(2 + random.below(12))]);
    }
    found
}

/// Returns whether the attacker wins within `plies` plies, by plain recursion over the game's own moves.
fn wins(game: &Family, state: &Board, plies: u32, checks_only: bool, attacks: bool) -> bool {
    if let Some(end) = game.end(state) {
        return (end.outcome == Outcome::Win) == attacks && u32::from(end.plies) <= plies;
    }
    if plies == 0 {
        return false;
    }
    let after = game.actions(state).into_iter().map(|action| game.play(state, action));
    let wins = |after: &Board| wins(game, after, plies - 1, checks_only, !attacks);
    if !attacks {
        return after.into_iter().all(|after| wins(&after));
    }
    after.filter(|after| !checks_only || game.in_check(after)).any(|after| wins(&after))
}

/// Plays a whole line, whose moves must be legal and whose end must be the attacker's win, and returns its plies.
fn replay(game: &Family, root: &Board, options: &MateOptions, line: &MateLine) -> u32 {
    let (mut state, mut attacks) = (*root, options.role == Role::Attacks);
    for &action in &line.actions {
        assert!(game.actions(&state).contains(&action));
        state = game.play(&state, action);
        assert!(!attacks || !options.checks_only || game.in_check(&state));
        attacks = !attacks;
    }
    let end = game.end(&state).expect("a whole line ends the game");
    assert_eq!((end.outcome == Outcome::Win, line.missing_plies), (attacks, 0));
    line.actions.len() as u32 + u32::from(end.plies)
}

/// Returns the plies and the line of a position's shortest win.
fn shortest_line(search: &MateSearch, root: &Board, options: &MateOptions) -> (u32, MateLine) {
    let result = search.shortest(root, options);
    let MateVerdict::Mate { plies, is_shortest: true, first: Some(_) } = result.verdict else {
        panic!("{result:?}")
    };
    let line = search.line(root, options, plies, result.nodes);
    assert!(line.nodes <= (LINE_NODES.0 * result.nodes).max(LINE_NODES.1));
    (plies, line)
}

#[test]
fn moves_are_those_of_the_game() {
    let (game, mini) = (minishogi(), Mini::new());
    let sorted = |node: &_, role, checks| {
        let mut moves = Vec::new();
        mini.moves(node, role, checks, |action, after| moves.push((action, after)));
        moves.sort_by_key(|(action, _)| *action);
        moves
    };
    let mut checks_seen = 0;
    for root in positions(&game, 3_000, 2) {
        // Moves of the attacker and, with the board turned round, of the defender.
        let node = mini.root(&root.state, Role::Attacks);
        let actions = game.actions(&root.state);
        let moves = sorted(&node, Role::Attacks, false);
        assert_eq!(moves.iter().map(|(action, _)| *action).collect::<Vec<_>>(), actions);
        let checks: Vec<Action> = actions
            .iter()
            .copied()
            .filter(|&a| game.in_check(&game.play(&root.state, a)))
            .collect();
        let checking = sorted(&node, Role::Attacks, true);
        assert_eq!(checking.iter().map(|(action, _)| *action).collect::<Vec<_>>(), checks);
        checks_seen += checks.len();
        for (action, after) in moves.into_iter().step_by(5) {
            let state = game.play(&root.state, action);
            let mut turned = game.swapped(&state).unwrap();
            assert_eq!(after, mini.root(&turned, Role::Attacks));
            assert_eq!(after, mini.root(&state, Role::Defends));
            let replies = sorted(&after, Role::Defends, false);
            assert_eq!(
                replies.iter().map(|(action, _)| *action).collect::<Vec<_>>(),
                game.actions(&state)
            );
            assert_eq!(replies.len() as u32, mini.replies(&after));
            for (reply, node) in replies {
                turned = game.play(&state, reply);
                assert_eq!(node, mini.root(&turned, Role::Attacks));
            }
        }
    }
    assert!(checks_seen > 1_500, "{checks_seen}");
}

#[test]
fn known_mates_have_their_lengths() {
    let rules = MateRules::of(&MINISHOGI);
    for entry in truth() {
        let sfen = entry["sfen"].as_str().unwrap();
        let root = board(sfen);
        let search = MateSearch::new(&rules, 8 << 20);
        let options = MateOptions { nodes: 20_000_000, ..MateOptions::default() };
        let found = search.shortest(&root, &options);
        match (entry["tsume_checks_only_plies"].as_u64(), entry["tsume_none_within"].as_u64()) {
            (Some(expected), _) => {
                let MateVerdict::Mate { plies, is_shortest: true, .. } = found.verdict else {
                    panic!("{sfen}: {found:?}")
                };
                assert_eq!(u64::from(plies), expected, "{sfen}");
            }
            (None, Some(within)) => match found.verdict {
                MateVerdict::Mate { plies, .. } => assert!(u64::from(plies) > within, "{sfen}"),
                verdict => assert_eq!(verdict, MateVerdict::NoMate, "{sfen}"),
            },
            (None, None) => {}
        }
        let most =
            entry["mate_plies"].as_u64().or(entry["no_mate_within"].as_u64()).unwrap() as u32;
        if most > 7 {
            continue;
        }
        let options = MateOptions { checks_only: false, max_plies: Some(most), ..options };
        let verdict = search.shortest(&root, &options).verdict;
        match (entry["mate_plies"].as_u64(), verdict) {
            (Some(expected), MateVerdict::Mate { plies, .. }) => {
                assert_eq!(expected, u64::from(plies), "{sfen}")
            }
            (None, verdict) => assert_eq!(verdict, MateVerdict::NoMate, "{sfen}"),
            (_, verdict) => panic!("{sfen}: {verdict:?}"),
        }
    }
}

#[test]
fn lines_have_the_lengths_of_mates_and_the_longest_defences() {
    let (game, rules) = (minishogi(), MateRules::of(&MINISHOGI));
    let judge = MateSearch::new(&rules, 16 << 20);
    let mut defences = 0;
    for entry in truth() {
        let root = board(entry["sfen"].as_str().unwrap());
        for (checks_only, key) in [(true, "tsume_checks_only_plies"), (false, "mate_plies")] {
            let Some(expected) = entry[key].as_u64().map(|plies| plies as u32) else { continue };
            let options =
                MateOptions { checks_only, max_plies: Some(expected), ..MateOptions::default() };
            let search = MateSearch::new(&rules, 16 << 20);
            let (plies, line) = shortest_line(&search, &root, &options);
            let lengths = (plies, replay(&game, &root, &options, &line));
            assert_eq!(lengths, (expected, expected), "{entry}");
            let mut state = root;
            for (left, pair) in
                (1..plies).rev().step_by(2).map(|n| n - 1).zip(line.actions.chunks(2))
            {
                state = pair.iter().fold(state, |state, &action| game.play(&state, action));
                let verdict = judge.shortest(&state, &options).verdict;
                let is_longest = matches!(
                    verdict,
                    MateVerdict::Mate { plies, is_shortest: true, .. } if plies == left
                );
                assert!(is_longest, "{entry}: {verdict:?}, expected {left}");
                assert!(left > 3 || wins(&game, &state, left, checks_only, true));
                assert!(left > 5 || !wins(&game, &state, left - 1, checks_only, true));
                defences += 1;
            }
        }
    }
    assert!(defences >= 100, "{defences}");
}

#[test]
fn lines_do_not_depend_on_threads_or_earlier_searches() {
    let (game, rules, known) = (minishogi(), MateRules::of(&MINISHOGI), truth());
    let used = MateSearch::new(&rules, 16 << 20);
    let sfens = known.iter().filter(|entry| entry["tsume_checks_only_plies"].as_u64() >= Some(5));
    let sfens = sfens.map(|entry| entry["sfen"].as_str().unwrap());
    let mut roots = 0;
    for sfen in
        ["4R/3KG/k1p2/3P1/4s b BGSrb 1", "K4/3+S1/5/2k2/1b3 b 2RBGSPgp 1"].into_iter().chain(sfens)
    {
        let root = board(sfen);
        let search = MateSearch::new(&rules, 16 << 20);
        let (plies, line) = shortest_line(&search, &root, &MateOptions::default());
        assert_eq!(replay(&game, &root, &MateOptions::default(), &line), plies, "{sfen}");
        for threads in [1, 2, 8, 8] {
            let options = MateOptions { threads, ..MateOptions::default() };
            for search in [&MateSearch::new(&rules, 16 << 20), &used] {
                let result = shortest_line(search, &root, &options);
                assert_eq!(result, (plies, line.clone()), "{sfen}");
            }
        }
        roots += 1;
    }
    assert!(roots >= 12, "{roots}");
}

#[test]
fn lines_that_are_cut_report_the_missing_plies() {
    let rules = MateRules::of(&MINISHOGI);
    let (root, search) = (board("4R/3KG/k1p2/3P1/4s b BGSrb 1"), MateSearch::new(&rules, 1 << 20));
    let whole = search.line(&root, &MateOptions::default(), 15, 0);
    assert_eq!((whole.actions.len(), whole.missing_plies), (15, 0));
    let now = MateOptions { deadline: Some(std::time::Instant::now()), ..MateOptions::default() };
    // Neither a win of any number of plies, nor one in fewer plies than there is, nor one without time has a line.
    for (options, plies) in [(MateOptions::default(), 127), (MateOptions::default(), 13), (now, 15)]
    {
        let line = search.line(&root, &options, plies, 0);
        assert_eq!((line.actions.len(), line.missing_plies), (0, plies));
    }
}

#[test]
fn plain_recursion_agrees() {
    let game = minishogi();
    let (rules, by_rules) =
        (MateRules::of(&MINISHOGI), MateRules::Plain(Box::new(PlainMates::new(&MINISHOGI))));
    // One search with a small table, so that it meets results of other positions, other bounds and
    // replaced entries.
    let search = MateSearch::new(&rules, 1 << 16);
    let plain = MateSearch::new(&by_rules, 1 << 20);
    let (mut won, mut lost) = (0, 0);
    for (checks_only, step, most) in [(true, 3, 5), (false, 11, 3)] {
        for root in positions(&game, 200, step) {
            let options =
                MateOptions { checks_only, max_plies: Some(most), ..MateOptions::default() };
            let expected =
                (1..=most).step_by(2).find(|&n| wins(&game, &root.state, n, checks_only, true));
            for search in [&search, &plain] {
                match (expected, search.shortest(&root.state, &options).verdict) {
                    (Some(expected), MateVerdict::Mate { plies, .. }) => {
                        assert_eq!(expected, plies);
                        let line = search.line(&root.state, &options, plies, 0);
                        assert_eq!(replay(&game, &root.state, &options, &line), plies);
                        won += 1;
                    }
                    (expected, verdict) => {
                        assert_eq!((None, MateVerdict::NoMate), (expected, verdict));
                        lost += 1;
                    }
                }
            }
        }
    }
    assert!(won > 25 && lost > 120, "{won} won, {lost} lost");
}

/// A board, and `true` if its mover attacks.
type Place = (Board, bool);

/// Returns the plies of the attacker's win by checks in all places reachable from a root whose mover
/// attacks, found by sweeps to the fixed point; `None` for places that are not won, and in all if there
/// are more than `limit`.
fn solved(game: &Family, root: &Board, limit: usize) -> Option<FxHashMap<Place, Option<u32>>> {
    let mut numbers = FxHashMap::from_iter([((*root, true), 0)]);
    let mut places = vec![(*root, true)];
    let (mut values, mut after) = (Vec::new(), Vec::new());
    while let Some(&(state, attacks)) = places.get(values.len()) {
        let end = game.end(&state);
        let won = end.filter(|end| (end.outcome == Outcome::Win) == attacks);
        values.push(won.map(|end| u32::from(end.plies)));
        let mut numbers_after = Vec::new();
        for action in game.actions(&state).into_iter().filter(|_| end.is_none()) {
            let next = game.play(&state, action);
            if !attacks || game.in_check(&next) {
                numbers_after.push(*numbers.entry((next, !attacks)).or_insert_with(|| {
                    places.push((next, !attacks));
                    places.len() - 1
                }));
            }
        }
        after.push(numbers_after);
        if places.len() > limit {
            return None;
        }
    }
    let mut open: Vec<usize> = (0..places.len()).filter(|&n| !after[n].is_empty()).collect();
    for plies in 1.. {
        let known = |&n: &usize| values[n].is_some_and(|n| n < plies);
        let (new, rest): (Vec<_>, Vec<_>) = open.into_iter().partition(|&n| match places[n].1 {
            true => after[n].iter().any(known),
            false => after[n].iter().all(known),
        });
        if new.is_empty() && plies > 1 {
            break;
        }
        new.into_iter().for_each(|n| values[n] = Some(plies));
        open = rest;
    }
    Some(places.into_iter().zip(values).collect())
}

#[test]
fn repetitions_are_judged_as_by_a_fixed_point() {
    let (game, rules) = (minishogi(), MateRules::of(&MINISHOGI));
    let (mut won, mut lost) = (0, 0);
    let mut stored = [0, 0];
    for root in late_positions(&game, 1_200) {
        // The whole graph of checks and replies, if it is small.
        let Some(values) = solved(&game, &root.state, 4_000) else { continue };
        for memory in [1 << 13, 1 << 20] {
            let search = MateSearch::new(&rules, memory);
            let options = MateOptions { nodes: 3_000_000, ..MateOptions::default() };
            let found = search.search(&root.state, &options).verdict;
            match (values[&(root.state, true)], found) {
                (Some(shortest), MateVerdict::Mate { plies, .. }) => {
                    assert!(plies >= shortest);
                    won += 1;
                }
                (None, MateVerdict::NoMate) => lost += 1,
                (expected, found) => panic!("{}: {expected:?} {found:?}", game.notation(&root)),
            }
            // All results for the graph that the transposition table now has.
            for ((state, _), value) in values.iter().filter(|((_, attacks), _)| *attacks) {
                let options = MateOptions { nodes: 0, ..options };
                match (value, search.search(state, &options).verdict) {
                    (Some(shortest), MateVerdict::Mate { plies, .. }) => {
                        assert!(plies >= *shortest);
                        stored[0] += 1;
                    }
                    (None, MateVerdict::NoMate) => stored[1] += 1,
                    (_, MateVerdict::Open) => {}
                    (expected, found) => panic!("stored: {expected:?} {found:?}"),
                }
            }
        }
    }
    assert!(won > 20 && lost > 100 && stored[0] > 50, "{won} won, {lost} lost, {stored:?}");
}

/// Compares mate search over all moves with every `step`th row of a whole table, which retrograde
/// analysis solved. Returns the numbers of wins, losses, draws and searches without a verdict.
fn compare_with_table(name: &str, step: usize, nodes: u64) -> [usize; 4] {
    let dir = tempfile::tempdir().unwrap();
    let game = Games::default().named(name).unwrap();
    let table = SolvedTable::of_whole(game.clone(), &Store::at(dir.path()), &Silent).unwrap();
    let rules = MateRules::of_rules(&*game).unwrap();
    let variant = game.typed::<Shogi>().unwrap().variant();
    let (search, family) = (MateSearch::new(&rules, 1 << 26), Shogi::new(variant, false));
    let mut counts = [0; 4];
    for row in (0..table.states().rows()).step_by(step) {
        let compare = |row: usize, position: AnyPosition| {
            let (board, value) = (board_of(&*game, &position.state).unwrap(), table.value(row));
            let outcome = value.outcome().unwrap();
            counts[match outcome {
                Outcome::Win => 0,
                Outcome::Loss => 1,
                Outcome::Draw => 2,
            }] += 1;
            for (role, won) in [(Role::Attacks, Outcome::Win), (Role::Defends, Outcome::Loss)] {
                let what = || format!("row {row}, {role:?}: {}", game.notation(&position));
                let options =
                    MateOptions { role, checks_only: false, nodes, ..MateOptions::default() };
                let distance = value.distance().filter(|_| outcome == won).map(u32::from);
                match (distance, search.search(&board, &options).verdict) {
                    (Some(distance), MateVerdict::Mate { plies, .. }) => {
                        assert!(plies >= distance.min(127), "{}: {plies}", what());
                    }
                    (None, MateVerdict::NoMate) => {}
                    (_, MateVerdict::Open) => counts[3] += 1,
                    (distance, verdict) => panic!("{}: {distance:?} {verdict:?}", what()),
                }
                let options = MateOptions { max_plies: Some(9), ..options };
                let near = distance.filter(|&distance| distance <= 9);
                match (near, search.shortest(&board, &options).verdict) {
                    (Some(distance), MateVerdict::Mate { plies, .. }) => {
                        assert_eq!(plies, distance, "{}", what());
                        if row.is_multiple_of(256) {
                            let line = search.line(&board, &options, plies, 0);
                            assert_eq!(
                                replay(&family, &board, &options, &line),
                                plies,
                                "{} {line:?}",
                                what()
                            );
                        }
                    }
                    (None, MateVerdict::NoMate) => {}
                    (_, MateVerdict::Open) => counts[3] += 1,
                    (distance, verdict) => panic!("{}: {distance:?} {verdict:?}", what()),
                }
            }
            Ok(())
        };
        table.states().visit(row..row + 1, compare).unwrap();
    }
    counts
}

#[test]
fn animal_shogi_on_3x3_has_the_values_of_its_table() {
    let [won, lost, drawn, open] = compare_with_table("animal-shogi-3x3", 1, 300_000);
    assert!(won > 190_000 && lost > 49_000 && drawn > 300 && open == 0);
}

/// Takes minutes and 1.2 GB of disk.
#[test]
#[ignore = "takes minutes and a gigabyte"]
fn animal_shogi_has_the_values_of_its_table() {
    let [won, lost, drawn, open] = compare_with_table("animal-shogi", 100_003, 20_000);
    println!("{won} won, {lost} lost, {drawn} drawn, {open} open");
    assert!(won > 1_000 && lost > 300 && drawn > 10 && open < 2_000);
}

#[test]
fn animal_shogi_shortest_wins_agree_with_plain_recursion() {
    let game: Family = Shogi::new(&ANIMAL_SHOGI, false);
    let (mut won, mut lost) = (0, 0);
    let rules = MateRules::of(&ANIMAL_SHOGI);
    let search = MateSearch::new(&rules, 1 << 22);
    for root in positions(&game, 2_400, 3) {
        let options =
            MateOptions { checks_only: false, max_plies: Some(3), ..MateOptions::default() };
        let expected = [1, 3].into_iter().find(|&n| wins(&game, &root.state, n, false, true));
        match (expected, search.shortest(&root.state, &options).verdict) {
            (Some(expected), MateVerdict::Mate { plies, .. }) => {
                assert_eq!(expected, plies);
                won += 1;
            }
            (expected, verdict) => {
                assert_eq!((None, MateVerdict::NoMate), (expected, verdict));
                lost += 1;
            }
        }
    }
    assert!(won > 10 && lost > 1_000, "{won} won, {lost} lost");
}

#[test]
fn threads_change_no_verdict() {
    let (game, rules) = (minishogi(), MateRules::of(&MINISHOGI));
    // The smaller table is so small that threads keep replacing each other's entries.
    let searches = [1 << 14, 1 << 20].map(|memory| MateSearch::new(&rules, memory));
    let alone = MateSearch::new(&rules, 1 << 22);
    let (mut mates, mut open) = (0, 0);
    for (at, root) in positions(&game, 200, 5).into_iter().enumerate() {
        let one = alone.search(&root.state, &MateOptions::default()).verdict;
        let options = MateOptions { threads: 4, ..MateOptions::default() };
        let four = searches[at % 2].search(&root.state, &options).verdict;
        match (one, four) {
            (MateVerdict::Mate { .. }, MateVerdict::Mate { plies, .. }) => {
                let line = alone.line(&root.state, &options, plies, 0);
                // The longest defence against a win of a long proof may not be known at the limit.
                let length = match line.missing_plies {
                    0 => replay(&game, &root.state, &options, &line),
                    missing => line.actions.len() as u32 + missing,
                };
                assert!(length <= plies);
                mates += 1;
            }
            (_, MateVerdict::Open) => open += 1,
            (one, four) => assert_eq!(one, four),
        }
    }
    // The small table, of 560 entries, may not suffice within the limit.
    assert!(mates > 15 && open < 5, "{mates} mates, {open} open");
}

#[test]
fn limits_end_a_search() {
    let (game, rules) = (minishogi(), MateRules::of(&MINISHOGI));
    let start = game.start().state;
    let search = MateSearch::new(&rules, 1 << 20);
    let stop = std::sync::atomic::AtomicBool::new(true);
    let now = Some(std::time::Instant::now());
    let full = MateOptions { checks_only: false, nodes: u64::MAX, ..MateOptions::default() };
    for options in [
        MateOptions { nodes: 1_000, ..full },
        MateOptions { deadline: now, ..full },
        MateOptions { stop: Some(&stop), ..full },
    ] {
        let found = search.search(&start, &options);
        assert_eq!(found.verdict, MateVerdict::Open);
        assert!(found.nodes <= 1_000);
    }
}

#[test]
fn fates_of_moves_are_those_of_plain_recursion() {
    let (game, rules) = (minishogi(), MateRules::of(&MINISHOGI));
    let (mut won, mut lost) = (0, 0);
    for root in late_positions(&game, 150) {
        let actions = game.actions(&root.state);
        let fates = fates(&rules, &game, &root.state, &actions, 20_000);
        let has_mate = wins(&game, &root.state, 3, true, true);
        assert!(!has_mate || fates.iter().any(|fate| matches!(fate, Fate::Wins(..=3))));
        let is_won = fates.iter().any(|fate| matches!(fate, Fate::Wins(_)));
        for (&action, fate) in actions.iter().zip(&fates) {
            let after = game.play(&root.state, action);
            match *fate {
                Fate::Wins(plies) if plies <= 3 => {
                    assert!(wins(&game, &after, plies - 1, false, false));
                    won += 1;
                }
                Fate::Loses(plies) if plies <= 4 => {
                    assert!(wins(&game, &after, plies - 1, true, true));
                    lost += 1;
                }
                Fate::Open if !is_won => assert!(!wins(&game, &after, 1, true, true)),
                _ => {}
            }
        }
    }
    assert!(won > 5 && lost > 50, "{won} won, {lost} lost");
}
