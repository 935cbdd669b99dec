//! The binary as users meet it: its manners, its pages, the examples of the README.

#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "cluster")]
mod cluster_links;
mod engine;
mod forms;
mod keep;
mod manners;
mod match_command;
mod messages;
mod outputs;
mod own_games;
mod pack_command;
mod page;
mod perft_command;
mod play;
mod query_cyclic;
mod readme;
mod review;
#[cfg(feature = "schemas")]
mod schemas;
mod search;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod serve_page;
mod shell;
mod sizes;
#[cfg(unix)]
mod terminal;
#[cfg(feature = "onnx")]
mod train;
#[cfg(feature = "onnx")]
mod train_minishogi;
