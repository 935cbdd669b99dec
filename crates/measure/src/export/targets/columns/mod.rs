//! Columns of an export: names, types and descriptions.

mod encode;

pub use encode::Encoder;

use serde::{Deserialize, Serialize};

use super::has_obf;
use crate::judge::Example;
use yomikiri::oracle::SolvedTable;
use yomikiri::rules::encode::{Encoding, Layout, Plane};
use yomikiri::rules::{Rules, Side, Split};
use yomikiri::solve::Value;

/// Marker in `i8` columns of illegal moves and of values that are missing or not proven.
pub const MISSING: i8 = i8::MIN;
/// Marker in `distance` of a distance that is not proven, or of infinite play.
pub const NO_DISTANCE: u16 = u16::MAX;

/// Type of a column's numbers.
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
    /// UTF-8; in arrays padded with zeros to this many bytes.
    Text(usize),
}

impl Scalar {
    /// Returns NumPy's name of the type.
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

    /// Returns the bytes of a number.
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

/// Source of a column's numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// A function that appends the bytes of an example.
    Bytes(fn(&Encoder<'_>, &Example, Split, &mut Vec<u8>)),
    /// A number for a value: for the position's, or for that of each action.
    OfValue(fn(&Example, Value) -> i8),
}

/// A column.
#[derive(Clone, Debug)]
pub struct TargetColumn {
    pub(super) content: Content,
    /// Name.
    pub name: &'static str,
    /// Type of the numbers.
    pub scalar: Scalar,
    /// Shape of a row; empty for a single number.
    pub shape: Vec<u64>,
    /// Description.
    pub about: String,
    /// `true` if [`MISSING`] or [`NO_DISTANCE`] mark missing numbers.
    pub has_missing: bool,
}

impl TargetColumn {
    /// Returns the number of numbers in a row.
    pub fn width(&self) -> usize {
        self.shape.iter().product::<u64>() as usize
    }

    /// Returns the bytes of a row in an array.
    pub fn row_bytes(&self) -> usize {
        self.width() * self.scalar.size()
    }

    /// Returns `true` if it depends on the moves of a position, which take longer to look up than the
    /// position.
    pub fn is_of_moves(&self) -> bool {
        let is_each = matches!(self.content, Content::OfValue(_)) && !self.shape.is_empty();
        is_each || ["policy", "proven", "moves"].contains(&self.name)
    }

    /// Returns `true` for text.
    pub fn is_text(&self) -> bool {
        matches!(self.scalar, Scalar::Text(_))
    }
}

/// Description of a column in the data card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ColumnCard {
    /// Name.
    pub name: String,
    /// NumPy name of the type.
    pub dtype: String,
    /// Shape of a row.
    pub shape: Vec<u64>,
    /// Description.
    pub about: String,
}

/// Rows of all columns.
#[derive(Clone, Debug, Default)]
pub struct RowBlock {
    /// Number of rows.
    pub rows: usize,
    /// The bytes of each column: little-endian numbers, or text without breaks.
    pub data: Vec<Vec<u8>>,
    /// For text columns, the end of each row in `data`.
    pub ends: Vec<Vec<usize>>,
}

impl RowBlock {
    /// Returns a block without rows.
    pub fn new(columns: usize) -> RowBlock {
        RowBlock { rows: 0, data: vec![Vec::new(); columns], ends: vec![Vec::new(); columns] }
    }

    /// Returns a row of a text column.
    pub fn text(&self, column: usize, row: usize) -> &[u8] {
        let begin = row.checked_sub(1).map_or(0, |before| self.ends[column][before]);
        &self.data[column][begin..self.ends[column][row]]
    }

    /// Returns a row of a column of numbers.
    pub fn numbers(&self, column: &TargetColumn, at: usize, row: usize) -> &[u8] {
        &self.data[at][row * column.row_bytes()..][..column.row_bytes()]
    }

    /// Appends the rows of a block of the same columns.
    pub fn extend(&mut self, other: &RowBlock) {
        self.rows += other.rows;
        for at in 0..self.data.len() {
            let before = self.data[at].len();
            self.data[at].extend_from_slice(&other.data[at]);
            self.ends[at].extend(other.ends[at].iter().map(|end| before + end));
        }
    }
}

/// Properties that determine the columns of an export.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetShape {
    /// Layout of the planes.
    pub layout: Layout,
    /// `true` if values have scores.
    pub scores: bool,
    /// `true` if rows have layers.
    pub layers: bool,
    /// `true` for examples of a table, which have a row and a distance.
    pub rows: bool,
    /// `true` if unproven rows are included, and bounds with them.
    pub bounds: bool,
    /// `true` if there is a column of the split.
    pub splits: bool,
    /// `policy` is the softmax of values divided by this; uniform over the best moves if `None`.
    pub temperature: Option<f64>,
}

impl TargetShape {
    /// Returns the shape of what is known of positions: by a table, or else by search.
    pub fn of(game: &dyn Rules, table: Option<&SolvedTable>) -> TargetShape {
        let is_layered = game.is_layered();
        TargetShape {
            layout: Layout::Nchw,
            scores: table.map_or(game.has_scores(), SolvedTable::has_scores),
            layers: table.map_or(is_layered, |table| table.states().has_layers()),
            rows: table.is_some(),
            bounds: table.map_or(!is_layered, |table| !table.table().manifest().complete),
            splits: true,
            temperature: None,
        }
    }
}

/// Columns of an export under construction.
struct List<'a> {
    columns: Vec<TargetColumn>,
    shape: &'a TargetShape,
    actions: Vec<u64>,
}

/// Unit that a number of a column belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Each {
    Position,
    Action,
}

impl List<'_> {
    fn add(
        &mut self,
        name: &'static str,
        (scalar, shape): (Scalar, &[u64]),
        about: impl Into<String>,
        bytes: fn(&Encoder<'_>, &Example, Split, &mut Vec<u8>),
    ) {
        let (shape, about, content) = (shape.to_vec(), about.into(), Content::Bytes(bytes));
        self.columns.push(TargetColumn { content, name, scalar, shape, about, has_missing: false });
    }

    /// Adds a column of flags, one for each action.
    fn flags(&mut self, name: &'static str, about: &str, of: fn(&Example, Value) -> i8) {
        let (shape, about, content) = (self.actions.clone(), about.into(), Content::OfValue(of));
        let (scalar, has_missing) = (Scalar::U8, false);
        self.columns.push(TargetColumn { content, name, scalar, shape, about, has_missing });
    }

    /// Adds a column of numbers that may be missing.
    fn value(
        &mut self,
        name: &'static str,
        each: Each,
        about: &str,
        of: fn(&Example, Value) -> i8,
    ) {
        let shape = if each == Each::Action { self.actions.clone() } else { Vec::new() };
        let about = format!("{about}; {MISSING} if there is none or it is not proven");
        let (content, scalar, has_missing) = (Content::OfValue(of), Scalar::I8, true);
        self.columns.push(TargetColumn { content, name, scalar, shape, about, has_missing });
    }

    /// Adds the columns that describe the position.
    fn position(&mut self, game: &dyn Rules) {
        use Scalar::{F32, I8, Text, U16, U32, U64};
        let (rows, columns) = game.shape();
        let words: &[u64] = if game.facts().key_words() == 1 { &[] } else { &[2] };
        if self.shape.rows {
            self.add("row", (U32, &[]), "the row of the table", |_, example, _, out| {
                out.extend(example.row.to_le_bytes());
            });
        }
        let about = match game.folded().group().order() {
            1 => "the key as tables store it",
            _ => "the key as tables store it, canonical under all symmetries of the board",
        };
        self.add("key", (U64, words), about, |encoder, example, _, out| {
            let key = encoder.folded.position_key(&example.position);
            let facts = encoder.game.facts();
            let words = &facts.words(key)[..facts.key_words()];
            words.iter().for_each(|word| out.extend(word.to_le_bytes()));
        });
        let bitboards = game.has_squares();
        if bitboards {
            let about = format!(
                "the mover's squares: bit row * {columns} + column, a1 at the top left being bit 0"
            );
            self.add("mover", (U64, &[]), about, |encoder, example, _, out| {
                let squares = encoder.game.squares(&example.position.state).unwrap_or_default();
                out.extend(squares.0.to_le_bytes());
            });
            let about = "the opponent's squares, in the same order";
            self.add("opponent", (U64, &[]), about, |encoder, example, _, out| {
                let squares = encoder.game.squares(&example.position.state).unwrap_or_default();
                out.extend(squares.1.to_le_bytes());
            });
        }
        let (scalar, shape, about) = planes_of(game, self.shape.layout);
        let planes: fn(&Encoder<'_>, &Example, Split, &mut Vec<u8>) = match scalar {
            F32 => |encoder, example, _, out| encoder.float_planes(&example.position, out),
            _ => |encoder, example, _, out| encoder.planes(&example.position, out),
        };
        self.add("planes", (scalar, &shape), about, planes);
        // An OBF line has the squares, a space, the side and a semicolon. Other notations vary.
        let start = game.notation(&game.start()).len();
        let line = match has_obf(game) {
            true => start,
            false => (3 * rows * columns + 24).max(2 * start + 24),
        };
        let about = "the position as 'solver query' reads it";
        self.add("board", (Text(line), &[]), about, |encoder, example, _, out| {
            out.extend(encoder.game.notation(&example.position).into_bytes());
        });
        let [first, second] = Side::ALL.map(|side| game.side_name(side));
        let about = format!("who is to move: 0 {first}, 1 {second}");
        self.add("side", (I8, &[]), about, |_, example, _, out| {
            out.push(example.position.side.index() as u8);
        });
        if self.shape.layers {
            let about = match game.layer_unit() {
                Some(unit) => format!("the number of {unit}"),
                None => "plies from the nearest root".to_string(),
            };
            self.add("layer", (U16, &[]), about, |_, example, _, out| {
                let layer = example.layer.unwrap_or(u32::from(u16::MAX)) as u16;
                out.extend(layer.to_le_bytes());
            });
        }
    }

    /// Adds the columns of proven values.
    fn values(&mut self) {
        use Scalar::{F32, U8, U16};
        let TargetShape { scores, rows, bounds, temperature, splits, .. } = *self.shape;
        self.flags("legal", "1 where the action is legal", |_, _| 1);
        let outcome = |_: &Example, value| Example::outcome_of(value).unwrap_or(MISSING);
        let score = |example: &Example, value| example.score_of(value).unwrap_or(MISSING);
        let about = "the mover's exact outcome: 1 win, 0 draw, -1 loss";
        self.value("outcome", Each::Position, about, outcome);
        if scores {
            self.value("score", Each::Position, "the mover's exact final score", score);
        }
        // A search knows distances if it proves bounds.
        if rows || bounds {
            let about = format!(
                "plies to the end under best play; {NO_DISTANCE} if there is none or it is not proven"
            );
            self.add("distance", (U16, &[]), about, |_, example, _, out| {
                out.extend(example.value.distance().unwrap_or(NO_DISTANCE).to_le_bytes());
            });
            self.columns.iter_mut().rev().take(1).for_each(|column| column.has_missing = true);
        }
        self.value("q_outcome", Each::Action, "each action's outcome for the mover", outcome);
        if scores {
            self.value("q_score", Each::Action, "each action's score for the mover", score);
        }
        let about = match scores {
            true => "1 for every move with the best score",
            false => {
                "1 for every move as good as any: the best outcome, won soonest or lost latest as far as that is known"
            }
        };
        self.flags("optimal", about, |example, value| {
            i8::from(example.is_optimal(value) && example.is_proven())
        });
        let about = "1 for every move that keeps the outcome";
        self.flags("result_kept", about, |example, value| {
            i8::from(example.keeps_outcome(value) && example.is_proven())
        });
        let of = if scores { "scores" } else { "outcomes" };
        let about = match temperature {
            None => "the same probability for every move of `optimal`".to_string(),
            Some(t) => format!("softmax of the moves' exact {of} / {t} over the legal moves"),
        };
        let about = about + ", 0 elsewhere; all 0 where there is no move or not all is proven";
        let actions = self.actions.clone();
        self.add("policy", (F32, &actions), about, |encoder, example, _, out| {
            encoder.policy(example, out);
        });
        let about = "1 if the value and those of all moves are proven";
        self.add("proven", (U8, &[]), about, |_, example, _, out| {
            out.push(u8::from(example.is_proven()));
        });
        let about = "how many actual positions the example stands for";
        self.add("weight", (F32, &[]), about, |_, example, _, out| {
            out.extend(example.weight.to_le_bytes());
        });
        if splits {
            let about = "0 train, 1 validation, 2 test";
            self.add("split", (U8, &[]), about, |_, _, split, out| out.push(split.index() as u8));
        }
    }

    /// Adds the columns of bounds.
    fn bounds(&mut self) {
        type Bounds = [fn(&Example, Value) -> i8; 2];
        let outcomes: Bounds =
            [|_, value| value.lower.outcome().value(), |_, value| value.upper.outcome().value()];
        let scores: Bounds = [|_, value| value.lower.score().0, |_, value| value.upper.score().0];
        let has_scores = self.shape.scores;
        let mut both = |names: [&'static str; 2], each, of, bounds: Bounds| {
            self.value(names[0], each, &format!("the least that {of} can be"), bounds[0]);
            self.value(names[1], each, &format!("the most that {of} can be"), bounds[1]);
        };
        both(["lower", "upper"], Each::Position, "the outcome", outcomes);
        if has_scores {
            both(["score_lower", "score_upper"], Each::Position, "the score", scores);
        }
        both(["q_lower", "q_upper"], Each::Action, "each action's outcome", outcomes);
        if has_scores {
            let names = ["q_score_lower", "q_score_upper"];
            both(names, Each::Action, "each action's score", scores);
        }
    }
}

/// Returns type, shape and description of the planes of a layout.
fn planes_of(game: &dyn Rules, layout: Layout) -> (Scalar, Vec<u64>, String) {
    let none = |_| Encoding::of(Layout::Nchw, &[], game.shape());
    let encoding = Encoding::of_rules(game, layout, None).unwrap_or_else(none);
    let planes = match Plane::own(game) {
        Some(_) => game.plane_kinds().names(),
        None => encoding.planes.iter().map(Plane::to_string).collect(),
    };
    let others = game.plane_kinds().others.len();
    let planes = match others {
        0 => planes.join("; "),
        count => format!("{count} planes of the listed game"),
    };
    let about = format!("the position as its mover sees it, as {layout}: {planes}");
    let scalar = match layout {
        _ if others > 0 => Scalar::F32,
        Layout::Signed => Scalar::I8,
        _ => Scalar::U8,
    };
    (scalar, encoding.shape.iter().map(|&n| n as u64).collect(), about)
}

/// Returns every column that an export of this shape can have.
pub fn all_columns(game: &dyn Rules, shape: &TargetShape) -> Vec<TargetColumn> {
    let actions = vec![game.action_count() as u64];
    let mut list = List { columns: Vec::new(), shape, actions };
    list.position(game);
    list.values();
    if shape.bounds {
        list.bounds();
    }
    // A name, its value and two separators for each move; no built-in game has a position with 600 moves.
    let longest = 12 * game.action_count().min(600);
    let about = "every legal move with its exact score, in games without scores its outcome; ? if not proven";
    list.add("moves", (Scalar::Text(longest), &[]), about, |encoder, example, _, out| {
        encoder.moves(example, out);
    });
    list.columns
}
