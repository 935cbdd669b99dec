//! Bounded reading of whole files: an endless input does not exhaust memory.
//!
//! ```
//! use yomikiri::input::{NpyHeader, all};
//!
//! assert!(all(std::io::repeat(0), 1024).is_err());
//! let header = NpyHeader { descr: "<u4".to_string(), fortran_order: false, shape: vec![7, 2] };
//! assert_eq!(NpyHeader::read(&header.bytes()[..])?, header);
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Limit in bytes for text: positions, square weights, checksums, a network's card.
pub const TEXT: u64 = 1 << 26;
/// Limit in bytes for a network's weights or a model, which is that of an ONNX file.
pub const MODEL: u64 = 1 << 31;

/// Reads to the end. Fails with [`ErrorKind::FileTooLarge`] beyond `most` bytes.
pub fn all(reader: impl Read, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let what = format!("longer than the limit of {} MiB", most >> 20);
        return Err(Error::new(ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

/// Reads a whole file of at most `most` bytes.
pub fn file(path: &Path, most: u64) -> Result<Vec<u8>> {
    all(File::open(path)?, most)
}

/// Reads text; an error names the first byte that is not UTF-8.
pub fn text(reader: impl Read) -> Result<String> {
    String::from_utf8(all(reader, TEXT)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::new(ErrorKind::InvalidData, format!("invalid UTF-8 at byte {at}"))
    })
}

/// Limit in bytes for an array's header, as in NumPy.
const HEADER: u32 = 10_000;
const MAGIC: &[u8] = b"\x93NUMPY";

/// Header of an array of numbers in NumPy's `.npy` format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyHeader {
    /// NumPy's name of the scalar: `<u4`.
    pub descr: String,
    /// `true` if the first index changes fastest.
    pub fortran_order: bool,
    /// Lengths along the axes.
    pub shape: Vec<u64>,
}

impl NpyHeader {
    /// Reads the header of an array, of any version, up to where the numbers begin.
    ///
    /// Records (`descr` is a list) are an error, as is whatever numpy.save does not write.
    pub fn read(mut reader: impl Read) -> Result<NpyHeader> {
        let wrong = || Error::new(ErrorKind::InvalidData, "invalid header of a NumPy array");
        let mut start = [0; 8];
        reader.read_exact(&mut start)?;
        let mut length = [0; 4];
        let width = if start[6] == 1 { 2 } else { 4 };
        reader.read_exact(&mut length[..width])?;
        let length = u32::from_le_bytes(length);
        if !start.starts_with(MAGIC) || length > HEADER {
            return Err(wrong());
        }
        let mut text = vec![0; length as usize];
        reader.read_exact(&mut text)?;
        let text = String::from_utf8(text).map_err(|_| wrong())?;
        NpyHeader::parse(&text).ok_or_else(wrong)
    }

    /// Parses the dictionary, whose keys may come in any order.
    fn parse(text: &str) -> Option<NpyHeader> {
        let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
        let field = |name: &str| {
            let (_, rest) = inner.split_once(&format!("'{name}'"))?;
            Some(rest.trim_start().strip_prefix(':')?.trim_start())
        };
        let (descr, _) = field("descr")?.strip_prefix('\'')?.split_once('\'')?;
        let fortran_order = match field("fortran_order")? {
            order if order.starts_with("True") => true,
            order if order.starts_with("False") => false,
            _ => return None,
        };
        let (axes, _) = field("shape")?.strip_prefix('(')?.split_once(')')?;
        let axes = axes.strip_suffix(',').unwrap_or(axes).split(',').map(str::trim);
        let shape = axes.filter(|axis| !axis.is_empty()).map(|axis| axis.parse().ok());
        Some(NpyHeader {
            descr: descr.to_string(),
            fortran_order,
            shape: shape.collect::<Option<_>>()?,
        })
    }

    /// Returns the bytes of the header in version 1.0, a multiple of 64.
    pub fn bytes(&self) -> Vec<u8> {
        let order = if self.fortran_order { "True" } else { "False" };
        let shape: String = self.shape.iter().map(|axis| format!("{axis}, ")).collect();
        let text = format!(
            "{{'descr': '{}', 'fortran_order': {order}, 'shape': ({shape}), }}",
            self.descr
        );
        let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
        let mut bytes = [MAGIC, &[1, 0], &(length as u16).to_le_bytes()].concat();
        bytes.extend(format!("{text:<width$}\n", width = length - 1).into_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_nests_nothing_and_takes_no_more_than_there_is() {
        let header = |shape: &str, length: Option<u32>| {
            let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
            let length = length.unwrap_or(text.len() as u32);
            NpyHeader::read(
                &[b"\x93NUMPY\x02\0", &length.to_le_bytes()[..], text.as_bytes()].concat()[..],
            )
        };
        assert_eq!(header("(2, 17)", None).unwrap().shape, [2, 17]);
        let nested =
            |open: &str, close: &str| [&open.repeat(200), "2", &close.repeat(200)].concat();
        for (open, close) in [("(", ",)"), ("[", "]"), ("{1:", "}"), ("-", "")] {
            assert!(header(&nested(open, close), None).is_err(), "{open}");
        }
        assert!(header("(2, 17)", Some(u32::MAX)).is_err());
    }

    #[test]
    fn endless_input_is_bounded() {
        assert_eq!(all(&b"four"[..], 4).unwrap(), b"four");
        assert_eq!(all(&b"fives"[..], 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        let error = text(std::io::repeat(b' ')).unwrap_err();
        assert!(error.to_string().contains("64 MiB"), "{error}");
        let error = text(&b"ab\xff"[..]).unwrap_err();
        assert!(error.to_string().contains("byte 2"), "{error}");
    }
}
