//! Two policies position by position as aligned text.

use serde::Serialize;

use super::accuracy_text::{judged, wrapped};
use super::boards::Boards;
use super::chart::escaped;
use super::number::{amount, percent, signed, thousands};
use super::report_tables::{CellView, RowView, TableView};
use crate::judge::{Comparison, Interval, Lost, Paired, PairedSets, Pairs, TableFacts, Words};
use yomikiri::rules::BoardLayout;

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
    let [first, second] = &compared.comparison.policies;
    let mut text = format!("A  {first}\nB  {second}\n\n");
    let Some(paired) = &compared.comparison.paired else { return text };
    text += &wrapped("Figures    of ", &judged(&compared.table));
    text += &format!("           {}\n", apart(paired));
    for (corner, table) in tables(compared, paired) {
        text += &table.to_text(corner);
        if table.title.is_empty() {
            text += &result_kept(compared).map_or(String::new(), |line| format!("\n{line}\n"));
        }
    }
    if compared.words.positions_are_keys {
        for at in &paired.costliest {
            text += &format!("\n{}\n{}\n", at.position, at.diagram.trim_end());
        }
    }
    text
}

/// Lays out the same as HTML, with the boards of the positions of greatest difference, for notebooks.
pub fn comparison_html(compared: &Compared<'_>, layout: &BoardLayout) -> String {
    let [first, second] = compared.comparison.policies.each_ref().map(|name| escaped(name));
    let mut html = format!("<p>A: {first}<br>B: {second}</p>");
    let Some(paired) = &compared.comparison.paired else { return html };
    let about = [format!("Figures of {}", judged(&compared.table)), apart(paired)].join("; ");
    html += &format!("<p>{}</p>", escaped(&about));
    for (corner, table) in tables(compared, paired) {
        html += &format!("<p>{}</p>{}", escaped(&table.title), table.to_html(corner));
        if table.title.is_empty() {
            let kept = result_kept(compared).unwrap_or_default();
            html += &format!("<p>{}</p>", escaped(&kept));
        }
    }
    let boards = Boards::new(&compared.table.game, layout, compared.words.sides);
    html += &boards.pieces();
    html += "<div style=\"display:flex;flex-wrap:wrap;gap:16px\">";
    for at in paired.costliest.iter().take(BOARDS) {
        let mistake = &at.mistakes[0];
        let best = mistake.moves.iter().filter(|facts| facts.best);
        let best: Vec<_> = best.map(|facts| (facts.squares, "right")).collect();
        let [a, b] = at.moves.each_ref().map(|name| escaped(name));
        let words = format!("{} to move: A plays {a}, B plays {b}", escaped(&at.mover));
        let board = boards.marked(&mistake.board, &at.position, &best);
        html += &format!("<div>{board}<p>{words}</p></div>");
    }
    html + "</div>"
}

/// Boards of a comparison in a notebook.
const BOARDS: usize = 3;

/// Says in how many positions the policies differ.
fn apart(paired: &PairedSets) -> String {
    let share = paired.all.positions_apart as f64 / paired.all.positions.max(1) as f64;
    let count = thousands(paired.all.positions_apart);
    format!("their move probabilities differ in {count} of them ({})", percent(share))
}

/// Says how often each keeps the result.
fn result_kept(compared: &Compared<'_>) -> Option<String> {
    let [first, second] = compared.comparison.figures.get("result_kept")?.map(percent);
    Some(format!("Where the choice decides the result, A keeps it in {first} and B in {second}"))
}

/// Returns a row of a table.
fn row(name: &str, cells: impl IntoIterator<Item = String>) -> RowView {
    RowView {
        at: None,
        name: name.to_string(),
        cells: cells.into_iter().map(CellView::from).collect(),
    }
}

/// Returns all tables with the headings of their first columns.
fn tables<'a>(compared: &'a Compared<'_>, paired: &PairedSets) -> Vec<(&'a str, TableView)> {
    let corner = "where the\nchoice decides";
    let heads = |heads: &[&str]| heads.iter().map(|head| head.to_string()).collect();
    let mut losses = TableView {
        head: heads(&[
            "\npositions",
            "compared\nby",
            "A is\nbetter",
            "\nequal",
            "B is\nbetter",
            "mean loss\nof A",
            "\nof B",
            "\nA - B",
        ]),
        ..TableView::default()
    };
    let mut intervals = TableView {
        title: "Confidence intervals of 95 % of A - B; without 0, one is better".to_string(),
        head: heads(&["compared\nby", "\nA - B"]),
        ..TableView::default()
    };
    for (name, pairs) in sets(compared, paired) {
        for (unit, of) in measures(compared) {
            let Paired { first_better, equal, second_better, first_lost, second_lost, .. } =
                of(pairs);
            let counts = [first_better, equal, second_better].map(|&count| thousands(count));
            let lost =
                [amount(*first_lost), amount(*second_lost), signed(first_lost - second_lost, 3)];
            let cells = [thousands(pairs.positions), unit.to_string()].into_iter();
            losses.rows.push(row(name, cells.chain(counts).chain(lost)));
            if let Some(Interval { lower, upper }) = of(pairs).difference {
                let interval = format!("{} to {}", signed(lower, 3), signed(upper, 3));
                intervals.rows.push(row(name, [unit.to_string(), interval]));
            }
        }
    }
    let units = measures(compared)[measures(compared).len() - 1].0;
    let has_scores = compared.table.has_scores();
    let costliest = paired.costliest.iter().map(|at| {
        let [a, b] = if has_scores { at.score_lost } else { at.result_lost };
        let [first, second] = at.moves.clone();
        row(&at.position, [at.mover.clone(), first, format!("{a:.2}"), second, format!("{b:.2}")])
    });
    let costliest = TableView {
        title: format!(
            "Where they differ the most: the likeliest move, and the {units} given away on average"
        ),
        head: heads(&["mover", "A plays", "loses", "B plays", "loses"]),
        rows: costliest.collect(),
        ..TableView::default()
    };
    // Games with layers count them; others have plies to the end.
    let layers = if has_scores { compared.words.layers } else { "group" };
    let all = [
        (corner, losses),
        (corner, intervals),
        ("seed", seeds(compared, &sets(compared, paired), units)),
        (layers, groups(compared)),
        ("position", costliest),
    ];
    all.into_iter().filter(|(_, table)| !table.rows.is_empty()).collect()
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

/// Returns the result kept in groups of positions in which it differs.
fn groups(compared: &Compared<'_>) -> TableView {
    let rows = compared.comparison.groups.iter().map(|of| {
        let [a, b] = of.kept;
        let cells = [thousands(of.positions), percent(a), percent(b), signed(100.0 * (a - b), 1)];
        row(&of.group.to_string(), cells)
    });
    TableView {
        title: "Result kept where the choice decides it, in percent; groups in which both are equal left out".to_string(),
        head: ["positions", "A keeps", "B keeps", "A - B"].map(String::from).to_vec(),
        rows: rows.collect(),
        ..TableView::default()
    }
}

/// Returns the loss of every seed, with mean and spread.
fn seeds(compared: &Compared<'_>, sets: &[(&str, &Pairs)], units: &str) -> TableView {
    let lost = |lost: &Lost| if compared.table.has_scores() { lost.score } else { lost.outcome };
    let of_set = |(name, _): &(&str, _)| [format!("{name}\nA"), "\nB".into(), "\nA - B".into()];
    // One column for each set and number: A's, B's and the difference.
    let columns = sets.iter().flat_map(|(_, pairs)| {
        let of = |number: fn([f64; 2]) -> f64| -> Vec<f64> {
            pairs.seeds.iter().map(|pair| number(pair.each_ref().map(lost))).collect()
        };
        [of(|[a, _]| a), of(|[_, b]| b), of(|[a, b]| a - b)]
    });
    let columns: Vec<Vec<f64>> = columns.collect();
    let cells = |number: &dyn Fn(&[f64]) -> f64| -> Vec<String> {
        columns.iter().map(|column| format!("{:.3}", number(column))).collect()
    };
    let seeds = compared.seeds.iter().enumerate();
    let mut rows: Vec<RowView> =
        seeds.map(|(at, seed)| row(seed, cells(&|column| column[at]))).collect();
    if !rows.is_empty() {
        rows.push(row("mean", cells(&mean)));
        rows.push(row("spread", cells(&spread)));
    }
    TableView {
        title: format!("{units} lost on average, seed by seed"),
        note: "spread: the standard deviation of a seed, of n - 1".to_string(),
        head: sets.iter().flat_map(of_set).collect(),
        rows,
        ..TableView::default()
    }
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
