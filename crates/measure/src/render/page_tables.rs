//! Tables of a report's page.

use minijinja::{Value, context};
use serde::Serialize;

use super::accuracy_text::by_words;
use super::chart::FEW;
use super::columns::{KEPT, RANKED, cells, headings, or_none};
use super::number::{amount, percent, signed, thousands};
use super::roles::Roles;
use crate::judge::{AccuracyReport, BothSides, By, Expected, Figures, FiguresBySet, Group, Square};
use yomikiri::rules::Split;

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
        CellView { text: typographic(&text), ..CellView::default() }
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
        found.map(|group| group.figures.decisive_outcome)
    };
    let used: Vec<_> =
        first.iter().filter(|group| group.figures.decisive_outcome.states > 0).collect();
    let count = |group: &&Group| thousands(group.figures.decisive_outcome.states).into();
    let mut table = TableView {
        head: used.iter().map(|group| group.key.number().to_string()).collect(),
        rows: rows(roles, |at| {
            let cell = |group: &&Group| {
                let figures = decisive(at, group.key);
                let share = figures.and_then(|of| of.means().optimal_by_outcome);
                let is_few = figures.is_none_or(|of| of.states < FEW);
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
    let most = order.iter().map(|&at| of(at)).fold(1e-9, f64::max);
    let text = |lost: f64| if has_scores { format!("{lost:.2}") } else { amount(lost) };
    order.iter().map(|&at| (at, format!("{:.2}", 100.0 * of(at) / most), text(of(at)))).collect()
}

/// Returns the tables of games.
pub(super) fn games(report: &AccuracyReport, roles: &Roles) -> Vec<TableView> {
    let Some(games) = &report.games else { return Vec::new() };
    let [first, second] = report.words.sides;
    let has_scores = report.table.has_scores();
    let units = if has_scores { &report.words.units[..] } else { "mean result" };
    let both = |of: &BothSides<Expected>| [of.first, of.second];
    let shares =
        |of: Expected| [percent(of.win), percent(of.draw), percent(of.loss), signed(of.score, 2)];
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
                ["win", "draw", "loss", units].map(|what| format!("as {side}\n{what}"))
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
                    ..CellView::from(signed(score, 1))
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
                [amount(of.outcome_lost.max(0.0))].into_iter().chain(score)
            });
            let mistakes = of.mistakes.iter().map(|of| amount(of.outcome_mistakes));
            Some(lost.chain(mistakes).map(CellView::from).collect())
        }),
    };
    vec![
        exploited,
        against("random", &|at| games.policies[at].against_random),
        against("perfect", &|at| games.policies[at].against_perfect),
        between,
    ]
}

/// Returns what moves to each square give away, a table for each policy.
pub(super) fn squares(report: &AccuracyReport, roles: &Roles) -> Vec<TableView> {
    let view = |&at: &usize| {
        let policy = &report.policies[at];
        let squares = &policy.held_out_details().squares;
        let most = squares.iter().map(|square| square.figures.score_lost).fold(0.0, f64::max);
        let columns = squares.iter().map(|square| square.column + 1).max()?;
        let states = policy.held_out().all.states.max(1) as f64;
        let cell = |square: &Square| CellView {
            text: format!("{:.0}", 1000.0 * square.figures.score_lost / states),
            depth: Some(format!("{:.3}", square.figures.score_lost / most)),
            class: "against",
            change: None,
        };
        let rows = squares.chunks(columns).map(|row| RowView {
            cells: row.iter().map(cell).collect(),
            name: row[0].square.trim_start_matches(char::is_alphabetic).to_string(),
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

/// Returns all figures of all sets of positions, then those of values and worst cases.
pub(super) fn figures(report: &AccuracyReport, roles: &Roles) -> Vec<TableView> {
    let head = || {
        let kept = headings(report, KEPT);
        kept.into_iter()
            .chain(headings(report, RANKED))
            .map(|(upper, lower)| format!("{upper}\n{lower}").trim().to_string())
    };
    let mut all = Vec::new();
    let sets = super::accuracy_text::sets(&report.table);
    for (title, of) in sets.into_iter().filter(|_| report.table.judged_states > 0) {
        let row = |name: String, at: Option<usize>, sets: &FiguresBySet| {
            let figures = of(sets).copied().unwrap_or_default();
            let cells = [KEPT, RANKED]
                .into_iter()
                .flat_map(|columns| cells(&report.table, columns, &figures));
            RowView { at, name, cells: cells.map(CellView::from).collect() }
        };
        let mut table =
            TableView { title: title.to_string(), head: head().collect(), ..TableView::default() };
        for &at in &roles.order {
            let policy = &report.policies[at];
            table.rows.push(row(roles.short[at].clone(), Some(at), &policy.total));
            for split in Split::ALL {
                let sets = policy.splits.as_ref().map(|splits| splits.of(split));
                if let Some(sets) = sets.filter(|sets| sets.all.states > 0) {
                    let positions = of(sets).map_or(0, |figures| figures.states);
                    table.rows.push(row(
                        format!("{} ({})", split.name(), thousands(positions)),
                        None,
                        sets,
                    ));
                }
            }
        }
        let positions =
            report.policies.first().and_then(|policy| of(&policy.total)).map_or(0, |of| of.states);
        table.title = format!("{title} ({})", thousands(positions));
        all.push(table);
    }
    let valued = TableView {
        title: "Values that policies predict, against the exact outcome (a win is 1, a loss −1)"
            .into(),
        head: ["mean\nerror", "right\nsign", "Brier\nscore", "calibration\nerror"]
            .map(String::from)
            .to_vec(),
        rows: rows(roles, |at| {
            let values = report.policies[at].held_out_details().values?.means();
            texts([
                or_none(values.mean_error, amount),
                or_none(values.sign_accuracy, percent),
                or_none(values.brier, amount),
                or_none(values.calibration_error, amount),
            ])
        }),
        ..TableView::default()
    };
    let limit = format!("99 % lose\nat most {}", report.words.units);
    let heads = [&limit[..], "worst", "µs an\nanswer"];
    let skipped = if report.table.has_scores() { 0 } else { 2 };
    let worst = TableView {
        title: "Worst cases, and the time for an answer".to_string(),
        head: heads.into_iter().skip(skipped).map(String::from).collect(),
        rows: rows(roles, |at| {
            let losses = report.policies[at].held_out_details().losses.as_ref();
            let number = |n: Option<usize>| n.map_or("-".to_string(), |n| n.to_string());
            let seconds = report.seconds.get(at).copied().flatten();
            let cells = [
                number(losses.and_then(|losses| losses.percentile(0.99))),
                number(losses.and_then(|losses| losses.worst())),
                or_none(seconds.map(|seconds| 1e6 * seconds), |micro| format!("{micro:.2}")),
            ];
            Some(cells.into_iter().skip(skipped).map(CellView::from).collect())
        }),
        ..TableView::default()
    };
    let others = [valued, worst].into_iter().filter(|table| !table.rows.is_empty());
    all.extend(others.map(|table| TableView { is_sorted: true, ..table }));
    all
}

/// Returns the figures by moves, distance and value of each policy.
pub(super) fn groups(report: &AccuracyReport, roles: &Roles) -> Vec<Value> {
    let of = |&at: &usize| {
        let details = report.policies[at].held_out_details();
        let table = |by: By| {
            let groups = details.groups(by);
            let columns = |figures: &Figures| cells(&report.table, KEPT, figures);
            let kept = headings(report, KEPT)
                .into_iter()
                .map(|(a, b)| format!("{a}\n{b}").trim().to_string());
            (!groups.is_empty()).then(|| TableView {
                title: format!("By {}", by_words(report, by).1),
                note: by_words(report, by).0.to_string(),
                is_sorted: false,
                head: ["positions".to_string()]
                    .into_iter()
                    .chain(kept)
                    .chain(["decisive".into(), "result\nkept".into()])
                    .collect(),
                rows: groups
                    .iter()
                    .map(|group| {
                        let (all, decisive) = (&group.figures.all, &group.figures.decisive_outcome);
                        let cells = [thousands(all.states)].into_iter().chain(columns(all));
                        let kept = or_none(decisive.means().optimal_by_outcome, percent);
                        let cells = cells.chain([thousands(decisive.states), kept]);
                        RowView {
                            name: typographic(&group.key.number().to_string()),
                            cells: cells.map(CellView::from).collect(),
                            at: None,
                        }
                    })
                    .collect(),
            })
        };
        let tables: Vec<TableView> =
            [By::Moves, By::Distance, By::Value].into_iter().filter_map(table).collect();
        context! { at, name => roles.short[at], tables => Value::from_serialize(tables) }
    };
    roles.ranked.iter().chain(&roles.random).map(of).collect()
}
