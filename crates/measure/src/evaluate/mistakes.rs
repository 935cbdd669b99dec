//! The positions in which a policy gives away the most.

use std::collections::BTreeMap;

use serde::Serialize;

use super::figures::{outcome_lost, score_lost};
use super::play::Play;
use super::source::Piece;
use super::source::Truth;
use crate::policy::Answers;
use yomikiri::any::{AnyGame, AnyPosition};
use yomikiri::game::{Action, FoldedWords, GameExt, StateWords};
use yomikiri::solved::SolvedTable;

/// A position in which a policy gives something away; it stands for its mirror images too.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Mistake {
    /// The position in the game's one-line notation.
    pub position: String,
    /// The board as rows of text.
    pub diagram: String,
    /// The name of the side to move.
    pub mover: String,
    /// How often a game of the policy comes to it or one of its images, on average over games
    /// against itself, random moves and perfect ones, on either side; `None` where games are not
    /// played out.
    pub met: Option<f64>,
    /// The outcome given away in it, expected over the policy's moves.
    pub outcome_lost: f64,
    /// The score given away; `None` in games without.
    pub score_lost: Option<f64>,
    /// In games without scores: the plies by which moves that keep the outcome win later, or lose
    /// sooner, than need be; `None` where plies are not compared.
    pub plies_lost: Option<f64>,
    /// All moves, the policy's likeliest first.
    pub moves: Vec<MoveFacts>,
}

/// A move of a position.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MoveFacts {
    /// As people write it.
    #[serde(rename = "move")]
    pub name: String,
    /// With which probability the policy chooses it.
    pub probability: f64,
    /// The exact outcome for who makes it.
    pub outcome: i8,
    /// The exact score.
    pub score: Option<i8>,
    /// Plies to the end with it under best play, where they are known.
    pub distance: Option<u16>,
    /// Whether it keeps the best score; in games without, the best outcome.
    pub best: bool,
}

/// What a policy gives away in a position: outcome, score, and plies among moves that keep the
/// outcome.
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    outcome: f64,
    score: f64,
    plies: f64,
}

impl Lost {
    fn of(own: &Truth, timed: bool, moves: impl Iterator<Item = (Truth, f64)>) -> Lost {
        let mut lost = Lost::default();
        for (truth, p) in moves.filter(|(_, p)| *p > 0.0) {
            lost.outcome += p * outcome_lost(own, &truth);
            lost.score += p * f64::from(score_lost(own, &truth));
            if let (true, Some(best), Some(plies)) = (timed, own.distance, truth.distance)
                && own.outcome == truth.outcome
            {
                lost.plies += p * f64::from(best.abs_diff(plies));
            }
        }
        lost
    }

    /// By which positions are put in order; what differs only by rounding is equal.
    fn size(&self) -> [i64; 3] {
        [self.outcome, self.score, self.plies].map(|lost| (lost * 1e9).round() as i64)
    }
}

impl Mistake {
    /// In a position whose value is `own`, with its moves, and what is lost there; plies if they are
    /// compared.
    fn new(
        game: &AnyGame,
        position: &AnyPosition,
        own: &Truth,
        (met, lost, timed): (Option<f64>, Lost, bool),
        moves: impl Iterator<Item = (Action, Truth, f64)>,
    ) -> Mistake {
        let facts = |(action, truth, probability): (Action, Truth, f64)| MoveFacts {
            name: game.action_name(position.side, action),
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
            mover: game.side_name(position.side).to_string(),
            met,
            outcome_lost: lost.outcome,
            score_lost: own.score.map(|_| lost.score),
            plies_lost: timed.then_some(lost.plies),
            moves,
        }
    }
}

/// The positions in which a policy gives away the most, wherever it is judged: by outcome first,
/// then by score, then by plies. Of images of a position the first of the worst is kept.
pub struct Costliest {
    most: usize,
    images: FoldedWords<AnyGame>,
    /// The worst first, each with its size and the words of all its images.
    kept: Vec<([i64; 3], StateWords, Mistake)>,
}

impl Costliest {
    /// Of a game; so many are kept.
    pub fn new(game: &AnyGame, most: usize) -> Costliest {
        Costliest { most, images: FoldedWords::new(game), kept: Vec::new() }
    }

    /// Adds the positions of a piece, with what the policy answered.
    pub fn add(&mut self, game: &AnyGame, piece: &Piece, answers: &Answers) {
        if self.most == 0 {
            return;
        }
        for (at, case) in piece.cases.iter().enumerate() {
            let range = piece.batch.range(at);
            let chosen = || {
                let truths = piece.truths[range.clone()].iter().copied();
                truths.zip(answers.probabilities[range.clone()].iter().copied())
            };
            let lost = Lost::of(&case.own, case.timed, chosen());
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

    /// The mistakes, the worst first.
    pub fn mistakes(self) -> Vec<Mistake> {
        self.kept.into_iter().map(|(.., mistake)| mistake).collect()
    }
}

/// A position and its images in games of a policy.
#[derive(Clone, Copy, Default)]
struct Met {
    /// How often they are met.
    met: f64,
    /// The outcome and the score given away in a game there.
    cost: [f64; 2],
    /// Where the most is given away, the first such, and its size.
    worst: Option<(usize, [i64; 3])>,
}

/// The positions in which a policy gives away the most in a game, by how often it meets them
/// against each of three opponents: by outcome first, then by score. A position and its images count together, and the worst of them is
/// shown.
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
            let size = Lost { outcome, score, plies: 0.0 }.size();
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

/// By row a number that a position and its images have in common.
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
    // What cannot be read stands for itself; whoever unfolded the table has read it all.
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
    let lost = Lost::of(&own, false, moves.iter().map(|&(_, truth, p)| (truth, p)));
    Some(Mistake::new(game, &position, &own, (Some(found.met), lost, false), moves.into_iter()))
}
