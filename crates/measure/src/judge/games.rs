//! Games in a report: results of policies against each other, exploitability, and costliest mistakes.

use std::borrow::Cow;
use std::sync::OnceLock;

use serde::Serialize;

use super::exact_play::{Aim, Expected, Play, Walk};
use super::figures::result_lost_by;
use super::mistakes::{Mistake, mistakes};
use yomikiri::parallel::{self, GRAIN};
use yomikiri::rules::Side;

/// Exact play between policies from the roots of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Games {
    /// Number of plies after which a game counts as infinite; `None` if games always end.
    pub most_plies: Option<u32>,
    /// Games of each policy, in the order of the report's policies.
    pub policies: Vec<PolicyGames>,
    /// Expected result of policy `a` as the first player against policy `b`, both by index in the report:
    /// `table[a][b]`.
    pub table: Vec<Vec<Expected>>,
}

impl Games {
    /// Returns the greatest probability that a game of the report is not over after
    /// [`most_plies`](Games::most_plies) plies; `None` if games always end.
    pub fn endless(&self) -> Option<f64> {
        let both = |both: &BothSides<Expected>| [both.first.endless, both.second.endless];
        let fixed = self.policies.iter().flat_map(|policy| {
            [both(&policy.against_random), both(&policy.against_perfect)].concat()
        });
        let others = self.table.iter().flatten().map(|expected| expected.endless);
        self.most_plies.map(|_| fixed.chain(others).fold(0.0, f64::max))
    }
}

/// Games of one policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PolicyGames {
    /// Name of the policy.
    pub policy: String,
    /// Results against random moves, for the policy.
    pub against_random: BothSides<Expected>,
    /// Results against the table's best moves, for the policy.
    pub against_perfect: BothSides<Expected>,
    /// Losses to best responses, one for the outcome and one for the score.
    pub exploitability: BothSides<Exploitability>,
    /// Mistakes in games against itself, random moves and perfect ones.
    pub mistakes: Vec<MistakesAgainst>,
    /// Figures of the positions whose moves differ in result, weighted by how often its own games, random ones and those of
    /// best moves meet them.
    pub weighted: Vec<WeightedByPlay>,
    /// Costliest mistakes in games.
    pub costliest: Vec<Mistake>,
}

/// Figures of the positions whose moves differ in result, weighted by the expected number of visits in a game of at most
/// [`Play::PLIES`] plies from the start; figures are `None` if no such position is met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WeightedByPlay {
    /// Moves of both sides in the games: the policy's (`itself`), `random` ones, or all `best` ones equally often.
    pub play: &'static str,
    /// Expected number of these positions in a game.
    pub positions_met: f64,
    /// Probability of moves that keep the best outcome.
    pub result_kept: Option<f64>,
    /// Probability of moves that keep the best score; `None` in games without scores.
    pub score_kept: Option<f64>,
    /// Outcome lost by a move.
    pub result_lost: Option<f64>,
    /// Score lost by a move; `None` in games without scores.
    pub score_lost: Option<f64>,
}

impl WeightedByPlay {
    /// Weighs the probabilities and losses of [`Baselines::lost`] by `times` the visits of games between players called
    /// `play`.
    fn of(
        (play, visits, times): (&'static str, &[f64], f64),
        is_decisive: &[bool],
        (lost, has_scores): (&[[f64; 4]], bool),
    ) -> WeightedByPlay {
        let (mut met, mut sums) = (0.0, [0.0; 4]);
        for ((&visits, lost), _) in visits.iter().zip(lost).zip(is_decisive).filter(|(_, is)| **is)
        {
            met += visits;
            sums.iter_mut().zip(lost).for_each(|(sum, lost)| *sum += visits * lost);
        }
        let [result_kept, score_kept, result_lost, score_lost] =
            sums.map(|sum| (met > 0.0).then(|| sum / met));
        // Rounding may leave a little more than 1.
        let kept = |lost: Option<f64>| lost.map(|lost| (1.0 - lost).clamp(0.0, 1.0));
        let [result_kept, score_kept] = [kept(result_kept), kept(score_kept)];
        let of_score = |figure: Option<f64>| figure.filter(|_| has_scores);
        let [score_kept, score_lost] = [of_score(score_kept), of_score(score_lost)];
        WeightedByPlay {
            play,
            positions_met: times * met,
            result_kept,
            score_kept,
            result_lost,
            score_lost,
        }
    }
}

impl PolicyGames {
    /// Returns the exploitability: mean outcome lost to a best response over both sides, 0 to 1. The sum of both is
    /// OpenSpiel's `nash_conv`; it is 2 at most, because what one side can lose of the game's value the other cannot.
    pub fn exploited(&self) -> f64 {
        // Rounding may leave a difference of almost 0.
        let BothSides { first, second } = &self.exploitability;
        let mean = 0.5 * (first.result_lost + second.result_lost);
        if mean.abs() < 1e-12 { 0.0 } else { mean }
    }

    /// Returns the exploitability in score: mean score lost to a best response over both sides.
    pub fn exploited_score(&self) -> f64 {
        let BothSides { first, second } = &self.exploitability;
        let mean = 0.5 * (first.score_lost + second.score_lost);
        if mean.abs() < 1e-9 { 0.0 } else { mean }
    }
}

/// Something for a policy as the first and as the second player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BothSides<T> {
    /// As the first player.
    pub first: T,
    /// As the second player.
    pub second: T,
}

impl<T> BothSides<T> {
    /// Evaluates a function for either side.
    pub fn of(of: impl Fn(Side) -> T) -> BothSides<T> {
        BothSides { first: of(Side::First), second: of(Side::Second) }
    }
}

/// Loss of a policy to a best response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Exploitability {
    /// Expected outcome (−1 to 1) for the policy against a best response for the outcome.
    pub outcome: f64,
    /// Value of the game for the policy's side minus `outcome`: 0 if the policy cannot be exploited.
    pub result_lost: f64,
    /// Expected score for the policy against a best response for the score.
    pub score: f64,
    /// Score of the game for the policy's side minus `score`.
    pub score_lost: f64,
}

/// Mistakes of a policy in a game, averaged over both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MistakesAgainst {
    /// `itself`, `random` or `perfect`.
    pub opponent: &'static str,
    /// Expected number of moves in a game that lose outcome.
    pub result_mistakes: f64,
    /// Expected number of moves in a game that lose score.
    pub score_mistakes: f64,
    /// Expected sum of losses of outcome in a game.
    pub result_lost: f64,
    /// Expected sum of losses of score in a game.
    pub score_lost: f64,
}

/// A policy with its move probabilities on the unfolded table.
#[derive(Clone, Copy, Debug)]
pub struct Played<'a> {
    /// Name of the policy.
    pub name: &'a str,
    /// Probability of each edge.
    pub probabilities: &'a [f64],
}

/// Results of games between two policies; in JSON all values are those of `policy`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Match {
    /// Name of the table.
    pub table: String,
    /// Policy whose results these are.
    pub policy: String,
    /// Opponent of the policy.
    pub opponent: String,
    /// Names of the first and the second player.
    pub sides: [&'static str; 2],
    /// Unit of scores in the plural; not in the JSON.
    #[serde(skip)]
    pub units: String,
    /// Number of plies after which a game counts as infinite; `None` if games always end.
    pub most_plies: Option<u32>,
    /// Results by number of random plies before the policies take over.
    pub openings: Vec<Opening>,
}

/// Games that begin with random plies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Opening {
    /// Number of random plies.
    pub random_plies: u32,
    /// Results for the policy as the first and as the second player.
    #[serde(flatten)]
    pub results: BothSides<Expected>,
}

/// Plays policies against each other and the baselines; keeps `costliest` mistakes of each.
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

/// Plays the games of a policy; also returns its result against itself for the first player.
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
    let random = &baselines.walk(play, own, [Some(0); 2]).visits;
    let (best, has_scores) = (&baselines.best_visits, play.table().has_scores());
    // In its own games it plays both sides, of which `met` is the mean.
    let weighted = [("itself", met[0], 2.0), ("random", random, 1.0), ("best", best, 1.0)];
    let weighted = weighted.map(|(play, visits, times)| {
        WeightedByPlay::of((play, visits, times), &baselines.is_decisive, (&lost, has_scores))
    });
    let found = PolicyGames {
        policy: policy.name.to_string(),
        weighted: weighted.to_vec(),
        against_random: against[1].results,
        against_perfect: against[2].results,
        exploitability: exploitability(play, own),
        mistakes: against.iter().map(|against| against.mistakes.clone()).collect(),
        costliest: mistakes(play, own, (&lost, &met), costliest),
    };
    (found, against[0].results.first)
}

/// Games of a policy against one opponent.
struct Opposed {
    results: BothSides<Expected>,
    /// Expected visits of each position in which the policy is to move, averaged over both sides.
    met: Vec<f64>,
    mistakes: MistakesAgainst,
}

impl Opposed {
    /// Plays the policy with moves `own` and losses `lost` against one of [`OPPONENTS`].
    fn of(
        play: &Play<'_>,
        baselines: &Baselines,
        opponent: usize,
        (own, lost): (&[f64], &[[f64; 4]]),
    ) -> Opposed {
        // Opponents besides itself are the baselines, in the same order.
        let place = baselines.place(own);
        let other = opponent.checked_sub(1);
        let first = baselines.walk(play, own, [place, other.or(place)]);
        let second = other.map(|_| baselines.walk(play, own, [other, place]));
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

/// Opponents besides the report's policies.
const OPPONENTS: [&str; 3] = ["itself", "random", "perfect"];

/// Returns the losses of a policy to best responses, on either side.
pub fn exploitability(play: &Play<'_>, policy: &[f64]) -> BothSides<Exploitability> {
    // In games without scores, both aims have the same response.
    let aims: &[Aim] =
        if play.table().has_scores() { &[Aim::Score, Aim::Outcome] } else { &[Aim::Score] };
    let start = play.start();
    // Value that a best response leaves to the policy on a side.
    let one = |at: usize| {
        let (side, aim) = (Side::ALL[at % 2], aims[at / 2]);
        let values = play.best_response(policy, side.other(), aim);
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
        // A best response leaves no more than the game's value; clamping removes rounding errors.
        let lost = |aim, left| f64::max(worth(aim, side) - left, 0.0);
        Exploitability {
            outcome,
            result_lost: lost(Aim::Outcome, outcome),
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
    let [result_mistakes, score_mistakes, result_lost, score_lost] = sums;
    MistakesAgainst { opponent, result_mistakes, score_mistakes, result_lost, score_lost }
}

/// Random and perfect moves on a table, and the loss of each move; independent of the policies measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Baselines {
    /// Probabilities of random moves and of perfect ones, by edge.
    moves: [Vec<f64>; 2],
    /// Loss of outcome and of score by the move along each edge; in a game without scores both are of the
    /// outcome.
    given: Vec<[u8; 2]>,
    /// `true` for a position whose moves differ in outcome.
    is_decisive: Vec<bool>,
    /// Games of each of these players, as the first, against each, once they are asked for: the report's policies
    /// are often among them.
    walks: [[OnceLock<Walk>; 2]; 2],
    /// Expected visits of each position in games of best moves, each equally likely.
    best_visits: Vec<f64>,
}

impl Baselines {
    /// Computes the losses of all moves.
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
        let loses = |edge: usize| given[edge][0] > 0;
        let is_decisive =
            (0..positions).map(|at| play.unfolded().edges_of(at).any(loses)).collect();
        let best = play.by_position(|edges, out| {
            let losses: Vec<u8> = given[edges].iter().map(|given| given[1]).collect();
            let count = losses.iter().filter(|lost| **lost == 0).count();
            let share = |lost: &u8| if *lost == 0 { 1.0 / count as f64 } else { 0.0 };
            out.iter_mut().zip(&losses).for_each(|(out, lost)| *out = share(lost));
        });
        let best_visits = play.walk(&best, &best, &play.start()).visits;
        Baselines { moves, given, is_decisive, walks: Default::default(), best_visits }
    }

    /// Walks games from the start between baselines, by their indices, and the policy with moves `own` for `None`; at
    /// most once between baselines.
    fn walk(&self, play: &Play<'_>, own: &[f64], players: [Option<usize>; 2]) -> Cow<'_, Walk> {
        let [first, second] =
            players.map(|place| place.map_or(own, |place| &self.moves[place][..]));
        let walk = || play.walk(first, second, &play.start());
        match players {
            [Some(one), Some(other)] => Cow::Borrowed(self.walks[one][other].get_or_init(walk)),
            _ => Cow::Owned(walk()),
        }
    }

    /// Returns the index of the baseline that a policy equals, if any.
    fn place(&self, policy: &[f64]) -> Option<usize> {
        self.moves.iter().position(|moves| moves == policy)
    }

    /// Returns for each position the probabilities that the policy loses outcome and score, and its expected
    /// losses of both.
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

/// Returns the losses of outcome and score by a move; `None` if a value is not proven.
fn given(play: &Play<'_>, at: usize, edge: usize) -> Option<[u8; 2]> {
    let (own, truth) = (play.truth(at)?, play.move_truth(edge)?);
    let [best, left] = [&own, &truth].map(|truth| i16::from(truth.q_score().0));
    Some([result_lost_by(&own, &truth) as u8, (best - left).max(0) as u8])
}
