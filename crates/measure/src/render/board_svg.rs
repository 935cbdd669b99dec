//! A board as SVG without a script, for notebooks.

use super::chart::escaped;

/// Draws a textual board (a line of column names, then rows that begin with their name) as SVG: black and
/// white circles for X and O, other pieces as text. Lines around the board, such as hands, remain text, and
/// so do other diagrams.
pub fn board(text: &str) -> String {
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
    let rows: Vec<&Vec<&str>> =
        lines[head + 1..].iter().take_while(|line| is_row(line, names.len())).collect();
    let beside = |lines: &[Vec<&str>]| -> String {
        lines.iter().map(|line| format!("<div>{}</div>", escaped(&line.join(" ")))).collect()
    };
    let (above, below) = (beside(&lines[..head]), beside(&lines[head + 1 + rows.len()..]));
    let (width, height) = (20 * names.len() + 24, 20 * rows.len() + 24);
    let words = |x: usize, y: usize, class: &str, text: &str| {
        let text = escaped(text);
        format!("<text{class} x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{text}</text>")
    };
    let mut svg = format!(
        "<svg class=\"board\" role=\"img\" viewBox=\"0 0 {width} {height}\" width=\"{}\">",
        2 * width
    );
    for (column, name) in names.iter().enumerate() {
        svg += &words(32 + 20 * column, 14, "", name);
    }
    // Othello has a green board with discs, other games have a wooden one.
    let is_green = |cell: &&str| matches!(*cell, "." | "X" | "O");
    let wood = match rows.iter().flat_map(|row| &row[1..]).all(is_green) {
        true => "",
        false => " wood",
    };
    for (row, cells) in rows.iter().enumerate() {
        let top = 20 + 20 * row;
        svg += &words(12, top + 15, "", cells[0]);
        for (column, cell) in cells[1..].iter().enumerate() {
            let left = 22 + 20 * column;
            svg += &format!(
                "<rect class=\"square{wood}\" x=\"{left}\" y=\"{top}\" width=\"20\" height=\"20\"/>"
            );
            let (x, y) = (left + 10, top + 10);
            svg += &match *cell {
                "." => String::new(),
                "X" => format!("<circle class=\"black\" cx=\"{x}\" cy=\"{y}\" r=\"8\"/>"),
                "O" => format!("<circle class=\"white\" cx=\"{x}\" cy=\"{y}\" r=\"8\"/>"),
                piece => words(x, y + 4, " class=\"piece\"", piece),
            };
        }
    }
    above + &svg + "</svg>" + &below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_show_their_pieces() {
        let svg = board("  a b\n1 X .\n2 O <\n");
        assert_eq!(svg.matches("class=\"square wood\"").count(), 4);
        assert_eq!(svg.matches("class=\"black\"").count(), 1);
        assert_eq!(svg.matches("class=\"white\"").count(), 1);
        assert!(svg.contains("&lt;") && svg.ends_with("</svg>"));
        assert_eq!(board("X 1\n2 <\n"), "<pre>X 1\n2 &lt;\n</pre>");
        let shogi = board("White holds -\n   2  1\na  e +l\nb  .  .\nBlack holds P\n");
        assert!(shogi.starts_with("<div>White holds -</div><svg"), "{shogi}");
        assert!(
            shogi.ends_with("</svg><div>Black holds P</div>") && shogi.contains(">+l<"),
            "{shogi}"
        );
    }
}
