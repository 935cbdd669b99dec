//! Costliest mistakes of policies as text.

use super::grid::Grid;
use super::number::{amount, percent};
use super::sanitise::{GREEN, RED, styled};
use crate::judge::{AccuracyReport, Mistake};

/// Lays out the `mistakes` costliest mistakes of each policy.
pub(super) fn mistakes_text(report: &AccuracyReport, mistakes: usize) -> String {
    let (mut text, units) = (String::new(), &report.words.units[..]);
    for (at, policy) in report.policies.iter().enumerate().filter(|_| mistakes > 0) {
        let games = report.games.as_ref().map(|games| &games.policies[at]);
        let costliest = games.map_or(&policy.costliest, |games| &games.costliest);
        for (at, mistake) in costliest.iter().take(mistakes).enumerate() {
            text += &format!("\n{}, costly mistake {}\n\n", policy.policy, at + 1);
            text += &mistake_text(mistake, units);
        }
    }
    text
}

fn mistake_text(mistake: &Mistake, units: &str) -> String {
    let has_scores = mistake.score_lost.is_some();
    let rows = mistake.moves.iter().map(|facts| {
        let outcome = ["loss", "draw", "win"][(facts.outcome + 1) as usize];
        let score = facts.score.map_or(String::new(), |score| format!("{score:+}"));
        let plies = facts.distance.map_or(String::new(), |plies| plies.to_string());
        let exact = if has_scores { vec![score] } else { vec![outcome.to_string(), plies] };
        let best = if facts.best { "best" } else { "" };
        let (name, chosen) = (facts.name.clone(), percent(facts.probability));
        [vec![name, chosen], exact, vec![best.to_string()]].concat()
    });
    let exact: &[&str] = if has_scores { &["score"] } else { &["result", "plies"] };
    let moves = Grid::of(&[&["move", "chosen"], exact, &[""]].concat(), rows).to_text();
    let styles = mistake.moves.iter().map(|facts| match (facts.best, facts.probability > 0.0) {
        (true, _) => Some(GREEN),
        (false, true) => Some(RED),
        (false, false) => None,
    });
    let lines = moves.lines().zip([None].into_iter().chain(styles));
    let line = |(line, style): (&str, Option<&str>)| {
        style.map_or(line.to_string(), |style| styled(line, style)) + "\n"
    };
    let moves: String = lines.map(line).collect();
    let mut facts = vec![format!("{} to move", mistake.mover)];
    facts.extend(mistake.met.map(|met| format!("met in {} of its games", percent(met))));
    facts.extend(match (mistake.score_lost, mistake.plies_lost) {
        (Some(lost), _) => Some(format!("{lost:.2} {units} lost")),
        (None, Some(plies)) if mistake.result_lost == 0.0 => Some(format!("{plies:.2} plies lost")),
        _ => Some(format!("{} of the result lost", amount(mistake.result_lost))),
    });
    format!("{}\n{}\n\n{moves}", mistake.diagram.trim_end(), facts.join("; "))
}
