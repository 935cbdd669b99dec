//! Broken promises of games.

use std::error::Error;
use std::fmt::{self, Debug, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Broken promise of a game: the method at fault and what to change.
///
/// `Display` is one line without the advice; `{:#}` adds the advice as a second line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nonconformity {
    /// Name of the method of [`Game`](crate::rules::Game) at fault, such as `key`.
    pub method: &'static str,
    /// Promise of the method, in a short sentence.
    pub promise: &'static str,
    /// State concerned, as `Debug` prints it; `None` if the fault concerns the game as a whole.
    pub state: Option<String>,
    /// Values that break the promise.
    pub found: String,
    /// Advice on what to change.
    pub change: &'static str,
}

pub(super) type Checked<T = ()> = Result<T, Nonconformity>;

/// Returns a promise of a method, to be completed by the methods of [`Nonconformity`].
pub(super) fn promise(method: &'static str, promise: &'static str) -> Nonconformity {
    let change = "remove the method: its default is right";
    Nonconformity { method, promise, state: None, found: String::new(), change }
}

impl Nonconformity {
    /// Sets the advice; without it the advice is to use the default of the method.
    pub(super) fn change(self, change: &'static str) -> Nonconformity {
        Nonconformity { change, ..self }
    }

    /// Sets the state, unless there is one.
    pub(super) fn at(self, state: &impl Debug) -> Nonconformity {
        Nonconformity { state: self.state.or_else(|| Some(format!("{state:?}"))), ..self }
    }

    /// Sets the values that break the promise.
    pub(super) fn found(self, found: impl Into<String>) -> Nonconformity {
        Nonconformity { found: found.into(), ..self }
    }

    /// Fails with `found` unless the promise holds.
    pub(super) fn holds(self, holds: bool, found: impl FnOnce() -> String) -> Checked {
        if holds { Ok(()) } else { Err(self.found(found())) }
    }

    /// Fails unless both values are equal; `place` names the value.
    pub(super) fn equal<T>(self, place: impl Display, value: T, expected: T) -> Checked
    where
        T: PartialEq + Debug,
    {
        self.holds(value == expected, || format!("{place} is {value:?}, expected {expected:?}"))
    }
}

impl Display for Nonconformity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` breaks a promise: {}; ", self.method, self.promise)?;
        self.state.iter().try_for_each(|state| write!(f, "in state {state}: "))?;
        f.write_str(&self.found)?;
        if f.alternate() { write!(f, "\nhint: {}", self.change) } else { Ok(()) }
    }
}

impl Error for Nonconformity {}

/// Runs checks that begin with `method`. A panic in the game's code is a broken promise too.
pub(super) fn caught<T>(method: &'static str, checks: impl FnOnce() -> Checked<T>) -> Checked<T> {
    catch_unwind(AssertUnwindSafe(checks)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let fault = promise(method, "no method panics in a state that `moves` makes").change(
            "see the line that the panic names above; it may be in a method called by this one",
        );
        Err(fault.found(format!("a panic while the method was checked: {text}")))
    })
}
