//! A corpus, and random changes of its files by number.

use std::fs;
use std::path::Path;

use yomikiri::table::crc32;

use crate::common::Random;

/// The files of a target, and words that some of them contain.
pub struct Corpus {
    files: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
    seed: u64,
}

/// Numbers at the limits of types and of sensible values.
const NUMBERS: [&str; 22] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "8",
    "64",
    "127",
    "128",
    "255",
    "256",
    "65535",
    "65536",
    "1e999",
    "0.0000001",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
];

/// Bytes that end, repeat or fill something.
const BYTES: [u8; 10] = [0, 1, 0x7f, 0x80, 0xff, b'\n', b' ', b':', b'?', b'/'];

impl Corpus {
    /// Reads the corpus in a directory and the words of a dictionary: one per line, in quotes.
    pub fn read(target: &str, dir: &Path, words: &Path) -> Corpus {
        let entries = fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        assert!(!paths.is_empty(), "{} is empty", dir.display());
        let text = fs::read_to_string(words).unwrap();
        let words = text.lines().filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'));
        Corpus {
            files: paths.iter().map(|path| fs::read(path).unwrap()).collect(),
            // libFuzzer escapes non-ASCII characters: such words are replaced by these.
            words: words
                .filter(|word| !word.contains('\\'))
                .chain(["é", "表"])
                .map(|word| word.as_bytes().to_vec())
                .collect(),
            seed: u64::from(crc32(target.as_bytes())) << 32,
        }
    }

    /// Returns the input of a number: first the unchanged files, then changed ones.
    pub fn input(&self, number: usize) -> Vec<u8> {
        if let Some(file) = self.files.get(number) {
            return file.clone();
        }
        let mut random = Random(self.seed + number as u64);
        let mut bytes = self.files[random.below(self.files.len())].clone();
        for _ in 0..1 + random.below(4) {
            self.change(&mut bytes, &mut random);
        }
        bytes
    }

    fn change(&self, bytes: &mut Vec<u8>, random: &mut Random) {
        let at = random.below(bytes.len().max(1)).min(bytes.len());
        let mut some = || at..bytes.len().min(at + 1 + random.below(16));
        let some = some();
        match random.below(11) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = BYTES[random.below(BYTES.len())],
            2 => bytes.insert(at, random.next() as u8),
            3 => drop(bytes.drain(some)),
            4 => {
                let copy = bytes[some].repeat(1 + random.below(3));
                drop(bytes.splice(at..at, copy));
            }
            5 => bytes.truncate(at),
            6 => {
                let other = &self.files[random.below(self.files.len())];
                bytes.truncate(at);
                bytes.extend(&other[random.below(other.len().max(1)).min(other.len())..]);
            }
            // Bytes from elsewhere in the file replace these.
            7 => {
                let from = random.below(bytes.len().max(1)).min(bytes.len());
                let copy = bytes[from..bytes.len().min(from + some.len())].to_vec();
                drop(bytes.splice(some, copy));
            }
            8 => drop(bytes.splice(at..at, self.words[random.below(self.words.len())].clone())),
            // The next number is replaced.
            _ => {
                let Some(begin) = bytes[at..].iter().position(u8::is_ascii_digit) else { return };
                let begin = at + begin;
                let count = bytes[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let number = NUMBERS[random.below(NUMBERS.len())];
                drop(bytes.splice(begin..begin + count, number.bytes()));
            }
        }
    }
}
