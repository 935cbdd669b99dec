//! Examples as lines of text: JSON, CSV, OBF.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};

use super::{FileCard, Format, Sink, SummedWriter};
use crate::export::targets::columns::{MISSING, NO_DISTANCE, RowBlock, Scalar, TargetColumn};
use yomikiri::error::Error;
use yomikiri::output::OutputFile;
use yomikiri::table::IoContext;

/// Writes the rows of blocks as lines.
#[derive(Clone, Debug)]
pub struct LineSink {
    format: Format,
    columns: Vec<TargetColumn>,
}

impl LineSink {
    /// Returns a writer for a text format; OBF needs the columns `board` and `moves`.
    pub fn new(format: Format, columns: &[TargetColumn]) -> LineSink {
        LineSink { format, columns: columns.to_vec() }
    }

    /// Writes the header, if the format has one.
    pub fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.format == Format::Csv {
            let mut csv = csv::Writer::from_writer(out);
            csv.write_record(self.columns.iter().map(|column| column.name))?;
            csv.flush()?;
        }
        Ok(())
    }

    /// Writes the rows of a block.
    pub fn write(&self, block: &RowBlock, out: &mut dyn Write) -> io::Result<()> {
        match self.format {
            Format::Obf => (0..block.rows).try_for_each(|row| self.obf(block, row, out)),
            Format::Csv => self.csv(block, out),
            _ => (0..block.rows).try_for_each(|row| self.json(block, row, out)),
        }
    }

    fn json(&self, block: &RowBlock, row: usize, out: &mut dyn Write) -> io::Result<()> {
        for (at, column) in self.columns.iter().enumerate() {
            let value = match column.is_text() {
                true => serde_json::to_string(&text(block, at, row))?,
                false => nested(&numbers(block, at, column, row), &column.shape),
            };
            let before = if at == 0 { '{' } else { ',' };
            write!(out, "{before}\"{}\":{value}", column.name)?;
        }
        writeln!(out, "}}")
    }

    /// Separates the numbers of a column by spaces. A missing number is empty, within a list a dash.
    fn csv(&self, block: &RowBlock, out: &mut dyn Write) -> io::Result<()> {
        let mut csv = csv::Writer::from_writer(out);
        for row in 0..block.rows {
            for (at, column) in self.columns.iter().enumerate() {
                if column.is_text() {
                    csv.write_field(block.text(at, row))?;
                    continue;
                }
                let absent = if column.shape.is_empty() { "" } else { "-" };
                let words = numbers(block, at, column, row).into_iter();
                let words: Vec<String> = words.map(|n| n.unwrap_or(absent.to_string())).collect();
                csv.write_field(words.join(" "))?;
            }
            csv.write_record(None::<&[u8]>)?;
        }
        csv.flush()
    }

    fn obf(&self, block: &RowBlock, row: usize, out: &mut dyn Write) -> io::Result<()> {
        let word = |name| {
            let at = self.columns.iter().position(|column| column.name == name);
            at.map(|at| text(block, at, row))
        };
        let (board, moves) = (word("board"), word("moves"));
        write!(out, "{}", board.unwrap_or_default())?;
        for word in moves.unwrap_or_default().split_whitespace() {
            write!(out, " {word};")?;
        }
        writeln!(out)
    }
}

fn text(block: &RowBlock, at: usize, row: usize) -> Cow<'_, str> {
    String::from_utf8_lossy(block.text(at, row))
}

/// Returns the numbers of a row as text, floats with as many digits as needed and without exponent; `None`
/// for missing numbers.
fn numbers(block: &RowBlock, at: usize, column: &TargetColumn, row: usize) -> Vec<Option<String>> {
    let number = |bytes: &[u8]| {
        let (number, is_missing) = match (column.scalar, bytes) {
            (Scalar::I8, &[byte]) => ((byte as i8).to_string(), byte as i8 == MISSING),
            (Scalar::F32, &[a, b, c, d]) => (f32::from_le_bytes([a, b, c, d]).to_string(), false),
            (scalar, bytes) => {
                let number = bytes.iter().rev().fold(0, |high, &byte| high << 8 | u64::from(byte));
                let is_missing = scalar == Scalar::U16 && number == u64::from(NO_DISTANCE);
                (number.to_string(), is_missing)
            }
        };
        (!(column.has_missing && is_missing)).then_some(number)
    };
    block.numbers(column, at, row).chunks_exact(column.scalar.size()).map(number).collect()
}

/// Formats numbers of a shape as nested JSON lists.
fn nested(numbers: &[Option<String>], shape: &[u64]) -> String {
    let Some((&length, inner)) = shape.split_first() else {
        return numbers.first().cloned().flatten().unwrap_or("null".to_string());
    };
    let each = numbers.len() / length.max(1) as usize;
    let parts = numbers.chunks(each.max(1)).map(|part| nested(part, inner));
    format!("[{}]", parts.collect::<Vec<_>>().join(","))
}

/// A text file of examples.
pub(super) struct TextFile {
    lines: LineSink,
    name: String,
    path: PathBuf,
    out: SummedWriter<BufWriter<OutputFile>>,
    rows: u64,
}

impl TextFile {
    pub(super) fn begin(
        format: Format,
        dir: &Path,
        name: &str,
        columns: &[TargetColumn],
    ) -> Result<TextFile, Error> {
        let path = dir.join(name);
        let file = OutputFile::create(&path).at("write", &path)?;
        let mut out = SummedWriter::new(BufWriter::new(file));
        let lines = LineSink::new(format, columns);
        lines.begin(&mut out).at("write", &path)?;
        Ok(TextFile { lines, name: name.to_string(), path, out, rows: 0 })
    }
}

impl Sink for TextFile {
    fn append(&mut self, block: &RowBlock) -> Result<(), Error> {
        let mut text = Vec::new();
        self.lines.write(block, &mut text).at("write", &self.path)?;
        self.rows += block.rows as u64;
        self.out.write_all(&text).at("write", &self.path)
    }

    fn finish(self: Box<Self>) -> Result<BTreeMap<String, FileCard>, Error> {
        let card = self.out.card(self.rows);
        let file = self.out.inner.into_inner().map_err(IntoInnerError::into_error);
        file.and_then(OutputFile::commit_synced).at("write", &self.path)?;
        Ok([(self.name, card)].into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::targets::columns::Content;

    /// Other programs depend on these bytes: no change may pass unnoticed.
    #[test]
    fn lines_are_written_byte_by_byte_as_known() {
        let column = |name, scalar, shape: &[u64], has_missing| {
            let (shape, about, content) =
                (shape.to_vec(), String::new(), Content::OfValue(|_, _| 0));
            TargetColumn { content, name, scalar, shape, about, has_missing }
        };
        let columns = [
            column("board", Scalar::Text(9), &[], false),
            column("key", Scalar::U64, &[2], false),
            column("q", Scalar::I8, &[2, 2], true),
            column("score", Scalar::I8, &[], true),
            column("distance", Scalar::U16, &[], true),
            column("policy", Scalar::F32, &[3], false),
            column("moves", Scalar::Text(9), &[], false),
        ];
        let mut block = RowBlock::new(columns.len());
        block.rows = 2;
        block.data = vec![
            b"-XO XXO X".to_vec(),
            [1u64, u64::MAX, 0, 9].iter().flat_map(|n| n.to_le_bytes()).collect(),
            [-3, MISSING, 0, 4, MISSING, 1, 2, 3].map(|n| n as u8).to_vec(),
            [MISSING, -16].map(|n| n as u8).to_vec(),
            [NO_DISTANCE, 300].iter().flat_map(|n| n.to_le_bytes()).collect(),
            [0.0, 1.0, 1.0 / 3.0, 1e-10, -2.5, 3e20f32]
                .iter()
                .flat_map(|n| n.to_le_bytes())
                .collect(),
            b"a1:+2 b2:-1".to_vec(),
        ];
        block.ends[0] = vec![5, 9];
        block.ends[6] = vec![11, 11];
        let written = |format| {
            let (lines, mut text) = (LineSink::new(format, &columns), Vec::new());
            lines.begin(&mut text).unwrap();
            lines.write(&block, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let json = concat!(
            r#"{"board":"-XO X","key":[1,18446744073709551615],"q":[[-3,null],[0,4]],"#,
            r#""score":null,"distance":null,"policy":[0,1,0.33333334],"moves":"a1:+2 b2:-1"}"#,
            "\n",
            r#"{"board":"XO X","key":[0,9],"q":[[null,1],[2,3]],"score":-16,"distance":300,"#,
            r#""policy":[0.0000000001,-2.5,300000000000000000000],"moves":""}"#,
            "\n",
        );
        assert_eq!(written(Format::Jsonl), json);
        let csv = "board,key,q,score,distance,policy,moves\n\
            -XO X,1 18446744073709551615,-3 - 0 4,,,0 1 0.33333334,a1:+2 b2:-1\n\
            XO X,0 9,- 1 2 3,-16,300,0.0000000001 -2.5 300000000000000000000,\n";
        assert_eq!(written(Format::Csv), csv);
        assert_eq!(written(Format::Obf), "-XO X a1:+2; b2:-1;\nXO X\n");
    }
}
