//! `solver play` at the keyboard: lines in, text out.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::common::tables::{Ran, Tables, solved_4x4};

/// Returns the output for these lines of input.
fn played(tables: &Tables, args: &[&str], lines: &str) -> Ran {
    let mut command = tables.solver(&[&["play"], args].concat());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A refused command line ends before reading input.
    let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
    Ran::of(child.wait_with_output().unwrap())
}

fn shown(tables: &Tables, args: &[&str], lines: &str) -> String {
    let ran = played(tables, args, lines);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.stdout
}

#[test]
fn a_game_against_perfect_play_is_lost() {
    let tables = Tables::new();
    solved_4x4(&tables);
    // The first best move by `query` each time: Black still loses by 8.
    let mut line = String::new();
    loop {
        let printed = shown(&tables, &["othello-4x4"], &format!("{line}save {}\n", file(&tables)));
        if printed.contains("The game is over") {
            assert!(printed.contains("White has won by 8 discs"), "{printed}");
            assert!(printed.contains("No move was a mistake."), "{printed}");
            break;
        }
        let game = fs::read_to_string(tables.place("game.txt")).unwrap();
        let last = game.lines().last().unwrap();
        let moves = last.split_once(" moves ").map_or(String::new(), |(_, moves)| moves.into());
        let query =
            tables.json(&["query", "othello-4x4", if moves.is_empty() { "start" } else { &moves }]);
        assert_eq!(query["mover"], "Black");
        line += &format!("{}\n", query["moves"][0]["move"].as_str().unwrap());
    }
    // The review lists mistakes with their cost.
    let worse = shown(&tables, &["othello-4x4", "--black", "greedy"], "");
    let review = worse.split("Mistakes:").nth(1).unwrap();
    assert!(review.lines().all(|line| !line.contains("White")), "{review}");
}

fn file(tables: &Tables) -> String {
    tables.place("game.txt").display().to_string()
}

#[test]
fn moves_are_taken_back_and_games_kept() {
    let tables = Tables::new();
    solved_4x4(&tables);
    let file = file(&tables);
    let human = ["othello-4x4", "--white", "human", "--save", &file];
    let kept = || fs::read_to_string(tables.place("game.txt")).unwrap();
    shown(&tables, &human, "b1\na1\na2\n");
    assert_eq!(kept(), "# othello-4x4: human against human\n-----OX--XO----- X; moves b1 a1 a2\n");
    let loaded = ["othello-4x4", "--white", "human", "--save", &file, "--load", &file];
    shown(&tables, &loaded, "undo\nundo\nredo\n");
    assert!(kept().ends_with(" moves b1 a1\n"));
    shown(&tables, &loaded, "nothing\nundo\nd3\n");
    assert!(kept().ends_with(" moves b1\n"), "{}", kept());
    // Against a policy, undo takes back its answer too.
    let against = shown(&tables, &["othello-4x4", "--save", &file], "b1\nundo\n");
    assert!(against.contains("White plays a1"), "{against}");
    assert!(kept().ends_with("X;\n"), "{}", kept());
    shown(&tables, &human, "b1a1\nset OX---OX--XO----- X;\na2\n");
    assert!(kept().ends_with("\nOX---OX--XO----- X; moves a2\n"), "{}", kept());
    for bad in ["", "# nothing\n", "-----OX--XO----- X;\nb1 b1\n", "nonsense"] {
        fs::write(tables.place("bad.txt"), bad).unwrap();
        let bad = tables.place("bad.txt").display().to_string();
        played(&tables, &["othello-4x4", "--load", &bad], "").refused("a file that is no game");
        let printed = shown(&tables, &human, &format!("load {bad}\nb1\n"));
        assert!(printed.contains("bad.txt"), "{printed}");
    }
    let nowhere = tables.place("no/where.txt").display().to_string();
    let printed = shown(&tables, &human, &format!("save {nowhere}\n"));
    assert!(printed.contains("cannot write") && printed.contains("where.txt"), "{printed}");
}

#[test]
fn hints_are_what_query_says() {
    let tables = Tables::new();
    solved_4x4(&tables);
    let printed = shown(&tables, &["othello-4x4", "--white", "human"], "b1a1\nhint\nhints\nd3\n");
    let query = tables.ok(&["query", "othello-4x4", "b1a1"]);
    let values = query.split("to move\n\n").nth(1).unwrap();
    let values = values.split("\nBest play").next().unwrap();
    assert!(printed.contains(values), "{printed}\n\n{values}");
    assert!(printed.contains("Still a loss, -14 instead of -8."), "{printed}");
    let long = format!("{}\n?\nmoves\n\n", "x".repeat(100_000));
    let printed = shown(&tables, &["othello-4x4"], &long);
    assert!(printed.contains("undo ") && printed.contains("b1 a2 d3 c4"), "{printed}");
}

/// Repetition ends a game as its rules say: perpetual check loses in minishogi, animal shogi has a draw.
#[test]
fn repetition_ends_a_game_by_its_own_rules() {
    let tables = Tables::new();
    let humans = ["--black", "human", "--white", "human"];
    let over = |game: &str, from: &str, round: &str, rounds: usize| {
        let lines = format!("{round}\n").repeat(rounds);
        shown(&tables, &[&[game, "--from", from][..], &humans].concat(), &lines)
    };
    let check = "perpetual check by White, the position has occurred for the fourth time";
    let (rook, round) = ("1r2k/5/5/5/K4 w - 1", "4a5a 5e4e 5a4a 4e5e");
    assert!(!over("minishogi", rook, round, 2).contains("over"));
    let ended = over("minishogi", rook, round, 3);
    assert!(ended.contains(&format!("The game is over, Black has won: {check}")), "{ended}");
    // Nothing is judged or listed after the end.
    let after = shown(
        &tables,
        &[&["minishogi", "--from", rook][..], &humans].concat(),
        &format!("{}\nhint\nmoves\n", format!("{round} ").repeat(3)),
    );
    assert_eq!(after.matches(&format!("Black has won: {check}")).count(), 2, "{after}");
    assert!(after.contains("The game is over; type 'undo', 'new' or 'quit'."), "{after}");
    // The same moves beyond the reach of the king give no check, and Black, who began nothing, loses.
    let quiet = over("minishogi", "1r2k/5/5/5/2K2 w - 1", "4a5a 3e2e 5a4a 2e3e", 3);
    assert!(
        quiet.contains("The game is over, White has won: the position has occurred"),
        "{quiet}"
    );
    // The game is over within a line of moves, too.
    let refused = over("minishogi", rook, &format!("{round} ").repeat(4), 1);
    assert!(refused.contains("the game is over after 12 plies of 16"), "{refused}");
    let (lions, round) = ("l2/3/2L b - 1", "1c1b 3a3b 1b1c 3b3a");
    assert!(!over("animal-shogi-3x3", lions, round, 1).contains("over"));
    let drawn = over("animal-shogi-3x3", lions, round, 2);
    assert!(
        drawn.contains(
            "The game is over: it is drawn, the position has occurred for the third time"
        ),
        "{drawn}"
    );
}

#[test]
fn what_is_not_known_is_said() {
    let tables = Tables::after(&[
        &["enumerate", "--game", "minishogi", "--max-depth", "2"],
        &["value-iterate"],
    ]);
    let printed = shown(&tables, &["--white", "greedy"], "2E4C\nhint\n");
    assert!(printed.contains("a bounded table: many values are unknown"), "{printed}");
    assert!(printed.contains("No values: ") || printed.contains("frontier"), "{printed}");
    let printed = shown(&tables, &["--seed", "1"], "5e4d\n5d5c\n4d4c\nhint\n");
    assert!(printed.contains("(no value is known here: a random move)"), "{printed}");
    // Play works without any table, with capital and small letters.
    let free = shown(&tables, &["--game", "minishogi", "--white", "human"], "5D5C\n1b1c\nreview\n");
    assert!(free.contains("no table: moves have no values"), "{free}");
    assert!(free.contains("a  r  b  s  g  k\nb  .  .  .  .  .\nc  P  .  .  .  p*\nd"), "{free}");
    // The last move and the discs that it turned are marked, and named.
    let discs = shown(&tables, &["--size", "4", "--white", "human"], "b1a1\n");
    let marked = "1 O*X . .\n2 . O'X .\n3 . X O .\n4 . . . .\nLast move*: a1, turned': b2\n";
    assert!(discs.contains(marked), "{discs}");
    // Two pieces that move back and forth.
    let round = "4e4d\n2a2b\n4d4e\n2b2a\n".repeat(3);
    let round = shown(&tables, &["--game", "minishogi", "--white", "human"], &round);
    let end = "The game is over, White has won: the position has occurred for the fourth time";
    assert!(round.contains(end), "{round}");
    let refused = played(&tables, &["--game", "minishogi", "--white", "nobody"], "");
    refused.refused("no policy");
    played(&tables, &["--json"], "").refused("no JSON");
    played(&tables, &["--from", "nonsense"], "").refused("no position");
    played(&tables, &["nothing"], "").refused("no table");
}
