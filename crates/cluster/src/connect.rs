//! Connections between the processes of a job: timely's communication over sockets opened here, because
//! timely's own way of opening them waits for ever and prints to stdout.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use timely::WorkerConfig;
use timely::communication::allocator::AllocatorBuilder;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{Config, Hooks};
use timely::execute::execute_from;
use timely::worker::Worker;

use super::{Done, Job};
use yomikiri::error::{Error, Kind};

/// Time to wait for the other processes.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time for a caller to identify itself.
const GREETING: Duration = Duration::from_secs(5);
/// First bytes that a process sends.
const NAME: [u8; 8] = *b"yomikiri";
/// Time until the system closes a silent connection, after probing it.
const SILENCE: Duration = Duration::from_secs(10);

/// Lets the system close a connection whose other end has vanished, as after a power loss.
fn notice_silence(stream: &TcpStream) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::net::sockopt;
        sockopt::set_socket_keepalive(stream, true)?;
        sockopt::set_tcp_keepidle(stream, SILENCE / 5)?;
        sockopt::set_tcp_keepintvl(stream, SILENCE / 5)?;
        sockopt::set_tcp_keepcnt(stream, 4)?;
        sockopt::set_tcp_user_timeout(stream, SILENCE.as_millis() as u32)?;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (stream, SILENCE);
    Ok(())
}

/// Index of a calling process, number of its workers, and its connection.
type Caller = (u64, u64, TcpStream);

/// Reads a caller's card and passes it on. Hangs up on strangers, who send another card or none.
fn greet(mut stream: TcpStream, callers: &Sender<Caller>) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(GREETING))?;
    let mut card = [[0; 8]; 3];
    stream.read_exact(card.as_flattened_mut())?;
    stream.set_read_timeout(None)?;
    stream.set_nodelay(true)?;
    notice_silence(&stream)?;
    let [name, number, workers] = card;
    if name == NAME {
        let caller = (u64::from_be_bytes(number), u64::from_be_bytes(workers), stream);
        // The receiver is gone if the caller comes too late.
        let _ = callers.send(caller);
    }
    Ok(())
}

/// Returns a connection to every other process. Each listens, and calls those before it, as timely does; a
/// caller sends its index and number of workers. A restarted process that calls again takes its own place.
fn sockets(hosts: &[String], own: usize, workers: usize) -> Result<Vec<Option<TcpStream>>, Error> {
    let wrong = |what: Error| what.of_kind(Kind::Failure);
    let address = &hosts[own];
    let listener = TcpListener::bind(address).map_err(|error| {
        wrong(Error::new(
            format!("cannot listen on {address} as process {own} ({error})"),
            "choose another port",
        ))
    })?;
    let _ = listener.set_nonblocking(true);
    let (until, mut all) = (Instant::now() + PATIENCE, Vec::new());
    let late = |who: usize| {
        let (seconds, host) = (PATIENCE.as_secs(), &hosts[who]);
        wrong(Error::new(
            format!("no connection to process {who} at {host} within {seconds} s"),
            "start it with the same hosts",
        ))
    };
    for (number, host) in hosts.iter().enumerate().take(own) {
        let mut stream = loop {
            match TcpStream::connect(host) {
                Ok(stream) => break stream,
                Err(_) if Instant::now() < until => sleep(Duration::from_millis(50)),
                Err(_) => return Err(late(number)),
            }
        };
        let [number_of, workers] = [own, workers].map(|one| (one as u64).to_be_bytes());
        let card = [NAME, number_of, workers].concat();
        let sent = stream.set_nodelay(true).and_then(|()| notice_silence(&stream));
        let sent = sent.and_then(|()| stream.write_all(&card));
        sent.map_err(|error| {
            wrong(format!("cannot write to process {number} at {host} ({error})").into())
        })?;
        all.push(Some(stream));
    }
    all.resize_with(hosts.len(), || None);
    let (callers, called) = channel();
    while let Some(missing) = (own + 1..hosts.len()).find(|&other| all[other].is_none()) {
        while let Ok((stream, _)) = listener.accept() {
            let callers = callers.clone();
            // Without a thread the caller is hung up on.
            let _ = Builder::new().spawn(move || greet(stream, &callers));
        }
        let Ok((number, theirs, stream)) = called.try_recv() else {
            if Instant::now() > until {
                return Err(late(missing));
            }
            sleep(Duration::from_millis(20));
            continue;
        };
        let slot = usize::try_from(number).ok().filter(|&number| number > own);
        let Some(slot) = slot.and_then(|number| all.get_mut(number)) else {
            let what = format!("invalid index {number} of a process: expected one after {own}");
            let what = Error::new(what, "start all processes with the same hosts");
            return Err(what);
        };
        if theirs != workers as u64 {
            let what = Error::new(
                format!("process {number} has {theirs} workers, this one {workers}"),
                "start all processes with the same --threads",
            );
            return Err(what);
        }
        *slot = Some(stream);
    }
    Ok(all)
}

/// Runs the workers of this process.
pub(super) fn run(
    job: &Job,
    work: fn(&Job, &mut Worker) -> Result<Done, Error>,
    fail: fn(&Error),
) -> Result<Done, Error> {
    let wrong = |what: String| {
        Error::from(format!("cannot connect the processes ({what})")).of_kind(Kind::Failure)
    };
    let (builders, guard) = if job.hosts.len() > 1 {
        let sockets = sockets(&job.hosts, job.process, job.workers)?;
        let hooks = Hooks::default();
        let inside = ProcessBuilder::new_typed_vector(
            job.workers,
            hooks.refill.clone(),
            hooks.spill.clone(),
        );
        let (builders, guard) =
            initialize_networking_from_sockets(inside, sockets, job.process, job.workers, hooks)
                .map_err(|error| wrong(error.to_string()))?;
        let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
        (builders, Box::new(guard) as Box<dyn std::any::Any + Send>)
    } else {
        Config::Process(job.workers).try_build().map_err(wrong)?
    };
    let own = job.clone();
    let guards = execute_from(builders, guard, WorkerConfig::default(), move |worker| {
        let done = work(&own, worker);
        // After an error all others would wait for this worker, so `fail` ends the process.
        done.inspect_err(fail).unwrap_or_default()
    });
    let mut all = Done::default();
    for done in guards.map_err(wrong)?.join() {
        let done = done.map_err(wrong)?;
        all.states += done.states;
        all.moves += done.moves;
        all.sent += done.sent;
    }
    Ok(all)
}
