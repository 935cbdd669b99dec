//! Style and scripts that draw boards, for the page of a report and for that of a server.

/// Style of boards and pieces.
pub const BOARD_CSS: &str = include_str!("page/board.css");
/// Module `dom.js`: makes elements.
pub const DOM: &str = include_str!("page/dom.js");
/// Module `pieces.js`: draws discs and pieces.
pub const PIECES: &str = include_str!("page/pieces.js");
/// Module `picture.js`: draws positions.
pub const PICTURE: &str = include_str!("page/picture.js");

/// Returns all scripts as one without imports and exports, for a page of one file.
pub(super) fn scripts() -> String {
    let lines = [DOM, PIECES, PICTURE].into_iter().flat_map(str::lines);
    let lines = lines.filter(|line| !line.starts_with("import "));
    lines.map(|line| format!("{}\n", line.strip_prefix("export ").unwrap_or(line))).collect()
}
