//! Readers of the state that a killed process leaves: drafts and solutions.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use yomikiri::enumerate::{self, Index, Plan};
use yomikiri::progress::{Progress, Silent};
use yomikiri::registry::Games;
use yomikiri::rules::Rules;
use yomikiri::solve::{self, SolveOptions};
use yomikiri::table::{HEADER_BYTES, Store, Table, crc32};

use super::{PLACE, ROOT, files, game, with_files};

/// Names and contents of files.
type Kept = Vec<(String, Vec<u8>)>;

/// Target: name of a plan, and files laid over the draft that a killed process leaves of it.
pub fn draft(data: &[u8]) {
    let Some((name, files)) = files(data) else { return };
    let Some((game, plan)) = planned(name) else { return };
    let store = Store::at(&PLACE.join("drafts"));
    let place = store.place(&plan.table_name(&*game));
    let partial = place.with_added_extension("partial");
    thread_local! {
        static KNOWN: RefCell<BTreeMap<String, Kept>> = RefCell::default();
    }
    let mut whole = KNOWN.with_borrow_mut(|known| {
        let make = || {
            let killed = || enumerate::build(&*game, &plan, &store, &Killed(AtomicUsize::new(0)));
            let _ = catch_unwind(AssertUnwindSafe(killed));
            files_in(&partial)
        };
        known.entry(name.to_string()).or_insert_with(make).clone()
    });
    whole.extend(files.iter().map(|(name, bytes)| (name.to_string(), bytes.to_vec())));
    rechecked(&mut whole);
    for dir in [&place, &partial] {
        let _ = fs::remove_dir_all(dir);
    }
    with_files(&partial, &whole, |_| {
        enumerate::build(&*game, &plan, &store, &Silent)?;
        Ok(())
    });
}

/// Corrects a checkpoint's checksums: its own, on the line after it, and those of arrays at the recorded
/// lengths.
fn rechecked(files: &mut Kept) {
    let at = files.iter().rposition(|(name, _)| name == "checkpoint.json");
    let Some(at) = at else { return };
    let text = first_line(&files[at].1);
    let sums = |mut value: serde_json::Value| {
        for (name, length) in value.get_mut("arrays")?.as_object_mut()? {
            let (_, array) = files.iter().rfind(|(file, _)| *file == format!("{name}.npy"))?;
            let end = HEADER_BYTES.checked_add(length.get(0)?.as_u64()? as usize)?;
            *length.get_mut(1)? = crc32(array.get(HEADER_BYTES..end)?).into();
        }
        serde_json::to_vec(&value).ok()
    };
    files[at].1 = with_sum(serde_json::from_slice(&text).ok().and_then(sums).unwrap_or(text));
}

fn first_line(text: &[u8]) -> Vec<u8> {
    text.split(|&byte| byte == b'\n').next().unwrap_or_default().to_vec()
}

/// Appends the checksum of a state on a line after it.
fn with_sum(mut text: Vec<u8>) -> Vec<u8> {
    text.extend(format!("\n{:08x}\n", crc32(&text)).bytes());
    text
}

/// Returns a plan for each way to enumerate.
fn planned(name: &str) -> Option<(Arc<dyn Rules>, Plan)> {
    let (name, root, depth) = match name {
        "blocks" => ("othello-4x4", "-----OX--XOXXOOX X;", None),
        "layers" => ("othello-6x6", "start", Some(4)),
        "plies" => ("minishogi", "start", Some(2)),
        _ => return None,
    };
    let game = game(name)?;
    let root = game.parse_position(root, &game.start()).ok()?;
    let plan = Plan::from_start(&*game);
    let (start, checkpoint_after) = ("custom".to_string(), Duration::ZERO);
    let index = Index::Keys;
    Some((
        game,
        Plan { start, roots: vec![root], max_depth: depth, index, checkpoint_after, ..plan },
    ))
}

/// Progress that kills the work in the middle.
struct Killed(AtomicUsize);

impl Progress for Killed {
    fn begin(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {
        if self.0.fetch_add(1, Ordering::Relaxed) == 1 {
            resume_unwind(Box::new("killed"));
        }
    }
    fn finish(&self, _what: &str) {}
}

fn files_in(dir: &Path) -> Kept {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let file = |entry: fs::DirEntry| {
        Some((entry.file_name().into_string().ok()?, fs::read(entry.path()).ok()?))
    };
    entries.filter_map(file).collect()
}

/// Target: files laid over a killed process's state of a solution, with its checksums corrected.
pub fn solution(data: &[u8]) {
    let Some((_, files)) = files(data) else { return };
    let options = SolveOptions {
        discount: Some(0.5),
        checkpoint_after: Some(Duration::ZERO),
        ..SolveOptions::default()
    };
    let place = PLACE.join("solution");
    let fixture = files_in(&ROOT.join("tests/fixtures/v6/othello-4x4-root-50fa6e21"));
    let solve = |progress: &dyn Progress| {
        let mut table = Table::open(&place)?;
        let game = Games::default().of_table(&table)?;
        solve::solve(&*game, &mut table, &options, progress, &mut |_, _| {})?;
        Ok(())
    };
    let _ = fs::remove_dir_all(&place);
    with_files(&place, &fixture, |place| {
        let partial = place.join("solve.partial");
        let killed = || solve(&Killed(AtomicUsize::new(0)));
        let _ = catch_unwind(AssertUnwindSafe(killed));
        let mut whole = files_in(&partial);
        whole.extend(files.iter().map(|(name, bytes)| (name.to_string(), bytes.to_vec())));
        values_rechecked(&mut whole);
        with_files(&partial, &whole, |_| solve(&Silent));
        Ok(())
    });
}

/// Corrects the checksums of a solution's state and of its values, of four bytes each.
fn values_rechecked(files: &mut Kept) {
    let Some(at) = files.iter().rposition(|(name, _)| name == "state.json") else { return };
    let text = first_line(&files[at].1);
    let sums = |mut value: serde_json::Value| {
        let (_, values) = files.iter().rfind(|(name, _)| name.starts_with("values"))?;
        for piece in value.get_mut("pieces")?.as_array_mut()? {
            let end = |name| (piece.get(name)?.as_u64()? as usize).checked_mul(4);
            let sum = crc32(values.get(end("from")?..end("to")?)?);
            *piece.get_mut("crc32")? = sum.into();
        }
        serde_json::to_vec(&value).ok()
    };
    files[at].1 = with_sum(serde_json::from_slice(&text).ok().and_then(sums).unwrap_or(text));
}
