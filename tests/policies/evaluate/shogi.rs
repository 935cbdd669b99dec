//! Figures of policies on tables of the shogi family: by rank, by keys and by independent rules.

use std::collections::HashSet;
use std::sync::OnceLock;

use serde_json::Value;

use yomikiri::enumerate::{Index, Plan};

use yomikiri::oracle::Oracle;
use yomikiri::rules::Outcome;
use yomikiri::table::Table;
use yomikiri::table::rows::StateKind;
use yomikiri_measure::judge::{AccuracyReport, By, Figures, FiguresBySet, Key, Piece, Player};
use yomikiri_measure::policy::{Answers, ByRule, Greedy, ask};
use yomikiri_measure::render::{accuracy_text, summary};

use super::{Opened, assert_alike, assert_close, numbers, sets};
use crate::common::plain_shogi::{self, Kind, Piece as Man, Position, Rules};
use crate::common::solved::named;
use crate::common::tables::{Tables, edge_offsets};

const POLICIES: [&str; 3] = ["random", "greedy", "perfect"];
/// Number of states of the 3x3 game, and of nonterminal ones.
const STATES: u64 = 245_788;
const OPEN: u64 = 94_521;

type Known = OnceLock<(Opened, AccuracyReport)>;

/// Returns the whole 3x3 game.
fn small(known: &'static Known, index: Index) -> &'static (Opened, AccuracyReport) {
    known.get_or_init(|| {
        let game = named("animal-shogi-3x3");
        let plan = Plan { index, ..Plan::from_start(&*game) };
        let opened = Opened::new(&*game, &plan);
        let report = opened.report(&POLICIES);
        (opened, report)
    })
}

fn by_rank() -> &'static (Opened, AccuracyReport) {
    static KNOWN: Known = OnceLock::new();
    small(&KNOWN, Index::Rank)
}

fn by_keys() -> &'static (Opened, AccuracyReport) {
    static KNOWN: Known = OnceLock::new();
    small(&KNOWN, Index::Keys)
}

/// Returns the positions of minishogi reached in some plies.
fn minishogi(root: &str, max_depth: Option<u32>) -> (Opened, AccuracyReport) {
    let game = named("minishogi");
    let roots = vec![game.parse_position(root, &game.start()).unwrap()];
    let start = if roots[0] == game.start() { "standard" } else { "custom" }.to_string();
    let plan = Plan { start, roots, max_depth, ..Plan::from_start(&*game) };
    let opened = Opened::new(&*game, &plan);
    let report = opened.report(&POLICIES);
    (opened, report)
}

/// Returns the positions reached in five plies from one in which White's king is nearly mated.
fn bounded() -> &'static (Opened, AccuracyReport) {
    static KNOWN: Known = OnceLock::new();
    KNOWN.get_or_init(|| minishogi("k4/2P2/1G3/5/K4 b - 1", Some(5)))
}

/// Returns all positions reached from a single pawn: a whole table in which some wins are by infinite play.
fn pawn() -> &'static (Opened, AccuracyReport) {
    static KNOWN: Known = OnceLock::new();
    KNOWN.get_or_init(|| minishogi("k4/5/1P3/5/K4 b - 1", None))
}

/// A policy's rating of a move, by the position after it and the player who made it.
type Rule = fn(&Position, plain_shogi::Side) -> i32;

fn random(_after: &Position, _mover: plain_shogi::Side) -> i32 {
    0
}

fn greedy(after: &Position, mover: plain_shogi::Side) -> i32 {
    let worth = |kind: Kind, promoted: bool| match (kind, promoted) {
        (Kind::Lion, _) => 0,
        (Kind::Chick, false) => 1,
        (Kind::Chick, true) => 4,
        _ => 3,
    };
    let on_board = |side| {
        let own = after.board.iter().flatten().filter(|piece: &&Man| piece.side == side);
        own.map(|piece| worth(piece.kind, piece.promoted)).sum::<i32>()
    };
    let held =
        |side| after.hands[side as usize].iter().map(|&kind| worth(kind, false)).sum::<i32>();
    let all = |side| on_board(side) + held(side);
    all(mover) - all(mover.other())
}

/// Returns the figures of a rule on every state of the 3x3 game.
fn plain_figures(rule: Rule) -> FiguresBySet {
    let mut figures = FiguresBySet::default();
    for (sfen, &(own, plies)) in plain_shogi::three_by_three() {
        let position = Position::read(Rules::Adjudicated, sfen);
        let after: Vec<Position> =
            position.moves().into_iter().map(|legal| position.after(legal)).collect();
        if after.is_empty() {
            continue;
        }
        let value = |after: &Position| {
            let (outcome, plies) = plain_shogi::three_by_three()[&after.normalised()];
            (-outcome, plies.map(|plies| plies + 1))
        };
        let values: Vec<_> = after.iter().map(value).collect();
        let liking: Vec<i32> = after.iter().map(|after| rule(after, position.mover)).collect();
        let most = *liking.iter().max().unwrap();
        let p = 1.0 / liking.iter().filter(|&&l| l == most).count() as f64;
        let timed = u64::from(plies.is_some());
        let mut one = Figures { positions: 1, timed, ..Figures::default() };
        for (&(outcome, left), _) in values.iter().zip(&liking).filter(|&(_, &l)| l == most) {
            one.result_lost += p * f64::from(own - outcome);
            one.result_kept += if outcome == own { p } else { 0.0 };
            one.plies_kept += if timed == 1 && (outcome, left) == (own, plies) { p } else { 0.0 };
            assert!(outcome <= own);
            one.outcomes[(own + 1) as usize][(outcome + 1) as usize] += p;
        }
        figures.all.add(&one);
        if values.iter().any(|&(outcome, _)| outcome != own) {
            figures.decisive_result.add(&one);
        }
    }
    figures
}

#[test]
fn figures_agree_with_the_plain_rules_and_solver() {
    let rules: [(&str, Rule); 2] = [("random", random), ("greedy", greedy)];
    for (place, (name, rule)) in rules.into_iter().enumerate() {
        let wanted = plain_figures(rule);
        assert_eq!(wanted.all.positions, OPEN);
        for (_, report) in [by_rank(), by_keys()] {
            assert_eq!(report.policies[place].policy, name);
            assert_close(&report.policies[place].total, &wanted, name);
        }
    }
}

#[test]
fn ranks_and_keys_give_the_same_figures() {
    let ((_, ranked), (_, keyed)) = (by_rank(), by_keys());
    let facts = |report: &AccuracyReport| {
        let mut facts = report.table.clone();
        facts.name.clear();
        // Which of a position and its mirror image stands for both depends on the storage.
        facts.checksum.clear();
        facts
    };
    assert_eq!(facts(ranked), facts(keyed));
    for (a, b) in ranked.policies.iter().zip(&keyed.policies) {
        assert_eq!(a.policy, b.policy);
        assert_close(&a.total, &b.total, &a.policy);
    }
}

#[test]
fn layers_are_plies_where_they_are_known() {
    let ((_, ranked), (opened, keyed)) = (by_rank(), by_keys());
    assert!(ranked.policies.iter().all(|policy| policy.details.layers.is_empty()));
    let layers = opened.solved.table().manifest().layers.iter().zip(0..);
    let open = layers.filter(|(counts, _)| counts.table.states > counts.table.terminals);
    let open: Vec<(Key, u64)> = open
        .map(|(counts, ply)| (Key::Layer(ply), counts.table.states - counts.table.terminals))
        .collect();
    for policy in &keyed.policies {
        let mut sum = FiguresBySet::default();
        policy.details.layers.iter().for_each(|layer| sum.add(&layer.figures));
        assert_close(&sum, &policy.total, &policy.policy);
        let layers: Vec<(Key, u64)> = policy
            .details
            .layers
            .iter()
            .map(|layer| (layer.key, layer.figures.all.positions))
            .collect();
        assert_eq!(layers, open);
    }
}

/// Checks that `perfect` keeps every outcome and, where plies are compared, the plies.
fn assert_perfect(report: &AccuracyReport) {
    let perfect = &report.policies[2];
    assert_eq!(perfect.policy, "perfect");
    let layers = perfect.details.layers.iter().map(|layer| &layer.figures);
    for figures in layers.chain([&perfect.total]).flat_map(sets) {
        let (n, timed) = (figures.positions as f64, figures.timed as f64);
        assert_eq!(numbers(figures), [n, 0.0, timed, n, 0.0, timed, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}

#[test]
fn perfect_is_perfect_everywhere() {
    for report in [&by_rank().1, &by_keys().1, &bounded().1, &pawn().1] {
        assert_perfect(report);
        assert!(report.policies[2].total.all.timed > 0);
    }
    // Wins by infinite play have no plies to keep.
    let pawn = &pawn().1;
    let all = &pawn.policies[0].total.all;
    assert!(pawn.table.complete && pawn.table.judged_states == all.positions);
    assert!(0 < all.timed && all.timed < all.positions);
    assert!(pawn.policies[0].total.decisive_result.positions > 0);
    assert!(
        all.outcomes[Outcome::Win.index()][Outcome::Loss.index()] > 0.0
            && all.outcomes[Outcome::Win.index()][Outcome::Draw.index()] == 0.0
    );
}

/// Black captures towards the shortest win in 7 plies, which only one move keeps.
#[test]
fn perfect_takes_the_shortest_win() {
    let (opened, _) = by_rank();
    let (game, states) = (opened.solved.game(), opened.solved.states());
    let start = game.start();
    let row = states.find(&start).unwrap();
    let mut best = Vec::new();
    let mut take = |piece: &Piece, answers: &[Answers]| {
        let Some(at) = piece.cases.iter().position(|case| case.row as usize == row) else {
            return Ok(());
        };
        // The row may hold the mirror image.
        let state = piece.batch.positions()[at].state;
        let symmetry = u8::from(state != start.state);
        assert_eq!(game.transform(&state, symmetry), start.state);
        for place in piece.batch.range(at).filter(|&place| answers[0].probabilities[place] > 0.0) {
            let action = game.transform_action(piece.batch.actions()[place], symmetry);
            best.push(game.action_name(start.side, action));
        }
        Ok(())
    };
    opened.measure(&[Player::Perfect], Some(&mut take));
    assert_eq!(best, ["3c3b"]);
}

/// Counts rows that are judged, and those in which distances are compared, from the columns alone.
fn counted(table: &Table) -> (u64, u64) {
    let kinds = table.array::<u8>("kinds").unwrap();
    let offsets = edge_offsets(table);
    let targets = table.array::<u32>("edge_targets").unwrap();
    let [lower, upper] =
        ["outcome_lower", "outcome_upper"].map(|name| table.array::<i8>(name).unwrap());
    let plies = ["distance_lower", "distance_upper"].map(|name| table.array::<u8>(name).unwrap());
    let proven = |row: usize| lower[row] == upper[row];
    let exact =
        |row: usize| proven(row) && plies[0][row] == plies[1][row] && plies[0][row] != u8::MAX;
    let (mut judged, mut timed) = (0, 0);
    for row in 0..kinds.len() {
        let after = &targets[offsets[row]..offsets[row + 1]];
        if kinds[row] != 0 || !proven(row) || after.iter().any(|&t| !proven(t as usize)) {
            continue;
        }
        judged += 1;
        let mut keeping = after.iter().filter(|&&t| lower[t as usize] == -lower[row]);
        let known = exact(row) && keeping.all(|&t| exact(t as usize));
        timed += u64::from(lower[row] != 0 && known);
    }
    (judged, timed)
}

#[test]
fn only_proven_rows_are_judged() {
    let from_start = minishogi("startpos", Some(4));
    let bounded = bounded();
    for (opened, report) in [&from_start, bounded] {
        let (judged, timed) = counted(opened.solved.table());
        assert!(!report.table.complete);
        assert!(judged < report.table.nonterminal_states);
        assert_eq!(report.table.judged_states, judged);
        for policy in &report.policies {
            let all = &policy.total.all;
            assert_eq!((all.positions, all.timed, all.scored), (judged, timed, 0));
        }
        assert_perfect(report);
    }
    assert!(bounded.1.table.judged_states > 0);
    let text = accuracy_text(&from_start.1, &[], 0);
    assert!(text.contains("those whose moves' results are all proven"), "{text}");
}

/// Counts the positions of a bounded table that are proven won with an unproven move, and those at risk, with
/// the mean shares of moves proven to win and to lose.
fn forced(opened: &Opened) -> ([u64; 2], [f64; 3]) {
    let (table, states) = (&opened.solved, opened.solved.states());
    let (mut counts, mut shares) = ([0; 2], [0.0; 3]);
    for piece in states.pieces() {
        let visit = |row: usize, position: yomikiri::rules::AnyPosition| {
            let kind = states.kind(row, &position.state);
            if kind != StateKind::Interior {
                return Ok(());
            }
            let moves = table.look_ahead(&position);
            let of = |outcome: Outcome| {
                let is = |value: &yomikiri::solve::Value| value.outcome() == Some(outcome);
                moves.iter().filter(|(_, value)| value.as_ref().is_some_and(is)).count()
            };
            let (wins, losses, all) = (of(Outcome::Win), of(Outcome::Loss), moves.len());
            let share = |count: usize| count as f64 / all as f64;
            if wins > 0 && wins < all {
                counts[0] += 1;
                shares[0] += share(wins);
                shares[1] += share(losses);
            } else if wins == 0 && losses > 0 && losses < all {
                counts[1] += 1;
                shares[2] += share(losses);
            }
            Ok(())
        };
        states.visit(piece.rows.clone(), visit).unwrap();
    }
    let [won, at_risk] = counts.map(|count| f64::from(u32::try_from(count).unwrap()));
    (counts, [shares[0] / won, shares[1] / won, shares[2] / at_risk])
}

#[test]
fn proofs_of_some_moves_are_reported() {
    let (opened, report) = bounded();
    let ([won, at_risk], shares) = forced(opened);
    let [random, _, perfect] = [0, 1, 2].map(|place| report.policies[place].forced.unwrap());
    assert_eq!((random.won, random.at_risk), (won, at_risk));
    let found = [random.won_kept, random.won_thrown, random.at_risk_lost];
    for (found, wanted) in found.into_iter().zip(shares) {
        assert!((found.unwrap() - wanted).abs() < 1e-9, "{found:?} {wanted}");
    }
    assert_eq!((perfect.won_kept, perfect.won_thrown), (Some(1.0), Some(0.0)));
    assert_eq!(perfect.at_risk_lost, Some(0.0));
    // A bounded table judges few positions and proves some moves of many.
    let judged = report.table.judged_states;
    assert!(judged > 0 && won + at_risk > judged, "{judged}, {won} and {at_risk}");
    assert!(by_rank().1.policies.iter().all(|policy| policy.forced.is_none()));
}

#[test]
fn threads_change_no_bit() {
    let json = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let reports = [by_rank(), by_keys()].map(|(opened, _)| opened.report(&POLICIES));
            serde_json::to_string(&reports).unwrap()
        })
    };
    assert_eq!(json(1), json(2));
}

#[test]
fn the_reports_as_text() {
    let text = |report| summary(report, &[], 0) + "\n" + &accuracy_text(report, &[By::Layer], 0);
    insta::assert_snapshot!("accuracy-animal-shogi-3x3", text(&by_rank().1));
    insta::assert_snapshot!("accuracy-animal-shogi-3x3-keys", text(&by_keys().1));
    insta::assert_snapshot!("accuracy-minishogi", text(&bounded().1));
}

#[test]
fn the_report_as_json_has_no_scores() {
    let report = &by_keys().1;
    let json = serde_json::to_value(report).unwrap();
    let table = serde_json::json!({
        "name": "animal-shogi-3x3-keys",
        "game": "animal-shogi-3x3",
        "complete": true,
        "symmetry_order": 2,
        "keeps_sides": false,
        "empties": null,
        "repetition": "draw",
        "rows": STATES,
        "reachable_states": null,
        "terminal_states": STATES - OPEN,
        "nonterminal_states": OPEN,
        "judged_states": OPEN,
        "asked_states": OPEN,
        "chosen": null,
        "values": "table",
        "source": "table",
        "left_out": { "finished": 0, "unproven": 0, "unsearched": 0 },
        "checksum": report.table.checksum,
        "taken": null,
        "roots": [{
            "position": "elc/3/CLE b - 1",
            "mover": "Black",
            "winner": "Black",
            "outcome": 1,
            "score": null,
            "distance": 7,
            "distance_lower": 7,
            "distance_upper": 7,
        }],
    });
    assert_eq!(json["table"], table);
    // At the root four of five moves lose at once, and the fifth wins as soon as possible.
    let figures = serde_json::json!({
        "positions": 1,
        "plies_positions": 1,
        "result_kept": 0.2,
        "score_kept": null,
        "plies_kept": 0.2,
        "result_lost": 1.6,
        "score_lost": null,
        "win_to_draw": 0.0,
        "win_to_loss": 0.8,
        "draw_to_loss": 0.0,
        "outcomes": [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.8, 0.0, 0.2]],
        "blunders": 0.8,
        "blunder_rate": 0.8,
        "large_losses": null,
        "large_loss_rate": null,
        "argmax_result_kept": 0.2,
        "argmax_score_kept": null,
        "argmax_result_lost": 1.6,
        "argmax_score_lost": null,
        "rank_correlation": null,
        "correlation_positions": 0,
        "nll": 5f64.ln(),
        "no_chance": 0.0,
        "entropy": 5f64.ln(),
        "top_1": 0.2,
        "top_2": 0.4,
        "top_3": 0.6,
    });
    let layer = serde_json::json!({
        "layer": 0,
        "figures": { "all": figures, "decisive_result": figures, "decisive_score": null },
    });
    assert_eq!(json["policies"][0]["policy"], "random");
    assert_alike(&json["policies"][0]["layers"][0], &layer, "the root");
    let ranked = serde_json::to_value(&by_rank().1).unwrap();
    assert_eq!(ranked["policies"][0]["layers"], serde_json::json!([]));
}

#[test]
fn the_command_makes_the_table_and_measures_the_game_s_policies() {
    let tables = Tables::new();
    let args = ["report", "--game", "animal-shogi-3x3", "--no-games", "-q"];
    let mut json = tables.json(&args);
    let schema =
        ["schema", "schema_version"].map(|name| json.as_object_mut().unwrap().remove(name));
    assert_eq!(schema, [Some("yomikiri-report".into()), Some(1.into())]);
    let taken = json["table"]["taken"].take();
    assert_eq!(taken, "as named, built for this report");
    let wanted = serde_json::to_value(&by_rank().1).unwrap();
    assert!(json == wanted, "the command's figures are those of the library");
    let text = tables.ok(&["report", "--table", "animal-shogi-3x3", "--no-games", "-q"]);
    let named = "animal-shogi-3x3 (as named)\nRows";
    assert_eq!(text.replace(named, "animal-shogi-3x3\nRows"), summary(&by_rank().1, &[], 0));
    assert!(!text.contains("score") && !text.contains("discs"), "{text}");
    let full = [
        "report",
        "--table",
        "animal-shogi-3x3",
        "--no-games",
        "-q",
        "--full",
        "--by",
        "value,moves",
    ];
    let wanted = accuracy_text(&by_rank().1, &[By::Value, By::Moves], 0);
    assert_eq!(tables.ok(&full).replace(named, "animal-shogi-3x3\nRows"), wanted);
    let ran = tables.run(&["report", "--table", "animal-shogi-3x3", "-q", "--by", "layer"]);
    assert!(ran.refused("layers").contains("stores no layers; give moves"), "{ran:?}");

    // Its worst mistakes turn a win into a loss with every move it may choose; perfect play makes none.
    let json = tables.json(&[&args[..], &["--policy", "greedy", "--mistakes", "4"]].concat());
    let worst = json["policies"][0]["costliest"].as_array().unwrap();
    let places: HashSet<&str> = worst.iter().map(|it| it["position"].as_str().unwrap()).collect();
    assert_eq!((worst.len(), places.len()), (4, 4));
    for mistake in worst {
        assert_eq!((&mistake["result_lost"], &mistake["score_lost"]), (&2.0.into(), &Value::Null));
        let chosen = |facts: &&Value| facts["probability"].as_f64().unwrap() > 0.0;
        let mut moves = mistake["moves"].as_array().unwrap().iter().filter(chosen);
        assert!(moves.all(|facts| facts["outcome"] == -1 && facts["best"] == false));
    }
    let json = tables.json(&[&args[..], &["--policy", "perfect", "--mistakes", "4"]].concat());
    assert_eq!(json["policies"][0]["costliest"], serde_json::json!([]));
    let text = tables.ok(&[&args[..], &["--mistakes", "1"]].concat());
    assert!(text.contains("greedy, costly mistake 1") && text.contains("2.000 of the result lost"));
    // In games, mistakes are weighted by visits: half of the games begin here, and all moves but one lose.
    let played =
        ["report", "--table", "animal-shogi-3x3", "-q", "--policy", "greedy", "--mistakes", "1"];
    let json = tables.json(&played);
    let first = &json["games"]["policies"][0]["costliest"][0];
    assert_eq!(first["position"], "elc/3/CLE b - 1");
    // A few games return to it.
    let met = first["met"].as_f64().unwrap();
    assert!((0.5..0.5 + 1e-8).contains(&met), "{met}");
    assert_eq!(first["result_lost"], 1.6);

    tables.ok(&["enumerate", "--game", "minishogi", "--max-depth", "2", "-q"]);
    let json = tables.json(&["report", "--table", "minishogi-depth2", "-q", "--policy", "greedy"]);
    assert_eq!(json["table"]["repetition"], "second-player-wins");
    assert_eq!(
        (&json["table"]["keeps_sides"], &json["table"]["judged_states"]),
        (&true.into(), &0.into())
    );
    assert_eq!(json["policies"].as_array().unwrap().len(), 1);
}

#[test]
fn unsupported_options_of_a_game_are_reported_before_the_work() {
    let tables = Tables::new();
    let refused = |args: &[&str], wanted: &str| {
        let ran = tables.run(&[&["report"], args].concat());
        let printed = ran.refused(&format!("{args:?}"));
        assert!(printed.contains(wanted), "{args:?}: {printed}");
        assert_eq!(std::fs::read_dir(tables.root()).unwrap().count(), 0, "{args:?}");
    };
    let small = ["--game", "animal-shogi-3x3"];
    let weights = "needs an Othello board; expected for animal-shogi-3x3: random, greedy, tactician, n-hand:N,";
    refused(&[&small[..], &["--policy", "weights"]].concat(), weights);
    refused(&[&small[..], &["--policy", "weights:w.txt"]].concat(), weights);
    refused(&[&small[..], &["--policy", "best"]].concat(), "unknown policy `best`");
    let too_large = "solver enumerate minishogi --max-depth 6";
    refused(&["--game", "minishogi"], too_large);
    refused(&["--game", "chess"], "no table, game or size `chess`");
}

#[test]
fn greedy_captures_what_is_worth_the_most() {
    let game = named("minishogi");
    let chosen = |sfen: &str| {
        let position = game.parse_position(sfen, &game.start()).unwrap();
        let found = ask(&ByRule(Greedy), &*game, &position).unwrap();
        let best = found.into_iter().filter(|(_, p)| *p > 0.0);
        best.map(|(action, _)| game.action_name(position.side, action)).collect::<Vec<_>>()
    };
    // A silver is worth 5 on the board and 5 in hand, a pawn 1 and 1.
    assert_eq!(chosen("k4/5/2p2/5/K1R1s b - 1"), ["3e1e"]);
    // A promoted pawn is worth 7 on the board and 1 in hand, a pawn 1 and 1; promoting 6.
    assert_eq!(chosen("k4/5/2+p2/2R1p/K4 b - 1"), ["3d3c"]);
    assert_eq!(chosen("1k3/4P/5/5/K4 b - 1"), ["1b1a+"]);
}
