//! The accuracy report as aligned text.

use super::grid::Grid;
use super::number::{amount, counted, percent, thousands};
use crate::evaluate::{
    AccuracyReport, Figures, FiguresBySet, PolicyAccuracy, RootFacts, TableFacts,
};

/// The headings of a policy's figures, in two lines.
const FIGURES: [(&str, &str); 7] = [
    ("result", "kept"),
    ("score", "kept"),
    ("result", "lost"),
    ("discs", "lost"),
    ("win→", "draw"),
    ("win→", "loss"),
    ("draw→", "loss"),
];

const LEGEND: &str = "\
result kept  how often the move keeps the best result (win, draw or loss) there is to be had
score kept   how often it keeps the best final score
result lost  what it gives away of the result on average: a win is 1, a draw 0, a loss -1
discs lost   what it gives away of the final score on average, in discs
win→draw     in how many of the positions it turns a win into a draw
win→loss     in how many it turns a win into a loss
draw→loss    in how many it turns a draw into a loss
";

/// The roots that a header names; a table can have very many.
const ROOTS_SHOWN: usize = 4;

/// A set of positions, with what it is called.
type Set = (Part, &'static str, fn(&FiguresBySet) -> &Figures);

const SETS: [Set; 3] = [
    (Part::All, "All positions, forced moves and passes among them", |sets| &sets.all),
    (Part::Result, "Positions in which the choice of the move decides the result", |sets| {
        &sets.decisive_outcome
    }),
    (Part::Score, "Positions in which the choice of the move decides the score", |sets| {
        &sets.decisive_score
    }),
];

/// A set of positions for which figures are laid out by the number of discs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All positions.
    All,
    /// Those in which the choice of the move decides the result.
    Result,
    /// Those in which it decides the score.
    Score,
}

/// Lays out a report: the table, the policies side by side on each set of positions, a legend, and
/// each policy by disc count on the sets in `parts`. Ends in a line break.
pub fn accuracy_text(report: &AccuracyReport, parts: &[Part]) -> String {
    let mut text = header(&report.table);
    for (_, title, of) in SETS {
        let states = report.policies.first().map_or(0, |policy| of(&policy.total).states);
        text += &format!("\n{title} ({})\n\n", thousands(states));
        let mut grid = Grid::headed(&[&[("", "policy")], &FIGURES[..]].concat());
        for policy in &report.policies {
            grid.push([vec![policy.policy.clone()], cells(of(&policy.total))].concat());
        }
        text += &grid.to_text();
    }
    text += &format!("\n{LEGEND}");
    for (part, title, of) in SETS {
        if !parts.contains(&part) {
            continue;
        }
        for policy in &report.policies {
            text += &format!("\n{title}\n{} by discs before the move\n\n", policy.policy);
            text += &by_discs(policy, of);
        }
    }
    text
}

fn by_discs(policy: &PolicyAccuracy, of: fn(&FiguresBySet) -> &Figures) -> String {
    let mut grid = Grid::headed(&[&[("", "discs"), ("", "positions")], &FIGURES[..]].concat());
    let mut push = |name: String, figures: &FiguresBySet| {
        let figures = of(figures);
        grid.push([vec![name, thousands(figures.states)], cells(figures)].concat());
    };
    for layer in &policy.layers {
        push(format!("{:>5}", layer.discs), &layer.figures);
    }
    push("all".to_string(), &policy.total);
    grid.to_text()
}

fn cells(figures: &Figures) -> Vec<String> {
    let or_none =
        |value: Option<f64>, show: fn(f64) -> String| value.map_or_else(|| "-".to_string(), show);
    let blunders = &figures.blunders;
    vec![
        or_none(figures.optimal_by_outcome(), percent),
        or_none(figures.optimal_by_score(), percent),
        or_none(figures.expected_loss_outcome(), amount),
        or_none(figures.expected_loss_discs(), amount),
        or_none(figures.mean(blunders.win_to_draw), percent),
        or_none(figures.mean(blunders.win_to_loss), percent),
        or_none(figures.mean(blunders.draw_to_loss), percent),
    ]
}

fn header(table: &TableFacts) -> String {
    let symmetry = match table.symmetry_order {
        1 => "not folded".to_string(),
        order => format!("folded under {order} symmetries"),
    };
    let judged = if table.judged_states == table.nonterminal_states {
        format!("all {} positions with a move to make", thousands(table.judged_states))
    } else {
        format!(
            "{} of the {} positions with a move to make: those whose moves' scores are all proven",
            thousands(table.judged_states),
            thousands(table.nonterminal_states)
        )
    };
    let empties = match table.empties.as_str() {
        "to-winner" => "empty squares go to the winner",
        _ => "empty squares count for nobody",
    };
    let mut text = format!(
        "Table      {}: {} of {}, {symmetry}\n\
         Positions  {} can be reached (a board and the side to move), {} of them finished games\n",
        table.name,
        counted(table.rows, "row"),
        table.game,
        thousands(table.reachable_states),
        thousands(table.terminal_states),
    );
    for root in table.roots.iter().take(ROOTS_SHOWN) {
        text += &format!("Best play  {}\n", prospects(root, table.roots.len() > 1));
    }
    if table.roots.len() > ROOTS_SHOWN {
        let more = (table.roots.len() - ROOTS_SHOWN) as u64;
        text += &format!("           and {} more\n", counted(more, "root"));
    }
    text += &format!("Scores     {empties}\nFigures    of {judged}\n");
    text
}

/// Who wins from a root, and by how much.
fn prospects(root: &RootFacts, among_others: bool) -> String {
    let at = if among_others { format!(" in {}", root.position) } else { String::new() };
    let result = match (&root.winner, root.outcome, root.score) {
        (Some(winner), _, Some(score)) => {
            let discs = counted(u64::from(score.unsigned_abs()), "disc");
            format!("{winner} wins by {discs}")
        }
        (Some(winner), _, None) => format!("{winner} wins, by how much is not proven"),
        (None, Some(_), _) => "a draw".to_string(),
        (None, None, _) => "who wins is not proven".to_string(),
    };
    let plies = match root.distance {
        Some(distance) => format!(" after {}", number_of_plies(distance)),
        None => String::new(),
    };
    format!("{} to move{at}: {result}{plies}", root.mover)
}

fn number_of_plies(distance: u16) -> String {
    match distance {
        1 => "1 ply".to_string(),
        plies => format!("{plies} plies"),
    }
}
