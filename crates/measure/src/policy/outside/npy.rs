//! Arrays of other programs, read once.
//!
//! They are not mapped, as tables are: a file rewritten by its owner while it is read would change under a
//! map.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use half::f16;

use yomikiri::error::Error;
use yomikiri::table::NpyHeader;

/// An array, with its numbers as they are in the file.
#[derive(Debug)]
pub(super) struct NpyArray {
    path: PathBuf,
    scalar: NpyScalar,
    count: usize,
    /// Shape of a row.
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct NpyScalar {
    size: usize,
    is_integer: bool,
    read: fn(&[u8]) -> f64,
}

/// Returns the reader of a NumPy type. 64-bit integers are rounded to floats; those that matter here
/// (actions, sides, squares) are exact.
fn scalar(descr: &str) -> Option<NpyScalar> {
    macro_rules! little {
        ($t:ty, $is_integer:expr) => {
            NpyScalar {
                size: size_of::<$t>(),
                is_integer: $is_integer,
                read: |bytes| <$t>::from_le_bytes(bytes.try_into().unwrap_or_default()) as f64,
            }
        };
    }
    Some(match descr {
        "<f2" => NpyScalar {
            size: 2,
            is_integer: false,
            read: |bytes| f16::from_le_bytes(bytes.try_into().unwrap_or_default()).to_f64(),
        },
        "<f4" => little!(f32, false),
        "<f8" => little!(f64, false),
        "|b1" | "|u1" => little!(u8, true),
        "|i1" => little!(i8, true),
        "<i2" => little!(i16, true),
        "<u2" => little!(u16, true),
        "<i4" => little!(i32, true),
        "<u4" => little!(u32, true),
        "<i8" => little!(i64, true),
        "<u8" => little!(u64, true),
        _ => return None,
    })
}

impl NpyArray {
    /// Reads an array whose first axis are rows. The error is one line that names the file.
    pub(super) fn read(path: &Path) -> Result<NpyArray, Error> {
        let wrong = |wrong: Error| wrong.map(|what| format!("{}: {what}", path.display()));
        let cannot = |error: std::io::Error| wrong(format!("cannot read it: {error}").into());
        let file = File::open(path).map_err(cannot)?;
        let length = file.metadata().map_err(cannot)?.len();
        let mut reader = BufReader::with_capacity(1 << 20, file);
        let header = NpyHeader::read(&mut reader).map_err(|_| {
            wrong(Error::new("not a .npy file of numbers", "write it with numpy.save"))
        })?;
        let descr = &header.descr;
        let scalar = scalar(descr).ok_or_else(|| {
            let expected = "float16, float32, float64 or integers";
            wrong(format!("invalid type {descr}: expected {expected}").into())
        })?;
        let shape: Vec<usize> = header.shape.iter().map(|&n| n as usize).collect();
        let Some((&count, row)) = shape.split_first() else {
            return Err(wrong("invalid shape (): expected a row for each position".into()));
        };
        if header.fortran_order && shape.len() > 1 {
            let what =
                Error::new("array in Fortran order", "convert it by numpy.ascontiguousarray");
            return Err(wrong(what));
        }
        let begin = reader.stream_position().map_err(cannot)?;
        let mut sizes = shape.iter().chain([&scalar.size]);
        let expected = sizes.try_fold(1u64, |product, &size| product.checked_mul(size as u64));
        if expected.and_then(|payload| payload.checked_add(begin)) != Some(length) {
            let what = format!("{length} bytes, which do not match its shape {}", tuple(&shape));
            return Err(wrong(what.into()));
        }
        let mut bytes = Vec::with_capacity((length - begin) as usize);
        reader.read_to_end(&mut bytes).map_err(cannot)?;
        if bytes.len() as u64 != length - begin {
            return Err(wrong("changed while it was read".into()));
        }
        Ok(NpyArray { path: path.to_path_buf(), scalar, count, shape: row.to_vec(), bytes })
    }

    /// Checks the shape of a row; one number a row may be stored as `(N,)` or as `(N, 1)`.
    pub(super) fn expect(&self, row: &[usize]) -> Result<(), Error> {
        if self.shape == row || row.is_empty() && self.shape == [1] {
            return Ok(());
        }
        let expected: Vec<String> = row.iter().map(|n| format!(", {n}")).collect();
        let expected = if row.is_empty() { ",".to_string() } else { expected.concat() };
        let found = tuple(&[&[self.count], &self.shape[..]].concat());
        let path = self.path.display();
        Err(format!("{path}: invalid shape {found}: expected (N{expected})").into())
    }

    /// Returns the number of rows.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of numbers in a row.
    pub(super) fn width(&self) -> usize {
        self.shape.iter().product()
    }

    pub(super) fn is_integer(&self) -> bool {
        self.scalar.is_integer
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the bytes of a row.
    pub(super) fn bytes(&self, row: usize) -> &[u8] {
        let size = self.width() * self.scalar.size;
        &self.bytes[row * size..(row + 1) * size]
    }

    /// Returns the numbers of a row.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = f64> {
        self.bytes(row).chunks_exact(self.scalar.size).map(self.scalar.read)
    }
}

/// Formats a shape as Python does.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}
