//! Bounded reading of whole files: an endless input does not exhaust memory.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

use npyz::NpyHeader;

/// Limit in bytes for text: positions, square weights, checksums, a network's card.
pub const TEXT: u64 = 1 << 26;
/// Limit in bytes for a network's weights or a model, which is that of an ONNX file.
pub const MODEL: u64 = 1 << 31;

/// Reads to the end. Fails with [`ErrorKind::FileTooLarge`] beyond `most` bytes.
pub fn all(reader: impl Read, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let what = format!("it is longer than {} MiB, the most that is read", most >> 20);
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
        Error::new(ErrorKind::InvalidData, format!("it is no text: byte {at} is not UTF-8"))
    })
}

/// Limit in bytes for an array's header, as in NumPy.
const HEADER: u32 = 10_000;

/// Reads the header of a numeric array and stops where its data begins.
///
/// The header is a Python literal. Parsing a nested one could take forever or overflow the stack, so any
/// header with more than the one dictionary and the one tuple that NumPy writes is refused.
pub fn npy_header(mut reader: impl Read) -> Result<NpyHeader> {
    let wrong = || Error::new(ErrorKind::InvalidData, "it is no header of an array of numbers");
    let mut bytes = vec![0; 8];
    reader.read_exact(&mut bytes)?;
    let mut length = [0; 4];
    let width = if bytes[6] == 1 { 2 } else { 4 };
    reader.read_exact(&mut length[..width])?;
    bytes.extend(&length[..width]);
    let begin = bytes.len();
    let length = Some(u32::from_le_bytes(length)).filter(|&length| length <= HEADER);
    reader.take(length.ok_or_else(wrong)?.into()).read_to_end(&mut bytes)?;
    let text = &bytes[begin..];
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"{}(),:'\" <>=|_.\n".contains(b);
    let nests = |open| text.iter().filter(|&&b| b == open).count() > 1;
    if !text.iter().all(plain) || nests(b'{') || nests(b'(') {
        return Err(wrong());
    }
    NpyHeader::from_reader(&bytes[..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_nests_nothing_and_takes_no_more_than_there_is() {
        let header = |shape: &str, length: Option<u32>| {
            let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
            let length = length.unwrap_or(text.len() as u32);
            npy_header(
                &[b"\x93NUMPY\x02\0", &length.to_le_bytes()[..], text.as_bytes()].concat()[..],
            )
        };
        assert_eq!(header("(2, 17)", None).unwrap().shape(), [2, 17]);
        let nested =
            |open: &str, close: &str| [&open.repeat(200), "2", &close.repeat(200)].concat();
        for (open, close) in [("(", ",)"), ("[", "]"), ("{1:", "}"), ("-", "")] {
            assert!(header(&nested(open, close), None).is_err(), "{open}");
        }
        assert!(header("(2, 17)", Some(u32::MAX)).is_err());
    }

    #[test]
    fn what_has_no_end_is_not_read_on() {
        assert_eq!(all(&b"four"[..], 4).unwrap(), b"four");
        assert_eq!(all(&b"fives"[..], 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        let error = text(std::io::repeat(b' ')).unwrap_err();
        assert!(error.to_string().contains("64 MiB"), "{error}");
        let error = text(&b"ab\xff"[..]).unwrap_err();
        assert!(error.to_string().contains("byte 2"), "{error}");
    }
}
