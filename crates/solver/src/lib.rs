//! The commands of `solver`, for a program of one's own too: see [`main_with`].

// An `expect` says why it holds; tests may unwrap.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(unreachable_pub))]

mod cli;
#[cfg(feature = "serve")]
mod serve;

pub use cli::{main, main_with, understand};
#[doc(hidden)]
pub use cli::{reference, schemas};
