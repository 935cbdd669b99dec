//! What a game can have besides its rules, a trait for each; [`Game`](super::Game) hands out those it has.
//! `S` is the game's state, `K` its key.

use super::shogi::{Board, Variant};
use super::{
    Action, Drawn, Empties, End, Group, MoveSquares, NotationError, PieceKind, PlaneKinds,
    Position, Score, Side, Symmetry,
};

/// Layers: every move leads to a later one, and only a pass may stay in its layer. The game is enumerated
/// and solved layer by layer.
pub trait Layers<S>: Sync {
    /// What a layer counts, in the plural: `discs`.
    fn unit(&self) -> &'static str;

    /// The layer of a state.
    fn layer_of(&self, state: &S) -> u32;
}

/// Scores: results finer than win, draw and loss.
pub trait Scores<S>: Sync {
    /// The largest score the game can end with.
    fn most(&self) -> Score;

    /// The mover's final score were the game to end here; its sign is the outcome.
    fn score_of(&self, state: &S, empties: Empties) -> Score;

    /// What the score counts, in the singular: `disc`.
    fn unit(&self) -> &'static str {
        "point"
    }
}

/// Ranks: numbers of the states without gaps. Every state that can be reached from the start has one.
///
/// In a layered game ranks ascend with the layers. A table by rank of another has no room for ends other than
/// a loss, a draw, and a win in one ply: games that end otherwise are enumerated by keys.
pub trait Ranks<S>: Sync {
    /// How many ranks there are.
    fn count(&self) -> u32;

    /// The rank of a state, the same for all its images; `None` if it has none.
    fn rank_of(&self, state: &S) -> Option<u32>;

    /// The state of a rank; `None` if there are not so many.
    fn state_of(&self, rank: u32) -> Option<S>;

    /// Appends the ranks of the states from which one move leads to that of `rank`, each once; some of
    /// them may not be reachable, and those in which the game is over may be left out. Not asked of layered
    /// games.
    fn predecessors(&self, rank: u32, before: &mut Vec<u32>);

    /// Moves from rank to rank, where they can be made by a shorter way than over states.
    fn moves(&self) -> Option<&dyn RankedMoves> {
        None
    }
}

/// The moves of a game over the ranks of its states. Ranks that are asked about are below
/// [`RankedMoves::ranks`].
pub trait RankedMoves: Sync {
    /// How many ranks there are.
    fn ranks(&self) -> u32;

    /// Fills `after` with the rank to which each move of a state leads, and how the game has ended
    /// there, for its mover. Nothing where the game is over.
    fn successors(&self, rank: u32, after: &mut Vec<(u32, Option<End>)>);

    /// How the game has ended in a state, for its mover; with `None` fills `ends` with how it has
    /// ended after each move. Moves that lead to one state are one.
    fn ends(&self, rank: u32, ends: &mut Vec<Option<End>>) -> Option<End>;

    /// Appends what [`Ranks::predecessors`] appends.
    fn predecessors(&self, rank: u32, before: &mut Vec<u32>);
}

/// Symmetries of the board, under which states are folded.
pub trait Symmetries<S>: Sync {
    /// The symmetries themselves.
    fn all(&self) -> &Group;

    /// The image of a state under a symmetry.
    fn image_of(&self, state: &S, symmetry: Symmetry) -> S;

    /// The action that does in the image of a state what `action` does in the state.
    fn image_of_action(&self, action: Action, symmetry: Symmetry) -> Action;
}

/// Sides in keys: a table tells apart whose move it is in a state, because infinite play counts as won by
/// the second player.
pub trait Sides<K>: Sync {
    /// The canonical key of a state with the side to move in it.
    fn tag(&self, key: K, side: Side) -> K;

    /// The side to move in a key.
    fn side_of(&self, key: K) -> Side;
}

/// Ends that are known before they are played, checks, and words for both.
pub trait Ends<S>: Sync {
    /// The end of the game for the mover, with the plies that still belong to it; of the outcome that
    /// [`Game::result`](super::Game::result) has.
    fn end_of(&self, state: &S) -> Option<End>;

    /// Why the game has ended, in words such as `Black is mated`; `None` while it goes on.
    fn words_of(&self, position: &Position<S>) -> Option<String>;

    /// True if the mover's king is attacked.
    fn is_check(&self, state: &S) -> bool;
}

/// Bitboards: a state is the squares that the mover and the opponent hold, bit `row * columns + column`
/// each, and nothing more.
pub trait Bitboards<S>: Sync {
    /// The squares of the mover and of the opponent.
    fn held(&self, state: &S) -> (u64, u64);

    /// The state in which mover and opponent hold these squares; `None` if there is none.
    fn state_with(&self, own: u64, other: u64) -> Option<S>;

    /// True if the built-in square weights, which are Othello's, fit the board.
    fn has_square_weights(&self) -> bool {
        false
    }
}

/// Boards of the shogi family, which the mate search goes by.
pub trait ShogiBoards<S>: Sync {
    /// The variant whose rules the game has.
    fn variant(&self) -> Variant;

    /// The board of a state. Its actions have the numbers that they have in [`Shogi`](super::shogi::Shogi).
    fn board_of(&self, state: &S) -> Board;
}

/// Planes: one grid of the board for every kind of piece, which is how networks see a state.
pub trait Planes<S>: Sync {
    /// The kinds of pieces that have planes.
    fn kinds(&self) -> PlaneKinds;

    /// Writes a state as planes, as its mover sees it: number `row * columns + column` of plane `p`
    /// is `out[p * rows * columns + row * columns + column]`. `out` has room for all planes and
    /// nothing else; all of it is written.
    fn write(&self, state: &S, out: &mut [u8]);

    /// The state that has these planes; `None` if none has.
    fn read(&self, planes: &[u8]) -> Option<S>;
}

/// Drawing of a board, where it does not follow from [`Bitboards`] and the numbers of actions.
pub trait Drawing<S>: Sync {
    /// Contents of each square.
    fn drawn_of(&self, _position: &Position<S>) -> Option<Drawn> {
        None
    }

    /// Kinds of pieces on the board; empty if there is only one.
    fn kinds(&self) -> Vec<PieceKind> {
        Vec::new()
    }

    /// The squares of an action of `side`, numbered as those of [`Drawn`].
    fn squares_of(&self, _side: Side, _action: Action) -> Option<MoveSquares> {
        None
    }

    /// Names of the board's columns from the left and of its rows from the top, as the first player
    /// sees it, where they are not `a`, `b`… and `1`, `2`….
    fn axes(&self) -> Option<[Vec<String>; 2]> {
        None
    }

    /// The board as rows of text.
    fn text_of(&self, _position: &Position<S>) -> Option<String> {
        None
    }
}

/// Names of sides and actions.
pub trait Names: Sync {
    /// The name of the game in a heading.
    fn title(&self) -> String;

    /// The names of the first and the second player.
    fn sides(&self) -> [&'static str; 2] {
        ["First", "Second"]
    }

    /// Their marks in diagrams.
    fn marks(&self) -> Option<[&'static str; 2]> {
        None
    }

    /// The name of an action of `side` as people write it: `c4`, `pass`. Actions are those of the
    /// mover, while people may name squares from one player's seat.
    fn of_action(&self, _side: Side, action: Action) -> String {
        action.0.to_string()
    }

    /// Meaning of keys and actions, in words, by name; and what the values of a table leave out.
    fn conventions(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// Notations of positions. Without them a position is its key and the side to move, and moves are read by
/// their names.
pub trait Notations<S>: Sync {
    /// The position in every one-line notation, each with its name, the usual one first.
    fn written(&self, position: &Position<S>) -> Vec<(&'static str, String)>;

    /// Reads a position in any notation, or a transcript played from `from`; of a transcript every
    /// position: first where it begins, then after each move, passes that are left out among them.
    /// Never empty.
    fn read(&self, text: &str, from: &Position<S>) -> Result<Vec<Position<S>>, NotationError>;
}
