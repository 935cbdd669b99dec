//! A game whose states and moves are listed, for tests of whatever no built-in game has.

use yomikiri::rules::{Action, Empties, Facts, Game, Mobility, Outcome, Position, Score, Side};

/// A state of [`Listed`].
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub layer: u32,
    /// Successors.
    pub moves: Vec<u32>,
    /// Outcome, if the game is over.
    pub end: Option<Outcome>,
    /// Successor by a pass, which is then the only move.
    pub pass: Option<u32>,
    /// Number of moves that the state claims, if it is wrong.
    pub claims: Option<u32>,
}

/// A game with numbered states and listed moves. It starts in state 0.
#[derive(Clone, Default)]
pub struct Listed {
    pub nodes: Vec<Node>,
    pub has_layers: bool,
    pub is_ranked: bool,
    /// `true` if the ranks of states 3 and 4 return each other's state.
    pub is_muddled: bool,
    pub has_scores: bool,
    /// `true` if the game has layers, scores and long keys of which it does not say that it has them.
    pub is_careless: bool,
    /// Bits of a key below the number of the state.
    pub key_shift: u32,
    /// `true` if positions are written like `state 3, Second to move`.
    pub has_text: bool,
}

impl Listed {
    fn node(&self, state: u32) -> &Node {
        &self.nodes[state as usize]
    }
}

const PASS: Action = Action(400);

impl Game for Listed {
    type State = u32;

    fn name(&self) -> String {
        "listed".to_string()
    }
    fn start(&self) -> Position<u32> {
        Position { state: 0, side: Side::First }
    }
    fn action_count(&self) -> usize {
        let claims = self.nodes.iter().filter_map(|node| node.claims);
        claims.fold(401, u32::max) as usize
    }
    fn moves(&self, &state: &u32, mut each: impl FnMut(Action, u32)) {
        let Node { moves, pass, .. } = self.node(state);
        moves.iter().zip(0..).for_each(|(&after, action)| each(Action(action), after));
        pass.iter().for_each(|&after| each(PASS, after));
    }
    fn result(&self, &state: &u32) -> Option<Outcome> {
        self.node(state).end
    }
    fn key(&self, &state: &u32) -> u128 {
        u128::from(state) << self.key_shift
    }
    fn state(&self, key: u128) -> Option<u32> {
        let state = (key >> self.key_shift) as u32;
        ((state as usize) < self.nodes.len() && self.key(&state) == key).then_some(state)
    }
    fn facts(&self) -> Facts {
        let key_bits = if self.is_careless { 64 } else { self.key_shift + 32 };
        Facts { key_bits, ..Facts::default() }
    }
    fn is_pass(&self, action: Action) -> bool {
        action == PASS
    }
    fn swapped(&self, &state: &u32) -> Option<u32> {
        let back = |node: &Node| node.pass == Some(state);
        let passes = || self.nodes.iter().position(back).map(|state| state as u32);
        self.node(state).pass.or_else(passes)
    }
    fn mobility(&self, &state: &u32) -> Mobility {
        let Node { moves, pass, claims, .. } = self.node(state);
        match (claims.unwrap_or(moves.len() as u32), pass) {
            (_, Some(_)) => Mobility::Pass,
            (0, None) => Mobility::Over,
            (moves, None) => Mobility::Moves(moves),
        }
    }

    // ---- layers ----
    fn layer_unit(&self) -> Option<&'static str> {
        self.has_layers.then_some("steps")
    }
    fn layer(&self, &state: &u32) -> u32 {
        if self.has_layers || self.is_careless { self.node(state).layer } else { 0 }
    }

    // ---- scores ----
    fn max_score(&self) -> Option<Score> {
        self.has_scores.then_some(Score(7))
    }
    /// Scores a win or loss by one to seven points.
    fn score(&self, &state: &u32, _empties: Empties) -> Score {
        let outcome = self.node(state).end.map_or(0, Outcome::value);
        Score(if self.has_scores || self.is_careless {
            outcome * (state % 7 + 1) as i8
        } else {
            outcome
        })
    }

    // ---- notation ----
    fn action_name(&self, _side: Side, action: Action) -> String {
        if action == PASS { "pass".to_string() } else { action.0.to_string() }
    }
    fn written(&self, position: &Position<u32>) -> Vec<(&'static str, String)> {
        let Position { state, side } = *position;
        let own = format!("state {state}, {} to move", self.side_name(side));
        let [first, second] = self.facts().words(self.key(&state));
        let key = match self.facts().key_words() {
            1 => format!("{first:x} {}", self.side_name(side)),
            _ => format!("{first:x}.{second:x} {}", self.side_name(side)),
        };
        let mut all = vec![("text", own), ("line", key)];
        all.retain(|(name, _)| self.has_text || *name == "line");
        all
    }
    fn read_position(&self, text: &str) -> Result<Option<Position<u32>>, yomikiri::error::Error> {
        let read = || {
            let (state, side) =
                text.strip_prefix("state ")?.strip_suffix(" to move")?.split_once(", ")?;
            let state = state.parse().ok().filter(|&state| (state as usize) < self.nodes.len())?;
            let side = Side::ALL.into_iter().find(|&named| self.side_name(named) == side)?;
            self.has_text.then_some(Position { state, side })
        };
        Ok(read())
    }

    // ---- ranks ----
    fn rank_count(&self) -> Option<u32> {
        self.is_ranked.then_some(self.nodes.len() as u32)
    }
    fn rank(&self, &state: &u32) -> Option<u32> {
        Some(state)
    }
    fn state_of_rank(&self, rank: u32) -> Option<u32> {
        let state = if self.is_muddled && matches!(rank, 3 | 4) { 7 - rank } else { rank };
        (rank < self.nodes.len() as u32).then_some(state)
    }
    fn predecessors(&self, rank: u32, before: &mut Vec<u32>) {
        let leads_here = |before: &u32| self.node(*before).moves.contains(&rank);
        before.extend((0..self.nodes.len() as u32).filter(leads_here));
    }
}

/// Returns a layered game. A state without moves is lost unless `end` is another outcome.
pub fn layered(nodes: Vec<Node>) -> Listed {
    Listed { nodes, has_layers: true, ..Listed::default() }
}

pub fn interior(layer: u32, moves: impl Into<Vec<u32>>) -> Node {
    Node { layer, moves: moves.into(), ..Node::default() }
}

pub fn lost(layer: u32) -> Node {
    Node { layer, end: Some(Outcome::Loss), ..Node::default() }
}

/// Nim with one heap, from which a player takes one of the numbers `take`, or loses if none is possible.
pub fn nim(stones: u32, take: &[u32]) -> Listed {
    let node = |taken: u32| {
        let moves: Vec<u32> =
            take.iter().map(|take| taken + take).filter(|&taken| taken <= stones).collect();
        match moves.is_empty() {
            true => lost(taken),
            false => interior(taken, moves),
        }
    };
    layered((0..=stones).map(node).collect())
}
