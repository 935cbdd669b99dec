//! Conformance checks for games, run on random games.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;

use super::{
    Empties, End, GAMMA, Game, Mobility, Orientations, Position, Score, Side, Symmetry, mix,
};

/// Number of random games, and of plies after which they are cut off.
const GAMES: usize = 40;
const PLIES: u32 = 80;

/// Limits of the breadth-first pass from the start: positions of one ply, and of all plies together.
const WIDEST_PLY: usize = 20_000;
const MOST_POSITIONS: usize = 100_000;

/// Checks that a game satisfies the invariants that the rest of the crate relies on; for tests of a new game.
///
/// Checks the states of random games, the same on every run, and all positions of the first plies.
/// Capabilities that a game lacks are skipped.
/// * Moves ascend, have distinct names, and exist exactly while there is no result.
/// * Keys unpack to their states, are distinct, and order states as tables store them.
/// * Symmetries form a group, commute with moves, and change neither layers nor results; folded states with
///   their orientations stand for exactly the reachable positions.
/// * Layers never decrease, and only passes keep them.
/// * Scores are within bounds, and their sign is the result.
/// * A pass leads to the [swapped](Game::swapped) state; swapping twice changes nothing; in layered games no
///   pass follows a pass.
/// * Notation, planes and squares determine the state, and invalid planes are rejected.
/// * A drawing covers the whole board, and a move leaves and reaches the squares it names.
/// * Ranks number states without collisions; moves between ranks agree with those between states, and
///   predecessors are their inverse.
///
/// # Panics
///
/// If a check fails, with the failure and the state concerned.
pub fn conform<G: Game>(game: &G) {
    names_conform(game);
    let mut seed = 0;
    let (mut states, mut in_order) = (HashSet::new(), Vec::new());
    for _ in 0..GAMES {
        let line = chance_game(game, &mut seed);
        in_order.extend(line.into_iter().filter(|&state| states.insert(state)));
    }
    assert!(in_order.iter().any(|state| !game.is_terminal(state)), "the game is over at its start");
    for state in &in_order {
        moves_conform(game, state);
        position_keys_conform(game, state);
        results_conform(game, state);
        symmetries_conform(game, state);
        layers_conform(game, state);
        swapping_conforms(game, state);
        notation_conforms(game, state);
        planes_conform(game, state);
        drawing_conforms(game, state);
    }
    keys_conform(game, &states);
    ranks_conform(game, &states);
    orientations_conform(game);
}

fn names_conform<G: Game>(game: &G) {
    let name = game.name();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    assert!(
        !name.is_empty() && name.chars().all(fits),
        "invalid name `{name}`: expected letters, digits and hyphens"
    );
    assert_ne!(
        game.side_name(Side::First),
        game.side_name(Side::Second),
        "both sides share a name"
    );
    for fold in [false, true] {
        let Some(other) = game.with_folding(fold) else { continue };
        assert_eq!((other.name(), other.start()), (name.clone(), game.start()), "folded: {fold}");
        assert_eq!(other.group().order() > 1, fold, "the symmetries of the game folded: {fold}");
    }
}

/// Plays a random game from the start to its end or for [`PLIES`] plies, and returns its states.
fn chance_game<G: Game>(game: &G, seed: &mut u64) -> Vec<G::State> {
    let mut states = vec![game.start().state];
    for _ in 0..PLIES {
        let state = states[states.len() - 1];
        let actions = game.actions(&state);
        if actions.is_empty() {
            break;
        }
        let chosen = mix(*seed) % actions.len() as u64;
        *seed = seed.wrapping_add(GAMMA);
        states.push(game.play(&state, actions[chosen as usize]));
    }
    states
}

fn moves_conform<G: Game>(game: &G, state: &G::State) {
    let actions = game.actions(state);
    assert!(actions.is_sorted_by(|a, b| a < b), "{actions:?} of {state:?} do not ascend");
    let only_a_pass = actions.len() == 1 && game.is_pass(actions[0]);
    let mobility = match actions.len() {
        0 => Mobility::Over,
        _ if only_a_pass => Mobility::Pass,
        n => Mobility::Moves(n as u32),
    };
    assert_eq!(game.mobility(state), mobility, "mobility of {state:?}");
    assert_eq!(game.is_terminal(state), mobility == Mobility::Over, "is_terminal of {state:?}");
    assert_eq!(game.must_pass(state), only_a_pass, "must_pass of {state:?}");
    for side in Side::ALL {
        let names: HashSet<_> = actions.iter().map(|&a| game.action_name(side, a)).collect();
        assert_eq!(names.len(), actions.len(), "two moves share a name in {state:?}");
    }

    let mut visited = Vec::new();
    game.moves(state, |action, after| {
        visited.push(action);
        assert_eq!(game.play(state, action), after, "{action:?} of {state:?}");
        assert!((action.0 as usize) < game.action_count(), "{action:?} of {state:?} is too high");
        assert_eq!(game.state(game.key(&after)), Some(after), "{action:?} of {state:?}");
        if game.is_pass(action) {
            assert!(only_a_pass, "a pass besides other moves in {state:?}");
            assert_eq!(Some(after), game.swapped(state), "a pass in {state:?}");
            let ends = !game.is_layered() || !game.must_pass(&after);
            assert!(ends, "a pass in {state:?} is answered by a pass: infinite play");
        }
    });
    assert_eq!(visited, actions, "the successors of {state:?}");
}

fn results_conform<G: Game>(game: &G, state: &G::State) {
    let (result, end) = (game.result(state), game.end(state));
    assert_eq!(result.is_some(), game.actions(state).is_empty(), "the result of {state:?}");
    assert_eq!(end.map(|end| end.outcome), result, "the end of {state:?}");
    for side in Side::ALL {
        let words = game.end_in_words(&Position { state: *state, side });
        assert!(words.is_none() || result.is_some(), "the end of {state:?} in words");
    }
    let Some(result) = result else { return };
    // Without scores a score is the outcome.
    let most = game.max_score().unwrap_or(Score(1));
    for empties in [Empties::Uncounted, Empties::ToWinner] {
        let score = game.score(state, empties);
        assert_eq!(score.outcome(), result, "the score {score} of {state:?}");
        assert!(score.max(-score) <= most, "the score {score} of {state:?} is above {most}");
    }
}

fn symmetries_conform<G: Game>(game: &G, state: &G::State) {
    let canonical = game.canonical(state);
    assert_ne!(canonical.ties, 0, "no symmetry brings {state:?} to its canonical form");
    for g in 0..game.group().order() as Symmetry {
        let image = game.transform(state, g);
        let back = game.transform(&image, game.group().inverse(g));
        assert_eq!(back, *state, "symmetry {g} and its inverse");
        assert_eq!(game.canonical(&image).key, canonical.key, "symmetry {g} of {state:?}");
        let leads_there = game.key(&image) == canonical.key;
        assert!(game.key(&image) >= canonical.key, "symmetry {g} of {state:?} is smaller");
        assert_eq!(canonical.ties >> g & 1 == 1, leads_there, "symmetry {g} of {state:?}");
        for h in 0..game.group().order() as Symmetry {
            let both = game.transform(state, game.group().product(h, g));
            assert_eq!(game.transform(&image, h), both, "{h} after {g} of {state:?}");
        }
        assert_eq!(game.layer(&image), game.layer(state), "symmetry {g} of {state:?}: layer");
        assert_eq!(game.end(&image), game.end(state), "symmetry {g} of {state:?}: end");
        assert_eq!(game.in_check(&image), game.in_check(state), "symmetry {g} of {state:?}: check");

        let mut there = Vec::new();
        for action in game.actions(state) {
            let twin = game.transform_action(action, g);
            there.push(twin);
            assert_eq!(
                game.play(&image, twin),
                game.transform(&game.play(state, action), g),
                "symmetry {g}, {action:?} of {state:?}"
            );
            let back = game.transform_action(twin, game.group().inverse(g));
            assert_eq!(back, action, "symmetry {g} and its inverse");
        }
        there.sort();
        assert_eq!(game.actions(&image), there, "symmetry {g} of {state:?}");
    }
}

fn layers_conform<G: Game>(game: &G, state: &G::State) {
    game.moves(state, |action, after| {
        let (layer, before) = (game.layer(&after), game.layer(state));
        match (game.is_layered(), game.is_pass(action)) {
            (false, _) => assert_eq!((before, layer), (0, 0), "a layer without `layer_unit`"),
            (_, true) => assert_eq!(layer, before, "a pass leaves the layer of {state:?}"),
            (_, false) => {
                assert!(layer > before, "{action:?} of {state:?} leads to no later layer")
            }
        }
    });
}

fn swapping_conforms<G: Game>(game: &G, state: &G::State) {
    let squares = game.squares(state);
    if let Some((mine, theirs)) = squares {
        assert_eq!(mine & theirs, 0, "two pieces on a square of {state:?}");
        assert_eq!(game.of_squares(mine, theirs), Some(*state), "the state of its squares");
    }
    let Some(swapped) = game.swapped(state) else { return };
    assert_eq!(game.swapped(&swapped), Some(*state), "swapped twice");
    assert_eq!(game.material(&swapped), -game.material(state), "material of {state:?}");
    let exchanged = squares.map(|(mine, theirs)| (theirs, mine));
    assert_eq!(game.squares(&swapped), exchanged, "squares of {state:?}");
}

/// Checks that notation is read back, and diagrams too if the game reads the diagram of its start.
fn notation_conforms<G: Game>(game: &G, state: &G::State) {
    let start = game.start();
    let diagram = |position: &Position<G::State>| {
        format!("{}\n{} to move", game.diagram(position), game.side_name(position.side))
    };
    let reads_diagrams = game.parse_position(&diagram(&start), &start).is_ok();
    for side in Side::ALL {
        let position = Position { state: *state, side };
        let mut texts: Vec<String> =
            game.written(&position).into_iter().map(|(_, text)| text).collect();
        texts.push(game.notation(&position));
        texts.extend(reads_diagrams.then(|| diagram(&position)));
        for text in texts {
            assert_eq!(game.parse_position(&text, &start), Ok(position), "{text}");
        }
    }
}

fn drawing_conforms<G: Game>(game: &G, state: &G::State) {
    let (rows, columns) = game.shape();
    for side in Side::ALL {
        let position = Position { state: *state, side };
        let cells = game.drawn(&position).cells;
        if cells.is_empty() {
            continue;
        }
        assert_eq!(cells.len(), rows * columns, "a drawing omits squares: {state:?}");
        for action in game.actions(state) {
            let squares = game.move_squares(side, action);
            let after = game.drawn(&game.advance(&position, action)).cells;
            let holds = |cells: &[String], square: Option<u16>, what: bool| {
                square.is_none_or(|square| {
                    cells.get(usize::from(square)).is_some_and(|c| c.is_empty() != what)
                })
            };
            let fits = holds(&cells, squares.from, true)
                && holds(&after, squares.from, false)
                && holds(&after, squares.to, true)
                && (squares.from.is_some() || holds(&cells, squares.to, false));
            assert!(fits, "{action:?} does not match its squares {squares:?}: {state:?}");
        }
    }
}

/// Checks that planes determine the state and that invalid planes are rejected.
fn planes_conform<G: Game>(game: &G, state: &G::State) {
    let planes = game.plane_kinds();
    if planes.count() == 0 {
        return;
    }
    let (rows, columns) = game.shape();
    let mut numbers = vec![9; planes.count() * rows * columns];
    game.write_planes(state, &mut numbers);
    assert_eq!(game.read_planes(&numbers), Some(*state), "{numbers:?}");
    assert_eq!(planes.names().len(), planes.count(), "names of planes");
    assert_eq!(game.read_planes(&numbers[1..]), None, "one number too few for {state:?}");
    // No square has two pieces, and planes of pieces contain only 0 and 1.
    let taken = numbers.iter().take(rows * columns).position(|&n| n == 1);
    let Some(square) = taken else { return };
    for (plane, number) in [(planes.pieces.len(), 1), (0, 2)] {
        let mut wrong = numbers.clone();
        wrong[plane * rows * columns + square] = number;
        assert_eq!(game.read_planes(&wrong), None, "{wrong:?}");
    }
}

fn position_keys_conform<G: Game>(game: &G, state: &G::State) {
    let keys = Side::ALL.map(|side| game.position_key(&Position { state: *state, side }));
    assert_eq!(keys[0] != keys[1], game.keeps_sides(), "position_key of {state:?}");
    assert_eq!(keys[0], game.canonical(state).key, "position_key of {state:?}");
    for (side, key) in Side::ALL.into_iter().zip(keys) {
        let kept = game
            .position_of(key)
            .unwrap_or_else(|| panic!("invalid key {key:?}: expected that of a position"));
        let kept_side = if game.keeps_sides() { side } else { Side::First };
        assert_eq!(kept.side, kept_side, "the position of {key:?}");
        assert_eq!(game.key(&kept.state), game.canonical(state).key, "{state:?}");
        let mut images = 0..game.group().order() as Symmetry;
        assert!(images.any(|g| game.transform(&kept.state, g) == *state), "{state:?}");
        assert_eq!(game.position_key(&kept), key, "{state:?}");
        assert_eq!(game.state(key), Some(kept.state), "{state:?}");
        assert!(key <= game.facts().most_key(), "{key:#x} has more bits than key_bits");
    }
}

fn keys_conform<G: Game>(game: &G, states: &HashSet<G::State>) {
    let mut keys: Vec<u128> = states.iter().map(|state| game.key(state)).collect();
    keys.sort();
    for pair in keys.windows(2) {
        assert_ne!(pair[0], pair[1], "two states share a key");
    }
    for (key, state) in states.iter().map(|state| (game.key(state), state)) {
        assert_eq!(game.state(key), Some(*state), "the state of {key:?}");
    }
}

fn ranks_conform<G: Game>(game: &G, states: &HashSet<G::State>) {
    let Some(count) = game.rank_count() else { return };
    let mut state_of = HashMap::new();
    for state in states {
        let rank = game.rank(state).unwrap_or_else(|| panic!("no rank: {state:?}"));
        assert!(rank < count, "{rank} of {state:?} is not below {count}");
        for g in 0..game.group().order() as Symmetry {
            assert_eq!(game.rank(&game.transform(state, g)), Some(rank), "{g} of {state:?}");
        }
        let back =
            game.state_of_rank(rank).unwrap_or_else(|| panic!("{rank} of {state:?} has no state"));
        assert_eq!(game.rank(&back), Some(rank), "{state:?}");
        let canonical = game.canonical(state).key;
        assert_eq!(game.canonical(&back).key, canonical, "{state:?} has the rank of {back:?}");
        let other = state_of.insert(rank, canonical).filter(|other| *other != canonical);
        assert_eq!(other, None, "{state:?} shares its rank {rank}");
    }
    state_of.keys().for_each(|&rank| ranked_moves_conform(game, rank));
    if game.is_layered() {
        let mut all: Vec<_> =
            state_of.keys().filter_map(|&rank| Some((rank, game.state_of_rank(rank)?))).collect();
        all.sort_unstable_by_key(|&(rank, _)| rank);
        let layers = all.iter().map(|(_, state)| game.layer(state));
        assert!(layers.is_sorted(), "ranks do not ascend with layers");
    }
    assert_eq!(game.state_of_rank(count), None, "a rank too high has a state");
    assert_eq!(game.state_of_rank(u32::MAX), None, "a rank too high has a state");
}

/// Checks that moves between ranks agree with those between states, and that predecessors are their inverse.
fn ranked_moves_conform<G: Game>(game: &G, rank: u32) {
    let moves_of = |rank: u32| {
        let state = game.state_of_rank(rank).unwrap_or_else(|| panic!("{rank} has no state"));
        let (mut moves, mut ends) = (Vec::new(), Vec::new());
        game.moves(&state, |_, next| {
            moves.push(game.rank(&next));
            ends.push((game.rank(&next), place(game.end(&next))));
        });
        ends.sort();
        (moves, ends, game.end(&state))
    };
    let (next, mut plain, end) = moves_of(rank);
    if let Some(moves) = game.ranked_moves() {
        let (mut after, mut ends) = (Vec::new(), Vec::new());
        moves.successors(rank, &mut after);
        let mut found: Vec<_> = after.iter().map(|&(rank, end)| (Some(rank), place(end))).collect();
        found.sort();
        assert_eq!(found, plain, "the moves of rank {rank}");
        let given = moves.ends(rank, &mut ends);
        assert_eq!(given, end.filter(|_| plain.is_empty()), "the end of rank {rank}");
        let mut found: Vec<_> = ends.into_iter().map(place).collect();
        found.sort();
        let sorted = |plain: &[(_, _)]| {
            let mut ends: Vec<_> = plain.iter().map(|&(_, end)| end).collect();
            ends.sort();
            ends
        };
        let all = sorted(&plain);
        plain.dedup();
        assert!(found == all || found == sorted(&plain), "the ends after rank {rank}");
    }
    if game.is_layered() {
        return;
    }
    let before_of = |rank: u32| {
        let mut before = Vec::new();
        game.predecessors(rank, &mut before);
        before
    };
    for next in next.into_iter().flatten() {
        assert!(
            before_of(next).contains(&rank),
            "rank {rank} is missing among the predecessors of {next}"
        );
    }
    let before = before_of(rank);
    let distinct: HashSet<u32> = before.iter().copied().collect();
    assert_eq!(distinct.len(), before.len(), "duplicate predecessor of rank {rank}");
    for earlier in before {
        let (next, _, end) = moves_of(earlier);
        assert!(
            end.is_some() || next.contains(&Some(rank)),
            "rank {earlier} does not lead to {rank}"
        );
    }
}

/// Makes an end comparable.
fn place(end: Option<End>) -> Option<(i8, u16)> {
    end.map(|end| (end.outcome.value(), end.plies))
}

type Folded = HashMap<u128, Orientations>;

/// Compares folded states and their orientations with all positions, ply by ply from the start.
fn orientations_conform<G: Game>(game: &G) {
    let start = game.start();
    let canonical = game.canonical(&start.state);
    let orientations = game.group().root_orientations(start.side, canonical.ties);
    let mut folded = HashMap::from([(canonical.key, orientations)]);
    let mut actual = HashSet::from([start]);
    let (mut all_folded, mut all_actual) = (Folded::new(), HashSet::new());
    let mut visited = 0;
    loop {
        assert_same(&unfolded(game, &folded), &actual);
        let known = all_actual.len();
        all_actual.extend(actual.iter().copied());
        for (&key, more) in &folded {
            all_folded.entry(key).or_default().0 |= more.0;
        }
        visited += actual.len();
        let nothing_new = all_actual.len() == known;
        if nothing_new || actual.len() > WIDEST_PLY || visited > MOST_POSITIONS {
            break;
        }
        let next = |position: &Position<G::State>| {
            let actions = game.actions(&position.state).into_iter();
            actions.map(|action| game.advance(position, action)).collect::<Vec<_>>()
        };
        actual = actual.iter().flat_map(next).collect();
        folded = folded_step(game, &folded);
    }
    // Passes may bring both sides to move in one state, even in one orientation.
    assert_same(&unfolded(game, &all_folded), &all_actual);
}

fn assert_same<P: Eq + std::hash::Hash + Debug>(folded: &HashSet<P>, actual: &HashSet<P>) {
    let wrong = folded.symmetric_difference(actual).next();
    assert!(
        wrong.is_none(),
        "{wrong:?} is reachable or represented by a folded state, but not both"
    );
}

/// Returns the positions that folded states with their orientations stand for.
fn unfolded<G: Game>(game: &G, folded: &Folded) -> HashSet<Position<G::State>> {
    let mut positions = HashSet::new();
    for (&key, &orientations) in folded {
        let state = game
            .state(key)
            .unwrap_or_else(|| panic!("invalid key {key:?}: expected that of a state"));
        for (g, side) in orientations.iter(game.group().order()) {
            let position = Position { state: game.transform(&state, g), side };
            assert!(positions.insert(position), "{position:?} is counted twice");
            let smaller = (0..g).find(|&h| game.transform(&state, h) == position.state);
            assert_eq!(smaller, None, "{position:?} has the redundant orientation {g}");
        }
    }
    positions
}

fn folded_step<G: Game>(game: &G, folded: &Folded) -> Folded {
    let mut next = Folded::new();
    for (&key, &from) in folded {
        let state = game
            .state(key)
            .unwrap_or_else(|| panic!("invalid key {key:?}: expected that of a state"));
        game.moves(&state, |_, after| {
            let canonical = game.canonical(&after);
            let passed_on = game.group().successor_orientations(from, canonical.ties);
            next.entry(canonical.key).or_default().0 |= passed_on.0;
        });
    }
    next
}
