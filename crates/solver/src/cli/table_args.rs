//! Which solved table a command works on, and which policies on it.

use std::time::Duration;

use anyhow::bail;

use super::complete::{games, tables};
use super::context::Context;
use super::enumerate::{game_of, make};
use super::players;
use super::value_iterate::solve_table;
use yomikiri::any::AnyGame;
use yomikiri::game::Game;
use yomikiri::graph::{Plan, within_room};
use yomikiri::hint::Hinted;
use yomikiri::registry::othello;
use yomikiri::solve::SolveOptions;
use yomikiri::solved::SolvedTable;
use yomikiri::table::{Table, TableError};
use yomikiri_measure::free_memory;
use yomikiri_measure::policy::PolicySpec;

/// The option forms of a table that is read.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Named {
    /// A table's name or directory [default: the one enumerated last, or the only
    /// one]
    #[arg(long, value_name = "TABLE", add = tables())]
    table: Option<String>,
    /// A game by name, whose whole table is meant
    #[arg(long, value_name = "GAME", conflicts_with = "table", add = games())]
    game: Option<String>,
    /// Othello on a board of rows x columns, each 4 to 8, whose whole table is meant: 4x6, or 4 for 4x4
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["table", "game"])]
    size: Option<String>,
}

impl Named {
    /// Returns the game whose whole table is meant, if one is.
    pub(super) fn game(&self, context: &Context) -> anyhow::Result<Option<AnyGame>> {
        Ok(match (&self.game, &self.size) {
            (Some(game), _) => Some(context.games.named(game)?),
            (None, Some(size)) => Some(othello(size)?),
            (None, None) => None,
        })
    }

    /// The name of the table that is meant, if one is.
    pub(super) fn name(&self, context: &Context) -> anyhow::Result<Option<String>> {
        let game = self.game(context)?;
        let of_game = game.map(|game| Plan::from_start(&game).table_name(&game));
        Ok(of_game.or_else(|| self.table.clone()))
    }
}

/// Returns a game that is searched for want of its whole table; `None` where the table is there, or play may
/// go round in circles.
pub(super) fn without_table(game: AnyGame, context: &Context) -> Option<AnyGame> {
    let is_there = context.store.has(&Plan::from_start(&game).table_name(&game));
    (game.layers().is_some() && !is_there).then_some(game)
}

/// A table that is read, named as an argument or by an option.
#[derive(Debug, clap::Args)]
pub(super) struct OneTable {
    /// A table's name or directory [default: the one enumerated last, or the only
    /// one]
    #[arg(value_name = "TABLE", conflicts_with_all = ["table", "game", "size"], add = tables())]
    positional: Option<String>,
    #[command(flatten)]
    named: Named,
}

impl OneTable {
    /// Whether none is named.
    pub(super) fn is_latest(&self) -> bool {
        let Named { table, game, size } = &self.named;
        self.positional.is_none() && table.is_none() && game.is_none() && size.is_none()
    }

    /// Returns the game whose whole table is meant, if one is.
    pub(super) fn game(&self, context: &Context) -> anyhow::Result<Option<AnyGame>> {
        self.named.game(context)
    }

    /// The name of the table that is meant, if one is.
    pub(super) fn name(&self, context: &Context) -> anyhow::Result<Option<String>> {
        self.positional.clone().map_or_else(|| self.named.name(context), |name| Ok(Some(name)))
    }

    /// Opens it; where none is named, the one enumerated last or the only one.
    pub(super) fn open(&self, context: &Context) -> anyhow::Result<Table> {
        match self.name(context)? {
            Some(name) => Ok(context.store.open(&name)?),
            None => context.latest(),
        }
    }
}

/// The options that choose a table, which is built and solved if it is not there.
#[derive(Debug, clap::Args)]
pub(super) struct TableArgs {
    /// Othello on a board of rows x columns, each 4 to 8: 4x6, or 4 for 4x4
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["table", "game"])]
    size: Option<String>,
    /// A game by name: animal-shogi-3x3, animal-shogi, othello-4x5 and the like
    #[arg(long, value_name = "GAME", conflicts_with = "table", add = games())]
    game: Option<String>,
    /// A table's name or directory, instead of a whole game [default: the table enumerated last, or
    /// the only one; if there is none, that of 4x4 Othello is made]
    #[arg(long, value_name = "TABLE", add = tables())]
    table: Option<String>,
    /// How long an answer of a program or a model may take, if a policy is one
    #[arg(long, value_name = "SECONDS", default_value_t = PolicySpec::LIMIT.as_secs_f64())]
    policy_timeout: f64,
    /// Begin even if it is not expected to fit in memory or on the disk
    #[arg(long)]
    pub force: bool,
}

impl TableArgs {
    /// The game, and the table if one is named.
    pub(super) fn game(&self, context: &Context) -> anyhow::Result<(AnyGame, Option<Table>)> {
        let table = match &self.table {
            Some(name) => Some(context.store.open(name)?),
            None if self.size.is_some() || self.game.is_some() => None,
            None => match context.store.latest() {
                Ok(name) => Some(context.store.open(&name)?),
                // Of several any may be meant.
                Err(error @ TableError::NoLatest { .. }) => return Err(error.into()),
                Err(_) => None,
            },
        };
        let game = match &table {
            Some(table) => context.games.of_table(table)?,
            None => game_of(self.game.as_deref(), self.size.as_deref(), context)?,
        };
        Ok((game, table))
    }

    /// Why a report takes the table it takes, in words; to be asked before the table is made.
    pub(super) fn why(&self, game: &AnyGame, context: &Context) -> String {
        let why = match (&self.table, &self.size, &self.game) {
            (Some(table), ..) => return format!("--table {table}"),
            (_, Some(size), _) => format!("--size {size}"),
            (.., Some(game)) => format!("--game {game}"),
            _ if context.store.latest().is_ok() => return context.why_latest().to_string(),
            _ => "the default".to_string(),
        };
        let is_there = context.store.has(&Plan::from_start(game).table_name(game));
        if is_there { why } else { format!("{why}, built for this report") }
    }

    /// The policies of these names; if there are none, the game's own policies and, before the
    /// perfect one, the networks that were trained here.
    pub(super) fn policies(
        &self,
        names: &[String],
        game: &AnyGame,
        context: &Context,
    ) -> anyhow::Result<Vec<PolicySpec>> {
        let limit = time_limit("--policy-timeout", self.policy_timeout)?;
        let parse = |name: &String| name.parse().map(|spec: PolicySpec| spec.within(limit));
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

/// Time given by an option in seconds.
pub(super) fn time_limit(option: &str, seconds: f64) -> Result<Duration, Hinted> {
    let limit = Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero());
    let what = || format!("{option} {seconds}: give a number of seconds above 0");
    limit.ok_or_else(|| what().into())
}

/// The solved table of a whole game, or the table that is given, solved if it is not.
pub(super) fn solved(
    game: &AnyGame,
    table: Option<Table>,
    force: bool,
    context: &Context,
) -> anyhow::Result<SolvedTable> {
    let mut table = match table {
        Some(table) => table,
        None => whole(game, context, force)?,
    };
    if table.manifest().solution.is_none() {
        context.remark(format!("{}: solving", table.name()));
        solve_table(&mut table, &SolveOptions::default(), force, context)?;
    }
    context.solved(table, true)
}

/// Most states of a game that is enumerated and solved where nobody asked for a table: some two minutes on
/// two cores.
const MOST_STATES: f64 = 4e8;

/// Returns whether the table of a whole game is there, or made in some two minutes at most.
pub(super) fn is_in_reach(game: &AnyGame, context: &Context) -> bool {
    let plan = Plan { max_memory: free_memory(), ..Plan::from_start(game) };
    let expected = game.expected(&game.start().state);
    let is_quick = expected.is_none_or(|expected| expected.states <= MOST_STATES && expected.exact);
    let fits = || within_room(game, plan.clone(), &context.store).is_ok();
    let is_there = || context.store.has(&plan.table_name(game));
    game.facts().is_small && (is_there() || is_quick && fits())
}

/// The table of a whole game, enumerated if it is not there.
fn whole(game: &AnyGame, context: &Context, force: bool) -> anyhow::Result<Table> {
    if !game.facts().is_small {
        let name = game.name();
        bail!(Hinted::new(
            format!("{name} is too large to be enumerated whole"),
            format!(
                "run 'solver enumerate --game {name} --max-depth 6' (or another bound) and give --table the table's name"
            )
        ));
    }
    let plan = Plan::from_start(game);
    // Where nothing is to be written nothing is locked.
    let there = context.store.open(&plan.table_name(game)).ok();
    let is_done = |table: &Table| {
        let manifest = table.manifest();
        let is_meant = manifest.identity == plan.identity(game) && !manifest.is_packed();
        is_meant && manifest.solution.is_some()
    };
    if let Some(table) = there.filter(is_done) {
        return Ok(table);
    }
    let made = make(game, plan, context, force)?;
    if !made.reused {
        context.remark(format!("{}: enumerated", made.table.name()));
    }
    Ok(made.table)
}
