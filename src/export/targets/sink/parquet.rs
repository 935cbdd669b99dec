//! Examples as Parquet.
//!
//! One number a row is an integer or a float of its own width, absent where it is missing. Several
//! numbers a row are a fixed-length byte array, little-endian as in the `.npy` files: that takes a
//! column's values in one piece, where lists would take a level for every number.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{
    ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type,
};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::{FileCard, Sink, Summed};
use crate::export::targets::columns::{Block, Column, MISSING, NO_DISTANCE, Scalar};
use crate::table::{IoContext, TableError};

/// Rows are written together when there are so many of them, or so many bytes.
const GROUP_ROWS: usize = 1 << 17;
const GROUP_BYTES: usize = 1 << 26;

/// A Parquet file in the making.
pub(super) struct ParquetFile {
    columns: Vec<Column>,
    name: String,
    path: PathBuf,
    writer: SerializedFileWriter<Summed<File>>,
    group: Block,
    rows: u64,
}

fn declaration(column: &Column) -> String {
    let Column { name, scalar, .. } = column;
    let need = if column.has_missing { "optional" } else { "required" };
    if column.is_text() {
        return format!("required byte_array {name} (STRING);");
    }
    if !column.shape.is_empty() {
        return format!("required fixed_len_byte_array({}) {name};", column.row_bytes());
    }
    let kind = match scalar {
        Scalar::U8 => "int32 {} (INTEGER(8,false))",
        Scalar::I8 => "int32 {} (INTEGER(8,true))",
        Scalar::U16 => "int32 {} (INTEGER(16,false))",
        Scalar::U32 => "int32 {} (INTEGER(32,false))",
        Scalar::F32 => "float {}",
        Scalar::U64 | Scalar::Text(_) => "int64 {} (INTEGER(64,false))",
    };
    format!("{need} {};", kind.replace("{}", name))
}

impl ParquetFile {
    pub fn begin(dir: &Path, name: &str, columns: &[Column]) -> Result<ParquetFile, TableError> {
        let path = dir.join(name);
        let file = File::create(&path).at("write", &path)?;
        let declarations: Vec<String> = columns.iter().map(declaration).collect();
        let schema = format!("message example {{ {} }}", declarations.join(" "));
        let begin = || -> ParquetResult<_> {
            let schema = Arc::new(parse_message_type(&schema)?);
            let properties = WriterProperties::builder()
                .set_compression(Compression::SNAPPY)
                .set_created_by("yomikiri".to_string())
                .build();
            SerializedFileWriter::new(Summed::new(file), schema, Arc::new(properties))
        };
        let writer = begin().map_err(io::Error::other).at("write", &path)?;
        Ok(ParquetFile {
            columns: columns.to_vec(),
            name: name.to_string(),
            path,
            writer,
            group: Block::new(columns.len()),
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
        self.group = Block::new(self.columns.len());
        Ok(())
    }
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    column: &Column,
    block: &mut Block,
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
    if !column.shape.is_empty() {
        let (width, all) = (column.row_bytes(), ByteArray::from(bytes));
        let row = |row| FixedLenByteArray::from(all.slice(row * width, width));
        let values: Vec<FixedLenByteArray> = (0..block.rows).map(row).collect();
        writer.typed::<FixedLenByteArrayType>().write_batch(&values, None, None)?;
        return Ok(());
    }
    let words = bytes.chunks_exact(column.scalar.size());
    match column.scalar {
        Scalar::F32 => {
            let float = |word: &[u8]| f32::from_le_bytes(padded(word));
            let values: Vec<f32> = words.map(float).collect();
            writer.typed::<FloatType>().write_batch(&values, None, None)?;
        }
        Scalar::U64 | Scalar::Text(_) => {
            let values: Vec<i64> = words.map(|word| i64::from_le_bytes(padded(word))).collect();
            writer.typed::<Int64Type>().write_batch(&values, None, None)?;
        }
        scalar => {
            let number = |word: &[u8]| match scalar {
                Scalar::I8 => i32::from(word[0] as i8),
                _ => i32::from_le_bytes(padded(word)),
            };
            let values: Vec<i32> = words.map(number).collect();
            if !column.has_missing {
                writer.typed::<Int32Type>().write_batch(&values, None, None)?;
                return Ok(());
            }
            let absent = match scalar {
                Scalar::I8 => i32::from(MISSING),
                _ => i32::from(NO_DISTANCE),
            };
            let levels: Vec<i16> = values.iter().map(|&v| i16::from(v != absent)).collect();
            let there: Vec<i32> = values.into_iter().filter(|&v| v != absent).collect();
            writer.typed::<Int32Type>().write_batch(&there, Some(&levels), None)?;
        }
    }
    Ok(())
}

/// A little-endian number of fewer bytes as one of more.
fn padded<const N: usize>(word: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[..word.len()].copy_from_slice(word);
    bytes
}

impl Sink for ParquetFile {
    fn append(&mut self, block: &Block) -> Result<(), TableError> {
        self.group.extend(block);
        self.rows += block.rows as u64;
        let bytes: usize = self.group.data.iter().map(Vec::len).sum();
        if self.group.rows >= GROUP_ROWS || bytes >= GROUP_BYTES {
            self.write().map_err(io::Error::other).at("write", &self.path)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<BTreeMap<String, FileCard>, TableError> {
        self.write().map_err(io::Error::other).at("write", &self.path)?;
        let ParquetFile { name, path, writer, rows, .. } = *self;
        let mut out = writer.into_inner().map_err(io::Error::other).at("write", &path)?;
        out.flush().at("write", &path)?;
        out.inner.sync_all().at("write", &path)?;
        Ok([(name, out.card(rows))].into())
    }
}
