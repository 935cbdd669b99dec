//! Aligned columns of text.

/// The least width of a column but the first, so that tables below each other line up.
const LEAST: usize = 6;

/// Rows of cells, the first column set to the left and the others to the right, two spaces
/// between. Every row has as many cells as the first.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A grid with a heading of two lines, each column's given as (upper, lower).
    pub fn headed(headings: &[(&str, &str)]) -> Grid {
        let mut grid = Grid::default();
        grid.push(headings.iter().map(|(upper, _)| upper.to_string()).collect());
        grid.push(headings.iter().map(|(_, lower)| lower.to_string()).collect());
        grid
    }

    /// Adds a row below.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// A grid with a heading of one line and rows below it.
    pub fn of(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Grid {
        let mut grid =
            Grid { rows: vec![headings.iter().map(|heading| heading.to_string()).collect()] };
        rows.into_iter().for_each(|row| grid.push(row));
        grid
    }

    /// The same as a table in Markdown, the first row being the heading.
    pub fn to_markdown(&self) -> String {
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        let (heading, rows) = self.rows.split_at(self.rows.len().min(1));
        let rule = |row: &Vec<String>| format!("|---|{}\n", "--:|".repeat(row.len() - 1));
        let head: String = heading.iter().map(|row| line(row) + &rule(row)).collect();
        head + &rows.iter().map(line).collect::<String>()
    }

    /// One line a row, each ending in a line break and none in spaces.
    pub fn to_text(&self) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let least = if column == 0 { 0 } else { LEAST };
            cells.map(|cell| cell.chars().count()).fold(least, usize::max)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (i, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if i == 0 {
                    line += &format!("{cell:<width$}");
                } else {
                    line += &format!("  {cell:>width$}");
                }
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}
