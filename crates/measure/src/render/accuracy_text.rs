//! The full accuracy report as aligned text.

use super::board_text::squares_text;
use super::columns::{FigureColumn, KEPT, RANKED, cells, headings, meanings, or_none};
use super::forced_text::forced_text;
use super::games_text::games_text;
use super::grid::Grid;
use super::mistakes_text::mistakes_text;
use super::names::ShortNames;
use super::number::{counted, thousands};
use super::verdict::{plies_text, repetition_text};
use crate::judge::{
    AccuracyReport, By, Details, Figures, FiguresBySet, Group, PolicyAccuracy, RootFacts,
    TableFacts,
};
use yomikiri::rules::{Repetition, Split};

/// Most columns of a line of facts.
const MOST_COLUMNS: usize = 100;
/// Place of a fact behind its name.
const INDENT: &str = "           ";
/// Number of roots that a header lists; a table can have very many.
const ROOTS_SHOWN: usize = 3;

/// Title and figures of a set of positions.
type Set = (&'static str, fn(&FiguresBySet) -> Option<&Figures>);

/// Returns the sets of positions of a table; games without scores have no passes.
pub(super) fn sets(table: &TableFacts) -> Vec<Set> {
    let all = match table.has_scores() {
        true => "All positions, including forced moves and passes",
        false => "All positions, including forced moves",
    };
    let mut sets: Vec<Set> = vec![
        (all, |sets| Some(&sets.all)),
        ("Positions in which the choice of the move decides the result", |sets| {
            Some(&sets.decisive_outcome)
        }),
    ];
    if table.has_scores() {
        sets.push(("Positions in which the choice of the move decides the score", |sets| {
            sets.decisive_score.as_ref()
        }));
    }
    sets
}

/// Lays out a full report: the table, the policies side by side on each set of positions, the meaning of
/// the columns, the games with `mistakes` of each policy, and each policy on each set by groups of
/// positions. Omits sets and layers that the table does not have. Ends with a line break.
pub fn accuracy_text(report: &AccuracyReport, by: &[By], mistakes: usize) -> String {
    let (report, legend) = &shortened(report);
    let table = &report.table;
    let sets = sets(table);
    let mut text = header(report) + legend;
    for &(title, of) in &sets {
        let first = report.policies.first().and_then(|policy| of(&policy.total));
        let states = first.map_or(0, |figures| figures.states);
        text += &format!("\n{title} ({})\n\n", thousands(states));
        text += &side_by_side(report, of, KEPT);
        text += "\n";
        text += &side_by_side(report, of, RANKED);
    }
    text += "\n";
    text += &(meanings(report, KEPT) + &meanings(report, RANKED));
    text += &beyond_means(report);
    text += &squares_text(report);
    let (order, names): (Vec<usize>, Vec<String>) =
        report.policies.iter().enumerate().map(|(at, policy)| (at, policy.policy.clone())).unzip();
    text += &forced_text(report, &order, &names);
    if let Some(games) = &report.games {
        text += &games_text(games, &report.words);
    }
    text += &mistakes_text(report, mistakes);
    for &by in by {
        let (_, what) = by_words(report, by);
        for &(title, of) in &sets {
            for policy in &report.policies {
                let all = [&policy.total, policy.held_out()];
                for (total, (name, details)) in all.into_iter().zip(named_details(policy)) {
                    if !details.groups(by).is_empty() {
                        let policy = &policy.policy;
                        let part = name.strip_prefix("  ").map(|part| format!(", {part}"));
                        let part = part.unwrap_or_default();
                        text += &format!("\n{title}\n{policy}{part} by {what}\n\n");
                        text += &groups(report, (total, details.groups(by)), by, of);
                    }
                }
            }
        }
    }
    text
}

/// Lays out the policies on a set of positions, with a row for each split below each policy.
fn side_by_side(
    report: &AccuracyReport,
    of: fn(&FiguresBySet) -> Option<&Figures>,
    columns: &'static [FigureColumn],
) -> String {
    let row = |name: String, figures: &Figures| {
        [vec![name], cells(&report.table, columns, figures)].concat()
    };
    let of = |sets: &FiguresBySet| of(sets).copied().unwrap_or_default();
    let mut grid = Grid::headed(&[&[("", "policy")], &headings(report, columns)[..]].concat());
    for policy in &report.policies {
        grid.push(row(policy.policy.clone(), &of(&policy.total)));
        for (split, sets) in apart(policy) {
            let figures = of(sets);
            let name = format!("  {} ({})", split.name(), thousands(figures.states));
            grid.push(row(name, &figures));
        }
    }
    grid.to_text()
}

/// Returns the report with short names, and their legend for the header.
fn shortened(report: &AccuracyReport) -> (AccuracyReport, String) {
    let names = report.policies.iter().map(|policy| &policy.policy[..]);
    let names = ShortNames::of(&report.table.game, names);
    let mut report = report.clone();
    for (at, name) in names.short.iter().enumerate() {
        report.policies[at].policy.clone_from(name);
        if let Some(games) = &mut report.games {
            games.policies[at].policy.clone_from(name);
        }
    }
    let lines =
        names.legend().lines().map(|line| format!("           {line}\n")).collect::<String>();
    (report, lines.replacen("          ", "Policies  ", 1))
}

/// Returns the figures of a policy by split, without empty splits.
fn apart(policy: &PolicyAccuracy) -> impl Iterator<Item = (Split, &FiguresBySet)> {
    let all =
        policy.splits.iter().flat_map(|apart| Split::ALL.map(|split| (split, apart.of(split))));
    all.filter(|(_, sets)| sets.all.states > 0)
}

/// Returns the details of a policy on all positions, with its name, and on held-out ones, with the indented
/// name of the split.
pub(super) fn named_details(
    policy: &PolicyAccuracy,
) -> impl Iterator<Item = (String, &Details)> + use<'_> {
    let held_out = policy.held_out_details.as_ref().map(|held_out| {
        let states = thousands(policy.held_out().all.states);
        (format!("  {} ({states})", held_out.split), &held_out.details)
    });
    [(policy.policy.clone(), &policy.details)].into_iter().chain(held_out)
}

pub(super) fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Lays out the distribution of losses and the accuracy of the policies' values.
fn beyond_means(report: &AccuracyReport) -> String {
    let mut text = String::new();
    if report.table.has_scores() {
        text += &format!(
            "\n{} lost: 95th and 99th percentile of the positions, and the maximum\n\n",
            capitalised(&report.words.units)
        );
        let mut grid = Grid::headed(&[
            ("", "policy"),
            ("all", "95%"),
            ("", "99%"),
            ("", "worst"),
            ("decisive", "95%"),
            ("by score", "99%"),
            ("", "worst"),
        ]);
        for (name, details) in report.policies.iter().flat_map(named_details) {
            let mut row = vec![name];
            for losses in [&details.losses, &details.losses_decisive].into_iter().flatten() {
                let found = [losses.percentile(0.95), losses.percentile(0.99), losses.worst()];
                row.extend(found.map(|n| n.map_or("-".to_string(), |n| n.to_string())));
            }
            grid.push(row);
        }
        text += &grid.to_text();
    }
    let thousandths = |value| or_none(value, |value| format!("{value:.3}"));
    let with_values =
        report.policies.iter().flat_map(named_details).filter_map(|(name, details)| {
            let of = details.values.filter(|_| name != "perfect")?.means();
            let found = [of.mean_error, of.root_mean_square_error, of.sign_accuracy, of.brier];
            let found = found.into_iter().chain([of.calibration_error]);
            Some([name].into_iter().chain(found.map(thousandths)).collect())
        });
    let rows: Vec<Vec<String>> = with_values.collect();
    if !rows.is_empty() {
        text += "\nValues that policies predict, against the exact outcome\n\n";
        let headings = ["policy", "error", "rmse", "sign", "Brier", "calibration"];
        text += &Grid::of(&headings, rows).to_text();
    }
    let with_scores =
        report.policies.iter().flat_map(named_details).filter_map(|(name, details)| {
            let of = details.final_scores?.means();
            let found = [of.mean_error, of.mean_signed_error, of.root_mean_square_error];
            Some([name].into_iter().chain(found.map(thousandths)).collect())
        });
    let rows: Vec<Vec<String>> = with_scores.collect();
    if !rows.is_empty() {
        let units = &report.words.units;
        text += &format!(
            "\nFinal scores that policies predict, in {units}, against the exact ones\n\n"
        );
        text += &Grid::of(&["policy", "error", "signed", "rmse"], rows).to_text();
    }
    text
}

/// Returns the key of a grouping as a heading and in a sentence.
pub(super) fn by_words(report: &AccuracyReport, by: By) -> (&'static str, String) {
    let (heading, what) = match (by, report.words.layers) {
        (By::Layer, "plies") => ("plies", "plies from the root"),
        (By::Layer, layers) => return (layers, format!("{layers} before the move")),
        (By::Moves, _) => ("moves", "the number of legal moves"),
        (By::Distance, _) => ("plies", "plies to the end under best play"),
        (By::Value, _) if report.table.has_scores() => ("score", "the exact score of the mover"),
        (By::Value, _) => ("outcome", "the exact outcome of the mover"),
    };
    (heading, what.to_string())
}

fn groups(
    report: &AccuracyReport,
    (total, found): (&FiguresBySet, &[Group]),
    by: By,
    of: fn(&FiguresBySet) -> Option<&Figures>,
) -> String {
    let table = &report.table;
    let (heading, _) = by_words(report, by);
    let headings = headings(report, KEPT);
    let mut grid = Grid::headed(&[&[("", heading), ("", "positions")], &headings[..]].concat());
    let mut push = |name: String, figures: &FiguresBySet| {
        let figures = of(figures).copied().unwrap_or_default();
        grid.push([vec![name, thousands(figures.states)], cells(table, KEPT, &figures)].concat());
    };
    for group in found {
        push(format!("{:>5}", group.key.number()), &group.figures);
    }
    // Not every position has a known distance.
    if by != By::Distance {
        push("all".to_string(), total);
    }
    grid.to_text()
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
        text += &format!("Rows       {} of {}, {symmetry}\n", thousands(table.rows), table.game);
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
        Some(_) if report.board.rows > 0 => "Scores     empty squares count for nobody\n",
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
            if lines[last].chars().count() + 1 + word.chars().count() > MOST_COLUMNS {
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
