//! `solver prove` and `solver check`: proofs of Othello positions that can be kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use serde::Serialize;

use super::context::Context;
use super::output;
use super::sizes::Memory;
use yomikiri::error::{Error, Kind};
use yomikiri::games::othello::proof::certificate::{Problem, prove};
use yomikiri::games::othello::proof::check::{BoardRules, CheckLimits, CheckReport};
use yomikiri::games::othello::proof::semistrong::make;
use yomikiri::games::othello::proof::{Header, check_file};
use yomikiri::games::othello::search::{EngineOptions, built_in};
use yomikiri::games::othello::{Board, grid_of, packed_of};
use yomikiri::registry::othello;
use yomikiri::rules::{AnyPosition, Empties, Position, Rules, Side};
use yomikiri::solve::Value;
use yomikiri_measure::render::number::{counted, seconds, thousands, took};
use yomikiri_measure::render::verdict::{Mover, verdict};

/// Prove the value of an Othello position in a file that 'solver check' verifies
///
/// The file proves a lower bound for each side: it contains one move for every position in which that side must
/// choose. Positions with few empty squares are left out; 'solver check' searches them.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Size: 6x6
    #[arg(value_name = "SIZE")]
    size: String,
    /// Board, OBF line or transcript [default: the start]
    #[arg(value_name = "POSITION", allow_hyphen_values = true)]
    position: Vec<String>,
    /// File to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Store the value of every position that either side can reach by its best moves (semi-strong), not bounds alone:
    /// two hours for 6x6; the same command resumes
    #[arg(long)]
    semi_strong: bool,
    /// Empty squares up to which positions are searched instead of stored [default: 12, or 13 with --semi-strong]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u32>::new().range(0..=20))]
    leaves: Option<u32>,
    /// Rule for empty squares at the end of a game [default: uncounted]
    #[arg(long, value_parser = PossibleValuesParser::new(["uncounted", "to-winner"])
        .map(|name| Empties::named(&name).unwrap_or_default()))]
    empties: Option<Empties>,
    /// Memory of the search [default: 1G]
    #[arg(long, value_name = "BYTES")]
    memory: Option<Memory>,
    /// Take --memory even if the machine has less
    #[arg(long)]
    force: bool,
}

/// Check a file of 'solver prove' by the rules and a plain search alone
#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// File of 'solver prove'
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Check also a file that takes more memory or time than expected
    #[arg(long)]
    force: bool,
}

/// A proof, made or checked.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Output {
    /// The file.
    file: String,
    /// `certificate`, which proves a value, or `semi-strong`, which contains values after inferior moves too.
    kind: &'static str,
    /// The game.
    game: String,
    /// The position.
    position: String,
    /// The mover's score.
    score: i32,
    /// Rule for empty squares: `uncounted` or `to-winner`.
    empties: &'static str,
    /// Most empty squares of positions that are searched instead of stored.
    leaves: u32,
    /// Moves stored for the mover and for the opponent.
    moves: [u32; 2],
    /// Bytes of the file.
    bytes: u64,
    /// Positions searched in checking, below the stored moves of either side.
    #[serde(skip_serializing_if = "Option::is_none")]
    searched: Option<[usize; 2]>,
    /// Value in words.
    #[serde(skip)]
    words: String,
}

pub(super) fn run(args: Args, context: &mut Context) -> Result<(), Error> {
    let game = context.games.meant(&args.size)?;
    let start = game.start();
    let text = args.position.join(" ");
    let position = if text.is_empty() { start } else { game.parse_position(&text, &start)? };
    let (rows, columns) = game.shape();
    let squares = game.squares(&position.state);
    let Some((own, other)) = squares.filter(|_| game.name().starts_with("othello-")) else {
        return Err(Error::new(
            format!("cannot prove {}", game.name()),
            "expected a size of Othello, such as 6x6",
        ));
    };
    let [mover, opponent] = [own, other].map(|set| grid_of(set, columns));
    let empties = args.empties.unwrap_or_default();
    let memory = args.memory.map_or(1 << 30, |memory| memory.0 as usize);
    let options = EngineOptions {
        rows,
        columns,
        empties,
        memory,
        threads: rayon::current_num_threads(),
        evaluation: built_in(rows, columns),
    };
    let leaf_depth = args.leaves.unwrap_or(if args.semi_strong { 13 } else { 12 });
    let white_to_move = position.side == Side::Second;
    let root = Board { mover, opponent };
    if BoardRules::new(rows, columns, empties).is_over(root) {
        return Err(Error::new(
            "the game is over in this position",
            "expected a position with a legal move",
        ));
    }
    output::check(&args.out)?;
    let problem = Problem { root, white_to_move, leaf_depth, options };
    let bytes = match args.semi_strong {
        true => {
            make(&problem, &args.out.with_added_extension("partial"), &mut |hero, empty, count| {
                let who = if hero == 0 { "mover" } else { "opponent" };
                context.remark(format!("{who}, {empty} squares empty: {count} positions"));
            })
        }
        false => prove(&problem),
    };
    let bytes = bytes?;
    output::write(&args.out, &bytes)?;
    if args.semi_strong {
        let _ = fs::remove_file(args.out.with_added_extension("partial"));
    }
    let (header, _) = Header::of(&bytes)?;
    let output = Output::of(&args.out, bytes.len() as u64, &header, args.semi_strong)?;
    context.show("proof", &output, |output| {
        let moves = thousands(output.moves.iter().map(|&moves| u64::from(moves)).sum());
        let size = thousands(output.bytes);
        let file = &output.file;
        format!(
            "{}\n{file}: {size} bytes, {moves} moves; check it with 'solver check {file}'\n",
            output.words
        )
    })
}

pub(super) fn check(args: CheckArgs, context: &mut Context) -> Result<(), Error> {
    let CheckArgs { file, force } = args;
    let bytes = yomikiri::input::file(&file, 1 << 30)
        .map_err(|error| Error::from(format!("cannot read {}: {error}", file.display())))?;
    let limits = if force { CheckLimits::NONE } else { CheckLimits::of_file(bytes.len()) };
    let began = Instant::now();
    let report = check_file(&bytes, &limits, &mut |work| {
        let positions = counted(work.leaves.iter().map(|&count| count as u64).sum(), "position");
        let time = seconds(work.seconds(rayon::current_num_threads()));
        let most_empty = work.most_empty;
        context.remark(format!(
            "searches {positions} of at most {most_empty} empty squares, about {time}"
        ));
    });
    let CheckReport { header, is_semi_strong, leaves } = report.map_err(|error| {
        let is_limit = error.kind() == Kind::Input;
        let error = error.map(|what| format!("{}: {what}", file.display()));
        if is_limit { error.with_hint("add --force to check it anyway") } else { error }
    })?;
    let mut output = Output::of(&file, bytes.len() as u64, &header, is_semi_strong)?;
    output.searched = Some(leaves);
    let search = counted(leaves.iter().map(|&count| count as u64).sum(), "position");
    let time = took(began.elapsed().as_secs_f64());
    let summary = match is_semi_strong {
        false => {
            let moves = thousands(output.moves.iter().map(|&moves| u64::from(moves)).sum());
            format!("Proven: {moves} moves, {search} below them, in {time}")
        }
        true => format!(
            "Proven: the score of the root, and that each stored move reaches the score that the file claims ({search} searched, in {time}). A score may be too low where a better move leads to positions that the file does not contain."
        ),
    };
    context.show("proof", &output, |output| format!("{}\n{summary}\n", output.words))
}

impl Output {
    fn of(file: &Path, bytes: u64, header: &Header, is_semi_strong: bool) -> Result<Output, Error> {
        let Header { rows, columns, empties, white_to_move, root, score, leaf_depth, counts } =
            *header;
        let game: Arc<dyn Rules> = othello(&format!("{rows}x{columns}"))?;
        let [own, other] = [root.mover, root.opponent].map(|set| packed_of(set, columns));
        let side = if white_to_move { Side::Second } else { Side::First };
        let state = game.of_squares(own, other);
        let state =
            state.ok_or_else(|| Error::from(format!("{}: invalid root", file.display())))?;
        let position: AnyPosition = Position { state, side };
        let exact = yomikiri::rules::Score(score as i8);
        let mover = Mover { side: game.side_name(side), in_check: false, unit: Some("disc") };
        let value = verdict(mover, Value::of_scores(exact, exact, None));
        let words = match empties {
            Empties::Uncounted => format!("{}: {value}", game.title()),
            Empties::ToWinner => {
                format!("{}: {value}; empty squares count for the winner", game.title())
            }
        };
        Ok(Output {
            file: file.display().to_string(),
            kind: match is_semi_strong {
                true => "semi-strong",
                false => "certificate",
            },
            game: game.name(),
            position: game.notation(&position),
            score,
            empties: empties.name(),
            leaves: leaf_depth,
            moves: counts,
            bytes,
            searched: None,
            words,
        })
    }
}
