//! Fuzz target of outputs: whatever lies around one, nothing of it is changed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};
use std::str::from_utf8;

use yomikiri::output::{self, OutputDir, output_of};

use super::{PLACE, ROOM};

/// Name of the output.
const OUT: &str = "out";

/// Target: lines `KIND NAME [OTHER]`, which describe what is in the directory of the output `out`. The kinds are `f` (a
/// file), `d` (a directory with a file), `l` (a link to OTHER), `h` (a second name of OTHER) and `p` (a pipe).
pub fn outputs(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    let dir = PLACE.join("outputs");
    let place = dir.join(OUT);
    type Way = (&'static str, fn(&Path) -> io::Result<()>);
    let ways: [Way; 6] = [
        ("check", output::check),
        ("write", |place| output::write(place, b"new")),
        ("replace", |place| output::replace(place, b"new")),
        ("kept", |place| output::kept(place).map(drop)),
        ("kept_dir", output::kept_dir),
        ("directory", |place| {
            let folder = OutputDir::create(place)?;
            fs::write(folder.path().join("new"), "new")?;
            folder.commit(&|name| name == "new")
        }),
    ];
    for (name, way) in ways {
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect(ROOM);
        text.lines().take(20).for_each(|line| lay(&dir, line));
        let (before, target) = (entries(&dir), output::followed(&place));
        let is_pipe = fs::metadata(&place).is_ok_and(|there| there.file_type().is_fifo());
        if is_pipe && name == "write" {
            // Nobody reads it.
            continue;
        }
        let result = way(&place);
        let after = entries(&dir);
        let is_output = |path: &Path| {
            path.starts_with(&place) || target.as_ref().is_ok_and(|target| path.starts_with(target))
        };
        for (path, what) in &before {
            let marked = path.strip_prefix(&dir).unwrap_or(path).iter().next();
            let is_leftover = marked.and_then(|name| output_of(name.to_str()?)).is_some();
            let may_change = is_leftover || result.is_ok() && is_output(path);
            if !may_change {
                assert_eq!(after.get(path), Some(what), "{name}: {result:?}, {}", path.display());
            }
        }
        if result.is_ok() && ["write", "replace"].contains(&name) {
            assert_eq!(fs::read(&place).expect("it was written"), b"new", "{name}");
        }
        let added = after.keys().filter(|path| !before.contains_key(*path) && !is_output(path));
        assert_eq!(added.collect::<Vec<_>>(), [] as [&PathBuf; 0], "{name}: {result:?}");
    }
    let _ = fs::remove_dir_all(&dir);
}

/// Makes what a line describes, if the name is plain and free.
fn lay(dir: &Path, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let is_plain = |name: &&str| {
        !name.is_empty() && ![".", ".."].contains(name) && !name.contains(['/', '\0'])
    };
    let (Some(kind), Some(name)) = (words.first(), words.get(1).filter(|name| is_plain(name)))
    else {
        return;
    };
    let path = dir.join(name);
    let other =
        words.get(2).filter(|name| is_plain(name)).map_or(dir.join(OUT), |name| dir.join(name));
    if path.symlink_metadata().is_ok() {
        return;
    }
    // Names may be too long, and others missing.
    let _ = match *kind {
        "f" => fs::write(&path, "mine"),
        "d" => fs::create_dir(&path).and_then(|()| fs::write(path.join("mine"), "mine")),
        "l" => symlink(other, &path),
        "h" => fs::hard_link(other, &path),
        "p" => {
            use rustix::fs::{CWD, FileType, Mode, mknodat};
            mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).map_err(io::Error::from)
        }
        _ => Ok(()),
    };
}

/// Returns what is at each path below a directory, links as links.
fn entries(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().expect("it is there");
        let what = match () {
            () if kind.is_dir() => {
                all.extend(entries(&path));
                "a directory".to_string()
            }
            () if kind.is_symlink() => format!("{:?}", fs::read_link(&path)),
            () if kind.is_file() => format!("{:?}", fs::read(&path)),
            () => "a pipe".to_string(),
        };
        all.insert(path, what);
    }
    all
}
