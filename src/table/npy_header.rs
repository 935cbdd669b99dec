//! Headers of arrays, those of other programs too.

use std::io::{Error, ErrorKind, Read, Result};

/// Limit in bytes for an array's header, as in NumPy.
const HEADER: u32 = 10_000;
const MAGIC: &[u8] = b"\x93NUMPY";

/// Header of an array of numbers in NumPy's `.npy` format.
///
/// ```
/// use yomikiri::table::NpyHeader;
///
/// let header = NpyHeader { descr: "<u4".to_string(), fortran_order: false, shape: vec![7, 2] };
/// assert_eq!(NpyHeader::read(&header.bytes()[..])?, header);
/// # Ok::<(), std::io::Error>(())
/// ```
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
}
