//! Summary of a report: one table of all policies, best first, with pointers to details.

use super::accuracy_text::header;
use super::changes_text::changes_text;
use super::columns::{meaning, share};
use super::grid::Grid;
use super::mistakes_text::mistakes_text;
use super::names::ShortNames;
use super::number::{counted, percent, thousands};
use super::ranking::{columns, ranking, ties};
use super::report_tables::by_words;
use super::report_tables::forced;
use super::roles::Roles;
use crate::judge::{AccuracyReport, By, Figure, Key, PolicyAccuracy};
use yomikiri::rules::Split;

/// Lays out a report at a glance: the table, every policy in a line, best first, the result
/// kept by groups of positions, `mistakes` of each policy, and pointers to details. Ends with a line break.
pub fn summary(report: &AccuracyReport, by: &[By], mistakes: usize) -> String {
    let names = report.policies.iter().map(|policy| &policy.policy[..]);
    let names = ShortNames::of(&report.table.game, names);
    let order = report.ranking();
    let positions =
        report.policies.first().map_or(0, |policy| policy.total.decisive_result.positions);
    let roles = Roles::of(report, None);
    let mut text = header(report);
    let is_bounded = report.policies.first().is_some_and(|policy| policy.forced.is_some());
    if positions > 0 || !is_bounded {
        let chance = report.policies.first().and_then(|of| of.total.decisive_result.chance_kept());
        let chance = chance.map_or(String::new(), |c| format!("; chance keeps {}", percent(c)));
        text += &format!(
            "\nWhere the move decides the result ({} positions{chance}), best policy first\n",
            thousands(positions)
        );
        let name = |place: usize, at: usize| {
            let tied = if report.policies[at].tied { "=" } else { " " };
            format!("{place:>2}{tied} {}", roles.starred[at])
        };
        let is_shown = |at| !roles.is_between(at);
        text += &ranking(report, &columns(report), is_shown, name).to_text("    policy");
        let left_out = (0..report.policies.len()).filter(|&at| roles.is_between(at)).count();
        if left_out > 0 {
            let checkpoints = counted(left_out as u64, "other checkpoint");
            text += &format!("runs: the best and the last checkpoint; {checkpoints} with --full\n");
        }
        text += &format!("\n{}", meanings(report));
    } else {
        text += "\nIn none of these positions does the choice of the move decide the result\n";
    }
    text += &changes_text(report, &order, &names);
    forced(report, &roles).iter().for_each(|table| text += &table.to_text("policy"));
    if !names.legend.is_empty() {
        text += &format!("\n{}", names.legend());
    }
    for &by in by {
        let what = by_words(report, by).1;
        text += &format!("\nResult kept there, by {what}; policies by their number above\n");
        if report.policies.iter().any(PolicyAccuracy::has_learned) {
            text += "policies with a * in positions they have not learned from (column 'of a *': their number)\n";
        }
        text += "\n";
        text += &groups(report, &order, by);
    }
    text += &mistakes_text(report, mistakes);
    let split = if report.table.is_listed() { "" } else { "; --split test" };
    text += &format!(
        "\nMore here: --full; --by layer, moves, distance or value; --mistakes 3{split}\n"
    );
    text + "As files:  --html FILE (with plots), --csv FILE, --parquet FILE; --json, --metrics, --markdown\n"
}

/// Explains the columns.
fn meanings(report: &AccuracyReport) -> String {
    let units = &report.words.units;
    let mut lines = match report.table.has_scores() {
        true => vec![
            ("kept", "how often the move keeps the best result, the best final score".to_string()),
            ("lost", format!("mean final score lost by a move, in {units}")),
        ],
        false => vec![
            (
                "kept",
                "how often the move keeps the result; wins as soon, loses as late as possible"
                    .to_string(),
            ),
            ("lost", "mean outcome lost by a move: a win is 1, a draw 0, a loss -1".to_string()),
        ],
    };
    lines.push(("blunders", meaning(Figure::named("blunders"), &report.words)));
    if report.games.is_some() {
        let own = "kept, each position counted as often as games against itself meet it";
        lines.insert(1, ("own games", own.to_string()));
        let points = if report.table.has_scores() { units } else { "mean outcome" };
        lines.push(("perfect", format!("{points} in games from the start against perfect moves")));
        let taken = match report.words.most.filter(|_| report.table.has_scores()) {
            Some(most) => format!("{units} lost to a best response, 0 to {most}"),
            None => "result lost to a best response, 0 to 1".to_string(),
        };
        lines.push(("exploit.", format!("exploitability: mean {taken}")));
        let games = report.games.as_ref();
        let endless = games.and_then(|games| games.most_plies.zip(games.endless()));
        lines.extend(endless.map(|(plies, endless)| {
            let rest = match endless {
                0.0 => "none".to_string(),
                endless => format!("at most {}", percent(endless)),
            };
            ("", format!("games longer than {plies} plies count as infinite: {rest}"))
        }));
    }
    if report.policies.iter().any(|policy| policy.intervals.is_some()) {
        let what = "confidence interval of the figure before it; 'solver compare' has those of differences";
        lines.push(("interval", what.to_string()));
    }
    lines.extend(held_out(report).map(|text| ("*", text)));
    lines.extend(ties(report).map(|text| ("=", text.to_string())));
    lines.into_iter().map(|(name, meaning)| format!("{name:<11}{meaning}\n")).collect()
}

/// Returns the positions that figures of trained policies cover, in words.
fn held_out(report: &AccuracyReport) -> Option<String> {
    let splits = report.policies.iter().find(|policy| policy.has_learned())?.splits?;
    let count = |split: Split| thousands(splits.of(split).decisive_result.positions);
    let learned = count(Split::Train);
    Some(match splits.held_out() {
        Some(split) => format!(
            "in {} positions it has not learned from; 'where learned': in {learned} it has",
            count(split),
        ),
        None => format!("in {learned} positions, all of which it has learned from"),
    })
}

/// Lays out the result kept of every policy by groups of positions.
fn groups(report: &AccuracyReport, order: &[usize], by: By) -> String {
    let (heading, _) = by_words(report, by);
    let numbers: Vec<String> = (1..=order.len()).map(|place| place.to_string()).collect();
    let starred = report.policies.iter().find(|policy| policy.has_learned());
    let of_starred = starred.map(|_| "of a *");
    let headings = [heading, "positions"].into_iter().chain(of_starred);
    let headings: Vec<&str> = headings.chain(numbers.iter().map(|n| &n[..])).collect();
    let in_group = |policy: &PolicyAccuracy, key: Key| {
        let mut groups = policy.held_out_details().groups(by).iter();
        groups.find(|other| other.key == key).map(|group| group.figures.decisive_result)
    };
    let first = report.policies.first().map_or(&[][..], |policy| policy.details.groups(by));
    let rows = first.iter().filter_map(|group| {
        let states = group.figures.decisive_result.positions;
        let mut row = vec![format!("{:>5}", group.key.number()), thousands(states)];
        row.extend(starred.map(|policy| {
            thousands(in_group(policy, group.key).map_or(0, |figures| figures.positions))
        }));
        row.extend(order.iter().map(|&at| {
            let figures = in_group(&report.policies[at], group.key);
            share(figures.and_then(|figures| figures.result_kept()))
        }));
        (states > 0).then_some(row)
    });
    Grid::of(&headings, rows).to_text()
}
