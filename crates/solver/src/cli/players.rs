//! Players: policies by name, and networks that were trained here.

#[cfg(feature = "onnx")]
use std::path::PathBuf;

use super::context::Context;
use yomikiri::error::Error;
#[cfg(feature = "onnx")]
use yomikiri::error::did_you_mean;
use yomikiri::rules::Rules;
use yomikiri::table::Store;
#[cfg(feature = "onnx")]
use yomikiri_learn::place_of;
use yomikiri_measure::judge::Player;
#[cfg(feature = "onnx")]
use yomikiri_measure::policy::card::{Card, file};
use yomikiri_measure::policy::{NetworkSpec, PolicySpec};

/// Returns the directory of the networks that were trained here.
#[cfg(feature = "onnx")]
pub(super) fn policies_dir(store: &Store) -> PathBuf {
    yomikiri_learn::policies_dir(store.root())
}

/// Makes the player of a specification.
#[cfg(feature = "onnx")]
pub(super) fn player(spec: &PolicySpec, game: &dyn Rules, store: &Store) -> Result<Player, Error> {
    yomikiri_learn::player(spec, game, store.root())
}

/// Makes the player of a specification, without networks, which this build cannot run.
#[cfg(not(feature = "onnx"))]
pub(super) fn player(spec: &PolicySpec, game: &dyn Rules, _store: &Store) -> Result<Player, Error> {
    yomikiri_measure::judge::build(spec, game)
}

/// Makes the players of some specifications.
pub(super) fn players(
    specs: &[PolicySpec],
    game: &dyn Rules,
    store: &Store,
) -> Result<Vec<Player>, Error> {
    specs.iter().map(|spec| player(spec, game, store)).collect()
}

/// Checks that a named network exists and is for the game, without reading its weights.
pub(super) fn check(spec: &PolicySpec, game: &dyn Rules, store: &Store) -> Result<(), Error> {
    if let PolicySpec::Front(policy, _) = spec {
        return check(policy, game, store);
    }
    spec.check(game)?;
    #[cfg(feature = "onnx")]
    if let PolicySpec::Network(network) = spec
        && network.kept
    {
        let path = place_of(network, store.root());
        if !file(&path, "json").exists() {
            return Err(unknown_network(&network.path.to_string_lossy(), game, store));
        }
        Card::read(&path).and_then(|card| card.check(&path, &game.name()))?;
    }
    let _ = store;
    Ok(())
}

/// Returns the error for a network that was not trained here, with those that were.
#[cfg(feature = "onnx")]
fn unknown_network(name: &str, game: &dyn Rules, store: &Store) -> Error {
    let names = learned_names(store, Some(game));
    let hint = did_you_mean(name, names.iter().map(String::as_str));
    let hint = hint.unwrap_or_else(|| match names.is_empty() {
        true => format!("none was trained for {} yet; see 'solver train'", game.name()),
        false => format!("trained for {}: {}", game.name(), names.join(", ")),
    });
    Error::new(format!("no trained network `{name}`"), hint)
}

/// Returns the networks that were trained here for a game, by name.
pub(super) fn learned_for(game: &dyn Rules, store: &Store) -> Vec<PolicySpec> {
    let spec = |name: String| {
        let (path, kept) = (name.into(), true);
        PolicySpec::Network(NetworkSpec { path, kept, ..NetworkSpec::default() })
    };
    learned_names(store, Some(game)).into_iter().map(spec).collect()
}

/// Reports networks that are left out because their cards cannot be read.
pub(super) fn tell_unreadable(context: &Context) {
    #[cfg(feature = "onnx")]
    for path in cards(&context.store) {
        if let Err(error) = Card::read(&path) {
            context.remark(error.with_hint("it is left out").line());
        }
    }
    #[cfg(not(feature = "onnx"))]
    let _ = context;
}

#[cfg(feature = "onnx")]
fn cards(store: &Store) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(policies_dir(store)).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    paths
}

/// Returns the names of the networks that were trained here, for one game or for all.
#[cfg(feature = "onnx")]
pub(super) fn learned_names(store: &Store, game: Option<&dyn Rules>) -> Vec<String> {
    let mut paths = cards(store);
    paths.retain(|path| {
        let card = Card::read(path);
        card.is_ok_and(|card| game.is_none_or(|game| card.game == game.name()))
    });
    paths.iter().filter_map(|path| path.file_stem()?.to_str().map(str::to_string)).collect()
}

/// Returns no names: this build cannot run networks.
#[cfg(not(feature = "onnx"))]
pub(super) fn learned_names(_store: &Store, _game: Option<&dyn Rules>) -> Vec<String> {
    Vec::new()
}
