//! Learning curves as standalone SVG.

use std::collections::BTreeMap;

use super::chart::{Axis, COLOURS, Chart, Scale, Series, escaped};

/// Size of a panel without its title and legend.
const SIZE: (f64, f64) = (860.0, 440.0);
/// Maximum number of points of a line; beyond it, means of neighbours are drawn.
const POINTS: usize = 25;

/// Returns `true` for metrics that are shares and rise with training.
fn is_plotted(name: &str) -> bool {
    name.starts_with("points against ")
        || name.starts_with("won as ")
        || name.ends_with("best outcome, decisive")
        || name == "held out: right"
}

/// Returns the points of a metric, (iteration, share), and the number of measurements averaged in each, which
/// exceeds 1 if there are more than [`POINTS`].
fn line(rows: &[BTreeMap<String, f64>], name: &str) -> (Vec<(f64, f64)>, usize) {
    let measured = (1..).zip(rows).filter_map(|(at, row)| Some((at, *row.get(name)?)));
    let all: Vec<(u32, f64)> = measured.collect();
    let neighbours = all.len().div_ceil(POINTS).max(1);
    let mean = |some: &[(u32, f64)]| {
        let share = some.iter().map(|(_, share)| share).sum::<f64>() / some.len() as f64;
        let middle = f64::from(some[0].0 + some[some.len() - 1].0) / 2.0;
        (middle, share)
    };
    (all.chunks(neighbours).map(mean).collect(), neighbours)
}

/// A label and its points.
pub type Line = (String, Vec<(f64, f64)>);

/// A plot of lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel<'a> {
    /// Title.
    pub title: &'a str,
    /// Label of the x axis, which begins at 0.
    pub x: &'a str,
    /// Bounds of the y axis.
    pub y: (f64, f64),
    /// `true` if y is a share, labelled in percent.
    pub percent: bool,
    /// The lines.
    pub lines: &'a [Line],
}

/// Plots the shares of a network's card, a row per iteration, as an SVG file with a legend on white;
/// `None` if no metric was measured twice.
pub fn history(title: &str, rows: &[BTreeMap<String, f64>]) -> Option<String> {
    let mut names: Vec<&String> =
        rows.iter().flat_map(|row| row.keys()).filter(|name| is_plotted(name)).collect();
    names.sort();
    names.dedup();
    let lines = names.into_iter().map(|name| {
        let (points, neighbours) = line(rows, name);
        let label = match neighbours {
            1 => name.to_string(),
            _ => format!("{name}, mean of {neighbours}"),
        };
        (label, points)
    });
    let lines: Vec<Line> = lines.filter(|(_, points)| points.len() > 1).collect();
    if lines.is_empty() {
        return None;
    }
    let least = lines.iter().flat_map(|(_, points)| points).map(|point| point.1);
    // The axis begins a tenth below the lowest share, so that high shares are distinguishable.
    let least = (least.fold(1.0, f64::min) * 10.0 - 1.0).floor().max(0.0) / 10.0;
    let unit = if rows[0].contains_key("epoch") { "epochs" } else { "iterations" };
    let panel = Panel { title, x: unit, y: (least, 1.0), percent: true, lines: &lines };
    Some(panels(&[panel]))
}

/// Plots panels below each other, each with a legend, as an SVG file on white.
pub fn panels(panels: &[Panel<'_>]) -> String {
    let (mut top, mut inside) = (0.0, String::new());
    for panel in panels {
        inside += &format!("<g transform=\"translate(0 {top})\">{}</g>", drawn(panel));
        top += height(panel);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {top}\" color=\"#1b1a18\" font-family=\"sans-serif\" font-size=\"13\"><style>.chart text,.tick,.name,.legend{{fill:#1b1a18}}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>{inside}</svg>\n",
        SIZE.0
    )
}

/// Returns the height of a panel with its title and legend.
fn height(panel: &Panel<'_>) -> f64 {
    SIZE.1 + 34.0 + 20.0 * panel.lines.len() as f64 + 16.0
}

fn drawn(panel: &Panel<'_>) -> String {
    let Panel { title, x, y, percent, lines } = *panel;
    let most = lines.iter().flat_map(|(_, points)| points).map(|point| point.0);
    let series = lines.iter().zip(COLOURS.iter().cycle()).map(|((name, points), colour)| Series {
        name: name.clone(),
        colour,
        points: points.clone(),
        ..Series::default()
    });
    let chart = Chart {
        width: SIZE.0,
        height: SIZE.1,
        x: Axis {
            name: x.to_string(),
            from: 0.0,
            to: most.fold(1.0, f64::max),
            scale: Scale::Whole,
        },
        y: Axis {
            name: String::new(),
            from: y.0,
            to: y.1,
            scale: if percent { Scale::Percent } else { Scale::Number },
        },
        series: series.collect(),
    };
    let mut text = format!(
        "<text x=\"10\" y=\"22\" font-size=\"18\">{}</text><g transform=\"translate(0 30)\">{}</g>",
        escaped(title),
        chart.inside()
    );
    for (at, series) in chart.series.iter().enumerate() {
        let down = SIZE.1 + 44.0 + 20.0 * at as f64;
        text += &format!(
            "<path d=\"M50 {}h24\" stroke=\"{}\" stroke-width=\"3\"/><text x=\"82\" y=\"{down}\">{}</text>",
            down - 4.0,
            series.colour,
            escaped(&series.name)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize) -> Vec<BTreeMap<String, f64>> {
        let row = |at: usize| {
            let mut row = BTreeMap::from([("loss".to_string(), 0.5)]);
            row.insert("points against random".to_string(), at as f64 / count as f64);
            if at % 10 == 9 {
                row.insert("won as first against random".to_string(), 0.25);
            }
            row
        };
        (0..count).map(row).collect()
    }

    #[test]
    fn many_points_are_drawn_as_means_of_neighbours() {
        let (points, neighbours) = line(&rows(100), "points against random");
        assert_eq!((points.len(), neighbours), (25, 4));
        // Iterations 1 to 4, with shares of 0 to 3 percent.
        assert_eq!(points[0], (2.5, 0.015));
        let (points, neighbours) = line(&rows(100), "won as first against random");
        assert_eq!((points.len(), neighbours), (10, 1));
        assert_eq!(points[0], (10.0, 0.25));
    }

    #[test]
    fn shares_are_drawn_and_losses_are_not() {
        let svg = history("dqn", &rows(100)).unwrap();
        assert!(svg.contains("points against random, mean of 4"));
        assert!(svg.contains("won as first against random"));
        assert!(!svg.contains("loss"));
        assert!(svg.matches("class=\"series\"").count() >= 2);
        assert_eq!(history("dqn", &rows(1)), None);
    }
}
