//! Positions drawn by chance: from random games, evenly among those of an enumeration, and those of a policy's games.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::list::squares_of_discs;
use super::{Origin, PositionList};
use crate::judge::arena::{Sampling, record};
use crate::policy::Policy;
use yomikiri::error::Error;
use yomikiri::oracle::{Orienting, States};
use yomikiri::parallel;
use yomikiri::progress::Progress;
use yomikiri::rules::{AnyPosition, Rules, Side, mix};
use yomikiri::table::rows::RowPiece;

/// A sample to draw.
#[derive(Clone, Copy, Debug)]
pub struct SampleOf {
    /// Inclusive range of empty squares (default: 8 to 12; without scores three to four sevenths of those at the start).
    pub range: Option<(u32, u32)>,
    /// Number of positions, counting repetitions.
    pub count: usize,
    /// Seed: another one gives independent positions.
    pub seed: u64,
}

/// Games that are played for one position before its number of empty squares counts as out of reach.
const MOST_GAMES: usize = 1000;
/// Rows that are drawn for one position before a table counts as having none.
const MOST_ROWS: usize = 100_000;
/// Positions drawn in one task.
const AT_ONCE: usize = 256;

/// Draws positions of random games, with repetition: first a number of empty squares, each of the range equally
/// likely, then the first position with it in a game of random moves, forced moves and passes included. A game that
/// ends before is played again. Fewer positions than asked are returned where no game of 1,000 gets so far.
///
/// Fails for games without empty squares, if no position is found, and for an invalid range.
pub fn from_random_games(
    game: &dyn Rules,
    sample: SampleOf,
    progress: &dyn Progress,
) -> Result<PositionList, Error> {
    let (from, to) = range_of(game, sample.range)?;
    let squares = squares_of_discs(game)?;
    let SampleOf { count, seed, .. } = sample;
    progress.begin_with("sampling", Some(count as u64), "positions");
    let drawn = parallel::map(count.div_ceil(AT_ONCE), &|task| {
        let numbers = task * AT_ONCE..count.min((task + 1) * AT_ONCE);
        let draw = |number: usize| {
            let mut random = generator(seed, number as u64);
            let place = below(&mut random, u64::from(to - from) + 1);
            let layer = squares - (from + place as u32);
            // Also where nothing is drawn, so that it can be cancelled.
            progress.advance(1);
            (0..MOST_GAMES).find_map(|_| random_game(game, layer, &mut random))
        };
        numbers.filter_map(draw).collect::<Vec<_>>()
    });
    progress.finish("positions sampled");
    let words = format!(
        "a sample, seed {seed}: {from} to {to} empty squares, each number equally likely, then the first such \
         position of a random game, forced moves included; games that end by then are played again; drawn with \
         repetition"
    );
    listed(game, drawn.concat(), (sample, "sample", words))
}

/// Draws positions of an enumerated game in which there is a move to make, each equally likely, with repetition. A
/// range of empty squares limits them. Rows are drawn until one has the image that was drawn too, so that only as much
/// of the table is read as the sample takes.
///
/// Fails if the table is bounded or damaged, if it has no such position, and for an invalid range.
pub fn uniform(
    states: &States,
    sample: SampleOf,
    progress: &dyn Progress,
) -> Result<PositionList, Error> {
    let (game, name) = (states.game(), states.table().name());
    if !states.table().manifest().complete {
        let what = format!("{name} is bounded: it does not contain every position");
        return Err(Error::new(what, "give a complete table"));
    }
    let (layers, which) = match squares_of_discs(game) {
        Ok(squares) => {
            let (from, to) = range_of(game, sample.range)?;
            (squares - to..=squares - from, format!(" with {from} to {to} empty squares"))
        }
        Err(wrong) if sample.range.is_some() => return Err(wrong),
        Err(_) => (0..=u32::MAX, String::new()),
    };
    let is_wanted = |piece: &&RowPiece| layers.contains(&piece.layer.unwrap_or(0));
    let pieces: Vec<&RowPiece> = states.pieces().iter().filter(is_wanted).collect();
    let ends: Vec<u64> = pieces
        .iter()
        .scan(0, |sum, piece| {
            *sum += piece.rows.len() as u64;
            Some(*sum)
        })
        .collect();
    let rows = ends.last().copied().unwrap_or(0);
    let images = 2 * game.group().order() as u64;
    let draw = |random: &mut SplitMix64| -> Result<Option<AnyPosition>, String> {
        let place = below(random, rows);
        let at = ends.partition_point(|end| *end <= place);
        let piece = pieces[at];
        let row = piece.rows.end - (ends[at] - place) as usize;
        let (mut image, mut drawn) = (below(random, images), None);
        let one = RowPiece { rows: row..row + 1, layer: piece.layer };
        states.visit_open(&one, Orienting::All, |_, position| {
            if image == 0 {
                drawn = Some(position);
            }
            image = image.wrapping_sub(1);
        })?;
        Ok(drawn)
    };
    let SampleOf { count, seed, .. } = sample;
    let count = if rows == 0 { 0 } else { count };
    progress.begin_with("sampling", Some(count as u64), "positions");
    let drawn = parallel::try_map(count.div_ceil(AT_ONCE), &|task| {
        let numbers = task * AT_ONCE..count.min((task + 1) * AT_ONCE);
        let one = |number: usize| {
            let mut random = generator(seed, number as u64);
            progress.advance(1);
            (0..MOST_ROWS).find_map(|_| draw(&mut random).transpose()).transpose()
        };
        numbers.filter_map(|number| one(number).transpose()).collect::<Result<Vec<_>, String>>()
    });
    progress.finish("positions sampled");
    let drawn = drawn.map_err(|what| Error::from(format!("{name}: {what}")))?;
    let words = format!(
        "a sample, seed {seed}: each position of {name}{which} and a move to make equally likely, forced moves \
         included; drawn with repetition"
    );
    listed(game, drawn.concat(), (sample, "uniform-sample", words))
}

/// Says of some ascending numbers whether they are wanted.
type AreWanted<'a> = &'a dyn Fn(&[u32]) -> Result<Vec<bool>, String>;

/// Draws numbers below `count` without repetition, each of those that `are_wanted` equally likely, and returns them in
/// ascending order: `most`, or all that are wanted if they are fewer. `are_wanted` is asked about hardly more than
/// must be looked at. A larger sample of a seed contains the smaller ones.
pub(crate) fn drawn(
    count: u32,
    most: u64,
    seed: u64,
    are_wanted: AreWanted<'_>,
) -> Result<Vec<u32>, String> {
    const MOST_AT_ONCE: u64 = 1 << 20;
    let (count, mut chosen, mut looked_at) = (u64::from(count), Vec::new(), 0);
    while looked_at < count && (chosen.len() as u64) < most {
        let missing = most - chosen.len() as u64;
        let for_each = (looked_at + 1) as f64 / (chosen.len() + 1) as f64;
        let likely = (1.1 * missing as f64 * for_each + 16.0) as u64;
        let some = likely.min(count - looked_at).min(MOST_AT_ONCE);
        let numbers = looked_at..looked_at + some;
        let numbers: Vec<u32> = numbers.map(|place| shuffled(place, count, seed) as u32).collect();
        let mut ascending = numbers.clone();
        ascending.sort_unstable();
        let wanted = are_wanted(&ascending)?;
        let is_wanted = |number: &u32| ascending.binary_search(number).is_ok_and(|at| wanted[at]);
        chosen.extend(numbers.into_iter().filter(is_wanted).take(missing as usize));
        looked_at += some;
    }
    chosen.sort_unstable();
    Ok(chosen)
}

/// Returns the number at a place of the numbers below `count` in a random order: that of a Feistel network of the
/// smallest power of four that is not less, in which larger numbers are passed over (Black and Rogaway 2002).
fn shuffled(place: u64, count: u64, seed: u64) -> u64 {
    let half = (64 - (count - 1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1 << half) - 1;
    let mut number = place;
    loop {
        for round in 0..4 {
            let [left, right] = [number >> half, number & mask];
            let key = mix(mix(seed) ^ mix(round << 32 | right));
            number = right << half | (left ^ key) & mask;
        }
        if number < count {
            return number;
        }
    }
}

/// Plays games of `policy` against `opponent`, half as either side, and returns the positions in which `policy` is to
/// move, weighted by how often it meets them. A `range` of empty squares limits them.
///
/// Fails if a policy fails, if no position is found, or if a range is given for a game without empty squares.
pub fn met_in_games(
    game: &dyn Rules,
    (policy, opponent): (&dyn Policy, &dyn Policy),
    range: Option<(u32, u32)>,
    sampling: Sampling,
    progress: &dyn Progress,
) -> Result<PositionList, Error> {
    let mut met = Vec::new();
    for side in Side::ALL {
        let players = if side == Side::First { [policy, opponent] } else { [opponent, policy] };
        for played in record(game, players, sampling, progress)? {
            let positions = played.moves().iter().map(|&(position, _)| position);
            met.extend(positions.filter(|position| position.side == side));
        }
    }
    let games = 2 * sampling.games;
    let words = format!(
        "those of {} in {games} games against {}, half as each side, seed {}, weighted by how often they occur",
        policy.name(),
        opponent.name(),
        sampling.seed,
    );
    let list = PositionList::new(
        game,
        met,
        Origin { source: "games", words, is_sample: false, remark: None },
    );
    let mut list = match range {
        Some(range) => list.with_empty_squares(range)?,
        None => list,
    };
    if list.positions.is_empty() {
        return Err(Error::new("no game reaches such a position", "allow more empty squares"));
    }
    list.origin.words += &format!("; {:.1} per game", list.occurrences() as f64 / games as f64);
    Ok(list)
}

/// Returns the list of a sample, with a remark if positions are missing.
fn listed(
    game: &dyn Rules,
    positions: Vec<AnyPosition>,
    (sample, source, words): (SampleOf, &'static str, String),
) -> Result<PositionList, Error> {
    if positions.is_empty() {
        return Err(Error::new("no position was sampled", "allow more empty squares"));
    }
    let missing = sample.count - positions.len();
    let remark = (missing > 0)
        .then(|| format!("only {} of {} positions were found", positions.len(), sample.count));
    let origin = Origin { source, words, is_sample: true, remark };
    Ok(PositionList::new(game, positions, origin))
}

/// Returns the range of empty squares, checked. The default of games with scores is 8 to 12, or as far as the start has so many.
fn range_of(game: &dyn Rules, range: Option<(u32, u32)>) -> Result<(u32, u32), Error> {
    let most = squares_of_discs(game)? - game.layer(&game.start().state);
    let (from, to) = range.unwrap_or_else(|| match game.has_scores() {
        true => (8.min(most - 1), 12.min(most - 1)),
        // Searches without scores are faster, and nearer to the end many moves win or none.
        false => (most * 3 / 7, most * 4 / 7),
    });
    // With no square empty the game is over.
    let from = from.max(1);
    if from > to || to > most {
        let what = format!("invalid range of {from} to {to} empty squares: the start has {most}");
        return Err(Error::new(what, "expected two numbers up to that, in ascending order"));
    }
    Ok((from, to))
}

/// Returns the generator of a draw: independent for each seed and number.
fn generator(seed: u64, number: u64) -> SplitMix64 {
    SplitMix64::seed_from_u64(mix(mix(seed) ^ mix(!number).rotate_left(32)))
}

/// Draws a number below `bound`; its bias is below 2⁻³² for bounds below 2³².
fn below(random: &mut SplitMix64, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// Plays random moves up to a layer; `None` if the game ends before, or there.
fn random_game(game: &dyn Rules, layer: u32, random: &mut SplitMix64) -> Option<AnyPosition> {
    let mut position = game.start();
    loop {
        let actions = game.actions(&position.state);
        if actions.is_empty() {
            return None;
        }
        if game.layer(&position.state) >= layer {
            return Some(position);
        }
        position = game.advance(&position, actions[below(random, actions.len() as u64) as usize]);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn is_wanted(number: u32) -> bool {
        number % 3 != 1
    }

    fn of(count: u32, most: u64, seed: u64) -> Vec<u32> {
        let are_wanted = |some: &[u32]| {
            assert!(some.is_sorted_by(|a, b| a < b));
            Ok(some.iter().map(|number| is_wanted(*number)).collect())
        };
        drawn(count, most, seed, &are_wanted).unwrap()
    }

    #[test]
    fn wanted_numbers_are_drawn_evenly_without_repetition() {
        const SEEDS: u64 = 6000;
        // Nine of 13 numbers are wanted; each pair of them is drawn with a chance of 3 in 9 times 2 in 8.
        let (mut each, mut pairs) = ([0u32; 13], [[0u32; 13]; 13]);
        for seed in 0..SEEDS {
            let some = of(13, 3, seed);
            assert!(some.len() == 3 && some.is_sorted_by(|a, b| a < b), "{some:?}");
            for &one in &some {
                each[one as usize] += 1;
                some.iter().for_each(|&other| pairs[one as usize][other as usize] += 1);
            }
        }
        // Within five standard errors.
        let is_near = |found: u32, chance: f64| {
            let (mean, error) = (chance * SEEDS as f64, (SEEDS as f64 * chance).sqrt());
            (f64::from(found) - mean).abs() < 5.0 * error
        };
        for one in 0..13 {
            let wanted = is_wanted(one as u32);
            assert!(is_near(each[one], if wanted { 3.0 / 9.0 } else { 0.0 }) || each[one] == 0);
            assert_eq!(each[one] > 0, wanted);
            for other in (0..13).filter(|&other| other != one) {
                let both = wanted && is_wanted(other as u32);
                assert_eq!(pairs[one][other] > 0, both);
                assert!(!both || is_near(pairs[one][other], 3.0 / 9.0 * 2.0 / 8.0));
            }
        }
    }

    #[test]
    fn all_are_found_and_larger_samples_contain_smaller_ones() {
        for count in [0, 1, 2, 3, 4, 5, 16, 17, 1000, 4096, 4097] {
            let all: Vec<u32> = (0..count).filter(|&number| is_wanted(number)).collect();
            assert_eq!(of(count, u64::MAX, 7), all);
            assert!(of(count, 0, 7).is_empty());
        }
        let (few, more) = (of(100_000, 50, 1), of(100_000, 500, 1));
        assert!(few.len() == 50 && few.iter().all(|number| more.contains(number)));
        assert_ne!(few, of(100_000, 50, 2));
    }

    #[test]
    fn little_is_looked_at() {
        let looked_at = Cell::new(0);
        let are_wanted = |some: &[u32]| {
            looked_at.set(looked_at.get() + some.len());
            Ok(some.iter().map(|number| number % 10 == 0).collect())
        };
        assert_eq!(drawn(u32::MAX, 1000, 0, &are_wanted).unwrap().len(), 1000);
        // One number in ten is wanted.
        assert!((10_000..13_000).contains(&looked_at.get()), "{}", looked_at.get());
    }
}
