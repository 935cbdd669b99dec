//! Games that somebody else enumerated: states, moves and results in arrays.
//!
//! A [`Listing`] is checked when it is made and when it is read from a table, which contains it: from there on its
//! game is like any other. Where a player moves again, a pass of the other one is put between the two moves.
//! States may have planes, which are those of whoever listed them: any numbers in a grid.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::path::{self, Path, PathBuf};
use std::sync::OnceLock;

use crate::error::Error;
use crate::rules::{
    Action, Empties, Facts, Game, MoveSquares, Outcome, PlaneKinds, Position, Repetition,
    RepetitionRule, Score, Side,
};
use crate::table::{Draft, ListedFacts, Table};

/// Result of a state in which the game goes on.
pub const GOES_ON: i8 = i8::MIN;
/// Most actions: one is left for the pass.
const MOST_ACTIONS: u16 = u16::MAX - 2;
/// Most names of actions that say how many actions there are.
const MOST_NAMES: usize = MOST_ACTIONS as usize + 1;
/// Most numbers in the planes of a state.
const MOST_PLANE_NUMBERS: u32 = 1 << 20;

/// States of a game with their moves, as arrays of a state or of a move.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// Name of the game and of its table: letters, digits and hyphens.
    pub name: String,
    /// Name of the game for headings.
    pub title: String,
    /// Number of the state in which the game begins.
    pub start: u32,
    /// Place of each state's first move, and the number of all moves at the end.
    pub row_pointers: Vec<u64>,
    /// Action of each move, ascending within a state.
    pub actions: Vec<u16>,
    /// Number of the state after each move.
    pub successors: Vec<u32>,
    /// Result for the player to move in each state: [`GOES_ON`], an outcome (−1, 0, 1), or a score.
    pub results: Vec<i8>,
    /// `true` if results are scores, whose signs are outcomes.
    pub has_scores: bool,
    /// Player to move in each state, 0 or 1; empty if players move in turn and a state does not say who is to move.
    pub movers: Vec<u8>,
    /// Text of each state, in one line; empty without texts.
    pub texts: Vec<String>,
    /// Name of each action, or first of each action of the first player and then of the second; empty if actions are
    /// their numbers.
    pub action_names: Vec<String>,
    /// Number of actions, which may be more than moves have; 0 if it follows from them.
    pub action_count: u16,
    /// Mark in texts that stands for the breaks of a board's lines; empty if they have none.
    pub line_break: String,
    /// Number of planes, rows and columns; zeros without planes.
    pub grid: [u32; 3],
    /// Planes of each listed state, one state after the other.
    pub planes: Vec<f32>,
    /// Action of the pass that is put between two moves of one player; `None` if there is none.
    pub pass: Option<u16>,
}

impl Listing {
    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.results.len()
    }

    /// Returns the moves of a state: actions and the states after them.
    fn moves_of(&self, state: usize) -> impl Iterator<Item = (u16, u32)> + '_ {
        let range = self.row_pointers[state] as usize..self.row_pointers[state + 1] as usize;
        self.actions[range.clone()].iter().copied().zip(self.successors[range].iter().copied())
    }

    /// Returns a state in words, for errors.
    fn named(&self, state: usize) -> String {
        match self.texts.get(state) {
            Some(text) => format!("state {state} (`{text}`)"),
            None => format!("state {state}"),
        }
    }

    /// Checks everything that the methods rely on. The error is one line about the first fault.
    fn check(&self) -> Result<(), Error> {
        let states = self.states();
        let fail = |what: String| Err(Error::from(what));
        if states == 0 || states > u32::MAX as usize {
            return fail("no state, or more than 4,294,967,295".to_string());
        }
        let ends = (self.row_pointers.first(), self.row_pointers.last());
        let is_ascending = self.row_pointers.is_sorted() && self.row_pointers.len() == states + 1;
        if !is_ascending || ends != (Some(&0), Some(&(self.actions.len() as u64))) {
            return fail(format!(
                "row_pointers: expected {} numbers that ascend from 0 to the number of moves, {}",
                states + 1,
                self.actions.len()
            ));
        }
        let lengths = [
            ("successors", self.successors.len(), self.actions.len(), false),
            ("movers", self.movers.len(), states, true),
            ("texts", self.texts.len(), states, true),
        ];
        for (name, found, wanted, may_miss) in lengths {
            if found != wanted && !(may_miss && found == 0) {
                return fail(format!("{name}: expected {wanted} entries, found {found}"));
            }
        }
        let (width, listed) = (self.plane_width()?, states - self.passes().len());
        if self.planes.len() != listed * width {
            let count = self.planes.len();
            return fail(format!("planes: expected {width} numbers a state, found {count} in all"));
        }
        let (names, actions) = (self.action_names.len(), usize::from(self.action_count));
        if names > 0 && names != actions && names != 2 * actions {
            let what = format!("move_names: expected {actions} names, or as many for each player");
            return fail(format!("{what}, found {names}"));
        }
        if self.start as usize >= states {
            return fail(format!("start: state {}, of {states} states", self.start));
        }
        if let Some(at) = self.movers.iter().position(|mover| *mover > 1) {
            return fail(format!("{}: mover {}, expected 0 or 1", self.named(at), self.movers[at]));
        }
        for state in 0..states {
            self.check_state(state)?;
        }
        if self.results[self.start as usize] != GOES_ON {
            return fail(format!(
                "{}: the game is over at its start",
                self.named(self.start as usize)
            ));
        }
        if let Some(at) = self.planes.iter().position(|number| !number.is_finite()) {
            return fail(format!("{}: planes that are not finite", self.named(at / width)));
        }
        for (at, side) in self.action_names.chunks(actions.max(1)).enumerate() {
            let mut seen = HashSet::new();
            let fits = |name: &String| !name.is_empty() && !name.contains(char::is_whitespace);
            if let Some(name) = side.iter().find(|name| !fits(name) || !seen.insert(name.as_str()))
            {
                let what = "expected no blanks, and another name for each move";
                return fail(format!("move_names: `{name}` of player {at}: {what}"));
            }
        }
        let mut known = HashMap::new();
        for (state, text) in self.texts.iter().enumerate() {
            if text == "start" {
                return fail(format!("state {state}: the text `start` means the start"));
            }
            if text.is_empty() || text.trim() != text || text.contains(['\n', '\r']) {
                let what = "a text is one line, not empty, without blanks around it";
                return fail(format!("state {state}: {what}"));
            }
            if let Some(other) = known.insert(text, state) {
                return fail(format!("states {other} and {state} have one text, `{text}`"));
            }
        }
        Ok(())
    }

    /// Returns the number of a state's numbers in planes.
    fn plane_width(&self) -> Result<usize, Error> {
        let width = self.grid.iter().try_fold(1u32, |all, side| all.checked_mul(*side));
        let fits = width.filter(|width| *width <= MOST_PLANE_NUMBERS);
        fits.map(|width| width as usize).ok_or_else(|| {
            let [planes, rows, columns] = self.grid;
            let what = format!("{planes} planes of {rows} x {columns} numbers");
            Error::from(format!("planes: {what}, expected at most {MOST_PLANE_NUMBERS} numbers"))
        })
    }

    /// Returns the states that were added where a player moves again: they come last.
    fn passes(&self) -> Range<usize> {
        let states = self.states();
        let is_pass = |state: &usize| {
            self.pass.is_some()
                && self.moves_of(*state).any(|(action, _)| Some(action) == self.pass)
        };
        let added = (0..states).rev().take_while(is_pass).count();
        states - added..states
    }

    fn check_state(&self, state: usize) -> Result<(), Error> {
        let fail = |what: String| Err(Error::from(format!("{}: {what}", self.named(state))));
        let (result, mut last) = (self.results[state], None);
        for (action, after) in self.moves_of(state) {
            if after as usize >= self.states() {
                return fail(format!(
                    "move {action} leads to state {after}, of {} states",
                    self.states()
                ));
            }
            if last.is_some_and(|last| action <= last) {
                return fail(format!("move {action} is given twice or out of order"));
            }
            if action > MOST_ACTIONS && Some(action) != self.pass {
                return fail(format!("move {action}, expected 0 to {MOST_ACTIONS}"));
            }
            if action >= self.action_count {
                return fail(format!("move {action}, of {} actions", self.action_count));
            }
            last = Some(action);
        }
        match (last, result) {
            (None, GOES_ON) => fail("no move and no result".to_string()),
            (Some(_), GOES_ON) => Ok(()),
            (Some(_), _) => fail(format!("moves and the result {result}")),
            (None, result) if !self.has_scores && !(-1..=1).contains(&result) => {
                fail(format!("result {result}, expected -1, 0 or 1"))
            }
            _ => Ok(()),
        }
    }

    /// Makes players move in turn: puts a pass of the other player before a state whose player has just moved, a finished
    /// one too, so that each listed state keeps its player and its result. Does nothing without movers.
    fn in_turn(&mut self) {
        if self.movers.is_empty() {
            return;
        }
        let states = self.states();
        let pass = self.action_count;
        // By state: the pass that leads to it.
        let mut passes: HashMap<u32, u32> = HashMap::new();
        for state in 0..states {
            for edge in self.row_pointers[state] as usize..self.row_pointers[state + 1] as usize {
                let after = self.successors[edge];
                if self.movers[state] == self.movers[after as usize] {
                    let next = (states + passes.len()) as u32;
                    self.successors[edge] = *passes.entry(after).or_insert(next);
                }
            }
        }
        let mut after: Vec<(u32, u32)> = passes.into_iter().collect();
        after.sort_unstable_by_key(|(_, number)| *number);
        for &(state, _) in &after {
            self.movers.push(1 - self.movers[state as usize]);
            self.results.push(GOES_ON);
            self.actions.push(pass);
            self.successors.push(state);
            self.row_pointers.push(self.actions.len() as u64);
            if !self.texts.is_empty() {
                self.texts.push(format!("pass, then {}", self.texts[state as usize]));
            }
        }
        if after.is_empty() {
            return;
        }
        (self.pass, self.action_count) = (Some(pass), pass + 1);
        if !self.action_names.is_empty() {
            let names = self.action_names.chunks(usize::from(pass));
            let with_pass = names.flat_map(|names| [names, &["pass".to_string()]].concat());
            self.action_names = with_pass.collect();
        }
    }

    /// Returns the layer of each state: its greatest number of moves from a state without predecessors, a pass counting
    /// none; `None` if play may repeat a state.
    fn layers(&self) -> Option<Vec<u32>> {
        let states = self.states();
        let mut before = vec![0u32; states];
        self.successors.iter().for_each(|after| before[*after as usize] += 1);
        let mut ready: Vec<usize> = (0..states).filter(|&state| before[state] == 0).collect();
        let (mut layers, mut done) = (vec![0u32; states], 0);
        while let Some(state) = ready.pop() {
            done += 1;
            for (action, after) in self.moves_of(state) {
                let next = layers[state] + u32::from(Some(action) != self.pass);
                let after = after as usize;
                layers[after] = layers[after].max(next);
                before[after] -= 1;
                if before[after] == 0 {
                    ready.push(after);
                }
            }
        }
        // A pass stays in the layer.
        for state in (0..states).filter(|_| self.pass.is_some()) {
            if let Some((_, after)) = self.moves_of(state).find(|(it, _)| Some(*it) == self.pass) {
                layers[state] = layers[after as usize];
            }
        }
        (done == states).then_some(layers)
    }

    /// Returns the sides that can be to move in each state: bit 0 for the first, bit 1 for the second.
    fn sides(&self) -> Vec<u8> {
        let mut sides = vec![0u8; self.states()];
        let first = self.movers.get(self.start as usize).copied().unwrap_or(0);
        let mut waiting = vec![(self.start as usize, first)];
        while let Some((state, side)) = waiting.pop() {
            if sides[state] & 1 << side == 0 {
                sides[state] |= 1 << side;
                waiting.extend(self.moves_of(state).map(|(_, after)| (after as usize, 1 - side)));
            }
        }
        sides
    }

    /// Returns the state after the pass of each state that must pass, and the other way round.
    fn partners(&self) -> HashMap<u32, u32> {
        let pass =
            |state: usize| self.moves_of(state).find(|(action, _)| Some(*action) == self.pass);
        let passes = (0..self.states()).filter(|_| self.pass.is_some());
        let pairs = passes.filter_map(|state| Some((state as u32, pass(state)?.1)));
        pairs.flat_map(|(state, after)| [(state, after), (after, state)]).collect()
    }

    /// Returns a checksum of everything, which is part of a table's identity.
    fn checksum(&self) -> String {
        let mut hasher = crc32fast::Hasher::new();
        let text = [&self.texts, &self.action_names].map(|texts| texts.join("\n")).join("\0");
        let Listing { start, has_scores, pass, grid, action_count, line_break, .. } = self;
        let numbers =
            format!("{start} {has_scores} {pass:?} {grid:?} {action_count} {line_break:?}");
        for part in [
            numbers.as_bytes(),
            bytemuck::cast_slice(&self.row_pointers),
            bytemuck::cast_slice(&self.actions),
            bytemuck::cast_slice(&self.successors),
            bytemuck::cast_slice(&self.results),
            &self.movers,
            bytemuck::cast_slice(&self.planes),
            text.as_bytes(),
        ] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        format!("{:08x}", hasher.finalize())
    }
}

/// Rules of a [`Listing`]. A state is its number.
#[derive(Debug)]
pub struct Listed {
    listing: Listing,
    layers: Option<Vec<u32>>,
    sides: Vec<u8>,
    partners: HashMap<u32, u32>,
    most: Score,
    checksum: String,
    by_text: OnceLock<HashMap<String, u32>>,
    /// States by their planes, ascending.
    by_planes: OnceLock<Vec<u32>>,
    /// State and move before each state on a shortest way.
    before: OnceLock<Vec<Option<(u32, u16)>>>,
    /// Directory of the table that contains the game.
    home: Option<PathBuf>,
}

impl Listed {
    /// Checks a listing and makes its game. Where players do not move in turn, passes are added.
    ///
    /// The error is one line that names the state and its fault.
    pub fn new(mut listing: Listing) -> Result<Listed, Error> {
        crate::table::check_name(&listing.name)?;
        if listing.action_count == 0 {
            let used = listing.actions.iter().max().map_or(1, |most| most.saturating_add(1));
            listing.action_count = used.max(listing.action_names.len().min(MOST_NAMES) as u16);
        }
        listing.check()?;
        listing.in_turn();
        // The text of a pass may be another state's.
        listing.check()?;
        Listed::in_order(listing)
    }

    /// Makes the game of a checked listing whose players move in turn.
    fn in_order(listing: Listing) -> Result<Listed, Error> {
        let layers = listing.layers();
        if listing.has_scores && layers.is_none() {
            let what = "a game with scores in which play may repeat a state";
            return Err(Error::new(what, "give its results as -1, 0 and 1"));
        }
        let most = listing.results.iter().filter(|result| **result != GOES_ON);
        let most = most.map(|result| result.unsigned_abs()).max().unwrap_or(0) as i8;
        let (sides, checksum) = (listing.sides(), listing.checksum());
        let partners = listing.partners();
        let (by_text, by_planes, before) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let most = Score(most.max(1));
        let home = None;
        Ok(Listed {
            before,
            listing,
            layers,
            sides,
            partners,
            most,
            checksum,
            by_text,
            by_planes,
            home,
        })
    }

    /// Returns the listing, with the passes that were added.
    pub fn listing(&self) -> &Listing {
        &self.listing
    }

    /// Returns the checksum of the listing.
    pub fn checksum(&self) -> &str {
        &self.checksum
    }

    /// Returns the directory of the table that the game was opened from.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns the fewest moves from the start to each of some states, added passes left out; empty for a state that no
    /// moves reach.
    pub fn lines_to(&self, states: &[u32]) -> Vec<Vec<Action>> {
        let before = self.before.get_or_init(|| self.found_by());
        let line = |state: &u32| {
            let (mut line, mut at) = (Vec::new(), *state);
            while let Some((before, action)) = before[at as usize] {
                line.push(Action(action));
                at = before;
            }
            line.retain(|action| !self.is_pass(*action));
            line.reverse();
            line
        };
        states.iter().map(line).collect()
    }

    /// Returns the state and the move before each state on a shortest way from the start; `None` for the start itself.
    fn found_by(&self) -> Vec<Option<(u32, u16)>> {
        let start = self.listing.start;
        let mut before = vec![None; self.listing.states()];
        let mut waiting = VecDeque::from([start]);
        while let Some(state) = waiting.pop_front() {
            for (action, after) in self.listing.moves_of(state as usize) {
                if after != start && before[after as usize].is_none() {
                    before[after as usize] = Some((state, action));
                    waiting.push_back(after);
                }
            }
        }
        before
    }

    /// Returns the listed state in which the same player is to move: after the pass, if there is one.
    pub fn listed_state(&self, state: u32) -> u32 {
        let pass = self.listing.moves_of(state as usize);
        let mut after = pass.filter(|(action, _)| Some(*action) == self.listing.pass);
        after.next().map_or(state, |(_, after)| after)
    }

    /// Returns the numbers of a state's planes; of a state in which the player must pass, those after it.
    fn planes_of(&self, state: u32) -> &[f32] {
        let width = self.listing.grid.iter().product::<u32>() as usize;
        &self.listing.planes[self.listed_state(state) as usize * width..][..width]
    }

    /// Returns what the manifest of a table contains of the game.
    pub(crate) fn facts_in_table(&self) -> ListedFacts {
        let Listing { title, start, has_scores, pass, grid, action_count, line_break, .. } =
            &self.listing;
        ListedFacts {
            title: title.clone(),
            start: *start,
            has_scores: *has_scores,
            actions: *action_count,
            pass: *pass,
            grid: *grid,
            line_break: line_break.clone(),
        }
    }

    /// Writes the arrays of the game into the draft of its table.
    pub(crate) fn write(&self, draft: &mut Draft) -> Result<(), Error> {
        let Listing { row_pointers, actions, successors, results, movers, .. } = &self.listing;
        draft.grow::<u64>("game_row_pointers", false, None)?;
        draft.grow::<u16>("game_actions", false, None)?;
        draft.grow::<u32>("game_successors", false, None)?;
        draft.grow::<i8>("game_results", false, None)?;
        draft.append(&[
            ("game_row_pointers", bytemuck::cast_slice(row_pointers)),
            ("game_actions", bytemuck::cast_slice(actions)),
            ("game_successors", bytemuck::cast_slice(successors)),
            ("game_results", bytemuck::cast_slice(results)),
        ])?;
        if !movers.is_empty() {
            draft.grow::<u8>("game_movers", false, None)?;
            draft.append(&[("game_movers", movers)])?;
        }
        if !self.listing.planes.is_empty() {
            draft.grow::<f32>("game_planes", false, None)?;
            draft.append(&[("game_planes", bytemuck::cast_slice(&self.listing.planes))])?;
        }
        for ([ends, bytes], texts) in
            [TEXTS, NAMES].into_iter().zip([&self.listing.texts, &self.listing.action_names])
        {
            if !texts.is_empty() {
                let mut end = 0;
                let all: Vec<u64> = texts
                    .iter()
                    .map(|text| {
                        end += text.len() as u64;
                        end
                    })
                    .collect();
                draft.grow::<u64>(ends, false, None)?;
                draft.grow::<u8>(bytes, false, None)?;
                draft.append(&[
                    (ends, bytemuck::cast_slice(&all)),
                    (bytes, texts.concat().as_bytes()),
                ])?;
            }
        }
        Ok(())
    }

    /// Reads the game of a table; `None` if it is no listed one. Fails if its arrays are damaged.
    pub(crate) fn of_table(table: &Table) -> Result<Option<Listed>, Error> {
        let Some(facts) = &table.manifest().listed else { return Ok(None) };
        let listing = Listing {
            name: table.manifest().identity.game.clone(),
            title: facts.title.clone(),
            start: facts.start,
            row_pointers: table.array::<u64>("game_row_pointers")?.to_vec(),
            actions: table.array::<u16>("game_actions")?.to_vec(),
            successors: table.array::<u32>("game_successors")?.to_vec(),
            results: table.array::<i8>("game_results")?.to_vec(),
            has_scores: facts.has_scores,
            movers: match table.has_array("game_movers") {
                true => table.array::<u8>("game_movers")?.to_vec(),
                false => Vec::new(),
            },
            grid: facts.grid,
            planes: match table.has_array("game_planes") {
                true => table.array::<f32>("game_planes")?.to_vec(),
                false => Vec::new(),
            },
            texts: texts_in(table, TEXTS)?,
            action_names: texts_in(table, NAMES)?,
            action_count: facts.actions,
            line_break: facts.line_break.clone(),
            pass: facts.pass,
        };
        let damaged =
            |error: Error| table.damaged_manifest(format!("listed game: {}", error.line()));
        listing.check().map_err(damaged)?;
        let game = Listed::in_order(listing).map_err(damaged)?;
        match table.manifest().identity.listing.as_deref() == Some(&game.checksum) {
            true => Ok(Some(Listed { home: path::absolute(table.dir()).ok(), ..game })),
            false => Err(table.damaged_manifest("wrong checksum of the listed game")),
        }
    }

    /// Returns the one side that can be to move in a state; `None` if both can, or none.
    fn only_side(&self, state: u32) -> Option<Side> {
        match self.sides[state as usize] {
            1 => Some(Side::First),
            2 => Some(Side::Second),
            _ => None,
        }
    }
}

/// Arrays of texts: where each ends, and all of them one after the other.
const TEXTS: [&str; 2] = ["game_text_ends", "game_texts"];
const NAMES: [&str; 2] = ["game_action_name_ends", "game_action_names"];

fn texts_in(table: &Table, [ends, bytes]: [&str; 2]) -> Result<Vec<String>, Error> {
    if !table.has_array(ends) {
        return Ok(Vec::new());
    }
    let (ends, all) = (table.array::<u64>(ends)?, table.array::<u8>(bytes)?);
    let mut begin = 0;
    let text = |end: &u64| {
        let range = begin..usize::try_from(*end).ok()?;
        begin = range.end;
        String::from_utf8(all.get(range)?.to_vec()).ok()
    };
    let texts: Option<Vec<String>> = ends.iter().map(text).collect();
    texts.ok_or_else(|| table.damaged_manifest(format!("invalid texts in '{bytes}'")))
}

impl Game for Listed {
    type State = u32;

    fn name(&self) -> String {
        self.listing.name.clone()
    }

    fn title(&self) -> String {
        self.listing.title.clone()
    }

    fn facts(&self) -> Facts {
        let [_, rows, columns] = self.listing.grid.map(|side| side as usize);
        Facts { key_bits: 32, shape: (rows, columns), ..Facts::default() }
    }

    fn start(&self) -> Position<u32> {
        let state = self.listing.start;
        Position { state, side: self.only_side(state).unwrap_or(Side::First) }
    }

    fn action_count(&self) -> usize {
        usize::from(self.listing.action_count)
    }

    fn moves(&self, state: &u32, mut each: impl FnMut(Action, u32)) {
        self.listing
            .moves_of(*state as usize)
            .for_each(|(action, after)| each(Action(action), after));
    }

    fn result(&self, state: &u32) -> Option<Outcome> {
        let result = self.listing.results[*state as usize];
        (result != GOES_ON).then(|| Outcome::of(result.signum()))
    }

    fn key(&self, state: &u32) -> u128 {
        u128::from(*state)
    }

    fn state(&self, key: u128) -> Option<u32> {
        u32::try_from(key).ok().filter(|state| (*state as usize) < self.listing.states())
    }

    fn is_pass(&self, action: Action) -> bool {
        Some(action.0) == self.listing.pass
    }

    fn adds_passes(&self) -> bool {
        self.listing.pass.is_some()
    }

    fn swapped(&self, state: &u32) -> Option<u32> {
        self.partners.get(state).copied()
    }

    fn repetition_rule(&self) -> RepetitionRule {
        RepetitionRule { occurrence: 4, result: Repetition::Draw, perpetual_check_loses: false }
    }

    fn layer_unit(&self) -> Option<&'static str> {
        self.layers.as_ref().map(|_| "plies")
    }

    fn layer(&self, state: &u32) -> u32 {
        self.layers.as_ref().map_or(0, |layers| layers[*state as usize])
    }

    fn max_score(&self) -> Option<Score> {
        self.listing.has_scores.then_some(self.most)
    }

    fn score(&self, state: &u32, _empties: Empties) -> Score {
        match self.listing.results[*state as usize] {
            GOES_ON => Score(0),
            result => Score(result),
        }
    }

    fn plane_kinds(&self) -> PlaneKinds {
        let count = self.listing.grid[0];
        let others = (1..=count).map(|plane| format!("plane {plane} of the listed game"));
        PlaneKinds { others: others.collect(), ..PlaneKinds::default() }
    }

    fn write_planes(&self, state: &u32, out: &mut [f32]) {
        out.copy_from_slice(self.planes_of(*state));
    }

    /// Returns the one listed state with these planes; `None` if several have them.
    fn read_planes(&self, planes: &[f32]) -> Option<u32> {
        let in_order = |one: &[f32], other: &[f32]| {
            let both = one.iter().zip(other).map(|(one, other)| one.total_cmp(other));
            both.fold(Ordering::Equal, Ordering::then)
        };
        let states = self.by_planes.get_or_init(|| {
            let listed = 0..self.listing.passes().start as u32;
            let mut states: Vec<u32> = listed.collect();
            states.sort_by(|one, other| in_order(self.planes_of(*one), self.planes_of(*other)));
            states
        });
        if self.listing.planes.is_empty() || planes.len() != self.planes_of(0).len() {
            return None;
        }
        let order = |state: &&u32| in_order(self.planes_of(**state), planes);
        let begin = states.partition_point(|state| order(&state).is_lt());
        let mut same = states[begin..].iter().take_while(|state| order(state).is_eq());
        same.next().filter(|_| same.next().is_none()).copied()
    }

    /// Returns nothing: numbers of actions say nothing about squares.
    fn move_squares(&self, _position: &Position<u32>, _action: Action) -> MoveSquares {
        MoveSquares::default()
    }

    fn action_name(&self, side: Side, action: Action) -> String {
        let (names, count) = (&self.listing.action_names, self.action_count());
        let begin = if names.len() > count { side.index() * count } else { 0 };
        match names.get(begin + usize::from(action.0)) {
            Some(name) => name.clone(),
            None if self.is_pass(action) => "pass".to_string(),
            None => action.0.to_string(),
        }
    }

    fn diagram_with(&self, position: &Position<u32>, _: &[(u16, char)]) -> String {
        match self.listing.texts.get(position.state as usize) {
            Some(text) if self.listing.line_break.is_empty() => text.clone(),
            Some(text) => text.replace(&self.listing.line_break, "\n"),
            None => format!("state {}", position.state),
        }
    }

    fn written(&self, position: &Position<u32>) -> Vec<(&'static str, String)> {
        let (state, side) = (position.state, position.side);
        let text = match self.listing.texts.get(state as usize) {
            Some(text) => text.clone(),
            None => format!("state {state}"),
        };
        // Where both can be to move, the text alone does not say who is.
        let text = match self.only_side(state) == Some(side) {
            true => text,
            false => format!("{text} {}", self.side_name(side)),
        };
        vec![("text", text)]
    }

    fn read_position(&self, text: &str) -> Result<Option<Position<u32>>, Error> {
        let by_text = self.by_text.get_or_init(|| {
            let texts = self.listing.texts.iter().cloned();
            texts.zip(0..).collect()
        });
        let state = |text: &str| match by_text.get(text) {
            Some(state) => Some(*state),
            None => {
                let number = text.strip_prefix("state ")?.parse().ok()?;
                (by_text.is_empty() && (number as usize) < self.listing.states()).then_some(number)
            }
        };
        let lines = text.trim().lines().map(str::trim_end).collect::<Vec<_>>();
        let joined = lines.join(&self.listing.line_break);
        let text = if self.listing.line_break.is_empty() { text.trim() } else { &joined };
        if let Some(state) = state(text) {
            let side = self.only_side(state).unwrap_or(Side::First);
            return Ok(Some(Position { state, side }));
        }
        let with_side = || {
            let (text, name) = text.rsplit_once(' ')?;
            let side = Side::ALL.into_iter().find(|known| self.side_name(*known) == name)?;
            Some(Position { state: state(text)?, side })
        };
        Ok(with_side())
    }

    fn conventions(&self) -> Vec<(&'static str, String)> {
        let keys = "number of the state in the arrays game_row_pointers to game_results";
        vec![("keys", keys.to_string())]
    }
}
