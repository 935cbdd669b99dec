//! Networks trained on solved tables and by play.
//!
//! * [`minishogi`]: a value network for minishogi: features, data, self-play, and the player.

pub mod minishogi;
