//! Ends of played games against the reference rules, ply by ply along random games.

use std::collections::HashMap;

use crate::common::Random;
use crate::common::plain::Plain;
use crate::common::plain_shogi::{self as plain, Rules};
use yomikiri::games::othello::Othello;
use yomikiri::games::shogi::{ANIMAL_SHOGI, MINISHOGI, SMALL_ANIMAL_SHOGI, Shogi, Variant};
use yomikiri::rules::{EndReason, Game, Outcome, PlayedEnd, PlayedGame};

/// Game of the reference rules, with as much of its history as its ends need.
struct Reference {
    position: plain::Position,
    /// Plies at which each position occurred.
    occurrences: HashMap<String, Vec<usize>>,
    /// Ply since which each side has given check with every move.
    checking_since: [usize; 2],
    ply: usize,
}

impl Reference {
    fn new(position: plain::Position) -> Reference {
        let occurrences = HashMap::from([(position.sfen(), vec![0])]);
        Reference { position, occurrences, checking_since: [0; 2], ply: 0 }
    }

    fn play(&mut self, played: plain::Move) {
        let mover = self.position.mover as usize;
        self.position = self.position.after(played);
        self.ply += 1;
        if !self.position.in_check(self.position.mover) {
            self.checking_since[mover] = self.ply;
        }
        self.occurrences.entry(self.position.sfen()).or_default().push(self.ply);
    }

    fn end(&self) -> Option<PlayedEnd> {
        if let Some(end) = self.position.end() {
            let outcome = match end {
                plain::End::Catch | plain::End::Safe => Outcome::Win,
                plain::End::Try | plain::End::Caught | plain::End::Stuck => Outcome::Loss,
            };
            return Some(PlayedEnd { outcome, reason: EndReason::Position });
        }
        let occurrences = &self.occurrences[&self.position.sfen()];
        let is_minishogi = self.position.rules.is_minishogi();
        if occurrences.len() < if is_minishogi { 4 } else { 3 } {
            return None;
        }
        if !is_minishogi {
            return Some(PlayedEnd { outcome: Outcome::Draw, reason: EndReason::Repetition });
        }
        let has_checked = self.checking_since.map(|since| since <= occurrences[0]);
        let (loser, reason) = match has_checked {
            [true, false] => (plain::Side::First, EndReason::PerpetualCheck),
            [false, true] => (plain::Side::Second, EndReason::PerpetualCheck),
            _ => (plain::Side::First, EndReason::Repetition),
        };
        let is_lost = loser == self.position.mover;
        Some(PlayedEnd { outcome: if is_lost { Outcome::Loss } else { Outcome::Win }, reason })
    }
}

/// Numbers of games by their end.
#[derive(Debug, Default)]
struct Ends {
    by_position: usize,
    by_repetition: usize,
    by_check: [usize; 2],
    unfinished: usize,
}

/// Starts of games: that of the variant, and boards with few pieces, on which positions return soon.
const SPARSE: [&str; 6] = [
    "1r2k/5/5/5/K4 w - 1",
    "4k/5/5/2R2/K4 b - 1",
    "k3r/5/2s2/5/K1G2 b - 1",
    "2k1r/5/1g3/3B1/2K2 w - 1",
    "k1r2/5/5/2R2/K4 b - 1",
    "4k/1b3/5/3R1/1K3 w - 1",
];

/// Plays random games whose players like to return to earlier positions, and some of them to give check.
fn shogi_games(variant: &Variant, rules: Rules, games: usize) -> Ends {
    let game = Shogi::new(variant, false).into_rules();
    let (mut random, mut ends) = (Random(7), Ends::default());
    for number in 0..games {
        let sfen = match rules.is_minishogi() && number % 4 > 0 {
            true => SPARSE[random.below(SPARSE.len())],
            false => variant.start,
        };
        let mut reference = Reference::new(plain::Position::read(rules, sfen));
        let mut played = PlayedGame::new(game.parse_position(sfen, &game.start()).unwrap());
        let returns = 5 + random.below(6);
        let checks = [0, 9].map(|most| if random.below(3) > 0 { most } else { random.below(9) });
        let checks = if random.below(2) == 0 { checks } else { [checks[1], checks[0]] };
        loop {
            let end = played.end(&*game);
            assert_eq!(end, reference.end(), "{sfen}: {}", played.transcript(&*game));
            match end {
                None if reference.ply < 200 => {}
                None => ends.unfinished += 1,
                Some(PlayedEnd { reason: EndReason::Position, .. }) => ends.by_position += 1,
                Some(PlayedEnd { reason: EndReason::Repetition, .. }) => ends.by_repetition += 1,
                Some(PlayedEnd { reason: EndReason::PerpetualCheck, outcome }) => {
                    let mover = reference.position.mover as usize;
                    ends.by_check[if outcome == Outcome::Loss { mover } else { 1 - mover }] += 1;
                }
            }
            if end.is_some() || reference.ply == 200 {
                break;
            }
            let mut moves = reference.position.moves();
            let after = |&one: &plain::Move| reference.position.after(one);
            let mut prefer = |chance: usize, likes: &dyn Fn(&plain::Position) -> bool| {
                let liked = || moves.iter().copied().filter(|one| likes(&after(one)));
                let liked: Vec<plain::Move> =
                    if random.below(10) < chance { liked().collect() } else { Vec::new() };
                if !liked.is_empty() {
                    moves = liked;
                }
            };
            // Without care, animal shogi is over after a few plies.
            prefer(if rules.is_minishogi() { 0 } else { 10 }, &|at| at.end().is_none());
            prefer(checks[reference.position.mover as usize], &|at| at.in_check(at.mover));
            prefer(returns, &|at| reference.occurrences.contains_key(&at.sfen()));
            let chosen = moves[random.below(moves.len())];
            let name = reference.position.usi(chosen);
            played.play_text(&*game, &name).unwrap();
            reference.play(chosen);
        }
        // Nothing can be played after the end, and taking a move back takes the end back.
        if played.end(&*game).is_some() && !played.moves().is_empty() {
            let position = *played.position();
            for action in game.actions(&position.state) {
                let name = game.action_name(position.side, action);
                assert!(played.clone().play_text(&*game, &name).is_err(), "{name}");
            }
            let last = played.undo().unwrap();
            assert_eq!(played.end(&*game), None);
            played.play(&*game, last);
            assert_eq!(*played.position(), position);
        }
    }
    ends
}

/// Plays random games of Othello.
fn othello_games(games: usize) {
    let mut random = Random(8);
    for _ in 0..games {
        let (rows, columns) = (4 + random.below(5), 4 + random.below(5));
        let game = Othello::new(rows, columns, false).into_rules();
        let mut plain = Plain::start(rows, columns);
        let mut played = PlayedGame::new(game.start());
        loop {
            let end = played.end(&*game).map(|end| (end.outcome, end.reason));
            let outcome = Outcome::of(plain.final_score().signum() as i8);
            let expected = plain.is_over().then_some((outcome, EndReason::Position));
            assert_eq!(end, expected, "{}", played.transcript(&*game));
            let mut moves = plain.successors();
            if moves.is_empty() {
                break;
            }
            let (number, after) = moves.swap_remove(random.below(moves.len()));
            let actions = game.actions(&played.position().state);
            played.play(&*game, *actions.iter().find(|action| action.0 == number).unwrap());
            plain = after;
        }
    }
}

fn compare(games: usize) {
    othello_games(games / 5);
    let mini = shogi_games(&MINISHOGI, Rules::Minishogi, games / 5);
    let animal = shogi_games(&ANIMAL_SHOGI, Rules::Adjudicated, games / 5);
    let small = shogi_games(&SMALL_ANIMAL_SHOGI, Rules::Adjudicated, 2 * games / 5);
    assert!(mini.by_position >= games / 100 && mini.by_repetition >= games / 100, "{mini:?}");
    assert!(mini.by_check.iter().all(|&count| count >= games / 200), "{mini:?}");
    for ends in [animal, small] {
        assert!(ends.by_repetition >= games / 200 && ends.by_position >= games / 100, "{ends:?}");
        assert_eq!(ends.by_check, [0, 0], "perpetual check has no rule in animal shogi");
    }
}

#[test]
fn random_games_end_as_by_the_reference_rules() {
    compare(1_000);
}

#[test]
#[ignore = "takes half a minute"]
fn ten_thousand_random_games_end_as_by_the_reference_rules() {
    compare(10_000);
}
