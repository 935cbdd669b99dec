//! Counts and values agree with published figures (`tests/data/README.md`) in every layer, and with a
//! plain solver of our own in every state.

use std::collections::BTreeMap;

use crate::common::plain::{Plain, Reference};
use crate::common::solved::{
    board_4x4, both, enumerated, named, opened, solve, solved, standard, unfolded,
};
use serde_json::Value;
use yomikiri::enumerate::Plan;
use yomikiri::games::othello::Othello;
use yomikiri::progress::Silent;
use yomikiri::registry::Games;
use yomikiri::rules::{Empties, Game};
use yomikiri::solve::{RowOrder, SolveOptions, Values};
use yomikiri::table::rows::Rows;
use yomikiri::table::{Manifest, Table};

fn truth(board: &str) -> Value {
    let truth: Value = serde_json::from_str(include_str!("../data/othello.json")).unwrap();
    truth[board].clone()
}

fn number(value: &Value, field: &str) -> u64 {
    value[field].as_u64().unwrap_or_else(|| panic!("invalid count {field} in {value}"))
}

fn check_unreduced(manifest: &Manifest, truth: &Value) {
    let unreduced = &truth["unreduced"];
    let counts = &manifest.counts;
    let expected = |field| number(unreduced, field);
    assert_eq!(counts.reachable().states, expected("states_board_and_side"));
    assert_eq!(counts.distinct_boards(), expected("distinct_boards"));
    assert_eq!(counts.mover_relative(), expected("mover_relative"));
    assert_eq!(counts.reachable().transitions, expected("transitions_with_passes"));
    assert_eq!(counts.reachable().passes, expected("pass_states"));
    assert_eq!(counts.reachable().terminals, expected("terminal_states"));
    assert_eq!(counts.canonical(), number(&truth["total"], "canonical_states"));
    if let Some(by_discs) = unreduced.get("by_discs").and_then(Value::as_object) {
        assert_eq!(manifest.layers.len(), by_discs.len());
        for (i, layer) in manifest.layers.iter().enumerate() {
            let discs = (manifest.first_layer as usize + i).to_string();
            assert_eq!(layer.reachable().states, by_discs[&discs].as_u64().unwrap(), "{discs}");
        }
    }
}

/// Checks layers, values and the histogram of a folded, solved table.
fn check_values(table: &Table, truth: &Value) {
    let manifest = table.manifest();
    let graph = Rows::open(&*Games::default().of_table(table).unwrap(), table).unwrap();
    let values = Values::open(table, false).unwrap().unwrap();
    let layers = truth["layers"].as_array().unwrap();
    assert_eq!(manifest.layers.len(), layers.len());
    let mut histogram = BTreeMap::new();
    for ((rows, counts), expected) in graph.layers().zip(&manifest.layers).zip(layers) {
        let discs = number(expected, "discs");
        let field = |name| number(expected, name);
        assert_eq!(counts.table.states, field("canonical_states"), "{discs} discs");
        let placing = counts.table.transitions - counts.table.passes;
        assert_eq!(placing, field("placing_moves"), "{discs} discs");
        let (mut outcomes, mut sum) = ([0u64; 3], 0);
        for row in rows {
            let score = values.get(row).score().unwrap();
            outcomes[score.outcome().index()] += 1;
            sum += i64::from(score.0);
            *histogram.entry(score.0.to_string()).or_insert(0) += 1;
        }
        assert_eq!(outcomes, [field("loss"), field("draw"), field("win")], "{discs} discs");
        assert_eq!(sum, expected["score_sum"].as_i64().unwrap(), "{discs} discs");
    }
    let expected: BTreeMap<String, u64> =
        serde_json::from_value(truth["total"]["score_histogram"].clone()).unwrap();
    assert_eq!(histogram, expected);
    let root = &manifest.solution.as_ref().unwrap().roots[0];
    assert_eq!(root.score.map(i64::from), truth["total"]["root_score"].as_i64());
}

#[test]
fn counts_and_values_of_4x4() {
    let game = board_4x4(true);
    let (_dir, table) = solved(&*game, &standard(&*game));
    check_unreduced(table.manifest(), &truth("4x4"));
    check_values(&table, &truth("4x4"));
}

#[test]
fn counts_and_values_of_4x5() {
    let game = named("othello-4x5");
    let (_dir, table) = solved(&*game, &standard(&*game));
    check_unreduced(table.manifest(), &truth("4x5"));
    check_values(&table, &truth("4x5"));
}

#[test]
fn a_board_lying_on_its_side_has_the_same_counts_and_values() {
    let game = named("othello-5x4");
    let (_dir, table) = solved(&*game, &standard(&*game));
    check_unreduced(table.manifest(), &truth("4x5"));
    check_values(&table, &truth("4x5"));
}

#[test]
fn the_published_counts_of_boards() {
    for fold in [true, false] {
        let game = board_4x4(fold);
        let (_dir, table) = enumerated(&*game, &both(&*game));
        let expected = &truth("4x4")["unreduced"]["both_starts"];
        let counts = &table.manifest().counts;
        assert_eq!(counts.distinct_boards(), 88_764);
        assert_eq!(counts.distinct_boards(), number(expected, "distinct_boards"));
        assert_eq!(counts.reachable().states, number(expected, "states_board_and_side"));
    }
}

#[test]
fn both_starts_of_4x5() {
    let game = named("othello-4x5");
    let (_dir, table) = enumerated(&*game, &both(&*game));
    let expected = &truth("4x5")["unreduced"]["both_starts"];
    let counts = &table.manifest().counts;
    assert_eq!(counts.distinct_boards(), number(expected, "distinct_boards"));
    assert_eq!(counts.reachable().states, number(expected, "states_board_and_side"));
}

#[test]
fn an_unfolded_table_has_the_same_counts() {
    let game = board_4x4(false);
    let (_dir, table) = enumerated(&*game, &standard(&*game));
    check_unreduced(table.manifest(), &truth("4x4"));
    assert_eq!(table.manifest().counts.table.states, table.manifest().counts.mover_relative());
}

/// Compares every state of a table with plain recursion.
fn agrees_with_the_reference(
    columns: usize,
    fold: bool,
    order: RowOrder,
    reference: &mut Reference,
) {
    let rules = Othello::new(4, columns, fold);
    let name = format!("othello-4x{columns}");
    let game = if fold { named(&name) } else { unfolded(&name) };
    let (_dir, mut table) = enumerated(&*game, &standard(&*game));
    let options = SolveOptions { order: Some(order), ..SolveOptions::default() };
    solve(&*game, &mut table, &options, &Silent).unwrap();
    let graph = Rows::open(&*game, &table).unwrap();
    let values = Values::open(&table, false).unwrap().unwrap();
    for row in 0..graph.states() {
        let board = rules.state(graph.keys().get(row).unwrap()).unwrap();
        let (score, distance) = reference.solve(&Plain::from_board(4, columns, &board));
        let value = values.get(row);
        assert_eq!(value.score().map(|s| i32::from(s.0)), Some(score), "{board:?}");
        assert_eq!(value.distance().map(u32::from), Some(distance), "{board:?}");
    }
}

#[test]
fn every_4x4_state_agrees_with_the_reference() {
    let mut reference = Reference::new();
    agrees_with_the_reference(4, true, RowOrder::Topological, &mut reference);
    agrees_with_the_reference(4, true, RowOrder::Natural, &mut reference);
    agrees_with_the_reference(4, true, RowOrder::Policies, &mut reference);
    agrees_with_the_reference(4, false, RowOrder::Topological, &mut reference);
}

#[test]
#[ignore = "takes a minute and a gigabyte"]
fn every_4x5_state_agrees_with_the_reference() {
    agrees_with_the_reference(5, true, RowOrder::Topological, &mut Reference::new());
}

/// The values of a bounded table enclose those of the complete one, and proven values are right.
#[test]
fn bounds_enclose_the_value() {
    let game = board_4x4(true);
    let rules = Othello::new(4, 4, true);
    let mut reference = Reference::new();
    let late = game.parse_position("c4d4d3d2c1b4", &game.start()).unwrap();
    let mut proven = 0;
    for (root, max_depth, max_states) in [
        (game.start(), Some(8), None),
        (game.start(), None, Some(6000)),
        (late, Some(5), None),
        (late, Some(7), Some(300)),
    ] {
        let start = if root == game.start() { "standard" } else { "custom" }.to_string();
        let roots = vec![root];
        let plan = Plan { start, roots, max_depth, max_states, ..standard(&*game) };
        let (_dir, table) = solved(&*game, &plan);
        let graph = Rows::open(&*game, &table).unwrap();
        let values = Values::open(&table, false).unwrap().unwrap();
        for row in 0..graph.states() {
            let board = rules.state(graph.keys().get(row).unwrap()).unwrap();
            let (score, distance) = reference.solve(&Plain::from_board(4, 4, &board));
            let value = values.get(row);
            let [lower, upper] = [value.lower, value.upper].map(|bound| i32::from(bound.score().0));
            assert!((lower..=upper).contains(&score), "{board:?}: {score} in {lower}..{upper}");
            if let Some(known) = value.distance() {
                assert_eq!(u32::from(known), distance, "{board:?}");
                proven += 1;
            }
        }
    }
    assert!(proven > 100, "only {proven} states were proven: the test shows little");
}

#[test]
fn empties_to_the_winner_change_scores_and_no_outcome() {
    let game = board_4x4(true);
    let (_dir, mut table) = solved(&*game, &standard(&*game));
    let scores = |table: &Table| {
        let values = Values::open(table, false).unwrap().unwrap();
        (0..values.rows()).map(|row| values.get(row).score().unwrap()).collect::<Vec<_>>()
    };
    let plain = scores(&table);
    let options = SolveOptions { empties: Some(Empties::ToWinner), ..SolveOptions::default() };
    solve(&*game, &mut table, &options, &Silent).unwrap();
    let rewarded = scores(&table);
    assert!(plain.iter().zip(&rewarded).all(|(a, b)| a.outcome() == b.outcome()));
    assert!(plain.iter().zip(&rewarded).any(|(a, b)| a != b));
}

/// Connect Four and tic-tac-toe: positions in every layer as a plain program counts them (`tests/rules/in_line.rs`), and the
/// values that J. Tromp published (*John's Connect Four Playground*). All boards with `YOMIKIRI_ALL_CASES=1`.
#[test]
fn boards_of_stones_in_line_have_the_counted_positions() {
    let counted: BTreeMap<String, Vec<u64>> =
        serde_json::from_str(include_str!("../data/in-line-layers.json")).unwrap();
    let large = ["connect-four-4x6", "connect-four-5x5", "connect-four-6x4", "tic-tac-toe-4x4-4"];
    assert!(large.iter().all(|name| counted.contains_key(*name)) && counted.len() == 11);
    for (name, expected) in counted {
        if large.contains(&&*name) && std::env::var_os("YOMIKIRI_ALL_CASES").is_none() {
            continue;
        }
        let game = named(&name);
        let (_dir, table) = solved(&*game, &standard(&*game));
        let layers = table.manifest().layers.iter().map(|layer| layer.reachable().states);
        assert_eq!(layers.collect::<Vec<_>>(), expected, "{name}");
        let states = game.expected(&game.start().state).filter(|expected| expected.exact);
        let rows = table.manifest().counts.table.states;
        assert!(states.is_none_or(|known| known.states == rows as f64), "{name}: {rows}");
        let row = table.manifest().root_ids[0] as usize;
        let outcome = opened(&table).value(row).outcome().map(|outcome| outcome.value());
        let won = ["tic-tac-toe-3x4-3", "tic-tac-toe-3x5-3", "tic-tac-toe-4x4-3"];
        let known = match &*name {
            "connect-four-4x6" => -1,
            _ => i8::from(won.contains(&&*name)),
        };
        assert_eq!(outcome, Some(known), "{name}");
    }
}
