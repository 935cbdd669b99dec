//! Plots of a report's page.

use super::chart::{Axis, Chart, Scale, Series};
use super::report_tables::{by_words, capitalised};
use super::roles::{Curve, Roles, colour};
use crate::judge::{AccuracyReport, By, Figures, Losses, PolicyAccuracy};

/// A plot as SVG.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(super) struct Plot {
    /// Short name for links.
    pub id: &'static str,
    /// Title.
    pub title: String,
    /// Explanation, a sentence; may be empty.
    pub note: String,
    /// The `svg` element.
    pub svg: String,
}

/// Least number of positions of a point, and of points of a line, that are drawn: fewer say nothing.
const POSITIONS: u64 = 30;
const POINTS: usize = 3;

/// Size of a plot, and of one of many small ones.
const SIZE: (f64, f64) = (460.0, 290.0);
const SMALL: (f64, f64) = (220.0, 132.0);

/// Plots the share of positions by minimum loss of score.
pub(super) fn losses(report: &AccuracyReport, roles: &Roles) -> Option<Plot> {
    let beyond = |losses: &Losses| -> Vec<(f64, f64)> {
        let shares = losses.at_least().into_iter().enumerate().skip(1);
        shares.map(|(lost, share)| (lost as f64, share)).collect()
    };
    let series = series(report, roles, |_, policy| {
        policy.held_out_details().losses_decisive.as_ref().map_or(vec![], beyond)
    });
    let (_, most) = range(&series, |point| point.0)?;
    let (_, highest) = range(&series, |point| point.1)?;
    let units = &report.words.units;
    let axes = [
        Axis {
            name: format!("{units} lost, at least"),
            from: 1.0,
            to: most.max(2.0),
            scale: Scale::Whole,
        },
        Axis { name: "positions".into(), from: 0.0, to: highest.max(0.1), scale: Scale::Percent },
    ];
    let note = format!(
        "Share of the positions whose moves differ in score in which the policy loses at least so many {units}."
    );
    Some(plot("losses", format!("{} lost by a move", capitalised(units)), note, axes, series))
}

/// Plots the share of good moves by the time for an answer.
pub(super) fn cost(report: &AccuracyReport, roles: &Roles) -> Option<Plot> {
    let mut series = series(report, roles, |at, policy| {
        let seconds = report.seconds.get(at).copied().flatten().filter(|&seconds| seconds > 0.0);
        let kept = kept(&policy.held_out().decisive_result);
        seconds.zip(kept).map(|(seconds, kept)| (seconds.log10(), kept)).into_iter().collect()
    });
    let (least, most) = range(&series, |point| point.0)?;
    let (lowest, _) = range(&series, |point| point.1)?;
    if series.iter().filter(|one| !one.points.is_empty()).count() < POINTS {
        return None;
    }
    let is_crowded = series.len() > 14;
    for one in &mut series {
        one.is_labelled = !is_crowded || one.policy == roles.highlight;
    }
    let to = most.ceil().max(least.floor() + 1.0);
    let axes = [
        Axis {
            name: "time for an answer, one thread".into(),
            from: least.floor(),
            to,
            scale: Scale::Time,
        },
        Axis { name: "result kept".into(), from: floor(lowest), to: 1.0, scale: Scale::Percent },
    ];
    Some(plot("cost", "Accuracy by time".into(), String::new(), axes, series))
}

/// Plots the frequency of wins by the chance that a policy predicts.
pub(super) fn reliability(report: &AccuracyReport, roles: &Roles) -> Option<Plot> {
    let mut series = series(report, roles, |_, policy| {
        let values = &policy.held_out_details().values;
        let bins = values.iter().filter(|_| policy.policy != "perfect");
        let bins = bins.flat_map(|values| &values.bins).filter(|bin| bin.positions >= POSITIONS);
        let points: Vec<(f64, f64)> = bins
            .map(|bin| {
                let n = bin.positions as f64;
                (bin.predicted / n, bin.actual / n)
            })
            .collect();
        if points.len() < POINTS { Vec::new() } else { points }
    });
    range(&series, |point| point.0)?;
    for (line, policy) in series.iter_mut().zip(&report.policies) {
        let bins = policy.held_out_details().values.iter().flat_map(|values| &values.bins);
        let positions = bins.map(|bin| bin.positions).filter(|&positions| positions >= POSITIONS);
        line.positions = if line.points.is_empty() { Vec::new() } else { positions.collect() };
    }
    series.push(Series {
        name: "perfect calibration".into(),
        points: vec![(0.0, 0.0), (1.0, 1.0)],
        is_reference: true,
        ..Series::default()
    });
    let share = |name: &str| Axis { name: name.into(), from: 0.0, to: 1.0, scale: Scale::Percent };
    let axes = [share("predicted points"), share("exact points")];
    let note =
        "Exact share of points (a draw counts half) by the share that the policy's value predicts.";
    Some(plot("reliability", "Reliability of values".into(), note.into(), axes, series))
}

/// Plots the number of states changed in each sweep of the solution, if there are several.
pub(super) fn convergence(report: &AccuracyReport) -> Option<Plot> {
    if report.sweeps.len() < 2 {
        return None;
    }
    let changed = report.sweeps.iter().map(|record| ((record.changed + 1) as f64).log10());
    let points: Vec<(f64, f64)> = (1..).map(f64::from).zip(changed).collect();
    let series = vec![Series { name: "states".into(), points, ..Series::default() }];
    let (_, last) = range(&series, |point| point.0)?;
    let (_, highest) = range(&series, |point| point.1)?;
    let axes = [
        Axis { name: "sweep".into(), from: 1.0, to: last.max(2.0), scale: Scale::Whole },
        Axis { name: "power of 10".into(), from: 0.0, to: highest.max(1.0), scale: Scale::Number },
    ];
    let note = "States whose value a sweep of the solution changed: the decimal logarithm of their number plus one.";
    Some(plot("convergence", "Convergence of the solution".into(), note.into(), axes, series))
}

/// Plots the result kept of each policy by groups of positions, small and with the same axes, beside chance in the same
/// positions; with the index of the policy. Groups of few positions are left out.
pub(super) fn small_multiples(
    report: &AccuracyReport,
    roles: &Roles,
    by: By,
) -> Vec<(usize, String)> {
    let groups = |policy: &PolicyAccuracy| -> Vec<(i32, Figures)> {
        let groups = policy.held_out_details().groups(by).iter();
        let figures = groups.map(|group| (group.key.number(), group.figures.decisive_result));
        figures.filter(|(_, figures)| figures.positions >= POSITIONS).collect()
    };
    let mut all = series(report, roles, |_, policy| {
        let point = |(key, figures)| Some((f64::from(key), kept(&figures)?));
        groups(policy).into_iter().filter_map(point).collect()
    });
    for (line, policy) in all.iter_mut().zip(&report.policies) {
        line.positions = groups(policy).iter().map(|(_, figures)| figures.positions).collect();
    }
    let chance = |policy: &PolicyAccuracy| Series {
        name: "chance".into(),
        colour: colour("random"),
        points: groups(policy)
            .into_iter()
            .filter_map(|(key, figures)| Some((f64::from(key), figures.chance_kept()?)))
            .collect(),
        is_reference: true,
        ..Series::default()
    };
    let chances: Vec<Series> = report.policies.iter().map(chance).collect();
    if all.iter().all(|line| line.points.len() < POINTS) {
        return Vec::new();
    }
    let Some((from, to)) = range(&all, |point| point.0) else { return Vec::new() };
    let both = || all.iter().chain(&chances);
    let lowest = both().flat_map(|line| &line.points).map(|point| point.1).fold(1.0, f64::min);
    let (heading, what) = by_words(report, by);
    let drawn = |&at: &usize| {
        let name = &all[at].name;
        let chart = Chart {
            width: SMALL.0,
            height: SMALL.1,
            x: Axis { name: heading.to_string(), from, to, scale: Scale::Whole },
            y: Axis { name: String::new(), from: floor(lowest), to: 1.0, scale: Scale::Percent },
            series: vec![chances[at].clone(), all[at].clone()],
        };
        (at, chart.svg(&format!("{name}: result kept by {what}")))
    };
    roles.ranked.iter().filter(|&&at| !all[at].points.is_empty()).map(drawn).collect()
}

/// Plots figures of the policies of a series, such as checkpoints of a run, by their number.
pub(super) fn learning(report: &AccuracyReport, roles: &Roles, curve: &Curve) -> Vec<Plot> {
    let has_scores = report.table.has_scores();
    let units = &report.words.units;
    let lost = if has_scores {
        ("score_lost", format!("{units} lost"))
    } else {
        ("result_lost", "result lost".to_string())
    };
    let exploited = match has_scores {
        true => ("exploited_score", format!("exploitability, {units}")),
        false => ("exploited_result", "exploitability, result".to_string()),
    };
    let figures = [("result_kept", "result kept".to_string()), lost, exploited];
    let is_whole = curve.steps.iter().all(|(step, _)| step.fract() == 0.0);
    let scale = if is_whole { Scale::Whole } else { Scale::Number };
    let drawn = figures.into_iter().filter_map(|(metric, title)| {
        let number =
            |&(step, at): &(f64, usize)| Some((step, report.metrics.get(at)?.number(metric)??));
        let points: Vec<(f64, f64)> = curve.steps.iter().filter_map(number).collect();
        let own = curve.steps.last().map_or("", |&(_, at)| roles.colours[at]);
        let line = Series { name: curve.name.clone(), colour: own, points, ..Series::default() };
        let mut series = vec![line];
        let (from, to) = range(&series, |point| point.0)?;
        let is_share = metric == "result_kept";
        let last = curve.steps.last().map(|&(_, at)| report.policies[at].held_out());
        let chance = last.and_then(|sets| sets.decisive_result.chance_kept());
        series.extend(chance.filter(|_| is_share).map(|chance| Series {
            name: "chance".into(),
            colour: colour("random"),
            points: vec![(from, chance), (to, chance)],
            is_reference: true,
            ..Series::default()
        }));
        let (least, most) = range(&series, |point| point.1)?;
        let axes = [
            Axis { name: "step".into(), from, to, scale },
            Axis {
                name: title.clone(),
                from: if is_share { floor(least) } else { 0.0 },
                to: if is_share { 1.0 } else { most.max(1e-3) },
                scale: if is_share { Scale::Percent } else { Scale::Number },
            },
        ];
        Some(plot("curve", title, String::new(), axes, series))
    });
    drawn.collect()
}

fn plot(
    id: &'static str,
    title: String,
    note: String,
    [x, y]: [Axis; 2],
    series: Vec<Series>,
) -> Plot {
    let chart = Chart { width: SIZE.0, height: SIZE.1, x, y, series };
    let svg = chart.svg(&title);
    Plot { id, title, note, svg }
}

/// Returns a line for each policy, perfect moves apart, in which `of` has points.
fn series(
    report: &AccuracyReport,
    roles: &Roles,
    of: impl Fn(usize, &PolicyAccuracy) -> Vec<(f64, f64)>,
) -> Vec<Series> {
    let lines = report.policies.iter().enumerate();
    let line = |(at, policy): (usize, &PolicyAccuracy)| Series {
        policy: Some(at),
        name: roles.short[at].clone(),
        colour: roles.colours[at],
        points: of(at, policy),
        is_own: roles.highlight == Some(at),
        ..Series::default()
    };
    lines.map(line).collect()
}

fn kept(figures: &Figures) -> Option<f64> {
    figures.result_kept()
}

/// Returns the tenth below a share, where its axis begins.
fn floor(lowest: f64) -> f64 {
    ((lowest * 10.0).floor() / 10.0).clamp(0.0, 0.9)
}

/// Returns the least and the greatest coordinate of all points; `None` without points.
fn range(series: &[Series], of: impl Fn(&(f64, f64)) -> f64) -> Option<(f64, f64)> {
    let mut all = series.iter().flat_map(|line| &line.points).map(of);
    let first = all.next()?;
    let (least, most) = all.fold((first, first), |(a, b), x| (a.min(x), b.max(x)));
    Some((least, if most > least { most } else { least + 1.0 }))
}
