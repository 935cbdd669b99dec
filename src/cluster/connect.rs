//! The processes of a job, connected: timely's own communication over sockets that are opened here, because timely's
//! way of opening them waits for ever and says so on stdout.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use timely::WorkerConfig;
use timely::communication::allocator::AllocatorBuilder;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{Config, Hooks};
use timely::execute::execute_from;
use timely::worker::Worker;

use super::{ClusterError, Done, Job};

/// How long the others are waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a host may be silent: the system asks it now and then whether it is there.
const SILENCE: Duration = Duration::from_secs(10);

/// Lets the system end a connection whose other end is gone without a word, a host that lost its power, say.
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

/// A connection to every other process. Each listens, and calls those before it, as timely does; who calls says
/// which process it is and how many workers it has.
fn sockets(
    hosts: &[String],
    own: usize,
    workers: usize,
) -> Result<Vec<Option<TcpStream>>, ClusterError> {
    let wrong = |what: String| ClusterError::Others(what);
    let address = &hosts[own];
    let listener = TcpListener::bind(address).map_err(|error| {
        wrong(format!("{address}, where process {own} would listen, cannot be used ({error}); give it another port"))
    })?;
    let _ = listener.set_nonblocking(true);
    let (until, mut all) = (Instant::now() + PATIENCE, Vec::new());
    let late = |who: usize| {
        let (seconds, host) = (PATIENCE.as_secs(), &hosts[who]);
        wrong(format!(
            "process {who} at {host} was not there within {seconds} s; start it, with the same hosts"
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
        let card = [own as u64, workers as u64].map(u64::to_be_bytes).concat();
        let said = stream.set_nodelay(true).and_then(|()| notice_silence(&stream));
        let said = said.and_then(|()| stream.write_all(&card));
        said.map_err(|error| {
            wrong(format!("process {number} at {host} cannot be talked to ({error})"))
        })?;
        all.push(Some(stream));
    }
    all.resize_with(hosts.len(), || None);
    while let Some(missing) = (own + 1..hosts.len()).find(|&other| all[other].is_none()) {
        let Ok((mut stream, from)) = listener.accept() else {
            if Instant::now() > until {
                return Err(late(missing));
            }
            sleep(Duration::from_millis(20));
            continue;
        };
        let mut card = [[0; 8]; 2];
        let heard = stream.set_nonblocking(false);
        let heard = heard.and_then(|()| stream.set_read_timeout(Some(Duration::from_secs(5))));
        let heard = heard.and_then(|()| stream.read_exact(card.as_flattened_mut()));
        let heard = heard
            .and_then(|()| stream.set_read_timeout(None))
            .and_then(|()| stream.set_nodelay(true))
            .and_then(|()| notice_silence(&stream));
        let card = card.map(u64::from_be_bytes);
        let [number, theirs] = card.map(|one| usize::try_from(one).unwrap_or(usize::MAX));
        match all.get_mut(number) {
            Some(slot @ None) if heard.is_ok() && number > own => {
                if theirs != workers {
                    let what = format!(
                        "process {number} has {theirs} workers and this one {workers}; give all of them the same --threads"
                    );
                    return Err(ClusterError::Input(what));
                }
                *slot = Some(stream);
            }
            _ => {
                let what = format!(
                    "{from} is not one of the processes after {own}, or is one twice; give all of them the same hosts"
                );
                return Err(wrong(what));
            }
        }
    }
    Ok(all)
}

/// Runs the workers of this process.
pub(super) fn run(
    job: &Job,
    work: fn(&Job, &mut Worker) -> Result<Done, ClusterError>,
    fail: fn(&ClusterError),
) -> Result<Done, ClusterError> {
    let wrong =
        |what: String| ClusterError::Others(format!("the processes cannot be connected ({what})"));
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
        // A worker that returned would be waited for by all others.
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
