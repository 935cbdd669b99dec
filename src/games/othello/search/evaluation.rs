//! Estimate of a position, used for move ordering and never in a proof.

use std::io::Read;
use std::sync::{Arc, OnceLock};

use super::kernel::{Kernel, Scalar};
use super::patterns::Patterns;
use super::shape::BoardShape;
use crate::games::othello::Board;
use crate::rules::Empties;

/// Units of one disc of the final score.
pub(super) const DISC: i32 = 32;

/// Units of the plain evaluation for one disc: on random boards of 5×5, 6×8 and 7×7 with 14 empty squares, exact scores rise by 1.0 with
/// each disc of an estimate of 20,000 nodes.
const PLAIN_DISC: i32 = 20;

/// Number of stages: sets of weights by number of empty squares.
pub(super) const STAGES: usize = 7;

/// Number of empty-square counts in one stage.
pub(super) const STAGE_STEP: u32 = 4;

/// Minimum number of empty squares of the first stage.
pub(super) const FIRST_STAGE: u32 = 5;

const MAGIC: &[u8; 8] = b"YOMIEVAL";
const VERSION: u8 = 1;

/// Bytes of the header: magic, version, rows, columns, stages, CRC-32 of the weights.
const HEADER: usize = 16;

/// Level of compression; files are written rarely.
const LEVEL: i32 = 19;

/// Estimate of the final score for the mover on boards of one shape.
#[derive(Clone, Debug)]
pub struct Evaluation {
    pub(super) shape: BoardShape,
    pub(super) trained: Option<Box<Trained>>,
}

/// Returns the evaluation built into the program for a board; their cards are beside them. Trained by
/// `solver train evaluation --size 8 --positions 250000` and `--size 6 --positions 200000`.
pub fn built_in(rows: usize, columns: usize) -> Option<Arc<Evaluation>> {
    static ALL: [OnceLock<Option<Arc<Evaluation>>>; 2] = [OnceLock::new(), OnceLock::new()];
    let (at, bytes): (usize, &[u8]) = match (rows, columns) {
        (6, 6) => (0, include_bytes!("evaluation-6x6.bin")),
        (8, 8) => (1, include_bytes!("evaluation-8x8.bin")),
        _ => return None,
    };
    ALL[at].get_or_init(|| Evaluation::read(bytes).ok().map(Arc::new)).clone()
}

/// Patterns with their weights at each stage.
#[derive(Clone, Debug)]
pub(super) struct Trained {
    pub patterns: Patterns,
    pub weights: Vec<Vec<i16>>,
}

impl Evaluation {
    /// Returns an evaluation with fixed weights of mobility, corners and stable discs.
    pub fn plain(rows: usize, columns: usize) -> Evaluation {
        Evaluation { shape: BoardShape::new(rows, columns, Empties::Uncounted), trained: None }
    }

    /// Returns the rows and columns of the board.
    pub fn shape(&self) -> (usize, usize) {
        (self.shape.rows, self.shape.columns)
    }

    /// Reads the output of [`Evaluation::to_bytes`].
    pub fn read(bytes: &[u8]) -> Result<Evaluation, String> {
        let damaged = |what: &str| format!("invalid evaluation file: {what}");
        let Some((header, packed)) = bytes.split_at_checked(HEADER) else {
            return Err(damaged("shorter than its header"));
        };
        if header[..8] != *MAGIC {
            return Err(damaged("missing magic bytes"));
        }
        let [version, rows, columns, stages] = [header[8], header[9], header[10], header[11]];
        if version != VERSION || usize::from(stages) != STAGES {
            return Err(damaged("unsupported version"));
        }
        if !(4..=8).contains(&rows) || !(4..=8).contains(&columns) {
            return Err(damaged("invalid board shape"));
        }
        let mut evaluation = Evaluation::plain(rows.into(), columns.into());
        let patterns = Patterns::new(&evaluation.shape);
        let length = 2 * STAGES * patterns.free().count();
        let mut content = Vec::new();
        zstd::Decoder::new(packed)
            .and_then(|decoder| decoder.take(length as u64 + 1).read_to_end(&mut content))
            .map_err(|_| damaged("damaged compressed data"))?;
        if content.len() != length {
            return Err(damaged("wrong number of weights"));
        }
        if header[12..] != crc32fast::hash(&content).to_le_bytes() {
            return Err(damaged("wrong checksum"));
        }
        let (low, high) = content.split_at(length / 2);
        let mut values = low.iter().zip(high).map(|(&low, &high)| i16::from_le_bytes([low, high]));
        let weights = (0..STAGES)
            .map(|_| {
                let mut stage = vec![0; patterns.weights()];
                patterns.free().for_each(|i| stage[i] = values.next().unwrap_or(0));
                patterns.spread(&mut stage);
                stage
            })
            .collect();
        evaluation.trained = Some(Box::new(Trained { patterns, weights }));
        Ok(evaluation)
    }

    /// Returns the content of a file; empty for a plain evaluation.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Some(trained) = &self.trained else {
            return Vec::new();
        };
        let free = || {
            let stages = trained.weights.iter();
            stages.flat_map(|stage| trained.patterns.free().map(|i| stage[i].to_le_bytes()))
        };
        // All low bytes come before all high bytes, because the latter compress well.
        let content: Vec<u8> = free().map(|b| b[0]).chain(free().map(|b| b[1])).collect();
        let mut bytes = MAGIC.to_vec();
        let (rows, columns) = (self.shape.rows as u8, self.shape.columns as u8);
        bytes.extend([VERSION, rows, columns, STAGES as u8]);
        bytes.extend(crc32fast::hash(&content).to_le_bytes());
        // Writing to memory cannot fail.
        bytes.extend(zstd::encode_all(&content[..], LEVEL).unwrap_or_default());
        bytes
    }

    /// Returns whether the weights were trained.
    #[inline(always)]
    pub(super) fn is_trained(&self) -> bool {
        self.trained.is_some()
    }

    /// Returns an estimate for the mover in hundredths of a disc. It is the mean of what both sides would see if it were
    /// their turn, because far from the end the weights value the turn itself too much.
    pub fn hundredths(&self, board: Board) -> i32 {
        let disc = if self.is_trained() { DISC } else { PLAIN_DISC };
        let value = self.value(Scalar, board) - self.value(Scalar, board.swapped());
        50 * value / disc
    }

    /// Returns an estimate for the mover in units of [`DISC`].
    #[inline(always)]
    pub(super) fn value<K: Kernel>(&self, kernel: K, board: Board) -> i32 {
        match &self.trained {
            Some(trained) => trained.value(kernel, &self.shape, board),
            None => side(kernel, &self.shape, board) - side(kernel, &self.shape, board.swapped()),
        }
    }
}

impl Trained {
    #[inline(always)]
    fn value<K: Kernel>(&self, kernel: K, shape: &BoardShape, board: Board) -> i32 {
        let weights = &self.weights[stage(shape.empty(board).count_ones())];
        self.patterns.sum(kernel, shape, board, weights)
    }
}

/// Returns the stage of a number of empty squares.
#[inline(always)]
pub(super) fn stage(empties: u32) -> usize {
    ((empties.saturating_sub(FIRST_STAGE) / STAGE_STEP) as usize).min(STAGES - 1)
}

// Weights of moves, moves into corners, empty squares next to the opponent, corners held, stable
// discs, and discs diagonally next to an empty corner.
const MOBILITY: i32 = 16;
const CORNER_MOVE: i32 = 16;
const POTENTIAL: i32 = 8;
const CORNER: i32 = 48;
const STABLE: i32 = 24;
const EXPOSED: i32 = 16;

/// Returns the mover's part of the plain estimate.
#[inline(always)]
fn side<K: Kernel>(kernel: K, shape: &BoardShape, board: Board) -> i32 {
    let empty = shape.empty(board);
    let exposed = around(empty & shape.corners) & shape.crosses;
    let moves = kernel.moves(board) & shape.board;
    MOBILITY * count(moves)
        + CORNER_MOVE * count(moves & shape.corners)
        + POTENTIAL * count(around(board.opponent) & empty)
        + CORNER * count(board.mover & shape.corners)
        + STABLE * count(shape.stable(board.mover, board.opponent))
        - EXPOSED * count(board.mover & exposed)
}

#[inline(always)]
fn count(set: u64) -> i32 {
    set.count_ones() as i32
}

/// Returns the squares next to a set, and some squares of the set itself.
#[inline(always)]
pub(super) fn around(set: u64) -> u64 {
    let wide = set | (set << 1 & !0x0101_0101_0101_0101) | (set >> 1 & !0x8080_8080_8080_8080);
    wide | wide << 8 | wide >> 8
}
