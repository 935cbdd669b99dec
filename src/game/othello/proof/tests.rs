//! Tests of certificates and tables against plain search.

use std::collections::HashMap;

use super::certificate::{Problem, prove};
use super::check::{BoardRules, check};
use super::semistrong::{SemiStrongTable, make};
use super::{Header, PROOF, SEMI_STRONG, Turn, Walk};
use crate::game::Empties;
use crate::game::othello::Board;
use crate::game::othello::search::EngineOptions;

fn problem(rows: usize, columns: usize, leaf_depth: u32, empties: Empties) -> Problem {
    let root = BoardRules::new(rows, columns, empties).start();
    let options =
        EngineOptions { rows, columns, empties, memory: 1 << 22, threads: 2, evaluation: None };
    Problem { root, white_to_move: false, leaf_depth, options }
}

#[test]
fn a_table_agrees_with_plain_search() {
    let directory = std::env::temp_dir().join(format!("yomikiri-table-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    for (rows, columns, depth, empties) in [
        (4, 4, 0, Empties::Uncounted),
        (4, 4, 3, Empties::ToWinner),
        (4, 5, 7, Empties::Uncounted),
        (5, 4, 8, Empties::ToWinner),
    ] {
        let log = directory.join(format!("{rows}{columns}{depth}"));
        let problem = problem(rows, columns, depth, empties);
        let bytes = make(&problem, &log, &mut |_, _, _| ()).unwrap();
        assert_eq!(make(&problem, &log, &mut |_, _, _| ()).unwrap(), bytes, "resumed at the end");
        let whole = std::fs::read(&log).unwrap();
        std::fs::write(&log, &whole[..whole.len() / 2]).unwrap();
        assert_eq!(
            make(&problem, &log, &mut |_, _, _| ()).unwrap(),
            bytes,
            "resumed in the middle"
        );
        let rules = BoardRules::new(rows, columns, empties);
        let table = SemiStrongTable::open(&bytes).unwrap();
        let mut engine = table.engine();
        let mut values = HashMap::new();
        let stored = table.sides.iter().flat_map(|walk| walk.hero.iter().chain(&walk.other));
        let mut count = 0;
        for &(mover, opponent) in stored.flat_map(|level| level.keys()) {
            let board = Board { mover, opponent };
            count += 1;
            let score = plain(&rules, board, &mut values);
            let answer = table.query(&mut engine, board).unwrap();
            assert_eq!(answer.score, score, "{}", rules.diagram(board));
            let child = answer.square.map_or(board.swapped(), |square| rules.play(board, square));
            assert_eq!(-plain(&rules, child, &mut values), score, "{}", rules.diagram(board));
        }
        assert!(count > 100, "{rows}x{columns}: {count} positions");
    }
    std::fs::remove_dir_all(directory).unwrap();
}

/// Returns the exact score of a position by minimax alone.
fn plain(rules: &BoardRules, board: Board, values: &mut HashMap<Board, i32>) -> i32 {
    if rules.is_over(board) {
        return rules.score(board);
    }
    let image = rules.canonical(board);
    if let Some(&score) = values.get(&image) {
        return score;
    }
    let children = rules.successors(image).into_iter();
    let score = children.map(|child| -plain(rules, child, values)).max().unwrap();
    values.insert(image, score);
    score
}

#[test]
fn certificates_prove_the_score() {
    for (rows, columns, depth, empties) in [
        (4, 4, 0, Empties::Uncounted),
        (4, 4, 20, Empties::ToWinner),
        (4, 5, 5, Empties::ToWinner),
        (5, 4, 0, Empties::Uncounted),
    ] {
        let problem = problem(rows, columns, depth, empties);
        let rules = BoardRules::new(rows, columns, empties);
        let report = check(&prove(&problem).unwrap()).unwrap();
        let score = plain(&rules, problem.root, &mut HashMap::new());
        assert_eq!(report.header.score, score, "{rows}x{columns}");
        assert_eq!(report.header.root, problem.root);
    }
}

#[test]
fn false_claims_are_refused() {
    let bytes = prove(&problem(4, 5, 4, Empties::Uncounted)).unwrap();
    let (header, content) = Header::read(&bytes, PROOF).unwrap();
    for change in [-2, -1, 1, 2] {
        let header = Header { score: header.score + change, ..header.clone() };
        let error = check(&header.write(PROOF, &content)).unwrap_err();
        assert!(error.contains("below its bound") && !error.contains('\n'), "{error}");
    }
    for end in 0..bytes.len() {
        assert!(check(&bytes[..end]).is_err(), "{end} bytes");
    }
    // A stored move replaced by one after which the opponent reaches more.
    let mut refused = 0;
    for at in 0..content.len() {
        let mut content = content.clone();
        content[at] = if content[at] == 0 { 1 } else { 0 };
        refused += u32::from(check(&header.write(PROOF, &content)).is_err());
    }
    assert!(refused > content.len() as u32 / 2, "{refused} of {}", content.len());
    let longer = [&bytes[..], &[0]].concat();
    assert!(check(&longer).unwrap_err().contains("1 bytes beyond the content"));
    let mut huge = bytes.clone();
    huge[44..48].copy_from_slice(&(1u32 << 29).to_le_bytes());
    assert!(check(&huge).unwrap_err().contains("truncated content"));
    let fewer = Header { counts: [header.counts[0] - 1, header.counts[1] + 1], ..header };
    assert!(check(&fewer.write(PROOF, &content)).is_err());
}

#[test]
fn walks_end_where_records_or_room_do() {
    // From the start of 8×8, down to the ends of the games.
    let Problem { root, .. } = problem(8, 8, 0, Empties::Uncounted);
    let header = prove(&problem(4, 4, 12, Empties::Uncounted)).unwrap();
    let (header, _) = Header::read(&header, PROOF).unwrap();
    let header = Header { rows: 8, columns: 8, root, leaf_depth: 0, counts: [1000, 0], ..header };
    let error = check(&header.write(PROOF, &[0; 1000])).unwrap_err();
    assert!(error.contains("truncated move stream"), "{error}");
    let rules = BoardRules::new(8, 8, Empties::Uncounted);
    let error = SemiStrongTable::open(&header.write(SEMI_STRONG, &[0; 1500])).err().unwrap();
    assert!(error.contains("truncated records"), "{error}");
    // Forced moves have no records.
    let mut walk = Walk::new(&rules, 0);
    walk.room = 1000;
    walk.add(root, Turn::Hero, 0);
    for empties in walk.levels() {
        for (board, _) in walk.level(empties).unwrap_or_default() {
            walk.follow(board, 0, None);
        }
    }
    assert!(walk.failure().unwrap_err().contains("too many positions"));
    assert_eq!(walk.hero.iter().chain(&walk.other).map(|level| level.len()).sum::<usize>(), 1000);
}

/// Returns a repeatable source of numbers below a bound.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut seed = 1u64;
    move |count| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % count
    }
}

/// Every score that a mutated table claims for a hero's position is reached.
#[test]
fn mutated_tables_never_claim_too_much() {
    let mut random = numbers();
    let problem = problem(4, 4, 3, Empties::Uncounted);
    let directory = tempfile::tempdir().unwrap();
    let bytes = make(&problem, &directory.path().join("log"), &mut |_, _, _| ()).unwrap();
    let (header, content) = Header::read(&bytes, SEMI_STRONG).unwrap();
    let (rules, mut values) = (problem.rules(), HashMap::new());
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..2000 {
        let mut content = content.clone();
        for _ in 0..1 + random(2) {
            let at = random(content.len());
            content[at] = random(5) as u8;
        }
        let changed = header.write(SEMI_STRONG, &content);
        let table = SemiStrongTable::open(&changed).and_then(|table| table.check().map(|_| table));
        let Ok(table) = table else {
            refused += 1;
            continue;
        };
        accepted += 1;
        for (&(mover, opponent), node) in
            table.sides.iter().flat_map(|walk| walk.hero.iter().flatten())
        {
            let board = Board { mover, opponent };
            assert!(
                plain(&rules, board, &mut values) >= node.score.into(),
                "{}",
                rules.diagram(board)
            );
        }
    }
    assert!(refused > 500 && accepted > 100, "{refused} refused, {accepted} accepted");
}

#[test]
fn mutated_files_never_prove_a_falsehood() {
    let mut random = numbers();
    let problem = problem(4, 4, 4, Empties::Uncounted);
    let bytes = prove(&problem).unwrap();
    let (header, content) = Header::read(&bytes, PROOF).unwrap();
    let mut values = HashMap::new();
    for round in 0..1000 {
        // Changes of raw bytes, then of content or header with a valid checksum.
        let mut changed = bytes.clone();
        match round % 3 {
            0 => changed[random(bytes.len())] ^= 1 << random(8),
            1 => {
                let mut content = content.clone();
                for _ in 0..1 + random(3) {
                    let at = random(content.len());
                    content[at] = random(5) as u8;
                }
                changed = header.write(PROOF, &content);
            }
            _ => {
                changed[8 + random(32)] = random(256) as u8;
                let sum = super::checksum(&changed[..40], &content);
                changed[40..44].copy_from_slice(&sum.to_le_bytes());
            }
        }
        let Ok(report) = check(&changed) else { continue };
        let Header { rows, columns, empties, root, score, .. } = report.header;
        let rules = BoardRules::new(rows, columns, empties);
        assert_eq!(plain(&rules, root, &mut values), score, "round {round}");
        values.clear();
    }
}
