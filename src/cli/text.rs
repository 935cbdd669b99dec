//! Numbers and tables as people read them.

/// A number of bytes with a unit: `4.9 GB`.
pub(super) fn bytes(count: f64) -> String {
    if count >= 1e18 {
        return format!("{count:.0e} bytes");
    }
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    let mut value = count;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 || value >= 99.5 {
        format!("{value:.0} {}", units[unit])
    } else {
        format!("{value:.1} {}", units[unit])
    }
}

/// Rows under headings, the first column to the left and all others to the right.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([headings[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: &[&str]| {
        let mut text = String::new();
        for (column, cell) in cells.iter().enumerate() {
            let pad = " ".repeat(widths[column] - cell.chars().count());
            if column == 0 {
                text += &format!("{cell}{pad}");
            } else {
                text += &format!("  {pad}{cell}");
            }
        }
        text.trim_end().to_string() + "\n"
    };
    let mut text = line(headings);
    for row in rows {
        text += &line(&row.iter().map(String::as_str).collect::<Vec<_>>());
    }
    text
}
