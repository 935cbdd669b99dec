//! The table and the policies that a command works on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::complete::{games, tables};
use super::context::Context;
use super::players;
use super::sizes::Seconds;
use yomikiri::enumerate::{Plan, within_room};
use yomikiri::error::{Error, Kind, did_you_mean};
use yomikiri::registry::turned;
use yomikiri::rules::Rules;
use yomikiri::search::can_search;
use yomikiri::search::mates::has_mates;
use yomikiri::table::Table;
use yomikiri_measure::free_memory;
use yomikiri_measure::policy::PolicySpec;

/// Option that names a table, with the names that it had; the first word of a command does the same.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct TableOption {
    /// Table, game or size: the same as the first word
    #[arg(long, value_name = "TABLE", aliases = ["game", "size"], hide = true, add = tables())]
    pub table: Option<String>,
}

/// Table or game that a word on the command line names.
pub(super) enum Meant {
    /// A table in the store, or at a path.
    Table(Box<Table>),
    /// A game, by its name or as the size of a board of Othello.
    Game(Arc<dyn Rules>),
}

impl Meant {
    /// Finds the table or the game that a word names.
    pub(super) fn of(word: &str, context: &Context) -> Result<Meant, Error> {
        if context.store.has(word) {
            return Ok(Meant::Table(context.store.open(word)?.into()));
        }
        let unknown = match context.games.meant(word) {
            Ok(game) => {
                turned(&*game).iter().for_each(|hint| context.remark(hint));
                return Ok(Meant::Game(game));
            }
            Err(unknown) => unknown,
        };
        // The error for the files there explains best why they are not a table.
        if context.store.resolve(word).exists() || word.contains('/') {
            return Ok(Meant::Table(context.store.open(word)?.into()));
        }
        let is_size = word.starts_with(|c: char| c.is_ascii_digit());
        if is_size || word.eq_ignore_ascii_case("othello") {
            return Err(unknown);
        }
        Err(unknown_table(word, context))
    }
}

/// Asks whether the table or game whose name is nearest to a word was meant; `None` where none is near.
pub(super) fn near_table(word: &str, context: &Context) -> Option<String> {
    let tables = context.store.names();
    let games: Vec<String> = context.games.all().iter().map(|game| game.name()).collect();
    did_you_mean(word, tables.iter().chain(&games).map(String::as_str))
}

/// Returns the error for a word that names no table, game or size, with the nearest name.
pub(super) fn unknown_table(word: &str, context: &Context) -> Error {
    let hint = near_table(word, context).unwrap_or_else(|| {
        let tables = context.store.names();
        let root = context.store.root().display();
        match tables.is_empty() {
            true => "'solver games' lists the games".to_string(),
            false => {
                format!("tables in {root}: {}; 'solver games' lists the games", tables.join(", "))
            }
        }
    });
    Error::new(format!("no table, game or size `{word}`"), hint)
}

/// A game, named by the first word of a command.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct GameArg {
    /// Game or size: animal-shogi, 4x5 (Othello, rows x columns, each 4 to 8) [default: 4x4]
    #[arg(value_name = "GAME", conflicts_with = "game", add = games())]
    word: Option<String>,
    /// Game or size: the same as the first word
    #[arg(long, value_name = "GAME", alias = "size", hide = true, add = games())]
    game: Option<String>,
}

impl GameArg {
    /// Returns the game; where none is named, the first of the program's own, else Othello on 4×4.
    pub(super) fn game(&self, context: &Context) -> Result<Arc<dyn Rules>, Error> {
        let Some(word) = self.word.as_ref().or(self.game.as_ref()) else {
            return context.games.named(&context.games.default_name());
        };
        match context.games.meant(word) {
            Err(_) if context.store.has(word) => {
                let what = format!("`{word}` is a table: expected a game or a size");
                Err(Error::new(what, "'solver games' lists the games"))
            }
            Ok(game) => {
                turned(&*game).iter().for_each(|hint| context.remark(hint));
                Ok(game)
            }
            Err(unknown) => Err(unknown),
        }
    }
}

/// Option of a search for forced wins.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct WinPlies {
    /// Look for wins with every move, not with checks alone, within N plies (shogi) [default: 5; 9 for 'solve']
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u32).range(0..=125))]
    plies: Option<u32>,
}

impl WinPlies {
    /// Returns `true` if the option was given.
    pub(super) fn is_given(self) -> bool {
        self.plies.is_some()
    }

    /// Returns the number of plies for a game, or the default. Fails for games to which it does not apply.
    pub(super) fn plies(self, game: &dyn Rules, default: u32) -> Result<u32, Error> {
        if self.plies.is_some() && !has_mates(game) {
            return Err(Error::from(format!(
                "--plies does not apply to {}, only to shogi",
                game.name()
            )));
        }
        Ok(self.plies.unwrap_or(default))
    }
}

/// Returns `true` if positions of a game are searched where its table is missing: games that always end, and those of
/// the shogi family that are too large for a table.
pub(super) fn is_searched(game: &dyn Rules) -> bool {
    game.is_layered() || can_search(game) && !game.facts().is_small
}

/// Returns a game whose whole table is missing.
pub(super) fn missing(game: &dyn Rules, context: &Context) -> Option<Arc<dyn Rules>> {
    let is_there = context.store.has(&Plan::from_start(game).table_name(game));
    (!is_there).then(|| game.shared())
}

/// Opens the whole table of a game; where it is missing, the error names the command that makes it.
pub(super) fn open_whole(game: &dyn Rules, context: &Context) -> Result<Table, Error> {
    let name = Plan::from_start(game).table_name(game);
    match context.store.open(&name) {
        Err(error) if error.kind() == Kind::Missing && !context.store.place(&name).exists() => {
            let game_name = game.name();
            let hint = match (game.facts().is_small, is_in_reach(game, context)) {
                (false, _) => {
                    format!("make a bounded one with 'solver enumerate {game_name} --max-depth 6'")
                }
                (true, true) => format!("'solver solve {game_name}' makes and solves it"),
                (true, false) => {
                    format!(
                        "make it with 'solver enumerate {game_name}', then 'solver value-iterate'"
                    )
                }
            };
            let root = context.store.root().display();
            Err(Error::new(format!("no table {name} in {root}"), hint))
        }
        found => Ok(found?),
    }
}

/// A table that is read, named by the first word of a command.
#[derive(Debug, clap::Args)]
pub(super) struct OneTable {
    /// Table, game or size: othello-4x5, 4x5 [default: the table enumerated last, or the only one]
    #[arg(value_name = "TABLE", conflicts_with = "table", add = tables())]
    word: Option<String>,
    #[command(flatten)]
    option: TableOption,
}

impl OneTable {
    /// Returns the word that names the table, if there is one.
    pub(super) fn word(&self) -> Option<&str> {
        self.word.as_deref().or(self.option.table.as_deref())
    }

    /// Returns the game whose whole table is meant, if one is and the word does not name another table.
    pub(super) fn game(&self, context: &Context) -> Result<Option<Arc<dyn Rules>>, Error> {
        let Some(word) = self.word() else { return Ok(None) };
        Ok(match Meant::of(word, context)? {
            Meant::Game(game) => Some(game),
            Meant::Table(_) => None,
        })
    }

    /// Opens it; where none is named, the one enumerated last or the only one.
    pub(super) fn open(&self, context: &Context) -> Result<Table, Error> {
        match self.word() {
            Some(word) => open_meant(word, context),
            None => open_latest(context),
        }
    }
}

/// Opens the default table: the latest or, if its game is one of another program, that of the default game.
pub(super) fn open_latest(context: &Context) -> Result<Table, Error> {
    if let Some(table) = context.latest_of_ours() {
        return table;
    }
    // Where there is no table at all, that is the error.
    context.store.latest()?;
    open_whole(&*context.games.named(&context.games.default_name())?, context)
}

/// Opens the table that a word names, as itself or by its game.
pub(super) fn open_meant(word: &str, context: &Context) -> Result<Table, Error> {
    match Meant::of(word, context)? {
        Meant::Table(table) => Ok(*table),
        Meant::Game(game) => open_whole(&*game, context),
    }
}

/// Options of a command that chooses a table, which is built and solved if it is missing, and policies.
#[derive(Debug, clap::Args)]
pub(super) struct TableArgs {
    #[command(flatten)]
    option: TableOption,
    /// Longest wait for an answer of a program or a model
    #[arg(long, value_name = "SECONDS", default_value_t = Seconds(PolicySpec::LIMIT), hide_short_help = true)]
    policy_timeout: Seconds,
    /// Begin even if it is not expected to fit in memory or on the disk
    #[arg(long, hide_short_help = true)]
    pub force: bool,
}

impl TableArgs {
    /// Takes the first word of a command for the table, if there is one.
    pub(super) fn named(mut self, word: Option<String>) -> TableArgs {
        self.option.table = word.or(self.option.table);
        self
    }

    /// Returns the game, and the table if one is there.
    pub(super) fn game(&self, context: &Context) -> Result<(Arc<dyn Rules>, Option<Table>), Error> {
        let meant = match &self.option.table {
            Some(word) => Meant::of(word, context)?,
            None => match context.latest_of_ours() {
                Some(table) => Meant::Table(table?.into()),
                None => Meant::Game(context.games.named(&context.games.default_name())?),
            },
        };
        Ok(match meant {
            Meant::Table(table) => (context.games.of_table(&table)?, Some(*table)),
            Meant::Game(game) => (game, None),
        })
    }

    /// Returns in words why a report takes the table it takes; called before the table is made.
    pub(super) fn why(&self, game: &dyn Rules, context: &Context) -> String {
        let why = match &self.option.table {
            Some(word) if context.store.has(word) => return "as named".to_string(),
            Some(word) if *word == game.name() => "as named".to_string(),
            Some(word) => format!("from `{word}`"),
            None if context.latest_of_ours().is_some() => return context.why_latest().to_string(),
            None => "the default".to_string(),
        };
        let is_there = context.store.has(&Plan::from_start(game).table_name(game));
        if is_there { why } else { format!("{why}, built for this report") }
    }

    /// Returns the policies of these names; without names the game's own policies and, before the
    /// perfect one, the networks that were trained here.
    pub(super) fn policies(
        &self,
        names: &[String],
        game: &dyn Rules,
        context: &Context,
    ) -> Result<Vec<PolicySpec>, Error> {
        let Seconds(limit) = self.policy_timeout;
        let parse = |name: &String| name.parse().map(|spec: PolicySpec| spec.within(limit));
        let names =
            names.iter().map(|name| matching(name)).collect::<Result<Vec<_>, _>>()?.concat();
        let mut policies = names.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        if names.is_empty() {
            policies = PolicySpec::defaults(game);
            let perfect = policies.iter().position(|policy| *policy == PolicySpec::Perfect);
            let at = perfect.unwrap_or(policies.len());
            players::tell_unreadable(context);
            policies.splice(at..at, players::learned_for(game, &context.store));
        }
        policies.iter().try_for_each(|policy| players::check(policy, game, &context.store))?;
        Ok(policies)
    }
}

/// Returns the policies that a name stands for: `onnx:ckpt-*.onnx` for the models whose file names match, in
/// the order of the numbers in them.
fn matching(name: &str) -> Result<Vec<String>, Error> {
    let Some(model) = name.strip_prefix("onnx:").filter(|model| model.contains('*')) else {
        return Ok(vec![name.to_string()]);
    };
    let (path, options) = model.split_at(model.find('?').unwrap_or(model.len()));
    let path = Path::new(path);
    let (dir, pattern) = (path.parent(), path.file_name().unwrap_or_default().to_string_lossy());
    let dir = dir.filter(|dir| !dir.as_os_str().is_empty());
    let failed = |what: String| {
        Error::new(
            format!("{name}: {what}"),
            "quote it, and name the file with `*` in place of a number",
        )
    };
    let entries = std::fs::read_dir(dir.unwrap_or(Path::new(".")))
        .map_err(|error| failed(error.to_string()))?;
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if fits(&file, &pattern) {
            let path = dir.map_or(PathBuf::from(&file), |dir| dir.join(&file));
            found.push((numbers(&file), format!("onnx:{}{options}", path.display())));
        }
    }
    found.sort();
    match found.is_empty() {
        true => Err(failed("no file matches".to_string())),
        false => Ok(found.into_iter().map(|(_, name)| name).collect()),
    }
}

/// Returns whether a file's name fits a pattern, in which each `*` stands for any text.
fn fits(file: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => file == pattern,
        Some((begin, rest)) => file.strip_prefix(begin).is_some_and(|file| {
            file.char_indices()
                .map(|(at, _)| at)
                .chain([file.len()])
                .any(|at| fits(&file[at..], rest))
        }),
    }
}

/// Returns the numbers in a name.
fn numbers(name: &str) -> Vec<u64> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

/// Splits the words of a command on two policies, before which a table may be named.
pub(super) fn table_and_two(mut words: Vec<String>) -> (Option<String>, [String; 2]) {
    let second = words.pop().unwrap_or_default();
    let first = words.pop().unwrap_or_default();
    (words.pop(), [first, second])
}

/// Most states of a game that is enumerated and solved unasked: about two minutes on two cores.
const MOST_STATES: f64 = 4e8;

/// Returns whether the table of a whole game is there, or takes at most about two minutes to make.
pub(super) fn is_in_reach(game: &dyn Rules, context: &Context) -> bool {
    let plan = Plan { max_memory: free_memory(), ..Plan::from_start(game) };
    let expected = game.expected(&game.start().state);
    // An estimate may be far off.
    let most = |exact: bool| if exact { MOST_STATES } else { MOST_STATES / 10.0 };
    let is_quick = expected.is_none_or(|expected| expected.states <= most(expected.exact));
    let fits = || within_room(game, plan.clone(), &context.store).is_ok();
    let is_there = || context.store.has(&plan.table_name(game));
    game.facts().is_small && (is_there() || is_quick && fits())
}
