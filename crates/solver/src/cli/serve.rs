//! `solver serve`: tables in a browser, and for programs over HTTP.

use std::net::IpAddr;
use std::process::{Command, Stdio};

use axum::http::HeaderValue;

use super::context::Context;
use super::players::{check, learned_for, player};
use super::signals;
use super::sizes::Seconds;
use crate::PORT;
use crate::serve::{Options, Policies, Server};
use yomikiri::error::Error;
use yomikiri::registry::Games;
use yomikiri::rules::Rules;
use yomikiri::table::Store;
use yomikiri_measure::judge::Player;
use yomikiri_measure::policy::PolicySpec;

/// Serve the tables: a page in a browser, and an API for programs
///
/// Play against any policy, see the value of every move, look at a policy's worst mistakes. Programs get the same
/// as JSON: see /api/v1/openapi.json there. Only this machine can reach it unless --host allows others. Ctrl-C
/// ends it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Port [default: 7878, or a free one if that is taken]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Address to listen at; 0.0.0.0 lets other machines reach it
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
    /// More policies to offer; those of a file, a directory or a program must be named here
    #[arg(long, value_name = "POLICY,...")]
    policy: Vec<String>,
    /// Longest wait for an answer of a program or a model
    #[arg(long, value_name = "SECONDS", default_value_t = Seconds(PolicySpec::LIMIT))]
    policy_timeout: Seconds,
    /// Origin of another page whose scripts may read the answers: https://example.org, or * for all
    #[arg(long, value_name = "ORIGIN")]
    cors: Option<String>,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let Args { port, host, open, policy, policy_timeout, cors } = args;
    let Seconds(limit) = policy_timeout;
    let cors = cors.map(|origin| match HeaderValue::from_str(&origin) {
        Ok(value) if origin == "*" || origin.contains("://") => Ok(value),
        _ => Err(Error::new(
            format!("invalid --cors `{origin}`: expected an origin"),
            "such as https://example.org, or *",
        )),
    });
    let named = policy.iter().flat_map(|list| PolicySpec::split_list(list));
    let named = named.map(|name| Ok((name.to_string(), name.parse::<PolicySpec>()?.within(limit))));
    let named = named.collect::<Result<Vec<_>, Error>>();
    let policies = Known { named: named?, store: context.store.clone() };
    let options = Options {
        store: context.store.clone(),
        games: Games::clone(&context.games),
        policies: Box::new(policies),
        cors: cors.transpose()?,
    };
    let server = Server::bind(host, port, options).map_err(|error| {
        let what = format!("cannot listen at {host}, port {}: {error}", port.unwrap_or(PORT));
        Error::new(what, "give another --port, or another --host")
    })?;
    let address = format!("http://{}/", server.address()?);
    context.line(&address)?;
    context.flush()?;
    if context.store.names().is_empty() {
        let tables = context.store.root().display();
        let game = context.example_game();
        context.remark(format!("no table in {tables}; make one with 'solver solve {game}'"));
    }
    if open && !opened(&address) {
        context.remark(format!("no browser was found; open {address}"));
    }
    let stop = server.stopper();
    signals::at_the_first(move || stop.stop())?;
    Ok(server.run()?)
}

/// Opens an address in the browser that the system prefers.
fn opened(address: &str) -> bool {
    let mut command = match std::env::consts::OS {
        "macos" => Command::new("open"),
        "windows" => Command::new("explorer"),
        _ => Command::new("xdg-open"),
    };
    let command = command.arg(address).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null()).spawn().is_ok()
}

/// Policies that a page may use: those that were named, and those that read no file, run no program and do not
/// search for minutes.
struct Known {
    named: Vec<(String, PolicySpec)>,
    store: Store,
}

/// Most plies, games or simulations, and positions of a policy that was not named.
const PLIES: u32 = 6;
const PLAYED: u32 = 2_000;
const SEARCHED: u32 = 20_000;
const IN_FRONT: u32 = 3;

impl Known {
    fn spec(&self, name: &str, game: &dyn Rules) -> Result<PolicySpec, Error> {
        if let Some((_, spec)) = self.named.iter().find(|(named, _)| named == name) {
            return Ok(spec.clone());
        }
        let spec: PolicySpec = name.parse()?;
        let start = "start 'solver serve' with --policy and its name";
        let why = match &spec {
            PolicySpec::Random
            | PolicySpec::Greedy
            | PolicySpec::Tactician
            | PolicySpec::Weights
            | PolicySpec::Perfect => None,
            PolicySpec::Reads(_, plies, None) => {
                (*plies > PLIES).then(|| format!("reads more than {PLIES} plies"))
            }
            PolicySpec::Plays(_, played, _) => {
                (*played > PLAYED).then(|| format!("plays more than {PLAYED} times"))
            }
            PolicySpec::Mate(nodes) => (*nodes > SEARCHED)
                .then(|| format!("searches more than {SEARCHED} positions for a mate")),
            PolicySpec::Front(policy, plies) => {
                self.spec(&policy.to_string(), game)?;
                (*plies > IN_FRONT)
                    .then(|| format!("has more than {IN_FRONT} plies of search in front"))
            }
            PolicySpec::Network(learned) if learned.kept => {
                let known = learned_for(game, &self.store).into_iter();
                let mut names = known.filter_map(|spec| match spec {
                    PolicySpec::Network(known) => Some(known.path),
                    _ => None,
                });
                let is_known = names.any(|known| known == learned.path);
                (!is_known).then(|| format!("is none of those kept for {}", game.name()))
            }
            _ => Some("names a file or a program".to_string()),
        };
        match why {
            None => Ok(spec),
            Some(why) => Err(Error::new(format!("policy '{name}' {why}"), start)),
        }
    }
}

impl Policies for Known {
    fn names(&self, game: &dyn Rules) -> Vec<String> {
        let named = self.named.iter().filter(|(_, spec)| check(spec, game, &self.store).is_ok());
        let mut names: Vec<String> = named.map(|(name, _)| name.clone()).collect();
        let others = ["alphabeta:4", "mcts:500"].map(|name| name.parse().ok());
        let all = PolicySpec::defaults(game).into_iter().chain(others.into_iter().flatten());
        for spec in all.chain(learned_for(game, &self.store)) {
            let name = spec.to_string();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn make(&self, name: &str, game: &dyn Rules) -> Result<Player, Error> {
        let spec = self.spec(name, game)?;
        check(&spec, game, &self.store)?;
        player(&spec, game, &self.store)
    }
}
