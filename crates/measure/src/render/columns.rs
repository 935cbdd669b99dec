//! Figures of the list as columns of tables.

use super::number::{amount, percent, signed, thousands};
use crate::judge::{
    AccuracyReport, Comparison, FIGURES, FIRST, Figure, FigureSource, Figures, SECOND, Scope,
    TableFacts, UNITS, Unit, Words,
};

pub(super) fn or_none(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_string(), show)
}

pub(super) fn share(value: Option<f64>) -> String {
    or_none(value, percent)
}

/// Writes a number of a figure; a dash without one.
pub(super) fn cell(figure: &Figure, number: Option<f64>) -> String {
    or_none(
        number,
        match figure.unit {
            Unit::Count => |count| thousands(count as u64),
            Unit::Expected => |number| thousands(number.round() as u64),
            Unit::Share(_) => percent,
            Unit::Amount | Unit::Nats => amount,
            Unit::Coarse => |number| format!("{number:.2}"),
            Unit::Signed => |number| signed(number, 2),
            Unit::Plain => |number| format!("{number:.3}"),
        },
    )
}

/// Returns whether a table's game has a figure.
pub(super) fn applies(figure: &Figure, table: &TableFacts) -> bool {
    match figure.scope {
        Scope::Always => true,
        Scope::WithScores => table.has_scores(),
        Scope::WithoutScores => !table.has_scores(),
    }
}

/// Returns the figures of moves of the full report: of what they keep and lose, or of their ranking.
pub(super) fn of_moves(table: &TableFacts, is_ranking: bool) -> Vec<&'static Figure> {
    let is_shown = |figure: &&Figure| {
        figure.is_of_moves()
            && figure.unit != Unit::Count
            && applies(figure, table)
            && figure.is_of_probabilities() == is_ranking
    };
    FIGURES.iter().filter(is_shown).collect()
}

/// Returns the figures that games between policies weigh.
pub(super) fn weighted(table: &TableFacts) -> Vec<&'static Figure> {
    let is_shown = |figure: &&Figure| figure.name.contains("_play_") && applies(figure, table);
    FIGURES.iter().filter(is_shown).collect()
}

/// Returns the heading of a figure, with the unit of the score and the names of the sides.
pub(super) fn heading(figure: &Figure, words: &Words) -> [String; 2] {
    figure.heading.map(|line| match line {
        FIRST => format!("as {}", words.sides[0]),
        SECOND => format!("as {}", words.sides[1]),
        line => line.replace(UNITS, &words.units),
    })
}

/// Returns the meaning of a figure, with the unit of the score.
pub(super) fn meaning(figure: &Figure, words: &Words) -> String {
    figure.meaning.replace(UNITS, &words.units)
}

/// Returns the headings of some figures.
pub(super) fn headings(words: &Words, figures: &[&Figure]) -> Vec<[String; 2]> {
    figures.iter().map(|figure| heading(figure, words)).collect()
}

/// Returns the cells of a policy.
pub(super) fn cells(columns: &[&Figure], figures: &Figures) -> Vec<String> {
    columns.iter().map(|figure| cell(figure, figure.compute(figures))).collect()
}

/// Returns the change of a figure in percent points or units, and whether it is better; `None` if it rounds to
/// nothing.
pub(super) fn changed(of: &Comparison, metric: &str) -> Option<(String, bool)> {
    let by = of.difference(metric)?;
    let figure = Figure::of_metric(metric)?;
    let is_share = matches!(figure.unit, Unit::Share(_));
    let text = if is_share { signed(100.0 * by, 1) } else { signed(by, 3) };
    let is_good = figure.is_more_better().unwrap_or(true);
    text.starts_with(['+', '-']).then_some((text, (by > 0.0) == is_good))
}

/// Returns the meanings of some figures, one line each.
pub(super) fn meanings(report: &AccuracyReport, figures: &[&Figure]) -> String {
    let name = |figure: &&Figure| {
        let [upper, lower] = heading(figure, &report.words);
        let between = if upper.is_empty() || upper.ends_with('→') { "" } else { " " };
        format!("{upper}{between}{lower}")
    };
    let names: Vec<String> = figures.iter().map(name).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let line = |(name, figure): (&String, &&Figure)| {
        format!("{name:<width$}  {}\n", meaning(figure, &report.words))
    };
    names.iter().zip(figures).map(line).collect()
}

/// Returns the titles and figures of the tables of what policies predict, if one but `perfect` does.
pub(super) fn predictions(report: &AccuracyReport) -> Vec<(String, Vec<&'static Figure>)> {
    let units = &report.words.units;
    let values = "Values that policies predict, against the exact outcome (a win is 1, a loss -1)";
    let scores = format!("Final scores that policies predict, in {units}, against the exact ones");
    let predicts = |figure: &&Figure| {
        let mut others = report.policies.iter().filter(|policy| policy.policy != "perfect");
        others.any(|policy| figure.of_predictions(&policy.details).is_some())
    };
    let is_score = |figure: &&Figure| matches!(figure.source, FigureSource::FinalScores(_));
    let used = FIGURES.iter().filter(predicts);
    let (of_scores, of_values): (Vec<_>, Vec<_>) = used.partition(is_score);
    let tables = [(values.to_string(), of_values), (scores, of_scores)];
    tables.into_iter().filter(|(_, figures)| !figures.is_empty()).collect()
}

/// Returns all figures as a table of Markdown, for `docs/measuring.md`.
pub fn figures_markdown() -> String {
    let row = |figure: &Figure| {
        let (unit, better) = match figure.unit {
            Unit::Count => ("positions", ""),
            Unit::Expected => ("positions", "less"),
            Unit::Share(true) => ("share", "more"),
            Unit::Share(false) => ("share", "less"),
            Unit::Amount | Unit::Coarse => ("amount", "less"),
            Unit::Signed => ("score", "more"),
            Unit::Plain => ("number", ""),
            Unit::Nats => ("nats", ""),
        };
        let games = match figure.scope {
            Scope::Always => "",
            Scope::WithScores => "; in games with scores",
            Scope::WithoutScores => "; in games without scores",
        };
        let meaning = figure.meaning.replace(UNITS, "points");
        vec![format!("`{}`", figure.name), unit.into(), better.into(), format!("{meaning}{games}")]
    };
    let mut text = "| name | unit | better | meaning |\n|---|---|---|---|\n".to_string();
    for figure in FIGURES {
        text += &format!("| {} |\n", row(figure).join(" | "));
    }
    text
}
