//! `--fail-if`: conditions on the figures of a report, for checks by machine.

use std::cmp::Ordering;
use std::str::FromStr;

use yomikiri::error::{Error, did_you_mean};
use yomikiri_measure::judge::{
    Choice, Figure, FigureSource, JudgedPositions, Metrics, Player, Scope,
};

/// Condition that a figure of a policy is below or above a number, or the figure of an earlier report.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Condition {
    name: String,
    sign: &'static str,
    /// `true` if the number is added to the figure of the earlier report.
    from_baseline: bool,
    number: f64,
}

/// Signs, the longer ones first, with the orders for which they hold.
const SIGNS: [(&str, &[Ordering]); 4] = [
    ("<=", &[Ordering::Less, Ordering::Equal]),
    (">=", &[Ordering::Greater, Ordering::Equal]),
    ("<", &[Ordering::Less]),
    (">", &[Ordering::Greater]),
];

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let split = |(sign, _)| text.split_once(sign).map(|(name, number)| (name, sign, number));
        let form =
            "expected NAME < NUMBER, or with <=, > or >=; with --against, NAME < baseline - NUMBER";
        let (name, sign, number) = SIGNS.into_iter().find_map(split).ok_or(form)?;
        let (name, number) = (name.trim(), number.trim());
        if Figure::of_metric(name).is_none() {
            let known: Vec<String> =
                Metrics::unknown().numbers.into_iter().map(|(name, _)| name).collect();
            let near = did_you_mean(name, known.iter().map(String::as_str));
            return Err(match near {
                Some(near) => format!("unknown figure `{name}`; {near}"),
                None => format!("unknown figure `{name}`; see 'solver report --metrics'"),
            });
        }
        let after = number.strip_prefix("baseline").map(str::trim);
        let (number, direction) = match after {
            None => (number, 1.0),
            Some("") => ("0", 1.0),
            Some(rest) => match (rest.strip_prefix('-'), rest.strip_prefix('+')) {
                (Some(number), _) => (number, -1.0),
                (_, Some(number)) => (number, 1.0),
                _ => return Err(form.to_string()),
            },
        };
        let (number, unit) = match number.trim().strip_suffix('%') {
            Some(percent) => (percent, 0.01),
            None => (number, 1.0),
        };
        let unit = direction * unit;
        let number = number.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let number = number.ok_or_else(|| form.to_string())? * unit;
        Ok(Condition { name: name.to_string(), sign, from_baseline: after.is_some(), number })
    }
}

impl Condition {
    /// Checks before anything is measured that there will be such a figure of each policy, as far as
    /// that can be known: a mean over no positions shows only when they are counted. `why_no_games` says why none are played,
    /// or what to do.
    pub(super) fn check(
        &self,
        players: &[Player],
        positions: &dyn JudgedPositions,
        why_no_games: Option<&str>,
    ) -> Result<(), Error> {
        let (name, game, measured) = (&self.name, positions.game(), positions.facts()?);
        let missing =
            |what: &str, hint: &str| Err(Error::new(format!("--fail-if {name}: {what}"), hint));
        let table = &measured.name;
        let figure = self.figure();
        let is_of = |is: fn(&FigureSource) -> bool| figure.is_some_and(|figure| is(&figure.source));
        let of_games = is_of(|source| matches!(source, FigureSource::Games(_)));
        if let Some(why) = why_no_games.filter(|_| of_games) {
            return missing("no games are played", why);
        }
        let scope = figure.map(|figure| figure.scope);
        let of_scores = scope == Some(Scope::WithScores) || name.ends_with("_score");
        if of_scores && !measured.has_scores() {
            let what = format!("{table} has no scores");
            return missing(&what, "use result_kept, result_lost or points");
        }
        if scope == Some(Scope::WithoutScores) && game.is_layered() {
            return missing(&format!("plies are not compared on {table}"), "use score_kept");
        }
        if self.is_forced() && measured.complete {
            return missing(&format!("{table} is complete"), "use result_kept");
        }
        // Policies that fail here fail again when they are measured, with a message.
        let rows = positions.of_table();
        let root = rows.and_then(|rows| rows.table.states().roots().ok()?.first().copied());
        let root = root.unwrap_or_else(|| game.start());
        let at_the_root = |player: &Player| -> Option<Choice> {
            player.policy()?;
            let choice = player.choose(game, None, &root).ok()?;
            (!choice.actions.is_empty()).then_some(choice)
        };
        for player in players {
            let policy = player.name();
            if name.starts_with("learned_") && player.learned_from().division().is_none() {
                let what = format!("{policy} has not learned from these positions");
                return missing(&what, "name another figure");
            }
            let value = is_of(|source| matches!(source, FigureSource::Values(_)));
            let score = is_of(|source| matches!(source, FigureSource::FinalScores(_)));
            let Some(choice) = Some(player).filter(|_| value || score).and_then(at_the_root) else {
                continue;
            };
            if value && choice.value.is_none() || score && choice.final_score.is_none() {
                return missing(&format!("{policy} returns no such value"), "leave it out");
            }
        }
        Ok(())
    }

    fn figure(&self) -> Option<&'static Figure> {
        Figure::of_metric(&self.name)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether it compares with an earlier report.
    pub(super) fn needs_baseline(&self) -> bool {
        self.from_baseline
    }

    /// Returns whether its figure counts positions in which not all moves are proven.
    pub(super) fn is_forced(&self) -> bool {
        let source = self.figure().map(|figure| figure.source);
        matches!(source, Some(FigureSource::Forced(_)))
    }

    /// Returns a line for each policy for which it holds; `baseline` returns a policy's figure in the earlier
    /// report. An error if the figure of one is unknown.
    pub(super) fn found(
        &self,
        all: &[Metrics],
        baseline: &dyn Fn(&str, &str) -> Option<f64>,
    ) -> Result<Vec<String>, Error> {
        let Condition { name, sign, from_baseline, number } = self;
        let holds = SIGNS.iter().find(|(known, _)| known == sign).map_or(&[][..], |(_, on)| on);
        let mut found = Vec::new();
        for metrics in all {
            let policy = &metrics.policy;
            let own = metrics.number(name).flatten().ok_or_else(|| {
                let what = format!("--fail-if {name}: no such figure of {policy} here");
                Error::new(what, "see --metrics")
            })?;
            let (mut bound, mut words) = (*number, number.to_string());
            if *from_baseline {
                let then = baseline(policy, name).ok_or_else(|| {
                    let what = format!(
                        "--fail-if {name}: the earlier report has no such figure of {policy}"
                    );
                    Error::new(what, "measure the policy there too, or compare with a number")
                })?;
                bound += then;
                words = format!("{bound:.6} (baseline {then:.6})");
            }
            if own.partial_cmp(&bound).is_some_and(|order| holds.contains(&order)) {
                found.push(format!("{policy}: {name} is {own:.6}, {sign} {words}"));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_and_hold() {
        let metrics = |own| Metrics {
            policy: "net".to_string(),
            numbers: vec![("result_kept".to_string(), own)],
        };
        let none = |_: &str, _: &str| None;
        for (text, own, holds) in [
            ("result_kept < 0.95", 0.94, true),
            ("result_kept<0.95", 0.95, false),
            (" result_kept <= .95 ", 0.95, true),
            ("result_kept < 95%", 0.94, true),
            ("result_kept >1e-1", 0.1, false),
            ("result_kept>=0.1", 0.1, true),
        ] {
            let condition: Condition = text.parse().unwrap();
            let found = condition.found(&[metrics(Some(own)), metrics(Some(own))], &none).unwrap();
            assert_eq!(found.len(), if holds { 2 } else { 0 }, "{text}");
        }
        for (text, holds) in [
            ("result_kept < baseline - 0.01", false),
            ("result_kept < baseline-1%", false),
            ("result_kept < baseline", true),
            ("result_kept <= baseline - 0.005", true),
            ("result_kept > baseline + 0.1", false),
        ] {
            let condition: Condition = text.parse().unwrap();
            let then = |policy: &str, name: &str| {
                (policy, name).eq(&("net", "result_kept")).then_some(0.5)
            };
            let found = condition.found(&[metrics(Some(0.495))], &then).unwrap();
            assert_eq!(found.len(), usize::from(holds), "{text}: {found:?}");
            assert!(condition.found(&[metrics(Some(0.495))], &none).is_err());
        }
        let condition: Condition = "result_kept < 0.95".parse().unwrap();
        assert_eq!(
            condition.found(&[metrics(Some(0.5))], &none).unwrap(),
            ["net: result_kept is 0.500000, < 0.95"]
        );
        assert!(condition.found(&[metrics(None)], &none).is_err());
        for text in [
            "result_kept",
            "result_kept = 1",
            "result_kept < x",
            "result_kept < NaN",
            "result_kept < baseline * 2",
        ] {
            assert!(text.parse::<Condition>().unwrap_err().contains("expected NAME <"), "{text}");
        }
        let unknown = |text: &str| text.parse::<Condition>().unwrap_err();
        assert_eq!(unknown("kept < 1"), "unknown figure `kept`; see 'solver report --metrics'");
        assert_eq!(unknown("result < 1"), "unknown figure `result`; did you mean `result_kept`?");
    }
}
