//! `--processes` and `--hosts`: the same work by several processes; `solver gather`.

use std::io::{self, BufRead, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use serde::Serialize;

use super::context::Context;
use super::counts::size_of_table;
use super::error::{self, code};
use super::lines::text_of;
use super::program;
use super::signals::report_resumable;
use super::sizes::Memory;
use yomikiri::enumerate::{Parts, Plan};
use yomikiri::error::{Error, Kind};
use yomikiri::input;
use yomikiri::oracle::PartTables;
use yomikiri::rules::Rules;
use yomikiri_cluster::{Job, check, gather, parts_dir, run as run_job};
use yomikiri_measure::render::number::{bytes, thousands};
use yomikiri_measure::render::sanitise::shown;

/// Options that several processes refuse: they enumerate whole boards of Othello with derived moves and find exact values.
pub(super) const UNFIT: [(&str, &[&str]); 2] = [
    (
        "enumerate",
        &["root", "roots", "start", "index", "transitions", "symmetry", "max_states", "name"],
    ),
    ("value-iterate", &["theta", "order", "discount", "empties", "method", "repetition"]),
];

/// Most processes that share the work.
const PROCESSES: u64 = 64;

/// Processes that share the work.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Several processes")]
pub(super) struct ClusterArgs {
    /// Spread the work over N processes on this machine, each with --threads workers
    ///
    /// This works for whole boards of Othello, with derived moves; 'solver gather' joins the parts into a table.
    #[arg(long, value_name = "N", conflicts_with = "hosts", hide_short_help = true,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=PROCESSES))]
    processes: Option<usize>,
    /// Spread the work over the processes of a file of addresses, this one among them
    ///
    /// An address is host:port, one per line. '-' is stdin, where an empty line ends the list; the process then ends
    /// when stdin closes.
    #[arg(long, value_name = "FILE", requires = "process", hide_short_help = true)]
    hosts: Option<PathBuf>,
    /// Line of this process in the file of hosts, counted from 0
    #[arg(long, value_name = "K", requires = "hosts", hide_short_help = true,
        value_parser = RangedU64ValueParser::<usize>::new().range(..=PROCESSES - 1))]
    process: Option<usize>,
}

impl ClusterArgs {
    /// Returns whether the work is spread.
    pub(super) fn is_asked(&self) -> bool {
        self.processes.is_some() || self.hosts.is_some()
    }
}

/// Join the parts that several processes have written into a table
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Size or game whose parts are on this machine, or the directories of the parts [default: 4x4]
    #[arg(value_name = "SIZE | DIR", conflicts_with = "size")]
    parts: Vec<PathBuf>,
    /// Size: the same as the first word
    #[arg(long, value_name = "SIZE", alias = "game", hide = true)]
    size: Option<PathBuf>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Gathered {
    /// Name of the table.
    table: String,
    /// Directory of its files.
    directory: String,
    /// Size of its files.
    bytes: u64,
    /// True if it has values.
    solved: bool,
}

pub(super) fn gather_parts(args: Args, context: &mut Context) -> Result<(), Error> {
    let mut parts: Vec<PathBuf> = args.size.into_iter().chain(args.parts).collect();
    if parts.is_empty() {
        parts.push(context.games.default_name().into());
    }
    if let [word] = &mut parts[..]
        && !word.is_dir()
    {
        let game = context.games.meant(&word.to_string_lossy())?;
        *word = parts_dir(&context.store, &whole(&*game).table_name(&*game));
    }
    let (game, parts) = found(&parts, false, context)?;
    let table = gather(&*game, &whole(&*game), &parts.tables, &context.store, &context.bars)?;
    // The last step of an enumeration.
    context.store.set_latest(&table.name())?;
    let output = Gathered {
        table: table.name(),
        directory: table.dir().display().to_string(),
        bytes: size_of_table(&table),
        solved: table.manifest().solution.is_some(),
    };
    context.show("gather", &output, |Gathered { table, directory, bytes: size, solved }| {
        let with = if *solved { ", with values" } else { "" };
        format!("table {table} in {directory}, {}{with}\n", bytes(*size as f64))
    })
}

/// Opens what several processes have written, in place.
pub(super) fn in_place(dirs: &[PathBuf], context: &mut Context) -> Result<PartTables, Error> {
    let (game, parts) = found(dirs, true, context)?;
    PartTables::open(&game, parts)
}

/// Returns the parts in some directories, and their game. Names those of other runs.
fn found(
    dirs: &[PathBuf],
    solved: bool,
    context: &mut Context,
) -> Result<(Arc<dyn Rules>, Parts), Error> {
    let parts = Parts::open(dirs, solved)?;
    for names in &parts.others {
        let dir = dirs[0].display();
        context.remark(format!(
            "{names} are of another run and not read; remove them: solver remove {dir}/{names}"
        ));
    }
    Ok((context.games.of_table(&parts.tables[0])?, parts))
}

/// Returns the plan of several processes for a game of layers: the whole game, moves derived.
fn whole(game: &dyn Rules) -> Plan {
    Plan { derived: true, ..Plan::from_start(game) }
}

/// The work on a whole game: to find its states, or the values of states that have been found.
pub(super) fn job(
    game: Arc<dyn Rules>,
    solves: bool,
    memory: Option<Memory>,
    context: &Context,
) -> Job {
    let plan = whole(&*game);
    let parts = parts_dir(&context.store, &plan.table_name(&*game));
    let (workers, memory) = (context.workers, memory.map(|memory| memory.0));
    let (hosts, process) = (Vec::new(), 0);
    Job { game, plan, parts, solves, hosts, process, workers, memory, plies: None }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output {
    /// Directory of the parts.
    parts: String,
    /// Number of the process, from 0.
    process: usize,
    /// States of its own that it found or solved in this run.
    states: u64,
    /// Moves of them.
    moves: u64,
    /// Bytes of places, orientations and values sent, those to itself among them.
    bytes_sent: u64,
}

/// Does the work of one process, or starts all of them.
pub(super) fn run(args: &ClusterArgs, job: Job, context: &mut Context) -> Result<(), Error> {
    let path = args.hosts.as_deref().unwrap_or(Path::new(STDIN));
    // The process that holds our stdin reports it for all.
    if args.processes.is_some() || path != STDIN {
        report_resumable(context.bars.clone(), context.json)?;
    }
    check(&job)?;
    if let Some(processes) = args.processes {
        context.code = start_all(processes)?;
        return Ok(());
    }
    let wrong = |what: String| Error::from(format!("{}: {what}", path.display()));
    let text = match path == STDIN {
        true => hosts_on_stdin().map_err(|error| wrong(format!("cannot be read: {error}"))),
        false => text_of(path),
    }?;
    let hosts = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let hosts: Vec<String> = hosts.map(str::to_string).collect();
    for (line, host) in hosts.iter().enumerate() {
        let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        if port.is_none() {
            return Err(wrong(format!("invalid address `{host}`: expected host:port")));
        }
        if hosts[..line].contains(host) {
            return Err(wrong(format!("{host} appears twice")));
        }
    }
    let process = args.process.unwrap_or(0);
    if process >= hosts.len() {
        let count = hosts.len();
        return Err(wrong(format!("has {count} hosts, so there is no --process {process}")));
    }
    let job = Job { hosts, process, ..job };
    JSON.store(context.json, Ordering::Relaxed);
    // Timely's threads end the work by a panic where a connection is lost, which workers would wait out.
    std::panic::set_hook(Box::new(|panic| {
        let said = panic.payload().downcast_ref::<String>().cloned();
        let said =
            said.or_else(|| panic.payload().downcast_ref::<&str>().map(|text| (*text).to_string()));
        let said = said.unwrap_or_default();
        let line = match said.contains("timely communication error") {
            true => Error::new(
                "another process has ended or cannot be reached",
                "see its message, and run the same command again to resume",
            ),
            false => format!("this process failed: {}", shown(&said)).into(),
        };
        end(&line.of_kind(Kind::Failure));
    }));
    let done = run_job(&job, end)?;
    let _ = std::panic::take_hook();
    let output = Output {
        parts: job.parts.display().to_string(),
        process,
        states: done.states,
        moves: done.moves,
        bytes_sent: done.sent,
    };
    context.show("part", &output, |Output { parts, .. }| {
        let [states, moves] = [done.states, done.moves].map(thousands);
        let sent = bytes(done.sent as f64);
        format!(
            "process {process}: {states} states, {moves} moves, {sent} sent; parts in {parts}\n"
        )
    })
}

/// The name of stdin as a file of hosts.
const STDIN: &str = "-";

/// Reads addresses from stdin, to its end or an empty line. After an empty line this process ends when stdin does: the other
/// end is closed by the system when whoever holds it ends, by whatever signal.
fn hosts_on_stdin() -> io::Result<String> {
    let mut stdin = io::stdin().lock().take(input::TEXT);
    let mut text = String::new();
    while stdin.read_line(&mut text)? > 1 {}
    if text.ends_with("\n\n") {
        HELD.store(true, Ordering::Relaxed);
        std::thread::Builder::new().spawn(|| {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            std::process::exit(1);
        })?;
    }
    Ok(text)
}

/// True if errors are JSON; the hook of a panic takes no argument.
static JSON: AtomicBool = AtomicBool::new(false);

/// True if this process ends with its stdin.
static HELD: AtomicBool = AtomicBool::new(false);

/// Reports an error once and ends this process, so that the others notice.
fn end(wrong: &Error) {
    static SAYING: Mutex<()> = Mutex::new(());
    // Whoever comes second waits here until the process ends.
    let _saying = SAYING.lock();
    if HELD.load(Ordering::Relaxed) {
        // If all end because their stdin is closed, none reports that it has lost another.
        std::thread::sleep(Duration::from_millis(100));
    }
    let hint = wrong.hint();
    error::say(wrong.kind(), &wrong.to_string(), hint, JSON.load(Ordering::Relaxed));
    // So that others find by themselves what is wrong with all of them, before they lose us.
    std::thread::sleep(Duration::from_millis(300));
    std::process::exit(code(wrong.kind()).into());
}

/// Starts all processes on this machine, and waits for them. They end when we do, for we hold their stdin.
fn start_all(processes: usize) -> Result<ExitCode, Error> {
    // Ports that are free now; they are kept until all are known, so that none comes twice.
    let listeners = (0..processes).map(|_| TcpListener::bind("127.0.0.1:0"));
    let listeners = listeners.collect::<Result<Vec<_>, _>>()?;
    let mut hosts = String::new();
    for listener in &listeners {
        hosts += &format!("{}\n", listener.local_addr()?);
    }
    hosts += "\n";
    drop(listeners);
    let mut words = program::words().get(1..).unwrap_or_default().to_vec();
    if let Some(at) = words.iter().position(|word| word == "--processes") {
        words.drain(at..(at + 2).min(words.len()));
    }
    words.retain(|word| !word.to_string_lossy().starts_with("--processes="));
    let (program, mut started, mut held) = (std::env::current_exe()?, Vec::new(), Vec::new());
    for process in 0..processes {
        let mut command = Command::new(&program);
        command.args(&words).args(["--hosts", STDIN, "--process", &process.to_string()]);
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        let mut stdin = child.stdin.take().expect("it is a pipe");
        // The exit code of one that has ended shows how.
        let _ = stdin.write_all(hosts.as_bytes());
        held.push(stdin);
        started.push(child);
    }
    // The highest code says most: 3 is damage, 1 may mean that another process has ended.
    let mut code = 0;
    for mut process in started {
        let own = process.wait()?.code();
        code = code.max(own.and_then(|own| u8::try_from(own).ok()).unwrap_or(1));
    }
    Ok(ExitCode::from(code))
}
