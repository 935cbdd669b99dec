//! Ranks are a numbering of the states, and moves between ranks are those between states.

use std::collections::HashSet;

use super::nonconformity::{Checked, promise};
use super::successors;
use crate::rules::{End, Game, RankedMoves, Symmetry};

/// Returns the rank of a state.
fn rank_of<G: Game>(game: &G, state: &G::State, count: u32) -> Checked<u32> {
    let rank = game.rank(state);
    let fault = promise("rank", "every reachable state has a rank below `rank_count`")
        .change("rank all states from 0, and return their number from `rank_count`");
    let below = rank.filter(|&rank| rank < count);
    let found = || rank.map_or("no rank".to_string(), |rank| format!("rank {rank} of {count}"));
    below.ok_or_else(|| fault.found(found()).at(state))
}

pub(super) fn rank_conforms<G: Game>(game: &G, state: &G::State) -> Checked {
    let Some(count) = game.rank_count() else { return Ok(()) };
    let rank = rank_of(game, state, count)?;
    for g in 0..game.group().order() as Symmetry {
        let image = game.transform(state, g);
        promise("rank", "all images of a state have its rank")
            .change("rank one of its images, such as that of the smallest number")
            .equal(format_args!("the rank of {image:?}"), game.rank(&image), Some(rank))?;
    }
    let back = game.state_of_rank(rank);
    let rank_back = back.and_then(|back| game.rank(&back));
    promise("state_of_rank", "it is the inverse of `rank`")
        .change("return the state of the rank, or one of its images")
        .equal(format_args!("for rank {rank} it is {back:?}; its rank"), rank_back, Some(rank))?;
    let is_image = back.is_some_and(|b| game.canonical(&b).key == game.canonical(state).key);
    promise("rank", "only images of a state share its rank")
        .change("rank all that `==` compares")
        .holds(is_image, || format!("rank {rank} is also that of {back:?}"))?;
    for (_, after) in successors(game, state) {
        rank_of(game, &after, count)?;
    }
    ranked_moves_conform(game, rank)
}

pub(super) fn ranks_conform<G: Game>(game: &G, states: &[G::State]) -> Checked {
    let Some(count) = game.rank_count() else { return Ok(()) };
    let mut ranked: Vec<_> = states.iter().map(|state| (game.rank(state), state)).collect();
    ranked.sort_by_key(|&(rank, _)| rank);
    for pair in ranked.windows(2) {
        let [before, state] = [pair[0].1, pair[1].1];
        promise("rank", "ranks ascend with layers")
            .at(state)
            .change("rank all states of a layer before those of later layers")
            .holds(game.layer(before) <= game.layer(state), || {
                format!("its rank is above that of {before:?} in a later layer")
            })?;
    }
    for rank in [count, u32::MAX] {
        promise("state_of_rank", "a rank that is not below `rank_count` has no state")
            .change("return `None` for it")
            .equal(format_args!("the state of rank {rank}"), game.state_of_rank(rank), None)?;
    }
    Ok(())
}

/// Moves from the state of a rank: the rank and the end after each, sorted, and the end of the state itself.
type MovesOfRank = (Vec<(Option<u32>, Place)>, Option<End>);

fn moves_of_rank<G: Game>(game: &G, rank: u32) -> Option<MovesOfRank> {
    let state = game.state_of_rank(rank)?;
    let mut moves: Vec<_> = successors(game, &state)
        .iter()
        .map(|(_, after)| (game.rank(after), place(game.end(after))))
        .collect();
    moves.sort();
    Some((moves, game.end(&state)))
}

/// Checks that moves between ranks agree with those between states, and that predecessors are their inverse.
fn ranked_moves_conform<G: Game>(game: &G, rank: u32) -> Checked {
    let Some((moves, end)) = moves_of_rank(game, rank) else { return Ok(()) };
    if let Some(ranked) = game.ranked_moves() {
        ranks_lead_alike(ranked, rank, &moves, end)?;
    }
    if game.is_layered() {
        return Ok(());
    }
    let before_of = |rank: u32| {
        let mut before = Vec::new();
        game.predecessors(rank, &mut before);
        before
    };
    let is_inverse = || {
        promise("predecessors", "it returns each rank with a move to this one once, and no others")
            .change("take back every move; a game with ranks but without layers needs it")
    };
    for next in moves.iter().filter_map(|&(next, _)| next) {
        is_inverse()
            .holds(before_of(next).contains(&rank), || format!("{rank} is missing for {next}"))?;
    }
    let mut known = HashSet::new();
    for earlier in before_of(rank) {
        let leads = moves_of_rank(game, earlier).is_some_and(|(moves, end)| {
            end.is_some() || moves.iter().any(|&(next, _)| next == Some(rank))
        });
        is_inverse().holds(leads, || format!("{earlier} does not lead to {rank}"))?;
        is_inverse()
            .holds(known.insert(earlier), || format!("{earlier} is twice before {rank}"))?;
    }
    Ok(())
}

fn ranks_lead_alike(
    ranked: &dyn RankedMoves,
    rank: u32,
    moves: &[(Option<u32>, Place)],
    end: Option<End>,
) -> Checked {
    let agrees = || promise("ranked_moves", "it agrees with `moves` and `end`");
    let (mut after, mut ends) = (Vec::new(), Vec::new());
    ranked.successors(rank, &mut after);
    let mut after: Vec<_> = after.iter().map(|&(rank, end)| (Some(rank), place(end))).collect();
    after.sort();
    agrees().equal(format_args!("the list of successors of rank {rank}"), &after[..], moves)?;
    let known = ranked.ends(rank, &mut ends);
    agrees().equal(format_args!("the end of {rank}"), known, end.filter(|_| moves.is_empty()))?;
    // Moves that lead to the same state may count once.
    after.dedup();
    let mut ends: Vec<Place> = ends.into_iter().map(place).collect();
    let [mut all, mut once] =
        [moves, &after].map(|moves| moves.iter().map(|&(_, end)| end).collect::<Vec<_>>());
    [&mut ends, &mut all, &mut once].into_iter().for_each(|ends| ends.sort());
    let equal = ends == all || ends == once;
    agrees().holds(equal, || format!("ends after rank {rank}: {ends:?}, expected {all:?}"))
}

/// End as numbers, which can be sorted.
type Place = Option<(i8, u16)>;

fn place(end: Option<End>) -> Place {
    end.map(|end| (end.outcome.value(), end.plies))
}
