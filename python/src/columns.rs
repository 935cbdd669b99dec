//! Blocks of columns as NumPy arrays.

use numpy::{Element, IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use yomikiri::oracle::SolvedTable;
use yomikiri::rules::encode::Layout;
use yomikiri_measure::export::targets::{
    Format, RowBlock, Scalar, TargetColumn, TargetShape, all_columns, choose_columns,
};

use crate::errors::value_error;

/// Returns the shape of exports from a table in this layout. Fails if the layout is unknown.
pub(crate) fn shape(table: &SolvedTable, layout: &str) -> PyResult<TargetShape> {
    let layout = Layout::named(layout)
        .ok_or_else(|| value_error(format!("invalid layout: expected {}", Layout::names())))?;
    Ok(TargetShape { layout, bounds: true, ..TargetShape::of(table.game(), Some(table)) })
}

/// Returns the columns of these names. Fails if one is unknown.
pub(crate) fn columns(
    table: &SolvedTable,
    shape: &TargetShape,
    names: &[String],
) -> PyResult<Vec<TargetColumn>> {
    choose_columns(table.game(), Format::Npy, shape, Some(names))
        .map_err(|wrong| value_error(wrong.line()))
}

/// Returns the names and descriptions of all columns.
pub(crate) fn about(table: &SolvedTable) -> PyResult<Vec<(String, String)>> {
    let all = all_columns(table.game(), &shape(table, "nchw")?);
    Ok(all.into_iter().map(|column| (column.name.to_string(), column.about)).collect())
}

/// Converts a block to a dictionary of arrays whose first axis is the row.
pub(crate) fn to_dict<'py>(
    py: Python<'py>,
    block: RowBlock,
    columns: &[TargetColumn],
) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let RowBlock { rows, data, ends } = block;
    for ((column, data), ends) in columns.iter().zip(data).zip(ends) {
        let mut dims = vec![rows];
        dims.extend(column.shape.iter().map(|&n| n as usize));
        let array = match column.scalar {
            Scalar::Text(_) => {
                let mut begin = 0;
                let texts = ends.iter().map(|&end| {
                    let text = String::from_utf8_lossy(&data[begin..end]).into_owned();
                    begin = end;
                    text
                });
                PyList::new(py, texts)?.into_any()
            }
            Scalar::U8 => data.into_pyarray(py).reshape(dims)?.into_any(),
            Scalar::I8 => numbers(py, &data, i8::from_le_bytes, &dims)?,
            Scalar::U16 => numbers(py, &data, u16::from_le_bytes, &dims)?,
            Scalar::U32 => numbers(py, &data, u32::from_le_bytes, &dims)?,
            Scalar::U64 => numbers(py, &data, u64::from_le_bytes, &dims)?,
            Scalar::F32 => numbers(py, &data, f32::from_le_bytes, &dims)?,
        };
        out.set_item(column.name, array)?;
    }
    Ok(out)
}

fn numbers<'py, const N: usize, T: Element + Copy>(
    py: Python<'py>,
    data: &[u8],
    of: fn([u8; N]) -> T,
    dims: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let numbers: Vec<T> = data.as_chunks::<N>().0.iter().map(|&bytes| of(bytes)).collect();
    Ok(numbers.into_pyarray(py).reshape(dims)?.into_any())
}
