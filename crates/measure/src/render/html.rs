//! The accuracy report as one self-contained page.

use minijinja::{Environment, Value, context};
use serde::Serialize;

use super::accuracy_text::{by_words, judged, may_have_learned};
use super::changes_text::changed;
use super::chart::FEW;
use super::columns::{KEPT, RANKED, cells, headings, or_none};
use super::number::{amount, counted, percent, signed, thousands};
use super::pictures::{BOARD_CSS, scripts};
use super::plots::{convergence, cost, learning, losses, reliability, small_multiples};
use super::ranking::{columns, has_learned};
use super::roles::Roles;
use crate::evaluate::{AccuracyReport, BothSides, By, Expected, FiguresBySet, Mistake, MoveFacts};
use yomikiri::game::Split;

/// Origin of a page, and what it brings out.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The command.
    pub command: String,
    /// Date, such as 2026-11-22.
    pub date: String,
    /// Checksum of the table's manifest.
    pub checksum: String,
    /// Index of the policy to bring out; by default the first that is not built in.
    pub highlight: Option<usize>,
    /// Address of the server that links to positions lead to.
    pub server: String,
}

/// Lanes of names above the strip.
const LANES: usize = 6;

/// A table with a row for each policy, or for each group.
#[derive(Default, Serialize)]
struct TableView {
    title: String,
    note: String,
    /// Headings of the columns after the name; lines end with line breaks.
    head: Vec<String>,
    rows: Vec<RowView>,
}

#[derive(Default, Serialize)]
struct RowView {
    /// Index of the policy, if the row is one.
    at: Option<usize>,
    name: String,
    cells: Vec<CellView>,
}

#[derive(Default, Serialize)]
struct CellView {
    text: String,
    /// Depth of the background, 0 to 1.
    depth: Option<String>,
    class: &'static str,
    /// Change against an earlier report.
    change: Option<ChangeView>,
}

#[derive(Serialize)]
struct ChangeView {
    text: String,
    is_better: bool,
}

impl From<String> for CellView {
    fn from(text: String) -> CellView {
        CellView { text: typographic(&text), ..CellView::default() }
    }
}

/// A policy in the strip, in the ranking and in the legend.
#[derive(Serialize)]
struct PolicyView {
    at: usize,
    /// Place among those that are not references.
    place: Option<usize>,
    short: String,
    /// With a star if it has learned from some of the positions.
    starred: String,
    name: String,
    colour: &'static str,
    is_own: bool,
    kept: String,
    /// Place of its mark in the strip, in percent of the width.
    mark: Option<String>,
    /// Lane of its name in the strip.
    lane: Option<usize>,
    /// `true` if its mark stands left of its name.
    is_left: bool,
    /// Shares thrown away, in percent of the widest bar: win to draw, draw to loss, win to loss.
    thrown: [String; 3],
    thrown_words: String,
    cells: Vec<CellView>,
}

/// A mistake.
#[derive(Serialize)]
struct MistakeView {
    board: String,
    moves: String,
    diagram: String,
    label: String,
    what: String,
    details: String,
    note: String,
    link: Option<String>,
    table: TableView,
}

/// Renders a report as a self-contained page with tables, plots and diagrams. It suits phones, print, light
/// and dark themes, and can be read without its script, which draws boards, sorts tables and isolates policies.
pub fn html(report: &AccuracyReport, about: &About) -> String {
    let mut environment = Environment::new();
    environment.add_filter("lines", |text: &str| {
        let lines: Vec<String> = text.lines().map(super::chart::escaped).collect();
        Value::from_safe_string(lines.join("<br>"))
    });
    environment
        .add_template("report.html", include_str!("page/report.html"))
        .expect("the template is well-formed");
    let template = environment.get_template("report.html").expect("it was just added");
    let roles = Roles::of(report, about.highlight);
    let by = match report.policies.iter().any(|policy| !policy.details.layers.is_empty()) {
        true => By::Layer,
        false => By::Distance,
    };
    let decisive = report.policies.first().map_or(0, |policy| policy.total.decisive_outcome.states);
    let small = small_multiples(report, &roles, by);
    let small = small.into_iter().map(|(at, svg)| context! { at, svg }).collect::<Vec<_>>();
    let plots = [losses(report, &roles), cost(report, &roles), reliability(report, &roles)];
    let curves = roles.curves.iter().map(|curve| {
        context! { name => curve.name, plots => Value::from_serialize(learning(report, curve)) }
    });
    let columns = columns(report);
    let heads = columns.iter().map(|column| column.heading.join("\n").trim().to_string());
    let policies = policies(report, &roles);
    let page = template.render(context! {
        lanes => policies.iter().filter_map(|policy| policy.lane).max().map_or(1, |lane| lane + 1),
        style => include_str!("page/report.css").to_string() + BOARD_CSS,
        script => scripts() + include_str!("page/report.js"),
        title => report.table.game,
        hero => hero(report, &roles),
        facts => facts(report),
        policies => Value::from_serialize(policies),
        heads => heads.collect::<Vec<_>>(),
        reference => roles.random.is_some(),
        decisive => thousands(decisive),
        ranked => decisive > 0,
        interval => report.policies.iter().any(|policy| policy.intervals.is_some()),
        learned => report.policies.iter().any(has_learned),
        units => report.words.units,
        scores => report.table.has_scores(),
        changes => Value::from_serialize(changes(report, &roles)),
        curves => curves.collect::<Vec<_>>(),
        across => by_words(report, by).1,
        small,
        by_group => Value::from_serialize(by_group(report, &roles, by)),
        plots => Value::from_serialize(plots.into_iter().flatten().collect::<Vec<_>>()),
        bounded => Value::from_serialize(forced(report, &roles)),
        takers => Value::from_serialize(takers(report, &roles)),
        games => Value::from_serialize(games(report, &roles)),
        squares => Value::from_serialize(squares(report, &roles)),
        mistakes => mistakes(report, &roles, about),
        agreement => Value::from_serialize(agreement(report, &roles)),
        figures => Value::from_serialize(figures(report, &roles)),
        groups => groups(report, &roles),
        convergence => Value::from_serialize(convergence(report)),
        game => game(report),
        server => about.server,
        about => context! { command => about.command, date => about.date, checksum => about.checksum },
        version => env!("CARGO_PKG_VERSION"),
    });
    page.unwrap_or_else(|error| panic!("the template fits the report: {error:#}"))
}

/// Replaces the minus sign of numbers by the typographic one, and a missing number by a dash.
fn typographic(text: &str) -> String {
    match text {
        "-" => "–".to_string(),
        _ if text.starts_with('-') => text.replacen('-', "−", 1),
        _ => text.to_string(),
    }
}

/// Returns the game as JSON for the script that draws boards.
fn game(report: &AccuracyReport) -> String {
    let mut game = serde_json::to_value(&report.board).unwrap_or_default();
    game["game"] = report.table.game.clone().into();
    game["sides"] = report.words.sides.to_vec().into();
    // Within a script only this could end it.
    game.to_string().replace("</", "<\\/")
}

fn kept(figures: &FiguresBySet) -> Option<f64> {
    figures.decisive_outcome.means().optimal_by_outcome
}

/// Returns the page's opening sentence in parts.
fn hero(report: &AccuracyReport, roles: &Roles) -> Value {
    let Some((at, share)) =
        roles.highlight.and_then(|at| Some((at, kept(report.policies[at].held_out())?)))
    else {
        return Value::from(());
    };
    let of_hundred = |share: f64| percent(share).trim_end_matches('%').to_string();
    let random = roles.random.filter(|&random| random != at);
    let interval = report.policies[at].intervals.map(|intervals| {
        let kept = intervals.result_kept;
        format!("{} to {}", percent(kept.lower), percent(kept.upper))
    });
    context! {
        at,
        name => roles.short[at],
        kept => of_hundred(share),
        chance => random.and_then(|at| kept(&report.policies[at].total)).map(of_hundred),
        interval,
        held_out => has_learned(&report.policies[at]),
    }
}

/// Returns what was measured, as pairs of a name and a sentence.
fn facts(report: &AccuracyReport) -> Vec<(String, String)> {
    let table = &report.table;
    let mut facts = Vec::new();
    let mut add = |name: &str, text: String| facts.push((name.to_string(), text));
    let judged = judged(table).split_whitespace().collect::<Vec<_>>().join(" ");
    add(
        "Figures",
        match table.searched {
            Some(_) => format!("{judged}; values by exact search"),
            None => format!("of {judged}; nothing is sampled"),
        },
    );
    if let Some(what) = may_have_learned(report) {
        add("Training", what.to_string());
    }
    if table.searched.is_none() {
        let taken = table.taken.as_ref().map_or(String::new(), |why| format!(" ({why})"));
        let rows = thousands(table.rows);
        let order = table.symmetry_order;
        let folded =
            if order > 1 { format!(", folded under {order} symmetries") } else { String::new() };
        add("Table", format!("{}{taken}: {rows} rows{folded}", table.name));
    }
    if let Some(reachable) = table.reachable_states {
        let over = thousands(table.terminal_states);
        add(
            "Positions",
            format!("{} reachable, {over} of them finished games", thousands(reachable)),
        );
    }
    for line in super::accuracy_text::best_play(report) {
        add("Best play", line);
    }
    if let Some(why) = &report.why_no_games {
        add("Games", format!("not computed: {why}"));
    }
    facts
}

/// Returns the policies: perfect moves, the ranked ones, random moves.
fn policies(report: &AccuracyReport, roles: &Roles) -> Vec<PolicyView> {
    let columns = columns(report);
    let order = roles.perfect.iter().chain(&roles.ranked).chain(&roles.random);
    let shares: Vec<Option<f64>> =
        report.policies.iter().map(|policy| kept(policy.held_out())).collect();
    let least = shares.iter().flatten().fold(1.0, |a: f64, &b| a.min(b));
    let least = ((least * 20.0).floor() / 20.0).min(0.95);
    let thrown = |at: usize| {
        let of = report.policies[at].held_out().decisive_outcome.means().blunders;
        [of.win_to_draw.share, of.draw_to_loss.share, of.win_to_loss.share]
            .map(|share| share.unwrap_or(0.0))
    };
    let most = (0..report.policies.len()).map(|at| thrown(at).iter().sum()).fold(1e-9, f64::max);
    let view = |&at: &usize| {
        let name = &report.policies[at].policy;
        let cells = columns.iter().map(|column| CellView {
            change: change(report, at, column.metric),
            ..CellView::from(column.cell(report, at))
        });
        let mut cells: Vec<CellView> = cells.collect();
        if let Some(intervals) = report.policies[at].intervals {
            let kept = intervals.result_kept;
            cells.insert(1, format!("{} to {}", percent(kept.lower), percent(kept.upper)).into());
        }
        let [to_draw, from_draw, to_loss] = thrown(at);
        PolicyView {
            at,
            place: roles.ranked.iter().position(|ranked| *ranked == at).map(|place| place + 1),
            short: roles.short[at].clone(),
            starred: roles.starred[at].clone(),
            name: name.clone(),
            colour: roles.colours[at],
            is_own: roles.highlight == Some(at),
            kept: or_none(shares[at], percent),
            mark: shares[at].map(|share| format!("{:.2}", 100.0 * (share - least) / (1.0 - least))),
            lane: None,
            is_left: shares[at].is_some_and(|share| share - least < 0.6 * (1.0 - least)),
            thrown: [to_draw, from_draw, to_loss]
                .map(|share| format!("{:.2}", 100.0 * share / most)),
            thrown_words: format!(
                "win to draw {}, draw to loss {}, win to loss {}",
                percent(to_draw),
                percent(from_draw),
                percent(to_loss)
            ),
            cells,
        }
    };
    let mut all: Vec<PolicyView> = order.map(view).collect();
    place_names(&mut all);
    all
}

/// Gives names lanes above the strip in which they do not overlap, the reader's own first; others have none.
fn place_names(all: &mut [PolicyView]) {
    // Width of a letter and of the space around a name, in percent of a strip of 1100 pixels.
    let (letter, around) = (0.68, 2.4);
    let mut lanes: Vec<Vec<[f64; 2]>> = vec![Vec::new(); LANES];
    let is_reference = |view: &PolicyView| view.place.is_none();
    let mut order: Vec<usize> = (0..all.len()).filter(|&at| !is_reference(&all[at])).collect();
    order.sort_by_key(|&at| !all[at].is_own);
    for at in order {
        let Some(mark) = all[at].mark.as_ref().and_then(|mark| mark.parse::<f64>().ok()) else {
            continue;
        };
        // The reader's own is bold, larger, and has its figure beside it.
        let letters = all[at].short.chars().count() as f64;
        let letters = if all[at].is_own { 1.4 * (letters + 7.0) } else { letters };
        let long = letter * letters + around;
        let span =
            if all[at].is_left { [mark - 1.0, mark + long] } else { [mark - long, mark + 1.0] };
        let is_free = |lane: &Vec<[f64; 2]>| {
            lane.iter().all(|other| span[1] < other[0] || other[1] < span[0])
        };
        if let Some(lane) = lanes.iter().position(is_free) {
            lanes[lane].push(span);
            all[at].lane = Some(lane);
        }
    }
}

/// Returns the change of a figure against an earlier report, if there is one and it changed.
fn change(report: &AccuracyReport, at: usize, metric: &str) -> Option<ChangeView> {
    let changes = report.changes.as_ref()?.policies.get(at)?.as_ref()?;
    let (text, is_better) = changed(changes, metric)?;
    Some(ChangeView { text: typographic(&text), is_better })
}

/// Returns what changed of each policy beside the figures.
fn changes(report: &AccuracyReport, roles: &Roles) -> Option<serde_json::Value> {
    let changes = report.changes.as_ref()?;
    let order = roles
        .highlight
        .iter()
        .chain(roles.ranked.iter().filter(|at| Some(**at) != roles.highlight));
    let policy = |&at: &usize| {
        let of = changes.policies.get(at)?.as_ref()?;
        let mut rows = TableView {
            head: ["n", "earlier", "now", "change"].map(str::to_string).to_vec(),
            ..TableView::default()
        };
        rows.rows = of
            .groups
            .iter()
            .map(|group| {
                let by = group.now - group.before;
                let cells = [thousands(group.positions), percent(group.before), percent(group.now)];
                let mut cells: Vec<CellView> = cells.into_iter().map(CellView::from).collect();
                cells.push(CellView {
                    class: if by > 0.0 { "better" } else { "worse" },
                    ..CellView::from(signed(100.0 * by, 1))
                });
                RowView { name: group.group.to_string(), cells, ..RowView::default() }
            })
            .collect();
        let is_changed = of.metrics.values().any(|by| by.abs() > 1e-9);
        (is_changed || !of.new_mistakes.is_empty()).then(|| {
            serde_json::json!({
                "at": at, "name": roles.short[at], "earlier": of.earlier, "renamed": of.earlier != report.policies[at].policy,
                "groups": rows, "new": of.new_mistakes, "gone": of.gone_mistakes,
            })
        })
    };
    let missing = (0..report.policies.len()).filter(|&at| changes.policies[at].is_none());
    let missing: Vec<&str> = missing.map(|at| &roles.short[at][..]).collect();
    Some(serde_json::json!({
        "file": changes.file,
        "policies": order.filter_map(policy).collect::<Vec<_>>(),
        "missing": missing.join(", "),
    }))
}

/// Returns the result kept by groups of positions, a row for each policy.
fn by_group(report: &AccuracyReport, roles: &Roles, by: By) -> TableView {
    let first = report.policies.first().map_or(&[][..], |policy| policy.details.groups(by));
    let decisive = |at: usize, key| {
        let found =
            report.policies[at].held_out_details().groups(by).iter().find(|group| group.key == key);
        found.map(|group| group.figures.decisive_outcome)
    };
    let used: Vec<_> =
        first.iter().filter(|group| group.figures.decisive_outcome.states > 0).collect();
    let count =
        |group: &&crate::evaluate::Group| thousands(group.figures.decisive_outcome.states).into();
    let mut table = TableView {
        head: used.iter().map(|group| group.key.number().to_string()).collect(),
        rows: rows(roles, |at| {
            let cell = |group: &&crate::evaluate::Group| {
                let figures = decisive(at, group.key);
                let share = figures.and_then(|of| of.means().optimal_by_outcome);
                let is_few = figures.is_none_or(|of| of.states < FEW);
                CellView {
                    depth: share.map(|share| format!("{share:.3}")),
                    class: if is_few { "few" } else { "" },
                    ..CellView::from(or_none(share, |share| format!("{:.0}", 100.0 * share)))
                }
            };
            Some(used.iter().map(cell).collect())
        }),
        ..TableView::default()
    };
    table.rows.push(RowView {
        name: "positions".into(),
        cells: used.iter().map(count).collect(),
        at: None,
    });
    table
}

/// Returns a row for each policy for which `cells` has some: ranked ones, then references.
fn rows(roles: &Roles, cells: impl Fn(usize) -> Option<Vec<CellView>>) -> Vec<RowView> {
    let order = roles.ranked.iter().chain(&roles.perfect).chain(&roles.random);
    let row = |&at: &usize| {
        Some(RowView { at: Some(at), name: roles.starred[at].clone(), cells: cells(at)? })
    };
    order.filter_map(row).collect()
}

fn texts<const N: usize>(all: [String; N]) -> Option<Vec<CellView>> {
    Some(all.into_iter().map(CellView::from).collect())
}

fn forced(report: &AccuracyReport, roles: &Roles) -> Option<TableView> {
    let first = report.policies.first()?.forced?;
    Some(TableView {
        note: format!(
            "Where the table proves something of some moves only: {} positions won by force, {} neither won nor lost, as far as it is proven, with a move that is proven to lose.",
            thousands(first.won),
            thousands(first.at_risk)
        ),
        head: ["proven win\nkept", "thrown into\na proven loss", "proven loss\ntaken"]
            .map(String::from)
            .to_vec(),
        rows: rows(roles, |at| {
            let of = report.policies[at].forced?;
            texts(
                [of.won_kept, of.won_thrown, of.at_risk_lost].map(|share| or_none(share, percent)),
            )
        }),
        ..TableView::default()
    })
}

/// Returns what a best response takes of each policy, as bars: index, share of the widest, text.
fn takers(report: &AccuracyReport, roles: &Roles) -> Vec<(usize, String, String)> {
    let Some(games) = &report.games else { return Vec::new() };
    let has_scores = report.table.has_scores();
    let of = |at: usize| match has_scores {
        true => games.policies[at].exploited_score(),
        false => games.policies[at].exploited(),
    };
    let order: Vec<usize> =
        roles.ranked.iter().chain(&roles.perfect).chain(&roles.random).copied().collect();
    let most = order.iter().map(|&at| of(at)).fold(1e-9, f64::max);
    let text = |lost: f64| if has_scores { format!("{lost:.2}") } else { amount(lost) };
    order
        .into_iter()
        .map(|at| (at, format!("{:.2}", 100.0 * of(at) / most), text(of(at))))
        .collect()
}

/// Returns the tables of games.
fn games(report: &AccuracyReport, roles: &Roles) -> Vec<TableView> {
    let Some(games) = &report.games else { return Vec::new() };
    let [first, second] = report.words.sides;
    let units = &report.words.units;
    let both = |of: &BothSides<Expected>| [of.first, of.second];
    let shares =
        |of: Expected| [percent(of.win), percent(of.draw), percent(of.loss), signed(of.score, 2)];
    let endless = games.most_plies.map_or(String::new(), |plies| {
        let share =
            games.endless().map_or("none of those between two policies".to_string(), |share| {
                format!("{} of those between two policies at most", percent(share))
            });
        format!("A game longer than {plies} plies counts as infinite: {share}.")
    });
    let against = |opponent: &str, of: &dyn Fn(usize) -> BothSides<Expected>| TableView {
        title: format!("Against {opponent} moves, from the start"),
        note: endless.clone(),
        head: [first, second]
            .iter()
            .flat_map(|side| {
                ["win", "draw", "loss", units].map(|what| format!("as {side}\n{what}"))
            })
            .collect(),
        rows: rows(roles, |at| {
            let cells = both(&of(at)).into_iter().flat_map(shares);
            Some(cells.map(CellView::from).collect())
        }),
    };
    let most = games.table.iter().flatten().map(|of| of.score.abs()).fold(1.0, f64::max);
    let order: Vec<usize> =
        roles.ranked.iter().chain(&roles.perfect).chain(&roles.random).copied().collect();
    let between = TableView {
        title: "Against each other".into(),
        note: format!(
            "{units} that the row, playing {first}, scores against the column, playing {second}."
        ),
        head: order.iter().map(|&at| roles.short[at].clone()).collect(),
        rows: rows(roles, |at| {
            let cell = |&other: &usize| {
                let score = games.table[at][other].score;
                CellView {
                    depth: Some(format!("{:.3}", score.abs() / most)),
                    class: if score < 0.0 { "against" } else { "" },
                    ..CellView::from(signed(score, 1))
                }
            };
            Some(order.iter().map(cell).collect())
        }),
    };
    let exploited = TableView {
        title: "Exploitability, and mistakes in a game".into(),
        note: "Lost to a best response from the start, on either side; expected moves in a game that lose some of the result.".into(),
        head: [first, second]
            .iter()
            .flat_map(|side| ["result", units].map(|what| format!("as {side}\n{what}")))
            .chain(["itself", "random", "perfect"].map(|opponent| format!("mistakes\nvs {opponent}")))
            .collect(),
        rows: rows(roles, |at| {
            let of = &games.policies[at];
            let lost = [&of.exploitability.first, &of.exploitability.second];
            let lost = lost.into_iter().flat_map(|of| [amount(of.outcome_lost.max(0.0)), amount(of.score_lost.max(0.0))]);
            let mistakes = of.mistakes.iter().map(|of| amount(of.outcome_mistakes));
            Some(lost.chain(mistakes).map(CellView::from).collect())
        }),
    };
    vec![
        exploited,
        against("random", &|at| games.policies[at].against_random),
        against("perfect", &|at| games.policies[at].against_perfect),
        between,
    ]
}

/// Returns what moves to each square give away, a table for each policy.
fn squares(report: &AccuracyReport, roles: &Roles) -> Vec<TableView> {
    let view = |&at: &usize| {
        let policy = &report.policies[at];
        let squares = &policy.held_out_details().squares;
        let most = squares.iter().map(|square| square.figures.score_lost).fold(0.0, f64::max);
        let columns = squares.iter().map(|square| square.column + 1).max()?;
        let states = policy.held_out().all.states.max(1) as f64;
        let cell = |square: &crate::evaluate::Square| CellView {
            text: format!("{:.0}", 1000.0 * square.figures.score_lost / states),
            depth: Some(format!("{:.3}", square.figures.score_lost / most)),
            class: "against",
            change: None,
        };
        let rows = squares.chunks(columns).map(|row| RowView {
            cells: row.iter().map(cell).collect(),
            name: row[0].square.trim_start_matches(char::is_alphabetic).to_string(),
            at: None,
        });
        (most > 0.0).then(|| TableView {
            title: roles.short[at].clone(),
            head: report.board.column_names.clone(),
            rows: rows.collect(),
            note: String::new(),
        })
    };
    roles.ranked.iter().filter_map(view).collect()
}

/// Returns the mistakes of each policy, the reader's own first.
fn mistakes(report: &AccuracyReport, roles: &Roles, about: &About) -> Vec<Value> {
    let others =
        roles.ranked.iter().chain(&roles.random).filter(|at| Some(**at) != roles.highlight);
    let order = roles.highlight.iter().chain(others);
    let of = |&at: &usize| {
        let all = report.costliest(at).iter().map(|mistake| mistake_view(report, mistake, about));
        let all: Vec<MistakeView> = all.collect();
        (!all.is_empty()).then(|| {
            context! { at, name => roles.short[at], all => Value::from_serialize(all), is_own => roles.highlight == Some(at) }
        })
    };
    order.filter_map(of).collect()
}

fn mistake_view(report: &AccuracyReport, mistake: &Mistake, about: &About) -> MistakeView {
    let words = &report.words;
    let of = |facts: &MoveFacts| result_words(report, &mistake.mover, facts);
    let best = mistake.moves.iter().find(|facts| facts.best);
    let wrong = mistake.moves.iter().find(|facts| !facts.best);
    let what = match (best, wrong) {
        (Some(best), Some(wrong)) => {
            let names = |outcome: i8| ["loss", "draw", "win"][(outcome.clamp(-1, 1) + 1) as usize];
            let lost = match (best.outcome > wrong.outcome, best.score, wrong.score) {
                (true, ..) => {
                    format!("turns a {} into a {}", names(best.outcome), names(wrong.outcome))
                }
                (false, Some(best), Some(wrong)) => {
                    let lost = u64::from(best.abs_diff(wrong));
                    format!("gives away {}", counted(lost, words.unit))
                }
                (false, ..) => "takes longer than needed, or loses sooner".to_string(),
            };
            format!("{} ({}) {lost}", wrong.name, percent(wrong.probability))
        }
        _ => String::new(),
    };
    let sentence = |facts: &MoveFacts| format!("{}: {}", facts.name, of(facts));
    let details = match (wrong, best) {
        (Some(wrong), Some(best)) => {
            format!("{} to move. {}. Best is {}.", mistake.mover, sentence(wrong), sentence(best))
        }
        _ => format!("{} to move.", mistake.mover),
    };
    let lost = match (mistake.score_lost, report.table.has_scores()) {
        (Some(lost), true) => format!("{} {}", amount(lost), words.units),
        _ => format!("{} of the result", amount(mistake.outcome_lost)),
    };
    let met = mistake
        .met
        .map_or(String::new(), |met| format!("Met in {} of its games; ", percent(met.min(1.0))));
    let marked =
        best.iter().map(|facts| (facts, "right")).chain(wrong.iter().map(|facts| (facts, "wrong")));
    let marked: Vec<_> = marked.map(|(facts, kind)| (facts.squares, kind)).collect();
    let shown = mistake.moves.iter().filter(|facts| facts.best || facts.probability > 0.0005);
    let is_served = report.table.searched.is_none() && !about.server.is_empty();
    MistakeView {
        board: serde_json::to_string(&mistake.board).unwrap_or_default(),
        moves: serde_json::to_string(&marked).unwrap_or_default(),
        diagram: mistake.diagram.clone(),
        label: format!("{}, {} to move", mistake.position, mistake.mover),
        what,
        details,
        note: format!("{met}{lost} lost by its moves here, on average."),
        link: is_served.then(|| {
            format!(
                "{}/#{}/{}",
                about.server,
                encoded(&report.table.name),
                encoded(&mistake.position)
            )
        }),
        table: TableView {
            head: ["chosen", "then"].map(String::from).to_vec(),
            rows: shown
                .map(|facts| RowView {
                    name: facts.name.clone(),
                    cells: vec![
                        percent(facts.probability).into(),
                        CellView {
                            class: if facts.best { "best" } else { "" },
                            ..of(facts).into()
                        },
                    ],
                    at: None,
                })
                .collect(),
            ..TableView::default()
        },
    }
}

/// Returns who wins after a move, and by how much or how soon.
fn result_words(report: &AccuracyReport, mover: &str, facts: &MoveFacts) -> String {
    let [first, second] = report.words.sides;
    let other = if mover == first { second } else { first };
    let winner = if facts.outcome > 0 { mover } else { other };
    match (facts.outcome, facts.score, facts.distance) {
        (0, ..) => "a draw".to_string(),
        (_, Some(score), _) => {
            format!(
                "{winner} wins by {}",
                counted(u64::from(score.unsigned_abs()), report.words.unit)
            )
        }
        (_, None, Some(plies)) => format!("{winner} wins in {}", super::verdict::plies_text(plies)),
        (_, None, None) => format!("{winner} wins"),
    }
}

/// Encodes text for the part of an address behind `#`.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

fn agreement(report: &AccuracyReport, roles: &Roles) -> Option<TableView> {
    let agreement = report.agreement.as_ref().filter(|_| report.policies.len() > 1)?;
    let order: Vec<usize> =
        roles.ranked.iter().chain(&roles.perfect).chain(&roles.random).copied().collect();
    let cell = |at: usize, other: usize| {
        let share = agreement.of(at, other);
        CellView {
            text: format!("{:.0}", 100.0 * share),
            depth: Some(format!("{share:.3}")),
            ..CellView::default()
        }
    };
    Some(TableView {
        note: "How alike two policies choose, in percent: Σ min(p, q), on average over all positions with a choice.".into(),
        head: order.iter().map(|&at| roles.short[at].clone()).collect(),
        rows: rows(roles, |at| Some(order.iter().map(|&other| cell(at, other)).collect())),
        ..TableView::default()
    })
}

/// Returns all figures of all sets of positions, then those of values and worst cases.
fn figures(report: &AccuracyReport, roles: &Roles) -> Vec<TableView> {
    let head = || {
        let kept = headings(report, KEPT);
        kept.into_iter()
            .chain(headings(report, RANKED))
            .map(|(upper, lower)| format!("{upper}\n{lower}").trim().to_string())
    };
    let mut all = Vec::new();
    for (title, of) in super::accuracy_text::sets(&report.table) {
        let row = |name: String, at: Option<usize>, sets: &FiguresBySet| {
            let figures = of(sets).copied().unwrap_or_default();
            let cells = [KEPT, RANKED]
                .into_iter()
                .flat_map(|columns| cells(&report.table, columns, &figures));
            RowView { at, name, cells: cells.map(CellView::from).collect() }
        };
        let mut table =
            TableView { title: title.to_string(), head: head().collect(), ..TableView::default() };
        for &at in roles.ranked.iter().chain(&roles.perfect).chain(&roles.random) {
            let policy = &report.policies[at];
            table.rows.push(row(roles.short[at].clone(), Some(at), &policy.total));
            for split in Split::ALL {
                let sets = policy.splits.as_ref().map(|splits| splits.of(split));
                if let Some(sets) = sets.filter(|sets| sets.all.states > 0) {
                    let positions = of(sets).map_or(0, |figures| figures.states);
                    table.rows.push(row(
                        format!("{} ({})", split.name(), thousands(positions)),
                        None,
                        sets,
                    ));
                }
            }
        }
        let positions =
            report.policies.first().and_then(|policy| of(&policy.total)).map_or(0, |of| of.states);
        table.title = format!("{title} ({})", thousands(positions));
        all.push(table);
    }
    let valued = TableView {
        title: "Values that policies predict, against the exact outcome (a win is 1, a loss −1)"
            .into(),
        head: ["mean\nerror", "right\nsign", "Brier\nscore", "calibration\nerror"]
            .map(String::from)
            .to_vec(),
        rows: rows(roles, |at| {
            let values = report.policies[at].held_out_details().values?.means();
            texts([
                or_none(values.mean_error, amount),
                or_none(values.sign_accuracy, percent),
                or_none(values.brier, amount),
                or_none(values.calibration_error, amount),
            ])
        }),
        ..TableView::default()
    };
    let units = &report.words.units;
    let worst = TableView {
        title: format!("{units} lost by a move in the worst cases, and the time for an answer"),
        head: [&format!("99 % lose\nat most {units}"), "worst", "µs an\nanswer"]
            .map(String::from)
            .to_vec(),
        rows: rows(roles, |at| {
            let losses = report.policies[at].details.losses.as_ref();
            let number = |n: Option<usize>| n.map_or("-".to_string(), |n| n.to_string());
            let seconds = report.seconds.get(at).copied().flatten();
            texts([
                number(losses.and_then(|losses| losses.percentile(0.99))),
                number(losses.and_then(|losses| losses.worst())),
                or_none(seconds.map(|seconds| 1e6 * seconds), |micro| format!("{micro:.2}")),
            ])
        }),
        ..TableView::default()
    };
    all.extend([valued, worst].into_iter().filter(|table| !table.rows.is_empty()));
    all
}

/// Returns the figures by moves, distance and value of each policy.
fn groups(report: &AccuracyReport, roles: &Roles) -> Vec<Value> {
    let of = |&at: &usize| {
        let details = report.policies[at].held_out_details();
        let table = |by: By| {
            let groups = details.groups(by);
            let columns = |figures: &crate::evaluate::Figures| cells(&report.table, KEPT, figures);
            let kept = headings(report, KEPT)
                .into_iter()
                .map(|(a, b)| format!("{a}\n{b}").trim().to_string());
            (!groups.is_empty()).then(|| TableView {
                title: format!("By {}", by_words(report, by).1),
                note: by_words(report, by).0.to_string(),
                head: ["positions".to_string()]
                    .into_iter()
                    .chain(kept)
                    .chain(["decisive".into(), "result\nkept".into()])
                    .collect(),
                rows: groups
                    .iter()
                    .map(|group| {
                        let (all, decisive) = (&group.figures.all, &group.figures.decisive_outcome);
                        let cells = [thousands(all.states)].into_iter().chain(columns(all));
                        let kept = or_none(decisive.means().optimal_by_outcome, percent);
                        let cells = cells.chain([thousands(decisive.states), kept]);
                        RowView {
                            name: typographic(&group.key.number().to_string()),
                            cells: cells.map(CellView::from).collect(),
                            at: None,
                        }
                    })
                    .collect(),
            })
        };
        let tables: Vec<TableView> =
            [By::Moves, By::Distance, By::Value].into_iter().filter_map(table).collect();
        context! { at, name => roles.short[at], tables => Value::from_serialize(tables) }
    };
    roles.ranked.iter().chain(&roles.random).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_hold_any_position() {
        assert_eq!(encoded("othello-4x4/-X O."), "othello-4x4%2F-X%20O.");
    }

    #[test]
    fn names_of_the_strip_do_not_overlap() {
        let view = |short: &str, mark: f64| PolicyView {
            at: 0,
            place: Some(1),
            short: short.into(),
            starred: short.into(),
            name: short.into(),
            colour: "",
            is_own: false,
            kept: String::new(),
            mark: Some(mark.to_string()),
            lane: None,
            is_left: mark < 60.0,
            thrown: [const { String::new() }; 3],
            thrown_words: String::new(),
            cells: Vec::new(),
        };
        let mut all: Vec<PolicyView> =
            (0..9).map(|at| view("a long name", 90.0 + at as f64 / 10.0)).collect();
        all.push(view("far", 10.0));
        place_names(&mut all);
        let lanes: Vec<Option<usize>> = all.iter().map(|view| view.lane).collect();
        assert_eq!(lanes[..LANES], [Some(0), Some(1), Some(2), Some(3), Some(4), Some(5)]);
        assert_eq!((lanes[LANES], lanes[9]), (None, Some(0)));
    }
}
