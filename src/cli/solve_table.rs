//! Solving a table, as `value-iterate` and `report` do it.

use super::context::Context;
use super::error::UserError;
use super::guard;
use super::position::{is_folded, spec_of};
use crate::game::{Cyclic, Empties, GameVisitor, Layered};
use crate::graph::Graph;
use crate::solve::{Method, Order, Run, value_iterate};
use crate::table::Table;

/// How to solve, before the game is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub order: Order,
    pub theta: f64,
    pub empties: Empties,
    pub discount: Option<f64>,
    pub force: bool,
}

impl Default for Wish {
    fn default() -> Wish {
        let (order, empties) = (Order::Topological, Empties::Uncounted);
        Wish { order, theta: 0.01, empties, discount: None, force: false }
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
        let graph = Graph::open_checked(table)?;
        let method = Method {
            order: wish.order,
            theta: wish.theta,
            empties: wish.empties,
            discount: wish.discount,
            ..Method::exact(game.max_score())
        };
        let terminal = graph.terminal_scores(&game, wish.empties);
        let run =
            value_iterate(table, &graph, &terminal, &method, &context.bars, |sweep, record| {
                tracing::info!(sweep, record.residual, record.changed, "swept");
            })?;
        Ok(run)
    }

    fn cyclic<G: Cyclic>(self, game: G) -> anyhow::Result<Run> {
        Err(UserError::not_yet("value-iterate", &game).into())
    }
}
