//! `solver usi`, `solver gtp` and `solver nboard`, driven by small clients: whatever they say of a position is the table's.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use yomikiri::oracle::{Oracle, SolvedTable};
use yomikiri::registry::Games;
use yomikiri::rules::{Action, AnyPosition, Outcome, PlayedGame, Rules, Side};

use crate::common::Random;
use crate::common::tables::Tables;

/// A board that an engine plays on.
struct Board {
    child: Child,
    to: Option<ChildStdin>,
    from: Receiver<String>,
}

/// Longest wait for a line.
const WAIT: Duration = Duration::from_secs(60);

impl Board {
    fn new(tables: &Tables, args: &[&str]) -> Board {
        let mut command = tables.solver(args);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let (to, lines) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let (sender, from) = channel();
        thread::spawn(move || {
            lines.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Board { child, to, from }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
    }

    fn line(&mut self) -> String {
        self.from.recv_timeout(WAIT).expect("the engine prints a line")
    }

    /// Sends a line; returns those up to the one that begins with `last`.
    fn ask(&mut self, line: &str, last: &str) -> Vec<String> {
        self.send(line);
        let mut lines = vec![self.line()];
        while !lines.last().unwrap().starts_with(last) {
            lines.push(self.line());
        }
        lines
    }

    /// Sends a command of GTP; returns its answer.
    fn gtp(&mut self, command: &str) -> Result<String, String> {
        self.send(command);
        let mut text = self.line();
        loop {
            match self.line() {
                line if line.is_empty() => break,
                line => text += &format!("\n{line}"),
            }
        }
        let (sign, text) = text.split_at(1);
        let text = text.trim_start_matches(' ').to_string();
        if sign == "=" { Ok(text) } else { Err(text) }
    }

    /// Ends the input; returns what is still printed. The engine must end without an error.
    fn end(mut self) -> Vec<String> {
        drop(self.to.take());
        let lines = self.from.iter().collect();
        assert!(self.child.wait().unwrap().success());
        lines
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

fn solved(game: &str) -> (Tables, SolvedTable) {
    let tables = Tables::after(&[&["enumerate", game], &["value-iterate"]]);
    let table = tables.store().open(game).unwrap();
    let rules = Games::default().of_table(&table).unwrap();
    let solved = SolvedTable::open(rules, table, false).unwrap().unwrap();
    (tables, solved)
}

/// Returns the values of a position's moves by name, as `text` writes them.
fn truth(
    table: &SolvedTable,
    position: &AnyPosition,
    text: impl Fn(yomikiri::solve::Value) -> String,
) -> BTreeMap<String, String> {
    let name = |action| Oracle::game(table).action_name(position.side, action);
    let moves = table.look_ahead(position).into_iter();
    moves.map(|(action, value)| (name(action), text(value.unwrap()))).collect()
}

/// Returns the move of a name.
fn action(game: &dyn Rules, position: &AnyPosition, name: &str) -> Action {
    let named = |action: &Action| game.action_name(position.side, *action) == name;
    let found = game.actions(&position.state).into_iter().find(named);
    found.unwrap_or_else(|| panic!("no move {name} in {}", game.notation(position)))
}

/// Plays whole games, of which `ask` knows the engine's values and move in each position; every other move is a
/// random one, so that positions with mistakes are met. Returns the number of positions.
fn games(
    table: &SolvedTable,
    count: usize,
    seed: u64,
    mut ask: impl FnMut(&PlayedGame) -> (BTreeMap<String, String>, String),
    text: impl Fn(yomikiri::solve::Value) -> String + Copy,
) -> usize {
    let (game, mut random, mut positions) = (Oracle::game(table), Random(seed), 0);
    for number in 0..count {
        let mut played = PlayedGame::new(game.start());
        while played.end(game).is_none() {
            let position = *played.position();
            let (values, best) = ask(&played);
            assert_eq!(values, truth(table, &position, text), "{}", game.notation(&position));
            let best = action(game, &position, &best);
            assert!(table.best_actions(&position).contains(&best), "{}", game.notation(&position));
            positions += 1;
            let actions = game.actions(&position.state);
            let errs = played.moves().len() % 2 != number % 2 && number % 3 != 0;
            played.play(game, if errs { actions[random.below(actions.len())] } else { best });
        }
        // Against nobody who errs the game ends as it is solved.
        if number % 3 == 0 && game.is_layered() {
            let root = table.value_of(&game.start()).unwrap().outcome().unwrap();
            let end = played.end(game).unwrap().outcome;
            let sign = if played.position().side == Side::First { 1 } else { -1 };
            assert_eq!(Outcome::of(sign * end.value()), root);
        }
    }
    positions
}

fn moves_of(game: &dyn Rules, played: &PlayedGame) -> String {
    if played.moves().is_empty() { String::new() } else { played.transcript(game) }
}

#[test]
fn usi_shows_the_values_of_the_table_in_whole_games() {
    let (tables, table) = solved("animal-shogi-3x3");
    let game = Oracle::game(&table);
    let mut board = Board::new(&tables, &["usi", "animal-shogi-3x3"]);
    let hello = board.ask("usi", "usiok");
    assert!(hello.iter().any(|line| line.starts_with("option name MultiPV ")), "{hello:?}");
    board.send("setoption name MultiPV value 500");
    assert_eq!(board.ask("isready", "readyok"), ["readyok"]);
    let text = |value: yomikiri::solve::Value| match (value.outcome().unwrap(), value.distance()) {
        (Outcome::Draw, _) => "cp 0".to_string(),
        (Outcome::Win, plies) => format!("mate {}", plies.unwrap()),
        (Outcome::Loss, plies) => format!("mate -{}", plies.unwrap()),
    };
    let mut is_exact = true;
    let ask = |played: &PlayedGame| {
        let moves = moves_of(game, played);
        let moves = if moves.is_empty() { moves } else { format!(" moves {moves}") };
        board.send(&format!("position startpos{moves}"));
        let lines = board.ask("go movetime 10000", "bestmove ");
        is_exact &= lines[0] == "info string exact, by table animal-shogi-3x3";
        let mut values = BTreeMap::new();
        for line in &lines {
            let Some((_, score)) = line.split_once(" score ") else { continue };
            let (score, rest) = score.split_once(" time ").unwrap();
            let line = rest.split_once(" pv ").unwrap().1;
            values.insert(line.split(' ').next().unwrap().to_string(), score.to_string());
            // A line can be played.
            let mut after = played.clone();
            after.play_text(game, line.split(' ').next().unwrap()).unwrap();
            let mut position = *after.position();
            for name in line.split(' ').skip(1) {
                let at = action(game, &position, name);
                position = game.advance(&position, at);
            }
        }
        (values, lines.last().unwrap()["bestmove ".len()..].to_string())
    };
    let positions = games(&table, 30, 1, ask, text);
    assert!(positions > 100 && is_exact, "{positions}");
    assert!(board.end().is_empty());
}

/// Asks an engine of GTP about every position of some games.
fn by_gtp(game_name: &str, count: usize, seed: u64) -> usize {
    let (tables, table) = solved(game_name);
    let game = Oracle::game(&table);
    let mut board = Board::new(&tables, &["gtp", game_name, "--analyze"]);
    let text = |value: yomikiri::solve::Value| match table.has_scores() {
        true => format!("{:+} exact", value.score().unwrap().0),
        false => {
            let outcome = value.outcome().unwrap();
            let plies = value.distance().filter(|_| outcome != Outcome::Draw);
            let plies = plies.map_or(String::new(), |plies| format!(" in {plies}"));
            format!("{}{plies} exact", outcome.name())
        }
    };
    let ask = |played: &PlayedGame| {
        board.gtp("clear_board").unwrap();
        for (position, action) in played.moves() {
            let name = game.action_name(position.side, *action);
            let colour = if position.side == Side::First { "B" } else { "white" };
            board.gtp(&format!("play {colour} {name}")).unwrap();
        }
        let values = board.gtp("values").unwrap();
        let value = |line: &str| {
            let (name, value) = line.split_once(' ').unwrap();
            (name.to_string(), value.to_string())
        };
        let colour = if played.position().side == Side::First { "b" } else { "w" };
        let best = board.gtp(&format!("reg_genmove {colour}")).unwrap();
        assert!(board.gtp("final_score").unwrap_err().starts_with("cannot score"));
        (values.lines().map(value).collect(), best)
    };
    let positions = games(&table, count, seed, ask, text);
    // One engine against the other.
    let mut white = Board::new(&tables, &["gtp", game_name]);
    board.gtp("clear_board").unwrap();
    let mut played = PlayedGame::new(game.start());
    while played.end(game).is_none() {
        let first = played.position().side == Side::First;
        let colour = if first { "black" } else { "white" };
        let (mover, other) =
            if first { (&mut board, &mut white) } else { (&mut white, &mut board) };
        let name = mover.gtp(&format!("genmove {colour}")).unwrap();
        other.gtp(&format!("play {colour} {name}")).unwrap();
        played.play(game, action(game, &played.position().clone(), &name));
    }
    let value = table.value_of(&game.start()).unwrap();
    let winner = |sign: i8| if sign > 0 { "B" } else { "W" };
    let expected = match (value.outcome().unwrap(), value.score().filter(|_| table.has_scores())) {
        (Outcome::Draw, _) => "0".to_string(),
        (outcome, Some(score)) => format!("{}+{}", winner(outcome.value()), score.0.abs()),
        (outcome, None) => format!("{}+R", winner(outcome.value())),
    };
    for board in [&mut board, &mut white] {
        assert_eq!(board.gtp("final_score").unwrap(), expected);
        assert_eq!(board.gtp("genmove b").unwrap(), "pass");
    }
    positions
}

#[test]
fn gtp_has_the_values_of_the_table_in_whole_games_of_othello() {
    assert!(by_gtp("othello-4x4", 12, 2) > 100);
}

#[test]
fn gtp_has_the_values_of_the_table_in_whole_games_of_connect_four() {
    assert!(by_gtp("connect-four-4x4", 9, 3) > 80);
}

#[test]
fn nboard_hints_at_the_values_of_the_table_in_whole_games() {
    let (tables, table) = solved("othello-4x4");
    let game = Oracle::game(&table);
    let mut board = Board::new(&tables, &["nboard"]);
    board.send("nboard 2");
    assert_eq!(board.line(), "set myname yomikiri");
    let start = "(;GM[Othello]PC[NBoard]PB[a]PW[b]RE[?]TI[15:00]TY[4]BO[4 -----O*--*O----- *];)";
    let named = |name: &str| match name {
        "PA" => "pass".to_string(),
        name => name.to_ascii_lowercase(),
    };
    let ask = |played: &PlayedGame| {
        board.send("set depth 1");
        board.send(&format!("set game {start}"));
        for (position, action) in played.moves() {
            let name = game.action_name(position.side, *action);
            let name = if name == "pass" { "PA" } else { &name };
            board.send(&format!("move {name}/1.50/0.2"));
        }
        assert_eq!(board.ask("ping 7", "pong"), ["pong 7"]);
        let mut values = BTreeMap::new();
        let lines = board.ask("hint 20", "status yomikiri");
        assert_eq!(lines.len(), 1);
        loop {
            let line = board.line();
            if line == "status" {
                break;
            }
            let words: Vec<&str> = line.split(' ').collect();
            if let ["search", line, eval, "0", depth] = words[..] {
                let value = format!("{eval} {depth}");
                values.insert(named(&line[..2]), value);
            }
        }
        let moved = board.ask("go", "===").pop().unwrap();
        assert_eq!(board.line(), "status");
        let (best, rest) = moved["=== ".len()..].split_once('/').unwrap();
        let best = named(best);
        let eval = rest.split('/').next().unwrap();
        assert_eq!(values[&best], format!("{eval} 100%"));
        (values, best)
    };
    let text = |value: yomikiri::solve::Value| format!("{}.00 100%", value.score().unwrap().0);
    assert!(games(&table, 12, 4, ask, text) > 100);
}

#[test]
fn a_search_proves_what_no_table_does() {
    let tables = Tables::new();
    // 12 empty squares of 8x8, from the tests of the search.
    let position = "-XXXXX--OOOXXXX-OOOXXOOOOOXOXXOOOOXXXXXOOOXXXXXO--XXXX----XXXX-- X;";
    let solved = tables.json(&["solve", "8x8", position, "--all-moves"]);
    let exact = |name: &str| {
        let moves = solved["moves"].as_array().unwrap();
        let found = moves.iter().find(|found| found["move"] == name).unwrap();
        found["score"].as_i64().unwrap()
    };
    let mut board = Board::new(&tables, &["gtp", "8x8", "--analyze", "--time", "30"]);
    board.gtp(&format!("yomikiri-setup_board {}", position.trim_end_matches(';'))).unwrap();
    let values = board.gtp("values").unwrap();
    for line in values.lines() {
        let (name, value) = line.split_once(' ').unwrap();
        assert_eq!(value, format!("{:+} exact", exact(name)), "{name}");
    }
    assert_eq!(values.lines().count(), solved["moves"].as_array().unwrap().len());
    let best = board.gtp("genmove b").unwrap();
    assert_eq!(exact(&best), solved["score"].as_i64().unwrap());
    let source = board.gtp("yomikiri-source").unwrap();
    assert_eq!(source, format!("{:+} exact, search", exact(&best)));
    // The start of 6x6 is known by the solution that is part of the program.
    let mut board = Board::new(&tables, &["gtp", "6x6", "--analyze"]);
    assert_eq!(board.gtp("reg_genmove b").map(drop), Ok(()));
    assert_eq!(board.gtp("yomikiri-source").unwrap(), "-4 exact, stored solution");
    // Far from the end there is an estimate, which is named as one.
    assert_eq!(board.gtp("boardsize 8"), Ok(String::new()));
    board.gtp("time_settings 0 1 1").unwrap();
    board.gtp("genmove b").unwrap();
    let source = board.gtp("yomikiri-source").unwrap();
    assert!(source.contains(" estimate, ") && source.ends_with(" plies"), "{source}");
}

#[test]
fn mates_are_found_in_minishogi() {
    let tables = Tables::new();
    let mut board = Board::new(&tables, &["usi"]);
    let known: Value = serde_json::from_str(include_str!("../data/minishogi-mates.json")).unwrap();
    let mut lengths = BTreeSet::new();
    for known in known["positions"].as_array().unwrap() {
        let Some(plies) = known["mate_plies"].as_u64().filter(|plies| *plies <= 5) else {
            continue;
        };
        board.send(&format!("position sfen {}", known["sfen"].as_str().unwrap()));
        let lines = board.ask("go movetime 20000", "bestmove");
        let shown = lines.iter().rfind(|line| line.contains(" score ")).unwrap();
        assert!(shown.contains(&format!(" score mate {plies} ")), "{lines:?}");
        assert!(lines.contains(&"info string exact, by search".to_string()));
        let best = Value::from(&lines.last().unwrap()["bestmove ".len()..]);
        assert!(known["optimal_first_moves_usi"].as_array().unwrap().contains(&best), "{known}");
        lengths.insert(plies);
        let line = board.ask("go mate infinite", "checkmate").pop().unwrap();
        match known["tsume_checks_only_plies"].as_u64() {
            Some(plies) => assert_eq!(line.split(' ').count() as u64, 1 + plies, "{line}"),
            None => assert_eq!(line, "checkmate nomate"),
        }
    }
    assert_eq!(lengths, BTreeSet::from([1, 3, 5]));
    board.send("position startpos");
    assert_eq!(board.ask("go mate 2000", "checkmate"), ["checkmate nomate"]);
    let perft = board.ask("go perft 3", "Nodes searched: ");
    assert_eq!(perft.last().unwrap(), "Nodes searched: 2512");
    assert_eq!(perft.len(), 14 + 2);
    let shown = board.ask("d", "Sfen: ");
    assert_eq!(shown.last().unwrap(), "Sfen: rbsgk/4p/5/P4/KGSBR b - 1");
}

#[test]
fn an_answer_is_never_late_and_waits_if_it_must() {
    let (tables, _) = solved("othello-4x4");
    // Time that a loaded machine may take to print a line.
    let slack = Duration::from_millis(if cfg!(debug_assertions) { 400 } else { 200 });
    let mut usi = Board::new(&tables, &["usi"]);
    usi.ask("isready", "readyok");
    let middle = "position startpos moves 5e4d 2a2b 5d5c 1b1c";
    usi.send(middle);
    for (go, limit) in [
        ("go movetime 50", 50),
        ("go movetime 500", 500),
        ("go btime 0 wtime 0 byoyomi 300", 300),
        ("go btime 6000 wtime 1 byoyomi 100", 300),
        ("go btime 100 wtime 100 binc 0 winc 0", 100),
    ] {
        let began = Instant::now();
        usi.ask(go, "bestmove");
        let took = began.elapsed();
        assert!(took < Duration::from_millis(limit) + slack, "{go}: {took:?}");
    }
    // It waits for `stop`, and answers questions meanwhile.
    usi.send("go infinite");
    thread::sleep(Duration::from_millis(300));
    assert_eq!(usi.ask("isready", "readyok").pop().unwrap(), "readyok");
    usi.send("go movetime 10");
    let told = usi.ask("stop", "bestmove");
    assert!(
        told.contains(&"info string error: still thinking: expected stop".to_string()),
        "{told:?}"
    );
    assert_eq!(told.iter().filter(|line| line.starts_with("bestmove")).count(), 1);
    // A limit of nodes gives the same each time.
    let mut known = Vec::new();
    for _ in 0..2 {
        let lines = usi.ask("go nodes 30000", "bestmove");
        let told = |line: &String| {
            let (before, after) = line.split_once(" time ").unwrap_or((line, ""));
            format!("{before} pv{}", after.split(" pv").nth(1).unwrap_or_default())
        };
        known.push(lines.iter().map(told).collect::<Vec<_>>());
    }
    assert_eq!(known[0], known[1]);
    // At the end of the input the question is still answered.
    usi.send(middle);
    usi.send("go infinite");
    assert!(usi.end().last().unwrap().starts_with("bestmove"));
    for (size, settings) in [("6", "time_settings 6 0 0"), ("8", "time_settings 0 2 5")] {
        let mut gtp = Board::new(&tables, &["gtp", "--level", "5"]);
        gtp.gtp(&format!("boardsize {size}")).unwrap();
        gtp.gtp(settings).unwrap();
        for colour in ["black", "white", "black"] {
            let began = Instant::now();
            gtp.gtp(&format!("genmove {colour}")).unwrap();
            assert!(began.elapsed() < Duration::from_millis(400) + slack);
        }
        gtp.gtp("time_left black 0.2 0").unwrap();
        let began = Instant::now();
        gtp.gtp("play w pass").unwrap_err();
        gtp.gtp("undo").unwrap();
        gtp.gtp("genmove black").unwrap();
        assert!(began.elapsed() < Duration::from_millis(200) + slack);
    }
    // Canadian: what is left of a period is for the moves that are left of it, and nothing more.
    let mut gtp = Board::new(&tables, &["gtp"]);
    gtp.gtp("time_settings 0 10 5").unwrap();
    for (left, limit) in [("0.4 1", 400), ("0.6 3", 200)] {
        gtp.gtp("clear_board").unwrap();
        gtp.gtp(&format!("time_left black {left}")).unwrap();
        let began = Instant::now();
        gtp.gtp("genmove black").unwrap();
        assert!(began.elapsed() < Duration::from_millis(limit) + slack, "{left}");
    }
    let mut nboard = Board::new(&tables, &["nboard", "--time", "60"]);
    nboard.ask("nboard 2", "set myname");
    // A line behind others that wait is answered at once too.
    let began = Instant::now();
    nboard.ask("hint 5\ngo\nset depth 60\nping 2", "pong 2");
    assert!(began.elapsed() < slack);
    nboard.send("go");
    thread::sleep(Duration::from_millis(300));
    let began = Instant::now();
    let told = nboard.ask("ping 3", "pong 3");
    assert!(
        began.elapsed() < slack && !told.iter().any(|line| line.starts_with("===")),
        "{told:?}"
    );
}

#[test]
fn ends_of_games_are_announced_and_repetitions_are_known() {
    let tables = Tables::new();
    let mut usi = Board::new(&tables, &["usi", "animal-shogi"]);
    // White's elephant has moved away, and Black's chick can take the lion.
    usi.send("position startpos moves 2c2b 3a3b");
    assert_eq!(usi.ask("go movetime 200", "bestmove"), ["bestmove win"]);
    usi.send("position sfen L2/3/3/2l w - 1");
    assert_eq!(usi.ask("go movetime 200", "bestmove").pop().unwrap(), "bestmove resign");
    // The fourth occurrence loses for Black, who has other moves; a board may play on after it.
    let mut usi = Board::new(&tables, &["usi"]);
    let three = "5e4d 1a2b 4d5e 2b1a ".repeat(3);
    usi.send(&format!("position startpos moves {three}"));
    assert_ne!(usi.ask("go nodes 3000", "bestmove").pop().unwrap(), "bestmove 5e4d");
    usi.send(&format!("position startpos moves {three} 5e4d"));
    assert!(usi.ask("go nodes 3000", "bestmove").pop().unwrap().len() > 12);
    usi.send("setoption name Table value nowhere");
    assert!(usi.line().starts_with("info string error: "));
    usi.send("position startpos");
    assert!(usi.ask("go nodes 100", "bestmove").pop().unwrap().len() > 12);
    // Passes after the end of a game are nobody's moves.
    let mut gtp = Board::new(&tables, &["gtp", "4x4"]);
    gtp.gtp("yomikiri-setup_board OXXXOOX.OOOXOOO. O").unwrap();
    gtp.gtp("play white d2").unwrap();
    gtp.gtp("play white d4").unwrap();
    let over = gtp.gtp("showboard").unwrap();
    assert_eq!(gtp.gtp("genmove black"), Ok("pass".to_string()));
    assert_eq!(gtp.gtp("genmove white"), Ok("pass".to_string()));
    gtp.gtp("play black pass").unwrap();
    (0..3).for_each(|_| drop(gtp.gtp("undo").unwrap()));
    assert_eq!(gtp.gtp("showboard"), Ok(over.clone()));
    gtp.gtp("undo").unwrap();
    assert_ne!(gtp.gtp("showboard"), Ok(over));
    // If nothing is known the middle is the better guess.
    let mut gtp = Board::new(&tables, &["gtp", "connect-four", "--time", "0.3"]);
    assert_eq!(gtp.gtp("genmove black"), Ok("4".to_string()));
}

#[test]
fn a_level_plays_as_its_policy_and_values_stay_exact() {
    let (tables, table) = solved("othello-4x4");
    let game = Oracle::game(&table);
    let mut board = Board::new(&tables, &["nboard", "4x4", "--level", "1"]);
    assert_eq!(board.ask("nboard 2", "set"), ["set myname yomikiri level 1"]);
    let mut played = PlayedGame::new(game.start());
    let policy: yomikiri_measure::policy::PolicySpec = "alphabeta:1".parse().unwrap();
    let player = yomikiri_measure::judge::build(&policy, game).unwrap();
    let mut differs = false;
    while played.end(game).is_none() {
        let position = *played.position();
        let told = board.ask("go", "===");
        let name =
            told.last().unwrap()["=== ".len()..].split('/').next().unwrap().to_ascii_lowercase();
        let name = if name == "pa" { "pass" } else { &name };
        let moved = action(game, &position, name);
        let choice = player.choose(game, None, &position).unwrap();
        let at = choice.actions.iter().position(|action| *action == moved).unwrap();
        assert!(choice.probabilities[at] > 0.0, "{name}");
        differs |= !table.best_actions(&position).contains(&moved);
        let best = table.value_of(&position).unwrap().score().unwrap().0;
        let shown = told.iter().find(|line| line.starts_with("search ")).unwrap();
        assert!(shown.contains(&format!(" {best}.00 0 100%")), "{shown}");
        board.send(&format!(
            "move {}",
            told.last().unwrap()["=== ".len()..].split('/').next().unwrap()
        ));
        assert_eq!(board.line(), "status");
        played.play(game, moved);
    }
    assert!(differs);
}

#[test]
fn malformed_commands_get_the_error_of_the_protocol_and_nothing_else() {
    let tables = Tables::new();
    let mut usi = Board::new(&tables, &["usi"]);
    usi.ask("isready", "readyok");
    for (line, error) in [
        ("foo", "unknown command `foo`"),
        ("setoption", "expected setoption name NAME value VALUE"),
        ("setoption name Foo value 1", "no option Foo"),
        ("setoption name Threads value 0", "Threads: expected 1 to 1024, found 0"),
        ("setoption name Level value 9", "Level: expected 1 to 5, or perfect"),
        ("setoption name USI_Variant value chess", "no variant chess"),
        ("position", "expected position startpos, or position sfen SFEN"),
        ("go", "no position: the last one could not be read"),
        ("d", "no position"),
        ("position startpos moves 5e4d 9a9b", "illegal move 2"),
        ("go", "no position: the last one could not be read"),
        ("position sfen 5/5/5 b -", ""),
        ("position startpos", "none"),
        ("go movetime soon", "expected a number, found `soon`"),
        ("go fast", "go: no limit `fast`"),
        ("go perft 0", "go perft: expected 1 to 12 plies"),
        ("go mate soon", "expected milliseconds, found `soon`"),
    ] {
        let lines = usi.ask(&format!("{line}\nisready"), "readyok");
        if error == "none" {
            assert_eq!(lines, ["readyok"]);
            continue;
        }
        assert_eq!(lines.len(), 2, "{line}: {lines:?}");
        assert!(lines[0].starts_with(&format!("info string error: {error}")), "{line}: {lines:?}");
    }
    let mut gtp = Board::new(&tables, &["gtp", "4x4"]);
    for (line, error) in [
        ("foo", "unknown command"),
        ("values", "unknown command"),
        ("play", "syntax error in play"),
        ("play red a1", "syntax error: expected black or white, found red"),
        ("play black a9", "illegal move"),
        ("play white b1", "illegal move: it is the turn of Black, not of White"),
        ("play black b1 a1", "illegal move"),
        ("genmove", "syntax error in genmove"),
        ("boardsize 99", "unacceptable size"),
        ("boardsize x", "unacceptable size"),
        ("undo", "cannot undo"),
        ("final_score", "cannot score: the game is not over"),
        ("time_settings 1 2", "syntax error in time_settings"),
        ("time_settings -1 2 3", "syntax error: expected seconds, found -1"),
        ("time_left black 1e400 0", "syntax error: expected seconds, found 1e400"),
        ("set_game Chess", "unknown game"),
        ("yomikiri-setup_board XXXX", ""),
    ] {
        let answer = gtp.gtp(line).unwrap_err();
        assert!(answer.starts_with(error), "{line}: {answer}");
    }
    gtp.send("# a remark\n\n17 name # another");
    assert_eq!((gtp.line(), gtp.line()), ("=17 yomikiri".to_string(), String::new()));
    gtp.send("18");
    assert_eq!((gtp.line(), gtp.line()), ("?18 unknown command".to_string(), String::new()));
    let mut nboard = Board::new(&tables, &["nboard"]);
    for (line, error) in [
        ("move F9", "status error: "),
        ("hint", "status error: expected hint N"),
        ("set depth deep", "status error: expected set depth N"),
        ("set game (;GM[Othello]BO[8 nothing *];)", "status error: "),
        ("go", "status error: no game: the last one could not be read"),
        ("set game (;GM[Othello]BO[12 - *];)", "status error: "),
    ] {
        let lines = nboard.ask(&format!("{line}\nping 1"), "pong");
        assert!(lines.len() == 2 && lines[0].starts_with(error), "{line}: {lines:?}");
    }
    // An unknown line is passed over.
    assert_eq!(nboard.ask("frobnicate\nset contempt 3\nping 2", "pong"), ["pong 2"]);
    // Invalid bytes, and a line without end.
    let to = usi.to.as_mut().unwrap();
    to.write_all(b"\xff\xfe\n").unwrap();
    to.write_all(&vec![b'x'; 3 << 20]).unwrap();
    let lines = usi.ask("\nisready", "readyok");
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[1].ends_with("unknown command `(a`"), "{lines:?}");
    for (args, what) in [
        (&["usi", "8x8"][..], "othello-8x8 is not a game of USI"),
        (&["nboard", "4x5"], "othello-4x5 is not a game of NBoard"),
        (&["gtp", "--level", "6"], "expected 1 to 5, or perfect"),
        (&["gtp", "nowhere"], "no table, game or size"),
        (&["usi", "--json"], "--json does not apply to engines"),
    ] {
        let ran = tables.run(args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.stderr.contains(what), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn the_measured_engine_is_perfect() {
    let (tables, _) = solved("othello-4x4");
    let solver = env!("CARGO_BIN_EXE_solver");
    let policy = format!("gtp:{solver} gtp 4x4 --tables {}", tables.root().display());
    let sample = ["--sample", "200", "--weight", "uniform", "--seed", "1", "--no-games"];
    let report =
        tables.json(&[&["report", "4x4", "-q", "--policy", &policy][..], &sample].concat());
    let kept = &report["policies"][0]["total"]["all"]["argmax_score_kept"];
    assert_eq!(kept, 1.0, "{report}");
}
