//! The search for a win that nothing prevents, over one tree that several threads grow.
//!
//! The tree begins with the root. A leaf grows by all its moves, and each new position is looked at
//! a little further at once: is it over, and can its mover end the game with one move? Such
//! positions are decided. What is decided goes up: a position with a move to a lost one is won, one
//! all of whose moves lead to won ones is lost.
//!
//! The *weight* of a position is the number of undecided leaves below it. The leaf to grow next is
//! found from the root by going to the lightest undecided child, the first of equals, so that the
//! search goes deep where few replies are left and wide elsewhere; what is won or lost weighs
//! nothing and is not gone into.
//!
//! **Threads do not change the answer.** Work goes in batches of up to [`PICKS`] leaves, whatever
//! the number of threads. The leaves of a batch are picked one after the other (a leaf that is
//! picked weighs `HEAVY` more until the batch is done, so that the next pick is another), grown in
//! parallel, and put in the tree in the order of the picks. The budget is a number of positions,
//! not a time.
//!
//! A position that has occurred before on the way to it is a position like any other: a proof is
//! one of mate in a number of plies, which no repetition can touch. What is undecided when the
//! budget is spent stays so. Distances are those of the proof that was found; it need not be the
//! shortest.

use rayon::prelude::*;

use super::Minishogi;
use crate::game::shogi::Board;
use crate::game::{Action, Game, GameExt};

/// How many leaves are grown in a batch.
pub const PICKS: usize = 16;
/// What a picked leaf weighs more until it has grown.
const HEAVY: u64 = 32;

/// What has been proven of a position or a move, for its mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing.
    Open,
    /// The mover wins, in at most so many plies from here, this move among them.
    Wins(u16),
    /// The mover loses whatever happens, within so many plies if the other side follows the proof.
    Loses(u16),
}

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Of the position.
    pub root: Fate,
    /// Of its legal moves, in ascending order; all of the mover of the root.
    pub moves: Vec<(Action, Fate)>,
    /// How many positions were put in the tree.
    pub nodes: usize,
}

/// A position in the tree.
struct Node {
    state: Board,
    parent: u32,
    /// Its children's places; none while it is a leaf.
    children: std::ops::Range<u32>,
    weight: u64,
    fate: Fate,
    picked: bool,
}

/// Searches from a position, which must not be over, until it is decided or the tree has `nodes`
/// positions (a batch more may be begun).
pub fn search(game: &Minishogi, root: &Board, nodes: usize) -> Verdict {
    let actions = game.actions(root);
    let mut tree = Tree { nodes: vec![Node::new(*root, 0, Fate::Open)] };
    let grown = grow(game, root);
    tree.attach(0, grown);
    while tree.nodes[0].fate == Fate::Open && tree.nodes.len() < nodes {
        let picked = tree.pick();
        if picked.is_empty() {
            break;
        }
        let states: Vec<Board> = picked.iter().map(|&at| tree.nodes[at].state).collect();
        let grown: Vec<_> = states.par_iter().map(|state| grow(game, state)).collect();
        for (&at, grown) in picked.iter().zip(grown) {
            tree.attach(at, grown);
        }
    }
    let children = tree.nodes[0].children.clone();
    let fates = children.map(|child| match tree.nodes[child as usize].fate {
        Fate::Open => Fate::Open,
        Fate::Wins(plies) => Fate::Loses(plies + 1),
        Fate::Loses(plies) => Fate::Wins(plies + 1),
    });
    let moves = actions.into_iter().zip(fates).collect();
    Verdict { root: tree.nodes[0].fate, moves, nodes: tree.nodes.len() }
}

/// The successors of a state in the order of actions, with what can be seen of them at once.
fn grow(game: &Minishogi, state: &Board) -> Vec<(Board, Fate)> {
    let mut grown = Vec::new();
    game.for_each_successor(state, |_, after| grown.push((after, Fate::Open)));
    for (after, fate) in &mut grown {
        let mut moves = false;
        let mut wins = false;
        game.for_each_successor(after, |_, last| {
            moves = true;
            wins = wins || game.is_terminal(&last);
        });
        *fate = match (moves, wins) {
            (false, _) => Fate::Loses(0),
            (true, true) => Fate::Wins(1),
            (true, false) => Fate::Open,
        };
    }
    grown
}

impl Node {
    fn new(state: Board, parent: u32, fate: Fate) -> Node {
        let weight = u64::from(fate == Fate::Open);
        Node { state, parent, children: 0..0, weight, fate, picked: false }
    }
}

struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    fn children(&self, at: usize) -> &[Node] {
        let range = &self.nodes[at].children;
        &self.nodes[range.start as usize..range.end as usize]
    }

    /// The leaves of a batch: at most [`PICKS`], fewer where the lightest has been picked already.
    fn pick(&mut self) -> Vec<usize> {
        let mut picked = Vec::new();
        while picked.len() < PICKS {
            let mut at = 0;
            while !self.nodes[at].children.is_empty() {
                let children = self.children(at).iter().enumerate();
                let open = children.filter(|(_, child)| child.fate == Fate::Open);
                let lightest = open.min_by_key(|(place, child)| (child.weight, *place));
                let (place, _) = lightest.expect("an undecided position has an undecided child");
                at = self.nodes[at].children.start as usize + place;
            }
            if self.nodes[at].picked {
                break;
            }
            self.nodes[at].picked = true;
            picked.push(at);
            loop {
                self.nodes[at].weight += HEAVY;
                if at == 0 {
                    break;
                }
                at = self.nodes[at].parent as usize;
            }
        }
        picked
    }

    /// Gives a leaf its children, and takes what follows up to the root.
    fn attach(&mut self, leaf: usize, grown: Vec<(Board, Fate)>) {
        let from = self.nodes.len() as u32;
        let children = grown.into_iter().map(|(state, fate)| Node::new(state, leaf as u32, fate));
        self.nodes.extend(children);
        self.nodes[leaf].children = from..self.nodes.len() as u32;
        let mut at = leaf;
        loop {
            let (fate, weight) = self.summed(at);
            if self.nodes[at].fate == Fate::Open {
                self.nodes[at].fate = fate;
            }
            self.nodes[at].weight = weight;
            if at == 0 {
                break;
            }
            at = self.nodes[at].parent as usize;
        }
    }

    /// What a position's children make of it, and how many undecided leaves are below it.
    fn summed(&self, at: usize) -> (Fate, u64) {
        let (mut soonest, mut latest, mut weight) = (None, 0, 0);
        for child in self.children(at) {
            match child.fate {
                Fate::Open => weight += child.weight,
                Fate::Loses(plies) => {
                    soonest = Some(soonest.map_or(plies, |soonest: u16| soonest.min(plies)));
                }
                Fate::Wins(plies) => latest = latest.max(plies),
            }
        }
        match soonest {
            Some(plies) => (Fate::Wins(plies + 1), weight),
            None if weight == 0 => (Fate::Loses(latest + 1), 0),
            None => (Fate::Open, weight),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rules;
    use super::super::sample::{position, positions};
    use super::*;
    use crate::game::Position;

    /// Whether the mover of a state wins (true) or loses (false) within so many plies, by plain
    /// recursion.
    fn decided(game: &Minishogi, state: &Board, plies: u16) -> Option<bool> {
        let after: Vec<Board> =
            game.actions(state).into_iter().map(|action| game.play(state, action)).collect();
        if after.is_empty() {
            return Some(false);
        }
        if plies == 0 {
            return None;
        }
        let fates: Vec<_> = after.iter().map(|after| decided(game, after, plies - 1)).collect();
        if fates.contains(&Some(false)) {
            return Some(true);
        }
        fates.iter().all(|fate| *fate == Some(true)).then_some(false)
    }

    #[test]
    fn known_mates_are_found_and_nothing_else() {
        let game = rules();
        let text = include_str!("../../../tests/data/minishogi-mates.json");
        let truth: serde_json::Value = serde_json::from_str(text).unwrap();
        let (mut found, mut open) = (0, 0);
        for entry in truth["positions"].as_array().unwrap() {
            let root = position(&game, entry["sfen"].as_str().unwrap());
            let verdict = search(&game, &root.state, 20_000);
            match entry["mate_plies"].as_u64() {
                Some(expected) => {
                    // Whether the mover or the other side has the win hangs on the number of plies.
                    if let Fate::Wins(plies) = verdict.root {
                        assert!(u64::from(plies) >= expected, "{}", entry["sfen"]);
                        found += 1;
                    } else {
                        assert_eq!(verdict.root, Fate::Open, "{}", entry["sfen"]);
                        assert!(expected > 3, "{}", entry["sfen"]);
                    }
                }
                None => {
                    let within = entry["no_mate_within"].as_u64().unwrap();
                    if let Fate::Wins(plies) = verdict.root {
                        assert!(u64::from(plies) > within, "{}", entry["sfen"]);
                    }
                    open += 1;
                }
            }
        }
        assert!(found >= 12 && open > 0, "{found} found, {open} without");
    }

    #[test]
    fn proofs_agree_with_plain_recursion() {
        let game = rules();
        let (mut wins, mut losses) = (0, 0);
        for root in positions(&game, 4_000).iter().step_by(7) {
            let verdict = search(&game, &root.state, 1_000);
            assert_eq!(verdict.moves.len(), game.actions(&root.state).len());
            for &(action, fate) in &verdict.moves {
                let after = game.play(&root.state, action);
                match fate {
                    Fate::Wins(plies) if plies <= 3 => {
                        assert_eq!(decided(&game, &after, plies - 1), Some(false));
                        wins += 1;
                    }
                    Fate::Loses(plies) if plies <= 3 => {
                        assert_eq!(decided(&game, &after, plies - 1), Some(true));
                        losses += 1;
                    }
                    _ => {}
                }
            }
        }
        assert!(wins > 30 && losses > 300, "{wins} wins, {losses} losses");
    }

    #[test]
    fn threads_change_nothing() {
        let game = rules();
        let roots: Vec<Position<Board>> = positions(&game, 900).into_iter().step_by(90).collect();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let one = |root: &Position<Board>| search(&game, &root.state, 3_000);
            pool.install(|| roots.iter().map(one).collect::<Vec<_>>())
        };
        assert_eq!(on(1), on(4));
    }
}
