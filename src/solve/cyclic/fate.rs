//! The values of a table of sorted keys as `verify` reads them, and what they should be.

use std::cmp::Reverse;
use std::fmt;

use crate::game::{End, Outcome, Repetition};
use crate::graph::{Remade, StateKind};
use crate::solve::{UNKNOWN_DISTANCE, UNKNOWN_SCORE};
use crate::table::{Array, RootValue, Table, TableError};

/// What the mover gets; the later in order, the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    Loss(u16),
    EndlessLoss,
    Draw,
    EndlessWin,
    Win(Reverse<u16>),
}

/// What is stored for a win in 0 plies.
const WIN: u16 = 30_000;
/// The longest distance that stands for itself alone; the next stands for all that are longer.
const LONGEST: u16 = WIN - 3;

impl Fate {
    /// What a stored prospect stands for; `None` if for nothing, or for ends at any distance.
    fn of_rank(rank: i16) -> Option<Fate> {
        let won = rank > 0;
        match rank.unsigned_abs() {
            0 => Some(Fate::Draw),
            1 if won => Some(Fate::EndlessWin),
            1 => Some(Fate::EndlessLoss),
            size => Fate::of_plies(won, WIN.checked_sub(size)?),
        }
    }

    /// What an outcome and a distance stand for.
    fn of_columns(outcome: i8, distance: u16) -> Option<Fate> {
        match (outcome, distance) {
            (0, UNKNOWN_DISTANCE) => Some(Fate::Draw),
            (1, UNKNOWN_DISTANCE) => Some(Fate::EndlessWin),
            (-1, UNKNOWN_DISTANCE) => Some(Fate::EndlessLoss),
            (1 | -1, plies) => Fate::of_plies(outcome > 0, plies),
            _ => None,
        }
    }

    fn of_plies(won: bool, plies: u16) -> Option<Fate> {
        let fate = if won { Fate::Win(Reverse(plies)) } else { Fate::Loss(plies) };
        (plies <= LONGEST).then_some(fate)
    }

    fn of_end(end: End) -> Option<Fate> {
        match end.outcome {
            Outcome::Draw => Some(Fate::Draw),
            outcome => Fate::of_plies(outcome == Outcome::Win, end.plies),
        }
    }

    /// The same for the player who moves there, a ply earlier.
    fn a_ply_before(self) -> Fate {
        match self {
            Fate::Loss(plies) => Fate::Win(Reverse(plies + 1)),
            Fate::EndlessLoss => Fate::EndlessWin,
            Fate::Draw => Fate::Draw,
            Fate::EndlessWin => Fate::EndlessLoss,
            Fate::Win(Reverse(plies)) => Fate::Loss(plies + 1),
        }
    }

    /// −1, 0 or +1.
    pub fn outcome(self) -> i8 {
        match self {
            Fate::Loss(_) | Fate::EndlessLoss => -1,
            Fate::Draw => 0,
            Fate::EndlessWin | Fate::Win(_) => 1,
        }
    }

    /// Plies to the end, if there is one.
    pub fn plies(self) -> Option<u16> {
        match self {
            Fate::Loss(plies) | Fate::Win(Reverse(plies)) => Some(plies),
            _ => None,
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fate::Loss(plies) => write!(f, "a loss in {plies}"),
            Fate::EndlessLoss => write!(f, "a loss without end"),
            Fate::Draw => write!(f, "a draw"),
            Fate::EndlessWin => write!(f, "a win without end"),
            Fate::Win(Reverse(plies)) => write!(f, "a win in {plies}"),
        }
    }
}

/// The columns that are there only where a table does not prove everything.
struct Bounds {
    lower: Array<i8>,
    upper: Array<i8>,
    prospect_lower: Array<i16>,
    prospect_upper: Array<i16>,
}

/// The value columns of a table, and what its convention says of play without end.
pub(super) struct Fates {
    repetition: Repetition,
    outcome: Array<i8>,
    distance: Array<u16>,
    bounds: Option<Bounds>,
}

impl Fates {
    /// Maps the columns; `None` if the table is not solved.
    pub fn open(table: &Table) -> Result<Option<Fates>, TableError> {
        let manifest = table.manifest();
        let Some(solution) = &manifest.solution else { return Ok(None) };
        let wrong =
            |what: String| Err(TableError::damaged(&table.dir().join("manifest.json"), what));
        let named = solution.repetition.as_deref().unwrap_or_default();
        let Some(repetition) = Repetition::of(named) else {
            return wrong(format!("its solution counts infinite play as '{named}'"));
        };
        let second = repetition == Repetition::SecondPlayerWins;
        if (second && manifest.identity.sides.is_none())
            || (manifest.identity.checks_only && repetition != Repetition::Unknown)
        {
            return wrong(format!("its states do not allow to count infinite play as {named}"));
        }
        let i8s = |name: &str| table.array::<i8>(name);
        let i16s = |name: &str| table.array::<i16>(name);
        let names = ["lower", "upper", "prospect_lower", "prospect_upper"];
        let bounds = match names.iter().any(|name| manifest.arrays.contains_key(*name)) {
            false => None,
            true => Some(Bounds {
                lower: i8s("lower")?,
                upper: i8s("upper")?,
                prospect_lower: i16s("prospect_lower")?,
                prospect_upper: i16s("prospect_upper")?,
            }),
        };
        let (outcome, distance) = (i8s("outcome")?, table.array::<u16>("distance")?);
        let rows = table.array::<u8>("kinds")?.len();
        let fits = outcome.len() == rows
            && distance.len() == rows
            && bounds.as_ref().is_none_or(|b| {
                [b.lower.len(), b.upper.len(), b.prospect_lower.len(), b.prospect_upper.len()]
                    == [rows; 4]
            });
        if !fits {
            return wrong("its columns' lengths do not fit".to_string());
        }
        Ok(Some(Fates { repetition, outcome, distance, bounds }))
    }

    /// Whether bounds are kept.
    pub fn has_bounds(&self) -> bool {
        self.bounds.is_some()
    }

    /// The bounds of a row's value; `None` if what is stored is no value that can be proven.
    fn of(&self, row: usize) -> Option<(Fate, Fate)> {
        match &self.bounds {
            Some(bounds) => Some((
                Fate::of_rank(bounds.prospect_lower[row])?,
                Fate::of_rank(bounds.prospect_upper[row])?,
            )),
            None => Fate::of_columns(self.outcome[row], self.distance[row]).map(|f| (f, f)),
        }
    }

    /// What a manifest says of the value of a root in a row.
    pub fn root_value(&self, row: usize) -> Option<RootValue> {
        let (lower, upper) = self.of(row)?;
        Some(RootValue {
            outcome: (lower.outcome() == upper.outcome()).then(|| lower.outcome()),
            score: None,
            distance: if lower == upper { lower.plies() } else { None },
        })
    }

    /// What play without end counts for in a row, at least and at most.
    fn without_end(&self, made: &Remade) -> (Fate, Fate) {
        match (self.repetition, made.second_to_move) {
            (Repetition::Draw, _) => (Fate::Draw, Fate::Draw),
            (Repetition::SecondPlayerWins, true) => (Fate::EndlessWin, Fate::EndlessWin),
            (Repetition::SecondPlayerWins, false) => (Fate::EndlessLoss, Fate::EndlessLoss),
            (Repetition::Unknown, _) => (Fate::EndlessLoss, Fate::EndlessWin),
        }
    }

    /// Proves the value of a row whose moves are in the table; gives its bounds.
    pub fn prove(
        &self,
        row: usize,
        kind: StateKind,
        made: &Remade,
    ) -> Result<(Fate, Fate), String> {
        let found = self.of(row).ok_or("its value is none that could be proven")?;
        // A frontier's mover could be lost by the second ply or win with the first.
        let cut_off = (Fate::Loss(2), Fate::Win(Reverse(1)));
        let wanted = match (made.end, kind) {
            (Some(end), _) => self.ended(end)?,
            (None, StateKind::Frontier) => cut_off,
            (None, _) => {
                let (lower, upper) = self.best_of_moves(made)?;
                let floor =
                    if kind == StateKind::Restricted { Some(Fate::EndlessWin) } else { None };
                // Only a restricted row has no moves.
                (lower.unwrap_or(cut_off.0), upper.max(floor).unwrap_or(cut_off.1))
            }
        };
        let without_end = self.without_end(made);
        let open = made.end.is_none() && kind != StateKind::Frontier;
        for (bound, found, wanted, without_end) in [
            ("at least ", found.0, wanted.0, without_end.0),
            ("at most ", found.1, wanted.1, without_end.1),
        ] {
            let bound = if self.has_bounds() { bound } else { "" };
            if found != wanted {
                let giver = if open { "its successors give" } else { "it should be" };
                return Err(format!("its value is {bound}{found}, {giver} {wanted}"));
            }
            if open && found.plies().is_none() && found != without_end {
                return Err(format!(
                    "its value is {bound}{found}, but play without end counts as {without_end}"
                ));
            }
        }
        self.prove_copies(row, found)?;
        Ok(found)
    }

    fn ended(&self, end: End) -> Result<(Fate, Fate), String> {
        if end.outcome == Outcome::Draw && self.repetition != Repetition::Draw {
            return Err("it is a drawn end, with which nothing here is proven unless play without end is a draw too".to_string());
        }
        let fate = Fate::of_end(end).ok_or("its end is too far away to be proven")?;
        Ok((fate, fate))
    }

    /// The best that the moves give by their successors' bounds; `None` without moves.
    fn best_of_moves(&self, made: &Remade) -> Result<(Option<Fate>, Option<Fate>), String> {
        let (mut lower, mut upper) = (None, None);
        for target in made.moves.iter().filter_map(|m| m.target) {
            let (at_least, at_most) = self
                .of(target)
                .ok_or_else(|| format!("its successor {target} has no value to be proven from"))?;
            lower = lower.max(Some(at_most.a_ply_before()));
            upper = upper.max(Some(at_least.a_ply_before()));
        }
        Ok((lower, upper))
    }

    /// That the columns that repeat what the prospects say agree with them.
    fn prove_copies(&self, row: usize, (lower, upper): (Fate, Fate)) -> Result<(), String> {
        let outcome =
            if lower.outcome() == upper.outcome() { lower.outcome() } else { UNKNOWN_SCORE };
        let distance = if lower == upper { lower.plies() } else { None };
        let agree = self.outcome[row] == outcome
            && self.distance[row] == distance.unwrap_or(UNKNOWN_DISTANCE)
            && self.bounds.as_ref().is_none_or(|bounds| {
                (bounds.lower[row], bounds.upper[row]) == (lower.outcome(), upper.outcome())
            });
        if agree { Ok(()) } else { Err("its columns contradict each other".to_string()) }
    }
}
