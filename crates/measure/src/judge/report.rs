//! The report on policies: facts about the table and each policy's figures, as plain data.

use std::cmp::Ordering;

use serde::Serialize;

use super::accuracy::{Measured, PolicyAccuracy};
use super::changes::Changes;
use super::comparison::Agreement;
use super::figures::EQUAL;
use super::games::Games;
use super::intervals::Draws;
use super::metrics::Metrics;
use super::mistakes::Mistake;
use super::positions::{JudgedPositions, TableFacts};
use yomikiri::error::Error;
use yomikiri::rules::{BoardLayout, Rules, Side, Split};
use yomikiri::table::{SweepRecord, folder_of};

/// Accuracy of policies on a table; `docs/json.md` describes the JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct AccuracyReport {
    /// Perspective of all values: always `mover`, the player to move.
    pub perspective: &'static str,
    /// Table the policies were measured on.
    pub table: TableFacts,
    /// Figures of the policies, in the order of the request.
    pub policies: Vec<PolicyAccuracy>,
    /// Games between the policies; `None` if they were not played out.
    pub games: Option<Games>,
    /// Reason why requested games were not played out.
    pub why_no_games: Option<String>,
    /// Agreement of the policies; `None` unless requested; not in the JSON.
    #[serde(skip)]
    pub agreement: Option<Agreement>,
    /// Time of each policy, as in [`Measured`]; not in the JSON, which is reproducible.
    #[serde(skip)]
    pub seconds: Vec<Option<f64>>,
    /// Sweeps in which the table was solved.
    pub sweeps: Vec<SweepRecord>,
    /// Names and units of the game.
    pub words: Words,
    /// Board of the game.
    pub board: BoardLayout,
    /// Figures of each policy as flat lists, which a later report is compared with.
    pub metrics: Vec<Metrics>,
    /// Changes against an earlier report, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
}

/// Names a game gives its players, layers and points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Words {
    /// Names of the first and the second player.
    pub sides: [&'static str; 2],
    /// Unit of layers: `discs`, or `plies` in games without layers.
    pub layers: &'static str,
    /// Unit of scores: `disc`.
    pub unit: &'static str,
    /// Unit of scores in the plural.
    pub units: String,
    /// Largest final score, and so the most that a policy can lose of it in a game, mean of both sides; `None` in games
    /// without scores.
    pub most: Option<i8>,
    /// `true` if positions are written as keys, for lack of a notation.
    #[serde(skip)]
    pub positions_are_keys: bool,
    /// Name of the game for people: its string elsewhere that finds the table too, else its name.
    #[serde(skip)]
    pub game: String,
}

impl Words {
    /// Returns the words of a game.
    pub fn of(game: &dyn Rules) -> Words {
        let unit = game.score_unit();
        let sides = Side::ALL.map(|side| game.side_name(side));
        let (name, title) = (game.name(), game.title());
        Words {
            game: if folder_of(&title) == name { title } else { name },
            sides,
            layers: game.layer_unit().unwrap_or("plies"),
            unit,
            units: format!("{unit}s"),
            most: game.max_score().map(|most| most.0),
            positions_are_keys: game.written(&game.start())[0].0 == "line",
        }
    }
}

impl AccuracyReport {
    /// Returns the costliest mistakes of a policy: in games, if they are played out.
    pub fn costliest(&self, at: usize) -> &[Mistake] {
        let games = self.games.as_ref().map(|games| &games.policies[at]);
        games.map_or(&self.policies[at].costliest, |games| &games.costliest)
    }

    /// Returns the indices of the policies, the best first. They are ordered by how often they keep the
    /// outcome in positions whose moves differ in it (held-out ones, if known); ties are broken by how often
    /// they keep the score or the plies there, then by the lower loss of score, then by their order in the
    /// report.
    pub fn ranking(&self) -> Vec<usize> {
        let merits: Vec<[f64; 3]> = self.policies.iter().map(AccuracyReport::merits).collect();
        let mut order: Vec<usize> = (0..merits.len()).collect();
        let better = |a: &f64, b: &f64| b.total_cmp(a);
        order.sort_by(|&a, &b| {
            let pairs = merits[a].iter().zip(&merits[b]);
            pairs.fold(Ordering::Equal, |found, (a, b)| found.then(better(a, b)))
        });
        order
    }

    /// Returns the numbers by which policies are ranked, the most important first.
    fn merits(policy: &PolicyAccuracy) -> [f64; 3] {
        let figures = &policy.held_out().decisive_result;
        let finer = figures.score_kept().or(figures.plies_kept());
        let lost = figures.score_lost().map(|lost| -lost);
        [figures.result_kept(), finer, lost].map(|merit| merit.unwrap_or(0.0))
    }

    /// Adds the intervals of a sample, and which policies are tied with the one ranked above them.
    pub(super) fn weigh(&mut self, sample: Option<&[Draws]>) {
        let part = |policy: &PolicyAccuracy| policy.splits.as_ref()?.held_out();
        let parts: Vec<Option<Split>> = self.policies.iter().map(part).collect();
        for pair in self.ranking().windows(2) {
            let [above, at] = [pair[0], pair[1]];
            let [better, worse] = [above, at].map(|at| AccuracyReport::merits(&self.policies[at]));
            self.policies[at].tied = match sample {
                Some(draws) => draws[above]
                    .difference(parts[above], (&draws[at], parts[at]))
                    .is_some_and(|difference| difference.contains(0.0)),
                None => better.iter().zip(&worse).all(|(a, b)| (a - b).abs() <= EQUAL),
            };
        }
        for ((policy, part), draws) in
            self.policies.iter_mut().zip(parts).zip(sample.into_iter().flatten())
        {
            policy.intervals = draws.intervals(part);
        }
    }

    /// Combines the figures of policies with facts about the positions they were measured in.
    ///
    /// Fails if the manifest's roots are not positions of the game.
    pub fn new(
        positions: &dyn JudgedPositions,
        measured: Measured,
    ) -> Result<AccuracyReport, Error> {
        let Measured { judged, asked, seconds, policies, checksum } = measured;
        let (game, mut table) = (positions.game(), positions.facts()?);
        table.checksum = checksum.digits(game, &table);
        (table.judged_states, table.asked_states) = (judged, asked);
        Ok(AccuracyReport {
            perspective: "mover",
            table,
            policies,
            games: None,
            why_no_games: None,
            agreement: None,
            seconds,
            sweeps: positions.sweeps().to_vec(),
            words: Words::of(game),
            board: game.board_layout(),
            metrics: Vec::new(),
            changes: None,
        })
    }
}
