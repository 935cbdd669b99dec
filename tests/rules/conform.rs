//! `conform` names the method, the promise and the state of mistakes planted in a correct game.

use yomikiri::error::Error;
use yomikiri::rules::symmetry::map_square;
use yomikiri::rules::{
    Action, Drawn, Empties, Facts, Game, Group, MoveSquares, Outcome, PlaneKinds, Position, Score,
    Side, Symmetry, assert_conforms, conform,
};

const LINES: [u64; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

/// Squares of the mover and of the opponent.
type Board = (u64, u64);

/// Mistake planted in [`Marks`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    SidesNotExchanged,
    SharedKey,
    LongKey,
    StateRefused,
    StateMuddled,
    ActionsDescend,
    ActionTooHigh,
    NoMoveWithoutResult,
    MovesAfterTheEnd,
    PassBesideMoves,
    NamesShared,
    RulesFavourADirection,
    ActionsTurnedWrongly,
    NotAGroup,
    ResultOfOneDirection,
    LayerStays,
    RankTooHigh,
    RankMuddled,
    TextWithoutSide,
    PlanesTooFew,
    PlanesTooMany,
    SwappedOutOfTurn,
    ScoreTooHigh,
    ScoreOfTheOther,
    PredecessorsOfNone,
    SideUnread,
    SideOfOneKey,
    MoveToNowhere,
    LettersOfNoKind,
    ScoresWithoutLayers,
}

/// Tic-tac-toe with every capability, in which the sooner win scores more.
struct Marks {
    fault: Fault,
    group: Group,
    /// Canonical states in the order of their ranks: by layers, then by keys.
    ranked: Vec<Board>,
}

fn bits(set: u64) -> impl Iterator<Item = u64> {
    (0..9).filter(move |square| set >> square & 1 == 1)
}

fn turned(square: u64, symmetry: Symmetry) -> u64 {
    let (row, column) = map_square(symmetry, (square as usize / 3, square as usize % 3), 3, 3);
    (3 * row + column) as u64
}

impl Marks {
    fn new(fault: Fault) -> Marks {
        let mut game =
            Marks { fault: Fault::None, group: Group::of_board(3, 3), ranked: Vec::new() };
        let mut next = vec![game.start().state];
        while !next.is_empty() {
            game.ranked.extend(&next);
            let states = std::mem::take(&mut next);
            for state in states {
                game.moves(&state, |_, after| next.extend(game.state(game.canonical(&after).key)));
            }
            next.sort_by_key(|state| game.key(state));
            next.dedup();
        }
        Marks { fault, ..game }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }
}

impl Game for Marks {
    type State = Board;

    fn name(&self) -> String {
        "marks".to_string()
    }
    fn start(&self) -> Position<Board> {
        Position { state: (0, 0), side: Side::First }
    }
    fn action_count(&self) -> usize {
        if self.has(Fault::ActionTooHigh) { 8 } else { 9 }
    }
    fn moves(&self, state: &Board, mut each: impl FnMut(Action, Board)) {
        let &(mine, theirs) = state;
        let is_over = self.result(state).is_some() && !self.has(Fault::MovesAfterTheEnd);
        let mut free: Vec<u64> = bits(!(mine | theirs)).filter(|_| !is_over).collect();
        if self.has(Fault::ActionsDescend) {
            free.reverse();
        }
        if self.has(Fault::RulesFavourADirection) && mine | theirs == 0 {
            free.remove(0);
        }
        for square in free {
            let moved = mine | 1 << square;
            let after = (theirs, moved);
            let unexchanged = self.has(Fault::SidesNotExchanged);
            each(Action(square as u16), if unexchanged { (moved, theirs) } else { after });
        }
    }
    fn result(&self, &(mine, theirs): &Board) -> Option<Outcome> {
        let lines = if self.has(Fault::ResultOfOneDirection) { &LINES[1..] } else { &LINES[..] };
        let lost = lines.iter().any(|line| theirs & line == *line);
        let is_full = mine | theirs == 0o777 && !self.has(Fault::NoMoveWithoutResult);
        if lost { Some(Outcome::Loss) } else { is_full.then_some(Outcome::Draw) }
    }
    fn key(&self, &(mine, theirs): &Board) -> u128 {
        let theirs = if self.has(Fault::SharedKey) { theirs & !1 } else { theirs };
        u128::from(mine << 9 | theirs)
    }
    fn state(&self, key: u128) -> Option<Board> {
        let (mine, theirs) = ((key >> 9) as u64, (key & 0o777) as u64);
        let in_turn = theirs.count_ones().wrapping_sub(mine.count_ones()) <= 1;
        let is_state = key >> 18 == 0 && mine & theirs == 0 && in_turn;
        let muddled = self.has(Fault::StateMuddled) && theirs == 0o20;
        let refused = self.has(Fault::StateRefused) && theirs == 0o20;
        let state = if muddled { (mine, 0o40) } else { (mine, theirs) };
        (is_state && !refused).then_some(state)
    }
    fn facts(&self) -> Facts {
        let key_bits = if self.has(Fault::LongKey) { 12 } else { 18 };
        Facts { shape: (3, 3), key_bits, ..Facts::default() }
    }
    fn is_pass(&self, action: Action) -> bool {
        self.has(Fault::PassBesideMoves) && action.0 == 4
    }
    /// Returns a state only if both have the same number of squares.
    fn swapped(&self, &(mine, theirs): &Board) -> Option<Board> {
        let in_turn = mine.count_ones() == theirs.count_ones();
        (in_turn || self.has(Fault::SwappedOutOfTurn)).then_some((theirs, mine))
    }

    // ---- sides ----
    fn keeps_sides(&self) -> bool {
        self.has(Fault::SideUnread)
    }
    fn side_of(&self, key: u128) -> Side {
        let is_full = self.has(Fault::SideOfOneKey) && key.count_ones() == 9;
        if is_full { Side::Second } else { Side::First }
    }

    // ---- layers ----
    fn layer_unit(&self) -> Option<&'static str> {
        let is_layered =
            !self.has(Fault::PredecessorsOfNone) && !self.has(Fault::ScoresWithoutLayers);
        is_layered.then_some("marks")
    }
    fn layer(&self, &(mine, theirs): &Board) -> u32 {
        match self.fault {
            Fault::LayerStays => mine.count_ones(),
            Fault::PredecessorsOfNone | Fault::ScoresWithoutLayers => 0,
            _ => (mine | theirs).count_ones(),
        }
    }

    // ---- scores ----
    fn max_score(&self) -> Option<Score> {
        let most = Score(if self.has(Fault::ScoreTooHigh) { 2 } else { 5 });
        (!self.has(Fault::PredecessorsOfNone)).then_some(most)
    }
    fn score(&self, state: &Board, _empties: Empties) -> Score {
        if self.has(Fault::PredecessorsOfNone) {
            return Score(self.result(state).map_or(0, Outcome::value));
        }
        let size = 1 + (!(state.0 | state.1) & 0o777).count_ones() as i8;
        let outcome = self.result(state).map_or(0, Outcome::value);
        Score(if self.has(Fault::ScoreOfTheOther) { -outcome * size } else { outcome * size })
    }

    // ---- symmetries ----
    fn group(&self) -> &Group {
        &self.group
    }
    fn transform(&self, &(mine, theirs): &Board, symmetry: Symmetry) -> Board {
        // Symmetry 1 becomes a rotation, which is not its own inverse.
        let symmetry = match symmetry {
            1 if self.has(Fault::NotAGroup) => 5,
            symmetry => symmetry,
        };
        let image = |set| bits(set).map(|square| 1 << turned(square, symmetry)).sum();
        (image(mine), image(theirs))
    }
    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action {
        let same = self.has(Fault::ActionsTurnedWrongly);
        if same { action } else { Action(turned(action.0.into(), symmetry) as u16) }
    }

    // ---- ranks ----
    fn rank_count(&self) -> Option<u32> {
        let count = if self.has(Fault::RankTooHigh) { 100 } else { self.ranked.len() as u32 };
        (!self.has(Fault::ScoresWithoutLayers)).then_some(count)
    }
    fn rank(&self, state: &Board) -> Option<u32> {
        let place = |state: &Board| (u128::from((state.0 | state.1).count_ones()), self.key(state));
        let canonical = self.state(self.canonical(state).key)?;
        let rank = self.ranked.binary_search_by_key(&place(&canonical), place);
        rank.ok().map(|rank| rank as u32)
    }
    fn state_of_rank(&self, rank: u32) -> Option<Board> {
        let muddled = self.has(Fault::RankMuddled) && matches!(rank, 1 | 2);
        self.ranked.get(if muddled { 3 - rank } else { rank } as usize).copied()
    }

    // ---- the board ----
    fn side_marks(&self) -> Option<[&'static str; 2]> {
        Some(["#", "o"])
    }
    fn move_squares(&self, _position: &Position<Board>, Action(square): Action) -> MoveSquares {
        match self.has(Fault::MoveToNowhere) {
            true => MoveSquares { from: Some(square), to: None },
            false => MoveSquares { from: None, to: Some(square) },
        }
    }
    fn drawn(&self, position: &Position<Board>) -> Drawn {
        let letter = if self.has(Fault::LettersOfNoKind) { "#" } else { "X" };
        let (mine, theirs) = position.state;
        let (first, second) = match position.side {
            Side::First => (mine, theirs),
            Side::Second => (theirs, mine),
        };
        let cell = |square: usize| match (first >> square & 1, second >> square & 1) {
            (1, _) => letter,
            (_, 1) => "O",
            _ => "",
        };
        Drawn { cells: (0..9).map(|square| cell(square).to_string()).collect(), ..Drawn::default() }
    }
    fn squares(&self, state: &Board) -> Option<(u64, u64)> {
        Some(*state)
    }
    fn of_squares(&self, mine: u64, theirs: u64) -> Option<Board> {
        (mine & theirs == 0).then_some((mine, theirs))
    }

    // ---- planes ----
    fn plane_kinds(&self) -> PlaneKinds {
        PlaneKinds { pieces: vec!["mark"], ..PlaneKinds::default() }
    }
    fn write_planes(&self, state: &Board, out: &mut [f32]) {
        let planes: &[u64] = match self.fault {
            Fault::PlanesTooFew => &[state.0],
            Fault::PlanesTooMany => &[state.0, state.1, 0],
            _ => &[state.0, state.1],
        };
        for (plane, set) in planes.iter().enumerate() {
            (0..9).for_each(|square| out[9 * plane + square] = (set >> square & 1) as f32);
        }
    }
    fn read_planes(&self, planes: &[f32]) -> Option<Board> {
        if planes.len() != 18 || planes.iter().any(|&number| number != 0.0 && number != 1.0) {
            return None;
        }
        let set = |plane: &[f32]| plane.iter().rev().fold(0, |set, &n| set << 1 | n as u64);
        let (mine, theirs) = (set(&planes[..9]), set(&planes[9..]));
        self.of_squares(mine, theirs)
    }

    // ---- notation ----
    fn action_name(&self, _side: Side, action: Action) -> String {
        let column = ["a", "b", "c"][usize::from(action.0) % 3];
        let is_short = self.has(Fault::NamesShared);
        if is_short { column.to_string() } else { format!("{column}{}", action.0 / 3 + 1) }
    }
    fn written(&self, position: &Position<Board>) -> Vec<(&'static str, String)> {
        let Position { state: (mine, theirs), side } = position;
        vec![("octal", format!("{mine:o}/{theirs:o} {}", self.side_name(*side)))]
    }
    fn parse_line(
        &self,
        text: &str,
        _from: &Position<Board>,
    ) -> Result<Vec<Position<Board>>, Error> {
        let read = || {
            let (squares, side) = text.split_once(' ')?;
            let (mine, theirs) = squares.split_once('/')?;
            let set = |text| u64::from_str_radix(text, 8).ok();
            let side = Side::ALL.into_iter().find(|&s| self.side_name(s) == side)?;
            let side = if self.has(Fault::TextWithoutSide) { Side::First } else { side };
            Some(vec![Position { state: (set(mine)?, set(theirs)?), side }])
        };
        read().ok_or_else(|| Error::from(format!("invalid position `{text}`")))
    }
}

#[test]
fn a_correct_game_conforms() {
    assert_conforms(&Marks::new(Fault::None));
}

/// Checks that `conform` names a planted mistake, and does so in the same words again.
fn named(fault: Fault, method: &str, promise: &str) -> String {
    let game = Marks::new(fault);
    let found = conform(&game).expect_err("the planted mistake is not found");
    assert_eq!(found.method, method, "{fault:?}: {found:#}");
    assert!(found.promise.contains(promise), "{fault:?}: {found:#}");
    assert_eq!(conform(&game), Err(found.clone()));
    let line = found.to_string();
    assert_eq!((line.lines().count(), format!("{found:#}").lines().count()), (1, 2), "{found:#}");
    format!("{found:#}")
}

macro_rules! mistakes {
    ($($name:ident: $fault:ident, $method:literal, $promise:literal;)*) => {$(
        #[test]
        fn $name() {
            named(Fault::$fault, $method, $promise);
        }
    )*};
}

mistakes! {
    sides_that_are_not_exchanged: SidesNotExchanged, "moves", "sides are exchanged";
    a_key_of_two_states: SharedKey, "key", "share a key";
    a_key_with_too_many_bits: LongKey, "key", "key_bits";
    a_state_that_is_refused: StateRefused, "state", "unpacks";
    a_key_of_another_state: StateMuddled, "state", "inverse";
    actions_that_descend: ActionsDescend, "moves", "ascend";
    an_action_that_is_too_high: ActionTooHigh, "moves", "action_count";
    a_state_without_moves_and_result: NoMoveWithoutResult, "result", "no move";
    a_finished_state_with_moves: MovesAfterTheEnd, "moves", "over";
    a_pass_beside_other_moves: PassBesideMoves, "is_pass", "only move";
    moves_of_one_name: NamesShared, "action_name", "different names";
    rules_without_the_symmetry: RulesFavourADirection, "transform", "commute";
    actions_that_are_not_transformed: ActionsTurnedWrongly, "transform_action", "commute";
    a_result_that_depends_on_the_direction: ResultOfOneDirection, "result", "images";
    a_layer_that_does_not_rise: LayerStays, "layer", "later layer";
    a_rank_that_is_too_high: RankTooHigh, "rank", "rank_count";
    a_rank_of_another_state: RankMuddled, "state_of_rank", "inverse";
    a_text_that_does_not_read_back: TextWithoutSide, "parse_line", "reads back";
    too_few_planes: PlanesTooFew, "write_planes", "all planes";
    a_swapped_state_that_is_none: SwappedOutOfTurn, "swapped", "is a state";
    a_score_above_the_highest: ScoreTooHigh, "score", "max_score";
    a_score_of_another_sign: ScoreOfTheOther, "score", "sign";
    missing_predecessors: PredecessorsOfNone, "predecessors", "each rank";
    a_move_that_leaves_for_nowhere: MoveToNowhere, "move_squares", "reaches one";
    letters_that_no_kind_has: LettersOfNoKind, "drawn", "piece_kinds";
    scores_without_layers: ScoresWithoutLayers, "max_score", "has layers";
    a_side_that_is_not_read: SideUnread, "side_of", "the side to move if `keeps_sides`";
    a_side_in_keys_without_sides: SideOfOneKey, "side_of", "else the first";
}

/// A [`Group`] is closed however it is made, so the images are wrong instead.
#[test]
fn a_symmetry_outside_the_group() {
    named(Fault::NotAGroup, "transform", "multiply");
}

#[test]
fn diagrams_have_the_marks_of_the_sides() {
    let game = Marks::new(Fault::None);
    let mut position = game.start();
    for _ in 0..2 {
        position = game.advance(&position, game.actions(&position.state)[0]);
    }
    let diagram = game.diagram(&position);
    assert!(diagram.contains('#') && diagram.contains('o') && !diagram.contains('X'), "{diagram}");
}

/// `enumerate --start both` asks for the swapped start.
#[test]
fn a_swapped_state_that_is_none_is_not_handed_out() {
    let game = Marks::new(Fault::SwappedOutOfTurn).into_rules();
    let first = game.advance(&game.start(), game.actions(&game.start().state)[0]);
    assert_eq!(game.swapped(&first.state), None);
}

/// One plane too many exceeds the slice, and the game panics.
#[test]
fn a_panic_of_the_game() {
    let text = named(Fault::PlanesTooMany, "write_planes", "no method panics");
    assert!(text.contains("index out of bounds"), "{text}");
}

#[test]
fn the_message_is_as_the_page_shows_it() {
    let page = include_str!("../../docs/your-own-game.md");
    let text = named(Fault::SharedKey, "key", "share a key");
    assert!(page.contains(&format!("```text\n{text}\n```")), "{text}");
}

#[test]
#[should_panic(expected = "hint: call `each` in ascending order of actions")]
fn tests_panic_with_the_hint() {
    assert_conforms(&Marks::new(Fault::ActionsDescend));
}

/// Methods that follow from others.
const DERIVED: [&str; 17] = [
    "into_rules",
    "actions",
    "advance",
    "must_pass",
    "is_terminal",
    "repetition",
    "is_layered",
    "has_scores",
    "position_key",
    "position_of",
    "shape",
    "has_squares",
    "side_name",
    "side_mark",
    "notation",
    "parse_position",
    "diagram_japanese",
];

#[test]
fn the_page_has_the_signature_of_every_method() {
    let page = include_str!("../../docs/your-own-game.md");
    let code = include_str!("../../src/rules/mod.rs");
    let (_, body) = code.split_once("pub trait Game:").unwrap();
    let (body, _) = body.split_once("\n}\n").unwrap();
    let mut count = 0;
    for method in body.split("\n    fn ").skip(1) {
        let signature = method.split(['{', ';']).next().unwrap();
        let (name, _) = signature.split_once('(').unwrap();
        // The program at the head of the page shows these with its own state.
        let is_shown = ["moves", "result", "key", "state", "layer"].contains(&name);
        if DERIVED.contains(&name) || is_shown && page.contains(&format!("fn {name}(")) {
            continue;
        }
        let words: Vec<&str> = signature.split_whitespace().collect();
        let signature = words.join(" ").replace("( ", "(").replace(", )", ")").replace(" _", " ");
        let signature = signature.replace("mut each", "each");
        let signature = signature.replace("Position<Self::State>", "Position");
        let signature = signature.replace("Self::State", "State");
        assert!(page.contains(&format!("fn {signature}")), "the page lacks `fn {signature}`");
        count += 1;
    }
    assert!(count > 40, "{count} methods");
}
