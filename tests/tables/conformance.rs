//! Every built-in game passes `yomikiri::rules::conform`.

use std::collections::HashSet;

use yomikiri::games::othello::Othello;
use yomikiri::games::shogi::{ANIMAL_SHOGI, MINISHOGI, SMALL_ANIMAL_SHOGI, Shogi};
use yomikiri::rules::{Game, Position, assert_conforms};

/// Checks a built-in game. Its diagrams can be parsed too; those of other games need not be.
fn conforms<G: Game>(game: &G) {
    assert_conforms(game);
    let start = game.start();
    let diagram = format!("{}\n{} to move", game.diagram(&start), game.side_name(start.side));
    assert_eq!(game.parse_position(&diagram, &start), Ok(start));
}

macro_rules! games {
    ($($name:ident: $game:expr;)*) => {$(
        #[test]
        fn $name() {
            conforms(&$game);
        }
    )*};
}

games! {
    othello_4x4: Othello::new(4, 4, true);
    othello_4x4_unfolded: Othello::new(4, 4, false);
    othello_4x5: Othello::new(4, 5, true);
    othello_4x8: Othello::new(4, 8, true);
    othello_5x4: Othello::new(5, 4, true);
    othello_5x5: Othello::new(5, 5, true);
    othello_6x6: Othello::new(6, 6, true);
    othello_7x5: Othello::new(7, 5, true);
    othello_8x8: Othello::new(8, 8, true);
    minishogi: Shogi::new(&MINISHOGI, true);
    minishogi_unfolded: Shogi::new(&MINISHOGI, false);
    animal_shogi: Shogi::new(&ANIMAL_SHOGI, true);
    animal_shogi_unfolded: Shogi::new(&ANIMAL_SHOGI, false);
    animal_shogi_3x3: Shogi::new(&SMALL_ANIMAL_SHOGI, true);
    animal_shogi_3x3_unfolded: Shogi::new(&SMALL_ANIMAL_SHOGI, false);
}

/// `conform` only checks the capabilities that a game has, so these are listed here.
#[test]
fn games_have_the_capabilities_that_are_checked() {
    let othello = Othello::new(4, 4, true);
    let board = othello.start().state;
    assert!(othello.is_layered());
    assert!(othello.squares(&board).is_some() && othello.swapped(&board).is_some());
    assert!(othello.has_scores() && othello.plane_kinds().count() == 2);
    for (variant, ranked) in
        [(&ANIMAL_SHOGI, true), (&SMALL_ANIMAL_SHOGI, true), (&MINISHOGI, false)]
    {
        let shogi = Shogi::new(variant, true);
        assert!(shogi.swapped(&shogi.start().state).is_some() && shogi.plane_kinds().count() > 2);
        assert_eq!(shogi.rank_count().is_some(), ranked);
    }
}

/// On 4x4 `conform` visits the whole game, in which passes make one state reachable with either side to move.
#[test]
fn some_board_of_4x4_is_reached_with_either_side_to_move() {
    let game = Othello::new(4, 4, true);
    let mut reached = HashSet::from([game.start()]);
    let mut open = vec![game.start()];
    while let Some(position) = open.pop() {
        let actions = game.actions(&position.state).into_iter();
        let after = actions.map(|action| game.advance(&position, action));
        open.extend(after.filter(|&after| reached.insert(after)));
    }
    let other = |p: &Position<_>| Position { state: p.state, side: p.side.other() };
    assert!(reached.iter().any(|position| reached.contains(&other(position))));
    assert!(reached.len() < 100_000, "{} positions are more than are followed", reached.len());
}

/// Every state has one rank, but a state and its image may have two.
#[test]
fn every_rank_of_animal_shogi_3x3_is_that_of_its_state() {
    let game = Shogi::new(&SMALL_ANIMAL_SHOGI, true);
    let count = game.rank_count().unwrap();
    let mut spare = 0;
    for rank in 0..count {
        let state = game.state_of_rank(rank).unwrap();
        let own = game.rank(&state).unwrap();
        if own != rank {
            assert!(own < rank, "{rank} has the state of {own}");
            assert_eq!(game.state_of_rank(own), Some(game.transform(&state, 1)), "{rank}");
            spare += 1;
        }
    }
    assert!(spare > 0 && spare < count / 10, "{spare} of {count} ranks are spare");
}
