//! Builds policies from their specifications.

use super::NetworkSpec;
use super::batch_check::BatchCheck;
use super::spec::{PlayOn, ReadAhead};
use super::{
    ByRule, Engine, Even, Exec, Greedy, Lines, Mate, Material, Mcts, Minimax, MonteCarlo,
    MoveCount, Policy, PolicySpec, Predictions, Random, Rule, StaticEvaluation, Weights,
};
use yomikiri::error::Error;
use yomikiri::rules::Rules;

/// Builds a policy that goes by the rules and at most a file of weights. Returns `None` for
/// [`PolicySpec::Perfect`], which needs a solved table. Fails if the policy does not suit the game, if the
/// file is invalid, or for networks and external policies.
pub fn of_rules(spec: &PolicySpec, game: &dyn Rules) -> Result<Option<Box<dyn Policy>>, Error> {
    spec.check(game)?;
    if let PolicySpec::Mate(nodes) = *spec {
        return Ok(Mate::new(spec.to_string(), nodes, game).and_then(by_rule));
    }
    let weights = match spec.weights_file() {
        Some(path) => Weights::read(game.shape(), path)?,
        None if Weights::suit(game) => Weights::of_board(game.shape()),
        None => return of_any(spec, Material),
    };
    Ok(match spec {
        PolicySpec::Weights | PolicySpec::WeightsFile(_) => by_rule(weights),
        _ => of_any(spec, weights)?,
    })
}

/// Builds a policy of files, a model or a program; returns `None` for all others.
pub fn of_outside(spec: &PolicySpec, game: &dyn Rules) -> Result<Option<Box<dyn Policy>>, Error> {
    Ok(match spec {
        PolicySpec::Predictions(dir, reading) => {
            Some(Box::new(Predictions::read(game, spec.to_string(), dir, reading)?))
        }
        PolicySpec::Exec { command, limit, reading } => {
            let name = spec.to_string();
            Some(Box::new(BatchCheck::program(Exec::start(game, name, command, reading, *limit)?)))
        }
        PolicySpec::Engine(engine) => Some(Box::new(Engine::start(game, engine)?)),
        PolicySpec::Network(network) if !network.kept => {
            spec.check(game)?;
            Some(network.load(spec.to_string(), game)?)
        }
        _ => None,
    })
}

/// Builds a policy that goes by the rules alone; searches use `evaluation`.
fn of_any(
    spec: &PolicySpec,
    evaluation: impl StaticEvaluation + 'static,
) -> Result<Option<Box<dyn Policy>>, Error> {
    let name = spec.to_string();
    Ok(match *spec {
        PolicySpec::Random => by_rule(Random),
        PolicySpec::Greedy => by_rule(Greedy),
        PolicySpec::Tactician => by_rule(Minimax::alpha_beta(name, 2, Even)),
        PolicySpec::Reads(reader, plies, _) => match reader {
            ReadAhead::NHand => by_rule(Lines::new(name, plies, Material)),
            ReadAhead::NHandCustom => by_rule(Lines::new(name, plies, evaluation)),
            // A player's turns are two plies apart, and the opponent's first one follows the move.
            ReadAhead::NLeast => by_rule(Lines::new(name, 2 * plies - 1, MoveCount)),
            ReadAhead::NMost => by_rule(Lines::new(name, 2 * plies, MoveCount)),
            ReadAhead::Minimax => by_rule(Minimax::new(name, plies, evaluation)),
            ReadAhead::AlphaBeta => by_rule(Minimax::alpha_beta(name, plies, evaluation)),
        },
        PolicySpec::Plays(PlayOn::MonteCarlo, playouts, seed) => {
            Some(Box::new(MonteCarlo::new(playouts, seed)))
        }
        PolicySpec::Plays(PlayOn::Mcts, simulations, seed) => {
            Some(Box::new(Mcts::new(simulations, seed)))
        }
        PolicySpec::Perfect => None,
        _ => {
            return Err(Error::from(format!("policy '{name}' needs more than the rules"))
                .with_hint("use learn::player for trained networks"));
        }
    })
}

/// Returns the policy of a rule, which is boxed so that policies are compiled once for all rules.
fn by_rule(rule: impl Rule + 'static) -> Option<Box<dyn Policy>> {
    Some(Box::new(ByRule(Box::new(rule) as Box<dyn Rule>)))
}

impl NetworkSpec {
    /// Loads the model at [`path`](NetworkSpec::path) as a policy of a name.
    ///
    /// The error is one line that names the file, its fault and a remedy.
    #[cfg(feature = "onnx")]
    pub fn load<'a>(&self, name: String, game: &dyn Rules) -> Result<Box<dyn Policy + 'a>, Error> {
        Ok(Box::new(super::BatchCheck::model(super::Onnx::load(self, name, game)?)))
    }

    /// Fails: this build cannot read models.
    #[cfg(not(feature = "onnx"))]
    pub fn load<'a>(&self, name: String, _game: &dyn Rules) -> Result<Box<dyn Policy + 'a>, Error> {
        let (what, hint) = NetworkSpec::NOT_BUILT_IN;
        Err(Error::from(format!("{name}: {what}")).with_hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_positions::{four, minishogi};
    use super::*;

    #[test]
    fn only_the_perfect_policy_waits_for_a_table() {
        let perfect = PolicySpec::Perfect;
        assert!(of_rules(&perfect, &*four()).unwrap().is_none());
        assert!(of_rules(&perfect, &*minishogi()).unwrap().is_none());
        let learned: PolicySpec = "learned:x".parse().unwrap();
        let errors = [of_rules(&learned, &*four()).err(), of_rules(&learned, &*minishogi()).err()];
        for error in errors {
            let message = error.expect("a network is not perfect").line();
            assert!(message.starts_with("policy 'learned:x' ") && !message.contains('\n'));
        }
    }
}
