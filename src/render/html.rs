//! The accuracy report as one self-contained page.

use minijinja::{Environment, Value, context};

use super::accuracy_text::accuracy_text;
use super::number::{amount, percent, thousands};
use super::plots::{COLOURS, plots};
use crate::evaluate::AccuracyReport;

/// The page of a report: tables, plots and diagrams in one file that needs nothing else, readable
/// on a phone, in print, on light and dark.
pub fn html(report: &AccuracyReport) -> String {
    let mut environment = Environment::new();
    environment.add_filter("percent", |x: Option<f64>| x.map_or("–".to_string(), percent));
    environment.add_filter("amount", |x: Option<f64>| x.map_or("–".to_string(), amount));
    environment.add_filter("signed", |x: f64| format!("{x:+.2}"));
    environment.add_filter("thousands", |n: u64| thousands(n));
    environment.add_filter("board", |text: String| Value::from_safe_string(board(&text)));
    let template = include_str!("report.html");
    environment.add_template("report.html", template).expect("the template is well-formed");
    let template = environment.get_template("report.html").expect("it was just added");
    let colours: Vec<String> = report
        .policies
        .iter()
        .enumerate()
        .map(|(at, _)| {
            let (r, g, b) = COLOURS[at % COLOURS.len()];
            format!("#{r:02x}{g:02x}{b:02x}")
        })
        .collect();
    let page = template.render(context! {
        report => Value::from_serialize(report),
        plots => Value::from_serialize(plots(report)),
        colours,
        text => accuracy_text(report, &[], 0),
    });
    page.expect("the template fits the report")
}

/// A board of text (a line of column names, then rows that begin with their name) as SVG: black and
/// white circles for X and O, other pieces as they are written. Other diagrams stay as they are.
fn board(text: &str) -> String {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or("").split_whitespace().collect();
    let rows = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        let cells: Vec<&str> = words.collect();
        (cells.len() == names.len()).then_some((name, cells))
    });
    let rows: Vec<(&str, Vec<&str>)> = rows.collect();
    if rows.is_empty() {
        return format!("<pre>{}</pre>", escaped(text));
    }
    let (width, height) = (20 * names.len() + 24, 20 * rows.len() + 24);
    let mut svg = format!(
        "<svg class=\"board\" role=\"img\" viewBox=\"0 0 {width} {height}\" width=\"{}\">",
        2 * width
    );
    for (column, name) in names.iter().enumerate() {
        svg += &format!(
            "<text x=\"{}\" y=\"14\" text-anchor=\"middle\">{}</text>",
            32 + 20 * column,
            escaped(name)
        );
    }
    for (row, (name, cells)) in rows.iter().enumerate() {
        let top = 20 + 20 * row;
        svg += &format!(
            "<text x=\"12\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            top + 15,
            escaped(name)
        );
        for (column, cell) in cells.iter().enumerate() {
            let left = 22 + 20 * column;
            svg += &format!(
                "<rect class=\"square\" x=\"{left}\" y=\"{top}\" width=\"20\" height=\"20\"/>"
            );
            let (x, y) = (left + 10, top + 10);
            svg += &match *cell {
                "." => String::new(),
                "X" => format!("<circle class=\"black\" cx=\"{x}\" cy=\"{y}\" r=\"8\"/>"),
                "O" => format!("<circle class=\"white\" cx=\"{x}\" cy=\"{y}\" r=\"8\"/>"),
                piece => format!(
                    "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                    y + 5,
                    escaped(piece)
                ),
            };
        }
    }
    svg + "</svg>"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_show_their_pieces() {
        let svg = board("  a b\n1 X .\n2 O <\n");
        assert_eq!(svg.matches("class=\"square\"").count(), 4);
        assert_eq!(svg.matches("class=\"black\"").count(), 1);
        assert_eq!(svg.matches("class=\"white\"").count(), 1);
        assert!(svg.contains("&lt;") && svg.ends_with("</svg>"));
        assert_eq!(board("X 1\n2 <\n"), "<pre>X 1\n2 &lt;\n</pre>");
    }
}
