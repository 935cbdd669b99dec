//! Conformance checks for games, run on random games.

mod folded;
mod nonconformity;
mod ranks;

use std::collections::{HashMap, HashSet};

use folded::orientations_conform;
pub use nonconformity::Nonconformity;
use nonconformity::{Checked, caught, promise};
use ranks::{rank_conforms, ranks_conform};

use super::default_notation::other_mover;
use super::symmetry::map_squares;
use super::{Action, Empties, GAMMA, Game, Mobility, Position, Score, Side, Symmetry, mix};

/// Number of random games, and of plies after which they are cut off.
const GAMES: usize = 40;
const PLIES: usize = 80;

/// Check of one state.
type Check<G> = fn(&G, &<G as Game>::State) -> Checked;

/// Checks that a game satisfies the invariants that the rest of the crate relies on; for tests of a new game.
///
/// Checks the states of random games, the same on every run, and all positions of the first plies.
/// Capabilities that a game lacks are skipped.
/// * Moves ascend and have distinct names; there are some until there is a result.
/// * Sides are exchanged after a move, as far as [squares](Game::squares) show it; see below.
/// * Keys unpack to their states, are distinct, and have no more bits than the game says.
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
/// A state alone does not show whether `moves` exchanged the sides. Squares do: if the mover keeps squares after some
/// move, and no move of any visited state leaves a single square of the mover to the opponent, then `moves` forgets to
/// exchange. Only a game whose pieces have no owner could do so rightly, and it has no use for squares. The check
/// overlooks games without squares, and games that forget to exchange after some of their moves: play such a game, and
/// compare its [perft](super::perft) with known counts.
///
/// # Errors
///
/// Returns the first broken promise in order of play, the same on every run. A panic in the game's code is one too,
/// unless panics abort the program.
pub fn conform<G: Game>(game: &G) -> Result<(), Nonconformity> {
    caught("name", || names_conform(game))?;
    let positions = caught("moves", || Ok(visited(game)))?;
    let mut known = HashSet::new();
    let states = positions.iter().map(|position| position.state);
    let states: Vec<G::State> = states.filter(|&state| known.insert(state)).collect();
    caught("moves", || sides_conform(game, &states))?;
    caught("key", || keys_differ(game, &states))?;
    for state in &states {
        caught("transform", || images_conform(game, state)).map_err(|fault| fault.at(state))?;
    }
    let checks: [(&str, Check<G>); 10] = [
        ("key", key_conforms),
        ("moves", moves_conform),
        ("result", results_conform),
        ("transform", symmetries_conform),
        ("layer", layers_conform),
        ("swapped", swapping_conforms),
        ("drawn", drawing_conforms),
        ("written", notation_conforms),
        ("write_planes", planes_conform),
        ("rank", rank_conforms),
    ];
    for state in &states {
        for (method, check) in checks {
            caught(method, || check(game, state)).map_err(|fault| fault.at(state))?;
        }
    }
    for position in &positions {
        caught("tag", || position_keys_conform(game, position))
            .map_err(|fault| fault.at(&position.state))?;
    }
    for position in &positions {
        caught("swapped", || swapped_sides_conform(game, position))
            .map_err(|fault| fault.at(&position.state))?;
    }
    caught("rank", || ranks_conform(game, &states))?;
    caught("canonical", || orientations_conform(game))
}

/// Checks that a game [conforms](conform); for tests.
///
/// # Panics
///
/// Panics with the broken promise and what to change.
#[track_caller]
pub fn assert_conforms<G: Game>(game: &G) {
    if let Err(fault) = conform(game) {
        panic!("{fault:#}");
    }
}

fn names_conform<G: Game>(game: &G) -> Checked {
    let (name, start, bits) = (game.name(), game.start(), game.facts().key_bits);
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    promise("name", "a name consists of letters, digits and hyphens")
        .change("rename the game: its tables are files of this name")
        .holds(!name.is_empty() && name.chars().all(fits), || format!("name `{name}`"))?;
    let [first, second] = Side::ALL.map(|side| game.side_name(side));
    promise("side_names", "the sides have different names")
        .change("rename one")
        .holds(first != second, || format!("both are `{first}`"))?;
    promise("facts", "`key_bits` is 1 to 128")
        .change("return the number of bits of the largest key")
        .holds((1..=128).contains(&bits), || format!("{bits} bits"))?;
    for fold in [false, true] {
        let Some(other) = game.with_folding(fold) else { continue };
        let rules = (other.name(), other.start());
        promise("with_folding", "folding keeps the name and the start")
            .change("return the same rules with another group")
            .equal(format_args!("with_folding({fold})"), rules, (name.clone(), start))?;
        let order = other.group().order();
        promise("with_folding", "`group` has symmetries exactly in the folded game")
            .change("return rules with the trivial group for `false`")
            .holds((order > 1) == fold, || format!("{order} symmetries in with_folding({fold})"))?;
    }
    promise("start", "the game is not over at its start")
        .at(&start.state)
        .change("correct `start`, or the `moves` of its state")
        .holds(!successors(game, &start.state).is_empty(), || "no moves".to_string())
}

/// Returns the moves of a state and the states after them.
fn successors<G: Game>(game: &G, state: &G::State) -> Vec<(Action, G::State)> {
    let mut successors = Vec::new();
    game.moves(state, |action, after| successors.push((action, after)));
    successors
}

/// Returns positions of random games in order of play, each once.
fn visited<G: Game>(game: &G) -> Vec<Position<G::State>> {
    let (mut seed, mut known, mut positions) = (0, HashSet::new(), Vec::new());
    for _ in 0..GAMES {
        let line = chance_game(game, &mut seed);
        let is_new = |it: &Position<G::State>| known.insert((it.state, it.side));
        positions.extend(line.into_iter().filter(is_new));
    }
    positions
}

/// Plays a random game from the start to its end or for [`PLIES`] plies, and returns its positions.
fn chance_game<G: Game>(game: &G, seed: &mut u64) -> Vec<Position<G::State>> {
    let mut line = vec![game.start()];
    for ply in 0..PLIES {
        let Position { state, side } = line[ply];
        let successors = successors(game, &state);
        if successors.is_empty() {
            break;
        }
        let chosen = mix(*seed) % successors.len() as u64;
        *seed = seed.wrapping_add(GAMMA);
        line.push(Position { state: successors[chosen as usize].1, side: side.other() });
    }
    line
}

/// Checks by squares that moves exchange the sides, as [`conform`] explains.
fn sides_conform<G: Game>(game: &G, states: &[G::State]) -> Checked {
    let mut unexchanged = None;
    for state in states {
        let Some((mine, _)) = game.squares(state) else { return Ok(()) };
        for (action, after) in successors(game, state) {
            let Some((mine_after, theirs_after)) = game.squares(&after) else { return Ok(()) };
            match game.is_pass(action) {
                false if mine & theirs_after != 0 => return Ok(()),
                false if mine & mine_after != 0 => {
                    unexchanged = unexchanged.or(Some((state, action, after)));
                }
                _ => {}
            }
        }
    }
    let Some((state, action, after)) = unexchanged else { return Ok(()) };
    let fault = promise("moves", "sides are exchanged: a state is as its next mover sees it")
        .change(
            "exchange mine and theirs after a move; leave out `squares` if pieces have no owner",
        )
        .found(format!(
            "{action:?} leads to {after:?}: the mover keeps its squares, here and after all moves"
        ));
    Err(fault.at(state))
}

/// Checks that the visited states and their successors have different keys.
fn keys_differ<G: Game>(game: &G, states: &[G::State]) -> Checked {
    let mut known = HashMap::new();
    let with_successors = states.iter().flat_map(|state| {
        let after = successors(game, state).into_iter().map(|(_, after)| after);
        std::iter::once(*state).chain(after)
    });
    for state in with_successors {
        let other = *known.entry(game.key(&state)).or_insert(state);
        only_key(game, &state, &other)?;
    }
    Ok(())
}

/// Checks that a state is the only one with its key, given one with this key.
fn only_key<G: Game>(game: &G, state: &G::State, other: &G::State) -> Checked {
    promise("key", "no two states share a key")
        .at(state)
        .change("put all that `==` compares into the key")
        .holds(state == other, || format!("key {:#x} is also that of {other:?}", game.key(state)))
}

/// Checks that a state and its key determine each other.
fn key_conforms<G: Game>(game: &G, state: &G::State) -> Checked {
    let (key, bits) = (game.key(state), game.facts().key_bits);
    promise("key", "a key has no more bits than `key_bits`")
        .at(state)
        .change("pack the state into fewer bits, or raise `key_bits` in `facts`")
        .holds(key <= game.facts().most_key(), || format!("key {key:#x}, {bits} bits"))?;
    let Some(back) = game.state(key) else {
        let fault = promise("state", "it unpacks the keys of all states that `moves` makes")
            .change("accept this key, or correct `moves`: does it exchange mine and theirs?");
        return Err(fault.found(format!("`None` for its key {key:#x}")).at(state));
    };
    if game.key(&back) == key {
        only_key(game, state, &back)?;
    }
    promise("state", "it is the inverse of `key`")
        .at(state)
        .change("unpack a key as `key` packs it")
        .equal(format_args!("the state of its key {key:#x}"), back, *state)
}

fn moves_conform<G: Game>(game: &G, state: &G::State) -> Checked {
    let successors = successors(game, state);
    let actions: Vec<Action> = successors.iter().map(|&(action, _)| action).collect();
    let (number, result) = (actions.len(), game.result(state));
    promise("moves", "actions ascend, each once")
        .change("call `each` in ascending order of actions")
        .holds(actions.is_sorted_by(|a, b| a < b), || format!("{actions:?}"))?;
    let (last, count) = (actions.last().map_or(0, |a| usize::from(a.0)), game.action_count());
    promise("moves", "every action is below `action_count`")
        .change("number actions from 0, or return more from `action_count`")
        .holds(number == 0 || last < count, || format!("action {last} of {count}"))?;
    promise("moves", "there is no move where the game is over")
        .change("return from `moves` at once where `result` is not `None`")
        .holds(result.is_none() || number == 0, || format!("{result:?} beside {number} moves"))?;
    promise("result", "the game is over where there is no move")
        .change("return an outcome from `result`, or a pass from `moves`")
        .holds(result.is_some() || number > 0, || "neither a result nor a move".to_string())?;
    let passes: Vec<_> = actions.iter().filter(|&&action| game.is_pass(action)).collect();
    promise("is_pass", "a pass is the only move of its state")
        .change("give a pass only to a mover without other moves, or correct `is_pass`")
        .holds(passes.is_empty() || number == 1, || format!("{passes:?} among {actions:?}"))?;

    let mobility = match number {
        0 => Mobility::Over,
        _ if number == passes.len() => Mobility::Pass,
        n => Mobility::Moves(n as u32),
    };
    let agrees = |method| promise(method, "it agrees with `moves`");
    agrees("for_each_action").equal("the list of actions", game.actions(state), actions.clone())?;
    agrees("mobility").equal("mobility", game.mobility(state), mobility)?;
    agrees("is_terminal").equal("is_terminal", game.is_terminal(state), number == 0)?;
    agrees("must_pass").equal("must_pass", game.must_pass(state), !passes.is_empty())?;
    for side in Side::ALL {
        let mut known = HashMap::new();
        for &action in &actions {
            let name = game.action_name(side, action);
            let other = *known.entry(name.clone()).or_insert(action);
            promise("action_name", "the moves of a state have different names")
                .change("put all that distinguishes the moves into their names")
                .holds(other == action, || format!("{other:?} and {action:?} are `{name}`"))?;
        }
    }
    for (action, after) in successors {
        key_conforms(game, &after)?;
        agrees("play").equal(
            format!("the state after {action:?}"),
            game.play(state, action),
            after,
        )?;
        if game.is_pass(action) {
            promise("swapped", "a pass leads to the swapped state")
                .change("return the state after the pass, with mine and theirs exchanged")
                .equal("the swapped state", game.swapped(state), Some(after))?;
            promise("moves", "in a game with layers no pass is answered by a pass")
                .change("end the game where neither side has another move")
                .holds(!game.is_layered() || !game.must_pass(&after), || {
                    format!("{after:?} must pass too")
                })?;
        }
    }
    Ok(())
}

fn results_conform<G: Game>(game: &G, state: &G::State) -> Checked {
    let (result, end) = (game.result(state), game.end(state));
    promise("end", "its outcome is `result`").change("derive one from the other").equal(
        "the outcome",
        end.map(|end| end.outcome),
        result,
    )?;
    for side in Side::ALL {
        let words = game.end_in_words(&Position { state: *state, side });
        promise("end_in_words", "there are words only where there is a result")
            .holds(words.is_none() || result.is_some(), || format!("{words:?} for {result:?}"))?;
    }
    let Some(result) = result else { return Ok(()) };
    promise("max_score", "a game with scores has layers")
        .change("implement `layer_unit` and `layer`, or leave the scores out")
        .holds(game.max_score().is_none() || game.is_layered(), || "it has none".to_string())?;
    // Without scores a score is the outcome.
    let most = game.max_score().unwrap_or(Score(1));
    for empties in [Empties::Uncounted, Empties::ToWinner] {
        let score = game.score(state, empties);
        promise("score", "the sign of a score is the outcome")
            .change("score the mover, as `result` does")
            .holds(score.outcome() == result, || format!("{score} for a {}", result.name()))?;
        promise("score", "no score is above `max_score`, or above 1 without it")
            .change("return the largest possible score from `max_score`")
            .holds(score.max(-score) <= most, || format!("{score} is above {most}"))?;
    }
    Ok(())
}

/// Checks that symmetries form the group.
fn images_conform<G: Game>(game: &G, state: &G::State) -> Checked {
    let group = game.group();
    let all = 0..group.order() as Symmetry;
    let images: Vec<G::State> = all.clone().map(|g| game.transform(state, g)).collect();
    promise("transform", "symmetry 0 changes nothing")
        .change("return the state itself for symmetry 0")
        .equal("its image", images[0], *state)?;
    for (g, h) in all.clone().flat_map(|g| all.clone().map(move |h| (g, h))) {
        let (twice, product) = (game.transform(&images[usize::from(g)], h), group.product(h, g));
        promise("transform", "symmetries multiply as in `group`")
            .change("move every square as `symmetry::map_square` does")
            .holds(twice == images[usize::from(product)], || {
                format!("symmetry {g} and then {h} lead to {twice:?}, symmetry {product} does not")
            })?;
    }
    Ok(())
}

fn symmetries_conform<G: Game>(game: &G, state: &G::State) -> Checked {
    let canonical = game.canonical(state);
    for g in 0..game.group().order() as Symmetry {
        let image = &game.transform(state, g);
        let place = format!("for symmetry {g} and image {image:?} it");
        let keeps = |method| {
            promise(method, "it is the same for all images of a state")
                .change("compute it from what symmetries keep, or leave out this symmetry")
        };
        keeps("result").equal(&place, game.result(image), game.result(state))?;
        keeps("end").equal(&place, game.end(image), game.end(state))?;
        keeps("layer").equal(&place, game.layer(image), game.layer(state))?;
        keeps("in_check").equal(&place, game.in_check(image), game.in_check(state))?;
        if let Some((mine, theirs)) = game.squares(state) {
            let moved = [mine, theirs].map(|set| map_squares(g, set, game.shape()));
            promise("transform", "squares move as the symmetry moves them")
                .change("map every square as `symmetry::map_square` does")
                .equal(format_args!("squares {place}"), game.squares(image), Some(moved.into()))?;
        }
        let key = game.key(image);
        let is_tied = canonical.ties >> g & 1 == 1;
        promise("canonical", "it has the smallest key of all images, and the symmetries to it")
            .holds(
                game.canonical(image).key == canonical.key
                    && key >= canonical.key
                    && is_tied == (key == canonical.key),
                || format!("{canonical:x?}, and key {key:#x} by symmetry {g}"),
            )?;
        commutes(game, state, image, g)?;
    }
    Ok(())
}

/// Checks that a symmetry commutes with the moves of a state.
fn commutes<G: Game>(game: &G, state: &G::State, image: &G::State, g: Symmetry) -> Checked {
    let (of_state, of_image) = (successors(game, state), successors(game, image));
    let reached: HashSet<G::State> = of_image.iter().map(|&(_, after)| after).collect();
    let moves = || {
        promise("transform", "symmetries commute with moves")
            .change("transform all that the rules use, or leave out a symmetry that the rules lack")
    };
    for &(action, after) in &of_state {
        let expected = game.transform(&after, g);
        let place = format!("symmetry {g}, image {image:?}, {action:?}");
        moves().holds(reached.contains(&expected), || {
            format!("{place}: no move of the image leads to {expected:?}, the image of {after:?}")
        })?;
        let twin = game.transform_action(action, g);
        let made = of_image.iter().find(|(other, _)| *other == twin).map(|&(_, after)| after);
        promise("transform_action", "symmetries commute with moves")
            .change("move the squares of an action as `transform` does")
            .equal(format_args!("{place}: the state after {twin:?}"), made, Some(expected))?;
        let back = game.transform_action(twin, game.group().inverse(g));
        promise("transform_action", "the inverse symmetry returns the action")
            .change("move the squares of an action as `transform` does")
            .equal(format_args!("{place}: the action"), back, action)?;
    }
    let place = format!("symmetry {g}, the number of moves of {image:?}");
    moves().equal(place, of_image.len(), of_state.len())
}

fn position_keys_conform<G: Game>(game: &G, position: &Position<G::State>) -> Checked {
    let Position { state, side: mover } = *position;
    let (canonical, most) = (game.canonical(&state).key, game.facts().most_key());
    let keys = Side::ALL.map(|side| game.position_key(&Position { state, side }));
    promise("tag", "it adds nothing for the first side, nor for the second unless `keeps_sides`")
        .change("implement `keeps_sides` and `side_of` too, or leave `tag` out")
        .holds(keys[0] == canonical && (keys[0] == keys[1] || game.keeps_sides()), || {
            format!("{keys:x?}, from {canonical:x}")
        })?;
    for (side, key) in Side::ALL.into_iter().zip(keys) {
        promise("tag", "a key has no more bits than `key_bits`")
            .change("raise `key_bits` in `facts`")
            .holds(key <= most, || format!("key {key:#x} of {side:?}"))?;
        let kept = game.position_of(key);
        let back = kept.filter(|kept| game.state(key) == Some(kept.state));
        let mut images = (0..game.group().order() as Symmetry)
            .filter_map(|g| Some(game.transform(&back?.state, g)));
        promise("state", "it unpacks the smallest key of all images, with a side if tagged")
            .change("accept the keys of all images, and ignore the side that `tag` adds")
            .holds(images.any(|image| image == state), || {
                format!("{:?} for {key:#x}, and {kept:?} with side", game.state(key))
            })?;
        let expected = match game.keeps_sides() {
            false => Side::First,
            true if keys[0] == keys[1] => mover,
            true => side,
        };
        promise("side_of", "it returns the side to move if `keeps_sides`, else the first")
            .change("read the side from the key; if no state contains it, add it in `tag`")
            .equal(
                format_args!("the side of {key:#x}"),
                kept.map(|kept| kept.side),
                Some(expected),
            )?;
        promise("position_of", "it is the inverse of `position_key`").equal(
            format!("the key of {kept:?}"),
            kept.map(|kept| game.position_key(&kept)),
            Some(key),
        )?;
    }
    Ok(())
}

fn swapped_sides_conform<G: Game>(game: &G, position: &Position<G::State>) -> Checked {
    let Some(state) = game.swapped(&position.state).filter(|_| game.keeps_sides()) else {
        return Ok(());
    };
    let side = position.side.other();
    let key = game.position_key(&Position { state, side });
    promise("swapped", "the other side is to move in it, also by its key if `keeps_sides`")
        .change("exchange the side in the state too, or leave `swapped` out")
        .equal(format_args!("the side of {key:#x}"), game.side_of(key), side)
}

fn layers_conform<G: Game>(game: &G, state: &G::State) -> Checked {
    for (action, after) in successors(game, state) {
        let (layer, before) = (game.layer(&after), game.layer(state));
        let (text, holds) = match (game.is_layered(), game.is_pass(action)) {
            (false, _) => ("a game without `layer_unit` has layer 0 only", layer.max(before) == 0),
            (_, true) => ("a pass stays in its layer", layer == before),
            (_, false) => ("every move but a pass leads to a later layer", layer > before),
        };
        promise("layer", text)
            .change("count what every move increases, or leave out `layer_unit` if nothing does")
            .holds(holds, || format!("{action:?} leads from layer {before} to layer {layer}"))?;
    }
    Ok(())
}

fn swapping_conforms<G: Game>(game: &G, state: &G::State) -> Checked {
    let squares = game.squares(state);
    if let Some((mine, theirs)) = squares {
        promise("squares", "no square has two owners")
            .change("return the squares of each side alone")
            .holds(mine & theirs == 0, || format!("{mine:#x} and {theirs:#x}"))?;
        let back = game.of_squares(mine, theirs);
        promise("of_squares", "it is the inverse of `squares`")
            .change(
                "return the state of these squares, or leave out `squares` if states share them",
            )
            .equal(format_args!("of_squares({mine:#x}, {theirs:#x})"), back, Some(*state))?;
    }
    let Some(swapped) = game.swapped(state) else { return Ok(()) };
    let key = game.key(&swapped);
    promise("swapped", "a swapped state is a state")
        .change(
            "return `None` where the other side cannot be to move, or accept its key in `state`",
        )
        .equal(format_args!("the state of its key {key:#x}"), game.state(key), Some(swapped))?;
    let sides = || {
        promise("swapped", "it exchanges the sides, and twice changes nothing")
            .change("exchange mine and theirs, and nothing else; `material` follows")
    };
    sides().equal(format_args!("swapped of {swapped:?}"), game.swapped(&swapped), Some(*state))?;
    let exchanged = squares.map(|(mine, theirs)| (theirs, mine));
    sides().equal(format_args!("squares of {swapped:?}"), game.squares(&swapped), exchanged)?;
    let (material, negated) = (game.material(&swapped), game.material(state).map(|own| -own));
    sides().equal(format_args!("material of {swapped:?}"), material, negated)
}

/// Checks that notation is read back, and diagrams too if the game reads the diagram of its start.
fn notation_conforms<G: Game>(game: &G, state: &G::State) -> Checked {
    let start = game.start();
    let diagram = |position: &Position<G::State>| {
        format!("{}\n{} to move", game.diagram(position), game.side_name(position.side))
    };
    let reads_diagrams = game.parse_position(&diagram(&start), &start).is_ok();
    let positions = Side::ALL.map(|side| Position { state: *state, side });
    for position in positions.into_iter().filter(|it| other_mover(game, it).is_none()) {
        let written = game.written(&position);
        promise("written", "a position has at least one notation")
            .holds(!written.is_empty(), || "no notation".to_string())?;
        let mut texts: Vec<String> = written.into_iter().map(|(_, text)| text).collect();
        texts.push(game.notation(&position));
        texts.extend(reads_diagrams.then(|| diagram(&position)));
        for text in texts {
            let back = game.parse_position(&text, &start);
            promise("parse_line", "a text of a position reads back as this position")
                .change(
                    "read the state and the side as `written`, `notation` or `diagram` write them",
                )
                .equal(format_args!("{text:?}"), back, Ok(position))?;
        }
    }
    Ok(())
}

fn drawing_conforms<G: Game>(game: &G, state: &G::State) -> Checked {
    let (rows, columns) = game.shape();
    for side in Side::ALL {
        let position = Position { state: *state, side };
        let cells = game.drawn(&position).cells;
        if cells.is_empty() {
            continue;
        }
        promise("drawn", "a drawing has all squares of the board")
            .change("correct the shape in `facts`, or draw empty squares as empty texts")
            .equal("the number of squares", cells.len(), rows * columns)?;
        let is_of_one_kind = |cell: &String| ["", "X", "O"].contains(&&**cell);
        promise("drawn", "squares are `X`, `O` or empty where `piece_kinds` names no kinds")
            .change("draw X for the first player; `side_marks` are the letters that people see")
            .holds(!game.piece_kinds().is_empty() || cells.iter().all(is_of_one_kind), || {
                format!("{cells:?}")
            })?;
        promise("coordinates", "each column and each row has a name")
            .change("name them all")
            .equal("their number", game.coordinates().map(|names| names.len()), [columns, rows])?;
        for action in game.actions(state) {
            let squares = game.move_squares(&position, action);
            let after = game.drawn(&game.advance(&position, action)).cells;
            let has = |cells: &[String], square: Option<u16>, piece: bool| {
                square.is_none_or(|square| {
                    cells.get(usize::from(square)).is_some_and(|cell| cell.is_empty() != piece)
                })
            };
            let fits = has(&cells, squares.from, true)
                && has(&after, squares.from, false)
                && has(&after, squares.to, true)
                && (squares.from.is_some() || has(&cells, squares.to, false));
            promise("move_squares", "a move that leaves a square reaches one")
                .change("return the square of a move that has one only as `to`")
                .holds(squares.from.is_none() || squares.to.is_some(), || {
                    format!("{action:?} of {side:?}, {squares:?}")
                })?;
            promise("move_squares", "a move leaves and reaches the squares it names")
                .change(
                    "number them as the first player sees them, or return `MoveSquares::default()`",
                )
                .holds(fits, || format!("{action:?} of {side:?}, {squares:?}"))?;
        }
    }
    Ok(())
}

/// Checks that planes determine the state and that invalid planes are rejected.
fn planes_conform<G: Game>(game: &G, state: &G::State) -> Checked {
    let (kinds, (rows, columns)) = (game.plane_kinds(), game.shape());
    let (count, area) = (kinds.count(), rows * columns);
    if count == 0 {
        return Ok(());
    }
    promise("facts", "a game with planes has a board")
        .change("return the shape of the board")
        .holds(area > 0, || format!("{rows} rows and {columns} columns"))?;
    let [numbers, again] = [9.0, 7.0].map(|filler| {
        let mut numbers = vec![filler; count * area];
        game.write_planes(state, &mut numbers);
        numbers
    });
    let unwritten = numbers.iter().zip(&again).filter(|(number, again)| number != again).count();
    promise("write_planes", "it writes all squares of all planes")
        .change("write as many planes as `plane_kinds` counts, in the shape of `facts`")
        .holds(unwritten == 0, || format!("{unwritten} of {count}×{rows}×{columns} are missing"))?;
    promise("read_planes", "it is the inverse of `write_planes`")
        .change("read and write plane by plane, each row by row")
        .equal(
            format_args!("the state of {numbers:?}"),
            game.read_planes(&numbers),
            Some(*state),
        )?;
    let rejects = |wrong: &[f32], place: &str| {
        promise("read_planes", "invalid planes are rejected")
            .change("check the length, the numbers, and that no square has two pieces")
            .equal(format_args!("{place}, {wrong:?}, the state"), game.read_planes(wrong), None)
    };
    rejects(&numbers[1..], "one number too few")?;
    let taken = numbers.iter().take(area).position(|&n| n == 1.0);
    let Some(square) = taken else { return Ok(()) };
    for (plane, number, place) in [(kinds.pieces.len(), 1.0, "two pieces"), (0, 2.0, "a number 2")]
    {
        let mut wrong = numbers.clone();
        wrong[plane * area + square] = number;
        rejects(&wrong, place)?;
    }
    Ok(())
}
