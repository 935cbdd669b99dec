//! The rules of the shogi family against the reference rules of `common::plain_shogi`, position by position
//! along random games.

use std::collections::BTreeMap;

use crate::common::Random;
use crate::common::plain_shogi::{self as plain, Rules};
use serde_json::Value;
use yomikiri::games::shogi::{
    ANIMAL_SHOGI, Board, Cell, Drops, Ending, MINISHOGI, Owner, SMALL_ANIMAL_SHOGI, Shogi, Variant,
};
use yomikiri::rules::{Action, End, Game, Outcome, Position, Side};

const COUNTING: Variant =
    Variant { drops: Drops { pawn_mate: true, ..MINISHOGI.drops }, ..MINISHOGI };
const PLAYED: Variant = Variant { ending: Ending::Played, ..ANIMAL_SHOGI };
const SMALL_PLAYED: Variant = Variant { ending: Ending::Played, ..SMALL_ANIMAL_SHOGI };

/// Counts of the cases that occurred, so that a test can require enough of each.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    positions: u32,
    checks: u32,
    promotions: u32,
    drops: u32,
    wins: u32,
    losses: u32,
    kings_taken: u32,
    /// Positions with a mate by pawn drop.
    drop_mates: u32,
}

/// Returns the SFEN of a reference position. The reference rules put a captured lion in hand; here it is
/// gone.
fn plain_sfen(position: &plain::Position) -> String {
    let mut position = position.clone();
    for hand in &mut position.hands {
        hand.retain(|&kind| kind != plain::Kind::Lion && kind != plain::Kind::King);
    }
    position.sfen()
}

fn plain_end(end: plain::End) -> End {
    let (outcome, plies) = match end {
        plain::End::Catch => (Outcome::Win, 1),
        plain::End::Safe => (Outcome::Win, 0),
        plain::End::Try | plain::End::Caught | plain::End::Stuck => (Outcome::Loss, 0),
    };
    End { outcome, plies }
}

/// One position on both boards, with the rules of each.
struct Pair<'a> {
    game: &'a Shogi,
    ours: Position<Board>,
    plain: plain::Position,
}

impl Pair<'_> {
    fn at<'a>(game: &'a Shogi, rules: Rules, sfen: &str) -> Pair<'a> {
        let ours = game.parse_position(sfen, &game.start()).unwrap();
        Pair { game, ours, plain: plain::Position::read(rules, sfen) }
    }

    /// Compares all properties of the position; returns the moves.
    fn compare(&self, seen: &mut Seen) -> Vec<Action> {
        let Pair { game, ours, plain } = self;
        let text = game.notation(ours);
        assert_eq!(text, plain_sfen(plain));
        let side = if plain.mover == plain::Side::First { Side::First } else { Side::Second };
        assert_eq!(ours.side, side, "{text}");

        let actions = game.actions(&ours.state);
        let successors: BTreeMap<String, String> = actions
            .iter()
            .map(|&action| {
                let after = game.advance(ours, action);
                (game.action_name(ours.side, action), game.notation(&after))
            })
            .collect();
        assert_eq!(successors.len(), actions.len(), "two moves share a name in {text}");
        let after = |played| (plain.usi(played), plain_sfen(&plain.after(played)));
        let expected: BTreeMap<_, _> = plain.moves().into_iter().map(after).collect();
        assert_eq!(successors, expected, "{text}");

        let end = game.end(&ours.state);
        assert_eq!(end, plain.end().map(plain_end), "{text}");
        let in_check = game.in_check(&ours.state);
        assert_eq!(in_check, plain.in_check(plain.mover), "{text}");

        let has_king = |owner| ours.state.cells.contains(&Cell::of(owner, 0));
        let kings = has_king(Owner::Mover) && has_king(Owner::Opponent);
        let read = game.parse_position(&text, &game.start());
        if kings {
            assert_eq!(read, Ok(*ours), "{text}");
        } else {
            assert_eq!(game.variant().ending, Ending::Played, "{text}");
            assert!(read.is_err(), "{text}");
        }
        assert_eq!(game.state(game.key(&ours.state)), Some(ours.state), "{text}");

        seen.positions += 1;
        seen.checks += u32::from(in_check);
        seen.promotions += u32::from(successors.keys().any(|name| name.ends_with('+')));
        seen.drops += u32::from(successors.keys().any(|name| name.contains('*')));
        seen.wins += u32::from(end.is_some_and(|end| end.outcome == Outcome::Win));
        seen.losses += u32::from(end.is_some_and(|end| end.outcome == Outcome::Loss));
        seen.kings_taken += u32::from(!kings);
        if plain.rules == Rules::Minishogi {
            let lax = plain::Position { rules: Rules::MinishogiWithDropMates, ..plain.clone() };
            seen.drop_mates += u32::from(lax.moves().len() > actions.len());
        }
        actions
    }

    fn play(&mut self, action: Action) {
        let name = self.game.action_name(self.ours.side, action);
        self.plain = self.plain.apply(&name);
        self.ours = self.game.advance(&self.ours, action);
    }

    /// Compares along a random game; in every other game the players avoid moves that let their king be
    /// captured.
    fn chance_game(mut self, random: &mut Random, plies: u32, seen: &mut Seen) {
        let careful = random.below(2) == 1;
        for _ in 0..plies {
            let mut actions = self.compare(seen);
            if actions.is_empty() {
                return;
            }
            if careful {
                let safe = |action: &Action| {
                    let after = self.game.play(&self.ours.state, *action);
                    !self.game.in_check(&self.game.swapped(&after).unwrap())
                };
                let kept: Vec<Action> = actions.iter().copied().filter(safe).collect();
                actions = if kept.is_empty() { actions } else { kept };
            }
            self.play(actions[random.below(actions.len())]);
        }
        self.compare(seen);
    }
}

fn from_the_start(variant: &Variant, rules: Rules, games: u32, plies: u32) -> Seen {
    let game = Shogi::new(variant, true);
    let mut random = Random(1);
    let mut seen = Seen::default();
    for _ in 0..games {
        Pair::at(&game, rules, variant.start).chance_game(&mut random, plies, &mut seen);
    }
    seen
}

fn from_everywhere(variant: &Variant, rules: Rules, plies: u32) -> Seen {
    let game = Shogi::new(variant, true);
    let mut random = Random(2);
    let mut seen = Seen::default();
    let truths = [
        include_str!("../data/minishogi-perft.json"),
        include_str!("../data/minishogi-mates.json"),
    ];
    let mut positions = 0;
    for truth in truths {
        let truth: Value = serde_json::from_str(truth).unwrap();
        for position in truth["positions"].as_array().unwrap() {
            let sfen = position["sfen"].as_str().unwrap();
            positions += 1;
            for _ in 0..3 {
                Pair::at(&game, rules, sfen).chance_game(&mut random, plies, &mut seen);
            }
        }
    }
    assert_eq!(positions, 18 + 35);
    seen
}

#[test]
fn minishogi() {
    let seen = from_the_start(&MINISHOGI, Rules::Minishogi, 20, 80);
    assert!(seen.positions > 1000 && seen.checks > 50 && seen.promotions > 200, "{seen:?}");
    assert!(seen.drops > 300, "{seen:?}");
}

#[test]
fn minishogi_from_positions_with_much_in_hand_and_from_mates() {
    let seen = from_everywhere(&MINISHOGI, Rules::Minishogi, 12);
    assert!(seen.checks > 100 && seen.losses > 5 && seen.drop_mates > 5, "{seen:?}");
}

#[test]
fn minishogi_with_drop_mates() {
    let seen = from_the_start(&COUNTING, Rules::MinishogiWithDropMates, 5, 60);
    assert!(seen.positions > 250, "{seen:?}");
    let seen = from_everywhere(&COUNTING, Rules::MinishogiWithDropMates, 6);
    assert!(seen.losses > 5, "{seen:?}");
}

#[test]
fn animal_shogi_adjudicated() {
    let seen = from_the_start(&ANIMAL_SHOGI, Rules::Adjudicated, 300, 60);
    assert!(seen.positions > 1000 && seen.checks > 200 && seen.promotions > 50, "{seen:?}");
    assert!(seen.wins > 100 && seen.losses > 3 && seen.kings_taken == 0, "{seen:?}");
}

#[test]
fn animal_shogi_played() {
    let seen = from_the_start(&PLAYED, Rules::Played, 150, 100);
    assert!(seen.positions > 1000 && seen.checks > 200 && seen.promotions > 50, "{seen:?}");
    assert!(seen.losses > 50 && seen.kings_taken > 50, "{seen:?}");
    assert!(seen.wins > 0, "no lion was left safe on the last rank by its opponent: {seen:?}");
}

#[test]
fn animal_shogi_3x3() {
    let seen = from_the_start(&SMALL_ANIMAL_SHOGI, Rules::Adjudicated, 300, 40);
    assert!(seen.positions > 500 && seen.wins > 100 && seen.kings_taken == 0, "{seen:?}");
    let seen = from_the_start(&SMALL_PLAYED, Rules::Played, 150, 60);
    assert!(seen.positions > 500 && seen.losses > 50 && seen.kings_taken > 50, "{seen:?}");
}

/// Tables store keys of one word or of two.
#[test]
fn keys_have_as_many_words_as_they_need() {
    for (variant, words) in [(&ANIMAL_SHOGI, 1), (&SMALL_ANIMAL_SHOGI, 1), (&MINISHOGI, 2)] {
        assert_eq!(Shogi::new(variant, true).facts().key_words(), words, "{}", variant.name);
    }
}

mod keys {
    use super::*;

    fn none_of(game: &Shogi, key: u128, what: &str) {
        assert_eq!(game.state(key), None, "{what}: {key:?}");
        assert_eq!(game.position_of(key), None, "{what}: {key:?}");
    }

    /// A key of animal shogi has, from the lowest bit, 32 bits of codes (4 per piece), 12 of hands, 12 of
    /// squares and one of the side.
    #[test]
    fn no_state_has_a_key_that_is_broken() {
        let game = Shogi::new(&ANIMAL_SHOGI, true);
        let read = |sfen| game.key(&game.parse_position(sfen, &game.start()).unwrap().state);
        let start = read("start");
        assert_eq!(game.state(start), Some(game.start().state));
        let few = read("l2/3/3/2L b - 1");
        // The opponent's lion on the first square, code 5, and the mover's on the last, code 0.
        assert_eq!(few, 0b1000_0000_0001 << 44 | 5, "{few:x}");

        none_of(&game, 0, "an empty board");
        none_of(&game, u64::MAX.into(), "all bits");
        none_of(&game, start | 1 << 64, "a bit above the word");
        none_of(&game, start | 0b1111, "a code beyond the pieces");
        none_of(&game, few | 1 << 31, "a code without a square");
        none_of(&game, start | 1 << 63, "a bit above all fields");
        none_of(&game, start | 1 << 56, "a side to move, which is not kept");
        none_of(&game, few & !0xff, "two kings of the mover");
        none_of(&game, few ^ 0b1, "no king of the opponent");
    }

    #[test]
    fn no_state_has_a_key_with_too_many_pieces() {
        let game = Shogi::new(&MINISHOGI, true);
        let read = |sfen| game.key(&game.parse_position(sfen, &game.start()).unwrap().state);
        let two = read("k4/5/5/5/4K b 2P 1");
        assert!(game.state(two).is_some());
        let bit = (read("k4/5/5/5/4K b P 1") ^ read("k4/5/5/5/4K b - 1")) >> 64 << 64;
        none_of(&game, two | bit, "three pawns in hand");
        let board = read("k4/5/3PP/5/4K b - 1");
        none_of(&game, board | bit, "three pawns in all");
        none_of(&game, two | 1 << 63, "a stray bit among the codes");
        none_of(&game, two | 1 << 127, "a stray bit at the top");
        none_of(&game, two >> 64 << 64 | 0b11111, "a code beyond the pieces");
        none_of(&game, two >> 64 << 64, "two kings of one player");
        let second = Position { state: game.start().state, side: Side::Second };
        assert_eq!(game.position_of(game.position_key(&second)).unwrap().side, Side::Second);
    }

    /// Random bits have no state, or they are the key of the state they have.
    #[test]
    fn random_keys_are_of_no_state_or_of_their_own() {
        fn check(game: &Shogi, broken: impl Fn(u128, &mut Random) -> u128) {
            let mut random = Random(4);
            let mut states = 0;
            for _ in 0..20_000 {
                let mut position = game.start();
                for _ in 0..random.below(8) {
                    let actions = game.actions(&position.state);
                    let Some(&action) = actions.get(random.below(actions.len().max(1))) else {
                        break;
                    };
                    position = game.advance(&position, action);
                }
                let key = broken(game.key(&position.state), &mut random);
                let Some(position) = game.position_of(key) else { continue };
                states += 1;
                assert_eq!(game.state(key), Some(position.state));
                let plain = Shogi::new(game.variant(), false);
                assert_eq!(plain.position_key(&position), key);
            }
            assert!((100..19_000).contains(&states), "{states} of 20,000 had a state");
        }
        let flipped = |random: &mut Random| 1u128 << random.below(64) | 1 << random.below(64);
        check(&Shogi::new(&ANIMAL_SHOGI, true), |key, random| key ^ flipped(random));
        check(&Shogi::new(&MINISHOGI, true), |key, random| {
            let flip = flipped(random);
            key ^ [flip << 64, flip << 64 | flip, flip][random.below(3)]
        });
    }
}
