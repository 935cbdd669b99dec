//! `solver usi`, `solver gtp` and `solver nboard`: the engine of a graphical board.

use std::io::{self, BufReader};
use std::sync::Arc;
use std::time::Duration;

use super::complete::tables;
use super::context::Context;
use super::lookup_tables::solved_tables;
use super::players::player;
use super::sizes::{Memory, Seconds};
use super::table_args::{Meant, TableOption};
use crate::engine::{Engine, Language, Level, Opener, Settings, run as talk};
use yomikiri::error::Error;
use yomikiri::oracle::{Budget, Oracle, Reach, SearchOracle, SolvedTable, Sources, WantedValues};
use yomikiri::rules::{Rules, SearchOptions};
use yomikiri::search::usual_memory;

/// Time for a move where the board sets none.
const TIME: Seconds = Seconds(Duration::from_secs(5));
/// Memory of the search.
const MEMORY: u64 = 512 << 20;

/// Options of an engine.
#[derive(Debug, clap::Args)]
pub(super) struct EngineArgs {
    /// Table, game or size that answers; the board may choose another game
    #[arg(value_name = "TABLE", conflicts_with = "table", add = tables())]
    word: Option<String>,
    #[command(flatten)]
    option: TableOption,
    /// Strength of the moves: 1 to 5, or perfect; values are exact at each
    #[arg(long, value_name = "LEVEL", default_value_t = Level::Perfect)]
    level: Level,
    /// Time for a move where the board sets none
    #[arg(long, value_name = "SECONDS", default_value_t = TIME)]
    time: Seconds,
    /// Memory of the search [default: 512M]
    #[arg(long, value_name = "BYTES", hide_short_help = true)]
    memory: Option<Memory>,
    /// Take --memory even if the machine has less
    #[arg(long, hide_short_help = true)]
    force: bool,
}

/// Play minishogi or animal shogi in a program that speaks USI
///
/// Enter 'solver usi' as an engine of a board for minishogi or animal shogi. A solved table that contains the position answers at once,
/// else a search for forced wins and an estimate within the time that the board sets. Proven values are shown as mates, or as 0
/// for a draw; an estimate is named as one.
#[derive(Debug, clap::Args)]
pub(super) struct UsiArgs {
    #[command(flatten)]
    engine: EngineArgs,
}

/// Play Othello, Connect Four and others in a program that speaks GTP
///
/// Enter 'solver gtp' as an engine of Quarry or another controller of the Go Text Protocol. A solved table that contains
/// the position answers at once, else a search to the end, else an estimate, within the time that the controller sets.
#[derive(Debug, clap::Args)]
pub(super) struct GtpArgs {
    #[command(flatten)]
    engine: EngineArgs,
    /// Offer the command 'values': the value of every move, and whether it is exact
    #[arg(long)]
    analyze: bool,
}

/// Play Othello in NBoard, with values of all moves as hints
///
/// Enter 'solver nboard' as an engine of NBoard. A solved table that contains the position answers at once, else a search to
/// the end, else an estimate. Hints of depth 100% are exact.
#[derive(Debug, clap::Args)]
pub(super) struct NBoardArgs {
    #[command(flatten)]
    engine: EngineArgs,
}

pub(super) fn usi(args: UsiArgs, context: &mut Context) -> Result<(), Error> {
    args.engine.run(Language::Usi, false, context)
}

pub(super) fn gtp(args: GtpArgs, context: &mut Context) -> Result<(), Error> {
    args.engine.run(Language::Gtp, args.analyze, context)
}

pub(super) fn nboard(args: NBoardArgs, context: &mut Context) -> Result<(), Error> {
    args.engine.run(Language::NBoard, false, context)
}

impl EngineArgs {
    fn run(self, language: Language, analyze: bool, context: &mut Context) -> Result<(), Error> {
        if context.json {
            let hint = "programs use 'solver query --batch' or 'solver serve'";
            return Err(Error::new("--json does not apply to engines", hint));
        }
        let usual = match language {
            Language::Usi => "minishogi",
            Language::Gtp | Language::NBoard => "othello-8x8",
        };
        let word = self.word.or(self.option.table);
        let (game, table) = match word.map(|word| Meant::of(&word, context)).transpose()? {
            None => (context.games.named(usual)?, None),
            Some(Meant::Game(game)) => (game, None),
            Some(Meant::Table(table)) => (context.games.of_table(&table)?, Some(table.name())),
        };
        language.check(&*game)?;
        let settings = Settings {
            game,
            table,
            memory: self.memory.map_or(MEMORY, |Memory(bytes)| bytes),
            threads: rayon::current_num_threads(),
            level: self.level,
            time: self.time.0,
            analyze,
        };
        let mut shelf = Shelf { context };
        // A table that cannot be read is an error before the dialogue begins.
        drop(shelf.open(&settings)?);
        let input = BufReader::new(io::stdin());
        talk(language, settings, &mut shelf, input, &mut io::stdout())
            .or_else(|error| match error.kind() {
                // The board is gone.
                io::ErrorKind::BrokenPipe => Ok(()),
                _ => Err(error),
            })
            .map_err(|error| format!("cannot write: {error}").into())
    }
}

/// Tables of the store, and policies of levels.
struct Shelf<'a> {
    context: &'a Context,
}

impl Opener for Shelf<'_> {
    fn open(&mut self, settings: &Settings) -> Result<Engine, Error> {
        let (game, context) = (&*settings.game, self.context);
        let mut tables: Vec<SolvedTable> = solved_tables(context, |table| {
            table.manifest().identity.game == game.name()
                && settings.table.as_ref() != Some(&table.name())
        });
        if let Some(name) = &settings.table {
            let table = context.store.open(name)?;
            if table.manifest().identity.game == game.name() {
                tables.insert(0, context.solved(table.for_few_rows(), false)?);
            }
        }
        let empties = tables.first().map_or_else(Default::default, Oracle::empties);
        let memory = usual_memory(game, settings.memory as usize);
        let options = SearchOptions {
            empties,
            memory,
            threads: settings.threads,
            ..SearchOptions::default()
        };
        let wanted = WantedValues { outcome_only: false, all_moves: true };
        let search = SearchOracle::new(game.shared(), &options, Budget::default(), wanted);
        let sources = Sources::new(game, tables, search, Reach::All);
        let level = settings.level.policy();
        let level = level.map(|policy| player(&policy.parse()?, game, &context.store));
        Ok(Engine::new(sources, level.transpose()?))
    }

    fn game(&self, name: &str) -> Result<Arc<dyn Rules>, Error> {
        self.context.games.named(name)
    }
}
