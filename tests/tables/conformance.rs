//! What every game must keep to: the invariants of the page of `yomikiri::game`.
//!
//! A game is added by one line of a list at the end.

use std::collections::{HashMap, HashSet};

use crate::common::Random;
use yomikiri::game::othello::Othello;
use yomikiri::game::shogi::{ANIMAL_SHOGI, MINISHOGI, SMALL_ANIMAL_SHOGI, Shogi};
use yomikiri::game::{Game, Orientations, Position, Side, StateKey, Symmetry, WideKey};

/// A key as the words that a table stores.
fn words<K: StateKey>(key: &K) -> Vec<u64> {
    let bytes = bytemuck::bytes_of(key).chunks_exact(8);
    bytes.map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect()
}

/// Checks everything that concerns one state at a time, and the order of the keys of all of them.
fn conforms<G: Game>(game: &G, states: &HashSet<G::State>) {
    for state in states {
        moves_conform(game, state);
        symmetries_conform(game, state);
        swapping_conforms(game, state);
        notation_conforms(game, state);
        planes_conform(game, state);
    }
    keys_conform(game, states);
}

fn moves_conform<G: Game>(game: &G, state: &G::State) {
    let actions = game.actions(state);
    assert!(actions.is_sorted_by(|a, b| a < b), "{actions:?} of {state:?}");
    assert_eq!(game.is_terminal(state), actions.is_empty(), "{state:?}");
    let only_a_pass = actions.len() == 1 && game.is_pass(actions[0]);
    assert_eq!(game.must_pass(state), only_a_pass, "{state:?}");
    for side in Side::ALL {
        let names: HashSet<_> = actions.iter().map(|&a| game.action_name(side, a)).collect();
        assert_eq!(names.len(), actions.len(), "two moves share a name in {state:?}");
    }

    let mut visited = Vec::new();
    game.for_each_successor(state, |action, after| {
        visited.push(action);
        assert_eq!(game.play(state, action), after, "{action:?} of {state:?}");
        assert!((action.0 as usize) < game.action_count(), "{action:?} of {state:?}");
        assert_eq!(game.state(game.key(&after)), Some(after), "{action:?} of {state:?}");
        if game.is_pass(action) {
            assert!(only_a_pass, "a pass besides other moves in {state:?}");
            assert_eq!(after, game.swapped(state));
        }
    });
    assert_eq!(visited, actions, "{state:?}");
}

fn symmetries_conform<G: Game>(game: &G, state: &G::State) {
    let canonical = game.canonical(state);
    assert_ne!(canonical.ties, 0);
    for g in 0..game.group().order() as Symmetry {
        let image = game.transform(state, g);
        assert_eq!(game.transform(&image, game.group().inverse(g)), *state, "symmetry {g}");
        assert_eq!(game.canonical(&image).key, canonical.key, "symmetry {g} of {state:?}");
        let leads_there = game.key(&image) == canonical.key;
        assert!(game.key(&image) >= canonical.key, "symmetry {g} of {state:?} is smaller");
        assert_eq!(canonical.ties >> g & 1 == 1, leads_there, "symmetry {g} of {state:?}");
        for h in 0..game.group().order() as Symmetry {
            let both = game.transform(state, game.group().product(h, g));
            assert_eq!(game.transform(&image, h), both, "{h} after {g} of {state:?}");
        }

        let mut there = Vec::new();
        for action in game.actions(state) {
            let twin = game.transform_action(action, g);
            there.push(twin);
            assert_eq!(
                game.play(&image, twin),
                game.transform(&game.play(state, action), g),
                "symmetry {g}, {action:?} of {state:?}"
            );
            assert_eq!(game.transform_action(twin, game.group().inverse(g)), action);
        }
        there.sort();
        assert_eq!(game.actions(&image), there, "symmetry {g} of {state:?}");
    }
}

fn swapping_conforms<G: Game>(game: &G, state: &G::State) {
    let swapped = game.swapped(state);
    assert_eq!(game.swapped(&swapped), *state);
    assert_eq!(game.material(&swapped), -game.material(state), "{state:?}");
}

/// What a layered game must keep to besides, in one state.
fn layers_conform<G: Game>(game: &G, state: &G::State) {
    game.for_each_successor(state, |action, after| {
        if game.is_pass(action) {
            assert_eq!(game.layer(&after), game.layer(state), "a pass keeps the layer");
        } else {
            assert!(game.layer(&after) > game.layer(state), "{action:?} of {state:?}");
        }
        let (left, before) = (game.max_plies(&after), game.max_plies(state));
        assert!(left < before, "max_plies {before} then {left} by {action:?} of {state:?}");
    });
    for g in 0..game.group().order() as Symmetry {
        assert_eq!(game.layer(&game.transform(state, g)), game.layer(state));
    }
    let (mine, theirs) = game.squares(state);
    assert_eq!(mine & theirs, 0, "{state:?}");
    assert_eq!(game.squares(&game.swapped(state)), (theirs, mine), "{state:?}");
}

fn notation_conforms<G: Game>(game: &G, state: &G::State) {
    for side in Side::ALL {
        let position = Position { state: *state, side };
        let text = game.notation(&position);
        assert_eq!(game.parse_position(&text, &game.start()), Ok(position), "{text}");
        let after_diagram =
            format!("{}\n{} to move", game.diagram(&position), game.side_name(side));
        assert_eq!(game.parse_position(&after_diagram, &game.start()), Ok(position));
    }
}

/// Planes tell the state, and planes that are none are refused.
fn planes_conform<G: Game>(game: &G, state: &G::State) {
    let planes = game.planes();
    let (rows, columns) = game.spec().shape();
    let mut numbers = vec![9; planes.count() * rows * columns];
    game.write_planes(state, &mut numbers);
    assert_eq!(game.read_planes(&numbers), Some(*state), "{numbers:?}");
    assert_eq!(planes.names().len(), planes.count());
    assert_eq!(game.read_planes(&numbers[1..]), None, "one number too few for {state:?}");
    // Nothing stands twice on one square, or is there but in part.
    let taken = numbers.iter().take(rows * columns).position(|&n| n == 1);
    let Some(square) = taken else { return };
    for (plane, number) in [(planes.pieces.len(), 1), (0, 2)] {
        let mut wrong = numbers.clone();
        wrong[plane * rows * columns + square] = number;
        assert_eq!(game.read_planes(&wrong), None, "{wrong:?}");
    }
}

fn keys_conform<G: Game>(game: &G, states: &HashSet<G::State>) {
    let mut keys: Vec<G::Key> = states.iter().map(|state| game.key(state)).collect();
    keys.sort();
    for pair in keys.windows(2) {
        assert_ne!(pair[0], pair[1], "two states share a key");
        assert!(words(&pair[0]) < words(&pair[1]), "{pair:?} are stored in another order");
        for bits in [1, 7, 16, 24] {
            let prefix = |key: G::Key| key.prefix(game.key_bits(), bits);
            assert!(prefix(pair[0]) <= prefix(pair[1]), "{pair:?} with {bits} bits");
            assert!(prefix(pair[1]) < 1 << bits, "{pair:?} with {bits} bits");
        }
    }
    for (key, state) in states.iter().map(|state| (game.key(state), state)) {
        assert_eq!(game.state(key), Some(*state));
        assert_eq!(words(&key).len(), G::Key::WORDS);
    }
}

/// The states of a game played by chance, from the start to the end or for so many plies.
fn chance_game<G: Game>(game: &G, random: &mut Random, most_plies: u32) -> Vec<G::State> {
    let mut states = vec![game.start().state];
    for _ in 0..most_plies {
        let state = states[states.len() - 1];
        let actions = game.actions(&state);
        if actions.is_empty() {
            break;
        }
        states.push(game.play(&state, actions[random.below(actions.len())]));
    }
    states
}

/// Everything that a layered game must keep to, its orientations being enumerated to `plies`.
fn layered_conforms<G: Game>(game: &G, plies: u32) {
    let mut random = Random(0);
    let bound = game.max_plies(&game.start().state);
    let games: Vec<_> = (0..40).map(|_| chance_game(game, &mut random, bound)).collect();
    let open = games.iter().find(|states| !game.is_terminal(&states[states.len() - 1]));
    assert_eq!(open, None, "a game of more plies than max_plies says, {bound}");
    let states: HashSet<G::State> = games.concat().into_iter().collect();
    conforms(game, &states);
    states.iter().for_each(|state| layers_conform(game, state));
    orientations_conform(game, plies);
}

type Folded<K> = HashMap<K, Orientations>;

/// The actual positions that folded states with their orientations stand for.
fn unfolded<G: Game>(game: &G, folded: &Folded<G::Key>) -> HashSet<Position<G::State>> {
    let mut positions = HashSet::new();
    for (&key, &orientations) in folded {
        let state = game.state(key).unwrap();
        for (g, side) in orientations.iter(game.group().order()) {
            let position = Position { state: game.transform(&state, g), side };
            assert!(positions.insert(position), "{position:?} is counted twice");
            let smaller = (0..g).find(|&h| game.transform(&state, h) == position.state);
            assert_eq!(smaller, None, "{position:?} is kept as {g}");
        }
    }
    positions
}

fn folded_start<G: Game>(game: &G) -> Folded<G::Key> {
    let start = game.start();
    let canonical = game.canonical(&start.state);
    let orientations = game.group().root_orientations(start.side, canonical.ties);
    HashMap::from([(canonical.key, orientations)])
}

/// Ply by ply from the start: all actual positions, and the folded states with orientations.
fn orientations_conform<G: Game>(game: &G, plies: u32) {
    let mut actual = HashSet::from([game.start()]);
    let mut folded = folded_start(game);
    for ply in 0..=plies {
        assert!(unfolded(game, &folded) == actual, "{} at ply {ply}", game.spec());
        let before = std::mem::take(&mut actual);
        for position in &before {
            for action in game.actions(&position.state) {
                actual.insert(game.advance(position, action));
            }
        }
        folded = folded_step(game, &folded);
    }
}

fn folded_step<G: Game>(game: &G, folded: &Folded<G::Key>) -> Folded<G::Key> {
    let mut next = Folded::new();
    for (&key, &from) in folded {
        game.for_each_successor(&game.state(key).unwrap(), |_, after| {
            let canonical = game.canonical(&after);
            let passed_on = game.group().successor_orientations(from, canonical.ties);
            next.entry(canonical.key).or_default().0 |= passed_on.0;
        });
    }
    next
}

/// The whole game: passes bring both sides to the move of one state, also of one orientation.
fn orientations_conform_to_the_end<G: Game>(game: &G) {
    let mut actual = HashSet::from([game.start()]);
    let mut open = vec![game.start()];
    while let Some(position) = open.pop() {
        for action in game.actions(&position.state) {
            let after = game.advance(&position, action);
            if actual.insert(after) {
                open.push(after);
            }
        }
    }
    let mut all = folded_start(game);
    let mut grown = all.clone();
    while !grown.is_empty() {
        let mut next = Folded::new();
        for (key, more) in folded_step(game, &grown) {
            let known = all.entry(key).or_default();
            if known.0 | more.0 != known.0 {
                known.0 |= more.0;
                next.insert(key, *known);
            }
        }
        grown = next;
    }
    assert_eq!(all.values().map(|o| o.count() as usize).sum::<usize>(), actual.len());
    assert!(unfolded(game, &all) == actual);
    let sides = |o: &Orientations| Side::ALL.map(|side| o.with(side, game.group().order()) != 0);
    assert!(all.values().any(|o| sides(o) == [true, true]), "no state has both sides to move");
}

#[test]
fn orientations_of_the_whole_4x4_game_are_the_actual_positions() {
    orientations_conform_to_the_end(&Othello::<u64>::new(4, 4, true));
    orientations_conform_to_the_end(&Othello::<u64>::new(4, 4, false));
}

/// One test a layered game: name, rules, and the plies to which its orientations are enumerated.
macro_rules! layered_games {
    ($($name:ident: $game:expr, $plies:expr;)*) => {$(
        #[test]
        fn $name() {
            layered_conforms(&$game, $plies);
        }
    )*};
}

layered_games! {
    othello_4x4: Othello::<u64>::new(4, 4, true), 8;
    othello_4x4_unfolded: Othello::<u64>::new(4, 4, false), 6;
    othello_4x4_with_a_wide_key: Othello::<WideKey>::new(4, 4, true), 6;
    othello_4x5: Othello::<u64>::new(4, 5, true), 7;
    othello_5x4: Othello::<u64>::new(5, 4, true), 7;
    othello_5x5: Othello::<u64>::new(5, 5, true), 6;
    othello_6x6: Othello::<WideKey>::new(6, 6, true), 6;
    othello_7x5: Othello::<WideKey>::new(7, 5, true), 6;
    othello_8x8: Othello::<WideKey>::new(8, 8, true), 6;
}

/// Whether a cyclic game's moves can be taken back.
#[derive(Clone, Copy, PartialEq)]
enum Predecessors {
    /// They are given, for every state.
    Given,
    /// They are not meant to be asked for.
    NotMeant,
}

/// Everything that a cyclic game must keep to, on the states of games that are broken off after
/// `plies`.
fn cyclic_conforms<G: Game>(game: &G, plies: u32, predecessors: Predecessors) {
    let mut random = Random(0);
    let games: Vec<_> = (0..40).map(|_| chance_game(game, &mut random, plies)).collect();
    let states: HashSet<G::State> = games.concat().into_iter().collect();
    assert!(states.iter().any(|state| !game.is_terminal(state)));
    conforms(game, &states);
    for state in &states {
        assert_eq!(game.end(state).is_some(), game.actions(state).is_empty(), "{state:?}");
        let image = |g| game.transform(state, g);
        for g in 0..game.group().order() as Symmetry {
            assert_eq!(game.end(&image(g)), game.end(state), "symmetry {g} of {state:?}");
            assert_eq!(game.in_check(&image(g)), game.in_check(state), "symmetry {g} of {state:?}");
        }
        position_keys_conform(game, state);
        if predecessors == Predecessors::Given {
            predecessors_conform(game, state);
        }
    }
    if game.rank_count().is_some() {
        ranks_conform(game, &states);
    } else {
        for state in &states {
            assert_eq!((game.rank(state), game.unrank(0)), (None, None));
        }
    }
}

fn position_keys_conform<G: Game>(game: &G, state: &G::State) {
    let keys = Side::ALL.map(|side| game.position_key(&Position { state: *state, side }));
    assert_eq!(keys[0] != keys[1], game.keeps_sides(), "{state:?}");
    assert_eq!(keys[0], game.canonical(state).key, "{state:?}");
    for (side, key) in Side::ALL.into_iter().zip(keys) {
        let kept = game.position_of(key).unwrap();
        assert_eq!(kept.side, if game.keeps_sides() { side } else { Side::First });
        assert_eq!(game.key(&kept.state), game.canonical(state).key, "{state:?}");
        let images = 0..game.group().order() as Symmetry;
        assert!(images.into_iter().any(|g| game.transform(&kept.state, g) == *state), "{state:?}");
        assert_eq!(game.position_key(&kept), key, "{state:?}");
        assert_eq!(game.state(key), Some(kept.state), "{state:?}");
        assert!(key.prefix(game.key_bits(), 24) < 1 << 24, "{key:?}");
    }
}

/// Every move can be taken back, and every move taken back is a move.
fn predecessors_conform<G: Game>(game: &G, state: &G::State) {
    let before = |after: &G::State| {
        let mut before = Vec::new();
        game.for_each_predecessor(after, |state| before.push(state));
        before
    };
    game.for_each_successor(state, |action, after| {
        assert!(before(&after).contains(state), "{action:?} of {state:?} is not taken back");
    });
    let all = before(state);
    let distinct: HashSet<G::State> = all.iter().copied().collect();
    assert_eq!(distinct.len(), all.len(), "a predecessor of {state:?} is given twice");
    for earlier in all {
        let mut leads_here = game.is_terminal(&earlier);
        game.for_each_successor(&earlier, |_, after| leads_here |= after == *state);
        assert!(leads_here, "{earlier:?} does not lead to {state:?}");
    }
}

fn ranks_conform<G: Game>(game: &G, states: &HashSet<G::State>) {
    let count = game.rank_count().unwrap();
    let mut state_of = HashMap::new();
    for state in states {
        let rank = game.rank(state).unwrap_or_else(|| panic!("no rank: {state:?}"));
        assert!(rank < count, "{rank} of {state:?}");
        for g in 0..game.group().order() as Symmetry {
            assert_eq!(game.rank(&game.transform(state, g)), Some(rank), "{g} of {state:?}");
        }
        let back = game.unrank(rank).unwrap();
        assert_eq!(game.rank(&back), Some(rank), "{state:?}");
        let canonical = game.canonical(state).key;
        assert_eq!(game.canonical(&back).key, canonical, "{state:?} has the rank of {back:?}");
        let other = state_of.insert(rank, canonical).filter(|other| *other != canonical);
        assert_eq!(other, None, "{state:?} shares its rank {rank}");
    }
    assert_eq!(game.unrank(count), None);
    assert_eq!(game.unrank(u32::MAX), None);
}

/// The ranks of a whole game: one for a state, save where a state and its image have two.
#[test]
fn every_rank_of_animal_shogi_3x3_is_that_of_its_state() {
    let game = Shogi::<u64>::new(&SMALL_ANIMAL_SHOGI, true);
    let count = game.rank_count().unwrap();
    let mut spare = 0;
    for rank in 0..count {
        let state = game.unrank(rank).unwrap();
        let own = game.rank(&state).unwrap();
        if own != rank {
            assert!(own < rank, "{rank} has the state of {own}");
            assert_eq!(game.unrank(own), Some(game.transform(&state, 1)), "{rank}");
            spare += 1;
        }
    }
    assert!(spare > 0 && spare < count / 10, "{spare} of {count} ranks are spare");
}

/// One test a cyclic game: name, rules, the plies of a game, and whether moves are taken back.
macro_rules! cyclic_games {
    ($($name:ident: $game:expr, $plies:expr, $predecessors:ident;)*) => {$(
        #[test]
        fn $name() {
            cyclic_conforms(&$game, $plies, Predecessors::$predecessors);
        }
    )*};
}

cyclic_games! {
    minishogi: Shogi::<WideKey>::new(&MINISHOGI, true), 80, NotMeant;
    minishogi_unfolded: Shogi::<WideKey>::new(&MINISHOGI, false), 80, NotMeant;
    animal_shogi: Shogi::<u64>::new(&ANIMAL_SHOGI, true), 60, Given;
    animal_shogi_unfolded: Shogi::<u64>::new(&ANIMAL_SHOGI, false), 60, Given;
    animal_shogi_with_a_wide_key: Shogi::<WideKey>::new(&ANIMAL_SHOGI, true), 60, Given;
    animal_shogi_3x3: Shogi::<u64>::new(&SMALL_ANIMAL_SHOGI, true), 60, Given;
    animal_shogi_3x3_unfolded: Shogi::<u64>::new(&SMALL_ANIMAL_SHOGI, false), 60, Given;
}
