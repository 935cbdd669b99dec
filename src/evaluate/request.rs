//! A whole report: what is asked for, and the one way in which it is made.

use super::accuracy::{Gathered, MeasureError, Player, Sink, measure};
use super::agreement::Agreement;
use super::games::{BothSides, Match, Opening, Played, games};
use super::mistakes::Costliest;
use super::play::{Play, mean_of};
use super::report::{AccuracyReport, Words};
use super::source::{Chosen, Judged, Piece, Source, Wanted};
use super::unfolded::Unfolded;
use crate::game::{Game, Side};
use crate::policy::Answers;
use crate::progress::Progress;
use crate::solved::{Orienting, SolvedTable};

/// What a report is to say.
pub struct Request<'a> {
    /// Measured on.
    pub table: &'a SolvedTable,
    /// Whom.
    pub players: &'a [Player],
    /// Which positions of a row they are asked about.
    pub orienting: Orienting,
    /// Which positions are measured, and which those are in words; `None` for all.
    pub chosen: Option<(&'a Wanted<'a>, String)>,
    /// Whether games between them are played out, where all positions are asked about and the table
    /// allows it ([`Request::may_play`]).
    pub games: bool,
    /// How many of each policy's costliest mistakes are kept.
    pub mistakes: usize,
    /// Whether it is found out how alike they choose.
    pub agreement: bool,
}

impl Request<'_> {
    /// Whether games can be played out: on a complete table that keeps which positions can be
    /// reached, where every position is asked about.
    pub fn may_play(&self) -> bool {
        let manifest = self.table.table().manifest();
        let all = self.orienting == Orienting::All && self.chosen.is_none();
        all && manifest.complete && manifest.counts.reachable.is_some()
    }

    /// About how much memory games take, in bytes.
    pub fn bytes_of_games(&self) -> f64 {
        let counts = self.table.table().manifest().counts.reachable();
        unfolded_bytes(counts.states, counts.transitions, self.players.len())
    }

    /// Makes the report; `sink` receives every piece with what each player answers.
    pub fn report(
        self,
        mut sink: Option<&mut Sink<'_>>,
        progress: &dyn Progress,
    ) -> Result<AccuracyReport, MeasureError> {
        let Request { table, players, orienting, .. } = self;
        let unfolded = match self.games && self.may_play() {
            true => Some(Unfolded::new(table.states()).map_err(MeasureError::Damaged)?),
            false => None,
        };
        let judged = Judged { table, orienting };
        let mut gathered = Gathered::default();
        let costliest = if unfolded.is_some() { 0 } else { self.mistakes };
        let costliest = |_| Costliest::new(table.game(), costliest);
        let mut costliest: Vec<Costliest> = players.iter().map(costliest).collect();
        let is_kept = unfolded.is_some() || sink.is_some() || self.mistakes > 0 || self.agreement;
        let mut agreement = Agreement::default();
        let mut collect = |piece: &Piece, answers: &[Answers]| {
            if unfolded.is_some() {
                gathered.add(answers);
            }
            if self.agreement {
                agreement.add(piece, answers);
            }
            let all = costliest.iter_mut().zip(answers);
            all.for_each(|(costliest, answers)| costliest.add(table.game(), piece, answers));
            sink.as_mut().map_or(Ok(()), |sink| sink(piece, answers))
        };
        let collect: Option<&mut Sink<'_>> = if is_kept { Some(&mut collect) } else { None };
        let some = self.chosen.as_ref().map(|(wanted, _)| Chosen { source: &judged, wanted });
        let source = some.as_ref().map_or(&judged as &dyn Source, |some| some);
        let measured = measure(source, players, collect, progress)?;
        let mut report = AccuracyReport::new(&judged, measured)?;
        report.agreement = self.agreement.then_some(agreement);
        for (policy, costliest) in report.policies.iter_mut().zip(costliest) {
            policy.costliest = costliest.mistakes();
        }
        report.table.chosen = self.chosen.map(|(_, words)| words);
        if let Some(unfolded) = unfolded {
            let names: Vec<String> = players.iter().map(Player::name).collect();
            let played = names.iter().zip(&gathered.answers).map(|(name, answers)| Played {
                name,
                probabilities: &answers.probabilities,
                values: &answers.values,
            });
            let play = Play::new(&unfolded, table);
            progress.begin("playing games", None);
            report.games = Some(games(&play, &played.collect::<Vec<_>>(), self.mistakes));
            progress.finish("games played");
        }
        Ok(report)
    }
}

impl Match {
    /// What games between the first and the second of two players come to on a complete table that
    /// keeps which positions can be reached.
    pub fn of(
        table: &SolvedTable,
        players: &[Player],
        openings: u32,
        progress: &dyn Progress,
    ) -> Result<Match, MeasureError> {
        let mut gathered = Gathered::default();
        let mut sink = |_: &Piece, answers: &[Answers]| {
            gathered.add(answers);
            Ok(())
        };
        let judged = Judged { table, orienting: Orienting::All };
        measure(&judged, players, Some(&mut sink), progress)?;
        let unfolded = Unfolded::new(table.states()).map_err(MeasureError::Damaged)?;
        let play = Play::new(&unfolded, table);
        let [own, other] = [0, 1].map(|at| &gathered.answers[at].probabilities[..]);
        let (as_first, as_second) = (play.games(own, other), play.games(other, own));
        let opening = |random_plies| {
            let from = play.after_random_plies(random_plies);
            let results = BothSides {
                first: mean_of(&as_first, &from),
                second: mean_of(&as_second, &from).reversed(),
            };
            Opening { random_plies, results }
        };
        let game = table.game();
        Ok(Match {
            table: table.table().name(),
            policy: players[0].name(),
            opponent: players[1].name(),
            sides: Side::ALL.map(|side| game.side_name(side)),
            units: Words::of(game).units,
            openings: (0..=openings).map(opening).collect(),
        })
    }
}

/// About how much memory games between so many policies take on a table of so many actual positions
/// and moves, in bytes.
pub fn unfolded_bytes(positions: u64, moves: u64, policies: usize) -> f64 {
    // Probabilities and scores of each policy, those of the baselines, and the values of a game.
    let answers = moves as f64 * 16.0 * (policies + 2) as f64;
    Unfolded::bytes(positions, moves) as f64 * 2.0 + answers + positions as f64 * 160.0
}
