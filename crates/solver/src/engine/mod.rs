//! The solver as an engine of a graphical board: USI, GTP and NBoard over a pipe.
//!
//! [`console`] is the dialogue, [`thinking`] what is known of a position within the time asked: by a table, else by
//! search, else by an estimate. [`usi`], [`gtp`] and [`nboard`] are the languages.

mod clock;
mod console;
mod gtp;
mod nboard;
mod thinking;
mod usi;

use std::io::{self, BufRead, Cursor, Write};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use yomikiri::error::Error;
use yomikiri::oracle::{Budget, Reach, SearchOracle, Sources, WantedValues};
use yomikiri::registry::Games;
use yomikiri::rules::{Rules, SearchOptions};

pub(crate) use thinking::Engine;

/// Language of a graphical board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Usi,
    Gtp,
    NBoard,
}

impl Language {
    /// Fails for a game of which the language cannot speak.
    pub(crate) fn check(self, game: &dyn Rules) -> Result<(), Error> {
        let (rows, columns) = game.shape();
        let speaks = |form: &str| game.written(&game.start()).iter().any(|(name, _)| *name == form);
        let (fits, name, games) = match self {
            Language::Usi => (speaks("sfen"), "USI", "minishogi and animal shogi"),
            Language::Gtp => (true, "GTP", "all games"),
            Language::NBoard => {
                (speaks("obf") && rows == columns, "NBoard", "Othello on square boards")
            }
        };
        match fits {
            true => Ok(()),
            false => Err(Error::new(
                format!("{} is not a game of {name}", game.name()),
                format!("it has {games}; 'solver gtp' takes all games"),
            )),
        }
    }
}

/// Plies that each level reads ahead, as on the server's page.
pub(crate) const LEVEL_PLIES: [u32; 5] = [1, 2, 3, 4, 6];

/// Strength of the moves, not of the values that are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Level {
    /// The best move that is known.
    #[default]
    Perfect,
    /// Alpha-beta to the plies of [`LEVEL_PLIES`], counted from 1.
    Number(usize),
}

impl Level {
    /// Returns the policy that chooses the moves; `None` for the best ones.
    pub(crate) fn policy(self) -> Option<String> {
        match self {
            Level::Perfect => None,
            Level::Number(level) => Some(format!("alphabeta:{}", LEVEL_PLIES[level - 1])),
        }
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Level, String> {
        let number = text.parse().ok().filter(|level| (1..=LEVEL_PLIES.len()).contains(level));
        match number {
            Some(level) => Ok(Level::Number(level)),
            None if text.eq_ignore_ascii_case("perfect") => Ok(Level::Perfect),
            None => Err(format!("expected 1 to {}, or perfect", LEVEL_PLIES.len())),
        }
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Level::Perfect => f.write_str("perfect"),
            Level::Number(level) => level.fmt(f),
        }
    }
}

/// Settings of an engine, which its board may change.
#[derive(Clone)]
pub(crate) struct Settings {
    /// Game that is played.
    pub game: Arc<dyn Rules>,
    /// Table that answers before all others, by name.
    pub table: Option<String>,
    /// Bytes of the search.
    pub memory: u64,
    /// Threads of the search.
    pub threads: usize,
    pub level: Level,
    /// Time for a move where the board sets none.
    pub time: Duration,
    /// `true` to offer the values of all moves (GTP).
    pub analyze: bool,
}

/// Makes the engine of some settings, and finds games by the names that people give them.
pub(crate) trait Opener {
    fn open(&mut self, settings: &Settings) -> Result<Engine, Error>;

    fn game(&self, name: &str) -> Result<Arc<dyn Rules>, Error>;
}

/// Talks to a board that sends these bytes, without tables, and returns all answers; a move takes a few milliseconds
/// unless the board gives more. For tests.
pub fn answers_of(language: &str, game: Arc<dyn Rules>, input: Vec<u8>) -> Vec<u8> {
    struct Bare;

    impl Opener for Bare {
        fn open(&mut self, settings: &Settings) -> Result<Engine, Error> {
            let game = &*settings.game;
            let memory = (settings.memory as usize).min(1 << 20);
            let options = SearchOptions { memory, ..SearchOptions::default() };
            let wanted = WantedValues { outcome_only: false, all_moves: true };
            let search = SearchOracle::new(game.shared(), &options, Budget::default(), wanted);
            Ok(Engine::new(Sources::new(game, Vec::new(), search, Reach::All), None))
        }

        fn game(&self, name: &str) -> Result<Arc<dyn Rules>, Error> {
            Games::default().named(name)
        }
    }

    let language = match language {
        "usi" => Language::Usi,
        "gtp" => Language::Gtp,
        _ => Language::NBoard,
    };
    if language.check(&*game).is_err() {
        return Vec::new();
    }
    let (table, level, time) = (None, Level::Perfect, Duration::from_millis(4));
    let settings =
        Settings { game, table, memory: 1 << 20, threads: 1, level, time, analyze: true };
    let mut answers = Vec::new();
    let talked = run(language, settings, &mut Bare, Cursor::new(input), &mut answers);
    talked.expect("memory takes all answers");
    answers
}

/// Talks to a board until it ends the dialogue or the input.
pub(crate) fn run(
    language: Language,
    settings: Settings,
    opener: &mut dyn Opener,
    input: impl BufRead + Send + 'static,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut protocol: Box<dyn console::Protocol> = match language {
        Language::Usi => Box::new(usi::Usi::new(&settings)),
        Language::Gtp => Box::new(gtp::Gtp::new(&settings)),
        Language::NBoard => Box::new(nboard::NBoard::new(&settings)),
    };
    console::run(&mut *protocol, settings, opener, input, out)
}
