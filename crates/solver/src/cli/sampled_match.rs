//! `solver match --sample`: sampled games, on boards too large for a table.

use serde::Serialize;

use super::context::Context;
use super::players::player;
use yomikiri::error::Error;
use yomikiri::rules::{Rules, Side};
use yomikiri_measure::judge::{GameTally, Player, Sampling, Words, arena};
use yomikiri_measure::policy::{Policy, PolicySpec};
use yomikiri_measure::render::number::{percent, thousands};

/// The result of sampled games; the JSON that `--json` prints.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Sampled {
    /// The game.
    game: String,
    /// Policy whose results these are.
    policy: String,
    /// Opponent.
    opponent: String,
    /// The names of the first and the second player.
    sides: [&'static str; 2],
    /// Units of scores, in games with scores.
    #[serde(skip)]
    units: Option<String>,
    /// Plies at random before the policies take over.
    random_plies: u32,
    /// The seed of the games.
    seed: u64,
    /// As the first player, and as the second.
    first: GameTally,
    /// As the second.
    second: GameTally,
}

/// Plays games between two policies and prints the result.
pub(super) fn run(
    game: &dyn Rules,
    policies: &[PolicySpec],
    sampling: Sampling,
    context: &mut Context,
) -> Result<(), Error> {
    let named = |spec| policy(spec, game, "leave out --sample, which plays exactly", context);
    let players = policies.iter().map(named).collect::<Result<Vec<_>, Error>>()?;
    let [first, second] =
        arena(game, players[0].as_ref(), players[1].as_ref(), sampling, &context.bars)?;
    let sampled = Sampled {
        game: game.name(),
        policy: players[0].name(),
        opponent: players[1].name(),
        sides: Side::ALL.map(|side| game.side_name(side)),
        units: game.has_scores().then(|| Words::of(game).units),
        random_plies: sampling.random_plies,
        seed: sampling.seed,
        first,
        second,
    };
    context.show("match-sample", &sampled, text)?;
    if !context.json && (first.identical || second.identical) {
        context.remark("all these games are the same; --random-plies makes them differ");
    }
    Ok(())
}

/// Makes a policy for sampled games.
pub(super) fn policy(
    spec: &PolicySpec,
    game: &dyn Rules,
    hint: &str,
    context: &Context,
) -> Result<Box<dyn Policy>, Error> {
    match player(spec, game, &context.store)? {
        Player::Policy(policy) => Ok(policy),
        Player::Perfect | Player::Named(..) => {
            Err(Error::new("the perfect policy needs a table", hint))
        }
    }
}

fn text(sampled: &Sampled) -> String {
    let mut text = format!(
        "{} against {} on {}, {} games with each side from the seed {}, {} random plies before\n\n",
        sampled.policy,
        sampled.opponent,
        sampled.game,
        thousands(sampled.first.games()),
        sampled.seed,
        sampled.random_plies
    );
    for (side, tally) in sampled.sides.iter().zip([&sampled.first, &sampled.second]) {
        text += &format!(
            "as {side:<6} {} won, {} drawn, {} lost: {} of the points ({}){}\n",
            thousands(tally.wins),
            thousands(tally.draws),
            thousands(tally.losses),
            percent(tally.points()),
            match tally.identical {
                true => "all games are the same".to_string(),
                false => format!("standard error {}", percent(tally.error())),
            },
            match (&sampled.units, tally.score) {
                (Some(units), Some(score)) => {
                    format!(", {:+.2} {units} a game", score as f64 / tally.games() as f64)
                }
                _ => String::new(),
            }
        );
    }
    text
}
