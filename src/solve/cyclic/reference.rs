//! Values of small graphs by plain means, to check the solver against. Shares no code with it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::CyclicGraph;
use crate::rules::Outcome;
use crate::rules::Repetition;
use crate::solve::sweep::StoredMoves;
use crate::solve::value;

/// Small graph, written out.
#[derive(Clone, Debug)]
pub struct Toy {
    pub states: Vec<ToyState>,
    pub repetition: Repetition,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Interior,
    Terminal(Outcome, u16),
    Frontier,
}

#[derive(Clone, Debug)]
pub struct ToyState {
    pub kind: Kind,
    pub moves: Vec<u32>,
    pub second_to_move: bool,
}

impl Toy {
    /// Passes the graph to a solver.
    pub fn with_graph<T>(&self, run: impl FnOnce(&CyclicGraph<'_>) -> T) -> T {
        let kinds: Vec<u8> = self.states.iter().map(|state| state.kind.byte()).collect();
        let targets: Vec<u32> = self.states.iter().flat_map(|s| s.moves.clone()).collect();
        let mut offsets = vec![0];
        for state in &self.states {
            offsets.push(offsets[offsets.len() - 1] + state.moves.len());
        }
        let end = |row: usize| match self.states[row].kind {
            Kind::Terminal(outcome, plies) => (outcome, plies),
            _ => panic!("row {row} has no end"),
        };
        run(&CyclicGraph {
            kinds: &kinds,
            moves: StoredMoves {
                edges_of: &|row| offsets[row]..offsets[row + 1],
                targets: &targets,
            },
            end: &end,
            second_to_move: &|row| self.states[row].second_to_move,
            repetition: self.repetition,
        })
    }
}

impl Kind {
    fn byte(&self) -> u8 {
        match self {
            Kind::Interior => 0,
            Kind::Terminal(..) => 1,
            Kind::Frontier => 2,
        }
    }
}

/// Prospect spelled out; the later variants are better for the mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    Loss(u32),
    EndlessLoss,
    Draw,
    EndlessWin,
    Win(Reverse<u32>),
}

impl Value {
    fn of_end(outcome: Outcome, plies: u16) -> Value {
        match outcome {
            Outcome::Loss => Value::Loss(plies.into()),
            Outcome::Draw => Value::Draw,
            Outcome::Win => Value::Win(Reverse(plies.into())),
        }
    }

    fn before(self) -> Value {
        match self {
            Value::Loss(plies) => Value::Win(Reverse(plies + 1)),
            Value::EndlessLoss => Value::EndlessWin,
            Value::Draw => Value::Draw,
            Value::EndlessWin => Value::EndlessLoss,
            Value::Win(Reverse(plies)) => Value::Loss(plies + 1),
        }
    }

    /// Returns −2 and +2 for ends, −1 and +1 for infinite play, 0 for draws.
    fn class(self) -> i8 {
        match self {
            Value::Loss(_) => -2,
            Value::EndlessLoss => -1,
            Value::Draw => 0,
            Value::EndlessWin => 1,
            Value::Win(_) => 2,
        }
    }
}

/// Converts an interval to spelled-out bounds.
pub fn spelled(interval: value::Value) -> (Value, Value) {
    let of = |prospect: value::Prospect| match (prospect.outcome(), prospect.distance()) {
        (outcome, Some(plies)) => Value::of_end(outcome, plies),
        (Outcome::Loss, None) => Value::EndlessLoss,
        (Outcome::Draw, None) => Value::Draw,
        (Outcome::Win, None) => Value::EndlessWin,
    };
    (of(interval.lower), of(interval.upper))
}

fn without_end(toy: &Toy, state: &ToyState) -> (Value, Value) {
    match (toy.repetition, state.second_to_move) {
        (Repetition::Draw, _) => (Value::Draw, Value::Draw),
        (Repetition::SecondPlayerWins, true) => (Value::EndlessWin, Value::EndlessWin),
        (Repetition::SecondPlayerWins, false) => (Value::EndlessLoss, Value::EndlessLoss),
        (Repetition::Unknown, _) => (Value::EndlessLoss, Value::EndlessWin),
    }
}

fn backed_up(state: &ToyState, values: &[(Value, Value)]) -> Option<(Value, Value)> {
    let successors = || state.moves.iter().map(|&target| values[target as usize]);
    let lower = successors().map(|(_, upper)| upper.before()).max()?;
    let upper = successors().map(|(lower, _)| lower.before()).max()?;
    Some((lower, upper))
}

/// Sweeps all states, from the value of infinite play, until nothing changes.
pub fn by_sweeps(toy: &Toy) -> Vec<(Value, Value)> {
    let cut_off = (Value::Loss(2), Value::Win(Reverse(1)));
    let value_of = |state: &ToyState, backed_up: Option<(Value, Value)>| match state.kind {
        Kind::Terminal(outcome, plies) => {
            (Value::of_end(outcome, plies), Value::of_end(outcome, plies))
        }
        Kind::Frontier => cut_off,
        Kind::Interior => backed_up.expect("interior states have moves"),
    };
    let first = |state: &ToyState| {
        let unknown = (!state.moves.is_empty()).then(|| without_end(toy, state));
        value_of(state, unknown)
    };
    let mut values: Vec<_> = toy.states.iter().map(first).collect();
    loop {
        let renewed =
            toy.states.iter().map(|state| value_of(state, backed_up(state, &values))).collect();
        if renewed == values {
            return values;
        }
        values = renewed;
    }
}

/// Returns the classes of both bounds by attractor sets: for every class c, the places from which the hero
/// can force at least c, with everything unknown going against the hero.
pub fn by_attractors(toy: &Toy) -> Vec<(i8, i8)> {
    let reached: Vec<(i8, BTreeSet<Place>)> =
        [-1, 0, 1, 2].map(|class| (class, forced(toy, class))).into();
    let best = |place: Place| {
        let holding = reached.iter().filter(|(_, places)| places.contains(&place));
        holding.map(|(class, _)| *class).max().unwrap_or(-2)
    };
    // The mover's upper bound is what the opponent, as the hero, cannot prevent.
    (0..toy.states.len()).map(|row| (best((row, true)), -best((row, false)))).collect()
}

/// State, and `true` if the hero is to move.
type Place = (usize, bool);

/// Returns the places from which the hero forces a class or better. If infinite play is good enough, these
/// are those where the opponent cannot force less, the greatest fixed point; otherwise the least.
fn forced(toy: &Toy, class: i8) -> BTreeSet<Place> {
    let places = || (0..toy.states.len()).flat_map(|row| [(row, true), (row, false)]);
    let of_hero = |(row, hero): Place, value: Value| {
        let _ = row;
        if hero { value.class() } else { -value.class() }
    };
    let endless = |place: Place| {
        let (lower, upper) = without_end(toy, &toy.states[place.0]);
        of_hero(place, if place.1 { lower } else { upper })
    };
    let mut set: BTreeSet<Place> = places().filter(|&p| endless(p) >= class).collect();
    loop {
        let holds = |&place: &Place| {
            let (row, hero) = place;
            let state = &toy.states[row];
            let mut options = state.moves.iter().map(|&t| set.contains(&(t as usize, !hero)));
            match state.kind {
                Kind::Terminal(outcome, plies) => {
                    of_hero(place, Value::of_end(outcome, plies)) >= class
                }
                Kind::Frontier => false,
                Kind::Interior if hero => options.any(|good| good),
                Kind::Interior => options.all(|good| good),
            }
        };
        let next = places().filter(holds).collect();
        if next == set {
            return set;
        }
        set = next;
    }
}

/// Returns the classes of bounds.
pub fn classes(values: &[(Value, Value)]) -> Vec<(i8, i8)> {
    values.iter().map(|(lower, upper)| (lower.class(), upper.class())).collect()
}
