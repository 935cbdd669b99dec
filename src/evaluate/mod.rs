//! Policies measured on solved tables, exactly.
//!
//! * [`accuracy`] asks a policy for its move in every position that a table stands for and sets the
//!   probabilities against the moves' exact values; [`accuracy_cyclic`] does so on tables of cyclic
//!   games;
//! * [`AccuracyReport`] puts the figures of several policies beside the facts of the table, as data
//!   for people's programs (`docs/report-schema.md`) and for [`render`](crate::render);
//! * [`Perfect`] and [`CyclicPerfect`] play a table's best moves, and [`build`] and
//!   [`build_cyclic`] make a policy from what a person wrote.
//!
//! All values are the mover's. Figures are expectations over the policy's probabilities and do not
//! depend on the number of threads: not in their last bit.

mod accuracy;
mod cyclic;
mod figures;
mod perfect;
mod perfect_cyclic;
mod report;

pub use accuracy::{
    Layer, LayerAccuracy, MeasureError, PolicyAccuracy, accuracy, judged_positions,
};
pub use cyclic::{CyclicAccuracy, CyclicPolicy, CyclicRows, accuracy_cyclic};
pub use figures::{Blunders, Figures, FiguresBySet};
pub use perfect::Perfect;
pub use perfect_cyclic::CyclicPerfect;
pub use report::{AccuracyReport, RootFacts, SCHEMA, SCHEMA_VERSION, TableFacts};

use std::time::Duration;

use crate::game::{Cyclic, Layered};
use crate::graph::Graph;
use crate::policy::{
    ByRule, Exec, Greedy, Policy, PolicyError, PolicySpec, PolicySpecError, Predictions, Random,
    Weights,
};
use crate::solve::Solved;
use crate::solve::cyclic::CyclicSolved;

/// Makes the policy that is meant for a game, the perfect one from its solved table; reads the
/// file of weights if one is named.
pub fn build<'a, G: Layered>(
    spec: &PolicySpec,
    game: &G,
    graph: &'a Graph,
    solved: &'a Solved,
    limit: Duration,
) -> Result<Box<dyn Policy<G> + 'a>, PolicyError> {
    Ok(match spec {
        PolicySpec::Random => Box::new(ByRule(Random)),
        PolicySpec::Greedy => Box::new(ByRule(Greedy)),
        PolicySpec::Weights => Box::new(ByRule(Weights::of_board(game.spec()))),
        PolicySpec::WeightsFile(path) => Box::new(ByRule(Weights::read(game.spec(), path)?)),
        PolicySpec::Perfect => Box::new(Perfect::new(graph, solved)),
        PolicySpec::Predictions(dir) => Box::new(Predictions::read(game, dir)?),
        PolicySpec::Exec(command) => Box::new(Exec::start(game, command, limit)?),
    })
}

/// The same for a cyclic game. Fails where the policy is for another game.
pub fn build_cyclic<'a, G: Cyclic>(
    spec: &PolicySpec,
    game: &G,
    rows: CyclicRows<'a>,
    solved: &'a CyclicSolved,
    limit: Duration,
) -> Result<CyclicPolicy<'a, G>, PolicyError> {
    Ok(match spec {
        PolicySpec::Random => CyclicPolicy::Rule(Box::new(ByRule(Random))),
        PolicySpec::Greedy => CyclicPolicy::Rule(Box::new(ByRule(Greedy))),
        PolicySpec::Predictions(dir) => CyclicPolicy::Rule(Box::new(Predictions::read(game, dir)?)),
        PolicySpec::Exec(command) => {
            CyclicPolicy::Rule(Box::new(Exec::start(game, command, limit)?))
        }
        PolicySpec::Perfect => CyclicPolicy::Perfect(CyclicPerfect::new(rows, solved)),
        PolicySpec::Weights | PolicySpec::WeightsFile(_) => {
            return Err(PolicySpecError::other_game(spec, game.spec()).into());
        }
    })
}
