//! A model of a disk: the state seen by programs, and the states possible after a power loss.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::calls::{Call, bytes_of};
use crate::common::tables::files;

type Bytes = Rc<Vec<u8>>;
type Names = BTreeMap<String, usize>;

/// A file or a directory: as programs see it, and as the disk must have kept it.
#[derive(Clone, Default)]
struct Node {
    bytes: Bytes,
    kept_bytes: Bytes,
    names: Names,
    kept_names: Names,
    /// Changes of names since the directory was synced.
    pending: Vec<Change>,
    is_dir: bool,
}

/// A name that was removed, one that was added, or both at once.
#[derive(Clone)]
struct Change {
    number: usize,
    gone: Option<String>,
    put: Option<(String, usize)>,
}

impl Change {
    fn apply(&self, names: &mut Names) {
        self.gone.as_ref().map(|gone| names.remove(gone));
        names.extend(self.put.clone());
    }
}

/// Pending changes that reached the disk: all or none of them, with one exception.
type Came = (bool, Option<usize>);

/// Files after a power loss: their content, and `true` if it was lost to zeros; `None` for a directory.
pub type Image = BTreeMap<PathBuf, Option<(Bytes, bool)>>;

/// Key that identifies an image, as long as one of each is kept.
pub type Key = Vec<(PathBuf, Option<(*const Vec<u8>, bool)>)>;

pub fn key_of(image: &Image) -> Key {
    let of = |(bytes, zeros): &(Bytes, bool)| (Rc::as_ptr(bytes), *zeros);
    image.iter().map(|(path, content)| (path.clone(), content.as_ref().map(of))).collect()
}

pub fn write(image: &Image, to: &Path) {
    for (path, content) in image {
        match content {
            Some((bytes, true)) => fs::write(to.join(path), vec![0; bytes.len()]).unwrap(),
            Some((bytes, false)) => fs::write(to.join(path), bytes.as_slice()).unwrap(),
            None => fs::create_dir_all(to.join(path)).unwrap(),
        }
    }
}

/// Directory in which a program works, and the files below it.
#[derive(Clone)]
pub struct Disk {
    root: PathBuf,
    nodes: Vec<Node>,
    changes: usize,
}

impl Disk {
    /// Returns a disk with the content of a directory.
    pub fn of(root: &Path) -> Disk {
        let top = Node { is_dir: true, ..Node::default() };
        let mut disk = Disk { root: root.to_path_buf(), nodes: vec![top], changes: 0 };
        for (path, bytes) in files(root) {
            let mut above: Vec<_> = path.ancestors().skip(1).map(|dir| root.join(dir)).collect();
            above.retain(|dir| disk.find(dir).is_none());
            for dir in above.iter().rev() {
                disk.create(dir, true);
            }
            let file = disk.create(&root.join(&path), false);
            disk.nodes[file].bytes = Rc::new(bytes);
        }
        (0..disk.nodes.len()).for_each(|node| disk.sync(node));
        disk
    }

    fn sync(&mut self, node: usize) {
        let node = &mut self.nodes[node];
        node.kept_bytes = node.bytes.clone();
        node.kept_names = node.names.clone();
        node.pending.clear();
    }

    /// Returns the node at a path; `None` if it is missing or lies elsewhere.
    fn find(&self, path: &Path) -> Option<usize> {
        path.strip_prefix(&self.root).ok()?.components().try_fold(0, |dir, part| {
            let Component::Normal(name) = part else { panic!("{} is not plain", path.display()) };
            self.nodes[dir].names.get(name.to_str().unwrap()).copied()
        })
    }

    /// Returns the directory of a path, and the name in it.
    fn place(&self, path: &Path) -> (usize, String) {
        let name = path.file_name().unwrap().to_str().unwrap();
        (self.find(path.parent().unwrap()).expect("a known directory"), name.to_string())
    }

    fn change(&mut self, dir: usize, gone: Option<String>, put: Option<(String, usize)>) {
        let change = Change { number: self.changes, gone, put };
        self.changes += 1;
        change.apply(&mut self.nodes[dir].names);
        self.nodes[dir].pending.push(change);
    }

    fn create(&mut self, path: &Path, is_dir: bool) -> usize {
        let (dir, name) = self.place(path);
        self.nodes.push(Node { is_dir, ..Node::default() });
        self.change(dir, None, Some((name, self.nodes.len() - 1)));
        self.nodes.len() - 1
    }

    fn image(&self, (all, but): Came, zeros: bool) -> Image {
        let mut image = Image::new();
        let mut open = vec![(PathBuf::new(), 0)];
        while let Some((path, node)) = open.pop() {
            let node = &self.nodes[node];
            let mut names = node.kept_names.clone();
            let came = |change: &&Change| all != (but == Some(change.number));
            node.pending.iter().filter(came).for_each(|change| change.apply(&mut names));
            open.extend(names.into_iter().map(|(name, node)| (path.join(name), node)));
            let content = match zeros && !Rc::ptr_eq(&node.bytes, &node.kept_bytes) {
                true => (node.bytes.clone(), true),
                false => (node.kept_bytes.clone(), false),
            };
            image.insert(path, (!node.is_dir).then_some(content));
        }
        image
    }

    /// Returns an image of each way in which the power may fail now.
    pub fn images(&self) -> impl Iterator<Item = Image> {
        let pending = self.nodes.iter().flat_map(|node| &node.pending);
        let buts = pending.map(|change| Some(change.number)).chain([None]);
        let came = buts.flat_map(|but| [(false, but), (true, but)]);
        came.flat_map(|came| [false, true].map(|zeros| self.image(came, zeros)))
    }

    /// Returns the image that programs see.
    pub fn now(mut self) -> Image {
        (0..self.nodes.len()).for_each(|node| self.sync(node));
        self.image((true, None), false)
    }
}

impl Disk {
    /// Replays a call. `at` has the offset of each open file.
    pub fn follow(&mut self, call: &Call, at: &mut BTreeMap<String, usize>) {
        let file = |place: usize| call.arguments[place].split('<').next().unwrap().to_string();
        let at_path = |dir: usize| call.path(dir).join(call.path(dir + 1));
        let own = |disk: &Disk, path: &Path| path.starts_with(&disk.root);
        match call.name {
            "openat" => {
                let (path, flags) = (at_path(0), call.arguments[2]);
                if flags.contains("O_TMPFILE") || !own(self, &path) {
                    return;
                }
                assert!(!flags.contains("O_APPEND"), "{flags}");
                let found = self.find(&path).unwrap_or_else(|| self.create(&path, false));
                if flags.contains("O_TRUNC") {
                    self.nodes[found].bytes = Bytes::default();
                }
                at.insert(call.gave.to_string(), 0);
            }
            "lseek" => drop(at.insert(file(0), call.gave as usize)),
            "write" | "pwrite64" | "ftruncate" => {
                let Some(node) = self.find(&call.path(0)) else { return };
                let bytes = Rc::make_mut(&mut self.nodes[node].bytes);
                if call.name == "ftruncate" {
                    return bytes.resize(call.number(1), 0);
                }
                let from = if call.name == "write" { at[&file(0)] } else { call.number(3) };
                let end = from + call.gave as usize;
                bytes.resize(bytes.len().max(end), 0);
                bytes[from..end].copy_from_slice(&bytes_of(call.arguments[1])[..end - from]);
                if call.name == "write" {
                    at.insert(file(0), end);
                }
            }
            "fsync" | "fdatasync" => {
                self.find(&call.path(0)).into_iter().for_each(|node| self.sync(node));
            }
            "mkdir" if own(self, &call.path(0)) => {
                self.create(&call.path(0), true);
            }
            "rename" | "renameat" | "renameat2" => {
                let (from, to) = match call.name {
                    "rename" => (call.path(0), call.path(1)),
                    _ => (at_path(0), at_path(2)),
                };
                if own(self, &from) {
                    let (node, (dir, from)) = (self.find(&from).unwrap(), self.place(&from));
                    let (new_dir, to) = self.place(&to);
                    assert_eq!(dir, new_dir, "a move from one directory to another");
                    self.change(dir, Some(from), Some((to, node)));
                }
            }
            "unlink" | "unlinkat" | "rmdir" => {
                let path = if call.name == "unlinkat" { at_path(0) } else { call.path(0) };
                if own(self, &path) {
                    let (dir, name) = self.place(&path);
                    self.change(dir, Some(name), None);
                }
            }
            _ => {}
        }
    }
}
