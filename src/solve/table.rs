//! A table of any game solved.

use super::cyclic::{solve_cyclic, solve_ranked};
use super::{Algorithm, CyclicMethod, Method, Run, SolveOptions, SweepError, value_iterate};
use crate::game::{Game, Outcome, Repetition, Side};
use crate::graph::{Graph, Ranked, RankedGame};
use crate::progress::Progress;
use crate::table::{SweepRecord, Table};

/// Solves a table in the way that its game and the options call for; `each` is told of every sweep.
pub fn solve<G: Game>(
    game: &G,
    table: &mut Table,
    options: &SolveOptions,
    progress: &dyn Progress,
    each: &mut dyn FnMut(usize, &SweepRecord),
) -> Result<Run, SweepError> {
    if let Some(option) = options.unfit(game) {
        let name = game.name();
        return Err(SweepError::Options(format!("{option} means nothing for {name}")));
    }
    if game.layers().is_some() {
        let graph = Graph::open_checked(table)?;
        let exact = Method::exact(game);
        let method = Method {
            order: options.order.unwrap_or(exact.order),
            theta: options.theta.unwrap_or(exact.theta),
            empties: options.empties.unwrap_or(exact.empties),
            discount: options.discount,
            ..exact
        };
        let terminal = graph.terminal_scores(game, method.empties);
        return value_iterate(table, &graph, &terminal, &method, progress, each);
    }
    let (identity, complete) = (&table.manifest().identity, table.manifest().complete);
    let repetition = match identity.checks_only {
        true => Repetition::Unknown,
        false => game.repetition(),
    };
    let method = CyclicMethod {
        // Where most states are cut off, few sweeps do; where none is, there are many.
        algorithm: options.algorithm.unwrap_or(match complete {
            true => Algorithm::Retrograde,
            false => Algorithm::ValueIteration,
        }),
        repetition: options.repetition.unwrap_or(repetition),
    };
    if let Some(ranked) = Ranked::of(table, true)? {
        return solve_ranked(table, &ranked, &RankedGame(game), method, progress, each);
    }
    let graph = Graph::open_checked(table)?;
    // A key that is no position passed its checksum, so it was written wrong; `verify` names it.
    let position = |row: usize| graph.position(game, row);
    let end = |row: usize| {
        let end = position(row).and_then(|position| game.end(&position.state));
        end.map_or((Outcome::Loss, 0), |end| (end.outcome, end.plies))
    };
    let second = |row: usize| position(row).is_some_and(|position| position.side == Side::Second);
    solve_cyclic(table, &graph, (&end, &second), method, progress, each)
}
