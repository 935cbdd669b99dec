//! Tables of a report, which the full text and the page show.

use std::collections::BTreeSet;

use minijinja::{Value, context};
use serde::{Serialize, Serializer};

use super::chart::{FEW, escaped};
use super::columns::{cell, cells, headings, of_moves, or_none, predictions, weighted};
use super::grid::Grid;
use super::number::{amount, percent, signed, thousands};
use super::roles::Roles;
use super::sanitise::width;
use crate::judge::{
    AccuracyReport, BothSides, By, Expected, FIGURES, Figure, Figures, FiguresBySet, Group, Key,
    Losses, Square, TableFacts,
};
use yomikiri::rules::Split;

/// Title and figures of a set of positions.
type Set = (&'static str, fn(&FiguresBySet) -> Option<&Figures>);

/// Returns the sets of positions of a table; games without scores have no passes.
pub(super) fn sets(table: &TableFacts) -> Vec<Set> {
    let all = match table.has_scores() {
        true => "All positions, including forced moves and passes",
        false => "All positions, including forced moves",
    };
    let mut sets: Vec<Set> = vec![
        (all, |sets| Some(&sets.all)),
        ("Positions in which the choice of the move decides the result", |sets| {
            Some(&sets.decisive_result)
        }),
    ];
    if table.has_scores() {
        sets.push(("Positions in which the choice of the move decides the score", |sets| {
            sets.decisive_score.as_ref()
        }));
    }
    sets
}

/// Wraps a text at the width of a terminal. Ends with a line break.
pub(super) fn paragraph(text: &str) -> String {
    wrapped(text, width())
}

/// Wraps a text at a width. Ends with a line break.
pub(super) fn wrapped(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        match lines[last].is_empty() {
            true => lines[last] += word,
            false if lines[last].chars().count() + 1 + word.chars().count() > width => {
                lines.push(word.to_string());
            }
            false => lines[last] += &format!(" {word}"),
        }
    }
    lines.join("\n") + "\n"
}

pub(super) fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the key of a grouping as a heading and in a sentence.
pub(super) fn by_words(report: &AccuracyReport, by: By) -> (&'static str, String) {
    let (heading, what) = match (by, report.words.layers) {
        (By::Layer, "plies") => ("plies", "plies from the root"),
        (By::Layer, layers) => return (layers, format!("{layers} before the move")),
        (By::Moves, _) => ("moves", "the number of legal moves"),
        (By::Distance, _) => ("plies", "plies to the end under best play"),
        (By::Value, _) if report.table.has_scores() => ("score", "the exact score of the mover"),
        (By::Value, _) => ("outcome", "the exact outcome of the mover"),
    };
    (heading, what.to_string())
}

/// A table with a row for each policy, or for each group.
#[derive(Default, Serialize)]
pub(super) struct TableView {
    pub title: String,
    pub note: String,
    /// `true` if headings sort.
    pub is_sorted: bool,
    /// Headings of the columns after the name; lines end with line breaks.
    pub head: Vec<String>,
    pub rows: Vec<RowView>,
}

#[derive(Default, Serialize)]
pub(super) struct RowView {
    /// Index of the policy, if the row is one.
    pub at: Option<usize>,
    pub name: String,
    pub cells: Vec<CellView>,
}

#[derive(Default, Serialize)]
pub(super) struct CellView {
    /// Text with an ASCII minus sign; a page has typographic ones.
    #[serde(serialize_with = "as_typographic")]
    pub text: String,
    /// Depth of the background, 0 to 1.
    pub depth: Option<String>,
    pub class: &'static str,
    /// Change against an earlier report.
    pub change: Option<ChangeView>,
}

#[derive(Serialize)]
pub(super) struct ChangeView {
    pub text: String,
    pub is_better: bool,
}

impl From<String> for CellView {
    fn from(text: String) -> CellView {
        CellView { text, ..CellView::default() }
    }
}

fn as_typographic<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&typographic(text))
}

impl TableView {
    /// Lays out the table under its title, and its note; `corner` is the heading of the first column. Ends with a
    /// line break.
    pub(super) fn to_text(&self, corner: &str) -> String {
        let mut grid = if self.head.iter().any(|head| head.contains('\n')) {
            let heads = self.head.iter().map(|head| head.split_once('\n').unwrap_or(("", head)));
            let corner = corner.split_once('\n').unwrap_or(("", corner));
            Grid::headed(&[corner].into_iter().chain(heads).collect::<Vec<_>>())
        } else {
            let heads = [corner].into_iter().chain(self.head.iter().map(String::as_str));
            Grid::of(&heads.collect::<Vec<_>>(), [])
        };
        let has_policies = self.rows.iter().any(|row| row.at.is_some());
        for row in &self.rows {
            let indent = if has_policies && row.at.is_none() { "  " } else { "" };
            let cells = row.cells.iter().map(|cell| cell.text.clone());
            grid.push([format!("{indent}{}", row.name)].into_iter().chain(cells).collect());
        }
        let note = if self.note.is_empty() { String::new() } else { paragraph(&self.note) };
        let title =
            if self.title.is_empty() { String::new() } else { format!("\n{}\n", self.title) };
        format!("{title}{note}\n{}", grid.to_text())
    }
}

impl TableView {
    /// Formats the table as Markdown; `corner` is the heading of the first column.
    pub(super) fn to_markdown(&self, corner: &str) -> String {
        let heads: Vec<String> = self.head.iter().map(|head| head.replace('\n', " ")).collect();
        let heads: Vec<&str> =
            [corner].into_iter().chain(heads.iter().map(|head| &head[..])).collect();
        let row = |row: &RowView| {
            let cells = row.cells.iter().map(|cell| cell.text.clone());
            [row.name.clone()].into_iter().chain(cells).collect()
        };
        Grid::of(&heads, self.rows.iter().map(row)).to_markdown()
    }

    /// Returns the table as HTML; `corner` is the heading of the first column.
    pub(super) fn to_html(&self, corner: &str) -> String {
        let head = |text: &str| format!("<th>{}</th>", escaped(text).replace('\n', "<br>"));
        let heads: String =
            [corner].into_iter().chain(self.head.iter().map(String::as_str)).map(head).collect();
        let row = |row: &RowView| {
            let cell = |cell: &CellView| {
                let text = escaped(&typographic(&cell.text));
                if cell.class == "best" {
                    format!("<td><b>{text}</b></td>")
                } else {
                    format!("<td>{text}</td>")
                }
            };
            let cells: String = row.cells.iter().map(cell).collect();
            format!("<tr><th>{}</th>{cells}</tr>", escaped(&row.name))
        };
        let rows: String = self.rows.iter().map(row).collect();
        format!("<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>")
    }
}

/// Replaces the minus sign of numbers by the typographic one, and a missing number by a dash.
pub(super) fn typographic(text: &str) -> String {
    match text {
        "-" => "–".to_string(),
        _ if text.starts_with('-') => text.replacen('-', "−", 1),
        _ => text.to_string(),
    }
}

/// Returns the result kept by groups of positions, a row for each policy.
pub(super) fn by_group(report: &AccuracyReport, roles: &Roles, by: By) -> TableView {
    let first = report.policies.first().map_or(&[][..], |policy| policy.details.groups(by));
    let decisive = |at: usize, key| {
        let found =
            report.policies[at].held_out_details().groups(by).iter().find(|group| group.key == key);
        found.map(|group| group.figures.decisive_result)
    };
    let used: Vec<_> =
        first.iter().filter(|group| group.figures.decisive_result.positions > 0).collect();
    let count = |group: &&Group| thousands(group.figures.decisive_result.positions).into();
    let mut table = TableView {
        head: used.iter().map(|group| group.key.number().to_string()).collect(),
        rows: rows(roles, |at| {
            let cell = |group: &&Group| {
                let figures = decisive(at, group.key);
                let share = figures.and_then(|of| of.result_kept());
                let is_few = figures.is_none_or(|of| of.positions < FEW);
                CellView {
                    depth: share.map(|share| format!("{share:.3}")),
                    class: if is_few { "few" } else { "" },
                    ..CellView::from(or_none(share, |share| format!("{:.0}", 100.0 * share)))
                }
            };
            Some(used.iter().map(cell).collect())
        }),
        ..TableView::default()
    };
    table.rows.push(RowView {
        name: "positions".into(),
        cells: used.iter().map(count).collect(),
        at: None,
    });
    table
}

/// Returns a row for each policy for which `cells` has some: ranked ones, then references.
pub(super) fn rows(roles: &Roles, cells: impl Fn(usize) -> Option<Vec<CellView>>) -> Vec<RowView> {
    let row = |at: usize| {
        Some(RowView { at: Some(at), name: roles.starred[at].clone(), cells: cells(at)? })
    };
    roles.order.iter().copied().filter_map(row).collect()
}

pub(super) fn texts<const N: usize>(all: [String; N]) -> Option<Vec<CellView>> {
    Some(all.into_iter().map(CellView::from).collect())
}

pub(super) fn forced(report: &AccuracyReport, roles: &Roles) -> Option<TableView> {
    let first = report.policies.first()?.forced?;
    Some(TableView {
        note: format!(
            "Where something is proven of some moves only: {} positions won by force, {} of unproven outcome with a move that is proven to lose.",
            thousands(first.won),
            thousands(first.at_risk)
        ),
        head: ["proven win\nkept", "thrown into\na proven loss", "proven loss\ntaken"]
            .map(String::from)
            .to_vec(),
        rows: rows(roles, |at| {
            let of = report.policies[at].forced?;
            texts(
                [of.won_kept, of.won_thrown, of.at_risk_lost].map(|share| or_none(share, percent)),
            )
        }),
        ..TableView::default()
    })
}

/// Returns what a best response takes of each policy, as bars: index, share of the widest, text.
pub(super) fn takers(report: &AccuracyReport, roles: &Roles) -> Vec<(usize, String, String)> {
    let Some(games) = &report.games else { return Vec::new() };
    let has_scores = report.table.has_scores();
    let of = |at: usize| match has_scores {
        true => games.policies[at].exploited_score(),
        false => games.policies[at].exploited(),
    };
    let order = &roles.order;
    // All that can be lost.
    let most = report.words.most.filter(|_| has_scores).map_or(1.0, f64::from);
    let text = |lost: f64| match has_scores {
        true => format!("{} ({lost:.2})", percent(lost / most)),
        false => percent(lost / most),
    };
    order.iter().map(|&at| (at, format!("{:.2}", 100.0 * of(at) / most), text(of(at)))).collect()
}

/// Returns the tables of games.
pub(super) fn games(report: &AccuracyReport, roles: &Roles) -> Vec<TableView> {
    let Some(games) = &report.games else { return Vec::new() };
    let [first, second] = report.words.sides;
    let has_scores = report.table.has_scores();
    let units = if has_scores { &report.words.units[..] } else { "mean result" };
    let both = |of: &BothSides<Expected>| [of.first, of.second];
    let shares = |of: Expected| {
        let endless = games.most_plies.map(|_| percent(of.endless));
        let shares = [percent(of.win), percent(of.draw), percent(of.loss), signed(of.score, 2)];
        shares.into_iter().chain(endless)
    };
    let endless = games.most_plies.map_or(String::new(), |plies| {
        let share =
            games.endless().map_or("none of those between two policies".to_string(), |share| {
                format!("{} of those between two policies at most", percent(share))
            });
        format!("A game longer than {plies} plies counts as infinite: {share}.")
    });
    let against = |opponent: &str, of: &dyn Fn(usize) -> BothSides<Expected>| TableView {
        title: format!("Against {opponent} moves, from the start"),
        note: endless.clone(),
        is_sorted: false,
        head: [first, second]
            .iter()
            .flat_map(|side| {
                let infinite = games.most_plies.map(|_| "infinite");
                let what = ["win", "draw", "loss", units].into_iter().chain(infinite);
                what.map(move |what| format!("as {side}\n{what}"))
            })
            .collect(),
        rows: rows(roles, |at| {
            let cells = both(&of(at)).into_iter().flat_map(shares);
            Some(cells.map(CellView::from).collect())
        }),
    };
    let most = games.table.iter().flatten().map(|of| of.score.abs()).fold(1.0, f64::max);
    let order = &roles.order;
    let between = TableView {
        title: "Against each other".into(),
        is_sorted: false,
        note: format!(
            "Expected {units} of the row, playing {first}, against the column, playing {second}."
        ),
        head: order.iter().map(|&at| roles.short[at].clone()).collect(),
        rows: rows(roles, |at| {
            let cell = |&other: &usize| {
                let score = games.table[at][other].score;
                CellView {
                    depth: Some(format!("{:.3}", score.abs() / most)),
                    class: if score < 0.0 { "against" } else { "" },
                    ..CellView::from(signed(score, 2))
                }
            };
            Some(order.iter().map(cell).collect())
        }),
    };
    let exploited = TableView {
        title: "Exploitability, and mistakes in a game".into(),
        is_sorted: false,
        note: "Lost to a best response from the start, on either side; expected moves in a game that lose some of the result.".into(),
        head: [first, second]
            .iter()
            .flat_map(|side| {
                let what = ["result", units].into_iter().take(if has_scores { 2 } else { 1 });
                what.map(move |what| format!("as {side}\n{what}"))
            })
            .chain(["itself", "random", "perfect"].map(|opponent| format!("mistakes\nvs {opponent}")))
            .collect(),
        rows: rows(roles, |at| {
            let of = &games.policies[at];
            let lost = [&of.exploitability.first, &of.exploitability.second];
            let lost = lost.into_iter().flat_map(|of| {
                let score = has_scores.then(|| amount(of.score_lost.max(0.0)));
                [amount(of.result_lost.max(0.0))].into_iter().chain(score)
            });
            let mistakes = of.mistakes.iter().map(|of| amount(of.result_mistakes));
            Some(lost.chain(mistakes).map(CellView::from).collect())
        }),
    };
    let weighted = weighted(&report.table);
    let number = |at: usize, figure: &Figure| report.metrics[at].number(figure.name).flatten();
    let weighted = TableView {
        title: "Weighted by play".into(),
        is_sorted: false,
        note: format!(
            "Where the move decides the result, each position counted as often as games{} meet it: games of the policy against itself, of random moves, and of best moves, each of these equally often. Positions that a policy has learned from are among them.",
            games.most_plies.map_or(String::new(), |plies| format!(" of at most {plies} plies"))
        ),
        head: heads(report, &weighted),
        rows: rows(roles, |at| {
            Some(weighted.iter().map(|figure| cell(figure, number(at, figure)).into()).collect())
        }),
    };
    vec![
        weighted,
        exploited,
        against("random", &|at| games.policies[at].against_random),
        against("perfect", &|at| games.policies[at].against_perfect),
        between,
    ]
}

/// Returns what moves to each square give away in 100 positions, a table for each policy.
pub(super) fn squares(report: &AccuracyReport, roles: &Roles) -> Vec<TableView> {
    let lost = |square: &Square| match report.table.has_scores() {
        true => square.figures.score_lost,
        false => square.figures.result_lost,
    };
    let view = |&at: &usize| {
        let policy = &report.policies[at];
        let squares = &policy.held_out_details().squares;
        let most = squares.iter().map(lost).fold(0.0, f64::max);
        let columns = squares.iter().map(|square| square.column + 1).max()?;
        let states = policy.held_out().all.positions.max(1) as f64;
        let cell = |square: &Square| CellView {
            text: format!("{:.1}", 100.0 * lost(square) / states),
            depth: Some(format!("{:.3}", lost(square) / most)),
            class: "against",
            change: None,
        };
        let rows = squares.chunks(columns).map(|row| RowView {
            cells: row.iter().map(cell).collect(),
            name: report.board.row_names[row[0].row].clone(),
            at: None,
        });
        (most > 0.0).then(|| TableView {
            title: roles.short[at].clone(),
            head: report.board.column_names.clone(),
            rows: rows.collect(),
            ..TableView::default()
        })
    };
    roles.ranked.iter().filter_map(view).collect()
}

pub(super) fn agreement(report: &AccuracyReport, roles: &Roles) -> Option<TableView> {
    let is_measured = report.policies.len() > 1 && report.table.judged_states > 0;
    let agreement = report.agreement.as_ref().filter(|_| is_measured)?;
    let order = &roles.order;
    let cell = |at: usize, other: usize| {
        let share = agreement.of(at, other);
        CellView {
            text: format!("{:.0}", 100.0 * share),
            depth: Some(format!("{share:.3}")),
            ..CellView::default()
        }
    };
    Some(TableView {
        note: "Overlap of the move probabilities of two policies, in percent: Σ min(p, q), mean over all positions with a choice.".into(),
        head: order.iter().map(|&at| roles.short[at].clone()).collect(),
        rows: rows(roles, |at| Some(order.iter().map(|&other| cell(at, other)).collect())),
        ..TableView::default()
    })
}

/// Returns the headings of some figures.
fn heads(report: &AccuracyReport, figures: &[&Figure]) -> Vec<String> {
    let headings = headings(&report.words, figures);
    headings.iter().map(|lines| lines.join("\n").trim().to_string()).collect()
}

/// Returns all figures of all sets of positions, then those of values and worst cases.
pub(super) fn figures(report: &AccuracyReport, roles: &Roles) -> Vec<TableView> {
    let columns = [false, true].map(|is_ranking| of_moves(&report.table, is_ranking)).concat();
    let mut all = Vec::new();
    let sets = sets(&report.table);
    for (title, of) in sets.into_iter().filter(|_| report.table.judged_states > 0) {
        let row = |name: String, at: Option<usize>, sets: &FiguresBySet| {
            let figures = of(sets).copied().unwrap_or_default();
            let cells = cells(&columns, &figures).into_iter();
            RowView { at, name, cells: cells.map(CellView::from).collect() }
        };
        let head = heads(report, &columns);
        let mut table = TableView { title: title.to_string(), head, ..TableView::default() };
        for &at in &roles.order {
            let policy = &report.policies[at];
            table.rows.push(row(roles.short[at].clone(), Some(at), &policy.total));
            for split in Split::ALL {
                let sets = policy.splits.as_ref().map(|splits| splits.of(split));
                if let Some(sets) = sets.filter(|sets| sets.all.positions > 0) {
                    let positions = of(sets).map_or(0, |figures| figures.positions);
                    table.rows.push(row(
                        format!("{} ({})", split.name(), thousands(positions)),
                        None,
                        sets,
                    ));
                }
            }
        }
        let positions = report
            .policies
            .first()
            .and_then(|policy| of(&policy.total))
            .map_or(0, |of| of.positions);
        table.title = format!("{title} ({})", thousands(positions));
        all.push(table);
    }
    let predicted = predictions(report).into_iter().map(|(title, figures)| TableView {
        title: title.replace('-', "−"),
        head: heads(report, &figures),
        rows: rows(roles, |at| {
            let details = report.policies[at].held_out_details();
            let text = |of: &&Figure| Some(cell(of, of.of_predictions(details)?).into());
            figures.iter().map(text).collect()
        }),
        ..TableView::default()
    });
    let by_phase = value_errors(report, roles);
    let units = &report.words.units[..];
    let limits = ["95 % lose\nat most", "99 % lose\nat most", "worst"];
    let of_set = |set: &'static str| limits.map(|limit| format!("{set}{limit}"));
    let decisive = ["decisive\n95 %", "99 %", "worst"].map(String::from);
    let worst = TableView {
        title: format!("{} lost at the worst", capitalised(units)),
        head: [of_set(""), decisive].concat(),
        rows: rows(roles, |at| {
            let details = report.policies[at].held_out_details();
            let sets = [&details.losses, &details.losses_decisive].into_iter().flatten();
            let limits = |losses: &Losses| {
                [losses.percentile(0.95), losses.percentile(0.99), losses.worst()]
                    .map(|n| n.map_or("-".to_string(), |n| n.to_string()))
            };
            let cells: Vec<_> = sets.flat_map(limits).map(CellView::from).collect();
            (!cells.is_empty()).then_some(cells)
        }),
        ..TableView::default()
    };
    let others = predicted
        .chain([by_phase, intervals(report, roles), worst])
        .filter(|table| !table.rows.is_empty());
    all.extend(others.map(|table| TableView { is_sorted: true, ..table }));
    all
}

/// Returns the confidence intervals of a sample; empty without one.
fn intervals(report: &AccuracyReport, roles: &Roles) -> TableView {
    let of = |at: usize| report.policies[at].intervals.as_ref();
    let has = |figure: &&Figure| {
        roles.order.iter().any(|&at| of(at).and_then(|all| all.of(figure.name)).is_some())
    };
    let figures: Vec<&Figure> = FIGURES.iter().filter(has).collect();
    TableView {
        title: "Confidence intervals of 95 %".to_string(),
        note: "Of moves, where these differ in result; of values, everywhere.".to_string(),
        head: heads(report, &figures),
        rows: rows(roles, |at| {
            let all = of(at)?;
            let interval = |figure: &&Figure| {
                let [lower, upper] = all
                    .of(figure.name)
                    .map(|of| [of.lower, of.upper])?
                    .map(|end| cell(figure, Some(end)));
                Some(format!("{lower} to {upper}"))
            };
            Some(
                figures
                    .iter()
                    .map(|figure| interval(figure).unwrap_or("-".to_string()).into())
                    .collect(),
            )
        }),
        ..TableView::default()
    }
}

/// Returns the mean error of predicted values by phase, of policies but `perfect`.
fn value_errors(report: &AccuracyReport, roles: &Roles) -> TableView {
    let of = |at: usize| &report.policies[at].held_out_details().values_by_phase[..];
    let predicts = |&at: &usize| report.policies[at].policy != "perfect" && !of(at).is_empty();
    let phases = roles.order.iter().copied().filter(predicts).flat_map(of).map(|group| group.key);
    let phases: BTreeSet<Key> = phases.collect();
    let figure = Figure::named("value_error");
    let by = match phases.first() {
        Some(Key::Layer(_)) => By::Layer,
        _ => By::Distance,
    };
    TableView {
        title: format!("Mean error of predicted values by {}", by_words(report, by).1),
        head: phases.iter().map(|phase| phase.number().to_string()).collect(),
        rows: rows(roles, |at| {
            let error = |phase: &Key| {
                let group = of(at).iter().find(|group| group.key == *phase);
                cell(figure, group.and_then(|group| figure.of_values(&group.values))).into()
            };
            predicts(&at).then(|| phases.iter().map(error).collect())
        }),
        ..TableView::default()
    }
}

/// Returns the time that each policy takes for an answer.
pub(super) fn times(report: &AccuracyReport, roles: &Roles) -> TableView {
    TableView {
        title: "Time for an answer".to_string(),
        is_sorted: true,
        head: vec!["µs".to_string()],
        rows: rows(roles, |at| {
            let seconds = report.seconds.get(at).copied().flatten();
            let micro = or_none(seconds.map(|of| 1e6 * of), |micro| format!("{micro:.2}"));
            Some(vec![micro.into()])
        }),
        ..TableView::default()
    }
}

/// Returns the figures of a set of positions by groups of a policy's positions, with those of all as the last row.
pub(super) fn by_groups(
    report: &AccuracyReport,
    (title, total, found): (String, &FiguresBySet, &[Group]),
    by: By,
    of: fn(&FiguresBySet) -> Option<&Figures>,
) -> TableView {
    let columns = of_moves(&report.table, false);
    let row = |name: String, sets: &FiguresBySet| {
        let figures = of(sets).copied().unwrap_or_default();
        let cells = [thousands(figures.positions)].into_iter().chain(cells(&columns, &figures));
        RowView { name, cells: cells.map(CellView::from).collect(), at: None }
    };
    let groups =
        found.iter().map(|group| row(format!("{:>5}", group.key.number()), &group.figures));
    // Not every position has a known distance.
    let all = (by != By::Distance).then(|| row("all".to_string(), total));
    TableView {
        title,
        head: ["positions".to_string()].into_iter().chain(heads(report, &columns)).collect(),
        rows: groups.chain(all).collect(),
        ..TableView::default()
    }
}

/// Returns the figures by moves, distance and value of the policy that the page brings out, or else of the best.
pub(super) fn groups(report: &AccuracyReport, roles: &Roles) -> Vec<Value> {
    let of = |&at: &usize| {
        let policy = &report.policies[at];
        let details = policy.held_out_details();
        let table = |by: By| {
            let (heading, what) = by_words(report, by);
            let about = (format!("By {what}"), policy.held_out(), details.groups(by));
            let mut table = by_groups(report, about, by, |sets| Some(&sets.all));
            table.note = heading.to_string();
            table.head.extend(["decisive".into(), "result\nkept".into()]);
            let sets = details.groups(by).iter().map(|group| &group.figures);
            for (row, sets) in table.rows.iter_mut().zip(sets.chain([policy.held_out()])) {
                let decisive = &sets.decisive_result;
                let kept = or_none(decisive.result_kept(), percent);
                row.cells.extend([thousands(decisive.positions), kept].map(CellView::from));
                row.name = typographic(row.name.trim());
            }
            (!details.groups(by).is_empty()).then_some(table)
        };
        let tables: Vec<TableView> =
            [By::Moves, By::Distance, By::Value].into_iter().filter_map(table).collect();
        context! { at, name => roles.short[at], tables => Value::from_serialize(tables) }
    };
    roles.highlight.as_ref().or(roles.ranked.first()).map(of).into_iter().collect()
}
