//! Everything that is checked beyond names and ownership.

pub mod guard;
