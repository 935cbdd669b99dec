//! Examples as Parquet.
//!
//! Numbers are integers or floats of their own width, null where missing. Several numbers per row
//! are a list, the last axis fastest.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, FloatType, Int32Type, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::{FileCard, Sink, SummedWriter};
use crate::export::targets::columns::{MISSING, NO_DISTANCE, RowBlock, Scalar, TargetColumn};
use yomikiri::error::Error;
use yomikiri::output::OutputFile;
use yomikiri::table::IoContext;

/// Rows that complete a row group, as `GROUP_BYTES` bytes do.
const GROUP_ROWS: usize = 1 << 17;
const GROUP_BYTES: usize = 1 << 26;
/// Rows of a column converted at a time.
const PIECE_ROWS: usize = 1 << 12;

/// A Parquet file being written.
pub(super) struct ParquetFile {
    columns: Vec<TargetColumn>,
    name: String,
    path: PathBuf,
    writer: SerializedFileWriter<SummedWriter<OutputFile>>,
    group: RowBlock,
    rows: u64,
}

fn declaration(column: &TargetColumn) -> String {
    let TargetColumn { name, scalar, .. } = column;
    if column.is_text() {
        return format!("required byte_array {name} (STRING);");
    }
    let need = if column.has_missing { "optional" } else { "required" };
    let kind = match scalar {
        Scalar::U8 => "int32 {} (INTEGER(8,false))",
        Scalar::I8 => "int32 {} (INTEGER(8,true))",
        Scalar::U16 => "int32 {} (INTEGER(16,false))",
        Scalar::U32 => "int32 {} (INTEGER(32,false))",
        Scalar::F32 => "float {}",
        Scalar::U64 | Scalar::Text(_) => "int64 {} (INTEGER(64,false))",
    };
    if column.shape.is_empty() {
        return format!("{need} {};", kind.replace("{}", name));
    }
    // The Parquet format requires these names in lists.
    let element = format!("{need} {};", kind.replace("{}", "element"));
    format!("required group {name} (LIST) {{ repeated group list {{ {element} }} }}")
}

impl ParquetFile {
    pub(super) fn begin(
        dir: &Path,
        name: &str,
        columns: &[TargetColumn],
    ) -> Result<ParquetFile, Error> {
        let path = dir.join(name);
        let file = OutputFile::create(&path).at("write", &path)?;
        let declarations: Vec<String> = columns.iter().map(declaration).collect();
        let schema = format!("message example {{ {} }}", declarations.join(" "));
        let begin = || -> ParquetResult<_> {
            let schema = Arc::new(parse_message_type(&schema)?);
            let properties = WriterProperties::builder()
                .set_compression(Compression::SNAPPY)
                .set_created_by("yomikiri".to_string())
                .build();
            SerializedFileWriter::new(SummedWriter::new(file), schema, Arc::new(properties))
        };
        let writer = begin().map_err(io::Error::other).at("write", &path)?;
        Ok(ParquetFile {
            columns: columns.to_vec(),
            name: name.to_string(),
            path,
            writer,
            group: RowBlock::new(columns.len()),
            rows: 0,
        })
    }

    fn write(&mut self) -> ParquetResult<()> {
        if self.group.rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for (at, column) in self.columns.iter().enumerate() {
            let Some(mut writer) = group.next_column()? else { break };
            write_column(&mut writer, column, &mut self.group, at)?;
            writer.close()?;
        }
        group.close()?;
        self.group = RowBlock::new(self.columns.len());
        Ok(())
    }
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    column: &TargetColumn,
    block: &mut RowBlock,
    at: usize,
) -> ParquetResult<()> {
    let bytes = std::mem::take(&mut block.data[at]);
    if column.is_text() {
        let ends = &block.ends[at];
        let all = ByteArray::from(bytes);
        let begins = [0].into_iter().chain(ends.iter().copied());
        let values: Vec<ByteArray> =
            begins.zip(ends).map(|(begin, end)| all.slice(begin, end - begin)).collect();
        writer.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        return Ok(());
    }
    // In pieces, because each number is widened and has two levels.
    bytes.chunks(PIECE_ROWS * column.row_bytes()).try_for_each(|bytes| {
        let words = bytes.chunks_exact(column.scalar.size());
        match column.scalar {
            Scalar::F32 => {
                let values = words.map(|word| f32::from_le_bytes(padded(word))).collect();
                write_numbers::<FloatType>(writer, column, values, None)
            }
            Scalar::U64 | Scalar::Text(_) => {
                let values = words.map(|word| i64::from_le_bytes(padded(word))).collect();
                write_numbers::<Int64Type>(writer, column, values, None)
            }
            Scalar::I8 => {
                let values = words.map(|word| i32::from(word[0] as i8)).collect();
                write_numbers::<Int32Type>(writer, column, values, Some(i32::from(MISSING)))
            }
            _ => {
                let values = words.map(|word| i32::from_le_bytes(padded(word))).collect();
                write_numbers::<Int32Type>(writer, column, values, Some(i32::from(NO_DISTANCE)))
            }
        }
    })
}

/// Writes numbers, of which `absent` marks missing ones, with their definition and repetition levels.
fn write_numbers<T: DataType<T: PartialEq>>(
    writer: &mut SerializedColumnWriter<'_>,
    column: &TargetColumn,
    mut values: Vec<T::T>,
    absent: Option<T::T>,
) -> ParquetResult<()> {
    let is_list = !column.shape.is_empty();
    let width = column.row_bytes() / column.scalar.size();
    let starts = is_list.then(|| (0..values.len()).map(|at| i16::from(at % width != 0)).collect());
    let starts: Option<Vec<i16>> = starts;
    let absent = absent.filter(|_| column.has_missing);
    let there = |value: &T::T| absent.as_ref() != Some(value);
    let least = i16::from(is_list);
    let levels: Option<Vec<i16>> = (is_list || absent.is_some()).then(|| {
        let level = |value| least + i16::from(column.has_missing && there(value));
        values.iter().map(level).collect()
    });
    values.retain(there);
    writer.typed::<T>().write_batch(&values, levels.as_deref(), starts.as_deref())?;
    Ok(())
}

/// Extends a little-endian number with zero bytes.
fn padded<const N: usize>(word: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[..word.len()].copy_from_slice(word);
    bytes
}

impl Sink for ParquetFile {
    fn append(&mut self, block: &RowBlock) -> Result<(), Error> {
        self.group.extend(block);
        self.rows += block.rows as u64;
        let bytes: usize = self.group.data.iter().map(Vec::len).sum();
        if self.group.rows >= GROUP_ROWS || bytes >= GROUP_BYTES {
            self.write().map_err(io::Error::other).at("write", &self.path)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<BTreeMap<String, FileCard>, Error> {
        self.write().map_err(io::Error::other).at("write", &self.path)?;
        let ParquetFile { name, path, writer, rows, .. } = *self;
        let mut out = writer.into_inner().map_err(io::Error::other).at("write", &path)?;
        out.flush().at("write", &path)?;
        let card = out.card(rows);
        out.inner.commit_synced().at("write", &path)?;
        Ok([(name, card)].into())
    }
}
