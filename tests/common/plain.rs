//! Othello square by square, and a solver of a few lines, as a reference for the crate's results.
//!
//! Uses none of the crate's rules, only its type of a board to convert from and to; no bitboards or symmetry.

use std::collections::HashMap;

use yomikiri::games::othello::Board;

/// Content of a square, as the mover sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    Empty,
    Mine,
    Theirs,
}

/// Position as its mover sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plain {
    pub rows: usize,
    pub columns: usize,
    /// Cells row by row.
    pub cells: Vec<Cell>,
}

const DIRECTIONS: [(isize, isize); 8] =
    [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)];

impl Plain {
    /// Returns the start of the game, with Black to move.
    pub fn start(rows: usize, columns: usize) -> Plain {
        let mut plain = Plain { rows, columns, cells: vec![Cell::Empty; rows * columns] };
        // The middle four squares; if a side is odd, the four up and to the left of the middle.
        let (below, right) = (rows / 2, columns / 2);
        plain.cells[(below - 1) * columns + right] = Cell::Mine;
        plain.cells[below * columns + right - 1] = Cell::Mine;
        plain.cells[(below - 1) * columns + right - 1] = Cell::Theirs;
        plain.cells[below * columns + right] = Cell::Theirs;
        plain
    }

    /// Converts a board; bit `8 * row + column` of its words is a square.
    pub fn from_board(rows: usize, columns: usize, board: &Board) -> Plain {
        let mut cells = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                let bit = 1u64 << (8 * row + column);
                cells.push(match (board.mover & bit != 0, board.opponent & bit != 0) {
                    (false, false) => Cell::Empty,
                    (true, false) => Cell::Mine,
                    (false, true) => Cell::Theirs,
                    (true, true) => panic!("two discs on row {row}, column {column}"),
                });
            }
        }
        let plain = Plain { rows, columns, cells };
        assert_eq!(plain.to_board(), *board, "a disc lies outside the {rows}x{columns} board");
        plain
    }

    pub fn to_board(&self) -> Board {
        let mut board = Board { mover: 0, opponent: 0 };
        for (i, cell) in self.cells.iter().enumerate() {
            let bit = 1u64 << (8 * (i / self.columns) + i % self.columns);
            match cell {
                Cell::Empty => {}
                Cell::Mine => board.mover |= bit,
                Cell::Theirs => board.opponent |= bit,
            }
        }
        board
    }

    /// Returns the content of (row, column); `None` off the board.
    pub fn at(&self, row: isize, column: isize) -> Option<Cell> {
        let inside =
            (0..self.rows as isize).contains(&row) && (0..self.columns as isize).contains(&column);
        inside.then(|| self.cells[row as usize * self.columns + column as usize])
    }

    /// Returns the squares whose discs the mover would turn by placing at (row, column).
    pub fn turned(&self, row: usize, column: usize) -> Vec<(usize, usize)> {
        let mut turned = Vec::new();
        if self.at(row as isize, column as isize) != Some(Cell::Empty) {
            return turned;
        }
        for (down, right) in DIRECTIONS {
            let mut line = Vec::new();
            let (mut r, mut c) = (row as isize + down, column as isize + right);
            while self.at(r, c) == Some(Cell::Theirs) {
                line.push((r as usize, c as usize));
                r += down;
                c += right;
            }
            if self.at(r, c) == Some(Cell::Mine) {
                turned.extend(line);
            }
        }
        turned
    }

    /// Returns the squares where the mover may place, as (row, column), row by row.
    pub fn placements(&self) -> Vec<(usize, usize)> {
        let all = (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| (row, column)));
        all.filter(|&(row, column)| !self.turned(row, column).is_empty()).collect()
    }

    /// Returns the same board with the other side to move.
    pub fn swapped(&self) -> Plain {
        let swap = |cell: &Cell| match cell {
            Cell::Empty => Cell::Empty,
            Cell::Mine => Cell::Theirs,
            Cell::Theirs => Cell::Mine,
        };
        Plain { cells: self.cells.iter().map(swap).collect(), ..*self }
    }

    /// Returns the position after a legal placement.
    pub fn place(&self, row: usize, column: usize) -> Plain {
        let mut after = self.clone();
        let turned = self.turned(row, column);
        assert!(!turned.is_empty(), "no disc turns at row {row}, column {column} of {self:?}");
        for (r, c) in turned.into_iter().chain([(row, column)]) {
            after.cells[r * self.columns + c] = Cell::Mine;
        }
        after.swapped()
    }

    /// Returns the action index of the pass.
    pub fn pass(&self) -> u16 {
        (self.rows * self.columns) as u16
    }

    pub fn must_pass(&self) -> bool {
        self.placements().is_empty() && !self.swapped().placements().is_empty()
    }

    pub fn is_over(&self) -> bool {
        self.placements().is_empty() && self.swapped().placements().is_empty()
    }

    /// Returns every legal action and the position after it, by ascending action.
    pub fn successors(&self) -> Vec<(u16, Plain)> {
        if self.must_pass() {
            return vec![(self.pass(), self.swapped())];
        }
        let placed =
            |(row, column)| ((row * self.columns + column) as u16, self.place(row, column));
        self.placements().into_iter().map(placed).collect()
    }

    fn count(&self, wanted: Cell) -> i32 {
        self.cells.iter().filter(|&&cell| cell == wanted).count() as i32
    }

    /// Returns the mover's discs minus the opponent's.
    pub fn final_score(&self) -> i32 {
        self.count(Cell::Mine) - self.count(Cell::Theirs)
    }

    pub fn empties(&self) -> i32 {
        self.count(Cell::Empty)
    }
}

/// Exhaustive solver with memory.
#[derive(Default)]
pub struct Reference {
    known: HashMap<Plain, (i32, u32)>,
}

impl Reference {
    pub fn new() -> Reference {
        Reference::default()
    }

    /// Returns the mover's final disc difference under best play, and the plies to the end of the game if
    /// both players, among moves that keep the score, shorten it (ahead or even) or prolong it (behind).
    pub fn solve(&mut self, position: &Plain) -> (i32, u32) {
        if let Some(&known) = self.known.get(position) {
            return known;
        }
        let mut best: Option<(i32, u32)> = None;
        for (_, successor) in position.successors() {
            let (score, distance) = self.solve(&successor);
            let here = (-score, distance + 1);
            best = Some(match best {
                None => here,
                Some(best) if here.0 > best.0 => here,
                Some(best) if here.0 < best.0 => best,
                Some(best) if here.0 < 0 => (here.0, here.1.max(best.1)),
                Some(best) => (here.0, here.1.min(best.1)),
            });
        }
        let value = best.unwrap_or((position.final_score(), 0));
        self.known.insert(position.clone(), value);
        value
    }

    /// Returns every position solved so far, with its value.
    pub fn known(&self) -> &HashMap<Plain, (i32, u32)> {
        &self.known
    }
}
