//! Values of states for their movers: prospects, and proven bounds of them.

use std::fmt;

use bytemuck::{Pod, Zeroable};

use crate::rules::{Outcome, Score};

/// Score and plies to the end in one ordered number: the higher, the better for the mover.
///
/// The score comes first; in games without scores it is 1, 0 or −1. At scores of 0 and above the shorter game
/// is better, below 0 the longer. Infinite play is longer than any game, so a win by it is worse than every
/// win that ends. With `d` plies to the end a score `s ≥ 0` is `2¹⁷ s − d`, a score `s < 0` is `2¹⁷ s + d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Prospect(i32);

/// Difference between two adjacent scores.
const UNIT: i32 = 1 << 17;
/// Distance of infinite play.
const ENDLESS: i32 = u16::MAX as i32;
/// Lowest of the draws.
const DRAW_WITHOUT_END: i32 = -ENDLESS;

impl Prospect {
    /// Longest distance in plies; solving fails if it is reached.
    pub const MAX_DISTANCE: u16 = 29_998;
    /// Draw by infinite play.
    pub const DRAW: Prospect = Prospect::of(0, ENDLESS);
    /// Win of the mover without an end that can be forced.
    pub const ENDLESS_WIN: Prospect = Prospect::of(1, ENDLESS);
    /// Loss of the mover without an end that can be forced.
    pub const ENDLESS_LOSS: Prospect = Prospect::of(-1, ENDLESS);

    pub(super) const BEST: Prospect = Prospect(i32::MAX);
    pub(super) const WORST: Prospect = Prospect(i32::MIN);

    #[inline]
    const fn of(score: i32, distance: i32) -> Prospect {
        Prospect(if score < 0 { UNIT * score + distance } else { UNIT * score - distance })
    }

    /// Returns a score with the end `distance` plies away; `None` for infinite play.
    pub fn new(score: Score, distance: Option<u16>) -> Prospect {
        Prospect::of(i32::from(score.0), distance.map_or(ENDLESS, i32::from))
    }

    /// Returns a win in `plies` plies, at most [`Prospect::MAX_DISTANCE`], in a game without scores.
    pub const fn win(plies: u16) -> Prospect {
        let longest = Prospect::MAX_DISTANCE;
        Prospect::of(1, if plies > longest { longest } else { plies } as i32)
    }

    /// Returns a loss in `plies` plies, at most [`Prospect::MAX_DISTANCE`], in a game without scores.
    pub const fn loss(plies: u16) -> Prospect {
        Prospect(-Prospect::win(plies).0)
    }

    /// Returns the prospect of an end `plies` plies away, without scores. Draws do not keep the distance.
    pub fn of_end(outcome: Outcome, plies: u16) -> Prospect {
        match outcome {
            Outcome::Win => Prospect::win(plies),
            Outcome::Draw => Prospect::DRAW,
            Outcome::Loss => Prospect::loss(plies),
        }
    }

    /// Returns the number that orders prospects.
    pub fn number(self) -> i32 {
        self.0
    }

    #[inline]
    fn score_of(self) -> i32 {
        (self.0 + UNIT / 2) >> UNIT.trailing_zeros()
    }

    #[inline]
    fn plies(self) -> i32 {
        (UNIT * self.score_of() - self.0).abs()
    }

    /// Returns the score, for the mover; ±1 or 0 in games without scores.
    pub fn score(self) -> Score {
        Score(self.score_of() as i8)
    }

    /// Returns the outcome, for the mover.
    #[inline]
    pub fn outcome(self) -> Outcome {
        Outcome::of(self.score_of().signum() as i8)
    }

    /// Returns `true` if the game ends.
    #[inline]
    pub fn is_end(self) -> bool {
        self.plies() != ENDLESS
    }

    /// Returns the plies to the end; `None` for infinite play.
    #[inline]
    pub fn distance(self) -> Option<u16> {
        self.is_end().then(|| self.plies() as u16)
    }

    /// Returns the value of a move to a state with this prospect, for the player who makes it: the sign is
    /// reversed, and an end is one ply further away. Never rises as the prospect rises, except among draws
    /// that end.
    #[inline]
    pub fn before(self) -> Prospect {
        let plies = self.plies();
        // The furthest end keeps its distance, and so does infinite play.
        let later = i32::from(plies < i32::from(Prospect::MAX_DISTANCE));
        Prospect::of(-self.score_of(), plies + later)
    }

    /// Reverses the order of draws with a distance; its own inverse.
    #[inline]
    fn with_draws_turned(self) -> Prospect {
        match self.0 {
            draw @ DRAW_WITHOUT_END..=0 => Prospect(DRAW_WITHOUT_END - draw),
            other => Prospect(other),
        }
    }
}

/// `a win in 5`, `a draw by infinite play`, `+8 in 5`, for the mover.
impl fmt::Display for Prospect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.score_of() {
            -1 => write!(f, "a loss")?,
            0 => write!(f, "a draw")?,
            1 => write!(f, "a win")?,
            score => write!(f, "{score:+}")?,
        }
        match self.distance() {
            Some(plies) => write!(f, " in {plies}"),
            None => write!(f, " by infinite play"),
        }
    }
}

/// Prospect as kept while exact values are swept: ordered like [`Prospect`]s, except that draws are reversed,
/// so that the lowest of several states is the best to move to. Between wins or losses [`Prospect::before`]
/// reverses the order; of two draws both players prefer the nearer.
pub trait SweepOrder: Copy + Ord + Pod + Send + Sync {
    /// Bound that is worse to move to than any prospect.
    const HIGHEST: Self;
    /// Longest distance that is kept, if it is shorter than that of prospects.
    const LONGEST: Option<u16> = None;
    /// Returns the form in which `prospect` is kept.
    fn of(prospect: Prospect) -> Self;
    /// Returns the prospect.
    fn prospect(self) -> Prospect;
    /// Returns the kept form of [`Prospect::before`].
    fn before(self) -> Self;
    /// Returns the change of the score, or of the distance in plies, whichever is larger.
    fn change_to(self, new: Self) -> f64;
}

impl SweepOrder for Prospect {
    const HIGHEST: Prospect = Prospect::BEST;

    fn of(prospect: Prospect) -> Prospect {
        prospect.with_draws_turned()
    }

    fn prospect(self) -> Prospect {
        self.with_draws_turned()
    }

    #[inline]
    fn before(self) -> Prospect {
        Prospect::before(self.with_draws_turned()).with_draws_turned()
    }

    fn change_to(self, new: Prospect) -> f64 {
        let (old, new) = (self.prospect(), new.prospect());
        let plies = change_of(old.distance(), new.distance());
        f64::from((old.score_of() - new.score_of()).abs().max(plies))
    }
}

/// Returns the change of a distance in plies; 1 if only one of them is known.
pub(super) fn change_of(old: Option<u16>, new: Option<u16>) -> i32 {
    match (old, new) {
        (Some(old), Some(new)) => i32::from(old.abs_diff(new)),
        (old, new) => i32::from(old != new),
    }
}

/// Prospect in 16 bits as kept in sweeps, for ends at most [`Short::MOST_PLIES`] plies away: a win by `s` in `d` plies
/// is `256 s + 127 − d`, a draw `d`, a loss `256 s + 127 + d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(transparent)]
pub struct Short(i16);

impl Short {
    /// Longest distance in plies.
    pub const MOST_PLIES: u16 = 127;

    /// Returns the score and the plies to the end.
    #[inline(always)]
    fn parts(self) -> (i16, i16) {
        let (score, low) = (self.0 >> 8, self.0 & 255);
        (score, if score == 0 { low } else { (low - 127).abs() })
    }

    /// Returns the number that orders these prospects.
    pub fn number(self) -> i16 {
        self.0
    }

    /// Returns the prospect with a [`number`](Short::number).
    pub fn of_number(number: i16) -> Short {
        Short(number)
    }
}

impl SweepOrder for Short {
    const HIGHEST: Short = Short(i16::MAX);
    const LONGEST: Option<u16> = Some(Short::MOST_PLIES);

    fn of(prospect: Prospect) -> Short {
        let (score, plies) = (prospect.score_of() as i16, prospect.plies() as i16);
        Short(match score {
            1.. => 256 * score + 127 - plies,
            0 => plies,
            _ => 256 * score + 127 + plies,
        })
    }

    #[inline(always)]
    fn prospect(self) -> Prospect {
        let (score, plies) = self.parts();
        Prospect::of(i32::from(score), i32::from(plies))
    }

    #[inline]
    fn before(self) -> Short {
        Short(match self.0 {
            128.. => 255 - self.0,
            0..=127 => self.0 + 1,
            _ => 253 - self.0,
        })
    }

    #[inline(always)]
    fn change_to(self, new: Short) -> f64 {
        let ((score, plies), (new_score, new_plies)) = (self.parts(), new.parts());
        f64::from((new_score - score).abs().max((new_plies - plies).abs()))
    }
}

/// Proven bounds of a state's [`Prospect`], both for its mover: it is at least `lower` and at most `upper`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Value {
    /// Prospect of the mover if everything unknown turns out badly.
    pub lower: Prospect,
    /// Prospect of the mover if everything unknown turns out well.
    pub upper: Prospect,
}

impl Value {
    /// Bounds of a state without scores whose moves were not followed: a loss in 2 plies to a win in 1.
    pub const CUT_OFF: Value = Value { lower: Prospect::loss(2), upper: Prospect::win(1) };

    /// Returns a value with both bounds equal.
    pub const fn exactly(prospect: Prospect) -> Value {
        Value { lower: prospect, upper: prospect }
    }

    /// Returns the value with these bounds of the score; `distance` is given if it is exact.
    pub fn of_scores(lower: Score, upper: Score, distance: Option<u16>) -> Value {
        if lower == upper && distance.is_some() {
            return Value::exactly(Prospect::new(lower, distance));
        }
        // An unknown distance is the worst possible in the lower bound and the best possible in the upper.
        let worst = if lower.0 < 0 { Some(0) } else { None };
        let best = if upper.0 < 0 { None } else { Some(0) };
        Value { lower: Prospect::new(lower, worst), upper: Prospect::new(upper, best) }
    }

    /// Returns the outcome, if it is proven.
    pub fn outcome(self) -> Option<Outcome> {
        let (lower, upper) = (self.lower.outcome(), self.upper.outcome());
        (lower == upper).then_some(lower)
    }

    /// Returns the score, if it is proven; ±1 or 0 in games without scores.
    pub fn score(self) -> Option<Score> {
        let (lower, upper) = (self.lower.score(), self.upper.score());
        (lower == upper).then_some(lower)
    }

    /// Returns the plies to the end, if they are known exactly; `None` for infinite play.
    pub fn distance(self) -> Option<u16> {
        (self.lower == self.upper).then_some(self.lower)?.distance()
    }

    /// Returns the fewest plies to a proven win or loss; `None` if no end is proven.
    pub fn distance_lower(self) -> Option<u16> {
        match self.outcome()? {
            Outcome::Win => self.upper.distance(),
            Outcome::Draw => None,
            Outcome::Loss => self.lower.distance(),
        }
    }

    /// Returns the most plies to a proven win or loss; `None` if play may be infinite.
    pub fn distance_upper(self) -> Option<u16> {
        match self.outcome()? {
            Outcome::Win => self.lower.distance(),
            Outcome::Draw => None,
            Outcome::Loss => self.upper.distance(),
        }
    }

    /// Returns a sort key of moves by their values for the player who makes them: the proven score first,
    /// then the possible score, then the distance of the end.
    pub fn preference(self) -> (Score, Score, Prospect, Prospect) {
        (self.lower.score(), self.upper.score(), self.lower, self.upper)
    }

    /// Returns the value of a move to a state with these bounds that a search found, for the player who makes it: in
    /// games whose play always ends, with an unknown distance.
    pub fn turned(self, is_layered: bool) -> Value {
        match is_layered {
            true => Value::of_scores(-self.upper.score(), -self.lower.score(), None),
            false => self.before(),
        }
    }

    /// Returns `true` if the bounds are those of some value with scores of at most `most` and possible distances.
    pub fn is_within(self, most: Score) -> bool {
        let most = UNIT * i32::from(most.0);
        let is_possible = |bound: Prospect| {
            let is_near = || bound.distance().is_none_or(|plies| plies <= Prospect::MAX_DISTANCE);
            (-most - ENDLESS..=most).contains(&bound.0) && is_near()
        };
        self.lower <= self.upper && is_possible(self.lower) && is_possible(self.upper)
    }

    /// Returns the value of a move to a state with these bounds, for the player who makes it.
    #[inline]
    pub fn before(self) -> Value {
        let lower = self.upper.before();
        // Most bounds are equal.
        let upper = if self.lower == self.upper { lower } else { self.lower.before() };
        Value { lower, upper }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: u16 = Prospect::MAX_DISTANCE;

    fn scored() -> impl Iterator<Item = (Score, Option<u16>)> {
        let distances = (0..=300u16).chain([LAST - 1, LAST]).map(Some).chain([None]);
        distances.flat_map(|d| (-64..=64i8).map(move |s| (Score(s), d)))
    }

    #[test]
    fn prospects_keep_score_and_distance() {
        for (score, distance) in scored() {
            let prospect = Prospect::new(score, distance);
            assert_eq!((prospect.score(), prospect.distance()), (score, distance));
            assert_eq!(prospect.outcome(), score.outcome());
        }
        assert_eq!(Prospect::win(u16::MAX), Prospect::win(LAST));
    }

    #[test]
    fn better_prospects_are_higher() {
        let order = [
            Prospect::new(Score(-2), None),
            Prospect::loss(0),
            Prospect::loss(LAST),
            Prospect::ENDLESS_LOSS,
            Prospect::DRAW,
            Prospect::new(Score(0), Some(9)),
            Prospect::new(Score(0), Some(1)),
            Prospect::ENDLESS_WIN,
            Prospect::win(LAST),
            Prospect::win(0),
            Prospect::new(Score(2), Some(LAST)),
            Prospect::BEST,
        ];
        assert!(order.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_move_turns_the_sign_and_puts_the_end_off() {
        for (score, distance) in scored() {
            let later = distance.map(|plies| (plies + 1).min(LAST));
            let before = Prospect::new(score, distance).before();
            assert_eq!(before, Prospect::new(-score, later), "{score} in {distance:?}");
        }
        let mut all: Vec<Prospect> =
            scored().map(|(score, distance)| Prospect::new(score, distance)).collect();
        all.sort_unstable();
        let before: Vec<Prospect> = all.iter().map(|p| p.before()).collect();
        // Wins and losses reverse their order. Between two draws, both players prefer the shorter.
        let decided = |p: &Prospect| p.outcome() != Outcome::Draw;
        let before: Vec<&Prospect> = before.iter().filter(|p| decided(p)).collect();
        assert!(before.is_sorted_by(|a, b| a >= b));
    }

    /// Checks that the lowest kept form is the best to move to, and that it converts back.
    fn is_turned<T: SweepOrder + PartialEq + std::fmt::Debug>(all: &[Prospect]) {
        for &a in all {
            assert_eq!(T::of(a).prospect(), a);
            assert_eq!(T::of(a).before(), T::of(a.before()), "{a:?}");
            assert!(T::of(a) < T::HIGHEST);
            for &b in all {
                let change = T::of(a).change_to(T::of(b));
                assert_eq!(change, T::of(b).change_to(T::of(a)));
                let apart = |(a, b): (i32, i32)| (a - b).abs();
                let plies = |p: Prospect| p.distance().map_or(-1, i32::from);
                if a.is_end() && b.is_end() {
                    let scores = (i32::from(a.score().0), i32::from(b.score().0));
                    let most = apart(scores).max(apart((plies(a), plies(b))));
                    assert_eq!(change, f64::from(most), "{a:?} {b:?}");
                }
                let best = a.before().max(b.before());
                assert_eq!(T::of(a).min(T::of(b)).before().prospect(), best, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn the_best_state_to_move_to_is_the_lowest_that_is_kept() {
        let with = |scores: &[i8], plies: &[Option<u16>]| -> Vec<Prospect> {
            let of = |&score: &i8| plies.iter().map(move |&d| Prospect::new(Score(score), d));
            scores.iter().flat_map(of).collect()
        };
        let plies = [Some(0), Some(1), Some(7), Some(LAST - 1), Some(LAST), None];
        is_turned::<Prospect>(&with(&[-2, -1, 0, 1, 2], &plies));
        // One ply before an end must fit too.
        let plies = [0, 1, 2, 60, Short::MOST_PLIES - 1].map(Some);
        is_turned::<Short>(&with(&[-127, -2, -1, 0, 1, 2, 64, 127], &plies));
    }

    #[test]
    fn distances_are_bounded_where_the_outcome_is_proven() {
        let between = |lower, upper| Value { lower, upper };
        let bounds = |v: Value| (v.outcome(), v.distance_lower(), v.distance_upper());
        let win = between(Prospect::win(9), Prospect::win(3));
        assert_eq!(bounds(win), (Some(Outcome::Win), Some(3), Some(9)));
        assert_eq!(win.distance(), None);
        assert_eq!(bounds(win.before()), (Some(Outcome::Loss), Some(4), Some(10)));
        let late = between(Prospect::ENDLESS_WIN, Prospect::win(5));
        assert_eq!(bounds(late), (Some(Outcome::Win), Some(5), None));
        assert_eq!(bounds(late.before()), (Some(Outcome::Loss), Some(6), None));
        assert_eq!(bounds(between(Prospect::DRAW, Prospect::win(5))), (None, None, None));
        assert_eq!(Value::exactly(Prospect::loss(8)).distance(), Some(8));
        let draw = Value::exactly(Prospect::DRAW);
        assert_eq!((bounds(draw), draw.distance()), ((Some(Outcome::Draw), None, None), None));
    }

    #[test]
    fn a_proven_score_may_have_an_unknown_distance() {
        for score in [-3, 0, 3].map(Score) {
            let value = Value::of_scores(score, score, None);
            assert_eq!((value.score(), value.distance()), (Some(score), None));
            let known = Value::of_scores(score, score, Some(4));
            assert!(value.lower <= known.lower && known.upper <= value.upper);
            assert_eq!(known.before().distance(), Some(5));
        }
        let open = Value::of_scores(Score(-4), Score(2), None);
        assert_eq!((open.outcome(), open.score(), open.distance()), (None, None, None));
        assert_eq!(open.before().preference().0, Score(-2));
    }
}
