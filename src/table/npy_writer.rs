//! Arrays written sequentially.
//!
//! The first bytes of a file go through the page cache, where the next command finds them. The rest of a
//! large file is written with `O_DIRECT` in chunks from our own memory: the page cache would allocate a
//! page for each 4 KiB, copy, write and free it, which takes more CPU time than the disk's work. File
//! systems without `O_DIRECT` use the page cache throughout.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use memmap2::MmapMut;

use super::error::IoContext;
use super::npy::{HEADER_BYTES, KEPT_IN_MEMORY, crc32, drop_page_cache, header};
use crate::error::Error;
use crate::output::kept;

/// Bytes of a write: whole blocks of any disk.
const CHUNK: usize = 1 << 20;
/// Chunks of a file that may wait for the disk: about the amount produced at a time.
const WAITING: usize = 16;
const FAILED: &str = "the writing thread has failed";

/// An array being appended to; [`Stream::seal`] writes its header.
#[derive(Debug)]
pub struct Stream {
    path: PathBuf,
    file: File,
    /// Last `filled` bytes of the file, from offset `begin`: not yet written as a whole chunk.
    chunk: MmapMut,
    begin: u64,
    filled: usize,
    /// Bytes of the chunk that are already in the file.
    flushed: usize,
    past: Past,
    /// CRC-32 of the payload.
    crc: crc32fast::Hasher,
}

/// Writing with `O_DIRECT`.
#[derive(Debug)]
enum Past {
    /// The file is small so far.
    NotYet,
    /// A thread writes chunks.
    Open(StreamWriter),
    /// Not possible here.
    Closed,
}

/// A thread that writes chunks in order while others are filled.
#[derive(Debug)]
struct StreamWriter {
    /// Chunks to write, with their offsets.
    chunks: Option<SyncSender<(u64, MmapMut)>>,
    /// Results; the memory of written chunks is reused.
    written: Receiver<io::Result<MmapMut>>,
    /// Number of chunks that the thread has.
    waiting: usize,
    thread: Option<JoinHandle<()>>,
}

impl StreamWriter {
    /// Starts a thread that writes to the file at a path; `plain` is the same file without `O_DIRECT`,
    /// for writes that fail with it. `None` if that is not possible.
    fn open(path: &Path, plain: &File) -> Option<StreamWriter> {
        let (file, plain) = (open_past(path)?, plain.try_clone().ok()?);
        let (chunks, to_write) = sync_channel::<(u64, MmapMut)>(WAITING);
        let (done, written) = channel();
        let thread = std::thread::Builder::new().spawn(move || {
            for (begin, chunk) in to_write {
                // The file system or disk may not support it, or be full.
                let result =
                    write_at(&file, begin, &chunk).or_else(|_| write_at(&plain, begin, &chunk));
                if done.send(result.map(|()| chunk)).is_err() {
                    return;
                }
            }
        });
        Some(StreamWriter { chunks: Some(chunks), written, waiting: 0, thread: Some(thread.ok()?) })
    }

    /// Returns memory for a chunk.
    fn next(&mut self) -> io::Result<MmapMut> {
        match self.written.try_recv() {
            Ok(written) => {
                self.waiting -= 1;
                written
            }
            Err(_) if self.waiting < WAITING => MmapMut::map_anon(CHUNK),
            Err(_) => self.wait(),
        }
    }

    /// Queues a chunk to be written at an offset.
    fn write(&mut self, begin: u64, chunk: MmapMut) -> io::Result<()> {
        let sent = self.chunks.as_ref().is_some_and(|to| to.send((begin, chunk)).is_ok());
        self.waiting += usize::from(sent);
        if sent { Ok(()) } else { Err(io::Error::other(FAILED)) }
    }

    /// Waits until a chunk is written and returns its memory.
    fn wait(&mut self) -> io::Result<MmapMut> {
        self.waiting -= 1;
        self.written.recv().map_err(|_| io::Error::other(FAILED))?
    }
}

impl Drop for StreamWriter {
    /// Waits for pending writes, which must not come after later ones by others.
    fn drop(&mut self) {
        self.chunks = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn write_at(mut file: &File, begin: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(begin))?;
    file.write_all(bytes)
}

/// Opens a file for writing with `O_DIRECT`, if possible.
fn open_past(path: &Path) -> Option<File> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let direct = rustix::fs::OFlags::DIRECT.bits() as i32;
        File::options().write(true).custom_flags(direct).open(path).ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        None
    }
}

impl Stream {
    /// Creates a file, or truncates it.
    pub fn create(path: &Path) -> Result<Stream, Error> {
        Stream::open(path, 0, 0)
    }

    /// Opens a file that already has `bytes` of payload, whose checksum is `crc`, and cuts off what
    /// follows them.
    pub(super) fn open(path: &Path, bytes: u64, crc: u32) -> Result<Stream, Error> {
        let mut file = kept(path).at("write", path)?;
        let end = HEADER_BYTES as u64 + bytes;
        let found = file.metadata().at("read", path)?.len();
        if bytes > 0 && found < end {
            return Err(Error::damaged(path, "shorter than recorded by the checkpoint"));
        }
        file.set_len(end).at("write", path)?;
        let mut chunk = MmapMut::map_anon(CHUNK).at("allocate memory to write", path)?;
        let filled = (end % CHUNK as u64) as usize;
        let begin = end - filled as u64;
        file.seek(SeekFrom::Start(begin)).at("read", path)?;
        file.read_exact(&mut chunk[..filled]).at("read", path)?;
        Ok(Stream {
            path: path.to_path_buf(),
            file,
            chunk,
            begin,
            filled,
            flushed: filled,
            past: Past::NotYet,
            crc: crc32fast::Hasher::new_with_initial_len(crc, bytes),
        })
    }

    /// Appends bytes. They are in the file once it is flushed or sealed.
    pub fn append(&mut self, payload: &[u8]) -> Result<(), Error> {
        let mut rest = payload;
        while !rest.is_empty() {
            let some = rest.len().min(CHUNK - self.filled);
            self.chunk[self.filled..self.filled + some].copy_from_slice(&rest[..some]);
            self.filled += some;
            rest = &rest[some..];
            if self.filled == CHUNK {
                self.write_chunk().at("write", &self.path)?;
            }
        }
        let own = crc32fast::Hasher::new_with_initial_len(crc32(payload), payload.len() as u64);
        self.crc.combine(&own);
        Ok(())
    }

    /// Writes the full chunk and begins the next.
    fn write_chunk(&mut self) -> io::Result<()> {
        if self.begin >= KEPT_IN_MEMORY && matches!(self.past, Past::NotYet) {
            self.past = StreamWriter::open(&self.path, &self.file).map_or(Past::Closed, Past::Open);
        }
        if let Past::Open(writer) = &mut self.past {
            let next = writer.next()?;
            writer.write(self.begin, std::mem::replace(&mut self.chunk, next))?;
        } else {
            write_at(&self.file, self.begin + self.flushed as u64, &self.chunk[self.flushed..])?;
            if self.begin >= KEPT_IN_MEMORY && (self.begin / CHUNK as u64).is_multiple_of(TOLD_OF) {
                drop_page_cache(&self.file, 0, None);
            }
        }
        self.begin += CHUNK as u64;
        (self.filled, self.flushed) = (0, 0);
        Ok(())
    }

    /// Writes all appended bytes to the file, without syncing.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        if let Past::Open(writer) = &mut self.past {
            while writer.waiting > 0 {
                writer.wait().at("write", &self.path)?;
            }
        }
        let begin = self.begin + self.flushed as u64;
        let rest = &self.chunk[self.flushed..self.filled];
        write_at(&self.file, begin, rest).at("write", &self.path)?;
        self.flushed = self.filled;
        Ok(())
    }

    /// Returns the number of payload bytes.
    pub fn len_bytes(&self) -> u64 {
        self.begin + self.filled as u64 - HEADER_BYTES as u64
    }

    /// Returns the CRC-32 of the payload.
    pub fn checksum(&self) -> u32 {
        self.crc.clone().finalize()
    }

    /// Flushes, writes the header, syncs the file, which is then a complete `.npy`, and returns the
    /// header. The caller is responsible for a shape that matches the payload.
    pub fn seal(&mut self, descr: &str, shape: &[u64]) -> Result<Vec<u8>, Error> {
        let header = header(&self.path, descr, shape)?;
        self.flush()?;
        write_at(&self.file, 0, &header).at("write", &self.path)?;
        // After a failed sync the system may take unwritten pages for written, so a second sync proves
        // nothing: the file is emptied, and no draft resumes from it.
        let synced = self.file.sync_data().inspect_err(|_| drop(self.file.set_len(0)));
        synced.at("write", &self.path)?;
        Ok(header)
    }
}

/// Chunks between writebacks, if all go through the page cache.
const TOLD_OF: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mmap::map_read_only;

    /// The target directory, and a file system in memory if there is one.
    #[test]
    fn what_goes_past_the_memory_is_seen_by_maps_of_the_file() {
        let exe = std::env::current_exe().unwrap();
        for place in [exe.parent().unwrap(), Path::new("/dev/shm")] {
            let Ok(dir) = tempfile::tempdir_in(place) else { continue };
            let path = dir.path().join("a.npy");
            let byte = |i: usize| (i.wrapping_mul(2_654_435_761) >> 9) as u8;
            let whole: Vec<u8> = (0..KEPT_IN_MEMORY as usize + (9 << 20)).map(byte).collect();
            let mut stream = Stream::open(&path, 0, 0).unwrap();
            let (mut maps, mut done) = (Vec::new(), 0);
            // Ends within a page, whose rest the next write brings past the map that is live.
            for step in [KEPT_IN_MEMORY as usize - 77, 300_001, 3 << 20, 1_000_003, 4 << 20] {
                stream.append(&whole[done..done + step]).unwrap();
                stream.flush().unwrap();
                done += step;
                let map = map_read_only(&File::open(&path).unwrap()).unwrap();
                assert!(map[HEADER_BYTES..] == whole[..done], "{}", place.display());
                maps.push((map, done));
            }
            assert!(!matches!(stream.past, Past::NotYet));
            for (map, until) in &maps {
                assert!(map[HEADER_BYTES..] == whole[..*until], "{}", place.display());
            }
        }
    }

    #[test]
    fn a_large_file_is_what_was_appended_however_that_was_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npy");
        let whole: Vec<u8> = (0..KEPT_IN_MEMORY as u32 + (7 << 20))
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 9) as u8)
            .collect();
        let (mut bytes, mut crc, mut cuts) = (0, 0, [1 << 20, 300_001, 5, 3 << 20].iter().cycle());
        while bytes < whole.len() {
            let mut stream = Stream::open(&path, bytes as u64, crc).unwrap();
            let until = (bytes + (24 << 20)).min(whole.len());
            while bytes < until {
                let end = (bytes + cuts.next().unwrap()).min(until);
                stream.append(&whole[bytes..end]).unwrap();
                bytes = end;
                if end % 3 == 0 {
                    stream.flush().unwrap();
                    assert_eq!(
                        std::fs::metadata(&path).unwrap().len() as usize,
                        HEADER_BYTES + end
                    );
                }
            }
            crc = stream.checksum();
            // Bytes beyond the recorded length are cut off.
            stream.flush().unwrap();
            stream.append(&[1; 100_000]).unwrap();
        }
        let mut stream = Stream::open(&path, bytes as u64, crc).unwrap();
        stream.seal("|u1", &[bytes as u64]).unwrap();
        assert_eq!(stream.checksum(), crc32fast::hash(&whole));
        assert!(std::fs::read(&path).unwrap()[HEADER_BYTES..] == whole);
    }
}
