//! The columns of an export: their names, types and meaning, and an example written into them.

use serde::{Deserialize, Serialize};

use super::example::{Example, Known};
use crate::export::Split;
use crate::game::{Game, Score};

/// What `i8` columns hold where there is no such move, or no proven value.
pub const MISSING: i8 = i8::MIN;
/// What `distance` holds where it is not known exactly, or the game does not end.
pub const NO_DISTANCE: u16 = u16::MAX;

/// How positions are laid out as planes, after the programs that expect them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// The game's planes: (P, R, C).
    #[default]
    Default,
    /// Pgx's: (R, C, 2), the mover's discs and the opponent's.
    Pgx,
    /// OpenSpiel's: (3, R, C), empty squares, the mover's discs and the opponent's.
    OpenSpiel,
    /// That of alpha-zero-general: (R, C), 1 the mover, −1 the opponent, 0 empty.
    Azg,
}

impl Layout {
    /// `default`, `pgx`, `openspiel` or `azg`.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Default => "default",
            Layout::Pgx => "pgx",
            Layout::OpenSpiel => "openspiel",
            Layout::Azg => "azg",
        }
    }
}

/// The type of a column's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// Unsigned byte.
    U8,
    /// Signed byte.
    I8,
    /// Two bytes.
    U16,
    /// Four bytes.
    U32,
    /// Eight bytes.
    U64,
    /// Single precision.
    F32,
    /// UTF-8; in arrays padded with zeros to so many bytes.
    Text(usize),
}

impl Scalar {
    /// NumPy's name of the type.
    pub fn descr(self) -> String {
        match self {
            Scalar::U8 => "|u1".to_string(),
            Scalar::I8 => "|i1".to_string(),
            Scalar::U16 => "<u2".to_string(),
            Scalar::U32 => "<u4".to_string(),
            Scalar::U64 => "<u8".to_string(),
            Scalar::F32 => "<f4".to_string(),
            Scalar::Text(width) => format!("|S{width}"),
        }
    }

    /// Bytes that a number takes.
    pub fn size(self) -> usize {
        match self {
            Scalar::U8 | Scalar::I8 => 1,
            Scalar::U16 => 2,
            Scalar::U32 | Scalar::F32 => 4,
            Scalar::U64 => 8,
            Scalar::Text(width) => width,
        }
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The table's row.
    Row,
    /// The canonical key under all symmetries.
    Key,
    /// The mover's discs.
    Mover,
    /// The opponent's discs.
    Opponent,
    /// The position as planes.
    Planes,
    /// The position as text.
    Board,
    /// Who is to move.
    Side,
    /// The layer.
    Layer,
    /// The legal moves.
    Legal,
    /// The position's outcome.
    Outcome,
    /// The position's score.
    Score,
    /// Plies to the end.
    Distance,
    /// The outcome of each move.
    QOutcome,
    /// The score of each move.
    QScore,
    /// The best moves.
    Optimal,
    /// The moves that keep the outcome.
    OptimalOutcome,
    /// What a policy should say.
    Policy,
    /// Whether all values are proven.
    Proven,
    /// How many positions the example stands for.
    Weight,
    /// Training, validation or test.
    Split,
    /// The least that the outcome can be.
    Lower,
    /// The most that the outcome can be.
    Upper,
    /// The least that the score can be.
    ScoreLower,
    /// The most that the score can be.
    ScoreUpper,
    /// The same of each move.
    QLower,
    /// The same of each move.
    QUpper,
    /// The same of each move.
    QScoreLower,
    /// The same of each move.
    QScoreUpper,
    /// Every move with its value, as text.
    Moves,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// What it holds.
    pub field: Field,
    /// Its name.
    pub name: &'static str,
    /// The type of its numbers.
    pub scalar: Scalar,
    /// The shape of a row's numbers; empty for one number.
    pub shape: Vec<u64>,
    /// What it means.
    pub about: String,
    /// Whether [`MISSING`] or [`NO_DISTANCE`] stand in it for what is not there.
    pub has_missing: bool,
}

impl Column {
    /// How many numbers a row has.
    pub fn width(&self) -> usize {
        self.shape.iter().product::<u64>() as usize
    }

    /// Bytes that a row takes in an array.
    pub fn row_bytes(&self) -> usize {
        self.width() * self.scalar.size()
    }

    /// Whether it is text.
    pub fn is_text(&self) -> bool {
        matches!(self.scalar, Scalar::Text(_))
    }
}

/// What is told of a column in the data card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnCard {
    /// Its name.
    pub name: String,
    /// NumPy's name of the type.
    pub dtype: String,
    /// The shape of a row's numbers.
    pub shape: Vec<u64>,
    /// What it means.
    pub about: String,
}

/// Some rows of all columns.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// How many rows.
    pub rows: usize,
    /// The bytes of each column: little-endian numbers, or text without breaks.
    pub data: Vec<Vec<u8>>,
    /// Of text the end of each row.
    pub ends: Vec<Vec<usize>>,
}

impl Block {
    /// A block without rows.
    pub fn new(columns: usize) -> Block {
        Block { rows: 0, data: vec![Vec::new(); columns], ends: vec![Vec::new(); columns] }
    }

    /// A row of a column of text.
    pub fn text(&self, column: usize, row: usize) -> &[u8] {
        let begin = row.checked_sub(1).map_or(0, |before| self.ends[column][before]);
        &self.data[column][begin..self.ends[column][row]]
    }

    /// A row of a column of numbers.
    pub fn numbers(&self, column: &Column, at: usize, row: usize) -> &[u8] {
        &self.data[at][row * column.row_bytes()..][..column.row_bytes()]
    }

    /// Adds the rows of another block of the same columns.
    pub fn extend(&mut self, other: &Block) {
        self.rows += other.rows;
        for at in 0..self.data.len() {
            let before = self.data[at].len();
            self.data[at].extend_from_slice(&other.data[at]);
            self.ends[at].extend(other.ends[at].iter().map(|end| before + end));
        }
    }
}

/// What the columns of an export depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// The layout of planes.
    pub layout: Layout,
    /// Whether values have scores.
    pub scores: bool,
    /// Whether rows have layers.
    pub layers: bool,
    /// Whether unproven rows are there, and so bounds.
    pub bounds: bool,
    /// Whether the split is told.
    pub splits: bool,
    /// `policy` is the softmax of values divided by this; uniform over the best moves if `None`.
    pub temperature: Option<f64>,
}

/// Every column that an export of this shape can have.
pub fn all_columns<G: Game>(game: &G, shape: &Shape) -> Vec<Column> {
    let (rows, columns) = game.spec().shape();
    let [r, c] = [rows as u64, columns as u64];
    let planes = game.planes();
    let bitboards = planes.pieces.len() == 1 && planes.held.is_empty() && rows * columns <= 64;
    let words = <G::Key as crate::game::StateKey>::WORDS as u64;
    let actions = [game.action_count() as u64];
    let (plane_scalar, plane_shape, plane_text) = match shape.layout {
        Layout::Default => (
            Scalar::U8,
            vec![planes.count() as u64, r, c],
            format!("the position as its mover sees it, (plane, row, column): {}", planes.names().join("; ")),
        ),
        Layout::Pgx => (
            Scalar::U8,
            vec![r, c, 2],
            "Pgx's observation, (row, column, plane): the mover's discs, the opponent's".to_string(),
        ),
        Layout::OpenSpiel => (
            Scalar::U8,
            vec![3, r, c],
            "OpenSpiel's observation for the mover, (plane, row, column): empty squares, the mover's discs, the opponent's".to_string(),
        ),
        Layout::Azg => (
            Scalar::I8,
            vec![r, c],
            "alpha-zero-general's canonical board [x][y], x the row from the top: 1 the mover's discs, -1 the opponent's, 0 empty".to_string(),
        ),
    };
    let missing = format!("{MISSING}");
    // An OBF line has the squares, a space, the side and a semicolon; SFEN is longer.
    let line = if bitboards { rows * columns + 3 } else { 3 * rows * columns + 24 };
    let policy = match shape.temperature {
        None => "the same probability for every move of `optimal`".to_string(),
        Some(t) => format!(
            "softmax of the moves' exact {} / {t} over the legal moves",
            if shape.scores { "scores" } else { "outcomes" }
        ),
    } + ", 0 elsewhere; all 0 where there is no move or not all is proven";
    let best = match shape.scores {
        true => "1 for every move with the best score",
        false => {
            "1 for every move as good as any: the best outcome, won soonest or lost latest as far as that is known"
        }
    };
    let about = |about: &str| about.to_string();
    use Scalar::{F32, I8, Text, U8, U16, U32, U64};
    let mut all: Vec<(bool, Field, &'static str, Scalar, Vec<u64>, String)> = vec![
        (true, Field::Row, "row", U32, vec![], about("the row of the table")),
        (
            true,
            Field::Key,
            "key",
            U64,
            if words == 1 { vec![] } else { vec![words] },
            about("the canonical key under all symmetries of the board, which decides the split"),
        ),
        (
            bitboards,
            Field::Mover,
            "mover",
            U64,
            vec![],
            format!(
                "the mover's discs: bit row * {columns} + column, a1 at the top left being bit 0"
            ),
        ),
        (
            bitboards,
            Field::Opponent,
            "opponent",
            U64,
            vec![],
            about("the opponent's discs, in the same order"),
        ),
        (true, Field::Planes, "planes", plane_scalar, plane_shape, plane_text),
        (
            true,
            Field::Board,
            "board",
            Text(line),
            vec![],
            about("the position as 'solver query' reads it"),
        ),
        (
            true,
            Field::Side,
            "side",
            I8,
            vec![],
            format!(
                "who is to move: 0 {}, 1 {}",
                game.side_name(crate::game::Side::First),
                game.side_name(crate::game::Side::Second)
            ),
        ),
        (
            shape.layers,
            Field::Layer,
            "layer",
            U16,
            vec![],
            about(if shape.scores { "the number of discs" } else { "plies from the nearest root" }),
        ),
        (true, Field::Legal, "legal", U8, actions.to_vec(), about("1 where the action is legal")),
        (
            true,
            Field::Outcome,
            "outcome",
            I8,
            vec![],
            format!("the mover's exact outcome: 1 win, 0 draw, -1 loss; {missing} if not proven"),
        ),
        (
            shape.scores,
            Field::Score,
            "score",
            I8,
            vec![],
            format!("the mover's exact final score; {missing} if not proven"),
        ),
        (
            true,
            Field::Distance,
            "distance",
            U16,
            vec![],
            format!("plies to the end under best play; {NO_DISTANCE} if not known or without end"),
        ),
        (
            true,
            Field::QOutcome,
            "q_outcome",
            I8,
            actions.to_vec(),
            format!("the outcome of each action for the mover; {missing} if illegal or not proven"),
        ),
        (
            shape.scores,
            Field::QScore,
            "q_score",
            I8,
            actions.to_vec(),
            format!("the score of each action for the mover; {missing} if illegal or not proven"),
        ),
        (true, Field::Optimal, "optimal", U8, actions.to_vec(), about(best)),
        (
            true,
            Field::OptimalOutcome,
            "optimal_outcome",
            U8,
            actions.to_vec(),
            about("1 for every move that keeps the outcome"),
        ),
        (true, Field::Policy, "policy", F32, actions.to_vec(), policy),
        (
            true,
            Field::Proven,
            "proven",
            U8,
            vec![],
            about("1 if the value and those of all moves are proven"),
        ),
        (
            true,
            Field::Weight,
            "weight",
            F32,
            vec![],
            about("how many actual positions the example stands for"),
        ),
        (shape.splits, Field::Split, "split", U8, vec![], about("0 train, 1 validation, 2 test")),
    ];
    let bounded: [(bool, Field, &'static str, Vec<u64>, &str); 8] = [
        (true, Field::Lower, "lower", vec![], "the least that the outcome can be"),
        (true, Field::Upper, "upper", vec![], "the most that the outcome can be"),
        (shape.scores, Field::ScoreLower, "score_lower", vec![], "the least that the score can be"),
        (shape.scores, Field::ScoreUpper, "score_upper", vec![], "the most that the score can be"),
        (
            true,
            Field::QLower,
            "q_lower",
            actions.to_vec(),
            "the least that each action's outcome can be; -128 if illegal",
        ),
        (
            true,
            Field::QUpper,
            "q_upper",
            actions.to_vec(),
            "the most that each action's outcome can be; -128 if illegal",
        ),
        (
            shape.scores,
            Field::QScoreLower,
            "q_score_lower",
            actions.to_vec(),
            "the least that each action's score can be; -128 if illegal",
        ),
        (
            shape.scores,
            Field::QScoreUpper,
            "q_score_upper",
            actions.to_vec(),
            "the most that each action's score can be; -128 if illegal",
        ),
    ];
    all.extend(bounded.map(|(there, field, name, shape_of, text)| {
        (there && shape.bounds, field, name, I8, shape_of, text.to_string())
    }));
    let longest = 12 * game.action_count().min(200);
    all.push((true, Field::Moves, "moves", Text(longest), vec![], about("every legal move with its exact score, in games without scores its outcome; ? if not proven")));
    let has_missing = |field: Field| {
        use Field::{
            Distance, Outcome, QLower, QOutcome, QScore, QScoreLower, QScoreUpper, QUpper,
        };
        [
            Outcome,
            Field::Score,
            Distance,
            QOutcome,
            QScore,
            QLower,
            QUpper,
            QScoreLower,
            QScoreUpper,
        ]
        .contains(&field)
    };
    let column = |(there, field, name, scalar, shape, about)| {
        let has_missing = has_missing(field);
        bool::then(there, || Column { field, name, scalar, shape, about, has_missing })
    };
    all.into_iter().filter_map(column).collect()
}

/// Writes examples into the columns of blocks.
pub struct Encoder<'a, G: Game> {
    /// The rules.
    pub game: &'a G,
    /// The rules with states folded.
    pub folded: &'a G,
    /// The columns that are written.
    pub columns: &'a [Column],
    /// What they depend on.
    pub shape: Shape,
}

impl<G: Game> Encoder<'_, G> {
    /// Adds an example that belongs to `split`.
    pub fn add(&self, example: &Example<G::State>, split: Split, block: &mut Block) {
        for (at, column) in self.columns.iter().enumerate() {
            self.write(column.field, example, split, &mut block.data[at]);
            if column.is_text() {
                let end = block.data[at].len();
                block.ends[at].push(end);
            }
        }
        block.rows += 1;
    }

    fn write(&self, field: Field, example: &Example<G::State>, split: Split, out: &mut Vec<u8>) {
        let byte = |out: &mut Vec<u8>, value: i8| out.push(value as u8);
        let Example { position, value, .. } = example;
        let score = |at: usize| value.score.map_or(MISSING, |bounds| bounds[at]);
        match field {
            Field::Row => out.extend(example.row.to_le_bytes()),
            Field::Key => {
                let key = self.folded.canonical(&position.state).key;
                out.extend_from_slice(bytemuck::bytes_of(&key));
            }
            Field::Mover | Field::Opponent => {
                let bits = self.bitboards(&position.state)[usize::from(field == Field::Opponent)];
                out.extend(bits.to_le_bytes());
            }
            Field::Planes => self.planes(&position.state, out),
            Field::Board => out.extend(self.game.notation(position).into_bytes()),
            Field::Side => out.push(position.side.index() as u8),
            Field::Layer => {
                out.extend((example.layer.unwrap_or(u32::from(u16::MAX)) as u16).to_le_bytes());
            }
            Field::Outcome => byte(out, value.proven_outcome().unwrap_or(MISSING)),
            Field::Score => byte(out, value.proven_score().unwrap_or(MISSING)),
            Field::Distance => out.extend(value.distance.unwrap_or(NO_DISTANCE).to_le_bytes()),
            Field::Proven => out.push(u8::from(example.is_proven())),
            Field::Weight => out.extend(example.weight.to_le_bytes()),
            Field::Split => out.push(split.index() as u8),
            Field::Lower => byte(out, value.outcome[0].value()),
            Field::Upper => byte(out, value.outcome[1].value()),
            Field::ScoreLower => byte(out, score(0)),
            Field::ScoreUpper => byte(out, score(1)),
            Field::Policy => self.policy(example, out),
            Field::Moves => self.moves(example, out),
            _ => self.by_action(field, example, out),
        }
    }

    /// A number for every action.
    fn by_action(&self, field: Field, example: &Example<G::State>, out: &mut Vec<u8>) {
        let proven = example.is_proven();
        let (absent, number): (i8, &dyn Fn(&Known) -> i8) = match field {
            Field::Legal => (0, &|_| 1),
            Field::Optimal => (0, &|value| i8::from(proven && example.is_optimal(value))),
            Field::OptimalOutcome => (0, &|value| i8::from(proven && example.keeps_outcome(value))),
            Field::QOutcome => (MISSING, &|value| value.proven_outcome().unwrap_or(MISSING)),
            Field::QScore => (MISSING, &|value| value.proven_score().unwrap_or(MISSING)),
            Field::QLower => (MISSING, &|value| value.outcome[0].value()),
            Field::QUpper => (MISSING, &|value| value.outcome[1].value()),
            Field::QScoreLower => (MISSING, &|value| value.score.map_or(MISSING, |s| s[0])),
            _ => (MISSING, &|value| value.score.map_or(MISSING, |s| s[1])),
        };
        let begin = out.len();
        out.resize(begin + self.game.action_count(), absent as u8);
        for (action, value) in &example.moves {
            out[begin + usize::from(action.0)] = number(value) as u8;
        }
    }

    fn policy(&self, example: &Example<G::State>, out: &mut Vec<u8>) {
        let begin = out.len();
        out.resize(begin + 4 * self.game.action_count(), 0);
        if !example.is_proven() {
            return;
        }
        let weights: Vec<f64> = match self.shape.temperature {
            None => {
                let best = |(_, value): &(_, Known)| f64::from(u8::from(example.is_optimal(value)));
                example.moves.iter().map(best).collect()
            }
            Some(temperature) => {
                let of = |value: &Known| {
                    let value = value.proven_score().or(value.proven_outcome());
                    f64::from(value.unwrap_or(0))
                };
                let best = example.moves.iter().map(|(_, value)| of(value));
                let best = best.fold(f64::NEG_INFINITY, f64::max);
                // The function of this crate's own, so that every machine gives the same bytes.
                let weight = |(_, value): &(_, Known)| libm::exp((of(value) - best) / temperature);
                example.moves.iter().map(weight).collect()
            }
        };
        let sum: f64 = weights.iter().sum();
        for ((action, _), weight) in example.moves.iter().zip(weights) {
            let at = begin + 4 * usize::from(action.0);
            out[at..at + 4].copy_from_slice(&((weight / sum) as f32).to_le_bytes());
        }
    }

    fn moves(&self, example: &Example<G::State>, out: &mut Vec<u8>) {
        for (at, (action, value)) in example.moves.iter().enumerate() {
            if at > 0 {
                out.push(b' ');
            }
            out.extend(self.game.action_name(example.position.side, *action).into_bytes());
            out.push(b':');
            let value = if value.score.is_some() {
                value.proven_score().map(|score| Score(score).to_string())
            } else {
                value.proven_outcome().map(|outcome| Score(outcome).to_string())
            };
            out.extend(value.unwrap_or("?".to_string()).into_bytes());
        }
    }

    fn plain_planes(&self, state: &G::State) -> Vec<u8> {
        let (rows, columns) = self.game.spec().shape();
        let mut planes = vec![0; self.game.planes().count() * rows * columns];
        self.game.write_planes(state, &mut planes);
        planes
    }

    fn bitboards(&self, state: &G::State) -> [u64; 2] {
        let planes = self.plain_planes(state);
        let (mover, opponent) = planes.split_at(planes.len() / 2);
        [mover, opponent].map(|plane| {
            let bits = plane.iter().enumerate().map(|(square, &disc)| u64::from(disc) << square);
            bits.fold(0, |all, bit| all | bit)
        })
    }

    fn planes(&self, state: &G::State, out: &mut Vec<u8>) {
        let planes = self.plain_planes(state);
        let (mover, opponent) = planes.split_at(planes.len() / 2);
        let squares = mover.iter().zip(opponent);
        match self.shape.layout {
            Layout::Default => out.extend_from_slice(&planes),
            Layout::Pgx => out.extend(squares.flat_map(|(&mine, &theirs)| [mine, theirs])),
            Layout::OpenSpiel => {
                out.extend(squares.map(|(mine, theirs)| 1 - mine - theirs));
                out.extend_from_slice(&planes);
            }
            Layout::Azg => {
                out.extend(squares.map(|(&mine, &theirs)| (mine as i8 - theirs as i8) as u8));
            }
        }
    }
}
