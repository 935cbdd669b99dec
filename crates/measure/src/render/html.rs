//! The accuracy report as one self-contained page.

use minijinja::{Environment, Value, context};

use super::accuracy_text::{judged, may_have_learned};
use super::names::ShortNames;
use super::number::{amount, percent, signed, thousands};
use super::plots::{colour, mark, plots};
use super::summary::has_learned;
use crate::evaluate::{AccuracyReport, Details, FiguresBySet};

/// Origin of a page, for its footer.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct About {
    /// The command.
    pub command: String,
    /// Date, such as 2026-11-22.
    pub date: String,
    /// Checksum of the table's manifest.
    pub checksum: String,
}

/// Figures that rank a policy: of held-out positions if there are any.
#[derive(serde::Serialize)]
struct HeldOutFigures<'a> {
    #[serde(flatten)]
    figures: &'a FiguresBySet,
    #[serde(flatten)]
    details: &'a Details,
}

/// Number of positions below which figures are shown faintly.
const FEW: u64 = 30;

/// Renders a report as a self-contained page with tables, plots and diagrams. It suits phones, print, light
/// and dark themes, and works without its short script, which sorts tables.
pub fn html(report: &AccuracyReport, about: &About) -> String {
    let mut environment = Environment::new();
    environment.add_filter("percent", |x: Option<f64>| x.map_or("–".to_string(), percent));
    environment.add_filter("amount", |x: Option<f64>| x.map_or("–".to_string(), amount));
    environment.add_filter("signed", |x: Option<f64>| {
        x.map_or("–".to_string(), |x| signed(x, 2).replace('-', "−"))
    });
    environment.add_filter("whole", |x: Option<f64>| {
        x.map_or("–".to_string(), |x| format!("{:.0}", x * 100.0))
    });
    environment.add_filter("share_width", |x: f64| format!("{:.2}", x * 100.0));
    environment.add_filter("rounded", |x: f64| format!("{x:.0}"));
    environment.add_filter("most", |all: Vec<f64>| all.into_iter().fold(0.0, f64::max));
    environment.add_filter("fixed", |x: f64| format!("{x:.4}"));
    environment.add_filter("thousands", |n: u64| thousands(n));
    environment.add_filter("plus", |n: i64| match n {
        0 => "0".to_string(),
        n => format!("{n:+}").replace('-', "−"),
    });
    environment.add_filter("group", decisive_of);
    environment.add_filter("board", |mistake: Value| Value::from_safe_string(marked(&mistake)));
    let template = include_str!("report.html");
    environment.add_template("report.html", template).expect("the template is well-formed");
    let template = environment.get_template("report.html").expect("it was just added");
    let policies = 0..report.policies.len();
    let names = report.policies.iter().map(|policy| &policy.policy[..]);
    let names = ShortNames::of(&report.table.game, names);
    let held = report.policies.iter().map(|policy| HeldOutFigures {
        figures: policy.held_out(),
        details: policy.held_out_details(),
    });
    let held: Vec<HeldOutFigures> = held.collect();
    let agreement = report.agreement.as_ref().filter(|_| policies.len() > 1).map(|agreement| {
        let row = |a| policies.clone().map(|b| agreement.of(a, b)).collect::<Vec<f64>>();
        policies.clone().map(row).collect::<Vec<_>>()
    });
    // Groups are shown by layer, or by distance if there are no layers.
    let across = match report.policies.iter().any(|policy| !policy.details.layers.is_empty()) {
        true => ("layers", "layer", format!("{} before the move", report.words.layers)),
        false => ("by_distance", "distance", "plies to the end".to_string()),
    };
    let page = template.render(context! {
        report => Value::from_serialize(report),
        plots => Value::from_serialize(plots(report)),
        order => report.ranking(),
        short => names.short,
        held => Value::from_serialize(held),
        stars => report.policies.iter().map(has_learned).collect::<Vec<bool>>(),
        exploited => report.games.as_ref().map(|games| {
            games.policies.iter().map(|policy| policy.exploited()).collect::<Vec<f64>>()
        }),
        agreement,
        across,
        costs => (!report.seconds.is_empty()).then(|| {
            report.seconds.iter().map(|seconds| seconds.map(|s| s * 1e6)).collect::<Vec<_>>()
        }),
        judged => judged(&report.table).split_whitespace().collect::<Vec<_>>().join(" "),
        training => may_have_learned(report),
        endless => report.games.as_ref().and_then(|games| games.endless()),
        most_score => most_score(report),
        few => FEW,
        colours => policies.clone().map(colour).collect::<Vec<_>>(),
        marks => policies.clone().map(mark).collect::<Vec<_>>(),
        about => Value::from_serialize(about),
        version => env!("CARGO_PKG_VERSION"),
    });
    page.unwrap_or_else(|error| panic!("the template fits the report: {error:#}"))
}

/// Returns the figures of decisive positions of the group with this number; an empty value if there is none.
fn decisive_of(groups: Value, key: &str, number: &Value) -> Result<Value, minijinja::Error> {
    let mut groups = groups.try_iter()?;
    let found = groups.find(|group| group.get_attr(key).is_ok_and(|own| own == *number));
    found.map_or(Ok(Value::from_serialize(())), |group| {
        group.get_attr("figures")?.get_attr("decisive_outcome")
    })
}

/// Returns the greatest expected score of a game between two policies, in absolute value; at least 1.
fn most_score(report: &AccuracyReport) -> f64 {
    let games = report.games.iter().flat_map(|games| games.table.iter().flatten());
    games.map(|expected| expected.score.abs()).fold(1.0, f64::max)
}

/// Draws the board of a mistake: rings on the best moves, a cross on the likeliest move if it is not among
/// them.
fn marked(mistake: &Value) -> String {
    let text = |of: &Value, name: &str| of.get_attr(name).unwrap_or_default().to_string();
    let moves: Vec<Value> = mistake
        .get_attr("moves")
        .ok()
        .and_then(|moves| Some(moves.try_iter().ok()?.collect()))
        .unwrap_or_default();
    let is_best = |of: &&Value| of.get_attr("best").is_ok_and(|best| best.is_true());
    let best = moves.iter().filter(is_best).map(|of| (text(of, "move"), "right"));
    let likeliest = moves.iter().take(1).filter(|of| !is_best(of));
    let marks: Vec<(String, &str)> =
        best.chain(likeliest.map(|of| (text(of, "move"), "wrong"))).collect();
    board(&text(mistake, "diagram"), &marks)
}

/// Draws a textual board (a line of column names, then rows that begin with their name) as SVG: black and
/// white circles for X and O, other pieces as text. Lines around the board, such as hands, remain text, and
/// so do other diagrams. `marks` are pairs of a move, whose name ends in that of its square, and a class.
pub fn board(text: &str, marks: &[(String, &str)]) -> String {
    let lines: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    let is_short = |words: &[&str]| words.iter().all(|word| word.chars().count() < 3);
    let is_row = |line: &[&str], columns: usize| line.len() == columns + 1 && is_short(line);
    let begins = |at: &usize| {
        let columns = lines[*at].len();
        columns > 0 && lines.get(at + 1).is_some_and(|next| is_row(next, columns))
    };
    let Some(head) = (0..lines.len()).find(begins) else {
        return format!("<pre>{}</pre>", escaped(text));
    };
    let names = &lines[head];
    let rows: Vec<(&str, &[&str])> = lines[head + 1..]
        .iter()
        .take_while(|line| is_row(line, names.len()))
        .map(|line| (line[0], &line[1..]))
        .collect();
    let beside = |lines: &[Vec<&str>]| -> String {
        lines.iter().map(|line| format!("<div>{}</div>", escaped(&line.join(" ")))).collect()
    };
    let (above, below) = (beside(&lines[..head]), beside(&lines[head + 1 + rows.len()..]));
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
    // Othello has a green board with discs, other games have a wooden one.
    let is_green = |cell: &&str| matches!(*cell, "." | "X" | "O");
    let wood = match rows.iter().flat_map(|(_, cells)| cells.iter()).all(is_green) {
        true => "",
        false => " wood",
    };
    let (mut pieces, mut marked) = (String::new(), String::new());
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
                "<rect class=\"square{wood}\" x=\"{left}\" y=\"{top}\" width=\"20\" height=\"20\"/>"
            );
            let (x, y) = (left + 10, top + 10);
            pieces += &match *cell {
                "." => String::new(),
                "X" => format!("<circle class=\"black\" cx=\"{x}\" cy=\"{y}\" r=\"8\"/>"),
                "O" => format!("<circle class=\"white\" cx=\"{x}\" cy=\"{y}\" r=\"8\"/>"),
                piece => format!(
                    "<text class=\"piece\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                    y + 4,
                    escaped(piece)
                ),
            };
        }
    }
    // c4 in Othello; in shogi the column's number, then the row's letter, as in 3b4c+ or P*4c.
    let place = |is_named: &dyn Fn(&str) -> bool| {
        let of = |row: usize| {
            let named = |column: &usize| {
                let (row, column) = (rows[row].0, names[*column]);
                is_named(&format!("{column}{row}")) || is_named(&format!("{row}{column}"))
            };
            let column = (0..names.len()).find(named)?;
            Some((32 + 20 * column, 30 + 20 * row))
        };
        (0..rows.len()).find_map(of)
    };
    for (name, class) in marks {
        let name = name.strip_suffix('+').unwrap_or(name);
        let Some((x, y)) = place(&|square| name.ends_with(square)) else { continue };
        let from = place(&|square| name.len() > square.len() && name.starts_with(square));
        if let Some((from_x, from_y)) = from {
            marked += &format!("<path class=\"{class}\" d=\"M{from_x} {from_y}L{x} {y}\"/>");
        }
        marked += &match *class {
            "right" => format!("<circle class=\"right\" cx=\"{x}\" cy=\"{y}\" r=\"8\"/>"),
            _ => format!("<path class=\"wrong\" d=\"M{} {}l10 10m0 -10l-10 10\"/>", x - 5, y - 5),
        };
    }
    above + &svg + &marked + &pieces + "</svg>" + &below
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_show_their_pieces() {
        let marks = [("b1".to_string(), "right"), ("a2".to_string(), "wrong")];
        let svg = board("  a b\n1 X .\n2 O <\n", &marks);
        assert!(svg.contains("class=\"right\" cx=\"52\" cy=\"30\""), "{svg}");
        assert!(svg.contains("class=\"wrong\" d=\"M27 45"), "{svg}");
        assert_eq!(svg.matches("class=\"square wood\"").count(), 4);
        assert_eq!(svg.matches("class=\"black\"").count(), 1);
        assert_eq!(svg.matches("class=\"white\"").count(), 1);
        assert!(svg.contains("&lt;") && svg.ends_with("</svg>"));
        assert_eq!(board("X 1\n2 <\n", &[]), "<pre>X 1\n2 &lt;\n</pre>");
        let marks = [("2a1b+".to_string(), "right"), ("P*2b".to_string(), "wrong")];
        let moved = board("   2  1\na  e +l\nb  .  .\n", &marks);
        assert!(moved.contains("class=\"right\" d=\"M32 30L52 50\""), "{moved}");
        assert!(moved.contains("class=\"right\" cx=\"52\" cy=\"50\""), "{moved}");
        assert!(moved.contains("class=\"wrong\" d=\"M27 45"), "{moved}");
        assert_eq!(moved.matches("square wood").count(), 4);
        let shogi = board("White holds -\n   2  1\na  e +l\nb  .  .\nBlack holds P\n", &[]);
        assert!(shogi.starts_with("<div>White holds -</div><svg"), "{shogi}");
        assert!(shogi.ends_with("</svg><div>Black holds P</div>"), "{shogi}");
        assert!(
            shogi.matches("class=\"square wood\"").count() == 4 && shogi.contains(">+l<"),
            "{shogi}"
        );
    }
}
