//! A table divided into sets for learning and for measuring.
#![cfg(feature = "onnx")]

use std::sync::Arc;

use std::collections::BTreeSet;

use crate::common::solved::{board_4x4, opened, solved, standard};
use yomikiri::oracle::Orienting;
use yomikiri::rules::Splits;
use yomikiri_learn::recipes::parts::SplitPart;
use yomikiri_measure::judge::{Piece, Source, TablePositions};

#[test]
fn parts_share_no_position_and_samples_are_nested() {
    let game = board_4x4(true);
    let (_dir, table) = solved(&*game, &standard(&*game));
    let table = opened(&table);
    let rows = TablePositions::new(&table, Orienting::All);
    let (game, splits) = (table.game(), Splits::default());
    let keys = |part: &SplitPart| -> Vec<u128> {
        let states = part.pieces().iter().flat_map(|piece| piece.batch.positions());
        states.map(|position| game.canonical(&position.state).key).collect()
    };
    let of = |shares| SplitPart::of_all(&rows, splits, shares).unwrap();
    let [whole, validation, test] = of([1.0; 3]);
    let parts = (0..rows.pieces()).flat_map(|piece| rows.fill(piece).unwrap().0);
    let count: usize = parts.map(|part| part.cases.len()).sum();
    let [train, validation, test] = [&whole, &validation, &test].map(keys);
    assert_eq!(train.len() + validation.len() + test.len(), count);
    let sets = [&train, &validation, &test].map(|keys| keys.iter().collect::<BTreeSet<_>>());
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        assert!(sets[a].is_disjoint(&sets[b]));
    }
    // Shares of 0.8, 0.1 and 0.1, within three standard errors.
    let total: usize = sets.iter().map(BTreeSet::len).sum();
    for (set, share) in sets.iter().zip([0.8, 0.1, 0.1]) {
        let error = (share * (1.0 - share) / total as f64).sqrt();
        assert!((set.len() as f64 / total as f64 - share).abs() < 3.0 * error);
    }
    let [half, none, tenth] = of([0.5, 0.0, 0.1]);
    assert!(none.pieces().is_empty());
    let [half, tenth] = [&half, &tenth].map(keys);
    assert!(!half.is_empty() && half.iter().all(|key| sets[0].contains(key)));
    assert!(!tenth.is_empty() && tenth.iter().all(|key| sets[2].contains(key)));
    let [quarter, ..] = of([0.25, 0.0, 0.0]);
    // A share of a part is the same as that share of the whole, with everything known of it.
    let [later, ..] = SplitPart::of_all(&whole, splits, [0.25, 0.0, 0.0]).unwrap();
    let known = |part: &SplitPart| {
        let pieces = part.pieces().iter();
        let of = |piece: &Arc<Piece>| (piece.truths.clone(), piece.cases.clone());
        let (truths, cases): (Vec<_>, Vec<_>) = pieces.map(of).unzip();
        format!("{:?} {:?}", truths.concat(), cases.concat())
    };
    // A network evaluates many positions at once, however few of the table's pieces are left.
    let many = |part: &SplitPart| {
        let sizes: Vec<usize> = part.pieces().iter().map(|piece| piece.cases.len()).collect();
        sizes.len() > 1 && sizes[..sizes.len() - 1].iter().all(|&size| size >= 1024)
    };
    assert!(many(&whole) && many(&later));
    assert_eq!(keys(&later), keys(&quarter));
    assert_eq!(known(&later), known(&quarter));
    let half: BTreeSet<u128> = half.into_iter().collect();
    let quarter: BTreeSet<u128> = keys(&quarter).into_iter().collect();
    assert!(quarter.is_subset(&half) && quarter.len() < half.len());
}
