//! Reading of the stored networks, against plain searches.

use prost::Message;

use super::*;
use crate::policy::card::Reading;
use crate::policy::onnx::proto::{Attribute, Model, Node, ValueInfo};
use crate::policy::test_positions::{answers, batch, four, positions};
use crate::policy::{NetworkSpec, Onnx};
use yomikiri::rules::Symmetry;

/// Stored networks with the reading of each.
const KEPT: [(&str, Reading); 4] = [
    ("supervised", Reading::Policy),
    ("q-mlp", Reading::Q),
    ("td", Reading::Wins),
    ("disc-regression", Reading::Discs),
];

fn kept(name: &str, options: &str) -> Onnx {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tables/policies");
    let text = format!("{dir}/{name}-othello-4x4?{options}");
    Onnx::load(&NetworkSpec::learned(&text).unwrap(), "kept".into(), &*four()).unwrap()
}

/// Minimax by its definition, one position at a time.
fn plain(of: &Onnx, position: &AnyPosition, plies: u32) -> f64 {
    let game = four();
    let asked = Asked { policy: of, heads: &of.settled.get().unwrap().heads, game: &*game };
    if game.is_terminal(&position.state) {
        return asked.at_the_end(&position.state);
    }
    if plies == 0 {
        return asked.values(&[*position], 1).unwrap()[0];
    }
    let after = |a: Action| -plain(of, &game.advance(position, a), plies - 1);
    game.actions(&position.state).into_iter().map(after).fold(f64::MIN, f64::max)
}

#[test]
fn a_search_is_minimax_over_one_position_at_a_time() {
    let game = four();
    let some: Vec<_> = positions(&*game, 90).into_iter().step_by(6).collect();
    for (name, reading) in KEPT {
        for plies in 1..=3 {
            let of = Onnx { equivariant: false, ..kept(name, &format!("depth={plies}")) };
            let some = if reading == Reading::Policy { &some[..3] } else { &some[..] };
            let (batch, found) = (batch(&*game, some), answers(&of, &*game, some));
            for (at, position) in some.iter().enumerate() {
                for place in batch.range(at) {
                    let after = game.advance(position, batch.actions()[place]);
                    // The worth of an action already looks one ply ahead.
                    let expected = match (reading, plies) {
                        (Reading::Q, 1) => continue,
                        (Reading::Q, _) => -plain(&of, &after, plies - 2),
                        _ => -plain(&of, &after, plies - 1),
                    };
                    assert!((found.scores[place] - expected).abs() < 1e-4, "{name} {plies}");
                }
            }
        }
    }
}

#[test]
fn without_plies_a_network_answers_in_its_own_way() {
    let some = positions(&*four(), 30);
    for (name, reading) in KEPT {
        let own = answers(&kept(name, ""), &*four(), &some);
        let one = answers(&kept(name, "depth=1"), &*four(), &some);
        assert_eq!(own == one, reading != Reading::Policy, "{name}");
    }
}

#[test]
fn averaged_over_images_all_images_get_the_same_worths() {
    let (game, folded) = (four(), four().with_folding(true).unwrap());
    for (name, _) in KEPT {
        let of = kept(name, "symmetric=yes");
        for position in positions(&*game, 40).into_iter().step_by(8) {
            let image = AnyPosition { state: folded.transform(&position.state, 3), ..position };
            let both = [position, image];
            let (batch, answers) = (batch(&*game, &both), answers(&of, &*game, &both));
            for (place, action) in game.actions(&position.state).into_iter().enumerate() {
                let action = folded.transform_action(action, 3);
                let there = batch.actions()[batch.range(1)].iter().position(|a| *a == action);
                let there = answers.scores[batch.range(1)][there.unwrap()];
                assert!((answers.scores[place] - there).abs() < 1e-4, "{name}");
            }
        }
    }
}

/// The stored network has equal weights for mirror images, but the runtime rounds its sums.
#[test]
fn mirrored_moves_tie_in_the_kept_network() {
    let (game, folded) = (four(), four().with_folding(true).unwrap());
    let of = kept("supervised", "");
    assert!(of.equivariant);
    let mut mirrored = 0;
    for position in positions(&*game, 120) {
        let answers = answers(&of, &*game, &[position]);
        let actions = game.actions(&position.state);
        let symmetries = 1..folded.group().order() as Symmetry;
        let onto_itself = |&g: &Symmetry| folded.transform(&position.state, g) == position.state;
        for symmetry in symmetries.filter(onto_itself) {
            for (place, &action) in actions.iter().enumerate() {
                let image = folded.transform_action(action, symmetry);
                let image = actions.iter().position(|a| *a == image).unwrap();
                assert_eq!(answers.scores[place], answers.scores[image]);
                assert_eq!(answers.probabilities[place], answers.probabilities[image]);
                mirrored += usize::from(image != place);
            }
        }
    }
    assert!(mirrored > 10, "{mirrored}");
}

/// A model that treats rows independently passes; with the batch mean subtracted from its output it
/// fails.
#[test]
fn a_model_that_mixes_its_batch_is_found_out() {
    let flat = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/onnx/flat.onnx");
    let mut model = Model::decode(&std::fs::read(flat).unwrap()[..]).unwrap();
    let graph = model.graph.as_mut().unwrap();
    let head: &ValueInfo = &graph.output[0];
    let name = head.name.clone();
    let raw = format!("{name}-raw");
    let makes = |node: &&mut Node| node.output[0] == name;
    graph.node.iter_mut().find(makes).unwrap().output[0] = raw.clone();
    let node = |op: &str, input: &[&str], output: &str| Node {
        op_type: op.to_string(),
        input: input.iter().map(|name| name.to_string()).collect(),
        output: vec![output.to_string()],
        ..Node::default()
    };
    let axes = Attribute {
        name: "axes".to_string(),
        ints: vec![0],
        r#type: Attribute::INTS,
        ..Attribute::default()
    };
    let mean = Node { attribute: vec![axes], ..node("ReduceMean", &[&raw], "mean") };
    graph.node.extend([mean, node("Sub", &[&raw, "mean"], &name)]);
    let dir = tempfile::tempdir().unwrap();
    let mixed = dir.path().join("mixed.onnx");
    std::fs::write(&mixed, model.encode_to_vec()).unwrap();

    let game = four();
    let mut batch = Batch::default();
    for position in positions(&*game, 40) {
        batch.push(position, game.actions(&position.state));
    }
    let ask = |path: &str| {
        let policy = NetworkSpec::onnx(path).unwrap().load(String::new(), &*game).unwrap();
        policy.answer(&*game, &batch)
    };
    ask(flat).unwrap();
    let line = ask(mixed.to_str().unwrap()).unwrap_err().line();
    assert!(line.contains("by itself"), "{line}");
}
