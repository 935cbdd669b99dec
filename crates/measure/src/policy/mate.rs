//! Mates by checks: played if there is one, and avoided if the opponent has one.

use super::Rule;
use yomikiri::games::shogi::Shogi;
use yomikiri::rules::{Action, AnyPosition, Rules};
use yomikiri::search::mates::{Fate, MateRules, board_of, fates};

/// Plays a mate by checks, and avoids moves that allow one; the other moves are equally likely. If every move
/// allows a mate, it plays against the longest one found.
#[derive(Debug)]
pub struct Mate {
    name: String,
    nodes: u32,
    rules: MateRules,
    game: Shogi,
}

impl Mate {
    /// Returns a policy that searches `nodes` positions for its own mate, and as many, in equal shares, for
    /// the opponent's mates after its moves; `None` for games outside the shogi family.
    pub fn new(name: String, nodes: u32, game: &dyn Rules) -> Option<Mate> {
        let variant = game.typed::<Shogi>()?.variant();
        let (rules, game) = (MateRules::of(variant), Shogi::new(variant, false));
        Some(Mate { name, nodes, rules, game })
    }
}

impl Rule for Mate {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn worths(
        &self,
        game: &dyn Rules,
        position: &AnyPosition,
        actions: &[Action],
        out: &mut [f64],
    ) {
        let board = board_of(game, &position.state).expect("it is a game of the shogi family");
        let fates = fates(&self.rules, &self.game, &board, actions, self.nodes.into());
        for (out, fate) in out.iter_mut().zip(fates) {
            // Mates have at most 128 plies.
            *out = match fate {
                Fate::Open => 0.0,
                Fate::Wins(plies) => 256.0 - f64::from(plies),
                Fate::Loses(plies) => f64::from(plies) - 256.0,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_positions::{animals, answers, four, minishogi, positions};
    use super::super::{ByRule, Policy};
    use super::*;
    use yomikiri::rules::{AnyState, Outcome};

    fn mate(game: &dyn Rules, nodes: u32) -> ByRule<Mate> {
        ByRule(Mate::new(format!("mate:{nodes}"), nodes, game).expect("a game of shogi"))
    }

    /// Returns the moves played in a position.
    fn played(policy: &dyn Policy, game: &dyn Rules, position: &AnyPosition) -> Vec<Action> {
        let probabilities = answers(policy, game, &[*position]).probabilities;
        let actions = game.actions(&position.state).into_iter().zip(probabilities);
        actions.filter(|(_, p)| *p > 0.0).map(|(action, _)| action).collect()
    }

    #[test]
    fn a_mate_is_played_out_against_every_reply() {
        let game = minishogi();
        let policy = mate(&*game, 5_000);
        // Mate in 3 by either drop.
        let root = game.parse_position("2k1S/4p/1gS2/4b/1KR2 b RGPb 1", &game.start()).unwrap();
        let mut lines = 0;
        for first in played(&policy, &*game, &root) {
            let after = game.advance(&root, first);
            for reply in game.actions(&after.state) {
                let next = game.advance(&after, reply);
                for last in played(&policy, &*game, &next) {
                    assert!(game.is_terminal(&game.play(&next.state, last)));
                    lines += 1;
                }
            }
        }
        assert!(lines > 0);
    }

    #[test]
    fn moves_that_allow_a_mate_in_one_are_avoided() {
        fn avoided(game: &dyn Rules) -> (usize, usize) {
            let policy = mate(game, 20_000);
            let wins = |state: &AnyState, action| {
                game.result(&game.play(state, action)) == Some(Outcome::Loss)
            };
            let ends = |state: &AnyState| {
                game.result(state) == Some(Outcome::Win)
                    || game.actions(state).into_iter().any(|action| wins(state, action))
            };
            let (mut avoided, mut won) = (0, 0);
            for position in positions(game, 400).iter().step_by(4) {
                let state = &position.state;
                let played = played(&policy, game, position);
                if ends(state) {
                    assert!(played.iter().all(|&action| wins(state, action)));
                    won += 1;
                    continue;
                }
                // If every move is found to lose, the longest mate found may still be in one.
                let scores = answers(&policy, game, &[*position]).scores;
                // A single move is not searched.
                if scores.contains(&0.0) && scores.len() > 1 {
                    let losing = |action: &&Action| ends(&game.play(state, **action));
                    let lost: Vec<&Action> = played.iter().filter(losing).collect();
                    let shown = (game.name(), game.notation(position), &scores);
                    assert!(lost.is_empty(), "{lost:?} of {played:?} {shown:?}");
                    avoided += game.actions(state).iter().filter(losing).count();
                }
            }
            (avoided, won)
        }
        let found = [avoided(&*minishogi()), avoided(&*animals())];
        assert!(found[0].0 > 20 && found[0].1 > 0, "{found:?}");
        assert!(Mate::new(String::new(), 1, &*four()).is_none());
    }
}
