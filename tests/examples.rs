//! Examples that tests use.
#![allow(dead_code)]

#[path = "../examples/alpha_beta.rs"]
pub mod alpha_beta;
#[path = "../examples/dots_and_boxes.rs"]
pub mod dots_and_boxes;
#[path = "../examples/four_in_a_row.rs"]
pub mod four_in_a_row;
#[path = "../examples/hare_and_hounds.rs"]
pub mod hare_and_hounds;
#[path = "../examples/how_many.rs"]
pub mod how_many;
#[path = "../examples/king_and_rook.rs"]
pub mod king_and_rook;
#[path = "../examples/misere.rs"]
pub mod misere;
#[path = "../examples/noughts.rs"]
pub mod noughts;
#[path = "../examples/ranked_four.rs"]
pub mod ranked_four;
#[path = "../examples/three_mens_morris.rs"]
pub mod three_mens_morris;
