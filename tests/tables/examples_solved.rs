//! Examples solved twice: by tables, and by plain solvers that know the games as people do, with boards as lists
//! of squares and players by their names.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use yomikiri::oracle::SolvedTable;
use yomikiri::progress::Silent;
use yomikiri::rules::{
    Action, ForcedPasses, Game, MovesAgain, Position, Side, Turn, assert_conforms,
};
use yomikiri::solve;

use crate::common::Random;
use crate::common::listed::{Listed, interior, lost};
use crate::common::solved::{solved, standard};
use crate::examples::dots_and_boxes::DotsAndBoxes;
use crate::examples::hare_and_hounds::{HareAndHounds, Hunt};
use crate::examples::king_and_rook::{Ending, KingAndRook};
use crate::examples::misere::MisereNoughts;

/// Score for the mover, and plies to the end if there is one.
type Value = (i8, Option<u16>);

/// Checks that a game conforms, and that its table has exactly these positions and values; returns the table.
fn assert_solved<G: Game>(
    game: G,
    values: impl IntoIterator<Item = (Position<G::State>, Value)>,
) -> SolvedTable {
    assert_conforms(&game);
    let mut expected = HashMap::new();
    for (position, value) in values {
        let other = expected.insert((game.key(&position.state), position.side), value);
        assert!(other.is_none_or(|other| other == value), "two values of {position:?}");
    }
    let rules = game.into_rules();
    let (_dir, table) = solved(&*rules, &standard(&*rules));
    let proof = solve::prove(&*rules, &table, &Silent).unwrap();
    assert_eq!((proof.solved, proof.counterexample), (true, None));
    let table = SolvedTable::open(rules.clone(), table, true).unwrap().unwrap();
    let distinct: HashSet<u128> = expected.keys().map(|&(key, _)| key).collect();
    match table.table().manifest().counts.reachable {
        Some(tally) => assert_eq!(tally.states, expected.len() as u64),
        None => assert_eq!(table.states().rows(), distinct.len()),
    }
    for ((key, side), value) in expected {
        let position = Position { state: rules.state(key).unwrap(), side };
        let row = table.states().find(&position).expect("a reachable position has a row");
        let stored = table.value(row);
        let stored = (stored.score().unwrap().0, stored.distance());
        assert_eq!(stored, value, "{}", rules.diagram(&position));
    }
    table
}

/// Returns the value of every position from `start` on, for its mover, by iteration until nothing changes. `moves`
/// returns the successors, or the outcome for the mover; `endless` the value of infinite play.
fn iterated<P: Clone + Eq + Hash>(
    start: P,
    moves: impl Fn(&P) -> Result<Vec<P>, i8>,
    endless: impl Fn(&P) -> i8,
) -> HashMap<P, Value> {
    let (mut positions, mut numbers) = (vec![start.clone()], HashMap::from([(start, 0)]));
    let (mut next, mut values) = (Vec::new(), Vec::new());
    while let Some(position) = positions.get(next.len()) {
        let (after, end) = match moves(position) {
            Ok(after) => (after, None),
            Err(outcome) => (Vec::new(), Some((outcome, 0))),
        };
        values.push(end);
        let number = |after: P| {
            *numbers.entry(after.clone()).or_insert_with(|| {
                positions.push(after);
                positions.len() - 1
            })
        };
        next.push(after.into_iter().map(number).collect::<Vec<usize>>());
    }
    for plies in 1.. {
        let decided = |position: usize| -> Option<(i8, u16)> {
            let after =
                next[position].iter().map(|&after| values[after].map_or(0, |value| value.0));
            match (after.clone().min()?, after.max()?) {
                (-1, _) => Some((1, plies)),
                (1, 1) => Some((-1, plies)),
                _ => None,
            }
        };
        let undecided = (0..next.len()).filter(|&position| values[position].is_none());
        let new: Vec<_> = undecided.filter_map(|at| Some((at, decided(at)?))).collect();
        if new.is_empty() {
            break;
        }
        new.into_iter().for_each(|(position, value)| values[position] = Some(value));
    }
    let value = |(position, value): (P, Option<(i8, u16)>)| match value {
        // Draws have no distance in games without layers.
        Some((0, _)) => (position, (0, None)),
        Some((outcome, plies)) => (position, (outcome, Some(plies))),
        None => (position.clone(), (endless(&position), None)),
    };
    positions.into_iter().zip(values).map(value).collect()
}

/// Squares of noughts and crosses, `.` if empty.
fn misere_moves((cells, mover): &(Vec<char>, char)) -> Result<Vec<(Vec<char>, char)>, i8> {
    let other = if *mover == 'X' { 'O' } else { 'X' };
    let line = |from: usize, step: usize| (0..3).all(|i| cells[from + i * step] == other);
    let has_line = (0..3).any(|i| line(3 * i, 1) || line(i, 3)) || line(0, 4) || line(2, 2);
    if has_line || !cells.contains(&'.') {
        return Err(if has_line { 1 } else { 0 });
    }
    let placed = |square: usize| {
        let mut after = cells.clone();
        after[square] = *mover;
        (after, other)
    };
    Ok((0..9).filter(|&square| cells[square] == '.').map(placed).collect())
}

/// A draw.
#[test]
fn misere_noughts_has_the_values_of_a_plain_solver() {
    let values = iterated((vec!['.'; 9], 'X'), misere_moves, |_| 0);
    assert_eq!(values[&(vec!['.'; 9], 'X')], (0, None));
    let position = |(cells, mover): (Vec<char>, char)| {
        let squares = |mark: &dyn Fn(char) -> bool| {
            cells.iter().zip(0..).map(|(&cell, i)| u16::from(mark(cell)) << i).sum()
        };
        let state = (squares(&|cell| cell == mover), squares(&|cell| cell != mover && cell != '.'));
        Position { state, side: if mover == 'X' { Side::First } else { Side::Second } }
    };
    assert_solved(MisereNoughts, values.into_iter().map(|(at, value)| (position(at), value)));
}

/// Lines of the board of hare and hounds, and its columns from the left; letters as in the example's diagram.
const HUNT_LINES: [&str; 12] =
    ["bcd", "fghij", "lmn", "bgl", "chm", "din", "bhn", "lhd", "fb", "fl", "dj", "nj"];
const HUNT_COLUMNS: [&str; 5] = ["f", "bgl", "chm", "din", "j"];

/// Points of the hounds and of the hare, and which of them moves.
type PlainHunt = (BTreeSet<char>, char, &'static str);

fn hunt_moves((hounds, hare, mover): &PlainHunt) -> Result<Vec<PlainHunt>, i8> {
    let column = |point: char| HUNT_COLUMNS.iter().position(|column| column.contains(point));
    let joined = |a: char, b: char| {
        let ends = [String::from_iter([a, b]), String::from_iter([b, a])];
        HUNT_LINES.iter().any(|line| ends.iter().any(|pair| line.contains(pair)))
    };
    if hounds.iter().all(|&hound| column(hound) >= column(*hare)) {
        return Err(if *mover == "hare" { 1 } else { -1 });
    }
    let free: Vec<char> =
        "bcdfghijlmn".chars().filter(|point| point != hare && !hounds.contains(point)).collect();
    let mut all = Vec::new();
    for &to in &free {
        if *mover == "hare" && joined(*hare, to) {
            all.push((hounds.clone(), to, "hounds"));
        }
        for &from in hounds {
            if *mover == "hounds" && joined(from, to) && column(from) <= column(to) {
                let mut after = hounds.clone();
                after.remove(&from);
                after.insert(to);
                all.push((after, *hare, "hare"));
            }
        }
    }
    if all.is_empty() { Err(-1) } else { Ok(all) }
}

/// The hounds win from the start, in 12 moves.
#[test]
fn hare_and_hounds_has_the_values_of_a_plain_solver() {
    let endless = |(_, _, mover): &PlainHunt| if *mover == "hare" { 1 } else { -1 };
    let start = (BTreeSet::from(['b', 'f', 'l']), 'j', "hounds");
    let values = iterated(start.clone(), hunt_moves, endless);
    assert_eq!((values.len(), values[&start]), (2116, (1, Some(23))));
    let is_endless = |&(outcome, plies): &Value| outcome != 0 && plies.is_none();
    assert!(values.values().any(is_endless), "infinite play decides some positions");
    let position = |(hounds, hare, mover): PlainHunt| {
        let point = |letter: char| letter as u16 - 'a' as u16;
        let state = Hunt {
            hounds: hounds.into_iter().map(|hound| 1 << point(hound)).sum(),
            hare: point(hare),
            hare_moves: mover == "hare",
        };
        Position { state, side: if mover == "hare" { Side::Second } else { Side::First } }
    };
    assert_solved(HareAndHounds, values.into_iter().map(|(at, value)| (position(at), value)));
}

/// Row and column.
type Square = (i32, i32);

/// White's king and rook, if it still stands, Black's king, and the player to move.
type PlainEnding = (Square, Option<Square>, Square, char);

fn touch(a: Square, b: Square) -> bool {
    (a.0 - b.0).abs().max((a.1 - b.1).abs()) <= 1
}

fn ending_moves(
    size: i32,
    &(king, rook, black, mover): &PlainEnding,
) -> Result<Vec<PlainEnding>, i8> {
    let Some(rook) = rook else { return Err(0) };
    let within = |(row, column): Square| row.min(column) >= 0 && row.max(column) < size;
    // Squares that a rook reaches on lines that end at the first of `pieces`, that square included.
    let reached = |pieces: &[Square]| {
        let mut squares = Vec::new();
        for (down, right) in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
            let mut square = (rook.0 + down, rook.1 + right);
            while within(square) {
                squares.push(square);
                if pieces.contains(&square) {
                    break;
                }
                square = (square.0 + down, square.1 + right);
            }
        }
        squares
    };
    let steps = |from: Square| {
        let all = (-1..=1).flat_map(move |down| (-1..=1).map(move |right| (down, right)));
        let squares = all.map(move |(down, right)| (from.0 + down, from.1 + right));
        squares.filter(move |&to| within(to) && to != from)
    };
    if mover == 'w' {
        let kings = steps(king).filter(|&to| to != rook && !touch(to, black));
        let kings = kings.map(|to| (to, Some(rook), black, 'b'));
        let rooks = reached(&[king, black]).into_iter().filter(|&to| to != king && to != black);
        return Ok(kings.chain(rooks.map(|to| (king, Some(to), black, 'b'))).collect());
    }
    let attacked = reached(&[king]);
    let escapes = steps(black).filter(|&to| !touch(to, king) && !attacked.contains(&to));
    let after = escapes.map(|to| (king, Some(rook).filter(|&rook| rook != to), to, 'w'));
    let after: Vec<PlainEnding> = after.collect();
    match after.is_empty() {
        true => Err(if attacked.contains(&black) { -1 } else { 0 }),
        false => Ok(after),
    }
}

#[test]
fn king_and_rook_has_the_values_of_a_plain_solver() {
    for size in [3, 4, 5] {
        let start = ((0, 0), Some((1, 1)), (2, 2), 'w');
        let values = iterated(start, |ending| ending_moves(size, ending), |_| 0);
        let number = |square: Square| (square.0 * size + square.1) as u32;
        let position = |(king, rook, black, mover): PlainEnding| {
            let state = Ending {
                king: number(king),
                rook: number(rook.unwrap_or(black)),
                black: number(black),
                white_moves: mover == 'w',
            };
            Position { state, side: if mover == 'w' { Side::First } else { Side::Second } }
        };
        let values = values.into_iter().map(|(at, value)| (position(at), value));
        assert_solved(KingAndRook::new(size as u32), values);
    }
}

/// Mate in 16 moves at most, White to move (Ströhlein 1970).
#[test]
fn king_and_rook_mate_in_sixteen_moves() {
    let rules = KingAndRook::new(8).into_rules();
    let (_dir, table) = solved(&*rules, &standard(&*rules));
    let table = SolvedTable::open(rules.clone(), table, true).unwrap().unwrap();
    let distance = |row| table.value(row).distance();
    let longest = (0..table.states().rows()).filter_map(distance).max();
    let start = table.states().find(&rules.start()).unwrap();
    assert_eq!((distance(start), longest), (Some(31), Some(32)));
}

/// Dots and boxes: every line joins two dots, and every box has an owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PlainBoxes {
    lines: BTreeSet<[(usize, usize); 2]>,
    owners: Vec<Option<usize>>,
    mover: usize,
    /// `true` if the mover has just closed a box.
    again: bool,
}

/// Position of the game that the table solves.
type BoxPosition = Position<Turn<(u32, i8)>>;

/// Plain solver of a grid of boxes.
struct BoxSolver {
    columns: usize,
    known: HashMap<PlainBoxes, (i8, u16)>,
}

impl BoxSolver {
    fn sides(&self, corner: usize) -> [[(usize, usize); 2]; 4] {
        let (r, c) = (corner / self.columns, corner % self.columns);
        let (top, bottom) = ([(r, c), (r, c + 1)], [(r + 1, c), (r + 1, c + 1)]);
        [top, bottom, [(r, c), (r + 1, c)], [(r, c + 1), (r + 1, c + 1)]]
    }

    /// Returns the mover's score under best play, and the plies to the end, of which forced passes are some.
    fn solve(&mut self, boxes: &PlainBoxes) -> (i8, u16) {
        if let Some(&value) = self.known.get(boxes) {
            return value;
        }
        let all = (0..boxes.owners.len()).flat_map(|corner| self.sides(corner));
        let free: BTreeSet<_> = all.filter(|line| !boxes.lines.contains(line)).collect();
        let mut values = Vec::new();
        for line in free {
            let mut after = PlainBoxes { again: false, ..boxes.clone() };
            after.lines.insert(line);
            for corner in 0..after.owners.len() {
                if after.owners[corner].is_none()
                    && self.sides(corner).iter().all(|side| after.lines.contains(side))
                {
                    after.owners[corner] = Some(boxes.mover);
                    after.again = true;
                }
            }
            let is_over = after.owners.iter().all(Option::is_some);
            after.mover = if after.again { boxes.mover } else { 1 - boxes.mover };
            let (score, plies) = self.solve(&after);
            let passes = u16::from(after.again && !is_over);
            values.push((if after.again { score } else { -score }, plies + 1 + passes));
        }
        // A shorter way is better, unless it loses.
        let preference = |&(score, plies): &(i8, u16)| {
            (score, if score < 0 { i32::from(plies) } else { -i32::from(plies) })
        };
        let owned = |player| boxes.owners.iter().filter(|&&owner| owner == Some(player)).count();
        let lead = owned(boxes.mover) as i8 - owned(1 - boxes.mover) as i8;
        let value = values.into_iter().max_by_key(preference).unwrap_or((lead, 0));
        self.known.insert(boxes.clone(), value);
        value
    }

    /// Returns the positions of the game that stand for a plain one, with their values.
    fn positions(&self, boxes: &PlainBoxes) -> Vec<(BoxPosition, Value)> {
        let number = |[from, to]: &[(usize, usize); 2]| {
            ((from.0 + to.0) * (2 * self.columns + 1) + from.1 + to.1) / 2
        };
        let lines = boxes.lines.iter().map(|line| 1 << number(line)).sum();
        let won = |&owner: &usize| if owner == boxes.mover { 1 } else { -1 };
        let lead = boxes.owners.iter().flatten().map(won).sum();
        let (score, plies) = self.known[boxes];
        let turn = |waits| Turn { state: (lines, lead), waits };
        let [mover, other] = [Side::ALL[boxes.mover], Side::ALL[1 - boxes.mover]];
        let moving = (Position { state: turn(false), side: mover }, (score, Some(plies)));
        let waiting =
            |pass| (Position { state: turn(true), side: other }, (-score, Some(plies + pass)));
        match (boxes.again, boxes.owners.iter().all(Option::is_some)) {
            (false, _) => vec![moving],
            (true, false) => vec![moving, waiting(1)],
            (true, true) => vec![waiting(0)],
        }
    }
}

/// The first player wins two by two boxes by three to one.
#[test]
fn dots_and_boxes_has_the_values_of_a_plain_solver() {
    for (rows, columns, score) in [(2, 2, 2), (1, 3, -1), (1, 1, -1)] {
        let owners = vec![None; rows * columns];
        let start = PlainBoxes { lines: BTreeSet::new(), owners, mover: 0, again: false };
        let mut solver = BoxSolver { columns, known: HashMap::new() };
        assert_eq!(solver.solve(&start).0, score, "{rows}x{columns}");
        let values = solver.known.keys().flat_map(|boxes| solver.positions(boxes));
        assert_solved(ForcedPasses(DotsAndBoxes::new(rows, columns)), values.collect::<Vec<_>>());
    }
}

/// The first of several moves is played again.
impl MovesAgain for Listed {
    fn moves_again(&self, &state: &u32, action: Action) -> bool {
        action == Action(0) && self.nodes[state as usize].moves.len() > 1
    }
}

/// Extra moves and passes go with positions that repeat.
#[test]
fn players_move_again_in_games_without_layers() {
    let mut random = Random(11);
    let mut nodes = vec![interior(0, [1, 2, 3])];
    for state in 1..200 {
        let mut moves: Vec<u32> = (0..random.below(5)).map(|_| random.below(200) as u32).collect();
        moves.sort_unstable();
        moves.dedup();
        let is_over = moves.is_empty() || state % 7 == 0;
        nodes.push(if is_over { lost(0) } else { interior(0, moves) });
    }
    let game = Listed { nodes, ..Listed::default() };
    let moves = |&(state, waits, side): &(u32, bool, Side)| {
        let after = &game.nodes[state as usize].moves;
        if after.is_empty() {
            return Err(if waits { 1 } else { -1 });
        }
        let again = |at: usize| !waits && at == 0 && after.len() > 1;
        let played = after.iter().enumerate().map(|(at, &to)| (to, again(at), side.other()));
        Ok(if waits { vec![(state, false, side.other())] } else { played.collect() })
    };
    let values = iterated((0, false, Side::First), moves, |_| 0);
    let position = |(state, waits, side)| Position { state: Turn { state, waits }, side };
    let values: Vec<_> = values.into_iter().map(|(at, value)| (position(at), value)).collect();
    assert_solved(ForcedPasses(game), values);
}
