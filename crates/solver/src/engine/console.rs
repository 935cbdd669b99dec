//! The dialogue with a board: lines are read while the engine thinks, and its answer is never late.
//!
//! A question is thought about in a thread of its own, which reports whatever it learns. Once the time is over the last
//! report is the answer, whatever that thread still waits for.

use std::collections::VecDeque;
use std::fmt::Display;
use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Instant;

use super::thinking::{Engine, Question, Thought};
use super::{Opener, Settings};
use yomikiri::error::Error;
use yomikiri::rules::Rules;

/// Longest line in bytes.
const LONGEST: u64 = 1 << 20;
/// Lines that are read ahead.
const AHEAD: usize = 256;
/// Stack of the thread that thinks.
const STACK: usize = 64 << 20;

/// Effect of a line on the dialogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Continue,
    Quit,
}

/// End of what is thought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urge {
    /// By an answer.
    Answer,
    /// Without one.
    Discard,
}

/// Language of the dialogue.
pub(super) trait Protocol {
    /// Returns whether a line waits while the engine thinks; `holds` says whether its answer waits too, until it is asked for.
    fn waits(&self, line: &str, holds: bool) -> bool;

    /// Returns whether a line, read before those that wait in front of it, ends what is thought about.
    fn urges(&self, line: &str) -> Option<Urge>;

    /// Acts on a line.
    fn read(&mut self, line: &str, desk: &mut Desk<'_>) -> io::Result<Flow>;

    /// Shows what is known so far about the question.
    fn show(&mut self, thought: &Thought, desk: &mut Desk<'_>) -> io::Result<()>;

    /// Answers the question; nothing is known of a game that is over.
    fn answer(
        &mut self,
        known: Result<Option<Thought>, Error>,
        desk: &mut Desk<'_>,
    ) -> io::Result<()>;
}

enum Event {
    /// A line can be taken.
    Line,
    /// The input is over.
    End,
    /// The question of this number is known better.
    Report(u64, Thought),
    /// Everything is known about the question of this number.
    Done(u64, Result<(), Error>),
}

/// Question that is thought about.
struct Task {
    number: u64,
    engine: Arc<Engine>,
    stop: Arc<AtomicBool>,
    /// Time of the answer.
    due: Option<Instant>,
    /// `true` if the answer waits until it is asked for.
    holds: bool,
    latest: Option<Thought>,
    done: Option<Result<(), Error>>,
}

impl Task {
    fn is_due(&self) -> bool {
        let is_late = self.due.is_some_and(|due| Instant::now() >= due);
        !self.holds && (self.done.is_some() || is_late)
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.engine.stop();
    }
}

/// The engine, its settings, and the way to the board.
pub(super) struct Desk<'a> {
    pub settings: Settings,
    opener: &'a mut dyn Opener,
    engine: Option<Arc<Engine>>,
    out: &'a mut dyn Write,
    events: Sender<Event>,
    task: Option<Task>,
    asked: u64,
}

impl Desk<'_> {
    /// Writes a line.
    pub(super) fn say(&mut self, line: impl Display) -> io::Result<()> {
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    pub(super) fn game(&self) -> &dyn Rules {
        &*self.settings.game
    }

    /// Returns the game of a name that people use.
    pub(super) fn game_named(&self, name: &str) -> Result<Arc<dyn Rules>, Error> {
        self.opener.game(name)
    }

    /// Changes the settings; the engine is opened anew when it is needed.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.settings);
        self.engine = None;
    }

    /// Opens the engine, if it is not open.
    pub(super) fn engine(&mut self) -> Result<Arc<Engine>, Error> {
        if let Some(engine) = &self.engine {
            return Ok(engine.clone());
        }
        let engine = Arc::new(self.opener.open(&self.settings)?);
        self.engine = Some(engine.clone());
        Ok(engine)
    }

    pub(super) fn is_thinking(&self) -> bool {
        self.task.is_some()
    }

    /// Begins to think about a question, instead of what was thought about.
    pub(super) fn think(&mut self, question: Question) -> Result<(), Error> {
        self.discard();
        let began = Instant::now();
        let engine = self.engine()?;
        self.asked += 1;
        let (number, stop, events) =
            (self.asked, Arc::new(AtomicBool::new(false)), self.events.clone());
        self.task = Some(Task {
            number,
            engine: engine.clone(),
            stop: stop.clone(),
            due: question.time.and_then(|time| began.checked_add(time)),
            holds: question.holds,
            latest: None,
            done: None,
        });
        let think = move || {
            let mut done = Done { number, events, result: Some(Err("the search failed".into())) };
            let mut report = |thought| {
                // The dialogue may be over.
                drop(done.events.send(Event::Report(number, thought)));
            };
            let result = engine.think(&question, &stop, &mut report);
            done.result = Some(result);
        };
        let thread = thread::Builder::new().stack_size(STACK).spawn(think);
        thread.map(drop).map_err(|error| Error::from(format!("cannot think: {error}")))
    }

    /// Lets the answer come at once.
    pub(super) fn hurry(&mut self) {
        if let Some(task) = &mut self.task {
            task.holds = false;
            task.due = Some(Instant::now());
        }
    }

    /// Stops to think without an answer.
    pub(super) fn discard(&mut self) {
        if let Some(task) = self.task.take() {
            task.stop();
        }
    }
}

/// Reports the end of a thread, also of one that panics.
struct Done {
    number: u64,
    events: Sender<Event>,
    result: Option<Result<(), Error>>,
}

impl Drop for Done {
    fn drop(&mut self) {
        let result = self.result.take().unwrap_or(Ok(()));
        drop(self.events.send(Event::Done(self.number, result)));
    }
}

/// Leads a dialogue until it ends or the input does; a question that was asked before is still answered.
pub(super) fn run(
    protocol: &mut dyn Protocol,
    settings: Settings,
    opener: &mut dyn Opener,
    input: impl BufRead + Send + 'static,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (events, received) = channel();
    let (lines, taken) = sync_channel(AHEAD);
    let sender = events.clone();
    thread::spawn(move || read_lines(input, &lines, &sender));
    let desk = &mut Desk { settings, opener, engine: None, out, events, task: None, asked: 0 };
    let result = converse(protocol, desk, &received, &taken);
    desk.discard();
    result
}

fn converse(
    protocol: &mut dyn Protocol,
    desk: &mut Desk<'_>,
    received: &Receiver<Event>,
    taken: &Receiver<String>,
) -> io::Result<()> {
    let (mut waiting, mut is_over) = (VecDeque::new(), false);
    loop {
        if desk.task.as_ref().is_some_and(Task::is_due)
            && let Some(task) = desk.task.take()
        {
            task.stop();
            let failed = task.done.and_then(Result::err).filter(|_| task.latest.is_none());
            protocol.answer(failed.map_or(Ok(task.latest), Err), desk)?;
            continue;
        }
        while waiting.len() < AHEAD
            && let Ok(line) = taken.try_recv()
        {
            waiting.push_back(line);
        }
        let holds = desk.task.as_ref().map(|task| task.holds);
        let is_next = |line: &String| holds.is_none_or(|holds| !protocol.waits(line, holds));
        if let Some(line) = waiting.pop_front_if(|line| is_next(line)) {
            if protocol.read(&line, desk)? == Flow::Quit {
                return Ok(());
            }
            continue;
        }
        match waiting.iter().find_map(|line| protocol.urges(line)) {
            Some(Urge::Discard) if desk.is_thinking() => {
                desk.discard();
                continue;
            }
            Some(Urge::Answer) if desk.is_thinking() && !is_hurried(desk) => {
                desk.hurry();
                continue;
            }
            _ => {}
        }
        if is_over && waiting.is_empty() {
            match &mut desk.task {
                None => return Ok(()),
                Some(task) if task.holds => {
                    desk.hurry();
                    continue;
                }
                Some(_) => {}
            }
        }
        let due = desk.task.as_ref().filter(|task| !task.holds).and_then(|task| task.due);
        let event = match due {
            Some(due) => received.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => received.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match event {
            // Taken above, once there is room.
            Ok(Event::Line) => {}
            Ok(Event::End) => is_over = true,
            Ok(Event::Report(number, thought)) => {
                let task = desk.task.as_mut().filter(|task| task.number == number);
                if let Some(task) = task {
                    task.latest = Some(thought.clone());
                    protocol.show(&thought, desk)?;
                }
            }
            Ok(Event::Done(number, result)) => {
                let task = desk.task.as_mut().filter(|task| task.number == number);
                task.into_iter().for_each(|task| task.done = Some(result.clone()));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// Returns whether the answer is due already.
fn is_hurried(desk: &Desk<'_>) -> bool {
    desk.task.as_ref().is_some_and(Task::is_due)
}

/// Sends the lines of the input on, with invalid bytes replaced, and a text that no command begins with in place of a line that
/// is too long.
fn read_lines(mut input: impl BufRead, lines: &SyncSender<String>, events: &Sender<Event>) {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut bytes);
        if !read.is_ok_and(|count| count > 0) {
            break;
        }
        let mut line = String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']).to_string();
        if bytes.len() as u64 == LONGEST && !bytes.ends_with(b"\n") {
            line = format!("(a line of more than {LONGEST} bytes)");
            drop(input.skip_until(b'\n'));
        }
        if lines.send(line).is_err() || events.send(Event::Line).is_err() {
            return;
        }
    }
    drop(events.send(Event::End));
}
