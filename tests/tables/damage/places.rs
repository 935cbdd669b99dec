//! Single damages: some that once ended badly, and some that no sum reveals.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use yomikiri::table::{HEADER_BYTES, Table};

use super::{edit_text, make_fit};
use crate::common::solved::named;
use crate::common::tables::forge;

/// A table, a description, and a damage that once caused a panic or took much memory.
pub(super) type Hole = (&'static str, &'static str, fn(&Path));
pub(super) const HOLES: [Hole; 20] = [
    ("othello-4x4", "another game", |dir| game(dir, "othello-8x8")),
    ("othello-4x4.packed", "another game", |dir| game(dir, "othello-8x8")),
    ("othello-4x4-derived", "another game", |dir| game(dir, "animal-shogi")),
    ("animal-shogi-3x3", "another game", |dir| game(dir, "minishogi")),
    ("animal-shogi-3x3", "a game of more ranks", |dir| game(dir, "animal-shogi")),
    ("othello-4x4", "a root that is no row", |dir| set(dir, "root_ids", json!([1e12 as u64]))),
    ("othello-4x4", "layers without number", |dir| {
        edit_text(dir, |manifest| {
            let layer = manifest["layers"][3].clone();
            manifest["layers"] = json!(vec![layer; 200_000]);
        });
    }),
    ("othello-4x4-depth5", "layers that cannot be counted", |dir| {
        set(dir, "first_layer", json!(u32::MAX - 3));
    }),
    ("animal-shogi-3x3-keys", "layers that cannot be counted", |dir| {
        set(dir, "first_layer", json!(u32::MAX - 3));
    }),
    ("animal-shogi-3x3", "every rank reachable", |dir| {
        forge(dir, "reachable", |payload| payload.fill(0xff));
    }),
    ("animal-shogi-3x3", "every rank reachable and counted", |dir| {
        every_rank(dir);
    }),
    ("animal-shogi-3x3", "every rank reachable, counted and with a value", |dir| {
        let ranks = every_rank(dir);
        let path = Table::open(dir).unwrap().path_of("distance");
        let mut bytes = fs::read(&path).unwrap();
        let header: String = bytes[..HEADER_BYTES].iter().map(|&byte| byte as char).collect();
        let rows = Table::open(dir).unwrap().manifest().counts.table.states;
        let header = header.replace(&format!("({rows},)"), &format!("({ranks},)"));
        bytes.splice(..HEADER_BYTES, header.chars().map(|c| c as u8).collect::<Vec<_>>());
        bytes.resize(HEADER_BYTES + ranks as usize, 255);
        fs::write(&path, bytes).unwrap();
        make_fit(dir, "distance", &path);
        edit_text(dir, |manifest| {
            manifest["arrays"]["distance"]["shape"] = json!([ranks]);
            manifest["counts"]["table"]["states"] = json!(ranks);
        });
    }),
    ("animal-shogi-3x3", "a count of one bit", |dir| {
        let path = dir.join("rank_counts.npy");
        let mut bytes = fs::read(&path).unwrap();
        bytes[3115] ^= 0x40;
        fs::write(&path, bytes).unwrap();
    }),
    ("othello-4x4", "kinds of no kind", |dir| recolour(dir, "kinds", 0, 255)),
    ("othello-4x4", "an end that is none", |dir| forge(dir, "kinds", |kinds| kinds[8586] ^= 1)),
    ("othello-4x4", "kinds cut off", |dir| recolour(dir, "kinds", 0, 2)),
    ("animal-shogi-3x3-keys", "kinds of no kind", |dir| recolour(dir, "kinds", 0, 128)),
    ("othello-4x4", "edges of no file", |dir| {
        forge(dir, "edge_starts", |payload| payload[800..808].fill(0xff));
    }),
    ("othello-4x4", "targets of no row", |dir| forge(dir, "edge_targets", |all| all.fill(0xff))),
    ("othello-4x4", "counts without end", |dir| {
        edit_text(dir, |manifest| {
            manifest["layers"][3]["table"]["states"] = json!(u64::MAX);
            manifest["layers"][4]["table"]["states"] = json!(u64::MAX);
            manifest["counts"]["reachable"]["passes"] = json!(u64::MAX);
        });
    }),
];

/// Makes every rank of animal shogi on 3x3 reachable in bits and counts; returns the number of ranks.
fn every_rank(dir: &Path) -> u32 {
    let ranks = named("animal-shogi-3x3").rank_count().unwrap();
    forge(dir, "reachable", |payload| {
        payload.fill(0xff);
        let beyond = payload.len() as u32 * 8 - ranks;
        let last = payload.len() - 8;
        payload[last..].copy_from_slice(&(u64::MAX >> beyond).to_le_bytes());
    });
    forge(dir, "rank_counts", |payload| {
        let counts = payload.chunks_exact_mut(4).zip((0u32..).step_by(512));
        counts.for_each(|(count, before)| count.copy_from_slice(&before.to_le_bytes()));
    });
    ranks
}

fn set(dir: &Path, field: &str, value: Value) {
    edit_text(dir, |manifest| manifest[field] = value);
}

fn game(dir: &Path, name: &str) {
    edit_text(dir, |manifest| manifest["identity"]["game"] = json!(name));
}

/// Moves a count from a layer to the next, so that the sum stays.
fn shift(dir: &Path, count: &str) {
    edit_text(dir, |manifest| {
        for (layer, by) in [(3, 1), (4, -1)] {
            let at = manifest.pointer_mut(&format!("/layers/{layer}/{count}")).unwrap();
            *at = json!(at.as_i64().unwrap() + by);
        }
    });
}

/// Changes that leave every sum and length unchanged.
pub(super) const UNPROVEN: [Hole; 10] = [
    ("othello-4x4", "boards of another layer", |dir| shift(dir, "distinct_boards")),
    ("othello-4x4", "mover-relative states", |dir| shift(dir, "mover_relative")),
    ("othello-4x4", "canonical states", |dir| shift(dir, "canonical")),
    ("othello-4x4", "transitions", |dir| shift(dir, "table/transitions")),
    ("othello-4x4-derived", "terminals", |dir| shift(dir, "reachable/terminals")),
    ("othello-4x4.packed", "boards of another layer", |dir| shift(dir, "distinct_boards")),
    ("othello-4x4-depth5", "a frontier of another layer", |dir| shift(dir, "reachable/frontier")),
    ("later", "a start that it has not", |dir| {
        edit_text(dir, |manifest| manifest["identity"]["start"] = json!("both"));
    }),
    ("othello-4x4", "symmetries that it has not", |dir| {
        edit_text(dir, |manifest| manifest["identity"]["symmetry_order"] = json!(4));
    }),
    ("othello-4x4-depth5", "bounds of a frontier", |dir| {
        let kinds = Table::open(dir).unwrap().array::<u8>("kinds").unwrap();
        let row = kinds.iter().position(|&kind| kind == 2).unwrap();
        forge(dir, "score_upper", |payload| payload[row] -= 1);
    }),
];

/// Replaces every byte `from` of an array by `to`.
fn recolour(dir: &Path, array: &str, from: u8, to: u8) {
    let change = |payload: &mut [u8]| {
        payload.iter_mut().filter(|byte| **byte == from).for_each(|byte| *byte = to);
    };
    forge(dir, array, change);
}
