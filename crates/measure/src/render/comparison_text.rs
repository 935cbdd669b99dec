//! Two policies position by position as aligned text.

use serde::Serialize;

use super::accuracy_text::{judged, wrapped};
use super::grid::Grid;
use super::number::{amount, percent, signed, thousands};
use crate::judge::{Comparison, Interval, Lost, Paired, PairedSets, Pairs, TableFacts, Words};

/// A comparison with facts about its positions.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Compared<'a> {
    /// Facts about the positions, as in a report.
    pub table: TableFacts,
    /// The seeds; empty if there is only one policy of each name.
    pub seeds: &'a [String],
    /// Names and units of the game.
    pub words: Words,
    /// The figures; names have `{}` for a seed.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// Lays out a comparison: which policy loses less on each set of positions, every seed, groups of positions, and the
/// positions of greatest difference. Ends with a line break.
pub fn comparison_text(compared: &Compared<'_>) -> String {
    let Compared { table, comparison, .. } = compared;
    let [first, second] = &comparison.policies;
    let mut text = format!("A  {first}\nB  {second}\n\n");
    let Some(paired) = &comparison.paired else { return text };
    let apart = paired.all.positions_apart as f64 / paired.all.positions.max(1) as f64;
    text += &wrapped("Figures    of ", &judged(table));
    text += &format!(
        "           their move probabilities differ in {} of them ({})\n\n",
        thousands(paired.all.positions_apart),
        percent(apart)
    );
    let mut grid = Grid::headed(&[
        ("where the", "choice decides"),
        ("", "positions"),
        ("compared", "by"),
        ("A is", "better"),
        ("", "equal"),
        ("B is", "better"),
        ("mean loss", "of A"),
        ("", "of B"),
        ("", "A - B"),
    ]);
    let mut intervals =
        Grid::headed(&[("where the", "choice decides"), ("compared", "by"), ("", "A - B")]);
    for (name, pairs) in sets(compared, paired) {
        for (unit, of) in measures(compared) {
            let pairs_by = of(pairs);
            let [first, second] = [pairs_by.first_lost, pairs_by.second_lost];
            grid.push(vec![
                name.to_string(),
                thousands(pairs.positions),
                unit.to_string(),
                thousands(pairs_by.first_better),
                thousands(pairs_by.equal),
                thousands(pairs_by.second_better),
                amount(first),
                amount(second),
                signed(first - second, 3),
            ]);
            if let Some(Interval { lower, upper }) = pairs_by.difference {
                let interval = format!("{} to {}", signed(lower, 3), signed(upper, 3));
                intervals.push(vec![name.to_string(), unit.to_string(), interval]);
            }
        }
    }
    text += &grid.to_text();
    if let Some([first, second]) = comparison.figures.get("result_kept").copied() {
        let [first, second] = [first, second].map(percent);
        text += &format!(
            "\nWhere the choice decides the result, A keeps it in {first} and B in {second}\n"
        );
    }
    if paired.all.outcome.difference.is_some() {
        text += "\nConfidence intervals of 95 % of A - B; without 0, one is better\n\n";
        text += &intervals.to_text();
    }
    let units = measures(compared)[measures(compared).len() - 1].0;
    if !compared.seeds.is_empty() {
        text += &seeds(compared, &sets(compared, paired), units);
    }
    text += &groups(compared);
    if !paired.costliest.is_empty() {
        text += &format!(
            "\nWhere they differ the most: the likeliest move, and the {units} given away on average\n\n"
        );
        let headings = ["position", "mover", "A plays", "loses", "B plays", "loses"];
        let rows = paired.costliest.iter().map(|at| {
            let lost = if table.has_scores() { at.score_lost } else { at.result_lost };
            let [a, b] = lost.map(|lost| format!("{lost:.2}"));
            let [first, second] = at.moves.clone();
            vec![at.position.clone(), at.mover.clone(), first, a, second, b]
        });
        text += &Grid::of(&headings, rows).to_text();
        if compared.words.positions_are_keys {
            for at in &paired.costliest {
                text += &format!("\n{}\n{}\n", at.position, at.diagram.trim_end());
            }
        }
    }
    text
}

/// Returns the sets of positions, named by the value that the choice of the move decides.
fn sets<'a>(compared: &Compared<'_>, paired: &'a PairedSets) -> Vec<(&'static str, &'a Pairs)> {
    let mut sets = vec![("the result", &paired.decisive_result)];
    if compared.table.has_scores() {
        sets.push(("the score", &paired.decisive_score));
    }
    sets.push(("all positions", &paired.all));
    sets
}

/// Comparison by one measure of loss.
type Measure = fn(&Pairs) -> &Paired;

/// Returns the measures of loss that the game has, each with its unit.
fn measures<'a>(compared: &'a Compared<'_>) -> Vec<(&'a str, Measure)> {
    let mut measures: Vec<(&str, Measure)> = vec![("result", |pairs| &pairs.outcome)];
    if compared.table.has_scores() {
        measures.push((&compared.words.units, |pairs| &pairs.score));
    }
    measures
}

/// Lays out the result kept in groups of positions in which it differs.
fn groups(compared: &Compared<'_>) -> String {
    let groups = &compared.comparison.groups;
    if groups.is_empty() {
        return String::new();
    }
    // Games with layers count them; others have plies to the end.
    let what = match compared.table.has_scores() {
        true => compared.words.layers,
        false => "group",
    };
    let rows = groups.iter().map(|of| {
        let [a, b] = of.kept;
        vec![
            of.group.to_string(),
            thousands(of.positions),
            percent(a),
            percent(b),
            signed(100.0 * (a - b), 1),
        ]
    });
    let grid = Grid::of(&[what, "positions", "A keeps", "B keeps", "A - B"], rows);
    format!(
        "\nResult kept where the choice decides it, in percent; groups in which both are equal left out\n\n{}",
        grid.to_text()
    )
}

/// Lays out the loss of every seed, with mean and spread.
fn seeds(compared: &Compared<'_>, sets: &[(&str, &Pairs)], units: &str) -> String {
    let lost = |lost: &Lost| if compared.table.has_scores() { lost.score } else { lost.outcome };
    let mut text = format!("\n{units} lost on average, seed by seed\n\n");
    let mut headings = vec![("", "seed")];
    for (name, _) in sets {
        headings.extend([(*name, "A"), ("", "B"), ("", "A - B")]);
    }
    let mut grid = Grid::headed(&headings);
    // One column for each set and number: A's, B's and the difference.
    let columns: Vec<Vec<f64>> = sets
        .iter()
        .flat_map(|(_, pairs)| {
            let of = |number: fn([f64; 2]) -> f64| -> Vec<f64> {
                pairs.seeds.iter().map(|pair| number(pair.each_ref().map(lost))).collect()
            };
            [of(|[a, _]| a), of(|[_, b]| b), of(|[a, b]| a - b)]
        })
        .collect();
    let row = |name: &str, number: &dyn Fn(&[f64]) -> f64| {
        let cells = columns.iter().map(|column| format!("{:.3}", number(column)));
        [name.to_string()].into_iter().chain(cells).collect()
    };
    for (at, seed) in compared.seeds.iter().enumerate() {
        grid.push(row(seed, &|column| column[at]));
    }
    grid.push(row("mean", &mean));
    grid.push(row("spread", &spread));
    text += &grid.to_text();
    text + "\nspread: the standard deviation of a seed, of n - 1\n"
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

/// Returns the standard deviation of a sample, 0 for a single number.
fn spread(numbers: &[f64]) -> f64 {
    let mean = mean(numbers);
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (squares / (numbers.len().max(2) - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_of_a_sample() {
        assert_eq!(mean(&[1.0, 2.0, 6.0]), 3.0);
        assert_eq!(spread(&[1.0, 2.0, 6.0]), 7.0_f64.sqrt());
        assert_eq!(spread(&[4.0]), 0.0);
    }
}
