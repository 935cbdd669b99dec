//! Minishogi for the mate search: bitboards of squares, without turning the board.
//!
//! The attacker's pieces move towards row 0, whoever is to move. Squares and kinds are numbered as in
//! [`shogi`](crate::games::shogi). A board's key is a number in base 21, one digit a square, so that a move
//! changes it by one addition a square.

use super::{Mating, Role};
use crate::bits::ones_of;
use crate::games::shogi::{Board, MINISHOGI, towards};
use crate::rules::Action;

type Squares = u32;
const SQUARES: usize = 25;
const ALL: Squares = (1 << SQUARES) - 1;
const KINDS: usize = 10;
const HELD: usize = 5;
const PAWN: usize = 1;
/// Rows in which the attacker's and the defender's pieces promote.
const ZONES: [Squares; 2] = [0b11111, 0b11111 << 20];
const FILE: Squares = 0b00001_00001_00001_00001_00001;

/// Position; owner 0 is the attacker, 1 the defender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MiniPosition {
    key: u128,
    own: [Squares; 2],
    /// Pieces in hand, three bits a kind.
    hands: [u16; 2],
    kings: [u8; 2],
    /// Cell contents: 0 for nothing, 1 + kind for the attacker's pieces, 11 + kind for the defender's.
    cells: [u8; SQUARES],
}

/// Move from a square, or drop of a kind in hand.
#[derive(Clone, Copy)]
enum MiniMove {
    Board { from: usize, to: usize, promotes: bool },
    Drop { kind: usize, to: usize },
}

/// Moves of a piece, or drops of a kind, to each of some squares.
#[derive(Clone, Copy)]
enum MiniMoves {
    Board { from: usize, to: Squares, promotes: bool },
    Drop { kind: usize, to: Squares },
}

impl MiniMoves {
    fn targets(self) -> Squares {
        let (MiniMoves::Board { to, .. } | MiniMoves::Drop { to, .. }) = self;
        to
    }

    fn each(self) -> impl Iterator<Item = MiniMove> {
        ones_of(self.targets()).map(move |to| match self {
            MiniMoves::Board { from, promotes, .. } => MiniMove::Board { from, to, promotes },
            MiniMoves::Drop { kind, .. } => MiniMove::Drop { kind, to },
        })
    }
}

/// Geometry of the board, and the rules derived from it.
#[derive(Debug)]
pub struct Mini {
    /// Squares behind each one in a direction; none behind the numbers that [`first`] returns for an empty set.
    rays: [[Squares; 64]; 8],
    /// Target squares of steps, by owner, kind and square.
    steps: [[[Squares; SQUARES]; KINDS]; 2],
    powers: [u128; SQUARES],
}

/// Checks and pins around a player's king.
struct Around {
    checkers: u32,
    /// Squares where a piece other than the king meets the check.
    evasions: Squares,
    /// Pinned pieces, each with the squares it may go to.
    pins: [(Squares, Squares); 8],
    pinned: usize,
}

fn kind_of(cell: u8) -> usize {
    usize::from(if cell > KINDS as u8 { cell - KINDS as u8 } else { cell }) - 1
}

/// Returns the first square of a set in a direction; a number from 25 to 63 for an empty set.
#[inline(always)]
fn first(direction: usize, set: Squares) -> usize {
    let square = match direction {
        2..=5 => set.trailing_zeros(),
        _ => 31u32.wrapping_sub(set.leading_zeros()),
    };
    (square & 63) as usize
}

/// Directions in which a kind slides: 1 the even ones, 2 the odd ones.
const SLIDES: [u8; KINDS] = [0, 0, 0, 0, 2, 1, 0, 0, 2, 1];
const PROMOTED: [usize; KINDS] = [0, 6, 7, 0, 8, 9, 0, 0, 0, 0];
const IN_HAND: [usize; KINDS] = [0, 1, 2, 3, 4, 5, 1, 2, 4, 5];

#[inline]
fn slides(kind: usize, direction: usize) -> bool {
    SLIDES[kind] >> (direction & 1) & 1 == 1
}

impl Default for Mini {
    fn default() -> Mini {
        Mini::new()
    }
}

impl Mini {
    /// Returns the rules.
    pub fn new() -> Mini {
        const TOWARDS: [(i32, i32); 8] =
            [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)];
        let mut mini = Mini {
            rays: [[0; 64]; 8],
            steps: [[[0; SQUARES]; KINDS]; 2],
            powers: std::array::from_fn(|square| 21u128.pow(square as u32)),
        };
        for (direction, (down, right)) in TOWARDS.into_iter().enumerate() {
            for square in 0..SQUARES {
                let (mut row, mut column) = (square as i32 / 5 + down, square as i32 % 5 + right);
                while (0..5).contains(&row) && (0..5).contains(&column) {
                    mini.rays[direction][square] |= 1 << (5 * row + column);
                    (row, column) = (row + down, column + right);
                }
            }
        }
        for (kind, described) in MINISHOGI.kinds.iter().enumerate() {
            debug_assert_eq!(described.slides == towards::STRAIGHT, SLIDES[kind] == 1);
            for direction in ones_of(described.steps) {
                for square in 0..SQUARES {
                    for (owner, turned) in [direction, (direction + 4) % 8].into_iter().enumerate()
                    {
                        let ray = mini.rays[turned][square];
                        if ray != 0 {
                            mini.steps[owner][kind][square] |= 1 << first(turned, ray);
                        }
                    }
                }
            }
        }
        mini
    }

    fn put(&self, position: &mut MiniPosition, square: usize, owner: usize, kind: usize) {
        let cell = (1 + kind + KINDS * owner) as u8;
        position.cells[square] = cell;
        position.key += u128::from(cell) * self.powers[square];
        position.own[owner] |= 1 << square;
        if kind == 0 {
            position.kings[owner] = square as u8;
        }
    }

    fn take(&self, position: &mut MiniPosition, square: usize, owner: usize) {
        position.key -= u128::from(position.cells[square]) * self.powers[square];
        position.cells[square] = 0;
        position.own[owner] &= !(1 << square);
    }

    /// Returns the squares that a piece attacks, including those of its own side's pieces.
    #[inline]
    fn attacks(&self, owner: usize, kind: usize, square: usize, occupied: Squares) -> Squares {
        self.steps[owner][kind][square] | self.slides_from(SLIDES[kind], square, occupied)
    }

    /// Returns the squares to which a piece slides.
    #[inline]
    fn slides_from(&self, slides: u8, square: usize, occupied: Squares) -> Squares {
        let line = |direction: usize| {
            let ray = self.rays[direction][square];
            ray ^ self.rays[direction][first(direction, ray & occupied)]
        };
        // Written out, so that the compiler knows each direction.
        match slides {
            1 => line(0) | line(2) | line(4) | line(6),
            2 => line(1) | line(3) | line(5) | line(7),
            _ => 0,
        }
    }

    fn around(&self, position: &MiniPosition, us: usize) -> Around {
        let (king, them) = (usize::from(position.kings[us]), 1 - us);
        let occupied = position.own[0] | position.own[1];
        let mut around = Around { checkers: 0, evasions: ALL, pins: [(0, 0); 8], pinned: 0 };
        for direction in 0..8 {
            let ray = self.rays[direction][king];
            if ray & occupied == 0 {
                continue;
            }
            let near = first(direction, ray & occupied);
            let behind = self.rays[direction][near];
            let kind = kind_of(position.cells[near]);
            if position.own[them] >> near & 1 == 1 {
                if slides(kind, direction) || self.steps[them][kind][near] >> king & 1 == 1 {
                    around.checkers += 1;
                    around.evasions &= ray ^ behind;
                }
            } else if behind & occupied != 0 {
                let far = first(direction, behind & occupied);
                let pins = position.own[them] >> far & 1 == 1
                    && slides(kind_of(position.cells[far]), direction);
                if pins {
                    around.pins[around.pinned] = (1 << near, ray ^ self.rays[direction][far]);
                    around.pinned += 1;
                }
            }
        }
        if around.checkers > 1 {
            around.evasions = 0;
        }
        around
    }

    /// Returns the squares that a player attacks, through the other's king.
    fn attacked(&self, position: &MiniPosition, by: usize) -> Squares {
        let king = 1 << position.kings[1 - by];
        let occupied = (position.own[0] | position.own[1]) & !king;
        let attacks = |at| self.attacks(by, kind_of(position.cells[at]), at, occupied);
        ones_of(position.own[by]).fold(0, |set, at| set | attacks(at))
    }

    /// Returns the pieces of a player that give check by leaving a line, each with its line.
    fn discoverers(&self, position: &MiniPosition, us: usize) -> ([(Squares, Squares); 8], usize) {
        let (king, occupied) =
            (usize::from(position.kings[1 - us]), position.own[0] | position.own[1]);
        let (mut found, mut count) = ([(0, 0); 8], 0);
        for direction in 0..8 {
            let ray = self.rays[direction][king];
            if ray & position.own[us] == 0 {
                continue;
            }
            let near = first(direction, ray & occupied);
            let behind = self.rays[direction][near] & occupied;
            if position.own[us] >> near & 1 == 0 || behind == 0 {
                continue;
            }
            let far = first(direction, behind);
            if position.own[us] >> far & 1 == 1 && slides(kind_of(position.cells[far]), direction) {
                found[count] = (1 << near, ray);
                count += 1;
            }
        }
        (found, count)
    }

    /// Calls `visit` with the legal moves of a player, some of the sets empty; with `checks_only`, only with those that
    /// give check.
    fn visit(
        &self,
        position: &MiniPosition,
        us: usize,
        checks_only: bool,
        mut visit: impl FnMut(MiniMoves),
    ) {
        let them = 1 - us;
        let occupied = position.own[0] | position.own[1];
        let (king, target) = (usize::from(position.kings[us]), usize::from(position.kings[them]));
        let around = self.around(position, us);
        let (mut lines, mut count) = ([(0, 0); 8], 0);
        let mut direct = [ALL; KINDS];
        if checks_only {
            (lines, count) = self.discoverers(position, us);
            let lines_to = [0, 1, 2].map(|slides| self.slides_from(slides, target, occupied));
            direct = std::array::from_fn(|kind| {
                self.steps[them][kind][target] | lines_to[usize::from(SLIDES[kind])]
            });
            direct[0] = 0;
        }
        let discovering = |from: usize| {
            let line = lines[..count].iter().find(|(piece, _)| piece >> from & 1 == 1);
            line.map_or(0, |(_, line)| !line)
        };
        let mut to = self.steps[us][0][king] & !position.own[us] & (direct[0] | discovering(king));
        // Few checks are moves of the king.
        if to != 0 {
            to &= !self.attacked(position, them);
            visit(MiniMoves::Board { from: king, to, promotes: false });
        }
        if around.evasions == 0 {
            return;
        }
        for from in ones_of(position.own[us] & !(1 << king)) {
            let kind = kind_of(position.cells[from]);
            let mut targets =
                self.attacks(us, kind, from, occupied) & !position.own[us] & around.evasions;
            for (piece, line) in &around.pins[..around.pinned] {
                if piece >> from & 1 == 1 {
                    targets &= line;
                }
            }
            let discovered = discovering(from);
            let zone = if ZONES[us] >> from & 1 == 1 { ALL } else { ZONES[us] };
            let stuck = if kind == PAWN { ZONES[us] } else { 0 };
            let to = targets & !stuck & (direct[kind] | discovered);
            visit(MiniMoves::Board { from, to, promotes: false });
            if PROMOTED[kind] != 0 {
                let to = targets & zone & (direct[PROMOTED[kind]] | discovered);
                visit(MiniMoves::Board { from, to, promotes: true });
            }
        }
        let empty = !occupied & around.evasions & ALL;
        for kind in (1..=HELD).filter(|kind| position.hands[us] >> (3 * (kind - 1)) & 3 != 0) {
            let mut to = empty & direct[kind];
            if kind == PAWN {
                to &= self.pawn_squares(position, us);
            }
            visit(MiniMoves::Drop { kind, to });
        }
    }

    /// Returns the squares on which a player may drop a pawn, occupied or not.
    fn pawn_squares(&self, position: &MiniPosition, us: usize) -> Squares {
        let pawn = (1 + PAWN + KINDS * us) as u8;
        let mut squares = ALL & !ZONES[us];
        for at in ones_of(position.own[us]).filter(|&at| position.cells[at] == pawn) {
            squares &= !(FILE << (at % 5));
        }
        let mate = self.steps[1 - us][PAWN][usize::from(position.kings[1 - us])] & squares;
        if mate != 0 && (position.own[0] | position.own[1]) & mate == 0 {
            let dropped = self.play(
                position,
                us,
                MiniMove::Drop { kind: PAWN, to: mate.trailing_zeros() as usize },
            );
            if self.count(&dropped, 1 - us) == 0 {
                squares &= !mate;
            }
        }
        squares
    }

    fn count(&self, position: &MiniPosition, us: usize) -> u32 {
        let mut count = 0;
        self.visit(position, us, false, |moves| count += moves.targets().count_ones());
        count
    }

    fn play(&self, position: &MiniPosition, us: usize, played: MiniMove) -> MiniPosition {
        let mut after = *position;
        match played {
            MiniMove::Board { from, to, promotes } => {
                let kind = kind_of(after.cells[from]);
                if after.cells[to] != 0 {
                    let held = IN_HAND[kind_of(after.cells[to])];
                    self.take(&mut after, to, 1 - us);
                    if held > 0 {
                        after.hands[us] += 1 << (3 * (held - 1));
                    }
                }
                self.take(&mut after, from, us);
                self.put(&mut after, to, us, if promotes { PROMOTED[kind] } else { kind });
            }
            MiniMove::Drop { kind, to } => {
                after.hands[us] -= 1 << (3 * (kind - 1));
                self.put(&mut after, to, us, kind);
            }
        }
        after
    }
}

/// Converts a square between the attacker's view of the board and a player's.
fn turned(us: usize, square: usize) -> usize {
    if us == 0 { square } else { SQUARES - 1 - square }
}

/// Returns the number of a move in the game, in which the mover sees the board.
fn action(us: usize, played: MiniMove) -> Action {
    let seen = |square| turned(us, square);
    Action(match played {
        MiniMove::Board { from, to, promotes } => {
            2 * (SQUARES * seen(from) + seen(to)) + usize::from(promotes)
        }
        MiniMove::Drop { kind, to } => 2 * SQUARES * SQUARES + SQUARES * (kind - 1) + seen(to),
    } as u16)
}

impl Mating for Mini {
    type Node = MiniPosition;

    fn root(&self, board: &Board, role: Role) -> MiniPosition {
        let mut position =
            MiniPosition { key: 0, own: [0; 2], hands: [0; 2], kings: [0; 2], cells: [0; SQUARES] };
        for (square, cell) in board.cells.iter().enumerate() {
            if let Some((owner, kind)) = cell.piece() {
                let us = (owner as usize) ^ (role as usize);
                self.put(&mut position, turned(role as usize, square), us, kind);
            }
        }
        for (owner, held) in board.hands.iter().enumerate() {
            let pieces = |hand, kind| hand | u16::from(held[kind]) << (3 * kind);
            position.hands[owner ^ role as usize] = (0..HELD).fold(0, pieces);
        }
        position
    }

    #[inline]
    fn board(&self, node: &MiniPosition) -> u128 {
        node.key
    }

    #[inline]
    fn hand(&self, node: &MiniPosition) -> u16 {
        node.hands[0]
    }

    #[inline]
    fn moves(
        &self,
        node: &MiniPosition,
        role: Role,
        checks_only: bool,
        mut visit: impl FnMut(Action, MiniPosition),
    ) {
        let us = role as usize;
        self.visit(node, us, checks_only, |moves| {
            for played in moves.each() {
                visit(action(us, played), self.play(node, us, played));
            }
        });
    }

    #[inline]
    fn replies(&self, node: &MiniPosition) -> u32 {
        self.count(node, Role::Defends as usize)
    }
}
