//! Plots of a report, as SVG that takes its ink from the page: it is readable on light and dark.

use plotters::prelude::*;

use crate::evaluate::{AccuracyReport, Group, Losses, PolicyAccuracy};

/// A plot: what it shows, and the SVG.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Plot {
    /// A short name, for links.
    pub id: &'static str,
    /// In a sentence.
    pub title: String,
    /// The picture, an `svg` element.
    pub svg: String,
}

/// Colours of series, told apart by colour-blind people too (Okabe and Ito 2008), dark enough for
/// light paper and light enough for dark.
pub const COLOURS: [(u8, u8, u8); 8] = [
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (230, 159, 0),
    (86, 180, 233),
    (160, 130, 40),
    (128, 128, 128),
];

/// What is drawn in the ink of the page, and how it is written by the drawing library.
const INK: RGBColor = RGBColor(1, 2, 3);
const INK_WRITTEN: &str = "#010203";
/// What is drawn faintly.
const FAINT: RGBColor = RGBColor(4, 5, 6);
const FAINT_WRITTEN: &str = "#040506";

const SIZE: (u32, u32) = (640, 360);

/// A line of a plot.
struct Series {
    colour: usize,
    points: Vec<(f64, f64)>,
}

struct Axes {
    x: (f64, f64),
    y: (f64, f64),
    x_name: String,
    y_name: &'static str,
    y_percent: bool,
}

/// All plots that the report has data for.
pub fn plots(report: &AccuracyReport) -> Vec<Plot> {
    let mut plots = vec![by_layer(report)];
    plots.extend(loss_distribution(report));
    plots.push(comparison(report));
    plots.extend(reliability(report));
    plots.extend(convergence(report));
    plots.into_iter().flatten().collect()
}

fn series(report: &AccuracyReport, of: impl Fn(&PolicyAccuracy) -> Vec<(f64, f64)>) -> Vec<Series> {
    let lines = report.policies.iter().enumerate();
    lines.map(|(colour, policy)| Series { colour, points: of(policy) }).collect()
}

/// Result kept on decisive positions, by layer; by distance where the table does not tell layers.
fn by_layer(report: &AccuracyReport) -> Option<Plot> {
    let layered = report.policies.iter().any(|policy| !policy.layers.is_empty());
    let groups = |policy: &PolicyAccuracy| -> Vec<Group> {
        if layered { policy.layers.clone() } else { policy.by_distance.clone() }
    };
    let lines = series(report, |policy| {
        let point = |group: Group| {
            let kept = group.figures.decisive_outcome.optimal_by_outcome()?;
            Some((f64::from(group.key.number()), kept))
        };
        groups(policy).into_iter().filter_map(point).collect()
    });
    let words = match (layered, report.words.layers) {
        (true, "plies") => "plies from the root".to_string(),
        (true, layers) => format!("{layers} before the move"),
        (false, _) => "plies to the end".to_string(),
    };
    let axes = Axes {
        x: range(&lines)?,
        y: (0.0, 1.0),
        x_name: words.clone(),
        y_name: "result kept",
        y_percent: true,
    };
    let title = format!(
        "How often the best result is kept where the choice of the move decides it, by {words}"
    );
    Some(Plot { id: "by-layer", title, svg: draw(&axes, &lines, false) })
}

/// Share of positions in which so much of the score or more is given away.
fn loss_distribution(report: &AccuracyReport) -> Option<Option<Plot>> {
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
    let lines = series(report, |policy| policy.losses_decisive.as_ref().map_or(vec![], beyond));
    let (_, most) = range(&lines)?;
    let highest = lines.iter().flat_map(|line| &line.points).map(|p| p.1).fold(0.1, f64::max);
    let axes = Axes {
        x: (1.0, most.max(2.0)),
        y: (0.0, highest),
        x_name: report.words.units.clone(),
        y_name: "positions",
        y_percent: true,
    };
    let title = format!(
        "In how many of the positions whose moves differ in score so many {} or more are lost",
        report.words.units
    );
    let svg = draw(&axes, &lines, false);
    Some(Some(Plot { id: "losses", title, svg }))
}

/// Result kept on decisive positions, policy by policy.
fn comparison(report: &AccuracyReport) -> Option<Plot> {
    let bars = report.policies.iter().enumerate().map(|(colour, policy)| {
        let kept = policy.total.decisive_outcome.optimal_by_outcome().unwrap_or(0.0);
        Series { colour, points: vec![(colour as f64, kept)] }
    });
    let bars: Vec<Series> = bars.collect();
    let axes = Axes {
        x: (-0.5, bars.len() as f64 - 0.5),
        y: (0.0, 1.0),
        x_name: "policies in the order of the tables".to_string(),
        y_name: "result kept",
        y_percent: true,
    };
    let title = "How often the best result is kept where the choice of the move decides it";
    (!bars.is_empty()).then(|| Plot {
        id: "comparison",
        title: title.to_string(),
        svg: draw(&axes, &bars, true),
    })
}

/// How often positions are won that a policy gives some chance.
fn reliability(report: &AccuracyReport) -> Option<Option<Plot>> {
    let lines = series(report, |policy| {
        let bins = policy.values.iter().filter(|_| policy.policy != "perfect");
        let bins = bins.flat_map(|values| &values.bins).filter(|bin| bin.states > 0);
        bins.map(|bin| {
            let n = bin.states as f64;
            (bin.predicted / n, bin.actual / n)
        })
        .collect()
    });
    range(&lines)?;
    let mut lines = lines;
    // What perfect calibration would be.
    lines.push(Series { colour: COLOURS.len() - 1, points: vec![(0.0, 0.0), (1.0, 1.0)] });
    let axes = Axes {
        x: (0.0, 1.0),
        y: (0.0, 1.0),
        x_name: "chance that the policy sees".to_string(),
        y_name: "true",
        y_percent: true,
    };
    let title = "Reliability: true results by the chance of winning that a policy sees";
    let svg = draw(&axes, &lines, false);
    Some(Some(Plot { id: "reliability", title: title.to_string(), svg }))
}

/// States changed in each sweep of the solution, if there were several.
fn convergence(report: &AccuracyReport) -> Option<Option<Plot>> {
    if report.sweeps.len() < 2 {
        return None;
    }
    let changed = report.sweeps.iter().map(|record| ((record.changed + 1) as f64).log10());
    let points: Vec<(f64, f64)> = (1..).map(f64::from).zip(changed).collect();
    let lines = [Series { colour: 0, points }];
    let (first, last) = range(&lines)?;
    let highest = lines[0].points.iter().map(|point| point.1).fold(1.0, f64::max);
    let axes = Axes {
        x: (first, last.max(2.0)),
        y: (0.0, highest),
        x_name: "sweep".to_string(),
        y_name: "states, power of 10",
        y_percent: false,
    };
    let title = "Convergence: states whose value a sweep of the solution changed, and one more";
    let svg = draw(&axes, &lines, false);
    Some(Some(Plot { id: "convergence", title: title.to_string(), svg }))
}

/// From the least to the greatest x; `None` if there is no point.
fn range(lines: &[Series]) -> Option<(f64, f64)> {
    let mut xs = lines.iter().flat_map(|line| &line.points).map(|point| point.0);
    let first = xs.next()?;
    let (least, most) = xs.fold((first, first), |(a, b), x| (a.min(x), b.max(x)));
    Some((least, if most > least { most } else { least + 1.0 }))
}

/// How many labels an axis has at most: whole numbers are not written twice.
fn labels((least, most): (f64, f64)) -> usize {
    if most > 1.5 { ((most - least) as usize + 1).clamp(2, 10) } else { 10 }
}

/// Draws lines with points, or bars.
fn draw(axes: &Axes, lines: &[Series], bars: bool) -> String {
    let mut svg = String::new();
    let drawn = draw_into(&mut svg, axes, lines, bars);
    drawn.expect("a string takes every drawing");
    let (width, height) = SIZE;
    // The page sets the size; colours of ink follow its style.
    svg.replace(&format!("<svg width=\"{width}\" height=\"{height}\""), "<svg role=\"img\"")
        .replace(INK_WRITTEN, "currentColor")
        .replace(FAINT_WRITTEN, "currentColor\" stroke-opacity=\"0.15")
}

fn draw_into(
    svg: &mut String,
    axes: &Axes,
    lines: &[Series],
    bars: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&area)
        .margin(8)
        .margin_right(20)
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
        .x_labels(if bars { 0 } else { labels(axes.x) })
        .y_labels(6)
        .x_label_formatter(&|x| if whole { format!("{x:.0}") } else { format!("{x:.1}") })
        .y_label_formatter(&|y| match percent {
            true => format!("{:.0}%", y * 100.0),
            false => format!("{y:.0}"),
        })
        .draw()?;
    for line in lines {
        let (r, g, b) = COLOURS[line.colour % COLOURS.len()];
        let colour = RGBColor(r, g, b);
        if bars {
            let bar = |&(x, y): &(f64, f64)| {
                Rectangle::new([(x - 0.35, 0.0), (x + 0.35, y)], colour.filled())
            };
            chart.draw_series(line.points.iter().map(bar))?;
        } else {
            chart.draw_series(LineSeries::new(
                line.points.iter().copied(),
                colour.stroke_width(2),
            ))?;
            let dot = |&point: &(f64, f64)| Circle::new(point, 3, colour.filled());
            chart.draw_series(line.points.iter().map(dot))?;
        }
    }
    area.present()?;
    drop(chart);
    Ok(())
}
