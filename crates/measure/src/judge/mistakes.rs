//! Costliest mistakes: positions in which a policy loses the most.

use std::collections::BTreeMap;

use serde::Serialize;

use super::exact_play::Play;
use super::figures::{result_lost_by, score_lost_by};
use super::positions::{Piece, Truth};
use crate::policy::Answers;
use yomikiri::oracle::SolvedTable;
use yomikiri::rules::{Action, AnyPosition, Drawn, FoldedWords, MoveSquares, Rules, StateWords};

/// A position in which a policy loses something; it represents its mirror images too.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Mistake {
    /// Position in the game's one-line notation.
    pub position: String,
    /// Board as rows of text.
    pub diagram: String,
    /// Content of its squares and hands.
    pub board: Drawn,
    /// Name of the side to move.
    pub mover: String,
    /// Expected number of visits to the position or its images in a game, averaged over games of the policy
    /// against itself, random moves and perfect ones, on either side; `None` if games are not played out.
    pub met: Option<f64>,
    /// Expected loss of outcome by the policy's move.
    pub result_lost: f64,
    /// Expected loss of score; `None` in games without scores.
    pub score_lost: Option<f64>,
    /// In games without scores: expected plies by which moves that keep the outcome win later, or lose
    /// sooner, than necessary; `None` if plies are not compared.
    pub plies_lost: Option<f64>,
    /// All moves, the policy's likeliest first.
    pub moves: Vec<MoveFacts>,
}

/// A move of a position.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MoveFacts {
    /// Notation of the move.
    #[serde(rename = "move")]
    pub name: String,
    /// Squares that it leaves and reaches.
    #[serde(flatten)]
    pub squares: MoveSquares,
    /// Probability with which the policy chooses it.
    pub probability: f64,
    /// Exact outcome for the player who makes it.
    pub outcome: i8,
    /// Exact score.
    pub score: Option<i8>,
    /// Plies to the end after it under best play, if known.
    pub distance: Option<u16>,
    /// `true` if it keeps the best score (outcome in games without scores).
    pub best: bool,
}

/// Expected losses of a policy in a position: outcome, score, and plies among moves that keep the outcome.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MoveLoss {
    pub outcome: f64,
    pub score: f64,
    plies: f64,
}

impl MoveLoss {
    pub(super) fn of(
        own: &Truth,
        timed: bool,
        moves: impl Iterator<Item = (Truth, f64)>,
    ) -> MoveLoss {
        let mut lost = MoveLoss::default();
        for (truth, p) in moves.filter(|(_, p)| *p > 0.0) {
            lost.outcome += p * result_lost_by(own, &truth);
            lost.score += p * f64::from(score_lost_by(own, &truth));
            if let (true, Some(best), Some(plies)) = (timed, own.distance, truth.distance)
                && own.outcome == truth.outcome
            {
                lost.plies += p * f64::from(best.abs_diff(plies));
            }
        }
        lost
    }

    /// Returns the sort key of mistakes, rounded so that rounding errors are ties.
    fn size(&self) -> [i64; 3] {
        [self.outcome, self.score, self.plies].map(|lost| (lost * 1e9).round() as i64)
    }
}

impl Mistake {
    /// Returns the mistake in a position of value `own`; `lost.plies` counts if `timed`.
    pub(super) fn new(
        game: &dyn Rules,
        position: &AnyPosition,
        own: &Truth,
        (met, lost, timed): (Option<f64>, MoveLoss, bool),
        moves: impl Iterator<Item = (Action, Truth, f64)>,
    ) -> Mistake {
        let facts = |(action, truth, probability): (Action, Truth, f64)| MoveFacts {
            name: game.action_name(position.side, action),
            squares: game.move_squares(position, action),
            probability,
            outcome: truth.outcome.value(),
            score: truth.score.map(|score| score.0),
            distance: truth.distance,
            best: truth.q_score() == own.q_score(),
        };
        let mut moves: Vec<MoveFacts> = moves.map(facts).collect();
        moves.sort_by(|a, b| {
            b.probability
                .total_cmp(&a.probability)
                .then((b.outcome, b.score).cmp(&(a.outcome, a.score)))
                .then(a.name.cmp(&b.name))
        });
        Mistake {
            position: game.notation(position),
            diagram: game.diagram(position),
            board: game.drawn(position),
            mover: game.side_name(position.side).to_string(),
            met,
            result_lost: lost.outcome,
            score_lost: own.score.map(|_| lost.score),
            plies_lost: timed.then_some(lost.plies),
            moves,
        }
    }
}

/// Collector of the positions in which a policy loses the most wherever it is judged: by outcome, then score,
/// then plies. The first of the worst images of a position is kept.
pub struct Costliest {
    most: usize,
    images: FoldedWords,
    /// The worst first, each with its size and a key common to all its images.
    kept: Vec<([i64; 3], StateWords, Mistake)>,
}

impl Costliest {
    /// Returns an empty collector that keeps `most` mistakes.
    pub fn new(game: &dyn Rules, most: usize) -> Costliest {
        Costliest { most, images: FoldedWords::new(game), kept: Vec::new() }
    }

    /// Adds the positions of a piece with the policy's answers.
    pub fn add(&mut self, game: &dyn Rules, piece: &Piece, answers: &Answers) {
        if self.most == 0 {
            return;
        }
        for (at, case) in piece.cases.iter().enumerate() {
            let range = piece.batch.range(at);
            let chosen = || {
                let truths = piece.truths[range.clone()].iter().copied();
                truths.zip(answers.probabilities[range.clone()].iter().copied())
            };
            let lost = MoveLoss::of(&case.own, case.timed, chosen());
            let size = lost.size();
            let is_full = self.kept.len() >= self.most;
            let least = self.kept.last().filter(|_| is_full).map_or([0; 3], |(size, ..)| *size);
            if size <= least {
                continue;
            }
            let position = &piece.batch.positions()[at];
            let words = self.images.of(&position.state);
            if let Some(same) = self.kept.iter().position(|(_, other, _)| *other == words) {
                if size <= self.kept[same].0 {
                    continue;
                }
                self.kept.remove(same);
            }
            let actions = piece.batch.actions()[range.clone()].iter().copied();
            let moves = actions.zip(chosen()).map(|(action, (truth, p))| (action, truth, p));
            let place = self.kept.partition_point(|(other, ..)| *other >= size);
            let mistake = Mistake::new(game, position, &case.own, (None, lost, case.timed), moves);
            self.kept.insert(place, (size, words, mistake));
            self.kept.truncate(self.most);
        }
    }

    /// Returns the mistakes, the worst first.
    pub fn mistakes(self) -> Vec<Mistake> {
        self.kept.into_iter().map(|(.., mistake)| mistake).collect()
    }
}

/// A position and its images in games of a policy.
#[derive(Clone, Copy, Default)]
struct Met {
    /// Expected number of visits.
    met: f64,
    /// Expected losses of outcome and score in a game there.
    cost: [f64; 2],
    /// First position of the greatest loss, with its size.
    worst: Option<(usize, [i64; 3])>,
}

/// Returns the `count` positions in which a policy loses the most in a game, by outcome, then by score,
/// averaged over three opponents and weighted by visits. A position and its images count together,
/// represented by the worst of them.
pub(super) fn mistakes(
    play: &Play<'_>,
    policy: &[f64],
    (lost, met): (&[[f64; 4]], &[&Vec<f64>; 3]),
    count: usize,
) -> Vec<Mistake> {
    if count == 0 {
        return Vec::new();
    }
    let unfolded = play.unfolded();
    let mut weight = vec![0.0; unfolded.positions()];
    for met in met {
        weight.iter_mut().zip(*met).for_each(|(sum, met)| *sum += met / 3.0);
    }
    let class = classes(play.table());
    let mut classes = vec![Met::default(); class.len()];
    for at in (0..unfolded.positions()).filter(|&at| weight[at] > 0.0) {
        let [_, _, outcome, score] = lost[at];
        let found = &mut classes[class[unfolded.row(at)] as usize];
        found.met += weight[at];
        found.cost[0] += weight[at] * outcome;
        found.cost[1] += weight[at] * score;
        if outcome + score > 0.0 {
            let size = MoveLoss { outcome, score, plies: 0.0 }.size();
            if found.worst.is_none_or(|(_, most)| size > most) {
                found.worst = Some((at, size));
            }
        }
    }
    let mut costly: Vec<Met> =
        classes.into_iter().filter(|found| found.cost[0] + found.cost[1] > 0.0).collect();
    costly.sort_by(|a, b| {
        let cost = |at: usize| b.cost[at].total_cmp(&a.cost[at]);
        cost(0).then(cost(1)).then(a.worst.cmp(&b.worst))
    });
    costly.into_iter().take(count).filter_map(|found| mistake(play, policy, &found)).collect()
}

/// Returns for each row a number that it shares with its images.
fn classes(table: &SolvedTable) -> Vec<u32> {
    let states = table.states();
    let rows = 0..states.rows() as u32;
    if table.table().manifest().identity.symmetry_order > 1 {
        return rows.collect();
    }
    let (words, mut first) = (FoldedWords::new(table.game()), BTreeMap::new());
    let mut classes: Vec<u32> = rows.collect();
    let visited = states.visit(0..states.rows(), |row, position| {
        classes[row] = *first.entry(words.of(&position.state)).or_insert(row as u32);
        Ok(())
    });
    // Unreadable rows are their own class; unfolding the table has already read them all.
    drop(visited);
    classes
}

fn mistake(play: &Play<'_>, policy: &[f64], found: &Met) -> Option<Mistake> {
    let (game, (at, _)) = (play.table().game(), found.worst?);
    let position = play.unfolded().position(play.table().states(), at)?;
    let own = play.truth(at)?;
    let edges = play.unfolded().edges_of(at);
    let moves = game.actions(&position.state).into_iter().zip(edges);
    let moves = moves.map(|(action, edge)| Some((action, play.move_truth(edge)?, policy[edge])));
    let moves = moves.collect::<Option<Vec<_>>>()?;
    let lost = MoveLoss::of(&own, false, moves.iter().map(|&(_, truth, p)| (truth, p)));
    Some(Mistake::new(game, &position, &own, (Some(found.met), lost, false), moves.into_iter()))
}
