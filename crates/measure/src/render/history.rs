//! Learning curves as standalone SVG.

use std::collections::BTreeMap;

use plotters::prelude::*;

use super::plots::COLOURS;

const SIZE: (u32, u32) = (860, 480);
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

/// Plots panels below each other, each with a legend, on white.
pub fn panels(panels: &[Panel<'_>]) -> String {
    let mut svg = String::new();
    let size = (SIZE.0, SIZE.1 * panels.len() as u32);
    let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    let areas = area.split_evenly((panels.len(), 1));
    let mut drawn = areas.iter().zip(panels).map(|(area, panel)| draw(area, panel));
    drawn
        .try_for_each(|panel| panel)
        .and_then(|()| Ok(area.present()?))
        .expect("a string takes every drawing");
    drop((areas, area));
    svg
}

fn draw(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    panel: &Panel<'_>,
) -> Result<(), Box<dyn std::error::Error>> {
    let Panel { title, x, y, percent, lines } = *panel;
    area.fill(&WHITE)?;
    let most = lines.iter().flat_map(|(_, points)| points).map(|point| point.0);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 20))
        .margin(10)
        .margin_right(24)
        .x_label_area_size(50)
        .y_label_area_size(70)
        .build_cartesian_2d(0.0..most.fold(1.0, f64::max), y.0..y.1)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.15))
        .label_style(("sans-serif", 17))
        .x_desc(x)
        .y_labels(11)
        .x_label_formatter(&|x| match *x >= 1e4 {
            true => format!("{:.0}k", x / 1e3),
            false => format!("{x:.0}"),
        })
        .y_label_formatter(&|y| match percent {
            true => format!("{:.0}%", y * 100.0),
            false => format!("{y:.1}"),
        })
        .draw()?;
    for (at, (label, points)) in lines.iter().enumerate() {
        let (r, g, b) = COLOURS[at % COLOURS.len()];
        let style = RGBColor(r, g, b).stroke_width(2);
        chart
            .draw_series(LineSeries::new(points.iter().copied(), style))?
            .label(label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], style));
    }
    chart
        .configure_series_labels()
        .position(if percent {
            SeriesLabelPosition::LowerRight
        } else {
            SeriesLabelPosition::MiddleRight
        })
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .label_font(("sans-serif", 16))
        .draw()?;
    Ok(())
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
        assert!(svg.matches("<polyline").count() >= 2);
        assert_eq!(history("dqn", &rows(1)), None);
    }
}
