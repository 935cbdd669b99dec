//! Examples that tests use.
#![allow(dead_code)]

#[path = "../examples/alpha_beta.rs"]
pub mod alpha_beta;
#[path = "../examples/connect_four.rs"]
pub mod connect_four;
#[path = "../examples/how_many.rs"]
pub mod how_many;
#[path = "../examples/noughts.rs"]
pub mod noughts;
#[path = "../examples/three_mens_morris.rs"]
pub mod three_mens_morris;
