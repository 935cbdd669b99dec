//! Tables of cyclic games are proven as made, and every change in them is found.

use std::collections::BTreeSet;
use std::fs;

use crate::common::Random;
use crate::common::tables::{Tables, copy_dir, edge_offsets, edit_manifest, forge};
use bytemuck::Pod;
use serde_json::Value;
use yomikiri::table::{HEADER_BYTES, Manifest, Table};

const MINISHOGI: [&str; 4] = ["--game", "minishogi", "--max-depth", "3"];
const SMALL: [&str; 2] = ["--game", "animal-shogi-3x3"];
/// A king and a pawn against a king: small and complete, with wins and with infinite play.
const PAWN: [&str; 4] = ["--game", "minishogi", "--root", "4k/5/5/5/KP3 b - 1"];
/// A king and a gold general against a king: half as large, and every state is won or lost.
const GOLD: [&str; 4] = ["--game", "minishogi", "--root", "4k/5/5/5/KG3 b - 1"];
/// A mate in one: bounded, with wins.
const MATE: [&str; 6] =
    ["--game", "minishogi", "--root", "r3k/2g1b/1s1B1/PS3/K4 w GPr 1", "--max-depth", "2"];
const ANIMAL: [&str; 4] = ["--game", "animal-shogi", "--max-depth", "4"];

/// Enumerates and solves. Returns the table's name.
fn make(tables: &Tables, plan: &[&str], repetition: Option<&str>) -> String {
    let made = tables.json(&[&["enumerate"], plan].concat());
    let name = made["table"].as_str().unwrap().to_string();
    solve(tables, &name, repetition);
    name
}

fn solve(tables: &Tables, name: &str, repetition: Option<&str>) {
    let repetition = repetition.map_or(vec![], |r| vec!["--repetition", r]);
    tables.ok(&[&["value-iterate", name], &repetition[..]].concat());
}

fn prove(tables: &Tables, name: &str, what: &str) {
    let printed = tables.json(&["verify", name]);
    assert_eq!(printed["proven"], true, "{name}, {what}: {printed}");
    assert_eq!(printed["solved"], true, "{name}, {what}");
    let manifest = Table::open(&tables.place(name)).unwrap().manifest().clone();
    let counts = manifest.counts.table;
    assert_eq!(printed["states"], counts.states, "{name}");
    assert_eq!(printed["edges"], counts.transitions, "{name}");
}

#[test]
fn tables_are_proven_as_they_are_made() {
    let tables = Tables::new();
    let mini = Some(&["draw", "unknown", "second-player-wins"][..]);
    let animal = Some(&["draw", "unknown"][..]);
    type Case<'a> = (Vec<&'a str>, Option<&'a [&'a str]>);
    let depth4 = ["--max-depth", "4"];
    let cases: [Case; 9] = [
        (MINISHOGI.to_vec(), mini),
        ([&["--game", "minishogi"], &depth4[..]].concat(), mini),
        ([&["--game", "minishogi", "--symmetry", "none"], &depth4[..]].concat(), mini),
        (["--game", "minishogi", "--max-states", "5000"].to_vec(), mini),
        (PAWN.to_vec(), mini),
        (MATE.to_vec(), mini),
        (ANIMAL.to_vec(), animal),
        (SMALL.to_vec(), animal),
        // A proof of this one takes twice as long as one by rank; infinite play counts as a draw by default.
        ([&SMALL[..], &["--index", "keys"]].concat(), Some(&["unknown"][..])),
    ];
    for (plan, repetitions) in cases {
        let name = make(&tables, &plan, None);
        prove(&tables, &name, "as the game counts");
        for repetition in repetitions.unwrap_or_default() {
            solve(&tables, &name, Some(repetition));
            prove(&tables, &name, repetition);
        }
    }
}

#[test]
fn a_table_without_values_is_proven_as_far_as_it_goes() {
    let tables = Tables::new();
    for plan in [&MINISHOGI[..], &SMALL[..]] {
        tables.ok(&[&["enumerate"], plan].concat());
        let printed = tables.json(&["verify"]);
        assert_eq!(
            (&printed["proven"], &printed["solved"]),
            (&true.into(), &false.into()),
            "{printed}"
        );
    }
}

/// A table that is copied before each change.
struct Forger {
    tables: Tables,
    name: String,
}

impl Forger {
    fn new(make: impl FnOnce(&Tables) -> String) -> Forger {
        let tables = Tables::new();
        let name = make(&tables);
        Forger { tables, name }
    }

    /// Returns the largest of the tables, made once for all tests.
    fn small() -> Forger {
        let tables = Tables::after(&[&[&["enumerate"], &SMALL[..]].concat(), &["value-iterate"]]);
        Forger { tables, name: SMALL[1].to_string() }
    }

    fn manifest(&self) -> Manifest {
        Table::open(&self.tables.place(&self.name)).unwrap().manifest().clone()
    }

    fn edge_offsets(&self) -> Vec<usize> {
        edge_offsets(&Table::open(&self.tables.place(&self.name)).unwrap())
    }

    fn words<T: Pod>(&self, array: &str) -> Vec<T> {
        let table = Table::open(&self.tables.place(&self.name)).unwrap();
        let bytes = fs::read(table.path_of(array)).unwrap();
        bytemuck::pod_collect_to_vec(&bytes[HEADER_BYTES..])
    }

    fn copy(&self) -> Tables {
        let copy = Tables::new();
        copy_dir(&self.tables.place(&self.name), &copy.place(&self.name));
        copy
    }

    /// Returns a copy of the table with some bytes of an array changed.
    fn change(&self, array: &str, change: impl FnOnce(&mut [u8])) -> Tables {
        let copy = self.copy();
        forge(&copy.place(&self.name), array, change);
        copy
    }

    /// Returns a copy of the table with an element of an array changed.
    fn set<T: Pod>(&self, array: &str, at: usize, value: T) -> Tables {
        let size = size_of::<T>();
        self.change(array, |bytes| {
            bytes[at * size..(at + 1) * size].copy_from_slice(bytemuck::bytes_of(&value));
        })
    }

    /// Checks that `verify` refutes a forged copy. Returns the row and the reason.
    fn refuted(&self, copy: &Tables, what: &str) -> (usize, String) {
        let ran = copy.run(&["verify", &self.name, "--json"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (3, ""), "{what}: {}", ran.stdout);
        let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(printed["proven"], false, "{what}");
        let wrong = &printed["counterexample"];
        assert!(!wrong["state"].as_str().unwrap().is_empty(), "{what}: {printed}");
        (wrong["row"].as_u64().unwrap() as usize, wrong["what"].as_str().unwrap().to_string())
    }

    /// Checks that `verify` names one of these rows.
    fn refuted_near(&self, copy: &Tables, near: &BTreeSet<usize>, what: &str) {
        let (row, printed) = self.refuted(copy, what);
        assert!(near.contains(&row), "{what}: row {row} ({printed}) is not of {near:?}");
    }

    /// Returns a row and those with an edge to it.
    fn near(&self, row: usize) -> BTreeSet<usize> {
        let (offsets, targets) = (self.edge_offsets(), self.words::<u32>("edge_targets"));
        let leads = |from: &usize| {
            let edges = offsets[*from]..offsets[from + 1];
            targets[edges].contains(&(row as u32))
        };
        (0..offsets.len() - 1).filter(leads).chain([row]).collect()
    }
}

#[test]
fn a_changed_byte_is_found_in_every_array() {
    let forgers = [
        Forger::new(|tables| make(tables, &MINISHOGI, None)),
        Forger::new(|tables| make(tables, &GOLD, Some("draw"))),
        Forger::new(|tables| make(tables, &ANIMAL, None)),
        Forger::small(),
    ];
    let mut random = Random(7);
    let mut seen = BTreeSet::new();
    for forger in &forgers {
        for (array, entry) in forger.manifest().arrays {
            let table = Table::open(&forger.tables.place(&forger.name)).unwrap();
            let length = fs::metadata(table.path_of(&array));
            let payload = length.unwrap().len() as usize - HEADER_BYTES;
            // A proof of the whole 3x3 game takes far longer than the others.
            let inside = if forger.name == SMALL[1] { 0..1 } else { 0..4 };
            let inside = inside.map(|_| random.below(payload));
            for at in [0, payload - 1].into_iter().chain(inside.collect::<Vec<_>>()) {
                let bit = 1 << random.below(8);
                let copy = forger.change(&array, |bytes| bytes[at] ^= bit);
                let what = format!("{}: {array} byte {at} by {bit}", forger.name);
                let ran = copy.run(&["verify", &forger.name]);
                assert_eq!(ran.code, 3, "{what}: {}", ran.stderr);
                assert!(ran.stdout.is_empty() || ran.stdout.contains(" is wrong: "), "{what}");
            }
            assert!(!entry.crc32.is_empty());
            seen.insert(array);
        }
    }
    let all = "distance distance_lower distance_upper edge_actions edge_counts edge_starts edge_targets keys kinds layer_offsets outcome outcome_lower outcome_upper rank_counts reachable";
    assert_eq!(seen.into_iter().collect::<Vec<_>>().join(" "), all);
}

#[test]
fn wrong_rows_and_edges_are_named() {
    for plan in [&GOLD[..], &MINISHOGI] {
        let forger = Forger::new(|tables| make(tables, plan, None));
        let kinds = forger.words::<u8>("kinds");
        let offsets = forger.edge_offsets();
        let of_kind = |kind: u8| kinds.iter().rposition(|&k| k == kind);
        for (kind, row) in (0..3).filter_map(|kind| Some((kind, of_kind(kind)?))) {
            let near = forger.near(row);
            for wrong in (0..4u8).filter(|&wrong| wrong != kind) {
                let what = format!("kind {wrong} of row {row} for {kind}");
                forger.refuted_near(&forger.set("kinds", row, wrong), &near, &what);
            }
        }
        let row = of_kind(0).unwrap();
        let edge = offsets[row];
        let targets = forger.words::<u32>("edge_targets");
        for target in [0, targets[edge] ^ 1, kinds.len() as u32, u32::MAX] {
            let forged = forger.set("edge_targets", edge, target);
            let (found, printed) = forger.refuted(&forged, &format!("edge to {target}"));
            assert_eq!((found, printed.contains("its edge")), (row, true), "{printed}");
        }
        let action = forger.words::<u16>("edge_actions")[edge];
        for wrong in [action ^ 1, u16::MAX] {
            let (found, _) =
                forger.refuted(&forger.set("edge_actions", edge, wrong), "another action");
            assert_eq!(found, row);
        }
        let count = (offsets[row + 1] - edge) as u16;
        for wrong in [0, count + 1, u16::MAX] {
            // The following rows up to the next start then have wrong edges too.
            let near = (row..(row / 64 + 1) * 64).collect();
            forger.refuted_near(&forger.set("edge_counts", row, wrong), &near, "a count");
        }
        let group = row / 64;
        for wrong in [edge as u64 + 1, u64::MAX] {
            let near = [(64 * group).max(1) - 1, 64 * group].into();
            forger.refuted_near(&forger.set("edge_starts", group, wrong), &near, "a start");
        }
    }
}

#[test]
fn wrong_keys_and_layers_are_refused() {
    let forger = Forger::new(|tables| make(tables, &MINISHOGI, None));
    let keys = forger.words::<[u64; 2]>("keys");
    let offsets = forger.words::<u64>("layer_offsets");
    let (row, layer) = (offsets[2] as usize + 40, 2);
    let named = |wrong: [u64; 2], what: &str| forger.refuted(&forger.set("keys", row, wrong), what);
    // The rows that lead there miss the key first, so the message is not about the key itself; and a key
    // out of order misleads the search for others.
    for (wrong, what) in [
        ([u64::MAX, keys[row][1]], "bits beyond the key"),
        ([keys[row][0], u64::MAX], "no pieces"),
        (keys[row + 1], "the key after it"),
        (keys[0], "the key of the root"),
        ([keys[row][0] ^ 1 << 45, keys[row][1]], "the other side to move"),
    ] {
        let (found, printed) = named(wrong, what);
        assert!(
            found < row && printed.contains("leads out of the table"),
            "{what}: {found} {printed}"
        );
    }
    // No move returns to the root within three plies, so the root's own row is the first to be wrong.
    for wrong in [[u64::MAX, 0], [keys[0][0] ^ 1 << 45, keys[0][1]]] {
        let (found, printed) = forger.refuted(&forger.set("keys", 0, wrong), "another root");
        assert!(found == 0 && printed.contains("root"), "{found}: {printed}");
    }
    for (at, by) in [(1, 1i64), (2, 1), (2, -1), (layer + 1, 1), (layer + 1, -1)] {
        let moved = forger.set("layer_offsets", at, offsets[at].wrapping_add_signed(by));
        let line = moved.run(&["verify", &forger.name]).ended(3, "a layer moved").to_string();
        assert!(line.contains("manifest.json"), "layer {at} begins {by} later: {line}");
    }
}

/// Returns copies with each wrong value of a row, and the name of its array.
fn wrong_values(forger: &Forger, row: usize) -> Vec<(&'static str, Tables)> {
    let mut all = Vec::new();
    let has = |array: &str| forger.manifest().arrays.contains_key(array);
    for array in ["outcome", "outcome_lower", "outcome_upper"].into_iter().filter(|name| has(name))
    {
        let outcome = forger.words::<i8>(array)[row];
        for wrong in [-1, 0, 1, 7, i8::MIN].into_iter().filter(|&wrong| wrong != outcome) {
            all.push((array, forger.set(array, row, wrong)));
        }
    }
    for array in
        ["distance", "distance_lower", "distance_upper"].into_iter().filter(|name| has(name))
    {
        let distance = forger.words::<u8>(array)[row];
        for wrong in [distance ^ 1, distance ^ 2, 254, 255, 0] {
            if wrong != distance {
                all.push((array, forger.set(array, row, wrong)));
            }
        }
    }
    all
}

#[test]
fn wrong_values_are_named() {
    for forger in [
        Forger::new(|tables| make(tables, &GOLD, None)),
        Forger::new(|tables| make(tables, &MATE, None)),
        Forger::new(|tables| make(tables, &ANIMAL, None)),
    ] {
        let kinds = forger.words::<u8>("kinds");
        for kind in 0..3 {
            let Some(row) = kinds.iter().rposition(|&k| k == kind) else { continue };
            let near = forger.near(row);
            for (array, forged) in wrong_values(&forger, row) {
                let what = format!("{array} of row {row}, kind {kind}");
                forger.refuted_near(&forged, &near, &what);
            }
        }
    }
}

#[test]
fn values_without_end_must_be_those_of_the_convention() {
    for repetition in ["draw", "second-player-wins", "unknown"] {
        let forger = Forger::new(|tables| make(tables, &PAWN, Some(repetition)));
        let copy = forger.copy();
        let dir = copy.place(&forger.name);
        let layers = forger.words::<u64>("layer_offsets");
        // Black begins, so White moves in the rows of odd plies.
        let second = |row: usize| layers.partition_point(|&begin| begin as usize <= row) % 2 == 0;
        let mut changed = 0;
        let mut swap = |array: &str, to: &dyn Fn(usize, i8) -> i8| {
            forge(&dir, array, |bytes| {
                for (row, byte) in bytes.iter_mut().enumerate() {
                    let (old, new) = (*byte as i8, to(row, *byte as i8));
                    *byte = new as u8;
                    changed += u32::from(new != old);
                }
            });
        };
        // Every value of infinite play is replaced, so that all values still follow from those of their
        // successors and from nothing else.
        let side = |row: usize| if second(row) { 1 } else { -1 };
        match repetition {
            "draw" => swap("outcome", &|row, old| if old == 0 { side(row) } else { old }),
            "second-player-wins" => {
                let endless = forger.words::<u8>("distance");
                let of = |row: usize, old: i8| if endless[row] == u8::MAX { -old } else { old };
                swap("outcome", &of);
            }
            _ => {
                for (outcome, distance) in
                    [("outcome_lower", "distance_lower"), ("outcome_upper", "distance_upper")]
                {
                    let endless = forger.words::<u8>(distance);
                    swap(outcome, &|row, old| if endless[row] == u8::MAX { 0 } else { old });
                }
            }
        }
        assert!(changed > 100, "{repetition}: {changed} values changed");
        let (_, printed) = forger.refuted(&copy, repetition);
        assert!(printed.contains(", by the solution"), "{repetition}: {printed}");
    }
}

type Edit = fn(&mut Manifest);

/// Checks that each edit of the manifest is refused with a line that mentions it, or is refuted.
fn expect_all_found(forger: &Forger, edits: &[(&str, Edit)]) {
    for (what, edit) in edits {
        let copy = forger.copy();
        edit_manifest(&copy.place(&forger.name), edit);
        let ran = copy.run(&["verify", &forger.name]);
        if !ran.stdout.contains(" is wrong: ") {
            assert!(ran.ended(3, what).contains("manifest.json"), "{what}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_manifest_with_wrong_entries_is_found() {
    let edits: [(&str, Edit); 19] = [
        ("a terminal more", |m| {
            m.counts.table.terminals += 1;
            m.layers[0].table.terminals += 1;
        }),
        ("a move more in one layer than in another", |m| {
            m.layers[0].table.transitions += 1;
            m.layers[1].table.transitions -= 1;
        }),
        ("a sum that is none", |m| m.counts.table.transitions += 1),
        ("a layer more", |m| m.layers.push(Default::default())),
        ("positions counted", |m| m.counts.reachable = Some(m.counts.table)),
        ("another number of the first layer", |m| m.first_layer = 1),
        ("another root", |m| m.root_ids[0] = 1),
        ("the root twice", |m| m.root_ids.push(m.root_ids[0])),
        ("no root", |m| m.root_ids.clear()),
        ("another completeness", |m| m.complete = !m.complete),
        ("another root's position", |m| m.identity.roots[0] = "4k/5/5/5/K4 b - 1".to_string()),
        ("other rules", |m| m.identity.rules_version += 1),
        ("sides not kept, or kept", |m| {
            m.identity.sides = if m.identity.sides.is_some() { None } else { Some("kept".into()) };
        }),
        ("more proven", |m| m.solution.as_mut().unwrap().proven_outcomes += 1),
        ("more exact", |m| m.solution.as_mut().unwrap().exact_distances += 1),
        ("another value of the root", |m| {
            let root = &mut m.solution.as_mut().unwrap().roots[0];
            root.distance = root.distance.map_or(Some(3), |_| None);
        }),
        ("no value of the root", |m| m.solution.as_mut().unwrap().roots.clear()),
        ("no convention", |m| m.solution.as_mut().unwrap().repetition = None),
        ("another convention", |m| {
            m.solution.as_mut().unwrap().repetition = Some("second-player-wins".to_string());
        }),
    ];
    for forger in [
        Forger::small(),
        Forger::new(|tables| make(tables, &ANIMAL, None)),
        Forger::new(|tables| make(tables, &PAWN, Some("draw"))),
    ] {
        expect_all_found(&forger, &edits);
    }
}

#[test]
fn bounds_that_are_not_those_of_the_table_are_found() {
    let edits: [(&str, Edit); 5] = [
        ("deeper", |m| m.identity.max_depth = Some(4)),
        ("less deep", |m| m.identity.max_depth = Some(2)),
        ("no bound", |m| m.identity.max_depth = None),
        ("room for more", |m| {
            (m.identity.max_depth, m.identity.max_states) = (None, Some(100_000))
        }),
        ("no room for all", |m| m.identity.max_states = Some(1000)),
    ];
    expect_all_found(&Forger::new(|tables| make(tables, &MINISHOGI, None)), &edits);
    let forger =
        Forger::new(|tables| make(tables, &["--game", "minishogi", "--max-states", "5000"], None));
    expect_all_found(&forger, &[("room for more", |m| m.identity.max_states = Some(1 << 20))]);
    // Depth 4 has 16,834 states: with a limit of one less the table would be the same.
    for (most, code) in [(1796, 0), (16_833, 0), (16_834, 3)] {
        let copy = forger.copy();
        edit_manifest(&copy.place(&forger.name), |m| m.identity.max_states = Some(most));
        assert_eq!(copy.run(&["verify", &forger.name]).code, code, "{most}");
    }
}

#[test]
fn a_ranked_table_is_refuted_state_by_state() {
    let forger = Forger::small();
    let printed = |forged: &Tables, what: &str| forger.refuted(forged, what);
    let counts = forger.words::<u32>("rank_counts");
    for at in [0, 9, counts.len() - 1] {
        let copy = forger.set("rank_counts", at, counts[at] + 1);
        let line = copy.run(&["verify", &forger.name]).ended(3, "a count").to_string();
        assert!(line.contains("rank_counts"), "{line}");
    }
    let distances = forger.words::<u8>("distance");
    // Each wrong value stands for one or two of the right ones: every pair would take four times as
    // long, a proof of the whole game for each.
    let wrong = [0u8, 1, 2, 4, 201, 253, 254, 255];
    for (i, of) in [255, 0, 3, 1, 2, 6].into_iter().enumerate() {
        let row = distances.iter().rposition(|&distance| distance == of).unwrap();
        for wrong in [wrong[i], wrong[(i + 3) % wrong.len()]] {
            assert_ne!(wrong, of);
            let what = format!("{wrong} for {of} in row {row}");
            let (_, printed) = printed(&forger.set("distance", row, wrong), &what);
            assert!(
                printed.contains("its value is") || printed.contains("its distance is"),
                "{printed}"
            );
        }
    }
}

#[test]
fn ranks_that_are_not_those_that_can_be_reached_are_found() {
    let forger = Forger::new(|tables| {
        tables.json(&[&["enumerate"], &SMALL[..]].concat())["table"].as_str().unwrap().to_string()
    });
    let words = forger.words::<u64>("reachable");
    let is_mixed = |word: &u64| *word != 0 && *word != u64::MAX;
    let at = words.iter().position(is_mixed).unwrap() + 500;
    let at = at + words[at..].iter().position(is_mixed).unwrap();
    // A word of the bits changed, the counts with it.
    let forged = |at: usize, word: u64| {
        let copy = forger.set("reachable", at, word);
        let by = word.count_ones().wrapping_sub(words[at].count_ones());
        if at + 1 < words.len() {
            forge(&copy.place(&forger.name), "rank_counts", |bytes| {
                for block in (at / 8 + 1)..bytes.len() / 4 {
                    let place = &mut bytes[4 * block..4 * block + 4];
                    let count = u32::from_le_bytes((&*place).try_into().unwrap());
                    place.copy_from_slice(&count.wrapping_add(by).to_le_bytes());
                }
            });
        }
        edit_manifest(&copy.place(&forger.name), |m| {
            m.counts.table.states = m.counts.table.states.wrapping_add_signed(i64::from(by as i32));
        });
        copy
    };
    let added = words[at] | (words[at] + 1);
    let before: u32 = words[..at].iter().map(|word| word.count_ones()).sum();
    let below = words[at] & ((1 << (added & !words[at]).trailing_zeros()) - 1);
    let (row, what) = forger.refuted(&forged(at, added), "a state more");
    assert_eq!(row as u32, before + below.count_ones());
    assert!(what.contains("it is not reachable from the start"), "{what}");
    let (_, what) = forger.refuted(&forged(at, words[at] & (words[at] - 1)), "a state less");
    assert!(what.contains("leads out of the table"), "{what}");
    let last = words.len() - 1;
    let (fewer, beyond) = (words[at] ^ 1 << 63, words[last] | 1 << 63);
    for (copy, array) in [
        (forger.set("reachable", at, fewer), "rank_counts"),
        (forger.set("reachable", last, beyond), "rank_counts"),
        (forged(last, beyond), "reachable"),
    ] {
        let line = copy.run(&["verify", &forger.name]).ended(3, array).to_string();
        assert!(line.contains(array), "{line}");
    }
}

#[test]
fn a_wrong_row_is_shown_with_its_mover() {
    let printed = |forger: &Forger, array: &str| {
        let copy = forger.change(array, |bytes| bytes[bytes.len() / 2] ^= 1);
        copy.run(&["verify", &forger.name]).stdout
    };
    let mini = printed(&Forger::new(|tables| make(tables, &MINISHOGI, None)), "kinds");
    assert!(mini.contains(" w ") || mini.contains(" b "), "{mini}");
    assert!(!mini.contains("shown as"), "{mini}");
    let small = printed(&Forger::small(), "distance");
    assert!(small.contains(" b ") && small.contains("(the mover shown as Black)"), "{small}");
}
