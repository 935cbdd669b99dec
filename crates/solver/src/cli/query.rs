//! `solver query`: the value of a position by a table, or by search.

use std::io::{self, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::answer_text::{Shown, search_text};
use super::complete::tables;
use super::context::Context;
use super::lines::{FormOption, GameFile, form_parser, next_line};
use super::lookup_tables::{containing, solved_tables};
use super::solve::game_of;
use super::table_args::{
    Meant, TableOption, is_searched, missing, near_table, open_latest, open_whole, unknown_table,
};
use yomikiri::error::Error;
use yomikiri::oracle::{Oracle, Reach, SearchOracle, SolvedTable, Source, Sources};
use yomikiri::progress::Silent;
use yomikiri::rules::forms::Form;
use yomikiri::rules::{AnyPosition, Empties, Rules, write_game};
use yomikiri::table::Table;
use yomikiri_measure::records::Records;

/// Show the value of a position and of each of its moves
///
/// Without a position, the first root of the table is shown: the start, if the whole game was enumerated. Without a
/// table, the position is looked up in all solved tables: one that proves it exactly answers, else a complete one,
/// else the first by name. Without both, the root of the table enumerated last is shown. Text that fits several games,
/// such as 'start' or a transcript, is read in the game of that table. A position of Othello or minishogi that no
/// table contains is searched for at most 10 s, and one that a table does not prove if that usually suffices (at most 36
/// squares, or 20 empty ones); the last line then reports the search.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Table, game or size (8x8); any other word begins the position
    #[arg(value_name = "TABLE", allow_hyphen_values = true, add = tables())]
    first: Option<String>,
    /// Board, SFEN, OBF line, digits, transcript, 'start', or '-' to read it from stdin
    #[arg(value_name = "POSITION", allow_hyphen_values = true)]
    position: Vec<String>,
    #[command(flatten)]
    option: TableOption,
    /// Read the parts that several processes have written, instead of a table; repeat it for each host
    #[cfg(feature = "cluster")]
    #[arg(long, value_name = "DIR", hide_short_help = true, conflicts_with = "table")]
    parts: Vec<std::path::PathBuf>,
    /// Draw the board with the Japanese names of the pieces (shogi)
    #[arg(long)]
    japanese: bool,
    /// Answer each position on stdin, one per line as text or JSON, with a line of JSON
    #[arg(long, conflicts_with_all = ["japanese", "position"])]
    batch: bool,
    /// Print the game that leads to the position instead: lines, ggf, sgf or kif
    #[arg(long = "as", value_name = "FORM", value_parser = form_parser(&WRITTEN), ignore_case = true,
        hide_possible_values = true, conflicts_with = "batch")]
    written_as: Option<Form>,
    #[command(flatten)]
    form: FormOption,
}

/// Forms in which games are written.
const WRITTEN: [Form; 4] = [Form::Lines, Form::Ggf, Form::Sgf, Form::Kif];
/// Longest search for a position that no table proves.
const TIME: Duration = Duration::from_secs(10);

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let first = args.first.unwrap_or_default();
    #[cfg(feature = "cluster")]
    if !args.parts.is_empty() {
        let parts = super::cluster::in_place(&args.parts, context)?;
        if args.batch {
            return batch(&|line| parts.answer_line(line), context);
        }
        let mut text = std::iter::once(first).chain(args.position).collect::<Vec<_>>().join(" ");
        if text == "-" {
            text = GameFile::open(Path::new("-"))?.text()?;
        }
        return show(&parts, None, parts.parse(&text)?, args.japanese, context);
    }
    let option = args.option.table.as_deref();
    let is_name = |word: &&str| context.store.has(word) || context.games.meant(word).is_ok();
    let word = Some(&first[..]).filter(|word| option.is_none() && is_name(word));
    let rest = word.is_none().then_some(first.clone()).into_iter();
    let words: Vec<String> = rest.chain(args.position).collect();
    let mut text = words.join(" ");
    let meant = option.or(word).map(|word| Meant::of(word, context)).transpose()?;
    // Where the table of a game is missing, another may contain the position.
    let (named, game) = match meant {
        None if text.is_empty() => (Some(open_latest(context)?), None),
        None => (None, None),
        Some(Meant::Table(table)) => (Some(*table), None),
        Some(Meant::Game(game)) => match missing(&*game, context) {
            Some(game) => (None, Some(game)),
            None => (Some(open_whole(&*game, context)?), None),
        },
    };
    let open = |table: Table| {
        let table = if args.batch { table } else { table.for_few_rows() };
        context.solved(table, false)
    };
    let table = named.map(open).transpose()?;
    if text == "-" {
        text = GameFile::open(Path::new("-"))?.text()?;
    }
    if args.batch {
        let sources = match (table, &game) {
            (Some(table), _) => sources_of(table.game().shared(), vec![table]),
            (None, Some(game)) => sources_of(game.clone(), tables_of(&**game, context)),
            (None, None) => {
                let hint = "--batch reads positions from stdin, and needs a table or a game";
                return Err(unknown_table(&text, context).with_hint(hint));
            }
        };
        if sources.table().is_none() && !is_searched(sources.game()) {
            open_whole(sources.game(), context)?;
        }
        return batch(&|line| sources.answer_line(line), context);
    }
    if !text.is_empty() && Path::new(&text).is_file() {
        text = GameFile::open(Path::new(&text))?.text()?;
    }
    text = args.form.asked(&text).into_owned();
    if game.is_some() && text.is_empty() {
        text = "start".to_string();
    }
    if let Some(form) = args.written_as {
        let game = match (&table, &game) {
            (Some(table), _) => table.game().shared(),
            (None, Some(game)) => game.clone(),
            (None, None) => game_of(&text, context)?,
        };
        let written = rewritten(&*game, &text, form)?;
        return context.raw(&written);
    }
    if let Some(game) = &game {
        game.parse_position(text.trim(), &game.start())?;
    }
    let is_named = table.is_some();
    let (sources, position) = match table {
        Some(table) => {
            let root = table.states().roots()?.first().copied();
            let position = match root.filter(|_| words.iter().all(String::is_empty)) {
                Some(root) => root,
                None => table.states().parse(&text)?,
            };
            (sources_of(table.game().shared(), vec![table]), position)
        }
        None => match containing(text.trim(), game.as_deref(), context) {
            Ok((tables, position)) => (sources_of(tables[0].game().shared(), tables), position),
            Err(error) => {
                let is_unnamed = game.is_none();
                let game = game.or_else(|| game_of(&text, context).ok());
                let parse = |game: &dyn Rules| game.parse_position(text.trim(), &game.start());
                let is_over = |game: &dyn Rules| {
                    parse(game).is_ok_and(|position| game.is_terminal(&position.state))
                };
                let known = game.filter(|game| is_searched(&**game) || is_over(&**game));
                let Some(game) = known else {
                    let is_name =
                        is_unnamed && words.len() == 1 && near_table(&first, context).is_some();
                    return Err(if is_name { unknown_table(&first, context) } else { error });
                };
                if !is_over(&*game) {
                    let what = "no table contains it, so it is searched";
                    context.remark(format!("{}: {what}", game.name()));
                }
                let position = parse(&*game)?;
                (sources_of(game.clone(), tables_of(&*game, context)), position)
            }
        },
    };
    let source = sources.source(&position);
    if let (Source::Table(table), false) = (source, is_named)
        && table.states().find(&position).is_some()
    {
        context.remark(format!("{}: the table that contains it", table.table().name()));
    }
    let search = match source {
        Source::Search(search) => Some(search),
        Source::Table(_) | Source::Rules(_) => None,
    };
    show(source.oracle(), search, position, args.japanese, context)
}

/// Returns the game of a text in another form.
fn rewritten(game: &dyn Rules, text: &str, form: Form) -> Result<String, Error> {
    let mut records = Records::read(text.as_bytes(), game, &game.start(), None, &Silent)?;
    if let Some((place, error)) = records.errors.into_iter().next() {
        return Err(error.map(|what| format!("{place}: {what}")));
    }
    let whole = match records.games.len() {
        1 => records.games.remove(0),
        count => return Err(format!("{count} games, expected one").into()),
    };
    let players = whole.players.each_ref().map(Option::as_deref);
    let written = write_game(game, &whole.played, players, whole.claim, form)?;
    Ok(written.trim_end().to_string() + "\n")
}

/// Shows the answer of an oracle, and the search if it is one.
fn show(
    oracle: &dyn Oracle,
    search: Option<&SearchOracle>,
    position: AnyPosition,
    is_japanese: bool,
    context: &mut Context,
) -> Result<(), Error> {
    let mut answer = oracle.answer(position)?;
    if is_japanese {
        let game = oracle.game();
        let nothing = || Error::from(format!("--japanese does not apply to {}", game.name()));
        answer.board.diagram = game.diagram_japanese(&position).ok_or_else(nothing)?;
    }
    let colour = context.colour;
    context.show("query", &answer, |answer| {
        let text = Shown { answer, oracle, all_moves: true }.to_text(colour);
        text + &search.map_or_else(String::new, search_text)
    })
}

/// Returns tables of a game, the preferred ones first, with a search by the first one's rule for empty squares.
fn sources_of(game: Arc<dyn Rules>, tables: Vec<SolvedTable>) -> Sources {
    let empties = tables.first().map_or(Empties::default(), |table| table.values().empties());
    let threads = rayon::current_num_threads();
    let search =
        is_searched(&*game).then(|| SearchOracle::beside(game.clone(), empties, threads, TIME));
    Sources::new(&*game, tables, search.flatten(), Reach::Outside)
}

/// Returns the solved tables of a game, complete ones first.
fn tables_of(game: &dyn Rules, context: &Context) -> Vec<SolvedTable> {
    let mut tables = solved_tables(context, |table| table.manifest().identity.game == game.name());
    tables.sort_by_key(|table| !table.table().manifest().complete);
    tables
}

/// Answers every line of stdin, at once where whoever writes them waits.
fn batch(answer: &dyn Fn(&str) -> Option<String>, context: &mut Context) -> Result<(), Error> {
    let mut stdin = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut line = Vec::new();
    let unread = |error| Error::from(format!("cannot read stdin: {error}"));
    while next_line(&mut stdin, &mut line).map_err(unread)? {
        if let Some(answer) = answer(&String::from_utf8_lossy(&line)) {
            context.raw(&(answer + "\n"))?;
        }
        if stdin.buffer().is_empty() {
            context.flush()?;
        }
    }
    Ok(())
}
