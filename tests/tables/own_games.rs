//! Games with features that no built-in game has: moves that jump layers, drawn ends, consecutive
//! passes, many moves, and ranks combined with symmetries, drawn ends or layers.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use yomikiri::enumerate::{self, Index, Plan};

use yomikiri::oracle::{Oracle, SolvedTable};
use yomikiri::progress::{Progress, Silent};
use yomikiri::rules::{
    Action, Address, AnyState, Game, Group, Outcome, Position, Repetition, Rules, Side, Symmetry,
    assert_conforms,
};
use yomikiri::solution::Solution;
use yomikiri::solve::{self, RowOrder, SolveOptions, Value};
use yomikiri::table::rows::pack;
use yomikiri::table::{Store, Table};

use crate::common::Random;
use crate::common::listed::{Listed, Node, interior, layered, lost, nim};
use crate::common::solved::{enumerated, solve, standard};
use crate::common::tables::{Tables, assert_same_files, forge};
use crate::examples::ranked_four::RankedFour;
use crate::examples::three_mens_morris::{NEXT, ThreeMensMorris};

/// Returns a random game whose moves lead up to five layers on; some layers have no state. It has
/// passes. No move jumps over a multiple of ten.
fn jumping() -> Listed {
    let mut random = Random(7);
    let mut nodes = vec![interior(0, [])];
    let mut first = vec![0];
    for layer in 1..=40u32 {
        first.push(nodes.len() as u32);
        let states = match layer {
            _ if layer % 10 == 0 => 30,
            _ if layer % 7 == 3 => 0,
            _ => 10 + random.below(50),
        };
        nodes.extend((0..states).map(|_| interior(layer, [])));
    }
    first.push(nodes.len() as u32);
    for (state, node) in nodes.iter_mut().enumerate() {
        let last = (node.layer / 10 * 10 + 10).min(node.layer + 5).min(40);
        let to = first[node.layer as usize + 1] as usize..first[last as usize + 1] as usize;
        let moves = if to.is_empty() { 0 } else { random.below(6) + usize::from(state == 0) };
        node.moves = (0..moves).map(|_| (to.start + random.below(to.len())) as u32).collect();
        node.moves.sort_unstable();
        node.moves.dedup();
        if node.moves.is_empty() {
            let ends = [Outcome::Win, Outcome::Draw, Outcome::Loss];
            node.end = Some(ends[random.below(3)]);
        }
    }
    // One state passes, to a state of its layer that has moves and no other predecessor by a pass.
    for layer in (1..40u32).filter(|layer| layer % 3 == 1) {
        let own = first[layer as usize]..first[layer as usize + 1];
        let mut moving = own.filter(|&state| nodes[state as usize].end.is_none());
        if let (Some(passes), Some(target)) = (moving.next(), moving.next()) {
            nodes[passes as usize] = Node { layer, pass: Some(target), ..Node::default() };
        }
    }
    layered(nodes)
}

/// Returns the outcome of every state of a layered game and the plies to its end, computed without a table.
fn plain(game: &Listed) -> Vec<(i8, u16)> {
    let mut order: Vec<usize> = (0..game.nodes.len()).collect();
    // A pass comes after the other states of its layer.
    order.sort_by_key(|&state| (u32::MAX - game.nodes[state].layer, game.nodes[state].pass));
    let mut values = vec![(0, 0); order.len()];
    for state in order {
        let Node { moves, end, pass, .. } = &game.nodes[state];
        values[state] = match end {
            Some(end) => (end.value(), 0),
            None => {
                let after = moves.iter().chain(pass).map(|&state| values[state as usize]);
                let own = after.map(|(outcome, plies)| (-outcome, plies + 1));
                // A shorter way is better, unless it loses.
                own.max_by_key(|&(outcome, plies)| {
                    (outcome, if outcome < 0 { i32::from(plies) } else { -i32::from(plies) })
                })
                .unwrap()
            }
        };
    }
    values
}

/// Returns the reachable states, with either side to move.
fn reached(game: &Listed) -> Vec<Position<u32>> {
    let mut all = vec![game.start()];
    let mut next = 0;
    while let Some(&position) = all.get(next) {
        next += 1;
        for action in game.actions(&position.state) {
            let after = game.advance(&position, action);
            if !all.contains(&after) {
                all.push(after);
            }
        }
    }
    all
}

fn any_state(game: &dyn Rules, state: u32) -> AnyState {
    let key_shift = game.typed::<Listed>().unwrap().key_shift;
    game.state(u128::from(state) << key_shift).unwrap()
}

/// Checks that a table has exactly the states and values of a layered game.
fn holds(game: &Listed, table: Table) {
    let any = game.clone().into_rules();
    let proof = solve::prove(&*any, &table, &Silent).unwrap();
    assert_eq!((proof.solved, proof.counterexample), (true, None));
    let solved = SolvedTable::open(any.clone(), table, true).unwrap().unwrap();
    let (values, positions) = (plain(game), reached(game));
    let mut states: Vec<u32> = positions.iter().map(|position| position.state).collect();
    states.sort_unstable();
    states.dedup();
    assert_eq!(solved.states().rows(), states.len());
    let counts = &solved.table().manifest().counts;
    assert_eq!(counts.reachable().states, positions.len() as u64);
    let value = |value: Value| (value.outcome().unwrap().value(), value.distance().unwrap());
    for position in positions {
        let asked = Position { state: any_state(&*any, position.state), side: position.side };
        let row = solved.states().find(&asked).unwrap();
        assert_eq!(solved.states().layer_of(row), Some(game.layer(&position.state)));
        assert_eq!(value(solved.value(row)), values[position.state as usize], "{position:?}");
        assert!(solved.answer(asked).is_ok(), "{position:?}");
        let moves = solved.look_ahead(&asked);
        assert_eq!(moves.len(), game.actions(&position.state).len());
        for (action, found) in moves {
            let (outcome, plies) = values[game.play(&position.state, action) as usize];
            assert_eq!(value(found.unwrap()), (-outcome, plies + 1), "{action:?} of {position:?}");
        }
    }
}

/// Moves may jump layers, even empty ones.
#[test]
fn moves_that_jump_layers_lead_where_the_rules_say() {
    let games = [nim(7, &[1, 2, 3]), nim(8, &[2, 3]), nim(9, &[2, 4]), nim(60, &[3, 8]), jumping()];
    // Keys of two words.
    let long = Listed { key_shift: 50, ..nim(60, &[3, 8]) };
    for game in games.into_iter().chain([long]) {
        assert_conforms(&game);
        let any = game.clone().into_rules();
        let tables = Tables::new();
        let mut table =
            enumerate::build(&*any, &standard(&*any), &tables.store(), &Silent).unwrap().table;
        solve(&*any, &mut table, &SolveOptions::default(), &Silent).unwrap();
        holds(&game, Table::open(table.dir()).unwrap());
        let place = table.dir().with_added_extension("packed");
        let packed = pack(&*any, &table, &place, true, &Silent).unwrap();
        holds(&game, Table::open(&packed).unwrap());
        for (order, discount) in [
            (RowOrder::Natural, None),
            (RowOrder::Policies, None),
            (RowOrder::Topological, Some(0.9)),
        ] {
            let options = SolveOptions { order: Some(order), discount, ..SolveOptions::default() };
            solve(&*any, &mut table, &options, &Silent).unwrap();
            holds(&game, Table::open(table.dir()).unwrap());
        }
    }
}

/// Distances that do not fit in a byte have two, packed or not, and a wrong one is refuted.
#[test]
fn a_long_game_has_distances_of_two_bytes() {
    let game = nim(300, &[1]);
    let any = game.clone().into_rules();
    let tables = Tables::new();
    let mut table =
        enumerate::build(&*any, &standard(&*any), &tables.store(), &Silent).unwrap().table;
    solve(&*any, &mut table, &SolveOptions::default(), &Silent).unwrap();
    assert_eq!(table.array::<u16>("distance").unwrap().iter().max(), Some(&300));
    holds(&game, Table::open(table.dir()).unwrap());
    let place = table.dir().with_added_extension("packed");
    let packed = pack(&*any, &table, &place, true, &Silent).unwrap();
    holds(&game, Table::open(&packed).unwrap());
    for (wrong, what) in [(299u16, "expected"), (29_998, "expected"), (u16::MAX, "expected")] {
        forge(table.dir(), "distance", |bytes| bytes[..2].copy_from_slice(&wrong.to_le_bytes()));
        let table = Table::open(table.dir()).unwrap();
        let found = solve::prove(&*any, &table, &Silent).unwrap().counterexample.unwrap();
        assert!(found.row == 0 && found.what.contains(what), "{wrong}: {found:?}");
    }
}

#[test]
fn moves_that_jump_layers_are_bounded_by_plies() {
    let any = jumping().into_rules();
    for depth in [1, 3, 8] {
        let plan = Plan { max_depth: Some(depth), ..standard(&*any) };
        let tables = Tables::new();
        let mut table = enumerate::build(&*any, &plan, &tables.store(), &Silent).unwrap().table;
        solve(&*any, &mut table, &SolveOptions::default(), &Silent).unwrap();
        let proof = solve::prove(&*any, &table, &Silent).unwrap();
        assert_eq!((proof.solved, proof.counterexample), (true, None), "{depth} plies");
    }
}

/// Ends the work, as a kill would, at its nth report of progress.
struct Interrupt(AtomicU32);

impl Progress for Interrupt {
    fn begin(&self, _what: &str, _total: Option<u64>) {}
    fn finish(&self, _summary: &str) {}
    fn advance(&self, _units: u64) {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 1 {
            resume_unwind(Box::new("interrupted"));
        }
    }
}

#[test]
fn an_enumeration_with_jumps_goes_on_where_none_is_open() {
    let any = jumping().into_rules();
    let plan = Plan { checkpoint_after: Duration::ZERO, ..standard(&*any) };
    let whole = Tables::new();
    enumerate::build(&*any, &plan, &whole.store(), &Silent).unwrap();
    for at in [1, 5, 12, 15, 33] {
        let tables = Tables::new();
        let interrupt = Interrupt(AtomicU32::new(at));
        let run = || enumerate::build(&*any, &plan, &tables.store(), &interrupt).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "{at}");
        let again = enumerate::build(&*any, &plan, &tables.store(), &Silent).unwrap();
        // Moves do not jump over multiples of ten, so checkpoints are possible there.
        assert_eq!(again.resumed_at.is_some(), at > 10, "interrupted in layer {at}");
        assert!(again.resumed_at.is_none_or(|layer| layer % 10 == 0 || layer % 10 == 9));
        assert_same_files(whole.root(), tables.root(), &format!("interrupted in layer {at}"));
    }
}

/// The proof asks the rules for the end of a state with moves too, whatever its moves say.
#[test]
fn a_state_that_is_over_and_has_moves_is_refused_by_the_proof() {
    let over = Node { end: Some(Outcome::Loss), ..interior(0, [0]) };
    let game = Listed { nodes: vec![interior(0, [1]), over], ..Listed::default() };
    let game = game.into_rules();
    let tables = Tables::new();
    let mut table =
        enumerate::build(&*game, &standard(&*game), &tables.store(), &Silent).unwrap().table;
    solve(&*game, &mut table, &SolveOptions::default(), &Silent).unwrap();
    let found = solve::prove(&*game, &table, &Silent).unwrap().counterexample.unwrap();
    assert_eq!(found.row, 1);
    assert_eq!(found.what, "its kind is Interior, expected Terminal");
}

/// Returns the error for a plan, which must leave no files.
fn refused(game: &dyn Rules, plan: &Plan) -> String {
    let dir = tempfile::tempdir().unwrap();
    let error = enumerate::build(game, plan, &Store::at(dir.path()), &Silent).unwrap_err().line();
    assert_eq!(error.lines().count(), 1, "{error}");
    let left = std::fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| !name.to_str().unwrap().ends_with(".lock")).collect();
    assert!(left.is_empty(), "{left:?}");
    error
}

#[test]
fn layers_that_cannot_be_are_refused() {
    let game = nim(7, &[1, 2, 3]).into_rules();
    let bounded = Plan { max_states: Some(5), ..Plan::from_start(&*game) };
    assert!(refused(&*game, &bounded).contains("bound the enumeration with --max-depth"));
    let back = layered(vec![interior(4, [1]), interior(5, [2]), interior(6, [3]), lost(5)]);
    let back = back.into_rules();
    let error = refused(&*back, &Plan::from_start(&*back));
    assert!(error.contains("a move of layer 6 leads to layer 5"), "{error}");
}

/// Two states that must pass to each other, reached both or one by way of the other.
fn passing_twice(moves: &[u32]) -> Listed {
    let pass = |to| Node { layer: 1, pass: Some(to), ..Node::default() };
    layered(vec![interior(0, moves), pass(2), pass(1)])
}

#[test]
fn a_pass_that_is_answered_by_a_pass_is_refused() {
    for moves in [&[1][..], &[1, 2]] {
        let game = passing_twice(moves).into_rules();
        let error = refused(&*game, &Plan::from_start(&*game));
        assert!(error.contains("a pass in layer 1 is answered by a pass"), "{error}");
    }
}

#[test]
#[should_panic(expected = "no pass is answered by a pass")]
fn a_pass_that_is_answered_by_a_pass_does_not_conform() {
    assert_conforms(&passing_twice(&[1]));
}

#[test]
#[should_panic(expected = "a game without `layer_unit` has layer 0 only")]
fn layers_without_a_unit_do_not_conform() {
    let nodes = vec![interior(1, [1]), lost(1)];
    assert_conforms(&Listed { nodes, is_careless: true, ..Listed::default() });
}

#[test]
#[should_panic(expected = "a key has no more bits than `key_bits`")]
fn longer_keys_than_the_game_says_do_not_conform() {
    let nodes = vec![interior(0, [1]), interior(0, [2]), interior(0, [0])];
    assert_conforms(&Listed { nodes, is_careless: true, key_shift: 64, ..Listed::default() });
}

/// A game reads positions of its own; keys, `start` and transcripts, with or without passes, are the library's.
#[test]
fn positions_are_read_in_the_games_own_notation_and_in_the_librarys() {
    let pass = |to: u32| Node { layer: 1, pass: Some(to), ..Node::default() };
    let nodes = vec![interior(0, [1]), pass(2), interior(1, [3]), lost(2)];
    let game = Listed { has_text: true, ..layered(nodes) };
    assert_conforms(&game);
    let start = game.start();
    let at = |text: &str| game.parse_position(text, &start).map(|position| position.state);
    for (text, state) in [
        ("start", 0),
        ("", 0),
        ("state 2, Second to move", 2),
        ("3 Second", 3),
        ("0 pass 0", 3),
        ("0 0", 3),
        ("0 pass", 2),
    ] {
        assert_eq!(at(text), Ok(state), "{text}");
    }
    let line = game.parse_line("0 0", &start).unwrap();
    assert_eq!(line.iter().map(|position| position.state).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert!(at("state 4, Second to move").is_err() && at("0 0 0").is_err());
    // The roots of its tables are read again.
    let any = game.into_rules();
    let (_dir, table) = enumerated(&*any, &standard(&*any));
    assert_eq!(Plan::of(&*any, &table).unwrap().roots, [any.start()]);
    assert_eq!(table.manifest().identity.roots, ["state 0, First to move"]);
    assert_eq!(table.name(), "listed", "nothing to fold");
}

/// A solution answers for the game's own states.
#[test]
fn a_solution_is_asked_by_the_states_of_the_game() {
    let (game, tables) = (nim(9, &[2, 4]), Tables::new());
    let solution = Solution::of(game.clone(), &tables.store()).unwrap();
    let (values, reached) = (plain(&game), reached(&game));
    let value = |value: Value| (value.outcome().unwrap().value(), value.distance().unwrap());
    for position in &reached {
        let (outcome, plies) = values[position.state as usize];
        assert_eq!(solution.value(position).unwrap().map(value), Some((outcome, plies)));
        let after = |action| values[game.play(&position.state, action) as usize];
        for (action, found) in solution.moves(position).unwrap() {
            assert_eq!(value(found), (-after(action).0, after(action).1 + 1));
        }
        assert_eq!(solution.moves(position).unwrap().len(), game.actions(&position.state).len());
        assert_eq!(solution.line(position).unwrap().len(), usize::from(plies));
    }
    let all: BTreeSet<u32> = solution.positions().map(|found| found.unwrap().0.state).collect();
    assert_eq!(all, reached.iter().map(|position| position.state).collect());
    let unreached = Position { state: 1, side: Side::First };
    assert!(solution.value(&unreached) == Ok(None) && solution.moves(&unreached) == Ok(vec![]));
    assert_eq!(solution.line(&unreached), Ok(vec![]));
}

/// Keys are refused where they leave a game or enter it, so that no table cuts them off.
#[test]
fn no_key_is_cut_off() {
    let nodes = vec![interior(0, [1]), interior(0, [0])];
    let game = Listed { nodes, is_careless: true, key_shift: 64, ..Listed::default() }.into_rules();
    let start = game.start().state;
    let play = AssertUnwindSafe(|| game.play(&start, Action(0)));
    let words = catch_unwind(play).unwrap_err().downcast::<String>().unwrap();
    assert!(words.contains("a key exceeds `Facts::key_bits`"), "{words}");
    assert_eq!(game.state(1 << 64), None);
    assert_eq!(game.position_at(Address::Key(1 << 64)), None);
    assert!(game.parse_position("0.1 First", &game.start()).is_err());
}

#[test]
#[should_panic(expected = "is above")]
fn scores_without_a_maximum_do_not_conform() {
    let nodes = vec![interior(0, [1]), lost(0)];
    assert_conforms(&Listed { nodes, is_careless: true, ..Listed::default() });
}

/// Up to as many as two bytes count.
#[test]
fn a_state_of_a_layered_game_may_have_many_moves() {
    for moves in [254, 255, 256, 300] {
        let mut nodes = vec![interior(0, (1..=moves).collect::<Vec<u32>>())];
        nodes.extend((1..=moves).map(|_| lost(1)));
        let game = layered(nodes);
        let any = game.clone().into_rules();
        let tables = Tables::new();
        let mut table =
            enumerate::build(&*any, &standard(&*any), &tables.store(), &Silent).unwrap().table;
        solve(&*any, &mut table, &SolveOptions::default(), &Silent).unwrap();
        holds(&game, table);
    }
}

#[test]
fn a_layer_with_more_moves_than_numbers_is_refused() {
    let mut nodes = vec![interior(0, (1..=300).collect::<Vec<u32>>())];
    nodes.extend(
        (0..300).map(|at| interior(1, (301 + 300 * at..601 + 300 * at).collect::<Vec<_>>())),
    );
    let many = || Node { claims: Some(60_000), ..interior(2, []) };
    nodes.extend((0..90_000).map(|_| many()));
    let game = layered(nodes).into_rules();
    let dir = tempfile::tempdir().unwrap();
    let made = enumerate::build(&*game, &Plan::from_start(&*game), &Store::at(dir.path()), &Silent);
    let error = made.unwrap_err().line();
    assert!(error.starts_with("layer 2 has at least 5400000000 moves"), "{error}");
}

/// Checks that tables by keys and by rank have the same states and values, also when the latter is packed.
fn same_by_rank_and_by_keys<G: Game>(game: G) -> [Tables; 2] {
    assert_conforms(&game);
    let game = game.into_rules();
    assert_eq!(Plan::from_start(&*game).index, Index::Rank);
    let by = |index: Index| {
        let tables = Tables::new();
        let plan = Plan { index, ..standard(&*game) };
        let mut table = enumerate::build(&*game, &plan, &tables.store(), &Silent).unwrap().table;
        solve(&*game, &mut table, &SolveOptions::default(), &Silent).unwrap();
        let proof = solve::prove(&*game, &table, &Silent).unwrap();
        assert_eq!((proof.solved, proof.counterexample), (true, None), "{index:?}");
        (tables, table)
    };
    let [(of_keys, keys), (of_ranks, ranks)] = [Index::Keys, Index::Rank].map(by);
    let place = ranks.dir().with_added_extension("packed");
    let packed = Table::open(&pack(&*game, &ranks, &place, true, &Silent).unwrap()).unwrap();
    assert_eq!(solve::prove(&*game, &packed, &Silent).unwrap().counterexample, None);
    let counts =
        |table: &Table| table.manifest().layers.iter().map(|c| c.table).collect::<Vec<_>>();
    assert_eq!(counts(&ranks), counts(&keys));
    let [keys, ranks, packed] = [keys, ranks, packed]
        .map(|table| SolvedTable::open(game.clone(), table, true).unwrap().unwrap());
    assert_eq!(ranks.states().rows(), keys.states().rows());
    let compared = keys.states().visit(0..keys.states().rows(), &mut |row, position| {
        for table in [&ranks, &packed] {
            let found = table.states().find(&position).unwrap();
            assert_eq!(table.value(found), keys.value(row), "{position:?}");
        }
        Ok(())
    });
    compared.unwrap();
    [of_keys, of_ranks]
}

/// Returns a random game with cycles and draws. Every fourth state is an end.
fn going_round(seed: u64) -> Listed {
    let mut random = Random(seed);
    let states = 60;
    let mut nodes: Vec<Node> = (0..states)
        .map(|state| match state % 4 {
            3 if random.below(2) == 0 => lost(0),
            3 => Node { end: Some(Outcome::Draw), ..lost(0) },
            _ => interior(
                0,
                (0..1 + random.below(3)).map(|_| random.below(states) as u32).collect::<Vec<_>>(),
            ),
        })
        .collect();
    for node in &mut nodes {
        node.moves.sort_unstable();
        node.moves.dedup();
    }
    // Makes most states reachable.
    nodes[0].moves = (1..6).collect();
    Listed { nodes, is_ranked: true, ..Listed::default() }
}

/// A drawn end has the same value as infinite play.
#[test]
fn drawn_ends_have_the_same_values_by_rank_and_by_keys() {
    (0..20).for_each(|seed| drop(same_by_rank_and_by_keys(going_round(seed))));
    // If these differ, a byte has no value for both.
    let game = going_round(0).into_rules();
    let tables = Tables::new();
    let mut table =
        enumerate::build(&*game, &standard(&*game), &tables.store(), &Silent).unwrap().table;
    let options = SolveOptions { repetition: Some(Repetition::Unknown), ..SolveOptions::default() };
    let error = solve(&*game, &mut table, &options, &Silent).unwrap_err().line();
    assert!(error.contains("ends in a draw") && error.contains("--index keys"), "{error}");
}

#[test]
fn ranks_are_refused_where_who_moved_last_has_lost() {
    let won = Node { end: Some(Outcome::Win), ..lost(0) };
    let nodes = vec![interior(0, [1]), interior(0, [0, 2]), won];
    let game = Listed { nodes, is_ranked: true, ..Listed::default() }.into_rules();
    let error = refused(&*game, &Plan::from_start(&*game));
    assert!(error.contains("ends with a win in 0") && error.contains("--index keys"), "{error}");
}

/// Layers are swept with either index, also if moves jump layers or pass.
#[test]
fn layered_games_have_the_same_values_by_rank_and_by_keys() {
    for has_scores in [false, true] {
        same_by_rank_and_by_keys(Listed { is_ranked: true, has_scores, ..jumping() });
    }
    let [_, tables] = same_by_rank_and_by_keys(RankedFour::new(4, 4));
    let game = RankedFour::new(4, 4).into_rules();
    let mut table = tables.store().open("ranked-four-4x4").unwrap();
    let natural = SolveOptions { order: Some(RowOrder::Natural), ..SolveOptions::default() };
    let error = solve(&*game, &mut table, &natural, &Silent).unwrap_err().line();
    assert!(error.contains("needs stored moves") && error.contains("--index keys"), "{error}");
}

/// Three men's morris with ranks. A rank is the index of the canonical key among all of them, so images
/// share it.
struct RankedMorris {
    rules: ThreeMensMorris,
    states: Vec<u128>,
}

impl RankedMorris {
    fn new() -> RankedMorris {
        let rules = ThreeMensMorris::new(false);
        let mut states = vec![rules.canonical(&rules.start().state).key];
        let mut next = 0;
        while let Some(&key) = states.get(next) {
            next += 1;
            rules.moves(&rules.state(key).unwrap(), |_, after| {
                let key = rules.canonical(&after).key;
                if !states.contains(&key) {
                    states.push(key);
                }
            });
        }
        states.sort_unstable();
        RankedMorris { rules, states }
    }
}

type Board = (u16, u16);

impl Game for RankedMorris {
    type State = Board;

    fn name(&self) -> String {
        "ranked-morris".to_string()
    }
    fn start(&self) -> Position<Board> {
        self.rules.start()
    }
    fn action_count(&self) -> usize {
        self.rules.action_count()
    }
    fn moves(&self, state: &Board, each: impl FnMut(Action, Board)) {
        self.rules.moves(state, each);
    }
    fn result(&self, state: &Board) -> Option<Outcome> {
        self.rules.result(state)
    }
    fn key(&self, state: &Board) -> u128 {
        self.rules.key(state)
    }
    fn state(&self, key: u128) -> Option<Board> {
        self.rules.state(key)
    }

    // ---- symmetries ----
    fn group(&self) -> &Group {
        self.rules.group()
    }
    fn transform(&self, state: &Board, symmetry: Symmetry) -> Board {
        self.rules.transform(state, symmetry)
    }
    fn transform_action(&self, action: Action, symmetry: Symmetry) -> Action {
        self.rules.transform_action(action, symmetry)
    }

    // ---- ranks ----
    fn rank_count(&self) -> Option<u32> {
        Some(self.states.len() as u32)
    }
    fn rank(&self, state: &Board) -> Option<u32> {
        let key = self.rules.canonical(state).key;
        self.states.binary_search(&key).ok().map(|rank| rank as u32)
    }
    fn state_of_rank(&self, rank: u32) -> Option<Board> {
        // Any image will do.
        let state = self.states.get(rank as usize).and_then(|&key| self.rules.state(key))?;
        Some(self.rules.transform(&state, (rank % 8) as Symmetry))
    }
    fn predecessors(&self, rank: u32, before: &mut Vec<u32>) {
        let Some((mine, theirs)) = self.state_of_rank(rank) else { return };
        let mut found = BTreeSet::new();
        let mut visit = |state| found.extend(self.rank(&state));
        let free = 0o777 & !(mine | theirs);
        let points = |set: u16| (0..9usize).filter(move |point| set >> point & 1 == 1);
        for to in points(theirs) {
            let others = theirs & !(1 << to);
            // The player to move next has as many men on the board as the other had before placing.
            let (men, others_men) = (mine.count_ones(), others.count_ones());
            if others_men < 3 && (men == others_men || men == others_men + 1) {
                visit((others, mine));
            }
            if others_men == 2 && men == 3 {
                points(NEXT[to] & free).for_each(|from| visit((others | 1 << from, mine)));
            }
        }
        before.extend(found);
    }
}

/// Under the eight symmetries of the board two moves of a state may lead to the same rank.
#[test]
fn morris_has_the_same_values_by_rank_and_by_keys() {
    same_by_rank_and_by_keys(RankedMorris::new());
}
