//! `solver compare`: two policies, position by position.

use clap::builder::RangedU64ValueParser;
use serde::Serialize;

use super::complete::policies;
use super::context::Context;
use super::players::players;
use super::position_options::ChosenArgs;
use super::table_args::{TableArgs, table_and_two};
use yomikiri::error::Error;
use yomikiri::oracle::Orienting;
use yomikiri_measure::judge::{Player, compare};
use yomikiri_measure::policy::TrainedOn;
use yomikiri_measure::render::{Compared, comparison_text};

/// Compare two policies position by position
///
/// Both answer in every position, as in 'solver report'; the comparison shows what the moves of each lose. With
/// --seeds a policy may contain '{}' in place of a seed, as in 'mcts:100:{}' or 'learned:net-{}': it is measured with
/// every seed, and the means are compared.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Two policies of 'solver policies', after an optional table, game or size
    #[arg(value_name = "POLICY", num_args = 2..=3, required = true, add = policies())]
    words: Vec<String>,
    #[command(flatten)]
    table: TableArgs,
    /// Seeds that replace '{}' in the policies
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    seeds: Vec<String>,
    #[command(flatten)]
    chosen: ChosenArgs,
    /// Number of positions to show, those with the greatest difference
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = RangedU64ValueParser::<usize>::new().range(..=1000))]
    worst: usize,
}

/// The JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output<'a> {
    /// Always `mover`: values are those of the player to move.
    perspective: &'static str,
    #[serde(flatten)]
    compared: &'a Compared<'a>,
}

/// Placeholder of a seed.
const SEED: &str = "{}";

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let (named, both) = table_and_two(args.words);
    if named.is_none() && context.games.meant(&both[0]).is_ok() {
        let what = format!("`{}` is a game, and one policy follows", both[0]);
        return Err(Error::new(what, "give two policies to compare"));
    }
    let options = args.table.named(named);
    let (game, table) = options.game(context)?;
    let both = both.each_ref();
    let seeds = match (&args.seeds[..], both.iter().any(|name| name.contains(SEED))) {
        ([], false) => vec![String::new()],
        (seeds, true) if !seeds.is_empty() => seeds.to_vec(),
        (_, true) => {
            return Err(Error::new(
                "a policy contains '{}', which stands for a seed",
                "add --seeds 0,1,2",
            ));
        }
        (_, false) => {
            let what = "--seeds: no policy contains '{}' in place of a seed";
            return Err(Error::new(what, "write one, as mcts:100:{}"));
        }
    };
    let named = |seed: &String| both.map(|name| name.replace(SEED, seed));
    let names: Vec<String> = seeds.iter().flat_map(named).collect();
    let policies = options.policies(&names, &*game, context)?;
    let players = players(&policies, &*game, &context.store)?;
    let chosen = args.chosen.choose(&*game, table, &players, options.force, context)?;
    let names = both.map(|name| name.as_str());
    let compared = chosen.with(Orienting::All, |positions| {
        compare(positions, &players, names, args.worst, &context.bars)
    });
    let (comparison, report) = compared?;
    let compared =
        Compared { table: report.table, seeds: &args.seeds, words: report.words, comparison };
    let learned = |player: &Player| match player.learned_from() {
        TrainedOn::Nothing => None,
        TrainedOn::Part(_) => Some("has"),
        TrainedOn::Unknown => Some("may have"),
    };
    if let (None, Some(has)) = (&compared.table.chosen, players.iter().filter_map(learned).min()) {
        context.remark(format!(
            "one of them {has} learned from some of these positions; --split test leaves them out",
        ));
    }
    let output = Output { perspective: "mover", compared: &compared };
    context.show("compare", &output, |_| comparison_text(&compared))
}
