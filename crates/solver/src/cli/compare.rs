//! `solver compare`: two policies position by position.

use anyhow::bail;
use clap::builder::RangedU64ValueParser;
use schemars::JsonSchema;
use serde::Serialize;

use super::chosen::ChosenArgs;
use super::complete::policies;
use super::context::Context;
use super::players::players;
use super::report::failed;
use super::table_args::{TableArgs, solved, table_and_two};
use yomikiri::hint::Hinted;
use yomikiri::solved::Orienting;
use yomikiri_measure::evaluate::{Comparison, Judged, Piece, Player, Words, measure};
use yomikiri_measure::policy::{Answers, TrainedOn};
use yomikiri_measure::render::{Compared, comparison_text};

/// Compare two policies position by position: where they differ, and what it costs them
///
/// Both are asked in every position, exactly as by 'solver report', and what their moves give away
/// is set side by side. With --seeds a policy may be a recipe with '{}' for the seed, as
/// 'mcts:100:{}' or 'learned:net-{}': each is measured with every seed, and the means are compared.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A table, game or size, if one is named, and two policies
    #[arg(value_name = "[TABLE] POLICY POLICY", num_args = 2..=3, required = true, add = policies())]
    words: Vec<String>,
    #[command(flatten)]
    table: TableArgs,
    /// What stands for '{}' in the policies, one after the other
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    seeds: Vec<String>,
    #[command(flatten)]
    chosen: ChosenArgs,
    /// How many positions to show in which the difference is the greatest
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = RangedU64ValueParser::<usize>::new().range(..=1000))]
    worst: usize,
}

/// The JSON.
#[derive(Serialize, JsonSchema)]
pub(super) struct Output<'a> {
    /// Always `mover`: whose the values are.
    perspective: &'static str,
    #[serde(flatten)]
    compared: &'a Compared<'a>,
}

/// What stands for a seed.
const SEED: &str = "{}";

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<()> {
    let (named, both) = table_and_two(args.words);
    let options = args.table.named(named);
    let (game, table) = options.game(context)?;
    let both = both.each_ref();
    let seeds = match (&args.seeds[..], both.iter().any(|name| name.contains(SEED))) {
        ([], false) => vec![String::new()],
        (seeds, true) if !seeds.is_empty() => seeds.to_vec(),
        (_, true) => bail!(Hinted::new("'{}' stands for a seed", "add --seeds 0,1,2")),
        (_, false) => {
            let what = "--seeds: no policy has a '{}' for the seed";
            bail!(Hinted::new(what, "write one, as mcts:100:{}"))
        }
    };
    let named = |seed: &String| both.map(|name| name.replace(SEED, seed));
    let names: Vec<String> = seeds.iter().flat_map(named).collect();
    let policies = options.policies(&names, &game, context)?;
    let players = players(&policies, &game, &context.store)?;
    let table = solved(&game, table, options.force, context)?;
    let chosen = args.chosen.chosen(&players, &table)?;
    let judged = Judged::new(&table, Orienting::All);
    let wanted = chosen.as_ref().map(|chosen| chosen.wanted.as_ref());
    let mut comparison = Comparison::default();
    let mut add = |piece: &Piece, answers: &[Answers]| {
        comparison.add(table.game(), piece, answers, args.worst);
        Ok(())
    };
    let measured = measure(&judged, wanted, &players, Some(&mut add), &context.bars);
    measured.map_err(|error| failed(&table, error))?;
    let compared = Compared {
        table: table.table().name(),
        policies: both.map(|name| name.as_str()),
        seeds: &args.seeds,
        chosen: chosen.as_ref().map(|chosen| chosen.words.clone()),
        words: Words::of(table.game()),
        has_scores: table.has_scores(),
        comparison: comparison.averaged(),
    };
    let learned = |player: &Player| match player.learned_from() {
        TrainedOn::Nothing => None,
        TrainedOn::Part(_) => Some("has"),
        TrainedOn::Unknown => Some("may have"),
    };
    if let (None, Some(has)) = (&chosen, players.iter().filter_map(learned).min()) {
        context.remark(format!(
            "one of them {has} learned from some of these positions; --split test leaves them out",
        ));
    }
    let output = Output { perspective: "mover", compared: &compared };
    context.show("compare", &output, |_| comparison_text(&compared))
}
