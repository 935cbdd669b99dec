//! The files of the workers: a layer of a worker's own blocks, and the values of it, each with its checksum.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use serde::{Deserialize, Serialize};

use super::ClusterError;
use super::expand::Sets;
use crate::table::{Counts, Lock, Store, crc32};

/// Where the parts of a table lie.
pub fn parts_dir(store: &Store, table: &str) -> PathBuf {
    store.place(table).with_added_extension("parts")
}

/// What stands first in a file.
#[derive(Serialize, Deserialize)]
struct Head {
    job: String,
    counts: Counts,
    /// The occupied squares of each block and how many states it has.
    blocks: Vec<(u32, u32)>,
}

/// A layer of a worker's own blocks.
#[derive(Default)]
pub(super) struct Layer {
    pub blocks: BTreeMap<u32, Sets>,
    pub counts: Counts,
}

/// The directory of one worker's files.
pub(super) struct Part {
    dir: PathBuf,
    job: String,
}

impl Part {
    /// The files of a worker for a job, which is named in them.
    pub fn new(parts: &Path, worker: usize, job: String) -> Part {
        Part { dir: parts.join(format!("part-{worker}")), job }
    }

    /// The files of a worker that lie in a directory.
    pub fn at(dir: &Path, job: String) -> Part {
        Part { dir: dir.to_path_buf(), job }
    }

    /// Keeps all other processes from writing here, as long as the lock is held.
    pub fn lock(&self) -> Result<Lock, ClusterError> {
        let parts = self.dir.parent().unwrap_or(&self.dir);
        let create = fs::create_dir_all(parts);
        create.map_err(|error| Part::wrong(parts, format!("cannot be made ({error})")))?;
        Ok(Lock::take(&self.dir.with_added_extension("lock"))?)
    }

    fn wrong(path: &Path, what: impl ToString) -> ClusterError {
        ClusterError::File { path: path.to_path_buf(), what: what.to_string() }
    }

    fn layer_file(&self, number: u32) -> PathBuf {
        self.dir.join(format!("layer-{number:02}"))
    }

    fn values_file(&self, number: u32) -> PathBuf {
        self.dir.join(format!("values-{number:02}"))
    }

    /// Writes a file whole, or not at all.
    fn write(&self, path: &Path, parts: &[&[u8]]) -> Result<(), ClusterError> {
        let write = || {
            fs::create_dir_all(&self.dir)?;
            let unfinished = path.with_added_extension("partial");
            let mut file = File::create(&unfinished)?;
            let all = parts.concat();
            file.write_all(&crc32(&all).to_le_bytes())?;
            file.write_all(&all)?;
            file.sync_all()?;
            fs::rename(&unfinished, path)?;
            File::open(&self.dir)?.sync_all()
        };
        write().map_err(|error: std::io::Error| {
            Part::wrong(path, format!("cannot be written ({error})"))
        })
    }

    /// Reads a file and compares its checksum; `None` if there is none.
    fn read(path: &Path) -> Result<Option<Vec<u8>>, ClusterError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Part::wrong(path, format!("cannot be read ({error})"))),
        };
        match bytes.split_first_chunk() {
            Some((crc, rest)) if u32::from_le_bytes(*crc) == crc32(rest) => Ok(Some(rest.to_vec())),
            _ => Err(Part::wrong(
                path,
                "is damaged; remove it, and the layers after it are made again",
            )),
        }
    }

    /// Writes a layer.
    pub fn write_layer(&self, number: u32, layer: &Layer) -> Result<(), ClusterError> {
        let blocks = layer.blocks.iter().map(|(&block, sets)| (block, sets.len() as u32)).collect();
        let head = Head { job: self.job.clone(), counts: layer.counts, blocks };
        let head = serde_json::to_vec(&head).expect("plain data");
        let places: Vec<u32> = layer.blocks.values().flatten().map(|set| set.0).collect();
        let sets: Vec<u16> = layer.blocks.values().flatten().map(|set| set.1).collect();
        let length = (head.len() as u64).to_le_bytes();
        let parts =
            [&length, &head[..], bytemuck::cast_slice(&places), bytemuck::cast_slice(&sets)];
        self.write(&self.layer_file(number), &parts)
    }

    /// Reads a layer; `None` if there is none, or it is of another job.
    pub fn read_layer(&self, number: u32) -> Result<Option<Layer>, ClusterError> {
        let path = self.layer_file(number);
        let Some(bytes) = Part::read(&path)? else { return Ok(None) };
        let layer = || {
            let (length, rest) = bytes.split_first_chunk()?;
            let (head, rest) =
                rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
            let head: Head = serde_json::from_slice(head).ok()?;
            let rows = head.blocks.iter().map(|block| block.1 as usize).sum::<usize>();
            let (places, sets) = rest.split_at_checked(rows.checked_mul(4)?)?;
            let (places, sets) = (numbers::<u32>(places)?, numbers::<u16>(sets)?);
            let mut all = places.into_iter().zip(sets);
            let blocks = head
                .blocks
                .iter()
                .map(|&(block, rows)| (block, all.by_ref().take(rows as usize).collect()));
            Some((head.job, Layer { blocks: blocks.collect(), counts: head.counts }))
        };
        let (job, layer) = layer().ok_or_else(|| Part::wrong(&path, "is no layer; remove it"))?;
        Ok((job == self.job).then_some(layer))
    }

    /// How many layers there are from `first` on.
    pub fn layers_from(&self, first: u32, end: u32) -> Result<u32, ClusterError> {
        for number in first..end {
            if self.read_layer(number)?.is_none() {
                return Ok(number - first);
            }
        }
        Ok(end - first)
    }

    /// Writes the values of a layer.
    pub fn write_values(&self, number: u32, values: &[i32]) -> Result<(), ClusterError> {
        let job = crc32(self.job.as_bytes()).to_le_bytes();
        self.write(&self.values_file(number), &[&job, bytemuck::cast_slice(values)])
    }

    /// Reads the values of a layer; `None` if there are none, or they are of another job.
    pub fn read_values(&self, number: u32) -> Result<Option<Vec<i32>>, ClusterError> {
        let path = self.values_file(number);
        let Some(bytes) = Part::read(&path)? else { return Ok(None) };
        let split = bytes
            .split_first_chunk()
            .filter(|(job, _)| **job == crc32(self.job.as_bytes()).to_le_bytes());
        Ok(split.and_then(|(_, values)| numbers(values)))
    }
}

/// The numbers in some bytes, wherever these lie.
fn numbers<T: Pod>(bytes: &[u8]) -> Option<Vec<T>> {
    let whole = bytes.len().is_multiple_of(size_of::<T>());
    whole.then(|| bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
}
