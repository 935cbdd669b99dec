//! Tables of the shogi family: counts agree with the ground truth, values with two methods and a plain
//! solver, and mates have their known lengths.

use std::collections::{HashMap, HashSet};

use crate::common::plain_shogi::{self, Position as Plain, Rules};
use crate::common::solved::{named, opened};
use crate::common::tables::{Tables, assert_same_files};
use serde_json::Value;
use yomikiri::games::shogi::{ANIMAL_SHOGI, Shogi};
use yomikiri::registry::Games;
use yomikiri::rules::{Action, Game, Outcome, Position};
use yomikiri::solve::{self, Values};
use yomikiri::table::rows::Rows;

fn ground_truth(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

/// Returns a count of a table for every ply.
fn by_ply(made: &Value, what: &str) -> Vec<u64> {
    let plies = made["manifest"]["layers"].as_array().unwrap();
    plies.iter().map(|ply| ply["table"][what].as_u64().unwrap()).collect()
}

fn enumerate(tables: &Tables, args: &[&str]) -> Value {
    tables.json(&[&["enumerate", "-q"], args].concat())
}

/// Compares unfolded minishogi up to some plies with published counts.
fn minishogi_is_as_counted(plies: usize) {
    let truth = ground_truth(include_str!("../data/minishogi-perft.json"));
    let truth = &truth["unique_positions_from_start"];
    let tables = Tables::new();
    let bound = ["--max-depth", &plies.to_string(), "--symmetry", "none"];
    let made = enumerate(&tables, &[&["--game", "minishogi"][..], &bound].concat());
    assert_eq!(by_ply(&made, "states"), numbers(&truth["new_at_ply"])[..=plies]);
    assert_eq!(
        by_ply(&made, "terminals"),
        numbers(&truth["checkmated_among_new_at_ply"])[..=plies]
    );
    let counts = &made["manifest"]["counts"]["table"];
    let last = *by_ply(&made, "states").last().unwrap();
    let mates = *by_ply(&made, "terminals").last().unwrap();
    // A position that is over is not part of the frontier.
    assert_eq!(counts["frontier"], last - mates);
    assert_eq!(made["manifest"]["complete"], false);
}

#[test]
fn minishogi_has_as_many_positions_at_every_ply_as_were_counted() {
    minishogi_is_as_counted(5);
}

#[test]
#[ignore = "ply 6 has eight times the positions of all before it"]
fn minishogi_has_as_many_positions_at_ply_6_as_were_counted() {
    minishogi_is_as_counted(6);
}

/// Compares animal shogi up to some plies with published counts.
fn animal_shogi_is_as_counted(plies: usize) {
    let truth = ground_truth(include_str!("../data/animal-shogi.json"));
    let truth = truth["new_at_ply_total_catch_try_nonterminal"].as_array().unwrap();
    let truth: Vec<Vec<u64>> = truth.iter().take(plies + 1).map(numbers).collect();
    let tables = Tables::new();
    let bound = ["--max-depth", &plies.to_string()];
    let made = enumerate(&tables, &[&["--game", "animal-shogi"][..], &bound].concat());
    let totals: Vec<u64> = truth.iter().map(|ply| ply[0]).collect();
    let over: Vec<u64> = truth.iter().map(|ply| ply[1] + ply[2]).collect();
    assert_eq!(by_ply(&made, "states"), totals);
    assert_eq!(by_ply(&made, "terminals"), over);
}

#[test]
fn animal_shogi_has_as_many_positions_at_every_ply_as_were_counted() {
    animal_shogi_is_as_counted(8);
}

#[test]
#[ignore = "each ply has three times the positions of the one before it"]
fn animal_shogi_has_as_many_positions_at_plies_9_and_10_as_were_counted() {
    animal_shogi_is_as_counted(10);
}

#[test]
fn folding_makes_one_row_of_mirror_images() {
    let folded = named("minishogi");
    let tables = Tables::new();
    // The root is its own mirror image.
    let bound = ["--game", "minishogi", "--root", "2k2/5/5/5/2K2 b RGrg 1", "--max-depth", "2"];
    let folded_table = enumerate(&tables, &bound);
    let whole_table = enumerate(&tables, &[&bound[..], &["--symmetry", "none"]].concat());
    let of = |made: &Value| -> Vec<Position<_>> {
        let table = tables.store().open(made["table"].as_str().unwrap()).unwrap();
        let game = Games::default().of_table(&table).unwrap();
        let graph = Rows::open(&*game, &table).unwrap();
        (0..graph.states()).map(|row| graph.position(&*folded, row).unwrap()).collect()
    };
    let rows: HashSet<_> = of(&folded_table).iter().map(|p| folded.position_key(p)).collect();
    let all = of(&whole_table);
    let classes: HashSet<_> = all.iter().map(|p| folded.position_key(p)).collect();
    assert!(rows == classes && rows.len() < all.len());
}

#[test]
fn a_union_of_subtrees_holds_each_position_once() {
    let tables = Tables::new();
    let roots = ["rbsgk/4p/5/P4/KGSBR b - 1", "rbsgk/4p/P4/5/KGSBR w - 1", "2k2/5/5/5/2K2 b RG 1"];
    let file = tables.root().join("roots.txt");
    std::fs::write(&file, format!("# three roots\n{}\n", roots.join("\n\n"))).unwrap();
    let path = file.to_str().unwrap();
    let made = enumerate(&tables, &["--game", "minishogi", "--roots", path, "--max-depth", "2"]);
    let reached = |root: &str| plain_shogi::reachable(&Plain::read(Rules::Minishogi, root), 2);
    let mut plies: HashMap<String, usize> = HashMap::new();
    for root in roots {
        for (ply, sfens) in reached(root).into_iter().enumerate() {
            for sfen in sfens {
                plies.entry(sfen).and_modify(|p| *p = ply.min(*p)).or_insert(ply);
            }
        }
    }
    let at = |ply| plies.values().filter(|&&p| p == ply).count() as u64;
    // The second root is also reached from the first by a move, but lies at ply 0. No mirror images meet
    // in these trees.
    assert_eq!(by_ply(&made, "states"), [at(0), at(1), at(2)]);
    assert_eq!(at(0), 3);
}

#[test]
fn a_bound_of_states_leaves_the_last_ply_that_fits_as_the_frontier() {
    let tables = Tables::new();
    let bounded = |most: &str| enumerate(&tables, &["--game", "minishogi", "--max-states", most]);
    let made = bounded("2000");
    assert_eq!(by_ply(&made, "states"), [1, 14, 181, 1600]);
    assert_eq!(by_ply(&made, "frontier"), [0, 0, 0, 1600]);
    let by_depth = enumerate(&tables, &["--game", "minishogi", "--max-depth", "3"]);
    assert_eq!(made["manifest"]["arrays"], by_depth["manifest"]["arrays"]);
    let tight = tables.run(&["enumerate", "--game", "minishogi", "--max-states", "0"]);
    assert!(tight.refused("no room").contains("--max-states"));
}

/// Returns the values of a table's rows, by position in the notation of the plain solver.
fn values(tables: &Tables, name: &str) -> HashMap<String, solve::Value> {
    let solved = opened(&tables.store().open(name).unwrap());
    let mut values = HashMap::new();
    let add = |row, position| {
        let plain = Plain::read(Rules::Adjudicated, &solved.game().notation(&position));
        values.insert(plain.normalised(), solved.value(row));
        Ok(())
    };
    solved.states().visit(0..solved.states().rows(), add).unwrap();
    values
}

#[test]
fn a_whole_game_is_solved_alike_by_keys_by_rank_and_by_a_plain_solver() {
    let truth = plain_shogi::three_by_three();
    let tables = Tables::new();
    for (name, index) in [("animal-shogi-3x3", "rank"), ("animal-shogi-3x3-keys", "keys")] {
        enumerate(&tables, &["--game", "animal-shogi-3x3", "--index", index]);
        tables.ok(&["value-iterate", "-q"]);
        let found = values(&tables, name);
        assert_eq!(found.len(), truth.len(), "{name}");
        for (sfen, value) in &found {
            let outcome = value.outcome().map(Outcome::value);
            let expected = (Some(truth[sfen].0), truth[sfen].1);
            assert_eq!((outcome, value.distance()), expected, "{name}: {sfen}");
        }
    }
}

#[test]
fn values_are_proven_under_every_convention() {
    let tables = Tables::new();
    let bounded: [(&str, &[&str]); 3] = [
        ("minishogi-depth4", &["--game", "minishogi", "--max-depth", "4"]),
        ("animal-shogi-depth7", &["--game", "animal-shogi", "--max-depth", "7"]),
        ("animal-shogi-3x3-keys", &["--game", "animal-shogi-3x3", "--index", "keys"]),
    ];
    for (name, args) in bounded {
        enumerate(&tables, args);
        for repetition in ["draw", "unknown", "second-player-wins"] {
            let solved = tables.run(&["value-iterate", "-q", name, "--repetition", repetition]);
            if repetition == "second-player-wins" && !name.starts_with("minishogi") {
                assert!(solved.refused(name).contains("side to move"));
                continue;
            }
            assert_eq!(solved.code, 0, "{solved:?}");
            tables.ok(&["verify", "-q", name]);
        }
    }
}

#[test]
fn conventions_differ_where_play_need_not_end() {
    let tables = Tables::new();
    enumerate(&tables, &["--game", "animal-shogi-3x3"]);
    let proven = |repetition| {
        let solved = tables.json(&["value-iterate", "-q", "--repetition", repetition]);
        solved["solution"]["proven_outcomes"].as_u64().unwrap()
    };
    let truth = plain_shogi::three_by_three();
    let draws = truth.values().filter(|value| value.0 == 0).count() as u64;
    assert!(draws > 0);
    assert_eq!(proven("draw"), truth.len() as u64);
    assert_eq!(proven("unknown"), truth.len() as u64 - draws);
}

/// Enumerates from a position and solves. Returns the root's outcome and distance, and the names of the
/// moves that keep them.
fn solved_root(sfen: &str, bound: &[&str]) -> (Option<Outcome>, Option<u16>, HashSet<String>) {
    let game = named("minishogi");
    let tables = Tables::new();
    let made = enumerate(&tables, &[&["--game", "minishogi", "--root", sfen], bound].concat());
    tables.ok(&["value-iterate", "-q"]);
    let table = tables.store().open(made["table"].as_str().unwrap()).unwrap();
    let (graph, values) =
        (Rows::open(&*game, &table).unwrap(), Values::open(&table, false).unwrap().unwrap());
    let root = game.parse_position(sfen, &game.start()).unwrap();
    let row = graph.find(&*game, &root).unwrap();
    let value = values.get(row);
    // The row may contain the mirror image.
    let symmetry = game.canonical(&root.state).symmetry();
    let best = graph
        .edges_of(row)
        .filter(|&edge| values.get(graph.edge_targets()[edge] as usize).before() == value);
    let name = |edge: usize| {
        let action: Action = graph.action_of(edge);
        game.action_name(root.side, game.transform_action(action, symmetry))
    };
    (value.outcome(), value.distance(), best.map(name).collect())
}

fn names(value: &Value) -> HashSet<String> {
    value.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_string()).collect()
}

/// Returns the positions with known mates or without mates.
fn mates() -> Vec<Value> {
    let truth = ground_truth(include_str!("../data/minishogi-mates.json"));
    truth["positions"].as_array().unwrap().clone()
}

#[test]
fn mates_of_one_and_three_plies_have_their_length_and_their_first_moves() {
    let mut seen = 0;
    for mate in mates() {
        let Some(plies @ 1..=3) = mate["mate_plies"].as_u64() else { continue };
        let sfen = mate["sfen"].as_str().unwrap();
        let (outcome, distance, best) = solved_root(sfen, &["--max-depth", &plies.to_string()]);
        assert_eq!(outcome, Some(Outcome::Win), "{sfen}");
        assert_eq!(distance, Some(plies as u16), "{sfen}");
        assert_eq!(best, names(&mate["optimal_first_moves_usi"]), "{sfen}");
        seen += 1;
    }
    assert_eq!(seen, 10);
}

#[test]
fn a_mate_is_not_found_within_fewer_plies_than_it_takes() {
    let mut seen = 0;
    for mate in mates() {
        let plies = mate["mate_plies"].as_u64().or(mate["no_mate_within"].as_u64()).unwrap();
        if plies < 3 {
            continue;
        }
        let sfen = mate["sfen"].as_str().unwrap();
        let (outcome, _, _) = solved_root(sfen, &["--max-depth", "2"]);
        assert_eq!(outcome, None, "{sfen}");
        seen += 1;
    }
    assert!(seen > 25);
}

#[test]
fn every_row_is_found_and_every_edge_is_a_move() {
    let game = named("animal-shogi");
    let tables = Tables::new();
    enumerate(&tables, &["--game", "animal-shogi", "--max-depth", "6"]);
    let table = tables.store().open("animal-shogi-depth6").unwrap();
    let graph = Rows::open_checked(&*game, &table).unwrap();
    for rows in graph.layers() {
        assert!(rows.map(|row| graph.keys().get(row)).is_sorted_by(|a, b| a < b));
    }
    for row in 0..graph.states() {
        let position = graph.position(&*game, row).unwrap();
        assert_eq!(graph.find(&*game, &position), Some(row));
        let moves = graph.edges_of(row).map(|edge| {
            let target = graph.keys().get(graph.edge_targets()[edge] as usize).unwrap();
            (graph.action_of(edge), target)
        });
        let moves: Vec<_> = moves.collect();
        if !moves.is_empty() {
            let mut legal = Vec::new();
            game.moves(&position.state, |action, state| {
                legal.push((action, game.canonical(&state).key));
            });
            assert_eq!(moves, legal, "row {row}");
        }
    }
    let first = graph.keys().get(0).unwrap();
    assert_eq!(graph.keys().find(0..1, first), Some(0));
}

#[test]
fn ranks_and_rows_lead_to_each_other() {
    let tables = Tables::new();
    enumerate(&tables, &["--game", "animal-shogi-3x3"]);
    let table = tables.store().open("animal-shogi-3x3").unwrap();
    let graph = Rows::open_checked(&*named("animal-shogi-3x3"), &table).unwrap();
    let ranked = graph.ranked().unwrap();
    let (mut rank, mut reached) = (ranked.reader(), HashSet::new());
    for row in 0..ranked.rows() {
        let rank = rank(row).unwrap();
        assert_eq!(ranked.row(rank), Some(row));
        reached.insert(rank);
    }
    assert_eq!(rank(ranked.rows()), None);
    let outside = (0..10_000).filter(|rank| !reached.contains(rank)).count();
    assert!(
        outside > 0
            && (0..10_000).all(|rank| reached.contains(&rank) == ranked.row(rank).is_some())
    );
}

#[test]
fn a_table_that_is_there_is_given_as_it_is() {
    let tables = Tables::new();
    for args in [&["--game", "minishogi", "--max-depth", "3"][..], &["--game", "animal-shogi-3x3"]]
    {
        enumerate(&tables, args);
        let copy = Tables::new();
        crate::common::tables::copy_dir(tables.root(), copy.root());
        assert_eq!(enumerate(&tables, args)["reused"], true);
        assert_same_files(copy.root(), tables.root(), "made once more");
    }
}

#[test]
fn a_position_with_pieces_missing_or_too_many_has_no_rank() {
    let game = Shogi::new(&ANIMAL_SHOGI, true);
    let start = game.start().state;
    assert!(game.rank(&start).is_some());
    for kind in 0..3 {
        for owner in 0..2 {
            let mut more = start;
            more.hands[owner][kind] += 1;
            assert_eq!(game.rank(&more), None);
        }
    }
    let fewer = game.parse_position("gl1/1c1/1C1/ELG b - 1", &game.start()).unwrap();
    assert_eq!(game.rank(&fewer.state), None);
    let won = game.parse_position("gLe/1c1/1C1/ElG b - 1", &game.start()).unwrap();
    assert_eq!(game.rank(&won.state), None);
}
