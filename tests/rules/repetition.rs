//! Values with history, found without a search, against a search with history.

use yomikiri::games::shogi::{SMALL_ANIMAL_SHOGI, Shogi};

#[allow(dead_code)]
#[path = "../../examples/repetition.rs"]
mod example;

#[test]
fn a_search_that_keeps_history_finds_the_values_that_need_none() {
    let game = Shogi::new(&SMALL_ANIMAL_SHOGI, false);
    let (mut endless, positions) = example::Endless::of(&game);
    let values = endless.values();
    assert_eq!((positions, values.len()), (491_284, 604));
    for occurrences in [2, 3, 4] {
        // `search` compares each value with its own result.
        assert_eq!(endless.search(&values, occurrences, 604), [52, 510, 42, 0]);
    }
}
