//! `solver query`: what a table says of a position.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::ExitCode;

use serde::Serialize;

use super::context::Context;
use super::error::{UserError, not_found, not_solved};
use super::position::{is_folded, parse, spec_of};
use super::query_cyclic::{self, CyclicAnswer};
use super::verdict::verdict;
use crate::game::{Action, Cyclic, GameVisitor, Layered, Orientations, Outcome, Position, Score};
use crate::graph::{Graph, StateId};
use crate::render::Grid;
use crate::solve::{Solved, Value};
use crate::table::Table;

/// Show the value of a position and of each of its moves
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A table's name or directory
    table: String,
    /// A board, SFEN or an OBF line, digits, a transcript, 'start', or '-' to read it from stdin
    // Takes one value that may begin with a hyphen: more of them would swallow the options after.
    #[arg(allow_hyphen_values = true)]
    position: String,
    /// The rest of a position that is not quoted
    rest: Vec<String>,
    /// Draw the board with the Japanese names of the pieces (shogi)
    #[arg(long)]
    japanese: bool,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitCode> {
    let table = context.store.open(&args.table)?;
    if table.manifest().solution.is_none() {
        return Err(not_solved(&args.table).into());
    }
    let mut text = [&[args.position], &args.rest[..]].concat().join(" ");
    if text == "-" {
        text.clear();
        std::io::stdin().read_to_string(&mut text)?;
    }
    let visitor = Query { table: &table, text: &text, japanese: args.japanese };
    match spec_of(&table)?.with_rules(is_folded(&table), visitor)? {
        Said::Layered(answer) if context.json => context.json(&answer)?,
        Said::Layered(answer) => context.print(answer.to_text())?,
        Said::Cyclic(answer) if context.json => context.json(&answer)?,
        Said::Cyclic(answer) => context.print(answer.to_text())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What was found, of either sort of game.
enum Said {
    Layered(Answer),
    Cyclic(CyclicAnswer),
}

/// What the table says; the JSON that `--json` prints (`docs/query-schema.md`). Values are those of
/// `mover`.
#[derive(Debug, Serialize)]
struct Answer {
    table: String,
    position: String,
    /// The same in every one-line notation, by name.
    notations: BTreeMap<&'static str, String>,
    #[serde(skip)]
    diagram: String,
    perspective: &'static str,
    mover: &'static str,
    /// Whether this very position, not only a mirror image or the one with colours exchanged, can
    /// be reached from the root.
    reachable: bool,
    /// `interior`, `terminal` or `frontier`.
    kind: &'static str,
    #[serde(flatten)]
    value: Verdict,
    moves: Vec<MoveAnswer>,
    principal_variation: Vec<String>,
}

#[derive(Debug, Serialize)]
struct MoveAnswer {
    #[serde(rename = "move")]
    name: String,
    action: u16,
    #[serde(flatten)]
    value: Verdict,
}

#[derive(Clone, Debug, Serialize)]
struct Verdict {
    outcome: Option<&'static str>,
    score: Option<i8>,
    distance: Option<u16>,
    score_lower: i8,
    score_upper: i8,
    #[serde(skip)]
    outcome_value: Option<Outcome>,
}

impl Verdict {
    fn of(value: Value) -> Verdict {
        Verdict {
            outcome: value.outcome().map(Outcome::name),
            score: value.score().map(|s| s.0),
            distance: value.distance,
            score_lower: value.score_lower.0,
            score_upper: value.score_upper.0,
            outcome_value: value.outcome(),
        }
    }
}

struct Query<'a> {
    table: &'a Table,
    text: &'a str,
    japanese: bool,
}

impl GameVisitor for Query<'_> {
    type Output = anyhow::Result<Said>;

    fn layered<G: Layered>(self, game: G) -> anyhow::Result<Said> {
        let position = parse(&game, self.table, self.text)?;
        if self.japanese {
            return Err(
                UserError::new(format!("--japanese means nothing for {}", game.spec())).into()
            );
        }
        let graph = Graph::open(self.table)?;
        let solved = Solved::open(self.table)?.ok_or_else(|| not_solved(&self.table.name()))?;
        let look = Look { game: &game, graph, solved };
        let Some(id) = look.graph.find(&game, &position.state) else {
            return Err(not_found(&game, self.table, &position).into());
        };
        let moves = look.moves(&position);
        Ok(Said::Layered(Answer {
            table: self.table.name(),
            position: game.notation(&position),
            notations: game.notations(&position).into_iter().collect(),
            diagram: game.diagram(&position),
            perspective: "mover",
            mover: game.side_name(position.side),
            reachable: look.is_reachable(&position, id),
            kind: look.graph.kind(id.row()).name(),
            value: Verdict::of(look.solved.value(id.row())),
            moves: moves
                .iter()
                .map(|&(action, value)| MoveAnswer {
                    name: game.action_name(position.side, action),
                    action: action.0,
                    value: Verdict::of(value),
                })
                .collect(),
            principal_variation: look.best_line(position),
        }))
    }

    fn cyclic<G: Cyclic>(self, game: G) -> anyhow::Result<Said> {
        let position = parse(&game, self.table, self.text)?;
        Ok(Said::Cyclic(query_cyclic::answer(&game, self.table, position, self.japanese)?))
    }
}

struct Look<'a, G: Layered> {
    game: &'a G,
    graph: Graph,
    solved: Solved,
}

impl<G: Layered> Look<'_, G> {
    /// The moves whose successors are in the table, best first, with their values for the mover.
    fn moves(&self, position: &Position<G::State>) -> Vec<(Action, Value)> {
        let mut moves = Vec::new();
        self.game.for_each_successor(&position.state, |action, successor| {
            if let Some(id) = self.graph.find(self.game, &successor) {
                moves.push((action, self.solved.value(id.row()).before()));
            }
        });
        moves.sort_by_key(|&(action, value)| (std::cmp::Reverse(value.preference()), action));
        moves
    }

    /// The line of best play, to the end of the game or of what the table proves.
    fn best_line(&self, from: Position<G::State>) -> Vec<String> {
        let mut line = Vec::new();
        let mut position = from;
        while let Some(id) = self.graph.find(self.game, &position.state) {
            let proven = self.solved.value(id.row()).score();
            let best = self.moves(&position).first().copied();
            let Some((action, _)) = best.filter(|(_, value)| value.score() == proven) else {
                break;
            };
            if proven.is_none() {
                break;
            }
            line.push(self.game.action_name(position.side, action));
            position = self.game.advance(&position, action);
        }
        line
    }

    fn is_reachable(&self, position: &Position<G::State>, id: StateId) -> bool {
        let canonical = self.game.canonical(&position.state);
        let group = self.game.group();
        let own: Orientations = group.root_orientations(position.side, canonical.ties);
        self.graph.orientations(id.row()).0 & own.0 != 0
    }
}

impl Answer {
    fn to_text(&self) -> String {
        let side = self.mover;
        let letter = if side == "Black" { "X" } else { "O" };
        let mut text = format!("{}\n{side} ({letter}) to move\n\n", self.diagram);
        text += &match self.kind {
            "terminal" => format!("The game is over: {}\n", self.final_result()),
            "frontier" => "At the table's frontier: the value is not known\n".to_string(),
            _ => {
                let Verdict { outcome_value, score, distance, .. } = self.value;
                let mut line = verdict(side, outcome_value, score.map(i32::from), distance);
                if score.is_none() {
                    line += &format!("; score {}", interval(&self.value));
                }
                line + "\n"
            }
        };
        if !self.moves.is_empty() {
            text += &format!("\nEach move, best first; values are {side}'s:\n\n");
            text += &Grid::of(
                &["move", "outcome", "score", "plies to the end"],
                self.moves.iter().map(move_row),
            )
            .to_text();
        }
        if !self.principal_variation.is_empty() {
            text += &format!("\nBest play: {}\n", self.principal_variation.join(" "));
        }
        if !self.reachable {
            text += "\nThis very position cannot be reached from the root; it is a mirror image of one that can, or has the colours exchanged, which does not change its value.\n";
        }
        text
    }

    fn final_result(&self) -> String {
        match self.value.score {
            Some(0) => "a draw".to_string(),
            Some(score) => {
                let black_moves = self.mover == "Black";
                let winner = if (score > 0) == black_moves { "Black" } else { "White" };
                format!("{winner} has won by {} discs", score.unsigned_abs())
            }
            None => "its score is not known".to_string(),
        }
    }
}

fn move_row(answer: &MoveAnswer) -> Vec<String> {
    let Verdict { outcome, distance, .. } = answer.value;
    vec![
        answer.name.clone(),
        outcome.unwrap_or("not proven").to_string(),
        interval(&answer.value),
        distance.map_or("not proven".to_string(), |d| d.to_string()),
    ]
}

fn interval(value: &Verdict) -> String {
    match value.score {
        Some(score) => Score(score).to_string(),
        None => format!("{} to {}", Score(value.score_lower), Score(value.score_upper)),
    }
}
