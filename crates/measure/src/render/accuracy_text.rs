//! The full accuracy report as aligned text.

use super::columns::{meanings, of_moves};
use super::mistakes_text::mistakes_text;
use super::names::ShortNames;
use super::number::{counted, thousands};
use super::report_tables::{
    by_groups, by_words, capitalised, figures, forced, games, sets, squares,
};
use super::roles::Roles;
use super::sanitise::width;
use super::verdict::{plies_text, repetition_text};
use crate::judge::{AccuracyReport, By, RootFacts, TableFacts};
use yomikiri::rules::Repetition;

/// Place of a fact behind its name.
const INDENT: &str = "           ";
/// Number of roots that a header lists; a table can have very many.
const ROOTS_SHOWN: usize = 3;

/// Lays out a full report: the table, the policies side by side on each set of positions, the meaning of
/// the columns, the games with `mistakes` of each policy, and each policy on each set by groups of
/// positions. Omits sets and layers that the table does not have. Ends with a line break.
pub fn accuracy_text(report: &AccuracyReport, by: &[By], mistakes: usize) -> String {
    let table = &report.table;
    let (roles, sets) = (Roles::of(report, None), sets(table));
    let [kept, ranked] = [false, true].map(|is_ranking| of_moves(table, is_ranking));
    let mut text = header(report) + &legend(report);
    figures(report, &roles).iter().for_each(|table| text += &table.to_text("policy"));
    text += "\n";
    text += &meanings(report, &[kept, ranked].concat());
    let squares = squares(report, &roles);
    if !squares.is_empty() {
        let what = if table.has_scores() { &report.words.units[..] } else { "result" };
        text += &format!("\n{} lost in 100 positions by the square played\n", capitalised(what));
    }
    squares.iter().for_each(|table| text += &table.to_text(""));
    forced(report, &roles).iter().for_each(|table| text += &table.to_text("policy"));
    games(report, &roles).iter().for_each(|table| text += &table.to_text("policy"));
    text += &mistakes_text(report, mistakes);
    for &by in by {
        let (heading, what) = by_words(report, by);
        for &(title, of) in &sets {
            for &at in &roles.order {
                let (policy, name) = (&report.policies[at], &roles.starred[at]);
                let groups = policy.held_out_details().groups(by);
                let title = format!("{title}\n{name} by {what}");
                let table = by_groups(report, (title, policy.held_out(), groups), by, of);
                if !groups.is_empty() {
                    text += &table.to_text(heading);
                }
            }
        }
    }
    text
}

/// Returns the legend of short names for the header.
fn legend(report: &AccuracyReport) -> String {
    let names = report.policies.iter().map(|policy| &policy.policy[..]);
    let legend = ShortNames::of(&report.table.game, names).legend();
    let lines = legend.lines().map(|line| format!("           {line}\n")).collect::<String>();
    lines.replacen("          ", "Policies  ", 1)
}

pub(super) fn header(report: &AccuracyReport) -> String {
    let table = &report.table;
    let symmetry = match table.symmetry_order {
        1 => "not folded".to_string(),
        order => format!("folded under {order} symmetries"),
    };
    let taken = table.taken.as_ref().map_or(String::new(), |why| format!(" ({why})"));
    let what = if table.is_searched() { "Values" } else { "Table" };
    let mut text = format!("{what:<11}{}{taken}\n", table.name);
    if table.judged_states == 0 {
        text += "Nothing    is measured: in no position are the results of all moves proven\n";
    }
    if !table.is_searched() {
        text +=
            &format!("Rows       {} of {}, {symmetry}\n", thousands(table.rows), report.words.game);
        text += &positions(table);
    }
    for line in best_play(report) {
        text += &format!("Best play  {line}\n");
    }
    if let Some(name) = &table.repetition {
        let repetition = Repetition::of(name).unwrap_or(Repetition::Unknown);
        text += &format!("Endless    {}\n", repetition_text(repetition));
    }
    text += match table.empties.as_deref() {
        Some("to-winner") => "Scores     empty squares go to the winner\n",
        Some(_) if report.words.units == "discs" => "Scores     empty squares count for nobody\n",
        Some(_) => "",
        None => "",
    };
    text += &wrapped("Figures    of ", &judged(table));
    if table.values == "table and search" {
        text += "Values     of some of them by search, because the table does not contain them\n";
    }
    if table.asked_states < table.judged_states && !table.is_listed() {
        let asked = thousands(table.asked_states);
        text += &format!(
            "Asked      about {asked} of them: one per row, which represents its images\n"
        );
    }
    if let Some(what) = may_have_learned(report) {
        text += &format!("Training   {what}\n");
    }
    for policy in &report.policies {
        if let Some(reading) = &policy.reading {
            text += &wrapped("Read       ", &format!("{}: {reading}", policy.policy));
        }
        for doubt in &policy.doubts {
            text += &wrapped("Doubtful   ", &format!("{}: {doubt}", policy.policy));
        }
    }
    if let Some(why) = &report.why_no_games {
        text += &format!("Games      not computed:\n           {why}\n");
    }
    if let (false, Some(policy)) = (table.has_scores(), report.policies.first()) {
        text += &format!(
            "Plies      compared in {} of them: won or lost, all distances exact\n",
            thousands(policy.total.all.timed)
        );
    }
    text
}

/// Returns a warning if policies may have been trained on measured positions, with the remedy.
pub(super) fn may_have_learned(report: &AccuracyReport) -> Option<&'static str> {
    let is_unknown = report.policies.iter().any(|policy| policy.may_have_learned);
    (is_unknown && report.table.chosen.is_none()).then_some(
        "external policies may have learned from these: name the part (?trained=train) or use --split test",
    )
}

/// Returns the number of positions and the unit in which they are counted.
fn positions(table: &TableFacts) -> String {
    if let Some(reachable) = table.reachable_states {
        return format!(
            "Positions  {} reachable (a board and the side to move), {} of them finished games\n",
            thousands(reachable),
            thousands(table.terminal_states),
        );
    }
    let images = match table.symmetry_order {
        1 => "a position",
        2 => "a position and its mirror image",
        _ => "a position and all its images",
    };
    let sides = if table.keeps_sides { "" } else { ", with either side to move" };
    format!(
        "Positions  {}, {} of them finished games\n           a row counts once, for {images}{sides}\n",
        counted(table.rows, "row"),
        thousands(table.terminal_states),
    )
}

/// Returns the positions that the figures cover, in words.
pub(super) fn judged(table: &TableFacts) -> String {
    let [judged, all] = [table.judged_states, table.nonterminal_states].map(thousands);
    if let (Some(chosen), true) = (&table.chosen, table.is_listed()) {
        let distinct = match table.asked_states < table.judged_states {
            true => format!(" ({} distinct)", thousands(table.asked_states)),
            false => String::new(),
        };
        let left_out = table.left_out.words().map(|words| format!("; left out: {words}"));
        let judged = counted(table.judged_states, "position");
        return format!("{judged}{distinct}: {chosen}{}", left_out.unwrap_or_default());
    }
    let which = match (&table.chosen, judged == all, table.has_scores()) {
        (Some(chosen), ..) => chosen,
        (None, true, true) => return format!("all {judged} positions with a move to make"),
        (None, true, false) => {
            return format!("all {judged} positions with a move to make; every result is proven");
        }
        (None, false, true) => "those whose moves' scores are all proven",
        (None, false, false) => "those whose moves' results are all proven",
    };
    format!("{judged} of the {all} positions with a move to make:\n{which}")
}

/// Returns a named fact whose text is broken into lines of at most 100 columns, and at its line breaks.
pub(super) fn wrapped(name: &str, text: &str) -> String {
    let mut lines = vec![name.to_string()];
    for (at, part) in text.lines().enumerate() {
        if at > 0 {
            lines.push(INDENT.to_string());
        }
        for word in part.split(' ') {
            let last = lines.len() - 1;
            if lines[last].chars().count() + 1 + word.chars().count() > width() {
                lines.push(INDENT.to_string());
            } else if !lines[last].ends_with(' ') {
                lines[last].push(' ');
            }
            lines.last_mut().into_iter().for_each(|line| line.push_str(word));
        }
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Returns where exact values come from and whether positions are sampled, in words.
pub(super) fn origin_of_values(table: &TableFacts) -> &'static str {
    match (table.is_listed(), table.values) {
        (false, _) => "nothing is sampled",
        (true, "table") => "exact values by table",
        (true, "search") => "exact values by search",
        (true, _) => "exact values by table and search",
    }
}

/// Returns the winner from each of the first roots, and by how much or how soon.
pub(super) fn best_play(report: &AccuracyReport) -> Vec<String> {
    let roots = &report.table.roots;
    let mut lines: Vec<String> =
        roots.iter().take(ROOTS_SHOWN).map(|root| prospects(report, root)).collect();
    if roots.len() > ROOTS_SHOWN {
        let more = (roots.len() - ROOTS_SHOWN) as u64;
        lines.push(format!("and {} more", counted(more, "root")));
    }
    lines
}

/// Returns the winner from a root, and by how much or how soon.
fn prospects(report: &AccuracyReport, root: &RootFacts) -> String {
    let table = &report.table;
    let at = match table.roots.len() {
        1 => String::new(),
        _ => format!(" in {}", root.position),
    };
    let result = match (&root.winner, root.outcome, root.score) {
        (Some(winner), ..) if !table.has_scores() => format!("{winner} wins{}", when(root)),
        (Some(winner), _, Some(score)) => {
            let points = counted(u64::from(score.unsigned_abs()), report.words.unit);
            format!("{winner} wins by {points}")
        }
        (Some(winner), _, None) => format!("{winner} wins by an unproven score"),
        (None, Some(_), _) => "a draw".to_string(),
        (None, None, _) => "unproven outcome".to_string(),
    };
    let plies = match root.distance {
        Some(distance) => format!(" after {}", plies_text(distance)),
        None => String::new(),
    };
    format!("{} to move{at}: {result}{plies}", root.mover)
}

/// Returns the proven bounds of the distance of a root that is won at an unknown distance.
fn when(root: &RootFacts) -> String {
    match (root.distance, root.distance_lower, root.distance_upper) {
        (Some(_), ..) => String::new(),
        (None, Some(least), Some(most)) => {
            format!(", after {least} to {}", plies_text(most))
        }
        (None, Some(least), None) => {
            format!(" by infinite play, or after {} or more", plies_text(least))
        }
        (None, None, Some(most)) => format!(" after {} or fewer", plies_text(most)),
        (None, None, None) => " by infinite play".to_string(),
    }
}
