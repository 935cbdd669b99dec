//! Estimates where nothing is proven: alpha-beta to a few plies, which an evaluation of the game ends.
//!
//! ```
//! use yomikiri::registry::othello;
//! use yomikiri::rules::SearchLimits;
//! use yomikiri::search::estimate::{Wanted, estimate};
//!
//! let game = othello("8")?;
//! let limits = SearchLimits { nodes: Some(20_000), ..SearchLimits::default() };
//! let found = estimate(&*game, &game.start(), &Wanted::best(), &limits, &mut |_| {});
//! // The four openings are mirror images, so none is better.
//! assert!(found.plies >= 4 && found.moves.len() == 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::rules::{
    Action, AnyPosition, AnyState, Empties, End, Outcome, Rules, SearchLimits, Side, Walk,
};

/// Nodes of the estimate that is shown where a value is not proven.
pub const ESTIMATE_NODES: u64 = 20_000;

/// Worth of a win in no plies; every evaluation is far smaller.
const WIN: i32 = 1 << 28;
/// Worth below which no line was searched.
const BEYOND: i32 = 1 << 29;
/// Least worth of a won position.
const LEAST_WIN: i32 = WIN - (1 << 16);
/// Most plies of a search.
const MOST_PLIES: u32 = 100;
/// Nodes between two looks at the limits.
const PATIENCE: u64 = 256;

/// Moves and plies that an estimate must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Number of best moves with an estimate of their own.
    pub moves: usize,
    /// Most plies.
    pub plies: u32,
    /// Rule for empty squares.
    pub empties: Empties,
}

impl Wanted {
    /// Returns the wish for the best move, as deep as the limits allow.
    pub fn best() -> Wanted {
        Wanted { moves: 1, plies: MOST_PLIES, empties: Empties::default() }
    }
}

/// Worth of a move to the player who makes it, in hundredths of a point of the score or of the smallest piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Worth(i32);

impl Worth {
    /// Returns the hundredths; `None` for a forced win or loss of a game without scores.
    pub fn hundredths(self) -> Option<i32> {
        (self.0.abs() < LEAST_WIN).then_some(self.0)
    }

    /// Returns the outcome that the searched moves force in a game without scores, and its plies.
    pub fn forced(self) -> Option<(Outcome, u32)> {
        let plies = (WIN - self.0.abs()) as u32;
        let outcome = if self.0 > 0 { Outcome::Win } else { Outcome::Loss };
        self.hundredths().is_none().then_some((outcome, plies))
    }
}

/// Move with its estimate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EstimatedMove {
    /// Worth to the player who makes it.
    pub worth: Worth,
    /// The move, and those expected after it.
    pub line: Vec<Action>,
}

/// Result of the deepest search that was finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The best moves, best first; none if the game is over.
    pub moves: Vec<EstimatedMove>,
    /// Plies that were searched, the move among them.
    pub plies: u32,
    /// Number of positions looked at.
    pub nodes: u64,
    /// `true` if every line was searched to the end of the game, so that nothing is estimated.
    pub is_complete: bool,
}

/// Estimates the moves of a position by one thread: to one ply, then one more each time until a limit is reached, so with
/// a limit of nodes it is the same each time. The first ply is always finished. `report` receives each result.
///
/// History does not count: a position that repeats is searched like another.
pub fn estimate(
    game: &dyn Rules,
    position: &AnyPosition,
    wanted: &Wanted,
    limits: &SearchLimits,
    report: &mut dyn FnMut(&Estimate),
) -> Estimate {
    let mut run = Run::new(game, &position.state, wanted, limits);
    let mut roots: Vec<EstimatedMove> = game
        .actions(&position.state)
        .into_iter()
        .map(|action| EstimatedMove { worth: Worth(0), line: vec![action] })
        .collect();
    if game.evaluation(&position.state).is_none() {
        // If nothing is known the middle is the better guess.
        roots.sort_by_key(|root| from_the_middle(game, position, root.line[0]));
    }
    let mut found = Estimate { moves: Vec::new(), plies: 0, nodes: 0, is_complete: true };
    if roots.is_empty() {
        return found;
    }
    for plies in 1..=wanted.plies.clamp(1, MOST_PLIES) {
        run.must_finish = plies == 1;
        run.met_horizon = false;
        let Some(best) = run.root(&mut roots, plies, wanted.moves) else { break };
        let is_forced = best.iter().all(|best| best.worth.forced().is_some());
        let is_complete = !run.met_horizon;
        found = Estimate { moves: best, plies, nodes: run.nodes, is_complete };
        report(&found);
        if is_complete || is_forced {
            break;
        }
    }
    found.nodes = run.nodes;
    found
}

/// Returns the distance of a move's square from the middle of the board, in halves of a square.
fn from_the_middle(game: &dyn Rules, position: &AnyPosition, action: Action) -> usize {
    let (rows, columns) = game.shape();
    let to = usize::from(game.move_squares(position, action).to.unwrap_or_default());
    let off = |at: usize, count: usize| (2 * at + 1).abs_diff(count);
    match columns {
        0 => 0,
        _ => off(to % columns, columns) + off(to / columns, rows),
    }
}

/// A search was cut off by a limit.
struct Stopped;

/// One estimate.
struct Run<'a> {
    walk: Box<dyn Walk + 'a>,
    limits: &'a SearchLimits<'a>,
    empties: Empties,
    has_scores: bool,
    nodes: u64,
    /// `true` while limits do not count.
    must_finish: bool,
    /// `true` if a position that goes on was evaluated.
    met_horizon: bool,
    /// Cut-offs by each action, for each side from the root's mover.
    history: [Vec<u64>; 2],
    /// Best line from each ply on.
    lines: Vec<Vec<Action>>,
    /// Moves of each ply.
    moves: Vec<Vec<Action>>,
}

impl<'a> Run<'a> {
    fn new(
        game: &'a dyn Rules,
        state: &AnyState,
        wanted: &Wanted,
        limits: &'a SearchLimits<'a>,
    ) -> Run<'a> {
        let plies = MOST_PLIES as usize + 1;
        let [lines, moves] = [(); 2].map(|()| vec![Vec::new(); plies]);
        Run {
            walk: game.walk(state),
            limits,
            empties: wanted.empties,
            has_scores: game.has_scores(),
            nodes: 0,
            must_finish: true,
            met_horizon: false,
            history: Side::ALL.map(|_| vec![0; game.action_count()]),
            lines,
            moves,
        }
    }

    /// Searches the moves of the root, best first by the search before; returns the best `count`. The others are sorted
    /// behind them for the next search.
    fn root(
        &mut self,
        roots: &mut [EstimatedMove],
        plies: u32,
        count: usize,
    ) -> Option<Vec<EstimatedMove>> {
        let mut found: Vec<EstimatedMove> = Vec::with_capacity(roots.len());
        for root in roots.iter() {
            // A move that cannot come among the best is bounded only.
            let alpha = match found.get(count.max(1) - 1) {
                Some(last) => last.worth.0,
                None => -BEYOND,
            };
            let action = root.line[0];
            self.walk.push(action);
            let worth = self.value(plies - 1, 1, -BEYOND, -alpha);
            self.walk.pop();
            let worth = Worth(-worth.ok()?);
            let line = [action].into_iter().chain(self.lines[1].iter().copied()).collect();
            let at = found.partition_point(|other| other.worth >= worth);
            found.insert(at, EstimatedMove { worth, line });
        }
        roots.clone_from_slice(&found);
        found.truncate(count.max(1));
        Some(found)
    }

    /// Returns the worth of the current position to its mover, `ply` plies after the root, if it lies between `alpha` and
    /// `beta`; otherwise a bound on the same side.
    fn value(&mut self, plies: u32, ply: usize, alpha: i32, beta: i32) -> Result<i32, Stopped> {
        self.nodes += 1;
        let looks = self.nodes.is_multiple_of(PATIENCE)
            || self.limits.nodes.is_some_and(|most| self.nodes >= most);
        if looks && !self.must_finish && self.limits.are_reached(self.nodes) {
            return Err(Stopped);
        }
        self.lines[ply].clear();
        if let Some(End { outcome, plies: more }) = self.walk.end() {
            return Ok(match self.has_scores {
                true => 100 * i32::from(self.walk.score(self.empties).0),
                false => i32::from(outcome.value()) * (WIN - ply as i32 - i32::from(more)),
            });
        }
        if plies == 0 {
            self.met_horizon = true;
            return Ok(self.walk.evaluation());
        }
        let mut moves = std::mem::take(&mut self.moves[ply]);
        self.walk.actions(&mut moves);
        let side = ply % 2;
        let history = &self.history[side];
        moves.sort_by_key(|&action| std::cmp::Reverse(history[usize::from(action.0)]));
        let mut best = Ok(-BEYOND);
        for &action in &moves {
            let least = best.as_ref().map_or(alpha, |&best: &i32| best.max(alpha));
            self.walk.push(action);
            let worth = self.value(plies - 1, ply + 1, -beta, -least);
            self.walk.pop();
            let Ok(worth) = worth.map(|worth| -worth) else {
                best = Err(Stopped);
                break;
            };
            if best.as_ref().is_ok_and(|&best| worth <= best) {
                continue;
            }
            best = Ok(worth);
            let [line, after] = self.lines.get_disjoint_mut([ply, ply + 1]).expect("two plies");
            line.clear();
            line.push(action);
            line.extend_from_slice(after);
            if worth >= beta {
                self.history[side][usize::from(action.0)] += u64::from(plies * plies);
                break;
            }
        }
        self.moves[ply] = moves;
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Games;
    use crate::rules::Position;

    const NODES: SearchLimits<'_> = SearchLimits { nodes: None, deadline: None, stop: None };

    /// Returns the worth of a position to its mover by every line of so many plies.
    fn plain(game: &dyn Rules, state: &AnyState, plies: u32, ply: i32) -> i32 {
        if let Some(End { outcome, plies: more }) = game.end(state) {
            return match game.has_scores() {
                true => 100 * i32::from(game.score(state, Empties::Uncounted).0),
                false => i32::from(outcome.value()) * (WIN - ply - i32::from(more)),
            };
        }
        if plies == 0 {
            return game.evaluation(state).unwrap_or(0);
        }
        let mut best = -BEYOND;
        game.moves(state, |_, after| best = best.max(-plain(game, &after, plies - 1, ply + 1)));
        best
    }

    /// Returns positions of a game, some near its end.
    fn positions(game: &dyn Rules) -> Vec<AnyPosition> {
        let (mut found, mut random) = (Vec::new(), 1u64);
        for _ in 0..6 {
            let mut at = game.start();
            while game.result(&at.state).is_none() && found.len() < 60 {
                found.push(at);
                let actions = game.actions(&at.state);
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                at = game.advance(&at, actions[(random >> 33) as usize % actions.len()]);
            }
        }
        found
    }

    #[test]
    fn worths_are_those_of_plain_minimax_and_lines_lead_to_them() {
        for name in ["othello-4x5", "othello-6x6", "minishogi", "animal-shogi", "connect-four"] {
            let game = Games::default().named(name).unwrap();
            let game = &*game;
            for position in positions(game) {
                let plies = 3;
                let wanted = Wanted { moves: usize::MAX, plies, ..Wanted::best() };
                let all = estimate(game, &position, &wanted, &NODES, &mut |_| {});
                let mut worths = Vec::new();
                game.moves(&position.state, |action, after| {
                    worths.push((action, -plain(game, &after, all.plies - 1, 1)));
                });
                assert_eq!(all.moves.len(), worths.len());
                assert!(all.moves.is_sorted_by(|one, other| one.worth >= other.worth));
                for EstimatedMove { worth, line } in &all.moves {
                    assert!(worths.contains(&(line[0], worth.0)), "{name}: {line:?} {worth:?}");
                    let mut at = position;
                    for &action in line {
                        assert!(game.actions(&at.state).contains(&action));
                        at = game.advance(&at, action);
                    }
                    let rest = all.plies - line.len() as u32;
                    let sign = if line.len().is_multiple_of(2) { 1 } else { -1 };
                    let end = sign * plain(game, &at.state, rest, line.len() as i32);
                    assert_eq!(end, worth.0);
                }
                let wanted = Wanted { moves: 1, ..wanted };
                let one = estimate(game, &position, &wanted, &NODES, &mut |_| {});
                assert_eq!((one.moves.len(), one.moves[0].worth), (1, all.moves[0].worth));
            }
        }
    }

    #[test]
    fn a_limit_of_nodes_gives_the_same_each_time_and_the_end_is_complete() {
        let game = Games::default().named("othello-8x8").unwrap();
        let limits = SearchLimits { nodes: Some(ESTIMATE_NODES), ..NODES };
        let found = || estimate(&*game, &game.start(), &Wanted::best(), &limits, &mut |_| {});
        assert_eq!(found(), found());
        assert!(found().nodes <= ESTIMATE_NODES && found().plies > 3 && !found().is_complete);
        // Whatever the limit is, one ply is finished.
        let none = SearchLimits { nodes: Some(0), ..NODES };
        assert_eq!(estimate(&*game, &game.start(), &Wanted::best(), &none, &mut |_| {}).plies, 1);
        let game = Games::default().named("tic-tac-toe").unwrap();
        let whole = estimate(&*game, &game.start(), &Wanted::best(), &NODES, &mut |_| {});
        assert!(whole.is_complete && whole.moves[0].worth == Worth(0));
        let over = Position { state: crossed(&*game), side: Side::Second };
        assert!(estimate(&*game, &over, &Wanted::best(), &NODES, &mut |_| {}).moves.is_empty());
    }

    /// Returns a state of tic-tac-toe with a line.
    fn crossed(game: &dyn Rules) -> AnyState {
        [0, 3, 1, 4, 2]
            .into_iter()
            .fold(game.start().state, |at, square| game.play(&at, Action(square)))
    }
}
