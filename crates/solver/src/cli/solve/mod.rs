//! `solver solve`: the value of a game or a position, by a table or by search.

pub(super) mod mates;

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::answer_text::{Shown, search_text};
use super::complete::tables;
use super::context::Context;
use super::guard::MemoryArg;
use super::lines;
use super::made::solved;
use super::table_args::{Meant, TableOption, is_in_reach, time_limit, unknown_table};
use mates::{MateArgs, Mates};
use yomikiri::any::{AnyGame, AnyPosition};
use yomikiri::game::othello::search::Evaluation;
use yomikiri::game::{Empties, Game, GameExt, SearchOptions, SearchWeights};
use yomikiri::hint::Hinted;
use yomikiri::search::mates::MateRules;
use yomikiri::solve::Value;
use yomikiri::solved::{Answer, Budget, Oracle, SearchOracle, SolvedTable, WantedValues};
use yomikiri::table::Table;

/// Solve a game, a size, a table or a position
///
/// A solved table that contains the position answers. A game whose table takes at most about two minutes is enumerated
/// and solved. Everything else is searched; if a limit stops the search, the answer is proven bounds. Shogi is
/// searched for a mate by checks, or with --full-width for a forced win of few plies. The last line names the method.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Game, size (6x6) or table; any other word begins the position
    #[arg(value_name = "WHAT", allow_hyphen_values = true, add = tables())]
    first: Option<String>,
    /// Board, OBF line, SFEN or transcript; or a file of positions, '-' for stdin [default: the start]
    #[arg(value_name = "POSITION", allow_hyphen_values = true)]
    second: Option<String>,
    /// Rest of a position that is not quoted
    #[arg(hide = true)]
    rest: Vec<String>,
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
    time: Option<f64>,
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
    memory: Option<MemoryArg>,
    #[command(flatten)]
    mates: MateArgs,
}

/// Method and answer.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output<'a> {
    /// `table`, `search`, or `stored`: by the solution of 6×6 that is part of the program, and search below it.
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

/// Positions to solve.
enum Question {
    /// A position of a game.
    Position(AnyPosition),
    /// The positions of a text, one per line.
    Lines(String),
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<()> {
    let mut words: Vec<String> =
        args.first.iter().chain(&args.second).chain(&args.rest).cloned().collect();
    let (game, table) = subject(&args, &mut words, context)?;
    let text = words.join(" ");
    let (game, question) = question(game, &text, context)?;
    let empties = args.empties.unwrap_or_default();
    if args.empties.is_some() && game.scores().is_none() {
        bail!(Hinted::from(format!(
            "--empties does not apply to {}: it has no scores",
            game.name()
        )));
    }
    args.mates.check(&game)?;
    let task = Task { args: &args, empties, table };
    match question {
        Question::Position(position) => task.one(&game, position, context),
        Question::Lines(text) => task.lines(&game, &text, context),
    }
}

/// Returns the game and the table, if the words name them; takes their word from `words`.
fn subject(
    args: &Args,
    words: &mut Vec<String>,
    context: &Context,
) -> anyhow::Result<(Option<AnyGame>, Option<SolvedTable>)> {
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
            (Some(table.game().clone()), Some(table))
        }
    })
}

/// Returns the position or the lines of a text, and their game.
fn question(
    game: Option<AnyGame>,
    text: &str,
    context: &Context,
) -> anyhow::Result<(AnyGame, Question)> {
    let is_file = text == "-" || Path::new(text).is_file();
    let lines = is_file.then(|| lines::read(&PathBuf::from(text))).transpose()?;
    let game = match game {
        Some(game) => game,
        None => game_of(lines.as_deref().unwrap_or(text), context)?,
    };
    if let Some(lines) = lines {
        return Ok((game, Question::Lines(lines)));
    }
    let start = game.start();
    let position = if text.is_empty() { start } else { game.parse_position(text, &start)? };
    Ok((game, Question::Position(position)))
}

/// Returns the only game in which the first line of a text is a position.
pub(super) fn game_of(text: &str, context: &Context) -> anyhow::Result<AnyGame> {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let fits = |game: &AnyGame| game.parse_position(line, &game.start()).is_ok();
    let mut found: Vec<AnyGame> = context.games.all().into_iter().filter(fits).collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => {
            let word = line.split_whitespace().next().unwrap_or_default();
            let what = format!("invalid `{line}`: expected a game, size, table or position");
            bail!(unknown_table(word, context).map(|_| what))
        }
        count => {
            let names: Vec<String> = found.iter().take(3).map(Game::name).collect();
            bail!(Hinted::new(
                format!("`{line}` fits {count} games, among them {}", names.join(", ")),
                "name the game before it: 'solver solve 6x6 f5'",
            ))
        }
    }
}

/// Solver of positions.
struct Task<'a> {
    args: &'a Args,
    empties: Empties,
    table: Option<SolvedTable>,
}

/// Source of the answers for the positions of a text.
enum By<'a> {
    Table(&'a SolvedTable),
    Search(SearchOracle),
    Mates(Mates<'a>),
}

impl Task<'_> {
    /// Solves one position and shows the answer.
    fn one(
        self,
        game: &AnyGame,
        position: AnyPosition,
        context: &mut Context,
    ) -> anyhow::Result<()> {
        let table = match self.table {
            Some(_) => self.table,
            None if self.args.search => None,
            None => self.table_with(game, &position, context)?,
        };
        let colour = context.colour;
        if let Some(table) = table {
            let answer = table.answer(position)?;
            let output = Output::by_table(&table, &answer);
            return context.show("solve", &output, |output| {
                let shown = Shown { answer: output.answer, oracle: &table, all_moves: true };
                format!("{}\nBy table: {}\n", shown.to_text(colour), table.table().name())
            });
        }
        if let Some(rules) = MateRules::of_game(game) {
            return Mates::new(game, &rules, self.args)?.show(&position, context);
        }
        let oracle = self.args.oracle(game, self.empties)?;
        let answer = oracle.answer(position)?;
        let output = Output::by_search(&oracle, &answer);
        context.show("solve", &output, |output| {
            let shown =
                Shown { answer: output.answer, oracle: &oracle, all_moves: self.args.all_moves };
            shown.to_text(colour) + &search_text(&oracle)
        })
    }

    /// Solves the position of each line and writes a line for each.
    fn lines(self, game: &AnyGame, text: &str, context: &mut Context) -> anyhow::Result<()> {
        let rules = MateRules::of_game(game);
        let by = match (&self.table, &rules) {
            (Some(table), _) => By::Table(table),
            (None, Some(rules)) => By::Mates(Mates::new(game, rules, self.args)?),
            (None, None) => By::Search(self.args.oracle(game, self.empties)?),
        };
        let start = game.start();
        for (number, line) in lines::of_positions(text) {
            let position = game.parse_position(line, &start);
            let position =
                position.map_err(|error| Hinted::from(format!("line {number}: {error}")))?;
            let line = match &by {
                By::Table(table) => {
                    let answer = table.answer(position)?;
                    self.line(&Output::by_table(table, &answer), context)?
                }
                By::Search(oracle) => {
                    oracle.restart();
                    let answer = oracle.answer(position)?;
                    self.line(&Output::by_search(oracle, &answer), context)?
                }
                By::Mates(mates) => {
                    let found = mates.find(&position);
                    match context.json {
                        true => serde_json::to_string(&found)? + "\n",
                        false => found.row(),
                    }
                }
            };
            context.raw(&line)?;
            context.flush()?;
        }
        Ok(())
    }

    /// The answer in a line: JSON, or the value, the best move and the position.
    fn line(&self, output: &Output, context: &Context) -> anyhow::Result<String> {
        if context.json {
            return Ok(serde_json::to_string(output)? + "\n");
        }
        let answer = output.answer;
        let value = answer.value.value;
        let value = match value.score() {
            Some(score) if !self.args.outcome_only => score.to_string(),
            _ => yomikiri_measure::render::verdict::outcome_cell(value).to_string(),
        };
        let best = answer.moves.iter().find(|m| m.best).map_or("-", |m| m.name.as_str());
        Ok(format!("{value}\t{best}\t{}\n", answer.position))
    }

    /// The solved table that proves the value of a position, built where that is quick; `None` where the
    /// position is to be searched.
    fn table_with(
        &self,
        game: &AnyGame,
        position: &AnyPosition,
        context: &Context,
    ) -> anyhow::Result<Option<SolvedTable>> {
        for name in context.store.names() {
            // 'solver list' and 'solver verify' report tables that cannot be opened.
            let Ok(table) = context.store.open(&name) else { continue };
            if !self.fits(&table, game) {
                continue;
            }
            let Ok(table) = context.solved(table.for_few_rows(), false) else { continue };
            let is_proven = |value: Value| match table.has_scores() {
                true => value.score().is_some(),
                false => value.outcome().is_some(),
            };
            // The search may find what a bounded table leaves open.
            if table.value_of(position).is_some_and(is_proven) {
                return Ok(Some(table));
            }
        }
        let is_limited = self.args.time.is_some() || self.args.nodes.is_some();
        let is_whole = *position == game.start() && self.empties == Empties::Uncounted;
        if is_limited || !is_whole || !is_in_reach(game, context) {
            return Ok(None);
        }
        solved(game, None, false, context).map(Some)
    }

    /// Returns whether a table is of this game, solved by this convention.
    fn fits(&self, table: &Table, game: &AnyGame) -> bool {
        let manifest = table.manifest();
        let empties = manifest.solution.as_ref().map(|solution| solution.empties.as_deref());
        manifest.identity.game == game.name()
            && empties.is_some_and(|empties| empties.is_none_or(|name| name == self.empties.name()))
    }
}

impl Args {
    /// The weights by which moves are ordered.
    fn weights(&self, game: &AnyGame) -> anyhow::Result<SearchWeights> {
        let Some(file) = &self.evaluation else { return Ok(SearchWeights::BuiltIn) };
        if file.as_os_str() == "none" {
            return Ok(SearchWeights::Plain);
        }
        let wrong = |what: String| Hinted::from(format!("--evaluation {}: {what}", file.display()));
        let bytes = yomikiri::input::file(file, 1 << 24);
        let bytes = bytes.map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let evaluation = Evaluation::read(&bytes).map_err(wrong)?;
        if evaluation.shape() != game.shape() || !game.name().starts_with("othello-") {
            let (rows, columns) = evaluation.shape();
            return Err(wrong(format!(
                "made for othello-{rows}x{columns}, not for {}",
                game.name()
            ))
            .into());
        }
        Ok(SearchWeights::File(bytes.into()))
    }

    /// The oracle that searches a game.
    fn oracle(&self, game: &AnyGame, empties: Empties) -> anyhow::Result<SearchOracle> {
        let memory = self.memory.map_or(1 << 30, |memory| memory.0 as usize);
        let threads = rayon::current_num_threads();
        let weights = self.weights(game)?;
        // With --search the stored solution is not used.
        let options = SearchOptions { empties, memory, threads, weights, stored: !self.search };
        let time = self.time.map(|time| time_limit("--time", time)).transpose()?;
        let budget = Budget { time, nodes: self.nodes };
        let wanted = WantedValues { outcome_only: self.outcome_only, all_moves: self.all_moves };
        let oracle = SearchOracle::new(game.clone(), &options, budget, wanted);
        Ok(oracle.ok_or_else(|| {
            let name = game.name();
            Hinted::new(
                format!("cannot search {name} to its ends: its games may be infinite"),
                format!("run 'solver enumerate --game {name}' and 'solver value-iterate'"),
            )
        })?)
    }
}

impl<'a> Output<'a> {
    fn by_table(table: &SolvedTable, answer: &'a Answer) -> Output<'a> {
        let solution = table.table().manifest().solution.as_ref();
        let empties = solution.and_then(|solution| solution.empties.as_deref());
        let empties = empties.and_then(Empties::named).map(Empties::name);
        Output { by: "table", nodes: None, seconds: None, empties, answer }
    }

    fn by_search(oracle: &SearchOracle, answer: &'a Answer) -> Output<'a> {
        let (nodes, time) = oracle.spent();
        let empties = oracle.game().scores().map(|_| oracle.empties().name());
        Output {
            by: if oracle.was_stored() { "stored" } else { "search" },
            nodes: Some(nodes),
            seconds: Some(time.as_secs_f64()),
            empties,
            answer,
        }
    }
}
