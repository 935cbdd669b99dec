//! Positions of a report: all, a part of them, those of a file, of random games or of a policy's games.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::RangedU64ValueParser;

use super::complete::policies;
use super::context::Context;
use super::ensure_solved::ensure_solved;
use super::lines::{self, FormOption, GameFile};
use super::sampled_match::policy;
use super::sizes::Seconds;
use super::table_args::{WinPlies, is_in_reach, missing, open_whole};
use yomikiri::error::Error;
use yomikiri::oracle::{Orienting, SolvedTable, States};
use yomikiri::rules::{Rules, Split, WIN_PLIES};
use yomikiri::search::can_search;
use yomikiri::table::Table;
use yomikiri_measure::judge::{
    JudgedPart, JudgedPositions, ListedPositions, LookedUp, Origin, Player, PositionList, SampleOf,
    Sampling, SearchCost, TablePositions, from_random_games, met_in_games, uniform,
};
use yomikiri_measure::render::number::{seconds, thousands};

/// Options that choose positions.
#[derive(Debug, clap::Args)]
pub(super) struct ChosenArgs {
    /// Measure one part of the positions: those to train on, to validate or to test, or all
    ///
    /// Positions are divided as in the training of the measured network, or else by the defaults of 'solver export'.
    #[arg(
        long,
        value_name = "PART",
        value_enum,
        hide_possible_values = true,
        conflicts_with = "positions"
    )]
    split: Option<Part>,
    /// Measure the positions of a file: one per line, or games in any form
    ///
    /// A position counts as often as it occurs, and all positions of a game count. Lines are read as by 'solver export
    /// --positions'; GGF, SGF, PGN, WTHOR, KIF and CSA are recognised. A directory of 'solver export --states' works too.
    /// Positions that no table contains are searched, those with few empty squares first.
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,
    /// Take only the final position of a transcript
    #[arg(long, requires = "positions", hide_short_help = true)]
    last: bool,
    #[command(flatten)]
    form: FormOption,
    /// Measure N positions drawn by chance, for boards too large for a table
    ///
    /// They are drawn with repetition: each number of empty squares of the range is equally likely, then a position as
    /// random games meet it. Values come from the table if it is solved, else from search. [default with
    /// --empty-squares: 1000]
    #[arg(long, value_name = "N", conflicts_with_all = ["split", "positions"],
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000_000))]
    sample: Option<usize>,
    /// Weight of positions in a sample: games, or uniform
    ///
    /// games: as random games meet them; uniform: every reachable position of the range is equally likely, which takes
    /// an enumerated table. [default: games]
    #[arg(long, value_name = "WEIGHT", value_enum, conflicts_with_all = ["split", "positions"],
        hide_possible_values = true, hide_short_help = true)]
    weight: Option<Weight>,
    /// Measure the positions that a policy meets in games, solved by search
    ///
    /// Positions in which it is to move count as often as it meets them.
    #[arg(long, value_name = "POLICY", conflicts_with_all = ["split", "positions", "sample", "weight"], add = policies(),
        hide_short_help = true)]
    games_of: Option<String>,
    /// Opponent in these games [default: random]
    #[arg(long, value_name = "POLICY", requires = "games_of", add = policies(), hide_short_help = true)]
    opponent: Option<String>,
    /// Number of these games with each side [default: 10]
    #[arg(long, value_name = "N", requires = "games_of", hide_short_help = true,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    games: Option<u64>,
    /// Empty squares of the positions: 8..16 [default of samples: 8..12, Connect Four: 18..24]
    ///
    /// With --games-of and --positions the default is all; with --games-of on boards of more than 36 squares, up to 16.
    #[arg(long, value_name = "FROM..TO", value_parser = range, conflicts_with = "split", hide_short_help = true)]
    empty_squares: Option<(u32, u32)>,
    /// Seed of positions and games [default: 0]
    #[arg(long, value_name = "SEED", conflicts_with_all = ["split", "positions"], hide_short_help = true)]
    seed: Option<u64>,
    /// Longest search for values that no table contains; positions that it does not reach are left out and counted
    /// [default with --positions: 600]
    #[arg(long, value_name = "SECONDS", conflicts_with = "split", hide_short_help = true)]
    search_time: Option<Seconds>,
    #[command(flatten)]
    wins: WinPlies,
}

/// Seconds of a search above which its cost is printed before it starts.
const LONG: f64 = 10.0;
/// States above which no disk holds a table.
const OUT_OF_REACH: f64 = 1e15;
/// Longest search for the positions of a file by default.
pub(super) const FILE_LIMIT: Duration = Duration::from_secs(600);
/// Squares of a board above which the beginning of a game is out of reach of the search.
const LARGE: usize = 36;

/// Squares of the largest board.
const MOST_SQUARES: u32 = 64;

fn range(text: &str) -> Result<(u32, u32), String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let number = |text: &str| text.trim_start_matches('=').trim().parse::<u32>().ok();
    let range = number(from).zip(number(to)).filter(|(from, to)| from <= to && *to <= MOST_SQUARES);
    range.ok_or(format!("expected two numbers, as in 8..16, up to {MOST_SQUARES}"))
}

/// A part of the positions, or all.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Part {
    Train,
    Validation,
    Test,
    All,
}

impl Part {
    /// The split that it is; `None` for all.
    pub(super) fn split(self) -> Option<Split> {
        match self {
            Part::Train => Some(Split::Train),
            Part::Validation => Some(Split::Validation),
            Part::Test => Some(Split::Test),
            Part::All => None,
        }
    }
}

/// Weight of positions in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Weight {
    Games,
    Uniform,
}

/// The positions of a command.
pub(super) enum Chosen {
    /// Those of a table, or a part of them.
    Rows { table: Box<SolvedTable>, part: Box<Option<JudgedPart>> },
    /// Those of a list.
    Listed(Box<ListedPositions>),
}

impl Chosen {
    /// Passes the positions on; rows have all their images or one of them.
    pub(super) fn with<T>(
        &self,
        orienting: Orienting,
        run: impl FnOnce(&dyn JudgedPositions) -> T,
    ) -> T {
        match self {
            Chosen::Rows { table, part } => {
                run(&TablePositions::new(table, orienting).in_part(part.as_ref().as_ref()))
            }
            Chosen::Listed(listed) => run(listed.as_ref()),
        }
    }

    /// Returns the table whose positions these are.
    pub(super) fn table(&self) -> Option<&SolvedTable> {
        match self {
            Chosen::Rows { table, .. } => Some(table),
            Chosen::Listed(_) => None,
        }
    }
}

impl ChosenArgs {
    /// Returns the file of positions.
    pub(super) fn file(&self) -> Option<&Path> {
        self.positions.as_deref()
    }

    /// Returns `true` for the positions of a table, or a part of them.
    pub(super) fn are_of_table(&self) -> bool {
        let is_sample = self.sample.is_some() || self.weight.is_some() || self.seed.is_some();
        let is_list = self.positions.is_some() || self.games_of.is_some();
        !is_list && !is_sample && self.empty_squares.is_none()
    }

    /// Finds the positions and their values; a table is made if it is missing and needed.
    pub(super) fn choose(
        &self,
        game: &dyn Rules,
        table: Option<Table>,
        players: &[Player],
        force: bool,
        context: &Context,
    ) -> Result<Chosen, Error> {
        if self.are_of_table() {
            let options =
                [(self.search_time.is_some(), "--search-time"), (self.wins.is_given(), "--plies")];
            if let Some((_, option)) = options.iter().find(|(is_given, _)| *is_given) {
                let what = format!("{option}: nothing is searched in a whole table");
                return Err(Error::new(what, "leave it out"));
            }
            let states = game.expected(&game.start().state).map_or(0.0, |expected| expected.states);
            if table.is_none() && states > OUT_OF_REACH {
                let what = format!("{} is too large for a table", game.name());
                let hint = "add --sample 1000, --positions FILE or --games-of POLICY";
                return Err(Error::new(what, hint));
            }
            let table = Box::new(ensure_solved(game, table, force, context)?);
            let split = self.split.and_then(Part::split);
            let part = split.map(|split| JudgedPart::new(split, players, game)).transpose();
            let part = part.map_err(|wrong| wrong.map(|what| format!("--split: {what}")))?;
            return Ok(Chosen::Rows { table, part: Box::new(part) });
        }
        let limit = match (self.search_time, &self.positions) {
            (Some(Seconds(time)), _) => Some(time),
            (None, Some(_)) => Some(FILE_LIMIT),
            (None, None) => None,
        };
        let (list, table) = self.list(game, table, force, context)?;
        if let Some(remark) = &list.origin().remark {
            context.remark(remark);
        }
        let looked_up = LookedUp::new(list, table.as_ref(), self.wins.plies(game, WIN_PLIES)?)?;
        if let Some(cost) = looked_up.search_cost() {
            tell_cost(cost, limit, context);
        }
        let labels = context.store.root().join("labels");
        let listed = looked_up.searched(&labels, limit, &context.bars)?;
        if let Some(words) = listed.left_out().words() {
            context.remark(format!("left out: {words}"));
        }
        Ok(Chosen::Listed(Box::new(listed)))
    }

    /// Returns the positions of a list, and the table that knows values.
    fn list(
        &self,
        game: &dyn Rules,
        table: Option<Table>,
        force: bool,
        context: &Context,
    ) -> Result<(PositionList, Option<SolvedTable>), Error> {
        if let Some(file) = &self.positions {
            let has_table = table.is_some() || is_in_reach(game, context);
            let table = match has_table {
                true => Some(ensure_solved(game, table, force, context)?),
                false => None,
            };
            let list = self.of_file(file, (game, table.as_ref()), context)?;
            let list = match self.empty_squares {
                Some(range) => list
                    .with_empty_squares(range)
                    .map_err(|wrong| wrong.map(|what| format!("--empty-squares: {what}")))?,
                None => list,
            };
            return Ok((list, table));
        }
        if let Some(name) = &self.games_of {
            let list = self.of_games(name, game, context)?;
            return Ok((list, solved_if_there(game, table, context)?));
        }
        let sample = SampleOf {
            range: self.empty_squares,
            count: self.sample.unwrap_or(1000),
            seed: self.seed.unwrap_or(0),
        };
        let invalid = |wrong: Error| wrong.map(|what| format!("--sample: {what}"));
        if self.weight == Some(Weight::Uniform) {
            let table = match whole_if_there(game, table, context)? {
                Some(table) if table.manifest().solution.is_none() => {
                    let states = States::open(game.shared(), table, false)?;
                    return Ok((uniform(&states, sample, &context.bars).map_err(invalid)?, None));
                }
                None if !is_in_reach(game, context) => {
                    let what = format!("--weight uniform: {} is not enumerated", game.name());
                    return Err(Error::new(
                        what,
                        "leave it out, or enumerate the game first if it fits",
                    ));
                }
                table => table,
            };
            let table = ensure_solved(game, table, force, context)?;
            let list = uniform(table.states(), sample, &context.bars).map_err(invalid)?;
            return Ok((list, Some(table)));
        }
        let list = from_random_games(game, sample, &context.bars).map_err(invalid)?;
        Ok((list, solved_if_there(game, table, context)?))
    }

    /// Returns the positions of games that a policy plays.
    fn of_games(
        &self,
        name: &str,
        game: &dyn Rules,
        context: &Context,
    ) -> Result<PositionList, Error> {
        let hint = "name a policy that needs no table";
        let named = |name: &str| policy(&name.parse()?, game, hint, context);
        let [own, opponent] = [named(name)?, named(self.opponent.as_deref().unwrap_or("random"))?];
        let (rows, columns) = game.shape();
        let range = self.empty_squares.or((rows * columns > LARGE).then_some((1, 16)));
        let sampling = Sampling {
            games: self.games.unwrap_or(10),
            random_plies: 0,
            seed: self.seed.unwrap_or(0),
        };
        let players = (own.as_ref(), opponent.as_ref());
        let met = met_in_games(game, players, range, sampling, &context.bars);
        met.map_err(|wrong| wrong.map(|what| format!("--games-of: {what}")))
    }

    /// Reads the positions of a file. Fails at the first invalid line, and at a position that no table contains and that
    /// cannot be searched.
    fn of_file(
        &self,
        file: &Path,
        (game, table): (&dyn Rules, Option<&SolvedTable>),
        context: &Context,
    ) -> Result<PositionList, Error> {
        let file = if file.is_dir() { file.join("positions.txt") } else { file.to_path_buf() };
        let records = self.form.read(&GameFile::open(&file)?, game, table, context)?;
        let mut bad = records.errors.clone();
        let is_whole = |table: &&SolvedTable| table.table().manifest().complete;
        let is_final = |table: &&SolvedTable| is_whole(table) || !can_search(game);
        if let Some(table) = table.filter(|_| !game.is_layered()).filter(is_final) {
            let missing = records
                .positions(self.last)
                .filter(|(_, position)| table.states().find(position).is_none());
            bad.extend(missing.map(|(place, position)| (place, lines::missing(&position, table))));
        }
        let name = file.display();
        if let Some((place, wrong)) = bad.into_iter().min_by_key(|(place, _)| *place) {
            let wrong = wrong.map(|what| format!("{name}, {place}: {what}"));
            return Err(wrong.with_hint("correct it or leave it out"));
        }
        if records.games.is_empty() {
            return Err(Error::new(format!("no position in {name}"), "write one per line"));
        }
        let words = format!("those of {name}, weighted by how often they occur");
        let origin = Origin { source: "file", words, is_sample: false, remark: None };
        let positions = records.positions(self.last).map(|(_, position)| position);
        Ok(PositionList::new(game, positions, origin))
    }
}

/// Returns a named table, or the one of a whole game if it is there.
fn whole_if_there(
    game: &dyn Rules,
    table: Option<Table>,
    context: &Context,
) -> Result<Option<Table>, Error> {
    match table {
        None if missing(game, context).is_none() => open_whole(game, context).map(Some),
        named => Ok(named),
    }
}

/// Returns the same table if it is solved.
pub(super) fn solved_if_there(
    game: &dyn Rules,
    table: Option<Table>,
    context: &Context,
) -> Result<Option<SolvedTable>, Error> {
    let table = whole_if_there(game, table, context)?;
    let table = table.filter(|table| table.manifest().solution.is_some());
    table.map(|table| context.solved(table, true)).transpose()
}

/// Prints what a search will cost, if it is more than a moment.
pub(super) fn tell_cost(cost: SearchCost, limit: Option<Duration>, context: &Context) {
    let SearchCost { positions, most_empty, seconds: estimated } = cost;
    if estimated.is_some_and(|seconds| seconds < LONG) {
        return;
    }
    let squares =
        most_empty.map_or(String::new(), |most| format!(" with up to {most} empty squares"));
    let about = match estimated {
        Some(estimated) if estimated > 86_400.0 => {
            ": more than a day (--empty-squares 0..16 leaves out early ones)".to_string()
        }
        Some(estimated) => format!(": about {}", seconds(estimated)),
        None => String::new(),
    };
    let limit = limit.map_or("--search-time SECONDS limits it".to_string(), |limit| {
        let limit = seconds(limit.as_secs_f64());
        format!("it stops after {limit} (--search-time) and leaves out the rest")
    });
    context.remark(format!(
        "searching {} positions{squares}{about} unless they were searched before; {limit}",
        thousands(positions)
    ));
}
