//! The positions of one part of a division, the same for the command and for Python.

use super::accuracy::Player;
use super::source::{Piece, Wanted};
use crate::any::AnyGame;
use crate::game::{Divider, Division, Split, Splits};
use crate::hint::Hinted;
use crate::policy::TrainedSpec;

/// Selects the positions of a part, divided as when the players learned, or else as `solver export`
/// does by default, and returns what they are in words. Fails where players learned by different
/// divisions.
pub fn of_split(
    split: Split,
    players: &[Player],
    game: &AnyGame,
) -> Result<(Box<Wanted<'static>>, String), Hinted> {
    let mut divisions: Vec<Division> = Vec::new();
    for division in players.iter().filter_map(|player| player.learned_from().division()) {
        if !divisions.contains(&division) {
            divisions.push(division);
        }
    }
    let division = match divisions[..] {
        [] => TrainedSpec::default().division(),
        [division] => division,
        _ => {
            let what = "the networks were trained by different splits";
            return Err(Hinted::new(what, "measure one of them at a time"));
        }
    };
    let Splits { seed, train, validation } = division.splits;
    let words = format!(
        "the {} part (seed {seed}: {train} to train, {validation} to validate, {} to test)",
        split.name(),
        division.splits.test()
    );
    let divider = Divider::new(game, division);
    let wanted = move |piece: &Piece, at: usize| {
        divider.of(&piece.batch.positions()[at].state) == Some(split)
    };
    Ok((Box::new(wanted), words))
}
