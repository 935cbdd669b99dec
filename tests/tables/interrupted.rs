//! Work interrupted within a process leaves either no table or a complete one; done again, it resumes at
//! the last checkpoint and makes the same bytes.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::common::solved::{board_4x4, make, named, solve, standard};
use crate::common::tables::{Tables, assert_same_files, copy_dir, files, write_state};
use yomikiri::enumerate::{self, Index, Plan};
use yomikiri::output::temporary;
use yomikiri::progress::{Progress, Silent};
use yomikiri::rules::Rules;
use yomikiri::solve::SolveOptions;

/// Ends the work, as a kill would, at its nth report of progress.
struct Interrupt {
    at: u32,
    reported: AtomicU32,
}

impl Progress for Interrupt {
    fn begin(&self, _what: &str, _total: Option<u64>) {}
    fn finish(&self, _summary: &str) {}
    fn advance(&self, _units: u64) {
        if self.reported.fetch_add(1, Ordering::Relaxed) + 1 == self.at {
            // Unwinds without a message on stderr.
            resume_unwind(Box::new("interrupted"));
        }
    }
}

/// Does work that is interrupted at its nth report of progress. Returns whether it came that far.
fn interrupted(at: u32, work: impl FnOnce(&dyn Progress)) -> bool {
    let interrupt = Interrupt { at, reported: AtomicU32::new(0) };
    catch_unwind(AssertUnwindSafe(|| work(&interrupt))).is_err()
}

/// Appends bytes behind a checkpoint, as a killed process may leave them.
fn litter(draft: &std::path::Path) {
    for entry in fs::read_dir(draft).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_some_and(|e| e == "npy") {
            let mut bytes = fs::read(&entry).unwrap();
            bytes.extend([0xa5; 1234]);
            fs::write(&entry, bytes).unwrap();
        }
    }
    for output in ["checkpoint.json", "manifest.json", "plies.npy"] {
        let half = temporary(&draft.join(output)).unwrap();
        fs::write(half, "half a fi").unwrap();
    }
}

/// Interrupts an enumeration in each of its first layers, which are one task each, and resumes it.
fn enumeration_goes_on(game: &dyn Rules, plan: &Plan, most: u32) {
    let whole = Tables::new();
    let made = enumerate::build(game, plan, &whole.store(), &Silent).unwrap();
    let name = made.table.name();
    let manifest = made.table.manifest();
    let layers = manifest.layers.len() as u32;
    for layer in 1..=most.min(layers) {
        let tables = Tables::new();
        let store = tables.store();
        assert!(interrupted(layer, |progress| {
            let _ = enumerate::build(game, plan, &store, progress);
        }));
        assert!(store.open(&name).is_err(), "no table after layer {layer}");
        litter(&tables.place(&format!("{name}.partial")));
        let again = enumerate::build(game, plan, &store, &Silent).unwrap();
        let expected = (layer > 1).then(|| manifest.first_layer + layer - 1);
        assert_eq!(again.resumed_at, expected, "interrupted in layer {layer}");
        assert_same_files(whole.root(), tables.root(), &format!("interrupted in layer {layer}"));
    }
}

#[test]
fn an_enumeration_goes_on_from_its_checkpoint_in_every_layer() {
    let game = board_4x4(true);
    let whole = Plan { checkpoint_after: Duration::ZERO, ..standard(&*game) };
    enumeration_goes_on(&*game, &whole, u32::MAX);
    let derived = Plan { derived: true, max_memory: Some(0), ..whole };
    enumeration_goes_on(&*game, &derived, u32::MAX);
    let game = named("othello-6x6");
    let bounded = Plan {
        max_depth: Some(6),
        max_states: Some(2_000),
        checkpoint_after: Duration::ZERO,
        ..standard(&*game)
    };
    enumeration_goes_on(&*game, &bounded, u32::MAX);
}

/// Interrupted after all was written, but before the table was moved to its place.
#[test]
fn a_draft_with_its_manifest_is_only_moved() {
    let game = board_4x4(true);
    let (whole, tables) = (Tables::new(), Tables::new());
    let plan = standard(&*game);
    let name = enumerate::build(&*game, &plan, &whole.store(), &Silent).unwrap().table.name();
    let draft = tables.place(&format!("{name}.partial"));
    copy_dir(&whole.place(&name), &draft);
    fs::write(draft.join("plies.npy"), [0; 200]).unwrap();
    let nothing = Interrupt { at: 1, reported: AtomicU32::new(0) };
    let made = enumerate::build(&*game, &plan, &tables.store(), &nothing).unwrap();
    assert!(!made.reused && !draft.exists());
    assert_same_files(whole.root(), tables.root(), "moved");
    // A damaged one is made again.
    let tables = Tables::new();
    let draft = tables.place(&format!("{name}.partial"));
    copy_dir(&whole.place(&name), &draft);
    let mut keys = fs::read(draft.join("keys.npy")).unwrap();
    *keys.last_mut().unwrap() ^= 1;
    fs::write(draft.join("keys.npy"), keys).unwrap();
    enumerate::build(&*game, &plan, &tables.store(), &Silent).unwrap();
    assert_same_files(whole.root(), tables.root(), "made anew");
}

#[test]
fn an_enumeration_with_cycles_goes_on_from_its_checkpoint_in_every_ply() {
    let game = named("minishogi");
    let plan = Plan { max_depth: Some(3), checkpoint_after: Duration::ZERO, ..standard(&*game) };
    // The last ply has more rows than one task.
    enumeration_goes_on(&*game, &plan, 4);
    let game = named("animal-shogi-3x3");
    for (index, plies) in [(Index::Keys, 6), (Index::Rank, 9)] {
        let plan = Plan { index, checkpoint_after: Duration::ZERO, ..standard(&*game) };
        enumeration_goes_on(&*game, &plan, plies);
    }
}

#[test]
fn a_draft_of_something_else_is_not_gone_on_with() {
    let game = board_4x4(true);
    let plan = Plan { checkpoint_after: Duration::ZERO, ..standard(&*game) };
    let whole = Tables::new();
    let name = enumerate::build(&*game, &plan, &whole.store(), &Silent).unwrap().table.name();
    let changes = [
        ("\"rules_version\":1", "\"rules_version\":0", true),
        ("{", "[", true),
        ("\"first_layer\":4", "\"first_layer\":5", false),
    ];
    for (from, to, fits) in changes {
        let tables = Tables::new();
        assert!(interrupted(9, |progress| {
            let _ = enumerate::build(&*game, &plan, &tables.store(), progress);
        }));
        let checkpoint = tables.place(&format!("{name}.partial/checkpoint.json"));
        let text = fs::read_to_string(&checkpoint).unwrap();
        assert!(text.contains(from));
        let changed = text.replacen(from, to, 1);
        match fits {
            true => write_state(&checkpoint, changed.lines().next().unwrap()),
            false => fs::write(&checkpoint, changed).unwrap(),
        }
        let again = enumerate::build(&*game, &plan, &tables.store(), &Silent).unwrap();
        assert_eq!(again.resumed_at, None);
        assert_same_files(whole.root(), tables.root(), to);
    }
}

#[test]
fn solving_goes_on_from_its_checkpoint_at_every_step() {
    let game = board_4x4(true);
    let unsolved = Tables::new();
    let name = make(&*game, &unsolved.store()).name();
    for discount in [None, Some(0.9)] {
        let method = SolveOptions {
            discount,
            checkpoint_after: Some(Duration::ZERO),
            ..SolveOptions::default()
        };
        let whole = Tables::new();
        copy_dir(unsolved.root(), whole.root());
        let mut table = whole.store().open(&name).unwrap();
        let run = solve(&*game, &mut table, &method, &Silent).unwrap();
        // Each layer reports progress once.
        let layers = table.manifest().layers.len();
        for step in 1..=layers {
            let what = format!("{discount:?}, interrupted at step {step} of {layers}");
            let tables = Tables::new();
            copy_dir(unsolved.root(), tables.root());
            let mut table = tables.store().open(&name).unwrap();
            assert!(interrupted(step as u32, |progress| {
                let _ = solve(&*game, &mut table, &method, progress);
            }));
            let scratch = tables.place(&name).join("solve.partial");
            let kept = files(&scratch).len();
            assert!(kept <= 3, "{what}: a mark, a state and one file of values, not {kept}");
            let mut table = tables.store().open(&name).unwrap();
            assert!(table.manifest().solution.is_none(), "{what}");
            let again = solve(&*game, &mut table, &method, &Silent).unwrap();
            assert_eq!(again.resumed, step > 1, "{what}");
            assert_eq!(again.sweeps, run.sweeps, "{what}");
            assert_same_files(whole.root(), tables.root(), &what);
        }
    }
}

/// Interrupts the solving of a cyclic game at every `stride`th report of progress and resumes it, which
/// must make the same files. Returns how often there was something to resume.
fn solving_with_cycles_goes_on(
    game: &dyn Rules,
    unsolved: &Tables,
    name: &str,
    stride: usize,
) -> u32 {
    let method = SolveOptions { checkpoint_after: Some(Duration::ZERO), ..SolveOptions::default() };
    let whole = Tables::new();
    copy_dir(unsolved.root(), whole.root());
    let mut table = whole.store().open(name).unwrap();
    let run = solve(game, &mut table, &method, &Silent).unwrap();
    let mut resumed = 0;
    for step in (1..).step_by(stride) {
        let tables = Tables::new();
        copy_dir(unsolved.root(), tables.root());
        let mut table = tables.store().open(name).unwrap();
        if !interrupted(step, |progress| {
            let _ = solve(game, &mut table, &method, progress);
        }) {
            break;
        }
        let what = format!("{name} interrupted at step {step}");
        let scratch = tables.place(name).join("solve.partial");
        let begun = scratch.exists();
        assert!(!begun || files(&scratch).len() <= 3, "{what}: more than one file of values");
        let mut table = tables.store().open(name).unwrap();
        let again = solve(game, &mut table, &method, &Silent).unwrap();
        assert_eq!((again.resumed, &again.sweeps), (begun, &run.sweeps), "{what}");
        assert!(!scratch.exists(), "{what}");
        assert_same_files(whole.root(), tables.root(), &what);
        resumed += u32::from(begun);
    }
    resumed
}

#[test]
fn solving_with_cycles_goes_on_from_its_checkpoint() {
    let games = [
        ("animal-shogi-3x3", Index::Rank, None),
        ("animal-shogi-3x3", Index::Keys, None),
        ("minishogi", Index::Keys, Some(4)),
    ];
    for (game, index, max_depth) in games {
        let game = named(game);
        let unsolved = Tables::new();
        let plan = Plan { index, max_depth, ..standard(&*game) };
        let name =
            enumerate::build(&*game, &plan, &unsolved.store(), &Silent).unwrap().table.name();
        // With ranks each task reports progress, with keys each sweep.
        let (stride, least) = if max_depth.is_some() { (1, 1) } else { (9, 3) };
        let resumed = solving_with_cycles_goes_on(&*game, &unsolved, &name, stride);
        assert!(resumed >= least, "{name}: went on {resumed} times");
    }
}

#[test]
fn a_scratch_of_another_method_is_not_gone_on_with() {
    let game = board_4x4(true);
    let tables = Tables::new();
    let mut table = make(&*game, &tables.store());
    let fine = SolveOptions {
        theta: Some(1e-6),
        discount: Some(0.9),
        checkpoint_after: Some(Duration::ZERO),
        ..SolveOptions::default()
    };
    let others = [
        SolveOptions { theta: Some(0.4), ..fine },
        SolveOptions { discount: Some(0.8), ..fine },
        SolveOptions { discount: None, ..fine },
    ];
    for other in others {
        assert!(interrupted(9, |progress| {
            let _ = solve(&*game, &mut table, &fine, progress);
        }));
        let run = solve(&*game, &mut table, &other, &Silent).unwrap();
        assert!(!run.resumed, "{other:?}");
    }
}

#[test]
fn what_a_kill_after_the_last_write_leaves_is_cleaned_up() {
    let game = board_4x4(true);
    let tables = Tables::new();
    let mut table = make(&*game, &tables.store());
    let method = SolveOptions { checkpoint_after: Some(Duration::ZERO), ..SolveOptions::default() };
    assert!(interrupted(5, |progress| {
        let _ = solve(&*game, &mut table, &method, progress);
    }));
    let scratch = table.dir().join("solve.partial");
    copy_dir(&scratch, &tables.place("kept"));
    solve(&*game, &mut table, &method, &Silent).unwrap();
    copy_dir(&tables.place("kept"), &scratch);
    let run = solve(&*game, &mut table, &method, &Silent).unwrap();
    assert!(run.already_solved && !scratch.exists());
}
