//! A program that answers each line with a line, within a time limit.
//!
//! One thread each writes its standard input and reads its standard output and error, so a program that does
//! not read or write cannot block us beyond the limit. Its standard error is not shown on the terminal; the
//! end of it appears in messages.
//!
//! The program is started without a shell, in a process group with all its children. Dropping a [`Process`]
//! closes the program's input; after a grace period its group is killed and it is waited for. The same
//! happens if we end without dropping it, by a signal or a kill, because a [`Guard`] waits for that. It leads the
//! group, so that no program runs without it.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use yomikiri::error::Error;

/// Maximum length of a line.
const LONGEST_LINE: u64 = 1 << 28;
/// Bytes kept of the end of standard error.
const TAIL_BYTES: usize = 1 << 12;
/// Grace period for a program to end.
const GRACE: Duration = Duration::from_millis(500);
/// Interval of checks whether a program that does not answer has ended.
const LOOK: Duration = Duration::from_millis(50);

/// A running program.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// Lines for its standard input; dropping the sender closes the input.
    input: Option<Sender<Vec<u8>>>,
    output: Receiver<ProgramOutput>,
    errors: StderrTail,
    limit: Duration,
    guard: Option<Guard>,
    /// `true` once it was killed and waited for.
    is_over: bool,
}

/// A process that kills its group when its own standard input closes, because we have ended.
#[derive(Debug)]
struct Guard(Child);

impl Guard {
    /// Starts a guard, which kills its group a second after our end.
    #[cfg(unix)]
    fn start() -> std::io::Result<Guard> {
        use std::os::unix::process::CommandExt;
        // In a group of its own, so that a signal to ours does not end it.
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "read -r end; sleep 1; kill -s KILL 0"]);
        let command = command.process_group(0).stdin(Stdio::piped());
        Ok(Guard(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[derive(Debug)]
enum ProgramOutput {
    /// A line without its newline.
    Line(Vec<u8>),
    TooLong,
}

/// End of standard error.
#[derive(Debug)]
struct StderrTail {
    tail: Arc<Mutex<Vec<u8>>>,
    /// Closes when everything is read.
    all_read: Receiver<()>,
}

impl Process {
    /// Starts a program; `words` are its name and its arguments.
    pub(super) fn start(words: &[String], limit: Duration) -> std::io::Result<Process> {
        let (program, arguments) = words.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Without a shell, the end of its input must suffice.
        #[cfg(unix)]
        let guard = Guard::start().ok();
        #[cfg(not(unix))]
        let guard = None;
        #[cfg(unix)]
        {
            let leader = guard.as_ref().and_then(|Guard(leader)| i32::try_from(leader.id()).ok());
            std::os::unix::process::CommandExt::process_group(&mut command, leader.unwrap_or(0));
        }
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            unreachable!("all three were requested");
        };
        let (input, lines) = channel();
        // A single line is awaited at a time; a program that writes more blocks.
        let (answers, output) = sync_channel(1);
        let (done, all_read) = sync_channel(0);
        let tail = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&tail);
        // Created first, so that the program is killed if a thread cannot be started.
        let errors = StderrTail { tail, all_read };
        let process =
            Process { child, input: Some(input), output, errors, limit, guard, is_over: false };
        Builder::new().spawn(move || write_lines(stdin, &lines))?;
        Builder::new().spawn(move || read_lines(BufReader::new(stdout), &answers))?;
        Builder::new().spawn(move || keep_tail(stderr, &kept, done))?;
        Ok(process)
    }

    /// Sends a line, including its newline, and returns the answer without its newline. After an error the
    /// program must not be sent another line.
    pub(super) fn ask(&mut self, line: Vec<u8>) -> Result<Vec<u8>, Error> {
        self.send(line);
        self.line(self.limit)
    }

    /// Sends a line, including its newline.
    pub(super) fn send(&self, line: Vec<u8>) {
        if let Some(input) = &self.input {
            // Sending fails if the program has ended, which its output shows.
            let _ = input.send(line);
        }
    }

    /// Returns the program's next line without its newline, which is awaited until `left` is over. After an error the
    /// program must not be sent another line.
    pub(super) fn line(&mut self, left: Duration) -> Result<Vec<u8>, Error> {
        match self.next_output(left) {
            Ok(ProgramOutput::Line(line)) => Ok(line),
            Ok(ProgramOutput::TooLong) => {
                self.kill();
                Err("answer longer than the limit".into())
            }
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                let (limit, last) = (self.limit.as_secs_f64(), self.last_words());
                let what = format!("no answer within {limit} s; stopped{last}");
                Err(Error::new(what, "raise --policy-timeout if it needs longer"))
            }
            Err(RecvTimeoutError::Disconnected) => {
                let how = match self.end() {
                    Some(status) => format!("the program ended before it answered, {status}"),
                    None => "the program closed its output before it answered".to_string(),
                };
                Err((how + &self.last_words()).into())
            }
        }
    }

    /// Returns the program's next output within the limit. A program that has ended is not awaited, even if
    /// another process holds its output open.
    fn next_output(&mut self, mut limit: Duration) -> Result<ProgramOutput, RecvTimeoutError> {
        // A limit may lie beyond what the clock counts.
        let begun = Instant::now();
        let mut has_ended = false;
        loop {
            let left = limit.saturating_sub(begun.elapsed());
            match self.output.recv_timeout(left.min(LOOK)) {
                Err(RecvTimeoutError::Timeout) if left > LOOK => {}
                Err(RecvTimeoutError::Timeout) if has_ended => {
                    return Err(RecvTimeoutError::Disconnected);
                }
                found => return found,
            }
            if !has_ended && self.has_ended() {
                // Its last output may still be in the pipe.
                has_ended = true;
                limit = limit.min(begun.elapsed() + GRACE);
            }
        }
    }

    /// Returns `true` if the program itself has ended. Its process id stays reserved until it is waited for.
    #[cfg(unix)]
    fn has_ended(&mut self) -> bool {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let waited = waitid(WaitId::Pid(Pid::from_child(&self.child)), options);
        // A process already waited for is no longer a child.
        !matches!(waited, Ok(None))
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Closes the program's input and kills its group after the grace period; returns the program's status if
    /// it ended by itself.
    fn end(&mut self) -> Option<ExitStatus> {
        self.input = None;
        let begun = Instant::now();
        let mut has_ended = self.has_ended();
        while !has_ended && begun.elapsed() < GRACE {
            std::thread::sleep(Duration::from_millis(2));
            has_ended = self.has_ended();
        }
        let status = self.kill();
        status.filter(|_| has_ended)
    }

    /// Kills the program with all its children, and waits for it.
    fn kill(&mut self) -> Option<ExitStatus> {
        // A group has the id of its first process, which is not reused before that is waited for.
        #[cfg(unix)]
        if !self.is_over {
            use rustix::process::{Pid, Signal, kill_process_group};
            let leader = self.guard.as_ref().map_or(&self.child, |Guard(leader)| leader);
            let _ = kill_process_group(Pid::from_child(leader), Signal::KILL);
        }
        let _ = self.child.kill();
        self.is_over = true;
        self.guard = None;
        self.child.wait().ok()
    }

    /// Returns the last line of standard error, formatted for a message; empty if there is none.
    fn last_words(&self) -> String {
        // A child of the program may still hold the pipe.
        let _ = self.errors.all_read.recv_timeout(GRACE);
        let tail = self.errors.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail);
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let shown = |line| format!(" (last line on stderr: {})", excerpt(line));
        line.map_or(String::new(), shown)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_over {
            self.end();
        }
    }
}

/// Returns the beginning of a text without control characters.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 160;
    let mut clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let begin: String = clean.by_ref().take(LONGEST).collect();
    if clean.next().is_some() { begin + "…" } else { begin }
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        // A program that closes its input may still answer; otherwise reading its output fails.
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(mut stdout: impl BufRead, answers: &SyncSender<ProgramOutput>) {
    loop {
        let mut line = Vec::new();
        let read = stdout.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        let output = match (read, line.last()) {
            (Ok(0) | Err(_), _) => return,
            (Ok(_), Some(b'\n')) => {
                line.pop();
                ProgramOutput::Line(line)
            }
            (Ok(n), _) if n as u64 == LONGEST_LINE => ProgramOutput::TooLong,
            // The program ended in the middle of its answer.
            (Ok(_), _) => return,
        };
        if answers.send(output).is_err() {
            return;
        }
    }
}

/// Reads to the end and keeps the tail; `_done` closes afterwards.
fn keep_tail(mut stderr: impl Read, tail: &Mutex<Vec<u8>>, _done: SyncSender<()>) {
    let mut buffer = [0; TAIL_BYTES];
    while let Ok(n @ 1..) = stderr.read(&mut buffer) {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&buffer[..n]);
        let surplus = tail.len().saturating_sub(TAIL_BYTES);
        tail.drain(..surplus);
    }
}
