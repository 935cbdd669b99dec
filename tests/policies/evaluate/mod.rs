//! Figures of policies on the 4×4 board, from the table and from the rules alone, folded and not, on one
//! thread and two; and on tables of the shogi family.

mod by_hand;
mod shogi;
mod walk;

use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;
use walk::Walk;
use yomikiri::enumerate::Plan;
use yomikiri::oracle::{Orienting, SolvedTable};
use yomikiri::progress::Silent;
use yomikiri::rules::{AnyPosition, Outcome, Rules};
use yomikiri::table::rows::Rows;
use yomikiri_measure::judge::{
    AccuracyReport, By, Figures, FiguresBySet, Key, Measured, Piece, Player, Request, RowSink,
    TablePositions, build, measure,
};
use yomikiri_measure::policy::{Answers, MICRO, Weights};
use yomikiri_measure::render::{accuracy_text, summary};

use crate::common::solved::{board_4x4, opened, solved};
use crate::common::tables::Tables;

const POLICIES: [&str; 4] = ["random", "greedy", "weights", "perfect"];
/// Number of nonterminal actual positions of 4×4.
const JUDGED: u64 = 62_789 - 6_168;

struct Opened {
    _dir: TempDir,
    solved: SolvedTable,
}

impl Opened {
    fn new(game: &dyn Rules, plan: &Plan) -> Opened {
        let (dir, table) = solved(game, plan);
        Opened { _dir: dir, solved: opened(&table) }
    }

    fn board(fold: bool, max_depth: Option<u32>) -> Opened {
        let game = board_4x4(fold);
        let plan = Plan { max_depth, ..Plan::from_start(&*game) };
        Opened::new(&*game, &plan)
    }

    fn judged(&self) -> TablePositions<'_> {
        TablePositions::new(&self.solved, Orienting::All)
    }

    fn player(&self, name: &str) -> Player {
        build(&name.parse().unwrap(), self.solved.game()).unwrap()
    }

    fn measure(&self, players: &[Player], sink: Option<&mut RowSink<'_>>) -> Measured {
        measure(&self.judged(), players, sink, &Silent).unwrap()
    }

    fn report(&self, policies: &[&str]) -> AccuracyReport {
        let players: Vec<Player> = policies.iter().map(|name| self.player(name)).collect();
        let positions = self.judged();
        let request = Request {
            positions: &positions,
            players: &players,
            games: false,
            mistakes: 0,
            agreement: false,
        };
        request.report(None, &Silent).unwrap()
    }
}

fn folded() -> &'static (Opened, AccuracyReport) {
    static FOLDED: OnceLock<(Opened, AccuracyReport)> = OnceLock::new();
    FOLDED.get_or_init(|| {
        let opened = Opened::board(true, None);
        let report = opened.report(&POLICIES);
        (opened, report)
    })
}

/// Returns the sets that are present.
fn sets(figures: &FiguresBySet) -> Vec<&Figures> {
    let all = [&figures.all, &figures.decisive_result];
    all.into_iter().chain(&figures.decisive_score).collect()
}

fn numbers(figures: &Figures) -> [f64; 11] {
    [
        figures.positions as f64,
        figures.scored as f64,
        figures.timed as f64,
        figures.result_kept,
        figures.score_kept,
        figures.plies_kept,
        figures.result_lost,
        figures.score_lost,
        figures.outcomes[Outcome::Win.index()][Outcome::Draw.index()],
        figures.outcomes[Outcome::Win.index()][Outcome::Loss.index()],
        figures.outcomes[Outcome::Draw.index()][Outcome::Loss.index()],
    ]
}

fn assert_close(found: &FiguresBySet, wanted: &FiguresBySet, what: &str) {
    assert_eq!(sets(found).len(), sets(wanted).len(), "{what}");
    for (set, (found, wanted)) in sets(found).into_iter().zip(sets(wanted)).enumerate() {
        let (found, wanted) = (numbers(found), numbers(wanted));
        // Means may differ by rounding; counts must be equal.
        let states = wanted[0].max(1.0);
        let close = found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() / states < 1e-9);
        assert!(close && found[..3] == wanted[..3], "{what}, set {set}: {found:?} for {wanted:?}");
    }
}

#[test]
fn perfect_is_perfect_everywhere() {
    let (_, report) = folded();
    let perfect = &report.policies[3];
    assert_eq!(perfect.total.all.positions, JUDGED);
    let layers = perfect.details.layers.iter().map(|layer| &layer.figures);
    for figures in layers.chain([&perfect.total]).flat_map(sets) {
        let n = figures.positions as f64;
        assert_eq!(numbers(figures), [n, n, 0.0, n, n, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}

#[test]
fn perfect_plays_exactly_the_moves_that_keep_score_and_distance() {
    let (opened, _) = folded();
    let game = opened.solved.game();
    let value = |position: &AnyPosition| {
        opened.solved.value(opened.solved.states().find(position).unwrap())
    };
    let mut left: HashSet<String> = Walk::new().positions().collect();
    let mut check = |piece: &Piece, answers: &[Answers]| {
        for (at, position) in piece.batch.positions().iter().enumerate() {
            let (own, range) = (value(position), piece.batch.range(at));
            let actions = piece.batch.actions()[range.clone()].iter();
            let keeps = actions.map(|&action| {
                let after = value(&game.advance(position, action)).before();
                (after.score(), after.distance()) == (own.score(), own.distance())
            });
            let keeps: Vec<bool> = keeps.collect();
            let share = 1.0 / keeps.iter().filter(|&&keeps| keeps).count() as f64;
            let wanted: Vec<f64> = keeps.iter().map(|&k| if k { share } else { 0.0 }).collect();
            let name = game.notation(position);
            assert_eq!(answers[0].probabilities[range], wanted, "{name}");
            assert!(left.remove(&name), "{name}");
        }
        Ok(())
    };
    opened.measure(&[Player::Perfect], Some(&mut check));
    assert!(left.is_empty());
}

#[test]
fn what_is_not_reached_is_not_in_the_table() {
    let states = folded().0.solved.states();
    let position = states.parse("X... .O.. .OO. .... X").unwrap();
    assert_eq!(states.find(&position), None);
}

#[test]
fn figures_agree_with_a_walk_by_the_rules_alone() {
    let (_, report) = folded();
    let walk = Walk::new();
    let rules: [(&str, walk::Rule); 3] =
        [("random", walk::random), ("greedy", walk::greedy), ("weights", walk::weights)];
    for (found, (name, rule)) in report.policies.iter().zip(rules) {
        assert_eq!(found.policy, name);
        let layers = walk.figures(rule);
        assert_eq!(found.details.layers.len(), layers.len());
        let mut total =
            FiguresBySet { decisive_score: Some(Figures::default()), ..FiguresBySet::default() };
        for (layer, (discs, wanted)) in found.details.layers.iter().zip(&layers) {
            assert_eq!(layer.key, Key::Layer(*discs as i32));
            assert_close(&layer.figures, wanted, &format!("{name} at {discs} discs"));
            total.add(wanted);
        }
        assert_close(&found.total, &total, name);
    }
}

#[test]
fn layers_add_up_to_the_total() {
    for policy in &folded().1.policies {
        let mut sum =
            FiguresBySet { decisive_score: Some(Figures::default()), ..FiguresBySet::default() };
        policy.details.layers.iter().for_each(|layer| sum.add(&layer.figures));
        assert_close(&sum, &policy.total, &policy.policy);
    }
}

#[test]
fn folding_changes_no_figure() {
    let unfolded = Opened::board(false, None).report(&POLICIES);
    let folded = &folded().1;
    assert_eq!(unfolded.table.judged_states, JUDGED);
    assert_eq!(unfolded.table.roots, folded.table.roots);
    for (a, b) in unfolded.policies.iter().zip(&folded.policies) {
        assert_close(&a.total, &b.total, &a.policy);
        for (a, b) in a.details.layers.iter().zip(&b.details.layers) {
            assert_eq!(a.key, b.key);
            assert_close(&a.figures, &b.figures, "a layer");
        }
    }
}

/// Checks that two documents are equal up to the last digits of fractions.
fn assert_alike(a: &Value, b: &Value, what: &str) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{what}");
            a.iter().for_each(|(key, a)| assert_alike(a, &b[key], &format!("{what}.{key}")));
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{what}");
            a.iter().zip(b).for_each(|(a, b)| assert_alike(a, b, what));
        }
        _ => {
            let close = |(a, b): (f64, f64)| (a - b).abs() <= 1e-12 * a.abs().max(1.0);
            let numbers = a.as_f64().filter(|_| a.is_f64()).zip(b.as_f64());
            assert!(numbers.map_or(a == b, close), "{what}: {a} and {b}");
        }
    }
}

#[test]
fn one_position_a_row_stands_for_all_of_them() {
    for max_depth in [None, Some(10)] {
        let opened = Opened::board(true, max_depth);
        let names = ["random", "greedy", "weights", "n-least:2", "perfect"];
        let players = names.map(|name| opened.player(name));
        let json = |orienting| {
            let source = TablePositions::new(&opened.solved, orienting);
            let measured = measure(&source, &players, None, &Silent).unwrap();
            let report = AccuracyReport::new(&source, measured).unwrap();
            let mut json = serde_json::to_value(&report).unwrap();
            for policy in json["policies"].as_array_mut().unwrap() {
                // Figures by square need all images.
                let apart = orienting == Orienting::First;
                assert_eq!(policy["squares"].take() == Value::Array(Vec::new()), apart);
            }
            json["table"]["checksum"].take();
            (json["table"]["asked_states"].take().as_u64().unwrap(), json)
        };
        let ((all, each), (rows, once)) = (json(Orienting::All), json(Orienting::First));
        assert_eq!(each["table"]["judged_states"], all);
        assert!(rows > 0 && rows * 3 < all, "{rows} of {all}");
        assert_alike(&once, &each, "report");
    }
}

#[test]
fn files_that_cannot_be_written_are_reported_before_the_work() {
    let tables = Tables::new();
    let place = |name: &str| tables.place(name).to_str().unwrap().to_string();
    let [folder, nowhere, mine] = ["folder", "none/report", "mine"].map(place);
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(&mine, "mine").unwrap();
    let mut options = vec!["--html", "--csv"];
    if cfg!(feature = "parquet") {
        options.push("--parquet");
    }
    for option in options {
        for path in [&folder, &nowhere] {
            let ran = tables.run(&["report", option, path]);
            assert!(ran.ended(1, path).contains(&format!("cannot write {path}: ")), "{ran:?}");
        }
    }
    let ran = tables.run(&["report", "--csv", &mine, "--html", &mine]);
    assert!(ran.refused("twice").contains("appears twice"), "{ran:?}");
    let ran = tables.run(&["report", "--csv", &mine, "--html", &nowhere]);
    assert!(ran.ended(1, "one of two").contains("cannot write"), "{ran:?}");
    // Nothing was enumerated, and the old file is unchanged.
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(tables.root()).unwrap().count(), 2);
}

#[test]
fn policies_that_cannot_be_opened_are_reported_before_the_work() {
    let tables = Tables::new();
    let missing = tables.place("missing").display().to_string();
    let mut policies = vec![format!("weights:{missing}"), format!("predictions:{missing}")];
    policies.extend(cfg!(feature = "onnx").then(|| format!("onnx:{missing}")));
    for policy in &policies {
        for command in [
            &["report", "--policy", policy][..],
            &["match", "random", policy],
            &["compare", "random", policy],
        ] {
            let ran = tables.run(&[command, &["--size", "4"]].concat());
            assert!(ran.refused(policy).contains(&missing), "{command:?}: {ran:?}");
        }
    }
    let program = tables.run(&["report", "--policy", "exec:false"]);
    assert_eq!(program.code, 4, "{program:?}");
    assert_eq!(std::fs::read_dir(tables.root()).unwrap().count(), 0);
}

#[test]
fn threads_change_no_bit() {
    let json = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| serde_json::to_string(&folded().0.report(&POLICIES)).unwrap())
    };
    assert_eq!(json(1), json(2));
}

#[test]
fn only_proven_positions_are_judged() {
    let opened = Opened::board(true, Some(10));
    let report = opened.report(&POLICIES);
    let table = &report.table;
    assert!(!table.complete);
    assert!(0 < table.judged_states && table.judged_states < table.nonterminal_states);
    // Recounts from the columns: a row is judged if its score and its successors' are proven.
    let solved = &opened.solved;
    let graph = Rows::open(solved.game(), solved.table()).unwrap();
    let proven = |row: usize| solved.value(row).score().is_some();
    let judged = (0..graph.states()).filter(|&row| {
        let targets = &graph.edge_targets()[graph.edges_of(row)];
        !targets.is_empty() && proven(row) && targets.iter().all(|&to| proven(to as usize))
    });
    let positions: u64 =
        judged.map(|row| u64::from(graph.orientations(row).unwrap().count())).sum();
    assert_eq!(table.judged_states, positions);
    for policy in &report.policies {
        assert_eq!(policy.total.all.positions, table.judged_states);
    }
    let perfect = &report.policies[3].total;
    for figures in sets(perfect) {
        assert_eq!(figures.score_kept, figures.positions as f64);
        assert_eq!(figures.score_lost, 0.0);
    }
}

#[test]
fn built_in_weights_are_those_of_the_paper() {
    let in_tenths = |rows, columns| -> Vec<i64> {
        let weights = Weights::of_board((rows, columns));
        weights.micro().iter().map(|micro| micro / (MICRO / 10)).collect()
    };
    #[rustfmt::skip]
    let published = [
        10, -6, 6, 4, 4, 6, -6, 10,
        -6, -8, 0, 0, 0, 0, -8, -6,
         6,  0, 8, 6, 6, 8,  0,  6,
         4,  0, 6, 0, 0, 6,  0,  4,
         4,  0, 6, 0, 0, 6,  0,  4,
         6,  0, 8, 6, 6, 8,  0,  6,
        -6, -8, 0, 0, 0, 0, -8, -6,
        10, -6, 6, 4, 4, 6, -6, 10,
    ];
    assert_eq!(in_tenths(8, 8), published);
    assert_eq!(in_tenths(4, 4), walk::WEIGHTS);
    #[rustfmt::skip]
    let four_by_five = [
        10, -6, 6, -6, 10,
        -6, -8, 0, -8, -6,
        -6, -8, 0, -8, -6,
        10, -6, 6, -6, 10,
    ];
    assert_eq!(in_tenths(4, 5), four_by_five);
}

#[test]
fn weights_come_from_files() {
    let shape = (4, 4);
    let read = |text: &str| Weights::from_text(shape, text, Path::new("w.txt"));
    let rows = "# corners\n1.0 -0.6, -0.6 1\n-0.6,-0.8,-0.8,-0.6 # an edge\n";
    let good = format!("{rows}-.6 -.8 -.8 -.6\n\n1 -0.60\t-0.6 1.000000\n");
    let weights = read(&good).unwrap();
    assert_eq!(weights.micro(), Weights::of_board(shape).micro());

    let message = |text: &str| read(text).unwrap_err().line();
    assert_eq!(
        message(rows),
        "w.txt, line 3: only 8 weights; expected 16 weights for the 4x4 board, row by row"
    );
    assert_eq!(
        message(&format!("{good}0.5\n")),
        "w.txt, line 7: too many weights at `0.5`; expected 16 weights for the 4x4 board, row by row"
    );
    assert_eq!(
        message(&good.replace("-.8 -.8", "-.8 1e-1")),
        "w.txt, line 4: invalid weight `1e-1`; expected a number such as -0.6, with at most six decimals and at most a million"
    );
    assert!(message("").starts_with("w.txt, line 1: only 0 weights; "));
    let missing = Weights::read(shape, Path::new("/no/such/file")).unwrap_err().line();
    assert!(missing.starts_with("cannot read the weights in /no/such/file: "), "{missing}");
}

#[test]
fn a_file_that_repeats_the_rule_plays_the_same() {
    let (opened, report) = folded();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("weights.txt");
    let text: Vec<String> =
        walk::WEIGHTS.iter().map(|w| format!("{:.1}", *w as f64 / 10.0)).collect();
    std::fs::write(&path, text.join("\n")).unwrap();
    let name = format!("weights:{}", path.display());
    let found = &opened.measure(&[opened.player(&name)], None).policies[0];
    assert_eq!(found.policy, name);
    assert_eq!(found.total, report.policies[2].total);
}

#[test]
fn the_report_as_text() {
    insta::assert_snapshot!(
        "accuracy-4x4",
        summary(&folded().1, &[By::Moves], 1) + "\n" + &accuracy_text(&folded().1, &[By::Layer], 1)
    );
}

#[test]
fn the_report_as_json_says_whose_values_they_are() {
    let json = serde_json::to_value(&folded().1).unwrap();
    assert_eq!(json["perspective"], "mover");
    assert_eq!(json["table"]["judged_states"], JUDGED);
    let root = &json["table"]["roots"][0];
    assert_eq!((&root["mover"], &root["winner"]), (&"Black".into(), &"White".into()));
    assert_eq!((&root["outcome"], &root["score"]), (&(-1).into(), &(-8).into()));
    let perfect = &json["policies"][3]["total"]["all"];
    assert_eq!(perfect["score_kept"], 1.0);
    assert!(perfect["plies_kept"].is_null() && perfect["plies_positions"] == 0);
    assert_eq!(perfect["win_to_loss"], 0.0);
    // No position of the first layer is decisive by outcome: an empty set has no means.
    let first = &json["policies"][0]["layers"][0];
    assert_eq!(first["layer"], 4);
    assert_eq!(first["figures"]["decisive_result"]["positions"], 0);
    assert!(first["figures"]["decisive_result"]["result_kept"].is_null());
}
