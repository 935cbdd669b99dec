//! Mates of the shogi family by search.

use std::time::{Duration, Instant};

use anyhow::bail;
use serde::Serialize;

use super::super::context::Context;
use super::super::table_args::time_limit;
use yomikiri::any::{AnyGame, AnyPosition};
use yomikiri::game::shogi::Ending;
use yomikiri::game::{End, Game, GameExt, Outcome};
use yomikiri::hint::Hinted;
use yomikiri::search::mates::{MateLine, MateOptions, MateRules, MateSearch, MateVerdict};
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
    /// Plies that are missing at the end of the line because a limit was reached; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_plies: Option<u32>,
    /// Positions that the search for the verdict looked at.
    nodes: u64,
    /// Seconds that the search for the verdict took.
    seconds: f64,
}

/// A mate search within the limits of the command.
pub(super) struct Mates<'a> {
    game: &'a AnyGame,
    rules: &'a MateRules,
    memory: usize,
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
        Ok(Mates { game, rules, memory, options, time })
    }

    /// Searches a position, and fails if the line contradicts the verdict.
    pub(super) fn find(&self, position: &AnyPosition) -> anyhow::Result<Output> {
        let boards = self.game.shogi_boards().expect("the game has rules for the mate search");
        let began = Instant::now();
        let deadline = self.time.and_then(|time| began.checked_add(time));
        let options = MateOptions { deadline, ..self.options };
        let board = boards.board_of(&position.state);
        // Its own table: verdicts and lines do not depend on positions solved before.
        let search = MateSearch::new(self.rules, self.memory);
        let result = search.shortest(&board, &options);
        let seconds = began.elapsed().as_secs_f64();
        let mut line = MateLine::default();
        let (verdict, plies, is_shortest) = match result.verdict {
            MateVerdict::Mate { plies, is_shortest, first } => {
                line = search.line(&board, &options, plies, result.nodes);
                // The proof has the first move even if no time is left for the line.
                if let (Some(first), true) = (first, line.actions.is_empty()) {
                    line.actions.push(first);
                    line.missing_plies -= 1;
                }
                let length = self.line_length(*position, &line);
                let is_proven = |&n: &u32| n == plies || !is_shortest && n < plies;
                let Some(length) = length.filter(is_proven) else {
                    let position = self.game.notation(position);
                    bail!(
                        "internal error in {position}: invalid line {line:?}: expected a win in {plies} plies"
                    );
                };
                // The longest defence may lose sooner than the proof says.
                ("mate", Some(length), Some(is_shortest))
            }
            MateVerdict::NoMate => ("no_mate", None, None),
            MateVerdict::Open => ("open", None, None),
        };
        let mut side = position.side;
        let name = |action| {
            let name = self.game.action_name(side, action);
            side = side.other();
            name
        };
        Ok(Output {
            by: "search",
            game: self.game.name(),
            position: self.game.notation(position),
            checks_only: options.checks_only,
            within: options.max_plies,
            verdict,
            plies,
            is_shortest,
            line: line.actions.into_iter().map(name).collect(),
            missing_plies: Some(line.missing_plies).filter(|&plies| plies > 0),
            nodes: result.nodes,
            seconds,
        })
    }

    /// Replays a line of the attacker by the rules of the game, and returns its length with the missing plies; `None`
    /// if a move is illegal or gives no check where it must, or if the line ends without a win.
    fn line_length(&self, mut position: AnyPosition, line: &MateLine) -> Option<u32> {
        let (game, attacker) = (self.game, position.side);
        let mates_end = game.shogi_boards()?.variant().ending == Ending::Mate;
        for &action in &line.actions {
            if !game.actions(&position.state).contains(&action) {
                return None;
            }
            position = game.advance(&position, action);
            // A lion that reaches the last rank wins without check.
            let is_lost = || game.result(&position.state) == Some(Outcome::Loss);
            let is_forcing = game.in_check(&position.state) || !mates_end && is_lost();
            if self.options.checks_only && position.side != attacker && !is_forcing {
                return None;
            }
        }
        let is_won = |end: &End| (end.outcome == Outcome::Win) == (position.side == attacker);
        let rest = match line.missing_plies {
            0 => game.end(&position.state).filter(is_won)?.plies.into(),
            plies => plies,
        };
        Some(line.actions.len() as u32 + rest)
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
                false => format!("\nLine: {}{}\n", output.line.join(" "), output.gap()),
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

    /// The plies that the line lacks, in words.
    fn gap(&self) -> String {
        match self.missing_plies {
            None => String::new(),
            Some(1) => " … (1 ply missing)".to_string(),
            Some(plies) if self.plies >= Some(127) => format!(" … ({plies} or more plies missing)"),
            Some(plies) => format!(" … ({plies} plies missing)"),
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

#[cfg(test)]
mod tests {
    use yomikiri::registry::Games;

    use super::*;

    #[test]
    fn invalid_lines_have_no_length() {
        let game = Games::with(vec![]).named("minishogi").unwrap();
        let root = game.parse_position("2k1S/4p/1gS2/4b/1KR2 b RGPb 1", &game.start()).unwrap();
        let rules = MateRules::of_game(&game).unwrap();
        let options = MateOptions::default();
        let board = game.shogi_boards().unwrap().board_of(&root.state);
        let line = MateSearch::new(&rules, 1 << 20).line(&board, &options, 3, 0);
        let mates = Mates { game: &game, rules: &rules, memory: 1 << 20, options, time: None };
        let length = |actions: &[_], missing_plies| {
            let line = MateLine { actions: actions.to_vec(), missing_plies, nodes: 0 };
            mates.line_length(root, &line)
        };
        let quiet = |&action: &_| !game.in_check(&game.play(&root.state, action));
        let quiet = game.actions(&root.state).into_iter().find(quiet).unwrap();
        assert_eq!(length(&line.actions, 0), Some(3));
        assert_eq!(length(&line.actions[..1], 2), Some(3));
        // A cut line that does not say so, an illegal move and an attack without check.
        assert_eq!(length(&line.actions[..1], 0), None);
        assert_eq!(length(&line.actions[1..], 1), None);
        assert_eq!(length(&[quiet], 2), None);
    }
}
