//! Arrays: a directory of `.npy` files, or one `.npz` archive.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

use super::{FileCard, Sink};
use crate::export::folder::checksum;
use crate::export::targets::columns::{RowBlock, Scalar, TargetColumn};
use yomikiri::error::{Error, Kind};
use yomikiri::table::{IoContext, Stream};

/// A directory of arrays: `planes.npy`, or in shards `planes-00000.npy` and so on.
pub(super) struct Shards {
    dir: PathBuf,
    columns: Vec<TargetColumn>,
    shard_rows: Option<u64>,
    shard: usize,
    open: Option<Vec<Stream>>,
    /// Rows in the open shard.
    rows: u64,
    files: BTreeMap<String, FileCard>,
}

impl Shards {
    pub(super) fn begin(dir: &Path, columns: &[TargetColumn], shard_rows: Option<u64>) -> Shards {
        Shards {
            dir: dir.to_path_buf(),
            columns: columns.to_vec(),
            shard_rows,
            shard: 0,
            open: None,
            rows: 0,
            files: BTreeMap::new(),
        }
    }

    fn name(&self, column: &TargetColumn) -> String {
        match self.shard_rows {
            None => format!("{}.npy", column.name),
            Some(_) => format!("{}-{:05}.npy", column.name, self.shard),
        }
    }

    fn open(&mut self) -> Result<(), Error> {
        if self.open.is_none() {
            let path = |column| self.dir.join(self.name(column));
            let create = |column| Stream::create(&path(column));
            self.open = Some(self.columns.iter().map(create).collect::<Result<_, _>>()?);
        }
        Ok(())
    }

    /// Completes the open shard.
    fn seal(&mut self) -> Result<(), Error> {
        let Some(mut streams) = self.open.take() else { return Ok(()) };
        for (stream, column) in streams.iter_mut().zip(&self.columns) {
            let shape = [&[self.rows], &column.shape[..]].concat();
            let mut sum = crc32fast::Hasher::new();
            let header = stream.seal(&column.scalar.descr(), &shape)?;
            sum.update(&header);
            let payload = stream.len_bytes();
            sum.combine(&crc32fast::Hasher::new_with_initial_len(stream.checksum(), payload));
            let card = FileCard {
                bytes: header.len() as u64 + payload,
                crc32: format!("{:08x}", sum.finalize()),
                rows: self.rows,
            };
            let name = self.name(column);
            self.files.insert(name, card);
        }
        self.shard += 1;
        self.rows = 0;
        Ok(())
    }
}

/// Returns the bytes of rows of a column as stored in an array.
fn payload(
    block: &RowBlock,
    at: usize,
    column: &TargetColumn,
    rows: std::ops::Range<usize>,
) -> Vec<u8> {
    let Scalar::Text(width) = column.scalar else {
        let bytes = column.row_bytes();
        return block.data[at][rows.start * bytes..rows.end * bytes].to_vec();
    };
    let mut out = Vec::with_capacity(rows.len() * width);
    for row in rows {
        let end = out.len() + width;
        out.extend_from_slice(block.text(at, row));
        out.resize(end, 0);
    }
    out
}

/// Checks that no text is longer than the width of its column.
fn check_widths(block: &RowBlock, columns: &[TargetColumn], dir: &Path) -> Result<(), Error> {
    for (at, column) in columns.iter().enumerate() {
        let Scalar::Text(width) = column.scalar else { continue };
        if (0..block.rows).any(|row| block.text(at, row).len() > width) {
            let what = format!(
                "cannot write {}: a text of column {} has more than {width} bytes",
                dir.display(),
                column.name
            );
            let hint = "write JSON lines, or leave the column out of --columns";
            return Err(Error::new(what, hint).of_kind(Kind::Failure));
        }
    }
    Ok(())
}

impl Sink for Shards {
    fn append(&mut self, block: &RowBlock) -> Result<(), Error> {
        check_widths(block, &self.columns, &self.dir)?;
        let mut begin = 0;
        while begin < block.rows {
            self.open()?;
            let left = self.shard_rows.map_or(u64::MAX, |most| most - self.rows);
            let end =
                block.rows.min(begin.saturating_add(usize::try_from(left).unwrap_or(usize::MAX)));
            let streams = self.open.iter_mut().flatten();
            for (at, (stream, column)) in streams.zip(&self.columns).enumerate() {
                stream.append(&payload(block, at, column, begin..end))?;
            }
            self.rows += (end - begin) as u64;
            begin = end;
            if self.shard_rows == Some(self.rows) {
                self.seal()?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<BTreeMap<String, FileCard>, Error> {
        if self.files.is_empty() {
            // Without rows there is still an array for each column.
            self.open()?;
        }
        self.seal()?;
        Ok(self.files)
    }
}

/// All arrays in one archive, uncompressed. They are written as separate files first, because an archive
/// holds one column after the other.
pub(super) struct Archive {
    dir: PathBuf,
    name: String,
    parts: Shards,
}

impl Archive {
    pub(super) fn begin(dir: &Path, name: &str, columns: &[TargetColumn]) -> Archive {
        let parts = Shards::begin(dir, columns, None);
        Archive { dir: dir.to_path_buf(), name: name.to_string(), parts }
    }
}

impl Sink for Archive {
    fn append(&mut self, block: &RowBlock) -> Result<(), Error> {
        self.parts.append(block)
    }

    fn finish(self: Box<Self>) -> Result<BTreeMap<String, FileCard>, Error> {
        let Archive { dir, name, parts } = *self;
        let columns = parts.columns.clone();
        let parts = Box::new(parts).finish()?;
        let path = dir.join(&name);
        let file = File::create(&path).at("write", &path)?;
        let mut zip = ZipWriter::new(BufWriter::new(file));
        let mut rows = 0;
        for column in &columns {
            let part = format!("{}.npy", column.name);
            let from = dir.join(&part);
            add(&mut zip, &part, parts[&part].bytes, &from).at("write", &path)?;
            rows = parts[&part].rows;
            fs::remove_file(&from).at("remove", &from)?;
        }
        let file = zip.finish().map_err(io::Error::from).at("write", &path)?;
        let file = file.into_inner().map_err(|error| error.into_error()).at("write", &path)?;
        file.sync_all().at("write", &path)?;
        let bytes = file.metadata().at("read", &path)?.len();
        // The archive writer seeks back to fill in sizes, so the checksum is computed from the finished file.
        let crc32 = checksum(&path).at("read", &path)?;
        let card = FileCard { bytes, crc32, rows };
        Ok([(name, card)].into())
    }
}

/// Adds a file of `bytes` bytes to an archive, uncompressed. Without time and system, equal arrays make equal
/// archives.
fn add<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    name: &str,
    bytes: u64,
    from: &Path,
) -> io::Result<()> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .system(System::Dos)
        .large_file(bytes >= u64::from(u32::MAX));
    zip.start_file(name, options)?;
    if io::copy(&mut File::open(from)?, zip)? != bytes {
        return Err(io::Error::other(format!("{} changed while it was read", from.display())));
    }
    Ok(())
}
