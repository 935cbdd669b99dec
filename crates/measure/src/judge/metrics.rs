//! A report as a flat list of named numbers for each policy, for monitoring programs.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::accuracy::PolicyAccuracy;
use super::exact_play::Expected;
use super::figures::{Figures, FiguresBySet};
use super::games::{BothSides, Games, PolicyGames};

/// Named numbers of one policy; `None` for a mean over no positions, or if the game has no such number.
/// `docs/json.md` defines them.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    /// Name of the policy.
    pub policy: String,
    /// Numbers by name, always with the same names in the same order.
    pub numbers: Vec<(String, Option<f64>)>,
}

impl Metrics {
    /// Returns the metrics of policies, in their order, with their games if they were played out.
    pub fn of(policies: &[PolicyAccuracy], games: Option<&Games>) -> Vec<Metrics> {
        let games = |at: usize| games.map(|games| &games.policies[at]);
        let policies = policies.iter().enumerate();
        policies.map(|(at, policy)| Metrics::of_policy(policy, games(at))).collect()
    }

    /// Returns metrics without numbers: the names alone.
    pub fn unknown() -> Metrics {
        Metrics::of_policy(&PolicyAccuracy::default(), None)
    }

    /// Returns the number of this name; `None` if there is no such name.
    pub fn number(&self, name: &str) -> Option<Option<f64>> {
        self.numbers.iter().find(|(known, _)| known == name).map(|(_, number)| *number)
    }

    fn of_policy(policy: &PolicyAccuracy, games: Option<&PolicyGames>) -> Metrics {
        let mut metrics = Metrics { policy: policy.policy.clone(), numbers: Vec::new() };
        let held_out = policy.held_out();
        metrics.figures("", &held_out.decisive_outcome);
        metrics.figures("all_", &held_out.all);
        let learned = policy.splits.map_or(FiguresBySet::default(), |splits| splits.train);
        metrics.figures("learned_", &learned.decisive_outcome);
        let details = policy.held_out_details();
        let values = details.values.map(|values| values.means());
        let values = values.as_ref();
        metrics.push("value_error", values.and_then(|values| values.mean_error));
        metrics.push("value_sign", values.and_then(|values| values.sign_accuracy));
        metrics.push("value_brier", values.and_then(|values| values.brier));
        metrics.push("value_calibration", values.and_then(|values| values.calibration_error));
        let scores = details.final_scores.map(|scores| scores.means());
        let scores = scores.as_ref();
        metrics.push("final_score_error", scores.and_then(|scores| scores.mean_error));
        metrics.push("final_score_bias", scores.and_then(|scores| scores.mean_signed_error));
        metrics.push("final_score_rmse", scores.and_then(|scores| scores.root_mean_square_error));
        metrics.games(games);
        let forced = policy.forced.as_ref();
        metrics.push("forced_won", forced.map(|forced| forced.won as f64));
        metrics.push("forced_won_kept", forced.and_then(|forced| forced.won_kept));
        metrics.push("forced_won_thrown", forced.and_then(|forced| forced.won_thrown));
        metrics.push("forced_at_risk", forced.map(|forced| forced.at_risk as f64));
        metrics.push("forced_at_risk_lost", forced.and_then(|forced| forced.at_risk_lost));
        metrics
    }

    fn push(&mut self, name: &str, number: Option<f64>) {
        self.numbers.push((name.to_string(), number));
    }

    fn figures(&mut self, set: &str, figures: &Figures) {
        let means = figures.means();
        for (name, number) in [
            ("positions", Some(means.states as f64)),
            ("result_kept", means.optimal_by_outcome),
            ("score_kept", means.optimal_by_score),
            ("plies_kept", means.optimal_by_distance),
            ("result_lost", means.expected_loss_outcome),
            ("score_lost", means.expected_loss_score),
            ("win_to_draw", means.blunders.win_to_draw.share),
            ("win_to_loss", means.blunders.win_to_loss.share),
            ("draw_to_loss", means.blunders.draw_to_loss.share),
            ("rank_correlation", means.rank_correlation),
            ("nll", means.nll),
            ("no_chance", means.no_chance()),
            ("entropy", means.entropy),
            ("top_1", means.top_1),
            ("top_2", means.top_2),
            ("top_3", means.top_3),
        ] {
            self.push(&format!("{set}{name}"), number);
        }
    }

    fn games(&mut self, games: Option<&PolicyGames>) {
        let points = |expected: &Expected| expected.win + 0.5 * expected.draw;
        type Of = fn(&PolicyGames) -> &BothSides<Expected>;
        let opponents: [(&str, Of); 2] = [
            ("random", |games| &games.against_random),
            ("perfect", |games| &games.against_perfect),
        ];
        for (opponent, of) in opponents {
            let both = games.map(of);
            for (side, expected) in
                [("first", both.map(|both| both.first)), ("second", both.map(|both| both.second))]
            {
                let name = |what| format!("{opponent}_{side}_{what}");
                self.push(&name("points"), expected.as_ref().map(points));
                self.push(&name("score"), expected.map(|expected| expected.score));
            }
        }
        self.push("exploited_result", games.map(PolicyGames::exploited));
        self.push("exploited_score", games.map(PolicyGames::exploited_score));
    }
}

impl Serialize for Metrics {
    /// Serializes one flat object: `policy` and the numbers.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.numbers.len() + 1))?;
        map.serialize_entry("policy", &self.policy)?;
        for (name, number) in &self.numbers {
            map.serialize_entry(name, number)?;
        }
        map.end()
    }
}

/// A flat object: `policy`, and numbers by name.
#[cfg(feature = "schemas")]
impl schemars::JsonSchema for Metrics {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Metrics".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Figures of a policy, by name.",
            "type": "object",
            "properties": { "policy": { "type": "string", "description": "Name of the policy." } },
            "additionalProperties": { "type": ["number", "null"] },
            "required": ["policy"],
        })
    }
}
