//! USI and UCI: an engine of the shogi family, asked position by position from a clean state.

use std::time::Instant;

use super::super::process::{Process, excerpt};
use super::spec::{EngineSpec, Protocol};
use super::{EngineAnswer, Listing, failed};
use yomikiri::error::Error;
use yomikiri::rules::{Action, AnyPosition, Rules};

/// An engine that speaks USI or UCI.
#[derive(Debug)]
pub(super) struct UsiEngine {
    process: Process,
    spec: EngineSpec,
    name: String,
    variant: Option<String>,
    /// `true` if it has the option by which its threads are made anew, which alone clears some engines.
    has_threads: bool,
    /// `true` until it is known that it does not list its moves.
    lists_moves: bool,
}

/// Returns the usual name of a game's variant in engines.
fn usual_variant(game: &dyn Rules) -> Option<&'static str> {
    match &*game.name() {
        "minishogi" => Some("minishogi"),
        "animal-shogi" => Some("dobutsu"),
        _ => None,
    }
}

impl UsiEngine {
    /// Starts an engine and chooses its variant; fails if it does not offer it.
    pub(super) fn start(spec: &EngineSpec, game: &dyn Rules) -> Result<UsiEngine, Error> {
        let process = super::start(spec)?;
        let mut engine = UsiEngine {
            process,
            spec: spec.clone(),
            name: String::new(),
            variant: None,
            has_threads: false,
            lists_moves: true,
        };
        let is_usi = spec.protocol == Protocol::Usi;
        let (hello, ready) = if is_usi { ("usi", "usiok") } else { ("uci", "uciok") };
        let lines = engine.exchange(hello, |line| line.trim() == ready)?;
        let name = lines.iter().find_map(|line| line.strip_prefix("id name "));
        engine.name = name.unwrap_or("engine").trim().to_string();
        engine.has_threads = lines.iter().any(|line| line.starts_with("option name Threads "));
        engine.choose_variant(&lines, game)?;
        for (name, value) in &spec.options {
            let is_known = lines.iter().any(|line| {
                let option = line.strip_prefix("option name ").unwrap_or_default();
                option.split(" type ").next().is_some_and(|known| known.eq_ignore_ascii_case(name))
            });
            if !is_known {
                let what = format!("{} has no option {name}", engine.name);
                return Err(Error::from(what));
            }
            engine.send(&format!("setoption name {name} value {value}"));
        }
        engine.clear()?;
        Ok(engine)
    }

    /// Returns the engine's name and variant.
    pub(super) fn title(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}, variant {variant}", self.name),
            None => self.name.clone(),
        }
    }

    fn choose_variant(&mut self, lines: &[String], game: &dyn Rules) -> Result<(), Error> {
        let usual = usual_variant(game);
        let wanted = self.spec.variant.clone().or(usual.map(str::to_string));
        let Some(wanted) = wanted else {
            let what = format!("the variant of {} has no usual name", game.name());
            return Err(Error::new(what, "name it: ?variant=NAME"));
        };
        let option = lines.iter().find_map(|line| {
            let (name, kinds) = line.strip_prefix("option name ")?.split_once(" type ")?;
            name.ends_with("_Variant").then_some((name, kinds))
        });
        match option {
            Some((name, kinds)) => {
                let offered: Vec<&str> = kinds.split(" var ").skip(1).map(str::trim).collect();
                if !offered.contains(&&*wanted) {
                    let what = format!("{} does not offer the variant {wanted}", self.name);
                    return Err(Error::new(
                        what,
                        format!("it offers {}", excerpt(&offered.join(", "))),
                    ));
                }
                self.send(&format!("setoption name {name} value {wanted}"));
                self.variant = Some(wanted);
            }
            None if self.spec.variant.is_some() => {
                let what = format!("{} has no option for the variant {wanted}", self.name);
                return Err(Error::new(what, "leave ?variant out for an engine of one game"));
            }
            None => {}
        }
        Ok(())
    }

    fn send(&mut self, line: &str) {
        self.process.send(format!("{line}\n").into_bytes());
    }

    /// Sends a line and returns those up to the one that `is_last` accepts.
    fn exchange(
        &mut self,
        line: &str,
        is_last: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, Error> {
        self.send(line);
        self.until(is_last)
    }

    fn until(&mut self, is_last: impl Fn(&str) -> bool) -> Result<Vec<String>, Error> {
        let deadline = Instant::now() + self.spec.limit;
        let mut lines = Vec::new();
        loop {
            let line = self.process.line(deadline.saturating_duration_since(Instant::now()))?;
            let line = String::from_utf8_lossy(&line).trim_end().to_string();
            let is_end = is_last(&line);
            lines.push(line);
            if is_end {
                return Ok(lines);
            }
        }
    }

    /// Forgets everything of earlier searches. Clearing the hash alone leaves something behind in some engines;
    /// new threads do not.
    fn clear(&mut self) -> Result<(), Error> {
        if self.has_threads {
            let own =
                self.spec.options.iter().find(|(name, _)| name.eq_ignore_ascii_case("threads"));
            let threads = own.map_or("1", |(_, value)| value).to_string();
            self.send(&format!("setoption name Threads value {threads}"));
        }
        self.send(if self.spec.protocol == Protocol::Usi { "usinewgame" } else { "ucinewgame" });
        self.exchange("isready", |line| line.trim() == "readyok").map(drop)
    }

    /// Sets a position up without its history, by which some engines judge repetitions.
    fn set_up(&mut self, game: &dyn Rules, position: &AnyPosition) {
        let sfen = sfen(game, position);
        match self.spec.protocol {
            Protocol::Usi => self.send(&format!("position sfen {sfen}")),
            _ => self.send(&format!("position fen {}", fen(&sfen))),
        }
    }

    /// Returns the engine's moves of a position, after its board was compared if it prints one; `None` if it does
    /// not list them.
    pub(super) fn list(
        &mut self,
        game: &dyn Rules,
        position: &AnyPosition,
    ) -> Result<Option<Listing>, Error> {
        if !self.lists_moves {
            return Ok(None);
        }
        self.clear()?;
        self.set_up(game, position);
        self.send("d");
        let printed = self.exchange("isready", |line| line.trim() == "readyok")?;
        let board = printed.iter().find_map(|line| line.trim().strip_prefix("Sfen: "));
        let sfen = sfen(game, position);
        if let Some(board) = board.filter(|board| normal(board) != normal(&sfen)) {
            let what = format!("{} prints another board for {sfen}: {}", self.name, excerpt(board));
            return Err(Error::new(what, "its variant is another game"));
        }
        let is_end =
            |line: &str| line.starts_with("Nodes searched") || line.starts_with("bestmove");
        let lines = self.exchange("go perft 1", is_end)?;
        if lines.last().is_some_and(|line| line.starts_with("bestmove")) {
            self.lists_moves = false;
            return Ok(None);
        }
        let moves = lines.iter().filter_map(|line| line.split_once(": "));
        let moves = moves.filter(|(name, count)| !name.contains(' ') && count.trim() == "1");
        Ok(Some(Listing { moves: moves.map(|(name, _)| name.to_string()).collect() }))
    }

    /// Asks for the move of a position.
    pub(super) fn ask(
        &mut self,
        game: &dyn Rules,
        position: &AnyPosition,
    ) -> Result<EngineAnswer, Error> {
        self.clear()?;
        self.set_up(game, position);
        let words = self.spec.search.iter().map(|(word, number)| format!(" {word} {number}"));
        let go = format!("go{}", words.collect::<String>());
        let lines = self.exchange(&go, |line| line.starts_with("bestmove"))?;
        let last = lines.last().map_or("", |line| line);
        let text = last.split_whitespace().nth(1).unwrap_or_default().to_string();
        let score = lines.iter().rev().find_map(|line| score_of(line));
        Ok(EngineAnswer { text, value: score })
    }

    /// Returns a move as the engine writes it.
    pub(super) fn name_of(
        &self,
        game: &dyn Rules,
        position: &AnyPosition,
        action: Action,
    ) -> String {
        let usi = game.action_name(position.side, action);
        if self.spec.protocol == Protocol::Usi {
            return usi;
        }
        // Files by letters from the left, ranks by numbers from below.
        let (rows, columns) = game.shape();
        let square = |at: u16| {
            let (row, column) = (usize::from(at) / columns, usize::from(at) % columns);
            format!("{}{}", char::from(b'a' + column as u8), rows - row)
        };
        let squares = game.move_squares(position, action);
        let to = squares.to.map_or(String::new(), square);
        match squares.from {
            Some(from) => {
                format!("{}{to}{}", square(from), if usi.ends_with('+') { "+" } else { "" })
            }
            None => format!("{}@{to}", usi.split('*').next().unwrap_or_default()),
        }
    }
}

fn sfen(game: &dyn Rules, position: &AnyPosition) -> String {
    let written = game.written(position);
    written.into_iter().find(|(name, _)| *name == "sfen").map_or(String::new(), |(_, sfen)| sfen)
}

/// Returns the hands of an SFEN with each piece by itself.
fn expanded(hands: &str) -> String {
    let (mut pieces, mut count) = (String::new(), 0);
    for sign in hands.chars() {
        match sign.to_digit(10) {
            Some(digit) => count = (10 * count + digit as usize).min(100),
            None => {
                pieces.extend(std::iter::repeat_n(sign, count.max(1)));
                count = 0;
            }
        }
    }
    pieces
}

/// Returns the board, the side to move and the expanded hands of an SFEN.
fn parts(sfen: &str) -> [String; 3] {
    let mut words = sfen.split_whitespace();
    let [board, side, hands] = [(); 3].map(|()| words.next().unwrap_or_default());
    [board.to_string(), side.to_string(), expanded(hands)]
}

/// Returns the FEN of an SFEN: hands in brackets, each piece by itself, and `w` for the first player.
fn fen(sfen: &str) -> String {
    let [board, side, hands] = parts(sfen);
    let side = if side == "b" { "w" } else { "b" };
    format!("{board}[{hands}] {side} - - 0 1")
}

/// Returns an SFEN with its hands sorted and without the number of its move.
fn normal(sfen: &str) -> [String; 3] {
    let [board, side, hands] = parts(sfen);
    let mut hands: Vec<char> = hands.chars().collect();
    hands.sort_unstable();
    [board, side, hands.into_iter().collect()]
}

/// Returns the outcome that a line of a search expects for the player to move: a mate is certain, and 400 centipawns are ten
/// to one.
fn score_of(line: &str) -> Option<f64> {
    let (_, score) = line.strip_prefix("info ")?.split_once(" score ")?;
    let mut words = score.split_whitespace();
    let (kind, number) = (words.next()?, words.next()?);
    match kind {
        "cp" => {
            let number: f64 = number.parse().ok()?;
            Some(2.0 / (1.0 + 10f64.powf(-number / 400.0)) - 1.0)
        }
        // USI has a sign alone for a mate of unknown length; `mate 0` is the mover's own.
        "mate" => Some(if number.starts_with('-') || number == "0" { -1.0 } else { 1.0 }),
        _ => None,
    }
}

/// Returns whether a game is one that engines of these protocols play.
pub(super) fn check(game: &dyn Rules, spec: &EngineSpec) -> Result<(), Error> {
    if sfen(game, &game.start()).is_empty() {
        let what = format!("{} is not a game of {}", game.name(), spec.protocol.name());
        return Err(failed(Error::new(
            what,
            "USI and UCI engines play the shogi family, GTP engines Othello",
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_uci_have_hands_in_brackets_and_white_first() {
        let of = |sfen, expected: &str| assert_eq!(fen(sfen), expected);
        of("gle/1c1/1C1/ELG b - 1", "gle/1c1/1C1/ELG[-] w - - 0 1");
        of("gle/3/1c1/EL1 w 2Cg 1", "gle/3/1c1/EL1[CCg] b - - 0 1");
        assert_eq!(normal("3 b g2C 1"), normal("3 b CCg 5"));
        assert_ne!(normal("3 b g2C 1"), normal("3 b gC 1"));
    }

    #[test]
    fn scores_become_expected_outcomes() {
        let of = |text: &str| score_of(&format!("info depth 4 score {text} nodes 1 pv 1a1b"));
        assert_eq!(of("cp 0"), Some(0.0));
        assert!((of("cp 400").unwrap() - 9.0 / 11.0).abs() < 1e-12);
        assert!((of("cp -400 upperbound").unwrap() + 9.0 / 11.0).abs() < 1e-12);
        let mates = ["mate 3", "mate +", "mate -3", "mate -", "mate 0"].map(of);
        assert_eq!(mates, [1.0, 1.0, -1.0, -1.0, -1.0].map(Some));
        assert_eq!((of("depth"), score_of("bestmove 1a1b")), (None, None));
    }
}
