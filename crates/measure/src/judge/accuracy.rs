//! Loss of a policy's moves against the best ones, and accuracy of its values.
//!
//! Policies answer in every position of a [`Source`]. All policies share one pass, because computing
//! the moves of a position and their values costs more than the answer of a cheap policy. Sums are taken over
//! pieces of a fixed size and added in order, so they are bit-identical for any number of threads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::details::{DetailSums, Details, HeldOut};
use super::doubts::Seen;
use super::figures::{FiguresBySet, FiguresBySplit};
use super::forced::ForcedFigures;
use super::intervals::Intervals;
use super::mistakes::Mistake;
use super::player::Player;
use super::positions::{Checksum, Piece, Source, TablePositions};
use super::unfolded::Unfolded;
use crate::policy::{Answers, TrainedOn};
use yomikiri::error::{Error, Kind};
use yomikiri::oracle::SolvedTable;
use yomikiri::parallel;
use yomikiri::progress::Progress;
use yomikiri::rules::{Divider, Rules, Split};

/// Figures of one policy on one table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PolicyAccuracy {
    /// Name of the policy.
    pub policy: String,
    /// Figures on all judged positions.
    pub total: FiguresBySet,
    /// Figures by part of the training split; `None` if that is unknown.
    pub splits: Option<FiguresBySplit>,
    /// Reading of its model's outputs, in words, if their names or sizes decided that; `None` if a card or the policy
    /// itself says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
    /// Signs that its numbers are read as something they are not, each with the option that mends it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// `true` if the policy is external and its training positions are unknown.
    pub may_have_learned: bool,
    /// Details on all judged positions.
    #[serde(flatten)]
    pub details: Details,
    /// Details on held-out positions; `None` if they are unknown, or there are none.
    #[serde(rename = "held_out")]
    pub held_out_details: Option<HeldOut>,
    /// Figures of positions with moves proven in part; `None` for complete tables.
    pub forced: Option<ForcedFigures>,
    /// `true` if it is tied with the policy ranked above it: in a sample, if the interval of their difference in the
    /// result kept contains 0; else if both are equal.
    pub tied: bool,
    /// Confidence intervals over decisive positions (held-out ones, if known), if the positions are a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Intervals>,
    /// Costliest mistakes, if requested and games are not played out; games weigh mistakes by how often they
    /// occur.
    pub costliest: Vec<Mistake>,
}

impl PolicyAccuracy {
    /// Returns the figures to judge the policy by: on held-out positions if there are any, else on all.
    pub fn held_out(&self) -> &FiguresBySet {
        let apart = self.splits.as_ref();
        apart.and_then(|apart| Some(apart.of(apart.held_out()?))).unwrap_or(&self.total)
    }

    /// Returns `true` if the policy has learned from some of the positions.
    pub fn has_learned(&self) -> bool {
        self.splits.is_some_and(|splits| splits.train.all.positions > 0)
    }

    /// Returns the details on the same positions.
    pub fn held_out_details(&self) -> &Details {
        self.held_out_details.as_ref().map_or(&self.details, |held_out| &held_out.details)
    }
}

/// Results of measuring on a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Number of positions in which policies were judged.
    pub judged: u64,
    /// Number of positions policies were asked about; the others are images of these.
    pub asked: u64,
    /// Time of each policy for a position, in seconds of one thread; `None` for `perfect`, which looks up the
    /// table.
    pub seconds: Vec<Option<f64>>,
    /// Figures of each policy.
    pub policies: Vec<PolicyAccuracy>,
    /// Checksum of what was judged.
    pub checksum: Checksum,
}

/// Number of pieces in flight before their sums are added.
const WINDOW: usize = 128;

/// Receiver of every piece in order, with each policy's answers.
pub type RowSink<'s> = dyn FnMut(&Piece, &[Answers]) -> Result<(), Error> + 's;

/// Judges policies in the positions of a source; passes their answers to `sink`.
pub fn measure(
    source: &dyn Source,
    players: &[Player],
    mut sink: Option<&mut RowSink<'_>>,
    progress: &dyn Progress,
) -> Result<Measured, Error> {
    let names: Vec<String> = players.iter().map(Player::name).collect();
    progress.begin(&format!("judging {}", names.join(", ")), Some(source.rows()));
    let mut sums = vec![Sums::default(); players.len()];
    let mut seen = vec![Seen::default(); players.len()];
    let (mut judged, mut asked, mut taken) = (0, 0, vec![Duration::ZERO; players.len()]);
    let (keep, mut checksum) = (sink.is_some(), Checksum::default());
    let dividers: Vec<_> = players.iter().map(|player| player.divider(source.game())).collect();
    for begin in (0..source.pieces()).step_by(WINDOW) {
        let window = WINDOW.min(source.pieces() - begin);
        let parts = parallel::try_map(window, &|place| {
            let (pieces, rows) = source.fill(begin + place)?;
            let part = |at: usize| judge(source, pieces[at].clone(), players, &dividers, keep);
            let parts = parallel::try_map(pieces.len(), &part)?;
            progress.advance(rows);
            Ok::<Vec<PieceResult>, Error>(parts)
        });
        for part in parts?.into_iter().flatten() {
            judged += part.judged;
            asked += part.asked;
            checksum.add(part.checksum);
            taken.iter_mut().zip(part.taken).for_each(|(sum, part)| *sum += part);
            seen.iter_mut().zip(&part.seen).for_each(|(all, part)| all.add(part));
            let both = sums.iter_mut().flatten().zip(part.sums.iter().flatten());
            both.for_each(|(sum, part)| sum.add(part));
            if let (Some(sink), Some(piece)) = (&mut sink, &part.piece) {
                sink(piece, &part.answers)?;
            }
        }
    }
    progress.finish(&format!("{judged} positions"));
    let named = names.into_iter().zip(&sums).zip(players).zip(&seen);
    let named = named.map(|(((name, sums), player), seen)| {
        let accuracy = PolicyAccuracy::of(sums, source.game(), name, player.learned_from());
        let reading = player.policy().and_then(|policy| policy.reading());
        PolicyAccuracy { reading, doubts: seen.doubts(), ..accuracy }
    });
    let policies = named.collect();
    let seconds = |(taken, player): (Duration, &Player)| {
        player.policy().map(|_| taken.as_secs_f64() / asked.max(1) as f64)
    };
    let seconds = taken.into_iter().zip(players).map(seconds).collect();
    Ok(Measured { judged, asked, seconds, policies, checksum })
}

/// Estimates the seconds that [`measure`] takes, from positions of the piece in the middle: from four where policies
/// are slow, from up to 2048 where they are fast.
pub(super) fn judging_seconds(source: &dyn Source, players: &[Player]) -> Result<f64, Error> {
    if source.pieces() == 0 {
        return Ok(0.0);
    }
    let begun = Instant::now();
    let (pieces, rows) = source.fill(source.pieces() / 2)?;
    let positions: usize = pieces.iter().map(|piece| piece.cases.len()).sum();
    let (filling, mut each) = (begun.elapsed().as_secs_f64(), 0.0);
    let dividers: Vec<_> = players.iter().map(|player| player.divider(source.game())).collect();
    for (step, piece) in [512, 64, 8, 1].into_iter().zip(pieces.iter().cycle()) {
        let thinned = piece.only(&|_, at| at % step == 0);
        let (begun, count) = (Instant::now(), thinned.batch.len());
        judge(source, Arc::new(thinned), players, &dividers, false)?;
        let taken = begun.elapsed().as_secs_f64();
        each = taken / count.max(1) as f64;
        if taken > 0.1 {
            break;
        }
    }
    let row = (filling + each * positions as f64) / rows.max(1) as f64;
    Ok(row * source.rows() as f64 / rayon::current_num_threads() as f64)
}

/// Results for a piece.
struct PieceResult {
    judged: u64,
    asked: u64,
    checksum: Checksum,
    /// Sums of each policy.
    sums: Vec<Sums>,
    /// Numbers of each policy.
    seen: Vec<Seen>,
    /// Answering time of each policy.
    taken: Vec<Duration>,
    /// The piece and each policy's answers, if there is a sink.
    piece: Option<Arc<Piece>>,
    answers: Vec<Answers>,
}

fn judge(
    source: &dyn Source,
    piece: Arc<Piece>,
    players: &[Player],
    dividers: &[Option<Divider>],
    keep: bool,
) -> Result<PieceResult, Error> {
    let game = source.game();
    let (has_squares, (rows, columns)) = (game.has_squares(), game.shape());
    // Else an action leads to a square that depends on the position, or from one square to another.
    let are_squares = game.action_count().saturating_sub(rows * columns) <= 1;
    let are_squares = are_squares && game.action_count() >= rows * columns;
    // A pass that a list of states adds is no choice of anybody.
    let is_choice =
        |at: &usize| !game.adds_passes() || !game.must_pass(&piece.batch.positions()[*at].state);
    let choices: Vec<usize> = (0..piece.cases.len()).filter(is_choice).collect();
    let judged = choices.iter().map(|&at| u64::from(piece.cases[at].weight)).sum();
    let (asked, sums) = (piece.batch.len() as u64, Vec::with_capacity(players.len()));
    let (taken, answers) = (Vec::with_capacity(players.len()), Vec::new());
    let mut checksum = Checksum::default();
    checksum.add_piece(game, &piece);
    let seen = Vec::with_capacity(players.len());
    let mut found =
        PieceResult { judged, asked, checksum, sums, seen, taken, piece: None, answers };
    for (player, divider) in players.iter().zip(dividers) {
        let failed = |error| of_policy(error, &player.name());
        let begun = Instant::now();
        let answers = match piece.batch.is_empty() {
            true => Answers::default(),
            false => player.answer(game, &piece).map_err(failed)?,
        };
        found.taken.push(begun.elapsed());
        let (mut sums, mut seen) = (Sums::default(), Seen::default());
        for &at in &choices {
            let (case, range) = (&piece.cases[at], piece.batch.range(at));
            let state = &piece.batch.positions()[at].state;
            let split = divider.as_ref().and_then(|divider| divider.of(state));
            let answer = answers.at(at, range.clone());
            let truths = &piece.truths[range.clone()];
            let part = &mut sums[split.map_or(Split::ALL.len(), Split::index)];
            part.add_position(case, truths, &answer);
            seen.add_position(&answer, &case.own);
            if has_squares && piece.has_images {
                let position = &piece.batch.positions()[at];
                let squares =
                    piece.batch.actions()[range].iter().map(|&action| match are_squares {
                        true => Some(action.0),
                        false => game.move_squares(position, action).to,
                    });
                part.squares.add_position(case, squares, truths, answer.probabilities);
            }
        }
        sums.iter_mut().for_each(DetailSums::settle);
        found.sums.push(sums);
        found.seen.push(seen);
        if keep {
            found.answers.push(answers);
        }
    }
    found.piece = keep.then_some(piece);
    Ok(found)
}

/// Appends the move probabilities of each policy in a piece.
pub(super) fn gather(all: &mut Vec<Vec<f64>>, answers: &[Answers]) {
    all.resize_with(answers.len(), Vec::new);
    all.iter_mut().zip(answers).for_each(|(all, part)| all.extend(&part.probabilities));
}

/// Returns the move probabilities of each player in all positions that games on a table reach: one an edge of
/// the unfolded table.
pub fn play_everywhere(
    table: &SolvedTable,
    unfolded: &Unfolded,
    players: &[Player],
    progress: &dyn Progress,
) -> Result<Vec<Vec<f64>>, Error> {
    let mut all = Vec::new();
    let mut sink = |_: &Piece, answers: &[Answers]| {
        gather(&mut all, answers);
        Ok(())
    };
    measure(&TablePositions::everywhere(table, unfolded), players, Some(&mut sink), progress)?;
    table.table().check_read()?;
    Ok(all)
}

/// Sums of one policy: over each part of its training split, then over all other positions.
type Sums = [DetailSums; 4];

impl PolicyAccuracy {
    fn of(sums: &Sums, game: &dyn Rules, policy: String, learned: TrainedOn) -> PolicyAccuracy {
        let mut all = DetailSums::default();
        sums.iter().for_each(|part| all.add(part));
        let [train, validation, test] = Split::ALL.map(|split| sums[split.index()].total);
        let splits = learned.division().map(|_| FiguresBySplit { train, validation, test });
        let held_out = splits.as_ref().and_then(FiguresBySplit::held_out);
        PolicyAccuracy {
            policy,
            total: all.total,
            splits,
            reading: None,
            doubts: Vec::new(),
            may_have_learned: learned == TrainedOn::Unknown,
            details: all.details(game),
            held_out_details: held_out.map(|split| HeldOut {
                split: split.name(),
                details: sums[split.index()].details(game),
            }),
            forced: None,
            tied: false,
            intervals: None,
            costliest: Vec::new(),
        }
    }
}

/// Names the policy in an error of one.
fn of_policy(error: Error, name: &str) -> Error {
    let kind = match error.kind() {
        kind @ (Kind::Policy | Kind::Damaged) => kind,
        _ => Kind::Answer,
    };
    error.map(|what| format!("policy '{name}': {what}")).of_kind(kind)
}
