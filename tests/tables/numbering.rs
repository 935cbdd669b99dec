//! A table of a game that numbers its states wrongly must not be proven.

use crate::common::listed::{Listed, nim};
use crate::common::solved::enumerated;
use yomikiri::enumerate::Plan;
use yomikiri::progress::Silent;
use yomikiri::rules::Game;
use yomikiri::solve;

#[test]
fn ranks_whose_states_have_other_ranks_are_found() {
    let ranked = Listed { has_layers: false, is_ranked: true, ..nim(20, &[1, 2]) };
    let game = ranked.clone().into_rules();
    let (_dir, table) = enumerated(&*game, &Plan::from_start(&*game));
    assert!(table.manifest().identity.is_by_rank());
    assert_eq!(solve::prove(&*game, &table, &Silent).unwrap().counterexample, None);
    let muddled = Listed { is_muddled: true, ..ranked }.into_rules();
    // Without values, which might differ too.
    let found = solve::prove(&*muddled, &table, &Silent).unwrap().counterexample.unwrap();
    assert_eq!((found.row, &*found.what), (3, "its position has the rank of row 4"));
}
