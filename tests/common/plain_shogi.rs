//! Minishogi, animal shogi and a 3x3 game of its family square by square, and a solver of a few lines, as a
//! reference for the crate's results.
//!
//! Uses nothing of the crate. The board is absolute: row 0 is rank 'a', which the first player moves up to,
//! and column 0 is the leftmost, the highest file.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Minishogi; mate by a pawn drop is forbidden.
    Minishogi,
    /// Minishogi with mates by a pawn drop allowed.
    MinishogiWithDropMates,
    /// Animal shogi, and the 3x3 game, as Tanaka counts positions: a position is over, and won, when its
    /// mover can capture the lion; otherwise it is over, and lost, when the enemy lion stands on the mover's
    /// home rank. No lion is ever captured.
    Adjudicated,
    /// Animal shogi as it is played, the try resolved at once. The game is over as soon as
    ///
    /// - a lion has been captured, or
    /// - a lion, of either side and whoever is to move, stands on its last rank where no enemy piece could
    ///   capture it. Its owner has won.
    ///
    /// A lion that goes to the last rank where it can be captured does not end the game. If it survives, it
    /// has not won by that alone either: the game goes on, and ends once nothing attacks the lion any more,
    /// be it through its opponent's next move, with the lion's owner to move, or through a later move of
    /// either. Three similar readings give other counts of sequences of 7 plies than 643,982: surviving one
    /// reply wins (635,117); only a lion whose opponent is to move is examined (645,705); a lion wins by
    /// arriving, attacked or not (623,381).
    ///
    /// Two lions may become safe by one move; the counts do not show who has won. Here the last side to move
    /// has.
    Played,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    First,
    Second,
}

/// Kinds in the order in which a hand is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    King,
    Rook,
    Bishop,
    Gold,
    Silver,
    Pawn,
    Lion,
    Giraffe,
    Elephant,
    Chick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub side: Side,
    pub kind: Kind,
    pub promoted: bool,
}

/// Row and column.
pub type Square = (usize, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Board { from: Square, to: Square, promotes: bool },
    Drop { kind: Kind, to: Square },
}

/// Reason why a position has no moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The mover can capture the lion, and has won.
    Catch,
    /// The enemy lion is on the mover's home rank, and the mover has lost.
    Try,
    /// The mover's lion has been captured, and the mover has lost.
    Caught,
    /// The mover's lion is safe on the last rank, and the mover has won.
    Safe,
    /// The mover cannot move, and has lost: in minishogi this is mate.
    Stuck,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub rules: Rules,
    pub rows: usize,
    pub columns: usize,
    /// Squares row by row.
    pub board: Vec<Option<Piece>>,
    /// Hands of the first and the second player, each in the order of `Kind`.
    pub hands: [Vec<Kind>; 2],
    pub mover: Side,
}

pub const MINISHOGI: &str = "rbsgk/4p/5/P4/KGSBR b - 1";
pub const ANIMAL_SHOGI: &str = "gle/1c1/1C1/ELG b - 1";
pub const THREE_BY_THREE: &str = "elc/3/CLE b - 1";

/// Rows down and columns right, as the first player moves.
type Direction = (isize, isize);

const STRAIGHT: [Direction; 4] = [(-1, 0), (0, -1), (0, 1), (1, 0)];
const DIAGONAL: [Direction; 4] = [(-1, -1), (-1, 1), (1, -1), (1, 1)];
const GOLD: [Direction; 6] = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, 0)];
const SILVER: [Direction; 5] = [(-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 1)];

impl Rules {
    pub fn is_minishogi(self) -> bool {
        matches!(self, Rules::Minishogi | Rules::MinishogiWithDropMates)
    }

    /// Returns every kind of piece and its letter.
    fn letters(self) -> &'static [(Kind, char)] {
        if self.is_minishogi() {
            &[
                (Kind::King, 'K'),
                (Kind::Rook, 'R'),
                (Kind::Bishop, 'B'),
                (Kind::Gold, 'G'),
                (Kind::Silver, 'S'),
                (Kind::Pawn, 'P'),
            ]
        } else {
            &[(Kind::Lion, 'L'), (Kind::Giraffe, 'G'), (Kind::Elephant, 'E'), (Kind::Chick, 'C')]
        }
    }

    fn letter(self, kind: Kind) -> char {
        self.letters().iter().find(|&&(k, _)| k == kind).unwrap().1
    }

    /// Returns the piece that a letter, upper or lower case, stands for.
    fn piece(self, letter: char, promoted: bool) -> Piece {
        let mut letters = self.letters().iter();
        let found = letters.find(|(_, l)| *l == letter.to_ascii_uppercase());
        let (kind, _) = found.unwrap_or_else(|| panic!("invalid piece {letter} of {self:?}"));
        let side = if letter.is_ascii_uppercase() { Side::First } else { Side::Second };
        Piece { side, kind: *kind, promoted }
    }
}

impl Side {
    pub fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }
}

impl Piece {
    pub fn is_royal(self) -> bool {
        matches!(self.kind, Kind::King | Kind::Lion)
    }

    fn can_promote(self) -> bool {
        !self.promoted
            && matches!(
                self.kind,
                Kind::Rook | Kind::Bishop | Kind::Silver | Kind::Pawn | Kind::Chick
            )
    }

    /// Returns the steps of the piece and the directions in which it slides, for the first player.
    fn directions(self) -> (Vec<Direction>, Vec<Direction>) {
        let none = Vec::new();
        match (self.kind, self.promoted) {
            (Kind::King | Kind::Lion, false) => ([STRAIGHT, DIAGONAL].concat(), none),
            (Kind::Gold, false) => (GOLD.to_vec(), none),
            (Kind::Silver | Kind::Pawn | Kind::Chick, true) => (GOLD.to_vec(), none),
            (Kind::Silver, false) => (SILVER.to_vec(), none),
            (Kind::Pawn | Kind::Chick, false) => (vec![(-1, 0)], none),
            (Kind::Giraffe, false) => (STRAIGHT.to_vec(), none),
            (Kind::Elephant, false) => (DIAGONAL.to_vec(), none),
            (Kind::Bishop, false) => (none, DIAGONAL.to_vec()),
            (Kind::Rook, false) => (none, STRAIGHT.to_vec()),
            (Kind::Bishop, true) => (STRAIGHT.to_vec(), DIAGONAL.to_vec()),
            (Kind::Rook, true) => (DIAGONAL.to_vec(), STRAIGHT.to_vec()),
            (kind, true) => panic!("{kind:?} does not promote"),
        }
    }
}

impl Position {
    /// Reads an SFEN of any size of board. Its move number is required and ignored.
    pub fn read(rules: Rules, sfen: &str) -> Position {
        let fields: Vec<&str> = sfen.split(' ').collect();
        let [board, mover, hands, number] = fields[..] else {
            panic!("{sfen} has {} fields", fields.len())
        };
        number.parse::<u32>().unwrap_or_else(|_| panic!("{sfen} has no move number"));
        let mover = match mover {
            "b" => Side::First,
            "w" => Side::Second,
            _ => panic!("nobody moves in {sfen}"),
        };

        let mut rows: Vec<Vec<Option<Piece>>> = Vec::new();
        for rank in board.split('/') {
            let mut row = Vec::new();
            let mut promoted = false;
            for letter in rank.chars() {
                if letter == '+' {
                    promoted = true;
                } else if let Some(empty) = letter.to_digit(10) {
                    row.extend(vec![None; empty as usize]);
                } else {
                    row.push(Some(rules.piece(letter, promoted)));
                    promoted = false;
                }
            }
            rows.push(row);
        }
        let columns = rows[0].len();
        assert!(rows.iter().all(|row| row.len() == columns), "not a rectangle: {sfen}");

        let mut in_hand = [Vec::new(), Vec::new()];
        let mut count = None;
        for letter in hands.chars().filter(|&letter| letter != '-') {
            if let Some(digit) = letter.to_digit(10) {
                count = Some(digit);
            } else {
                let piece = rules.piece(letter, false);
                for _ in 0..count.take().unwrap_or(1) {
                    in_hand[piece.side as usize].push(piece.kind);
                }
            }
        }
        in_hand.iter_mut().for_each(|hand| hand.sort());
        Position { rules, rows: rows.len(), columns, board: rows.concat(), hands: in_hand, mover }
    }

    /// Returns the SFEN as move 1, with hands in the order R B G S P or G E C, the first player's first.
    pub fn sfen(&self) -> String {
        let letter = |side: Side, kind: Kind| match side {
            Side::First => self.rules.letter(kind),
            Side::Second => self.rules.letter(kind).to_ascii_lowercase(),
        };
        let mut ranks = Vec::new();
        for row in self.board.chunks(self.columns) {
            let mut rank = String::new();
            for run in row.chunk_by(|a, b| a.is_none() && b.is_none()) {
                match run[0] {
                    None => rank += &run.len().to_string(),
                    Some(piece) => {
                        rank += if piece.promoted { "+" } else { "" };
                        rank.push(letter(piece.side, piece.kind));
                    }
                }
            }
            ranks.push(rank);
        }

        let mut hands = String::new();
        for side in [Side::First, Side::Second] {
            for &(kind, _) in self.rules.letters() {
                let count = self.hands[side as usize].iter().filter(|&&held| held == kind).count();
                if count > 1 {
                    hands += &count.to_string();
                }
                if count > 0 {
                    hands.push(letter(side, kind));
                }
            }
        }
        if hands.is_empty() {
            hands.push('-');
        }
        let mover = if self.mover == Side::First { "b" } else { "w" };
        format!("{} {mover} {hands} 1", ranks.join("/"))
    }

    pub fn at(&self, (row, column): Square) -> Option<Piece> {
        self.board[row * self.columns + column]
    }

    fn put(&mut self, (row, column): Square, piece: Option<Piece>) {
        self.board[row * self.columns + column] = piece;
    }

    pub fn squares(&self) -> Vec<Square> {
        (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| (row, column))).collect()
    }

    /// Returns the row on which the pieces of a side promote, its opponent's home.
    fn last_row(&self, side: Side) -> usize {
        match side {
            Side::First => 0,
            Side::Second => self.rows - 1,
        }
    }

    /// Returns the squares that the piece on a square may go to, ignoring the safety of its king.
    fn destinations(&self, (row, column): Square) -> Vec<Square> {
        let piece = self.at((row, column)).expect("a piece to move");
        let (steps, slides) = piece.directions();
        let mut destinations = Vec::new();
        let directions = steps
            .into_iter()
            .map(|step| (step, false))
            .chain(slides.into_iter().map(|slide| (slide, true)));
        for ((down, right), slides) in directions {
            let down = if piece.side == Side::First { down } else { -down };
            let (mut r, mut c) = (row as isize + down, column as isize + right);
            while (0..self.rows as isize).contains(&r) && (0..self.columns as isize).contains(&c) {
                let square = (r as usize, c as usize);
                let occupant = self.at(square);
                if occupant.is_none_or(|other| other.side != piece.side) {
                    destinations.push(square);
                }
                if occupant.is_some() || !slides {
                    break;
                }
                r += down;
                c += right;
            }
        }
        destinations
    }

    /// Returns the square of a side's king or lion, if it has one.
    pub fn royal(&self, side: Side) -> Option<Square> {
        let is_royal = |piece: Piece| piece.side == side && piece.is_royal();
        self.squares().into_iter().find(|&square| self.at(square).is_some_and(is_royal))
    }

    /// Returns `true` if a side's king or lion could be captured if its opponent were to move.
    pub fn in_check(&self, side: Side) -> bool {
        let Some(royal) = self.royal(side) else { return false };
        self.squares().into_iter().any(|square| {
            self.at(square).is_some_and(|piece| piece.side != side)
                && self.destinations(square).contains(&royal)
        })
    }

    fn on_last_row(&self, side: Side) -> bool {
        self.royal(side).is_some_and(|(row, _)| row == self.last_row(side))
    }

    fn safe_on_last_row(&self, side: Side) -> bool {
        self.on_last_row(side) && !self.in_check(side)
    }

    /// Returns how the rules of animal shogi end the game here, if they do.
    fn lion_end(&self) -> Option<End> {
        let (mover, enemy) = (self.mover, self.mover.other());
        match self.rules {
            Rules::Minishogi | Rules::MinishogiWithDropMates => None,
            Rules::Adjudicated if self.in_check(enemy) => Some(End::Catch),
            Rules::Adjudicated if self.on_last_row(enemy) => Some(End::Try),
            Rules::Adjudicated => None,
            Rules::Played if self.royal(mover).is_none() => Some(End::Caught),
            Rules::Played if self.safe_on_last_row(enemy) => Some(End::Try),
            Rules::Played if self.safe_on_last_row(mover) => Some(End::Safe),
            Rules::Played => None,
        }
    }

    /// Returns moves and drops, including those that leave a king in check and pawn drops that mate.
    fn candidates(&self) -> Vec<Move> {
        let mut candidates = Vec::new();
        let last = self.last_row(self.mover);
        for from in self.squares() {
            let Some(piece) = self.at(from).filter(|piece| piece.side == self.mover) else {
                continue;
            };
            for to in self.destinations(from) {
                // Pawns and chicks have no move on the last rank: theirs can only lead there.
                let may = piece.can_promote() && (to.0 == last || from.0 == last);
                let must = may && matches!(piece.kind, Kind::Pawn | Kind::Chick);
                if may {
                    candidates.push(Move::Board { from, to, promotes: true });
                }
                if !must {
                    candidates.push(Move::Board { from, to, promotes: false });
                }
            }
        }
        let mut kinds = self.hands[self.mover as usize].clone();
        kinds.dedup();
        for kind in kinds {
            for to in self.squares() {
                let pawn = Piece { side: self.mover, kind: Kind::Pawn, promoted: false };
                let second_pawn = || (0..self.rows).any(|row| self.at((row, to.1)) == Some(pawn));
                if self.at(to).is_some() || kind == Kind::Pawn && (to.0 == last || second_pawn()) {
                    continue;
                }
                candidates.push(Move::Drop { kind, to });
            }
        }
        candidates
    }

    fn is_legal(&self, candidate: Move) -> bool {
        if !self.rules.is_minishogi() {
            return true;
        }
        let after = self.after(candidate);
        if after.in_check(self.mover) {
            return false;
        }
        // A pawn drop mates if the pawn itself, which uncovers no other piece, gives a check without an
        // answer. No answer is a pawn drop to be tested in turn, because nothing fits between pawn and king.
        let mates = matches!(candidate, Move::Drop { kind: Kind::Pawn, .. })
            && after.in_check(after.mover)
            && after.moves().is_empty();
        !(mates && self.rules == Rules::Minishogi)
    }

    /// Returns every legal move; none if the game is over.
    pub fn moves(&self) -> Vec<Move> {
        if self.lion_end().is_some() {
            return Vec::new();
        }
        self.candidates().into_iter().filter(|&candidate| self.is_legal(candidate)).collect()
    }

    /// Returns why the game is over here, if it is.
    pub fn end(&self) -> Option<End> {
        self.lion_end().or_else(|| self.moves().is_empty().then_some(End::Stuck))
    }

    /// Returns the position after a move.
    pub fn after(&self, played: Move) -> Position {
        let mut after = self.clone();
        match played {
            Move::Board { from, to, promotes } => {
                let piece = self.at(from).expect("a piece to move");
                if let Some(captured) = self.at(to) {
                    after.hands[self.mover as usize].push(captured.kind);
                }
                after.put(from, None);
                let promoted = piece.promoted || promotes;
                after.put(to, Some(Piece { promoted, ..piece }));
            }
            Move::Drop { kind, to } => {
                let hand = &mut after.hands[self.mover as usize];
                let held = hand.iter().position(|&held| held == kind).expect("a piece in hand");
                hand.remove(held);
                after.put(to, Some(Piece { side: self.mover, kind, promoted: false }));
            }
        }
        after.hands[self.mover as usize].sort();
        after.mover = self.mover.other();
        after
    }

    /// Returns a move in USI; every promotion has a `+`, forced or not.
    pub fn usi(&self, written: Move) -> String {
        let square = |(row, column): Square| {
            format!("{}{}", self.columns - column, char::from(b'a' + row as u8))
        };
        match written {
            Move::Board { from, to, promotes } => {
                format!("{}{}{}", square(from), square(to), if promotes { "+" } else { "" })
            }
            Move::Drop { kind, to } => format!("{}*{}", self.rules.letter(kind), square(to)),
        }
    }

    /// Returns every legal move in USI.
    pub fn usi_moves(&self) -> Vec<String> {
        self.moves().into_iter().map(|legal| self.usi(legal)).collect()
    }

    /// Returns the position after a legal move in USI.
    pub fn apply(&self, usi: &str) -> Position {
        let found = self.moves().into_iter().find(|&legal| self.usi(legal) == usi);
        self.after(found.unwrap_or_else(|| panic!("illegal move {usi} in {}", self.sfen())))
    }

    /// Returns the position with left and right exchanged.
    pub fn mirrored(&self) -> Position {
        let mut mirrored = self.clone();
        mirrored.board.chunks_mut(self.columns).for_each(|row| row.reverse());
        mirrored
    }

    /// Returns the position seen from the other end of the board, with the sides exchanged.
    pub fn turned(&self) -> Position {
        let exchange = |piece: &Piece| Piece { side: piece.side.other(), ..*piece };
        let [first, second] = self.hands.clone();
        Position {
            board: self.board.iter().rev().map(|square| square.as_ref().map(exchange)).collect(),
            hands: [second, first],
            mover: self.mover.other(),
            ..*self
        }
    }

    /// Returns the SFEN of the position turned so that the first player moves, or of its mirror image,
    /// whichever is smaller as text.
    pub fn normalised(&self) -> String {
        let seen = if self.mover == Side::First { self.clone() } else { self.turned() };
        seen.sfen().min(seen.mirrored().sfen())
    }
}

/// Counts the sequences of exactly `depth` moves; a game that ends sooner does not count.
pub fn perft(position: &Position, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let moves = position.moves();
    if depth == 1 {
        return moves.len() as u64;
    }
    moves.into_iter().map(|legal| perft(&position.after(legal), depth - 1)).sum()
}

/// Returns the normalised positions first reached after each number of plies, up to `plies` or the last.
pub fn reachable(start: &Position, plies: usize) -> Vec<Vec<String>> {
    let mut seen = HashSet::from([start.normalised()]);
    let mut layers = vec![vec![start.normalised()]];
    while layers.len() <= plies {
        let mut next = Vec::new();
        for sfen in &layers[layers.len() - 1] {
            let position = Position::read(start.rules, sfen);
            for legal in position.moves() {
                let successor = position.after(legal).normalised();
                if seen.insert(successor.clone()) {
                    next.push(successor);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        layers.push(next);
    }
    layers
}

pub type Values = HashMap<String, (i8, Option<u16>)>;

/// Returns the values of the whole 3x3 game by [`solve`], which runs once in a process.
pub fn three_by_three() -> &'static Values {
    static SOLVED: OnceLock<Values> = OnceLock::new();
    SOLVED.get_or_init(|| solve(&Position::read(Rules::Adjudicated, THREE_BY_THREE)))
}

/// Returns every normalised position reachable from the start with its outcome for the mover (1, 0, -1) and,
/// unless drawn, the plies to the end of the game: 0 if it is lost already, 1 if the lion can be captured,
/// else one more than the least of the lost successors, or than the greatest of successors that are all won.
pub fn solve(start: &Position) -> Values {
    assert_eq!(start.rules, Rules::Adjudicated);
    let mut values = HashMap::new();
    let mut undecided = Vec::new();
    for sfen in reachable(start, usize::MAX - 1).into_iter().flatten() {
        let position = Position::read(start.rules, &sfen);
        match position.end() {
            Some(End::Catch) => drop(values.insert(sfen, (1, Some(1)))),
            Some(_) => drop(values.insert(sfen, (-1, Some(0)))),
            None => {
                let after = |legal| position.after(legal).normalised();
                let successors: Vec<String> = position.moves().into_iter().map(after).collect();
                undecided.push((sfen, successors));
            }
        }
    }
    // Each sweep finds the positions that take exactly `distance` plies. Once a sweep finds nothing no later
    // one can, except for the first, which follows only the games that are over at once.
    for distance in 1.. {
        let mut found = Vec::new();
        undecided.retain(|(sfen, successors)| {
            let value = |successor: &String| values.get(successor).copied();
            let before = |(_, plies): (i8, Option<u16>)| plies.unwrap() < distance;
            let lost = |s| value(s).is_some_and(|v| before(v) && v.0 < 0);
            let won = |s| value(s).is_some_and(|v| before(v) && v.0 > 0);
            let outcome = if successors.iter().any(lost) {
                1
            } else if successors.iter().all(won) {
                -1
            } else {
                return true;
            };
            found.push((sfen.clone(), (outcome, Some(distance))));
            false
        });
        if found.is_empty() && distance > 1 {
            break;
        }
        values.extend(found);
    }
    values.extend(undecided.into_iter().map(|(sfen, _)| (sfen, (0, None))));
    values
}
