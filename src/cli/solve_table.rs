//! Solving a table, as `value-iterate` and `report` do it.

use super::context::Context;
use super::error::UserError;
use super::guard;
use super::position::{is_folded, spec_of};
use crate::game::{Cyclic, Empties, Game, GameVisitor, Layered, Outcome, Repetition, Side};
use crate::graph::{Graph, Ranked, RankedGame};
use crate::solve::cyclic::{CyclicMethod, Road, solve_cyclic, solve_ranked};
use crate::solve::{Method, Order, Run, value_iterate};
use crate::table::{SweepRecord, Table};

/// How to solve, before the game is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wish {
    pub order: Option<Order>,
    pub theta: Option<f64>,
    pub empties: Option<Empties>,
    pub discount: Option<f64>,
    pub road: Option<Road>,
    pub repetition: Option<Repetition>,
    pub force: bool,
}

impl Wish {
    /// The first option given that means nothing for a game, if there is one.
    fn strange(&self, cyclic: bool) -> Option<&'static str> {
        let options = [
            (self.order.is_some(), "--order", true),
            (self.theta.is_some(), "--theta", true),
            (self.empties.is_some(), "--empties", true),
            (self.discount.is_some(), "--discount", true),
            (self.road.is_some(), "--method", false),
            (self.repetition.is_some(), "--repetition", false),
        ];
        let strange = options.iter().find(|(given, _, layered)| *given && *layered == cyclic);
        strange.map(|(_, name, _)| *name)
    }
}

/// Solves a table.
pub(super) fn solve(table: &mut Table, wish: Wish, context: &Context) -> anyhow::Result<Run> {
    let states = table.manifest().counts.table.states as f64;
    if !wish.force {
        // Values, the columns made of them, and in natural order the values before the sweep.
        guard::check_memory(&table.name(), states * 12.0)?;
    }
    spec_of(table)?.with_rules(is_folded(table), Solve { table, wish, context })
}

struct Solve<'a> {
    table: &'a mut Table,
    wish: Wish,
    context: &'a Context,
}

impl GameVisitor for Solve<'_> {
    type Output = anyhow::Result<Run>;

    fn layered<G: Layered>(self, game: G) -> anyhow::Result<Run> {
        let Solve { table, wish, context } = self;
        refuse_strange(&game, wish, false)?;
        let graph = Graph::open_checked(table)?;
        let exact = Method::exact(game.max_score());
        let method = Method {
            order: wish.order.unwrap_or(exact.order),
            theta: wish.theta.unwrap_or(exact.theta),
            empties: wish.empties.unwrap_or(exact.empties),
            discount: wish.discount,
            ..exact
        };
        let terminal = graph.terminal_scores(&game, method.empties);
        let run =
            value_iterate(table, &graph, &terminal, &method, &context.bars, |sweep, record| {
                tracing::info!(sweep, record.residual, record.changed, "swept");
            })?;
        Ok(run)
    }

    fn cyclic<G: Cyclic>(self, game: G) -> anyhow::Result<Run> {
        let Solve { table, wish, context } = self;
        refuse_strange(&game, wish, true)?;
        let (identity, complete) = (&table.manifest().identity, table.manifest().complete);
        let repetition = match identity.checks_only {
            true => Repetition::Unknown,
            false => game.repetition(),
        };
        let method = CyclicMethod {
            // Where most states are cut off, few sweeps do; where none is, there are many.
            road: wish.road.unwrap_or(match complete {
                true => Road::Retrograde,
                false => Road::ValueIteration,
            }),
            repetition: wish.repetition.unwrap_or(repetition),
        };
        let hear = |sweep: usize, record: &SweepRecord| {
            tracing::info!(sweep, record.residual, record.changed, record.decided, "swept");
        };
        if identity.index.as_deref() == Some("rank") {
            let ranked = Ranked::open_checked(table)?;
            let moves = RankedGame(&game);
            return Ok(solve_ranked(table, &ranked, &moves, method, &context.bars, hear)?);
        }
        let graph = Graph::open_checked(table)?;
        let keys = graph.keys().of::<G::Key>();
        // A key that is no position passed its checksum, so it was written wrong; `verify` names it.
        let end = |row: usize| {
            let end = game.position_of(keys[row]).and_then(|position| game.end(&position.state));
            end.map_or((Outcome::Loss, 0), |end| (end.outcome, end.plies))
        };
        let second = |row: usize| {
            game.position_of(keys[row]).is_some_and(|position| position.side == Side::Second)
        };
        Ok(solve_cyclic(table, &graph, (&end, &second), method, &context.bars, hear)?)
    }
}

fn refuse_strange(game: &impl Game, wish: Wish, cyclic: bool) -> Result<(), UserError> {
    match wish.strange(cyclic) {
        Some(option) => Err(UserError::new(format!("{option} means nothing for {}", game.spec()))),
        None => Ok(()),
    }
}
