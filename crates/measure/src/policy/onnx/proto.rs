//! Messages of ONNX files.
//!
//! Names and numbers are those of `onnx.proto` (<https://onnx.ai/onnx/api/classes.html>). Only fields read by
//! rten or by us are included: a model that is parsed and written again loses the others. Members of a
//! `oneof` are separate fields.

// Fields are documented in `onnx.proto`.
#![allow(missing_docs)]

use prost::Message;

/// An ONNX file.
#[derive(Clone, PartialEq, Message)]
pub struct Model {
    #[prost(int64, optional, tag = "1")]
    pub ir_version: Option<i64>,
    #[prost(string, tag = "2")]
    pub producer_name: String,
    #[prost(string, tag = "3")]
    pub producer_version: String,
    #[prost(message, optional, tag = "7")]
    pub graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<Entry>,
}

/// A set of operators that nodes use.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSet {
    #[prost(string, optional, tag = "1")]
    pub domain: Option<String>,
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// A key and its value.
#[derive(Clone, PartialEq, Message)]
pub struct Entry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

/// A computation: nodes, constants, inputs and outputs.
#[derive(Clone, PartialEq, Message)]
pub struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<Node>,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "13")]
    pub value_info: Vec<ValueInfo>,
}

/// An operation.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<Attribute>,
    #[prost(string, tag = "7")]
    pub domain: String,
}

/// An attribute of an operation.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub s: Option<Vec<u8>>,
    #[prost(message, optional, tag = "5")]
    pub t: Option<Tensor>,
    #[prost(message, optional, tag = "6")]
    pub g: Option<Graph>,
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub floats: Vec<f32>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub strings: Vec<Vec<u8>>,
    #[prost(message, repeated, tag = "11")]
    pub graphs: Vec<Graph>,
    #[prost(int32, tag = "20")]
    pub r#type: i32,
}

impl Attribute {
    pub const INT: i32 = 2;
    pub const TENSOR: i32 = 4;
    pub const INTS: i32 = 7;

    /// Makes an integer.
    pub fn int(name: &str, value: i64) -> Attribute {
        let (name, i, r#type) = (name.to_string(), Some(value), Attribute::INT);
        Attribute { name, i, r#type, ..Attribute::default() }
    }

    /// Makes a list of integers.
    pub fn ints(name: &str, values: &[i64]) -> Attribute {
        let (name, ints, r#type) = (name.to_string(), values.to_vec(), Attribute::INTS);
        Attribute { name, ints, r#type, ..Attribute::default() }
    }
}

/// A constant.
#[derive(Clone, PartialEq, Message)]
pub struct Tensor {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    #[prost(string, tag = "8")]
    pub name: String,
    #[prost(bytes = "vec", optional, tag = "9")]
    pub raw_data: Option<Vec<u8>>,
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<Entry>,
    #[prost(int32, tag = "14")]
    pub data_location: i32,
}

impl Tensor {
    pub const FLOAT: i32 = 1;
    pub const UINT8: i32 = 2;
    pub const INT8: i32 = 3;
    pub const INT32: i32 = 6;
    pub const INT64: i32 = 7;
    pub const BOOL: i32 = 9;
    pub const DOUBLE: i32 = 11;

    /// Makes a list of 64-bit integers.
    pub fn of_sizes(sizes: &[i64]) -> Tensor {
        let (dims, int64_data) = (vec![sizes.len() as i64], sizes.to_vec());
        Tensor { dims, data_type: Tensor::INT64, int64_data, ..Tensor::default() }
    }

    /// Returns the number of bytes of its numbers; `None` for an unknown type or an invalid shape.
    pub fn bytes(&self) -> Option<u64> {
        let each = match self.data_type {
            2 | 3 | 9 => 1,
            4 | 5 | 10 | 16 => 2,
            1 | 6 | 12 => 4,
            7 | 11 | 13 => 8,
            _ => return None,
        };
        let mut sizes = self.dims.iter().map(|&size| u64::try_from(size).ok());
        sizes.try_fold(each, |all: u64, size| all.checked_mul(size?))
    }
}

impl Tensor {
    /// Returns `false` if it has other numbers than its shape says; those in other files and of other types than numbers
    /// are not looked at.
    pub fn is_whole(&self) -> bool {
        let Some(bytes) = self.bytes().filter(|_| self.external_data.is_empty()) else {
            return true;
        };
        let numbers = self.dims.iter().map(|&size| size as u64).product::<u64>();
        match self.raw_data.as_ref().filter(|raw| !raw.is_empty()) {
            Some(raw) => raw.len() as u64 == bytes,
            None => {
                let lists = [self.int32_data.len(), self.int64_data.len(), self.float_data.len()];
                (lists.iter().sum::<usize>() + self.double_data.len()) as u64 == numbers
                    // Unsigned integers are in a field that is not read.
                    || matches!(self.data_type, 12 | 13)
            }
        }
    }
}

impl Graph {
    /// Calls a function with every constant, those of nodes and their graphs included.
    pub fn each_tensor<E>(
        &mut self,
        call: &mut impl FnMut(&mut Tensor) -> Result<(), E>,
    ) -> Result<(), E> {
        self.initializer.iter_mut().try_for_each(&mut *call)?;
        for held in self.node.iter_mut().flat_map(|node| &mut node.attribute) {
            held.t.iter_mut().try_for_each(&mut *call)?;
            for graph in held.g.iter_mut().chain(&mut held.graphs) {
                graph.each_tensor(call)?;
            }
        }
        Ok(())
    }
}

/// An input or output.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfo {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<Type>,
}

/// Type of an input or output: a tensor, or a list or dictionary without details.
#[derive(Clone, PartialEq, Message)]
pub struct Type {
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorType>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub sequence_type: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "5")]
    pub map_type: Option<Vec<u8>>,
}

/// The type and shape of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct TensorType {
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<Shape>,
}

/// The sizes of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// A size, or a name for an open one.
#[derive(Clone, PartialEq, Message)]
pub struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub dim_param: Option<String>,
}
