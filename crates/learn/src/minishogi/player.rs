//! The value network as a player: a search for mates by checks, then beam search.
//!
//! A proven win is played by the shortest proof; equal ones share the probability. Otherwise moves
//! that are proven to lose are excluded (if every move loses, the longest proof is played), and the
//! beam's best of the others are played with equal probability. A move's score is its value in
//! the search (see [`beam`](super::beam)); moves that the beam did not keep have probability 0. The
//! position's value is that of the chosen move.

use rayon::prelude::*;

use super::beam::{Beam, RootMove, loss_in};
use super::quick::Quick;
use super::{Minishogi, ValueFunction, rules};
use yomikiri::error::Error;
use yomikiri::games::shogi::{Board, MINISHOGI};
use yomikiri::rules::{AnyPosition, Game, Position, Rules};
use yomikiri::search::mates::{Fate, MateRules, board_of, fates};
use yomikiri_measure::policy::card::{Card, file};
use yomikiri_measure::policy::{Answers, Batch, NetworkSpec, Policy, share_best};

/// Settings of a player's search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerSearch {
    /// The beam.
    pub beam: Beam,
    /// Maximum number of positions that the search for mates by checks visits per position; 0 disables it.
    pub mate: usize,
}

/// A value network that plays minishogi.
pub struct MinishogiPlayer<V> {
    name: String,
    values: V,
    search: PlayerSearch,
    game: Minishogi,
    mating: MateRules,
}

/// Loads a network as a player of `game`. The defaults of the specification are one ply, 4 moves wide, no
/// search for mates. Fails if the network is for another game.
pub fn load(
    name: String,
    spec: &NetworkSpec,
    card: &Card,
    game: &dyn Rules,
) -> Result<MinishogiPlayer<Quick>, Error> {
    let path = file(&spec.path, "onnx");
    card.check(&path, &game.name())?;
    let bytes = card.model(&path)?;
    let values = Quick::read(&bytes);
    let values = values
        .ok_or_else(|| card.unfit(&path, "is not a value network for minishogi".to_string()))?;
    if spec.reading.symmetric {
        return Err(Error::from(format!(
            "policy '{name}': symmetric=yes does not apply to minishogi"
        ))
        .with_hint("use depth, width and mate for minishogi"));
    }
    let number = |number: Option<u32>, otherwise| number.map_or(otherwise, |n| n as usize);
    let beam = Beam { width: number(spec.width, 4), plies: number(spec.reading.depth, 1) };
    Ok(MinishogiPlayer::new(name, values, PlayerSearch { beam, mate: number(spec.mate, 0) }))
}

impl<V: ValueFunction> MinishogiPlayer<V> {
    /// Returns a player with this name.
    pub fn new(name: String, values: V, search: PlayerSearch) -> MinishogiPlayer<V> {
        MinishogiPlayer { name, values, search, game: rules(), mating: MateRules::of(&MINISHOGI) }
    }

    /// Evaluates all legal moves of a position.
    fn judge(&self, position: &Position<Board>) -> Vec<RootMove> {
        let (game, beam) = (&self.game, self.search.beam);
        if self.search.mate == 0 {
            return beam.judge(game, &self.values, position, &[]);
        }
        let actions = game.actions(&position.state);
        let nodes = self.search.mate as u64;
        let fates = fates(&self.mating, game, &position.state, &actions, nodes);
        let fates = || fates.iter().copied();
        if fates().any(|fate| matches!(fate, Fate::Wins(_))) {
            let one_ply = Beam { plies: 1, ..beam };
            let mut judged = one_ply.judge(game, &self.values, position, &[]);
            settle(&mut judged, fates());
            return judged;
        }
        let mut excluded: Vec<bool> = fates().map(|fate| fate != Fate::Open).collect();
        if !excluded.contains(&false) {
            let unsearched = |action| RootMove { action, value: 0.0, kept: true };
            let mut judged = actions.into_iter().map(unsearched).collect::<Vec<_>>();
            settle(&mut judged, fates());
            return judged;
        }
        let mut judged = beam.judge(game, &self.values, position, &excluded);
        for (judged, excluded) in judged.iter_mut().zip(&mut excluded) {
            *excluded = judged.kept;
        }
        settle(&mut judged, fates());
        for (judged, kept) in judged.iter_mut().zip(excluded) {
            judged.kept = kept;
        }
        judged
    }
}

/// Sets the values of moves with a proven fate and keeps them; if one wins, only winning moves are kept.
fn settle(judged: &mut [RootMove], fates: impl Iterator<Item = Fate> + Clone) {
    let won = fates.clone().any(|fate| matches!(fate, Fate::Wins(_)));
    for (judged, fate) in judged.iter_mut().zip(fates) {
        judged.kept &= !won;
        match fate {
            Fate::Open => {}
            Fate::Wins(plies) => {
                judged.value = 1.0 - loss_in(plies as usize);
                judged.kept = true;
            }
            Fate::Loses(plies) => judged.value = loss_in(plies as usize),
        }
    }
}

impl<V: ValueFunction> Policy for MinishogiPlayer<V> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn answer(&self, game: &dyn Rules, batch: &Batch) -> Result<Answers, Error> {
        if game.name() != self.game.name() {
            return Err(Error::from(format!(
                "policy '{}' plays {}, not {}",
                self.name,
                self.game.name(),
                game.name()
            )));
        }
        let with_board = |position: &AnyPosition| {
            let state = board_of(game, &position.state).expect("minishogi has boards");
            Position { state, side: position.side }
        };
        let judge = |position: &AnyPosition| self.judge(&with_board(position));
        let judged: Vec<Vec<RootMove>> = batch.positions().par_iter().map(judge).collect();
        let mut answers = Answers::default();
        answers.probabilities.resize(batch.actions().len(), 0.0);
        for (at, judged) in judged.iter().enumerate() {
            let range = batch.range(at);
            let worth = |j: &RootMove| if j.kept { j.value } else { f64::NEG_INFINITY };
            let worths: Vec<f64> = judged.iter().map(worth).collect();
            answers.scores.extend(judged.iter().map(|judged| judged.value));
            share_best(&worths, &mut answers.probabilities[range]);
            let best = worths.into_iter().fold(f64::NEG_INFINITY, f64::max);
            answers.values.push(2.0 * best.clamp(0.0, 1.0) - 1.0);
        }
        Ok(answers)
    }
}

#[cfg(test)]
mod tests {
    use super::super::erased;
    use super::super::test_positions::{Bumpy, position, positions};
    use super::*;
    use yomikiri_measure::policy::ask;

    fn player(plies: usize, mate: usize) -> MinishogiPlayer<Bumpy> {
        let search = PlayerSearch { beam: Beam { width: 3, plies }, mate };
        MinishogiPlayer::new("bumpy".to_string(), Bumpy, search)
    }

    fn answers(player: &MinishogiPlayer<Bumpy>, positions: &[Position<Board>]) -> Answers {
        let (rules, game, mut batch) = (rules(), rules().into_rules(), Batch::default());
        for position in positions {
            batch.push(erased(&*game, &rules, position), rules.actions(&position.state));
        }
        let answers = player.answer(&*game, &batch).unwrap();
        answers.check(&batch).unwrap();
        answers
    }

    #[test]
    fn answers_depend_on_the_position_alone() {
        let game = rules();
        let positions: Vec<_> = positions(&game, 300).into_iter().step_by(9).collect();
        for player in [player(3, 0), player(2, 400)] {
            let together = answers(&player, &positions);
            let mut apart = Answers::default();
            for position in &positions {
                let one = answers(&player, &[*position]);
                apart.probabilities.extend(one.probabilities);
                apart.scores.extend(one.scores);
                apart.values.extend(one.values);
            }
            assert_eq!(together, apart);
        }
    }

    #[test]
    fn proven_wins_are_played_and_proven_losses_avoided() {
        let game = rules();
        // Mate in 3 by either drop, which the values do not show at one ply.
        let won = position(&game, "2k1S/4p/1gS2/4b/1KR2 b RGPb 1");
        let player = player(1, 4_000);
        let any = rules().into_rules();
        let chosen = ask(&player, &*any, &erased(&*any, &game, &won)).unwrap();
        let chosen = chosen.iter().filter(|(_, p)| *p > 0.0);
        for (action, _) in chosen {
            let name = game.action_name(won.side, *action);
            assert!(["R*5a", "R*2a"].contains(&name.as_str()), "{name}");
        }
        assert_eq!(answers(&player, &[won]).values, [1.0]);
        let mut avoided = 0;
        for root in positions(&game, 2_000).iter().step_by(40) {
            let actions = game.actions(&root.state);
            let fates = fates(&player.mating, &game, &root.state, &actions, 4_000);
            let loses = |fate: Fate| matches!(fate, Fate::Loses(_));
            if fates.iter().all(|fate| loses(*fate)) {
                continue;
            }
            let answers = ask(&player, &*any, &erased(&*any, &game, root)).unwrap();
            for (fate, (_, probability)) in fates.iter().zip(answers) {
                assert!(!loses(*fate) || probability == 0.0);
                avoided += u32::from(loses(*fate));
            }
        }
        assert!(avoided > 20, "{avoided}");
    }

    #[test]
    fn another_game_is_refused() {
        let animals = yomikiri::registry::shogi(&yomikiri::games::shogi::ANIMAL_SHOGI);
        let start = animals.start();
        let error = ask(&player(1, 0), &*animals, &start).unwrap_err().to_string();
        assert!(error.contains("plays minishogi, not animal-shogi"), "{error}");
    }
}
