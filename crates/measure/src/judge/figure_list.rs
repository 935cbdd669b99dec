//! The figures of a policy, each declared once: JSON, `--metrics`, `--fail-if`, tables, pages, files and Python follow.

use super::details::Details;
use super::exact_play::Expected;
use super::figures::Figures;
use super::forced::ForcedFigures;
use super::games::PolicyGames;
use super::values::{FinalScoreFigures, ValueFigures};

/// A figure of a policy.
pub struct Figure {
    /// Name, wherever the figure occurs; before it stands the [set of positions](SETS).
    pub name: &'static str,
    /// Heading of two lines; [`UNITS`] stands for the unit of the score.
    pub heading: [&'static str; 2],
    /// Meaning, in which [`UNITS`] stands for the unit of the score.
    pub meaning: &'static str,
    /// Unit, which determines how it is written.
    pub unit: Unit,
    /// Games that have it.
    pub scope: Scope,
    /// Largest number that a position can have, if the figure is a mean over positions: with it a sample has a
    /// confidence interval.
    pub most: Most,
    /// Its computation.
    pub source: FigureSource,
}

/// Largest number of a figure in one position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Most {
    /// None, or it is no mean over positions.
    Unknown,
    /// A number.
    Of(f64),
    /// Twice the largest score.
    Scores,
}

/// Placeholder for the unit of the score, in the plural.
pub const UNITS: &str = "UNITS";

/// Figures of a policy's probabilities and its ranking of moves, which have a table of their own.
const RANKED: [&str; 10] = [
    "nll",
    "no_chance",
    "entropy",
    "top_1",
    "top_2",
    "top_3",
    "argmax_result_kept",
    "argmax_score_kept",
    "argmax_result_lost",
    "argmax_score_lost",
];

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Number of positions.
    Count,
    /// Expected number of positions, the less the better.
    Expected,
    /// Share, 0 to 1; more of it is better if `true`.
    Share(bool),
    /// Nonnegative amount, the less the better.
    Amount,
    /// Nonnegative amount with two decimals, the less the better.
    Coarse,
    /// Amount of any sign, the more the better.
    Signed,
    /// Number of any sign of which neither more nor less is better.
    Plain,
    /// Nonnegative number of nats of which neither more nor less is better.
    Nats,
}

/// Games that have a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All games.
    Always,
    /// Games with scores.
    WithScores,
    /// Games without scores.
    WithoutScores,
}

/// Computation of a figure; `None` for a mean over no positions.
#[derive(Clone, Copy)]
pub enum FigureSource {
    /// From the moves in a set of positions.
    Moves(fn(&Figures) -> Option<f64>),
    /// From the outcomes that the policy expects.
    Values(fn(&ValueFigures) -> Option<f64>),
    /// From the final scores that it expects.
    FinalScores(fn(&FinalScoreFigures) -> Option<f64>),
    /// From games from the start.
    Games(fn(&PolicyGames) -> Option<f64>),
    /// From positions in which not all moves are proven.
    Forced(fn(&ForcedFigures) -> Option<f64>),
}

/// Sets of positions, by the beginning of a figure's name: held-out ones whose moves differ in the result, all held-out
/// ones, and those with different results that the policy has learned from.
pub const SETS: [&str; 3] = ["", "all_", "learned_"];

impl Figure {
    /// Returns the figure of moves in a set of positions; `None` for another figure.
    pub fn compute(&self, figures: &Figures) -> Option<f64> {
        match self.source {
            FigureSource::Moves(of) => of(figures),
            _ => None,
        }
    }

    /// Returns the figure of the values or final scores that the policy predicts; `None` if it predicts none, and for
    /// another figure.
    pub fn of_predictions(&self, details: &Details) -> Option<Option<f64>> {
        match self.source {
            FigureSource::Values(of) => details.values.as_ref().map(of),
            FigureSource::FinalScores(of) => details.final_scores.as_ref().map(of),
            _ => None,
        }
    }

    /// Returns the figure of some predicted values; `None` for another figure.
    pub fn of_values(&self, values: &ValueFigures) -> Option<f64> {
        match self.source {
            FigureSource::Values(of) => of(values),
            _ => None,
        }
    }

    /// Returns whether it is a figure of the moves in a set of positions.
    pub fn is_of_moves(&self) -> bool {
        matches!(self.source, FigureSource::Moves(_))
    }

    /// Returns whether it is a figure of a policy's probabilities or its ranking of moves, which one chosen move has not.
    pub fn is_of_probabilities(&self) -> bool {
        RANKED.contains(&self.name)
    }

    /// Returns whether a larger number is better; `None` if neither is.
    pub fn is_more_better(&self) -> Option<bool> {
        match self.unit {
            Unit::Share(is_better) => Some(is_better),
            Unit::Amount | Unit::Coarse | Unit::Expected => Some(false),
            Unit::Signed => Some(true),
            Unit::Count | Unit::Plain | Unit::Nats => None,
        }
    }

    /// Returns the declared figure of a name, without a set of positions before it.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn named(name: &str) -> &'static Figure {
        let figure = FIGURES.iter().find(|figure| figure.name == name);
        figure.unwrap_or_else(|| panic!("no figure `{name}`"))
    }

    /// Returns the figure of a metric, whose name a [set of positions](SETS) may begin; `None` if there is none.
    pub fn of_metric(name: &str) -> Option<&'static Figure> {
        let exact = FIGURES.iter().find(|figure| figure.name == name);
        let in_set = || {
            let name = SETS[1..].iter().find_map(|set| name.strip_prefix(set))?;
            FIGURES.iter().find(|figure| figure.name == name && figure.is_of_moves())
        };
        exact.or_else(in_set)
    }

    /// Returns a number of the figure as JSON: a whole one if it is a count.
    pub(super) fn to_json(&self, number: Option<f64>) -> serde_json::Value {
        match (self.unit, number) {
            (Unit::Count, Some(count)) => (count as u64).into(),
            (_, number) => number.into(),
        }
    }

    const fn new(name: &'static str, unit: Unit, source: FigureSource) -> Figure {
        let most = match unit {
            Unit::Share(_) => Most::Of(1.0),
            _ => Most::Unknown,
        };
        Figure { name, heading: [""; 2], meaning: "", unit, scope: Scope::Always, most, source }
    }

    const fn headed(self, heading: [&'static str; 2], meaning: &'static str) -> Figure {
        Figure { heading, meaning, ..self }
    }

    const fn only(self, scope: Scope) -> Figure {
        Figure { scope, ..self }
    }

    const fn up_to(self, most: Most) -> Figure {
        Figure { most, ..self }
    }
}

use FigureSource::{FinalScores, Forced, Games, Moves, Values};
use Scope::{WithScores, WithoutScores};
use Unit::{Amount, Coarse, Count, Expected as ExpectedNumber, Nats, Plain, Share, Signed};

/// All figures, in the order in which they are written.
pub const FIGURES: &[Figure] = &[
    Figure::new("positions", Count, Moves(|of| Some(of.positions as f64)))
        .headed(["", "positions"], "number of positions"),
    Figure::new("result_kept", Share(true), Moves(Figures::result_kept)).headed(
        ["result", "kept"],
        "how often the move keeps the best possible result (win, draw or loss)",
    ),
    Figure::new("score_kept", Share(true), Moves(Figures::score_kept))
        .headed(["score", "kept"], "how often it keeps the best final score")
        .only(WithScores),
    Figure::new("plies_kept", Share(true), Moves(Figures::plies_kept))
        .headed(
            ["plies", "kept"],
            "how often it wins as soon, or loses as late, as possible, where plies are compared",
        )
        .only(WithoutScores),
    Figure::new("result_lost", Amount, Moves(|of| of.mean(of.result_lost)))
        .headed(["result", "lost"], "mean outcome lost by a move: a win is 1, a draw 0, a loss -1")
        .up_to(Most::Of(2.0)),
    Figure::new("score_lost", Amount, Moves(Figures::score_lost))
        .headed([UNITS, "lost"], "mean final score lost by a move, in UNITS")
        .only(WithScores)
        .up_to(Most::Scores),
    Figure::new("rank_correlation", Plain, Moves(Figures::rank_correlation)).headed(
        ["rank", "corr."],
        "rank correlation of its scores with the exact values: 1 the same order, 0 unrelated",
    ),
    Figure::new("win_to_draw", Share(false), Moves(Figures::win_to_draw))
        .headed(["win→", "draw"], "in how many of the positions it turns a win into a draw"),
    Figure::new("win_to_loss", Share(false), Moves(Figures::win_to_loss))
        .headed(["win→", "loss"], "in how many it turns a win into a loss"),
    Figure::new("draw_to_loss", Share(false), Moves(Figures::draw_to_loss))
        .headed(["draw→", "loss"], "in how many it turns a draw into a loss"),
    Figure::new("blunders", ExpectedNumber, Moves(|of| Some(of.blunders())))
        .headed(["", "blunders"], "expected number of positions in which the move loses some of the result"),
    Figure::new("blunder_rate", Share(false), Moves(|of| of.mean(of.blunders())))
        .headed(["blunder", "rate"], "in how many of the positions it does: 1 less result_kept"),
    Figure::new("large_losses", ExpectedNumber, Moves(Figures::large_losses))
        .headed(["4 UNITS", "lost"], "expected number of positions in which it loses 4 UNITS or more")
        .only(WithScores),
    Figure::new("large_loss_rate", Share(false), Moves(Figures::large_loss_rate))
        .headed(["4 UNITS:", "rate"], "in how many of the positions it does")
        .only(WithScores),
    Figure::new("argmax_result_kept", Share(true), Moves(|of| of.mean(of.likeliest.result_kept)))
        .headed(["argmax:", "kept"], "how often the likeliest move alone keeps the result; equal ones share"),
    Figure::new("argmax_score_kept", Share(true), Moves(|of| of.mean_scored(of.likeliest.score_kept)))
        .headed(["argmax:", "score"], "how often it keeps the final score")
        .only(WithScores),
    Figure::new("argmax_result_lost", Amount, Moves(|of| of.mean(of.likeliest.result_lost)))
        .headed(["argmax:", "lost"], "mean outcome lost by it")
        .up_to(Most::Of(2.0)),
    Figure::new("argmax_score_lost", Amount, Moves(|of| of.mean_scored(of.likeliest.score_lost)))
        .headed(["argmax:", "UNITS"], "mean final score lost by it, in UNITS")
        .only(WithScores)
        .up_to(Most::Scores),
    Figure::new("nll", Amount, Moves(|of| of.mean(of.nll))).headed(
        ["", "nll"],
        "mean of -ln of the probability of all best moves (by score, else by result)",
    ),
    Figure::new("no_chance", Share(false), Moves(|of| of.mean(of.no_chance as f64))).headed(
        ["no", "chance"],
        "in how many of the positions that is below 1e-12, the least that is counted",
    ),
    Figure::new("entropy", Nats, Moves(|of| of.mean(of.entropy)))
        .headed(["", "entropy"], "of the probabilities, in nats: 0 if one move has them all"),
    Figure::new("top_1", Share(true), Moves(|of| of.mean(of.top[0]))).headed(
        ["top", "1"],
        "in how many the move it ranks highest is a best one; equal ones in any order",
    ),
    Figure::new("top_2", Share(true), Moves(|of| of.mean(of.top[1])))
        .headed(["top", "2"], "in how many one of the two that it ranks highest is"),
    Figure::new("top_3", Share(true), Moves(|of| of.mean(of.top[2])))
        .headed(["top", "3"], "in how many one of the three"),
    Figure::new("plies_positions", Count, Moves(|of| Some(of.timed as f64)))
        .headed(["plies", "in"], "number of positions in which plies are compared"),
    Figure::new("correlation_positions", Count, Moves(|of| Some(of.correlated as f64)))
        .headed(["corr.", "in"], "number of positions with a rank correlation"),
    Figure::new("value_error", Amount, Values(|of| of.mean(of.error)))
        .headed(["mean", "error"], "mean distance of the expected outcome from the exact one")
        .up_to(Most::Of(2.0)),
    Figure::new("value_rmse", Amount, Values(|of| of.mean(of.squared).map(f64::sqrt)))
        .headed(["", "rmse"], "root mean square distance of the expected outcome from the exact one"),
    Figure::new("value_sign", Share(true), Values(ValueFigures::sign)).headed(
        ["right", "sign"],
        "share of the positions that are not drawn in which the expected outcome has the right sign",
    ),
    Figure::new("value_brier", Amount, Values(|of| of.mean(of.squared / 4.0)))
        .headed(["Brier", "score"], "mean square of the expected chance less the actual one")
        .up_to(Most::Of(1.0)),
    Figure::new("value_calibration", Amount, Values(ValueFigures::calibration)).headed(
        ["calibration", "error"],
        "mean distance of expected and actual chance over ten classes",
    ),
    Figure::new("final_score_error", Amount, FinalScores(|of| of.mean(of.error)))
        .headed(["mean", "error"], "mean distance of the expected final score from the exact one")
        .only(WithScores),
    Figure::new("final_score_bias", Plain, FinalScores(|of| of.mean(of.signed)))
        .headed(["", "signed"], "mean of expected less exact final score")
        .only(WithScores),
    Figure::new("final_score_rmse", Amount, FinalScores(|of| of.mean(of.squared).map(f64::sqrt)))
        .headed(["", "rmse"], "root mean square distance of the expected final score from the exact one")
        .only(WithScores),
    Figure::new("own_play_result_kept", Share(true), Games(|of| of.weighted[0].result_kept))
        .headed(["own", "games"], "result_kept, each position counted as often as its own games meet it"),
    Figure::new("own_play_score_kept", Share(true), Games(|of| of.weighted[0].score_kept))
        .headed(["score kept,", "own games"], "score_kept, weighted so")
        .only(WithScores),
    Figure::new("own_play_result_lost", Amount, Games(|of| of.weighted[0].result_lost))
        .headed(["result lost,", "own games"], "result_lost, weighted so"),
    Figure::new("own_play_score_lost", Amount, Games(|of| of.weighted[0].score_lost))
        .headed(["UNITS lost,", "own games"], "score_lost, weighted so")
        .only(WithScores),
    Figure::new("random_play_result_kept", Share(true), Games(|of| of.weighted[1].result_kept))
        .headed(["random", "games"], "result_kept, each position counted as often as games of random moves meet it"),
    Figure::new("random_play_score_kept", Share(true), Games(|of| of.weighted[1].score_kept))
        .headed(["score kept,", "random games"], "score_kept, weighted so")
        .only(WithScores),
    Figure::new("random_play_result_lost", Amount, Games(|of| of.weighted[1].result_lost))
        .headed(["result lost,", "random games"], "result_lost, weighted so"),
    Figure::new("random_play_score_lost", Amount, Games(|of| of.weighted[1].score_lost))
        .headed(["UNITS lost,", "random games"], "score_lost, weighted so")
        .only(WithScores),
    Figure::new("best_play_result_kept", Share(true), Games(|of| of.weighted[2].result_kept))
        .headed(["best", "games"], "result_kept, each position counted as often as games of best moves, each equally often meet it"),
    Figure::new("best_play_score_kept", Share(true), Games(|of| of.weighted[2].score_kept))
        .headed(["score kept,", "best games"], "score_kept, weighted so")
        .only(WithScores),
    Figure::new("best_play_result_lost", Amount, Games(|of| of.weighted[2].result_lost))
        .headed(["result lost,", "best games"], "result_lost, weighted so"),
    Figure::new("best_play_score_lost", Amount, Games(|of| of.weighted[2].score_lost))
        .headed(["UNITS lost,", "best games"], "score_lost, weighted so")
        .only(WithScores),
    Figure::new("random_first_points", Share(true), Games(|of| Some(points(&of.against_random.first))))
        .headed(["random,", "as first"], "points against random moves, a draw counting half"),
    Figure::new("random_first_score", Signed, Games(|of| Some(of.against_random.first.score)))
        .headed(["random,", FIRST], "score against random moves"),
    Figure::new("random_second_points", Share(true), Games(|of| Some(points(&of.against_random.second))))
        .headed(["random,", "as second"], "points against random moves, a draw counting half"),
    Figure::new("random_second_score", Signed, Games(|of| Some(of.against_random.second.score)))
        .headed(["random,", SECOND], "score against random moves"),
    Figure::new("perfect_first_points", Share(true), Games(|of| Some(points(&of.against_perfect.first))))
        .headed(["perfect,", "as first"], "points against perfect moves, a draw counting half"),
    Figure::new("perfect_first_score", Signed, Games(|of| Some(of.against_perfect.first.score)))
        .headed(["perfect,", FIRST], "score against perfect moves"),
    Figure::new(
        "perfect_second_points",
        Share(true),
        Games(|of| Some(points(&of.against_perfect.second))),
    )
    .headed(["perfect,", "as second"], "points against perfect moves, a draw counting half"),
    Figure::new("perfect_second_score", Signed, Games(|of| Some(of.against_perfect.second.score)))
        .headed(["perfect,", SECOND], "score against perfect moves"),
    Figure::new("exploited_result", Amount, Games(|of| Some(of.exploited())))
        .headed(["exploit.", "result"], "mean result lost to a best response, 0 to 1"),
    Figure::new("exploited_score", Coarse, Games(|of| Some(of.exploited_score())))
        .headed(["exploit.", UNITS], "mean score lost to a best response, in UNITS")
        .only(WithScores),
    Figure::new("forced_won", Count, Forced(|of| Some(of.won as f64))).headed(
        ["proven", "wins"],
        "number of positions proven won, with a move that is not proven to win",
    ),
    Figure::new("forced_won_kept", Share(true), Forced(|of| of.won_kept))
        .headed(["proven win", "kept"], "mean probability, in these wins, of a move that is proven to win"),
    Figure::new("forced_won_thrown", Share(false), Forced(|of| of.won_thrown)).headed(
        ["thrown into", "a proven loss"],
        "mean probability, in these wins, of a move that is proven to lose",
    ),
    Figure::new("forced_at_risk", Count, Forced(|of| Some(of.at_risk as f64))).headed(
        ["at", "risk"],
        "number of positions not proven won or lost, with a move that is proven to lose",
    ),
    Figure::new("forced_at_risk_lost", Share(false), Forced(|of| of.at_risk_lost)).headed(
        ["proven loss", "taken"],
        "mean probability, in the positions at risk, of a move that is proven to lose",
    ),
];

/// Placeholder for the name of the first player.
pub const FIRST: &str = "FIRST";
/// Placeholder for the name of the second player.
pub const SECOND: &str = "SECOND";

/// Returns the expected points of a game: a win counts 1, a draw half.
fn points(expected: &Expected) -> f64 {
    expected.win + 0.5 * expected.draw
}
