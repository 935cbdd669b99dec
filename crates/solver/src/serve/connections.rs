//! Connections: their number, time limits and shutdown.

use std::io;
use std::net::TcpListener;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

/// Maximum number of connections. An idle one takes about 20 kB.
const MOST: usize = 2048;
/// Number of other open files.
const OTHER_FILES: u64 = 512;
/// Maximum time for which a connection may be idle, or take to send the headers of a request.
const IDLE: Duration = Duration::from_secs(60);
/// Maximum time for which a client may leave sent data unread.
const UNREAD: Duration = Duration::from_secs(30);
/// Maximum size of headers.
const HEADERS: usize = 32 << 10;
/// Maximum time to wait for pending answers at shutdown.
const FAREWELL: Duration = Duration::from_secs(3);

/// Serves connections until `stop` is set.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    stop: watch::Sender<bool>,
) -> io::Result<()> {
    let most = MOST.min(files().saturating_sub(OTHER_FILES).max(64) as usize);
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let slots = Arc::new(Semaphore::new(most));
    let mut stopped = stop.subscribe();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stopped| *stopped) => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // The client has gone, or no files are left: later connections may succeed.
                tracing::warn!("a connection was not taken: {error}");
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        match slots.clone().try_acquire_owned() {
            Ok(slot) => drop(tokio::spawn(talk(stream, router.clone(), stop.subscribe(), slot))),
            Err(_) => drop(tokio::spawn(turn_away(stream))),
        }
    }
    drop(listener);
    let all_ended = slots.acquire_many(most as u32);
    let _ = timeout(FAREWELL, all_ended).await;
    Ok(())
}

/// Serves the requests of one connection.
async fn talk(
    stream: TcpStream,
    router: Router,
    mut stopped: watch::Receiver<bool>,
    _slot: OwnedSemaphorePermit,
) {
    limit_unread(&stream);
    let _ = stream.set_nodelay(true);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(IDLE).max_buf_size(HEADERS);
    let connection =
        builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    let told = async { drop(stopped.wait_for(|stopped| *stopped).await) };
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = told => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection ended: {error}");
    }
}

/// Refuses a connection with status 503.
async fn turn_away(mut stream: TcpStream) {
    let body = r#"{"error":"there are too many connections","hint":"try again later"}"#;
    let head =
        "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-type: application/json";
    let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let _ = timeout(Duration::from_secs(1), stream.write_all(answer.as_bytes())).await;
}

/// Makes the kernel close connections whose client reads nothing.
fn limit_unread(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, UNREAD.as_millis() as u32);
    #[cfg(not(target_os = "linux"))]
    let _ = (stream, UNREAD);
}

/// Raises the limit of open files as far as needed and permitted, and returns it.
fn files() -> u64 {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        let wanted = MOST as u64 + OTHER_FILES;
        if limit.current.is_some_and(|current| current < wanted) {
            limit.current = Some(limit.maximum.map_or(wanted, |maximum| maximum.min(wanted)));
            let _ = setrlimit(Resource::Nofile, limit);
        }
        getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
    }
    #[cfg(not(unix))]
    {
        u64::MAX
    }
}
