//! Capabilities: optional features of a game, one trait each, offered by methods of [`Game`](super::Game).
//! `S` is the game's state, `K` its key.

use super::shogi::{Board, Variant};
use super::{
    Action, Drawn, Empties, End, Group, MoveSquares, NotationError, PieceKind, PlaneKinds,
    Position, Score, Side, Symmetry,
};

/// Layers of a game in which every move leads to a later layer, except that a pass may stay. Such a game is
/// enumerated and solved layer by layer.
pub trait Layers<S>: Sync {
    /// Returns the plural of the thing a layer counts: `discs`.
    fn unit(&self) -> &'static str;

    /// Returns the layer of a state.
    fn layer_of(&self, state: &S) -> u32;
}

/// Scores of a game: results finer than win, draw and loss.
pub trait Scores<S>: Sync {
    /// Returns the largest score with which the game can end.
    fn most(&self) -> Score;

    /// Returns the mover's score if the game ended in `state`; its sign is the outcome.
    fn score_of(&self, state: &S, empties: Empties) -> Score;

    /// Returns the singular of the thing the score counts: `disc`.
    fn unit(&self) -> &'static str {
        "point"
    }
}

/// Numbering of states without gaps. Every state reachable from the start has a rank.
///
/// In a layered game ranks ascend with the layers. In any other game a table indexed by rank can store three
/// ends only: a loss, a draw, and a win in one ply. A game with other ends is enumerated by keys.
pub trait Ranks<S>: Sync {
    /// Returns the number of ranks.
    fn count(&self) -> u32;

    /// Returns the rank of a state, equal for all its images; `None` if it has none.
    fn rank_of(&self, state: &S) -> Option<u32>;

    /// Returns the state of a rank; `None` if `rank` is not below [`Ranks::count`].
    fn state_of(&self, rank: u32) -> Option<S>;

    /// Appends the ranks of the states from which one move leads to the state of `rank`, each once. They may
    /// include unreachable states and may leave out terminal ones. Not called for layered games.
    fn predecessors(&self, rank: u32, before: &mut Vec<u32>);

    /// Returns moves between ranks, if they can be made faster than through states.
    fn moves(&self) -> Option<&dyn RankedMoves> {
        None
    }
}

/// Moves of a game between the ranks of its states. Every rank passed in is below [`RankedMoves::ranks`].
pub trait RankedMoves: Sync {
    /// Returns the number of ranks.
    fn ranks(&self) -> u32;

    /// Fills `after` with one entry for each move: the rank of the successor, and the end of the game there
    /// for the player to move in it. Leaves it empty if the game is over.
    fn successors(&self, rank: u32, after: &mut Vec<(u32, Option<End>)>);

    /// Returns the end of the game in a state, for its mover. If it returns `None`, `ends` contains the end
    /// after each move, for the player to move there; moves that lead to the same state may count once.
    fn ends(&self, rank: u32, ends: &mut Vec<Option<End>>) -> Option<End>;

    /// Appends the same ranks as [`Ranks::predecessors`].
    fn predecessors(&self, rank: u32, before: &mut Vec<u32>);
}

/// Symmetries of the board, under which states are folded.
pub trait Symmetries<S>: Sync {
    /// Returns the group of symmetries.
    fn all(&self) -> &Group;

    /// Returns the image of a state under a symmetry.
    fn image_of(&self, state: &S, symmetry: Symmetry) -> S;

    /// Returns the action that corresponds to `action` in the image of the state.
    fn image_of_action(&self, action: Action, symmetry: Symmetry) -> Action;
}

/// Sides in keys: a table distinguishes who is to move in a state, because infinite play counts as a win for
/// the second player.
pub trait Sides<K>: Sync {
    /// Adds the side to move to a canonical key.
    fn tag(&self, key: K, side: Side) -> K;

    /// Returns the side to move in a key.
    fn side_of(&self, key: K) -> Side;
}

/// Ends known before they are played out, checks, and the words for both.
pub trait Ends<S>: Sync {
    /// Returns the end of the game for the mover, with the plies still to be played. Its outcome equals
    /// [`Game::result`](super::Game::result).
    fn end_of(&self, state: &S) -> Option<End>;

    /// Returns why the game has ended, such as `Black is mated`; `None` while it goes on.
    fn words_of(&self, position: &Position<S>) -> Option<String>;

    /// Returns `true` if the mover's king is attacked.
    fn is_check(&self, state: &S) -> bool;
}

/// States that consist only of the squares held by the mover and by the opponent, as bits
/// `row * columns + column`.
pub trait Bitboards<S>: Sync {
    /// Returns the squares of the mover and of the opponent.
    fn held(&self, state: &S) -> (u64, u64);

    /// Returns the state in which mover and opponent hold these squares; `None` if there is none.
    fn state_with(&self, own: u64, other: u64) -> Option<S>;

    /// Returns `true` if the built-in square weights, which are Othello's, fit the board.
    fn has_square_weights(&self) -> bool {
        false
    }
}

/// Boards of the shogi family, used by the mate search.
pub trait ShogiBoards<S>: Sync {
    /// Returns the variant whose rules the game has.
    fn variant(&self) -> Variant;

    /// Returns the board of a state, with the action numbers of [`Shogi`](super::shogi::Shogi).
    fn board_of(&self, state: &S) -> Board;
}

/// Planes, the input of networks: one grid of the board for each kind of piece.
pub trait Planes<S>: Sync {
    /// Returns the kinds of pieces that have planes.
    fn kinds(&self) -> PlaneKinds;

    /// Writes a state as planes, as its mover sees it: plane `p` has square (`row`, `column`) at
    /// `out[p * rows * columns + row * columns + column]`. `out` has exactly the length of all planes and is
    /// overwritten completely.
    fn write(&self, state: &S, out: &mut [u8]);

    /// Returns the state that has these planes; `None` if none has.
    fn read(&self, planes: &[u8]) -> Option<S>;
}

/// Drawing of a board, for games where it does not follow from [`Bitboards`] and the action numbers.
pub trait Drawing<S>: Sync {
    /// Returns the contents of each square.
    fn drawn_of(&self, _position: &Position<S>) -> Option<Drawn> {
        None
    }

    /// Returns the kinds of pieces on the board; empty if there is only one.
    fn kinds(&self) -> Vec<PieceKind> {
        Vec::new()
    }

    /// Returns the squares of an action of `side`, numbered as in [`Drawn`].
    fn squares_of(&self, _side: Side, _action: Action) -> Option<MoveSquares> {
        None
    }

    /// Returns the names of the columns from the left and of the rows from the top, as the first player sees
    /// the board, if they are not `a`, `b`… and `1`, `2`….
    fn axes(&self) -> Option<[Vec<String>; 2]> {
        None
    }

    /// Returns the board as rows of text.
    fn text_of(&self, _position: &Position<S>) -> Option<String> {
        None
    }
}

/// Names of sides and actions.
pub trait Names: Sync {
    /// Returns the name of the game for headings.
    fn title(&self) -> String;

    /// Returns the names of the first and the second player.
    fn sides(&self) -> [&'static str; 2] {
        ["First", "Second"]
    }

    /// Returns the marks of the two players in diagrams.
    fn marks(&self) -> Option<[&'static str; 2]> {
        None
    }

    /// Returns the usual name of an action of `side`: `c4`, `pass`. Actions are numbered from the mover's
    /// view, while their names may be from the first player's.
    fn of_action(&self, _side: Side, action: Action) -> String {
        action.0.to_string()
    }

    /// Returns the meanings of keys and actions, in words, by name; also any limitation of a table's values.
    fn conventions(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// Notations of positions. Without them a position is written as its key and the side to move, and moves are
/// read by their names.
pub trait Notations<S>: Sync {
    /// Returns the position in every one-line notation, each with its name, the usual one first.
    fn written(&self, position: &Position<S>) -> Vec<(&'static str, String)>;

    /// Reads a position in any notation, or a transcript played from `from`. Returns all positions of a
    /// transcript: its start and the position after each move, including passes that it leaves out. Never
    /// empty.
    fn read(&self, text: &str, from: &Position<S>) -> Result<Vec<Position<S>>, NotationError>;
}
