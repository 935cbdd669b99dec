//! The accuracy report as one self-contained page.

use std::cmp::Ordering;

use minijinja::{Environment, Value, context};
use serde::Serialize;

use super::accuracy_text::{judged, may_have_learned, origin_of_values};
use super::boards::{BOARD_CSS, Boards};
use super::columns::or_none;
use super::number::{amount, counted, percent, signed, thousands};
use super::plots::{convergence, cost, learning, losses, reliability, small_multiples};
use super::ranking::{change, columns, ranking, ties};
use super::report_tables::{
    CellView, RowView, TableView, agreement, by_group, by_words, figures, forced, games, groups,
    squares, takers, times,
};
use super::roles::Roles;
use super::strip::{Mark, Picture, Scale, hundredths, picture};
use crate::judge::{AccuracyReport, By, FiguresBySet, ForcedFigures, Mistake, MoveFacts};

/// Origin of a page, and what it brings out.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The command.
    pub command: String,
    /// Date, such as 2026-11-22.
    pub date: String,
    /// Checksum of the table's manifest.
    pub checksum: String,
    /// Index of the policy to bring out; by default the best that is not built in.
    pub highlight: Option<usize>,
    /// Address of the server that links to positions lead to.
    pub server: String,
}

/// Lanes of names above the strip.
const LANES: usize = 6;

/// A policy in the strip, in the ranking and in the legend.
#[derive(Serialize)]
struct PolicyView {
    at: usize,
    /// Place in the order of the report, from 1.
    place: usize,
    /// `true` if it is tied with the policy above it.
    tied: bool,
    /// `true` for perfect and random moves.
    is_reference: bool,
    short: String,
    /// With a star if it has learned from some of the positions.
    starred: String,
    name: String,
    colour: &'static str,
    is_own: bool,
    kept: String,
    /// Place of its mark in the strip, in percent of the width.
    mark: Option<f64>,
    /// Ends of its confidence interval there: the first, and the width.
    interval: Option<[f64; 2]>,
    /// Arrow from its mark by the earlier report: the left end, the width, and `better` or `worse`.
    earlier: Option<(f64, f64, &'static str)>,
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
pub(super) struct MistakeView {
    /// Drawing, with the best move and the one that costs the most; empty in a game without a board of squares.
    pub board: String,
    pub diagram: String,
    position: String,
    mover: String,
    label: String,
    pub what: String,
    /// Frequency with which games meet it, in words; empty if that is not known.
    met: String,
    pub details: String,
    pub note: String,
    link: Option<String>,
    pub table: TableView,
}

/// Renders a report as a self-contained page with tables, plots and diagrams. It suits phones, print, light
/// and dark themes, and can be read without its script, which sorts tables and isolates policies.
pub fn html(report: &AccuracyReport, about: &About) -> String {
    let mut environment = Environment::new();
    environment.add_filter("lines", lines_filter);
    environment
        .add_template("report.html", include_str!("page/report.html"))
        .expect("the template is well-formed");
    let template = environment.get_template("report.html").expect("it was just added");
    let roles = Roles::of(report, about.highlight);
    let by = match report.policies.iter().any(|policy| !policy.details.layers.is_empty()) {
        true => By::Layer,
        false => By::Distance,
    };
    let decisive =
        report.policies.first().map_or(0, |policy| policy.total.decisive_result.positions);
    let small = small_multiples(report, &roles, by);
    let small = small.into_iter().map(|(at, svg)| context! { at, svg }).collect::<Vec<_>>();
    let plots = [losses(report, &roles), cost(report, &roles), reliability(report, &roles)];
    let curves = roles.curves.iter().map(|curve| {
        context! { name => curve.name, plots => Value::from_serialize(learning(report, &roles, curve)) }
    });
    let (heads, policies, scale) = policies(report, &roles);
    let chance = chance(report, &roles);
    let hero = hero(report, &roles);
    let in_page = headline(report, &roles, "");
    let headline = headline(report, &roles, &format!(" of {}", report.words.game));
    let worst = roles.highlight.and_then(|at| mistake_views(report, at, about).into_iter().next());
    let worst = worst.filter(|worst| !worst.what.is_empty());
    let picture = headline
        .as_ref()
        .map(|headline| passed_on(report, &policies, scale, chance, headline, worst.as_ref()));
    let page = template.render(context! {
        lanes => policies.iter().filter_map(|policy| policy.lane).max().map_or(1, |lane| lane + 1),
        style => include_str!("page/report.css").to_string() + BOARD_CSS,
        script => include_str!("page/report.js"),
        title => report.words.game,
        hero,
        headline,
        trail => trail(report, &roles, scale),
        in_page,
        picture,
        worst => Value::from_serialize(worst),
        ticks => Value::from_serialize(scale.ticks()),
        chance => chance.map(|share| context! { place => hundredths(scale.place(share)), share => percent(share), of_hundred => of_hundred(share) }),
        is_logarithmic => matches!(scale, Scale::Errors { .. }),
        facts => facts(report),
        policies => Value::from_serialize(policies),
        heads,
        reference => roles.random.is_some(),
        decisive => thousands(decisive),
        ranked => decisive > 0,
        judged => report.table.judged_states > 0,
        interval => report.policies.iter().any(|policy| policy.intervals.is_some()),
        tied => ties(report),
        learned => report.policies.iter().any(|policy| policy.has_learned()),
        units => report.words.units,
        most => report.words.most,
        scores => report.table.has_scores(),
        changes => Value::from_serialize(changes(report, &roles, about)),
        curves => curves.collect::<Vec<_>>(),
        across => by_words(report, by).1,
        small,
        by_group => Value::from_serialize(by_group(report, &roles, by)),
        by_moves => Value::from_serialize(by_group(report, &roles, By::Moves)),
        plots => Value::from_serialize(plots.into_iter().flatten().collect::<Vec<_>>()),
        bounded => Value::from_serialize(forced(report, &roles)),
        forced_words => forced_words(report, &roles),
        takers => Value::from_serialize(takers(report, &roles)),
        games => Value::from_serialize(games(report, &roles)),
        squares => Value::from_serialize(squares(report, &roles)),
        mistakes => mistakes(report, &roles, about),
        agreement => Value::from_serialize(agreement(report, &roles)),
        figures => Value::from_serialize(
            figures(report, &roles).into_iter().chain([times(report, &roles)]).collect::<Vec<_>>(),
        ),
        groups => groups(report, &roles),
        convergence => Value::from_serialize(convergence(report)),
        pieces => boards(report).pieces(),
        server => served(report, about),
        about => context! { command => about.command, date => about.date, checksum => about.checksum },
        version => env!("CARGO_PKG_VERSION"),
    });
    page.unwrap_or_else(|error| panic!("the template fits the report: {error:#}"))
}

/// Escapes a text and puts a break between its lines.
pub(super) fn lines_filter(text: &str) -> Value {
    let lines: Vec<String> = text.lines().map(super::chart::escaped).collect();
    Value::from_safe_string(lines.join("<br>"))
}

/// Returns the address of the server that links lead to; `None` if there is no table that it could open.
fn served<'a>(report: &AccuracyReport, about: &'a About) -> Option<&'a str> {
    let is_served = !report.table.is_searched() && !about.server.is_empty();
    is_served.then_some(&about.server[..])
}

fn kept(figures: &FiguresBySet) -> Option<f64> {
    figures.decisive_result.result_kept()
}

/// Returns what uniform random moves keep in the positions of the highlighted policy's figure, or of all.
fn chance(report: &AccuracyReport, roles: &Roles) -> Option<f64> {
    let sets = match roles.highlight {
        Some(at) => report.policies[at].held_out(),
        None => &report.policies.first()?.total,
    };
    sets.decisive_result.chance_kept()
}

/// Writes a share as a number of a hundred.
fn of_hundred(share: f64) -> String {
    percent(share).trim_end_matches('%').to_string()
}

/// Returns the least and the greatest share that policies other than the references keep, as numbers of a hundred.
fn range(report: &AccuracyReport, roles: &Roles) -> Option<[String; 2]> {
    let shares = || roles.ranked.iter().filter_map(|&at| kept(report.policies[at].held_out()));
    let best = shares().fold(f64::NEG_INFINITY, f64::max);
    let least = shares().fold(f64::INFINITY, f64::min);
    (best >= least).then(|| [least, best].map(of_hundred))
}

/// Returns the headline of a bounded table: how often proven wins are kept, and proven losses taken; `None` where nothing is
/// proven of some moves only.
fn forced_words(report: &AccuracyReport, roles: &Roles) -> Option<String> {
    type Of = fn(&ForcedFigures) -> Option<f64>;
    let (own, all) = (roles.highlight, &report.policies);
    let words = |of: Of| {
        let share = |at: usize| all[at].forced.as_ref().and_then(of);
        let shares = || roles.ranked.iter().filter_map(|&at| share(at));
        let least = of_hundred(shares().reduce(f64::min)?);
        let most = of_hundred(shares().reduce(f64::max)?);
        Some(match own {
            Some(at) => of_hundred(share(at)?),
            None if least == most => least,
            None => format!("{least} to {most}"),
        })
    };
    let one = subject(roles);
    let who = one.map_or("Policies", |at| &roles.short[at]);
    let [keep, take] = if one.is_some() { ["keeps", "takes"] } else { ["keep", "take"] };
    let wins = words(|figures| figures.won_kept)
        .map(|share| format!("{keep} a proven win in {share} of 100 positions"));
    let losses = words(|figures| figures.at_risk_lost)
        .map(|share| format!("{take} a proven loss in {share} of 100 where one can be avoided"));
    let parts: Vec<String> = wins.into_iter().chain(losses).collect();
    (!parts.is_empty()).then(|| format!("{who} {}.", parts.join(" and ")))
}

/// Returns the page's opening sentence in parts.
fn hero(report: &AccuracyReport, roles: &Roles) -> Value {
    let Some((at, share)) =
        roles.highlight.and_then(|at| Some((at, kept(report.policies[at].held_out())?)))
    else {
        return Value::from(());
    };
    let before = report.changes.as_ref().and_then(|changes| changes.policies[at].as_ref());
    let before = before.and_then(|of| of.figures.get("result_kept")).map(|[before, _]| *before);
    let intervals = report.policies[at].intervals.as_ref();
    let interval = intervals
        .and_then(|intervals| intervals.of("result_kept"))
        .map(|kept| format!("{} to {}", percent(kept.lower), percent(kept.upper)));
    context! {
        at,
        name => roles.short[at],
        kept => of_hundred(share),
        before => before.filter(|before| of_hundred(*before) != of_hundred(share)).map(of_hundred),
        interval,
        held_out => report.policies[at].has_learned().then(|| {
            thousands(report.policies[at].held_out().decisive_result.positions)
        }),
    }
}

/// Returns the policy that the headline is about: the reader's, or the only one beside the references.
fn subject(roles: &Roles) -> Option<usize> {
    roles.highlight.or(match roles.ranked[..] {
        [only] => Some(only),
        _ => None,
    })
}

/// Returns the page's headline as text, with words for where the positions are; `None` if nothing decides the result.
fn headline(report: &AccuracyReport, roles: &Roles, place: &str) -> Option<String> {
    let chance = of_hundred(chance(report, roles)?);
    let (who, share) = match subject(roles) {
        Some(at) => {
            let share = kept(report.policies[at].held_out())?;
            (format!("{} keeps", roles.short[at]), of_hundred(share))
        }
        None => {
            let [least, best] = range(report, roles)?;
            ("Policies keep".to_string(), format!("{least} to {best}"))
        }
    };
    Some(format!(
        "{who} the result in {share} of 100 positions{place} where the move decides it; chance keeps {chance}."
    ))
}

/// Returns the picture of the headline, the strip and the costliest mistake.
fn passed_on(
    report: &AccuracyReport,
    policies: &[PolicyView],
    scale: Scale,
    chance: Option<f64>,
    headline: &str,
    worst: Option<&MistakeView>,
) -> String {
    let name = |policy: &PolicyView| match policy.is_own {
        true => format!("{} {}", policy.short, policy.kept),
        false => policy.short.clone(),
    };
    let marked = policies.iter().filter_map(|policy| Some((policy.mark?, name(policy), policy)));
    let marked: Vec<(f64, String, &PolicyView)> = marked.collect();
    let ticks = scale.ticks();
    let own = policies.iter().find(|policy| policy.is_own);
    let sets = own.map(|policy| report.policies[policy.at].held_out());
    let sets = sets.or(report.policies.first().map(|first| &first.total));
    let decisive = sets.map_or(0, |sets| sets.decisive_result.positions);
    let below =
        format!("yomikiri: {} such positions of {}", thousands(decisive), report.table.name);
    let what = worst.map(|worst| match worst.met.is_empty() {
        true => worst.what.clone(),
        false => format!("{}: {}", worst.what, worst.met),
    });
    let board = worst.zip(what.as_ref()).filter(|(worst, _)| worst.board.starts_with("<svg"));
    picture(&Picture {
        heading: headline,
        below: &below,
        marks: marked
            .iter()
            .map(|(place, name, policy)| Mark {
                place: *place,
                name,
                colour: policy.colour,
                is_own: policy.is_own,
                interval: policy.interval.map(|[from, width]| [from, from + width]),
            })
            .collect(),
        chance: chance.map(|share| (scale.place(share), format!("chance {}", percent(share)))),
        ticks: &ticks,
        board: board.map(|(worst, what)| (&worst.board[..], &what[..])),
    })
}

/// Returns what was measured, as pairs of a name and a sentence.
fn facts(report: &AccuracyReport) -> Vec<(String, String)> {
    let table = &report.table;
    let mut facts = Vec::new();
    let mut add = |name: &str, text: String| facts.push((name.to_string(), text));
    let judged = judged(table).split_whitespace().collect::<Vec<_>>().join(" ");
    add(
        "Figures",
        match table.judged_states {
            0 => format!("of {judged}"),
            _ => format!("of {judged}; {}", origin_of_values(table)),
        },
    );
    if let Some(what) = may_have_learned(report) {
        add("Training", what.to_string());
    }
    if !table.is_searched() {
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

/// Returns the headings of the ranking, the policies, best first, and the scale of the strip.
fn policies(report: &AccuracyReport, roles: &Roles) -> (Vec<String>, Vec<PolicyView>, Scale) {
    let is_shown = |at| !roles.is_between(at);
    let table = ranking(report, &columns(report), is_shown, |_, at| roles.starred[at].clone());
    let shares: Vec<Option<f64>> =
        report.policies.iter().map(|policy| kept(policy.held_out())).collect();
    let lower = |at: usize| Some(report.policies[at].intervals.as_ref()?.of("result_kept")?.lower);
    let lowest = (0..report.policies.len()).filter_map(lower);
    let on_it = shares.iter().flatten().copied().chain(chance(report, roles)).chain(lowest);
    let scale = Scale::of(&on_it.collect::<Vec<f64>>());
    let place = |share: f64| hundredths(scale.place(share));
    let interval = |at: usize| {
        let interval = report.policies[at].intervals.as_ref()?.of("result_kept")?;
        let [from, to] = [interval.lower, interval.upper].map(|share| scale.place(share));
        Some([hundredths(from), hundredths(to - from)])
    };
    let earlier = |at: usize| {
        let of = report.changes.as_ref()?.policies.get(at)?.as_ref()?;
        let [before, now] = *of.figures.get("result_kept")?;
        let [from, to] = [before, now].map(|share| scale.place(share));
        let kind = if to > from { "better" } else { "worse" };
        (from != to).then(|| (hundredths(from.min(to)), hundredths((to - from).abs()), kind))
    };
    let thrown = |at: usize| {
        let of = &report.policies[at].held_out().decisive_result;
        [of.win_to_draw(), of.draw_to_loss(), of.win_to_loss()].map(|share| share.unwrap_or(0.0))
    };
    let most = (0..report.policies.len()).map(|at| thrown(at).iter().sum()).fold(1e-9, f64::max);
    let view = |(number, RowView { at, cells, .. }): (usize, RowView)| {
        let at = at.unwrap_or_default();
        let name = &report.policies[at].policy;
        let [to_draw, from_draw, to_loss] = thrown(at);
        PolicyView {
            at,
            place: number,
            tied: report.policies[at].tied,
            interval: interval(at),
            earlier: earlier(at),
            is_reference: [roles.perfect, roles.random].contains(&Some(at)),
            short: roles.short[at].clone(),
            starred: roles.starred[at].clone(),
            name: name.clone(),
            colour: roles.colours[at],
            is_own: roles.highlight == Some(at),
            kept: or_none(shares[at], percent),
            mark: shares[at].map(place).filter(|_| roles.random != Some(at)),
            lane: None,
            is_left: shares[at].is_some_and(|share| scale.place(share) < 60.0),
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
    let mut all: Vec<PolicyView> = (1..).zip(table.rows).map(view).collect();
    place_names(&mut all);
    (table.head, all, scale)
}

/// Returns the places in the strip of checkpoints between the best and the last of their run.
fn trail(report: &AccuracyReport, roles: &Roles, scale: Scale) -> Vec<Value> {
    let mark = |at: usize| {
        let share = kept(report.policies[at].held_out())?;
        let place = hundredths(scale.place(share));
        Some(
            context! { place, name => roles.short[at], kept => percent(share), colour => roles.colours[at] },
        )
    };
    (0..report.policies.len()).filter(|&at| roles.is_between(at)).filter_map(mark).collect()
}

/// Gives names lanes above the strip in which they do not overlap, the reader's own first; others have none.
fn place_names(all: &mut [PolicyView]) {
    // Width of a letter and of the space around a name, in percent of a strip of 1100 pixels.
    let (letter, around) = (0.68, 2.4);
    let mut lanes: Vec<Vec<[f64; 2]>> = vec![Vec::new(); LANES];
    let mut order: Vec<usize> = (0..all.len()).filter(|&at| !all[at].is_reference).collect();
    order.sort_by_key(|&at| !all[at].is_own);
    for at in order {
        let Some(mark) = all[at].mark else { continue };
        // The reader's own is bold, larger, and has its figure beside it.
        let letters = all[at].starred.chars().count() as f64;
        let letters = if all[at].is_own { 1.4 * (letters + 7.0) } else { letters };
        let long = letter * letters + around;
        let mut span =
            if all[at].is_left { [mark - 1.0, mark + long] } else { [mark - long, mark + 1.0] };
        if let Some([from, width]) = all[at].interval {
            span = [span[0].min(from), span[1].max(from + width)];
        }
        let is_free = |lane: &Vec<[f64; 2]>| {
            lane.iter().all(|other| span[1] < other[0] || other[1] < span[0])
        };
        if let Some(lane) = lanes.iter().position(is_free) {
            lanes[lane].push(span);
            all[at].lane = Some(lane);
        }
    }
}

/// Returns what changed of each policy beside the figures.
fn changes(report: &AccuracyReport, roles: &Roles, about: &About) -> Option<serde_json::Value> {
    let changes = report.changes.as_ref()?;
    let order = roles
        .highlight
        .iter()
        .chain(roles.ranked.iter().filter(|at| Some(**at) != roles.highlight));
    let policy = |&at: &usize| {
        let of = changes.policies.get(at)?.as_ref()?;
        let mut rows = TableView {
            head: ["positions", "earlier", "now", "change"].map(str::to_string).to_vec(),
            ..TableView::default()
        };
        rows.rows = of
            .groups
            .iter()
            .map(|group| {
                let [before, now] = group.kept;
                let by = now - before;
                let cells = [thousands(group.positions), percent(before), percent(now)];
                let mut cells: Vec<CellView> = cells.into_iter().map(CellView::from).collect();
                cells.push(CellView {
                    class: if by > 0.0 { "better" } else { "worse" },
                    ..CellView::from(signed(100.0 * by, 1))
                });
                RowView { name: group.group.to_string(), cells, ..RowView::default() }
            })
            .collect();
        let mistakes = of.mistakes.clone().unwrap_or_default();
        let mut new = mistake_views(report, at, about);
        new.retain(|view| mistakes.new.contains(&view.position));
        let is_listed = mistakes.new.len() + mistakes.gone.len() + of.groups.len() > 0;
        is_listed.then(|| {
            serde_json::json!({
                "at": at, "name": roles.short[at], "groups": rows, "new": new, "gone": mistakes.gone,
            })
        })
    };
    let missing = (0..report.policies.len()).filter(|&at| changes.policies[at].is_none());
    let missing: Vec<&str> = missing.map(|at| &roles.short[at][..]).collect();
    Some(serde_json::json!({
        "file": changes.file,
        "policies": order.filter_map(policy).collect::<Vec<_>>(),
        "missing": missing.join(", "),
        "is_same": (0..report.policies.len()).all(|at| {
            columns(report).iter().all(|column| change(report, at, &column.metric).is_none())
        }),
    }))
}

/// Returns the mistakes of each policy, the reader's own first.
fn mistakes(report: &AccuracyReport, roles: &Roles, about: &About) -> Vec<Value> {
    let others =
        roles.ranked.iter().chain(&roles.random).filter(|at| Some(**at) != roles.highlight);
    let order = roles.highlight.iter().chain(others);
    let of = |&at: &usize| {
        let mut all = mistake_views(report, at, about);
        all.retain(|view| !view.what.is_empty());
        (!all.is_empty()).then(|| {
            context! { at, name => roles.short[at], all => Value::from_serialize(all), is_own => roles.highlight == Some(at) }
        })
    };
    order.filter_map(of).collect()
}

/// Draws positions of the game of a report.
pub(super) fn boards(report: &AccuracyReport) -> Boards {
    Boards::new(&report.table.game, &report.board, report.words.sides)
}

/// Returns the costliest mistakes of a policy.
pub(super) fn mistake_views(report: &AccuracyReport, at: usize, about: &About) -> Vec<MistakeView> {
    let boards = boards(report);
    let all = report.costliest(at).iter();
    all.map(|mistake| mistake_view(report, &boards, mistake, about)).collect()
}

fn mistake_view(
    report: &AccuracyReport,
    boards: &Boards,
    mistake: &Mistake,
    about: &About,
) -> MistakeView {
    let words = &report.words;
    let of = |facts: &MoveFacts| result_words(report, &mistake.mover, facts);
    let best = mistake.moves.iter().find(|facts| facts.best);
    // The move that costs the most: probability times loss, then loss.
    let loss = |facts: &MoveFacts| match (best.and_then(|best| best.score), facts.score) {
        (Some(best), Some(score)) => f64::from(best) - f64::from(score),
        _ => best.map_or(0.0, |best| f64::from(best.outcome - facts.outcome)),
    };
    let cost = |facts: &MoveFacts| [facts.probability * loss(facts), loss(facts)];
    let others = mistake.moves.iter().filter(|facts| !facts.best);
    let wrong =
        others.rev().max_by(|a, b| cost(a).partial_cmp(&cost(b)).unwrap_or(Ordering::Equal));
    let what = match (best, wrong) {
        (Some(best), Some(wrong)) => {
            let names = |outcome: i8| ["loss", "draw", "win"][(outcome.clamp(-1, 1) + 1) as usize];
            let lost = match (best.outcome > wrong.outcome, best.score, wrong.score) {
                (true, ..) => {
                    format!("turns a {} into a {}", names(best.outcome), names(wrong.outcome))
                }
                (false, Some(best), Some(wrong)) => {
                    let lost = u64::from(best.abs_diff(wrong));
                    format!("costs {}", counted(lost, words.unit))
                }
                (false, ..) if best.outcome > 0 => "takes longer than needed to win".to_string(),
                (false, ..) => "loses sooner than needed".to_string(),
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
        _ => format!("{} of the result", amount(mistake.result_lost)),
    };
    let met = mistake.met.map_or(String::new(), |met| match met > 1.0 {
        true => format!("met {met:.2} times in a game"),
        false => format!("met in {} of its games", percent(met)),
    });
    let note = match met.is_empty() {
        true => format!("Expected loss here: {lost}."),
        false => format!("M{}; expected loss here: {lost}.", &met[1..]),
    };
    let marked =
        best.iter().map(|facts| (facts, "right")).chain(wrong.iter().map(|facts| (facts, "wrong")));
    let marked: Vec<_> = marked.map(|(facts, kind)| (facts.squares, kind)).collect();
    let label = format!("{}, {} to move", mistake.position, mistake.mover);
    let shown = mistake.moves.iter().filter(|facts| facts.best || facts.probability > 0.0005);
    MistakeView {
        board: boards.marked(&mistake.board, &label, &marked),
        diagram: mistake.diagram.clone(),
        position: mistake.position.clone(),
        mover: mistake.mover.to_string(),
        label,
        what,
        details,
        met,
        note,
        link: served(report, about).map(|server| {
            let (table, position) = (encoded(&report.table.name), encoded(&mistake.position));
            format!("{server}/#{table}/{position}")
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
pub(super) fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
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
            place: 1,
            tied: false,
            is_reference: false,
            short: short.into(),
            starred: short.into(),
            name: short.into(),
            colour: "",
            is_own: false,
            kept: String::new(),
            mark: Some(mark),
            interval: None,
            earlier: None,
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
