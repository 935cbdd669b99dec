//! Line charts as SVG in the text colour of the page, for light and dark themes.

use std::fmt::Write;

use super::number::counted;

/// Colours of series: at least 3.4 to 1 against white, `#16181a` and cards of both themes (WCAG 2.2).
pub(super) const COLOURS: [&str; 12] = [
    "#2f7fd1", "#d1620a", "#1f9254", "#c2569b", "#8a63d2", "#a87900", "#1590ad", "#d6453d",
    "#78881c", "#a0694b", "#12938a", "#5a6ee0",
];

/// Numbers of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// Numbers.
    Number,
    /// Integers.
    Whole,
    /// Shares, in percent.
    Percent,
    /// Decimal logarithms of seconds, as times.
    Time,
}

/// An axis: its name, its first and last number.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub name: String,
    pub from: f64,
    pub to: f64,
    pub scale: Scale,
}

/// A line with marks.
#[derive(Clone, Debug, Default)]
pub(super) struct Series {
    /// Index of the policy, by which the page's script finds its marks.
    pub policy: Option<usize>,
    pub name: String,
    /// Colour; the text colour if empty.
    pub colour: &'static str,
    pub points: Vec<(f64, f64)>,
    /// `true` for a thin dashed line without marks.
    pub is_reference: bool,
    /// `true` if the name is written beside its first point.
    pub is_labelled: bool,
    /// `true` for the reader's own policy, which stands out among others.
    pub is_own: bool,
    /// Numbers of positions of the points, in their order; may be empty.
    pub positions: Vec<u64>,
}

/// A chart.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    pub width: f64,
    pub height: f64,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
}

/// Number of positions below which a point is faint.
pub(super) const FEW: u64 = 30;
/// Height of a line of text, and width of a letter, in units of the drawing.
const LINE: f64 = 15.0;
const LETTER: f64 = 7.0;

impl Scale {
    /// Formats a number of this scale; `digits` is the number of decimals of a number that is not an integer.
    fn format(self, number: f64, digits: usize) -> String {
        match self {
            Scale::Percent => format!("{:.0}%", 100.0 * number),
            Scale::Time => time(number),
            Scale::Whole if number.abs() >= 1e4 => format!("{}k", number / 1e3),
            Scale::Whole => format!("{number:.0}"),
            Scale::Number => format!("{number:.digits$}"),
        }
    }

    /// Formats a number for a reader who points at it.
    fn exactly(self, number: f64) -> String {
        match self {
            Scale::Percent => super::number::percent(number),
            Scale::Number => format!("{number:.3}"),
            Scale::Time => short_time(10f64.powf(number)),
            Scale::Whole => format!("{number:.0}"),
        }
    }
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

/// Formats seconds with two digits: 1.4 µs.
fn short_time(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    let (size, unit) = units.into_iter().find(|&(size, _)| seconds >= size).unwrap_or(units[3]);
    let number = seconds / size;
    if number < 10.0 { format!("{number:.1} {unit}") } else { format!("{number:.0} {unit}") }
}

impl Axis {
    /// Returns at most about `most` round numbers, and the decimals that they need.
    fn ticks(&self, most: usize) -> (Vec<f64>, usize) {
        let wanted = (self.to - self.from).max(1e-9) / most.max(1) as f64;
        let power = 10f64.powf(wanted.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * power).find(|&n| n >= wanted);
        let least = if matches!(self.scale, Scale::Whole | Scale::Time) { 1.0 } else { 0.0 };
        let step = step.unwrap_or(wanted).max(least);
        let (first, last) = ((self.from / step - 1e-9).ceil(), (self.to / step + 1e-9).floor());
        let count = (last - first).max(0.0) as usize;
        let digits = (-step.log10().floor()).max(0.0) as usize;
        ((0..=count).map(|at| (first + at as f64) * step).collect(), digits)
    }

    fn share(&self, number: f64) -> f64 {
        (number - self.from) / (self.to - self.from).max(1e-12)
    }
}

impl Chart {
    /// Draws the chart as an element of a page, with the label that stands for it where it is not seen.
    pub(super) fn svg(&self, label: &str) -> String {
        let Chart { width, height, .. } = self;
        format!(
            "<svg class=\"chart\" role=\"img\" aria-label=\"{}\" tabindex=\"0\" viewBox=\"0 0 {width} {height}\">{}</svg>",
            escaped(label),
            self.inside()
        )
    }

    /// Draws the chart without the element around it.
    pub(super) fn inside(&self) -> String {
        let Chart { width, height, x, y, .. } = self;
        let is_small = *width < 300.0;
        let (across, digits_x) = x.ticks(if is_small { 3 } else { 8 });
        let (up, digits_y) = y.ticks(if is_small { 2 } else { 5 });
        let widest = up.iter().map(|&at| y.scale.format(at, digits_y).chars().count()).max();
        let left = LETTER * widest.unwrap_or(1) as f64 + 8.0;
        let top = if y.name.is_empty() { 8.0 } else { 22.0 };
        let bottom = height - if x.name.is_empty() { 20.0 } else { 36.0 };
        let right = width - 14.0;
        let place = |(at, to): (f64, f64)| {
            (left + x.share(at) * (right - left), bottom - y.share(to) * (bottom - top))
        };
        let mut svg = String::new();
        let text = |class: &str, (at, to): (f64, f64), anchor: &str, text: &str| {
            format!(
                "<text class=\"{class}\" x=\"{at:.1}\" y=\"{to:.1}\" text-anchor=\"{anchor}\">{}</text>",
                escaped(text)
            )
        };
        for &to in &up {
            let (_, down) = place((x.from, to));
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{left:.1} {down:.1}H{right:.1}\" stroke=\"currentColor\" stroke-opacity=\"0.15\"/>"
            );
            svg += &text("tick", (left - 5.0, down + 4.0), "end", &y.scale.format(to, digits_y));
        }
        for &at in &across {
            let (along, _) = place((at, y.from));
            svg += &text("tick", (along, bottom + LINE), "middle", &x.scale.format(at, digits_x));
        }
        let _ = write!(
            svg,
            "<path class=\"axis\" d=\"M{left:.1} {bottom:.1}H{right:.1}\" stroke=\"currentColor\" stroke-opacity=\"0.5\"/>"
        );
        svg += &text("name", (2.0, 13.0), "start", &y.name);
        svg += &text("name", (right, bottom + LINE + 16.0), "end", &x.name);
        let labels = self.labels(place, (left, right));
        for (series, label) in self.series.iter().zip(labels) {
            svg += &series.drawn(x, y, place);
            if let Some((at, to, anchor)) = label {
                svg.truncate(svg.len() - "</g>".len());
                svg += &text("label", (at, to), anchor, &series.name);
                svg += "</g>";
            }
        }
        svg
    }

    /// Returns the places of the labels, below each other where they would overlap.
    fn labels(
        &self,
        place: impl Fn((f64, f64)) -> (f64, f64),
        (left, right): (f64, f64),
    ) -> Vec<Option<(f64, f64, &'static str)>> {
        let mut found = vec![None; self.series.len()];
        let labelled = self.series.iter().enumerate().filter(|(_, series)| series.is_labelled);
        let mut points: Vec<(usize, (f64, f64))> =
            labelled.filter_map(|(at, of)| Some((at, place(*of.points.first()?)))).collect();
        points.sort_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
        let mut taken: Vec<(f64, [f64; 2])> = Vec::new();
        for (at, (along, down)) in points {
            let long = LETTER * self.series[at].name.chars().count() as f64 + 10.0;
            let is_left = along < (left + right) / 2.0;
            let span = if is_left { [along, along + long] } else { [along - long, along] };
            let beside = taken.iter().filter(|(_, other)| span[0] < other[1] && other[0] < span[1]);
            let lowest = beside.map(|(other, _)| other + LINE).fold(down, f64::max);
            taken.push((lowest, span));
            let (offset, anchor) = if is_left { (8.0, "start") } else { (-8.0, "end") };
            found[at] = Some((along + offset, lowest + 4.0, anchor));
        }
        found
    }
}

impl Series {
    fn drawn(&self, x: &Axis, y: &Axis, place: impl Fn((f64, f64)) -> (f64, f64)) -> String {
        let Series { policy, name, colour, points, is_reference, .. } = self;
        let colour = if colour.is_empty() { "currentColor" } else { colour };
        let policy = policy.map_or(String::new(), |at| format!(" data-p=\"{at}\""));
        let own = if self.is_own { " own" } else { "" };
        let mut svg = format!("<g class=\"series{own}\"{policy} data-n=\"{}\">", escaped(name));
        let along: Vec<String> = points
            .iter()
            .map(|&point| {
                let (at, to) = place(point);
                format!("{at:.1} {to:.1}")
            })
            .collect();
        let look = match is_reference {
            true => "stroke-width=\"1.5\" stroke-dasharray=\"4 4\" stroke-opacity=\"0.7\"",
            false => "stroke-width=\"2\" stroke-linejoin=\"round\"",
        };
        if along.len() > 1 {
            let _ = write!(
                svg,
                "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" {look}/>",
                along.join("L")
            );
        }
        for (number, &point) in points.iter().enumerate().filter(|_| !is_reference) {
            let (at, to) = place(point);
            let of_y = if y.name.is_empty() { String::new() } else { format!("{}: ", y.name) };
            let (at_x, at_y) = (x.scale.exactly(point.0), y.scale.exactly(point.1));
            let mut words = format!("{}: {at_x}; {of_y}{at_y}", x.name);
            let mut faint = "";
            if let Some(&positions) = self.positions.get(number) {
                words += &format!(" of {}", counted(positions, "position"));
                faint = if positions < FEW { " fill-opacity=\"0.35\"" } else { "" };
            }
            let _ = write!(
                svg,
                "<circle cx=\"{at:.1}\" cy=\"{to:.1}\" r=\"3\" fill=\"{colour}\"{faint} data-t=\"{}\"/>",
                escaped(&words)
            );
        }
        svg + "</g>"
    }
}

/// Escapes text for HTML, in elements and in attributes.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(from: f64, to: f64, scale: Scale) -> Axis {
        Axis { name: String::new(), from, to, scale }
    }

    #[test]
    fn ticks_are_round_and_within_the_axis() {
        assert_eq!(axis(0.0, 1.0, Scale::Percent).ticks(5).0.len(), 6);
        assert_eq!(axis(4.0, 15.0, Scale::Whole).ticks(8).0, [4.0, 6.0, 8.0, 10.0, 12.0, 14.0]);
        assert_eq!(axis(1.0, 2.0, Scale::Whole).ticks(8).0, [1.0, 2.0]);
        let (found, digits) = axis(0.0, 0.3, Scale::Number).ticks(3);
        assert_eq!((found.len(), digits), (4, 1));
        assert_eq!(time(-5.0), "10 µs");
    }

    #[test]
    fn points_lie_in_the_drawing_and_say_what_they_are() {
        let series = |name: &str, points: &[(f64, f64)]| Series {
            policy: Some(1),
            name: name.to_string(),
            points: points.to_vec(),
            is_labelled: true,
            ..Series::default()
        };
        let chart = Chart {
            width: 460.0,
            height: 280.0,
            x: Axis { name: "discs".to_string(), ..axis(4.0, 15.0, Scale::Whole) },
            y: axis(0.0, 1.0, Scale::Percent),
            series: vec![series("<a>", &[(4.0, 0.0), (15.0, 1.0)]), series("b", &[(4.0, 0.01)])],
        };
        let svg = chart.svg("kept");
        assert!(
            svg.contains("data-t=\"discs: 15; 100.0%\"") && svg.contains("cx=\"446.0\" cy=\"8.0\""),
            "{svg}"
        );
        assert!(svg.contains("data-p=\"1\" data-n=\"&lt;a&gt;\"") && !svg.contains("<a>"), "{svg}");
        // The labels of neighbours stand below each other.
        let [one, other] =
            [0, 1].map(|at| chart.labels(|point| point, (0.0, 460.0))[at].unwrap().1);
        assert!((one - other).abs() >= LINE, "{one} {other}");
    }
}
