//! Earlier report, which another is compared with.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::changes::Changes;
use super::comparison::{ComparedFigures, Comparison, MistakeChanges, groups_of};
use super::metrics::Metrics;
use super::report::AccuracyReport;
use yomikiri::hint::Hinted;

/// Earlier report, read from its JSON.
#[derive(Clone, Debug, Deserialize)]
pub struct Baseline {
    table: EarlierTable,
    policies: Vec<EarlierPolicy>,
    games: Option<EarlierGames>,
    metrics: Vec<BTreeMap<String, serde_json::Value>>,
}

#[derive(Clone, Debug, Deserialize)]
struct EarlierTable {
    game: String,
    checksum: String,
    chosen: Option<String>,
    empties: Option<String>,
    repetition: Option<String>,
    judged_states: u64,
    asked_states: u64,
}

#[derive(Clone, Debug, Deserialize)]
struct EarlierPolicy {
    policy: String,
    #[serde(flatten)]
    details: EarlierDetails,
    held_out: Option<EarlierDetails>,
    costliest: Vec<EarlierMistake>,
}

#[derive(Clone, Debug, Deserialize)]
struct EarlierDetails {
    layers: Vec<EarlierGroup>,
    by_distance: Vec<EarlierGroup>,
}

#[derive(Clone, Debug, Deserialize)]
struct EarlierGroup {
    layer: Option<i32>,
    distance: Option<i32>,
    figures: EarlierSets,
}

#[derive(Clone, Debug, Deserialize)]
struct EarlierSets {
    decisive_outcome: EarlierFigures,
}

#[derive(Clone, Debug, Deserialize)]
struct EarlierFigures {
    states: u64,
    optimal_by_outcome: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
struct EarlierGames {
    policies: Vec<EarlierPlayed>,
}

#[derive(Clone, Debug, Deserialize)]
struct EarlierPlayed {
    costliest: Vec<EarlierMistake>,
}

#[derive(Clone, Debug, Deserialize)]
struct EarlierMistake {
    position: String,
}

impl Baseline {
    /// Reads the JSON of an earlier report.
    pub fn read(text: &str) -> Result<Baseline, Hinted> {
        let invalid = |error: serde_json::Error| {
            let hint = "give a file that 'solver report --json' wrote";
            Hinted::new(format!("not a report: {error}"), hint)
        };
        serde_json::from_str(text).map_err(invalid)
    }

    /// Returns the largest number of mistakes that it lists of a policy.
    pub fn mistakes(&self) -> usize {
        let listed = |policy| self.costliest(policy).len();
        (0..self.policies.len()).map(listed).max().unwrap_or(0)
    }

    /// Returns the figure of this name of a policy of a report; `None` too if it is of other positions here.
    pub fn figure(&self, policy: &str, report: &AccuracyReport, name: &str) -> Option<f64> {
        let now = report.metrics.iter().find(|metrics| metrics.policy == policy)?;
        self.metrics_of(self.find(policy)?, now)?.get(name)?.as_f64()
    }

    /// Compares a report with this earlier one, which lies in `file`. Fails unless both judged the same positions with
    /// the same values.
    pub fn changes(&self, report: &AccuracyReport, file: String) -> Result<Changes, Hinted> {
        let (then, now) = (&self.table, &report.table);
        if then.checksum != now.checksum {
            let count = |count: u64| Some(count.to_string());
            let text = |text: &Option<String>| text.clone();
            let reasons = [
                ("the game", Some(then.game.clone()), Some(now.game.clone())),
                ("the choice of positions", text(&then.chosen), text(&now.chosen)),
                ("the count of empty squares", text(&then.empties), text(&now.empties)),
                ("the value of infinite play", text(&then.repetition), text(&now.repetition)),
                ("the number of positions", count(then.judged_states), count(now.judged_states)),
                (
                    "the number of positions asked about (`--canonical`)",
                    count(then.asked_states),
                    count(now.asked_states),
                ),
                (
                    "the content of the positions or their values",
                    Some(format!("checksum {}", then.checksum)),
                    Some(format!("checksum {}", now.checksum)),
                ),
            ];
            let (what, then, now) =
                reasons.into_iter().find(|(_, then, now)| then != now).unwrap_or_default();
            let [then, now] = [then, now].map(|text| text.unwrap_or("none".to_string()));
            let what = format!("{what} differs: `{then}` there, `{now}` here");
            return Err(Hinted::new(what, "compare reports on the same positions"));
        }
        let policies = (0..report.policies.len()).map(|at| self.changes_of(report, at));
        Ok(Changes { file, policies: policies.collect() })
    }

    /// Returns the index of the policy of this name.
    fn find(&self, policy: &str) -> Option<usize> {
        self.policies.iter().position(|earlier| earlier.policy == policy)
    }

    fn costliest(&self, at: usize) -> &[EarlierMistake] {
        let games = self.games.as_ref().and_then(|games| games.policies.get(at));
        games.map_or(&self.policies[at].costliest, |games| &games.costliest)
    }

    fn changes_of(&self, report: &AccuracyReport, at: usize) -> Option<Comparison> {
        let policy = &report.policies[at];
        let then = self.find(&policy.policy)?;
        let (earlier, now) = (&self.policies[then], report.metrics.get(at)?);
        let metrics = self.metrics_of(then, now)?;
        let mut comparison = Comparison::of_figures([
            ComparedFigures {
                name: &earlier.policy,
                figure: &|name| metrics.get(name)?.as_f64(),
                groups: earlier.held_out.as_ref().unwrap_or(&earlier.details).groups(),
            },
            ComparedFigures {
                name: &policy.policy,
                figure: &|name| now.number(name)?,
                groups: groups_of(policy.held_out_details()),
            },
        ]);
        let listed: Vec<&String> =
            report.costliest(at).iter().map(|mistake| &mistake.position).collect();
        let listed_then: Vec<&String> =
            self.costliest(then).iter().map(|mistake| &mistake.position).collect();
        let without = |some: &[&String], others: &[&String]| -> Vec<String> {
            some.iter().filter(|one| !others.contains(one)).map(|one| one.to_string()).collect()
        };
        comparison.mistakes = Some(MistakeChanges {
            gone: without(&listed_then, &listed),
            new: without(&listed, &listed_then),
        });
        Some(comparison)
    }

    /// Returns the earlier figures; `None` if they are of another number of positions, because a policy is judged in
    /// those that it has not learned from.
    fn metrics_of(
        &self,
        then: usize,
        now: &Metrics,
    ) -> Option<&BTreeMap<String, serde_json::Value>> {
        let metrics = self.metrics.get(then)?;
        (metrics.get("positions")?.as_f64() == now.number("positions")?).then_some(metrics)
    }
}

impl EarlierDetails {
    /// Returns the result kept in the groups by layer, or by plies to the end without layers.
    fn groups(&self) -> Vec<(i32, u64, f64)> {
        let groups = if self.layers.is_empty() { &self.by_distance } else { &self.layers };
        let group = |of: &EarlierGroup| {
            let decisive = &of.figures.decisive_outcome;
            Some((of.layer.or(of.distance)?, decisive.states, decisive.optimal_by_outcome?))
        };
        groups.iter().filter_map(group).collect()
    }
}
