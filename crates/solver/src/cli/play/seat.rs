//! Players of either side.

use super::super::context::Context;
use super::super::players::player;
use super::super::table_args::TableArgs;
use yomikiri::error::Error;
use yomikiri::oracle::Oracle;
use yomikiri::rules::{Action, AnyPosition, Rules};
use yomikiri_measure::judge::Player;
use yomikiri_measure::policy::chance::{sample, seeded, unit};

/// A person or a policy.
pub(super) enum Seat {
    Human,
    Policy(Player),
}

/// A policy's move, with a remark on it.
pub(super) struct Chosen {
    pub action: Action,
    pub remark: Option<&'static str>,
}

impl Seat {
    /// Returns the player of a name: `human`, or a policy.
    pub(super) fn new(
        name: &str,
        table: &TableArgs,
        game: &dyn Rules,
        context: &Context,
    ) -> Result<Seat, Error> {
        if name == "human" {
            return Ok(Seat::Human);
        }
        let specs = table.policies(&[name.to_string()], game, context)?;
        let [spec] = &specs[..] else {
            return Err(Error::from(format!("invalid player `{name}`: expected one policy")));
        };
        Ok(Seat::Policy(player(spec, game, &context.store)?))
    }

    pub(super) fn name(&self) -> String {
        match self {
            Seat::Human => "human".to_string(),
            Seat::Policy(player) => player.name(),
        }
    }
}

/// Chooses a policy's move; the same for the same seed. A perfect player without proven values plays the best of
/// the bounds, or without bounds at random: the remark says so.
pub(super) fn choose(
    player: &Player,
    oracle: &dyn Oracle,
    position: &AnyPosition,
    seed: [u64; 2],
) -> Result<Chosen, Error> {
    let mut random = seeded(seed[0], &[seed[1]]);
    let unit = unit(&mut random);
    let game = oracle.game();
    let choice = match player.choose(game, Some(oracle), position) {
        Ok(choice) => choice,
        Err(_) if player.policy().is_none() => {
            let (actions, remark) = match oracle.best_actions(position).first().copied() {
                None => (game.actions(&position.state), "no value is known here: a random move"),
                // The one that wins soonest or loses latest.
                Some(best) => {
                    (vec![best], "not all values are proven here: the best of those that are")
                }
            };
            let at = (unit * actions.len() as f64) as usize;
            return Ok(Chosen { action: actions[at], remark: Some(remark) });
        }
        Err(error) => return Err(error),
    };
    Ok(Chosen { action: choice.actions[sample(&choice.probabilities, unit)], remark: None })
}
