//! The rules of the games, their notation and their counts, against plain rules and known figures.

/// What the rules need of what tests share: nothing of tables or commands, which the library does not have.
#[allow(dead_code)]
mod common {
    #[path = "../../common/plain.rs"]
    pub mod plain;
    #[path = "../../common/plain_shogi.rs"]
    pub mod plain_shogi;
    #[path = "../../common/random.rs"]
    mod random;

    pub use random::Random;
}
mod notation;
mod othello_properties;
mod perft;
mod plain_shogi;
mod repetition;
mod shogi_notation;
mod shogi_perft;
mod shogi_rules;
