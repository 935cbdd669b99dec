//! `solver review`: what each move of a game cost, and what was better.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::builder::RangedU64ValueParser;

use super::complete::games;
use super::context::{Context, command_line};
use super::ensure_solved::ensure_solved;
use super::error::{code, say};
use super::lines::{FormOption, GameFile};
use super::output;
use super::position_options::solved_if_there;
use super::report::day;
use super::signals;
use super::sizes::Seconds;
use super::solve::game_of_file;
use super::table_args::{Meant, WinPlies, is_in_reach};
use crate::PORT;
use yomikiri::error::{Error, Kind};
use yomikiri::oracle::SolvedTable;
use yomikiri::output::is_same;
use yomikiri::rules::{Rules, WIN_PLIES};
use yomikiri::search::can_search;
use yomikiri_measure::judge::{Review, ReviewOptions};
use yomikiri_measure::records::Records;
use yomikiri_measure::render::number::{seconds, thousands};
use yomikiri_measure::render::{About, ReviewParts, review_html, review_rows, review_text};

/// Review games: what each move cost, and what was better
///
/// Each move is judged where its value and that of its position are proven: by the table of the game, by the stored
/// solution of 6x6, or by a search that begins at the end of a game and goes back as far as --time allows (8x8: about the
/// last 23 moves in a minute). Other moves are left out, and their number is printed. Figures have the names and meanings of
/// 'solver report'. Values that a search found are kept and used again. Ctrl-C shows what there is by then.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Game, size (8x8) or table, and a file of games in any form; '-' is stdin
    ///
    /// The game can be left out where the file names it, or where only one game reads it.
    #[arg(value_name = "[GAME] FILE", num_args = 1..=2, required = true, add = games())]
    words: Vec<String>,
    /// Longest search for a game [default: 60]
    #[arg(long, value_name = "SECONDS")]
    time: Option<Seconds>,
    /// Show the N costliest mistakes of all games
    #[arg(long, value_name = "N", default_value_t = 10,
        value_parser = RangedU64ValueParser::<usize>::new().range(..=1000))]
    worst: usize,
    /// Show the figures of players alone
    #[arg(long, conflicts_with = "full")]
    players: bool,
    /// Show the moves of every game, also where there are several
    #[arg(long)]
    full: bool,
    /// Write the review as a page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write a line for each move as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    wins: WinPlies,
    #[command(flatten)]
    form: FormOption,
}

/// Longest search for a game by default.
const TIME: Duration = Duration::from_secs(60);
/// Seconds of a search for all games above which its longest time is printed before it starts.
const LONG: f64 = 120.0;

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let outputs: Vec<&Path> =
        [&args.html, &args.csv].into_iter().flatten().map(|path| &**path).collect();
    outputs.iter().try_for_each(|path| output::check(path))?;
    let (file_name, word) = match &args.words[..] {
        [word, file] => (file, Some(word)),
        [file, ..] => (file, None),
        [] => return Err(Error::from("no file of games".to_string())),
    };
    for (at, path) in outputs.iter().enumerate() {
        let others = outputs[..at].iter().copied().chain([Path::new(file_name)]);
        if others.into_iter().any(|other| is_same(path, other)) {
            let what = format!("{} appears twice", path.display());
            return Err(Error::new(what, "give each output a file of its own"));
        }
    }
    if word.is_none() && context.games.meant(file_name).is_ok() && !Path::new(file_name).exists() {
        return Err(Error::new(format!("{file_name} is a game"), "add a file of games"));
    }
    let file = GameFile::open(Path::new(file_name))?;
    let (game, table) = subject(word, &file, args.form, context)?;
    let records = records(&file, args.form, &*game, table.as_ref(), context)?;
    let time = args.time.map_or(TIME, |Seconds(time)| time);
    let is_searched =
        can_search(&*game) && table.as_ref().is_none_or(|table| !table.table().manifest().complete);
    let longest = time.as_secs_f64() * records.games.len() as f64;
    if is_searched && longest > LONG {
        let (games, each) = (thousands(records.games.len() as u64), seconds(time.as_secs_f64()));
        context.remark(format!(
            "{games} games, each searched for at most {each} (--time): at most {} unless they were searched before; Ctrl-C shows what there is by then",
            seconds(longest)
        ));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    signals::at_the_first(move || flag.store(true, Ordering::Relaxed))
        .map_err(|error| Error::from(format!("cannot handle signals: {error}")))?;
    let labels = context.store.root().join("labels");
    let options = ReviewOptions {
        labels: &labels,
        time: Some(time),
        win_plies: args.wins.plies(&*game, WIN_PLIES)?,
        worst: args.worst,
        lines: true,
        stop: &stop,
    };
    let review = Review::of(&records.games, &*game, table.as_ref(), &options, &context.bars)?;
    write_files(&args, &review, table.as_ref(), &file, context)?;
    let parts = ReviewParts { all_moves: args.full, players_only: args.players };
    context.show("review", &review, |review| review_text(review, parts))?;
    if stop.load(Ordering::Relaxed) {
        context.flush()?;
        let what = "ended by Ctrl-C: games not searched by then show what was known of them";
        let hint = "run the same command again to go on from there";
        say(Kind::Interrupted, what, Some(hint), context.json);
        context.code = code(Kind::Interrupted).into();
    }
    Ok(())
}

/// Returns the game and the table that knows values, if there is one.
fn subject(
    word: Option<&String>,
    file: &GameFile,
    form: FormOption,
    context: &Context,
) -> Result<(Arc<dyn Rules>, Option<SolvedTable>), Error> {
    let game = match word {
        Some(word) => match Meant::of(word, context)? {
            Meant::Game(game) => game,
            Meant::Table(table) => {
                let table = context.solved(table.for_few_rows(), false)?;
                return Ok((table.game().shared(), Some(table)));
            }
        },
        None => game_of_file(file, form, "solver review", context)?,
    };
    let table = match is_in_reach(&*game, context) {
        true => Some(ensure_solved(&*game, None, false, context)?),
        false => solved_if_there(&*game, None, context)?,
    };
    Ok((game, table))
}

/// Reads the games of a file; fails at the first that cannot be read, and if there are none.
fn records(
    file: &GameFile,
    form: FormOption,
    game: &dyn Rules,
    table: Option<&SolvedTable>,
    context: &Context,
) -> Result<Records, Error> {
    let records = form.read(file, game, table, context)?;
    if let Some((place, error)) = records.errors.first() {
        let located = error.clone().map(|what| format!("{}, {place}: {what}", file.name));
        return Err(located.with_hint("correct it or leave it out"));
    }
    let moves: usize = records.games.iter().map(|record| record.played.moves().len()).sum();
    if moves == 0 {
        let what = format!("no moves in {}", file.name);
        return Err(Error::new(what, "give games; 'solver query' answers for a position"));
    }
    if !can_search(game) && table.is_none() {
        let name = game.name();
        let what = format!("{name} has no solved table and cannot be searched");
        return Err(Error::new(what, format!("solve it with 'solver solve {name}'")));
    }
    Ok(records)
}

fn write_files(
    args: &Args,
    review: &Review,
    table: Option<&SolvedTable>,
    file: &GameFile,
    context: &Context,
) -> Result<(), Error> {
    if let Some(path) = &args.csv {
        output::write(path, review_rows(review)?.as_bytes())?;
        context.remark(format!("{}: written", path.display()));
    }
    if let Some(path) = &args.html {
        let about = About {
            command: command_line(),
            date: day()?,
            checksum: table
                .map_or(String::new(), |table| table.table().manifest().checksum.clone()),
            highlight: None,
            server: table.map_or(String::new(), |table| {
                format!("http://localhost:{PORT}/#{}", table.table().name())
            }),
        };
        let name = Path::new(&file.name)
            .file_name()
            .map_or(&*file.name, |name| name.to_str().unwrap_or(&file.name));
        output::write(path, review_html(review, name, &about).as_bytes())?;
        context.remark(format!("{}: written", path.display()));
    }
    Ok(())
}
