//! Two policies position by position as aligned text.

use serde::Serialize;

use super::grid::Grid;
use super::number::{amount, percent, signed, thousands};
use crate::evaluate::{Comparison, Lost, Paired, Pairs, Words};

/// A comparison with its table and policies.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Compared<'a> {
    /// Name of the table.
    pub table: String,
    /// Both policies, with `{}` for a seed.
    pub policies: [&'a str; 2],
    /// The seeds; empty if there is only one policy of each name.
    pub seeds: &'a [String],
    /// Choice of positions in words; `None` for all.
    pub chosen: Option<String>,
    /// Names and units of the game.
    pub words: Words,
    /// `true` if the game has scores.
    pub has_scores: bool,
    /// The figures.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// Lays out a comparison: which policy loses less on each set of positions, every seed, and the
/// positions of greatest difference. Ends with a line break.
pub fn comparison_text(compared: &Compared<'_>) -> String {
    let Compared { table, policies: [first, second], comparison, .. } = compared;
    let chosen = compared.chosen.as_ref().map_or(String::new(), |chosen| format!(" ({chosen})"));
    let apart = comparison.all.states_apart as f64 / comparison.all.states.max(1) as f64;
    let mut text = format!(
        "A  {first}\nB  {second}\n\n\
         In {} positions of {table}{chosen} they choose differently in {} ({})\n\n",
        thousands(comparison.all.states),
        thousands(comparison.all.states_apart),
        percent(apart)
    );
    let units = match compared.has_scores {
        true => &compared.words.units[..],
        false => "result",
    };
    let mut grid = Grid::headed(&[
        ("where the", "choice decides"),
        ("", "positions"),
        ("A is", "better"),
        ("", "equal"),
        ("B is", "better"),
        (units, "A loses"),
        ("on average", "B loses"),
        ("", "A - B"),
    ]);
    let sets = sets(compared);
    for (name, pairs) in &sets {
        let Paired { first_better, equal, second_better, first_lost, second_lost } =
            *paired(compared, pairs);
        grid.push(vec![
            name.to_string(),
            thousands(pairs.states),
            thousands(first_better),
            thousands(equal),
            thousands(second_better),
            amount(first_lost),
            amount(second_lost),
            signed(first_lost - second_lost, 3),
        ]);
    }
    text += &grid.to_text();
    if !compared.seeds.is_empty() {
        text += &seeds(compared, &sets, units);
    }
    if !comparison.costliest.is_empty() {
        text += &format!("\nWhere they differ the most, and the {units} given away\n\n");
        let headings = ["position", "mover", "A plays", "loses", "B plays", "loses"];
        let rows = comparison.costliest.iter().map(|found| {
            let lost = if compared.has_scores { found.score_lost } else { found.outcome_lost };
            let [a, b] = lost.map(|lost| format!("{lost:.2}"));
            let [first, second] = found.moves.clone();
            vec![found.position.clone(), found.mover.clone(), first, a, second, b]
        });
        text += &Grid::of(&headings, rows).to_text();
        if compared.words.positions_are_keys {
            for found in &comparison.costliest {
                text += &format!("\n{}\n{}\n", found.position, found.diagram.trim_end());
            }
        }
    }
    text
}

/// Returns the sets of positions, named by the value that the choice of the move decides.
fn sets<'a>(compared: &'a Compared<'_>) -> Vec<(&'static str, &'a Pairs)> {
    let Comparison { all, decisive_outcome, decisive_score, .. } = &compared.comparison;
    let mut sets = vec![("the result", decisive_outcome)];
    if compared.has_scores {
        sets.push(("the score", decisive_score));
    }
    sets.push(("all positions", all));
    sets
}

/// Returns the comparison by score, or by outcome in games without scores.
fn paired<'a>(compared: &Compared<'_>, pairs: &'a Pairs) -> &'a Paired {
    if compared.has_scores { &pairs.score } else { &pairs.outcome }
}

/// Lays out the loss of every seed, with mean and spread.
fn seeds(compared: &Compared<'_>, sets: &[(&str, &Pairs)], units: &str) -> String {
    let lost = |lost: &Lost| if compared.has_scores { lost.score } else { lost.outcome };
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
