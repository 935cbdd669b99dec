//! The commands of `solver`: one file a subcommand, each with its `Args` and `run`.
//!
//! Manners: data on stdout, everything else on stderr; bars only on a terminal; one line for an
//! error, which with `--json` is JSON, with an exit code by its kind; a closed pipe is no error.

mod answer_text;
mod arguments;
#[cfg(feature = "cluster")]
mod cluster;
mod colour;
mod compare;
mod complete;
mod context;
mod counts;
mod engine;
mod ensure_solved;
mod enumerate;
mod error;
mod export;
mod export_positions;
mod export_targets;
mod fail_if;
mod games;
mod help;
mod info;
mod lines;
mod list;
mod lookup_tables;
mod matches;
mod output;
mod pack;
mod perft;
mod play;
mod players;
mod policies;
mod position_options;
mod preflight;
mod program;
mod progress_bar;
mod prove;
mod query;
mod reference;
mod remove;
mod report;
mod review;
mod sampled_match;
#[cfg(feature = "schemas")]
mod schemas;
#[cfg(feature = "serve")]
mod serve;
mod shell;
mod signals;
mod sizes;
mod solve;
mod table_args;
#[cfg(feature = "onnx")]
mod train;
mod usage;
mod value_iterate;
mod verify;

use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::available_parallelism;

use clap::{Args, ColorChoice, FromArgMatches, Parser, Subcommand};

use context::Context;
#[doc(hidden)]
pub use reference::reference;
#[doc(hidden)]
#[cfg(feature = "schemas")]
pub use schemas::schemas;
use yomikiri::error::{Error, Kind};
use yomikiri::registry::Games;
use yomikiri::rules::Rules;

/// Solves small boards exactly and measures policies against the solution
#[derive(Debug, Parser)]
#[command(name = "solver", version, about, long_about = None, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
struct Global {
    /// Directory of the tables
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        default_value = "tables",
        env = "YOMIKIRI_TABLES"
    )]
    tables: PathBuf,
    /// Number of threads [default: all]
    #[arg(long, global = true, value_name = "N", hide_short_help = true)]
    threads: Option<usize>,
    /// Print data as JSON
    #[arg(long, global = true)]
    json: bool,
    /// When to use colours; 'auto' means on a terminal, unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_short_help = true
    )]
    color: ColorChoice,
    /// Print no progress and no remarks
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Log each step to stderr; twice for more
    #[arg(long, short, global = true, action = clap::ArgAction::Count, hide_short_help = true)]
    verbose: u8,
}

#[derive(Debug, Subcommand)]
enum Command {
    Solve(solve::Args),
    Enumerate(enumerate::Args),
    ValueIterate(value_iterate::Args),
    Prove(prove::Args),
    Check(prove::CheckArgs),
    Report(report::Args),
    Review(review::Args),
    Compare(compare::Args),
    Match(matches::Args),
    #[cfg(feature = "onnx")]
    Train(train::Args),
    Policies(policies::Args),
    Query(query::Args),
    Play(play::Args),
    Usi(engine::UsiArgs),
    Gtp(engine::GtpArgs),
    Nboard(engine::NBoardArgs),
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    Games(games::Args),
    Perft(perft::Args),
    Export(export::Args),
    Pack(pack::Args),
    List(list::Args),
    Info(info::Args),
    Verify(verify::Args),
    Remove(remove::Args),
    #[cfg(feature = "cluster")]
    Gather(cluster::Args),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
}

/// Runs the command line and returns the exit code.
pub fn main() -> ExitCode {
    main_with(Vec::new())
}

/// Runs the command line with games of one's own: every command knows them, and the first is the default.
///
/// ```no_run
/// # let my_game = yomikiri::games::othello::Othello::new(4, 4, true);
/// yomikiri_solver::main_with(yomikiri::games![my_game]);
/// ```
pub fn main_with(games: Vec<Arc<dyn Rules>>) -> ExitCode {
    complete::answer();
    run(games)
}

/// Runs the command line of these words, the program's name first, once in a process; returns the exit code.
/// For programs whose process has other arguments.
pub fn main_of(words: Vec<OsString>) -> ExitCode {
    program::set_words(words);
    run(Vec::new())
}

fn run(games: Vec<Arc<dyn Rules>>) -> ExitCode {
    let words = program::words();
    games.first().into_iter().for_each(|game| program::set_default_game(game.name()));
    colour::choose(words.iter().skip(1).take_while(|word| *word != "--").cloned());
    let cli = match understand_words(words) {
        Ok(cli) => cli,
        Err(error) => return usage::report(&error),
    };
    let json = cli.global.json;
    // A fault of ours has been reported by the panic; its exit code is that of our failures.
    let run = panic::catch_unwind(AssertUnwindSafe(|| dispatch(cli, Games::with(games))));
    run.unwrap_or(Ok(ExitCode::FAILURE)).unwrap_or_else(|error| error::report(&error, json))
}

/// Reads a command line, the program's name first, without running it; an error is as users see it. For tests.
#[doc(hidden)]
pub fn understand(words: &[&str]) -> Result<(), String> {
    understand_words(words).map(drop).map_err(|error| usage::line(&error, words))
}

fn understand_words(
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<Cli, clap::Error> {
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let command = help::command();
    let words = arguments::options_first(words, &command)?;
    let matches = command.try_get_matches_from(words)?;
    sizes::check_memory(&matches)?;
    Cli::from_arg_matches(&matches)
}

fn dispatch(cli: Cli, games: Games) -> Result<ExitCode, Error> {
    let Global { tables, threads, json, color: _, quiet, verbose } = cli.global;
    check_threads(threads)?;
    signals::fail_where_a_file_is_too_large()?;
    // Always, for threads that start by themselves panic where the system refuses them; 0 are all.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
    pool.build_global().map_err(|error| {
        Error::new(format!("cannot start threads: {error}"), "give fewer --threads")
            .of_kind(Kind::Failure)
    })?;
    log_to_stderr(verbose);
    let mut context = Context::new(games, tables, json, quiet)?;
    #[cfg(feature = "cluster")]
    {
        context.workers = threads.unwrap_or(1);
    }
    let done = match cli.command {
        Command::Solve(args) => solve::run(args, &mut context),
        Command::Enumerate(args) => enumerate::run(args, &mut context),
        Command::ValueIterate(args) => value_iterate::run(args, &mut context),
        Command::Query(args) => query::run(args, &mut context),
        Command::Report(args) => report::run(args, &mut context),
        Command::Review(args) => review::run(args, &mut context),
        Command::Compare(args) => compare::run(args, &mut context),
        Command::Export(args) => export::run(args, &mut context),
        Command::Match(args) => matches::run(args, &mut context),
        #[cfg(feature = "onnx")]
        Command::Train(args) => train::run(args, &mut context),
        Command::Prove(args) => prove::run(args, &mut context),
        Command::Check(args) => prove::check(args, &mut context),
        Command::Verify(args) => verify::run(args, &mut context),
        Command::List(args) => list::run(args, &mut context),
        Command::Remove(args) => remove::run(args, &mut context),
        Command::Info(args) => info::run(args, &mut context),
        Command::Pack(args) => pack::run(args, &mut context),
        #[cfg(feature = "cluster")]
        Command::Gather(args) => cluster::gather_parts(args, &mut context),
        Command::Games(args) => games::run(args, &mut context),
        Command::Policies(args) => policies::run(args, &mut context),
        Command::Perft(args) => perft::run(args, &mut context),
        Command::Play(args) => play::run(args, &mut context),
        Command::Usi(args) => engine::usi(args, &mut context),
        Command::Gtp(args) => engine::gtp(args, &mut context),
        Command::Nboard(args) => engine::nboard(args, &mut context),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args, &mut context),
        Command::Completions(args) => shell::completions(args, &mut context),
        Command::Man(args) => shell::man(args, &mut context),
    };
    // Whatever else went wrong may follow from damage.
    context.store.check_read()?;
    done?;
    context.flush()?;
    Ok(context.code)
}

/// Most threads for each core: more make nothing faster, and each takes memory.
const THREADS_A_CORE: usize = 16;

/// Checks a number of threads, given here or in the environment.
fn check_threads(asked: Option<usize>) -> Result<(), Error> {
    const VARIABLE: &str = "RAYON_NUM_THREADS";
    let (name, count) = match asked {
        Some(count) => ("--threads", count),
        // As for rayon, 0 are all.
        None => (VARIABLE, program::number_in(VARIABLE)?.unwrap_or(0).max(1)),
    };
    let most = THREADS_A_CORE * available_parallelism().map_or(1, usize::from);
    if (1..=most).contains(&count) {
        return Ok(());
    }
    Err(Error::from(format!(
        "invalid {name} {count}: expected 1 to {most} ({THREADS_A_CORE} for each core)"
    )))
}

fn log_to_stderr(verbose: u8) {
    let level = match verbose {
        0 => tracing::level_filters::LevelFilter::WARN,
        1 => tracing::level_filters::LevelFilter::INFO,
        _ => tracing::level_filters::LevelFilter::DEBUG,
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        // It would report on stderr, and panic there, that stderr cannot be written.
        .log_internal_errors(false)
        .with_ansi(colour::on_stderr())
        .with_target(false)
        .init();
}
