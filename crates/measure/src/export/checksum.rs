//! Checksum of a table's contents, independent of how they are stored.

use yomikiri::error::Error;
use yomikiri::oracle::SolvedTable;
use yomikiri::parallel;
use yomikiri::progress::Progress;

/// Bytes of a hashed row: two words of its canonical key, outcome, score and distance.
const ROW_BYTES: usize = 20;

/// Outcome or score that is not proven, or not there.
const NO_SCORE: i8 = i8::MIN;
/// Distance that is not known exactly, or of infinite play.
const NO_DISTANCE: u16 = u16::MAX;

/// A sum modulo 2²⁵⁶, lowest word first.
type Sum = [u64; 4];

/// Returns the BLAKE3 hash of a table's identity and rows in hexadecimal, as defined in
/// `docs/table-format.md`. The hashes of the rows are summed, because their order depends on the storage.
/// Fails if a row is not a position.
pub fn checksum(table: &SolvedTable, progress: &dyn Progress) -> Result<String, Error> {
    let pieces = table.states().pieces();
    let what = format!("hashing {}", table.table().name());
    progress.begin(&what, Some(table.states().rows() as u64));
    let sums = parallel::try_map(pieces.len(), &|piece| {
        let rows = pieces[piece].rows.clone();
        let count = rows.len() as u64;
        let mut sum = Sum::default();
        let found = table.states().visit(rows, |row, position| {
            let key = table.game().position_key(&position);
            add(&mut sum, &words(blake3::hash(&row_bytes(table, row, key))));
            Ok(())
        });
        progress.advance(count);
        found.map(|()| sum)
    });
    progress.finish("");
    let sums = sums.map_err(|what| Error::damaged(table.table().dir(), what))?;
    let mut sum = Sum::default();
    sums.iter().for_each(|piece| add(&mut sum, piece));
    table.table().check_read()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(identity_line(table).as_bytes());
    hasher.update(bytemuck::cast_slice(&sum));
    Ok(hasher.finalize().to_hex().to_string())
}

/// Returns the hashed line of identity: game, rules, start, symmetry, number of rows, roots.
fn identity_line(table: &SolvedTable) -> String {
    let identity = &table.table().manifest().identity;
    format!(
        "{} rules {} start {} symmetry {} rows {} roots {}\n",
        identity.game,
        identity.rules_version,
        identity.start,
        identity.symmetry,
        table.states().rows(),
        identity.roots.join(", ")
    )
}

/// Returns a row in the form that is hashed.
fn row_bytes(table: &SolvedTable, row: usize, key: u128) -> [u8; ROW_BYTES] {
    let value = table.value(row);
    let outcome = value.outcome().map_or(NO_SCORE, |outcome| outcome.value());
    let score = value.score().filter(|_| table.has_scores()).map_or(NO_SCORE, |s| s.0);
    let distance = value.distance().unwrap_or(NO_DISTANCE);
    let mut bytes = [0; ROW_BYTES];
    let [first, second] = table.game().facts().words(key);
    bytes[..8].copy_from_slice(&first.to_le_bytes());
    bytes[8..16].copy_from_slice(&second.to_le_bytes());
    bytes[16] = outcome as u8;
    bytes[17] = score as u8;
    bytes[18..].copy_from_slice(&distance.to_le_bytes());
    bytes
}

/// Parses the output of `solver verify --checksum`: pairs of a checksum and a table name, at least one. Fails
/// with a message naming the invalid line.
pub fn read_checksums(text: &str) -> Result<Vec<(String, String)>, String> {
    let line = |(number, line): (usize, &str)| {
        let parts = line.split_once("  ").filter(|(sum, name)| {
            sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit()) && !name.is_empty()
        });
        let parts = parts.map(|(sum, name)| (sum.to_lowercase(), name.to_string()));
        parts.ok_or_else(|| format!("invalid line {}: expected 'CHECKSUM  TABLE'", number + 1))
    };
    let lines = text.lines().enumerate().map(line).collect::<Result<Vec<_>, _>>()?;
    if lines.is_empty() { Err("no checksum found".to_string()) } else { Ok(lines) }
}

fn words(hash: blake3::Hash) -> Sum {
    let bytes = hash.as_bytes().as_chunks::<8>().0;
    std::array::from_fn(|word| u64::from_le_bytes(bytes[word]))
}

fn add(sum: &mut Sum, other: &Sum) {
    let mut carry = false;
    for (word, &other) in sum.iter_mut().zip(other) {
        (*word, carry) = word.carrying_add(other, carry);
    }
}
