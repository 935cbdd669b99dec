//! Requests for reports: all inputs of a report, and the function that makes it.

use super::accuracy::{RowSink, gather, judging_seconds, measure, play_everywhere};
use super::cache::MeasureCache;
use super::comparison::{Agreement, ComparedFigures, Comparison, PairedSets, groups_of};
use super::exact_play::Play;
use super::forced::ForcedFigures;
use super::games::{BothSides, Match, Opening, Played, games};
use super::intervals::Draws;
use super::metrics::Metrics;
use super::mistakes::Costliest;
use super::player::Player;
use super::positions::{JudgedPositions, Piece, TablePositions};
use super::report::{AccuracyReport, Words};
use super::unfolded::Unfolded;
use crate::policy::Answers;
use yomikiri::error::{Error, Kind};
use yomikiri::oracle::{Orienting, SolvedTable};
use yomikiri::progress::Progress;
use yomikiri::rules::{Repetition, Side};
use yomikiri::table::Manifest;

/// Inputs of a report.
pub struct Request<'a> {
    /// Positions to measure in.
    pub positions: &'a dyn JudgedPositions,
    /// Players to measure.
    pub players: &'a [Player],
    /// `true` to play out games between the players, if [`Request::why_no_games`] allows it.
    pub games: bool,
    /// Number of costliest mistakes to keep for each policy.
    pub mistakes: usize,
    /// `true` to measure the agreement of the policies.
    pub agreement: bool,
}

impl<'a> Request<'a> {
    /// Returns the table in whose positions games can be played out, or why they cannot. They can if every position of
    /// a [`playable`] table is measured.
    fn game_table(&self) -> Result<&'a TablePositions<'a>, String> {
        let all = self.positions.of_table().filter(|rows| rows.part.is_none());
        let rows = all.ok_or("games need all positions, and only some are measured")?;
        if rows.orienting != Orienting::All {
            let what = "games need all images of a position, and policies are asked about one";
            return Err(what.to_string());
        }
        playable(rows.table).map_err(|wrong| format!("the table {}", wrong.line()))?;
        Ok(rows)
    }

    /// Returns why games cannot be played out; `None` if they can.
    pub fn why_no_games(&self) -> Option<String> {
        self.game_table().err()
    }

    /// Estimates the memory that games take, in bytes; 0 if they cannot be played out.
    pub fn bytes_of_games(&self) -> f64 {
        let bytes = |rows: &TablePositions<'_>| {
            games_bytes(rows.table.table().manifest(), self.players.len())
        };
        self.game_table().map_or(0.0, bytes)
    }

    /// Estimates the seconds in which all threads judge the policies, from the time of a few positions.
    pub fn judging_seconds(&self) -> Result<f64, Error> {
        judging_seconds(self.positions, self.players)
    }

    /// Makes the report; `sink` receives every piece with each player's answers.
    pub fn report(
        self,
        mut sink: Option<&mut RowSink<'_>>,
        progress: &dyn Progress,
    ) -> Result<AccuracyReport, Error> {
        let Request { positions, players, .. } = self;
        let game = positions.game();
        let (game_table, why_no_games) = match self.games.then(|| self.game_table()) {
            Some(Ok(rows)) => (Some(rows), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        // A cache for this report alone.
        let own = MeasureCache::up_to(0);
        let cache = game_table.and_then(|rows| rows.cache).unwrap_or(&own);
        let unfolded = match game_table {
            Some(rows) => Some((rows, cache.unfolded(rows.table.states())?)),
            None => None,
        };
        // If rows record their orientations, the judged positions are those that games reach.
        let gathers = game_table.is_some_and(|rows| rows.table.states().has_orientations());
        let mut gathered = Vec::new();
        let costliest = if unfolded.is_some() { 0 } else { self.mistakes };
        let mut costliest: Vec<Costliest> =
            players.iter().map(|_| Costliest::new(game, costliest)).collect();
        let is_sample = positions.is_sample();
        let draws = |player: &Player| Draws::new(player.divider(game), game.max_score());
        let mut samples: Vec<Draws> = players.iter().map(draws).collect();
        let is_kept = gathers || sink.is_some() || self.mistakes > 0 || self.agreement || is_sample;
        let mut agreement = Agreement::default();
        let mut collect = |piece: &Piece, answers: &[Answers]| {
            if gathers {
                gather(&mut gathered, answers);
            }
            if self.agreement {
                agreement.add(piece, answers);
            }
            let all = costliest.iter_mut().zip(&mut samples).zip(answers);
            for ((costliest, sample), answers) in all {
                costliest.add(game, piece, answers);
                if is_sample {
                    sample.add(piece, answers);
                }
            }
            sink.as_mut().map_or(Ok(()), |sink| sink(piece, answers))
        };
        let collect: Option<&mut RowSink<'_>> = if is_kept { Some(&mut collect) } else { None };
        let mut measured = measure(positions, players, collect, progress)?;
        let forced = positions.forced();
        let forced = forced.map(|forced| measure(forced.as_ref(), players, None, progress));
        let forced = forced.transpose()?;
        if let Some(forced) = &forced {
            measured.checksum.add(forced.checksum);
        }
        let mut report = AccuracyReport::new(positions, measured)?;
        let forced = forced.into_iter().flat_map(|forced| forced.policies);
        for (policy, forced) in report.policies.iter_mut().zip(forced) {
            policy.forced = Some(ForcedFigures::of(&forced.details));
        }
        report.why_no_games = why_no_games;
        report.agreement = self.agreement.then_some(agreement);
        for (policy, costliest) in report.policies.iter_mut().zip(costliest) {
            policy.costliest = costliest.mistakes();
        }
        report.weigh(is_sample.then_some(&samples[..]));
        if let Some((TablePositions { table, .. }, unfolded)) = unfolded {
            // Games follow edges into positions that a damaged table would leave without answers.
            table.table().check_read()?;
            if !gathers {
                gathered = play_everywhere(table, &unfolded, players, progress)?;
            }
            let names: Vec<String> = players.iter().map(Player::name).collect();
            let played = names.iter().zip(&gathered);
            let played = played.map(|(name, probabilities)| Played { name, probabilities });
            let play = Play::new(&unfolded, table);
            progress.begin("playing games", None);
            let played: Vec<Played<'_>> = played.collect();
            report.games = Some(games(&play, &cache.baselines(&play), &played, self.mistakes));
            progress.finish("games played");
        }
        if let Some(rows) = positions.of_table() {
            rows.table.table().check_read()?;
        }
        report.metrics = Metrics::of(&report.policies, report.games.as_ref());
        Ok(report)
    }
}

/// Compares two policies of these names in a stream of positions. `players` are the first and the second policy for
/// the first seed, then for the next; the `worst` greatest differences are kept. Returns the report on all players
/// beside the comparison.
pub fn compare(
    positions: &dyn JudgedPositions,
    players: &[Player],
    names: [&str; 2],
    worst: usize,
    progress: &dyn Progress,
) -> Result<(Comparison, AccuracyReport), Error> {
    let (game, is_sample) = (positions.game(), positions.is_sample());
    let mut paired = PairedSets::default();
    let mut add = |piece: &Piece, answers: &[Answers]| {
        paired.add(game, piece, answers, (worst, is_sample));
        Ok(())
    };
    let add: &mut RowSink<'_> = &mut add;
    let request = Request { positions, players, games: false, mistakes: 0, agreement: false };
    let mut report = request.report(Some(add), progress)?;
    // Both policies are compared in all positions, also those that one of them has learned from.
    for policy in &mut report.policies {
        (policy.splits, policy.held_out_details) = (None, None);
    }
    report.metrics = Metrics::of(&report.policies, None);
    let mean = |of: usize, name: &str| {
        let all = report.metrics.iter().skip(of).step_by(2);
        let all: Option<Vec<f64>> = all.map(|metrics| metrics.number(name)?).collect();
        all.map(|all| all.iter().sum::<f64>() / all.len() as f64)
    };
    let groups = |of: usize| groups_of(&report.policies[of].details);
    let [first, second] = [0, 1].map(|of| move |name: &str| mean(of, name));
    let mut comparison = Comparison::of_figures([
        ComparedFigures { name: names[0], figure: &first, groups: groups(0) },
        ComparedFigures { name: names[1], figure: &second, groups: groups(1) },
    ]);
    comparison.paired = Some(paired.averaged(game.max_score()));
    Ok((comparison, report))
}

impl Match {
    /// Plays the first of two players against the second on a [`playable`] table, after 0 to `openings`
    /// random plies.
    pub fn of(
        table: &SolvedTable,
        players: &[Player],
        openings: u32,
        progress: &dyn Progress,
    ) -> Result<Match, Error> {
        playable(table).map_err(|why| why.map(|why| format!("{} {why}", table.table().name())))?;
        let unfolded = Unfolded::new(table.states())?;
        let moves = play_everywhere(table, &unfolded, players, progress)?;
        let play = Play::new(&unfolded, table);
        let [own, other] = [0, 1].map(|at| &moves[at][..]);
        let opening = |random_plies| {
            let from = play.after_random_plies(random_plies);
            let result = |first, second| play.result(&play.walk(first, second, &from));
            let results =
                BothSides { first: result(own, other), second: result(other, own).reversed() };
            Opening { random_plies, results }
        };
        let game = table.game();
        let found = Match {
            table: table.table().name(),
            policy: players[0].name(),
            opponent: players[1].name(),
            sides: Side::ALL.map(|side| game.side_name(side)),
            units: Words::of(game).units,
            most_plies: play.most_plies(),
            openings: (0..=openings).map(opening).collect(),
        };
        table.table().check_read()?;
        Ok(found)
    }
}

/// Checks that games can be played out on a table: it must be complete and count infinite play.
pub fn playable(table: &SolvedTable) -> Result<(), Error> {
    if !table.table().manifest().complete {
        let what = "is bounded: games lead out of the table";
        return Err(Error::new(what, "expected a complete table").of_kind(Kind::Unfit));
    }
    if table.values().repetition() == Repetition::Unknown {
        let what = "does not define the value of infinite play";
        return Err(Error::new(what, "solve it with --repetition draw").of_kind(Kind::Unfit));
    }
    Ok(())
}

/// Estimates the memory of a match between `policies` policies on the actual positions of a table, in bytes.
pub fn unfolded_bytes(manifest: &Manifest, policies: usize) -> f64 {
    bytes(manifest, policies, 160)
}

/// Estimates the memory of all games of a report, in bytes.
pub fn games_bytes(manifest: &Manifest, policies: usize) -> f64 {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    bytes(manifest, policies, 84 + 200 * policies.clamp(1, processors))
}

/// Adds up the unfolded table, the answers of policies and baselines, and `each` bytes a position.
fn bytes(manifest: &Manifest, policies: usize, each: usize) -> f64 {
    // If actual positions are not counted, each row has at most one position per symmetry, and two if sides
    // are not kept.
    let sides = if manifest.identity.sides.is_some() { 1 } else { 2 };
    let images = u64::from(manifest.identity.symmetry_order) * sides;
    let counts = &manifest.counts;
    let counts = counts.reachable.unwrap_or_else(|| counts.table.times(images));
    let (positions, moves) = (counts.states, counts.transitions);
    // Probabilities and scores of each policy and of the two baselines.
    let answers = moves as f64 * 16.0 * (policies + 2) as f64;
    Unfolded::bytes(positions, moves) as f64 * 2.0 + answers + positions as f64 * each as f64
}
