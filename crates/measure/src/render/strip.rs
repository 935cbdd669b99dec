//! The line from chance to perfect play on which policies are marked, and the picture of it that one passes on.

use std::fmt::Write as _;

use serde::Serialize;

use super::chart::escaped;

/// Place of shares of kept results on a line, in percent of its width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// From the least share to 1.
    Linear { least: f64 },
    /// By the logarithm of the errors, between the largest and the smallest; a share of 1 is at the end.
    Errors { most: f64, least: f64 },
}

/// Rounds a place to the two decimals of a page.
pub(super) fn hundredths(place: f64) -> f64 {
    (100.0 * place).round() / 100.0
}

/// A tick of the line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Tick {
    place: f64,
    text: String,
}

/// Error below which shares are close to 1.
const CLOSE: f64 = 0.05;
/// Width, in percent, of the line of errors before its end, where there are none.
const BEFORE_END: f64 = 92.0;

impl Scale {
    /// Returns the scale of some shares, chance among them: by errors if at least two of them are close to 1.
    pub(super) fn of(shares: &[f64]) -> Scale {
        let errors = || shares.iter().map(|share| 1.0 - share).filter(|error| *error > 0.0);
        let most = errors().fold(0.0, f64::max);
        let close = errors().filter(|error| *error < CLOSE).count();
        if close >= 2 && most > 0.0 {
            return Scale::Errors { most, least: errors().fold(most, f64::min) / 1.5 };
        }
        let least = ((1.0 - most) * 20.0).floor() / 20.0;
        Scale::Linear { least: least.clamp(0.0, 0.95) }
    }

    pub(super) fn place(self, share: f64) -> f64 {
        match self {
            Scale::Linear { least } => 100.0 * ((share - least) / (1.0 - least)).max(0.0),
            Scale::Errors { .. } if share >= 1.0 => 100.0,
            Scale::Errors { most, least } => {
                let error = (1.0 - share).clamp(least, most);
                BEFORE_END * (most / error).ln() / (most / least).ln()
            }
        }
    }

    /// Returns about five ticks, the last of which is 1.
    pub(super) fn ticks(self) -> Vec<Tick> {
        let tick = |share: f64, text: String| Tick { place: hundredths(self.place(share)), text };
        let mut ticks: Vec<Tick> = match self {
            Scale::Linear { least } => {
                let step = [0.01, 0.02, 0.05, 0.1, 0.2].into_iter();
                let step = step.clone().find(|step| (1.0 - least) / step <= 6.0).unwrap_or(0.2);
                let count = ((1.0 - least) / step).round() as u32;
                let share = |at: u32| 1.0 - f64::from(at) * step;
                let kept = (1..=count).rev().map(share).filter(|share| *share >= least - 1e-9);
                kept.map(|share| tick(share, format!("{:.0}%", 100.0 * share))).collect()
            }
            Scale::Errors { most, least } => {
                let errors = (0..=6).rev().map(|digits| 0.1_f64.powi(digits));
                let errors = errors.flat_map(|power| [power, 0.3 * power, 0.5 * power]);
                let mut errors: Vec<f64> = errors.filter(|e| (least..=most).contains(e)).collect();
                errors.sort_by(|a, b| b.total_cmp(a));
                errors.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
                let decimals = |error: f64| (-(100.0 * error).log10()).ceil().max(0.0) as usize;
                let text = |error: f64| format!("{:.*}%", decimals(error), 100.0 - 100.0 * error);
                errors.into_iter().map(|error| tick(1.0 - error, text(error))).collect()
            }
        };
        // Ticks that are too near their neighbour have no text that could be read.
        let mut last = f64::NEG_INFINITY;
        ticks.retain(|tick| {
            let is_apart = tick.place - last > 8.0 && tick.place < 95.0;
            last = if is_apart { tick.place } else { last };
            is_apart
        });
        ticks.push(tick(1.0, "100%".to_string()));
        ticks
    }
}

/// A mark of the picture.
pub(super) struct Mark<'a> {
    pub place: f64,
    pub name: &'a str,
    pub colour: &'a str,
    /// `true` for the policy that the picture is about.
    pub is_own: bool,
    /// Ends of its confidence interval.
    pub interval: Option<[f64; 2]>,
}

/// Place in the picture of the drawings to which its board refers.
pub(super) const PIECES: &str = "<!--pieces-->";

/// Content of the picture.
pub(super) struct Picture<'a> {
    pub heading: &'a str,
    pub below: &'a str,
    pub marks: Vec<Mark<'a>>,
    pub chance: Option<(f64, String)>,
    pub ticks: &'a [Tick],
    /// Board, whose pieces are to be put in place of [`PIECES`], and what it shows.
    pub board: Option<(&'a str, &'a str)>,
}

/// Returns text of several lines of at most `width` letters.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is one");
        match last.is_empty() || last.chars().count() + 1 + word.chars().count() <= width {
            true => {
                if !last.is_empty() {
                    last.push(' ');
                }
                last.push_str(word);
            }
            false => lines.push(word.to_string()),
        }
    }
    lines
}

/// Draws a picture of 1200 by 630, the size that pages with links show, in light colours.
pub(super) fn picture(of: &Picture<'_>) -> String {
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1200\" height=\"630\" viewBox=\"0 0 1200 630\" font-family=\"system-ui, sans-serif\" fill=\"#1b1a18\"><rect width=\"1200\" height=\"630\" fill=\"#fff\"/>",
    );
    let mut text = |x: f64, y: f64, size: u32, rest: &str, text: &str| {
        let _ = write!(
            svg,
            "<text x=\"{x:.0}\" y=\"{y:.0}\" font-size=\"{size}\"{rest}>{}</text>",
            escaped(text)
        );
    };
    let (letters, size) = if wrapped(of.heading, 44).len() > 3 { (60, 32) } else { (44, 44) };
    for (at, line) in wrapped(of.heading, letters).iter().enumerate() {
        let y = 84.0 + 1.23 * f64::from(size) * at as f64;
        text(50.0, y, size, " font-weight=\"700\"", line);
    }
    let (width, left) = (if of.board.is_some() { 680.0 } else { 1040.0 }, 60.0);
    let (line, x) = (400.0, |place: f64| left + width * place / 100.0);
    for tick in of.ticks {
        text(
            x(tick.place),
            line + 34.0,
            20,
            " text-anchor=\"middle\" fill=\"#595650\"",
            &tick.text,
        );
    }
    text(50.0, 590.0, 22, " fill=\"#595650\"", of.below);
    let _ = write!(
        svg,
        "<path d=\"M{left} {line}H{}\" stroke=\"#86827a\" stroke-width=\"3\"/>",
        left + width
    );
    if let Some((place, words)) = &of.chance {
        let place = x(*place);
        let _ = write!(
            svg,
            "<path d=\"M{place:.0} 300V{line}\" stroke=\"#86827a\" stroke-width=\"3\" stroke-dasharray=\"8 6\"/><text x=\"{place:.0}\" y=\"{}\" font-size=\"22\" text-anchor=\"{}\">{}</text>",
            line + 66.0,
            if place < 160.0 { "start" } else { "middle" },
            escaped(words)
        );
    }
    let mut names: Vec<[f64; 2]> = Vec::new();
    // The own mark is drawn over the others, and its name has its place before theirs.
    let (own, others): (Vec<&Mark<'_>>, Vec<_>) = of.marks.iter().partition(|mark| mark.is_own);
    let span = |mark: &Mark<'_>| {
        let half = 6.5 * mark.name.chars().count() as f64;
        let most = (left + width - half + 10.0).max(left + half - 10.0);
        let middle = x(mark.place).clamp(left + half - 10.0, most);
        (middle, [middle - half, middle + half])
    };
    names.extend(own.iter().map(|mark| span(mark).1));
    for mark in others.into_iter().chain(own) {
        let (place, radius) = (x(mark.place), if mark.is_own { 15 } else { 9 });
        let colour = if mark.colour.is_empty() { "#1b1a18" } else { mark.colour };
        if let Some([from, to]) = mark.interval {
            let _ = write!(
                svg,
                "<path d=\"M{:.0} {line}H{:.0}\" stroke=\"{colour}\" stroke-width=\"7\" opacity=\".5\"/>",
                x(from),
                x(to)
            );
        }
        let _ = write!(
            svg,
            "<circle cx=\"{place:.0}\" cy=\"{line}\" r=\"{radius}\" fill=\"{colour}\" stroke=\"#fff\" stroke-width=\"2\"/>"
        );
        let (middle, span) = span(mark);
        let is_free = |other: &[f64; 2]| span[1] < other[0] || other[1] < span[0];
        if mark.is_own || names.iter().all(is_free) {
            names.push(span);
            let weight = if mark.is_own { 700 } else { 400 };
            let _ = write!(
                svg,
                "<text x=\"{middle:.0}\" y=\"{}\" font-size=\"22\" font-weight=\"{weight}\" text-anchor=\"middle\">{}</text>",
                line - 32.0,
                escaped(mark.name)
            );
        }
    }
    if let Some((board, words)) = of.board {
        // Its own width suits a page.
        let board = board.replacen(" width=\"", " height=\"310\" data-width=\"", 1);
        let _ = write!(
            svg,
            "{PIECES}<svg x=\"800\" y=\"215\" width=\"340\" height=\"310\">{board}</svg>"
        );
        for (at, line) in wrapped(words, 34).iter().enumerate() {
            let y = 556 + 26 * at;
            let _ = write!(
                svg,
                "<text x=\"970\" y=\"{y}\" font-size=\"20\" text-anchor=\"middle\">{}</text>",
                escaped(line)
            );
        }
    }
    svg + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_near_one_are_told_apart() {
        let linear = Scale::of(&[0.494, 0.608, 0.711, 1.0]);
        assert_eq!(linear, Scale::Linear { least: 0.45 });
        assert_eq!((linear.place(0.45), linear.place(1.0)), (0.0, 100.0));
        let texts =
            |scale: Scale| scale.ticks().into_iter().map(|tick| tick.text).collect::<Vec<_>>();
        assert_eq!(texts(linear), ["50%", "60%", "70%", "80%", "90%", "100%"]);
        let near = Scale::of(&[0.5, 0.99, 0.999, 0.9999, 1.0]);
        assert!(matches!(near, Scale::Errors { .. }), "{near:?}");
        // A tenth of the errors is as far from the whole as a hundredth from a tenth.
        let steps = [0.99, 0.999, 0.9999].map(|share| near.place(share));
        assert!((steps[1] - steps[0] - (steps[2] - steps[1])).abs() < 1e-6, "{steps:?}");
        assert!(steps[2] < 95.0 && near.place(1.0) == 100.0 && near.place(0.5) == 0.0);
        assert_eq!(texts(near).last().map(String::as_str), Some("100%"));
        assert!(texts(near).contains(&"99.9%".to_string()), "{:?}", texts(near));
    }

    #[test]
    fn headings_are_wrapped_between_words() {
        assert_eq!(wrapped("a bb ccc", 4), ["a bb", "ccc"]);
    }
}
