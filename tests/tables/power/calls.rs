//! System calls of a command, as recorded by strace.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::needs::is_there;

/// A system call as written by strace, with its return value.
pub struct Call<'a> {
    pub name: &'a str,
    pub arguments: Vec<&'a str>,
    pub gave: u64,
}

/// Parses hexadecimal digits, `\x61\x62`, as bytes.
pub fn bytes_of(text: &str) -> Vec<u8> {
    text.split("\\x").skip(1).map(|digits| u8::from_str_radix(&digits[..2], 16).unwrap()).collect()
}

impl<'a> Call<'a> {
    /// Parses a line; `None` for failed calls and other lines.
    pub fn of(line: &'a str) -> Option<Call<'a>> {
        let (call, gave) = line.rsplit_once(" = ")?;
        let (name, arguments) = call.trim_end().strip_suffix(')')?.split_once('(')?;
        let gave = gave.split(['<', ' ']).next()?.parse().ok()?;
        Some(Call { name, arguments: arguments.split(", ").collect(), gave })
    }

    /// Returns the path in an argument.
    pub fn path(&self, place: usize) -> PathBuf {
        PathBuf::from(String::from_utf8(bytes_of(self.arguments[place])).unwrap())
    }

    pub fn number(&self, place: usize) -> usize {
        self.arguments[place].parse().unwrap()
    }

    /// Returns whether the power may fail before it: writes do not matter until they are synced.
    pub fn matters(&self) -> bool {
        !["lseek", "write", "pwrite64", "ftruncate"].contains(&self.name)
    }

    pub fn syncs(&self) -> bool {
        ["fsync", "fdatasync"].contains(&self.name)
    }
}

/// Runs a command and returns its calls, one per line, with interrupted ones joined.
pub fn traced(tables: &Path, args: &[&str]) -> Vec<String> {
    const CALLS: &str = "openat,lseek,write,pwrite64,ftruncate,fsync,fdatasync,mkdir,\
        rename,renameat,renameat2,unlink,unlinkat,rmdir";
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-xx", "-s", "100000000", "-e", &format!("trace={CALLS}"), "-o"]);
    strace.arg(&log).arg(env!("CARGO_BIN_EXE_solver")).args(args).args(["-q", "--threads", "1"]);
    let ended = strace.env("YOMIKIRI_TABLES", tables).stdout(Stdio::null()).status().unwrap();
    assert!(ended.success(), "{args:?}: {ended}");
    let (mut calls, mut halves) = (Vec::new(), BTreeMap::new());
    for line in fs::read_to_string(log).unwrap().lines() {
        let (process, call) = line.split_once(' ').unwrap();
        let call = call.trim_start();
        if let Some(half) = call.strip_suffix("<unfinished ...>") {
            halves.insert(process.to_string(), half.to_string());
        } else if let Some((_, rest)) = call.split_once(" resumed>") {
            calls.push(halves.remove(process).unwrap() + rest);
        } else {
            calls.push(call.to_string());
        }
    }
    calls
}

/// Returns whether strace exists and may trace.
pub fn has_strace() -> bool {
    let there = Command::new("strace").args(["-o", "/dev/null", "true"]).status();
    let there = there.is_ok_and(|status| status.success());
    is_there("strace that may trace", there)
}
