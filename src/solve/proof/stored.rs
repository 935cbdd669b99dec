//! What is stored of rows besides their values, read for 64 of them at once.

use std::ops::Range;

use crate::graph::Graph;

/// What is stored of the 64 rows of a word.
#[derive(Default)]
pub(super) struct Word {
    first: usize,
    /// Their layer, if they lie in one.
    layer: Option<u32>,
    /// Where their edges begin, and each row's among them; `None` if some are not there.
    begin: Option<usize>,
    offsets: Vec<u32>,
}

/// What is stored of a row.
pub(super) struct Stored {
    pub layer: Option<u32>,
    /// `None` where they are not stored, or not there.
    pub edges: Option<Range<usize>>,
}

impl Word {
    /// Goes on to another word.
    pub(super) fn begin(&mut self, rows: &Graph, word: usize) {
        let own = word * 64..rows.states().min((word + 1) * 64);
        let [layer, last] = [own.start, own.end - 1].map(|row| rows.layer_of(row));
        self.first = own.start;
        self.layer = layer.filter(|_| layer == last);
        self.begin = rows.edge_ranges(own, &mut self.offsets).map(|edges| edges.start);
    }

    /// Where the edges of a row are, if those of all rows are there.
    pub(super) fn edges(&self, row: usize) -> Option<Range<usize>> {
        let [begin, end] = [0, 1].map(|more| self.offsets.get(row - self.first + more));
        let (begin, end) = begin.zip(end)?;
        self.begin.map(|first| first + *begin as usize..first + *end as usize)
    }

    /// What is stored of a row.
    pub(super) fn of(&self, rows: &Graph, row: usize) -> Stored {
        // Where those of some row are wrong, the others are looked for one by one.
        let alone = || rows.edge_ranges(row..row + 1, &mut Vec::new());
        Stored {
            layer: self.layer.or_else(|| rows.layer_of(row)),
            edges: self.edges(row).or_else(alone),
        }
    }
}
