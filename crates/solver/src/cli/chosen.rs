//! Positions of a report: all, a part of them, those of a file, of random games or of a policy's games.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;
use clap::builder::RangedU64ValueParser;

use super::complete::policies;
use super::context::Context;
use super::lines;
use super::sampled::policy;
use yomikiri::any::{AnyGame, AnyPosition};
use yomikiri::game::{Game, GameExt, Split};
use yomikiri::hint::Hinted;
use yomikiri::progress::Silent;
use yomikiri::solved::SolvedTable;
use yomikiri_measure::evaluate::{Piece, Player, Sampling, Wanted, drawn, met, of_split};

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
    /// Measure the positions of a file, one per line, with their mirror images
    ///
    /// Lines are read as by 'solver export --positions'; a directory of 'solver export --states' works too.
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,
    /// Measure N positions of random games, solved by search: for boards too large for a table
    ///
    /// The positions are distinct. Positions of --positions are searched too on such boards. [default with
    /// --empty-squares: 1000]
    #[arg(long, value_name = "N", conflicts_with_all = ["split", "positions"],
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000_000))]
    sample: Option<usize>,
    /// Measure the positions that a policy meets in games, solved by search
    ///
    /// Positions in which it is to move count as often as it meets them.
    #[arg(long, value_name = "POLICY", conflicts_with_all = ["split", "positions", "sample"], add = policies(),
        hide_short_help = true)]
    games_of: Option<String>,
    /// Opponent in these games [default: random]
    #[arg(long, value_name = "POLICY", requires = "games_of", add = policies(), hide_short_help = true)]
    opponent: Option<String>,
    /// Number of these games with each side [default: 10]
    #[arg(long, value_name = "N", requires = "games_of", hide_short_help = true,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    games: Option<u64>,
    /// Empty squares of positions that are searched: 8..16 [default: 8..12]
    ///
    /// With --games-of the default is all; on boards of more than 36 squares, up to 16.
    #[arg(long, value_name = "FROM..TO", value_parser = range, conflicts_with_all = ["split", "positions"],
        hide_short_help = true)]
    empty_squares: Option<(u32, u32)>,
    /// Seed of positions and games [default: 0]
    #[arg(long, value_name = "SEED", conflicts_with_all = ["split", "positions"], hide_short_help = true)]
    seed: Option<u64>,
}

/// Squares of a board above which the beginning of a game is out of reach of the search.
const LARGE: usize = 36;

fn range(text: &str) -> Result<(u32, u32), String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let number = |text: &str| text.trim_start_matches('=').trim().parse::<u32>().ok();
    let range = number(from).zip(number(to)).filter(|(from, to)| from <= to);
    range.ok_or("expected two numbers, as in 8..16".to_string())
}

/// Positions whose values are found by search, and what they are in words.
pub(super) struct ToSearch {
    pub positions: Vec<AnyPosition>,
    pub words: String,
    pub is_sample: bool,
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

/// Some positions, and which they are in words.
pub(super) struct Chosen {
    pub words: String,
    pub wanted: Box<Wanted<'static>>,
}

impl ChosenArgs {
    /// The positions that are to be searched; `None` where a table answers.
    pub(super) fn to_search(
        &self,
        game: &AnyGame,
        has_table: bool,
        context: &Context,
    ) -> anyhow::Result<Option<ToSearch>> {
        if let Some(name) = &self.games_of {
            return self.of_games(name, game, context).map(Some);
        }
        if self.sample.is_some() || self.empty_squares.is_some() || self.seed.is_some() {
            let (count, seed) = (self.sample.unwrap_or(1000), self.seed.unwrap_or(0));
            let (positions, words) = drawn(game, self.empty_squares, count, seed, &Silent)
                .map_err(|wrong| wrong.map(|what| format!("--sample: {what}")))?;
            return Ok(Some(ToSearch { positions, words, is_sample: true }));
        }
        let Some(file) = &self.positions else { return Ok(None) };
        if has_table {
            return Ok(None);
        }
        let mut positions = Vec::new();
        for (number, line) in lines::of_positions(&lines::read(file)?) {
            let position = game.parse_position(line, &game.start()).map_err(|error| {
                let what = format!("{}, line {number}: {error}", file.display());
                Hinted::new(what, "correct it or leave it out")
            })?;
            positions.push(position);
        }
        if positions.is_empty() {
            bail!(Hinted::new(format!("no position in {}", file.display()), "write one per line"));
        }
        let words = format!("those of {}", file.display());
        Ok(Some(ToSearch { positions, words, is_sample: false }))
    }

    /// The positions of games that a policy plays.
    fn of_games(&self, name: &str, game: &AnyGame, context: &Context) -> anyhow::Result<ToSearch> {
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
        let (positions, words) = met(game, players, range, sampling, &context.bars)
            .map_err(|wrong| wrong.map(|what| format!("--games-of: {what}")))?;
        Ok(ToSearch { positions, words, is_sample: false })
    }

    /// The positions that are chosen; `None` for all.
    pub(super) fn chosen(
        &self,
        players: &[Player],
        table: &SolvedTable,
    ) -> anyhow::Result<Option<Chosen>> {
        if let Some(split) = self.split.and_then(Part::split) {
            let found = of_split(split, players, table.game());
            let (wanted, words) =
                found.map_err(|wrong| wrong.map(|what| format!("--split: {what}")))?;
            return Ok(Some(Chosen { words, wanted }));
        }
        self.positions.as_ref().map(|file| of_file(file, table)).transpose()
    }
}

fn of_file(file: &Path, table: &SolvedTable) -> anyhow::Result<Chosen> {
    let file = if file.is_dir() { file.join("positions.txt") } else { file.to_path_buf() };
    let (text, mut bad) = (lines::read(&file)?, Vec::new());
    let mut rows = HashSet::new();
    let from = (table.game(), lines::root_of(table.game(), Some(table))?);
    for line in lines::positions(&text, from, false, &mut bad) {
        match table.states().find(&line.position) {
            Some(row) => drop(rows.insert(row as u32)),
            None => bad.push((line.line, lines::missing(&line.position, table))),
        }
    }
    if let Some((line, wrong)) = bad.into_iter().min() {
        let wrong = wrong.map(|what| format!("{}, line {line}: {what}", file.display()));
        bail!(wrong.with_hint("correct it or leave it out"));
    }
    if rows.is_empty() {
        bail!(Hinted::new(format!("no position in {}", file.display()), "write one per line"));
    }
    let words = format!("those of {} and their images", file.display());
    let wanted = move |piece: &Piece, at: usize| rows.contains(&piece.cases[at].row);
    Ok(Chosen { words, wanted: Box::new(wanted) })
}
