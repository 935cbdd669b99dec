//! What a report says of the games that policies play: results against each other, how much a best
//! response wins, and where games go wrong.

use serde::Serialize;

use super::figures::outcome_lost;
use super::mistakes::{Mistake, mistakes};
use super::play::{Aim, Expected, Play, Response};
use yomikiri::game::Side;
use yomikiri::parallel::{self, GRAIN};

/// Exact play between policies from the start of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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

/// Something of a policy as the first and as the second player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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

/// A policy as it is played.
#[derive(Clone, Copy, Debug)]
pub struct Played<'a> {
    /// The policy's name.
    pub name: &'a str,
    /// One an edge.
    pub probabilities: &'a [f64],
}

/// What games between two policies come to; as JSON, with all values those of `policy`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
    let found = PolicyGames {
        policy: policy.name.to_string(),
        against_random: against[1].results,
        against_perfect: against[2].results,
        exploitability: exploitability(play, own),
        mistakes: against.iter().map(|against| against.mistakes.clone()).collect(),
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
        let start = play.start();
        let first = play.walk(own, other.map_or(own, |other| &baselines.moves[other]), &start);
        let second = other.map(|other| play.walk(&baselines.moves[other], own, &start));
        let second = second.as_ref().unwrap_or(&first);
        let met = |at: usize| match play.unfolded().side(at) {
            Side::First => first.visits[at] / 2.0,
            Side::Second => second.visits[at] / 2.0,
        };
        let met: Vec<f64> = (0..play.unfolded().positions()).map(met).collect();
        Opposed {
            results: BothSides {
                first: play.result(&first),
                second: play.result(second).reversed(),
            },
            mistakes: mistakes_against(&met, lost, OPPONENTS[opponent]),
            met,
        }
    }
}

/// Against whom games are played besides the report's policies.
const OPPONENTS: [&str; 3] = ["itself", "random", "perfect"];

/// How much a policy loses to best responses on either side.
pub fn exploitability(play: &Play<'_>, policy: &[f64]) -> BothSides<Exploitability> {
    // Without scores the responses after both are the same.
    let aims: &[Aim] =
        if play.table().has_scores() { &[Aim::Score, Aim::Outcome] } else { &[Aim::Score] };
    let start = play.start();
    // What one leaves to the policy on a side.
    let one = |at: usize| {
        let (side, aim) = (Side::ALL[at % 2], aims[at / 2]);
        let Response { values, .. } = play.best_response(policy, side.other(), aim);
        -start.iter().map(|&(at, p)| p * values[at]).sum::<f64>()
    };
    let left = parallel::map(2 * aims.len(), &one);
    let worth = |aim, side| {
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
    BothSides::of(|side| {
        let (score, outcome) = (left[side.index()], left[left.len() - 2 + side.index()]);
        // A best response leaves no more than the game is worth; the sums of what it leaves are
        // rounded, the value is not.
        let lost = |aim, left| f64::max(worth(aim, side) - left, 0.0);
        Exploitability {
            outcome,
            outcome_lost: lost(Aim::Outcome, outcome),
            score,
            score_lost: lost(Aim::Score, score),
        }
    })
}

fn mistakes_against(met: &[f64], lost: &[[f64; 4]], opponent: &'static str) -> MistakesAgainst {
    let mut sums = [0.0; 4];
    for (weight, lost) in met.iter().zip(lost) {
        sums.iter_mut().zip(lost).for_each(|(sum, lost)| *sum += weight * lost);
    }
    let [outcome_mistakes, score_mistakes, outcome_lost, score_lost] = sums;
    MistakesAgainst { opponent, outcome_mistakes, score_mistakes, outcome_lost, score_lost }
}

/// Random and perfect moves on a table, and what each move gives away: the same whoever is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Baselines {
    /// The probabilities of random moves and of perfect ones, one an edge.
    moves: [Vec<f64>; 2],
    /// What the move along each edge gives away of the outcome, and of the score as games count it: in a
    /// game without scores the outcome.
    given: Vec<[u8; 2]>,
}

impl Baselines {
    /// Looks at what every move gives away.
    pub fn new(play: &Play<'_>) -> Baselines {
        let moves = [play.random(), play.perfect()];
        let positions = play.unfolded().positions();
        let given_at = |at: usize| {
            let edges = play.unfolded().edges_of(at);
            edges.map(move |edge| given(play, at, edge).unwrap_or_default())
        };
        let given = parallel::map_ranges(positions, GRAIN, &|positions| {
            positions.flat_map(given_at).collect::<Vec<_>>()
        });
        let given = given.concat();
        Baselines { moves, given }
    }

    /// Which of them a policy is, if any.
    fn place(&self, policy: &[f64]) -> Option<usize> {
        self.moves.iter().position(|moves| moves == policy)
    }

    /// What a policy gives away in each position: probabilities of giving away outcome and score, and
    /// how much of each.
    fn lost(&self, play: &Play<'_>, policy: &[f64]) -> Vec<[f64; 4]> {
        let of = |at: usize| {
            let (edges, mut lost) = (play.unfolded().edges_of(at), [0.0; 4]);
            for (&p, given) in policy[edges.clone()].iter().zip(&self.given[edges]) {
                let [outcome, score] = given.map(f64::from);
                lost[0] += if outcome > 0.0 { p } else { 0.0 };
                lost[1] += if score > 0.0 { p } else { 0.0 };
                lost[2] += p * outcome;
                lost[3] += p * score;
            }
            lost
        };
        let parts = parallel::map_ranges(play.unfolded().positions(), GRAIN, &|positions| {
            positions.map(of).collect::<Vec<_>>()
        });
        parts.concat()
    }
}

/// What a move gives away; `None` where something is not proven.
fn given(play: &Play<'_>, at: usize, edge: usize) -> Option<[u8; 2]> {
    let (own, truth) = (play.truth(at)?, play.move_truth(edge)?);
    let [best, left] = [&own, &truth].map(|truth| i16::from(truth.q_score().0));
    Some([outcome_lost(&own, &truth) as u8, (best - left).max(0) as u8])
}
