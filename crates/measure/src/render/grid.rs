//! Aligned columns of text.

use super::sanitise::{self, BOLD, shown, styled};

/// Minimum width of all columns but the first, so that consecutive tables line up.
const LEAST: usize = 6;

/// Rows of cells, the first column aligned left and the others right, two spaces apart. All rows have
/// equally many cells.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    rows: Vec<Vec<String>>,
    /// Rows of the heading.
    heads: usize,
}

impl Grid {
    /// Returns a grid with a heading of two lines, given for each column as (upper, lower).
    pub fn headed(headings: &[(&str, &str)]) -> Grid {
        let mut grid = Grid { heads: 2, ..Grid::default() };
        grid.push(headings.iter().map(|(upper, _)| upper.to_string()).collect());
        grid.push(headings.iter().map(|(_, lower)| lower.to_string()).collect());
        grid
    }

    /// Returns a grid whose heading continues with those of figures.
    pub fn of_figures(first: &[(&str, &str)], figures: &[[String; 2]]) -> Grid {
        let figures = figures.iter().map(|[upper, lower]| (&upper[..], &lower[..]));
        Grid::headed(&first.iter().copied().chain(figures).collect::<Vec<_>>())
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row.iter().map(|cell| shown(cell)).collect());
    }

    /// Returns a grid with a heading of one line and rows.
    pub fn of(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Grid {
        let mut grid = Grid { heads: 1, ..Grid::default() };
        grid.push(headings.iter().map(|heading| heading.to_string()).collect());
        rows.into_iter().for_each(|row| grid.push(row));
        grid
    }

    /// Formats the grid as a Markdown table whose heading is the first row.
    pub fn to_markdown(&self) -> String {
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        let (heading, rows) = self.rows.split_at(self.rows.len().min(1));
        let rule = |row: &Vec<String>| format!("|---|{}\n", "--:|".repeat(row.len() - 1));
        let head: String = heading.iter().map(|row| line(row) + &rule(row)).collect();
        head + &rows.iter().map(line).collect::<String>()
    }

    /// Formats one line per row, each with a line break and without trailing spaces. Columns that do not fit
    /// into a line follow in a block below, which repeats the first column.
    pub fn to_text(&self) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let least = if column == 0 { 0 } else { LEAST };
            cells.map(|cell| cell.chars().count()).fold(least, usize::max)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let width_of_line = sanitise::width();
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let mut used = usize::MAX;
        for column in 1..columns {
            if used.saturating_add(2 + widths[column]) > width_of_line {
                blocks.push(Vec::new());
                used = widths[0];
            }
            used += 2 + widths[column];
            blocks.last_mut().expect("one was just begun").push(column);
        }
        if blocks.is_empty() {
            blocks.push(Vec::new());
        }
        let text = blocks.iter().map(|block| self.block(&widths, block));
        text.collect::<Vec<String>>().join("\n")
    }

    /// Formats the first column and some others.
    fn block(&self, widths: &[usize], columns: &[usize]) -> String {
        let mut text = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            let first = row.first().map_or("", String::as_str);
            let mut line = format!("{first:<width$}", width = widths.first().copied().unwrap_or(0));
            for &column in columns {
                let cell = row.get(column).map_or("", String::as_str);
                let width = widths[column];
                line += &format!("  {cell:>width$}");
            }
            let line = line.trim_end();
            text += &if at < self.heads { styled(line, BOLD) } else { line.to_string() };
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_wide_follows_below() {
        let cells = |name: &str, n: usize| -> Vec<String> {
            [name.to_string()].into_iter().chain((0..n).map(|at| at.to_string())).collect()
        };
        let lines = |columns: usize| -> Vec<String> {
            let mut grid = Grid::default();
            [cells("head", columns), cells("row", columns)]
                .into_iter()
                .for_each(|row| grid.push(row));
            grid.to_text().lines().map(str::to_string).collect()
        };
        // The first column is four wide, the others eight.
        assert_eq!(lines(12).len(), 2);
        assert_eq!(lines(12)[1].len(), 100);
        assert_eq!(lines(0), ["head", "row"]);
        let wide = lines(13);
        assert_eq!(wide.len(), 5);
        assert_eq!((&wide[2][..], &wide[3][..]), ("", "head      12"));
        assert_eq!(wide[4], "row       12");
    }
}
