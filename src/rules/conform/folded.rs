//! Folded states stand for exactly the reachable positions.

use std::collections::{BTreeMap, HashSet};

use super::nonconformity::{Checked, promise};
use super::{images_conform, key_conforms, successors, symmetries_conform};
use crate::rules::{Game, Orientations, Position};

/// Limits of the breadth-first pass from the start: positions of one ply, and of all plies together.
const WIDEST_PLY: usize = 20_000;
const MOST_POSITIONS: usize = 100_000;

type Folded = BTreeMap<u128, Orientations>;

/// Compares folded states and their orientations with all positions, ply by ply from the start.
pub(super) fn orientations_conform<G: Game>(game: &G) -> Checked {
    let start = game.start();
    let canonical = game.canonical(&start.state);
    let orientations = game.group().root_orientations(start.side, canonical.ties);
    let (mut folded, mut all_folded) =
        (Folded::from([(canonical.key, orientations)]), Folded::new());
    let (mut actual, mut all_actual, mut known) = (vec![start], Vec::new(), HashSet::new());
    let mut visited = 0;
    loop {
        let new: Vec<_> = actual.iter().copied().filter(|&p| known.insert(p)).collect();
        new.iter().try_for_each(|position| key_conforms(game, &position.state))?;
        all_actual.extend(new.iter().copied());
        compare(game, &folded, &actual, &all_actual)?;
        for (&key, more) in &folded {
            all_folded.entry(key).or_default().0 |= more.0;
        }
        visited += actual.len();
        if new.is_empty() || actual.len() > WIDEST_PLY || visited > MOST_POSITIONS {
            break;
        }
        let mut once = HashSet::new();
        let next = actual.iter().flat_map(|position| {
            let side = position.side.other();
            let after = successors(game, &position.state).into_iter();
            after.map(move |(_, state)| Position { state, side })
        });
        actual = next.filter(|&position| once.insert(position)).collect();
        folded = folded_step(game, &folded)?;
    }
    // Passes may bring both sides to move in one state, even in one orientation.
    compare(game, &all_folded, &all_actual, &all_actual)
}

/// Checks that folded states stand for exactly the positions `actual`; `all` are those reached so far.
fn compare<G: Game>(
    game: &G,
    folded: &Folded,
    actual: &[Position<G::State>],
    all: &[Position<G::State>],
) -> Checked {
    let unfolded = unfolded(game, folded)?;
    let [of_actual, of_unfolded] =
        [actual, &unfolded].map(|positions| positions.iter().collect::<HashSet<_>>());
    let missing = actual.iter().find(|position| !of_unfolded.contains(position));
    let wrong = missing.or_else(|| unfolded.iter().find(|p| !of_actual.contains(p)));
    let Some(Position { state, side }) = wrong else { return Ok(()) };
    // Some symmetry of a state so far is at fault.
    for Position { state, .. } in all {
        let checked = images_conform(game, state).and_then(|()| symmetries_conform(game, state));
        checked.map_err(|fault| fault.at(state))?;
    }
    let fault = promise("canonical", "folded states stand for exactly the reachable positions");
    let kind = if missing.is_some() { "reachable and not represented" } else { "not reachable" };
    Err(fault.found(format!("with {side:?} to move {kind}")).at(state))
}

fn state_of_key<G: Game>(game: &G, key: u128) -> Checked<G::State> {
    let fault = promise("state", "it unpacks the smallest key of all images")
        .change("accept the keys of all images");
    game.state(key).ok_or_else(|| fault.found(format!("`None` for {key:#x}")))
}

/// Returns the positions that folded states with their orientations stand for.
fn unfolded<G: Game>(game: &G, folded: &Folded) -> Checked<Vec<Position<G::State>>> {
    let (mut positions, mut known) = (Vec::new(), HashSet::new());
    for (&key, &orientations) in folded {
        let state = state_of_key(game, key)?;
        for (g, side) in orientations.iter(game.group().order()) {
            let position = Position { state: game.transform(&state, g), side };
            let is_first = (0..g).all(|h| game.transform(&state, h) != position.state);
            promise("canonical", "`ties` are all symmetries that lead to the smallest key")
                .at(&state)
                .holds(known.insert(position) && is_first, || format!("{position:?} twice"))?;
            positions.push(position);
        }
    }
    Ok(positions)
}

fn folded_step<G: Game>(game: &G, folded: &Folded) -> Checked<Folded> {
    let mut next = Folded::new();
    for (&key, &from) in folded {
        for (_, after) in successors(game, &state_of_key(game, key)?) {
            let canonical = game.canonical(&after);
            let orientations = game.group().successor_orientations(from, canonical.ties);
            next.entry(canonical.key).or_default().0 |= orientations.0;
        }
    }
    Ok(next)
}
