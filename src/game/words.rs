//! The words that stand for a state where numbers are drawn from it.
//!
//! Keys say in which order a table has its states; what is drawn for a position must not change
//! with that. So a board of two kinds of squares stands for itself, and only other states for their
//! keys.

use super::{Game, GameExt, StateKey};

/// One word or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateWords {
    words: [u64; 2],
    count: usize,
}

impl StateWords {
    /// The words of a state as it is: the mover's squares and the opponent's, in one word where
    /// they fit; the key of a state that is more than that.
    pub fn of<G: Game>(game: &G, state: &G::State) -> StateWords {
        match game.squares(state) {
            Some(squares) => StateWords::of_squares(square_count(game), squares),
            None => StateWords { words: game.key(state).widen().0, count: game.facts().key_words },
        }
    }

    fn of_squares(count: usize, (own, other): (u64, u64)) -> StateWords {
        match count {
            0..=32 => StateWords { words: [own << count | other, 0], count: 1 },
            _ => StateWords { words: [own, other], count: 2 },
        }
    }

    /// The words.
    pub fn as_slice(&self) -> &[u64] {
        &self.words[..self.count]
    }
}

fn square_count<G: Game>(game: &G) -> usize {
    let (rows, columns) = game.shape();
    rows * columns
}

/// The words of states, the same for all images of a state.
#[derive(Clone, Debug)]
pub struct FoldedWords<G: Game> {
    /// The rules with states folded.
    game: G,
    /// `images[symmetry][byte][value]`: where the squares of that byte go; empty for states that
    /// are more than squares.
    images: Vec<[[u64; 256]; 8]>,
}

impl<G: Game + Clone> FoldedWords<G> {
    /// For the states of a game, folded or not.
    pub fn new(game: &G) -> FoldedWords<G> {
        let game = game.with_folding(true).unwrap_or_else(|| game.clone());
        let symmetries = 0..game.group().order() as u8;
        let images: Option<Vec<_>> = symmetries.map(|symmetry| image(&game, symmetry)).collect();
        FoldedWords { images: images.unwrap_or_default(), game }
    }

    /// The smallest words among the images of a state.
    pub fn of(&self, state: &G::State) -> StateWords {
        let Some((own, other)) = self.game.squares(state).filter(|_| !self.images.is_empty())
        else {
            let key = self.game.canonical(state).key;
            return StateWords { words: key.widen().0, count: self.game.facts().key_words };
        };
        let count = square_count(&self.game);
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

/// Where the squares of every byte go under a symmetry; `None` where squares are no states.
fn image<G: Game>(game: &G, symmetry: u8) -> Option<[[u64; 256]; 8]> {
    let mut image = [[0; 256]; 8];
    for square in 0..square_count(game) {
        let state = game.of_squares(1 << square, 0)?;
        let (to, _) = game.squares(&game.transform(&state, symmetry))?;
        for (value, all) in image[square / 8].iter_mut().enumerate() {
            *all |= if value >> (square % 8) & 1 == 1 { to } else { 0 };
        }
    }
    Some(image)
}
