//! Who is measured: what a person wrote, and the networks that were trained here.

#[cfg(feature = "onnx")]
use std::path::PathBuf;

use super::context::Context;
use yomikiri::any::AnyGame;
#[cfg(feature = "onnx")]
use yomikiri::game::Game;
#[cfg(feature = "onnx")]
use yomikiri::hint::{Hint, Hinted};
use yomikiri::table::Store;
#[cfg(feature = "onnx")]
use yomikiri_learn::place_of;
use yomikiri_measure::evaluate::Player;
#[cfg(feature = "onnx")]
use yomikiri_measure::policy::card::Card;
use yomikiri_measure::policy::{NetworkSpec, PolicySpec};

/// Where networks lie that were trained here.
#[cfg(feature = "onnx")]
pub(super) fn policies_dir(store: &Store) -> PathBuf {
    yomikiri_learn::policies_dir(store.root())
}

/// Makes the player that is meant.
#[cfg(feature = "onnx")]
pub(super) fn player(spec: &PolicySpec, game: &AnyGame, store: &Store) -> anyhow::Result<Player> {
    Ok(yomikiri_learn::player(spec, game, store.root())?)
}

/// Makes the player that is meant, for this was built without what runs networks.
#[cfg(not(feature = "onnx"))]
pub(super) fn player(spec: &PolicySpec, game: &AnyGame, _store: &Store) -> anyhow::Result<Player> {
    Ok(yomikiri_measure::evaluate::build(spec, game)?)
}

/// The players that are meant.
pub(super) fn players(
    specs: &[PolicySpec],
    game: &AnyGame,
    store: &Store,
) -> anyhow::Result<Vec<Player>> {
    specs.iter().map(|spec| player(spec, game, store)).collect()
}

/// Checks that a network that is named is there and for the game, without reading its weights.
pub(super) fn check(spec: &PolicySpec, game: &AnyGame, store: &Store) -> anyhow::Result<()> {
    spec.check(game)?;
    #[cfg(feature = "onnx")]
    if let PolicySpec::Network(network) = spec
        && network.kept
    {
        let path = place_of(network, store.root());
        Card::read(&path).and_then(|card| card.check(&path, &game.name()))?;
    }
    let _ = store;
    Ok(())
}

/// The networks that were trained here for a game, by name.
pub(super) fn learned_for(game: &AnyGame, store: &Store) -> Vec<PolicySpec> {
    let spec = |name: String| {
        let (path, kept) = (name.into(), true);
        PolicySpec::Network(NetworkSpec { path, kept, ..NetworkSpec::default() })
    };
    learned_names(store, Some(game)).into_iter().map(spec).collect()
}

/// Tells which networks that were trained here are left out, because their cards cannot be read.
pub(super) fn tell_unreadable(context: &Context) {
    #[cfg(feature = "onnx")]
    for path in cards(&context.store) {
        if let Err(error) = Card::read(&path) {
            context.remark(Hinted::of(&error).with_hint("it is left out").line());
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

/// The names of the networks that were trained here, for one game or for all.
#[cfg(feature = "onnx")]
pub(super) fn learned_names(store: &Store, game: Option<&AnyGame>) -> Vec<String> {
    let mut paths = cards(store);
    paths.retain(|path| {
        let card = Card::read(path);
        card.is_ok_and(|card| game.is_none_or(|game| card.game == game.name()))
    });
    paths.iter().filter_map(|path| path.file_stem()?.to_str().map(str::to_string)).collect()
}

/// None, for this was built without what runs networks.
#[cfg(not(feature = "onnx"))]
pub(super) fn learned_names(_store: &Store, _game: Option<&AnyGame>) -> Vec<String> {
    Vec::new()
}
