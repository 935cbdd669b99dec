//! `solver report`: how accurate policies are, exactly.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use clap::builder::RangedU64ValueParser;

use super::complete::{policies, tables};
use super::context::{Context, command_line};
use super::error::{code, say};
use super::fail_if::Condition;
use super::lines::text_of;
use super::output;
use super::players::players;
use super::position_options::ChosenArgs;
use super::program;
use super::table_args::TableArgs;
use crate::PORT;
use yomikiri::error::{Error, Kind};
use yomikiri::oracle::{Orienting, SolvedTable};
use yomikiri::output::is_same;
use yomikiri::rules::{Divider, Rules};
use yomikiri::table::fits_memory;
use yomikiri_measure::judge::{
    AccuracyReport, Baseline, By, JudgedPositions, Piece, Player, Request, RowSink, judgements,
};
use yomikiri_measure::policy::{Answers, PolicySpec};
use yomikiri_measure::render::number::{seconds, thousands};
use yomikiri_measure::render::{
    About, RowsFile, accuracy_text, html, markdown, policy_named, summary,
};

/// Measure policies against the solution; a missing table is made
///
/// Every figure is an exact expectation; nothing is sampled unless --sample or --games-of asks for it. In games that
/// always end (Othello) it is over all reachable positions, in every orientation in which they occur; in games that
/// may go on for ever (shogi) it is over the rows of the table whose results, and whose moves' results, are proven. On
/// a bounded table, the report also counts how often policies play moves proven to win or to lose where other moves
/// are not proven. Games longer than 512 plies count as infinite.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Table, game or size: othello-4x5, 4x5 [default: the table enumerated last, or 4x4]
    #[arg(value_name = "TABLE", conflicts_with = "table", add = tables())]
    word: Option<String>,
    #[command(flatten)]
    options: TableArgs,
    /// Policies, with commas or repeated; 'solver policies' lists them [default: those of the game]
    ///
    /// The default is random, greedy, in Othello weights, all networks that were trained here for the game, and
    /// perfect. '?trained=train[:SEED]' after onnx:, predictions: or exec: names the positions that the policy has
    /// learned from: the training part of an export with that --split-seed.
    #[arg(long, value_name = "POLICY", add = policies())]
    policy: Vec<String>,
    /// Measure each policy once more, with K plies of search in front of it (POLICY?plies=K)
    ///
    /// Moves that these plies prove to win are played, moves that they prove to lose are left out where another exists,
    /// and the policy chooses among the rest. The two rows show what search hides of a policy. Not of --label.
    #[arg(long, value_name = "K", hide_short_help = true,
        value_parser = RangedU64ValueParser::<u32>::new().range(1..=10))]
    in_front: Option<u32>,
    /// Show all figures, on all positions too, and all games
    #[arg(long)]
    full: bool,
    /// Show figures by group: layer, moves, distance or value; several with commas
    ///
    /// A layer is a number of discs on the board, or of plies from the root; moves are legal moves, distance is in
    /// plies to the end.
    #[arg(long, value_name = "GROUP", value_delimiter = ',', value_parser = by)]
    by: Vec<By>,
    /// Measure another policy, under a name of your own; may be repeated
    #[arg(long, value_name = "NAME=POLICY", value_parser = label, hide_short_help = true)]
    label: Vec<(String, String)>,
    #[command(flatten)]
    chosen: ChosenArgs,
    /// Ask about each row once, not about its mirror images: up to 16 times faster
    ///
    /// The answer counts for every orientation in which the row is reachable. Exact too for policies that respect
    /// the symmetries of the board.
    #[arg(long)]
    canonical: bool,
    /// Write the report as a page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Policy that the page brings out [default: the best that is not built in]
    #[arg(long, value_name = "NAME", requires = "html", hide_short_help = true)]
    highlight: Option<String>,
    /// Show what changed since an earlier report, a file that --json wrote
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Write the results position by position as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the results position by position as Parquet
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    parquet: Option<PathBuf>,
    /// Print one line of JSON for each policy, with a few dozen figures
    #[arg(long, conflicts_with_all = ["full", "by", "json"])]
    metrics: bool,
    /// Print Markdown: a card of one policy, or a leaderboard of several
    #[arg(long, conflicts_with_all = ["full", "by", "json", "metrics"])]
    markdown: bool,
    /// Exit with code 5 if a condition on a figure of --metrics holds, as in 'result_kept < 95%'
    ///
    /// With --against, 'baseline' is the figure of the earlier report: 'result_kept < baseline - 0.01'.
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<Condition>,
    /// Play no games
    #[arg(long, hide_short_help = true)]
    no_games: bool,
    /// Show the N costliest mistakes of each policy
    ///
    /// Mistakes are ordered by how often games reach them, or without games by what they lose; of mirror images one is
    /// shown.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true,
        value_parser = RangedU64ValueParser::<usize>::new().range(..=1000))]
    mistakes: usize,
}

impl Args {
    /// Returns the files of the report.
    fn outputs(&self) -> Vec<&Path> {
        let files = [&self.html, &self.csv].into_iter();
        #[cfg(feature = "parquet")]
        let files = files.chain([&self.parquet]);
        files.flatten().map(PathBuf::as_path).collect()
    }

    /// Checks that the files can be written and are distinct.
    fn check_outputs(&self) -> Result<(), Error> {
        let files = self.outputs();
        for (at, path) in files.iter().enumerate() {
            output::check(path)?;
            let inputs = [self.against.as_deref(), self.chosen.file()].into_iter().flatten();
            if files[..at].iter().copied().chain(inputs).any(|other| is_same(path, other)) {
                let what = format!("{} appears twice", path.display());
                return Err(Error::new(what, "give each output a file of its own"));
            }
        }
        Ok(())
    }

    /// Opens the files of results.
    fn files(&self) -> Result<Vec<RowsFile>, Error> {
        let mut files = Vec::new();
        if let Some(path) = &self.csv {
            files.push(RowsFile::csv(path)?);
        }
        #[cfg(feature = "parquet")]
        if let Some(path) = &self.parquet {
            files.push(RowsFile::parquet(path)?);
        }
        Ok(files)
    }
}

fn label(text: &str) -> Result<(String, String), String> {
    let split =
        text.split_once('=').filter(|(name, policy)| !name.is_empty() && !policy.is_empty());
    let (name, policy) = split.ok_or("expected NAME=POLICY")?;
    Ok((name.to_string(), policy.to_string()))
}

fn by(name: &str) -> Result<By, String> {
    let found = By::ALL.into_iter().find(|(known, _)| *known == name);
    let known = By::ALL.map(|(known, _)| known).join(", ");
    let depth = if name == "depth" { "; did you mean `layer`?" } else { "" };
    found.map(|(_, by)| by).ok_or_else(|| format!("expected {known}{depth}"))
}

pub(super) fn run(mut args: Args, context: &mut Context) -> Result<(), Error> {
    args.options = args.options.named(args.word.take());
    args.check_outputs()?;
    let fixed_day = fixed_day()?;
    let baseline = args.against.as_deref().map(read_baseline).transpose()?;
    if let Some(condition) =
        args.fail_if.iter().find(|of| of.needs_baseline() && baseline.is_none())
    {
        let what = format!("--fail-if {}: no earlier report", condition.name());
        return Err(Error::new(what, "give one with --against FILE"));
    }
    if let Some(baseline) = &baseline {
        // As many mistakes as it lists are compared.
        args.mistakes = args.mistakes.max(baseline.mistakes());
    }
    let outputs: Vec<PathBuf> = args.outputs().into_iter().map(Path::to_path_buf).collect();
    let (game, table) = args.options.game(context)?;
    // Policies that do not fit the game are rejected before its table is made.
    let (labels, labelled): (Vec<String>, Vec<String>) = args.label.iter().cloned().unzip();
    if let Some(twice) = (1..labels.len()).find(|&at| labels[..at].contains(&labels[at])) {
        let what = format!("--label {}= appears twice", labels[twice]);
        return Err(Error::new(what, "give each policy its own name"));
    }
    let listed = args.policy.iter().flat_map(|list| PolicySpec::split_list(list));
    let named: Vec<String> = listed.map(str::to_string).chain(labelled).collect();
    let mut policies = args.options.policies(&named, &*game, context)?;
    if let Some(plies) = args.in_front {
        let labelled = policies.split_off(policies.len() - labels.len());
        let with_front = |policy: PolicySpec| match policy {
            PolicySpec::Perfect | PolicySpec::Front(..) => vec![policy],
            policy => vec![policy.clone(), PolicySpec::Front(Box::new(policy), plies)],
        };
        policies = policies.into_iter().flat_map(with_front).chain(labelled).collect();
    }
    // So are models that cannot be read.
    let mut players = players(&policies, &*game, &context.store)?;
    label_last(&mut players, &labels);
    if args.canonical && !args.chosen.are_of_table() {
        let what = "--canonical is for all positions of a table";
        return Err(Error::new(what, "leave it out"));
    }
    let taken = args.options.why(&*game, context);
    let chosen = args.chosen.choose(&*game, table, &players, args.options.force, context)?;
    if let Some(table) = chosen.table().filter(|table| !table.states().has_layers())
        && args.by.contains(&By::Layer)
    {
        let what = format!("--by layer: {} stores no layers", table.table().name());
        return Err(Error::new(what, "give moves, distance or value"));
    }
    let orienting = if args.canonical { Orienting::First } else { Orienting::All };
    let mut report = chosen.with(orienting, |positions| {
        measure(&args, positions, chosen.table(), &players, context)
    })?;
    if fixed_day.is_some() {
        report.seconds.clear();
    }
    report.table.taken = Some(taken).filter(|_| !report.table.is_searched());
    let checksum = chosen.table().map(|table| table.table().manifest().checksum.clone());
    let checksum = checksum.unwrap_or_default();
    if let (Some(baseline), Some(path)) = (&baseline, &args.against) {
        let changes = baseline.changes(&report, path.display().to_string());
        report.changes = Some(changes.map_err(|why| not_against(path, &why))?);
    }
    if let Some(path) = &args.html {
        let highlight =
            args.highlight.as_ref().map(|name| policy_named(&report, name)).transpose()?;
        let server = format!("http://localhost:{PORT}");
        let date = day()?;
        let command = command_line();
        let about = About { command, date, checksum, highlight, server };
        output::write(path, html(&report, &about).as_bytes())?;
    }
    for path in outputs {
        context.remark(format!("{}: written", path.display()));
    }
    if context.json {
        context.json("report", &report)?
    } else if args.metrics {
        for metrics in &report.metrics {
            context.raw(&(serde_json::to_string(metrics)? + "\n"))?;
        }
    } else if args.markdown {
        context.print(markdown(&report, &command_line()))?
    } else {
        let lay_out = if args.full { accuracy_text } else { summary };
        context.print(lay_out(&report, &args.by, args.mistakes))?
    }
    if report.table.judged_states == 0 {
        let name = &report.table.name;
        let what = format!("no position of {name} can be judged");
        if !args.fail_if.iter().all(Condition::is_forced) {
            context.flush()?;
            let hint = "give a table that proves the results of some moves";
            return Err(Error::new(format!("--fail-if: {what}"), hint));
        }
        context.remark(what);
    }
    let then = |policy: &str, name: &str| baseline.as_ref()?.figure(policy, &report, name);
    let found = args.fail_if.iter().map(|condition| condition.found(&report.metrics, &then));
    let found = found.collect::<Result<Vec<_>, _>>()?.concat();
    if !found.is_empty() {
        context.flush()?;
        say(Kind::Bound, &found.join(", "), None, context.json);
        context.code = code(Kind::Bound).into();
    }
    Ok(())
}

/// Reads an earlier report.
fn read_baseline(path: &Path) -> Result<Baseline, Error> {
    let text = text_of(path)?;
    Baseline::read(&text).map_err(|why| not_against(path, &why))
}

fn not_against(path: &Path, why: &Error) -> Error {
    why.clone().map(|why| format!("--against {}: {why}", path.display())).of_kind(Kind::Input)
}

/// Gives the last players these labels.
fn label_last(players: &mut Vec<Player>, labels: &[String]) {
    let named = players.split_off(players.len() - labels.len()).into_iter().zip(labels);
    players.extend(named.map(|(player, name)| Player::Named(name.clone(), Box::new(player))));
}

/// Seconds above which the time of a report is printed before it starts.
const LONG: f64 = 10.0;

/// Measures players in positions, of a table if one is given.
fn measure(
    args: &Args,
    positions: &dyn JudgedPositions,
    table: Option<&SolvedTable>,
    players: &[Player],
    context: &Context,
) -> Result<AccuracyReport, Error> {
    let (game, page) = (positions.game(), args.html.is_some());
    let names: Vec<String> = players.iter().map(Player::name).collect();
    let dividers: Vec<_> = players.iter().map(|player| player.divider(game)).collect();
    let mut files = args.files()?;
    let is_kept = !files.is_empty();
    let mut push = |piece: &Piece, answers: &[Answers]| {
        push_rows(&mut files, game, (&names, &dividers), piece, answers)
    };
    let sink: Option<&mut RowSink<'_>> = if is_kept { Some(&mut push) } else { None };
    let mut request = Request {
        positions,
        players,
        games: !args.no_games,
        // A page has room for some mistakes of each policy.
        mistakes: if page { args.mistakes.max(3) } else { args.mistakes },
        agreement: page,
    };
    let too_large = too_large(request.bytes_of_games()).filter(|_| request.games);
    request.games &= too_large.is_none();
    let why_no_games = too_large.clone().or_else(|| request.why_no_games());
    let why = why_no_games.as_deref();
    let why = why.or((!request.games).then_some("leave out --no-games"));
    args.fail_if.iter().try_for_each(|condition| condition.check(players, positions, why))?;
    if !context.quiet {
        let expected = request.judging_seconds()?;
        context.bars.expect(expected);
        if expected > LONG {
            let (rows, time) = (thousands(positions.rows()), seconds(expected));
            let sides = if game.keeps_sides() { 1 } else { 2 };
            let most = sides * game.group().order();
            let faster = match args.canonical || table.is_none() || most == 1 {
                true => String::new(),
                false => format!(
                    "; --canonical asks about each row once, which is up to {most} times faster"
                ),
            };
            context.remark(format!("judging the policies in {rows} rows: about {time}{faster}"));
        }
    }
    let mut report = request.report(sink, &context.bars)?;
    files.into_iter().try_for_each(RowsFile::finish)?;
    report.why_no_games = report.why_no_games.or(too_large);
    Ok(report)
}

/// Returns why games, which need so many bytes, do not fit in memory, if they do not.
fn too_large(bytes: f64) -> Option<String> {
    let is_too_large = fits_memory(bytes, yomikiri_measure::free_memory()).is_err();
    is_too_large.then(|| {
        let bytes = yomikiri_measure::render::number::bytes(bytes);
        format!("they need about {bytes} of memory, more than is free")
    })
}

/// Adds the answers of policies for a piece to files of results.
fn push_rows(
    files: &mut [RowsFile],
    game: &dyn Rules,
    (names, dividers): (&[String], &[Option<Divider>]),
    piece: &Piece,
    answers: &[Answers],
) -> Result<(), Error> {
    for file in files {
        for ((name, divider), answers) in names.iter().zip(dividers).zip(answers) {
            judgements(game, name, divider.as_ref(), piece, answers)
                .try_for_each(|row| file.push(row))?;
        }
    }
    Ok(())
}

/// Returns the day of a page, which `SOURCE_DATE_EPOCH` fixes: 2026-11-28.
pub(super) fn day() -> Result<String, Error> {
    Ok(fixed_day()?.unwrap_or_else(Utc::now).format("%Y-%m-%d").to_string())
}

/// Returns the time of `SOURCE_DATE_EPOCH`, if it is set, for reproducible pages (reproducible-builds.org).
fn fixed_day() -> Result<Option<DateTime<Utc>>, Error> {
    let seconds = program::number_in::<u32>("SOURCE_DATE_EPOCH")?;
    Ok(seconds.and_then(|seconds| DateTime::from_timestamp(seconds.into(), 0)))
}
