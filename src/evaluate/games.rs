//! What a report says of the games that policies play: results against each other, how much a best
//! response wins, and where games go wrong.

use serde::Serialize;

use super::baselines::Baselines;
use super::beating::{BeatingLine, beating_line};
use super::mistakes::{Mistake, mistakes};
use super::play::{Expected, Play};
use super::response::{Aim, Response};
use crate::game::Side;
use crate::parallel;

/// Exact play between policies from the start of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Games {
    /// After how many plies a game counts as play without end; `None` where games end.
    pub most_plies: Option<u32>,
    /// In the order of the report's policies.
    pub policies: Vec<PolicyGames>,
    /// `table[a][b]`: what games come to for policy `a` as the first player against policy `b`,
    /// both of the report's policies.
    pub table: Vec<Vec<Expected>>,
}

impl Games {
    /// The greatest probability that a game of the report is not over after
    /// [`most_plies`](Games::most_plies); `None` where games end.
    pub fn endless(&self) -> Option<f64> {
        let both = |both: &BothSides<Expected>| [both.first.endless, both.second.endless];
        let fixed = self.policies.iter().flat_map(|policy| {
            [both(&policy.against_random), both(&policy.against_perfect)].concat()
        });
        let others = self.table.iter().flatten().map(|expected| expected.endless);
        self.most_plies.map(|_| fixed.chain(others).fold(0.0, f64::max))
    }
}

/// The games of one policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyGames {
    /// The policy's name.
    pub policy: String,
    /// Against who moves at random, for the policy.
    pub against_random: BothSides<Expected>,
    /// Against the table's best moves, for the policy.
    pub against_perfect: BothSides<Expected>,
    /// Against a best response that aims at the outcome, and at the score.
    pub exploitability: BothSides<Exploitability>,
    /// What the policy gives away in games against itself, random moves and perfect ones.
    pub mistakes: Vec<MistakesAgainst>,
    /// How good it is where games lead: its own, random ones and perfect ones.
    pub where_games_lead: Vec<WhereGamesLead>,
    /// How far it is right where its own moves lead.
    pub own_lines: OwnLines,
    /// How far its values and its moves agree; `None` if it gives no values.
    pub consistency: Option<Consistency>,
    /// The line of a best response on either side.
    pub beating_lines: BothSides<Option<BeatingLine>>,
    /// Where it gives away the most.
    pub costliest: Vec<Mistake>,
}

impl PolicyGames {
    /// What of the result a best response takes, as a mean over both sides, 0 to 2.
    pub fn exploited(&self) -> f64 {
        // Nothing taken may come out a hair off 0.
        let BothSides { first, second } = &self.exploitability;
        let mean = 0.5 * (first.outcome_lost + second.outcome_lost);
        if mean.abs() < 1e-12 { 0.0 } else { mean }
    }
}

/// How far a policy's values agree with each other and with its moves. All values are the mover's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Consistency {
    /// Mean difference between the value of a position and the best that its own values promise one
    /// ply on (a finished game has its true outcome), 0 to 2.
    pub gap: f64,
    /// Over the positions with a choice: mean probability of the moves that its own values find
    /// best.
    pub agreement: f64,
}

/// Something of a policy as the first and as the second player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct BothSides<T> {
    /// As the first player.
    pub first: T,
    /// As the second player.
    pub second: T,
}

impl<T> BothSides<T> {
    /// The same of either side.
    pub fn of(of: impl Fn(Side) -> T) -> BothSides<T> {
        BothSides { first: of(Side::First), second: of(Side::Second) }
    }
}

/// How much of what it could have a policy loses to a best response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Exploitability {
    /// The expected outcome (−1 to 1) that is left to the policy by a best response after outcomes.
    pub outcome: f64,
    /// The game's value for the policy's side, less that: 0 for a policy that cannot be exploited.
    pub outcome_lost: f64,
    /// The expected score that is left to it by a best response after scores.
    pub score: f64,
    /// The game's score for the policy's side, less that.
    pub score_lost: f64,
}

/// What a policy gives away in a game, on average over both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MistakesAgainst {
    /// `itself`, `random` or `perfect`.
    pub opponent: &'static str,
    /// Expected number of moves in a game that give away the outcome.
    pub outcome_mistakes: f64,
    /// Expected number of moves that give away some of the score.
    pub score_mistakes: f64,
    /// Expected outcome given away in a game, move by move.
    pub outcome_lost: f64,
    /// Expected score given away.
    pub score_lost: f64,
}

/// A policy in the positions of some games, each counting as often as a game comes to it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WhereGamesLead {
    /// Who plays both sides of the games: `itself`, `random` or `perfect`.
    pub games: &'static str,
    /// In all positions with a move to make.
    pub all: MetFigures,
    /// In those of them whose moves differ in outcome.
    pub decisive_outcome: MetFigures,
}

/// What a policy keeps and gives away on average in the positions that games come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MetFigures {
    /// How many of them a game comes to.
    pub positions: f64,
    /// Probability of a move that keeps the outcome; `None` if games come to no such position.
    pub result_kept: Option<f64>,
    /// Probability of a move that keeps the score.
    pub score_kept: Option<f64>,
    /// Outcome given away.
    pub result_lost: Option<f64>,
    /// Score given away.
    pub score_lost: Option<f64>,
}

impl MetFigures {
    /// Of how often each position is met and what is lost there.
    fn of<'a>(met: impl Iterator<Item = (f64, &'a [f64; 4])>) -> MetFigures {
        let (mut positions, mut sums) = (0.0, [0.0; 4]);
        for (weight, lost) in met {
            positions += weight;
            sums.iter_mut().zip(lost).for_each(|(sum, lost)| *sum += weight * lost);
        }
        let [outcome, score, result_lost, score_lost] =
            sums.map(|sum| (positions > 0.0).then(|| sum / positions));
        let kept = |lost: Option<f64>| lost.map(|lost| 1.0 - lost);
        let (result_kept, score_kept) = (kept(outcome), kept(score));
        MetFigures { positions, result_kept, score_kept, result_lost, score_lost }
    }
}

/// A policy in the positions to which its own moves lead, whatever the opponent does. A *champion*
/// is right in all of them; an *expert* everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OwnLines {
    /// How many positions with a move to make it may come to, on either side.
    pub positions: u64,
    /// In how many of them it surely keeps the outcome.
    pub right: u64,
    /// The positions on either side in all.
    pub all_positions: u64,
    /// In how many of them it surely keeps the outcome.
    pub all_right: u64,
}

impl OwnLines {
    /// Whether the policy never gives away an outcome in a game of its own.
    pub fn is_champion(&self) -> bool {
        self.right == self.positions
    }

    /// Whether it never gives one away anywhere.
    pub fn is_expert(&self) -> bool {
        self.all_right == self.all_positions
    }
}

/// A policy as it is played: its name, the probabilities of its moves by edge, and, if it gives
/// values, that of each position that is not over, in order.
#[derive(Clone, Copy, Debug)]
pub struct Played<'a> {
    /// The policy's name.
    pub name: &'a str,
    /// One an edge.
    pub probabilities: &'a [f64],
    /// One a position with moves, or none.
    pub values: &'a [f64],
}

/// What games between two policies come to; as JSON, with all values those of `policy`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Match {
    /// The table's name.
    pub table: String,
    /// The policy whose results these are.
    pub policy: String,
    /// Whom it plays against.
    pub opponent: String,
    /// The names of the first and the second player.
    pub sides: [&'static str; 2],
    /// The unit of scores, in the plural; no part of the JSON.
    #[serde(skip)]
    pub units: String,
    /// After how many plies a game counts as play without end; `None` where games end.
    pub most_plies: Option<u32>,
    /// By the number of plies that are played at random before the policies take over.
    pub openings: Vec<Opening>,
}

/// Games that begin with so many plies at random.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Opening {
    /// How many.
    pub random_plies: u32,
    /// What they come to for the policy as the first and as the second player.
    #[serde(flatten)]
    pub results: BothSides<Expected>,
}

/// Plays policies against each other and the baselines; `costliest` mistakes of each are shown.
pub fn games(
    play: &Play<'_>,
    baselines: &Baselines,
    policies: &[Played<'_>],
    costliest: usize,
) -> Games {
    let of = |at: usize| policy_games(play, baselines, &policies[at], costliest);
    let found: Vec<(PolicyGames, Expected)> = parallel::map(policies.len(), &of);
    let places: Vec<Option<usize>> =
        policies.iter().map(|policy| baselines.place(policy.probabilities)).collect();
    let against = |at: usize, other: usize| {
        let games: &PolicyGames = &found[at].0;
        [&games.against_random, &games.against_perfect][other]
    };
    let result = |pair: usize| {
        let (a, b) = (pair / policies.len(), pair % policies.len());
        match (places[a], places[b]) {
            _ if a == b => found[a].1,
            (_, Some(other)) => against(a, other).first,
            (Some(other), _) => against(b, other).second.reversed(),
            _ => {
                let [first, second] = [a, b].map(|at| policies[at].probabilities);
                play.result(&play.walk(first, second, &play.start()))
            }
        }
    };
    let table = parallel::map(policies.len() * policies.len(), &result);
    let table = table.chunks(policies.len().max(1)).map(<[Expected]>::to_vec).collect();
    let policies = found.into_iter().map(|(games, _)| games).collect();
    Games { most_plies: play.most_plies(), policies, table }
}

/// The games of a policy, and what those against itself come to for the first player.
fn policy_games(
    play: &Play<'_>,
    baselines: &Baselines,
    policy: &Played<'_>,
    costliest: usize,
) -> (PolicyGames, Expected) {
    let own = policy.probabilities;
    let lost = baselines.lost(play, own);
    let against = |opponent: usize| Opposed::of(play, baselines, opponent, (own, &lost));
    let against = parallel::map(OPPONENTS.len(), &against);
    let met = [0, 1, 2].map(|opponent: usize| &against[opponent].met);
    let responses = Responses::to(play, own);
    let found = PolicyGames {
        policy: policy.name.to_string(),
        against_random: against[1].results,
        against_perfect: against[2].results,
        exploitability: BothSides::of(|side| responses.left(play, side)),
        beating_lines: BothSides::of(|side| {
            beating_line(play, own, side, responses.against(side, Aim::Score))
        }),
        mistakes: against.iter().map(|against| against.mistakes.clone()).collect(),
        where_games_lead: against.iter().map(|against| against.where_games_lead).collect(),
        own_lines: own_lines(play, own, &lost),
        consistency: consistency(play, policy),
        costliest: mistakes(play, own, (&lost, &met), costliest),
    };
    (found, against[0].results.first)
}

/// What games of a policy against one opponent come to.
struct Opposed {
    results: BothSides<Expected>,
    /// How often each position is met in which the policy is to move, half of them on either side.
    met: Vec<f64>,
    mistakes: MistakesAgainst,
    where_games_lead: WhereGamesLead,
}

impl Opposed {
    /// Of a policy's moves and what they give away, against one of [`OPPONENTS`].
    fn of(
        play: &Play<'_>,
        baselines: &Baselines,
        opponent: usize,
        (own, lost): (&[f64], &[[f64; 4]]),
    ) -> Opposed {
        // Itself, or one of the baselines, which stand in the same order.
        let other = opponent.checked_sub(1);
        let first = baselines.walk(play, own, other.map_or(own, |other| &baselines.moves[other]));
        let second = other.map(|other| baselines.walk(play, &baselines.moves[other], own));
        let second = second.as_ref().unwrap_or(&first);
        let met = |at: usize| match play.unfolded().side(at) {
            Side::First => first.visits[at] / 2.0,
            Side::Second => second.visits[at] / 2.0,
        };
        let met: Vec<f64> = (0..play.unfolded().positions()).map(met).collect();
        // Both sides of these games are the opponent's.
        let both = other.map_or(&*first, |other| baselines.between(other, other));
        let name = OPPONENTS[opponent];
        Opposed {
            results: BothSides {
                first: play.result(&first),
                second: play.result(second).reversed(),
            },
            mistakes: mistakes_against(&met, lost, name),
            where_games_lead: where_games_lead(play, name, &both.visits, lost, &baselines.decisive),
            met,
        }
    }
}

/// Against whom games are played besides the report's policies.
const OPPONENTS: [&str; 3] = ["itself", "random", "perfect"];

/// How much a policy loses to best responses on either side.
pub fn exploitability(play: &Play<'_>, policy: &[f64]) -> BothSides<Exploitability> {
    let responses = Responses::to(play, policy);
    BothSides::of(|side| responses.left(play, side))
}

/// The best responses to a policy.
struct Responses {
    /// By the side that the policy plays, after scores and then after outcomes; without scores these are
    /// the same, and left out.
    all: Vec<Response>,
}

impl Responses {
    fn to(play: &Play<'_>, policy: &[f64]) -> Responses {
        let aims: &[Aim] =
            if play.table().has_scores() { &[Aim::Score, Aim::Outcome] } else { &[Aim::Score] };
        let one = |at: usize| play.best_response(policy, Side::ALL[at % 2].other(), aims[at / 2]);
        Responses { all: parallel::map(2 * aims.len(), &one) }
    }

    /// That to the policy on a side.
    fn against(&self, side: Side, aim: Aim) -> &Response {
        let first = match aim {
            Aim::Score => 0,
            Aim::Outcome => self.all.len() - 2,
        };
        &self.all[first + side.index()]
    }

    /// What they leave to the policy on a side.
    fn left(&self, play: &Play<'_>, side: Side) -> Exploitability {
        let start = play.start();
        let left = |aim| {
            let values = &self.against(side, aim).values;
            -start.iter().map(|&(at, p)| p * values[at]).sum::<f64>()
        };
        // The value of the game for the policy's side.
        let value = |aim| {
            let of = |at: usize| {
                let Some(truth) = play.truth(at) else { return 0.0 };
                let value = match (aim, truth.score) {
                    (Aim::Score, Some(score)) => f64::from(score.0),
                    _ => f64::from(truth.outcome.value()),
                };
                if play.unfolded().side(at) == side { value } else { -value }
            };
            start.iter().map(|&(at, p)| p * of(at)).sum::<f64>()
        };
        let (outcome, score) = (left(Aim::Outcome), left(Aim::Score));
        // A best response leaves no more than the game is worth; the sums of what it leaves are
        // rounded, the value is not.
        let lost = |aim, left| f64::max(value(aim) - left, 0.0);
        Exploitability {
            outcome,
            outcome_lost: lost(Aim::Outcome, outcome),
            score,
            score_lost: lost(Aim::Score, score),
        }
    }
}

fn mistakes_against(met: &[f64], lost: &[[f64; 4]], opponent: &'static str) -> MistakesAgainst {
    let mut sums = [0.0; 4];
    for (weight, lost) in met.iter().zip(lost) {
        sums.iter_mut().zip(lost).for_each(|(sum, lost)| *sum += weight * lost);
    }
    let [outcome_mistakes, score_mistakes, outcome_lost, score_lost] = sums;
    MistakesAgainst { opponent, outcome_mistakes, score_mistakes, outcome_lost, score_lost }
}

fn where_games_lead(
    play: &Play<'_>,
    games: &'static str,
    met: &[f64],
    lost: &[[f64; 4]],
    decisive: &[bool],
) -> WhereGamesLead {
    let open = (0..met.len()).filter(|&at| !play.unfolded().edges_of(at).is_empty());
    let of = |at: usize| (met[at], &lost[at]);
    WhereGamesLead {
        games,
        all: MetFigures::of(open.clone().map(of)),
        decisive_outcome: MetFigures::of(open.filter(|&at| decisive[at]).map(of)),
    }
}

fn own_lines(play: &Play<'_>, policy: &[f64], lost: &[[f64; 4]]) -> OwnLines {
    let sides = [[Some(policy), None], [None, Some(policy)]];
    let reached = parallel::map(sides.len(), &|side| play.reached(sides[side]));
    let mut lines = OwnLines::default();
    for at in 0..play.unfolded().positions() {
        if play.unfolded().edges_of(at).is_empty() {
            continue;
        }
        let right = u64::from(lost[at][0] == 0.0);
        lines.all_positions += 1;
        lines.all_right += right;
        if reached[play.unfolded().side(at).index()][at] {
            lines.positions += 1;
            lines.right += right;
        }
    }
    lines
}

fn consistency(play: &Play<'_>, policy: &Played<'_>) -> Option<Consistency> {
    let unfolded = play.unfolded();
    if policy.values.is_empty() {
        return None;
    }
    let mut values = policy.values.iter();
    let value = |at: usize| match unfolded.edges_of(at).is_empty() {
        true => play.truth(at).map(|truth| f64::from(truth.outcome.value())),
        false => values.next().copied(),
    };
    let values = (0..unfolded.positions()).map(value).collect::<Option<Vec<f64>>>()?;
    let (mut gap, mut agreement, mut open, mut choices) = (0.0, 0.0, 0u64, 0u64);
    for at in (0..unfolded.positions()).filter(|&at| !unfolded.edges_of(at).is_empty()) {
        let edges = unfolded.edges_of(at);
        let promised = |edge: usize| -values[unfolded.target(edge)];
        let best = edges.clone().map(promised).fold(f64::NEG_INFINITY, f64::max);
        gap += (values[at] - best).abs();
        open += 1;
        if edges.len() > 1 {
            choices += 1;
            let best = edges.filter(|&edge| promised(edge) == best);
            agreement += best.map(|edge| policy.probabilities[edge]).sum::<f64>();
        }
    }
    Some(Consistency { gap: gap / open as f64, agreement: agreement / choices.max(1) as f64 })
}
