//! The command `solver`.

fn main() {}
