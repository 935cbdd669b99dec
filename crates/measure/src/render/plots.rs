//! Plots of a report as SVG in the text colour of the page, for light and dark themes.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::names::ShortNames;
use crate::evaluate::{AccuracyReport, Losses, PolicyAccuracy};

/// A plot as SVG.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Plot {
    /// Short name for links.
    pub id: &'static str,
    /// Title, a sentence.
    pub title: String,
    /// The `svg` element.
    pub svg: String,
}

/// Colours of series, distinguishable by colour-blind readers (Okabe and Ito 2008), dark enough for
/// light backgrounds and light enough for dark ones.
pub(super) const COLOURS: [(u8, u8, u8); 8] = [
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (230, 159, 0),
    (86, 180, 233),
    (160, 130, 40),
    (128, 128, 128),
];

/// Colour index of reference lines, drawn in the text colour without marks.
const REFERENCE: usize = 255;

/// Stand-in for the text colour of the page, and its form in the plotting library's output.
const INK: RGBColor = RGBColor(1, 2, 3);
const INK_WRITTEN: &str = "#010203";
/// Stand-in for faint lines.
const FAINT: RGBColor = RGBColor(4, 5, 6);
const FAINT_WRITTEN: &str = "#040506";

const SIZE: (u32, u32) = (640, 360);

/// A line of a plot.
struct Series {
    colour: usize,
    points: Vec<(f64, f64)>,
    /// Label of each point; usually empty.
    name: String,
}

struct Axes {
    x: (f64, f64),
    y: (f64, f64),
    x_name: String,
    y_name: &'static str,
    y_percent: bool,
    /// `true` if x is the decimal logarithm of seconds, labelled as a time.
    x_time: bool,
}

/// Returns all plots for which the report has data.
pub fn plots(report: &AccuracyReport) -> Vec<Plot> {
    [loss_distribution(report), cost(report), reliability(report), convergence(report)]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns the colour of a policy by its index.
pub(super) fn colour(at: usize) -> String {
    let (r, g, b) = COLOURS[at % COLOURS.len()];
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Dash patterns of the lines of policies, which distinguish them without colours and where colours repeat.
const DASHES: [&str; 3] = ["none", "8 4", "2 3"];

fn dash(at: usize) -> &'static str {
    DASHES[(at + at / COLOURS.len()) % DASHES.len()]
}

/// Returns the mark of a policy, one of four.
fn shape(at: usize) -> usize {
    (at + at / COLOURS.len()) % 4
}

/// Draws the mark of a policy for legends.
pub(super) fn mark(at: usize) -> String {
    let (colour, dash) = (colour(at), dash(at));
    let shape = match shape(at) {
        0 => format!("<circle cx=\"12\" cy=\"7\" r=\"4\" fill=\"{colour}\"/>"),
        1 => format!("<path d=\"M12 2l5 9h-10z\" fill=\"{colour}\"/>"),
        2 => format!("<path d=\"M8 3h8v8h-8z\" fill=\"{colour}\"/>"),
        _ => format!("<path d=\"M8 3l8 8m0 -8l-8 8\" stroke=\"{colour}\" stroke-width=\"2\"/>"),
    };
    let line = format!(
        "<path d=\"M0 7h24\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"/>"
    );
    format!(
        "<svg class=\"mark\" viewBox=\"0 0 24 14\" width=\"24\" height=\"14\" aria-hidden=\"true\">{line}{shape}</svg>"
    )
}

fn series(
    report: &AccuracyReport,
    mut of: impl FnMut(&PolicyAccuracy) -> Vec<(f64, f64)>,
) -> Vec<Series> {
    let lines = report.policies.iter().enumerate();
    let line = |(colour, policy)| Series { colour, points: of(policy), name: String::new() };
    lines.map(line).collect()
}

/// Plots the share of positions by minimum loss of score.
fn loss_distribution(report: &AccuracyReport) -> Option<Plot> {
    let beyond = |losses: &Losses| -> Vec<(f64, f64)> {
        let total: f64 = losses.expected.iter().sum();
        let mut left = total;
        let mut point = |(lost, expected): (usize, &f64)| {
            let at_least = (lost as f64, left / total);
            left -= expected;
            at_least
        };
        let points = losses.expected.iter().enumerate().map(&mut point);
        points.filter(|point| point.0 >= 1.0).collect()
    };
    let lines = series(report, |policy| {
        policy.held_out_details().losses_decisive.as_ref().map_or(vec![], beyond)
    });
    let (_, most) = range(&lines)?;
    let highest = lines.iter().flat_map(|line| &line.points).map(|p| p.1).fold(0.1, f64::max);
    let axes = Axes {
        x: (1.0, most.max(2.0)),
        y: (0.0, highest),
        x_name: report.words.units.clone(),
        y_name: "positions",
        y_percent: true,
        x_time: false,
    };
    let title = format!(
        "In how many of the positions whose moves differ in score so many {} or more are lost",
        report.words.units
    );
    let svg = draw(&title, &axes, &lines);
    Some(Plot { id: "losses", title, svg })
}

/// Plots the share of good moves by the time for an answer.
fn cost(report: &AccuracyReport) -> Option<Plot> {
    let mut seconds = report.seconds.iter();
    let mut lines = series(report, |policy| {
        let seconds = seconds.next().copied().flatten().filter(|&seconds| seconds > 0.0);
        let kept = policy.held_out().decisive_outcome.means().optimal_by_outcome;
        seconds.zip(kept).map(|(seconds, kept)| (seconds.log10(), kept)).into_iter().collect()
    });
    let (least, most) = range(&lines)?;
    let names = report.policies.iter().map(|policy| &policy.policy[..]);
    let names = ShortNames::of(&report.table.game, names).short;
    lines.iter_mut().zip(names).for_each(|(line, name)| line.name = name);
    let lowest =
        lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(1.0, f64::min);
    let axes = Axes {
        x: (least.floor(), most.ceil().max(least.floor() + 1.0)),
        y: ((lowest * 10.0).floor() / 10.0, 1.0),
        x_name: "time for an answer, on one thread".to_string(),
        y_name: "result kept",
        y_percent: true,
        x_time: true,
    };
    let title =
        "Cost: how often the result is kept where moves decide it, by the time an answer takes";
    let svg = draw(title, &axes, &lines);
    Some(Plot { id: "cost", title: title.to_string(), svg })
}

/// Formats a power of ten of seconds: 100 µs.
fn time(power: f64) -> String {
    let (unit, of_second) = match power {
        power if power < -6.5 => ("ns", 9.0),
        power if power < -3.5 => ("µs", 6.0),
        power if power < -0.5 => ("ms", 3.0),
        _ => ("s", 0.0),
    };
    format!("{:.0} {unit}", 10f64.powf(power + of_second))
}

/// Plots the frequency of wins by the chance that a policy predicts.
fn reliability(report: &AccuracyReport) -> Option<Plot> {
    let lines = series(report, |policy| {
        let values = &policy.held_out_details().values;
        let bins = values.iter().filter(|_| policy.policy != "perfect");
        let bins = bins.flat_map(|values| &values.bins).filter(|bin| bin.states > 0);
        bins.map(|bin| {
            let n = bin.states as f64;
            (bin.predicted / n, bin.actual / n)
        })
        .collect()
    });
    range(&lines)?;
    let mut lines = lines;
    // Perfect calibration.
    let points = vec![(0.0, 0.0), (1.0, 1.0)];
    lines.push(Series { colour: REFERENCE, points, name: String::new() });
    let axes = Axes {
        x: (0.0, 1.0),
        y: (0.0, 1.0),
        x_name: "chance that the policy sees".to_string(),
        y_name: "true",
        y_percent: true,
        x_time: false,
    };
    let title = "Reliability: true results by the chance of winning that a policy sees";
    let svg = draw(title, &axes, &lines);
    Some(Plot { id: "reliability", title: title.to_string(), svg })
}

/// Plots the number of states changed in each sweep of the solution, if there are several.
fn convergence(report: &AccuracyReport) -> Option<Plot> {
    if report.sweeps.len() < 2 {
        return None;
    }
    let changed = report.sweeps.iter().map(|record| ((record.changed + 1) as f64).log10());
    let points: Vec<(f64, f64)> = (1..).map(f64::from).zip(changed).collect();
    let lines = [Series { colour: 0, points, name: String::new() }];
    let (first, last) = range(&lines)?;
    let highest = lines[0].points.iter().map(|point| point.1).fold(1.0, f64::max);
    let axes = Axes {
        x: (first, last.max(2.0)),
        y: (0.0, highest),
        x_name: "sweep".to_string(),
        y_name: "states, power of 10",
        y_percent: false,
        x_time: false,
    };
    let title = "Convergence: states whose value a sweep of the solution changed, and one more";
    let svg = draw(title, &axes, &lines);
    Some(Plot { id: "convergence", title: title.to_string(), svg })
}

/// Returns the least and the greatest x; `None` without points.
fn range(lines: &[Series]) -> Option<(f64, f64)> {
    let mut xs = lines.iter().flat_map(|line| &line.points).map(|point| point.0);
    let first = xs.next()?;
    let (least, most) = xs.fold((first, first), |(a, b), x| (a.min(x), b.max(x)));
    Some((least, if most > least { most } else { least + 1.0 }))
}

/// Returns the maximum number of labels of an axis, so that no integer repeats.
fn labels((least, most): (f64, f64)) -> usize {
    if most > 1.5 { ((most - least) as usize + 1).clamp(2, 10) } else { 10 }
}

/// Returns the stand-in for the colour of a line while it is drawn.
fn placeholder(at: usize) -> RGBColor {
    RGBColor(9, at as u8, 9)
}

/// Draws lines with marks.
fn draw(title: &str, axes: &Axes, lines: &[Series]) -> String {
    let mut svg = String::new();
    draw_into(&mut svg, axes, lines).expect("a string takes every drawing");
    let (width, height) = SIZE;
    for line in lines {
        let RGBColor(r, g, b) = placeholder(line.colour);
        let written = format!("#{r:02X}{g:02X}{b:02X}");
        let (colour, dash) = match line.colour {
            REFERENCE => ("currentColor".to_string(), "none"),
            of => (colour(of), dash(of)),
        };
        let dashed = format!(
            "stroke=\"{colour}\" stroke-dasharray=\"{dash}\" stroke-width=\"2\" fill=\"none\""
        );
        // Only lines are dashed, not their marks.
        let of_line =
            format!("fill=\"none\" opacity=\"1\" stroke=\"{written}\" stroke-width=\"2\"");
        svg = svg.replace(&of_line, &dashed).replace(&written, &colour);
    }
    // The page sets the size and the text colour.
    let opened = format!("<svg role=\"img\" aria-label=\"{title}\"");
    svg.replace(&format!("<svg width=\"{width}\" height=\"{height}\""), &opened)
        .replacen('>', &format!("><title>{title}</title>"), 1)
        .replace(INK_WRITTEN, "currentColor")
        .replace(FAINT_WRITTEN, "currentColor\" stroke-opacity=\"0.15")
}

/// Returns `true` for a point in the left half, whose label extends to the right.
fn is_left(axes: &Axes, x: f64) -> bool {
    x < (axes.x.0 + axes.x.1) / 2.0
}

/// Returns the pixels by which to lower the label of each line, which then has one point, so that labels do
/// not overlap. Sizes approximate those of [`draw_into`].
fn lower(axes: &Axes, lines: &[Series]) -> Vec<i32> {
    let (wide, high, letter, line_height) = (520.0, 290.0, 9.0, 17.0);
    let share = |x: f64, (least, most): (f64, f64)| (x - least) / (most - least);
    let named = lines.iter().enumerate().filter(|(_, line)| !line.name.is_empty());
    let mut labels: Vec<(usize, f64, [f64; 2])> = named
        .filter_map(|(at, line)| {
            let &(x, y) = line.points.first()?;
            let (right, down) = (wide * share(x, axes.x), high * (1.0 - share(y, axes.y)));
            let long = letter * (line.name.chars().count() + 2) as f64;
            let across =
                if is_left(axes, x) { [right, right + long] } else { [right - long, right] };
            Some((at, down, across))
        })
        .collect();
    labels.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut lower = vec![0; lines.len()];
    let mut placed: Vec<(f64, [f64; 2])> = Vec::new();
    for (at, down, across) in labels {
        let beside =
            placed.iter().filter(|(_, other)| across[0] < other[1] && other[0] < across[1]);
        let least = beside.map(|(other, _)| other + line_height).fold(down, f64::max);
        lower[at] = (least - down).round() as i32;
        placed.push((least, across));
    }
    lower
}

fn draw_into(
    svg: &mut String,
    axes: &Axes,
    lines: &[Series],
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&area)
        .margin(8)
        .margin_right(36)
        .x_label_area_size(56)
        .y_label_area_size(72)
        .build_cartesian_2d(axes.x.0..axes.x.1, axes.y.0..axes.y.1)?;
    let percent = axes.y_percent;
    let whole = axes.x.1 > 1.5;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(FAINT)
        .axis_style(INK)
        .label_style(("sans-serif", 20).into_font().color(&INK))
        .axis_desc_style(("sans-serif", 20).into_font().color(&INK))
        .x_desc(&axes.x_name)
        .y_desc(axes.y_name)
        .x_labels(if axes.x_time { (axes.x.1 - axes.x.0) as usize + 1 } else { labels(axes.x) })
        .y_labels(6)
        .x_label_formatter(&|&x| match whole {
            _ if axes.x_time => time(x),
            true => format!("{x:.0}"),
            false => format!("{x:.1}"),
        })
        .y_label_formatter(&|y| match percent {
            true => format!("{:.0}%", y * 100.0),
            false => format!("{y:.0}"),
        })
        .draw()?;
    for (line, down) in lines.iter().zip(lower(axes, lines)) {
        let colour = placeholder(line.colour);
        let points = line.points.iter().copied();
        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
        let fill = colour.filled();
        let beside = |at: (f64, f64)| {
            let (side, away) =
                if is_left(axes, at.0) { (HPos::Left, 9) } else { (HPos::Right, -9) };
            let style =
                ("sans-serif", 17).into_font().color(&INK).pos(Pos::new(side, VPos::Center));
            EmptyElement::at(at) + Text::new(line.name.clone(), (away, down), style)
        };
        let named = points.clone().filter(|_| !line.name.is_empty());
        chart.draw_series(named.map(beside))?;
        match shape(line.colour) {
            _ if line.colour == REFERENCE => continue,
            0 => chart.draw_series(points.map(|at| Circle::new(at, 4, fill)))?,
            1 => chart.draw_series(points.map(|at| TriangleMarker::new(at, 5, fill)))?,
            2 => {
                chart
                    .draw_series(points.map(|at| {
                        EmptyElement::at(at) + Rectangle::new([(-4, -4), (4, 4)], fill)
                    }))?
            }
            _ => chart.draw_series(points.map(|at| Cross::new(at, 4, colour.stroke_width(2))))?,
        };
    }
    area.present()?;
    drop(chart);
    Ok(())
}
