//! Tables over HTTP: a page for people and JSON for programs.
//!
//! A [`Server`] answers from the tables of one directory. Its limits are meant for clients
//! on the same machine, a browser or a script, but also withstand hostile ones: connections, the sizes of
//! bodies, answers and headers, and the time for each are bounded; lookups in tables never
//! wait for policies, and a panic fails only one answer. It exposes the results of `query`, `report` and
//! `info --values`, writes nothing, and runs only programs given at start.
//!
//! Threads that read requests do not compute answers: see `work.rs`. `docs/serve.md` is for users.

mod api;
mod batch;
mod cache;
mod connections;
mod page;
mod players;
mod pool;
mod reply;
mod review;
mod tables;

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::sync::{Semaphore, watch};

use crate::PORT;
use pool::{Kind, Workshop};
use reply::{Refusal, typed};
use tables::{Opened, Tables};
use yomikiri::registry::Games;
use yomikiri::table::Store;

#[doc(hidden)]
#[cfg(feature = "schemas")]
pub(crate) use api::components;
pub(crate) use players::Policies;

/// Configuration of a server.
pub(crate) struct Options {
    /// Directory of tables.
    pub store: Store,
    /// Known games.
    pub games: Games,
    /// Factory of policies.
    pub policies: Box<dyn Policies>,
    /// Origin that may read the answers in a browser: `https://example.org`, or `*`.
    pub cors: Option<HeaderValue>,
}

/// Shared state of all handlers.
struct Desk {
    tables: Tables,
    workshop: Workshop,
    policies: Box<dyn Policies>,
    cors: Option<HeaderValue>,
    /// `true` if only this machine can reach the server.
    is_local: bool,
    budget: Arc<Semaphore>,
}

impl Desk {
    /// Runs work on a table. Fails if damage was found in the table.
    async fn on_table<T: Send + 'static>(
        self: Arc<Desk>,
        kind: Kind,
        name: String,
        work: impl FnOnce(&Desk, &Opened) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let of = self.clone();
        let done = self.workshop.run(kind, move || {
            let opened = of.tables.table(&name)?;
            let done = work(&of, &opened);
            opened.check_read()?;
            done
        });
        done.await
    }
}

/// A server bound to its address.
pub(crate) struct Server {
    listener: TcpListener,
    desk: Desk,
    stop: watch::Sender<bool>,
}

/// Handle to stop a server from another thread.
#[derive(Clone)]
pub(crate) struct Stop(watch::Sender<bool>);

impl Stop {
    /// Stops the server after pending answers.
    pub(crate) fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Binds the requested port, or by default [`PORT`] if it is free, else any free port.
    pub(crate) fn bind(host: IpAddr, port: Option<u16>, options: Options) -> io::Result<Server> {
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
            tables: Tables::new(store, games),
            workshop: Workshop::new(),
            policies,
            cors,
            is_local: host.is_loopback(),
            budget: batch::budget(),
        };
        Ok(Server { listener, desk, stop: watch::Sender::new(false) })
    }

    /// Returns the address of the server.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Returns a handle to stop it.
    pub(crate) fn stopper(&self) -> Stop {
        Stop(self.stop.clone())
    }

    /// Serves requests until it is stopped.
    pub(crate) fn run(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(std::thread::available_parallelism().map_or(1, usize::from).min(4))
            .max_blocking_threads(pool::threads())
            .enable_all()
            .build()?;
        let router = router(Arc::new(self.desk));
        let served = runtime.block_on(connections::serve(self.listener, router, self.stop));
        // A policy that is still computing must not delay the exit.
        runtime.shutdown_timeout(Duration::from_millis(100));
        served
    }
}

/// OpenAPI description of the answers.
const OPENAPI: &str = include_str!("openapi.json");

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
        .route("/api/v1/{table}/about", get(api::about))
        .route("/api/v1/{table}/counts", get(api::counts))
        .route("/api/v1/{table}/game", get(api::game))
        .route("/api/v1/{table}/mistakes", get(api::mistakes))
        .route("/api/v1/{table}/differences", get(api::differences))
        .route("/api/v1/{table}/policy", get(api::policy))
        .route("/api/v1/{table}/review", post(review::review))
        .fallback(api::nowhere)
        .method_not_allowed_fallback(api::not_so)
        .layer(middleware::from_fn_with_state(desk.clone(), around))
        .with_state(desk)
}

/// Checks the origin of every request, and logs its outcome.
async fn around(State(desk): State<Arc<Desk>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_string());
    let mut response = match &desk.cors {
        _ if desk.is_local && !names_this_machine(request.headers()) => {
            Refusal::new(StatusCode::FORBIDDEN, "the Host of the request is not this machine")
                .with("ask for localhost, or start 'solver serve' with --host")
                .into_response()
        }
        cors if path.starts_with("/api/") && is_foreign(request.headers(), cors.as_ref()) => {
            Refusal::new(StatusCode::FORBIDDEN, "the request was made by a page of another site")
                .with("open our own page, or start 'solver serve' with --cors and the origin of that one")
                .into_response()
        }
        Some(_) if method == Method::OPTIONS => {
            typed(StatusCode::NO_CONTENT, "text/plain", Body::empty())
        }
        _ => next.run(request).await,
    };
    // axum's own refusals are plain text.
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

/// Returns `true` if the `Host` of a request is this machine. A page elsewhere could point its own name to
/// our address and read answers meant for this machine only (DNS rebinding).
fn names_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST) else { return true };
    let Ok(host) = host.to_str() else { return false };
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((address, port)) if address.parse::<Ipv6Addr>().is_ok() => (address, port),
            _ => return false,
        },
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port =
        |port: &str| port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok();
    if !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
        return false;
    }
    let is_local = |address: IpAddr| address.is_loopback();
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_local)
}

/// Returns `true` if a page of another origin than ours or `cors` made the browser send the request. It could
/// not read the answer, but computing it costs work and may start a program. Browsers set these
/// headers; other programs do not.
fn is_foreign(headers: &HeaderMap, cors: Option<&HeaderValue>) -> bool {
    if cors.is_some_and(|cors| cors == "*") {
        return false;
    }
    let origin = headers.get(header::ORIGIN);
    if origin.is_some() && origin == cors {
        return false;
    }
    let is_ours = |origin: &HeaderValue| {
        let named = origin.as_bytes().split(|&b| b == b'/').next_back();
        headers.get(header::HOST).is_some_and(|host| named == Some(host.as_bytes()))
    };
    let site = headers.get("sec-fetch-site");
    site.is_some_and(|site| site != "same-origin" && site != "none")
        || origin.is_some_and(|origin| !is_ours(origin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        let header = |&(name, value): &(&'static str, &str)| {
            (name.parse().unwrap(), HeaderValue::from_str(value).unwrap())
        };
        all.iter().map(header).collect()
    }

    #[test]
    fn a_host_is_this_machine_or_it_is_not() {
        let is_ours = |host: &str| names_this_machine(&headers(&[("host", host)]));
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:7878", "127.8.8.8", "[::1]", "[::1]:1"]
        {
            assert!(is_ours(host), "{host}");
        }
        let others = [
            "[::1]evil.com",
            "[::1].evil.com:80",
            "[::1]:80evil.com",
            "[::1",
            "[::2]",
            "[localhost]",
            "[127.0.0.1]",
            "::1",
            "localhost:evil.com",
            "localhost.evil.com",
            "127.0.0.1:99999",
            "localhost:",
            "evil.com",
            "",
        ];
        for host in others {
            assert!(!is_ours(host), "{host}");
        }
    }

    #[test]
    fn a_page_of_another_site_is_told_from_ours_and_from_programs() {
        let is_foreign = |all: &[(&'static str, &str)], cors: Option<&'static str>| {
            let all = [&[("host", "localhost:7878")], all].concat();
            is_foreign(&headers(&all), cors.map(HeaderValue::from_static).as_ref())
        };
        let (ours, evil) = (("origin", "http://localhost:7878"), ("origin", "https://evil.com"));
        let site = |site| ("sec-fetch-site", site);
        for all in [&[][..], &[site("none")], &[site("same-origin")], &[site("same-origin"), ours]]
        {
            assert!(!is_foreign(all, None), "{all:?}");
        }
        let foreign = [
            &[site("cross-site")][..],
            &[site("same-site")],
            &[site("cross-site"), evil],
            &[evil],
            &[("origin", "null")],
            &[("origin", "http://localhost:7879")],
            &[site("cross-site"), ours],
        ];
        for all in foreign {
            assert!(is_foreign(all, None), "{all:?}");
            assert!(!is_foreign(all, Some("*")), "{all:?}");
        }
        assert!(!is_foreign(&[site("cross-site"), evil], Some("https://evil.com")));
        assert!(is_foreign(&[site("cross-site")], Some("https://evil.com")), "an image, say");
    }
}
