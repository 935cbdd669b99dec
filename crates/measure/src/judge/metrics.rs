//! A report as a flat list of named numbers for each policy, for monitoring programs.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::accuracy::PolicyAccuracy;
use super::figure_list::{FIGURES, Figure, FigureSource, SETS};
use super::figures::FiguresBySet;
use super::games::{Games, PolicyGames};

/// Named numbers of one policy; `None` for a mean over no positions, or if the game has no such number.
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
        let held_out = policy.held_out();
        let learned = policy.splits.map_or(FiguresBySet::default(), |splits| splits.train);
        let sets = [held_out.decisive_result, held_out.all, learned.decisive_result];
        let details = policy.held_out_details();
        let mut numbers = Vec::new();
        for (set, figures) in SETS.iter().zip(&sets) {
            let of_moves = FIGURES.iter().filter(|figure| figure.is_of_moves());
            let number =
                |figure: &Figure| (format!("{set}{}", figure.name), figure.compute(figures));
            numbers.extend(of_moves.map(number));
        }
        for figure in FIGURES {
            let number = match figure.source {
                FigureSource::Moves(_) => continue,
                FigureSource::Values(_) | FigureSource::FinalScores(_) => {
                    figure.of_predictions(details).flatten()
                }
                FigureSource::Games(of) => games.and_then(of),
                FigureSource::Forced(of) => policy.forced.as_ref().and_then(of),
            };
            numbers.push((figure.name.to_string(), number));
        }
        Metrics { policy: policy.policy.clone(), numbers }
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
