//! Arrays: a directory of `.npy` files, or all of them in one `.npz`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{FileCard, Sink, Summed};
use crate::export::targets::columns::{Block, Column, Scalar};
use crate::table::{IoContext, Stream, TableError};

/// A directory of arrays: `planes.npy`, or in shards `planes-00000.npy` and so on.
pub(super) struct Shards {
    dir: PathBuf,
    columns: Vec<Column>,
    shard_rows: Option<u64>,
    shard: usize,
    open: Option<Vec<Stream>>,
    /// Rows in the shard that is open.
    rows: u64,
    files: BTreeMap<String, FileCard>,
}

impl Shards {
    pub fn begin(dir: &Path, columns: &[Column], shard_rows: Option<u64>) -> Shards {
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

    fn name(&self, column: &Column) -> String {
        match self.shard_rows {
            None => format!("{}.npy", column.name),
            Some(_) => format!("{}-{:05}.npy", column.name, self.shard),
        }
    }

    fn open(&mut self) -> Result<(), TableError> {
        if self.open.is_none() {
            let path = |column| self.dir.join(self.name(column));
            let create = |column| Stream::create(&path(column));
            self.open = Some(self.columns.iter().map(create).collect::<Result<_, _>>()?);
        }
        Ok(())
    }

    /// Completes the shard that is open.
    fn seal(&mut self) -> Result<(), TableError> {
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

/// The bytes of some rows of a column as they stand in an array.
fn payload(block: &Block, at: usize, column: &Column, rows: std::ops::Range<usize>) -> Vec<u8> {
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

/// That no text is longer than its column is wide.
fn check_widths(block: &Block, columns: &[Column], dir: &Path) -> Result<(), TableError> {
    for (at, column) in columns.iter().enumerate() {
        let Scalar::Text(width) = column.scalar else { continue };
        if (0..block.rows).any(|row| block.text(at, row).len() > width) {
            let text = format!("a text of column {} has more than {width} bytes", column.name);
            let (path, source) = (dir.to_path_buf(), io::Error::other(text));
            return Err(TableError::Io { action: "write", path, source });
        }
    }
    Ok(())
}

impl Sink for Shards {
    fn append(&mut self, block: &Block) -> Result<(), TableError> {
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

    fn finish(mut self: Box<Self>) -> Result<BTreeMap<String, FileCard>, TableError> {
        if self.files.is_empty() {
            // Without any row there is still an array of each column, of no rows.
            self.open()?;
        }
        self.seal()?;
        Ok(self.files)
    }
}

/// All arrays in one file, stored and not compressed. They are written beside it first, because a
/// file can only be one column after another.
pub(super) struct Archive {
    dir: PathBuf,
    name: String,
    parts: Shards,
}

impl Archive {
    pub fn begin(dir: &Path, name: &str, columns: &[Column]) -> Archive {
        let parts = Shards::begin(dir, columns, None);
        Archive { dir: dir.to_path_buf(), name: name.to_string(), parts }
    }
}

impl Sink for Archive {
    fn append(&mut self, block: &Block) -> Result<(), TableError> {
        self.parts.append(block)
    }

    fn finish(self: Box<Self>) -> Result<BTreeMap<String, FileCard>, TableError> {
        let Archive { dir, name, parts } = *self;
        let columns = parts.columns.clone();
        let parts = Box::new(parts).finish()?;
        let path = dir.join(&name);
        let file = File::create(&path).at("write", &path)?;
        let mut zip = Zip::new(Summed::new(BufWriter::new(file)));
        let mut rows = 0;
        for column in &columns {
            let part = format!("{}.npy", column.name);
            let from = dir.join(&part);
            zip.add(&part, &parts[&part], &from).at("write", &path)?;
            rows = parts[&part].rows;
            fs::remove_file(&from).at("remove", &from)?;
        }
        let mut out = zip.finish().at("write", &path)?;
        out.flush().at("write", &path)?;
        out.inner.get_ref().sync_all().at("write", &path)?;
        Ok([(name, out.card(rows))].into())
    }
}

/// A ZIP archive of stored files, with 64-bit sizes where they are needed.
struct Zip<W> {
    out: Summed<W>,
    directory: Vec<u8>,
    files: u64,
}

/// The largest number of a 32-bit field; it also says that a 64-bit one follows.
const FULL: u64 = u32::MAX as u64;

impl<W: Write> Zip<W> {
    fn new(out: Summed<W>) -> Zip<W> {
        Zip { out, directory: Vec::new(), files: 0 }
    }

    /// What local headers and the directory have in common. No times are told.
    fn entry(name: &str, card: &FileCard, long: bool, extra: u16) -> Vec<u8> {
        let crc = u32::from_str_radix(&card.crc32, 16).unwrap_or(0);
        let size = if long { FULL } else { card.bytes } as u32;
        let mut entry = Vec::new();
        entry.extend(if long { 45u16 } else { 20 }.to_le_bytes());
        // No flags; stored; midnight of the first of January 1980.
        entry.extend([0, 0, 0, 0, 0, 0, 0x21, 0]);
        entry.extend(crc.to_le_bytes());
        entry.extend(size.to_le_bytes());
        entry.extend(size.to_le_bytes());
        entry.extend((name.len() as u16).to_le_bytes());
        entry.extend(extra.to_le_bytes());
        entry
    }

    fn add(&mut self, name: &str, card: &FileCard, from: &Path) -> io::Result<()> {
        let offset = self.out.bytes;
        let long = card.bytes >= FULL;
        let mut sizes = Vec::new();
        if long {
            sizes.extend([1, 0, 16, 0]);
            sizes.extend(card.bytes.to_le_bytes());
            sizes.extend(card.bytes.to_le_bytes());
        }
        self.out.write_all(b"PK\x03\x04")?;
        self.out.write_all(&Self::entry(name, card, long, sizes.len() as u16))?;
        self.out.write_all(name.as_bytes())?;
        self.out.write_all(&sizes)?;
        let copied = io::copy(&mut File::open(from)?, &mut self.out)?;
        if copied != card.bytes {
            return Err(io::Error::other(format!("{} changed while it was read", from.display())));
        }
        let far = offset >= FULL;
        let mut extra = Vec::new();
        if long || far {
            let length = if long { 16u16 } else { 0 } + if far { 8 } else { 0 };
            extra.extend([1, 0]);
            extra.extend(length.to_le_bytes());
            extra.extend(sizes.get(4..).unwrap_or_default());
            if far {
                extra.extend(offset.to_le_bytes());
            }
        }
        let made_by = if long || far { 45u16 } else { 20 };
        self.directory.extend(b"PK\x01\x02");
        self.directory.extend(made_by.to_le_bytes());
        self.directory.extend(Self::entry(name, card, long, extra.len() as u16));
        // No comment, disk 0, no attributes.
        self.directory.extend([0; 10]);
        self.directory.extend((offset.min(FULL) as u32).to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.directory.extend(extra);
        self.files += 1;
        Ok(())
    }

    fn finish(mut self) -> io::Result<Summed<W>> {
        let (begin, length) = (self.out.bytes, self.directory.len() as u64);
        self.out.write_all(&self.directory)?;
        if begin >= FULL {
            let end = self.out.bytes;
            self.out.write_all(b"PK\x06\x06")?;
            self.out.write_all(&44u64.to_le_bytes())?;
            self.out.write_all(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0])?;
            for number in [self.files, self.files, length, begin] {
                self.out.write_all(&number.to_le_bytes())?;
            }
            self.out.write_all(b"PK\x06\x07\0\0\0\0")?;
            self.out.write_all(&end.to_le_bytes())?;
            self.out.write_all(&1u32.to_le_bytes())?;
        }
        self.out.write_all(b"PK\x05\x06\0\0\0\0")?;
        self.out.write_all(&(self.files as u16).to_le_bytes())?;
        self.out.write_all(&(self.files as u16).to_le_bytes())?;
        self.out.write_all(&(length as u32).to_le_bytes())?;
        self.out.write_all(&(begin.min(FULL) as u32).to_le_bytes())?;
        self.out.write_all(&[0, 0])?;
        Ok(self.out)
    }
}
