//! Tests of certificates and tables against plain search.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use super::certificate::{Problem, index_of, prove};
use super::check::{BoardRules, CheckLimits, CheckReport, squares};
use super::semistrong::{SemiStrongTable, make};
use super::{Header, PROOF, Room, SEMI_STRONG, Turn, Walk};
use crate::error::{Error, Kind};
use crate::games::othello::Board;
use crate::games::othello::search::EngineOptions;
use crate::rules::Empties;

fn problem(rows: usize, columns: usize, leaf_depth: u32, empties: Empties) -> Problem {
    let root = BoardRules::new(rows, columns, empties).start();
    let options =
        EngineOptions { rows, columns, empties, memory: 1 << 22, threads: 2, evaluation: None };
    Problem { root, white_to_move: false, leaf_depth, options }
}

fn check(bytes: &[u8]) -> Result<CheckReport, Error> {
    super::check_file(bytes, &CheckLimits::of_file(bytes.len()), &mut |_| ())
}

fn open(bytes: &[u8]) -> Result<SemiStrongTable, Error> {
    SemiStrongTable::open(bytes, &CheckLimits::of_file(bytes.len()))
}

fn read(bytes: &[u8], magic: &[u8; 7]) -> (Header, Vec<u8>) {
    Header::read(bytes, magic, &CheckLimits::NONE).unwrap()
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
        let table = open(&bytes).unwrap();
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
    let (header, content) = read(&bytes, PROOF);
    for change in [-2, -1, 1, 2] {
        let header = Header { score: header.score + change, ..header.clone() };
        let error = check(&header.write(PROOF, &content)).unwrap_err();
        assert_eq!(error.kind(), Kind::Damaged);
        let error = error.line();
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
    assert!(check(&longer).unwrap_err().line().contains("1 bytes beyond the content"));
    let mut huge = bytes.clone();
    huge[44..48].copy_from_slice(&(1u32 << 29).to_le_bytes());
    assert!(check(&huge).unwrap_err().line().contains("more than 100 MB of memory"));
    let fewer = Header { counts: [header.counts[0] - 1, header.counts[1] + 1], ..header };
    assert!(check(&fewer.write(PROOF, &content)).is_err());
}

#[test]
fn walks_end_where_records_or_room_do() {
    // From the start of 8×8, down to the ends of the games.
    let Problem { root, .. } = problem(8, 8, 0, Empties::Uncounted);
    let header = prove(&problem(4, 4, 12, Empties::Uncounted)).unwrap();
    let (header, _) = read(&header, PROOF);
    let header = Header { rows: 8, columns: 8, root, leaf_depth: 0, counts: [1000, 0], ..header };
    let error = check(&header.write(PROOF, &[0; 1000])).unwrap_err().line();
    assert!(error.contains("truncated move stream"), "{error}");
    let rules = BoardRules::new(8, 8, Empties::Uncounted);
    let error = open(&header.write(SEMI_STRONG, &[0; 1500])).err().unwrap().line();
    assert!(error.contains("truncated move stream"), "{error}");
    // Forced moves have no records.
    let limits = CheckLimits { positions: 1000, ..CheckLimits::NONE };
    let mut walk = Walk::new(&rules, 0, Room::new(&limits));
    walk.add(root, Turn::Hero, 0);
    for empties in walk.levels() {
        for (board, _) in walk.level(empties).unwrap_or_default() {
            walk.follow(board, 0, None);
        }
    }
    assert!(walk.failure().unwrap_err().line().contains("more than 1000 positions"));
    assert_eq!(walk.hero.iter().chain(&walk.other).map(|level| level.len()).sum::<usize>(), 1000);
}

#[test]
fn checks_beyond_their_limits_are_refused() {
    let file = prove(&problem(4, 5, 5, Empties::Uncounted)).unwrap();
    let most = CheckLimits::of_file(file.len());
    let mut work = None;
    super::check_file(&file, &most, &mut |announced| work = Some(*announced)).unwrap();
    let work = work.unwrap();
    assert!(work.most_empty == 5 && work.leaves.iter().sum::<usize>() > 100, "{work:?}");
    for (limits, message) in [
        (CheckLimits { memory: 2_000, ..most }, "more than 0 MB of memory"),
        (CheckLimits { positions: 100, ..most }, "more than 100 positions"),
        (CheckLimits { search: 10, ..most }, "at most 5 empty squares"),
    ] {
        let announce = &mut |_: &_| panic!("a search that is refused");
        let error = super::check_file(&file, &limits, announce).unwrap_err();
        assert!(error.kind() == Kind::Input && error.line().contains(message), "{error}");
    }
    // Few records and many replies, down to leaves whose search would take days.
    let Problem { root, .. } = problem(8, 8, 0, Empties::Uncounted);
    let (header, _) = read(&file, PROOF);
    let header = Header { rows: 8, columns: 8, root, score: -64, leaf_depth: 20, ..header };
    let header = Header { counts: [1 << 20, 0], ..header };
    for (magic, length) in [(PROOF, 1 << 20), (SEMI_STRONG, 2 << 20)] {
        let error = check(&header.write(magic, &vec![0; length])).unwrap_err();
        assert!(error.line().contains("stored moves reach more than"), "{error}");
        assert_eq!(error.kind(), Kind::Input);
    }
}

/// Returns a repeatable source of numbers below a bound.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut seed = 1u64;
    move |count| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % count
    }
}

/// Returns a table of exact scores and best moves but for the positions whose score and move `choose` gives; it
/// receives 0 for the walk of the mover, 1 for that of the opponent. `None` where a score is below its bound.
fn table_with(
    problem: &Problem,
    values: &mut HashMap<Board, i32>,
    mut choose: impl FnMut(usize, Board) -> Option<(i32, u32)>,
) -> Option<Vec<u8>> {
    let rules = problem.rules();
    let root = plain(&rules, problem.root, values);
    let (mut gains, mut moves, mut counts) = (Vec::new(), Vec::new(), [0; 2]);
    for (side, (turn, bound)) in [(Turn::Hero, root), (Turn::Other, -root)].into_iter().enumerate()
    {
        let mut walk = Walk::new(&rules, problem.leaf_depth, Room::new(&CheckLimits::NONE));
        walk.add(problem.root, turn, bound);
        for empties in walk.levels() {
            for (board, bound) in walk.level(empties).ok()? {
                let best = moves_of(&rules, board, values).into_iter().next_back();
                let exact = plain(&rules, board, values);
                let (score, square) = match choose(side, board) {
                    Some((score, square)) => (score, Some(square)),
                    None => (exact, best.map(|(_, square)| square)),
                };
                gains.push(u8::try_from(score - bound).ok()?);
                moves.extend(index_of(&rules, board, square));
                counts[side] += 1;
                walk.follow(board, score, square);
            }
        }
    }
    gains.extend(moves);
    Some(problem.file(SEMI_STRONG, root, counts, &gains))
}

/// Returns the moves of a position with their scores, the best last.
fn moves_of(rules: &BoardRules, board: Board, values: &mut HashMap<Board, i32>) -> Vec<(i32, u32)> {
    let score = |square| (-plain(rules, rules.play(board, square), values), square);
    let mut moves: Vec<_> = squares(rules.moves(board)).map(score).collect();
    moves.sort_unstable();
    moves
}

/// Scores that are too low in one position are refused, by each of the rules.
#[test]
fn understated_scores_are_refused() {
    let problem = problem(4, 5, 6, Empties::Uncounted);
    let (rules, mut values) = (problem.rules(), HashMap::new());
    let mut stored = Vec::new();
    let table = table_with(&problem, &mut values, |side, board| {
        stored.push((side, board));
        None
    });
    check(&table.unwrap()).unwrap();
    let mut faults = BTreeMap::new();
    let mut accepted = 0;
    for (side, board) in stored.into_iter().step_by(2) {
        let moves = moves_of(&rules, board, &mut values);
        let Some(&(score, best)) = moves.last() else { continue };
        let inferior = moves.iter().rev().copied().find(|&(worse, _)| worse < score);
        for (claim, square) in inferior.into_iter().chain([(score - 1, best)]) {
            let choose = |walk, at| ((walk, at) == (side, board)).then_some((claim, square));
            let Some(bytes) = table_with(&problem, &mut values, choose) else { continue };
            match check(&bytes) {
                Ok(_) => {
                    // The score of an inferior move, where the better one leads out of the table.
                    assert_ne!(square, best, "{}", rules.diagram(board));
                    accepted += 1;
                }
                Err(error) => {
                    assert_eq!(error.kind(), Kind::Damaged, "{error}");
                    let line = error.line();
                    let fault = line.split(':').next().unwrap_or_default();
                    *faults.entry(fault.to_string()).or_insert(0) += 1;
                }
            }
        }
    }
    let expected = [
        "a move leads to a better score than the position's",
        "a position has two scores",
        "no reply reaches the score of a position",
        "score of a leaf above the one claimed",
    ];
    assert!(expected.iter().all(|fault| faults.contains_key(*fault)), "{faults:?}");
    assert!(accepted > 0, "{faults:?}");
}

#[test]
fn other_checkpoints_are_refused_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let problem = |leaf_depth| problem(4, 4, leaf_depth, Empties::Uncounted);
    let make = |leaf_depth, path: &Path| make(&problem(leaf_depth), path, &mut |_, _, _| ());
    let log = place("log");
    let table = make(3, &log).unwrap();
    let whole = fs::read(&log).unwrap();
    let shorter = &whole[..whole.len() / 2];
    fs::write(&log, shorter).unwrap();
    let refuses = |leaf_depth, path: &Path, message: &str| {
        let error = make(leaf_depth, path).unwrap_err();
        assert_eq!((error.kind(), error.line().lines().count()), (Kind::Input, 1));
        assert!(error.line().contains(message), "{error}");
        assert_eq!(fs::read(&log).unwrap(), shorter, "{message}");
    };
    refuses(4, &log, "is a checkpoint with --leaves 3; give --leaves 3, or delete ");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&log, place("link")).unwrap();
        refuses(3, &place("link"), "symbolic link");
        std::os::unix::fs::symlink(place("nowhere"), place("dangling")).unwrap();
        refuses(3, &place("dangling"), "symbolic link");
        assert!(!place("nowhere").exists());
    }
    refuses(3, directory.path(), "not a regular file");
    let text = place("text");
    for bytes in [&b"a text of somebody else's"[..], &table] {
        fs::write(&text, bytes).unwrap();
        refuses(3, &text, "not a checkpoint of this table");
        assert_eq!(fs::read(&text).unwrap(), bytes);
    }
    let lock = fs::File::open(&log).unwrap();
    lock.lock().unwrap();
    refuses(3, &log, "in use by another process");
    drop(lock);
    // One that was cut within its header is begun again.
    for length in [shorter.len(), 20, 0] {
        fs::write(&log, &whole[..length]).unwrap();
        assert_eq!(make(3, &log).unwrap(), table, "{length} bytes");
        assert_eq!(fs::read(&log).unwrap(), whole, "{length} bytes");
    }
}

/// Every score that a mutated table claims for a hero's position is reached.
#[test]
fn mutated_tables_never_claim_too_much() {
    let mut random = numbers();
    let problem = problem(4, 4, 3, Empties::Uncounted);
    let directory = tempfile::tempdir().unwrap();
    let bytes = make(&problem, &directory.path().join("log"), &mut |_, _, _| ()).unwrap();
    let (header, content) = read(&bytes, SEMI_STRONG);
    let (rules, mut values) = (problem.rules(), HashMap::new());
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..2000 {
        let mut content = content.clone();
        for _ in 0..1 + random(2) {
            let at = random(content.len());
            content[at] = random(5) as u8;
        }
        let changed = header.write(SEMI_STRONG, &content);
        let table = check(&changed).and_then(|_| open(&changed));
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
    let (header, content) = read(&bytes, PROOF);
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
