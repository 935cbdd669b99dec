//! Reviews of games: each move beside the exact value of its position, and the figures of each player.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::figure_list::{FIGURES, Figure, SETS};
use super::figures::{Figures, FiguresBySet, result_lost_by, score_lost_by};
use super::positions::{Example, KnownValues, Truth};
use super::report::Words;
use crate::records::Record;
use yomikiri::error::{Error, Kind};
use yomikiri::oracle::{
    Budget, Oracle, SearchOracle, SolvedTable, Verdict, WantedValues, empty_squares,
};
use yomikiri::progress::{Progress, Silent};
use yomikiri::rules::{
    Action, AnyPosition, BoardLayout, Drawn, Empties, MoveSquares, Rules, SearchLimits,
    SearchOptions, Side,
};
use yomikiri::solve::Value;

/// Games, each move judged where its value and that of its position are proven.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Review {
    /// Game, such as othello-8x8.
    pub game: String,
    /// Origin of the values: `table NAME`, `search`, or both.
    pub values: String,
    /// Rule for empty squares in scores: `uncounted` or `to-winner`; null in games without scores.
    pub empties: Option<&'static str>,
    /// Number of moves of all games.
    pub moves: usize,
    /// Number of judged ones: their own value and that of the position are proven.
    pub judged: usize,
    /// Figures of each player, by name, or by side where a game has no names: the one with the most judged moves first.
    pub players: Vec<PlayerFigures>,
    /// Costliest mistakes of all games, the worst first, as places in `games`.
    pub worst: Vec<MistakePlace>,
    /// Games.
    pub games: Vec<GameReview>,
    /// Names that the game gives its players and points.
    pub words: Words,
    /// Board of the game.
    pub board: BoardLayout,
}

/// Place of a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MistakePlace {
    /// Index of the game.
    pub game: usize,
    /// Number of its move, from 1.
    pub ply: usize,
}

/// A game with its judged moves.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct GameReview {
    /// Place in the file: `line 3`, `game 12`.
    pub place: String,
    /// Names of the first and the second player; null where the file has none.
    pub players: [Option<String>; 2],
    /// Result that the file records.
    pub recorded: Option<String>,
    /// First position.
    pub start: String,
    /// Moves in their order.
    pub moves: Vec<ReviewedMove>,
    /// Number of judged ones.
    pub judged: usize,
    /// Plies of the moves by which the result changed hands: the moves that lose some of it.
    pub turning_points: Vec<usize>,
    /// Value of the last position for the first player: outcome or score; null if it is not proven.
    pub last_value: Option<i32>,
}

/// A move of a game. Values are those of the player who makes it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ReviewedMove {
    /// Number of the move, from 1.
    pub ply: usize,
    /// Name of the side that makes it.
    pub side: &'static str,
    /// The move.
    #[serde(rename = "move")]
    pub name: String,
    /// Position before it.
    pub position: String,
    /// Number of empty squares there; null in games whose layers do not count discs.
    pub empty: Option<u32>,
    /// Value of that position, under best play; null if nothing is known of it.
    pub before: Option<Verdict>,
    /// Value of the move; null if nothing is known of it.
    pub after: Option<Verdict>,
    /// Outcome lost by it: 0, 1 or 2; null if one of the two is not proven.
    pub result_lost: Option<u8>,
    /// Score lost by it; null in games without scores.
    pub score_lost: Option<i32>,
    /// In games without scores: plies by which it wins later, or loses sooner, than the best move; null if they are not
    /// compared.
    pub plies_lost: Option<u16>,
    /// Moves that keep the score (the outcome in games without scores), where the position's is proven.
    pub best: Vec<String>,
    /// Best play from the position of one of the costliest mistakes, as far as it is proven quickly.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub better_line: Vec<String>,
    /// Board before it.
    #[serde(skip)]
    pub drawn: Drawn,
    /// Squares that it leaves and reaches.
    #[serde(skip)]
    pub squares: MoveSquares,
    /// Squares of the first best move.
    #[serde(skip)]
    pub better: Option<MoveSquares>,
    #[serde(skip)]
    from: (AnyPosition, Option<Action>),
    /// Index of the side.
    #[serde(skip)]
    pub side_index: usize,
}

/// Figures of a player. Their names and meanings are those of `report --metrics`: without a word before them over the
/// positions whose moves differ in the result, after `all_` over all judged positions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PlayerFigures {
    /// Name, or the side in games without names.
    pub player: String,
    /// Number of games.
    pub games: usize,
    /// Number of moves.
    pub moves: usize,
    /// Number of judged moves.
    pub judged: usize,
    /// Figures of moves in positions all of whose moves are proven.
    pub figures: Map<String, Json>,
    /// Figures by phase of the game, the earliest first.
    pub phases: Vec<Phase>,
    /// Sums that they are computed from.
    #[serde(skip)]
    pub sums: FiguresBySet,
}

/// Figures of a player in a phase.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Phase {
    /// Phase in words: `20 to 11 empty`, `plies 11 to 20`.
    pub phase: String,
    /// Figures.
    pub figures: Map<String, Json>,
    /// Sums that they are computed from.
    #[serde(skip)]
    pub sums: FiguresBySet,
}

/// Limits of a review.
#[derive(Clone, Copy, Debug)]
pub struct ReviewOptions<'a> {
    /// Directory of the labels that keep searched values.
    pub labels: &'a Path,
    /// Longest search for a game.
    pub time: Option<Duration>,
    /// Plies within which wins are searched for, in games of the shogi family.
    pub win_plies: u32,
    /// Number of costliest mistakes.
    pub worst: usize,
    /// `true` to look for best play instead of each of them.
    pub lines: bool,
    /// Flag that ends the searches when set.
    pub stop: &'a AtomicBool,
}

/// Nodes of the search for a line of best play.
const LINE_NODES: u64 = 20_000_000;
/// Memory of that search.
const LINE_MEMORY: usize = 1 << 26;

/// Figures of a player that are being added up.
#[derive(Default)]
struct Tally {
    games: usize,
    moves: usize,
    judged: usize,
    total: FiguresBySet,
    phases: BTreeMap<u32, FiguresBySet>,
}

/// Progress of which only the signs of life are passed on.
struct Beats<'a>(&'a dyn Progress);

impl Progress for Beats<'_> {
    fn begin(&self, _: &str, _: Option<u64>) {}

    fn advance(&self, _: u64) {
        self.0.advance(0);
    }

    fn finish(&self, _: &str) {}
}

impl Review {
    /// Reviews games. Values that the table does not know are searched, game by game and from the end backwards. Fails if the table
    /// or the labels are damaged.
    pub fn of(
        records: &[Record],
        game: &dyn Rules,
        table: Option<&SolvedTable>,
        options: &ReviewOptions<'_>,
        progress: &dyn Progress,
    ) -> Result<Review, Error> {
        let mut values = KnownValues::new(game, table, options.win_plies);
        let count = records.len();
        let beats = Beats(progress);
        let (whole, each): (&dyn Progress, &dyn Progress) =
            if count > 1 { (progress, &beats) } else { (&Silent, progress) };
        whole.begin_with("reviewing", Some(count as u64), "games");
        let (mut games, mut is_searched) = (Vec::new(), false);
        let mut tallies: FxHashMap<String, Tally> = FxHashMap::default();
        for record in records {
            let positions: Vec<AnyPosition> = record.played.positions().collect();
            let unknown = values.unknown(&mut positions.iter());
            // Games behind the end of the searches show what is known of them.
            if !options.stop.load(Ordering::Relaxed) {
                is_searched |= !unknown.is_empty();
                let stop = Some(options.stop);
                let limits = SearchLimits { stop, ..SearchLimits::within(options.time) };
                values.search(&unknown, options.labels, &limits, each)?;
            }
            games.push(review_game(record, game, &values, &mut tallies)?);
            whole.advance(1);
        }
        values.check()?;
        whole.finish("games reviewed");
        let name = table.map(|table| table.table().name());
        let values_of = match (name, is_searched) {
            (Some(name), false) => format!("table {name}"),
            (Some(name), true) => format!("table {name} and search"),
            (None, _) => "search".to_string(),
        };
        let mut review = Review {
            game: game.name(),
            values: values_of,
            empties: game.has_scores().then(|| values.empties().name()),
            moves: games.iter().map(|game| game.moves.len()).sum(),
            judged: games.iter().map(|game| game.judged).sum(),
            players: players(tallies, game),
            worst: Vec::new(),
            games,
            words: Words::of(game),
            board: game.board_layout(),
        };
        review.worst = review.costliest(options.worst);
        let search = line_search(game, values.empties());
        for place in review.worst.clone().into_iter().filter(|_| options.lines) {
            let at = &mut review.games[place.game].moves[place.ply - 1];
            at.better_line = better_line(game, table, search.as_ref(), at);
        }
        Ok(review)
    }

    /// Returns the judged moves that lose the most, by result, then score, then plies; of equal ones the first.
    fn costliest(&self, most: usize) -> Vec<MistakePlace> {
        let mut all = Vec::new();
        for (game, reviewed) in self.games.iter().enumerate() {
            for at in &reviewed.moves {
                let size = at.size();
                if size > (0, 0, 0) {
                    all.push((size, MistakePlace { game, ply: at.ply }));
                }
            }
        }
        all.sort_by(|(a, _), (b, _)| b.cmp(a));
        all.into_iter().take(most).map(|(_, place)| place).collect()
    }

    /// Returns the move of a place.
    pub fn mistake(&self, place: MistakePlace) -> (&GameReview, &ReviewedMove) {
        let game = &self.games[place.game];
        (game, &game.moves[place.ply - 1])
    }

    /// Returns the name of a player of a game: that of the file, or of the side.
    pub fn player<'a>(&'a self, game: &'a GameReview, side: usize) -> &'a str {
        game.players[side].as_deref().unwrap_or(self.words.sides[side])
    }
}

impl GameReview {
    /// Returns whether a judged move loses anything.
    pub fn has_mistakes(&self) -> bool {
        self.moves.iter().any(|at| at.size() > (0, 0, 0))
    }
}

impl ReviewedMove {
    /// Returns the loss as the order of mistakes counts it: result, score, plies.
    fn size(&self) -> (u8, i32, u16) {
        let of = (self.result_lost, self.score_lost, self.plies_lost);
        (of.0.unwrap_or(0), of.1.unwrap_or(0), of.2.unwrap_or(0))
    }

    /// Returns whether the value of the move and that of its position are proven.
    pub fn is_judged(&self) -> bool {
        self.result_lost.is_some()
    }

    /// Returns whether it loses some of the result or the score.
    pub fn is_mistake(&self) -> bool {
        let (result, score, _) = self.size();
        result > 0 || score > 0
    }

    /// Returns the value of the position before it for the first player: its score, in games without scores its
    /// outcome; `None` if it is not proven.
    pub fn value_for_first(&self) -> Option<i32> {
        of_first(self.before.as_ref()?.value, self.score_lost.is_some(), self.side_index)
    }
}

fn of_first(value: Value, scored: bool, side: usize) -> Option<i32> {
    let truth = Truth::of(value, scored)?;
    let sign = if side == Side::First.index() { 1 } else { -1 };
    Some(sign * i32::from(truth.q_score().0))
}

fn review_game(
    record: &Record,
    game: &dyn Rules,
    values: &KnownValues<'_>,
    tallies: &mut FxHashMap<String, Tally>,
) -> Result<GameReview, Error> {
    let (scored, mut moves) = (game.has_scores(), Vec::new());
    let sides = Side::ALL.map(|side| game.side_name(side));
    let name = |side: Side| record.players[side.index()].as_deref().unwrap_or(sides[side.index()]);
    // A player of both sides has played one game.
    for name in BTreeSet::from(Side::ALL.map(name)) {
        tallies.entry(name.to_string()).or_default().games += 1;
    }
    let positions: Vec<AnyPosition> = record.played.positions().collect();
    for (index, &(position, action)) in record.played.moves().iter().enumerate() {
        let known = values.of(&position, true)?;
        let next = values.of(&positions[index + 1], false)?;
        let before = known.as_ref().map(|known| known.value);
        let own = known.as_ref().and_then(|known| {
            known.moves.iter().find(|(other, _)| *other == action).map(|(_, value)| *value)
        });
        let proven =
            |value: Option<Value>| value.filter(|value| Truth::of(*value, scored).is_some());
        let after = proven(own).or(next.map(|next| next.value.turned(game.is_layered()))).or(own);
        let truth = |value: Option<Value>| Truth::of(value?, scored);
        let lost = truth(before).zip(truth(after));
        let best = known.as_ref().map_or(Vec::new(), |known| best_moves(known, scored));
        let tally = tallies.entry(name(position.side).to_string()).or_default();
        tally.moves += 1;
        tally.judged += usize::from(lost.is_some());
        let figures = known.as_ref().map_or(Ok(None), |known| figures(game, known, action))?;
        if let Some(figures) = figures {
            tally.total.add(&figures);
            let phase = phase_of(game, &position, index);
            tally.phases.entry(phase).or_default().add(&figures);
        }
        let of_best = |action| game.move_squares(&position, action);
        moves.push(ReviewedMove {
            ply: index + 1,
            side: sides[position.side.index()],
            name: game.action_name(position.side, action),
            position: game.notation(&position),
            empty: empty_squares(game, &position.state),
            before: before.map(|value| Verdict::of(value, scored)),
            after: after.map(|value| Verdict::of(value, scored)),
            result_lost: lost.map(|(best, own)| result_lost_by(&best, &own) as u8),
            score_lost: lost.filter(|_| scored).map(|(best, own)| score_lost_by(&best, &own)),
            plies_lost: lost.filter(|_| !scored).and_then(|(best, own)| plies_lost(&best, &own)),
            better: best.first().map(|&action| of_best(action)),
            best: best.iter().map(|&action| game.action_name(position.side, action)).collect(),
            better_line: Vec::new(),
            drawn: game.drawn(&position),
            squares: game.move_squares(&position, action),
            from: (position, best.first().copied()),
            side_index: position.side.index(),
        });
    }
    let last = record.played.position();
    let last_value = values.of(last, false)?.map(|known| known.value);
    let is_turn = |at: &&ReviewedMove| at.result_lost.is_some_and(|lost| lost > 0);
    Ok(GameReview {
        place: record.place.to_string(),
        players: record.players.clone(),
        recorded: record.claim.map(|claim| claim.to_string()),
        start: game.notation(record.played.start()),
        judged: moves.iter().filter(|at| at.is_judged()).count(),
        turning_points: moves.iter().filter(is_turn).map(|at| at.ply).collect(),
        moves,
        last_value: last_value.and_then(|value| of_first(value, scored, last.side.index())),
    })
}

/// Returns the moves of a position that keep its score, or its outcome; none if that is not proven.
fn best_moves(known: &Example, scored: bool) -> Vec<Action> {
    let worth = |value| Truth::of(value, scored).map(|truth| truth.q_score());
    let Some(best) = worth(known.value) else { return Vec::new() };
    let kept = known.moves.iter().filter(|(_, value)| worth(*value) == Some(best));
    kept.map(|(action, _)| *action).collect()
}

/// Returns the plies lost by a move that keeps the outcome of a won or lost position.
fn plies_lost(best: &Truth, own: &Truth) -> Option<u16> {
    let is_kept = best.outcome == own.outcome && best.outcome.value() != 0;
    Some(best.distance.filter(|_| is_kept)?.abs_diff(own.distance?))
}

/// Returns the figures of a chosen move; `None` where not all moves are proven, or none was a choice. Fails if the value of
/// the position does not follow from those of its moves.
fn figures(
    game: &dyn Rules,
    known: &Example,
    action: Action,
) -> Result<Option<FiguresBySet>, Error> {
    if game.adds_passes() && game.must_pass(&known.position.state) {
        return Ok(None);
    }
    let judged = known.judged().map_err(|what| Error::from(what).of_kind(Kind::Damaged))?;
    let Some(judged) = judged else { return Ok(None) };
    let chosen = |other: &Action| f64::from(u8::from(*other == action));
    let chosen: Vec<f64> = judged.actions.iter().map(chosen).collect();
    let figures = Figures::of_position(&judged.case, &judged.truths, &chosen, &chosen);
    let mut sets = FiguresBySet::default();
    let in_score = judged.case.own.score.map(|_| judged.case.differs_in_score);
    sets.add_some(judged.case.differs_in_outcome, in_score, &figures);
    Ok(Some(sets))
}

/// Empty squares, or plies, of a phase.
fn phase_width(game: &dyn Rules) -> u32 {
    let (rows, columns) = game.shape();
    if game.layer_unit() == Some("discs") { ((rows * columns / 6) as u32).max(4) } else { 10 }
}

/// Returns the number of a phase, which ascends with the plies.
fn phase_of(game: &dyn Rules, position: &AnyPosition, index: usize) -> u32 {
    match empty_squares(game, &position.state) {
        Some(empty) => u32::MAX - empty.saturating_sub(1) / phase_width(game),
        None => index as u32 / phase_width(game),
    }
}

fn phase_words(game: &dyn Rules, phase: u32) -> String {
    let width = phase_width(game);
    match game.layer_unit() == Some("discs") {
        true => {
            let least = (u32::MAX - phase) * width;
            format!("{} to {} empty", least + width, least + 1)
        }
        false => format!("plies {} to {}", phase * width + 1, (phase + 1) * width),
    }
}

fn players(tallies: FxHashMap<String, Tally>, game: &dyn Rules) -> Vec<PlayerFigures> {
    let mut all: Vec<(String, Tally)> = tallies.into_iter().collect();
    all.sort_by(|(a, of_a), (b, of_b)| of_b.judged.cmp(&of_a.judged).then(a.cmp(b)));
    let player = |(player, tally): (String, Tally)| PlayerFigures {
        player,
        games: tally.games,
        moves: tally.moves,
        judged: tally.judged,
        figures: named(&tally.total),
        phases: tally
            .phases
            .into_iter()
            .map(|(phase, sums)| Phase {
                phase: phase_words(game, phase),
                figures: named(&sums),
                sums,
            })
            .collect(),
        sums: tally.total,
    };
    all.into_iter().map(player).collect()
}

/// Returns the figures of chosen moves by name, as `--metrics` has them.
fn named(sets: &FiguresBySet) -> Map<String, Json> {
    let is_of_choice = |figure: &&Figure| {
        figure.is_of_moves()
            && !figure.is_of_probabilities()
            && !figure.name.contains("correlation")
    };
    let sums = [&sets.decisive_result, &sets.all];
    let each = SETS.iter().zip(sums).flat_map(|(set, sums)| {
        let of_choice = FIGURES.iter().filter(is_of_choice);
        of_choice.map(move |figure| {
            (format!("{set}{}", figure.name), figure.to_json(figure.compute(sums)))
        })
    });
    each.collect()
}

/// Returns the oracle that searches for lines of best play, the same ones each time.
fn line_search(game: &dyn Rules, empties: Empties) -> Option<SearchOracle> {
    let options =
        SearchOptions { empties, memory: LINE_MEMORY, threads: 1, ..SearchOptions::default() };
    let budget = Budget { time: None, nodes: Some(LINE_NODES) };
    SearchOracle::new(game.shared(), &options, budget, WantedValues::default())
}

/// Returns the first best move and best play behind it, as far as the table or a short search proves it.
fn better_line(
    game: &dyn Rules,
    table: Option<&SolvedTable>,
    search: Option<&SearchOracle>,
    at: &ReviewedMove,
) -> Vec<String> {
    let (position, Some(action)) = at.from else { return Vec::new() };
    let after = game.advance(&position, action);
    let proves =
        |table: &&SolvedTable| table.value_of(&after).is_some_and(|value| table.is_proven(value));
    let line = match (table.filter(proves), search) {
        (Some(table), _) => table.best_line(after).0,
        (None, Some(search)) => {
            search.restart();
            search.best_line(after).0
        }
        (None, None) => Vec::new(),
    };
    let sides = [position.side, after.side].into_iter().cycle();
    let actions = [action].into_iter().chain(line);
    actions.zip(sides).map(|(action, side)| game.action_name(side, action)).collect()
}
