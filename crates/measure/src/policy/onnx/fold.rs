//! Computes what depends on constants alone, by the runtime itself.

use std::sync::{Arc, OnceLock};

use prost::Message as _;
use rten::{ModelOptions, RunOptions, ThreadPool, Value};
use rten_tensor::{AsView as _, Layout as _};

use super::proto::{Model, Tensor};

/// Computes a model without inputs; `None` if the runtime cannot.
pub(super) fn compute(model: &Model) -> Option<Vec<Tensor>> {
    static POOL: OnceLock<Arc<ThreadPool>> = OnceLock::new();
    let pool = POOL.get_or_init(|| Arc::new(ThreadPool::with_num_threads(1)));
    let options = RunOptions::default().with_thread_pool(Some(pool.clone()));
    let mut loading = ModelOptions::with_all_ops();
    let model = loading.enable_optimization(false).load(model.encode_to_vec()).ok()?;
    let computed = model.run(Vec::new(), model.output_ids(), Some(options)).ok()?;
    let tensor = |value: Value| {
        let dims = value.shape().iter().map(|&size| size as i64).collect();
        let (data_type, int32_data) = match value {
            Value::FloatTensor(numbers) => {
                let (data_type, float_data) = (Tensor::FLOAT, numbers.to_vec());
                return Some(Tensor { dims, data_type, float_data, ..Tensor::default() });
            }
            Value::Int32Tensor(numbers) => (Tensor::INT32, numbers.to_vec()),
            Value::Int8Tensor(numbers) => {
                (Tensor::INT8, numbers.iter().map(|&n| n.into()).collect())
            }
            Value::UInt8Tensor(numbers) => {
                (Tensor::UINT8, numbers.iter().map(|&n| n.into()).collect())
            }
            _ => return None,
        };
        Some(Tensor { dims, data_type, int32_data, ..Tensor::default() })
    };
    computed.into_iter().map(tensor).collect()
}
