//! What a game of the shogi family is: its board, its pieces, and the rules in which games differ.
//!
//! A variant is plain data. The engine ([`Shogi`](super::Shogi)) reads nothing else, so a game of
//! the family is added by describing it here.

/// The most squares a board has.
pub const MAX_SQUARES: usize = 25;
/// The most kinds of pieces that can be held in hand.
pub const MAX_HAND_KINDS: usize = 5;
/// The most kinds of pieces, promoted ones among them.
pub(super) const MAX_KINDS: usize = 15;
/// The most pieces of both sides together but the kings.
pub(super) const MAX_PIECES: usize = 12;

/// A set of the eight directions as their owner sees the board: bit 0 is straight ahead, and the
/// others follow clockwise.
pub(super) type Directions = u8;

/// The directions of the pieces' moves.
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
    /// A gold general's: all but the diagonals that lead back.
    pub const GOLD: Directions = 0b1101_0111;
    /// A silver general's: the diagonals, and straight ahead.
    pub const SILVER: Directions = DIAGONAL | AHEAD;
    /// Nowhere.
    pub const NONE: Directions = 0;
}

/// A kind of piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// What it is called.
    pub name: &'static str,
    /// Its letter in SFEN, a capital; a promoted kind has the letter of what it was.
    pub letter: char,
    /// Its Japanese name, in one character.
    pub japanese: char,
    /// Where it goes one square.
    pub steps: Directions,
    /// Where it goes any number of squares.
    pub slides: Directions,
    /// The kind it promotes to.
    pub promotes_to: Option<usize>,
    /// The kind it is in the hand of who captures it.
    pub in_hand: usize,
    /// What it is worth to a player who counts material.
    pub value: i32,
}

/// When pieces promote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promotion {
    /// When a move begins or ends on the last rank the player may promote; a piece that could not
    /// move again must.
    Chosen,
    /// A piece that moves to the last rank must.
    Forced,
}

/// What may not be dropped where. A drop always goes to an empty square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drops {
    /// A piece may be dropped where it can never move.
    pub immobile: bool,
    /// Two pawns of a player may stand on one file. A pawn is what steps straight ahead and nowhere
    /// else.
    pub two_pawns: bool,
    /// A pawn may be dropped to give mate.
    pub pawn_mate: bool,
}

/// How the game ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A player who has no move that leaves the king unattacked has lost.
    Mate,
    /// Kings are captured, and win by reaching the last rank (*try*). Adjudicated: a game is over,
    /// won, when the mover could capture the king, and otherwise over, lost, when the opponent's
    /// king stands on the mover's home rank. (Tanaka 2009 counts so.)
    Adjudicated,
    /// The same with captures of the king played as moves: a game is over when a king has been
    /// captured, or stands on its last rank where it cannot be captured, whoever is to move.
    Played,
}

/// A game of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name, `minishogi`.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// How many ranks the board has.
    pub rows: usize,
    /// How many files it has.
    pub columns: usize,
    /// The kinds: first the king, then those that can be held in hand, in the order in which SFEN
    /// lists hands backwards, then the promoted ones.
    pub kinds: &'static [Kind],
    /// How many of each kind but the king there are, both sides together.
    pub copies: u8,
    /// Where it starts, in SFEN.
    pub start: &'static str,
    /// When pieces promote.
    pub promotion: Promotion,
    /// What may not be dropped.
    pub drops: Drops,
    /// How the game ends.
    pub ending: Ending,
    /// Whether a table keeps the side to move, because endless play favours one side.
    pub keeps_sides: bool,
    /// Raised whenever a change of the rules' code could change a table.
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

/// The same on 3×3 squares without giraffes: small enough to be solved in a moment, by any method.
pub const SMALL_ANIMAL_SHOGI: Variant = Variant {
    name: "animal-shogi-3x3",
    title: "Animal shogi on 3x3",
    rows: 3,
    columns: 3,
    kinds: &SMALL_ANIMAL_KINDS,
    start: "elc/3/CLE b - 1",
    ..ANIMAL_SHOGI
};

/// Every variant there is, by name.
pub const VARIANTS: [&Variant; 3] = [&MINISHOGI, &ANIMAL_SHOGI, &SMALL_ANIMAL_SHOGI];

impl Variant {
    /// How many squares the board has.
    pub const fn squares(&self) -> usize {
        self.rows * self.columns
    }

    /// A square's left-right mirror image.
    pub fn mirrored(&self, square: usize) -> usize {
        square - square % self.columns + (self.columns - 1 - square % self.columns)
    }

    /// How many kinds can be held in hand; they are the kinds 1 to this.
    pub fn hand_kinds(&self) -> usize {
        self.kinds.iter().enumerate().filter(|(i, kind)| *i > 0 && kind.in_hand == *i).count()
    }

    /// Whether a kind is one that another promotes to.
    pub fn is_promoted(&self, kind: usize) -> bool {
        self.kinds[kind].in_hand != kind
    }

    /// Whether a kind is a pawn: it steps straight ahead and nowhere else.
    pub fn is_pawn(&self, kind: usize) -> bool {
        self.kinds[kind].steps == towards::AHEAD && self.kinds[kind].slides == towards::NONE
    }

    /// The variant of a name.
    pub fn named(name: &str) -> Option<&'static Variant> {
        VARIANTS.into_iter().find(|variant| variant.name == name)
    }
}
