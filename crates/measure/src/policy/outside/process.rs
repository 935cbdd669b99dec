//! A program that answers each line with a line, within a time limit.
//!
//! Its standard input is written, and its standard output and error are read, by a thread each, so
//! that neither a program that does not read nor one that does not write can hold us up for longer
//! than the limit. What it writes to standard error is kept from the terminal; the end of it is for
//! messages.
//!
//! The program is started without a shell, in a process group of its own with all that it starts in
//! turn. When a [`Process`] is dropped the input of the program ends; it is given a moment to end by
//! itself, then its group is killed, and it is waited for. The same happens when we end without
//! dropping it, by a signal or a kill: a [`Guard`] waits for that.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use yomikiri::hint::Hinted;

/// The longest line that is read.
const LONGEST_LINE: u64 = 1 << 28;
/// How much of the end of standard error is kept.
const TAIL_BYTES: usize = 1 << 12;
/// How long a program may take to end.
const GRACE: Duration = Duration::from_millis(500);
/// How often it is looked whether a program that does not answer has ended.
const LOOK: Duration = Duration::from_millis(50);

/// A program that runs.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// What is to be written to its standard input, which ends with this.
    input: Option<Sender<Vec<u8>>>,
    output: Receiver<Output>,
    errors: Errors,
    limit: Duration,
    guard: Option<Guard>,
    /// Whether it was killed and waited for.
    is_over: bool,
}

/// A process that waits for our end, which is that of its standard input, and then kills a group.
#[derive(Debug)]
struct Guard(Child);

impl Guard {
    /// A moment after our end the group is killed.
    #[cfg(unix)]
    fn of(group: u32) -> std::io::Result<Guard> {
        use std::os::unix::process::CommandExt;
        // In a group of its own, so that what ends us does not end it first.
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "read -r end; sleep 1; kill -s KILL -- \"-$0\"", &group.to_string()]);
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
enum Output {
    /// Without its newline.
    Line(Vec<u8>),
    TooLong,
}

/// The end of standard error.
#[derive(Debug)]
struct Errors {
    tail: Arc<Mutex<Vec<u8>>>,
    /// Says nothing and closes when all is read.
    all_read: Receiver<()>,
}

impl Process {
    /// Starts a program; `words` are its name and its arguments, at least the former.
    pub(super) fn start(words: &[String], limit: Duration) -> std::io::Result<Process> {
        let (program, arguments) = words.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            unreachable!("all three were requested");
        };
        let (input, lines) = channel();
        // One line is waited for at a time; a program that talks on is not listened to.
        let (answers, output) = sync_channel(1);
        let (done, all_read) = sync_channel(0);
        let tail = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&tail);
        // Made first, so that the program is killed if a thread cannot be started.
        let errors = Errors { tail, all_read };
        let mut process = Process {
            child,
            input: Some(input),
            output,
            errors,
            limit,
            guard: None,
            is_over: false,
        };
        #[cfg(unix)]
        {
            // Where there is no shell the end of its input must do.
            process.guard = Guard::of(process.child.id()).ok();
        }
        Builder::new().spawn(move || write_lines(stdin, &lines))?;
        Builder::new().spawn(move || read_lines(BufReader::new(stdout), &answers))?;
        Builder::new().spawn(move || keep_tail(stderr, &kept, done))?;
        Ok(process)
    }

    /// Sends a line, which ends in a newline, and waits for the answer, without its newline. After
    /// an error the program must not get another line.
    pub(super) fn ask(&mut self, line: Vec<u8>) -> Result<Vec<u8>, Hinted> {
        if let Some(input) = &self.input {
            // If nobody takes it the program has ended, which its output shows.
            let _ = input.send(line);
        }
        match self.next_output() {
            Ok(Output::Line(line)) => Ok(line),
            Ok(Output::TooLong) => {
                self.kill();
                Err("it wrote a line longer than any answer".into())
            }
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                let (limit, last) = (self.limit.as_secs_f64(), self.last_words());
                let what = format!("it has not answered within {limit} s and was stopped{last}");
                Err(Hinted::new(what, "raise --policy-timeout if it needs longer"))
            }
            Err(RecvTimeoutError::Disconnected) => {
                let how = match self.end() {
                    Some(status) => status.to_string(),
                    None => "closed its output, and was stopped".to_string(),
                };
                let last = self.last_words();
                Err(format!("it ended before it answered: {how}{last}").into())
            }
        }
    }

    /// What it writes within the limit. One that has ended is not waited for, even if another
    /// holds its output open.
    fn next_output(&mut self) -> Result<Output, RecvTimeoutError> {
        let mut until = Instant::now() + self.limit;
        let mut has_ended = false;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left.min(LOOK)) {
                Err(RecvTimeoutError::Timeout) if left > LOOK => {}
                Err(RecvTimeoutError::Timeout) if has_ended => {
                    return Err(RecvTimeoutError::Disconnected);
                }
                found => return found,
            }
            if !has_ended && self.has_ended() {
                // What it has written may still be on its way.
                has_ended = true;
                until = until.min(Instant::now() + GRACE);
            }
        }
    }

    /// Whether the program itself has ended. Its number stays taken until it is waited for.
    #[cfg(unix)]
    fn has_ended(&mut self) -> bool {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let waited = waitid(WaitId::Pid(Pid::from_child(&self.child)), options);
        // One that was waited for is no child any more.
        !matches!(waited, Ok(None))
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends the program's input and waits a moment for it to end; gives no status if it does not.
    /// What is left of its group is killed.
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

    /// Kills the program with all that it has started, and waits for it.
    fn kill(&mut self) -> Option<ExitStatus> {
        // A group has the number of its first process, which nobody else gets before that is waited
        // for.
        #[cfg(unix)]
        if !self.is_over {
            use rustix::process::{Pid, Signal, kill_process_group};
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
        let _ = self.child.kill();
        self.is_over = true;
        self.guard = None;
        self.child.wait().ok()
    }

    /// The last line that the program wrote to standard error, if there is one, for a message that a
    /// terminal can show.
    fn last_words(&self) -> String {
        // A program that it has started in turn may still hold the pipe.
        let _ = self.errors.all_read.recv_timeout(GRACE);
        let tail = self.errors.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail);
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let shown = |line| format!(" (the last it said on stderr: {})", excerpt(line));
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

/// The beginning of some text without control characters.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 160;
    let mut clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let begin: String = clean.by_ref().take(LONGEST).collect();
    if clean.next().is_some() { begin + "…" } else { begin }
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        // A program that has closed its input may answer all the same; if not, that is an error
        // later.
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(mut stdout: impl BufRead, answers: &SyncSender<Output>) {
    loop {
        let mut line = Vec::new();
        let read = stdout.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        let output = match (read, line.last()) {
            (Ok(0) | Err(_), _) => return,
            (Ok(_), Some(b'\n')) => {
                line.pop();
                Output::Line(line)
            }
            (Ok(n), _) if n as u64 == LONGEST_LINE => Output::TooLong,
            // The program ended in the middle of its answer.
            (Ok(_), _) => return,
        };
        if answers.send(output).is_err() {
            return;
        }
    }
}

/// Reads all there is and keeps the end of it; `_done` closes behind it.
fn keep_tail(mut stderr: impl Read, tail: &Mutex<Vec<u8>>, _done: SyncSender<()>) {
    let mut buffer = [0; TAIL_BYTES];
    while let Ok(n @ 1..) = stderr.read(&mut buffer) {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&buffer[..n]);
        let surplus = tail.len().saturating_sub(TAIL_BYTES);
        tail.drain(..surplus);
    }
}
