//! Changes against an earlier report, as aligned text.

use super::columns::changed;
use super::grid::Grid;
use super::names::ShortNames;
use super::ranking::columns;
use super::report_tables::by_words;
use crate::judge::{AccuracyReport, By, GroupComparison};

/// Lays out what changed since the earlier report; empty without one.
pub(super) fn changes_text(report: &AccuracyReport, order: &[usize], names: &ShortNames) -> String {
    let Some(changes) = &report.changes else { return String::new() };
    let columns = columns(report);
    let headings: Vec<_> = columns.iter().map(|column| column.heading.clone()).collect();
    let mut grid = Grid::of_figures(&[("", "policy")], &headings);
    let (mut groups, mut missing) = (String::new(), Vec::new());
    let by = match report.policies.iter().any(|policy| !policy.details.layers.is_empty()) {
        true => By::Layer,
        false => By::Distance,
    };
    for &at in order {
        let name = &names.short[at];
        let Some(of) = &changes.policies[at] else {
            missing.push(&name[..]);
            continue;
        };
        let cell = |metric| changed(of, metric).map_or("=".to_string(), |(text, _)| text);
        let cells = columns.iter().map(|column| cell(&column.metric));
        grid.push([name.clone()].into_iter().chain(cells).collect());
        let numbers = |is_better: bool| {
            let some =
                of.groups.iter().filter(|group| (group.kept[1] > group.kept[0]) == is_better);
            some.map(|group: &GroupComparison| group.group.to_string())
                .collect::<Vec<_>>()
                .join(", ")
        };
        for (word, numbers) in [("better", numbers(true)), ("worse", numbers(false))] {
            if !numbers.is_empty() {
                groups += &format!(
                    "{name}: keeps the result {word} at {numbers} {}\n",
                    by_words(report, by).1
                );
            }
        }
        let Some(mistakes) = &of.mistakes else { continue };
        for (words, positions) in [("new mistake", &mistakes.new), ("no longer", &mistakes.gone)] {
            for position in positions {
                groups += &format!("{name}: {words} {position}\n");
            }
        }
    }
    let mut text =
        format!("\nSince {}: now minus then, shares in percentage points\n\n", changes.file);
    text += &grid.to_text();
    if !missing.is_empty() {
        text += &format!(
            "not compared: {}\n(no policy of that name there, or measured in other positions; --label NAME=POLICY gives a name)\n",
            missing.join(", ")
        );
    }
    if groups.is_empty() { text } else { text + "\n" + &groups }
}
