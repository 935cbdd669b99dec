//! Converts models from half to single precision.
//!
//! The runtime does not support 16-bit floats. Every one of them is a 32-bit float as well, so weights and
//! tensor types are widened before the runtime loads the model; results are more precise than in half
//! precision.

use std::convert::Infallible;

use half::f16;

use super::proto::{Graph, Model, Tensor};

/// ONNX's number of 16-bit floats.
const HALF: i32 = 10;
/// Attributes whose integer is an element type.
const TYPES: [(&str, &str); 4] =
    [("Cast", "to"), ("RandomNormalLike", "dtype"), ("EyeLike", "dtype"), ("Multinomial", "dtype")];

/// Widens a model.
pub(super) fn widen(model: &mut Model) {
    model.graph.iter_mut().for_each(|graph| {
        let widened = |tensor: &mut Tensor| {
            widen_tensor(tensor);
            Ok::<(), Infallible>(())
        };
        let Ok(()) = graph.each_tensor(&mut { widened });
        widen_types(graph);
    });
}

fn widen_types(graph: &mut Graph) {
    for info in graph.input.iter_mut().chain(&mut graph.output) {
        let tensor = info.r#type.as_mut().and_then(|kind| kind.tensor_type.as_mut());
        let half = tensor.filter(|tensor| tensor.elem_type == HALF);
        half.into_iter().for_each(|tensor| tensor.elem_type = Tensor::FLOAT);
    }
    for node in &mut graph.node {
        for held in &mut node.attribute {
            let is_type = TYPES.contains(&(node.op_type.as_str(), held.name.as_str()));
            if is_type && held.i == Some(i64::from(HALF)) {
                held.i = Some(i64::from(Tensor::FLOAT));
            }
            held.g.iter_mut().chain(&mut held.graphs).for_each(widen_types);
        }
    }
}

/// Widens a tensor whose numbers are two bytes each, or the low bits of integers.
fn widen_tensor(tensor: &mut Tensor) {
    if tensor.data_type != HALF {
        return;
    }
    tensor.float_data = match tensor.raw_data.take() {
        Some(raw) => {
            raw.as_chunks().0.iter().map(|&two| f16::from_le_bytes(two).to_f32()).collect()
        }
        None => tensor.int32_data.iter().map(|&n| f16::from_bits(n as u16).to_f32()).collect(),
    };
    tensor.int32_data.clear();
    tensor.data_type = Tensor::FLOAT;
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use crate::policy::test_positions::{four, positions};
    use crate::policy::{Batch, NetworkSpec};

    /// Narrows a tensor to 16-bit floats, in one of the two encodings of files.
    fn narrow(tensor: &mut Tensor, as_integers: bool) {
        if tensor.data_type != Tensor::FLOAT {
            return;
        }
        let raw = tensor.raw_data.take().unwrap_or_default();
        let raw = raw.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four));
        let halves: Vec<f16> = raw.chain(tensor.float_data.drain(..)).map(f16::from_f32).collect();
        tensor.data_type = HALF;
        match as_integers {
            true => tensor.int32_data = halves.iter().map(|h| i32::from(h.to_bits())).collect(),
            false => {
                tensor.raw_data = Some(halves.iter().flat_map(|h| h.to_le_bytes()).collect());
            }
        }
    }

    #[test]
    fn a_model_in_half_precision_says_what_its_weights_do_in_single() {
        let flat = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/onnx/flat.onnx");
        let single = Model::decode(&std::fs::read(flat).unwrap()[..]).unwrap();
        let mut half = single.clone();
        let graph = half.graph.as_mut().unwrap();
        for (at, constant) in graph.initializer.iter_mut().enumerate() {
            narrow(constant, at % 2 == 0);
        }
        for info in graph.input.iter_mut().chain(&mut graph.output) {
            let tensor = info.r#type.as_mut().unwrap().tensor_type.as_mut().unwrap();
            assert_eq!(tensor.elem_type, Tensor::FLOAT);
            tensor.elem_type = HALF;
        }
        let mut rounded = half.clone();
        widen(&mut rounded);
        assert_ne!(rounded, single);

        let game = four();
        let mut batch = Batch::default();
        for position in positions(&*game, 40) {
            batch.push(position, game.actions(&position.state));
        }
        let dir = tempfile::tempdir().unwrap();
        let ask = |name: &str, model: &Model| {
            let path = dir.path().join(name);
            std::fs::write(&path, model.encode_to_vec()).unwrap();
            let policy = NetworkSpec::onnx(path.to_str().unwrap()).unwrap();
            let policy = policy.load(String::new(), &*game).unwrap();
            policy.answer(&*game, &batch).unwrap()
        };
        let (half, rounded) = (ask("half.onnx", &half), ask("rounded.onnx", &rounded));
        assert_eq!(half, rounded);
        // Weights rounded to 11 bits differ slightly.
        let single = ask("single.onnx", &single);
        let apart = single.scores.iter().zip(&half.scores).map(|(a, b)| (a - b).abs());
        let most = apart.fold(0.0, f64::max);
        assert!(0.0 < most && most < 0.05, "{most}");
    }
}
