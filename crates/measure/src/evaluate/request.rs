//! Requests for reports: all inputs of a report, and the function that makes it.

use super::accuracy::{RowSink, gather, judging_seconds, measure, play_everywhere};
use super::case::{Piece, Wanted};
use super::compare::Agreement;
use super::error::MeasureError;
use super::forced::ForcedFigures;
use super::games::{BothSides, Match, Opening, Played, games};
use super::kept::Kept;
use super::metrics::Metrics;
use super::mistakes::Costliest;
use super::play::Play;
use super::player::Player;
use super::report::{AccuracyReport, Words};
use super::source::Judged;
use super::unfolded::Unfolded;
use crate::policy::Answers;
use yomikiri::game::{GameExt, Repetition, Side};
use yomikiri::hint::{Hint, Hinted};
use yomikiri::progress::Progress;
use yomikiri::solved::{Orienting, SolvedTable};
use yomikiri::table::Manifest;

/// Inputs of a report.
pub struct Request<'a> {
    /// Table to measure on.
    pub table: &'a SolvedTable,
    /// Players to measure.
    pub players: &'a [Player],
    /// Positions of a row that players are asked about.
    pub orienting: Orienting,
    /// Filter of the positions to measure, with its description for the report; `None` for all.
    pub chosen: Option<(&'a Wanted<'a>, String)>,
    /// Rows that contain all chosen positions, in ascending order; `None` if it may be any.
    pub rows: Option<&'a [usize]>,
    /// `true` to play out games between the players, if [`Request::why_no_games`] allows it.
    pub games: bool,
    /// Number of costliest mistakes to keep for each policy.
    pub mistakes: usize,
    /// `true` to measure the agreement of the policies.
    pub agreement: bool,
    /// Cache of data that depends on the table alone, shared between reports.
    pub kept: Option<&'a Kept>,
}

impl Request<'_> {
    /// Returns why games cannot be played out. They can (`None`) if every position is measured and the table
    /// is [`playable`].
    pub fn why_no_games(&self) -> Option<String> {
        if self.chosen.is_some() {
            return Some("games need all positions, and only some are measured".to_string());
        }
        if self.orienting != Orienting::All {
            return Some(
                "games need all images of a position, and policies are asked about one".to_string(),
            );
        }
        playable(self.table).err().map(|wrong| format!("the table {}", wrong.line()))
    }

    /// Estimates the memory that games take, in bytes.
    pub fn bytes_of_games(&self) -> f64 {
        games_bytes(self.table.table().manifest(), self.players.len())
    }

    /// Estimates the seconds in which all threads judge the policies, from the time of a few positions.
    pub fn judging_seconds(&self) -> Result<f64, MeasureError> {
        let wanted = self.chosen.as_ref().map(|(wanted, _)| *wanted);
        judging_seconds(&Judged::new(self.table, self.orienting), wanted, self.players)
    }

    /// Makes the report; `sink` receives every piece with each player's answers.
    pub fn report(
        self,
        mut sink: Option<&mut RowSink<'_>>,
        progress: &dyn Progress,
    ) -> Result<AccuracyReport, MeasureError> {
        let Request { table, players, orienting, .. } = self;
        let why_no_games = if self.games { self.why_no_games() } else { None };
        // A cache for this report alone.
        let own = Kept::up_to(0);
        let kept = self.kept.unwrap_or(&own);
        let unfolded = match self.games && why_no_games.is_none() {
            true => Some(kept.unfolded(table.states()).map_err(MeasureError::damaged)?),
            false => None,
        };
        let judged = Judged::new(table, orienting).kept_in(self.kept).only(self.rows);
        let wanted = self.chosen.as_ref().map(|(wanted, _)| *wanted);
        // If rows record their orientations, the judged positions are those that games reach.
        let gathers = unfolded.is_some() && table.states().has_orientations();
        let mut gathered = Vec::new();
        let costliest = if unfolded.is_some() { 0 } else { self.mistakes };
        let costliest = |_| Costliest::new(table.game(), costliest);
        let mut costliest: Vec<Costliest> = players.iter().map(costliest).collect();
        let is_kept = gathers || sink.is_some() || self.mistakes > 0 || self.agreement;
        let mut agreement = Agreement::default();
        let mut collect = |piece: &Piece, answers: &[Answers]| {
            if gathers {
                gather(&mut gathered, answers);
            }
            if self.agreement {
                agreement.add(piece, answers);
            }
            let all = costliest.iter_mut().zip(answers);
            all.for_each(|(costliest, answers)| costliest.add(table.game(), piece, answers));
            sink.as_mut().map_or(Ok(()), |sink| sink(piece, answers))
        };
        let collect: Option<&mut RowSink<'_>> = if is_kept { Some(&mut collect) } else { None };
        let measured = measure(&judged, wanted, players, collect, progress)?;
        let mut report = AccuracyReport::new(&judged, measured)?;
        if !table.table().manifest().complete {
            let forced = Judged::forced(table, orienting).only(self.rows);
            let measured = measure(&forced, wanted, players, None, progress)?.policies;
            for (policy, measured) in report.policies.iter_mut().zip(&measured) {
                policy.forced = Some(ForcedFigures::of(&measured.details));
            }
        }
        report.why_no_games = why_no_games;
        report.agreement = self.agreement.then_some(agreement);
        for (policy, costliest) in report.policies.iter_mut().zip(costliest) {
            policy.costliest = costliest.mistakes();
        }
        report.table.chosen = self.chosen.map(|(_, words)| words);
        if let Some(unfolded) = unfolded {
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
            report.games = Some(games(&play, &kept.baselines(&play), &played, self.mistakes));
            progress.finish("games played");
        }
        table.table().check_read()?;
        report.metrics = Metrics::of(&report.policies, report.games.as_ref());
        Ok(report)
    }
}

impl Match {
    /// Plays the first of two players against the second on a [`playable`] table, after 0 to `openings`
    /// random plies.
    pub fn of(
        table: &SolvedTable,
        players: &[Player],
        openings: u32,
        progress: &dyn Progress,
    ) -> Result<Match, MeasureError> {
        playable(table).map_err(MeasureError::Damaged)?;
        let unfolded = Unfolded::new(table.states()).map_err(MeasureError::damaged)?;
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
pub fn playable(table: &SolvedTable) -> Result<(), Hinted> {
    if !table.table().manifest().complete {
        let what = "is bounded: games lead out of the table";
        return Err(Hinted::new(what, "expected a complete table"));
    }
    if table.values().repetition() == Repetition::Unknown {
        let what = "does not define the value of infinite play";
        return Err(Hinted::new(what, "solve it with --repetition draw"));
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
    bytes(manifest, policies, 40 + 200 * policies.clamp(1, processors))
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
