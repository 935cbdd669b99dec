//! Policies in ONNX files: their answers equal those of ONNX Runtime, and unusable files are rejected in one
//! line.
//!
//! `onnx/make_fixtures.py` makes the models in `fixtures/onnx` and their expected answers, with its own
//! encoding of positions and its own rules.
#![cfg(feature = "onnx")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::needs::python_runs;
use crate::common::solved::{board_4x4, named};
use crate::common::tables::Tables;
use prost::Message as _;
use serde_json::Value;
use yomikiri::error::Error;
use yomikiri::rules::{Action, AnyPosition, Position, Rules, Side};
use yomikiri_learn::network::{Activation, Architecture, Head, Network};
use yomikiri_learn::onnx::model;
use yomikiri_measure::policy::card::Reading;
use yomikiri_measure::policy::onnx::proto::{
    Attribute, Entry, Graph, Model, Node, Tensor, ValueInfo,
};
use yomikiri_measure::policy::onnx::{Array, run};
use yomikiri_measure::policy::{Answers, Batch, Card, NetworkSpec, Onnx, Policy};

fn fixture(name: &str) -> String {
    let folder =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/fixtures/onnx");
    folder.join(name).to_str().unwrap().to_string()
}

/// Loads a fixture with its options as a policy.
fn load(model: &str) -> Result<Onnx, Error> {
    let spec = NetworkSpec::onnx(&fixture(model)).unwrap();
    Onnx::load(&spec, spec.to_string(), &*board_4x4(true))
}

fn expected() -> Value {
    serde_json::from_str(&fs::read_to_string(fixture("expected.json")).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Returns the positions of the expected answers; those of odd indices have White to move.
fn positions(game: &dyn Rules, expected: &Value) -> Vec<AnyPosition> {
    let keys = expected["keys"].as_array().unwrap().iter().map(|key| key.as_u64().unwrap());
    let position = |(at, key): (usize, u64)| Position {
        state: game.of_squares(key >> 16, key & 0xffff).unwrap(),
        side: Side::ALL[at % 2],
    };
    keys.enumerate().map(position).collect()
}

fn ask(policy: &Onnx, game: &dyn Rules, positions: &[AnyPosition]) -> Answers {
    let mut batch = Batch::default();
    for position in positions {
        batch.push(*position, game.actions(&position.state));
    }
    let answers = policy.answer(game, &batch).unwrap();
    answers.check(&batch).unwrap();
    answers
}

fn assert_close(found: &[f64], wanted: &[f64], what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((found - wanted).abs() < 1e-4, "{what}: {found} is not {wanted}");
    }
}

#[test]
fn models_say_what_onnx_runtime_says_of_them() {
    let (game, expected) = (board_4x4(true), expected());
    let positions = positions(&*game, &expected);
    let actions: Vec<Vec<f64>> =
        expected["actions"].as_array().unwrap().iter().map(numbers).collect();
    assert!(actions.contains(&vec![16.0]), "a position with a pass is among them");
    for (position, wanted) in positions.iter().zip(&actions) {
        let found: Vec<f64> =
            game.actions(&position.state).iter().map(|a| f64::from(a.0)).collect();
        assert_eq!(&found, wanted);
    }
    let cases = expected["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 15);
    for case in cases {
        let model = case["model"].as_str().unwrap();
        let answers = ask(&load(model).unwrap(), &*game, &positions);
        let wanted: Vec<f64> =
            case["probabilities"].as_array().unwrap().iter().flat_map(numbers).collect();
        assert_close(&answers.probabilities, &wanted, model);
        assert_close(&answers.values, &numbers(&case["values"]), model);
    }
}

/// Operators that are refused, each with why. All else is computed as ONNX Runtime does.
const REFUSED: [(&str, &str); 44] = [
    ("ArgMax", "\"select_last_index\": unsupported value"),
    ("ArgMin", "\"select_last_index\": unsupported value"),
    ("BiasGelu", "unknown operator com.microsoft."),
    ("BitwiseAnd", "unknown operator"),
    ("BitwiseNot", "unknown operator"),
    ("BitwiseOr", "unknown operator"),
    ("BitwiseXor", "unknown operator"),
    ("CastLike", "unknown operator"),
    ("Celu", "unknown operator"),
    ("Dropout", "unknown operator"),
    ("DynamicQuantizeMatMul", "unknown operator com.microsoft."),
    ("FastGelu", "unknown operator com.microsoft."),
    ("GRU", "`linear_before_reset=0` is not supported"),
    ("Gelu", "unknown operator com.microsoft."),
    ("GlobalLpPool", "unknown operator"),
    ("GridSample", "unknown operator"),
    ("GroupNormalization", "unknown operator"),
    ("Hardmax", "unknown operator"),
    ("IsInf", "\"detect_negative\": unsupported value"),
    ("IsInf", "\"detect_positive\": unsupported value"),
    ("LRN", "unknown operator"),
    ("LpPool", "unknown operator"),
    ("MaxPool", "\"dilations\": unsupported value"),
    ("MaxPool", "unsupported output: Indices"),
    ("MeanVarianceNormalization", "unknown operator"),
    ("NonZero", "unknown operator"),
    ("Pad", "without axes"),
    ("Pow", "type combination"),
    ("QGemm", "unknown operator com.microsoft."),
    ("QLinearAdd", "unknown operator com.microsoft."),
    ("QLinearConv", "unknown operator"),
    ("QLinearMatMul", "unknown operator"),
    ("QLinearSigmoid", "unknown operator com.microsoft."),
    ("QuantizeLinear", "unsupported input type"),
    ("QuickGelu", "unknown operator com.microsoft."),
    ("RNN", "unknown operator"),
    ("Range", "from 0 to 1 by 0.10000000149011612 is not supported"),
    ("Reduce", "noop_with_empty_axes=1 is not supported"),
    ("Relu", "unsupported input type"),
    ("Resize", "mode=cubic is not supported"),
    ("Selu", "unknown operator"),
    ("Shrink", "unknown operator"),
    ("SpaceToDepth", "unknown operator"),
    ("ThresholdedRelu", "unknown operator"),
];

/// `onnx/operators.py` makes the models, one for each value and each omission of an attribute.
#[test]
fn operators_compute_what_onnx_runtime_computes() {
    let script = "tests/onnx/operators.py";
    if !python_runs(script) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(script);
    let made = Command::new("python3").args([&path, folder.path()]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let refused = compared(folder.path());
    for (name, error) in &refused {
        let operator = name.split(['(', ' ']).next().unwrap();
        let expected = REFUSED.iter().any(|(op, why)| {
            (*op == operator || *op == "Reduce" && operator.starts_with(op)) && error.contains(why)
        });
        assert!(expected, "{name}: {error}");
    }
    for (operator, why) in REFUSED {
        let is_refused =
            |(name, error): &(String, String)| name.starts_with(operator) && error.contains(why);
        assert!(refused.iter().any(is_refused), "{operator} is not refused: {why}");
    }
}

/// Networks exported by large frameworks, in the folder that `onnx/exported.py` wrote.
#[test]
fn exported_networks_compute_what_onnx_runtime_computes() {
    let Some(folder) = std::env::var_os("YOMIKIRI_EXPORTED") else { return };
    for (name, error) in compared(Path::new(&folder)) {
        // Operators of ONNX Runtime's own quantisation.
        assert!(error.contains("unknown operator com.microsoft."), "{name}: {error}");
    }
}

/// Runs the models in a folder, and compares shapes and numbers with those of ONNX Runtime. Returns the names of those that
/// are refused, with the error.
fn compared(folder: &Path) -> Vec<(String, String)> {
    let number = |number: &Value| match number.as_str() {
        Some(text) => text.parse().unwrap(),
        None => number.as_f64().unwrap(),
    };
    let array = |array: &Value| {
        let numbers: Vec<f64> = array[3].as_array().unwrap().iter().map(number).collect();
        let shape = array[2].as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize);
        let shape: Vec<usize> = shape.collect();
        (array[0].as_str().unwrap().to_string(), array[1].as_i64().unwrap() as i32, shape, numbers)
    };
    let arrays = |list: &Value| list.as_array().unwrap().iter().map(array).collect::<Vec<_>>();
    let cases = fs::read(folder.join("cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_slice(&cases).unwrap();
    assert!(cases.len() > 9);
    let mut refused = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let name = case["name"].as_str().unwrap();
        let bytes = fs::read(folder.join(format!("{at}.onnx"))).unwrap();
        let narrow = |numbers: Vec<f64>| numbers.into_iter().map(|n| n as f32).collect();
        let inputs = arrays(&case["inputs"]).into_iter();
        let inputs =
            inputs.map(|(name, kind, shape, numbers)| (name, kind, shape, narrow(numbers)));
        let found = match run(&bytes, &inputs.collect::<Vec<Array>>()) {
            Ok(found) => found,
            Err(error) => {
                refused.push((name.to_string(), error.to_string()));
                continue;
            }
        };
        let wanted = arrays(&case["outputs"]);
        for (found, shape) in found {
            let (_, _, sizes, numbers) =
                wanted.iter().find(|wanted| wanted.0 == found.name).unwrap();
            assert!(
                shape.iter().map(|&n| n as usize).eq(sizes.iter().copied()),
                "{name}: {shape:?}"
            );
            assert_eq!(found.numbers.len(), numbers.len(), "{name}: {sizes:?}");
            for (found, wanted) in found.numbers.iter().zip(numbers) {
                let same = found == wanted || found.is_nan() && wanted.is_nan();
                let near = (found - wanted).abs() <= 1e-6 * wanted.abs().max(1.0);
                assert!(same || near, "{name}: {found} is not {wanted}");
            }
        }
    }
    refused
}

#[test]
fn an_answer_does_not_depend_on_the_rest_of_its_batch() {
    let game = board_4x4(true);
    let few = positions(&*game, &expected());
    // More than one run can take.
    let many: Vec<_> = few.iter().copied().cycle().take(few.len() * 90).collect();
    for model in ["nchw.onnx", "flat.onnx", "signed.onnx", "value.onnx?range=01"] {
        let policy = load(model).unwrap();
        let together = ask(&policy, &*game, &few);
        let apart: Vec<Answers> = few.iter().map(|&one| ask(&policy, &*game, &[one])).collect();
        let all = ask(&policy, &*game, &many);
        let length = together.scores.len();
        for at in 0..90 {
            assert_eq!(all.scores[at * length..][..length], together.scores, "{model}");
        }
        let scores: Vec<f64> = apart.iter().flat_map(|one| one.scores.clone()).collect();
        let values: Vec<f64> = apart.iter().flat_map(|one| one.values.clone()).collect();
        assert_eq!((scores, values), (together.scores, together.values), "{model}");
    }
}

#[test]
fn many_threads_ask_at_the_same_time() {
    let game = board_4x4(true);
    let positions = positions(&*game, &expected());
    let policy = load("nchw.onnx").unwrap();
    let alone = ask(&policy, &*game, &positions);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(ask(&policy, &*game, &positions), alone);
                }
            });
        }
    });
}

/// Reading interleaved.onnx in the other order gives another policy: the order matters.
#[test]
fn the_order_of_a_flat_input_is_what_is_asked_for() {
    let game = board_4x4(true);
    let positions = positions(&*game, &expected());
    let of = |model: &str| ask(&load(model).unwrap(), &*game, &positions);
    let guessed = of("interleaved.onnx");
    assert_eq!(guessed, of("interleaved.onnx?layout=flat"));
    assert_ne!(guessed, of("interleaved.onnx?layout=interleaved"));
}

#[test]
fn a_class_that_was_never_seen_is_never_chosen() {
    let (game, policy) = (board_4x4(true), load("zipmap.onnx").unwrap());
    let start = game.start();
    // The middle squares 5, 6, 9 and 10 have no class. They are never legal, but the policy does not check.
    let legal = game.actions(&start.state);
    let answers = ask(&policy, &*game, &[start]);
    assert!(legal.iter().zip(&answers.probabilities).all(|(_, &p)| p > 0.0), "{legal:?}");
    let mut batch = Batch::default();
    batch.push(start, [Action(5), Action(6), Action(10)]);
    let unseen = policy.answer(&*game, &batch).unwrap();
    assert_eq!(unseen.probabilities, [1.0 / 3.0; 3], "nothing has a class: all are equal");
    let mut batch = Batch::default();
    batch.push(start, [Action(5), Action(11)]);
    let one = policy.answer(&*game, &batch).unwrap();
    assert_eq!(one.probabilities, [0.0, 1.0]);
}

#[test]
fn unusable_models_are_reported_in_one_line() {
    let shapes =
        "(inputs: x float32 (N, 2, 4, 4); outputs: policy float32 (N, 17), value float32 (N, 1))";
    let cases = [
        ("absent.onnx", "cannot read the model"),
        ("expected.json", "not an ONNX model"),
        ("unknown-operator.onnx", "unknown operator org.example.Wonder"),
        ("scaler.onnx", "unknown operator ai.onnx.ml.Scaler"),
        ("two-inputs.onnx", "2 inputs; expected one"),
        (
            "two-policies.onnx",
            "ambiguous output for the policy: expected policy=NAME with one of red, blue",
        ),
        ("nine.onnx", "no output found for a policy or a value; per position a policy has 16, or"),
        (
            "nine.onnx?policy=policy",
            "invalid output `policy`: 9 numbers per position; expected 16, or 17 with the pass",
        ),
        ("nan.onnx", "invalid number NaN of the policy in the position '-----OX--XO----- X;'"),
        (
            "openspiel.onnx",
            "set layout= to one of nchw, nhwc, signed, flat, interleaved, openspiel",
        ),
        ("nchw.onnx?layout=nhwc", "does not match layout=nhwc on the 4x4 board"),
        ("nchw.onnx?layout=nhwc", shapes),
        ("nchw.onnx?pass=no,policy=policy", "expected 16 with pass=no"),
        ("nchw.onnx?policy=p", "missing or unsupported output `p`"),
        ("nchw.onnx?value=policy", "expected 1, or 3 for win, draw and loss"),
        ("flat.onnx?depth=1", "no output found for the value"),
        ("flat.onnx?softmax=no", "invalid probability -"),
        ("flat.onnx?layout=openspiel", "does not match layout=openspiel"),
        ("legal.onnx", "no layout found for the shape of the input"),
    ];
    for (model, wanted) in cases {
        let error = load(model).err().unwrap_or_else(|| panic!("{model} is taken"));
        // The inputs and outputs are listed between a message and its hint.
        let is_apart = wanted.split_once("; ").is_some_and(|(what, hint)| {
            let found = error.hint().unwrap_or_default().to_string();
            error.to_string().contains(what) && found.starts_with(hint)
        });
        let error = error.line();
        assert!(is_apart || error.contains(wanted), "{model}: {error}");
        assert!(error.contains(&fixture(model.split('?').next().unwrap())), "{model}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

/// A model that cannot run comes with the step that mends it.
#[test]
fn messages_say_what_mends_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let copied = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_string()
    };
    let alone = copied("external.onnx", &fs::read(fixture("external.onnx")).unwrap());
    let archive = copied("archive.onnx", b"PK\x03\x04 archive/data.pkl");
    for (model, what, hint) in [
        (fixture("training.onnx"), "cannot run the model", "call eval() before the export"),
        (fixture("selu.onnx"), "Selu", "measure it from Python, or export it with opset 17"),
        (
            alone,
            "missing external.onnx.data, which contains its weights",
            "put it beside the model",
        ),
        (archive, "not an ONNX model but an archive", "torch.onnx.export("),
    ] {
        let spec = NetworkSpec::onnx(&model).unwrap();
        let error = Onnx::load(&spec, spec.to_string(), &*board_4x4(true)).err().unwrap();
        let found = error.hint().unwrap_or_default().to_string();
        assert!(error.to_string().contains(what) && found.contains(hint), "{}", error.line());
        assert!(error.line().len() < 2000 && error.line().lines().count() == 1);
    }
}

/// A failure of a running model is exit code 4; a fault visible in its file is invalid input. Both are one
/// line, and nothing else is printed.
#[test]
fn models_that_do_not_fit_never_end_or_want_too_much_are_reported_in_one_line() {
    let tables = Tables::new();
    let corpus = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("fuzz/corpus/onnx/runtime-panics");
    let input = fs::read(corpus).unwrap();
    let model = input.splitn(2, |&byte| byte == b'\n').nth(1).unwrap();
    let panics = tables.place("panics.onnx");
    fs::write(&panics, model).unwrap();
    let panics = format!("{}?range=clip", panics.display());
    let cases = [
        (panics, 2, "(Gemm): (64, 1024) times (1, 64)"),
        (fixture("endless.onnx"), 4, "no answer within 1 s; raise --policy-timeout"),
        (fixture("topk.onnx"), 2, "(TopK): k=536870912 of 17 numbers"),
        (fixture("huge.onnx"), 2, "(ConstantOfShape): computes 4294967296 numbers"),
    ];
    for (model, code, wanted) in cases {
        let policy = format!("onnx:{model}");
        let ran = tables.run(&["report", "-q", "--policy-timeout", "1", "--policy", &policy]);
        assert_eq!(ran.code, code, "{ran:?}");
        let printed = &ran.stderr;
        let (what, hint) = wanted.split_once("; ").unwrap_or((wanted, ""));
        let after = printed.split_once(what).map(|(_, after)| after);
        assert!(after.is_some_and(|after| after.contains(hint)), "{printed}");
        assert_eq!(printed.lines().count(), 1, "{printed}");
    }
}

/// A model may compute another thing, or a larger one, for other numbers of positions.
#[test]
fn what_a_number_of_positions_changes_is_refused() {
    let held = |name: &str, graph: Graph| Attribute {
        name: name.to_string(),
        g: Some(graph),
        ..Attribute::default()
    };
    let node = |op: &str, inputs: &[&str], output: &str| Node {
        op_type: op.to_string(),
        input: inputs.iter().map(|name| name.to_string()).collect(),
        output: vec![output.to_string()],
        ..Node::default()
    };
    let number = |name: &str, n: i64| Tensor {
        name: name.to_string(),
        dims: vec![],
        ..Tensor::of_sizes(&[n])
    };
    let result = |op: &str| Graph {
        node: vec![node(op, &["before"], "r")],
        output: vec![ValueInfo { name: "r".to_string(), r#type: None }],
        ..Graph::default()
    };
    let rows = || [node("Shape", &["x"], "s"), node("Gather", &["s", "zero"], "n")];
    let choice = Node {
        attribute: vec![held("then_branch", result("Neg")), held("else_branch", result("Relu"))],
        ..node("If", &["many"], "logits")
    };
    let chooses = [node("Greater", &["n", "hundred"], "many"), choice];
    // At 16 positions a thousand times a million numbers.
    let grows = [
        node("Sub", &["most", "n"], "less"),
        node("Mul", &["less", "million"], "size"),
        node("Reshape", &["size", "one"], "sizes"),
        node("ConstantOfShape", &["sizes"], "zeros"),
        node("ReduceSum", &["zeros"], "sum"),
        node("Add", &["before", "sum"], "logits"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    for (more, wanted) in [
        (chooses.to_vec(), "it computes otherwise for 16 positions than for more"),
        (grows.to_vec(), "(ConstantOfShape): computes 1056964608 numbers"),
    ] {
        let mut model = Model::decode(&fs::read(fixture("flat.onnx")).unwrap()[..]).unwrap();
        let graph = model.graph.as_mut().unwrap();
        for output in graph.node.iter_mut().flat_map(|node| &mut node.output) {
            if output == "logits" {
                *output = "before".to_string();
            }
        }
        graph.initializer.extend([
            number("zero", 0),
            number("hundred", 100),
            number("most", 1024),
            number("million", 1 << 20),
            Tensor { name: "one".to_string(), ..Tensor::of_sizes(&[1]) },
        ]);
        graph.node.extend(rows().into_iter().chain(more));
        fs::write(&path, model.encode_to_vec()).unwrap();
        let spec = NetworkSpec { path: path.clone(), ..NetworkSpec::default() };
        let error = Onnx::load(&spec, String::new(), &*board_4x4(true)).err().unwrap().line();
        assert!(error.contains(wanted), "{error}");
    }
}

/// Weights in another file count as if they were in the model: for the limits, and for the checksum of a card.
#[test]
fn weights_beside_a_model_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::decode(&fs::read(fixture("external.onnx")).unwrap()[..]).unwrap();
    let weights = fs::read(fixture("external.onnx.data")).unwrap();
    let path = folder.path().join("model.onnx");
    let load = |change: &dyn Fn(&mut Tensor), weights: &[u8]| {
        let mut model = model.clone();
        change(&mut model.graph.as_mut().unwrap().initializer[0]);
        fs::write(&path, model.encode_to_vec()).unwrap();
        fs::write(folder.path().join("external.onnx.data"), weights).unwrap();
        let spec = NetworkSpec { path: path.clone(), ..NetworkSpec::default() };
        Onnx::load(&spec, String::new(), &*board_4x4(true))
    };
    let entry = |key: &'static str, value: &'static str| {
        move |tensor: &mut Tensor| {
            tensor.external_data.retain(|entry| entry.key != key);
            let (key, value) = (key.to_string(), value.to_string());
            tensor.external_data.push(Entry { key, value });
        }
    };
    let game = board_4x4(true);
    let start = [game.start()];
    let whole = ask(&load(&|_| (), &weights).unwrap(), &*game, &start);
    let error = |change: &dyn Fn(&mut Tensor), weights: &[u8]| {
        let error = load(change, weights).err().unwrap();
        assert!(error.line().contains(&path.display().to_string()), "{}", error.line());
        error.line()
    };
    let short = error(&|_| (), &weights[..weights.len() / 2]);
    assert!(short.contains(" of a file of ") && short.contains("keep both files"), "{short}");
    let other = error(&entry("length", "4"), &weights);
    assert!(other.contains(": 4 bytes, but the shape takes "), "{other}");
    for offset in ["18446744073709551615", "-1", "1e3", "99999999"] {
        let change = entry("offset", offset);
        let error = error(&change, &weights);
        assert!(error.contains("weights `"), "{error}");
    }
    for place in ["../external.onnx.data", "/etc/passwd", "a/b", "", "."] {
        let error = error(&entry("location", place), &weights);
        assert!(error.contains("not a file of its directory"), "{error}");
    }
    let claimed = error(&|tensor: &mut Tensor| tensor.dims = vec![1 << 28], &weights);
    assert!(claimed.contains("but the shape takes 1073741824"), "{claimed}");

    // The checksum is that of both files together.
    let mut all = model.encode_to_vec();
    all.extend(&weights);
    let crc = format!("{:08x}", crc32fast::hash(&all));
    let card = |crc: &str| {
        let card =
            Card { onnx_crc32: Some(crc.to_string()), ..Card::new(game.name(), Reading::Policy) };
        fs::write(path.with_extension("json"), serde_json::to_vec(&card).unwrap()).unwrap();
    };
    card(&crc);
    assert_eq!(
        ask(&load(&|_| (), &weights).unwrap(), &*game, &start).scores.len(),
        whole.scores.len()
    );
    let mut changed = weights.clone();
    changed[0] ^= 1;
    let error = error(&|_| (), &changed);
    assert!(error.contains("differs from the file that"), "{error}");
}

/// The weights of a model in half precision may be in another file.
#[test]
fn weights_of_16_bits_may_be_in_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = Model::decode(&fs::read(fixture("flat.onnx")).unwrap()[..]).unwrap();
    let mut beside = Vec::new();
    for tensor in &mut model.graph.as_mut().unwrap().initializer {
        if tensor.data_type != Tensor::FLOAT {
            continue;
        }
        let raw = tensor.raw_data.take().unwrap();
        let numbers = raw.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four));
        let offset = beside.len();
        beside.extend(numbers.flat_map(|x| half::f16::from_f32(x).to_le_bytes()));
        tensor.data_type = 10;
        tensor.data_location = 1;
        let entry = |(key, value): (&str, String)| Entry { key: key.to_string(), value };
        let said = [("location", "w".to_string()), ("offset", offset.to_string())];
        tensor.external_data = said.map(entry).to_vec();
    }
    let path = folder.path().join("half.onnx");
    fs::write(&path, model.encode_to_vec()).unwrap();
    fs::write(folder.path().join("w"), beside).unwrap();
    let spec = NetworkSpec { path, ..NetworkSpec::default() };
    let game = board_4x4(true);
    let half = Onnx::load(&spec, String::new(), &*game).unwrap();
    let positions = positions(&*game, &expected());
    let (half, single) =
        (ask(&half, &*game, &positions), ask(&load("flat.onnx").unwrap(), &*game, &positions));
    let apart = half.scores.iter().zip(&single.scores).map(|(a, b)| (a - b).abs());
    let most = apart.fold(0.0, f64::max);
    assert!(0.0 < most && most < 0.05, "{most}");
}

/// Truncated files are rejected.
#[test]
fn broken_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.onnx");
    let spec = NetworkSpec { path: path.clone(), ..NetworkSpec::default() };
    let whole = fs::read(fixture("flat.onnx")).unwrap();
    for length in (0..whole.len()).step_by(97) {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(Onnx::load(&spec, String::new(), &*board_4x4(true)).is_err(), "{length} bytes");
    }
}

#[test]
fn invalid_numbers_are_reported_with_their_position() {
    let (game, policy) = (board_4x4(true), load("nan-at-9.onnx").unwrap());
    let mut position = game.start();
    for _ in 0..5 {
        position = game.advance(&position, game.actions(&position.state)[0]);
    }
    let mut batch = Batch::default();
    batch.push(game.start(), game.actions(&game.start().state));
    batch.push(position, game.actions(&position.state));
    let error = policy.answer(&*game, &batch).unwrap_err().line();
    let wanted =
        format!("invalid number NaN of the policy in the position '{}'", game.notation(&position));
    assert!(error.ends_with(&wanted), "{error}");
}

#[test]
fn a_model_for_another_board_is_refused() {
    let spec = NetworkSpec::onnx(&fixture("nchw.onnx")).unwrap();
    let error = Onnx::load(&spec, String::new(), &*named("othello-4x5")).err().unwrap().line();
    assert!(error.contains("takes 32 numbers, the 4x5 board has 40: 2 planes of 20"), "{error}");
    assert!(error.ends_with("on the board that it was made for, 4x4"), "{error}");
}

#[test]
fn the_report_measures_models() {
    let tables = Tables::new();
    let policy = |model: &str| format!("onnx:{}", fixture(model));
    let (first, second) = (policy("nchw.onnx"), policy("openspiel.onnx?layout=openspiel"));
    let args = ["report", "-q", "--policy", "random", "--policy", &first, "--policy", &second];
    let report = tables.json(&args);
    let names: Vec<&str> = report["policies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|policy| policy["policy"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["random", &first, &second]);
    let kept = |at: usize| report["policies"][at]["total"]["all"]["score_kept"].as_f64().unwrap();
    assert!(kept(0) != kept(1) && kept(1) != kept(2), "{report}");
}

#[test]
fn the_report_refuses_what_cannot_be_used_in_one_line() {
    let tables = Tables::new();
    let run = |game: &[&str], policy: &str| {
        let ran = tables.run(&[&["report", "-q", "--policy", policy], game].concat());
        ran.refused(policy).to_string()
    };
    for model in ["absent.onnx", "expected.json", "unknown-operator.onnx", "nan.onnx", "nine.onnx"]
    {
        let printed = run(&[], &format!("onnx:{}", fixture(model)));
        assert!(printed.contains(&fixture(model)), "{printed}");
    }
    let printed = run(&["--game", "animal-shogi-3x3"], &format!("onnx:{}", fixture("flat.onnx")));
    assert!(printed.contains("takes 32 numbers, the 3x3 board has 108"), "{printed}");
    assert!(run(&[], "onnx:").contains("missing file"));
    assert!(run(&[], "onnx:model.onnx?layout=x").contains("expected nchw, nhwc"));
}

/// A network of shogi receives the planes of `export --states`, and has a number for every action.
#[test]
fn a_model_of_shogi_is_asked_about_the_planes_of_its_game() {
    let game = named("animal-shogi-3x3");
    let (inputs, outputs) = (game.plane_kinds().count() * 9, game.action_count());
    let head = |name: &str, outputs, activation| Head { name: name.into(), outputs, activation };
    let architecture = Architecture::Mlp {
        inputs,
        hidden: vec![24],
        activation: Activation::Relu,
        heads: vec![
            head("policy", outputs, Activation::Linear),
            head("value", 1, Activation::Tanh),
        ],
    };
    let network = Network::new(architecture, 7);
    let dir = tempfile::tempdir().unwrap();
    let load = |name: &str, shape: &[usize]| {
        let path = dir.path().join(name);
        fs::write(&path, model(&network, shape)).unwrap();
        let spec = NetworkSpec::onnx(path.to_str().unwrap()).unwrap();
        Onnx::load(&spec, String::new(), &*game).unwrap()
    };
    let [planes, flat] = [load("p", &[inputs / 9, 3, 3]), load("f", &[inputs])];
    let mut positions = vec![game.start()];
    for number in 0..60 {
        let actions = game.actions(&positions[number].state);
        let chosen = actions.get(number * 7 % actions.len().max(1));
        let next = chosen.map(|&action| game.advance(&positions[number], action));
        positions.push(next.filter(|p| !game.is_terminal(&p.state)).unwrap_or(game.start()));
    }
    let answers = ask(&planes, &*game, &positions);
    assert_eq!(ask(&flat, &*game, &positions).probabilities, answers.probabilities);
    let [w1, b1, w2, b2, w3, b3] = [0, 1, 2, 3, 4, 5].map(|at| &network.parameters()[at].numbers);
    let layer = |w: &[f32], b: &[f32], x: &[f32]| -> Vec<f64> {
        let row = |(w, b): (&[f32], &f32)| {
            w.iter().zip(x).map(|(w, x)| f64::from(w * x)).sum::<f64>() + f64::from(*b)
        };
        w.chunks(x.len()).zip(b).map(row).collect()
    };
    let mut place = 0;
    for (at, position) in positions.iter().enumerate() {
        let mut numbers = vec![0.0; inputs];
        game.write_planes(&position.state, &mut numbers);
        let hidden = layer(w1, b1, &numbers);
        let hidden: Vec<f32> = hidden.into_iter().map(|sum| sum.max(0.0) as f32).collect();
        let logits = layer(w2, b2, &hidden);
        let legal = game.actions(&position.state);
        let masses: Vec<f64> = legal.iter().map(|a| logits[usize::from(a.0)].exp()).collect();
        let all: f64 = masses.iter().sum();
        for mass in masses {
            assert!((answers.probabilities[place] - mass / all).abs() < 1e-5);
            place += 1;
        }
        assert!((answers.values[at] - layer(w3, b3, &hidden)[0].tanh()).abs() < 1e-5);
    }
    assert_eq!(place, answers.probabilities.len());
}

/// Networks of scikit-learn written by skl2onnx: the solver's figures equal those that Python computes from
/// the table's arrays and ONNX Runtime.
#[test]
fn scikit_learn_networks_have_the_figures_that_python_computes() {
    if !python_runs("tests/onnx/scikit.py") {
        return;
    }
    let tables = Tables::new();
    tables.ok(&["enumerate", "-q", "--size", "4", "--symmetry", "none"]);
    tables.ok(&["value-iterate", "-q"]);
    let table = fs::read_dir(tables.root()).unwrap().map(|entry| entry.unwrap().path());
    let table = table.into_iter().find(|path| path.join("manifest.json").exists()).unwrap();
    let script =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/onnx/scikit.py");
    let models = tempfile::tempdir().unwrap();
    let output =
        Command::new("python3").arg(script).arg(&table).arg(models.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    let figures = figures.as_object().unwrap();
    assert_eq!(figures.len(), 4, "{figures:?}");
    for (model, wanted) in figures {
        let policy = format!("onnx:{}", models.path().join(model).display());
        let table = table.to_str().unwrap();
        let report = tables.json(&["report", "-q", "--table", table, "--policy", &policy]);
        let found = &report["policies"][0]["total"]["all"];
        assert_eq!(found["positions"], 56_621, "{model}");
        for (name, wanted) in wanted.as_object().unwrap() {
            let (found, wanted) = (found[name].as_f64().unwrap(), wanted.as_f64().unwrap());
            assert!((found - wanted).abs() < 1e-5, "{model}, {name}: {found} is not {wanted}");
        }
    }
}

/// Names say which output is a policy, Q-values, the move, a value, or none of these; the report says how they are read.
#[test]
fn outputs_are_what_their_names_say() {
    let tables = Tables::new();
    let model = |name: &str| format!("onnx:{}", fixture(name));
    for (by_name, declared, said) in [
        (
            "q-values.onnx",
            "q-values.onnx?move=best",
            "policy `q_values` as Q-values, the best move is played; layout",
        ),
        (
            "actions.onnx",
            "actions.onnx?policy=actions,value=values,range=clip",
            "policy `actions` is the move; value `values` from -1 to 1; not used: `log_prob`",
        ),
        (
            "wdl.onnx",
            "wdl.onnx?policy=policy,value=value",
            "policy `policy` as logits; value `value` as logits of win, draw, loss; not used: `scoremean`",
        ),
    ] {
        let by_name = match by_name {
            // Its values are no probabilities of a win.
            "actions.onnx" => model("actions.onnx?range=clip"),
            _ => model(by_name),
        };
        let declared = model(declared);
        let words =
            ["report", "4x4", "-q", "--no-games", "--policy", &by_name, "--policy", &declared];
        let report = tables.json(&words);
        let [own, other] = [0, 1].map(|at| &report["policies"][at]);
        for figures in ["total", "values"] {
            assert!(!own["total"].is_null() && own[figures] == other[figures], "{by_name}");
        }
        let reading = own["reading"].as_str().unwrap();
        assert!(reading.starts_with(said), "{by_name}: {reading}");
        let shown = tables.ok(&words);
        let shown: String = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(said), "{shown}");
    }
}

/// A card with a mistake is refused, with its place; what is no card is left out, and the report says so.
#[test]
fn a_card_with_a_mistake_is_not_ignored() {
    let tables = Tables::new();
    let model = tables.place("net.onnx");
    fs::copy(fixture("nchw.onnx"), &model).unwrap();
    let policy = format!("onnx:{}", model.display());
    let words = ["report", "4x4", "-q", "--no-games", "--policy", &policy];
    let card = r#"{
 "schema": "yomikiri-network",
 "schema_version": 2,
 "game": "othello-4x4",
 "reading": "policy"
}"#;
    let kept =
        |report: &Value| report["policies"][0]["total"]["decisive_result"]["result_kept"].clone();
    let beside = |text: &str| fs::write(tables.place("net.json"), text).unwrap();
    let without = tables.json(&words);
    beside(card);
    let with = tables.json(&words);
    assert!(kept(&with) != kept(&without) && with["policies"][0].get("reading").is_none());
    beside(&format!("\u{feff}{card}"));
    assert_eq!(kept(&tables.json(&words)), kept(&with));
    for (text, place) in [
        (card.replace("\"policy\"\n", "\"policy\",\n"), "line 6 column 1"),
        (card.replace('"', "'"), "line 2 column 2"),
        (
            card.replace("yomikiri-network", "yomikiri_network"),
            "unsupported schema yomikiri_network",
        ),
        (card.replace("\"reading\"", "\"readings\""), "missing field `reading`"),
    ] {
        beside(&text);
        let ran = tables.run(&words);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains("net.json") && ran.stderr.contains(place), "{}", ran.stderr);
    }
    beside("{\"epochs\": 3}");
    let other = tables.json(&words);
    assert_eq!(kept(&other), kept(&without));
    let reading = other["policies"][0]["reading"].as_str().unwrap();
    assert!(reading.ends_with("net.json is not used: not a card of a network"), "{reading}");
}
