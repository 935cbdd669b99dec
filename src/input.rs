//! Bounded reading of whole files: an endless input does not exhaust memory.
//!
//! ```
//! assert!(yomikiri::input::all(std::io::repeat(0), 1024).is_err());
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

#[cfg(test)]
mod tests {
    use super::*;

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
