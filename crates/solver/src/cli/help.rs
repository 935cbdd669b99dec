//! The command line with an example or two under the help of each command, and its manual pages.

use std::io::{self, Write};
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::{Cli, program};
use yomikiri::error::Error;
use yomikiri::output;
use yomikiri::table::IoContext;

/// Examples, one per line: the command and its result. `tests/commands` runs or reads each.
const EXAMPLES: &str = "
solver solve 4x5 # the value of a game, by its table
solver solve 6x6 # by search
solver solve 6x6 b3 --all-moves --time 60 # each move after one, or bounds
solver solve 8x8 --json - < games.txt # a line of JSON for each position
solver solve 'r3k/2g1b/1s1B1/PS3/K4 w GPr 1' # mate by checks, in minishogi
solver enumerate 4x4 # all states of 4x4 Othello
solver enumerate 4x6 --transitions derived # without stored moves
solver enumerate minishogi --max-depth 6 --name opening # the first 6 plies of minishogi
solver value-iterate # solve the table enumerated last
solver value-iterate othello-4x4 --empties to-winner # by another rule
solver query # the root of the table enumerated last
solver query othello-4x4 b1a1 # after two moves
solver query '-----OX--XO----- X;' --json # wherever the position is
solver query othello-4x4 --batch < games.txt # a line of JSON for each position
solver report 4x5 # the usual policies
solver report --policy greedy,onnx:net.onnx --html report.html # as a page too
solver report 8x8 --sample 1000 --policy onnx:net.onnx # on endgames, by search
solver report --policy learned:net --metrics # one line of JSON a policy
solver report --markdown > leaderboard.md # a leaderboard
solver report --policy onnx:net.onnx --fail-if 'result_kept < 0.95' # exit code 5 if so
solver review 8x8 game.ggf # each move of a game, judged exactly
solver review 8x8 tournament.wtb --players # how often each player errs
solver compare 4x5 greedy onnx:net.onnx # position by position
solver compare 8x8 onnx:a.onnx onnx:b.onnx --sample 2000 # endgames, by search
solver compare mcts:100:{} mcts:200:{} --seeds 0,1,2 # means over seeds
solver export othello-4x4 --out targets.parquet # training targets
solver export --states --out states # positions for predictions
solver export --positions games.txt --out games.csv # values of your own positions
solver match greedy minimax:4 # the exact results of their games
solver match 8x8 greedy random --sample 1000 # on a board without a table
solver prove 6x6 --out othello-6x6.proof # a proof that can be kept
solver check othello-6x6.proof # by the rules alone
solver verify othello-4x4 # prove every row and value
solver verify --check tables/CHECKSUMS # compare with known checksums
solver list # every table, with its value
solver info # counts and the value of the root
solver info othello-4x4 --values > values.md # values by layer and by score
solver remove othello-4x4 # the table and its drafts
solver pack othello-4x4 --with distance # a small table of all values
solver gather 4x5 # the table of what 'solver enumerate --processes 2' wrote
solver perft minishogi --depth 4 # lines of play by depth
solver play # Black against perfect play
solver play othello-4x4 --black greedy --white human --hints # as White, with hints
solver play minishogi --white alphabeta:4 # without a table
solver usi animal-shogi # the engine of a shogi board
solver gtp 8x8 --time 10 # the engine of Quarry
solver gtp connect-four --analyze # and the values of all moves
solver nboard # the engine of NBoard
solver games # every game, and how it is solved
solver policies # every policy
solver policies minishogi # those that work in minishogi
solver serve --open # the tables in a browser
solver serve --policy onnx:net.onnx # and a network to play against
source <(solver completions bash) # in the shell you use
";

/// The examples of a command.
pub(super) fn examples(command: &str) -> Vec<(&'static str, &'static str)> {
    let is_of = |(typed, _): &(&str, &str)| {
        let words = typed.split("solver ").nth(1);
        words.is_some_and(|words| words.split([' ', ')']).next() == Some(command))
    };
    EXAMPLES.lines().filter_map(|line| line.split_once(" # ")).filter(is_of).collect()
}

/// Exit codes, here and in the manual.
pub(super) const EXIT_CODES: [(&str, &str); 6] = [
    ("0", "success"),
    ("1", "failure, such as a full disk"),
    ("2", "wrong usage or invalid input"),
    ("3", "a table is damaged, or verify found it wrong"),
    ("4", "a policy from outside, a program or a model, failed"),
    ("5", "a condition of 'report --fail-if' holds"),
];

const FILES: [(&str, &str); 4] = [
    ("tables/NAME/", "a table: arrays of numbers (.npy) and manifest.json, which describes them"),
    ("tables/NAME.partial/", "an unfinished table; the same command resumes it"),
    ("tables/LATEST", "the name of the table enumerated last"),
    ("tables/policies/NAME.json", "a network that was trained here: its card, beside its model"),
];

/// An example as it is typed to the program that runs.
fn typed(example: &str) -> String {
    match example.strip_prefix("solver ") {
        Some(words) => format!("{} {words}", program::name()),
        None => example.to_string(),
    }
}

/// Two columns, indented.
fn columns(rows: &[(&str, &str)]) -> String {
    let rows: Vec<_> = rows.iter().map(|&(left, right)| (typed(left), right)).collect();
    let width = rows.iter().map(|(left, _)| left.len()).max().unwrap_or(0);
    let lines = rows.iter().map(|(left, right)| format!("  {left:width$}  {right}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Groups of commands, in the help and in `docs/commands.md`.
pub(super) const GROUPS: [(&str, &[&str]); 6] = [
    ("Solve", &["solve", "enumerate", "value-iterate", "prove", "check"]),
    ("Measure", &["report", "review", "compare", "match", "train", "policies"]),
    ("Look and play", &["query", "play", "serve", "usi", "gtp", "nboard", "games", "perft"]),
    ("Export", &["export", "pack"]),
    ("Tables", &["list", "info", "verify", "remove", "gather"]),
    ("Shell", &["completions", "man", "help"]),
];

/// Most examples in the help of one screen.
const FEW: usize = 3;

/// Returns the command line as it is understood.
pub(super) fn command() -> Command {
    let mut command = Cli::command().name(program::name());
    // Several words of one argument, which the usage would not show by itself.
    let usages = [
        ("review", "[GAME] FILE"),
        ("compare", "[TABLE] POLICY POLICY"),
        ("match", "[TABLE] POLICY POLICY"),
    ];
    for (name, words) in usages {
        let usage = format!("{} {name} [OPTIONS] {words}", program::name());
        command = command.mut_subcommand(name, |subcommand| subcommand.override_usage(usage));
    }
    #[cfg(feature = "cluster")]
    for (name, unfit) in super::cluster::UNFIT {
        command = command.mut_subcommand(name, |subcommand| {
            subcommand.mut_group("ClusterArgs", |group| group.conflicts_with_all(unfit))
        });
    }
    let command = command.mut_subcommands(|subcommand| {
        let all = examples(subcommand.get_name());
        let [few, all] = [&all[..all.len().min(FEW)], &all].map(|examples| match examples {
            [] => String::new(),
            examples => format!("Examples:\n{}", columns(examples)),
        });
        subcommand.after_help(few).after_long_help(all)
    });
    let template = top_template(&command);
    let codes = format!("Exit codes:\n{}", columns(&EXIT_CODES));
    command.help_template(template).after_long_help(codes)
}

/// Returns the template of the program's own help, in which commands are grouped.
fn top_template(command: &Command) -> String {
    let head = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let mut text = String::from("{about}\n\n{usage-heading} {usage}\n");
    for (group, names) in GROUPS {
        text += &format!("\n{head}{group}:{head:#}\n");
        for name in names {
            let about = match command.find_subcommand(name) {
                Some(subcommand) => subcommand.get_about().map(ToString::to_string),
                None => (*name == "help").then(|| "Print the help of a command".to_string()),
            };
            let Some(about) = about else { continue };
            text += &format!("  {literal}{name:<14}{literal:#} {about}\n");
        }
    }
    text + &format!("\n{head}Options of every command:{head:#}\n{{options}}{{after-help}}")
}

/// Writes a command's manual page.
pub(super) fn page(command: &Command, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let man = Man::new(command.clone()).title(name);
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(out)?;
    }
    let examples = examples(command.get_name());
    for (heading, rows) in
        [("EXAMPLES", &examples[..]), ("EXIT STATUS", &EXIT_CODES), ("FILES", &FILES)]
    {
        if rows.is_empty() {
            continue;
        }
        let mut roff = Roff::new();
        roff.control("SH", [heading]);
        for (left, right) in rows {
            roff.control("TP", []);
            roff.text([bold(typed(left))]);
            roff.text([roman(*right)]);
        }
        roff.to_writer(out)?;
    }
    Ok(())
}

/// Writes the pages of a command and of those below it to a directory.
pub(super) fn pages(command: &Command, name: &str, dir: &Path) -> Result<(), Error> {
    let mut text = Vec::new();
    page(command, name, &mut text)?;
    let place = dir.join(format!("{name}.1"));
    output::replace(&place, &text).at("write", &place)?;
    let below = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set() && below.get_name() != "help");
    for below in below {
        pages(below, &format!("{name}-{}", below.get_name()), dir)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let command = command();
        let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        grouped.retain(|name| *name != "help" && names.contains(name));
        let mut names = names;
        names.sort();
        grouped.sort();
        assert_eq!(grouped, names);
    }
}
