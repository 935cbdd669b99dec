//! `--processes` and `--hosts`: the same work by several processes; `solver gather`.

use std::io::Write;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Serialize;

use super::context::Context;
use super::counts::size_of_table;
use super::enumerate::game_of;
use super::error::{self, Kind, UserError};
use crate::any::{AnyGame, AnyState};
use crate::cluster::{ClusterError, Job, check, gather, open, parts_dir, run as run_job, table_of};
use crate::graph::Plan;
use crate::input;
use crate::render::hint::{message_and_hint, shown};
use crate::render::number::{bytes, thousands};
use crate::solved::SolvedTable;

/// Who does the work.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Several processes")]
pub(super) struct ClusterArgs {
    /// Spread the work over so many processes on this machine, each with --threads workers (Othello, whole, with its moves
    /// derived, or shogi ply by ply); 'solver gather' makes the table of what they write
    #[arg(long, value_name = "N", conflicts_with = "hosts")]
    processes: Option<usize>,
    /// Spread the work over the processes of a file of addresses (host:port, one a line), of which this is one
    #[arg(long, value_name = "FILE", requires = "process")]
    hosts: Option<PathBuf>,
    /// Which line of the file of hosts this process is, counted from 0
    #[arg(long, value_name = "K", requires = "hosts")]
    process: Option<usize>,
}

impl ClusterArgs {
    /// Whether the work is to be spread.
    pub fn is_asked(&self) -> bool {
        self.processes.is_some() || self.hosts.is_some()
    }
}

/// Make the usual table of what several processes have written, with values if all have them
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The directories with the parts of all processes [default: the parts of an Othello board on this machine]
    #[arg(value_name = "DIR")]
    parts: Vec<PathBuf>,
    /// Othello on a board of rows x columns [default: 4]
    #[arg(long, value_name = "SIZE", conflicts_with = "parts")]
    size: Option<String>,
}

#[derive(Serialize)]
struct Gathered {
    table: String,
    directory: String,
    bytes: u64,
    solved: bool,
}

pub(super) fn gather_parts(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let parts = match args.parts.is_empty() {
        true => {
            let game = game_of(None, args.size.as_deref(), context)?;
            vec![parts_dir(&context.store, &whole(&game).table_name(&game))]
        }
        false => args.parts,
    };
    let stands_for = table_of(&parts)?;
    let game = context.games.named(&stands_for.manifest().identity.game)?;
    let plan = Plan::of(&game, &stands_for)?;
    let job = job(game, plan, Asked::default(), context);
    let table = gather(&job, &parts, &context.store, &context.bars)?;
    let output = Gathered {
        table: table.name(),
        directory: table.dir().display().to_string(),
        bytes: size_of_table(&table),
        solved: table.manifest().solution.is_some(),
    };
    if context.json {
        context.json("gather", &output)?;
    } else {
        let with = if output.solved { ", with values" } else { "" };
        let (name, dir, size) = (&output.table, &output.directory, bytes(output.bytes as f64));
        context.line(format!("table {name} in {dir}, {size}{with}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What several processes have written, read in place.
pub(super) fn in_place(parts: &[PathBuf], context: &Context) -> anyhow::Result<SolvedTable> {
    let table = table_of(parts)?;
    let game = context.games.named(&table.manifest().identity.game)?;
    let (rows, values) = open(&game, parts)?;
    Ok(SolvedTable::elsewhere(game, table, rows, values))
}

/// What several processes enumerate of a game of layers: all of it, its moves derived.
pub(super) fn whole(game: &AnyGame) -> Plan<AnyState> {
    Plan { derived: true, ..Plan::from_start(game) }
}

fn job(game: AnyGame, plan: Plan<AnyState>, asked: Asked, context: &Context) -> Job {
    let parts = parts_dir(&context.store, &plan.table_name(&game));
    let (workers, Asked { solves, memory, plies }) = (context.workers, asked);
    let (hosts, process) = (Vec::new(), 0);
    Job { game, plan, parts, solves, hosts, process, workers, memory, plies }
}

#[derive(Serialize)]
struct Output {
    parts: String,
    process: usize,
    states: u64,
    moves: u64,
    bytes_sent: u64,
}

/// What the processes are to do.
#[derive(Clone, Copy, Default)]
pub(super) struct Asked {
    /// Whether they find values, of states that have been found.
    pub solves: bool,
    /// Bytes that each may allocate.
    pub memory: Option<u64>,
    /// After how many plies they stop.
    pub plies: Option<u32>,
}

/// Does the work of one process, or starts all of them.
pub(super) fn run(
    args: &ClusterArgs,
    game: AnyGame,
    plan: Plan<AnyState>,
    asked: Asked,
    context: &mut Context,
) -> anyhow::Result<ExitCode> {
    let job = job(game, plan, asked, context);
    check(&job)?;
    if let Some(processes) = args.processes {
        return start_all(processes);
    }
    let path = args.hosts.as_ref().expect("one of them is given");
    let wrong = |what: String| UserError::new(format!("{}: {what}", path.display()));
    let text = std::fs::File::open(path).and_then(input::text);
    let text = text.map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let hosts = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let hosts: Vec<String> = hosts.map(str::to_string).collect();
    for (line, host) in hosts.iter().enumerate() {
        let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        if port.is_none() {
            return Err(wrong(format!("'{host}' is no host:port")).into());
        }
        if hosts[..line].contains(host) {
            return Err(wrong(format!("{host} is there twice")).into());
        }
    }
    let process = args.process.unwrap_or(0);
    if process >= hosts.len() {
        let count = hosts.len();
        return Err(wrong(format!("has {count} hosts, so there is no --process {process}")).into());
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
            true => "another process has ended or cannot be reached; see what it said, and give all the same command again to go on".to_string(),
            false => format!("this process failed: {}", shown(&said)),
        };
        end(Kind::Failure, &line);
    }));
    let done = run_job(&job, |error| end(kind_of(error), &error.to_string()))?;
    let _ = std::panic::take_hook();
    let output = Output {
        parts: job.parts.display().to_string(),
        process,
        states: done.states,
        moves: done.moves,
        bytes_sent: done.sent,
    };
    if context.json {
        context.json("part", &output)?;
    } else {
        let [states, moves] = [done.states, done.moves].map(thousands);
        let (sent, parts) = (bytes(done.sent as f64), &output.parts);
        context.line(format!(
            "process {process}: {states} states, {moves} moves, {sent} sent; parts in {parts}"
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What kind of error it is that ended the work.
pub(super) fn kind_of(error: &ClusterError) -> Kind {
    match error {
        ClusterError::Input(_) => Kind::Input,
        ClusterError::Damaged { .. } => Kind::Damaged,
        ClusterError::File { .. } | ClusterError::Others(_) => Kind::Failure,
        ClusterError::Table(error) => error::kind_of(error).unwrap_or(Kind::Failure),
        ClusterError::Graph(error) => error::kind_of(error).unwrap_or(Kind::Failure),
        ClusterError::Sweep(error) => error::kind_of(error).unwrap_or(Kind::Failure),
    }
}

/// Whether errors are JSON; what a panic calls can be told in no other way.
static JSON: AtomicBool = AtomicBool::new(false);

/// Says once what has gone wrong and ends this process, so that the others hear of it.
fn end(kind: Kind, line: &str) {
    static SAYING: Mutex<()> = Mutex::new(());
    // Whoever comes second waits here until the process ends.
    let _saying = SAYING.lock();
    let (message, hint) = message_and_hint(line);
    error::say(kind, message, hint, JSON.load(Ordering::Relaxed));
    // So that others find by themselves what is wrong with all of them, before they lose us.
    std::thread::sleep(Duration::from_millis(300));
    std::process::exit(match kind {
        Kind::Input => 2,
        Kind::Damaged => 3,
        _ => 1,
    });
}

/// Starts all processes on this machine, and waits for them.
fn start_all(processes: usize) -> anyhow::Result<ExitCode> {
    if !(1..=64).contains(&processes) {
        return Err(UserError::new(format!(
            "--processes {processes} is out of bounds; give 1 to 64"
        ))
        .into());
    }
    // Ports that are free now; they are kept until all are known, so that none comes twice.
    let listeners = (0..processes).map(|_| TcpListener::bind("127.0.0.1:0"));
    let listeners = listeners.collect::<Result<Vec<_>, _>>()?;
    let mut hosts = tempfile::NamedTempFile::new()?;
    for listener in &listeners {
        writeln!(hosts, "{}", listener.local_addr()?)?;
    }
    hosts.flush()?;
    drop(listeners);
    let mut words: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some(at) = words.iter().position(|word| word == "--processes") {
        words.drain(at..(at + 2).min(words.len()));
    }
    words.retain(|word| !word.to_string_lossy().starts_with("--processes="));
    let start = |process: usize| {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(&words).arg("--hosts").arg(hosts.path());
        command.arg("--process").arg(process.to_string()).stdin(Stdio::null()).spawn()
    };
    let started = (0..processes).map(start).collect::<Result<Vec<_>, _>>()?;
    let mut code = ExitCode::SUCCESS;
    for mut process in started {
        match process.wait()?.code() {
            Some(0) => {}
            other => {
                code = ExitCode::from(other.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
            }
        }
    }
    Ok(code)
}
