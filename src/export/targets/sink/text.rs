//! Examples as lines of text: JSON objects, comma-separated values, OBF.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{FileCard, Format, Sink, Summed};
use crate::export::targets::columns::{Block, Column, Field, MISSING, NO_DISTANCE, Scalar};
use crate::table::{IoContext, TableError};

/// Writes the rows of blocks as lines.
#[derive(Clone, Debug)]
pub struct Lines {
    format: Format,
    columns: Vec<Column>,
}

impl Lines {
    /// Lines of a format that is text; OBF needs the columns `board` and `moves`.
    pub fn new(format: Format, columns: &[Column]) -> Lines {
        Lines { format, columns: columns.to_vec() }
    }

    /// Writes what comes before the first row.
    pub fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.format == Format::Csv {
            let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
            writeln!(out, "{}", names.join(","))?;
        }
        Ok(())
    }

    /// Writes the rows of a block.
    pub fn write(&self, block: &Block, out: &mut dyn Write) -> io::Result<()> {
        (0..block.rows).try_for_each(|row| match self.format {
            Format::Obf => self.obf(block, row, out),
            Format::Csv => self.csv(block, row, out),
            _ => self.json(block, row, out),
        })
    }

    fn json(&self, block: &Block, row: usize, out: &mut dyn Write) -> io::Result<()> {
        for (at, column) in self.columns.iter().enumerate() {
            write!(out, "{}\"{}\":", if at == 0 { '{' } else { ',' }, column.name)?;
            if column.is_text() {
                let text = String::from_utf8_lossy(block.text(at, row)).into_owned();
                serde_json::to_writer(&mut *out, &text)?;
                continue;
            }
            nested(&numbers(block, at, column, row), &column.shape, "null", out)?;
        }
        writeln!(out, "}}")
    }

    /// Numbers of one row are separated by spaces, and what is missing is empty, or within a list a
    /// dash.
    fn csv(&self, block: &Block, row: usize, out: &mut dyn Write) -> io::Result<()> {
        for (at, column) in self.columns.iter().enumerate() {
            if at > 0 {
                out.write_all(b",")?;
            }
            if column.is_text() {
                // Neither boards nor moves have commas or quotes in them.
                out.write_all(block.text(at, row))?;
                continue;
            }
            let absent = if column.shape.is_empty() { "" } else { "-" };
            let numbers = numbers(block, at, column, row);
            let words: Vec<&str> =
                numbers.iter().map(|number| number.as_deref().unwrap_or(absent)).collect();
            out.write_all(words.join(" ").as_bytes())?;
        }
        out.write_all(b"\n")
    }

    fn obf(&self, block: &Block, row: usize, out: &mut dyn Write) -> io::Result<()> {
        let text = |field: Field| {
            let at = self.columns.iter().position(|column| column.field == field);
            at.map(|at| String::from_utf8_lossy(block.text(at, row)).into_owned())
        };
        let (board, moves) = (text(Field::Board), text(Field::Moves));
        write!(out, "{}", board.unwrap_or_default())?;
        for word in moves.unwrap_or_default().split_whitespace() {
            write!(out, " {word};")?;
        }
        writeln!(out)
    }
}

/// The numbers of a row as text; `None` for what is missing.
fn numbers(block: &Block, at: usize, column: &Column, row: usize) -> Vec<Option<String>> {
    let bytes = block.numbers(column, at, row);
    let text = |number: &[u8]| {
        let missing = |is: bool| column.has_missing && is;
        match (column.scalar, number) {
            (Scalar::I8, &[byte]) => {
                (!missing(byte as i8 == MISSING)).then(|| (byte as i8).to_string())
            }
            (Scalar::U8, &[byte]) => Some(byte.to_string()),
            (Scalar::U16, &[a, b]) => {
                let number = u16::from_le_bytes([a, b]);
                (!missing(number == NO_DISTANCE)).then(|| number.to_string())
            }
            (Scalar::U32, &[a, b, c, d]) => Some(u32::from_le_bytes([a, b, c, d]).to_string()),
            (Scalar::F32, &[a, b, c, d]) => Some(f32::from_le_bytes([a, b, c, d]).to_string()),
            (_, number) => {
                number.try_into().ok().map(|bytes| u64::from_le_bytes(bytes).to_string())
            }
        }
    };
    bytes.chunks_exact(column.scalar.size()).map(text).collect()
}

/// Numbers as lists in lists.
fn nested(
    numbers: &[Option<String>],
    shape: &[u64],
    absent: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some((&length, inner)) = shape.split_first() else {
        let number = numbers.first().and_then(|number| number.as_deref());
        return out.write_all(number.unwrap_or(absent).as_bytes());
    };
    let each = numbers.len() / length.max(1) as usize;
    out.write_all(b"[")?;
    for (at, part) in numbers.chunks(each.max(1)).enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        nested(part, inner, absent, out)?;
    }
    out.write_all(b"]")
}

/// A file of lines.
pub(super) struct TextFile {
    lines: Lines,
    name: String,
    path: PathBuf,
    out: Summed<BufWriter<File>>,
    rows: u64,
}

impl TextFile {
    pub fn begin(
        format: Format,
        dir: &Path,
        name: &str,
        columns: &[Column],
    ) -> Result<TextFile, TableError> {
        let path = dir.join(name);
        let file = File::create(&path).at("write", &path)?;
        let mut out = Summed::new(BufWriter::new(file));
        let lines = Lines::new(format, columns);
        lines.begin(&mut out).at("write", &path)?;
        Ok(TextFile { lines, name: name.to_string(), path, out, rows: 0 })
    }
}

impl Sink for TextFile {
    fn append(&mut self, block: &Block) -> Result<(), TableError> {
        let mut text = Vec::new();
        self.lines.write(block, &mut text).at("write", &self.path)?;
        self.rows += block.rows as u64;
        self.out.write_all(&text).at("write", &self.path)
    }

    fn finish(mut self: Box<Self>) -> Result<BTreeMap<String, FileCard>, TableError> {
        self.out.flush().at("write", &self.path)?;
        self.out.inner.get_ref().sync_all().at("write", &self.path)?;
        let card = self.out.card(self.rows);
        Ok([(self.name, card)].into())
    }
}
