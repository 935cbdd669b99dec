//! Policies in positions with some moves proven, as aligned text.

use super::columns::share;
use super::grid::Grid;
use super::number::thousands;
use crate::judge::{AccuracyReport, ForcedFigures};

/// Lays out the policies in this `order` under these names; empty unless the table is bounded. Ends with a
/// line break.
pub(super) fn forced_text(report: &AccuracyReport, order: &[usize], names: &[String]) -> String {
    let found: Vec<(usize, ForcedFigures)> =
        order.iter().filter_map(|&at| Some((at, report.policies[at].forced?))).collect();
    let Some((_, ForcedFigures { won, at_risk, .. })) = found.first() else {
        return String::new();
    };
    let mut grid =
        Grid::headed(&[("", "policy"), ("wins", "kept"), ("wins", "thrown"), ("losses", "taken")]);
    for (at, figures) in &found {
        let cells = [figures.won_kept, figures.won_thrown, figures.at_risk_lost].map(share);
        grid.push([&[names[*at].clone()], &cells[..]].concat());
    }
    format!(
        "\nWhere something is proven of some moves only: {} positions won by force, {} at risk\n\n{}\n\
         wins       how often the move is one that is proven to win, how often one that is proven to lose;\n           \
         others may win too\n\
         losses     how often the move is one that is proven to lose, where others are not\n",
        thousands(*won),
        thousands(*at_risk),
        grid.to_text()
    )
}
