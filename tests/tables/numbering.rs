//! A table of a game that numbers its states wrongly must not be proven.

use crate::common::solved::enumerated;
use yomikiri::any::AnyGame;
use yomikiri::game::{Action, Game, Outcome, Position, Ranks, Side};
use yomikiri::graph::Plan;
use yomikiri::progress::Silent;

/// Twenty matches, of which a player takes one or two; the player who finds none has lost.
#[derive(Clone)]
struct Matches {
    /// `true` if two ranks have each other's states.
    muddled: bool,
}

impl Game for Matches {
    type State = u8;
    type Key = u64;

    fn name(&self) -> String {
        "matches".to_string()
    }

    fn start(&self) -> Position<u8> {
        Position { state: 20, side: Side::First }
    }

    fn action_count(&self) -> usize {
        2
    }

    fn for_each_action(&self, left: &u8, visit: impl FnMut(Action)) {
        (0..u16::from(*left).min(2)).map(Action).for_each(visit);
    }

    fn play(&self, left: &u8, action: Action) -> u8 {
        left - 1 - action.0 as u8
    }

    fn result(&self, left: &u8) -> Option<Outcome> {
        (*left == 0).then_some(Outcome::Loss)
    }

    fn key(&self, left: &u8) -> u64 {
        u64::from(*left)
    }

    fn state(&self, key: u64) -> Option<u8> {
        u8::try_from(key).ok().filter(|&left| left <= 20)
    }

    fn ranks(&self) -> Option<&dyn Ranks<u8>> {
        Some(self)
    }
}

impl Ranks<u8> for Matches {
    fn count(&self) -> u32 {
        21
    }

    fn rank_of(&self, left: &u8) -> Option<u32> {
        Some(u32::from(*left))
    }

    fn state_of(&self, rank: u32) -> Option<u8> {
        Some(match rank {
            3 | 4 if self.muddled => 7 - rank as u8,
            rank => u8::try_from(rank).ok().filter(|&left| left <= 20)?,
        })
    }

    fn predecessors(&self, rank: u32, before: &mut Vec<u32>) {
        before.extend((rank + 1..=rank + 2).filter(|&more| more <= 20));
    }
}

#[test]
fn ranks_whose_states_have_other_ranks_are_found() {
    let game = AnyGame::new(Matches { muddled: false });
    let (_dir, table) = enumerated(&game, &Plan::from_start(&game));
    assert!(table.manifest().identity.is_by_rank());
    assert_eq!(game.verify(&table, &Silent).unwrap().counterexample, None);
    let muddled = AnyGame::new(Matches { muddled: true });
    // Without values, which might differ too.
    let found = muddled.verify(&table, &Silent).unwrap().counterexample.unwrap();
    assert_eq!((found.row, &*found.what), (4, "its position has the rank of row 3"));
}
