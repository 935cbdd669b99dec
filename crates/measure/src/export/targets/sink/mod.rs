//! Output files of examples.

mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod text;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use yomikiri::error::Error;

use serde::{Deserialize, Serialize};

use super::columns::{RowBlock, TargetColumn};
pub use text::LineSink;

/// File format of examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A directory of `.npy` arrays.
    Npy,
    /// One `.npz` archive of the same arrays.
    Npz,
    /// Parquet.
    Parquet,
    /// One JSON object per line.
    Jsonl,
    /// Comma-separated values.
    Csv,
    /// One board per line with the score of every move.
    Obf,
}

impl Format {
    /// Returns the format of a path's extension, a directory for none; `None` if it is unknown.
    pub fn of_path(path: &Path) -> Option<Format> {
        let extension =
            path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            None => Some(Format::Npy),
            Some("npz") => Some(Format::Npz),
            Some("parquet") => Some(Format::Parquet),
            Some("jsonl" | "ndjson") => Some(Format::Jsonl),
            Some("csv") => Some(Format::Csv),
            Some("obf") => Some(Format::Obf),
            Some(_) => None,
        }
    }

    /// Returns `npy`, `npz`, `parquet`, `jsonl`, `csv` or `obf`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Parquet => "parquet",
            Format::Jsonl => "jsonl",
            Format::Csv => "csv",
            Format::Obf => "obf",
        }
    }
}

/// Description of a file in the data card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FileCard {
    /// Size in bytes.
    pub bytes: u64,
    /// CRC-32 of the file in hexadecimal.
    pub crc32: String,
    /// Number of examples.
    pub rows: u64,
}

/// Writes examples in order.
pub(crate) trait Sink: Send {
    /// Writes the rows of a block.
    fn append(&mut self, block: &RowBlock) -> Result<(), Error>;

    /// Completes the files and returns their descriptions by name.
    fn finish(self: Box<Self>) -> Result<BTreeMap<String, FileCard>, Error>;
}

/// Creates the output of a format in a directory; `name` is the file's name for formats of one file.
pub(super) fn begin(
    format: Format,
    dir: &Path,
    name: &str,
    columns: &[TargetColumn],
    shard_rows: Option<u64>,
) -> Result<Box<dyn Sink>, Error> {
    Ok(match format {
        Format::Npy => Box::new(npy::Shards::begin(dir, columns, shard_rows)),
        Format::Npz => Box::new(npy::Archive::begin(dir, name, columns)),
        Format::Jsonl | Format::Csv | Format::Obf => {
            Box::new(text::TextFile::begin(format, dir, name, columns)?)
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(parquet::ParquetFile::begin(dir, name, columns)?),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            let source = std::io::Error::other("this build does not include Parquet");
            return Err(yomikiri::output::failure("write", &dir.join(name), source));
        }
    })
}

/// Creates arrays of the numeric columns, and a text file of the position, which is the last column.
pub(in crate::export) fn write_arrays_and_lines(
    dir: &Path,
    lines: &str,
    columns: &[TargetColumn],
) -> Result<[Box<dyn Sink>; 2], Error> {
    let arrays = npy::Shards::begin(dir, &columns[..columns.len() - 1], None);
    Ok([Box::new(arrays), Box::new(text::TextFile::begin(Format::Obf, dir, lines, columns)?)])
}

/// A writer that counts bytes and computes their checksum.
pub(super) struct SummedWriter<W> {
    inner: W,
    bytes: u64,
    sum: crc32fast::Hasher,
}

impl<W: Write> SummedWriter<W> {
    pub(super) fn new(inner: W) -> SummedWriter<W> {
        SummedWriter { inner, bytes: 0, sum: crc32fast::Hasher::new() }
    }

    /// Returns the description of the file, which has `rows` examples.
    pub(super) fn card(&self, rows: u64) -> FileCard {
        let crc32 = format!("{:08x}", self.sum.clone().finalize());
        FileCard { bytes: self.bytes, crc32, rows }
    }
}

impl<W: Write> Write for SummedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}
