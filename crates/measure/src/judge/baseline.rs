//! Earlier report, which another is compared with.

use serde_json::Value;

use super::changes::Changes;
use super::comparison::{ComparedFigures, Comparison, MistakeChanges, groups_of};
use super::metrics::Metrics;
use super::report::AccuracyReport;
use yomikiri::error::Error;

/// Earlier report, read from its JSON.
#[derive(Clone, Debug)]
pub struct Baseline(Value);

impl Baseline {
    /// Reads the JSON of an earlier report.
    pub fn read(text: &str) -> Result<Baseline, Error> {
        let hint = "give a file that 'solver report --json' wrote";
        let json: Value = serde_json::from_str(text)
            .map_err(|error| Error::new(format!("not a report: {error}"), hint))?;
        let has = |place: &str| json.pointer(place).is_some();
        let mut places = ["/table/checksum", "/policies", "/metrics"].into_iter();
        if let Some(place) = places.find(|place| !has(place)) {
            return Err(Error::new(format!("not a report: no {place}"), hint));
        }
        let mut names = Metrics::unknown().numbers.into_iter().map(|(name, _)| name);
        if let Some(name) = names.find(|name| json["metrics"][0].get(name).is_none()) {
            let what = format!("the report of another version, without the figure `{name}`");
            return Err(Error::new(what, "make it again with this version"));
        }
        Ok(Baseline(json))
    }

    /// Returns the largest number of mistakes that it lists of a policy.
    pub fn mistakes(&self) -> usize {
        let listed = |policy| self.costliest(policy).len();
        (0..elements(&self.0["policies"]).len()).map(listed).max().unwrap_or(0)
    }

    /// Returns the figure of this name of a policy of a report; `None` too if it is of other positions here.
    pub fn figure(&self, policy: &str, report: &AccuracyReport, name: &str) -> Option<f64> {
        let now = report.metrics.iter().find(|metrics| metrics.policy == policy)?;
        self.metrics_of(self.find(policy)?, now)?[name].as_f64()
    }

    /// Compares a report with this earlier one, which lies in `file`. Fails unless both judged the same positions with
    /// the same values.
    pub fn changes(&self, report: &AccuracyReport, file: String) -> Result<Changes, Error> {
        let now = serde_json::to_value(&report.table).unwrap_or_default();
        let then = &self.0["table"];
        if then["checksum"] != now["checksum"] {
            let reasons = [
                ("game", "the game"),
                ("chosen", "the choice of positions"),
                ("empties", "the count of empty squares"),
                ("repetition", "the value of infinite play"),
                ("judged_states", "the number of positions"),
                ("asked_states", "the number of positions asked about (`--canonical`)"),
                ("checksum", "the content of the positions or their values"),
            ];
            let differs = |(field, _): &(&str, &str)| then[*field] != now[*field];
            let (field, what) = reasons.into_iter().find(differs).unwrap_or(reasons[6]);
            let [then, now] = [&then[field], &now[field]].map(|value| match value {
                Value::String(text) => text.split("; ").next().unwrap_or_default().to_string(),
                Value::Null => "none".to_string(),
                other => other.to_string(),
            });
            let what = format!("{what} differs: `{then}` there, `{now}` here");
            return Err(Error::new(what, "compare reports on the same positions"));
        }
        let policies = (0..report.policies.len()).map(|at| self.changes_of(report, at));
        Ok(Changes { file, policies: policies.collect() })
    }

    /// Returns the index of the policy of this name.
    fn find(&self, policy: &str) -> Option<usize> {
        elements(&self.0["policies"]).iter().position(|earlier| earlier["policy"] == policy)
    }

    /// Returns the positions of a policy's costliest mistakes: in games, if they were played out.
    fn costliest(&self, at: usize) -> Vec<&str> {
        let games = self.0["games"].is_object();
        let policies = if games { &self.0["games"]["policies"] } else { &self.0["policies"] };
        let mistakes = elements(&policies[at]["costliest"]).iter();
        mistakes.filter_map(|mistake| mistake["position"].as_str()).collect()
    }

    fn changes_of(&self, report: &AccuracyReport, at: usize) -> Option<Comparison> {
        let policy = &report.policies[at];
        let then = self.find(&policy.policy)?;
        let now = report.metrics.get(at)?;
        let metrics = self.metrics_of(then, now)?;
        let mut comparison = Comparison::of_figures([
            ComparedFigures {
                name: &policy.policy,
                figure: &|name| metrics[name].as_f64(),
                groups: self.groups(then),
            },
            ComparedFigures {
                name: &policy.policy,
                figure: &|name| now.number(name)?,
                groups: groups_of(policy.held_out_details()),
            },
        ]);
        let listed_then = self.costliest(then);
        // A report that lists more does not have new ones for that.
        let listed = report.costliest(at).iter().map(|mistake| &mistake.position[..]);
        let listed: Vec<&str> = listed.take(listed_then.len()).collect();
        let without = |some: &[&str], others: &[&str]| -> Vec<String> {
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
    fn metrics_of(&self, then: usize, now: &Metrics) -> Option<&Value> {
        let metrics = &self.0["metrics"][then];
        (metrics["positions"].as_f64() == now.number("positions")?).then_some(metrics)
    }

    /// Returns the result kept by a policy in the groups by layer, or by plies to the end without layers.
    fn groups(&self, at: usize) -> Vec<(i32, u64, f64)> {
        let policy = &self.0["policies"][at];
        let details = if policy["held_out"].is_object() { &policy["held_out"] } else { policy };
        let layers = elements(&details["layers"]);
        let (groups, key) = match layers.is_empty() {
            true => (elements(&details["by_distance"]), "distance"),
            false => (layers, "layer"),
        };
        let group = |of: &Value| {
            let decisive = &of["figures"]["decisive_result"];
            let share = decisive["result_kept"].as_f64()?;
            Some((of[key].as_i64()? as i32, decisive["positions"].as_u64()?, share))
        };
        groups.iter().filter_map(group).collect()
    }
}

/// Returns the elements of a list; none of anything else.
fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
