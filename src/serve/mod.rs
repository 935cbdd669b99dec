//! Tables over HTTP: a page for people and JSON for programs.
//!
//! A [`Server`] answers from the tables of one directory. Its limits are meant for what reaches it
//! from a browser or a script on the same machine, and hold against worse: connections, the bytes of
//! bodies, answers and headers, and the time that each may take are bounded; a look into a table
//! waits for no policy, and what panics is one answer. It tells only what `query`, `report` and
//! `results` tell, writes nothing, and runs no program that it was not given when it was started.
//!
//! The threads that read requests do not work: see `work.rs`. `docs/serve.md` is for users.

mod api;
mod batch;
mod connections;
mod hall;
mod page;
mod players;
mod reply;
mod work;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::{Semaphore, watch};

use crate::registry::Games;
use crate::table::Store;
use hall::Hall;
use reply::{Refusal, typed};
use work::Workshop;

pub use players::Policies;

/// The port that is tried first where none is asked for.
pub const PORT: u16 = 7878;

/// What a server answers from, and whom.
pub struct Options {
    /// The tables.
    pub store: Store,
    /// The games that they may be of.
    pub games: Games,
    /// Who makes policies.
    pub policies: Box<dyn Policies>,
    /// The page elsewhere that may read the answers in a browser: `https://example.org`, or `*`.
    pub cors: Option<HeaderValue>,
}

/// What all answers need.
struct Desk {
    hall: Hall,
    workshop: Workshop,
    policies: Box<dyn Policies>,
    cors: Option<HeaderValue>,
    /// Whether only this machine can reach us.
    is_local: bool,
    budget: Arc<Semaphore>,
}

/// A server that has its address.
pub struct Server {
    listener: TcpListener,
    desk: Desk,
    stop: watch::Sender<bool>,
}

/// Ends a server from another thread.
#[derive(Clone)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// Lets what is under way be answered, and ends.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Takes a port: the one that is asked for, or [`PORT`], or else any that is free.
    pub fn bind(host: IpAddr, port: Option<u16>, options: Options) -> io::Result<Server> {
        let bind = |port| TcpListener::bind(SocketAddr::new(host, port));
        let listener = match port {
            Some(port) => bind(port)?,
            None => bind(PORT).or_else(|error| match error.kind() {
                io::ErrorKind::AddrInUse => bind(0),
                _ => Err(error),
            })?,
        };
        let Options { store, games, policies, cors } = options;
        let desk = Desk {
            hall: Hall::new(store, games),
            workshop: Workshop::new(),
            policies,
            cors,
            is_local: host.is_loopback(),
            budget: batch::budget(),
        };
        Ok(Server { listener, desk, stop: watch::Sender::new(false) })
    }

    /// Where it is reached.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// What ends it.
    pub fn stopper(&self) -> Stop {
        Stop(self.stop.clone())
    }

    /// Answers until it is stopped.
    pub fn run(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(std::thread::available_parallelism().map_or(1, usize::from).min(4))
            .max_blocking_threads(work::threads())
            .enable_all()
            .build()?;
        let router = router(Arc::new(self.desk));
        let served = runtime.block_on(connections::serve(self.listener, router, self.stop));
        // A policy that thinks does not hold us up.
        runtime.shutdown_timeout(Duration::from_millis(100));
        served
    }
}

/// The description of the answers.
const OPENAPI: &str = include_str!("../../docs/openapi.json");

fn router(desk: Arc<Desk>) -> Router {
    let openapi = || async { typed(StatusCode::OK, "application/json", Body::from(OPENAPI)) };
    Router::new()
        .route("/", get(async |headers: HeaderMap| page::file("index.html", &headers)))
        .route(
            "/assets/{name}",
            get(
                async |axum::extract::Path(name): axum::extract::Path<String>,
                       headers: HeaderMap| { page::file(&name, &headers) },
            ),
        )
        .route("/api/v1/openapi.json", get(openapi))
        .route("/api/v1/tables", get(api::tables))
        .route("/api/v1/{table}", get(api::position).post(batch::batch))
        .route("/api/v1/{table}/counts", get(api::counts))
        .route("/api/v1/{table}/mistakes", get(api::mistakes))
        .route("/api/v1/{table}/policy", get(api::policy))
        .fallback(api::nowhere)
        .method_not_allowed_fallback(api::not_so)
        .layer(middleware::from_fn_with_state(desk.clone(), around))
        .with_state(desk)
}

/// What is done with every request: who asks is looked at, and what came of it is logged.
async fn around(State(desk): State<Arc<Desk>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_string());
    let mut response = match &desk.cors {
        _ if desk.is_local && !names_this_machine(request.headers()) => {
            Refusal::new(StatusCode::FORBIDDEN, "the Host of the request is not this machine")
                .with("ask for localhost, or start 'solver serve' with --host")
                .into_response()
        }
        Some(_) if method == Method::OPTIONS => {
            typed(StatusCode::NO_CONTENT, "text/plain", Body::empty())
        }
        _ => next.run(request).await,
    };
    // What axum itself refuses it says in plain text.
    let kind = response.headers().get(header::CONTENT_TYPE);
    if response.status().is_client_error() && kind.is_none_or(|kind| kind != "application/json") {
        let status = response.status();
        let what = status.canonical_reason().unwrap_or("refused").to_lowercase();
        response = Refusal::new(status, what).into_response();
    }
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Some(origin) = &desk.cors {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
        headers
            .insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("content-type"));
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
    }
    let (status, micros) = (response.status().as_u16(), begun.elapsed().as_micros());
    tracing::info!("{method} {path} {status} {micros} us");
    response
}

/// Whether a request was meant for this machine: a page elsewhere can give its own name our address
/// and so read what only this machine is to read.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST) else { return true };
    let Ok(host) = host.to_str() else { return false };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_local = |address: IpAddr| address.is_loopback();
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_local)
}
