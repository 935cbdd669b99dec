//! Mates of the shogi family by search.

use std::time::{Duration, Instant};

use anyhow::bail;
use serde::Serialize;

use super::super::context::Context;
use super::super::table_args::time_limit;
use yomikiri::any::{AnyGame, AnyPosition};
use yomikiri::game::{Game, GameExt};
use yomikiri::hint::Hinted;
use yomikiri::search::mates::{MateOptions, MateRules, MateSearch, MateVerdict};
use yomikiri_measure::render::number::{thousands, took};

/// Plies within which a forced win with every move is searched for by default.
const FULL_WIDTH_PLIES: u32 = 9;
/// Memory of the search by default: a table of this size stays in the processor's caches.
const MEMORY: usize = 16 << 20;

/// Options of the mate search.
#[derive(Debug, clap::Args)]
pub(super) struct MateArgs {
    /// Find the shortest forced win with every move, not a mate by checks alone (shogi)
    #[arg(long)]
    full_width: bool,
    /// Find a win within N plies (shogi) [default: 9 with --full-width, else any number]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=125))]
    plies: Option<u32>,
}

impl MateArgs {
    /// Returns whether an option of the mate search was given.
    pub(super) fn is_given(&self) -> bool {
        self.full_width || self.plies.is_some()
    }

    /// Checks that the options are for a game.
    pub(super) fn check(&self, game: &AnyGame) -> anyhow::Result<()> {
        if self.is_given() && game.shogi_boards().is_none() {
            let name = game.name();
            bail!(Hinted::from(format!(
                "--full-width and --plies do not apply to {name}, only to shogi"
            )));
        }
        Ok(())
    }
}

/// Result of the mate search.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in super::super) struct Output {
    /// Always `search`.
    by: &'static str,
    /// The game.
    game: String,
    /// The position in one line.
    position: String,
    /// True if the mover gives check with every move.
    checks_only: bool,
    /// Plies within which a win was searched for; any number where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<u32>,
    /// `mate`, `no_mate` (proven) or `open` (a limit was reached first).
    verdict: &'static str,
    /// Plies of the win that was found; 127 stands for 127 and more.
    #[serde(skip_serializing_if = "Option::is_none")]
    plies: Option<u32>,
    /// True if no win is shorter: proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_shortest: Option<bool>,
    /// Moves of the win against the longest defence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    line: Vec<String>,
    /// Positions that the search looked at.
    nodes: u64,
    /// Seconds that the search took.
    seconds: f64,
}

/// A mate search within the limits of the command.
pub(super) struct Mates<'a> {
    game: &'a AnyGame,
    search: MateSearch<'a>,
    options: MateOptions<'static>,
    time: Option<Duration>,
}

impl<'a> Mates<'a> {
    /// The search with the rules of a game.
    pub(super) fn new(
        game: &'a AnyGame,
        rules: &'a MateRules,
        args: &super::Args,
    ) -> anyhow::Result<Self> {
        for (given, option) in
            [(args.all_moves, "--all-moves"), (args.outcome_only, "--outcome-only")]
        {
            if given {
                bail!(Hinted::from(format!("{option} does not apply to the search for a mate")));
            }
        }
        let MateArgs { full_width, plies } = args.mates;
        let options = MateOptions {
            checks_only: !full_width,
            max_plies: plies.or(full_width.then_some(FULL_WIDTH_PLIES)),
            nodes: args.nodes.unwrap_or(u64::MAX),
            threads: rayon::current_num_threads(),
            ..MateOptions::default()
        };
        let time = args.time.map(|time| time_limit("--time", time)).transpose()?;
        let memory = args.memory.map_or(MEMORY, |memory| memory.0 as usize);
        Ok(Mates { game, search: MateSearch::new(rules, memory), options, time })
    }

    /// Searches a position.
    pub(super) fn find(&self, position: &AnyPosition) -> Output {
        let boards = self.game.shogi_boards().expect("the game has rules for the mate search");
        let began = Instant::now();
        let deadline = self.time.and_then(|time| began.checked_add(time));
        let options = MateOptions { deadline, ..self.options };
        let found = self.search.shortest(&boards.board_of(&position.state), &options);
        let (verdict, plies, is_shortest, actions) = match found.verdict {
            MateVerdict::Mate { plies, is_shortest, line } => {
                ("mate", Some(plies), Some(is_shortest), line)
            }
            MateVerdict::NoMate => ("no_mate", None, None, Vec::new()),
            MateVerdict::Open => ("open", None, None, Vec::new()),
        };
        let mut side = position.side;
        let name = |action| {
            let name = self.game.action_name(side, action);
            side = side.other();
            name
        };
        Output {
            by: "search",
            game: self.game.name(),
            position: self.game.notation(position),
            checks_only: options.checks_only,
            within: options.max_plies,
            verdict,
            plies,
            is_shortest,
            line: actions.into_iter().map(name).collect(),
            nodes: found.nodes,
            seconds: began.elapsed().as_secs_f64(),
        }
    }
}

impl Output {
    /// Shows the board, the verdict and the line.
    pub(super) fn show(
        &self,
        game: &AnyGame,
        position: &AnyPosition,
        context: &mut Context,
    ) -> anyhow::Result<()> {
        context.show("solve-mate", self, |output| {
            let (board, side) = (game.diagram(position), game.side_name(position.side));
            let line = match output.line.is_empty() {
                true => String::new(),
                false => format!("\nLine: {}\n", output.line.join(" ")),
            };
            format!(
                "{}\n{side} to move\n\n{}.\n{line}\nBy search: {} positions in {}\n",
                board.trim_end(),
                output.sentence(),
                thousands(output.nodes),
                took(output.seconds),
            )
        })
    }

    /// The verdict in a sentence.
    fn sentence(&self) -> String {
        let plies = |plies: u32| if plies == 1 { "1 ply".into() } else { format!("{plies} plies") };
        let (what, how) =
            if self.checks_only { ("mate", " by checks") } else { ("forced win", "") };
        let within = self.within.map_or(String::new(), |n| format!(" within {}", plies(n)));
        match (self.plies, self.verdict) {
            (Some(length), _) => {
                let (length, kind) = (plies(length), what[..1].to_uppercase() + &what[1..]);
                match self.is_shortest {
                    Some(true) => format!("{kind} in {length}{how}"),
                    _ => format!("{kind} within {length}{how}; a shorter one is not ruled out"),
                }
            }
            (None, "no_mate") => format!("No {what}{how}{within}: proven"),
            (None, _) => format!("Gave up after {} positions", thousands(self.nodes)),
        }
    }

    /// The verdict, the first move and the position in a line.
    pub(crate) fn row(&self) -> String {
        let verdict = match self.plies {
            Some(plies) => format!("mate {plies}"),
            None => self.verdict.replace('_', " "),
        };
        let first = self.line.first().map_or("-", String::as_str);
        format!("{verdict}\t{first}\t{}\n", self.position)
    }
}
