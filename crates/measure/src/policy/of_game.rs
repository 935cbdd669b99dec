//! Policies by the rules of a game without its type.

use super::{Answers, Batch, Policy, PolicySpec, of_rules};
use yomikiri::any::{AnyGame, AnyState, OfType};
use yomikiri::game::othello::Othello;
use yomikiri::game::shogi::Shogi;
use yomikiri::game::{Game, WideKey};
use yomikiri::hint::Hinted;

type Made = Result<Option<Box<dyn Policy<AnyGame>>>, Hinted>;

/// Builds the policy of a specification if the rules are all it needs; see [`of_rules`]. Searches in the
/// built-in games run code compiled for their types.
pub fn of_game(spec: &PolicySpec, game: &AnyGame) -> Made {
    None.or_else(|| typed::<Othello<u64>>(spec, game))
        .or_else(|| typed::<Othello<WideKey>>(spec, game))
        .or_else(|| typed::<Shogi<u64>>(spec, game))
        .or_else(|| typed::<Shogi<WideKey>>(spec, game))
        .unwrap_or_else(|| of_rules(spec, game))
}

fn typed<G: Game>(spec: &PolicySpec, game: &AnyGame) -> Option<Made> {
    let game = game.of_type::<G>()?;
    let made = of_rules(spec, game.rules());
    Some(made.map(|policy| policy.map(|of_type| Box::new(Typed { game, of_type }) as _)))
}

/// A policy for a known game type, applied to positions of an [`AnyGame`].
struct Typed<G: Game> {
    game: OfType<G>,
    of_type: Box<dyn Policy<G>>,
}

impl<G: Game> Policy<AnyGame> for Typed<G> {
    fn name(&self) -> String {
        self.of_type.name()
    }

    fn answer(&self, _game: &AnyGame, batch: &Batch<AnyState>) -> Result<Answers, Hinted> {
        let batch = batch.map(|position| self.game.position(position));
        self.of_type.answer(self.game.rules(), &batch)
    }
}
