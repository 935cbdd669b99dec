//! Values that forced wins of either player prove.

use super::table::UNBOUNDED;
use super::{
    MateLine, MateOptions, MateResult, MateRules, MateSearch, MateVerdict, Role, board_of,
};
use crate::games::shogi::{Board, Ending, Shogi};
use crate::rules::{AnyState, End, MOST_WIN_PLIES, Outcome, Rules, SearchLimits, SearchOptions};
use crate::search::{MateByChecks, SearchResult, SearchTask, Searcher};
use crate::solve::{Prospect, Value};
use std::sync::Arc;

/// Searcher of the games of the shogi family.
///
/// Wins by checks are searched for at any length, wins with every move within [`SearchOptions::win_plies`]. So a value
/// is exact if it is a win of so many plies, and otherwise has the bounds that both searches prove. Each search has a
/// table of its own: its result depends on the position alone unless a limit stops it; with one
/// thread a limit of positions gives the same result each time.
pub(in crate::search) struct MateValues {
    game: Arc<dyn Rules>,
    rules: MateRules,
    memory: usize,
    threads: usize,
    win_plies: u32,
}

/// Search for the wins of a position.
struct Wins<'a> {
    game: &'a dyn Rules,
    state: &'a AnyState,
    search: MateSearch<'a>,
    board: Board,
    options: MateOptions<'a>,
    nodes: u64,
}

/// Win that was found.
struct Win {
    role: Role,
    plies: u32,
    line: MateLine,
}

impl Wins<'_> {
    /// Searches for the shortest win within what is left of the limits; the verdict has the plies of the line, which
    /// may be shorter than the proof.
    ///
    /// # Panics
    ///
    /// If the line contradicts the proof.
    fn shortest(
        &mut self,
        role: Role,
        checks_only: bool,
        max_plies: Option<u32>,
    ) -> (MateVerdict, Option<Win>) {
        let nodes = self.options.nodes.saturating_sub(self.nodes);
        let options = MateOptions { role, checks_only, max_plies, nodes, ..self.options };
        let MateResult { mut verdict, nodes } = self.search.shortest(&self.board, &options);
        self.nodes += nodes;
        let MateVerdict::Mate { plies, first, is_shortest } = &mut verdict else {
            return (verdict, None);
        };
        let mut line = self.search.line(&self.board, &options, *plies, nodes);
        // The proof has the first move even if no time is left for the line.
        if let (Some(first), true) = (*first, line.actions.is_empty()) {
            line.actions.push(first);
            line.missing_plies -= 1;
        }
        let length = length(self.game, self.state, &options, &line);
        let is_proven = |length: &u32| length == plies || !*is_shortest && length < plies;
        *plies = length.filter(is_proven).expect("a line wins within the plies of its proof");
        let win = Win { role, plies: *plies, line };
        (verdict, Some(win))
    }
}

/// Replays the line of a win by the rules of the game, and returns its length with the missing plies; `None` if a move
/// is illegal or gives no check where it must, or if the line ends without a win.
fn length(
    game: &dyn Rules,
    state: &AnyState,
    options: &MateOptions,
    line: &MateLine,
) -> Option<u32> {
    let mates_end = game.typed::<Shogi>()?.variant().ending == Ending::Mate;
    let (mut state, mut role) = (*state, options.role);
    for &action in &line.actions {
        if !game.actions(&state).contains(&action) {
            return None;
        }
        state = game.play(&state, action);
        // A lion that reaches the last rank wins without check.
        let is_lost = || game.result(&state) == Some(Outcome::Loss);
        let is_forcing = game.in_check(&state) || !mates_end && is_lost();
        if options.checks_only && role == Role::Attacks && !is_forcing {
            return None;
        }
        role = role.other();
    }
    let is_won = |end: &End| (end.outcome == Outcome::Win) == (role == Role::Attacks);
    let rest = match line.missing_plies {
        0 => game.end(&state).filter(is_won)?.plies.into(),
        plies => plies,
    };
    Some(line.actions.len() as u32 + rest)
}

impl MateValues {
    /// Returns the searcher; `None` for games outside the shogi family.
    pub(in crate::search) fn new(game: &dyn Rules, options: &SearchOptions) -> Option<MateValues> {
        let SearchOptions { memory, threads, win_plies, .. } = *options;
        let win_plies = win_plies.min(MOST_WIN_PLIES);
        let rules = MateRules::of_rules(game)?;
        Some(MateValues { game: game.shared(), rules, memory, threads, win_plies })
    }
}

impl Searcher for MateValues {
    fn search(&self, state: &AnyState, _: &SearchTask, limits: &SearchLimits) -> SearchResult {
        let game = &*self.game;
        if let Some(End { outcome, plies }) = game.end(state) {
            let value = Value::exactly(Prospect::of_end(outcome, plies));
            return SearchResult { value, line: Vec::new(), nodes: 0, mate: None };
        }
        let options = MateOptions {
            nodes: limits.nodes.unwrap_or(u64::MAX),
            threads: self.threads,
            deadline: limits.deadline,
            stop: limits.stop,
            ..MateOptions::default()
        };
        let search = MateSearch::new(&self.rules, self.memory);
        let board = board_of(game, state).expect("it is a game of the shogi family");
        let mut wins = Wins { game, state, search, board, options, nodes: 0 };
        let (verdict, mut win) = wins.shortest(Role::Attacks, true, None);
        let line = win.as_ref().map_or(MateLine::default(), |win| win.line.clone());
        let mate = MateByChecks { verdict, line };
        if win.is_none() {
            win = wins.shortest(Role::Defends, true, None).1;
        }
        // Plies within which the mover and the opponent are proven not to win.
        let mut without = [0, 0];
        for role in [Role::Attacks, Role::Defends] {
            let most = match &win {
                None => self.win_plies,
                Some(win) if win.role == role => self.win_plies.min(win.plies - 1),
                Some(_) => continue,
            };
            let (verdict, sooner) = wins.shortest(role, false, Some(most));
            without[role as usize] = match (&verdict, &sooner) {
                (_, Some(sooner)) => sooner.plies as u16 - 1,
                (MateVerdict::NoMate, None) => most as u16,
                (_, None) => 0,
            };
            win = sooner.or(win);
        }
        // The winner makes the last move.
        let [upper, lower] = [(without[0] + 1) | 1, (without[1] + 2) & !1];
        let mut value = Value { lower: Prospect::loss(lower), upper: Prospect::win(upper) };
        let is_known = |win: &Win| win.plies < UNBOUNDED.into();
        let plies = win.as_ref().filter(|win| is_known(win)).map(|win| win.plies as u16);
        match win.as_ref().map(|win| win.role) {
            Some(Role::Attacks) => {
                value.lower = plies.map_or(Prospect::ENDLESS_WIN, Prospect::win);
            }
            Some(Role::Defends) => {
                value.upper = plies.map_or(Prospect::ENDLESS_LOSS, Prospect::loss);
            }
            None => {}
        }
        let line = win.map_or(Vec::new(), |win| win.line.actions);
        SearchResult { value, line, nodes: wins.nodes, mate: Some(mate) }
    }
}
