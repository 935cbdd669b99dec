//! Values in words, as sentences and as cells of a grid.

use super::number::{counted, thousands};
use yomikiri::rules::{Outcome, Repetition};
use yomikiri::solve::Value;
use yomikiri::table::{Manifest, Solution};

/// Properties of the mover that affect the words of a verdict.
#[derive(Clone, Copy, Debug)]
pub struct Mover<'a> {
    /// Name of the side.
    pub side: &'a str,
    /// `true` if its king is attacked.
    pub in_check: bool,
    /// Unit of scores, in games that have them.
    pub unit: Option<&'a str>,
}

/// Returns a sentence such as `Black, to move, wins in 7 plies`, or `…, loses by 8 discs; 13 plies to the
/// end`.
pub fn verdict(mover: Mover<'_>, value: Value) -> String {
    let check = if mover.in_check { " and in check" } else { "" };
    let result = match mover.unit {
        Some(unit) => result_by_score(value, unit),
        None => result(value),
    };
    format!("{}, to move{check}, {result}", mover.side)
}

fn result_by_score(value: Value, unit: &str) -> String {
    let result = match (value.outcome(), value.score()) {
        (Some(Outcome::Draw), _) => "draws".to_string(),
        (Some(outcome), score) => {
            let verb = if outcome == Outcome::Win { "wins" } else { "loses" };
            match score.map(|score| u64::from(score.0.unsigned_abs())) {
                Some(size) => format!("{verb} by {}", counted(size, unit)),
                None => format!("{verb} by a score that is not proven"),
            }
        }
        (None, _) => "has an outcome that is not proven".to_string(),
    };
    match value.distance() {
        Some(1) => format!("{result}; 1 ply to the end"),
        Some(plies) => format!("{result}; {plies} plies to the end"),
        None => result,
    }
}

fn result(value: Value) -> String {
    match (value.outcome(), value.upper.outcome(), value.lower.outcome()) {
        (Some(Outcome::Draw), ..) => match value.distance() {
            Some(plies) => format!("draws after {}", plies_text(plies)),
            None => "draws: neither side can force a win".to_string(),
        },
        (Some(Outcome::Win), ..) => format!("wins{}", in_plies(value)),
        (Some(Outcome::Loss), ..) => format!("loses{}", in_plies(value)),
        (None, Outcome::Draw, _) => "draws or loses; which is not proven".to_string(),
        (None, _, Outcome::Draw) => "draws or wins; which is not proven".to_string(),
        (None, ..) => {
            let open = still_open(value).map_or(String::new(), |open| format!("; {open}"));
            format!("has an outcome that is not proven{open}")
        }
    }
}

/// Returns the restrictions that the bounds of an unproven outcome imply; `None` if there are none. An open
/// state is won in 1 ply and lost in 2 at the soonest.
pub fn still_open(value: Value) -> Option<String> {
    let won = match (value.upper.outcome(), value.upper.distance()) {
        (Outcome::Win, None) => Some("it could be won only by infinite play".to_string()),
        (Outcome::Win, Some(plies @ 2..)) => Some(format!("a win takes at least {plies} plies")),
        _ => None,
    };
    let lost = match (value.lower.outcome(), value.lower.distance()) {
        (Outcome::Loss, None) => Some("it could be lost only by infinite play".to_string()),
        (Outcome::Loss, Some(plies @ 3..)) => Some(format!("a loss takes at least {plies} plies")),
        _ => None,
    };
    let both: Vec<String> = won.into_iter().chain(lost).collect();
    (!both.is_empty()).then(|| both.join(", "))
}

/// Returns `1 ply`, `7 plies`.
pub fn plies_text(plies: u16) -> String {
    if plies == 1 { "1 ply".to_string() } else { format!("{plies} plies") }
}

/// Returns the distance of a proven win or loss, as far as it is known, for the end of a sentence.
fn in_plies(value: Value) -> String {
    match (value.distance_lower(), value.distance_upper()) {
        (Some(least), Some(most)) if least == most => format!(" in {}", plies_text(most)),
        (Some(least), Some(most)) if !is_trivial(least) => {
            format!(" in {least} to {}", plies_text(most))
        }
        (_, Some(most)) => format!(" in at most {}", plies_text(most)),
        // In a layered game, where play always ends, nothing is known then.
        (Some(0), None) => String::new(),
        (Some(least), None) => format!(" in {} or more, or by infinite play", plies_text(least)),
        (None, None) => " by infinite play".to_string(),
    }
}

/// Returns the distance of a value for a cell of a column headed by plies.
pub fn plies_cell(value: Value) -> String {
    match (value.outcome(), value.distance_lower(), value.distance_upper()) {
        (None, ..) => "not proven".to_string(),
        (Some(Outcome::Draw), ..) => {
            // A draw by infinite play and a drawn end are the same value.
            value.distance().map_or("-".to_string(), |plies| plies.to_string())
        }
        (_, Some(least), Some(most)) if least == most => most.to_string(),
        (_, Some(least), Some(most)) if !is_trivial(least) => format!("{least} to {most}"),
        (_, _, Some(most)) => format!("at most {most}"),
        (_, Some(0), None) => "not known".to_string(),
        (_, Some(least), None) => format!("{least} or more"),
        (_, None, None) => "infinite".to_string(),
    }
}

/// Returns the score, or its bounds, for a cell.
pub fn score_cell(value: Value) -> String {
    let (lower, upper) = (value.lower.score(), value.upper.score());
    if lower == upper { lower.to_string() } else { format!("{lower} to {upper}") }
}

/// Returns the outcome, as far as it is proven, for a cell.
pub fn outcome_cell(value: Value) -> &'static str {
    match (value.outcome(), value.lower.outcome(), value.upper.outcome()) {
        (Some(outcome), ..) => outcome.name(),
        (None, Outcome::Draw, _) => "draw or win",
        (None, _, Outcome::Draw) => "loss or draw",
        (None, ..) => "not proven",
    }
}

/// Returns `true` for a bound that is implied by the state being open.
fn is_trivial(least: u16) -> bool {
    least <= 2
}

/// Returns the convention for infinite play in words.
pub fn repetition_text(repetition: Repetition) -> &'static str {
    match repetition {
        Repetition::Draw => "infinite play counts as a draw",
        Repetition::SecondPlayerWins => "infinite play counts as a win of the second player",
        Repetition::Unknown => "the value of infinite play is unknown",
    }
}

/// Returns the extent of a solution's proofs and its convention in words.
pub fn proven_text(manifest: &Manifest, solution: &Solution) -> String {
    if let Some(scores) = solution.proven_scores {
        return format!(
            "of {} states {} have proven outcomes, {} proven scores, {} exact distances",
            thousands(manifest.counts.table.states),
            thousands(solution.proven_outcomes),
            thousands(scores),
            thousands(solution.exact_distances)
        );
    }
    // Layered games have no infinite play.
    let named = solution.repetition.as_deref().and_then(Repetition::of);
    let repetition = named.map_or(String::new(), |named| format!("; {}", repetition_text(named)));
    format!(
        "of {} states {} have proven outcomes, {} exact distances{repetition}",
        thousands(manifest.counts.table.states),
        thousands(solution.proven_outcomes),
        thousands(solution.exact_distances),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use yomikiri::rules::Score;
    use yomikiri::solve::Prospect;

    const NOBODY: Mover<'_> = Mover { side: "Black", in_check: false, unit: None };

    fn between(lower: Prospect, upper: Prospect) -> Value {
        Value { lower, upper }
    }

    /// Values with their cells of outcome and plies, and their sentence.
    fn examples() -> Vec<(Value, &'static str, &'static str, &'static str)> {
        use Prospect as P;
        let exactly = Value::exactly;
        vec![
            (exactly(P::win(1)), "win", "1", "wins in 1 ply"),
            (exactly(P::loss(4)), "loss", "4", "loses in 4 plies"),
            (exactly(P::DRAW), "draw", "-", "draws: neither side can force a win"),
            (exactly(P::ENDLESS_WIN), "win", "infinite", "wins by infinite play"),
            (between(P::win(9), P::win(5)), "win", "5 to 9", "wins in 5 to 9 plies"),
            (between(P::win(9), P::win(1)), "win", "at most 9", "wins in at most 9 plies"),
            (between(P::loss(2), P::loss(8)), "loss", "at most 8", "loses in at most 8 plies"),
            (
                between(P::loss(6), P::ENDLESS_LOSS),
                "loss",
                "6 or more",
                "loses in 6 plies or more, or by infinite play",
            ),
            (Value::of_scores(Score(1), Score(1), None), "win", "not known", "wins"),
            (Value::of_scores(Score(-1), Score(-1), None), "loss", "not known", "loses"),
            (
                between(P::DRAW, P::win(5)),
                "draw or win",
                "not proven",
                "draws or wins; which is not proven",
            ),
            (
                between(P::loss(6), P::DRAW),
                "loss or draw",
                "not proven",
                "draws or loses; which is not proven",
            ),
            (
                between(P::loss(2), P::win(1)),
                "not proven",
                "not proven",
                "has an outcome that is not proven",
            ),
            (
                between(P::loss(4), P::win(5)),
                "not proven",
                "not proven",
                "has an outcome that is not proven; a win takes at least 5 plies, a loss takes at least 4 plies",
            ),
            (
                between(P::ENDLESS_LOSS, P::win(5)),
                "not proven",
                "not proven",
                "has an outcome that is not proven; a win takes at least 5 plies, it could be lost only by infinite play",
            ),
        ]
    }

    #[test]
    fn values_are_shown_as_far_as_they_are_proven() {
        for (value, outcome, plies, text) in examples() {
            assert_eq!((outcome_cell(value), plies_cell(value).as_str()), (outcome, plies));
            assert_eq!(verdict(NOBODY, value), format!("Black, to move, {text}"));
        }
        let checked = Mover { side: "White", in_check: true, ..NOBODY };
        assert_eq!(
            verdict(checked, Value::exactly(Prospect::loss(2))),
            "White, to move and in check, loses in 2 plies"
        );
    }
}
