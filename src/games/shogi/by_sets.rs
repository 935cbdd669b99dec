//! Moves between ranks without boards: a position is a set of squares for every sort of piece.
//!
//! A move changes few sets, and the rank after it follows from the sets as the other player sees them.
//! Therefore all sets are rotated (for successors) and mirrored once for all moves of a position. The
//! attackers of one king, also computed once, decide whether a move ends the game.
//!
//! For variants whose pieces all step and whose other rules are those of animal shogi; other variants play on
//! boards.

use std::sync::Arc;

use super::board::{Board, Cell, Owner};
use super::moves::{PieceMoves, Squares};
use super::ranking::{MOST_SQUARES, Ranking, Views};
use super::variant::{Drops, MAX_KINDS, Promotion};
use crate::bits::ones_of;
use crate::rules::{End, Outcome, RankedMoves};

/// Set of squares of a ranked board.
type Set = u16;
/// Table by the code of a cell and a square.
type OfCell = [[Set; MOST_SQUARES]; 32];

const WON: End = End { outcome: Outcome::Win, plies: 1 };
const LOST: End = End { outcome: Outcome::Loss, plies: 0 };

/// Moves of a variant between its ranks.
#[derive(Clone, Debug)]
pub(super) struct BySets {
    ranking: Arc<Ranking>,
    squares: usize,
    /// Squares to which a piece moves from a square, and from which one comes to it.
    goes: Box<OfCell>,
    comes: Box<OfCell>,
    /// Each set of squares on the rotated board.
    turned: Vec<Set>,
    /// For each kind: the kind it promotes to, the kind that promotes to it, and its kind in hand; 0 for
    /// none.
    promoted: [u8; MAX_KINDS],
    plain: [u8; MAX_KINDS],
    in_hand: [u8; MAX_KINDS],
    /// Number of kinds, and of those that can be in hand.
    kinds: usize,
    hand_kinds: usize,
    far_row: Set,
    home_row: Set,
}

/// Position as sets.
struct Placed {
    /// Squares of each code, without the kings.
    sets: [Set; 32],
    kings: [usize; 2],
    /// Kinds in hand of the mover and of the opponent: bit `k`.
    held: [u16; 2],
    cohort: usize,
    /// All squares of the mover's pieces and of the opponent's.
    of: [Set; 2],
}

/// Changes by a move, as the mover sees the board.
#[derive(Clone, Copy)]
struct Step {
    /// Codes of the piece before and after; 0 for the king, which is in no set.
    was: usize,
    is: usize,
    /// Square it leaves, none for a drop, and square it moves to.
    from: Set,
    to: Set,
    /// Code of the captured piece; 0 for none.
    captured: usize,
}

/// Code of the opponent's piece of a kind, minus that of the mover's.
const OPPONENT: usize = 16;

fn code(kind: usize) -> usize {
    usize::from(Cell::of(Owner::Mover, kind).0)
}

fn kind_of(code: usize) -> usize {
    Cell(code as u8).kind()
}

fn squares(set: Set) -> impl Iterator<Item = usize> {
    ones_of(set)
}

fn place_of(set: Set) -> usize {
    set.trailing_zeros() as usize
}

impl BySets {
    /// Tabulates a variant's moves; `None` if its rules need boards.
    pub(super) fn new(moves: &PieceMoves, ranking: &Arc<Ranking>) -> Option<BySets> {
        let variant = moves.variant();
        let free = Drops { immobile: true, two_pawns: true, pawn_mate: true };
        let steps = variant.kinds.iter().all(|kind| kind.slides == 0);
        if variant.promotion != Promotion::Forced || variant.drops != free || !steps {
            return None;
        }
        let count = variant.squares();
        let turned: Vec<Set> = (0..1u32 << count)
            .map(|set| (set.reverse_bits() >> (Squares::BITS - count as u32)) as Set)
            .collect();
        let (mut goes, mut comes) =
            (Box::new([[0; MOST_SQUARES]; 32]), Box::new([[0; MOST_SQUARES]; 32]));
        let (mut promoted, mut plain, mut in_hand) =
            ([0; MAX_KINDS], [0; MAX_KINDS], [0; MAX_KINDS]);
        for (index, kind) in variant.kinds.iter().enumerate() {
            in_hand[index] = kind.in_hand as u8;
            if let Some(to) = kind.promotes_to {
                (promoted[index], plain[to]) = (to as u8, index as u8);
            }
            for square in 0..count {
                let mut board = Board::EMPTY;
                board.put(square, Cell::of(Owner::Mover, index));
                let own = moves.attacks(&board, square) as Set;
                goes[code(index)][square] = own;
                goes[code(index) + OPPONENT][count - 1 - square] = turned[usize::from(own)];
            }
        }
        for (comes, goes) in comes.iter_mut().zip(goes.iter()) {
            for (from, &targets) in goes.iter().enumerate() {
                squares(targets).for_each(|to| comes[to] |= 1 << from);
            }
        }
        let row: Set = (1 << variant.columns) - 1;
        Some(BySets {
            ranking: Arc::clone(ranking),
            squares: count,
            goes,
            comes,
            turned,
            promoted,
            plain,
            in_hand,
            kinds: variant.kinds.len(),
            hand_kinds: variant.hand_kinds(),
            far_row: row,
            home_row: row << (count - variant.columns),
        })
    }

    fn placed(&self, rank: u32) -> Placed {
        let mut placed =
            Placed { sets: [0; 32], kings: [0; 2], held: [0; 2], cohort: 0, of: [0; 2] };
        (placed.cohort, placed.held, placed.kings) =
            self.ranking.unrank_sets(rank, &mut placed.sets);
        for (owner, of) in placed.of.iter_mut().enumerate() {
            let sets = &placed.sets[code(1) + OPPONENT * owner..][..self.kinds - 1];
            *of = sets.iter().fold(1 << placed.kings[owner], |all, set| all | set);
        }
        placed
    }

    /// Returns the pieces of an owner that attack a square, without the king.
    #[inline(always)]
    fn attackers(&self, sets: &[Set; 32], owner: usize, square: usize) -> Set {
        let codes = code(1) + OPPONENT * owner..code(self.kinds) + OPPONENT * owner;
        codes.fold(0, |found, code| found | sets[code] & self.comes[code][square])
    }

    /// Returns the end of the game by the capture or try of a king.
    #[inline(always)]
    fn king_rule(&self, placed: &Placed) -> Option<End> {
        let [own, their] = placed.kings;
        if self.goes[code(0)][own] >> their & 1 == 1 || self.attackers(&placed.sets, 0, their) != 0
        {
            return Some(WON);
        }
        (self.home_row >> their & 1 == 1).then_some(LOST)
    }

    /// Calls `visit` with every move of a position that is not over.
    #[inline(always)]
    fn each_step(&self, placed: &Placed, mut visit: impl FnMut(Step)) {
        let [own, their] = placed.of;
        let mut take = |was: usize, is: usize, from: Set, to: Set| {
            let mut captured = 0;
            if to & their != 0 {
                captured = code(1) + OPPONENT;
                while placed.sets[captured] & to == 0 {
                    captured += 1;
                }
            }
            visit(Step { was, is, from, to, captured });
        };
        for to in squares(self.goes[code(0)][placed.kings[0]] & !own) {
            take(0, 0, 1 << placed.kings[0], 1 << to);
        }
        for kind in 1..self.kinds {
            let was = code(kind);
            for from in squares(placed.sets[was]) {
                for to in squares(self.goes[was][from] & !own) {
                    let enters = self.far_row >> to & 1 == 1 && self.promoted[kind] != 0;
                    let is = if enters { usize::from(self.promoted[kind]) } else { kind };
                    take(was, code(is), 1 << from, 1 << to);
                }
            }
        }
        let free = self.ranking.all() as Set & !(own | their);
        for kind in ones_of(placed.held[0]) {
            for to in squares(free) {
                take(0, code(kind), 0, 1 << to);
            }
        }
    }

    /// Returns `true` if the opponent has a reply to any move; `false` leaves it open.
    fn opponent_moves(&self, placed: &Placed) -> bool {
        let [own, their] = placed.of;
        let free = self.squares as u32 - (own | their).count_ones();
        (placed.held[1] != 0 && free > 1)
            || self.goes[code(0) + OPPONENT][placed.kings[1]] & !their != 0
    }

    /// Returns `true` if the opponent has a reply to a move.
    #[cold]
    fn can_answer(&self, placed: &Placed, step: Step) -> bool {
        let [own, their] = placed.of;
        let their = their & !step.to;
        if placed.held[1] != 0 && (own & !step.from | step.to | their) != self.ranking.all() as Set
        {
            return true;
        }
        (0..self.kinds).any(|kind| {
            let code = code(kind) + OPPONENT;
            let set = if kind == 0 { 1 << placed.kings[1] } else { placed.sets[code] & !step.to };
            squares(set).any(|from| self.goes[code][from] & !their != 0)
        })
    }

    /// Returns a function for the end of the game after a move of the position, for the opponent.
    #[inline(always)]
    fn end_after<'a>(&'a self, placed: &'a Placed) -> impl Fn(Step) -> Option<End> + 'a {
        let [own, their] = placed.kings;
        let attackers = self.attackers(&placed.sets, 1, own);
        let moves = self.opponent_moves(placed);
        move |step| {
            let is_king = step.is == 0;
            let check = if is_king {
                let to = place_of(step.to);
                self.attackers(&placed.sets, 1, to) | self.goes[code(0) + OPPONENT][their] & step.to
            } else {
                attackers & !step.to
            };
            if check != 0 {
                return Some(WON);
            }
            let tried = is_king && step.to & self.far_row != 0;
            (tried || !(moves || self.can_answer(placed, step))).then_some(LOST)
        }
    }

    fn turn(&self, set: Set) -> Set {
        self.turned[usize::from(set)]
    }

    /// Returns the sets of a position as the other player sees them, and their mirror images.
    #[inline(always)]
    fn turned_views(&self, placed: &Placed) -> Views {
        let mut views = [[0; 32]; 2];
        for kind in 1..self.kinds {
            for code in [code(kind), code(kind) + OPPONENT] {
                let set = self.turn(placed.sets[code]);
                views[0][code ^ OPPONENT] = set;
                views[1][code ^ OPPONENT] = self.ranking.image(set);
            }
        }
        views
    }

    /// Returns `true` if a position is its own mirror image, given its rotated views.
    fn is_symmetric(&self, placed: &Placed, views: &Views) -> bool {
        self.ranking.is_still(placed.kings) && views[0] == views[1]
    }

    #[inline(always)]
    fn each_successor(
        &self,
        placed: &Placed,
        views: &mut Views,
        mut visit: impl FnMut(u32, Option<End>),
    ) {
        let (ranking, last) = (&*self.ranking, self.squares - 1);
        let end_after = self.end_after(placed);
        let (quiet, counts) = ranking.turned(placed.cohort);
        let quiet = Some(quiet);
        self.each_step(placed, |step| {
            let (from, to) = (self.turn(step.from), self.turn(step.to));
            let mut kings = [last - placed.kings[1], last - placed.kings[0]];
            if step.is == 0 {
                kings[1] = place_of(to);
            }
            let (was, is) = (step.was ^ OPPONENT, step.is ^ OPPONENT);
            let captured = step.captured & !OPPONENT;
            let mut cohort = quiet;
            if step.was != step.is || step.captured != 0 {
                let mut counts = counts;
                counts.add(ranking.weight(is));
                match step.from {
                    0 => counts.remove(ranking.hand_weight(1, kind_of(step.is))),
                    _ => counts.remove(ranking.weight(was)),
                }
                if captured != 0 {
                    let kind = usize::from(self.in_hand[kind_of(captured)]);
                    counts.remove(ranking.weight(captured));
                    counts.add(ranking.hand_weight(1, kind));
                }
                cohort = ranking.cohort(counts);
            }
            // Sets 0 and 16 belong to no piece and to no group.
            let from = if step.was == 0 { 0 } else { from };
            let changes = [(was, from), (is, to), (captured, if captured == 0 { 0 } else { to })];
            let rank = cohort.and_then(|cohort| ranking.rank_sets(kings, cohort, views, changes));
            visit(rank.expect("reachable states have ranks"), end_after(step));
        });
    }
}

impl RankedMoves for BySets {
    fn ranks(&self) -> u32 {
        self.ranking.len()
    }

    fn successors(&self, rank: u32, after: &mut Vec<(u32, Option<End>)>) {
        after.clear();
        let placed = self.placed(rank);
        if self.king_rule(&placed).is_none() {
            let mut views = self.turned_views(&placed);
            self.each_successor(&placed, &mut views, |rank, end| after.push((rank, end)));
        }
    }

    fn ends(&self, rank: u32, ends: &mut Vec<Option<End>>) -> Option<End> {
        ends.clear();
        let placed = self.placed(rank);
        if let Some(end) = self.king_rule(&placed) {
            return Some(end);
        }
        let still = self.ranking.is_still(placed.kings);
        let mut views = if still { self.turned_views(&placed) } else { [[0; 32]; 2] };
        if still && self.is_symmetric(&placed, &views) {
            let mut after = Vec::new();
            self.each_successor(&placed, &mut views, |rank, end| after.push((rank, end)));
            after.sort_unstable_by_key(|&(rank, _)| rank);
            after.dedup_by_key(|&mut (rank, _)| rank);
            ends.extend(after.into_iter().map(|(_, end)| end));
        } else {
            let end_after = self.end_after(&placed);
            self.each_step(&placed, |step| ends.push(end_after(step)));
        }
        ends.is_empty().then_some(LOST)
    }

    fn predecessors(&self, rank: u32, before: &mut Vec<u32>) {
        let ranking = &*self.ranking;
        let placed = self.placed(rank);
        let last = self.squares - 1;
        // As the player who has just moved sees it.
        let kings @ [own, their] = [last - placed.kings[1], last - placed.kings[0]];
        // With this king on the home row the game would have been over before the move.
        if self.home_row >> their & 1 == 1 {
            return;
        }
        let mut views = self.turned_views(&placed);
        let sets = views[0];
        let attackers = self.attackers(&sets, 0, their);
        let first = before.len();
        let symmetric = self.is_symmetric(&placed, &views);
        let held = [placed.held[1], placed.held[0]];
        let free = ranking.all() as Set & !self.turn(placed.of[0] | placed.of[1]);
        let (quiet, counts) = ranking.turned(placed.cohort);
        let quiet = Some(quiet);
        let mut take = |kings, cohort, changes| {
            let rank = Option::and_then(cohort, |cohort| {
                ranking.rank_sets(kings, cohort, &mut views, changes)
            });
            before.extend(rank);
        };
        // Takes back a move from `from` to `to` of the piece `is`, which was `was` before, with a capture of
        // nothing or of a piece now in hand.
        let mut unmove = |kings, was: usize, is: usize, from: Set, to: Set| {
            let mut counts = counts;
            let mut cohort = quiet;
            if was != is {
                counts.remove(ranking.weight(is));
                counts.add(ranking.weight(was));
                cohort = ranking.cohort(counts);
            }
            let (left, gone) = if is == 0 { (0, 0) } else { (from, to) };
            take(kings, cohort, [(is, gone), (was, left), (0, 0)]);
            for kind in ones_of(held[0]) {
                let mut counts = counts;
                counts.remove(ranking.hand_weight(0, kind));
                for kind in [kind, usize::from(self.promoted[kind])] {
                    if kind == 0 {
                        continue;
                    }
                    let captured = code(kind) + OPPONENT;
                    let mut counts = counts;
                    counts.add(ranking.weight(captured));
                    take(kings, ranking.cohort(counts), [(is, gone), (was, left), (captured, to)]);
                }
            }
        };
        if attackers == 0 {
            let far = self.goes[code(0)][own] & free & !self.goes[code(0)][their] & !self.far_row;
            for from in squares(far) {
                unmove([from, their], 0, 0, 1 << from, 1 << own);
            }
        }
        for kind in 1..self.kinds {
            let is = code(kind);
            for to in squares(sets[is]) {
                // Any other attacker of the king attacked it before the move.
                if attackers & !(1 << to) != 0 {
                    continue;
                }
                let enters = self.far_row >> to & 1 == 1;
                for (was, allowed) in [
                    (kind, !enters || self.promoted[kind] == 0),
                    (usize::from(self.plain[kind]), enters && self.plain[kind] != 0),
                ] {
                    if !allowed {
                        continue;
                    }
                    let was = code(was);
                    let origins = self.comes[was][to] & free & !self.comes[was][their];
                    for from in squares(origins) {
                        unmove(kings, was, is, 1 << from, 1 << to);
                    }
                }
            }
        }
        for kind in 1..=self.hand_kinds {
            let is = code(kind);
            let mut counts = counts;
            let mut cohort = None;
            for to in squares(sets[is]) {
                if attackers & !(1 << to) != 0 {
                    continue;
                }
                if cohort.is_none() {
                    counts.remove(ranking.weight(is));
                    counts.add(ranking.hand_weight(0, kind));
                    cohort = ranking.cohort(counts);
                }
                let rank = Option::and_then(cohort, |cohort| {
                    ranking.rank_sets(kings, cohort, &mut views, [(is, 1 << to), (0, 0), (0, 0)])
                });
                before.extend(rank);
            }
        }
        if symmetric {
            let mut images = before.split_off(first);
            images.sort_unstable();
            images.dedup();
            before.append(&mut images);
        }
    }
}
