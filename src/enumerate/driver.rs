//! Driver of every enumeration: reuse, lock, resume, progress, checkpoints and the manifest.
//!
//! A [`Builder`] holds the part that differs between indices: sorted keys, blocks of states, or ranks.

use std::time::Instant;

use super::builder::{BuildState, Builder};
use super::by_block::ByBlock;
use super::by_key::ByKey;
use super::by_rank::ByRank;
use super::conventions;
use super::plan::{Index, Plan, table_name};
use crate::enumerate::other_table;
use crate::error::{Error, Kind};
use crate::games::listed::Listed;
use crate::games::othello::blocks::Instructions;
use crate::games::othello::blocks::Tables;
use crate::progress::Progress;
use crate::rules::Rules;
use crate::table::rows::stored_key::WideKey;
use crate::table::{Counts, Draft, FORMAT, FORMAT_VERSION, Lengths, Manifest, Store, Table};

/// Result of [`build`].
#[derive(Debug)]
pub struct Enumerated {
    /// Enumerated table.
    pub table: Table,
    /// `true` if the table existed before.
    pub reused: bool,
    /// Layer at which the work of an interrupted process was resumed.
    pub resumed_at: Option<u32>,
}

/// Enumerates a plan into the store. Returns an existing table unchanged, and completes the draft of an
/// interrupted process.
pub fn build(
    game: &dyn Rules,
    plan: &Plan,
    store: &Store,
    progress: &dyn Progress,
) -> Result<Enumerated, Error> {
    plan.check(game)?;
    let name = plan.table_name(game);
    let _lock = store.lock(&name)?;
    let place = store.place(&name);
    let wanted = plan.identity(game);
    // An interrupted removal can leave an empty directory; `remove_dir` removes no other.
    let _ = std::fs::remove_dir(&place);
    if place.exists() {
        let table = store.open_at(&place)?;
        if table.manifest().identity != wanted || table.manifest().is_packed() {
            return Err(other_table(&table_name(&wanted), &place));
        }
        return Ok(Enumerated { table, reused: true, resumed_at: None });
    }
    let draft = place.with_added_extension("partial");
    let begun = Draft::identity_in(&draft);
    if begun.is_some_and(|begun| table_name(&begun) != table_name(&wanted)) {
        return Err(other_table(&table_name(&wanted), &draft));
    }
    if Draft::finish(&place, &wanted)? {
        let resumed_at = None;
        return Ok(Enumerated { table: store.open_at(&place)?, reused: false, resumed_at });
    }
    let in_blocks = plan.has_blocks(game);
    let resumed_at = match (plan.index, in_blocks) {
        (Index::Rank, _) => run::<ByRank>(game, plan, store, progress),
        #[cfg(target_arch = "x86_64")]
        (Index::Keys, true) if Instructions::are_available() => {
            run::<ByBlock<Instructions>>(game, plan, store, progress)
        }
        (Index::Keys, true) => run::<ByBlock<Tables>>(game, plan, store, progress),
        (Index::Keys, false) if game.facts().key_words() == 1 => {
            run::<ByKey<u64>>(game, plan, store, progress)
        }
        (Index::Keys, false) => run::<ByKey<WideKey>>(game, plan, store, progress),
    }?;
    Ok(Enumerated { table: store.open_at(&place)?, reused: false, resumed_at })
}

/// Enumerates into a draft and commits it; returns the layer at which an earlier process's work was resumed.
fn run<'a, B: Builder<'a>>(
    game: &'a dyn Rules,
    plan: &'a Plan,
    store: &Store,
    progress: &dyn Progress,
) -> Result<Option<u32>, Error> {
    let identity = plan.identity(game);
    let name = plan.table_name(game);
    progress.begin(&format!("enumerating {name}"), plan.expected_states(game));
    let (mut draft, resumed) = Draft::open::<B::State>(&store.place(&name), identity.clone())?;
    let (found, resumed_at) = match fill::<B>(game, plan, &mut draft, resumed, progress) {
        // The same command would end in the same way.
        Err(error) if error.kind() == Kind::Unfit => {
            draft.remove();
            return Err(error);
        }
        other => other?,
    };
    commit((game, plan), draft, found, progress)?;
    Ok(resumed_at)
}

/// Finds all rows of a draft; returns the final state and the layer at which work was resumed.
fn fill<'a, B: Builder<'a>>(
    game: &'a dyn Rules,
    plan: &'a Plan,
    draft: &mut Draft,
    resumed: Option<(B::State, Lengths)>,
    progress: &dyn Progress,
) -> Result<(BuildState, Option<u32>), Error> {
    let is_resumed = resumed.is_some();
    let mut order = B::open(game, plan, draft, resumed)?;
    let resumed_at = is_resumed.then(|| order.next_layer());
    let mut secured = Instant::now();
    while order.step(draft, progress)? {
        if secured.elapsed() >= plan.checkpoint_after && order.is_settled() {
            draft.checkpoint(order.state())?;
            secured = Instant::now();
        }
    }
    Ok((order.finish(draft)?, resumed_at))
}

/// Writes the manifest, which makes the draft a table.
pub(super) fn commit(
    (game, plan): (&dyn Rules, &Plan),
    mut draft: Draft,
    found: BuildState,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let BuildState { first_layer, counts: layers, root_ids, .. } = found;
    let mut counts = Counts::default();
    layers.iter().for_each(|layer| counts.add(layer));
    progress.finish(&format!("{} states", counts.table.states));
    let identity = draft.identity().clone();
    let listed = game.typed::<Listed>();
    listed.map_or(Ok(()), |game| game.write(&mut draft))?;
    draft.commit(Manifest {
        format: FORMAT.to_string(),
        format_version: FORMAT_VERSION,
        complete: counts.table.frontier == 0,
        identity,
        listed: listed.map(Listed::facts_in_table),
        conventions: conventions::of(game, plan),
        first_layer,
        counts,
        layers,
        root_ids,
        arrays: Default::default(),
        packed: Default::default(),
        solution: None,
        discounted: None,
        checksum: String::new(),
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;
    use crate::games::shogi::MINISHOGI;
    use crate::progress::Silent;
    use crate::registry::{othello, shogi};
    use crate::rules::{Position, Side};

    fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
        let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
        let named = files.map(|file| {
            let name = file.file_name().into_string().unwrap();
            (name, std::fs::read(file.path()).unwrap())
        });
        named.collect()
    }

    /// Returns the files of the table that `build` makes from a plan.
    fn made(
        game: &dyn Rules,
        plan: &Plan,
        build: impl Fn(&Plan, &Store) -> Result<Option<u32>, Error>,
    ) -> BTreeMap<String, Vec<u8>> {
        let dir = tempfile::tempdir().unwrap();
        build(plan, &Store::at(dir.path())).unwrap();
        files(&dir.path().join(plan.table_name(game)))
    }

    /// Checks that sorting in slices and on one thread makes the same bytes, and returns them.
    fn sorted(game: &dyn Rules, plan: &Plan) -> BTreeMap<String, Vec<u8>> {
        let sort = |plan: &Plan, store: &Store| match game.facts().key_words() {
            1 => run::<ByKey<u64>>(game, plan, store, &Silent),
            _ => run::<ByKey<WideKey>>(game, plan, store, &Silent),
        };
        let whole = made(game, plan, sort);
        let little = Plan { max_memory: Some(0), ..plan.clone() };
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let name = plan.table_name(game);
        assert!(whole.len() > 5 && whole == made(game, &little, sort), "{name} in slices");
        assert!(whole == one.install(|| made(game, &little, sort)), "{name} on one thread");
        whole
    }

    /// Blocks, by table look-ups or bit instructions, and sorted records make the same table.
    #[test]
    fn blocks_and_sorting_make_the_same_bytes() {
        let both = |game: &dyn Rules| {
            let start = game.start();
            let other = Position { state: game.swapped(&start.state).unwrap(), side: Side::Second };
            Plan { start: "both".to_string(), roots: vec![start, other], ..Plan::from_start(game) }
        };
        // A plan rooted `plies` first moves into the game.
        let late = |game: &dyn Rules, plies: u32| {
            let first = |position, _| game.advance(&position, game.actions(&position.state)[0]);
            let roots = vec![(0..plies).fold(game.start(), first)];
            Plan { start: "custom".to_string(), roots, ..Plan::from_start(game) }
        };
        let games = (othello("4x4").unwrap(), othello("5x4").unwrap());
        let (square, oblong) = (&*games.0, &*games.1);
        let cases = [
            (square, Plan::from_start(square)),
            (square, both(square)),
            (square, late(square, 6)),
            (oblong, late(oblong, 8)),
        ];
        for (game, plan) in cases {
            let (name, sorted) = (plan.table_name(game), sorted(game, &plan));
            let blocks =
                |plan: &Plan, store: &Store| run::<ByBlock<Tables>>(game, plan, store, &Silent);
            assert!(sorted == made(game, &plan, blocks), "{name}");
            let little = Plan { max_memory: Some(0), ..plan.clone() };
            assert!(sorted == made(game, &little, blocks), "{name} in files");
            #[cfg(target_arch = "x86_64")]
            if Instructions::are_available() {
                let fast = |plan: &Plan, store: &Store| {
                    run::<ByBlock<Instructions>>(game, plan, store, &Silent)
                };
                assert!(sorted == made(game, &plan, fast), "{name}");
            }
        }
    }

    /// Slices agree with whole layers for bounded plans, unfolded rows and plies.
    #[test]
    fn slices_change_no_byte() {
        let unfolded = othello("5x4").unwrap().with_folding(false).unwrap();
        let roots = vec![unfolded.start()];
        let start = "custom".to_string();
        let plan = Plan { start, roots, max_depth: Some(8), ..Plan::from_start(&*unfolded) };
        sorted(&*unfolded, &plan);
        let game = shogi(&MINISHOGI);
        sorted(&*game, &Plan { max_depth: Some(4), ..Plan::from_start(&*game) });
    }
}
