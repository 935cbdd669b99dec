//! Estimated numbers of states agree with counted ones.

use rayon::ThreadPoolBuilder;
use serde_json::Value;

use crate::examples::how_many::{Drawing, Layer, Rules, layers};

fn drawn((rows, columns): (usize, usize), exact: usize, threads: usize) -> Vec<Layer> {
    let mut all = vec![];
    let drawing = Drawing { hits: 40, from: 0, bound: 1_000_000, seed: 1 };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        layers(&Rules::new(rows, columns), exact, drawing, |layer| all.push(layer.clone()))
    });
    all
}

#[test]
fn intervals_hold_what_was_counted() {
    let truth: Value = serde_json::from_str(include_str!("../data/othello.json")).unwrap();
    let (mut estimates, mut outside) = (0, 0);
    for (shape, name, exact) in [((4, 4), "4x4", 300), ((4, 5), "4x5", 20_000)] {
        let layers = drawn(shape, exact, 2);
        let counted = truth[name]["layers"].as_array().unwrap();
        assert_eq!(layers.len(), counted.len());
        for (layer, counted) in layers.iter().zip(counted) {
            let states = counted["canonical_states"].as_f64().unwrap();
            let (low, high) = layer.interval;
            if layer.samples == 0 {
                assert_eq!(layer.states, states, "{name}, {} discs", layer.discs);
                continue;
            }
            assert_eq!((layer.hits, layer.undecided), (39, 0), "{name}, {} discs", layer.discs);
            assert!(low < layer.states && layer.states < high);
            // Three standard errors and more, which no estimate should exceed.
            let far = 1.7 * (high - low) / 2.0;
            assert!(
                (layer.states - states).abs() < far,
                "{name}, {} discs: {layer:?}",
                layer.discs
            );
            estimates += 1;
            outside += usize::from(states < low || high < states);
        }
    }
    assert!(estimates > 10 && outside <= 2, "{outside} of {estimates} intervals miss");
}

#[test]
fn threads_change_nothing() {
    assert_eq!(drawn((4, 4), 1000, 1), drawn((4, 4), 1000, 3));
}
