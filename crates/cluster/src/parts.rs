//! Files of the workers: the states of a layer or their values, in chunks with a checksum each.
//!
//! A file holds its chunks, then a foot: a description of the file and its chunks as JSON, the length of
//! that and its checksum. It is renamed to its place after a sync, so an existing file is complete. A
//! file in the place of another is damaged.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use bytemuck::Pod;
use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use yomikiri::error::{Error, Kind};
use yomikiri::output::{NotOurs, OutputFile, failure, kept_dir, sync_dir};
use yomikiri::table::{self, Counts, Identity, Lock, Store, crc32};

/// Time that a process may take to end after its launcher has ended.
const ENDING: Duration = Duration::from_secs(2);

/// Returns the directory of a table's parts.
pub fn parts_dir(store: &Store, table: &str) -> PathBuf {
    store.place(table).with_added_extension("parts")
}

/// End of a file of chunks.
#[derive(Serialize, Deserialize)]
struct Foot {
    /// Job in words: the number of workers, and the identity of the table.
    job: String,
    kind: PartKind,
    /// Layer.
    number: u32,
    /// Owner of the file.
    worker: usize,
    counts: Counts,
    chunks: Vec<Extent>,
}

/// Place and content of a chunk.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Extent {
    /// End of its slices, which begin where those of the chunk before end.
    pub slices: u32,
    /// Number of blocks.
    pub blocks: u32,
    /// Number of states.
    pub rows: u32,
    at: u64,
    bytes: u64,
    crc: u32,
    /// `true` if its checksum has been compared.
    #[serde(skip)]
    is_sound: AtomicBool,
}

/// Kind of a file, with which its name begins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PartKind {
    /// States of a layer.
    Layer,
    /// Values of a layer.
    Values,
}

/// Directory of a worker's files.
pub(super) struct Part {
    dir: PathBuf,
    worker: usize,
    job: String,
}

impl Part {
    /// Returns the files of a worker for a job, which they record.
    pub(crate) fn new(parts: &Path, worker: usize, job: String) -> Part {
        Part { dir: parts.join(format!("part-{worker}")), worker, job }
    }

    /// Returns the files of all workers, one directory each.
    pub(crate) fn all(dirs: &[PathBuf], job: &str) -> Vec<Part> {
        let numbered = dirs.iter().enumerate();
        let part =
            |(worker, dir): (_, &PathBuf)| Part { dir: dir.clone(), worker, job: job.into() };
        numbered.map(part).collect()
    }

    /// Returns the directory.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Locks the files against other processes. Waits a little for a process that is just ending.
    pub(crate) fn lock(&self) -> Result<Lock, Error> {
        let parts = self.dir.parent().unwrap_or(&self.dir);
        let create = match parts.is_symlink() {
            true => Err(NotOurs::link()),
            false => fs::create_dir_all(parts),
        };
        create.map_err(|error| failure("create", parts, error))?;
        let (path, until) = (self.dir.with_added_extension("lock"), Instant::now() + ENDING);
        loop {
            match Lock::take(&path) {
                Err(error) if error.kind() == Kind::Busy && Instant::now() < until => {
                    sleep(ENDING / 100);
                }
                taken => return taken,
            }
        }
    }

    fn file(&self, kind: PartKind, number: u32) -> PathBuf {
        let name = if kind == PartKind::Layer { "layer" } else { "values" };
        self.dir.join(format!("{name}-{number:02}"))
    }

    /// Creates a file.
    pub(crate) fn write(&self, kind: PartKind, number: u32) -> Result<Writing, Error> {
        let path = self.file(kind, number);
        let begin = || {
            kept_dir(&self.dir)?;
            OutputFile::beside(&path)
        };
        match begin() {
            Ok(file) => Ok(Writing { path, kind, number, file, at: 0, chunks: Vec::new() }),
            Err(error) => Err(failure("write", &path, error)),
        }
    }

    /// Maps a file; `None` if it is missing or belongs to another job.
    pub(crate) fn read(&self, kind: PartKind, number: u32) -> Result<Option<Chunks>, Error> {
        let chunks = Chunks::open(self.file(kind, number))?;
        let Some(chunks) = chunks.filter(|chunks| chunks.foot.job == self.job) else {
            return Ok(None);
        };
        let foot = &chunks.foot;
        match (foot.kind, foot.number, foot.worker) == (kind, number, self.worker) {
            true => Ok(Some(chunks)),
            false => Err(chunks.damaged()),
        }
    }

    /// Maps the values of a layer; `None` if there are none.
    pub(crate) fn values_of(&self, layer: &Chunks) -> Result<Option<Chunks>, Error> {
        let Some(values) = self.read(PartKind::Values, layer.foot.number)? else { return Ok(None) };
        let shape = |file: &Chunks| -> Vec<_> {
            file.extents().iter().map(|chunk| (chunk.slices, chunk.rows)).collect()
        };
        match shape(&values) == shape(layer) {
            true => Ok(Some(values)),
            false => Err(values.damaged()),
        }
    }

    /// Returns the number of consecutive layers from `first` on, up to `end`.
    pub(crate) fn layers_from(&self, first: u32, end: u32) -> Result<u32, Error> {
        for number in first..end {
            if self.read(PartKind::Layer, number)?.is_none() {
                return Ok(number - first);
            }
        }
        Ok(end - first)
    }
}

fn damaged(path: &Path) -> Error {
    let hint = "remove it: it is written again, with those that follow";
    Error::new(format!("{} is damaged", path.display()), hint).of_kind(Kind::Damaged)
}

/// Returns the identity and the job that a worker's files record; `None` if there is no layer.
pub(super) fn identity_in(dir: &Path) -> Result<Option<(Identity, String)>, Error> {
    let wrong = |error| failure("read", dir, error);
    for entry in fs::read_dir(dir).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.starts_with("layer-") && !name.contains('.')) {
            let Some(Chunks { foot: Foot { job, .. }, .. }) = Chunks::open(path.clone())? else {
                continue;
            };
            let identity = job.find('{').and_then(|at| serde_json::from_str(&job[at..]).ok());
            return Ok(Some((identity.ok_or_else(|| damaged(&path))?, job)));
        }
    }
    Ok(None)
}

/// A file being written.
pub(super) struct Writing {
    path: PathBuf,
    kind: PartKind,
    number: u32,
    file: OutputFile,
    at: u64,
    chunks: Vec<Extent>,
}

impl Writing {
    /// Writes a chunk of `blocks` blocks and `rows` states, whose slices end before `slices`.
    pub(crate) fn chunk(
        &mut self,
        slices: u32,
        (blocks, rows): (usize, usize),
        arrays: &[&[u8]],
    ) -> Result<(), Error> {
        let (Ok(blocks), Ok(rows)) = (u32::try_from(blocks), u32::try_from(rows)) else {
            let what = Error::new("more than 2^32 states in one chunk", "use more workers");
            return Err(what);
        };
        let (mut crc, mut bytes) = (crc32fast::Hasher::new(), 0);
        let mut write = |bytes_of: &[u8]| {
            crc.update(bytes_of);
            bytes += bytes_of.len() as u64;
            self.file.write_all(bytes_of)
        };
        let written = arrays.iter().try_for_each(|array| write(array));
        // Padded, so that the arrays of the next chunk are aligned.
        let written = written.and_then(|()| {
            let over = arrays.iter().map(|array| array.len()).sum::<usize>() % 8;
            write(&[0; 8][..(8 - over) % 8])
        });
        written.map_err(|error| failure("write", &self.path, error))?;
        let (at, crc, is_sound) = (self.at, crc.finalize(), AtomicBool::default());
        self.chunks.push(Extent { slices, blocks, rows, at, bytes, crc, is_sound });
        self.at += bytes;
        Ok(())
    }

    /// Writes the foot, syncs the file and renames it to its place.
    pub(crate) fn finish(mut self, part: &Part, counts: Counts) -> Result<(), Error> {
        let (job, worker, chunks) = (part.job.clone(), part.worker, self.chunks);
        let foot = Foot { job, kind: self.kind, number: self.number, worker, counts, chunks };
        let mut foot = serde_json::to_vec(&foot).expect("plain data");
        let (length, crc) = (foot.len() as u64, crc32(&foot));
        foot.extend(length.to_le_bytes());
        foot.extend(crc.to_le_bytes());
        let written = self.file.write_all(&foot);
        let written = written.and_then(|()| self.file.commit_synced());
        let written = written.and_then(|()| sync_dir(&part.dir));
        written.map_err(|error| failure("write", &self.path, error))
    }
}

/// A mapped file of chunks.
pub(super) struct Chunks {
    path: PathBuf,
    map: Mmap,
    foot: Foot,
}

/// States of a chunk.
pub(super) struct ChunkPiece<'a> {
    /// Occupied squares of its blocks, ascending, and the end of each block's states.
    pub blocks: &'a [[u32; 2]],
    /// Place of each state in its block.
    pub places: &'a [u32],
    /// Orientations of each state.
    pub sets: &'a [u16],
}

impl Chunks {
    /// Maps a file; `None` if it is missing.
    fn open(path: PathBuf) -> Result<Option<Chunks>, Error> {
        let map = match File::open(&path).and_then(|file| table::map_read_only(&file)) {
            Ok(map) => map,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failure("read", &path, error)),
        };
        let foot = || {
            let (rest, ends) = map.split_last_chunk::<12>()?;
            let [length, crc] = [&ends[..8], &ends[8..]];
            let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
            let foot = &rest[rest.len().checked_sub(length)?..];
            (u32::from_le_bytes(crc.try_into().ok()?) == crc32(foot)).then_some(())?;
            serde_json::from_slice(foot).ok()
        };
        let foot: Foot = foot().ok_or_else(|| damaged(&path))?;
        Ok(Some(Chunks { path, map, foot }))
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the counts of all chunks.
    pub(crate) fn counts(&self) -> &Counts {
        &self.foot.counts
    }

    /// Returns the chunks.
    pub(crate) fn extents(&self) -> &[Extent] {
        &self.foot.chunks
    }

    /// Returns the number of states of all chunks.
    pub(crate) fn rows(&self) -> u64 {
        self.foot.chunks.iter().map(|chunk| u64::from(chunk.rows)).sum()
    }

    /// Returns the bytes of a chunk; compares their checksum on first use.
    fn bytes(&self, chunk: &Extent) -> Option<&[u8]> {
        let begin = usize::try_from(chunk.at).ok()?;
        let end = begin.checked_add(usize::try_from(chunk.bytes).ok()?)?;
        let bytes = self.map.get(begin..end)?;
        if !chunk.is_sound.load(Ordering::Relaxed) {
            (crc32fast::hash(bytes) == chunk.crc).then_some(())?;
            chunk.is_sound.store(true, Ordering::Relaxed);
        }
        Some(bytes)
    }

    /// Compares the checksums of all chunks.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.foot.chunks.iter().all(|chunk| self.bytes(chunk).is_some()) {
            true => Ok(()),
            false => Err(self.damaged()),
        }
    }

    /// Returns the error for a damaged file.
    pub(crate) fn damaged(&self) -> Error {
        damaged(&self.path)
    }

    /// Returns the states of a chunk.
    pub(crate) fn piece(&self, chunk: &Extent) -> Result<ChunkPiece<'_>, Error> {
        let cut = || {
            let rows = chunk.rows as usize;
            let (blocks, rest) = numbers(self.bytes(chunk)?, chunk.blocks as usize)?;
            let (places, rest) = numbers(rest, rows)?;
            Some(ChunkPiece { blocks, places, sets: numbers(rest, rows)?.0 })
        };
        cut().ok_or_else(|| self.damaged())
    }

    /// Returns the numbers of a chunk with one number per state.
    pub(crate) fn numbers<T: Pod>(&self, chunk: &Extent) -> Result<&[T], Error> {
        let cut = || Some(numbers(self.bytes(chunk)?, chunk.rows as usize)?.0);
        cut().ok_or_else(|| self.damaged())
    }
}

/// Returns the first `count` numbers of some bytes, and the rest.
fn numbers<T: Pod>(bytes: &[u8], count: usize) -> Option<(&[T], &[u8])> {
    let (own, rest) = bytes.split_at_checked(count.checked_mul(size_of::<T>())?)?;
    Some((bytemuck::try_cast_slice(own).ok()?, rest))
}

impl<'a> ChunkPiece<'a> {
    /// Returns the blocks with the rows of each.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u32, std::ops::Range<usize>)> + use<'a> {
        let blocks = self.blocks;
        (0..blocks.len()).map(move |number| (blocks[number][0], rows_of(blocks, number)))
    }

    /// Returns the rows of a block.
    pub(crate) fn find(&self, block: u32) -> Option<std::ops::Range<usize>> {
        let number = self.blocks.binary_search_by_key(&block, |block| block[0]).ok()?;
        Some(rows_of(self.blocks, number))
    }
}

fn rows_of(blocks: &[[u32; 2]], number: usize) -> std::ops::Range<usize> {
    let begin = number.checked_sub(1).map_or(0, |before| blocks[before][1]);
    begin as usize..blocks[number][1] as usize
}
