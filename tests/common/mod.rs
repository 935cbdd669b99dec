//! What several tests share.

pub mod plain;
