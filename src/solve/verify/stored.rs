//! Stored data of rows besides their values, read for 64 rows at once.

use std::ops::Range;

use crate::table::rows::Rows;

/// Stored data of the 64 rows of a word.
#[derive(Default)]
pub(super) struct Word {
    first: usize,
    /// Layer of the rows, if all lie in one.
    layer: Option<u32>,
    /// Start of their edges, and (`offsets`) each row's start among them; `None` if some are out of range.
    begin: Option<usize>,
    offsets: Vec<u32>,
}

/// Stored data of a row.
pub(super) struct StoredRow {
    pub layer: Option<u32>,
    /// `None` if edges are not stored or out of range.
    pub edges: Option<Range<usize>>,
}

impl Word {
    /// Loads another word.
    pub(super) fn begin(&mut self, rows: &Rows, word: usize) {
        let own = word * 64..rows.states().min((word + 1) * 64);
        let [layer, last] = [own.start, own.end - 1].map(|row| rows.layer_of(row));
        self.first = own.start;
        self.layer = layer.filter(|_| layer == last);
        self.begin = rows.edge_ranges(own, &mut self.offsets).map(|edges| edges.start);
    }

    /// Returns the edges of a row, if those of all rows are valid.
    pub(super) fn edges(&self, row: usize) -> Option<Range<usize>> {
        let [begin, end] = [0, 1].map(|more| self.offsets.get(row - self.first + more));
        let (begin, end) = begin.zip(end)?;
        self.begin.map(|first| first + *begin as usize..first + *end as usize)
    }

    /// Returns the stored data of a row.
    pub(super) fn of(&self, rows: &Rows, row: usize) -> StoredRow {
        // If the edges of some row are invalid, those of the others are read one by one.
        let alone = || rows.edge_ranges(row..row + 1, &mut Vec::new());
        StoredRow {
            layer: self.layer.or_else(|| rows.layer_of(row)),
            edges: self.edges(row).or_else(alone),
        }
    }
}
