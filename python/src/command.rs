//! The command `solver`, run in the interpreter's process.

// The arguments of the process are shared with the standard library through the loader's array.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};
use std::io::Write as _;
use std::process::ExitCode;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::prelude::*;

use crate::errors::YomikiriError;

/// Arguments of the process: `python3 /path/to/solver report …`.
static ARGUMENTS: AtomicPtr<*mut c_char> = AtomicPtr::new(null_mut());

extern "C" fn keep_arguments(_: c_int, arguments: *mut *mut c_char, _: *mut *mut c_char) {
    ARGUMENTS.store(arguments, Ordering::Relaxed);
}

/// Entry that glibc's loader calls with the arguments of the process, as it calls the standard library's.
#[used]
#[cfg_attr(all(target_os = "linux", target_env = "gnu"), unsafe(link_section = ".init_array"))]
static KEEP_ARGUMENTS: extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) = keep_arguments;

/// Runs the command `solver` with the last `count` arguments of the process; returns the exit code. For a
/// process that does nothing else.
#[pyfunction]
pub(crate) fn run_command(count: usize) -> PyResult<u8> {
    let arguments = ARGUMENTS.load(Ordering::Relaxed);
    if arguments.is_null() {
        let what = "the command needs Linux with glibc here; `cargo install --path crates/solver` brings it";
        return Err(YomikiriError::new_err(what));
    }
    // SAFETY: the array ends with null and lives as long as the process; nothing else runs that reads it.
    unsafe {
        let all = (0..).take_while(|&at| !(*arguments.add(at)).is_null()).count();
        // The standard library stops at null too, so it sees the program's name and these arguments.
        if count < all {
            // Before them is the path of the script.
            (0..=count).for_each(|at| *arguments.add(at) = *arguments.add(all - count - 1 + at));
            *arguments.add(1 + count) = null_mut();
        }
    }
    let code = yomikiri_solver::main_with(Vec::new());
    // The interpreter ends without the standard library's last flush.
    let _ = std::io::stdout().flush();
    Ok((0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(1))
}
