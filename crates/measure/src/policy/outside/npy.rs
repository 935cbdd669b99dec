//! Arrays of other programs, read once from front to back.
//!
//! They are not mapped, as tables are: a file rewritten by its owner while it is read would change under a
//! map.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use half::f16;

use yomikiri::hint::Hinted;
use yomikiri::input::NpyHeader;

/// Types of numbers an array may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberKind {
    /// `float16`, `float32` or `float64`.
    Floats,
    /// Any signed or unsigned integers, or booleans.
    Integers,
}

/// An array being read row by row.
#[derive(Debug)]
pub(super) struct NpyRows {
    path: PathBuf,
    reader: BufReader<File>,
    scalar: NpyScalar,
    rows: u64,
    bytes: Vec<u8>,
    numbers: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct NpyScalar {
    size: usize,
    read: fn(&[u8]) -> f64,
}

/// Returns the reader of a NumPy type. 64-bit integers are rounded to floats; those that matter here
/// (actions, sides, squares) are exact.
fn scalar(descr: &str, numbers: NumberKind) -> Option<NpyScalar> {
    macro_rules! little {
        ($t:ty) => {
            NpyScalar {
                size: size_of::<$t>(),
                read: |bytes| <$t>::from_le_bytes(bytes.try_into().unwrap_or_default()) as f64,
            }
        };
    }
    let floats = numbers == NumberKind::Floats;
    Some(match descr {
        "<f2" if floats => NpyScalar {
            size: 2,
            read: |bytes| f16::from_le_bytes(bytes.try_into().unwrap_or_default()).to_f64(),
        },
        "<f4" if floats => little!(f32),
        "<f8" if floats => little!(f64),
        "|b1" | "|u1" if !floats => little!(u8),
        "|i1" if !floats => little!(i8),
        "<i2" if !floats => little!(i16),
        "<u2" if !floats => little!(u16),
        "<i4" if !floats => little!(i32),
        "<u4" if !floats => little!(u32),
        "<i8" if !floats => little!(i64),
        "<u8" if !floats => little!(u64),
        _ => return None,
    })
}

impl NpyRows {
    /// Opens an array whose rows have the shape `row`; one number a row may be stored as `(N,)` or as `(N,
    /// 1)`. The error is one line that names the file.
    pub(super) fn open(path: &Path, numbers: NumberKind, row: &[usize]) -> Result<NpyRows, Hinted> {
        let wrong = |wrong: Hinted| wrong.map(|what| format!("{}: {what}", path.display()));
        let cannot = |error: std::io::Error| wrong(format!("cannot read it: {error}").into());
        let file = File::open(path).map_err(cannot)?;
        let length = file.metadata().map_err(cannot)?.len();
        let mut reader = BufReader::with_capacity(1 << 20, file);
        let header = NpyHeader::read(&mut reader).map_err(|_| {
            wrong(Hinted::new("not a .npy file of numbers", "write it with numpy.save"))
        })?;
        let descr = &header.descr;
        let scalar = scalar(descr, numbers).ok_or_else(|| {
            let expected = match numbers {
                NumberKind::Floats => "float16, float32 or float64",
                NumberKind::Integers => "integers",
            };
            wrong(format!("invalid type {descr}: expected {expected}").into())
        })?;
        let shape: Vec<usize> = header.shape.iter().map(|&n| n as usize).collect();
        let fits = match shape.split_first() {
            Some((_, rest)) => rest == row || (row.is_empty() && rest == [1]),
            None => false,
        };
        if !fits {
            let expected: Vec<String> = row.iter().map(|n| format!(", {n}")).collect();
            let expected = if row.is_empty() { ",".to_string() } else { expected.concat() };
            let what = format!("invalid shape {}: expected (N{expected})", tuple(&shape));
            return Err(wrong(what.into()));
        }
        if header.fortran_order && shape.len() > 1 {
            let what =
                Hinted::new("array in Fortran order", "convert it by numpy.ascontiguousarray");
            return Err(wrong(what));
        }
        let width = row.iter().product::<usize>();
        let begin = reader.stream_position().map_err(cannot)?;
        let expected = (shape[0] as u64).checked_mul((width * scalar.size) as u64);
        if expected.and_then(|payload| payload.checked_add(begin)) != Some(length) {
            let what = format!("{length} bytes, which do not match its shape {}", tuple(&shape));
            return Err(wrong(what.into()));
        }
        let (path, rows) = (path.to_path_buf(), shape[0] as u64);
        let (bytes, numbers) = (vec![0; width * scalar.size], Vec::with_capacity(width));
        Ok(NpyRows { path, reader, scalar, rows, bytes, numbers })
    }

    /// Returns the number of rows.
    pub(super) fn count(&self) -> u64 {
        self.rows
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the next row.
    pub(super) fn next(&mut self) -> Result<&[f64], Hinted> {
        self.reader
            .read_exact(&mut self.bytes)
            .map_err(|error| format!("{}: cannot read it: {error}", self.path.display()))?;
        self.numbers.clear();
        self.numbers.extend(self.bytes.chunks_exact(self.scalar.size).map(self.scalar.read));
        Ok(&self.numbers)
    }
}

/// Formats a shape as Python does.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}
