//! Commands of `solver`, also for programs with games of their own: see [`main_with`].

// The message of an `expect` is the reason why it holds; tests may unwrap.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(unreachable_pub))]

mod cli;
mod engine;
#[cfg(feature = "serve")]
mod serve;

/// Preferred port of the server if none is requested; reports link to it.
pub(crate) const PORT: u16 = 7878;

#[doc(hidden)]
pub use cli::reference;
#[cfg(feature = "schemas")]
pub use cli::schemas;
pub use cli::{main, main_of, main_with, understand};
#[doc(hidden)]
pub use engine::answers_of;
