//! Earlier report, which another is compared with.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::changes::{Changes, GroupChange, PolicyChanges};
use super::details::{Details, Group, Key};
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
    searched: Option<String>,
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
        let at = self.find(policy, report)?;
        let now = report.metrics.iter().find(|metrics| metrics.policy == policy)?;
        self.metrics_of(at, now)?;
        self.metrics.get(at)?.get(name)?.as_f64()
    }

    /// Compares a report with this earlier one, which lies in `file`. Fails if they measured different
    /// positions.
    pub fn changes(&self, report: &AccuracyReport, file: String) -> Result<Changes, Hinted> {
        let (then, now) = (&self.table, &report.table);
        let differences = [
            ("the game", Some(&then.game), Some(&now.game)),
            ("the positions", then.chosen.as_ref(), now.chosen.as_ref()),
            ("the search", then.searched.as_ref(), now.searched.as_ref()),
            ("the count of empty squares", then.empties.as_ref(), now.empties.as_ref()),
            ("the value of infinite play", then.repetition.as_ref(), now.repetition.as_ref()),
        ];
        let hint = "compare reports of the same table and positions";
        for (what, then, now) in differences {
            if then != now {
                let [then, now] = [then, now].map(|text| text.map_or("none", |text| &text[..]));
                let what = format!("{what} differs: `{then}` there, `{now}` here");
                return Err(Hinted::new(what, hint));
            }
        }
        let counts = [
            ("positions", then.judged_states, now.judged_states),
            ("positions asked about (`--canonical`)", then.asked_states, now.asked_states),
        ];
        for (what, then, now) in counts {
            if then != now {
                let what = format!("the number of {what} differs: {then} there, {now} here");
                return Err(Hinted::new(what, hint));
            }
        }
        let policies = (0..report.policies.len()).map(|at| self.changes_of(report, at));
        Ok(Changes { file, policies: policies.collect() })
    }

    /// Returns the index of a policy of a report: the one of the same name, else the only one without a
    /// counterpart, if the policy is the only one without too.
    fn find(&self, policy: &str, report: &AccuracyReport) -> Option<usize> {
        let same = |earlier: &EarlierPolicy| earlier.policy == policy;
        let at = self.policies.iter().position(same);
        at.or_else(|| {
            let here = |name: &str| report.policies.iter().any(|policy| policy.policy == name);
            let there = |name: &str| self.policies.iter().any(|policy| policy.policy == name);
            let mut unmatched =
                self.policies.iter().enumerate().filter(|(_, of)| !here(&of.policy));
            let only = unmatched.next().filter(|_| unmatched.next().is_none())?;
            let new = report.policies.iter().filter(|policy| !there(&policy.policy)).count();
            (new == 1).then_some(only.0)
        })
    }

    fn costliest(&self, at: usize) -> &[EarlierMistake] {
        let games = self.games.as_ref().and_then(|games| games.policies.get(at));
        games.map_or(&self.policies[at].costliest, |games| &games.costliest)
    }

    fn changes_of(&self, report: &AccuracyReport, at: usize) -> Option<PolicyChanges> {
        let policy = &report.policies[at];
        let then = self.find(&policy.policy, report)?;
        let earlier = &self.policies[then];
        let metrics = self.metrics_of(then, report.metrics.get(at)?)?;
        let details = earlier.held_out.as_ref().unwrap_or(&earlier.details);
        let groups = groups(details, policy.held_out_details());
        let listed: Vec<&String> =
            report.costliest(at).iter().map(|mistake| &mistake.position).collect();
        let listed_then: Vec<&String> =
            self.costliest(then).iter().map(|mistake| &mistake.position).collect();
        let without = |some: &[&String], others: &[&String]| -> Vec<String> {
            some.iter().filter(|one| !others.contains(one)).map(|one| one.to_string()).collect()
        };
        Some(PolicyChanges {
            earlier: earlier.policy.clone(),
            metrics,
            groups,
            new_mistakes: without(&listed, &listed_then),
            gone_mistakes: without(&listed_then, &listed),
        })
    }

    /// Returns the changes of figures; `None` if they are of different numbers of positions.
    fn metrics_of(&self, then: usize, now: &Metrics) -> Option<BTreeMap<String, f64>> {
        let then = self.metrics.get(then)?;
        let difference = |(name, now): &(String, Option<f64>)| {
            Some((name.clone(), (*now)? - then.get(name)?.as_f64()?))
        };
        let all: BTreeMap<String, f64> = now.numbers.iter().filter_map(difference).collect();
        (all.get("positions") == Some(&0.0)).then_some(all)
    }
}

/// Returns the groups in which the result kept changed.
fn groups(then: &EarlierDetails, now: &Details) -> Vec<GroupChange> {
    let (then, now) = match now.layers.is_empty() {
        false => (&then.layers, &now.layers),
        true => (&then.by_distance, &now.by_distance),
    };
    let change = |group: &Group| {
        let key = match group.key {
            Key::Layer(n) => (Some(n), None),
            key => (None, Some(key.number())),
        };
        let before = then.iter().find(|of| (of.layer, of.distance) == key)?;
        let (before, now) = (&before.figures.decisive_outcome, &group.figures.decisive_outcome);
        let (before, kept) = (
            before.optimal_by_outcome.filter(|_| before.states == now.states)?,
            now.means().optimal_by_outcome?,
        );
        ((kept - before).abs() > 1e-9).then_some(GroupChange {
            group: group.key.number(),
            positions: now.states,
            before,
            now: kept,
        })
    };
    now.iter().filter_map(change).collect()
}
