//! The fields of a Protocol Buffers message, as bytes.
//!
//! ONNX files are such messages. What is needed here is little: to read some names and numbers, and
//! to leave out some fields and copy the others as they are. Encoding: a field is a tag, which is a
//! number and a wire type, and what follows by the type (protobuf.dev, "Encoding").

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    /// Which field.
    pub number: u64,
    /// What it holds.
    pub value: Value<'a>,
    /// All of its bytes, the tag among them.
    pub raw: &'a [u8],
}

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    /// An integer.
    Number(u64),
    /// A message, a text, or packed numbers.
    Bytes(&'a [u8]),
    /// Eight or four bytes of a number.
    Fixed,
}

impl<'a> Field<'a> {
    /// The bytes it holds; none of a number.
    pub fn bytes(&self) -> &'a [u8] {
        match self.value {
            Value::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    /// The text it holds.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// The integers it holds, one or packed.
    pub fn integers(&self) -> Option<Vec<i64>> {
        match self.value {
            Value::Number(number) => Some(vec![number as i64]),
            Value::Fixed => None,
            Value::Bytes(mut bytes) => {
                let mut numbers = Vec::new();
                while !bytes.is_empty() {
                    numbers.push(varint(&mut bytes)? as i64);
                }
                Some(numbers)
            }
        }
    }
}

/// The fields of a message; `None` if the bytes are none.
pub(super) fn fields(mut bytes: &[u8]) -> Option<Vec<Field<'_>>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let whole = bytes;
        let tag = varint(&mut bytes)?;
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut bytes)?),
            1 => take(&mut bytes, 8).map(|_| Value::Fixed)?,
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                Value::Bytes(take(&mut bytes, length)?)
            }
            5 => take(&mut bytes, 4).map(|_| Value::Fixed)?,
            _ => return None,
        };
        let number = tag >> 3;
        if number == 0 {
            return None;
        }
        found.push(Field { number, value, raw: &whole[..whole.len() - bytes.len()] });
    }
    Some(found)
}

/// Writes a field that holds bytes.
pub(super) fn write_bytes(number: u64, bytes: &[u8], out: &mut Vec<u8>) {
    write_varint(number << 3 | 2, out);
    write_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn write_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut message = vec![0x08, 0x96, 0x01, 0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x25, 1, 2, 3, 4];
        write_bytes(300, &[b'x'; 200], &mut message);
        let fields = fields(&message).unwrap();
        let numbers: Vec<u64> = fields.iter().map(|field| field.number).collect();
        assert_eq!(numbers, [1, 3, 4, 300]);
        assert_eq!(fields[0].integers(), Some(vec![150]));
        assert_eq!(fields[3].text(), "x".repeat(200));
        let copied: Vec<u8> = fields.iter().flat_map(|field| field.raw.to_vec()).collect();
        assert_eq!(copied, message);
        let mut packed = Vec::new();
        write_bytes(1, &[3, 0x96, 0x01], &mut packed);
        assert_eq!(super::fields(&packed).unwrap()[0].integers(), Some(vec![3, 150]));
    }

    #[test]
    fn what_is_cut_off_is_no_message() {
        let mut message = vec![0x08, 0x96, 0x01];
        write_bytes(2, b"graph", &mut message);
        for length in [1, 2, 4, 5, 9] {
            assert!(fields(&message[..length]).is_none(), "{length}");
        }
        assert!(fields(&[0xff; 12]).is_none() && fields(b"hello, world").is_none());
    }
}
