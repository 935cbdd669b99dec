//! Roles of policies in a report's page: the reader's own, the references, the checkpoints of a run.

use std::collections::BTreeMap;

use super::chart::COLOURS;
use super::names::ShortNames;
use crate::judge::{AccuracyReport, PolicyAccuracy};
use crate::policy::PolicySpec;
use yomikiri::error::{Error, did_you_mean};

/// Roles of a report's policies, by their indices.
#[derive(Clone, Debug)]
pub(super) struct Roles {
    /// Policy that the page brings out: by default the reader's best.
    pub highlight: Option<usize>,
    /// Perfect and random moves, which are references.
    pub perfect: Option<usize>,
    pub random: Option<usize>,
    /// All policies, best first.
    pub order: Vec<usize>,
    /// All but the references, best first.
    pub ranked: Vec<usize>,
    /// Short names in the order of the report.
    pub short: Vec<String>,
    /// Short names with a star where the policy has learned from some of the positions.
    pub starred: Vec<String>,
    /// Colours in the order of the report; empty for the text colour.
    pub colours: Vec<&'static str>,
    /// Series of policies.
    pub curves: Vec<Curve>,
    /// Policies of a series that are neither its best nor its last.
    between: Vec<usize>,
}

/// Policies whose names differ in one number, such as checkpoints of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    /// Name with `*` for the number.
    pub name: String,
    /// Numbers in ascending order, with the indices of the policies.
    pub steps: Vec<(f64, usize)>,
}

impl Curve {
    fn has(&self, at: usize) -> bool {
        self.steps.iter().any(|step| step.1 == at)
    }
}

impl Roles {
    /// Returns the roles; `highlight` is the index of the policy to bring out.
    pub(super) fn of(report: &AccuracyReport, highlight: Option<usize>) -> Roles {
        let names: Vec<&str> = report.policies.iter().map(|policy| &policy.policy[..]).collect();
        let find = |name: &str| names.iter().position(|known| *known == name);
        let (perfect, random) = (find("perfect"), find("random"));
        let order = report.ranking();
        let mut ranked = order.clone();
        ranked.retain(|at| Some(*at) != perfect && Some(*at) != random);
        // The reader's best; one that was trained here stands behind those that were brought.
        let is_kept_here = |at: &&usize| names[**at].starts_with("learned:");
        let own: Vec<usize> = order.iter().copied().filter(|&at| is_own(names[at])).collect();
        let first = own.iter().find(|at| !is_kept_here(at)).or(own.first());
        let curves = curves(&names);
        let highlight = highlight.or(first.copied());
        let mut between = Vec::new();
        for curve in &curves {
            let best = order.iter().find(|at| curve.has(**at)).copied();
            let kept = [best, curve.steps.last().map(|step| step.1), highlight];
            let all = curve.steps.iter().map(|step| step.1);
            between.extend(all.filter(|at| !kept.contains(&Some(*at))));
        }
        ranked.retain(|at| !between.contains(at));
        let by_colour: Vec<usize> = highlight.iter().chain(&own).chain(&ranked).copied().collect();
        let short = ShortNames::of(&report.table.game, names.iter().copied()).short;
        let star = |policy: &PolicyAccuracy| if policy.has_learned() { " *" } else { "" };
        let stars = report.policies.iter().map(star);
        Roles {
            starred: short.iter().zip(stars).map(|(name, star)| format!("{name}{star}")).collect(),
            highlight,
            perfect,
            random,
            order,
            ranked,
            short,
            colours: colours(&names, &by_colour, &curves),
            curves,
            between,
        }
    }

    /// Returns whether a policy is a checkpoint of a run that is neither its best nor its last.
    pub(super) fn is_between(&self, at: usize) -> bool {
        self.between.contains(&at)
    }
}

/// Returns the index of the policy of this name.
pub fn policy_named(report: &AccuracyReport, name: &str) -> Result<usize, Error> {
    let names = || report.policies.iter().map(|policy| &policy.policy[..]);
    names().position(|known| known == name).ok_or_else(|| {
        let what = format!("--highlight: no policy `{name}` in the report");
        let near = did_you_mean(name, names());
        Error::new(what, near.unwrap_or_else(|| names().collect::<Vec<_>>().join(", ")))
    })
}

/// Returns the colours of policies. Each has that of its name, in all reports, unless another that comes before it in
/// `order` has it; it then has the next that is free, while there are free ones. The policies of a series have that of its first
/// in `order`.
fn colours(names: &[&str], order: &[usize], curves: &[Curve]) -> Vec<&'static str> {
    let mut colours: Vec<&str> = names.iter().map(|name| colour(name)).collect();
    let mut done: Vec<usize> = Vec::new();
    for &at in order {
        let curve = curves.iter().find(|curve| curve.has(at));
        let first = curve.and_then(|curve| done.iter().find(|other| curve.has(**other)));
        if let Some(&first) = first {
            colours[at] = colours[first];
            continue;
        }
        let is_taken = |colour: &str| done.iter().any(|&other| colours[other] == colour);
        let own = COLOURS.iter().position(|colour| *colour == colours[at]).unwrap_or(0);
        let mut from_own = COLOURS.iter().cycle().skip(own).take(COLOURS.len());
        if let (false, Some(free)) = (done.contains(&at), from_own.find(|colour| !is_taken(colour)))
        {
            colours[at] = free;
        }
        if !done.contains(&at) {
            done.push(at);
        }
    }
    for curve in curves {
        let first = done.iter().find(|at| curve.has(**at)).map(|&at| colours[at]);
        curve.steps.iter().for_each(|&(_, at)| colours[at] = first.unwrap_or(colours[at]));
    }
    colours
}

/// Returns the colour of a policy by its name; empty for perfect moves, which have the text colour.
pub(super) fn colour(name: &str) -> &'static str {
    match name {
        "perfect" => "",
        "random" => "#74818c",
        // FNV-1a, with an offset by which common policies have different colours.
        _ => {
            let hash = name.bytes().fold(0x811c_9dda_u32, |hash, byte| {
                (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
            });
            COLOURS[(hash >> 16) as usize % COLOURS.len()]
        }
    }
}

/// Returns `true` for a policy that a user brought: a model, a program, predictions, or a name of its own.
fn is_own(name: &str) -> bool {
    let spec = match name.parse() {
        Ok(PolicySpec::Front(policy, _)) => Ok(*policy),
        other => other,
    };
    !matches!(
        spec,
        Ok(PolicySpec::Random
            | PolicySpec::Greedy
            | PolicySpec::Tactician
            | PolicySpec::Weights
            | PolicySpec::Reads(..)
            | PolicySpec::Plays(..)
            | PolicySpec::Mate(_)
            | PolicySpec::Perfect)
    )
}

/// Returns the numbers in a name, with point and exponent, and where they begin.
fn numbers(name: &str) -> Vec<(usize, &str)> {
    let byte = |at: usize| name.as_bytes().get(at).copied().unwrap_or(0);
    let behind_digits = |at: usize| (at..).find(|&at| !byte(at).is_ascii_digit()).unwrap_or(at);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < name.len() {
        let begin = at;
        at = behind_digits(at);
        if at == begin {
            at += 1;
            continue;
        }
        if byte(at) == b'.' && byte(at + 1).is_ascii_digit() {
            at = behind_digits(at + 1);
        }
        let exponent = at + 1 + usize::from(matches!(byte(at + 1), b'-' | b'+'));
        if byte(at).eq_ignore_ascii_case(&b'e') && byte(exponent).is_ascii_digit() {
            at = behind_digits(exponent);
        }
        found.push((begin, &name[begin..at]));
    }
    found
}

/// Returns the series of three or more own policies whose names differ in one number, the largest first.
fn curves(names: &[&str]) -> Vec<Curve> {
    let mut found: BTreeMap<(String, String), Vec<(f64, usize)>> = BTreeMap::new();
    for (at, name) in names.iter().enumerate().filter(|(_, name)| is_own(name)) {
        for (begin, number) in numbers(name) {
            if let Ok(step) = number.parse() {
                let around = [&name[..begin], &name[begin + number.len()..]];
                let [before, after] = around.map(str::to_string);
                found.entry((before, after)).or_default().push((step, at));
            }
        }
    }
    let mut all: Vec<Curve> = found
        .into_iter()
        .map(|((before, after), steps)| Curve { name: format!("{before}*{after}"), steps })
        .collect();
    all.sort_by_key(|curve| std::cmp::Reverse(curve.steps.len()));
    let mut taken = vec![false; names.len()];
    all.retain_mut(|curve| {
        curve.steps.retain(|&(_, at)| !taken[at]);
        curve.steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        curve.steps.dedup_by_key(|(step, _)| *step);
        let is_series = curve.steps.len() > 2;
        curve.steps.iter().filter(|_| is_series).for_each(|&(_, at)| taken[at] = true);
        is_series
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_of_a_run_are_a_series() {
        let names = [
            "alphabeta:2",
            "alphabeta:4",
            "alphabeta:6",
            "onnx:a4/ckpt-100.onnx",
            "onnx:a4/ckpt-20.onnx",
            "onnx:a4/ckpt-3000.onnx",
            "onnx:b.onnx",
        ];
        let steps = vec![(20.0, 4), (100.0, 3), (3000.0, 5)];
        assert_eq!(curves(&names), [Curve { name: "onnx:a4/ckpt-*.onnx".into(), steps }]);
        assert_eq!(curves(&names[..5]), []);
    }

    #[test]
    fn numbers_have_points_and_exponents() {
        let names = ["lr-0.5", "lr-0.25", "lr-0.1", "lr-0.01", "lr-1e-3", "lr-x", "bs-0.5"];
        let steps = vec![(0.001, 4), (0.01, 3), (0.1, 2), (0.25, 1), (0.5, 0)];
        assert_eq!(curves(&names), [Curve { name: "lr-*".into(), steps }]);
        assert_eq!(numbers("ä2.net-1.5E+2e.7"), [(2, "2"), (8, "1.5E+2"), (16, "7")]);
        // One number differs, and the rest of the name too.
        assert_eq!(curves(&["a-1-x", "a-2-y", "a-3-z"]), []);
    }

    #[test]
    fn common_policies_have_colours_of_their_own() {
        let mut names = vec!["greedy", "weights", "mcts:100", "alphabeta:4", "onnx:model.onnx"];
        names.extend([
            "learned:td-othello-4x4",
            "learned:dqn-othello-4x4",
            "learned:disc-regression-othello-4x4",
            "learned:q-mlp-othello-4x4",
            "learned:supervised-othello-4x4",
        ]);
        let colours: std::collections::BTreeSet<&str> =
            names.iter().map(|name| colour(name)).collect();
        assert_eq!(colours.len(), names.len());
        // Where two names share a colour the later one in the order gives way.
        let other =
            (0..).map(|n| format!("mcts:{n}:0")).find(|name| colour(name) == colour("greedy"));
        let both = ["greedy", &other.unwrap()];
        let shown = super::colours(&both, &[1, 0], &[]);
        assert!(shown[1] == colour("greedy") && shown[0] != shown[1], "{shown:?}");
        assert!(
            is_own("onnx:model.onnx")
                && is_own("my net")
                && !is_own("mcts:10")
                && !is_own("tactician")
                && !is_own("weights")
        );
    }
}
