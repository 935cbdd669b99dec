//! Files of games in the forms of other programs, as commands read and write them.

use std::fs;

use crate::common::tables::Tables;

const KIF: &str =
    "手合割：５五将棋\r\n先手：Ann\r\n   1 ５三歩(54)\r\n   2 １三歩(12)\r\n   3 投了\r\n";
const SGF: &str =
    "(;GM[2]PB[Ann]PW[Bo]RE[B+64];B[f5];W[d6];B[c5];W[f4];B[e7];W[f6];B[g5];W[e6];B[e3])\n";

/// Writes a file; returns its path.
fn file(tables: &Tables, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = tables.root().join(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_string()
}

#[test]
fn games_of_files_are_solved_queried_and_rewritten() {
    let tables = Tables::new();
    let sgf = file(&tables, "game.sgf", SGF);
    let run = tables.run(&["solve", "8x8", &sgf]);
    assert!(run.stderr.contains("game.sgf: read as SGF: 1 game, 10 positions"), "{run:?}");
    assert!(run.stdout.starts_with("-13\t-\t"), "{run:?}");
    // White is to move; the board has 13 discs, and 64 with the empty squares.
    assert!(!run.stderr.contains("otherwise"), "{run:?}");
    let wrong = file(&tables, "wrong.sgf", SGF.replace("B+64", "W+2"));
    let run = tables.run(&["solve", "8x8", &wrong]);
    assert!(run.stderr.contains("line 1: the game ends otherwise than it records: "), "{run:?}");
    let ggf = tables.ok(&["query", "8x8", &sgf, "--as", "GGF"]);
    assert!(ggf.starts_with("(;GM[Othello]PC[yomikiri]PB[Ann]PW[Bo]RE[+64.00]"), "{ggf}");
    assert_eq!(
        tables.ok(&["query", "8x8", &ggf, "--as", "lines"]),
        tables.ok(&["query", "8x8", &sgf, "--as", "lines"])
    );
    let kif = file(&tables, "game.kif", encoding(KIF));
    let written = tables.ok(&["query", "minishogi", &kif, "--as", "kif"]);
    for part in ["手合割：５五将棋", "先手：Ann", "   1 ５三歩(54)", "   3 投了"] {
        assert!(written.contains(part), "{written}");
    }
    let made =
        tables.ok(&["enumerate", "--game", "minishogi", "--roots", &kif, "--max-depth", "2"]);
    assert!(made.contains("custom") || made.contains("minishogi"), "{made}");
    // Fairy-Stockfish's FEN, in which w is the first player, is read if asked for.
    let fen = "rbsgk/4p/5/P4/KGSBR[-] w 0 1";
    let lines = ["query", "minishogi", fen, "--as", "lines"];
    assert!(tables.run(&lines).refused("FEN").contains("give --format fen"));
    let read = tables.ok(&[&lines[..], &["--format", "fen"]].concat());
    assert_eq!(read, "rbsgk/4p/5/P4/KGSBR b - 1\n");
}

/// Returns the bytes of a text in Shift_JIS.
fn encoding(text: &str) -> Vec<u8> {
    let script =
        "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read().decode().encode('shift_jis'))";
    let mut python = std::process::Command::new("python3");
    let python = python.args(["-c", script]).stdin(std::process::Stdio::piped());
    let mut child = python.stdout(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    child.wait_with_output().unwrap().stdout
}

#[test]
fn games_of_files_are_measured() {
    let tables = Tables::new();
    // A whole game: each policy plays the first legal move.
    let names = ["8x8", "--black", "greedy", "--white", "greedy", "--save"];
    let ggf = tables.root().join("game.ggf");
    tables.ok(&[&["play"][..], &names, &[ggf.to_str().unwrap()]].concat());
    let report = |path: &str| {
        let words = [
            "report",
            "8x8",
            "--positions",
            path,
            "--empty-squares",
            "0..6",
            "--policy",
            "greedy",
            "--metrics",
        ];
        tables.ok(&words)
    };
    let by_ggf = report(ggf.to_str().unwrap());
    let sgf = tables.ok(&["query", "8x8", ggf.to_str().unwrap(), "--as", "sgf"]);
    assert_eq!(report(&file(&tables, "same.sgf", sgf)), by_ggf);
    let last = tables.ok(&["export", "8x8", "--positions", ggf.to_str().unwrap(), "--last"]);
    assert_eq!(last.lines().count(), 1, "{last}");
}

#[test]
fn what_is_wrong_in_a_file_has_its_place() {
    let tables = Tables::new();
    let cases: [(&str, &[u8], &[&str], &str); 9] = [
        (
            "a.sgf",
            b"(;GM[2];B[f5]\n;W[a1])",
            &["solve", "8x8"],
            "a.sgf, line 2, column 4: illegal move 2 `a1`, read as SGF",
        ),
        (
            "b.txt",
            b"f5d6\n(;GM[2];B[f5])\n",
            &["solve", "8x8"],
            "b.txt, line 1: `f5d6` between games, read as SGF",
        ),
        (
            "c.wtb",
            b"\x14\x1a\x01\x01\x02\0\0\0",
            &["solve", "8x8"],
            "c.wtb, neither a text nor a WTHOR base",
        ),
        ("d.txt", b"# nothing\n", &["solve", "8x8"], "no position in "),
        (
            "e.kif",
            "   1 ５三銀(54)\n".as_bytes(),
            &["solve", "minishogi"],
            "e.kif, line 1, column 6: illegal move 1",
        ),
        ("f.sgf", b"(;GM[1];B[dd])", &["solve", "8x8"], "GM[1] is another game than Othello"),
        (
            "g.csa",
            b"PI\n+\n+5453XX\n",
            &["solve", "minishogi"],
            "illegal move 1 `5453XX`, read as CSA",
        ),
        ("h.txt", b"f5d6\n", &["solve", "8x8", "--format", "png"], "invalid --format `png`"),
        ("i.sgf", SGF.as_bytes(), &["solve", "minishogi"], "is it a game of minishogi?"),
    ];
    for (name, bytes, words, expected) in cases {
        let path = file(&tables, name, bytes);
        let (command, options) = words.split_at(2);
        let run = tables.run(&[command, &[&path], options].concat());
        let line = run.refused(name);
        assert!(line.contains(expected), "{name}: {line}");
    }
    assert!(
        tables
            .run(&["solve", "8x8", "nowhere.ggf"])
            .refused("no file")
            .contains("no file nowhere.ggf")
    );
    let run = tables.run(&["query", "connect-four", "44", "--as", "kif"]);
    assert!(
        run.refused("KIF").contains("games of connect-four are not written as KIF; choose lines")
    );
}
