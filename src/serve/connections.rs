//! Connections: how many, for how long, and how they end.

use std::io;
use std::net::TcpListener;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

/// The most connections at once. Each takes some 20 kB while it is idle.
const MOST: usize = 2048;
/// Files that are open besides.
const OTHER_FILES: u64 = 512;
/// How long a connection may be idle, or take for the headers of a request.
const IDLE: Duration = Duration::from_secs(60);
/// How long a client may read nothing of what it is sent.
const UNREAD: Duration = Duration::from_secs(30);
/// The most bytes of headers.
const HEADERS: usize = 32 << 10;
/// How long answers that are under way are waited for at the end.
const FAREWELL: Duration = Duration::from_secs(3);

/// Answers until `stop` says so.
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
                // The one who asked is gone, or there are no files left: others may be answered later.
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

/// Answers the requests of one connection.
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
    let connection = builder
        .serve_connection(TokioIo::new(Spoken::on(stream)), TowerToHyperService::new(router));
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

/// Says that there is no room, and hangs up.
async fn turn_away(mut stream: TcpStream) {
    let answer = refusal(
        "503 Service Unavailable",
        r#"{"error":"there are too many connections","hint":"try again later"}"#,
    );
    let _ = timeout(Duration::from_secs(1), stream.write_all(&answer)).await;
}

/// The bytes of the last answer of a connection.
fn refusal(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: application/json");
    format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}").into()
}

/// A connection. What is no request that can be read never reaches the router: hyper refuses it
/// by itself, without a body. Here it gets one, as every other refusal has.
struct Spoken {
    stream: TcpStream,
    /// What stands for the bytes that are being written, and how much of it has been.
    instead: Option<(Vec<u8>, usize)>,
}

impl Spoken {
    fn on(stream: TcpStream) -> Spoken {
        Spoken { stream, instead: None }
    }
}

/// What to send for one of hyper's own refusals; all others have bodies.
fn with_body(answer: &[u8]) -> Option<Vec<u8>> {
    let head = std::str::from_utf8(answer).ok()?.strip_suffix("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.1 ")?;
    if !status.starts_with('4') || !lines.any(|line| line.eq_ignore_ascii_case("content-length: 0"))
    {
        return None;
    }
    let body = match status.get(..3)? {
        "431" => {
            r#"{"error":"the headers are above 32 KiB","hint":"send less; positions go into the body of a POST"}"#
        }
        "414" => {
            r#"{"error":"the address is too long","hint":"send positions in the body of a POST"}"#
        }
        _ => r#"{"error":"this is no HTTP/1.1 request","hint":"see /api/v1/openapi.json"}"#,
    };
    Some(refusal(status, body))
}

impl AsyncRead for Spoken {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Spoken {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let own = &mut *self;
        if own.instead.is_none() {
            own.instead = with_body(bytes).map(|instead| (instead, 0));
        }
        let Some((instead, written)) = &mut own.instead else {
            return Pin::new(&mut own.stream).poll_write(context, bytes);
        };
        while *written < instead.len() {
            *written +=
                ready!(Pin::new(&mut own.stream).poll_write(context, &instead[*written..]))?;
        }
        own.instead = None;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Lets the system end a connection whose client reads nothing.
fn limit_unread(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, UNREAD.as_millis() as u32);
    #[cfg(not(target_os = "linux"))]
    let _ = (stream, UNREAD);
}

/// How many files may be open, as many as we may have.
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
