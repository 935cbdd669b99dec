//! Positions whose moves are labelled by search, as a source of judged positions.

use std::ops::RangeInclusive;
use std::sync::Arc;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rustc_hash::FxHashSet;

use super::accuracy::{Measured, RowSink, measure};
use super::arena::{Sampling, record};
use super::case::{Case, Piece, Truth};
use super::error::MeasureError;
use super::intervals::{Interval, Intervals};
use super::labels::Labels;
use super::metrics::Metrics;
use super::mistakes::Costliest;
use super::player::Player;
use super::report::{AccuracyReport, TableFacts, Words};
use super::source::Source;
use crate::policy::{Answers, Policy};
use yomikiri::any::{AnyGame, AnyPosition};
use yomikiri::game::{BoardLayout, Empties, Game, GameExt, Side, mix};
use yomikiri::hint::Hinted;
use yomikiri::progress::Progress;
use yomikiri::solve::Value;

/// Draws distinct positions from games of random moves. Each game stops at a number of empty squares drawn
/// from `range` (default: 8 to 12). The seed determines the positions and their order. Returns them with a
/// description; fewer than `count` if 20 games for each do not find as many.
///
/// Fails for games without empty squares, if no position is found, and if `range` is reversed or not below
/// the start's number of empty squares.
pub fn drawn(
    game: &AnyGame,
    range: Option<(u32, u32)>,
    count: usize,
    seed: u64,
    progress: &dyn Progress,
) -> Result<(Vec<AnyPosition>, String), Hinted> {
    let squares = squares_of_discs(game)?;
    let most = squares - game.layer(&game.start().state) - 1;
    let (from, to) = range.unwrap_or((8.min(most), 12.min(most)));
    if from > to || to > most {
        let what =
            format!("invalid range of {from} to {to} empty squares: the start has {}", most + 1);
        return Err(Hinted::new(what, "expected two smaller numbers in ascending order"));
    }
    let found = at_layers(game, squares - to..=squares - from, count, seed, progress);
    if found.is_empty() {
        return Err(Hinted::new("no position was sampled", "allow more empty squares"));
    }
    Ok((found, format!("from random games, {from} to {to} squares empty, seed {seed}")))
}

/// Counts the squares of a board whose layers count discs; fails for games without empty squares.
fn squares_of_discs(game: &AnyGame) -> Result<u32, Hinted> {
    let (rows, columns) = game.shape();
    let has_discs = game.layers().is_some_and(|layers| layers.unit() == "discs");
    if !has_discs || rows * columns == 0 {
        let what = format!("positions of {} cannot be sampled by empty squares", game.name());
        return Err(Hinted::new(what, "name a table, or give positions"));
    }
    Ok((rows * columns) as u32)
}

/// Plays games of `policy` against `opponent`, half as either side. Returns the positions in which `policy`
/// is to move, with repetitions, and a description. A `range` of empty squares filters positions.
///
/// Fails if a policy fails, if no position is found, or if a range is given for a game without empty squares.
pub fn met(
    game: &AnyGame,
    (policy, opponent): (&dyn Policy<AnyGame>, &dyn Policy<AnyGame>),
    range: Option<(u32, u32)>,
    sampling: Sampling,
    progress: &dyn Progress,
) -> Result<(Vec<AnyPosition>, String), Hinted> {
    let squares = if range.is_some() { squares_of_discs(game)? } else { 0 };
    let is_wanted = |position: &AnyPosition| {
        range
            .is_none_or(|(from, to)| (from..=to).contains(&(squares - game.layer(&position.state))))
    };
    let mut found = Vec::new();
    for side in Side::ALL {
        let players = if side == Side::First { [policy, opponent] } else { [opponent, policy] };
        for recorded in record(game, players, sampling, progress)? {
            let own = recorded.positions.into_iter().filter(|position| position.side == side);
            found.extend(own.filter(is_wanted));
        }
    }
    if found.is_empty() {
        return Err(Hinted::new("no game reaches such a position", "allow more empty squares"));
    }
    let games = 2 * sampling.games;
    let mut words = format!(
        "those of {} in {games} games against {}, half as each side, {:.1} per game",
        policy.name(),
        opponent.name(),
        found.len() as f64 / games as f64,
    );
    if let Some((from, to)) = range {
        words += &format!(", {from} to {to} squares empty");
    }
    Ok((found, format!("{words}, seed {}", sampling.seed)))
}

fn at_layers(
    game: &AnyGame,
    layers: RangeInclusive<u32>,
    count: usize,
    seed: u64,
    progress: &dyn Progress,
) -> Vec<AnyPosition> {
    let span = u64::from(layers.end() - layers.start()) + 1;
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    progress.begin_with("sampling", Some(count as u64), "positions");
    for number in 0..20 * count as u64 {
        if found.len() == count {
            break;
        }
        let mut random = SplitMix64::seed_from_u64(mix(seed) ^ mix(number));
        let layer = layers.start() + (random.next_u64() % span) as u32;
        let mut position = game.start();
        loop {
            let actions = game.actions(&position.state);
            if actions.is_empty() || game.layer(&position.state) >= layer {
                break;
            }
            let at = random.next_u64() % actions.len() as u64;
            position = game.advance(&position, actions[at as usize]);
        }
        let is_wanted = game.layer(&position.state) == layer && !game.is_terminal(&position.state);
        let is_new = is_wanted && seen.insert(position);
        if is_new {
            found.push(position);
        }
        // Also where nothing is new, so that it can be cancelled.
        progress.advance(u64::from(is_new));
    }
    progress.finish("positions sampled");
    found
}

/// Positions with the exact values of their moves.
pub struct Searched {
    game: AnyGame,
    empties: Empties,
    parts: Vec<Arc<Piece>>,
    count: u64,
}

impl Searched {
    /// Combines positions with their labels. Leaves out terminal positions; all others must have a label.
    pub fn new(positions: &[AnyPosition], labels: &Labels) -> Result<Searched, MeasureError> {
        let game = labels.game().clone();
        let scored = game.scores().is_some();
        let truth = |score| Truth::of(Value::of_scores(score, score, None), scored);
        let (mut parts, mut count) = (Vec::new(), 0);
        for (row, position) in positions.iter().enumerate() {
            let moves = labels.moves(&position.state)?.unwrap_or_default();
            let Some(best) = moves.iter().map(|(_, score)| *score).max() else { continue };
            let truths: Option<Vec<Truth>> = moves.iter().map(|(_, score)| truth(*score)).collect();
            let layer = game.layers().map(|layers| layers.layer_of(&position.state));
            let case = truth(best)
                .zip(truths)
                .and_then(|(own, truths)| Some((Case::of(row, layer, own, &truths)?, truths)));
            let Some((case, truths)) = case else { continue };
            let out = Piece::with_room(&mut parts);
            out.batch.push(*position, moves.iter().map(|(action, _)| *action));
            out.truths.extend(truths);
            out.cases.push(case);
            count += 1;
        }
        Ok(Searched {
            game,
            empties: labels.empties(),
            parts: parts.into_iter().map(Arc::new).collect(),
            count,
        })
    }
}

impl Searched {
    /// Measures players; `words` describe the positions, and `is_sample` adds confidence intervals. Keeps
    /// `mistakes` of each player.
    pub fn report(
        &self,
        players: &[Player],
        (words, is_sample): (String, bool),
        mistakes: usize,
        mut sink: Option<&mut RowSink<'_>>,
        progress: &dyn Progress,
    ) -> Result<AccuracyReport, MeasureError> {
        let game = &self.game;
        let mut costliest: Vec<Costliest> =
            players.iter().map(|_| Costliest::new(game, mistakes)).collect();
        let mut samples = vec![Sample::default(); players.len()];
        let mut collect = |piece: &Piece, answers: &[Answers]| {
            let all = costliest.iter_mut().zip(&mut samples).zip(answers);
            for ((costliest, sample), answers) in all {
                costliest.add(game, piece, answers);
                sample.add(piece, answers);
            }
            sink.as_mut().map_or(Ok(()), |sink| sink(piece, answers))
        };
        let measured = measure(self, None, players, Some(&mut collect), progress)?;
        let Measured { judged, asked, seconds, mut policies } = measured;
        for ((policy, costliest), sample) in policies.iter_mut().zip(costliest).zip(samples) {
            policy.costliest = costliest.mistakes();
            policy.intervals = is_sample.then(|| sample.intervals()).flatten();
        }
        let table = TableFacts {
            name: format!("{} by search", game.name()),
            searched: Some(words.clone()),
            taken: None,
            game: game.name(),
            complete: true,
            symmetry_order: 1,
            keeps_sides: true,
            empties: game.scores().map(|_| self.empties.name().to_string()),
            repetition: None,
            rows: self.count,
            reachable_states: None,
            terminal_states: 0,
            nonterminal_states: self.count,
            judged_states: judged,
            asked_states: asked,
            chosen: Some(words),
            roots: Vec::new(),
        };
        let mut report = AccuracyReport {
            perspective: "mover",
            table,
            policies,
            games: None,
            why_no_games: None,
            agreement: None,
            seconds,
            sweeps: Vec::new(),
            words: Words::of(game),
            board: BoardLayout::of(game),
            metrics: Vec::new(),
            changes: None,
        };
        report.metrics = Metrics::of(&report.policies, report.games.as_ref());
        Ok(report)
    }
}

/// Probability of keeping the outcome, and loss, in each position whose moves differ in outcome.
#[derive(Clone, Debug, Default)]
struct Sample {
    kept: Vec<f64>,
    lost: Vec<f64>,
}

impl Sample {
    fn add(&mut self, piece: &Piece, answers: &Answers) {
        for (at, case) in piece.cases.iter().enumerate().filter(|(_, case)| case.differs_in_outcome)
        {
            let range = piece.batch.range(at);
            let truths = &piece.truths[range.clone()];
            let probabilities = answers.at(at, range).probabilities;
            let mean = |worth: &dyn Fn(&Truth) -> f64| -> f64 {
                truths.iter().zip(probabilities).map(|(truth, p)| p * worth(truth)).sum()
            };
            self.kept.push(mean(&|truth| f64::from(u8::from(truth.outcome == case.own.outcome))));
            let own = f64::from(case.own.q_score().0);
            self.lost.push(mean(&|truth| own - f64::from(truth.q_score().0)));
        }
    }

    fn intervals(&self) -> Option<Intervals> {
        Some(Intervals { result_kept: Interval::of(&self.kept)?, lost: Interval::of(&self.lost)? })
    }
}

impl Source for Searched {
    fn game(&self) -> &AnyGame {
        &self.game
    }

    fn pieces(&self) -> usize {
        self.parts.len()
    }

    fn rows(&self) -> u64 {
        self.count
    }

    fn fill(&self, piece: usize) -> Result<(Vec<Arc<Piece>>, u64), String> {
        let part = &self.parts[piece];
        Ok((vec![part.clone()], part.cases.len() as u64))
    }
}
