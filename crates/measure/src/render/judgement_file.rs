//! Results position by position as CSV or Parquet: one row per policy and position, one column per field of
//! [`Judgement`], in the order of the table.

use std::io;
use std::path::{Path, PathBuf};

use crate::judge::Judgement;
use yomikiri::error::Error;
use yomikiri::output::OutputFile;
use yomikiri::table::IoContext;

/// A file of judgements being written, in place once it is finished.
pub struct RowsFile {
    path: PathBuf,
    writer: RowWriter,
}

enum RowWriter {
    Csv(Box<csv::Writer<OutputFile>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet_rows::ParquetRows>),
}

impl RowsFile {
    /// Creates a CSV file.
    pub fn csv(path: &Path) -> Result<RowsFile, Error> {
        let file = OutputFile::create(path).at("write", path)?;
        let writer = RowWriter::Csv(Box::new(csv::Writer::from_writer(file)));
        Ok(RowsFile { path: path.to_path_buf(), writer })
    }

    /// Creates a Parquet file.
    #[cfg(feature = "parquet")]
    pub fn parquet(path: &Path) -> Result<RowsFile, Error> {
        let rows = OutputFile::create(path).and_then(parquet_rows::ParquetRows::new);
        let writer = RowWriter::Parquet(Box::new(rows.at("write", path)?));
        Ok(RowsFile { path: path.to_path_buf(), writer })
    }

    /// Adds a row.
    pub fn push(&mut self, row: Judgement) -> Result<(), Error> {
        let pushed = match &mut self.writer {
            RowWriter::Csv(csv) => csv.serialize(row).map_err(of_csv),
            #[cfg(feature = "parquet")]
            RowWriter::Parquet(parquet) => parquet.push(row),
        };
        pushed.at("write", &self.path)
    }

    /// Writes the remaining rows and moves the file into place.
    pub fn finish(self) -> Result<(), Error> {
        let file = match self.writer {
            RowWriter::Csv(csv) => csv.into_inner().map_err(|error| error.into_error()),
            #[cfg(feature = "parquet")]
            RowWriter::Parquet(parquet) => parquet.finish(),
        };
        file.and_then(OutputFile::commit).at("write", &self.path)
    }
}

/// Returns the system's error, if it is one.
fn of_csv(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(feature = "parquet")]
mod parquet_rows {
    use std::io;
    use std::sync::Arc;

    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::record::RecordWriter;

    use crate::judge::Judgement;
    use yomikiri::output::OutputFile;

    /// Rows of a row group.
    const GROUP: usize = 1 << 17;

    pub(super) struct ParquetRows {
        writer: SerializedFileWriter<OutputFile>,
        rows: Vec<Judgement>,
    }

    impl ParquetRows {
        pub(super) fn new(file: OutputFile) -> io::Result<ParquetRows> {
            let none: &[Judgement] = &[];
            let schema = none.schema().map_err(io::Error::other)?;
            let properties = WriterProperties::builder()
                .set_compression(Compression::SNAPPY)
                .set_created_by("yomikiri".to_string())
                .build();
            let writer = SerializedFileWriter::new(file, schema, Arc::new(properties))
                .map_err(io::Error::other)?;
            Ok(ParquetRows { writer, rows: Vec::new() })
        }

        pub(super) fn push(&mut self, row: Judgement) -> io::Result<()> {
            self.rows.push(row);
            if self.rows.len() == GROUP { self.write() } else { Ok(()) }
        }

        fn write(&mut self) -> io::Result<()> {
            if self.rows.is_empty() {
                return Ok(());
            }
            let mut group = self.writer.next_row_group().map_err(io::Error::other)?;
            self.rows.as_slice().write_to_row_group(&mut group).map_err(io::Error::other)?;
            group.close().map_err(io::Error::other)?;
            self.rows.clear();
            Ok(())
        }

        pub(super) fn finish(mut self) -> io::Result<OutputFile> {
            self.write()?;
            self.writer.into_inner().map_err(io::Error::other)
        }
    }
}
