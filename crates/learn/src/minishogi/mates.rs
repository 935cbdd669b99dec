//! Mate positions and positions one move before mate, from games of two random movers.
//!
//! Every game that ends in mate gives two positions: the last, whose mover is mated (target 0), and
//! the one before, whose mover mates (target 1). Both kinds are therefore equally frequent, and a set
//! takes half of each. Games that end otherwise (a mover who is not in check and has
//! no move, or more than [`GAME_PLIES`] plies) give nothing. Mate by a dropped pawn is illegal
//! and does not occur.
//!
//! Positions are distinct up to reflection. Each is followed by its mirror image
//! with the same side to move. The set of a position depends only on a hash of the
//! board's canonical key, so that no board is in both sets, neither reflected nor with the
//! other side to move.
//!
//! Games are numbered and taken in order; the seed and `i` determine game `i`.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::Minishogi;
use crate::chance::{below, seeded};
use yomikiri::games::shogi::Board;
use yomikiri::progress::Progress;
use yomikiri::rules::{Game, Position};

/// Number of plies after which a game is abandoned.
pub const GAME_PLIES: usize = 512;

/// Number of games played before their positions are assigned to the sets.
const GAMES_AT_ONCE: u64 = 4096;

/// Purpose of the games' random numbers; others of the same seed have different ones.
const MATES: u64 = 1;

/// A position and its target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MateExample {
    /// The position.
    pub position: Position<Board>,
    /// Probability that the mover wins.
    pub target: f32,
}

/// Positions of a seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Mates {
    /// Training set.
    pub train: Vec<MateExample>,
    /// Held-out set.
    pub held_out: Vec<MateExample>,
    /// Number of games played.
    pub games: u64,
}

/// Kinds of positions and their targets.
const MATED: (usize, f32) = (0, 0.0);
const GIVES_MATE: (usize, f32) = (1, 1.0);

/// Plays games until both sets are full. A set of `n` has `n / 2` mated positions (rounded down); the mover
/// mates in the others. `counts` are the sizes of the training and the held-out set, mirror images included.
pub fn generate(game: &Minishogi, counts: [usize; 2], seed: u64, progress: &dyn Progress) -> Mates {
    let total = counts[0] + counts[1];
    progress.begin_with("looking for mates", Some(total as u64), "positions");
    let mut known = FxHashSet::default();
    let mut sets = counts.map(MateSet::of);
    let mut games = 0;
    while sets.iter().any(|set| !set.is_full()) {
        let before: usize = sets.iter().map(|set| set.examples.len()).sum();
        let ends: Vec<_> = (games..games + GAMES_AT_ONCE)
            .into_par_iter()
            .map(|number| last_two(game, &mut seeded(seed, &[MATES, number])))
            .collect();
        for [gives, mated] in ends.into_iter().flatten() {
            for (position, kind) in [(mated, MATED), (gives, GIVES_MATE)] {
                let held_out = is_held_out(game, &position.state, counts);
                let set = &mut sets[usize::from(held_out)];
                if set.missing[kind.0] > 0 && known.insert(game.position_key(&position)) {
                    set.add(game, position, kind);
                }
            }
        }
        games += GAMES_AT_ONCE;
        let after: usize = sets.iter().map(|set| set.examples.len()).sum();
        progress.advance((after - before) as u64);
    }
    progress.finish(&format!("{total} positions of {games} games"));
    let [train, held_out] = sets.map(|set| set.examples);
    Mates { train, held_out, games }
}

/// A set being filled.
struct MateSet {
    examples: Vec<MateExample>,
    /// Number of missing positions of each kind.
    missing: [usize; 2],
}

impl MateSet {
    fn of(count: usize) -> MateSet {
        MateSet { examples: Vec::with_capacity(count), missing: [count / 2, count - count / 2] }
    }

    fn is_full(&self) -> bool {
        self.missing == [0, 0]
    }

    /// Adds a position, and its mirror image if that is different and the set is not full.
    fn add(&mut self, game: &Minishogi, position: Position<Board>, (kind, target): (usize, f32)) {
        self.examples.push(MateExample { position, target });
        self.missing[kind] -= 1;
        let image = Position { state: game.transform(&position.state, 1), ..position };
        if image != position && self.missing[kind] > 0 {
            self.examples.push(MateExample { position: image, target });
            self.missing[kind] -= 1;
        }
    }
}

/// Returns `true` for boards of the held-out set.
fn is_held_out(game: &Minishogi, board: &Board, [train, held_out]: [usize; 2]) -> bool {
    let key = game.canonical(board).key;
    let hash = seeded(0, &game.facts().words(key)).next_u64();
    let place = (u128::from(hash) * (train + held_out) as u128) >> 64;
    place < held_out as u128
}

/// Returns the last two positions of a random game, if it ends in mate.
fn last_two(game: &Minishogi, random: &mut Xoshiro256PlusPlus) -> Option<[Position<Board>; 2]> {
    let mut last = game.start();
    let mut before = None;
    let mut actions = Vec::new();
    for _ in 0..GAME_PLIES {
        actions.clear();
        game.for_each_action(&last.state, |action| actions.push(action));
        if actions.is_empty() {
            return before.filter(|_| game.in_check(&last.state)).map(|before| [before, last]);
        }
        before = Some(last);
        last = game.advance(&last, actions[below(random, actions.len())]);
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::rules;
    use super::*;
    use yomikiri::progress::Silent;
    use yomikiri::rules::Side;

    fn small(game: &Minishogi) -> Mates {
        generate(game, [3_001, 801], 3, &Silent)
    }

    #[test]
    fn positions_match_their_description() {
        let game = rules();
        let mates = small(&game);
        assert_eq!((mates.train.len(), mates.held_out.len()), (3_001, 801));
        for (set, mated) in [(&mates.train, 1_500), (&mates.held_out, 400)] {
            assert_eq!(set.iter().filter(|example| example.target == 0.0).count(), mated);
            let seconds = set.iter().filter(|e| e.position.side == Side::Second).count();
            assert!(seconds > set.len() / 4 && seconds < set.len() * 3 / 4, "{seconds}");
        }
        for example in mates.train.iter().chain(&mates.held_out) {
            let state = &example.position.state;
            let is_mate = |state: &Board| game.is_terminal(state) && game.in_check(state);
            if example.target == 0.0 {
                assert!(is_mate(state));
            } else {
                let actions = game.actions(state);
                assert!(actions.iter().any(|&action| is_mate(&game.play(state, action))));
            }
        }
    }

    #[test]
    fn no_board_is_in_both_sets_or_twice_in_one() {
        let game = rules();
        let mates = small(&game);
        let both = || mates.train.iter().chain(&mates.held_out);
        let distinct: HashSet<_> = both().map(|example| example.position).collect();
        assert_eq!(distinct.len(), both().count());
        let boards = |set: &[MateExample]| {
            let images = |e: &MateExample| [e.position.state, game.transform(&e.position.state, 1)];
            set.iter().flat_map(images).collect::<HashSet<_>>()
        };
        let (train, held_out) = (boards(&mates.train), boards(&mates.held_out));
        assert!(train.is_disjoint(&held_out));
        // All positions have their images, except perhaps the last of each kind if its set was full.
        let missing = |set: &[MateExample], boards: &HashSet<Board>| {
            let own: HashSet<_> = set.iter().map(|e| e.position.state).collect();
            boards.difference(&own).count()
        };
        assert!(missing(&mates.train, &train) <= 2 && missing(&mates.held_out, &held_out) <= 2);
    }
}
