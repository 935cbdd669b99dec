//! What is read from outside, whole, up to a limit: a file that has no end fills no memory.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// The most bytes of a text: positions, weights of squares, checksums, a network's card.
pub const TEXT: u64 = 1 << 26;
/// The most bytes of a network's weights or a model: what an ONNX file can have.
#[cfg(feature = "onnx")]
pub const MODEL: u64 = 1 << 31;

/// Reads all there is. What is longer than the limit is an error that says so.
pub fn all(reader: impl Read, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let what = format!("it is longer than {} MiB, the most that is read", most >> 20);
        return Err(Error::new(ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

/// Reads a file whole.
pub fn file(path: &Path, most: u64) -> Result<Vec<u8>> {
    all(File::open(path)?, most)
}

/// Reads text; bytes that are none are an error that says at which of them.
pub fn text(reader: impl Read) -> Result<String> {
    String::from_utf8(all(reader, TEXT)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::new(ErrorKind::InvalidData, format!("it is no text: byte {at} is not UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
