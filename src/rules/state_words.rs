//! Words of a state: the input of hashes that draw numbers for it, such as splits and seeds.
//!
//! These numbers must stay the same if the order of keys, and so of rows, changes. Therefore the words are
//! the squares of the mover and of the opponent where these determine the state, and its key only in other
//! games.

use std::sync::Arc;

use super::symmetry::map_squares;
use super::{AnyState, Rules};

/// One or two words that identify a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateWords {
    words: [u64; 2],
    count: usize,
}

impl StateWords {
    /// Returns the words of a state without folding: the mover's squares and the opponent's, in one word if
    /// both fit; the key if squares alone do not determine the state.
    pub fn of(game: &dyn Rules, state: &AnyState) -> StateWords {
        match game.squares(state) {
            Some(squares) => StateWords::of_squares(square_count(game), squares),
            None => StateWords::of_key(game.key(state), game),
        }
    }

    fn of_key(key: u128, game: &dyn Rules) -> StateWords {
        let facts = game.facts();
        StateWords { words: facts.words(key), count: facts.key_words() }
    }

    fn of_squares(count: usize, (own, other): (u64, u64)) -> StateWords {
        match count {
            0..=32 => StateWords { words: [own << count | other, 0], count: 1 },
            _ => StateWords { words: [own, other], count: 2 },
        }
    }

    /// Returns the one or two words.
    pub fn as_slice(&self) -> &[u64] {
        &self.words[..self.count]
    }
}

fn square_count(game: &dyn Rules) -> usize {
    let (rows, columns) = game.shape();
    rows * columns
}

/// Computes the words of states so that all images of a state have the same.
#[derive(Clone, Debug)]
pub struct FoldedWords {
    /// The rules with states folded.
    game: Arc<dyn Rules>,
    /// Image of the squares of one byte: `images[symmetry][byte][value]`. Empty if squares alone do not
    /// determine a state.
    images: Vec<[[u64; 256]; 8]>,
}

impl FoldedWords {
    /// Accepts a game with or without folding.
    pub fn new(game: &dyn Rules) -> FoldedWords {
        let game = game.folded();
        let symmetries = 0..game.group().order() as u8;
        let symmetries = symmetries.filter(|_| game.has_squares());
        let images = symmetries.map(|symmetry| image(&*game, symmetry)).collect();
        FoldedWords { images, game }
    }

    /// Returns the smallest words among the images of a state.
    pub fn of(&self, state: &AnyState) -> StateWords {
        let Some((own, other)) = self.game.squares(state).filter(|_| !self.images.is_empty())
        else {
            return StateWords::of_key(self.game.canonical(state).key, &*self.game);
        };
        let count = square_count(&*self.game);
        let all = self.images.iter().map(|image| {
            let image = |squares: u64| {
                let bytes = squares.to_le_bytes().into_iter().zip(image).take(count.div_ceil(8));
                bytes.fold(0, |all, (byte, image)| all | image[byte as usize])
            };
            StateWords::of_squares(count, (image(own), image(other)))
        });
        all.min().unwrap_or_else(|| StateWords::of_squares(count, (own, other)))
    }
}

/// Tabulates the image of every byte of squares under a symmetry.
fn image(game: &dyn Rules, symmetry: u8) -> [[u64; 256]; 8] {
    let mut image = [[0; 256]; 8];
    for square in 0..square_count(game) {
        let to = map_squares(symmetry, 1 << square, game.shape());
        for (value, all) in image[square / 8].iter_mut().enumerate() {
            *all |= if value >> (square % 8) & 1 == 1 { to } else { 0 };
        }
    }
    image
}
