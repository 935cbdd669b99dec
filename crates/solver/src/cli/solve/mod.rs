//! `solver solve`: the value of a game or a position, by a table or by search.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::answer_text::{Shown, search_text};
use super::complete::tables;
use super::context::Context;
use super::ensure_solved::ensure_solved;
use super::lines::{FormOption, GameFile};
use super::lookup_tables::solved_tables;
use super::sizes::{Memory, Seconds};
use super::table_args::{Meant, TableOption, WinPlies, is_in_reach, unknown_table};
use yomikiri::error::Error;
use yomikiri::games::othello::search::Evaluation;
use yomikiri::oracle::{
    Answer, Budget, Oracle, Reach, SearchOracle, SolvedTable, Source, Sources, WantedValues,
};
use yomikiri::rules::forms::{self, Form};
use yomikiri::rules::{AnyPosition, Empties, Rules, SearchOptions, SearchWeights};
use yomikiri::search::usual_memory;
use yomikiri::table::Manifest;
use yomikiri_measure::records::Records;
use yomikiri_measure::render::verdict::outcome_cell;

/// Solve a game, a size, a table or a position
///
/// A solved table that contains the position answers. A game whose table takes at most about two minutes is enumerated
/// and solved. Everything else is searched; if a limit stops the search, the answer is proven bounds. Shogi is
/// searched for wins that can be forced: by checks at any length, by other moves too within --plies. The last line names
/// the method.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Game, size (6x6) or table; any other word begins the position
    #[arg(value_name = "WHAT", allow_hyphen_values = true, add = tables())]
    first: Option<String>,
    /// Board, OBF line, SFEN or transcript; or a file of positions, '-' for stdin [default: the start]
    #[arg(value_name = "POSITION", allow_hyphen_values = true)]
    position: Vec<String>,
    #[command(flatten)]
    option: TableOption,
    /// Search even where a table could answer
    #[arg(long)]
    search: bool,
    /// Find the outcome without the score, which is faster
    #[arg(long)]
    outcome_only: bool,
    /// Find the value of each move
    #[arg(long)]
    all_moves: bool,
    /// Rule for empty squares in final scores (Othello) [default: uncounted]
    #[arg(long, value_name = "RULE", value_parser = PossibleValuesParser::new(["uncounted", "to-winner"])
        .map(|name| Empties::named(&name).unwrap_or_default()))]
    empties: Option<Empties>,
    /// Time limit for a position; past it the answer is proven bounds
    #[arg(long, value_name = "SECONDS")]
    time: Option<Seconds>,
    /// Limit of searched positions; past it the answer is proven bounds
    #[arg(long, value_name = "N")]
    nodes: Option<u64>,
    /// File of 'solver train evaluation' that orders moves, or 'none' [default: built in]
    ///
    /// Scores do not depend on it.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    evaluation: Option<PathBuf>,
    /// Memory of the search (2G) [default: 1G; 16M for mates]
    #[arg(long, value_name = "BYTES")]
    memory: Option<Memory>,
    /// Take --memory even if the machine has less
    #[arg(long, hide_short_help = true)]
    force: bool,
    #[command(flatten)]
    wins: WinPlies,
    #[command(flatten)]
    form: FormOption,
}

/// Plies within which wins with every move are looked for by default: more than in lists of positions.
const WIN_PLIES: u32 = 9;

/// Method and answer.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output<'a> {
    /// `table`, `search`, `stored` (the solution of 6×6 that is part of the program, and search below it) or `rules`
    /// (the game is over).
    by: &'static str,
    /// Positions that the search looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<u64>,
    /// Seconds that the search took.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    /// Rule for empty squares, in games with scores: `uncounted` or `to-winner`.
    #[serde(skip_serializing_if = "Option::is_none")]
    empties: Option<&'static str>,
    #[serde(flatten)]
    answer: &'a Answer,
}

/// Extensions of files of games.
const GAME_FILES: [&str; 8] = ["txt", "ggf", "sgf", "pgn", "wtb", "kif", "kifu", "csa"];

/// Positions to solve.
enum Question {
    /// A position of a game.
    Position(AnyPosition),
    /// The last positions of the games of a file, and its name in messages.
    Games(String, Records),
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let mut words: Vec<String> = args.first.iter().chain(&args.position).cloned().collect();
    let (game, table) = subject(&args, &mut words, context)?;
    let text = words.join(" ");
    let (game, question) = question(game, &args.form.asked(&text), args.form, context)?;
    if args.empties.is_some() && !game.has_scores() {
        return Err(Error::from(format!(
            "--empties does not apply to {}: it has no scores",
            game.name()
        )));
    }
    if args.outcome_only && !game.is_layered() {
        return Err(Error::from(format!("--outcome-only does not apply to {}", game.name())));
    }
    let is_named = table.is_some();
    let mut empties = args.empties.unwrap_or_default();
    if let Some(table) = &table {
        let (name, rule) = (table.table().name(), table.values().empties());
        let is_other = args.empties.is_some_and(|asked| asked != rule);
        if args.search || is_other {
            let option = if args.search { "--search" } else { "--empties" };
            let what = format!("{option} does not apply to the table {name}");
            return Err(Error::new(what, format!("name the game, {}, instead", game.name())));
        }
        empties = rule;
    }
    let tables = match table {
        Some(table) => vec![table],
        None => args.tables(&*game, &question, context)?,
    };
    let search = args.searcher(&*game, empties)?;
    let reach = if is_named { Reach::Outside } else { Reach::All };
    let sources = Sources::new(&*game, tables, search, reach);
    let task = Task { args: &args, sources, is_named };
    match question {
        Question::Position(position) => task.one(position, context),
        Question::Games(name, records) => task.games(&name, &records, context),
    }
}

/// Game and table that words name.
type Subject = (Option<Arc<dyn Rules>>, Option<SolvedTable>);

/// Returns the game and the table, if the words name them; takes their word from `words`.
fn subject(args: &Args, words: &mut Vec<String>, context: &Context) -> Result<Subject, Error> {
    let Some(word) = args.option.table.as_ref().or(words.first()).cloned() else {
        return Ok((Some(context.games.named(&context.games.default_name())?), None));
    };
    let meant = match context.games.meant(&word) {
        Ok(game) => Meant::Game(game),
        Err(_) if args.option.table.is_some() || context.store.has(&word) => {
            Meant::of(&word, context)?
        }
        Err(_) => return Ok((None, None)),
    };
    if args.option.table.is_none() {
        words.remove(0);
    }
    Ok(match meant {
        Meant::Game(game) => (Some(game), None),
        Meant::Table(table) => {
            let table = context.solved(table.for_few_rows(), false)?;
            (Some(table.game().shared()), Some(table))
        }
    })
}

/// Returns the position or the lines of a text, and their game.
fn question(
    game: Option<Arc<dyn Rules>>,
    text: &str,
    form: FormOption,
    context: &Context,
) -> Result<(Arc<dyn Rules>, Question), Error> {
    if text == "-" || Path::new(text).is_file() {
        let file = GameFile::open(Path::new(text))?;
        let game = game.map_or_else(|| game_of_file(&file, form, "solver solve", context), Ok)?;
        let records = form.read(&file, &*game, None, context)?;
        if let Some((place, error)) = records.errors.first() {
            return Err(error.clone().map(|what| format!("{}, {place}: {what}", file.name)));
        }
        if records.games.is_empty() {
            return Err(Error::new(format!("no position in {}", file.name), "write one per line"));
        }
        if records.form != Form::Lines {
            context.remark(format!("{}: the last position of each game is solved", file.name));
        }
        return Ok((game, Question::Games(file.name, records)));
    }
    let extension = Path::new(text).extension().and_then(|extension| extension.to_str());
    if extension.is_some_and(|extension| GAME_FILES.contains(&extension)) {
        return Err(format!("no file {text}").into());
    }
    let game = game.map_or_else(|| game_of(text, context), Ok)?;
    let start = game.start();
    let position = if text.is_empty() { start } else { game.parse_position(text, &start)? };
    Ok((game, Question::Position(position)))
}

/// Returns the only game that reads a file; `command` is the one that would name the game.
pub(super) fn game_of_file(
    file: &GameFile,
    form: FormOption,
    command: &str,
    context: &Context,
) -> Result<Arc<dyn Rules>, Error> {
    let text = String::from_utf8_lossy(&file.bytes);
    let mut lines = text.lines().filter(|line| !forms::without_remark(line).is_empty());
    let named = format!("name it: '{command} 8x8 FILE'");
    if forms::recognise(&text) == Form::Lines && !forms::is_wthor(&file.bytes) {
        let Some(line) = lines.next() else {
            return Err(Error::new(
                format!("{} has no line to read", file.name),
                "write games or positions",
            ));
        };
        let game = game_of(&form.asked(line), context);
        return game
            .map_err(|error| error.map(|what| format!("{}: {what}", file.name)).with_hint(named));
    }
    let reads = |game: &Arc<dyn Rules>| {
        let records = form.read_silently(file, &**game);
        records.is_ok_and(|records| records.errors.is_empty() && !records.games.is_empty())
    };
    let name = &file.name;
    let mut games: Vec<_> = context.games.all().into_iter().filter(reads).collect();
    match games.len() {
        1 => Ok(games.remove(0)),
        _ => Err(Error::new(format!("{name}: its game is not named"), named)),
    }
}

/// Returns the only game in which a text is a position.
pub(super) fn game_of(text: &str, context: &Context) -> Result<Arc<dyn Rules>, Error> {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let fits = |game: &Arc<dyn Rules>| game.parse_position(text, &game.start()).is_ok();
    let mut found: Vec<Arc<dyn Rules>> = context.games.all().into_iter().filter(fits).collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => {
            let word = line.split_whitespace().next().unwrap_or_default();
            let what = format!("invalid `{line}`: expected a game, size, table or position");
            Err(unknown_table(word, context).map(|_| what))
        }
        count => {
            let names: Vec<String> = found.iter().take(3).map(|game| game.name()).collect();
            Err(Error::new(
                format!("`{line}` fits {count} games, among them {}", names.join(", ")),
                "name the game before it: 'solver solve 6x6 f5'",
            ))
        }
    }
}

/// Solver of positions.
struct Task<'a> {
    args: &'a Args,
    sources: Sources,
    /// `true` if a table was named, which then answers alone.
    is_named: bool,
}

impl Task<'_> {
    /// Solves a position.
    fn solve(&self, position: AnyPosition) -> Result<(Source<'_>, Answer), Error> {
        let source = self.sources.source(&position);
        let value = source.oracle().known_value(&position);
        let is_table = matches!(source, Source::Table(_));
        let is_open = value.is_none_or(|value| is_table && value.outcome().is_none());
        if is_open && !self.is_named {
            let name = self.sources.game().name();
            return Err(Error::new(
                format!("cannot search {name} to its ends: its games may be infinite"),
                format!("run 'solver enumerate --game {name}' and 'solver value-iterate'"),
            ));
        }
        Ok((source, source.oracle().answer(position)?))
    }

    /// Solves one position and shows the answer.
    fn one(self, position: AnyPosition, context: &mut Context) -> Result<(), Error> {
        let colour = context.colour;
        let (source, answer) = self.solve(position)?;
        context.show("solve", &Output::of(source, &answer), |output| {
            let all_moves = self.args.all_moves || !matches!(source, Source::Search(_));
            let shown = Shown { answer: output.answer, oracle: source.oracle(), all_moves };
            shown.to_text(colour)
                + &match source {
                    Source::Table(table) => format!("\nBy table: {}\n", table.table().name()),
                    Source::Search(search) => search_text(search),
                    Source::Rules(_) => "\nBy the rules alone\n".to_string(),
                }
        })
    }

    /// Solves the last position of each game and writes a line for each.
    fn games(self, name: &str, records: &Records, context: &mut Context) -> Result<(), Error> {
        for (place, position) in records.positions(true) {
            let located = |error: Error| error.map(|what| format!("{name}, {place}: {what}"));
            let solved = self.solve(position).map_err(located)?;
            let output = Output::of(solved.0, &solved.1);
            context.raw(&self.line(&output, context)?)?;
            context.flush()?;
        }
        Ok(())
    }

    /// Returns the answer as a line: JSON, or the value, the best move and the position.
    fn line(&self, output: &Output, context: &Context) -> Result<String, Error> {
        if context.json {
            return Ok(serde_json::to_string(output)? + "\n");
        }
        let answer = output.answer;
        let value = answer.value.value;
        let value = match (value.score(), value.distance()) {
            (Some(score), _) if output.empties.is_some() && !self.args.outcome_only => {
                score.to_string()
            }
            (_, Some(plies)) if output.empties.is_none() => {
                format!("{} {plies}", outcome_cell(value))
            }
            _ => outcome_cell(value).to_string(),
        };
        let best = answer.moves.iter().find(|m| m.best).map_or("-", |m| m.name.as_str());
        Ok(format!("{value}\t{best}\t{}\n", answer.position))
    }
}

impl Args {
    /// The weights by which moves are ordered.
    fn weights(&self, game: &dyn Rules) -> Result<SearchWeights, Error> {
        let Some(file) = &self.evaluation else { return Ok(SearchWeights::BuiltIn) };
        if file.as_os_str() == "none" {
            return Ok(SearchWeights::Plain);
        }
        let wrong = |what: String| Error::from(format!("--evaluation {}: {what}", file.display()));
        let bytes = yomikiri::input::file(file, 1 << 24);
        let bytes = bytes.map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let evaluation = Evaluation::read(&bytes).map_err(wrong)?;
        if evaluation.shape() != game.shape() || !game.name().starts_with("othello-") {
            let (rows, columns) = evaluation.shape();
            return Err(wrong(format!(
                "made for othello-{rows}x{columns}, not for {}",
                game.name()
            )));
        }
        Ok(SearchWeights::File(bytes.into()))
    }

    /// Returns the solved tables of a game by the convention asked for; the whole table is made if that is quick. None
    /// if the options ask for a search.
    fn tables(
        &self,
        game: &dyn Rules,
        question: &Question,
        context: &Context,
    ) -> Result<Vec<SolvedTable>, Error> {
        if self.search || self.wins.is_given() {
            return Ok(Vec::new());
        }
        let rule = self.empties.unwrap_or_default();
        let mut tables = solved_tables(context, |table| {
            let Manifest { identity, solution, .. } = table.manifest();
            let empties = solution.as_ref().and_then(|solution| solution.empties.as_deref());
            identity.game == game.name() && empties.is_none_or(|name| name == rule.name())
        });
        let start = game.start();
        let has_start = || match question {
            Question::Position(position) => *position == start,
            Question::Games(_, records) => records.positions(true).any(|(_, at)| at == start),
        };
        let is_known = tables
            .iter()
            .any(|table| table.value_of(&start).is_some_and(|value| table.is_proven(value)));
        let is_limited = self.time.is_some() || self.nodes.is_some();
        let is_missing = rule == Empties::Uncounted && !is_limited && !is_known;
        if is_missing && is_in_reach(game, context) && has_start() {
            tables.push(ensure_solved(game, None, false, context)?);
        }
        Ok(tables)
    }

    /// Returns the oracle that searches a game; `None` if it cannot be searched.
    fn searcher(&self, game: &dyn Rules, empties: Empties) -> Result<Option<SearchOracle>, Error> {
        let memory = self.memory.map_or(usual_memory(game, 1 << 30), |memory| memory.0 as usize);
        let threads = rayon::current_num_threads();
        let weights = self.weights(game)?;
        // With --search the stored solution is not used.
        let win_plies = self.wins.plies(game, WIN_PLIES)?;
        let stored = !self.search;
        let options = SearchOptions { empties, memory, threads, weights, stored, win_plies };
        let time = self.time.map(|Seconds(time)| time);
        let budget = Budget { time, nodes: self.nodes };
        let wanted = WantedValues { outcome_only: self.outcome_only, all_moves: self.all_moves };
        Ok(SearchOracle::new(game.shared(), &options, budget, wanted))
    }
}

impl<'a> Output<'a> {
    fn of(source: Source<'_>, answer: &'a Answer) -> Output<'a> {
        let oracle = source.oracle();
        let search = match source {
            Source::Search(search) => Some(search),
            Source::Table(_) | Source::Rules(_) => None,
        };
        let by = match source {
            Source::Table(_) => "table",
            Source::Search(search) if search.was_stored() => "stored",
            Source::Search(_) => "search",
            Source::Rules(_) => "rules",
        };
        let spent = search.map(SearchOracle::spent);
        Output {
            by,
            nodes: spent.map(|(nodes, _)| nodes),
            seconds: spent.map(|(_, time)| time.as_secs_f64()),
            empties: oracle.has_scores().then(|| oracle.empties().name()),
            answer,
        }
    }
}
