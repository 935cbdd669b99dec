//! The columns of an export: their names, types and meaning.

use serde::{Deserialize, Serialize};

use crate::any::AnyGame;
use crate::game::{Game, Side};

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
    /// Pgx's: (R, C, 2), the mover's pieces and the opponent's.
    Pgx,
    /// OpenSpiel's: (3, R, C), empty squares, the mover's pieces and the opponent's.
    OpenSpiel,
    /// That of alpha-zero-general: (R, C), 1 the mover, −1 the opponent, 0 empty.
    Azg,
}

impl Layout {
    const NAMES: [(&str, Layout); 4] = [
        ("default", Layout::Default),
        ("pgx", Layout::Pgx),
        ("openspiel", Layout::OpenSpiel),
        ("azg", Layout::Azg),
    ];

    /// `default`, `pgx`, `openspiel` or `azg`.
    pub fn name(self) -> &'static str {
        Layout::NAMES[self as usize].0
    }

    /// The layout of a name, or what the names are.
    pub fn of(name: &str) -> Result<Layout, String> {
        let found = Layout::NAMES.into_iter().find(|(known, _)| *known == name);
        found
            .map(|(_, layout)| layout)
            .ok_or(format!("known are {}", Layout::NAMES.map(|n| n.0).join(", ")))
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
    /// The mover's squares as bits.
    Mover,
    /// The opponent's squares as bits.
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

impl Field {
    /// Whether it depends on the moves of a position, which take longer to look up than itself.
    pub fn is_of_moves(self) -> bool {
        use Field::*;
        let of_values = [Legal, QOutcome, QScore, Optimal, OptimalOutcome, Policy, Proven, Moves];
        let of_bounds = [QLower, QUpper, QScoreLower, QScoreUpper];
        of_values.contains(&self) || of_bounds.contains(&self)
    }
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

/// A column in the data card.
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
    /// Whether there is a column of the split.
    pub splits: bool,
    /// `policy` is the softmax of values divided by this; uniform over the best moves if `None`.
    pub temperature: Option<f64>,
}

/// The list of an export's columns while it is made.
struct List<'a> {
    columns: Vec<Column>,
    shape: &'a Shape,
    actions: Vec<u64>,
}

impl List<'_> {
    fn add(
        &mut self,
        field: Field,
        name: &'static str,
        scalar: Scalar,
        shape: &[u64],
        about: &str,
    ) {
        let (shape, about) = (shape.to_vec(), about.to_string());
        self.columns.push(Column { field, name, scalar, shape, about, has_missing: false });
    }

    /// A column in which numbers may be missing.
    fn value(&mut self, field: Field, name: &'static str, per_action: bool, about: &str) {
        let shape = if per_action { self.actions.clone() } else { Vec::new() };
        let (scalar, missing) = match field {
            Field::Distance => (Scalar::U16, i64::from(NO_DISTANCE)),
            _ => (Scalar::I8, i64::from(MISSING)),
        };
        let about = format!("{about}; {missing} if there is none or it is not proven");
        self.columns.push(Column { field, name, scalar, shape, about, has_missing: true });
    }

    /// What the position is.
    fn position(&mut self, game: &AnyGame) {
        use Scalar::{I8, Text, U16, U32, U64};
        let (rows, columns) = game.shape();
        let words: &[u64] = if game.key_words() == 1 { &[] } else { &[2] };
        self.add(Field::Row, "row", U32, &[], "the row of the table");
        let about = "the canonical key under all symmetries of the board, which decides the split";
        self.add(Field::Key, "key", U64, words, about);
        let bitboards = game.squares(&game.start().state).is_some();
        if bitboards {
            let about = format!(
                "the mover's squares: bit row * {columns} + column, a1 at the top left being bit 0"
            );
            self.add(Field::Mover, "mover", U64, &[], &about);
            let about = "the opponent's squares, in the same order";
            self.add(Field::Opponent, "opponent", U64, &[], about);
        }
        let (scalar, shape, about) = planes_of(game, self.shape.layout);
        self.add(Field::Planes, "planes", scalar, &shape, &about);
        // An OBF line has the squares, a space, the side and a semicolon; SFEN is longer.
        let line = if bitboards { rows * columns + 3 } else { 3 * rows * columns + 24 };
        let about = "the position as 'solver query' reads it";
        self.add(Field::Board, "board", Text(line), &[], about);
        let [first, second] = Side::ALL.map(|side| game.side_name(side));
        let about = format!("who is to move: 0 {first}, 1 {second}");
        self.add(Field::Side, "side", I8, &[], &about);
        if self.shape.layers {
            let about = match game.layers() {
                Some(layers) => format!("the number of {layers}"),
                None => "plies from the nearest root".to_string(),
            };
            self.add(Field::Layer, "layer", U16, &[], &about);
        }
    }

    /// What is known of it.
    fn values(&mut self) {
        use Scalar::{F32, U8};
        let actions = self.actions.clone();
        let Shape { scores, temperature, splits, .. } = *self.shape;
        self.add(Field::Legal, "legal", U8, &actions, "1 where the action is legal");
        let about = "the mover's exact outcome: 1 win, 0 draw, -1 loss";
        self.value(Field::Outcome, "outcome", false, about);
        if scores {
            self.value(Field::Score, "score", false, "the mover's exact final score");
        }
        self.value(Field::Distance, "distance", false, "plies to the end under best play");
        self.value(Field::QOutcome, "q_outcome", true, "each action's outcome for the mover");
        if scores {
            self.value(Field::QScore, "q_score", true, "each action's score for the mover");
        }
        let about = match scores {
            true => "1 for every move with the best score",
            false => {
                "1 for every move as good as any: the best outcome, won soonest or lost latest as far as that is known"
            }
        };
        self.add(Field::Optimal, "optimal", U8, &actions, about);
        let about = "1 for every move that keeps the outcome";
        self.add(Field::OptimalOutcome, "optimal_outcome", U8, &actions, about);
        let of = if scores { "scores" } else { "outcomes" };
        let about = match temperature {
            None => "the same probability for every move of `optimal`".to_string(),
            Some(t) => format!("softmax of the moves' exact {of} / {t} over the legal moves"),
        };
        let about = about + ", 0 elsewhere; all 0 where there is no move or not all is proven";
        self.add(Field::Policy, "policy", F32, &actions, &about);
        let about = "1 if the value and those of all moves are proven";
        self.add(Field::Proven, "proven", U8, &[], about);
        let about = "how many actual positions the example stands for";
        self.add(Field::Weight, "weight", F32, &[], about);
        if splits {
            self.add(Field::Split, "split", U8, &[], "0 train, 1 validation, 2 test");
        }
    }

    /// What is known where it is not proven.
    fn bounds(&mut self) {
        let scores = self.shape.scores;
        let mut both = |[lower, upper]: [Field; 2], names: [&'static str; 2], per_action, of| {
            self.value(lower, names[0], per_action, &format!("the least that {of} can be"));
            self.value(upper, names[1], per_action, &format!("the most that {of} can be"));
        };
        both([Field::Lower, Field::Upper], ["lower", "upper"], false, "the outcome");
        if scores {
            let names = ["score_lower", "score_upper"];
            both([Field::ScoreLower, Field::ScoreUpper], names, false, "the score");
        }
        both([Field::QLower, Field::QUpper], ["q_lower", "q_upper"], true, "each action's outcome");
        if scores {
            let names = ["q_score_lower", "q_score_upper"];
            both([Field::QScoreLower, Field::QScoreUpper], names, true, "each action's score");
        }
    }
}

/// Type, shape and meaning of the planes of a layout.
fn planes_of(game: &AnyGame, layout: Layout) -> (Scalar, Vec<u64>, String) {
    let (rows, columns) = game.shape();
    let [r, c] = [rows as u64, columns as u64];
    let planes = game.planes();
    match layout {
        Layout::Default => {
            let about = "the position as its mover sees it, (plane, row, column)";
            let about = format!("{about}: {}", planes.names().join("; "));
            (Scalar::U8, vec![planes.count() as u64, r, c], about)
        }
        Layout::Pgx => {
            let about =
                "Pgx's observation, (row, column, plane): the mover's pieces, the opponent's";
            (Scalar::U8, vec![r, c, 2], about.to_string())
        }
        Layout::OpenSpiel => {
            let about = "OpenSpiel's observation for the mover, (plane, row, column): empty squares, the mover's pieces, the opponent's";
            (Scalar::U8, vec![3, r, c], about.to_string())
        }
        Layout::Azg => {
            let about = "alpha-zero-general's canonical board [x][y], x the row from the top: 1 the mover's pieces, -1 the opponent's, 0 empty";
            (Scalar::I8, vec![r, c], about.to_string())
        }
    }
}

/// Every column that an export of this shape can have.
pub fn all_columns(game: &AnyGame, shape: &Shape) -> Vec<Column> {
    let actions = vec![game.action_count() as u64];
    let mut list = List { columns: Vec::new(), shape, actions };
    list.position(game);
    list.values();
    if shape.bounds {
        list.bounds();
    }
    // A name, its value and two signs a move; no position of a game here has 600 moves.
    let longest = 12 * game.action_count().min(600);
    let about = "every legal move with its exact score, in games without scores its outcome; ? if not proven";
    list.add(Field::Moves, "moves", Scalar::Text(longest), &[], about);
    list.columns
}
