//! Results position by position as CSV or Parquet: one row per policy and position, one column per field of
//! [`Judgement`], in the order of the table.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::judge::Judgement;
use yomikiri::table::PendingFile;

/// A file of judgements being written, renamed into place once it is finished.
pub struct RowsFile {
    part: PendingFile,
    writer: RowWriter,
}

enum RowWriter {
    Csv(Box<csv::Writer<File>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet_rows::ParquetRows>),
}

impl RowsFile {
    /// Creates a CSV file.
    pub fn csv(path: &Path) -> io::Result<RowsFile> {
        let part = PendingFile::of(path)?;
        let writer = RowWriter::Csv(Box::new(csv::Writer::from_writer(File::create(part.path())?)));
        Ok(RowsFile { part, writer })
    }

    /// Creates a Parquet file.
    #[cfg(feature = "parquet")]
    pub fn parquet(path: &Path) -> io::Result<RowsFile> {
        let part = PendingFile::of(path)?;
        let file = File::create(part.path())?;
        let writer = RowWriter::Parquet(Box::new(parquet_rows::ParquetRows::new(file)?));
        Ok(RowsFile { part, writer })
    }

    /// Adds a row.
    pub fn push(&mut self, row: Judgement) -> io::Result<()> {
        match &mut self.writer {
            RowWriter::Csv(csv) => csv.serialize(row).map_err(io::Error::other),
            #[cfg(feature = "parquet")]
            RowWriter::Parquet(parquet) => parquet.push(row),
        }
    }

    /// Writes the remaining rows and renames the file into place.
    pub fn finish(self) -> io::Result<()> {
        match self.writer {
            RowWriter::Csv(mut csv) => csv.flush()?,
            #[cfg(feature = "parquet")]
            RowWriter::Parquet(parquet) => parquet.finish()?,
        }
        self.part.commit()
    }
}

#[cfg(feature = "parquet")]
mod parquet_rows {
    use std::fs::File;
    use std::io;
    use std::sync::Arc;

    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::record::RecordWriter;

    use crate::judge::Judgement;

    /// Rows of a row group.
    const GROUP: usize = 1 << 17;

    pub(super) struct ParquetRows {
        writer: SerializedFileWriter<File>,
        rows: Vec<Judgement>,
    }

    impl ParquetRows {
        pub(super) fn new(file: File) -> io::Result<ParquetRows> {
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

        pub(super) fn finish(mut self) -> io::Result<()> {
            self.write()?;
            self.writer.close().map_err(io::Error::other)?;
            Ok(())
        }
    }
}
