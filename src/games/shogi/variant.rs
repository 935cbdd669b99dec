//! Description of a game of the shogi family: its board, its pieces, and the rules in which the games differ.
//!
//! A variant is plain data and the only input of the engine ([`Shogi`](super::Shogi)), so adding a game of
//! the family means describing it here.

use crate::rules::{Repetition, RepetitionRule};

/// Maximum number of squares of a board.
pub const MAX_SQUARES: usize = 25;
/// Maximum number of kinds of pieces that can be held in hand.
pub const MAX_HAND_KINDS: usize = 5;
/// Maximum number of kinds of pieces, including promoted ones.
pub(super) const MAX_KINDS: usize = 15;
/// Maximum number of pieces of both sides together, without the kings.
pub(super) const MAX_PIECES: usize = 12;

/// Set of the eight directions as the piece's owner sees the board: bit 0 is straight ahead, and the others
/// follow clockwise.
pub(super) type Directions = u8;

/// Directions in which pieces move.
pub mod towards {
    use super::Directions;

    /// Straight ahead.
    pub const AHEAD: Directions = 1;
    /// Ahead, back and to both sides.
    pub const STRAIGHT: Directions = 0b0101_0101;
    /// The four diagonals.
    pub const DIAGONAL: Directions = 0b1010_1010;
    /// All eight.
    pub const ALL: Directions = 0xff;
    /// Directions of a gold general: all but the diagonals that lead back.
    pub const GOLD: Directions = 0b1101_0111;
    /// Directions of a silver general: the diagonals, and straight ahead.
    pub const SILVER: Directions = DIAGONAL | AHEAD;
    /// No direction.
    pub const NONE: Directions = 0;
}

/// Kind of piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// English name.
    pub name: &'static str,
    /// Letter in SFEN, a capital; a promoted kind has the letter of its unpromoted kind.
    pub letter: char,
    /// Japanese name, in one character.
    pub japanese: char,
    /// Directions in which it moves one square.
    pub steps: Directions,
    /// Directions in which it moves any number of squares.
    pub slides: Directions,
    /// Kind to which it promotes.
    pub promotes_to: Option<usize>,
    /// Kind that it becomes in the hand of the player who captures it.
    pub in_hand: usize,
    /// Value to a player who counts material.
    pub value: i32,
}

/// Rule of promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promotion {
    /// The player may promote when a move begins or ends on the last rank; a piece that could not move again
    /// must promote.
    Chosen,
    /// A piece that moves to the last rank must promote.
    Forced,
}

/// Restrictions on drops. A drop always goes to an empty square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drops {
    /// `true` if a piece may be dropped where it can never move.
    pub immobile: bool,
    /// `true` if two pawns of a player may be on one file. A pawn is a piece that only steps straight ahead.
    pub two_pawns: bool,
    /// `true` if dropping a pawn may give mate.
    pub pawn_mate: bool,
}

/// Rule by which the game ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A player without a move that leaves the king unattacked loses.
    Mate,
    /// Kings are captured, and win by reaching the last rank (*try*). The game ends before the capture: the
    /// mover has won if the opponent's king can be captured, and otherwise has lost if that king is on the
    /// mover's home rank (as in Tanaka 2009).
    Adjudicated,
    /// Like [`Ending::Adjudicated`], but captures of the king are played as moves: the game ends when a king
    /// has been captured, or is on its last rank and cannot be captured, whichever side is to move.
    Played,
}

/// Game of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Name of the game, such as `minishogi`.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Number of ranks.
    pub rows: usize,
    /// Number of files.
    pub columns: usize,
    /// Kinds of pieces: first the king, then those that can be held in hand, in the reverse order of SFEN's
    /// hands, then the promoted ones.
    pub kinds: &'static [Kind],
    /// Number of pieces of each kind except the king, both sides together.
    pub copies: u8,
    /// Initial position, in SFEN.
    pub start: &'static str,
    /// Rule of promotion.
    pub promotion: Promotion,
    /// Restrictions on drops.
    pub drops: Drops,
    /// Rule by which the game ends.
    pub ending: Ending,
    /// Rule by which a repeated position ends a game.
    pub repetition: RepetitionRule,
    /// `true` if tables distinguish the side to move, because infinite play favours one side.
    pub keeps_sides: bool,
    /// Version of the rules' code, raised whenever a change could change a table.
    pub rules_version: u32,
}

const fn kind(
    name: &'static str,
    letter: char,
    japanese: char,
    steps: Directions,
    slides: Directions,
    in_hand: usize,
    value: i32,
) -> Kind {
    Kind { name, letter, japanese, steps, slides, promotes_to: None, in_hand, value }
}

const fn promoting(kind: Kind, promotes_to: usize) -> Kind {
    Kind { promotes_to: Some(promotes_to), ..kind }
}

const MINISHOGI_KINDS: [Kind; 10] = {
    use towards::*;
    [
        kind("king", 'K', '玉', ALL, NONE, 0, 0),
        promoting(kind("pawn", 'P', '歩', AHEAD, NONE, 1, 1), 6),
        promoting(kind("silver", 'S', '銀', SILVER, NONE, 2, 5), 7),
        kind("gold", 'G', '金', GOLD, NONE, 3, 6),
        promoting(kind("bishop", 'B', '角', NONE, DIAGONAL, 4, 8), 8),
        promoting(kind("rook", 'R', '飛', NONE, STRAIGHT, 5, 10), 9),
        kind("promoted pawn", 'P', 'と', GOLD, NONE, 1, 7),
        kind("promoted silver", 'S', '全', GOLD, NONE, 2, 6),
        kind("horse", 'B', '馬', STRAIGHT, DIAGONAL, 4, 10),
        kind("dragon", 'R', '龍', DIAGONAL, STRAIGHT, 5, 12),
    ]
};

/// Shogi on 5×5 squares (Kusumoto, about 1970).
pub const MINISHOGI: Variant = Variant {
    name: "minishogi",
    title: "Minishogi",
    rows: 5,
    columns: 5,
    kinds: &MINISHOGI_KINDS,
    copies: 2,
    start: "rbsgk/4p/5/P4/KGSBR b - 1",
    promotion: Promotion::Chosen,
    drops: Drops { immobile: false, two_pawns: false, pawn_mate: false },
    ending: Ending::Mate,
    repetition: RepetitionRule {
        occurrence: 4,
        result: Repetition::SecondPlayerWins,
        perpetual_check_loses: true,
    },
    keeps_sides: true,
    rules_version: 1,
};

const ANIMAL_KINDS: [Kind; 5] = {
    use towards::*;
    [
        kind("lion", 'L', '獅', ALL, NONE, 0, 0),
        promoting(kind("chick", 'C', '雛', AHEAD, NONE, 1, 1), 4),
        kind("elephant", 'E', '象', DIAGONAL, NONE, 2, 3),
        kind("giraffe", 'G', '麒', STRAIGHT, NONE, 3, 3),
        kind("hen", 'C', '鶏', GOLD, NONE, 1, 4),
    ]
};

/// Dōbutsu shōgi on 3×4 squares (Kitao and Fujita, 2008).
pub const ANIMAL_SHOGI: Variant = Variant {
    name: "animal-shogi",
    title: "Animal shogi",
    rows: 4,
    columns: 3,
    kinds: &ANIMAL_KINDS,
    copies: 2,
    start: "gle/1c1/1C1/ELG b - 1",
    promotion: Promotion::Forced,
    drops: Drops { immobile: true, two_pawns: true, pawn_mate: true },
    ending: Ending::Adjudicated,
    repetition: RepetitionRule {
        occurrence: 3,
        result: Repetition::Draw,
        perpetual_check_loses: false,
    },
    keeps_sides: false,
    rules_version: 1,
};

const SMALL_ANIMAL_KINDS: [Kind; 4] = {
    use towards::*;
    [
        kind("lion", 'L', '獅', ALL, NONE, 0, 0),
        promoting(kind("chick", 'C', '雛', AHEAD, NONE, 1, 1), 3),
        kind("elephant", 'E', '象', DIAGONAL, NONE, 2, 3),
        kind("hen", 'C', '鶏', GOLD, NONE, 1, 4),
    ]
};

/// Dōbutsu shōgi on 3×3 squares without giraffes: any method solves it in a moment.
pub const SMALL_ANIMAL_SHOGI: Variant = Variant {
    name: "animal-shogi-3x3",
    title: "Animal shogi on 3x3",
    rows: 3,
    columns: 3,
    kinds: &SMALL_ANIMAL_KINDS,
    start: "elc/3/CLE b - 1",
    ..ANIMAL_SHOGI
};

/// All named variants.
pub const VARIANTS: [&Variant; 3] = [&MINISHOGI, &ANIMAL_SHOGI, &SMALL_ANIMAL_SHOGI];

impl Variant {
    /// Returns the number of squares.
    pub const fn squares(&self) -> usize {
        self.rows * self.columns
    }

    /// Returns the left-right mirror image of a square.
    pub fn mirrored(&self, square: usize) -> usize {
        square - square % self.columns + (self.columns - 1 - square % self.columns)
    }

    /// Returns the number of kinds that can be held in hand: the kinds 1 to this number.
    pub fn hand_kinds(&self) -> usize {
        self.kinds.iter().enumerate().filter(|(i, kind)| *i > 0 && kind.in_hand == *i).count()
    }

    /// Returns `true` for a promoted kind.
    pub fn is_promoted(&self, kind: usize) -> bool {
        self.kinds[kind].in_hand != kind
    }

    /// Returns `true` for a pawn: a piece that only steps straight ahead.
    pub fn is_pawn(&self, kind: usize) -> bool {
        self.kinds[kind].steps == towards::AHEAD && self.kinds[kind].slides == towards::NONE
    }

    /// Returns the variant of a name.
    pub fn named(name: &str) -> Option<&'static Variant> {
        VARIANTS.into_iter().find(|variant| variant.name == name)
    }
}
